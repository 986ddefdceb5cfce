// SPDX-License-Identifier: Apache-2.0
// claims: a claim is a pipelined place that survives the cycle. Keeping it is placing the pod there
// again first thing; from then on the ordinary accounting keeps others away.
#include "sched/claims.h"

#include "sched/allocate.h"
#include "sched/fit.h"
#include "sched/gang.h"
#include "sched/quota.h"
#include "sched/trial.h"

static uint32_t claiming_task(const struct sched *s, const struct snap_claim *c)
{
    if (c->task.ix != IX_NONE && s->tasks[c->task.ix].state == WORK_PENDING) {
        return c->task.ix;
    }
    const struct snap_workload *w = workload_of(s, c->workload.ix);
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        bool alike = c->task.ix == IX_NONE ||
                     task_of(s, t)->shape.ix == task_of(s, c->task.ix)->shape.ix;
        if (s->tasks[t].state == WORK_PENDING && alike &&
            shape_of(s, t)->device_count == c->hold_count) {
            return t;
        }
    }
    return IX_NONE;
}

// Whether the pod can have the very devices of the claim once they are released.
static bool devices_kept(const struct sched *s, uint32_t task, const struct snap_claim *c)
{
    const struct snap_shape *p = shape_of(s, task);
    if (c->hold_count != p->device_count) {
        return false;
    }
    for (uint32_t h = 0; h < c->hold_count; h++) {
        uint32_t device = s->holds.items[c->hold_first + h].device.ix;
        const struct device_state *d = &s->devices[device];
        if (s->snap->devices.items[device].node.ix != c->node.ix || d->cap == 0 ||
            device_take(p, d) > d->cap - d->occupied + d->leaving - d->coming) {
            return false;
        }
    }
    return true;
}

static bool keep(struct sched *s, const struct snap_claim *c)
{
    uint32_t task = claiming_task(s, c);
    if (task == IX_NONE) {
        return false;
    }
    const uint64_t *feasible = fit_feasible(s, task_of(s, task)->shape.ix);
    uint32_t node = c->node.ix;
    if ((feasible[node / 64] >> (node % 64) & 1) == 0 || fit_node(s, task, node) == FIT_NO ||
        !quota_allows(s, c->workload.ix, &shape_state_of(s, task)->request, NULL)) {
        return false;
    }
    if (devices_kept(s, task, c)) {
        for (uint32_t h = 0; h < c->hold_count; h++) {
            s->hold_buffer[h] = s->holds.items[c->hold_first + h];
        }
    } else {
        (void)fit_devices(s, task, node, s->hold_buffer);
    }
    trial_place(s, task, node, s->hold_buffer, shape_of(s, task)->device_count, true);
    s->tasks[task].claimed = true;
    s->tasks[task].claimed_since_ms = c->since_ms;
    return true;
}

void claims_keep(struct sched *s)
{
    const struct snapshot *snap = s->snap;
    for (uint32_t first = 0; first < snap->claims.count;) {
        uint32_t workload = snap->claims.items[first].workload.ix;
        uint32_t end = first;
        struct mark mark = trial_mark(s);
        while (end < snap->claims.count && snap->claims.items[end].workload.ix == workload) {
            if (s->workloads[workload].usable) {
                (void)keep(s, &snap->claims.items[end]);
            }
            end++;
        }
        if (!gang_is_satisfied(s, workload)) {
            trial_rollback(s, mark);
        }
        s->workloads[workload].promised = s->ops.count > 0 && !s->workloads[workload].started;
        allocate_settle(s);
        first = end;
    }
}

static bool any_allocated(const struct sched *s, const struct task_list *tasks)
{
    for (uint32_t i = 0; i < tasks->count; i++) {
        if (s->tasks[tasks->items[i]].state == WORK_ALLOCATED) {
            return true;
        }
    }
    return false;
}

// The workload's pods are placed anew on the nodes of their claims, as allocate would. False when
// none of them starts.
static bool take_anew(struct sched *s, uint32_t workload, const struct task_list *tasks)
{
    uint64_t *nodes = ARENA_ARRAY(s->scratch, uint64_t, s->node_words + 1);
    for (uint32_t i = 0; i < tasks->count; i++) {
        uint32_t node = s->tasks[tasks->items[i]].place.node;
        nodes[node / 64] |= UINT64_C(1) << (node % 64);
    }
    for (uint32_t i = 0; i < tasks->count; i++) {
        trial_unplace(s, tasks->items[i]);
    }
    uint32_t first_op = s->ops.count;
    if (!gang_place(s, workload, tasks, false, nodes, NULL)) {
        return false;
    }
    allocate_hold_back(s, workload, first_op);
    return any_allocated(s, tasks);
}

// Every pod whose very place is free takes it. False when none of them starts.
static bool take_as_kept(struct sched *s, uint32_t workload, const struct task_list *tasks)
{
    uint32_t first_op = s->ops.count;
    for (uint32_t i = 0; i < tasks->count; i++) {
        uint32_t task = tasks->items[i];
        struct place place = s->tasks[task].place;
        for (uint32_t h = 0; h < place.hold_count; h++) {
            s->hold_buffer[h] = s->holds.items[place.hold_first + h];
        }
        trial_unplace(s, task);
        bool now = fit_node(s, task, place.node) == FIT_NOW &&
                   fit_free_now(s, task, s->hold_buffer);
        trial_place(s, task, place.node, s->hold_buffer, place.hold_count, !now);
    }
    allocate_hold_back(s, workload, first_op);
    return any_allocated(s, tasks);
}

void claims_take(struct sched *s)
{
    if (s->placed.count == 0) {
        return;
    }
    for (uint32_t w = 0; w < s->snap->workloads.count; w++) {
        const struct snap_workload *x = workload_of(s, w);
        struct arena_mark mark = arena_mark(s->scratch);
        struct task_list tasks = {ARENA_ARRAY(s->scratch, uint32_t, x->task_count), 0, 0};
        for (uint32_t t = x->task_first; t < x->task_first + x->task_count; t++) {
            if (s->tasks[t].state == WORK_PIPELINED && s->tasks[t].claimed) {
                tasks.items[tasks.count++] = t;
            }
        }
        struct mark before = trial_mark(s);
        if (tasks.count > 0 && !take_anew(s, w, &tasks)) {
            trial_rollback(s, before);
            if (!take_as_kept(s, w, &tasks)) {
                trial_rollback(s, before);
            }
        }
        allocate_settle(s);
        arena_rewind(s->scratch, mark);
    }
}

void claims_emit(struct sched *s)
{
    for (uint32_t t = 0; t < s->snap->tasks.count; t++) {
        const struct work *w = &s->tasks[t];
        if (w->state != WORK_PIPELINED || !w->claimed) {
            continue;
        }
        struct snap_claim *c = ARRAY_PUSH(s->arena, &s->out->claims);
        *c = (struct snap_claim){
            .workload = task_of(s, t)->workload,
            .task = {t},
            .node = {w->place.node},
            .hold_first = w->place.hold_first,
            .hold_count = w->place.hold_count,
            .since_ms = w->claimed_since_ms,
        };
    }
}

// SPDX-License-Identifier: Apache-2.0
// drain: pods of a gang that could not run without each other are moved together or not at all,
// others one by one, the older workloads first. Moving is an eviction with another place found in
// the same trial: the pod waits there, claimed, until it has stopped.
#include "sched/drain.h"

#include "sched/allocate.h"
#include "sched/budget.h"
#include "sched/gang.h"
#include "sched/quota.h"
#include "sched/trial.h"

static bool on_draining_node(const struct sched *s, const struct place *place)
{
    return s->snap->nodes.items[place->node].draining;
}

static bool on_draining_device(const struct sched *s, const struct place *place)
{
    for (uint32_t h = 0; h < place->hold_count; h++) {
        if (s->snap->devices.items[s->holds.items[place->hold_first + h].device.ix].draining) {
            return true;
        }
    }
    return false;
}

static bool is_to_move(const struct sched *s, uint32_t task)
{
    const struct work *w = &s->tasks[task];
    return w->state == WORK_HELD &&
           (on_draining_node(s, &w->place) || on_draining_device(s, &w->place));
}

static void record(struct sched *s, uint32_t task)
{
    struct decision_evict *e = state_evict_record(s, task);
    e->moved = true;
    e->action = s->action;
    reason_init(&e->reason, on_draining_node(s, &s->tasks[task].old) ? REASON_EVICTED_DRAIN
                                                                     : REASON_EVICTED_DEVICE_DRAIN);
    e->reason.task.ix = task;
    e->reason.node.ix = s->tasks[task].place.node;
}

static bool place_evicted(struct sched *s, uint32_t workload)
{
    while (gang_evicted(s, workload) > 0) {
        struct task_list next = {0};
        struct amounts most = {{0}};
        gang_next(s, workload, WORK_EVICTED, s->scratch, &next);
        for (uint32_t i = 0; i < next.count; i++) {
            amounts_add(&most, &shape_state_of(s, next.items[i])->request_most);
        }
        if (next.count == 0 || !quota_allows(s, workload, &most, NULL) ||
            !gang_place(s, workload, &next, true, NULL, NULL)) {
            return false;
        }
    }
    return true;
}

// Moves all of the pods or none.
static void move(struct sched *s, uint32_t workload, const uint32_t *tasks, uint32_t count)
{
    struct mark before = trial_mark(s);
    struct arena_mark memory = arena_mark(s->scratch);
    bool moved = true;
    for (uint32_t i = 0; i < count && moved; i++) {
        moved = budget_room(s, tasks[i]);
        if (moved) {
            trial_evict(s, tasks[i]);
        }
    }
    if (moved && place_evicted(s, workload)) {
        for (uint32_t i = 0; i < count; i++) {
            record(s, tasks[i]);
        }
        allocate_settle(s);
    } else {
        trial_rollback(s, before);
    }
    arena_rewind(s->scratch, memory);
}

static void drain_workload(struct sched *s, uint32_t workload)
{
    const struct snap_workload *w = workload_of(s, workload);
    struct arena_mark memory = arena_mark(s->scratch);
    uint32_t *tasks = ARENA_ARRAY(s->scratch, uint32_t, w->task_count);
    uint32_t count = 0;
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        if (is_to_move(s, t)) {
            tasks[count++] = t;
        }
    }
    bool together = count > 0 && gang_stage(s, workload, NULL) != GANG_ABOVE;
    for (uint32_t i = 0; i < count; i += together ? count : 1) {
        move(s, workload, tasks + i, together ? count : 1);
    }
    arena_rewind(s->scratch, memory);
}

void drain_run(struct sched *s)
{
    bool any = false;
    for (uint32_t n = 0; n < s->node_count && !any; n++) {
        any = s->snap->nodes.items[n].draining;
    }
    for (uint32_t d = 0; d < s->snap->devices.count && !any; d++) {
        any = s->snap->devices.items[d].draining;
    }
    enum action action = s->action;
    s->action = ACTION_CONSOLIDATE;
    for (uint32_t w = 0; any && w < s->snap->workloads.count; w++) {
        if (workload_of(s, w)->preemptible && s->workloads[w].usable) {
            drain_workload(s, w);
        }
    }
    s->action = action;
}

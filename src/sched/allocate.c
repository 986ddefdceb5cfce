// SPDX-License-Identifier: Apache-2.0
// allocate: the next workload in order is placed as a whole or not at all; one that still has pods
// to place goes back into the order, so that pods above a minimum are handed out one by one between
// the queues. A workload that finds no place does not block those behind it.
//
// In this action places only become fewer. So when no node fits a pod of some shape, none will fit
// another of that shape, and workloads that need one are not tried again (except where a pod placed
// meanwhile may satisfy an affinity).
#include "sched/allocate.h"

#include "sched/explain.h"
#include "sched/gang.h"
#include "sched/order.h"
#include "sched/quota.h"
#include "sched/reserve.h"

void allocate_settle(struct sched *s)
{
    for (uint32_t i = 0; i < s->ops.count; i++) {
        const struct op *op = &s->ops.items[i];
        struct work *w = &s->tasks[op->task];
        bool placed = op->kind == OP_PLACE &&
                      (w->state == WORK_ALLOCATED || w->state == WORK_PIPELINED);
        if (placed) {
            *ARRAY_PUSH(s->arena, &s->placed) = op->task;
            if (s->action != ACTION_ALLOCATE && !w->claimed) {
                w->claimed = true;
                w->claimed_since_ms = s->snap->config.now_ms;
            }
        }
        if (op->kind == OP_EVICT && w->old.node != IX_NONE) {
            *ARRAY_PUSH(s->arena, &s->leaving) = op->task;
        }
    }
    trial_commit(s);
    reserve_settle(s);
}

void allocate_hold_back(struct sched *s, uint32_t workload, uint32_t first_op)
{
    const struct snap_workload *w = workload_of(s, workload);
    bool short_of = false;
    for (uint32_t i = w->group_first; i < w->group_first + w->group_count && !short_of; i++) {
        const struct snap_group *g = group_of(s, i);
        uint32_t pipelined = 0;
        for (uint32_t t = g->task_first; t < g->task_first + g->task_count; t++) {
            pipelined += s->tasks[t].state == WORK_PIPELINED;
        }
        short_of = pipelined > 0 && s->groups[i].placed - pipelined < g->min;
    }
    uint32_t end = s->ops.count;
    for (uint32_t i = first_op; short_of && i < end; i++) {
        uint32_t task = s->ops.items[i].task;
        if (s->tasks[task].state == WORK_ALLOCATED) {
            trial_pipeline(s, task);
        }
    }
}

bool allocate_fits_anywhere(struct sched *s, uint32_t task)
{
    const uint64_t *feasible = fit_feasible(s, task_of(s, task)->shape.ix);
    bool by_device = shape_of(s, task)->gpu != GPU_NONE;
    for (uint32_t w = 0; w < s->node_words; w++) {
        uint64_t bits = feasible[w] & (by_device ? s->roomy.words[w] : UINT64_MAX);
        for (; bits != 0; bits &= bits - 1) {
            if (fit_node(s, task, w * 64 + (uint32_t)__builtin_ctzll(bits)) != FIT_NO) {
                return true;
            }
        }
    }
    return false;
}

static bool shape_dead(struct sched *s, uint32_t task)
{
    struct shape_state *p = shape_state_of(s, task);
    if (!p->dead && shape_of(s, task)->carries_count == 0 && !allocate_fits_anywhere(s, task)) {
        p->dead = true;
    }
    return p->dead;
}

static void explain_no_place(struct sched *s, uint32_t workload, const struct task_list *tasks,
                             const struct gang_failure *failure)
{
    struct reason r;
    explain_failure(s, tasks, failure, &r);
    explain_offer(s, workload, &r);
    if (reserve_reason(s, failure->task == IX_NONE ? tasks->items[0] : failure->task, &r)) {
        explain_offer(s, workload, &r);
        return;
    }
    const struct shape_state *p = shape_state_of(s, failure->task == IX_NONE ? tasks->items[0]
                                                                             : failure->task);
    if (r.code != REASON_NO_NODE_FITS) {
        return;
    }
    if (p->fitted) {
        reason_init(&r, REASON_BEHIND_IN_QUEUE);
        r.other.ix = s->last_started;
        explain_offer(s, workload, &r);
    } else if (p->fitted_kept) {
        reason_init(&r, REASON_KEPT_FOR_OTHER);
        r.other.ix = s->snap->claims.count > 0 ? s->snap->claims.items[0].workload.ix : IX_NONE;
        explain_offer(s, workload, &r);
    }
}

bool allocate_place(struct sched *s, uint32_t workload, const struct task_list *tasks,
                    struct gang_failure *failure)
{
    if (!gang_place(s, workload, tasks, false, NULL, failure)) {
        if (failure->task != IX_NONE) {
            (void)shape_dead(s, failure->task);
        }
        return false;
    }
    allocate_hold_back(s, workload, 0);
    allocate_settle(s);
    return true;
}

// True when the workload is to be looked at again.
static bool allocate_workload(struct sched *s, uint32_t workload)
{
    struct task_list tasks = {0};
    gang_next(s, workload, WORK_PENDING, s->scratch, &tasks);
    if (tasks.count == 0) {
        return false;
    }
    struct amounts most = {{0}};
    for (uint32_t i = 0; i < tasks.count; i++) {
        amounts_add(&most, &shape_state_of(s, tasks.items[i])->request_most);
    }
    struct reason why;
    if (!quota_allows(s, workload, &most, &why)) {
        explain_offer(s, workload, &why);
        return false;
    }
    struct gang_failure failure = {.task = IX_NONE, .group = IX_NONE};
    for (uint32_t i = 0; i < tasks.count; i++) {
        if (shape_state_of(s, tasks.items[i])->dead) {
            failure.task = tasks.items[i];
            explain_no_place(s, workload, &tasks, &failure);
            return false;
        }
    }
    if (!allocate_place(s, workload, &tasks, &failure)) {
        explain_no_place(s, workload, &tasks, &failure);
        return false;
    }
    s->last_started = workload;
    return gang_pending(s, workload) > 0;
}

// Those beyond the depth of their queue are not looked at.
static void explain_depth(struct sched *s, const struct order *order)
{
    for (uint32_t i = 0; i < order->used.count; i++) {
        const struct order_leaf *leaf = &order->leaves[order->used.items[i]];
        for (uint32_t w = leaf->count; w < leaf->added; w++) {
            struct reason r;
            reason_init(&r, REASON_DEPTH_REACHED);
            r.queue.ix = order->used.items[i];
            r.bound = leaf->count;
            explain_offer(s, leaf->sorted[w], &r);
        }
    }
}

void allocate_run(struct sched *s)
{
    struct order order;
    order_init(&order, s, s->brief, false);
    (void)order_add_waiting(&order);
    order_ready(&order, s->snap->config.queue_depth_max[ACTION_ALLOCATE]);
    explain_depth(s, &order);
    for (uint32_t w = order_pop(&order); w != IX_NONE; w = order_pop(&order)) {
        struct arena_mark mark = arena_mark(s->scratch);
        bool unheard = s->out->reasons[w].code == REASON_NONE;
        bool again = allocate_workload(s, w);
        arena_rewind(s->scratch, mark);
        if (again) {
            order_push(&order, w);
            continue;
        }
        // One that is still as it was has found no place: nor would its twins.
        uint32_t twin = unheard ? order_pop_twin(&order, w) : IX_NONE;
        for (; twin != IX_NONE; twin = order_pop_twin(&order, w)) {
            explain_twin(s, w, twin);
        }
        order_touch(&order, queue_of(s, w));
    }
}

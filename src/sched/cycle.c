// SPDX-License-Identifier: Apache-2.0
// cycle: claims first, then the actions in their order, then reasons and the result.
#include "sched/cycle.h"

#include "base/check.h"
#include "sched/allocate.h"
#include "sched/claims.h"
#include "sched/consolidate.h"
#include "sched/drain.h"
#include "sched/explain.h"
#include "sched/preempt.h"
#include "sched/reclaim.h"
#include "sched/reserve.h"
#include "sched/spare.h"
#include "sched/stale.h"
#include "sched/waiting.h"

// What keeps a workload from being considered at all.
static void note_unready(struct sched *s, uint32_t workload)
{
    const struct snap_workload *w = workload_of(s, workload);
    uint32_t pending = 0;
    uint32_t gated = 0;
    for (uint32_t g = w->group_first; g < w->group_first + w->group_count; g++) {
        pending += s->groups[g].pending;
        gated += s->groups[g].gated;
    }
    struct reason r;
    if (pending + gated == 0) {
        return;
    }
    if (w->queue.ix == IX_NONE) {
        reason_init(&r, REASON_QUEUE_MISSING);
        explain_offer(s, workload, &r);
    } else if (!s->workloads[workload].usable) {
        reason_init(&r, REASON_QUEUE_NOT_LEAF);
        r.queue = w->queue;
        explain_offer(s, workload, &r);
    } else if (!gang_is_ready(s, workload) || pending == 0) {
        const struct snap_group *root = group_of(s, w->group_first);
        reason_init(&r, gated > 0 ? REASON_GATED : REASON_NOT_READY);
        r.group.ix = w->group_first;
        r.requested = pending;
        r.bound = root->is_pod_set ? root->min : 0;
        explain_offer(s, workload, &r);
    }
}

static void note_fitting(struct sched *s, bool before_claims)
{
    for (uint32_t t = 0; t < s->snap->tasks.count; t++) {
        struct shape_state *p = shape_state_of(s, t);
        bool *known = before_claims ? &p->fitted_kept : &p->fitted;
        bool *asked = before_claims ? &p->asked_kept : &p->asked;
        if (s->tasks[t].state == WORK_PENDING && !*asked) {
            *asked = true;
            *known = allocate_fits_anywhere(s, t);
        }
    }
}

static void tell(const struct sched_watch *watch, enum action action, bool begins)
{
    if (watch) {
        watch->on_action(watch->ctx, action, begins);
    }
}

static void run_actions(struct sched *s, uint32_t actions_mask, const struct sched_watch *watch)
{
    for (int a = 0; a < ACTION_COUNT; a++) {
        if ((actions_mask & ACTION_BIT(a)) == 0) {
            continue;
        }
        s->action = (enum action)a;
        tell(watch, s->action, true);
        switch (s->action) {
        case ACTION_ALLOCATE:
            claims_take(s);
            reserve_find(s);
            if ((actions_mask & ACTION_BIT(ACTION_CONSOLIDATE)) != 0) {
                drain_run(s);
            }
            note_fitting(s, false);
            allocate_run(s);
            reserve_explain(s);
            break;
        case ACTION_CONSOLIDATE:
            consolidate_run(s);
            break;
        case ACTION_RECLAIM:
            search_run(s, &reclaim_rules);
            break;
        case ACTION_PREEMPT:
            search_run(s, &preempt_rules);
            break;
        case ACTION_EVICT_STALE:
            stale_run(s);
            break;
        case ACTION_COUNT:
            break;
        }
        arena_reset(s->brief);
        tell(watch, s->action, false);
#if defined(WEIR_DCHECK) && WEIR_DCHECK
        state_check(s);
#endif
    }
}

static void emit_binds(struct sched *s)
{
    bool *emitted = ARENA_ARRAY(s->scratch, bool, s->snap->tasks.count);
    s->out->binds.items = ARENA_ARRAY(s->arena, struct decision_bind, s->placed.count);
    s->out->binds.cap = s->placed.count;
    for (uint32_t i = 0; i < s->placed.count; i++) {
        uint32_t task = s->placed.items[i];
        const struct work *w = &s->tasks[task];
        if (emitted[task] || (w->state != WORK_ALLOCATED && w->state != WORK_PIPELINED)) {
            continue;
        }
        emitted[task] = true;
        s->out->binds.items[s->out->binds.count++] = (struct decision_bind){
            .task = {task},
            .node = {w->place.node},
            .hold_first = w->place.hold_first,
            .hold_count = w->place.hold_count,
            .pipelined = w->state == WORK_PIPELINED,
            .zone = w->place.zone == IX_NONE
                        ? IX_NONE
                        : w->place.zone - s->snap->nodes.items[w->place.node].zone_first,
            .action = w->action,
        };
    }
}

// Later searches of the cycle may have taken the place of a claimant or of a pod that was to be
// moved, or found that a pod can stay after all.
static void settle_evicts(struct sched *s)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->out->evicts.count; i++) {
        struct decision_evict e = s->out->evicts.items[i];
        enum work_state state = s->tasks[e.task.ix].state;
        if (state == WORK_HELD) {
            continue;
        }
        e.moved = state == WORK_PIPELINED;
        e.reason.node.ix = e.moved ? s->tasks[e.task.ix].place.node : IX_NONE;
        e.reason.other.ix = state_beneficiary(s, e.reason.other.ix);
        s->out->evicts.items[kept++] = e;
    }
    s->out->evicts.count = kept;
}

// The first pods of a workload are bound: it starts now.
static void note_started(struct sched *s)
{
    for (uint32_t t = 0; t < s->snap->tasks.count; t++) {
        if (s->tasks[t].state == WORK_ALLOCATED) {
            s->workloads[task_of(s, t)->workload.ix].was_bound = true;
        }
    }
    for (uint32_t w = 0; w < s->snap->workloads.count; w++) {
        const struct workload_state *x = &s->workloads[w];
        s->out->workloads[w].started = x->was_bound && !x->started;
    }
}

static void emit_queues(struct sched *s)
{
    uint32_t count = s->snap->queues.count;
    for (uint32_t q = 0; q < count; q++) {
        s->out->queues[q] = (struct decision_queue){
            .fair_share = s->queues[q].fair,
            .requested = s->queues[q].request,
            .held = s->queues[q].held,
            .held_non_preemptible = s->queues[q].held_non_preemptible,
        };
    }
    // Pipelined pods hold nothing yet.
    for (uint32_t t = 0; t < s->snap->tasks.count; t++) {
        const struct work *w = &s->tasks[t];
        uint32_t q = w->state == WORK_PIPELINED ? queue_of(s, task_of(s, t)->workload.ix) : IX_NONE;
        for (; q != IX_NONE; q = s->snap->queues.items[q].parent.ix) {
            amounts_sub(&s->out->queues[q].held, &w->cost);
            if (!workload_of(s, task_of(s, t)->workload.ix)->preemptible) {
                amounts_sub(&s->out->queues[q].held_non_preemptible, &w->cost);
            }
        }
    }
}

void sched_cycle(struct arena *arena, const struct snapshot *snap, uint32_t actions_mask,
                 struct decisions *out)
{
    sched_cycle_watched(arena, snap, actions_mask, NULL, out);
}

void sched_cycle_watched(struct arena *arena, const struct snapshot *snap, uint32_t actions_mask,
                         struct sched_watch *watch, struct decisions *out)
{
    CHECK((actions_mask & ~ACTIONS_ALL) == 0);
    struct arena scratch;
    struct arena brief;
    arena_init(&scratch, 0);
    arena_init(&brief, 0);
    *out = (struct decisions){0};
    out->workloads = ARENA_ARRAY(arena, struct decision_workload, snap->workloads.count);
    out->reasons = ARENA_ARRAY(arena, struct reason, snap->workloads.count);
    out->queues = ARENA_ARRAY(arena, struct decision_queue, snap->queues.count);
    struct sched s;
    sched_init(&s, snap, arena, &scratch, out);
    s.brief = &brief;
    for (uint32_t w = 0; w < snap->workloads.count; w++) {
        out->workloads[w].stale_since_ms = snap->workloads.items[w].stale_since_ms;
        note_unready(&s, w);
    }
    if (snap->claims.count > 0) {
        note_fitting(&s, true);
        claims_keep(&s);
    }
    waiting_find(&s);
    run_actions(&s, actions_mask, watch);
    spare_run(&s);
    note_started(&s);
    explain_all(&s);
    settle_evicts(&s);
    emit_binds(&s);
    claims_emit(&s);
    emit_queues(&s);
    out->holds.items = s.holds.items; /* the places lead there */
    out->holds.count = s.holds.count;
    out->holds.cap = s.holds.cap;
    if (watch) {
        watch->scratch_peak_bytes = scratch.peak_bytes + brief.peak_bytes;
        watch->scratch_blocks = scratch.block_count + brief.block_count;
    }
    arena_done(&brief);
    arena_done(&scratch);
}

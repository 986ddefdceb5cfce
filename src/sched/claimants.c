// SPDX-License-Identifier: Apache-2.0
// claimants: the workloads that wait take their turns in searching. One that cannot succeed because
// another with the same needs has failed in this action is not searched for again.
#include "base/map.h"
#include "sched/allocate.h"
#include "sched/explain.h"
#include "sched/reserve.h"
#include "sched/victims.h"

static enum reason_code eviction_code(enum action action)
{
    switch (action) {
    case ACTION_RECLAIM:
        return REASON_EVICTED_RECLAIM;
    case ACTION_PREEMPT:
        return REASON_EVICTED_PREEMPT;
    case ACTION_CONSOLIDATE:
        return REASON_EVICTED_CONSOLIDATION;
    case ACTION_ALLOCATE:
    case ACTION_EVICT_STALE:
    case ACTION_COUNT:
        break;
    }
    return REASON_EVICTED_STALE;
}

static void record_evictions(struct search *x)
{
    struct sched *s = x->s;
    for (uint32_t i = 0; i < x->chosen.count; i++) {
        const struct victim_unit *unit = &x->units.items[x->chosen.items[i]];
        for (uint32_t t = 0; t < unit->count; t++) {
            uint32_t task = x->unit_pods.items[unit->first + t].task;
            enum work_state state = s->tasks[task].state;
            const struct work *before = search_before(x, task);
            if (state == WORK_EVICTED && before->state != WORK_HELD) {
                s->workloads[unit->workload].ousted_by = x->claimant;
            }
            bool had_place = s->tasks[task].old.node != IX_NONE;
            bool moved_again = state == WORK_PIPELINED && before->state != WORK_HELD;
            if ((state != WORK_EVICTED && state != WORK_PIPELINED) || !had_place || moved_again) {
                continue;
            }
            struct decision_evict *e = state_evict_record(s, task);
            e->moved = state == WORK_PIPELINED;
            e->action = s->action;
            reason_init(&e->reason, eviction_code(s->action));
            e->reason.other.ix = x->claimant;
            e->reason.task.ix = task;
            uint32_t q = queue_of(s, unit->workload);
            e->reason.queue.ix = q;
            e->reason.resource = RES_GPU;
            e->reason.held = x->held[q].v[RES_GPU];
            e->reason.bound = s->queues[q].fair.v[RES_GPU];
            e->reason.requested = x->request.v[RES_GPU];
            e->reason.node.ix = e->moved ? s->tasks[task].place.node : IX_NONE;
        }
    }
}

static void explain_unsolved(struct search *x)
{
    struct reason r;
    if (search_exhausted(x)) {
        x->s->out->stats.exhausted[x->s->action] = true;
        reason_init(&r, REASON_SEARCH_EXHAUSTED);
        r.bound = x->tries;
    } else if (x->budget_victim != IX_NONE) {
        reason_init(&r, REASON_VICTIMS_IN_BUDGET);
        r.other.ix = x->budget_victim;
    } else if (x->protected_victim != IX_NONE) {
        reason_init(&r, REASON_VICTIMS_PROTECTED);
        r.until_ms = x->protected_until_ms;
        r.other.ix = x->protected_victim;
    } else {
        reason_init(&r, x->any_victim ? REASON_VICTIMS_NOT_ENOUGH : REASON_NO_VICTIMS);
        r.task.ix = x->tasks.items[0];
    }
    if (x->s->action != ACTION_CONSOLIDATE) { /* that nothing can be moved is no reason to wait */
        explain_offer(x->s, x->claimant, &r);
    }
}

static bool delayed(const struct search *x, struct reason *why)
{
    const struct snap_workload *w = workload_of(x->s, x->claimant);
    int64_t from = w->last_evicted_ms > w->created_ms ? w->last_evicted_ms : w->created_ms;
    if (w->preemption_delay_ms <= 0 || x->s->snap->config.now_ms >= from + w->preemption_delay_ms) {
        return false;
    }
    reason_init(why, REASON_PREEMPTION_DELAY);
    why->until_ms = from + w->preemption_delay_ms;
    return true;
}

// Whether for every pod some node would do if it were empty.
static bool all_feasible(const struct search *x)
{
    for (uint32_t i = 0; i < x->tasks.count; i++) {
        uint32_t shape = task_of(x->s, x->tasks.items[i])->shape.ix;
        (void)fit_feasible(x->s, shape);
        if (x->s->shapes[shape].feasible_count == 0) {
            return false;
        }
    }
    return true;
}

/* ---- what has failed once need not be tried again ---- */

// A claimant that failed, of those with alike pods and no topology: another one of the same queue
// (or of any, for a move) with at least as many such pods and no higher priority fails as well.
struct failed {
    uint32_t queue, shape, count;
    bool preemptible;
    int64_t priority;
    struct reason reason;
};
struct memo {
    struct map map;
    ARRAY(struct failed) rows;
};

static bool memo_key(const struct search *x, uint64_t *key)
{
    const struct snap_workload *w = workload_of(x->s, x->claimant);
    if (!x->alike || x->s->reserve.nodes || w->group_count > 1 ||
        group_of(x->s, w->group_first)->topology.ix != IX_NONE) {
        return false;
    }
    uint64_t queue = x->rules->same_queue ? w->queue.ix : 0;
    uint64_t grows = gang_is_satisfied(x->s, x->claimant);
    *key = queue << 34 | grows << 33 | (uint64_t)w->preemptible << 32 |
           task_of(x->s, x->tasks.items[0])->shape.ix;
    return true;
}

static struct failed *memo_find(const struct memo *memo, const struct search *x)
{
    uint64_t key;
    uint32_t at;
    return memo_key(x, &key) && map_get_u64(&memo->map, key, &at) ? &memo->rows.items[at] : NULL;
}

static void memo_add(struct memo *memo, const struct search *x)
{
    uint64_t key;
    // One that may not stop its own evictor has fewer victims than others like it.
    bool fewer = workload_of(x->s, x->claimant)->evicted_for.ix != IX_NONE;
    if (fewer || !memo_key(x, &key)) {
        return;
    }
    struct failed *f = memo_find(memo, x);
    if (!f) {
        map_put_u64(&memo->map, key, memo->rows.count);
        f = ARRAY_PUSH(x->s->brief, &memo->rows);
    } else if (x->tasks.count > f->count) {
        return;
    }
    f->count = x->tasks.count;
    f->priority = workload_of(x->s, x->claimant)->priority;
    f->reason = x->s->out->reasons[x->claimant];
}

/* ---- one claimant after the other ---- */

// Whether a workload has lost some pods only: its place in the order of victims is another then.
static bool partly_taken(const struct search *x)
{
    for (uint32_t i = 0; i < x->chosen.count; i++) {
        uint32_t workload = x->units.items[x->chosen.items[i]].workload;
        const struct snap_workload *w = workload_of(x->s, workload);
        bool lost = false;
        bool kept = false;
        for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
            kept = kept || state_is_placed(x->s->tasks[t].state);
            lost = lost || !state_is_placed(x->s->tasks[t].state);
        }
        if (lost && kept) {
            return true;
        }
    }
    return false;
}

// The claimant's queue or a victim's holds something else now.
static void note_change(struct search *x, uint32_t queue)
{
    order_changed(&x->victims, queue);
    for (uint32_t q = queue; q != IX_NONE; q = x->s->snap->queues.items[q].parent.ix) {
        x->held[q] = x->s->queues[q].held;
        x->held_non_preemptible[q] = x->s->queues[q].held_non_preemptible;
    }
}

// What came of a claimant.
struct verdict {
    bool final; /* its twins need not search, while nothing changes */
    bool skips; /* not searching counts as skipping it */
    struct reason reason;
};

// To the claimant, or to a twin of it, whose pods are alike.
static void tell(struct sched *s, uint32_t claimant, const struct verdict *v)
{
    s->out->stats.skipped[s->action] += v->skips;
    if (v->reason.code != REASON_NONE) {
        explain_retell(s, claimant, &v->reason, explain_pod_that_waits(s, claimant));
    }
}

// Whether it is known before searching, or for its twins after it, that the claimant fails.
static bool is_known(struct search *x, const struct memo *memo, struct verdict *v)
{
    const struct failed *f = memo_find(memo, x);
    v->skips = true;
    if (!all_feasible(x)) {
        return true;
    }
    if (f && f->count <= x->tasks.count &&
        f->priority >= workload_of(x->s, x->claimant)->priority) {
        v->reason = f->reason;
        return true;
    }
    return false;
}

static struct verdict search_for(struct search *x, struct memo *memo)
{
    struct sched *s = x->s;
    struct verdict v = {.final = true};
    reason_init(&v.reason, REASON_NONE);
    if (delayed(x, &v.reason) || !x->rules->may_search(x, &v.reason)) {
        tell(s, x->claimant, &v);
        return v;
    }
    search_count_room(x);
    if (is_known(x, memo, &v)) {
        tell(s, x->claimant, &v);
        return v;
    }
    x->tries = 0;
    x->tries_max = s->snap->config.search_tries_max;
    int64_t left = s->snap->config.action_tries_max - x->action_tries;
    x->tries_max = left < x->tries_max ? left : x->tries_max;
    x->any_victim = false;
    x->protected_victim = x->budget_victim = IX_NONE;
    s->claimant = x->claimant;
    s->out->stats.claimants[s->action]++;
    reserve_claimant(s, &x->request);
    x->victims.claimant_queue = queue_of(s, x->claimant);
    x->victims.spared = x->rules->spared ? x->rules->spared(x) : IX_NONE;
    x->victims.own_only = x->rules->own_queue_only && x->rules->own_queue_only(x);
    order_restart(&x->victims);
    if (search_solve(x)) {
        s->out->stats.solved[s->action]++;
        s->workloads[x->claimant].ousted_by = IX_NONE;
        s->workloads[x->claimant].promised = s->action != ACTION_CONSOLIDATE;
        record_evictions(x);
        allocate_settle(s);
        note_change(x, queue_of(s, x->claimant));
        for (uint32_t i = 0; i < x->chosen.count; i++) {
            note_change(x, queue_of(s, x->units.items[x->chosen.items[i]].workload));
        }
        x->commits++;
        x->stale_order = partly_taken(x);
        v.final = false;
    } else {
        explain_unsolved(x);
        memo_add(memo, x);
        v.final = is_known(x, memo, &v);
    }
    x->action_tries += x->tries;
    s->out->stats.tries[s->action] += (uint64_t)x->tries;
    return v;
}

static void init_search(struct search *x, struct sched *s, const struct search_rules *rules)
{
    const struct snapshot *snap = s->snap;
    *x = (struct search){.s = s, .rules = rules, .claimant = IX_NONE, .run = 1};
    x->held = ARENA_ARRAY(s->brief, struct amounts, snap->queues.count);
    x->held_non_preemptible = ARENA_ARRAY(s->brief, struct amounts, snap->queues.count);
    for (uint32_t q = 0; q < snap->queues.count; q++) {
        x->held[q] = s->queues[q].held;
        x->held_non_preemptible[q] = s->queues[q].held_non_preemptible;
    }
    x->left = ARENA_ARRAY(s->brief, struct amounts, snap->queues.count);
    x->left_seen = ARENA_ARRAY(s->brief, uint32_t, snap->queues.count);
    x->left_involved = arena_alloc(s->brief, sizeof(*x->left_involved) * snap->queues.count);
    order_init(&x->scenario, s, s->brief, false);
    x->taken = ARENA_ARRAY(s->brief, bool, snap->tasks.count);
    x->group_taken = ARENA_ARRAY(s->brief, uint32_t, snap->groups.count);
    x->gain = ARENA_ARRAY(s->brief, int64_t, snap->nodes.count);
    x->node_freed = ARENA_ARRAY(s->brief, int64_t, snap->nodes.count);
    x->node_units = ARENA_ARRAY(s->brief, uint32_t, snap->nodes.count);
    x->last_unit = ARENA_ARRAY(s->brief, uint32_t, snap->workloads.count);
    x->node_seen = ARENA_ARRAY(s->brief, uint32_t, snap->nodes.count);
    x->seen = ARENA_ARRAY(s->brief, uint32_t, snap->workloads.count);
    x->seen_victim = ARENA_ARRAY(s->brief, uint32_t, snap->workloads.count);
}

void search_run(struct sched *s, const struct search_rules *rules)
{
    struct order claimants;
    order_init(&claimants, s, s->brief, false);
    if (!order_add_waiting(&claimants)) {
        return;
    }
    order_ready(&claimants, s->snap->config.queue_depth_max[rules->action]);
    struct search x;
    init_search(&x, s, rules);
    struct memo memo = {0};
    map_init(&memo.map, s->brief);
    for (uint32_t w = order_pop(&claimants); w != IX_NONE; w = order_pop(&claimants)) {
        struct arena_mark mark = arena_mark(s->scratch);
        x.claimant = w;
        x.tasks = (struct task_list){0};
        gang_next(s, w, WORK_PENDING, s->scratch, &x.tasks);
        x.request = gang_request(s, w);
        // An earlier search may have taken what runs of it: the rest is no gang any more (R5).
        if (x.tasks.count > 0 && gang_is_ready(s, w)) {
            if (x.stale_order || x.victims.s == NULL) {
                victims_order(&x);
            }
            uint32_t commits = x.commits;
            struct verdict v = search_for(&x, &memo);
            uint32_t twin = v.final ? order_pop_twin(&claimants, w) : IX_NONE;
            for (; twin != IX_NONE; twin = order_pop_twin(&claimants, w)) {
                tell(s, twin, &v);
            }
            // What other queues hold has changed too.
            for (uint32_t i = 0; x.commits > commits && i < x.chosen.count; i++) {
                order_touch(&claimants, queue_of(s, x.units.items[x.chosen.items[i]].workload));
            }
            victims_forget(&x);
        }
        order_touch(&claimants, queue_of(s, w));
        arena_rewind(s->scratch, mark);
    }
    s->claimant = IX_NONE;
}

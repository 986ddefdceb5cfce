// SPDX-License-Identifier: Apache-2.0
// reserve: what runs is taken away in the order of its declared ends, the overdue at once, and then
// what declares none, node by node, the nodes with least of it first; with as little as possible
// taken away the workload is placed in a trial. Its nodes are reserved, and the end of the last work
// that had to go is its start. Nothing of this is remembered: as newcomers are kept off the nodes,
// the next cycle finds the same ones, or better.
//
// Not kept off: who comes before it in its queue; queues within their guarantee (R1); work that
// declares an end before the start; and what fits beside it on its nodes even at the start. What is
// moved for another comes there only where that one could.
#include "sched/reserve.h"

#include "base/sort.h"
#include "sched/explain.h"
#include "sched/fit.h"
#include "sched/gang.h"
#include "sched/order.h"
#include "sched/quota.h"
#include "sched/trial.h"

enum { CANDIDATES_MAX = 4 }; /* so many are tried of whom no amount of waiting would help */

/* A pod that runs, as it goes in the trial. */
struct going {
    uint32_t task;
    int64_t end_ms;  /* TIME_NEVER: not declared */
    int64_t on_node; /* what declares no end on its node: devices, then pods; 0 for others */
    uint32_t node;
};
struct leaving {
    struct going *items;
    uint32_t count, known; /* of which so many declare an end */
};

static int64_t end_of(const struct sched *s, uint32_t task)
{
    const struct snap_workload *w = workload_of(s, task_of(s, task)->workload.ix);
    if (w->duration_ms <= 0 || w->last_start_ms == TIME_NEVER) {
        return TIME_NEVER;
    }
    int64_t end_ms = w->last_start_ms + w->duration_ms;
    int64_t now_ms = s->snap->config.now_ms;
    return end_ms > now_ms ? end_ms : now_ms;
}

static int by_going(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    const struct going *x = a;
    const struct going *y = b;
    if ((x->end_ms == TIME_NEVER) != (y->end_ms == TIME_NEVER)) {
        return x->end_ms == TIME_NEVER ? 1 : -1;
    }
    if (x->end_ms != y->end_ms) {
        return x->end_ms < y->end_ms ? -1 : 1;
    }
    if (x->on_node != y->on_node) {
        return x->on_node < y->on_node ? -1 : 1;
    }
    if (x->end_ms == TIME_NEVER && x->node != y->node) {
        return x->node < y->node ? -1 : 1;
    }
    return x->task < y->task ? -1 : x->task > y->task;
}

static struct leaving make_leaving(struct sched *s)
{
    struct leaving p = {.items = ARENA_ARRAY(s->arena, struct going, s->snap->tasks.count)};
    int64_t *unknown = ARENA_ARRAY(s->arena, int64_t, s->node_count);
    for (uint32_t t = 0; t < s->snap->tasks.count; t++) {
        if (s->tasks[t].state != WORK_HELD) {
            continue;
        }
        struct going *g = &p.items[p.count++];
        *g = (struct going){.task = t, .end_ms = end_of(s, t), .node = s->tasks[t].place.node};
        if (g->end_ms == TIME_NEVER) {
            unknown[g->node] += 1 + (int64_t)shape_of(s, t)->device_count * TASKS_MAX;
        }
    }
    for (uint32_t i = 0; i < p.count; i++) {
        struct going *g = &p.items[i];
        g->on_node = g->end_ms == TIME_NEVER ? unknown[g->node] : 0;
        p.known += g->end_ms != TIME_NEVER;
    }
    sort_stable(p.items, p.count, sizeof(*p.items), by_going, NULL, s->arena);
    return p;
}

// Where a step ends that begins at item `at`: pods that go at one time, or from one node.
static uint32_t step_end(const struct leaving *p, uint32_t at)
{
    uint32_t end = at;
    while (end < p->count && p->items[end].end_ms == p->items[at].end_ms &&
           (p->items[at].end_ms != TIME_NEVER || p->items[end].node == p->items[at].node)) {
        end++;
    }
    return end;
}

// Takes away the first count pods of the plan and places the workload. The trial is left as it is.
static bool place_without(struct sched *s, const struct leaving *p, uint32_t count,
                          const struct task_list *tasks)
{
    uint32_t workload = task_of(s, tasks->items[0])->workload.ix;
    struct amounts most = {{0}};
    for (uint32_t i = 0; i < tasks->count; i++) {
        amounts_add(&most, &shape_state_of(s, tasks->items[i])->request_most);
    }
    for (uint32_t i = 0; i < count; i++) {
        // Its queue is helped by declared ends alone.
        if (i == p->known && !quota_allows(s, workload, &most, NULL)) {
            return false;
        }
        trial_evict(s, p->items[i].task);
    }
    return quota_allows(s, workload, &most, NULL) &&
           gang_place(s, workload, tasks, true, NULL, NULL);
}

static bool is_enough(struct sched *s, const struct leaving *p, uint32_t count,
                      const struct task_list *tasks)
{
    struct mark before = trial_mark(s);
    bool enough = place_without(s, p, count, tasks);
    trial_rollback(s, before);
    return enough;
}

// The fewest pods that must go, in whole steps; false when not even all are enough.
static bool fewest(struct sched *s, const struct leaving *p, const struct task_list *tasks,
                   uint32_t *count)
{
    uint32_t *ends = ARENA_ARRAY(s->scratch, uint32_t, (size_t)p->count + 1);
    uint32_t steps = 0;
    for (uint32_t at = 0; at < p->count;) {
        at = step_end(p, at);
        ends[++steps] = at;
    }
    if (!is_enough(s, p, p->count, tasks)) {
        return false;
    }
    uint32_t bad = 0;
    uint32_t good = steps;
    if (steps > 0 && is_enough(s, p, 0, tasks)) {
        good = 0;
    }
    while (good > bad + 1) {
        uint32_t middle = bad + (good - bad) / 2;
        if (is_enough(s, p, ends[middle], tasks)) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    *count = ends[good];
    return true;
}

static void add_spare(const struct sched *s, int64_t *spare, int sign)
{
    for (uint32_t n = 0; n < s->node_count; n++) {
        int64_t *row = spare + (size_t)n * (s->dims + 1);
        for (uint32_t d = 0; d < s->dims; d++) {
            row[d] += sign * s->later[(size_t)n * s->dims + d];
        }
        row[s->dims] += sign * (int64_t)s->nodes[n].whole_later;
    }
}

static void reserve(struct sched *s, const struct leaving *p, uint32_t count,
                    const struct task_list *tasks)
{
    struct reservation r = {
        .nodes = ARENA_ARRAY(s->arena, uint64_t, s->node_words + 1),
        .spare = ARENA_ARRAY(s->arena, int64_t, (size_t)s->node_count *(s->dims + 1)),
        .workload = task_of(s, tasks->items[0])->workload.ix,
        .node = IX_NONE,
        .start_ms = count > 0 ? p->items[count - 1].end_ms : s->snap->config.now_ms,
    };
    struct mark before = trial_mark(s);
    add_spare(s, r.spare, -1);
    (void)place_without(s, p, count, tasks);
    add_spare(s, r.spare, 1);
    for (uint32_t i = 0; i < tasks->count; i++) {
        uint32_t node = s->tasks[tasks->items[i]].place.node;
        r.nodes[node / 64] |= UINT64_C(1) << (node % 64);
        r.node = node < r.node ? node : r.node;
    }
    trial_rollback(s, before);
    s->reserve = r;
}

// Since when it waits; TIME_NEVER when it is not one that could be due a reservation.
static int64_t waits_since(struct sched *s, uint32_t workload)
{
    const struct snap_workload *w = workload_of(s, workload);
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        if (s->tasks[t].state == WORK_PIPELINED) {
            return TIME_NEVER;
        }
    }
    if (gang_is_satisfied(s, workload) || !gang_is_ready(s, workload)) {
        return TIME_NEVER;
    }
    return w->last_evicted_ms > w->created_ms ? w->last_evicted_ms : w->created_ms;
}

// The one that waits longest, after the one that was tried before it; IX_NONE: none is due.
static uint32_t next_due(struct sched *s, int64_t *since_ms, uint32_t after)
{
    uint32_t best = IX_NONE;
    int64_t best_ms = 0;
    for (uint32_t i = 0; i < s->waiting.count; i++) {
        uint32_t w = s->waiting.items[i];
        int64_t ms = waits_since(s, w);
        bool due = ms != TIME_NEVER &&
                   s->snap->config.now_ms - ms >= s->snap->config.reservation_after_ms;
        bool later = after == IX_NONE || ms > *since_ms || (ms == *since_ms && w > after);
        if (due && later && (best == IX_NONE || ms < best_ms || (ms == best_ms && w < best))) {
            best = w;
            best_ms = ms;
        }
    }
    *since_ms = best_ms;
    return best;
}

void reserve_find(struct sched *s)
{
    if (s->snap->config.reservation_after_ms <= 0) {
        return;
    }
    int64_t since_ms = 0;
    uint32_t workload = next_due(s, &since_ms, IX_NONE);
    struct leaving p = {0};
    for (int tried = 0; workload != IX_NONE && tried < CANDIDATES_MAX && !s->reserve.nodes;
         tried++) {
        struct arena_mark memory = arena_mark(s->scratch);
        if (!p.items) {
            p = make_leaving(s);
        }
        struct task_list tasks = {0};
        uint32_t count;
        gang_next(s, workload, WORK_PENDING, s->scratch, &tasks);
        if (tasks.count > 0 && fewest(s, &p, &tasks, &count)) {
            reserve(s, &p, count, &tasks);
        }
        arena_rewind(s->scratch, memory);
        workload = next_due(s, &since_ms, workload);
    }
}

void reserve_settle(struct sched *s)
{
    if (s->reserve.nodes && gang_is_satisfied(s, s->reserve.workload)) {
        s->reserve.nodes = NULL;
    }
}

// A time that has come says nothing about when.
static int64_t until(const struct sched *s)
{
    return s->reserve.start_ms > s->snap->config.now_ms ? s->reserve.start_ms : TIME_NEVER;
}

void reserve_explain(struct sched *s)
{
    if (s->reserve.nodes) {
        struct reason r;
        reason_init(&r, REASON_RESERVED);
        r.node.ix = s->reserve.node;
        r.until_ms = until(s);
        explain_offer(s, s->reserve.workload, &r);
    }
}

bool reserve_reason(struct sched *s, uint32_t task, struct reason *why)
{
    const uint64_t *feasible = fit_feasible(s, task_of(s, task)->shape.ix);
    for (uint32_t w = 0; s->reserve.nodes && w < s->node_words; w++) {
        for (uint64_t bits = feasible[w] & s->reserve.nodes[w]; bits != 0; bits &= bits - 1) {
            uint32_t n = w * 64 + (uint32_t)__builtin_ctzll(bits);
            if (reserve_bars(s, task, n) && fit_node(s, task, n) != FIT_NO) {
                reason_init(why, REASON_RESERVED_FOR_OTHER);
                why->task.ix = task;
                why->other.ix = s->reserve.workload;
                why->node.ix = n;
                why->until_ms = until(s);
                return true;
            }
        }
    }
    return false;
}

/* ---- who is kept off ---- */

// Whether the pod fits beside the reservation when that starts. Searches count what they free
// themselves, so they are not asked.
static bool fits_beside(const struct sched *s, uint32_t task, uint32_t node)
{
    const int64_t *spare = s->reserve.spare + (size_t)node * (s->dims + 1);
    const int64_t *later = s->later + (size_t)node * s->dims;
    const int64_t *need = shape_state_of(s, task)->need;
    if (s->action != ACTION_ALLOCATE) {
        return false;
    }
    for (uint32_t d = 0; d < s->dims; d++) {
        if (need[d] > 0 && later[d] + spare[d] < need[d]) {
            return false;
        }
    }
    int64_t devices = shape_of(s, task)->device_count;
    return devices == 0 || s->nodes[node].whole_later + spare[s->dims] >= devices;
}

// Whether the workload, started now, is over before the reservation begins.
static bool ends_before(const struct sched *s, uint32_t workload)
{
    int64_t duration_ms = workload_of(s, workload)->duration_ms;
    return duration_ms > 0 && s->reserve.start_ms != TIME_NEVER &&
           s->snap->config.now_ms + duration_ms <= s->reserve.start_ms;
}

// Whether the workload comes before the one that has the reservation, or within its guarantees.
static bool may_pass(struct sched *s, uint32_t workload, const struct amounts *request)
{
    if (queue_of(s, workload) == queue_of(s, s->reserve.workload)) {
        return workload == s->reserve.workload || workload_before(s, workload, s->reserve.workload);
    }
    for (uint32_t q = queue_of(s, workload); q != IX_NONE; q = s->queues[q].parent) {
        if (!quota_within_guarantee(s, q, request)) {
            return false;
        }
    }
    return true;
}

void reserve_claimant(struct sched *s, const struct amounts *request)
{
    s->reserve.claimant_barred = s->reserve.nodes && !ends_before(s, s->claimant) &&
                                 !may_pass(s, s->claimant, request);
}

bool reserve_bars_task(struct sched *s, uint32_t task, uint32_t node)
{
    const struct reservation *r = &s->reserve;
    uint32_t workload = task_of(s, task)->workload.ix;
    if (workload == r->workload || s->tasks[task].old.node == node) {
        return false;
    }
    if (ends_before(s, workload) || fits_beside(s, task, node)) {
        return false;
    }
    bool is_victim = s->claimant != IX_NONE && s->tasks[task].old.node != IX_NONE;
    return (is_victim && r->claimant_barred) ||
           !may_pass(s, workload, &shape_state_of(s, task)->request);
}

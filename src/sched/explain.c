// SPDX-License-Identifier: Apache-2.0
// explain: a workload that waits is looked at by several actions, and each may find a cause. What
// forbids it to start at all outranks what keeps it from taking from others, and that outranks the
// plain fact that nothing is free. The counts per node go along with whatever reason is told last.
#include "sched/explain.h"

#include <string.h>

#include "base/check.h"
#include "sched/waiting.h"

// Higher: more telling.
static int rank(enum reason_code code)
{
    switch (code) {
    case REASON_NONE:
        return 0;
    case REASON_NO_NODE_FITS:
    case REASON_GANG_INCOMPLETE:
        return 1;
    case REASON_PLACED:
        return 2;
    case REASON_BEHIND_IN_QUEUE:
    case REASON_KEPT_FOR_OTHER:
        return 3;
    case REASON_VICTIMS_NOT_ENOUGH:
    case REASON_NO_VICTIMS:
        return 4;
    case REASON_SEARCH_EXHAUSTED:
        return 5;
    case REASON_FAIR_SHARE_REACHED:
        return 6;
    case REASON_VICTIMS_PROTECTED:
    case REASON_VICTIMS_IN_BUDGET:
        return 7; // in its own queue it may take, but for that
    case REASON_PREEMPTION_DELAY:
    case REASON_RESERVED_FOR_OTHER:
        return 8;
    case REASON_DEPTH_REACHED:
    case REASON_PARTLY_PLACED:
        return 9;
    case REASON_WAITING_FOR_RELEASE:
    case REASON_WAITING_FOR_CLAIM:
    case REASON_RESERVED:
        return 10;
    case REASON_TOO_LARGE:
    case REASON_LARGER_THAN_POOL:
    case REASON_TOPOLOGY:
    case REASON_TOPOLOGY_UNKNOWN:
    case REASON_NO_NODES:
        return 11;
    case REASON_OVER_LIMIT:
    case REASON_NON_PREEMPTIBLE_OVER_QUOTA:
        return 12;
    case REASON_QUEUE_MISSING:
    case REASON_QUEUE_NOT_LEAF:
    case REASON_GATED:
    case REASON_PARALLELISM:
    case REASON_UPDATING:
    case REASON_NOT_READY:
        return 13;
    case REASON_EVICTED_RECLAIM:
    case REASON_EVICTED_PREEMPT:
    case REASON_EVICTED_CONSOLIDATION:
    case REASON_EVICTED_STALE:
    case REASON_EVICTED_DRAIN:
    case REASON_EVICTED_DEVICE_DRAIN:
    case REASON_EVICTED_DRAIN_DEADLINE:
    case REASON_EVICTED_DEVICE_LOST:
    case REASON_STOPPED_RUN_LIMIT:
    case REASON_STOPPED_IDLE_LIMIT:
    case REASON_COUNT:
        break;
    }
    return 14;
}

void explain_set(struct sched *s, uint32_t workload, const struct reason *r)
{
    s->out->reasons[workload] = *r;
}

void explain_offer(struct sched *s, uint32_t workload, const struct reason *r)
{
    struct reason *known = &s->out->reasons[workload];
    if (rank(r->code) < rank(known->code)) {
        return;
    }
    struct reason before = *known;
    *known = *r;
    if (!r->has_nodes && before.has_nodes) {
        known->has_nodes = true;
        known->task = before.task;
        memcpy(known->nodes, before.nodes, sizeof(before.nodes));
    }
}

void explain_retell(struct sched *s, uint32_t workload, const struct reason *r, uint32_t pod)
{
    struct reason own = *r;
    own.task.ix = r->task.ix == IX_NONE ? IX_NONE : pod;
    own.group.ix = r->group.ix == IX_NONE ? IX_NONE : task_of(s, pod)->group.ix;
    explain_offer(s, workload, &own);
}

uint32_t explain_pod_that_waits(const struct sched *s, uint32_t workload)
{
    uint32_t t = workload_of(s, workload)->task_first;
    while (s->tasks[t].state != WORK_PENDING) {
        t++;
    }
    return t;
}

void explain_twin(struct sched *s, uint32_t workload, uint32_t twin)
{
    const struct reason *r = &s->out->reasons[workload];
    uint32_t pod = r->task.ix == IX_NONE ? 0 : r->task.ix - workload_of(s, workload)->task_first;
    explain_retell(s, twin, r, workload_of(s, twin)->task_first + pod);
}

/* ---- a gang that found no place ---- */

// The resource the pod lacks and the most that one node has of it, free or at all.
static void lacking(struct sched *s, uint32_t task, bool empty, struct reason *r)
{
    struct amounts request = shape_state_of(s, task)->request;
    const uint64_t *feasible = fit_feasible(s, task_of(s, task)->shape.ix);
    struct amounts most = {{0}};
    for (uint32_t n = 0; n < s->node_count; n++) {
        if (!s->nodes[n].usable || (!empty && (feasible[n / 64] >> (n % 64) & 1) == 0)) {
            continue;
        }
        const int64_t *row = (empty ? s->empty : s->later) + (size_t)n * s->dims;
        int64_t has[RES_COUNT] = {
            [RES_GPU] = DEVICE_SHARE * (empty ? s->nodes[n].devices : s->nodes[n].whole_later),
            [RES_CPU] = row[DIM_CPU],
            [RES_MEMORY] = row[DIM_MEMORY],
        };
        for (int i = 0; i < RES_COUNT; i++) {
            most.v[i] = has[i] > most.v[i] ? has[i] : most.v[i];
        }
    }
    for (int i = 0; i < RES_COUNT; i++) {
        if (request.v[i] > most.v[i]) {
            r->resource = (enum resource)i;
            r->requested = request.v[i];
            r->bound = most.v[i];
            return;
        }
    }
    r->resource = request.v[RES_GPU] > 0 ? RES_GPU : RES_CPU;
    r->requested = request.v[r->resource];
    r->bound = most.v[r->resource];
}

// What no node can take may be waiting for nodes or devices that are closed, lost or sick for a time,
// rather than be too large.
static void mind_closed(const struct sched *s, struct reason *r)
{
    uint32_t closed = r->nodes[NODE_REASON_NOT_READY] + r->nodes[NODE_REASON_CORDONED];
    if (closed == s->node_count) {
        r->code = REASON_NO_NODES;
        r->requested = r->bound = 0;
        r->resource = RES_GPU;
    } else if (r->nodes[NODE_REASON_DEVICES_SICK] > 0) {
        r->code = REASON_NO_NODE_FITS;
    }
}

// Why one pod finds no place, whatever else its workload needs.
static void explain_pod(struct sched *s, uint32_t task, struct reason *r)
{
    struct shape_state *p = shape_state_of(s, task);
    (void)fit_feasible(s, task_of(s, task)->shape.ix);
    if (p->dead_reason) {
        *r = *p->dead_reason;
        r->task.ix = task;
        return;
    }
    if (p->feasible_count == 0) {
        reason_init(r, REASON_TOO_LARGE);
        lacking(s, task, true, r);
        if (r->requested <= r->bound) {
            r->code = REASON_NO_NODE_FITS; /* refused for another cause: see the nodes */
        }
    } else {
        reason_init(r, REASON_NO_NODE_FITS);
        lacking(s, task, false, r);
    }
    r->task.ix = task;
    fit_histogram(s, task, r);
    if (p->feasible_count == 0) {
        mind_closed(s, r);
    }
    if (p->dead) {
        p->dead_reason = ARENA_NEW(s->arena, struct reason);
        *p->dead_reason = *r;
    }
}

// Whether the pods together ask for more than all usable nodes have when they are empty.
static bool larger_than_pool(const struct sched *s, const struct task_list *tasks, struct reason *r)
{
    struct amounts sum = {{0}};
    for (uint32_t i = 0; i < tasks->count; i++) {
        amounts_add(&sum, &shape_state_of(s, tasks->items[i])->request);
    }
    for (int i = 0; i < RES_COUNT; i++) {
        if (sum.v[i] > s->total.v[i]) {
            r->code = REASON_LARGER_THAN_POOL;
            r->resource = (enum resource)i;
            r->requested = sum.v[i];
            r->bound = s->total.v[i];
            return true;
        }
    }
    return false;
}

void explain_failure(struct sched *s, const struct task_list *tasks,
                     const struct gang_failure *failure, struct reason *r)
{
    uint32_t task = failure->task != IX_NONE ? failure->task : tasks->items[0];
    if (s->node_count == 0) {
        reason_init(r, REASON_NO_NODES);
        return;
    }
    explain_pod(s, task, r);
    if (r->code == REASON_NO_NODE_FITS && r->nodes[NODE_REASON_DEVICES_SICK] == 0 &&
        larger_than_pool(s, tasks, r)) {
        return;
    }
    if (failure->group != IX_NONE) {
        bool unknown = group_of(s, failure->group)->topology_unknown;
        r->code = unknown ? REASON_TOPOLOGY_UNKNOWN : REASON_TOPOLOGY;
        r->group.ix = failure->group;
        r->requested = tasks->count;
        r->bound = failure->bound;
    } else if (r->code == REASON_NO_NODE_FITS && tasks->count > 1 && failure->placed > 0) {
        r->code = REASON_GANG_INCOMPLETE;
        r->group.ix = task_of(s, task)->group.ix;
        r->requested = tasks->count;
        r->held = failure->placed;
        r->bound = 0;
    }
}

/* ---- at the end of the cycle ---- */

static bool first_pipelined(const struct sched *s, uint32_t workload, uint32_t *task)
{
    const struct snap_workload *w = workload_of(s, workload);
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        if (s->tasks[t].state == WORK_PIPELINED) {
            *task = t;
            return true;
        }
    }
    return false;
}

static bool share_devices(const struct sched *s, const struct place *a, const struct place *b)
{
    for (uint32_t i = 0; i < a->hold_count; i++) {
        for (uint32_t k = 0; k < b->hold_count; k++) {
            if (s->holds.items[a->hold_first + i].device.ix ==
                s->holds.items[b->hold_first + k].device.ix) {
                return true;
            }
        }
    }
    return false;
}

// Pods on their way out, by the node they leave, in their order.
struct leavers {
    uint32_t *first; /* [nodes] row in sched.leaving, IX_NONE: none */
    uint32_t *next;  /* [leaving] the next one of that node */
};

static const struct place *place_left(const struct work *w)
{
    return w->old.node != IX_NONE ? &w->old : &w->place;
}

static struct leavers find_leavers(struct sched *s)
{
    struct leavers l = {ARENA_ARRAY(s->scratch, uint32_t, s->node_count),
                        ARENA_ARRAY(s->scratch, uint32_t, s->leaving.count)};
    for (uint32_t n = 0; n < s->node_count; n++) {
        l.first[n] = IX_NONE;
    }
    for (uint32_t i = s->leaving.count; i > 0;) {
        i--;
        uint32_t node = place_left(&s->tasks[s->leaving.items[i]])->node;
        if (node != IX_NONE) {
            l.next[i] = l.first[node];
            l.first[node] = i;
        }
    }
    return l;
}

// Who is leaving the place of the pod: best another workload, best one that is on its devices.
static uint32_t leaving_workload(const struct sched *s, const struct leavers *l, uint32_t task)
{
    const struct place *to = &s->tasks[task].place;
    uint32_t best = IX_NONE;
    int best_worth = 0;
    for (uint32_t i = l->first[to->node]; i != IX_NONE; i = l->next[i]) {
        uint32_t t = s->leaving.items[i];
        const struct work *w = &s->tasks[t];
        bool other = task_of(s, t)->workload.ix != task_of(s, task)->workload.ix;
        int worth = (other ? 2 : 0) + (share_devices(s, place_left(w), to) ? 1 : 0);
        if (w->state != WORK_HELD && (best == IX_NONE || worth > best_worth)) {
            best = task_of(s, t)->workload.ix;
            best_worth = worth;
        }
    }
    return best;
}

static void final_reason(struct sched *s, const struct leavers *leavers, uint32_t workload)
{
    const struct workload_state *w = &s->workloads[workload];
    struct reason *known = &s->out->reasons[workload];
    uint32_t pending = gang_pending(s, workload);
    uint32_t task = IX_NONE;
    struct reason r;
    if (first_pipelined(s, workload, &task)) {
        const struct work *x = &s->tasks[task];
        uint32_t leaving = leaving_workload(s, leavers, task);
        // A pod that is moved and has to leave its own place first has had nobody stopped for it.
        bool freed = x->claimed && leaving != workload;
        reason_init(&r, freed ? REASON_WAITING_FOR_CLAIM : REASON_WAITING_FOR_RELEASE);
        r.task.ix = task;
        r.node.ix = x->place.node;
        r.other.ix = leaving;
        explain_set(s, workload, &r);
    } else if (pending == 0) {
        reason_init(&r, w->was_bound ? REASON_PLACED : REASON_NONE);
        r.node.ix = IX_NONE;
        if (w->was_bound) {
            const struct snap_workload *x = workload_of(s, workload);
            for (uint32_t t = x->task_first; t < x->task_first + x->task_count; t++) {
                if (s->tasks[t].state == WORK_ALLOCATED && r.node.ix == IX_NONE) {
                    r.node.ix = s->tasks[t].place.node;
                }
            }
        }
        bool gated = known->code == REASON_GATED || known->code == REASON_NOT_READY;
        if (!gated && r.code != known->code) {
            explain_set(s, workload, &r);
        }
    } else if (known->code == REASON_NO_NODE_FITS && gang_is_satisfied(s, workload) &&
               gang_stage(s, workload, NULL) >= GANG_AT_MINIMUM && (w->started || w->was_bound)) {
        known->code = REASON_PARTLY_PLACED;
    } else if (known->code == REASON_NONE) {
        // It was promised a place and lost it again, or nobody has looked at it in this cycle.
        explain_pod(s, explain_pod_that_waits(s, workload), &r);
        if (w->ousted_by != IX_NONE || r.nodes[NODE_REASON_FITS] > 0) {
            r.code = REASON_BEHIND_IN_QUEUE;
            r.other.ix = w->ousted_by;
        }
        explain_set(s, workload, &r);
    } else if (!known->has_nodes &&
               (known->code == REASON_NO_VICTIMS || known->code == REASON_VICTIMS_NOT_ENOUGH)) {
        // It had a place when nodes were looked at, and lost it.
        explain_pod(s, known->task.ix, &r);
        known->has_nodes = true;
        memcpy(known->nodes, r.nodes, sizeof(r.nodes));
        if (r.nodes[NODE_REASON_FITS] > 0) {
            known->code = REASON_BEHIND_IN_QUEUE;
            known->other.ix = w->ousted_by;
        }
    }
}

void explain_all(struct sched *s)
{
    struct arena_mark mark = arena_mark(s->scratch);
    struct leavers leavers = find_leavers(s);
    for (uint32_t w = 0; w < s->snap->workloads.count; w++) {
        final_reason(s, &leavers, w);
    }
    arena_rewind(s->scratch, mark);
    waiting_sort(s);
    uint32_t position = 0;
    uint32_t queue = IX_NONE;
    for (uint32_t i = 0; i < s->waiting.count; i++) {
        uint32_t w = s->waiting.items[i];
        if (gang_pending(s, w) == 0) {
            continue;
        }
        position = queue_of(s, w) == queue ? position + 1 : 1;
        queue = queue_of(s, w);
        s->out->workloads[w].position = position;
    }
}

// SPDX-License-Identifier: Apache-2.0
// moves: for every node the pods are found that would have to go so that the claimant fits: first
// those on the devices that are freed with least, then, where CPU or the like is short, further
// ones. A move costs what the pod holds of devices, and one device more for the disturbance. The
// cheapest nodes are tried: the claimant takes the place, and those who made room are placed again,
// the largest first, where the pool's packing wants them. What could be spared is left out
// afterwards, as in every search.
//
// No more pods are moved so than the claimant asks for devices: without that bound a little less of
// what is asked for is turned away, for a third more moves.
//
// The order of victims, which decides who loses work, has no say here: nobody loses any, and what
// the moves cost is all that matters. Gangs that would have to move as a whole are left to the
// ordinary search.
#include "sched/moves.h"

#include "base/num.h"
#include "sched/allocate.h"
#include "sched/budget.h"
#include "sched/victims.h"

enum {
    PODS_MAX = 16,    /* moved for one claimant */
    PLANS_MAX = 12,   /* nodes tried for one claimant */
    DEVICES_MAX = 64, /* of a node with more only the first are looked at */
};

/* The pods to move off a node. */
struct move_plan {
    uint32_t node, count;
    int64_t cost;
    uint32_t tasks[PODS_MAX];
};

/* Whether a pod of a shape finds a place as things are. */
enum finds { FINDS_UNKNOWN, FINDS_NONE, FINDS_SOME };

/* What is worked out for one claimant. */
struct inquiry {
    struct search *x;
    const struct snap_shape *shape;
    const int64_t *need;
    enum finds *finds; /* [shapes] */
    uint32_t pods_max; /* that may be moved */
    struct move_plan best[PLANS_MAX];
    uint32_t best_count;
};

static int64_t move_cost(const struct sched *s, uint32_t task)
{
    const struct place *place = &s->tasks[task].place;
    int64_t share = DEVICE_SHARE;
    for (uint32_t h = 0; h < place->hold_count; h++) {
        share += s->holds.items[place->hold_first + h].share;
    }
    return share;
}

/* ---- who may be moved ---- */

// Whether it runs, and its workload goes on without it or is nothing else.
static bool moves_alone(const struct search *x, uint32_t task)
{
    const struct sched *s = x->s;
    uint32_t workload = task_of(s, task)->workload.ix;
    const struct snap_workload *w = workload_of(s, workload);
    if (s->tasks[task].state != WORK_HELD || !w->preemptible || !s->workloads[workload].usable ||
        s->workloads[workload].promised || w->group_count != 1) {
        return false;
    }
    uint32_t placed = s->groups[w->group_first].placed;
    return placed == 1 || placed > group_of(s, w->group_first)->min;
}

static void list_pods(struct search *x)
{
    struct sched *s = x->s;
    struct moves *m = &x->moves;
    if (m->commits == x->commits + 1) {
        return;
    }
    if (m->commits == 0) {
        m->first = ARENA_ARRAY(s->arena, uint32_t, s->node_count + 1);
        m->tasks = ARENA_ARRAY(s->arena, uint32_t, s->snap->tasks.count);
    }
    m->commits = x->commits + 1;
    for (uint32_t n = 0; n <= s->node_count; n++) {
        m->first[n] = 0;
    }
    for (uint32_t t = 0; t < s->snap->tasks.count; t++) {
        if (moves_alone(x, t)) {
            m->first[s->tasks[t].place.node]++;
        }
    }
    uint32_t end = 0;
    for (uint32_t n = 0; n <= s->node_count; n++) {
        end += m->first[n];
        m->first[n] = end;
    }
    // Filled from the back, so that first[n] ends up at the beginning of its run.
    for (uint32_t t = s->snap->tasks.count; t > 0;) {
        t--;
        if (moves_alone(x, t)) {
            m->tasks[--m->first[s->tasks[t].place.node]] = t;
        }
    }
}

static bool finds_place(const struct inquiry *q, uint32_t task)
{
    enum finds *f = &q->finds[task_of(q->x->s, task)->shape.ix];
    if (*f == FINDS_UNKNOWN) {
        *f = allocate_fits_anywhere(q->x->s, task) ? FINDS_SOME : FINDS_NONE;
    }
    return *f == FINDS_SOME;
}

static bool may_move(const struct inquiry *q, uint32_t task)
{
    const struct sched *s = q->x->s;
    uint32_t workload = task_of(s, task)->workload.ix;
    bool own = queue_of(s, workload) == queue_of(s, q->x->claimant);
    return workload != q->x->claimant && (own || !q->x->victims.own_only) &&
           q->x->rules->victim(q->x, workload) && budget_room(s, task) && finds_place(q, task);
}

/* ---- what a node would cost ---- */

/* A node that is looked at. */
struct node_view {
    const uint32_t *tasks; /* [count] pods on it that may be listed */
    uint32_t count, device_first, device_count;
    int64_t cost[DEVICES_MAX]; /* of moving all that may be moved off the device, not yet planned */
    int64_t movable[DEVICES_MAX]; /* how much of it those take */
    int64_t freed[DEVICES_MAX];   /* how much the plan frees of it */
    bool taken[DEVICES_MAX];      /* for the claimant */
};

static bool planned(const struct sched *s, const struct move_plan *p, uint32_t task)
{
    for (uint32_t i = 0; i < p->count; i++) {
        // Two pods of an elastic workload could take it below its minimum.
        if (task_of(s, p->tasks[i])->workload.ix == task_of(s, task)->workload.ix) {
            return true;
        }
    }
    return false;
}

static bool is_on(const struct sched *s, uint32_t task, uint32_t device)
{
    const struct place *place = &s->tasks[task].place;
    for (uint32_t h = 0; h < place->hold_count; h++) {
        if (s->holds.items[place->hold_first + h].device.ix == device) {
            return true;
        }
    }
    return false;
}

// Counts the pod to what may be moved (sign 1), or takes it out of that into the plan (-1).
static void count_pod(const struct sched *s, struct node_view *v, uint32_t task, int sign)
{
    const struct place *place = &s->tasks[task].place;
    int64_t cost = move_cost(s, task);
    for (uint32_t h = 0; h < place->hold_count; h++) {
        uint32_t device = s->holds.items[place->hold_first + h].device.ix;
        int64_t take = device_take(shape_of(s, task), &s->devices[device]);
        uint32_t d = device - v->device_first;
        if (d < v->device_count) {
            v->cost[d] += sign * cost;
            v->movable[d] += sign * take;
            v->freed[d] += sign < 0 ? take : 0;
        }
    }
}

static bool add_to_plan(const struct inquiry *q, struct node_view *v, struct move_plan *p,
                        uint32_t task)
{
    if (task == IX_NONE || p->count == q->pods_max) {
        return false;
    }
    p->tasks[p->count++] = task;
    p->cost += move_cost(q->x->s, task);
    count_pod(q->x->s, v, task, -1);
    return true;
}

static void look_at(const struct inquiry *q, uint32_t node, struct node_view *v)
{
    const struct sched *s = q->x->s;
    const struct snap_node *n = &s->snap->nodes.items[node];
    const struct moves *m = &q->x->moves;
    *v = (struct node_view){
        .tasks = m->tasks + m->first[node],
        .count = m->first[node + 1] - m->first[node],
        .device_first = n->device_first,
        .device_count = n->device_count < DEVICES_MAX ? n->device_count : DEVICES_MAX,
    };
    for (uint32_t i = 0; i < v->count; i++) {
        if (may_move(q, v->tasks[i])) {
            count_pod(s, v, v->tasks[i], 1);
        }
    }
}

// What is missing on the device for the claimant. INT64_MAX: it cannot be had.
static int64_t missing(const struct inquiry *q, const struct node_view *v, uint32_t d)
{
    const struct device_state *state = &q->x->s->devices[v->device_first + d];
    bool whole = q->shape->gpu == GPU_WHOLE;
    int64_t need = whole ? state->cap : device_take(q->shape, state);
    int64_t short_by = need - device_free_later(state) - v->freed[d];
    if (state->cap == 0 || v->taken[d] || need > state->cap || short_by > v->movable[d]) {
        return INT64_MAX;
    }
    return num_max_i64(short_by, 0);
}

/* How much of what is missing a pod gives. */
typedef int64_t amount_fn(const struct sched *s, uint32_t task, uint32_t what);

// The pod that is to go first: the cheapest that is enough, else the largest. IX_NONE: no more.
static uint32_t next_to_go(const struct inquiry *q, const struct node_view *v,
                           const struct move_plan *p, int64_t short_by, amount_fn *amount,
                           uint32_t what)
{
    const struct sched *s = q->x->s;
    uint32_t cheapest = IX_NONE;
    uint32_t largest = IX_NONE;
    for (uint32_t i = 0; i < v->count; i++) {
        uint32_t task = v->tasks[i];
        int64_t here = amount(s, task, what);
        if (here == 0 || planned(s, p, task) || !may_move(q, task)) {
            continue;
        }
        if (largest == IX_NONE || here > amount(s, largest, what)) {
            largest = task;
        }
        if (here >= short_by &&
            (cheapest == IX_NONE || move_cost(s, task) < move_cost(s, cheapest))) {
            cheapest = task;
        }
    }
    return cheapest == IX_NONE ? largest : cheapest;
}

static int64_t amount_of_device(const struct sched *s, uint32_t task, uint32_t device)
{
    return is_on(s, task, device) ? device_take(shape_of(s, task), &s->devices[device]) : 0;
}

static int64_t amount_of_dim(const struct sched *s, uint32_t task, uint32_t dim)
{
    return shape_state_of(s, task)->need[dim];
}

// What it costs to have the device. INT64_MAX: it cannot be had.
static int64_t cost_of_device(const struct inquiry *q, const struct node_view *v,
                              const struct move_plan *p, uint32_t d)
{
    int64_t short_by = missing(q, v, d);
    if (short_by == INT64_MAX || short_by == 0) {
        return short_by;
    }
    uint32_t device = v->device_first + d;
    uint32_t task = q->shape->gpu == GPU_WHOLE
                        ? IX_NONE /* all have to go */
                        : next_to_go(q, v, p, short_by, amount_of_device, device);
    if (task == IX_NONE || amount_of_device(q->x->s, task, device) < short_by) {
        return v->cost[d];
    }
    return move_cost(q->x->s, task);
}

// Plans what goes off the device that is had most cheaply.
static bool free_device(const struct inquiry *q, struct node_view *v, struct move_plan *p)
{
    uint32_t best = IX_NONE;
    int64_t best_cost = INT64_MAX;
    for (uint32_t d = 0; d < v->device_count; d++) {
        int64_t cost = cost_of_device(q, v, p, d);
        if (cost < best_cost) {
            best = d;
            best_cost = cost;
        }
    }
    if (best == IX_NONE) {
        return false;
    }
    int64_t short_by = missing(q, v, best);
    while (short_by > 0) {
        uint32_t task = next_to_go(q, v, p, short_by, amount_of_device, v->device_first + best);
        if (!add_to_plan(q, v, p, task)) {
            return false;
        }
        short_by = missing(q, v, best);
    }
    v->taken[best] = true;
    return true;
}

// Plans what goes so that there is enough CPU, memory and the like.
static bool free_amounts(const struct inquiry *q, struct node_view *v, struct move_plan *p)
{
    const struct sched *s = q->x->s;
    for (uint32_t dim = 0; dim < s->dims; dim++) {
        for (;;) {
            int64_t short_by = q->need[dim] - s->later[(size_t)p->node * s->dims + dim];
            for (uint32_t i = 0; i < p->count; i++) {
                short_by -= amount_of_dim(s, p->tasks[i], dim);
            }
            if (q->need[dim] == 0 || short_by <= 0) {
                break;
            }
            uint32_t task = next_to_go(q, v, p, short_by, amount_of_dim, dim);
            if (!add_to_plan(q, v, p, task)) {
                return false;
            }
        }
    }
    return true;
}

// False: the node cannot be made to fit so, or needs nothing to go.
static bool plan_node(const struct inquiry *q, uint32_t node, struct move_plan *p)
{
    struct node_view v;
    *p = (struct move_plan){.node = node};
    look_at(q, node, &v);
    for (uint32_t d = 0; q->shape->gpu != GPU_NONE && d < q->shape->device_count; d++) {
        if (!free_device(q, &v, p)) {
            return false;
        }
    }
    return free_amounts(q, &v, p) && p->count > 0;
}

// Keeps the cheapest plans, of equal ones those of the first nodes.
static void offer(struct inquiry *q, const struct move_plan *p)
{
    uint32_t at = q->best_count;
    while (at > 0 && q->best[at - 1].cost > p->cost) {
        at--;
    }
    if (at == PLANS_MAX) {
        return;
    }
    q->best_count += q->best_count < PLANS_MAX;
    for (uint32_t i = q->best_count - 1; i > at; i--) {
        q->best[i] = q->best[i - 1];
    }
    q->best[at] = *p;
}

/* ---- the search ---- */

static void plan_nodes(struct inquiry *q)
{
    const struct sched *s = q->x->s;
    for (uint32_t w = 0; w < s->node_words; w++) {
        for (uint64_t bits = q->x->feasible[w]; bits != 0; bits &= bits - 1) {
            uint32_t n = w * 64 + (uint32_t)__builtin_ctzll(bits);
            struct move_plan p;
            if (q->x->moves.first[n] < q->x->moves.first[n + 1] && plan_node(q, n, &p)) {
                offer(q, &p);
            }
        }
    }
}

static bool try_plan(const struct inquiry *q, struct move_plan *p)
{
    struct search *x = q->x;
    victims_forget(x);
    // The largest first: the small ones find a place more easily.
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t largest = i;
        for (uint32_t j = i + 1; j < p->count; j++) {
            largest = move_cost(x->s, p->tasks[j]) > move_cost(x->s, p->tasks[largest]) ? j
                                                                                        : largest;
        }
        uint32_t task = p->tasks[largest];
        p->tasks[largest] = p->tasks[i];
        victims_take(x, task);
    }
    return search_try_all(x);
}

static uint32_t pods_max(const struct search *x, const struct snap_shape *shape)
{
    int64_t max = shape->gpu == GPU_NONE ? 1 : shape->device_count;
    max = x->rules->victims_max < 0 ? max : num_min_i64(max, x->rules->victims_max);
    return (uint32_t)num_min_i64(max, PODS_MAX);
}

bool moves_solve(struct search *x)
{
    struct sched *s = x->s;
    uint32_t task = x->tasks.items[0];
    struct inquiry *q = ARENA_NEW(s->scratch, struct inquiry);
    q->x = x;
    q->shape = shape_of(s, task);
    q->need = shape_state_of(s, task)->need;
    q->pods_max = pods_max(x, q->shape);
    q->finds = ARENA_ARRAY(s->scratch, enum finds, s->snap->shapes.count);
    list_pods(x);
    plan_nodes(q);
    x->claimant_first = true;
    for (uint32_t i = 0; i < q->best_count && !search_exhausted(x); i++) {
        if (try_plan(q, &q->best[i])) {
            return true;
        }
    }
    x->claimant_first = false;
    victims_forget(x);
    return false;
}

// SPDX-License-Identifier: Apache-2.0
// order: two comparisons. Workloads of one queue: priority; then a gang that has started but lacks
// members, one that has not started, one exactly at its minimum, one above (R5); then age.
// Queues under one parent, each with its best workload: the eight steps of queue_before.
//
// best[q] is the leaf whose workload is first below q. It changes only along the path of a leaf
// that was popped, pushed to or charged; that path is recomputed at once, a scan of the siblings at
// each level. What waits in a leaf is sorted once; an order of victims is used again for every
// claimant of an action, which only decides anew who is a victim for it.
#include "sched/order.h"

#include "base/check.h"
#include "base/num.h"
#include "base/sort.h"
#include "sched/gang.h"
#include "sched/quota.h"

static bool comes_before(struct sched *s, uint32_t a, uint32_t b, const uint32_t *taken)
{
    const struct snap_workload *x = workload_of(s, a);
    const struct snap_workload *y = workload_of(s, b);
    if (x->priority != y->priority) {
        return x->priority > y->priority;
    }
    enum gang_stage stage_x = gang_stage(s, a, taken);
    enum gang_stage stage_y = gang_stage(s, b, taken);
    if (stage_x != stage_y) {
        return stage_x < stage_y;
    }
    return a < b;
}

static bool is_before(uint32_t a, uint32_t b, void *ctx)
{
    const struct order *o = ctx;
    return o->victims ? comes_before(o->s, b, a, o->group_taken) : comes_before(o->s, a, b, NULL);
}

bool workload_before(struct sched *s, uint32_t a, uint32_t b)
{
    return comes_before(s, a, b, NULL);
}
// Steps over workloads that are no victims for this claimant.
static void skip(struct order *o, struct order_leaf *leaf)
{
    while (o->allows && leaf->next < leaf->count &&
           !o->allows(o->s, leaf->sorted[leaf->next], o->ctx)) {
        leaf->next++;
    }
}

static bool leaf_has(const struct order_leaf *leaf)
{
    return !leaf->closed && (leaf->next < leaf->count || leaf->back.count > 0);
}

// Whether the next one comes from those pushed back.
static bool from_back(struct order *o, const struct order_leaf *leaf)
{
    return leaf->next == leaf->count ||
           (leaf->back.count > 0 && is_before(heap_top(&leaf->back), leaf->sorted[leaf->next], o));
}

static uint32_t top_of(struct order *o, uint32_t queue)
{
    const struct order_leaf *leaf = &o->leaves[queue];
    return from_back(o, leaf) ? heap_top(&leaf->back) : leaf->sorted[leaf->next];
}

// What decides between two queues, worked out for one of them.
struct standing {
    const struct sched *s;
    uint32_t queue;
    struct amounts asks;
    struct amounts without; /* victims taken so far and the next one; zero when none */
    bool victims;
};

static bool over_utilised(const struct standing *x)
{
    const struct queue_state *q = &x->s->queues[x->queue];
    for (int r = 0; r < RES_COUNT; r++) {
        if (q->fair.v[r] >= q->held.v[r]) {
            return false;
        }
    }
    return true;
}

static bool uses_what_it_has_none_of(const struct standing *x)
{
    const struct queue_state *q = &x->s->queues[x->queue];
    for (int r = 0; r < RES_COUNT; r++) {
        if (q->allocatable.v[r] == 0 && q->held.v[r] + x->asks.v[r] > 0) {
            return true;
        }
    }
    return false;
}

static int cmp_dominant(struct dominant a, struct dominant b)
{
    return num_cmp_frac(a.num, a.den, b.num, b.den);
}

static int cmp_allocatable(const struct amounts *a, const struct amounts *b)
{
    bool a_le = true;
    bool b_le = true;
    for (int r = 0; r < RES_COUNT; r++) {
        a_le = a_le && amount_le(a->v[r], b->v[r]);
        b_le = b_le && amount_le(b->v[r], a->v[r]);
    }
    return a_le == b_le ? 0 : (a_le ? -1 : 1);
}

// The queue that comes first has the lesser result (kai.md 3.5).
static int cmp_standing(const struct standing *x, const struct standing *y)
{
    const struct sched *s = x->s;
    bool a = over_utilised(x);
    bool b = over_utilised(y);
    if (a != b) {
        return a ? 1 : -1;
    }
    a = quota_within_guarantee(s, x->queue, &x->asks);
    b = quota_within_guarantee(s, y->queue, &y->asks);
    if (a != b) {
        return a ? -1 : 1;
    }
    int64_t px = s->snap->queues.items[x->queue].priority;
    int64_t py = s->snap->queues.items[y->queue].priority;
    if (px != py) {
        return px > py ? -1 : 1;
    }
    a = uses_what_it_has_none_of(x);
    b = uses_what_it_has_none_of(y);
    if (a != b) {
        return a ? 1 : -1;
    }
    int d = cmp_dominant(quota_dominant(s, x->queue, &x->asks, x->victims ? &x->without : NULL),
                         quota_dominant(s, y->queue, &y->asks, y->victims ? &y->without : NULL));
    if (d != 0) {
        return d;
    }
    d = cmp_dominant(quota_dominant(s, x->queue, NULL, NULL),
                     quota_dominant(s, y->queue, NULL, NULL));
    if (d != 0) {
        return d;
    }
    d = cmp_allocatable(&s->queues[x->queue].allocatable, &s->queues[y->queue].allocatable);
    return d != 0 ? d : (x->queue < y->queue ? -1 : 1);
}

static struct standing standing_of(struct order *o, uint32_t queue)
{
    struct standing x = {.s = o->s, .queue = queue, .victims = o->victims};
    uint32_t leaf = o->best[queue];
    uint32_t workload = top_of(o, leaf);
    struct amounts weight = o->weigh(o->s, workload);
    if (o->victims) {
        x.without = o->taken[leaf];
        amounts_add(&x.without, &weight);
    } else {
        x.asks = weight;
    }
    return x;
}

// The best leaf among the children of queue parent (queues.count: the top).
static void find_best(struct order *o, uint32_t parent)
{
    const struct sched *s = o->s;
    uint32_t queues = s->snap->queues.count;
    uint32_t first = s->top_first;
    uint32_t count = s->top_count;
    if (parent < queues) {
        first = s->snap->queues.items[parent].child_first;
        count = s->snap->queues.items[parent].child_count;
    }
    uint32_t best = IX_NONE;
    struct standing best_standing = {0};
    for (uint32_t q = first; q < first + count; q++) {
        if (o->best[q] == IX_NONE) {
            continue;
        }
        struct standing x = standing_of(o, q);
        int d = best == IX_NONE ? -1 : cmp_standing(&x, &best_standing);
        if (best == IX_NONE || (o->victims ? d > 0 : d < 0)) {
            best = q;
            best_standing = x;
        }
    }
    o->best[parent] = best == IX_NONE ? IX_NONE : o->best[best];
}

void order_init(struct order *o, struct sched *s, struct arena *arena, bool victims)
{
    uint32_t queues = s->snap->queues.count;
    *o = (struct order){
        .s = s,
        .arena = arena,
        .victims = victims,
        .leaves = ARENA_ARRAY(arena, struct order_leaf, queues),
        .best = ARENA_ARRAY(arena, uint32_t, queues + 1),
        .taken = ARENA_ARRAY(arena, struct amounts, queues),
        .weigh = gang_request,
        .touched = IX_NONE,
    };
    for (uint32_t q = 0; q < queues; q++) {
        heap_init(&o->leaves[q].back, arena, is_before, o);
        o->best[q] = IX_NONE;
    }
    o->best[queues] = IX_NONE;
}

void order_add(struct order *o, uint32_t workload)
{
    struct order_leaf *leaf = &o->leaves[queue_of(o->s, workload)];
    if (leaf->count == 0) {
        *ARRAY_PUSH(o->arena, &o->used) = queue_of(o->s, workload);
    }
    if (leaf->count == leaf->cap) {
        leaf->sorted =
            array_grow(o->arena, leaf->sorted, sizeof(*leaf->sorted), leaf->count, &leaf->cap);
    }
    leaf->sorted[leaf->count++] = workload;
}

static int by_turn(const void *a, const void *b, void *ctx)
{
    return is_before(*(const uint32_t *)a, *(const uint32_t *)b, ctx) ? -1 : 1;
}

void order_ready(struct order *o, int64_t depth_max)
{
    for (uint32_t i = 0; i < o->used.count; i++) {
        struct order_leaf *leaf = &o->leaves[o->used.items[i]];
        if (leaf->count > 1) {
            sort_stable(leaf->sorted, leaf->count, sizeof(*leaf->sorted), by_turn, o, o->arena);
        }
        if (depth_max >= 0 && leaf->count > depth_max) {
            leaf->count = (uint32_t)depth_max;
        }
    }
    order_restart(o);
}

static void clear_path(struct order *o, uint32_t queue)
{
    for (uint32_t q = queue; q != IX_NONE; q = o->s->queues[q].parent) {
        o->best[q] = IX_NONE;
    }
}

static void refresh_path(struct order *o, uint32_t queue)
{
    o->best[queue] = leaf_has(&o->leaves[queue]) ? queue : IX_NONE;
    for (uint32_t q = o->s->queues[queue].parent; q != IX_NONE; q = o->s->queues[q].parent) {
        find_best(o, q);
    }
    find_best(o, o->s->snap->queues.count);
}

void order_clear(struct order *o)
{
    for (uint32_t i = 0; i < o->used.count; i++) {
        struct order_leaf *leaf = &o->leaves[o->used.items[i]];
        leaf->count = leaf->next = leaf->gone = leaf->back.count = 0;
        clear_path(o, o->used.items[i]);
    }
    o->used.count = 0;
    o->touched = IX_NONE;
}

void order_restart(struct order *o)
{
    for (uint32_t i = 0; i < o->used.count; i++) {
        clear_path(o, o->used.items[i]);
    }
    for (uint32_t i = 0; i < o->used.count; i++) {
        uint32_t q = o->used.items[i];
        struct order_leaf *leaf = &o->leaves[q];
        while (o->is_gone && leaf->gone < leaf->count &&
               o->is_gone(o->s, leaf->sorted[leaf->gone], o->ctx)) {
            leaf->gone++;
        }
        leaf->next = leaf->gone;
        leaf->back.count = 0;
        o->taken[q] = (struct amounts){{0}};
        leaf->closed = leaf->next == leaf->count ||
                       (o->allows_queue && !o->allows_queue(o->s, q, o->ctx));
        if (!leaf->closed) {
            skip(o, leaf);
        }
        o->best[q] = leaf_has(leaf) ? q : IX_NONE;
    }
    // Parents after their children: by falling index.
    uint32_t queues = o->s->snap->queues.count;
    bool few = o->used.count * QUEUE_DEPTH_MAX < queues;
    for (uint32_t i = 0; few && i < o->used.count; i++) {
        refresh_path(o, o->used.items[i]);
    }
    for (uint32_t q = queues; !few && q > 0;) {
        q--;
        if (o->s->snap->queues.items[q].child_count > 0) {
            find_best(o, q);
        }
    }
    find_best(o, queues);
    o->touched = IX_NONE;
}

void order_touch(struct order *o, uint32_t queue)
{
    if (o->touched != IX_NONE && o->touched != queue) {
        refresh_path(o, o->touched);
    }
    o->touched = queue;
}

uint32_t order_pop(struct order *o)
{
    if (o->touched != IX_NONE) {
        refresh_path(o, o->touched);
        o->touched = IX_NONE;
    }
    uint32_t queue = o->best[o->s->snap->queues.count];
    if (queue == IX_NONE) {
        return IX_NONE;
    }
    struct order_leaf *leaf = &o->leaves[queue];
    uint32_t workload;
    if (from_back(o, leaf)) {
        workload = heap_pop(&leaf->back);
    } else {
        workload = leaf->sorted[leaf->next++];
        skip(o, leaf);
    }
    order_touch(o, queue);
    return workload;
}

void order_push(struct order *o, uint32_t workload)
{
    uint32_t queue = queue_of(o->s, workload);
    heap_push(&o->leaves[queue].back, workload);
    order_touch(o, queue);
}

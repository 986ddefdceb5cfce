// SPDX-License-Identifier: Apache-2.0
// pack: three things are added up, in shares of a device.
//
// Fragmentation (Weng et al., "Beware of Fragmentation", USENIX ATC 2023): of a node, how much of its
// free devices a pod drawn from the pool's mix of requests could not use: all of it where CPU or
// whole devices do not suffice, else the devices with less free than it needs. A place costs the
// increase. The mix is what the pods present ask for, running and waiting, by how many there are;
// the shapes that make up TYPICAL_PERCENT of them count.
//
// Holes (holes.h): a fraction that takes more of what a device's free part is worth than it is worth
// itself.
//
// Rank: nodes with fewer devices first, then by name; the last in that order costs RANK_DEVICES
// devices more than the first. Filling the pool from one end keeps whole nodes free at the other,
// for the demand that is to come. Fragmentation alone, exactly weighed, spreads over all of them and
// loses one and a half percent of the pool. Rounding it, so that the rank decides among equals, gets
// most of that back, but by an amount that depends on where the rounding happens to fall.
//
// All is compared as integers, multiplied by the weight of the mix and the worth of a device. What
// was worked out for a shape and a node holds until the node changes.
#include "sched/pack.h"

#include <string.h>

#include "base/num.h"
#include "base/sort.h"
#include "sched/fit.h"
#include "sched/holes.h"

enum {
    TYPICAL_PERCENT = 95,
    TYPICAL_MAX = 64,
    RANK_DEVICES = 2, /* from 1 to 4 it hardly matters */
    HOLE_DEVICES = 5, /* a device's worth of holes taken for nothing costs so many; from 2 up */
    ROWS = 128,       /* shapes whose costs are kept */
};

/* Shapes that are alike but for memory and inter-pod terms. */
struct pack_class {
    enum gpu_kind gpu;
    uint32_t device_count;
    int64_t share; /* of each device; GPU_MEMORY: of the smallest device */
    int64_t device_memory_bytes;
    int64_t cpu_milli;
    uint32_t selected_set, tolerated_set;
    int64_t weight; /* pods that ask so */
};

/* A class with devices that many pods are of. */
struct typical {
    int64_t cpu_milli, weight;
    uint32_t device_count;
    uint32_t size; /* index in sizes[] */
    uint32_t selected_set, tolerated_set;
    bool whole;
};

struct pack {
    uint32_t *class_of; /* [shapes]; IX_NONE: asks for MIG instances */
    struct pack_class *classes;
    uint32_t class_count;
    struct typical typical[TYPICAL_MAX];
    uint32_t typical_count;
    int64_t weight;             /* of these and of those without devices, > 0 */
    int64_t sizes[TYPICAL_MAX]; /* shares that they ask of a device */
    uint32_t size_count;
    struct holes holes;
    int64_t *rank; /* [nodes] shares */
    uint32_t *base_stamp;
    int64_t *base; /* [nodes] fragmentation as of base_stamp */
    /* Of the node that is looked at: [devices_most], the first so many as are healthy */
    uint32_t *device;
    int64_t *free, *after, *single;
    struct pack_row rows[ROWS];
    /* What was worked out last, without the rank; last_row NULL: nothing yet */
    const struct pack_row *last_row;
    uint32_t last_node, last_stamp;
    bool last_fits;
    int64_t last_cost;
};

/* ---- the mix ---- */

static int cmp_i64(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int cmp_class(const struct pack_class *a, const struct pack_class *b)
{
    const int by[] = {
        cmp_i64(b->cpu_milli, a->cpu_milli),
        cmp_i64(b->share, a->share),
        cmp_i64(b->device_count, a->device_count),
        cmp_i64(a->gpu, b->gpu),
        cmp_i64(a->device_memory_bytes, b->device_memory_bytes),
        cmp_i64(a->selected_set, b->selected_set),
        cmp_i64(a->tolerated_set, b->tolerated_set),
    };
    for (uint32_t i = 0; i < COUNT_OF(by); i++) {
        if (by[i] != 0) {
            return by[i];
        }
    }
    return 0;
}

static struct pack_class class_of_shape(const struct sched *s, uint32_t shape)
{
    const struct snap_shape *p = &s->snap->shapes.items[shape];
    struct pack_class c = {
        .gpu = p->gpu,
        .device_count = p->gpu == GPU_NONE ? 0 : p->device_count,
        .cpu_milli = p->cpu_milli,
        .selected_set = p->selected_set,
        .tolerated_set = p->tolerated_set,
    };
    switch (p->gpu) {
    case GPU_NONE:
        break;
    case GPU_WHOLE:
        c.share = DEVICE_SHARE;
        break;
    case GPU_SHARE:
        c.share = p->share;
        break;
    case GPU_MEMORY:
        c.device_memory_bytes = p->device_memory_bytes;
        c.share = DEVICE_SHARE;
        if (p->device_memory_bytes < s->least_device_bytes) {
            c.share = num_muldiv_ceil(p->device_memory_bytes, DEVICE_SHARE, s->least_device_bytes);
        }
        break;
    }
    return c;
}

struct shape_class {
    struct pack_class class;
    uint32_t shape;
};

static int cmp_shape_class(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return cmp_class(&((const struct shape_class *)a)->class,
                     &((const struct shape_class *)b)->class);
}

static void find_classes(struct sched *s, struct pack *p)
{
    struct arena_mark mark = arena_mark(s->scratch);
    uint32_t count = s->snap->shapes.count;
    struct shape_class *sorted = ARENA_ARRAY(s->scratch, struct shape_class, count);
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = (struct shape_class){class_of_shape(s, i), i};
    }
    sort_stable(sorted, count, sizeof(*sorted), cmp_shape_class, NULL, s->scratch);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || cmp_class(&sorted[i - 1].class, &sorted[i].class) != 0) {
            p->classes[p->class_count++] = sorted[i].class;
        }
        p->class_of[sorted[i].shape] = p->class_count - 1;
    }
    arena_rewind(s->scratch, mark);
}

// More of them first, the rest as in cmp_class.
static int cmp_weight(const void *a, const void *b, void *ctx)
{
    const struct pack_class *x = a;
    const struct pack_class *y = b;
    (void)ctx;
    return x->weight != y->weight ? cmp_i64(y->weight, x->weight) : cmp_class(x, y);
}

static void add_typical(struct pack *p, const struct pack_class *c)
{
    p->weight += c->weight;
    if (c->gpu == GPU_NONE) {
        return; // can use no device, wherever
    }
    struct typical *t = &p->typical[p->typical_count++];
    *t = (struct typical){
        .cpu_milli = c->cpu_milli,
        .weight = c->weight,
        .device_count = c->device_count,
        .selected_set = c->selected_set,
        .tolerated_set = c->tolerated_set,
        .whole = c->gpu == GPU_WHOLE,
    };
    while (t->size < p->size_count && p->sizes[t->size] != c->share) {
        t->size++;
    }
    p->sizes[t->size] = c->share;
    p->size_count = t->size == p->size_count ? p->size_count + 1 : p->size_count;
}

static void price_holes(struct pack *p, const struct pack_class *sorted)
{
    struct hole_demand demands[HOLE_SIZES_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->class_count; i++) {
        const struct pack_class *c = &sorted[i];
        if (c->weight == 0 || c->gpu == GPU_NONE || c->share == DEVICE_SHARE) {
            continue;
        }
        uint32_t at = 0;
        while (at < count && demands[at].share != c->share) {
            at++;
        }
        if (at == count && count == HOLE_SIZES_MAX) {
            continue;
        }
        demands[at].count = (at == count ? 0 : demands[at].count) + c->weight * c->device_count;
        demands[at].share = c->share;
        count = at == count ? count + 1 : count;
    }
    holes_price(&p->holes, demands, count);
}

static bool asks(enum work_state state)
{
    return state != WORK_GATED && state != WORK_SUCCEEDED && state != WORK_FAILED;
}

void pack_recount(struct sched *s)
{
    struct pack *p = s->pack;
    struct arena_mark mark = arena_mark(s->scratch);
    int64_t total = 0;
    for (uint32_t i = 0; i < p->class_count; i++) {
        p->classes[i].weight = 0;
    }
    for (uint32_t t = 0; t < s->snap->tasks.count; t++) {
        if (asks(s->tasks[t].state) && !shape_state_of(s, t)->by_mig) {
            p->classes[p->class_of[task_of(s, t)->shape.ix]].weight++;
            total++;
        }
    }
    struct pack_class *sorted = ARENA_ARRAY(s->scratch, struct pack_class, p->class_count);
    for (uint32_t i = 0; i < p->class_count; i++) {
        sorted[i] = p->classes[i];
    }
    sort_stable(sorted, p->class_count, sizeof(*sorted), cmp_weight, NULL, s->scratch);
    p->typical_count = p->size_count = 0;
    p->weight = 0;
    for (uint32_t i = 0; i < p->class_count && p->typical_count < TYPICAL_MAX &&
                         p->weight * 100 < total * TYPICAL_PERCENT;
         i++) {
        add_typical(p, &sorted[i]);
    }
    p->weight = num_max_i64(p->weight, 1);
    price_holes(p, sorted);
    for (uint32_t i = 0; i < ROWS; i++) {
        p->rows[i].class = IX_NONE;
    }
    p->last_row = NULL;
    memset(p->base_stamp, 0, s->node_count * sizeof(*p->base_stamp));
    arena_rewind(s->scratch, mark);
}

/* ---- nodes ---- */

// Nodes with fewer devices first; those without any are all first.
static void rank_nodes(struct sched *s, struct pack *p)
{
    uint32_t at = 0;
    for (uint32_t devices = 1; devices <= s->devices_most; devices++) {
        for (uint32_t n = 0; n < s->node_count; n++) {
            if (s->nodes[n].devices == devices) {
                p->rank[n] = RANK_DEVICES * DEVICE_SHARE * at / s->node_count;
                at++;
            }
        }
    }
}

void pack_init(struct sched *s)
{
    struct pack *p = ARENA_NEW(s->arena, struct pack);
    s->pack = p;
    p->class_of = ARENA_ARRAY(s->arena, uint32_t, s->snap->shapes.count);
    p->classes = ARENA_ARRAY(s->arena, struct pack_class, s->snap->shapes.count);
    p->rank = ARENA_ARRAY(s->arena, int64_t, s->node_count);
    p->base_stamp = ARENA_ARRAY(s->arena, uint32_t, s->node_count + 1);
    p->base = ARENA_ARRAY(s->arena, int64_t, s->node_count);
    p->device = ARENA_ARRAY(s->arena, uint32_t, s->devices_most);
    p->free = ARENA_ARRAY(s->arena, int64_t, s->devices_most);
    p->after = ARENA_ARRAY(s->arena, int64_t, s->devices_most);
    p->single = ARENA_ARRAY(s->arena, int64_t, s->devices_most);
    find_classes(s, p);
    rank_nodes(s, p);
    pack_recount(s);
}

static bool in_set(const struct sched *s, uint32_t set, uint32_t node)
{
    return set == IX_NONE ||
           (s->snap->node_sets.items[set].words[node / 64] >> (node % 64) & 1) != 0;
}

static bool may_use(const struct sched *s, const struct typical *t, uint32_t node)
{
    const struct snap_node *n = &s->snap->nodes.items[node];
    return (t->whole || (!n->no_fractions && n->mig == MIG_NONE)) &&
           in_set(s, t->selected_set, node) && in_set(s, t->tolerated_set, node);
}

// What a pod of the mix could not use of free[count], times its weight, summed up.
static int64_t fragmentation(const struct sched *s, uint32_t node, const int64_t *free,
                             uint32_t count, int64_t cpu_milli)
{
    const struct pack *p = s->pack;
    uint32_t enough[TYPICAL_MAX];
    int64_t below[TYPICAL_MAX];
    int64_t all = 0;
    uint32_t whole = 0;
    for (uint32_t i = 0; i < count; i++) {
        all += free[i];
        whole += free[i] == DEVICE_SHARE;
    }
    if (all == 0 || s->snap->nodes.items[node].mig == MIG_MIXED) {
        return 0;
    }
    for (uint32_t z = 0; z < p->size_count; z++) {
        enough[z] = whole;
        below[z] = 0;
    }
    // Few devices are partly free.
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t z = 0; free[i] > 0 && free[i] < DEVICE_SHARE && z < p->size_count; z++) {
            bool is_enough = free[i] >= p->sizes[z];
            enough[z] += is_enough;
            below[z] += is_enough ? 0 : free[i];
        }
    }
    int64_t usable = 0;
    for (uint32_t i = 0; i < p->typical_count; i++) {
        const struct typical *t = &p->typical[i];
        if (t->cpu_milli <= cpu_milli && enough[t->size] >= t->device_count &&
            may_use(s, t, node)) {
            usable += t->weight * (all - below[t->size]);
        }
    }
    return p->weight * all - usable;
}

// The free parts of the node's healthy devices, once what leaves is gone.
static uint32_t free_parts(const struct sched *s, uint32_t node)
{
    struct pack *p = s->pack;
    const struct snap_node *n = &s->snap->nodes.items[node];
    uint32_t count = 0;
    for (uint32_t i = n->device_first; i < n->device_first + n->device_count; i++) {
        const struct device_state *d = &s->devices[i];
        if (d->cap == 0) {
            continue;
        }
        int64_t later = device_free_later(d);
        bool in_shares = d->cap == DEVICE_SHARE;
        p->device[count] = i;
        p->free[count++] = later == d->cap ? DEVICE_SHARE
                           : in_shares     ? later
                                           : num_muldiv_floor(later, DEVICE_SHARE, d->cap);
    }
    return count;
}

/* ---- costs ---- */

static int64_t cpu_left(const struct sched *s, uint32_t node, const struct pack_class *c)
{
    return s->later[(size_t)node * s->dims + DIM_CPU] - c->cpu_milli;
}

// The fragmentation that comes with taking free[count] down to after[count].
static int64_t increase(const struct sched *s, const struct pack_class *c, uint32_t node,
                        uint32_t count)
{
    struct pack *p = s->pack;
    if (p->base_stamp[node] != s->node_stamps[node]) {
        p->base_stamp[node] = s->node_stamps[node];
        p->base[node] = fragmentation(s, node, p->free, count,
                                      s->later[(size_t)node * s->dims + DIM_CPU]);
    }
    int64_t after = fragmentation(s, node, p->after, count, cpu_left(s, node, c));
    return p->holes.most * (after - p->base[node]);
}

static int64_t hole_cost(const struct pack *p, int64_t before, int64_t after)
{
    int64_t taken = holes_value(&p->holes, before) - holes_value(&p->holes, after) -
                    holes_value(&p->holes, before - after);
    return taken * HOLE_DEVICES * DEVICE_SHARE * p->weight;
}

// What is left of a device when the fraction is on it; negative: it does not fit.
static int64_t left_on(const struct sched *s, const struct pack_class *c, uint32_t at)
{
    const struct pack *p = s->pack;
    const struct device_state *d = &s->devices[p->device[at]];
    const struct snap_shape like = {
        .gpu = c->gpu, .share = c->share, .device_memory_bytes = c->device_memory_bytes};
    int64_t take = device_take(&like, d);
    if (take > device_free_later(d)) {
        return -1;
    }
    int64_t share = c->gpu == GPU_SHARE ? c->share : num_muldiv_ceil(take, DEVICE_SHARE, d->cap);
    return num_max_i64(p->free[at] - share, 0);
}

// after[] is free[] but for that device.
static int64_t cost_on(const struct sched *s, const struct pack_class *c, uint32_t node,
                       uint32_t count, uint32_t at, int64_t left)
{
    struct pack *p = s->pack;
    p->after[at] = left;
    int64_t cost = increase(s, c, node, count) + hole_cost(p, p->free[at], left);
    p->after[at] = p->free[at];
    return cost;
}

// Devices with equal free parts are alike.
static bool seen_before(const struct sched *s, uint32_t at)
{
    const struct pack *p = s->pack;
    for (uint32_t i = 0; i < at; i++) {
        if (p->free[i] == p->free[at] &&
            s->devices[p->device[i]].cap == s->devices[p->device[at]].cap) {
            return true;
        }
    }
    return false;
}

// A fraction of one device goes to the cheapest.
static bool cost_of_fraction(const struct sched *s, const struct pack_class *c, uint32_t node,
                             uint32_t count, int64_t *cost)
{
    bool fits = false;
    for (uint32_t i = 0; i < count; i++) {
        int64_t left = seen_before(s, i) ? -1 : left_on(s, c, i);
        if (left < 0) {
            continue;
        }
        int64_t here = cost_on(s, c, node, count, i, left);
        *cost = fits ? num_min_i64(*cost, here) : here;
        fits = true;
    }
    return fits;
}

// Fractions of several devices: those that are cheapest one by one, weighed together.
static bool cost_of_fractions(const struct sched *s, const struct pack_class *c, uint32_t node,
                              uint32_t count, int64_t *cost)
{
    struct pack *p = s->pack;
    for (uint32_t i = 0; i < count; i++) {
        int64_t left = left_on(s, c, i);
        p->single[i] = left < 0 ? INT64_MAX : cost_on(s, c, node, count, i, left);
    }
    int64_t holes = 0;
    for (uint32_t taken = 0; taken < c->device_count; taken++) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < count; i++) {
            best = p->single[i] < p->single[best] ? i : best;
        }
        if (count == 0 || p->single[best] == INT64_MAX) {
            return false;
        }
        p->single[best] = INT64_MAX;
        p->after[best] = left_on(s, c, best);
        holes += hole_cost(p, p->free[best], p->after[best]);
    }
    *cost = increase(s, c, node, count) + holes;
    return true;
}

static bool cost_of_whole(const struct sched *s, const struct pack_class *c, uint32_t node,
                          uint32_t count, int64_t *cost)
{
    struct pack *p = s->pack;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count && taken < c->device_count; i++) {
        if (p->free[i] == DEVICE_SHARE) {
            p->after[i] = 0;
            taken++;
        }
    }
    *cost = increase(s, c, node, count);
    return taken == c->device_count;
}

static bool work_out(const struct sched *s, const struct pack_class *c, uint32_t node,
                     int64_t *cost)
{
    struct pack *p = s->pack;
    if (cpu_left(s, node, c) < 0 || s->nodes[node].devices < c->device_count ||
        (c->gpu == GPU_WHOLE && s->nodes[node].whole_later < c->device_count)) {
        return false;
    }
    uint32_t count = free_parts(s, node);
    memcpy(p->after, p->free, count * sizeof(*p->free));
    switch (c->gpu) {
    case GPU_NONE:
        *cost = increase(s, c, node, count);
        return true;
    case GPU_WHOLE:
        return cost_of_whole(s, c, node, count, cost);
    case GPU_SHARE:
    case GPU_MEMORY:
        return c->device_count == 1 ? cost_of_fraction(s, c, node, count, cost)
                                    : cost_of_fractions(s, c, node, count, cost);
    }
    return false;
}

struct pack_row *pack_row(struct sched *s, uint32_t task)
{
    struct pack *p = s->pack;
    uint32_t class = p->class_of[task_of(s, task)->shape.ix];
    struct pack_row *row = &p->rows[class % ROWS];
    if (row->class != class) {
        if (row->cells) {
            memset(row->cells, 0, s->node_count * sizeof(*row->cells));
        } else {
            row->cells = ARENA_ARRAY(s->arena, struct pack_cell, s->node_count);
        }
        row->class = class;
        p->last_row = NULL;
    }
    return row;
}

// Whether the two nodes differ in nothing that the cost depends on but their rank.
static bool nodes_alike(const struct sched *s, uint32_t a, uint32_t b)
{
    const struct snap_node *x = &s->snap->nodes.items[a];
    const struct snap_node *y = &s->snap->nodes.items[b];
    if (s->snap->node_sets.count > 0 || x->device_count != y->device_count || x->mig != y->mig ||
        x->no_fractions != y->no_fractions ||
        s->later[(size_t)a * s->dims + DIM_CPU] != s->later[(size_t)b * s->dims + DIM_CPU]) {
        return false;
    }
    for (uint32_t i = 0; i < x->device_count; i++) {
        const struct device_state *d = &s->devices[x->device_first + i];
        const struct device_state *e = &s->devices[y->device_first + i];
        if (d->cap != e->cap || device_free_later(d) != device_free_later(e)) {
            return false;
        }
    }
    return true;
}

void pack_work_out(struct sched *s, struct pack_row *row, uint32_t node)
{
    struct pack *p = s->pack;
    // Neighbours are often of one kind, and empty or full.
    bool like_last = p->last_row == row && p->last_stamp == s->node_stamps[p->last_node] &&
                     nodes_alike(s, p->last_node, node);
    if (!like_last) {
        p->last_fits = work_out(s, &p->classes[row->class], node, &p->last_cost);
        p->last_row = row;
        p->last_node = node;
        p->last_stamp = s->node_stamps[node];
    }
    row->cells[node].stamp = s->node_stamps[node];
    row->cells[node].cost = p->last_fits ? p->last_cost + p->holes.most * p->weight * p->rank[node]
                                         : INT64_MAX;
}

int64_t pack_device_cost(const struct sched *s, uint32_t task, uint32_t device)
{
    struct pack *p = s->pack;
    const struct pack_class *c = &p->classes[p->class_of[task_of(s, task)->shape.ix]];
    uint32_t node = s->snap->devices.items[device].node.ix;
    uint32_t count = free_parts(s, node);
    memcpy(p->after, p->free, count * sizeof(*p->free));
    for (uint32_t i = 0; i < count; i++) {
        int64_t left = p->device[i] == device ? left_on(s, c, i) : -1;
        if (left >= 0) {
            return cost_on(s, c, node, count, i, left);
        }
    }
    return INT64_MAX;
}

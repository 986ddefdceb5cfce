// SPDX-License-Identifier: Apache-2.0
// pack: four things are added up, in shares of a device.
//
// Fragmentation: by how much more of what is free a pod drawn from the pool's mix of requests could
// not use (mix.h).
//
// Holes: a fraction that takes more of what a device's free part is worth than it is worth itself
// (holes.h).
//
// Emptiness: a little for each whole device that is free on the node. What runs there ends some day,
// and if nobody has joined it a whole node is free again. Where work comes and goes this halves
// what has to be turned away.
//
// Rank: nodes with fewer devices first, then by name; the last in that order costs a little more
// than the first. Filling the pool from one end keeps whole nodes free at the other, for the demand
// that is to come. Without it fragmentation, exactly weighed, spreads over all nodes and loses one
// and a half percent of the pool as it fills. More of it (up to two devices) fills a pool half a
// percent better, and turns away twice as much once work comes and goes.
//
// All is compared as integers, multiplied by the weight of the mix and the worth of a device. What
// was worked out for a class of shapes and a node holds until the node changes.
#include "sched/pack.h"

#include <string.h>

#include "base/num.h"
#include "sched/fit.h"
#include "sched/mix.h"

enum {
    HOLE_DEVICES = 5,    /* a device's worth of holes taken for nothing costs so many; from 2 up */
    RANK_DIVISOR = 12,   /* the last node costs that part of a device more than the first */
    WHOLE_DIVISOR = 160, /* a whole device that is free on the node costs that part of one */
    ROWS = 256,          /* classes whose costs are kept */
};

/* The node that is looked at: its healthy devices, [count]. */
struct sight {
    uint32_t node, count;
    uint32_t *device;
    int64_t *free;   /* shares, once what leaves is gone */
    int64_t *after;  /* the same if the pod comes */
    int64_t *single; /* what a part of each costs by itself */
};

/* What was worked out last, without rank and emptiness. */
struct last_cost {
    const struct pack_row *row; /* NULL: nothing yet */
    uint32_t node, stamp;
    bool fits;
    int64_t cost;
};

struct pack {
    struct mix mix;
    struct holes holes;
    int64_t *rank; /* [nodes] shares */
    uint32_t *base_stamp;
    int64_t *base; /* [nodes] fragmentation as of base_stamp */
    struct sight sight;
    struct pack_row rows[ROWS];
    struct last_cost last;
};

// Nodes with fewer devices first; those without any are all first.
static void rank_nodes(struct sched *s, struct pack *p)
{
    uint32_t at = 0;
    for (uint32_t devices = 1; devices <= s->devices_most; devices++) {
        for (uint32_t n = 0; n < s->node_count; n++) {
            if (s->nodes[n].devices == devices) {
                p->rank[n] = DEVICE_SHARE * at / s->node_count / RANK_DIVISOR;
                at++;
            }
        }
    }
}

void pack_init(struct sched *s)
{
    struct pack *p = ARENA_NEW(s->arena, struct pack);
    s->pack = p;
    p->rank = ARENA_ARRAY(s->arena, int64_t, s->node_count);
    p->base_stamp = ARENA_ARRAY(s->arena, uint32_t, s->node_count + 1);
    p->base = ARENA_ARRAY(s->arena, int64_t, s->node_count);
    p->sight.device = ARENA_ARRAY(s->arena, uint32_t, s->devices_most);
    p->sight.free = ARENA_ARRAY(s->arena, int64_t, s->devices_most);
    p->sight.after = ARENA_ARRAY(s->arena, int64_t, s->devices_most);
    p->sight.single = ARENA_ARRAY(s->arena, int64_t, s->devices_most);
    mix_init(&p->mix, s);
    rank_nodes(s, p);
    pack_recount(s);
}

void pack_recount(struct sched *s)
{
    struct pack *p = s->pack;
    mix_recount(&p->mix, s);
    holes_price(&p->holes, p->mix.fractions, p->mix.fraction_count);
    for (uint32_t i = 0; i < ROWS; i++) {
        p->rows[i].class = IX_NONE;
    }
    p->last.row = NULL;
    memset(p->base_stamp, 0, s->node_count * sizeof(*p->base_stamp));
}

/* ---- what a place costs ---- */

static int64_t left(const struct sched *s, uint32_t node, uint32_t dim)
{
    return s->later[(size_t)node * s->dims + dim];
}

static void look_at(const struct sched *s, uint32_t node)
{
    struct sight *v = &s->pack->sight;
    const struct snap_node *n = &s->snap->nodes.items[node];
    v->node = node;
    v->count = 0;
    for (uint32_t i = n->device_first; i < n->device_first + n->device_count; i++) {
        const struct device_state *d = &s->devices[i];
        if (d->cap == 0) {
            continue;
        }
        int64_t later = device_free_later(d);
        v->device[v->count] = i;
        v->free[v->count] = later == d->cap ? DEVICE_SHARE
                            : d->cap == DEVICE_SHARE
                                ? later
                                : num_muldiv_floor(later, DEVICE_SHARE, d->cap);
        v->after[v->count] = v->free[v->count];
        v->count++;
    }
}

// The fragmentation that comes with the pod, once after[] is what it leaves free.
static int64_t increase(const struct sched *s, const struct mix_class *c)
{
    struct pack *p = s->pack;
    const struct sight *v = &p->sight;
    int64_t cpu = left(s, v->node, DIM_CPU);
    int64_t memory = left(s, v->node, DIM_MEMORY);
    if (p->base_stamp[v->node] != s->node_stamps[v->node]) {
        struct mix_room before = {v->node, cpu, memory, v->free, v->count};
        p->base_stamp[v->node] = s->node_stamps[v->node];
        p->base[v->node] = mix_fragmentation(&p->mix, s, &before);
    }
    struct mix_room after = {v->node, cpu - c->cpu_milli, memory - c->memory_bytes, v->after,
                             v->count};
    return p->holes.most * (mix_fragmentation(&p->mix, s, &after) - p->base[v->node]);
}

static int64_t hole_cost(const struct pack *p, int64_t before, int64_t after)
{
    int64_t taken = holes_value(&p->holes, before) - holes_value(&p->holes, after) -
                    holes_value(&p->holes, before - after);
    return taken * HOLE_DEVICES * DEVICE_SHARE * p->mix.weight;
}

// What is left of a device when the fraction is on it; negative: it does not fit.
static int64_t left_on(const struct sched *s, const struct mix_class *c, uint32_t at)
{
    const struct sight *v = &s->pack->sight;
    const struct device_state *d = &s->devices[v->device[at]];
    const struct snap_shape like = {
        .gpu = c->gpu, .share = c->share, .device_memory_bytes = c->device_memory_bytes};
    int64_t take = device_take(&like, d);
    if (take > device_free_later(d)) {
        return -1;
    }
    int64_t share = c->gpu == GPU_SHARE ? c->share : num_muldiv_ceil(take, DEVICE_SHARE, d->cap);
    return num_max_i64(v->free[at] - share, 0);
}

// What a fraction costs on that device alone.
static int64_t cost_on(const struct sched *s, const struct mix_class *c, uint32_t at,
                       int64_t left_there)
{
    const struct sight *v = &s->pack->sight;
    v->after[at] = left_there;
    int64_t cost = increase(s, c) + hole_cost(s->pack, v->free[at], left_there);
    v->after[at] = v->free[at];
    return cost;
}

// Devices with equal free parts are alike.
static bool seen_before(const struct sched *s, uint32_t at)
{
    const struct sight *v = &s->pack->sight;
    for (uint32_t i = 0; i < at; i++) {
        if (v->free[i] == v->free[at] &&
            s->devices[v->device[i]].cap == s->devices[v->device[at]].cap) {
            return true;
        }
    }
    return false;
}

// A fraction of one device goes to the cheapest.
static bool cost_of_fraction(const struct sched *s, const struct mix_class *c, int64_t *cost)
{
    bool fits = false;
    for (uint32_t i = 0; i < s->pack->sight.count; i++) {
        int64_t left_there = seen_before(s, i) ? -1 : left_on(s, c, i);
        if (left_there < 0) {
            continue;
        }
        int64_t here = cost_on(s, c, i, left_there);
        *cost = fits ? num_min_i64(*cost, here) : here;
        fits = true;
    }
    return fits;
}

// Fractions of several devices: those that are cheapest one by one, weighed together.
static bool cost_of_fractions(const struct sched *s, const struct mix_class *c, int64_t *cost)
{
    const struct sight *v = &s->pack->sight;
    for (uint32_t i = 0; i < v->count; i++) {
        int64_t left_there = left_on(s, c, i);
        v->single[i] = left_there < 0 ? INT64_MAX : cost_on(s, c, i, left_there);
    }
    int64_t holes = 0;
    for (uint32_t taken = 0; taken < c->device_count; taken++) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < v->count; i++) {
            best = v->single[i] < v->single[best] ? i : best;
        }
        if (v->single[best] == INT64_MAX) {
            return false;
        }
        v->single[best] = INT64_MAX;
        v->after[best] = left_on(s, c, best);
        holes += hole_cost(s->pack, v->free[best], v->after[best]);
    }
    *cost = increase(s, c) + holes;
    return true;
}

static bool cost_of_whole(const struct sched *s, const struct mix_class *c, int64_t *cost)
{
    const struct sight *v = &s->pack->sight;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < v->count && taken < c->device_count; i++) {
        if (v->free[i] == DEVICE_SHARE) {
            v->after[i] = 0;
            taken++;
        }
    }
    *cost = increase(s, c);
    return taken == c->device_count;
}

// Without rank and emptiness. False: CPU, memory or devices do not suffice.
static bool work_out(const struct sched *s, const struct mix_class *c, uint32_t node, int64_t *cost)
{
    if (left(s, node, DIM_CPU) < c->cpu_milli || left(s, node, DIM_MEMORY) < c->memory_bytes ||
        s->nodes[node].devices < c->device_count ||
        (c->gpu == GPU_WHOLE && s->nodes[node].whole_later < c->device_count)) {
        return false;
    }
    look_at(s, node);
    switch (c->gpu) {
    case GPU_NONE:
        *cost = increase(s, c);
        return true;
    case GPU_WHOLE:
        return cost_of_whole(s, c, cost);
    case GPU_SHARE:
    case GPU_MEMORY:
        return c->device_count == 1 ? cost_of_fraction(s, c, cost) : cost_of_fractions(s, c, cost);
    }
    return false;
}

int64_t pack_device_cost(const struct sched *s, uint32_t task, uint32_t device)
{
    const struct pack *p = s->pack;
    const struct mix_class *c = &p->mix.classes[p->mix.class_of[task_of(s, task)->shape.ix]];
    look_at(s, s->snap->devices.items[device].node.ix);
    for (uint32_t i = 0; i < p->sight.count; i++) {
        int64_t left_there = p->sight.device[i] == device ? left_on(s, c, i) : -1;
        if (left_there >= 0) {
            return cost_on(s, c, i, left_there);
        }
    }
    return INT64_MAX;
}

/* ---- what is kept ---- */

struct pack_row *pack_row(struct sched *s, uint32_t task)
{
    struct pack *p = s->pack;
    uint32_t class = p->mix.class_of[task_of(s, task)->shape.ix];
    struct pack_row *row = &p->rows[class % ROWS];
    if (row->class != class) {
        if (row->cells) {
            memset(row->cells, 0, s->node_count * sizeof(*row->cells));
        } else {
            row->cells = ARENA_ARRAY(s->arena, struct pack_cell, s->node_count);
        }
        row->class = class;
        p->last.row = NULL;
    }
    return row;
}

// Whether the two nodes differ in nothing that the cost depends on but their rank.
static bool nodes_alike(const struct sched *s, uint32_t a, uint32_t b)
{
    const struct snap_node *x = &s->snap->nodes.items[a];
    const struct snap_node *y = &s->snap->nodes.items[b];
    if (x->device_count != y->device_count || left(s, a, DIM_CPU) != left(s, b, DIM_CPU) ||
        left(s, a, DIM_MEMORY) != left(s, b, DIM_MEMORY)) {
        return false;
    }
    for (uint32_t i = 0; i < x->device_count; i++) {
        const struct device_state *d = &s->devices[x->device_first + i];
        const struct device_state *e = &s->devices[y->device_first + i];
        if (d->cap != e->cap || device_free_later(d) != device_free_later(e)) {
            return false;
        }
    }
    return mix_nodes_alike(&s->pack->mix, s, a, b);
}

void pack_work_out(struct sched *s, struct pack_row *row, uint32_t node)
{
    struct pack *p = s->pack;
    struct last_cost *last = &p->last;
    uint32_t stamp = s->node_stamps[node];
    // Neighbours are often of one kind, and empty or full.
    if (last->row != row || last->stamp != s->node_stamps[last->node] ||
        !nodes_alike(s, last->node, node)) {
        last->fits = work_out(s, &p->mix.classes[row->class], node, &last->cost);
        last->row = row;
        last->node = node;
        last->stamp = stamp;
    }
    row->cells[node].stamp = stamp;
    int64_t empty = DEVICE_SHARE * s->nodes[node].whole_later / WHOLE_DIVISOR;
    row->cells[node].cost = last->fits ? last->cost +
                                             p->holes.most * p->mix.weight * (p->rank[node] + empty)
                                       : INT64_MAX;
}

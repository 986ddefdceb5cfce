// SPDX-License-Identifier: Apache-2.0
// mix: fragmentation as in Weng et al., "Beware of Fragmentation" (USENIX ATC 2023). A request can use
// of a node: nothing where CPU, memory or devices do not suffice, else the devices that have as
// much free as it needs. The shapes that make up TYPICAL_PERCENT of all pods count. Beside the
// paper's CPU, memory counts, or a node without any left would look as good as an empty one.
#include "sched/mix.h"

#include "base/num.h"
#include "base/sort.h"
#include "sched/fit.h"

enum { TYPICAL_PERCENT = 95 };

static int cmp_i64(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int cmp_class(const struct mix_class *a, const struct mix_class *b)
{
    const int by[] = {
        cmp_i64(b->cpu_milli, a->cpu_milli),
        cmp_i64(b->share, a->share),
        cmp_i64(b->device_count, a->device_count),
        cmp_i64(b->memory_bytes, a->memory_bytes),
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

static struct mix_class class_of_shape(const struct sched *s, uint32_t shape)
{
    const struct snap_shape *p = &s->snap->shapes.items[shape];
    struct mix_class c = {
        .gpu = p->gpu,
        .device_count = p->gpu == GPU_NONE ? 0 : p->device_count,
        .cpu_milli = p->cpu_milli,
        .memory_bytes = p->memory_bytes,
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
    struct mix_class class;
    uint32_t shape;
};

static int cmp_shape_class(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return cmp_class(&((const struct shape_class *)a)->class,
                     &((const struct shape_class *)b)->class);
}

void mix_init(struct mix *m, struct sched *s)
{
    uint32_t count = s->snap->shapes.count;
    *m = (struct mix){
        .class_of = ARENA_ARRAY(s->arena, uint32_t, count),
        .classes = ARENA_ARRAY(s->arena, struct mix_class, count),
        .weight = 1,
    };
    struct arena_mark mark = arena_mark(s->scratch);
    struct shape_class *sorted = ARENA_ARRAY(s->scratch, struct shape_class, count);
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = (struct shape_class){class_of_shape(s, i), i};
    }
    sort_stable(sorted, count, sizeof(*sorted), cmp_shape_class, NULL, s->scratch);
    for (uint32_t i = 0; i < count; i++) {
        if (i == 0 || cmp_class(&sorted[i - 1].class, &sorted[i].class) != 0) {
            m->classes[m->class_count++] = sorted[i].class;
        }
        m->class_of[sorted[i].shape] = m->class_count - 1;
    }
    arena_rewind(s->scratch, mark);
}

/* ---- counting ---- */

// More of them first, the rest as in cmp_class.
static int cmp_weight(const void *a, const void *b, void *ctx)
{
    const struct mix_class *x = a;
    const struct mix_class *y = b;
    (void)ctx;
    return x->weight != y->weight ? cmp_i64(y->weight, x->weight) : cmp_class(x, y);
}

static uint32_t add_size(struct mix *m, int64_t share)
{
    uint32_t i = 0;
    while (i < m->size_count && m->sizes[i] != share) {
        i++;
    }
    m->sizes[i] = share;
    m->size_count += i == m->size_count;
    return i;
}

static uint32_t add_set(struct mix *m, const struct mix_class *c)
{
    struct mix_set set = {c->selected_set, c->tolerated_set, c->gpu == GPU_WHOLE};
    uint32_t i = 0;
    while (i < m->set_count &&
           (m->sets[i].selected_set != set.selected_set ||
            m->sets[i].tolerated_set != set.tolerated_set || m->sets[i].whole != set.whole)) {
        i++;
    }
    m->sets[i] = set;
    m->set_count += i == m->set_count;
    return i;
}

static void add_typical(struct mix *m, const struct mix_class *c)
{
    m->weight += c->weight;
    if (c->gpu == GPU_NONE) {
        return; // can use no device, wherever
    }
    m->typical[m->typical_count++] = (struct mix_typical){
        .cpu_milli = c->cpu_milli,
        .memory_bytes = c->memory_bytes,
        .weight = c->weight,
        .device_count = c->device_count,
        .size = add_size(m, c->share),
        .set = add_set(m, c),
    };
}

static void add_fraction(struct mix *m, const struct mix_class *c)
{
    uint32_t i = 0;
    while (i < m->fraction_count && m->fractions[i].share != c->share) {
        i++;
    }
    if (i == HOLE_SIZES_MAX) {
        return;
    }
    if (i == m->fraction_count) {
        m->fractions[m->fraction_count++] = (struct hole_demand){c->share, 0};
    }
    m->fractions[i].count += c->weight * c->device_count;
}

static bool asks(enum work_state state)
{
    return state != WORK_GATED && state != WORK_SUCCEEDED && state != WORK_FAILED;
}

// How many pods ask for something.
static int64_t weigh(struct mix *m, struct sched *s)
{
    int64_t total = 0;
    for (uint32_t i = 0; i < m->class_count; i++) {
        m->classes[i].weight = 0;
    }
    for (uint32_t t = 0; t < s->snap->tasks.count; t++) {
        if (asks(s->tasks[t].state) && !shape_state_of(s, t)->by_mig) {
            m->classes[m->class_of[task_of(s, t)->shape.ix]].weight++;
            total++;
        }
    }
    return total;
}

void mix_recount(struct mix *m, struct sched *s)
{
    struct arena_mark mark = arena_mark(s->scratch);
    int64_t total = weigh(m, s);
    struct mix_class *sorted = ARENA_ARRAY(s->scratch, struct mix_class, m->class_count);
    for (uint32_t i = 0; i < m->class_count; i++) {
        sorted[i] = m->classes[i];
    }
    sort_stable(sorted, m->class_count, sizeof(*sorted), cmp_weight, NULL, s->scratch);
    m->typical_count = m->size_count = m->set_count = m->fraction_count = 0;
    m->weight = 0;
    for (uint32_t i = 0; i < m->class_count && sorted[i].weight > 0; i++) {
        if (m->typical_count < MIX_TYPICAL_MAX && m->weight * 100 < total * TYPICAL_PERCENT) {
            add_typical(m, &sorted[i]);
        }
        if (sorted[i].gpu != GPU_NONE && sorted[i].share < DEVICE_SHARE) {
            add_fraction(m, &sorted[i]);
        }
    }
    m->weight = num_max_i64(m->weight, 1);
    arena_rewind(s->scratch, mark);
}

/* ---- fragmentation ---- */

static bool may_use(const struct sched *s, const struct mix_set *set, uint32_t node)
{
    const struct snap_node *n = &s->snap->nodes.items[node];
    return (set->whole || (!n->no_fractions && n->mig == MIG_NONE)) &&
           fit_in_set(s, set->selected_set, node) && fit_in_set(s, set->tolerated_set, node);
}

bool mix_nodes_alike(const struct mix *m, const struct sched *s, uint32_t a, uint32_t b)
{
    if ((s->snap->nodes.items[a].mig == MIG_MIXED) != (s->snap->nodes.items[b].mig == MIG_MIXED)) {
        return false;
    }
    for (uint32_t i = 0; i < m->set_count; i++) {
        if (may_use(s, &m->sets[i], a) != may_use(s, &m->sets[i], b)) {
            return false;
        }
    }
    return true;
}

int64_t mix_fragmentation(const struct mix *m, const struct sched *s, const struct mix_room *room)
{
    uint32_t enough[MIX_TYPICAL_MAX]; /* by size: devices with so much free */
    int64_t below[MIX_TYPICAL_MAX];   /* what is free on others */
    bool usable_by[MIX_TYPICAL_MAX];  /* by set */
    int64_t all = 0;
    uint32_t whole = 0;
    for (uint32_t i = 0; i < room->count; i++) {
        all += room->free[i];
        whole += room->free[i] == DEVICE_SHARE;
    }
    if (all == 0 || s->snap->nodes.items[room->node].mig == MIG_MIXED) {
        return 0;
    }
    for (uint32_t z = 0; z < m->size_count; z++) {
        enough[z] = whole;
        below[z] = 0;
    }
    // Few devices are partly free.
    for (uint32_t i = 0; i < room->count; i++) {
        int64_t free = room->free[i];
        for (uint32_t z = 0; free > 0 && free < DEVICE_SHARE && z < m->size_count; z++) {
            enough[z] += free >= m->sizes[z];
            below[z] += free >= m->sizes[z] ? 0 : free;
        }
    }
    for (uint32_t i = 0; i < m->set_count; i++) {
        usable_by[i] = may_use(s, &m->sets[i], room->node);
    }
    int64_t usable = 0;
    for (uint32_t i = 0; i < m->typical_count; i++) {
        const struct mix_typical *t = &m->typical[i];
        if (t->cpu_milli <= room->cpu_milli && t->memory_bytes <= room->memory_bytes &&
            enough[t->size] >= t->device_count && usable_by[t->set]) {
            usable += t->weight * (all - below[t->size]);
        }
    }
    return m->weight * all - usable;
}

// SPDX-License-Identifier: Apache-2.0
// snapshot: putting a snapshot into canonical order, and checking that it is.
//
// Each table is sorted by a list of row numbers: old_of[new]. Its inverse new_of[old] then rewrites
// the references of the other tables. The order of the tables matters: nodes before what refers to
// nodes, parents before children, groups before tasks. A table that is in order already is left
// as it is. What has no order of its own (shapes, node sets, terms) is merged by content, so that
// how a builder shared rows does not show.
#include "model/snapshot.h"

#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/sort.h"

struct canon {
    struct snapshot *s;
    struct arena *arena;
};

void snapshot_init(struct snapshot *s, int64_t now_ms)
{
    *s = (struct snapshot){0};
    s->config = (struct snap_config){
        .now_ms = now_ms,
        .saturation_permille = 1000,
        .k_permille = 1000,
        .allow_consolidating_reclaim = true,
        .full_hierarchy = true,
        .consolidation_victims_max = 16,
        .search_tries_max = 20000,
        .action_tries_max = 200000,
    };
    for (int a = 0; a < ACTION_COUNT; a++) {
        s->config.queue_depth_max[a] = -1;
    }
}

/* ---- sorting a table by row numbers ---- */

static uint32_t *identity(struct arena *a, uint32_t count)
{
    uint32_t *ix = ARENA_ARRAY(a, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        ix[i] = i;
    }
    return ix;
}

static uint32_t *inverse(struct arena *a, const uint32_t *old_of, uint32_t count)
{
    uint32_t *new_of = ARENA_ARRAY(a, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        new_of[old_of[i]] = i;
    }
    return new_of;
}

static void *permuted(struct arena *a, const void *items, size_t size, const uint32_t *old_of,
                      uint32_t count)
{
    char *out = arena_alloc(a, size * count);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(out + size * i, (const char *)items + size * old_of[i], size);
    }
    return out;
}

// Sorts the rows of list by cmp (over two row numbers and the canon) and gives new_of[old].
#define SORT_TABLE(c, list, cmp) \
    sort_table((c), (void **)&(list)->items, sizeof(*(list)->items), (list)->count, (cmp))
static uint32_t *sort_table(struct canon *c, void **items, size_t size, uint32_t count,
                            sort_cmp *cmp)
{
    uint32_t *old_of = identity(c->arena, count);
    bool sorted = true;
    for (uint32_t i = 1; i < count && sorted; i++) {
        sorted = cmp(&old_of[i - 1], &old_of[i], c) <= 0;
    }
    if (sorted) {
        return old_of;
    }
    sort_stable(old_of, count, sizeof(*old_of), cmp, c, c->arena);
    *items = permuted(c->arena, *items, size, old_of, count);
    return inverse(c->arena, old_of, count);
}

static uint32_t remap(const uint32_t *new_of, uint32_t ix)
{
    return ix == IX_NONE ? IX_NONE : new_of[ix];
}

static int cmp_u32(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int cmp_i64(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

#define ROW(table, p) (&((const struct canon *)ctx)->s->table.items[*(const uint32_t *)(p)])

/* ---- nodes, devices, labels, node sets ---- */

static int by_extended_name(const void *a, const void *b, void *ctx)
{
    return str_cmp(ROW(extended, a)->name, ROW(extended, b)->name);
}

static int by_node_name(const void *a, const void *b, void *ctx)
{
    return str_cmp(ROW(nodes, a)->name, ROW(nodes, b)->name);
}

static int by_topology_name(const void *a, const void *b, void *ctx)
{
    return str_cmp(ROW(topologies, a)->name, ROW(topologies, b)->name);
}

static int by_device_place(const void *a, const void *b, void *ctx)
{
    const struct snap_device *x = ROW(devices, a);
    const struct snap_device *y = ROW(devices, b);
    int d = cmp_u32(x->node.ix, y->node.ix);
    return d != 0 ? d : cmp_u32(x->ordinal, y->ordinal);
}

static void sort_devices(struct canon *c)
{
    struct snapshot *s = c->s;
    uint32_t *new_of = SORT_TABLE(c, &s->devices, by_device_place);
    for (uint32_t i = 0; i < s->holds.count; i++) {
        s->holds.items[i].device.ix = remap(new_of, s->holds.items[i].device.ix);
    }
    for (uint32_t n = 0; n < s->nodes.count; n++) {
        s->nodes.items[n].device_first = s->nodes.items[n].device_count = 0;
    }
    for (uint32_t i = 0; i < s->devices.count; i++) {
        struct snap_node *n = &s->nodes.items[s->devices.items[i].node.ix];
        n->device_first = n->device_count == 0 ? i : n->device_first;
        n->device_count++;
    }
}

static void move_node_columns(struct canon *c, const uint32_t *new_of)
{
    struct snapshot *s = c->s;
    uint32_t count = s->nodes.count;
    size_t words = (count + 63) / 64;
    for (uint32_t k = 0; k < s->label_keys.count; k++) {
        uint32_t *values = ARENA_ARRAY(c->arena, uint32_t, count);
        for (uint32_t n = 0; n < count; n++) {
            values[new_of[n]] = s->label_keys.items[k].values[n];
        }
        s->label_keys.items[k].values = values;
    }
    for (uint32_t i = 0; i < s->node_sets.count; i++) {
        uint64_t *to = ARENA_ARRAY(c->arena, uint64_t, words);
        const uint64_t *from = s->node_sets.items[i].words;
        for (uint32_t n = 0; n < count; n++) {
            if ((from[n / 64] >> (n % 64) & 1) != 0) {
                to[new_of[n] / 64] |= UINT64_C(1) << (new_of[n] % 64);
            }
        }
        s->node_sets.items[i].words = to;
    }
}

static void sort_nodes(struct canon *c)
{
    struct snapshot *s = c->s;
    uint32_t *new_of = SORT_TABLE(c, &s->nodes, by_node_name);
    bool same = true;
    for (uint32_t n = 0; n < s->nodes.count && same; n++) {
        same = new_of[n] == n;
    }
    if (!same) {
        move_node_columns(c, new_of);
    }
    for (uint32_t i = 0; i < s->devices.count; i++) {
        s->devices.items[i].node.ix = new_of[s->devices.items[i].node.ix];
    }
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        struct snap_task *t = &s->tasks.items[i];
        t->node.ix = remap(new_of, t->node.ix);
        t->nominated_node = remap(new_of, t->nominated_node);
    }
    for (uint32_t i = 0; i < s->claims.count; i++) {
        s->claims.items[i].node.ix = remap(new_of, s->claims.items[i].node.ix);
    }
}

/* ---- merging rows of equal content ---- */

// Gives every row the first row of equal content: first_of[row]. cmp says whether two rows differ.
static uint32_t *merge_rows(struct canon *c, uint32_t count,
                            uint64_t (*hash)(struct canon *c, uint32_t row),
                            bool (*equal)(struct canon *c, uint32_t a, uint32_t b))
{
    uint32_t *first_of = identity(c->arena, count);
    uint32_t *next = ARENA_ARRAY(c->arena, uint32_t, count); /* chain of firsts with equal hash */
    struct map seen;
    map_init(&seen, c->arena);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t h = hash(c, i);
        uint32_t head = IX_NONE;
        (void)map_get_u64(&seen, h, &head);
        uint32_t at = head;
        while (at != IX_NONE && !equal(c, at, i)) {
            at = next[at];
        }
        if (at != IX_NONE) {
            first_of[i] = at;
        } else {
            next[i] = head;
            map_put_u64(&seen, h, i);
        }
    }
    return first_of;
}

static uint64_t node_set_hash(struct canon *c, uint32_t row)
{
    size_t words = (c->s->nodes.count + 63) / 64;
    return hash_bytes(c->s->node_sets.items[row].words, words * sizeof(uint64_t), 1);
}

static bool node_set_equal(struct canon *c, uint32_t a, uint32_t b)
{
    size_t words = (c->s->nodes.count + 63) / 64;
    const struct snap_node_set *sets = c->s->node_sets.items;
    return memcmp(sets[a].words, sets[b].words, words * sizeof(uint64_t)) == 0;
}

// The scalar part of a shape, without padding or references to runs.
static void shape_key(const struct snap_shape *p, int64_t key[9])
{
    key[0] = p->gpu;
    key[1] = p->device_count;
    key[2] = p->share;
    key[3] = p->device_memory_bytes;
    key[4] = p->cpu_milli;
    key[5] = p->memory_bytes;
    key[6] = p->selected_set;
    key[7] = p->tolerated_set;
    key[8] = p->single_numa;
}

static uint64_t shape_hash(struct canon *c, uint32_t row)
{
    const struct snap_shape *p = &c->s->shapes.items[row];
    int64_t key[9];
    shape_key(p, key);
    uint64_t h = hash_bytes(key, sizeof(key), 2);
    for (uint32_t i = 0; i < p->extended_count; i++) {
        const struct snap_extended_amount *e = &c->s->extended_amounts.items[p->extended_first + i];
        h = hash_u64((uint64_t)e->amount, hash_u64(e->extended, h));
    }
    const uint32_t *refs = c->s->term_refs.items;
    for (uint32_t i = 0; i < p->carries_count; i++) {
        h = hash_u64(refs[p->carries_first + i], h);
    }
    for (uint32_t i = 0; i < p->matches_count; i++) {
        h = hash_u64(refs[p->matches_first + i], h);
    }
    return h;
}

static bool refs_equal(const struct canon *c, uint32_t a, uint32_t b, uint32_t count)
{
    const uint32_t *refs = c->s->term_refs.items;
    return count == 0 || memcmp(refs + a, refs + b, count * sizeof(*refs)) == 0;
}

static bool shape_equal(struct canon *c, uint32_t a, uint32_t b)
{
    const struct snap_shape *p = &c->s->shapes.items[a];
    const struct snap_shape *q = &c->s->shapes.items[b];
    int64_t p_key[9];
    int64_t q_key[9];
    shape_key(p, p_key);
    shape_key(q, q_key);
    if (memcmp(p_key, q_key, sizeof(p_key)) != 0 || p->extended_count != q->extended_count ||
        p->carries_count != q->carries_count || p->matches_count != q->matches_count ||
        !refs_equal(c, p->carries_first, q->carries_first, p->carries_count) ||
        !refs_equal(c, p->matches_first, q->matches_first, p->matches_count)) {
        return false;
    }
    const struct snap_extended_amount *e = c->s->extended_amounts.items;
    for (uint32_t i = 0; i < p->extended_count; i++) {
        const struct snap_extended_amount *x = &e[p->extended_first + i];
        const struct snap_extended_amount *y = &e[q->extended_first + i];
        if (x->extended != y->extended || x->amount != y->amount) {
            return false;
        }
    }
    return true;
}

static void sort_run(struct canon *c, uint32_t *refs, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        for (uint32_t j = i; j > 0 && refs[j - 1] > refs[j]; j--) {
            uint32_t swap = refs[j];
            refs[j] = refs[j - 1];
            refs[j - 1] = swap;
        }
    }
    (void)c;
}

// Extended amounts of a run in order of their resource.
static void sort_amounts(struct snap_extended_amount *e, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        for (uint32_t j = i; j > 0 && e[j - 1].extended > e[j].extended; j--) {
            struct snap_extended_amount swap = e[j];
            e[j] = e[j - 1];
            e[j - 1] = swap;
        }
    }
}

static void sort_extended(struct canon *c)
{
    struct snapshot *s = c->s;
    uint32_t *new_of = SORT_TABLE(c, &s->extended, by_extended_name);
    for (uint32_t i = 0; i < s->extended_amounts.count; i++) {
        s->extended_amounts.items[i].extended = new_of[s->extended_amounts.items[i].extended];
    }
    for (uint32_t n = 0; n < s->nodes.count; n++) {
        const struct snap_node *node = &s->nodes.items[n];
        if (node->extended_count > 0) {
            sort_amounts(&s->extended_amounts.items[node->extended_first], node->extended_count);
        }
    }
}

static void merge_shapes(struct canon *c)
{
    struct snapshot *s = c->s;
    uint32_t *set_of = merge_rows(c, s->node_sets.count, node_set_hash, node_set_equal);
    for (uint32_t i = 0; i < s->shapes.count; i++) {
        struct snap_shape *p = &s->shapes.items[i];
        p->selected_set = remap(set_of, p->selected_set);
        p->tolerated_set = remap(set_of, p->tolerated_set);
        if (p->extended_count > 0) {
            sort_amounts(&s->extended_amounts.items[p->extended_first], p->extended_count);
        }
        if (p->carries_count > 0) {
            sort_run(c, &s->term_refs.items[p->carries_first], p->carries_count);
        }
        if (p->matches_count > 0) {
            sort_run(c, &s->term_refs.items[p->matches_first], p->matches_count);
        }
    }
    uint32_t *shape_of = merge_rows(c, s->shapes.count, shape_hash, shape_equal);
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        s->tasks.items[i].shape.ix = shape_of[s->tasks.items[i].shape.ix];
    }
}

/* ---- queues ---- */

struct queue_order {
    struct canon canon;
    const uint32_t *rank; /* of the parents, by old row: place among the level above */
    const uint32_t *depth;
};

static int by_queue_age(const void *a, const void *b, void *ctx)
{
    const struct snap_queue *x = ROW(queues, a);
    const struct snap_queue *y = ROW(queues, b);
    int d = cmp_i64(x->created_ms, y->created_ms);
    d = d != 0 ? d : cmp_i64(x->created_seq, y->created_seq);
    return d != 0 ? d : str_cmp(x->name, y->name);
}

static int by_queue_parent(const void *a, const void *b, void *ctx)
{
    const struct queue_order *o = ctx;
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    int d = cmp_u32(o->depth[x], o->depth[y]);
    if (d != 0 || o->depth[x] == 0) {
        return d;
    }
    return cmp_u32(o->rank[o->canon.s->queues.items[x].parent.ix],
                   o->rank[o->canon.s->queues.items[y].parent.ix]);
}

static uint32_t *queue_depths(struct canon *c)
{
    struct snapshot *s = c->s;
    uint32_t *depth = ARENA_ARRAY(c->arena, uint32_t, s->queues.count);
    for (uint32_t i = 0; i < s->queues.count; i++) {
        uint32_t up = s->queues.items[i].parent.ix;
        for (; up != IX_NONE; up = s->queues.items[up].parent.ix) {
            depth[i]++;
            CHECK(depth[i] <= s->queues.count); /* a cycle is the builder's bug */
        }
    }
    return depth;
}

static void sort_queues(struct canon *c)
{
    struct snapshot *s = c->s;
    uint32_t count = s->queues.count;
    uint32_t *old_of = identity(c->arena, count);
    sort_stable(old_of, count, sizeof(*old_of), by_queue_age, c, c->arena);
    // By age first, then level by level by the parent's place: one pass a level fixes the ranks.
    uint32_t *rank = ARENA_ARRAY(c->arena, uint32_t, count);
    uint32_t *depth = queue_depths(c);
    struct queue_order order = {*c, rank, depth};
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < count; i++) {
        deepest = depth[i] > deepest ? depth[i] : deepest;
    }
    for (uint32_t level = 0; level <= deepest; level++) {
        sort_stable(old_of, count, sizeof(*old_of), by_queue_parent, &order, c->arena);
        for (uint32_t i = 0; i < count; i++) {
            rank[old_of[i]] = i;
        }
    }
    uint32_t *new_of = inverse(c->arena, old_of, count);
    s->queues.items = permuted(c->arena, s->queues.items, sizeof(*s->queues.items), old_of, count);
    for (uint32_t i = 0; i < count; i++) {
        struct snap_queue *q = &s->queues.items[i];
        q->parent.ix = remap(new_of, q->parent.ix);
        q->child_first = q->child_count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (s->queues.items[i].parent.ix != IX_NONE) {
            struct snap_queue *p = &s->queues.items[s->queues.items[i].parent.ix];
            p->child_first = p->child_count == 0 ? i : p->child_first;
            p->child_count++;
        }
    }
    for (uint32_t i = 0; i < s->workloads.count; i++) {
        s->workloads.items[i].queue.ix = remap(new_of, s->workloads.items[i].queue.ix);
    }
}

/* ---- workloads, groups, tasks, claims ---- */

static int by_workload_age(const void *a, const void *b, void *ctx)
{
    const struct snap_workload *x = ROW(workloads, a);
    const struct snap_workload *y = ROW(workloads, b);
    int d = cmp_i64(x->created_ms, y->created_ms);
    return d != 0 ? d : str_cmp(x->name, y->name);
}

static void sort_workloads(struct canon *c)
{
    struct snapshot *s = c->s;
    uint32_t *new_of = SORT_TABLE(c, &s->workloads, by_workload_age);
    for (uint32_t i = 0; i < s->workloads.count; i++) {
        uint32_t *other = &s->workloads.items[i].evicted_for.ix;
        *other = remap(new_of, *other);
    }
    for (uint32_t i = 0; i < s->groups.count; i++) {
        s->groups.items[i].workload.ix = new_of[s->groups.items[i].workload.ix];
    }
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        s->tasks.items[i].workload.ix = new_of[s->tasks.items[i].workload.ix];
    }
    for (uint32_t i = 0; i < s->claims.count; i++) {
        s->claims.items[i].workload.ix = new_of[s->claims.items[i].workload.ix];
    }
}

static bool task_is_over(const struct snap_task *t)
{
    return t->state == TASK_SUCCEEDED || t->state == TASK_FAILED;
}

// A root pod set for each workload that came without groups, and its tasks into it.
static void add_default_groups(struct canon *c)
{
    struct snapshot *s = c->s;
    uint32_t *only = ARENA_ARRAY(c->arena, uint32_t, s->workloads.count); /* pod set + 1 */
    for (uint32_t i = 0; i < s->groups.count; i++) {
        const struct snap_group *g = &s->groups.items[i];
        if (g->is_pod_set) {
            only[g->workload.ix] = only[g->workload.ix] == 0 ? i + 1 : IX_NONE;
        }
    }
    for (uint32_t w = 0; w < s->workloads.count; w++) {
        if (only[w] == 0) {
            struct snap_group *g = ARRAY_PUSH(c->arena, &s->groups);
            *g = (struct snap_group){
                .name = STR("default"),
                .workload = {w},
                .parent = {IX_NONE},
                .is_pod_set = true,
                .min = IX_NONE, /* counted below */
                .topology = {IX_NONE},
                .required_level = IX_NONE,
                .preferred_level = IX_NONE,
            };
            only[w] = s->groups.count;
        }
    }
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        struct snap_task *t = &s->tasks.items[i];
        if (t->group.ix == IX_NONE) {
            uint32_t g = only[t->workload.ix];
            CHECK(g != 0 && g != IX_NONE);
            t->group.ix = g - 1;
        }
        struct snap_group *g = &s->groups.items[t->group.ix];
        if (g->is_pod_set && g->min >= IX_NONE - TASKS_MAX && !task_is_over(t)) {
            g->min--; /* counts down from IX_NONE */
        }
    }
    for (uint32_t i = 0; i < s->groups.count; i++) {
        struct snap_group *g = &s->groups.items[i];
        if (g->is_pod_set && g->min >= IX_NONE - TASKS_MAX) {
            g->min = IX_NONE - g->min;
        }
    }
}

struct group_order {
    struct canon canon;
    const uint32_t *depth;
    const uint32_t *rank; /* by old row */
};

static int by_group_place(const void *a, const void *b, void *ctx)
{
    const struct group_order *o = ctx;
    uint32_t ia = *(const uint32_t *)a;
    uint32_t ib = *(const uint32_t *)b;
    const struct snap_group *x = ROW(groups, a);
    const struct snap_group *y = ROW(groups, b);
    int d = cmp_u32(x->workload.ix, y->workload.ix);
    d = d != 0 ? d : cmp_u32(o->depth[ia], o->depth[ib]);
    if (d == 0 && o->depth[ia] > 0) {
        d = cmp_u32(o->rank[x->parent.ix], o->rank[y->parent.ix]);
    }
    return d != 0 ? d : str_cmp(x->name, y->name);
}

static void link_groups(struct snapshot *s)
{
    for (uint32_t w = 0; w < s->workloads.count; w++) {
        s->workloads.items[w].group_first = s->workloads.items[w].group_count = 0;
    }
    for (uint32_t i = 0; i < s->groups.count; i++) {
        struct snap_group *g = &s->groups.items[i];
        struct snap_workload *w = &s->workloads.items[g->workload.ix];
        w->group_first = w->group_count == 0 ? i : w->group_first;
        w->group_count++;
        if (g->parent.ix != IX_NONE) {
            struct snap_group *p = &s->groups.items[g->parent.ix];
            p->child_first = p->child_count == 0 ? i : p->child_first;
            p->child_count++;
        }
    }
}

static void sort_groups(struct canon *c)
{
    struct snapshot *s = c->s;
    uint32_t count = s->groups.count;
    uint32_t *depth = ARENA_ARRAY(c->arena, uint32_t, count);
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t up = s->groups.items[i].parent.ix;
        for (; up != IX_NONE; up = s->groups.items[up].parent.ix) {
            depth[i]++;
            CHECK(depth[i] <= GROUP_DEPTH_MAX); /* refused at the door */
        }
        deepest = depth[i] > deepest ? depth[i] : deepest;
    }
    uint32_t *old_of = identity(c->arena, count);
    uint32_t *rank = ARENA_ARRAY(c->arena, uint32_t, count);
    struct group_order order = {*c, depth, rank};
    for (uint32_t level = 0; level <= deepest; level++) {
        sort_stable(old_of, count, sizeof(*old_of), by_group_place, &order, c->arena);
        for (uint32_t i = 0; i < count; i++) {
            rank[old_of[i]] = i;
        }
    }
    uint32_t *new_of = inverse(c->arena, old_of, count);
    s->groups.items = permuted(c->arena, s->groups.items, sizeof(*s->groups.items), old_of, count);
    s->groups.cap = count;
    for (uint32_t i = 0; i < count; i++) {
        struct snap_group *g = &s->groups.items[i];
        g->parent.ix = remap(new_of, g->parent.ix);
        g->child_first = g->child_count = g->task_first = g->task_count = 0;
    }
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        s->tasks.items[i].group.ix = new_of[s->tasks.items[i].group.ix];
    }
    link_groups(s);
}

// Groups are grouped by workload, so their order covers that of the workloads.
static int by_task_place(const void *a, const void *b, void *ctx)
{
    const struct snap_task *x = ROW(tasks, a);
    const struct snap_task *y = ROW(tasks, b);
    int d = cmp_u32(x->group.ix, y->group.ix);
    d = d != 0 ? d : cmp_i64(x->order_rank, y->order_rank);
    d = d != 0 ? d : cmp_i64(x->created_ms, y->created_ms);
    return d != 0 ? d : str_cmp(x->name, y->name);
}

static void sort_tasks(struct canon *c)
{
    struct snapshot *s = c->s;
    uint32_t *new_of = SORT_TABLE(c, &s->tasks, by_task_place);
    for (uint32_t i = 0; i < s->claims.count; i++) {
        s->claims.items[i].task.ix = remap(new_of, s->claims.items[i].task.ix);
    }
    for (uint32_t i = 0; i < s->budget_members.count; i++) {
        s->budget_members.items[i].ix = new_of[s->budget_members.items[i].ix];
    }
    for (uint32_t w = 0; w < s->workloads.count; w++) {
        s->workloads.items[w].task_first = s->workloads.items[w].task_count = 0;
    }
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        struct snap_group *g = &s->groups.items[s->tasks.items[i].group.ix];
        struct snap_workload *w = &s->workloads.items[s->tasks.items[i].workload.ix];
        g->task_first = g->task_count == 0 ? i : g->task_first;
        g->task_count++;
        w->task_first = w->task_count == 0 ? i : w->task_first;
        w->task_count++;
    }
}

static int by_claim_place(const void *a, const void *b, void *ctx)
{
    const struct snap_claim *x = ROW(claims, a);
    const struct snap_claim *y = ROW(claims, b);
    int d = cmp_u32(x->workload.ix, y->workload.ix);
    d = d != 0 ? d : cmp_u32(x->task.ix, y->task.ix);
    d = d != 0 ? d : cmp_i64(x->since_ms, y->since_ms);
    d = d != 0 ? d : cmp_u32(x->node.ix, y->node.ix);
    return d != 0 ? d : cmp_u32(x->hold_first, y->hold_first);
}

static int by_budget_name(const void *a, const void *b, void *ctx)
{
    return str_cmp(ROW(budgets, a)->name, ROW(budgets, b)->name);
}

static int by_task(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return cmp_u32(((const struct task_ref *)a)->ix, ((const struct task_ref *)b)->ix);
}

static void sort_budgets(struct canon *c)
{
    struct snapshot *s = c->s;
    (void)SORT_TABLE(c, &s->budgets, by_budget_name);
    for (uint32_t i = 0; i < s->budgets.count; i++) {
        const struct snap_budget *b = &s->budgets.items[i];
        if (b->member_count > 0) {
            sort_stable(&s->budget_members.items[b->member_first], b->member_count,
                        sizeof(struct task_ref), by_task, NULL, c->arena);
        }
    }
}

void snapshot_canonicalise(struct snapshot *s, struct arena *arena)
{
    struct canon c = {s, arena};
    sort_extended(&c);
    sort_nodes(&c);
    sort_devices(&c);
    uint32_t *topology_of = SORT_TABLE(&c, &s->topologies, by_topology_name);
    for (uint32_t i = 0; i < s->groups.count; i++) {
        s->groups.items[i].topology.ix = remap(topology_of, s->groups.items[i].topology.ix);
    }
    merge_shapes(&c);
    sort_queues(&c);
    sort_workloads(&c);
    add_default_groups(&c);
    sort_groups(&c);
    sort_tasks(&c);
    (void)SORT_TABLE(&c, &s->claims, by_claim_place);
    sort_budgets(&c);
}

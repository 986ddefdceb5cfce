// SPDX-License-Identifier: Apache-2.0
// topology: nodes that have a label for every level of a topology form a tree of domains (a domain
// is a path of values). A group with a constraint is tried in one domain after the other: those of
// the preferred level first, then their parents, up to the required level, or to the whole set when
// nothing is required. Among siblings the one that would be fullest afterwards comes first, so
// that large gaps are kept. A domain is a candidate only if by count the pods fit into it.
//
// KAI starts its search below the deepest label that all nodes share, and so finds nothing when
// that is deeper than the required level; here the search always starts at the whole set.
// Domains of equal fill are in the order of their first node.
#include "sched/topology.h"

#include "base/map.h"
#include "base/num.h"
#include "base/sort.h"

enum { SCORE_MOST = 10 };

struct level {
    uint32_t *of_node;    /* [nodes] domain of the level, IX_NONE outside the tree */
    uint32_t *parent;     /* [count] domain of the level above */
    uint32_t *first_node; /* [count] */
    uint32_t count;
};
struct topology_tree {
    struct level levels[TOPOLOGY_LEVELS_MAX];
};

static bool in_tree(const struct sched *s, const struct snap_topology *t, uint32_t node)
{
    for (uint32_t l = 0; l < t->level_count; l++) {
        if (s->snap->label_keys.items[t->level_keys[l]].values[node] == IX_NONE) {
            return false;
        }
    }
    return s->nodes[node].usable;
}

static struct topology_tree *build_tree(struct sched *s, const struct snap_topology *t)
{
    struct topology_tree *tree = ARENA_NEW(s->arena, struct topology_tree);
    for (uint32_t l = 0; l < t->level_count; l++) {
        struct level *level = &tree->levels[l];
        level->of_node = ARENA_ARRAY(s->arena, uint32_t, s->node_count);
        level->parent = ARENA_ARRAY(s->arena, uint32_t, s->node_count);
        level->first_node = ARENA_ARRAY(s->arena, uint32_t, s->node_count);
        struct arena_mark mark = arena_mark(s->scratch);
        struct map seen; /* (domain above, value) to domain */
        map_init(&seen, s->scratch);
        const uint32_t *values = s->snap->label_keys.items[t->level_keys[l]].values;
        for (uint32_t n = 0; n < s->node_count; n++) {
            level->of_node[n] = IX_NONE;
            if (!in_tree(s, t, n)) {
                continue;
            }
            uint32_t above = l == 0 ? 0 : tree->levels[l - 1].of_node[n];
            uint64_t key = (uint64_t)above << 32 | values[n];
            uint32_t domain;
            if (!map_get_u64(&seen, key, &domain)) {
                domain = level->count++;
                map_put_u64(&seen, key, domain);
                level->parent[domain] = above;
                level->first_node[domain] = n;
            }
            level->of_node[n] = domain;
        }
        arena_rewind(s->scratch, mark);
    }
    return tree;
}

static const struct topology_tree *tree_of(struct sched *s, uint32_t topology)
{
    if (!s->trees) {
        s->trees = ARENA_ARRAY(s->arena, struct topology_tree *, s->snap->topologies.count);
    }
    if (!s->trees[topology]) {
        s->trees[topology] = build_tree(s, &s->snap->topologies.items[topology]);
    }
    return s->trees[topology];
}

/* ---- what the pods ask for, and what domains have ---- */

struct demand {
    int64_t *sum, *most;   /* [dims] over the pods; the largest of one pod */
    int64_t gpu_sum;       /* shares */
    int64_t whole_sum;     /* of that: whole devices */
    int64_t certain_sum;   /* of gpu_sum: but for what is asked for as memory, which larger devices
                              have more of */
    uint32_t devices_most; /* whole devices of one pod */
    uint32_t pods;
    const struct snap_shape *shape; /* when all pods are of one shape */
};

static struct demand demand_of(struct sched *s, const uint32_t *tasks, uint32_t count)
{
    struct demand d = {.pods = count, .shape = shape_of(s, tasks[0])};
    d.sum = ARENA_ARRAY(s->scratch, int64_t, s->dims);
    d.most = ARENA_ARRAY(s->scratch, int64_t, s->dims);
    for (uint32_t i = 0; i < count; i++) {
        const struct snap_shape *p = shape_of(s, tasks[i]);
        const int64_t *need = shape_state_of(s, tasks[i])->need;
        for (uint32_t k = 0; k < s->dims; k++) {
            d.sum[k] += need[k];
            d.most[k] = num_max_i64(d.most[k], need[k]);
        }
        int64_t gpu = p->gpu == GPU_NONE ? 0 : shape_state_of(s, tasks[i])->request.v[RES_GPU];
        d.gpu_sum += gpu;
        d.whole_sum += p->gpu == GPU_WHOLE ? gpu : 0;
        d.certain_sum += p->gpu == GPU_MEMORY ? 0 : gpu;
        d.shape = p == shape_of(s, tasks[0]) ? d.shape : NULL;
        d.devices_most = p->device_count > d.devices_most ? p->device_count : d.devices_most;
    }
    return d;
}

// Pods of one fractional shape that the devices of the node have room for.
static int64_t fraction_room(const struct sched *s, const struct snap_shape *p, uint32_t node)
{
    const struct snap_node *n = &s->snap->nodes.items[node];
    int64_t room = 0;
    for (uint32_t i = n->device_first; i < n->device_first + n->device_count; i++) {
        const struct device_state *d = &s->devices[i];
        int64_t take = device_take(p, d);
        int64_t left = device_free_later(d);
        room += d->cap > 0 && take > 0 && left > 0 ? left / take : 0;
    }
    return room / p->device_count;
}

static int64_t node_room(struct sched *s, const struct demand *d, uint32_t node)
{
    int64_t room = INT64_MAX;
    for (uint32_t k = 0; k < s->dims; k++) {
        if (d->most[k] > 0) {
            room = num_min_i64(room, s->later[(size_t)node * s->dims + k] / d->most[k]);
        }
    }
    if (d->shape && (d->shape->gpu == GPU_SHARE || d->shape->gpu == GPU_MEMORY)) {
        room = num_min_i64(room, fraction_room(s, d->shape, node));
    } else if (d->devices_most > 0) {
        room = num_min_i64(room, s->nodes[node].whole_later / d->devices_most);
    }
    return num_max_i64(room, 0);
}

struct domain {
    int64_t *free;              /* [dims + 1], whole devices in shares last */
    int64_t left;               /* of all devices, in shares, for a mix of shapes */
    int64_t room;               /* pods */
    int64_t fill_num, fill_den; /* how full it would be: more is fuller */
    uint32_t place;             /* among its level, in order */
    bool holds;                 /* a placed pod of the group */
    bool there;                 /* has a node of the set at all */
};

static void fill_of(const struct sched *s, const struct demand *d, struct domain *x)
{
    x->fill_num = 0;
    x->fill_den = 1;
    for (uint32_t k = 0; k <= s->dims; k++) {
        int64_t wanted = k == s->dims ? d->gpu_sum : d->sum[k];
        if (wanted == 0 || k == DIM_PODS) {
            continue;
        }
        int64_t num = x->free[k] > 0 ? wanted : 1000;
        int64_t den = x->free[k] > 0 ? x->free[k] : 1;
        if (num_cmp_frac(num, den, x->fill_num, x->fill_den) > 0) {
            x->fill_num = num;
            x->fill_den = den;
        }
    }
}

// A first look, which must not turn away what would fit: pods of one shape are counted; of a mix of
// shapes the sums are what can be told without placing them.
static bool has_room(const struct sched *s, const struct demand *d, const struct domain *x)
{
    if (d->shape) {
        return x->room >= d->pods;
    }
    for (uint32_t k = 0; k < s->dims; k++) {
        if (d->sum[k] > 0 && d->sum[k] > x->free[k]) {
            return false;
        }
    }
    return d->whole_sum <= x->free[s->dims] && d->certain_sum <= x->left;
}

struct survey {
    struct sched *s;
    const struct topology_tree *tree;
    uint32_t levels; /* of the tree */
    struct domain *domains[TOPOLOGY_LEVELS_MAX];
    struct domain whole;
    uint32_t *order[TOPOLOGY_LEVELS_MAX]; /* domains of a level in the order of trying */
    uint32_t level;                       /* being sorted */
};

static bool in_mask(const uint64_t *mask, uint32_t node)
{
    return !mask || (mask[node / 64] >> (node % 64) & 1) != 0;
}

// What is left of the node's devices, in shares.
static int64_t devices_left(const struct sched *s, uint32_t node)
{
    const struct snap_node *n = &s->snap->nodes.items[node];
    int64_t sum = 0;
    for (uint32_t i = n->device_first; i < n->device_first + n->device_count; i++) {
        int64_t left = device_free_later(&s->devices[i]);
        if (left > 0) {
            sum += num_muldiv_ceil(left, DEVICE_SHARE, s->devices[i].cap);
        }
    }
    return sum;
}

static void add_node(struct sched *s, struct domain *x, uint32_t node, int64_t room, int64_t left)
{
    x->there = true;
    x->left += left;
    for (uint32_t k = 0; k < s->dims; k++) {
        x->free[k] += s->later[(size_t)node * s->dims + k];
    }
    x->free[s->dims] += s->nodes[node].whole_later * DEVICE_SHARE;
    x->room += room;
}

static struct survey survey_domains(struct sched *s, uint32_t topology, const struct demand *d,
                                    const uint64_t *mask)
{
    struct survey v = {.s = s, .tree = tree_of(s, topology)};
    v.levels = s->snap->topologies.items[topology].level_count;
    v.whole.free = ARENA_ARRAY(s->scratch, int64_t, s->dims + 1);
    for (uint32_t l = 0; l < v.levels; l++) {
        uint32_t count = v.tree->levels[l].count;
        v.domains[l] = ARENA_ARRAY(s->scratch, struct domain, count);
        for (uint32_t i = 0; i < count; i++) {
            v.domains[l][i].free = ARENA_ARRAY(s->scratch, int64_t, s->dims + 1);
        }
    }
    for (uint32_t n = 0; n < s->node_count; n++) {
        if (!in_mask(mask, n) || v.tree->levels[0].of_node[n] == IX_NONE) {
            continue;
        }
        int64_t room = node_room(s, d, n);
        int64_t left = d->shape ? 0 : devices_left(s, n);
        add_node(s, &v.whole, n, room, left);
        for (uint32_t l = 0; l < v.levels; l++) {
            add_node(s, &v.domains[l][v.tree->levels[l].of_node[n]], n, room, left);
        }
    }
    fill_of(s, d, &v.whole);
    for (uint32_t l = 0; l < v.levels; l++) {
        for (uint32_t i = 0; i < v.tree->levels[l].count; i++) {
            fill_of(s, d, &v.domains[l][i]);
        }
    }
    return v;
}

static int by_fill(const void *a, const void *b, void *ctx)
{
    const struct survey *v = ctx;
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    const struct level *level = &v->tree->levels[v->level];
    if (v->level > 0) {
        uint32_t px = v->domains[v->level - 1][level->parent[x]].place;
        uint32_t py = v->domains[v->level - 1][level->parent[y]].place;
        if (px != py) {
            return px < py ? -1 : 1;
        }
    }
    const struct domain *dx = &v->domains[v->level][x];
    const struct domain *dy = &v->domains[v->level][y];
    int d = num_cmp_frac(dy->fill_num, dy->fill_den, dx->fill_num, dx->fill_den);
    return d != 0 ? d : (level->first_node[x] < level->first_node[y] ? -1 : x != y);
}

static void sort_domains(struct survey *v, uint32_t finest)
{
    for (v->level = 0; v->level <= finest; v->level++) {
        uint32_t count = v->tree->levels[v->level].count;
        uint32_t *order = ARENA_ARRAY(v->s->scratch, uint32_t, count);
        for (uint32_t i = 0; i < count; i++) {
            order[i] = i;
        }
        sort_stable(order, count, sizeof(*order), by_fill, v, v->s->scratch);
        for (uint32_t i = 0; i < count; i++) {
            v->domains[v->level][order[i]].place = i;
        }
        v->order[v->level] = order;
    }
}

// Marks the domains of a level that hold a placed pod of the group.
static bool mark_held(struct survey *v, uint32_t group, uint32_t level)
{
    struct sched *s = v->s;
    const struct snap_workload *w = workload_of(s, group_of(s, group)->workload.ix);
    bool any = false;
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        uint32_t g = task_of(s, t)->group.ix;
        while (g != group && g != IX_NONE) {
            g = group_of(s, g)->parent.ix;
        }
        if (g == IX_NONE || !state_is_placed(s->tasks[t].state)) {
            continue;
        }
        uint32_t domain = v->tree->levels[level].of_node[s->tasks[t].place.node];
        if (domain != IX_NONE) {
            v->domains[level][domain].holds = true;
            any = true;
        }
    }
    return any;
}

static uint32_t ancestor(const struct survey *v, uint32_t level, uint32_t domain, uint32_t up_to)
{
    for (; level > up_to; level--) {
        domain = v->tree->levels[level].parent[domain];
    }
    return domain;
}

static const uint64_t *domain_mask(struct survey *v, uint32_t level, uint32_t domain,
                                   const uint64_t *mask)
{
    struct sched *s = v->s;
    uint64_t *words = ARENA_ARRAY(s->scratch, uint64_t, s->node_words + 1);
    const uint32_t *of_node = v->tree->levels[level == IX_NONE ? 0 : level].of_node;
    for (uint32_t n = 0; n < s->node_count; n++) {
        bool inside = level == IX_NONE ? of_node[n] != IX_NONE : of_node[n] == domain;
        if (inside && in_mask(mask, n)) {
            words[n / 64] |= UINT64_C(1) << (n % 64);
        }
    }
    return words;
}

// Emptier domains of the preferred level score higher, so that a group which does not fit into one
// fills the roomiest first.
static const uint8_t *preference(struct survey *v, uint32_t level)
{
    struct sched *s = v->s;
    uint8_t *scores = ARENA_ARRAY(s->scratch, uint8_t, s->node_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < v->tree->levels[level].count; i++) {
        count += v->domains[level][i].there;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < v->tree->levels[level].count; i++) {
        uint32_t domain = v->order[level][i];
        if (v->domains[level][domain].there) {
            v->domains[level][domain].place = ++at; /* the order is kept, from 1 */
        }
    }
    for (uint32_t n = 0; n < s->node_count; n++) {
        uint32_t domain = v->tree->levels[level].of_node[n];
        if (domain != IX_NONE && v->domains[level][domain].there) {
            scores[n] = (uint8_t)(v->domains[level][domain].place * SCORE_MOST / count);
        }
    }
    return scores;
}

static void add_candidates(struct survey *v, const struct demand *d, uint32_t level,
                           uint32_t required, bool held, const uint64_t *mask,
                           struct topology_sets *sets)
{
    for (uint32_t i = 0; i < v->tree->levels[level].count; i++) {
        uint32_t domain = v->order[level][i];
        const struct domain *x = &v->domains[level][domain];
        if (!x->there || !has_room(v->s, d, x) ||
            (held && !v->domains[required][ancestor(v, level, domain, required)].holds)) {
            continue;
        }
        sets->masks[sets->count++] = domain_mask(v, level, domain, mask);
    }
}

static struct topology_sets no_constraint(struct sched *s, const uint64_t *mask,
                                          const uint8_t *scores)
{
    struct topology_sets sets = {.count = 1, .scores = scores};
    sets.masks = ARENA_ARRAY(s->scratch, const uint64_t *, 1);
    sets.masks[0] = mask;
    return sets;
}

// What the best domain has room for; where members run already, the best of those they are in.
static void note_failure(const struct survey *v, uint32_t group, uint32_t required, bool held,
                         struct gang_failure *failure)
{
    if (failure->group != IX_NONE) {
        return;
    }
    failure->group = group;
    failure->bound = required == IX_NONE ? v->whole.room : 0;
    for (uint32_t i = 0; required != IX_NONE && i < v->tree->levels[required].count; i++) {
        const struct domain *x = &v->domains[required][i];
        if (!held || x->holds) {
            failure->bound = num_max_i64(failure->bound, x->room);
        }
    }
}

struct topology_sets topology_sets(struct sched *s, uint32_t group, const uint32_t *tasks,
                                   uint32_t count, const uint64_t *mask, const uint8_t *scores,
                                   struct gang_failure *failure)
{
    const struct snap_group *g = group_of(s, group);
    if (g->topology_unknown) {
        failure->group = group;
        return (struct topology_sets){0};
    }
    uint32_t required = g->required_level;
    uint32_t finest = g->preferred_level;
    if (finest == IX_NONE || (required != IX_NONE && required > finest)) {
        finest = required; /* what is required is at least as fine */
    }
    if (g->topology.ix == IX_NONE || finest == IX_NONE || count == 0) {
        return no_constraint(s, mask, scores);
    }
    struct demand d = demand_of(s, tasks, count);
    struct survey v = survey_domains(s, g->topology.ix, &d, mask);
    sort_domains(&v, finest);
    uint32_t most = 1;
    for (uint32_t l = 0; l <= finest; l++) {
        most += v.tree->levels[l].count;
    }
    struct topology_sets sets = {.scores = scores};
    sets.masks = ARENA_ARRAY(s->scratch, const uint64_t *, most);
    bool held = required != IX_NONE && mark_held(&v, group, required);
    uint32_t coarsest = required == IX_NONE ? 0 : required;
    for (uint32_t l = finest + 1; l > coarsest;) {
        l--;
        add_candidates(&v, &d, l, required, held, mask, &sets);
    }
    if (required == IX_NONE && has_room(s, &d, &v.whole)) {
        sets.masks[sets.count++] = domain_mask(&v, IX_NONE, 0, mask);
    }
    if (sets.count == 0) {
        note_failure(&v, group, required, held, failure);
    }
    if (g->preferred_level != IX_NONE) {
        sets.scores = preference(&v, g->preferred_level <= finest ? g->preferred_level : finest);
    }
    return sets;
}

// SPDX-License-Identifier: Apache-2.0
// search: for one claimant, victims are taken in victim order, unit by unit (a pod above a minimum,
// or a whole gang). Whenever a new unit could matter, a scenario is tried: its units are evicted in
// the trial, then the claimant and the victims are placed again, pipelined, in the ordinary order,
// by the same code that allocates. So an eviction is justified by construction: the claimant starts
// on what is freed; a victim that finds another place is moved; one that finds its own place again
// is left alone. What is acceptable beyond that, the action says.
//
// Scenarios come from two generators, as in KAI. The first looks at one node at a time: all units
// on a node of the newest victim, together with those recorded for fewer pods of the claimant (a
// gang is solved for 1, 2, 4 … pods first). The second takes the fewest nodes whose free and
// freeable devices add up to what is asked. A scenario is tried only if by count of whole devices
// it can be enough. A solution is then thinned out: each unit is tried to be left out, newest
// first, stopped ones before moved ones, until none can be spared (R4).
#include "sched/search.h"

#include "base/check.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/sort.h"
#include "sched/allocate.h"
#include "sched/explain.h"
#include "sched/gang.h"
#include "sched/quota.h"

/* ---- victims, unit by unit ---- */

int64_t search_protected_until(const struct sched *s, uint32_t victim, int64_t min_runtime_ms)
{
    int64_t start = workload_of(s, victim)->last_start_ms;
    if (start == TIME_NEVER || min_runtime_ms <= 0 ||
        s->snap->config.now_ms >= start + min_runtime_ms) {
        return TIME_NEVER;
    }
    return start + min_runtime_ms;
}

static bool is_elastic(const struct sched *s, uint32_t workload)
{
    const struct snap_workload *w = workload_of(s, workload);
    for (uint32_t g = w->group_first; g < w->group_first + w->group_count; g++) {
        if (group_of(s, g)->is_pod_set && s->groups[g].placed > group_of(s, g)->min) {
            return true;
        }
    }
    return false;
}

static const struct work *before_eviction(const struct search *x, uint32_t task)
{
    const struct sched *s = x->s;
    for (uint32_t i = 0; i < s->ops.count; i++) {
        if (s->ops.items[i].kind == OP_EVICT && s->ops.items[i].task == task) {
            return &s->ops.items[i].before;
        }
    }
    return &s->tasks[task];
}

struct amounts search_lost(const struct search *x, uint32_t task)
{
    return before_eviction(x, task)->cost;
}

static bool evictable(const struct search *x, uint32_t task)
{
    return state_is_placed(x->s->tasks[task].state) && !x->taken[task];
}

static uint32_t left_in(const struct search *x, uint32_t group)
{
    return x->s->groups[group].placed - x->group_taken[group];
}

// Members (pods, or satisfied groups) of a group that no unit has taken yet; and whether it has
// more than it needs, itself or below. Filled in for all groups of a workload.
struct surplus {
    uint32_t members, needed;
    bool satisfied, below;
};

static struct surplus *surpluses(const struct search *x, uint32_t workload)
{
    const struct snap_workload *w = workload_of(x->s, workload);
    struct surplus *all = ARENA_ARRAY(x->s->scratch, struct surplus, w->group_count);
    for (uint32_t i = w->group_count; i > 0;) {
        i--;
        const struct snap_group *g = group_of(x->s, w->group_first + i);
        struct surplus *u = &all[i];
        u->members = g->is_pod_set ? left_in(x, w->group_first + i) : 0;
        u->needed = !g->is_pod_set && g->min == GROUP_MIN_ALL ? g->child_count : g->min;
        for (uint32_t c = g->child_first; c < g->child_first + g->child_count; c++) {
            const struct surplus *m = &all[c - w->group_first];
            u->members += m->satisfied && m->members > 0;
            u->below = u->below || m->below;
        }
        u->satisfied = u->members >= u->needed;
        u->below = u->below || u->members > u->needed;
    }
    return all;
}

// Whether member a is given up before member b (indices from the first group of the workload).
static bool given_up_before(const struct surplus *all, uint32_t a, uint32_t b)
{
    const struct surplus *x = &all[a];
    const struct surplus *y = &all[b];
    if (x->satisfied != y->satisfied) {
        return x->satisfied;
    }
    if (!x->satisfied) {
        return a > b;
    }
    if ((x->needed > 0) != (y->needed > 0)) {
        return x->needed == 0;
    }
    uint64_t left = (uint64_t)x->members * (y->needed > 0 ? y->needed : 1);
    uint64_t right = (uint64_t)y->members * (x->needed > 0 ? x->needed : 1);
    return left != right ? left > right : a > b;
}

// The first member of group to give up; with_surplus: only one that has more than it needs.
static uint32_t member_to_give(const struct search *x, const struct surplus *all, uint32_t first,
                               uint32_t group, bool with_surplus)
{
    const struct snap_group *g = group_of(x->s, group);
    uint32_t best = IX_NONE;
    for (uint32_t c = g->child_first; c < g->child_first + g->child_count; c++) {
        const struct surplus *m = &all[c - first];
        if (with_surplus ? !m->below : m->members == 0) {
            continue;
        }
        if (best == IX_NONE || given_up_before(all, c - first, best - first)) {
            best = c;
        }
    }
    return best;
}

static bool group_is_below(const struct sched *s, uint32_t group, uint32_t top)
{
    while (group != top && group != IX_NONE) {
        group = group_of(s, group)->parent.ix;
    }
    return group == top;
}

// Which pods go first: sets `group` to where they are and whether it is one pod or all below it.
static uint32_t group_to_take(const struct search *x, uint32_t workload, bool *one, bool *core)
{
    uint32_t first = workload_of(x->s, workload)->group_first;
    const struct surplus *all = surpluses(x, workload);
    uint32_t group = first;
    *one = false;
    *core = true;
    for (uint32_t depth = 0; depth <= GROUP_DEPTH_MAX; depth++) {
        const struct surplus *u = &all[group - first];
        if (group_of(x->s, group)->is_pod_set) {
            *one = u->members > u->needed;
            *core = !*one;
            return group;
        }
        if (u->members == 0) {
            return group;
        }
        uint32_t member = member_to_give(x, all, first, group, true);
        if (member != IX_NONE) {
            group = member;
            continue;
        }
        if (u->members > u->needed) {
            member = member_to_give(x, all, first, group, false);
            return member == IX_NONE ? group : member;
        }
        return group;
    }
    return group;
}

// What the units together could free, and for how many pods of the claimant that would do.
static void add_gain(struct search *x, uint32_t node, int64_t devices)
{
    int64_t each = shape_of(x->s, x->tasks.items[0])->device_count;
    int64_t has = x->s->nodes[node].whole_later + x->gain[node];
    if (each > 0 && (x->feasible[node / 64] >> (node % 64) & 1) != 0) {
        x->room_most += (has + devices) / each - has / each;
    }
    x->gain[node] += devices;
}

// Adds the next unit of the workload. False when it has none to give.
static bool add_unit(struct search *x, uint32_t workload, bool spare_core)
{
    struct arena_mark mark = arena_mark(x->s->scratch);
    bool one;
    bool core;
    uint32_t group = group_to_take(x, workload, &one, &core);
    arena_rewind(x->s->scratch, mark);
    if (core && spare_core) {
        return false;
    }
    struct victim_unit *unit = ARRAY_PUSH(x->s->arena, &x->units);
    *unit = (struct victim_unit){workload, x->unit_tasks.count, 0, core};
    const struct snap_workload *w = workload_of(x->s, workload);
    for (uint32_t t = w->task_first + w->task_count; t > w->task_first;) {
        t--;
        uint32_t g = task_of(x->s, t)->group.ix;
        if (!evictable(x, t) || !group_is_below(x->s, g, group)) {
            continue;
        }
        *ARRAY_PUSH(x->s->arena, &x->unit_tasks) = t;
        *ARRAY_PUSH(x->s->arena, &x->unit_nodes) = x->s->tasks[t].place.node;
        unit->count++;
        x->taken[t] = true;
        x->group_taken[g]++;
        add_gain(x, x->s->tasks[t].place.node, shape_of(x->s, t)->device_count);
        if (one) {
            break;
        }
    }
    if (unit->count == 0) {
        x->units.count--;
        return false;
    }
    return true;
}

static bool has_more(const struct search *x, uint32_t workload)
{
    const struct snap_workload *w = workload_of(x->s, workload);
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        if (evictable(x, t)) {
            return true;
        }
    }
    return false;
}

static int64_t protected_until(struct search *x, uint32_t workload)
{
    return x->rules->protected_until ? x->rules->protected_until(x, workload) : TIME_NEVER;
}

static void note_protected(struct search *x, uint32_t workload, int64_t until_ms)
{
    if (x->protected_victim == IX_NONE || until_ms < x->protected_until_ms) {
        x->protected_victim = workload;
        x->protected_until_ms = until_ms;
    }
}

// Takes the next unit from the victim order. False when there are no more.
static bool next_unit(struct search *x)
{
    for (;;) {
        uint32_t workload = order_pop(&x->victims);
        if (workload == IX_NONE) {
            return false;
        }
        bool first = x->seen_victim[workload] != x->run;
        if (first && x->rules->victims_max >= 0 && x->victim_count >= x->rules->victims_max) {
            continue;
        }
        int64_t until_ms = protected_until(x, workload);
        bool spare_core = until_ms != TIME_NEVER ||
                          (x->rules->surplus_only && x->rules->surplus_only(x, workload));
        if (!add_unit(x, workload, spare_core)) {
            if (until_ms != TIME_NEVER) {
                note_protected(x, workload, until_ms);
            }
            continue;
        }
        x->any_victim = true;
        x->victim_count += first;
        x->seen_victim[workload] = x->run;
        const struct victim_unit *unit = &x->units.items[x->units.count - 1];
        uint32_t queue = queue_of(x->s, workload);
        for (uint32_t t = 0; t < unit->count; t++) {
            uint32_t task = x->unit_tasks.items[unit->first + t];
            amounts_add(&x->victims.taken[queue], &x->s->tasks[task].cost);
        }
        if (has_more(x, workload)) {
            order_push(&x->victims, workload);
        } else {
            order_touch(&x->victims, queue);
        }
        return true;
    }
}

static void forget_units(struct search *x)
{
    for (uint32_t i = 0; i < x->unit_tasks.count; i++) {
        uint32_t t = x->unit_tasks.items[i];
        x->taken[t] = false;
        x->group_taken[task_of(x->s, t)->group.ix] = 0;
        x->gain[x->unit_nodes.items[i]] = 0;
    }
    x->units.count = x->unit_tasks.count = x->unit_nodes.count = x->recorded.count = x->chosen.count = 0;
    x->victim_count = 0;
    x->room_most = x->room;
    x->run++;
}

/* ---- trying a scenario ---- */

static bool place_claimant(struct search *x, uint32_t count)
{
    struct task_list some = {x->tasks.items, count, count};
    struct amounts most = {{0}};
    for (uint32_t i = 0; i < count; i++) {
        amounts_add(&most, &shape_state_of(x->s, some.items[i])->request_most);
    }
    return quota_allows(x->s, x->claimant, &most, NULL) &&
           gang_place(x->s, x->claimant, &some, true, NULL, NULL);
}

// Puts the next evicted pods of a victim somewhere, if that is possible and allowed.
static bool place_victim(struct search *x, uint32_t workload)
{
    struct sched *s = x->s;
    struct arena_mark mark = arena_mark(s->scratch);
    struct task_list tasks = {0};
    gang_next(s, workload, WORK_EVICTED, s->scratch, &tasks);
    struct amounts most = {{0}};
    for (uint32_t i = 0; i < tasks.count; i++) {
        amounts_add(&most, &shape_state_of(s, tasks.items[i])->request_most);
    }
    bool placed = tasks.count > 0 && quota_allows(s, workload, &most, NULL) &&
                  gang_place(s, workload, &tasks, true, NULL, NULL);
    arena_rewind(s->scratch, mark);
    return placed;
}

static void order_scenario(struct search *x)
{
    x->epoch++;
    order_clear(&x->scenario);
    order_add(&x->scenario, x->claimant);
    for (uint32_t i = 0; i < x->chosen.count; i++) {
        uint32_t w = x->units.items[x->chosen.items[i]].workload;
        if (x->seen[w] != x->epoch) {
            x->seen[w] = x->epoch;
            order_add(&x->scenario, w);
        }
    }
    order_ready(&x->scenario, -1);
}

// Evicts the chosen units and places the first count pods of the claimant and the victims. True:
// the claimant has its places and the outcome is acceptable; the trial is left as it is then.
static bool try_scenario(struct search *x, uint32_t count)
{
    struct sched *s = x->s;
    struct mark before = trial_mark(s);
    struct arena_mark memory = arena_mark(s->scratch);
    x->tries++;
    for (uint32_t i = 0; i < x->chosen.count; i++) {
        const struct victim_unit *unit = &x->units.items[x->chosen.items[i]];
        for (uint32_t t = 0; t < unit->count; t++) {
            trial_evict(s, x->unit_tasks.items[unit->first + t]);
        }
    }
    order_scenario(x);
    struct order *order = &x->scenario;
    bool started = false;
    for (uint32_t w = order_pop(order); w != IX_NONE; w = order_pop(order)) {
        if (w == x->claimant) {
            started = place_claimant(x, count);
            if (!started) {
                break;
            }
        } else if (place_victim(x, w) && gang_evicted(s, w) > 0) {
            order_push(order, w);
            continue;
        }
        order_touch(order, queue_of(s, w));
    }
    arena_rewind(s->scratch, memory);
    if (started && x->rules->acceptable(x)) {
        return true;
    }
    trial_rollback(s, before);
    return false;
}

static bool exhausted(const struct search *x)
{
    return x->tries >= x->tries_max;
}

/* ---- whether a scenario can be enough, by count of devices ---- */

static bool counts_devices(const struct search *x)
{
    return x->alike && shape_of(x->s, x->tasks.items[0])->gpu == GPU_WHOLE;
}

// The same with all units so far.
static bool all_may_be_enough(const struct search *x, uint32_t count)
{
    return !counts_devices(x) || x->room_most >= count;
}

// Pods of count that find room on whole devices with the units of mark[] gone; count when that
// cannot be told (fractions, mixed requests, pods without devices).
static bool may_be_enough(struct search *x, uint32_t count)
{
    struct sched *s = x->s;
    const struct snap_shape *p = shape_of(s, x->tasks.items[0]);
    if (!counts_devices(x)) {
        return true;
    }
    x->epoch++;
    int64_t room = x->room;
    for (uint32_t i = 0; i < x->chosen.count; i++) {
        const struct victim_unit *unit = &x->units.items[x->chosen.items[i]];
        for (uint32_t t = 0; t < unit->count; t++) {
            uint32_t task = x->unit_tasks.items[unit->first + t];
            uint32_t node = x->unit_nodes.items[unit->first + t];
            if (x->node_seen[node] != x->epoch) {
                x->node_seen[node] = x->epoch;
                x->node_freed[node] = 0;
            }
            const struct snap_shape *v = shape_of(s, task);
            int64_t before = (s->nodes[node].whole_later + x->node_freed[node]) / p->device_count;
            // A fraction may free its device only together with others on it: counted as freed.
            x->node_freed[node] += v->device_count;
            int64_t after = (s->nodes[node].whole_later + x->node_freed[node]) / p->device_count;
            bool feasible = (x->feasible[node / 64] >> (node % 64) & 1) != 0;
            room += feasible ? after - before : 0;
        }
    }
    return room >= count;
}

static void count_room(struct search *x)
{
    struct sched *s = x->s;
    const struct snap_shape *p = shape_of(s, x->tasks.items[0]);
    x->feasible = fit_feasible(s, task_of(s, x->tasks.items[0])->shape.ix);
    x->room = 0;
    x->alike = true;
    for (uint32_t i = 1; i < x->tasks.count && x->alike; i++) {
        x->alike = task_of(s, x->tasks.items[i])->shape.ix == task_of(s, x->tasks.items[0])->shape.ix;
    }
    for (uint32_t w = 0; p->gpu == GPU_WHOLE && w < s->node_words; w++) {
        for (uint64_t bits = x->feasible[w] & s->roomy[w]; bits != 0; bits &= bits - 1) {
            uint32_t n = w * 64 + (uint32_t)__builtin_ctzll(bits);
            x->room += s->nodes[n].whole_later / p->device_count;
        }
    }
    x->room_most = x->room;
}

/* ---- generators ---- */

static bool unit_is_on(const struct search *x, const struct victim_unit *unit, uint32_t node)
{
    for (uint32_t t = 0; t < unit->count; t++) {
        if (x->unit_nodes.items[unit->first + t] == node) {
            return true;
        }
    }
    return false;
}

// Chooses the marked units, and with every core one the earlier units of its workload.
static void choose_marked(struct search *x)
{
    x->chosen.count = 0;
    for (uint32_t i = x->units.count; i > 0;) {
        i--;
        const struct victim_unit *unit = &x->units.items[i];
        for (uint32_t e = 0; x->marked[i] && unit->core && e < i; e++) {
            if (x->units.items[e].workload == unit->workload) {
                x->marked[e] = true;
            }
        }
    }
    for (uint32_t i = 0; i < x->units.count; i++) {
        if (x->marked[i]) {
            *ARRAY_PUSH(x->s->arena, &x->chosen) = i;
        }
    }
}

static void clear_marks(struct search *x)
{
    if (x->marked_cap < x->units.count) {
        x->marked_cap = x->units.cap;
        x->marked = ARENA_ARRAY(x->s->arena, bool, x->marked_cap);
    }
    memset(x->marked, 0, x->units.count * sizeof(*x->marked));
    for (uint32_t i = 0; i < x->recorded.count; i++) {
        x->marked[x->recorded.items[i]] = true;
    }
}

static bool try_marked(struct search *x, uint32_t count)
{
    choose_marked(x);
    return x->chosen.count > 0 && may_be_enough(x, count) && !exhausted(x) &&
           try_scenario(x, count);
}

// Tries the nodes of the newest unit one by one, by name: what was taken so far on that node.
static bool try_by_node(struct search *x, uint32_t count)
{
    const struct victim_unit newest = x->units.items[x->units.count - 1];
    if (!all_may_be_enough(x, count)) {
        return false;
    }
    uint32_t node = 0;
    for (;;) {
        uint32_t next = IX_NONE;
        for (uint32_t t = 0; t < newest.count; t++) {
            uint32_t n = x->unit_nodes.items[newest.first + t];
            next = n >= node && n < next ? n : next;
        }
        if (next == IX_NONE) {
            return false;
        }
        clear_marks(x);
        for (uint32_t i = 0; i < x->units.count; i++) {
            x->marked[i] = x->marked[i] || unit_is_on(x, &x->units.items[i], next);
        }
        if (try_marked(x, count)) {
            return true;
        }
        node = next + 1;
    }
}

static bool solve_by_node(struct search *x, uint32_t count)
{
    if (x->recorded.count > 0) {
        clear_marks(x);
        if (try_marked(x, count)) {
            return true;
        }
    }
    // Units taken for an attempt with fewer pods are still there: their nodes again first.
    for (uint32_t i = 0; i < x->units.count; i++) {
        uint32_t all = x->units.count;
        x->units.count = i + 1; /* what is on it by then; room_most counts all: no harm */
        bool solved = try_by_node(x, count);
        x->units.count = all;
        if (solved || exhausted(x)) {
            return solved;
        }
    }
    while (next_unit(x)) {
        if (try_by_node(x, count)) {
            return true;
        }
        if (exhausted(x)) {
            return false;
        }
    }
    return false;
}

struct node_room {
    uint32_t node;
    int64_t room; /* whole devices free or freeable */
};

static int by_room(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    const struct node_room *x = a;
    const struct node_room *y = b;
    return x->room < y->room ? -1 : x->room > y->room;
}

// Nodes with units that could host a pod of the claimant at all, by what they could give, the least
// first; equal ones in the order in which they were met. x->node_rank is set for these.
static uint32_t rank_nodes(struct search *x, struct node_room *nodes)
{
    struct sched *s = x->s;
    int64_t each = counts_devices(x) ? shape_of(s, x->tasks.items[0])->device_count : 0;
    uint32_t count = 0;
    x->epoch++;
    for (uint32_t i = 0; i < x->unit_tasks.count; i++) {
        uint32_t n = x->unit_nodes.items[i];
        int64_t room = s->nodes[n].whole_later + x->gain[n];
        if (x->node_seen[n] != x->epoch) {
            x->node_seen[n] = x->epoch;
            x->node_rank[n] = IX_NONE;
            if (room >= each) {
                nodes[count++] = (struct node_room){n, room};
            }
        }
    }
    sort_stable(nodes, count, sizeof(*nodes), by_room, NULL, s->scratch);
    for (uint32_t i = 0; i < count; i++) {
        x->node_rank[nodes[i].node] = i;
    }
    return count;
}

// The fewest of the ranked nodes that could be enough; 1 when that cannot be told.
static uint32_t fewest_nodes(const struct search *x, const struct node_room *nodes,
                             uint32_t node_count, uint32_t count)
{
    if (!counts_devices(x)) {
        return node_count > 0 ? 1 : 0;
    }
    int64_t each = shape_of(x->s, x->tasks.items[0])->device_count;
    int64_t room = x->room;
    for (uint32_t k = 0; k < node_count; k++) {
        room += nodes[k].room / each - x->s->nodes[nodes[k].node].whole_later / each;
        if (room >= count) {
            return k + 1;
        }
    }
    return node_count;
}

// The first k of the ranked nodes: all units on them.
static bool try_first_nodes(struct search *x, uint32_t k, uint32_t count)
{
    clear_marks(x);
    for (uint32_t i = 0; i < x->units.count; i++) {
        const struct victim_unit *unit = &x->units.items[i];
        for (uint32_t t = 0; t < unit->count && !x->marked[i]; t++) {
            uint32_t rank = x->node_rank[x->unit_nodes.items[unit->first + t]];
            x->marked[i] = rank != IX_NONE && rank < k;
        }
    }
    return try_marked(x, count);
}

static uint64_t hash_nodes(const struct node_room *nodes, uint32_t k)
{
    uint64_t h = k;
    for (uint32_t i = 0; i < k; i++) {
        h = hash_u64((uint64_t)nodes[i].room, hash_u64(nodes[i].node, h));
    }
    return h;
}

// Tries the fewest nodes that could be enough, where these are others than before; at the end also
// 1, 3, 7 … more, then all.
static bool try_by_nodes(struct search *x, uint32_t count, bool at_end, uint64_t *before)
{
    struct arena_mark mark = arena_mark(x->s->scratch);
    struct node_room *nodes = ARENA_ARRAY(x->s->scratch, struct node_room, x->unit_tasks.count);
    uint32_t node_count = rank_nodes(x, nodes);
    uint32_t step = 1;
    uint32_t k = fewest_nodes(x, nodes, node_count, count);
    uint64_t hash = hash_nodes(nodes, k);
    bool solved = k > 0 && hash != *before && try_first_nodes(x, k, count);
    *before = hash;
    while (at_end && !solved && k < node_count && !exhausted(x)) {
        k = k + step < node_count ? k + step : node_count;
        step *= 2;
        solved = try_first_nodes(x, k, count);
    }
    arena_rewind(x->s->scratch, mark);
    return solved;
}

static bool solve_by_nodes(struct search *x, uint32_t count)
{
    uint64_t before = 0;
    while (next_unit(x)) {
        if (all_may_be_enough(x, count) && try_by_nodes(x, count, false, &before)) {
            return true;
        }
        if (exhausted(x)) {
            return false;
        }
    }
    return x->units.count > 0 && all_may_be_enough(x, count) &&
           try_by_nodes(x, count, true, &before);
}

static void record_chosen(struct search *x)
{
    x->recorded.count = 0;
    for (uint32_t i = 0; i < x->chosen.count; i++) {
        *ARRAY_PUSH(x->s->arena, &x->recorded) = x->chosen.items[i];
    }
}

// Solves for 1, 2, 4 … pods with what was needed before as a start; then for as many as could be
// solved between, and at last for all. Leaves the trial in place on success.
static bool solve_growing(struct search *x, bool (*solve)(struct search *, uint32_t))
{
    uint32_t all = x->tasks.count;
    struct mark before = trial_mark(x->s);
    uint32_t good = 0;
    uint32_t bad = all + 1;
    for (uint32_t k = 1; good < all && !exhausted(x);) {
        if (solve(x, k)) {
            good = k;
            record_chosen(x);
            if (k == all) {
                return true;
            }
            trial_rollback(x->s, before);
            k = bad <= all ? (good + bad) / 2 : (2 * k < all ? 2 * k : all);
        } else {
            bad = k;
            k = (good + bad) / 2;
        }
        if (bad <= good + 1) {
            break;
        }
    }
    return good > 0 && good < all && solve(x, all);
}

/* ---- thinning out ---- */

// 0: stays where it was, 1: moved, 2: stopped. The worst of the unit's pods.
static int unit_fate(const struct search *x, const struct victim_unit *unit)
{
    int fate = 0;
    for (uint32_t t = 0; t < unit->count; t++) {
        enum work_state state = x->s->tasks[x->unit_tasks.items[unit->first + t]].state;
        int this = state == WORK_EVICTED ? 2 : (state == WORK_PIPELINED ? 1 : 0);
        fate = this > fate ? this : fate;
    }
    return fate;
}

static bool later_core(const struct search *x, uint32_t at)
{
    const struct victim_unit *unit = &x->units.items[x->chosen.items[at]];
    for (uint32_t i = at + 1; i < x->chosen.count; i++) {
        const struct victim_unit *other = &x->units.items[x->chosen.items[i]];
        if (other->workload == unit->workload && other->core) {
            return true;
        }
    }
    return false;
}

// Pods of this trial that are stopped, and that are moved.
static void count_losses(const struct search *x, uint32_t *stopped, uint32_t *moved)
{
    *stopped = *moved = 0;
    for (uint32_t i = 0; i < x->chosen.count; i++) {
        const struct victim_unit *unit = &x->units.items[x->chosen.items[i]];
        for (uint32_t t = 0; t < unit->count; t++) {
            enum work_state state = x->s->tasks[x->unit_tasks.items[unit->first + t]].state;
            *stopped += state == WORK_EVICTED;
            *moved += state == WORK_PIPELINED;
        }
    }
}

static void leave_out(struct search *x, uint32_t at)
{
    for (uint32_t i = at; i + 1 < x->chosen.count; i++) {
        x->chosen.items[i] = x->chosen.items[i + 1];
    }
    x->chosen.count--;
}

// Leaves out units of that fate while the rest is still a solution that stops no more pods.
static void thin_out(struct search *x, struct mark before, int fate)
{
    uint32_t all = x->tasks.count;
    for (uint32_t at = x->chosen.count; at > 0 && !exhausted(x);) {
        at--;
        if (x->chosen.count < 2 || at >= x->chosen.count || later_core(x, at) ||
            unit_fate(x, &x->units.items[x->chosen.items[at]]) != fate) {
            continue;
        }
        uint32_t stopped;
        uint32_t moved;
        count_losses(x, &stopped, &moved);
        struct arena_mark mark = arena_mark(x->s->scratch);
        uint32_t count = x->chosen.count;
        uint32_t *saved = ARENA_ARRAY(x->s->scratch, uint32_t, count);
        memcpy(saved, x->chosen.items, count * sizeof(*saved));
        trial_rollback(x->s, before);
        leave_out(x, at);
        bool solved = may_be_enough(x, all) && try_scenario(x, all);
        if (solved) {
            uint32_t now_stopped;
            uint32_t now_moved;
            count_losses(x, &now_stopped, &now_moved);
            if (now_stopped > stopped || (now_stopped == stopped && now_moved > moved)) {
                trial_rollback(x->s, before);
                solved = false;
            }
        }
        if (!solved) {
            memcpy(x->chosen.items, saved, count * sizeof(*saved));
            x->chosen.count = count;
            bool again = try_scenario(x, all);
            CHECK(again); /* it was a solution before */
        }
        arena_rewind(x->s->scratch, mark);
    }
}

/* ---- one claimant ---- */

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
            uint32_t task = x->unit_tasks.items[unit->first + t];
            enum work_state state = s->tasks[task].state;
            const struct work *before = before_eviction(x, task);
            if (state == WORK_EVICTED && before->state != WORK_HELD) {
                s->workloads[unit->workload].ousted_by = x->claimant;
            }
            bool told = s->tasks[task].old.node != IX_NONE && before->state == WORK_HELD;
            if ((state != WORK_EVICTED && state != WORK_PIPELINED) || !told) {
                continue;
            }
            struct decision_evict *e = ARRAY_PUSH(s->arena, &s->out->evicts);
            e->task.ix = task;
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

static bool solve(struct search *x)
{
    struct mark before = trial_mark(x->s);
    bool solved = solve_growing(x, solve_by_node);
    // One pod on whole devices needs one node: the first generator has seen them all.
    bool by_nodes = x->tasks.count > 1 || !counts_devices(x);
    if (!solved && by_nodes && !exhausted(x)) {
        forget_units(x);
        order_restart(&x->victims);
        solved = solve_growing(x, solve_by_nodes);
    }
    if (!solved) {
        return false;
    }
    thin_out(x, before, 2);
    thin_out(x, before, 1);
    return true;
}

static void explain_unsolved(struct search *x)
{
    struct reason r;
    if (exhausted(x)) {
        x->s->out->stats.exhausted[x->s->action] = true;
        reason_init(&r, REASON_SEARCH_EXHAUSTED);
        r.bound = x->tries;
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
    if (!x->alike || w->group_count > 1 || group_of(x->s, w->group_first)->topology.ix != IX_NONE) {
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
    if (!memo_key(x, &key)) {
        return;
    }
    struct failed *f = memo_find(memo, x);
    if (!f) {
        map_put_u64(&memo->map, key, memo->rows.count);
        f = ARRAY_PUSH(x->s->arena, &memo->rows);
    } else if (x->tasks.count > f->count) {
        return;
    }
    f->count = x->tasks.count;
    f->priority = workload_of(x->s, x->claimant)->priority;
    f->reason = x->s->workloads[x->claimant].reason;
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

static void search_for(struct search *x, struct memo *memo)
{
    struct sched *s = x->s;
    struct reason why;
    reason_init(&why, REASON_NONE);
    if (delayed(x, &why) || !x->rules->may_search(x, &why)) {
        if (why.code != REASON_NONE) {
            explain_offer(s, x->claimant, &why);
        }
        return;
    }
    count_room(x);
    const struct failed *f = memo_find(memo, x);
    if (!all_feasible(x)) {
        s->out->stats.skipped[s->action]++;
        return;
    }
    if (f && f->count <= x->tasks.count && f->priority >= workload_of(s, x->claimant)->priority) {
        s->out->stats.skipped[s->action]++;
        explain_offer(s, x->claimant, &f->reason);
        return;
    }
    for (uint32_t q = 0; q < s->snap->queues.count; q++) {
        x->held[q] = s->queues[q].held;
        x->held_non_preemptible[q] = s->queues[q].held_non_preemptible;
    }
    x->tries = 0;
    x->tries_max = s->snap->config.search_tries_max;
    int64_t left = s->snap->config.action_tries_max - x->action_tries;
    x->tries_max = left < x->tries_max ? left : x->tries_max;
    x->any_victim = false;
    x->protected_victim = IX_NONE;
    s->claimant = x->claimant;
    s->out->stats.claimants[s->action]++;
    order_restart(&x->victims);
    if (solve(x)) {
        s->out->stats.solved[s->action]++;
        s->workloads[x->claimant].ousted_by = IX_NONE;
        record_evictions(x);
        allocate_settle(s);
        x->commits++;
        x->stale_order = partly_taken(x);
    } else {
        explain_unsolved(x);
        memo_add(memo, x);
    }
    x->action_tries += x->tries;
    s->out->stats.tries[s->action] += (uint64_t)x->tries;
}

static bool victim_gone(struct sched *s, uint32_t workload, void *ctx)
{
    (void)s;
    return !has_more(ctx, workload);
}

static bool victim_allowed(struct sched *s, uint32_t workload, void *ctx)
{
    struct search *x = ctx;
    if (workload == x->claimant || !has_more(x, workload) || !x->rules->victim(x, workload)) {
        return false;
    }
    int64_t until_ms = protected_until(x, workload);
    if (until_ms != TIME_NEVER && !is_elastic(s, workload)) {
        note_protected(x, workload, until_ms);
        return false;
    }
    return true;
}

static bool victim_queue_allowed(struct sched *s, uint32_t queue, void *ctx)
{
    (void)s;
    struct search *x = ctx;
    return x->rules->victim_queue(x, queue);
}

static struct amounts victim_weight(struct sched *s, uint32_t workload)
{
    const struct snap_workload *w = workload_of(s, workload);
    struct amounts sum = {{0}};
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        amounts_add(&sum, &s->tasks[t].cost);
    }
    return sum;
}

static void order_victims(struct search *x)
{
    struct sched *s = x->s;
    order_init(&x->victims, s, s->arena, true);
    x->victims.weigh = victim_weight;
    x->victims.is_gone = victim_gone;
    x->victims.allows = victim_allowed;
    x->victims.allows_queue = victim_queue_allowed;
    x->victims.ctx = x;
    x->victims.group_taken = x->group_taken;
    for (uint32_t w = 0; w < s->snap->workloads.count; w++) {
        if (workload_of(s, w)->preemptible && s->workloads[w].usable && has_more(x, w)) {
            order_add(&x->victims, w);
        }
    }
    order_ready(&x->victims, -1);
    x->stale_order = false;
}

static void init_search(struct search *x, struct sched *s, const struct search_rules *rules)
{
    const struct snapshot *snap = s->snap;
    *x = (struct search){.s = s, .rules = rules, .claimant = IX_NONE, .run = 1};
    x->held = ARENA_ARRAY(s->arena, struct amounts, snap->queues.count);
    x->held_non_preemptible = ARENA_ARRAY(s->arena, struct amounts, snap->queues.count);
    x->left = ARENA_ARRAY(s->arena, struct amounts, snap->queues.count);
    x->left_seen = ARENA_ARRAY(s->arena, uint32_t, snap->queues.count);
    x->left_involved = arena_alloc(s->arena, sizeof(*x->left_involved) * snap->queues.count);
    order_init(&x->scenario, s, s->arena, false);
    x->taken = ARENA_ARRAY(s->arena, bool, snap->tasks.count);
    x->group_taken = ARENA_ARRAY(s->arena, uint32_t, snap->groups.count);
    x->gain = ARENA_ARRAY(s->arena, int64_t, snap->nodes.count);
    x->node_freed = ARENA_ARRAY(s->arena, int64_t, snap->nodes.count);
    x->node_rank = ARENA_ARRAY(s->arena, uint32_t, snap->nodes.count);
    x->node_seen = ARENA_ARRAY(s->arena, uint32_t, snap->nodes.count);
    x->seen = ARENA_ARRAY(s->arena, uint32_t, snap->workloads.count);
    x->seen_victim = ARENA_ARRAY(s->arena, uint32_t, snap->workloads.count);
}

static bool order_claimants(struct sched *s, enum action action, struct order *order)
{
    bool any = false;
    order_init(order, s, s->arena, false);
    for (uint32_t w = 0; w < s->snap->workloads.count; w++) {
        if (s->workloads[w].usable && gang_pending(s, w) > 0 && gang_is_ready(s, w)) {
            order_add(order, w);
            any = true;
        }
    }
    order_ready(order, s->snap->config.queue_depth_max[action]);
    return any;
}

void search_run(struct sched *s, const struct search_rules *rules)
{
    struct order claimants;
    if (!order_claimants(s, rules->action, &claimants)) {
        return;
    }
    struct search x;
    init_search(&x, s, rules);
    struct memo memo = {0};
    map_init(&memo.map, s->arena);
    for (uint32_t w = order_pop(&claimants); w != IX_NONE; w = order_pop(&claimants)) {
        struct arena_mark mark = arena_mark(s->scratch);
        x.claimant = w;
        x.tasks = (struct task_list){0};
        gang_next(s, w, WORK_PENDING, s->scratch, &x.tasks);
        x.request = gang_request(s, w);
        if (x.tasks.count > 0) {
            if (x.stale_order || x.victims.s == NULL) {
                order_victims(&x);
            }
            uint32_t commits = x.commits;
            search_for(&x, &memo);
            // What other queues hold has changed too.
            for (uint32_t i = 0; x.commits > commits && i < x.chosen.count; i++) {
                order_touch(&claimants,
                            queue_of(s, x.units.items[x.chosen.items[i]].workload));
            }
            forget_units(&x);
        }
        order_touch(&claimants, queue_of(s, w));
        arena_rewind(s->scratch, mark);
    }
    s->claimant = IX_NONE;
}

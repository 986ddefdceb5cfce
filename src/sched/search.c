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

#include <string.h>

#include "base/check.h"
#include "base/sort.h"
#include "sched/budget.h"
#include "sched/fit.h"
#include "sched/gang.h"
#include "sched/moves.h"
#include "sched/quota.h"
#include "sched/victims.h"

/* ---- whether there can be enough, by count of devices ---- */

static bool counts_devices(const struct search *x)
{
    return x->alike && shape_of(x->s, x->tasks.items[0])->gpu == GPU_WHOLE;
}

// Pods of the claimant for which there are whole devices as it is now, or `enough`.
static int64_t whole_room(const struct search *x, int64_t enough)
{
    const struct sched *s = x->s;
    uint32_t each = shape_of(s, x->tasks.items[0])->device_count;
    int64_t room = 0;
    for (uint32_t k = each; k <= s->devices_most && room < enough; k++) {
        const struct node_class *set = &s->by_whole[k];
        int64_t nodes = 0;
        for (uint32_t w = class_next(s, set, 0); w < s->node_words; w = class_next(s, set, w + 1)) {
            nodes += __builtin_popcountll(x->feasible[w] & set->words[w]);
        }
        room += nodes * (k / each);
    }
    return room;
}

/* ---- trying a scenario ---- */

const struct work *search_before(const struct search *x, uint32_t task)
{
    const struct sched *s = x->s;
    for (uint32_t i = 0; i < s->ops.count; i++) {
        if (s->ops.items[i].kind == OP_EVICT && s->ops.items[i].task == task) {
            return &s->ops.items[i].before;
        }
    }
    return &s->tasks[task];
}

static bool place_claimant(struct search *x, uint32_t count)
{
    struct task_list some = {x->tasks.items, count, count};
    if (counts_devices(x) && whole_room(x, count) < count) {
        return false;
    }
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

// The claimant and the victims, as far as they find places. False: the claimant found none.
static bool place_in_turn(struct search *x, uint32_t count)
{
    struct sched *s = x->s;
    order_scenario(x);
    struct order *order = &x->scenario;
    bool started = false;
    for (uint32_t w = order_pop(order); w != IX_NONE; w = order_pop(order)) {
        if (w == x->claimant) {
            started = place_claimant(x, count);
            if (!started) {
                return false;
            }
        } else if (place_victim(x, w) && gang_evicted(s, w) > 0) {
            order_push(order, w);
            continue;
        }
        order_touch(order, queue_of(s, w));
    }
    return started;
}

// The same without turns: no victim takes the place that was meant for the claimant.
static bool place_claimant_first(struct search *x, uint32_t count)
{
    bool started = place_claimant(x, count);
    for (uint32_t i = 0; started && i < x->chosen.count; i++) {
        uint32_t workload = x->units.items[x->chosen.items[i]].workload;
        while (gang_evicted(x->s, workload) > 0 && place_victim(x, workload)) {
        }
    }
    return started;
}

// Victims that find their own places again may be what the claimant was to be away from.
static bool terms_hold(const struct search *x, struct mark before)
{
    struct sched *s = x->s;
    if (s->snap->terms.count == 0) {
        return true;
    }
    struct arena_mark memory = arena_mark(s->scratch);
    uint32_t *placed = ARENA_ARRAY(s->scratch, uint32_t, s->ops.count - before.ops);
    uint32_t count = 0;
    for (uint32_t i = before.ops; i < s->ops.count; i++) {
        uint32_t task = s->ops.items[i].task;
        if (s->ops.items[i].kind == OP_PLACE && s->tasks[task].state == WORK_PIPELINED) {
            placed[count++] = task;
        }
    }
    bool hold = fit_terms_hold(s, placed, count);
    arena_rewind(s->scratch, memory);
    return hold;
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
            trial_evict(s, x->unit_pods.items[unit->first + t].task);
        }
    }
    bool started = x->claimant_first ? place_claimant_first(x, count) : place_in_turn(x, count);
    arena_rewind(s->scratch, memory);
    if (started && terms_hold(x, before) && x->rules->acceptable(x)) {
        return true;
    }
    trial_rollback(s, before);
    return false;
}

bool search_exhausted(const struct search *x)
{
    return x->tries >= x->tries_max;
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
            uint32_t task = x->unit_pods.items[unit->first + t].task;
            uint32_t node = x->unit_pods.items[unit->first + t].node;
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

void search_count_room(struct search *x)
{
    struct sched *s = x->s;
    const struct snap_shape *p = shape_of(s, x->tasks.items[0]);
    x->feasible = fit_feasible(s, task_of(s, x->tasks.items[0])->shape.ix);
    x->alike = true;
    for (uint32_t i = 1; i < x->tasks.count && x->alike; i++) {
        x->alike = task_of(s, x->tasks.items[i])->shape.ix ==
                   task_of(s, x->tasks.items[0])->shape.ix;
    }
    x->room = p->gpu == GPU_WHOLE ? whole_room(x, INT64_MAX) : 0;
    x->room_most = x->room;
}

// The scenario is put together unit by unit; with every core one the earlier units of its workload
// come along.
static void choose_begin(struct search *x)
{
    x->chosen.count = 0;
    x->choice++;
}

static void choose(struct search *x, uint32_t unit)
{
    for (uint32_t u = unit; u != IX_NONE; u = x->units.items[u].earlier) {
        if (x->units.items[u].choice != x->choice) {
            x->units.items[u].choice = x->choice;
            *ARRAY_PUSH(x->s->brief, &x->chosen) = u;
        }
        if (!x->units.items[unit].core) {
            break;
        }
    }
}

// All units with a pod on the node, up to the one before `end`.
static void choose_on_node(struct search *x, uint32_t node, uint32_t end)
{
    for (uint32_t e = x->node_units[node]; e != 0; e = x->unit_pods.items[e - 1].next) {
        if (x->unit_pods.items[e - 1].unit < end) {
            choose(x, x->unit_pods.items[e - 1].unit);
        }
    }
}

static int by_number(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

// Whether by count of whole devices some other node has room for the pod.
static bool may_move(const struct search *x, uint32_t task, uint32_t node)
{
    struct sched *s = x->s;
    const uint64_t *feasible = fit_feasible(s, task_of(s, task)->shape.ix);
    for (uint32_t k = shape_of(s, task)->device_count; k <= s->devices_most; k++) {
        const struct node_class *set = &s->by_whole[k];
        for (uint32_t w = class_next(s, set, 0); w < s->node_words; w = class_next(s, set, w + 1)) {
            uint64_t others = w == node / 64 ? ~(UINT64_C(1) << (node % 64)) : UINT64_MAX;
            if ((feasible[w] & set->words[w] & others) != 0) {
                return true;
            }
        }
    }
    return false;
}

// A single pod on whole devices that could go nowhere else must stop, or the claimant has no more
// room than before: whether that would be acceptable is known without trying.
static bool may_be_acceptable(struct search *x, uint32_t count)
{
    const struct victim_unit *unit = &x->units.items[x->chosen.items[0]];
    const struct unit_pod *pod = &x->unit_pods.items[unit->first];
    if (x->chosen.count > 1 || unit->count > 1 || !counts_devices(x) || x->room >= count ||
        shape_of(x->s, pod->task)->gpu != GPU_WHOLE || may_move(x, pod->task, pod->node)) {
        return true;
    }
    x->all_stopped = true;
    bool acceptable = x->rules->acceptable(x);
    x->all_stopped = false;
    return acceptable;
}

static bool try_chosen(struct search *x, uint32_t count)
{
    for (uint32_t i = 0; i < x->recorded.count; i++) {
        choose(x, x->recorded.items[i]);
    }
    if (x->chosen.count == 0 || search_exhausted(x)) {
        return false;
    }
    sort_stable(x->chosen.items, x->chosen.count, sizeof(*x->chosen.items), by_number, NULL,
                x->s->scratch);
    budget_keep(x);
    if (x->chosen.count == 0 || !may_be_enough(x, count)) {
        return false;
    }
    if (!may_be_acceptable(x, count)) {
        x->tries++;
        return false;
    }
    return try_scenario(x, count);
}

/* ---- generators ---- */

// The same of a unit that is one pod, with all that was taken on its node so far. True as well when
// that cannot be told so quickly.
static bool node_may_be_enough(const struct search *x, uint32_t unit, uint32_t count)
{
    const struct victim_unit *u = &x->units.items[unit];
    if (!counts_devices(x) || x->several || x->recorded.count > 0 || unit + 1 < x->units.count) {
        return true;
    }
    uint32_t node = x->unit_pods.items[u->first].node;
    int64_t each = shape_of(x->s, x->tasks.items[0])->device_count;
    int64_t has = x->s->nodes[node].whole_later;
    bool feasible = (x->feasible[node / 64] >> (node % 64) & 1) != 0;
    return x->room + (feasible ? (has + x->gain[node]) / each - has / each : 0) >= count;
}

// Tries the nodes of one unit, by name: all that was taken up to then on that node.
static bool try_by_node(struct search *x, uint32_t unit, uint32_t count)
{
    if (!all_may_be_enough(x, count) || !node_may_be_enough(x, unit, count)) {
        return false;
    }
    const struct victim_unit newest = x->units.items[unit];
    uint32_t node = 0;
    for (;;) {
        uint32_t next = IX_NONE;
        for (uint32_t t = newest.first; t < newest.first + newest.count; t++) {
            uint32_t n = x->unit_pods.items[t].node;
            next = n >= node && n < next ? n : next;
        }
        if (next == IX_NONE) {
            return false;
        }
        struct arena_mark mark = arena_mark(x->s->scratch);
        choose_begin(x);
        choose_on_node(x, next, unit + 1);
        bool solved = try_chosen(x, count);
        arena_rewind(x->s->scratch, mark);
        if (solved) {
            return true;
        }
        node = next + 1;
    }
}

static bool solve_by_node(struct search *x, uint32_t count)
{
    choose_begin(x);
    if (x->recorded.count > 0 && try_chosen(x, count)) {
        return true;
    }
    // Units taken for an attempt with fewer pods are still there.
    for (uint32_t unit = 0; !search_exhausted(x); unit++) {
        if (unit == x->units.count && !victims_next(x)) {
            return false;
        }
        if (try_by_node(x, unit, count)) {
            return true;
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
// first; equal ones in the order in which they were met.
static uint32_t rank_nodes(struct search *x, struct node_room *nodes)
{
    int64_t each = counts_devices(x) ? shape_of(x->s, x->tasks.items[0])->device_count : 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < x->unit_nodes.count; i++) {
        uint32_t n = x->unit_nodes.items[i];
        int64_t room = x->s->nodes[n].whole_later + x->gain[n];
        if (room >= each) {
            nodes[count++] = (struct node_room){n, room};
        }
    }
    sort_stable(nodes, count, sizeof(*nodes), by_room, NULL, x->s->scratch);
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

static bool try_first_nodes(struct search *x, const struct node_room *nodes, uint32_t k,
                            uint32_t count)
{
    choose_begin(x);
    for (uint32_t i = 0; i < k; i++) {
        choose_on_node(x, nodes[i].node, x->units.count);
    }
    return try_chosen(x, count);
}

// Tries the fewest nodes that could be enough; at the end also 1, 3, 7 … more, then all.
static bool try_by_nodes(struct search *x, uint32_t count, bool at_end)
{
    struct arena_mark mark = arena_mark(x->s->scratch);
    struct node_room *nodes = ARENA_ARRAY(x->s->scratch, struct node_room, x->unit_nodes.count);
    uint32_t node_count = rank_nodes(x, nodes);
    uint32_t step = 1;
    uint32_t k = fewest_nodes(x, nodes, node_count, count);
    bool solved = k > 0 && try_first_nodes(x, nodes, k, count);
    while (at_end && !solved && k < node_count && !search_exhausted(x)) {
        k = k + step < node_count ? k + step : node_count;
        step *= 2;
        solved = try_first_nodes(x, nodes, k, count);
    }
    arena_rewind(x->s->scratch, mark);
    return solved;
}

// After a failed attempt the next one waits until there is an eighth more to choose from.
static bool solve_by_nodes(struct search *x, uint32_t count)
{
    uint32_t next = 0;
    while (victims_next(x)) {
        if (x->units.count < next || !all_may_be_enough(x, count)) {
            continue;
        }
        if (try_by_nodes(x, count, false)) {
            return true;
        }
        if (search_exhausted(x)) {
            return false;
        }
        next = x->units.count + x->units.count / 8;
    }
    return x->units.count > 0 && all_may_be_enough(x, count) && try_by_nodes(x, count, true);
}

static void record_chosen(struct search *x)
{
    x->recorded.count = 0;
    for (uint32_t i = 0; i < x->chosen.count; i++) {
        *ARRAY_PUSH(x->s->brief, &x->recorded) = x->chosen.items[i];
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
    for (uint32_t k = 1; good < all && !search_exhausted(x);) {
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
        enum work_state state = x->s->tasks[x->unit_pods.items[unit->first + t].task].state;
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
            enum work_state state = x->s->tasks[x->unit_pods.items[unit->first + t].task].state;
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

// Leaves out units of that fate while the rest is still a solution that stops no more pods. True
// when any was left out: those that could not be may be spared now, for victims find other places.
static bool thin_out(struct search *x, struct mark before, int fate)
{
    uint32_t all = x->tasks.count;
    bool any = false;
    for (uint32_t at = x->chosen.count; at > 0 && !search_exhausted(x);) {
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
        any = any || solved;
        arena_rewind(x->s->scratch, mark);
    }
    return any;
}

bool search_try_all(struct search *x)
{
    choose_begin(x);
    for (uint32_t u = 0; u < x->units.count; u++) {
        choose(x, u);
    }
    return try_chosen(x, x->tasks.count);
}

bool search_solve(struct search *x)
{
    struct mark before = trial_mark(x->s);
    x->claimant_first = false;
    bool solved = (x->rules->by_moves && x->tasks.count == 1 && moves_solve(x)) ||
                  solve_growing(x, solve_by_node);
    // One pod on whole devices needs one node: the first generator has seen them all.
    bool by_nodes = x->tasks.count > 1 || !counts_devices(x);
    if (!solved && by_nodes && !search_exhausted(x)) {
        victims_forget(x);
        order_restart(&x->victims);
        solved = solve_growing(x, solve_by_nodes);
    }
    if (!solved) {
        return false;
    }
    while (thin_out(x, before, 2) || thin_out(x, before, 1)) {
    }
    return true;
}

// SPDX-License-Identifier: Apache-2.0
// victims: running work in the order in which it is taken, unit by unit: while a workload runs more
// than it needs, one pod of what it can spare best; else the whole gang at once, since less would be
// worth nothing. The rest of a workload goes back into the order.
//
// One order serves all claimants of an action. It is sorted once; who is a victim for a claimant is
// asked when its turn comes. It is built anew only after a workload has lost some of its pods.
#include "sched/victims.h"

#include "base/check.h"
#include "sched/budget.h"
#include "sched/gang.h"

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
    bool runs; /* complete with pods that run */
};

static struct surplus *surpluses(const struct search *x, uint32_t workload)
{
    const struct snap_workload *w = workload_of(x->s, workload);
    struct surplus *all = ARENA_ARRAY(x->s->scratch, struct surplus, w->group_count);
    (void)gang_runs(x->s, workload, x->taken);
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
        u->runs = x->s->groups[w->group_first + i].runs;
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
    if (x->runs != y->runs) {
        return y->runs;
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
    if (group_of(x->s, first)->is_pod_set) {
        *one = left_in(x, first) > group_of(x->s, first)->min;
        *core = !*one;
        return first;
    }
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

static void add_pod(struct search *x, uint32_t task, uint32_t node)
{
    if (x->node_units[node] == 0) {
        *ARRAY_PUSH(x->s->brief, &x->unit_nodes) = node;
    }
    *ARRAY_PUSH(x->s->brief, &x->unit_pods) = (struct unit_pod){
        .task = task,
        .node = node,
        .unit = x->units.count - 1,
        .next = x->node_units[node],
    };
    x->node_units[node] = x->unit_pods.count;
}

// Takes the pods of the newest unit out again, as if it had not been added.
static void drop_unit(struct search *x)
{
    const struct victim_unit *unit = &x->units.items[x->units.count - 1];
    for (uint32_t i = unit->count; i > 0; i--) {
        const struct unit_pod *p = &x->unit_pods.items[unit->first + i - 1];
        x->node_units[p->node] = p->next;
        x->unit_nodes.count -= p->next == 0;
        x->taken[p->task] = false;
        x->group_taken[task_of(x->s, p->task)->group.ix]--;
        add_gain(x, p->node, -(int64_t)shape_of(x->s, p->task)->device_count);
    }
    x->unit_pods.count = unit->first;
    x->units.count--;
}

// The pod of group that goes when one is to be spared: one that does not run yet before one that
// does, or a gang would be left with less than its minimum running; else the last in their order.
static uint32_t pod_to_spare(const struct search *x, uint32_t workload, uint32_t group)
{
    const struct snap_workload *w = workload_of(x->s, workload);
    uint32_t spared = IX_NONE;
    for (uint32_t t = w->task_first + w->task_count; t > w->task_first;) {
        t--;
        if (!evictable(x, t) || !group_is_below(x->s, task_of(x->s, t)->group.ix, group)) {
            continue;
        }
        if (!state_runs(&x->s->tasks[t])) {
            return t;
        }
        spared = spared == IX_NONE ? t : spared;
    }
    return spared;
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
    struct victim_unit *unit = ARRAY_PUSH(x->s->brief, &x->units);
    bool first = x->seen_victim[workload] != x->run;
    *unit = (struct victim_unit){
        .workload = workload,
        .first = x->unit_pods.count,
        .core = core,
        .earlier = first ? IX_NONE : x->last_unit[workload],
    };
    const struct snap_workload *w = workload_of(x->s, workload);
    uint32_t spared = one ? pod_to_spare(x, workload, group) : IX_NONE;
    for (uint32_t t = w->task_first + w->task_count; t > w->task_first;) {
        t--;
        uint32_t g = task_of(x->s, t)->group.ix;
        if (!evictable(x, t) || !group_is_below(x->s, g, group) || (one && t != spared)) {
            continue;
        }
        add_pod(x, t, x->s->tasks[t].place.node);
        unit->count++;
        x->taken[t] = true;
        x->group_taken[g]++;
        add_gain(x, x->s->tasks[t].place.node, shape_of(x->s, t)->device_count);
    }
    if (unit->count == 0) {
        x->units.count--;
        return false;
    }
    if (!budget_allows(x, unit)) {
        drop_unit(x);
        return false;
    }
    x->several = x->several || unit->count > 1 || unit->earlier != IX_NONE;
    x->last_unit[workload] = x->units.count - 1;
    return true;
}

// The same of a workload that is one pod, all that is to be known of which is on its card.
static void add_lone(struct search *x, uint32_t workload, const struct order_card *card)
{
    *ARRAY_PUSH(x->s->brief, &x->units) = (struct victim_unit){
        .workload = workload,
        .first = x->unit_pods.count,
        .count = 1,
        .core = card->core,
        .earlier = IX_NONE,
    };
    add_pod(x, card->task, card->node);
    add_gain(x, card->node, card->devices);
    x->any_victim = true;
    x->victim_count++;
    if (!x->victims.counted) {
        amounts_add(&x->victims.taken[queue_of(x->s, workload)], &card->weight);
    }
}

void victims_take(struct search *x, uint32_t task)
{
    uint32_t node = x->s->tasks[task].place.node;
    *ARRAY_PUSH(x->s->arena, &x->units) = (struct victim_unit){
        .workload = task_of(x->s, task)->workload.ix,
        .first = x->unit_pods.count,
        .count = 1,
        .earlier = IX_NONE,
    };
    add_pod(x, task, node);
    add_gain(x, node, shape_of(x->s, task)->device_count);
    x->taken[task] = true;
    x->group_taken[task_of(x->s, task)->group.ix]++;
    x->any_victim = true;
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
    return x->protection_ms > 0 ? x->rules->protected_until(x, workload) : TIME_NEVER;
}

static void note_protected(struct search *x, uint32_t workload, int64_t until_ms)
{
    if (x->protected_victim == IX_NONE || until_ms < x->protected_until_ms) {
        x->protected_victim = workload;
        x->protected_until_ms = until_ms;
    }
}

// Takes the next unit from the victim order. False when there are no more.
bool victims_next(struct search *x)
{
    for (;;) {
        bool full = x->rules->victims_max >= 0 && x->victim_count >= x->rules->victims_max;
        uint32_t workload = full && x->returned == 0 ? IX_NONE : order_pop(&x->victims);
        if (workload == IX_NONE) {
            return false;
        }
        const struct order_card *card = x->victims.card;
        if (card && card->task != IX_NONE && x->lone_at_once && !full) {
            add_lone(x, workload, card);
            return true;
        }
        bool first = x->seen_victim[workload] != x->run;
        x->returned -= !first;
        if (first && full) {
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
            uint32_t task = x->unit_pods.items[unit->first + t].task;
            amounts_add(&x->victims.taken[queue], &x->s->tasks[task].cost);
        }
        if (has_more(x, workload)) {
            order_push(&x->victims, workload);
            x->returned++;
        } else {
            order_touch(&x->victims, queue);
        }
        return true;
    }
}

void victims_forget(struct search *x)
{
    for (uint32_t i = 0; i < x->unit_pods.count; i++) {
        const struct unit_pod *p = &x->unit_pods.items[i];
        if (x->taken[p->task]) {
            x->taken[p->task] = false;
            x->group_taken[task_of(x->s, p->task)->group.ix] = 0;
        }
        x->gain[p->node] = 0;
        x->node_units[p->node] = 0;
    }
    x->units.count = x->unit_pods.count = x->unit_nodes.count = 0;
    x->recorded.count = x->chosen.count = 0;
    x->victim_count = 0;
    x->returned = 0;
    x->several = false;
    x->room_most = x->room;
    x->run++;
}

/* ---- the order ---- */

static bool victim_gone(struct sched *s, uint32_t workload, void *ctx)
{
    return s->workloads[workload].promised || !has_more(ctx, workload);
}

static bool victim_stands(struct sched *s, uint32_t workload, void *ctx)
{
    struct search *x = ctx;
    return !s->workloads[workload].promised && has_more(x, workload) &&
           (!x->rules->victim || x->rules->victim(x, workload));
}

static void victim_look(struct sched *s, uint32_t workload, void *ctx, struct order_card *card)
{
    const struct snap_workload *w = workload_of(s, workload);
    card->allowed = victim_stands(s, workload, ctx);
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        if (state_is_placed(s->tasks[t].state)) {
            amounts_add(&card->weight, &s->tasks[t].cost);
            card->task = t;
        }
    }
    if (w->group_count > 1 || s->groups[w->group_first].placed != 1) {
        card->task = IX_NONE;
        return;
    }
    card->node = s->tasks[card->task].place.node;
    card->devices = shape_of(s, card->task)->device_count;
    card->core = group_of(s, w->group_first)->min > 0;
}

static bool victim_allowed(struct sched *s, uint32_t workload, void *ctx)
{
    struct search *x = ctx;
    if (workload == x->claimant || workload == x->victims.spared ||
        !victim_stands(s, workload, ctx)) {
        return false;
    }
    int64_t until_ms = protected_until(x, workload);
    if (until_ms != TIME_NEVER && !is_elastic(s, workload)) {
        note_protected(x, workload, until_ms);
        return false;
    }
    return true;
}

// Whether a minimum run time may protect it from one claimant and not from another.
static bool victim_varies(struct sched *s, uint32_t workload, void *ctx)
{
    const struct search *x = ctx;
    return search_protected_until(s, workload, x->protection_ms) != TIME_NEVER;
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

void victims_order(struct search *x)
{
    struct sched *s = x->s;
    order_init(&x->victims, s, s->brief, true);
    x->victims.weigh = victim_weight;
    x->victims.is_gone = victim_gone;
    x->victims.look = victim_look;
    x->victims.allows = victim_allowed;
    x->victims.allows_queue = x->rules->victim_queue ? victim_queue_allowed : NULL;
    x->victims.ctx = x;
    x->victims.group_taken = x->group_taken;
    for (uint32_t w = 0; w < s->snap->workloads.count; w++) {
        if (workload_of(s, w)->preemptible && s->workloads[w].usable && has_more(x, w)) {
            order_add(&x->victims, w);
        }
    }
    x->protection_ms = x->rules->longest_protection_ms ? x->rules->longest_protection_ms(s) : 0;
    x->victims.varies = x->protection_ms > 0 ? victim_varies : NULL;
    x->lone_at_once = x->protection_ms <= 0 && !x->rules->surplus_only && !s->budget_first;
    x->victims.records_all = x->lone_at_once && x->rules->victims_max < 0 &&
                             !x->rules->own_queue_only;
    order_ready(&x->victims, -1);
    x->stale_order = false;
}

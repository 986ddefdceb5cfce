// SPDX-License-Identifier: Apache-2.0
// state: counting. A pod is at a place in one of three ways: it occupies it; it occupies it and is
// leaving; it is coming to it. `idle` is what nobody occupies, `later` what will be free when all
// who leave are gone and all who come are there, so later = idle + leaving - coming. The same for
// devices. A pod may be given a place now only if it fits both.
#include "sched/state.h"

#include <string.h>

#include "base/check.h"
#include "base/num.h"
#include "sched/budget.h"
#include "sched/fairshare.h"
#include "sched/fit.h"
#include "sched/numa.h"
#include "sched/pack.h"
#include "sched/quota.h"

static enum work_state work_state_of(enum task_state state)
{
    switch (state) {
    case TASK_PENDING:
        return WORK_PENDING;
    case TASK_GATED:
        return WORK_GATED;
    case TASK_BINDING:
    case TASK_RUNNING:
        return WORK_HELD;
    case TASK_RELEASING:
        return WORK_RELEASING;
    case TASK_STUCK:
        return WORK_STUCK;
    case TASK_SUCCEEDED:
        return WORK_SUCCEEDED;
    case TASK_FAILED:
        return WORK_FAILED;
    }
    return WORK_FAILED;
}

/* ---- devices and nodes ---- */

int64_t device_take(const struct snap_shape *p, const struct device_state *d)
{
    switch (p->gpu) {
    case GPU_NONE:
        return 0;
    case GPU_WHOLE:
        return d->cap;
    case GPU_SHARE:
        return num_muldiv_floor(d->cap, p->share, DEVICE_SHARE);
    case GPU_MEMORY:
        return p->device_memory_bytes;
    }
    return 0;
}

// What a device adds to the counts of its node.
static void device_count_in(const struct device_state *d, struct node_state *n, uint32_t by)
{
    if (d->cap == 0) {
        return;
    }
    bool leaves_all = d->occupied == d->leaving && d->coming == 0;
    n->devices += by;
    n->whole_now += d->occupied == 0 && d->coming == 0 ? by : 0;
    n->whole_later += leaves_all ? by : 0;
    n->pods_shared += !leaves_all && d->occupied - d->leaving + d->coming < d->cap ? by : 0;
}

static struct node_class class_new(struct sched *s)
{
    return (struct node_class){
        .words = ARENA_ARRAY(s->arena, uint64_t, s->node_words + 1),
        .some = ARENA_ARRAY(s->arena, uint64_t, s->node_words / 64 + 1),
    };
}

static void class_set(struct node_class *c, uint32_t node, bool in)
{
    uint64_t bit = UINT64_C(1) << (node % 64);
    uint32_t word = node / 64;
    if (((c->words[word] & bit) != 0) == in) {
        return;
    }
    c->words[word] ^= bit;
    c->count = in ? c->count + 1 : c->count - 1;
    uint64_t some = UINT64_C(1) << (word % 64);
    c->some[word / 64] = (c->some[word / 64] & ~some) | (c->words[word] != 0 ? some : 0);
}

// Puts the node into the set of its number of whole devices, out of that for the number before.
static void node_index(struct sched *s, uint32_t node, uint32_t whole_before)
{
    const struct node_state *n = &s->nodes[node];
    if (n->whole_later != whole_before) {
        class_set(&s->by_whole[whole_before], node, false);
    }
    class_set(&s->by_whole[n->whole_later], node, true);
    class_set(&s->roomy, node, n->whole_later + n->pods_shared > 0);
}

// Unsigned counts going down add the complement; that wraps on purpose.
WRAPS static void device_change(struct sched *s, uint32_t device, int64_t occupied, int64_t leaving,
                                int64_t coming)
{
    struct device_state *d = &s->devices[device];
    struct node_state *n = &s->nodes[s->snap->devices.items[device].node.ix];
    struct node_state before = {0};
    struct node_state after = {0};
    device_count_in(d, &before, 1);
    s->node_stamps[s->snap->devices.items[device].node.ix]++;
    d->occupied += occupied;
    d->leaving += leaving;
    d->coming += coming;
    device_count_in(d, &after, 1);
    n->whole_now += after.whole_now - before.whole_now;
    n->whole_later += after.whole_later - before.whole_later;
    n->pods_shared += after.pods_shared - before.pods_shared;
    if (s->by_whole) {
        node_index(s, s->snap->devices.items[device].node.ix,
                   n->whole_later - after.whole_later + before.whole_later);
    }
}

void device_move_coming(struct sched *s, uint32_t from, uint32_t to, int64_t amount)
{
    device_change(s, from, 0, 0, -amount);
    device_change(s, to, 0, 0, amount);
}

void place_add(struct sched *s, uint32_t task, const struct place *place, enum presence presence,
               int sign)
{
    const struct snap_shape *p = shape_of(s, task);
    const int64_t *need = shape_state_of(s, task)->need;
    int64_t *idle = s->idle + (size_t)place->node * s->dims;
    int64_t *later = s->later + (size_t)place->node * s->dims;
    for (uint32_t d = 0; d < s->dims; d++) {
        idle[d] -= presence == PRESENCE_OCCUPIED ? sign * need[d] : 0;
        later[d] += presence == PRESENCE_LEAVING ? sign * need[d] : -sign * need[d];
    }
    s->node_stamps[place->node]++;
    if (place->zone != IX_NONE) {
        struct zone_state *z = &s->zones[place->zone];
        z->cpu_idle -= presence == PRESENCE_OCCUPIED ? sign * need[DIM_CPU] : 0;
        z->memory_idle -= presence == PRESENCE_OCCUPIED ? sign * need[DIM_MEMORY] : 0;
        z->cpu_later += presence == PRESENCE_LEAVING ? sign * need[DIM_CPU] : -sign * need[DIM_CPU];
        z->memory_later += presence == PRESENCE_LEAVING ? sign * need[DIM_MEMORY]
                                                        : -sign * need[DIM_MEMORY];
    }
    for (uint32_t h = 0; h < place->hold_count; h++) {
        uint32_t device = s->holds.items[place->hold_first + h].device.ix;
        int64_t take = sign * device_take(p, &s->devices[device]);
        device_change(s, device, presence == PRESENCE_OCCUPIED ? take : 0,
                      presence == PRESENCE_LEAVING ? take : 0,
                      presence == PRESENCE_COMING ? take : 0);
    }
}

/* ---- queues, groups, terms ---- */

void charge(struct sched *s, uint32_t workload, const struct amounts *cost, int sign)
{
    bool preemptible = workload_of(s, workload)->preemptible;
    for (uint32_t q = queue_of(s, workload); q != IX_NONE; q = s->snap->queues.items[q].parent.ix) {
        for (int r = 0; r < RES_COUNT; r++) {
            s->queues[q].held.v[r] += sign * cost->v[r];
            s->queues[q].held_non_preemptible.v[r] += preemptible ? 0 : sign * cost->v[r];
        }
    }
}

WRAPS static void group_add(struct group_state *g, enum work_state state, uint32_t by)
{
    switch (state) {
    case WORK_HELD:
    case WORK_ALLOCATED:
    case WORK_PIPELINED:
        g->placed += by;
        g->present += by;
        break;
    case WORK_EVICTED:
        g->evicted += by;
        g->present += by;
        break;
    case WORK_RELEASING:
    case WORK_STUCK:
        g->present += by;
        break;
    case WORK_PENDING:
        g->pending += by;
        break;
    case WORK_GATED:
        g->gated += by;
        break;
    case WORK_SUCCEEDED:
        g->succeeded += by;
        break;
    case WORK_FAILED:
        break;
    }
}

void group_count(struct sched *s, uint32_t task, enum work_state from, enum work_state to)
{
    const struct snap_task *t = task_of(s, task);
    struct group_state *g = &s->groups[t->group.ix];
    group_add(g, from, UINT32_MAX); /* minus one */
    group_add(g, to, 1);
    s->workloads[t->workload.ix].next_known = s->workloads[t->workload.ix].stage_known = false;
    s->workloads[t->workload.ix].kind = 0;
}

WRAPS void terms_count(struct sched *s, uint32_t task, uint32_t node, int sign)
{
    const struct snap_shape *p = shape_of(s, task);
    for (uint32_t i = 0; i < p->matches_count; i++) {
        uint32_t term = s->snap->term_refs.items[p->matches_first + i];
        uint32_t value =
            s->snap->label_keys.items[s->snap->terms.items[term].label_key].values[node];
        if (value != IX_NONE) {
            s->term_matching[s->term_first[term] + value] += (uint32_t)sign;
        }
    }
    for (uint32_t i = 0; i < p->carries_count; i++) {
        uint32_t term = s->snap->term_refs.items[p->carries_first + i];
        uint32_t value =
            s->snap->label_keys.items[s->snap->terms.items[term].label_key].values[node];
        if (value != IX_NONE) {
            s->term_carrying[s->term_first[term] + value] += (uint32_t)sign;
        }
    }
}

struct decision_evict *state_evict_record(struct sched *s, uint32_t task)
{
    uint32_t *row = &s->evict_records[task];
    if (*row == 0) {
        *ARRAY_PUSH(s->arena, &s->out->evicts) = (struct decision_evict){.task = {task}};
        *row = s->out->evicts.count;
    }
    return &s->out->evicts.items[*row - 1];
}

uint32_t state_beneficiary(const struct sched *s, uint32_t workload)
{
    for (uint32_t i = 0; i < s->snap->workloads.count && workload != IX_NONE; i++) {
        if (s->workloads[workload].ousted_by == IX_NONE) {
            break;
        }
        workload = s->workloads[workload].ousted_by;
    }
    return workload;
}

/* ---- building ---- */

static void init_nodes(struct sched *s)
{
    const struct snapshot *snap = s->snap;
    size_t cells = (size_t)s->node_count * s->dims;
    int64_t *empty = ARENA_ARRAY(s->arena, int64_t, cells);
    s->nodes = ARENA_ARRAY(s->arena, struct node_state, s->node_count);
    s->node_stamps = ARENA_ARRAY(s->arena, uint32_t, s->node_count);
    s->idle = ARENA_ARRAY(s->arena, int64_t, cells);
    s->later = ARENA_ARRAY(s->arena, int64_t, cells);
    for (uint32_t n = 0; n < s->node_count; n++) {
        const struct snap_node *node = &snap->nodes.items[n];
        int64_t *row = empty + (size_t)n * s->dims;
        row[DIM_CPU] = node->cpu_milli;
        row[DIM_MEMORY] = node->memory_bytes;
        row[DIM_PODS] = node->pods;
        for (uint32_t i = 0; i < node->extended_count; i++) {
            const struct snap_extended_amount *e =
                &snap->extended_amounts.items[node->extended_first + i];
            row[DIM_EXTENDED + e->extended] += e->amount;
        }
        s->nodes[n].usable = node->ready && node->schedulable;
        s->node_stamps[n] = 1;
    }
    if (cells > 0) {
        memcpy(s->idle, empty, cells * sizeof(*empty));
        memcpy(s->later, empty, cells * sizeof(*empty));
    }
    s->empty = empty;
    numa_init(s);
    uint32_t most = 1; /* so that there is a buffer at all */
    for (uint32_t n = 0; n < s->node_count; n++) {
        most = snap->nodes.items[n].device_count > most ? snap->nodes.items[n].device_count : most;
    }
    s->hold_buffer = ARENA_ARRAY(s->arena, struct snap_hold, most);
    s->candidate_buffer = arena_alloc(s->arena, fit_candidate_size() * most);
    s->devices = ARENA_ARRAY(s->arena, struct device_state, snap->devices.count);
    for (uint32_t d = 0; d < snap->devices.count; d++) {
        const struct snap_device *device = &snap->devices.items[d];
        if (device->healthy) {
            s->devices[d].cap = device->memory_bytes > 0 ? device->memory_bytes : DEVICE_SHARE;
            s->most_device_bytes = num_max_i64(s->most_device_bytes, device->memory_bytes);
        }
        device_count_in(&s->devices[d], &s->nodes[device->node.ix], 1);
    }
    s->devices_most = most;
}

// Once the pods are counted.
static void index_nodes(struct sched *s)
{
    s->by_whole = ARENA_ARRAY(s->arena, struct node_class, (size_t)s->devices_most + 1);
    for (uint32_t k = 0; k <= s->devices_most; k++) {
        s->by_whole[k] = class_new(s);
    }
    s->roomy = class_new(s);
    for (uint32_t n = 0; n < s->node_count; n++) {
        node_index(s, n, s->nodes[n].whole_later);
    }
}

static void init_shapes(struct sched *s)
{
    const struct snapshot *snap = s->snap;
    s->shapes = ARENA_ARRAY(s->arena, struct shape_state, snap->shapes.count);
    for (uint32_t i = 0; i < snap->shapes.count; i++) {
        const struct snap_shape *p = &snap->shapes.items[i];
        int64_t *need = ARENA_ARRAY(s->arena, int64_t, s->dims);
        need[DIM_CPU] = p->cpu_milli;
        need[DIM_MEMORY] = p->memory_bytes;
        need[DIM_PODS] = 1;
        for (uint32_t e = 0; e < p->extended_count; e++) {
            const struct snap_extended_amount *x =
                &snap->extended_amounts.items[p->extended_first + e];
            need[DIM_EXTENDED + x->extended] += x->amount;
            s->shapes[i].by_mig |= snap->extended.items[x->extended].mig_slices > 0 &&
                                   x->amount > 0;
        }
        s->shapes[i].need = need;
        s->shapes[i].request = fairshare_shape_request(snap, i, s->least_device_bytes);
        s->shapes[i].request_most = fairshare_shape_request(snap, i, s->most_device_bytes);
    }
}

static void init_terms(struct sched *s)
{
    const struct snapshot *snap = s->snap;
    uint32_t cells = 0;
    s->term_first = ARENA_ARRAY(s->arena, uint32_t, snap->terms.count + 1);
    for (uint32_t t = 0; t < snap->terms.count; t++) {
        uint32_t values = 0;
        const uint32_t *of_node = snap->label_keys.items[snap->terms.items[t].label_key].values;
        for (uint32_t n = 0; n < s->node_count; n++) {
            values = of_node[n] != IX_NONE && of_node[n] >= values ? of_node[n] + 1 : values;
        }
        s->term_first[t] = cells;
        cells += values;
    }
    s->term_first[snap->terms.count] = cells;
    s->term_matching = ARENA_ARRAY(s->arena, uint32_t, cells);
    s->term_carrying = ARENA_ARRAY(s->arena, uint32_t, cells);
}

static void init_tasks(struct sched *s)
{
    const struct snapshot *snap = s->snap;
    s->groups = ARENA_ARRAY(s->arena, struct group_state, snap->groups.count);
    s->tasks = ARENA_ARRAY(s->arena, struct work, snap->tasks.count);
    s->evict_records = ARENA_ARRAY(s->arena, uint32_t, snap->tasks.count);
    for (uint32_t i = 0; i < snap->tasks.count; i++) {
        const struct snap_task *t = &snap->tasks.items[i];
        struct work *w = &s->tasks[i];
        w->state = work_state_of(t->state);
        w->place = (struct place){IX_NONE, 0, 0, IX_NONE};
        w->old = w->place;
        group_add(&s->groups[t->group.ix], w->state, 1);
        if (w->state != WORK_HELD && w->state != WORK_RELEASING && w->state != WORK_STUCK) {
            continue;
        }
        w->place = (struct place){t->node.ix, t->hold_first, t->hold_count, numa_recorded(s, i)};
        place_add(s, i, &w->place, PRESENCE_OCCUPIED, 1);
        terms_count(s, i, t->node.ix, 1);
        if (w->state == WORK_RELEASING) {
            *ARRAY_PUSH(s->arena, &s->leaving) = i;
            place_add(s, i, &w->place, PRESENCE_LEAVING, 1);
        } else if (w->state == WORK_HELD) {
            w->cost = fairshare_task_cost(snap, t);
            charge(s, t->workload.ix, &w->cost, 1);
            s->workloads[t->workload.ix].started = true;
        }
    }
}

static void init_queues(struct sched *s)
{
    const struct snapshot *snap = s->snap;
    uint32_t count = snap->queues.count;
    struct amounts *requests = ARENA_ARRAY(s->arena, struct amounts, count);
    struct amounts *shares = ARENA_ARRAY(s->arena, struct amounts, count);
    s->queues = ARENA_ARRAY(s->arena, struct queue_state, count);
    s->total = fairshare_total(snap);
    fairshare_requests(snap, requests);
    fairshare_solve(snap, requests, s->total, shares, s->arena);
    for (uint32_t q = 0; q < count; q++) {
        s->queues[q].request = requests[q];
        s->queues[q].fair = shares[q];
        uint32_t parent = snap->queues.items[q].parent.ix;
        bool looked_through = !snap->config.full_hierarchy && parent != IX_NONE &&
                              snap->queues.items[parent].parent.ix == IX_NONE;
        s->queues[q].parent = looked_through ? IX_NONE : parent;
        if (s->queues[q].parent == IX_NONE && (parent != IX_NONE || snap->config.full_hierarchy)) {
            s->top_first = s->top_count == 0 ? q : s->top_first;
            s->top_count++;
        }
        s->queues[q].allocatable = quota_allocatable(&snap->queues.items[q], &shares[q]);
    }
}

// The snapshot's holds, and room for those of pods that wait, as far as there are devices for them.
static void init_holds(struct sched *s)
{
    const struct snapshot *snap = s->snap;
    uint32_t held = snap->holds.count;
    uint32_t free = snap->devices.count > held ? snap->devices.count - held : 0;
    uint32_t asked = 0;
    for (uint32_t t = 0; t < snap->tasks.count && asked < free; t++) {
        bool waits = snap->tasks.items[t].state == TASK_PENDING;
        asked += waits ? snap->shapes.items[snap->tasks.items[t].shape.ix].device_count : 0;
    }
    uint32_t more = asked < free ? asked : free;
    s->holds.cap = held + (more > held / 8 ? more : held / 8) + 64;
    s->holds.items = ARENA_ARRAY(s->arena, struct snap_hold, s->holds.cap);
    if (held > 0) {
        memcpy(s->holds.items, snap->holds.items, held * sizeof(*s->holds.items));
    }
    s->holds.count = held;
}

void sched_init(struct sched *s, const struct snapshot *snap, struct arena *arena,
                struct arena *scratch, struct decisions *out)
{
    *s = (struct sched){
        .snap = snap,
        .arena = arena,
        .scratch = scratch,
        .out = out,
        .node_count = snap->nodes.count,
        .node_words = (snap->nodes.count + 63) / 64,
        .claimant = IX_NONE,
        .last_started = IX_NONE,
        .dims = DIM_EXTENDED + snap->extended.count,
        .least_device_bytes = fairshare_least_memory(snap),
    };
    init_holds(s);
    s->workloads = ARENA_ARRAY(arena, struct workload_state, snap->workloads.count);
    for (uint32_t w = 0; w < snap->workloads.count; w++) {
        uint32_t q = snap->workloads.items[w].queue.ix;
        s->workloads[w].usable = q != IX_NONE && snap->queues.items[q].child_count == 0;
        s->workloads[w].ousted_by = IX_NONE;
    }
    init_nodes(s);
    init_shapes(s);
    init_terms(s);
    init_queues(s);
    init_tasks(s);
    for (uint32_t w = 0; w < snap->workloads.count; w++) {
        if (snap->workloads.items[w].checkpoint_ms > 0 && s->workloads[w].usable) {
            s->queues[snap->workloads.items[w].queue.ix].by_loss = true;
        }
    }
    budget_init(s);
    index_nodes(s);
    for (uint32_t q = 0; q < snap->queues.count; q++) {
        s->queues[q].held_first = s->queues[q].held;
    }
    if (snap->config.gpu_placement == PLACEMENT_PACK) {
        pack_init(s);
    }
}

void state_check(const struct sched *s)
{
    const struct snapshot *snap = s->snap;
    struct sched again = {.snap = NULL};
    struct decisions none = {0};
    struct arena arena;
    arena_init(&arena, 0);
    sched_init(&again, snap, &arena, &arena, &none);
    for (uint32_t i = 0; i < snap->tasks.count; i++) {
        const struct work *w = &s->tasks[i];
        struct work *start = &again.tasks[i];
        // What the pod was at the start is taken off, what it is now is put on.
        if (start->place.node != IX_NONE) {
            place_add(&again, i, &start->place, PRESENCE_OCCUPIED, -1);
            if (start->state == WORK_RELEASING) {
                place_add(&again, i, &start->place, PRESENCE_LEAVING, -1);
            }
        }
        charge(&again, snap->tasks.items[i].workload.ix, &start->cost, -1);
        again.holds.items = s->holds.items;
        charge(&again, snap->tasks.items[i].workload.ix, &w->cost, 1);
        if (w->old.node != IX_NONE) {
            place_add(&again, i, &w->old, PRESENCE_OCCUPIED, 1);
            place_add(&again, i, &w->old, PRESENCE_LEAVING, 1);
        }
        if (w->place.node != IX_NONE) {
            place_add(&again, i, &w->place,
                      w->state == WORK_PIPELINED ? PRESENCE_COMING : PRESENCE_OCCUPIED, 1);
            if (w->state == WORK_RELEASING) {
                place_add(&again, i, &w->place, PRESENCE_LEAVING, 1);
            }
        }
    }
    for (size_t c = 0; c < (size_t)s->node_count * s->dims; c++) {
        CHECK(again.idle[c] == s->idle[c]);
        CHECK(again.later[c] == s->later[c]);
    }
    for (uint32_t z = 0; z < snap->zones.count; z++) {
        CHECK(again.zones[z].cpu_idle == s->zones[z].cpu_idle);
        CHECK(again.zones[z].cpu_later == s->zones[z].cpu_later);
        CHECK(again.zones[z].memory_idle == s->zones[z].memory_idle);
        CHECK(again.zones[z].memory_later == s->zones[z].memory_later);
    }
    for (uint32_t d = 0; d < snap->devices.count; d++) {
        CHECK(again.devices[d].occupied == s->devices[d].occupied);
        CHECK(again.devices[d].leaving == s->devices[d].leaving);
        CHECK(again.devices[d].coming == s->devices[d].coming);
        CHECK(s->devices[d].cap == 0 ||
              s->devices[d].occupied - s->devices[d].leaving + s->devices[d].coming <=
                  s->devices[d].cap);
    }
    for (uint32_t n = 0; n < s->node_count; n++) {
        CHECK(again.nodes[n].whole_now == s->nodes[n].whole_now);
        CHECK(again.nodes[n].whole_later == s->nodes[n].whole_later);
        CHECK(again.nodes[n].pods_shared == s->nodes[n].pods_shared);
    }
    for (uint32_t q = 0; q < snap->queues.count; q++) {
        for (int r = 0; r < RES_COUNT; r++) {
            CHECK(again.queues[q].held.v[r] == s->queues[q].held.v[r]);
        }
    }
    arena_done(&arena);
}

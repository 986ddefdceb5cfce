// SPDX-License-Identifier: Apache-2.0
// trial: an operation changes the counts and keeps what the pod was before; undoing is the same
// change with the opposite sign and the pod put back. Devices are chosen when a pod is placed, but
// whole devices are alike: when an evicted pod can stay where it is after all, whoever was coming
// to its devices is moved to others of the node that are free by then (OP_SWAP).
#include "sched/trial.h"

#include "base/check.h"
#include "sched/budget.h"
#include "sched/fairshare.h"
#include "sched/numa.h"

struct mark trial_mark(const struct sched *s)
{
    return (struct mark){s->ops.count, s->holds.count};
}

static struct op *push_op(struct sched *s, enum op_kind kind, uint32_t task)
{
    struct op *op = ARRAY_PUSH(s->arena, &s->ops);
    op->kind = kind;
    op->task = task;
    op->before = s->tasks[task];
    return op;
}

static void set_state(struct sched *s, uint32_t task, enum work_state to)
{
    group_count(s, task, s->tasks[task].state, to);
    s->tasks[task].state = to;
}

static void apply_evict(struct sched *s, uint32_t task, int sign)
{
    struct work *w = &s->tasks[task];
    const struct place *place = sign > 0 ? &w->place : &w->old;
    place_add(s, task, place, PRESENCE_LEAVING, sign);
    terms_count(s, task, place->node, -sign);
    budget_count(s, task, sign);
}

static void presence_add(struct sched *s, uint32_t task, int sign)
{
    const struct work *w = &s->tasks[task];
    place_add(s, task, &w->place, w->state == WORK_PIPELINED ? PRESENCE_COMING : PRESENCE_OCCUPIED,
              sign);
    terms_count(s, task, w->place.node, sign);
    charge(s, task_of(s, task)->workload.ix, &w->cost, sign);
}

void trial_evict(struct sched *s, uint32_t task)
{
    struct work *w = &s->tasks[task];
    CHECK(state_is_placed(w->state));
    (void)push_op(s, OP_EVICT, task);
    if (w->state == WORK_HELD) {
        apply_evict(s, task, 1);
        charge(s, task_of(s, task)->workload.ix, &w->cost, -1);
        w->old = w->place;
    } else {
        presence_add(s, task, -1);
    }
    w->place = (struct place){IX_NONE, 0, 0, IX_NONE};
    w->cost = (struct amounts){{0}};
    set_state(s, task, WORK_EVICTED);
}

static bool same_devices(const struct sched *s, const struct place *place,
                         const struct snap_hold *holds, uint32_t count)
{
    if (place->hold_count != count) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        bool found = false;
        for (uint32_t j = 0; j < count && !found; j++) {
            found = s->holds.items[place->hold_first + i].device.ix == holds[j].device.ix;
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

// No device is sick or drained.
static bool all_open(const struct sched *s, const struct place *place)
{
    for (uint32_t h = 0; h < place->hold_count; h++) {
        if (s->devices[s->holds.items[place->hold_first + h].device.ix].cap == 0) {
            return false;
        }
    }
    return true;
}

// Whether a pod that was to leave the node may as well be left where it is.
static bool is_same_place(const struct sched *s, uint32_t task, uint32_t node,
                          const struct snap_hold *holds, uint32_t count)
{
    const struct work *w = &s->tasks[task];
    enum gpu_kind gpu = shape_of(s, task)->gpu;
    if (w->state != WORK_EVICTED || w->old.node != node) {
        return false;
    }
    return gpu == GPU_SHARE || gpu == GPU_MEMORY ? same_devices(s, &w->old, holds, count)
                                                 : all_open(s, &w->old);
}

void trial_place(struct sched *s, uint32_t task, uint32_t node, const struct snap_hold *holds,
                 uint32_t count, bool pipelined)
{
    struct work *w = &s->tasks[task];
    CHECK(w->state == WORK_PENDING || w->state == WORK_EVICTED);
    if (is_same_place(s, task, node, holds, count) && trial_stay(s, task)) {
        return;
    }
    (void)push_op(s, OP_PLACE, task);
    uint32_t first = s->holds.count;
    int64_t share = 0;
    for (uint32_t i = 0; i < count; i++) {
        *ARRAY_PUSH(s->arena, &s->holds) = holds[i];
        share += holds[i].share;
    }
    w->place = (struct place){node, first, count, numa_zone(s, task, node, holds)};
    w->cost = shape_state_of(s, task)->request;
    if (shape_of(s, task)->gpu == GPU_MEMORY) {
        w->cost.v[RES_GPU] = share;
    }
    w->action = s->action;
    set_state(s, task, pipelined ? WORK_PIPELINED : WORK_ALLOCATED);
    presence_add(s, task, 1);
}

void trial_pipeline(struct sched *s, uint32_t task)
{
    CHECK(s->tasks[task].state == WORK_ALLOCATED);
    (void)push_op(s, OP_PIPELINE, task);
    presence_add(s, task, -1);
    set_state(s, task, WORK_PIPELINED);
    presence_add(s, task, 1);
}

void trial_unplace(struct sched *s, uint32_t task)
{
    struct work *w = &s->tasks[task];
    CHECK(w->state == WORK_PIPELINED && w->old.node == IX_NONE);
    (void)push_op(s, OP_UNPLACE, task);
    presence_add(s, task, -1);
    w->place = (struct place){IX_NONE, 0, 0, IX_NONE};
    w->cost = (struct amounts){{0}};
    set_state(s, task, WORK_PENDING);
}

/* ---- staying ---- */

// A device of the node in that zone that is free later, other than those in keep.
static uint32_t free_device(const struct sched *s, uint32_t node, const struct place *keep,
                            uint32_t zone)
{
    const struct snap_node *n = &s->snap->nodes.items[node];
    for (uint32_t d = n->device_first; d < n->device_first + n->device_count; d++) {
        const struct device_state *x = &s->devices[d];
        bool kept = false;
        for (uint32_t h = 0; h < keep->hold_count && !kept; h++) {
            kept = s->holds.items[keep->hold_first + h].device.ix == d;
        }
        if (!kept && s->snap->devices.items[d].zone == zone && x->cap > 0 &&
            x->occupied == x->leaving && x->coming == 0) {
            return d;
        }
    }
    return IX_NONE;
}

// What pods placed by this trial are to take of the device.
static int64_t coming_by_trial(const struct sched *s, uint32_t device)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < s->ops.count; i++) {
        const struct op *op = &s->ops.items[i];
        const struct work *w = &s->tasks[op->task];
        bool last = op->kind == OP_PLACE && w->state == WORK_PIPELINED;
        for (uint32_t e = i + 1; last && e < s->ops.count; e++) {
            last = s->ops.items[e].kind != OP_PLACE || s->ops.items[e].task != op->task;
        }
        for (uint32_t h = 0; last && h < w->place.hold_count; h++) {
            if (s->holds.items[w->place.hold_first + h].device.ix == device) {
                sum += device_take(shape_of(s, op->task), &s->devices[device]);
            }
        }
    }
    return sum;
}

// The holds on device from of pods placed by this trial are put on device to, or back.
static void swap_device(struct sched *s, uint32_t from, uint32_t to)
{
    int64_t amount = s->devices[from].coming;
    device_move_coming(s, from, to, amount);
    for (uint32_t i = 0; i < s->ops.count; i++) {
        const struct op *op = &s->ops.items[i];
        const struct work *w = &s->tasks[op->task];
        if (op->kind != OP_PLACE || w->state != WORK_PIPELINED) {
            continue;
        }
        for (uint32_t h = 0; h < w->place.hold_count; h++) {
            struct snap_hold *hold = &s->holds.items[w->place.hold_first + h];
            if (hold->device.ix == from) {
                hold->device.ix = to;
            }
        }
    }
}

static bool make_way(struct sched *s, uint32_t task)
{
    const struct work *w = &s->tasks[task];
    const struct snap_shape *p = shape_of(s, task);
    for (uint32_t h = 0; h < w->old.hold_count; h++) {
        uint32_t device = s->holds.items[w->old.hold_first + h].device.ix;
        const struct device_state *d = &s->devices[device];
        if (d->occupied - d->leaving + d->coming + device_take(p, d) <= d->cap) {
            continue;
        }
        uint32_t other = IX_NONE;
        if (d->occupied == d->leaving) {
            other = free_device(s, w->old.node, &w->old, s->snap->devices.items[device].zone);
        }
        if (other == IX_NONE || s->devices[other].cap != d->cap ||
            coming_by_trial(s, device) != d->coming) {
            return false;
        }
        struct op *op = push_op(s, OP_SWAP, task);
        op->from_device = device;
        op->to_device = other;
        swap_device(s, device, other);
    }
    return true;
}

static bool node_has_room(const struct sched *s, uint32_t task, uint32_t node)
{
    const int64_t *need = shape_state_of(s, task)->need;
    const int64_t *later = s->later + (size_t)node * s->dims;
    for (uint32_t d = 0; d < s->dims; d++) {
        if (need[d] > 0 && need[d] > later[d]) {
            return false;
        }
    }
    return true;
}

bool trial_stay(struct sched *s, uint32_t task)
{
    struct work *w = &s->tasks[task];
    CHECK(w->old.node != IX_NONE && w->place.node == IX_NONE);
    struct mark m = trial_mark(s);
    if (!node_has_room(s, task, w->old.node) || !numa_has_room(s, task, w->old.zone) ||
        !make_way(s, task)) {
        trial_rollback(s, m);
        return false;
    }
    (void)push_op(s, OP_UNEVICT, task);
    apply_evict(s, task, -1);
    w->place = w->old;
    w->old = (struct place){IX_NONE, 0, 0, IX_NONE};
    w->cost = fairshare_task_cost(s->snap, task_of(s, task)); /* as when the cycle began */
    set_state(s, task, WORK_HELD);
    charge(s, task_of(s, task)->workload.ix, &w->cost, 1);
    return true;
}

/* ---- undo and commit ---- */

static void undo(struct sched *s, const struct op *op)
{
    uint32_t task = op->task;
    struct work *w = &s->tasks[task];
    uint32_t workload = task_of(s, task)->workload.ix;
    switch (op->kind) {
    case OP_EVICT:
        if (op->before.state == WORK_HELD) {
            apply_evict(s, task, -1);
            charge(s, workload, &op->before.cost, 1);
        } else {
            set_state(s, task, op->before.state);
            *w = op->before;
            presence_add(s, task, 1);
            return;
        }
        break;
    case OP_UNEVICT:
        charge(s, workload, &w->cost, -1);
        w->old = w->place;
        place_add(s, task, &w->old, PRESENCE_LEAVING, 1);
        terms_count(s, task, w->old.node, -1);
        budget_count(s, task, 1);
        break;
    case OP_PLACE:
        presence_add(s, task, -1);
        break;
    case OP_PIPELINE:
        presence_add(s, task, -1);
        set_state(s, task, op->before.state);
        presence_add(s, task, 1);
        break;
    case OP_UNPLACE:
        set_state(s, task, op->before.state);
        *w = op->before;
        presence_add(s, task, 1);
        return;
    case OP_SWAP:
        swap_device(s, op->to_device, op->from_device);
        return;
    }
    set_state(s, task, op->before.state);
    *w = op->before;
}

void trial_rollback(struct sched *s, struct mark m)
{
    while (s->ops.count > m.ops) {
        struct op op = s->ops.items[s->ops.count - 1];
        undo(s, &op);
        s->ops.count--;
    }
    s->holds.count = m.holds;
}

void trial_commit(struct sched *s)
{
    for (uint32_t i = 0; i < s->ops.count; i++) {
        uint32_t task = s->ops.items[i].task;
        struct work *w = &s->tasks[task];
        if (w->state == WORK_EVICTED) {
            set_state(s, task, w->old.node == IX_NONE ? WORK_PENDING : WORK_RELEASING);
            w->claimed = w->claimed && w->state != WORK_PENDING;
        }
    }
    s->ops.count = 0;
}

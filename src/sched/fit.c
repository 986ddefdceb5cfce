// SPDX-License-Identifier: Apache-2.0
// fit: three layers, the cheapest first. What does not change in a cycle (readiness, selectors,
// taints, kind of node, size of the empty node) is one bitset per shape. What changes is compared
// number by number. Devices are looked at one by one only for fractions.
#include "sched/fit.h"

#include "base/check.h"
#include "base/num.h"
#include "sched/numa.h"
#include "sched/pack.h"
#include "sched/reserve.h"

static bool asks_devices(const struct snap_shape *p)
{
    return p->gpu != GPU_NONE;
}

static bool mig_suits(const struct sched *s, uint32_t shape, const struct snap_node *node)
{
    const struct snap_shape *p = &s->snap->shapes.items[shape];
    switch (node->mig) {
    case MIG_NONE:
        return true; /* has no MIG instances to ask for */
    case MIG_SINGLE:
        return !s->shapes[shape].by_mig && (p->gpu == GPU_NONE || p->gpu == GPU_WHOLE);
    case MIG_MIXED:
        return !asks_devices(p);
    }
    return false;
}

// Devices of the node of which an empty one would do, healthy or not.
static uint32_t devices_suited(const struct sched *s, const struct snap_shape *p, uint32_t node,
                               bool healthy)
{
    const struct snap_node *n = &s->snap->nodes.items[node];
    uint32_t count = 0;
    for (uint32_t d = n->device_first; d < n->device_first + n->device_count; d++) {
        const struct snap_device *device = &s->snap->devices.items[d];
        count += (!healthy || device->healthy) &&
                 (p->gpu != GPU_MEMORY || device->memory_bytes >= p->device_memory_bytes);
    }
    return count;
}

// The first lasting cause against the node, FITS when an empty one would do.
static enum node_reason lasting_reason(const struct sched *s, uint32_t shape, uint32_t node)
{
    const struct snap_shape *p = &s->snap->shapes.items[shape];
    const struct snap_node *n = &s->snap->nodes.items[node];
    if (!n->ready) {
        return NODE_REASON_NOT_READY;
    }
    if (!n->schedulable) {
        return NODE_REASON_CORDONED;
    }
    if (!fit_in_set(s, p->selected_set, node)) {
        return NODE_REASON_SELECTOR;
    }
    if (!fit_in_set(s, p->tolerated_set, node)) {
        return NODE_REASON_TAINT;
    }
    if (!mig_suits(s, shape, n)) {
        return NODE_REASON_MIG_STRATEGY;
    }
    if (asks_devices(p)) {
        if (n->device_count == 0) {
            return NODE_REASON_NO_DEVICES;
        }
        if (n->no_fractions && p->gpu != GPU_WHOLE) {
            return NODE_REASON_NO_FRACTIONS;
        }
        if (p->gpu == GPU_MEMORY && devices_suited(s, p, node, false) == 0) {
            return NODE_REASON_DEVICES_SMALL;
        }
        if (devices_suited(s, p, node, true) < p->device_count) {
            return devices_suited(s, p, node, false) < p->device_count ? NODE_REASON_TOO_SMALL
                                                                       : NODE_REASON_DEVICES_SICK;
        }
    }
    const int64_t *need = s->shapes[shape].need;
    for (uint32_t d = 0; d < s->dims; d++) {
        if (need[d] > 0 && need[d] > s->empty[(size_t)node * s->dims + d]) {
            return NODE_REASON_TOO_SMALL;
        }
    }
    return numa_suits(s, shape, node) ? NODE_REASON_FITS : NODE_REASON_NUMA;
}

const uint64_t *fit_feasible(struct sched *s, uint32_t shape)
{
    struct shape_state *p = &s->shapes[shape];
    if (!p->feasible) {
        uint64_t *words = ARENA_ARRAY(s->arena, uint64_t, s->node_words + 1);
        for (uint32_t n = 0; n < s->node_count; n++) {
            if (lasting_reason(s, shape, n) == NODE_REASON_FITS) {
                words[n / 64] |= UINT64_C(1) << (n % 64);
                p->feasible_count++;
            }
        }
        p->feasible = words;
    }
    return p->feasible;
}

/* ---- devices ---- */

static bool device_leaves_all(const struct device_state *d)
{
    return d->occupied == d->leaving && d->coming == 0;
}

static enum fit fit_fraction(const struct sched *s, const struct snap_shape *p, uint32_t node)
{
    const struct snap_node *n = &s->snap->nodes.items[node];
    uint32_t now = 0;
    uint32_t later = 0;
    for (uint32_t i = n->device_first; i < n->device_first + n->device_count; i++) {
        const struct device_state *d = &s->devices[i];
        int64_t take = device_take(p, d);
        if (d->cap > 0 && take <= device_free_later(d)) {
            later++;
            now += take <= device_free_now(d);
        }
    }
    return later < p->device_count ? FIT_NO : (now < p->device_count ? FIT_LATER : FIT_NOW);
}

static enum fit fit_gpu(const struct sched *s, const struct snap_shape *p, uint32_t node)
{
    switch (p->gpu) {
    case GPU_NONE:
        return FIT_NOW;
    case GPU_WHOLE:
        if (s->nodes[node].whole_later < p->device_count) {
            return FIT_NO;
        }
        return s->nodes[node].whole_now < p->device_count ? FIT_LATER : FIT_NOW;
    case GPU_SHARE:
    case GPU_MEMORY:
        return fit_fraction(s, p, node);
    }
    return FIT_NO;
}

bool fit_shares(const struct sched *s, uint32_t task, uint32_t node)
{
    const struct snap_shape *p = shape_of(s, task);
    const struct snap_node *n = &s->snap->nodes.items[node];
    for (uint32_t i = n->device_first; i < n->device_first + n->device_count; i++) {
        const struct device_state *d = &s->devices[i];
        if (d->cap > 0 && !device_leaves_all(d) && device_take(p, d) <= device_free_later(d)) {
            return true;
        }
    }
    return false;
}

struct candidate {
    uint32_t device;
    int64_t used, cap; /* share of it in use: used / cap */
    int64_t cost;      /* in a pool that is packed, of a fraction */
    bool now, own;
};

size_t fit_candidate_size(void)
{
    return sizeof(struct candidate);
}

// Whether a is taken before b.
static bool candidate_before(const struct sched *s, const struct candidate *a,
                             const struct candidate *b)
{
    if (a->cost != b->cost) {
        return a->now != b->now ? a->now : a->cost < b->cost;
    }
    int d = num_cmp_frac(a->used, a->cap, b->used, b->cap);
    if (d != 0) {
        return s->snap->config.device_order == DEVICE_PACK ? d > 0 : d < 0;
    }
    if (a->own != b->own) {
        return a->own;
    }
    return a->now && !b->now;
}

static bool held_before(const struct sched *s, uint32_t task, uint32_t device)
{
    const struct place *old = &s->tasks[task].old;
    for (uint32_t h = 0; old->node != IX_NONE && h < old->hold_count; h++) {
        if (s->holds.items[old->hold_first + h].device.ix == device) {
            return true;
        }
    }
    return false;
}

static int64_t device_share(const struct snap_shape *p, const struct device_state *d)
{
    switch (p->gpu) {
    case GPU_NONE:
    case GPU_WHOLE:
        return DEVICE_SHARE;
    case GPU_SHARE:
        return p->share;
    case GPU_MEMORY:
        return num_muldiv_ceil(p->device_memory_bytes, DEVICE_SHARE, d->cap);
    }
    return DEVICE_SHARE;
}

bool fit_devices(const struct sched *s, uint32_t task, uint32_t node, struct snap_hold *holds)
{
    const struct snap_shape *p = shape_of(s, task);
    const struct snap_node *n = &s->snap->nodes.items[node];
    struct candidate *best = s->candidate_buffer;
    uint32_t count = 0; /* kept in order, at most device_count of them */
    enum fit unused;
    uint32_t zone = numa_asks(s, task, node) ? numa_pick(s, task, node, &unused) : IX_NONE;
    for (uint32_t i = n->device_first; p->device_count > 0 && i < n->device_first + n->device_count;
         i++) {
        const struct device_state *d = &s->devices[i];
        int64_t take = device_take(p, d);
        if (d->cap == 0 || take > device_free_later(d) ||
            (zone != IX_NONE && n->zone_first + s->snap->devices.items[i].zone != zone)) {
            continue;
        }
        struct candidate c = {i,
                              d->occupied + d->coming,
                              d->cap,
                              s->pack && p->gpu != GPU_WHOLE ? pack_device_cost(s, task, i) : 0,
                              take <= device_free_now(d),
                              held_before(s, task, i)};
        if (device_leaves_all(d)) {
            c.used = 0; /* as good as fresh */
        }
        uint32_t at = count < p->device_count ? count : p->device_count - 1;
        if (count == p->device_count && !candidate_before(s, &c, &best[at])) {
            continue;
        }
        count = count < p->device_count ? count + 1 : count;
        while (at > 0 && candidate_before(s, &c, &best[at - 1])) {
            best[at] = best[at - 1];
            at--;
        }
        best[at] = c;
    }
    CHECK(count == p->device_count); /* fit_node said so */
    bool now = true;
    for (uint32_t i = 0; i < count; i++) {
        const struct device_state *d = &s->devices[best[i].device];
        holds[i] = (struct snap_hold){
            .device = {best[i].device},
            .share = device_share(p, d),
            .bytes = p->gpu == GPU_MEMORY ? p->device_memory_bytes : 0,
        };
        now = now && best[i].now;
    }
    return now;
}

bool fit_free_now(const struct sched *s, uint32_t task, const struct snap_hold *holds)
{
    const struct snap_shape *p = shape_of(s, task);
    for (uint32_t h = 0; h < p->device_count; h++) {
        const struct device_state *d = &s->devices[holds[h].device.ix];
        if (d->cap == 0 || device_take(p, d) > device_free_now(d)) {
            return false;
        }
    }
    return true;
}

/* ---- everything ---- */

static bool matches(const struct sched *s, uint32_t task, uint32_t term)
{
    const struct snap_shape *p = shape_of(s, task);
    for (uint32_t m = 0; m < p->matches_count; m++) {
        if (s->snap->term_refs.items[p->matches_first + m] == term) {
            return true;
        }
    }
    return false;
}

bool fit_terms(const struct sched *s, uint32_t task, uint32_t node, bool *anti)
{
    const struct snapshot *snap = s->snap;
    const struct snap_shape *p = shape_of(s, task);
    for (uint32_t i = 0; i < p->carries_count; i++) {
        uint32_t term = snap->term_refs.items[p->carries_first + i];
        const struct snap_term *t = &snap->terms.items[term];
        uint32_t value = snap->label_keys.items[t->label_key].values[node];
        uint32_t first = s->term_first[term];
        uint32_t there = value == IX_NONE ? 0 : s->term_matching[first + value];
        bool fits = t->anti ? there == 0 : there > 0;
        if (!fits && !t->anti && value != IX_NONE) {
            // The first of a set that wants to be together may start anywhere.
            bool nobody = true;
            for (uint32_t v = first; v < s->term_first[term + 1] && nobody; v++) {
                nobody = s->term_matching[v] == 0;
            }
            fits = nobody && matches(s, task, term);
        }
        if (!fits) {
            *anti = t->anti;
            return false;
        }
    }
    for (uint32_t i = 0; i < p->matches_count; i++) {
        uint32_t term = snap->term_refs.items[p->matches_first + i];
        const struct snap_term *t = &snap->terms.items[term];
        uint32_t value = snap->label_keys.items[t->label_key].values[node];
        if (t->anti && value != IX_NONE && s->term_carrying[s->term_first[term] + value] > 0) {
            *anti = true;
            return false;
        }
    }
    return true;
}

static uint32_t value_there(const struct sched *s, uint32_t term, uint32_t task)
{
    return s->snap->label_keys.items[s->snap->terms.items[term].label_key]
        .values[s->tasks[task].place.node];
}

// Whether all of the set of the term is where the pod is, or one of it that none of tasks is.
static bool is_together(const struct sched *s, uint32_t term, uint32_t task, const uint32_t *tasks,
                        uint32_t count)
{
    uint32_t value = value_there(s, term, task);
    uint32_t there = s->term_matching[s->term_first[term] + value];
    uint32_t all = 0;
    for (uint32_t v = s->term_first[term]; v < s->term_first[term + 1]; v++) {
        all += s->term_matching[v];
    }
    if (there == all) {
        return true;
    }
    for (uint32_t i = 0; i < count; i++) {
        there -= value_there(s, term, tasks[i]) == value && matches(s, tasks[i], term);
    }
    return there > 0;
}

bool fit_terms_hold(const struct sched *s, const uint32_t *tasks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct snap_shape *p = shape_of(s, tasks[i]);
        for (uint32_t c = 0; c < p->carries_count; c++) {
            uint32_t term = s->snap->term_refs.items[p->carries_first + c];
            if (!s->snap->terms.items[term].anti && matches(s, tasks[i], term) &&
                !is_together(s, term, tasks[i], tasks, count)) {
                return false;
            }
        }
    }
    return true;
}

enum fit fit_node(const struct sched *s, uint32_t task, uint32_t node)
{
    const struct snap_shape *p = shape_of(s, task);
    const int64_t *need = shape_state_of(s, task)->need;
    const int64_t *idle = s->idle + (size_t)node * s->dims;
    const int64_t *later = s->later + (size_t)node * s->dims;
    enum fit fit = FIT_NOW;
    for (uint32_t d = 0; d < s->dims; d++) {
        if (need[d] == 0) {
            continue;
        }
        if (need[d] > later[d]) {
            return FIT_NO;
        }
        if (need[d] > idle[d]) {
            fit = FIT_LATER;
        }
    }
    enum fit gpu = fit_gpu(s, p, node);
    bool anti;
    if (gpu == FIT_NO ||
        ((p->carries_count > 0 || p->matches_count > 0) && !fit_terms(s, task, node, &anti))) {
        return FIT_NO;
    }
    fit = gpu < fit ? gpu : fit;
    if (numa_asks(s, task, node)) {
        enum fit zone;
        (void)numa_pick(s, task, node, &zone);
        fit = zone < fit ? zone : fit;
    }
    return fit;
}

/* ---- causes ---- */

static enum node_reason devices_reason(const struct sched *s, const struct snap_shape *p,
                                       uint32_t node)
{
    const struct snap_node *n = &s->snap->nodes.items[node];
    int64_t free = 0;
    int64_t wanted = 0;
    for (uint32_t i = n->device_first; i < n->device_first + n->device_count; i++) {
        const struct device_state *d = &s->devices[i];
        if (d->cap > 0) {
            free += device_free_later(d);
            wanted = device_take(p, d) * p->device_count;
        }
    }
    return free >= wanted ? NODE_REASON_DEVICES_SPLIT : NODE_REASON_DEVICES;
}

enum node_reason fit_reason(struct sched *s, uint32_t task, uint32_t node)
{
    static const enum node_reason of_dim[] = {NODE_REASON_CPU, NODE_REASON_MEMORY,
                                              NODE_REASON_PODS};
    uint32_t shape = task_of(s, task)->shape.ix;
    enum node_reason lasting = lasting_reason(s, shape, node);
    if (lasting != NODE_REASON_FITS) {
        return lasting;
    }
    const int64_t *need = s->shapes[shape].need;
    const int64_t *later = s->later + (size_t)node * s->dims;
    // Pods, then CPU, memory, the rest.
    if (need[DIM_PODS] > later[DIM_PODS]) {
        return NODE_REASON_PODS;
    }
    for (uint32_t d = 0; d < s->dims; d++) {
        if (need[d] > 0 && need[d] > later[d]) {
            return d < DIM_EXTENDED ? of_dim[d] : NODE_REASON_EXTENDED;
        }
    }
    if (fit_gpu(s, shape_of(s, task), node) == FIT_NO) {
        return devices_reason(s, shape_of(s, task), node);
    }
    bool anti;
    if (!fit_terms(s, task, node, &anti)) {
        return anti ? NODE_REASON_ANTI_AFFINITY : NODE_REASON_AFFINITY;
    }
    enum fit zone;
    if (numa_asks(s, task, node) && numa_pick(s, task, node, &zone) == IX_NONE) {
        return NODE_REASON_NUMA;
    }
    if (reserve_bars(s, task, node)) {
        return NODE_REASON_KEPT;
    }
    return NODE_REASON_FITS;
}

void fit_histogram(struct sched *s, uint32_t task, struct reason *why)
{
    why->has_nodes = true;
    for (uint32_t n = 0; n < s->node_count; n++) {
        why->nodes[fit_reason(s, task, n)]++;
    }
}

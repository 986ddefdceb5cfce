// SPDX-License-Identifier: Apache-2.0
// fit: whether a node does for a pod, now or once what is releasing is gone. Internal to sched/.
#pragma once

#include "sched/state.h"

/* fit_feasible gives the nodes that would do for the shape if they were empty: one bit a node,
 * worked out once per shape. */
const uint64_t *fit_feasible(struct sched *s, uint32_t shape);

/* What of a device is free once what leaves is gone; and now, not promised to one who comes. */
static inline int64_t device_free_later(const struct device_state *d)
{
    return d->cap - d->occupied + d->leaving - d->coming;
}
static inline int64_t device_free_now(const struct device_state *d)
{
    int64_t now = d->cap - d->occupied;
    int64_t later = device_free_later(d);
    return now < later ? now : later;
}

/* Whether the node is in the snapshot's set of nodes; IX_NONE has all. */
static inline bool fit_in_set(const struct sched *s, uint32_t set, uint32_t node)
{
    return set == IX_NONE ||
           (s->snap->node_sets.items[set].words[node / 64] >> (node % 64) & 1) != 0;
}

enum fit { FIT_NO, FIT_LATER, FIT_NOW };
/* fit_node: amounts, devices and inter-pod terms of a feasible node. */
enum fit fit_node(const struct sched *s, uint32_t task, uint32_t node);
/* fit_terms: the inter-pod terms alone. */
bool fit_terms(const struct sched *s, uint32_t task, uint32_t node, bool *anti);
/* fit_terms_hold: the pods, placed by one trial, can start where they are: none was put there as
 * the first of a set that wants to be together, while others of it run elsewhere after all. */
bool fit_terms_hold(const struct sched *s, const uint32_t *tasks, uint32_t count);
/* fit_reason: the first cause why the node does not do for the pod now or later. */
enum node_reason fit_reason(struct sched *s, uint32_t task, uint32_t node);
/* fit_histogram fills why->nodes over all nodes of the pool. */
void fit_histogram(struct sched *s, uint32_t task, struct reason *why);
/* Whether a fraction may join a partly used device of the node. */
bool fit_shares(const struct sched *s, uint32_t task, uint32_t node);

/* fit_devices chooses the devices for the pod on a node it fits: holds[device_count] is filled, and
 * whether all of them are free now is told. Whole devices: free ones first, then by ordinal.
 * Fractions: shared devices by the configured order, fresh ones after (pack) or before (spread); in
 * a pool whose placement is to pack, those free now first, then where it costs least. */
bool fit_devices(const struct sched *s, uint32_t task, uint32_t node, struct snap_hold *holds);

/* fit_free_now: whether the pod may have these very devices, as many as it asks for, now. */
bool fit_free_now(const struct sched *s, uint32_t task, const struct snap_hold *holds);

size_t fit_candidate_size(void); /* bytes of sched.candidate_buffer per device */

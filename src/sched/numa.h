// SPDX-License-Identifier: Apache-2.0
// numa: pods that want all they use from one NUMA zone of their node (kai.md 5.5, single-numa-node).
// Internal to sched/.
#pragma once

#include "sched/fit.h"

/* numa_init counts what the zones have; nobody is in them yet. */
void numa_init(struct sched *s);
/* The zone in which the pod held its place when the cycle began; IX_NONE: in no single one. */
uint32_t numa_recorded(const struct sched *s, uint32_t task);

/* numa_asks: whether the zones of the node matter to the pod. */
static inline bool numa_asks(const struct sched *s, uint32_t task, uint32_t node)
{
    return shape_of(s, task)->single_numa && s->snap->nodes.items[node].zone_count > 0;
}
/* numa_suits: whether some zone of the empty node would do for the shape. */
bool numa_suits(const struct sched *s, uint32_t shape, uint32_t node);
/* numa_pick gives the first zone that does now, else the first that does later, else IX_NONE; *fit
 * says which. For a pod that asks. */
uint32_t numa_pick(const struct sched *s, uint32_t task, uint32_t node, enum fit *fit);
/* numa_zone: the zone of the node that the pod is in with the devices holds[]; IX_NONE when it does
 * not ask. */
uint32_t numa_zone(const struct sched *s, uint32_t task, uint32_t node,
                   const struct snap_hold *holds);
/* numa_has_room: whether the CPU and memory of the pod are there later; zone IX_NONE: yes. */
bool numa_has_room(const struct sched *s, uint32_t task, uint32_t zone);

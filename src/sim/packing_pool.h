// SPDX-License-Identifier: Apache-2.0
// packing_pool: a trace's cluster as a snapshot, and its tasks as workloads of one pod in it.
#pragma once

#include "model/snapshot.h"
#include "sim/packing_trace.h"

/* packing_draw gives the next number of splitmix64, which the order of arrivals is defined by. */
uint64_t packing_draw(uint64_t *state);

/* packing_pool_init makes an empty pool of the trace's nodes that places by `placement`, with one
 * queue without limits. Nodes, devices and shapes are numbered as in the trace. */
void packing_pool_init(struct snapshot *snap, const struct packing_trace *trace,
                       enum placement placement, struct arena *arena);
/* packing_pool_add adds the arrival with that number, a pod of a task's shape: not to be scheduled
 * yet. Arrivals must come in the order of their numbers. The pod is there to be changed before
 * snapshot_canonicalise; its tag is the number. */
struct snap_task *packing_pool_add(struct snapshot *snap, uint32_t arrival, uint32_t shape,
                                   struct arena *arena);

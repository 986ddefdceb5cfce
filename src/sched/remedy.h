// SPDX-License-Identifier: Apache-2.0
// remedy: what is the smallest change that would start a workload that waits? Changes are tried one
// by one, each on a copy of the snapshot on which a whole cycle is then run, so that an answer is
// true by construction: made to the world, the change has the next cycle start the workload.
//
// Smallest means: first by kind, in the order of REMEDIES: what nobody has to do anything for (time
// passes: declared ends, minimum run times and delays run out); what its owner can give up without
// asking for less (being non-preemptible, one constraint) or say (a higher priority); then asking
// for less; then more rights for one queue, or for it and those above it alike; then nodes; at last
// the work of others. Within a kind by amount, in steps: a device, a hundredth of a device, 100
// millicores, 128 MiB of memory or device memory, a member. For amounts with more than 8 steps the
// smallest is found by bisection: the step below it is not enough (one far below may be, where
// more for a queue lets others of it in first). Nodes are taken by how many devices
// would be freed, then in their order; workloads by the devices they hold, the newest of equals first.
#pragma once

#include "base/arena.h"
#include "model/remedy.h"
#include "model/snapshot.h"

/* remedy_find looks for the smallest change that has one cycle of actions_mask on snap (canonical,
 * not changed) give the workload the places of its minimum or, where that runs, of one more pod;
 * free places, or such that others are stopped for. No more than trials_max (> 0) cycles are run.
 * *out and what it refers to live in arena. Deterministic; costs what the cycles cost. */
void remedy_find(struct arena *arena, const struct snapshot *snap, uint32_t workload,
                 uint32_t actions_mask, uint32_t trials_max, struct remedy *out);

/* remedy_apply makes *out the snapshot with the change r (of remedy_find, for that workload) made.
 * Tables that do not change are shared with snap. Canonical but for shapes that may be equal. */
void remedy_apply(const struct snapshot *snap, uint32_t workload, const struct remedy *r,
                  struct arena *arena, struct snapshot *out);

/* When a workload that runs ends as it declared; TIME_NEVER: not declared, or overdue. */
int64_t remedy_declared_end(const struct snapshot *snap, uint32_t workload);

// SPDX-License-Identifier: Apache-2.0
// churn: how much of what is asked for a cluster has to turn away, when work comes and goes. As many
// tasks are there on average as ask for 95 % of the devices; each arrives, is placed at once or
// dropped, and leaves after a while.
#pragma once

#include "model/snapshot.h"
#include "sim/packing_trace.h"

/* Of the second half of the arrivals; before, the cluster fills. */
struct churn_result {
    uint32_t arrivals, lost; /* lost: found no place */
    uint32_t moves;          /* pods moved to make room */
    int64_t asked_milli, lost_milli;
    int64_t allocated_milli; /* summed up after each arrival */
};

/* churn_run plays it for the seed. L is how many draws (packing_pool.h) it takes to ask for 95 % of
 * the devices; 4 L tasks arrive. Each draws its task and then its life, 1 + the next number modulo
 * 2 L: before so many more arrivals it leaves, placed or not. With `consolidate` a task that finds no
 * place has a cycle of its own, with the actions allocate and consolidation, over the pods that
 * are there; what that moves is moved at once. Memory in arena and scratch. */
void churn_run(const struct packing_trace *trace, uint64_t seed, enum placement placement,
               bool consolidate, struct arena *arena, struct arena *scratch,
               struct churn_result *out);

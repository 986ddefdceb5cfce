// SPDX-License-Identifier: Apache-2.0
// cycle_bench: what one measured cycle came to, as numbers that can be compared: what it decided, and
// the middle of what several runs took.
#pragma once

#include "model/decision.h"

struct cycle_outcome {
    uint32_t placed;    /* pods given a place that is free now */
    uint32_t pipelined; /* given one that is being released; moved pods among them */
    uint32_t evicted;   /* told to stop; moved ones among them */
    uint32_t moved;
    uint64_t digest;         /* of all placements, evictions, claims and shares */
    uint64_t reasons_digest; /* of all reasons and places in the queues */
};

/* cycle_outcome_of sums up the decisions on snap. Equal decisions give equal numbers, on every
 * machine. O(decisions + workloads + queues). */
struct cycle_outcome cycle_outcome_of(const struct snapshot *snap, const struct decisions *d);

/* cycle_median gives the middle of values[count], the lower one of two; sorts them. 0 of none. */
int64_t cycle_median(int64_t *values, uint32_t count);

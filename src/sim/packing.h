// SPDX-License-Identifier: Apache-2.0
// packing: how much of a cluster's devices a placement policy gets used. Tasks drawn from a trace, in
// a fixed order for a seed, arrive one by one and are placed at once or dropped, until what has been
// asked for passes 130 % of the devices (workload inflation: Weng et al., USENIX ATC 2023). The
// scheduler's own code places them, on one state that lives on (sched/live.h).
#pragma once

#include "sched/live.h"
#include "sim/packing_trace.h"

enum { PACKING_MARKS = 6 };
extern const int64_t packing_marks[PACKING_MARKS]; /* percent of capacity asked for */

struct packing_result {
    uint32_t drawn, placed;
    int64_t asked_milli, allocated_milli;      /* at the end */
    int64_t allocated_at_milli[PACKING_MARKS]; /* once the mark is reached */
};

/* A replay that is ready to run. */
struct packing {
    const struct packing_trace *trace;
    uint32_t *drawn; /* [drawn_count] tasks, in the order of arrival */
    uint32_t drawn_count;
    struct snapshot snap;
    struct live live;
};

/* packing_prepare draws the arrivals for the seed (a task is splitmix64 modulo their number) and
 * builds an empty pool that places by `placement`. Everything lives in arena. */
void packing_prepare(struct packing *p, const struct packing_trace *trace, uint64_t seed,
                     enum placement placement, struct arena *arena, struct arena *scratch);
/* packing_run lets them all arrive. Once for each packing_prepare. */
void packing_run(struct packing *p, struct packing_result *out);

// SPDX-License-Identifier: Apache-2.0
// pack: placement that leaves what is still free as usable as it can be to what the pool is asked
// for. A place costs what it makes unusable. Internal to sched/; there where the pool's gpu_placement
// is PLACEMENT_PACK.
#pragma once

#include "sched/state.h"

/* What it costs to put pods of one shape on each node. */
struct pack_cell {
    int64_t cost;   /* INT64_MAX: CPU or devices do not suffice */
    uint32_t stamp; /* of the node, when that was worked out; 0: never */
};
struct pack_row {
    uint32_t class; /* IX_NONE: nobody's */
    struct pack_cell *cells;
};

/* pack_init makes s->pack for the pods that are there. */
void pack_init(struct sched *s);
/* pack_recount looks at the pods anew: what they ask for is what pack places for. A cycle does so
 * once, when it begins. O(pods). */
void pack_recount(struct sched *s);

/* The row of the pod's shape. Good until the next call with another pod. */
struct pack_row *pack_row(struct sched *s, uint32_t task);
/* pack_work_out fills in the cell of the node. */
void pack_work_out(struct sched *s, struct pack_row *row, uint32_t node);
/* pack_cost gives what it costs to put such a pod on the node, on the best of its devices; less is
 * better. INT64_MAX: CPU or devices do not suffice, now or later. */
static inline int64_t pack_cost(struct sched *s, struct pack_row *row, uint32_t node)
{
    if (row->cells[node].stamp != s->node_stamps[node]) {
        pack_work_out(s, row, node);
    }
    return row->cells[node].cost;
}
/* pack_device_cost: the same for a fraction on that very device, on which it fits. */
int64_t pack_device_cost(const struct sched *s, uint32_t task, uint32_t device);

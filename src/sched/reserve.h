// SPDX-License-Identifier: Apache-2.0
// reserve: ageing: the workload that has waited longest, beyond the bound of the pool, is kept a
// place on which work placed later does not delay it. Internal to sched/.
#pragma once

#include "sched/state.h"

/* reserve_find makes the reservation of this cycle, if anybody is due one. Before allocating. */
void reserve_find(struct sched *s);
/* reserve_settle ends it once its workload has its place. */
void reserve_settle(struct sched *s);
/* reserve_claimant notes whether s->claimant, which begins to search and asks for request, is kept off
 * the nodes: then nobody moves there for it either. */
void reserve_claimant(struct sched *s, const struct amounts *request);
/* reserve_explain tells the workload that waits for it. After allocating. */
void reserve_explain(struct sched *s);
/* reserve_reason: whether the pod would fit a node but for the reservation; *why says so. */
bool reserve_reason(struct sched *s, uint32_t task, struct reason *why);

bool reserve_bars_task(struct sched *s, uint32_t task, uint32_t node);
/* reserve_bars: whether the pod may not be placed on the node, for it is reserved for another. */
static inline bool reserve_bars(struct sched *s, uint32_t task, uint32_t node)
{
    return s->reserve.nodes && (s->reserve.nodes[node / 64] >> (node % 64) & 1) != 0 &&
           reserve_bars_task(s, task, node);
}

// SPDX-License-Identifier: Apache-2.0
// waiting: the workloads with pods to place, queue by queue in the order of their turn. Internal to
// sched/.
#pragma once

#include "sched/state.h"

/* waiting_find fills in s->waiting, once the pods are counted: usable workloads with pending pods.
 * None joins them later in the cycle. Twins among them are told (workload_state.kind). */
void waiting_find(struct sched *s);
/* waiting_sort puts the runs of all queues in the order of turns again, after places were given or
 * taken. O(n) when nothing has changed. */
void waiting_sort(struct sched *s);

/* Twins ask for the same, in the same queue, with the same rights, and none of their pods has a
 * place: what is found out for one in some state of the cycle holds for the other in that state. */
static inline bool waiting_twins(const struct sched *s, uint32_t a, uint32_t b)
{
    return s->workloads[a].kind != 0 && s->workloads[a].kind == s->workloads[b].kind;
}

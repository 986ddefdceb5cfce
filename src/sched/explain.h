// SPDX-License-Identifier: Apache-2.0
// explain: which of the reasons found on the way is the one that is told. Internal to sched/.
#pragma once

#include "sched/gang.h"

/* explain_offer keeps the more telling of the reason known so far and r. */
void explain_offer(struct sched *s, uint32_t workload, const struct reason *r);
/* explain_set keeps r whatever was known. */
void explain_set(struct sched *s, uint32_t workload, const struct reason *r);
/* explain_retell offers workload the reason that was found for another one with alike pods: what it
 * says of that one's pods and groups is said of its own, pod being the one it failed at. */
void explain_retell(struct sched *s, uint32_t workload, const struct reason *r, uint32_t pod);
/* The first pod of the workload that waits; there is one. */
uint32_t explain_pod_that_waits(const struct sched *s, uint32_t workload);
/* explain_twin gives a twin (waiting.h) of which nothing is known the reason of the workload. */
void explain_twin(struct sched *s, uint32_t workload, uint32_t twin);
/* explain_failure makes the reason of a gang that found no place, with the counts per node. The
 * counts of a shape are worked out once and kept while it is dead. */
void explain_failure(struct sched *s, const struct task_list *tasks,
                     const struct gang_failure *failure, struct reason *r);
/* explain_all gives every workload its final reason, and its place among those that wait. */
void explain_all(struct sched *s);

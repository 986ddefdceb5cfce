// SPDX-License-Identifier: Apache-2.0
// quota: what a queue may hold: hard limits and the rule for non-preemptible work at every level
// (R2, R6), and how full it is compared with its siblings (kai.md 3.4, 3.6). Internal to sched/.
#pragma once

#include "base/attr.h"
#include "sched/state.h"

/* quota_allocatable: max(guarantee, fair share) within the limit; the limit where the guarantee is
 * unlimited. */
struct amounts quota_allocatable(const struct snap_queue *q, const struct amounts *fair);

/* quota_allows: whether workload may be charged amount more, at its queue and all above. When not,
 * *why (may be NULL) says which queue and resource, OVER_LIMIT or NON_PREEMPTIBLE_OVER_QUOTA. */
bool quota_allows(const struct sched *s, uint32_t workload, const struct amounts *amount,
                  struct reason *why);
/* quota_within_guarantee: held + amount <= quota of queue q in all resources. */
bool quota_within_guarantee(const struct sched *s, uint32_t q, const struct amounts *amount);
bool quota_within_fair_share(const struct sched *s, uint32_t q, const struct amounts *amount);
/* The queue and resource for which held + amount first exceeds the fair share of q goes into *why. */
void quota_fair_share_reason(const struct sched *s, uint32_t q, const struct amounts *amount,
                             struct reason *why);

/* How much of what it may have a queue uses: the largest over the resources. den > 0. */
struct dominant {
    int64_t num, den;
};
/* held + plus - minus of queue q; either may be NULL. */
struct dominant quota_dominant(const struct sched *s, uint32_t q, const struct amounts *plus,
                               const struct amounts *minus);

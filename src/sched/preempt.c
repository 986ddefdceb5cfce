// SPDX-License-Identifier: Apache-2.0
// preempt: shares do not matter within a queue; limits and the rule for non-preemptible work do,
// and are checked when the claimant is placed in the trial.
#include "sched/preempt.h"

#include "base/num.h"
#include "sched/quota.h"

static bool may_search(struct search *x, struct reason *why)
{
    (void)why; /* allocate has said it */
    const struct sched *s = x->s;
    if (workload_of(s, x->claimant)->preemptible) {
        return true;
    }
    for (uint32_t q = queue_of(s, x->claimant); q != IX_NONE; q = s->queues[q].parent) {
        for (int r = 0; r < RES_COUNT; r++) {
            int64_t firm = s->queues[q].held_non_preemptible.v[r] + x->request.v[r];
            if (x->request.v[r] > 0 && !amount_le(firm, s->snap->queues.items[q].quota.v[r])) {
                return false;
            }
        }
    }
    return true;
}

static bool own_queue_only(struct search *x)
{
    (void)x;
    return true;
}

static bool is_lower(const struct search *x, uint32_t workload)
{
    return workload_of(x->s, workload)->priority < workload_of(x->s, x->claimant)->priority;
}

// Work of equal priority gives up what it runs above its minimum for the minimum of another (R5).
static bool victim(struct search *x, uint32_t workload)
{
    if (is_lower(x, workload)) {
        return true;
    }
    return workload_of(x->s, workload)->priority == workload_of(x->s, x->claimant)->priority &&
           !gang_is_satisfied(x->s, x->claimant) && gang_stage(x->s, workload, NULL) == GANG_ABOVE;
}

static bool surplus_only(struct search *x, uint32_t workload)
{
    return !is_lower(x, workload);
}

static int64_t protected_until(struct search *x, uint32_t workload)
{
    const struct sched *s = x->s;
    int64_t runtime_ms = s->snap->config.preempt_min_runtime_ms;
    for (uint32_t q = queue_of(s, workload); q != IX_NONE; q = s->queues[q].parent) {
        if (s->snap->queues.items[q].preempt_min_runtime_ms != DURATION_UNSET) {
            runtime_ms = s->snap->queues.items[q].preempt_min_runtime_ms;
            break;
        }
    }
    return search_protected_until(s, workload, runtime_ms);
}

static int64_t longest_protection_ms(const struct sched *s)
{
    int64_t longest = s->snap->config.preempt_min_runtime_ms;
    for (uint32_t q = 0; q < s->snap->queues.count; q++) {
        longest = num_max_i64(longest, s->snap->queues.items[q].preempt_min_runtime_ms);
    }
    return longest;
}

static bool acceptable(struct search *x)
{
    (void)x;
    return true;
}

const struct search_rules preempt_rules = {
    .action = ACTION_PREEMPT,
    .may_search = may_search,
    .own_queue_only = own_queue_only,
    .victim = victim,
    .surplus_only = surplus_only,
    .protected_until = protected_until,
    .longest_protection_ms = longest_protection_ms,
    .acceptable = acceptable,
    .victims_max = -1,
    .same_queue = true,
};

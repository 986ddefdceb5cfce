// SPDX-License-Identifier: Apache-2.0
// consolidate: worth trying only where there is enough free in sum. Other queues are disturbed only
// for a queue that stays within its fair share (R3).
#include "sched/consolidate.h"

#include "base/num.h"
#include "sched/quota.h"

// Device shares that will be free on the usable nodes, MIG instances included.
static int64_t free_share(const struct sched *s)
{
    int64_t free = 0;
    for (uint32_t d = 0; d < s->snap->devices.count; d++) {
        const struct device_state *v = &s->devices[d];
        int64_t later = v->cap - v->occupied + v->leaving - v->coming;
        if (later > 0 && s->nodes[s->snap->devices.items[d].node.ix].usable) {
            free += num_muldiv_floor(later, DEVICE_SHARE, v->cap);
        }
    }
    bool units = s->snap->config.mig_charge == MIG_CHARGE_UNITS;
    for (uint32_t e = 0; e < s->snap->extended.count; e++) {
        int64_t each = s->snap->extended.items[e].mig_slices *
                       (units ? DEVICE_SHARE : MIG_SLICE_SHARE);
        for (uint32_t n = 0; each > 0 && n < s->node_count; n++) {
            free += s->nodes[n].usable ? each * s->later[(size_t)n * s->dims + DIM_EXTENDED + e]
                                       : 0;
        }
    }
    return free;
}

static bool may_search(struct search *x, struct reason *why)
{
    (void)why;
    if (!workload_of(x->s, x->claimant)->preemptible) {
        return false;
    }
    if (x->free_commits != x->commits + 1) {
        x->free_share = free_share(x->s);
        x->free_commits = x->commits + 1;
    }
    return x->free_share >= x->request.v[RES_GPU];
}

static bool own_queue_only(struct search *x)
{
    return !quota_within_fair_share(x->s, queue_of(x->s, x->claimant), &x->request);
}

// What has not started yet is not moved about.
static bool victim(struct search *x, uint32_t workload)
{
    const struct snap_workload *w = workload_of(x->s, workload);
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        enum work_state state = x->s->tasks[t].state;
        if (state == WORK_PIPELINED || state == WORK_ALLOCATED) {
            return false;
        }
    }
    return true;
}

static bool acceptable(struct search *x)
{
    for (uint32_t i = 0; i < x->chosen.count && !x->all_stopped; i++) {
        const struct victim_unit *unit = &x->units.items[x->chosen.items[i]];
        for (uint32_t t = 0; t < unit->count; t++) {
            if (x->s->tasks[x->unit_pods.items[unit->first + t].task].state == WORK_EVICTED) {
                return false;
            }
        }
    }
    return !x->all_stopped;
}

void consolidate_run(struct sched *s)
{
    struct search_rules rules = {
        .action = ACTION_CONSOLIDATE,
        .may_search = may_search,
        .own_queue_only = own_queue_only,
        .victim = victim,
        .acceptable = acceptable,
        .victims_max = s->snap->config.consolidation_victims_max,
        .by_moves = s->pack != NULL,
    };
    if (rules.victims_max != 0) {
        search_run(s, &rules);
    }
}

// SPDX-License-Identifier: Apache-2.0
// stale: members that are on their way out still count as present, and so do finished ones: a gang
// that ends normally is left alone. Groups that are not needed do not make a gang stale.
#include "sched/stale.h"

#include "sched/allocate.h"
#include "sched/trial.h"

// The group that lacks members, or IX_NONE. finished: a pod of the workload has succeeded.
static uint32_t lacking_group(const struct sched *s, uint32_t workload, bool *finished)
{
    const struct snap_workload *w = workload_of(s, workload);
    bool any = false;
    bool satisfied = true;
    uint32_t lacking = IX_NONE;
    *finished = false;
    struct arena_mark mark = arena_mark(s->scratch);
    bool *met = ARENA_ARRAY(s->scratch, bool, w->group_count);
    for (uint32_t i = w->group_count; i > 0;) {
        i--;
        const struct snap_group *g = group_of(s, w->group_first + i);
        const struct group_state *x = &s->groups[w->group_first + i];
        uint32_t have = g->is_pod_set ? x->present : 0;
        uint32_t needed = !g->is_pod_set && g->min == GROUP_MIN_ALL ? g->child_count : g->min;
        for (uint32_t c = g->child_first; c < g->child_first + g->child_count; c++) {
            have += met[c - w->group_first];
        }
        any = any || x->present > 0;
        *finished = *finished || x->succeeded > 0;
        met[i] = have >= needed;
        satisfied = met[i];
        lacking = !met[i] && g->is_pod_set ? w->group_first + i : lacking;
    }
    arena_rewind(s->scratch, mark);
    if (!any || satisfied) {
        return IX_NONE;
    }
    return lacking == IX_NONE ? w->group_first : lacking;
}

static void evict_all(struct sched *s, uint32_t workload, uint32_t group)
{
    const struct snap_workload *w = workload_of(s, workload);
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        if (!state_is_placed(s->tasks[t].state)) {
            continue;
        }
        trial_evict(s, t);
        if (s->tasks[t].old.node == IX_NONE) {
            continue; /* it was not there when the cycle began */
        }
        struct decision_evict *e = state_evict_record(s, t);
        e->action = ACTION_EVICT_STALE;
        reason_init(&e->reason, REASON_EVICTED_STALE);
        e->reason.group.ix = group;
        e->reason.task.ix = t;
        e->reason.requested = group_of(s, group)->min;
        e->reason.held = s->groups[group].present;
    }
    allocate_settle(s);
}

void stale_run(struct sched *s)
{
    int64_t now_ms = s->snap->config.now_ms;
    for (uint32_t i = 0; i < s->snap->workloads.count; i++) {
        const struct snap_workload *w = workload_of(s, i);
        struct decision_workload *out = &s->out->workloads[i];
        bool finished;
        uint32_t group = lacking_group(s, i, &finished);
        if (group == IX_NONE || finished) {
            out->stale_since_ms = TIME_NEVER;
            continue;
        }
        out->stale_since_ms = w->stale_since_ms == TIME_NEVER ? now_ms : w->stale_since_ms;
        if (w->stale_grace_ms >= 0 && now_ms - out->stale_since_ms >= w->stale_grace_ms) {
            evict_all(s, i, group);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// gang: which pods of a workload are placed next, and placing them all or not at all (R5;
// kai.md 4.2, 4.3). Internal to sched/.
#pragma once

#include "sched/fit.h"
#include "sched/trial.h"

enum gang_stage {
    GANG_INCOMPLETE, /* runs with fewer members than needed */
    GANG_NOT_STARTED,
    GANG_AT_MINIMUM,
    GANG_ABOVE,
};
/* gang_stage as if of each pod set taken[group] pods (NULL: none) were gone already. */
enum gang_stage gang_stage(struct sched *s, uint32_t workload, const uint32_t *taken);

/* Every group has the members it needs placed, existing (pending or placed). */
bool gang_is_satisfied(struct sched *s, uint32_t workload);
/* gang_runs says of every group of the workload, in group_state.runs, whether those of its pods that
 * run (state_runs), without those that are taken[task] (NULL: none), are all it needs; true when it
 * is so of the first, the gang. */
bool gang_runs(struct sched *s, uint32_t workload, const bool *taken);
bool gang_is_ready(struct sched *s, uint32_t workload);
uint32_t gang_pending(const struct sched *s, uint32_t workload);
uint32_t gang_evicted(const struct sched *s, uint32_t workload);

struct task_list {
    uint32_t *items;
    uint32_t count, cap;
};
/* gang_next appends the pods to be placed next, in the order of placing: the whole gap of an
 * unsatisfied gang, one pod of a satisfied one. Pods in state `from` (PENDING or EVICTED) count; of
 * evicted ones those that ran come first: a place that is not free yet makes no member. The list lives in arena. */
void gang_next(struct sched *s, uint32_t workload, enum work_state from, struct arena *arena,
               struct task_list *list);
/* gang_request is what those pods ask for: of evicted pods if it has any, else pending ones. */
struct amounts gang_request(struct sched *s, uint32_t workload);

/* Where placing failed. */
struct gang_failure {
    uint32_t task;   /* no node for this pod; IX_NONE */
    uint32_t group;  /* no domain for this group; IX_NONE */
    uint32_t placed; /* pods placed before that */
    int64_t bound;   /* pods the best domain has room for */
};
/* gang_place places tasks (of one workload, in the order of gang_next) or none of them. Nodes are
 * those in mask (NULL: all). pipeline_only: everything is placed for later. On failure the state
 * is as before and *failure (may be NULL) says where it failed. */
bool gang_place(struct sched *s, uint32_t workload, const struct task_list *tasks,
                bool pipeline_only, const uint64_t *mask, struct gang_failure *failure);

// SPDX-License-Identifier: Apache-2.0
// finder: what the files of the search for the smallest change share. Inside sched/remedy*.c only.
#pragma once

#include "sched/remedy.h"

struct finder {
    struct arena *arena;
    const struct snapshot *snap;
    uint32_t workload;
    uint32_t actions_mask;
    uint32_t trials, trials_max;
    bool exhausted;
    struct remedy *best; /* the smallest that was enough so far; kind NONE: none */
};

static inline const struct snap_workload *finder_own(const struct finder *f)
{
    return &f->snap->workloads.items[f->workload];
}
/* A pod that holds a place, or one that wants one. */
static inline bool finder_holds(const struct snap_task *t)
{
    return t->state == TASK_RUNNING || t->state == TASK_BINDING;
}
static inline bool finder_waits(const struct snap_task *t)
{
    return t->state == TASK_PENDING || t->state == TASK_GATED;
}

struct remedy finder_remedy(enum remedy_kind kind);
/* finder_enough runs a cycle with the change made: true, and it is the best so far, when the
 * workload starts. False too, and f->exhausted, when no more cycles may be run. */
bool finder_enough(struct finder *f, struct remedy *r);

/* finder_least looks for a step of [1, steps] that is enough while the one before it is not, which
 * is the best then: the first of a few; of many, the one found by doubling and bisection. False
 * when the largest is not enough. */
typedef void finder_step(struct remedy *r, int64_t step, const void *ctx);
bool finder_least(struct finder *f, struct remedy *r, int64_t steps, finder_step *set,
                  const void *ctx);

/* remedy_others.c: a node or devices brought back; pods on one node, or a workload, gone. */
bool finder_bring_back_node(struct finder *f);
bool finder_bring_back_devices(struct finder *f);
bool finder_free_devices(struct finder *f);
bool finder_end_workload(struct finder *f);

// SPDX-License-Identifier: Apache-2.0
// decision: what a cycle returns. References are to the snapshot that was decided on.
#pragma once

#include "model/reason.h"
#include "model/snapshot.h"

/* A pod is given a place. Pipelined: the place is still being released; nothing is to be started,
 * it is kept by a claim where it was freed for it. */
struct decision_bind {
    struct task_ref task;
    struct node_ref node;
    uint32_t hold_first, hold_count; /* run in decisions.holds: the devices and how much of each */
    bool pipelined;
    uint32_t zone; /* single_numa: place among the zones of the node; IX_NONE: no zone */
    enum action action;
};

/* A pod that holds a place is told to stop. Moved: the same cycle gave it another place (a bind,
 * pipelined, of the same task), so it is to be started again. */
struct decision_evict {
    struct task_ref task;
    bool moved;
    enum action action;   /* RECLAIM, PREEMPT, CONSOLIDATE or EVICT_STALE */
    struct reason reason; /* other: on whose behalf */
};

struct decision_workload {
    uint32_t position;      /* place in its queue among those that wait, from 1; 0: none */
    int64_t stale_since_ms; /* gang below its minimum since; TIME_NEVER: it is not */
    bool started;           /* first pods bound now, not pipelined: its last start is now */
};

struct decision_queue {
    struct amounts fair_share;
    struct amounts requested; /* as fair share counted it */
    struct amounts held;      /* after the cycle: binding, running and newly bound pods */
    struct amounts held_non_preemptible;
};

struct decision_stats {
    uint32_t claimants[ACTION_COUNT]; /* workloads for which the action searched */
    uint32_t solved[ACTION_COUNT];
    uint32_t skipped[ACTION_COUNT]; /* not searched: known to have no chance */
    uint64_t tries[ACTION_COUNT];   /* placements tried */
    bool exhausted[ACTION_COUNT];   /* a bound of the configuration ended a search */
};

struct decisions {
    ARRAY(struct decision_bind) binds; /* in the order in which they were made */
    ARRAY(struct decision_evict) evicts;
    ARRAY(struct snap_hold) holds;
    ARRAY(struct snap_claim) claims;     /* all claims to be kept; hold ranges are in holds */
    struct decision_workload *workloads; /* [workloads.count of the snapshot] */
    struct reason *reasons; /* [the same] of their waiting; PLACED, PARTLY_PLACED; NONE: nothing
                                waits, and nothing else is set in it */
    struct decision_queue *queues; /* [queues.count] */
    struct decision_stats stats;
};

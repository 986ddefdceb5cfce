// SPDX-License-Identifier: Apache-2.0
// reason: why a workload waits or was stopped: a code with numbers, made where the decision is
// made. Words are made at the edges from this; see reason.c for which numbers a code carries.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "model/ids.h"
#include "model/resources.h"

/* X(code, stable machine name). Numbers are stored: append only, never reorder.
 * Where the name is one KAI publishes (kai.md 1.10), it is kept. */
#define REASONS(X)                                                                                   \
    X(NONE, "")                                                                                      \
    /* it waits: it may not */                                                                       \
    X(QUEUE_MISSING, "QueueDoesNotExist") /* - */                                                    \
    X(QUEUE_NOT_LEAF, "QueueHasChildren") /* queue */                                                \
    X(GATED, "Gated")                     /* requested, bound: ready and needed pods */              \
    X(NOT_READY, "NotEnoughPods")         /* group; requested, bound: existing, needed */            \
    X(OVER_LIMIT, "OverLimit")            /* queue, resource, requested, held, bound */              \
    X(NON_PREEMPTIBLE_OVER_QUOTA, "NonPreemptibleOverQuota") /* the same */                          \
    /* it waits: nothing is free for it */                                                           \
    X(NO_NODES, "NoNodes")        /* the pool has no usable node; nodes[] if it has any at all */    \
    X(NO_NODE_FITS, "NoNodeFits") /* task, nodes[]; requested of resource, bound: largest free */    \
    X(TOO_LARGE, "LargerThanAnyNode") /* task, nodes[]; requested, bound: largest node */            \
    X(GANG_INCOMPLETE,                                                                               \
      "GangIncomplete")               /* group, task, nodes[]; requested: needed, held: placed */    \
    X(TOPOLOGY, "TopologyDoesNotFit") /* group, requested pods; bound: best domain's */              \
    X(TOPOLOGY_UNKNOWN, "TopologyDoesNotExist") /* group */                                          \
    X(WAITING_FOR_RELEASE, "WaitingForRelease") /* node; other: whose pods are going, if one */      \
    X(WAITING_FOR_CLAIM,                                                                             \
      "WaitingForClaim")                  /* what was freed for it is not yet gone: other, node */   \
    X(KEPT_FOR_OTHER, "KeptForOther")     /* it would fit, but for a claim: other, node */           \
    X(BEHIND_IN_QUEUE, "BehindInQueue")   /* other: who was served before and took it */             \
    X(DEPTH_REACHED, "QueueDepthReached") /* queue; bound: workloads looked at */                    \
    /* it waits: it may not take from others */                                                      \
    X(PREEMPTION_DELAY, "PreemptionDelayNotElapsed") /* until_ms */                                  \
    X(FAIR_SHARE_REACHED, "FairShareReached")        /* queue, resource, requested, held, bound */   \
    X(NO_VICTIMS, "NoVictims")               /* nothing in the pool may be stopped for it */         \
    X(VICTIMS_PROTECTED, "VictimsProtected") /* by minimum run time; until_ms, other */              \
    X(VICTIMS_NOT_ENOUGH,                                                                            \
      "VictimsNotEnough") /* task, nodes[]: all that may be stopped would not do */                  \
    X(SEARCH_EXHAUSTED, "SearchExhausted") /* bound: placements tried */                             \
    /* it was stopped */                                                                             \
    X(EVICTED_RECLAIM, "EvictedForReclaim")  /* other, queue (its side), resource, held, bound */    \
    X(EVICTED_PREEMPT, "EvictedForPriority") /* other */                                             \
    X(EVICTED_CONSOLIDATION, "EvictedForConsolidation") /* other, node: where to */                  \
    X(EVICTED_STALE, "EvictedGangBelowMinimum") /* group; requested: needed, held: present */        \
    /* it runs or is about to */                                                                     \
    X(PLACED, "Placed") /* node: of its first pod */                                                 \
    X(PARTLY_PLACED,                                                                                 \
      "MembersAboveMinimumWait") /* the minimum runs; the rest wait: task, nodes[] */                \
    /* it waits: added later, in the order of adding */                                              \
    X(LARGER_THAN_POOL,                                                                              \
      "LargerThanPool") /* all its pods together; requested, bound: of the pool */                   \
    X(VICTIMS_IN_BUDGET,                                                                             \
      "VictimsInDisruptionBudget")       /* other: could be stopped, but for its budget */           \
    X(EVICTED_DRAIN, "EvictedForDrain")  /* its node is drained; node: where to */                   \
    X(RESERVED, "WaitingForReservation") /* it has waited long: node, from when: until_ms */         \
    X(RESERVED_FOR_OTHER,                                                                            \
      "ReservedForOther") /* other starts there at until_ms; its end would be later: node */         \
    /* it was stopped, its place being of no use any more */                                         \
    X(EVICTED_DEVICE_DRAIN, "EvictedForDeviceDrain")    /* a device it holds; node: where to */      \
    X(EVICTED_DRAIN_DEADLINE, "EvictedAtDrainDeadline") /* until_ms: that was the deadline */        \
    X(EVICTED_DEVICE_LOST, "EvictedForLostDevice")      /* a device it holds is gone or sick */      \
    /* it was stopped by a scheduling rule; bound: the limit in ms, until_ms: when it was reached */ \
    X(STOPPED_RUN_LIMIT, "RunTimeLimitReached")                                                      \
    X(STOPPED_IDLE_LIMIT, "IdleTimeLimitReached")                                                    \
    /* it waits: added later */                                                                      \
    X(PARALLELISM, "ParallelismReached") /* bound: so many of its pods at a time */                  \
    X(UPDATING, "BeingUpdated")          /* its pods are stopped first, to start as it will be */

enum reason_code {
#define X(code, name) REASON_##code,
    REASONS(X)
#undef X
        REASON_COUNT
};

/* Why a node does not do for a pod: the first cause that holds, in this order. */
#define NODE_REASONS(X)                                                                      \
    X(FITS, "Fits")                                                                          \
    X(NOT_READY, "NodeNotReady")                                                             \
    X(CORDONED, "NodeUnschedulable")                                                         \
    X(SELECTOR, "NodeSelectorMismatch")                                                      \
    X(TAINT, "TaintNotTolerated")                                                            \
    X(MIG_STRATEGY, "MigStrategyMismatch")                                                   \
    X(NO_DEVICES, "NoDevices") /* has none, or none of that kind */                          \
    X(NO_FRACTIONS, "WholeDevicesOnly")                                                      \
    X(DEVICES_SMALL, "DeviceMemoryTooSmall") /* an empty device would not do */              \
    X(DEVICES_SICK, "DevicesUnhealthy")      /* would do with all devices healthy */         \
    X(TOO_SMALL, "NodeTooSmall")             /* an empty node would not do */                \
    X(PODS, "PodSlotsUsed")                                                                  \
    X(CPU, "CpuUsed")                                                                        \
    X(MEMORY, "MemoryUsed")                                                                  \
    X(EXTENDED, "ExtendedResourceUsed")                                                      \
    X(DEVICES, "DevicesUsed")                                                                \
    X(DEVICES_SPLIT, "DevicesFragmented") /* enough in sum, too little on each device */     \
    X(KEPT, "KeptForOther")               /* free, but kept for a claimant */                \
    X(AFFINITY, "PodAffinityUnmet")                                                          \
    X(ANTI_AFFINITY, "PodAntiAffinityViolated")                                              \
    X(TOPOLOGY, "OutsideTopologyDomain")                                                     \
    X(QUEUE_LIMIT, "QueueLimitOnNode") /* its share of this node's devices passes a limit */ \
    X(NUMA, "NoNumaZoneFits")          /* has room, but no single NUMA zone of it has */

enum node_reason {
#define X(code, name) NODE_REASON_##code,
    NODE_REASONS(X)
#undef X
        NODE_REASON_COUNT
};

/* Numbers not named beside the code are zero, references IX_NONE. Units: those of `resource`
 * (shares, millicores, bytes) or a count. */
struct reason {
    enum reason_code code;
    enum resource resource;
    struct queue_ref queue;
    struct group_ref group;
    struct task_ref task;      /* the pod it failed at */
    struct workload_ref other; /* claimant, evictor, or who was served before */
    struct node_ref node;
    int64_t requested, held, bound;
    int64_t until_ms; /* when it may change by itself; TIME_NEVER: unknown */
    bool has_nodes;   /* nodes[] is filled: the counts add up to the nodes of the pool */
    uint32_t nodes[NODE_REASON_COUNT];
};

/* The stable names; code must be in range. */
struct str reason_name(enum reason_code code);
struct str node_reason_name(enum node_reason code);
/* reason_init gives an empty reason with that code. */
void reason_init(struct reason *r, enum reason_code code);

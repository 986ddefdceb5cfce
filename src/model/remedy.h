// SPDX-License-Identifier: Apache-2.0
// remedy: the smallest change that would start a workload that waits: a code with numbers, found by
// trying it (sched/remedy.h). Words are made at the edges.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/uuid.h"
#include "model/ids.h"
#include "model/resources.h"

/* X(code, stable machine name), the smallest first: what takes nothing but time; what its owner can
 * change without asking for less; what it asks for less of; what its queue may hold; what has to
 * happen to nodes, and to the work of others. Numbers are not stored. */
#define REMEDIES(X)                                                                            \
    X(NONE, "")                                                                                \
    X(WAIT, "Wait")                   /* until_ms; other: who ends then as declared, if one */ \
    X(PREEMPTIBLE, "MakePreemptible") /* - */                                                  \
    X(SELECTOR, "DropNodeSelector")   /* - */                                                  \
    X(TAINTS, "TolerateTaints")       /* - */                                                  \
    X(NUMA, "DropSingleNuma")         /* - */                                                  \
    X(AFFINITY, "DropPodAffinity")    /* - */                                                  \
    X(ANTI_AFFINITY, "DropPodAntiAffinity") /* - */                                            \
    X(TOPOLOGY, "DropTopology")             /* group */                                        \
    X(PRIORITY, "RaisePriority")            /* from, to */                                     \
    X(DEVICES, "FewerDevices")              /* from, to: devices a pod */                      \
    X(SHARE, "LessOfDevice")                /* from, to: shares of each device */              \
    X(DEVICE_MEMORY, "LessDeviceMemory")    /* from, to: bytes of each device */               \
    X(CPU, "LessCpu")                       /* from, to: millicores a pod */                   \
    X(MEMORY, "LessMemory")                 /* from, to: bytes a pod */                        \
    X(MEMBERS, "FewerMembers")              /* group; from, to: members it needs */            \
    X(LIMIT, "RaiseLimit")                  /* queue, resource, from, to; path */              \
    X(GUARANTEE, "RaiseGuarantee")          /* the same; a limit below it rises with it */     \
    X(NODE, "OpenNode")                     /* node: not ready, or closed for new work */      \
    X(HEAL, "RepairDevices")                /* node; to: sick devices of it */                 \
    X(FREE, "FreeDevices")                  /* node; to: devices; pods[]: who is on them */    \
    X(END, "EndWorkload")                   /* other */

enum remedy_kind {
#define X(code, name) REMEDY_##code,
    REMEDIES(X)
#undef X
        REMEDY_COUNT
};

enum remedy_outcome {
    REMEDY_FOUND,
    REMEDY_NOT_NEEDED,  /* the next cycle gives it a place as things are */
    REMEDY_NOT_WAITING, /* it has no pod that waits */
    REMEDY_NO_SINGLE,   /* no change of these is enough alone */
    REMEDY_OUTCOME_COUNT
};

/* Numbers not named beside the kind are zero, references IX_NONE. */
struct remedy {
    enum remedy_outcome outcome;
    enum remedy_kind kind; /* FOUND; else NONE */
    enum resource resource;
    struct queue_ref queue;
    struct group_ref group;
    struct node_ref node;
    struct workload_ref other;
    int64_t from, to;
    int64_t until_ms;      /* TIME_NEVER */
    bool path;             /* LIMIT, GUARANTEE: those above the queue that have one rise as much */
    struct task_ref *pods; /* [pods_count] of FREE: they end */
    uint32_t pods_count;
    /* how it starts then (FOUND, NOT_NEEDED) */
    bool at_once;     /* all its pods get places that are free */
    uint32_t stopped; /* pods that are stopped for it */
    /* how it was looked for */
    uint32_t trials; /* cycles run */
    bool exhausted;  /* their bound ended it: something smaller, or with NO_SINGLE something at all,
                        may have been missed */
};

/* A remedy of the engine's, in names; its own references mean nothing there. */
struct remedy_workload {
    struct uuid id;
    struct str name;
};
struct remedy_told {
    struct remedy remedy;
    struct str pool, queue, node; /* "": none */
    bool queue_is_department;
    struct remedy_workload other; /* zero, "": none, or not to be told */
    /* FREE: the workloads whose pods end, each once; and how many are not to be told */
    struct remedy_workload *holders;
    uint32_t holders_count, holders_hidden;
};

/* The stable names; must be in range. */
struct str remedy_name(enum remedy_kind kind);
struct str remedy_outcome_name(enum remedy_outcome outcome); /* "found", "none" … */

// SPDX-License-Identifier: Apache-2.0
// snapshot: the frozen state of one node pool that a scheduling cycle decides on: dense tables of
// plain structs that refer to each other by typed indices.
//
// Who builds one pushes rows in any order (ARRAY_PUSH into the arena), sets the references to the
// indices it was given, and calls snapshot_canonicalise, which sorts every table into the order
// stated beside it and rewrites the references. From then on the order of rows is the tie-break
// of every decision, so that the decision is a function of the content alone. Each row carries a
// `tag`, a number of the builder's own (say, its row in the state) that the scheduler never looks
// at, to find back from a decision.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/err.h"
#include "base/str.h"
#include "model/ids.h"
#include "model/limits.h"
#include "model/plan.h"
#include "model/resources.h"

/* ---- configuration of the pool ---- */

/* The actions of a cycle, in the order in which they run by default. */
enum action {
    ACTION_ALLOCATE,
    ACTION_CONSOLIDATE,
    ACTION_RECLAIM,
    ACTION_PREEMPT,
    ACTION_EVICT_STALE,
    ACTION_COUNT
};

enum device_order { DEVICE_PACK, DEVICE_SPREAD };       /* which shared device a fraction goes to */
enum mig_charge { MIG_CHARGE_UNITS, MIG_CHARGE_SHARE }; /* slices count as GPUs, or as sevenths */
/* Where a victim's reclaim minimum run time is looked up: from below the lowest queue that victim
 * and claimant have in common, or from the victim's own queue; upwards from there. */
enum min_runtime_from { MIN_RUNTIME_FROM_COMMON, MIN_RUNTIME_FROM_QUEUE };

struct snap_config {
    int64_t now_ms;
    enum placement gpu_placement, cpu_placement; /* work with and without devices */
    enum device_order device_order;
    enum mig_charge mig_charge;
    int64_t k_permille;          /* weight of past usage, thousandths; [0, K_PERMILLE_MAX] */
    int64_t usage_denominator;   /* of snap_queue.usage; 0: no usage is known */
    int64_t saturation_permille; /* a claimant's saturation is multiplied by this; >= 1000 */
    int64_t reclaim_min_runtime_ms, preempt_min_runtime_ms; /* where no queue says one; >= 0 */
    enum min_runtime_from reclaim_min_runtime_from;
    bool allow_consolidating_reclaim; /* victims may be moved instead of stopped */
    bool full_hierarchy; /* false: top queues are ignored, their children share alike */
    int64_t consolidation_victims_max; /* workloads moved for one claimant; 0: no consolidation */
    int64_t search_tries_max;          /* placements tried for one claimant; bounds the search */
    int64_t action_tries_max;          /* the same for all claimants of one action */
    /* Who has waited so long gets a reservation: a start time by the declared ends of what runs,
     * which work placed after it may not delay. One in a pool at a time. 0: never. */
    int64_t reservation_after_ms;
    int64_t queue_depth_max[ACTION_COUNT]; /* workloads of a queue looked at; -1: all */
};

/* ---- nodes ---- */

/* A resource besides devices, CPU, memory and pods. Sorted by name. */
struct snap_extended {
    struct str name;    /* "nvidia.com/mig-1g.5gb", "example.com/fpga" */
    int64_t mig_slices; /* compute slices of a MIG profile, [1, 7]; 0: not MIG */
};
/* An amount of an extended resource; a run of these belongs to a node or a shape. */
struct snap_extended_amount {
    uint32_t extended; /* index in extended[] */
    int64_t amount;    /* units (MIG: instances) */
};

/* A NUMA zone: what is allocatable of its node in it, besides the devices that are in it. */
struct snap_zone {
    int64_t cpu_milli, memory_bytes;
};

enum mig_strategy { MIG_NONE, MIG_SINGLE, MIG_MIXED };

/* Sorted by name; the index is the tie-break between nodes of equal score. */
struct snap_node {
    struct str name;
    uint32_t tag;
    uint32_t device_first, device_count;     /* run in devices[] */
    uint32_t extended_first, extended_count; /* run in extended_amounts[]: allocatable */
    uint32_t zone_first, zone_count;         /* run in zones[]; none: the node is one zone */
    int64_t cpu_milli, memory_bytes, pods;   /* allocatable, less what is not ours */
    enum mig_strategy mig;
    bool ready;        /* false: lost or unhealthy: nothing is placed, not part of the totals */
    bool schedulable;  /* false: cordoned or draining: the same */
    bool draining;     /* not schedulable, and its preemptible pods are moved to free places */
    bool no_fractions; /* whole devices only */
};

/* Grouped by node, in the order of `ordinal`. */
struct snap_device {
    struct node_ref node;
    uint32_t tag;
    uint32_t ordinal;     /* stable number on its node (order of UUIDs); tie-break */
    uint32_t zone;        /* place among the zones of its node; 0 where it has none */
    int64_t memory_bytes; /* 0: unknown, requests by memory do not fit */
    bool healthy;         /* false: nothing is placed on it, not part of the totals */
    bool draining;        /* not healthy, and preemptible pods that hold it are moved off it */
};

/* A label key that topologies or affinity look at; values are small numbers per key. Not sorted. */
struct snap_label_key {
    struct str name;
    uint32_t *values; /* values[node_count]: interned value, IX_NONE where it is absent */
};
/* Levels are indices in label_keys[], widest first. Sorted by name. */
struct snap_topology {
    struct str name;
    uint32_t level_count;
    uint32_t level_keys[TOPOLOGY_LEVELS_MAX];
};
/* A set of nodes: one bit a node. Equal sets are merged by snapshot_canonicalise. */
struct snap_node_set {
    uint64_t *words; /* words[(node_count + 63) / 64] */
};

/* ---- queues ---- */

/* A tree of any depth; parents before children (by depth), then siblings in the order of
 * (created_ms, created_seq, name): the index is "which queue is older". A workload's queue is one
 * without children. */
struct snap_queue {
    struct str name;
    uint32_t tag;
    struct queue_ref parent;           /* IX_NONE: a top queue */
    uint32_t child_first, child_count; /* filled in by snapshot_canonicalise */
    struct amounts quota;              /* AMOUNT_UNLIMITED: all the parent has */
    struct amounts limit;              /* AMOUNT_UNLIMITED: none */
    struct amounts weight_milli;       /* over-quota weight, thousandths, >= 0 (per resource) */
    struct amounts usage;              /* past usage: usage.v[r] / config.usage_denominator */
    int64_t priority;                  /* higher is served first among siblings */
    int64_t created_ms, created_seq;   /* sequence number for equal times */
    int64_t reclaim_min_runtime_ms, preempt_min_runtime_ms; /* DURATION_UNSET: inherited */
};

/* ---- workloads ---- */

/* A group of a gang. Its members are either groups (children) or pods (a pod set), never both.
 * Groups of a workload are one run: its root first, then by depth, siblings by name. */
#define GROUP_MIN_ALL UINT32_MAX
struct snap_group {
    struct str name;
    struct workload_ref workload;
    struct group_ref parent;           /* IX_NONE: the root */
    uint32_t child_first, child_count; /* filled in by snapshot_canonicalise */
    uint32_t task_first, task_count;   /* run in tasks[]; filled in by snapshot_canonicalise */
    bool is_pod_set;                   /* a leaf that holds pods (maybe none yet) */
    uint32_t min;                      /* members needed: pods, or child groups
                                            (GROUP_MIN_ALL: every child group) */
    struct topology_ref topology;      /* IX_NONE: none */
    uint32_t required_level, preferred_level; /* index in its levels; IX_NONE: none */
    bool topology_unknown;                    /* it names a topology or level that does not exist */
};

/* Sorted by (created_ms, name): the index is "which workload is older". */
struct snap_workload {
    struct str name; /* unique in the pool: the UUID */
    uint32_t tag;
    struct queue_ref queue; /* IX_NONE: its queue does not exist */
    int64_t priority;       /* higher goes first within its queue */
    bool preemptible;
    int64_t created_ms;
    int64_t last_start_ms;   /* TIME_NEVER */
    int64_t last_evicted_ms; /* TIME_NEVER */
    int64_t checkpoint_ms;   /* up to when its work is safe, as it reported last; 0: since its start
                              nothing is. Once a workload of a queue reports, equal victims of it
                              are chosen by the work that would be lost for a device gained */
    struct workload_ref evicted_for;   /* for whom it was last stopped, and has not started since;
                                        IX_NONE */
    int64_t duration_ms;               /* how long it runs, as it declared; 0: it did not */
    int64_t preemption_delay_ms;       /* how long it waits before it may take from others; 0 */
    int64_t stale_since_ms;            /* its gang is below the minimum since; TIME_NEVER */
    int64_t stale_grace_ms;            /* negative: never evicted for that */
    uint32_t group_first, group_count; /* filled in by snapshot_canonicalise; the root is first */
    uint32_t task_first, task_count;   /* filled in by snapshot_canonicalise */
};

/* ---- pods ---- */

/* How a pod asks for devices. */
enum gpu_kind {
    GPU_NONE,
    GPU_WHOLE,  /* device_count whole devices */
    GPU_SHARE,  /* share of each of device_count devices, (0, DEVICE_SHARE) */
    GPU_MEMORY, /* memory_bytes of each of device_count devices */
};

/* What a pod asks for and where it may go: everything that fit depends on. Pods that ask alike
 * refer to one shape, and what is found out for one holds for all; equal rows are merged by
 * snapshot_canonicalise. */
struct snap_shape {
    enum gpu_kind gpu;
    uint32_t device_count;
    int64_t share;               /* GPU_SHARE: of each device */
    int64_t device_memory_bytes; /* GPU_MEMORY: of each device */
    int64_t cpu_milli, memory_bytes;
    uint32_t extended_first, extended_count; /* run in extended_amounts[]; MIG instances too */
    uint32_t selected_set;                   /* node_sets[]: selectors and affinity; IX_NONE: all */
    uint32_t tolerated_set; /* node_sets[]: whose taints it tolerates; IX_NONE: all */
    bool single_numa;       /* devices, CPU and memory all from one zone of the node */
    uint32_t carries_first, carries_count; /* run in term_refs[]: terms these pods have */
    uint32_t matches_first, matches_count; /* run in term_refs[]: terms whose selector picks them */
};

/* A required inter-pod term: pods that carry it go only to nodes that share the value of label_key
 * with a pod it matches (affinity), or with none (anti-affinity; then also the other way round). */
struct snap_term {
    uint32_t label_key; /* index in label_keys[] */
    bool anti;
};

enum task_state {
    TASK_PENDING,
    TASK_GATED,   /* not to be scheduled yet */
    TASK_BINDING, /* given its place by an earlier cycle, not confirmed yet */
    TASK_RUNNING,
    TASK_RELEASING, /* told to stop, still holds its place */
    TASK_STUCK,     /* the same for too long: nobody can count on its place */
    TASK_SUCCEEDED,
    TASK_FAILED,
};

/* Part of a device that a pod holds or is given. */
struct snap_hold {
    struct device_ref device;
    int64_t share; /* what it costs, (0, DEVICE_SHARE] */
    int64_t bytes; /* GPU_MEMORY: what it takes of the device's memory; else 0 */
};

/* Grouped by workload, within it by pod set, within that in the order in which pods are placed:
 * (order_rank, created_ms, name). */
struct snap_task {
    struct str name; /* unique in its workload: the UUID */
    uint32_t tag;
    struct workload_ref workload;
    struct group_ref group; /* its pod set */
    struct shape_ref shape;
    enum task_state state;
    int64_t order_rank; /* place in the gang: lower first */
    int64_t created_ms;
    struct node_ref node;            /* where it holds its place; IX_NONE: nowhere */
    uint32_t hold_first, hold_count; /* run in holds[]: the devices it holds */
    uint32_t zone; /* with a place, single_numa and no devices: the zone of the node it is in */
    uint32_t nominated_node; /* preferred node; IX_NONE: none */
    bool returns; /* RELEASING, STUCK: waits again once it is gone, so its demand goes on */
};

/* What was freed for a claimant and is kept for it (R7): a place for one pod of it. Sorted by
 * (workload, task, since_ms). */
struct snap_claim {
    struct workload_ref workload;
    struct task_ref task; /* whom it was for; if IX_NONE or no longer pending, any
                                                pending pod of the workload with an equal need */
    struct node_ref node;
    uint32_t hold_first, hold_count; /* run in holds[]: the devices kept */
    int64_t since_ms;
};

/* A disruption budget: of its pods so many must go on running. It binds moves and evictions for
 * another's demand, and drains; not the eviction of a gang that is below its minimum. A pod may be
 * under several. Sorted by name. */
struct snap_budget {
    struct str name;
    uint32_t tag;
    uint32_t available_min;              /* pods that must be RUNNING; fewer: none may be stopped */
    uint32_t member_first, member_count; /* run in budget_members[], in the order of tasks[] */
};

struct snapshot {
    struct snap_config config;
    ARRAY(struct snap_extended) extended;
    ARRAY(struct snap_extended_amount) extended_amounts;
    ARRAY(struct snap_node) nodes;
    ARRAY(struct snap_zone) zones;
    ARRAY(struct snap_device) devices;
    ARRAY(struct snap_label_key) label_keys;
    ARRAY(struct snap_topology) topologies;
    ARRAY(struct snap_node_set) node_sets;
    ARRAY(struct snap_queue) queues;
    ARRAY(struct snap_workload) workloads;
    ARRAY(struct snap_group) groups;
    ARRAY(struct snap_task) tasks;
    ARRAY(struct snap_shape) shapes;
    ARRAY(struct snap_term) terms;
    ARRAY(uint32_t) term_refs;
    ARRAY(struct snap_hold) holds;
    ARRAY(struct snap_claim) claims;
    ARRAY(struct snap_budget) budgets;
    ARRAY(struct task_ref) budget_members;
};

/* snapshot_init makes an empty snapshot with the default configuration (bin-pack, pack, no usage,
 * no minimum run times, 16 consolidation victims, full hierarchy) at time now_ms. */
void snapshot_init(struct snapshot *s, int64_t now_ms);

/* snapshot_canonicalise sorts and merges the tables as stated beside them and rewrites all
 * references; the tables are rebuilt in arena where they were not in order already. Gives every
 * workload without groups one: a root pod set named "default" that needs all its tasks that are
 * not over. Tasks whose group is IX_NONE go to the workload's only pod set, which must be the
 * only one then. O(n log n), O(n) when already in order. */
void snapshot_canonicalise(struct snapshot *s, struct arena *arena);

/* snapshot_check verifies order, references, ranges and limits of a canonical snapshot; err says
 * which table, row and field. STATUS_INVALID on the first violation. O(n). */
MUST_USE enum status snapshot_check(const struct snapshot *s, struct err *err);

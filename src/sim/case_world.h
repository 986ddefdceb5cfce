// SPDX-License-Identifier: Apache-2.0
// case_world: the cluster of a scheduling case between cycles: what exists, what state each pod is
// in, which devices it holds. It freezes itself into a snapshot, takes over what a cycle decided,
// and carries the result to the next round as tests/cases/FORMAT.md says.
//
// Tables are dense, references are indices (IX_NONE: none), in the order of the file. Everything
// lives in the world's arena.
#pragma once

#include "base/array.h"
#include "model/decision.h"
#include "model/snapshot.h"

#define CASE_NODE_LABEL STR("kai.scheduler/type") /* every node has it; its value is the name */

struct case_label {
    struct str key, value;
};
struct case_amount {
    struct str name; /* of a MIG resource */
    int64_t amount;
};

struct case_node {
    struct str name;
    uint32_t device_first, device_count; /* run in devices[] */
    uint32_t label_first, label_count;   /* run in labels[]; CASE_NODE_LABEL included */
    uint32_t mig_first, mig_count;       /* run in amounts[] */
    uint32_t taint_first, taint_count;   /* run in keys[] */
    enum mig_strategy mig;
    bool lost, cordoned, draining;
    uint32_t zone_first, zone_count; /* run in zones[] */
    int64_t cpu_milli, memory_bytes, pods;
};
struct case_device {
    uint32_t node, ordinal;
    int64_t memory_bytes;
    uint32_t zone;       /* of its node; 0 where it has none */
    bool sick, draining; /* neither takes new work */
};
struct case_zone {
    int64_t cpu_milli, memory_bytes;
};
struct case_queue {
    struct str name;
    uint32_t parent;
    int64_t priority;
    struct amounts quota, limit, weight_milli;
    struct amounts usage; /* past use, in parts of USAGE_DENOMINATOR_MAX */
    int64_t reclaim_min_runtime_ms, preempt_min_runtime_ms; /* DURATION_UNSET: inherited */
};
struct case_topology {
    struct str name;
    uint32_t level_first, level_count; /* run in keys[], widest first */
};
/* Groups of a workload are one run, parents before children. */
struct case_group {
    struct str name;
    uint32_t workload, parent;
    bool is_pod_set;
    uint32_t min; /* GROUP_MIN_ALL: every child group */
    uint32_t topology;
    uint32_t required, preferred; /* index in its levels */
};
/* What a pod asks for and where it may go. */
struct case_shape {
    enum gpu_kind gpu;
    uint32_t device_count;
    int64_t share;               /* GPU_SHARE, of each device */
    int64_t device_memory_bytes; /* GPU_MEMORY, of each device */
    int64_t cpu_milli, memory_bytes;
    uint32_t mig_first, mig_count; /* run in amounts[] */
    bool single_numa;
    bool only_nodes; /* only the nodes named in keys[node_first …] */
    uint32_t node_first, node_count;
    uint32_t tolerates_first, tolerates_count;  /* run in keys[]: taints */
    uint32_t label_first, label_count;          /* run in labels[] */
    struct str affinity_key, anti_affinity_key; /* "": none */
};
struct case_workload {
    struct str name;
    uint32_t queue;
    int64_t priority;
    bool preemptible, stays_deleted; /* an evicted pod stays releasing, nobody recreates it */
    int64_t created_ms, last_start_ms, last_evicted_ms;
    int64_t checkpoint_ms; /* 0: none */
    int64_t duration_ms;   /* 0: not declared */
    uint32_t evicted_for;  /* IX_NONE */
    int64_t preemption_delay_ms, stale_since_ms, stale_grace_ms;
    uint32_t group_first, group_count;
    uint32_t pod_first, pod_count; /* run in pods[] */
};
enum case_pod_state {
    CASE_PENDING,
    CASE_GATED,
    CASE_RUNNING,
    CASE_RELEASING,
    CASE_SUCCEEDED,
    CASE_FAILED,
    CASE_PIPELINED, /* raw outcomes only */
    CASE_BINDING,   /* raw outcomes only */
    CASE_POD_STATE_COUNT
};
/* Part of a device; as snap_hold, but by the index in devices[]. */
struct case_hold {
    uint32_t device;
    int64_t share, bytes;
};
struct case_pod {
    struct str name;
    uint32_t workload, group, shape;
    int64_t order; /* within the gang, the higher first */
    enum case_pod_state state;
    uint32_t nominated_node;         /* IX_NONE */
    bool returns;                    /* RELEASING: pending again once it is gone */
    uint32_t node;                   /* of its place; else where it was last, or none */
    uint32_t hold_first, hold_count; /* run in holds[] */
    uint32_t zone; /* with a place and single_numa: place among the zones of its node; else 0 */
    uint32_t last_first, last_count; /* run in holds[]: without devices now, those it had last or
                                        that its labels name; for share_with alone */
};
struct case_claim {
    uint32_t workload, pod, node;
    uint32_t hold_first, hold_count;
    int64_t since_ms;
};
struct case_budget {
    struct str name;
    uint32_t available_min;
    uint32_t pod_first, pod_count; /* run in budget_pods[] */
};

struct case_world {
    struct arena *arena;
    int64_t now_ms; /* stands still through the rounds */
    struct snap_config config;
    ARRAY(struct case_node) nodes;
    ARRAY(struct case_device) devices;
    ARRAY(struct case_zone) zones;
    ARRAY(struct case_queue) queues;
    ARRAY(struct case_topology) topologies;
    ARRAY(struct case_workload) workloads;
    ARRAY(struct case_group) groups;
    ARRAY(struct case_pod) pods;
    ARRAY(struct case_shape) shapes;
    ARRAY(struct case_label) labels;
    ARRAY(struct case_amount) amounts;
    ARRAY(struct str) keys; /* label keys of topologies, node names and taints */
    ARRAY(struct case_hold) holds;
    ARRAY(struct case_claim) claims;
    ARRAY(struct case_budget) budgets;
    ARRAY(uint32_t) budget_pods;
};

void case_world_init(struct case_world *w, struct arena *arena, int64_t now_ms);
struct str case_pod_state_name(enum case_pod_state state);
/* case_pod_state_parse finds the state by its name; false, *out untouched, when there is none. */
bool case_pod_state_parse(struct str name, enum case_pod_state *out);
/* case_pod_holds: it holds its node and devices now (running, releasing or binding). */
bool case_pod_holds(const struct case_pod *pod);

/* case_world_snapshot freezes w into *out, canonical; everything is made in arena and refers to
 * w's names. Tags are indices of w. */
void case_world_snapshot(const struct case_world *w, struct arena *arena, struct snapshot *out);
/* case_world_apply takes over what was decided on snap, which was made from w: states, places,
 * claims. w then is the raw outcome of the round. */
void case_world_apply(struct case_world *w, const struct snapshot *snap,
                      const struct decisions *decisions);
/* case_world_carry makes the raw outcome the state that the next round begins with. */
void case_world_carry(struct case_world *w);
/* case_world_held gives what the binding and running pods of queue and all queues below it are
 * charged in device shares: as asked, memory requests by their part of the device, MIG nothing. */
int64_t case_world_held(const struct case_world *w, uint32_t queue);

// SPDX-License-Identifier: Apache-2.0
// cluster: a simulated cluster behind the cluster port, in virtual time from a seed: nodes that
// fail and come back, devices that sicken, processes that start late or not at all, end by
// themselves or when told, and reports of all that which come late, twice and out of order. It
// outlives crashes of the server, and it keeps an eye on what a real one could not forgive: a
// start of what runs already, more on a device than it has.
#pragma once

#include "base/array.h"
#include "base/map.h"
#include "base/prng.h"
#include "ports/cluster.h"

enum { SIM_NODE_DEVICES_MAX = 8, SIM_PROCS_MAX = 4096, SIM_ZONES = 2 };

/* What a process has of a device, see hold_take. */
struct sim_hold {
    struct str uuid;
    int64_t take;
};
enum sim_proc_state { PROC_STARTING, PROC_RUNNING, PROC_STOPPING, PROC_GONE };
struct sim_proc {
    struct uuid pod;
    uint32_t attempt;
    enum sim_proc_state state;
    uint32_t node;
    struct sim_hold devices[SIM_NODE_DEVICES_MAX];
    uint32_t devices_count;
    int64_t due_ms; /* when the next thing happens to it */
    int64_t exit_code;
    struct str reason;
    bool forgotten; /* the row is free */
};

struct sim_node {
    struct str name;
    bool second_pool; /* has the label of the pool "b" */
    bool up;
    struct device devices[SIM_NODE_DEVICES_MAX];
    uint32_t devices_count;
    int64_t cpu_milli, memory_bytes;
    struct zone zones[SIM_ZONES];
    uint32_t zones_count;
    int64_t due_ms;       /* next failure or return */
    int64_t reported_ms;  /* reports about it are delivered in order: not before this */
    uint32_t undelivered; /* reports about it that wait */
};

/* A report on its way. What it says of a node is what is so when it is delivered. */
struct sim_message {
    enum input_kind kind;
    struct pod_report pod;
    int64_t at_ms; /* when it is delivered */
    int64_t order; /* for equal times */
    uint32_t node; /* IX_NONE: of a pod */
};

struct sim_cluster {
    struct arena *arena; /* lives as long as the simulation */
    struct prng *prng;
    int64_t now_ms;
    ARRAY(struct sim_node) nodes;
    struct sim_proc
        *procs; /* [SIM_PROCS_MAX]: the last attempt of each pod that is not forgotten */
    uint32_t procs_count;
    struct map by_pod; /* pod -> row in procs */
    ARRAY(uint32_t) free_rows;
    ARRAY(struct sim_message) reports;
    int64_t order;
    struct str breach; /* empty: none */
    uint64_t starts, stops, node_losses;
};

/* sim_cluster_init makes a cluster of 2 to 4 nodes of 1 to 8 devices, all up and reported. */
void sim_cluster_init(struct sim_cluster *c, struct arena *arena, struct prng *prng,
                      int64_t now_ms);
/* sim_cluster_advance lets happen what is due by now_ms. */
void sim_cluster_advance(struct sim_cluster *c, int64_t now_ms);
/* sim_cluster_resync is what an adapter does when the server starts anew: everything is reported
 * again, pods that the server believes to be running and nobody knows are reported as lost, and what
 * is left of pods that the server does not know is forgotten. */
void sim_cluster_resync(struct sim_cluster *c, const struct state *believed);
struct cluster sim_cluster_port(struct sim_cluster *c);

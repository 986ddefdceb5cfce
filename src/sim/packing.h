// SPDX-License-Identifier: Apache-2.0
// packing: how much of a cluster's devices a placement policy gets used. Tasks drawn from a trace, in
// a fixed order for a seed, arrive one by one and are placed at once or dropped, until what has been
// asked for passes 130 % of the devices (workload inflation: Weng et al., USENIX ATC 2023). The
// scheduler's own code places them, on one state that lives on (sched/live.h).
#pragma once

#include "base/err.h"
#include "model/snapshot.h"
#include "sched/live.h"

/* Amounts of devices are thousandths here, as in the traces. */
struct packing_node {
    struct str name, model;
    int64_t cpu_milli, memory_mib, devices;
};
struct packing_task {
    struct str name, models; /* of nodes that will do, separated by "|"; empty: all */
    int64_t cpu_milli, memory_mib, devices;
    int64_t milli; /* of each device */
};
struct packing_trace {
    struct packing_node *nodes;
    struct packing_task *tasks;
    uint32_t node_count, task_count;
    int64_t capacity_milli;
};

/* packing_read reads two tables of comma-separated values, of the form of Alibaba's trace
 * cluster-trace-gpu-v2023; columns are found by their names in the first line, further ones are
 * ignored. nodes: sn, cpu_milli, memory_mib, gpu, and model where there is one. tasks: name,
 * cpu_milli, memory_mib, num_gpu, gpu_milli, and gpu_spec. *out points into the texts and arena.
 * STATUS_INVALID says which line is wrong; its file is "nodes" or "tasks". */
MUST_USE enum status packing_read(struct str nodes, struct str tasks, struct arena *arena,
                                  struct packing_trace *out, struct err *err);

enum { PACKING_MARKS = 6 };
extern const int64_t packing_marks[PACKING_MARKS]; /* percent of capacity asked for */

struct packing_result {
    uint32_t drawn, placed;
    int64_t asked_milli, allocated_milli;      /* at the end */
    int64_t allocated_at_milli[PACKING_MARKS]; /* once the mark is reached */
};

/* A replay that is ready to run. */
struct packing {
    const struct packing_trace *trace;
    struct arena *arena;
    uint32_t *drawn; /* [drawn_count] tasks, in the order of arrival */
    uint32_t drawn_count;
    struct snapshot snap;
    struct live live;
};

/* packing_prepare draws the arrivals for the seed (a task is splitmix64 modulo their number) and
 * builds an empty pool that places by `placement`. Everything lives in arena. */
void packing_prepare(struct packing *p, const struct packing_trace *trace, uint64_t seed,
                     enum placement placement, struct arena *arena, struct arena *scratch);
/* packing_run lets them all arrive. Once for each packing_prepare. */
void packing_run(struct packing *p, struct packing_result *out);

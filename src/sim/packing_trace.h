// SPDX-License-Identifier: Apache-2.0
// packing_trace: the nodes of a cluster and the tasks that were sent to it, read from tables of
// comma-separated values in the form of Alibaba's trace cluster-trace-gpu-v2023.
#pragma once

#include "base/arena.h"
#include "base/err.h"

enum { PACKING_MILLI = 1000 }; /* amounts of devices are thousandths, as in the traces */

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
    int64_t capacity_milli; /* all devices */
    uint32_t *shape_of;     /* [tasks] equal for tasks that ask alike: index in shapes[] */
    uint32_t *shapes;       /* [shape_count] a task of each */
    uint32_t shape_count;
};

/* What a task asks of all devices together. */
static inline int64_t packing_asked_milli(const struct packing_task *t)
{
    return t->devices * t->milli;
}

/* packing_read reads the two tables; columns are found by their names in the first line, further
 * ones are ignored. nodes: sn, cpu_milli, memory_mib, gpu, and model where there is one. tasks:
 * name, cpu_milli, memory_mib, num_gpu, gpu_milli, and gpu_spec. *out points into the texts and
 * arena. STATUS_INVALID says which line is wrong; its file is "nodes" or "tasks". */
MUST_USE enum status packing_read(struct str nodes, struct str tasks, struct arena *arena,
                                  struct packing_trace *out, struct err *err);

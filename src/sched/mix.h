// SPDX-License-Identifier: Apache-2.0
// mix: what the pods of a pool ask for and how many ask so, and how much of what is free on a node
// such requests could not use. Internal to sched/.
#pragma once

#include "sched/holes.h"
#include "sched/state.h"

enum { MIX_TYPICAL_MAX = 64 };

/* Shapes that are alike but for extended resources and inter-pod terms. */
struct mix_class {
    enum gpu_kind gpu;
    uint32_t device_count;
    int64_t share; /* of each device; GPU_MEMORY: of the smallest device */
    int64_t device_memory_bytes;
    int64_t cpu_milli, memory_bytes;
    uint32_t selected_set, tolerated_set;
    int64_t weight; /* pods that ask so */
};

/* A class with devices that many pods are of. */
struct mix_typical {
    int64_t cpu_milli, memory_bytes, weight;
    uint32_t device_count;
    uint32_t size; /* index in sizes[] */
    uint32_t set;  /* index in sets[] */
};

/* Nodes that a class may use. */
struct mix_set {
    uint32_t selected_set, tolerated_set;
    bool whole; /* no parts of devices: nodes that lend none will do */
};

struct mix {
    uint32_t *class_of; /* [shapes] index in classes[]; IX_NONE: asks for MIG instances */
    struct mix_class *classes;
    uint32_t class_count;
    int64_t weight; /* of the typical classes and of those without devices, > 0 */
    struct mix_typical typical[MIX_TYPICAL_MAX];
    int64_t sizes[MIX_TYPICAL_MAX]; /* shares that they ask of a device */
    struct mix_set sets[MIX_TYPICAL_MAX];
    uint32_t typical_count, size_count, set_count;
    struct hole_demand fractions[HOLE_SIZES_MAX]; /* of all classes, the most frequent first */
    uint32_t fraction_count;
};

/* What is left of a node. */
struct mix_room {
    uint32_t node;
    int64_t cpu_milli, memory_bytes;
    const int64_t *free; /* [count] shares, of its healthy devices */
    uint32_t count;
};

/* mix_init finds the classes of the snapshot's shapes; nobody asks for anything yet. */
void mix_init(struct mix *m, struct sched *s);
/* mix_recount looks at the pods that are there, running and waiting. O(pods). */
void mix_recount(struct mix *m, struct sched *s);

/* mix_fragmentation gives the shares of the room that a pod of the mix cannot use, summed up over
 * its classes times their weights: from 0 to m->weight times all that is free. */
int64_t mix_fragmentation(const struct mix *m, const struct sched *s, const struct mix_room *room);
/* mix_nodes_alike: the same classes may use the two nodes, whatever is left of them. */
bool mix_nodes_alike(const struct mix *m, const struct sched *s, uint32_t a, uint32_t b);

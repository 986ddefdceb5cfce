// SPDX-License-Identifier: Apache-2.0
// packing_pool: names are numbers with leading zeros, so that the order by name is that of the trace.
#include "sim/packing_pool.h"

WRAPS uint64_t packing_draw(uint64_t *state)
{
    // Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators.
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static void add_nodes(struct snapshot *snap, const struct packing_trace *trace, struct arena *arena)
{
    enum { PODS_MAX = 1 << 20 };
    for (uint32_t i = 0; i < trace->node_count; i++) {
        const struct packing_node *n = &trace->nodes[i];
        *ARRAY_PUSH(arena, &snap->nodes) = (struct snap_node){
            .name = arena_printf(arena, "%08u", i),
            .tag = i,
            .device_first = snap->devices.count,
            .device_count = (uint32_t)n->devices,
            .cpu_milli = n->cpu_milli,
            .memory_bytes = n->memory_mib << 20,
            .pods = PODS_MAX,
            .ready = true,
            .schedulable = true,
        };
        for (uint32_t d = 0; d < n->devices; d++) {
            *ARRAY_PUSH(arena, &snap->devices) = (struct snap_device){
                .node = {i}, .ordinal = d, .healthy = true};
        }
    }
}

// The set of nodes whose model is in the list.
static uint32_t add_set(struct snapshot *snap, const struct packing_trace *trace, struct str models,
                        struct arena *arena)
{
    if (models.len == 0) {
        return IX_NONE;
    }
    uint64_t *words = ARENA_ARRAY(arena, uint64_t, (trace->node_count + 63) / 64);
    for (uint32_t n = 0; n < trace->node_count; n++) {
        struct str rest = models;
        struct str model;
        while (str_split(&rest, '|', &model)) {
            words[n / 64] |= (uint64_t)str_eq(model, trace->nodes[n].model) << (n % 64);
        }
    }
    ARRAY_PUSH(arena, &snap->node_sets)->words = words;
    return snap->node_sets.count - 1;
}

static void add_shapes(struct snapshot *snap, const struct packing_trace *trace,
                       struct arena *arena)
{
    for (uint32_t i = 0; i < trace->shape_count; i++) {
        const struct packing_task *t = &trace->tasks[trace->shapes[i]];
        bool whole = t->milli == PACKING_MILLI;
        uint32_t set = add_set(snap, trace, t->models, arena);
        *ARRAY_PUSH(arena, &snap->shapes) = (struct snap_shape){
            .gpu = t->devices == 0 ? GPU_NONE
                   : whole         ? GPU_WHOLE
                                   : GPU_SHARE,
            .device_count = (uint32_t)t->devices,
            .share = whole ? 0 : t->milli * (DEVICE_SHARE / PACKING_MILLI),
            .cpu_milli = t->cpu_milli,
            .memory_bytes = t->memory_mib << 20,
            .selected_set = set,
            .tolerated_set = IX_NONE,
        };
    }
}

void packing_pool_init(struct snapshot *snap, const struct packing_trace *trace,
                       enum placement placement, struct arena *arena)
{
    const struct amounts unlimited = {
        {AMOUNT_UNLIMITED, AMOUNT_UNLIMITED, AMOUNT_UNLIMITED}
    };
    snapshot_init(snap, 0);
    snap->config.gpu_placement = placement;
    snap->config.cpu_placement = placement == PLACEMENT_SPREAD ? placement : PLACEMENT_BINPACK;
    add_nodes(snap, trace, arena);
    add_shapes(snap, trace, arena);
    *ARRAY_PUSH(arena, &snap->queues) = (struct snap_queue){
        .name = STR("all"),
        .parent = {IX_NONE},
        .quota = unlimited,
        .limit = unlimited,
        .reclaim_min_runtime_ms = DURATION_UNSET,
        .preempt_min_runtime_ms = DURATION_UNSET,
    };
}

struct snap_task *packing_pool_add(struct snapshot *snap, uint32_t arrival, uint32_t shape,
                                   struct arena *arena)
{
    struct str name = arena_printf(arena, "%08u", arrival);
    *ARRAY_PUSH(arena, &snap->workloads) = (struct snap_workload){
        .name = name,
        .tag = arrival,
        .queue = {0},
        .preemptible = true,
        .created_ms = arrival,
        .last_start_ms = TIME_NEVER,
        .last_evicted_ms = TIME_NEVER,
        .evicted_for = {IX_NONE},
        .stale_since_ms = TIME_NEVER,
    };
    struct snap_task *task = ARRAY_PUSH(arena, &snap->tasks);
    *task = (struct snap_task){
        .name = name,
        .tag = arrival,
        .workload = {snap->workloads.count - 1},
        .group = {IX_NONE},
        .shape = {shape},
        .state = TASK_GATED,
        .created_ms = arrival,
        .node = {IX_NONE},
        .nominated_node = IX_NONE,
    };
    return task;
}

// SPDX-License-Identifier: Apache-2.0
// trial_test: for tests of cycles on random small clusters: one such cluster, what is decided on it,
// and what is held there, added up anew. The name of a failing row tells property and seed;
// WEIR_SEED=<that> with the name of the test runs it again as the first one.
#pragma once

#include "base/test.h"
#include "sched/cycle.h"
#include "sim/world_test.h"

enum { WORLDS = 1200, REPORTED_MAX = 2, PROPERTIES_MAX = 16 };

/* One cluster before and after one cycle. */
struct trial {
    struct arena arena;
    uint64_t seed;
    struct case_random_options options;
    struct case_world w;      /* after */
    struct case_world before; /* the same, made anew */
    struct snapshot snap;
    struct decisions decisions;
    uint32_t broken;
    struct {
        const char *property;
        uint32_t count;
    } reported[PROPERTIES_MAX];
};

UNUSED static void broken(struct trial *t, const char *property, struct str detail)
{
    uint32_t p = 0;
    while (t->reported[p].property != NULL &&
           !str_eq(str_from_c(t->reported[p].property), str_from_c(property))) {
        p++;
    }
    t->reported[p].property = property;
    t->broken++;
    if (t->reported[p].count++ < REPORTED_MAX) {
        world_keep(t->seed, t->options, &t->arena);
        test_row(arena_printf(&t->arena, "WEIR_SEED=%" PRIu64 ": %s: " STR_FMT, t->seed, property,
                              STR_ARG(detail))
                     .ptr);
        EXPECT(false);
        test_row(NULL);
    }
}
#define BROKEN(t, property, ...) broken((t), (property), arena_printf(&(t)->arena, __VA_ARGS__))

UNUSED static void decide(struct trial *t, struct case_world *w, uint32_t actions)
{
    struct err err = {0};
    case_world_snapshot(w, &t->arena, &t->snap);
    REQUIRE_OK(snapshot_check(&t->snap, &err), &err);
    sched_cycle(&t->arena, &t->snap, actions, &t->decisions);
}

UNUSED static bool occupies(const struct case_pod *pod, bool later)
{
    return pod->state == CASE_RUNNING || pod->state == CASE_BINDING ||
           (later ? pod->state == CASE_PIPELINED : pod->state == CASE_RELEASING);
}

/* Bytes of a device's memory that a hold takes. */
UNUSED static int64_t hold_bytes(const struct case_world *w, const struct case_hold *hold)
{
    int64_t all = w->devices.items[hold->device].memory_bytes;
    return hold->bytes > 0 ? hold->bytes : num_muldiv_floor(hold->share, all, DEVICE_SHARE);
}

struct room {
    int64_t cpu_milli, memory_bytes, pods;
    int64_t *device_bytes;
};

UNUSED static struct room *empty_rooms(const struct case_world *w, struct arena *arena)
{
    struct room *rooms = ARENA_ARRAY(arena, struct room, w->nodes.count);
    for (uint32_t n = 0; n < w->nodes.count; n++) {
        const struct case_node *node = &w->nodes.items[n];
        rooms[n] = (struct room){node->cpu_milli, node->memory_bytes, node->pods,
                                 ARENA_ARRAY(arena, int64_t, node->device_count + 1)};
        for (uint32_t i = 0; i < node->device_count; i++) {
            rooms[n].device_bytes[i] = w->devices.items[node->device_first + i].memory_bytes;
        }
    }
    return rooms;
}

UNUSED static void fill(const struct case_world *w, struct room *rooms, uint32_t node,
                        uint32_t shape_ix, uint32_t hold_first, uint32_t hold_count)
{
    const struct case_shape *shape = &w->shapes.items[shape_ix];
    rooms[node].cpu_milli -= shape->cpu_milli;
    rooms[node].memory_bytes -= shape->memory_bytes;
    rooms[node].pods--;
    for (uint32_t h = 0; h < hold_count; h++) {
        const struct case_hold *hold = &w->holds.items[hold_first + h];
        const struct case_device *device = &w->devices.items[hold->device];
        rooms[device->node].device_bytes[device->ordinal] -= hold_bytes(w, hold);
    }
}

/* What was decided, in names. */
UNUSED static struct str decided(const struct trial *t, struct buf *text)
{
    buf_clear(text);
    for (uint32_t i = 0; i < t->decisions.evicts.count; i++) {
        const struct decision_evict *evict = &t->decisions.evicts.items[i];
        buf_printf(text, "stop " STR_FMT "%s; ", STR_ARG(t->snap.tasks.items[evict->task.ix].name),
                   evict->moved ? " (move)" : "");
    }
    for (uint32_t i = 0; i < t->decisions.binds.count; i++) {
        const struct decision_bind *bind = &t->decisions.binds.items[i];
        buf_printf(text, "%s " STR_FMT " on " STR_FMT, bind->pipelined ? "keep" : "start",
                   STR_ARG(t->snap.tasks.items[bind->task.ix].name),
                   STR_ARG(t->snap.nodes.items[bind->node.ix].name));
        for (uint32_t h = 0; h < bind->hold_count; h++) {
            const struct snap_hold *hold = &t->decisions.holds.items[bind->hold_first + h];
            buf_printf(text, "/%u", t->snap.devices.items[hold->device.ix].ordinal);
        }
        buf_printf(text, "; ");
    }
    for (uint32_t i = 0; i < t->snap.workloads.count; i++) {
        buf_printf(text, STR_FMT " " STR_FMT "; ", STR_ARG(t->snap.workloads.items[i].name),
                   STR_ARG(reason_name(t->decisions.reasons[i].code)));
    }
    return buf_view(text);
}

UNUSED static void trial_start(struct trial *t, uint64_t seed, struct case_random_options options)
{
    arena_reset(&t->arena);
    t->seed = seed;
    t->options = options;
    world_make(t->seed, t->options, &t->arena, &t->w);
    world_make(t->seed, t->options, &t->arena, &t->before);
}

UNUSED static struct case_random_options options_of(uint64_t seed)
{
    return (struct case_random_options){.fractions = seed % 4 == 3,
                                        .pending_max = 8,
                                        .more = seed % 3 == 1,
                                        .constraints = seed % 5 == 2,
                                        .full = seed % 2 == 0};
}

UNUSED static void add_cost(const struct case_world *w, const struct case_pod *pod,
                            struct amounts *sum)
{
    sum->v[RES_CPU] += w->shapes.items[pod->shape].cpu_milli;
    sum->v[RES_MEMORY] += w->shapes.items[pod->shape].memory_bytes;
    for (uint32_t h = 0; h < pod->hold_count; h++) {
        sum->v[RES_GPU] += w->holds.items[pod->hold_first + h].share;
    }
}

/* What the pods that stay or come hold in a queue and below it. */
UNUSED static struct amounts charged(const struct case_world *w, uint32_t queue,
                                     bool non_preemptible)
{
    struct amounts sum = {{0}};
    for (uint32_t i = 0; i < w->pods.count; i++) {
        const struct case_pod *pod = &w->pods.items[i];
        const struct case_workload *workload = &w->workloads.items[pod->workload];
        uint32_t at = workload->queue;
        while (at != IX_NONE && at != queue) {
            at = w->queues.items[at].parent;
        }
        if (at == IX_NONE || !occupies(pod, true) || (non_preemptible && workload->preemptible)) {
            continue;
        }
        add_cost(w, pod, &sum);
    }
    return sum;
}

/* R6, R2: no queue at any level gets above its limit, nor non-preemptible work above its quota; a
 * queue that was above gets no more. */
UNUSED static uint32_t active(const struct case_world *w, uint32_t workload)
{
    uint32_t count = 0;
    const struct case_workload *row = &w->workloads.items[workload];
    for (uint32_t i = row->pod_first; i < row->pod_first + row->pod_count; i++) {
        count += occupies(&w->pods.items[i], true) ? 1 : 0;
    }
    return count;
}

/* R5: what was complete is complete or gone; what got a place is complete. */

// SPDX-License-Identifier: Apache-2.0
#include "sched/mix.h"

#include "base/prng.h"
#include "base/test.h"

enum { HALF = DEVICE_SHARE / 2, DEVICES = 2, GIB = 1 << 30 };

struct world {
    struct arena arena, scratch;
    struct snapshot snap;
    struct decisions out;
    struct sched sched;
    struct mix mix;
};

// Two nodes of two devices; pods may be barred from the second.
static void begin(struct world *w)
{
    *w = (struct world){0};
    arena_init(&w->arena, 0);
    arena_init(&w->scratch, 0);
    snapshot_init(&w->snap, 0);
    for (uint32_t n = 0; n < 2; n++) {
        *ARRAY_PUSH(&w->arena, &w->snap.nodes) = (struct snap_node){
            .name = n == 0 ? STR("a") : STR("b"),
            .device_first = n * DEVICES,
            .device_count = DEVICES,
            .cpu_milli = 16000,
            .memory_bytes = INT64_C(64) * GIB,
            .pods = 110,
            .ready = true,
            .schedulable = true,
        };
        for (uint32_t d = 0; d < DEVICES; d++) {
            *ARRAY_PUSH(&w->arena, &w->snap.devices) = (struct snap_device){
                .node = {n}, .ordinal = d, .healthy = true};
        }
    }
    uint64_t *words = ARENA_ARRAY(&w->arena, uint64_t, 1);
    words[0] = 1;
    ARRAY_PUSH(&w->arena, &w->snap.node_sets)->words = words;
    const struct amounts unlimited = {
        {AMOUNT_UNLIMITED, AMOUNT_UNLIMITED, AMOUNT_UNLIMITED}
    };
    *ARRAY_PUSH(&w->arena, &w->snap.queues) = (struct snap_queue){
        .name = STR("all"),
        .parent = {IX_NONE},
        .quota = unlimited,
        .limit = unlimited,
        .reclaim_min_runtime_ms = DURATION_UNSET,
        .preempt_min_runtime_ms = DURATION_UNSET,
    };
}

// So many pods that ask for a share of each of `devices`.
static void add_pods(struct world *w, uint32_t pods, uint32_t devices, int64_t share,
                     int64_t cpu_milli, int64_t memory_gib, uint32_t selected_set)
{
    uint32_t shape = w->snap.shapes.count;
    *ARRAY_PUSH(&w->arena, &w->snap.shapes) = (struct snap_shape){
        .gpu = devices == 0            ? GPU_NONE
               : share == DEVICE_SHARE ? GPU_WHOLE
                                       : GPU_SHARE,
        .device_count = devices,
        .share = share == DEVICE_SHARE ? 0 : share,
        .cpu_milli = cpu_milli,
        .memory_bytes = memory_gib * GIB,
        .selected_set = selected_set,
        .tolerated_set = IX_NONE,
    };
    for (uint32_t i = 0; i < pods; i++) {
        uint32_t workload = w->snap.workloads.count;
        struct str name = arena_printf(&w->arena, "w%04u", workload);
        *ARRAY_PUSH(&w->arena, &w->snap.workloads) = (struct snap_workload){
            .name = name,
            .queue = {0},
            .last_start_ms = TIME_NEVER,
            .last_evicted_ms = TIME_NEVER,
            .evicted_for = {IX_NONE},
            .stale_since_ms = TIME_NEVER,
        };
        *ARRAY_PUSH(&w->arena, &w->snap.tasks) = (struct snap_task){
            .name = name,
            .workload = {workload},
            .group = {IX_NONE},
            .shape = {shape},
            .state = TASK_PENDING,
            .node = {IX_NONE},
            .nominated_node = IX_NONE,
        };
    }
}

static void count(struct world *w)
{
    snapshot_canonicalise(&w->snap, &w->arena);
    sched_init(&w->sched, &w->snap, &w->arena, &w->scratch, &w->out);
    mix_init(&w->mix, &w->sched);
    mix_recount(&w->mix, &w->sched);
}

static void end(struct world *w)
{
    arena_done(&w->scratch);
    arena_done(&w->arena);
}

TEST(fragmentation)
{
    // Sixteen pods: what each cannot use, in half devices, times how many they are.
    static const struct {
        const char *name;
        uint32_t node;
        int64_t cpu_milli, memory_gib, free[DEVICES];
        int64_t halves;
    } rows[] = {
        {"all can use an empty node but those without devices", 0, 16000, 64, {7000, 7000}, 1 * 4 },
        {"a half is lost to those who want a whole one",
         0,                                                        16000,
         64,                                                                  {7000, 3500},
         1 * 3 + 2 * 1 + 4 * 3                                                                    },
        {"two halves are lost to all but the halves",
         0,                                                        16000,
         64,                                                                  {3500, 3500},
         1 * 2 + 2 * 2 + 4 * 2                                                                    },
        {"less than a half is lost to all",                     0, 16000, 64, {0, 3499},    -1    },
        {"nothing free, nothing lost",                          0, 0,     0,  {0, 0},       0     },
        {"without CPU all is lost",                             0, 0,     64, {7000, 7000}, 16 * 4},
        {"without memory all is lost",                          0, 16000, 0,  {7000, 7000}, 16 * 4},
        {"with little CPU the halves can use all",              0, 1000,  64, {7000, 7000}, 7 * 4 },
        {"the pair is not for this node",                       1, 16000, 64, {7000, 7000}, 5 * 4 },
    };
    struct world w;
    begin(&w);
    add_pods(&w, 9, 1, HALF, 1000, 1, IX_NONE);
    add_pods(&w, 2, 1, DEVICE_SHARE, 2000, 8, IX_NONE);
    add_pods(&w, 4, 2, DEVICE_SHARE, 8000, 16, 0);
    add_pods(&w, 1, 0, 0, 4000, 4, IX_NONE);
    count(&w);
    REQUIRE(w.mix.weight == 16);
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t halves = rows[i].halves;
        struct mix_room room = {rows[i].node, rows[i].cpu_milli, rows[i].memory_gib * GIB,
                                rows[i].free, DEVICES};
        test_row(rows[i].name);
        EXPECT_I64(mix_fragmentation(&w.mix, &w.sched, &room),
                   halves < 0 ? 16 * 3499 : halves * HALF);
    }
    test_row(NULL);
    EXPECT(!mix_nodes_alike(&w.mix, &w.sched, 0, 1));
    REQUIRE(w.mix.fraction_count == 1);
    EXPECT_I64(w.mix.fractions[0].share, HALF);
    EXPECT_I64(w.mix.fractions[0].count, 9);
    end(&w);
}

TEST(rare_shapes_do_not_count)
{
    struct world w;
    begin(&w);
    add_pods(&w, 19, 1, DEVICE_SHARE, 1000, 1, IX_NONE);
    add_pods(&w, 1, 2, DEVICE_SHARE, 1000, 1, 0);
    count(&w);
    EXPECT_I64(w.mix.weight, 19);
    EXPECT_I64(w.mix.typical_count, 1);
    EXPECT(mix_nodes_alike(&w.mix, &w.sched, 0, 1));
    end(&w);
}

TEST(less_room_is_never_less_fragmented)
{
    struct prng p;
    prng_init(&p, test_seed());
    for (int round = 0; round < 50; round++) {
        struct world w;
        begin(&w);
        for (int i = 0; i < 8; i++) {
            uint32_t devices = prng_below(&p, DEVICES + 1);
            add_pods(&w, prng_below(&p, 5) + 1, devices,
                     prng_chance(&p, 500) ? DEVICE_SHARE : prng_range(&p, 1, DEVICE_SHARE - 1),
                     prng_range(&p, 0, 8000), prng_range(&p, 0, 32),
                     prng_chance(&p, 500) ? 0 : IX_NONE);
        }
        count(&w);
        for (int i = 0; i < 50; i++) {
            int64_t free[DEVICES] = {prng_range(&p, 0, DEVICE_SHARE), DEVICE_SHARE};
            struct mix_room room = {prng_below(&p, 2), prng_range(&p, 0, 16000),
                                    prng_range(&p, 0, 64) * GIB, free, DEVICES};
            int64_t much = mix_fragmentation(&w.mix, &w.sched, &room);
            room.cpu_milli /= 2;
            room.memory_bytes /= 2;
            int64_t little = mix_fragmentation(&w.mix, &w.sched, &room);
            EXPECT(0 <= much && much <= little);
            EXPECT(little <= w.mix.weight * (free[0] + free[1]));
        }
        end(&w);
    }
}

TEST_MAIN()

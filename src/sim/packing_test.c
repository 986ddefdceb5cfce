// SPDX-License-Identifier: Apache-2.0
#include "sim/packing.h"

#include "base/buf.h"
#include "base/prng.h"
#include "base/test.h"
#include "sim/churn.h"

#define NODES "sn,cpu_milli,memory_mib,gpu,model\n"
#define TASKS "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"

enum { TEXT_MAX = 1 << 20, CLUSTER_NODES = 150, CLUSTER_TASKS = 1000 };

/* A cluster of an invented company: nodes of 2, 4 and 8 devices, work of every size, and the sizes
 * of fractions do not divide a device. */
static void invent(struct buf *nodes, struct buf *tasks)
{
    static const int64_t devices[] = {2, 2, 4, 8, 8};
    static const int64_t milli[] = {810, 810, 650, 470, 320, 230};
    struct prng p;
    prng_init(&p, 42);
    buf_init(nodes, TEXT_MAX);
    buf_init(tasks, TEXT_MAX);
    buf_str(nodes, STR(NODES));
    buf_str(tasks, STR(TASKS));
    for (int i = 0; i < CLUSTER_NODES; i++) {
        int64_t count = devices[prng_below(&p, COUNT_OF(devices))];
        buf_printf(nodes, "n%d,%lld,%lld,%lld,%s\n", i, (long long)(count * 12000 + 4000),
                   (long long)(count * 65536), (long long)count, i % 3 == 0 ? "small" : "large");
    }
    for (int i = 0; i < CLUSTER_TASKS; i++) {
        uint32_t kind = prng_below(&p, 100);
        int64_t whole = kind < 72 ? 1 : kind < 76 ? 2 : kind < 79 ? 4 : 8;
        bool fraction = kind < 40;
        bool none = kind >= 85;
        buf_printf(tasks, "t%d,%lld,%lld,%lld,%lld,%s\n", i,
                   (long long)(none ? 8000 : whole * 10000 - (fraction ? 4000 : 0)),
                   (long long)(whole * 16384), (long long)(none ? 0 : whole),
                   (long long)(fraction ? milli[prng_below(&p, COUNT_OF(milli))] : 1000),
                   prng_chance(&p, 100) ? "large" : "");
    }
}

struct world {
    struct buf nodes, tasks;
    struct arena arena;
    struct packing_trace trace;
};

static void world_init(struct world *w)
{
    struct err err = {0};
    invent(&w->nodes, &w->tasks);
    arena_init(&w->arena, 0);
    REQUIRE_OK(packing_read(buf_view(&w->nodes), buf_view(&w->tasks), &w->arena, &w->trace, &err),
               &err);
}

static void world_done(struct world *w)
{
    arena_done(&w->arena);
    buf_done(&w->tasks);
    buf_done(&w->nodes);
}

static struct packing_result run(const struct packing_trace *trace, uint64_t seed,
                                 enum placement placement, bool leave)
{
    struct arena arena;
    struct arena scratch;
    struct packing p;
    struct packing_result result;
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    packing_prepare(&p, trace, seed, placement, &arena, &scratch);
    packing_run(&p, &result);
    state_check(&p.live.sched);
    for (uint32_t i = 0; leave && i < p.drawn_count; i++) {
        live_leave(&p.live, i);
    }
    if (leave) {
        state_check(&p.live.sched);
        for (uint32_t d = 0; d < p.snap.devices.count; d++) {
            EXPECT_I64(p.live.sched.devices[d].occupied, 0);
        }
    }
    arena_done(&scratch);
    arena_done(&arena);
    return result;
}

TEST(arrivals_come_in_the_order_of_splitmix64)
{
    // The first numbers of seed 1, modulo the tasks of Alibaba's default trace.
    static const uint32_t want[] = {3617, 503, 6566, 6451, 6361};
    struct buf tasks;
    struct err err = {0};
    struct arena arena;
    struct arena scratch;
    struct packing_trace trace;
    struct packing p;
    buf_init(&tasks, TEXT_MAX);
    buf_str(&tasks, STR(TASKS));
    for (int i = 0; i < 8152; i++) {
        buf_printf(&tasks, "t%d,1,1,1,1000,\n", i);
    }
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    REQUIRE_OK(
        packing_read(STR(NODES "a,64000,65536,4,G\n"), buf_view(&tasks), &arena, &trace, &err),
        &err);
    packing_prepare(&p, &trace, 1, PLACEMENT_BINPACK, &arena, &scratch);
    REQUIRE(p.drawn_count == 6); /* the first at or beyond 5.2 devices */
    for (uint32_t i = 0; i < COUNT_OF(want); i++) {
        EXPECT_I64(p.drawn[i], want[i]);
    }
    arena_done(&scratch);
    arena_done(&arena);
    buf_done(&tasks);
}

TEST(packing_gets_more_devices_used)
{
    struct world w;
    world_init(&w);
    int64_t sum[3] = {0};
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct packing_result r[3];
        for (uint32_t policy = PLACEMENT_BINPACK; policy <= PLACEMENT_PACK; policy++) {
            r[policy] = run(&w.trace, seed, (enum placement)policy, seed == 1);
            struct packing_result again = run(&w.trace, seed, (enum placement)policy, false);
            EXPECT_I64(r[policy].allocated_milli, again.allocated_milli);
            EXPECT(r[policy].allocated_milli <= w.trace.capacity_milli);
            EXPECT_I64(r[policy].allocated_at_milli[PACKING_MARKS - 1], r[policy].allocated_milli);
            EXPECT_I64(r[policy].drawn, r[0].drawn); /* the same tasks for all */
            EXPECT_I64(r[policy].asked_milli, r[0].asked_milli);
            sum[policy] += r[policy].allocated_milli * 1000 / w.trace.capacity_milli;
        }
        EXPECT(r[PLACEMENT_PACK].allocated_milli > r[PLACEMENT_BINPACK].allocated_milli);
        EXPECT(r[PLACEMENT_BINPACK].allocated_milli > r[PLACEMENT_SPREAD].allocated_milli);
    }
    // By at least half a percent of the devices, over three seeds.
    EXPECT(sum[PLACEMENT_PACK] >= sum[PLACEMENT_BINPACK] + 3 * 5);
    world_done(&w);
}

TEST(moves_serve_what_would_be_turned_away)
{
    static const struct {
        enum placement placement;
        bool consolidate;
    } ways[] = {
        {PLACEMENT_BINPACK, false},
        {PLACEMENT_PACK,    false},
        {PLACEMENT_PACK,    true },
    };
    struct world w;
    world_init(&w);
    int64_t lost[COUNT_OF(ways)] = {0};
    for (uint32_t i = 0; i < COUNT_OF(ways); i++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct arena arena;
            struct arena scratch;
            struct churn_result r;
            arena_init(&arena, 0);
            arena_init(&scratch, 0);
            churn_run(&w.trace, seed, ways[i].placement, ways[i].consolidate, &arena, &scratch, &r);
            EXPECT(r.lost_milli < r.asked_milli);
            EXPECT(r.allocated_milli <= w.trace.capacity_milli * r.arrivals);
            EXPECT((r.moves > 0) == ways[i].consolidate);
            lost[i] += r.lost_milli;
            arena_done(&scratch);
            arena_done(&arena);
        }
    }
    EXPECT(lost[1] < lost[0]);
    EXPECT(lost[2] * 4 < lost[1] * 3);
    world_done(&w);
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
#include "sim/packing.h"

#include "base/buf.h"
#include "base/prng.h"
#include "base/test.h"

#define NODES "sn,cpu_milli,memory_mib,gpu,model\n"
#define TASKS "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"

enum { TEXT_MAX = 1 << 20, CLUSTER_NODES = 150, CLUSTER_TASKS = 1000 };

TEST(tables)
{
    static const struct {
        const char *name;
        struct str nodes, tasks;
        const char *file;
        uint32_t line;
        struct str text; /* empty: good */
    } rows[] = {
        {"as they are",                               STRS(NODES "a,1000,1,8,G\n"),     STRS(TASKS "t,1,1,1,500,G|H\n"), "",      0,
         STRS("")                                                                                                                                                                                       },
        {"other columns, another order, empty lines",
         STRS("gpu,x,sn,cpu_milli,memory_mib\r\n\n2,,a,1,1\r\n"),
         STRS("gpu_milli,num_gpu,name,memory_mib,cpu_milli\n1000,2,t,1,1\n\n"),                                          "",      0, STRS("")                                                           },
        {"no such column",                            STRS("sn,cpu_milli,gpu\n"),       STRS(TASKS),                     "nodes", 1,
         STRS("the first line names no column \"memory_mib\"")                                                                                                                                          },
        {"nothing",                                   STRS(""),                         STRS(""),                        "nodes", 1, STRS("the first line names no column \"sn\"")                      },
        {"a word",                                    STRS(NODES "a,1000,1,eight,G\n"), STRS(TASKS),                     "nodes", 2,
         STRS("gpu must be a number from 0 to 64, not \"eight\"")                                                                                                                                       },
        {"too many devices",                          STRS(NODES "a,1000,1,65,G\n"),    STRS(TASKS),                     "nodes", 2,
         STRS("gpu must be a number from 0 to 64, not \"65\"")                                                                                                                                          },
        {"a part that is none",                       STRS(NODES "a,1,1,1,G\n"),        STRS(TASKS "t,1,1,1,1001,\n"),   "tasks",
         2,                                                                                                                          STRS("gpu_milli must be a number from 0 to 1000, not \"1001\"")    },
        {"a device and no part of it",                STRS(NODES "a,1,1,1,G\n"),        STRS(TASKS "t,1,1,1,0,\n"),
         "tasks",                                                                                                                 2, STRS("a task that asks for a device needs a part of it, not \"0\"")},
        {"nobody asks for devices",                   STRS(NODES "a,1,1,1,G\n"),        STRS(TASKS "t,1,1,0,0,\n"),      "tasks",
         1,                                                                                                                          STRS("no task asks for devices: the column is \"num_gpu\"")        },
        {"no devices",                                STRS(NODES "a,1,1,0,G\n"),        STRS(TASKS "t,1,1,1,1,\n"),      "nodes", 1,
         STRS("there are no devices: the column is \"gpu\"")                                                                                                                                            },
    };
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena;
        struct packing_trace trace;
        struct err err = {0};
        arena_init(&arena, 0);
        test_row(rows[i].name);
        enum status status = packing_read(rows[i].nodes, rows[i].tasks, &arena, &trace, &err);
        EXPECT_STATUS(status, rows[i].text.len == 0 ? STATUS_OK : STATUS_INVALID);
        EXPECT_STR(str_from_c(err.text), rows[i].text);
        EXPECT_STR(str_from_c(err.file), str_from_c(rows[i].file));
        EXPECT_I64(err.line, rows[i].line);
        arena_done(&arena);
    }
    test_row(NULL);
}

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

TEST_MAIN()

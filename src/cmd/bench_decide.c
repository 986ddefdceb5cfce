// SPDX-License-Identifier: Apache-2.0
// bench_decide: `weir bench decide` measures a whole decision of the engine with little to do: from
// its state to the tick. All nodes are full but for one device each, and a handful of workloads waits
// that fits. That all decisions are alike is checked on the way.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/num.h"
#include "cmd/cmd.h"
#include "engine/engine.h"
#include "io/clock.h"
#include "model/record.h"
#include "model/units.h"
#include "sim/cycle_bench.h"

enum {
    NODES = 10000,
    BENCH_NODES_MAX = 100000,
    ROUNDS = 5,
    ROUNDS_MAX = 1000,
    DEVICES = 8,   /* of a node; on all but one of them a pod runs */
    NO_DEVICE = 3, /* pods without a device on each node */
    WAITING = 8,
    PROJECTS = 64,
    DEPARTMENTS = 8,
};

struct bench {
    struct engine *e;
    struct arena arena; /* of inputs and names */
    struct effects effects;
    uint32_t nodes, rounds, next_id;
    struct project projects[PROJECTS];
};

static enum status apply(struct bench *b, struct input in, struct err *err)
{
    struct outcome out;
    in.seq = engine_state(b->e)->seq + 1;
    in.now_ms = 1000;
    in.version = INPUT_VERSION;
    b->effects.count = 0;
    engine_apply(b->e, &in, &b->effects, &out);
    *err = out.err;
    return out.status;
}

static struct uuid new_id(struct bench *b)
{
    struct uuid u = {{0}};
    uint32_t n = ++b->next_id;
    memcpy(u.b, &n, sizeof n);
    return u;
}

static enum status make_plan(struct bench *b, struct err *err)
{
    struct department departments[DEPARTMENTS];
    struct quota *quota = ARENA_NEW(&b->arena, struct quota);
    *quota = plan_quota(NULL, 0, STR("default"));
    quota->over_quota = true;
    for (uint32_t i = 0; i < DEPARTMENTS; i++) {
        departments[i] = (struct department){
            .name = arena_printf(&b->arena, "d%u", i), .quotas = quota, .quotas_count = 1};
    }
    for (uint32_t i = 0; i < PROJECTS; i++) {
        b->projects[i] = (struct project){.name = arena_printf(&b->arena, "p%02u", i),
                                          .department = departments[i % DEPARTMENTS].name,
                                          .quotas = quota,
                                          .quotas_count = 1};
    }
    struct input in = {.kind = INPUT_PLAN_APPLY, .author = STR("bench")};
    in.plan_apply.plan = (struct plan){.departments = departments,
                                       .departments_count = DEPARTMENTS,
                                       .projects = b->projects,
                                       .projects_count = PROJECTS};
    return apply(b, in, err);
}

// Submits a workload of one pod; *bind is where that is to run.
static enum status submit(struct bench *b, int64_t devices, struct bind *bind, struct err *err)
{
    struct pod_id pod = {.id = new_id(b)};
    struct input in = {.kind = INPUT_SUBMIT, .author = STR("bench")};
    in.submit = (struct submit){.id = new_id(b),
                                .name = arena_printf(&b->arena, "w%u", b->next_id),
                                .project = b->projects[b->next_id / 2 % PROJECTS].name,
                                .kind = WORKLOAD_TRAINING,
                                .pod_ids = &pod,
                                .pod_ids_count = 1};
    in.submit.spec = (struct workload_spec){
        .pods = 1, .pods_min = 1, .backoff_limit = 1, .auto_delete_ms = -1};
    in.submit.spec.pod = (struct pod_spec){.gpu_devices = devices,
                                           .cpu_milli = 1000,
                                           .memory_bytes = INT64_C(1) << 30,
                                           .cpu_limit_milli = -1,
                                           .memory_limit_bytes = -1,
                                           .run_as_uid = -1,
                                           .run_as_gid = -1};
    bind->pod = pod.id;
    return apply(b, in, err);
}

static enum status add_node(struct bench *b, uint32_t number, struct err *err)
{
    struct device devices[DEVICES];
    struct held_device held[DEVICES];
    struct bind binds[DEVICES - 1 + NO_DEVICE];
    struct str name = arena_printf(&b->arena, "node-%06u", number);
    for (uint32_t d = 0; d < DEVICES; d++) {
        devices[d] = (struct device){.uuid = arena_printf(&b->arena, "GPU-%06u-%u", number, d),
                                     .memory_bytes = INT64_C(80) << 30,
                                     .healthy = true};
        held[d] = (struct held_device){.uuid = devices[d].uuid, .share = DEVICE_SHARE};
    }
    struct input in = {.kind = INPUT_NODE_SEEN};
    in.node = (struct node){.name = name,
                            .devices = devices,
                            .devices_count = DEVICES,
                            .cpu_milli = 192000,
                            .memory_bytes = INT64_C(1) << 40,
                            .pods_max = 110,
                            .ready = true};
    enum status status = apply(b, in, err);
    uint32_t count = sizeof binds / sizeof *binds;
    for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
        bool on_device = i < DEVICES - 1;
        binds[i] = (struct bind){
            .node = name, .devices = &held[i % DEVICES], .devices_count = on_device};
        status = submit(b, on_device, &binds[i], err);
    }
    if (status == STATUS_OK) {
        in = (struct input){.kind = INPUT_TICK};
        in.tick.binds = binds;
        in.tick.binds_count = count;
        status = apply(b, in, err);
    }
    return status;
}

static enum status fill(struct bench *b, struct err *err)
{
    struct bind unused;
    enum status status = make_plan(b, err);
    for (uint32_t i = 0; i < b->nodes && status == STATUS_OK; i++) {
        status = add_node(b, i, err);
    }
    for (uint32_t i = 0; i < WAITING && status == STATUS_OK; i++) {
        status = submit(b, 1, &unused, err);
    }
    return status;
}

// Each decision is on the same state: none is applied.
static enum status measure(struct bench *b, struct err *err)
{
    int64_t *us = ARENA_ARRAY(&b->arena, int64_t, b->rounds);
    uint64_t digest = 0;
    uint32_t starts = 0;
    struct buf bytes;
    buf_init(&bytes, UINT32_MAX);
    for (uint32_t i = 0; i < b->rounds; i++) {
        struct arena arena;
        struct tick tick;
        bool changed;
        arena_init(&arena, 0);
        int64_t start_us = clock_cpu_us();
        engine_decide(b->e, 2000, &arena, &tick, &changed);
        us[i] = clock_cpu_us() - start_us;
        buf_clear(&bytes);
        record_encode(&record_tick, &tick, &bytes);
        uint64_t this = hash_bytes(buf_view(&bytes).ptr, buf_view(&bytes).len, 0);
        starts = tick.binds_count;
        start_us = clock_cpu_us();
        arena_done(&arena);
        us[i] += clock_cpu_us() - start_us;
        if (i > 0 && this != digest) {
            buf_done(&bytes);
            return err_set(err, STATUS_INTERNAL, "decision %u is not the one before", i + 1);
        }
        digest = this;
    }
    buf_done(&bytes);
    int64_t median_us = cycle_median(us, b->rounds);
    printf("%u nodes, %u pods that run, %d that wait; the median of %u decisions\n", b->nodes,
           b->nodes * (DEVICES - 1 + NO_DEVICE), WAITING, b->rounds);
    printf("  a decision         %8" PRId64 ".%03" PRId64 " ms\n", median_us / 1000,
           median_us % 1000);
    printf("  fastest            %8" PRId64 ".%03" PRId64 " ms\n", us[0] / 1000, us[0] % 1000);
    printf("%u pods start; digest %016" PRIx64 "\n", starts, digest);
    return STATUS_OK;
}

static bool read_arguments(struct bench *b, int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        int64_t number = 0;
        bool nodes = strcmp(argv[i], "--nodes") == 0;
        if ((!nodes && strcmp(argv[i], "--rounds") != 0) ||
            !num_parse_i64(str_from_c(argv[i + 1]), &number) || number < 1 ||
            number > (nodes ? BENCH_NODES_MAX : ROUNDS_MAX)) {
            return false;
        }
        *(nodes ? &b->nodes : &b->rounds) = (uint32_t)number;
    }
    return argc % 2 == 1;
}

int cmd_bench_decide(int argc, char **argv)
{
    struct bench b = {.nodes = NODES, .rounds = ROUNDS};
    struct err err = {0};
    if (!read_arguments(&b, argc, argv)) {
        fprintf(stderr, "usage: weir bench decide [--nodes 1..%d] [--rounds 1..%d]\n",
                BENCH_NODES_MAX, ROUNDS_MAX);
        return 2;
    }
    arena_init(&b.arena, 0);
    b.effects.arena = &b.arena;
    b.e = engine_new();
    enum status status = fill(&b, &err);
    if (status == STATUS_OK) {
        status = measure(&b, &err);
    }
    if (status != STATUS_OK) {
        struct str text = err_format(&err, &b.arena);
        fprintf(stderr, STR_FMT "\n", STR_ARG(text));
    }
    engine_free(b.e);
    arena_done(&b.arena);
    return status_info(status)->exit;
}

// SPDX-License-Identifier: Apache-2.0
// rig_test: for tests of this folder: one engine, and short ways to say things to it.
#pragma once

#include "base/array.h"
#include "base/hash.h"
#include "base/test.h"
#include "engine/engine.h"
#include "model/reason.h"
#include "model/units.h"

struct rig {
    struct engine *e;
    struct arena arena;
    struct effects effects;
    struct outcome out;
    int64_t now_ms;
};

UNUSED static void rig_init(struct rig *r)
{
    *r = (struct rig){.e = engine_new(), .now_ms = 1000};
    arena_init(&r->arena, 0);
    r->effects.arena = &r->arena;
}

UNUSED static void rig_done(struct rig *r)
{
    struct arena a;
    arena_init(&a, 0);
    EXPECT_STR(engine_invariants(r->e, &a), STR(""));
    arena_done(&a);
    engine_free(r->e);
    arena_done(&r->arena);
}

UNUSED static enum status say(struct rig *r, struct input in)
{
    struct outcome would;
    in.now_ms = r->now_ms;
    in.version = INPUT_VERSION;
    in.seq = engine_state(r->e)->seq + 1;
    engine_check(r->e, &in, &would);
    r->effects.count = 0;
    engine_apply(r->e, &in, &r->effects, &r->out);
    EXPECT_STATUS(would.status, r->out.status);
    EXPECT_STR(str_from_c(would.err.text), str_from_c(r->out.err.text));
    EXPECT(would.repeated == r->out.repeated);
    return r->out.status;
}

UNUSED static struct uuid id_of(uint32_t n)
{
    struct uuid u = {{0}};
    u.b[0] = (uint8_t)(n >> 8);
    u.b[1] = (uint8_t)(n & 0xff);
    u.b[15] = 1;
    return u;
}

UNUSED static struct quota quota_of(int64_t gpus)
{
    return (struct quota){.pool = STR("default"),
                          .gpu_share = gpus * DEVICE_SHARE,
                          .gpu_max_share = AMOUNT_UNLIMITED,
                          .cpu_milli = AMOUNT_UNLIMITED,
                          .cpu_max_milli = AMOUNT_UNLIMITED,
                          .memory_bytes = AMOUNT_UNLIMITED,
                          .memory_max_bytes = AMOUNT_UNLIMITED,
                          .over_quota = true,
                          .weight_milli = 2000,
                          .rank = 65,
                          .reclaim_min_runtime_ms = -1,
                          .preempt_min_runtime_ms = -1};
}

/* Department d (2n guaranteed) with projects a and b (n each). */
UNUSED static enum status apply_plan(struct rig *r, int64_t gpus, uint32_t projects, bool prune,
                                     int64_t base)
{
    struct quota of_department = quota_of(2 * gpus);
    struct quota of_project = quota_of(gpus);
    struct department d = {.name = STR("d"), .quotas = &of_department, .quotas_count = 1};
    struct project list[2] = {
        {.name = STR("a"), .department = STR("d"), .quotas = &of_project, .quotas_count = 1},
        {.name = STR("b"), .department = STR("d"), .quotas = &of_project, .quotas_count = 1},
    };
    struct input in = {.kind = INPUT_PLAN_APPLY, .author = STR("root")};
    in.plan_apply = (struct plan_apply){
        .plan = {.departments = &d,
                 .departments_count = 1,
                 .projects = list,
                 .projects_count = projects},
        .base_revision = base,
        .prune = prune,
    };
    return say(r, in);
}

UNUSED static enum status see_node(struct rig *r, struct str name, uint32_t devices, bool healthy)
{
    struct device list[8];
    for (uint32_t i = 0; i < devices; i++) {
        list[i] = (struct device){.uuid = arena_printf(&r->arena, "GPU-%.*s-%u", STR_ARG(name), i),
                                  .memory_bytes = INT64_C(80) << 30,
                                  .healthy = healthy || i > 0};
    }
    struct input in = {.kind = INPUT_NODE_SEEN};
    in.node = (struct node){.name = name,
                            .devices = list,
                            .devices_count = devices,
                            .cpu_milli = 64000,
                            .memory_bytes = INT64_C(1) << 38,
                            .pods_max = 110,
                            .ready = true};
    return say(r, in);
}

/* A submit of workload n (pods n * 10 + 1, …) with pods pods of one device. */
struct submit_text {
    struct pod_id ids[4];
};
UNUSED static struct input submit_of(struct submit_text *t, uint32_t n, struct str name,
                                     uint32_t pods)
{
    struct input in = {.kind = INPUT_SUBMIT, .author = STR("ann")};
    for (uint32_t i = 0; i < pods; i++) {
        t->ids[i].id = id_of(n * 10 + 1 + i);
    }
    in.submit = (struct submit){.id = id_of(n),
                                .name = name,
                                .project = STR("a"),
                                .kind = WORKLOAD_TRAINING,
                                .pod_ids = t->ids,
                                .pod_ids_count = pods};
    in.submit.spec = (struct workload_spec){
        .pods = pods, .pods_min = pods, .backoff_limit = 1, .auto_delete_ms = -1};
    in.submit.spec.pod = (struct pod_spec){.gpu_devices = 1,
                                           .cpu_limit_milli = -1,
                                           .memory_limit_bytes = -1,
                                           .run_as_uid = -1,
                                           .run_as_gid = -1,
                                           .grace_ms = 5000};
    return in;
}

UNUSED static enum status submit(struct rig *r, uint32_t n, struct str name, uint32_t pods)
{
    struct submit_text t;
    return say(r, submit_of(&t, n, name, pods));
}

/* Binds pod n * 10 + 1 + i to device i + first of the node, for i < pods. */
UNUSED static void bind(struct rig *r, uint32_t n, uint32_t pods, struct str node, uint32_t first)
{
    struct held_device devices[4];
    struct bind binds[4];
    for (uint32_t i = 0; i < pods; i++) {
        devices[i].uuid = arena_printf(&r->arena, "GPU-%.*s-%u", STR_ARG(node), first + i);
        devices[i].share = DEVICE_SHARE;
        binds[i] = (struct bind){id_of(n * 10 + 1 + i), node, &devices[i], 1, 0};
    }
    struct input in = {.kind = INPUT_TICK};
    in.tick.binds = binds;
    in.tick.binds_count = pods;
    say(r, in);
}

UNUSED static void report(struct rig *r, enum input_kind kind, uint32_t pod, uint32_t attempt,
                          int64_t exit_code, struct str reason)
{
    struct input in = {.kind = kind};
    in.pod = (struct pod_report){.pod = id_of(pod),
                                 .attempt = attempt,
                                 .node = STR("n1"),
                                 .at_ms = r->now_ms,
                                 .exit_code = exit_code,
                                 .reason = reason};
    say(r, in);
}

UNUSED static enum status life(struct rig *r, enum input_kind kind, uint32_t n)
{
    return say(r, (struct input){.kind = kind, .author = STR("ann"), .target = id_of(n)});
}

UNUSED static void tick(struct rig *r)
{
    say(r, (struct input){.kind = INPUT_TICK});
}

UNUSED static const struct workload *find(const struct rig *r, uint32_t n)
{
    const struct workload *w = engine_find(r->e, id_of(n));
    REQUIRE(w != NULL);
    return w;
}

UNUSED static enum pod_phase phase(const struct rig *r, uint32_t n, uint32_t pod)
{
    return find(r, n)->pods[pod].phase;
}

UNUSED static int64_t held_gpus(const struct rig *r, struct str queue, bool department)
{
    return engine_held(r->e, STR(""), queue, department).gpu_share / DEVICE_SHARE;
}

/* One node of 4, projects a and b with 2 guaranteed each. */
UNUSED static void rig_usual(struct rig *r)
{
    rig_init(r);
    REQUIRE(apply_plan(r, 2, 2, false, 0) == STATUS_OK);
    REQUIRE(see_node(r, STR("n1"), 4, true) == STATUS_OK);
}

/* Decides until nothing changes; gives the bytes that this puts into the journal. */
UNUSED static size_t settle(struct rig *r, uint32_t *starts)
{
    size_t bytes = 0;
    for (bool changed = true; changed;) {
        struct arena a;
        struct buf encoded;
        struct input in = {.kind = INPUT_TICK};
        arena_init(&a, 0);
        buf_init(&encoded, UINT32_MAX);
        engine_decide(r->e, r->now_ms, &a, &in.tick, &changed);
        if (changed) {
            *starts += in.tick.binds_count;
            record_encode(&record_tick, &in.tick, &encoded);
            bytes += encoded.len;
            say(r, in);
        }
        buf_done(&encoded);
        arena_done(&a);
    }
    return bytes;
}

/* A second pool with a node n2 of the same size. */
UNUSED static void add_pool(struct rig *r, uint32_t devices)
{
    struct pool pool = {.name = STR("h100"), .label_key = STR("gpu"), .label_value = STR("h100")};
    struct input in = {.kind = INPUT_PLAN_APPLY, .author = STR("root")};
    in.plan_apply.plan = (struct plan){.pools = &pool, .pools_count = 1};
    EXPECT_STATUS(say(r, in), STATUS_OK);
    struct device list[8];
    for (uint32_t i = 0; i < devices; i++) {
        list[i] = (struct device){.uuid = arena_printf(&r->arena, "GPU-n2-%u", i), .healthy = true};
    }
    struct label label = {STR("gpu"), STR("h100")};
    in = (struct input){.kind = INPUT_NODE_SEEN};
    in.node = (struct node){.name = STR("n2"),
                            .labels = &label,
                            .labels_count = 1,
                            .devices = list,
                            .devices_count = devices,
                            .cpu_milli = 64000,
                            .memory_bytes = INT64_C(1) << 38,
                            .pods_max = 110,
                            .ready = true};
    EXPECT_STATUS(say(r, in), STATUS_OK);
}

/* A state that is stored and read again is the same. */
UNUSED static void expect_same(struct rig *r)
{
    struct buf bytes;
    struct err err;
    buf_init(&bytes, 1 << 28);
    engine_checkpoint(r->e, &bytes);
    struct engine *again = engine_new();
    REQUIRE_OK(engine_restore(again, buf_view(&bytes), &err), &err);
    EXPECT_STR(record_diff(&record_state, engine_state(r->e), engine_state(again), &r->arena),
               STR(""));
    EXPECT(engine_hash(r->e) == engine_hash(again));
    EXPECT(engine_hash(r->e) == hash_bytes(bytes.ptr, bytes.len, 0));
    struct effects one = {.arena = &r->arena}, two = {.arena = &r->arena};
    engine_outstanding(r->e, &one);
    engine_outstanding(again, &two);
    REQUIRE(one.count == two.count);
    for (uint32_t i = 0; i < one.count; i++) {
        EXPECT(one.items[i].kind == two.items[i].kind);
        EXPECT(uuid_eq(one.items[i].pod, two.items[i].pod));
    }
    EXPECT_STR(engine_invariants(again, &r->arena), STR(""));
    engine_free(again);
    buf_done(&bytes);
}

UNUSED static void decide(struct rig *r)
{
    uint32_t starts = 0;
    settle(r, &starts);
}

UNUSED static void start(struct rig *r, uint32_t n)
{
    report(r, INPUT_POD_STARTED, n * 10 + 1, find(r, n)->pods[0].attempt, 0, STR(""));
}

UNUSED static void gone(struct rig *r, uint32_t n)
{
    report(r, INPUT_POD_EXITED, n * 10 + 1, find(r, n)->pods[0].attempt, 143, STR("Stopped"));
}

UNUSED static uint32_t last_eviction(const struct rig *r, uint32_t n)
{
    const struct workload *w = find(r, n);
    for (uint32_t i = w->events_count; i > 0; i--) {
        if (w->events[i - 1].kind == EVENT_EVICTED) {
            return w->events[i - 1].why.code;
        }
    }
    return REASON_NONE;
}

UNUSED static enum status drain(struct rig *r, const char *device, bool moves, int64_t within_ms)
{
    struct input in = {.kind = INPUT_NODE_DRAIN, .author = STR("root"), .node_name = STR("n1")};
    in.drain = (struct drain_ask){.device = str_from_c(device),
                                  .moves = moves,
                                  .within_ms = within_ms,
                                  .reason = STR("fans")};
    return say(r, in);
}

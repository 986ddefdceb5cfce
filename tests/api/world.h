// SPDX-License-Identifier: Apache-2.0
// world: a server without a disk and without processes: engine, writer, a store in memory, and a
// cluster of one node with four devices that starts and stops what it is told at once.
#pragma once

#include <stdio.h>
#include <string.h>

#include "adapters/memory/memory.h"
#include "api/api.h"
#include "api/writer.h"
#include "base/array.h"
#include "base/check.h"
#include "base/test.h"
#include "model/units.h"

struct world {
    struct loop *loop;
    struct engine *engine;
    struct memory_store *memory;
    struct store store;
    struct cluster cluster;
    struct writer *writer;
    struct writer_report report;
    struct api *api; /* NULL: none */
    struct arena arena;
    ARRAY(struct input) seen; /* observations to be polled */
    uint32_t starts, stops, forgets;
    bool lazy;      /* starts are not confirmed */
    int64_t now_ms; /* set by the test */
    int64_t checkpoint_inputs;
    uint32_t reopens, changes;
    bool reopen_fails;
    bool lent; /* to a server's thread: not the test's until it is paused */
};

static _Atomic int64_t world_now_ms = 1000000000000; /* 2001 */
static int64_t world_priority;                       /* of what is submitted; 0: the default */

static int64_t world_clock(void)
{
    return world_now_ms;
}

static void world_observe(struct world *w, const struct input *in)
{
    record_copy(&record_input, in, ARRAY_PUSH(&w->arena, &w->seen), &w->arena);
}

static void world_node(struct world *w)
{
    static const char *const uuids[] = {"GPU-a", "GPU-b", "GPU-c", "GPU-d"};
    struct device devices[4];
    for (uint32_t i = 0; i < 4; i++) {
        devices[i] = (struct device){.uuid = str_from_c(uuids[i]),
                                     .model = STR("simulated"),
                                     .memory_bytes = INT64_C(80) << 30,
                                     .index = i,
                                     .numa_node = -1,
                                     .healthy = true};
    }
    struct input in = {.kind = INPUT_NODE_SEEN, .version = INPUT_VERSION};
    in.node = (struct node){.name = STR("box"),
                            .devices = devices,
                            .devices_count = 4,
                            .cpu_milli = 64000,
                            .memory_bytes = INT64_C(1) << 40,
                            .pods_max = 1000,
                            .ready = true,
                            .seen_ms = world_now_ms};
    world_observe(w, &in);
}

static void world_pod(struct world *w, enum input_kind kind, struct uuid pod, uint32_t attempt,
                      int64_t exit_code, struct str reason)
{
    struct input in = {.kind = kind, .version = INPUT_VERSION};
    in.pod = (struct pod_report){.pod = pod,
                                 .attempt = attempt,
                                 .node = STR("box"),
                                 .at_ms = world_now_ms,
                                 .exit_code = exit_code,
                                 .reason = reason};
    world_observe(w, &in);
}

static void world_effects(void *ctx, const struct effect *effects, uint32_t count)
{
    struct world *w = ctx;
    for (uint32_t i = 0; i < count; i++) {
        const struct effect *e = &effects[i];
        switch (e->kind) {
        case EFFECT_START:
            w->starts++;
            if (!w->lazy) {
                world_pod(w, INPUT_POD_STARTED, e->pod, e->attempt, 0, STR(""));
            }
            break;
        case EFFECT_STOP:
            w->stops++;
            world_pod(w, INPUT_POD_EXITED, e->pod, e->attempt, 143, STR("Stopped"));
            break;
        case EFFECT_FORGET:
            w->forgets++;
            break;
        }
    }
}

static void world_poll(void *ctx, cluster_observe *observe, void *arg)
{
    struct world *w = ctx;
    for (uint32_t i = 0; i < w->seen.count; i++) {
        observe(arg, &w->seen.items[i]);
    }
    w->seen.count = 0;
}

static enum status world_reopen(void *ctx, struct err *err)
{
    struct world *w = ctx;
    w->reopens++;
    if (w->reopen_fails) {
        return err_set(err, STATUS_IO, "disk full: cannot open memory");
    }
    memory_crash(w->memory, 0);
    return STATUS_OK;
}

static void world_changed(void *ctx)
{
    struct world *w = ctx;
    w->changes++;
    if (w->api != NULL) {
        api_changed(w->api);
    }
}

static void world_recorded(void *ctx, const struct input *in)
{
    struct world *w = ctx;
    if (w->api != NULL) {
        api_recorded(w->api, in);
    }
}

static enum status world_start_writer(struct world *w, struct err *err)
{
    w->engine = engine_new();
    struct writer_config config = {
        .loop = w->loop,
        .engine = w->engine,
        .store = &w->store,
        .cluster = &w->cluster,
        .reopen = world_reopen,
        .reopen_ctx = w,
        .now_ms = world_clock,
        .recorded = world_recorded,
        .changed = world_changed,
        .changed_ctx = w,
        .checkpoint_inputs = w->checkpoint_inputs,
    };
    return writer_new(&config, &w->writer, &w->report, err);
}

static void world_init(struct world *w)
{
    struct err err = {0};
    *w = (struct world){0};
    arena_init(&w->arena, 0);
    REQUIRE_OK(loop_new(&w->loop, &err), &err);
    w->memory = memory_open();
    w->store = memory_port(w->memory);
    w->cluster = (struct cluster){w, world_effects, world_poll};
    REQUIRE_OK(world_start_writer(w, &err), &err);
}

/* The process is gone, the store stays as the last acknowledged append left it. */
UNUSED static void world_kill(struct world *w)
{
    writer_free(w->writer);
    engine_free(w->engine);
    w->writer = NULL;
    w->engine = NULL;
    w->seen.count = 0;
    memory_crash(w->memory, 0);
}

static void world_done(struct world *w)
{
    writer_free(w->writer);
    engine_free(w->engine);
    memory_close(w->memory);
    loop_free(w->loop);
    arena_done(&w->arena);
}

/* Goes round until nothing more happens. */
static void world_settle(struct world *w)
{
    CHECK(!w->lent);
    for (int i = 0; i < 30; i++) {
        loop_step(w->loop, 0);
    }
}

/* ---- commands ---- */

struct world_answer {
    bool done;
    struct outcome outcome;
};

static void world_done_fn(void *arg, const struct outcome *outcome)
{
    struct world_answer *a = arg;
    CHECK(!a->done);
    a->done = true;
    a->outcome = *outcome;
}

UNUSED static void world_plan(struct world *w, struct world_answer *a)
{
    static struct quota quotas[1];
    static struct department departments[1];
    static struct project projects[2];
    static struct pool pools[1];
    quotas[0] = plan_quota(NULL, 0, STR("default"));
    quotas[0].gpu_share = 2 * DEVICE_SHARE;
    static struct quota department_quotas[1];
    department_quotas[0] = quotas[0];
    department_quotas[0].gpu_share = 4 * DEVICE_SHARE;
    pools[0] = (struct pool){.name = STR("default"), .implied = true};
    departments[0] = (struct department){
        .name = STR("research"), .quotas = department_quotas, .quotas_count = 1};
    for (int i = 0; i < 2; i++) {
        projects[i] = (struct project){.name = i == 0 ? STR("team-a") : STR("team-b"),
                                       .department = STR("research"),
                                       .quotas = quotas,
                                       .quotas_count = 1};
    }
    struct input in = {.kind = INPUT_PLAN_APPLY, .version = INPUT_VERSION, .author = STR("root")};
    in.plan_apply.plan = (struct plan){pools, departments, projects, 1, 1, 2};
    writer_command(w->writer, &in, world_done_fn, a);
}

/* Ids are made from n, so that a run is repeatable. */
UNUSED static void world_submit_in(struct world *w, uint8_t n, const char *project,
                                   const char *name, int64_t gpus, struct world_answer *a)
{
    static struct pod_id pod_ids[1];
    struct str_item args[] = {{STR("sleep")}, {STR("600")}};
    struct input in = {.kind = INPUT_SUBMIT, .version = INPUT_VERSION, .author = STR("root")};
    in.submit.id.b[0] = n;
    pod_ids[0].id.b[0] = n;
    pod_ids[0].id.b[1] = 1;
    in.submit.name = str_from_c(name);
    in.submit.project = str_from_c(project);
    in.submit.pod_ids = pod_ids;
    in.submit.pod_ids_count = 1;
    in.submit.spec = (struct workload_spec){
        .pods = 1,
        .pods_min = 1,
        .auto_delete_ms = -1,
        .priority = world_priority,
        .pod = {.image = STR("host"),
                .args = args,
                .args_count = 2,
                .run_as_uid = -1,
                .run_as_gid = -1,
                .gpu_devices = gpus,
                .cpu_milli = 100,
                .cpu_limit_milli = -1,
                .memory_bytes = 1 << 20,
                .memory_limit_bytes = -1,
                .grace_ms = 1000},
    };
    char key[32];
    snprintf(key, sizeof key, "key-%u", n);
    in.key = str_from_c(key);
    writer_command(w->writer, &in, world_done_fn, a);
}

UNUSED static void world_submit_n(struct world *w, uint8_t n, const char *name, int64_t gpus,
                                  struct world_answer *a)
{
    world_submit_in(w, n, "team-a", name, gpus, a);
}

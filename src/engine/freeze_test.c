// SPDX-License-Identifier: Apache-2.0
// What the scheduler is told of budgets, NUMA nodes and checkpoints, by what it decides.
#include "engine/rig_test.h"

/* ---- budgets ---- */

TEST(a_budget_keeps_pods_running)
{
    struct rig r;
    struct submit_text t;
    rig_usual(&r);
    struct input in = submit_of(&t, 1, STR("many"), 3);
    in.submit.spec.pods_min = 1;
    in.submit.spec.available_min = 4;
    EXPECT_STATUS(say(&r, in), STATUS_INVALID); /* more than there are */
    in.submit.spec.available_min = 2;
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    decide(&r);
    for (uint32_t i = 0; i < 3; i++) {
        report(&r, INPUT_POD_STARTED, 11 + i, 1, 0, STR(""));
    }
    expect_same(&r);
    /* Project b is owed two: one is free, one may be taken, not two. */
    in = submit_of(&t, 2, STR("owed"), 3);
    in.submit.project = STR("b");
    in.submit.spec.pods_min = 2;
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    decide(&r);
    uint32_t stopped = 0;
    for (uint32_t i = 0; i < 3; i++) {
        stopped += phase(&r, 1, i) == POD_RELEASING;
    }
    EXPECT_I64(stopped, 1);
    in = submit_of(&t, 3, STR("more"), 1);
    in.submit.spec.priority = 100;
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    decide(&r);
    EXPECT_I64(find(&r, 3)->why.code, REASON_VICTIMS_IN_BUDGET);
    /* A drain asks the budget too, its deadline does not. */
    see_node(&r, STR("n2"), 4, true);
    EXPECT_STATUS(drain(&r, "", true, 1000), STATUS_OK);
    decide(&r);
    stopped = 0;
    for (uint32_t i = 0; i < 3; i++) {
        stopped += phase(&r, 1, i) == POD_RELEASING;
    }
    EXPECT_I64(stopped, 1);
    r.now_ms += 1000;
    decide(&r);
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT_I64(phase(&r, 1, i), POD_RELEASING);
    }
    rig_done(&r);
}

/* ---- NUMA ---- */

/* A node of two zones with two devices and eight cores each. */
static void see_zones(struct rig *r, bool placed)
{
    struct device list[4];
    struct zone zones[] = {
        {.numa_node = 0, .cpu_milli = 8000, .memory_bytes = INT64_C(1) << 37, .cpus = STR("0-7") },
        {.numa_node = 3, .cpu_milli = 8000, .memory_bytes = INT64_C(1) << 37, .cpus = STR("8-15")},
    };
    for (uint32_t i = 0; i < 4; i++) {
        list[i] = (struct device){.uuid = arena_printf(&r->arena, "GPU-n1-%u", i),
                                  .numa_node = placed ? (i < 2 ? 0 : 3) : -1,
                                  .healthy = true};
    }
    struct input in = {.kind = INPUT_NODE_SEEN};
    in.node = (struct node){.name = STR("n1"),
                            .devices = list,
                            .devices_count = 4,
                            .zones = zones,
                            .zones_count = 2,
                            .cpu_milli = 16000,
                            .memory_bytes = INT64_C(1) << 38,
                            .pods_max = 110,
                            .ready = true};
    EXPECT_STATUS(say(r, in), STATUS_OK);
}

static void submit_numa(struct rig *r, uint32_t n, int64_t devices, int64_t cpu_milli)
{
    struct submit_text t;
    char name[16];
    struct input in = submit_of(&t, n, str_format(name, sizeof(name), "w%u", n), 1);
    in.submit.spec.pod.single_numa = true;
    in.submit.spec.pod.gpu_devices = devices;
    in.submit.spec.pod.cpu_milli = cpu_milli;
    EXPECT_STATUS(say(r, in), STATUS_OK);
}

TEST(who_asks_for_one_numa_node_gets_all_from_one)
{
    struct rig r;
    rig_usual(&r);
    see_zones(&r, true);
    submit_numa(&r, 1, 1, 1000);
    submit_numa(&r, 2, 2, 1000); /* the other zone has two */
    submit_numa(&r, 3, 2, 1000); /* none has */
    submit_numa(&r, 4, 0, 7000); /* 7 cores are left in each */
    submit_numa(&r, 5, 0, 7000);
    submit_numa(&r, 6, 0, 7000); /* in sum there are 14 less 14 */
    decide(&r);
    EXPECT_I64(phase(&r, 3, 0), POD_PENDING);
    EXPECT_I64(phase(&r, 6, 0), POD_PENDING);
    int64_t zone = find(&r, 1)->pods[0].numa_plus_one;
    EXPECT_I64(zone + find(&r, 2)->pods[0].numa_plus_one, 1 + 4);
    EXPECT_I64(find(&r, 4)->pods[0].numa_plus_one + find(&r, 5)->pods[0].numa_plus_one, 1 + 4);
    expect_same(&r);
    /* It is counted where it is, also after a restart and a new look at the node. */
    see_zones(&r, true);
    life(&r, INPUT_DELETE, 5);
    gone(&r, 5);
    decide(&r);
    EXPECT_I64(phase(&r, 6, 0), POD_BINDING);
    EXPECT_I64(find(&r, 6)->pods[0].numa_plus_one, 5 - find(&r, 4)->pods[0].numa_plus_one);
    /* Three are in no zone; where nobody knows where the devices are, the node is one. */
    life(&r, INPUT_DELETE, 3);
    life(&r, INPUT_DELETE, 2);
    gone(&r, 2);
    submit_numa(&r, 7, 3, 1000);
    decide(&r);
    EXPECT_I64(phase(&r, 7, 0), POD_PENDING);
    see_zones(&r, false);
    decide(&r);
    EXPECT_I64(phase(&r, 7, 0), POD_BINDING);
    EXPECT_I64(find(&r, 7)->pods[0].numa_plus_one, 0);
    rig_done(&r);
}

/* ---- checkpoints ---- */

static void say_saved(struct rig *r, uint32_t n, uint32_t attempt, int64_t at_ms)
{
    int64_t now_ms = r->now_ms;
    struct input in = {.kind = INPUT_POD_CHECKPOINT};
    in.pod = (struct pod_report){
        .pod = id_of(n * 10 + 1), .attempt = attempt, .node = STR("n1"), .at_ms = at_ms};
    EXPECT_STATUS(say(r, in), STATUS_OK);
    EXPECT_I64(r->now_ms, now_ms);
}

TEST(who_has_saved_its_work_is_stopped_first)
{
    struct rig r;
    struct submit_text t;
    rig_usual(&r);
    see_node(&r, STR("n1"), 2, true);
    submit(&r, 1, STR("saved"), 1);
    submit(&r, 2, STR("unsaved"), 1); /* newer: else it would go */
    decide(&r);
    start(&r, 1);
    start(&r, 2);
    r.now_ms += 3600000;
    say_saved(&r, 1, 2, r.now_ms); /* not an attempt that runs */
    EXPECT_I64(find(&r, 1)->checkpoint_ms, 0);
    say_saved(&r, 1, 1, r.now_ms + 5000); /* its clock is ahead */
    EXPECT_I64(find(&r, 1)->checkpoint_ms, r.now_ms);
    say_saved(&r, 1, 1, r.now_ms - 5000); /* said late */
    EXPECT_I64(find(&r, 1)->checkpoint_ms, r.now_ms);
    EXPECT_I64(r.effects.count, 0);
    r.now_ms += 60000;
    expect_same(&r);
    struct input in = submit_of(&t, 3, STR("urgent"), 1);
    in.submit.spec.priority = 100;
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    decide(&r);
    EXPECT_I64(phase(&r, 1, 0), POD_RELEASING);
    EXPECT_I64(phase(&r, 2, 0), POD_RUNNING);
    rig_done(&r);
}

TEST(completions_run_so_many_at_a_time)
{
    struct rig r;
    struct submit_text t;
    rig_usual(&r);
    struct input in = submit_of(&t, 1, STR("four"), 4);
    in.submit.spec.pods_min = 1;
    in.submit.spec.parallel_max = 5;
    EXPECT_STATUS(say(&r, in), STATUS_INVALID); /* more than there are */
    in.submit.spec.parallel_max = 2;
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    for (uint32_t done = 0; done < 4; done++) {
        decide(&r);
        for (uint32_t i = 0; i < 4; i++) {
            enum pod_phase want = i < done       ? POD_SUCCEEDED
                                  : i == done    ? POD_BINDING
                                  : i < done + 2 ? POD_BINDING
                                                 : POD_PENDING;
            EXPECT_I64(phase(&r, 1, i), want);
        }
        EXPECT_I64(find(&r, 1)->why.code, done < 2 ? REASON_PARALLELISM : REASON_NONE);
        report(&r, INPUT_POD_EXITED, 11 + done, 1, 0, STR("Completed"));
    }
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Completed"));
    rig_done(&r);
}

TEST_MAIN()

/* ---- devices ---- */

// Each third costs its queue a little more than a third; the device has room for the three.
TEST(what_is_asked_in_memory_fits_by_bytes)
{
    struct rig r;
    struct submit_text t;
    rig_init(&r);
    EXPECT_STATUS(apply_plan(&r, 2, 2, false, 0), STATUS_OK);
    EXPECT_STATUS(see_node(&r, STR("n1"), 1, true), STATUS_OK);
    struct input in = submit_of(&t, 1, STR("thirds"), 4);
    in.submit.spec.pods_min = 1;
    in.submit.spec.pod.gpu_memory_bytes = (INT64_C(80) << 30) / 3;
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    decide(&r);
    decide(&r);
    uint32_t placed = 0;
    for (uint32_t i = 0; i < 4; i++) {
        placed += phase(&r, 1, i) == POD_BINDING;
    }
    EXPECT_I64(placed, 3);
    EXPECT_I64(engine_held(r.e, STR(""), STR("a"), false).gpu_share, 3 * (DEVICE_SHARE / 3 + 1));
    expect_same(&r);
    rig_done(&r);
}

// SPDX-License-Identifier: Apache-2.0
#include "engine/rig_test.h"

/* Inference workload 1 as submit_of makes it, with that many pods and cores each. */
static struct input ask(struct submit_text *t, enum input_kind kind, uint32_t pods, int64_t cpu)
{
    struct input in = submit_of(t, 1, STR("serve"), pods);
    in.kind = kind;
    in.submit.kind = WORKLOAD_INFERENCE;
    in.submit.spec.pods_min = 1;
    in.submit.spec.preemptibility = PREEMPTIBLE;
    in.submit.spec.restart = RESTART_ALWAYS;
    in.submit.spec.pod.cpu_milli = cpu;
    if (kind == INPUT_UPDATE) {
        static uint32_t minted = 500;
        in.target = id_of(1);
        in.submit.id = id_of(minted++);
        for (uint32_t i = 0; i < pods; i++) {
            t->ids[i].id = id_of(minted++);
        }
    }
    return in;
}

static enum status update(struct rig *r, uint32_t pods, int64_t cpu)
{
    struct submit_text t;
    return say(r, ask(&t, INPUT_UPDATE, pods, cpu));
}

static void started(struct rig *r, uint32_t pod)
{
    struct input in = {.kind = INPUT_POD_STARTED};
    const struct pod *p = &find(r, 1)->pods[pod];
    in.pod = (struct pod_report){.pod = p->id, .attempt = p->attempt, .at_ms = r->now_ms};
    say(r, in);
}

static void ended(struct rig *r, uint32_t pod)
{
    struct input in = {.kind = INPUT_POD_EXITED};
    const struct pod *p = &find(r, 1)->pods[pod];
    in.pod = (struct pod_report){.pod = p->id,
                                 .attempt = p->attempt,
                                 .at_ms = r->now_ms,
                                 .exit_code = 143,
                                 .reason = STR("Stopped")};
    say(r, in);
}

/* With pods that run. */
static void rig_serving(struct rig *r, uint32_t pods)
{
    struct submit_text t;
    rig_usual(r);
    REQUIRE(say(r, ask(&t, INPUT_SUBMIT, pods, 1000)) == STATUS_OK);
    decide(r);
    for (uint32_t i = 0; i < pods; i++) {
        started(r, i);
        REQUIRE(phase(r, 1, i) == POD_RUNNING);
    }
}

TEST(more_pods_start_beside_those_that_run)
{
    struct rig r;
    rig_serving(&r, 1);
    EXPECT_STATUS(update(&r, 3, 1000), STATUS_OK);
    EXPECT_I64(find(&r, 1)->pods_count, 3);
    EXPECT_I64(phase(&r, 1, 0), POD_RUNNING);
    expect_same(&r);
    decide(&r);
    EXPECT_I64(phase(&r, 1, 2), POD_BINDING);
    EXPECT_I64(held_gpus(&r, STR("a"), false), 3);
    rig_done(&r);
}

TEST(pods_that_are_too_many_go)
{
    struct rig r;
    rig_serving(&r, 3);
    EXPECT_STATUS(update(&r, 1, 1000), STATUS_OK);
    EXPECT_I64(phase(&r, 1, 0), POD_RUNNING);
    EXPECT_I64(phase(&r, 1, 1), POD_RELEASING);
    EXPECT_I64(phase(&r, 1, 2), POD_RELEASING);
    ended(&r, 1); /* the one behind it still is there */
    EXPECT_I64(find(&r, 1)->pods_count, 3);
    decide(&r);
    EXPECT_I64(phase(&r, 1, 1), POD_SUCCEEDED);
    expect_same(&r);
    ended(&r, 2);
    EXPECT_I64(find(&r, 1)->pods_count, 1);
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Running"));
    EXPECT_I64(held_gpus(&r, STR("a"), false), 1);
    rig_done(&r);
}

TEST(what_is_for_all_pods_waits_for_them_to_stop)
{
    struct rig r;
    rig_serving(&r, 2);
    EXPECT_STATUS(update(&r, 3, 2000), STATUS_OK);
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Updating"));
    EXPECT_I64(find(&r, 1)->spec.pod.cpu_milli, 1000); /* they still hold that */
    ended(&r, 0);
    decide(&r);
    EXPECT_I64(phase(&r, 1, 0), POD_PENDING);
    EXPECT_I64(find(&r, 1)->why.code, REASON_UPDATING);
    expect_same(&r);
    ended(&r, 1);
    EXPECT_I64(find(&r, 1)->spec.pod.cpu_milli, 2000);
    EXPECT_I64(find(&r, 1)->pods_count, 3);
    decide(&r);
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT_I64(phase(&r, 1, i), POD_BINDING);
    }
    EXPECT_I64(engine_held(r.e, STR(""), STR("a"), false).cpu_milli, 6000);
    rig_done(&r);
}

TEST(the_last_update_counts)
{
    struct rig r;
    rig_serving(&r, 1);
    EXPECT_STATUS(update(&r, 1, 2000), STATUS_OK);
    EXPECT_STATUS(update(&r, 2, 3000), STATUS_OK);
    ended(&r, 0);
    EXPECT_I64(find(&r, 1)->spec.pod.cpu_milli, 3000);
    EXPECT_I64(find(&r, 1)->spec.pods, 2);
    EXPECT_STATUS(life(&r, INPUT_DELETE, 1), STATUS_OK);
    EXPECT_STATUS(update(&r, 1, 1000), STATUS_UNKNOWN);
    rig_done(&r);
}

TEST(who_may_not_be_updated)
{
    struct rig r;
    struct submit_text t;
    rig_serving(&r, 1);
    submit(&r, 2, STR("train"), 1);
    struct input in = ask(&t, INPUT_UPDATE, 1, 1000);
    in.target = id_of(2);
    EXPECT_STATUS(say(&r, in), STATUS_CONFLICT);
    in.target = id_of(3);
    EXPECT_STATUS(say(&r, in), STATUS_UNKNOWN);
    in = ask(&t, INPUT_UPDATE, 1, -1);
    EXPECT_STATUS(say(&r, in), STATUS_INVALID);
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Running"));
    rig_done(&r);
}

TEST_MAIN()

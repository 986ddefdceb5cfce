// SPDX-License-Identifier: Apache-2.0
#include "engine/rig_test.h"

enum { MINUTE = 60 * 1000, HOUR = 60 * MINUTE };

/* As rig_usual, with these rules on department d and on project a. */
static void rig_ruled(struct rig *r, const struct scheduling_rules *of_department,
                      const struct scheduling_rules *of_project)
{
    struct quota quota = quota_of(4);
    struct department d = {
        .name = STR("d"), .quotas = &quota, .quotas_count = 1, .rules = *of_department};
    struct project a = {.name = STR("a"),
                        .department = STR("d"),
                        .quotas = &quota,
                        .quotas_count = 1,
                        .rules = *of_project};
    struct input in = {.kind = INPUT_PLAN_APPLY, .author = STR("root")};
    in.plan_apply.plan = (struct plan){
        .departments = &d, .departments_count = 1, .projects = &a, .projects_count = 1};
    rig_init(r);
    REQUIRE(say(r, in) == STATUS_OK);
    REQUIRE(see_node(r, STR("n1"), 4, true) == STATUS_OK);
}

static void run(struct rig *r, uint32_t n, struct str name)
{
    submit(r, n, name, 1);
    decide(r);
    start(r, n);
    REQUIRE(phase(r, n, 0) == POD_RUNNING);
}

static void idle(struct rig *r, uint32_t n, int64_t since_ms)
{
    struct input in = {.kind = INPUT_POD_IDLE};
    in.pod = (struct pod_report){
        .pod = id_of(n * 10 + 1), .attempt = find(r, n)->pods[0].attempt, .at_ms = since_ms};
    EXPECT_STATUS(say(r, in), STATUS_OK);
}

static uint32_t notices(const struct rig *r, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < find(r, n)->events_count; i++) {
        count += find(r, n)->events[i].kind == EVENT_LIMIT_NEAR;
    }
    return count;
}

/* To the next time at which something is due; how far that was. */
static int64_t onward(struct rig *r)
{
    int64_t step_ms = engine_next_ms(r->e) - r->now_ms;
    r->now_ms += step_ms;
    decide(r);
    return step_ms;
}

TEST(work_that_has_run_for_as_long_as_it_may_is_stopped)
{
    struct rig r;
    rig_ruled(&r, &(struct scheduling_rules){0},
              &(struct scheduling_rules){.training_run_ms = HOUR});
    run(&r, 1, STR("one"));
    EXPECT_I64(onward(&r), HOUR / 2);
    EXPECT_I64(notices(&r, 1), 1);
    EXPECT_I64(phase(&r, 1, 0), POD_RUNNING);
    expect_same(&r); /* a server that starts now knows it too */
    EXPECT_I64(onward(&r), HOUR / 2);
    EXPECT_I64(phase(&r, 1, 0), POD_RELEASING);
    EXPECT_I64(last_eviction(&r, 1), REASON_STOPPED_RUN_LIMIT);
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Stopping"));
    gone(&r, 1);
    decide(&r);
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Stopped"));
    EXPECT_I64(engine_next_ms(r.e), INT64_MAX); /* nothing more comes of it */
    EXPECT_STATUS(life(&r, INPUT_RESUME, 1), STATUS_OK);
    decide(&r);
    start(&r, 1);
    EXPECT_I64(onward(&r), HOUR / 2); /* the time begins anew */
    EXPECT_I64(notices(&r, 1), 2);
    rig_done(&r);
}

TEST(time_in_which_it_waits_does_not_count)
{
    struct rig r;
    rig_ruled(&r, &(struct scheduling_rules){0},
              &(struct scheduling_rules){.training_run_ms = HOUR});
    run(&r, 1, STR("one"));
    r.now_ms += 50 * MINUTE;
    decide(&r);
    EXPECT_STATUS(drain(&r, "", true, 0), STATUS_OK); /* it is stopped, to run elsewhere */
    decide(&r);
    gone(&r, 1);
    r.now_ms += 10 * HOUR;
    EXPECT_STATUS(say(&r, (struct input){.kind = INPUT_NODE_UNDRAIN, .node_name = STR("n1")}),
                  STATUS_OK);
    decide(&r);
    start(&r, 1);
    r.now_ms += 10 * MINUTE - 1;
    decide(&r);
    EXPECT_I64(phase(&r, 1, 0), POD_RUNNING);
    r.now_ms++;
    decide(&r);
    EXPECT_I64(last_eviction(&r, 1), REASON_STOPPED_RUN_LIMIT);
    rig_done(&r);
}

TEST(work_that_uses_no_device_is_stopped)
{
    struct rig r;
    rig_ruled(&r, &(struct scheduling_rules){0},
              &(struct scheduling_rules){.training_idle_ms = HOUR});
    run(&r, 1, STR("one"));
    EXPECT_I64(engine_next_ms(r.e), INT64_MAX); /* nobody knows that it idles */
    r.now_ms += 10 * MINUTE;
    idle(&r, 1, r.now_ms - MINUTE);
    EXPECT_I64(onward(&r), HOUR / 2 - MINUTE);
    EXPECT_I64(notices(&r, 1), 1);
    idle(&r, 1, 0); /* any use ends it */
    EXPECT_I64(engine_next_ms(r.e), INT64_MAX);
    idle(&r, 1, r.now_ms + HOUR); /* the node's clock is ahead */
    EXPECT_I64(find(&r, 1)->pods[0].idle_since_ms, r.now_ms);
    EXPECT_I64(onward(&r), HOUR / 2);
    EXPECT_I64(onward(&r), HOUR / 2);
    EXPECT_I64(last_eviction(&r, 1), REASON_STOPPED_IDLE_LIMIT);
    gone(&r, 1);
    EXPECT_I64(find(&r, 1)->pods[0].idle_since_ms, 0);
    rig_done(&r);
}

TEST(the_tightest_rule_counts_and_only_for_its_kind)
{
    const struct scheduling_rules above = {
        .training_run_ms = 2 * HOUR, .workspace_run_ms = HOUR, .workspace_idle_ms = 30 * MINUTE};
    const struct scheduling_rules own = {.training_run_ms = HOUR,
                                         .workspace_run_ms = 3 * HOUR,
                                         .workspace_preemptible_idle_ms = MINUTE};
    const struct {
        const char *name;
        enum workload_kind kind;
        enum preemptibility preemptibility;
        int64_t asked_ms, run_ms, idle_ms;
    } rows[] = {
        {"training",           WORKLOAD_TRAINING,    PREEMPTIBLE,     0,        HOUR,   0          },
        {"distributed",        WORKLOAD_DISTRIBUTED, PREEMPTIBLE,     0,        HOUR,   0          },
        {"a workspace",        WORKLOAD_WORKSPACE,   NON_PREEMPTIBLE, 0,        HOUR,   30 * MINUTE},
        {"a preemptible one",  WORKLOAD_WORKSPACE,   PREEMPTIBLE,     0,        HOUR,   MINUTE     },
        {"inference",          WORKLOAD_INFERENCE,   NON_PREEMPTIBLE, 0,        0,      0          },
        {"less was asked for", WORKLOAD_TRAINING,    PREEMPTIBLE,     MINUTE,   MINUTE, 0          },
        {"more was asked for", WORKLOAD_TRAINING,    PREEMPTIBLE,     HOUR * 9, HOUR,   0          },
    };
    struct rig r;
    rig_ruled(&r, &above, &own);
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        struct submit_text t;
        test_row(rows[i].name);
        struct input in = submit_of(&t, i + 1, arena_printf(&r.arena, "w%u", i), 1);
        in.submit.kind = rows[i].kind;
        in.submit.spec.preemptibility = rows[i].preemptibility;
        in.submit.spec.run_max_ms = rows[i].asked_ms;
        EXPECT_STATUS(say(&r, in), STATUS_OK);
        EXPECT_I64(find(&r, i + 1)->spec.run_max_ms, rows[i].run_ms);
        EXPECT_I64(find(&r, i + 1)->spec.idle_max_ms, rows[i].idle_ms);
    }
    test_row(NULL);
    rig_done(&r);
}

TEST(node_types)
{
    struct str_item above[] = {{STR("a100")}, {STR("h100")}};
    struct str_item own[] = {{STR("h100")}, {STR("l40")}};
    const struct scheduling_rules of_department = {.training_types = above,
                                                   .training_types_count = 2};
    const struct scheduling_rules of_project = {.training_types = own, .training_types_count = 2};
    const struct {
        const char *name, *type;
        enum workload_kind kind;
        enum status want;
    } rows[] = {
        {"what both allow",             "h100", WORKLOAD_TRAINING,  STATUS_OK     },
        {"what the department forbids", "l40",  WORKLOAD_TRAINING,  STATUS_INVALID},
        {"what the project forbids",    "a100", WORKLOAD_TRAINING,  STATUS_INVALID},
        {"none",                        "",     WORKLOAD_TRAINING,  STATUS_INVALID},
        {"a kind without such a rule",  "l40",  WORKLOAD_WORKSPACE, STATUS_OK     },
    };
    struct rig r;
    rig_ruled(&r, &of_department, &of_project);
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        struct submit_text t;
        test_row(rows[i].name);
        struct input in = submit_of(&t, i + 1, arena_printf(&r.arena, "w%u", i), 1);
        in.submit.kind = rows[i].kind;
        in.submit.spec.node_type = str_from_c(rows[i].type);
        EXPECT_STATUS(say(&r, in), rows[i].want);
    }
    test_row(NULL);
    decide(&r);
    EXPECT_I64(phase(&r, 1, 0), POD_PENDING); /* n1 is of no type */
    EXPECT_I64(find(&r, 1)->why.nodes[0].code, NODE_REASON_SELECTOR);
    struct label label = {NODE_TYPE_LABEL, STR("h100")};
    struct input in = {.kind = INPUT_NODE_SEEN};
    in.node = engine_state(r.e)->nodes[0];
    in.node.labels = &label;
    in.node.labels_count = 1;
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    decide(&r);
    EXPECT_I64(phase(&r, 1, 0), POD_BINDING);
    EXPECT_I64(phase(&r, 5, 0), POD_PENDING);
    rig_done(&r);
}

TEST_MAIN()

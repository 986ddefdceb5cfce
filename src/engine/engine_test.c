// SPDX-License-Identifier: Apache-2.0
#include "engine/rig_test.h"

#include "base/prng.h"
#include "model/limits.h"

/* ---- plan ---- */

TEST(plan_is_applied_with_a_revision)
{
    struct rig r;
    rig_init(&r);
    EXPECT_I64(engine_state(r.e)->plan_revision, 1);
    EXPECT_STATUS(apply_plan(&r, 2, 2, false, 1), STATUS_OK);
    EXPECT_I64(r.out.revision, 2);
    const struct plan *p = &engine_state(r.e)->plan;
    EXPECT_I64(p->projects_count, 2);
    EXPECT(p->projects[0].id != 0 && p->projects[1].id != p->projects[0].id);
    uint32_t id = p->projects[1].id;
    EXPECT_STATUS(apply_plan(&r, 2, 2, false, 1), STATUS_OK); /* is so already */
    EXPECT_I64(r.out.revision, 2);
    EXPECT_STATUS(apply_plan(&r, 3, 2, false, 1), STATUS_CONFLICT);
    EXPECT_I64(engine_state(r.e)->plan_revision, 2);
    EXPECT_STATUS(apply_plan(&r, 3, 2, false, 2), STATUS_OK);
    EXPECT_I64(engine_state(r.e)->plan.projects[1].id, id); /* ids stay */
    EXPECT_STATUS(apply_plan(&r, 3, 1, true, 3), STATUS_OK);
    EXPECT_I64(engine_state(r.e)->plan.projects_count, 1);
    EXPECT_STATUS(apply_plan(&r, 3, 2, true, 4), STATUS_OK);
    EXPECT(engine_state(r.e)->plan.projects[1].id != id); /* none is used again */
    rig_done(&r);
}

static enum status remove_from_plan(struct rig *r, enum plan_object what, struct str name)
{
    struct plan_removal removal = {what, name};
    struct input in = {.kind = INPUT_PLAN_APPLY, .author = STR("ann")};
    in.plan_apply.removals = &removal;
    in.plan_apply.removals_count = 1;
    return say(r, in);
}

TEST(single_objects_leave_the_plan)
{
    struct rig r;
    rig_usual(&r);
    const struct plan *p = &engine_state(r.e)->plan;
    EXPECT_STATUS(remove_from_plan(&r, PLAN_PROJECT, STR("none")), STATUS_UNKNOWN);
    EXPECT_STATUS(remove_from_plan(&r, PLAN_POOL, STR("default")), STATUS_IN_USE);
    EXPECT_STATUS(remove_from_plan(&r, PLAN_DEPARTMENT, STR("default")), STATUS_IN_USE);
    EXPECT_STATUS(remove_from_plan(&r, PLAN_DEPARTMENT, STR("d")), STATUS_IN_USE);
    EXPECT(
        str_starts(str_from_c(r.out.err.text), STR("department \"d\" cannot be removed: project")));
    EXPECT_STATUS(remove_from_plan(&r, PLAN_PROJECT, STR("b")), STATUS_OK);
    EXPECT_I64(p->projects_count, 1);
    EXPECT_STATUS(remove_from_plan(&r, PLAN_PROJECT, STR("a")), STATUS_OK);
    EXPECT_STATUS(remove_from_plan(&r, PLAN_DEPARTMENT, STR("d")), STATUS_OK);
    EXPECT_I64(p->departments_count, 1);

    struct pool pools[] = {
        {.name = STR("default")},
        {.name = STR("x"), .label_key = STR("k"), .label_value = STR("v")}
    };
    struct quota quotas[] = {plan_quota(NULL, 0, STR("x"))};
    struct str_item order[] = {{STR("x")}, {STR("default")}};
    struct project project = {.name = STR("c"),
                              .department = STR("default"),
                              .quotas = quotas,
                              .quotas_count = 1,
                              .default_pools = order,
                              .default_pools_count = 2};
    struct input in = {.kind = INPUT_PLAN_APPLY, .author = STR("ann")};
    in.plan_apply.plan = (struct plan){pools, NULL, &project, 2, 0, 1};
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    EXPECT_STR(p->projects[0].stamp.created_by, STR("ann"));
    int64_t created_ms = p->projects[0].stamp.created_ms;
    EXPECT(created_ms > 0);
    EXPECT_I64(p->pools[0].stamp.created_ms, 0); /* it was not touched */
    EXPECT(p->pools[1].id > 0 && p->pools[1].id != p->projects[0].id);
    uint32_t id = p->projects[0].id;
    r.now_ms += 1000;
    EXPECT_STATUS(remove_from_plan(&r, PLAN_POOL, STR("x")), STATUS_OK);
    EXPECT_I64(p->projects[0].quotas_count, 0); /* nor is it named any more */
    EXPECT_I64(p->projects[0].default_pools_count, 1);
    EXPECT_I64(p->projects[0].id, id);
    EXPECT_I64(p->projects[0].stamp.created_ms, created_ms);
    EXPECT(p->projects[0].stamp.updated_ms > created_ms);
    rig_done(&r);
}

TEST(the_cluster_is_named)
{
    struct rig r;
    rig_usual(&r);
    struct input in = {.kind = INPUT_NAME_CLUSTER};
    in.name_cluster.id = id_of(7);
    EXPECT_STATUS(say(&r, in), STATUS_INVALID);
    in.name_cluster.name = STR("lab");
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    in.name_cluster.id = id_of(8);
    in.name_cluster.name = STR("laboratory");
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    EXPECT(uuid_eq(engine_state(r.e)->cluster_id, id_of(7)));
    EXPECT_STR(engine_state(r.e)->cluster_name, STR("laboratory"));
    rig_done(&r);
}

TEST(plan_takes_nothing_away_under_work)
{
    struct rig r;
    rig_usual(&r);
    struct submit_text t;
    struct input in = submit_of(&t, 1, STR("train"), 2);
    in.submit.project = STR("b");
    in.submit.spec.preemptibility = NON_PREEMPTIBLE;
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    EXPECT_STATUS(apply_plan(&r, 2, 1, true, 0), STATUS_IN_USE); /* project b is needed */
    EXPECT_STATUS(apply_plan(&r, 1, 2, true, 0), STATUS_OK);     /* it does not run yet */
    EXPECT_STATUS(apply_plan(&r, 2, 2, true, 0), STATUS_OK);
    bind(&r, 1, 2, STR("n1"), 0);
    EXPECT_STATUS(apply_plan(&r, 1, 2, true, 0), STATUS_IN_USE); /* holds 2, non-preemptible */
    EXPECT(str_starts(str_from_c(r.out.err.text), STR("department \"d\"")) ||
           str_starts(str_from_c(r.out.err.text), STR("project \"b\"")));
    EXPECT_STATUS(apply_plan(&r, 5, 2, true, 0), STATUS_OK);
    EXPECT_STATUS(life(&r, INPUT_DELETE, 1), STATUS_OK);
    EXPECT_STATUS(apply_plan(&r, 1, 2, true, 0), STATUS_OK); /* is being stopped */
    report(&r, INPUT_POD_EXITED, 11, 1, 143, STR("Stopped"));
    report(&r, INPUT_POD_EXITED, 12, 1, 143, STR("Stopped"));
    EXPECT_STATUS(apply_plan(&r, 2, 1, true, 0), STATUS_OK);
    rig_done(&r);
}

TEST(plan_that_contradicts_itself_is_refused)
{
    struct rig r;
    rig_init(&r);
    struct department loop[2] = {
        {.name = STR("x"), .parent = STR("y")},
        {.name = STR("y"), .parent = STR("x")}
    };
    struct project orphan = {.name = STR("p"), .department = STR("gone")};
    struct input in = {.kind = INPUT_PLAN_APPLY};
    in.plan_apply.plan = (struct plan){.departments = loop, .departments_count = 2};
    EXPECT_STATUS(say(&r, in), STATUS_INVALID);
    in.plan_apply.plan = (struct plan){.projects = &orphan, .projects_count = 1};
    EXPECT_STATUS(say(&r, in), STATUS_INVALID);
    struct department twice[2] = {{.name = STR("x")}, {.name = STR("x")}};
    in.plan_apply.plan = (struct plan){.departments = twice, .departments_count = 2};
    EXPECT_STATUS(say(&r, in), STATUS_INVALID);
    struct quota wild = quota_of(1);
    wild.gpu_share = -5;
    struct department negative = {.name = STR("x"), .quotas = &wild, .quotas_count = 1};
    in.plan_apply.plan = (struct plan){.departments = &negative, .departments_count = 1};
    EXPECT_STATUS(say(&r, in), STATUS_INVALID);
    EXPECT_I64(engine_state(r.e)->plan_revision, 1);
    rig_done(&r);
}

/* ---- the life of a workload ---- */

TEST(life_from_submit_to_removal)
{
    struct rig r;
    rig_usual(&r);
    submit(&r, 1, STR("train"), 1);
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Pending"));
    bind(&r, 1, 1, STR("n1"), 0);
    REQUIRE(r.effects.count == 1);
    EXPECT_I64(r.effects.items[0].kind, EFFECT_START);
    EXPECT_I64(r.effects.items[0].attempt, 1);
    EXPECT_STR(r.effects.items[0].node, STR("n1"));
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Initializing"));
    EXPECT_I64(held_gpus(&r, STR("a"), false), 1);
    EXPECT_I64(held_gpus(&r, STR("d"), true), 1);
    r.now_ms = 2000;
    report(&r, INPUT_POD_STARTED, 11, 1, 0, STR(""));
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Running"));
    r.now_ms = 9000;
    report(&r, INPUT_POD_EXITED, 11, 1, 0, STR("Completed"));
    const struct workload *w = find(&r, 1);
    EXPECT_STR(workload_phase(w), STR("Completed"));
    EXPECT_I64(w->run_ms, 8000);
    EXPECT_I64(w->end_ms, 9000);
    EXPECT_I64(held_gpus(&r, STR("d"), true), 0);
    EXPECT_STATUS(life(&r, INPUT_RESUME, 1), STATUS_CONFLICT);
    EXPECT_I64(engine_next_ms(r.e), 9000 + INT64_C(30) * 86400000);
    r.now_ms = engine_next_ms(r.e);
    tick(&r);
    EXPECT(engine_find(r.e, id_of(1)) == NULL);
    REQUIRE(r.effects.count == 1);
    EXPECT_I64(r.effects.items[0].kind, EFFECT_FORGET);
    rig_done(&r);
}

TEST(the_deleted_are_told_of)
{
    struct rig r;
    rig_usual(&r);
    const struct state *s = engine_state(r.e);
    for (uint32_t n = 1; n <= DELETED_MAX + 2; n++) {
        submit(&r, n, arena_printf(&r.arena, "w%u", n), 1);
        EXPECT_STATUS(life(&r, INPUT_DELETE, n), STATUS_OK);
        r.now_ms += 1000;
        tick(&r);
    }
    EXPECT(engine_find(r.e, id_of(1)) == NULL);
    EXPECT_I64(s->workloads_count, 0);
    REQUIRE(s->deleted_count > DELETED_MAX / 2 && s->deleted_count <= DELETED_MAX);
    const struct workload *last = &s->deleted[s->deleted_count - 1];
    EXPECT(uuid_eq(last->id, id_of(DELETED_MAX + 2)));
    EXPECT_STR(last->author, STR("ann"));
    EXPECT_I64(last->spec.pod.gpu_devices, 1);
    EXPECT_I64(last->end_ms, r.now_ms);
    expect_same(&r);
    submit(&r, 5000, STR("late"), 1);
    EXPECT_STATUS(life(&r, INPUT_DELETE, 5000), STATUS_OK);
    r.now_ms += DELETED_SHOWN_MS + 1000;
    tick(&r);
    EXPECT_I64(s->deleted_count, 1); /* the others are forgotten */
    rig_done(&r);
}

TEST(reports_that_are_late_or_repeated_change_nothing)
{
    struct rig r;
    rig_usual(&r);
    submit(&r, 1, STR("train"), 1);
    report(&r, INPUT_POD_EXITED, 11, 0, 1, STR("Error")); /* never started */
    EXPECT_I64(phase(&r, 1, 0), POD_PENDING);
    bind(&r, 1, 1, STR("n1"), 0);
    report(&r, INPUT_POD_STARTED, 11, 2, 0, STR("")); /* a start that will be */
    EXPECT_I64(phase(&r, 1, 0), POD_BINDING);
    EXPECT_I64(r.effects.count, 0);
    report(&r, INPUT_POD_STARTED, 11, 1, 0, STR(""));
    report(&r, INPUT_POD_STARTED, 11, 1, 0, STR(""));
    EXPECT_I64(phase(&r, 1, 0), POD_RUNNING);
    uint32_t events = find(&r, 1)->events_count;
    report(&r, INPUT_POD_EXITED, 11, 1, 3, STR("Error"));
    report(&r, INPUT_POD_EXITED, 11, 1, 3, STR("Error"));
    EXPECT_I64(find(&r, 1)->events_count, events + 1);
    EXPECT_I64(find(&r, 1)->pods[0].failures, 1);
    report(&r, INPUT_POD_STARTED, 11, 1, 0, STR("")); /* it still runs somewhere: stop it */
    REQUIRE(r.effects.count == 1);
    EXPECT_I64(r.effects.items[0].kind, EFFECT_STOP);
    EXPECT_I64(r.effects.items[0].attempt, 1);
    report(&r, INPUT_POD_STARTED, 999, 1, 0, STR("")); /* of nobody */
    REQUIRE(r.effects.count == 1);
    EXPECT_I64(r.effects.items[0].kind, EFFECT_STOP);
    report(&r, INPUT_POD_EXITED, 999, 1, 0, STR("Stopped")); /* its files may go */
    REQUIRE(r.effects.count == 1);
    EXPECT_I64(r.effects.items[0].kind, EFFECT_FORGET);
    EXPECT_I64(r.effects.items[0].attempt, 1);
    rig_done(&r);
}

TEST(failures_are_retried_later_and_later_up_to_the_limit)
{
    struct rig r;
    struct submit_text t;
    rig_usual(&r);
    struct input in = submit_of(&t, 1, STR("train"), 1);
    in.submit.spec.backoff_limit = 7;
    say(&r, in);
    static const int64_t delays_s[] = {10, 20, 40, 80, 160, 300, 300};
    for (uint32_t i = 0; i < COUNT_OF(delays_s); i++) {
        bind(&r, 1, 1, STR("n1"), 0);
        report(&r, INPUT_POD_EXITED, 11, i + 1, 1, STR("Error"));
        EXPECT_I64(find(&r, 1)->pods[0].retry_at_ms, r.now_ms + delays_s[i] * 1000);
        EXPECT_I64(engine_next_ms(r.e), r.now_ms + delays_s[i] * 1000);
        r.now_ms += delays_s[i] * 1000;
    }
    bind(&r, 1, 1, STR("n1"), 0);
    report(&r, INPUT_POD_FAILED, 11, 8, 0, STR("no such file"));
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Failed"));
    EXPECT_I64(find(&r, 1)->end_ms, r.now_ms);
    rig_done(&r);
}

TEST(always_restarts_without_limit)
{
    struct rig r;
    struct submit_text t;
    rig_usual(&r);
    struct input in = submit_of(&t, 1, STR("serve"), 1);
    in.submit.spec.restart = RESTART_ALWAYS;
    in.submit.spec.backoff_limit = 0;
    say(&r, in);
    for (uint32_t i = 0; i < 5; i++) {
        bind(&r, 1, 1, STR("n1"), 0);
        report(&r, INPUT_POD_EXITED, 11, i + 1, i % 2, STR("Completed"));
        EXPECT_I64(phase(&r, 1, 0), POD_PENDING);
    }
    rig_done(&r);
}

TEST(one_member_that_fails_fails_the_gang)
{
    struct rig r;
    struct submit_text t;
    rig_usual(&r);
    struct input in = submit_of(&t, 1, STR("gang"), 3);
    in.submit.spec.backoff_limit = 0;
    say(&r, in);
    bind(&r, 1, 3, STR("n1"), 0);
    report(&r, INPUT_POD_STARTED, 11, 1, 0, STR(""));
    report(&r, INPUT_POD_STARTED, 12, 1, 0, STR(""));
    report(&r, INPUT_POD_EXITED, 12, 1, 9, STR("Error"));
    EXPECT_I64(r.effects.count, 2); /* stops of the others */
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Terminating"));
    report(&r, INPUT_POD_EXITED, 11, 1, 143, STR("Stopped"));
    report(&r, INPUT_POD_EXITED, 13, 1, 143, STR("Stopped"));
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Failed"));
    EXPECT_I64(held_gpus(&r, STR("a"), false), 0);
    rig_done(&r);
}

TEST(a_gang_below_its_minimum_is_stale)
{
    struct rig r;
    rig_usual(&r);
    submit(&r, 1, STR("gang"), 2);
    bind(&r, 1, 2, STR("n1"), 0);
    EXPECT_I64(find(&r, 1)->stale_since_ms, TIME_NEVER);
    r.now_ms = 5000;
    report(&r, INPUT_POD_EXITED, 11, 1, 1, STR("Error"));
    EXPECT_I64(find(&r, 1)->stale_since_ms, 5000);
    EXPECT_I64(find(&r, 1)->pending_since_ms, 5000);
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Initializing"));
    r.now_ms = 9000;
    bind(&r, 1, 1, STR("n1"), 0);
    EXPECT_I64(find(&r, 1)->stale_since_ms, TIME_NEVER);
    EXPECT_I64(find(&r, 1)->pending_ms, 4000);
    rig_done(&r);
}

TEST(suspend_resume_delete)
{
    struct rig r;
    rig_usual(&r);
    submit(&r, 1, STR("train"), 1);
    bind(&r, 1, 1, STR("n1"), 0);
    EXPECT_STATUS(life(&r, INPUT_SUSPEND, 1), STATUS_OK);
    EXPECT_I64(r.effects.count, 1);
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Stopping"));
    EXPECT_STATUS(life(&r, INPUT_SUSPEND, 1), STATUS_OK); /* again */
    EXPECT_I64(r.effects.count, 0);
    report(&r, INPUT_POD_EXITED, 11, 1, 143, STR("Stopped"));
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Stopped"));
    bind(&r, 1, 1, STR("n1"), 0); /* a stopped one is not started */
    EXPECT_I64(r.effects.count, 0);
    EXPECT_STATUS(life(&r, INPUT_RESUME, 1), STATUS_OK);
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Pending"));
    bind(&r, 1, 1, STR("n1"), 0);
    EXPECT_I64(find(&r, 1)->pods[0].attempt, 2);
    life(&r, INPUT_SUSPEND, 1); /* resumed before it has stopped */
    life(&r, INPUT_RESUME, 1);
    report(&r, INPUT_POD_EXITED, 11, 2, 143, STR("Stopped"));
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Pending"));
    bind(&r, 1, 1, STR("n1"), 0);
    EXPECT_STATUS(life(&r, INPUT_DELETE, 1), STATUS_OK);
    EXPECT_STATUS(life(&r, INPUT_DELETE, 1), STATUS_OK);
    EXPECT_STATUS(life(&r, INPUT_RESUME, 1), STATUS_UNKNOWN);
    tick(&r);
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Deleting")); /* holds its device yet */
    report(&r, INPUT_POD_EXITED, 11, 3, 143, STR("Stopped"));
    tick(&r);
    EXPECT(engine_find(r.e, id_of(1)) == NULL);
    EXPECT_STATUS(life(&r, INPUT_DELETE, 1), STATUS_UNKNOWN);
    rig_done(&r);
}

TEST(done_before_the_stop_reached_it)
{
    struct rig r;
    rig_usual(&r);
    submit(&r, 1, STR("train"), 1);
    bind(&r, 1, 1, STR("n1"), 0);
    life(&r, INPUT_SUSPEND, 1);
    report(&r, INPUT_POD_EXITED, 11, 1, 0, STR("Completed"));
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Completed"));
    rig_done(&r);
}

TEST(eviction)
{
    struct rig r;
    rig_usual(&r);
    submit(&r, 1, STR("train"), 1);
    bind(&r, 1, 1, STR("n1"), 0);
    report(&r, INPUT_POD_STARTED, 11, 1, 0, STR(""));
    struct evict ev = {
        .pod = id_of(11),
        .why = {.code = REASON_EVICTED_RECLAIM, .other = id_of(2), .other_name = STR("owner")}
    };
    struct claim kept = {.workload = id_of(1), .node = STR("n1"), .since_ms = 3};
    struct input in = {.kind = INPUT_TICK};
    in.tick = (struct tick){.evicts = &ev, .evicts_count = 1, .claims = &kept, .claims_count = 1};
    say(&r, in);
    EXPECT_I64(r.effects.count, 1);
    const struct workload *w = find(&r, 1);
    EXPECT_I64(w->events[w->events_count - 1].kind, EVENT_EVICTED);
    EXPECT_STR(w->events[w->events_count - 1].why.other_name, STR("owner"));
    EXPECT_I64(engine_state(r.e)->claims_count, 1);
    say(&r, in); /* it is going already */
    EXPECT_I64(r.effects.count, 0);
    report(&r, INPUT_POD_EXITED, 11, 1, 143, STR("Stopped"));
    EXPECT_I64(phase(&r, 1, 0), POD_PENDING);
    EXPECT_I64(find(&r, 1)->pods[0].failures, 0);
    tick(&r);
    EXPECT_I64(engine_state(r.e)->claims_count, 0);
    rig_done(&r);
}

/* ---- nodes ---- */

TEST(a_lost_node_gives_its_pods_back)
{
    struct rig r;
    rig_usual(&r);
    submit(&r, 1, STR("one"), 1);
    submit(&r, 2, STR("two"), 1);
    submit(&r, 3, STR("three"), 1);
    bind(&r, 1, 1, STR("n1"), 0);
    bind(&r, 2, 1, STR("n1"), 1);
    bind(&r, 3, 1, STR("n1"), 2);
    life(&r, INPUT_DELETE, 2);
    life(&r, INPUT_SUSPEND, 3);
    say(&r, (struct input){.kind = INPUT_NODE_LOST, .node_name = STR("n1")});
    EXPECT_I64(phase(&r, 1, 0), POD_PENDING);
    EXPECT_STR(find(&r, 1)->pods[0].end_reason, STR("NodeLost"));
    EXPECT_I64(find(&r, 1)->pods[0].failures, 0);
    EXPECT(workload_is_terminal(find(&r, 2)));
    EXPECT_STR(workload_phase(find(&r, 3)), STR("Stopped"));
    EXPECT_I64(held_gpus(&r, STR("d"), true), 0);
    bind(&r, 1, 1, STR("n1"), 0); /* not on a lost node */
    EXPECT_I64(phase(&r, 1, 0), POD_PENDING);
    see_node(&r, STR("n1"), 4, true);
    bind(&r, 1, 1, STR("n1"), 0);
    EXPECT_I64(phase(&r, 1, 0), POD_BINDING);
    say(&r, (struct input){.kind = INPUT_NODE_LOST, .node_name = STR("nowhere")});
    rig_done(&r);
}

TEST(a_sick_device_is_left)
{
    struct rig r;
    rig_usual(&r);
    submit(&r, 1, STR("one"), 1);
    submit(&r, 2, STR("two"), 1);
    bind(&r, 1, 1, STR("n1"), 0);
    bind(&r, 2, 1, STR("n1"), 1);
    see_node(&r, STR("n1"), 4, false); /* device 0 */
    EXPECT_I64(r.effects.count, 1);
    EXPECT_I64(phase(&r, 1, 0), POD_RELEASING);
    EXPECT_I64(phase(&r, 2, 0), POD_BINDING);
    report(&r, INPUT_POD_EXITED, 11, 1, 137, STR("Stopped"));
    EXPECT_I64(phase(&r, 1, 0), POD_PENDING);
    see_node(&r, STR("n1"), 1, true); /* device 1 is gone */
    EXPECT_I64(phase(&r, 2, 0), POD_RELEASING);
    see_node(&r, STR("n1"), 4, true); /* and back, while the pod goes */
    report(&r, INPUT_POD_EXITED, 21, 1, 137, STR("Stopped"));
    EXPECT_I64(held_gpus(&r, STR("d"), true), 0);
    rig_done(&r);
}

TEST(nodes_are_kept_in_order_and_checked)
{
    struct rig r;
    rig_usual(&r);
    see_node(&r, STR("n3"), 1, true);
    see_node(&r, STR("a0"), 1, true);
    see_node(&r, STR("n2"), 1, true);
    static const struct str want[] = {STRS("a0"), STRS("n1"), STRS("n2"), STRS("n3")};
    REQUIRE(engine_state(r.e)->nodes_count == COUNT_OF(want));
    for (uint32_t i = 0; i < COUNT_OF(want); i++) {
        EXPECT_STR(engine_state(r.e)->nodes[i].name, want[i]);
    }
    struct input bad = {.kind = INPUT_NODE_SEEN};
    EXPECT_STATUS(say(&r, bad), STATUS_INVALID); /* no name */
    bad.node = (struct node){.name = STR("x"), .cpu_milli = -1};
    EXPECT_STATUS(say(&r, bad), STATUS_INVALID);
    EXPECT_I64(engine_state(r.e)->nodes_count, COUNT_OF(want));
    rig_done(&r);
}

TEST(nothing_is_given_out_twice)
{
    struct rig r;
    rig_usual(&r);
    submit(&r, 1, STR("one"), 1);
    submit(&r, 2, STR("two"), 1);
    bind(&r, 1, 1, STR("n1"), 0);
    bind(&r, 2, 1, STR("n1"), 0);
    EXPECT_I64(phase(&r, 2, 0), POD_PENDING);
    life(&r, INPUT_SUSPEND, 1);
    bind(&r, 2, 1, STR("n1"), 0); /* held until it is gone */
    EXPECT_I64(phase(&r, 2, 0), POD_PENDING);
    bind(&r, 2, 1, STR("n1"), 7); /* no such device */
    bind(&r, 2, 1, STR("n9"), 0); /* no such node */
    EXPECT_I64(phase(&r, 2, 0), POD_PENDING);
    rig_done(&r);
}

/* ---- storage ---- */

TEST(outstanding_effects_survive_a_restart)
{
    struct rig r;
    rig_usual(&r);
    submit(&r, 1, STR("one"), 1);
    submit(&r, 2, STR("two"), 1);
    submit(&r, 3, STR("three"), 1);
    bind(&r, 1, 1, STR("n1"), 0);
    bind(&r, 2, 1, STR("n1"), 1);
    bind(&r, 3, 1, STR("n1"), 2);
    report(&r, INPUT_POD_STARTED, 31, 1, 0, STR(""));
    life(&r, INPUT_SUSPEND, 2);
    struct effects fx = {.arena = &r.arena};
    engine_outstanding(r.e, &fx);
    REQUIRE(fx.count == 2);
    EXPECT_I64(fx.items[0].kind, EFFECT_START);
    EXPECT_I64(fx.items[1].kind, EFFECT_STOP);
    expect_same(&r);
    rig_done(&r);
}

TEST(compaction_keeps_everything)
{
    struct rig r;
    struct submit_text t;
    rig_usual(&r);
    struct input in = submit_of(&t, 1, STR("train"), 1);
    in.submit.spec.backoff_limit = BACKOFF_LIMIT_MAX;
    say(&r, in);
    for (uint32_t i = 0; i < 900; i++) {
        r.now_ms += 300000;
        bind(&r, 1, 1, STR("n1"), i % 4);
        see_node(&r, STR("n2"), 1 + i % 8, true); /* rewritten each time: garbage */
        report(&r, INPUT_POD_EXITED, 11, i + 1, 1, STR("Error"));
        if (i % 100 == 0) {
            expect_same(&r);
        }
    }
    EXPECT_I64(find(&r, 1)->pods[0].attempt, 900);
    EXPECT(find(&r, 1)->events_count <= EVENTS_MAX);
    expect_same(&r);
    rig_done(&r);
}

/* Damaged checkpoints are refused, or are states that can be worked with; never a crash. */
TEST(damaged_checkpoint)
{
    struct rig r;
    rig_usual(&r);
    submit(&r, 1, STR("one"), 2);
    bind(&r, 1, 2, STR("n1"), 0);
    struct buf bytes;
    buf_init(&bytes, 1 << 20);
    engine_checkpoint(r.e, &bytes);
    struct prng p;
    prng_init(&p, test_seed());
    uint32_t refused = 0;
    for (uint32_t i = 0; i < 1500; i++) {
        struct engine *e = engine_new();
        uint32_t at = prng_below(&p, (uint32_t)bytes.len);
        char old = bytes.ptr[at];
        bytes.ptr[at] = (char)(unsigned char)prng_below(&p, 256);
        struct err err;
        if (engine_restore(e, buf_view(&bytes), &err) == STATUS_OK) {
            struct effects fx = {.arena = &r.arena};
            engine_outstanding(e, &fx);
            (void)engine_hash(e);
        } else {
            refused++;
            EXPECT_I64(engine_state(e)->plan_revision, 1); /* as it was */
        }
        bytes.ptr[at] = old;
        engine_free(e);
    }
    EXPECT(refused > 100);
    buf_done(&bytes);
    rig_done(&r);
}

/* ---- what readers ask ---- */

TEST(place_in_the_queue)
{
    struct rig r;
    struct submit_text t;
    rig_usual(&r);
    submit(&r, 1, STR("one"), 1);
    submit(&r, 2, STR("two"), 1);
    struct input in = submit_of(&t, 3, STR("urgent"), 1);
    in.submit.spec.priority = 90;
    say(&r, in);
    EXPECT_I64(engine_place(r.e, find(&r, 1)), 1);
    EXPECT_I64(engine_place(r.e, find(&r, 2)), 2);
    EXPECT_I64(engine_place(r.e, find(&r, 3)), 0);
    EXPECT_STR(engine_pool_of(r.e, &engine_state(r.e)->nodes[0]), STR("default"));
    EXPECT_I64(engine_held(r.e, STR("nowhere"), STR("a"), false).gpu_share, 0);
    EXPECT_I64(engine_held(r.e, STR(""), STR("nobody"), false).gpu_share, 0);
    rig_done(&r);
}

/* ---- several pools ---- */

TEST(what_would_start_it)
{
    struct rig r;
    struct remedy_told told;
    uint32_t starts = 0;
    rig_usual(&r);
    submit(&r, 1, STR("one"), 1);
    submit(&r, 2, STR("two"), 4);
    (void)settle(&r, &starts);
    engine_remedy(r.e, find(&r, 1), r.now_ms, &r.arena, &told);
    EXPECT_I64(told.remedy.outcome, REMEDY_NOT_WAITING);
    engine_remedy(r.e, find(&r, 2), r.now_ms, &r.arena, &told);
    EXPECT_I64(told.remedy.outcome, REMEDY_FOUND);
    EXPECT_I64(told.remedy.kind, REMEDY_PRIORITY);
    EXPECT_I64(told.remedy.to, told.remedy.from + 1);
    EXPECT_I64(told.remedy.stopped, 1);
    EXPECT_STR(told.pool, STR("default"));
    rig_done(&r);
}

static void submit_many(struct rig *r, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        char name[16];
        EXPECT_STATUS(submit(r, i, str_format(name, sizeof(name), "w%u", i), 1), STATUS_OK);
    }
}

TEST(work_goes_where_there_is_room)
{
    struct rig r;
    uint32_t starts = 0;
    rig_usual(&r); /* pool default: n1 with 4 devices */
    add_pool(&r, 2);
    submit_many(&r, 1, 9);
    settle(&r, &starts);
    EXPECT_I64(starts, 6); /* those that found the first pool full went on to the other */
    for (uint32_t n = 1; n <= 9; n++) {
        const struct pod *p = &find(&r, n)->pods[0];
        if (p->phase == POD_BINDING) {
            report(&r, INPUT_POD_STARTED, n * 10 + 1, 1, 0, STR(""));
        }
    }
    for (uint32_t n = 1, ended = 0; n <= 9 && ended < 2; n++) {
        const struct pod *p = &find(&r, n)->pods[0];
        if (p->phase == POD_RUNNING) { /* one of each node */
            struct str node = ended == 0 ? STR("n1") : STR("n2");
            if (str_eq(p->node, node)) {
                report(&r, INPUT_POD_EXITED, n * 10 + 1, 1, 0, STR("Completed"));
                starts = 0;
                settle(&r, &starts);
                EXPECT_I64(starts, 1); /* whichever pool the others wait in, one takes it at once */
                ended++;
                n = 0;
            }
        }
    }
    rig_done(&r);
}

TEST(waiting_in_several_pools_is_quiet)
{
    enum { COUNT = 1000, AT_ONCE = 100 };
    struct rig r;
    uint32_t starts = 0;
    rig_usual(&r);
    add_pool(&r, 2);
    submit_many(&r, 1, 6);
    settle(&r, &starts);
    submit_many(&r, 10, COUNT);
    size_t first = settle(&r, &starts);
    EXPECT_I64(starts, 6);
    EXPECT(first < COUNT * (size_t)250);
    /* As many again: those that wait already have nothing new to say. */
    size_t more = 0;
    for (uint32_t i = 0; i < COUNT; i += AT_ONCE) {
        submit_many(&r, 10 + COUNT + i, AT_ONCE);
        more += settle(&r, &starts);
    }
    EXPECT(more < COUNT * (size_t)250);
    /* A device falls free: one starts, few move. */
    for (uint32_t n = 1; n <= 6; n++) {
        if (str_eq(find(&r, n)->pods[0].node, STR("n1"))) {
            report(&r, INPUT_POD_STARTED, n * 10 + 1, 1, 0, STR(""));
            report(&r, INPUT_POD_EXITED, n * 10 + 1, 1, 0, STR("Completed"));
            break;
        }
    }
    size_t after = settle(&r, &starts);
    EXPECT_I64(starts, 7);
    EXPECT(after < 4000);
    /* Time passes: each looks once at the other pool. */
    r.now_ms += 60 * 1000;
    EXPECT(settle(&r, &starts) < 2 * COUNT * (size_t)300);
    r.now_ms += 60 * 1000;
    EXPECT_I64((int64_t)settle(&r, &starts), 0); /* nothing changed since */
    EXPECT_I64(starts, 7);
    rig_done(&r);
}

TEST_MAIN()

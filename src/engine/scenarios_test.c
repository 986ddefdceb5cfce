// SPDX-License-Identifier: Apache-2.0
// Rows of docs/scenarios.md that take events over time, by their ids.
#include "engine/rig_test.h"

#include "base/num.h"
#include "engine/machine.h"
#include "model/limits.h"
#include "model/priority.h"

#define MINUTE (INT64_C(60) * 1000)
#define HOUR   (60 * MINUTE)

/* ---- an agent that does at once what it is told ---- */

static bool say_of_pod(struct rig *r, const struct workload *w, uint32_t i)
{
    const struct pod *p = &w->pods[i];
    if (p->phase != POD_BINDING && p->phase != POD_RELEASING) {
        return false;
    }
    bool starts = p->phase == POD_BINDING;
    struct input in = {.kind = starts ? INPUT_POD_STARTED : INPUT_POD_EXITED};
    in.pod = (struct pod_report){.pod = p->id,
                                 .attempt = p->attempt,
                                 .node = p->node,
                                 .at_ms = r->now_ms,
                                 .exit_code = starts ? 0 : 143,
                                 .reason = starts ? STR("") : STR("Stopped")};
    say(r, in);
    return true;
}

static uint32_t running(const struct rig *r, uint32_t n)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < find(r, n)->pods_count; i++) {
        count += phase(r, n, i) == POD_RUNNING;
    }
    return count;
}

static uint32_t pending(const struct rig *r)
{
    const struct state *s = engine_state(r->e);
    uint32_t count = 0;
    for (uint32_t w = 0; w < s->workloads_count; w++) {
        count += str_eq(workload_phase(&s->workloads[w]), STR("Pending"));
    }
    return count;
}

/* What one would see in between: nothing is said to run that has no pod. */
static void check_phases(const struct rig *r)
{
    const struct state *s = engine_state(r->e);
    for (uint32_t w = 0; w < s->workloads_count; w++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < s->workloads[w].pods_count; i++) {
            count += s->workloads[w].pods[i].phase == POD_RUNNING;
        }
        EXPECT(count > 0 || !str_eq(workload_phase(&s->workloads[w]), STR("Running")));
    }
}

/* Decides and does what was decided until there is nothing more to do. */
static void go(struct rig *r)
{
    for (bool more = true; more;) {
        uint32_t starts = 0;
        more = settle(r, &starts) > 0;
        for (uint32_t w = 0; w < engine_state(r->e)->workloads_count; w++) {
            for (uint32_t i = 0; i < engine_state(r->e)->workloads[w].pods_count; i++) {
                more = say_of_pod(r, &engine_state(r->e)->workloads[w], i) || more;
                check_phases(r);
            }
        }
    }
}

static void restart(struct rig *r)
{
    struct buf bytes;
    struct err err = {0};
    buf_init(&bytes, 64 << 20);
    engine_checkpoint(r->e, &bytes);
    engine_free(r->e);
    r->e = engine_new();
    REQUIRE_OK(engine_restore(r->e, buf_view(&bytes), &err), &err);
    buf_done(&bytes);
}

/* A submit to project a or b. */
static enum status ask(struct rig *r, uint32_t n, struct str project, uint32_t pods,
                       int64_t priority)
{
    struct submit_text t;
    struct input in = submit_of(&t, n, arena_printf(&r->arena, "w%u", n), pods);
    in.submit.project = project;
    in.submit.spec.priority = priority;
    return say(r, in);
}

static uint32_t events_of(const struct workload *w, enum event_kind kind, const struct event **last)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->events_count; i++) {
        if (w->events[i].kind == kind) {
            count++;
            *last = &w->events[i];
        }
    }
    return count;
}

/* ---- reclaim and preemption ---- */

TEST(B033_a_pool_that_is_not_there_is_refused_with_the_nearest_name)
{
    struct rig r;
    struct submit_text t;
    struct str_item pool = {STR("h10")};
    rig_usual(&r);
    add_pool(&r, 4);
    struct input in = submit_of(&t, 1, STR("w"), 1);
    in.submit.spec.pools = &pool;
    in.submit.spec.pools_count = 1;
    EXPECT_STATUS(say(&r, in), STATUS_UNKNOWN);
    EXPECT_STR(str_from_c(r.out.err.hint), STR("did you mean \"h100\"?"));
    EXPECT_I64(engine_state(r.e)->workloads_count, 0);
    rig_done(&r);
}

TEST(B045_what_gave_way_waits_as_a_whole_and_comes_back_as_a_whole)
{
    struct rig r;
    rig_usual(&r);
    ask(&r, 1, STR("a"), 3, 50);
    go(&r);
    EXPECT_I64(running(&r, 1), 3);
    ask(&r, 2, STR("b"), 2, 50); /* within its guarantee; a is above its own */
    go(&r);
    EXPECT_I64(running(&r, 2), 2);
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Pending"));
    for (uint32_t i = 0; i < 3; i++) {
        EXPECT_I64(phase(&r, 1, i), POD_PENDING);
    }
    EXPECT_I64(held_gpus(&r, STR("a"), false), 0);
    life(&r, INPUT_DELETE, 2);
    go(&r);
    EXPECT_I64(running(&r, 1), 3);
    rig_done(&r);
}

TEST(B046_history_tells_who_stopped_it_and_how_long_it_waited)
{
    struct rig r;
    const struct event *e = NULL;
    rig_init(&r);
    REQUIRE(apply_plan(&r, 2, 2, false, 0) == STATUS_OK);
    REQUIRE(see_node(&r, STR("n1"), 1, true) == STATUS_OK);
    ask(&r, 1, STR("a"), 1, 50);
    go(&r);
    r.now_ms += 40 * MINUTE;
    ask(&r, 2, STR("a"), 1, 80);
    go(&r);
    EXPECT_I64(running(&r, 2), 1);
    EXPECT_I64(find(&r, 1)->run_ms, 40 * MINUTE);
    REQUIRE(events_of(find(&r, 1), EVENT_EVICTED, &e) == 1);
    EXPECT_I64(e->why.code, REASON_EVICTED_PREEMPT);
    EXPECT(uuid_eq(e->why.other, id_of(2)));
    EXPECT_STR(e->why.other_name, STR("w2"));
    EXPECT_I64(e->at_ms, r.now_ms);
    r.now_ms += 60 * MINUTE;
    life(&r, INPUT_DELETE, 2);
    go(&r);
    EXPECT_I64(running(&r, 1), 1);
    EXPECT_I64(find(&r, 1)->pending_ms, 60 * MINUTE);
    EXPECT_I64(events_of(find(&r, 1), EVENT_STARTED, &e), 2);
    EXPECT_I64(e->at_ms, r.now_ms);
    EXPECT_I64(events_of(find(&r, 1), EVENT_EVICTED, &e), 1);
    rig_done(&r);
}

TEST(B167_the_numbers_of_a_reason_are_those_of_the_state_decided_on)
{
    struct rig r;
    const struct event *e = NULL;
    rig_usual(&r);
    for (uint32_t n = 1; n <= 4; n++) {
        ask(&r, n, STR("a"), 1, 50);
    }
    go(&r);
    ask(&r, 9, STR("b"), 1, 50);
    int64_t held = engine_held(r.e, STR("default"), STR("a"), false).gpu_share;
    uint64_t before = engine_hash(r.e);
    restart(&r); /* and a second time from what is stored */
    EXPECT(engine_hash(r.e) == before);
    uint32_t starts = 0;
    settle(&r, &starts);
    int64_t share = engine_fair_share(r.e, STR("default"), STR("a"), false);
    uint32_t stopped = 0;
    for (uint32_t n = 1; n <= 4; n++) {
        if (events_of(find(&r, n), EVENT_EVICTED, &e) > 0) {
            stopped++;
            EXPECT_I64(e->why.code, REASON_EVICTED_RECLAIM);
            EXPECT_I64(e->why.held, held);
            EXPECT_I64(e->why.bound, share);
            EXPECT_STR(e->why.queue, STR("a"));
        }
    }
    EXPECT_I64(stopped, 1);
    go(&r);
    rig_done(&r);
}

/* ---- several pools ---- */

TEST(B055_work_allowed_on_two_pools_starts_and_grows_in_one)
{
    struct rig r;
    struct submit_text t;
    struct str_item pools[] = {{STR("default")}, {STR("h100")}};
    rig_init(&r);
    REQUIRE(apply_plan(&r, 2, 2, false, 0) == STATUS_OK);
    REQUIRE(see_node(&r, STR("n1"), 2, true) == STATUS_OK);
    add_pool(&r, 2);
    struct input in = submit_of(&t, 1, STR("elastic"), 4);
    in.submit.spec.pods_min = 2;
    in.submit.spec.pools = pools;
    in.submit.spec.pools_count = 2;
    say(&r, in);
    for (int hours = 0; hours < 4; hours++) {
        go(&r);
        EXPECT_I64(running(&r, 1), 2);
        struct str node = {0};
        for (uint32_t i = 0; i < 4; i++) {
            const struct pod *p = &find(&r, 1)->pods[i];
            EXPECT(p->phase != POD_RUNNING || node.len == 0 || str_eq(node, p->node));
            node = p->phase == POD_RUNNING ? p->node : node;
        }
        EXPECT_STR(find(&r, 1)->why.pool, STR("default")); /* the others wait beside them */
        r.now_ms += HOUR;
    }
    rig_done(&r);
}

/* ---- devices ---- */

TEST(B084_a_start_that_is_repeated_makes_one_reservation)
{
    struct rig r;
    struct submit_text t;
    rig_init(&r);
    REQUIRE(apply_plan(&r, 2, 2, false, 0) == STATUS_OK);
    REQUIRE(see_node(&r, STR("n1"), 2, true) == STATUS_OK);
    struct input in = submit_of(&t, 1, STR("half"), 1);
    in.submit.spec.pod.gpu_portion_share = DEVICE_SHARE / 2;
    say(&r, in);
    uint32_t starts = 0;
    settle(&r, &starts);
    EXPECT_I64(starts, 1);
    struct str device = arena_str(&r.arena, find(&r, 1)->pods[0].devices[0].uuid);
    for (int answer_lost = 0; answer_lost < 3; answer_lost++) {
        restart(&r);
        r.effects.count = 0;
        engine_outstanding(r.e, &r.effects);
        REQUIRE(r.effects.count == 1);
        EXPECT_I64(r.effects.items[0].kind, EFFECT_START);
        EXPECT_I64(r.effects.items[0].attempt, 1);
        EXPECT_STR(find(&r, 1)->pods[0].devices[0].uuid, device);
        EXPECT_I64(engine_held(r.e, STR(""), STR("a"), false).gpu_share, DEVICE_SHARE / 2);
        settle(&r, &starts);
        EXPECT_I64(starts, 1);
    }
    ask(&r, 2, STR("b"), 1, 50); /* the other device is free */
    go(&r);
    EXPECT_I64(running(&r, 1) + running(&r, 2), 2);
    rig_done(&r);
}

TEST(B086_two_requests_at_one_moment_get_two_devices)
{
    enum { REPEATED = 1000 };
    struct rig r;
    rig_init(&r);
    REQUIRE(apply_plan(&r, 2, 2, false, 0) == STATUS_OK);
    REQUIRE(see_node(&r, STR("n1"), 2, true) == STATUS_OK);
    for (uint32_t i = 0; i < REPEATED; i++) {
        uint32_t n = 1 + 2 * i;
        ask(&r, n, STR("a"), 1, 50);
        ask(&r, n + 1, STR("b"), 1, 50);
        go(&r);
        const struct pod *one = &find(&r, n)->pods[0];
        const struct pod *two = &find(&r, n + 1)->pods[0];
        REQUIRE(one->devices_count == 1 && two->devices_count == 1);
        EXPECT(!str_eq(one->devices[0].uuid, two->devices[0].uuid));
        life(&r, INPUT_DELETE, n);
        life(&r, INPUT_DELETE, n + 1);
        go(&r);
        r.now_ms += 1;
    }
    rig_done(&r);
}

/* ---- accounting ---- */

TEST(B109_an_absurd_amount_is_refused_and_changes_no_total)
{
    struct rig r;
    struct submit_text t;
    rig_usual(&r);
    ask(&r, 1, STR("a"), 1, 50);
    go(&r);
    for (uint32_t n = 2; n < 4; n++) {
        struct input in = submit_of(&t, n, STR("huge"), 1);
        in.submit.spec.pod.gpu_devices = INT64_C(1) << 62;
        EXPECT(say(&r, in) != STATUS_OK);
        EXPECT_STR(str_from_c(r.out.err.field), STR("pod.gpu_devices"));
        EXPECT_I64(held_gpus(&r, STR("a"), false), 1);
        EXPECT_I64(held_gpus(&r, STR("d"), true), 1);
        EXPECT_I64(engine_state(r.e)->workloads_count, 1);
    }
    rig_done(&r);
}

TEST(B111_what_was_stopped_uses_nothing_and_waits_until_its_retry)
{
    struct rig r;
    struct submit_text t;
    rig_usual(&r);
    struct input in = submit_of(&t, 1, STR("w"), 2);
    in.submit.spec.backoff_limit = 5;
    say(&r, in);
    go(&r);
    EXPECT_I64(held_gpus(&r, STR("a"), false), 2);
    r.now_ms += 20 * HOUR; /* its members do not come up again in time */
    report(&r, INPUT_POD_EXITED, 11, 1, 1, STR("Error"));
    report(&r, INPUT_POD_EXITED, 12, 1, 1, STR("Error"));
    EXPECT_I64(held_gpus(&r, STR("a"), false), 0);
    EXPECT_STR(workload_phase(find(&r, 1)), STR("Pending"));
    EXPECT(find(&r, 1)->pods[0].retry_at_ms > r.now_ms);
    go(&r);
    EXPECT_I64(held_gpus(&r, STR("a"), false), 0);
    EXPECT_I64(find(&r, 1)->why.code, REASON_GATED);
    EXPECT_I64(find(&r, 1)->why.until_ms, find(&r, 1)->pods[0].retry_at_ms);
    restart(&r);
    r.now_ms = find(&r, 1)->pods[0].retry_at_ms;
    go(&r);
    EXPECT_I64(running(&r, 1), 2);
    rig_done(&r);
}

TEST(B112_use_is_counted_once_however_often_it_is_seen)
{
    struct rig r;
    rig_usual(&r);
    ask(&r, 1, STR("a"), 1, 50);
    uint32_t starts = 0;
    settle(&r, &starts);
    EXPECT_I64(held_gpus(&r, STR("a"), false), 1);
    for (int seen = 0; seen < 3; seen++) {
        report(&r, INPUT_POD_STARTED, 11, 1, 0, STR(""));
        EXPECT_I64(held_gpus(&r, STR("a"), false), 1);
        restart(&r);
        EXPECT_I64(held_gpus(&r, STR("a"), false), 1);
    }
    r.now_ms += HOUR;
    report(&r, INPUT_POD_STARTED, 11, 1, 0, STR(""));
    struct usage u = engine_usage(r.e, STR("default"), STR("a"), false, r.now_ms);
    EXPECT_I64(u.used.v[RES_GPU], HOUR * DEVICE_SHARE);
    rig_done(&r);
}

TEST(B115_the_number_that_waits_goes_down_with_each_that_leaves)
{
    struct rig r;
    rig_usual(&r);
    for (uint32_t n = 1; n <= 5; n++) {
        ask(&r, n, STR("a"), 3, 50); /* one of them fits */
    }
    EXPECT_I64(pending(&r), 5);
    life(&r, INPUT_DELETE, 5); /* new, nobody has looked at it yet */
    EXPECT_I64(pending(&r), 4);
    go(&r);
    EXPECT_I64(pending(&r), 3);
    for (uint32_t i = 0; i < 3; i++) {
        report(&r, INPUT_POD_EXITED, 11 + i, 1, 1, STR("Error"));
    }
    EXPECT_I64(pending(&r), 4);
    life(&r, INPUT_DELETE, 1); /* backing off */
    EXPECT_I64(pending(&r), 3);
    uint32_t starts = 0;
    settle(&r, &starts);
    EXPECT_I64(pending(&r), 2);
    life(&r, INPUT_DELETE, 3); /* was looked at, does not fit */
    life(&r, INPUT_DELETE, 4);
    go(&r);
    EXPECT_I64(pending(&r), 0);
    rig_done(&r);
}

TEST(B123_capacity_returns_although_the_project_was_away)
{
    struct rig r;
    rig_usual(&r);
    ask(&r, 1, STR("b"), 2, 50);
    go(&r);
    /* A project stays as long as there is work in it. */
    EXPECT_STATUS(apply_plan(&r, 2, 1, true, 0), STATUS_IN_USE);
    life(&r, INPUT_SUSPEND, 1);
    go(&r);
    EXPECT_I64(held_gpus(&r, STR("b"), false), 0);
    EXPECT_STATUS(apply_plan(&r, 2, 1, true, 0), STATUS_IN_USE);
    EXPECT_STATUS(life(&r, INPUT_DELETE, 1), STATUS_OK);
    go(&r);
    EXPECT_STATUS(apply_plan(&r, 2, 1, true, 0), STATUS_OK);
    EXPECT_STATUS(apply_plan(&r, 2, 2, false, 0), STATUS_OK);
    ask(&r, 2, STR("b"), 4, 50);
    go(&r);
    EXPECT_I64(running(&r, 2), 4);
    EXPECT_I64(held_gpus(&r, STR("d"), true), 4);
    rig_done(&r);
}

/* ---- restart and faults ---- */

TEST(B125_the_order_survives_a_restart)
{
    /* by priority, then time of submit, then id */
    static const int64_t priorities[] = {90, 50, 70, 25, 50};
    static const uint32_t want[] = {1, 3, 2, 5, 4};
    struct rig r;
    rig_init(&r);
    REQUIRE(apply_plan(&r, 2, 2, false, 0) == STATUS_OK);
    for (uint32_t n = 1; n <= 5; n++) {
        ask(&r, n, STR("a"), 1, priorities[n - 1]);
    }
    for (int again = 0; again < 2; again++) {
        for (uint32_t i = 0; i < 5; i++) {
            EXPECT_I64(engine_place(r.e, find(&r, want[i])), i);
        }
        restart(&r);
    }
    see_node(&r, STR("n1"), 2, true);
    go(&r);
    EXPECT_I64(running(&r, 1) + running(&r, 3), 2);
    EXPECT_I64(engine_place(r.e, find(&r, 2)), 0);
    rig_done(&r);
}

TEST(B130_a_late_message_of_an_earlier_attempt_frees_nothing)
{
    struct rig r;
    struct submit_text t;
    rig_usual(&r);
    struct input in = submit_of(&t, 1, STR("w"), 1);
    in.submit.spec.backoff_limit = 5;
    say(&r, in);
    go(&r);
    say(&r, (struct input){.kind = INPUT_NODE_LOST, .node_name = STR("n1")});
    see_node(&r, STR("n1"), 4, true);
    go(&r);
    EXPECT_I64(find(&r, 1)->pods[0].attempt, 2);
    EXPECT_I64(running(&r, 1), 1);
    report(&r, INPUT_POD_EXITED, 11, 1, 0, STR("Completed"));
    report(&r, INPUT_POD_EXITED, 11, 1, 1, STR("Error"));
    report(&r, INPUT_POD_FAILED, 11, 1, 0, STR("no such file"));
    EXPECT_I64(running(&r, 1), 1);
    EXPECT_I64(find(&r, 1)->pods[0].failures, 0);
    EXPECT_I64(held_gpus(&r, STR("a"), false), 1);
    rig_done(&r);
}

TEST(B138_a_reload_ends_no_running_job)
{
    struct rig r;
    struct label label = {STR("gpu"), STR("h100")};
    rig_usual(&r);
    ask(&r, 1, STR("a"), 2, 50);
    ask(&r, 2, STR("b"), 1, 50);
    go(&r);
    EXPECT_STATUS(apply_plan(&r, 2, 2, false, 0), STATUS_OK); /* nothing new */
    EXPECT_STATUS(apply_plan(&r, 1, 2, false, 0), STATUS_OK); /* less for a than it holds */
    add_pool(&r, 4);                                          /* a type with its own name … */
    struct input in = {.kind = INPUT_NODE_SEEN, .node = engine_state(r.e)->nodes[0]};
    in.node.labels = &label; /* … that the node of the jobs gets too */
    in.node.labels_count = 1;
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    EXPECT_I64(r.effects.count, 0);
    EXPECT_STR(engine_pool_of(r.e, &engine_state(r.e)->nodes[0]), STR("h100"));
    go(&r);
    EXPECT_I64(running(&r, 1), 2);
    EXPECT_I64(running(&r, 2), 1);
    rig_done(&r);
}

TEST(B139_nothing_is_evicted_for_a_short_loss_of_contact)
{
    struct rig r;
    rig_usual(&r);
    ask(&r, 1, STR("a"), 2, 50);
    go(&r);
    struct input in = {.kind = INPUT_NODE_SEEN, .node = engine_state(r.e)->nodes[0]};
    in.node.ready = false;
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    EXPECT_I64(r.effects.count, 0);
    r.now_ms += 20 * 1000;
    ask(&r, 2, STR("b"), 1, 50); /* nothing new goes there meanwhile */
    go(&r);
    EXPECT_I64(running(&r, 1), 2);
    EXPECT_I64(find(&r, 2)->why.code, REASON_NO_NODES);
    see_node(&r, STR("n1"), 4, true);
    go(&r);
    EXPECT_I64(running(&r, 1), 2);
    EXPECT_I64(find(&r, 1)->pods[0].attempt, 1);
    EXPECT_I64(running(&r, 2), 1);
    rig_done(&r);
}

/* ---- when will it start? ---- */

TEST(B171_position_and_estimate_with_what_they_rest_on)
{
    struct rig r;
    struct submit_text t;
    struct remedy_told told;
    rig_init(&r);
    REQUIRE(apply_plan(&r, 2, 2, false, 0) == STATUS_OK);
    REQUIRE(see_node(&r, STR("n1"), 3, true) == STATUS_OK);
    for (uint32_t n = 1; n <= 3; n++) {
        struct input in = submit_of(&t, n, arena_printf(&r.arena, "w%u", n), 1);
        in.submit.spec.duration_ms = n == 3 ? 0 : n * HOUR; /* the third declares nothing */
        in.submit.spec.preemptibility = n == 3 ? NON_PREEMPTIBLE : PREEMPTIBLE;
        say(&r, in);
    }
    go(&r);
    int64_t started_ms = r.now_ms;
    r.now_ms += MINUTE;
    ask(&r, 4, STR("a"), 2, 40);
    go(&r);
    EXPECT_I64(engine_place(r.e, find(&r, 4)), 0);
    engine_remedy(r.e, find(&r, 4), r.now_ms, &r.arena, &told);
    EXPECT_I64(told.remedy.kind, REMEDY_WAIT); /* both that declare an end have to go */
    EXPECT_I64(told.remedy.until_ms, started_ms + 2 * HOUR);
    EXPECT_STR(told.other.name, STR("w2"));
    life(&r, INPUT_DELETE, 4);
    ask(&r, 5, STR("a"), 3, 40);
    go(&r);
    engine_remedy(r.e, find(&r, 5), r.now_ms, &r.arena, &told);
    EXPECT(told.remedy.kind != REMEDY_WAIT); /* when all three are free is not known */
    rig_done(&r);
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
#include "engine/rig_test.h"

#include "model/limits.h"

static enum status undrain(struct rig *r, const char *device)
{
    struct input in = {.kind = INPUT_NODE_UNDRAIN, .author = STR("root"), .node_name = STR("n1")};
    in.drain.device = str_from_c(device);
    return say(r, in);
}

TEST(drain_commands)
{
    struct rig r;
    rig_usual(&r);
    const struct {
        const char *name, *device;
        bool moves;
        int64_t within_ms;
        enum status want;
    } rows[] = {
        {"a node",                            "",         true,  -1,                  STATUS_OK     },
        {"again, with a deadline",            "",         true,  1000,                STATUS_OK     },
        {"a device by its number",            "2",        true,  -1,                  STATUS_OK     },
        {"a device by its uuid",              "GPU-n1-3", false, -1,                  STATUS_OK     },
        {"a device that is not there",        "4",        true,  -1,                  STATUS_UNKNOWN},
        {"a word for a device",               "two",      true,  -1,                  STATUS_UNKNOWN},
        {"closing has no deadline",           "",         false, 1000,                STATUS_INVALID},
        {"a deadline in the past",            "",         true,  -2,                  STATUS_INVALID},
        {"a deadline beyond what time holds", "",         true,  DURATION_MAX_MS + 1, STATUS_INVALID},
    };
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        for (uint32_t d = 0; d < 4; d++) { /* all devices are numbered 0 by see_node */
            ((struct device *)engine_state(r.e)->nodes[0].devices)[d].index = d;
        }
        EXPECT_STATUS(drain(&r, rows[i].device, rows[i].moves, rows[i].within_ms), rows[i].want);
    }
    test_row(NULL);
    const struct drain *node = engine_drain(r.e, STR("n1"), STR(""));
    REQUIRE(node != NULL);
    EXPECT_I64(node->deadline_ms, r.now_ms + 1000);
    EXPECT_STR(node->author, STR("root"));
    EXPECT_STR(node->reason, STR("fans"));
    EXPECT(engine_drain(r.e, STR("n1"), STR("GPU-n1-2")) != NULL);
    EXPECT(!engine_drain(r.e, STR("n1"), STR("GPU-n1-3"))->moves);
    EXPECT(engine_drain(r.e, STR("n1"), STR("GPU-n1-0")) == NULL);
    expect_same(&r);
    EXPECT_STATUS(undrain(&r, "2"), STATUS_OK);
    EXPECT_STATUS(undrain(&r, "2"), STATUS_OK); /* is open already */
    EXPECT_I64(engine_state(r.e)->drains_count, 2);
    struct input in = {.kind = INPUT_NODE_DRAIN, .node_name = STR("n2")};
    EXPECT_STATUS(say(&r, in), STATUS_UNKNOWN);
    EXPECT(str_find(str_from_c(r.out.err.hint), 'n') < str_from_c(r.out.err.hint).len);
    rig_done(&r);
}

TEST(new_work_avoids_what_is_closed)
{
    struct rig r;
    rig_usual(&r);
    submit(&r, 1, STR("one"), 1);
    decide(&r);
    start(&r, 1);
    EXPECT_STATUS(drain(&r, "", false, -1), STATUS_OK);
    submit(&r, 2, STR("two"), 1);
    decide(&r);
    EXPECT_I64(phase(&r, 1, 0), POD_RUNNING); /* closed, not drained */
    EXPECT_I64(phase(&r, 2, 0), POD_PENDING);
    EXPECT_I64(find(&r, 2)->why.code, REASON_NO_NODES);
    see_node(&r, STR("n1"), 4, true); /* a report opens nothing */
    see_node(&r, STR("n1"), 4, false);
    decide(&r);
    EXPECT_I64(phase(&r, 2, 0), POD_PENDING);
    EXPECT_STATUS(undrain(&r, ""), STATUS_OK);
    decide(&r);
    EXPECT_I64(phase(&r, 2, 0), POD_BINDING);
    rig_done(&r);
}

TEST(a_drained_node_is_left_by_those_who_can_go)
{
    struct rig r;
    struct submit_text t;
    rig_usual(&r);
    submit(&r, 1, STR("moves"), 1);
    struct input firm = submit_of(&t, 2, STR("firm"), 1);
    firm.submit.spec.preemptibility = NON_PREEMPTIBLE;
    EXPECT_STATUS(say(&r, firm), STATUS_OK);
    decide(&r);
    start(&r, 1);
    start(&r, 2);
    see_node(&r, STR("n2"), 1, true);
    EXPECT_STATUS(drain(&r, "", true, 60000), STATUS_OK);
    EXPECT_I64(find(&r, 2)->events[find(&r, 2)->events_count - 1].kind, EVENT_DRAINING);
    EXPECT_I64(engine_next_ms(r.e), r.now_ms + 60000);
    decide(&r);
    EXPECT_I64(phase(&r, 1, 0), POD_RELEASING);
    EXPECT_I64(last_eviction(&r, 1), REASON_EVICTED_DRAIN);
    EXPECT_I64(phase(&r, 2, 0), POD_RUNNING);
    gone(&r, 1);
    decide(&r);
    EXPECT_STR(find(&r, 1)->pods[0].node, STR("n2"));
    start(&r, 1);
    r.now_ms += 59999;
    decide(&r);
    EXPECT_I64(phase(&r, 2, 0), POD_RUNNING);
    r.now_ms++;
    expect_same(&r); /* a server that starts now knows it too */
    decide(&r);
    EXPECT_I64(phase(&r, 2, 0), POD_RELEASING); /* R2 is about others' demand */
    EXPECT_I64(last_eviction(&r, 2), REASON_EVICTED_DRAIN_DEADLINE);
    gone(&r, 2);
    decide(&r);
    EXPECT_I64(phase(&r, 2, 0), POD_PENDING);
    EXPECT_I64(engine_next_ms(r.e), INT64_MAX); /* nothing more comes of that deadline */
    rig_done(&r);
}

TEST(a_drained_device_is_left_for_another)
{
    struct rig r;
    rig_usual(&r);
    submit(&r, 1, STR("one"), 1);
    bind(&r, 1, 1, STR("n1"), 2);
    start(&r, 1);
    EXPECT_STATUS(drain(&r, "GPU-n1-2", true, -1), STATUS_OK);
    decide(&r);
    EXPECT_I64(phase(&r, 1, 0), POD_RELEASING);
    EXPECT_I64(last_eviction(&r, 1), REASON_EVICTED_DEVICE_DRAIN);
    gone(&r, 1);
    decide(&r);
    EXPECT_I64(phase(&r, 1, 0), POD_BINDING);
    EXPECT(!str_eq(find(&r, 1)->pods[0].devices[0].uuid, STR("GPU-n1-2")));
    submit(&r, 2, STR("two"), 4); /* three are left */
    decide(&r);
    EXPECT_I64(phase(&r, 2, 0), POD_PENDING);
    rig_done(&r);
}

TEST(the_books_leave_out_what_is_closed)
{
    struct rig r;
    rig_usual(&r);
    r.now_ms += 1000;
    EXPECT_STATUS(drain(&r, "GPU-n1-1", false, -1), STATUS_OK); /* 4 devices for a second */
    r.now_ms += 1000;
    EXPECT_STATUS(drain(&r, "", true, -1), STATUS_OK); /* 3 */
    r.now_ms += 1000;
    EXPECT_STATUS(undrain(&r, ""), STATUS_OK); /* none */
    r.now_ms += 1000;                          /* 3 */
    struct usage u = engine_usage(r.e, STR("default"), STR("a"), false, r.now_ms);
    EXPECT_I64(u.had.v[RES_GPU], 10 * INT64_C(1000) * DEVICE_SHARE);
    rig_done(&r);
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
#include "engine/replay.h"

#include "engine/rig_test.h"

enum { JOURNAL_MAX = 64 };

struct journal {
    struct buf bytes[JOURNAL_MAX];
    uint32_t count;
};

static void journal_add(struct journal *j, struct input in)
{
    REQUIRE(j->count < JOURNAL_MAX);
    struct buf *b = &j->bytes[j->count++];
    in.seq = j->count;
    in.version = INPUT_VERSION;
    buf_init(b, 1 << 20);
    record_encode(&record_input, &in, b);
}

/* Says the input to the rig and writes it down. */
static void tell(struct rig *r, struct journal *j, struct input in)
{
    in.now_ms = r->now_ms;
    EXPECT_STATUS(say(r, in), STATUS_OK);
    journal_add(j, in);
}

static uint32_t tell_decisions(struct rig *r, struct journal *j)
{
    uint32_t ticks = 0;
    for (bool changed = true; changed;) {
        struct input in = {.kind = INPUT_TICK};
        engine_decide(r->e, r->now_ms, &r->arena, &in.tick, &changed);
        if (changed) {
            tell(r, j, in);
            ticks++;
        }
    }
    return ticks;
}

static enum status replay_all(const struct journal *j, bool decides, struct replay *r,
                              struct err *err)
{
    enum status status = STATUS_OK;
    replay_init(r, engine_new(), decides);
    for (uint32_t i = 0; i < j->count && status == STATUS_OK; i++) {
        status = replay_record(r, i + 1, buf_view(&j->bytes[i]), err);
    }
    return status;
}

static void replay_end(struct replay *r)
{
    engine_free(r->engine);
    replay_done(r);
}

TEST(replay_decides_again_and_compares)
{
    struct rig r;
    struct submit_text t;
    struct replay again;
    struct err err;
    static struct journal j;
    j.count = 0;
    rig_init(&r);
    struct device devices[2] = {
        {.uuid = STR("GPU-0"), .healthy = true},
        {.uuid = STR("GPU-1"), .healthy = true}
    };
    struct project project = {.name = STR("a"), .department = STR("default")};
    struct input in = {.kind = INPUT_PLAN_APPLY};
    in.plan_apply.plan = (struct plan){.projects = &project, .projects_count = 1};
    tell(&r, &j, in);
    in = (struct input){.kind = INPUT_NODE_SEEN};
    in.node = (struct node){.name = STR("n1"),
                            .devices = devices,
                            .devices_count = 2,
                            .cpu_milli = 8000,
                            .memory_bytes = INT64_C(1) << 36,
                            .pods_max = 9,
                            .ready = true};
    tell(&r, &j, in);
    tell(&r, &j, submit_of(&t, 1, STR("one"), 1));
    uint32_t ticks = tell_decisions(&r, &j);
    uint32_t bound = j.count; /* the tick that placed it is the last so far */
    r.now_ms += 1000;
    tell(&r, &j, submit_of(&t, 2, STR("two"), 4));
    ticks += tell_decisions(&r, &j);
    EXPECT(ticks >= 2);

    test_row("as it was");
    EXPECT_STATUS(replay_all(&j, true, &again, &err), STATUS_OK);
    EXPECT_I64(again.inputs, j.count);
    EXPECT_I64(again.ticks, ticks);
    EXPECT_I64(again.foreign, 0);
    EXPECT(engine_hash(again.engine) == engine_hash(r.e));
    replay_end(&again);

    test_row("a start decides nothing again");
    EXPECT_STATUS(replay_all(&j, false, &again, &err), STATUS_OK);
    EXPECT_I64(again.ticks, 0);
    EXPECT(engine_hash(again.engine) == engine_hash(r.e));
    replay_end(&again);

    test_row("another device");
    REQUIRE_OK(record_decode(&record_input, buf_view(&j.bytes[bound - 1]), &r.arena, &in, &err),
               &err);
    REQUIRE(in.kind == INPUT_TICK && in.tick.binds_count == 1);
    struct str was = in.tick.binds[0].devices[0].uuid;
    in.tick.binds[0].devices[0].uuid = str_eq(was, STR("GPU-0")) ? STR("GPU-1") : STR("GPU-0");
    struct buf kept = j.bytes[bound - 1];
    uint32_t count = j.count;
    j.count = bound - 1;
    journal_add(&j, in);
    j.count = count;
    EXPECT_STATUS(replay_all(&j, true, &again, &err), STATUS_CONFLICT);
    EXPECT(again.difference.found);
    EXPECT_I64(again.difference.seq, bound);
    EXPECT_STR(again.difference.field, STR("binds[0].devices[0].uuid"));
    EXPECT_STR(again.difference.again.binds[0].devices[0].uuid, was);
    EXPECT_I64(again.inputs, bound - 1);
    replay_end(&again);
    buf_done(&j.bytes[bound - 1]);

    test_row("another version of the scheduler");
    in.tick.version++;
    j.count = bound - 1;
    journal_add(&j, in);
    EXPECT_STATUS(replay_all(&j, true, &again, &err), STATUS_OK);
    EXPECT_I64(again.foreign, 1);
    replay_end(&again);
    buf_done(&j.bytes[bound - 1]);
    j.bytes[bound - 1] = kept;

    test_row("a record that does not follow");
    j.count = bound;
    EXPECT_STATUS(replay_all(&j, true, &again, &err), STATUS_OK);
    EXPECT_STATUS(replay_record(&again, bound + 2, buf_view(&j.bytes[bound]), &err),
                  STATUS_CORRUPT);
    EXPECT_STATUS(replay_record(&again, bound + 1, STR("\x03"), &err), STATUS_CORRUPT);
    replay_end(&again);

    test_row(NULL);
    for (uint32_t i = 0; i < count; i++) {
        buf_done(&j.bytes[i]);
    }
    rig_done(&r);
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
// Policies: what each command changes and refuses, that they go with their scopes, that what they
// impose stays, and that a restored state has them.
#include "engine/engine.h"

#include "base/test.h"
#include "model/limits.h"

struct rig {
    struct engine *e;
    struct arena arena;
    struct outcome out;
    int64_t now_ms;
};

static struct rig rig;

static enum status say(struct input in)
{
    struct outcome would;
    struct effects effects = {.arena = &rig.arena};
    in.now_ms = ++rig.now_ms;
    in.seq = engine_state(rig.e)->seq + 1;
    in.author = STR("root");
    engine_check(rig.e, &in, &would);
    engine_apply(rig.e, &in, &effects, &rig.out);
    EXPECT_STATUS(would.status, rig.out.status);
    return rig.out.status;
}

static const struct policies *now(void)
{
    return &engine_state(rig.e)->policies;
}

static void begin(void)
{
    rig = (struct rig){.e = engine_new(), .now_ms = 1000};
    arena_init(&rig.arena, 0);
}

static void end(void)
{
    engine_free(rig.e);
    arena_done(&rig.arena);
}

static struct policy policy_of(uint8_t n, uint32_t kind, struct scope scope)
{
    return (struct policy){.id = {{n}},
                           .kind = kind,
                           .scope = scope,
                           .name = STR("usual"),
                           .text = STR("{\"rules\":{}}")};
}

static enum status change(enum policy_op op, struct policy p)
{
    return say((struct input){
        .kind = INPUT_POLICY, .policy = {op, p}
    });
}

TEST(come_change_and_go)
{
    begin();
    struct policy p = policy_of(1, WORKLOAD_TRAINING, SCOPE_OF_TENANT);
    EXPECT_STATUS(change(POLICY_PUT, p), STATUS_OK);
    EXPECT_I64(now()->rows_count, 1);
    EXPECT_STR(now()->rows[0].stamp.created_by, STR("root"));
    int64_t made = now()->rows[0].stamp.created_ms;
    p.id.b[0] = 9;
    p.text = STR("{\"defaults\":{}}");
    EXPECT_STATUS(change(POLICY_PUT, p), STATUS_OK); /* in place of the first, whose id stays */
    EXPECT_I64(now()->rows_count, 1);
    EXPECT_I64(now()->rows[0].id.b[0], 1);
    EXPECT_I64(rig.out.id.b[0], 1);
    EXPECT_I64(now()->rows[0].stamp.created_ms, made);
    EXPECT(now()->rows[0].stamp.updated_ms > made);
    EXPECT_STR(now()->rows[0].text, p.text);
    EXPECT_STATUS(change(POLICY_PUT, policy_of(2, WORKLOAD_TRAINING, SCOPE_OF_CLUSTER)), STATUS_OK);
    EXPECT_STATUS(change(POLICY_PUT, policy_of(3, WORKLOAD_WORKSPACE, SCOPE_OF_TENANT)), STATUS_OK);
    EXPECT_I64(now()->revision, 4);
    EXPECT_STATUS(change(POLICY_REMOVE, p), STATUS_OK);
    EXPECT_STATUS(change(POLICY_REMOVE, p), STATUS_UNKNOWN);
    EXPECT_I64(now()->rows_count, 2);
    EXPECT(policy_find(now(), WORKLOAD_TRAINING, SCOPE_OF_TENANT) == NULL);
    end();
}

TEST(wrong_ones)
{
    static const struct {
        const char *what;
        struct policy policy;
        enum status status;
    } rows[] = {
        {"no name",       {.id = {{1}}, .text = STRS("{}"), .scope = {SCOPE_TENANT, 1}},     STATUS_INVALID},
        {"no text",       {.id = {{1}}, .name = STRS("a"), .scope = {SCOPE_TENANT, 1}},      STATUS_INVALID},
        {"no id",
         {.name = STRS("a"), .text = STRS("{}"), .scope = {SCOPE_TENANT, 1}},
         STATUS_INVALID                                                                                    },
        {"no such scope",
         {.id = {{1}}, .name = STRS("a"), .text = STRS("{}"), .scope = {SCOPE_PROJECT, 99}},
         STATUS_UNKNOWN                                                                                    },
        {"no such kind",
         {.id = {{1}},
          .kind = WORKLOAD_DISTRIBUTED + 1,
          .name = STRS("a"),
          .text = STRS("{}"),
          .scope = {SCOPE_TENANT, 1}},
         STATUS_INVALID                                                                                    },
    };
    begin();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].what);
        EXPECT_STATUS(change(POLICY_PUT, rows[i].policy), rows[i].status);
    }
    test_row(NULL);
    EXPECT_STATUS(change(POLICY_NOTHING, rows[0].policy), STATUS_INVALID);
    EXPECT_I64(now()->rows_count, 0);
    end();
}

static enum status asset(enum asset_op op, uint8_t n, enum asset_kind kind)
{
    return say((struct input){
        .kind = INPUT_ASSET,
        .asset = {op,
                  {.id = {{n}},
                   .kind = kind,
                   .name = STR("data"),
                   .spec = STR("{}"),
                   .scope = SCOPE_OF_TENANT}}
    });
}

TEST(what_is_imposed_is_data_and_stays)
{
    begin();
    EXPECT_STATUS(asset(ASSET_ADD, 1, ASSET_NFS), STATUS_OK);
    EXPECT_STATUS(asset(ASSET_ADD, 2, ASSET_COMPUTE), STATUS_OK);
    struct policy p = policy_of(5, WORKLOAD_TRAINING, SCOPE_OF_TENANT);
    struct imposed imposed[] = {{.asset = {{3}}}};
    p.imposed = imposed;
    p.imposed_count = 1;
    EXPECT_STATUS(change(POLICY_PUT, p), STATUS_UNKNOWN);
    imposed[0].asset.b[0] = 2;
    EXPECT_STATUS(change(POLICY_PUT, p), STATUS_INVALID);
    imposed[0].asset.b[0] = 1;
    EXPECT_STATUS(change(POLICY_PUT, p), STATUS_OK);
    EXPECT_STATUS(asset(ASSET_REMOVE, 1, ASSET_NFS), STATUS_CONFLICT);
    EXPECT_STATUS(change(POLICY_REMOVE, p), STATUS_OK);
    EXPECT_STATUS(asset(ASSET_REMOVE, 1, ASSET_NFS), STATUS_OK);
    end();
}

TEST(they_go_with_their_scope_and_survive_a_restart)
{
    begin();
    struct err err;
    struct buf bytes;
    struct input in = {.kind = INPUT_PLAN_APPLY, .plan_apply = {.plan = engine_state(rig.e)->plan}};
    struct department d[] = {engine_state(rig.e)->plan.departments[0], {.name = STR("research")}};
    in.plan_apply.plan.departments = d;
    in.plan_apply.plan.departments_count = 2;
    EXPECT_STATUS(say(in), STATUS_OK);
    uint32_t id = 0;
    for (uint32_t i = 0; i < engine_state(rig.e)->plan.departments_count; i++) {
        const struct department *have = &engine_state(rig.e)->plan.departments[i];
        id = str_eq(have->name, STR("research")) ? have->id : id;
    }
    EXPECT_STATUS(
        change(POLICY_PUT, policy_of(1, WORKLOAD_INFERENCE, (struct scope){SCOPE_DEPARTMENT, id})),
        STATUS_OK);
    EXPECT_STATUS(change(POLICY_PUT, policy_of(2, WORKLOAD_INFERENCE, SCOPE_OF_CLUSTER)),
                  STATUS_OK);
    buf_init(&bytes, 1 << 24);
    engine_checkpoint(rig.e, &bytes);
    struct engine *other = engine_new();
    REQUIRE_OK(engine_restore(other, buf_view(&bytes), &err), &err);
    EXPECT(record_eq(&record_policies, &engine_state(other)->policies, now()));
    engine_free(other);
    buf_done(&bytes);
    in = (struct input){.kind = INPUT_PLAN_APPLY,
                        .plan_apply = {.plan = engine_state(rig.e)->plan}};
    in.plan_apply.plan.departments = d;
    in.plan_apply.plan.departments_count = 1;
    in.plan_apply.prune = true;
    EXPECT_STATUS(say(in), STATUS_OK);
    EXPECT_I64(now()->rows_count, 1);
    EXPECT_I64(now()->rows[0].id.b[0], 2);
    end();
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
// Assets: what each command changes and refuses, that they go with their scopes, and that a secret
// that is not given again stays.
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

static const struct assets *now(void)
{
    return &engine_state(rig.e)->assets;
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

static struct asset asset_of(uint8_t n, const char *name, struct scope scope)
{
    return (struct asset){.id = {{n}},
                          .kind = ASSET_PASSWORD,
                          .name = str_from_c(name),
                          .spec = STR("{}"),
                          .scope = scope};
}

static enum status change(enum asset_op op, struct asset a)
{
    return say((struct input){
        .kind = INPUT_ASSET, .asset = {op, a}
    });
}

TEST(come_change_and_go)
{
    begin();
    struct asset a = asset_of(1, "db", SCOPE_OF_TENANT);
    EXPECT_STATUS(change(ASSET_ADD, a), STATUS_OK);
    EXPECT_I64(now()->rows_count, 1);
    EXPECT_STR(now()->rows[0].stamp.created_by, STR("root"));
    EXPECT_STATUS(change(ASSET_ADD, a), STATUS_INVALID); /* the same id */
    EXPECT_STATUS(change(ASSET_ADD, asset_of(2, "db", SCOPE_OF_TENANT)), STATUS_CONFLICT);
    EXPECT_STATUS(change(ASSET_ADD, asset_of(2, "db", SCOPE_OF_CLUSTER)), STATUS_OK);
    a.description = STR("said later");
    a.scope = SCOPE_OF_CLUSTER; /* stays where it is */
    EXPECT_STATUS(change(ASSET_SET, a), STATUS_OK);
    EXPECT_I64(now()->rows[0].updates, 1);
    EXPECT_STR(now()->rows[0].description, STR("said later"));
    EXPECT_I64(now()->rows[0].scope.kind, SCOPE_TENANT);
    EXPECT_STATUS(change(ASSET_REMOVE, a), STATUS_OK);
    EXPECT_STATUS(change(ASSET_REMOVE, a), STATUS_UNKNOWN);
    EXPECT_STATUS(change(ASSET_SET, a), STATUS_UNKNOWN);
    EXPECT_I64(now()->rows_count, 1);
    EXPECT_I64(now()->rows[0].id.b[0], 2);
    end();
}

TEST(wrong_ones)
{
    static const struct {
        const char *what;
        struct asset asset;
        enum status status;
    } rows[] = {
        {"no name",       {.id = {{1}}, .spec = STRS("{}"), .scope = {SCOPE_TENANT, 1}},     STATUS_INVALID},
        {"no spec",       {.id = {{1}}, .name = STRS("a"), .scope = {SCOPE_TENANT, 1}},      STATUS_INVALID},
        {"no id",
         {.name = STRS("a"), .spec = STRS("{}"), .scope = {SCOPE_TENANT, 1}},
         STATUS_INVALID                                                                                    },
        {"no such scope",
         {.id = {{1}}, .name = STRS("a"), .spec = STRS("{}"), .scope = {SCOPE_PROJECT, 99}},
         STATUS_UNKNOWN                                                                                    },
        {"no such kind",
         {.id = {{1}},
          .kind = ASSET_KINDS,
          .name = STRS("a"),
          .spec = STRS("{}"),
          .scope = {SCOPE_TENANT, 1}},
         STATUS_INVALID                                                                                    },
    };
    begin();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        EXPECT_STATUS(change(ASSET_ADD, rows[i].asset), rows[i].status);
    }
    EXPECT_STATUS(change(ASSET_NOTHING, rows[0].asset), STATUS_INVALID);
    EXPECT_I64(now()->rows_count, 0);
    end();
}

TEST(a_secret_not_given_again_stays)
{
    struct sealed secrets[] = {
        {STR("user"),     STR("sealed-1")},
        {STR("password"), STR("sealed-2")}
    };
    struct sealed later[] = {
        {STR("password"), STR("")        },
        {STR("new"),      STR("sealed-3")}
    };
    begin();
    struct asset a = asset_of(1, "db", SCOPE_OF_TENANT);
    a.secrets = secrets;
    a.secrets_count = 2;
    EXPECT_STATUS(change(ASSET_ADD, a), STATUS_OK);
    a.secrets = later;
    EXPECT_STATUS(change(ASSET_SET, a), STATUS_OK);
    EXPECT_I64(now()->rows[0].secrets_count, 2);
    EXPECT_STR(now()->rows[0].secrets[0].value, STR("sealed-2"));
    EXPECT_STR(now()->rows[0].secrets[1].value, STR("sealed-3"));
    end();
}

TEST(they_go_with_their_scope)
{
    begin();
    struct input in = {.kind = INPUT_PLAN_APPLY, .plan_apply = {.plan = engine_state(rig.e)->plan}};
    struct department d[] = {engine_state(rig.e)->plan.departments[0], {.name = STR("research")}};
    in.plan_apply.plan.departments = d;
    in.plan_apply.plan.departments_count = 2;
    EXPECT_STATUS(say(in), STATUS_OK);
    uint32_t id = engine_state(rig.e)->plan.departments[1].id;
    struct scope scope = {SCOPE_DEPARTMENT, id};
    EXPECT_STATUS(change(ASSET_ADD, asset_of(1, "a", scope)), STATUS_OK);
    EXPECT_STATUS(change(ASSET_ADD, asset_of(2, "a", SCOPE_OF_TENANT)), STATUS_OK);
    struct plan_removal gone = {PLAN_DEPARTMENT, STR("research")};
    in = (struct input){
        .kind = INPUT_PLAN_APPLY,
        .plan_apply = {.plan = engine_state(rig.e)->plan, .removals = &gone, .removals_count = 1}
    };
    EXPECT_STATUS(say(in), STATUS_OK);
    EXPECT_I64(now()->rows_count, 1);
    EXPECT_I64(now()->rows[0].id.b[0], 2);
    end();
}

TEST_MAIN()

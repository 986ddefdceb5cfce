// SPDX-License-Identifier: Apache-2.0
// Users, service accounts, keys, roles, rules: what each command changes, refuses and takes along.
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
    in.author = in.author.len > 0 ? in.author : STR("root");
    engine_check(rig.e, &in, &would);
    engine_apply(rig.e, &in, &effects, &rig.out);
    EXPECT_STATUS(would.status, rig.out.status);
    EXPECT_I64(effects.count, 0);
    return rig.out.status;
}

static enum status change(struct identity_change c)
{
    return say((struct input){.kind = INPUT_IDENTITY, .identity = c});
}

static const struct identity *now(void)
{
    return &engine_state(rig.e)->identity;
}

static struct uuid id_of(uint8_t n)
{
    return (struct uuid){
        {n, 1}
    };
}

static enum status add_user(uint8_t n, const char *name)
{
    return change((struct identity_change){
        .op = IDENTITY_USER_ADD,
        .user = {.id = id_of(n), .name = str_from_c(name), .local = true, .password = STR("h")}
    });
}

static enum status add_application(uint8_t n, const char *name)
{
    return change((struct identity_change){
        .op = IDENTITY_APPLICATION_ADD,
        .application = {.id = id_of(n), .name = str_from_c(name), .secret = STR("h")}
    });
}

static enum status add_key(uint8_t n, uint8_t user, const char *name)
{
    return change((struct identity_change){
        .op = IDENTITY_KEY_ADD,
        .key = {.id = id_of(n), .user = id_of(user), .name = str_from_c(name)}
    });
}

static enum status add_rule(enum subject_kind kind, const char *subject, uint32_t role,
                            struct scope scope)
{
    return change((struct identity_change){
        .op = IDENTITY_RULE_ADD,
        .rule = {
                 .subject_kind = kind, .subject = str_from_c(subject), .role = role, .scope = scope}
    });
}

static enum status of_user(enum identity_op op, uint8_t n)
{
    return change((struct identity_change){.op = op, .user = {.id = id_of(n)}});
}

static enum status of_application(enum identity_op op, uint8_t n)
{
    return change((struct identity_change){.op = op, .application = {.id = id_of(n)}});
}

static enum status of_rule(enum identity_op op, uint32_t id)
{
    return change((struct identity_change){.op = op, .rule = {.id = id}});
}

/* Department d of the group owners with project p of the group people. */
static enum status apply_plan(const char *owners, const char *people, bool with_project)
{
    static struct department d;
    static struct project p;
    d = (struct department){.name = STR("d"), .owner_group = str_from_c(owners)};
    p = (struct project){
        .name = STR("p"), .department = STR("d"), .access_group = str_from_c(people)};
    struct input in = {.kind = INPUT_PLAN_APPLY};
    in.plan_apply.plan = (struct plan){
        .departments = &d, .projects = &p, .departments_count = 1, .projects_count = with_project};
    in.plan_apply.prune = true;
    return say(in);
}

static uint32_t project_id(void)
{
    return engine_state(rig.e)->plan.projects[0].id;
}

static void setup(void)
{
    rig = (struct rig){.e = engine_new(), .now_ms = 1000};
    arena_init(&rig.arena, 0);
    EXPECT_STATUS(apply_plan("", "", true), STATUS_OK);
}

/* What is there survives the checkpoint, to the byte. */
static void teardown(void)
{
    struct buf bytes;
    buf_init(&bytes, 1 << 24);
    engine_checkpoint(rig.e, &bytes);
    struct engine *again = engine_new();
    struct err err;
    REQUIRE_OK(engine_restore(again, buf_view(&bytes), &err), &err);
    EXPECT(engine_hash(again) == engine_hash(rig.e));
    engine_free(again);
    buf_done(&bytes);
    engine_free(rig.e);
    arena_done(&rig.arena);
}

TEST(users_come_and_go)
{
    static const struct {
        const char *what, *name;
        enum status want;
    } names[] = {
        {"an address",                              "ann@example.com",   STATUS_OK      },
        {"taken",                                   "ann@example.com",   STATUS_CONFLICT},
        {"capital letters are lowered by the edge", "Bob@example.com",   STATUS_INVALID },
        {"no address",                              "bob",               STATUS_INVALID },
        {"nothing before the @",                    "@example.com",      STATUS_INVALID },
        {"nothing behind it",                       "bob@",              STATUS_INVALID },
        {"two of them",                             "bob@a@b",           STATUS_INVALID },
        {"a space",                                 "b ob@example.com",  STATUS_INVALID },
        {"no text",                                 "b\xff@example.com", STATUS_INVALID },
        {"other letters",
         "b\xc3\xb6"
         "b@example.com",                                                STATUS_OK      },
    };
    setup();
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        test_row(names[i].what);
        EXPECT_STATUS(add_user((uint8_t)(10 + i), names[i].name), names[i].want);
    }
    test_row(NULL);
    EXPECT_I64(now()->users_count, 2);
    const struct user *ann = identity_user_named(now(), STR("ann@example.com"));
    REQUIRE(ann != NULL);
    EXPECT_STR(ann->stamp.created_by, STR("root"));
    EXPECT(ann->stamp.created_ms > 0 && ann->local);
    EXPECT_STATUS(add_user(10, "cid@example.com"), STATUS_CONFLICT); /* the id */
    int64_t revision = now()->revision;
    EXPECT_STATUS(of_user(IDENTITY_SIGN_IN, 10), STATUS_OK);
    EXPECT_I64(now()->revision, revision);
    EXPECT_I64(identity_user(now(), id_of(10))->login_ms, rig.now_ms);
    EXPECT_STATUS(of_user(IDENTITY_SIGN_OUT, 10), STATUS_OK);
    EXPECT_I64(identity_user(now(), id_of(10))->generation, 1);
    EXPECT_STATUS(change((struct identity_change){
                      .op = IDENTITY_USER_PASSWORD,
                      .user = {.id = id_of(10), .password = STR("new"), .change_password = true}
    }),
                  STATUS_OK);
    ann = identity_user(now(), id_of(10));
    EXPECT_STR(ann->password, STR("new"));
    EXPECT(ann->change_password);
    EXPECT_I64(ann->generation, 2);
    EXPECT_STATUS(of_user(IDENTITY_USER_REMOVE, 99), STATUS_UNKNOWN);
    EXPECT_STATUS(of_user(IDENTITY_USER_REMOVE, 10), STATUS_OK);
    EXPECT(identity_user(now(), id_of(10)) == NULL);
    teardown();
}

TEST(what_goes_takes_along_what_is_its)
{
    setup();
    add_user(1, "ann@x");
    add_user(2, "bob@x");
    add_application(3, "pipeline");
    EXPECT_STATUS(add_key(4, 1, "laptop"), STATUS_OK);
    EXPECT_STATUS(add_key(5, 1, "laptop"), STATUS_CONFLICT);
    EXPECT_STATUS(add_key(5, 2, "laptop"), STATUS_OK);
    EXPECT_STATUS(add_key(6, 9, "laptop"), STATUS_UNKNOWN);
    struct scope p = {SCOPE_PROJECT, project_id()};
    EXPECT_STATUS(add_rule(SUBJECT_USER, "ann@x", ROLE_DEVELOPER, p), STATUS_OK);
    EXPECT_STATUS(add_rule(SUBJECT_USER, "bob@x", ROLE_DEVELOPER, p), STATUS_OK);
    EXPECT_STATUS(add_rule(SUBJECT_APPLICATION, "pipeline", ROLE_CICD, p), STATUS_OK);
    EXPECT_STATUS(add_rule(SUBJECT_GROUP, "ann@x", ROLE_VIEWER, p), STATUS_OK);
    EXPECT_STATUS(of_user(IDENTITY_USER_REMOVE, 1), STATUS_OK);
    EXPECT_I64(now()->keys_count, 1);
    EXPECT(identity_key(now(), id_of(5)) != NULL);
    EXPECT_I64(now()->rules_count, 3);
    EXPECT_STATUS(of_application(IDENTITY_APPLICATION_REMOVE, 3), STATUS_OK);
    EXPECT_I64(now()->rules_count, 2);
    EXPECT_STATUS(apply_plan("", "", false), STATUS_OK); /* the project goes */
    EXPECT_I64(now()->rules_count, 0);
    EXPECT_I64(now()->rules_made, 4);
    teardown();
}

TEST(keys_per_user_are_bounded)
{
    setup();
    add_user(1, "ann@x");
    char name[] = "key-a";
    for (uint8_t i = 0; i < USER_KEYS_MAX; i++) {
        name[4] = (char)('a' + i);
        EXPECT_STATUS(add_key((uint8_t)(10 + i), 1, name), STATUS_OK);
    }
    EXPECT_STATUS(add_key(100, 1, "one-more"), STATUS_TOO_LARGE);
    EXPECT_STATUS(
        change((struct identity_change){.op = IDENTITY_KEY_REMOVE, .key = {.id = id_of(12)}}),
        STATUS_OK);
    EXPECT_STATUS(add_key(100, 1, "one-more"), STATUS_OK);
    teardown();
}

TEST(service_accounts)
{
    static const struct {
        const char *name;
        enum status want;
    } names[] = {
        {"ci",    STATUS_OK      },
        {"ci",    STATUS_CONFLICT},
        {"c",     STATUS_INVALID },
        {"1ci",   STATUS_INVALID },
        {"ci-",   STATUS_INVALID },
        {"Ci",    STATUS_INVALID },
        {"c_i-2", STATUS_OK      },
        {"ci cd", STATUS_INVALID },
    };
    setup();
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        test_row(names[i].name);
        EXPECT_STATUS(add_application((uint8_t)(10 + i), names[i].name), names[i].want);
    }
    test_row(NULL);
    EXPECT(identity_application(now(), id_of(10))->enabled);
    EXPECT_STATUS(of_application(IDENTITY_APPLICATION_ENABLE, 10), STATUS_OK); /* false */
    EXPECT(!identity_application(now(), id_of(10))->enabled);
    EXPECT_I64(identity_application(now(), id_of(10))->generation, 1);
    EXPECT_STATUS(of_application(IDENTITY_APPLICATION_SECRET, 10), STATUS_OK);
    EXPECT_I64(identity_application(now(), id_of(10))->generation, 2);
    EXPECT_STATUS(add_rule(SUBJECT_APPLICATION, "nobody", ROLE_CICD, SCOPE_OF_CLUSTER),
                  STATUS_UNKNOWN);
    teardown();
}

static enum status add_provider(const char *alias)
{
    return change((struct identity_change){
        .op = IDENTITY_PROVIDER_ADD,
        .provider = {.alias = str_from_c(alias),
                     .client_id = STR("weir"),
                     .client_secret = STR("sealed"),
                     .discovery_url = STR("https://idp/.well-known/openid-configuration")}
    });
}

static enum status vouch(uint8_t n, const char *subject, const char *name, uint32_t groups_count)
{
    static struct str_item groups[] = {{STRS("ml")}, {STRS("all")}};
    return change((struct identity_change){
        .op = IDENTITY_SIGN_IN,
        .user = {.id = id_of(n),
                 .name = str_from_c(name),
                 .provider = STR("corp"),
                 .subject = str_from_c(subject),
                 .local = true,
                 .password = STR("not hers to set"),
                 .groups = groups,
                 .groups_count = groups_count}
    });
}

TEST(whom_a_provider_vouches_for)
{
    setup();
    EXPECT_STATUS(vouch(1, "s1", "eve@idp", 2), STATUS_UNKNOWN); /* there is no provider */
    EXPECT_STATUS(add_provider("corp"), STATUS_OK);
    EXPECT_STATUS(vouch(1, "s1", "eve@idp", 2), STATUS_OK);
    const struct user *eve = identity_user_named(now(), STR("eve@idp"));
    REQUIRE(eve != NULL);
    EXPECT(!eve->local && eve->password.len == 0);
    EXPECT_I64(eve->groups_count, 2);
    EXPECT_STR(eve->subject, STR("s1"));
    int64_t revision = now()->revision;
    EXPECT_STATUS(vouch(1, "s1", "eve@idp", 2), STATUS_OK);
    EXPECT_I64(now()->revision, revision);
    /* minted anew by an edge that did not know her */
    EXPECT_STATUS(vouch(2, "s1", "eve@idp", 1), STATUS_OK);
    EXPECT_I64(now()->users_count, 1);
    eve = identity_user(now(), id_of(1));
    REQUIRE(eve != NULL);
    EXPECT_I64(eve->groups_count, 1);
    EXPECT_I64(now()->revision, revision + 1);
    EXPECT_STATUS(vouch(3, "", "bob@idp", 0), STATUS_INVALID);
    EXPECT_STATUS(vouch(3, "s3", "bob", 0), STATUS_INVALID);
    teardown();
}

TEST(a_name_is_one_persons)
{
    setup();
    add_provider("corp");
    add_user(1, "ann@x");
    EXPECT_STATUS(vouch(2, "s2", "ann@x", 0), STATUS_CONFLICT); /* not the local one */
    EXPECT_STATUS(vouch(2, "s2", "eve@x", 0), STATUS_OK);
    EXPECT_STATUS(vouch(3, "s3", "eve@x", 0), STATUS_CONFLICT); /* nor another's there */
    /* She has a new name: her rules go with her. */
    EXPECT_STATUS(add_rule(SUBJECT_USER, "eve@x", ROLE_VIEWER, SCOPE_OF_TENANT), STATUS_OK);
    EXPECT_STATUS(add_rule(SUBJECT_GROUP, "eve@x", ROLE_VIEWER, SCOPE_OF_TENANT), STATUS_OK);
    EXPECT_STATUS(vouch(3, "s2", "ann@x", 0), STATUS_CONFLICT);
    EXPECT_STATUS(vouch(3, "s2", "eva@x", 0), STATUS_OK);
    EXPECT(identity_user_named(now(), STR("eve@x")) == NULL);
    EXPECT_STR(identity_user(now(), id_of(2))->name, STR("eva@x"));
    EXPECT_STR(now()->rules[0].subject, STR("eva@x"));
    EXPECT_STR(now()->rules[1].subject, STR("eve@x"));
    teardown();
}

TEST(providers)
{
    setup();
    EXPECT_STATUS(add_provider("corp"), STATUS_OK);
    EXPECT_STATUS(add_provider("corp"), STATUS_CONFLICT);
    EXPECT_STATUS(add_provider("Corp"), STATUS_INVALID);
    EXPECT_STATUS(add_provider("-corp"), STATUS_INVALID);
    EXPECT_STATUS(add_provider(""), STATUS_INVALID);
    EXPECT_STATUS(vouch(1, "s1", "eve@x", 1), STATUS_OK);
    struct str_item value = {STR("staff")};
    struct identity_change c = {
        .op = IDENTITY_PROVIDER_SET,
        .provider = {.alias = STR("corp"),
                     .client_id = STR("other"),
                     .discovery_url = STR("https://b"),
                     .must_claim = STR("kind"),
                     .must_values = &value,
                     .must_values_count = 1}
    };
    EXPECT_STATUS(change(c), STATUS_OK);
    const struct provider *p = identity_provider(now(), STR("corp"));
    REQUIRE(p != NULL);
    EXPECT_STR(p->client_id, STR("other"));
    EXPECT_STR(p->client_secret, STR("sealed")); /* stays */
    EXPECT_STR(p->must_values[0].value, STR("staff"));
    EXPECT(p->stamp.created_ms < p->stamp.updated_ms);
    EXPECT_STR(provider_claim_name(p, CLAIM_GROUPS), STR("GROUPS"));
    c.provider.claims[CLAIM_GROUPS] = STR("roles");
    EXPECT_STATUS(change(c), STATUS_OK);
    EXPECT_STR(provider_claim_name(identity_provider(now(), STR("corp")), CLAIM_GROUPS),
               STR("roles"));
    c.provider.must_values_count = 0;
    EXPECT_STATUS(change(c), STATUS_INVALID);
    c.provider.alias = STR("other");
    EXPECT_STATUS(change(c), STATUS_UNKNOWN);
    EXPECT_I64(identity_user(now(), id_of(1))->generation, 0);
    c = (struct identity_change){.op = IDENTITY_PROVIDER_REMOVE, .provider.alias = STR("corp")};
    EXPECT_STATUS(change(c), STATUS_OK);
    EXPECT_I64(now()->providers_count, 0);
    EXPECT_I64(identity_user(now(), id_of(1))->generation, 1); /* its sessions are over */
    EXPECT_STATUS(change(c), STATUS_UNKNOWN);
    for (int i = 0; i < (int)PROVIDERS_MAX; i++) {
        char alias[] = "a0";
        alias[1] = (char)('a' + i);
        EXPECT_STATUS(add_provider(alias), STATUS_OK);
    }
    EXPECT_STATUS(add_provider("more"), STATUS_TOO_LARGE);
    teardown();
}

TEST(somebody_administers)
{
    struct str_item group = {STR("admins")};
    struct uuid id = id_of(1);
    setup();
    add_user(1, "ann@x");
    add_user(2, "bob@x");
    add_application(3, "robot");
    EXPECT_STATUS(add_rule(SUBJECT_USER, "ann@x", ROLE_SYSTEM_ADMINISTRATOR, SCOPE_OF_TENANT),
                  STATUS_OK);
    uint32_t first = (uint32_t)rig.out.revision;
    EXPECT_STATUS(of_user(IDENTITY_USER_REMOVE, 1), STATUS_CONFLICT);
    EXPECT_STATUS(of_rule(IDENTITY_RULE_REMOVE, first), STATUS_CONFLICT);
    /* Not over the tenant, another role, nobody known: none of them administers. */
    add_rule(SUBJECT_USER, "bob@x", ROLE_SYSTEM_ADMINISTRATOR, SCOPE_OF_CLUSTER);
    add_rule(SUBJECT_USER, "bob@x", ROLE_EDITOR, SCOPE_OF_TENANT);
    add_rule(SUBJECT_USER, "nobody@x", ROLE_SYSTEM_ADMINISTRATOR, SCOPE_OF_TENANT);
    add_rule(SUBJECT_GROUP, "admins", ROLE_SYSTEM_ADMINISTRATOR, SCOPE_OF_TENANT);
    EXPECT_STATUS(of_user(IDENTITY_USER_REMOVE, 1), STATUS_CONFLICT);
    /* Through a group. */
    struct identity_change groups = {
        .op = IDENTITY_USER_GROUPS, .user = {.id = id_of(2), .groups = &group, .groups_count = 1}
    };
    EXPECT_STATUS(change(groups), STATUS_OK);
    EXPECT_STATUS(of_rule(IDENTITY_RULE_REMOVE, first), STATUS_OK);
    groups.user.groups_count = 0;
    EXPECT_STATUS(change(groups), STATUS_CONFLICT);
    /* A service account. */
    EXPECT_STATUS(
        add_rule(SUBJECT_APPLICATION, "robot", ROLE_SYSTEM_ADMINISTRATOR, SCOPE_OF_TENANT),
        STATUS_OK);
    EXPECT_STATUS(change(groups), STATUS_OK);
    EXPECT_STATUS(of_application(IDENTITY_APPLICATION_ENABLE, 3), STATUS_CONFLICT);
    EXPECT_STATUS(of_application(IDENTITY_APPLICATION_REMOVE, 3), STATUS_CONFLICT);
    EXPECT(identity_user(now(), id) != NULL);
    teardown();
}

TEST(rules)
{
    struct scope p;
    setup();
    p = (struct scope){SCOPE_PROJECT, project_id()};
    EXPECT_STATUS(add_rule(SUBJECT_USER, "new@idp", ROLE_VIEWER, p), STATUS_OK);
    EXPECT_I64(rig.out.revision, 1);
    EXPECT_STATUS(add_rule(SUBJECT_USER, "new@idp", ROLE_VIEWER, p), STATUS_CONFLICT);
    EXPECT_STATUS(add_rule(SUBJECT_USER, "", ROLE_VIEWER, p), STATUS_INVALID);
    EXPECT_STATUS(add_rule(SUBJECT_USER, "new@idp", 0, p), STATUS_UNKNOWN);
    EXPECT_STATUS(add_rule(SUBJECT_USER, "new@idp", ROLE_PREDEFINED_END, p), STATUS_UNKNOWN);
    p.id = 99;
    EXPECT_STATUS(add_rule(SUBJECT_USER, "new@idp", ROLE_VIEWER, p), STATUS_UNKNOWN);
    EXPECT_STATUS(of_rule(IDENTITY_RULE_REMOVE, 99), STATUS_UNKNOWN);
    EXPECT_STATUS(of_rule(IDENTITY_RULE_REMOVE, 1), STATUS_OK);
    p.id = project_id();
    EXPECT_STATUS(add_rule(SUBJECT_USER, "new@idp", ROLE_VIEWER, p), STATUS_OK);
    EXPECT_I64(identity_rule(now(), 2)->id, 2); /* 1 is never given again */
    teardown();
}

TEST(custom_roles)
{
    struct permission permissions[] = {
        {ENTITY_NODES, RIGHT_READ},
        {ENTITY_USERS, RIGHT_ALL }
    };
    struct identity_change c = {
        .op = IDENTITY_ROLE_ADD,
        .role = {.name = STR("helper"), .permissions = permissions, .permissions_count = 2}
    };
    setup();
    EXPECT_STATUS(change(c), STATUS_OK);
    EXPECT_I64(rig.out.revision, ROLE_CUSTOM_FIRST);
    EXPECT_STATUS(change(c), STATUS_CONFLICT);
    c.role.name = STR("");
    EXPECT_STATUS(change(c), STATUS_INVALID);
    c.role.name = STR("other");
    permissions[1].entity = ENTITY_NODES; /* twice */
    EXPECT_STATUS(change(c), STATUS_INVALID);
    permissions[1].entity = ENTITY_COUNT;
    EXPECT_STATUS(change(c), STATUS_INVALID);
    permissions[1] = (struct permission){ENTITY_ROLES, RIGHT_ALL + 1};
    EXPECT_STATUS(change(c), STATUS_INVALID);
    permissions[1].rights = RIGHT_READ;
    EXPECT_STATUS(change(c), STATUS_OK);
    c.op = IDENTITY_ROLE_SET;
    c.role.id = ROLE_CUSTOM_FIRST;
    EXPECT_STATUS(change(c), STATUS_CONFLICT); /* the name of the other */
    c.role.name = STR("helper 2");
    EXPECT_STATUS(change(c), STATUS_OK);
    EXPECT_STR(identity_role(now(), ROLE_CUSTOM_FIRST)->name, STR("helper 2"));
    EXPECT(identity_role(now(), ROLE_CUSTOM_FIRST)->stamp.created_ms <
           identity_role(now(), ROLE_CUSTOM_FIRST)->stamp.updated_ms);
    c.role.id = ROLE_VIEWER;
    EXPECT_STATUS(change(c), STATUS_IN_USE);
    c.role.id = 5000;
    EXPECT_STATUS(change(c), STATUS_UNKNOWN);
    add_rule(SUBJECT_GROUP, "helpers", ROLE_CUSTOM_FIRST, SCOPE_OF_TENANT);
    c = (struct identity_change){.op = IDENTITY_ROLE_REMOVE, .role = {.id = ROLE_CUSTOM_FIRST}};
    EXPECT_STATUS(change(c), STATUS_IN_USE);
    EXPECT_STATUS(of_rule(IDENTITY_RULE_REMOVE, 1), STATUS_OK);
    EXPECT_STATUS(change(c), STATUS_OK);
    EXPECT(identity_role(now(), ROLE_CUSTOM_FIRST) == NULL);
    teardown();
}

TEST(rules_of_the_plan)
{
    setup();
    EXPECT_STATUS(apply_plan("owners", "people", true), STATUS_OK);
    REQUIRE(now()->rules_count == 2);
    const struct access_rule *r = &now()->rules[0];
    EXPECT(r->from_plan && r->role == ROLE_DEPARTMENT_OWNER && r->scope.kind == SCOPE_DEPARTMENT);
    EXPECT_STR(r->subject, STR("owners"));
    r = &now()->rules[1];
    EXPECT(r->from_plan && r->role == ROLE_DEVELOPER && r->scope.id == project_id());
    uint32_t id = r->id;
    EXPECT_STATUS(of_rule(IDENTITY_RULE_REMOVE, id), STATUS_IN_USE);
    add_rule(SUBJECT_GROUP, "people", ROLE_VIEWER, (struct scope){SCOPE_PROJECT, project_id()});
    EXPECT_STATUS(apply_plan("owners", "others", true), STATUS_OK);
    EXPECT(identity_rule(now(), id) == NULL);
    EXPECT_I64(now()->rules_count, 3); /* of owners, others, and the one that was asked for */
    int64_t revision = now()->revision;
    EXPECT_STATUS(apply_plan("owners", "others", true), STATUS_OK);
    EXPECT_I64(now()->revision, revision);
    EXPECT_STATUS(apply_plan("", "", true), STATUS_OK);
    EXPECT_I64(now()->rules_count, 1);
    teardown();
}

TEST(a_repeated_command_makes_one)
{
    struct input in = {.kind = INPUT_IDENTITY, .key = STR("k")};
    in.identity = (struct identity_change){
        .op = IDENTITY_USER_ADD,
        .user = {.id = id_of(1), .name = STR("ann@x"), .password = STR("h1")}
    };
    setup();
    EXPECT_STATUS(say(in), STATUS_OK);
    in.identity.user.id = id_of(2); /* the edge minted anew */
    in.identity.user.password = STR("h2");
    EXPECT_STATUS(say(in), STATUS_OK);
    EXPECT(rig.out.repeated && uuid_eq(rig.out.id, id_of(1)));
    in.identity.user.name = STR("bob@x");
    EXPECT_STATUS(say(in), STATUS_CONFLICT);
    EXPECT_I64(now()->users_count, 1);
    teardown();
}

TEST_MAIN()

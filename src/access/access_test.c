// SPDX-License-Identifier: Apache-2.0
// One organisation: department research with its child vision, department product beside it; in
// each a project. What the predefined roles hold is tests/access's, from the product's own table.
#include "access/access.h"

#include "base/test.h"

enum { RESEARCH = 2, VISION, PRODUCT, P_RESEARCH, P_VISION, P_PRODUCT, P_STRAY, GONE };

static struct department departments[] = {
    {.name = STRS("product"), .id = PRODUCT},
    {.name = STRS("research"), .id = RESEARCH},
    {.name = STRS("vision"), .parent = STRS("research"), .id = VISION},
};
static struct project projects[] = {
    {.name = STRS("p-product"),  .department = STRS("product"),  .id = P_PRODUCT },
    {.name = STRS("p-research"), .department = STRS("research"), .id = P_RESEARCH},
    {.name = STRS("p-stray"),    .department = STRS("nowhere"),  .id = P_STRAY   },
    {.name = STRS("p-vision"),   .department = STRS("vision"),   .id = P_VISION  },
};
static const struct plan plan = {
    .departments = departments,
    .projects = projects,
    .departments_count = COUNT_OF(departments),
    .projects_count = COUNT_OF(projects),
};

static struct permission own_permissions[] = {
    {ENTITY_NODEPOOLS, RIGHT_READ  },
    {ENTITY_WORKLOADS, RIGHT_UPDATE},
    {ENTITY_COUNT + 5, RIGHT_ALL   },
    {ENTITY_ACCOUNT,   RIGHT_ALL   }, /* of which only reading exists */
};
static struct role roles[] = {
    {.id = ROLE_CUSTOM_FIRST,
     .name = STRS("mover"),
     .permissions = own_permissions,
     .permissions_count = COUNT_OF(own_permissions)},
    {.id = ROLE_CUSTOM_FIRST + 1,
     .name = STRS("off"),
     .disabled = true,
     .permissions = own_permissions,
     .permissions_count = COUNT_OF(own_permissions)},
};

#define USER(name)  SUBJECT_USER, STRS(name)
#define GROUP(name) SUBJECT_GROUP, STRS(name)
static struct access_rule rules[] = {
    {1, USER("root@x"), ROLE_SYSTEM_ADMINISTRATOR, {SCOPE_TENANT, TENANT_ID}, false, {0}},
    {2, USER("head@x"), ROLE_DEPARTMENT_ADMINISTRATOR, {SCOPE_DEPARTMENT, RESEARCH}, false, {0}},
    {3, GROUP("vision-devs"), ROLE_DEVELOPER, {SCOPE_PROJECT, P_VISION}, false, {0}},
    {4, USER("lead@x"), ROLE_PROJECT_ADMINISTRATOR, {SCOPE_PROJECT, P_VISION}, false, {0}},
    {5, SUBJECT_APPLICATION, STRS("pipeline"), ROLE_CICD, {SCOPE_CLUSTER, CLUSTER_ID}, false, {0}},
    {6, USER("mover@x"), ROLE_CUSTOM_FIRST, {SCOPE_PROJECT, P_PRODUCT}, false, {0}},
    {7, USER("off@x"), ROLE_CUSTOM_FIRST + 1, {SCOPE_TENANT, TENANT_ID}, false, {0}},
    {8, USER("norole@x"), 999, {SCOPE_TENANT, TENANT_ID}, false, {0}},
    {9, USER("gone@x"), ROLE_SYSTEM_ADMINISTRATOR, {SCOPE_DEPARTMENT, GONE}, false, {0}},
    {10, USER("tenant2@x"), ROLE_SYSTEM_ADMINISTRATOR, {SCOPE_TENANT, 2}, false, {0}},
};
static const struct identity identity = {
    .revision = 7,
    .roles = roles,
    .rules = rules,
    .roles_count = COUNT_OF(roles),
    .rules_count = COUNT_OF(rules),
};

static struct arena arena;
static struct access_book book;

static void setup(void)
{
    arena_reset(&arena);
    access_book_build(&book, &plan, 3, &identity, &arena);
}

static struct grants grants_of(const char *who)
{
    static const struct str_item groups[] = {{STRS("all")}, {STRS("vision-devs")}};
    struct subject s = {.name = str_from_c(who), .kind = SUBJECT_USER};
    if (str_eq(s.name, STR("machine"))) {
        s.machine = true;
    } else if (str_eq(s.name, STR("pipeline"))) {
        s.kind = SUBJECT_APPLICATION;
    } else if (str_eq(s.name, STR("dev@x"))) {
        s.groups = groups;
        s.groups_count = COUNT_OF(groups);
    }
    struct grants g;
    access_grants(&book, &s, &arena, &g);
    return g;
}

static const struct {
    const char *name, *who;
    enum entity entity;
    enum right action;
    struct scope scope;
    bool want;
} rows[] = {
    {"the machine's administrator may all",
     "machine",                                                          ENTITY_USERS,
     RIGHT_DELETE,                                                                                          {SCOPE_TENANT, TENANT_ID},
     true                                                                                                                                      },
    {"but not where nothing is",
     "machine",                                                          ENTITY_PROJECTS,
     RIGHT_READ,                                                                                            {SCOPE_PROJECT, GONE},
     false                                                                                                                                     },
    {"a tenant's rule holds for it",
     "root@x",                                                           ENTITY_USERS,
     RIGHT_DELETE,                                                                                          {SCOPE_TENANT, TENANT_ID},
     true                                                                                                                                      },
    {"and down to a project",
     "root@x",                                                           ENTITY_TRAININGS,
     RIGHT_CREATE,                                                                                          {SCOPE_PROJECT, P_VISION},
     true                                                                                                                                      },
    {"of another tenant it gives nothing",
     "tenant2@x",                                                        ENTITY_TRAININGS,
     RIGHT_READ,                                                                                            {SCOPE_PROJECT, P_VISION},
     false                                                                                                                                     },
    {"nor at another tenant",                                 "root@x",  ENTITY_ACCOUNT,      RIGHT_READ,   {SCOPE_TENANT, 2},            false},
    {"nor at another cluster",                                "root@x",  ENTITY_NODES,        RIGHT_READ,   {SCOPE_CLUSTER, 2},           false},
    {"a department's rule holds for it",
     "head@x",                                                           ENTITY_POLICIES,
     RIGHT_CREATE,                                                                                          {SCOPE_DEPARTMENT, RESEARCH},
     true                                                                                                                                      },
    {"for the department below",
     "head@x",                                                           ENTITY_POLICIES,
     RIGHT_CREATE,                                                                                          {SCOPE_DEPARTMENT, VISION},
     true                                                                                                                                      },
    {"for projects of that one",
     "head@x",                                                           ENTITY_PROJECTS,
     RIGHT_UPDATE,                                                                                          {SCOPE_PROJECT, P_VISION},
     true                                                                                                                                      },
    {"not for the department beside",
     "head@x",                                                           ENTITY_POLICIES,
     RIGHT_READ,                                                                                            {SCOPE_DEPARTMENT, PRODUCT},
     false                                                                                                                                     },
    {"not for a project there",
     "head@x",                                                           ENTITY_PROJECTS,
     RIGHT_READ,                                                                                            {SCOPE_PROJECT, P_PRODUCT},
     false                                                                                                                                     },
    {"not above, to change",
     "head@x",                                                           ENTITY_POLICIES,
     RIGHT_CREATE,                                                                                          {SCOPE_CLUSTER, CLUSTER_ID},
     false                                                                                                                                     },
    {"above, to read what is inherited",
     "head@x",                                                           ENTITY_POLICIES,
     RIGHT_READ,                                                                                            {SCOPE_CLUSTER, CLUSTER_ID},
     true                                                                                                                                      },
    {"above, not what is not inherited",
     "head@x",                                                           ENTITY_ACCESS_RULES,
     RIGHT_READ,                                                                                            {SCOPE_TENANT, TENANT_ID},
     false                                                                                                                                     },
    {"what the role does not have",
     "head@x",                                                           ENTITY_DEPARTMENTS,
     RIGHT_UPDATE,                                                                                          {SCOPE_DEPARTMENT, RESEARCH},
     false                                                                                                                                     },
    {"a group's rule",                                        "dev@x",   ENTITY_WORKSPACES,   RIGHT_CREATE, {SCOPE_PROJECT, P_VISION},    true },
    {"reads the departments above",
     "dev@x",                                                            ENTITY_DEPARTMENTS,
     RIGHT_READ,                                                                                            {SCOPE_DEPARTMENT, RESEARCH},
     true                                                                                                                                      },
    {"but not the one beside",
     "dev@x",                                                            ENTITY_DEPARTMENTS,
     RIGHT_READ,                                                                                            {SCOPE_DEPARTMENT, PRODUCT},
     false                                                                                                                                     },
    {"nor other projects there",
     "dev@x",                                                            ENTITY_PROJECTS,
     RIGHT_READ,                                                                                            {SCOPE_PROJECT, P_RESEARCH},
     false                                                                                                                                     },
    {"a user is not the group of that name",
     "vision-devs",                                                      ENTITY_PROJECTS,
     RIGHT_READ,                                                                                            {SCOPE_PROJECT, P_VISION},
     false                                                                                                                                     },
    {"nor the service account",
     "Pipeline",                                                         ENTITY_PROJECTS,
     RIGHT_READ,                                                                                            {SCOPE_PROJECT, P_VISION},
     false                                                                                                                                     },
    {"a service account, in every project",
     "pipeline",                                                         ENTITY_TRAININGS,
     RIGHT_CREATE,                                                                                          {SCOPE_PROJECT, P_VISION},
     true                                                                                                                                      },
    {"no workspaces for CI/CD",
     "pipeline",                                                         ENTITY_WORKSPACES,
     RIGHT_CREATE,                                                                                          {SCOPE_PROJECT, P_VISION},
     false                                                                                                                                     },
    {"a project of no department is right below the cluster",
     "pipeline",                                                         ENTITY_TRAININGS,
     RIGHT_READ,                                                                                            {SCOPE_PROJECT, P_STRAY},
     true                                                                                                                                      },
    {"a custom role",                                         "mover@x", ENTITY_WORKLOADS,    RIGHT_UPDATE, {SCOPE_PROJECT, P_PRODUCT},   true },
    {"only what it lists",
     "mover@x",                                                          ENTITY_WORKLOADS,
     RIGHT_READ,                                                                                            {SCOPE_PROJECT, P_PRODUCT},
     false                                                                                                                                     },
    {"only actions that exist",
     "mover@x",                                                          ENTITY_ACCOUNT,
     RIGHT_DELETE,                                                                                          {SCOPE_PROJECT, P_PRODUCT},
     false                                                                                                                                     },
    {"a disabled role gives nothing",
     "off@x",                                                            ENTITY_NODEPOOLS,
     RIGHT_READ,                                                                                            {SCOPE_CLUSTER, CLUSTER_ID},
     false                                                                                                                                     },
    {"an unknown role gives nothing",
     "norole@x",                                                         ENTITY_NODEPOOLS,
     RIGHT_READ,                                                                                            {SCOPE_CLUSTER, CLUSTER_ID},
     false                                                                                                                                     },
    {"a scope that is gone gives nothing",
     "gone@x",                                                           ENTITY_NODEPOOLS,
     RIGHT_READ,                                                                                            {SCOPE_CLUSTER, CLUSTER_ID},
     false                                                                                                                                     },
    {"who has no rule may nothing",
     "nobody@x",                                                         ENTITY_ACCOUNT,
     RIGHT_READ,                                                                                            {SCOPE_TENANT, TENANT_ID},
     false                                                                                                                                     },
};

TEST(one_question)
{
    setup();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        struct grants g = grants_of(rows[i].who);
        EXPECT(access_allows(&g, rows[i].entity, rows[i].action, rows[i].scope) == rows[i].want);
    }
    test_row(NULL);
}

/* The set of scopes and the single question agree, for all that there is to ask. */
TEST(sets_of_scopes)
{
    static const char *const who[] = {"machine", "root@x",    "head@x",  "dev@x",
                                      "lead@x",  "pipeline",  "mover@x", "off@x",
                                      "gone@x",  "tenant2@x", "nobody@x"};
    static const struct scope scopes[] = {
        {SCOPE_TENANT,     TENANT_ID },
        {SCOPE_TENANT,     2         },
        {SCOPE_CLUSTER,    CLUSTER_ID},
        {SCOPE_CLUSTER,    2         },
        {SCOPE_DEPARTMENT, PRODUCT   },
        {SCOPE_DEPARTMENT, RESEARCH  },
        {SCOPE_DEPARTMENT, VISION    },
        {SCOPE_DEPARTMENT, GONE      },
        {SCOPE_PROJECT,    P_PRODUCT },
        {SCOPE_PROJECT,    P_RESEARCH},
        {SCOPE_PROJECT,    P_VISION  },
        {SCOPE_PROJECT,    P_STRAY   },
        {SCOPE_PROJECT,    GONE      },
    };
    setup();
    uint32_t yes = 0;
    for (size_t w = 0; w < COUNT_OF(who); w++) {
        struct grants g = grants_of(who[w]);
        for (uint32_t e = 0; e < ENTITY_COUNT; e++) {
            for (uint32_t a = RIGHT_CREATE; a <= RIGHT_DELETE; a *= 2) {
                struct scope_set set;
                access_scopes(&g, (enum entity)e, (enum right)a, &arena, &set);
                bool any = false;
                for (size_t i = 0; i < COUNT_OF(scopes); i++) {
                    bool allowed = access_allows(&g, (enum entity)e, (enum right)a, scopes[i]);
                    EXPECT(scope_set_has(&set, scopes[i]) == allowed);
                    any = any || allowed;
                    yes += allowed;
                }
                EXPECT(access_anywhere(&g, (enum entity)e, (enum right)a) == any);
            }
        }
    }
    EXPECT(yes > 1000);
}

TEST(nobody_gives_more_than_they_have)
{
    static const struct {
        const char *name, *who;
        uint32_t role;
        struct scope scope;
        bool want;
    } gives[] = {
        {"who may all",               "root@x",  ROLE_SYSTEM_ADMINISTRATOR,     {SCOPE_TENANT, TENANT_ID},   true },
        {"the machine",               "machine", ROLE_SYSTEM_ADMINISTRATOR,     {SCOPE_TENANT, TENANT_ID},   true },
        {"below",                     "lead@x",  ROLE_AI_PRACTITIONER,          {SCOPE_PROJECT, P_VISION},   true },
        {"the same",                  "lead@x",  ROLE_PROJECT_ADMINISTRATOR,    {SCOPE_PROJECT, P_VISION},   true },
        {"only reading more",         "lead@x",  ROLE_VIEWER,                   {SCOPE_PROJECT, P_VISION},   true },
        {"more: its project's quota",
         "lead@x",                               ROLE_DEPARTMENT_ADMINISTRATOR,
         {SCOPE_PROJECT, P_VISION},
         false                                                                                                    },
        {"beside",                    "lead@x",  ROLE_AI_PRACTITIONER,          {SCOPE_PROJECT, P_RESEARCH}, false},
        {"what is nowhere",           "machine", ROLE_VIEWER,                   {SCOPE_PROJECT, GONE},       false},
    };
    setup();
    for (size_t i = 0; i < COUNT_OF(gives); i++) {
        test_row(gives[i].name);
        struct grants g = grants_of(gives[i].who);
        const struct access_role *role = access_role(&book, gives[i].role);
        REQUIRE(role != NULL);
        EXPECT(access_may_give(&g, role, gives[i].scope) == gives[i].want);
    }
    test_row(NULL);
    EXPECT(access_role(&book, 999) == NULL);
}

TEST(names_on_the_wire)
{
    enum entity e;
    enum right a;
    for (uint32_t i = 0; i < ENTITY_COUNT; i++) {
        const struct entity_info *info = entity_info((enum entity)i);
        EXPECT(info->name.len > 0 && info->display.len > 0 && info->group.len > 0);
        EXPECT(info->set.len > 0);
        EXPECT(entity_find(info->name, &e) && e == (enum entity)i);
        struct role_info role;
        for (uint32_t id = 1; role_predefined(id, &role); id++) {
            EXPECT((role.permissions.may[i] & ~info->rights) == 0);
        }
    }
    EXPECT(entity_find(STR("access-rules"), &e) && e == ENTITY_ACCESS_RULES);
    EXPECT(!entity_find(STR("nothing"), &e));
    for (uint32_t i = RIGHT_CREATE; i <= RIGHT_DELETE; i *= 2) {
        EXPECT(right_find(right_name((enum right)i), &a) && a == (enum right)i);
    }
    EXPECT(!right_find(STR("sync"), &a));
}

TEST(predefined_roles_have_names)
{
    struct role_info role, other;
    uint32_t id = 1;
    for (; role_predefined(id, &role); id++) {
        EXPECT(role.name.len > 0 && role.description.len > 0);
        for (uint32_t k = 1; k < id; k++) {
            EXPECT(role_predefined(k, &other) && !str_eq(role.name, other.name));
        }
    }
    EXPECT_I64(id, ROLE_PREDEFINED_END);
    EXPECT(!role_predefined(0, &role));
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
// Run:ai's paths about users, service accounts, access keys, roles and access rules, each seen from
// those who may and those who may not.
#include "people.h"

static const char *root, *dev;

static void start(void)
{
    server_start_with(SERVER_TOKENS, prepare);
    root = token_by_password("root@x");
    dev = token_by_password("dev@x");
}

static const char *keep(const char *member)
{
    return arena_cstr(&server.arena, at(member));
}

#define PATH(format, a) (arena_printf(&server.arena, format, a).ptr)

#define RULE(subject, type, role, scope, id)                                       \
    "{\"subjectId\":\"" subject "\",\"subjectType\":\"" type "\",\"roleId\":" role \
    ",\"scopeType\":\"" scope "\",\"scopeId\":\"" id "\"}"

static long sign_in(const char *user, const char *password)
{
    return post_tcp("/api/v1/token",
                    arena_printf(&server.arena,
                                 "{\"grantType\":\"password\",\"username\":\"%s\",\"password\":"
                                 "\"%s\"}",
                                 user, password)
                        .ptr);
}

/* Ids of the plan of world_plan. */
#define RESEARCH "3"
#define TEAM_A   "4"
#define TEAM_B   "5"

TEST(users)
{
    start();
    EXPECT_I64(as(root, "GET", "/api/v1/users", NULL), 200);
    EXPECT_STR(at("[0].username"), STR("root@x"));
    EXPECT_STR(at("[1].isLocal"), STR("true"));
    EXPECT_I64(as(root, "POST", "/api/v1/users", "{\"email\":\"New@X\"}"), 201);
    EXPECT_STR(at("username"), STR("new@x"));
    const char *id = keep("id");
    const char *password = keep("tempPassword");
    EXPECT_I64((int64_t)strlen(password), 24);
    EXPECT_I64(sign_in("new@x", password), 200);
    const char *token = keep("accessToken");
    EXPECT_I64(as(token, "GET", "/api/v1/org-unit/projects", NULL), 403); /* no rule yet */
    EXPECT_I64(as(root, "POST", "/api/v1/users", "{\"email\":\"new@x\"}"), 409);
    EXPECT_I64(as(root, "POST", "/api/v1/users", "{\"email\":\"nobody\"}"), 400);
    EXPECT_I64(as(root, "GET", "/api/v1/users/count?filterBy=username%3D%40new", NULL), 200);
    EXPECT_STR(at("count"), STR("1"));
    EXPECT_I64(as(root, "GET", PATH("/api/v1/users/%s", id), NULL), 200);
    EXPECT_STR(at("createdBy"), STR("root@x"));
    EXPECT(at("lastLogin").len > 10);
    EXPECT_I64(as(root, "PUT", PATH("/api/v1/users/%s/groups", id), "{\"groups\":[\"ml\"]}"), 200);
    EXPECT_I64(as(root, "GET", PATH("/api/v1/users/%s", id), NULL), 200);
    EXPECT_STR(at("groups[0]"), STR("ml"));

    /* One's own password: with the right one, and the old token ends. */
    EXPECT_I64(as(token, "POST", "/api/v1/me/password",
                  "{\"currentPassword\":\"wrong\",\"newPassword\":\"another one\"}"),
               403);
    EXPECT_STR(at("field"), STR("currentPassword"));
    EXPECT_I64(as(token, "POST", "/api/v1/me/password",
                  PATH("{\"currentPassword\":\"%s\",\"newPassword\":\"short\"}", password)),
               400);
    EXPECT_I64(as(token, "POST", "/api/v1/me/password",
                  PATH("{\"currentPassword\":\"%s\",\"newPassword\":\"another one\"}", password)),
               200);
    EXPECT_I64(as(token, "GET", PREFIX "/whoami", NULL), 401);
    EXPECT_I64(sign_in("new@x", "another one"), 200);
    token = keep("accessToken");

    /* A new one that somebody else knows has to be changed before anything else. */
    EXPECT_I64(as(root, "POST", PATH("/api/v1/users/%s/password", id), ""), 200);
    password = keep("tempPassword");
    EXPECT_I64(as(token, "GET", PREFIX "/whoami", NULL), 401);
    EXPECT_I64(sign_in("new@x", password), 200);
    token = keep("accessToken");
    EXPECT_I64(as(token, "GET", "/api/v1/org-unit/projects", NULL), 403);
    EXPECT_STR(at("message"), STR("somebody else knows your password: change it first"));
    EXPECT_I64(as(token, "POST", PATH("/api/v1/users/%s/logout", id), ""), 200);
    EXPECT_I64(as(token, "GET", PREFIX "/whoami", NULL), 401);

    /* Who may not. */
    EXPECT_I64(as(dev, "GET", "/api/v1/users", NULL), 403);
    EXPECT_I64(as(dev, "POST", "/api/v1/users", "{\"email\":\"x@x\"}"), 403);
    EXPECT_I64(as(dev, "DELETE", PATH("/api/v1/users/%s", id), NULL), 403);
    EXPECT_I64(as(dev, "POST", PATH("/api/v1/users/%s/logout", id), ""), 403);
    EXPECT_I64(as(root, "DELETE", PATH("/api/v1/users/%s", id), NULL), 204);
    EXPECT_I64(as(root, "GET", PATH("/api/v1/users/%s", id), NULL), 404);
    EXPECT_I64(as(root, "DELETE", "/api/v1/users/nothing", NULL), 404);

    /* The last administrator stays. */
    const char *self = uuid_str(id_of(1), &server.arena).ptr;
    EXPECT_I64(as(root, "DELETE", PATH("/api/v1/users/%s", self), NULL), 409);
    server_stop();
}

#define FORM "grant_type=client_credentials&client_id=deploy&client_secret=%s"

TEST(service_accounts)
{
    start();
    EXPECT_I64(as(root, "POST", "/api/v1/service-accounts", "{\"name\":\"deploy\"}"), 201);
    const char *id = keep("id");
    const char *secret = keep("clientSecret");
    EXPECT_STR(at("clientId"), STR("deploy"));
    EXPECT_I64(as(root, "POST", "/api/v1/service-accounts", "{\"name\":\"deploy\"}"), 409);
    EXPECT_I64(as(root, "POST", "/api/v1/service-accounts", "{\"name\":\"Not This\"}"), 400);
    EXPECT_STR(at("field"), STR("name"));
    EXPECT_I64(post_tcp("/api/v2/token", PATH(FORM, secret)), 200);
    const char *token = keep("access_token");
    EXPECT_I64(as(token, "GET", PREFIX "/whoami", NULL), 200);
    EXPECT_I64(as(root, "PATCH", PATH("/api/v1/service-accounts/%s", id), "{\"enabled\":false}"),
               200);
    EXPECT_I64(as(token, "GET", PREFIX "/whoami", NULL), 401);
    EXPECT_I64(post_tcp("/api/v2/token", PATH(FORM, secret)), 401);
    EXPECT_I64(as(root, "PATCH", PATH("/api/v1/service-accounts/%s", id), "{\"enabled\":true}"),
               200);
    EXPECT_I64(as(root, "POST", PATH("/api/v1/service-accounts/%s/secret", id), ""), 200);
    EXPECT_I64(post_tcp("/api/v2/token", PATH(FORM, keep("clientSecret"))), 200);
    EXPECT_I64(post_tcp("/api/v2/token", PATH(FORM, secret)), 401);
    EXPECT_I64(as(root, "GET", PATH("/api/v1/service-accounts/%s", id), NULL), 200);
    EXPECT_STR(at("enabled"), STR("true"));
    EXPECT_I64(as(root, "GET", "/api/v1/service-accounts", NULL), 200);
    EXPECT_STR(at("[1].name"), STR("deploy"));
    EXPECT_I64(as(dev, "GET", "/api/v1/service-accounts", NULL), 403);
    EXPECT_I64(as(dev, "POST", PATH("/api/v1/service-accounts/%s/secret", id), ""), 403);
    EXPECT_I64(as(root, "DELETE", PATH("/api/v1/service-accounts/%s", id), NULL), 204);
    EXPECT_I64(as(root, "GET", PATH("/api/v1/service-accounts/%s", id), NULL), 404);
    server_stop();
}

TEST(access_keys)
{
    start();
    EXPECT_I64(as(dev, "POST", "/api/v1/access-keys", "{\"name\":\"laptop\"}"), 201);
    const char *id = keep("id");
    const char *secret = keep("clientSecret");
    const char *body = arena_printf(&server.arena,
                                    "{\"grantType\":\"app_token\",\"AppId\":\"%s\",\"AppSecret\":"
                                    "\"%s\"}",
                                    id, secret)
                           .ptr;
    EXPECT_I64(post_tcp("/api/v1/token", body), 200);
    EXPECT_I64(as(keep("accessToken"), "GET", PREFIX "/whoami", NULL), 200);
    EXPECT_STR(at("user"), STR("dev@x"));
    EXPECT_I64(as(dev, "GET", "/api/v1/access-keys", NULL), 200);
    EXPECT_STR(at("accessKeys[0].name"), STR("laptop"));
    EXPECT_STR(at("accessKeys[1].name"), STR("(missing)"));
    /* Others' are not there; an administrator sees and ends them in a place of its own. */
    EXPECT_I64(as(root, "GET", PATH("/api/v1/access-keys/%s", id), NULL), 404);
    EXPECT_I64(as(root, "DELETE", PATH("/api/v1/access-keys/%s", id), NULL), 404);
    EXPECT_I64(as(dev, "GET", "/api/v1/administration/access-keys", NULL), 403);
    EXPECT_I64(as(root, "GET", "/api/v1/administration/access-keys?createdBy=dev%40x", NULL), 200);
    EXPECT_STR(at("accessKeys[0].createdBy"), STR("dev@x"));
    EXPECT_I64(as(dev, "POST", PATH("/api/v1/access-keys/%s/secret", id), ""), 200);
    EXPECT_I64(post_tcp("/api/v1/token", body), 403); /* the old secret */
    EXPECT_I64(as(root, "DELETE", PATH("/api/v1/administration/access-keys/%s", id), NULL), 204);
    EXPECT_I64(as(dev, "GET", PATH("/api/v1/access-keys/%s", id), NULL), 404);
    EXPECT_I64(as(token_by_secret("ci"), "POST", "/api/v1/access-keys", "{\"name\":\"x2\"}"), 403);
    EXPECT_I64(ask(&(struct ask){
                   .method = "POST", .path = "/api/v1/access-keys", .body = "{\"name\":\"x2\"}"}),
               403); /* the machine's administrator is no user */
    server_stop();
}

TEST(roles)
{
    start();
    EXPECT_I64(as(root, "GET", "/api/v1/authorization/roles", NULL), 200);
    EXPECT_STR(at("[0].name"), STR("System administrator"));
    EXPECT_STR(at("[0].custom"), STR("false"));
    EXPECT_I64(as(root, "GET", "/api/v1/authorization/roles/5", NULL), 200);
    EXPECT_STR(at("name"), STR("AI practitioner"));
    EXPECT_STR(at("permissions[1].resourceType"), STR("department"));
    EXPECT_STR(at("permissions[1].actions[0]"), STR("read"));
    EXPECT_STR(at("permissions[1].actions[1]"), STR("(missing)"));
    EXPECT_I64(as(root, "GET", "/api/v1/authorization/roles/99", NULL), 404);
    static const char mover[] =
        "{\"name\":\"Mover\",\"description\":\"moves\",\"permissionSets\":["
        "{\"name\":\"workloadEditAccess\"},{\"name\":\"projectReadAccess\"},"
        "{\"id\":\"1\",\"name\":\"accountReadAccess\"}]}";
    EXPECT_I64(as(root, "POST", "/api/v2/authorization/roles", mover), 201);
    EXPECT_STR(at("id"), STR("1001"));
    EXPECT_STR(at("permissionSets[2].name"), STR("workloadEditAccess"));
    EXPECT_I64(as(root, "POST", "/api/v2/authorization/roles", mover), 409);
    EXPECT_I64(as(root, "POST", "/api/v2/authorization/roles",
                  "{\"name\":\"Viewer\",\"permissionSets\":[]}"),
               409); /* a predefined one's name */
    EXPECT_I64(as(root, "POST", "/api/v2/authorization/roles",
                  "{\"name\":\"X\",\"permissionSets\":[{\"name\":\"accountEditAccess\"}]}"),
               400);
    EXPECT_STR(at("value"), STR("accountEditAccess"));
    EXPECT_I64(as(dev, "POST", "/api/v2/authorization/roles", mover), 403);
    EXPECT_I64(as(root, "PUT", "/api/v2/authorization/roles/1001",
                  "{\"name\":\"Mover\",\"enabled\":false,\"permissionSets\":[]}"),
               200);
    EXPECT_STR(at("enabled"), STR("false"));
    EXPECT_I64(as(root, "GET", "/api/v1/authorization/roles/1001", NULL), 200);
    EXPECT_STR(at("custom"), STR("true"));
    EXPECT_I64(as(root, "PUT", "/api/v2/authorization/roles/8",
                  "{\"name\":\"Mine\",\"permissionSets\":[]}"),
               409);
    EXPECT_I64(as(root, "DELETE", "/api/v2/authorization/roles/1001", NULL), 204);
    EXPECT_I64(as(root, "DELETE", "/api/v2/authorization/roles/1001", NULL), 404);
    EXPECT_I64(as(root, "GET", "/api/v1/permission-sets", NULL), 200);
    EXPECT_STR(at("[0].name"), STR("accountReadAccess"));
    EXPECT_I64(as(dev, "GET", "/api/v1/authorization/permissions", NULL), 200);
    EXPECT_STR(at("[0].resourceType"), STR("tenant"));
    server_stop();
}

TEST(permitted_scopes)
{
    start();
    EXPECT_I64(as(dev, "POST", "/api/v1/authorization/permitted-scopes",
                  "{\"resourceType\":\"trainings\"}"),
               200);
    EXPECT_STR(at("create.projects[0]"), STR(TEAM_A));
    EXPECT_STR(at("create.tenants[0]"), STR("(missing)"));
    EXPECT_I64(as(root, "POST", "/api/v1/authorization/permitted-scopes",
                  "{\"resourceType\":\"access_rules\",\"action\":\"read\"}"),
               200);
    EXPECT_STR(at("read.tenants[0]"), STR("1"));
    EXPECT_STR(at("delete.tenants"), STR("(missing)"));
    EXPECT_I64(
        as(root, "POST", "/api/v1/authorization/permitted-scopes", "{\"resourceType\":\"spoons\"}"),
        400);
    server_stop();
}

TEST(access_rules)
{
    start();
    EXPECT_I64(as(root, "GET", "/api/v1/authorization/access-rules", NULL), 200);
    EXPECT_STR(at("totalRecords"), STR("3"));
    EXPECT_STR(at("accessRules[1].scopeName"), STR("team-a"));
    EXPECT_STR(at("accessRules[1].roleName"), STR("Developer"));
    static const char rule[] = RULE("Lead@X", "user", "4", "project", TEAM_A);
    EXPECT_I64(as(root, "POST", "/api/v1/authorization/access-rules", rule), 201);
    EXPECT_STR(at("subjectId"), STR("lead@x"));
    EXPECT_STR(at("createdBy"), STR("root@x"));
    const char *id = keep("id");
    EXPECT_I64(as(root, "POST", "/api/v1/authorization/access-rules", rule), 201); /* again */
    EXPECT_STR(at("id"), str_from_c(id));
    EXPECT_I64(as(root, "GET", PATH("/api/v1/authorization/access-rules/%s", id), NULL), 200);
    EXPECT_I64(as(root, "GET",
                  "/api/v1/authorization/access-rules/count?filterBy=roleName%3D%3DDeveloper",
                  NULL),
               200);
    EXPECT_STR(at("count"), STR("1"));
    EXPECT_I64(as(root, "GET",
                  "/api/v1/authorization/access-rules?subjectType=app&scopeType=project", NULL),
               200);
    EXPECT_STR(at("accessRules[0].subjectId"), STR("ci"));
    EXPECT_STR(at("totalRecords"), STR("1"));
    static const struct {
        const char *name, *body;
        long code;
        const char *member, *want;
    } rows[] = {
        {"no such project",         RULE("a@x",    "user",            "4",  "project", "99"),   404, "field",  "scopeId"    },
        {"no such tenant",          RULE("a@x",    "user",            "4",  "tenant",  "2"),    404, "field",  "scopeId"    },
        {"no such role",            RULE("a@x",    "user",            "99", "project", TEAM_A), 404, "status", "unknown"    },
        {"no such service account", RULE("nobody", "service-account", "4",  "project", TEAM_A), 404,
         "field",                                                                                              "subject"    },
        {"no such kind",            RULE("a@x",    "spoon",           "4",  "project", TEAM_A), 400, "field",  "subjectType"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        EXPECT_I64(as(root, "POST", "/api/v1/authorization/access-rules", rows[i].body),
                   rows[i].code);
        EXPECT_STR(at(rows[i].member), str_from_c(rows[i].want));
    }
    test_row(NULL);
    EXPECT_I64(as(dev, "GET", "/api/v1/authorization/access-rules", NULL), 403);
    EXPECT_I64(as(dev, "GET", "/api/v1/authorization/me/access-rules", NULL), 200);
    EXPECT_STR(at("accessRules.totalRecords"), STR("1"));
    EXPECT_STR(at("accessRules.accessRules[0].roleName"), STR("Developer"));
    EXPECT_I64(as(root, "DELETE", PATH("/api/v1/authorization/access-rules/%s", id), NULL), 204);
    EXPECT_I64(as(root, "GET", PATH("/api/v1/authorization/access-rules/%s", id), NULL), 404);
    EXPECT_I64(as(root, "DELETE", "/api/v1/authorization/access-rules/1", NULL),
               409); /* the last */
    server_stop();
}

/* Who administers one project hands out what they have, there and nowhere else. */
TEST(nobody_gives_more_than_they_have)
{
    start();
    EXPECT_I64(as(root, "POST", "/api/v1/authorization/access-rules",
                  RULE("dev@x", "user", "4", "project", TEAM_A)),
               201);
    static const struct {
        const char *name, *body;
        long code;
    } rows[] = {
        {"a lesser role",         RULE("a@x", "user", "5", "project",    TEAM_A),   201},
        {"one that reads more",   RULE("a@x", "user", "8", "project",    TEAM_A),   201},
        {"its own",               RULE("a@x", "user", "4", "project",    TEAM_A),   201},
        {"one that changes more", RULE("a@x", "user", "1", "project",    TEAM_A),   403},
        {"beside",                RULE("a@x", "user", "5", "project",    TEAM_B),   404},
        {"above",                 RULE("a@x", "user", "5", "department", RESEARCH), 404},
        {"over all",              RULE("a@x", "user", "5", "tenant",     "1"),      404},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        EXPECT_I64(as(dev, "POST", "/api/v1/authorization/access-rules", rows[i].body),
                   rows[i].code);
    }
    test_row(NULL);
    EXPECT_I64(as(dev, "GET", "/api/v1/authorization/access-rules", NULL), 200);
    EXPECT_STR(at("totalRecords"), STR("6")); /* of its project: not the tenant's */
    EXPECT_I64(as(dev, "DELETE", "/api/v1/authorization/access-rules/1", NULL), 404);
    /* Users it may not see, let alone change. */
    EXPECT_I64(as(dev, "GET", "/api/v1/users", NULL), 403);

    /* Over a department: who belongs elsewhere too is out of reach. */
    EXPECT_I64(as(root, "POST", "/api/v1/authorization/access-rules",
                  RULE("dev@x", "user", "2", "department", RESEARCH)),
               201);
    EXPECT_I64(as(dev, "POST", "/api/v1/users", "{\"email\":\"mine@x\"}"), 201);
    const char *mine = keep("id");
    EXPECT_I64(as(root, "POST", "/api/v1/users", "{\"email\":\"theirs@x\"}"), 201);
    const char *theirs = keep("id");
    EXPECT_I64(as(dev, "GET", "/api/v1/users/count", NULL), 200);
    EXPECT_STR(at("count"), STR("4"));
    EXPECT_I64(as(dev, "DELETE", PATH("/api/v1/users/%s", theirs), NULL), 403);
    EXPECT_I64(as(dev, "POST", PATH("/api/v1/users/%s/password", theirs), ""), 403);
    EXPECT_I64(as(root, "POST", "/api/v1/authorization/access-rules",
                  RULE("mine@x", "user", "8", "tenant", "1")),
               201);
    EXPECT_I64(as(dev, "POST", PATH("/api/v1/users/%s/password", mine), ""), 403);
    EXPECT_I64(as(root, "POST", "/api/v1/authorization/access-rules",
                  RULE("theirs@x", "user", "8", "project", TEAM_A)),
               201);
    EXPECT_I64(as(dev, "DELETE", PATH("/api/v1/users/%s", theirs), NULL), 204);
    EXPECT_I64(as(dev, "PUT", PATH("/api/v1/users/%s/groups", mine), "{\"groups\":[\"a\"]}"), 403);
    server_stop();
}

static const char *audit_of(const char *token, const char *query)
{
    EXPECT_I64(as(token, "GET", PATH(PREFIX "/audit?%s", query), NULL), 200);
    return keep("total");
}

/* What is gone keeps the name that it had. */
TEST(the_audit_names_what_is_changed_by_its_id)
{
    start();
    static const struct {
        const char *what, *path, *body, *name;
    } rows[] = {
        {"a user", "/api/v1/users", "{\"email\":\"gone@x\"}", "gone@x"},
        {"a service account", "/api/v1/service-accounts", "{\"name\":\"robot\"}", "robot"},
        {"a role", "/api/v2/authorization/roles", "{\"name\":\"Idler\",\"permissionSets\":[]}",
         "Idler"},
        {"an access rule", "/api/v1/authorization/access-rules",
         RULE("lead@x", "user", "4", "project", TEAM_A), "lead@x"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].what);
        EXPECT_I64(as(root, "POST", rows[i].path, rows[i].body), 201);
        const char *one = arena_printf(&server.arena, "%s/%s", rows[i].path, keep("id")).ptr;
        EXPECT_I64(as(root, "DELETE", one, NULL), 204);
        EXPECT_I64(as(root, "GET", PREFIX "/audit?action=delete&limit=1", NULL), 200);
        EXPECT_STR(at("items[0].name"), str_from_c(rows[i].name));
    }
    test_row(NULL);
    EXPECT_I64(as(root, "DELETE", PATH("/api/v1/org-unit/projects/%s", TEAM_B), NULL), 204);
    EXPECT_I64(as(root, "GET", PREFIX "/audit?action=delete&limit=1", NULL), 200);
    EXPECT_STR(at("items[0].name"), STR("team-b"));
    server_stop();
}

TEST(a_pool_that_is_packed_stays_so)
{
    start();
    EXPECT_I64(as(root, "GET", "/api/v1/node-pools", NULL), 200);
    const char *pool = PATH("/api/v1/node-pools/%s", keep("nodepools[0].id"));
    EXPECT_I64(as(root, "PATCH", pool, "{\"placementStrategy\":{\"gpu\":\"pack\"}}"), 200);
    EXPECT_I64(
        as(root, "PATCH", pool, "{\"schedulingConfiguration\":{\"minGuaranteedRuntime\":\"5m\"}}"),
        200);
    EXPECT_I64(as(root, "GET", pool, NULL), 200);
    EXPECT_STR(at("placementStrategy.gpu"), STR("pack"));
    EXPECT_STR(at("placementStrategy.cpu"), STR("binpack"));
    EXPECT_I64(as(root, "PATCH", pool, "{\"placementStrategy\":{\"cpu\":\"pack\"}}"), 400);
    server_stop();
}

#define FILE_OF_ALL "/api/v1/audit/log/file?start=2001-01-01T00:00:00Z&end=2101-01-01T00:00:00Z"

TEST(the_audit_is_read_within_ones_scope)
{
    start();
    server_pause();
    give(&server.world, SUBJECT_USER, "dev@x", ROLE_AUDITOR, (struct scope){SCOPE_DEPARTMENT, 3});
    add_user(&server.world, 9, "none@x");
    server_resume();
    const char *none = token_by_password("none@x");
    EXPECT_I64(as(none, "GET", PREFIX "/audit", NULL), 403);
    EXPECT_I64(as(root, "POST", PREFIX "/workloads",
                  "{\"name\":\"job\",\"project\":\"team-a\",\"spec\":{\"command\":[\"true\"]}}"),
               201);
    EXPECT_I64(as(dev, "POST", PREFIX "/workloads",
                  "{\"name\":\"job\",\"project\":\"team-a\",\"spec\":{\"command\":[\"true\"]}}"),
               409);
    EXPECT_I64(as(root, "POST", "/api/v1/users", "{\"email\":\"more@x\"}"), 201);

    /* The tenant's auditor sees all, who reads that of a department what was in it. */
    EXPECT_STR(str_from_c(audit_of(root, "subject=root@x&action=create")), STR("2"));
    EXPECT_STR(str_from_c(audit_of(dev, "subject=root@x&action=create")), STR("1"));
    EXPECT_STR(at("items[0].name"), STR("job"));
    EXPECT_STR(at("items[0].entity"), STR("trainings"));
    EXPECT_STR(at("items[0].result"), STR("done"));
    EXPECT_STR(str_from_c(audit_of(dev, "result=refused&subject=dev@x")), STR("1"));
    EXPECT_STR(at("items[0].status"), STR("conflict"));
    EXPECT(at("items[0].message").len > 10);
    EXPECT_STR(str_from_c(audit_of(root, "subject=dev@x&action=sign-in")), STR("1"));
    EXPECT_STR(str_from_c(audit_of(root, "until=2001-01-01T00:00:00Z")), STR("0"));
    EXPECT_I64(as(root, "GET", PREFIX "/audit?action=eat", NULL), 400);

    EXPECT_I64(as(dev, "GET",
                  "/api/v1/audit/log?start=2001-01-01T00:00:00Z&end=2101-01-01T00:00:00Z&"
                  "filterBy=action%3D%3Dcreate,result%3D%3DFailed",
                  NULL),
               200);
    EXPECT_STR(at("total"), STR("1"));
    EXPECT_STR(at("audit_logs[0].http_status_code"), STR("409"));
    EXPECT_I64(as(dev, "GET", "/api/v1/audit/log?start=2001-01-01T00:00:00Z", NULL), 400);
    EXPECT_I64(as(none, "GET", FILE_OF_ALL, NULL), 403);
    EXPECT_I64(as(dev, "GET", FILE_OF_ALL, NULL), 200);
    EXPECT(str_starts(buf_view(&server.body), STR("timestamp,subject,")));
    server_stop();
}

TEST(several_rules_at_once)
{
    start();
    EXPECT_I64(as(root, "POST", "/api/v1/authorization/access-rules/batch-create",
                  "{\"payload\":{\"roleId\":5,\"subjects\":[{\"subjectId\":\"a@x\",\"subjectType\":"
                  "\"user\"},{\"subjectId\":\"ml\",\"subjectType\":\"group\"}],\"scopes\":[{"
                  "\"scopeId\":\"" TEAM_A
                  "\",\"scopeType\":\"project\"},{\"scopeId\":\"99\",\"scopeType\":"
                  "\"project\"}]}}"),
               200);
    EXPECT_STR(at("succeeded[0].subjectId"), STR("a@x"));
    EXPECT_STR(at("succeeded[1].subjectId"), STR("ml"));
    EXPECT_STR(at("succeeded[2]"), STR("(missing)"));
    EXPECT_STR(at("failed[1].code"), STR("404"));
    EXPECT_STR(at("failed[1].payload.scopeId"), STR("99"));
    const char *first = keep("succeeded[0].id");
    const char *body = PATH("{\"ids\":[\"00000000-0000-4000-8000-%s\",\"77\"],"
                            "\"action\":\"validate_delete\"}",
                            first);
    EXPECT_I64(as(root, "POST", "/api/v1/authorization/access-rules/batch", body), 200);
    EXPECT_STR(at("failed[0].id"), STR("77"));
    EXPECT_I64(as(root, "GET", PATH("/api/v1/authorization/access-rules/%s", first), NULL), 200);
    EXPECT_I64(as(root, "POST", "/api/v1/authorization/access-rules/batch",
                  PATH("{\"ids\":[\"%s\"],\"action\":\"delete\"}", first)),
               200);
    EXPECT_STR(at("succeeded[0]"), str_from_c(first));
    EXPECT_I64(as(root, "GET", PATH("/api/v1/authorization/access-rules/%s", first), NULL), 404);
    server_stop();
}

TEST_MAIN()

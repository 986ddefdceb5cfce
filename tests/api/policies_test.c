// SPDX-License-Identifier: Apache-2.0
// Policies through Run:ai's API: written, read, changed, deleted, each seen from those who may and those
// who may not; what holds at a scope and from where.
#include "people.h"

static const char *root, *dev;

/* dev@x administers team-a, and has nothing to do with team-b. */
static void prepare_administrator(struct world *w)
{
    prepare(w);
    give(w, SUBJECT_USER, "dev@x", ROLE_PROJECT_ADMINISTRATOR, project(w, "team-a"));
}

static void start(void)
{
    server_start_with(SERVER_TOKENS, prepare_administrator);
    root = token_by_password("root@x");
    dev = token_by_password("dev@x");
}

static const char *keep(const char *member)
{
    return arena_cstr(&server.arena, at(member));
}

#define PATH(format, a) (arena_printf(&server.arena, format, a).ptr)

/* Ids of the plan of world_plan. */
#define TEAM_A   "4"
#define TEAM_B   "5"
#define P        "/api/v2/policy/"
#define META(id) "\"meta\":{\"name\":\"p\",\"scope\":\"project\",\"projectId\":" id "}"
#define TENANT   "\"meta\":{\"name\":\"t\",\"scope\":\"tenant\"}"
#define OF_A     "?scope=project&projectId=" TEAM_A
#define OF_B     "?scope=project&projectId=" TEAM_B
#define POLICY(meta, defaults, rules) \
    "{" meta ",\"policy\":{\"defaults\":" defaults ",\"rules\":" rules "}}"

static const struct {
    const char *kind, *type, *inside, *before, *after;
} kinds[] = {
    {"trainings",   "training",    "",        "",             "" },
    {"workspaces",  "workspace",   "",        "",             "" },
    {"inferences",  "inference",   "",        "",             "" },
    {"distributed", "distributed", "worker.", "{\"worker\":", "}"},
};

TEST(every_kind_is_written_read_changed_and_deleted)
{
    start();
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        const char *path = PATH(P "%s", kinds[i].kind);
        const char *own = PATH(P "%s" OF_A, kinds[i].kind);
        struct str inside = str_from_c(kinds[i].inside);
        test_row(kinds[i].kind);
        EXPECT_I64(as(dev, "GET", own, NULL), 200); /* nothing of its own, but weir's */
        EXPECT(doc_at(answer(), STR("policy")) == NULL);
        EXPECT_STR(at(PATH("effective.rules.%ssecurity.privileged.sourceOfRule.scope", inside.ptr)),
                   STR("system"));
        EXPECT_I64(as(dev, "PUT", path,
                      arena_printf(&server.arena,
                                   POLICY(META(TEAM_A), "%s{\"image\":\"a:1\"}%s",
                                          "%s{\"compute\":{\"gpuDevicesRequest\":{\"max\":4}}}%s"),
                                   kinds[i].before, kinds[i].after, kinds[i].before, kinds[i].after)
                          .ptr),
                   200);
        EXPECT_STR(at("meta.createdBy"), STR("dev@x"));
        EXPECT_STR(at("meta.projectId"), STR(TEAM_A));
        const char *id = keep("meta.id");
        EXPECT_STR(at(PATH("policy.defaults.%simage", inside.ptr)), STR("a:1"));
        EXPECT_I64(as(dev, "GET", own, NULL), 200);
        EXPECT_STR(at(PATH("policy.rules.%scompute.gpuDevicesRequest.max", inside.ptr)), STR("4"));
        EXPECT_STR(at(PATH("effective.rules.%scompute.gpuDevicesRequest.sourceOfRule.projectId",
                           inside.ptr)),
                   STR(TEAM_A));
        EXPECT_STR(at(PATH("effective.defaults.%simage", inside.ptr)), STR("a:1"));
        EXPECT(doc_at(answer(), STR("effectiveUpdatedAt")) != NULL);
        /* whom it is not for */
        EXPECT_I64(as(dev, "GET", PATH(P "%s" OF_B, kinds[i].kind), NULL), 404);
        EXPECT_I64(as(dev, "DELETE", PATH(P "%s" OF_B, kinds[i].kind), NULL), 404);
        EXPECT_I64(as(dev, "PUT", path, "{" META(TEAM_B) ",\"policy\":{}}"), 404);
        EXPECT_I64(as(dev, "PUT", path, "{" TENANT ",\"policy\":{}}"), 403);
        /* a field is changed, another forgotten */
        EXPECT_I64(as(dev, "PATCH", path,
                      arena_printf(&server.arena,
                                   "{" META(TEAM_A) ",\"policy\":{\"defaults\":%s{\"workingDir\":"
                                                    "\"/w\"}%s},\"reset\":[\"$.%simage\"]}",
                                   kinds[i].before, kinds[i].after, inside.ptr)
                          .ptr),
                   200);
        EXPECT_STR(at("meta.id"), str_from_c(id));
        EXPECT_STR(at(PATH("policy.defaults.%sworkingDir", inside.ptr)), STR("/w"));
        EXPECT(doc_at(answer(), str_from_c(PATH("policy.defaults.%simage", inside.ptr))) == NULL);
        EXPECT_STR(at(PATH("policy.rules.%scompute.gpuDevicesRequest.max", inside.ptr)), STR("4"));
        EXPECT_I64(as(root, "GET", PATH("/api/v2/policy?projectId=%s", TEAM_A), NULL), 200);
        EXPECT_STR(at("policies[0].type"), str_from_c(kinds[i].type));
        EXPECT_STR(at("policies[0].status.clusters[0].status"), STR("Ready"));
        EXPECT_I64(as(dev, "DELETE", own, NULL), 204);
        EXPECT_I64(as(dev, "DELETE", own, NULL), 404);
        EXPECT_I64(as(dev, "PATCH", path, "{" META(TEAM_A) ",\"policy\":{}}"), 404);
        EXPECT_I64(as(root, "GET", "/api/v2/policy", NULL), 200);
        EXPECT(doc_at(answer(), STR("policies[0]")) == NULL);
    }
    test_row(NULL);
    server_stop();
}

TEST(only_looked_at)
{
    start();
    EXPECT_I64(as(root, "PUT", P "trainings?validateOnly=true",
                  POLICY(TENANT, "{}", "{\"image\":{\"required\":true}}")),
               200);
    EXPECT_STR(at("effective.rules.image.sourceOfRule.scope"), STR("tenant"));
    EXPECT_STR(at("meta.createdBy"), STR("root@x"));
    EXPECT_I64(as(root, "GET", "/api/v2/policy", NULL), 200);
    EXPECT(doc_at(answer(), STR("policies[0]")) == NULL);
    EXPECT_I64(as(root, "PUT", P "trainings?validateOnly=true",
                  POLICY(TENANT, "{}", "{\"backoffLimit\":{\"min\":2,\"max\":1}}")),
               400);
    server_stop();
}

TEST(what_holds_and_from_where)
{
    start();
    EXPECT_I64(
        as(root, "PUT", P "trainings",
           POLICY(TENANT, "{\"image\":\"t\",\"workingDir\":\"/t\"}",
                  "{\"compute\":{\"gpuDevicesRequest\":{\"max\":4}},\"image\":"
                  "{\"required\":true},\"nodePools\":{\"options\":[{\"value\":\"default\"}]}}")),
        200);
    EXPECT_I64(as(dev, "PUT", P "trainings",
                  POLICY(META(TEAM_A), "{\"image\":\"a\"}",
                         "{\"compute\":{\"gpuDevicesRequest\":{\"max\":9}},\"image\":"
                         "{\"canEdit\":true},\"labels\":{\"instances\":{\"locked\":[\"x\"]},"
                         "\"attributes\":{\"value\":{\"required\":true}}}}")),
               200);
    EXPECT_I64(as(dev, "GET", P "trainings" OF_A, NULL), 200);
    EXPECT_STR(at("effective.rules.compute.gpuDevicesRequest.max"), STR("4"));
    EXPECT_STR(at("effective.rules.compute.gpuDevicesRequest.sourceOfRule.scope"), STR("tenant"));
    EXPECT_STR(at("effective.rules.image.sourceOfRule.scope"), STR("project"));
    EXPECT_STR(at("effective.rules.labels.instances.sourceOfRule.scope"), STR("project"));
    EXPECT_STR(at("effective.rules.labels.attributes.value.sourceOfRule.projectId"), STR(TEAM_A));
    EXPECT_STR(at("effective.rules.nodePools.options[0].value"), STR("default"));
    EXPECT_STR(at("effective.defaults.image"), STR("a"));
    EXPECT_STR(at("effective.defaults.workingDir"), STR("/t"));
    EXPECT_STR(at("policy.rules.compute.gpuDevicesRequest.max"), STR("9"));
    EXPECT_I64(as(root, "GET", P "trainings" OF_B, NULL), 200);
    EXPECT_STR(at("effective.defaults.image"), STR("t"));
    EXPECT(doc_at(answer(), STR("meta")) == NULL);
    /* The system's is the weakest. */
    EXPECT_I64(as(dev, "PUT", P "trainings",
                  POLICY(META(TEAM_A), "{}",
                         "{\"security\":{\"privileged\":{\"canEdit\":true}},"
                         "\"terminationGracePeriodSeconds\":{\"max\":900}}")),
               200);
    EXPECT_STR(at("effective.rules.security.privileged.sourceOfRule.scope"), STR("project"));
    EXPECT_STR(at("effective.rules.terminationGracePeriodSeconds.max"), STR("900"));
    server_stop();
}

TEST(what_is_wrong_is_refused)
{
    static const struct {
        const char *name, *defaults, *rules;
        long code;
        const char *field;
    } wrong[] = {
        {"an unknown field",              "{}",                                      "{\"images\":{\"required\":true}}",                            400, "policy.rules.images"         },
        {"an unknown field of a section", "{\"compute\":{\"gpus\":1}}",              "{}",                                                          400,
         "policy.defaults.compute.gpus"                                                                                                                                                },
        {"a rule of another type",        "{}",                                      "{\"image\":{\"max\":1}}",                                     400, "policy.rules.image.max"      },
        {"a wrong value",                 "{\"backoffLimit\":\"many\"}",             "{}",                                                          400, "policy.defaults.backoffLimit"},
        {"a word there is not",           "{}",                                      "{\"restartPolicy\":{\"options\":[{\"value\":\"No\"}]}}",      400,
         "policy.rules.restartPolicy.options[0].value"                                                                                                                                 },
        {"min above max",                 "{}",                                      "{\"compute\":{\"gpuDevicesRequest\":{\"min\":5,\"max\":4}}}", 400,
         "policy.rules.compute.gpuDevicesRequest.min"                                                                                                                                  },
        {"no amount",                     "{}",                                      "{\"labels\":{\"attributes\":{\"value\":{\"min\":[]}}}}",      400,
         "policy.rules.labels.attributes.value.min"                                                                                                                                    },
        {"a default out of range",        "{\"compute\":{\"gpuDevicesRequest\":8}}",
         "{\"compute\":{\"gpuDevicesRequest\":{\"max\":4}}}",                                                                                       400,
         "policy.defaults.compute.gpuDevicesRequest"                                                                                                                                   },
        {"above the tenant's maximum",    "{\"compute\":{\"cpuCoreRequest\":9}}",    "{}",                                                          400,
         "policy.defaults.compute.cpuCoreRequest"                                                                                                                                      },
        {"fixed by the tenant",           "{\"category\":\"mine\"}",                 "{}",                                                          400, "policy.defaults.category"    },
        {"required and not editable",     "{}",                                      "{\"image\":{\"required\":true,\"canEdit\":false}}",
         400,                                                                                                                                            "policy.rules.image"          },
        {"from nowhere",                  "{}",
         "{\"compute\":{\"cpuCoreLimit\":{\"defaultFrom\":{\"field\":\"x\"}}}}",                                                                    400,
         "policy.rules.compute.cpuCoreLimit.defaultFrom.field"                                                                                                                         },
    };
    start();
    EXPECT_I64(as(root, "PUT", P "trainings",
                  POLICY(TENANT, "{\"category\":\"ours\"}",
                         "{\"compute\":{\"cpuCoreRequest\":{\"max\":8}},\"category\":{\"canEdit\":"
                         "false}}")),
               200);
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        test_row(wrong[i].name);
        const char *body = arena_printf(&server.arena, POLICY(META(TEAM_A), "%s", "%s"),
                                        wrong[i].defaults, wrong[i].rules)
                               .ptr;
        EXPECT_I64(as(dev, "PUT", P "trainings", body), wrong[i].code);
        EXPECT_STR(at("field"), str_from_c(wrong[i].field));
    }
    test_row(NULL);
    EXPECT_I64(as(dev, "PUT", P "trainings", "{" META("99") ",\"policy\":{}}"), 404);
    EXPECT_STR(at("field"), STR("meta.projectId"));
    EXPECT_I64(as(root, "PUT", P "trainings",
                  "{\"meta\":{\"name\":\"s\",\"scope\":\"system\"},\"policy\":{}}"),
               400);
    EXPECT_STR(at("field"), STR("meta.scope"));
    EXPECT_I64(as(root, "GET", P "trainings", NULL), 400);
    EXPECT_I64(as(root, "GET", P "nim-services?scope=tenant", NULL), 501);
    server_stop();
}

#define IMPOSED "{" META(TEAM_A) ",\"policy\":{\"imposedAssets\":[\"%s\"]}}"

TEST(what_is_imposed_is_data_of_the_scope)
{
    start();
    EXPECT_I64(
        as(root, "POST", "/api/v1/asset/datasource/host-path",
           "{\"meta\":{\"name\":\"srv\",\"scope\":\"tenant\"},\"spec\":{\"path\":\"/srv\"}}"),
        202);
    const char *data = keep("meta.id");
    EXPECT_I64(as(root, "POST", "/api/v1/asset/datasource/host-path",
                  "{\"meta\":{\"name\":\"b\",\"scope\":\"project\",\"projectId\":" TEAM_B
                  "},\"spec\":{\"path\":\"/b\"}}"),
               202);
    const char *theirs = keep("meta.id");
    EXPECT_I64(as(root, "POST", "/api/v1/asset/compute",
                  "{\"meta\":{\"name\":\"c\",\"scope\":\"tenant\"},\"spec\":{}}"),
               202);
    const char *compute = keep("meta.id");
    EXPECT_I64(as(root, "PUT", P "workspaces", PATH(IMPOSED, theirs)), 404);
    EXPECT_STR(at("field"), STR("policy.imposedAssets"));
    EXPECT_I64(as(root, "PUT", P "workspaces", PATH(IMPOSED, compute)), 404);
    EXPECT_I64(as(root, "PUT", P "workspaces", PATH(IMPOSED, data)), 200);
    EXPECT_STR(at("effective.imposedAssets[0]"), str_from_c(data));
    EXPECT_I64(as(root, "PUT", P "distributed",
                  PATH("{" TENANT ",\"policy\":{\"imposedAssets\":{\"master\":[\"%s\"]}}}", data)),
               200);
    EXPECT_STR(at("policy.imposedAssets.master[0]"), str_from_c(data));
    EXPECT(doc_at(answer(), STR("policy.imposedAssets.worker[0]")) == NULL);
    EXPECT_I64(as(root, "DELETE", PATH("/api/v1/asset/datasource/host-path/%s", data), NULL), 409);
    server_stop();
}

TEST_MAIN()

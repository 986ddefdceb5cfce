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

/* ---- what is submitted ---- */

static const char *cluster;

static void start_with(const char *kind, const char *policy)
{
    start();
    EXPECT_I64(as(root, "GET", "/api/v1/clusters", NULL), 200);
    cluster = keep("[0].uuid");
    EXPECT_I64(as(root, "PUT", PATH(P "%s", kind), policy), 200);
}

static const char *body_of(const char *name, const char *spec)
{
    return arena_printf(&server.arena,
                        "{\"name\":\"%s\",\"projectId\":\"" TEAM_A
                        "\",\"clusterId\":\"%s\",\"spec\":%s}",
                        name, cluster, spec)
        .ptr;
}

static long submit(const char *kind, const char *name, const char *spec)
{
    return as(dev, "POST", PATH("/api/v1/workloads/%s", kind), body_of(name, spec));
}

static long submit_ours(const char *kind, const char *name, const char *spec)
{
    return as(dev, "POST", "/api/weir/v1/workloads",
              arena_printf(&server.arena,
                           "{\"name\":\"%s\",\"kind\":\"%s\",\"project\":\"team-a\",\"spec\":%s}",
                           name, kind, spec)
                  .ptr);
}

/* What an organisation wants: few devices for one workload, its own pools, a label that says who pays, no
 * high priorities, nothing privileged. */
#define WISHES                                                                                     \
    "{" TENANT ",\"policy\":{\"defaults\":{\"labels\":{\"instances\":[{\"name\":\"team\"}]},"      \
    "\"priorityClass\":\"low\",\"compute\":{\"gpuDevicesRequest\":1}},\"rules\":{\"compute\":{"    \
    "\"gpuDevicesRequest\":{\"max\":2}},\"parallelism\":{\"max\":3},\"nodePools\":{\"options\":["  \
    "{\"value\":\"default\"}]},\"labels\":{\"instances\":{\"locked\":[\"team\"]},\"attributes\":{" \
    "\"value\":{\"required\":true}}},\"priorityClass\":{\"options\":[{\"value\":\"low\"},"         \
    "{\"value\":\"medium\"}]}}}}"

TEST(every_wish_holds_on_both_faces)
{
    static const struct {
        const char *name, *theirs, *ours, *field, *rule, *our_field; /* field NULL: allowed */
    } wishes[] = {
        {"as it should be",       "\"labels\":[{\"name\":\"team\",\"value\":\"x\"}]",
         "\"labels\":{\"team\":\"x\"}",                                                                                                                      NULL,                            NULL,       NULL               },
        {"too many devices",
         "\"labels\":[{\"name\":\"team\",\"value\":\"x\"}],\"compute\":{\"gpuDevicesRequest\":8}",      "\"labels\":{\"team\":\"x\"},\"gpu_devices\":8",     "compute.gpuDevicesRequest",     "max",
         "spec.gpu_devices"                                                                                                                                                                                                  },
        {"too many at once",      "\"labels\":[{\"name\":\"team\",\"value\":\"x\"}],\"parallelism\":4",
         "\"labels\":{\"team\":\"x\"},\"pods\":4",                                                                                                           "parallelism",                   "max",      "spec.parallel_max"},
        {"another pool",
         "\"labels\":[{\"name\":\"team\",\"value\":\"x\"}],\"nodePools\":[\"other\"]",                  "\"labels\":{\"team\":\"x\"},\"pools\":[\"other\"]", "nodePools",                     "options",  "spec.pools"       },
        {"no label",              "\"args\":\"\"",                                                      "\"node_type\":\"\"",                                "labels[team].value",            "required",
         "spec.labels"                                                                                                                                                                                                       },
        {"a high priority",
         "\"labels\":[{\"name\":\"team\",\"value\":\"x\"}],\"priorityClass\":\"high\"",                 "\"labels\":{\"team\":\"x\"},\"priority\":\"high\"", "priorityClass",                 "options",
         "spec.priority"                                                                                                                                                                                                     },
        {"a priority in numbers",
         "\"labels\":[{\"name\":\"team\",\"value\":\"x\"}],\"priorityClass\":\"very-high\"",            "\"labels\":{\"team\":\"x\"},\"priority\":125",      "priorityClass",                 "options",
         "spec.priority"                                                                                                                                                                                                     },
        {"a long grace",
         "\"labels\":[{\"name\":\"team\",\"value\":\"x\"}],\"terminationGracePeriodSeconds\":301",      "\"labels\":{\"team\":\"x\"},\"grace_ms\":300001",   "terminationGracePeriodSeconds", "max",
         "spec.grace_ms"                                                                                                                                                                                                     },
    };
    start_with("trainings", WISHES);
    for (size_t i = 0; i < COUNT_OF(wishes); i++) {
        test_row(wishes[i].name);
        bool allowed = wishes[i].field == NULL;
        const char *spec = PATH("{\"command\":\"sleep 9\",%s}", wishes[i].theirs);
        EXPECT_I64(submit("trainings", "theirs", spec), allowed ? 202 : 400);
        if (allowed) {
            EXPECT_STR(at("spec.priorityClass"), STR("low"));
            EXPECT_STR(at("spec.compute.gpuDevicesRequest"), STR("1"));
        } else {
            EXPECT_STR(at("message"), STR("Workload does not comply with the policy"));
            EXPECT_STR(at("details"), STR("1 issue"));
            EXPECT_STR(at("complianceIssues[0].field"), str_from_c(wishes[i].field));
            EXPECT_STR(at("complianceIssues[0].rule"), str_from_c(wishes[i].rule));
            EXPECT(doc_at(answer(), STR("complianceIssues[1]")) == NULL);
        }
        spec = PATH("{\"command\":[\"sleep\",\"9\"],%s}", wishes[i].ours);
        EXPECT_I64(submit_ours("training", "ours", spec), allowed ? 201 : 400);
        if (allowed) {
            EXPECT_STR(at("priority"), STR("low"));
            EXPECT_STR(at("gpu_devices"), STR("1"));
        } else {
            EXPECT_STR(at("field"), str_from_c(wishes[i].our_field));
            EXPECT_STR(at("complianceIssues[0].field"), str_from_c(wishes[i].field));
        }
    }
    test_row(NULL);
    /* Another kind is free of it, but not of weir's own. */
    EXPECT_I64(submit("workspaces", "free", "{\"command\":\"sleep 9\",\"priorityClass\":\"high\"}"),
               202);
    EXPECT_I64(submit("workspaces", "mighty",
                      "{\"command\":\"sleep 9\",\"security\":{\"privileged\":true}}"),
               400);
    EXPECT_STR(at("complianceIssues[0].field"), STR("security.privileged"));
    EXPECT_STR(at("complianceIssues[0].rule"), STR("canEdit"));
    EXPECT_STR(at("hint"), STR("a rule of weir itself; the policy of the project shows what holds "
                               "there"));
    server_stop();
}

TEST(all_that_is_wrong_is_told)
{
    start_with("trainings", WISHES);
    EXPECT_I64(submit("trainings", "a",
                      "{\"command\":\"sleep 9\",\"compute\":{\"gpuDevicesRequest\":9},"
                      "\"priorityClass\":\"high\"}"),
               400);
    EXPECT_STR(at("details"), STR("3 issues"));
    EXPECT(doc_at(answer(), STR("complianceIssues[2].details")) != NULL);
    server_stop();
}

TEST(pools_are_the_allowed_ones_where_none_is_named)
{
    start_with("trainings",
               POLICY(TENANT, "{}", "{\"nodePools\":{\"options\":[{\"value\":\"gone\"}]}}"));
    EXPECT_I64(submit("trainings", "a", "{\"command\":\"sleep 9\"}"), 400);
    EXPECT_STR(at("complianceIssues[0].field"), STR("nodePools"));
    EXPECT_I64(as(root, "PUT", P "trainings",
                  POLICY(TENANT, "{}",
                         "{\"nodePools\":{\"options\":[{\"value\":\"gone\"},{\"value\":\"default\"}"
                         "]}}")),
               200);
    EXPECT_I64(submit("trainings", "a", "{\"command\":\"sleep 9\"}"), 202);
    EXPECT_STR(at("spec.nodePools[0]"), STR("default"));
    server_stop();
}

/* What follows from the rest is held to the rules as if it had been said. */
TEST(what_is_not_said_is_held_to_the_rules_too)
{
    start_with("workspaces",
               POLICY(TENANT,
                      "{\"environmentVariables\":{\"instances\":[{\"name\":\"P\","
                      "\"value\":\"1\"}]}}",
                      "{\"preemptibility\":{\"options\":[{\"value\":\"preemptible\"}]},"
                      "\"image\":{\"options\":[{\"value\":\"host\"},{\"value\":\"a:1\"}]},"
                      "\"compute\":{\"gpuDevicesRequest\":{\"max\":0}}}"));
    EXPECT_I64(submit("workspaces", "a", "{\"command\":\"sleep 9\"}"), 400);
    EXPECT_STR(at("complianceIssues[0].field"), STR("preemptibility"));
    EXPECT_I64(submit("workspaces", "a", "{\"command\":\"sleep 9\",\"priorityClass\":\"low\"}"),
               202);
    EXPECT_I64(submit("workspaces", "b",
                      "{\"command\":\"sleep 9\",\"priorityClass\":\"low\",\"compute\":"
                      "{\"gpuPortionRequest\":0.5}}"),
               400);
    EXPECT_STR(at("complianceIssues[0].field"), STR("compute.gpuDevicesRequest"));
    EXPECT_I64(submit_ours("workspace", "c",
                           "{\"command\":[\"sleep\",\"9\"],\"priority\":\"low\","
                           "\"gpu_portion\":0.5}"),
               400);
    EXPECT_STR(at("field"), STR("spec.gpu_devices"));
    EXPECT_I64(submit_ours("workspace", "c",
                           "{\"command\":[\"sleep\",\"9\"],\"priority\":\"low\",\"env\":"
                           "{\"Q\":\"2\"}}"),
               201);
    EXPECT_STR(at("env.P"), STR("1"));
    EXPECT_STR(at("env.Q"), STR("2"));
    EXPECT_I64(as(root, "PUT", P "workspaces",
                  POLICY(TENANT,
                         "{\"environmentVariables\":{\"instances\":[{\"name\":\"P\","
                         "\"configMap\":{\"name\":\"m\",\"key\":\"k\"}}]}}",
                         "{}")),
               200);
    EXPECT_I64(submit_ours("workspace", "d", "{\"command\":[\"sleep\",\"9\"]}"), 501);
    server_stop();
}

/* Its answer was lost, and the policy has changed since. */
TEST(the_same_request_again_is_the_same)
{
    static const char ours[] =
        "{\"name\":\"k\",\"kind\":\"training\",\"project\":\"team-a\",\"spec\":{\"command\":"
        "[\"sleep\",\"9\"],\"gpu_devices\":1}}";
    struct ask keyed = {.method = "POST",
                        .path = "/api/weir/v1/workloads",
                        .body = ours,
                        .tcp = true,
                        .key = "once"};
    start_with("trainings", POLICY(TENANT, "{\"workingDir\":\"/tmp\"}", "{}"));
    keyed.token = dev;
    const char *spec = "{\"command\":\"sleep 9\",\"compute\":{\"gpuDevicesRequest\":1}}";
    EXPECT_I64(submit("trainings", "a", spec), 202);
    const char *id = keep("workloadId");
    EXPECT_I64(ask(&keyed), 201);
    const char *our_id = keep("id");
    for (int i = 0; i < 2; i++) {
        EXPECT_I64(
            as(root, "PUT", P "trainings",
               i == 0 ? POLICY(TENANT, "{\"workingDir\":\"/\"}", "{}")
                      : POLICY(TENANT, "{}", "{\"compute\":{\"gpuDevicesRequest\":{\"max\":0}}}")),
            200);
        EXPECT_I64(submit("trainings", "a", spec), 202);
        EXPECT_STR(at("workloadId"), str_from_c(id));
        EXPECT_I64(ask(&keyed), 201);
        EXPECT_STR(at("id"), str_from_c(our_id));
    }
    EXPECT_I64(submit("trainings", "a", "{\"command\":\"sleep 8\"}"), 409);
    EXPECT_I64(submit("trainings", "b", spec), 400);
    server_stop();
}

TEST(an_update_begins_with_what_was_given)
{
    start_with("inferences",
               POLICY(TENANT, "{\"workingDir\":\"/tmp\"}", "{\"workingDir\":{\"canEdit\":false}}"));
    EXPECT_I64(submit("inferences", "a", "{\"command\":\"sleep 9\"}"), 202);
    EXPECT_STR(at("spec.workingDir"), STR("/tmp"));
    const char *one = PATH("/api/v1/workloads/inferences/%s", keep("workloadId"));
    EXPECT_I64(as(root, "PUT", P "inferences",
                  POLICY(TENANT, "{\"workingDir\":\"/\"}",
                         "{\"workingDir\":{\"canEdit\":false},\"args\":{\"blocked\":true}}")),
               200);
    EXPECT_I64(as(dev, "PATCH", one, "{\"spec\":{\"args\":\"x\"}}"), 400);
    EXPECT_STR(at("complianceIssues[0].rule"), STR("blocked"));
    EXPECT_I64(as(dev, "PATCH", one, "{\"spec\":{\"command\":\"sleep 8\"}}"), 202);
    EXPECT_STR(at("spec.workingDir"), STR("/"));
    EXPECT_STR(at("spec.command"), STR("sleep 8"));
    server_stop();
}

TEST(workers_and_master_have_their_own)
{
    start_with("distributed",
               "{" TENANT ",\"policy\":{\"defaults\":{\"worker\":{\"workingDir\":\"/tmp\"}},"
               "\"rules\":{\"worker\":{\"numWorkers\":{\"max\":2},\"compute\":{"
               "\"gpuDevicesRequest\":{\"max\":2}}},\"master\":{\"compute\":{"
               "\"gpuDevicesRequest\":{\"max\":1}}}}}}");
#define SPEC(workers, gpus)                                                         \
    "{\"command\":\"sleep 9\",\"numWorkers\":" workers ",\"distributedFramework\":" \
    "\"PyTorch\",\"compute\":{\"gpuDevicesRequest\":" gpus "}}"
    EXPECT_I64(submit("distributed", "a", SPEC("3", "1")), 400);
    EXPECT_STR(at("complianceIssues[0].field"), STR("numWorkers"));
    EXPECT_I64(submit("distributed", "a", SPEC("2", "2")), 400); /* the master is as they are */
    EXPECT_STR(at("complianceIssues[0].field"), STR("compute.gpuDevicesRequest"));
    EXPECT_I64(submit("distributed", "a", SPEC("2", "1")), 202);
    EXPECT_STR(at("spec.workingDir"), STR("/tmp"));
    EXPECT_I64(
        as(dev, "POST", "/api/v1/workloads/distributed",
           arena_printf(&server.arena,
                        "{\"name\":\"b\",\"projectId\":\"" TEAM_A
                        "\",\"clusterId\":\"%s\",\"spec\":" SPEC(
                            "1", "2") ",\"masterSpec\":{\"compute\":{\"gpuDevicesRequest\":1}}}",
                        cluster)
               .ptr),
        202);
    EXPECT_I64(submit_ours("distributed", "c",
                           "{\"command\":[\"sleep\",\"9\"],\"pods\":4,\"framework\":\"pytorch\"}"),
               400);
    EXPECT_STR(at("field"), STR("spec.pods"));
    server_stop();
}

TEST(what_a_template_says_is_held_to_it_too)
{
    start_with("trainings",
               POLICY(TENANT, "{\"workingDir\":\"/tmp\"}", "{\"backoffLimit\":{\"max\":2}}"));
    EXPECT_I64(as(root, "POST", "/api/v1/workload-templates/trainings",
                  "{\"meta\":{\"name\":\"t\",\"scopeType\":\"tenant\",\"scopeId\":\"1\"},\"spec\":"
                  "{\"command\":\"sleep 9\",\"backoffLimit\":3}}"),
               202);
    const char *body = arena_printf(&server.arena,
                                    "{\"name\":\"a\",\"projectId\":\"" TEAM_A
                                    "\",\"clusterId\":\"%s\",\"templateId\":\"%s\"}",
                                    cluster, keep("meta.id"))
                           .ptr;
    EXPECT_I64(as(dev, "POST", "/api/v1/workloads/trainings", body), 400);
    EXPECT_STR(at("complianceIssues[0].field"), STR("backoffLimit"));
    server_stop();
}

TEST(imposed_data_comes_to_every_workload)
{
    start_with("trainings", "{" TENANT ",\"policy\":{}}");
    EXPECT_I64(
        as(root, "POST", "/api/v1/asset/datasource/host-path",
           "{\"meta\":{\"name\":\"srv\",\"scope\":\"tenant\"},\"spec\":{\"path\":\"/srv\"}}"),
        202);
    EXPECT_I64(as(root, "PUT", P "trainings",
                  PATH("{" TENANT ",\"policy\":{\"imposedAssets\":[\"%s\"],\"rules\":{\"storage\":"
                       "{\"hostPath\":{\"instances\":{\"canAdd\":false}}}}}}",
                       keep("meta.id"))),
               200);
    EXPECT_I64(submit("trainings", "a", "{\"command\":\"sleep 9\"}"), 202);
    EXPECT_STR(at("spec.storage.hostPath[0].path"), STR("/srv"));
    EXPECT_I64(
        submit("trainings", "b",
               "{\"command\":\"sleep 9\",\"storage\":{\"hostPath\":[{\"name\":\"x\",\"path\":"
               "\"/x\"}]}}"),
        400);
    EXPECT_STR(at("complianceIssues[0].rule"), STR("canAdd"));
    EXPECT_I64(submit_ours("training", "c", "{\"command\":[\"sleep\",\"9\"]}"), 201);
    server_stop();
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
// Assets through Run:ai's API: made, read, changed, deleted, each seen from those who may and those who
// may not; secrets go in and never come out.
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
#define TEAM_A "4"
#define TEAM_B "5"
#define META(name, project) \
    "\"meta\":{\"name\":\"" name "\",\"scope\":\"project\",\"projectId\":" project "}"
#define TENANT_META(name) "\"meta\":{\"name\":\"" name "\",\"scope\":\"tenant\"}"
#define HIDDEN            "kept-to-itself-4711"

/* Each kind: its path, a spec, and a member that is read back. */
static const struct row {
    const char *path, *spec, *member, *value;
    long gone;
} rows[] = {
    {"compute",                     "{\"gpuDevicesRequest\":1,\"cpuCoreRequest\":0.5}",               "spec.cpuCoreRequest", "0.5",
     202                                                                                                                                     },
    {"environment",                 "{\"image\":\"host\",\"command\":\"sleep 1\"}",                   "spec.command",        "sleep 1",   202},
    {"datasource/git",              "{\"repository\":\"https://git.x/a\",\"path\":\"/src\"}",         "spec.path",
     "/src",                                                                                                                              202},
    {"datasource/s3",               "{\"bucket\":\"b\",\"path\":\"/data\"}",                          "spec.bucket",         "b",         202},
    {"datasource/nfs",              "{\"server\":\"n\",\"path\":\"/e\",\"mountPath\":\"/m\"}",        "spec.server",
     "n",                                                                                                                                 202},
    {"datasource/pvc",              "{\"claimName\":\"c\",\"path\":\"/p\"}",                          "spec.claimName",      "c",         202},
    {"datasource/host-path",        "{\"path\":\"/srv\",\"mountPath\":\"/srv\"}",                     "spec.path",           "/srv",
     202                                                                                                                                     },
    {"datasource/config-map",       "{\"configMap\":\"c\",\"mountPath\":\"/c\"}",                     "spec.configMap",      "c",
     202                                                                                                                                     },
    {"datasource/secrets",          "{\"mountPath\":\"/s\"}",                                         "spec.mountPath",      "/s",        202},
    {"credentials/access-key",      "{\"accessKeyId\":\"AK\",\"secretAccessKey\":\"" HIDDEN "\"}",
     "spec.accessKeyId",                                                                                                     "AK",        202},
    {"credentials/password",        "{\"user\":\"u\",\"password\":\"" HIDDEN "\"}",                   "spec.user",           "u",         202},
    {"credentials/docker-registry", "{\"user\":\"u\",\"url\":\"r.x\",\"password\":\"" HIDDEN "\"}",
     "spec.url",                                                                                                             "r.x",       202},
    {"credentials/generic-secret",  "{\"keyValuePairs\":[{\"key\":\"K\",\"value\":\"" HIDDEN "\"}]}",
     "spec.keyValuePairs[0].key",                                                                                            "K",         204},
    {"credentials/ngc-api-key",     "{\"ngc_api_key\":\"" HIDDEN "\"}",                               "meta.kind",           "ngcApiKey", 204},
};

static bool has_secret(const struct buf *bytes)
{
    return memmem(bytes->ptr, bytes->len, HIDDEN, sizeof HIDDEN - 1) != NULL;
}

TEST(every_kind_is_made_read_changed_and_deleted)
{
    start();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct row *r = &rows[i];
        const char *path = PATH("/api/v1/asset/%s", r->path);
        EXPECT_I64(as(root, "POST", path, PATH("{" META("one", TEAM_A) ",\"spec\":%s}", r->spec)),
                   202);
        EXPECT(!has_secret(&server.body));
        const char *id = keep("meta.id");
        EXPECT_STR(at("meta.createdBy"), STR("root@x"));
        EXPECT_STR(at("meta.projectName"), STR("team-a"));
        const char *one = arena_printf(&server.arena, "%s/%s", path, id).ptr;
        EXPECT_I64(as(root, "GET", one, NULL), 200);
        EXPECT_STR(at(r->member), str_from_c(r->value));
        EXPECT(!has_secret(&server.body));
        /* again at once is the same; from the same name with another spec it is a conflict */
        EXPECT_I64(as(root, "POST", path, PATH("{" META("one", TEAM_A) ",\"spec\":%s}", r->spec)),
                   202);
        EXPECT_STR(at("meta.id"), str_from_c(id));
        /* whom it is not for */
        EXPECT_I64(
            as(root, "POST", path, PATH("{" META("theirs", TEAM_B) ",\"spec\":%s}", r->spec)), 202);
        const char *theirs = arena_printf(&server.arena, "%s/%s", path, keep("meta.id")).ptr;
        EXPECT_I64(as(dev, "GET", one, NULL), 200);
        EXPECT_I64(as(dev, "GET", theirs, NULL), 404);
        EXPECT_I64(as(dev, "DELETE", theirs, NULL), 404);
        EXPECT_I64(as(dev, "PUT", theirs, "{\"meta\":{\"name\":\"x\"}}"), 404);
        EXPECT_I64(as(dev, "GET", path, NULL), 200);
        EXPECT_STR(at("entries[0].meta.name"), STR("one"));
        EXPECT(doc_at(answer(), STR("entries[1]")) == NULL);
        EXPECT_I64(as(root, "GET", PATH("%s?projectId=" TEAM_B, path), NULL), 200);
        EXPECT_STR(at("entries[0].meta.name"), STR("theirs"));
        EXPECT_I64(as(root, "PUT", one, "{\"meta\":{\"name\":\"two\",\"description\":\"d\"}}"),
                   202);
        EXPECT_STR(at("meta.name"), STR("two"));
        EXPECT_STR(at("meta.updateCount"), STR("1"));
        EXPECT_STR(at(r->member), str_from_c(r->value));
        EXPECT_I64(as(root, "DELETE", one, NULL), r->gone);
        EXPECT_I64(as(root, "GET", one, NULL), 404);
    }
    EXPECT_I64(as(root, "GET", "/api/v1/asset/datasource", NULL), 200);
    EXPECT_STR(at("entries[6].meta.kind"), STR("secret-volume"));
    EXPECT_I64(as(root, "GET", "/api/v1/asset/credentials", NULL), 200);
    EXPECT_STR(at("entries[4].meta.kind"), STR("ngcApiKey"));
    EXPECT(!has_secret(&server.body));
    server_stop();
}

TEST(a_secret_is_sealed_in_the_state)
{
    start();
    EXPECT_I64(as(root, "POST", "/api/v1/asset/credentials/password",
                  "{" TENANT_META("db") ",\"spec\":{\"user\":\"u\",\"password\":\"" HIDDEN "\"}}"),
               202);
    const char *one = PATH("/api/v1/asset/credentials/password/%s", keep("meta.id"));
    const struct assets *all = &engine_state(server.world.engine)->assets;
    server_pause();
    struct str sealed = arena_str(&server.arena, all->rows[0].secrets[0].value);
    struct buf bytes;
    buf_init(&bytes, 1 << 24);
    engine_checkpoint(server.world.engine, &bytes);
    EXPECT(!has_secret(&bytes));
    buf_done(&bytes);
    EXPECT(sealed.len > sizeof HIDDEN);
    server_resume();
    /* Changing the rest leaves it; a new one takes its place. */
    EXPECT_I64(as(root, "PUT", one, "{\"meta\":{\"description\":\"d\"}}"), 202);
    server_pause();
    EXPECT_STR(all->rows[0].secrets[0].value, sealed);
    server_resume();
    EXPECT_I64(as(root, "PUT", one, "{\"spec\":{\"user\":\"u\",\"password\":\"another\"}}"), 202);
    server_pause();
    EXPECT(!str_eq(all->rows[0].secrets[0].value, sealed));
    server_resume();
    server_stop();
}

TEST(what_is_wrong_is_refused)
{
    static const struct {
        const char *path, *body;
        long code;
        const char *field;
    } wrong[] = {
        {"compute", "{" META("a", "99") ",\"spec\":{}}", 404, "meta.projectId"},
        {"compute", "{\"meta\":{\"name\":\"a\",\"scope\":\"system\"},\"spec\":{}}", 400,
         "meta.scope"},
        {"compute", "{" TENANT_META("") ",\"spec\":{}}", 400, "meta.name"},
        {"compute", "{" TENANT_META("a") ",\"spec\":{\"cpuCores\":1}}", 400, "spec.cpuCores"},
        {"credentials/password", "{" TENANT_META("a") ",\"spec\":{\"user\":\"u\"}}", 400,
         "spec.password"},
        {"credentials/password", "{" TENANT_META("a") ",\"spec\":{\"existingSecretName\":\"k\"}}",
         400, "spec.existingSecretName"},
        {"credentials/generic-secret", "{" TENANT_META("a") ",\"spec\":{}}", 400,
         "spec.keyValuePairs"},
        {"datasource/git",
         "{" TENANT_META(
             "a") ",\"spec\":{\"credentialId\":\"3f6c2a1e-7b54-4c39-9d0e-5a1f0c8e2b77\"}}",
         404, "spec.credentialId"},
    };
    start();
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        const char *path = PATH("/api/v1/asset/%s", wrong[i].path);
        EXPECT_I64(as(root, "POST", path, wrong[i].body), wrong[i].code);
        EXPECT_STR(at("field"), str_from_c(wrong[i].field));
    }
    /* Who may not where. */
    EXPECT_I64(as(dev, "POST", "/api/v1/asset/compute", "{" META("a", TEAM_B) ",\"spec\":{}}"),
               404);
    EXPECT_I64(as(dev, "POST", "/api/v1/asset/compute", "{" TENANT_META("a") ",\"spec\":{}}"), 403);
    /* An asset of another kind is not there. */
    EXPECT_I64(as(root, "POST", "/api/v1/asset/compute", "{" TENANT_META("a") ",\"spec\":{}}"),
               202);
    EXPECT_I64(as(root, "GET", PATH("/api/v1/asset/environment/%s", keep("meta.id")), NULL), 404);
    /* What is private is its maker's. */
    EXPECT_I64(
        as(root, "POST", "/api/v1/asset/credentials/generic-secret",
           "{\"meta\":{\"name\":\"p\",\"scope\":\"project\",\"projectId\":" TEAM_A
           ",\"private\":true},\"spec\":{\"keyValuePairs\":[{\"key\":\"k\",\"value\":\"v\"}]}}"),
        202);
    const char *one = PATH("/api/v1/asset/credentials/generic-secret/%s", keep("meta.id"));
    EXPECT_I64(as(root, "GET", one, NULL), 200);
    EXPECT_I64(as(dev, "GET", one, NULL), 404);
    server_stop();
}

static const char *make(const char *path, const char *body)
{
    EXPECT_I64(as(root, "POST", path, body), 202);
    return keep("meta.id");
}

#define SUBMIT(name, project, rest) \
    "{\"name\":\"" name "\",\"projectId\":\"" project "\",\"clusterId\":\"%s\"," rest "}"
#define TRAININGS "/api/v1/workloads/trainings"
#define ENV_ID    "\"assets\":{\"environment\":\"%s\"}"

TEST(assets_are_used_in_a_submit)
{
    start();
    EXPECT_I64(as(root, "GET", "/api/v1/clusters", NULL), 200);
    const char *cluster = keep("[0].uuid");
    const char *env = make(
        "/api/v1/asset/environment",
        "{" META(
            "env",
            TEAM_A) ",\"spec\":{\"image\":\"host\",\"command\":\"sleep 9\","
                    "\"runAsUid\":1,\"environmentVariables\":[{\"name\":\"A\",\"value\":\"1\"},"
                    "{\"name\":\"B\",\"value\":\"2\"}]}}");
    const char *cpu = make(
        "/api/v1/asset/compute",
        "{" TENANT_META("cpu") ",\"spec\":{\"cpuCoreRequest\":0.3,\"cpuMemoryRequest\":\"20M\"}}");
    const char *dir = make(
        "/api/v1/asset/datasource/host-path",
        "{" TENANT_META("dir") ",\"spec\":{\"path\":\"/srv\",\"mountPath\":\"/srv\"}}");
    const char *body =
        arena_printf(&server.arena,
                     SUBMIT("one", TEAM_A,
                            "\"assets\":{\"environment\":\"%s\",\"compute\":\"%s\",\"datasources\":"
                            "[{\"id\":\"%s\"}]},\"spec\":{\"compute\":{\"cpuCoreRequest\":0.2},"
                            "\"environmentVariables\":[{\"name\":\"B\",\"value\":\"3\"}]}"),
                     cluster, env, cpu, dir)
            .ptr;
    EXPECT_I64(as(dev, "POST", TRAININGS, body), 202);
    EXPECT_STR(at("spec.command"), STR("sleep 9"));
    EXPECT_STR(at("spec.security.runAsUid"), STR("1"));
    EXPECT_STR(at("spec.compute.cpuCoreRequest"), STR("0.2"));
    EXPECT_STR(at("spec.compute.cpuMemoryRequest"), STR("20M"));
    EXPECT_STR(at("spec.environmentVariables[0].name"), STR("A"));
    EXPECT_STR(at("spec.environmentVariables[1].value"), STR("3"));
    EXPECT_STR(at("spec.storage.hostPath[0].path"), STR("/srv"));
    /* One of another project is not there, for who sees it neither. */
    body = arena_printf(&server.arena, SUBMIT("two", TEAM_B, ENV_ID), cluster, env).ptr;
    EXPECT_I64(as(root, "POST", TRAININGS, body), 404);
    EXPECT_STR(at("field"), STR("assets.environment"));
    env = make("/api/v1/asset/environment",
               "{" META("env", TEAM_B) ",\"spec\":{\"command\":\"sleep 9\"}}");
    body = arena_printf(&server.arena, SUBMIT("two", TEAM_A, ENV_ID), cluster, env).ptr;
    EXPECT_I64(as(dev, "POST", TRAININGS, body), 404);
    /* Of another kind neither. */
    body = arena_printf(&server.arena, SUBMIT("two", TEAM_A, ENV_ID), cluster, cpu).ptr;
    EXPECT_I64(as(dev, "POST", TRAININGS, body), 404);
    server_stop();
}

#define CREDENTIALS "/api/v1/asset/credentials"
#define VARIABLE(from) \
    "\"spec\":{\"command\":\"sleep 9\",\"environmentVariables\":[{\"name\":\"P\"," from "}]}"

TEST(secrets_of_credentials_are_variables)
{
    start();
    EXPECT_I64(as(root, "GET", "/api/v1/clusters", NULL), 200);
    const char *cluster = keep("[0].uuid");
    const char *here = make(
        CREDENTIALS "/password",
        "{" META("here", TEAM_A) ",\"spec\":{\"user\":\"u\",\"password\":\"" HIDDEN "\"}}");
    const char *there = make(
        CREDENTIALS "/password",
        "{" META("there", TEAM_B) ",\"spec\":{\"user\":\"u\",\"password\":\"" HIDDEN "\"}}");
    make(CREDENTIALS "/generic-secret",
         "{\"meta\":{\"name\":\"own\",\"scope\":\"project\",\"projectId\":" TEAM_A
         ",\"private\":true},\"spec\":{\"keyValuePairs\":[{\"key\":\"a\",\"value\":\"" HIDDEN
         "\"},{\"key\":\"b\",\"value\":\"2\"}]}}");
    const struct {
        const char *who, *from;
        long code;
    } tries[] = {
        {dev,  VARIABLE("\"secret\":{\"name\":\"here\",\"key\":\"password\"}"), 202},
        {dev,  VARIABLE("\"secret\":{\"name\":\"here\"}"),                      202},
        {root, VARIABLE("\"userCredential\":{\"name\":\"own\",\"key\":\"b\"}"), 202},
        /* of what is not for this project, not one's own, or not there */
        {root, VARIABLE("\"secret\":{\"name\":\"there\"}"),                     400},
        {dev,  VARIABLE("\"userCredential\":{\"name\":\"own\",\"key\":\"b\"}"), 400},
        {dev,  VARIABLE("\"secret\":{\"name\":\"own\",\"key\":\"b\"}"),         400},
        {dev,  VARIABLE("\"secret\":{\"name\":\"here\",\"key\":\"user\"}"),     400},
        {root, VARIABLE("\"userCredential\":{\"name\":\"own\"}"),               400},
        {root, VARIABLE("\"userCredential\":{\"name\":\"here\"}"),              400},
        {dev,  VARIABLE("\"configMap\":{\"name\":\"here\",\"key\":\"x\"}"),     400},
    };
    for (uint32_t i = 0; i < COUNT_OF(tries); i++) {
        test_row(tries[i].from);
        const char *body = arena_printf(&server.arena,
                                        "{\"name\":\"w-%u\",\"projectId\":\"" TEAM_A
                                        "\",\"clusterId\":\"%s\",%s}",
                                        i, cluster, tries[i].from)
                               .ptr;
        EXPECT_I64(as(tries[i].who, "POST", TRAININGS, body), tries[i].code);
        EXPECT(!has_secret(&server.body));
        if (tries[i].code != 202) {
            EXPECT_STR(at("field"), STR("spec.environmentVariables"));
        }
    }
    /* An environment names one by its id. */
    for (int i = 0; i < 2; i++) {
        const char *env = make(
            "/api/v1/asset/environment",
            arena_printf(
                &server.arena,
                "{\"meta\":{\"name\":\"env-%d\",\"scope\":\"project\",\"projectId\":" TEAM_A
                "},\"spec\":{\"command\":\"sleep 9\",\"environmentVariables\":[{\"name\":\"P\","
                "\"credential\":{\"assetId\":\"%s\",\"key\":\"password\"}}]}}",
                i, i == 0 ? here : there)
                .ptr);
        const char *body = arena_printf(&server.arena,
                                        "{\"name\":\"e-%d\",\"projectId\":\"" TEAM_A
                                        "\",\"clusterId\":\"%s\"," ENV_ID "}",
                                        i, cluster, env)
                               .ptr;
        EXPECT_I64(as(dev, "POST", TRAININGS, body), i == 0 ? 202 : 400);
    }
    EXPECT_I64(as(dev, "GET", PREFIX "/workloads/team-a/w-0", NULL), 200);
    EXPECT_STR(at("env_secrets.P.credential"), str_from_c(here));
    EXPECT(doc_at(answer(), STR("env.P")) == NULL);
    EXPECT_I64(as(root, "DELETE", PATH(CREDENTIALS "/password/%s", here), NULL), 409);
    EXPECT_I64(as(root, "DELETE", PATH(CREDENTIALS "/password/%s", there), NULL), 202);
    server_stop();
}

TEST(assets_are_used_by_name_through_weirs_own_path)
{
    static const struct {
        const char *more;
        long code;
        const char *field;
    } wrong[] = {
        {"\"assets\":{\"environment\":\"nothing\"}",     404, "assets.environment"},
        {"\"assets\":{\"compute\":\"env\"}",             404, "assets.compute"    },
        {"\"assets\":{\"datasources\":[\"env\"]}",       404, "assets.datasources"},
        {"\"template\":\"env\"",                         404, "template"          },
        {"\"assets\":{\"environment\":\"theirs\"}",      404, "assets.environment"},
        {"\"assets\":{\"compute\":\"cpu\"},\"spec\":{}", 400, "spec.command"      },
    };
    start();
    make("/api/v1/asset/environment",
         "{" META("env",
                  TEAM_A) ",\"spec\":{\"command\":\"sleep 9\",\"environmentVariables\":"
                          "[{\"name\":\"A\",\"value\":\"1\"},{\"name\":\"B\",\"value\":\"2\"}]}}");
    make("/api/v1/asset/environment",
         "{" META("theirs", TEAM_B) ",\"spec\":{\"command\":\"true\"}}");
    make("/api/v1/asset/compute",
         "{" TENANT_META("cpu") ",\"spec\":{\"cpuCoreRequest\":0.3,\"cpuMemoryRequest\":\"20M\"}}");
    make("/api/v1/workload-templates/trainings", "{\"meta\":{\"name\":\"nightly\",\"scopeType\":"
                                                 "\"tenant\"},\"spec\":{\"command\":\"sleep 8\","
                                                 "\"backoffLimit\":3}}");
    EXPECT_I64(as(dev, "POST", PREFIX "/workloads",
                  "{\"name\":\"one\",\"project\":\"team-a\",\"assets\":{\"environment\":\"env\","
                  "\"compute\":\"cpu\"},\"spec\":{\"cpu\":0.2,\"env\":{\"B\":\"3\"}}}"),
               201);
    EXPECT_STR(at("command[1]"), STR("9"));
    EXPECT_STR(at("cpu"), STR("0.2"));
    EXPECT_STR(at("memory"), STR("20000000"));
    EXPECT_STR(at("env.A"), STR("1"));
    EXPECT_STR(at("env.B"), STR("3"));
    EXPECT_I64(as(dev, "POST", PREFIX "/workloads",
                  "{\"name\":\"two\",\"project\":\"team-a\",\"template\":\"nightly\"}"),
               201);
    EXPECT_STR(at("command[1]"), STR("8"));
    EXPECT_STR(at("backoff_limit"), STR("3"));
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        test_row(wrong[i].more);
        EXPECT_I64(as(dev, "POST", PREFIX "/workloads",
                      PATH("{\"name\":\"three\",\"project\":\"team-a\",%s}", wrong[i].more)),
                   wrong[i].code);
        EXPECT_STR(at("field"), str_from_c(wrong[i].field));
    }
    server_stop();
}

#define TEMPLATES "/api/v1/workload-templates"
#define T_META(name, project) \
    "\"meta\":{\"name\":\"" name "\",\"scopeType\":\"project\",\"scopeId\":\"" project "\"}"

TEST(templates)
{
    start();
    EXPECT_I64(as(root, "GET", "/api/v1/clusters", NULL), 200);
    const char *cluster = keep("[0].uuid");
    const char *env = make("/api/v1/asset/environment",
                           "{" META("env", TEAM_A) ",\"spec\":{\"command\":\"sleep 9\"}}");
    const char *mine = make(
        TEMPLATES "/trainings",
        PATH("{" T_META("nightly",
                        TEAM_A) ",\"spec\":{\"backoffLimit\":3,\"labels\":[{\"name\":\"a\","
                                "\"value\":\"b\"}]}," ENV_ID "}",
             env));
    EXPECT_STR(at("combinedSpec.command"), STR("sleep 9"));
    EXPECT_STR(at("runnable.isRunnable"), STR("true"));
    EXPECT_STR(at("meta.workloadType"), STR("Training"));
    const char *one = PATH(TEMPLATES "/trainings/%s", mine);
    /* Its asset must be there for the template's scope. */
    EXPECT_I64(
        as(root, "POST", TEMPLATES "/trainings", PATH("{" T_META("x", TEAM_B) "," ENV_ID "}", env)),
        404);
    EXPECT_STR(at("field"), STR("assets.environment"));
    const char *theirs = make(TEMPLATES "/workspaces", "{" T_META("theirs", TEAM_B) "}");
    EXPECT_STR(at("runnable.isRunnable"), STR("false"));
    EXPECT_I64(as(dev, "GET", PATH(TEMPLATES "/workspaces/%s", theirs), NULL), 404);
    EXPECT_I64(as(dev, "GET", PATH(TEMPLATES "/%s", theirs), NULL), 404);
    EXPECT_I64(as(root, "GET", PATH(TEMPLATES "/trainings/%s", theirs), NULL), 404);
    EXPECT_I64(as(dev, "PATCH", PATH(TEMPLATES "/workspaces/%s", theirs), "{}"), 404);
    EXPECT_I64(as(dev, "DELETE", PATH(TEMPLATES "/workspaces/%s", theirs), NULL), 404);
    EXPECT_I64(as(dev, "GET", TEMPLATES "/count", NULL), 200);
    EXPECT_STR(at("count"), STR("1"));
    EXPECT_I64(as(root, "GET", TEMPLATES "?filterBy=runnable%3D%3Dtrue", NULL), 200);
    EXPECT_STR(at("entries[0].meta.name"), STR("nightly"));
    EXPECT(doc_at(answer(), STR("entries[1]")) == NULL);
    EXPECT_I64(as(root, "GET", TEMPLATES "?limit=1", NULL), 200);
    EXPECT_STR(at("pagination.nextOffset"), STR("1"));
    EXPECT_I64(as(dev, "GET",
                  TEMPLATES
                  "/name-availability?templateName=nightly&scopeType=project&scopeId=" TEAM_A,
                  NULL),
               409);
    EXPECT_I64(as(dev, "GET",
                  TEMPLATES "/name-availability?templateName=x&scopeType=project&scopeId=" TEAM_A,
                  NULL),
               204);
    EXPECT_I64(as(dev, "GET",
                  TEMPLATES "/name-availability?templateName=x&scopeType=project&scopeId=" TEAM_B,
                  NULL),
               404);
    /* A submit from it: its own words win. */
    const char *body = arena_printf(&server.arena,
                                    SUBMIT("one", TEAM_A,
                                           "\"templateId\":\"%s\",\"spec\":{\"backoffLimit\":1}"),
                                    cluster, mine)
                           .ptr;
    EXPECT_I64(as(dev, "POST", TRAININGS, body), 202);
    EXPECT_STR(at("spec.command"), STR("sleep 9"));
    EXPECT_STR(at("spec.backoffLimit"), STR("1"));
    EXPECT_STR(at("spec.labels[0].name"), STR("a"));
    EXPECT_I64(as(dev, "POST", "/api/v1/workloads/workspaces", body), 400);
    EXPECT_STR(at("field"), STR("templateId"));
    body = arena_printf(&server.arena, SUBMIT("two", TEAM_A, "\"templateId\":\"%s\""), cluster,
                        theirs)
               .ptr;
    EXPECT_I64(as(dev, "POST", "/api/v1/workloads/workspaces", body), 404);
    /* Changed in part, then as a whole. */
    EXPECT_I64(as(dev, "PATCH", one,
                  "{\"meta\":{\"description\":\"d\"},\"fieldsToClear\":[\"labels\"],\"spec\":{"
                  "\"backoffLimit\":5}}"),
               200);
    EXPECT_STR(at("spec.backoffLimit"), STR("5"));
    EXPECT_STR(at("spec.labels[0].name"), STR("(missing)"));
    EXPECT_STR(at("combinedSpec.command"), STR("sleep 9"));
    EXPECT_I64(as(dev, "PUT", one, "{\"meta\":{\"name\":\"weekly\"},\"spec\":{\"args\":\"true\"}}"),
               200);
    EXPECT_STR(at("meta.description"), STR("d"));
    EXPECT_STR(at("spec.backoffLimit"), STR("(missing)"));
    EXPECT_I64(as(root, "DELETE", one, NULL), 204);
    EXPECT_I64(as(root, "GET", one, NULL), 404);
    server_stop();
}

TEST(tenant_settings)
{
    start();
    EXPECT_I64(as(root, "GET", "/v1/k8s/setting", NULL), 200);
    EXPECT_STR(at("[0].key"), STR("department.use"));
    EXPECT_STR(at("[1].value"), STR("false"));
    EXPECT_I64(as(root, "PUT", "/v1/k8s/setting",
                  "{\"key\":\"workload.ownership-protection\",\"value\":true}"),
               200);
    EXPECT_I64(as(root, "GET", "/v1/k8s/setting/workload.ownership_protection", NULL), 200);
    EXPECT(answer()->boolean);
    EXPECT_I64(as(root, "PUT", "/v1/k8s/setting",
                  "{\"key\":\"workload.ownership-protection\",\"value\":\"false\"}"),
               200);
    EXPECT_I64(as(root, "GET", "/v1/k8s/setting/workload.ownership-protection", NULL), 200);
    EXPECT(!answer()->boolean);
    EXPECT_I64(as(root, "PUT", "/v1/k8s/setting", "{\"key\":\"department.use\",\"value\":false}"),
               400);
    EXPECT_I64(as(root, "PUT", "/v1/k8s/setting", "{\"key\":\"department.use\",\"value\":7}"), 400);
    EXPECT_STR(at("field"), STR("value"));
    EXPECT_I64(as(root, "GET", "/v1/k8s/setting/nothing", NULL), 404);
    EXPECT_I64(as(dev, "PUT", "/v1/k8s/setting", "{\"key\":\"department.use\",\"value\":true}"),
               403);
    server_stop();
}

TEST_MAIN()

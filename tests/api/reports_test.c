// SPDX-License-Identifier: Apache-2.0
// Reports of consumption: what was held in a period, of what one may see, kept as it was.
#include "people.h"

static const char *root, *dev;

/* dev@x administers team-a; one pod runs there with two devices, another in team-b with one. */
static int64_t began_ms;

static void prepare_use(struct world *w)
{
    struct world_answer a = {0};
    struct world_answer b = {0};
    prepare(w);
    give(w, SUBJECT_USER, "dev@x", ROLE_PROJECT_ADMINISTRATOR, project(w, "team-a"));
    world_submit_n(w, 1, "two", 2, &a);
    world_settle(w);
    REQUIRE_OK(a.outcome.status, &a.outcome.err);
    world_submit_in(w, 2, "team-b", "one", 1, &b);
    world_settle(w);
    REQUIRE_OK(b.outcome.status, &b.outcome.err);
}

static void start(void)
{
    began_ms = began_ms == 0 ? world_now_ms : began_ms;
    world_now_ms = began_ms;
    server_start_with(SERVER_TOKENS, prepare_use);
    server_pause();
    world_now_ms += 30 * 60 * 1000;
    server_resume();
    root = token_by_password("root@x");
    dev = token_by_password("dev@x");
}

static const char *keep(const char *member)
{
    return arena_cstr(&server.arena, at(member));
}

static struct str text(void)
{
    return buf_view(&server.body);
}

#define REPORTS         "/api/v1/org-unit/reports"
#define PATH(format, a) (arena_printf(&server.arena, format, a).ptr)
#define ASK(name, more) "{\"name\":\"" name "\"," PERIOD more "}"
/* A quarter of an hour in which both pods ran all the while. */
#define PERIOD "\"start\":\"2001-09-09T02:00:00Z\",\"end\":\"2001-09-09T02:15:00Z\""
#define HEADER                                                                 \
    "start,end,cluster,department,project,node_pool,gpu_hours,cpu_core_hours," \
    "memory_gib_hours,gpus_on_average\n"

static struct str file_of(const char *who, const char *id)
{
    EXPECT_I64(as(who, "GET", PATH(REPORTS "/%s/file", id), NULL), 200);
    return arena_str(&server.arena, text());
}

static bool has(struct str all, const char *part)
{
    return memmem(all.ptr, all.len, part, strlen(part)) != NULL;
}

TEST(use_is_added_up_by_what_is_asked)
{
    static const struct {
        const char *ask, *lines[3];
    } rows[] = {
        {ASK("all",         ""),
         {"\"research\",\"team-a\",\"default\",0.500,0.025,", "\"team-b\",\"default\",0.250,"}                                                   },
        {ASK("projects",    ",\"groupBy\":\"Project\""),
         {"\"team-a\",\"\",0.500,0.025,0.000,2.000\n", "\"team-b\",\"\",0.250,"}                                                                 },
        {ASK("departments", ",\"groupBy\":\"Department\""),
         {"\"research\",\"\",\"\",0.750,0.050,"}                                                                                                 },
        {ASK("pools",       ",\"groupBy\":\"Nodepool\""),                                            {"\"\",\"\",\"default\",0.750,"}            },
        {ASK("cluster",     ",\"groupBy\":\"Cluster\""),                                             {"\"\",\"\",\"\",0.750,0.050,0.000,3.000\n"}},
        {ASK("one",         ",\"groupBy\":\"Cluster\",\"filterBy\":[\"projectName==team-b\"]"),
         {"\"\",\"\",\"\",0.250,"}                                                                                                               },
        {ASK("none",        ",\"groupBy\":\"Cluster\",\"filterBy\":[\"nodepoolName==other\"]"),
         {"\"\",\"\",\"\",0.000,0.000,0.000,0.000\n"}                                                                                            },
        {ASK("above",       ",\"groupBy\":\"Cluster\",\"filterBy\":[\"departmentName==research\"]"),
         {"\"\",\"\",\"\",0.750,"}                                                                                                               },
    };
    start();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].ask);
        EXPECT_I64(as(root, "POST", REPORTS, rows[i].ask), 202);
        EXPECT_STR(at("status"), STR("Ready"));
        EXPECT_STR(at("createdBy"), STR("root@x"));
        struct str table = file_of(root, keep("id"));
        EXPECT(str_starts(table, STR(HEADER)));
        for (size_t k = 0; k < COUNT_OF(rows[i].lines) && rows[i].lines[k] != NULL; k++) {
            if (!has(table, rows[i].lines[k])) {
                EXPECT_STR(table, str_from_c(rows[i].lines[k]));
            }
        }
    }
    server_stop();
}

TEST(one_sees_ones_own_and_of_ones_own)
{
    start();
    EXPECT_I64(as(root, "POST", REPORTS, ASK("r", "")), 202);
    const char *roots = keep("id");
    /* the same name is free for another, who sees nothing of other projects in it */
    EXPECT_I64(as(dev, "POST", REPORTS, ASK("r", "")), 202);
    const char *devs = keep("id");
    EXPECT(strcmp(roots, devs) != 0);
    struct str table = file_of(dev, devs);
    EXPECT_STR(table, STR(HEADER "2001-09-09T02:00:00.000Z,2001-09-09T02:15:00.000Z,\"box\","
                                 "\"research\",\"team-a\",\"default\",0.500,0.025,0.000,2.000\n"));
    EXPECT_I64(as(dev, "GET", PATH(REPORTS "/%s", roots), NULL), 404);
    EXPECT_I64(as(dev, "GET", PATH(REPORTS "/%s/file", roots), NULL), 404);
    EXPECT_I64(as(dev, "DELETE", PATH(REPORTS "/%s", roots), NULL), 404);
    EXPECT_I64(as(dev, "GET", REPORTS "/count", NULL), 200);
    EXPECT_STR(at("count"), STR("1"));
    EXPECT_I64(as(root, "GET", REPORTS "?sortBy=createdBy", NULL), 200);
    EXPECT_STR(at("reports[0].id"), str_from_c(devs));
    EXPECT_STR(at("reports[1].id"), str_from_c(roots));
    EXPECT_I64(as(root, "DELETE", PATH(REPORTS "/%s", devs), NULL), 204);
    EXPECT_I64(as(dev, "GET", PATH(REPORTS "/%s", devs), NULL), 404);
    server_stop();
}

TEST(a_report_stays_as_it_was)
{
    start();
    EXPECT_I64(as(root, "POST", REPORTS, ASK("r", "")), 202);
    const char *id = keep("id");
    struct str before = file_of(root, id);
    server_pause();
    world_now_ms += 20 * 60 * 1000;
    server_resume();
    EXPECT_STR(file_of(root, id), before);
    EXPECT_I64(as(root, "POST", REPORTS,
                  "{\"name\":\"later\",\"start\":\"2001-09-09T02:15:00Z\","
                  "\"end\":\"2001-09-10T00:00:00Z\"}"),
               202);
    EXPECT(has(file_of(root, keep("id")), "\"team-a\",\"default\",0.7"));
    EXPECT_I64(as(root, "POST", REPORTS, ASK("r", ",\"groupBy\":\"Project\"")), 409);
    EXPECT_I64(as(root, "GET", REPORTS "/availability", NULL), 200);
    EXPECT_STR(at("isAvailable"), STR("true"));
    server_stop();
}

TEST(what_is_wrong_is_said)
{
    static const struct {
        const char *body, *field;
    } rows[] = {
        {"{\"name\":\"a\",\"start\":\"2001-09-09T02:00:00Z\",\"end\":\"2001-09-09T01:00:00Z\"}",
         "start"},
        {"{\"name\":\"a\",\"start\":\"2001-01-01T00:00:00Z\",\"end\":\"2001-09-09T01:50:00Z\"}",
         "start"},
        {"{\"name\":\"a\",\"start\":\"2031-01-01T00:00:00Z\",\"end\":\"2031-02-01T00:00:00Z\"}",
         "start"},
        {"{\"name\":\"a\",\"end\":\"2031-02-01T00:00:00Z\"}", "start"},
        {ASK("a", ",\"filterBy\":[\"project==a\"]"), "filterBy"},
        {ASK("a", ",\"filterBy\":[\"projectName!=a\"]"), "filterBy"},
        {ASK("a", ",\"groupBy\":\"Person\""), "groupBy"},
        {"{" PERIOD "}", "name"},
    };
    start();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].body);
        EXPECT_I64(as(root, "POST", REPORTS, rows[i].body), 400);
        EXPECT_STR(at("field"), str_from_c(rows[i].field));
    }
    server_stop();
}

TEST_MAIN()

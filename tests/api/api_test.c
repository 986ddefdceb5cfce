// SPDX-License-Identifier: Apache-2.0
// The API as a client sees it (server.h).
#include <fcntl.h>
#include <stdlib.h>

#include "api/call.h"
#include "base/num.h"
#include "io/file.h"
#include "io/rolled.h"
#include "io/ws.h"
#include "server.h"

#define JOB(name, project, spec)                    \
    "{\"name\":\"" name "\",\"project\":\"" project \
    "\",\"spec\":{\"command\":[\"sleep\",\"1\"]" spec "}}"

#define GET(p)    {.method = "GET", .path = (p)}
#define SUBMIT(b) {.method = "POST", .path = "/workloads", .body = (b)}

static char big[5 << 20];

TEST(every_request_is_answered_with_json_and_the_right_status)
{
    static const struct {
        const char *name;
        struct ask ask;
        long code;
        const char *member, *want; /* NULL: not looked at */
    } rows[] = {
        {"who am I", GET("/whoami"), 200, "roles[0]", "administrator"},
        {"version", GET("/version"), 200, "version", WEIR_VERSION},
        {"health over TCP", {.method = "GET", .path = "/healthz", .tcp = true}, 200, "ok", NULL},
        {"version over TCP",
         {.method = "GET", .path = "/version", .tcp = true},
         200, "version",
         WEIR_VERSION},
        {"all else over TCP",
         {.method = "GET", .path = PREFIX "/cluster", .tcp = true},
         401, "status",
         "unauthentic"},
        {"also what is not there",
         {.method = "GET", .path = "/etc/passwd", .tcp = true},
         401, "status",
         "unauthentic"},
        {"no such path", GET("/projekts"), 404, "status", "unknown"},
        {"another method", {.method = "DELETE", .path = "/plan"}, 405, "status", "no_method"},
        {"another API", GET("/api/v1/projects"), 404, "status", "unknown"},
        {"summary", GET("/cluster"), 200, "gpus", "4"},
        {"nodes", GET("/nodes"), 200, "items[0].devices[3].uuid", "GPU-d"},
        {"one node", GET("/nodes/box"), 200, "gpus", "4"},
        {"no node", GET("/nodes/bax"), 404, "hint", "did you mean \"box\"?"},
        {"projects", GET("/projects"), 200, "items[1].name", "team-b"},
        {"one project", GET("/projects/team-a"), 200, "pools[0].guaranteed_gpus", "2"},
        {"no project", GET("/projects/team-c"), 404, "hint", "did you mean \"team-a\"?"},
        {"departments", GET("/departments/research"), 200, "pools[0].max_gpus", "null"},
        {"node pools", GET("/nodepools/default"), 200, "queues[2].name", "team-a"},
        {"plan", GET("/plan"), 200, "revision", "2"},
        {"plan as JSON", GET("/plan?format=json"), 200, "revision", "2"},
        {"plan as XML", GET("/plan?format=xml"), 400, "field", "format"},
        {"no workload", GET("/workloads/team-a/none"), 404, "status", "unknown"},
        {"no workload by id", GET("/workloads/00000000-0000-4000-8000-000000000000"), 404, "status",
         "unknown"},
        {"an unknown argument", GET("/workloads?projekt=x"), 400, "hint",
         "did you mean \"project\"?"},
        {"a limit that is none", GET("/workloads?limit=-1"), 400, "value", "-1"},
        {"a page beyond the end", GET("/workloads?offset=99"), 200, "total", "0"},
        {"no JSON", SUBMIT("{"), 400, "status", "invalid"},
        {"a minimum above the pods", SUBMIT(JOB("x", "team-a", ",\"pods\":2,\"pods_min\":3")), 400,
         "field", "spec.pods_min"},
        {"a pool there is not", SUBMIT(JOB("x", "team-a", ",\"pools\":[\"defalt\"]")), 404, "field",
         "spec.pools[0]"},
        {"a variable that is none", SUBMIT(JOB("x", "team-a", ",\"env\":{\"A=B\":\"\"}")), 400,
         "field", "spec.env"},
        {"an image that is an option", SUBMIT(JOB("x", "team-a", ",\"image\":\"--privileged\"")),
         400, "field", "spec.image"},
        {"another member of the body", SUBMIT("{\"nme\":1}"), 400, "field", "nme"},
        {"not UTF-8", SUBMIT("{\"name\":\"\xff\"}"), 400, "status", "invalid"},
        {"a list", SUBMIT("[]"), 400, "status", "invalid"},
        {"nothing given", SUBMIT("{}"), 400, "field", "project"},
        {"no command", SUBMIT("{\"project\":\"team-a\"}"), 400, "field", "spec.command"},
        {"a document in a document", SUBMIT("\"{\\\"project\\\":\\\"team-a\\\"}\""), 400, "field",
         "spec.command"},
        {"an unknown member", SUBMIT(JOB("a", "team-a", ",\"gpus\":1")), 400, "field", "spec.gpus"},
        {"a wrong type", SUBMIT(JOB("a", "team-a", ",\"pods\":\"two\"")), 400, "value", "two"},
        {"a member twice", SUBMIT(JOB("a", "team-a", ",\"pods\":1,\"pods\":1")), 400, "field",
         "spec.pods"},
        {"a quota of -3", SUBMIT(JOB("a", "team-a", ",\"gpu_devices\":-3")), 400, "field",
         "spec.gpu_devices"},
        {"2^62 devices", SUBMIT(JOB("a", "team-a", ",\"gpu_devices\":4611686018427387904")), 400,
         "value", "4611686018427387904"},
        {"a share of 0.12345", SUBMIT(JOB("a", "team-a", ",\"gpu_portion\":0.12345")), 400, "field",
         "spec.gpu_portion"},
        {"a name with a slash", SUBMIT(JOB("a/b", "team-a", "")), 400, "field", "name"},
        {"an unknown project", SUBMIT(JOB("a", "team-x", "")), 404, "hint",
         "did you mean \"team-a\"?"},
        {"an unknown pool", SUBMIT(JOB("a", "team-a", ",\"pools\":[\"defalt\"]")), 404, "hint",
         "did you mean \"default\"?"},
        {"more at least than at all", SUBMIT(JOB("a", "team-a", ",\"pods\":1,\"pods_min\":2")), 400,
         "status", "invalid"},
        {"a body beyond the limit",
         {.method = "POST", .path = "/workloads", .body = big, .body_len = (1 << 20) + 1},
         413, "status",
         "too_large"},
        {"a plan beyond the limit",
         {.method = "POST", .path = "/plan/check", .body = big, .body_len = sizeof big},
         413, "status",
         "too_large"},
        {"exec without WebSocket", GET("/workloads/team-a/none/exec?cmd=x"), 404, NULL, NULL},
    };
    memset(big, ' ', sizeof big);
    server_start();
    apply_plan_text();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        EXPECT_I64(ask(&rows[i].ask), rows[i].code);
        if (rows[i].want != NULL) {
            EXPECT_STR(at(rows[i].member), str_from_c(rows[i].want));
        }
        if (rows[i].code >= 400) {
            EXPECT(at("message").len > 10);
            EXPECT_I64(at("request_id").len, UUID_TEXT_LEN);
            char code[24];
            snprintf(code, sizeof code, "%ld", rows[i].code);
            EXPECT_STR(at("code"), str_from_c(code));
        }
    }
    test_row(NULL);
    server_stop();
}

TEST(plans_are_checked_compared_applied_and_refused_when_others_were_faster)
{
    server_start();
    EXPECT_I64(post("/plan/check", plan_text), 200);
    EXPECT_STR(at("errors"), STR("0"));
    EXPECT_I64(post("/plan/check", "organization: {departments: [{nam: x}]}"), 200);
    EXPECT(!str_eq(at("errors"), STR("0")));
    EXPECT(!str_eq(at("problems[0].line"), STR("0")));
    EXPECT_I64(post("/plan/check", "a: [b"), 200);
    EXPECT_STR(at("problems[0].severity"), STR("error"));

    EXPECT_I64(post("/plan/diff", plan_text), 200);
    EXPECT_STR(at("base_revision"), STR("1"));
    EXPECT_STR(at("changes[0].kind"), STR("add"));
    EXPECT_I64(post("/plan/apply?base_revision=1", plan_text), 200);
    EXPECT_STR(at("revision"), STR("2"));
    EXPECT_I64(post("/plan/diff", plan_text), 200);
    EXPECT_I64(doc_at(answer(), STR("changes"))->child_count, 0);

    EXPECT_I64(post("/plan/apply?base_revision=1", plan_text), 200); /* it is in force already */
    EXPECT_STR(at("revision"), STR("2"));
    static const char other[] = "organization: {departments: [{name: research, node_pool_quotas: "
                                "{default: {guaranteed_gpus: 3}}}]}";
    EXPECT_I64(post("/plan/apply?base_revision=1", other), 409); /* someone was faster */
    EXPECT_STR(at("status"), STR("conflict"));
    EXPECT_STR(at("changes[0].kind"), STR("add"));
    EXPECT_I64(post("/plan/apply", "organization: {departments: 7}"), 400);
    EXPECT(doc_at(answer(), STR("problems"))->child_count > 0);
    EXPECT_I64(get("/plan"), 200);
    EXPECT_STR(at("revision"), STR("2"));
    server_stop();
}

TEST(a_workload_from_submit_to_delete)
{
    server_start();
    apply_plan_text();
    struct ask submit = {"POST",
                         "/workloads",
                         JOB("one", "team-a",
                             ",\"gpu_devices\":1,\"env\":{\"B\":\"2\",\"A\":\"1\"},"
                             "\"priority\":\"medium\""),
                         "key-1",
                         false,
                         0,
                         NULL};
    EXPECT_I64(ask(&submit), 201);
    struct str id = arena_str(&server.arena, at("id"));
    EXPECT_STR(at("env.A"), STR("1"));
    EXPECT_STR(at("priority"), STR("medium"));
    EXPECT_STR(at("cpu"), STR("0.1"));
    EXPECT_I64(ask(&submit), 201); /* the same key: the same workload */
    EXPECT_STR(at("id"), id);
    EXPECT(becomes("/workloads/team-a/one", "phase", "Running"));
    EXPECT_STR(at("gpus_held"), STR("1"));
    EXPECT_STR(at("pods[0].node"), STR("box"));
    EXPECT_STR(at("events[0].message"),
               arena_printf(&server.arena, "Submitted by " STR_FMT ".", STR_ARG(at("author"))));
    EXPECT_I64(get("/nodes/box"), 200);
    EXPECT_STR(at("devices[0].pods[0].workload"), STR("one"));
    EXPECT_I64(get("/workloads/team-a/one/why"), 200);
    EXPECT(str_starts(at("story[0]"), STR("It runs since ")));

    EXPECT_I64(post("/workloads", JOB("one", "team-a", "")), 409);
    submit.body = "{\"name_prefix\":\"one\",\"project\":\"team-a\",\"spec\":"
                  "{\"command\":[\"x\"],\"gpu_devices\":9}}";
    submit.key = "key-2";
    for (int i = 0; i < 2; i++) { /* the number is the same too, when it comes again */
        EXPECT_I64(ask(&submit), 201);
        EXPECT_STR(at("name"), STR("one-0"));
    }
    EXPECT(becomes("/workloads/team-a/one-0", "why.code", "LargerThanAnyNode"));
    EXPECT_STR(at("place"), STR("1"));
    EXPECT(str_starts(at("why.message"), STR("A pod of it asks for 9 GPUs")));
    EXPECT_I64(get("/workloads/team-a/one-0/why"), 200);
    EXPECT_STR(at("remedy.outcome"), STR("found"));
    EXPECT_STR(at("remedy.code"), STR("FewerDevices"));
    EXPECT_STR(at("remedy.from"), STR("9"));
    EXPECT_STR(at("story[2]"), at("remedy.message"));

    EXPECT_I64(get("/workloads?project=team-a&limit=1&offset=1"), 200);
    EXPECT_STR(at("total"), STR("2"));
    EXPECT_STR(at("items[0].name"), STR("one-0"));
    EXPECT_I64(get("/workloads?phase=Running"), 200);
    EXPECT_STR(at("total"), STR("1"));

    EXPECT_I64(post("/workloads/team-a/one/suspend", ""), 200);
    EXPECT(becomes("/workloads/team-a/one", "phase", "Stopped"));
    EXPECT_I64(post("/workloads/team-a/one/resume", ""), 200);
    EXPECT(becomes("/workloads/team-a/one", "phase", "Running"));
    const char *path = arena_printf(&server.arena, "/workloads/" STR_FMT, STR_ARG(id)).ptr;
    EXPECT_I64(ask(&(struct ask){.method = "DELETE", .path = path}), 200);
    EXPECT_I64(get("/cluster"), 200);
    EXPECT(becomes("/cluster", "gpus_held", "0"));
    server_stop();
}

TEST(workloads_are_counted_where_they_are)
{
    static const struct {
        const char *path, *member, *want;
    } rows[] = {
        {"/projects/team-a",     "running",           "1"      },
        {"/projects/team-a",     "pending",           "2"      },
        {"/projects/team-a",     "pools[0].pool",     "default"},
        {"/projects/team-a",     "pools[0].running",  "1"      },
        {"/projects/team-a",     "pools[0].pending",  "0"      },
        {"/projects/team-a",     "pools[1].running",  "0"      },
        {"/projects/team-a",     "pools[1].pending",  "2"      },
        {"/projects/team-b",     "pending",           "1"      },
        {"/projects/team-b",     "pools[0].pending",  "0"      },
        {"/departments/lab",     "pools[1].pending",  "2"      },
        {"/departments/science", "running",           "1"      }, /* those below lab too */
        {"/departments/science", "pending",           "3"      },
        {"/departments/science", "pools[1].pending",  "3"      },
        {"/nodepools/elsewhere", "queues[1].name",    "lab"    },
        {"/nodepools/elsewhere", "queues[1].pending", "2"      },
    };
    server_start();
    REQUIRE(post("/plan/apply",
                 "node_pools: [{name: elsewhere}]\n"
                 "organization:\n"
                 "  departments:\n"
                 "    - name: science\n"
                 "      node_pool_quotas: {default: {guaranteed_gpus: 4}}\n"
                 "      projects: [{name: team-b}]\n"
                 "    - {name: lab, parent: science, projects: [{name: team-a}]}\n") == 200);
    EXPECT_I64(post("/workloads", JOB("here", "team-a", ",\"pools\":[\"default\"]")), 201);
    EXPECT_I64(post("/workloads", JOB("there", "team-a", ",\"pools\":[\"elsewhere\"]")), 201);
    EXPECT_I64(post("/workloads", JOB("also", "team-a", ",\"pools\":[\"elsewhere\"]")), 201);
    EXPECT_I64(post("/workloads", JOB("there", "team-b", ",\"pools\":[\"elsewhere\"]")), 201);
    EXPECT(becomes("/workloads/team-a/here", "phase", "Running"));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].path);
        EXPECT_I64(get(rows[i].path), 200);
        EXPECT_STR(at(rows[i].member), str_from_c(rows[i].want));
    }
    test_row(NULL);
    server_stop();
}

static void append_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    struct err err = {0};
    REQUIRE_OK(file_write_all(fd, str_from_c(text), &err), &err);
    close(fd);
}

TEST(logs_are_read_from_the_end_and_followed_until_the_pod_is_gone)
{
    server_start();
    apply_plan_text();
    EXPECT_I64(post("/workloads", JOB("one", "team-a", ",\"gpu_devices\":8")), 201);
    EXPECT_I64(get("/workloads/team-a/one/logs"), 404); /* it never started */
    EXPECT(str_starts(at("hint"), STR("weir why")));
    EXPECT_I64(post("/workloads", JOB("two", "team-a", ",\"gpu_devices\":1")), 201);
    EXPECT(becomes("/workloads/team-a/two", "phase", "Running"));
    EXPECT_I64(get("/workloads/team-a/two/logs"), 200); /* no file yet */
    EXPECT_I64((int64_t)server.body.len, 0);
    char path[512];
    snprintf(path, sizeof path, "%s/log-1", server.dir);
    append_file(path, "first\nsecond\nthird\n");
    EXPECT_I64(get("/workloads/team-a/two/logs"), 200);
    EXPECT_STR(buf_view(&server.body), STR("first\nsecond\nthird\n"));
    EXPECT_I64(get("/workloads/team-a/two/logs?tail=2"), 200);
    EXPECT_STR(buf_view(&server.body), STR("second\nthird\n"));
    EXPECT_I64(get("/workloads/team-a/two/logs?tail=0"), 200);
    EXPECT_I64((int64_t)server.body.len, 0);
    EXPECT_I64(get("/workloads/team-a/two/logs?tail=9"), 200);
    EXPECT_I64((int64_t)server.body.len, 19);
    EXPECT_I64(get("/workloads/team-a/two/logs?previous=1"), 404);
    EXPECT_I64(get("/workloads/team-a/two/logs?pod=x"), 404);
    append_file(path, "no end");
    EXPECT_I64(get("/workloads/team-a/two/logs?tail=1"), 200);
    EXPECT_STR(buf_view(&server.body), STR("no end"));
    EXPECT_STR(header("Weir-Attempt"), STR("1"));
    EXPECT_STR(header("Weir-Offset"), STR("19"));
    /* On from there, as one whose connection was lost would ask. */
    EXPECT_I64(get(arena_printf(&server.arena,
                                "/workloads/team-a/two/logs?pod=" STR_FMT "&attempt=1&offset=22",
                                STR_ARG(header("Weir-Pod")))
                       .ptr),
               200);
    EXPECT_STR(buf_view(&server.body), STR("end"));
    EXPECT_I64(get("/workloads/team-a/two/logs?offset=25"), 200);
    EXPECT_I64((int64_t)server.body.len, 0);
    EXPECT_I64(get("/workloads/team-a/two/logs?offset=26"), 200); /* of a log that is no more */
    EXPECT_I64((int64_t)server.body.len, 25);
    EXPECT_STR(header("Weir-Offset"), STR("0"));
    EXPECT_I64(get("/workloads/team-a/two/logs?attempt=2"), 404);
    EXPECT_I64(get("/workloads/team-a/two/logs?attempt=0"), 400);
    EXPECT_I64(get("/workloads/team-a/two/logs?attempt=1&previous=1"), 400);
    EXPECT_I64(get("/workloads/team-a/two/logs?tail=1&offset=1"), 400);

    static char line[100001];
    memset(line, 'z', sizeof line - 2);
    line[sizeof line - 2] = '\n';
    for (int i = 0; i < 100; i++) {
        append_file(path, line); /* more than a client is given at once */
    }
    EXPECT_I64(get("/workloads/team-a/two/logs"), 200);
    EXPECT_I64((int64_t)server.body.len, 25 + 100 * 100000);
    EXPECT_I64(get("/workloads/team-a/two/logs?tail=3"), 200);
    EXPECT_I64((int64_t)server.body.len, 300000);
    EXPECT_I64(post("/workloads/team-a/two/suspend", ""), 200);
    EXPECT(becomes("/workloads/team-a/two", "phase", "Stopped"));
    EXPECT_I64(get("/workloads/team-a/two/logs?follow=1&tail=1"), 200); /* ends, since it ended */
    EXPECT_I64((int64_t)server.body.len, 100000);
    server_stop();
}

TEST(logs_that_have_grown_large_are_read_across_their_parts)
{
    server_start();
    apply_plan_text();
    EXPECT_I64(post("/workloads", JOB("two", "team-a", ",\"gpu_devices\":1")), 201);
    EXPECT(becomes("/workloads/team-a/two", "phase", "Running"));
    CLEANUP(file_close) int dir_fd = open(server.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct rolled_writer log;
    rolled_writer_open(&log, dir_fd, "log-1");
    EXPECT(rolled_writer_add(&log, STR("first\nsecond\n")));
    rolled_writer_next(&log);
    EXPECT(rolled_writer_add(&log, STR("third\n")));
    EXPECT_I64(get("/workloads/team-a/two/logs"), 200);
    EXPECT_STR(buf_view(&server.body), STR("first\nsecond\nthird\n"));
    EXPECT_I64(get("/workloads/team-a/two/logs?tail=2"), 200);
    EXPECT_STR(buf_view(&server.body), STR("second\nthird\n"));
    EXPECT_STR(header("Weir-Offset"), STR("6"));
    EXPECT_I64(get("/workloads/team-a/two/logs?offset=15"), 200);
    EXPECT_STR(buf_view(&server.body), STR("ird\n"));
    rolled_writer_next(&log);
    EXPECT(rolled_writer_add(&log, STR("fourth\n")));
    EXPECT_I64(get("/workloads/team-a/two/logs?offset=2"), 200); /* no longer kept */
    EXPECT_STR(buf_view(&server.body), STR("third\nfourth\n"));
    EXPECT_STR(header("Weir-Offset"), STR("13"));
    file_close(&log.fd);
    server_stop();
}

struct followed {
    struct buf text;
    struct rolled_writer *log;
    uint32_t seen;
};

/* As each word is seen, the next comes in a part of its own; behind the last, more than is kept. */
static size_t on_followed(char *bytes, size_t size, size_t count, void *arg)
{
    struct followed *f = arg;
    static const char *const words[] = {"first\n", "second\n", "third\n"};
    buf_add(&f->text, bytes, size * count);
    if (f->seen < COUNT_OF(words) && str_ends(buf_view(&f->text), str_from_c(words[f->seen]))) {
        f->seen++;
        for (uint32_t i = f->seen == COUNT_OF(words) ? 0 : 2; i < 3; i++) {
            rolled_writer_next(f->log);
            struct str word = f->seen == COUNT_OF(words) ? STR("lost\n")
                                                         : str_from_c(words[f->seen]);
            EXPECT(rolled_writer_add(f->log, word));
        }
    }
    return size * count;
}

TEST(a_log_is_followed_across_its_parts_and_cut_off_where_some_is_lost)
{
    server_start();
    apply_plan_text();
    EXPECT_I64(post("/workloads", JOB("two", "team-a", ",\"gpu_devices\":1")), 201);
    EXPECT(becomes("/workloads/team-a/two", "phase", "Running"));
    CLEANUP(file_close) int dir_fd = open(server.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct rolled_writer log;
    rolled_writer_open(&log, dir_fd, "log-1");
    EXPECT(rolled_writer_add(&log, STR("first\n")));
    struct followed f = {.log = &log};
    buf_init(&f.text, 1 << 20);
    CURL *curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_URL, "http://box" PREFIX "/workloads/team-a/two/logs?follow=1");
    curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, server.socket);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_followed);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &f);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 20L);
    CURLcode code = curl_easy_perform(curl);
    EXPECT(code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR);
    curl_easy_cleanup(curl);
    EXPECT_STR(buf_view(&f.text), STR("first\nsecond\nthird\n"));
    EXPECT_I64(get("/workloads/team-a/two/logs?offset=19"), 200); /* as the client goes on */
    EXPECT_STR(header("Weir-Offset"), STR("24"));
    EXPECT_STR(buf_view(&server.body), STR("lost\nlost\n"));
    buf_done(&f.text);
    file_close(&log.fd);
    server_stop();
}

struct watch {
    struct buf text;
    uint32_t submitted;
};

static size_t on_watch(char *bytes, size_t size, size_t count, void *arg)
{
    struct watch *w = arg;
    buf_add(&w->text, bytes, size * count);
    struct str text = buf_view(&w->text);
    bool ready = memmem(text.ptr, text.len, "that is all", 11) != NULL;
    if (ready && w->submitted == 0) { /* from inside: the stream is open */
        w->submitted = 1;
        CURL *mine = server.curl;
        struct buf kept = server.body;
        server.curl = curl_easy_init();
        buf_init(&server.body, 1 << 20);
        CHECK(post("/workloads", JOB("seen", "team-a", ",\"gpu_devices\":1")) == 201);
        CHECK(post("/workloads", JOB("unseen", "team-b", ",\"gpu_devices\":1")) == 201);
        buf_done(&server.body);
        curl_easy_cleanup(server.curl);
        server.curl = mine;
        server.body = kept;
    }
    bool done = memmem(text.ptr, text.len, "\"phase\":\"Running\"", 17) != NULL &&
                w->submitted == 1;
    return done ? 0 : size * count;
}

TEST(a_watcher_hears_of_each_change_in_its_project)
{
    server_start();
    apply_plan_text();
    struct watch w = {0};
    buf_init(&w.text, 1 << 20);
    CURL *curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_URL, "http://box" PREFIX "/workloads/watch?project=team-a");
    curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, server.socket);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_watch);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &w);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 20L);
    EXPECT_I64(curl_easy_perform(curl), CURLE_WRITE_ERROR); /* ended by us */
    curl_easy_cleanup(curl);
    struct str text = buf_view(&w.text);
    EXPECT(memmem(text.ptr, text.len, "event: workload\nid: ", 20) != NULL);
    EXPECT(memmem(text.ptr, text.len, "\"name\":\"seen\"", 13) != NULL);
    EXPECT(memmem(text.ptr, text.len, "unseen", 6) == NULL);
    buf_done(&w.text);
    server_stop();
}

/* ---- exec ---- */

static int open_exec(const char *query, char head[12])
{
    struct err err = {0};
    int fd;
    char request[512];
    REQUIRE_OK(connect_unix(server.socket, &fd, &err), &err);
    snprintf(request, sizeof request,
             "GET " PREFIX "/workloads/team-a/one/exec?%s HTTP/1.1\r\nHost: box\r\n"
             "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
             query);
    REQUIRE_OK(file_write_all(fd, str_from_c(request), &err), &err);
    char bytes[2048];
    size_t len = 0;
    while (len < 4 || memcmp(bytes + len - 4, "\r\n\r\n", 4) != 0) {
        REQUIRE(len < sizeof bytes && read(fd, bytes + len, 1) == 1);
        len++;
    }
    memcpy(head, bytes, 12);
    if (memcmp(head, "HTTP/1.1 101", 12) == 0) {
        EXPECT(memmem(bytes, len, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=", 28) != NULL);
    }
    return fd;
}

static void send_message(int fd, enum ws_opcode opcode, struct str payload)
{
    static const uint8_t mask[4] = {9, 8, 7, 6};
    struct buf b;
    struct err err = {0};
    buf_init(&b, 2 << 20);
    ws_encode(&b, opcode, payload, mask);
    REQUIRE_OK(file_write_all(fd, buf_view(&b), &err), &err);
    buf_done(&b);
}

static struct ws_message next_message(int fd, struct ws_decoder *d)
{
    struct ws_message m = {0};
    struct err err = {0};
    enum status status;
    while ((status = ws_decoder_take(d, &m, &err)) == STATUS_UNKNOWN) {
        char bytes[4096];
        ssize_t n = read(fd, bytes, sizeof bytes);
        REQUIRE(n > 0);
        ws_decoder_feed(d, (struct str){bytes, (uint32_t)n});
    }
    REQUIRE_OK(status, &err);
    return m;
}

static void read_exactly(int fd, char *bytes, size_t len)
{
    fcntl(fd, F_SETFL, 0);
    for (size_t got = 0; got < len;) {
        ssize_t n = read(fd, bytes + got, len - got);
        REQUIRE(n > 0);
        got += (size_t)n;
    }
}

TEST(a_command_in_a_pod_is_bridged_both_ways)
{
    server_start();
    apply_plan_text();
    char head[12];
    EXPECT_I64(post("/workloads", JOB("one", "team-a", ",\"gpu_devices\":1")), 201);
    EXPECT(becomes("/workloads/team-a/one", "phase", "Running"));
    EXPECT_I64(get("/workloads/team-a/one/exec?cmd=sh"), 400); /* no WebSocket */
    close(open_exec("cmd=none", head));
    EXPECT(memcmp(head, "HTTP/1.1 404", 12) == 0);
    close(open_exec("tty=1", head));
    EXPECT(memcmp(head, "HTTP/1.1 400", 12) == 0);

    int fd = open_exec("cmd=sh&cmd=-c&cmd=cat", head);
    REQUIRE(memcmp(head, "HTTP/1.1 101", 12) == 0);
    struct ws_decoder d;
    ws_decoder_init(&d, false);
    char bytes[64];
    send_message(fd, WS_BINARY, STR("\0hello")); /* stdin */
    send_message(fd, WS_PING, STR("there?"));
    struct ws_message m = next_message(fd, &d);
    EXPECT_I64(m.opcode, WS_PONG);
    EXPECT_STR(m.payload, STR("there?"));
    read_exactly(server.exec_fd, bytes, 10);
    EXPECT(memcmp(bytes, "\0\5\0\0\0hello", 10) == 0);
    struct err err = {0};
    REQUIRE_OK(file_write_all(server.exec_fd, STR("\1\3\0\0\0out\2\3\0\0\0err"), &err), &err);
    m = next_message(fd, &d);
    EXPECT_STR(m.payload, STR("\1out"));
    m = next_message(fd, &d);
    EXPECT_STR(m.payload, STR("\2err"));
    REQUIRE_OK(file_write_all(server.exec_fd, STR("\3\12\0\0\0{\"exit\":7}"), &err), &err);
    close(server.exec_fd);
    m = next_message(fd, &d);
    EXPECT_STR(m.payload, STR("\3{\"exit\":7}"));
    m = next_message(fd, &d);
    EXPECT_I64(m.opcode, WS_CLOSE);
    EXPECT_I64(m.close_code, WS_CLOSE_NORMAL);
    close(fd);
    ws_decoder_done(&d);

    fd = open_exec("cmd=sh", head); /* a client that breaks the protocol */
    ws_decoder_init(&d, false);
    send_message(fd, WS_TEXT, STR("text"));
    m = next_message(fd, &d);
    EXPECT_I64(m.close_code, WS_CLOSE_PROTOCOL);
    EXPECT(read(server.exec_fd, bytes, sizeof bytes) <= 0); /* the command's side is closed too */
    close(server.exec_fd);
    close(fd);
    ws_decoder_done(&d);

    fd = open_exec("cmd=sh", head); /* and one that is open when the server stops */
    server_stop();
    close(fd);
    close(server.exec_fd);
}

TEST(every_route_is_in_the_documentation)
{
    struct buf doc;
    struct err err = {0};
    buf_init(&doc, 1 << 20);
    REQUIRE_OK(file_read(AT_FDCWD, API_DOC, &doc, &err), &err);
    for (uint32_t i = 0; i < group_weir.routes_count; i++) {
        const struct route *r = &group_weir.routes[i];
        struct str path = str_from_c(r->path);
        struct str below = str_starts(path, STR(PREFIX))
                               ? str_sub(path, sizeof PREFIX - 1, path.len)
                               : path;
        char line[256];
        snprintf(line, sizeof line, "| %s | `" STR_FMT "` |", r->method, STR_ARG(below));
        test_row(line);
        EXPECT(memmem(doc.ptr, doc.len, line, strlen(line)) != NULL);
        EXPECT(memmem(doc.ptr, doc.len, r->summary, strlen(r->summary)) != NULL);
    }
    test_row(NULL);
    buf_done(&doc);
}

TEST_MAIN()

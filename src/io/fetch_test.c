// SPDX-License-Identifier: Apache-2.0
// A server and its client in one loop.
#include "io/fetch.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/test.h"
#include "io/clock.h"
#include "io/crypto.h"
#include "io/http.h"
#include "io/listen.h"

enum { BODY_MAX = 4096 };

static struct rig {
    struct loop *loop;
    struct http *http;
    struct fetch *fetch;
    struct buf certificate;
    char address[LISTEN_ADDRESS_SIZE];
    struct str method, body, authorization, type;
    struct arena arena;
    /* of the last one asked */
    bool done;
    int code;
    enum status status;
    char text[256];
} rig;

static size_t body_max(void *ctx, const struct http_request *r)
{
    (void)ctx;
    (void)r;
    return 1 << 20;
}

static void handle(void *ctx, struct http_request *r)
{
    static char much[2 * BODY_MAX];
    (void)ctx;
    rig.method = arena_str(&rig.arena, r->method);
    rig.body = arena_str(&rig.arena, r->body);
    rig.authorization = arena_str(&rig.arena, http_header(r, "Authorization"));
    rig.type = arena_str(&rig.arena, http_header(r, "Content-Type"));
    if (str_eq(r->path, STR("/much"))) {
        memset(much, 'x', sizeof much);
        http_answer(r, 200, "text/plain", (struct str){much, sizeof much});
    } else if (str_eq(r->path, STR("/elsewhere"))) {
        http_set_header(r, "Location", STR("/"));
        http_answer(r, 302, "text/plain", STR(""));
    } else if (str_eq(r->path, STR("/wrong"))) {
        http_answer(r, 400, "application/json", STR("{\"error\":\"invalid_grant\"}"));
    } else if (!str_eq(r->path, STR("/never"))) {
        http_answer(r, 200, "application/json", STR("{}"));
    } else {
        http_stream_begin(r, 200, "text/plain");
    }
}

static void refuse(void *ctx, struct http_request *r, const struct err *err)
{
    (void)ctx;
    http_answer(r, status_info(err->status)->http, "text/plain", STR(""));
}

static void setup(bool tls, bool trusted)
{
    struct err err;
    struct http_hooks hooks = {body_max, handle, refuse, NULL};
    struct buf key;
    int fd;
    rig = (struct rig){0};
    arena_init(&rig.arena, 0);
    buf_init(&rig.certificate, 1 << 16);
    buf_init(&key, 1 << 16);
    REQUIRE_OK(loop_new(&rig.loop, &err), &err);
    rig.http = http_new(rig.loop, &hooks);
    REQUIRE_OK(listen_tcp(STR(":0"), &fd, rig.address, &err), &err);
    REQUIRE_OK(
        crypto_self_signed(STR("127.0.0.1"), clock_wall_ms(), 30, &rig.certificate, &key, &err),
        &err);
    if (tls) {
        REQUIRE_OK(http_listen_tls(rig.http, fd, buf_view(&rig.certificate), buf_view(&key), &err),
                   &err);
    } else {
        REQUIRE_OK(http_listen(rig.http, fd, false, &err), &err);
    }
    REQUIRE_OK(
        fetch_new(rig.loop, trusted ? buf_view(&rig.certificate) : STR(""), &rig.fetch, &err),
        &err);
    buf_done(&key);
}

static void teardown(void)
{
    fetch_free(rig.fetch);
    http_free(rig.http);
    loop_free(rig.loop);
    buf_done(&rig.certificate);
    arena_done(&rig.arena);
}

static void on_done(void *arg, const struct fetch_answer *answer, const struct err *err)
{
    struct rig *r = arg;
    EXPECT(!r->done);
    r->done = true;
    r->code = answer != NULL ? answer->code : 0;
    r->status = answer != NULL ? STATUS_OK : err->status;
    snprintf(r->text, sizeof r->text, STR_FMT, answer != NULL ? (int)answer->body.len : 200,
             answer != NULL ? answer->body.ptr : err->text);
}

static void wait(struct fetch_request r)
{
    struct err err;
    r.bytes_max = BODY_MAX;
    r.time_ms = r.time_ms > 0 ? r.time_ms : 10000;
    r.direct = true;
    rig.done = false;
    REQUIRE_OK(fetch_start(rig.fetch, &r, on_done, &rig, &err), &err);
    while (!rig.done) {
        loop_step(rig.loop, -1);
    }
}

static struct str url(const char *path)
{
    return arena_printf(&rig.arena, "http://%s%s", rig.address, path);
}

TEST(asking)
{
    setup(false, false);
    wait((struct fetch_request){.url = url("/")});
    EXPECT_I64(rig.code, 200);
    EXPECT_STR(str_from_c(rig.text), STR("{}"));
    EXPECT_STR(rig.method, STR("GET"));
    EXPECT_STR(rig.authorization, STR(""));
    wait((struct fetch_request){.url = url("/wrong"),
                                .post = true,
                                .body = STR("a=b"),
                                .basic_name = STR("weir"),
                                .basic_secret = STR("hush")});
    EXPECT_I64(rig.code, 400);
    EXPECT_STR(str_from_c(rig.text), STR("{\"error\":\"invalid_grant\"}"));
    EXPECT_STR(rig.method, STR("POST"));
    EXPECT_STR(rig.body, STR("a=b"));
    EXPECT_STR(rig.type, STR("application/x-www-form-urlencoded"));
    EXPECT_STR(rig.authorization, STR("Basic d2VpcjpodXNo"));
    wait((struct fetch_request){.url = url("/"), .bearer = STR("t0ken")});
    EXPECT_STR(rig.authorization, STR("Bearer t0ken"));
    wait((struct fetch_request){.url = url("/elsewhere")});
    EXPECT_I64(rig.code, 302); /* it goes nowhere by itself */
    teardown();
}

TEST(bounds)
{
    setup(false, false);
    wait((struct fetch_request){.url = url("/much")});
    EXPECT_STATUS(rig.status, STATUS_TOO_LARGE);
    wait((struct fetch_request){.url = url("/never"), .time_ms = 50});
    EXPECT_STATUS(rig.status, STATUS_TIMEOUT);
    wait((struct fetch_request){.url = STR("http://127.0.0.1:1/")});
    EXPECT_STATUS(rig.status, STATUS_UNREACHABLE);
    wait((struct fetch_request){.url = STR("file:///etc/hosts")});
    EXPECT_STATUS(rig.status, STATUS_UNREACHABLE);
    teardown();
}

TEST(so_many_at_a_time)
{
    struct err err;
    static int others[FETCH_MAX];
    setup(false, false);
    struct fetch_request r = {
        .url = url("/never"), .bytes_max = BODY_MAX, .time_ms = 60000, .direct = true};
    for (int i = 0; i < FETCH_MAX; i++) {
        REQUIRE_OK(fetch_start(rig.fetch, &r, on_done, &others[i], &err), &err);
    }
    EXPECT_STATUS(fetch_start(rig.fetch, &r, on_done, &rig, &err), STATUS_BUSY);
    fetch_forget(rig.fetch, &others[3]);
    wait((struct fetch_request){.url = url("/")});
    EXPECT_I64(rig.code, 200);
    teardown(); /* with the others under way */
}

TEST(whom_it_trusts)
{
    setup(true, true);
    struct str https = arena_printf(&rig.arena, "https://%s/", rig.address);
    wait((struct fetch_request){.url = https});
    EXPECT_I64(rig.code, 200);
    teardown();
    setup(true, false);
    https = arena_printf(&rig.arena, "https://%s/", rig.address);
    wait((struct fetch_request){.url = https});
    EXPECT_STATUS(rig.status, STATUS_UNREACHABLE);
    EXPECT(strstr(rig.text, "certificate") != NULL);
    teardown();
}

TEST_MAIN()

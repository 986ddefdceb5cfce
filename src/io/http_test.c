// SPDX-License-Identifier: Apache-2.0
// The server runs in a thread of its own; curl is the client, and a bare socket where curl is too
// well behaved.
#include "io/http.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/check.h"
#include "base/test.h"
#include "io/file.h"
#include "io/listen.h"

enum { BODY_MAX = 100000 };

struct server {
    struct loop *loop;
    struct http *http;
    char address[LISTEN_ADDRESS_SIZE];
    char path[256];
    int stop_fd;
    pthread_t thread;
    uint32_t over; /* requests that ended */
    struct http_request *waiting;
    struct loop_timer timer;
    uint32_t pieces;
};

static size_t body_max(void *ctx, const struct http_request *r)
{
    (void)ctx;
    return str_eq(r->method, STR("POST")) ? BODY_MAX : 0;
}

static void refuse(void *ctx, struct http_request *r, const struct err *err)
{
    (void)ctx;
    http_answer(r, status_info(err->status)->http, "text/plain", str_from_c(err->text));
}

static void on_over(void *arg)
{
    struct server *s = arg;
    s->over++;
}

static void answer_late(void *arg)
{
    struct server *s = arg;
    http_answer(s->waiting, 200, "text/plain", STR("late"));
}

static void stream_on(void *arg)
{
    struct server *s = arg;
    char piece[32];
    int len = snprintf(piece, sizeof piece, "piece %u\n", ++s->pieces);
    http_stream_write(s->waiting, (struct str){piece, (uint32_t)len});
    if (s->pieces == 3) {
        http_stream_end(s->waiting);
    } else {
        loop_at(s->loop, &s->timer, 0, stream_on, s);
    }
}

static void on_echo(void *arg, int fd, uint32_t events)
{
    (void)events;
    struct http_request *r = arg;
    char bytes[256];
    ssize_t n = read(fd, bytes, sizeof bytes);
    if (n <= 0 || bytes[0] == 'q') {
        struct server *s = r->over_arg;
        loop_del(s->loop, fd);
        http_upgrade_close(r);
        return;
    }
    CHECK(write(fd, bytes, (size_t)n) == n);
}

static void upgraded(void *arg, int fd, struct str early)
{
    struct http_request *r = arg;
    struct server *s = r->over_arg;
    CHECK(early.len == 0 || write(fd, early.ptr, early.len) == early.len);
    struct err err;
    CHECK(loop_add(s->loop, fd, EPOLLIN, on_echo, r, &err) == STATUS_OK);
}

static void handle(void *ctx, struct http_request *r)
{
    struct server *s = ctx;
    r->over = on_over;
    r->over_arg = s;
    if (str_eq(r->path, STR("/late"))) {
        s->waiting = r;
        loop_at(s->loop, &s->timer, 0, answer_late, s);
    } else if (str_eq(r->path, STR("/stream"))) {
        s->waiting = r;
        s->pieces = 0;
        http_stream_begin(r, 200, "text/event-stream");
        loop_at(s->loop, &s->timer, 0, stream_on, s);
    } else if (str_eq(r->path, STR("/upgrade"))) {
        http_set_header(r, "Upgrade", STR("echo"));
        http_upgrade(r, upgraded, r);
    } else if (str_eq(r->path, STR("/args"))) {
        struct buf b;
        buf_init(&b, 1000);
        for (uint32_t i = 0; i < r->args_count; i++) {
            buf_printf(&b, STR_FMT "=" STR_FMT ";", STR_ARG(r->args[i].name),
                       STR_ARG(r->args[i].value));
        }
        buf_printf(&b, "%s", r->local ? "local" : "tcp");
        http_answer(r, 200, "text/plain", buf_view(&b));
        buf_done(&b);
    } else {
        http_set_header(r, "X-Seen", http_header(r, "x-sent"));
        http_answer(r, 200, "text/plain", r->body);
    }
}

static void on_stop(void *arg, int fd, uint32_t events)
{
    (void)fd;
    (void)events;
    loop_stop(arg);
}

static void *server_main(void *arg)
{
    struct server *s = arg;
    loop_run(s->loop);
    http_free(s->http);
    return NULL;
}

static void server_start(struct server *s)
{
    *s = (struct server){0};
    struct err err = {0};
    REQUIRE_OK(loop_new(&s->loop, &err), &err);
    struct http_hooks hooks = {body_max, handle, refuse, s};
    s->http = http_new(s->loop, &hooks);
    int fd;
    REQUIRE_OK(listen_tcp(STR(":0"), &fd, s->address, &err), &err);
    REQUIRE_OK(http_listen(s->http, fd, false, &err), &err);
    snprintf(s->path, sizeof s->path, "%s/run/test.sock", test_tmp_dir());
    REQUIRE_OK(listen_unix(s->path, &fd, &err), &err);
    REQUIRE_OK(http_listen(s->http, fd, true, &err), &err);
    s->stop_fd = eventfd(0, 0);
    REQUIRE_OK(loop_add(s->loop, s->stop_fd, EPOLLIN, on_stop, s->loop, &err), &err);
    REQUIRE(pthread_create(&s->thread, NULL, server_main, s) == 0);
}

static void server_stop(struct server *s)
{
    uint64_t one = 1;
    REQUIRE(write(s->stop_fd, &one, sizeof one) == sizeof one);
    pthread_join(s->thread, NULL);
    loop_free(s->loop);
    close(s->stop_fd);
}

static size_t take(char *bytes, size_t size, size_t count, void *arg)
{
    buf_add(arg, bytes, size * count);
    return size * count;
}

struct call {
    const char *path, *post, *header;
    size_t post_len;
    bool local, chunked;
};

static size_t give(char *out, size_t size, size_t count, void *arg)
{
    size_t *left = arg;
    size_t len = size * count < *left ? size * count : *left;
    memset(out, 'x', len);
    *left -= len;
    return len;
}

static long call(const struct server *s, const struct call *c, struct buf *body)
{
    static char url[HTTP_HEADER_BYTES_MAX + 512];
    snprintf(url, sizeof url, "http://%s%s", c->local ? "localhost" : s->address, c->path);
    CURL *curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 20L);
    struct curl_slist *headers = NULL;
    if (c->header != NULL) {
        headers = curl_slist_append(headers, c->header);
    }
    if (c->local) {
        curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, s->path);
    }
    size_t left = c->post_len;
    if (c->chunked) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_READFUNCTION, give);
        curl_easy_setopt(curl, CURLOPT_READDATA, &left);
        headers = curl_slist_append(headers, "Transfer-Encoding: chunked");
    } else if (c->post != NULL) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)c->post_len);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, c->post);
    }
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    CURLcode rc = curl_easy_perform(curl);
    long code = -(long)rc;
    if (rc == CURLE_OK) {
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return code;
}

static char big[4 << 20];
static char long_header[HTTP_HEADER_BYTES_MAX + 1];
static char long_path[HTTP_HEADER_BYTES_MAX + 1], many_args[2 * HTTP_ARGS_MAX + 32];

TEST(requests_and_their_limits)
{
    static const struct {
        const char *name;
        struct call call;
        long code;
        const char *body; /* NULL: any */
    } rows[] = {
        {"plain",                 {.path = "/"},                                        200, ""                           },
        {"a body comes back",     {.path = "/", .post = "hello", .post_len = 5},        200, "hello"                      },
        {"arguments unescaped",   {.path = "/args?a=1&b=%2F+x&a=2"},                    200, "a=1;b=/ x;a=2;tcp"          },
        {"the local socket",      {.path = "/args", .local = true},                     200, "local"                      },
        {"answered later",        {.path = "/late"},                                    200, "late"                       },
        {"a stream",              {.path = "/stream"},                                  200, "piece 1\npiece 2\npiece 3\n"},
        {"a stream, locally",
         {.path = "/stream", .local = true},
         200,                                                                                "piece 1\npiece 2\npiece 3\n"},
        {"largest body",          {.path = "/", .post = big, .post_len = BODY_MAX},     200, NULL                         },
        {"one byte too many",     {.path = "/", .post = big, .post_len = BODY_MAX + 1}, 413, NULL                         },
        {"far too large",         {.path = "/", .post = big, .post_len = sizeof big},   413, NULL                         },
        {"chunked",               {.path = "/", .chunked = true, .post_len = 70000},    200, NULL                         },
        {"chunked, too large",    {.path = "/", .chunked = true, .post_len = 3000000},  413, NULL                         },
        {"path is not UTF-8",     {.path = "/%ff"},                                     400, NULL                         },
        {"argument is not UTF-8", {.path = "/?a=%ff"},                                  400, NULL                         },
        {"headers too large",     {.path = "/", .header = long_header},                 431, NULL                         },
        {"address too long",      {.path = long_path},                                  414, NULL                         },
        {"too many arguments",    {.path = many_args},                                  413, NULL                         },
    };
    memset(long_path, '/', sizeof long_path - 1);
    memcpy(many_args, "/?", 2);
    for (size_t i = 2; i + 2 < sizeof many_args; i += 2) {
        memcpy(many_args + i, "a&", 2);
    }
    memset(big, 'x', sizeof big);
    memset(long_header, 'y', sizeof long_header - 1);
    memcpy(long_header, "X-Long: ", 8);
    struct server s;
    server_start(&s);
    struct buf body;
    buf_init(&body, 10 << 20);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        buf_clear(&body);
        EXPECT_I64(call(&s, &rows[i].call, &body), rows[i].code);
        if (rows[i].body != NULL) {
            EXPECT_STR(buf_view(&body), str_from_c(rows[i].body));
        } else if (rows[i].code == 200) {
            EXPECT_I64((int64_t)body.len, (int64_t)rows[i].call.post_len);
        }
    }
    test_row(NULL);
    buf_done(&body);
    server_stop(&s);
    EXPECT_I64(s.over, 9);
}

TEST(a_connection_is_handed_over_and_given_back)
{
    struct server s;
    server_start(&s);
    struct err err = {0};
    int fd;
    REQUIRE_OK(connect_unix(s.path, &fd, &err), &err);
    static const char request[] = "GET /upgrade HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
                                  "Upgrade: echo\r\n\r\n";
    REQUIRE_OK(file_write_all(fd, str_from_c(request), &err), &err);
    char bytes[1024];
    size_t len = 0;
    while (len < 4 || memcmp(bytes + len - 4, "\r\n\r\n", 4) != 0) {
        REQUIRE(read(fd, bytes + len, 1) == 1 && ++len < sizeof bytes);
    }
    EXPECT(strncmp(bytes, "HTTP/1.1 101", 12) == 0);
    REQUIRE_OK(file_write_all(fd, STR("hi"), &err), &err);
    EXPECT(read(fd, bytes, sizeof bytes) == 2 && memcmp(bytes, "hi", 2) == 0);
    REQUIRE_OK(file_write_all(fd, STR("q"), &err), &err);
    EXPECT(read(fd, bytes, sizeof bytes) == 0);
    close(fd);
    server_stop(&s);
    EXPECT_I64(s.over, 1);
}

TEST(more_clients_than_there_is_room_for_do_not_shut_out_those_after_them)
{
    enum { CLIENTS = HTTP_CONNECTIONS_MAX + 100 };
    static int fds[CLIENTS];
    struct rlimit files;
    REQUIRE(getrlimit(RLIMIT_NOFILE, &files) == 0);
    files.rlim_cur = files.rlim_max; /* both ends are in this process */
    REQUIRE(setrlimit(RLIMIT_NOFILE, &files) == 0);
    struct server s;
    server_start(&s);
    struct err err = {0};
    for (int i = 0; i < CLIENTS; i++) {
        REQUIRE_OK(connect_unix(s.path, &fds[i], &err), &err);
    }
    int last =
        fds[HTTP_CONNECTIONS_MAX - 1]; /* its answer shows that all before it are there too */
    char byte;
    REQUIRE_OK(file_write_all(last, STR("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), &err), &err);
    REQUIRE(read(last, &byte, 1) == 1);
    for (int i = 0; i < CLIENTS; i++) {
        close(fds[i]);
    }
    struct buf body;
    buf_init(&body, 1000);
    EXPECT_I64(call(&s, &(struct call){.path = "/", .local = true}, &body), 200);
    buf_done(&body);
    server_stop(&s);
}

TEST(stopping_ends_what_is_open)
{
    struct server s;
    server_start(&s);
    struct err err = {0};
    int fd;
    REQUIRE_OK(connect_unix(s.path, &fd, &err), &err);
    REQUIRE_OK(file_write_all(fd,
                              STR("GET /upgrade HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"
                                  "Upgrade: echo\r\n\r\n"),
                              &err),
               &err);
    char bytes[12];
    REQUIRE(read(fd, bytes, sizeof bytes) == sizeof bytes);
    server_stop(&s);
    close(fd);
    EXPECT_I64(s.over, 1);
}

TEST(addresses)
{
    static const struct {
        const char *name;
        struct str text;
        enum status want;
    } rows[] = {
        {"free port",      STRS("127.0.0.1:0"),     STATUS_OK     },
        {"IPv6",           STRS("[::1]:0"),         STATUS_OK     },
        {"no port",        STRS("127.0.0.1"),       STATUS_INVALID},
        {"port too large", STRS("127.0.0.1:65536"), STATUS_INVALID},
        {"no number",      STRS("127.0.0.1:http"),  STATUS_INVALID},
        {"not ours",       STRS("203.0.113.1:0"),   STATUS_IO     },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        int fd = -1;
        char address[LISTEN_ADDRESS_SIZE];
        struct err err = {0};
        enum status status = listen_tcp(rows[i].text, &fd, address, &err);
        EXPECT(status == rows[i].want || (i == 1 && status == STATUS_IO)); /* no IPv6 here */
        EXPECT(status == STATUS_OK || err.text[0] != '\0');
        file_close(&fd);
    }
    test_row(NULL);
}

TEST(a_socket_file_in_use_is_refused_and_a_stale_one_replaced)
{
    char path[256];
    snprintf(path, sizeof path, "%s/a.sock", test_tmp_dir());
    struct err err = {0};
    int first = -1;
    int second = -1;
    REQUIRE_OK(listen_unix(path, &first, &err), &err);
    EXPECT_STATUS(listen_unix(path, &second, &err), STATUS_IN_USE);
    file_close(&first);
    REQUIRE_OK(listen_unix(path, &second, &err), &err);
    file_close(&second);
}

TEST_MAIN()

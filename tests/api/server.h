// SPDX-License-Identifier: Apache-2.0
// server: a server in a thread, curl in front. Its cluster is simulated (world.h); logs are files of
// the test, exec is answered by the test at the other end of a socket.
#pragma once

#include <curl/curl.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/api.h"
#include "codec/json.h"
#include "io/clock.h"
#include "io/crypto.h"
#include "io/file.h"
#include "io/listen.h"
#include "io/password.h"
#include "world.h"

#define PREFIX "/api/weir/v1"

struct server {
    struct world world;
    struct http *http;
    char address[LISTEN_ADDRESS_SIZE];
    char socket[256];
    const char *dir;
    int stop_fd;
    int exec_fd;            /* the other end of the last exec */
    struct crypto_key *key; /* NULL: nobody signs in */
    struct passwords *passwords;
    bool tls, paused, stopped;
    pthread_t thread;
    CURL *curl; /* of the test */
    struct buf body;
    struct arena arena;
};

static struct server server;

static struct str log_path(void *ctx, struct uuid pod, uint32_t attempt, struct arena *arena)
{
    struct server *s = ctx;
    (void)pod;
    return arena_printf(arena, "%s/log-%u", s->dir, attempt);
}

static enum status exec_in(void *ctx, struct uuid pod, const struct str *argv, uint32_t argc,
                           bool terminal, int *fd, struct err *err)
{
    struct server *s = ctx;
    (void)pod;
    (void)terminal;
    int pair[2];
    if (argc == 1 && str_eq(argv[0], STR("none"))) {
        return err_set(err, STATUS_UNKNOWN, "the pod does not run here");
    }
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
    *fd = pair[0];
    s->exec_fd = pair[1];
    return STATUS_OK;
}

static void on_stop(void *arg, int fd, uint32_t events)
{
    struct server *s = arg;
    uint64_t counted;
    (void)events;
    CHECK(read(fd, &counted, sizeof counted) == sizeof counted);
    s->stopped = true;
}

static void *server_main(void *arg)
{
    struct server *s = arg;
    struct err err;
    /* The store in memory has no way to say that it is done: it is asked every few milliseconds. */
    for (s->stopped = false; !s->stopped;) {
        loop_step(s->world.loop, 2);
    }
    if (s->paused) {
        return NULL;
    }
    CHECK(writer_stop(s->world.writer, &err) == STATUS_OK);
    api_stop(s->world.api);
    http_free(s->http);
    api_free(s->world.api);
    passwords_free(s->passwords);
    return NULL;
}

static void listen_tcp_or_tls(struct server *s)
{
    struct err err = {0};
    int fd;
    REQUIRE_OK(listen_tcp(STR(":0"), &fd, s->address, &err), &err);
    if (!s->tls) {
        REQUIRE_OK(http_listen(s->http, fd, false, &err), &err);
        return;
    }
    struct buf certificate, key;
    buf_init(&certificate, 1 << 16);
    buf_init(&key, 1 << 16);
    REQUIRE_OK(crypto_self_signed(STR("127.0.0.1"), clock_wall_ms(), 30, &certificate, &key, &err),
               &err);
    int dir_fd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE_OK(file_write(dir_fd, "cert.pem", buf_view(&certificate), 0600, false, &err), &err);
    close(dir_fd);
    REQUIRE_OK(http_listen_tls(s->http, fd, buf_view(&certificate), buf_view(&key), &err), &err);
    buf_done(&certificate);
    buf_done(&key);
}

enum { SERVER_TOKENS = 1, SERVER_TLS = 2 };

/* prepare (NULL: nothing) is called before the first request, with the writer there. */
static void server_start_with(unsigned what, void (*prepare)(struct world *w))
{
    struct server *s = &server;
    struct err err = {0};
    *s = (struct server){.tls = (what & SERVER_TLS) != 0};
    arena_init(&s->arena, 0);
    buf_init(&s->body, 64 << 20);
    s->dir = test_tmp_dir();
    world_init(&s->world);
    if ((what & SERVER_TOKENS) != 0) {
        REQUIRE_OK(crypto_key_new(&s->key, &err), &err);
        REQUIRE_OK(passwords_new(s->world.loop, &s->passwords, &err), &err);
    }
    struct api_config config = {
        .loop = s->world.loop,
        .engine = s->world.engine,
        .host = {s, log_path, exec_in, NULL, NULL},
        .server = STR("box"),
        .now_ms = world_clock,
        .key = s->key,
        .passwords = s->passwords,
    };
    s->world.api = api_new(&config);
    api_set_writer(s->world.api, s->world.writer);
    struct http_hooks hooks = api_hooks(s->world.api);
    s->http = http_new(s->world.loop, &hooks);
    int fd;
    snprintf(s->socket, sizeof s->socket, "%s/w.sock", s->dir);
    REQUIRE_OK(listen_unix(s->socket, &fd, &err), &err);
    REQUIRE_OK(http_listen(s->http, fd, true, &err), &err);
    listen_tcp_or_tls(s);
    world_node(&s->world);
    world_settle(&s->world);
    if (prepare != NULL) {
        prepare(&s->world);
        world_settle(&s->world);
    }
    s->stop_fd = eventfd(0, 0);
    REQUIRE_OK(loop_add(s->world.loop, s->stop_fd, EPOLLIN, on_stop, s, &err), &err);
    s->world.lent = true;
    REQUIRE(pthread_create(&s->thread, NULL, server_main, s) == 0);
    s->curl = curl_easy_init();
}

UNUSED static void server_start(void)
{
    server_start_with(0, NULL);
}

static void end_thread(struct server *s)
{
    uint64_t one = 1;
    REQUIRE(write(s->stop_fd, &one, sizeof one) == sizeof one);
    pthread_join(s->thread, NULL);
    s->world.lent = false;
}

/* Between the two the world is the test's. */
UNUSED static void server_pause(void)
{
    server.paused = true;
    end_thread(&server);
}

UNUSED static void server_resume(void)
{
    server.paused = false;
    server.world.lent = true;
    REQUIRE(pthread_create(&server.thread, NULL, server_main, &server) == 0);
}

static void server_stop(void)
{
    struct server *s = &server;
    end_thread(s);
    s->world.api = NULL;
    world_done(&s->world);
    crypto_key_free(s->key);
    close(s->stop_fd);
    curl_easy_cleanup(s->curl);
    buf_done(&s->body);
    arena_done(&s->arena);
}

static size_t take(char *bytes, size_t size, size_t count, void *arg)
{
    buf_add(arg, bytes, size * count);
    return size * count;
}

struct ask {
    const char *method, *path, *body;
    const char *key; /* idempotency */
    bool tcp;
    size_t body_len;   /* 0: of the text */
    const char *token; /* NULL: none */
};

static long ask(const struct ask *a)
{
    struct server *s = &server;
    char url[1024];
    char text[2048];
    struct curl_slist *headers = NULL;
    curl_easy_reset(s->curl);
    snprintf(url, sizeof url, "%s://%s%s%s", a->tcp && s->tls ? "https" : "http",
             a->tcp ? s->address : "box", strncmp(a->path, "/api/", 5) == 0 || a->tcp ? "" : PREFIX,
             a->path);
    buf_clear(&s->body);
    curl_easy_setopt(s->curl, CURLOPT_URL, url);
    curl_easy_setopt(s->curl, CURLOPT_CUSTOMREQUEST, a->method);
    curl_easy_setopt(s->curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(s->curl, CURLOPT_WRITEDATA, &s->body);
    curl_easy_setopt(s->curl, CURLOPT_TIMEOUT, 30L);
    if (!a->tcp) {
        curl_easy_setopt(s->curl, CURLOPT_UNIX_SOCKET_PATH, s->socket);
    } else if (s->tls) {
        snprintf(text, sizeof text, "%s/cert.pem", s->dir);
        curl_easy_setopt(s->curl, CURLOPT_CAINFO, text);
    }
    if (a->key != NULL) {
        snprintf(text, sizeof text, "Idempotency-Key: %s", a->key);
        headers = curl_slist_append(headers, text);
    }
    if (a->token != NULL) {
        snprintf(text, sizeof text, "Authorization: Bearer %s", a->token);
        headers = curl_slist_append(headers, text);
    }
    curl_easy_setopt(s->curl, CURLOPT_HTTPHEADER, headers);
    if (a->body != NULL) {
        curl_easy_setopt(s->curl, CURLOPT_POSTFIELDSIZE,
                         (long)(a->body_len != 0 ? a->body_len : strlen(a->body)));
        curl_easy_setopt(s->curl, CURLOPT_POSTFIELDS, a->body);
    }
    CURLcode rc = curl_easy_perform(s->curl);
    long code = -(long)rc;
    if (rc == CURLE_OK) {
        curl_easy_getinfo(s->curl, CURLINFO_RESPONSE_CODE, &code);
    }
    curl_slist_free_all(headers);
    return code;
}

UNUSED static long get(const char *path)
{
    return ask(&(struct ask){.method = "GET", .path = path});
}

UNUSED static long post(const char *path, const char *body)
{
    return ask(&(struct ask){.method = "POST", .path = path, .body = body});
}

/* The answer as a tree; every answer of the API is JSON. */
static const struct doc *answer(void)
{
    struct doc *root = NULL;
    struct err err = {0};
    struct str text = arena_str(&server.arena, buf_view(&server.body));
    REQUIRE_OK(json_doc(text, &server.arena, &root, &err), &err);
    return root;
}

UNUSED static struct str at(const char *path)
{
    const struct doc *d = doc_at(answer(), str_from_c(path));
    return d == NULL             ? STR("(missing)")
           : d->kind == DOC_NULL ? STR("null")
           : d->kind != DOC_BOOL ? d->text
           : d->boolean          ? STR("true")
                                 : STR("false");
}

/* Of the answer before; empty when it has none of the name. */
UNUSED static struct str header(const char *name)
{
    struct curl_header *h = NULL;
    return curl_easy_header(server.curl, name, 0, CURLH_HEADER, -1, &h) == CURLHE_OK
               ? arena_str(&server.arena, str_from_c(h->value))
               : STR("");
}

/* Asks until the member has the text: the server goes on meanwhile. */
UNUSED static bool becomes(const char *path, const char *member, const char *text)
{
    for (int i = 0; i < 1000; i++) {
        if (get(path) == 200 && str_eq(at(member), str_from_c(text))) {
            return true;
        }
        usleep(2000);
    }
    return false;
}

static const char plan_text[] = "organization:\n"
                                "  departments:\n"
                                "    - name: research\n"
                                "      node_pool_quotas: {default: {guaranteed_gpus: 4}}\n"
                                "      projects:\n"
                                "        - name: team-a\n"
                                "          node_pool_quotas: {default: {guaranteed_gpus: 2}}\n"
                                "        - name: team-b\n"
                                "          node_pool_quotas: {default: {guaranteed_gpus: 2}}\n";

UNUSED static void apply_plan_text(void)
{
    REQUIRE(post("/plan/apply", plan_text) == 200);
}

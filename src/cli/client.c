// SPDX-License-Identifier: Apache-2.0
// client: libcurl; the only file that includes it.
#include "cli/client.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <curl/curl.h>

#include "codec/json.h"
#include "io/clock.h"
#include "io/places.h"
#include "io/random.h"

enum {
    ANSWER_BYTES_MAX = JSON_SIZE_MAX,
    LIMIT_MS = 120 * 1000,
    TELL_MS = 3 * 1000,       /* longer than any answer takes as a rule */
    RETRY_MS_MAX = 10 * 1000, /* a server that is being restarted is back by then */
    RETRY_PAUSE_MS = 100,
    IDLE_MS = 100,
    CONNECT_MS = 20 * 1000,
};

struct transfer {
    struct client *client;
    CURL *curl;
    struct buf body;
    bool (*sink)(void *ctx, struct str piece);
    void *sink_ctx;
    bool stopped; /* the sink has had enough */
};

/* ---- where the server is ---- */

static bool is_loopback(struct str host)
{
    return str_eq(host, STR("localhost")) || str_eq(host, STR("[::1]")) ||
           str_starts(host, STR("127."));
}

// What stands between "//" and the end of the host, without the port.
static struct str host_of(struct str url)
{
    uint32_t from = str_find(url, '/') + 2;
    uint32_t to = url.len;
    bool bracket = false;
    for (uint32_t i = from; i < url.len && to == url.len; i++) {
        bracket = (bracket || url.ptr[i] == '[') && url.ptr[i] != ']';
        to = !bracket && url.ptr[i] == ':' ? i : to;
    }
    return str_sub(url, from, to - from);
}

static enum status check_url(struct str url, struct err *err)
{
    bool plain = str_starts(url, STR("http://"));
    bool tls = str_starts(url, STR("https://"));
    enum status status = STATUS_OK;
    uint32_t scheme = plain ? 7 : 8;
    bool path = url.len > scheme &&
                str_find(str_sub(url, scheme, url.len - scheme), '/') < url.len - scheme;
    if ((!plain && !tls) || url.len == scheme || path || str_find(url, '@') < url.len) {
        status = err_set(err, STATUS_INVALID, "the server's address is no address: " STR_FMT,
                         STR_ARG(url));
        err_hint(err, "expected https://HOST:PORT, without a path");
    } else if (plain && !is_loopback(host_of(url))) {
        status = err_set(err, STATUS_INVALID,
                         "over " STR_FMT " your token would cross the network in clear text",
                         STR_ARG(url));
        err_hint(err, "use https://; weir up --tls makes the server speak it");
    }
    return status;
}

enum status client_init(struct client *c, struct arena *arena, const struct client_at *at,
                        int64_t limit_ms, struct err *err)
{
    *c = (struct client){.arena = arena, .at = *at};
    c->limit_ms = limit_ms > 0 ? limit_ms : LIMIT_MS;
    client_next_key(c);
    while (str_ends(c->at.url, STR("/"))) {
        c->at.url.len--;
    }
    if (c->at.url.len > 0) {
        return check_url(c->at.url, err);
    }
    return c->at.socket.len > 0 ? STATUS_OK : places_socket(arena, &c->at.socket, err);
}

struct str client_where(const struct client *c)
{
    return c->at.url.len > 0 ? c->at.url : c->at.socket;
}

struct str client_host(const struct client *c)
{
    uint32_t from = str_find(c->at.url, '/') + 2;
    return c->at.url.len > 0 ? str_sub(c->at.url, from, c->at.url.len - from) : STR("localhost");
}

void client_done(struct client *c)
{
    if (c->handle != NULL) {
        curl_easy_cleanup(c->handle);
        curl_global_cleanup();
        c->handle = NULL;
    }
}

void client_next_key(struct client *c)
{
    uuid_format(random_uuid(), c->key);
}

static void escape(struct buf *out, struct str text)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
    for (uint32_t i = 0; i < text.len; i++) {
        if (memchr(plain, text.ptr[i], sizeof(plain) - 1) != NULL) {
            buf_char(out, text.ptr[i]);
        } else {
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)text.ptr[i]);
        }
    }
}

static struct str escaped(struct client *c, struct str text)
{
    struct buf b;
    buf_init(&b, 1 << 20);
    escape(&b, text);
    struct str s = arena_str(c->arena, buf_view(&b));
    buf_done(&b);
    return s;
}

struct str client_path(struct client *c, uint32_t count, const struct str *words)
{
    struct str path = STR("");
    for (uint32_t i = 0; i < count; i++) {
        path = arena_printf(c->arena, STR_FMT "/" STR_FMT, STR_ARG(path),
                            STR_ARG(escaped(c, words[i])));
    }
    return path;
}

struct str client_query(struct client *c, struct str path, const char *name, struct str value)
{
    return arena_printf(c->arena, STR_FMT "%s%s=" STR_FMT, STR_ARG(path),
                        str_find(path, '?') < path.len ? "&" : "?", name,
                        STR_ARG(escaped(c, value)));
}

static size_t on_bytes(char *bytes, size_t size, size_t count, void *arg)
{
    struct transfer *t = arg;
    size_t len = size * count;
    long code = 0;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &code);
    if (t->sink == NULL || code >= 400) {
        buf_add(&t->body, bytes, len);
        return t->body.full ? 0 : len;
    }
    if (!t->sink(t->sink_ctx, (struct str){bytes, (uint32_t)len})) {
        t->stopped = true;
        return 0;
    }
    return len;
}

/* Called about once a second, whatever comes. */
static int on_progress(void *arg, curl_off_t down_all, curl_off_t down, curl_off_t up_all,
                       curl_off_t up)
{
    (void)down_all;
    (void)down;
    (void)up_all;
    (void)up;
    const struct transfer *t = arg;
    long code = 0;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &code);
    return (t->sink != NULL && code != 0) || client_waits(t->client) ? 0 : 1;
}

// The library's handle, told where the server is.
static enum status aim(struct client *c, CURL *h, struct str path, struct err *err)
{
    if (c->at.url.len == 0 && c->at.socket.len >= sizeof(((struct sockaddr_un *)0)->sun_path)) {
        enum status status = err_set(err, STATUS_INVALID,
                                     "the path of the socket is too long: " STR_FMT,
                                     STR_ARG(c->at.socket));
        err_hint(err, "at most %zu bytes; see --socket",
                 sizeof(((struct sockaddr_un *)0)->sun_path) - 1);
        return status;
    }
    if (c->at.url.len == 0) {
        curl_easy_setopt(h, CURLOPT_UNIX_SOCKET_PATH, arena_cstr(c->arena, c->at.socket));
        curl_easy_setopt(h, CURLOPT_PROXY, "");
    }
    if (c->at.ca_file.len > 0) {
        curl_easy_setopt(h, CURLOPT_CAINFO, arena_cstr(c->arena, c->at.ca_file));
        curl_easy_setopt(h, CURLOPT_CAPATH, NULL);
    }
    struct str url = arena_printf(c->arena, STR_FMT "%s" STR_FMT,
                                  STR_ARG(c->at.url.len > 0 ? c->at.url : STR("http://localhost")),
                                  str_starts(path, STR("/api/")) ? "" : "/api/weir/v1",
                                  STR_ARG(path));
    curl_easy_setopt(h, CURLOPT_URL, url.ptr);
    curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(h, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
    curl_easy_setopt(h, CURLOPT_USERAGENT, "weir/" WEIR_VERSION);
    return STATUS_OK;
}

static enum status make_handle(void **out, struct err *err)
{
    if (*out == NULL &&
        (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || (*out = curl_easy_init()) == NULL)) {
        return err_set(err, STATUS_INTERNAL, "libcurl could not be started");
    }
    return STATUS_OK;
}

static void add_header(struct client *c, struct curl_slist **headers, const char *name,
                       struct str value)
{
    *headers = curl_slist_append(*headers,
                                 arena_printf(c->arena, "%s: " STR_FMT, name, STR_ARG(value)).ptr);
}

static enum status start(struct client *c, const struct request *r, struct transfer *t,
                         struct curl_slist **headers, struct err *err)
{
    enum status status = make_handle(&c->handle, err);
    if (status != STATUS_OK) {
        return status;
    }
    CURL *h = c->handle;
    t->curl = h;
    t->client = c;
    c->began_ms = clock_mono_ms();
    curl_easy_reset(h);
    status = aim(c, h, r->path, err);
    *headers = curl_slist_append(NULL, "Expect:");
    add_header(c, headers, "Idempotency-Key", str_from_c(c->key));
    if (r->type != NULL) {
        add_header(c, headers, "Content-Type", str_from_c(r->type));
    }
    if (c->bearer.len > 0) {
        add_header(c, headers, "Authorization",
                   arena_printf(c->arena, "Bearer " STR_FMT, STR_ARG(c->bearer)));
    }
    curl_easy_setopt(h, CURLOPT_HTTPHEADER, *headers);
    curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, on_bytes);
    curl_easy_setopt(h, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(h, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(h, CURLOPT_XFERINFODATA, t);
    curl_easy_setopt(h, CURLOPT_NOPROGRESS, 0L);
    if (strcmp(r->method, "GET") != 0) {
        curl_easy_setopt(h, CURLOPT_POST, 1L);
        curl_easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.len);
        curl_easy_setopt(h, CURLOPT_POSTFIELDS, r->body.len > 0 ? r->body.ptr : "");
        curl_easy_setopt(h, CURLOPT_CUSTOMREQUEST, r->method);
    }
    return status;
}

bool client_waits(struct client *c)
{
    int64_t waited_ms = clock_mono_ms() - c->began_ms;
    if (c->terminal && !c->told && waited_ms >= TELL_MS) {
        c->told = true;
        fprintf(stderr, "waiting for the server...\n");
    }
    return waited_ms < c->limit_ms;
}

enum status client_no_answer(struct client *c, struct err *err)
{
    bool seconds = c->limit_ms % 1000 == 0;
    err_set(err, STATUS_TIMEOUT, "the server at " STR_FMT " did not answer within %lld %s",
            STR_ARG(client_where(c)), (long long)(seconds ? c->limit_ms / 1000 : c->limit_ms),
            seconds ? "s" : "ms");
    return err_hint(err,
                    "what was asked may still be done: look before asking again. Is the server "
                    "stopped, or its machine very busy? --timeout waits longer");
}

static bool connection_lost(CURLcode code)
{
    return code == CURLE_GOT_NOTHING || code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR ||
           code == CURLE_PARTIAL_FILE;
}

// What libcurl's failure means for a person.
static enum status transport_error(struct client *c, CURL *handle, CURLcode code, struct err *err)
{
    long os = 0;
    enum status status;
    curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &os);
    bool remote = c->at.url.len > 0;
    if (code == CURLE_COULDNT_CONNECT && !remote && (os == EACCES || os == EPERM)) {
        status = err_set(err, STATUS_DENIED, "the server's socket " STR_FMT " is not open to you",
                         STR_ARG(c->at.socket));
        err_hint(err, "run this as the user that started the server, or as root; or sign in over "
                      "the network: weir login user --server URL");
    } else if (code == CURLE_COULDNT_CONNECT && !remote) {
        status = err_set(err, STATUS_UNREACHABLE, "no server runs here: nobody answers at " STR_FMT,
                         STR_ARG(c->at.socket));
        err_hint(err,
                 "start one with weir up, name its socket with --socket or WEIR_SOCKET, or one "
                 "elsewhere with --server or WEIR_SERVER");
    } else if (code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
               (code == CURLE_OPERATION_TIMEDOUT && remote)) {
        status = err_set(err, STATUS_UNREACHABLE,
                         "the server at " STR_FMT " cannot be reached (%s)", STR_ARG(c->at.url),
                         os > 0 ? strerror((int)os) : curl_easy_strerror(code));
        err_hint(err,
                 "look at the address (weir config describe), and whether weir up listens there");
    } else if (code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE) {
        status = err_set(err, STATUS_UNAUTHENTIC,
                         "the certificate of " STR_FMT " is not one to be trusted (%s)",
                         STR_ARG(c->at.url), curl_easy_strerror(code));
        err_hint(err,
                 "where it is self-signed, get tls-cert.pem of the server's data directory by a "
                 "way you trust and name it with --ca-file or WEIR_CA_FILE");
    } else if (code == CURLE_SSL_CONNECT_ERROR) {
        status = err_set(err, STATUS_UNREACHABLE, "the server at " STR_FMT " does not speak TLS",
                         STR_ARG(c->at.url));
        err_hint(err, "weir up --tls makes it do so");
    } else if (code == CURLE_ABORTED_BY_CALLBACK) {
        return client_no_answer(c, err);
    } else if (code == CURLE_WRITE_ERROR) {
        status = err_set(err, STATUS_TOO_LARGE, "the answer is larger than %d MiB",
                         ANSWER_BYTES_MAX >> 20);
    } else {
        status = err_set(err, STATUS_UNREACHABLE, "the connection to the server was lost (%s)",
                         curl_easy_strerror(code));
        err_hint(err, "look whether it runs: weir version");
    }
    return status;
}

static enum status status_of(int code, const struct doc *body)
{
    const struct doc *name = doc_get(body, STR("status"));
    enum status by_code = STATUS_INTERNAL;
    for (int i = STATUS_COUNT - 1; i > STATUS_OK; i--) {
        const struct status_info *info = status_info((enum status)i);
        if (name != NULL && str_eq(name->text, str_from_c(info->name))) {
            return (enum status)i;
        }
        by_code = info->http == code ? (enum status)i : by_code;
    }
    return by_code;
}

static struct str member_text(const struct doc *body, struct str key)
{
    const struct doc *d = doc_get(body, key);
    return d != NULL && d->kind == DOC_STRING ? d->text : STR("");
}

enum status client_read(struct client *c, int code, bool is_json, struct str text,
                        struct answer *out, struct err *err)
{
    *out = (struct answer){.code = code, .text = arena_str(c->arena, text)};
    struct doc *body = NULL;
    struct err broken = {0};
    if (is_json && json_doc(out->text, c->arena, &body, &broken) != STATUS_OK && code < 400) {
        return err_set(err, STATUS_INTERNAL, "the server's answer is no JSON: %s", broken.text);
    }
    out->body = body;
    if (code < 400) {
        return STATUS_OK;
    }
    struct str message = member_text(body, STR("message"));
    message = message.len > 0 ? message : member_text(body, STR("error_description"));
    enum status status = status_of(code, body);
    if (message.len == 0 && (code == 414 || code == 431)) { // from below the server's own errors
        message = STR("names and arguments are longer than one request may be");
    } else if (message.len == 0) {
        message = arena_printf(c->arena, "the server answered with HTTP status %d", code);
    }
    err_set(err, status, STR_FMT, STR_ARG(message));
    err_field(err, STR_FMT, STR_ARG(member_text(body, STR("field"))));
    err_hint(err, STR_FMT, STR_ARG(member_text(body, STR("hint"))));
    return status;
}

static enum status read_answer(struct client *c, struct transfer *t, struct answer *out,
                               struct err *err)
{
    long code = 0;
    const char *type = NULL;
    curl_easy_getinfo(c->handle, CURLINFO_RESPONSE_CODE, &code);
    curl_easy_getinfo(c->handle, CURLINFO_CONTENT_TYPE, &type);
    enum status status = client_read(c, (int)code,
                                     type != NULL && strncmp(type, "application/json", 16) == 0,
                                     buf_view(&t->body), out, err);
    if (status == STATUS_UNAUTHENTIC && c->bearer.len > 0 && err->hint[0] == 0) {
        err_hint(err, "sign in again: weir login user, weir login access-key, or weir login sso");
    }
    return status;
}

static void pause_ms(int ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000 * 1000};
    nanosleep(&t, NULL);
}

// Once for each client: a token that was just got and is refused is not to be had anew.
static bool renewed(struct client *c)
{
    bool (*renew)(struct client *, void *) = c->renew;
    c->renew = NULL;
    return renew != NULL && renew(c, c->renew_ctx);
}

enum status client_call(struct client *c, const struct request *r, struct answer *out,
                        struct err *err)
{
    struct transfer t = {0};
    buf_init(&t.body, ANSWER_BYTES_MAX);
    *out = (struct answer){0};
    int64_t began = clock_mono_ms();
    enum status status;
    bool lost = c->met; // it was there just now
    for (;;) {
        struct curl_slist *headers = NULL;
        status = start(c, r, &t, &headers, err);
        if (status != STATUS_OK) {
            break;
        }
        CURLcode code = curl_easy_perform(c->handle);
        if (c->debug) {
            long http = 0;
            curl_easy_getinfo(c->handle, CURLINFO_RESPONSE_CODE, &http);
            fprintf(stderr, "%s " STR_FMT ": %s, status %ld, %lld ms\n", r->method,
                    STR_ARG(r->path), code == CURLE_OK ? "answered" : curl_easy_strerror(code),
                    http, (long long)(clock_mono_ms() - began));
        }
        curl_slist_free_all(headers);
        lost = lost || connection_lost(code);
        bool again = connection_lost(code) || (lost && code == CURLE_COULDNT_CONNECT);
        if (again && clock_mono_ms() - began < RETRY_MS_MAX) {
            buf_clear(&t.body);
            pause_ms(RETRY_PAUSE_MS);
            continue;
        }
        c->met = c->met || code == CURLE_OK;
        status = code == CURLE_OK ? read_answer(c, &t, out, err)
                                  : transport_error(c, c->handle, code, err);
        if (status == STATUS_UNAUTHENTIC && code == CURLE_OK && renewed(c)) {
            buf_clear(&t.body);
            continue;
        }
        break;
    }
    buf_done(&t.body);
    return status;
}

enum status client_get(struct client *c, struct str path, struct answer *out, struct err *err)
{
    struct request r = {.method = "GET", .path = path};
    return client_call(c, &r, out, err);
}

// What cannot be asked a second time must not be begun with a token that is over.
static enum status client_fresh(struct client *c, struct err *err)
{
    struct answer answer;
    return c->renew != NULL ? client_get(c, STR("/whoami"), &answer, err) : STATUS_OK;
}

// Drives one transfer and gives the moments between its pieces to idle.
static CURLcode drive(struct client *c, CURLM *multi, bool (*idle)(void *ctx), void *ctx,
                      struct transfer *t)
{
    int running = 1;
    curl_multi_add_handle(multi, c->handle);
    CURLcode code = CURLE_OK;
    while (running > 0 && !t->stopped) {
        if (curl_multi_perform(multi, &running) != CURLM_OK) {
            code = CURLE_RECV_ERROR;
            break;
        }
        if (running > 0 && idle != NULL && !idle(ctx)) {
            t->stopped = true;
        }
        if (running > 0 && !t->stopped) {
            curl_multi_poll(multi, NULL, 0, idle != NULL ? IDLE_MS : 1000, NULL);
        }
    }
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(multi, &left)) != NULL;) {
        code = m->msg == CURLMSG_DONE ? m->data.result : code;
    }
    curl_multi_remove_handle(multi, c->handle);
    return code;
}

struct str client_header(struct client *c, const char *name)
{
    struct curl_header *header = NULL;
    if (c->handle == NULL ||
        curl_easy_header(c->handle, name, 0, CURLH_HEADER, -1, &header) != CURLHE_OK) {
        return STR("");
    }
    return arena_str(c->arena, str_from_c(header->value));
}

enum status client_stream(struct client *c, struct str path,
                          const struct client_stream_hooks *hooks, struct answer *out,
                          struct err *err)
{
    struct request r = {.method = "GET", .path = path};
    struct transfer t = {.sink = hooks->sink, .sink_ctx = hooks->ctx};
    *out = (struct answer){0};
    buf_init(&t.body, ANSWER_BYTES_MAX);
    struct curl_slist *headers = NULL;
    enum status status = client_fresh(c, err);
    status = status == STATUS_OK ? start(c, &r, &t, &headers, err) : status;
    CURLM *multi = status == STATUS_OK ? curl_multi_init() : NULL;
    if (status == STATUS_OK && multi == NULL) {
        status = err_set(err, STATUS_INTERNAL, "libcurl could not be started");
    }
    if (status == STATUS_OK) {
        CURLcode code = drive(c, multi, hooks->idle, hooks->ctx, &t);
        if (c->debug) {
            fprintf(stderr, "GET " STR_FMT ": %s\n", STR_ARG(path),
                    t.stopped ? "stopped" : curl_easy_strerror(code));
        }
        if (!t.stopped) {
            status = code == CURLE_OK ? read_answer(c, &t, out, err)
                                      : transport_error(c, c->handle, code, err);
        }
    }
    if (multi != NULL) {
        curl_multi_cleanup(multi);
    }
    curl_slist_free_all(headers);
    buf_done(&t.body);
    return status;
}

enum status client_wire_open(struct client *c, struct client_wire *w, struct err *err)
{
    *w = (struct client_wire){.fd = -1};
    enum status status = client_fresh(c, err);
    status = status == STATUS_OK ? make_handle(&w->handle, err) : status;
    status = status == STATUS_OK ? aim(c, w->handle, STR(""), err) : status;
    if (status != STATUS_OK) {
        return status;
    }
    curl_easy_setopt(w->handle, CURLOPT_CONNECT_ONLY, 1L);
    /* HTTP/1.1: what follows the handshake is ours. */
    curl_easy_setopt(w->handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    CURLcode code = curl_easy_perform(w->handle);
    curl_socket_t fd = CURL_SOCKET_BAD;
    if (code == CURLE_OK) {
        code = curl_easy_getinfo(w->handle, CURLINFO_ACTIVESOCKET, &fd);
    }
    if (code == CURLE_OK && fd == CURL_SOCKET_BAD) {
        code = CURLE_COULDNT_CONNECT;
    }
    if (code != CURLE_OK) {
        return transport_error(c, w->handle, code, err);
    }
    w->fd = fd;
    return STATUS_OK;
}

void client_wire_close(struct client_wire *w)
{
    curl_easy_cleanup(w->handle);
    *w = (struct client_wire){.fd = -1};
}

static ssize_t wire_result(CURLcode code, size_t len)
{
    if (code == CURLE_OK) {
        return (ssize_t)len;
    }
    errno = code == CURLE_AGAIN ? EAGAIN : ECONNRESET;
    return -1;
}

ssize_t client_wire_send(struct client_wire *w, const void *bytes, size_t len)
{
    size_t sent = 0;
    CURLcode code = curl_easy_send(w->handle, bytes, len, &sent);
    return wire_result(code, sent);
}

ssize_t client_wire_recv(struct client_wire *w, void *bytes, size_t size)
{
    size_t got = 0;
    CURLcode code = curl_easy_recv(w->handle, bytes, size, &got);
    return wire_result(code, got);
}

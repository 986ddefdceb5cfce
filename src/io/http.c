// SPDX-License-Identifier: Apache-2.0
// libmicrohttpd in external polling: its epoll descriptor is one of the loop's. A request that is
// not answered from within the handler suspends its connection, and answering resumes it; the same
// for a stream that has nothing to send. A suspended connection notices no disconnect: whoever
// streams writes heartbeats.
#include "io/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/num.h"
#include "io/clock.h"
#include "io/random.h"

enum {
    LISTENERS_MAX = 2,
    STREAM_BLOCK_BYTES = 16 * 1024,
    SWEEP_MS = 1000,
    ROUNDS_MAX = 8, /* of one daemon before the others are looked at */
};

enum request_state { READING, HANDED, ANSWERED, SENT };

struct http_private {
    struct http_request *next, *prev; /* all of the server */
    struct http *http;
    struct MHD_Connection *connection;
    struct connection_note *note;
    enum request_state state;
    bool suspended, too_large;
    size_t body_max, beyond; /* beyond: read and thrown away */
    struct buf body;
    struct MHD_Response *response;
    int code;
    ARRAY(struct http_pair) headers; /* to be sent */
    ARRAY(struct http_pair) args;
    bool args_bad, args_many;
    /* stream */
    bool streaming, stream_ended, stream_dropped;
    struct buf out;
    size_t out_taken;
    /* upgrade */
    http_upgraded *upgraded;
    void *upgraded_arg;
    struct MHD_UpgradeResponseHandle *upgrade_handle;
};

/* One a connection: since when it owes us a request. */
struct connection_note {
    struct connection_note *next, *prev;
    struct http *http;
    int fd;
    int64_t since_ms;
    bool busy; /* a whole request is being answered */
    bool known;
};

struct listener {
    struct http *http;
    struct MHD_Daemon *daemon;
    uint32_t connections, connections_max;
    bool local, quiesced;
};

struct http {
    struct loop *loop;
    struct http_hooks hooks;
    struct listener listeners[LISTENERS_MAX];
    uint32_t listener_count;
    struct http_request *requests;
    struct connection_note *notes;
    struct loop_timer timeout, sweep;
    bool resumed; /* some connection was, which the library notices only when it runs */
};

/* ---- requests ---- */

struct str http_header(const struct http_request *r, const char *name)
{
    return str_from_c(MHD_lookup_connection_value(r->private->connection, MHD_HEADER_KIND, name));
}

struct str http_arg(const struct http_request *r, struct str name)
{
    for (uint32_t i = 0; i < r->args_count; i++) {
        if (str_eq(r->args[i].name, name)) {
            return r->args[i].value;
        }
    }
    return (struct str){0};
}

static enum MHD_Result take_arg(void *arg, enum MHD_ValueKind kind, const char *name,
                                size_t name_len, const char *value, size_t value_len)
{
    (void)kind;
    struct http_request *r = arg;
    struct http_private *p = r->private;
    struct http_pair pair = {
        {name,  num_u32(name_len) },
        {value, num_u32(value_len)}
    };
    p->args_many = p->args.count == HTTP_ARGS_MAX;
    p->args_bad = !str_is_utf8(pair.name) || !str_is_utf8(pair.value);
    if (p->args_many || p->args_bad) {
        return MHD_NO;
    }
    struct http_pair *kept = ARRAY_PUSH(&r->arena, &p->args);
    kept->name = arena_str(&r->arena, pair.name);
    kept->value = arena_str(&r->arena, pair.value);
    return MHD_YES;
}

static struct str address_of(struct MHD_Connection *connection, struct arena *arena)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    char text[INET6_ADDRSTRLEN] = "";
    if (info != NULL && info->client_addr->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, info->client_addr, sizeof in);
        inet_ntop(AF_INET, &in.sin_addr, text, sizeof text);
    } else if (info != NULL && info->client_addr->sa_family == AF_INET6) {
        struct sockaddr_in6 in6;
        memcpy(&in6, info->client_addr, sizeof in6);
        inet_ntop(AF_INET6, &in6.sin6_addr, text, sizeof text);
    }
    return arena_str(arena, str_from_c(text));
}

static struct http_request *request_new(struct listener *listener,
                                        struct MHD_Connection *connection, const char *url,
                                        const char *method)
{
    struct http *h = listener->http;
    struct http_request *r = mem_alloc(sizeof *r);
    struct http_private *p = mem_alloc(sizeof *p);
    r->private = p;
    arena_init(&r->arena, 0);
    r->method = arena_str(&r->arena, str_from_c(method));
    r->path = arena_str(&r->arena, str_from_c(url));
    r->local = listener->local;
    r->address = address_of(connection, &r->arena);
    r->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    uuid_format(random_uuid(), r->id);
    p->http = h;
    p->connection = connection;
    p->note =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    r->known = &p->note->known;
    p->next = h->requests;
    if (p->next != NULL) {
        p->next->private->prev = r;
    }
    h->requests = r;
    MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, take_arg, r);
    r->args = p->args.items;
    r->args_count = p->args.count;
    return r;
}

static void request_free(struct http_request *r)
{
    struct http_private *p = r->private;
    if (r->over != NULL) {
        r->over(r->over_arg);
    }
    if (p->prev != NULL) {
        p->prev->private->next = p->next;
    } else {
        p->http->requests = p->next;
    }
    if (p->next != NULL) {
        p->next->private->prev = p->prev;
    }
    if (p->response != NULL) {
        MHD_destroy_response(p->response);
    }
    buf_done(&p->body);
    buf_done(&p->out);
    arena_done(&r->arena);
    mem_free(p);
    mem_free(r);
}

static void wake(struct http_private *p)
{
    if (p->suspended) {
        p->suspended = false;
        MHD_resume_connection(p->connection);
        p->http->resumed = true;
    }
}

static void respond(struct http_request *r, int code, struct MHD_Response *response,
                    const char *content_type)
{
    struct http_private *p = r->private;
    CHECK(response != NULL);
    CHECK(p->state == READING || p->state == HANDED);
    for (uint32_t i = 0; i < p->headers.count; i++) {
        MHD_add_response_header(response, p->headers.items[i].name.ptr,
                                p->headers.items[i].value.ptr);
    }
    if (content_type != NULL) {
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    }
    p->response = response;
    p->code = code;
    p->state = ANSWERED;
    wake(p);
}

void http_set_header(struct http_request *r, const char *name, struct str value)
{
    struct http_pair *pair = ARRAY_PUSH(&r->arena, &r->private->headers);
    pair->name = arena_str(&r->arena, str_from_c(name));
    pair->value = arena_str(&r->arena, value);
}

void http_answer(struct http_request *r, int code, const char *content_type, struct str body)
{
    respond(r, code,
            MHD_create_response_from_buffer(
                body.len, body.len != 0 ? (void *)(uintptr_t)body.ptr : (void *)(uintptr_t)"",
                MHD_RESPMEM_MUST_COPY),
            content_type);
}

bool http_answered(const struct http_request *r)
{
    return r->private->state >= ANSWERED;
}

/* ---- streams ---- */

static ssize_t stream_read(void *arg, uint64_t position, char *out, size_t max)
{
    (void)position;
    struct http_request *r = arg;
    struct http_private *p = r->private;
    if (p->stream_dropped) {
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    size_t left = p->out.len - p->out_taken;
    if (left == 0) {
        if (p->stream_ended) {
            return MHD_CONTENT_READER_END_OF_STREAM;
        }
        p->suspended = true;
        MHD_suspend_connection(p->connection);
        return 0;
    }
    size_t len = left < max ? left : max;
    memcpy(out, p->out.ptr + p->out_taken, len);
    p->out_taken += len;
    if (p->out_taken == p->out.len) {
        buf_clear(&p->out);
        p->out_taken = 0;
    }
    return (ssize_t)len;
}

void http_stream_begin(struct http_request *r, int code, const char *content_type)
{
    struct http_private *p = r->private;
    p->streaming = true;
    buf_init(&p->out, HTTP_STREAM_BYTES_MAX);
    respond(r, code,
            MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, stream_read, r,
                                              NULL),
            content_type);
}

bool http_stream_write(struct http_request *r, struct str bytes)
{
    struct http_private *p = r->private;
    CHECK(p->streaming && !p->stream_ended);
    if (p->out_taken > HTTP_STREAM_BYTES_MAX / 2) {
        memmove(p->out.ptr, p->out.ptr + p->out_taken, p->out.len - p->out_taken);
        p->out.len -= p->out_taken;
        p->out_taken = 0;
    }
    buf_str(&p->out, bytes);
    p->stream_dropped = p->stream_dropped || p->out.full;
    wake(p);
    return !p->stream_dropped;
}

void http_stream_end(struct http_request *r)
{
    r->private->stream_ended = true;
    wake(r->private);
}

void http_stream_cut(struct http_request *r)
{
    r->private->stream_dropped = true;
    wake(r->private);
}

size_t http_stream_pending(const struct http_request *r)
{
    return r->private->out.len - r->private->out_taken;
}

/* ---- upgrades ---- */

static void on_upgrade(void *arg, struct MHD_Connection *connection, void *request,
                       const char *extra, size_t extra_len, MHD_socket fd,
                       struct MHD_UpgradeResponseHandle *handle)
{
    (void)connection;
    (void)request;
    struct http_request *r = arg;
    struct http_private *p = r->private;
    p->upgrade_handle = handle;
    p->upgraded(p->upgraded_arg, fd, (struct str){extra, num_u32(extra_len)});
}

void http_upgrade(struct http_request *r, http_upgraded *fn, void *arg)
{
    struct http_private *p = r->private;
    p->upgraded = fn;
    p->upgraded_arg = arg;
    respond(r, MHD_HTTP_SWITCHING_PROTOCOLS, MHD_create_response_for_upgrade(on_upgrade, r), NULL);
}

void http_upgrade_close(struct http_request *r)
{
    struct http_private *p = r->private;
    CHECK(p->upgrade_handle != NULL);
    struct MHD_UpgradeResponseHandle *handle = p->upgrade_handle;
    p->upgrade_handle = NULL;
    p->http->resumed = true;
    MHD_upgrade_action(handle, MHD_UPGRADE_ACTION_CLOSE); /* r may be gone from here on */
}

/* ---- what the library calls ---- */

static enum MHD_Result send_answer(struct http_request *r)
{
    struct http_private *p = r->private;
    p->state = SENT;
    return MHD_queue_response(p->connection, (unsigned int)p->code, p->response);
}

static enum MHD_Result refuse(struct http_request *r, const struct err *err)
{
    struct http_private *p = r->private;
    p->note->busy = true;
    p->http->hooks.refuse(p->http->hooks.ctx, r, err);
    CHECK(http_answered(r));
    return send_answer(r);
}

/* Headers are there. What is wrong with them is answered before the body is read. */
static enum MHD_Result begin_request(struct http_request *r)
{
    struct http_private *p = r->private;
    struct err err;
    if (p->args_many) {
        err_set(&err, STATUS_TOO_LARGE, "the address has more than %d arguments", HTTP_ARGS_MAX);
        return refuse(r, &err);
    }
    if (p->args_bad || !str_is_utf8(r->path)) {
        err_set(&err, STATUS_INVALID, "the address is not UTF-8, or has a zero byte");
        return refuse(r, &err);
    }
    p->body_max = p->http->hooks.body_max(p->http->hooks.ctx, r);
    buf_init(&p->body, p->body_max);
    int64_t length = 0;
    struct str told = http_header(r, MHD_HTTP_HEADER_CONTENT_LENGTH);
    if (told.len != 0 && (!num_parse_i64(told, &length) || (uint64_t)length > p->body_max)) {
        err_set(&err, STATUS_TOO_LARGE, "the body has " STR_FMT " bytes, at most %zu are accepted",
                STR_ARG(told), p->body_max);
        return refuse(r, &err);
    }
    return MHD_YES;
}

static enum MHD_Result end_request(struct http_request *r)
{
    struct http_private *p = r->private;
    if (p->too_large) {
        struct err err;
        err_set(&err, STATUS_TOO_LARGE, "the body has more than %zu bytes", p->body_max);
        return refuse(r, &err);
    }
    p->note->busy = true;
    p->state = HANDED;
    r->body = buf_view(&p->body);
    p->http->hooks.handle(p->http->hooks.ctx, r);
    if (p->state == ANSWERED) {
        return send_answer(r);
    }
    p->suspended = true;
    MHD_suspend_connection(p->connection);
    return MHD_YES;
}

static enum MHD_Result on_access(void *arg, struct MHD_Connection *connection, const char *url,
                                 const char *method, const char *version, const char *upload,
                                 size_t *upload_len, void **kept)
{
    (void)version;
    struct http_request *r = *kept;
    if (r == NULL) {
        r = request_new(arg, connection, url, method);
        *kept = r;
        return begin_request(r);
    }
    struct http_private *p = r->private;
    if (*upload_len > 0) {
        p->too_large = p->too_large || *upload_len > p->body_max - p->body.len;
        if (!p->too_large) {
            buf_add(&p->body, upload, *upload_len);
        } else {
            p->beyond += *upload_len;
        }
        *upload_len = 0;
        /* Only at its end can it be answered: who goes on for too long is cut off instead. */
        return p->beyond <= HTTP_BEYOND_BYTES_MAX ? MHD_YES : MHD_NO;
    }
    return p->state == ANSWERED ? send_answer(r) : end_request(r);
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **kept,
                         enum MHD_RequestTerminationCode how)
{
    (void)arg;
    (void)connection;
    (void)how;
    struct http_request *r = *kept;
    if (r != NULL) {
        *kept = NULL;
        r->private->note->busy = false;
        r->private->note->since_ms = clock_mono_ms();
        request_free(r);
    }
}

static void on_connection(void *arg, struct MHD_Connection *connection, void **kept,
                          enum MHD_ConnectionNotificationCode what)
{
    struct listener *listener = arg;
    struct http *h = listener->http;
    struct connection_note *note = *kept;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        note = mem_alloc(sizeof *note);
        note->http = h;
        note->fd =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
        note->since_ms = clock_mono_ms();
        note->next = h->notes;
        if (note->next != NULL) {
            note->next->prev = note;
        }
        h->notes = note;
        *kept = note;
        listener->connections++;
    } else if (note != NULL) {
        if (note->prev != NULL) {
            note->prev->next = note->next;
        } else {
            h->notes = note->next;
        }
        if (note->next != NULL) {
            note->next->prev = note->prev;
        }
        mem_free(note);
        *kept = NULL;
        /* The library stopped listening, and begins again only when it runs once more. */
        h->resumed = h->resumed || listener->connections == listener->connections_max;
        listener->connections--;
    }
}

/* ---- in the loop ---- */

/* Whether the client sends no more, with all that it sent read. The library, told of changes only,
 * does not notice an end that was there before it accepted the connection. */
static bool is_over(int fd)
{
    char next;
    return recv(fd, &next, sizeof next, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static void sweep(void *arg)
{
    struct http *h = arg;
    int64_t now_ms = clock_mono_ms();
    for (struct connection_note *note = h->notes; note != NULL; note = note->next) {
        int64_t owed_ms = note->busy ? 0 : now_ms - note->since_ms;
        /* A client that trickles, or is gone: the library sees the end. */
        if (owed_ms > HTTP_REQUEST_MS_MAX || (owed_ms > SWEEP_MS && is_over(note->fd))) {
            shutdown(note->fd, SHUT_RDWR);
        }
    }
    loop_at(h->loop, &h->sweep, now_ms + SWEEP_MS, sweep, h);
}

static void nothing(void *arg)
{
    (void)arg; /* the timer only ends the wait; before_wait does the work */
}

/* Runs one daemon until it has nothing to do at once; returns how long it can wait. */
static int64_t run_daemon(struct MHD_Daemon *daemon, bool resumed)
{
    MHD_UNSIGNED_LONG_LONG timeout = 0;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        if (round > 0 || !resumed) {
            if (MHD_get_timeout(daemon, &timeout) != MHD_YES) {
                return INT64_MAX;
            }
            if (timeout > 0) {
                return (int64_t)timeout;
            }
        }
        MHD_run(daemon);
    }
    return 0;
}

static void before_wait(void *arg)
{
    struct http *h = arg;
    bool resumed = h->resumed;
    h->resumed = false;
    int64_t wait_ms = INT64_MAX;
    for (uint32_t i = 0; i < h->listener_count; i++) {
        wait_ms = num_min_i64(wait_ms, run_daemon(h->listeners[i].daemon, resumed));
    }
    wait_ms = h->resumed ? 0 : wait_ms;
    if (wait_ms != INT64_MAX) {
        loop_at(h->loop, &h->timeout, clock_mono_ms() + wait_ms, nothing, NULL);
    } else {
        loop_cancel(h->loop, &h->timeout);
    }
}

static void on_ready(void *arg, int fd, uint32_t events)
{
    (void)fd;
    (void)events;
    struct listener *listener = arg;
    MHD_run(listener->daemon);
}

struct http *http_new(struct loop *loop, const struct http_hooks *hooks)
{
    struct http *h = mem_alloc(sizeof *h);
    h->loop = loop;
    h->hooks = *hooks;
    loop_before(loop, before_wait, h);
    loop_at(loop, &h->sweep, clock_mono_ms() + SWEEP_MS, sweep, h);
    return h;
}

static enum status listen_on(struct http *h, int fd, bool local, unsigned int flags,
                             const struct MHD_OptionItem *more, struct err *err)
{
    CHECK(h->listener_count < LISTENERS_MAX);
    struct listener *listener = &h->listeners[h->listener_count];
    *listener = (struct listener){
        .http = h,
        .local = local,
        .connections_max = local ? HTTP_CONNECTIONS_MAX : HTTP_TCP_CONNECTIONS_MAX,
    };
    listener->daemon = MHD_start_daemon(
        flags | MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE, 0, NULL, NULL,
        on_access, listener, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)(local ? HTTP_HEADER_BYTES_MAX : HTTP_TCP_HEADER_BYTES_MAX),
        MHD_OPTION_CONNECTION_LIMIT, (unsigned int)listener->connections_max,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)HTTP_IDLE_SECONDS, MHD_OPTION_NOTIFY_COMPLETED,
        on_completed, NULL, MHD_OPTION_NOTIFY_CONNECTION, on_connection, listener, MHD_OPTION_ARRAY,
        more, MHD_OPTION_END);
    if (listener->daemon == NULL) {
        int reason = errno;
        close(fd);
        return err_set(err, STATUS_IO, "cannot start the HTTP server: %s", strerror(reason));
    }
    int epoll_fd = MHD_get_daemon_info(listener->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    enum status status = loop_add(h->loop, epoll_fd, EPOLLIN, on_ready, listener, err);
    if (status != STATUS_OK) {
        MHD_stop_daemon(listener->daemon);
        return status;
    }
    h->listener_count++;
    return STATUS_OK;
}

enum status http_listen(struct http *h, int fd, bool local, struct err *err)
{
    static const struct MHD_OptionItem none[] = {
        {MHD_OPTION_END, 0, NULL}
    };
    return listen_on(h, fd, local, 0, none, err);
}

enum status http_listen_tls(struct http *h, int fd, struct str certificate, struct str key,
                            struct err *err)
{
    struct arena arena; /* the library reads them now and wants them terminated */
    arena_init(&arena, 0);
    const struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)arena_cstr(&arena, certificate)},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)arena_cstr(&arena, key)},
        {MHD_OPTION_HTTPS_PRIORITIES, 0,
         (void *)(uintptr_t)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    enum status status = listen_on(h, fd, false, MHD_USE_TLS, tls, err);
    arena_done(&arena);
    if (status == STATUS_IO) {
        err_set(err, STATUS_INVALID, "the certificate and its key are no pair in PEM");
        status = STATUS_INVALID;
    }
    return status;
}

void http_quiesce(struct http *h)
{
    for (uint32_t i = 0; i < h->listener_count; i++) {
        if (!h->listeners[i].quiesced) {
            h->listeners[i].quiesced = true;
            int fd = MHD_quiesce_daemon(h->listeners[i].daemon);
            if (fd >= 0) {
                close(fd);
            }
        }
    }
}

void http_each(struct http *h, void (*fn)(void *arg, struct http_request *r), void *arg)
{
    struct http_request *r = h->requests;
    while (r != NULL) {
        struct http_request *next = r->private->next;
        if (r->private->state != READING) {
            fn(arg, r);
        }
        r = next;
    }
}

static void end_request_of(void *arg, struct http_request *r)
{
    (void)arg;
    struct http_private *p = r->private;
    if (p->state == HANDED) {
        struct err err;
        err_set(&err, STATUS_BUSY, "the server stops");
        p->http->hooks.refuse(p->http->hooks.ctx, r, &err);
    } else if (p->upgrade_handle != NULL) {
        http_upgrade_close(r);
    } else if (p->streaming && !p->stream_ended) {
        p->stream_dropped = true; /* without its last chunk, so that its reader knows */
        wake(p);
    }
}

void http_free(struct http *h)
{
    if (h == NULL) {
        return;
    }
    http_quiesce(h);
    http_each(h, end_request_of, NULL);
    before_wait(h);
    for (uint32_t i = 0; i < h->listener_count; i++) {
        struct MHD_Daemon *daemon = h->listeners[i].daemon;
        loop_del(h->loop, MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd);
        MHD_stop_daemon(daemon);
    }
    loop_before_del(h->loop, before_wait, h);
    loop_cancel(h->loop, &h->timeout);
    loop_cancel(h->loop, &h->sweep);
    mem_free(h);
}

// SPDX-License-Identifier: Apache-2.0
// Exec and port-forward: a WebSocket on one side, the pod's command or a port of the pod on the other.
// With a command both carry the same messages, a channel and bytes: here one binary message with the
// channel as its first byte, there a head of channel and length. With a port binary messages carry its
// bytes as they come, an empty one ends one direction. While more than PENDING_BYTES_MAX wait for one side, nothing is read from the
// other.
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/call.h"
#include "api/lasting.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/num.h"
#include "io/clock.h"
#include "io/file.h"
#include "io/ws.h"
#include "model/limits.h"

enum {
    CHANNEL_MAX = 3,
    HEAD_BYTES = 5,
    READ_BYTES = 32 * 1024,
    PENDING_BYTES_MAX = 256 * 1024,
    BUFFER_BYTES_MAX = 8 << 20,
    LINGER_MS = 2000,
    FORWARDS_MAX = 128, /* open at a time */
};

struct bridge {
    struct bridge *next;
    struct call *call;
    int pod_fd, client_fd;
    struct buf to_pod, to_client, from_pod;
    struct ws_decoder decoder;
    uint32_t pod_events, client_events;
    bool raw;           /* a port: bytes, not messages */
    bool pod_shut;      /* the client has no more for it */
    bool pod_done;      /* nothing more comes from the command */
    bool closing;       /* the close message is in to_client */
    bool client_closed; /* it has said so */
    bool lingering;     /* the close message is sent: until the client has read it and closes too */
    struct loop_timer linger_timer;
    bool over;
    struct lasting lasting;
};

static void drop_front(struct buf *b, size_t len)
{
    memmove(b->ptr, b->ptr + len, b->len - len);
    b->len -= len;
}

/* False when the other side is gone. */
static bool write_some(int fd, struct buf *b)
{
    size_t done = 0;
    while (done < b->len) {
        ssize_t n = write(fd, b->ptr + done, b->len - done);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            break;
        }
        done += (size_t)n;
    }
    bool ok = done == b->len || errno == EAGAIN;
    if (done > 0) {
        drop_front(b, done);
    }
    return ok;
}

static void close_client(struct bridge *b, uint16_t code)
{
    if (!b->closing) {
        b->closing = true;
        ws_encode_close(&b->to_client, code, NULL);
    }
}

static bool add_to_pod(struct bridge *b, struct str message)
{
    if (b->raw) {
        b->pod_shut = b->pod_shut || message.len == 0;
        if (!b->pod_shut) {
            buf_str(&b->to_pod, message);
        }
        return !b->to_pod.full;
    }
    if (message.len == 0 || (uint8_t)message.ptr[0] > CHANNEL_MAX) {
        return false;
    }
    uint32_t len = message.len - 1;
    uint8_t head[HEAD_BYTES] = {(uint8_t)message.ptr[0], (uint8_t)(len & 0xff),
                                (uint8_t)(len >> 8 & 0xff), (uint8_t)(len >> 16 & 0xff),
                                (uint8_t)(len >> 24)};
    buf_add(&b->to_pod, head, sizeof head);
    buf_str(&b->to_pod, str_sub(message, 1, len));
    return !b->to_pod.full;
}

static void take_client_messages(struct bridge *b)
{
    struct ws_message m;
    struct err err;
    enum status status;
    while (!b->closing && (status = ws_decoder_take(&b->decoder, &m, &err)) != STATUS_UNKNOWN) {
        if (status != STATUS_OK) {
            close_client(b, status == STATUS_TOO_LARGE ? WS_CLOSE_TOO_BIG : WS_CLOSE_PROTOCOL);
        } else if (m.opcode == WS_PING) {
            ws_encode(&b->to_client, WS_PONG, m.payload, NULL);
        } else if (m.opcode == WS_CLOSE) {
            b->client_closed = true;
            close_client(b, WS_CLOSE_NORMAL);
        } else if (m.opcode != WS_PONG && (m.opcode != WS_BINARY || !add_to_pod(b, m.payload))) {
            close_client(b, WS_CLOSE_PROTOCOL);
        }
    }
}

static void take_pod_messages(struct bridge *b)
{
    size_t at = 0;
    if (b->raw) {
        if (b->from_pod.len > 0) {
            ws_encode(&b->to_client, WS_BINARY, buf_view(&b->from_pod), NULL);
            buf_clear(&b->from_pod);
        }
        return;
    }
    while (b->from_pod.len - at >= HEAD_BYTES) {
        uint8_t *p = (uint8_t *)b->from_pod.ptr + at;
        size_t len = p[1] | (size_t)p[2] << 8 | (size_t)p[3] << 16 | (size_t)p[4] << 24;
        if (b->from_pod.len - at - HEAD_BYTES < len) {
            break;
        }
        p[HEAD_BYTES - 1] = p[0]; /* the channel right before the bytes */
        ws_encode(&b->to_client, WS_BINARY,
                  (struct str){(char *)p + HEAD_BYTES - 1, (uint32_t)len + 1}, NULL);
        at += HEAD_BYTES + len;
    }
    if (at > 0) {
        drop_front(&b->from_pod, at);
    }
}

/* Reads once; false at the end. */
static bool read_some(int fd, char *bytes, ssize_t *got)
{
    *got = read(fd, bytes, READ_BYTES);
    if (*got < 0 && (errno == EAGAIN || errno == EINTR)) {
        *got = 0;
        return true;
    }
    return *got > 0;
}

static void finish(struct bridge *b)
{
    struct loop *loop = b->call->api->config.loop;
    b->over = true;
    lasting_over(&b->lasting);
    loop_cancel(loop, &b->linger_timer);
    if (b->pod_fd >= 0) {
        loop_del(loop, b->pod_fd);
        file_close(&b->pod_fd);
    }
    loop_del(loop, b->client_fd);
    http_upgrade_close(b->call->request);
}

/* Who opened it may no longer: the command hears that its end is gone, and a client that does not read
 * is not waited for. */
static void end_session(void *arg)
{
    struct bridge *b = arg;
    close_client(b, WS_CLOSE_POLICY);
    (void)write_some(b->client_fd, &b->to_client);
    finish(b);
}

static void set_events(struct bridge *b)
{
    struct loop *loop = b->call->api->config.loop;
    uint32_t client = (b->to_client.len > 0 ? EPOLLOUT : 0u) |
                      (b->lingering || (!b->closing && b->to_pod.len < PENDING_BYTES_MAX) ? EPOLLIN
                                                                                          : 0u);
    uint32_t pod = (b->to_pod.len > 0 ? EPOLLOUT : 0u) |
                   (b->to_client.len < PENDING_BYTES_MAX ? EPOLLIN : 0u);
    if (client != b->client_events) {
        b->client_events = client;
        loop_mod(loop, b->client_fd, client);
    }
    if (b->pod_fd >= 0 && pod != b->pod_events) {
        b->pod_events = pod;
        loop_mod(loop, b->pod_fd, pod);
    }
}

static void on_lingered(void *arg)
{
    finish(arg);
}

/* A socket that is closed while something comes in loses what is on its way out: what the client still
 * sends is read, until it closes as well. */
static void linger(struct bridge *b)
{
    if (!b->lingering) {
        b->lingering = true;
        loop_at(b->call->api->config.loop, &b->linger_timer, clock_mono_ms() + LINGER_MS,
                on_lingered, b);
    }
    set_events(b);
}

/* What comes after our close message is not looked at but for the client's own. */
static bool has_closed(struct bridge *b)
{
    struct ws_message m;
    while (!b->client_closed && ws_decoder_take(&b->decoder, &m, NULL) == STATUS_OK) {
        b->client_closed = m.opcode == WS_CLOSE;
    }
    return b->client_closed;
}

/* After whatever happened: moves what can be moved, ends what has ended. */
static void advance(struct bridge *b)
{
    struct loop *loop = b->call->api->config.loop;
    if (b->pod_fd >= 0 && !write_some(b->pod_fd, &b->to_pod)) {
        buf_clear(
            &b->to_pod); /* a command that has ended reads no more; what it said is still read */
    }
    if (b->raw && b->pod_shut && b->pod_fd >= 0 && b->to_pod.len == 0) {
        (void)shutdown(b->pod_fd, SHUT_WR);
    }
    if (b->pod_done && b->pod_fd >= 0) {
        loop_del(loop, b->pod_fd);
        file_close(&b->pod_fd);
        close_client(b, WS_CLOSE_NORMAL);
    }
    bool there = write_some(b->client_fd, &b->to_client);
    bool told = b->closing && b->to_client.len == 0;
    if (!there || b->to_client.full || (told && b->client_closed)) {
        finish(b);
    } else if (told) {
        linger(b);
    } else {
        set_events(b);
    }
}

static void on_client(void *arg, int fd, uint32_t events)
{
    struct bridge *b = arg;
    char bytes[READ_BYTES];
    ssize_t n = 0;
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
        if (!read_some(fd, bytes, &n)) {
            finish(b);
            return;
        }
        ws_decoder_feed(&b->decoder, (struct str){bytes, (uint32_t)n});
        if (b->lingering && has_closed(b)) {
            finish(b);
            return;
        }
        take_client_messages(b);
    }
    advance(b);
}

static void on_pod(void *arg, int fd, uint32_t events)
{
    struct bridge *b = arg;
    char bytes[READ_BYTES];
    ssize_t n = 0;
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
        b->pod_done = !read_some(fd, bytes, &n);
        buf_add(&b->from_pod, bytes, n > 0 ? (size_t)n : 0);
        b->pod_done = b->pod_done || b->from_pod.full;
        take_pod_messages(b);
    }
    advance(b);
}

static void on_over(void *arg)
{
    struct bridge *b = arg;
    CHECK(b->over || b->client_fd < 0); /* finished, or the client went before it was upgraded */
    file_close(&b->pod_fd);
    struct bridge **at = &b->call->api->bridges;
    while (*at != b) {
        at = &(*at)->next;
    }
    *at = b->next;
    buf_done(&b->to_pod);
    buf_done(&b->to_client);
    buf_done(&b->from_pod);
    ws_decoder_done(&b->decoder);
    mem_free(b);
}

static void on_upgraded(void *arg, int fd, struct str early)
{
    struct bridge *b = arg;
    struct loop *loop = b->call->api->config.loop;
    struct err err;
    b->client_fd = fd;
    b->client_events = EPOLLIN;
    b->pod_events = EPOLLIN;
    if (loop_add(loop, fd, EPOLLIN, on_client, b, &err) != STATUS_OK) {
        b->client_fd = -1;
        http_upgrade_close(b->call->request);
        return;
    }
    if (loop_add(loop, b->pod_fd, EPOLLIN, on_pod, b, &err) != STATUS_OK) {
        file_close(&b->pod_fd);
        finish(b);
        return;
    }
    lasting_begin(&b->lasting, b->call, end_session, b);
    ws_decoder_feed(&b->decoder, early);
    take_client_messages(b);
    advance(b);
}

/* ---- the request ---- */

static bool handshake(struct call *c, char accept[WS_ACCEPT_SIZE])
{
    struct err err;
    struct str upgrade = http_header(c->request, "Upgrade");
    struct str version = http_header(c->request, "Sec-WebSocket-Version");
    bool asked = upgrade.len == 9 &&
                 (str_eq(upgrade, STR("websocket")) || str_eq(upgrade, STR("WebSocket")));
    if (asked && str_eq(version, STR("13")) &&
        ws_accept(http_header(c->request, "Sec-WebSocket-Key"), accept)) {
        return true;
    }
    err_set(&err, STATUS_INVALID, "this address speaks WebSocket (RFC 6455, version 13) only");
    call_fail(c, &err);
    return false;
}

static const struct pod *running_pod(struct call *c, const struct workload *wl)
{
    struct str wanted = body_str(c->args, STR("pod"));
    struct uuid id = {0};
    struct err err;
    bool named = wanted.len > 0;
    bool valid = !named || uuid_parse(wanted, &id);
    for (uint32_t i = 0; valid && i < wl->pods_count; i++) {
        const struct pod *p = &wl->pods[i];
        if (p->phase == POD_RUNNING && (!named || uuid_eq(p->id, id))) {
            return p;
        }
    }
    err_set(&err, STATUS_CONFLICT, "%s of workload " STR_FMT " runs, it is " STR_FMT,
            named ? "no such pod" : "no pod", STR_ARG(wl->name), STR_ARG(workload_phase(wl)));
    err_hint(&err, "weir why " STR_FMT "/" STR_FMT " says more", STR_ARG(wl->project),
             STR_ARG(wl->name));
    call_fail(c, &err);
    return NULL;
}

static void bridge_begin(struct call *c, int fd, bool raw, const char *accept)
{
    struct bridge *b = mem_alloc(sizeof *b);
    b->call = c;
    b->pod_fd = fd;
    b->raw = raw;
    b->client_fd = -1;
    buf_init(&b->to_pod, BUFFER_BYTES_MAX);
    buf_init(&b->to_client, BUFFER_BYTES_MAX);
    buf_init(&b->from_pod, BUFFER_BYTES_MAX);
    ws_decoder_init(&b->decoder, true);
    b->next = c->api->bridges;
    c->api->bridges = b;
    c->request->over = on_over;
    c->request->over_arg = b;
    http_set_header(c->request, "Upgrade", STR("websocket"));
    http_set_header(c->request, "Sec-WebSocket-Accept", str_from_c(accept));
    http_upgrade(c->request, on_upgraded, b);
}

void get_exec(struct call *c)
{
    const struct workload *wl = call_workload(c);
    const struct api_host *host = &c->api->config.host;
    bool terminal = body_bool(c->args, STR("tty"), false);
    char accept[WS_ACCEPT_SIZE];
    struct err err;
    if (wl == NULL || !handshake(c, accept)) {
        return;
    }
    struct str *argv = ARENA_ARRAY(c->arena, struct str, c->request->args_count);
    uint32_t argc = 0;
    for (uint32_t i = 0; i < c->request->args_count; i++) {
        if (str_eq(c->request->args[i].name, STR("cmd"))) {
            argv[argc++] = c->request->args[i].value;
        }
    }
    const struct pod *p = running_pod(c, wl);
    if (p == NULL) {
        return;
    }
    int fd = -1;
    enum status status = host->exec == NULL
                             ? err_set(&err, STATUS_UNSUPPORTED,
                                       "this server cannot run commands in pods")
                             : host->exec(host->ctx, p->id, argv, argc, terminal, &fd, &err);
    if (status != STATUS_OK) {
        call_fail(c, &err);
        return;
    }
    bridge_begin(c, fd, false, accept);
}

static bool has_room(struct call *c)
{
    struct err err;
    uint32_t open = 0;
    for (const struct bridge *b = c->api->bridges; b != NULL; b = b->next) {
        open += b->raw;
    }
    if (open < FORWARDS_MAX) {
        return true;
    }
    err_set(&err, STATUS_BUSY, "%d connections to ports of pods are open already", FORWARDS_MAX);
    err_hint(&err, "close some that are not used");
    call_fail(c, &err);
    return false;
}

void get_port_forward(struct call *c)
{
    const struct workload *wl = call_workload(c);
    const struct api_host *host = &c->api->config.host;
    uint16_t port = (uint16_t)body_i64(c->args, STR("port"), 0);
    char accept[WS_ACCEPT_SIZE];
    struct err err;
    if (wl == NULL || !handshake(c, accept) || !has_room(c)) {
        return;
    }
    const struct pod *p = running_pod(c, wl);
    if (p == NULL) {
        return;
    }
    int fd = -1;
    enum status status = host->forward == NULL
                             ? err_set(&err, STATUS_UNSUPPORTED,
                                       "this server cannot reach the ports of pods")
                             : host->forward(host->ctx, p->id, port, &fd, &err);
    if (status != STATUS_OK) {
        call_fail(c, &err);
        return;
    }
    bridge_begin(c, fd, true, accept);
}

void exec_stop(struct api *api)
{
    for (struct bridge *b = api->bridges; b != NULL; b = b->next) {
        if (!b->over && b->client_fd >= 0) {
            finish(b);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
// run_forward: ports of this machine that lead to ports of a workload. Each connection is a process and
// a WebSocket of its own, so that one that is slow or goes wrong is nothing to the others.
#include "cli/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/num.h"
#include "cli/listing.h"
#include "cli/live.h"
#include "cli/view.h"
#include "cli/websocket.h"
#include "cli/workload.h"
#include "io/file.h"
#include "io/listen.h"

enum {
    PORTS_MAX = 16,
    CONNECTIONS_MAX = 64, /* at a time; others wait to be taken */
    PIECE_BYTES = 16 * 1024,
    QUEUE_BYTES_MAX = 256 * 1024,
};

struct forwarded {
    int fd; /* listens */
    uint16_t remote;
};

/* ---- one connection ---- */

struct talk {
    struct websocket ws;
    int fd;
    struct buf in; /* for fd */
    size_t given;
    bool fd_over, ws_over;
};

static enum status take_messages(struct talk *t, struct err *err)
{
    struct ws_message m;
    while (!t->ws_over) {
        enum status status = ws_decoder_take(&t->ws.decoder, &m, err);
        if (status != STATUS_OK) {
            return status == STATUS_UNKNOWN ? STATUS_OK : status;
        }
        if (m.opcode == WS_BINARY) {
            buf_str(&t->in, m.payload);
        } else if (m.opcode == WS_PING) {
            websocket_send(&t->ws, WS_PONG, m.payload);
        } else if (m.opcode == WS_CLOSE) {
            t->ws_over = true;
        }
    }
    return STATUS_OK;
}

static void pass_on(struct talk *t)
{
    char bytes[PIECE_BYTES];
    ssize_t n = recv(t->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    t->fd_over = n <= 0;
    websocket_send(&t->ws, WS_BINARY, (struct str){bytes, n > 0 ? (uint32_t)n : 0});
}

/* False: who connected is gone. */
static bool give(struct talk *t)
{
    ssize_t n = send(t->fd, t->in.ptr + t->given, t->in.len - t->given,
                     MSG_DONTWAIT | MSG_NOSIGNAL);
    t->given += n > 0 ? (size_t)n : 0;
    if (t->given == t->in.len) {
        buf_clear(&t->in);
        t->given = 0;
    }
    return n >= 0 || errno == EAGAIN || errno == EINTR;
}

static enum status talk(struct talk *t, struct err *err)
{
    enum status status = take_messages(t, err);
    while (status == STATUS_OK && (!t->ws_over || t->in.len > 0)) {
        bool out = t->ws.out.len > t->ws.sent;
        bool room = t->in.len < QUEUE_BYTES_MAX && !t->ws_over;
        bool reads = !t->fd_over && t->ws.out.len < QUEUE_BYTES_MAX;
        struct pollfd fds[] = {
            {.fd = t->ws.wire.fd, .events = (short)((room ? POLLIN : 0) | (out ? POLLOUT : 0))           },
            {.fd = t->fd,         .events = (short)((reads ? POLLIN : 0) | (t->in.len > 0 ? POLLOUT : 0))},
        };
        fds[0].fd = fds[0].events != 0 ? fds[0].fd : -1;
        fds[1].fd = fds[1].events != 0 ? fds[1].fd : -1;
        if (poll(fds, 2, t->ws.more && room ? 0 : -1) < 0) {
            continue;
        }
        if (out && fds[0].revents != 0) {
            websocket_flush(&t->ws);
        }
        if (room && (t->ws.more || fds[0].revents != 0)) {
            t->ws_over = !websocket_recv(&t->ws);
            status = t->ws_over ? STATUS_OK : take_messages(t, err);
        }
        if (reads && fds[1].revents != 0) {
            pass_on(t);
        }
        if (t->in.len > 0 && !give(t)) {
            break;
        }
    }
    return status;
}

/* In a process of its own; the exit status. */
static int serve(struct cli *cli, struct str path, int fd)
{
    struct talk t = {.fd = fd};
    struct answer answer = {0};
    struct err err;
    websocket_init(&t.ws, cli);
    buf_init(&t.in, WS_MESSAGE_BYTES_MAX + 2 * QUEUE_BYTES_MAX);
    enum status status = websocket_open(&t.ws, path, &answer, &err);
    status = status == STATUS_OK ? talk(&t, &err) : status;
    int code = status == STATUS_OK ? 0 : cli_fail(cli, &err, answer.body);
    websocket_done(&t.ws);
    buf_done(&t.in);
    return code;
}

/* ---- the ports ---- */

static int wrong_port(struct cli *cli, const struct args *args, struct str text)
{
    struct err err;
    err_set(&err, STATUS_INVALID,
            "expected LOCAL:REMOTE or PORT, each 1 to 65535, got \"" STR_FMT "\"", STR_ARG(text));
    err_field(&err, "--port");
    err_hint(&err, "for instance --port 8080:80");
    return cli_usage(cli, args, &err);
}

static bool read_port(struct str text, int64_t *out)
{
    return num_parse_i64(text, out) && *out >= 1 && *out <= UINT16_MAX;
}

static int listen_at(struct cli *cli, const struct args *args, struct str text,
                     struct forwarded *out)
{
    struct err err;
    char bound[LISTEN_ADDRESS_SIZE];
    int64_t local, remote;
    uint32_t colon = str_find(text, ':');
    struct str behind = colon < text.len ? str_sub(text, colon + 1, text.len) : text;
    struct str address = args_text(args, "address");
    if (!read_port(str_sub(text, 0, colon), &local) || !read_port(behind, &remote)) {
        return wrong_port(cli, args, text);
    }
    if (address.len == 0 || str_eq(address, STR("localhost"))) {
        address = STR("127.0.0.1");
    }
    struct str at = arena_printf(&cli->arena, STR_FMT ":%lld", STR_ARG(address), (long long)local);
    if (listen_tcp(at, &out->fd, bound, &err) != STATUS_OK) {
        return cli_fail(cli, &err, NULL);
    }
    out->remote = (uint16_t)remote;
    cli_say(cli, "%s leads to port %u\n", bound, out->remote);
    return 0;
}

static void on_child(int signal_number)
{
    (void)signal_number; /* poll comes back */
}

static void take(struct cli *cli, const struct args *args, struct str path,
                 const struct forwarded *f, uint32_t *open)
{
    pid_t parent = getpid();
    int fd = accept4(f->fd, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0) {
        return;
    }
    path = workload_below(cli, path, "/port-forward");
    path = client_query(&cli->client, path, "port", arena_printf(&cli->arena, "%u", f->remote));
    if (args_has(args, "pod")) {
        path = client_query(&cli->client, path, "pod", args_text(args, "pod"));
    }
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        int code = getppid() == parent ? serve(cli, path, fd) : 1;
        fflush(NULL);
        _exit(code);
    }
    *open += child > 0 ? 1 : 0;
    (void)close(fd);
}

static void serve_all(struct cli *cli, const struct args *args, struct str path,
                      const struct forwarded *ports, uint32_t count)
{
    struct sigaction ends = {.sa_handler = on_child};
    sigset_t child, before;
    uint32_t open = 0;
    (void)sigaction(SIGCHLD, &ends, NULL);
    (void)sigemptyset(&child);
    (void)sigaddset(&child, SIGCHLD);
    (void)sigprocmask(SIG_BLOCK, &child, &before); /* let in by ppoll alone: none is missed */
    for (;;) {
        struct pollfd fds[PORTS_MAX];
        struct arena_mark mark = arena_mark(&cli->arena);
        while (waitpid(-1, NULL, WNOHANG) > 0) {
            open--;
        }
        for (uint32_t i = 0; i < count; i++) {
            fds[i] = (struct pollfd){.fd = open < CONNECTIONS_MAX ? ports[i].fd : -1,
                                     .events = POLLIN};
        }
        if (ppoll(fds, count, NULL, &before) > 0) {
            for (uint32_t i = 0; i < count; i++) {
                if (fds[i].revents != 0) {
                    take(cli, args, path, &ports[i], &open);
                }
            }
        }
        arena_rewind(&cli->arena, mark);
    }
}

int run_port_forward(struct cli *cli, const struct args *args)
{
    struct forwarded ports[PORTS_MAX];
    struct str path;
    uint32_t at = 0, count = 0;
    int64_t wait_ms = args_number(args, "pod-running-timeout", 0);
    struct answer answer;
    int failed = workload_path_one(cli, args, &path);
    if (!failed && wait_ms > 0) {
        failed = live_wait(cli, path, wait_ms);
    }
    failed = failed ? failed : listing_get(cli, path, &answer); /* whether there is such a one */
    for (const struct arg *a; !failed && (a = args_next(args, "port", &at)) != NULL;) {
        struct err err;
        if (count == PORTS_MAX) {
            err_set(&err, STATUS_TOO_LARGE, "at most %d ports at a time", PORTS_MAX);
            return cli_usage(cli, args, &err);
        }
        failed = listen_at(cli, args, a->text, &ports[count]);
        count += failed ? 0 : 1;
    }
    if (!failed && count == 0) {
        return wrong_port(cli, args, STR(""));
    }
    if (!failed) {
        fflush(stdout);
        serve_all(cli, args, path, ports, count);
    }
    return failed;
}

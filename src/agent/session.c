// SPDX-License-Identifier: Apache-2.0
// Backpressure: while more than QUEUE_MAX bytes wait for one side, nothing is read from the other.
#include "agent/session.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "agent/frame.h"
#include "base/num.h"
#include "codec/json.h"
#include "io/file.h"

enum { QUEUE_MAX = 256 << 10, CHUNK = 32 << 10, BUFFER_MAX = 4 << 20 };

void session_init(struct session *s, int fd)
{
    *s = (struct session){.fd = fd, .command_in = -1, .command_out = -1, .command_err = -1};
    buf_init(&s->in, BUFFER_MAX);
    buf_init(&s->out, BUFFER_MAX);
    buf_init(&s->to_command, BUFFER_MAX);
}

static void command_close_input(struct session *s)
{
    if (!s->terminal) {
        file_close(&s->command_in);
    }
}

static void command_close(struct session *s)
{
    if (s->terminal) {
        s->command_in = -1; // the same as command_out
    }
    file_close(&s->command_in);
    file_close(&s->command_out);
    file_close(&s->command_err);
}

void session_done(struct session *s)
{
    if (s->fd < 0) {
        return;
    }
    if (s->pid > 0 && !s->exited) {
        (void)kill(-s->pid, SIGHUP);
    }
    command_close(s);
    file_close(&s->fd);
    buf_done(&s->in);
    buf_done(&s->out);
    buf_done(&s->to_command);
    *s = (struct session){.fd = -1, .command_in = -1, .command_out = -1, .command_err = -1};
}

void session_send(struct session *s, uint8_t kind, struct str bytes)
{
    frame_add(&s->out, kind, bytes);
    s->closing = s->closing || s->out.full;
}

static void drop_front(struct buf *b, size_t len)
{
    memmove(b->ptr, b->ptr + len, b->len - len);
    b->len -= len;
}

/* Writes from the front of b; false when the other side is gone. */
static bool write_some(int fd, struct buf *b)
{
    while (b->len > 0) {
        ssize_t n = write(fd, b->ptr, b->len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return errno == EAGAIN;
        }
        drop_front(b, (size_t)n);
    }
    return true;
}

void session_flush(struct session *s)
{
    if (s->fd >= 0) {
        (void)write_some(s->fd, &s->out);
    }
}

nfds_t session_poll(struct session *s, struct pollfd *fds)
{
    nfds_t n = 0;
    memset(s->polled, 0, sizeof(s->polled));
    if (s->fd < 0) {
        return 0;
    }
    if (s->input_over && s->to_command.len == 0) {
        command_close_input(s); // its end came by itself: nothing to write would wake us
    }
    short events = 0;
    if (s->to_command.len < QUEUE_MAX) {
        events |= POLLIN;
    }
    if (s->out.len > 0) {
        events |= POLLOUT;
    }
    const struct {
        int fd;
        short events;
        bool wanted;
    } wants[SESSION_FDS] = {
        {s->fd,          events,  true                                         },
        {s->command_in,  POLLOUT, s->command_in >= 0 && s->to_command.len > 0  },
        {s->command_out, POLLIN,  s->command_out >= 0 && s->out.len < QUEUE_MAX},
        {s->command_err, POLLIN,  s->command_err >= 0 && s->out.len < QUEUE_MAX},
    };
    for (int i = 0; i < SESSION_FDS; i++) {
        if (wants[i].wanted) {
            fds[n] = (struct pollfd){.fd = wants[i].fd, .events = wants[i].events};
            s->polled[i] = &fds[n++];
        }
    }
    return n;
}

/* Reads output of the command; false at its end. */
static bool output_read(struct session *s, int fd, uint8_t channel)
{
    char chunk[CHUNK];
    ssize_t n = read(fd, chunk, sizeof(chunk));
    if (n < 0) {
        return errno == EAGAIN || errno == EINTR; // a terminal's end is EIO
    }
    if (n > 0) {
        session_send(s, channel, (struct str){chunk, (uint32_t)n});
    }
    return n > 0;
}

/* Once the command has ended and its output is read, the peer hears the exit code. */
static void command_finish(struct session *s)
{
    if (s->pid > 0 && s->exited && s->command_out < 0 && s->command_err < 0) {
        struct buf text;
        buf_init(&text, 64);
        buf_printf(&text, "{\"exit\":%d}", s->code);
        session_send(s, FRAME_CONTROL, buf_view(&text));
        buf_done(&text);
        command_close(s);
        s->pid = 0;
        s->closing = true;
    }
}

static bool ready(const struct session *s, int which)
{
    return s->polled[which] != NULL && s->polled[which]->revents != 0;
}

bool session_serve(struct session *s)
{
    if (ready(s, 0) && (s->polled[0]->revents & (POLLIN | POLLHUP)) != 0) {
        char chunk[CHUNK];
        ssize_t n = recv(s->fd, chunk, sizeof(chunk), MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            return false;
        }
        buf_add(&s->in, chunk, n > 0 ? (size_t)n : 0);
        if (s->in.full) {
            return false;
        }
    }
    if (ready(s, 2) && !output_read(s, s->command_out, FRAME_STDOUT)) {
        if (s->terminal) {
            s->command_in = -1;
        }
        file_close(&s->command_out);
    }
    if (ready(s, 3) && !output_read(s, s->command_err, FRAME_STDERR)) {
        file_close(&s->command_err);
    }
    if (s->command_in >= 0 && !write_some(s->command_in, &s->to_command)) {
        buf_clear(&s->to_command);
        s->input_over = true;
    }
    if (s->command_in < 0) {
        buf_clear(&s->to_command); // nobody reads it any more
    }
    if (s->input_over && s->to_command.len == 0) {
        command_close_input(s);
    }
    command_finish(s);
    if (!write_some(s->fd, &s->out)) {
        return false;
    }
    return !s->closing || s->out.len > 0;
}

/* ---- requests ---- */

static void terminal_resize(const struct session *s, struct str json)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct jr r;
    struct str key;
    int64_t size[2] = {0, 0};
    jr_init(&r, json, &arena, NULL);
    for (jr_object(&r); jr_member(&r, &key);) {
        if (!str_eq(key, STR("resize"))) {
            jr_skip(&r);
            continue;
        }
        uint32_t i = 0;
        for (jr_array(&r); jr_item(&r); i++) {
            int64_t v = 0;
            (void)jr_i64(&r, &v);
            if (i < COUNT_OF(size)) {
                size[i] = v;
            }
        }
    }
    bool sane = size[0] > 0 && size[1] > 0 && size[0] <= UINT16_MAX && size[1] <= UINT16_MAX;
    if (jr_finish(&r) == STATUS_OK && sane && s->terminal && s->command_out >= 0) {
        struct winsize w = {.ws_col = (unsigned short)size[0], .ws_row = (unsigned short)size[1]};
        (void)ioctl(s->command_out, TIOCSWINSZ, &w);
    }
    arena_done(&arena);
}

/* count, the arguments, NAME=value …: each ended by a NUL. */
static bool exec_parse(struct str body, struct session_request *out, struct arena *arena)
{
    struct str rest = str_sub(body, 1, body.len), part;
    int64_t count;
    if (body.len < 2 || body.ptr[body.len - 1] != '\0' || !str_split(&rest, '\0', &part) ||
        !num_parse_i64(part, &count) || count < 1 || count > SESSION_ARGS_MAX) {
        return false;
    }
    rest.len--; // the last NUL ends the last string, and starts none
    out->terminal = body.ptr[0] == 1;
    out->argv = ARENA_ARRAY(arena, char *, count + 1);
    out->env = ARENA_ARRAY(arena, char *, SESSION_ARGS_MAX + 1);
    int64_t n = 0, variables = 0;
    while (str_split(&rest, '\0', &part)) {
        char *text = arena_alloc(arena, (size_t)part.len + 1);
        memcpy(text, part.ptr, part.len);
        if (n < count) {
            out->argv[n++] = text;
        } else if (variables < SESSION_ARGS_MAX) {
            out->env[variables++] = text;
        }
    }
    return n == count;
}

bool session_take(struct session *s, struct session_request *out, struct arena *arena)
{
    uint32_t used = 0;
    uint8_t kind;
    struct str body;
    bool taken = false;
    *out = (struct session_request){.wish = WISH_NONE};
    while (!taken && s->fd >= 0) {
        enum frame_next next = frame_next(buf_view(&s->in), &used, &kind, &body);
        if (next != FRAME_ONE) {
            s->closing |= next == FRAME_BAD;
            break;
        }
        switch ((enum frame_kind)kind) {
        case FRAME_STDIN:
            s->input_over |= body.len == 0;
            buf_str(&s->to_command, body);
            break;
        case FRAME_CONTROL:
            terminal_resize(s, body);
            break;
        case FRAME_WATCH:
            s->watching = true;
            out->wish = WISH_STATUS;
            taken = true;
            break;
        case FRAME_STOP:
            taken = num_parse_i64(body, &out->grace_ms);
            out->wish = WISH_STOP;
            s->closing |= !taken;
            break;
        case FRAME_EXEC:
            taken = s->pid == 0 && exec_parse(body, out, arena);
            out->wish = WISH_EXEC;
            s->closing |= !taken;
            break;
        case FRAME_STDOUT:
        case FRAME_STDERR:
        case FRAME_STATUS:
            s->closing = true;
            break;
        }
    }
    if (used > 0) {
        drop_front(&s->in, used);
    }
    return taken;
}

/* ---- the command ---- */

static void session_refuse(struct session *s, const char *reason, int code)
{
    struct buf text;
    buf_init(&text, 1024);
    buf_printf(&text, "%s\n", reason);
    session_send(s, FRAME_STDERR, buf_view(&text));
    buf_clear(&text);
    buf_printf(&text, "{\"exit\":%d}", code);
    session_send(s, FRAME_CONTROL, buf_view(&text));
    buf_done(&text);
    command_close(s);
    s->closing = true;
}

static void nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

static void run_on_terminal(struct session *s, struct job *job, int *report)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return;
    }
    job->terminal = pair[1];
    s->pid = job_start(job, report);
    (void)close(pair[1]);
    if (s->pid > 0) {
        s->terminal = true;
        s->command_out = job_receive_fd(pair[0]);
        s->command_in = s->command_out;
    }
    (void)close(pair[0]);
}

static void run_on_pipes(struct session *s, struct job *job, int *report)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
    if (pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0) {
        job->in = in[0];
        job->out = out[1];
        job->err = err[1];
        s->pid = job_start(job, report);
    }
    file_close(&in[0]);
    file_close(&out[1]);
    file_close(&err[1]);
    s->command_in = in[1];
    s->command_out = out[0];
    s->command_err = err[0];
}

void session_run(struct session *s, struct job *job, bool terminal)
{
    int report = -1, code = 126;
    char reason[REASON_MAX] = "no process can be started here now";
    job->terminal = job->in = job->out = job->err = -1;
    s->pid = -1;
    if (terminal) {
        run_on_terminal(s, job, &report);
    } else {
        run_on_pipes(s, job, &report);
    }
    // exec takes no time worth a state of its own; the failure is told before any output.
    bool runs = s->pid > 0 && job_report(report, job, reason, &code);
    file_close(&report);
    if (!runs) {
        s->pid = 0;
        s->terminal = false;
        session_refuse(s, reason, code);
        return;
    }
    nonblocking(s->command_out);
    if (!terminal) {
        nonblocking(s->command_in);
        nonblocking(s->command_err);
    }
}

void session_reaped(struct session *s, int wait_status)
{
    s->exited = true;
    s->code = job_code(wait_status);
    // What it wrote is in the pipes already; a process it left behind may hold them open for ever.
    while (s->command_out >= 0 && s->out.len < BUFFER_MAX / 2) {
        char chunk[CHUNK];
        ssize_t n = read(s->command_out, chunk, sizeof(chunk));
        if (n <= 0) {
            break;
        }
        session_send(s, FRAME_STDOUT, (struct str){chunk, (uint32_t)n});
    }
    while (s->command_err >= 0 && s->out.len < BUFFER_MAX / 2) {
        char chunk[CHUNK];
        ssize_t n = read(s->command_err, chunk, sizeof(chunk));
        if (n <= 0) {
            break;
        }
        session_send(s, FRAME_STDERR, (struct str){chunk, (uint32_t)n});
    }
    if (s->terminal) {
        s->command_in = -1;
    }
    file_close(&s->command_out);
    file_close(&s->command_err);
    command_finish(s);
    session_flush(s);
}

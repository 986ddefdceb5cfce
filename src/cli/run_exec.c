// SPDX-License-Identifier: Apache-2.0
// run_exec: a command beside a running workload, over a WebSocket. Binary messages;
// the first byte says the channel. The terminal is put into raw mode while the command has one of
// its own, and back however this ends.
#include "cli/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/check.h"
#include "base/num.h"
#include "cli/cli.h"
#include "cli/live.h"
#include "cli/view.h"
#include "cli/websocket.h"
#include "cli/workload.h"
#include "codec/json.h"
#include "io/clock.h"
#include "io/file.h"
#include "io/http.h"
#include "io/random.h"
#include "io/ws.h"

enum channel { CHANNEL_STDIN, CHANNEL_STDOUT, CHANNEL_STDERR, CHANNEL_CONTROL };
enum {
    PIECE_BYTES = 16 * 1024,
    WORDS_MAX = HTTP_ARGS_MAX - 2, /* beside tty and pod */
    WORDS_BYTES_MAX = HTTP_HEADER_BYTES_MAX - HTTP_ANSWER_HEAD_BYTES,
};

struct session {
    struct cli *cli;
    struct websocket ws;
    bool tty, input;      /* input: stdin is still passed on */
    int exit_code;        /* -1: not known yet */
    bool closed, refused; /* refused: by the server, which no longer lets us */
};

/* The terminal. */

static struct termios saved_mode;
static volatile sig_atomic_t raw_mode, resized;

static void restore_terminal(void)
{
    if (raw_mode) {
        raw_mode = 0;
        tcsetattr(STDIN_FILENO, TCSADRAIN, &saved_mode);
    }
}

static void on_end(int signal_number)
{
    restore_terminal();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void on_resize(int signal_number)
{
    (void)signal_number;
    resized = 1;
}

static void enter_raw_mode(void)
{
    static const int ends[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
    struct termios mode;
    if (tcgetattr(STDIN_FILENO, &saved_mode) != 0) {
        return;
    }
    atexit(restore_terminal);
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        signal(ends[i], on_end);
    }
    // Without SA_RESTART, so that poll comes back.
    struct sigaction resize = {.sa_handler = on_resize};
    sigaction(SIGWINCH, &resize, NULL);
    mode = saved_mode;
    cfmakeraw(&mode);
    raw_mode = tcsetattr(STDIN_FILENO, TCSADRAIN, &mode) == 0;
    resized = 1; // tells the size for the first time
}

/* Messages. */

static void send_channel(struct session *s, enum channel channel, struct str bytes)
{
    char message[PIECE_BYTES + 1];
    CHECK(bytes.len <= PIECE_BYTES);
    message[0] = (char)channel;
    if (bytes.len > 0) {
        memcpy(message + 1, bytes.ptr, bytes.len);
    }
    websocket_send(&s->ws, WS_BINARY, (struct str){message, bytes.len + 1});
}

static void send_size(struct session *s)
{
    struct winsize size;
    if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0) {
        char text[64];
        int len = snprintf(text, sizeof(text), "{\"resize\":[%u,%u]}", size.ws_col, size.ws_row);
        send_channel(s, CHANNEL_CONTROL, (struct str){text, (uint32_t)len});
    }
}

static enum status take_control(struct session *s, struct str text)
{
    struct doc *doc;
    struct err err;
    if (json_doc(text, &s->cli->arena, &doc, &err) == STATUS_OK) {
        int64_t code = view_i64(doc, "exit", -1);
        s->exit_code = code >= 0 && code < 256 ? (int)code : s->exit_code;
    }
    return STATUS_OK;
}

static enum status take_message(struct session *s, const struct ws_message *m, struct err *err)
{
    struct str rest = str_sub(m->payload, 1, m->payload.len);
    switch (m->opcode) {
    case WS_PING:
        websocket_send(&s->ws, WS_PONG, m->payload);
        return STATUS_OK;
    case WS_CLOSE:
        s->closed = true;
        s->refused = m->close_code == WS_CLOSE_POLICY;
        return STATUS_OK;
    case WS_BINARY:
        break;
    case WS_TEXT:
    case WS_PONG:
    case WS_CONTINUATION:
        return STATUS_OK;
    }
    if (m->payload.len == 0) {
        return STATUS_OK;
    }
    switch (m->payload.ptr[0]) {
    case CHANNEL_STDOUT:
        return file_write_all(STDOUT_FILENO, rest, err);
    case CHANNEL_STDERR:
        return file_write_all(STDERR_FILENO, rest, err);
    case CHANNEL_CONTROL:
        return take_control(s, rest);
    default:
        return STATUS_OK;
    }
}

static enum status take_messages(struct session *s, struct err *err)
{
    struct ws_message message;
    while (!s->closed) {
        enum status status = ws_decoder_take(&s->ws.decoder, &message, err);
        if (status == STATUS_UNKNOWN) {
            return STATUS_OK;
        }
        status = status == STATUS_OK ? take_message(s, &message, err) : status;
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static enum status receive(struct session *s, struct err *err)
{
    if (!websocket_recv(&s->ws)) {
        s->closed = true;
        return STATUS_OK;
    }
    return take_messages(s, err);
}

static void pass_input(struct session *s)
{
    char bytes[PIECE_BYTES];
    ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));
    if (n < 0 && errno == EINTR) {
        return;
    }
    send_channel(s, CHANNEL_STDIN, (struct str){bytes, n > 0 ? (uint32_t)n : 0});
    s->input = n > 0; // an empty message closes the input
}

static enum status talk(struct session *s, struct err *err)
{
    enum status status = take_messages(s, err);
    if (!s->input) {
        send_channel(s, CHANNEL_STDIN, STR(""));
    }
    while (status == STATUS_OK && !s->closed) {
        if (resized) {
            resized = 0;
            send_size(s);
        }
        bool pending = s->ws.out.len > s->ws.sent;
        struct pollfd fds[] = {
            {.fd = s->ws.wire.fd,                                               .events = (short)(POLLIN | (pending ? POLLOUT : 0))},
            // Nothing more is read while much waits to be sent.
            {.fd = s->input && s->ws.out.len < PIECE_BYTES ? STDIN_FILENO : -1, .events = POLLIN                                   },
        };
        if (poll(fds, COUNT_OF(fds), s->ws.more ? 0 : -1) < 0) {
            continue; // a signal
        }
        if (pending && (fds[0].revents & POLLOUT) != 0) {
            websocket_flush(&s->ws);
        }
        if (s->ws.more || (fds[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
            status = receive(s, err);
        }
        if (status == STATUS_OK && fds[1].revents != 0) {
            pass_input(s);
        }
    }
    return status;
}

static struct str exec_path(struct cli *cli, const struct args *args, struct str path, bool tty,
                            const struct str *words, uint32_t count)
{
    path = workload_below(cli, path, "/exec");
    for (uint32_t i = 0; i < count; i++) {
        path = client_query(&cli->client, path, "cmd", words[i]);
    }
    path = client_query(&cli->client, path, "tty", tty ? STR("1") : STR("0"));
    if (args_has(args, "pod")) {
        path = client_query(&cli->client, path, "pod", args_text(args, "pod"));
    }
    return path;
}

/* The command travels in the head of the request, which the server keeps small. */
static enum status check_length(struct str path, uint32_t count, struct err *err)
{
    size_t bytes = (size_t)path.len + (size_t)count * HTTP_ARG_BYTES;
    if (count <= WORDS_MAX && bytes <= WORDS_BYTES_MAX) {
        return STATUS_OK;
    }
    err_set(err, STATUS_TOO_LARGE,
            "the command is too long: %u words, %u bytes; at most %d words, and about %d bytes",
            count, path.len, WORDS_MAX, WORDS_BYTES_MAX);
    return err_hint(err, "let a shell in the pod make the list (-- sh -c 'ls *'), or give a script "
                         "on its input (-i)");
}

static int execute(struct cli *cli, const struct args *args, bool input, bool tty,
                   const struct str *words, uint32_t count)
{
    struct str path;
    struct err err;
    struct answer answer = {0};
    int64_t wait_ms = args_number(args, "pod-running-timeout", 0);
    int failed = workload_path_one(cli, args, &path);
    if (!failed && wait_ms > 0) {
        failed = live_wait(cli, path, wait_ms);
    }
    if (failed) {
        return failed;
    }
    tty = tty && isatty(STDIN_FILENO);
    struct session s = {.cli = cli, .tty = tty, .input = input, .exit_code = -1};
    websocket_init(&s.ws, cli);
    struct str whole = exec_path(cli, args, path, tty, words, count);
    enum status status = check_length(whole, count, &err);
    if (status == STATUS_OK) {
        status = websocket_open(&s.ws, whole, &answer, &err);
    }
    if (status == STATUS_OK) {
        fflush(stdout);
        if (tty) {
            enter_raw_mode();
        }
        status = talk(&s, &err);
        restore_terminal();
    }
    if (status == STATUS_OK && s.exit_code < 0 && s.refused) {
        status = err_set(&err, STATUS_DENIED,
                         "the server ended this: your session is over, or you may no longer");
        err_hint(&err, "weir whoami shows who you are to it; weir login signs in again");
    } else if (status == STATUS_OK && s.exit_code < 0) {
        status = err_set(&err, STATUS_UNREACHABLE, "the connection ended before the command did");
        err_hint(&err, "weir workload describe shows whether the workload still runs");
    }
    websocket_done(&s.ws);
    return status == STATUS_OK ? s.exit_code : cli_fail(cli, &err, answer.body);
}

int run_exec(struct cli *cli, const struct args *args)
{
    if (args->tail_count == 0) {
        struct err err;
        err_set(&err, STATUS_INVALID, "which command?");
        err_hint(&err, "put it behind --: weir %s NAME -- env", args->command->path);
        return cli_usage(cli, args, &err);
    }
    return execute(cli, args, args_has(args, "stdin"), args_has(args, "tty"), args->tail,
                   args->tail_count);
}

int run_bash(struct cli *cli, const struct args *args)
{
    static const struct str words[] = {
        STRS("/bin/sh"), STRS("-c"),
        STRS("if command -v bash >/dev/null 2>&1; then exec bash; else exec sh; fi")};
    return execute(cli, args, true, true, words, COUNT_OF(words));
}

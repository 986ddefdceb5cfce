// SPDX-License-Identifier: Apache-2.0
// run_live: what goes on while one looks: waiting for a start, logs as they are written, a table that
// follows the changes.
#include "cli/live.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/array.h"
#include "base/num.h"
#include "cli/listing.h"
#include "cli/run.h"
#include "cli/view.h"
#include "cli/workload.h"
#include "codec/json.h"
#include "io/clock.h"

enum {
    FRAME_MS = 100,
    LOOK_FRAMES = 3,
    WATCH_BYTES_MAX = 4 << 20,
    REDRAW_MS = 1000,
    RECONNECT_MS_MAX = 10 * 1000
};

static bool is_one_of(struct str word, const char *const *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (str_eq(word, str_from_c(words[i]))) {
            return true;
        }
    }
    return false;
}

static bool has_ended(struct str phase)
{
    static const char *const words[] = {"Completed", "Failed", "Stopped", "Deleting",
                                        "Terminating"};
    return is_one_of(phase, words, COUNT_OF(words));
}

static bool has_started(struct str phase)
{
    static const char *const words[] = {"Running", "Degraded", "Updating"};
    return has_ended(phase) || is_one_of(phase, words, COUNT_OF(words));
}

// A server that was there at lost_ms (0: never) is waited for a while, since it may be restarted.
static bool may_come_back(enum status status, int64_t lost_ms)
{
    return (status == STATUS_OK || status == STATUS_UNREACHABLE || status == STATUS_BUSY) &&
           lost_ms > 0 && clock_mono_ms() - lost_ms <= RECONNECT_MS_MAX;
}

/* Waiting. */

struct spinner {
    struct cli *cli;
    uint32_t frame;
    char said[256]; /* the line last written where there is no terminal, or its beginning */
    int64_t began_ms;
};

static void clear_line(const struct cli *cli)
{
    if (cli->terminal_err) {
        fprintf(stderr, "\r\033[K");
    }
}

static void spin(struct spinner *s, const struct doc *w)
{
    static const char *const frames[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
    struct cli *cli = s->cli;
    struct arena *arena = &cli->arena;
    struct str reason = workload_reason(arena, w);
    struct str line = arena_printf(arena, STR_FMT " " STR_FMT "%s" STR_FMT,
                                   STR_ARG(view_text(w, "name")), STR_ARG(view_text(w, "phase")),
                                   str_eq(reason, STR("-")) ? "" : ": ",
                                   STR_ARG(str_eq(reason, STR("-")) ? STR("") : reason));
    line = view_harmless(arena, line);
    if (cli->terminal_err) {
        struct str span = view_span(arena, clock_mono_ms() - s->began_ms);
        uint32_t room = cli->width > span.len + 6 ? cli->width - span.len - 6 : 20;
        fprintf(stderr, "\r\033[K%s%s%s " STR_FMT " %s" STR_FMT "%s",
                tint_begin(TINT_WAIT, cli->colour_err), frames[s->frame++ % COUNT_OF(frames)],
                tint_end(cli->colour_err), STR_ARG(view_shorten(arena, line, room)),
                tint_begin(TINT_DIM, cli->colour_err), STR_ARG(span), tint_end(cli->colour_err));
        return;
    }
    struct str start = str_sub(line, 0, sizeof(s->said) - 1);
    if (!str_eq(start, str_from_c(s->said)) && !cli->quiet) {
        fprintf(stderr, STR_FMT "\n", STR_ARG(line));
        memcpy(s->said, start.ptr, start.len);
        s->said[start.len] = 0;
    }
}

int live_wait(struct cli *cli, struct str path, int64_t timeout_ms)
{
    struct spinner spinner = {.cli = cli, .began_ms = clock_mono_ms()};
    for (;;) {
        struct arena_mark mark = arena_mark(&cli->arena);
        struct answer answer;
        int failed = listing_get(cli, path, &answer);
        struct str phase = failed ? STR("") : view_text(answer.body, "phase");
        if (failed || has_started(phase)) {
            clear_line(cli);
            return failed;
        }
        if (timeout_ms >= 0 && clock_mono_ms() - spinner.began_ms >= timeout_ms) {
            struct err err;
            clear_line(cli);
            err_set(&err, STATUS_TIMEOUT, "it has not started within " STR_FMT ": it is " STR_FMT,
                    STR_ARG(view_span(&cli->arena, timeout_ms)), STR_ARG(phase));
            err_hint(&err, "weir why " STR_FMT "/" STR_FMT " says what it waits for",
                     STR_ARG(view_text(answer.body, "project")),
                     STR_ARG(view_text(answer.body, "name")));
            return cli_fail(cli, &err, NULL);
        }
        for (uint32_t i = 0; i < LOOK_FRAMES; i++) {
            if (i == 0 || cli->terminal_err) {
                spin(&spinner, answer.body);
            }
            poll(NULL, 0, FRAME_MS);
        }
        arena_rewind(&cli->arena, mark);
    }
}

/* Logs. */

struct log_sink {
    struct cli *cli;
    int64_t left;  /* bytes that may still be written, -1: all */
    int64_t got;   /* of this connection */
    int64_t asked; /* where it was to begin in the output, -1: wherever */
};

// A large log loses its beginning.
static void log_tell_lost(const struct log_sink *s)
{
    int64_t from;
    if (s->asked >= 0 && num_parse_i64(client_header(&s->cli->client, "Weir-Offset"), &from) &&
        from > s->asked && !s->cli->quiet) {
        fprintf(stderr, "%lld bytes of output before this are no longer kept\n",
                (long long)(from - s->asked));
    }
}

static bool log_write(void *ctx, struct str piece)
{
    struct log_sink *s = ctx;
    if (s->left >= 0 && (int64_t)piece.len > s->left) {
        piece.len = (uint32_t)s->left;
    }
    if (s->got == 0) {
        log_tell_lost(s);
    }
    s->got += piece.len;
    s->left -= s->left >= 0 ? (int64_t)piece.len : 0;
    bool failed = fwrite(piece.ptr, 1, piece.len, stdout) != piece.len || fflush(stdout) != 0;
    return !failed && s->left != 0;
}

// What asks for the rest of the output that the last connection began with, or "" when there was none.
static struct str log_rest(struct cli *cli, struct str path, bool follow, struct log_sink *sink)
{
    struct client *c = &cli->client;
    struct str pod = client_header(c, "Weir-Pod"), attempt = client_header(c, "Weir-Attempt");
    int64_t offset;
    if (!num_parse_i64(client_header(c, "Weir-Offset"), &offset)) {
        return STR("");
    }
    sink->asked = offset + sink->got;
    struct str rest = client_query(c, str_sub(path, 0, str_find(path, '?')), "pod", pod);
    rest = client_query(c, rest, "attempt", attempt);
    rest = client_query(c, rest, "offset",
                        arena_printf(&cli->arena, "%lld", (long long)sink->asked));
    return follow ? client_query(c, rest, "follow", STR("1")) : rest;
}

// The output ends when the pod has: a connection that is lost before is made again.
static int stream_logs(struct cli *cli, struct str path, bool follow, bool whole, int64_t limit)
{
    struct log_sink sink = {.cli = cli, .left = limit, .asked = whole ? 0 : -1};
    struct client_stream_hooks hooks = {.sink = log_write, .ctx = &sink};
    path = follow ? client_query(&cli->client, path, "follow", STR("1")) : path;
    for (int64_t lost_ms = 0;;) {
        struct answer answer;
        struct err err;
        sink.got = 0;
        enum status status = client_stream(&cli->client, path, &hooks, &answer, &err);
        if (status == STATUS_OK) {
            return 0;
        }
        struct str rest = log_rest(cli, path, follow, &sink);
        if (rest.len > 0) {
            path = rest;
            lost_ms = clock_mono_ms();
        }
        if (!may_come_back(status, lost_ms)) {
            return cli_fail(cli, &err, answer.body);
        }
        poll(NULL, 0, FRAME_MS);
    }
}

int run_logs(struct cli *cli, const struct args *args)
{
    struct str path;
    int failed = workload_path_one(cli, args, &path);
    int64_t wait_ms = args_number(args, "wait-timeout", 0);
    if (!failed && wait_ms > 0) {
        failed = live_wait(cli, path, wait_ms);
    }
    if (failed) {
        return failed;
    }
    int64_t tail = args_number(args, "tail", -1);
    path = workload_below(cli, path, "/logs");
    if (args_has(args, "previous")) {
        path = client_query(&cli->client, path, "previous", STR("1"));
    }
    if (args_has(args, "pod")) {
        path = client_query(&cli->client, path, "pod", args_text(args, "pod"));
    }
    if (tail >= 0) {
        path = client_query(&cli->client, path, "tail",
                            arena_printf(&cli->arena, "%lld", (long long)tail));
    }
    return stream_logs(cli, path, args_has(args, "follow"), tail < 0,
                       args_number(args, "limit-bytes", -1));
}

static int ended_status(struct cli *cli, const struct doc *w)
{
    struct str phase = view_text(w, "phase");
    int64_t code = view_i64(w, "exit_code", -1);
    if (str_eq(phase, STR("Completed"))) {
        return 0;
    }
    if (!cli->quiet) {
        fprintf(stderr, STR_FMT " is " STR_FMT "%s" STR_FMT "\n", STR_ARG(view_text(w, "name")),
                STR_ARG(phase), code >= 0 ? ", exit status " : "",
                STR_ARG(code >= 0 ? view_text(w, "exit_code") : STR("")));
    }
    return code > 0 && code < 256 ? (int)code : EXIT_FAILED;
}

int live_attach(struct cli *cli, struct str path, struct str pod, int64_t timeout_ms)
{
    struct str logs = workload_below(cli, path, "/logs");
    if (pod.len > 0) {
        logs = client_query(&cli->client, logs, "pod", pod);
    }
    for (;;) {
        struct arena_mark mark = arena_mark(&cli->arena);
        int failed = live_wait(cli, path, timeout_ms);
        failed = failed ? failed : stream_logs(cli, logs, true, true, -1);
        if (failed) {
            return failed;
        }
        // The output has ended: so has the workload, or it was stopped for others and waits again.
        struct answer answer;
        failed = listing_get(cli, path, &answer);
        if (failed) {
            return failed;
        }
        if (has_ended(view_text(answer.body, "phase"))) {
            return ended_status(cli, answer.body);
        }
        poll(NULL, 0, FRAME_MS);
        arena_rewind(&cli->arena, mark);
    }
}

int run_attach(struct cli *cli, const struct args *args)
{
    struct str path;
    int failed = workload_path_one(cli, args, &path);
    return failed ? failed
                  : live_attach(cli, path, args_text(args, "pod"),
                                args_number(args, "pod-running-timeout", -1));
}

/* The table that follows the changes. */

struct seen {
    struct arena arena; /* of doc */
    struct str id;
    const struct doc *doc;
};
struct watch {
    struct cli *cli;
    const struct args *args;
    bool json, redraws;
    bool connected;    /* something came since the stream began */
    bool removed;      /* the next data is of a workload that is no more */
    struct buf lines;  /* of the stream, not yet whole */
    struct seen *seen; /* in the order they were first seen */
    uint32_t count, cap;
    uint32_t drawn; /* lines of the table on the terminal */
    int64_t drawn_ms;
    struct arena scratch;
};

static uint32_t watch_find(const struct watch *w, struct str id)
{
    uint32_t at = 0;
    while (at < w->count && !str_eq(w->seen[at].id, id)) {
        at++;
    }
    return at;
}

// Keeps the newest state of a workload and gives it, or NULL when the text is none.
static const struct doc *watch_keep(struct watch *w, struct str text)
{
    struct arena fresh;
    struct doc *doc;
    arena_init(&fresh, 0);
    if (json_doc(arena_str(&fresh, text), &fresh, &doc, NULL) != STATUS_OK ||
        view_raw(doc, "id").len == 0) {
        arena_done(&fresh);
        return NULL;
    }
    uint32_t at = watch_find(w, view_raw(doc, "id"));
    if (at == w->count) {
        w->seen = array_grow(&w->cli->arena, w->seen, sizeof(w->seen[0]), w->count, &w->cap);
        w->count++;
    } else {
        arena_done(&w->seen[at].arena);
    }
    w->seen[at] = (struct seen){.arena = fresh, .id = view_raw(doc, "id"), .doc = doc};
    return doc;
}

// The server has forgotten it.
static void watch_drop(struct watch *w, struct str text)
{
    struct doc *doc;
    arena_reset(&w->scratch);
    if (json_doc(arena_str(&w->scratch, text), &w->scratch, &doc, NULL) != STATUS_OK) {
        return;
    }
    uint32_t at = watch_find(w, view_raw(doc, "id"));
    if (at < w->count) {
        arena_done(&w->seen[at].arena);
        w->count--;
        memmove(&w->seen[at], &w->seen[at + 1], sizeof(w->seen[0]) * (w->count - at));
    }
}

static uint32_t terminal_rows(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 4 ? size.ws_row : 24;
}

static uint32_t terminal_columns(const struct cli *cli)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                           : cli->width;
}

// Draws the latest rows that fit over those drawn before.
static void watch_draw(struct watch *w)
{
    struct cli *cli = w->cli;
    struct table t;
    struct err err;
    arena_reset(&w->scratch);
    table_init(&t, &w->scratch, workload_columns, WORKLOAD_COLUMNS);
    struct str names = args_text(w->args, "columns");
    if (names.len > 0 && table_choose(&t, names, &err) != STATUS_OK) {
        return; // was looked at before
    }
    uint32_t room = terminal_rows() - 3;
    uint32_t first = w->count > room ? w->count - room : 0;
    for (uint32_t i = first; i < w->count; i++) {
        workload_row(&w->scratch, &t, w->seen[i].doc, clock_wall_ms());
    }
    if (w->drawn > 0) {
        printf("\033[%uA\033[J", w->drawn);
    }
    w->drawn = w->count - first + 1;
    if (first > 0) {
        printf("%u more above\n", first);
        w->drawn++;
    }
    table_print(&t, stdout, terminal_columns(cli), cli->colour);
    fflush(stdout);
    w->drawn_ms = clock_mono_ms();
}

static void watch_line(struct watch *w, const struct doc *d)
{
    struct arena *a = &w->scratch;
    arena_reset(a);
    struct str reason = workload_reason(a, d);
    struct str line = arena_printf(
        a, STR_FMT "/" STR_FMT " " STR_FMT " " STR_FMT "/" STR_FMT " pods%s" STR_FMT,
        STR_ARG(view_text(d, "project")), STR_ARG(view_text(d, "name")),
        STR_ARG(view_text(d, "phase")), STR_ARG(view_text(d, "pods_running")),
        STR_ARG(view_text(d, "pods_wanted")), str_eq(reason, STR("-")) ? "" : ": ",
        STR_ARG(str_eq(reason, STR("-")) ? STR("") : reason));
    printf(STR_FMT "\n", STR_ARG(view_harmless(a, line)));
    fflush(stdout);
}

// One line of the event stream: what the next data is about, or data.
static void watch_take(struct watch *w, struct str line)
{
    if (str_starts(line, STR("event:"))) {
        w->removed = str_eq(str_trim(str_sub(line, 6, line.len)), STR("removed"));
        return;
    }
    if (!str_starts(line, STR("data:"))) {
        return;
    }
    struct str text = str_trim(str_sub(line, 5, line.len));
    w->drawn_ms = 0; // drawn at the next idle moment, so that a burst is drawn once
    if (w->json) {
        printf(STR_FMT "\n", STR_ARG(text));
        fflush(stdout);
        return;
    }
    if (w->removed) {
        watch_drop(w, text);
        return;
    }
    const struct doc *doc = watch_keep(w, text);
    if (doc != NULL && !w->redraws) {
        watch_line(w, doc);
    }
}

static bool watch_sink(void *ctx, struct str piece)
{
    struct watch *w = ctx;
    w->connected = true;
    buf_str(&w->lines, piece);
    struct str rest = buf_view(&w->lines);
    for (;;) {
        uint32_t end = str_find(rest, '\n');
        if (end == rest.len) {
            break;
        }
        watch_take(w, str_trim(str_sub(rest, 0, end)));
        rest = str_sub(rest, end + 1, rest.len);
    }
    memmove(w->lines.ptr, rest.ptr, rest.len);
    w->lines.len = rest.len;
    return !w->lines.full && !ferror(stdout);
}

static bool watch_idle(void *ctx)
{
    struct watch *w = ctx;
    if (w->redraws && clock_mono_ms() - w->drawn_ms >= REDRAW_MS) {
        watch_draw(w);
    }
    return true;
}

static void watch_forget(struct watch *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        arena_done(&w->seen[i].arena);
    }
    w->count = 0;
    buf_clear(&w->lines);
}

// The stream has no end of its own: a server that stops is waited for, and begins anew with all.
static int watch_follow(struct watch *w, struct str path)
{
    struct client_stream_hooks hooks = {.sink = watch_sink, .idle = watch_idle, .ctx = w};
    for (int64_t lost_ms = 0;;) {
        struct answer answer;
        struct err err;
        w->connected = false;
        enum status status = client_stream(&w->cli->client, path, &hooks, &answer, &err);
        if (ferror(stdout)) {
            return EXIT_FAILED;
        }
        lost_ms = w->connected ? clock_mono_ms() : lost_ms;
        if (!may_come_back(status, lost_ms)) {
            if (status == STATUS_OK) {
                err_set(&err, STATUS_UNREACHABLE, "the server has stopped");
                err_hint(&err, "start it with weir up");
            }
            return cli_fail(w->cli, &err, answer.body);
        }
        watch_forget(w);
        poll(NULL, 0, FRAME_MS);
    }
}

int run_watch(struct cli *cli, const struct args *args)
{
    struct watch w = {.cli = cli, .args = args, .json = args_has(args, "json")};
    w.redraws = cli->terminal && !w.json;
    struct table t;
    struct err err;
    table_init(&t, &cli->arena, workload_columns, WORKLOAD_COLUMNS);
    if (args_has(args, "columns") &&
        table_choose(&t, args_text(args, "columns"), &err) != STATUS_OK) {
        return cli_usage(cli, args, &err);
    }
    struct str project = args_has(args, "all") ? args_text(args, "project")
                                               : cli_project(cli, args);
    struct str stream = STR("/workloads/watch"); // begins with all that have not ended
    if (project.len > 0) {
        stream = client_query(&cli->client, stream, "project", project);
    }
    arena_init(&w.scratch, 0);
    buf_init(&w.lines, WATCH_BYTES_MAX);
    int failed = watch_follow(&w, stream);
    watch_forget(&w);
    buf_done(&w.lines);
    arena_done(&w.scratch);
    return failed;
}

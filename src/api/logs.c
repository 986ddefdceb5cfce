// SPDX-License-Identifier: Apache-2.0
// Logs: a pod's log file as a stream. A timer moves pieces of all open streams while there is room
// on their way out; a stream that follows ends when the pod has ended and its file is read. Where a
// stream begins stands in the head of the answer, so that a client whose connection was lost can ask
// for what comes behind what it has.
#include "api/call.h"
#include "api/lasting.h"
#include "base/mem.h"
#include "base/num.h"
#include "io/clock.h"
#include "io/rolled.h"

enum {
    PIECE_BYTES = 64 * 1024,
    PENDING_BYTES_MAX = 4 << 20, /* written and not yet taken by the client */
    PIECES_A_TURN = 16,          /* so that one stream does not hold up the loop */
    TURN_MS = 50,
    TAIL_BYTES_MAX = 8 << 20, /* searched backwards for the last lines */
    TAIL_LINES_MAX = 1000000,
};

struct log_stream {
    struct log_stream *next;
    struct call *call;
    struct uuid pod;
    uint32_t attempt;
    struct rolled parts;
    struct str path;
    int64_t offset; /* in the whole output */
    bool follow, ended;
    struct lasting lasting;
};

static void on_over(void *arg)
{
    struct log_stream *s = arg;
    struct log_stream **at = &s->call->api->logs;
    while (*at != s) {
        at = &(*at)->next;
    }
    *at = s->next;
    lasting_over(&s->lasting);
    rolled_close(&s->parts);
    mem_free(s);
}

/* The pod goes on under this attempt, and its file may grow. */
static bool is_live(const struct log_stream *s)
{
    const struct engine *engine = s->call->api->config.engine;
    const struct uuid *id = s->call->context;
    const struct workload *wl = engine_find(engine, *id);
    for (uint32_t i = 0; wl != NULL && i < wl->pods_count; i++) {
        const struct pod *p = &wl->pods[i];
        if (uuid_eq(p->id, s->pod)) {
            return p->attempt == s->attempt &&
                   (p->phase == POD_BINDING || p->phase == POD_RUNNING ||
                    p->phase == POD_RELEASING);
        }
    }
    return false;
}

static void find_start(struct log_stream *s, int64_t tail)
{
    rolled_open(&s->parts, s->path.ptr);
    bool other = s->offset > rolled_end(&s->parts); /* of a log that is no more */
    s->offset = tail >= 0 ? rolled_tail(&s->parts, tail, TAIL_BYTES_MAX)
                          : num_max_i64(other ? 0 : s->offset, s->parts.first);
}

/* Goes over to the parts that there are now; false: what comes next is in none of them. */
static bool look_again(struct log_stream *s)
{
    rolled_close(&s->parts);
    rolled_open(&s->parts, s->path.ptr);
    if (s->offset < s->parts.first) {
        http_stream_cut(s->call->request);
        s->ended = true;
    }
    return !s->ended;
}

/* True when there may be more at once. */
static bool move_piece(struct log_stream *s)
{
    char piece[PIECE_BYTES];
    struct http_request *r = s->call->request;
    bool live = is_live(s); /* before reading: what it wrote until then is read now */
    bool old = rolled_is_old(&s->parts, s->path.ptr);
    size_t n = rolled_read(&s->parts, piece, sizeof piece, s->offset);
    if (n > 0) {
        s->offset += (int64_t)n;
        if (!http_stream_write(r, (struct str){piece, (uint32_t)n})) {
            s->ended = true;
        }
        return !s->ended;
    }
    if (old && s->follow) {
        return look_again(s);
    }
    if (!s->follow || !live) {
        http_stream_end(r);
        s->ended = true;
    }
    return false;
}

static void on_turn(void *arg)
{
    struct api *api = arg;
    bool more = false;
    for (struct log_stream *s = api->logs; s != NULL; s = s->next) {
        for (int i = 0; i < PIECES_A_TURN && !s->ended; i++) {
            if (http_stream_pending(s->call->request) > PENDING_BYTES_MAX || !move_piece(s)) {
                break;
            }
            more = more || i + 1 == PIECES_A_TURN;
        }
    }
    if (api->logs != NULL) {
        loop_at(api->config.loop, &api->log_timer, clock_mono_ms() + (more ? 1 : TURN_MS), on_turn,
                api);
    }
}

/* What follows is not the reader's any more. */
static void end_stream(void *arg)
{
    struct log_stream *s = arg;
    if (!s->ended) {
        http_stream_cut(s->call->request);
        s->ended = true;
    }
}

/* The pod asked for, or the first; NULL: answered. */
static const struct pod *choose_pod(struct call *c, const struct workload *wl)
{
    struct str wanted = body_str(c->args, STR("pod"));
    struct uuid id;
    struct err err;
    if (wanted.len == 0) {
        for (uint32_t i = 0; i < wl->pods_count; i++) {
            if (wl->pods[i].attempt > 0) {
                return &wl->pods[i];
            }
        }
        return &wl->pods[0];
    }
    if (uuid_parse(wanted, &id)) {
        for (uint32_t i = 0; i < wl->pods_count; i++) {
            if (uuid_eq(wl->pods[i].id, id)) {
                return &wl->pods[i];
            }
        }
    }
    err_set(&err, STATUS_UNKNOWN, "workload " STR_FMT " has no pod \"" STR_FMT "\"",
            STR_ARG(wl->name), STR_ARG(str_sub(wanted, 0, 100)));
    err_field(&err, "pod");
    call_fail(c, &err);
    return NULL;
}

static bool has_not_started(struct call *c, const struct workload *wl, bool before)
{
    struct err err;
    err_set(&err, STATUS_UNKNOWN, "%s of workload " STR_FMT " has not started%s, it has no log",
            wl->pods_count > 1 ? "that pod" : "the pod", STR_ARG(wl->name),
            before ? " before" : "");
    err_hint(&err, "weir why " STR_FMT "/" STR_FMT " says what it waits for", STR_ARG(wl->project),
             STR_ARG(wl->name));
    call_fail(c, &err);
    return false;
}

/* Which start of the pod is meant: attempt, when it is not 0, or the last, or the one before that. */
static bool find_log(struct call *c, const struct workload *wl, const struct pod *p, bool previous,
                     int64_t attempt, struct log_stream *s)
{
    struct err err;
    const struct api_host *host = &c->api->config.host;
    if (host->log_path == NULL) {
        err_set(&err, STATUS_UNSUPPORTED, "this server cannot read the logs of pods");
        call_fail(c, &err);
        return false;
    }
    if (p->attempt == 0 || (previous && p->attempt < 2)) {
        return has_not_started(c, wl, previous);
    }
    if (attempt > p->attempt) {
        err_set(&err, STATUS_UNKNOWN, "the pod of workload " STR_FMT " has started %u times",
                STR_ARG(wl->name), p->attempt);
        err_field(&err, "attempt");
        call_fail(c, &err);
        return false;
    }
    s->pod = p->id;
    s->attempt = attempt > 0 ? (uint32_t)attempt : previous ? p->attempt - 1 : p->attempt;
    s->path = host->log_path(host->ctx, p->id, s->attempt, c->arena);
    return true;
}

static bool one_start(struct call *c, bool previous, int64_t attempt, int64_t tail, int64_t offset)
{
    struct err err;
    bool two = previous && attempt > 0;
    if (!two && (tail < 0 || offset == 0)) {
        return true;
    }
    err_set(&err, STATUS_INVALID, "%s are given, which one counts?",
            two ? "previous and attempt" : "tail and offset");
    err_field(&err, "%s", two ? "previous" : "tail");
    err_hint(&err, "leave one of them out");
    call_fail(c, &err);
    return false;
}

/* What a client asks for to go on from here, should the connection be lost. */
static void say_start(struct call *c, const struct log_stream *s)
{
    char pod[UUID_TEXT_LEN + 1];
    uuid_format(s->pod, pod);
    http_set_header(c->request, "Weir-Pod", str_from_c(pod));
    http_set_header(c->request, "Weir-Attempt", arena_printf(c->arena, "%u", s->attempt));
    http_set_header(c->request, "Weir-Offset",
                    arena_printf(c->arena, "%lld", (long long)s->offset));
}

void get_logs(struct call *c)
{
    struct log_stream found = {
        .follow = body_bool(c->args, STR("follow"), false),
        .offset = body_i64(c->args, STR("offset"), 0),
    };
    bool previous = body_bool(c->args, STR("previous"), false);
    int64_t tail = body_i64(c->args, STR("tail"), -1);
    int64_t attempt = body_i64(c->args, STR("attempt"), 0);
    const struct workload *wl = call_workload(c);
    if (wl == NULL || !one_start(c, previous, attempt, tail, found.offset)) {
        return;
    }
    const struct pod *p = choose_pod(c, wl);
    if (p == NULL || !find_log(c, wl, p, previous, attempt, &found)) {
        return;
    }
    struct uuid *id = ARENA_NEW(c->arena, struct uuid);
    *id = wl->id;
    c->context = id;
    struct log_stream *s = mem_alloc(sizeof *s);
    *s = found;
    find_start(s, tail);
    s->call = c;
    s->next = c->api->logs;
    c->api->logs = s;
    c->request->over = on_over;
    c->request->over_arg = s;
    say_start(c, s);
    http_stream_begin(c->request, 200, "text/plain; charset=utf-8");
    lasting_begin(&s->lasting, c, end_stream, s);
    loop_at(c->api->config.loop, &c->api->log_timer, clock_mono_ms(), on_turn, c->api);
}

/* They have not come to their end: the server cuts them off. */
void logs_stop(struct api *api)
{
    loop_cancel(api->config.loop, &api->log_timer);
    for (struct log_stream *s = api->logs; s != NULL; s = s->next) {
        s->ended = true;
    }
}

// SPDX-License-Identifier: Apache-2.0
// Watching: a stream of events, each a workload that changed. What changed is found by fingerprints
// of all workloads, taken after a batch but not more often than each WATCH_MS, and only while
// someone watches: right whatever kind of input changed it. A new watcher first gets all that have
// not ended, so that nothing falls between its list and its stream.
#include "api/call.h"
#include "api/lasting.h"
#include "base/mem.h"
#include "io/clock.h"
#include "model/units.h"

enum {
    WATCH_MS = 50,
    HEARTBEAT_MS = 15000,
    EVENT_BYTES_MAX = 4 << 20,
    BACKLOG_BYTES_MAX = HTTP_STREAM_BYTES_MAX / 2,
};

struct seen {
    struct uuid id;
    uint64_t fingerprint;
};

struct watcher {
    struct watcher *next;
    struct call *call;
    struct str project; /* "": all */
    struct lasting lasting;
    bool ended;
    /* What it may see, made anew when plan or identity have changed. */
    struct arena arena;
    int64_t version;
    struct grants grants;
    struct sight sight;
};

static const struct state *state_of(const struct api *api)
{
    return engine_state(api->config.engine);
}

static void on_over(void *arg)
{
    struct watcher *w = arg;
    struct watcher **at = &w->call->api->watchers;
    while (*at != w) {
        at = &(*at)->next;
    }
    *at = w->next;
    lasting_over(&w->lasting);
    arena_done(&w->arena);
    mem_free(w);
}

static struct sight *sight_of(struct watcher *w)
{
    struct api *api = w->call->api;
    const struct access_book *book = api_book(api);
    if (w->version != api->book_version) {
        arena_reset(&w->arena);
        access_grants(book, &w->call->who.subject, &w->arena, &w->grants);
        w->sight = (struct sight){
            .engine = api->config.engine, .grants = &w->grants, .arena = &w->arena};
        w->version = api->book_version;
    }
    return &w->sight;
}

static void write_event(const struct api *api, struct show *show, const struct workload *wl,
                        struct uuid gone, struct buf *text)
{
    struct jw w;
    buf_printf(text, "event: %s\nid: %lld\ndata: ", wl != NULL ? "workload" : "removed",
               (long long)state_of(api)->seq);
    jw_init(&w, text, false);
    if (wl != NULL) {
        show_workload(show, &w, wl, false);
    } else {
        jw_object_begin(&w);
        jw_member_string(&w, STR("id"), uuid_str(gone, show->arena));
        jw_object_end(&w);
    }
    buf_str(text, STR("\n\n"));
}

static bool wants(struct watcher *w, const struct workload *wl)
{
    return (w->project.len == 0 || str_eq(w->project, wl->project)) &&
           sight_workload(sight_of(w), wl);
}

/* What one may see, the other may. */
static bool same_person(const struct watcher *a, const struct watcher *b)
{
    const struct subject *x = &a->call->who.subject;
    const struct subject *y = &b->call->who.subject;
    return (x->machine && y->machine) ||
           (!x->machine && !y->machine && x->kind == y->kind && str_eq(x->name, y->name));
}

/* Written once for those in a row that are the same person: someone with many windows, or the machine's
 * administrator. */
static void tell_all(struct api *api, struct show *show, const struct workload *wl,
                     struct uuid gone)
{
    const struct watcher *before = NULL;
    struct buf text;
    buf_init(&text, EVENT_BYTES_MAX);
    for (struct watcher *w = api->watchers; w != NULL; w = w->next) {
        if (w->ended || (wl != NULL && !wants(w, wl))) {
            continue;
        }
        if (before == NULL || !same_person(before, w)) {
            buf_clear(&text);
            show->sight = sight_of(w);
            write_event(api, show, wl, gone, &text);
        }
        before = w;
        if (!text.full) {
            http_stream_write(w->call->request, buf_view(&text));
        }
    }
    buf_done(&text);
}

/* Rows keep their order and new ones come last, so one walk along both lists compares them. */
static void compare(struct api *api, bool tell)
{
    const struct state *st = state_of(api);
    struct arena *arena = &api->seen_arenas[api->seen_turn ^= 1];
    arena_reset(arena);
    struct seen *now = ARENA_ARRAY(arena, struct seen, st->workloads_count);
    struct show show = {.engine = api->config.engine,
                        .now_ms = writer_now_ms(api->writer),
                        .arena = arena,
                        .places = &api->places};
    uint32_t old = 0;
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        const struct workload *wl = &st->workloads[i];
        now[i] = (struct seen){wl->id, show_fingerprint(wl)};
        while (tell && old < api->seen_count && !uuid_eq(api->seen[old].id, wl->id)) {
            tell_all(api, &show, NULL, api->seen[old++].id);
        }
        bool same = old < api->seen_count && api->seen[old].fingerprint == now[i].fingerprint;
        old += old < api->seen_count;
        if (tell && !same) {
            tell_all(api, &show, wl, wl->id);
        }
    }
    while (tell && old < api->seen_count) {
        tell_all(api, &show, NULL, api->seen[old++].id);
    }
    api->seen = now;
    api->seen_count = st->workloads_count;
}

static void end_watch(void *arg)
{
    struct watcher *w = arg;
    w->ended = true;
    http_stream_end(w->call->request);
}

static bool is_out_of_sight(struct watcher *w)
{
    const struct plan *plan = &state_of(w->call->api)->plan;
    const struct project *p = show_find_project(plan, w->project);
    return w->project.len > 0 && p != NULL &&
           !sight_project(sight_of(w), (uint32_t)(p - plan->projects));
}

static void on_watch_timer(void *arg)
{
    struct api *api = arg;
    for (struct watcher *w = api->watchers; w != NULL; w = w->next) {
        if (!w->ended && is_out_of_sight(w)) {
            lasting_over(&w->lasting);
            end_watch(w);
        }
    }
    if (api->watchers != NULL) {
        compare(api, true);
    }
    api->watch_due = false;
}

static void on_heartbeat(void *arg)
{
    struct api *api = arg;
    for (struct watcher *w = api->watchers; w != NULL; w = w->next) {
        if (!w->ended) {
            http_stream_write(w->call->request, STR(": still here\n\n"));
        }
    }
    if (api->watchers != NULL) {
        loop_at(api->config.loop, &api->heartbeat_timer, clock_mono_ms() + HEARTBEAT_MS,
                on_heartbeat, api);
    }
}

void live_changed(struct api *api)
{
    if (api->watchers != NULL && !api->watch_due) {
        api->watch_due = true;
        loop_at(api->config.loop, &api->watch_timer, clock_mono_ms() + WATCH_MS, on_watch_timer,
                api);
    }
}

void watch_workloads(struct call *c)
{
    struct api *api = c->api;
    struct str project = body_str(c->args, STR("project"));
    const struct state *st = state_of(api);
    const struct project *named = show_find_project(&st->plan, project);
    if (project.len > 0 &&
        (named == NULL || !sight_project(call_sight(c), (uint32_t)(named - st->plan.projects)))) {
        struct err err;
        err_set(&err, STATUS_UNKNOWN, "there is no project \"" STR_FMT "\"",
                STR_ARG(str_sub(project, 0, 100)));
        err_field(&err, "project");
        call_fail(c, &err);
        return;
    }
    if (api->watchers == NULL) {
        compare(api, false);
        loop_at(api->config.loop, &api->heartbeat_timer, clock_mono_ms() + HEARTBEAT_MS,
                on_heartbeat, api);
    } else {
        compare(api, true);
    }
    struct watcher *w = mem_alloc(sizeof *w);
    w->call = c;
    w->project = project;
    w->next = api->watchers;
    api->watchers = w;
    c->request->over = on_over;
    c->request->over_arg = w;
    http_stream_begin(c->request, 200, "text/event-stream");
    lasting_begin(&w->lasting, c, end_watch, w);
    struct show show = call_show(c);
    struct buf text;
    buf_init(&text, EVENT_BYTES_MAX);
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        const struct workload *wl = &st->workloads[i];
        if (wl->end_ms == TIME_NEVER && wants(w, wl) &&
            http_stream_pending(c->request) < BACKLOG_BYTES_MAX) {
            buf_clear(&text);
            write_event(api, &show, wl, wl->id, &text);
            if (!text.full) {
                http_stream_write(c->request, buf_view(&text));
            }
        }
    }
    buf_done(&text);
    http_stream_write(c->request, STR(": that is all there is now\n\n"));
}

void live_stop(struct api *api)
{
    loop_cancel(api->config.loop, &api->watch_timer);
    loop_cancel(api->config.loop, &api->heartbeat_timer);
    for (struct watcher *w = api->watchers; w != NULL; w = w->next) {
        http_stream_end(w->call->request);
    }
}

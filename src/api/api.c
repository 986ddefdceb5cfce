// SPDX-License-Identifier: Apache-2.0
// The route table, and what every request passes: which route, who asks, whether they may.
#include "api/api.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/call.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/num.h"
#include "io/log.h"
#include "io/yaml.h"
#include "model/limits.h"

#define PREFIX "/api/weir/v1"

const struct route routes[] = {
    {"GET",    "/healthz",             get_health,       "Whether the server answers",                                true },
    {"GET",    "/version",             get_version,      "Version of the server",                                     true },
    {"GET",    "/whoami",              get_whoami,       "Who you are to the server",                                 false},
    {"GET",    "/cluster",             get_cluster,      "Devices, nodes and workloads in numbers",                   false},
    {"GET",    "/plan",                get_plan,         "The plan in force, as a file",                              false},
    {"POST",   "/plan/check",          check_plan,       "Problems of a plan, against the hardware and what is held",
     false                                                                                                                 },
    {"POST",   "/plan/diff",           diff_plan,        "What applying a plan would change",                         false},
    {"POST",   "/plan/apply",          apply_plan,       "Apply a plan, all or nothing",                              false},
    {"GET",    "/departments",         get_departments,  "Departments with what they may and hold",                   false},
    {"GET",    "/departments/*",       get_department,   "One department",                                            false},
    {"GET",    "/projects",            get_projects,     "Projects with what they may and hold",                      false},
    {"GET",    "/projects/*",          get_project,      "One project",                                               false},
    {"GET",    "/nodepools",           get_pools,        "Node pools",                                                false},
    {"GET",    "/nodepools/*",         get_pool,         "One node pool with its queues",                             false},
    {"GET",    "/nodes",               get_nodes,        "Nodes with their devices",                                  false},
    {"GET",    "/nodes/*",             get_node,         "One node",                                                  false},
    {"GET",    "/workloads",           get_workloads,    "Workloads, a page at a time",                               false},
    {"POST",   "/workloads",           post_workload,    "Submit a workload",                                         false},
    {"GET",    "/workloads/watch",     watch_workloads,  "Workloads as they change, a stream of events",
     false                                                                                                                 },
    {"GET",    "/workloads/@",         get_workload,     "One workload with its events",                              false},
    {"DELETE", "/workloads/@",         delete_workload,  "Stop and delete a workload",                                false},
    {"POST",   "/workloads/@/suspend", suspend_workload, "Stop a workload, to be resumed",                            false},
    {"POST",   "/workloads/@/resume",  resume_workload,  "Let a suspended workload start again",                      false},
    {"GET",    "/workloads/@/why",     get_why,          "Why it waits, runs or was stopped",                         false},
    {"GET",    "/workloads/@/logs",    get_logs,         "Output of one of its pods",                                 false},
    {"GET",    "/workloads/@/exec",    get_exec,         "Run a command in one of its pods (WebSocket)",              false},
};
const uint32_t routes_count = COUNT_OF(routes);

/* ---- answering ---- */

struct show call_show(struct call *c)
{
    return (struct show){
        .engine = c->api->config.engine,
        .now_ms = c->api->config.now_ms(),
        .arena = c->arena,
    };
}

void call_begin(struct call *c, struct jw *w)
{
    buf_clear(&c->text);
    jw_init(w, &c->text, false);
}

void call_send(struct call *c, int code)
{
    if (c->text.full) {
        struct err err;
        err_set(&err, STATUS_TOO_LARGE, "the answer is larger than %d bytes", ANSWER_BYTES_MAX);
        err_hint(&err, "ask for fewer at a time, with limit and offset");
        call_fail(c, &err);
        return;
    }
    http_answer(c->request, code, "application/json", buf_view(&c->text));
    buf_done(&c->text);
}

/* Fields of the engine are named as in its tables; on this face they have the names of the body. */
static struct str field_name(struct call *c, const char *field)
{
    static const struct {
        struct str inside, outside;
    } names[] = {
        {STRS("pod.gpu_portion_share"),  STRS("spec.gpu_portion") },
        {STRS("pod.gpu_memory_bytes"),   STRS("spec.gpu_memory")  },
        {STRS("pod.cpu_limit_milli"),    STRS("spec.cpu_limit")   },
        {STRS("pod.cpu_milli"),          STRS("spec.cpu")         },
        {STRS("pod.memory_limit_bytes"), STRS("spec.memory_limit")},
        {STRS("pod.memory_bytes"),       STRS("spec.memory")      },
        {STRS("pod.args"),               STRS("spec.command")     },
        {STRS("pod."),                   STRS("spec.")            },
    };
    struct str f = str_from_c(field);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        if (str_starts(f, names[i].inside)) {
            return arena_printf(c->arena, STR_FMT STR_FMT, STR_ARG(names[i].outside),
                                STR_ARG(str_sub(f, names[i].inside.len, f.len)));
        }
    }
    return f;
}

void call_fail(struct call *c, const struct err *err)
{
    const struct status_info *info = status_info(err->status);
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_i64(&w, STR("code"), info->http);
    jw_member_string(&w, STR("status"), str_from_c(info->name));
    jw_member_string(&w, STR("message"), str_from_c(err->text));
    jw_member_string(&w, STR("details"), str_from_c(err->hint));
    jw_member_string(&w, STR("field"), field_name(c, err->field));
    jw_member_string(&w, STR("value"), c->value);
    jw_member_string(&w, STR("hint"), str_from_c(err->hint));
    jw_member_string(&w, STR("request_id"), str_from_c(c->request->id));
    if (c->problems != NULL) {
        jw_key(&w, STR("problems"));
        show_problems(&w, c->problems);
    }
    if (c->changes != NULL) {
        jw_key(&w, STR("changes"));
        show_changes(&w, c->changes, c->changes_count);
    }
    jw_object_end(&w);
    if (info->http >= 500) {
        LOG(LOG_WARN, "request_failed", LOG_C("request", c->request->id),
            LOG_STR("method", c->request->method), LOG_STR("path", c->request->path),
            LOG_C("text", err->text), LOG_C("source", err->source));
    }
    if (info->http == 503) {
        http_set_header(c->request, "Retry-After", STR("1"));
    }
    http_answer(c->request, info->http, "application/json", buf_view(&c->text));
    buf_done(&c->text);
}

void call_refuse(struct call *c, const char *what, const struct err *err)
{
    writer_refused(c->api->writer, c->user, str_from_c(what), err);
    call_fail(c, err);
}

/* ---- asking ---- */

static bool bad_argument(struct call *c, struct str name, struct str value, const char *expected)
{
    struct err err;
    err_set(&err, STATUS_INVALID, "expected %s, got \"" STR_FMT "\"", expected,
            STR_ARG(str_sub(value, 0, 100)));
    err_field(&err, STR_FMT, STR_ARG(name));
    c->value = value;
    call_fail(c, &err);
    return false;
}

bool call_flag(struct call *c, struct str name, bool *out)
{
    struct str v = http_arg(c->request, name);
    if (v.len == 0) {
        return true;
    }
    bool yes = str_eq(v, STR("1")) || str_eq(v, STR("true"));
    if (!yes && !str_eq(v, STR("0")) && !str_eq(v, STR("false"))) {
        return bad_argument(c, name, v, "0 or 1");
    }
    *out = yes;
    return true;
}

bool call_number(struct call *c, struct str name, int64_t least, int64_t most, int64_t *out)
{
    struct str v = http_arg(c->request, name);
    int64_t n;
    if (v.len == 0) {
        return true;
    }
    if (!num_parse_i64(v, &n) || n < least || n > most) {
        return bad_argument(c, name, v,
                            arena_printf(c->arena, "a whole number from %lld to %lld",
                                         (long long)least, (long long)most)
                                .ptr);
    }
    *out = n;
    return true;
}

bool call_args(struct call *c, const char *names)
{
    enum { NAMES_MAX = 16 };
    struct str known[NAMES_MAX];
    uint32_t count = 0;
    struct str rest = str_from_c(names);
    struct str name;
    while (str_split(&rest, ' ', &name)) {
        CHECK(count < NAMES_MAX);
        known[count++] = name;
    }
    for (uint32_t i = 0; i < c->request->args_count; i++) {
        struct str given = c->request->args[i].name;
        uint32_t at = 0;
        while (at < count && !str_eq(known[at], given)) {
            at++;
        }
        if (at == count) {
            struct err err;
            err_set(&err, STATUS_INVALID, "there is no argument \"" STR_FMT "\" here",
                    STR_ARG(str_sub(given, 0, 100)));
            err_field(&err, STR_FMT, STR_ARG(str_sub(given, 0, 100)));
            uint32_t near = str_nearest(given, known, count);
            if (near < count) {
                err_hint(&err, "did you mean \"" STR_FMT "\"?", STR_ARG(known[near]));
            } else {
                err_hint(&err, "known here: %s", names);
            }
            call_fail(c, &err);
            return false;
        }
    }
    return true;
}

const struct workload *call_workload(struct call *c)
{
    struct uuid id;
    const struct workload *wl = NULL;
    struct err err;
    if (c->segments_count == 1 && uuid_parse(c->segments[0], &id)) {
        wl = engine_find(c->api->config.engine, id);
        err_set(&err, STATUS_UNKNOWN, "there is no workload " STR_FMT, STR_ARG(c->segments[0]));
    } else if (c->segments_count == 2) {
        wl = engine_find_name(c->api->config.engine, c->segments[0], c->segments[1]);
        err_set(&err, STATUS_UNKNOWN, "project " STR_FMT " has no workload \"" STR_FMT "\"",
                STR_ARG(str_sub(c->segments[0], 0, 100)), STR_ARG(str_sub(c->segments[1], 0, 100)));
    } else {
        err_set(&err, STATUS_UNKNOWN, "a workload is named by its id or by PROJECT/NAME");
    }
    if (wl == NULL) {
        err_hint(&err, "weir workload list -A shows those there are");
        call_fail(c, &err);
    }
    return wl;
}

struct waiting_command {
    struct call *call;
    void (*done)(struct call *c, const struct outcome *outcome);
};

static void on_outcome(void *arg, const struct outcome *outcome)
{
    struct waiting_command *w = arg;
    struct call *c = w->call;
    c->waiting = false;
    c->request->over = NULL;
    name_done(c);
    w->done(c, outcome);
}

/* The client went away before its command was done: it is done all the same, and nobody told. */
static void on_gone(void *arg)
{
    struct waiting_command *w = arg;
    name_done(w->call);
    writer_forget(w->call->api->writer, w);
}

void call_command(struct call *c, struct input *in,
                  void (*done)(struct call *c, const struct outcome *))
{
    in->author = c->user;
    in->key = http_header(c->request, "Idempotency-Key");
    struct err err;
    if (in->key.len > KEY_LEN_MAX || !str_is_utf8(in->key)) {
        err_set(&err, STATUS_INVALID, "an idempotency key has at most %u bytes of UTF-8",
                KEY_LEN_MAX);
        err_field(&err, "Idempotency-Key");
        name_done(c);
        call_fail(c, &err);
        return;
    }
    struct waiting_command *w = ARENA_NEW(c->arena, struct waiting_command);
    *w = (struct waiting_command){c, done};
    c->waiting = true;
    c->request->over = on_gone;
    c->request->over_arg = w;
    writer_command(c->api->writer, in, on_outcome, w);
}

/* ---- the way in ---- */

/* Matches path against a route's; fills c->segments. */
static bool matches(const struct route *route, struct str path, struct call *c)
{
    struct str pattern = str_from_c(route->path);
    struct str want;
    struct str have;
    c->segments_count = 0;
    pattern = str_sub(pattern, 1, pattern.len);
    if (!str_starts(path, STR("/"))) {
        return false;
    }
    path = str_sub(path, 1, path.len);
    while (str_split(&pattern, '/', &want)) {
        if (!str_split(&path, '/', &have)) {
            return false;
        }
        bool any = str_eq(want, STR("*")) || str_eq(want, STR("@"));
        if (!any && !str_eq(want, have)) {
            return false;
        }
        if (any) {
            if (have.len == 0) {
                return false;
            }
            c->segments[c->segments_count++] = have;
        }
        struct uuid id;
        if (str_eq(want, STR("@")) && !uuid_parse(have, &id)) {
            if (!str_split(&path, '/', &have) || have.len == 0) {
                return false;
            }
            c->segments[c->segments_count++] = have;
        }
    }
    return path.ptr == NULL;
}

static const struct route *find_route(struct call *c, struct str path, bool *other_method)
{
    struct str method = c->request->method;
    method = str_eq(method, STR("HEAD")) ? STR("GET") : method;
    *other_method = false;
    for (uint32_t i = 0; i < routes_count; i++) {
        if (matches(&routes[i], path, c)) {
            if (str_eq(method, str_from_c(routes[i].method))) {
                return &routes[i];
            }
            *other_method = true;
        }
    }
    return NULL;
}

static struct str below_prefix(struct str path)
{
    bool inside = str_starts(path, STR(PREFIX "/"));
    bool top = str_eq(path, STR("/healthz")) || str_eq(path, STR("/version"));
    return inside ? str_sub(path, sizeof PREFIX - 1, path.len) : top ? path : STR("");
}

static bool may_use(const struct peer *peer)
{
    return peer->uid == 0 || peer->uid == geteuid();
}

static enum status identify(struct call *c, struct err *err)
{
    if (!c->request->local) {
        err_set(err, STATUS_UNAUTHENTIC, "over TCP only /healthz and /version are answered");
        return err_hint(err, "use weir on this machine, which signs in over the local socket");
    }
    enum status status = peer_get(c->request->fd, &c->peer, err);
    if (status != STATUS_OK) {
        return status;
    }
    char name[PEER_NAME_SIZE];
    peer_name(c->peer.uid, name);
    c->user = arena_str(c->arena, str_from_c(name));
    if (!may_use(&c->peer)) {
        char self[PEER_NAME_SIZE];
        peer_name(geteuid(), self);
        err_set(err, STATUS_DENIED, "user " STR_FMT " may not use this weir", STR_ARG(c->user));
        return err_hint(err, "only root and %s, who runs it, may", self);
    }
    return STATUS_OK;
}

/* Who may not use this weir is told so whatever else is wrong, and learns nothing more. */
static bool admitted(struct call *c)
{
    struct err err;
    if ((c->route != NULL && c->route->open) || identify(c, &err) == STATUS_OK) {
        return true;
    }
    call_fail(c, &err);
    return false;
}

static struct call *call_new(struct api *api, struct http_request *r)
{
    struct call *c = ARENA_NEW(&r->arena, struct call);
    c->api = api;
    c->request = r;
    c->arena = &r->arena;
    buf_init(&c->text, ANSWER_BYTES_MAX);
    http_set_header(r, "X-Request-Id", str_from_c(r->id));
    http_set_header(r, "Cache-Control", STR("no-store"));
    return c;
}

static void handle(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    struct call *c = call_new(api, r);
    struct err err;
    bool other_method = false;
    c->route = find_route(c, below_prefix(r->path), &other_method);
    if (!admitted(c)) {
        return;
    }
    if (c->route == NULL) {
        err_set(&err, STATUS_UNKNOWN,
                other_method ? "%.*s is not possible on %.*s" : "there is nothing to %.*s at %.*s",
                STR_ARG(r->method), STR_ARG(str_sub(r->path, 0, 200)));
        err_hint(&err, "the paths are in docs/api.md, below " PREFIX);
        call_fail(c, &err);
        return;
    }
    LOG(LOG_DEBUG, "request", LOG_C("request", r->id), LOG_STR("method", r->method),
        LOG_STR("path", r->path), LOG_STR("user", c->user));
    c->route->handle(c);
}

static size_t body_max(void *ctx, const struct http_request *r)
{
    (void)ctx;
    struct peer peer;
    if (!r->local || !str_eq(r->method, STR("POST")) || peer_get(r->fd, &peer, NULL) != STATUS_OK ||
        !may_use(&peer)) {
        return 0; /* nothing is kept for those who are refused anyway */
    }
    return str_starts(r->path, STR(PREFIX "/plan/")) ? YAML_BYTES_MAX : BODY_BYTES_MAX;
}

static void refuse(void *ctx, struct http_request *r, const struct err *err)
{
    struct call *c = call_new(ctx, r);
    bool other_method;
    c->route = find_route(c, below_prefix(r->path), &other_method);
    if (admitted(c)) {
        call_fail(c, err);
    }
}

struct api *api_new(const struct api_config *config)
{
    struct api *api = mem_alloc(sizeof *api);
    api->config = *config;
    arena_init(&api->arena, 0);
    api->server = arena_str(&api->arena, config->server);
    arena_init(&api->seen_arenas[0], 0);
    arena_init(&api->seen_arenas[1], 0);
    return api;
}

struct http_hooks api_hooks(struct api *api)
{
    return (struct http_hooks){body_max, handle, refuse, api};
}

void api_set_writer(struct api *api, struct writer *writer)
{
    api->writer = writer;
    plans_changed(api);
}

void api_stop(struct api *api)
{
    exec_stop(api);
    live_stop(api);
    logs_stop(api);
}

void api_changed(void *ctx)
{
    struct api *api = ctx;
    plans_changed(api);
    live_changed(api);
}

void api_free(struct api *api)
{
    if (api == NULL) {
        return;
    }
    plans_free(api);
    arena_done(&api->seen_arenas[0]);
    arena_done(&api->seen_arenas[1]);
    arena_done(&api->arena);
    mem_free(api);
}

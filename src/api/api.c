// SPDX-License-Identifier: Apache-2.0
// What every request passes: which route, who asks, whether they may, whether it is as the route says.
#include "api/api.h"

#include <stdio.h>
#include <string.h>

#include "api/args.h"
#include "api/audit.h"
#include "api/call.h"
#include "api/guard.h"
#include "api/lasting.h"
#include "api/runai/policies.h"
#include "api/sso.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/num.h"
#include "io/log.h"
#include "io/random.h"
#include "io/yaml.h"
#include "model/limits.h"

#define OWN "/api/weir/v1/"

/* ---- answering ---- */

struct show call_show(struct call *c)
{
    return (struct show){
        .engine = c->api->config.engine,
        .now_ms = writer_now_ms(c->api->writer),
        .arena = c->arena,
        .sight = call_sight(c),
        .places = &c->api->places,
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

/* For those who read nothing else: where it is, with which value, and what helps. */
static struct str details(struct call *c, struct str field, const struct err *err)
{
    struct str out = str_from_c(err->hint);
    if (field.len > 0) {
        out = arena_printf(c->arena, "field " STR_FMT "%s" STR_FMT "%s%s", STR_ARG(field),
                           c->value.len > 0 ? ", value " : "", STR_ARG(c->value),
                           err->hint[0] != '\0' ? ": " : "", err->hint);
    }
    return out;
}

static struct str breach_count(struct call *c)
{
    uint32_t count = c->breach->count;
    return arena_printf(c->arena, "%u issue%s", count, count == 1 ? "" : "s");
}

static void show_breach(struct jw *w, const struct policy_breach *breach)
{
    jw_key(w, STR("complianceIssues"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < breach->count; i++) {
        jw_object_begin(w);
        jw_member_string(w, STR("field"), breach->items[i].field);
        jw_member_string(w, STR("details"), breach->items[i].details);
        jw_member_string(w, STR("rule"), str_from_c(breach->items[i].rule));
        jw_object_end(w);
    }
    jw_array_end(w);
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
    struct str field = field_name(c, err->field);
    jw_member_string(&w, STR("details"),
                     c->breach != NULL ? breach_count(c) : details(c, field, err));
    jw_member_string(&w, STR("field"), field);
    jw_member_string(&w, STR("value"), c->value);
    jw_member_string(&w, STR("hint"), str_from_c(err->hint));
    jw_member_string(&w, STR("request_id"), str_from_c(c->request->id));
    if (c->breach != NULL) {
        show_breach(&w, c->breach);
    }
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
    if (info->http == 401) {
        http_set_header(c->request, "WWW-Authenticate", STR("Bearer realm=\"weir\""));
    }
    if (info->http == 503) {
        http_set_header(c->request, "Retry-After", STR("1"));
    }
    http_answer(c->request, info->http, "application/json", buf_view(&c->text));
    buf_done(&c->text);
}

void call_refused(struct call *c, const char *what, const struct err *err)
{
    struct origin origin = call_origin(c);
    writer_refused(c->api->writer, c->user, &origin,
                   str_from_c(what != NULL ? what : c->entry->route->id), err);
}

void call_refuse(struct call *c, const char *what, const struct err *err)
{
    call_refused(c, what, err);
    call_fail(c, err);
}

/* ---- asking ---- */

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
    CHECK(c->decided);
    in->author = c->user;
    in->origin = call_origin(c);
    in->key = http_header(c->request, "Idempotency-Key");
    if (in->key.len > 0 && c->part > 0) {
        in->key = arena_printf(c->arena, STR_FMT "#%u", STR_ARG(in->key), c->part);
    }
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

/* ---- arguments and bodies ---- */

static bool check(struct call *c, const struct schema *type, const struct doc *value)
{
    struct problems *problems = ARENA_NEW(c->arena, struct problems);
    struct err err;
    problems_init(problems, c->arena);
    schema_check(type, value, STR(""), problems, &c->value);
    if (problems->error_count == 0) {
        return true;
    }
    problems_to_err(problems, &err);
    c->problems = problems->count > 1 ? problems : NULL;
    call_reject(c, &err);
    return false;
}

static bool read_args(struct call *c)
{
    c->args = args_doc(c->entry->args, c->request, c->arena);
    return (c->entry->route->flags & ROUTE_ANY_ARGS) != 0 || check(c, c->entry->args, c->args);
}

/* An empty body is an empty object or list; a string is a document in a document. */
static bool read_body(struct call *c)
{
    const struct schema *type = c->entry->body;
    struct doc *body = NULL;
    struct err err;
    if (type == NULL || (c->entry->route->flags & ROUTE_RAW_BODY) != 0) {
        return true;
    }
    struct str text = str_trim(c->request->body);
    if (text.len == 0) {
        const struct schema *plain = type->kind == SCHEMA_NAMED ? type->of : type;
        text = plain->kind == SCHEMA_LIST ? STR("[]") : STR("{}");
    }
    enum status status = json_doc(text, c->arena, &body, &err);
    if (status == STATUS_OK && body->kind == DOC_STRING) {
        status = json_doc(body->text, c->arena, &body, &err);
    }
    if (status != STATUS_OK) {
        call_reject(c, &err);
        return false;
    }
    c->body = body;
    return check(c, type, body);
}

static enum status nothing_there(const struct http_request *r, bool other_method, struct err *err)
{
    struct str path = str_clip(r->path, 200);
    if (other_method) {
        err_set(err, STATUS_NO_METHOD, STR_FMT " is not possible on " STR_FMT, STR_ARG(r->method),
                STR_ARG(path));
    } else {
        err_set(err, STATUS_UNKNOWN, "there is nothing to " STR_FMT " at " STR_FMT,
                STR_ARG(r->method), STR_ARG(path));
    }
    return err_hint(err, "the paths are in docs/api.md and at /api/openapi.json");
}

static void handle(void *ctx, struct http_request *r)
{
    struct api *api = ctx;
    struct call *c = call_new(api, r);
    struct err err;
    bool other_method = false;
    c->entry = route_find(&api->table, r->method, r->path, &c->segments, &other_method);
    if (!call_admit(c)) {
        return;
    }
    if (c->entry == NULL) {
        nothing_there(r, other_method, &err);
        call_fail(c, &err);
        return;
    }
    LOG(LOG_DEBUG, "request", LOG_C("request", r->id), LOG_STR("method", r->method),
        LOG_STR("path", r->path), LOG_STR("user", c->user));
    if (c->entry->route->handle == NULL) {
        err_set(&err, STATUS_UNSUPPORTED, "weir does not have this operation yet (%s)",
                c->entry->route->id);
        err_hint(&err, "docs/api.md lists what there is");
        call_fail(c, &err);
        return;
    }
    if (read_args(c) && read_body(c) && permit_decide(c)) {
        c->entry->route->handle(c);
    }
}

static size_t body_max(void *ctx, const struct http_request *r)
{
    struct api *api = ctx;
    struct route_segments segments;
    bool other_method;
    const struct route_entry *e = route_find(&api->table, r->method, r->path, &segments,
                                             &other_method);
    if (e != NULL && e->permit.where == PERMIT_OPEN) {
        return e->body != NULL || (e->route->flags & ROUTE_RAW_BODY) != 0 ? OPEN_BODY_BYTES_MAX : 0;
    }
    if (str_eq(r->method, STR("GET")) || !call_known(api, r)) {
        return 0; /* nothing is kept for those who are refused anyway */
    }
    return str_starts(r->path, STR(OWN "plan/")) ? YAML_BYTES_MAX : BODY_BYTES_MAX;
}

static void refuse(void *ctx, struct http_request *r, const struct err *err)
{
    struct call *c = call_new(ctx, r);
    bool other_method;
    c->entry = route_find(&c->api->table, r->method, r->path, &c->segments, &other_method);
    if (call_admit(c)) {
        call_fail(c, err);
    }
}

struct api *api_new(const struct api_config *config)
{
    struct api *api = mem_alloc(sizeof *api);
    api->config = *config;
    route_table_init(&api->table, route_groups, route_groups_count);
    arena_init(&api->arena, 0);
    api->server = arena_str(&api->arena, config->server);
    api->config.url = arena_str(&api->arena, config->url);
    api->tokens = config->key != NULL ? tokens_new(config->key) : NULL;
    api->guard = guard_new();
    api->sso = sso_new();
    api->audit = audit_new();
    arena_init(&api->seen_arenas[0], 0);
    arena_init(&api->seen_arenas[1], 0);
    return api;
}

struct http_hooks api_hooks(struct api *api)
{
    return (struct http_hooks){body_max, handle, refuse, api};
}

static void on_cluster_named(void *arg, const struct outcome *outcome)
{
    (void)arg;
    if (outcome->status != STATUS_OK) {
        log_err(LOG_WARN, "cluster_not_named", &outcome->err);
    }
}

/* The first start gives the cluster its id, and the name of the server. */
static void name_cluster(struct api *api)
{
    if (!uuid_is_zero(engine_state(api->config.engine)->cluster_id)) {
        return;
    }
    struct input in = {.kind = INPUT_NAME_CLUSTER, .version = INPUT_VERSION};
    in.name_cluster.id = random_uuid();
    in.name_cluster.name = str_sub(api->server, 0, NAME_LEN_MAX);
    writer_command(api->writer, &in, on_cluster_named, api);
}

void api_set_writer(struct api *api, struct writer *writer)
{
    api->writer = writer;
    plans_changed(api);
    name_cluster(api);
}

void api_stop(struct api *api)
{
    loop_cancel(api->config.loop, &api->lasting_timer);
    exec_stop(api);
    live_stop(api);
    logs_stop(api);
}

void api_recorded(void *ctx, const struct input *in)
{
    audit_record(((struct api *)ctx)->audit, in);
}

void api_changed(void *ctx)
{
    struct api *api = ctx;
    plans_changed(api);
    lasting_changed(api);
    live_changed(api);
}

void api_free(struct api *api)
{
    if (api == NULL) {
        return;
    }
    plans_free(api);
    tokens_free(api->tokens);
    audit_free(api->audit);
    guard_free(api->guard);
    sso_free(api->sso);
    arena_done(&api->book_arena);
    places_done(&api->places);
    route_table_done(&api->table);
    arena_done(&api->seen_arenas[0]);
    arena_done(&api->seen_arenas[1]);
    arena_done(&api->arena);
    mem_free(api);
}

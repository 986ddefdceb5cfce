// SPDX-License-Identifier: Apache-2.0
// Handlers that only read: the server itself, departments, projects, node pools, nodes.
#include "api/call.h"
#include "api/pages.h"
#include "base/check.h"

void get_health(struct call *c)
{
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_bool(&w, STR("ok"), true);
    jw_object_end(&w);
    call_send(c, 200);
}

void get_version(struct call *c)
{
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_string(&w, STR("version"), STR(WEIR_VERSION));
    jw_object_end(&w);
    call_send(c, 200);
}

void get_openapi(struct call *c)
{
    struct route_table *t = &c->api->table;
    if (t->openapi.len == 0) {
        openapi_write(t, &t->openapi);
        CHECK(!t->openapi.full);
    }
    http_answer(c->request, 200, "application/json", buf_view(&t->openapi));
}

void get_docs(struct call *c)
{
    http_set_header(
        c->request, "Content-Security-Policy",
        STR("default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
            "connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"));
    http_answer(c->request, 200, "text/html; charset=utf-8",
                (struct str){(const char *)page_docs, (uint32_t)page_docs_len});
}

static const struct plan *plan_of(const struct call *c)
{
    return &engine_state(c->api->config.engine)->plan;
}

static void show_scope(struct call *c, struct jw *w, struct scope s)
{
    static const struct str kinds[] = {
        [SCOPE_TENANT] = STRS("tenant"),
        [SCOPE_CLUSTER] = STRS("cluster"),
        [SCOPE_DEPARTMENT] = STRS("department"),
        [SCOPE_PROJECT] = STRS("project"),
    };
    const struct scope_tree *tree = &call_grants(c)->book->tree;
    struct str name = STR("");
    uint32_t row;
    if (s.kind == SCOPE_DEPARTMENT && map_get_u64(&tree->departments, s.id, &row)) {
        name = plan_of(c)->departments[row].name;
    } else if (s.kind == SCOPE_PROJECT && map_get_u64(&tree->projects, s.id, &row)) {
        name = plan_of(c)->projects[row].name;
    }
    jw_member_string(w, STR("scope"), kinds[s.kind]);
    jw_member_string(w, STR("name"), name);
}

/* Each role once, and then where each of them holds. */
static void show_roles(struct call *c, struct jw *w)
{
    const struct grants *g = call_grants(c);
    jw_key(w, STR("roles"));
    jw_array_begin(w);
    if (g->all) {
        jw_string(w, STR("administrator"));
    }
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t first = 0;
        while (g->items[first].role != g->items[i].role) {
            first++;
        }
        if (first == i) {
            jw_string(w, g->items[i].role->info.name);
        }
    }
    jw_array_end(w);
    jw_key(w, STR("access"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < g->count; i++) {
        jw_object_begin(w);
        jw_member_string(w, STR("role"), g->items[i].role->info.name);
        show_scope(c, w, g->items[i].scope);
        jw_object_end(w);
    }
    jw_array_end(w);
}

void get_whoami(struct call *c)
{
    static const struct str kinds[] = {
        [SESSION_NONE] = STRS(""),          [SESSION_MACHINE] = STRS("machine"),
        [SESSION_USER] = STRS("user"),      [SESSION_APPLICATION] = STRS("service-account"),
        [SESSION_KEY] = STRS("access-key"),
    };
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_string(&w, STR("user"), c->user);
    if (c->who.subject.machine) {
        jw_member_i64(&w, STR("uid"), c->peer.uid);
    }
    jw_member_string(&w, STR("kind"), kinds[c->session.kind]);
    show_roles(c, &w);
    jw_member_string(&w, STR("server"), c->api->server);
    jw_member_string(&w, STR("version"), STR(WEIR_VERSION));
    jw_object_end(&w);
    call_send(c, 200);
}

void get_ownership(struct call *c)
{
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_bool(&w, STR("protected"),
                   engine_state(c->api->config.engine)->identity.protect_ownership);
    jw_object_end(&w);
    call_send(c, 200);
}

static void on_ownership(struct call *c, const struct outcome *outcome)
{
    if (outcome->status != STATUS_OK) {
        call_fail(c, &outcome->err);
        return;
    }
    get_ownership(c);
}

void set_ownership(struct call *c)
{
    struct input in = {.kind = INPUT_IDENTITY, .version = INPUT_VERSION};
    in.identity.op = IDENTITY_PROTECT;
    in.identity.protect_ownership = body_bool(c->body, STR("protected"), false);
    call_command(c, &in, on_ownership);
}

void get_cluster(struct call *c)
{
    struct show show = call_show(c);
    struct jw w;
    call_begin(c, &w);
    show_summary(&show, &w);
    call_send(c, 200);
}

static void list_begin(struct call *c, struct jw *w)
{
    call_begin(c, w);
    jw_object_begin(w);
    jw_key(w, STR("items"));
    jw_array_begin(w);
}

static void list_send(struct call *c, struct jw *w)
{
    jw_array_end(w);
    jw_object_end(w);
    call_send(c, 200);
}

/* What is not there: with the nearest name that is, or the command that lists them. */
static void unknown(struct call *c, const char *what, const char *noun, const struct str *names,
                    uint32_t count)
{
    struct err err;
    struct str name = str_sub(c->segments.items[0], 0, 100);
    err_set(&err, STATUS_UNKNOWN, "there is no %s \"" STR_FMT "\"", what, STR_ARG(name));
    uint32_t near = str_nearest(name, names, count);
    if (near < count) {
        err_hint(&err, "did you mean \"" STR_FMT "\"?", STR_ARG(names[near]));
    } else {
        err_hint(&err, "weir %s list shows those there are", noun);
    }
    call_reject(c, &err);
}

/* The names of a table's rows, and the row that has the name asked for (rows_count: none). */
#define FIND_NAMED(c, rows, rows_count, names, at)                         \
    struct str *names = ARENA_ARRAY((c)->arena, struct str, (rows_count)); \
    uint32_t at = (rows_count);                                            \
    for (uint32_t i_ = 0; i_ < (rows_count); i_++) {                       \
        names[i_] = (rows)[i_].name;                                       \
        at = str_eq(names[i_], (c)->segments.items[0]) ? i_ : at;          \
    }

void get_departments(struct call *c)
{
    struct show show = call_show(c);
    struct jw w;
    list_begin(c, &w);
    for (uint32_t i = 0; i < plan_of(c)->departments_count; i++) {
        if (sight_department(show.sight, i)) {
            show_department(&show, &w, &plan_of(c)->departments[i]);
        }
    }
    list_send(c, &w);
}

void get_department(struct call *c)
{
    struct show show = call_show(c);
    struct jw w;
    call_begin(c, &w);
    show_department(&show, &w, &plan_of(c)->departments[call_row(c)]);
    call_send(c, 200);
}

void get_projects(struct call *c)
{
    struct show show = call_show(c);
    struct jw w;
    list_begin(c, &w);
    for (uint32_t i = 0; i < plan_of(c)->projects_count; i++) {
        if (sight_project(show.sight, i)) {
            show_project(&show, &w, &plan_of(c)->projects[i]);
        }
    }
    list_send(c, &w);
}

void get_project(struct call *c)
{
    struct show show = call_show(c);
    struct jw w;
    call_begin(c, &w);
    show_project(&show, &w, &plan_of(c)->projects[call_row(c)]);
    call_send(c, 200);
}

void get_pools(struct call *c)
{
    struct show show = call_show(c);
    struct jw w;
    list_begin(c, &w);
    for (uint32_t i = 0; i < plan_of(c)->pools_count; i++) {
        show_pool(&show, &w, &plan_of(c)->pools[i], false);
    }
    list_send(c, &w);
}

void get_pool(struct call *c)
{
    const struct plan *plan = plan_of(c);
    FIND_NAMED(c, plan->pools, plan->pools_count, names, at);
    if (at == plan->pools_count) {
        unknown(c, "node pool", "nodepool", names, plan->pools_count);
        return;
    }
    struct show show = call_show(c);
    struct jw w;
    call_begin(c, &w);
    show_pool(&show, &w, &plan->pools[at], true);
    call_send(c, 200);
}

void get_nodes(struct call *c)
{
    const struct state *st = engine_state(c->api->config.engine);
    struct show show = call_show(c);
    struct jw w;
    list_begin(c, &w);
    for (uint32_t i = 0; i < st->nodes_count; i++) {
        show_node(&show, &w, &st->nodes[i]);
    }
    list_send(c, &w);
}

void get_node(struct call *c)
{
    const struct state *st = engine_state(c->api->config.engine);
    FIND_NAMED(c, st->nodes, st->nodes_count, names, at);
    if (at == st->nodes_count) {
        unknown(c, "node", "node", names, st->nodes_count);
        return;
    }
    struct show show = call_show(c);
    struct jw w;
    call_begin(c, &w);
    show_node(&show, &w, &st->nodes[at]);
    call_send(c, 200);
}

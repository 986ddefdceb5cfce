// SPDX-License-Identifier: Apache-2.0
#include "api/runai/common.h"

#include <stdarg.h>

#include "base/num.h"

enum { AGAIN_MS = 60 * 1000, SHOWN_MAX = 100 };

/* ---- ids ---- */

static uint32_t number_of(struct str id)
{
    uint64_t n = 0;
    return id.len < 10 && num_parse_u64(id, &n) ? (uint32_t)n : 0;
}

const struct project *find_project_id(const struct call *c, struct str id)
{
    uint32_t n = number_of(id);
    for (uint32_t i = 0; n > 0 && i < plan_of(c)->projects_count; i++) {
        if (plan_of(c)->projects[i].id == n) {
            return &plan_of(c)->projects[i];
        }
    }
    return NULL;
}

const struct department *find_department_id(const struct call *c, struct str id)
{
    uint32_t n = number_of(id);
    for (uint32_t i = 0; n > 0 && i < plan_of(c)->departments_count; i++) {
        if (plan_of(c)->departments[i].id == n) {
            return &plan_of(c)->departments[i];
        }
    }
    return NULL;
}

const struct pool *find_pool_id(const struct call *c, struct str id)
{
    uint32_t n = number_of(id);
    for (uint32_t i = 0; n > 0 && i < plan_of(c)->pools_count; i++) {
        if (plan_of(c)->pools[i].id == n) {
            return &plan_of(c)->pools[i];
        }
    }
    return NULL;
}

const struct department *find_department_name(const struct call *c, struct str name)
{
    for (uint32_t i = 0; i < plan_of(c)->departments_count; i++) {
        if (str_eq(plan_of(c)->departments[i].name, name)) {
            return &plan_of(c)->departments[i];
        }
    }
    return NULL;
}

struct str department_id_text(const struct call *c, struct str name)
{
    const struct department *d = find_department_name(c, name);
    return d != NULL ? arena_printf(c->arena, "%u", d->id) : (struct str){0};
}

const struct pool *find_pool_name(const struct call *c, struct str name)
{
    for (uint32_t i = 0; i < plan_of(c)->pools_count; i++) {
        if (str_eq(plan_of(c)->pools[i].name, name)) {
            return &plan_of(c)->pools[i];
        }
    }
    return NULL;
}

void fail_unknown(struct call *c, const char *what, struct str id)
{
    struct err err;
    err_set(&err, STATUS_UNKNOWN, "there is no %s " STR_FMT, what,
            STR_ARG(str_clip(id, SHOWN_MAX)));
    call_reject(c, &err);
}

void fail_field(struct call *c, const char *field, struct str value, const char *format, ...)
{
    struct err err;
    char text[256];
    va_list args;
    va_start(args, format);
    str_vformat(text, sizeof text, format, args);
    va_end(args);
    err_set(&err, STATUS_INVALID, "%s", text);
    err_field(&err, "%s", field);
    c->value = str_clip(value, SHOWN_MAX);
    call_refuse(c, NULL, &err);
}

const struct project *path_project(struct call *c)
{
    const struct project *p = find_project_id(c, c->segments.items[0]);
    if (p == NULL) {
        fail_unknown(c, "project", c->segments.items[0]);
    }
    return p;
}

const struct department *path_department(struct call *c)
{
    const struct department *d = find_department_id(c, c->segments.items[0]);
    if (d == NULL) {
        fail_unknown(c, "department", c->segments.items[0]);
    }
    return d;
}

const struct pool *path_pool(struct call *c)
{
    const struct pool *p = find_pool_id(c, c->segments.items[0]);
    if (p == NULL) {
        fail_unknown(c, "node pool", c->segments.items[0]);
    } else {
        call_about(c, p->name);
    }
    return p;
}

const struct workload *path_workload(struct call *c)
{
    struct uuid id;
    const struct workload *wl = uuid_parse(c->segments.items[0], &id)
                                    ? engine_find(c->api->config.engine, id)
                                    : NULL;
    if (wl == NULL) {
        fail_unknown(c, "workload", c->segments.items[0]);
    }
    return wl;
}

bool path_cluster(struct call *c)
{
    struct uuid id;
    if (uuid_parse(c->segments.items[0], &id) && uuid_eq(id, state_of(c)->cluster_id)) {
        return true;
    }
    fail_unknown(c, "cluster", c->segments.items[0]);
    return false;
}

bool body_cluster(struct call *c)
{
    struct str text = body_str(c->body, STR("clusterId"));
    struct uuid id;
    if (text.len == 0 || (uuid_parse(text, &id) && uuid_eq(id, state_of(c)->cluster_id))) {
        return true;
    }
    struct err err;
    err_set(&err, STATUS_UNKNOWN, "there is no cluster " STR_FMT, STR_ARG(text));
    err_field(&err, "clusterId");
    err_hint(&err, "GET /api/v1/clusters lists those there are");
    c->value = text;
    call_refuse(c, NULL, &err);
    return false;
}

/* ---- showing ---- */

void show_id(struct jw *w, struct str key, uint32_t id)
{
    char text[16];
    jw_member_string(w, key, str_format(text, sizeof text, "%u", id));
}

struct str cluster_id_text(const struct call *c)
{
    return uuid_str(state_of(c)->cluster_id, c->arena);
}

void show_cluster_id(struct call *c, struct jw *w, struct str key)
{
    show_uuid(w, key, state_of(c)->cluster_id);
}

/* Its depth is that of the document, which the reader bounds. */
void show_given(struct jw *w, const struct doc *d)
{
    if (d->kind == DOC_MAP) {
        jw_object_begin(w);
        for (const struct doc *m = d->child; m != NULL; m = m->next) {
            if (m->kind != DOC_NULL) {
                jw_key(w, m->key);
                show_given(w, m);
            }
        }
        jw_object_end(w);
    } else if (d->kind == DOC_LIST) {
        jw_array_begin(w);
        for (const struct doc *m = d->child; m != NULL; m = m->next) {
            show_given(w, m);
        }
        jw_array_end(w);
    } else {
        jw_doc(w, d);
    }
}

void show_null(struct jw *w, struct str key)
{
    jw_key(w, key);
    jw_null(w);
}

void show_milli(struct jw *w, struct str key, int64_t thousandths)
{
    jw_key(w, key);
    jw_decimal(w, thousandths, 3);
}

void show_moment(struct jw *w, struct str key, int64_t at_ms)
{
    char text[RFC3339_TEXT_SIZE];
    jw_member_string(w, key, rfc3339_format(num_max_i64(at_ms, 0), text));
}

void show_stamp(struct jw *w, const struct stamp *stamp)
{
    show_moment(w, STR("createdAt"), stamp->created_ms);
    jw_member_string(w, STR("createdBy"), stamp->created_by);
    show_moment(w, STR("updatedAt"), stamp->updated_ms);
    jw_member_string(w, STR("updatedBy"), stamp->updated_by);
}

void answer_empty(struct call *c, int code)
{
    http_answer(c->request, code, NULL, STR(""));
}

void answer_code(struct call *c, int code, const char *message)
{
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_i64(&w, STR("code"), code);
    jw_member_string(&w, STR("message"), str_from_c(message));
    jw_object_end(&w);
    call_send(c, code);
}

bool was_just_made(const struct call *c, const struct stamp *stamp)
{
    return str_eq(stamp->created_by, c->user) && stamp->created_ms == stamp->updated_ms &&
           c->api->config.now_ms() - stamp->created_ms < AGAIN_MS;
}

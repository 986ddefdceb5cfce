// SPDX-License-Identifier: Apache-2.0
// The OpenAPI 3.1 document, from the rows that also route and check.
#include "api/route.h"
#include "base/num.h"

static void show_text_schema(struct jw *w, struct str kind)
{
    jw_key(w, STR("schema"));
    jw_object_begin(w);
    if (str_eq(kind, STR("int"))) {
        jw_member_string(w, STR("type"), STR("string"));
        jw_member_string(w, STR("pattern"), STR("^[0-9]{1,9}$"));
    } else {
        jw_member_string(w, STR("type"), STR("string"));
        if (str_eq(kind, STR("uuid"))) {
            jw_member_string(w, STR("format"), kind);
        } else {
            jw_member_i64(w, STR("minLength"), 1);
        }
    }
    jw_object_end(w);
}

static void show_parameters(struct jw *w, const struct route_entry *e)
{
    struct str path = str_from_c(e->route->path);
    struct route_part part;
    jw_key(w, STR("parameters"));
    jw_array_begin(w);
    while (route_part(&path, &part)) {
        if (part.parameter) {
            jw_object_begin(w);
            jw_member_string(w, STR("name"), part.text);
            jw_member_string(w, STR("in"), STR("path"));
            jw_member_bool(w, STR("required"), true);
            if (str_eq(part.text, STR("workload"))) {
                jw_member_string(w, STR("description"), STR("Its id, or PROJECT/NAME."));
            }
            show_text_schema(w, part.kind);
            jw_object_end(w);
        }
    }
    for (uint32_t i = 0; i < e->args->members_count; i++) {
        const struct schema_member *m = &e->args->members[i];
        jw_object_begin(w);
        jw_member_string(w, STR("name"), m->name);
        jw_member_string(w, STR("in"), STR("query"));
        jw_member_bool(w, STR("required"), m->required);
        if (m->type->kind == SCHEMA_LIST) { /* a,b,c */
            jw_member_string(w, STR("style"), STR("form"));
            jw_member_bool(w, STR("explode"), false);
        }
        jw_key(w, STR("schema"));
        schema_show(m->type, w);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void show_content(struct jw *w, struct str media, const struct schema *s)
{
    jw_key(w, STR("content"));
    jw_object_begin(w);
    jw_key(w, media);
    jw_object_begin(w);
    if (s != NULL) {
        jw_key(w, STR("schema"));
        schema_show(s, w);
    }
    jw_object_end(w);
    jw_object_end(w);
}

static void show_body(struct jw *w, const struct route_entry *e)
{
    bool raw = (e->route->flags & ROUTE_RAW_BODY) != 0;
    if (e->body == NULL && !raw) {
        return;
    }
    jw_key(w, STR("requestBody"));
    jw_object_begin(w);
    jw_member_bool(w, STR("required"), e->body != NULL && schema_must_have(e->body));
    show_content(w,
                 (e->route->flags & ROUTE_FORM) != 0 ? STR("application/x-www-form-urlencoded")
                 : e->body == NULL                   ? STR("application/yaml")
                                                     : STR("application/json"),
                 e->body);
    jw_object_end(w);
}

static void show_answer(struct jw *w, int code, const char *description,
                        const struct schema *answer)
{
    char text[16];
    jw_key(w, str_format(text, sizeof text, "%d", code));
    jw_object_begin(w);
    jw_member_string(w, STR("description"), str_from_c(description));
    if (answer != NULL) {
        show_content(w, STR("application/json"), answer);
    }
    jw_object_end(w);
}

static void show_answers(struct jw *w, const struct route_table *t, const struct route_entry *e)
{
    jw_key(w, STR("responses"));
    jw_object_begin(w);
    if (e->route->handle != NULL) {
        show_answer(w, e->route->code, "Done.", e->answer);
    }
    if (e->route->handle != NULL && str_ends(str_from_c(e->route->path), STR("/metrics"))) {
        show_answer(w, 207, "Some of what was asked for is not measured here.", e->answer);
    }
    jw_key(w, STR("default"));
    jw_object_begin(w);
    jw_member_string(w, STR("description"),
                     e->route->handle != NULL ? STR("Refused, and why.") : STR("Not there yet."));
    show_content(w, STR("application/json"), schema_read(&t->schemas, "Error"));
    jw_object_end(w);
    jw_object_end(w);
}

static void show_method(struct jw *w, struct str method)
{
    char lower[16];
    uint32_t len = method.len < sizeof lower ? method.len : (uint32_t)sizeof lower;
    for (uint32_t i = 0; i < len; i++) {
        lower[i] = (char)(method.ptr[i] | 0x20);
    }
    jw_key(w, (struct str){lower, len});
}

static void show_operation(struct jw *w, const struct route_table *t, const struct route_entry *e)
{
    show_method(w, str_from_c(e->route->method));
    jw_object_begin(w);
    jw_member_string(w, STR("operationId"), str_from_c(e->route->id));
    jw_member_string(w, STR("summary"), str_from_c(e->route->summary));
    jw_key(w, STR("tags"));
    jw_array_begin(w);
    jw_string(w, str_from_c(e->group->tag));
    jw_array_end(w);
    if (e->permit.where == PERMIT_OPEN) {
        jw_key(w, STR("security"));
        jw_array_begin(w);
        jw_array_end(w);
    }
    if (e->route->permit != NULL) {
        jw_member_string(w, STR("x-weir-permit"), str_from_c(e->route->permit));
    }
    if (e->route->handle == NULL) {
        jw_member_bool(w, STR("x-weir-missing"), true);
    }
    show_parameters(w, e);
    show_body(w, e);
    show_answers(w, t, e);
    jw_object_end(w);
}

/* {workloadId:uuid} is {workloadId} there. */
static void show_path(struct jw *w, const char *pattern)
{
    struct buf out;
    struct str path = str_from_c(pattern);
    struct route_part part;
    buf_init(&out, 1024);
    while (route_part(&path, &part)) {
        if (part.text.len > 0 || out.len > 0) {
            buf_printf(&out, part.parameter ? "/{" STR_FMT "}" : "/" STR_FMT, STR_ARG(part.text));
        }
    }
    jw_key(w, buf_view(&out));
    buf_done(&out);
}

static void show_paths(struct jw *w, const struct route_table *t)
{
    jw_key(w, STR("paths"));
    jw_object_begin(w);
    for (uint32_t i = 0; i < t->count; i++) {
        struct str path = str_from_c(t->entries[i].route->path);
        if (i == 0 || !str_eq(path, str_from_c(t->entries[i - 1].route->path))) {
            show_path(w, t->entries[i].route->path);
            jw_object_begin(w);
        }
        show_operation(w, t, &t->entries[i]);
        if (i + 1 == t->count || !str_eq(path, str_from_c(t->entries[i + 1].route->path))) {
            jw_object_end(w);
        }
    }
    jw_object_end(w);
}

static void show_components(struct jw *w, const struct route_table *t)
{
    jw_key(w, STR("components"));
    jw_object_begin(w);
    jw_key(w, STR("securitySchemes"));
    jw_object_begin(w);
    jw_key(w, STR("token"));
    jw_object_begin(w);
    jw_member_string(w, STR("type"), STR("http"));
    jw_member_string(w, STR("scheme"), STR("bearer"));
    jw_member_string(w, STR("bearerFormat"), STR("JWT"));
    jw_object_end(w);
    jw_object_end(w);
    jw_key(w, STR("schemas"));
    jw_object_begin(w);
    for (uint32_t i = 0; i < t->schemas.count; i++) {
        jw_key(w, str_from_c(t->schemas.rows[i]->name));
        schema_show(&t->schemas.types[i], w);
    }
    jw_object_end(w);
    jw_object_end(w);
}

void openapi_write(const struct route_table *t, struct buf *out)
{
    struct jw w;
    jw_init(&w, out, false);
    jw_object_begin(&w);
    jw_member_string(&w, STR("openapi"), STR("3.1.0"));
    jw_key(&w, STR("info"));
    jw_object_begin(&w);
    jw_member_string(&w, STR("title"), STR("weir"));
    jw_member_string(&w, STR("version"), STR(WEIR_VERSION));
    jw_object_end(&w);
    jw_key(&w, STR("security"));
    jw_array_begin(&w);
    jw_object_begin(&w);
    jw_key(&w, STR("token"));
    jw_array_begin(&w);
    jw_array_end(&w);
    jw_object_end(&w);
    jw_array_end(&w);
    show_paths(&w, t);
    show_components(&w, t);
    jw_object_end(&w);
}

// SPDX-License-Identifier: Apache-2.0
// Types of workloads: weir's own kinds, whose category and default priority may be changed, and kinds
// of Kubernetes that somebody registered.
#include "api/runai/properties.h"
#include "io/random.h"
#include "model/priority.h"

enum { OWN = WORKLOAD_DISTRIBUTED + 1 };
#define OWN_GROUP STR("weir")

/* ---- the rows: weir's own kinds, then the registered ones ---- */

static struct workload_type own_type(const struct state *s, enum workload_kind kind)
{
    struct workload_type t = kind_type_of(s, kind);
    t.id = property_id("type", kind_type(kind));
    t.kind_plus_one = (uint32_t)kind + 1;
    t.name = kind_type(kind);
    t.group = OWN_GROUP;
    return t;
}

struct types {
    struct call *c;
    struct workload_type *items;
    uint32_t count;
};

static struct types types_of(struct call *c, bool external)
{
    const struct state *s = state_of(c);
    struct types t = {c, ARENA_ARRAY(c->arena, struct workload_type, OWN + s->types_count), 0};
    for (uint32_t kind = 0; kind < OWN && !external; kind++) {
        t.items[t.count++] = own_type(s, (enum workload_kind)kind);
    }
    for (uint32_t i = 0; i < s->types_count; i++) {
        if (s->types[i].kind_plus_one == 0) {
            t.items[t.count++] = s->types[i];
        }
    }
    return t;
}

/* The type with that id; false: there is none. */
static bool find_type(struct call *c, struct uuid id, struct workload_type *out)
{
    struct types t = types_of(c, false);
    for (uint32_t i = 0; i < t.count; i++) {
        if (uuid_eq(t.items[i].id, id)) {
            *out = t.items[i];
            return true;
        }
    }
    return false;
}

/* That of the path; false: answered. */
static bool path_type(struct call *c, struct workload_type *out)
{
    struct uuid id;
    if (uuid_parse(c->segments.items[0], &id) && find_type(c, id, out)) {
        call_about(c, out->name);
        return true;
    }
    fail_unknown(c, "workload type", c->segments.items[0]);
    return false;
}

/* ---- showing ---- */

static void show_interfaces(struct call *c, struct jw *w, struct str json)
{
    struct doc *list = NULL;
    struct err err;
    bool ok = json.len > 0 && json_doc(json, c->arena, &list, &err) == STATUS_OK;
    jw_key(w, STR("resourceInterfaces"));
    jw_array_begin(w);
    for (const struct doc *d = ok ? list->child : NULL; d != NULL; d = d->next) {
        struct str version = body_str(body_get(d, STR("spec")), STR("version"));
        jw_object_begin(w);
        jw_member_string(w, STR("version"),
                         version.len > 0 ? version : body_str(d, STR("version")));
        jw_key(w, STR("resourceInterface"));
        jw_doc(w, d);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void show_type(struct call *c, struct jw *w, const struct workload_type *t)
{
    struct str category = category_name(t->category);
    struct str priority = priority_word(t->priority);
    jw_object_begin(w);
    show_uuid(w, STR("id"), t->id);
    jw_member_string(w, STR("name"), t->name);
    jw_member_string(w, STR("group"), t->group);
    show_uuid(w, STR("categoryId"), property_id("category", category));
    jw_member_string(w, STR("categoryName"), category);
    show_uuid(w, STR("priorityId"), property_id("priority", priority));
    jw_member_string(w, STR("priorityName"), priority);
    show_interfaces(c, w, t->interfaces);
    show_stamp(w, &t->stamp);
    jw_object_end(w);
}

static void answer_type(struct call *c, int code, const struct workload_type *t)
{
    struct jw w;
    call_begin(c, &w);
    show_type(c, &w, t);
    call_send(c, code);
}

static const struct column columns[] = {
    {"name",  COLUMN_TEXT},
    {"group", COLUMN_TEXT},
};

static struct cell type_cell(void *ctx, uint32_t row, uint32_t column)
{
    const struct types *t = ctx;
    return cell_text(column == 0 ? t->items[row].name : t->items[row].group);
}

static struct str type_name(void *ctx, uint32_t row)
{
    const struct types *t = ctx;
    return t->items[row].name;
}

static void list(struct call *c)
{
    struct types types = types_of(c, body_bool(c->args, STR("externalTypesOnly"), false));
    struct list l = {.c = c,
                     .columns = columns,
                     .columns_count = COUNT_OF(columns),
                     .cell = type_cell,
                     .name = type_name,
                     .ctx = &types,
                     .rows_count = types.count};
    struct jw w;
    if (!list_select(&l)) {
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("types"));
    jw_array_begin(&w);
    for (uint32_t i = l.first; i < l.end; i++) {
        show_type(c, &w, &types.items[l.rows[i]]);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void get(struct call *c)
{
    struct workload_type t;
    if (path_type(c, &t)) {
        answer_type(c, 200, &t);
    }
}

/* ---- changing ---- */

static bool priority_find(struct uuid id, int64_t *priority)
{
    for (uint32_t i = 0; i < PRIORITY_WORD_COUNT; i++) {
        if (uuid_eq(id, property_id("priority", priority_words[i].word))) {
            *priority = priority_words[i].value;
            return true;
        }
    }
    return false;
}

/* What the body says, over what is there; false: answered. */
static bool read_type(struct call *c, struct workload_type *t)
{
    struct str category = body_str(c->body, STR("categoryId"));
    struct str priority = body_str(c->body, STR("priorityId"));
    const struct doc *interfaces = body_get(c->body, STR("resourceInterfaces"));
    struct uuid id;
    if (category.len > 0 && (!uuid_parse(category, &id) || !category_find(id, &t->category))) {
        fail_field(
            c, "categoryId", category,
            "there is no such category; GET /api/v1/workload-categories lists those there are");
        return false;
    }
    if (priority.len > 0 && (!uuid_parse(priority, &id) || !priority_find(id, &t->priority))) {
        fail_field(
            c, "priorityId", priority,
            "there is no such priority; GET /api/v1/workload-priorities lists those there are");
        return false;
    }
    if (interfaces != NULL) {
        struct buf out;
        struct jw w;
        buf_init(&out, BODY_BYTES_MAX * 2);
        jw_init(&w, &out, false);
        jw_doc(&w, interfaces);
        t->interfaces = arena_str(c->arena, buf_view(&out));
        buf_done(&out);
    }
    return true;
}

static void on_changed(struct call *c, const struct outcome *outcome)
{
    const int *code = c->context;
    struct workload_type t;
    if (outcome->status != STATUS_OK) {
        call_fail(c, &outcome->err);
    } else if (*code == 204) {
        answer_empty(c, 204);
    } else if (find_type(c, outcome->id, &t)) {
        answer_type(c, *code, &t);
    } else { /* somebody took it out at once */
        fail_unknown(c, "workload type", uuid_str(outcome->id, c->arena));
    }
}

static void change(struct call *c, enum type_op op, const struct workload_type *t, int code)
{
    struct input in = {.kind = INPUT_WORKLOAD_TYPE, .version = INPUT_VERSION};
    int *kept = ARENA_NEW(c->arena, int);
    *kept = code;
    c->context = kept;
    in.type_change.op = op;
    in.type_change.type = *t;
    if (t->kind_plus_one > 0) { /* its names are not the state's */
        in.type_change.type.name = in.type_change.type.group = (struct str){0};
    }
    call_command(c, &in, on_changed);
}

/* The same request came a moment ago, and its answer was lost on the way. */
static bool made_before(struct call *c, const struct workload_type *t, struct workload_type *same)
{
    struct types all = types_of(c, true);
    for (uint32_t i = 0; i < all.count; i++) {
        *same = all.items[i];
        if (str_eq(same->name, t->name) && str_eq(same->group, t->group)) {
            return same->category == t->category && same->priority == t->priority &&
                   str_eq(same->interfaces, t->interfaces) && was_just_made(c, &same->stamp);
        }
    }
    return false;
}

static void create(struct call *c)
{
    struct workload_type t = {.id = random_uuid(),
                              .name = body_str(c->body, STR("name")),
                              .group = body_str(c->body, STR("group"))};
    struct workload_type same;
    if (!read_type(c, &t)) {
        return;
    }
    if (made_before(c, &t, &same)) {
        answer_type(c, 201, &same);
    } else {
        change(c, TYPE_ADD, &t, 201);
    }
}

static void update(struct call *c)
{
    struct workload_type t;
    if (path_type(c, &t) && read_type(c, &t)) {
        change(c, TYPE_SET, &t, 200);
    }
}

static void delete(struct call *c)
{
    struct workload_type t;
    if (path_type(c, &t)) {
        change(c, TYPE_REMOVE, &t, 204);
    }
}

/* ---- the rows ---- */

static const struct schema_row schemas[] = {
    {"WorkloadTypeConfig",
     "id uuid, name str, group str, categoryId uuid, categoryName str, priorityId uuid, "
     "priorityName str, resourceInterfaces [{version str, resourceInterface obj}], createdAt ts, "
     "createdBy str, updatedAt ts, updatedBy str"                                               },
    {"WorkloadTypeCreateFields",
     "categoryId* uuid, priorityId* uuid, name* str(1..253), group* str(1..253), "
     "resourceInterfaces [obj]?"                                                                },
    {"WorkloadTypeUpdateFields", "categoryId uuid?, priorityId uuid?, resourceInterfaces [obj]?"},
};

#define P "/api/v1/workload-types"

static const struct route routes[] = {
    {"GET",    P,                          "list_workload_types",  list,   "externalTypesOnly bool = false, " FILTER_ARGS, NULL,
     200,                                                                                                                                                   "{types* [WorkloadTypeConfig]}", "Types of workloads",            0, "read workload-properties"            },
    {"POST",   P,                          "create_workload_type", create, NULL,                                           "WorkloadTypeCreateFields", 201,
     "WorkloadTypeConfig",                                                                                                                                                                   "Register a kind of Kubernetes", 0,
     "create workload-properties at tenant"                                                                                                                                                                                                                            },
    {"GET",    P "/{workloadTypeId:uuid}", "get_workload_type",    get,    NULL,                                           NULL,                       200,
     "WorkloadTypeConfig",                                                                                                                                                                   "One type of workloads",         0, "read workload-properties"            },
    {"PUT",    P "/{workloadTypeId:uuid}", "update_workload_type", update, NULL,
     "WorkloadTypeUpdateFields",                                                                                                                       200, "WorkloadTypeConfig",
     "Change the category and the default priority of a type",                                                                                                                                                                0,
     "update workload-properties at tenant"                                                                                                                                                                                                                            },
    {"DELETE", P "/{workloadTypeId:uuid}", "delete_workload_type", delete, NULL,                                           NULL,                       204, NULL,
     "Forget a registered kind",                                                                                                                                                                                              0, "delete workload-properties at tenant"},
};

const struct route_group group_workload_types = ROUTE_GROUP("WorkloadProperties", routes, schemas);

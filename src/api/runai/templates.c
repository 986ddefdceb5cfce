// SPDX-License-Identifier: Apache-2.0
// Workload templates: /api/v1/workload-templates. A whole submit under a name, as far as it is the same
// each time: a spec, and assets that lie below it.
#include "api/runai/assets.h"
#include "api/runai/workloads.h"
#include "io/random.h"

enum { SHOWN_MAX = 100 };

#define P "/api/v1/workload-templates"

static bool is_template(const struct asset *a)
{
    return asset_kind_info(a->kind)->class == ASSET_IS_TEMPLATE;
}

/* Of which kind the path is; ASSET_KINDS: of all. */
static enum asset_kind kind_of(const struct call *c)
{
    static const struct str words[] = {STRS(P "/trainings"), STRS(P "/workspaces"),
                                       STRS(P "/inferences"), STRS(P "/distributed")};
    struct str path = str_from_c(c->entry->route->path);
    for (uint32_t i = 0; i < COUNT_OF(words); i++) {
        if (str_starts(path, words[i])) {
            return (enum asset_kind)(ASSET_TEMPLATE_TRAINING + i);
        }
    }
    return ASSET_KINDS;
}

static struct str workload_type(enum asset_kind kind)
{
    static const struct str words[] = {STRS("Training"), STRS("Workspace"), STRS("Inference"),
                                       STRS("Distributed")};
    return words[kind - ASSET_TEMPLATE_TRAINING];
}

/* ---- showing ---- */

/* The spec that a submit with nothing of its own would have; NULL: err says why it cannot be. */
static const struct doc *combined(struct call *c, const struct asset *a, struct err *err)
{
    const struct doc *body = asset_doc(c, a->spec);
    const struct doc *spec = assets_combine(c, body_get(body, STR("spec")),
                                            body_get(body, STR("assets")), a->scope, err);
    if (spec != NULL && body_str(spec, STR("command")).len == 0 &&
        body_str(spec, STR("args")).len == 0 && body_str(spec, STR("image")).len == 0) {
        err_set(err, STATUS_INVALID, "there is neither a command nor an image");
        return NULL;
    }
    return spec;
}

static void show_meta(struct call *c, struct jw *w, const struct asset *a)
{
    jw_object_begin(w);
    show_uuid(w, STR("id"), a->id);
    jw_member_string(w, STR("name"), a->name);
    jw_member_string(w, STR("description"), a->description);
    jw_member_string(w, STR("workloadType"), workload_type(a->kind));
    jw_member_string(w, STR("scopeType"), scope_type(a->scope.kind));
    jw_member_string(w, STR("scopeId"), scope_id(c, a->scope));
    show_stamp(w, &a->stamp);
    jw_object_end(w);
}

static void show_template(struct call *c, struct jw *w, const struct asset *a)
{
    struct err err = {0};
    const struct doc *spec = combined(c, a, &err);
    jw_object_begin(w);
    jw_key(w, STR("meta"));
    show_meta(c, w, a);
    for (const struct doc *d = asset_doc(c, a->spec)->child; d != NULL; d = d->next) {
        jw_key(w, d->key);
        jw_doc(w, d);
    }
    jw_key(w, STR("runnable"));
    jw_object_begin(w);
    jw_member_bool(w, STR("isRunnable"), spec != NULL);
    if (spec == NULL) {
        jw_member_string(w, STR("issue"), str_from_c(err.text));
    }
    jw_object_end(w);
    if (spec != NULL) {
        jw_key(w, STR("combinedSpec"));
        jw_doc(w, spec);
    }
    jw_object_end(w);
}

static void answer_template(struct call *c, int code, const struct asset *a)
{
    struct jw w;
    call_begin(c, &w);
    show_template(c, &w, a);
    call_send(c, code);
}

/* ---- lists ---- */

enum template_column {
    COLUMN_NAME,
    COLUMN_TYPE,
    COLUMN_RUNNABLE,
    COLUMN_SCOPE_TYPE,
    COLUMN_CLUSTER,
    COLUMN_DEPARTMENT,
    COLUMN_PROJECT,
    COLUMN_CREATED_AT,
    COLUMN_UPDATED_AT,
    COLUMN_CREATED_BY,
    COLUMN_UPDATED_BY,
};
static const struct column columns[] = {
    [COLUMN_NAME] = {"name",         COLUMN_TEXT},
    [COLUMN_TYPE] = {"workloadType", COLUMN_TEXT},
    [COLUMN_RUNNABLE] = {"runnable",     COLUMN_TEXT},
    [COLUMN_SCOPE_TYPE] = {"scopeType",    COLUMN_TEXT},
    [COLUMN_CLUSTER] = {"clusterId",    COLUMN_TEXT},
    [COLUMN_DEPARTMENT] = {"departmentId", COLUMN_TEXT},
    [COLUMN_PROJECT] = {"projectId",    COLUMN_TEXT},
    [COLUMN_CREATED_AT] = {"createdAt",    COLUMN_TIME},
    [COLUMN_UPDATED_AT] = {"updatedAt",    COLUMN_TIME},
    [COLUMN_CREATED_BY] = {"createdBy",    COLUMN_TEXT},
    [COLUMN_UPDATED_BY] = {"updatedBy",    COLUMN_TEXT},
};

static struct cell scope_cell(struct call *c, const struct asset *a, enum scope_kind kind)
{
    return a->scope.kind == kind ? cell_text(scope_id(c, a->scope)) : CELL_ABSENT;
}

static struct cell cell(void *ctx, uint32_t row, uint32_t column)
{
    struct call *c = ctx;
    const struct asset *a = &assets_of(c)->rows[row];
    struct err err;
    switch ((enum template_column)column) {
    case COLUMN_NAME:
        return cell_text(a->name);
    case COLUMN_TYPE:
        return cell_text(workload_type(a->kind));
    case COLUMN_RUNNABLE:
        return cell_text(combined(c, a, &err) != NULL ? STR("true") : STR("false"));
    case COLUMN_SCOPE_TYPE:
        return cell_text(scope_type(a->scope.kind));
    case COLUMN_CLUSTER:
        return scope_cell(c, a, SCOPE_CLUSTER);
    case COLUMN_DEPARTMENT:
        return scope_cell(c, a, SCOPE_DEPARTMENT);
    case COLUMN_PROJECT:
        return scope_cell(c, a, SCOPE_PROJECT);
    case COLUMN_CREATED_AT:
        return cell_time(a->stamp.created_ms);
    case COLUMN_UPDATED_AT:
        return cell_time(a->stamp.updated_ms);
    case COLUMN_CREATED_BY:
        return cell_text(a->stamp.created_by);
    case COLUMN_UPDATED_BY:
        return cell_text(a->stamp.updated_by);
    }
    return CELL_ABSENT;
}

static struct str row_name(void *ctx, uint32_t row)
{
    return assets_of(ctx)->rows[row].name;
}

static bool row_seen(void *ctx, uint32_t row)
{
    struct call *c = ctx;
    const struct asset *a = &assets_of(c)->rows[row];
    enum asset_kind kind = kind_of(c);
    return is_template(a) && (kind == ASSET_KINDS || kind == a->kind) && asset_seen(c, a);
}

static struct list template_list(struct call *c)
{
    return (struct list){.c = c,
                         .columns = columns,
                         .columns_count = COUNT_OF(columns),
                         .cell = cell,
                         .name = row_name,
                         .seen = row_seen,
                         .ctx = c,
                         .rows_count = assets_of(c)->rows_count};
}

static void list(struct call *c)
{
    struct list l = template_list(c);
    struct jw w;
    if (!list_select(&l)) {
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("entries"));
    jw_array_begin(&w);
    for (uint32_t i = l.first; i < l.end; i++) {
        show_template(c, &w, &assets_of(c)->rows[l.rows[i]]);
    }
    jw_array_end(&w);
    jw_key(&w, STR("pagination"));
    jw_object_begin(&w);
    jw_member_i64(&w, STR("limit"), body_i64(c->args, STR("limit"), 0));
    jw_member_i64(&w, STR("offset"), body_i64(c->args, STR("offset"), 0));
    if (l.end < l.count) {
        jw_member_i64(&w, STR("nextOffset"), l.end);
    }
    jw_object_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void count(struct call *c)
{
    struct list l = template_list(c);
    list_count(&l);
}

/* ---- one ---- */

/* The template of the path, when it is of the path's kind and may be seen; NULL: answered. */
static const struct asset *path_template(struct call *c)
{
    struct uuid id;
    enum asset_kind kind = kind_of(c);
    const struct asset *a = uuid_parse(c->segments.items[0], &id) ? asset_find(assets_of(c), id)
                                                                  : NULL;
    if (a == NULL || !is_template(a) || (kind != ASSET_KINDS && a->kind != kind) ||
        !asset_seen(c, a)) {
        fail_unknown(c, "template", c->segments.items[0]);
        return NULL;
    }
    return a;
}

static void get(struct call *c)
{
    const struct asset *a = path_template(c);
    if (a != NULL) {
        answer_template(c, 200, a);
    }
}

/* ---- changing ---- */

static void on_set(struct call *c, const struct outcome *outcome)
{
    const struct asset *a = asset_find(assets_of(c), outcome->id);
    if (a == NULL) {
        fail_unknown(c, "template", uuid_str(outcome->id, c->arena));
        return;
    }
    answer_template(c, c->entry->route->code, a);
}

static bool read_scope(struct call *c, const struct doc *from, struct scope *out)
{
    struct str type = body_str(from, STR("scopeType"));
    struct str id = body_str(from, STR("scopeId"));
    struct err err;
    if (id.len == 0 && str_eq(type, scope_type(SCOPE_TENANT))) {
        id = scope_id(c, SCOPE_OF_TENANT);
    } else if (id.len == 0 && str_eq(type, scope_type(SCOPE_CLUSTER))) {
        id = scope_id(c, SCOPE_OF_CLUSTER);
    }
    if (scope_read(c, type, id, out, &err) != STATUS_OK) {
        err_field(&err, "meta.scopeId");
        c->value = str_clip(id, SHOWN_MAX);
        call_reject(c, &err);
        return false;
    }
    return true;
}

/* What the body has besides its meta, with another spec if it is given. */
static struct str spec_text(struct call *c, const struct doc *body, const struct doc *spec)
{
    static const struct str members[] = {STRS("spec"), STRS("assets"),
                                         STRS("masterSpecSameAsWorker"), STRS("master")};
    struct buf out;
    struct jw w;
    buf_init(&out, 2 * (size_t)BODY_BYTES_MAX);
    jw_init(&w, &out, false);
    jw_object_begin(&w);
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        const struct doc *d = i == 0 && spec != NULL ? spec : body_get(body, members[i]);
        if (d != NULL) {
            jw_key(&w, members[i]);
            show_given(&w, d);
        }
    }
    jw_object_end(&w);
    struct str text = arena_str(c->arena, buf_view(&out));
    buf_done(&out);
    return text;
}

/* Its assets are there for everybody who may use the template. False: answered. */
static bool assets_ok(struct call *c, struct scope scope)
{
    struct err err;
    const struct doc *master = body_get(c->body, STR("master"));
    if (assets_combine(c, NULL, body_get(c->body, STR("assets")), scope, &err) != NULL &&
        assets_combine(c, NULL, body_get(master, STR("assets")), scope, &err) != NULL) {
        return true;
    }
    call_refuse(c, NULL, &err);
    return false;
}

static void create(struct call *c)
{
    const struct doc *meta = body_get(c->body, STR("meta"));
    struct asset_change change = {.op = ASSET_ADD};
    struct asset *a = &change.asset;
    a->kind = kind_of(c);
    a->id = random_uuid();
    a->name = body_str(meta, STR("name"));
    a->description = body_str(meta, STR("description"));
    a->spec = spec_text(c, c->body, NULL);
    if (!read_scope(c, meta, &a->scope) || !call_may(c, ENTITY_TEMPLATES, RIGHT_CREATE, a->scope) ||
        !assets_ok(c, a->scope)) {
        return;
    }
    const struct asset *made = asset_just_made(c, a);
    if (made != NULL) {
        answer_template(c, 202, made);
        return;
    }
    asset_change_send(c, &change, on_set);
}

static bool begin_change(struct call *c, const struct asset *a, struct asset_change *change)
{
    const struct doc *meta = body_get(c->body, STR("meta"));
    if (a == NULL || !call_may(c, ENTITY_TEMPLATES, RIGHT_UPDATE, a->scope) ||
        !assets_ok(c, a->scope)) {
        return false;
    }
    *change = (struct asset_change){.op = ASSET_SET};
    record_copy(&record_asset, a, &change->asset, c->arena);
    struct str name = body_str(meta, STR("name"));
    change->asset.name = name.len > 0 ? name : change->asset.name;
    if (body_get(meta, STR("description")) != NULL) {
        change->asset.description = body_str(meta, STR("description"));
    }
    return true;
}

static void update(struct call *c)
{
    struct asset_change change;
    if (begin_change(c, path_template(c), &change)) {
        change.asset.spec = spec_text(c, c->body, NULL);
        asset_change_send(c, &change, on_set);
    }
}

static bool is_cleared(const struct call *c, struct str member)
{
    const struct doc *list = body_get(c->body, STR("fieldsToClear"));
    for (const struct doc *d = list != NULL ? list->child : NULL; d != NULL; d = d->next) {
        struct str name = d->text;
        if (str_starts(name, STR("spec."))) {
            name = str_sub(name, 5, name.len - 5);
        }
        if (str_eq(name, member)) {
            return true;
        }
    }
    return false;
}

/* The members that are given take the place of what was there. */
static const struct doc *patched(struct call *c, const struct doc *before)
{
    const struct doc *given = body_get(c->body, STR("spec"));
    struct doc *spec = ARENA_NEW(c->arena, struct doc);
    *spec = (struct doc){.kind = DOC_MAP};
    struct doc **link = &spec->child;
    const struct doc *sources[] = {before, given};
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        for (const struct doc *d = sources[i] != NULL ? sources[i]->child : NULL; d != NULL;
             d = d->next) {
            if (i == 0 && (is_cleared(c, d->key) || body_get(given, d->key) != NULL)) {
                continue;
            }
            *link = ARENA_NEW(c->arena, struct doc);
            **link = *d;
            (*link)->next = NULL;
            link = &(*link)->next;
        }
    }
    return spec;
}

static void patch(struct call *c)
{
    struct asset_change change;
    if (begin_change(c, path_template(c), &change)) {
        const struct doc *before = asset_doc(c, change.asset.spec);
        change.asset.spec = spec_text(c, before, patched(c, body_get(before, STR("spec"))));
        asset_change_send(c, &change, on_set);
    }
}

static void delete(struct call *c)
{
    const struct asset *a = path_template(c);
    if (a == NULL || !call_may(c, ENTITY_TEMPLATES, RIGHT_DELETE, a->scope)) {
        return;
    }
    struct asset_change change = {.op = ASSET_REMOVE};
    change.asset.id = a->id;
    change.asset.name = arena_str(c->arena, a->name); /* for the audit */
    asset_change_send(c, &change, answer_nothing);
}

static void name_availability(struct call *c)
{
    struct str name = body_str(c->args, STR("templateName"));
    struct scope scope;
    if (!read_scope(c, c->args, &scope) || !call_may(c, ENTITY_TEMPLATES, RIGHT_READ, scope)) {
        return;
    }
    for (uint32_t i = 0; i < assets_of(c)->rows_count; i++) {
        const struct asset *a = &assets_of(c)->rows[i];
        if (is_template(a) && scope_eq(a->scope, scope) && str_eq(a->name, name) &&
            asset_seen(c, a)) {
            struct err err;
            err_set(&err, STATUS_CONFLICT, "there is a template \"" STR_FMT "\" already",
                    STR_ARG(str_clip(name, SHOWN_MAX)));
            err_field(&err, "templateName");
            call_fail(c, &err);
            return;
        }
    }
    answer_empty(c, 204);
}

/* ---- the rows ---- */

#define META                                                  \
    "name* str(1..253), description str(..250)?, scopeType* " \
    "'tenant'|'cluster'|'department'|'project', scopeId str?"
#define REPLY "meta* TemplateMeta, runnable {isRunnable* bool, issue str}"
#define ONE(Name, Spec, more)                                                                     \
    {Name "Template", REPLY ", spec " Spec ", combinedSpec " Spec ", assets Assets?" more},       \
        {Name "TemplateCreation",                                                                 \
         "meta* TemplateCreationMeta, spec " Spec "?, assets Assets?" more},                      \
        {Name "TemplateUpdate", "meta* TemplateUpdateMeta, spec " Spec "?, assets Assets?" more}, \
        {Name "TemplatePatch", "meta TemplatePatchMeta?, fieldsToClear [str]?, spec " Spec "?"},  \
        {Name "TemplateList", "entries* [" Name "Template], pagination* Pagination"}
#define MASTER ", masterSpecSameAsWorker bool?, master {spec TrainingSpec?, assets Assets?}?"

static const struct schema_row schemas[] = {
    {"Assets",               "environment uuid?, compute uuid?, datasources [{id* uuid, kind str?}]?"                 },
    {"Pagination",           "limit int, offset int, nextOffset int"                                                  },
    {"TemplateCreationMeta", META                                                                                     },
    {"TemplateUpdateMeta",   "name* str(1..253), description str(..250)?"                                             },
    {"TemplatePatchMeta",    "name str(1..253)?, description str(..250)?"                                             },
    {"TemplateMeta",         META
     ", id* uuid, workloadType* str, createdBy* str, createdAt* ts, updatedBy* str, updatedAt* ts"},
    ONE("Workspace", "WorkspaceSpec", ""),
    ONE("Training", "TrainingSpec", ""),
    ONE("Inference", "InferenceSpec", ""),
    ONE("Distributed", "DistributedSpec", MASTER),
    {"AnyTemplate",          REPLY ", spec obj, combinedSpec obj, assets Assets?" MASTER                              },
    {"AnyTemplateList",      "entries* [AnyTemplate], pagination* Pagination"                                         },
};

#define ANY_ARGS                                                                             \
    FILTER_ARGS                                                                              \
    ", sortBy 'name'|'workloadType'|'runnable'|'scopeType'|'clusterId'|'projectId'|"         \
    "'departmentId'|'createdAt'|'updatedAt'|'createdBy'|'updatedBy', search str, " ORDER_ARG \
    ", " PAGE_ARGS
#define ROWS(word, one, Name)                \
    {"GET",                                  \
     P "/" word,                             \
     "list_" one "_templates",               \
     list,                                   \
     ANY_ARGS,                               \
     NULL,                                   \
     200,                                    \
     Name "TemplateList",                    \
     "Templates of workloads of type " Name, \
     0,                                      \
     "read templates"},                      \
        {"POST",                             \
         P "/" word,                         \
         "create_" one "_template",          \
         create,                             \
         NULL,                               \
         Name "TemplateCreation",            \
         202,                                \
         Name "Template",                    \
         "Keep a new one",                   \
         0,                                  \
         "create templates"},                \
        {"GET",                              \
         P "/" word "/{templateId:uuid}",    \
         "get_" one "_template",             \
         get,                                \
         NULL,                               \
         NULL,                               \
         200,                                \
         Name "Template",                    \
         "One of them",                      \
         0,                                  \
         "read templates"},                  \
        {"DELETE",                           \
         P "/" word "/{templateId:uuid}",    \
         "delete_" one "_template",          \
         delete,                             \
         NULL,                               \
         NULL,                               \
         204,                                \
         NULL,                               \
         "Delete one",                       \
         0,                                  \
         "delete templates"}
#define CHANGES(word, one, Name)                          \
    {"PUT",                                               \
     P "/" word "/{templateId:uuid}",                     \
     "update_" one "_template",                           \
     update,                                              \
     NULL,                                                \
     Name "TemplateUpdate",                               \
     200,                                                 \
     Name "Template",                                     \
     "Change one",                                        \
     0,                                                   \
     "update templates"},                                 \
        {"PATCH",                                         \
         P "/" word "/{templateId:uuid}",                 \
         "patch_" one "_template",                        \
         patch,                                           \
         NULL,                                            \
         Name "TemplatePatch",                            \
         200,                                             \
         Name "Template",                                 \
         "Change members of its spec, or take them away", \
         0,                                               \
         "update templates"}

static const struct route routes[] = {
    {"GET", P,                      "list_templates1",            list,              ANY_ARGS,                   NULL, 200, "AnyTemplateList",
     "Templates of all kinds",                                                                                                                                                        0, "read templates"},
    {"GET", P "/count",             "count_templates",            count,             FILTER_ARGS ", search str", NULL, 200,
     "CountResponse",                                                                                                                          "How many there are",                  0, "read templates"},
    {"GET", P "/name-availability", "template_name_availability", name_availability,
     "templateName* str, scopeType* 'tenant'|'cluster'|'department'|'project', scopeId str",                     NULL,
     204,                                                                                                                   NULL,              "Whether the name is free in a scope", 0, "read templates"},
    {"GET", P "/{templateId:uuid}", "get_template_by_id1",        get,               NULL,                       NULL, 200, "AnyTemplate",
     "One of any kind",                                                                                                                                                               0, "read templates"},
    ROWS("workspaces", "workspace", "Workspace"),
    CHANGES("workspaces", "workspace", "Workspace"),
    ROWS("trainings", "training", "Training"),
    CHANGES("trainings", "training", "Training"),
    ROWS("distributed", "distributed", "Distributed"),
    CHANGES("distributed", "distributed", "Distributed"),
    ROWS("inferences", "inference", "Inference"),
};

const struct route_group group_templates = ROUTE_GROUP("Templates", routes, schemas);

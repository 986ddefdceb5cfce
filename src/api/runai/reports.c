// SPDX-License-Identifier: Apache-2.0
// Reports of consumption: /api/v1/org-unit/reports. What projects held over a period is added up from
// the books when a report is asked for, of the projects that the one who asks may see, and kept as a
// table, so that it says the same as long as it is there. Who asked for it has it, and who may read
// all projects.
#include "api/runai/assets.h"
#include "codec/csv.h"
#include "io/random.h"
#include "model/limits.h"

enum { SHOWN_MAX = 100, FILTERS_MAX = 500, MILLI = 1000 };

#define P "/api/v1/org-unit/reports"

enum group { GROUP_NONE, GROUP_POOL, GROUP_PROJECT, GROUP_DEPARTMENT, GROUP_CLUSTER };
static const struct str groups[] = {
    [GROUP_NONE] = STRS(""),           [GROUP_POOL] = STRS("Nodepool"),
    [GROUP_PROJECT] = STRS("Project"), [GROUP_DEPARTMENT] = STRS("Department"),
    [GROUP_CLUSTER] = STRS("Cluster"),
};

/* What a report leaves in; of one field any value is enough. */
enum filter_field { FILTER_PROJECT, FILTER_DEPARTMENT, FILTER_POOL, FILTER_FIELDS };
static const struct str filter_fields[FILTER_FIELDS] = {
    [FILTER_PROJECT] = STRS("projectName"),
    [FILTER_DEPARTMENT] = STRS("departmentName"),
    [FILTER_POOL] = STRS("nodepoolName"),
};

/* A report in the making. */
struct making {
    struct call *c;
    int64_t from_ms, to_ms;
    enum group group;
    struct filter {
        enum filter_field field;
        struct str value;
    } *filters;
    uint32_t filters_count;
    struct buf table;
};

/* ---- what was used ---- */

static bool passes(const struct making *m, enum filter_field field, struct str value)
{
    bool asked = false;
    for (uint32_t i = 0; i < m->filters_count; i++) {
        if (m->filters[i].field == field) {
            asked = true;
            if (str_eq(m->filters[i].value, value)) {
                return true;
            }
        }
    }
    return !asked;
}

/* A department's name, or that of one above it, is asked for. */
static bool department_passes(const struct making *m, struct str name)
{
    const struct department *d = find_department_name(m->c, name);
    for (uint32_t i = 0; d != NULL && i < QUEUE_DEPTH_MAX; i++) {
        if (passes(m, FILTER_DEPARTMENT, d->name)) {
            return true;
        }
        d = d->parent.len > 0 ? find_department_name(m->c, d->parent) : NULL;
    }
    return false;
}

static bool project_counts(const struct making *m, uint32_t row)
{
    const struct project *p = &plan_of(m->c)->projects[row];
    return sight_project(call_sight(m->c), row) && passes(m, FILTER_PROJECT, p->name) &&
           department_passes(m, p->department);
}

static void add_used(const struct making *m, const struct project *p, struct str pool,
                     struct amounts *sum)
{
    struct amounts used = engine_used(m->c->api->config.engine, pool, p->name, false, m->from_ms,
                                      m->to_ms);
    for (int r = 0; r < RES_COUNT; r++) {
        sum->v[r] = num_sat_add_i64(sum->v[r], used.v[r]);
    }
}

/* ---- the table ---- */

/* amount / unit, in thousandths, to the nearest. */
static void put_amount(struct making *m, int64_t amount, int64_t unit)
{
    int64_t milli = num_muldiv_floor(amount + unit / (2 * MILLI), MILLI, unit);
    buf_printf(&m->table, ",%lld.%03lld", (long long)(milli / MILLI), (long long)(milli % MILLI));
}

static void put_row(struct making *m, struct str department, struct str project, struct str pool,
                    const struct amounts *used)
{
    static const int64_t hour_ms = INT64_C(3600) * 1000;
    enum { MIB_A_GIB = 1024 };
    struct str names[] = {state_of(m->c)->cluster_name, department, project, pool};
    char at[RFC3339_TEXT_SIZE];
    buf_str(&m->table, rfc3339_format(m->from_ms, at));
    buf_char(&m->table, ',');
    buf_str(&m->table, rfc3339_format(m->to_ms, at));
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        buf_char(&m->table, ',');
        csv_text(names[i], &m->table);
    }
    put_amount(m, used->v[RES_GPU], DEVICE_SHARE * hour_ms);
    put_amount(m, used->v[RES_CPU], MILLI * hour_ms);
    put_amount(m, used->v[RES_MEMORY], MIB_A_GIB * hour_ms);
    put_amount(m, used->v[RES_GPU] / DEVICE_SHARE, m->to_ms - m->from_ms);
    buf_char(&m->table, '\n');
}

static void put_by_project(struct making *m, bool by_pool)
{
    const struct plan *plan = plan_of(m->c);
    for (uint32_t i = 0; i < plan->projects_count; i++) {
        const struct project *p = &plan->projects[i];
        struct amounts all = {{0}};
        if (!project_counts(m, i)) {
            continue;
        }
        for (uint32_t k = 0; k < plan->pools_count; k++) {
            struct amounts used = {{0}};
            if (passes(m, FILTER_POOL, plan->pools[k].name)) {
                add_used(m, p, plan->pools[k].name, by_pool ? &used : &all);
            }
            if (!amounts_are_zero(&used)) {
                put_row(m, p->department, p->name, plan->pools[k].name, &used);
            }
        }
        if (!by_pool) {
            put_row(m, p->department, p->name, STR(""), &all);
        }
    }
}

/* Of the projects of a department ("": of all) in a pool (in "": all). */
static bool sum_up(struct making *m, struct str department, struct str pool, struct amounts *sum)
{
    const struct plan *plan = plan_of(m->c);
    bool any = false;
    *sum = (struct amounts){{0}};
    for (uint32_t i = 0; i < plan->projects_count; i++) {
        const struct project *p = &plan->projects[i];
        if ((department.len > 0 && !str_eq(p->department, department)) || !project_counts(m, i)) {
            continue;
        }
        any = true;
        for (uint32_t k = 0; k < plan->pools_count; k++) {
            struct str name = plan->pools[k].name;
            if ((pool.len == 0 || str_eq(name, pool)) && passes(m, FILTER_POOL, name)) {
                add_used(m, p, name, sum);
            }
        }
    }
    return any;
}

static void put_table(struct making *m)
{
    const struct plan *plan = plan_of(m->c);
    struct amounts sum;
    buf_str(&m->table, STR("start,end,cluster,department,project,node_pool,gpu_hours,"
                           "cpu_core_hours,memory_gib_hours,gpus_on_average\n"));
    switch (m->group) {
    case GROUP_NONE:
    case GROUP_PROJECT:
        put_by_project(m, m->group == GROUP_NONE);
        break;
    case GROUP_POOL:
        for (uint32_t k = 0; k < plan->pools_count; k++) {
            struct str name = plan->pools[k].name;
            if (passes(m, FILTER_POOL, name) && sum_up(m, STR(""), name, &sum)) {
                put_row(m, STR(""), STR(""), name, &sum);
            }
        }
        break;
    case GROUP_DEPARTMENT:
        for (uint32_t i = 0; i < plan->departments_count; i++) {
            if (sum_up(m, plan->departments[i].name, STR(""), &sum)) {
                put_row(m, plan->departments[i].name, STR(""), STR(""), &sum);
            }
        }
        break;
    case GROUP_CLUSTER:
        (void)sum_up(m, STR(""), STR(""), &sum);
        put_row(m, STR(""), STR(""), STR(""), &sum);
        break;
    }
}

/* ---- reading what is asked for ---- */

static bool read_filter(struct making *m, struct str text, struct filter *out)
{
    for (uint32_t f = 0; f < FILTER_FIELDS; f++) {
        struct str field = filter_fields[f];
        if (str_starts(text, field) && str_starts(str_sub(text, field.len, text.len), STR("=="))) {
            *out = (struct filter){(enum filter_field)f, str_sub(text, field.len + 2, text.len)};
            return true;
        }
    }
    fail_field(m->c, "filterBy", str_clip(text, SHOWN_MAX),
               "expected projectName==NAME, departmentName==NAME or nodepoolName==NAME");
    return false;
}

static bool read_period(struct making *m)
{
    struct call *c = m->c;
    int64_t now_ms = writer_now_ms(c->api->writer);
    m->from_ms = body_time(c->body, STR("start"), 0);
    m->to_ms = num_min_i64(body_time(c->body, STR("end"), 0), now_ms);
    if (m->from_ms >= m->to_ms) {
        fail_field(c, "start", body_str(c->body, STR("start")),
                   "the period begins before it ends, and before now");
        return false;
    }
    if (m->from_ms < now_ms - USAGE_WINDOW_MAX_MS) {
        char text[RFC3339_TEXT_SIZE];
        struct str first = rfc3339_format(now_ms - USAGE_WINDOW_MAX_MS, text);
        fail_field(c, "start", body_str(c->body, STR("start")),
                   "the books go back 92 days, to " STR_FMT, STR_ARG(first));
        return false;
    }
    return true;
}

static bool read_asked(struct making *m)
{
    const struct doc *filters = body_get(m->c->body, STR("filterBy"));
    uint32_t count = body_count(filters);
    m->group = (enum group)body_word(m->c->body, STR("groupBy"), groups, COUNT_OF(groups),
                                     GROUP_NONE);
    if (count > FILTERS_MAX) {
        fail_field(m->c, "filterBy", STR(""), "at most %d filters", FILTERS_MAX);
        return false;
    }
    m->filters = ARENA_ARRAY(m->c->arena, struct filter, count);
    for (const struct doc *d = count > 0 ? filters->child : NULL; d != NULL; d = d->next) {
        if (!read_filter(m, d->text, &m->filters[m->filters_count++])) {
            return false;
        }
    }
    return read_period(m);
}

/* ---- showing ---- */

static bool sees_all(struct call *c, enum right right)
{
    return access_allows(call_grants(c), ENTITY_PROJECTS, right, SCOPE_OF_TENANT);
}

static bool is_own(const struct call *c, const struct asset *a)
{
    return str_eq(a->stamp.created_by, c->user);
}

static void show_report(struct call *c, struct jw *w, const struct asset *a)
{
    jw_object_begin(w);
    show_uuid(w, STR("id"), a->id);
    jw_member_string(w, STR("name"), a->name);
    jw_member_string(w, STR("description"), a->description);
    for (const struct doc *d = asset_doc(c, a->spec)->child; d != NULL; d = d->next) {
        if (!str_eq(d->key, STR("name")) && !str_eq(d->key, STR("description"))) {
            jw_key(w, d->key);
            jw_doc(w, d);
        }
    }
    show_moment(w, STR("createdAt"), a->stamp.created_ms);
    jw_member_string(w, STR("createdBy"), a->stamp.created_by);
    jw_member_i64(w, STR("tenantId"), TENANT_ID);
    jw_member_string(w, STR("status"), STR("Ready"));
    show_moment(w, STR("statusUpdatedAt"), a->stamp.created_ms);
    jw_object_end(w);
}

static void answer_report(struct call *c, int code, const struct asset *a)
{
    struct jw w;
    call_begin(c, &w);
    show_report(c, &w, a);
    call_send(c, code);
}

/* ---- lists ---- */

enum { COL_NAME, COL_CREATED_AT, COL_CREATED_BY, COL_STATUS, COL_COUNT };
static const struct column columns[COL_COUNT] = {
    [COL_NAME] = {"name",      COLUMN_TEXT},
    [COL_CREATED_AT] = {"createdAt", COLUMN_TIME},
    [COL_CREATED_BY] = {"createdBy", COLUMN_TEXT},
    [COL_STATUS] = {"status",    COLUMN_TEXT},
};

static struct cell cell(void *ctx, uint32_t row, uint32_t column)
{
    const struct asset *a = &assets_of(ctx)->rows[row];
    switch (column) {
    case COL_NAME:
        return cell_text(a->name);
    case COL_CREATED_AT:
        return cell_time(a->stamp.created_ms);
    case COL_CREATED_BY:
        return cell_text(a->stamp.created_by);
    default:
        return cell_text(STR("Ready"));
    }
}

static struct str row_name(void *ctx, uint32_t row)
{
    return assets_of(ctx)->rows[row].name;
}

static bool is_seen(struct call *c, const struct asset *a)
{
    return a->kind == ASSET_REPORT && (is_own(c, a) || sees_all(c, RIGHT_READ));
}

static bool row_seen(void *ctx, uint32_t row)
{
    return is_seen(ctx, &assets_of(ctx)->rows[row]);
}

static struct list report_list(struct call *c)
{
    return (struct list){.c = c,
                         .columns = columns,
                         .columns_count = COL_COUNT,
                         .cell = cell,
                         .name = row_name,
                         .seen = row_seen,
                         .ctx = c,
                         .rows_count = assets_of(c)->rows_count,
                         .newest_first = true};
}

static void list(struct call *c)
{
    struct list l = report_list(c);
    struct jw w;
    if (!list_select(&l)) {
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("reports"));
    jw_array_begin(&w);
    for (uint32_t i = l.first; i < l.end; i++) {
        show_report(c, &w, &assets_of(c)->rows[l.rows[i]]);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void count(struct call *c)
{
    struct list l = report_list(c);
    list_count(&l);
}

static void availability(struct call *c)
{
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_bool(&w, STR("isAvailable"), true);
    jw_object_end(&w);
    call_send(c, 200);
}

/* ---- one ---- */

/* The report of the path; NULL: answered. */
static const struct asset *path_report(struct call *c)
{
    struct uuid id;
    const struct asset *a = uuid_parse(c->segments.items[0], &id) ? asset_find(assets_of(c), id)
                                                                  : NULL;
    if (a == NULL || !is_seen(c, a)) {
        fail_unknown(c, "report", c->segments.items[0]);
        return NULL;
    }
    return a;
}

static void get(struct call *c)
{
    const struct asset *a = path_report(c);
    if (a != NULL) {
        answer_report(c, 200, a);
    }
}

static void get_file(struct call *c)
{
    const struct asset *a = path_report(c);
    if (a != NULL) {
        http_set_header(c->request, "Content-Disposition",
                        STR("attachment; filename=\"report.csv\""));
        http_answer(c->request, 200, "text/csv; charset=utf-8", a->table);
    }
}

static void on_made(struct call *c, const struct outcome *outcome)
{
    const struct asset *a = asset_find(assets_of(c), outcome->id);
    if (a == NULL) {
        fail_unknown(c, "report", uuid_str(outcome->id, c->arena));
        return;
    }
    answer_report(c, 202, a);
}

static void create(struct call *c)
{
    struct making m = {.c = c};
    struct asset_change change = {.op = ASSET_ADD};
    struct asset *a = &change.asset;
    a->kind = ASSET_REPORT;
    a->id = random_uuid();
    a->name = body_str(c->body, STR("name"));
    a->description = body_str(c->body, STR("description"));
    a->scope = SCOPE_OF_TENANT;
    a->owned = true;
    a->spec = asset_text(c, c->body);
    if (!read_asked(&m)) {
        return;
    }
    const struct asset *made = asset_just_made(c, a);
    if (made != NULL) {
        answer_report(c, 202, made);
        return;
    }
    buf_init(&m.table, (size_t)2 * REPORT_TABLE_MAX);
    put_table(&m);
    a->table = arena_str(c->arena, buf_view(&m.table));
    buf_done(&m.table);
    asset_change_send(c, &change, on_made);
}

static void delete(struct call *c)
{
    const struct asset *a = path_report(c);
    struct asset_change change = {.op = ASSET_REMOVE};
    if (a == NULL) {
        return;
    }
    if (!is_own(c, a) && !sees_all(c, RIGHT_UPDATE)) {
        call_denied(c, ENTITY_PROJECTS, RIGHT_UPDATE, SCOPE_OF_TENANT);
        return;
    }
    change.asset.id = a->id;
    change.asset.name = arena_str(c->arena, a->name); /* for the audit */
    asset_change_send(c, &change, answer_nothing);
}

/* ---- the rows ---- */

#define ASKED                                                                  \
    "name* str(1..253), description str(..250)?, start* ts, end* ts, groupBy " \
    "'Nodepool'|'Project'|'Department'|'Cluster'?, filterBy [str]?"

static const struct schema_row schemas[] = {
    {"ReportRequestFields", ASKED                                                           },
    {"Report",
     ASKED ", id* uuid, createdAt* ts, createdBy* str, tenantId* int, status* "
           "'Pending'|'Processing'|'Ready'|'Failed', statusUpdatedAt* ts, statusMessage str"},
    {"Reports",             "reports* [Report]"                                             },
    {"ReportsAvailability", "isAvailable* bool"                                             },
};

static const struct route routes[] = {
    {"GET",    P,                         "list_reports",          list,
     FILTER_ARGS ", sortBy 'name'|'createdAt'|'createdBy'|'status', " ORDER_ARG
                 ", search str, " PAGE_ARGS,
     NULL,                                                                                                                          200, "Reports",
     "Reports of consumption: one's own, or all for who may read all projects",                                                                                                             0,            "self"},
    {"POST",   P,                         "create_report",         create,       NULL,                       "ReportRequestFields", 202, "Report",
     "Add up what was held in a period, as far as the books go back (92 days)",                                                                                                             0,            "self"},
    {"GET",    P "/count",                "count_reports",         count,        FILTER_ARGS ", search str", NULL,                  200,
     "CountResponse",                                                                                                                               "How many there are",                   0,            "self"},
    {"GET",    P "/availability",         "are_reports_available", availability, NULL,                       NULL,                  200,
     "ReportsAvailability",                                                                                                                         "Whether there can be reports: always", 0,            "self"},
    {"GET",    P "/{reportId:uuid}",      "get_report_by_id",      get,          NULL,                       NULL,                  200, "Report",  "One of them",
     0,                                                                                                                                                                                                   "self"},
    {"DELETE", P "/{reportId:uuid}",      "delete_report_by_id",   delete,       NULL,                       NULL,                  204, NULL,
     "Delete one",                                                                                                                                                                          0,            "self"},
    {"GET",    P "/{reportId:uuid}/file", "download_report_by_id", get_file,     NULL,                       NULL,                  200, NULL,
     "Its table (CSV)",                                                                                                                                                                     ROUTE_STREAM, "self"},
};

const struct route_group group_reports = ROUTE_GROUP("Reports", routes, schemas);

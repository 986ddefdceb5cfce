// SPDX-License-Identifier: Apache-2.0
// Departments: /api/v1/org-unit/departments. Those of Run:ai do not nest; weir's may, and what is
// below another department shows its parent in docs/api.md's own API only.
#include "api/runai/edits.h"
#include "api/runai/series.h"
#include "base/num.h"

#define DAY_MS (INT64_C(24) * 3600 * 1000)

/* ---- showing ---- */

static void show_children(struct call *c, struct jw *w, const struct department *d)
{
    const struct plan *plan = plan_of(c);
    jw_key(w, STR("children"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < plan->projects_count; i++) {
        if (str_eq(plan->projects[i].department, d->name)) {
            jw_object_begin(w);
            show_id(w, STR("id"), plan->projects[i].id);
            jw_member_string(w, STR("name"), plan->projects[i].name);
            jw_object_end(w);
        }
    }
    jw_array_end(w);
}

static void show_sum(struct jw *w, struct str key, enum resource r, int64_t amount, int64_t unit)
{
    jw_key(w, key);
    jw_object_begin(w);
    if (r == RES_GPU) {
        show_amount(w, STR("deserved"), r, amount);
    } else {
        jw_key(w, STR("deserved"));
        if (amount < 0) {
            jw_null(w);
        } else {
            jw_i64(w, amount / unit);
        }
    }
    if (r == RES_MEMORY) {
        jw_member_string(w, STR("units"), STR("Mib"));
    }
    jw_object_end(w);
}

/* What the projects are guaranteed together, a pool at a time. */
static void show_aggregated(struct call *c, struct jw *w, const struct department *d)
{
    const struct plan *plan = plan_of(c);
    jw_key(w, STR("projectsAggregatedResources"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < plan->pools_count; i++) {
        struct amounts sum = {{0}};
        for (uint32_t k = 0; k < plan->projects_count; k++) {
            const struct project *p = &plan->projects[k];
            if (!str_eq(p->department, d->name)) {
                continue;
            }
            struct quota q = plan_quota(p->quotas, p->quotas_count, plan->pools[i].name);
            sum.v[RES_GPU] += q.gpu_share;
            sum.v[RES_CPU] = sum.v[RES_CPU] < 0 || q.cpu_milli < 0 ? -1
                                                                   : sum.v[RES_CPU] + q.cpu_milli;
            sum.v[RES_MEMORY] = sum.v[RES_MEMORY] < 0 || q.memory_bytes < 0
                                    ? -1
                                    : sum.v[RES_MEMORY] + q.memory_bytes;
        }
        jw_object_begin(w);
        jw_key(w, STR("nodePool"));
        jw_object_begin(w);
        show_id(w, STR("id"), plan->pools[i].id);
        jw_member_string(w, STR("name"), plan->pools[i].name);
        jw_object_end(w);
        show_sum(w, STR("gpu"), RES_GPU, sum.v[RES_GPU], 1);
        show_sum(w, STR("cpu"), RES_CPU, sum.v[RES_CPU], 1);
        show_sum(w, STR("memory"), RES_MEMORY, sum.v[RES_MEMORY], INT64_C(1) << 20);
        jw_object_end(w);
    }
    jw_array_end(w);
}

enum detail { DETAIL_META, DETAIL_BRIEF, DETAIL_ALL };

static void show_runai_department(struct call *c, struct jw *w, const struct department *d,
                                  enum detail detail)
{
    jw_object_begin(w);
    show_id(w, STR("id"), d->id);
    jw_member_string(w, STR("name"), d->name);
    jw_member_string(w, STR("description"), d->description);
    show_cluster_id(c, w, STR("clusterId"));
    show_children(c, w, d);
    quotas_show_total(c, w, d->quotas, d->quotas_count);
    if (detail != DETAIL_META) {
        quotas_show(c, w, STR("resources"), d->quotas, d->quotas_count);
        overtime_show(c, w, d->name, true);
    }
    if (detail == DETAIL_ALL) {
        show_aggregated(c, w, d);
        jw_key(w, STR("status"));
        jw_object_begin(w);
        quota_status_show(c, w, d->name, true, true);
        jw_object_end(w);
    }
    rules_show(w, &d->rules);
    show_stamp(w, &d->stamp);
    jw_object_end(w);
}

static void answer_department(struct call *c, int code, const struct department *d)
{
    struct jw w;
    call_begin(c, &w);
    show_runai_department(c, &w, d, DETAIL_ALL);
    call_send(c, code);
}

/* ---- lists ---- */

static const struct column columns[] = {
    {"name",                       COLUMN_TEXT  },
    {"clusterId",                  COLUMN_TEXT  },
    {"totalGpuQuota",              COLUMN_NUMBER},
    {"gpuAllocated",               COLUMN_NUMBER},
    {"createdAt",                  COLUMN_TIME  },
    {"avgGpuAllocation24h",        COLUMN_NUMBER},
    {"avgGpuAllocation7d",         COLUMN_NUMBER},
    {"avgGpuAllocation30d",        COLUMN_NUMBER},
    {"avgGpuUtilization24h",       COLUMN_NUMBER},
    {"avgGpuUtilization7d",        COLUMN_NUMBER},
    {"avgGpuUtilization30d",       COLUMN_NUMBER},
    {"avgGpuMemoryUtilization24h", COLUMN_NUMBER},
    {"avgGpuMemoryUtilization7d",  COLUMN_NUMBER},
    {"avgGpuMemoryUtilization30d", COLUMN_NUMBER},
};
#define SORT_WORDS                                                                         \
    "'name'|'clusterId'|'totalGpuQuota'|'gpuAllocated'|'createdAt'|'avgGpuAllocation24h'|" \
    "'avgGpuUtilization24h'|'avgGpuMemoryUtilization24h'|'avgGpuAllocation7d'|"            \
    "'avgGpuUtilization7d'|'avgGpuMemoryUtilization7d'|'avgGpuAllocation30d'|"             \
    "'avgGpuUtilization30d'|'avgGpuMemoryUtilization30d'"

static struct cell department_cell(void *ctx, uint32_t row, uint32_t column)
{
    static const int64_t days[] = {1, 7, 30};
    enum { AVERAGES = 5, AVERAGES_END = 8 };
    struct call *c = ctx;
    const struct department *d = &plan_of(c)->departments[row];
    switch (column) {
    case 0:
        return cell_text(d->name);
    case 1:
        return cell_text(cluster_id_text(c));
    case 2:
        return cell_number(quotas_gpus_milli(c, d->quotas, d->quotas_count));
    case 3:
        return cell_number(engine_held(c->api->config.engine, STR(""), d->name, true).gpu_share *
                           1000 / DEVICE_SHARE);
    case 4:
        return cell_time(d->stamp.created_ms);
    default:
        break;
    }
    if (column >= AVERAGES && column < AVERAGES_END) {
        return cell_number(gpu_average_milli(c, d->name, true, days[column - AVERAGES] * DAY_MS));
    }
    return CELL_ABSENT; /* utilization is not measured */
}

static struct str department_name(void *ctx, uint32_t row)
{
    return plan_of(ctx)->departments[row].name;
}

static bool department_seen(void *ctx, uint32_t row)
{
    return sight_department(call_sight(ctx), row);
}

static struct list department_list(struct call *c)
{
    return (struct list){.c = c,
                         .columns = columns,
                         .columns_count = COUNT_OF(columns),
                         .cell = department_cell,
                         .name = department_name,
                         .seen = department_seen,
                         .ctx = c,
                         .rows_count = plan_of(c)->departments_count};
}

static void list(struct call *c)
{
    static const struct str words[] = {STRS("meta"), STRS("brief"), STRS("verbose")};
    struct list l = department_list(c);
    enum detail detail = (enum detail)body_word(c->args, STR("verbosity"), words, COUNT_OF(words),
                                                DETAIL_BRIEF);
    struct jw w;
    if (!list_select(&l)) {
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("departments"));
    jw_array_begin(&w);
    for (uint32_t i = l.first; i < l.end; i++) {
        show_runai_department(c, &w, &plan_of(c)->departments[l.rows[i]], detail);
    }
    jw_array_end(&w);
    list_next(&l, &w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void count(struct call *c)
{
    struct list l = department_list(c);
    list_count(&l);
}

static void get(struct call *c)
{
    const struct department *d = path_department(c);
    if (d != NULL) {
        answer_department(c, 200, d);
    }
}

/* ---- changes ---- */

static bool read_common(struct call *c, struct department *d)
{
    const struct doc *order = body_get(c->body, STR("defaultNodePools"));
    const struct doc *given = body_get(c->body, STR("resources"));
    d->description = body_str(c->body, STR("description"));
    if (body_count(order) > 0) {
        fail_field(c, "defaultNodePools", (struct str){0},
                   "a department has no order of node pools; give it to its projects");
        return false;
    }
    rules_read(c, &d->rules);
    /* without a list they stay */
    return quotas_read(c, given, given == NULL, d->quotas, d->quotas_count, &d->quotas,
                       &d->quotas_count);
}

static void on_created(struct call *c)
{
    const struct department *d = find_department_name(c, body_str(c->body, STR("name")));
    if (d != NULL) {
        answer_department(c, 201, d);
    } else {
        fail_unknown(c, "department", body_str(c->body, STR("name")));
    }
}

static bool build_create(struct call *c, struct plan_apply *out)
{
    struct str name = body_str(c->body, STR("name"));
    struct department *d = edit_department(c, NULL, out);
    d->name = name;
    if (!body_cluster(c) || !read_common(c, d)) {
        return false;
    }
    return edit_is_new(c, name, out);
}

static void create(struct call *c)
{
    edit_plan(c, &(struct edit){PLAN_DEPARTMENT, build_create, on_created, 0});
}

static bool build_update(struct call *c, struct plan_apply *out)
{
    const struct department *d = path_department(c);
    return d != NULL && read_common(c, edit_department(c, d, out));
}

static void on_updated(struct call *c)
{
    const struct department *d = path_department(c);
    if (d != NULL) {
        answer_department(c, 200, d);
    }
}

static void update(struct call *c)
{
    edit_plan(c, &(struct edit){PLAN_DEPARTMENT, build_update, on_updated, 0});
}

static void resources(struct call *c)
{
    edit_resources(c, PLAN_DEPARTMENT);
}

static void delete(struct call *c)
{
    edit_delete(c, PLAN_DEPARTMENT);
}

/* ---- metrics ---- */

static void metrics(struct call *c)
{
    const struct department *d = path_department(c);
    if (d != NULL) {
        queue_metrics(c, d->name, true);
    }
}

static void telemetry(struct call *c)
{
    queue_telemetry(c, true);
}

/* ---- ranks ---- */

static void priorities(struct call *c)
{
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("priorities"));
    jw_array_begin(&w);
    for (uint32_t i = 0; i < PRIORITY_WORD_COUNT; i++) {
        jw_object_begin(&w);
        jw_member_string(&w, STR("name"), rank_name(priority_words[i].value));
        jw_member_i64(&w, STR("value"), priority_words[i].value);
        jw_member_bool(&w, STR("isDefault"), priority_words[i].value == PRIORITY_RANK_DEFAULT);
        jw_object_end(&w);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

/* ---- the rows ---- */

static const struct schema_row schemas[] = {
    {"Department",
     "id* str, name* str, description str, clusterId* uuid, schedulingRules SchedulingRules,"
     "defaultNodePools [str], nodeTypes NodeTypesPerWorkload, overtimeData OvertimeData,"
     "children [DepartmentProjectChild], projectsAggregatedResources [AggregatedResources], status "
     "DepartmentStatus, totalResources* TotalResources, resources [Resources], createdAt* ts, "
     "createdBy str, updatedAt* ts, updatedBy str"                                                      },
    {"DepartmentProjectChild",    "id* str, name* str, children [DepartmentProjectChild]"               },
    {"AggregatedResources",       "nodePool* NodePoolRef, gpu DeservedResource, cpu DeservedResource, "
                            "memory {deserved num?, units* 'Mib'|'MB'|'GB'}" },
    {"DeservedResource",          "deserved num?"                                                       },
    {"DepartmentStatus",          "nodePoolQuotaStatuses [QuotaStatusNodePool], quotaStatus QuotaStatus"},
    {"DepartmentCreationRequest",
     "name* str(1..63), clusterId* uuid, description str(..256)?, schedulingRules "
     "SchedulingRules?, defaultNodePools [str]?, nodeTypes NodeTypesPerWorkload?, overtimeData "
     "OvertimeData?, resources [ResourcesNullable]?"                                                    },
    {"DepartmentUpdateRequest",
     "description str(..256)?, schedulingRules SchedulingRules?, defaultNodePools [str]?, "
     "nodeTypes NodeTypesPerWorkload?, resources [ResourcesNullable]?"                                  },
    {"DepartmentList",            "departments* [Department], next int"                                 },
    {"Priorities",                "priorities* [{name* str, value* int, isDefault bool}]"               },
};

#define P "/api/v1/org-unit/departments"

static const struct route routes[] = {
    {"GET",    P,                                 "get_departments",             list,
     FILTER_ARGS ", sortBy " SORT_WORDS ", verbosity 'meta'|'brief'|'verbose', " ORDER_ARG
                 ", " PAGE_ARGS,
     NULL,                                                                                                                                 200, "DepartmentList",    "Departments",                                      0, "read department"                              },
    {"POST",   P,                                 "create_department",           create,     NULL,            "DepartmentCreationRequest", 201, "Department",
     "Create a department",                                                                                                                                                                                              0, "create department at cluster"                 },
    {"GET",    P "/count",                        "count_departments",           count,      FILTER_ARGS,     NULL,                        200, "CountResponse",
     "How many departments",                                                                                                                                                                                             0, "read department"                              },
    {"GET",    P "/telemetry",                    "get_departments_telemetry",   telemetry,
     "clusterId uuid, nodepoolName str, departmentId str, groupBy ['CLUSTER_ID'], "
     "telemetryType* " ORG_TELEMETRY_WORDS,
     NULL,                                                                                                                                 200, "TelemetryResponse", "What departments have and hold now",               0, "read department"                              },
    {"GET",    P "/{departmentId:int}",           "get_department",              get,        NULL,            NULL,                        200, "Department",
     "One department",                                                                                                                                                                                                   0, "read department at department-id departmentId"},
    {"PUT",    P "/{departmentId:int}",           "update_department",           update,     NULL,            "DepartmentUpdateRequest",
     200,                                                                                                                                       "Department",        "Change a department",                              0,
     "update department at department-id departmentId"                                                                                                                                                                                                                     },
    {"DELETE", P "/{departmentId:int}",           "delete_department",           delete,     NULL,            NULL,                        204, NULL,
     "Delete a department with nothing in it",                                                                                                                                                                           0,
     "delete department at department-id departmentId"                                                                                                                                                                                                                     },
    {"PUT",    P "/{departmentId:int}/resources", "update_department_resources", resources,  NULL,
     "[ResourcesNullable]",                                                                                                                200, "[Resources]",       "Replace the quotas of a department",               0,
     "update department at department-id departmentId"                                                                                                                                                                                                                     },
    {"PATCH",  P "/{departmentId:int}/resources", "patch_department_resources",  resources,  NULL,
     "[ResourcesNullable]",                                                                                                                200, "[Resources]",       "Change some quotas of a department",               0,
     "update department at department-id departmentId"                                                                                                                                                                                                                     },
    {"GET",    P "/{departmentId:int}/metrics",   "get_department_metrics",      metrics,    ORG_METRIC_ARGS,
     NULL,                                                                                                                                 200, "MetricsResponse",   "What a department held over time",                 0,
     "read department at department-id departmentId"                                                                                                                                                                                                                       },
    {"GET",    "/api/v1/org-unit/priorities",     "get_priorities",              priorities, NULL,            NULL,                        200,
     "Priorities",                                                                                                                                                   "Ranks of departments and projects in a node pool", 0, "self"                                         },
};

const struct route_group group_departments = ROUTE_GROUP("Departments", routes, schemas);

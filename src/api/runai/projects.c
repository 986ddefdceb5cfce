// SPDX-License-Identifier: Apache-2.0
// Projects: /api/v1/org-unit/projects. A change is one row of the plan, applied as any plan is.
#include "api/runai/edits.h"
#include "api/runai/series.h"
#include "base/num.h"

#define DAY_MS (INT64_C(24) * 3600 * 1000)

/* ---- showing ---- */

static void show_order(struct jw *w, const struct project *p)
{
    show_strings(w, STR("defaultNodePools"), p->default_pools, p->default_pools_count);
}

static void show_project_status(struct call *c, struct jw *w, const struct project *p)
{
    jw_key(w, STR("status"));
    jw_object_begin(w);
    jw_member_string(w, STR("namespace"),
                     arena_printf(c->arena, "runai-" STR_FMT, STR_ARG(p->name)));
    jw_member_string(w, STR("phase"), STR("Ready"));
    jw_member_string(w, STR("phaseMessage"), STR(""));
    show_moment(w, STR("lastUpdatedTime"), p->stamp.updated_ms);
    quota_status_show(c, w, p->name, false, true);
    jw_object_end(w);
}

static void show_runai_project(struct call *c, struct jw *w, const struct project *p)
{
    const struct department *d = find_department_name(c, p->department);
    struct str parent = department_id_text(c, p->department);
    struct scheduling_rules effective;
    jw_object_begin(w);
    show_id(w, STR("id"), p->id);
    jw_member_string(w, STR("name"), p->name);
    jw_member_string(w, STR("description"), p->description);
    show_cluster_id(c, w, STR("clusterId"));
    jw_member_string(w, STR("parentId"), parent);
    if (d != NULL) {
        jw_key(w, STR("parent"));
        jw_object_begin(w);
        jw_member_string(w, STR("id"), parent);
        jw_member_string(w, STR("name"), d->name);
        jw_object_end(w);
    }
    show_null(w, STR("requestedNamespace"));
    jw_member_bool(w, STR("enforceRunaiScheduler"), true);
    show_order(w, p);
    quotas_show(c, w, STR("resources"), p->quotas, p->quotas_count);
    quotas_show_total(c, w, p->quotas, p->quotas_count);
    rules_show(w, &p->rules);
    jw_key(w, STR("effective"));
    jw_object_begin(w);
    show_order(w, p);
    plan_rules(plan_of(c), p, c->arena, &effective);
    rules_show(w, &effective);
    jw_object_end(w);
    show_project_status(c, w, p);
    overtime_show(c, w, p->name, false);
    show_stamp(w, &p->stamp);
    jw_object_end(w);
}

static void answer_project(struct call *c, int code, const struct project *p)
{
    struct jw w;
    call_begin(c, &w);
    show_runai_project(c, &w, p);
    call_send(c, code);
}

/* ---- lists ---- */

static const struct column columns[] = {
    {"name",                       COLUMN_TEXT  },
    {"clusterId",                  COLUMN_TEXT  },
    {"departmentId",               COLUMN_TEXT  },
    {"parentId",                   COLUMN_TEXT  },
    {"parentName",                 COLUMN_TEXT  },
    {"phase",                      COLUMN_TEXT  },
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
#define SORT_WORDS                                                                       \
    "'name'|'clusterId'|'departmentId'|'parentId'|'parentName'|'phase'|'totalGpuQuota'|" \
    "'gpuAllocated'|'createdAt'|'avgGpuAllocation24h'|'avgGpuUtilization24h'|"           \
    "'avgGpuMemoryUtilization24h'|'avgGpuAllocation7d'|'avgGpuUtilization7d'|"           \
    "'avgGpuMemoryUtilization7d'|'avgGpuAllocation30d'|'avgGpuUtilization30d'|"          \
    "'avgGpuMemoryUtilization30d'"

static struct cell project_cell(void *ctx, uint32_t row, uint32_t column)
{
    static const int64_t days[] = {1, 7, 30};
    enum { AVERAGES = 9, AVERAGES_END = 12 };
    struct call *c = ctx;
    const struct project *p = &plan_of(c)->projects[row];
    switch (column) {
    case 0:
        return cell_text(p->name);
    case 1:
        return cell_text(cluster_id_text(c));
    case 2:
    case 3:
        return cell_text(department_id_text(c, p->department));
    case 4:
        return cell_text(p->department);
    case 5:
        return cell_text(STR("Ready"));
    case 6:
        return cell_number(quotas_gpus_milli(c, p->quotas, p->quotas_count));
    case 7:
        return cell_number(engine_held(c->api->config.engine, STR(""), p->name, false).gpu_share *
                           1000 / DEVICE_SHARE);
    case 8:
        return cell_time(p->stamp.created_ms);
    default:
        break;
    }
    if (column >= AVERAGES && column < AVERAGES_END) {
        return cell_number(gpu_average_milli(c, p->name, false, days[column - AVERAGES] * DAY_MS));
    }
    return CELL_ABSENT; /* utilization is not measured */
}

static struct str project_name(void *ctx, uint32_t row)
{
    return plan_of(ctx)->projects[row].name;
}

static bool project_seen(void *ctx, uint32_t row)
{
    return sight_project(call_sight(ctx), row);
}

static struct list project_list(struct call *c)
{
    return (struct list){.c = c,
                         .columns = columns,
                         .columns_count = COUNT_OF(columns),
                         .cell = project_cell,
                         .name = project_name,
                         .seen = project_seen,
                         .ctx = c,
                         .rows_count = plan_of(c)->projects_count};
}

static void list(struct call *c)
{
    struct list l = project_list(c);
    struct jw w;
    if (!list_select(&l)) {
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("projects"));
    jw_array_begin(&w);
    for (uint32_t i = l.first; i < l.end; i++) {
        show_runai_project(c, &w, &plan_of(c)->projects[l.rows[i]]);
    }
    jw_array_end(&w);
    list_next(&l, &w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void count(struct call *c)
{
    struct list l = project_list(c);
    list_count(&l);
}

static void get(struct call *c)
{
    const struct project *p = path_project(c);
    if (p != NULL) {
        answer_project(c, 200, p);
    }
}

/* ---- changes ---- */

/* What create and update have in common; what weir does not do is refused, not forgotten. */
static bool read_common(struct call *c, struct project *p)
{
    const struct doc *order = body_get(c->body, STR("defaultNodePools"));
    p->description = body_str(c->body, STR("description"));
    p->default_pools = body_strings(order, c->arena, &p->default_pools_count);
    for (uint32_t i = 0; i < p->default_pools_count; i++) {
        struct str name = p->default_pools[i].value;
        if (find_pool_name(c, name) == NULL) {
            fail_field(c, "defaultNodePools", name, "there is no node pool \"" STR_FMT "\"",
                       STR_ARG(str_clip(name, 100)));
            return false;
        }
    }
    rules_read(c, &p->rules);
    return quotas_read(c, body_get(c->body, STR("resources")), false, NULL, 0, &p->quotas,
                       &p->quotas_count);
}

static bool read_parent(struct call *c, struct project *p)
{
    struct str id = body_str(c->body, STR("parentId"));
    const struct department *d = id.len > 0 ? find_department_id(c, id)
                                            : find_department_name(c, STR("default"));
    if (id.len > 0 && d == NULL) {
        struct err err;
        err_set(&err, STATUS_UNKNOWN, "there is no department " STR_FMT,
                STR_ARG(str_clip(id, 100)));
        err_field(&err, "parentId");
        c->value = str_clip(id, 100);
        call_refuse(c, NULL, &err);
        return false;
    }
    p->department = d != NULL ? d->name : STR("default");
    return call_may(c, ENTITY_PROJECTS, RIGHT_CREATE, scope_of_department(d != NULL ? d->id : 0));
}

static void on_created(struct call *c)
{
    const struct project *p = show_find_project(plan_of(c), body_str(c->body, STR("name")));
    if (p != NULL) {
        answer_project(c, 201, p);
    } else {
        fail_unknown(c, "project", body_str(c->body, STR("name")));
    }
}

static bool build_create(struct call *c, struct plan_apply *out)
{
    struct str name = body_str(c->body, STR("name"));
    struct str namespace = body_str(c->body, STR("requestedNamespace"));
    struct project *p = edit_project(c, NULL, out);
    p->name = name;
    if (namespace.len > 0 &&
        !str_eq(namespace, arena_printf(c->arena, "runai-" STR_FMT, STR_ARG(name)))) {
        fail_field(c, "requestedNamespace", namespace,
                   "only runai-" STR_FMT " is possible on one machine", STR_ARG(name));
        return false;
    }
    if (!body_cluster(c) || !read_parent(c, p) || !read_common(c, p)) {
        return false;
    }
    return edit_is_new(c, name, out);
}

static void create(struct call *c)
{
    edit_plan(c, &(struct edit){PLAN_PROJECT, build_create, on_created, 0});
}

static bool build_update(struct call *c, struct plan_apply *out)
{
    const struct project *p = path_project(c);
    return p != NULL && read_common(c, edit_project(c, p, out));
}

static void on_updated(struct call *c)
{
    const struct project *p = path_project(c);
    if (p != NULL) {
        answer_project(c, 200, p);
    }
}

static void update(struct call *c)
{
    edit_plan(c, &(struct edit){PLAN_PROJECT, build_update, on_updated, 0});
}

static void resources(struct call *c)
{
    edit_resources(c, PLAN_PROJECT);
}

static void delete(struct call *c)
{
    edit_delete(c, PLAN_PROJECT);
}

/* ---- metrics ---- */

static void metrics(struct call *c)
{
    const struct project *p = path_project(c);
    if (p != NULL) {
        queue_metrics(c, p->name, false);
    }
}

static void telemetry(struct call *c)
{
    queue_telemetry(c, false);
}

/* ---- the rows ---- */

static const struct schema_row schemas[] = {
    {"Project",
     "id* str, name* str, description str, clusterId* uuid, parentId* str, parent "
     "DepartmentProjectParent, requestedNamespace str?, enforceRunaiScheduler* bool,"
     "schedulingRules SchedulingRules, defaultNodePools [str], nodeTypes NodeTypesPerWorkload,"
     "resources* [Resources], totalResources* TotalResources, effective* ProjectEffective, status* "
     "ProjectStatus, overtimeData OvertimeData, createdAt* ts, createdBy str, updatedAt* ts, "
     "updatedBy str"                                                                },
    {"DepartmentProjectParent", "id* str, name* str, parent DepartmentProjectParent"},
    {"ProjectEffective",        "schedulingRules SchedulingRules, defaultNodePools [str], nodeTypes "
                         "NodeTypesPerWorkload"             },
    {"ProjectStatus",
     "namespace str?, phase "
     "'Creating'|'Updating'|'Deleting'|'Deleted'|'Initializing'|'Ready'|'NotReady'|'Unknown',"
     "phaseMessage str?, lastUpdatedTime ts?, nodePoolQuotaStatuses [QuotaStatusNodePool],"
     "quotaStatus QuotaStatus, additionalStatusData obj?"                           },
    {"ProjectCreationRequest",
     "name* str(1..57), clusterId* uuid, description str(..256)?, schedulingRules "
     "SchedulingRules?, defaultNodePools [str]?, nodeTypes NodeTypesPerWorkload?,"
     "requestedNamespace str?, enforceRunaiScheduler bool?, parentId str?, resources* "
     "[ResourcesNullable]"                                                          },
    {"ProjectUpdateRequest",
     "description str(..256)?, schedulingRules SchedulingRules?, defaultNodePools [str]?, "
     "nodeTypes NodeTypesPerWorkload?, enforceRunaiScheduler bool?, resources* "
     "[ResourcesNullable]"                                                          },
    {"ProjectList",             "projects* [Project], next int"                     },
};

#define P "/api/v1/org-unit/projects"

static const struct route routes[] = {
    {"GET",    P,                              "get_projects",             list,
     FILTER_ARGS ", sortBy " SORT_WORDS ", " ORDER_ARG ", " PAGE_ARGS ", search str",                             NULL,                     200,
     "ProjectList",                                                                                                                                                   "Projects",                        0, "read project"                          },
    {"POST",   P,                              "create_project",           create,    NULL,                       "ProjectCreationRequest", 201, "Project",
     "Create a project",                                                                                                                                                                                 0, "create project"                        },
    {"GET",    P "/count",                     "count_projects",           count,     FILTER_ARGS ", search str", NULL,                     200,
     "CountResponse",                                                                                                                                                 "How many projects",               0, "read project"                          },
    {"GET",    P "/telemetry",                 "get_projects_telemetry",   telemetry,
     "clusterId uuid, nodepoolId str, departmentId str, groupBy "
     "['ClusterId'|'NodepoolId'|'ParentId'], telemetryType* " ORG_TELEMETRY_WORDS,
     NULL,                                                                                                                                  200, "TelemetryResponse", "What projects have and hold now", 0, "read project"                          },
    {"GET",    P "/{projectId:int}",           "get_project",              get,       NULL,                       NULL,                     200, "Project",           "One project",                     0,
     "read project at project-id projectId"                                                                                                                                                                                                         },
    {"PUT",    P "/{projectId:int}",           "update_project",           update,    NULL,                       "ProjectUpdateRequest",   200,
     "Project",                                                                                                                                                       "Change a project",                0, "update project at project-id projectId"},
    {"DELETE", P "/{projectId:int}",           "delete_project",           delete,    NULL,                       NULL,                     204, NULL,
     "Delete a project in which nothing runs",                                                                                                                                                           0, "delete project at project-id projectId"},
    {"PUT",    P "/{projectId:int}/resources", "update_project_resources", resources, NULL,
     "[ResourcesNullable]",                                                                                                                 200, "[Resources]",       "Replace the quotas of a project", 0,
     "update project at project-id projectId"                                                                                                                                                                                                       },
    {"PATCH",  P "/{projectId:int}/resources", "patch_project_resources",  resources, NULL,
     "[ResourcesNullable]",                                                                                                                 200, "[Resources]",       "Change some quotas of a project", 0,
     "update project at project-id projectId"                                                                                                                                                                                                       },
    {"GET",    P "/{projectId:int}/metrics",   "get_project_metrics",      metrics,   ORG_METRIC_ARGS,            NULL,
     200,                                                                                                                                        "MetricsResponse",   "What a project held over time",   0,
     "read project at project-id projectId"                                                                                                                                                                                                         },
};

const struct route_group group_projects = ROUTE_GROUP("Projects", routes, schemas);

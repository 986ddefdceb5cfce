// SPDX-License-Identifier: Apache-2.0
// Workloads of all kinds, to be read: /api/v1/workloads.
#include "api/runai/workloads.h"

#include "api/runai/amounts.h"
#include "model/priority.h"

/* ---- lists ---- */

enum workload_column {
    COL_TYPE,
    COL_NAME,
    COL_CLUSTER,
    COL_PROJECT_ID,
    COL_PROJECT,
    COL_DEPARTMENT_ID,
    COL_DEPARTMENT,
    COL_CREATED,
    COL_DELETED,
    COL_AUTHOR,
    COL_PHASE,
    COL_COMPLETED,
    COL_POOL,
    COL_FRAMEWORK,
    COL_GPUS,
    COL_PHASE_UPDATED,
    COL_CATEGORY,
    COL_PENDING,
    COL_RUNNING,
    COL_PRIORITY,
    COL_PRIORITY_CLASS,
    COL_IDLE,
    COL_IDLE_ALLOCATED,
    COL_GUARANTEED,
    COL_APP_ID,
    COL_APP_NAME,
};
static const struct column columns[] = {
    [COL_TYPE] = {"type",                    COLUMN_TEXT  },
    [COL_NAME] = {"name",                    COLUMN_TEXT  },
    [COL_CLUSTER] = {"clusterId",               COLUMN_TEXT  },
    [COL_PROJECT_ID] = {"projectId",               COLUMN_TEXT  },
    [COL_PROJECT] = {"projectName",             COLUMN_TEXT  },
    [COL_DEPARTMENT_ID] = {"departmentId",            COLUMN_TEXT  },
    [COL_DEPARTMENT] = {"departmentName",          COLUMN_TEXT  },
    [COL_CREATED] = {"createdAt",               COLUMN_TIME  },
    [COL_DELETED] = {"deletedAt",               COLUMN_TIME  },
    [COL_AUTHOR] = {"submittedBy",             COLUMN_TEXT  },
    [COL_PHASE] = {"phase",                   COLUMN_TEXT  },
    [COL_COMPLETED] = {"completedAt",             COLUMN_TIME  },
    [COL_POOL] = {"nodepool",                COLUMN_TEXT  },
    [COL_FRAMEWORK] = {"distributedFramework",    COLUMN_TEXT  },
    [COL_GPUS] = {"allocatedGPU",            COLUMN_NUMBER},
    [COL_PHASE_UPDATED] = {"phaseUpdatedAt",          COLUMN_TIME  },
    [COL_CATEGORY] = {"category",                COLUMN_TEXT  },
    [COL_PENDING] = {"totalPendingTimeSeconds", COLUMN_NUMBER},
    [COL_RUNNING] = {"totalRunningTimeSeconds", COLUMN_NUMBER},
    [COL_PRIORITY] = {"priority",                COLUMN_NUMBER},
    [COL_PRIORITY_CLASS] = {"priorityClassName",       COLUMN_TEXT  },
    [COL_IDLE] = {"idleGpus",                COLUMN_NUMBER},
    [COL_IDLE_ALLOCATED] = {"idleAllocatedGpus",       COLUMN_NUMBER},
    [COL_GUARANTEED] = {"guaranteedRuntimeEndsAt", COLUMN_TIME  },
    [COL_APP_ID] = {"aiApplicationId",         COLUMN_TEXT  },
    [COL_APP_NAME] = {"aiApplicationName",       COLUMN_TEXT  },
};
#define SORT_WORDS                                                                           \
    "'type'|'name'|'clusterId'|'projectId'|'projectName'|'departmentId'|'departmentName'|"   \
    "'createdAt'|'deletedAt'|'submittedBy'|'phase'|'completedAt'|'nodepool'|"                \
    "'distributedFramework'|'allocatedGPU'|'idleGpus'|'idleAllocatedGpus'|'phaseUpdatedAt'|" \
    "'category'|'priority'|'totalPendingTimeSeconds'|'totalRunningTimeSeconds'|"             \
    "'priorityClassName'|'guaranteedRuntimeEndsAt'|'aiApplicationId'|'aiApplicationName'"

/* What is to be listed: those that are deleted, or the others. */
struct shelf {
    struct call *c;
    const struct workload **rows;
    uint32_t count;
};

static const struct workload *on_shelf(void *ctx, uint32_t row)
{
    const struct shelf *s = ctx;
    return s->rows[row];
}

static struct cell workload_cell(void *ctx, uint32_t row, uint32_t column)
{
    const struct shelf *s = ctx;
    const struct call *c = s->c;
    const struct workload *wl = on_shelf(ctx, row);
    bool deleted = workload_is_deleted(wl);
    switch ((enum workload_column)column) {
    case COL_TYPE:
        return cell_text(kind_type(wl->kind));
    case COL_NAME:
        return cell_text(wl->name);
    case COL_CLUSTER:
        return cell_text(cluster_id_text(c));
    case COL_PROJECT_ID:
        return cell_text(workload_project_id(c, wl));
    case COL_PROJECT:
        return cell_text(wl->project);
    case COL_DEPARTMENT_ID:
        return cell_text(workload_department_id(c, wl));
    case COL_DEPARTMENT:
        return cell_text(workload_department(c, wl));
    case COL_CREATED:
        return cell_time(wl->created_ms);
    case COL_DELETED:
        return cell_time(deleted ? wl->end_ms : 0);
    case COL_AUTHOR:
        return cell_text(wl->author);
    case COL_PHASE:
        return cell_text(workload_phase(wl));
    case COL_COMPLETED:
        return cell_time(deleted ? 0 : wl->end_ms);
    case COL_POOL:
        return cell_text(workload_pool(wl));
    case COL_FRAMEWORK:
        return cell_text(workload_framework(wl->spec.framework));
    case COL_GPUS:
        return cell_number(amounts_holding(c, wl).share * 1000 / DEVICE_SHARE);
    case COL_PHASE_UPDATED:
        return cell_time(workload_changed_ms(wl));
    case COL_CATEGORY:
        return cell_text(workload_category(c, wl));
    case COL_PENDING:
        return cell_number(wl->pending_ms);
    case COL_RUNNING:
        return cell_number(wl->run_ms);
    case COL_PRIORITY:
        return cell_number(wl->spec.priority * 1000);
    case COL_PRIORITY_CLASS:
        return cell_text(priority_word(wl->spec.priority));
    case COL_IDLE:
    case COL_IDLE_ALLOCATED:
    case COL_GUARANTEED:
    case COL_APP_ID:
    case COL_APP_NAME:
        break;
    }
    return CELL_ABSENT;
}

static struct str workload_name(void *ctx, uint32_t row)
{
    return on_shelf(ctx, row)->name;
}

static void shelve(struct shelf *shelf, const struct workload *wl, bool in)
{
    if (in && sight_workload(call_sight(shelf->c), wl)) {
        shelf->rows[shelf->count++] = wl;
    }
}

static struct list workload_list(struct call *c, struct shelf *shelf)
{
    const struct state *st = state_of(c);
    bool deleted = body_bool(c->args, STR("deleted"), false);
    int64_t since_ms = c->api->config.now_ms() - DELETED_SHOWN_MS;
    uint32_t most = st->workloads_count + st->deleted_count;
    *shelf = (struct shelf){
        .c = c, .rows = arena_alloc(c->arena, (size_t)most * sizeof(const struct workload *))};
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        shelve(shelf, &st->workloads[i], workload_is_deleted(&st->workloads[i]) == deleted);
    }
    for (uint32_t i = 0; i < st->deleted_count && deleted; i++) {
        shelve(shelf, &st->deleted[i], st->deleted[i].end_ms > since_ms);
    }
    return (struct list){.c = c,
                         .columns = columns,
                         .columns_count = COUNT_OF(columns),
                         .cell = workload_cell,
                         .name = workload_name,
                         .ctx = shelf,
                         .rows_count = shelf->count};
}

static void list(struct call *c)
{
    struct shelf shelf;
    struct list l = workload_list(c, &shelf);
    struct jw w;
    if (!list_select(&l)) {
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    list_next(&l, &w);
    jw_key(&w, STR("workloads"));
    jw_array_begin(&w);
    for (uint32_t i = l.first; i < l.end; i++) {
        workload_show(c, &w, on_shelf(&shelf, l.rows[i]), false);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void count(struct call *c)
{
    struct shelf shelf;
    struct list l = workload_list(c, &shelf);
    list_count(&l);
}

static void get(struct call *c)
{
    const struct workload *wl = path_workload(c);
    struct jw w;
    if (wl != NULL) {
        call_begin(c, &w);
        workload_show(c, &w, wl, true);
        call_send(c, 200);
    }
}

/* ---- the rows ---- */

#define PHASES                                                                                  \
    "'Creating'|'Initializing'|'Resuming'|'Pending'|'Deleting'|'Running'|'Updating'|'Stopped'|" \
    "'Stopping'|'Degraded'|'Failed'|'Completed'|'Terminating'|'Unknown'"
#define WORKLOAD_MEMBERS                                                                         \
    "id* uuid, name* str, type* str, category* str, tenantId* int, clusterId* uuid, projectId* " \
    "str, projectName* str, departmentId* str, departmentName* str, namespace* str, source* "    \
    "'CLI'|'Control-plane'|'Other', submittedBy str, priority* int?, priorityClassName* str, "   \
    "preemptible bool?, phase* " PHASES ", phaseMessage str, phaseReason "                       \
    "'NonPreemptibleOverQuota'|'OverLimit', k8sPhase* str, conditions* [obj], createdAt* ts, "   \
    "updatedAt* ts, deletedAt* ts?, completedAt ts?, phaseUpdatedAt* ts, k8sPhaseUpdatedAt* ts," \
    "totalPendingTimeSeconds int?, totalRunningTimeSeconds int?, workloadRequestedResources "    \
    "WorkloadRequestResources, podsRequestedResources WorkloadRequestResources,"                 \
    "allocatedResources WorkloadAllocatedResources, runningPods* int, requestedPods "            \
    "RequestedPods, requestedNodePools [str], currentNodePools [str], distributedFramework str," \
    "images [str], command str, arguments str, environmentVariables map<str>, actionsSupport "   \
    "ActionsSupport"

static const struct schema_row schemas[] = {
    {"Phase",                    PHASES                                                               },
    {"Workload",                 WORKLOAD_MEMBERS                                                     },
    {"WorkloadDetailed",         WORKLOAD_MEMBERS ", pendingSchedulingMessages "
                                          "[PendingSchedulingMessage]"        },
    {"PendingSchedulingMessage",
     "nodePool* str, phaseReason* 'NonPreemptibleOverQuota'|'OverLimit', reason* str, orgType "
     "'PROJECT'|'DEPARTMENT', userMessage str?"                                                       },
    {"RequestedPods",            "number int?, min int?, max int?, parallelism int?, completions int?"},
    {"ActionsSupport",           "delete bool, suspend bool"                                          },
    {"WorkloadList",             "next int, workloads* [Workload]"                                    },
};

#define P "/api/v1/workloads"

static const struct route routes[] = {
    {"GET", P,                      "get_workloads",   list,
     DELETED_ARG ", " FILTER_ARGS ", sortBy " SORT_WORDS ", " ORDER_ARG ", " PAGE_ARGS
                 ", search str",                                                                           NULL, 200, "WorkloadList",     "Workloads of all kinds", 0, "read workloads"                       },
    {"GET", P "/count",             "count_workloads", count, DELETED_ARG ", " FILTER_ARGS ", search str", NULL,
     200,                                                                                                             "CountResponse",    "How many workloads",     0, "read workloads"                       },
    {"GET", P "/{workloadId:uuid}", "get_workload",    get,   NULL,                                        NULL, 200, "WorkloadDetailed",
     "One workload",                                                                                                                                                0, "read workloads at workload workloadId"},
};

const struct route_group group_workloads = ROUTE_GROUP("Workloads", routes, schemas);

// SPDX-License-Identifier: Apache-2.0
// The pods of workloads: /api/v1/workloads/pods.
#include "api/runai/amounts.h"
#include "api/runai/workloads.h"
#include "model/priority.h"

struct pod_place {
    uint32_t workload, pod;
};
struct pod_shelf {
    struct call *c;
    struct pod_place *rows;
    uint32_t count;
};

static struct str pod_phase(const struct pod *p)
{
    static const struct str words[] = {
        [POD_PENDING] = STRS("Pending"),     [POD_BINDING] = STRS("Pending"),
        [POD_RUNNING] = STRS("Running"),     [POD_RELEASING] = STRS("Running"),
        [POD_SUCCEEDED] = STRS("Succeeded"), [POD_FAILED] = STRS("Failed"),
    };
    return words[p->phase];
}

static void show_text_or_null(struct jw *w, struct str key, struct str text)
{
    jw_key(w, key);
    if (text.len > 0) {
        jw_string(w, text);
    } else {
        jw_null(w);
    }
}

static void show_pod(struct call *c, struct jw *w, const struct workload *wl, uint32_t pod)
{
    const struct pod *p = &wl->pods[pod];
    const struct pod_spec *spec = workload_pod(wl, pod);
    struct request r = {0};
    struct holding h = {0};
    amounts_add_request(&r, spec, 1);
    amounts_add_holding(c, &h, wl, pod);
    bool deleted = workload_is_deleted(wl);
    jw_object_begin(w);
    show_uuid(w, STR("id"), p->id);
    jw_member_string(w, STR("name"), arena_printf(c->arena, STR_FMT "-%u", STR_ARG(wl->name), pod));
    show_uuid(w, STR("workloadId"), wl->id);
    jw_member_string(w, STR("workloadName"), wl->name);
    jw_member_i64(w, STR("tenantId"), TENANT_ID);
    show_cluster_id(c, w, STR("clusterId"));
    jw_member_string(w, STR("projectId"), workload_project_id(c, wl));
    jw_member_string(w, STR("projectName"), wl->project);
    jw_member_string(w, STR("priorityClassName"), priority_word(wl->spec.priority));
    show_text_or_null(w, STR("nodeName"), p->node);
    show_text_or_null(w, STR("currentNodePool"), pod_pool(c, p));
    show_strings(w, STR("requestedNodePools"), wl->spec.pools, wl->spec.pools_count);
    jw_member_string(w, STR("k8sPhase"), pod_phase(p));
    show_moment(w, STR("createdAt"), wl->created_ms);
    show_time(w, STR("completedAt"), num_max_i64(p->end_ms, 0));
    show_moment(w, STR("k8sPhaseUpdatedAt"),
                num_max_i64(num_max_i64(p->start_ms, p->end_ms), wl->created_ms));
    show_moment(w, STR("updatedAt"),
                num_max_i64(num_max_i64(p->start_ms, p->end_ms), wl->created_ms));
    show_time(w, STR("deletedAt"), deleted ? wl->end_ms : 0);
    jw_key(w, STR("containers"));
    jw_array_begin(w);
    jw_object_begin(w);
    jw_member_string(w, STR("name"), wl->name);
    jw_member_string(w, STR("image"), spec->image);
    show_time(w, STR("startedAt"), num_max_i64(p->start_ms, 0));
    jw_object_end(w);
    jw_array_end(w);
    amounts_show_request(w, STR("requestedResources"), &r);
    amounts_show_holding(w, &h);
    jw_key(w, STR("tolerations"));
    jw_array_begin(w);
    jw_array_end(w);
    jw_object_end(w);
}

static const struct column pod_columns[] = {
    {"clusterId",       COLUMN_TEXT},
    {"workloadId",      COLUMN_TEXT},
    {"revisionId",      COLUMN_TEXT},
    {"nodeName",        COLUMN_TEXT},
    {"currentNodepool", COLUMN_TEXT},
    {"createdAt",       COLUMN_TIME},
    {"completedAt",     COLUMN_TIME},
    {"deletedAt",       COLUMN_TIME},
};
#define POD_SORT_WORDS                                                                \
    "'clusterId'|'workloadId'|'revisionId'|'nodeName'|'currentNodepool'|'createdAt'|" \
    "'completedAt'|'deletedAt'"

static struct cell pod_cell(void *ctx, uint32_t row, uint32_t column)
{
    enum { CLUSTER, WORKLOAD, REVISION, NODE, POOL, CREATED, COMPLETED, DELETED };
    const struct pod_shelf *s = ctx;
    const struct workload *wl = &state_of(s->c)->workloads[s->rows[row].workload];
    const struct pod *p = &wl->pods[s->rows[row].pod];
    switch (column) {
    case CLUSTER:
        return cell_text(cluster_id_text(s->c));
    case WORKLOAD:
        return cell_text(uuid_str(wl->id, s->c->arena));
    case NODE:
        return cell_text(p->node);
    case POOL:
        return cell_text(pod_pool(s->c, p));
    case CREATED:
        return cell_time(wl->created_ms);
    case COMPLETED:
        return cell_time(p->end_ms);
    case DELETED:
        return cell_time(workload_is_deleted(wl) ? wl->end_ms : 0);
    case REVISION:
    default:
        return CELL_ABSENT;
    }
}

static struct str pod_name(void *ctx, uint32_t row)
{
    const struct pod_shelf *s = ctx;
    return state_of(s->c)->workloads[s->rows[row].workload].name;
}

/* All pods, or those of one workload. */
static struct list pod_list(struct call *c, struct pod_shelf *shelf, const struct workload *only)
{
    const struct state *st = state_of(c);
    bool deleted = body_bool(c->args, STR("deleted"), false);
    uint32_t most = 0;
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        most += st->workloads[i].pods_count;
    }
    *shelf = (struct pod_shelf){.c = c, .rows = ARENA_ARRAY(c->arena, struct pod_place, most)};
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        const struct workload *wl = &st->workloads[i];
        bool in = only != NULL
                      ? wl == only
                      : workload_is_deleted(wl) == deleted && sight_workload(call_sight(c), wl);
        for (uint32_t k = 0; in && k < wl->pods_count; k++) {
            shelf->rows[shelf->count++] = (struct pod_place){i, k};
        }
    }
    return (struct list){.c = c,
                         .columns = pod_columns,
                         .columns_count = COUNT_OF(pod_columns),
                         .cell = pod_cell,
                         .name = pod_name,
                         .ctx = shelf,
                         .rows_count = shelf->count};
}

static void answer_pods(struct call *c, const struct workload *only)
{
    struct pod_shelf shelf;
    struct list l = pod_list(c, &shelf, only);
    struct jw w;
    if (!list_select(&l)) {
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    list_next(&l, &w);
    jw_key(&w, STR("pods"));
    jw_array_begin(&w);
    for (uint32_t i = l.first; i < l.end; i++) {
        const struct pod_place *at = &shelf.rows[l.rows[i]];
        show_pod(c, &w, &state_of(c)->workloads[at->workload], at->pod);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void all_pods(struct call *c)
{
    answer_pods(c, NULL);
}

static void count_pods(struct call *c)
{
    struct pod_shelf shelf;
    struct list l = pod_list(c, &shelf, NULL);
    list_count(&l);
}

static void pods(struct call *c)
{
    const struct workload *wl = path_workload(c);
    if (wl != NULL) {
        answer_pods(c, wl);
    }
}

/* ---- the rows ---- */

static const struct schema_row schemas[] = {
    {"Pod",     "id* uuid, name* str, workloadId* uuid, workloadName str, tenantId* int, clusterId* "
            "uuid, projectId str, projectName str, priorityClassName* str, nodeName str?, "
            "currentNodePool str?, requestedNodePools [str], k8sPhase* str, createdAt* ts, "
            "completedAt ts?, k8sPhaseUpdatedAt* ts, updatedAt* ts, deletedAt ts?, containers* "
            "[{name* str, image* str, startedAt ts?}], requestedResources "
            "WorkloadRequestResources, allocatedResources WorkloadAllocatedResources, tolerations "
            "[obj]"         },
    {"PodList", "next int, pods* [Pod]"},
};

#define P "/api/v1/workloads"

static const struct route routes[] = {
    {"GET", P "/pods",                   "list_pods",         all_pods,
     DELETED_ARG ", " FILTER_ARGS ", sortBy " POD_SORT_WORDS ", " ORDER_ARG ", " PAGE_ARGS
                 ", verbosity 'brief'|'full' = brief, completed str, search str",                                      NULL, 200, "PodList",       "Pods",               0, "read workloads"},
    {"GET", P "/pods/count",             "count_pods",        count_pods, DELETED_ARG ", " FILTER_ARGS ", search str",
     NULL,                                                                                                                   200, "CountResponse", "How many pods",      0, "read workloads"},
    {"GET", P "/{workloadId:uuid}/pods", "get_workload_pods", pods,
     DELETED_ARG ", " PAGE_ARGS ", search str",                                                                        NULL, 200, "PodList",       "Pods of a workload", 0,
     "read workloads at workload workloadId"                                                                                                                                                },
};

const struct route_group group_pods = ROUTE_GROUP("Pods", routes, schemas);

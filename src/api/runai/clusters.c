// SPDX-License-Identifier: Apache-2.0
// Clusters: /api/v1/clusters. There is one: what this server schedules.
#include "api/runai/common.h"
#include "api/runai/series.h"
#include "base/num.h"

/* ---- showing ---- */

static bool connected(const struct call *c)
{
    for (uint32_t i = 0; i < state_of(c)->nodes_count; i++) {
        if (state_of(c)->nodes[i].ready) {
            return true;
        }
    }
    return false;
}

static void show_cluster(struct call *c, struct jw *w)
{
    const struct state *st = state_of(c);
    jw_object_begin(w);
    show_uuid(w, STR("uuid"), st->cluster_id);
    jw_member_i64(w, STR("tenantId"), TENANT_ID);
    jw_member_string(w, STR("name"), st->cluster_name);
    show_moment(w, STR("createdAt"), st->cluster_ms);
    show_null(w, STR("domain"));
    jw_member_string(w, STR("version"), STR(RUNAI_VERSION));
    if (!str_eq(body_str(c->args, STR("verbosity")), STR("metadata"))) {
        jw_key(w, STR("status"));
        jw_object_begin(w);
        jw_member_string(w, STR("state"), connected(c) ? STR("Connected") : STR("Disconnected"));
        jw_key(w, STR("conditions"));
        jw_array_begin(w);
        jw_array_end(w);
        jw_key(w, STR("platform"));
        jw_object_begin(w);
        show_null(w, STR("type"));
        show_null(w, STR("kubeVersion"));
        jw_object_end(w);
        jw_object_end(w);
    }
    show_moment(w, STR("updatedAt"), st->cluster_ms);
    show_null(w, STR("deletedAt"));
    show_moment(w, STR("lastLiveness"), st->now_ms);
    jw_object_end(w);
}

static void list(struct call *c)
{
    struct jw w;
    call_begin(c, &w);
    jw_array_begin(&w);
    show_cluster(c, &w);
    jw_array_end(&w);
    call_send(c, 200);
}

static void answer_cluster(struct call *c, int code)
{
    struct jw w;
    call_begin(c, &w);
    show_cluster(c, &w);
    call_send(c, code);
}

static void get(struct call *c)
{
    if (path_cluster(c)) {
        answer_cluster(c, 200);
    }
}

/* ---- changes ---- */

static void create(struct call *c)
{
    if (str_eq(body_str(c->body, STR("name")), state_of(c)->cluster_name)) {
        answer_cluster(c, 201);
        return;
    }
    struct err err;
    err_set(&err, STATUS_CONFLICT, "this server has its one cluster, \"" STR_FMT "\"",
            STR_ARG(state_of(c)->cluster_name));
    err_field(&err, "name");
    err_hint(&err, "rename it with PUT /api/v1/clusters/{clusterUuid}");
    call_refuse(c, NULL, &err);
}

static void delete(struct call *c)
{
    struct err err;
    if (path_cluster(c)) {
        err_set(&err, STATUS_IN_USE, "the one cluster of this server cannot be deleted");
        err_hint(&err, "stop the server and remove its data directory");
        call_refuse(c, NULL, &err);
    }
}

static void on_named(struct call *c, const struct outcome *outcome)
{
    if (outcome->status == STATUS_OK) {
        answer_empty(c, 204);
    } else {
        call_fail(c, &outcome->err);
    }
}

static void update(struct call *c)
{
    struct input in = {.kind = INPUT_NAME_CLUSTER, .version = INPUT_VERSION};
    if (path_cluster(c)) {
        in.name_cluster.id = state_of(c)->cluster_id;
        in.name_cluster.name = body_str(c->body, STR("name"));
        call_command(c, &in, on_named);
    }
}

/* ---- metrics ---- */

/* What a measurement is about: a pool, department or project, or (all empty) the cluster. */
struct subject_of {
    struct str key; /* of the group, "" none */
    struct str pool, queue;
    bool department;
};
struct cluster_metrics {
    struct str pool; /* "": all */
    struct subject_of *subjects;
    uint32_t subjects_count;
};

static bool cluster_measured(struct str type)
{
    static const struct str known[] = {STRS("TOTAL_GPU"),       STRS("GPU_QUOTA"),
                                       STRS("ALLOCATED_GPU"),   STRS("UNALLOCATED_GPU"),
                                       STRS("WORKLOADS_COUNT"), STRS("AVG_WORKLOAD_WAIT_TIME"),
                                       STRS("TOTAL_GPU_NODES")};
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (str_eq(type, known[i])) {
            return true;
        }
    }
    return false;
}

static bool in_queue(const struct call *c, const struct workload *wl, const struct subject_of *s)
{
    if (s->queue.len == 0) {
        return true;
    }
    if (!s->department) {
        return str_eq(wl->project, s->queue);
    }
    const struct project *p = show_find_project(plan_of(c), wl->project);
    return p != NULL && str_eq(p->department, s->queue);
}

static bool in_pool(const struct workload *wl, const struct subject_of *s)
{
    return s->pool.len == 0 || str_eq(workload_pool(wl), s->pool);
}

/* Workloads that were there at the time; and how long those that began by then had waited. */
static int64_t workloads_at(const struct call *c, const struct subject_of *s, int64_t at_ms)
{
    const struct state *st = state_of(c);
    int64_t n = 0;
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        const struct workload *wl = &st->workloads[i];
        n += wl->created_ms <= at_ms && (wl->end_ms == TIME_NEVER || wl->end_ms > at_ms) &&
             in_queue(c, wl, s) && in_pool(wl, s);
    }
    return n;
}

static bool average_wait(const struct call *c, const struct subject_of *s, const struct sample *at,
                         int64_t *milli)
{
    const struct state *st = state_of(c);
    int64_t sum_ms = 0;
    int64_t n = 0;
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        const struct workload *wl = &st->workloads[i];
        int64_t start_ms = wl->last_start_ms;
        if (start_ms > at->from_ms && start_ms <= at->to_ms && in_queue(c, wl, s) &&
            in_pool(wl, s)) {
            sum_ms = num_sat_add_i64(sum_ms, wl->pending_ms);
            n++;
        }
    }
    *milli = n > 0 ? sum_ms / n : 0; /* seconds */
    return n > 0;
}

static int64_t quota_of_all(const struct call *c, const struct subject_of *s)
{
    const struct plan *plan = plan_of(c);
    int64_t share = 0;
    for (uint32_t i = 0; i < plan->pools_count; i++) {
        struct str pool = plan->pools[i].name;
        if (s->pool.len > 0 && !str_eq(s->pool, pool)) {
            continue;
        }
        for (uint32_t k = 0; k < plan->departments_count && (s->queue.len == 0 || s->department);
             k++) {
            const struct department *d = &plan->departments[k];
            if (s->queue.len == 0 ? d->parent.len == 0 : str_eq(d->name, s->queue)) {
                share += plan_quota(d->quotas, d->quotas_count, pool).gpu_share;
            }
        }
        const struct project *p = s->queue.len > 0 && !s->department
                                      ? show_find_project(plan, s->queue)
                                      : NULL;
        share += p != NULL ? plan_quota(p->quotas, p->quotas_count, pool).gpu_share : 0;
    }
    return share;
}

/* Average shares over the stretch: of a queue, or of all departments, or of what there was. */
static int64_t average_share(const struct call *c, const struct subject_of *s, bool had,
                             const struct sample *at)
{
    const struct plan *plan = plan_of(c);
    const struct engine *e = c->api->config.engine;
    int64_t length_ms = num_max_i64(at->to_ms - at->from_ms, 1);
    int64_t from_ms = at->to_ms - length_ms;
    if (had) {
        return engine_used(e, s->pool, STR(""), false, from_ms, at->to_ms).v[RES_GPU] / length_ms;
    }
    if (s->queue.len > 0) {
        return engine_used(e, s->pool, s->queue, s->department, from_ms, at->to_ms).v[RES_GPU] /
               length_ms;
    }
    int64_t sum = 0;
    for (uint32_t i = 0; i < plan->departments_count; i++) {
        if (plan->departments[i].parent.len == 0) {
            sum += engine_used(e, s->pool, plan->departments[i].name, true, from_ms, at->to_ms)
                       .v[RES_GPU];
        }
    }
    return sum / length_ms;
}

static bool cluster_value(const struct metrics *m, const struct sample *s, int64_t *milli)
{
    const struct cluster_metrics *cm = m->ctx;
    const struct subject_of *subject = &cm->subjects[s->variant];
    const struct call *c = m->c;
    bool whole = subject->queue.len == 0;
    int64_t share = -1;
    if (str_eq(s->type, STR("TOTAL_GPU")) && whole) {
        share = average_share(c, subject, true, s);
    } else if (str_eq(s->type, STR("ALLOCATED_GPU"))) {
        share = average_share(c, subject, false, s);
    } else if (str_eq(s->type, STR("UNALLOCATED_GPU")) && whole) {
        share = num_max_i64(
            average_share(c, subject, true, s) - average_share(c, subject, false, s), 0);
    } else if (str_eq(s->type, STR("GPU_QUOTA"))) {
        share = quota_of_all(c, subject);
    } else if (str_eq(s->type, STR("WORKLOADS_COUNT"))) {
        *milli = workloads_at(c, subject, s->to_ms) * 1000;
        return true;
    } else if (str_eq(s->type, STR("AVG_WORKLOAD_WAIT_TIME"))) {
        return average_wait(c, subject, s, milli);
    } else if (str_eq(s->type, STR("TOTAL_GPU_NODES")) && whole &&
               s->to_ms + (s->to_ms - s->from_ms) > c->api->config.now_ms()) {
        const struct state *st = state_of(c);
        *milli = 0;
        for (uint32_t i = 0; i < st->nodes_count; i++) { /* only what is there now is known */
            struct str pool = engine_pool_of(c->api->config.engine, &st->nodes[i]);
            bool ours = subject->pool.len == 0 || str_eq(pool, subject->pool);
            *milli += ours && st->nodes[i].devices_count > 0 ? 1000 : 0;
        }
        return true;
    }
    *milli = share * 1000 / DEVICE_SHARE;
    return share >= 0;
}

static uint32_t cluster_variants(const struct metrics *m, struct str type)
{
    (void)type;
    return ((const struct cluster_metrics *)m->ctx)->subjects_count;
}

static void show_cluster_variant(const struct metrics *m, struct str type, uint32_t variant,
                                 struct jw *w)
{
    const struct subject_of *s = &((const struct cluster_metrics *)m->ctx)->subjects[variant];
    (void)type;
    jw_key(w, STR("labels"));
    jw_object_begin(w);
    jw_object_end(w);
    if (s->key.len > 0) {
        jw_key(w, STR("groups"));
        jw_array_begin(w);
        jw_object_begin(w);
        jw_member_string(w, STR("key"), s->key);
        jw_member_string(w, STR("value"), s->queue.len > 0 ? s->queue : s->pool);
        jw_object_end(w);
        jw_array_end(w);
    }
}

static void find_subjects(struct call *c, struct cluster_metrics *cm)
{
    const struct plan *plan = plan_of(c);
    struct str by = body_str(c->args, STR("groupBy"));
    uint32_t most = plan->pools_count + plan->departments_count + plan->projects_count + 1;
    cm->subjects = ARENA_ARRAY(c->arena, struct subject_of, most);
    for (uint32_t i = 0; str_eq(by, STR("Nodepool")) && i < plan->pools_count; i++) {
        cm->subjects[cm->subjects_count++] = (struct subject_of){.key = by,
                                                                 .pool = plan->pools[i].name};
    }
    for (uint32_t i = 0; str_eq(by, STR("Department")) && i < plan->departments_count; i++) {
        cm->subjects[cm->subjects_count++] = (struct subject_of){
            .key = by, .pool = cm->pool, .queue = plan->departments[i].name, .department = true};
    }
    for (uint32_t i = 0; str_eq(by, STR("Project")) && i < plan->projects_count; i++) {
        cm->subjects[cm->subjects_count++] = (struct subject_of){
            .key = by, .pool = cm->pool, .queue = plan->projects[i].name};
    }
    if (by.len == 0) {
        cm->subjects[cm->subjects_count++] = (struct subject_of){.pool = cm->pool};
    }
}

static void answer_metrics(struct call *c, struct str pool)
{
    struct cluster_metrics cm = {.pool = pool};
    const struct plan *plan = plan_of(c);
    bool known = pool.len == 0;
    for (uint32_t i = 0; i < plan->pools_count; i++) {
        known = known || str_eq(plan->pools[i].name, pool);
    }
    if (!known) {
        fail_unknown(c, "node pool", pool);
        return;
    }
    find_subjects(c, &cm);
    struct metrics m = {.c = c,
                        .ctx = &cm,
                        .value = cluster_value,
                        .measured = cluster_measured,
                        .variants = cluster_variants,
                        .show_variant = show_cluster_variant};
    metrics_answer(&m);
}

static void metrics(struct call *c)
{
    if (path_cluster(c)) {
        answer_metrics(c, body_str(c->args, STR("nodepoolName")));
    }
}

static void pool_metrics(struct call *c)
{
    if (path_cluster(c)) {
        answer_metrics(c, c->segments.items[1]);
    }
}

/* ---- the rows ---- */

static const struct schema_row schemas[] = {
    {"DisplayedCluster",
     "uuid* uuid, tenantId* int, name* str, createdAt* ts, domain str?, version str?, status "
     "ClusterDisplayedStatus, updatedAt ts?, deletedAt ts?, lastLiveness ts?, deleteRequestedAt "
     "ts?"                                                                                     },
    {"ClusterDisplayedStatus",
     "state 'WaitingToConnect'|'Connected'|'Disconnected'|'MissingPrerequisites'|'ServiceIssues'|"
     "'Unknown', conditions [obj], platform {type "
     "'vanilla'|'openshift'|'rke'|'gke'|'aks'|'eks'?, kubeVersion str?}"                       },
    {"ClusterCreationRequest",     "name* str(1..63), domain str?, version str?"               },
    {"ClusterUpdateRequest",       "name* str(1..63)"                                          },
    {"GroupedMetricsResponse",     "measurements* [GroupedMeasurementResponse]"                },
    {"GroupedMeasurementResponse", "type* str, labels map<str>, values* [MeasurementValue], groups "
                                   "[{key* str, value* str}]"},
};

#define P "/api/v1/clusters"
#define METRIC_WORDS                                                                   \
    "'TOTAL_GPU_NODES'|'GPU_UTILIZATION'|'GPU_UTILIZATION_DISTRIBUTION'|"              \
    "'GPU_MEMORY_UTILIZATION'|'CPU_UTILIZATION'|'CPU_MEMORY_UTILIZATION'|'TOTAL_GPU'|" \
    "'GPU_QUOTA'|'ALLOCATED_GPU'|'UNALLOCATED_GPU'|'AVG_WORKLOAD_WAIT_TIME'|'WORKLOADS_COUNT'"

static const struct route routes[] = {
    {"GET",    P,                                                        "get_clusters",         list,
     "verbosity 'metadata'|'full' = full, includeRequestedForDelete bool",                                                           NULL,                     200,
     "[DisplayedCluster]",                                                                                                                                                                    "Clusters",                              0, "read clusters-minimal at cluster"},
    {"POST",   P,                                                        "create_cluster",       create,  NULL,                      "ClusterCreationRequest", 201, "DisplayedCluster",
     "Create a cluster: there is one already",                                                                                                                                                                                         0, "create cluster at tenant"        },
    {"GET",    P "/{clusterUuid:uuid}",                                  "get_cluster_by_uuid",  get,
     "verbosity 'metadata'|'full' = full",                                                                                           NULL,                     200, "DisplayedCluster",       "One cluster",                           0,
     "read clusters-minimal at cluster"                                                                                                                                                                                                                                     },
    {"PUT",    P "/{clusterUuid:uuid}",                                  "update_cluster",       update,  NULL,                      "ClusterUpdateRequest",   204,
     NULL,                                                                                                                                                                                    "Rename a cluster",                      0, "update cluster at cluster"       },
    {"DELETE", P "/{clusterUuid:uuid}",                                  "delete_cluster",       delete,  "force bool = false",      NULL,                     204,
     NULL,                                                                                                                                                                                    "Delete a cluster: the only one stays",  0, "delete cluster at cluster"       },
    {"GET",    P "/{clusterUuid:uuid}/metrics",                          "get_cluster_metrics",  metrics,
     METRIC_ARGS(METRIC_WORDS) ", groupBy 'Category'|'Nodepool'|'Project'|'Department', "
                               "nodepoolName str",                                                                                   NULL,                     200, "GroupedMetricsResponse", "What a cluster had and gave over time", 0,
     "read cluster at cluster"                                                                                                                                                                                                                                              },
    {"GET",    P "/{clusterUuid:uuid}/nodepools/{nodepoolName}/metrics", "get_nodepool_metrics",
     pool_metrics,                                                                                        METRIC_ARGS(METRIC_WORDS), NULL,                     200, "MetricsResponse",
     "What a node pool had and gave over time",                                                                                                                                                                                        0, "read nodepools at cluster"       },
};

const struct route_group group_clusters = ROUTE_GROUP("Clusters", routes, schemas);

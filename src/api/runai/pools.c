// SPDX-License-Identifier: Apache-2.0
// Node pools: /api/v1/node-pools. What weir does not do (over-provisioning, swap, network
// acceleration) is refused unless it is what clients send without meaning it.
#include "api/runai/edits.h"
#include "api/runai/series.h"
#include "codec/duration.h"
#include "model/limits.h"

/* ---- showing ---- */

struct pool_nodes {
    uint32_t count, ready;
};

static struct pool_nodes nodes_of(const struct call *c, const struct pool *p)
{
    const struct state *st = state_of(c);
    struct pool_nodes n = {0};
    for (uint32_t i = 0; i < st->nodes_count; i++) {
        if (str_eq(engine_pool_of(c->api->config.engine, &st->nodes[i]), p->name)) {
            n.count++;
            n.ready += st->nodes[i].ready;
        }
    }
    return n;
}

static struct str phase_of(const struct call *c, const struct pool *p)
{
    struct pool_nodes n = nodes_of(c, p);
    return n.count == 0 ? STR("Empty") : n.ready == 0 ? STR("Unschedulable") : STR("Ready");
}

static void show_placement(struct jw *w, const struct pool *p)
{
    jw_key(w, STR("placementStrategy"));
    jw_object_begin(w);
    jw_member_string(w, STR("gpu"), placement_names[p->gpu_placement]);
    jw_member_string(w, STR("cpu"), placement_names[p->cpu_placement]);
    jw_object_end(w);
}

/* What the request asks for and the status repeats. */
static void show_settings(struct jw *w, const struct pool *p)
{
    char text[DURATION_TEXT_SIZE];
    jw_member_string(w, STR("labelKey"), p->label_key);
    jw_member_string(w, STR("labelValue"), p->label_value);
    jw_member_i64(w, STR("overProvisioningRatio"), 1);
    show_placement(w, p);
    jw_member_string(w, STR("gpuNetworkAccelerationDetection"), STR("Auto"));
    jw_key(w, STR("gpuResourceOptimization"));
    jw_object_begin(w);
    jw_member_bool(w, STR("swapEnabled"), false);
    jw_member_bool(w, STR("nodeLevelSchedulerEnabled"), false);
    jw_object_end(w);
    jw_key(w, STR("schedulingConfiguration"));
    jw_object_begin(w);
    show_placement(w, p);
    jw_member_string(w, STR("minGuaranteedRuntime"),
                     duration_format(p->reclaim_min_runtime_ms, text));
    jw_object_end(w);
}

static void show_runai_pool(struct call *c, struct jw *w, const struct pool *p)
{
    const struct state *st = state_of(c);
    jw_object_begin(w);
    show_id(w, STR("id"), p->id);
    jw_member_i64(w, STR("tenantId"), TENANT_ID);
    show_cluster_id(c, w, STR("clusterId"));
    jw_member_string(w, STR("clusterName"), st->cluster_name);
    jw_member_string(w, STR("name"), p->name);
    show_settings(w, p);
    jw_member_string(w, STR("phase"), phase_of(c, p));
    jw_member_string(w, STR("phaseMessage"), STR(""));
    jw_key(w, STR("status"));
    jw_object_begin(w);
    show_settings(w, p);
    jw_key(w, STR("conditions"));
    jw_array_begin(w);
    jw_array_end(w);
    jw_member_bool(w, STR("gpuNetworkAccelerationDetected"), false);
    jw_key(w, STR("nodes"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < st->nodes_count; i++) {
        if (str_eq(engine_pool_of(c->api->config.engine, &st->nodes[i]), p->name)) {
            jw_string(w, st->nodes[i].name);
        }
    }
    jw_array_end(w);
    jw_object_end(w);
    jw_member_bool(w, STR("isDefault"), str_eq(p->name, STR("default")));
    show_stamp(w, &p->stamp);
    show_null(w, STR("deletedAt"));
    jw_object_end(w);
}

static void answer_pool(struct call *c, int code, const struct pool *p)
{
    struct jw w;
    call_begin(c, &w);
    show_runai_pool(c, &w, p);
    call_send(c, code);
}

/* ---- lists ---- */

static const struct column columns[] = {
    {"name",                            COLUMN_TEXT},
    {"clusterId",                       COLUMN_TEXT},
    {"phase",                           COLUMN_TEXT},
    {"createdAt",                       COLUMN_TIME},
    {"updatedAt",                       COLUMN_TIME},
    {"gpuNetworkAccelerationDetection", COLUMN_TEXT},
    {"gpuNetworkAccelerationDetected",  COLUMN_TEXT},
    {"swapEnabled",                     COLUMN_TEXT},
    {"nodeLevelSchedulerEnabled",       COLUMN_TEXT},
    {"networkTopologyName",             COLUMN_TEXT},
    {"gpuNetworkAccelerationLabelKey",  COLUMN_TEXT},
};
#define SORT_WORDS                                                              \
    "'name'|'phase'|'clusterId'|'createdAt'|'updatedAt'|'networkTopologyName'|" \
    "'gpuNetworkAccelerationDetection'|'gpuNetworkAccelerationDetected'|"       \
    "'gpuNetworkAccelerationLabelKey'|'swapEnabled'|'nodeLevelSchedulerEnabled'"

static struct cell pool_cell(void *ctx, uint32_t row, uint32_t column)
{
    enum { DETECTION = 5, FALSE_FIRST = 6, FALSE_END = 9 };
    struct call *c = ctx;
    const struct pool *p = &plan_of(c)->pools[row];
    switch (column) {
    case 0:
        return cell_text(p->name);
    case 1:
        return cell_text(cluster_id_text(c));
    case 2:
        return cell_text(phase_of(c, p));
    case 3:
        return cell_time(p->stamp.created_ms);
    case 4:
        return cell_time(p->stamp.updated_ms);
    case DETECTION:
        return cell_text(STR("Auto"));
    default:
        return column >= FALSE_FIRST && column < FALSE_END ? cell_text(STR("false")) : CELL_ABSENT;
    }
}

static struct str pool_name(void *ctx, uint32_t row)
{
    return plan_of(ctx)->pools[row].name;
}

static struct list pool_list(struct call *c)
{
    return (struct list){.c = c,
                         .columns = columns,
                         .columns_count = COUNT_OF(columns),
                         .cell = pool_cell,
                         .name = pool_name,
                         .ctx = c,
                         .rows_count = plan_of(c)->pools_count};
}

static void list(struct call *c)
{
    struct list l = pool_list(c);
    struct jw w;
    if (!list_select(&l)) {
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("nodepools"));
    jw_array_begin(&w);
    for (uint32_t i = l.first; i < l.end; i++) {
        show_runai_pool(c, &w, &plan_of(c)->pools[l.rows[i]]);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void count(struct call *c)
{
    struct list l = pool_list(c);
    list_count(&l);
}

static void get(struct call *c)
{
    const struct pool *p = path_pool(c);
    if (p != NULL) {
        answer_pool(c, 200, p);
    }
}

/* ---- changes ---- */

static bool refuse_unless(struct call *c, bool ok, const char *field, const char *what)
{
    if (!ok) {
        fail_field(c, field, body_str(c->body, str_from_c(field)), "weir does not %s yet", what);
    }
    return ok;
}

static bool only_what_there_is(struct call *c)
{
    const struct doc *optimization = body_get(c->body, STR("gpuResourceOptimization"));
    struct str detection = body_str(c->body, STR("gpuNetworkAccelerationDetection"));
    return refuse_unless(c, body_i64(c->body, STR("overProvisioningRatio"), 1) == 1,
                         "overProvisioningRatio", "give out devices more than once") &&
           refuse_unless(c, detection.len == 0 || str_eq(detection, STR("Auto")),
                         "gpuNetworkAccelerationDetection", "look for accelerated networks") &&
           refuse_unless(c, body_str(c->body, STR("gpuNetworkAccelerationLabelKey")).len == 0,
                         "gpuNetworkAccelerationLabelKey", "look for accelerated networks") &&
           refuse_unless(c, body_str(c->body, STR("networkTopologyId")).len == 0,
                         "networkTopologyId", "know network topologies here") &&
           refuse_unless(c, !body_bool(optimization, STR("swapEnabled"), false),
                         "gpuResourceOptimization.swapEnabled", "swap device memory") &&
           refuse_unless(c, !body_bool(optimization, STR("nodeLevelSchedulerEnabled"), false),
                         "gpuResourceOptimization.nodeLevelSchedulerEnabled",
                         "schedule on nodes themselves");
}

/* Days and weeks too, which other durations of weir do without. */
static bool read_runtime(struct call *c, struct str text, int64_t *ms)
{
    struct {
        char unit;
        int64_t ms;
    } long_units[] = {
        {'w', INT64_C(7) * 24 * 3600 * 1000},
        {'d', INT64_C(24) * 3600 * 1000    }
    };
    struct str rest = text;
    int64_t sum = 0;
    int64_t part;
    struct err err;
    bool ok = true;
    for (size_t i = 0; i < COUNT_OF(long_units); i++) {
        uint32_t at = str_find(rest, long_units[i].unit);
        uint64_t n;
        if (at < rest.len && ok) {
            ok = num_parse_u64(str_sub(rest, 0, at), &n) && n <= 100000;
            sum += ok ? (int64_t)n * long_units[i].ms : 0;
            rest = str_sub(rest, at + 1, rest.len);
        }
    }
    ok = ok && (rest.len == 0 ? text.len > 0
                              : duration_parse(rest, &part, &err) == STATUS_OK && part >= 0);
    sum += ok && rest.len > 0 ? part : 0;
    if (!ok || sum > MIN_RUNTIME_MAX_MS) {
        fail_field(c, "schedulingConfiguration.minGuaranteedRuntime", text,
                   "expected a duration such as 10m or 5d8h40m, at most 365 days");
        return false;
    }
    *ms = sum;
    return true;
}

static bool read_settings(struct call *c, struct pool *p)
{
    const struct doc *scheduling = body_get(c->body, STR("schedulingConfiguration"));
    const struct doc *placement = body_get(scheduling, STR("placementStrategy"));
    placement = placement != NULL ? placement : body_get(c->body, STR("placementStrategy"));
    p->gpu_placement = (enum placement)body_word(placement, STR("gpu"), placement_names,
                                                 PLACEMENT_COUNT, p->gpu_placement);
    p->cpu_placement = (enum placement)body_word(placement, STR("cpu"), placement_names,
                                                 PLACEMENT_COUNT, p->cpu_placement);
    struct str runtime = body_str(scheduling, STR("minGuaranteedRuntime"));
    if (runtime.len > 0) {
        if (!read_runtime(c, runtime, &p->reclaim_min_runtime_ms)) {
            return false;
        }
        p->preempt_min_runtime_ms = p->reclaim_min_runtime_ms;
    }
    struct str key = body_str(c->body, STR("labelKey"));
    struct str value = body_str(c->body, STR("labelValue"));
    p->label_key = key.len > 0 ? key : p->label_key;
    p->label_value = value.len > 0 ? value : p->label_value;
    return only_what_there_is(c);
}

static void on_created(struct call *c)
{
    const struct pool *p = find_pool_name(c, body_str(c->body, STR("name")));
    if (p != NULL) {
        answer_pool(c, 201, p);
    } else {
        fail_unknown(c, "node pool", body_str(c->body, STR("name")));
    }
}

static bool build_create(struct call *c, struct plan_apply *out)
{
    struct str name = body_str(c->body, STR("name"));
    struct pool *p = edit_pool(c, NULL, out);
    p->name = name;
    if (!body_cluster(c) || !read_settings(c, p)) {
        return false;
    }
    return edit_is_new(c, name, out);
}

static void create(struct call *c)
{
    edit_plan(c, &(struct edit){PLAN_POOL, build_create, on_created, 0});
}

/* PUT begins with the defaults, but for the label, which every pool has. */
static bool build_update(struct call *c, struct plan_apply *out)
{
    const struct pool *p = path_pool(c);
    if (p == NULL) {
        return false;
    }
    struct pool *changed = edit_pool(c, p, out);
    if (str_eq(c->request->method, STR("PUT"))) {
        changed->gpu_placement = PLACEMENT_BINPACK;
        changed->cpu_placement = PLACEMENT_BINPACK;
        changed->reclaim_min_runtime_ms = 0;
        changed->preempt_min_runtime_ms = 0;
    }
    return read_settings(c, changed);
}

static void on_updated(struct call *c)
{
    const struct pool *p = path_pool(c);
    if (p != NULL) {
        answer_pool(c, 200, p);
    }
}

static void update(struct call *c)
{
    edit_plan(c, &(struct edit){PLAN_POOL, build_update, on_updated, 0});
}

static void delete(struct call *c)
{
    edit_delete(c, PLAN_POOL);
}

/* ---- the rows ---- */

/* pack is weir's own, and of devices alone. */
#define PLACEMENT "{cpu 'spread'|'binpack'?, gpu 'spread'|'binpack'|'pack'?}?"
#define SETTINGS                                                                  \
    "overProvisioningRatio int(1..5)?, placementStrategy " PLACEMENT ", "         \
    "gpuNetworkAccelerationLabelKey str?, gpuNetworkAccelerationDetection "       \
    "'Use'|'DontUse'|'Auto'?, gpuResourceOptimization GPUResourceOptimization?, " \
    "schedulingConfiguration SchedulingConfiguration?, networkTopologyId uuid?"

static const struct schema_row schemas[] = {
    {"Nodepool",
     "id* str, tenantId* int, clusterId* uuid, clusterName* str, name* str, labelKey* str, "
     "labelValue* str, " SETTINGS ", networkTopologyName str?, phase "
     "'Creating'|'Updating'|'Deleting'|'Empty'|'Unschedulable'|'Ready'|'Deleted', phaseMessage str,"
     "status NodepoolStatus, isDefault* bool, createdBy* str, createdAt* ts, updatedBy* str, "
     "updatedAt* ts, deletedBy str, deletedAt ts?"                                           },
    {"NodepoolStatus",
     "labelKey str?, labelValue str?, " SETTINGS ", conditions [NodepoolConditionDetails],"
     "gpuNetworkAccelerationDetected bool, nodes [str]"                                      },
    {"NodepoolConditionDetails", "type* str, reason* str, message str, status 'True'|'False', "
                                 "nodes [str]"               },
    {"GPUResourceOptimization",
     "swapEnabled bool?, cpuSwapMemorySize qty?, reservedGpuMemoryForSwapOperations qty?, "
     "nodeLevelSchedulerEnabled bool?"                                                       },
    {"SchedulingConfiguration",  "placementStrategy " PLACEMENT ", minGuaranteedRuntime str?"},
    {"NodepoolCreateFields",
     "name* str(1..63), labelKey* str(1..), labelValue* str(1..), clusterId* uuid, " SETTINGS},
    {"NodepoolUpdateFields",     "labelKey str?, labelValue str?, " SETTINGS                 },
    {"NodepoolList",             "nodepools* [Nodepool]"                                     },
};

#define P "/api/v1/node-pools"

static const struct route routes[] = {
    {"GET",    P,                     "get_nodepools",   list,
     FILTER_ARGS ", sortBy " SORT_WORDS ", " ORDER_ARG ", " PAGE_ARGS,        NULL,                   200, "NodepoolList",
     "Node pools",                                                                                                                                                 0, "read nodepools-minimal at cluster"},
    {"POST",   P,                     "create_nodepool", create, NULL,        "NodepoolCreateFields", 201, "Nodepool",
     "Create a node pool",                                                                                                                                         0, "create nodepools at cluster"      },
    {"GET",    P "/count",            "count_nodepools", count,  FILTER_ARGS, NULL,                   200, "CountResponse",
     "How many node pools",                                                                                                                                        0, "read nodepools-minimal at cluster"},
    {"GET",    P "/{nodepoolId:int}", "get_nodepool",    get,    NULL,        NULL,                   200, "Nodepool",
     "One node pool",                                                                                                                                              0, "read nodepools-minimal at cluster"},
    {"PUT",    P "/{nodepoolId:int}", "update_nodepool", update, NULL,        "NodepoolUpdateFields", 200,
     "Nodepool",                                                                                                            "Replace the settings of a node pool", 0, "update nodepools at cluster"      },
    {"PATCH",  P "/{nodepoolId:int}", "patch_nodepool",  update, NULL,        "NodepoolUpdateFields", 200,
     "Nodepool",                                                                                                            "Change some settings of a node pool", 0, "update nodepools at cluster"      },
    {"DELETE", P "/{nodepoolId:int}", "delete_nodepool", delete, NULL,        NULL,                   204, NULL,
     "Delete a node pool in which nothing runs",                                                                                                                   0, "delete nodepools at cluster"      },
};

const struct route_group group_node_pools = ROUTE_GROUP("NodePools", routes, schemas);

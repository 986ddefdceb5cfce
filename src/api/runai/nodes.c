// SPDX-License-Identifier: Apache-2.0
// Nodes: /api/v1/nodes. A node's id is made of the cluster's and its name, so that it stays.
#include <string.h>

#include "api/runai/common.h"
#include "api/runai/series.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/num.h"

static struct uuid node_id(const struct call *c, const struct node *n)
{
    uint8_t bytes[16];
    struct str cluster = cluster_id_text(c);
    for (uint64_t i = 0; i < 2; i++) {
        uint64_t seed = hash_bytes(cluster.ptr, cluster.len, i);
        uint64_t h = hash_bytes(n->name.ptr, n->name.len, seed);
        memcpy(bytes + 8 * i, &h, sizeof h);
    }
    return uuid_from_random(bytes);
}

/* ---- what is held ---- */

struct node_held {
    int64_t cpu_milli, memory_bytes;
    int64_t *device_share; /* [devices_count] */
};

static struct node_held *held_of_nodes(const struct call *c)
{
    const struct state *st = state_of(c);
    struct node_held *held = ARENA_ARRAY(c->arena, struct node_held, st->nodes_count);
    struct map nodes;
    map_init(&nodes, c->arena);
    for (uint32_t i = 0; i < st->nodes_count; i++) {
        held[i].device_share = ARENA_ARRAY(c->arena, int64_t, st->nodes[i].devices_count);
        map_put(&nodes, st->nodes[i].name, i);
    }
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        const struct workload *wl = &st->workloads[i];
        for (uint32_t k = 0; k < wl->pods_count; k++) {
            const struct pod *p = &wl->pods[k];
            uint32_t at;
            if ((p->phase != POD_BINDING && p->phase != POD_RUNNING && p->phase != POD_RELEASING) ||
                !map_get(&nodes, p->node, &at)) {
                continue;
            }
            held[at].cpu_milli += wl->spec.pod.cpu_milli;
            held[at].memory_bytes += wl->spec.pod.memory_bytes;
            for (uint32_t d = 0; d < p->devices_count; d++) {
                for (uint32_t x = 0; x < st->nodes[at].devices_count; x++) {
                    if (str_eq(st->nodes[at].devices[x].uuid, p->devices[d].uuid)) {
                        held[at].device_share[x] += p->devices[d].share;
                    }
                }
            }
        }
    }
    return held;
}

/* ---- showing ---- */

static struct str status_of(const struct node *n)
{
    return n->ready ? STR("Ready") : STR("NotReady");
}

static struct str gpu_type(const struct node *n)
{
    return n->devices_count > 0 ? n->devices[0].model : (struct str){0};
}

static void show_runai_node(struct call *c, struct jw *w, const struct node *n)
{
    jw_object_begin(w);
    show_uuid(w, STR("id"), node_id(c, n));
    jw_member_string(w, STR("name"), n->name);
    show_cluster_id(c, w, STR("clusterUuid"));
    jw_member_string(w, STR("nodePool"), engine_pool_of(c->api->config.engine, n));
    jw_member_string(w, STR("status"), status_of(n));
    jw_key(w, STR("conditions"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < n->notes_count; i++) {
        jw_object_begin(w);
        jw_member_string(w, STR("type"), STR("NotEnforced"));
        jw_member_string(w, STR("reason"), STR("Host"));
        jw_member_string(w, STR("message"), n->notes[i].value);
        jw_object_end(w);
    }
    jw_array_end(w);
    jw_key(w, STR("taints"));
    jw_array_begin(w);
    jw_array_end(w);
    jw_key(w, STR("gpuInfo"));
    jw_object_begin(w);
    jw_member_string(w, STR("gpuType"), gpu_type(n));
    jw_member_i64(w, STR("gpuCount"), n->devices_count);
    jw_object_end(w);
    show_null(w, STR("nvLinkDomainUid"));
    show_null(w, STR("nvLinkCliqueId"));
    show_moment(w, STR("createdAt"), n->ready_since_ms);
    show_moment(w, STR("updatedAt"), n->seen_ms);
    jw_object_end(w);
}

static const struct column columns[] = {
    {"name",            COLUMN_TEXT},
    {"status",          COLUMN_TEXT},
    {"nodePool",        COLUMN_TEXT},
    {"gpuType",         COLUMN_TEXT},
    {"nvLinkDomainUid", COLUMN_TEXT},
    {"nvLinkCliqueId",  COLUMN_TEXT},
    {"clusterUuid",     COLUMN_TEXT},
};
#define SORT_WORDS \
    "'name'|'status'|'nodePool'|'gpuType'|'nvLinkDomainUid'|'nvLinkCliqueId'|'clusterUuid'"

static struct cell node_cell(void *ctx, uint32_t row, uint32_t column)
{
    enum { CLUSTER = 6 };
    struct call *c = ctx;
    const struct node *n = &state_of(c)->nodes[row];
    switch (column) {
    case 0:
        return cell_text(n->name);
    case 1:
        return cell_text(status_of(n));
    case 2:
        return cell_text(engine_pool_of(c->api->config.engine, n));
    case 3:
        return cell_text(gpu_type(n));
    case CLUSTER:
        return cell_text(cluster_id_text(c));
    default:
        return CELL_ABSENT;
    }
}

static struct str node_name(void *ctx, uint32_t row)
{
    return state_of(ctx)->nodes[row].name;
}

static struct list node_list(struct call *c)
{
    return (struct list){.c = c,
                         .columns = columns,
                         .columns_count = COUNT_OF(columns),
                         .cell = node_cell,
                         .name = node_name,
                         .ctx = c,
                         .rows_count = state_of(c)->nodes_count};
}

static void list(struct call *c)
{
    struct list l = node_list(c);
    struct jw w;
    if (!list_select(&l)) {
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("nodes"));
    jw_array_begin(&w);
    for (uint32_t i = l.first; i < l.end; i++) {
        show_runai_node(c, &w, &state_of(c)->nodes[l.rows[i]]);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void count(struct call *c)
{
    struct list l = node_list(c);
    list_count(&l);
}

static void cluster_list(struct call *c)
{
    if (path_cluster(c)) {
        list(c);
    }
}

static void cluster_count(struct call *c)
{
    if (path_cluster(c)) {
        count(c);
    }
}

/* ---- metrics ---- */

struct one_node {
    const struct node *node;
    struct node_held held;
};

static bool per_gpu(struct str type)
{
    return str_ends(type, STR("_PER_GPU"));
}

static bool node_measured(struct str type)
{
    return str_eq(type, STR("GPU_ALLOCATION_PER_GPU")) ||
           str_eq(type, STR("GPU_MEMORY_ALLOCATION_BYTES_PER_GPU"));
}

static uint32_t node_variants(const struct metrics *m, struct str type)
{
    const struct one_node *o = m->ctx;
    return per_gpu(type) && node_measured(type) ? o->node->devices_count : 1;
}

static void show_node_variant(const struct metrics *m, struct str type, uint32_t variant,
                              struct jw *w)
{
    const struct one_node *o = m->ctx;
    char text[32];
    jw_key(w, STR("labels"));
    jw_object_begin(w);
    if (per_gpu(type) && node_measured(type)) {
        jw_member_string(
            w, STR("gpu"),
            str_format(text, sizeof text, "%lld", (long long)o->node->devices[variant].index));
    }
    jw_object_end(w);
}

/* Only what is held now is known: the last sample has it. */
static bool node_value(const struct metrics *m, const struct sample *s, int64_t *milli)
{
    const struct one_node *o = m->ctx;
    int64_t now_ms = m->c->api->config.now_ms();
    if (!node_measured(s->type) || s->to_ms + (s->to_ms - s->from_ms) <= now_ms) {
        return false;
    }
    int64_t share = o->held.device_share[s->variant];
    *milli = str_eq(s->type, STR("GPU_ALLOCATION_PER_GPU"))
                 ? share * 1000 / DEVICE_SHARE
                 : num_sat_mul_i64(num_muldiv_floor(o->node->devices[s->variant].memory_bytes,
                                                    share, DEVICE_SHARE),
                                   1000);
    return true;
}

static void metrics(struct call *c)
{
    const struct state *st = state_of(c);
    struct uuid id;
    bool ok = uuid_parse(c->segments.items[0], &id);
    for (uint32_t i = 0; ok && i < st->nodes_count; i++) {
        if (uuid_eq(node_id(c, &st->nodes[i]), id)) {
            struct one_node one = {&st->nodes[i], held_of_nodes(c)[i]};
            struct metrics m = {.c = c,
                                .ctx = &one,
                                .value = node_value,
                                .measured = node_measured,
                                .variants = node_variants,
                                .show_variant = show_node_variant};
            metrics_answer(&m);
            return;
        }
    }
    fail_unknown(c, "node", c->segments.items[0]);
}

/* ---- telemetry ---- */

enum node_number {
    READY_GPU_NODES,
    READY_GPUS,
    TOTAL_GPU_NODES,
    TOTAL_GPUS,
    FREE_GPUS,
    ALLOCATED_GPUS,
    TOTAL_CPU_CORES,
    ALLOCATED_CPU_CORES,
    TOTAL_GPU_MEMORY_BYTES,
    TOTAL_CPU_MEMORY_BYTES,
    ALLOCATED_CPU_MEMORY_BYTES,
    FULLY_FREE_GPU_NODES,
    NODE_NUMBER_COUNT
};
static const struct str numbers[NODE_NUMBER_COUNT] = {
    [READY_GPU_NODES] = STRS("READY_GPU_NODES"),
    [READY_GPUS] = STRS("READY_GPUS"),
    [TOTAL_GPU_NODES] = STRS("TOTAL_GPU_NODES"),
    [TOTAL_GPUS] = STRS("TOTAL_GPUS"),
    [FREE_GPUS] = STRS("FREE_GPUS"),
    [ALLOCATED_GPUS] = STRS("ALLOCATED_GPUS"),
    [TOTAL_CPU_CORES] = STRS("TOTAL_CPU_CORES"),
    [ALLOCATED_CPU_CORES] = STRS("ALLOCATED_CPU_CORES"),
    [TOTAL_GPU_MEMORY_BYTES] = STRS("TOTAL_GPU_MEMORY_BYTES"),
    [TOTAL_CPU_MEMORY_BYTES] = STRS("TOTAL_CPU_MEMORY_BYTES"),
    [ALLOCATED_CPU_MEMORY_BYTES] = STRS("ALLOCATED_CPU_MEMORY_BYTES"),
    [FULLY_FREE_GPU_NODES] = STRS("FULLY_FREE_GPU_NODES"),
};

static int64_t node_number(const struct node *n, const struct node_held *h, enum node_number what)
{
    int64_t healthy = 0;
    int64_t empty = 0;
    int64_t share = 0;
    int64_t memory = 0;
    for (uint32_t i = 0; i < n->devices_count; i++) {
        healthy += n->ready && n->devices[i].healthy;
        empty += n->ready && n->devices[i].healthy && h->device_share[i] == 0;
        share += h->device_share[i];
        memory = num_sat_add_i64(memory, n->devices[i].memory_bytes);
    }
    switch (what) {
    case READY_GPU_NODES:
        return n->ready && n->devices_count > 0 ? 1000 : 0;
    case READY_GPUS:
        return healthy * 1000;
    case TOTAL_GPU_NODES:
        return n->devices_count > 0 ? 1000 : 0;
    case TOTAL_GPUS:
        return (int64_t)n->devices_count * 1000;
    case FREE_GPUS:
        return empty * 1000;
    case ALLOCATED_GPUS:
        return share * 1000 / DEVICE_SHARE;
    case TOTAL_CPU_CORES:
        return n->cpu_milli;
    case ALLOCATED_CPU_CORES:
        return h->cpu_milli;
    case TOTAL_GPU_MEMORY_BYTES:
        return num_sat_mul_i64(memory, 1000);
    case TOTAL_CPU_MEMORY_BYTES:
        return num_sat_mul_i64(n->memory_bytes, 1000);
    case ALLOCATED_CPU_MEMORY_BYTES:
        return num_sat_mul_i64(h->memory_bytes, 1000);
    case FULLY_FREE_GPU_NODES:
        return n->devices_count > 0 && empty == (int64_t)n->devices_count ? 1000 : 0;
    case NODE_NUMBER_COUNT:
        break;
    }
    return 0;
}

/* Sums over the nodes of one pool (NULL: all) and one node (NULL: all). */
static void add_values(struct telemetry *t, const struct node_held *held, enum node_number what,
                       const struct pool *pool, const struct node *only)
{
    struct call *c = t->c;
    const struct state *st = state_of(c);
    struct telemetry_group groups[3];
    uint32_t count = 0;
    int64_t sum = 0;
    for (uint32_t i = 0; i < st->nodes_count; i++) {
        const struct node *n = &st->nodes[i];
        bool in_pool = pool == NULL || str_eq(engine_pool_of(c->api->config.engine, n), pool->name);
        if (in_pool && (only == NULL || only == n)) {
            sum = num_sat_add_i64(sum, node_number(n, &held[i], what));
        }
    }
    if (telemetry_by(c, STR("ClusterId"))) {
        groups[count++] = (struct telemetry_group){STR("ClusterId"), cluster_id_text(c),
                                                   st->cluster_name};
    }
    if (pool != NULL && telemetry_by(c, STR("Nodepool"))) {
        groups[count++] = (struct telemetry_group){STR("Nodepool"), pool->name, pool->name};
    }
    if (only != NULL) {
        groups[count++] = (struct telemetry_group){STR("Node"), only->name, only->name};
    }
    telemetry_value(t, sum, groups, count);
}

static void add_nodes(struct telemetry *t, const struct node_held *held, enum node_number what,
                      const struct pool *pool)
{
    const struct state *st = state_of(t->c);
    if (!telemetry_by(t->c, STR("Node"))) {
        add_values(t, held, what, pool, NULL);
        return;
    }
    for (uint32_t i = 0; i < st->nodes_count; i++) {
        if (pool == NULL ||
            str_eq(engine_pool_of(t->c->api->config.engine, &st->nodes[i]), pool->name)) {
            add_values(t, held, what, pool, &st->nodes[i]);
        }
    }
}

static void telemetry(struct call *c)
{
    struct telemetry t;
    const struct plan *plan = plan_of(c);
    struct str name = body_str(c->args, STR("nodepoolName"));
    uint32_t what = body_word(c->args, STR("telemetryType"), numbers, NODE_NUMBER_COUNT,
                              NODE_NUMBER_COUNT);
    const struct pool *only = NULL;
    for (uint32_t i = 0; i < plan->pools_count; i++) {
        only = str_eq(plan->pools[i].name, name) ? &plan->pools[i] : only;
    }
    if (name.len > 0 && only == NULL) {
        fail_unknown(c, "node pool", name);
        return;
    }
    const struct node_held *held = held_of_nodes(c);
    telemetry_begin(&t, c);
    if (what == NODE_NUMBER_COUNT) {
        /* of what is used, which is not measured, there are no values */
    } else if (only == NULL && telemetry_by(c, STR("Nodepool"))) {
        for (uint32_t i = 0; i < plan->pools_count; i++) {
            add_nodes(&t, held, (enum node_number)what, &plan->pools[i]);
        }
    } else {
        add_nodes(&t, held, (enum node_number)what, only);
    }
    telemetry_end(&t);
}

/* ---- the rows ---- */

static const struct schema_row schemas[] = {
    {"Node",                       "id uuid, name* str, clusterUuid* uuid, nodePool* str, status* "
             "'Ready'|'NotReady'|'Unknown', conditions [NodeStatusConditionDetails], taints "
             "[NodeTaint], gpuInfo GpuInfo, nvLinkDomainUid str?, nvLinkCliqueId str?, createdAt* "
             "ts, updatedAt* ts"                                                                 },
    {"NodeStatusConditionDetails", "type* str, reason* str, message str"                                     },
    {"NodeTaint",                  "key* str, value str, effect* 'NoSchedule'|'PreferNoSchedule'|'NoExecute'"},
    {"GpuInfo",                    "gpuType* str, gpuCount* int"                                             },
    {"NodeList",                   "nodes* [Node]"                                                           },
};

#define LIST_ARGS FILTER_ARGS ", sortBy " SORT_WORDS ", " ORDER_ARG ", " PAGE_ARGS ", search str"
#define METRIC_WORDS                                                                       \
    "'GPU_UTILIZATION_PER_GPU'|'GPU_UTILIZATION'|'GPU_MEMORY_UTILIZATION_PER_GPU'|"        \
    "'GPU_MEMORY_UTILIZATION'|'GPU_MEMORY_USAGE_BYTES_PER_GPU'|'GPU_MEMORY_USAGE_BYTES'|"  \
    "'GPU_ALLOCATION_PER_GPU'|'GPU_MEMORY_ALLOCATION_BYTES_PER_GPU'|"                      \
    "'GPU_IDLE_TIME_SECONDS_PER_GPU'|'CPU_USAGE_CORES'|'CPU_UTILIZATION'|"                 \
    "'CPU_MEMORY_USAGE_BYTES'|'CPU_MEMORY_UTILIZATION'|'GPU_OOMKILL_BURST_COUNT_PER_GPU'|" \
    "'GPU_OOMKILL_IDLE_COUNT_PER_GPU'|'GPU_OOMKILL_SWAP_OUT_OF_RAM_COUNT_PER_GPU'|"        \
    "'GPU_GRAPHICS_ENGINE_ACTIVITY_PER_GPU'|'GPU_SM_ACTIVITY_PER_GPU'|"                    \
    "'GPU_SM_OCCUPANCY_PER_GPU'|'GPU_TENSOR_ACTIVITY_PER_GPU'|"                            \
    "'GPU_FP64_ENGINE_ACTIVITY_PER_GPU'|'GPU_FP32_ENGINE_ACTIVITY_PER_GPU'|"               \
    "'GPU_FP16_ENGINE_ACTIVITY_PER_GPU'|'GPU_MEMORY_BANDWIDTH_UTILIZATION_PER_GPU'|"       \
    "'GPU_NVLINK_TRANSMITTED_BANDWIDTH_PER_GPU'|'GPU_NVLINK_RECEIVED_BANDWIDTH_PER_GPU'|"  \
    "'GPU_PCIE_TRANSMITTED_BANDWIDTH_PER_GPU'|'GPU_PCIE_RECEIVED_BANDWIDTH_PER_GPU'|"      \
    "'NVLINK_BANDWIDTH_TOTAL'|'NVLINK_BANDWIDTH_TOTAL_PER_GPU'"
#define TELEMETRY_WORDS                                                                      \
    "'READY_GPU_NODES'|'READY_GPUS'|'TOTAL_GPU_NODES'|'TOTAL_GPUS'|'IDLE_ALLOCATED_GPUS'|"   \
    "'FREE_GPUS'|'ALLOCATED_GPUS'|'TOTAL_CPU_CORES'|'USED_CPU_CORES'|'ALLOCATED_CPU_CORES'|" \
    "'TOTAL_GPU_MEMORY_BYTES'|'USED_GPU_MEMORY_BYTES'|'TOTAL_CPU_MEMORY_BYTES'|"             \
    "'USED_CPU_MEMORY_BYTES'|'ALLOCATED_CPU_MEMORY_BYTES'|'FULLY_FREE_GPU_NODES'"

static const struct route routes[] = {
    {"GET", "/api/v1/nodes",                                   "get_tenant_nodes",   list,          LIST_ARGS,                  NULL, 200, "NodeList",          "Nodes",                                      0,
     "read nodes at cluster"                                                                                                                                                                                                            },
    {"GET", "/api/v1/nodes/count",                             "count_tenant_nodes", count,         FILTER_ARGS ", search str", NULL,
     200,                                                                                                                                  "CountResponse",     "How many nodes",                             0, "read nodes at cluster"},
    {"GET", "/api/v1/nodes/telemetry",                         "get_node_telemetry", telemetry,
     "clusterId uuid, nodepoolName str, groupBy ['ClusterId'|'Nodepool'|'Node'], "
     "telemetryType* " TELEMETRY_WORDS,
     NULL,                                                                                                                            200, "TelemetryResponse", "What nodes have and what is held of it now", 0,
     "read nodes at cluster"                                                                                                                                                                                                            },
    {"GET", "/api/v1/nodes/{nodeId:uuid}/metrics",             "get_node_metrics",   metrics,
     METRIC_ARGS(METRIC_WORDS),                                                                                                 NULL, 200, "MetricsResponse",   "What is held of a node over time",           0,
     "read nodes at cluster"                                                                                                                                                                                                            },
    {"GET", "/api/v1/clusters/{clusterUuid:uuid}/nodes",       "get_nodes",          cluster_list,  LIST_ARGS,                  NULL,
     200,                                                                                                                                  "NodeList",          "Nodes of a cluster",                         0, "read nodes at cluster"},
    {"GET", "/api/v1/clusters/{clusterUuid:uuid}/nodes/count", "count_nodes",        cluster_count,
     FILTER_ARGS ", search str",                                                                                                NULL, 200, "CountResponse",     "How many nodes a cluster has",               0,
     "read nodes at cluster"                                                                                                                                                                                                            },
};

const struct route_group group_nodes = ROUTE_GROUP("Nodes", routes, schemas);

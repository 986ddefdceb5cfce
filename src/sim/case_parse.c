// SPDX-License-Identifier: Apache-2.0
// Reads a case: the frame, nodes, queues and topologies; workloads and expectations have their own
// files.
#include "sim/case_read.h"

#include "base/num.h"

/* Wall time of the cases; any will do. Ages reach back from it. */
#define CASE_NOW_MS INT64_C(2000000000000)

#define DEVICE_MEMORY_MIB_DEFAULT 100
#define NODE_CPU_MILLI_DEFAULT    INT64_C(20000)
#define NODE_MEMORY_BYTES_DEFAULT INT64_C(20000000000)
#define NODE_PODS_DEFAULT         INT64_C(110)
#define QUEUE_PRIORITY_DEFAULT    INT64_C(100)
#define MIB                       INT64_C(1048576)

/* ---- nodes ---- */

static void read_zones(struct parsing *p, const struct at *up, const struct doc *d,
                       struct case_node *node)
{
    enum { GPUS, CPU, MEMORY, COUNT };
    static const struct keys keys = {
        2, COUNT, {STRS("gpus"), STRS("cpu_milli"), STRS("memory_bytes")}
    };
    const struct at in = {up, STR("numa"), 0};
    const struct doc *m[MEMBERS_MAX];
    struct case_world *w = &p->c->world;
    uint32_t device = 0;
    node->zone_first = w->zones.count;
    for (const struct doc *item = list_of(p, &in, d); item; item = item->next) {
        const struct at at = {&in, STR(""), node->zone_count};
        open_map(p, &at, item, &keys, m);
        int64_t gpus = count_of(p, &at, "gpus", m[GPUS], (int64_t)node->device_count - device, 0);
        for (int64_t i = 0; i < gpus; i++) {
            w->devices.items[node->device_first + device++].zone = node->zone_count;
        }
        *ARRAY_PUSH(p->arena, &w->zones) = (struct case_zone){
            .cpu_milli = count_of(p, &at, "cpu_milli", m[CPU], AMOUNT_MAX, 0),
            .memory_bytes = count_of(p, &at, "memory_bytes", m[MEMORY], AMOUNT_MAX,
                                     node->memory_bytes)};
        node->zone_count++;
    }
    if (node->zone_count > 0 && device < node->device_count) {
        PROBLEM(p, &in, d, "%u GPUs of the node are in no zone", node->device_count - device);
    }
}

/* Devices of the node, by their numbers, that take no new work. */
static void read_closed(struct parsing *p, const struct at *up, const char *key,
                        const struct doc *d, const struct case_node *node, bool draining)
{
    const struct at at = {up, str_from_c(key), 0};
    for (const struct doc *n = list_of(p, &at, d); n; n = n->next) {
        int64_t ordinal = count_of(p, &at, "", n, (int64_t)node->device_count - 1, 0);
        if (node->device_count > 0) {
            struct case_device *device =
                &p->c->world.devices.items[node->device_first + num_u32((uint64_t)ordinal)];
            device->sick = device->sick || !draining;
            device->draining = device->draining || draining;
        }
    }
}

static void read_node(struct parsing *p, const struct at *at, const struct doc *d)
{
    enum {
        NAME,
        GPUS,
        GPU_MEMORY_MIB,
        CPU,
        MEMORY,
        PODS,
        LABELS,
        MIG,
        MIG_STRATEGY,
        TAINTS,
        LOST,
        CORDONED,
        SICK,
        DRAINING,
        DRAINING_DEVICES,
        NUMA,
        COUNT
    };
    static const struct keys keys = {
        2,
        COUNT,
        {STRS("name"), STRS("gpus"), STRS("gpu_memory_mib"), STRS("cpu_milli"),
          STRS("memory_bytes"), STRS("max_pods"), STRS("labels"), STRS("mig"), STRS("mig_strategy"),
          STRS("taints"), STRS("lost"), STRS("cordoned"), STRS("sick_devices"), STRS("draining"),
          STRS("draining_devices"), STRS("numa")}
    };
    static const struct str strategies[] = {STRS("none"), STRS("single"), STRS("mixed")};
    const struct doc *m[MEMBERS_MAX];
    struct case_world *w = &p->c->world;
    open_map(p, at, d, &keys, m);

    struct case_node node = {
        .name = text_of(p, at, "name", m[NAME]),
        .device_first = w->devices.count,
        .device_count = num_u32((uint64_t)count_of(p, at, "gpus", m[GPUS], NODE_DEVICES_MAX, 0)),
        .cpu_milli = count_of(p, at, "cpu_milli", m[CPU], AMOUNT_MAX, NODE_CPU_MILLI_DEFAULT),
        .memory_bytes = count_of(p, at, "memory_bytes", m[MEMORY], AMOUNT_MAX,
                                 NODE_MEMORY_BYTES_DEFAULT),
        .pods = count_of(p, at, "max_pods", m[PODS], 1000000, NODE_PODS_DEFAULT),
        .mig = (enum mig_strategy)word_of(p, at, "mig_strategy", m[MIG_STRATEGY], strategies,
                                          COUNT_OF(strategies)),
        .lost = bool_of(p, at, "lost", m[LOST], false),
        .cordoned = bool_of(p, at, "cordoned", m[CORDONED], false),
        .draining = bool_of(p, at, "draining", m[DRAINING], false)};
    int64_t memory_bytes = number_of(
        p, at, "gpu_memory_mib", m[GPU_MEMORY_MIB],
        (struct range){MIB, 0, AMOUNT_MAX, DEVICE_MEMORY_MIB_DEFAULT * MIB});
    read_labels(p, at, m[LABELS], &node.label_first, &node.label_count);
    *ARRAY_PUSH(p->arena, &w->labels) = (struct case_label){CASE_NODE_LABEL, node.name};
    node.label_count++;
    read_mig(p, at, m[MIG], &node.mig_first, &node.mig_count);
    read_names(p, at, "taints", m[TAINTS], &node.taint_first, &node.taint_count);
    name_taken(p, at, m[NAME], &p->nodes, node.name, w->nodes.count);
    for (uint32_t i = 0; i < node.device_count; i++) {
        *ARRAY_PUSH(p->arena, &w->devices) = (struct case_device){
            .node = w->nodes.count, .ordinal = i, .memory_bytes = memory_bytes};
    }
    read_closed(p, at, "sick_devices", m[SICK], &node, false);
    read_closed(p, at, "draining_devices", m[DRAINING_DEVICES], &node, true);
    read_zones(p, at, m[NUMA], &node);
    *ARRAY_PUSH(p->arena, &w->nodes) = node;
}

/* ---- queues ---- */

static void read_entitlement(struct parsing *p, const struct at *up, const struct doc *d,
                             enum resource resource, struct case_queue *queue)
{
    enum { QUOTA, LIMIT, WEIGHT, COUNT };
    static const struct keys keys = {
        COUNT, COUNT, {STRS("quota"), STRS("limit"), STRS("over_quota_weight")}
    };
    static const struct str names[RES_COUNT] = {STRS("gpu"), STRS("cpu"), STRS("memory")};
    static const int64_t units[RES_COUNT] = {DEVICE_SHARE, 1, 1};
    const struct at at = {up, names[resource], 0};
    const struct doc *m[MEMBERS_MAX];
    int64_t unit = units[resource];
    queue->limit.v[resource] = AMOUNT_UNLIMITED;
    queue->weight_milli.v[resource] = WEIGHT_ONE;
    if (d == NULL) {
        return;
    }
    open_map(p, &at, d, &keys, m);
    int64_t quota = number_of(p, &at, "quota", m[QUOTA],
                              (struct range){unit, -unit, QUEUE_AMOUNT_MAX, 0});
    int64_t limit = number_of(p, &at, "limit", m[LIMIT],
                              (struct range){unit, -unit, QUEUE_AMOUNT_MAX, 0});
    int64_t weight = number_of(p, &at, "over_quota_weight", m[WEIGHT],
                               (struct range){WEIGHT_ONE, -WEIGHT_ONE, WEIGHT_MILLI_MAX, 0});
    queue->quota.v[resource] = quota < 0 ? AMOUNT_UNLIMITED : quota;
    queue->limit.v[resource] = limit < 0 ? AMOUNT_UNLIMITED : limit;
    queue->weight_milli.v[resource] = weight < 0 ? WEIGHT_ONE : weight;
}

/* Past use, as parts of what the pool had. */
static void read_usage(struct parsing *p, const struct at *up, const struct doc *d,
                       struct case_queue *queue)
{
    static const struct keys keys = {
        0, RES_COUNT, {STRS("gpu"), STRS("cpu"), STRS("memory")}
    };
    const struct at at = {up, STR("usage"), 0};
    const struct doc *m[MEMBERS_MAX];
    if (d == NULL) {
        return;
    }
    open_map(p, &at, d, &keys, m);
    for (uint32_t r = 0; r < RES_COUNT; r++) {
        queue->usage.v[r] = number_of(p, &at, "", m[r],
                                      (struct range){USAGE_DENOMINATOR_MAX, 0, AMOUNT_MAX, 0});
    }
    p->c->world.config.usage_denominator = USAGE_DENOMINATOR_MAX;
}

static void read_queue(struct parsing *p, const struct at *at, const struct doc *d)
{
    enum { NAME, GPU, CPU, MEMORY, PARENT, PRIORITY, RECLAIM, PREEMPT, USAGE, COUNT };
    static const struct keys keys = {
        4,
        COUNT,
        {STRS("name"), STRS("gpu"), STRS("cpu"), STRS("memory"), STRS("parent"), STRS("priority"),
          STRS("reclaim_min_runtime_s"), STRS("preempt_min_runtime_s"), STRS("usage")}
    };
    const struct doc *m[MEMBERS_MAX];
    struct case_world *w = &p->c->world;
    open_map(p, at, d, &keys, m);

    struct case_queue queue = {
        .name = text_of(p, at, "name", m[NAME]),
        .parent = index_of(p, at, "parent", m[PARENT], &p->queues, "queue above this one"),
        .priority = number_of(p, at, "priority", m[PRIORITY],
                              (struct range){1, -AMOUNT_MAX, AMOUNT_MAX, QUEUE_PRIORITY_DEFAULT}),
        .reclaim_min_runtime_ms = seconds_of(p, at, "reclaim_min_runtime_s", m[RECLAIM], 0,
                                             DURATION_UNSET),
        .preempt_min_runtime_ms = seconds_of(p, at, "preempt_min_runtime_s", m[PREEMPT], 0,
                                             DURATION_UNSET)};
    read_entitlement(p, at, m[GPU], RES_GPU, &queue);
    read_entitlement(p, at, m[CPU], RES_CPU, &queue);
    read_entitlement(p, at, m[MEMORY], RES_MEMORY, &queue);
    read_usage(p, at, m[USAGE], &queue);
    name_taken(p, at, m[NAME], &p->queues, queue.name, w->queues.count);
    *ARRAY_PUSH(p->arena, &w->queues) = queue;
}

/* ---- topologies ---- */

static void read_topology(struct parsing *p, const struct at *at, const struct doc *d)
{
    enum { NAME, LEVELS, COUNT };
    static const struct keys keys = {
        2, COUNT, {STRS("name"), STRS("levels")}
    };
    const struct doc *m[MEMBERS_MAX];
    struct case_world *w = &p->c->world;
    open_map(p, at, d, &keys, m);

    struct case_topology topology = {.name = text_of(p, at, "name", m[NAME]),
                                     .level_first = w->keys.count};
    const struct at in = {at, STR("levels"), 0};
    for (const struct doc *level = list_of(p, &in, m[LEVELS]); level; level = level->next) {
        if (topology.level_count == TOPOLOGY_LEVELS_MAX) {
            PROBLEM(p, &in, level, "more than %u levels", TOPOLOGY_LEVELS_MAX);
            break;
        }
        *ARRAY_PUSH(p->arena, &w->keys) = text_of(p, &in, "", level);
        topology.level_count++;
    }
    name_taken(p, at, m[NAME], &p->topologies, topology.name, w->topologies.count);
    *ARRAY_PUSH(p->arena, &w->topologies) = topology;
}

/* ---- disruption budgets ---- */

static void add_budget_pod(struct parsing *p, const struct case_budget *budget, uint32_t pod)
{
    struct case_world *w = &p->c->world;
    for (uint32_t i = budget->pod_first; i < w->budget_pods.count; i++) {
        if (w->budget_pods.items[i] == pod) {
            return;
        }
    }
    *ARRAY_PUSH(p->arena, &w->budget_pods) = pod;
}

/* The pods named, and all those of the workloads named. */
static void read_budget_pods(struct parsing *p, const struct at *up, const struct doc *pods,
                             const struct doc *workloads, const struct case_budget *budget)
{
    const struct at at_pods = {up, STR("pods"), 0};
    const struct at at_workloads = {up, STR("workloads"), 0};
    const struct case_world *w = &p->c->world;
    for (const struct doc *n = list_of(p, &at_pods, pods); n; n = n->next) {
        uint32_t pod = index_of(p, &at_pods, "", n, &p->pods, "pod");
        if (pod != IX_NONE) {
            add_budget_pod(p, budget, pod);
        }
    }
    for (const struct doc *n = list_of(p, &at_workloads, workloads); n; n = n->next) {
        uint32_t ix = index_of(p, &at_workloads, "", n, &p->workloads, "workload");
        const struct case_workload *row = ix == IX_NONE ? NULL : &w->workloads.items[ix];
        for (uint32_t i = 0; row != NULL && i < row->pod_count; i++) {
            add_budget_pod(p, budget, row->pod_first + i);
        }
    }
}

static void read_budget(struct parsing *p, const struct at *at, const struct doc *d)
{
    enum { NAME, PODS, WORKLOADS, MIN, MAX, COUNT };
    static const struct keys keys = {
        1,
        COUNT,
        {STRS("name"), STRS("pods"), STRS("workloads"), STRS("min_available"),
          STRS("max_unavailable")}
    };
    const struct doc *m[MEMBERS_MAX];
    struct case_world *w = &p->c->world;
    open_map(p, at, d, &keys, m);
    struct case_budget budget = {.name = text_of(p, at, "name", m[NAME]),
                                 .pod_first = w->budget_pods.count};
    if ((m[MIN] == NULL) == (m[MAX] == NULL)) {
        PROBLEM(p, at, d, "give min_available or max_unavailable, not both");
    }
    int64_t least = count_of(p, at, "min_available", m[MIN], TASKS_MAX, 0);
    int64_t most = count_of(p, at, "max_unavailable", m[MAX], TASKS_MAX, 0);
    read_budget_pods(p, at, m[PODS], m[WORKLOADS], &budget);
    budget.pod_count = w->budget_pods.count - budget.pod_first;
    int64_t expected = 0;
    for (uint32_t i = 0; i < budget.pod_count; i++) {
        const struct case_pod *pod = &w->pods.items[w->budget_pods.items[budget.pod_first + i]];
        expected += pod->state != CASE_SUCCEEDED && pod->state != CASE_FAILED;
    }
    least = m[MAX] == NULL ? least : expected - most;
    budget.available_min = least > 0 ? num_u32((uint64_t)least) : 0;
    for (uint32_t i = 0; i < w->budgets.count; i++) {
        if (str_eq(w->budgets.items[i].name, budget.name)) {
            PROBLEM(p, at, d, "the name \"" STR_FMT "\" is used twice", STR_ARG(budget.name));
        }
    }
    *ARRAY_PUSH(p->arena, &w->budgets) = budget;
}

/* ---- the whole ---- */

static void read_config(struct parsing *p, const struct doc *d)
{
    enum { PLACEMENT, DEVICE, MIG_CHARGE, K, FULL_HIERARCHY, RESERVATION, COUNT };
    enum { GPU, CPU, PLACEMENT_KEYS };
    static const struct keys keys = {
        0,
        COUNT,
        {STRS("placement"), STRS("device"), STRS("mig_charge"), STRS("k"), STRS("full_hierarchy"),
          STRS("reservation_after_s")}
    };
    static const struct keys placement_keys = {
        0, PLACEMENT_KEYS, {STRS("gpu"), STRS("cpu")}
    };
    static const struct str placements[] = {STRS("binpack"), STRS("spread"), STRS("pack")};
    static const struct str orders[] = {STRS("pack"), STRS("spread")};
    static const struct str charges[] = {STRS("units"), STRS("share")};
    const struct at at = {NULL, STR("config"), 0};
    const struct doc *m[MEMBERS_MAX];
    struct snap_config *config = &p->c->world.config;
    if (d == NULL) {
        return;
    }
    open_map(p, &at, d, &keys, m);
    config->device_order = (enum device_order)word_of(p, &at, "device", m[DEVICE], orders, 2);
    config->mig_charge = (enum mig_charge)word_of(p, &at, "mig_charge", m[MIG_CHARGE], charges, 2);
    config->k_permille = number_of(p, &at, "k", m[K],
                                   (struct range){1000, 0, K_PERMILLE_MAX, config->k_permille});
    config->full_hierarchy = bool_of(p, &at, "full_hierarchy", m[FULL_HIERARCHY], true);
    config->reservation_after_ms = seconds_of(p, &at, "reservation_after_s", m[RESERVATION], 1000,
                                              0);
    if (m[PLACEMENT] != NULL) {
        const struct at in = {&at, STR("placement"), 0};
        const struct doc *k[MEMBERS_MAX];
        open_map(p, &in, m[PLACEMENT], &placement_keys, k);
        config->gpu_placement = (enum placement)word_of(p, &in, "gpu", k[GPU], placements, 3);
        config->cpu_placement = (enum placement)word_of(p, &in, "cpu", k[CPU], placements, 2);
    }
}

static void read_actions(struct parsing *p, const struct doc *d)
{
    static const struct str names[ACTION_COUNT] = {
        [ACTION_ALLOCATE] = STRS("allocate"),
        [ACTION_CONSOLIDATE] = STRS("consolidation"),
        [ACTION_RECLAIM] = STRS("reclaim"),
        [ACTION_PREEMPT] = STRS("preempt"),
        [ACTION_EVICT_STALE] = STRS("stalegangeviction")};
    const struct at at = {NULL, STR("actions"), 0};
    for (const struct doc *item = list_of(p, &at, d); item; item = item->next) {
        uint32_t action = word_of(p, &at, "", item, names, ACTION_COUNT);
        uint32_t bit = ACTION_BIT(action);
        if (p->c->actions_mask >= bit) {
            PROBLEM(p, &at, item, "\"" STR_FMT "\" is repeated or out of order",
                    STR_ARG(item->text))
                ->hint = STR("the order is allocate, consolidation, reclaim, preempt, "
                             "stalegangeviction");
        }
        p->c->actions_mask |= bit;
    }
}

typedef void read_item(struct parsing *p, const struct at *at, const struct doc *d);

static void read_list(struct parsing *p, struct str key, const struct doc *d, read_item *read)
{
    const struct at in = {NULL, key, 0};
    uint32_t index = 0;
    for (const struct doc *item = list_of(p, &in, d); item; item = item->next) {
        const struct at at = {&in, STR(""), index++};
        read(p, &at, item);
    }
}

/* The rule for which weir differs, and what KAI does. */
static void read_difference(struct parsing *p, const struct doc *rule, const struct doc *kai)
{
    static const struct str rules[] = {STRS("R1"), STRS("R2"), STRS("R3"), STRS("R4"), STRS("R5"),
                                       STRS("R6"), STRS("R7"), STRS("R8"), STRS("R9")};
    if (rule == NULL && kai == NULL) {
        return;
    }
    if (rule == NULL || kai == NULL) {
        PROBLEM(p, NULL, rule ? rule : kai, "\"differs\" and \"kai_expect\" go together");
        return;
    }
    p->c->differs = rules[word_of(p, NULL, "differs", rule, rules, COUNT_OF(rules))];
    read_expect(p, STR("kai_expect"), kai);
    p->c->kai_expects.items = p->c->expects.items;
    p->c->kai_expects.count = p->c->expects.count;
    p->c->kai_expects.cap = p->c->expects.cap;
    p->c->expects.items = NULL;
    p->c->expects.count = p->c->expects.cap = 0;
}

void case_parse(const struct doc *root, struct arena *arena, struct sim_case *out,
                struct problems *problems)
{
    enum {
        ID,
        AREA,
        ACTIONS,
        ROUNDS,
        STABLE,
        NODES,
        QUEUES,
        WORKLOADS,
        EXPECT,
        ABOUT,
        CONFIG,
        TOPOLOGIES,
        DIFFERS,
        KAI_EXPECT,
        BUDGETS,
        COUNT
    };
    static const struct keys keys = {
        9,
        COUNT,
        {STRS("id"), STRS("area"), STRS("actions"), STRS("rounds"), STRS("stable_rounds"),
          STRS("nodes"), STRS("queues"), STRS("workloads"), STRS("expect"), STRS("about"),
          STRS("config"), STRS("topologies"), STRS("differs"), STRS("kai_expect"), STRS("budgets")}
    };
    *out = (struct sim_case){0};
    case_world_init(&out->world, arena, CASE_NOW_MS);
    struct parsing p = {.arena = arena, .problems = problems, .c = out};
    struct map *maps[] = {&p.nodes, &p.queues, &p.topologies, &p.workloads, &p.pods};
    for (uint32_t i = 0; i < COUNT_OF(maps); i++) {
        map_init(maps[i], arena);
    }
    const struct doc *m[MEMBERS_MAX];
    open_map(&p, NULL, root, &keys, m);
    if (problems->error_count > 0 && m[NODES] == NULL) {
        return;
    }
    out->id = text_of(&p, NULL, "id", m[ID]);
    out->area = text_of(&p, NULL, "area", m[AREA]);
    out->about = text_of(&p, NULL, "about", m[ABOUT]);
    out->rounds = num_u32(
        (uint64_t)number_of(&p, NULL, "rounds", m[ROUNDS], (struct range){1, 1, 10000, 1}));
    out->stable_rounds = num_u32(
        (uint64_t)count_of(&p, NULL, "stable_rounds", m[STABLE], 10000, 0));
    read_actions(&p, m[ACTIONS]);
    read_config(&p, m[CONFIG]);
    read_list(&p, STR("nodes"), m[NODES], read_node);
    read_list(&p, STR("queues"), m[QUEUES], read_queue);
    read_list(&p, STR("topologies"), m[TOPOLOGIES], read_topology);
    read_list(&p, STR("workloads"), m[WORKLOADS], read_workload);
    place_held(&p);
    read_list(&p, STR("budgets"), m[BUDGETS], read_budget);
    read_difference(&p, m[DIFFERS], m[KAI_EXPECT]);
    if (m[EXPECT] != NULL) {
        read_expect(&p, STR("expect"), m[EXPECT]);
    }
}

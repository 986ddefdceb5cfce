// SPDX-License-Identifier: Apache-2.0
// Running work is put where there is room, so that the cluster is consistent whatever the dice say;
// queues may be above their quota or limit, as they are after somebody has lowered one.
#include "sim/case_random.h"

#include "base/num.h"

#define NODE_CPU_MILLI      INT64_C(16000)
#define NODE_MEMORY_BYTES   INT64_C(16000000000)
#define DEVICE_MEMORY_BYTES (INT64_C(80000) * 1048576)

enum { NODES = 5, GANG_MAX = 4, RUNNING_MAX = 24 };

struct dice {
    struct case_world *w;
    struct prng *prng;
    struct case_random_options options;
    struct node_room {
        int64_t cpu_milli, memory_bytes, pods;
    } room[NODES];
    int64_t *device_share; /* [devices]: free */
    uint32_t leaf_first;   /* queues from here on are leaves */
};

static int64_t pick(struct dice *d, const int64_t *values, uint32_t count)
{
    return values[prng_below(d->prng, count)];
}
#define PICK(d, ...)                          \
    pick((d), (const int64_t[]){__VA_ARGS__}, \
         (uint32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))

static void random_nodes(struct dice *d)
{
    struct case_world *w = d->w;
    uint32_t count = (uint32_t)prng_range(d->prng, 1, NODES);
    int64_t gpus = PICK(d, 1, 2, 4, 4, 8);
    for (uint32_t n = 0; n < count; n++) {
        struct case_node node = {.name = arena_printf(w->arena, "n%u", n),
                                 .device_first = w->devices.count,
                                 .label_first = w->labels.count,
                                 .label_count = 1,
                                 .cpu_milli = NODE_CPU_MILLI,
                                 .memory_bytes = NODE_MEMORY_BYTES,
                                 .pods = prng_chance(d->prng, 100) ? 3 : 110};
        node.device_count = num_u32(
            (uint64_t)(prng_chance(d->prng, 200) ? PICK(d, 0, 1, 2, 4) : gpus));
        *ARRAY_PUSH(w->arena, &w->labels) = (struct case_label){CASE_NODE_LABEL, node.name};
        for (uint32_t i = 0; i < node.device_count; i++) {
            *ARRAY_PUSH(w->arena, &w->devices) = (struct case_device){
                .node = n, .ordinal = i, .memory_bytes = DEVICE_MEMORY_BYTES};
        }
        d->room[n] = (struct node_room){node.cpu_milli, node.memory_bytes, node.pods};
        *ARRAY_PUSH(w->arena, &w->nodes) = node;
    }
    d->device_share = ARENA_ARRAY(w->arena, int64_t, w->devices.count + 1);
    for (uint32_t i = 0; i < w->devices.count; i++) {
        d->device_share[i] = DEVICE_SHARE;
    }
}

static void random_queue(struct dice *d, struct str name, uint32_t parent)
{
    struct case_queue queue = {.name = name,
                               .parent = parent,
                               .priority = prng_chance(d->prng, 800) ? 100 : PICK(d, 50, 150),
                               .reclaim_min_runtime_ms = DURATION_UNSET,
                               .preempt_min_runtime_ms = DURATION_UNSET};
    for (int r = 0; r < RES_COUNT; r++) {
        queue.quota.v[r] = queue.limit.v[r] = AMOUNT_UNLIMITED;
        queue.weight_milli.v[r] = WEIGHT_ONE;
    }
    bool unlimited = parent == IX_NONE && prng_chance(d->prng, 500);
    queue.quota.v[RES_GPU] = unlimited ? AMOUNT_UNLIMITED
                                       : DEVICE_SHARE * PICK(d, 0, 1, 2, 2, 4, 8);
    queue.weight_milli.v[RES_GPU] = WEIGHT_ONE * PICK(d, 0, 1, 1, 2, 3);
    if (prng_chance(d->prng, 250)) {
        queue.limit.v[RES_GPU] = DEVICE_SHARE * PICK(d, 1, 2, 4, 6);
    }
    if (prng_chance(d->prng, 80)) {
        queue.limit.v[RES_CPU] = PICK(d, 2000, 8000);
    }
    *ARRAY_PUSH(d->w->arena, &d->w->queues) = queue;
}

static void random_queues(struct dice *d)
{
    uint32_t departments = (uint32_t)prng_range(d->prng, 1, 3);
    for (uint32_t i = 0; i < departments; i++) {
        random_queue(d, arena_printf(d->w->arena, "d%u", i), IX_NONE);
    }
    d->leaf_first = departments;
    uint32_t leaves = departments + (uint32_t)prng_range(d->prng, 0, 4);
    for (uint32_t i = 0; i < leaves; i++) {
        /* Every department gets one, so that each leaf of the tree is a project. */
        uint32_t parent = i < departments ? i : prng_below(d->prng, departments);
        random_queue(d, arena_printf(d->w->arena, "q%u", i), parent);
    }
}

static struct case_shape random_shape(struct dice *d)
{
    struct case_shape shape = {.gpu = GPU_WHOLE,
                               .device_count = num_u32((uint64_t)PICK(d, 1, 1, 1, 2, 4)),
                               .cpu_milli = prng_chance(d->prng, 100) ? 6000 : 1000,
                               .memory_bytes = 1000000000};
    if (prng_chance(d->prng, 80)) {
        shape.gpu = GPU_NONE;
        shape.device_count = 0;
    } else if (d->options.fractions && prng_chance(d->prng, 400)) {
        bool memory = prng_chance(d->prng, 300);
        shape.gpu = memory ? GPU_MEMORY : GPU_SHARE;
        shape.device_count = prng_chance(d->prng, 100) ? 2 : 1;
        shape.share = memory ? 0 : PICK(d, 700, 1750, 3500, 3500, 5250);
        shape.device_memory_bytes = memory ? PICK(d, 10000, 40000, 60000) * 1048576 : 0;
    }
    return shape;
}

/* A new workload with its shape, gang and pods, all pending. */
static uint32_t random_workload(struct dice *d, uint32_t pods_max)
{
    struct case_world *w = d->w;
    uint32_t ix = w->workloads.count;
    uint32_t pods = prng_chance(d->prng, 600) ? 1 : (uint32_t)prng_range(d->prng, 1, pods_max);
    bool elastic = prng_chance(d->prng, 300);
    bool preemptible = prng_chance(d->prng, 800);
    struct case_workload row = {
        .name = arena_printf(w->arena, "w%u", ix),
        .queue = (uint32_t)prng_range(d->prng, d->leaf_first, w->queues.count - 1),
        .priority = preemptible ? PICK(d, 50, 50, 50, 25, 75) : PICK(d, 100, 125),
        .preemptible = preemptible,
        .created_ms = w->now_ms - prng_range(d->prng, 1, 40) * 1000,
        .last_start_ms = TIME_NEVER,
        .last_evicted_ms = TIME_NEVER,
        .evicted_for = IX_NONE,
        .stale_since_ms = TIME_NEVER,
        .stale_grace_ms = 60000,
        .group_first = w->groups.count,
        .group_count = 1,
        .pod_first = w->pods.count,
        .pod_count = pods};
    *ARRAY_PUSH(w->arena, &w->groups) = (struct case_group){
        .name = STR("default"),
        .workload = ix,
        .parent = IX_NONE,
        .is_pod_set = true,
        .min = elastic ? (uint32_t)prng_range(d->prng, 1, pods) : pods,
        .topology = IX_NONE,
        .required = IX_NONE,
        .preferred = IX_NONE};
    for (uint32_t i = 0; i < pods; i++) {
        *ARRAY_PUSH(w->arena,
                    &w->pods) = (struct case_pod){.name = arena_printf(w->arena, "w%u-%u", ix, i),
                                                  .workload = ix,
                                                  .group = row.group_first,
                                                  .shape = w->shapes.count,
                                                  .nominated_node = IX_NONE,
                                                  .node = IX_NONE};
    }
    *ARRAY_PUSH(w->arena, &w->shapes) = random_shape(d);
    *ARRAY_PUSH(w->arena, &w->workloads) = row;
    return ix;
}

static int64_t share_of(const struct case_shape *shape)
{
    return shape->gpu == GPU_WHOLE ? DEVICE_SHARE
           : shape->gpu == GPU_SHARE
               ? shape->share
               : num_muldiv_ceil(shape->device_memory_bytes, DEVICE_SHARE, DEVICE_MEMORY_BYTES);
}

/* Puts a pod on the first node from `first` on that has room; false when none has. */
static bool put(struct dice *d, uint32_t ix, uint32_t first)
{
    struct case_world *w = d->w;
    struct case_pod *pod = &w->pods.items[ix];
    const struct case_shape *shape = &w->shapes.items[pod->shape];
    for (uint32_t k = 0; k < w->nodes.count; k++) {
        uint32_t n = (first + k) % w->nodes.count;
        struct node_room *room = &d->room[n];
        const struct case_node *node = &w->nodes.items[n];
        int64_t share = shape->gpu == GPU_NONE ? 0 : share_of(shape);
        uint32_t fits = 0;
        for (uint32_t i = 0; i < node->device_count; i++) {
            fits += d->device_share[node->device_first + i] >= share ? 1 : 0;
        }
        if (fits < shape->device_count || room->cpu_milli < shape->cpu_milli ||
            room->memory_bytes < shape->memory_bytes || room->pods == 0) {
            continue;
        }
        room->cpu_milli -= shape->cpu_milli;
        room->memory_bytes -= shape->memory_bytes;
        room->pods--;
        pod->state = CASE_RUNNING;
        pod->node = n;
        pod->hold_first = w->holds.count;
        for (uint32_t i = 0; pod->hold_count < shape->device_count; i++) {
            uint32_t device = node->device_first + i;
            if (d->device_share[device] >= share) {
                d->device_share[device] -= share;
                *ARRAY_PUSH(w->arena, &w->holds) = (struct case_hold){
                    .device = device, .share = share, .bytes = shape->device_memory_bytes};
                pod->hold_count++;
            }
        }
        return true;
    }
    return false;
}

/* Runs as many pods of a workload as there is room for; when that is not its minimum, those that
 * were put are over by now. */
static bool run(struct dice *d, uint32_t ix)
{
    struct case_world *w = d->w;
    const struct case_workload *workload = &w->workloads.items[ix];
    const struct case_group *group = &w->groups.items[workload->group_first];
    uint32_t put_count = 0;
    for (uint32_t i = 0; i < workload->pod_count; i++) {
        uint32_t nth = ix % 2 == 0 ? i : workload->pod_count - 1 - i; /* those that wait: any */
        put_count += put(d, workload->pod_first + nth, prng_below(d->prng, w->nodes.count)) ? 1 : 0;
    }
    bool complete = put_count >= group->min;
    for (uint32_t i = 0; i < workload->pod_count; i++) {
        struct case_pod *pod = &w->pods.items[workload->pod_first + i];
        if (!complete || pod->state != CASE_RUNNING) {
            pod->state = complete ? CASE_PENDING : CASE_SUCCEEDED;
            pod->node = IX_NONE;
            pod->hold_count = 0;
        }
    }
    w->workloads.items[ix].last_start_ms = complete ? workload->created_ms : TIME_NEVER;
    return complete;
}

static void random_states(struct dice *d, uint32_t ix)
{
    struct case_world *w = d->w;
    const struct case_workload *workload = &w->workloads.items[ix];
    uint32_t kind = prng_below(d->prng, 20);
    for (uint32_t i = 0; i < workload->pod_count && kind == 0; i++) {
        struct case_pod *pod = &w->pods.items[workload->pod_first + i];
        pod->state = pod->state == CASE_RUNNING ? CASE_RELEASING : pod->state;
    }
}

static bool waits_as_a_whole(const struct case_world *w, const struct case_workload *workload)
{
    for (uint32_t i = 0; i < workload->pod_count; i++) {
        if (w->pods.items[workload->pod_first + i].state != CASE_PENDING) {
            return false;
        }
    }
    return true;
}

/* Two zones a node, each with half of what there is; some of what waits wants one. */
static void random_zones(struct dice *d)
{
    struct case_world *w = d->w;
    for (uint32_t n = 0; n < w->nodes.count; n++) {
        struct case_node *node = &w->nodes.items[n];
        node->zone_first = w->zones.count;
        node->zone_count = 2;
        for (uint32_t z = 0; z < 2; z++) {
            *ARRAY_PUSH(w->arena, &w->zones) = (struct case_zone){node->cpu_milli / 2,
                                                                  node->memory_bytes};
        }
        for (uint32_t i = 0; i < node->device_count; i++) {
            w->devices.items[node->device_first + i].zone = i >= node->device_count / 2;
        }
    }
    for (uint32_t i = 0; i < w->workloads.count; i++) {
        const struct case_workload *workload = &w->workloads.items[i];
        if (waits_as_a_whole(w, workload) && prng_chance(d->prng, 400)) {
            w->shapes.items[w->pods.items[workload->pod_first].shape].single_numa = true;
        }
    }
}

static void random_budget(struct dice *d)
{
    struct case_world *w = d->w;
    struct case_budget budget = {.name = arena_printf(w->arena, "b%u", w->budgets.count),
                                 .pod_first = w->budget_pods.count};
    for (uint32_t i = 0; i < w->pods.count; i++) {
        if (prng_chance(d->prng, 300)) {
            *ARRAY_PUSH(w->arena, &w->budget_pods) = i;
            budget.pod_count++;
        }
    }
    budget.available_min = prng_below(d->prng, budget.pod_count + 1);
    *ARRAY_PUSH(w->arena, &w->budgets) = budget;
}

/* ---- where work may not go, and when ---- */

#define RACK  STR("rack")
#define TAINT STR("special")

/* Every node is in a rack; some are closed, or open only to work that tolerates it. */
static void constrain_nodes(struct dice *d)
{
    struct case_world *w = d->w;
    for (uint32_t n = 0; n < w->nodes.count; n++) {
        struct case_node *node = &w->nodes.items[n];
        node->label_first = w->labels.count;
        node->label_count = 2;
        *ARRAY_PUSH(w->arena, &w->labels) = (struct case_label){CASE_NODE_LABEL, node->name};
        *ARRAY_PUSH(w->arena,
                    &w->labels) = (struct case_label){RACK, arena_printf(w->arena, "r%u", n / 2)};
        node->cordoned = prng_chance(d->prng, 150);
        if (prng_chance(d->prng, 200)) {
            node->taint_first = w->keys.count;
            node->taint_count = 1;
            *ARRAY_PUSH(w->arena, &w->keys) = TAINT;
        }
    }
    bool *used = ARENA_ARRAY(w->arena, bool, w->devices.count + 1);
    for (uint32_t h = 0; h < w->holds.count; h++) {
        used[w->holds.items[h].device] = true;
    }
    for (uint32_t i = 0; i < w->devices.count; i++) {
        w->devices.items[i].sick = !used[i] && prng_chance(d->prng, 300);
    }
    struct case_topology topology = {STR("t"), w->keys.count, 1};
    *ARRAY_PUSH(w->arena, &w->keys) = RACK;
    *ARRAY_PUSH(w->arena, &w->topologies) = topology;
}

static void constrain_workload(struct dice *d, const struct case_workload *workload)
{
    struct case_world *w = d->w;
    struct case_shape *shape = &w->shapes.items[w->pods.items[workload->pod_first].shape];
    if (prng_chance(d->prng, 250)) {
        shape->only_nodes = true;
        shape->node_first = w->keys.count;
        shape->node_count = 1;
        *ARRAY_PUSH(w->arena, &w->keys) = w->nodes.items[prng_below(d->prng, w->nodes.count)].name;
    }
    if (prng_chance(d->prng, 300)) {
        shape->tolerates_first = w->keys.count;
        shape->tolerates_count = 1;
        *ARRAY_PUSH(w->arena, &w->keys) = TAINT;
    }
    if (shape->label_count > 0 && prng_chance(d->prng, 600)) {
        bool apart = prng_chance(d->prng, 600);
        *(apart ? &shape->anti_affinity_key : &shape->affinity_key) = RACK;
    }
    struct case_group *group = &w->groups.items[workload->group_first];
    if (prng_chance(d->prng, 300)) {
        group->topology = 0;
        group->required = 0;
    }
}

/* Of what waits; what runs is where it is. */
static void random_constraints(struct dice *d)
{
    struct case_world *w = d->w;
    constrain_nodes(d);
    for (uint32_t i = 0; i < w->workloads.count; i++) {
        struct case_workload *workload = &w->workloads.items[i];
        struct case_shape *shape = &w->shapes.items[w->pods.items[workload->pod_first].shape];
        if (prng_chance(d->prng, 400)) {
            shape->label_first = w->labels.count;
            shape->label_count = 1;
            *ARRAY_PUSH(w->arena, &w->labels) = (struct case_label){
                STR("app"), prng_chance(d->prng, 500) ? STR("a") : STR("b")};
        }
        if (waits_as_a_whole(w, workload)) {
            constrain_workload(d, workload);
            workload->preemption_delay_ms = prng_chance(d->prng, 100) ? 30000 : 0;
        }
    }
    for (uint32_t q = 0; q < w->queues.count; q++) {
        struct case_queue *queue = &w->queues.items[q];
        queue->reclaim_min_runtime_ms = prng_chance(d->prng, 150) ? 60000 : DURATION_UNSET;
        queue->preempt_min_runtime_ms = prng_chance(d->prng, 150) ? 90000 : DURATION_UNSET;
    }
}

static void random_more(struct dice *d)
{
    struct case_world *w = d->w;
    w->nodes.items[prng_below(d->prng, w->nodes.count)].draining = prng_chance(d->prng, 300);
    if (w->devices.count > 0) {
        struct case_device *device = &w->devices.items[prng_below(d->prng, w->devices.count)];
        device->draining = prng_chance(d->prng, 300);
    }
    if (prng_chance(d->prng, 500)) {
        random_zones(d);
    }
    for (uint32_t i = 0; i < w->workloads.count; i++) {
        struct case_workload *workload = &w->workloads.items[i];
        workload->duration_ms = prng_chance(d->prng, 500) ? prng_range(d->prng, 1, 100) * 1000 : 0;
        if (workload->last_start_ms != TIME_NEVER && prng_chance(d->prng, 300)) {
            workload->checkpoint_ms = w->now_ms - prng_range(d->prng, 0, 40) * 1000;
        }
    }
    w->config.reservation_after_ms = prng_chance(d->prng, 500) ? 10000 : 0;
    w->config.gpu_placement = prng_chance(d->prng, 300) ? PLACEMENT_PACK : PLACEMENT_BINPACK;
    for (uint32_t i = prng_below(d->prng, 3); i > 0; i--) {
        random_budget(d);
    }
}

void case_random(struct case_world *w, struct prng *prng, struct case_random_options options)
{
    struct dice d = {.w = w, .prng = prng, .options = options};
    random_nodes(&d);
    random_queues(&d);
    uint32_t running = options.full ? RUNNING_MAX : prng_below(prng, RUNNING_MAX);
    for (uint32_t i = 0; i < running; i++) {
        uint32_t ix = random_workload(&d, GANG_MAX);
        if (run(&d, ix) && !options.full) {
            random_states(&d, ix);
        }
    }
    uint32_t pending = options.pending_max == 0
                           ? 0
                           : (uint32_t)prng_range(prng, 1, options.pending_max);
    for (uint32_t i = 0; i < pending; i++) {
        uint32_t ix = random_workload(&d, GANG_MAX);
        if (options.pending_max > 1 && prng_chance(prng, 50)) {
            w->pods.items[w->workloads.items[ix].pod_first].state = CASE_GATED;
        }
    }
    if (options.more) {
        random_more(&d);
    }
    if (options.constraints) {
        random_constraints(&d);
    }
}

/* ---- as a case file ---- */

static void write_entitlement(const struct case_queue *queue, enum resource r, struct jw *out)
{
    static const struct str names[RES_COUNT] = {STRS("gpu"), STRS("cpu"), STRS("memory")};
    int64_t unit = r == RES_GPU ? DEVICE_SHARE : 1;
    jw_key(out, names[r]);
    jw_object_begin(out);
    int64_t quota = queue->quota.v[r];
    int64_t limit = queue->limit.v[r];
    jw_member_i64(out, STR("quota"), quota < 0 ? -1 : quota / unit);
    jw_member_i64(out, STR("limit"), limit < 0 ? -1 : limit / unit);
    jw_member_i64(out, STR("over_quota_weight"), queue->weight_milli.v[r] / WEIGHT_ONE);
    jw_object_end(out);
}

static void write_names(const struct case_world *w, struct str key, uint32_t first, uint32_t count,
                        struct jw *out)
{
    jw_key(out, key);
    jw_array_begin(out);
    for (uint32_t i = first; i < first + count; i++) {
        jw_string(out, w->keys.items[i]);
    }
    jw_array_end(out);
}

static void write_labels(const struct case_world *w, uint32_t first, uint32_t count, struct jw *out)
{
    jw_key(out, STR("labels"));
    jw_object_begin(out);
    for (uint32_t i = first; i < first + count; i++) {
        if (!str_eq(w->labels.items[i].key, CASE_NODE_LABEL)) {
            jw_member_string(out, w->labels.items[i].key, w->labels.items[i].value);
        }
    }
    jw_object_end(out);
}

static void write_constraints(const struct case_world *w, const struct case_shape *shape,
                              struct jw *out)
{
    if (shape->only_nodes) {
        write_names(w, STR("node_affinity"), shape->node_first, shape->node_count, out);
    }
    if (shape->tolerates_count > 0) {
        write_names(w, STR("tolerates"), shape->tolerates_first, shape->tolerates_count, out);
    }
    if (shape->label_count > 0) {
        write_labels(w, shape->label_first, shape->label_count, out);
    }
    if (shape->affinity_key.len > 0) {
        jw_member_string(out, STR("affinity_key"), shape->affinity_key);
    }
    if (shape->anti_affinity_key.len > 0) {
        jw_member_string(out, STR("anti_affinity_key"), shape->anti_affinity_key);
    }
}

static void write_pod(const struct case_world *w, const struct case_pod *pod, struct jw *out)
{
    jw_object_begin(out);
    jw_member_string(out, STR("name"), pod->name);
    jw_member_string(out, STR("state"), case_pod_state_name(pod->state));
    if (pod->node != IX_NONE) {
        jw_member_string(out, STR("node"), w->nodes.items[pod->node].name);
        jw_key(out, STR("devices"));
        jw_array_begin(out);
        for (uint32_t h = 0; h < pod->hold_count; h++) {
            char digit =
                (char)('0' + w->devices.items[w->holds.items[pod->hold_first + h].device].ordinal);
            jw_string(out, (struct str){&digit, 1});
        }
        jw_array_end(out);
    }
    write_constraints(w, &w->shapes.items[pod->shape], out);
    jw_object_end(out);
}

static void write_workload(const struct case_world *w, const struct case_workload *workload,
                           struct jw *out)
{
    const struct case_shape *shape = &w->shapes.items[w->pods.items[workload->pod_first].shape];
    const struct case_group *group = &w->groups.items[workload->group_first];
    jw_object_begin(out);
    jw_member_string(out, STR("name"), workload->name);
    jw_member_string(out, STR("queue"), w->queues.items[workload->queue].name);
    jw_member_i64(out, STR("priority"), workload->priority);
    jw_member_bool(out, STR("preemptible"), workload->preemptible);
    jw_member_i64(out, STR("created_s"), (workload->created_ms - w->now_ms) / 1000);
    if (workload->duration_ms > 0) {
        jw_member_i64(out, STR("duration_s"), workload->duration_ms / 1000);
    }
    if (workload->preemption_delay_ms > 0) {
        jw_member_i64(out, STR("preemption_delay_s"), workload->preemption_delay_ms / 1000);
    }
    if (workload->checkpoint_ms > 0) {
        jw_member_i64(out, STR("checkpoint_s"), (workload->checkpoint_ms - w->now_ms) / 1000);
    }
    jw_member_bool(out, STR("single_numa"), shape->single_numa);
    jw_member_i64(out, STR("cpu_milli"), shape->cpu_milli);
    jw_member_i64(out, STR("memory_bytes"), shape->memory_bytes);
    if (shape->gpu == GPU_MEMORY) {
        jw_member_i64(out, STR("gpu_memory_mib"), shape->device_memory_bytes / 1048576);
    } else {
        jw_key(out, STR("gpu"));
        jw_decimal(out,
                   shape->gpu == GPU_SHARE ? shape->share / 7 : (int64_t)shape->device_count * 1000,
                   3);
    }
    if (shape->gpu == GPU_MEMORY || shape->gpu == GPU_SHARE) {
        jw_member_i64(out, STR("gpu_devices"), shape->device_count);
    }
    jw_key(out, STR("group"));
    jw_object_begin(out);
    jw_member_string(out, STR("name"), STR(""));
    jw_key(out, STR("pods"));
    jw_array_begin(out);
    jw_object_begin(out);
    jw_member_string(out, STR("name"), group->name);
    jw_member_i64(out, STR("min"), group->min);
    if (group->topology != IX_NONE) {
        const struct case_topology *t = &w->topologies.items[group->topology];
        jw_key(out, STR("topology"));
        jw_object_begin(out);
        jw_member_string(out, STR("name"), t->name);
        if (group->required != IX_NONE) {
            jw_member_string(out, STR("required"), w->keys.items[t->level_first + group->required]);
        }
        jw_object_end(out);
    }
    jw_object_end(out);
    jw_array_end(out);
    jw_object_end(out);
    jw_key(out, STR("pods"));
    jw_array_begin(out);
    for (uint32_t i = 0; i < workload->pod_count; i++) {
        write_pod(w, &w->pods.items[workload->pod_first + i], out);
    }
    jw_array_end(out);
    jw_object_end(out);
}

static void write_zones(const struct case_world *w, const struct case_node *node, struct jw *out)
{
    jw_key(out, STR("numa"));
    jw_array_begin(out);
    for (uint32_t z = 0; z < node->zone_count; z++) {
        int64_t gpus = 0;
        for (uint32_t i = 0; i < node->device_count; i++) {
            gpus += w->devices.items[node->device_first + i].zone == z;
        }
        jw_object_begin(out);
        jw_member_i64(out, STR("gpus"), gpus);
        jw_member_i64(out, STR("cpu_milli"), w->zones.items[node->zone_first + z].cpu_milli);
        jw_object_end(out);
    }
    jw_array_end(out);
}

static void write_budgets(const struct case_world *w, struct jw *out)
{
    jw_key(out, STR("budgets"));
    jw_array_begin(out);
    for (uint32_t i = 0; i < w->budgets.count; i++) {
        const struct case_budget *budget = &w->budgets.items[i];
        jw_object_begin(out);
        jw_member_string(out, STR("name"), budget->name);
        jw_member_i64(out, STR("min_available"), budget->available_min);
        jw_key(out, STR("pods"));
        jw_array_begin(out);
        for (uint32_t k = budget->pod_first; k < budget->pod_first + budget->pod_count; k++) {
            jw_string(out, w->pods.items[w->budget_pods.items[k]].name);
        }
        jw_array_end(out);
        jw_object_end(out);
    }
    jw_array_end(out);
}

static void write_node(const struct case_world *w, const struct case_node *node, struct jw *out)
{
    jw_object_begin(out);
    jw_member_bool(out, STR("draining"), node->draining);
    jw_member_bool(out, STR("cordoned"), node->cordoned);
    write_names(w, STR("taints"), node->taint_first, node->taint_count, out);
    write_labels(w, node->label_first, node->label_count, out);
    jw_key(out, STR("sick_devices"));
    jw_array_begin(out);
    for (uint32_t i = 0; i < node->device_count; i++) {
        if (w->devices.items[node->device_first + i].sick) {
            jw_i64(out, i);
        }
    }
    jw_array_end(out);
    jw_key(out, STR("draining_devices"));
    jw_array_begin(out);
    for (uint32_t i = node->device_first; i < node->device_first + node->device_count; i++) {
        if (w->devices.items[i].draining) {
            jw_i64(out, w->devices.items[i].ordinal);
        }
    }
    jw_array_end(out);
    write_zones(w, node, out);
    jw_member_string(out, STR("name"), node->name);
    jw_member_i64(out, STR("gpus"), node->device_count);
    jw_member_i64(out, STR("gpu_memory_mib"), DEVICE_MEMORY_BYTES / 1048576);
    jw_member_i64(out, STR("cpu_milli"), node->cpu_milli);
    jw_member_i64(out, STR("memory_bytes"), node->memory_bytes);
    jw_member_i64(out, STR("max_pods"), node->pods);
    jw_object_end(out);
}

void case_random_to_json(const struct case_world *w, struct str id, struct jw *out)
{
    jw_object_begin(out);
    jw_member_string(out, STR("id"), id);
    jw_member_string(out, STR("area"), STR("cycle"));
    jw_key(out, STR("actions"));
    jw_raw(out,
           STR("[\"allocate\",\"consolidation\",\"reclaim\",\"preempt\",\"stalegangeviction\"]"));
    jw_member_i64(out, STR("rounds"), 1);
    jw_member_i64(out, STR("stable_rounds"), 0);
    jw_key(out, STR("config"));
    jw_object_begin(out);
    if (w->config.gpu_placement == PLACEMENT_PACK) {
        jw_key(out, STR("placement"));
        jw_object_begin(out);
        jw_member_string(out, STR("gpu"), STR("pack"));
        jw_object_end(out);
    }
    if (w->config.reservation_after_ms > 0) {
        jw_member_i64(out, STR("reservation_after_s"), w->config.reservation_after_ms / 1000);
    }
    jw_object_end(out);
    write_budgets(w, out);
    jw_key(out, STR("topologies"));
    jw_array_begin(out);
    for (uint32_t i = 0; i < w->topologies.count; i++) {
        const struct case_topology *t = &w->topologies.items[i];
        jw_object_begin(out);
        jw_member_string(out, STR("name"), t->name);
        write_names(w, STR("levels"), t->level_first, t->level_count, out);
        jw_object_end(out);
    }
    jw_array_end(out);
    jw_key(out, STR("nodes"));
    jw_array_begin(out);
    for (uint32_t i = 0; i < w->nodes.count; i++) {
        write_node(w, &w->nodes.items[i], out);
    }
    jw_array_end(out);
    jw_key(out, STR("queues"));
    jw_array_begin(out);
    for (uint32_t i = 0; i < w->queues.count; i++) {
        const struct case_queue *queue = &w->queues.items[i];
        jw_object_begin(out);
        jw_member_string(out, STR("name"), queue->name);
        if (queue->parent != IX_NONE) {
            jw_member_string(out, STR("parent"), w->queues.items[queue->parent].name);
        }
        jw_member_i64(out, STR("priority"), queue->priority);
        if (queue->reclaim_min_runtime_ms != DURATION_UNSET) {
            jw_member_i64(out, STR("reclaim_min_runtime_s"), queue->reclaim_min_runtime_ms / 1000);
        }
        if (queue->preempt_min_runtime_ms != DURATION_UNSET) {
            jw_member_i64(out, STR("preempt_min_runtime_s"), queue->preempt_min_runtime_ms / 1000);
        }
        for (int r = 0; r < RES_COUNT; r++) {
            write_entitlement(queue, (enum resource)r, out);
        }
        jw_object_end(out);
    }
    jw_array_end(out);
    jw_key(out, STR("workloads"));
    jw_array_begin(out);
    for (uint32_t i = 0; i < w->workloads.count; i++) {
        write_workload(w, &w->workloads.items[i], out);
    }
    jw_array_end(out);
    jw_key(out, STR("expect"));
    jw_object_begin(out);
    jw_object_end(out);
    jw_object_end(out);
}

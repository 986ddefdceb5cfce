// SPDX-License-Identifier: Apache-2.0
// Reads workloads: what their pods ask for, their gangs, and which devices running pods hold.
#include "sim/case_read.h"

#include "base/num.h"

#define POD_CPU_MILLI_DEFAULT    INT64_C(1000)
#define POD_MEMORY_BYTES_DEFAULT INT64_C(1000000000)
#define STALE_GRACE_MS_DEFAULT   INT64_C(60000)
#define MIB                      INT64_C(1048576)

/* ---- gangs ---- */

static uint32_t level_of(struct parsing *p, const struct at *at, const char *key,
                         const struct doc *d, uint32_t topology)
{
    const struct case_world *w = &p->c->world;
    struct str name = text_of(p, at, key, d);
    if (d == NULL || topology == IX_NONE) {
        return IX_NONE;
    }
    const struct case_topology *t = &w->topologies.items[topology];
    for (uint32_t l = 0; l < t->level_count; l++) {
        if (str_eq(w->keys.items[t->level_first + l], name)) {
            return l;
        }
    }
    PROBLEM(p, at, d, "topology \"" STR_FMT "\" has no level \"" STR_FMT "\"", STR_ARG(t->name),
            STR_ARG(name));
    return IX_NONE;
}

static void read_group_topology(struct parsing *p, const struct at *up, const struct doc *d,
                                struct case_group *group)
{
    enum { NAME, REQUIRED, PREFERRED, COUNT };
    static const struct keys keys = {
        1, COUNT, {STRS("name"), STRS("required"), STRS("preferred")}
    };
    const struct at at = {up, STR("topology"), 0};
    const struct doc *m[MEMBERS_MAX];
    group->topology = group->required = group->preferred = IX_NONE;
    if (d == NULL || d->kind == DOC_NULL) {
        return;
    }
    open_map(p, &at, d, &keys, m);
    group->topology = index_of(p, &at, "name", m[NAME], &p->topologies, "topology");
    group->required = level_of(p, &at, "required", m[REQUIRED], group->topology);
    group->preferred = level_of(p, &at, "preferred", m[PREFERRED], group->topology);
}

static void read_pod_set(struct parsing *p, const struct at *at, const struct doc *d,
                         uint32_t workload, uint32_t parent)
{
    enum { NAME, MIN, TOPOLOGY, COUNT };
    static const struct keys keys = {
        2, COUNT, {STRS("name"), STRS("min"), STRS("topology")}
    };
    const struct doc *m[MEMBERS_MAX];
    struct case_world *w = &p->c->world;
    open_map(p, at, d, &keys, m);
    struct case_group group = {
        .name = text_of(p, at, "name", m[NAME]),
        .workload = workload,
        .parent = parent,
        .is_pod_set = true,
        .min = num_u32((uint64_t)count_of(p, at, "min", m[MIN], TASKS_MAX, 0))};
    read_group_topology(p, at, m[TOPOLOGY], &group);
    *ARRAY_PUSH(p->arena, &w->groups) = group;
}

/* A group whose members are still to be read. */
struct open_group {
    const struct doc *doc;
    const struct at *at;
    uint32_t parent;
};

static const struct at *step(struct parsing *p, const struct at *up, struct str key, uint32_t index)
{
    struct at *at = ARENA_NEW(p->arena, struct at);
    *at = (struct at){up, key, index};
    return at;
}

/* Breadth first: parents come before their children. */
static void read_gang(struct parsing *p, const struct at *up, const struct doc *d,
                      uint32_t workload)
{
    enum { NAME, MIN_GROUPS, TOPOLOGY, GROUPS, PODS, COUNT };
    static const struct keys keys = {
        1,
        COUNT,
        {STRS("name"), STRS("min_groups"), STRS("topology"), STRS("groups"), STRS("pods")}
    };
    struct case_world *w = &p->c->world;
    ARRAY(struct open_group) todo = {0};
    *ARRAY_PUSH(p->arena, &todo) = (struct open_group){d, step(p, up, STR("group"), 0), IX_NONE};
    for (uint32_t next = 0; next < todo.count; next++) {
        const struct open_group open = todo.items[next];
        const struct doc *m[MEMBERS_MAX];
        open_map(p, open.at, open.doc, &keys, m);
        uint32_t ix = w->groups.count;
        struct case_group group = {
            .name = text_of(p, open.at, "name", m[NAME]),
            .workload = workload,
            .parent = open.parent,
            .min = num_u32((uint64_t)count_of(p, open.at, "min_groups", m[MIN_GROUPS], TASKS_MAX,
                                              GROUP_MIN_ALL))};
        read_group_topology(p, open.at, m[TOPOLOGY], &group);
        *ARRAY_PUSH(p->arena, &w->groups) = group;

        uint32_t index = 0;
        const struct at *in = step(p, open.at, STR("groups"), 0);
        for (const struct doc *g = list_of(p, in, m[GROUPS]); g; g = g->next) {
            *ARRAY_PUSH(p->arena, &todo) = (struct open_group){g, step(p, in, STR(""), index++),
                                                               ix};
        }
        index = 0;
        in = step(p, open.at, STR("pods"), 0);
        for (const struct doc *s = list_of(p, in, m[PODS]); s; s = s->next) {
            const struct at item = {in, STR(""), index++};
            read_pod_set(p, &item, s, workload, ix);
        }
    }
}

/* ---- pods ---- */

/* The words of a workload that its pods take over. */
struct pod_defaults {
    struct case_shape shape;
    uint32_t shape_ix;
    bool shape_made;
};

static void read_gpu(struct parsing *p, const struct at *at, const struct doc *gpu,
                     const struct doc *memory, const struct doc *devices, struct case_shape *shape)
{
    const struct at at_devices = {at, STR("gpu_devices"), 0};
    int64_t share = number_of(p, at, "gpu", gpu,
                              (struct range){DEVICE_SHARE, 0, NODE_SHARES_MAX, 0});
    int64_t bytes = number_of(p, at, "gpu_memory_mib", memory,
                              (struct range){MIB, 1, AMOUNT_MAX, 0});
    int64_t count = number_of(p, at, "gpu_devices", devices,
                              (struct range){1, 1, NODE_DEVICES_MAX, 1});
    const struct at at_gpu = {at, STR("gpu"), 0};
    if (gpu != NULL && memory != NULL) {
        PROBLEM(p, &at_gpu, gpu, "give gpu or gpu_memory_mib, not both");
    }
    shape->share = 0;
    shape->device_memory_bytes = 0;
    shape->device_count = num_u32((uint64_t)count);
    if (memory != NULL) {
        shape->gpu = GPU_MEMORY;
        shape->device_memory_bytes = bytes;
    } else if (share > 0 && share < DEVICE_SHARE) {
        shape->gpu = GPU_SHARE;
        shape->share = share;
    } else {
        if (share % DEVICE_SHARE != 0) {
            PROBLEM(p, &at_gpu, gpu, STR_FMT " is neither whole nor below 1", STR_ARG(gpu->text));
        }
        if (devices != NULL) {
            PROBLEM(p, &at_devices, devices, "goes with a fraction or gpu_memory_mib only");
        }
        shape->gpu = share == 0 ? GPU_NONE : GPU_WHOLE;
        shape->device_count = num_u32((uint64_t)(share / DEVICE_SHARE));
    }
}

/* The pod set a pod without `group` belongs to. */
static uint32_t default_group(struct case_world *w, struct arena *arena, uint32_t workload)
{
    struct case_workload *row = &w->workloads.items[workload];
    for (uint32_t g = row->group_first; g < w->groups.count; g++) {
        if (w->groups.items[g].is_pod_set && str_eq(w->groups.items[g].name, STR("default"))) {
            return g;
        }
    }
    bool alone = w->groups.count == row->group_first;
    *ARRAY_PUSH(arena,
                &w->groups) = (struct case_group){.name = STR("default"),
                                                  .workload = workload,
                                                  .parent = alone ? IX_NONE : row->group_first,
                                                  .is_pod_set = true,
                                                  .topology = IX_NONE,
                                                  .required = IX_NONE,
                                                  .preferred = IX_NONE};
    return w->groups.count - 1;
}

static uint32_t group_of(struct parsing *p, const struct at *up, const struct doc *d,
                         uint32_t workload, uint32_t listed_count)
{
    const struct at at = {up, STR("group"), 0};
    struct case_world *w = &p->c->world;
    struct str name = text_of(p, up, "group", d);
    uint32_t first = w->workloads.items[workload].group_first;
    for (uint32_t g = first; d != NULL && g < first + listed_count; g++) {
        if (w->groups.items[g].is_pod_set && str_eq(w->groups.items[g].name, name)) {
            return g;
        }
    }
    if (d != NULL) {
        PROBLEM(p, &at, d, "the gang has no pods named \"" STR_FMT "\"", STR_ARG(name));
    }
    uint32_t g = default_group(w, p->arena, workload);
    if (g >= first + listed_count) { /* not listed: all of these are needed */
        w->groups.items[g].min++;
    }
    return g;
}

enum pod_key {
    POD_NAME,
    POD_STATE,
    POD_NODE,
    POD_DEVICES,
    POD_GROUP,
    POD_GPU,
    POD_PRIORITY,
    POD_NODE_AFFINITY,
    POD_LABELS,
    POD_AFFINITY,
    POD_ANTI_AFFINITY,
    POD_MIG,
    POD_RETURNS,
    POD_TOLERATES,
    POD_NOMINATED,
    POD_NUMA,
    POD_KEY_COUNT
};

/* The shape of a pod: that of its workload unless it says something of its own. */
static uint32_t pod_shape(struct parsing *p, const struct at *at, const struct doc **m,
                          struct pod_defaults *defaults)
{
    struct case_world *w = &p->c->world;
    bool own = m[POD_GPU] || m[POD_NODE_AFFINITY] || m[POD_LABELS] || m[POD_AFFINITY] ||
               m[POD_ANTI_AFFINITY] || m[POD_MIG] || m[POD_TOLERATES];
    if (!own && defaults->shape_made) {
        return defaults->shape_ix;
    }
    struct case_shape shape = defaults->shape;
    if (m[POD_GPU]) {
        read_gpu(p, at, m[POD_GPU], NULL, NULL, &shape);
    }
    if (m[POD_NODE_AFFINITY]) {
        shape.only_nodes = true;
        read_names(p, at, "node_affinity", m[POD_NODE_AFFINITY], &shape.node_first,
                   &shape.node_count);
    }
    read_names(p, at, "tolerates", m[POD_TOLERATES], &shape.tolerates_first,
               &shape.tolerates_count);
    read_labels(p, at, m[POD_LABELS], &shape.label_first, &shape.label_count);
    read_mig(p, at, m[POD_MIG], &shape.mig_first, &shape.mig_count);
    shape.affinity_key = text_of(p, at, "affinity_key", m[POD_AFFINITY]);
    shape.anti_affinity_key = text_of(p, at, "anti_affinity_key", m[POD_ANTI_AFFINITY]);
    if (!own) {
        defaults->shape_made = true;
        defaults->shape_ix = w->shapes.count;
    }
    *ARRAY_PUSH(p->arena, &w->shapes) = shape;
    return w->shapes.count - 1;
}

static void read_pod(struct parsing *p, const struct at *at, const struct doc *d, uint32_t workload,
                     uint32_t listed_count, struct pod_defaults *defaults)
{
    static const struct keys keys = {
        2,
        POD_KEY_COUNT,
        {STRS("name"), STRS("state"), STRS("node"), STRS("devices"), STRS("group"), STRS("gpu"),
          STRS("priority"), STRS("node_affinity"), STRS("labels"), STRS("affinity_key"),
          STRS("anti_affinity_key"), STRS("mig"), STRS("returns"), STRS("tolerates"),
          STRS("nominated_node"), STRS("numa")}
    };
    static const struct str states[] = {STRS("pending"),   STRS("gated"),     STRS("running"),
                                        STRS("releasing"), STRS("succeeded"), STRS("failed"),
                                        STRS("pipelined")};
    const struct doc *m[MEMBERS_MAX];
    struct case_world *w = &p->c->world;
    open_map(p, at, d, &keys, m);

    uint32_t state = word_of(p, at, "state", m[POD_STATE], states, COUNT_OF(states));
    struct case_pod pod = {
        .name = text_of(p, at, "name", m[POD_NAME]),
        .workload = workload,
        .group = group_of(p, at, m[POD_GROUP], workload, listed_count),
        .shape = pod_shape(p, at, m, defaults),
        .order = number_of(p, at, "priority", m[POD_PRIORITY],
                           (struct range){1, -AMOUNT_MAX, AMOUNT_MAX, 0}),
        .state = (enum case_pod_state)state, /* states[] is in its order */
        .nominated_node = index_of(p, at, "nominated_node", m[POD_NOMINATED], &p->nodes, "node"),
        .returns = bool_of(p, at, "returns", m[POD_RETURNS], false),
        .node = index_of(p, at, "node", m[POD_NODE], &p->nodes, "node")};
    uint32_t zones = pod.node == IX_NONE ? 0 : w->nodes.items[pod.node].zone_count;
    pod.zone = num_u32(
        (uint64_t)count_of(p, at, "numa", m[POD_NUMA], zones > 0 ? (int64_t)zones - 1 : 0, 0));
    if (pod.returns && pod.state != CASE_RELEASING) {
        PROBLEM(p, at, m[POD_RETURNS], "only a pod that is releasing can return");
    }
    if (case_pod_holds(&pod) || pod.state == CASE_PIPELINED) {
        if (m[POD_NODE] == NULL) {
            PROBLEM(p, at, d, "a pod that is " STR_FMT " needs a node", STR_ARG(states[state]));
        } else if (pod.node != IX_NONE) {
            *ARRAY_PUSH(p->arena, &p->held) = (struct case_held){w->pods.count, m[POD_DEVICES], d};
        }
    }
    name_taken(p, at, m[POD_NAME], &p->pods, pod.name, w->pods.count);
    *ARRAY_PUSH(p->arena, &w->pods) = pod;
}

/* ---- workloads ---- */

enum workload_key {
    W_NAME,
    W_QUEUE,
    W_PRIORITY,
    W_PREEMPTIBLE,
    W_CREATED,
    W_PODS,
    W_GPU,
    W_GPU_MEMORY,
    W_GPU_DEVICES,
    W_CPU,
    W_MEMORY,
    W_BEST_EFFORT,
    W_STALE,
    W_STALE_GRACE,
    W_PREEMPTION_DELAY,
    W_DELETE,
    W_GROUP,
    W_STARTED,
    W_CHECKPOINT,
    W_DURATION,
    W_SINGLE_NUMA,
    W_KEY_COUNT
};

static struct pod_defaults read_defaults(struct parsing *p, const struct at *at,
                                         const struct doc **m)
{
    struct pod_defaults defaults = {0};
    bool best_effort = bool_of(p, at, "best_effort", m[W_BEST_EFFORT], false);
    defaults.shape.cpu_milli = count_of(p, at, "cpu_milli", m[W_CPU], AMOUNT_MAX,
                                        best_effort ? 0 : POD_CPU_MILLI_DEFAULT);
    defaults.shape.memory_bytes = count_of(p, at, "memory_bytes", m[W_MEMORY], AMOUNT_MAX,
                                           best_effort ? 0 : POD_MEMORY_BYTES_DEFAULT);
    defaults.shape.single_numa = bool_of(p, at, "single_numa", m[W_SINGLE_NUMA], false);
    read_gpu(p, at, m[W_GPU], m[W_GPU_MEMORY], m[W_GPU_DEVICES], &defaults.shape);
    return defaults;
}

/* "": none, for pods of other schedulers. */
static uint32_t queue_of(struct parsing *p, const struct at *at, const struct doc *d)
{
    bool none = d != NULL && d->kind == DOC_STRING && d->text.len == 0;
    return none ? IX_NONE : index_of(p, at, "queue", d, &p->queues, "queue");
}

void read_workload(struct parsing *p, const struct at *at, const struct doc *d)
{
    static const struct keys keys = {
        6, W_KEY_COUNT, {STRS("name"),         STRS("queue"),          STRS("priority"),
                         STRS("preemptible"),  STRS("created_s"),      STRS("pods"),
                         STRS("gpu"),          STRS("gpu_memory_mib"), STRS("gpu_devices"),
                         STRS("cpu_milli"),    STRS("memory_bytes"),   STRS("best_effort"),
                         STRS("stale_s"),      STRS("stale_grace_s"),  STRS("preemption_delay_s"),
                         STRS("delete"),       STRS("group"),          STRS("started_s"),
                         STRS("checkpoint_s"), STRS("duration_s"),     STRS("single_numa")}
    };
    const struct doc *m[MEMBERS_MAX];
    struct case_world *w = &p->c->world;
    open_map(p, at, d, &keys, m);

    uint32_t ix = w->workloads.count;
    int64_t created_ms = w->now_ms +
                         seconds_of(p, at, "created_s", m[W_CREATED], -DURATION_MAX_MS / 2, 0);
    int64_t stale_ms = seconds_of(p, at, "stale_s", m[W_STALE], 0, TIME_NEVER);
    *ARRAY_PUSH(p->arena, &w->workloads) = (struct case_workload){
        .name = text_of(p, at, "name", m[W_NAME]),
        .queue = queue_of(p, at, m[W_QUEUE]),
        .priority = number_of(p, at, "priority", m[W_PRIORITY],
                              (struct range){1, -AMOUNT_MAX, AMOUNT_MAX, 0}),
        .preemptible = bool_of(p, at, "preemptible", m[W_PREEMPTIBLE], true),
        .stays_deleted = bool_of(p, at, "delete", m[W_DELETE], false),
        .created_ms = created_ms,
        .last_start_ms = TIME_NEVER,
        .last_evicted_ms = TIME_NEVER,
        .evicted_for = IX_NONE,
        .duration_ms = seconds_of(p, at, "duration_s", m[W_DURATION], 1000, 0),
        .preemption_delay_ms = seconds_of(p, at, "preemption_delay_s", m[W_PREEMPTION_DELAY], 0, 0),
        .stale_since_ms = stale_ms == TIME_NEVER ? TIME_NEVER : w->now_ms - stale_ms,
        .stale_grace_ms = seconds_of(p, at, "stale_grace_s", m[W_STALE_GRACE], -DURATION_MAX_MS,
                                     STALE_GRACE_MS_DEFAULT),
        .group_first = w->groups.count,
        .pod_first = w->pods.count};
    name_taken(p, at, m[W_NAME], &p->workloads, w->workloads.items[ix].name, ix);
    if (m[W_GROUP] != NULL) {
        read_gang(p, at, m[W_GROUP], ix);
    }
    uint32_t listed_count = w->groups.count - w->workloads.items[ix].group_first;
    struct pod_defaults defaults = read_defaults(p, at, m);

    const struct at in = {at, STR("pods"), 0};
    uint32_t index = 0;
    bool runs = false;
    for (const struct doc *pod = list_of(p, &in, m[W_PODS]); pod; pod = pod->next) {
        const struct at item = {&in, STR(""), index++};
        read_pod(p, &item, pod, ix, listed_count, &defaults);
        runs = runs || w->pods.items[w->pods.count - 1].state == CASE_RUNNING;
    }
    struct case_workload *row = &w->workloads.items[ix];
    if (w->groups.count == row->group_first) { /* no pods and no gang */
        default_group(w, p->arena, ix);
    }
    row->pod_count = w->pods.count - row->pod_first;
    row->group_count = w->groups.count - row->group_first;
    if (!runs && (m[W_STARTED] || m[W_CHECKPOINT])) {
        PROBLEM(p, at, d, "\"started_s\" and \"checkpoint_s\" are of a workload that runs");
    }
    int64_t started_ms = seconds_of(p, at, "started_s", m[W_STARTED], -DURATION_MAX_MS / 2,
                                    created_ms - w->now_ms);
    row->last_start_ms = runs ? w->now_ms + started_ms : TIME_NEVER;
    int64_t checkpoint_ms = seconds_of(p, at, "checkpoint_s", m[W_CHECKPOINT], -DURATION_MAX_MS / 2,
                                       0);
    row->checkpoint_ms = m[W_CHECKPOINT] ? w->now_ms + checkpoint_ms : 0;
}

/* ---- devices held at the start ---- */

static int64_t held_share(const struct case_world *w, const struct case_shape *shape,
                          uint32_t device)
{
    if (shape->gpu == GPU_SHARE) {
        return shape->share;
    }
    int64_t bytes = w->devices.items[device].memory_bytes;
    return shape->gpu == GPU_MEMORY && bytes > 0
               ? num_muldiv_ceil(shape->device_memory_bytes, DEVICE_SHARE, bytes)
               : DEVICE_SHARE;
}

/* The device that a label stands for on a node; IX_NONE when the node has none left for it.
 * next_free[node] is the ordinal of the node's first device that nobody holds. */
static uint32_t device_of(struct parsing *p, uint32_t node, struct str label, struct map *labels,
                          uint32_t *next_free)
{
    const struct case_node *row = &p->c->world.nodes.items[node];
    struct str key = arena_printf(p->arena, "%u/" STR_FMT, node, STR_ARG(label));
    uint32_t device = 0;
    if (label.len > 0 && map_get(labels, key, &device)) {
        return device;
    }
    if (next_free[node] == row->device_count) {
        return IX_NONE;
    }
    device = row->device_first + next_free[node]++;
    if (label.len > 0) {
        map_put(labels, key, device);
    }
    return device;
}

/* Labels of a pod that asks for no devices say only beside whom it is. */
static void place_label_only(struct parsing *p, struct case_pod *pod, const struct doc *labels,
                             struct map *devices, uint32_t *next_free)
{
    struct case_world *w = &p->c->world;
    pod->last_first = w->holds.count;
    for (const struct doc *label = labels ? labels->child : NULL; label; label = label->next) {
        uint32_t device = device_of(p, pod->node, label->text, devices, next_free);
        if (device != IX_NONE) {
            *ARRAY_PUSH(p->arena, &w->holds) = (struct case_hold){.device = device};
            pod->last_count++;
        }
    }
}

/* A pod that is pipelined at the start waits and has a claim on its place. */
static void make_claim(struct case_world *w, uint32_t ix)
{
    struct case_pod *pod = &w->pods.items[ix];
    *ARRAY_PUSH(w->arena, &w->claims) = (struct case_claim){.workload = pod->workload,
                                                            .pod = ix,
                                                            .node = pod->node,
                                                            .hold_first = pod->hold_first,
                                                            .hold_count = pod->hold_count,
                                                            .since_ms = w->now_ms};
    pod->state = CASE_PENDING;
    pod->node = IX_NONE;
    pod->hold_count = 0;
}

/* Gives the pods that hold devices at the start theirs: one for each label, fresh ones where there
 * is no label. */
void place_held(struct parsing *p)
{
    struct case_world *w = &p->c->world;
    uint32_t *next_free = ARENA_ARRAY(p->arena, uint32_t, w->nodes.count + 1);
    int64_t *taken = ARENA_ARRAY(p->arena, int64_t, w->devices.count + 1);
    struct map labels;
    map_init(&labels, p->arena);
    for (uint32_t i = 0; i < p->held.count; i++) {
        struct case_pod *pod = &w->pods.items[p->held.items[i].pod];
        const struct case_shape *shape = &w->shapes.items[pod->shape];
        const struct doc *label = p->held.items[i].labels ? p->held.items[i].labels->child : NULL;
        bool there = pod->state != CASE_PIPELINED;
        if (shape->gpu == GPU_NONE) {
            place_label_only(p, pod, p->held.items[i].labels, &labels, next_free);
        }
        pod->hold_first = w->holds.count;
        for (uint32_t n = 0; shape->gpu != GPU_NONE && n < shape->device_count; n++) {
            uint32_t device = device_of(p, pod->node, label ? label->text : STR(""), &labels,
                                        next_free);
            label = label ? label->next : NULL;
            int64_t share = device == IX_NONE ? 0 : held_share(w, shape, device);
            if (device == IX_NONE || (there && taken[device] + share > DEVICE_SHARE)) {
                PROBLEM(p, NULL, p->held.items[i].where,
                        "pod \"" STR_FMT "\" holds more than node \"" STR_FMT "\" has left",
                        STR_ARG(pod->name), STR_ARG(w->nodes.items[pod->node].name));
                break;
            }
            taken[device] += there ? share : 0;
            *ARRAY_PUSH(p->arena, &w->holds) = (struct case_hold){
                .device = device, .share = share, .bytes = shape->device_memory_bytes};
            pod->hold_count++;
        }
        if (!there) {
            make_claim(w, p->held.items[i].pod);
        }
    }
}

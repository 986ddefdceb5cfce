// SPDX-License-Identifier: Apache-2.0
// freeze: the part of the state that concerns one pool, as a snapshot for the scheduler. A pod that
// holds a place belongs to the pool its node is in; one that waits, to the pool its workload is
// tried in now. Tags lead back: of a node its row, of a device its place on the node, of a
// workload its row, of a task the pod's place in the workload, of a queue its place in the plan
// (departments after the projects).
#include "base/check.h"
#include "engine/machine.h"
#include "model/snapshot.h"

struct pod_here {
    uint32_t pod, node; /* where it holds a place; IX_NONE */
};
struct freezer {
    const struct engine *e;
    uint32_t pool;
    struct arena *arena;
    struct snapshot *s;
    uint32_t *queue_of_project;    /* [projects_count] */
    uint32_t *queue_of_department; /* [departments_count] */
    uint32_t *node_of;             /* [nodes_count]: row in the snapshot, IX_NONE: another pool's */
    struct map node_rows;          /* by name */
    uint32_t last_node;            /* row found last: pods of one time are often on one node */
    const struct pool_usage *usage; /* NULL: past use does not count */
    uint32_t *workload_of;          /* [workloads_count]: the same */
    uint32_t waiting_end;        /* of the workload at hand: who waits from here on is held back */
    struct map type_sets;        /* node type -> row in the snapshot's node sets */
    struct map shape_rows;       /* numbers of a shape -> row */
    ARRAY(struct str) pod_names; /* by place in the workload */
    ARRAY(struct pod_here) here; /* pods of the workload at hand that are of this pool */
    ARRAY(uint32_t) evicted;     /* rows of workloads that have not started since */
};

// A name whose order is that of the numbers.
static struct str number_name(struct arena *a, uint32_t n)
{
    enum { DIGITS = 10 };
    char *text = arena_alloc(a, DIGITS);
    for (uint32_t i = DIGITS; i > 0; i--) {
        text[i - 1] = (char)('0' + (char)(n % 10));
        n /= 10;
    }
    return (struct str){text, DIGITS};
}

static uint32_t *filled(struct arena *a, uint32_t count)
{
    uint32_t *ix = ARENA_ARRAY(a, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        ix[i] = IX_NONE;
    }
    return ix;
}

/* ---- configuration and nodes ---- */

static void freeze_config(struct freezer *f)
{
    const struct pool *pool = &f->e->s.plan.pools[f->pool];
    struct snap_config *c = &f->s->config;
    c->gpu_placement = pool->gpu_placement;
    c->cpu_placement = pool->cpu_placement;
    c->reclaim_min_runtime_ms = pool->reclaim_min_runtime_ms;
    c->preempt_min_runtime_ms = pool->preempt_min_runtime_ms;
    c->reservation_after_ms = pool->reservation_after_ms;
    c->k_permille = WEIGHT_ONE + pool->usage_k_less_one;
    if (pool->time_based_fair_share && c->k_permille > 0) {
        c->usage_denominator = USAGE_DENOMINATOR_MAX;
        f->usage = usage_look(f->e, f->pool, USAGE_LOOK_DECIDE, c->now_ms);
    }
}

// Where the device is among the zones of its node; zones_count: in none that is known.
static uint32_t zone_of(const struct node *n, int64_t numa_node)
{
    uint32_t z = 0;
    while (z < n->zones_count && n->zones[z].numa_node != numa_node) {
        z++;
    }
    return z;
}

// Where some device is in no zone that is known, the node counts as one.
static bool zones_known(const struct node *n)
{
    bool known = n->zones_count > 1;
    for (uint32_t d = 0; known && d < n->devices_count; d++) {
        known = zone_of(n, n->devices[d].numa_node) < n->zones_count;
    }
    return known;
}

static void freeze_node(struct freezer *f, uint32_t row)
{
    const struct node *n = &f->e->s.nodes[row];
    const struct drain *drain = engine_drain(f->e, n->name, STR(""));
    struct snap_node *sn = ARRAY_PUSH(f->arena, &f->s->nodes);
    uint32_t ix = f->s->nodes.count - 1;
    f->node_of[row] = ix;
    *sn = (struct snap_node){
        .name = n->name,
        .tag = row,
        .device_first = f->s->devices.count,
        .device_count = n->devices_count,
        .cpu_milli = n->cpu_milli,
        .memory_bytes = n->memory_bytes,
        .pods = n->pods_max,
        .ready = n->ready,
        .schedulable = !drain,
        .draining = drain && drain->moves,
    };
    sn->zone_first = f->s->zones.count;
    sn->zone_count = zones_known(n) ? n->zones_count : 0;
    for (uint32_t z = 0; z < sn->zone_count; z++) {
        *ARRAY_PUSH(f->arena, &f->s->zones) = (struct snap_zone){n->zones[z].cpu_milli,
                                                                 n->zones[z].memory_bytes};
    }
    for (uint32_t d = 0; d < n->devices_count; d++) {
        drain = engine_drain(f->e, n->name, n->devices[d].uuid);
        *ARRAY_PUSH(f->arena, &f->s->devices) = (struct snap_device){
            .node = {ix},
            .tag = d,
            .ordinal = d,
            .zone = sn->zone_count > 0 ? zone_of(n, n->devices[d].numa_node) : 0,
            .memory_bytes = n->devices[d].memory_bytes,
            .healthy = n->devices[d].healthy && !drain,
            .draining = drain && drain->moves,
        };
    }
}

/* ---- queues ---- */

static int64_t duration(int64_t ms)
{
    return ms < 0 ? DURATION_UNSET : ms;
}

static int64_t limit_of(int64_t quota, int64_t most, bool over_quota)
{
    return !over_quota && amount_le(quota, most) ? quota : most;
}

static void freeze_queue(struct freezer *f, uint32_t tag, struct str name, uint32_t id,
                         uint32_t parent, const struct quota *quotas, uint32_t count)
{
    struct quota q = plan_quota(quotas, count, f->e->s.plan.pools[f->pool].name);
    uint32_t projects = f->e->s.plan.projects_count;
    const struct usage *usage = !f->usage         ? NULL
                                : tag >= projects ? &f->usage->departments[tag - projects]
                                                  : &f->usage->projects[tag];
    *ARRAY_PUSH(f->arena, &f->s->queues) = (struct snap_queue){
        .name = name,
        .tag = tag,
        .parent = {parent},
        .quota = {{q.gpu_share, q.cpu_milli, q.memory_bytes}},
        .limit = {{limit_of(q.gpu_share, q.gpu_max_share, q.over_quota),
                   limit_of(q.cpu_milli, q.cpu_max_milli, q.over_quota),
                   limit_of(q.memory_bytes, q.memory_max_bytes, q.over_quota)}},
        .weight_milli = {{q.weight_milli, q.weight_milli, q.weight_milli}},
        .usage = usage ? usage->part : (struct amounts){{0}},
        .priority = q.rank,
        .created_seq = id,
        .reclaim_min_runtime_ms = duration(q.reclaim_min_runtime_ms),
        .preempt_min_runtime_ms = duration(q.preempt_min_runtime_ms),
    };
}

static void freeze_queues(struct freezer *f)
{
    const struct plan *p = &f->e->s.plan;
    for (uint32_t i = 0; i < p->departments_count; i++) {
        f->queue_of_department[i] = i;
    }
    for (uint32_t i = 0; i < p->departments_count; i++) {
        const struct department *d = &p->departments[i];
        freeze_queue(f, p->projects_count + i, d->name, d->id, f->e->t.department_parent[i],
                     d->quotas, d->quotas_count);
    }
    for (uint32_t i = 0; i < p->projects_count; i++) {
        const struct project *j = &p->projects[i];
        f->queue_of_project[i] = f->s->queues.count;
        freeze_queue(f, i, j->name, j->id, f->e->t.project_department[i], j->quotas,
                     j->quotas_count);
    }
}

/* ---- workloads and pods ---- */

static enum task_state task_state(const struct pod *p, bool held_back, int64_t now_ms)
{
    switch (p->phase) {
    case POD_PENDING:
        return held_back || p->retry_at_ms > now_ms ? TASK_GATED : TASK_PENDING;
    case POD_BINDING:
        return TASK_BINDING;
    case POD_RUNNING:
        return TASK_RUNNING;
    case POD_RELEASING:
        return TASK_RELEASING;
    case POD_SUCCEEDED:
        return TASK_SUCCEEDED;
    case POD_FAILED:
        return TASK_FAILED;
    }
    return TASK_FAILED;
}

static bool is_of_type(const struct node *n, struct str type)
{
    for (uint32_t i = 0; i < n->labels_count; i++) {
        if (str_eq(n->labels[i].key, NODE_TYPE_LABEL)) {
            return str_eq(n->labels[i].value, type);
        }
    }
    return false;
}

// The nodes of that type, as a set; IX_NONE: of any.
static uint32_t type_set(struct freezer *f, struct str type)
{
    uint32_t set = IX_NONE;
    if (type.len == 0 || map_get(&f->type_sets, type, &set)) {
        return set;
    }
    uint64_t *words = ARENA_ARRAY(f->arena, uint64_t, (f->s->nodes.count + 63) / 64 + 1);
    for (uint32_t i = 0; i < f->e->s.nodes_count; i++) {
        uint32_t ix = f->node_of[i];
        if (ix != IX_NONE && is_of_type(&f->e->s.nodes[i], type)) {
            words[ix / 64] |= UINT64_C(1) << (ix % 64);
        }
    }
    set = f->s->node_sets.count;
    *ARRAY_PUSH(f->arena, &f->s->node_sets) = (struct snap_node_set){words};
    map_put(&f->type_sets, type, set);
    return set;
}

static struct snap_shape shape_of(const struct pod_spec *p, uint32_t selected_set)
{
    struct snap_shape s = {
        .device_count = (uint32_t)p->gpu_devices,
        .cpu_milli = p->cpu_milli,
        .memory_bytes = p->memory_bytes,
        .selected_set = selected_set,
        .tolerated_set = IX_NONE,
        .single_numa = p->single_numa,
    };
    if (p->gpu_devices == 0) {
        s.gpu = GPU_NONE;
    } else if (p->gpu_memory_bytes > 0) {
        s.gpu = GPU_MEMORY;
        s.device_memory_bytes = p->gpu_memory_bytes;
    } else if (p->gpu_portion_share > 0 && p->gpu_portion_share < DEVICE_SHARE) {
        s.gpu = GPU_SHARE;
        s.share = p->gpu_portion_share;
    } else {
        s.gpu = GPU_WHOLE;
    }
    return s;
}

// The row of the shape of such pods; those that ask for the same share one.
static uint32_t shape_row(struct freezer *f, const struct pod_spec *p, uint32_t selected_set)
{
    const int64_t numbers[] = {p->gpu_devices, p->gpu_memory_bytes, p->gpu_portion_share,
                               p->cpu_milli,   p->memory_bytes,     p->single_numa,
                               selected_set};
    struct str key = {(const char *)numbers, sizeof(numbers)};
    uint32_t row = f->s->shapes.count;
    if (!map_get(&f->shape_rows, key, &row)) {
        map_put(&f->shape_rows, arena_str(f->arena, key), row);
        *ARRAY_PUSH(f->arena, &f->s->shapes) = shape_of(p, selected_set);
    }
    return row;
}

static void freeze_holds(struct freezer *f, int64_t memory_bytes, uint32_t node,
                         const struct held_device *devices, uint32_t count)
{
    const struct node *n = &f->e->s.nodes[node];
    uint32_t first = f->s->nodes.items[f->node_of[node]].device_first;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t d = 0; d < n->devices_count; d++) {
            if (str_eq(n->devices[d].uuid, devices[i].uuid)) {
                *ARRAY_PUSH(f->arena, &f->s->holds) = (struct snap_hold){
                    .device = {first + d},
                    .share = devices[i].share,
                    .bytes = memory_bytes,
                };
            }
        }
    }
}

// The row of a node that is there; every pod that holds a place asks for it.
static uint32_t node_row(struct freezer *f, struct str name)
{
    if (f->last_node == IX_NONE || !str_eq(f->e->s.nodes[f->last_node].name, name)) {
        bool known = map_get(&f->node_rows, name, &f->last_node);
        CHECK(known); /* state_sound, and every input, see to it */
    }
    return f->last_node;
}

// A rule that stops it now counts as it will in a moment.
static bool wants_to_run(const struct freezer *f, const struct workload *w)
{
    return w->desired == WANT_RUN && !limit_is_over(w, f->s->config.now_ms);
}

// The first pods of those that wait may start, as many as may run beside those that do.
static uint32_t may_wait(const struct workload *w)
{
    int64_t room = w->spec.parallel_max;
    if (w->updates_count > 0) {
        return 0; // those who wait start as it will be
    }
    for (uint32_t i = 0; i < w->pods_count; i++) {
        room -= pod_holds(&w->pods[i]);
    }
    for (uint32_t i = 0; w->spec.parallel_max > 0 && i < w->pods_count; i++) {
        if (w->pods[i].phase == POD_PENDING && room-- <= 0) {
            return i;
        }
    }
    return w->pods_count;
}

// Whether the workload is tried in this pool.
static bool tried_here(const struct freezer *f, const struct workload *w)
{
    return str_eq(w->spec.pools[w->pool_ix].value, f->e->s.plan.pools[f->pool].name);
}

// Whether pod is part of this pool's snapshot; *node is where it holds its place.
static bool pod_is_here(struct freezer *f, const struct workload *w, const struct pod *p,
                        uint32_t *node)
{
    *node = IX_NONE;
    if (pod_holds(p)) {
        *node = node_row(f, p->node);
        return f->node_of[*node] != IX_NONE;
    }
    return (p->phase != POD_PENDING || wants_to_run(f, w)) && tried_here(f, w);
}

// The zone in which it holds its place; the first where that is not known any more.
static uint32_t task_zone(const struct node *n, const struct pod *p)
{
    uint32_t zone = zone_of(n, p->numa_plus_one - 1);
    return zone < n->zones_count ? zone : 0;
}

static struct str pod_name(struct freezer *f, uint32_t pod)
{
    while (f->pod_names.count <= pod) {
        struct str name = number_name(f->arena, f->pod_names.count);
        *ARRAY_PUSH(f->arena, &f->pod_names) = name;
    }
    return f->pod_names.items[pod];
}

static void freeze_task(struct freezer *f, uint32_t workload, uint32_t pod, uint32_t shape,
                        const struct workload *w, uint32_t node)
{
    const struct pod *p = &w->pods[pod];
    uint32_t first = f->s->holds.count;
    bool overdue = drain_overdue(f->e, p, f->s->config.now_ms) != NULL; // to be stopped this tick
    bool active = p->phase == POD_BINDING || p->phase == POD_RUNNING;
    bool stopped = active && limit_is_over(w, f->s->config.now_ms); // the same
    if (node != IX_NONE) {
        freeze_holds(f, workload_pod(w, pod)->gpu_memory_bytes, node, p->devices, p->devices_count);
    }
    *ARRAY_PUSH(f->arena, &f->s->tasks) = (struct snap_task){
        .name = pod_name(f, pod),
        .tag = pod,
        .workload = {workload},
        .group = {IX_NONE},
        .shape = {shape},
        .state = overdue || stopped ? TASK_RELEASING
                                    : task_state(p, pod >= f->waiting_end, f->s->config.now_ms),
        .order_rank = pod,
        .created_ms = w->created_ms,
        .node = {node == IX_NONE ? IX_NONE : f->node_of[node]},
        .hold_first = first,
        .hold_count = f->s->holds.count - first,
        .zone = node == IX_NONE ? 0 : task_zone(&f->e->s.nodes[node], p),
        .nominated_node = IX_NONE,
        .returns = overdue || (p->phase == POD_RELEASING && p->move),
    };
}

static void freeze_row(struct freezer *f, uint32_t row, uint32_t needed)
{
    const struct workload *w = &f->e->s.workloads[row];
    uint32_t project = f->e->t.workload_rows[row].project;
    struct snap_workload *sw = ARRAY_PUSH(f->arena, &f->s->workloads);
    uint32_t ix = f->s->workloads.count - 1;
    f->workload_of[row] = ix;
    *sw = (struct snap_workload){
        .name = number_name(f->arena, row), // who came first in one millisecond is first
        .tag = row,
        .queue = {project == IX_NONE ? IX_NONE : f->queue_of_project[project]},
        .priority = w->spec.priority,
        .preemptible = w->spec.preemptibility == PREEMPTIBLE,
        .created_ms = w->created_ms,
        .last_start_ms = w->last_start_ms,
        .last_evicted_ms = w->last_evict_ms,
        .checkpoint_ms = w->checkpoint_ms,
        .evicted_for = {IX_NONE},
        .duration_ms = w->spec.duration_ms,
        .stale_since_ms = w->stale_since_ms,
        .stale_grace_ms = STALE_GRACE_MS,
    };
    *ARRAY_PUSH(f->arena, &f->s->groups) = (struct snap_group){
        .name = STR("default"),
        .workload = {ix},
        .parent = {IX_NONE},
        .is_pod_set = true,
        .min = needed,
        .topology = {IX_NONE},
        .required_level = IX_NONE,
        .preferred_level = IX_NONE,
    };
}

// The disruption budget over the pods that were frozen since first.
static void freeze_budget(struct freezer *f, uint32_t row, uint32_t first)
{
    const struct workload *w = &f->e->s.workloads[row];
    int64_t least = w->spec.available_min;
    for (uint32_t i = 0; i < w->pods_count && least > 0; i++) {
        const struct pod *p = &w->pods[i];
        // As for the minimum of a gang: members that are done, or run in another pool, count.
        bool elsewhere = p->phase == POD_RUNNING && f->node_of[node_row(f, p->node)] == IX_NONE;
        least -= p->phase == POD_SUCCEEDED || elsewhere;
    }
    if (least <= 0) {
        return;
    }
    *ARRAY_PUSH(f->arena, &f->s->budgets) = (struct snap_budget){
        .name = number_name(f->arena, row),
        .tag = row,
        .available_min = (uint32_t)least,
        .member_first = f->s->budget_members.count,
        .member_count = f->s->tasks.count - first,
    };
    for (uint32_t t = first; t < f->s->tasks.count; t++) {
        *ARRAY_PUSH(f->arena, &f->s->budget_members) = (struct task_ref){t};
    }
}

static void freeze_workload(struct freezer *f, uint32_t row)
{
    const struct workload *w = &f->e->s.workloads[row];
    int64_t needed = w->spec.pods_min;
    bool any = false;
    f->here.count = 0;
    f->waiting_end = may_wait(w);
    for (uint32_t i = 0; i < w->pods_count; i++) {
        const struct pod *p = &w->pods[i];
        uint32_t node;
        bool here = pod_is_here(f, w, p, &node);
        if (here) {
            *ARRAY_PUSH(f->arena, &f->here) = (struct pod_here){i, node};
        }
        bool waits = here && p->phase == POD_PENDING;
        any = any || waits || (here && node != IX_NONE);
        // Members that are done, or hold places in another pool, are not asked for here.
        bool elsewhere = !here && (p->phase == POD_BINDING || p->phase == POD_RUNNING);
        needed -= p->phase == POD_SUCCEEDED || elsewhere;
    }
    if (!any) {
        return;
    }
    uint32_t set = type_set(f, w->spec.node_type);
    uint32_t shape = shape_row(f, &w->spec.pod, set);
    uint32_t first_shape = w->spec.has_master ? shape_row(f, &w->spec.master, set) : shape;
    freeze_row(f, row, needed > 0 ? (uint32_t)needed : 0);
    uint32_t first = f->s->tasks.count;
    for (uint32_t i = 0; i < f->here.count; i++) {
        const struct pod_here *p = &f->here.items[i];
        freeze_task(f, f->workload_of[row], p->pod, p->pod == 0 ? first_shape : shape, w, p->node);
    }
    freeze_budget(f, row, first);
    if (w->last_evict_ms != TIME_NEVER && w->last_evict_ms >= w->last_start_ms) {
        *ARRAY_PUSH(f->arena, &f->evicted) = row;
    }
}

// For whom the workload was stopped, which has not started since.
static void freeze_evictor(struct freezer *f, uint32_t row)
{
    const struct workload *w = &f->e->s.workloads[row];
    uint32_t other;
    for (uint32_t i = w->events_count; i > 0; i--) {
        const struct event *event = &w->events[i - 1];
        if (event->kind == EVENT_EVICTED) {
            if (map_get(&f->e->t.workloads, uuid_bytes(&event->why.other), &other)) {
                f->s->workloads.items[f->workload_of[row]].evicted_for.ix = f->workload_of[other];
            }
            return;
        }
    }
}

/* ---- claims ---- */

static uint32_t find_task(const struct freezer *f, uint32_t row, const struct uuid *pod)
{
    uint32_t at;
    if (!map_get(&f->e->t.pods, uuid_bytes(pod), &at) || f->e->t.pod_rows[at].workload != row) {
        return IX_NONE;
    }
    for (uint32_t i = f->s->tasks.count; i > 0; i--) {
        const struct snap_task *t = &f->s->tasks.items[i - 1];
        if (t->workload.ix == f->workload_of[row] && t->tag == f->e->t.pod_rows[at].pod) {
            return i - 1;
        }
    }
    return IX_NONE;
}

static void freeze_claim(struct freezer *f, const struct claim *c)
{
    uint32_t row;
    uint32_t node = tables_node(&f->e->s, c->node);
    if (node == IX_NONE || f->node_of[node] == IX_NONE ||
        !map_get(&f->e->t.workloads, uuid_bytes(&c->workload), &row) ||
        f->workload_of[row] == IX_NONE) {
        return;
    }
    uint32_t first = f->s->holds.count;
    uint32_t task = find_task(f, row, &c->pod);
    bool is_first = task != IX_NONE && f->s->tasks.items[task].tag == 0;
    freeze_holds(f, workload_pod(&f->e->s.workloads[row], is_first ? 0 : 1)->gpu_memory_bytes, node,
                 c->devices, c->devices_count);
    *ARRAY_PUSH(f->arena, &f->s->claims) = (struct snap_claim){
        .workload = {f->workload_of[row]},
        .task = {task},
        .node = {f->node_of[node]},
        .hold_first = first,
        .hold_count = f->s->holds.count - first,
        .since_ms = c->since_ms,
    };
}

// Room for what is likely to come, so that large tables need not move as they grow.
#define RESERVE(f, list, n)                                                        \
    ((list)->items = arena_alloc((f)->arena, sizeof(*(list)->items) * ((n) + 1u)), \
     (list)->cap = (n) + 1)

static void reserve(struct freezer *f)
{
    const struct state *s = &f->e->s;
    uint32_t workloads = 0;
    uint32_t pods = 0;
    for (uint32_t i = 0; i < s->workloads_count; i++) {
        bool lives = s->workloads[i].end_ms == TIME_NEVER;
        workloads += lives;
        pods += lives ? s->workloads[i].pods_count : 0;
    }
    uint32_t nodes = 0;
    uint32_t devices = 0;
    for (uint32_t i = 0; i < s->nodes_count; i++) {
        bool here = f->e->t.node_rows[i].pool == f->pool;
        nodes += here;
        devices += here ? s->nodes[i].devices_count : 0;
    }
    RESERVE(f, &f->s->nodes, nodes);
    RESERVE(f, &f->s->devices, devices);
    if (s->plan.pools_count == 1) { /* else most may be another pool's */
        RESERVE(f, &f->s->workloads, workloads);
        RESERVE(f, &f->s->groups, workloads);
        RESERVE(f, &f->s->tasks, pods);
    }
}

void freeze_pool(const struct engine *e, uint32_t pool, int64_t now_ms, struct arena *arena,
                 struct snapshot *out)
{
    const struct state *s = &e->s;
    struct freezer f = {
        .e = e,
        .pool = pool,
        .arena = arena,
        .s = out,
        .queue_of_project = filled(arena, s->plan.projects_count),
        .queue_of_department = filled(arena, s->plan.departments_count),
        .node_of = filled(arena, s->nodes_count),
        .workload_of = filled(arena, s->workloads_count),
        .last_node = IX_NONE,
    };
    map_init(&f.node_rows, arena);
    map_init(&f.type_sets, arena);
    map_init(&f.shape_rows, arena);
    for (uint32_t i = 0; i < s->nodes_count; i++) {
        map_put(&f.node_rows, s->nodes[i].name, i);
    }
    snapshot_init(out, now_ms);
    freeze_config(&f);
    reserve(&f);
    for (uint32_t i = 0; i < s->nodes_count; i++) {
        if (e->t.node_rows[i].pool == pool) {
            freeze_node(&f, i);
        }
    }
    freeze_queues(&f);
    for (uint32_t i = 0; i < s->workloads_count; i++) {
        if (s->workloads[i].end_ms == TIME_NEVER) {
            freeze_workload(&f, i);
        }
    }
    for (uint32_t i = 0; i < f.evicted.count; i++) {
        freeze_evictor(&f, f.evicted.items[i]);
    }
    for (uint32_t i = 0; i < s->claims_count; i++) {
        freeze_claim(&f, &s->claims[i]);
    }
    snapshot_canonicalise(out, arena);
}

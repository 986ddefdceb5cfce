// SPDX-License-Identifier: Apache-2.0
// Departments, projects, node pools, nodes: what they may and what they hold.
#include "api/show.h"
#include "api/show_parts.h"
#include "base/array.h"
#include "base/map.h"
#include "base/num.h"
#include "base/sort.h"
#include "model/limits.h"
#include "model/priority.h"

struct queue {
    struct str name;
    const struct quota *quotas;
    uint32_t quotas_count;
    bool department;
};

/* ---- workloads, counted once for all queues ---- */

struct queue_count {
    uint32_t running, pending;
};
struct queue_counts {
    struct map pools, departments, projects; /* name to index in the plan */
    struct map by_queue;                     /* key of queue and pool to index in items */
    ARRAY(struct queue_count) items;
};

/* pool is its index, or ALL_POOLS. */
enum { ALL_POOLS = POOLS_MAX };

static uint64_t count_key(bool department, uint32_t queue, uint32_t pool)
{
    return (uint64_t)department << 63 | (uint64_t)queue << 16 | pool;
}

static void count_one(struct show *s, uint64_t key, struct str phase)
{
    struct queue_counts *c = s->counts;
    uint32_t at;
    if (!map_get_u64(&c->by_queue, key, &at)) {
        at = c->items.count;
        map_put_u64(&c->by_queue, key, at);
        *ARRAY_PUSH(s->arena, &c->items) = (struct queue_count){0};
    }
    c->items.items[at].running += str_eq(phase, STR("Running"));
    c->items.items[at].pending += str_eq(phase, STR("Pending"));
}

/* For its project and all departments above it, in its pool and in all. */
static void count_workload(struct show *s, const struct workload *wl)
{
    const struct plan *plan = &engine_state(s->engine)->plan;
    struct queue_counts *c = s->counts;
    struct str phase = workload_phase(wl);
    uint32_t pool = ALL_POOLS;
    uint32_t queue;
    if ((!str_eq(phase, STR("Running")) && !str_eq(phase, STR("Pending"))) ||
        !map_get(&c->projects, wl->project, &queue)) {
        return;
    }
    if (wl->pool_ix < wl->spec.pools_count) {
        (void)map_get(&c->pools, wl->spec.pools[wl->pool_ix].value, &pool);
    }
    struct str above = plan->projects[queue].department;
    bool department = false;
    for (uint32_t depth = 0; depth <= QUEUE_DEPTH_MAX; depth++) {
        count_one(s, count_key(department, queue, ALL_POOLS), phase);
        if (pool != ALL_POOLS) {
            count_one(s, count_key(department, queue, pool), phase);
        }
        if (above.len == 0 || !map_get(&c->departments, above, &queue)) {
            return;
        }
        above = plan->departments[queue].parent;
        department = true;
    }
}

static void count_workloads(struct show *s)
{
    const struct state *st = engine_state(s->engine);
    struct queue_counts *c = s->counts = ARENA_NEW(s->arena, struct queue_counts);
    map_init(&c->pools, s->arena);
    map_init(&c->departments, s->arena);
    map_init(&c->projects, s->arena);
    map_init(&c->by_queue, s->arena);
    for (uint32_t i = 0; i < st->plan.pools_count; i++) {
        map_put(&c->pools, st->plan.pools[i].name, i);
    }
    for (uint32_t i = 0; i < st->plan.departments_count; i++) {
        map_put(&c->departments, st->plan.departments[i].name, i);
    }
    for (uint32_t i = 0; i < st->plan.projects_count; i++) {
        map_put(&c->projects, st->plan.projects[i].name, i);
    }
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        count_workload(s, &st->workloads[i]);
    }
}

/* pool empty: in all pools. */
static void show_counts(struct show *s, struct jw *w, struct str name, bool department,
                        struct str pool)
{
    if (s->counts == NULL) {
        count_workloads(s);
    }
    const struct queue_counts *c = s->counts;
    struct queue_count count = {0};
    uint32_t queue, pool_ix = ALL_POOLS, at;
    if (map_get(department ? &c->departments : &c->projects, name, &queue) &&
        (pool.len == 0 || map_get(&c->pools, pool, &pool_ix)) &&
        map_get_u64(&c->by_queue, count_key(department, queue, pool_ix), &at)) {
        count = c->items.items[at];
    }
    jw_member_i64(w, STR("running"), count.running);
    jw_member_i64(w, STR("pending"), count.pending);
}

/* ---- departments and projects ---- */

static void show_other(struct jw *w, struct str key, enum resource resource, int64_t guaranteed,
                       int64_t max, int64_t held)
{
    jw_key(w, key);
    jw_object_begin(w);
    show_amount(w, STR("guaranteed"), resource, guaranteed);
    show_amount(w, STR("max"), resource, max);
    show_amount(w, STR("held"), resource, held);
    jw_object_end(w);
}

// In hours of a device, a core, a gibibyte; and the part of the pool's devices as it counts.
static void show_past_use(struct show *s, struct jw *w, const struct queue *q, struct str pool)
{
    enum { THOUSANDTH_HOUR_MS = 3600, MIB_PER_GIB = 1024, DIGITS = 5 };
    _Static_assert(USAGE_DENOMINATOR_MAX == 100000, "five digits");
    int64_t now_ms = num_max_i64(s->now_ms, engine_state(s->engine)->now_ms);
    struct usage u = engine_usage(s->engine, pool, q->name, q->department, now_ms);
    jw_key(w, STR("past_use"));
    jw_object_begin(w);
    show_time(w, STR("since"), num_max_i64(u.from_ms, 0));
    jw_key(w, STR("gpu_hours"));
    jw_decimal(w, u.used.v[RES_GPU] / (DEVICE_SHARE * THOUSANDTH_HOUR_MS), 3);
    jw_key(w, STR("cpu_hours"));
    jw_decimal(w, u.used.v[RES_CPU] / (1000 * THOUSANDTH_HOUR_MS), 3);
    jw_key(w, STR("memory_gib_hours"));
    jw_decimal(w, u.used.v[RES_MEMORY] / (MIB_PER_GIB * THOUSANDTH_HOUR_MS), 3);
    jw_key(w, STR("gpu_share"));
    jw_decimal(w, u.part.v[RES_GPU], DIGITS);
    jw_object_end(w);
}

static void show_queue_in_pool(struct show *s, struct jw *w, const struct queue *q, struct str pool)
{
    struct quota quota = plan_quota(q->quotas, q->quotas_count, pool);
    struct held held = engine_held(s->engine, pool, q->name, q->department);
    int64_t over = held.gpu_share - quota.gpu_share;
    jw_member_string(w, STR("pool"), pool);
    show_amount(w, STR("guaranteed_gpus"), RES_GPU, quota.gpu_share);
    show_amount(w, STR("max_gpus"), RES_GPU, quota.gpu_max_share);
    jw_member_bool(w, STR("allow_over_quota"), quota.over_quota);
    jw_key(w, STR("over_quota_weight"));
    jw_decimal(w, quota.weight_milli, 3);
    struct str rank = priority_word(quota.rank);
    jw_member_string(w, STR("rank"),
                     rank.len > 0 ? rank : arena_printf(s->arena, "%lld", (long long)quota.rank));
    show_amount(w, STR("held_gpus"), RES_GPU, held.gpu_share);
    show_amount(w, STR("over_quota_gpus"), RES_GPU, quota.gpu_share >= 0 && over > 0 ? over : 0);
    show_amount(w, STR("fair_share_gpus"), RES_GPU,
                engine_fair_share(s->engine, pool, q->name, q->department));
    show_amount(w, STR("held_non_preemptible_gpus"), RES_GPU, held.gpu_share_nonpreemptible);
    show_other(w, STR("cpu"), RES_CPU, quota.cpu_milli, quota.cpu_max_milli, held.cpu_milli);
    show_other(w, STR("memory"), RES_MEMORY, quota.memory_bytes, quota.memory_max_bytes,
               held.memory_bytes);
    show_past_use(s, w, q, pool);
    show_counts(s, w, q->name, q->department, pool);
}

static void show_queue_pools(struct show *s, struct jw *w, const struct queue *q)
{
    const struct plan *plan = &engine_state(s->engine)->plan;
    jw_key(w, STR("pools"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < plan->pools_count; i++) {
        jw_object_begin(w);
        show_queue_in_pool(s, w, q, plan->pools[i].name);
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void show_scheduling_rules(struct jw *w, const struct scheduling_rules *r)
{
    jw_key(w, STR("scheduling_rules"));
    jw_object_begin(w);
    jw_member_i64(w, STR("training_run_limit_ms"), r->training_run_ms);
    jw_member_i64(w, STR("training_idle_limit_ms"), r->training_idle_ms);
    jw_member_i64(w, STR("workspace_run_limit_ms"), r->workspace_run_ms);
    jw_member_i64(w, STR("workspace_idle_limit_ms"), r->workspace_idle_ms);
    jw_member_i64(w, STR("preemptible_workspace_idle_limit_ms"), r->workspace_preemptible_idle_ms);
    show_strings(w, STR("training_node_types"), r->training_types, r->training_types_count);
    show_strings(w, STR("workspace_node_types"), r->workspace_types, r->workspace_types_count);
    jw_object_end(w);
}

void show_department(struct show *s, struct jw *w, const struct department *d)
{
    struct queue q = {d->name, d->quotas, d->quotas_count, true};
    jw_object_begin(w);
    jw_member_i64(w, STR("id"), d->id);
    jw_member_string(w, STR("name"), d->name);
    jw_key(w, STR("parent"));
    if (d->parent.len > 0) {
        jw_string(w, d->parent);
    } else {
        jw_null(w);
    }
    jw_member_string(w, STR("owner_group"), d->owner_group);
    show_scheduling_rules(w, &d->rules);
    show_queue_pools(s, w, &q);
    show_counts(s, w, d->name, true, STR(""));
    jw_object_end(w);
}

void show_project(struct show *s, struct jw *w, const struct project *p)
{
    struct queue q = {p->name, p->quotas, p->quotas_count, false};
    jw_object_begin(w);
    jw_member_i64(w, STR("id"), p->id);
    jw_member_string(w, STR("name"), p->name);
    jw_member_string(w, STR("department"), p->department);
    jw_member_string(w, STR("access_group"), p->access_group);
    jw_member_string(w, STR("default_priority"), priority_word(p->default_priority));
    static const struct str words[] = {
        [PREEMPTIBILITY_DEFAULT] = STRS(""),
        [PREEMPTIBLE] = STRS("preemptible"),
        [NON_PREEMPTIBLE] = STRS("non-preemptible"),
    };
    jw_member_string(w, STR("default_preemptibility"), words[p->default_preemptibility]);
    struct arena arena; /* of the lists of node types */
    struct scheduling_rules rules;
    arena_init(&arena, 0);
    plan_rules(&engine_state(s->engine)->plan, p, &arena, &rules);
    show_scheduling_rules(w, &rules);
    arena_done(&arena);
    show_queue_pools(s, w, &q);
    show_counts(s, w, p->name, false, STR(""));
    jw_object_end(w);
}

/* ---- node pools ---- */

struct pool_sums {
    uint32_t nodes, devices;
    int64_t held_share;
};

static int64_t share_held_on(const struct state *st, struct str node)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        const struct workload *wl = &st->workloads[i];
        for (uint32_t k = 0; k < wl->pods_count; k++) {
            const struct pod *p = &wl->pods[k];
            bool holds = p->phase == POD_BINDING || p->phase == POD_RUNNING ||
                         p->phase == POD_RELEASING;
            for (uint32_t d = 0; holds && str_eq(p->node, node) && d < p->devices_count; d++) {
                sum += p->devices[d].share;
            }
        }
    }
    return sum;
}

static struct pool_sums sum_pool(struct show *s, struct str pool)
{
    const struct state *st = engine_state(s->engine);
    struct pool_sums sums = {0};
    for (uint32_t i = 0; i < st->nodes_count; i++) {
        if (str_eq(engine_pool_of(s->engine, &st->nodes[i]), pool)) {
            sums.nodes++;
            sums.devices += st->nodes[i].devices_count;
        }
    }
    for (uint32_t i = 0; i < st->plan.departments_count; i++) {
        const struct department *d = &st->plan.departments[i];
        if (d->parent.len == 0) { /* a parent's sum is its children's */
            sums.held_share += engine_held(s->engine, pool, d->name, true).gpu_share;
        }
    }
    return sums;
}

static void show_queues(struct show *s, struct jw *w, struct str pool)
{
    const struct plan *plan = &engine_state(s->engine)->plan;
    jw_key(w, STR("queues"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < plan->departments_count; i++) {
        const struct department *d = &plan->departments[i];
        struct queue dq = {d->name, d->quotas, d->quotas_count, true};
        if (sight_department(s->sight, i)) {
            jw_object_begin(w);
            jw_member_string(w, STR("kind"), STR("department"));
            jw_member_string(w, STR("name"), d->name);
            jw_member_string(w, STR("parent"), d->parent);
            show_queue_in_pool(s, w, &dq, pool);
            jw_object_end(w);
        }
        for (uint32_t k = 0; k < plan->projects_count; k++) {
            const struct project *p = &plan->projects[k];
            if (!str_eq(p->department, d->name) || !sight_project(s->sight, k)) {
                continue;
            }
            struct queue pq = {p->name, p->quotas, p->quotas_count, false};
            jw_object_begin(w);
            jw_member_string(w, STR("kind"), STR("project"));
            jw_member_string(w, STR("name"), p->name);
            jw_member_string(w, STR("parent"), d->name);
            show_queue_in_pool(s, w, &pq, pool);
            jw_object_end(w);
        }
    }
    jw_array_end(w);
}

static void show_window(struct jw *w, const struct pool *p)
{
    static const struct str types[] = {
        [USAGE_SLIDING] = STRS("sliding"),
        [USAGE_TUMBLING] = STRS("tumbling"),
        [USAGE_CRON] = STRS("cron"),
    };
    jw_key(w, STR("past_use"));
    jw_object_begin(w);
    jw_member_string(w, STR("window_type"), types[p->usage_window]);
    if (p->usage_window != USAGE_CRON) {
        jw_member_i64(w, STR("window_ms"), pool_usage_window_ms(p));
    }
    if (p->usage_window == USAGE_TUMBLING) {
        show_time(w, STR("start"), p->usage_start_ms);
    }
    if (p->usage_window == USAGE_CRON) {
        jw_member_string(w, STR("cron"), p->usage_cron);
    }
    jw_member_i64(w, STR("half_life_ms"), p->usage_half_life_ms);
    jw_key(w, STR("k"));
    jw_decimal(w, WEIGHT_ONE + p->usage_k_less_one, 3);
    jw_key(w, STR("very_low_factor"));
    jw_decimal(w, WEIGHT_ONE + p->usage_low_less_one, 3);
    jw_object_end(w);
}

void show_pool(struct show *s, struct jw *w, const struct pool *p, bool with_queues)
{
    struct pool_sums sums = sum_pool(s, p->name);
    jw_object_begin(w);
    jw_member_string(w, STR("name"), p->name);
    jw_member_string(w, STR("label"),
                     p->label_key.len > 0
                         ? arena_printf(s->arena, STR_FMT "=" STR_FMT, STR_ARG(p->label_key),
                                        STR_ARG(p->label_value))
                         : STR(""));
    jw_member_i64(w, STR("nodes"), sums.nodes);
    jw_member_i64(w, STR("gpus"), sums.devices);
    show_amount(w, STR("gpus_held"), RES_GPU, sums.held_share);
    jw_member_string(w, STR("gpu_placement"), placement_names[p->gpu_placement]);
    jw_member_string(w, STR("cpu_placement"), placement_names[p->cpu_placement]);
    jw_member_i64(w, STR("reclaim_min_runtime_ms"), p->reclaim_min_runtime_ms);
    jw_member_i64(w, STR("preempt_min_runtime_ms"), p->preempt_min_runtime_ms);
    jw_member_i64(w, STR("reservation_after_ms"), p->reservation_after_ms);
    jw_member_bool(w, STR("time_based_fair_share"), p->time_based_fair_share);
    show_window(w, p);
    if (with_queues) {
        show_queues(s, w, p->name);
    }
    jw_object_end(w);
}

/* ---- nodes ---- */

/* Whose it is, for who may know. */
static void show_holder(struct show *s, struct jw *w, const struct workload *wl,
                        const struct pod *p, const struct held_device *d)
{
    bool seen = sight_workload(s->sight, wl);
    jw_object_begin(w);
    if (seen) {
        show_uuid(w, STR("pod"), p->id);
    }
    jw_member_string(w, STR("workload"), seen ? wl->name : STR(""));
    jw_member_string(w, STR("project"), seen ? wl->project : STR(""));
    show_amount(w, STR("share"), RES_GPU, d->share);
    jw_object_end(w);
}

// Pods that still hold what is closed, by d.
static uint32_t pods_left(const struct show *s, const struct drain *d)
{
    const struct state *st = engine_state(s->engine);
    uint32_t left = 0;
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        const struct workload *wl = &st->workloads[i];
        for (uint32_t k = 0; k < wl->pods_count; k++) {
            const struct pod *p = &wl->pods[k];
            bool holds = p->phase == POD_BINDING || p->phase == POD_RUNNING ||
                         p->phase == POD_RELEASING;
            left += holds && drain_covers(d, p);
        }
    }
    return left;
}

// The word for it and what a person said about it; works is whether it could take work.
static void show_status(const struct show *s, struct jw *w, struct str node, struct str device,
                        bool works)
{
    const struct drain *d = engine_drain(s->engine, node, device);
    uint32_t left = d ? pods_left(s, d) : 0;
    struct str word = works ? STR("ready") : device.len > 0 ? STR("sick") : STR("not-ready");
    if (d) {
        word = !d->moves ? STR("cordoned") : left > 0 ? STR("draining") : STR("drained");
    }
    jw_member_string(w, STR("status"), word);
    jw_key(w, STR("drain"));
    if (!d) {
        jw_null(w);
        return;
    }
    jw_object_begin(w);
    jw_member_bool(w, STR("moves"), d->moves);
    show_time(w, STR("since"), d->since_ms);
    show_time(w, STR("deadline"), d->deadline_ms);
    jw_member_string(w, STR("author"), d->author);
    jw_member_string(w, STR("reason"), d->reason);
    jw_member_i64(w, STR("pods_left"), left);
    jw_object_end(w);
}

static void show_device(struct show *s, struct jw *w, const struct node *n,
                        const struct device *dev)
{
    const struct state *st = engine_state(s->engine);
    int64_t held = 0;
    jw_object_begin(w);
    jw_member_string(w, STR("uuid"), dev->uuid);
    jw_member_string(w, STR("model"), dev->model);
    jw_member_i64(w, STR("memory"), dev->memory_bytes);
    jw_member_i64(w, STR("index"), dev->index);
    jw_member_i64(w, STR("numa_node"), dev->numa_node);
    jw_member_bool(w, STR("healthy"), dev->healthy);
    jw_member_string(w, STR("fault"), dev->fault);
    show_status(s, w, n->name, dev->uuid, dev->healthy);
    jw_key(w, STR("pods"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        const struct workload *wl = &st->workloads[i];
        for (uint32_t k = 0; k < wl->pods_count; k++) {
            const struct pod *p = &wl->pods[k];
            bool holds = p->phase == POD_BINDING || p->phase == POD_RUNNING ||
                         p->phase == POD_RELEASING;
            for (uint32_t d = 0; holds && str_eq(p->node, n->name) && d < p->devices_count; d++) {
                if (str_eq(p->devices[d].uuid, dev->uuid)) {
                    held += p->devices[d].share;
                    show_holder(s, w, wl, p, &p->devices[d]);
                }
            }
        }
    }
    jw_array_end(w);
    show_amount(w, STR("held"), RES_GPU, held);
    jw_object_end(w);
}

static int by_index(const void *a, const void *b, void *ctx)
{
    const struct device *devices = ctx;
    int64_t x = devices[*(const uint32_t *)a].index;
    int64_t y = devices[*(const uint32_t *)b].index;
    return x < y ? -1 : x > y;
}

void show_node(struct show *s, struct jw *w, const struct node *n)
{
    const struct state *st = engine_state(s->engine);
    int64_t cpu_held = 0;
    int64_t memory_held = 0;
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        const struct workload *wl = &st->workloads[i];
        for (uint32_t k = 0; k < wl->pods_count; k++) {
            const struct pod *p = &wl->pods[k];
            if ((p->phase == POD_BINDING || p->phase == POD_RUNNING || p->phase == POD_RELEASING) &&
                str_eq(p->node, n->name)) {
                cpu_held += wl->spec.pod.cpu_milli;
                memory_held += wl->spec.pod.memory_bytes;
            }
        }
    }
    jw_object_begin(w);
    jw_member_string(w, STR("name"), n->name);
    jw_member_string(w, STR("pool"), engine_pool_of(s->engine, n));
    jw_member_bool(w, STR("ready"), n->ready);
    show_status(s, w, n->name, STR(""), n->ready);
    show_pairs(w, STR("labels"), n->labels, n->labels_count);
    show_amount(w, STR("cpu"), RES_CPU, n->cpu_milli);
    show_amount(w, STR("memory"), RES_MEMORY, n->memory_bytes);
    show_amount(w, STR("cpu_held"), RES_CPU, cpu_held);
    show_amount(w, STR("memory_held"), RES_MEMORY, memory_held);
    show_strings(w, STR("notes"), n->notes, n->notes_count);
    jw_key(w, STR("zones"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < n->zones_count; i++) {
        jw_object_begin(w);
        jw_member_i64(w, STR("numa_node"), n->zones[i].numa_node);
        show_amount(w, STR("cpu"), RES_CPU, n->zones[i].cpu_milli);
        show_amount(w, STR("memory"), RES_MEMORY, n->zones[i].memory_bytes);
        jw_member_string(w, STR("cpus"), n->zones[i].cpus);
        jw_object_end(w);
    }
    jw_array_end(w);
    jw_member_i64(w, STR("gpus"), n->devices_count);
    show_amount(w, STR("gpus_held"), RES_GPU, share_held_on(st, n->name));
    jw_key(w, STR("devices"));
    jw_array_begin(w);
    uint32_t *order = ARENA_ARRAY(s->arena, uint32_t, n->devices_count);
    for (uint32_t i = 0; i < n->devices_count; i++) {
        order[i] = i;
    }
    sort_stable(order, n->devices_count, sizeof *order, by_index, n->devices, s->arena);
    for (uint32_t i = 0; i < n->devices_count; i++) {
        show_device(s, w, n, &n->devices[order[i]]);
    }
    jw_array_end(w);
    jw_object_end(w);
}

void show_summary(struct show *s, struct jw *w)
{
    const struct state *st = engine_state(s->engine);
    uint32_t gpus = 0;
    uint32_t ready = 0;
    int64_t held = 0;
    for (uint32_t i = 0; i < st->nodes_count; i++) {
        const struct node *n = &st->nodes[i];
        gpus += n->devices_count;
        bool open = n->ready && !engine_drain(s->engine, n->name, STR(""));
        for (uint32_t d = 0; open && d < n->devices_count; d++) {
            ready += n->devices[d].healthy && !engine_drain(s->engine, n->name, n->devices[d].uuid);
        }
    }
    for (uint32_t i = 0; i < st->plan.departments_count; i++) {
        if (st->plan.departments[i].parent.len == 0) {
            held += engine_held(s->engine, STR(""), st->plan.departments[i].name, true).gpu_share;
        }
    }
    enum { PHASES_MAX = 16 };
    struct {
        struct str phase;
        uint32_t count;
    } phases[PHASES_MAX];
    uint32_t phase_count = 0;
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        struct str phase = workload_phase(&st->workloads[i]);
        uint32_t at = sight_workload(s->sight, &st->workloads[i]) ? 0 : PHASES_MAX;
        while (at < phase_count && !str_eq(phases[at].phase, phase)) {
            at++;
        }
        if (at == phase_count && phase_count < PHASES_MAX) { /* else not seen, or a known one */
            phases[phase_count].phase = phase;
            phases[phase_count++].count = 0;
        }
        if (at < phase_count) {
            phases[at].count++;
        }
    }
    jw_object_begin(w);
    jw_member_i64(w, STR("gpus"), gpus);
    jw_member_i64(w, STR("gpus_ready"), ready);
    show_amount(w, STR("gpus_held"), RES_GPU, held);
    jw_member_i64(w, STR("nodes"), st->nodes_count);
    jw_key(w, STR("workloads"));
    jw_object_begin(w);
    for (uint32_t i = 0; i < phase_count; i++) {
        jw_member_i64(w, phases[i].phase, phases[i].count);
    }
    jw_object_end(w);
    jw_member_i64(w, STR("revision"), st->plan_revision);
    jw_member_i64(w, STR("seq"), st->seq);
    jw_object_end(w);
}

/* ---- plans ---- */

void show_changes(struct jw *w, const struct plan_change *changes, uint32_t count)
{
    static const struct str kinds[] = {
        [CHANGE_ADD] = STRS("add"),
        [CHANGE_REMOVE] = STRS("remove"),
        [CHANGE_SET] = STRS("set"),
    };
    jw_array_begin(w);
    for (uint32_t i = 0; i < count; i++) {
        jw_object_begin(w);
        jw_member_string(w, STR("kind"), kinds[changes[i].kind]);
        jw_member_string(w, STR("what"), changes[i].what);
        jw_member_string(w, STR("field"), changes[i].field);
        jw_member_string(w, STR("from"), changes[i].from);
        jw_member_string(w, STR("to"), changes[i].to);
        jw_object_end(w);
    }
    jw_array_end(w);
}

void show_problems(struct jw *w, const struct problems *problems)
{
    jw_array_begin(w);
    for (uint32_t i = 0; i < problems->count; i++) {
        const struct problem *p = &problems->items[i];
        jw_object_begin(w);
        jw_member_string(w, STR("severity"),
                         p->severity == SEVERITY_ERROR ? STR("error") : STR("warning"));
        jw_member_i64(w, STR("line"), p->line);
        jw_member_i64(w, STR("col"), p->col);
        jw_member_string(w, STR("field"), p->field);
        jw_member_string(w, STR("text"), p->text);
        jw_member_string(w, STR("hint"), p->hint);
        jw_object_end(w);
    }
    jw_array_end(w);
}

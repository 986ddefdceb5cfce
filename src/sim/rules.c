// SPDX-License-Identifier: Apache-2.0
#include "sim/rules.h"

#include "base/array.h"
#include "base/check.h"
#include "model/ids.h"
#include "model/reason.h"
#include "model/resources.h"
#include "model/units.h"
#include "sim/hold.h"

enum { STALE_MS = 60 * 1000 };

struct rules {
    const struct engine *e;
    const struct state *s;
    const struct tick *t;
    int64_t now_ms;
    struct arena *a;
    struct str breach;
};

#define BREACH(r, ...) ((r)->breach = arena_printf((r)->a, __VA_ARGS__), false)

/* ---- looking things up, by looking at everything ---- */

struct place {
    const struct workload *w;
    const struct pod *p;
};

static struct place find_pod(const struct state *s, struct uuid id)
{
    for (uint32_t i = 0; i < s->workloads_count; i++) {
        for (uint32_t k = 0; k < s->workloads[i].pods_count; k++) {
            if (uuid_eq(s->workloads[i].pods[k].id, id)) {
                return (struct place){&s->workloads[i], &s->workloads[i].pods[k]};
            }
        }
    }
    return (struct place){NULL, NULL};
}

static const struct node *find_node(const struct state *s, struct str name)
{
    for (uint32_t i = 0; i < s->nodes_count; i++) {
        if (str_eq(s->nodes[i].name, name)) {
            return &s->nodes[i];
        }
    }
    return NULL;
}

static const struct project *find_project(const struct state *s, struct str name)
{
    for (uint32_t i = 0; i < s->plan.projects_count; i++) {
        if (str_eq(s->plan.projects[i].name, name)) {
            return &s->plan.projects[i];
        }
    }
    return NULL;
}

static const struct department *find_department(const struct state *s, struct str name)
{
    for (uint32_t i = 0; i < s->plan.departments_count; i++) {
        if (str_eq(s->plan.departments[i].name, name)) {
            return &s->plan.departments[i];
        }
    }
    return NULL;
}

static bool department_is_above(const struct state *s, struct str project, struct str department)
{
    const struct project *p = find_project(s, project);
    const struct department *d = p ? find_department(s, p->department) : NULL;
    for (uint32_t i = 0; d && i <= s->plan.departments_count; i++) {
        if (str_eq(d->name, department)) {
            return true;
        }
        d = find_department(s, d->parent);
    }
    return false;
}

static bool is_active(const struct pod *p)
{
    return p->phase == POD_BINDING || p->phase == POD_RUNNING;
}

static bool is_evicted(const struct tick *t, const struct pod *p)
{
    for (uint32_t i = 0; t && i < t->evicts_count; i++) {
        if (uuid_eq(t->evicts[i].pod, p->id)) {
            return true;
        }
    }
    return false;
}

static const struct bind *bind_of(const struct tick *t, const struct pod *p)
{
    for (uint32_t i = 0; t && i < t->binds_count; i++) {
        if (uuid_eq(t->binds[i].pod, p->id)) {
            return &t->binds[i];
        }
    }
    return NULL;
}

static int64_t cost_of(const struct node *n, const struct held_device *held, uint32_t count,
                       const struct pod_spec *spec)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t d = 0; d < n->devices_count; d++) {
            sum += str_eq(n->devices[d].uuid, held[i].uuid) ? hold_cost(&n->devices[d], spec) : 0;
        }
    }
    return sum;
}

// Where a pod is once the tick is done.
struct spot {
    const struct node *node; /* NULL: nowhere */
    const struct held_device *devices;
    uint32_t devices_count;
};

static struct spot spot_after(const struct rules *r, const struct pod *p)
{
    const struct bind *b = bind_of(r->t, p);
    if (b) {
        return (struct spot){find_node(r->s, b->node), b->devices, b->devices_count};
    }
    if (!is_active(p) || is_evicted(r->t, p)) {
        return (struct spot){NULL, NULL, 0};
    }
    return (struct spot){find_node(r->s, p->node), p->devices, p->devices_count};
}

static struct str pool_after(const struct rules *r, const struct pod *p)
{
    struct spot at = spot_after(r, p);
    return at.node ? engine_pool_of(r->e, at.node) : STR("");
}

static const struct claim *claims_after(const struct rules *r, uint32_t *count)
{
    *count = r->t ? r->t->claims_count : r->s->claims_count;
    return r->t ? r->t->claims : r->s->claims;
}

static void add_spot(const struct rules *r, const struct workload *w, struct str pool,
                     const struct spot *at, struct amounts *sum)
{
    const struct pod_spec *spec = &w->spec.pod;
    if (at->node && str_eq(engine_pool_of(r->e, at->node), pool)) {
        struct amounts more = {
            {cost_of(at->node, at->devices, at->devices_count, spec), spec->cpu_milli,
             spec->memory_bytes}
        };
        amounts_add(sum, &more);
    }
}

// What a workload has in a pool once the tick is done. What is kept for it counts as if it were
// there.
static void add_workload(const struct rules *r, const struct workload *w, struct str pool,
                         struct amounts *sum)
{
    uint32_t count;
    const struct claim *claims = claims_after(r, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct claim *c = &claims[i];
        if (uuid_eq(c->workload, w->id)) {
            struct spot at = {find_node(r->s, c->node), c->devices, c->devices_count};
            add_spot(r, w, pool, &at, sum);
        }
    }
    for (uint32_t k = 0; k < w->pods_count; k++) {
        struct spot at = spot_after(r, &w->pods[k]);
        add_spot(r, w, pool, &at, sum);
    }
}

// What a queue has in a pool once the tick is done, of all or of non-preemptible work.
static struct amounts queue_after(const struct rules *r, struct str pool, struct str queue,
                                  bool department, bool non_preemptible)
{
    struct amounts sum = {{0}};
    for (uint32_t i = 0; i < r->s->workloads_count; i++) {
        const struct workload *w = &r->s->workloads[i];
        bool of_queue = department ? department_is_above(r->s, w->project, queue)
                                   : str_eq(w->project, queue);
        if (of_queue && (!non_preemptible || w->spec.preemptibility == NON_PREEMPTIBLE)) {
            add_workload(r, w, pool, &sum);
        }
    }
    return sum;
}

static int64_t take_of(const struct device *d, const struct held_device *held, uint32_t count,
                       const struct workload *w)
{
    for (uint32_t i = 0; i < count; i++) {
        if (str_eq(held[i].uuid, d->uuid)) {
            return hold_take(d, &w->spec.pod);
        }
    }
    return 0;
}

// What is taken of a device: by all who are there or start there now; with promised, once who
// leaves has left, and with what is kept there.
static int64_t device_taken(const struct rules *r, const struct node *n, const struct device *d,
                            bool promised)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < r->s->workloads_count; i++) {
        const struct workload *w = &r->s->workloads[i];
        for (uint32_t k = 0; k < w->pods_count; k++) {
            const struct pod *p = &w->pods[k];
            struct spot at = spot_after(r, p);
            if (at.node == n) {
                sum += take_of(d, at.devices, at.devices_count, w);
            } else if (!promised && str_eq(p->node, n->name)) {
                sum += take_of(d, p->devices, p->devices_count, w);
            }
        }
    }
    uint32_t count;
    const struct claim *claims = claims_after(r, &count);
    for (uint32_t i = 0; promised && i < count; i++) {
        const struct workload *w = engine_find(r->e, claims[i].workload);
        if (w && str_eq(claims[i].node, n->name)) {
            sum += take_of(d, claims[i].devices, claims[i].devices_count, w);
        }
    }
    return sum;
}

static struct amounts guarantee(const struct quota *q)
{
    return (struct amounts){
        {q->gpu_share, q->cpu_milli, q->memory_bytes}
    };
}

static struct amounts maximum(const struct quota *q)
{
    struct amounts m = {
        {q->gpu_max_share, q->cpu_max_milli, q->memory_max_bytes}
    };
    struct amounts g = guarantee(q);
    for (int i = 0; i < RES_COUNT && !q->over_quota; i++) {
        m.v[i] = amount_le(g.v[i], m.v[i]) ? g.v[i] : m.v[i];
    }
    return m;
}

// Whether a node, or a device of it, is closed for new work.
static bool is_closed(const struct rules *r, struct str node, struct str device)
{
    for (uint32_t i = 0; i < r->s->drains_count; i++) {
        if (str_eq(r->s->drains[i].node, node) && str_eq(r->s->drains[i].device, device)) {
            return true;
        }
    }
    return false;
}

/* ---- evictions ---- */

// Whether more of the claimant's pods have a place than before, or one is kept for it. Its own that
// move get no more than they had: it may take the place of another for which they were to move.
static bool claimant_served(const struct rules *r, struct uuid claimant)
{
    const struct workload *w = engine_find(r->e, claimant);
    int64_t served = 0;
    for (uint32_t i = 0; w && i < w->pods_count; i++) {
        served += bind_of(r->t, &w->pods[i]) != NULL;
    }
    for (uint32_t i = 0; i < r->t->claims_count; i++) {
        served += uuid_eq(r->t->claims[i].workload, claimant);
    }
    for (uint32_t i = 0; i < r->t->evicts_count; i++) {
        served -= r->t->evicts[i].move && find_pod(r->s, r->t->evicts[i].pod).w == w;
    }
    return served > 0;
}

// Pods that had a place and still have one after the first count evictions; one that is moved
// counts, its place is kept.
static int64_t left_after(const struct rules *r, const struct workload *w, uint32_t count)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < w->pods_count; i++) {
        n += is_active(&w->pods[i]) || bind_of(r->t, &w->pods[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct evict *ev = &r->t->evicts[i];
        n -= !ev->move && find_pod(r->s, ev->pod).w == w;
    }
    return n;
}

static int64_t succeeded(const struct workload *w)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < w->pods_count; i++) {
        n += w->pods[i].phase == POD_SUCCEEDED;
    }
    return n;
}

static int64_t min_runtime_ms(const struct rules *r, const struct pod *p, uint32_t code)
{
    const struct node *n = find_node(r->s, p->node);
    struct str name = n ? engine_pool_of(r->e, n) : STR("");
    for (uint32_t i = 0; i < r->s->plan.pools_count; i++) {
        const struct pool *pool = &r->s->plan.pools[i];
        if (str_eq(pool->name, name)) {
            return code == REASON_EVICTED_PREEMPT   ? pool->preempt_min_runtime_ms
                   : code == REASON_EVICTED_RECLAIM ? pool->reclaim_min_runtime_ms
                                                    : 0;
        }
    }
    return 0;
}

// For whom, and whether they may be.
static bool claimant_ok(struct rules *r, const struct workload *w, const struct evict *ev)
{
    const struct why *why = &ev->why;
    if (w->spec.preemptibility != PREEMPTIBLE) {
        return BREACH(r, "non-preemptible %.*s is evicted for \"%.*s\" (R2)", STR_ARG(w->name),
                      STR_ARG(why->other_name));
    }
    if (!engine_find(r->e, why->other) || (uuid_eq(why->other, w->id) && !ev->move)) {
        return BREACH(r, "%.*s is evicted for nobody (R4)", STR_ARG(w->name));
    }
    if (!claimant_served(r, why->other)) {
        return BREACH(r, "%.*s is evicted for \"%.*s\", which neither starts nor has a claim (R4)",
                      STR_ARG(w->name), STR_ARG(why->other_name));
    }
    return true;
}

// What is left of the victim by the nth eviction, and whether it ran long enough.
static bool remainder_ok(struct rules *r, uint32_t nth, const struct place *at)
{
    const struct workload *w = at->w;
    int64_t left = left_after(r, w, nth + 1) + succeeded(w);
    if (left >= w->spec.pods_min) {
        return true;
    }
    int64_t ran_ms = w->last_start_ms == TIME_NEVER ? 0 : r->now_ms - w->last_start_ms;
    if (ran_ms < min_runtime_ms(r, at->p, r->t->evicts[nth].why.code)) {
        return BREACH(r, "%.*s is evicted after %lld ms, before its minimum run time (R1)",
                      STR_ARG(w->name), (long long)ran_ms);
    }
    if (left_after(r, w, r->t->evicts_count) > 0 && w->stale_since_ms == TIME_NEVER) {
        return BREACH(r, "gang %.*s is left with %lld of at least %lld (R5)", STR_ARG(w->name),
                      (long long)left, (long long)w->spec.pods_min);
    }
    return true;
}

static bool stale_ok(struct rules *r, const struct workload *w)
{
    if (w->stale_since_ms == TIME_NEVER || r->now_ms - w->stale_since_ms < STALE_MS) {
        return BREACH(r, "%.*s is evicted as stale and is not", STR_ARG(w->name));
    }
    return true;
}

// The place of the pod is being drained; over: and that should be done by now.
static bool is_drained(const struct rules *r, const struct pod *p, bool device, bool over)
{
    for (uint32_t i = 0; i < r->s->drains_count; i++) {
        const struct drain *d = &r->s->drains[i];
        bool late = d->deadline_ms != TIME_NEVER && d->deadline_ms <= r->now_ms;
        if (d->moves && drain_covers(d, p) && (over ? late : (d->device.len > 0) == device)) {
            return true;
        }
    }
    return false;
}

static bool drain_ok(struct rules *r, const struct place *at, const struct evict *ev)
{
    bool over = ev->why.code == REASON_EVICTED_DRAIN_DEADLINE;
    bool device = ev->why.code == REASON_EVICTED_DEVICE_DRAIN;
    if (!is_drained(r, at->p, device, over)) {
        return BREACH(r, "%.*s is stopped for a drain that is none", STR_ARG(at->w->name));
    }
    if (!over && (!ev->move || at->w->spec.preemptibility != PREEMPTIBLE)) {
        return BREACH(r, "%.*s is not moved by a drain, but stopped (R2)", STR_ARG(at->w->name));
    }
    return true;
}

// Who is stopped or moved for others, or for a drain, leaves as many running as its budget says.
static bool budget_ok(struct rules *r, const struct place *at)
{
    const struct workload *w = at->w;
    int64_t run = succeeded(w);
    for (uint32_t i = 0; i < w->pods_count; i++) {
        run += w->pods[i].phase == POD_RUNNING && !is_evicted(r->t, &w->pods[i]);
    }
    return at->p->phase != POD_RUNNING || run >= w->spec.available_min
               ? true
               : BREACH(r, "%.*s is left with %lld running pods, its budget says %lld",
                        STR_ARG(w->name), (long long)run, (long long)w->spec.available_min);
}

// Its scheduling rules let it run, or idle, no longer.
static bool limit_ok(struct rules *r, const struct workload *w, bool idle)
{
    bool by_idle;
    int64_t limit_ms;
    if (workload_stop_at_ms(w, &by_idle, &limit_ms) > r->now_ms || by_idle != idle) {
        return BREACH(r, "%.*s is stopped by a limit that it has not reached", STR_ARG(w->name));
    }
    return true;
}

static bool evict_ok(struct rules *r, uint32_t nth)
{
    const struct why *why = &r->t->evicts[nth].why;
    struct place at = find_pod(r->s, r->t->evicts[nth].pod);
    if (!at.p || !is_active(at.p)) {
        return BREACH(r, "a pod is evicted that does not run");
    }
    if (why->code == REASON_STOPPED_RUN_LIMIT || why->code == REASON_STOPPED_IDLE_LIMIT) {
        return limit_ok(r, at.w, why->code == REASON_STOPPED_IDLE_LIMIT);
    }
    if (why->code != REASON_EVICTED_STALE && why->code != REASON_EVICTED_DRAIN_DEADLINE &&
        !budget_ok(r, &at)) {
        return false;
    }
    if (why->code == REASON_EVICTED_DRAIN || why->code == REASON_EVICTED_DEVICE_DRAIN ||
        why->code == REASON_EVICTED_DRAIN_DEADLINE) {
        return drain_ok(r, &at, &r->t->evicts[nth]);
    }
    if (why->code < REASON_EVICTED_RECLAIM || why->code > REASON_EVICTED_STALE) {
        return BREACH(r, "%.*s is evicted for reason %u, which is none (R9)", STR_ARG(at.w->name),
                      why->code);
    }
    return why->code == REASON_EVICTED_STALE
               ? stale_ok(r, at.w)
               : claimant_ok(r, at.w, &r->t->evicts[nth]) && remainder_ok(r, nth, &at);
}

/* ---- starts ---- */

struct bounds {
    const char *what;
    struct str name, pool;
    struct quota quota;
    bool department;
};

// What the queue has in the end is within its maximum, and its non-preemptible part within the
// guarantee, of all that w asks for.
static bool within(struct rules *r, const struct workload *w, const struct bounds *b)
{
    const struct pod_spec *p = &w->spec.pod;
    const int64_t need[RES_COUNT] = {p->gpu_devices, p->cpu_milli, p->memory_bytes};
    struct amounts most = maximum(&b->quota);
    struct amounts share = guarantee(&b->quota);
    struct amounts all = queue_after(r, b->pool, b->name, b->department, false);
    struct amounts firm = queue_after(r, b->pool, b->name, b->department, true);
    for (int i = 0; i < RES_COUNT; i++) {
        if (need[i] > 0 && !amount_le(all.v[i], most.v[i])) {
            return BREACH(r, "%.*s starts and %s %.*s has %lld of resource %d, maximum %lld (R6)",
                          STR_ARG(w->name), b->what, STR_ARG(b->name), (long long)all.v[i], i,
                          (long long)most.v[i]);
        }
        if (w->spec.preemptibility == NON_PREEMPTIBLE && need[i] > 0 &&
            !amount_le(firm.v[i], share.v[i])) {
            return BREACH(r,
                          "%.*s starts and %s %.*s has %lld of resource %d in non-preemptible "
                          "work, guaranteed %lld (R2)",
                          STR_ARG(w->name), b->what, STR_ARG(b->name), (long long)firm.v[i], i,
                          (long long)share.v[i]);
        }
    }
    return true;
}

static bool within_all(struct rules *r, const struct workload *w, struct str pool)
{
    const struct project *p = find_project(r->s, w->project);
    if (!p) {
        return BREACH(r, "%.*s starts and its project is not there", STR_ARG(w->name));
    }
    struct bounds b = {"project", p->name, pool, plan_quota(p->quotas, p->quotas_count, pool),
                       false};
    const struct department *d = find_department(r->s, p->department);
    while (within(r, w, &b)) {
        if (!d) {
            return true;
        }
        b = (struct bounds){"department", d->name, pool,
                            plan_quota(d->quotas, d->quotas_count, pool), true};
        d = find_department(r->s, d->parent);
    }
    return false;
}

static const struct device *find_device(const struct node *n, struct str uuid)
{
    for (uint32_t d = 0; d < n->devices_count; d++) {
        if (str_eq(n->devices[d].uuid, uuid)) {
            return &n->devices[d];
        }
    }
    return NULL;
}

// Each device has room for it, now and beside what is kept for others, and is charged as it asks.
static bool devices_ok(struct rules *r, const struct workload *w, const struct bind *b,
                       const struct node *n)
{
    for (uint32_t i = 0; i < b->devices_count; i++) {
        const struct device *d = find_device(n, b->devices[i].uuid);
        if (!d || !d->healthy || b->devices[i].share != hold_cost(d, &w->spec.pod)) {
            return BREACH(r, "%.*s is given %lld/7000 of a device, or one that is not there",
                          STR_ARG(w->name), (long long)b->devices[i].share);
        }
        if (device_taken(r, n, d, false) > hold_whole(d)) {
            return BREACH(r, "%.*s starts on a device without room", STR_ARG(w->name));
        }
        if (device_taken(r, n, d, true) > hold_whole(d)) {
            return BREACH(r, "%.*s starts on a device that is kept for another (R7)",
                          STR_ARG(w->name));
        }
    }
    return true;
}

static bool in_one_pool(struct rules *r, const struct workload *w, struct str pool)
{
    for (uint32_t i = 0; i < w->pods_count; i++) {
        struct str other = pool_after(r, &w->pods[i]);
        if (other.len > 0 && !str_eq(other, pool)) {
            return BREACH(r, "%.*s is split over two pools", STR_ARG(w->name));
        }
    }
    return str_eq(pool, w->spec.pools[w->pool_ix].value)
               ? true
               : BREACH(r, "%.*s starts in a pool it is not tried in", STR_ARG(w->name));
}

// All devices are of the one NUMA node that it is put on.
static bool zone_ok(struct rules *r, const struct workload *w, const struct bind *b,
                    const struct node *n)
{
    bool ok = (b->numa_plus_one > 0) == (w->spec.pod.single_numa && n->zones_count > 1);
    for (uint32_t i = 0; i < b->devices_count && b->numa_plus_one > 0; i++) {
        for (uint32_t d = 0; d < n->devices_count; d++) {
            ok = ok && (!str_eq(n->devices[d].uuid, b->devices[i].uuid) ||
                        n->devices[d].numa_node == b->numa_plus_one - 1);
        }
    }
    return ok ? true : BREACH(r, "%.*s is spread over NUMA nodes", STR_ARG(w->name));
}

static bool bind_ok(struct rules *r, const struct bind *b)
{
    struct place at = find_pod(r->s, b->pod);
    const struct node *n = find_node(r->s, b->node);
    if (!at.p || at.p->phase != POD_PENDING || at.w->desired != WANT_RUN) {
        return BREACH(r, "a pod is started that does not wait");
    }
    const struct workload *w = at.w;
    if (!n || !n->ready || at.p->retry_at_ms > r->now_ms) {
        return BREACH(r, "%.*s is started too early, or on a node that is not there",
                      STR_ARG(w->name));
    }
    bool closed = is_closed(r, n->name, STR(""));
    for (uint32_t i = 0; i < b->devices_count; i++) {
        closed = closed || is_closed(r, n->name, b->devices[i].uuid);
    }
    if (closed) {
        return BREACH(r, "%.*s is started on what is closed for new work", STR_ARG(w->name));
    }
    if (b->devices_count != (uint32_t)w->spec.pod.gpu_devices) {
        return BREACH(r, "%.*s is given %u devices", STR_ARG(w->name), b->devices_count);
    }
    if (left_after(r, w, r->t->evicts_count) + succeeded(w) < w->spec.pods_min) {
        return BREACH(r, "gang %.*s starts with less than its minimum (R5)", STR_ARG(w->name));
    }
    struct str pool = engine_pool_of(r->e, n);
    return zone_ok(r, w, b, n) && in_one_pool(r, w, pool) && devices_ok(r, w, b, n) &&
           within_all(r, w, pool);
}

static bool node_holds(struct rules *r, const struct node *n)
{
    int64_t cpu = 0;
    int64_t memory = 0;
    bool started = false;
    for (uint32_t k = 0; k < r->s->workloads_count; k++) {
        const struct workload *w = &r->s->workloads[k];
        for (uint32_t j = 0; j < w->pods_count; j++) {
            const struct pod *p = &w->pods[j];
            const struct bind *b = bind_of(r->t, p);
            bool held = is_active(p) || p->phase == POD_RELEASING;
            if ((b && str_eq(b->node, n->name)) || (held && str_eq(p->node, n->name))) {
                cpu += w->spec.pod.cpu_milli;
                memory += w->spec.pod.memory_bytes;
                started = started || b;
            }
        }
    }
    return started && (cpu > n->cpu_milli || memory > n->memory_bytes)
               ? BREACH(r, "node %.*s is given more CPU or memory than it has", STR_ARG(n->name))
               : true;
}

static bool nodes_hold(struct rules *r)
{
    for (uint32_t i = 0; i < r->s->nodes_count; i++) {
        if (!node_holds(r, &r->s->nodes[i])) {
            return false;
        }
    }
    return true;
}

/* ---- claims ---- */

static bool waits_for(const struct rules *r, const struct claim *c)
{
    const struct workload *w = engine_find(r->e, c->workload);
    const struct node *n = find_node(r->s, c->node);
    bool waiting = false;
    for (uint32_t i = 0; w && i < w->pods_count; i++) {
        waiting = waiting || (w->pods[i].phase == POD_PENDING && !bind_of(r->t, &w->pods[i]));
    }
    return waiting && w->desired == WANT_RUN && n && n->ready && !is_closed(r, n->name, STR(""));
}

static bool claims_ok(struct rules *r)
{
    for (uint32_t i = 0; i < r->t->claims_count; i++) {
        const struct claim *c = &r->t->claims[i];
        if (!waits_for(r, c)) {
            struct place at = find_pod(r->s, c->pod);
            bool moving = at.p && (at.p->phase == POD_RELEASING || is_evicted(r->t, at.p));
            if (!moving) {
                return BREACH(r, "a place is kept for what does not wait (R7)");
            }
        }
    }
    return true;
}

struct str rules_tick(const struct engine *e, const struct tick *t, int64_t now_ms,
                      struct arena *arena)
{
    struct rules r = {.e = e, .s = engine_state(e), .t = t, .now_ms = now_ms, .a = arena};
    bool ok = claims_ok(&r);
    for (uint32_t i = 0; ok && i < t->evicts_count; i++) {
        ok = evict_ok(&r, i);
    }
    for (uint32_t i = 0; ok && i < t->binds_count; i++) {
        ok = bind_ok(&r, &t->binds[i]);
    }
    (void)(ok && t->binds_count > 0 && nodes_hold(&r));
    return r.breach;
}

struct str rules_applied(const struct engine *e, const struct tick *t, struct arena *arena)
{
    struct rules r = {.e = e, .s = engine_state(e), .a = arena};
    for (uint32_t i = 0; i < t->binds_count; i++) {
        struct place at = find_pod(r.s, t->binds[i].pod);
        if (!at.p || at.p->phase != POD_BINDING || !str_eq(at.p->node, t->binds[i].node)) {
            (void)BREACH(&r, "a start that was decided is not done");
        }
    }
    return r.breach;
}

/* ---- reasons ---- */

// Who asks for one NUMA node may find none on a node that has room.
static bool fits(const struct rules *r, const struct workload *w, const struct node *n)
{
    int64_t cpu = n->cpu_milli;
    int64_t memory = n->memory_bytes;
    int64_t pods = n->pods_max;
    for (uint32_t i = 0; i < r->s->workloads_count; i++) {
        const struct workload *o = &r->s->workloads[i];
        for (uint32_t k = 0; k < o->pods_count; k++) {
            const struct pod *p = &o->pods[k];
            bool here = (is_active(p) || p->phase == POD_RELEASING) && str_eq(p->node, n->name);
            cpu -= here ? o->spec.pod.cpu_milli : 0;
            memory -= here ? o->spec.pod.memory_bytes : 0;
            pods -= here;
        }
    }
    int64_t devices = 0;
    for (uint32_t d = 0; d < n->devices_count; d++) {
        const struct device *at = &n->devices[d];
        int64_t room = hold_whole(at) - device_taken(r, n, at, false);
        devices += at->healthy && room >= hold_take(at, &w->spec.pod) &&
                   !is_closed(r, n->name, at->uuid);
    }
    bool divided = w->spec.pod.single_numa && n->zones_count > 1;
    return n->ready && !divided && !is_closed(r, n->name, STR("")) && pods > 0 &&
           devices >= w->spec.pod.gpu_devices && cpu >= w->spec.pod.cpu_milli &&
           memory >= w->spec.pod.memory_bytes;
}

static bool no_node_is_true(struct rules *r, const struct workload *w)
{
    for (uint32_t i = 0; i < r->s->nodes_count; i++) {
        const struct node *n = &r->s->nodes[i];
        if (str_eq(engine_pool_of(r->e, n), w->why.pool) && fits(r, w, n)) {
            return BREACH(r, "%.*s waits as if no node fits, but %.*s does (R9)", STR_ARG(w->name),
                          STR_ARG(n->name));
        }
    }
    return true;
}

// What all pods of a workload can be charged at most: memory costs most where devices are small.
static struct amounts most_of(const struct rules *r, const struct workload *w)
{
    const struct pod_spec *p = &w->spec.pod;
    int64_t cost = 0;
    for (uint32_t i = 0; i < r->s->nodes_count; i++) {
        for (uint32_t d = 0; d < r->s->nodes[i].devices_count; d++) {
            int64_t there = hold_cost(&r->s->nodes[i].devices[d], p);
            cost = there > cost ? there : cost;
        }
    }
    return (struct amounts){
        {w->pods_count * p->gpu_devices * cost, w->pods_count * p->cpu_milli,
         w->pods_count * p->memory_bytes}
    };
}

// What of a queue is promised places that are still being left, by the reasons of what waits.
static int64_t promised(const struct rules *r, const struct workload *for_whom)
{
    const struct why *why = &for_whom->why;
    int64_t sum = 0;
    for (uint32_t i = 0; i < r->s->workloads_count; i++) {
        const struct workload *w = &r->s->workloads[i];
        bool of_queue = why->queue_is_department ? department_is_above(r->s, w->project, why->queue)
                                                 : str_eq(w->project, why->queue);
        if (of_queue && str_eq(w->why.pool, why->pool) &&
            (w->why.code == REASON_WAITING_FOR_RELEASE || w->why.code == REASON_WAITING_FOR_CLAIM ||
             w->why.code == REASON_PARTLY_PLACED)) {
            sum += most_of(r, w).v[why->resource];
        }
    }
    return sum;
}

static bool bound_is_true(struct rules *r, const struct workload *w, bool non_preemptible)
{
    const struct why *why = &w->why;
    struct amounts has = queue_after(r, why->pool, why->queue, why->queue_is_department,
                                     non_preemptible);
    int64_t held = has.v[why->resource];
    if (why->held < held || why->held > held + promised(r, w) ||
        amount_le(why->held + why->requested, why->bound)) {
        return BREACH(r, "%.*s waits for a bound of %.*s: says %lld of %lld held, it is %lld (R9)",
                      STR_ARG(w->name), STR_ARG(why->queue), (long long)why->held,
                      (long long)why->bound, (long long)held);
    }
    return true;
}

static bool reason_ok(struct rules *r, const struct workload *w)
{
    bool none = w->why.code == REASON_NONE || w->why.code == REASON_PLACED;
    bool of_a_stop = w->why.code >= REASON_EVICTED_RECLAIM && w->why.code <= REASON_EVICTED_STALE;
    if (none || of_a_stop || w->why.code >= REASON_COUNT) {
        return BREACH(r, "%.*s waits without a reason (R9)", STR_ARG(w->name));
    }
    if (w->pods_count == 1 && r->s->claims_count == 0 &&
        (w->why.code == REASON_NO_NODE_FITS || w->why.code == REASON_TOO_LARGE)) {
        return no_node_is_true(r, w);
    }
    if (w->pods_count == 1 && w->why.code == REASON_OVER_LIMIT) {
        return bound_is_true(r, w, false);
    }
    if (w->pods_count == 1 && w->why.code == REASON_NON_PREEMPTIBLE_OVER_QUOTA) {
        return bound_is_true(r, w, true);
    }
    return true;
}

struct str rules_settled(const struct engine *e, int64_t now_ms, struct arena *arena)
{
    struct rules r = {.e = e, .s = engine_state(e), .now_ms = now_ms, .a = arena};
    for (uint32_t i = 0; i < r.s->workloads_count; i++) {
        const struct workload *w = &r.s->workloads[i];
        bool waits = false;
        for (uint32_t k = 0; k < w->pods_count; k++) {
            waits = waits || w->pods[k].phase == POD_PENDING;
        }
        if (waits && w->desired == WANT_RUN && w->end_ms == TIME_NEVER && !reason_ok(&r, w)) {
            break;
        }
    }
    return r.breach;
}

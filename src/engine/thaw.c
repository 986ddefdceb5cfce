// SPDX-License-Identifier: Apache-2.0
// thaw: decisions on a snapshot into names that outlive it. Only what changes something is written
// down: a reason that is what it was stays out of the tick.
#include "base/check.h"
#include "base/num.h"
#include "engine/machine.h"
#include "model/decision.h"
#include "sched/cycle.h"

struct thawer {
    const struct engine *e;
    const struct snapshot *snap;
    const struct decisions *d;
    struct str pool;
    int64_t now_ms;
    struct tick_builder *out;
};

/* ---- back to names ---- */

static const struct workload *workload_of(const struct thawer *t, uint32_t ix)
{
    return &t->e->s.workloads[t->snap->workloads.items[ix].tag];
}

static const struct pod *pod_of(const struct thawer *t, uint32_t task)
{
    const struct snap_task *st = &t->snap->tasks.items[task];
    return &workload_of(t, st->workload.ix)->pods[st->tag];
}

static const struct node *node_of(const struct thawer *t, uint32_t ix)
{
    return &t->e->s.nodes[t->snap->nodes.items[ix].tag];
}

static struct held_device *devices_of(const struct thawer *t, uint32_t node, uint32_t first,
                                      uint32_t count)
{
    const struct node *n = node_of(t, node);
    struct held_device *out = ARENA_ARRAY(t->out->arena, struct held_device, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct snap_hold *h = &t->d->holds.items[first + i];
        out[i].uuid = n->devices[t->snap->devices.items[h->device.ix].tag].uuid;
        out[i].share = h->share;
    }
    return out;
}

/* ---- reasons ---- */

static void thaw_nodes(const struct thawer *t, const struct reason *r, struct why *why)
{
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < NODE_REASON_COUNT && r->has_nodes; i++) {
        kinds += r->nodes[i] > 0;
    }
    why->nodes = ARENA_ARRAY(t->out->arena, struct why_nodes, kinds);
    for (uint32_t i = 0; i < NODE_REASON_COUNT && kinds > 0; i++) {
        if (r->nodes[i] > 0) {
            why->nodes[why->nodes_count++] = (struct why_nodes){i, r->nodes[i]};
        }
    }
}

static struct why thaw_why(const struct thawer *t, const struct reason *r)
{
    struct why why = {
        .code = r->code,
        .pool = t->pool,
        .resource = r->resource,
        .requested = r->requested,
        .held = r->held,
        .bound = r->bound,
        .until_ms = r->until_ms,
    };
    const struct plan *plan = &t->e->s.plan;
    if (r->queue.ix != IX_NONE) {
        uint32_t tag = t->snap->queues.items[r->queue.ix].tag;
        why.queue_is_department = tag >= plan->projects_count;
        why.queue = why.queue_is_department ? plan->departments[tag - plan->projects_count].name
                                            : plan->projects[tag].name;
    }
    if (r->other.ix != IX_NONE) {
        why.other = workload_of(t, r->other.ix)->id;
        why.other_name = workload_of(t, r->other.ix)->name;
    }
    thaw_nodes(t, r, &why);
    return why;
}

static bool why_same(const struct why *a, const struct why *b)
{
    struct why x = *a;
    struct why y = *b;
    x.since_ms = 0;
    y.since_ms = 0;
    return record_eq(&record_why, &x, &y);
}

// It is in this pool already, or about to be: then it stays.
static bool is_here(const struct thawer *t, const struct workload *w)
{
    for (uint32_t i = 0; i < w->pods_count; i++) {
        if (pod_holds(&w->pods[i])) {
            return true;
        }
    }
    for (uint32_t i = 0; i < t->d->claims.count; i++) {
        if (workload_of(t, t->d->claims.items[i].workload.ix) == w) {
            return true;
        }
    }
    for (uint32_t i = 0; i < t->d->binds.count; i++) {
        uint32_t task = t->d->binds.items[i].task.ix;
        if (workload_of(t, t->snap->tasks.items[task].workload.ix) == w) {
            return true;
        }
    }
    return false;
}

static void add_need(struct held *need, const struct pod_spec *p, int64_t pods)
{
    int64_t each = p->gpu_portion_share > 0  ? p->gpu_portion_share
                   : p->gpu_memory_bytes > 0 ? 1
                                             : DEVICE_SHARE;
    need->gpu_share += pods * p->gpu_devices * each;
    need->cpu_milli = num_sat_add_i64(need->cpu_milli, num_sat_mul_i64(pods, p->cpu_milli));
    need->memory_bytes = num_sat_add_i64(need->memory_bytes,
                                         num_sat_mul_i64(pods, p->memory_bytes));
}

static bool takes_room(const struct workload *w, struct held *room)
{
    int64_t others = w->spec.pods_min - w->spec.has_master;
    struct held need = {0};
    if (w->spec.has_master) {
        add_need(&need, &w->spec.master, 1);
    }
    add_need(&need, &w->spec.pod, others);
    bool fits = need.gpu_share <= room->gpu_share && need.cpu_milli <= room->cpu_milli &&
                need.memory_bytes <= room->memory_bytes;
    if (fits) {
        held_add(room, &need, true);
    }
    return fits;
}

// Whether it is worth while to go through the pools once more. After a change those do for which
// another pool may have room, and no more of them than there is room for: were all to go, every
// end of a pod would put all that waits into the journal. The rest, which may have a right to what
// others hold there, go from time to time.
static bool begins_round(const struct thawer *t, const struct workload *w)
{
    bool changed = w->tried_seq != t->e->s.change_seq;
    if (t->now_ms - w->tried_ms >= (changed ? POOL_RETRY_MS : POOL_RETRY_IDLE_MS)) {
        return true;
    }
    for (uint32_t i = 0; changed && i < w->spec.pools_count; i++) {
        uint32_t pool = tables_pool(&t->e->s.plan, w->spec.pools[i].value);
        if (i != w->pool_ix && takes_room(w, &t->out->room[pool])) {
            return true;
        }
    }
    return false;
}

// Time to try the next pool? A round that was begun is brought to its end.
static bool goes_on(const struct thawer *t, const struct workload *w, uint32_t code)
{
    if (w->spec.pools_count < 2 || code == REASON_GATED || is_here(t, w)) {
        return false;
    }
    return w->tried_count + 1 < w->spec.pools_count || begins_round(t, w);
}

// When back-off ends, for those that wait for it alone.
static int64_t retry_at(const struct workload *w, int64_t now_ms)
{
    int64_t first_ms = TIME_NEVER;
    for (uint32_t i = 0; i < w->pods_count; i++) {
        int64_t at_ms = w->pods[i].phase == POD_PENDING ? w->pods[i].retry_at_ms : 0;
        if (at_ms > now_ms && (first_ms == TIME_NEVER || at_ms < first_ms)) {
            first_ms = at_ms;
        }
    }
    return first_ms;
}

static void thaw_workload(const struct thawer *t, uint32_t ix)
{
    const struct workload *w = workload_of(t, ix);
    const struct reason *r = &t->d->reasons[ix];
    bool waits = r->code != REASON_NONE && r->code != REASON_PLACED;
    if (!waits && w->why.code == 0) {
        return; // most run on
    }
    if (w->desired != WANT_RUN || !str_eq(w->spec.pools[w->pool_ix].value, t->pool)) {
        return; // it only holds on to places here
    }
    struct why why = {.code = 0};
    if (waits) {
        why = thaw_why(t, r);
        why.until_ms = why.code == REASON_GATED ? retry_at(w, t->now_ms) : why.until_ms;
        if (why.code == REASON_GATED && w->updates_count > 0) {
            why = (struct why){.code = REASON_UPDATING, .pool = why.pool, .until_ms = TIME_NEVER};
        } else if (why.code == REASON_GATED && why.until_ms == TIME_NEVER &&
                   w->spec.parallel_max > 0) {
            why = (struct why){.code = REASON_PARALLELISM,
                               .pool = why.pool,
                               .bound = w->spec.parallel_max,
                               .until_ms = TIME_NEVER};
        }
    }
    bool on = waits && r->code != REASON_PARTLY_PLACED && goes_on(t, w, why.code);
    if (on && w->why.code != 0) {
        why = (struct why){.code = 0}; // the one it has will do until it comes to rest
    }
    if (on || !why_same(&why, &w->why)) {
        *ARRAY_PUSH(t->out->arena, &t->out->waiting) = (struct waiting){
            .workload = w->id, .why = why, .next_pool = on};
    }
}

/* ---- the tick ---- */

void thaw_pool(const struct engine *e, uint32_t pool, int64_t now_ms, const struct snapshot *snap,
               const struct decisions *d, struct tick_builder *out)
{
    struct thawer t = {e, snap, d, e->s.plan.pools[pool].name, now_ms, out};
    for (uint32_t i = 0; i < d->binds.count; i++) {
        const struct decision_bind *b = &d->binds.items[i];
        if (!b->pipelined) {
            *ARRAY_PUSH(out->arena, &out->binds) = (struct bind){
                .pod = pod_of(&t, b->task.ix)->id,
                .node = node_of(&t, b->node.ix)->name,
                .devices = devices_of(&t, b->node.ix, b->hold_first, b->hold_count),
                .devices_count = b->hold_count,
                .numa_plus_one = b->zone == IX_NONE
                                     ? 0
                                     : node_of(&t, b->node.ix)->zones[b->zone].numa_node + 1,
            };
        }
    }
    for (uint32_t i = 0; i < d->evicts.count; i++) {
        const struct decision_evict *ev = &d->evicts.items[i];
        *ARRAY_PUSH(out->arena, &out->evicts) = (struct evict){
            .pod = pod_of(&t, ev->task.ix)->id,
            .move = ev->moved,
            .why = thaw_why(&t, &ev->reason),
        };
    }
    for (uint32_t i = 0; i < d->claims.count; i++) {
        const struct snap_claim *c = &d->claims.items[i];
        const struct workload *w = workload_of(&t, c->workload.ix);
        bool first = c->task.ix != IX_NONE && snap->tasks.items[c->task.ix].tag == 0;
        const struct pod_spec *p = workload_pod(w, first ? 0 : 1);
        *ARRAY_PUSH(out->arena, &out->claims) = (struct claim){
            .workload = w->id,
            .pod = c->task.ix == IX_NONE ? (struct uuid){{0}} : pod_of(&t, c->task.ix)->id,
            .node = node_of(&t, c->node.ix)->name,
            .devices = devices_of(&t, c->node.ix, c->hold_first, c->hold_count),
            .devices_count = c->hold_count,
            .cpu_milli = p->cpu_milli,
            .memory_bytes = p->memory_bytes,
            .since_ms = c->since_ms,
        };
    }
    for (uint32_t i = 0; i < snap->workloads.count; i++) {
        thaw_workload(&t, i);
    }
}

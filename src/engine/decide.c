// SPDX-License-Identifier: Apache-2.0
// decide: from the state at a time to a tick, pool by pool; and when the next one is due though
// nothing happens.
#include "base/check.h"
#include "base/num.h"
#include "engine/machine.h"
#include "model/reason.h"
#include "model/snapshot.h"
#include "sched/cycle.h"
#include "sched/fairshare.h"

static bool claims_same(const struct state *s, const struct tick *t)
{
    if (s->claims_count != t->claims_count) {
        return false;
    }
    for (uint32_t i = 0; i < t->claims_count; i++) {
        if (!record_eq(&record_claim, &s->claims[i], &t->claims[i])) {
            return false;
        }
    }
    return true;
}

static bool removal_due(const struct state *s, int64_t now_ms)
{
    for (uint32_t i = 0; i < s->workloads_count; i++) {
        if (workload_delete_at_ms(&s->workloads[i]) <= now_ms) {
            return true;
        }
    }
    return false;
}

/* ---- fair shares, as last decided ---- */

// Room for those of a pool, by the tag of the queue.
static int64_t *fair_shares(const struct engine *e, uint32_t pool)
{
    struct tables *t = &e->self->t;
    if (!t->fair_shares[pool]) {
        uint32_t queues = e->s.plan.projects_count + e->s.plan.departments_count;
        t->fair_shares[pool] = ARENA_ARRAY(&t->arena, int64_t, queues);
    }
    return t->fair_shares[pool];
}

static void keep_fair_shares(const struct engine *e, uint32_t pool, const struct snapshot *snap,
                             const struct decisions *d)
{
    int64_t *kept = fair_shares(e, pool);
    for (uint32_t i = 0; i < snap->queues.count; i++) {
        kept[snap->queues.items[i].tag] = d ? d->queues[i].fair_share.v[RES_GPU] : 0;
    }
}

// Before there is a decision.
static void solve_fair_shares(const struct engine *e, uint32_t pool)
{
    struct arena *scratch = &e->self->scratch;
    struct arena_mark mark = arena_mark(scratch);
    struct snapshot snap;
    freeze_pool(e, pool, e->s.now_ms, scratch, &snap);
    struct amounts *requests = ARENA_ARRAY(scratch, struct amounts, snap.queues.count);
    struct amounts *shares = ARENA_ARRAY(scratch, struct amounts, snap.queues.count);
    fairshare_requests(&snap, requests);
    fairshare_solve(&snap, requests, fairshare_total(&snap), shares, scratch);
    int64_t *kept = fair_shares(e, pool);
    for (uint32_t i = 0; i < snap.queues.count; i++) {
        kept[snap.queues.items[i].tag] = shares[i].v[RES_GPU];
    }
    arena_rewind(scratch, mark);
}

int64_t engine_fair_share(const struct engine *e, struct str pool, struct str queue,
                          bool department)
{
    const struct plan *plan = &e->s.plan;
    uint32_t at = tables_pool(plan, pool);
    uint32_t ix = department ? tables_department(plan, queue) : tables_project(plan, queue);
    if (at == IX_NONE || ix == IX_NONE) {
        return 0;
    }
    if (!e->t.fair_shares[at]) {
        solve_fair_shares(e, at);
    }
    return e->t.fair_shares[at][department ? plan->projects_count + ix : ix];
}

/* ---- deciding ---- */

static struct held *free_room(const struct engine *e, struct arena *arena)
{
    const struct plan *p = &e->s.plan;
    struct held *room = ARENA_ARRAY(arena, struct held, p->pools_count);
    for (uint32_t pool = 0; pool < p->pools_count; pool++) {
        room[pool] = e->t.pool_has[pool];
        for (uint32_t i = 0; i < p->projects_count; i++) {
            held_add(&room[pool], &e->t.project_held[pool * p->projects_count + i], true);
        }
    }
    return room;
}

void engine_decide(const struct engine *e, int64_t now_ms, struct arena *arena, struct tick *tick,
                   bool *changed)
{
    CHECK(now_ms >= e->s.now_ms);
    e->self->decided_ms = now_ms;
    struct tick_builder b = {.arena = arena, .room = free_room(e, arena)};
    drain_deadlines(e, now_ms, &b);
    limit_stops(e, now_ms, &b);
    for (uint32_t pool = 0; pool < e->s.plan.pools_count; pool++) {
        struct snapshot snap;
        struct decisions d;
        freeze_pool(e, pool, now_ms, arena, &snap);
        if (snap.workloads.count == 0) {
            keep_fair_shares(e, pool, &snap, NULL);
            continue;
        }
        sched_cycle(arena, &snap, ACTIONS_ALL, &d);
        keep_fair_shares(e, pool, &snap, &d);
        thaw_pool(e, pool, now_ms, &snap, &d, &b);
    }
    struct tick borrowed = {
        .binds = b.binds.items,
        .evicts = b.evicts.items,
        .waiting = b.waiting.items,
        .claims = b.claims.items,
        .binds_count = b.binds.count,
        .evicts_count = b.evicts.count,
        .waiting_count = b.waiting.count,
        .claims_count = b.claims.count,
        .version = SCHED_VERSION,
    };
    record_copy(&record_tick, &borrowed, tick, arena); // names in it are the state's, which moves
    *changed = tick->binds_count > 0 || tick->evicts_count > 0 || tick->waiting_count > 0 ||
               !claims_same(&e->s, tick) || removal_due(&e->s, now_ms) ||
               limit_notice_due(e, now_ms);
}

// Past use counts in one of the pools it may go to.
static bool usage_counts(const struct engine *e, const struct workload *w)
{
    for (uint32_t i = 0; i < w->spec.pools_count; i++) {
        uint32_t pool = tables_pool(&e->s.plan, w->spec.pools[i].value);
        if (pool != IX_NONE && e->s.plan.pools[pool].time_based_fair_share) {
            return true;
        }
    }
    return false;
}

// When it has waited long enough for a reservation in the pool it is tried in; TIME_NEVER.
static int64_t reservation_at_ms(const struct engine *e, const struct workload *w)
{
    uint32_t pool = tables_pool(&e->s.plan, w->spec.pools[w->pool_ix].value);
    int64_t after_ms = pool == IX_NONE ? 0 : e->s.plan.pools[pool].reservation_after_ms;
    return after_ms > 0 ? num_max_i64(w->created_ms, w->last_evict_ms) + after_ms : TIME_NEVER;
}

static int64_t workload_next_ms(const struct engine *e, const struct workload *w)
{
    int64_t next = workload_delete_at_ms(w);
    if (w->end_ms != TIME_NEVER || w->desired != WANT_RUN) {
        return next;
    }
    int64_t now_ms = e->s.now_ms;
    next = num_min_i64(next, limit_next_ms(w));
    if (w->why.code != 0 && w->why.until_ms > now_ms) {
        next = num_min_i64(next, w->why.until_ms);
    }
    if (w->stale_since_ms != TIME_NEVER) {
        next = num_min_i64(next, w->stale_since_ms + STALE_GRACE_MS);
    }
    if (w->why.code != 0 && w->spec.pools_count > 1) {
        bool changed = w->tried_seq != e->s.change_seq;
        next = num_min_i64(next, w->tried_ms + (changed ? POOL_RETRY_MS : POOL_RETRY_IDLE_MS));
    }
    int64_t reservation_ms = reservation_at_ms(e, w);
    if (w->why.code != 0 && reservation_ms > num_max_i64(now_ms, e->decided_ms)) {
        next = num_min_i64(next, reservation_ms);
    }
    if (w->why.code != 0 && usage_counts(e, w)) {
        int64_t seen_ms = num_max_i64(now_ms, e->decided_ms);
        next = num_min_i64(next, (num_div_floor(seen_ms, USAGE_QUARTER_MS) + 1) * USAGE_QUARTER_MS);
    }
    for (uint32_t i = 0; i < w->pods_count; i++) {
        const struct pod *p = &w->pods[i];
        if (p->phase == POD_PENDING && p->retry_at_ms > now_ms) {
            next = num_min_i64(next, p->retry_at_ms);
        }
    }
    return next;
}

int64_t engine_next_ms(const struct engine *e)
{
    int64_t next = drain_next_ms(e);
    for (uint32_t i = 0; i < e->s.workloads_count; i++) {
        next = num_min_i64(next, workload_next_ms(e, &e->s.workloads[i]));
    }
    return next;
}

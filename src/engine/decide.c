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

void engine_decide(const struct engine *e, int64_t now_ms, struct arena *arena, struct tick *tick,
                   bool *changed)
{
    CHECK(now_ms >= e->s.now_ms);
    struct tick_builder b = {.arena = arena};
    for (uint32_t pool = 0; pool < e->s.plan.pools_count; pool++) {
        struct snapshot snap;
        struct decisions d;
        freeze_pool(e, pool, now_ms, arena, &snap);
        if (snap.workloads.count == 0) {
            continue;
        }
        sched_cycle(arena, &snap, ACTIONS_ALL, &d);
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
    };
    record_copy(&record_tick, &borrowed, tick, arena); // names in it are the state's, which moves
    *changed = tick->binds_count > 0 || tick->evicts_count > 0 || tick->waiting_count > 0 ||
               !claims_same(&e->s, tick) || removal_due(&e->s, now_ms);
}

static int64_t workload_next_ms(const struct engine *e, const struct workload *w)
{
    int64_t next = workload_delete_at_ms(w);
    if (w->end_ms != TIME_NEVER || w->desired != WANT_RUN) {
        return next;
    }
    int64_t now_ms = e->s.now_ms;
    if (w->why.code != 0 && w->why.until_ms > now_ms) {
        next = num_min_i64(next, w->why.until_ms);
    }
    if (w->stale_since_ms != TIME_NEVER) {
        next = num_min_i64(next, w->stale_since_ms + STALE_GRACE_MS);
    }
    if (w->why.code != 0 && w->spec.pools_count > 1 && w->tried_seq == e->s.change_seq) {
        next = num_min_i64(next, w->tried_ms + POOL_RETRY_MS);
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
    int64_t next = INT64_MAX;
    for (uint32_t i = 0; i < e->s.workloads_count; i++) {
        next = num_min_i64(next, workload_next_ms(e, &e->s.workloads[i]));
    }
    return next;
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
    uint32_t tag = department ? plan->projects_count + ix : ix;
    struct arena *scratch = &e->self->scratch;
    arena_reset(scratch);
    struct snapshot snap;
    freeze_pool(e, at, e->s.now_ms, scratch, &snap);
    struct amounts *requests = ARENA_ARRAY(scratch, struct amounts, snap.queues.count);
    struct amounts *shares = ARENA_ARRAY(scratch, struct amounts, snap.queues.count);
    fairshare_requests(&snap, requests);
    fairshare_solve(&snap, requests, fairshare_total(&snap), shares, scratch);
    for (uint32_t i = 0; i < snap.queues.count; i++) {
        if (snap.queues.items[i].tag == tag) {
            return shares[i].v[RES_GPU];
        }
    }
    return 0;
}

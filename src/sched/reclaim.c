// SPDX-License-Identifier: Apache-2.0
// reclaim: who may be a victim is decided between two siblings: the ancestors of claimant and
// victim just below where their paths part. Either the claimant's side stays within its guarantee
// and the victim's is above its own, or the victim's side is above what it may have. The same is
// checked again for each victim in turn after the trial, on what its side still holds then, so that
// a queue ends below its share by at most one workload. At last no ancestor of the claimant may end
// up fuller than a sibling it took from.
#include "sched/reclaim.h"

#include "base/num.h"
#include "sched/quota.h"

struct sides {
    uint32_t claimant, victim; /* siblings, or one queue when one path ends on the other */
};

static uint32_t depth_of(const struct sched *s, uint32_t queue)
{
    uint32_t depth = 0;
    for (uint32_t q = queue; q != IX_NONE; q = s->queues[q].parent) {
        depth++;
    }
    return depth;
}

static struct sides sides_of(const struct sched *s, uint32_t claimant, uint32_t victim)
{
    uint32_t a = claimant;
    uint32_t b = victim;
    uint32_t depth_a = depth_of(s, a);
    uint32_t depth_b = depth_of(s, b);
    for (; depth_a > depth_b; depth_a--) {
        a = s->queues[a].parent;
    }
    for (; depth_b > depth_a; depth_b--) {
        b = s->queues[b].parent;
    }
    while (s->queues[a].parent != s->queues[b].parent) {
        a = s->queues[a].parent;
        b = s->queues[b].parent;
    }
    return (struct sides){a, b};
}

static bool may_search(struct search *x, struct reason *why)
{
    struct sched *s = x->s;
    uint32_t queue = queue_of(s, x->claimant);
    if (!quota_within_fair_share(s, queue, &x->request)) {
        quota_fair_share_reason(s, queue, &x->request, why);
        return false;
    }
    const struct snap_workload *w = workload_of(s, x->claimant);
    const struct snap_queue *q = &s->snap->queues.items[queue];
    for (int r = 0; r < RES_COUNT && !w->preemptible; r++) {
        int64_t firm = s->queues[queue].held_non_preemptible.v[r] + x->request.v[r];
        if (x->request.v[r] > 0 && !amount_le(firm, q->quota.v[r])) {
            return false; /* allocate has said why */
        }
    }
    return true;
}

// The victim's side is above its guarantee in something the claimant asks for; or below in none.
static bool above_guarantee(const struct search *x, uint32_t victim_side)
{
    bool below = false;
    for (int r = 0; r < RES_COUNT; r++) {
        int64_t quota = x->s->snap->queues.items[victim_side].quota.v[r];
        int64_t held = x->s->queues[victim_side].held.v[r];
        if (x->request.v[r] == 0 || quota == AMOUNT_UNLIMITED) {
            continue;
        }
        if (held > quota) {
            return true;
        }
        below = below || held < quota;
    }
    return !below;
}

static bool exceeds(const struct amounts *held, const struct amounts *bound)
{
    for (int r = 0; r < RES_COUNT; r++) {
        if (!amount_le(held->v[r], bound->v[r])) {
            return true;
        }
    }
    return false;
}

static bool victim_queue(struct search *x, uint32_t queue)
{
    struct sched *s = x->s;
    uint32_t own = queue_of(s, x->claimant);
    if (queue == own) {
        return false;
    }
    struct sides sides = sides_of(s, own, queue);
    if (quota_within_guarantee(s, sides.claimant, &x->request)) {
        return above_guarantee(x, sides.victim);
    }
    return exceeds(&s->queues[sides.victim].held, &s->queues[sides.victim].allocatable);
}

// Who was stopped for another does not turn round and stop it (R7), except inside its guarantee (R1).
static uint32_t spared(struct search *x)
{
    const struct sched *s = x->s;
    uint32_t evictor = workload_of(s, x->claimant)->evicted_for.ix;
    if (evictor == IX_NONE || !s->workloads[evictor].usable) {
        return IX_NONE;
    }
    struct sides sides = sides_of(s, queue_of(s, x->claimant), queue_of(s, evictor));
    return quota_within_guarantee(s, sides.claimant, &x->request) ? IX_NONE : evictor;
}

static int64_t min_runtime(const struct search *x, uint32_t workload)
{
    const struct sched *s = x->s;
    uint32_t own = queue_of(s, x->claimant);
    uint32_t q = queue_of(s, workload);
    if (s->snap->config.reclaim_min_runtime_from == MIN_RUNTIME_FROM_COMMON) {
        q = sides_of(s, own, q).victim;
    }
    for (; q != IX_NONE; q = s->queues[q].parent) {
        if (s->snap->queues.items[q].reclaim_min_runtime_ms != DURATION_UNSET) {
            return s->snap->queues.items[q].reclaim_min_runtime_ms;
        }
    }
    return s->snap->config.reclaim_min_runtime_ms;
}

static int64_t protected_until(struct search *x, uint32_t workload)
{
    return search_protected_until(x->s, workload, min_runtime(x, workload));
}

static int64_t longest_protection_ms(const struct sched *s)
{
    int64_t longest = s->snap->config.reclaim_min_runtime_ms;
    for (uint32_t q = 0; q < s->snap->queues.count; q++) {
        longest = num_max_i64(longest, s->snap->queues.items[q].reclaim_min_runtime_ms);
    }
    return longest;
}

/* ---- after the trial ---- */

// What the queue still holds after the victims taken off so far.
static struct amounts left_of(const struct search *x, uint32_t queue)
{
    return x->left_seen[queue] == x->ledger ? x->left[queue] : x->held[queue];
}

// Takes one chunk of a victim off its queue and all above, if its side may still lose it.
static bool take_chunk(struct search *x, uint32_t queue, const struct amounts *chunk)
{
    struct sched *s = x->s;
    struct sides sides = sides_of(s, queue_of(s, x->claimant), queue);
    struct amounts left = left_of(x, sides.victim);
    bool over_share = exceeds(&left, &s->queues[sides.victim].allocatable);
    struct amounts mine = x->held[sides.claimant];
    amounts_add(&mine, &x->request);
    bool mine_guaranteed = !exceeds(&mine, &s->snap->queues.items[sides.claimant].quota);
    bool over_guarantee = exceeds(&left, &s->snap->queues.items[sides.victim].quota);
    if (!over_share && !(mine_guaranteed && over_guarantee)) {
        return false;
    }
    for (uint32_t q = queue; q != IX_NONE; q = s->queues[q].parent) {
        bool first = x->left_seen[q] != x->ledger;
        x->left[q] = left_of(x, q);
        x->left_seen[q] = x->ledger;
        amounts_sub(&x->left[q], chunk);
        for (int r = 0; r < RES_COUNT; r++) {
            x->left_involved[q][r] = (!first && x->left_involved[q][r]) || chunk->v[r] > 0;
        }
    }
    return true;
}

// The pods that the workload loses, those above the minimum one by one, the rest together.
static bool take_workload(struct search *x, uint32_t workload)
{
    struct sched *s = x->s;
    struct amounts core = {{0}};
    uint32_t queue = queue_of(s, workload);
    for (uint32_t i = 0; i < x->chosen.count; i++) {
        const struct victim_unit *unit = &x->units.items[x->chosen.items[i]];
        if (unit->workload != workload) {
            continue;
        }
        for (uint32_t t = 0; t < unit->count; t++) {
            uint32_t task = x->unit_pods.items[unit->first + t].task;
            if (!x->all_stopped && s->tasks[task].state != WORK_EVICTED &&
                (s->tasks[task].state != WORK_PIPELINED ||
                 s->snap->config.allow_consolidating_reclaim)) {
                continue;
            }
            struct amounts cost = search_before(x, task)->cost;
            if (unit->core) {
                amounts_add(&core, &cost);
            } else if (!take_chunk(x, queue, &cost)) {
                return false;
            }
        }
    }
    return amounts_are_zero(&core) || take_chunk(x, queue, &core);
}

struct ratio {
    int64_t num, den; /* den 0: infinite */
};

static struct ratio saturation(int64_t held, int64_t fair)
{
    if (fair == 0) {
        return held > 0 ? (struct ratio){1, 0} : (struct ratio){0, 1};
    }
    return (struct ratio){held, fair};
}

// Whether `mine`, times the multiplier, is at least `other`.
static bool at_least(const struct sched *s, struct ratio mine, struct ratio other)
{
    if (mine.den == 0 || other.den == 0) {
        return mine.den == 0;
    }
    return num_cmp_frac(num_sat_mul_i64(mine.num, s->snap->config.saturation_permille),
                        num_sat_mul_i64(mine.den, 1000), other.num, other.den) >= 0;
}

// The claimant's side must not end up fuller than a sibling that lost something.
static bool siblings_agree(const struct search *x, uint32_t queue)
{
    struct sched *s = x->s;
    struct amounts mine = left_of(x, queue);
    amounts_add(&mine, &x->request);
    uint32_t parent = s->queues[queue].parent;
    uint32_t first = parent == IX_NONE ? s->top_first : s->snap->queues.items[parent].child_first;
    uint32_t count = parent == IX_NONE ? s->top_count : s->snap->queues.items[parent].child_count;
    for (uint32_t q = first; q < first + count; q++) {
        if (q == queue || x->left_seen[q] != x->ledger) {
            continue;
        }
        for (int r = 0; r < RES_COUNT; r++) {
            if (!x->left_involved[q][r] && x->request.v[r] == 0) {
                continue;
            }
            int64_t fair = s->queues[queue].fair.v[r];
            int64_t other_fair = s->queues[q].fair.v[r];
            bool above = mine.v[r] > fair;
            if (above && other_fair > 0 &&
                at_least(s, saturation(mine.v[r], fair), saturation(x->left[q].v[r], other_fair))) {
                return false;
            }
        }
    }
    return true;
}

static bool path_agrees(const struct search *x)
{
    struct sched *s = x->s;
    bool preemptible = workload_of(s, x->claimant)->preemptible;
    for (uint32_t q = queue_of(s, x->claimant); q != IX_NONE; q = s->queues[q].parent) {
        if (!siblings_agree(x, q)) {
            return false;
        }
        struct amounts firm = x->held_non_preemptible[q];
        amounts_add(&firm, &x->request);
        if (!preemptible && exceeds(&firm, &s->snap->queues.items[q].quota)) {
            return false;
        }
    }
    return true;
}

// What was given a place in this cycle only is taken off first: it must not make its queue look so
// full that running work could be taken too.
static bool acceptable(struct search *x)
{
    x->ledger++;
    x->epoch++;
    for (int running = 0; running < 2; running++) {
        for (uint32_t i = 0; i < x->chosen.count; i++) {
            uint32_t workload = x->units.items[x->chosen.items[i]].workload;
            if (x->s->workloads[workload].started == (running == 1) &&
                x->seen[workload] != x->epoch) {
                x->seen[workload] = x->epoch;
                if (!take_workload(x, workload)) {
                    return false;
                }
            }
        }
    }
    return path_agrees(x);
}

const struct search_rules reclaim_rules = {
    .action = ACTION_RECLAIM,
    .may_search = may_search,
    .victim_queue = victim_queue,
    .spared = spared,
    .protected_until = protected_until,
    .longest_protection_ms = longest_protection_ms,
    .acceptable = acceptable,
    .victims_max = -1,
    .same_queue = true,
};

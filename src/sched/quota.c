// SPDX-License-Identifier: Apache-2.0
// quota: each check names the first queue, from the workload's own upwards, that refuses.
#include "sched/quota.h"

#include "base/num.h"

struct amounts quota_allocatable(const struct snap_queue *q, const struct amounts *fair)
{
    struct amounts a;
    for (int r = 0; r < RES_COUNT; r++) {
        int64_t limit = q->limit.v[r];
        if (q->quota.v[r] == AMOUNT_UNLIMITED) {
            a.v[r] = limit;
            continue;
        }
        a.v[r] = num_max_i64(q->quota.v[r], fair->v[r]);
        if (limit != AMOUNT_UNLIMITED) {
            a.v[r] = num_min_i64(a.v[r], limit);
        }
    }
    return a;
}

static void refuse(struct reason *why, enum reason_code code, uint32_t q, int r, int64_t requested,
                   int64_t held, int64_t bound)
{
    if (why) {
        reason_init(why, code);
        why->queue.ix = q;
        why->resource = (enum resource)r;
        why->requested = requested;
        why->held = held;
        why->bound = bound;
    }
}

bool quota_allows(const struct sched *s, uint32_t workload, const struct amounts *amount,
                  struct reason *why)
{
    bool preemptible = workload_of(s, workload)->preemptible;
    for (uint32_t q = queue_of(s, workload); q != IX_NONE; q = s->queues[q].parent) {
        const struct snap_queue *queue = &s->snap->queues.items[q];
        for (int r = 0; r < RES_COUNT; r++) {
            int64_t more = amount->v[r];
            if (more == 0) {
                continue;
            }
            /* The guarantee first: where both refuse, a higher maximum alone would not help. */
            int64_t firm = s->queues[q].held_non_preemptible.v[r];
            if (!preemptible && queue->quota.v[r] != AMOUNT_UNLIMITED &&
                firm + more > queue->quota.v[r]) {
                refuse(why, REASON_NON_PREEMPTIBLE_OVER_QUOTA, q, r, more, firm, queue->quota.v[r]);
                return false;
            }
            int64_t held = s->queues[q].held.v[r];
            if (queue->limit.v[r] != AMOUNT_UNLIMITED && held + more > queue->limit.v[r]) {
                refuse(why, REASON_OVER_LIMIT, q, r, more, held, queue->limit.v[r]);
                return false;
            }
        }
    }
    return true;
}

bool quota_within_guarantee(const struct sched *s, uint32_t q, const struct amounts *amount)
{
    for (int r = 0; r < RES_COUNT; r++) {
        if (!amount_le(s->queues[q].held.v[r] + amount->v[r],
                       s->snap->queues.items[q].quota.v[r])) {
            return false;
        }
    }
    return true;
}

bool quota_within_fair_share(const struct sched *s, uint32_t q, const struct amounts *amount)
{
    for (int r = 0; r < RES_COUNT; r++) {
        if (s->queues[q].held.v[r] + amount->v[r] > s->queues[q].fair.v[r]) {
            return false;
        }
    }
    return true;
}

void quota_fair_share_reason(const struct sched *s, uint32_t q, const struct amounts *amount,
                             struct reason *why)
{
    for (int r = 0; r < RES_COUNT; r++) {
        if (s->queues[q].held.v[r] + amount->v[r] > s->queues[q].fair.v[r]) {
            refuse(why, REASON_FAIR_SHARE_REACHED, q, r, amount->v[r], s->queues[q].held.v[r],
                   s->queues[q].fair.v[r]);
            return;
        }
    }
}

struct dominant quota_dominant(const struct sched *s, uint32_t q, const struct amounts *plus,
                               const struct amounts *minus)
{
    // One unit of what KAI counts in: a device, a millicore, a byte.
    static const int64_t unit[RES_COUNT] = {DEVICE_SHARE, 1, 1};
    struct dominant most = {0, 1};
    for (int r = 0; r < RES_COUNT; r++) {
        int64_t held = s->queues[q].held.v[r] + (plus ? plus->v[r] : 0) - (minus ? minus->v[r] : 0);
        int64_t may = s->queues[q].allocatable.v[r];
        may = may == AMOUNT_UNLIMITED ? s->total.v[r] : may;
        struct dominant d = {held, may};
        if (may <= 0) {
            d = (struct dominant){num_sat_mul_i64(held, 1000), unit[r]};
        }
        if (num_cmp_frac(d.num, d.den, most.num, most.den) > 0) {
            most = d;
        }
    }
    return most;
}

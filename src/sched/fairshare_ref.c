// SPDX-License-Identifier: Apache-2.0
// The division, for one resource and one set of siblings with a total T:
//
// 1. Deserved. Each queue gets its quota, but no more than it can use: its request, or its limit
//    where that is less. An unlimited quota counts as T. What is left of T goes on; quotas that add
//    up to more than T are granted in full.
// 2. Over quota. Siblings of one priority are a group; the highest group comes first. In rounds,
//    what was left at the start of the round is cut in proportion to w = n + k (n - usage), at least
//    0, where n is the weight over the sum of the weights of those that still need something. A
//    queue that needs no more than its cut gets what it needs; the others get their cut rounded down
//    to whole units (a device, a millicore, a byte), and the fraction cut off is remembered. Another
//    round follows when somebody needed less than its cut.
// 3. Remainder. From the highest group down, in order of the remembered fraction, each gets one more
//    unit while there is any.
#include "sched/fairshare_ref.h"

#include "base/check.h"

__extension__ typedef __int128 wide;

/* A rational in lowest terms, den > 0. */
struct ratio {
    wide num, den;
};

static wide mul(wide a, wide b)
{
    wide product = 0;
    CHECK(!__builtin_mul_overflow(a, b, &product));
    return product;
}

static wide floor_div(wide num, wide den)
{
    wide q = num / den;
    return q * den > num ? q - 1 : q;
}

static struct ratio ratio_of(wide num, wide den)
{
    CHECK(den > 0);
    wide a = num < 0 ? -num : num;
    wide b = den;
    while (b != 0) {
        wide rest = a % b;
        a = b;
        b = rest;
    }
    return (struct ratio){num / a, den / a};
}

static struct ratio ratio_add(struct ratio a, struct ratio b)
{
    return ratio_of(mul(a.num, b.den) + mul(b.num, a.den), mul(a.den, b.den));
}

static struct ratio ratio_sub(struct ratio a, struct ratio b)
{
    return ratio_add(a, (struct ratio){-b.num, b.den});
}

static struct ratio ratio_mul(struct ratio a, struct ratio b)
{
    struct ratio x = ratio_of(a.num, b.den);
    struct ratio y = ratio_of(b.num, a.den);
    return ratio_of(mul(x.num, y.num), mul(x.den, y.den));
}

static struct ratio ratio_div(struct ratio a, struct ratio b)
{
    CHECK(b.num > 0);
    return ratio_mul(a, (struct ratio){b.den, b.num});
}

/* -1, 0, 1: by whole parts and then by the reciprocals of the rests, so that nothing overflows. */
static int ratio_cmp(struct ratio a, struct ratio b)
{
    int sign = 1;
    for (;;) {
        wide whole_a = floor_div(a.num, a.den);
        wide whole_b = floor_div(b.num, b.den);
        if (whole_a != whole_b) {
            return whole_a < whole_b ? -sign : sign;
        }
        wide rest_a = a.num - whole_a * a.den;
        wide rest_b = b.num - whole_b * b.den;
        if (rest_a == 0 || rest_b == 0) {
            return rest_a == rest_b ? 0 : (rest_a == 0 ? -sign : sign);
        }
        a = (struct ratio){a.den, rest_a};
        b = (struct ratio){b.den, rest_b};
        sign = -sign;
    }
}

static const struct ratio zero = {0, 1};

static int64_t unit_of(enum resource resource)
{
    return resource == RES_GPU ? DEVICE_SHARE : 1;
}

/* One queue while its sibling set is divided. */
struct sibling {
    const struct fairshare_ref_queue *queue;
    const struct fairshare_ref_amounts *amounts;
    int64_t share;         /* fair share so far */
    struct ratio fraction; /* remembered for the remainder step; zero: none */
    bool served;           /* in the remainder step */
};

static int64_t requestable(const struct fairshare_ref_amounts *a)
{
    return a->limit != AMOUNT_UNLIMITED && a->limit < a->request ? a->limit : a->request;
}

static int64_t need(const struct sibling *s)
{
    int64_t n = requestable(s->amounts) - s->share;
    return n > 0 ? n : 0;
}

static void give_deserved(struct sibling *set, uint32_t count, int64_t total, int64_t *left)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct fairshare_ref_amounts *a = set[i].amounts;
        int64_t deserved = a->quota == AMOUNT_UNLIMITED ? total : a->quota;
        int64_t can_use = requestable(a);
        set[i].share = deserved < can_use ? deserved : can_use;
        *left -= set[i].share;
    }
}

/* The proportion of a sibling, n + k (n - usage), not below 0. */
static struct ratio proportion(const struct sibling *s, int64_t weight_sum, int64_t k_milli)
{
    struct ratio n = ratio_of(s->amounts->weight_milli, weight_sum);
    struct ratio usage = ratio_of(s->amounts->usage_ppm, 1000000);
    struct ratio w = ratio_add(n, ratio_mul(ratio_of(k_milli, 1000), ratio_sub(n, usage)));
    return w.num < 0 ? zero : w;
}

/* One round over the siblings of one priority; true when another one is due. */
static bool give_round(struct sibling *set, uint32_t count, int64_t priority, int64_t k_milli,
                       int64_t unit, int64_t *left)
{
    int64_t weight_sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (set[i].queue->priority == priority && need(&set[i]) > 0) {
            weight_sum += set[i].amounts->weight_milli;
        }
    }
    if (weight_sum == 0) {
        return false;
    }
    struct ratio proportion_sum = zero;
    for (uint32_t i = 0; i < count; i++) {
        if (set[i].queue->priority == priority && need(&set[i]) > 0) {
            proportion_sum = ratio_add(proportion_sum, proportion(&set[i], weight_sum, k_milli));
        }
    }
    if (proportion_sum.num == 0) {
        return false;
    }

    bool again = false;
    struct ratio at_start = {*left, 1};
    for (uint32_t i = 0; i < count && *left > 0; i++) {
        struct sibling *s = &set[i];
        if (s->queue->priority != priority || need(s) == 0 || s->amounts->weight_milli == 0) {
            continue;
        }
        struct ratio part = ratio_div(proportion(s, weight_sum, k_milli), proportion_sum);
        struct ratio cut = ratio_mul(at_start, part);
        int64_t given = 0;
        int against_need = ratio_cmp((struct ratio){need(s), 1}, cut);
        if (against_need <= 0) {
            given = need(s);
            s->fraction = zero;
            again = again || against_need < 0;
        } else {
            given = (int64_t)(floor_div(cut.num, mul(cut.den, unit)) * unit);
            struct ratio fraction = ratio_sub(cut, (struct ratio){given, 1});
            if (fraction.num > 0) {
                s->fraction = fraction;
            }
        }
        s->share += given;
        *left -= given;
    }
    return again && *left > 0;
}

static struct sibling *next_in_remainder(struct sibling *set, uint32_t count, int64_t priority)
{
    struct sibling *best = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct sibling *s = &set[i];
        if (s->queue->priority != priority || s->served || s->fraction.num == 0) {
            continue;
        }
        int order = best == 0 ? 1 : ratio_cmp(s->fraction, best->fraction);
        if (order > 0 || (order == 0 && s->queue->creation < best->queue->creation)) {
            best = s;
        }
    }
    return best;
}

static void give_remainder(struct sibling *set, uint32_t count, int64_t priority, int64_t unit,
                           int64_t *left)
{
    while (*left > 0) {
        struct sibling *s = next_in_remainder(set, count, priority);
        if (s == 0) {
            return;
        }
        int64_t given = *left < unit ? *left : unit;
        s->served = true;
        s->share += given;
        *left -= given;
    }
}

/* The highest priority below `below` that some sibling has; false when there is none. */
static bool next_priority(const struct sibling *set, uint32_t count, bool first, int64_t below,
                          int64_t *priority)
{
    bool found = false;
    for (uint32_t i = 0; i < count; i++) {
        int64_t p = set[i].queue->priority;
        if ((first || p < below) && (!found || p > *priority)) {
            *priority = p;
            found = true;
        }
    }
    return found;
}

static void divide(struct sibling *set, uint32_t count, int64_t total, int64_t k_milli,
                   int64_t unit)
{
    int64_t left = total;
    give_deserved(set, count, total, &left);
    int64_t priority = 0;
    if (left <= 0) {
        return;
    }
    for (bool first = true; next_priority(set, count, first, priority, &priority); first = false) {
        while (left > 0 && give_round(set, count, priority, k_milli, unit, &left)) {
        }
    }
    for (bool first = true; next_priority(set, count, first, priority, &priority); first = false) {
        give_remainder(set, count, priority, unit, &left);
    }
}

/* The children of parent (IX_NONE: the roots) as a sibling set. */
static uint32_t gather(const struct fairshare_ref_queue *queues, uint32_t count, uint32_t parent,
                       enum resource resource, struct sibling *set)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (queues[i].parent == parent) {
            set[n++] = (struct sibling){
                .queue = &queues[i], .amounts = &queues[i].of[resource], .fraction = zero};
        }
    }
    return n;
}

void fairshare_ref(const struct fairshare_ref_queue *queues, uint32_t count,
                   const struct amounts *total, int64_t k_milli, struct amounts *fair_share,
                   struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct sibling *set = ARENA_ARRAY(scratch, struct sibling, count + 1);
    uint32_t *todo = ARENA_ARRAY(scratch, uint32_t, count + 1); /* parents whose share is known */
    for (int r = 0; r < RES_COUNT; r++) {
        uint32_t todo_count = 0;
        todo[todo_count++] = IX_NONE;
        for (uint32_t next = 0; next < todo_count; next++) {
            uint32_t parent = todo[next];
            int64_t whole = parent == IX_NONE ? total->v[r] : fair_share[parent].v[r];
            uint32_t set_count = gather(queues, count, parent, (enum resource)r, set);
            divide(set, set_count, whole, k_milli, unit_of((enum resource)r));
            for (uint32_t i = 0; i < set_count; i++) {
                uint32_t ix = (uint32_t)(set[i].queue - queues);
                fair_share[ix].v[r] = set[i].share;
                todo[todo_count++] = ix;
            }
        }
    }
    arena_rewind(scratch, mark);
}

// SPDX-License-Identifier: Apache-2.0
// fairshare: exact integer division of the pool among queues (kai.md 3.3).
//
// Level by level, each set of siblings divides what its parent was given, per resource: first every
// guarantee as far as it is asked for (in full, also where guarantees exceed what there is), then
// the rest by weight, priority by priority, in whole units; last the units that flooring left, one
// each by largest remainder. All is exact: KAI's floats differ from it at ties only.
//
// A queue's part of what is left is A * w / S with A what is left, w = n + k (n - usage), n =
// weight / sum of weights. Everything is multiplied by the sum of weights, 1000 (k is permille) and
// the denominator of usage, so that w and S are integers; with the bounds of limits.h all products
// fit 128 bits.
#include "sched/fairshare.h"

#include "base/num.h"
#include "base/sort.h"

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

struct fraction {
    uwide num, den; /* den > 0; num 0: none */
};

// Compares two fractions without multiplying: by whole parts, then the reciprocals of the rests.
static int fraction_cmp(struct fraction a, struct fraction b)
{
    int sign = 1;
    for (;;) {
        uwide qa = a.num / a.den;
        uwide qb = b.num / b.den;
        if (qa != qb) {
            return qa < qb ? -sign : sign;
        }
        uwide ra = a.num % a.den;
        uwide rb = b.num % b.den;
        if (ra == 0 || rb == 0) {
            return ra == rb ? 0 : (ra == 0 ? -sign : sign);
        }
        a = (struct fraction){a.den, ra};
        b = (struct fraction){b.den, rb};
        sign = -sign;
    }
}

struct division {
    struct fairshare_row *rows;
    const uint32_t *group; /* rows of one priority */
    uint32_t count;
    int64_t unit, k_permille, usage_denominator;
    struct fraction *kept; /* kept[rows]: remembered fraction */
    uwide *weight;         /* weight[rows] of this round */
};

static int64_t requestable(const struct fairshare_row *q)
{
    return q->limit == AMOUNT_UNLIMITED ? q->request : num_min_i64(q->limit, q->request);
}

static int64_t need(const struct fairshare_row *q)
{
    return num_max_i64(0, requestable(q) - q->share);
}

// The weights of the unsatisfied queues of the group, multiplied out; gives their sum.
static uwide round_weights(struct division *d)
{
    int64_t weight_sum = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        const struct fairshare_row *q = &d->rows[d->group[i]];
        weight_sum += need(q) > 0 ? q->weight_milli : 0;
    }
    uwide sum = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        uint32_t ix = d->group[i];
        const struct fairshare_row *q = &d->rows[ix];
        d->weight[ix] = 0;
        if (need(q) == 0 || q->weight_milli == 0) {
            continue;
        }
        wide w = q->weight_milli;
        if (d->usage_denominator > 0) {
            w = (wide)q->weight_milli * (1000 + d->k_permille) * d->usage_denominator -
                (wide)d->k_permille * q->usage * weight_sum;
        }
        d->weight[ix] = w > 0 ? (uwide)w : 0;
        sum += d->weight[ix];
    }
    return sum;
}

// One round over the group; *rest is what is left. True when another round is due.
static bool divide_round(struct division *d, int64_t *rest)
{
    uwide sum = round_weights(d);
    bool again = false;
    int64_t amount = *rest;
    for (uint32_t i = 0; sum > 0 && i < d->count && *rest != 0; i++) {
        uint32_t ix = d->group[i];
        struct fairshare_row *q = &d->rows[ix];
        int64_t wanted = need(q);
        if (wanted == 0 || q->weight_milli == 0) {
            continue;
        }
        uwide product = (uwide)amount * d->weight[ix];
        if (wanted <= amount && (uwide)wanted * sum <= product) {
            again = again || (uwide)wanted * sum < product;
            d->kept[ix] = (struct fraction){0, 1};
            q->share += wanted;
            *rest -= wanted;
            continue;
        }
        uwide unit_sum = sum * (uint64_t)d->unit;
        int64_t given = (int64_t)(product / unit_sum) * d->unit;
        if (product % unit_sum != 0) {
            d->kept[ix] = (struct fraction){product % unit_sum, sum};
        }
        q->share += given;
        *rest -= given;
    }
    return again && *rest != 0;
}

struct remainder_order {
    const struct fraction *kept;
};

static int by_remainder(const void *a, const void *b, void *ctx)
{
    const struct remainder_order *o = ctx;
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    int c = fraction_cmp(o->kept[y], o->kept[x]);
    return c != 0 ? c : (x < y ? -1 : x > y);
}

static void divide_remainder(struct division *d, int64_t *rest, struct arena *scratch)
{
    uint32_t *order = ARENA_ARRAY(scratch, uint32_t, d->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        if (d->kept[d->group[i]].num > 0) {
            order[count++] = d->group[i];
        }
    }
    struct remainder_order by = {d->kept};
    sort_stable(order, count, sizeof(*order), by_remainder, &by, scratch);
    for (uint32_t i = 0; i < count && *rest > 0; i++) {
        int64_t given = num_min_i64(d->unit, *rest);
        d->rows[order[i]].share += given;
        *rest -= given;
    }
}

static int by_priority(const void *a, const void *b, void *ctx)
{
    const struct fairshare_row *rows = ctx;
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    if (rows[x].priority != rows[y].priority) {
        return rows[x].priority > rows[y].priority ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

// Calls step for each run of equal priority, highest first.
static void each_priority(struct division *d, const uint32_t *order, uint32_t count, int64_t *rest,
                          struct arena *scratch, bool remainder)
{
    for (uint32_t first = 0; first < count && *rest > 0;) {
        uint32_t end = first + 1;
        while (end < count && d->rows[order[end]].priority == d->rows[order[first]].priority) {
            end++;
        }
        d->group = order + first;
        d->count = end - first;
        if (remainder) {
            divide_remainder(d, rest, scratch);
        } else {
            while (divide_round(d, rest)) {
            }
        }
        first = end;
    }
}

void fairshare_divide(struct fairshare_row *rows, uint32_t count, int64_t total, int64_t unit,
                      int64_t k_permille, int64_t usage_denominator, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    int64_t rest = total;
    for (uint32_t i = 0; i < count; i++) {
        int64_t quota = rows[i].quota == AMOUNT_UNLIMITED ? total : rows[i].quota;
        rows[i].share = num_min_i64(quota, requestable(&rows[i]));
        rest = num_sat_sub_i64(rest, rows[i].share);
    }
    if (rest > 0) {
        uint32_t *order = ARENA_ARRAY(scratch, uint32_t, count);
        struct division d = {
            .rows = rows,
            .unit = unit,
            .k_permille = k_permille,
            .usage_denominator = k_permille > 0 ? usage_denominator : 0,
            .kept = ARENA_ARRAY(scratch, struct fraction, count),
            .weight = ARENA_ARRAY(scratch, uwide, count),
        };
        for (uint32_t i = 0; i < count; i++) {
            order[i] = i;
            d.kept[i] = (struct fraction){0, 1};
        }
        sort_stable(order, count, sizeof(*order), by_priority, rows, scratch);
        each_priority(&d, order, count, &rest, scratch, false);
        each_priority(&d, order, count, &rest, scratch, true);
    }
    arena_rewind(scratch, mark);
}

/* ---- the tree ---- */

static int64_t mig_slice_share(const struct snapshot *s)
{
    return s->config.mig_charge == MIG_CHARGE_UNITS ? DEVICE_SHARE : MIG_SLICE_SHARE;
}

static int64_t mig_share(const struct snapshot *s, uint32_t first, uint32_t count)
{
    int64_t slices = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct snap_extended_amount *e = &s->extended_amounts.items[first + i];
        slices += e->amount * s->extended.items[e->extended].mig_slices;
    }
    return slices * mig_slice_share(s);
}

struct amounts fairshare_total(const struct snapshot *snap)
{
    struct amounts total = {{0}};
    for (uint32_t n = 0; n < snap->nodes.count; n++) {
        const struct snap_node *node = &snap->nodes.items[n];
        if (!node->ready || !node->schedulable) {
            continue;
        }
        total.v[RES_CPU] += node->cpu_milli;
        total.v[RES_MEMORY] += node->memory_bytes;
        total.v[RES_GPU] += mig_share(snap, node->extended_first, node->extended_count);
        for (uint32_t d = 0; d < node->device_count; d++) {
            if (snap->devices.items[node->device_first + d].healthy) {
                total.v[RES_GPU] += DEVICE_SHARE;
            }
        }
    }
    for (int r = 0; r < RES_COUNT; r++) {
        total.v[r] = num_min_i64(total.v[r], POOL_AMOUNT_MAX);
    }
    return total;
}

int64_t fairshare_least_memory(const struct snapshot *snap)
{
    int64_t least = 0;
    for (uint32_t d = 0; d < snap->devices.count; d++) {
        int64_t bytes = snap->devices.items[d].memory_bytes;
        least = bytes > 0 && (least == 0 || bytes < least) ? bytes : least;
    }
    return least;
}

struct amounts fairshare_shape_request(const struct snapshot *snap, uint32_t shape,
                                       int64_t device_bytes)
{
    const struct snap_shape *p = &snap->shapes.items[shape];
    int64_t per_device = 0;
    switch (p->gpu) {
    case GPU_NONE:
        break;
    case GPU_WHOLE:
        per_device = DEVICE_SHARE;
        break;
    case GPU_SHARE:
        per_device = p->share;
        break;
    case GPU_MEMORY:
        if (device_bytes > 0) {
            per_device = num_muldiv_ceil(p->device_memory_bytes, DEVICE_SHARE, device_bytes);
        }
        break;
    }
    return (struct amounts){
        {
         [RES_GPU] = per_device * p->device_count +
                        mig_share(snap, p->extended_first, p->extended_count),
         [RES_CPU] = p->cpu_milli,
         [RES_MEMORY] = p->memory_bytes,
         }
    };
}

struct amounts fairshare_task_cost(const struct snapshot *snap, const struct snap_task *t)
{
    struct amounts cost = fairshare_shape_request(snap, t->shape.ix, 0);
    if (snap->shapes.items[t->shape.ix].gpu == GPU_MEMORY) {
        for (uint32_t h = 0; h < t->hold_count; h++) {
            cost.v[RES_GPU] += snap->holds.items[t->hold_first + h].share;
        }
    }
    return cost;
}

void fairshare_requests(const struct snapshot *snap, struct amounts *requests)
{
    int64_t least = fairshare_least_memory(snap);
    for (uint32_t q = 0; q < snap->queues.count; q++) {
        requests[q] = (struct amounts){{0}};
    }
    for (uint32_t i = 0; i < snap->tasks.count; i++) {
        const struct snap_task *t = &snap->tasks.items[i];
        uint32_t q = snap->workloads.items[t->workload.ix].queue.ix;
        if (q == IX_NONE) {
            continue;
        }
        struct amounts a;
        if (t->state == TASK_BINDING || t->state == TASK_RUNNING) {
            a = fairshare_task_cost(snap, t);
        } else if (t->state == TASK_PENDING || t->returns) {
            a = fairshare_shape_request(snap, t->shape.ix, least);
        } else {
            continue;
        }
        for (int r = 0; r < RES_COUNT; r++) {
            requests[q].v[r] = num_sat_add_i64(requests[q].v[r], a.v[r]);
        }
    }
    for (uint32_t q = snap->queues.count; q > 0;) {
        q--;
        uint32_t parent = snap->queues.items[q].parent.ix;
        for (int r = 0; parent != IX_NONE && r < RES_COUNT; r++) {
            requests[parent].v[r] = num_sat_add_i64(requests[parent].v[r], requests[q].v[r]);
        }
    }
}

static const int64_t res_unit[RES_COUNT] = {
    [RES_GPU] = DEVICE_SHARE, [RES_CPU] = 1, [RES_MEMORY] = 1};

// Divides total of every resource among the queues [first, first + count).
static void solve_siblings(const struct snapshot *snap, const struct amounts *requests,
                           uint32_t first, uint32_t count, struct amounts total,
                           struct amounts *shares, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct fairshare_row *rows = ARENA_ARRAY(scratch, struct fairshare_row, count);
    for (int r = 0; r < RES_COUNT; r++) {
        for (uint32_t i = 0; i < count; i++) {
            const struct snap_queue *q = &snap->queues.items[first + i];
            rows[i] = (struct fairshare_row){
                .quota = q->quota.v[r],
                .limit = q->limit.v[r],
                .request = requests[first + i].v[r],
                .weight_milli = q->weight_milli.v[r],
                .usage = q->usage.v[r],
                .priority = q->priority,
            };
        }
        fairshare_divide(rows, count, total.v[r], res_unit[r], snap->config.k_permille,
                         snap->config.usage_denominator, scratch);
        for (uint32_t i = 0; i < count; i++) {
            shares[first + i].v[r] = rows[i].share;
        }
    }
    arena_rewind(scratch, mark);
}

void fairshare_solve(const struct snapshot *snap, const struct amounts *requests,
                     struct amounts total, struct amounts *shares, struct arena *scratch)
{
    uint32_t count = snap->queues.count;
    uint32_t top = 0;
    while (top < count && snap->queues.items[top].parent.ix == IX_NONE) {
        top++;
    }
    if (snap->config.full_hierarchy) {
        solve_siblings(snap, requests, 0, top, total, shares, scratch);
    } else {
        // Top queues are looked through: all of the second level share the pool.
        uint32_t end = top;
        while (end < count && snap->queues.items[end].parent.ix < top) {
            end++;
        }
        for (uint32_t q = 0; q < top; q++) {
            shares[q] = total;
        }
        solve_siblings(snap, requests, top, end - top, total, shares, scratch);
    }
    for (uint32_t q = 0; q < count; q++) {
        const struct snap_queue *queue = &snap->queues.items[q];
        bool looked_through = !snap->config.full_hierarchy && queue->parent.ix == IX_NONE;
        if (queue->child_count > 0 && !looked_through) {
            solve_siblings(snap, requests, queue->child_first, queue->child_count, shares[q],
                           shares, scratch);
        }
    }
}

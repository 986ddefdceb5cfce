// SPDX-License-Identifier: Apache-2.0
// The division of the pool compared with its slow model on random trees of queues: quotas that are
// absent, fractional, unlimited and too many; limits; weights of 0; priorities; past use.
#include "sched/fairshare.h"

#include "base/prng.h"
#include "base/test.h"
#include "sched/fairshare_ref.h"

enum { TREES = 10000, TREE_QUEUES_MAX = 24 };

struct tree {
    struct fairshare_ref_queue queues[TREE_QUEUES_MAX];
    uint32_t count;
    struct amounts total;
    int64_t k_permille;
};

/* Mostly small whole numbers, so that ties and exact divisions happen; sometimes odd ones. */
static int64_t random_amount(struct prng *p, enum resource r, int64_t most)
{
    int64_t unit = r == RES_GPU ? DEVICE_SHARE : 1;
    if (prng_chance(p, 300)) {
        return prng_range(p, 0, most * unit);
    }
    if (prng_chance(p, 300)) {
        return prng_range(p, 0, most * 4) * unit / 4;
    }
    return prng_range(p, 0, most) * unit;
}

static struct fairshare_ref_amounts random_amounts(struct prng *p, enum resource r, bool usage)
{
    struct fairshare_ref_amounts a = {
        .quota = prng_chance(p, 100)   ? AMOUNT_UNLIMITED
                 : prng_chance(p, 300) ? 0
                                       : random_amount(p, r, 12),
        .limit = prng_chance(p, 700) ? AMOUNT_UNLIMITED : random_amount(p, r, 20),
        .weight_milli = prng_chance(p, 800) ? prng_range(p, 0, 4) * WEIGHT_ONE
                                            : prng_range(p, 0, 20000)};
    a.usage_ppm = usage ? prng_range(p, 0, 100) * 10000 : 0;
    return a;
}

/* Parents come before their children; requests of leaves add up. */
static void random_tree(struct prng *p, struct tree *t)
{
    bool usage = prng_chance(p, 400);
    t->count = (uint32_t)prng_range(p, 1, TREE_QUEUES_MAX);
    t->k_permille = usage ? prng_range(p, 0, 40) * 250 : 0;
    for (uint32_t i = 0; i < t->count; i++) {
        struct fairshare_ref_queue *q = &t->queues[i];
        bool root = i == 0 || prng_chance(p, 250);
        *q = (struct fairshare_ref_queue){.parent = root ? IX_NONE : prng_below(p, i),
                                          .priority = prng_chance(p, 600) ? 100
                                                                          : prng_range(p, 98, 102),
                                          .creation = i};
        for (int r = 0; r < RES_COUNT; r++) {
            q->of[r] = random_amounts(p, (enum resource)r, usage);
        }
    }
    for (uint32_t i = t->count; i > 0; i--) {
        struct fairshare_ref_queue *q = &t->queues[i - 1];
        for (int r = 0; r < RES_COUNT; r++) {
            if (q->of[r].request == 0) { /* no children that ask */
                q->of[r].request = random_amount(p, (enum resource)r, 16);
            }
            if (q->parent != IX_NONE) {
                t->queues[q->parent].of[r].request += q->of[r].request;
            }
        }
    }
    for (int r = 0; r < RES_COUNT; r++) {
        t->total.v[r] = random_amount(p, (enum resource)r, 64);
    }
}

static void to_snapshot(const struct tree *t, struct arena *arena, struct snapshot *s)
{
    snapshot_init(s, 0);
    s->config.k_permille = t->k_permille;
    s->config.usage_denominator = 1000000;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct fairshare_ref_queue *q = &t->queues[i];
        struct snap_queue row = {.name = arena_printf(arena, "q%u", i),
                                 .tag = i,
                                 .parent = {q->parent},
                                 .priority = q->priority,
                                 .created_seq = q->creation,
                                 .reclaim_min_runtime_ms = DURATION_UNSET,
                                 .preempt_min_runtime_ms = DURATION_UNSET};
        for (int r = 0; r < RES_COUNT; r++) {
            row.quota.v[r] = q->of[r].quota;
            row.limit.v[r] = q->of[r].limit;
            row.weight_milli.v[r] = q->of[r].weight_milli;
            row.usage.v[r] = q->of[r].usage_ppm;
        }
        *ARRAY_PUSH(arena, &s->queues) = row;
    }
    snapshot_canonicalise(s, arena);
}

static bool tree_agrees(const struct tree *t, struct arena *arena)
{
    struct snapshot s;
    struct amounts want[TREE_QUEUES_MAX] = {0};
    struct amounts requests[TREE_QUEUES_MAX] = {0};
    struct amounts got[TREE_QUEUES_MAX] = {0};
    to_snapshot(t, arena, &s);
    for (uint32_t i = 0; i < t->count; i++) {
        for (int r = 0; r < RES_COUNT; r++) {
            requests[i].v[r] = t->queues[s.queues.items[i].tag].of[r].request;
        }
    }
    fairshare_ref(t->queues, t->count, &t->total, t->k_permille, want, arena);
    fairshare_solve(&s, requests, t->total, got, arena);
    bool same = true;
    for (uint32_t i = 0; i < t->count; i++) {
        for (int r = 0; r < RES_COUNT; r++) {
            same = same && got[i].v[r] == want[s.queues.items[i].tag].v[r];
        }
    }
    return same;
}

TEST(equals_the_slow_model)
{
    struct arena arena;
    arena_init(&arena, 0);
    uint32_t different = 0;
    for (uint32_t i = 0; i < TREES; i++) {
        struct prng p;
        struct tree t;
        prng_init(&p, test_seed() + i);
        random_tree(&p, &t);
        arena_reset(&arena);
        if (!tree_agrees(&t, &arena)) {
            different++;
            test_row(
                arena_printf(&arena, "WEIR_SEED=%" PRIu64 ", first tree", test_seed() + i).ptr);
            EXPECT(different == 0);
            test_row(0);
        }
        if (different == 5) {
            break;
        }
    }
    EXPECT_I64(different, 0);
    arena_done(&arena);
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
// The published test vectors of the division, GPU only. Amounts are in thousandths of a device.
#include "sched/fairshare_ref.h"

#include "base/test.h"

enum { QUEUES_MAX = 4 };

struct row {
    const char *name;
    int64_t total, k_milli;
    struct {
        int64_t quota, weight, request, limit, priority, usage_ppm; /* limit 0: unlimited */
    } queues[QUEUES_MAX];
    uint32_t count;
    int64_t want[QUEUES_MAX];
};

#define G(devices)                           (int64_t)((devices) * 1000)
#define Q(quota, weight, request)            {G(quota), (weight) * 1000, G(request), 0, 0, 0}
#define QL(quota, weight, request, limit)    {G(quota), (weight) * 1000, G(request), G(limit), 0, 0}
#define QP(quota, weight, request, priority) {G(quota), (weight) * 1000, G(request), 0, priority, 0}
#define QU(request, usage_ppm)               {0, 1000, G(request), 0, 0, usage_ppm}
#define UNLIMITED_QUOTA                      (-0.001)

/* clang-format off */
static const struct row rows[] = {
    {"both satisfied, rest 3",        G(15), 0, {Q(2, 2, 6), Q(2, 2, 6)}, 2, {G(6), G(6)}},
    {"both satisfied, rest 0",        G(12), 0, {Q(2, 2, 6), Q(2, 2, 6)}, 2, {G(6), G(6)}},
    {"a tie of halves: the older",    G(11), 0, {Q(2, 2, 6), Q(2, 2, 6)}, 2, {G(6), G(5)}},
    {"weights 1:3",                   G(8), 0, {Q(2, 1, 6), Q(2, 3, 6)}, 2, {G(3), G(5)}},
    {"a limit, rest 1",               G(12), 0, {QL(2, 2, 6, 5), Q(2, 2, 6)}, 2, {G(5), G(6)}},
    {"weights 1:4, last unit to .6",  G(11), 0, {Q(2, 1, 10), Q(2, 4, 10)}, 2, {G(3), G(8)}},
    {"priorities, quota only",        G(4), 0, {QP(2, 2, 6, 1), QP(2, 2, 6, 2)}, 2, {G(2), G(2)}},
    {"priorities, two over quota",    G(6), 0, {QP(2, 2, 6, 1), QP(2, 2, 6, 2)}, 2, {G(2), G(4)}},
    {"priority before weight",        G(6), 0, {QP(2, 100, 6, 1), QP(2, 1, 6, 2)}, 2, {G(2), G(4)}},
    {"three, one asks for nothing",   G(5), 0, {QP(2, 2, 5, 2), QP(2, 2, 5, 2), QP(1, 2, 0, 1)}, 3, {G(3), G(2), 0}},
    {"quota above the total",         G(1), 0, {Q(3, 0, 2)}, 1, {G(2)}},
    {"request below quota",           G(3), 0, {Q(3, 0, 2)}, 1, {G(2)}},
    {"weight 0 is never over quota",  G(7), 0, {Q(3, 0, 5)}, 1, {G(3)}},
    {"a fractional quota",            G(2), 0, {Q(1.5, 0, 2)}, 1, {G(1.5)}},
    {"a fractional request",          G(2), 0, {Q(3, 0, 1.5)}, 1, {G(1.5)}},
    {"no quota, weight 0",            G(2), 0, {Q(0, 0, 2)}, 1, {0}},
    {"over quota: all that is asked", G(5), 0, {Q(3, 1, 5)}, 1, {G(5)}},
    {"over quota: rest 1",            G(6), 0, {Q(3, 1, 5)}, 1, {G(5)}},
    {"over quota: up to the limit",   G(5), 0, {QL(3, 1, 5, 4)}, 1, {G(4)}},
    {"over quota: weight 0",          G(5), 0, {Q(3, 0, 5)}, 1, {G(3)}},
    {"over quota: request 4.5",       G(5), 0, {Q(3, 1, 4.5)}, 1, {G(4.5)}},
    {"over quota: half a device",     G(3.5), 0, {Q(3, 1, 5)}, 1, {G(3.5)}},
    {"fractional requests",           G(45), 0, {Q(12, 12, 32.55), Q(7, 7, 9.5), QL(2, 2, 1.65, 2)}, 3, {G(32.55), G(9.5), G(1.65)}},
    {"equal: the first made gets 3",  G(5), 0, {Q(2, 2, 3), Q(2, 2, 3)}, 2, {G(3), G(2)}},
    {"usage .9/.1, k 1",              G(16), 1000, {QU(16, 900000), QU(16, 100000)}, 2, {G(2), G(14)}},
    {"usage .6/.4, k 1",              G(16), 1000, {QU(16, 600000), QU(16, 400000)}, 2, {G(6), G(10)}},
    {"usage .6/.4, k .5",             G(16), 500, {QU(16, 600000), QU(16, 400000)}, 2, {G(7), G(9)}},
    {"usage .6/.4, k 10",             G(16), 10000, {QU(16, 600000), QU(16, 400000)}, 2, {0, G(16)}},
    {"usage .6 each, k 10: undivided", G(16), 10000, {QU(16, 600000), QU(16, 600000)}, 2, {0, 0}},
    {"usage 1 each, k 1: undivided",  G(16), 1000, {QU(16, 1000000), QU(16, 1000000)}, 2, {0, 0}},
    {"one queue, usage 1, k 1",       G(16), 1000, {QU(16, 1000000)}, 1, {G(16)}},
    {"one queue, usage 2, k 1",       G(16), 1000, {QU(16, 2000000)}, 1, {0}},
    {"floored units pass down first", G(3), 0, {QP(0, 1, 10, 2), QP(0, 1, 10, 2), QP(0, 1, 10, 1)}, 3, {G(1), G(1), G(1)}},
    {"three above, one below",        G(4), 0, {QP(0, 1, 10, 2), QP(0, 1, 10, 2), QP(0, 1, 10, 2), QP(0, 1, 10, 1)}, 4, {G(1), G(1), G(1), G(1)}},
    {"three equal",                   G(10), 0, {Q(0, 1, 10), Q(0, 1, 10), Q(0, 1, 10)}, 3, {G(4), G(3), G(3)}},
    {"requests .5 and 3",             G(2), 0, {Q(0, 1, 0.5), Q(0, 1, 3)}, 2, {G(0.5), G(1.5)}},
    {"quotas used up",                G(4), 0, {Q(4, 1, 4), Q(4, 1, 4)}, 2, {G(4), G(4)}},
    {"an unlimited quota",            G(8), 0, {Q(UNLIMITED_QUOTA, 0, 6), Q(4, 1, 8)}, 2, {G(6), G(4)}},
    {"the remainder passes a request", G(7), 0, {Q(0, 1, 3.6), Q(0, 1, 3.6)}, 2, {G(4), G(3)}},
};
/* clang-format on */

TEST(published_vectors)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (uint32_t r = 0; r < COUNT_OF(rows); r++) {
        const struct row *row = &rows[r];
        test_row(row->name);
        struct fairshare_ref_queue queues[QUEUES_MAX] = {0};
        struct amounts got[QUEUES_MAX] = {0};
        for (uint32_t i = 0; i < row->count; i++) {
            queues[i] = (struct fairshare_ref_queue){
                .parent = IX_NONE, .priority = row->queues[i].priority, .creation = i};
            queues[i].of[RES_GPU] = (struct fairshare_ref_amounts){
                .quota = row->queues[i].quota < 0 ? AMOUNT_UNLIMITED : row->queues[i].quota * 7,
                .limit = row->queues[i].limit == 0 ? AMOUNT_UNLIMITED : row->queues[i].limit * 7,
                .weight_milli = row->queues[i].weight,
                .request = row->queues[i].request * 7,
                .usage_ppm = row->queues[i].usage_ppm};
        }
        struct amounts total = {
            {row->total * 7, 0, 0}
        };
        fairshare_ref(queues, row->count, &total, row->k_milli, got, &arena);
        for (uint32_t i = 0; i < row->count; i++) {
            EXPECT_I64(got[i].v[RES_GPU], row->want[i] * 7);
        }
    }
    test_row(0);
    arena_done(&arena);
}

TEST(children_divide_their_parents_share)
{
    struct arena arena;
    arena_init(&arena, 0);
    /* A root with an unlimited quota; children listed before it; one grandchild. Millicores. */
    struct fairshare_ref_queue queues[4] = {
        {.parent = 2,       .creation = 1},
        {.parent = 2,       .creation = 2},
        {.parent = IX_NONE, .creation = 0},
        {.parent = 1,       .creation = 3}
    };
    for (uint32_t i = 0; i < 4; i++) {
        queues[i].of[RES_CPU] = (struct fairshare_ref_amounts){.quota = i == 2 ? AMOUNT_UNLIMITED
                                                                               : 0,
                                                               .limit = AMOUNT_UNLIMITED,
                                                               .weight_milli = 1000,
                                                               .request = 900};
    }
    struct amounts got[4] = {0};
    fairshare_ref(queues, 4,
                  &(struct amounts){
                      {0, 101, 0}
    },
                  0, got, &arena);
    EXPECT_I64(got[2].v[RES_CPU], 101);
    EXPECT_I64(got[0].v[RES_CPU], 51);
    EXPECT_I64(got[1].v[RES_CPU], 50);
    EXPECT_I64(got[3].v[RES_CPU], 50);
    arena_done(&arena);
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
#include "sched/fairshare.h"

#include "base/test.h"

enum { ROWS_MAX = 4 };

/* Amounts are hundredths of a device. */
struct queue_row {
    int32_t quota, weight, request, limit, priority, usage;
};
static const struct {
    const char *name;
    uint32_t count;
    struct queue_row q[ROWS_MAX];
    int32_t total;
    int32_t k_permille;
    int32_t want[ROWS_MAX];
} rows[] = {
    {"both get all they ask",
     2,                                                        {{200, 1, 600, -1, 0, 0}, {200, 1, 600, -1, 0, 0}},
     1500,                                                                                                                                     0,
     {600, 600}                                                                                                                                                 },
    {"a tie of remainders goes to the older",
     2,                                                        {{200, 1, 600, -1, 0, 0}, {200, 1, 600, -1, 0, 0}},
     1100,                                                                                                                                     0,
     {600, 500}                                                                                                                                                 },
    {"weights 1 to 3",                                      2, {{200, 1, 600, -1, 0, 0}, {200, 3, 600, -1, 0, 0}},                       800,  0,     {300, 500}},
    {"a limit leaves more for the other",
     2,                                                        {{200, 1, 600, 500, 0, 0}, {200, 1, 600, -1, 0, 0}},
     1200,                                                                                                                                     0,
     {500, 600}                                                                                                                                                 },
    {"floors, then the largest remainder",
     2,                                                        {{200, 1, 1000, -1, 0, 0}, {200, 4, 1000, -1, 0, 0}},
     1100,                                                                                                                                     0,
     {300, 800}                                                                                                                                                 },
    {"priority first",                                      2, {{200, 1, 600, -1, 1, 0}, {200, 1, 600, -1, 2, 0}},                       600,  0,     {200, 400}},
    {"priority beats weight",
     2,                                                        {{200, 100, 600, -1, 1, 0}, {200, 1, 600, -1, 2, 0}},
     600,                                                                                                                                      0,
     {200, 400}                                                                                                                                                 },
    {"what flooring leaves goes down first",
     3,                                                        {{0, 1, 1000, -1, 2, 0}, {0, 1, 1000, -1, 2, 0}, {0, 1, 1000, -1, 1, 0}},
     300,                                                                                                                                      0,
     {100, 100, 100}                                                                                                                                            },
    {"three equal",
     3,                                                        {{0, 1, 1000, -1, 0, 0}, {0, 1, 1000, -1, 0, 0}, {0, 1, 1000, -1, 0, 0}},
     1000,                                                                                                                                     0,
     {400, 300, 300}                                                                                                                                            },
    {"guarantees are met in full when there is too little",
     1,                                                        {{300, 0, 200, -1, 0, 0}},
     100,                                                                                                                                      0,
     {200}                                                                                                                                                      },
    {"nobody gets more than asked",                         1, {{300, 0, 200, -1, 0, 0}},                                                300,  0,     {200}     },
    {"weight 0 gets nothing above the guarantee",           1, {{300, 0, 500, -1, 0, 0}},                                                700,  0,     {300}     },
    {"no guarantee and weight 0",                           1, {{0, 0, 200, -1, 0, 0}},                                                  200,  0,     {0}       },
    {"parts of a device",                                   1, {{150, 0, 200, -1, 0, 0}},                                                200,  0,     {150}     },
    {"the remainder may lift above the limit",
     2,                                                        {{0, 1, 360, 360, 0, 0}, {0, 1, 360, 360, 0, 0}},
     700,                                                                                                                                      0,
     {400, 300}                                                                                                                                                 },
    {"a small request leaves the rest",
     2,                                                        {{0, 1, 50, -1, 0, 0}, {0, 1, 300, -1, 0, 0}},
     200,                                                                                                                                      0,
     {50, 150}                                                                                                                                                  },
    {"guarantees beyond what there is",
     2,                                                        {{400, 1, 400, -1, 0, 0}, {400, 1, 400, -1, 0, 0}},
     400,                                                                                                                                      0,
     {400, 400}                                                                                                                                                 },
    {"an unlimited guarantee",
     2,                                                        {{-1, 0, 600, -1, 0, 0}, {400, 1, 800, -1, 0, 0}},
     800,                                                                                                                                      0,
     {600, 400}                                                                                                                                                 },
    {"past use, k 1",
     2,                                                        {{0, 1, 1600, -1, 0, 90}, {0, 1, 1600, -1, 0, 10}},
     1600,                                                                                                                                     1000,
     {200, 1400}                                                                                                                                                },
    {"past use, k 1, closer",
     2,                                                        {{0, 1, 1600, -1, 0, 60}, {0, 1, 1600, -1, 0, 40}},
     1600,                                                                                                                                     1000,
     {600, 1000}                                                                                                                                                },
    {"past use, k 0.5",
     2,                                                        {{0, 1, 1600, -1, 0, 60}, {0, 1, 1600, -1, 0, 40}},
     1600,                                                                                                                                     500,
     {700, 900}                                                                                                                                                 },
    {"past use, k 10",
     2,                                                        {{0, 1, 1600, -1, 0, 60}, {0, 1, 1600, -1, 0, 40}},
     1600,                                                                                                                                     10000,
     {0, 1600}                                                                                                                                                  },
    {"k without past use changes nothing",
     2,                                                        {{200, 1, 600, -1, 0, 0}, {200, 3, 600, -1, 0, 0}},
     800,                                                                                                                                      1000,
     {300, 500}                                                                                                                                                 },
    {"one alone, all used",                                 1, {{0, 1, 1600, -1, 0, 100}},                                               1600, 1000,  {1600}    },
    {"one alone, used twice over",                          1, {{0, 1, 1600, -1, 0, 200}},                                               1600, 1000,  {0}       },
};

static int64_t shares(int32_t hundredths)
{
    return hundredths < 0 ? hundredths : hundredths * (DEVICE_SHARE / 100);
}

TEST(divide)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        struct fairshare_row q[ROWS_MAX];
        for (uint32_t k = 0; k < rows[i].count; k++) {
            const struct queue_row *in = &rows[i].q[k];
            q[k] = (struct fairshare_row){
                .quota = shares(in->quota),
                .limit = shares(in->limit),
                .request = shares(in->request),
                .weight_milli = in->weight * WEIGHT_ONE,
                .usage = in->usage,
                .priority = in->priority,
            };
        }
        fairshare_divide(q, rows[i].count, shares(rows[i].total), DEVICE_SHARE, rows[i].k_permille,
                         100, &arena);
        for (uint32_t k = 0; k < rows[i].count; k++) {
            EXPECT_I64(q[k].share, shares(rows[i].want[k]));
        }
    }
    test_row(NULL);
    arena_done(&arena);
}

TEST(bounds_do_not_overflow)
{
    enum { COUNT = 64 };
    struct arena arena;
    arena_init(&arena, 0);
    struct fairshare_row q[COUNT];
    for (uint32_t k = 0; k < COUNT; k++) {
        q[k] = (struct fairshare_row){
            .quota = 0,
            .limit = AMOUNT_UNLIMITED,
            .request = INT64_MAX,
            .weight_milli = WEIGHT_MILLI_MAX - k,
            .usage = k % 2 == 0 ? 0 : AMOUNT_MAX,
        };
    }
    fairshare_divide(q, COUNT, POOL_AMOUNT_MAX, 1, K_PERMILLE_MAX, USAGE_DENOMINATOR_MAX, &arena);
    int64_t sum = 0;
    for (uint32_t k = 0; k < COUNT; k++) {
        EXPECT(q[k].share >= 0);
        EXPECT(k % 2 == 0 || q[k].share == 0);
        sum += q[k].share;
    }
    EXPECT_I64(sum, POOL_AMOUNT_MAX);
    arena_done(&arena);
}

TEST_MAIN()

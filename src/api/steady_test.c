// SPDX-License-Identifier: Apache-2.0
#include "api/steady.h"

#include "base/prng.h"
#include "base/test.h"

TEST(time_by_both_clocks)
{
    static const struct {
        const char *name;
        int64_t wall_ms, mono_ms, want_ms;
    } rows[] = {
        {"the first time is the wall's",        1000000, 50,    1000000},
        {"it goes on as that does",             1000700, 750,   1000700},
        {"the wall clock jumps ahead",          9000000, 800,   9000000},
        {"it is set back by more than an hour", 5000000, 900,   9000087},
        {"time goes on, more slowly",           5008000, 8900,  9007087},
        {"and on",                              5016000, 16900, 9014087},
        {"it is set to a little behind",        9014000, 16900, 9014087},
        {"and has caught up",                   9015000, 17900, 9015000},
        {"nothing passes",                      9015000, 17900, 9015000},
    };
    struct steady s = {0};
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        EXPECT_I64(steady_at(&s, rows[i].wall_ms, rows[i].mono_ms * 1000), rows[i].want_ms);
    }
    test_row("what was given before a restart is the least");
    struct steady again = {.ms = 9015000, .mono_us = 1000};
    EXPECT_I64(steady_at(&again, 4000, 1000), 9015000);
    EXPECT_I64(steady_at(&again, 4008, 9000), 9015007);
    test_row(NULL);
}

/* However often it is asked, it never goes back and keeps its pace. */
TEST(pace)
{
    struct prng p;
    prng_init(&p, test_seed());
    struct steady s = {0};
    int64_t last_ms = steady_at(&s, 5000000, 0);
    int64_t from_ms = last_ms;
    int64_t mono_us = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        mono_us += prng_range(&p, 0, 3000);
        int64_t now_ms = steady_at(&s, 1000000 + mono_us / 1000, mono_us);
        EXPECT(now_ms >= last_ms);
        last_ms = now_ms;
    }
    int64_t passed_ms = mono_us / 1000;
    EXPECT(last_ms - from_ms <= passed_ms * 7 / 8 + 1);
    EXPECT(last_ms - from_ms >= passed_ms * 7 / 8 - 1);
}

TEST_MAIN()

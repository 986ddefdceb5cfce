// SPDX-License-Identifier: Apache-2.0
#include "api/guard.h"

#include "base/test.h"

enum { TRIES = 5 };

TEST(waits_grow)
{
    struct guard *g = guard_new();
    int64_t now = 1000000000;
    for (int i = 0; i < TRIES; i++) {
        EXPECT_I64(guard_wait_ms(g, STR("ann"), TRIES, now), 0);
        guard_failed(g, STR("ann"), now);
    }
    EXPECT_I64(guard_wait_ms(g, STR("ann"), TRIES, now), GUARD_WAIT_MS);
    EXPECT_I64(guard_wait_ms(g, STR("ann"), TRIES + 1, now), 0);
    EXPECT_I64(guard_wait_ms(g, STR("bob"), TRIES, now), 0);
    now += GUARD_WAIT_MS - 1;
    EXPECT_I64(guard_wait_ms(g, STR("ann"), TRIES, now), 1);
    now += 1;
    EXPECT_I64(guard_wait_ms(g, STR("ann"), TRIES, now), 0);
    guard_failed(g, STR("ann"), now);
    EXPECT_I64(guard_wait_ms(g, STR("ann"), TRIES, now), 2 * GUARD_WAIT_MS);
    for (int i = 0; i < 1000; i++) {
        guard_failed(g, STR("ann"), now);
    }
    EXPECT_I64(guard_wait_ms(g, STR("ann"), TRIES, now), GUARD_WAIT_MAX_MS);
    guard_clear(g, STR("ann"));
    EXPECT_I64(guard_wait_ms(g, STR("ann"), TRIES, now), 0);
    guard_free(g);
}

TEST(failures_are_forgotten)
{
    struct guard *g = guard_new();
    int64_t now = 1000000000;
    for (int i = 0; i < 20; i++) {
        guard_failed(g, STR("ann"), now);
    }
    now += GUARD_FORGET_MS;
    EXPECT_I64(guard_wait_ms(g, STR("ann"), TRIES, now), 0);
    guard_failed(g, STR("ann"), now);
    EXPECT_I64(guard_wait_ms(g, STR("ann"), TRIES, now), 0); /* counted from one again */
    guard_free(g);
}

/* However many names are tried, the memory is the same, and who fails most lately is remembered. */
TEST(the_table_is_bounded)
{
    struct guard *g = guard_new();
    int64_t now = 1000000000;
    for (int i = 0; i < 4 * GUARD_SLOTS; i++) {
        char name[32];
        guard_failed(g, str_format(name, sizeof name, "name-%d", i), now + i);
    }
    now += 4 * GUARD_SLOTS;
    for (int i = 0; i < TRIES; i++) {
        guard_failed(g, STR("ann"), now);
    }
    EXPECT(guard_wait_ms(g, STR("ann"), TRIES, now) > 0);
    guard_free(g);
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
// The deterministic simulation, 100,000 steps over several seeds. A failing
// seed is repeated by `weir sim --seed N --steps N`.
#include "cmd/sim.h"

#include <stdio.h>

#include "base/test.h"

enum { SEEDS = 20, STEPS = 5000 };

static void expect_whole(uint64_t seed, int64_t steps, struct sim_report *r)
{
    struct arena arena;
    char line[96];
    arena_init(&arena, 0);
    sim_in_memory(seed, steps, &arena, r);
    snprintf(line, sizeof(line), "weir sim --seed %" PRIu64 " --steps %" PRId64, seed, steps);
    test_row(line);
    EXPECT_STR(r->breach, STR(""));
    EXPECT(r->steps >= steps);
    arena_done(&arena);
}

TEST(the_rules_hold_for_100000_steps)
{
    struct sim_report all = {.steps = 0};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct sim_report r;
        expect_whole(seed, STEPS, &r);
        all.steps += r.steps;
        all.evicts += r.evicts;
        all.claims += r.claims;
        all.crashes += r.crashes;
        all.rebuilds += r.rebuilds;
        all.node_losses += r.node_losses;
        all.repeated += r.repeated;
        all.refused += r.refused;
    }
    test_row(NULL); /* and things did happen */
    EXPECT(all.steps >= SEEDS * STEPS);
    EXPECT(all.evicts > 500);
    EXPECT(all.claims > 500);
    EXPECT(all.crashes > 20);
    EXPECT(all.rebuilds > all.steps / SIM_VERIFY_STEPS);
    EXPECT(all.node_losses > 100);
    EXPECT(all.repeated > 20);
    EXPECT(all.refused > 200);
}

TEST(the_same_seed_gives_the_same_run)
{
    struct sim_report one;
    struct sim_report two;
    struct sim_report other;
    expect_whole(7, 2000, &one);
    expect_whole(7, 2000, &two);
    expect_whole(8, 2000, &other);
    EXPECT(one.digest == two.digest);
    EXPECT(one.digest != other.digest);
}

/* Rows of docs/scenarios.md. Both are looked at in every run; here is one each by name. */

TEST(B053_state_that_has_lived_long_decides_like_state_rebuilt)
{
    struct sim_report r;
    expect_whole(53, 4000, &r);
    EXPECT(r.rebuilds >= 4);
}

TEST(B107_what_is_said_to_be_used_is_what_runs_after_every_event)
{
    struct sim_report r;
    expect_whole(107, 10000, &r);
    EXPECT(r.commands > 1000);
    EXPECT(r.evicts > 0);
    EXPECT(r.crashes > 0);
}

TEST_MAIN()

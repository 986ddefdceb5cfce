// SPDX-License-Identifier: Apache-2.0
#include "cmd/sim.h"

#include <inttypes.h>
#include <stdio.h>

#include "adapters/memory/memory.h"
#include "base/num.h"
#include "cmd/cmd.h"

static void hold(void *ctx, bool yes)
{
    memory_delay(ctx, yes ? 0 : UINT32_MAX);
}

static void crash(void *ctx, uint32_t keep)
{
    memory_crash(ctx, keep);
}

static void forget(void *ctx, int64_t seq)
{
    memory_forget(ctx, seq);
}

void sim_in_memory(uint64_t seed, int64_t steps, struct arena *arena, struct sim_report *report)
{
    struct memory_store *m = memory_open();
    struct sim_store store = {memory_port(m), m, hold, crash, forget};
    sim_run(seed, steps, &store, arena, report);
    memory_close(m);
}

static int usage(const char *what)
{
    fprintf(stderr, "weir sim: %s\nusage: weir sim [--seed N] [--steps N]\n", what);
    return 1;
}

static void print(uint64_t seed, const struct sim_report *r)
{
    printf("seed %" PRIu64 ": %" PRId64 " steps, %" PRId64
           " hours of virtual time, digest %016" PRIx64 "\n",
           seed, r->steps, r->virtual_ms / 3600000, r->digest);
    printf("  commands %" PRId64 " (refused %" PRId64 ", repeated %" PRId64
           "), observations %" PRId64 ", ticks %" PRId64 "\n",
           r->commands, r->refused, r->repeated, r->observations, r->ticks);
    printf("  binds %" PRId64 ", evictions %" PRId64 ", claims %" PRId64 ", starts %" PRId64
           ", stops %" PRId64 ", nodes lost %" PRId64 "\n",
           r->binds, r->evicts, r->claims, r->starts, r->stops, r->node_losses);
    printf("  crashes %" PRId64 ", states built again %" PRId64 "\n", r->crashes, r->rebuilds);
}

int cmd_sim(int argc, char **argv)
{
    uint64_t seed = 1;
    int64_t steps = 100000;
    for (int i = 1; i < argc; i += 2) {
        struct str flag = str_from_c(argv[i]);
        struct str value = str_from_c(i + 1 < argc ? argv[i + 1] : "");
        if (str_eq(flag, STR("--seed"))) {
            if (!num_parse_u64(value, &seed)) {
                return usage("--seed: expected a number of 0 or more");
            }
        } else if (str_eq(flag, STR("--steps"))) {
            if (!num_parse_i64(value, &steps) || steps < 1) {
                return usage("--steps: expected a number above 0");
            }
        } else {
            return usage("expected --seed or --steps");
        }
    }
    struct arena arena;
    struct sim_report r;
    arena_init(&arena, 0);
    sim_in_memory(seed, steps, &arena, &r);
    print(seed, &r);
    if (r.breach.len > 0) {
        printf("broken at step %" PRId64 ": %.*s\nrepeat: weir sim --seed %" PRIu64
               " --steps %" PRId64 "\n",
               r.steps, STR_ARG(r.breach), seed, steps);
    }
    int status = r.breach.len > 0;
    arena_done(&arena);
    return status;
}

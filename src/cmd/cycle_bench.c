// SPDX-License-Identifier: Apache-2.0
// Times one scheduling cycle on a case file (bench/gen_snapshot.py makes large ones): the quickest of
// a few runs, since the machine may be busy, and what the cycle decided, so that speed cannot be won
// by deciding nothing.
//
// usage: cycle_bench CASE.json …
#include <stdio.h>

#include "cmd/case_files.h"
#include "io/clock.h"

enum { RUNS = 5 };

static bool measure(const char *path, struct arena *arena)
{
    struct sim_case c;
    struct problems problems;
    struct err err = {0};
    struct snapshot snap;
    struct decisions decisions = {0};
    int64_t best_us = INT64_MAX;
    size_t used_bytes = 0;
    problems_init(&problems, arena);
    if (case_file_load(path, arena, &c, &problems, &err) != STATUS_OK) {
        struct str text = err_format(&err, arena);
        fprintf(stderr, STR_FMT "\n", STR_ARG(text));
        return false;
    }
    int64_t start_us = clock_mono_us();
    case_world_snapshot(&c.world, arena, &snap);
    int64_t freeze_us = clock_mono_us() - start_us;
    for (int run = 0; run < RUNS; run++) {
        struct arena cycle;
        arena_init(&cycle, 0);
        start_us = clock_mono_us();
        sched_cycle(&cycle, &snap, c.actions_mask, &decisions);
        int64_t us = clock_mono_us() - start_us;
        best_us = us < best_us ? us : best_us;
        used_bytes = cycle.used_bytes;
        arena_done(&cycle);
    }
    printf(STR_FMT ": %u nodes, %u pods: cycle %.2f ms, freezing %.2f ms, %zu KiB; "
                   "%u placed, %u stopped\n",
           STR_ARG(c.id), snap.nodes.count, snap.tasks.count, (double)best_us / 1000,
           (double)freeze_us / 1000, used_bytes / 1024, decisions.binds.count,
           decisions.evicts.count);
    return true;
}

int main(int argc, char **argv)
{
    struct arena arena;
    bool good = argc > 1;
    if (argc < 2) {
        fputs("usage: cycle_bench CASE.json ...\n", stderr);
    }
    arena_init(&arena, 0);
    for (int i = 1; i < argc; i++) {
        arena_reset(&arena);
        good = measure(argv[i], &arena) && good;
    }
    arena_done(&arena);
    return good ? 0 : 1;
}

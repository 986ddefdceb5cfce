// SPDX-License-Identifier: Apache-2.0
// sim: the engine, its journal and a cluster played in virtual time from a seed, with everything
// going wrong that may: late, lost and repeated messages, nodes and devices failing, crashes
// between any write and its acknowledgement. After every input the invariants hold and a hash is
// taken of the state without its history (past use, answers given, events: nine tenths of it; what
// is wrong in it stays). Every SIM_HISTORY_STEPS inputs the hash is of all, and past use is what it
// is when summed up input by input; every SIM_VERIFY_STEPS inputs and at each crash the state is
// built again from the last checkpoint and the journal, must be equal, past use and all, and decide
// alike. The same seed gives the same run, whose digest is that of all hashes.
#pragma once

#include "base/arena.h"
#include "ports/store.h"

enum { SIM_VERIFY_STEPS = 1000, SIM_HISTORY_STEPS = 100 };

/* A store that can be crashed. */
struct sim_store {
    struct store port;
    void *ctx;
    /* hold: with true, appends are not committed until hold(false) and a poll. */
    void (*hold)(void *ctx, bool yes);
    /* crash: the process is killed; keep of the groups appended and not acknowledged are on disk. */
    void (*crash)(void *ctx, uint32_t keep);
    /* forget: records up to seq will not be read again. */
    void (*forget)(void *ctx, int64_t seq);
};

struct sim_report {
    struct str breach;  /* what was broken, "" nothing; in the arena given */
    int64_t steps;      /* inputs applied */
    int64_t virtual_ms; /* time that passed in the simulation */
    uint64_t digest;
    /* what happened, so that a run in which nothing happens is noticed */
    int64_t commands, refused, repeated, observations, ticks, binds, evicts, claims, crashes,
        rebuilds, starts, stops, node_losses;
};

/* sim_run plays steps inputs and stops at the first breach. */
void sim_run(uint64_t seed, int64_t steps, const struct sim_store *store, struct arena *arena,
             struct sim_report *report);

// SPDX-License-Identifier: Apache-2.0
// cycle: the one entry to the scheduler: a snapshot in, decisions with reasons out.
#pragma once

#include "base/arena.h"
#include "model/decision.h"

#define ACTION_BIT(action) (1u << (action))
#define ACTIONS_ALL        ((1u << ACTION_COUNT) - 1)

/* Raised with every change after which an equal snapshot may be decided otherwise: a journal is
 * compared only with what the same version says. */
enum { SCHED_VERSION = 4 };

/* For who measures a cycle: told when each action begins and ends (the clock is the caller's), and
 * filled in with what the scratch memory came to. It changes no decision. */
struct sched_watch {
    void (*on_action)(void *ctx, enum action action, bool begins);
    void *ctx;
    size_t scratch_peak_bytes;
    uint64_t scratch_blocks; /* taken from base/mem */
};

/* sched_cycle runs the actions in actions_mask (ACTION_BIT, in the order of enum action) on
 * snap, which must be canonical (snapshot_canonicalise) and is not changed, and fills *out. All of
 * *out lives in arena, as does the scratch memory. Pure: equal snapshots give equal decisions. */
void sched_cycle(struct arena *arena, const struct snapshot *snap, uint32_t actions_mask,
                 struct decisions *out);
/* sched_cycle_watched is sched_cycle under the eyes of watch (NULL: nobody). */
void sched_cycle_watched(struct arena *arena, const struct snapshot *snap, uint32_t actions_mask,
                         struct sched_watch *watch, struct decisions *out);

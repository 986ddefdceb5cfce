// SPDX-License-Identifier: Apache-2.0
// past: past use in the simulation, summed up input by input, to be compared with the engine's
// books. Pools have the longest window there is; when a run outlasts it, no more is compared.
#pragma once

#include "base/array.h"
#include "engine/engine.h"

struct past_row {
    struct str pool;
    uint32_t project; /* its id */
    int64_t gpu_share_ms, had_gpu_share_ms;
};
struct sim_past {
    struct arena *arena;
    int64_t since_ms; /* of the first input */
    ARRAY(struct past_row) rows;
};

/* past_step: what is held now is held until to_ms. Before an input is applied. */
void past_step(struct sim_past *p, const struct engine *e, int64_t to_ms);
/* past_check gives the first figure of the books that is another one, or "". After it is applied. */
struct str past_check(struct sim_past *p, const struct engine *e, struct arena *arena);

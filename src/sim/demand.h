// SPDX-License-Identifier: Apache-2.0
// demand: what people ask for, at random: plans that change, work of all kinds, mistakes too.
#pragma once

#include "base/prng.h"
#include "model/input.h"

struct sim_demand {
    struct prng *prng;
    uint64_t keys; /* counts the commands made */
};

/* demand_plan makes a plan with some change to every guarantee, limit, weight and rank. */
void demand_plan(struct sim_demand *d, struct arena *arena, struct input *out);
/* demand_next makes the next command, looking at the state only for whom to name. */
void demand_next(struct sim_demand *d, const struct state *s, struct arena *arena,
                 struct input *out);
/* demand_again gives the same command as a client sends it that got no answer: the same key, and
 * new identifiers. */
void demand_again(struct sim_demand *d, struct input *in);

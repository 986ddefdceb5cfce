// SPDX-License-Identifier: Apache-2.0
// case_random: small random clusters for property tests, and a world written as a case file, so
// that what a property test found can be looked at with `weir simulate`.
#pragma once

#include "base/prng.h"
#include "codec/json.h"
#include "sim/case_world.h"

struct case_random_options {
    bool fractions;       /* some pods ask for a part of a device, or for device memory */
    uint32_t pending_max; /* waiting workloads; at least one when > 0 */
    bool more;            /* draining nodes, zones, budgets, durations, checkpoints, ageing */
    bool
        constraints; /* selectors, taints, affinity, topology; closed nodes, sick devices, delays */
    bool full;       /* no device is left idle as long as single pods can fill it */
};

/* case_random fills *w, made by case_world_init, with a consistent cluster: nothing over-committed,
 * running gangs complete. The same prng state gives the same cluster. */
void case_random(struct case_world *w, struct prng *prng, struct case_random_options options);

/* case_random_to_json writes w as a case with one round of all actions and no expectations. */
void case_random_to_json(const struct case_world *w, struct str id, struct jw *out);

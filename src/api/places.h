// SPDX-License-Identifier: Apache-2.0
// places: where each workload that waits stands among those of its project and node pool: by priority,
// then by age. Worked out when first asked for, and again only when the state has changed.
#pragma once

#include "base/arena.h"
#include "engine/engine.h"

struct places {
    struct arena arena;
    int64_t seq;  /* of the state that of was made from */
    uint32_t *of; /* [workloads_count], 0: it does not wait */
};

void places_done(struct places *p);
/* places_of gives 1 for the first; 0: it does not wait. wl is one of the engine's. */
uint32_t places_of(struct places *p, const struct engine *engine, const struct workload *wl);

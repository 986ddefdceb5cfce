// SPDX-License-Identifier: Apache-2.0
// sight: what one who asks may see of lists. Sets of scopes are made once per entity.
#pragma once

#include "access/access.h"
#include "engine/engine.h"

struct sight {
    const struct engine *engine;
    const struct grants *grants; /* of a book of the engine's plan as it is now */
    struct arena *arena;
    struct scope_set *sets[ENTITY_COUNT]; /* NULL: not asked for yet */
};

/* sight_set gives the scopes at which entities of that kind may be read. */
const struct scope_set *sight_set(struct sight *s, enum entity e);
/* By row of the plan. */
bool sight_department(struct sight *s, uint32_t row);
bool sight_project(struct sight *s, uint32_t row);
/* sight_workload: as what it is (a training, a workspace …), in its project. Those of a project that
 * is gone are seen by who sees the whole cluster. */
bool sight_workload(struct sight *s, const struct workload *w);
enum entity entity_of_kind(enum workload_kind kind);

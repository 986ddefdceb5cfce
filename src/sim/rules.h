// SPDX-License-Identifier: Apache-2.0
// rules: what must hold of a decision, checked on the state it was made on, from the rules alone
// and in the slowest way: R1's minimum run time, R2, R4 to R7 and R9. What must hold of every
// state is engine_invariants; that the work-sharing itself is right is the scheduler's own tests'.
#pragma once

#include "engine/engine.h"

/* rules_tick checks the decisions of a tick before it is applied; returns the first breach. */
struct str rules_tick(const struct engine *e, const struct tick *t, int64_t now_ms,
                      struct arena *arena);
/* rules_applied: what is wrong with the state in which the tick was applied: all it starts has begun
 * to start. */
struct str rules_applied(const struct engine *e, const struct tick *t, struct arena *arena);
/* rules_settled checks a state for which the scheduler has nothing more to do: whatever waits has
 * a reason, and the reason is true. */
struct str rules_settled(const struct engine *e, int64_t now_ms, struct arena *arena);

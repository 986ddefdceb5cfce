// SPDX-License-Identifier: Apache-2.0
// moves: room for one pod by moving as little as can be: for consolidation in a pool that is packed.
// Internal to sched/.
#pragma once

#include "sched/search.h"

/* moves_solve finds a scenario for a claimant of one pod and leaves it in the trial, as search_solve
 * does; x->claimant_first is set then. False, with all as before: none of the cheapest did. */
bool moves_solve(struct search *x);

// SPDX-License-Identifier: Apache-2.0
// sim: the verb `weir sim --seed N --steps N`: the deterministic simulation on a store in memory.
#pragma once

#include "sim/sim.h"

/* sim_in_memory runs the simulation with adapters/memory as its store. */
void sim_in_memory(uint64_t seed, int64_t steps, struct arena *arena, struct sim_report *report);
/* argv[0] is the verb. Prints what happened, and for a failing run the line that repeats it.
 * Returns the exit status: 0, 1 when a rule was broken or the usage is wrong. */
int cmd_sim(int argc, char **argv);

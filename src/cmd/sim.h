// SPDX-License-Identifier: Apache-2.0
// sim: the deterministic simulation on a store in memory: what `weir sim --seed N --steps N` runs.
#pragma once

#include "sim/sim.h"

/* sim_in_memory runs the simulation with adapters/memory as its store. */
void sim_in_memory(uint64_t seed, int64_t steps, struct arena *arena, struct sim_report *report);

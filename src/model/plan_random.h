// SPDX-License-Identifier: Apache-2.0
// plan_random: plans for tests of properties, from a seed; each passes plan_check without capacity.
// Tests only.
#pragma once

#include "base/arena.h"
#include "base/prng.h"
#include "model/plan.h"

void plan_random(struct prng *r, struct arena *arena, struct plan *out);

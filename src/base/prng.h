// SPDX-License-Identifier: Apache-2.0
// prng: seeded random numbers for tests and simulation (never for secrets): the same seed gives
// the same numbers on every machine.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct prng {
    uint64_t s[4];
};

void prng_init(struct prng *p, uint64_t seed);
uint64_t prng_next(struct prng *p);
uint32_t prng_below(struct prng *p, uint32_t bound);             /* [0, bound), bound > 0 */
int64_t prng_range(struct prng *p, int64_t first, int64_t last); /* [first, last] */
bool prng_chance(struct prng *p, uint32_t permille);

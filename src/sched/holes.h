// SPDX-License-Identifier: Apache-2.0
// holes: what the free part of a device is worth to the fractions that are asked for: a tenth of a
// device that nobody asks for is worth nothing, half of one as much as two quarters. Internal to
// sched/.
#pragma once

#include <stdint.h>

enum { HOLE_VALUES_MAX = 64, HOLE_SIZES_MAX = 16 };

struct holes {
    int64_t most;                       /* what a whole device is worth; > 0 */
    int64_t least[HOLE_VALUES_MAX + 1]; /* [0..most] the smallest share that is worth so much */
};

/* A size of fraction, and how many of it are asked for. */
struct hole_demand {
    int64_t share; /* (0, DEVICE_SHARE) */
    int64_t count; /* > 0 */
};

/* holes_price finds prices for the fractions demands[count], the first HOLE_SIZES_MAX of them; the
 * rest is worth what smaller ones are. No set of fractions that fits in a device has prices that
 * add up to more than a device is worth, and under that condition the demand as a whole is worth as
 * many devices as was found: a lower bound on those it needs. Integers only, the same for the same
 * demands in the same order. Some ten thousand steps. */
void holes_price(struct holes *h, const struct hole_demand *demands, uint32_t count);

/* holes_value gives the most that fractions which fit together in a hole of that share are worth. */
int64_t holes_value(const struct holes *h, int64_t share);

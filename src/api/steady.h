// SPDX-License-Identifier: Apache-2.0
// steady: the time that the engine is given: wall time that never goes back. While the wall clock
// is behind (it was set back, or the one before was wrong) time goes on at seven eighths of its pace
// until the clock has caught up: what waits for a time does not wait for hours, and what is owed a
// minimum of time gets no less.
#pragma once

#include <stdint.h>

struct steady {
    int64_t ms,
        mono_us; /* what the time was, and the monotonic clock, when the wall clock was right */
};

/* steady_at gives the time by both clocks: at least what it gave before, or what *s was set to. Pure
 * but for *s. */
int64_t steady_at(struct steady *s, int64_t wall_ms, int64_t mono_us);

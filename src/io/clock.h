// SPDX-License-Identifier: Apache-2.0
// clock: the two clocks of the system, in milliseconds.
#pragma once

#include <stdint.h>

int64_t clock_wall_ms(void); /* since 1970 UTC; may be set back by someone */
int64_t clock_mono_ms(void); /* since some start; never goes back */
int64_t clock_mono_us(void); /* the same in microseconds, for measuring */
int64_t clock_cpu_us(void);  /* what this thread has used of a processor, in microseconds */

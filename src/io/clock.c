// SPDX-License-Identifier: Apache-2.0
#include "io/clock.h"

#include <time.h>

#include "base/check.h"

static struct timespec now(clockid_t clock)
{
    struct timespec t;
    CHECK(clock_gettime(clock, &t) == 0);
    return t;
}

int64_t clock_wall_ms(void)
{
    struct timespec t = now(CLOCK_REALTIME);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t clock_mono_ms(void)
{
    return clock_mono_us() / 1000;
}

int64_t clock_mono_us(void)
{
    struct timespec t = now(CLOCK_MONOTONIC);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t clock_cpu_us(void)
{
    struct timespec t = now(CLOCK_THREAD_CPUTIME_ID);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

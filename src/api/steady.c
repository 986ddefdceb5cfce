// SPDX-License-Identifier: Apache-2.0
#include "api/steady.h"

enum { SLOW = 7, OF = 8, US = 1000 };

int64_t steady_at(struct steady *s, int64_t wall_ms, int64_t mono_us)
{
    int64_t slow_ms = s->ms + (mono_us - s->mono_us) * SLOW / OF / US;
    if (wall_ms < slow_ms) {
        return slow_ms; // from the same beginning each time: nothing is lost to rounding
    }
    *s = (struct steady){wall_ms, mono_us};
    return wall_ms;
}

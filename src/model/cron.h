// SPDX-License-Identifier: Apache-2.0
// cron: moments that come again, written as the five fields of a crontab: minute, hour, day of the
// month, month, day of the week; in UTC. Numbers, names of months and days (jan, mon), *, ranges
// (1-5), lists (1,15) and steps (*/6, 8-18/2); 0 and 7 are Sunday. As in every cron, when both days
// are restricted, either suffices.
#pragma once

#include "base/attr.h"
#include "base/str.h"

struct cron {
    uint64_t minutes, hours, days, months, weekdays; /* bit n: n is one of them */
    bool any_day, any_weekday;                       /* written as * */
};

/* cron_parse reads text; false, *out undefined, when it is none or names no day that there is
 * (30 February). */
MUST_USE bool cron_parse(struct str text, struct cron *out);
/* cron_previous gives the last moment of c at or before at_ms, or floor_ms when that is later.
 * O(days between the two). */
int64_t cron_previous(const struct cron *c, int64_t at_ms, int64_t floor_ms);

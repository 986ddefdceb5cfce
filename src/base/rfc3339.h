// SPDX-License-Identifier: Apache-2.0
// rfc3339: points in time as text, 2026-11-30T23:04:51.123Z, and as milliseconds since 1970 UTC.
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

enum { RFC3339_TEXT_SIZE = 25 };

/* rfc3339_parse reads years 0001 to 9999, Z or an offset; digits of the second beyond the third are
 * dropped; a leap second (:60) is refused, as Kubernetes does. STATUS_INVALID leaves *ms. */
MUST_USE enum status rfc3339_parse(struct str text, int64_t *ms, struct err *err);
/* The day in UTC that ms is in. */
struct civil {
    int64_t year, month, day; /* from 1 */
    int64_t weekday;          /* 0: Sunday */
    int64_t ms_of_day;
};
struct civil rfc3339_civil(int64_t ms);
int64_t rfc3339_month_length(int64_t year, int64_t month);
/* rfc3339_format writes UTC with three digits of the second; ms must be in those years. */
struct str rfc3339_format(int64_t ms, char out[RFC3339_TEXT_SIZE]);

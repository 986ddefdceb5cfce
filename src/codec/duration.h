// SPDX-License-Identifier: Apache-2.0
// duration: spans of time as Go writes them: 1h30m, 30s, 500ms, 1.5h, -10m, 0; here milliseconds.
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

enum { DURATION_TEXT_SIZE = 32 };

/* duration_parse reads numbers with a unit of h, m, s, ms, us, ns each (a bare 0 too), the sum being
 * a whole number of milliseconds. STATUS_INVALID, *ms untouched: anything else, beyond int64_t. */
MUST_USE enum status duration_parse(struct str text, int64_t *ms, struct err *err);
/* duration_format writes the units that are not zero: 5400000 is 1h30m, 1500 is 1.5s, 20 is 20ms,
 * 0 is 0s. duration_parse reads it back. */
struct str duration_format(int64_t ms, char out[DURATION_TEXT_SIZE]);

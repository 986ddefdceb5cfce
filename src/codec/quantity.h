// SPDX-License-Identifier: Apache-2.0
// quantity: amounts as Kubernetes writes them: 500m, 2, 1.5G, 16Gi, 1e3, read without rounding.
// A suffix is one of n u m k M G T P E (powers of ten) or Ki Mi Gi Ti Pi Ei (powers of 1024).
#pragma once

#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

enum { QUANTITY_TEXT_SIZE = 24 }; /* the longest text and its NUL */

/* quantity_parse stores text × per_unit (per_unit > 0), which must be a whole number: per_unit 1000
 * reads cores into millicores ("1.5" is 1500), 1 reads a count. A sign is allowed; the caller
 * checks the range. STATUS_INVALID, *out untouched: not a quantity, not whole, beyond int64_t. */
MUST_USE enum status quantity_parse(struct str text, int64_t per_unit, int64_t *out,
                                    struct err *err);
/* quantity_parse_bytes is the same for bytes, and accepts a B behind: 80GiB, 512MB, 100B. */
MUST_USE enum status quantity_parse_bytes(struct str text, int64_t *out, struct err *err);

/* quantity_format_bytes: the shortest exact spelling without a fraction, binary suffixes first:
 * 17179869184 is 16Gi, 1500 is 1500, 2000 is 2k. */
struct str quantity_format_bytes(int64_t bytes, char out[QUANTITY_TEXT_SIZE]);
/* quantity_format_milli: 12000 is 12, 1500 is 1500m. */
struct str quantity_format_milli(int64_t milli, char out[QUANTITY_TEXT_SIZE]);

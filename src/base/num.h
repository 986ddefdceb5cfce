// SPDX-License-Identifier: Apache-2.0
// num: integer arithmetic that cannot overflow unseen, and division that says how it rounds.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"

/* On overflow these return false and leave *out untouched. */
MUST_USE bool num_add_i64(int64_t a, int64_t b, int64_t *out);
MUST_USE bool num_sub_i64(int64_t a, int64_t b, int64_t *out);
MUST_USE bool num_mul_i64(int64_t a, int64_t b, int64_t *out);
/* Saturating: for sums that are only compared. */
int64_t num_sat_add_i64(int64_t a, int64_t b);
int64_t num_sat_sub_i64(int64_t a, int64_t b);
int64_t num_sat_mul_i64(int64_t a, int64_t b);
/* d > 0. */
int64_t num_div_floor(int64_t n, int64_t d);
int64_t num_div_ceil(int64_t n, int64_t d);
/* num_muldiv_floor gives floor(a * b / d) with a 128-bit product; the result must fit (CHECK). */
int64_t num_muldiv_floor(int64_t a, int64_t b, int64_t d);
int64_t num_muldiv_ceil(int64_t a, int64_t b, int64_t d);
/* num_cmp_frac compares an/ad with bn/bd exactly (ad, bd > 0): -1, 0, 1. */
int num_cmp_frac(int64_t an, int64_t ad, int64_t bn, int64_t bd);
/* num_frac_rank gives floor(n / d * 2^32), or UINT64_MAX where that is more (n >= 0, d > 0): of two
 * fractions the one with the greater rank is greater; equal ranks decide nothing. */
uint64_t num_frac_rank(int64_t n, int64_t d);
int64_t num_min_i64(int64_t a, int64_t b);
int64_t num_max_i64(int64_t a, int64_t b);
uint32_t num_u32(uint64_t v); /* CHECKs that v fits */

/* num_parse_i64 reads an optional minus and digits, all of s; false otherwise or on overflow. */
MUST_USE bool num_parse_i64(struct str s, int64_t *out);
MUST_USE bool num_parse_u64(struct str s, uint64_t *out);
/* num_parse_decimal reads "-12.345" exactly as an integer of 10^-scale units (scale in [0, 18]);
 * false for anything else (exponents too), for more digits than the scale holds, on overflow. */
MUST_USE bool num_parse_decimal(struct str s, uint32_t scale, int64_t *out);

// SPDX-License-Identifier: Apache-2.0
// num: everything on the compiler's overflow builtins and 128-bit products.
#include "base/num.h"

#include "base/check.h"

__extension__ typedef __int128 wide;

enum { DECIMAL_SCALE_MAX = 18 }; /* 10^18 is the largest power of ten in an int64_t */

bool num_add_i64(int64_t a, int64_t b, int64_t *out)
{
    int64_t v;
    if (__builtin_add_overflow(a, b, &v)) {
        return false;
    }
    *out = v;
    return true;
}

bool num_sub_i64(int64_t a, int64_t b, int64_t *out)
{
    int64_t v;
    if (__builtin_sub_overflow(a, b, &v)) {
        return false;
    }
    *out = v;
    return true;
}

bool num_mul_i64(int64_t a, int64_t b, int64_t *out)
{
    int64_t v;
    if (__builtin_mul_overflow(a, b, &v)) {
        return false;
    }
    *out = v;
    return true;
}

int64_t num_sat_add_i64(int64_t a, int64_t b)
{
    int64_t v;
    if (__builtin_add_overflow(a, b, &v)) {
        return b < 0 ? INT64_MIN : INT64_MAX;
    }
    return v;
}

int64_t num_sat_sub_i64(int64_t a, int64_t b)
{
    int64_t v;
    if (__builtin_sub_overflow(a, b, &v)) {
        return b < 0 ? INT64_MAX : INT64_MIN;
    }
    return v;
}

int64_t num_sat_mul_i64(int64_t a, int64_t b)
{
    int64_t v;
    if (__builtin_mul_overflow(a, b, &v)) {
        return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
    }
    return v;
}

int64_t num_div_floor(int64_t n, int64_t d)
{
    CHECK(d > 0);
    return n / d - (n % d < 0);
}

int64_t num_div_ceil(int64_t n, int64_t d)
{
    CHECK(d > 0);
    return n / d + (n % d > 0);
}

static int64_t narrow(wide v)
{
    CHECK(v >= INT64_MIN);
    CHECK(v <= INT64_MAX);
    return (int64_t)v;
}

int64_t num_muldiv_floor(int64_t a, int64_t b, int64_t d)
{
    CHECK(d > 0);
    wide n = (wide)a * b;
    return narrow(n / d - (n % d < 0));
}

int64_t num_muldiv_ceil(int64_t a, int64_t b, int64_t d)
{
    CHECK(d > 0);
    wide n = (wide)a * b;
    return narrow(n / d + (n % d > 0));
}

int num_cmp_frac(int64_t an, int64_t ad, int64_t bn, int64_t bd)
{
    CHECK(ad > 0);
    CHECK(bd > 0);
    wide a = (wide)an * bd;
    wide b = (wide)bn * ad;
    return a < b ? -1 : a > b;
}

uint64_t num_frac_rank(int64_t n, int64_t d)
{
    CHECK(n >= 0);
    CHECK(d > 0);
    wide rank = ((wide)n << 32) / d;
    return rank > UINT64_MAX ? UINT64_MAX : (uint64_t)rank;
}

int64_t num_min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t num_max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

uint32_t num_u32(uint64_t v)
{
    CHECK(v <= UINT32_MAX);
    return (uint32_t)v;
}

bool num_parse_u64(struct str s, uint64_t *out)
{
    uint64_t v = 0;
    for (uint32_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c < '0' || c > '9') {
            return false;
        }
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(c - '0'), &v)) {
            return false;
        }
    }
    if (s.len == 0) {
        return false;
    }
    *out = v;
    return true;
}

bool num_parse_i64(struct str s, int64_t *out)
{
    return num_parse_decimal(s, 0, out);
}

// Digits are taken from the value downwards, so that INT64_MIN needs no case of its own.
static bool push_digit(int64_t *v, char c)
{
    int64_t digit = c - '0';
    return !__builtin_mul_overflow(*v, (int64_t)10, v) && !__builtin_sub_overflow(*v, digit, v);
}

bool num_parse_decimal(struct str s, uint32_t scale, int64_t *out)
{
    CHECK(scale <= DECIMAL_SCALE_MAX);
    bool negative = s.len > 0 && s.ptr[0] == '-';
    struct str digits = negative ? str_sub(s, 1, s.len) : s;
    uint32_t point = str_find(digits, '.');
    uint32_t decimals = point == digits.len ? 0 : digits.len - point - 1;
    if (point == 0 || decimals > scale || (point < digits.len && decimals == 0)) {
        return false;
    }
    int64_t v = 0;
    for (uint32_t i = 0; i < digits.len; i++) {
        char c = digits.ptr[i];
        if (i == point) {
            continue;
        }
        if (c < '0' || c > '9' || !push_digit(&v, c)) {
            return false;
        }
    }
    for (uint32_t i = decimals; i < scale; i++) {
        if (!push_digit(&v, '0')) {
            return false;
        }
    }
    if (!negative && v == INT64_MIN) {
        return false;
    }
    *out = negative ? v : -v;
    return true;
}

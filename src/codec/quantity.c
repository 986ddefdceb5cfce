// SPDX-License-Identifier: Apache-2.0
// quantity: value × per_unit = digits × suffix × per_unit / 10^decimals. Every factor of the
// numerator is first reduced against the denominator; the result is whole exactly when that leaves a
// denominator of 1, and then the product of what remains is the result, so no step overflows that
// the result does not.
#include "codec/quantity.h"

#include <stdbool.h>

#include "base/check.h"
#include "base/num.h"

__extension__ typedef unsigned __int128 wide;

enum { DECIMALS_MAX = 18, EXPONENT_MAX = 18 };

struct suffix {
    struct str text;
    int64_t times;
    int64_t over;
};

static const struct suffix suffixes[] = {
    {STRS("Ki"), INT64_C(1) << 10,             1         },
    {STRS("Mi"), INT64_C(1) << 20,             1         },
    {STRS("Gi"), INT64_C(1) << 30,             1         },
    {STRS("Ti"), INT64_C(1) << 40,             1         },
    {STRS("Pi"), INT64_C(1) << 50,             1         },
    {STRS("Ei"), INT64_C(1) << 60,             1         },
    {STRS(""),   1,                            1         },
    {STRS("k"),  INT64_C(1000),                1         },
    {STRS("M"),  INT64_C(1000000),             1         },
    {STRS("G"),  INT64_C(1000000000),          1         },
    {STRS("T"),  INT64_C(1000000000000),       1         },
    {STRS("P"),  INT64_C(1000000000000000),    1         },
    {STRS("E"),  INT64_C(1000000000000000000), 1         },
    {STRS("m"),  1,                            1000      },
    {STRS("u"),  1,                            1000000   },
    {STRS("n"),  1,                            1000000000},
};
enum { BINARY_COUNT = 6, DECIMAL_FIRST = 7, DECIMAL_END = 13 };

struct quantity {
    bool negative;
    uint64_t digits;
    uint32_t decimals;
    int64_t times;
    int64_t over;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int64_t power_of_ten(int64_t exponent)
{
    int64_t power = 1;
    for (int64_t i = 0; i < exponent; i++) {
        power *= 10;
    }
    return power;
}

// Reads what stands behind the number: a suffix or an exponent.
static bool read_suffix(struct str s, struct quantity *q)
{
    for (uint32_t i = 0; i < COUNT_OF(suffixes); i++) {
        if (str_eq(s, suffixes[i].text)) {
            q->times = suffixes[i].times;
            q->over = suffixes[i].over;
            return true;
        }
    }
    int64_t exponent;
    if (s.len < 2 || (s.ptr[0] | 0x20) != 'e') {
        return false;
    }
    struct str digits = str_sub(s, s.ptr[1] == '+' ? 2 : 1, s.len);
    if (!num_parse_i64(digits, &exponent) || exponent < -EXPONENT_MAX || exponent > EXPONENT_MAX) {
        return false;
    }
    q->times = exponent > 0 ? power_of_ten(exponent) : 1;
    q->over = exponent < 0 ? power_of_ten(-exponent) : 1;
    return true;
}

static bool push_digits(struct str digits, uint64_t *value)
{
    for (uint32_t i = 0; i < digits.len; i++) {
        if (__builtin_mul_overflow(*value, (uint64_t)10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(digits.ptr[i] - '0'), value)) {
            return false;
        }
    }
    return true;
}

static struct str take_digits(struct str s)
{
    uint32_t len = 0;
    while (len < s.len && is_digit(s.ptr[len])) {
        len++;
    }
    return str_sub(s, 0, len);
}

static bool read_quantity(struct str s, struct quantity *q)
{
    bool is_signed = s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+');
    q->negative = is_signed && s.ptr[0] == '-';
    s = str_sub(s, is_signed, s.len);
    struct str whole = take_digits(s);
    s = str_sub(s, whole.len, s.len);
    struct str fraction = {0};
    if (s.len > 0 && s.ptr[0] == '.') {
        fraction = take_digits(str_sub(s, 1, s.len));
        s = str_sub(s, 1 + fraction.len, s.len);
    }
    if (whole.len + fraction.len == 0) {
        return false;
    }
    while (fraction.len > 0 && fraction.ptr[fraction.len - 1] == '0') {
        fraction.len--;
    }
    q->decimals = fraction.len;
    return fraction.len <= DECIMALS_MAX && push_digits(whole, &q->digits) &&
           push_digits(fraction, &q->digits) && read_suffix(s, q);
}

static wide greatest_common_divisor(wide a, wide b)
{
    while (b != 0) {
        wide rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

// Reduces the fraction factor/over.
static uint64_t reduce(uint64_t factor, wide *over)
{
    wide common = greatest_common_divisor(factor, *over);
    *over /= common;
    return (uint64_t)(factor / common);
}

enum outcome { EXACT, NOT_WHOLE, TOO_LARGE };

static enum outcome scale_exactly(const struct quantity *q, int64_t per_unit, int64_t *out)
{
    if (q->digits == 0) {
        *out = 0;
        return EXACT;
    }
    wide over = (wide)power_of_ten(q->decimals) * (wide)q->over;
    uint64_t digits = reduce(q->digits, &over);
    uint64_t times = reduce((uint64_t)q->times, &over);
    uint64_t per = reduce((uint64_t)per_unit, &over);
    if (over != 1) {
        return NOT_WHOLE;
    }
    uint64_t product;
    uint64_t limit = (uint64_t)INT64_MAX + q->negative;
    if (__builtin_mul_overflow(digits, times, &product) ||
        __builtin_mul_overflow(product, per, &product) || product > limit) {
        return TOO_LARGE;
    }
    if (q->negative) {
        *out = -(int64_t)(product - 1) - 1;
    } else {
        *out = (int64_t)product;
    }
    return EXACT;
}

// The finest step of a quantity whose unit is per_unit, in words.
static enum status fail_not_whole(struct str text, int64_t per_unit, struct err *err)
{
    if (per_unit == 1) {
        return err_set(err, STATUS_INVALID, "expected a whole number, got \"" STR_FMT "\"",
                       STR_ARG(text));
    }
    return err_set(err, STATUS_INVALID, "expected a multiple of 1/%lld, got \"" STR_FMT "\"",
                   (long long)per_unit, STR_ARG(text));
}

static enum status parse(struct str text, struct str number, int64_t per_unit, int64_t *out,
                         struct err *err)
{
    struct str shown = str_clip(text, 60);
    struct quantity q = {0};
    if (!read_quantity(number, &q)) {
        return err_set(err, STATUS_INVALID,
                       "expected a quantity such as 2, 0.5, 500m, 1.5G or 16Gi, got \"" STR_FMT
                       "\"",
                       STR_ARG(shown));
    }
    switch (scale_exactly(&q, per_unit, out)) {
    case EXACT:
        return STATUS_OK;
    case NOT_WHOLE:
        return fail_not_whole(shown, per_unit, err);
    case TOO_LARGE:
        break;
    }
    return err_set(err, STATUS_INVALID, "\"" STR_FMT "\" is too large", STR_ARG(shown));
}

enum status quantity_parse(struct str text, int64_t per_unit, int64_t *out, struct err *err)
{
    CHECK(per_unit > 0);
    return parse(text, text, per_unit, out, err);
}

enum status quantity_parse_bytes(struct str text, int64_t *out, struct err *err)
{
    struct str number = str_ends(text, STR("B")) ? str_sub(text, 0, text.len - 1) : text;
    return parse(text, number, 1, out, err);
}

// v in the largest of the suffixes [first, end) that divides it; all of v when none does.
static struct str with_suffix(int64_t v, uint32_t first, uint32_t end, char out[QUANTITY_TEXT_SIZE])
{
    uint32_t best = end;
    for (uint32_t i = first; i < end && v != 0 && v % suffixes[i].times == 0; i++) {
        best = i;
    }
    if (best == end) {
        return str_format(out, QUANTITY_TEXT_SIZE, "%lld", (long long)v);
    }
    return str_format(out, QUANTITY_TEXT_SIZE, "%lld" STR_FMT,
                      (long long)(v / suffixes[best].times), STR_ARG(suffixes[best].text));
}

struct str quantity_format_bytes(int64_t bytes, char out[QUANTITY_TEXT_SIZE])
{
    char decimal[QUANTITY_TEXT_SIZE];
    struct str with_decimal = with_suffix(bytes, DECIMAL_FIRST, DECIMAL_END, decimal);
    struct str with_binary = with_suffix(bytes, 0, BINARY_COUNT, out);
    if (with_decimal.len < with_binary.len) {
        return str_format(out, QUANTITY_TEXT_SIZE, STR_FMT, STR_ARG(with_decimal));
    }
    return with_binary;
}

struct str quantity_format_milli(int64_t milli, char out[QUANTITY_TEXT_SIZE])
{
    if (milli % 1000 == 0) {
        return str_format(out, QUANTITY_TEXT_SIZE, "%lld", (long long)(milli / 1000));
    }
    return str_format(out, QUANTITY_TEXT_SIZE, "%lldm", (long long)milli);
}

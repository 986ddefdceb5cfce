// SPDX-License-Identifier: Apache-2.0
// duration: summed in nanoseconds in 128 bits, so that 1.5us + 500ns is seen to be whole or not at
// the end.
#include "codec/duration.h"

#include <stdbool.h>

#include "base/check.h"
#include "base/num.h"

__extension__ typedef __int128 wide;

enum { DECIMALS_MAX = 18, NS_PER_MS = 1000000 };

static const struct {
    struct str text;
    int64_t ns;
} units[] = {
    {STRS("h"),         INT64_C(3600000000000)},
    {STRS("ms"),        INT64_C(1000000)      }, // before m
    {STRS("m"),         INT64_C(60000000000)  },
    {STRS("s"),         INT64_C(1000000000)   },
    {STRS("us"),        INT64_C(1000)         },
    {STRS("\xc2\xb5s"), INT64_C(1000)         }, // the micro sign
    {STRS("\xce\xbcs"), INT64_C(1000)         }, // the Greek letter
    {STRS("ns"),        INT64_C(1)            },
};

static uint32_t digits_len(struct str s)
{
    uint32_t len = 0;
    while (len < s.len && s.ptr[len] >= '0' && s.ptr[len] <= '9') {
        len++;
    }
    return len;
}

// Takes one number with its unit off the front and adds it to *ns. What is finer than a nanosecond
// makes it fail, like anything malformed.
static bool take_part(struct str *s, wide *ns)
{
    uint32_t whole_len = digits_len(*s);
    uint32_t len = whole_len;
    if (len < s->len && s->ptr[len] == '.') {
        len += 1 + digits_len(str_sub(*s, len + 1, s->len));
    }
    uint32_t decimals = len > whole_len ? len - whole_len - 1 : 0;
    if (whole_len == 0 || (len > whole_len && decimals == 0) || decimals > DECIMALS_MAX) {
        return false;
    }
    int64_t value;
    if (!num_parse_decimal(str_sub(*s, 0, len), decimals, &value)) {
        return false;
    }
    *s = str_sub(*s, len, s->len);
    wide over = 1;
    for (uint32_t i = 0; i < decimals; i++) {
        over *= 10;
    }
    for (uint32_t i = 0; i < COUNT_OF(units); i++) {
        if (str_starts(*s, units[i].text)) {
            wide product = (wide)value * units[i].ns;
            if (product % over != 0) {
                return false;
            }
            *s = str_sub(*s, units[i].text.len, s->len);
            *ns += product / over;
            return *ns / NS_PER_MS <= INT64_MAX;
        }
    }
    return false;
}

enum status duration_parse(struct str text, int64_t *ms, struct err *err)
{
    struct str s = text;
    bool negative = s.len > 0 && s.ptr[0] == '-';
    if (negative || (s.len > 0 && s.ptr[0] == '+')) {
        s = str_sub(s, 1, s.len);
    }
    wide ns = 0;
    bool ok = s.len > 0;
    if (str_eq(s, STR("0"))) {
        s = str_sub(s, 1, s.len);
    }
    while (ok && s.len > 0) {
        ok = take_part(&s, &ns);
    }
    if (!ok) {
        return err_set(err, STATUS_INVALID,
                       "expected a duration such as 1h30m, 45s or 500ms, got \"" STR_FMT "\"",
                       STR_ARG(str_clip(text, 60)));
    }
    if (ns % NS_PER_MS != 0) {
        return err_set(err, STATUS_INVALID,
                       "expected whole milliseconds (such as 1h30m, 45s or 500ms), got \"" STR_FMT
                       "\"",
                       STR_ARG(str_clip(text, 60)));
    }
    *ms = (int64_t)(negative ? -(ns / NS_PER_MS) : ns / NS_PER_MS);
    return STATUS_OK;
}

struct str duration_format(int64_t ms, char out[DURATION_TEXT_SIZE])
{
    uint64_t left = ms < 0 ? ~(uint64_t)ms + 1 : (uint64_t)ms;
    if (left < 1000 && left > 0) {
        return str_format(out, DURATION_TEXT_SIZE, "%lldms", (long long)ms);
    }
    char hours[24] = "";
    char minutes[8] = "";
    char seconds[16] = "";
    if (left >= 3600000) {
        str_format(hours, sizeof(hours), "%lluh", (unsigned long long)(left / 3600000));
    }
    if (left / 60000 % 60 > 0) {
        str_format(minutes, sizeof(minutes), "%um", (unsigned)(left / 60000 % 60));
    }
    unsigned whole = (unsigned)(left / 1000 % 60);
    unsigned fraction = (unsigned)(left % 1000);
    int fraction_digits = 3;
    while (fraction != 0 && fraction % 10 == 0) {
        fraction /= 10;
        fraction_digits--;
    }
    if (fraction != 0) {
        str_format(seconds, sizeof(seconds), "%u.%0*us", whole, fraction_digits, fraction);
    } else if (whole > 0 || left == 0) {
        str_format(seconds, sizeof(seconds), "%us", whole);
    }
    return str_format(out, DURATION_TEXT_SIZE, "%s%s%s%s", ms < 0 ? "-" : "", hours, minutes,
                      seconds);
}

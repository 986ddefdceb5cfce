// SPDX-License-Identifier: Apache-2.0
// rfc3339: the calendar is counted from March, so that the leap day ends the year, in eras of 400
// years, which all have the same length (the method of Howard Hinnant's "chrono-compatible
// low-level date algorithms").
#include "base/rfc3339.h"

#include <stdbool.h>

#include "base/check.h"
#include "base/num.h"

enum { DAYS_PER_ERA = 146097, DAYS_TO_1970 = 719468 /* from 1 March of year 0 */ };
static const int64_t MS_PER_DAY = 86400000;
static const int64_t MS_FIRST = -62135596800000; /* 0001-01-01 */
static const int64_t MS_LAST = 253402300799999;  /* 9999-12-31T23:59:59.999 */

static int64_t days_from_date(int64_t year, int64_t month, int64_t day)
{
    int64_t y = month <= 2 ? year - 1 : year;
    int64_t era = num_div_floor(y, 400);
    int64_t year_of_era = y - era * 400;
    int64_t month_from_march = (month + 9) % 12;
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * DAYS_PER_ERA + day_of_era - DAYS_TO_1970;
}

int64_t rfc3339_month_length(int64_t year, int64_t month)
{
    if (month == 2) {
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        return leap ? 29 : 28;
    }
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Takes count digits off the front of s; -1 when they are not there.
static int64_t take_number(struct str *s, uint32_t count)
{
    uint64_t value;
    if (s->len < count || !num_parse_u64(str_sub(*s, 0, count), &value)) {
        return -1;
    }
    *s = str_sub(*s, count, s->len);
    return (int64_t)value;
}

static bool take_char(struct str *s, char c)
{
    if (s->len == 0 || s->ptr[0] != c) {
        return false;
    }
    *s = str_sub(*s, 1, s->len);
    return true;
}

static bool take_date(struct str *s, int64_t *days)
{
    int64_t year = take_number(s, 4);
    bool dash = take_char(s, '-');
    int64_t month = take_number(s, 2);
    dash = take_char(s, '-') && dash;
    int64_t day = take_number(s, 2);
    if (!dash || year < 1 || month < 1 || month > 12 || day < 1 ||
        day > rfc3339_month_length(year, month)) {
        return false;
    }
    *days = days_from_date(year, month, day);
    return true;
}

// Takes a dot and at least one digit; the first three count.
static bool take_fraction(struct str *s, int64_t *ms)
{
    if (!take_char(s, '.')) {
        return true;
    }
    int64_t unit = 100;
    uint32_t digit_count = 0;
    for (int64_t digit; (digit = take_number(s, 1)) >= 0; digit_count++) {
        *ms += digit * unit;
        unit /= 10;
    }
    return digit_count > 0;
}

static bool take_time(struct str *s, int64_t *ms)
{
    int64_t hour = take_number(s, 2);
    bool colon = take_char(s, ':');
    int64_t minute = take_number(s, 2);
    colon = take_char(s, ':') && colon;
    int64_t second = take_number(s, 2);
    if (!colon || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) {
        return false;
    }
    *ms = ((hour * 60 + minute) * 60 + second) * 1000;
    return take_fraction(s, ms);
}

static bool take_offset(struct str *s, int64_t *ms)
{
    if (take_char(s, 'Z') || take_char(s, 'z')) {
        *ms = 0;
        return true;
    }
    bool east = take_char(s, '+');
    if (!east && !take_char(s, '-')) {
        return false;
    }
    int64_t hours = take_number(s, 2);
    bool colon = take_char(s, ':');
    int64_t minutes = take_number(s, 2);
    if (!colon || hours < 0 || hours > 23 || minutes < 0 || minutes > 59) {
        return false;
    }
    *ms = (hours * 60 + minutes) * 60000 * (east ? 1 : -1);
    return true;
}

enum status rfc3339_parse(struct str text, int64_t *ms, struct err *err)
{
    struct str s = text;
    int64_t days;
    int64_t time_ms;
    int64_t offset_ms;
    bool ok = take_date(&s, &days);
    ok = ok && (take_char(&s, 'T') || take_char(&s, 't'));
    ok = ok && take_time(&s, &time_ms) && take_offset(&s, &offset_ms) && s.len == 0;
    if (!ok) {
        return err_set(err, STATUS_INVALID,
                       "expected a time such as 2026-11-30T23:04:51Z, got \"" STR_FMT "\"",
                       STR_ARG(str_clip(text, 60)));
    }
    *ms = days * MS_PER_DAY + time_ms - offset_ms;
    return STATUS_OK;
}

struct civil rfc3339_civil(int64_t ms)
{
    enum { THURSDAY = 4 }; // 1970-01-01 was one
    int64_t days = num_div_floor(ms, MS_PER_DAY);
    int64_t z = days + DAYS_TO_1970;
    int64_t era = num_div_floor(z, DAYS_PER_ERA);
    int64_t day_of_era = z - era * DAYS_PER_ERA;
    // Each 4th, 100th and 400th year is longer or shorter by a day; take those out, then divide.
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    int64_t month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    return (struct civil){
        .year = year_of_era + era * 400 + (month <= 2),
        .month = month,
        .day = day_of_year - (153 * month_from_march + 2) / 5 + 1,
        .weekday = days + THURSDAY - num_div_floor(days + THURSDAY, 7) * 7,
        .ms_of_day = ms - days * MS_PER_DAY,
    };
}

struct str rfc3339_format(int64_t ms, char out[RFC3339_TEXT_SIZE])
{
    CHECK(ms >= MS_FIRST);
    CHECK(ms <= MS_LAST);
    struct civil c = rfc3339_civil(ms);
    int64_t second = c.ms_of_day / 1000;
    return str_format(out, RFC3339_TEXT_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", (int)c.year,
                      (int)c.month, (int)c.day, (int)(second / 3600), (int)(second / 60 % 60),
                      (int)(second % 60), (int)(c.ms_of_day % 1000));
}

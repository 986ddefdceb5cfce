// SPDX-License-Identifier: Apache-2.0
// cron: each field is a set of small numbers, one bit each. Looking back goes day by day: a day
// either has a moment or has none, and within the day the latest is found from the sets.
#include "model/cron.h"

#include "base/num.h"
#include "base/rfc3339.h"

enum { MINUTE_MS = 60 * 1000, HOUR_MS = 60 * MINUTE_MS, DAY_MS = 24 * HOUR_MS };

struct range {
    int64_t first, last;
    const struct str *names; /* of first, first + 1, …; NULL: numbers only */
    uint32_t names_count;
};

static const struct str month_names[] = {STRS("jan"), STRS("feb"), STRS("mar"), STRS("apr"),
                                         STRS("may"), STRS("jun"), STRS("jul"), STRS("aug"),
                                         STRS("sep"), STRS("oct"), STRS("nov"), STRS("dec")};
static const struct str day_names[] = {STRS("sun"), STRS("mon"), STRS("tue"), STRS("wed"),
                                       STRS("thu"), STRS("fri"), STRS("sat")};

/* ---- reading ---- */

static bool value_parse(struct str text, const struct range *r, int64_t *out)
{
    for (uint32_t i = 0; i < r->names_count; i++) {
        if (str_eq(text, r->names[i])) {
            *out = r->first + i;
            return true;
        }
    }
    return num_parse_i64(text, out) && *out >= r->first && *out <= r->last;
}

// One item of a list: *, 5, 1-5, each with /step or without.
static bool item_parse(struct str text, const struct range *r, uint64_t *set)
{
    uint32_t slash = str_find(text, '/');
    struct str body = str_sub(text, 0, slash);
    uint32_t dash = str_find(body, '-');
    int64_t first = r->first;
    int64_t last = r->last;
    int64_t step = 1;
    if (slash < text.len &&
        (!num_parse_i64(str_sub(text, slash + 1, text.len), &step) || step < 1 || step > r->last)) {
        return false;
    }
    if (!str_eq(body, STR("*"))) {
        if (!value_parse(str_sub(body, 0, dash), r, &first)) {
            return false;
        }
        last = slash < text.len ? r->last : first; // 5/15 is 5-59/15
        if (dash < body.len && !value_parse(str_sub(body, dash + 1, body.len), r, &last)) {
            return false;
        }
    }
    for (int64_t v = first; v <= last; v += step) {
        *set |= UINT64_C(1) << v;
    }
    return first <= last;
}

static bool field_parse(struct str text, const struct range *r, uint64_t *set)
{
    struct str item;
    *set = 0;
    while (str_split(&text, ',', &item)) {
        if (!item_parse(item, r, set)) {
            return false;
        }
    }
    return *set != 0;
}

// Takes the next word off the front of *rest; false when there is none.
static bool take_word(struct str *rest, struct str *word)
{
    *rest = str_trim(*rest);
    uint32_t end = 0;
    while (end < rest->len && rest->ptr[end] != ' ' && rest->ptr[end] != '\t') {
        end++;
    }
    *word = str_sub(*rest, 0, end);
    *rest = str_sub(*rest, end, rest->len);
    return word->len > 0;
}

// Whether any of the months has any of the days, in a leap year.
static bool has_day(const struct cron *c)
{
    for (int64_t month = 1; month <= 12; month++) {
        int64_t length = rfc3339_month_length(2000, month);
        uint64_t days = (UINT64_C(1) << (length + 1)) - 1;
        if ((c->months >> month & 1) && (c->days & days)) {
            return true;
        }
    }
    return false;
}

bool cron_parse(struct str text, struct cron *out)
{
    static const struct range ranges[] = {
        {0, 59, NULL,        0 },
        {0, 23, NULL,        0 },
        {1, 31, NULL,        0 },
        {1, 12, month_names, 12},
        {0, 7,  day_names,   7 },
    };
    *out = (struct cron){0};
    uint64_t *sets[] = {&out->minutes, &out->hours, &out->days, &out->months, &out->weekdays};
    struct str words[COUNT_OF(ranges)];
    for (uint32_t i = 0; i < COUNT_OF(ranges); i++) {
        if (!take_word(&text, &words[i]) || !field_parse(words[i], &ranges[i], sets[i])) {
            return false;
        }
    }
    out->weekdays |= out->weekdays >> 7; // 7 is Sunday too
    out->any_day = str_eq(words[2], STR("*"));
    out->any_weekday = str_eq(words[4], STR("*"));
    return str_trim(text).len == 0 && (!out->any_weekday || has_day(out));
}

/* ---- looking back ---- */

static bool has(uint64_t set, int64_t value)
{
    return (set >> value & 1) != 0;
}

static bool on_day(const struct cron *c, const struct civil *day)
{
    bool by_day = has(c->days, day->day);
    bool by_weekday = has(c->weekdays, day->weekday);
    bool either = c->any_day ? by_weekday : c->any_weekday ? by_day : by_day || by_weekday;
    return has(c->months, day->month) && either;
}

// The last moment of a day that has some, at or before ms_of_day; -1: none.
static int64_t last_of_day(const struct cron *c, int64_t ms_of_day)
{
    for (int64_t hour = ms_of_day / HOUR_MS; hour >= 0; hour--) {
        int64_t minute = hour == ms_of_day / HOUR_MS ? ms_of_day % HOUR_MS / MINUTE_MS : 59;
        for (; has(c->hours, hour) && minute >= 0; minute--) {
            if (has(c->minutes, minute)) {
                return hour * HOUR_MS + minute * MINUTE_MS;
            }
        }
    }
    return -1;
}

int64_t cron_previous(const struct cron *c, int64_t at_ms, int64_t floor_ms)
{
    while (at_ms > floor_ms) {
        struct civil day = rfc3339_civil(at_ms);
        int64_t begin_ms = at_ms - day.ms_of_day;
        int64_t found_ms = on_day(c, &day) ? last_of_day(c, day.ms_of_day) : -1;
        if (found_ms >= 0) {
            return num_max_i64(begin_ms + found_ms, floor_ms);
        }
        at_ms = begin_ms - 1;
    }
    return floor_ms;
}

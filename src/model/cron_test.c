// SPDX-License-Identifier: Apache-2.0
#include "model/cron.h"

#include "base/prng.h"
#include "base/rfc3339.h"
#include "base/test.h"

enum { MINUTE = 60 * 1000 };

static int64_t at(struct str text)
{
    int64_t ms = 0;
    struct err err;
    REQUIRE(rfc3339_parse(text, &ms, &err) == STATUS_OK);
    return ms;
}

TEST(previous_moments)
{
    static const struct {
        const char *name;
        struct str cron, now, want;
    } rows[] = {
        {"midnight",              STRS("0 0 * * *"),               STRS("2026-03-01T12:00:00Z"),     STRS("2026-03-01T00:00:00Z")},
        {"now itself",            STRS("0 12 * * *"),              STRS("2026-03-01T12:00:00Z"),
         STRS("2026-03-01T12:00:00Z")                                                                                            },
        {"a millisecond before",  STRS("0 12 * * *"),              STRS("2026-03-01T11:59:59.999Z"),
         STRS("2026-02-28T12:00:00Z")                                                                                            },
        {"mondays",               STRS("30 6 * * mon"),            STRS("2026-03-01T12:00:00Z"),
         STRS("2026-02-23T06:30:00Z")                                                                                            },
        {"Sunday is 0",           STRS("0 0 * * 0"),               STRS("2026-03-03T12:00:00Z"),
         STRS("2026-03-01T00:00:00Z")                                                                                            },
        {"and 7",                 STRS("0 0 * * 7"),               STRS("2026-03-03T12:00:00Z"),     STRS("2026-03-01T00:00:00Z")},
        {"first of the month",    STRS("0 0 1 * *"),               STRS("2026-02-28T12:00:00Z"),
         STRS("2026-02-01T00:00:00Z")                                                                                            },
        {"quarters",              STRS("0 0 1 jan,apr,jul,oct *"), STRS("2026-03-20T00:00:00Z"),
         STRS("2026-01-01T00:00:00Z")                                                                                            },
        {"every six hours",       STRS("0 */6 * * *"),             STRS("2026-03-01T17:59:00Z"),
         STRS("2026-03-01T12:00:00Z")                                                                                            },
        {"from five on",          STRS("5/20 * * * *"),            STRS("2026-03-01T17:44:59Z"),
         STRS("2026-03-01T17:25:00Z")                                                                                            },
        {"working hours",         STRS("0 8-18/2 * * 1-5"),        STRS("2026-03-01T23:00:00Z"),
         STRS("2026-02-27T18:00:00Z")                                                                                            },
        {"leap day",              STRS("0 0 29 2 *"),              STRS("2024-03-05T00:00:00Z"),
         STRS("2024-02-29T00:00:00Z")                                                                                            },
        {"either of the days",    STRS("0 0 13 * fri"),            STRS("2026-03-14T00:00:00Z"),
         STRS("2026-03-13T00:00:00Z")                                                                                            },
        {"either, by the week",   STRS("0 0 13 * fri"),            STRS("2026-03-12T00:00:00Z"),
         STRS("2026-03-06T00:00:00Z")                                                                                            },
        {"more than 92 days ago", STRS("0 0 1 1 *"),               STRS("2026-12-31T00:00:00Z"),
         STRS("2026-09-30T00:00:00Z")                                                                                            },
        {"odd spaces",            STRS("  0\t0  1 * *  "),         STRS("2026-02-28T12:00:00Z"),
         STRS("2026-02-01T00:00:00Z")                                                                                            },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cron c;
        test_row(rows[i].name);
        REQUIRE(cron_parse(rows[i].cron, &c));
        int64_t now = at(rows[i].now);
        int64_t floor_ms = now - INT64_C(92) * 24 * 60 * MINUTE;
        EXPECT_I64(cron_previous(&c, now, floor_ms), at(rows[i].want));
    }
    test_row(NULL);
}

TEST(what_is_no_cron)
{
    static const struct str rows[] = {
        STRS(""),           STRS("0 0 * *"),      STRS("0 0 * * * *"), STRS("60 0 * * *"),
        STRS("0 24 * * *"), STRS("0 0 0 * *"),    STRS("0 0 32 * *"),  STRS("0 0 * 13 *"),
        STRS("0 0 * * 8"),  STRS("5-1 0 * * *"),  STRS("*/0 * * * *"), STRS(", * * * *"),
        STRS("- * * * *"),  STRS("1- * * * *"),   STRS("-1 * * * *"),  STRS("x * * * *"),
        STRS("@daily"),     STRS("0 0 30 feb *"), STRS("0 0 * 0 *"),   STRS("1,,2 * * * *"),
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct cron c;
        test_row(rows[i].ptr);
        EXPECT(!cron_parse(rows[i], &c));
    }
    test_row(NULL);
}

/* Minute by minute backwards, with a look at each field. */
static int64_t slow_previous(const struct cron *c, int64_t now, int64_t floor_ms)
{
    for (int64_t ms = now - now % MINUTE; ms > floor_ms; ms -= MINUTE) {
        struct civil d = rfc3339_civil(ms);
        bool day = c->days >> d.day & 1;
        bool weekday = c->weekdays >> d.weekday & 1;
        bool ok = c->any_day && c->any_weekday ? true
                  : c->any_day                 ? weekday
                  : c->any_weekday             ? day
                                               : day || weekday;
        if (ok && (c->months >> d.month & 1) && (c->hours >> (d.ms_of_day / MINUTE / 60) & 1) &&
            (c->minutes >> (d.ms_of_day / MINUTE % 60) & 1)) {
            return ms;
        }
    }
    return floor_ms;
}

TEST(agrees_with_going_back_minute_by_minute)
{
    static const struct str texts[] = {STRS("17 3 * * *"),   STRS("*/7 5,17 * * *"),
                                       STRS("0 0 1,15 * 2"), STRS("59 23 31 * *"),
                                       STRS("0 12 * 2 sat"), STRS("1-50/13 */5 */2 * *")};
    struct prng r;
    prng_init(&r, test_seed());
    for (int i = 0; i < 60; i++) {
        struct cron c;
        REQUIRE(cron_parse(texts[i % (int)COUNT_OF(texts)], &c));
        int64_t now = prng_range(&r, 0, INT64_C(4000000000000));
        int64_t floor_ms = now - prng_range(&r, 0, INT64_C(40) * 24 * 60 * MINUTE);
        EXPECT_I64(cron_previous(&c, now, floor_ms), slow_previous(&c, now, floor_ms));
    }
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
#include "base/rfc3339.h"

#include <time.h>

#include "base/prng.h"
#include "base/test.h"

static const struct {
    const char *name;
    struct str text;
    enum status want;
    int64_t ms;
} rows[] = {
    {"the epoch",                   STRS("1970-01-01T00:00:00Z"),        STATUS_OK,      0                       },
    {"with milliseconds",           STRS("2026-11-30T23:04:51.123Z"),    STATUS_OK,      INT64_C(1796079891123)  },
    {"microseconds are cut",        STRS("2026-11-30T23:04:51.123999Z"), STATUS_OK,
     INT64_C(1796079891123)                                                                                      },
    {"one digit",                   STRS("1970-01-01T00:00:00.5Z"),      STATUS_OK,      500                     },
    {"small letters",               STRS("1970-01-01t00:00:01z"),        STATUS_OK,      1000                    },
    {"east",                        STRS("1970-01-01T02:00:00+02:00"),   STATUS_OK,      0                       },
    {"west",                        STRS("1969-12-31T18:30:00-05:30"),   STATUS_OK,      0                       },
    {"before the epoch",            STRS("1969-12-31T23:59:59.999Z"),    STATUS_OK,      -1                      },
    {"the leap day of 2000",        STRS("2000-02-29T00:00:00Z"),        STATUS_OK,      INT64_C(951782400000)   },
    {"the first",                   STRS("0001-01-01T00:00:00Z"),        STATUS_OK,      INT64_C(-62135596800000)},
    {"the last",                    STRS("9999-12-31T23:59:59.999Z"),    STATUS_OK,      INT64_C(253402300799999)},
    {"no leap day in 1900",         STRS("1900-02-29T00:00:00Z"),        STATUS_INVALID, 77                      },
    {"no leap day in 2026",         STRS("2026-02-29T00:00:00Z"),        STATUS_INVALID, 77                      },
    {"month 13",                    STRS("2026-13-01T00:00:00Z"),        STATUS_INVALID, 77                      },
    {"month 0",                     STRS("2026-00-01T00:00:00Z"),        STATUS_INVALID, 77                      },
    {"31 April",                    STRS("2026-04-31T00:00:00Z"),        STATUS_INVALID, 77                      },
    {"day 0",                       STRS("2026-04-00T00:00:00Z"),        STATUS_INVALID, 77                      },
    {"year 0",                      STRS("0000-01-01T00:00:00Z"),        STATUS_INVALID, 77                      },
    {"hour 24",                     STRS("2026-01-01T24:00:00Z"),        STATUS_INVALID, 77                      },
    {"minute 60",                   STRS("2026-01-01T00:60:00Z"),        STATUS_INVALID, 77                      },
    {"a leap second",               STRS("2016-12-31T23:59:60Z"),        STATUS_INVALID, 77                      },
    {"no zone",                     STRS("2026-01-01T00:00:00"),         STATUS_INVALID, 77                      },
    {"a zone without its colon",    STRS("2026-01-01T00:00:00+0200"),    STATUS_INVALID, 77                      },
    {"hours of the zone too large", STRS("2026-01-01T00:00:00+24:00"),   STATUS_INVALID, 77                      },
    {"a dot without digits",        STRS("2026-01-01T00:00:00.Z"),       STATUS_INVALID, 77                      },
    {"a space for the T",           STRS("2026-01-01 00:00:00Z"),        STATUS_INVALID, 77                      },
    {"only a date",                 STRS("2026-01-01"),                  STATUS_INVALID, 77                      },
    {"more behind",                 STRS("2026-01-01T00:00:00Z "),       STATUS_INVALID, 77                      },
    {"a sign in a number",          STRS("2026-+1-01T00:00:00Z"),        STATUS_INVALID, 77                      },
    {"short digits",                STRS("2026-1-1T0:0:0Z"),             STATUS_INVALID, 77                      },
    {"empty",                       STRS(""),                            STATUS_INVALID, 77                      },
};

TEST(parsing)
{
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        int64_t ms = 77;
        EXPECT_STATUS(rfc3339_parse(rows[i].text, &ms, NULL), rows[i].want);
        EXPECT_I64(ms, rows[i].ms);
    }
    struct err e;
    int64_t ms;
    EXPECT_STATUS(rfc3339_parse(STR("noon"), &ms, &e), STATUS_INVALID);
    EXPECT_STR(str_from_c(e.text),
               STR("expected a time such as 2026-11-30T23:04:51Z, got \"noon\""));
}

TEST(formatting)
{
    char text[RFC3339_TEXT_SIZE];
    EXPECT_STR(rfc3339_format(INT64_C(1796079891123), text), STR("2026-11-30T23:04:51.123Z"));
    EXPECT_STR(rfc3339_format(-1, text), STR("1969-12-31T23:59:59.999Z"));
    EXPECT_STR(rfc3339_format(INT64_C(-62135596800000), text), STR("0001-01-01T00:00:00.000Z"));
    EXPECT_STR(rfc3339_format(INT64_C(253402300799999), text), STR("9999-12-31T23:59:59.999Z"));
}

TEST(agrees_with_libc_and_reads_back)
{
    struct prng p;
    prng_init(&p, test_seed());
    char text[RFC3339_TEXT_SIZE];
    for (uint32_t i = 0; i < 20000; i++) {
        int64_t ms = prng_range(&p, INT64_C(-62135596800000), INT64_C(253402300799999));
        struct str formatted = rfc3339_format(ms, text);
        test_row(text);
        int64_t got = 77;
        EXPECT_STATUS(rfc3339_parse(formatted, &got, NULL), STATUS_OK);
        EXPECT_I64(got, ms);
        int64_t second = ms / 1000 - (ms % 1000 < 0);
        time_t t = (time_t)second;
        struct tm tm;
        char libc_text[64];
        size_t len = strftime(libc_text, sizeof(libc_text), "-%m-%dT%H:%M:%S.", gmtime_r(&t, &tm));
        EXPECT_STR(str_sub(formatted, 4, 16), ((struct str){libc_text, (uint32_t)len}));
    }
}

TEST_MAIN()

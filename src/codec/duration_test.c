// SPDX-License-Identifier: Apache-2.0
#include "codec/duration.h"

#include "base/prng.h"
#include "base/test.h"

static const struct {
    const char *name;
    struct str text;
    enum status want;
    int64_t ms;
} rows[] = {
    {"hours and minutes",        STRS("1h30m"),                    STATUS_OK,      5400000  },
    {"as Go prints it",          STRS("1h30m0s"),                  STATUS_OK,      5400000  },
    {"seconds",                  STRS("30s"),                      STATUS_OK,      30000    },
    {"milliseconds",             STRS("500ms"),                    STATUS_OK,      500      },
    {"a fraction",               STRS("1.5h"),                     STATUS_OK,      5400000  },
    {"any order, repeated",      STRS("1s1h1s"),                   STATUS_OK,      3602000  },
    {"negative",                 STRS("-10m"),                     STATUS_OK,      -600000  },
    {"a plus",                   STRS("+1s"),                      STATUS_OK,      1000     },
    {"a bare zero",              STRS("0"),                        STATUS_OK,      0        },
    {"minus zero",               STRS("-0"),                       STATUS_OK,      0        },
    {"zero with a unit",         STRS("0s"),                       STATUS_OK,      0        },
    {"whole in microseconds",    STRS("2000us"),                   STATUS_OK,      2        },
    {"the micro sign",           STRS("2000\xc2\xb5s"),            STATUS_OK,      2        },
    {"whole only as a sum",      STRS("500us500000ns"),            STATUS_OK,      1        },
    {"the largest",              STRS("9223372036854775807ms"),    STATUS_OK,      INT64_MAX},
    {"finer than a millisecond", STRS("1us"),                      STATUS_INVALID, 77       },
    {"finer than a nanosecond",  STRS("0.1ns"),                    STATUS_INVALID, 77       },
    {"beyond 64 bits",           STRS("9223372036854775807s"),     STATUS_INVALID, 77       },
    {"beyond 64 bits as a sum",  STRS("9223372036854775807ms1ms"), STATUS_INVALID, 77       },
    {"no unit",                  STRS("10"),                       STATUS_INVALID, 77       },
    {"an unknown unit",          STRS("3d"),                       STATUS_INVALID, 77       },
    {"only a unit",              STRS("h"),                        STATUS_INVALID, 77       },
    {"only a sign",              STRS("-"),                        STATUS_INVALID, 77       },
    {"empty",                    STRS(""),                         STATUS_INVALID, 77       },
    {"a space",                  STRS("1h 30m"),                   STATUS_INVALID, 77       },
    {"a sign inside",            STRS("1h-30m"),                   STATUS_INVALID, 77       },
    {"a point without digits",   STRS("1.h"),                      STATUS_INVALID, 77       },
    {"a word",                   STRS("forever"),                  STATUS_INVALID, 77       },
};

TEST(parsing)
{
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        int64_t ms = 77;
        EXPECT_STATUS(duration_parse(rows[i].text, &ms, NULL), rows[i].want);
        EXPECT_I64(ms, rows[i].ms);
    }
    struct err e;
    int64_t ms;
    EXPECT_STATUS(duration_parse(STR("3d"), &ms, &e), STATUS_INVALID);
    EXPECT_STR(str_from_c(e.text),
               STR("expected a duration such as 1h30m, 45s or 500ms, got \"3d\""));
}

static const struct {
    const char *name;
    int64_t ms;
    struct str want;
} format_rows[] = {
    {"zero",                     0,         STRS("0s")                       },
    {"under a second",           20,        STRS("20ms")                     },
    {"minus under a second",     -20,       STRS("-20ms")                    },
    {"a fraction of a second",   1500,      STRS("1.5s")                     },
    {"milliseconds of a minute", 60001,     STRS("1m0.001s")                 },
    {"hours and minutes",        5400000,   STRS("1h30m")                    },
    {"hours",                    7200000,   STRS("2h")                       },
    {"hours and seconds",        3601000,   STRS("1h1s")                     },
    {"the least",                INT64_MIN, STRS("-2562047788015h12m55.808s")},
};

TEST(formatting)
{
    char text[DURATION_TEXT_SIZE];
    for (uint32_t i = 0; i < COUNT_OF(format_rows); i++) {
        test_row(format_rows[i].name);
        EXPECT_STR(duration_format(format_rows[i].ms, text), format_rows[i].want);
    }
}

TEST(what_is_formatted_reads_back)
{
    struct prng p;
    prng_init(&p, test_seed());
    char text[DURATION_TEXT_SIZE];
    for (uint32_t i = 0; i < 20000; i++) {
        int64_t ms = prng_range(&p, -INT64_MAX, INT64_MAX) >> prng_below(&p, 64);
        ms -= prng_chance(&p, 500) ? ms % 1000 : 0;
        struct str formatted = duration_format(ms, text);
        test_row(text);
        int64_t got = 77;
        EXPECT_STATUS(duration_parse(formatted, &got, NULL), STATUS_OK);
        EXPECT_I64(got, ms);
    }
}

TEST_MAIN()

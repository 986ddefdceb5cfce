// SPDX-License-Identifier: Apache-2.0
#include "codec/quantity.h"

#include "base/prng.h"
#include "base/test.h"

static const struct {
    const char *name;
    struct str text;
    int64_t per_unit;
    enum status want;
    int64_t value;
} parse_rows[] = {
    {"a whole number",                      STRS("12"),                            1,    STATUS_OK,      12                          },
    {"cores",                               STRS("12"),                            1000, STATUS_OK,      12000                       },
    {"millicores",                          STRS("12000m"),                        1000, STATUS_OK,      12000                       },
    {"half a core",                         STRS("0.5"),                           1000, STATUS_OK,      500                         },
    {"no digit before the point",           STRS(".5"),                            1000, STATUS_OK,      500                         },
    {"no digit behind the point",           STRS("5."),                            1000, STATUS_OK,      5000                        },
    {"a fraction of a millicore",           STRS("0.0005"),                        1000, STATUS_INVALID, -1                          },
    {"a fraction of a millicore by suffix", STRS("500u"),                          1000, STATUS_INVALID, -1                          },
    {"micro and whole",                     STRS("500000u"),                       1000, STATUS_OK,      500                         },
    {"nano and whole",                      STRS("2000000000n"),                   1,    STATUS_OK,      2                           },
    {"binary",                              STRS("16Gi"),                          1,    STATUS_OK,      INT64_C(17179869184)        },
    {"binary with a fraction",              STRS("1.5Gi"),                         1,    STATUS_OK,      INT64_C(1610612736)         },
    {"decimal with a fraction",             STRS("1.5G"),                          1,    STATUS_OK,      INT64_C(1500000000)         },
    {"kilo",                                STRS("4k"),                            1,    STATUS_OK,      4000                        },
    {"exa is no exponent",                  STRS("2E"),                            1,    STATUS_OK,      INT64_C(2000000000000000000)},
    {"an exponent",                         STRS("2E3"),                           1,    STATUS_OK,      2000                        },
    {"a small exponent with a plus",        STRS("2e+3"),                          1,    STATUS_OK,      2000                        },
    {"a negative exponent",                 STRS("1500e-3"),                       1000, STATUS_OK,      1500                        },
    {"a negative exponent, not whole",      STRS("1e-3"),                          1,    STATUS_INVALID, -1                          },
    {"negative",                            STRS("-3"),                            1,    STATUS_OK,      -3                          },
    {"a plus",                              STRS("+3"),                            1,    STATUS_OK,      3                           },
    {"zero",                                STRS("0"),                             7000, STATUS_OK,      0                           },
    {"zero with much behind it",            STRS("-0.000000000000000000000000Ei"), 1000, STATUS_OK,      0                           },
    {"needless zeros",                      STRS("1.0000000000000000000000000"),   1,    STATUS_OK,      1                           },
    {"a seventh cannot be written",         STRS("0.142857"),                      7000, STATUS_INVALID, -1                          },
    {"a share of a device",                 STRS("0.25"),                          7000, STATUS_OK,      1750                        },
    {"the largest",                         STRS("9223372036854775807"),           1,    STATUS_OK,      INT64_MAX                   },
    {"one beyond the largest",              STRS("9223372036854775808"),           1,    STATUS_INVALID, -1                          },
    {"the least",                           STRS("-9223372036854775808"),          1,    STATUS_OK,      INT64_MIN                   },
    {"beyond by the suffix",                STRS("8Ei"),                           1,    STATUS_INVALID, -1                          },
    {"minus eight exbi is the least",       STRS("-8Ei"),                          1,    STATUS_OK,      INT64_MIN                   },
    {"beyond by the unit",                  STRS("9223372036854775807"),           1000, STATUS_INVALID, -1                          },
    {"large digits made small",             STRS("9223372036854775807000m"),       1,    STATUS_INVALID, -1                          },
    {"digits beyond 64 bits",               STRS("99999999999999999999999"),       1,    STATUS_INVALID, -1                          },
    {"empty",                               STRS(""),                              1,    STATUS_INVALID, -1                          },
    {"only a sign",                         STRS("-"),                             1,    STATUS_INVALID, -1                          },
    {"only a point",                        STRS("."),                             1,    STATUS_INVALID, -1                          },
    {"only a suffix",                       STRS("Gi"),                            1,    STATUS_INVALID, -1                          },
    {"a word",                              STRS("eight"),                         1,    STATUS_INVALID, -1                          },
    {"an unknown suffix",                   STRS("1Q"),                            1,    STATUS_INVALID, -1                          },
    {"kibi in small letters",               STRS("1ki"),                           1,    STATUS_INVALID, -1                          },
    {"two points",                          STRS("1.2.3"),                         1,    STATUS_INVALID, -1                          },
    {"a comma",                             STRS("1,5"),                           1000, STATUS_INVALID, -1                          },
    {"a space",                             STRS("1 Gi"),                          1,    STATUS_INVALID, -1                          },
    {"two signs",                           STRS("--1"),                           1,    STATUS_INVALID, -1                          },
    {"an exponent beyond reason",           STRS("1e19"),                          1,    STATUS_INVALID, -1                          },
    {"a B where bytes are not asked for",   STRS("1GB"),                           1,    STATUS_INVALID, -1                          },
};

TEST(parsing)
{
    for (uint32_t i = 0; i < COUNT_OF(parse_rows); i++) {
        test_row(parse_rows[i].name);
        int64_t got = -1;
        struct err e = {0};
        EXPECT_STATUS(quantity_parse(parse_rows[i].text, parse_rows[i].per_unit, &got, &e),
                      parse_rows[i].want);
        EXPECT_I64(got, parse_rows[i].value);
        EXPECT((e.text[0] != '\0') == (parse_rows[i].want != STATUS_OK));
    }
}

static const struct {
    const char *name;
    struct str text;
    enum status want;
    int64_t value;
} bytes_rows[] = {
    {"gibibytes",     STRS("80GiB"), STATUS_OK,      INT64_C(85899345920)},
    {"gibi",          STRS("80Gi"),  STATUS_OK,      INT64_C(85899345920)},
    {"megabytes",     STRS("512MB"), STATUS_OK,      INT64_C(512000000)  },
    {"bytes",         STRS("100B"),  STATUS_OK,      100                 },
    {"a bare number", STRS("100"),   STATUS_OK,      100                 },
    {"half a byte",   STRS("0.5"),   STATUS_INVALID, -1                  },
    {"only B",        STRS("B"),     STATUS_INVALID, -1                  },
    {"two B",         STRS("1BB"),   STATUS_INVALID, -1                  },
    {"empty",         STRS(""),      STATUS_INVALID, -1                  },
};

TEST(parsing_bytes)
{
    for (uint32_t i = 0; i < COUNT_OF(bytes_rows); i++) {
        test_row(bytes_rows[i].name);
        int64_t got = -1;
        EXPECT_STATUS(quantity_parse_bytes(bytes_rows[i].text, &got, NULL), bytes_rows[i].want);
        EXPECT_I64(got, bytes_rows[i].value);
    }
}

static const struct {
    const char *name;
    struct str text;
    int64_t per_unit;
    const char *complaint;
} complaint_rows[] = {
    {"no quantity", STRS("eight"),  1,
     "expected a quantity such as 2, 0.5, 500m, 1.5G or 16Gi, got \"eight\""             },
    {"not whole",   STRS("1.5"),    1,    "expected a whole number, got \"1.5\""         },
    {"too fine",    STRS("0.0001"), 1000, "expected a multiple of 1/1000, got \"0.0001\""},
    {"too large",   STRS("9Ei"),    1,    "\"9Ei\" is too large"                         },
};

TEST(complaints)
{
    for (uint32_t i = 0; i < COUNT_OF(complaint_rows); i++) {
        test_row(complaint_rows[i].name);
        int64_t got;
        struct err e;
        EXPECT_STATUS(quantity_parse(complaint_rows[i].text, complaint_rows[i].per_unit, &got, &e),
                      STATUS_INVALID);
        EXPECT_STR(str_from_c(e.text), str_from_c(complaint_rows[i].complaint));
    }
}

static const struct {
    const char *name;
    int64_t bytes;
    struct str want;
} format_rows[] = {
    {"zero",                0,                    STRS("0")                  },
    {"binary",              INT64_C(17179869184), STRS("16Gi")               },
    {"decimal",             INT64_C(20000000000), STRS("20G")                },
    {"both: the shorter",   1024000,              STRS("1024k")              },
    {"neither",             1500,                 STRS("1500")               },
    {"kilo",                2000,                 STRS("2k")                 },
    {"not the next larger", 1536,                 STRS("1536")               },
    {"exbi",                INT64_C(1) << 62,     STRS("4Ei")                },
    {"negative",            -2048,                STRS("-2Ki")               },
    {"the least",           INT64_MIN,            STRS("-8Ei")               },
    {"the largest",         INT64_MAX,            STRS("9223372036854775807")},
};

TEST(formatting_bytes)
{
    char text[QUANTITY_TEXT_SIZE];
    for (uint32_t i = 0; i < COUNT_OF(format_rows); i++) {
        test_row(format_rows[i].name);
        EXPECT_STR(quantity_format_bytes(format_rows[i].bytes, text), format_rows[i].want);
    }
}

TEST(formatting_milli)
{
    char text[QUANTITY_TEXT_SIZE];
    EXPECT_STR(quantity_format_milli(12000, text), STR("12"));
    EXPECT_STR(quantity_format_milli(1500, text), STR("1500m"));
    EXPECT_STR(quantity_format_milli(0, text), STR("0"));
    EXPECT_STR(quantity_format_milli(INT64_MIN, text), STR("-9223372036854775808m"));
}

TEST(what_is_formatted_reads_back)
{
    struct prng p;
    prng_init(&p, test_seed());
    char text[QUANTITY_TEXT_SIZE];
    for (uint32_t i = 0; i < 20000; i++) {
        int64_t v = prng_range(&p, INT64_MIN, INT64_MAX);
        v >>= prng_below(&p, 64);
        v -= prng_chance(&p, 500) ? v % (INT64_C(1) << prng_below(&p, 40)) : v % 1000;
        int64_t got = 77;
        struct str formatted = quantity_format_bytes(v, text);
        test_row(text);
        EXPECT(formatted.len < QUANTITY_TEXT_SIZE);
        EXPECT_STATUS(quantity_parse_bytes(formatted, &got, NULL), STATUS_OK);
        EXPECT_I64(got, v);
        EXPECT_STATUS(quantity_parse(quantity_format_milli(v, text), 1000, &got, NULL), STATUS_OK);
        EXPECT_I64(got, v);
    }
}

TEST_MAIN()

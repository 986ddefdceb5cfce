// SPDX-License-Identifier: Apache-2.0
#include "base/num.h"

#include "base/prng.h"
#include "base/test.h"

__extension__ typedef __int128 wide;

static const int64_t edges[] = {
    INT64_MIN, INT64_MIN + 1,       INT64_C(-4294967296), -7,       -2, -1, 0, 1, 2,
    7,         INT64_C(3037000500), INT64_MAX - 1,        INT64_MAX};

static int64_t clamp(wide v)
{
    return v < INT64_MIN ? INT64_MIN : v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

// Every pair of edges against 128-bit arithmetic.
TEST(arithmetic)
{
    for (uint32_t i = 0; i < COUNT_OF(edges); i++) {
        for (uint32_t j = 0; j < COUNT_OF(edges); j++) {
            int64_t a = edges[i];
            int64_t b = edges[j];
            wide exact[] = {(wide)a + b, (wide)a - b, (wide)a * b};
            int64_t got[] = {77, 77, 77};
            bool fits[] = {num_add_i64(a, b, &got[0]), num_sub_i64(a, b, &got[1]),
                           num_mul_i64(a, b, &got[2])};
            int64_t saturated[] = {num_sat_add_i64(a, b), num_sat_sub_i64(a, b),
                                   num_sat_mul_i64(a, b)};
            for (uint32_t k = 0; k < 3; k++) {
                EXPECT(fits[k] == (exact[k] == clamp(exact[k])));
                EXPECT_I64(got[k], fits[k] ? clamp(exact[k]) : 77);
                EXPECT_I64(saturated[k], clamp(exact[k]));
            }
            EXPECT_I64(num_min_i64(a, b), a < b ? a : b);
            EXPECT_I64(num_max_i64(a, b), a < b ? b : a);
        }
    }
}

TEST(division)
{
    EXPECT_I64(num_div_floor(7, 2), 3);
    EXPECT_I64(num_div_floor(-7, 2), -4);
    EXPECT_I64(num_div_floor(-8, 2), -4);
    EXPECT_I64(num_div_ceil(7, 2), 4);
    EXPECT_I64(num_div_ceil(-7, 2), -3);
    EXPECT_I64(num_div_ceil(8, 2), 4);
    EXPECT_I64(num_div_floor(INT64_MIN, 1), INT64_MIN);
    EXPECT_I64(num_div_ceil(INT64_MAX, INT64_MAX), 1);
    EXPECT_I64(num_muldiv_floor(INT64_MAX, INT64_MAX, INT64_MAX), INT64_MAX);
    EXPECT_I64(num_muldiv_floor(-7, 3, 2), -11);
    EXPECT_I64(num_muldiv_ceil(-7, 3, 2), -10);
    EXPECT_I64(num_muldiv_ceil(7, 3, 2), 11);
    EXPECT_I64(num_muldiv_floor(7, 3, 2), 10);
}

TEST(floor_and_ceil_enclose_the_quotient)
{
    struct prng p;
    prng_init(&p, test_seed());
    for (uint32_t i = 0; i < 10000; i++) {
        int64_t n = prng_range(&p, INT64_MIN, INT64_MAX) >> prng_below(&p, 63);
        int64_t d = prng_range(&p, 1, INT64_MAX) >> prng_below(&p, 62);
        d += d == 0;
        wide low = (wide)num_div_floor(n, d) * d;
        wide high = (wide)num_div_ceil(n, d) * d;
        EXPECT(low <= n && n - low < d);
        EXPECT(high >= n && high - n < d);
    }
}

TEST(our_own_mistakes_panic)
{
    EXPECT_PANIC(num_div_floor(1, 0));
    EXPECT_PANIC(num_div_ceil(1, -1));
    EXPECT_PANIC(num_muldiv_floor(INT64_MAX, 2, 1));
    EXPECT_PANIC(num_muldiv_ceil(INT64_MIN, 2, 1));
    EXPECT_PANIC(num_cmp_frac(1, 0, 1, 1));
    EXPECT_PANIC(num_u32(UINT64_C(1) << 32));
}

TEST(fractions)
{
    EXPECT_I64(num_cmp_frac(1, 3, 2, 6), 0);
    EXPECT_I64(num_cmp_frac(1, 3, 1, 2), -1);
    EXPECT_I64(num_cmp_frac(-1, 3, -1, 2), 1);
    EXPECT_I64(num_cmp_frac(INT64_MAX, INT64_MAX - 1, INT64_MAX - 1, INT64_MAX - 2), -1);
    EXPECT_I64(num_cmp_frac(INT64_MIN, 1, INT64_MAX, 1), -1);
}

TEST(ranks_of_fractions)
{
    EXPECT(num_frac_rank(0, 7) == 0);
    EXPECT(num_frac_rank(1, 2) == UINT64_C(1) << 31);
    EXPECT(num_frac_rank(2, 3) == num_frac_rank(4, 6));
    EXPECT(num_frac_rank(INT64_MAX, 1) == UINT64_MAX);
    EXPECT(num_frac_rank(INT64_MAX, INT64_MAX) == UINT64_C(1) << 32);
    EXPECT(num_frac_rank(999999, 1000000) < num_frac_rank(1, 1));
    EXPECT_PANIC(num_frac_rank(-1, 1));
    EXPECT_PANIC(num_frac_rank(1, 0));
}

static const struct {
    const char *name;
    struct str text;
    uint32_t scale;
    bool ok;
    int64_t want;
} decimal_rows[] = {
    {"whole",                       STRS("12"),                   0,  true,  12       },
    {"negative",                    STRS("-12"),                  0,  true,  -12      },
    {"scaled",                      STRS("-12.345"),              3,  true,  -12345   },
    {"fewer digits than the scale", STRS("1.5"),                  3,  true,  1500     },
    {"leading zeros",               STRS("007"),                  0,  true,  7        },
    {"minus zero",                  STRS("-0.0"),                 1,  true,  0        },
    {"the largest",                 STRS("9223372036854775807"),  0,  true,  INT64_MAX},
    {"the least",                   STRS("-9223372036854775808"), 0,  true,  INT64_MIN},
    {"beyond the largest",          STRS("9223372036854775808"),  0,  false, 77       },
    {"beyond the least",            STRS("-9223372036854775809"), 0,  false, 77       },
    {"beyond by the scale",         STRS("10"),                   18, false, 77       },
    {"more digits than the scale",  STRS("1.000"),                2,  false, 77       },
    {"a plus",                      STRS("+1"),                   0,  false, 77       },
    {"an exponent",                 STRS("1e3"),                  0,  false, 77       },
    {"no digit in front",           STRS(".5"),                   1,  false, 77       },
    {"no digit behind",             STRS("5."),                   1,  false, 77       },
    {"two points",                  STRS("1.2.3"),                4,  false, 77       },
    {"two signs",                   STRS("--1"),                  0,  false, 77       },
    {"only a sign",                 STRS("-"),                    0,  false, 77       },
    {"a space",                     STRS(" 1"),                   0,  false, 77       },
    {"empty",                       STRS(""),                     0,  false, 77       },
    {"a word",                      STRS("eight"),                0,  false, 77       },
};

TEST(decimals)
{
    for (uint32_t i = 0; i < COUNT_OF(decimal_rows); i++) {
        test_row(decimal_rows[i].name);
        int64_t got = 77;
        EXPECT(num_parse_decimal(decimal_rows[i].text, decimal_rows[i].scale, &got) ==
               decimal_rows[i].ok);
        EXPECT_I64(got, decimal_rows[i].want);
    }
}

TEST(unsigned_numbers)
{
    uint64_t got = 77;
    EXPECT(num_parse_u64(STR("18446744073709551615"), &got) && got == UINT64_MAX);
    got = 77;
    EXPECT(!num_parse_u64(STR("18446744073709551616"), &got) && got == 77);
    EXPECT(!num_parse_u64(STR("-1"), &got) && got == 77);
    EXPECT(!num_parse_u64(STR(""), &got) && got == 77);
    EXPECT(!num_parse_u64(STR("1a"), &got) && got == 77);
    EXPECT(!num_parse_u64(STR("99999999999999999999999"), &got) && got == 77);
    int64_t n = 77;
    EXPECT(num_parse_i64(STR("-5"), &n) && n == -5);
    EXPECT(!num_parse_i64(STR("5.0"), &n) && n == -5);
    EXPECT_I64(num_u32(UINT32_MAX), UINT32_MAX);
}

TEST_MAIN()

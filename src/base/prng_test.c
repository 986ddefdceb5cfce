// SPDX-License-Identifier: Apache-2.0
#include "base/prng.h"

#include "base/test.h"
#include "base/uuid.h"

// The first numbers of the reference code of xoshiro256** with this state.
TEST(known_numbers)
{
    struct prng p = {
        {1, 2, 3, 4}
    };
    static const uint64_t want[] = {11520, 0, 1509978240, 1215971899390074240};
    for (uint32_t i = 0; i < COUNT_OF(want); i++) {
        EXPECT_I64((int64_t)prng_next(&p), (int64_t)want[i]);
    }
    // splitmix64 of seed 0 begins so.
    prng_init(&p, 0);
    EXPECT_I64((int64_t)p.s[0], (int64_t)UINT64_C(0xe220a8397b1dcdaf));
    EXPECT_I64((int64_t)p.s[1], (int64_t)UINT64_C(0x6e789e6aa1b965f4));
}

TEST(ranges)
{
    struct prng p;
    prng_init(&p, test_seed());
    uint32_t counts[6] = {0};
    for (uint32_t i = 0; i < 60000; i++) {
        counts[prng_below(&p, 6)]++;
    }
    for (uint32_t i = 0; i < 6; i++) {
        EXPECT(counts[i] > 9000 && counts[i] < 11000);
    }
    bool first = false;
    bool last = false;
    uint32_t chances = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        int64_t v = prng_range(&p, -2, 2);
        EXPECT(v >= -2 && v <= 2);
        first |= v == -2;
        last |= v == 2;
        EXPECT(!prng_chance(&p, 0));
        EXPECT(prng_chance(&p, 1000));
        chances += prng_chance(&p, 250);
    }
    EXPECT(first && last);
    EXPECT(chances > 150 && chances < 350);
    EXPECT_I64(prng_range(&p, INT64_MAX, INT64_MAX), INT64_MAX);
    uint32_t negative = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        negative += prng_range(&p, INT64_MIN, INT64_MAX) < 0;
    }
    EXPECT(negative > 400 && negative < 600);
}

TEST(uuids)
{
    struct uuid u = {{0}};
    EXPECT(uuid_is_zero(u));
    EXPECT(uuid_parse(STR("01234567-89AB-cdef-0123-456789abcdef"), &u));
    EXPECT(!uuid_is_zero(u));
    char text[UUID_TEXT_LEN + 1];
    uuid_format(u, text);
    EXPECT_STR(str_from_c(text), STR("01234567-89ab-cdef-0123-456789abcdef"));
    EXPECT_I64(u.b[0], 0x01);
    EXPECT_I64(u.b[15], 0xef);
    EXPECT_I64(uuid_bytes(&u).len, 16);
    struct arena a;
    arena_init(&a, 0);
    EXPECT_STR(uuid_str(u, &a), STR("01234567-89ab-cdef-0123-456789abcdef"));
    arena_done(&a);
    struct uuid larger = u;
    larger.b[15] = 0xf0;
    EXPECT_I64(uuid_cmp(u, larger), -1);
    EXPECT_I64(uuid_cmp(larger, u), 1);
    EXPECT(uuid_eq(u, u));
    EXPECT(!uuid_eq(u, larger));
    static const uint8_t bytes[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    uuid_format(uuid_from_random(bytes), text);
    EXPECT_STR(str_from_c(text), STR("ffffffff-ffff-4fff-bfff-ffffffffffff"));
}

static const struct {
    const char *name;
    struct str text;
} bad_rows[] = {
    {"empty",              STRS("")                                     },
    {"one short",          STRS("01234567-89ab-cdef-0123-456789abcde")  },
    {"one long",           STRS("01234567-89ab-cdef-0123-456789abcdef0")},
    {"no dashes",          STRS("0123456789abcdef0123456789abcdef")     },
    {"dashes elsewhere",   STRS("0123456-789ab-cdef-0123-456789abcdef") },
    {"not hexadecimal",    STRS("0123456g-89ab-cdef-0123-456789abcdef") },
    {"braces",             STRS("{1234567-89ab-cdef-0123-456789abcde}") },
    {"a dash for a digit", STRS("01234567-89ab-cdef-0123-456789abcde-") },
};

TEST(bad_uuids)
{
    for (uint32_t i = 0; i < COUNT_OF(bad_rows); i++) {
        test_row(bad_rows[i].name);
        struct uuid u = {{7}};
        EXPECT(!uuid_parse(bad_rows[i].text, &u));
        EXPECT_I64(u.b[0], 7);
    }
}

TEST_MAIN()

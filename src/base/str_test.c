// SPDX-License-Identifier: Apache-2.0
#include "base/str.h"

#include <stdlib.h>

#include "base/prng.h"
#include "base/test.h"

TEST(comparing)
{
    EXPECT(str_eq(STR(""), (struct str){0}));
    EXPECT(str_eq(STR("ab"), STR("ab")));
    EXPECT(!str_eq(STR("ab"), STR("abc")));
    EXPECT_I64(str_cmp(STR("a"), STR("b")), -1);
    EXPECT_I64(str_cmp(STR("b"), STR("a")), 1);
    EXPECT_I64(str_cmp(STR("a"), STR("ab")), -1);
    EXPECT_I64(str_cmp(STR("ab"), STR("a")), 1);
    EXPECT_I64(str_cmp(STR("\x80"), STR("a")), 1);
    EXPECT_I64(str_cmp((struct str){0}, STR("")), 0);
    EXPECT(str_starts(STR("abc"), STR("ab")));
    EXPECT(str_starts(STR("abc"), STR("")));
    EXPECT(!str_starts(STR("a"), STR("ab")));
    EXPECT(str_ends(STR("abc"), STR("bc")));
    EXPECT(!str_ends(STR("c"), STR("bc")));
    EXPECT(str_ends((struct str){0}, STR("")));
}

TEST(slicing)
{
    EXPECT_STR(str_sub(STR("abcdef"), 2, 3), STR("cde"));
    EXPECT_STR(str_sub(STR("abc"), 2, 9), STR("c"));
    EXPECT_STR(str_sub(STR("abc"), 3, 1), STR(""));
    EXPECT_STR(str_sub(STR("abc"), 9, UINT32_MAX), STR(""));
    EXPECT_STR(str_sub((struct str){0}, 0, 1), STR(""));
    EXPECT_STR(str_trim(STR(" \t\r\n a b \v\f")), STR("a b"));
    EXPECT_STR(str_trim(STR("   ")), STR(""));
    EXPECT_I64(str_find(STR("abc"), 'c'), 2);
    EXPECT_I64(str_find(STR("abc"), 'x'), 3);
    EXPECT_I64(str_find((struct str){0}, 'x'), 0);
    EXPECT_STR(str_from_c(NULL), STR(""));
    EXPECT_STR(str_from_c("abc"), STR("abc"));
}

static const struct {
    const char *name;
    struct str text, joined; /* the parts with | between */
} split_rows[] = {
    {"an empty part between",            STRS("a,,b"), STRS("a||b")},
    {"one part",                         STRS("abc"),  STRS("abc") },
    {"the empty text is one empty part", STRS(""),     STRS("")    },
    {"empty parts at both ends",         STRS(",a,"),  STRS("|a|") },
    {"only a separator",                 STRS(","),    STRS("|")   },
};

TEST(splitting)
{
    for (uint32_t i = 0; i < COUNT_OF(split_rows); i++) {
        test_row(split_rows[i].name);
        char joined[64] = "";
        uint32_t len = 0;
        struct str rest = split_rows[i].text;
        struct str part;
        for (uint32_t n = 0; str_split(&rest, ',', &part); n++) {
            len += str_format(joined + len, sizeof(joined) - len, "%s" STR_FMT, n > 0 ? "|" : "",
                              STR_ARG(part))
                       .len;
        }
        EXPECT_STR(((struct str){joined, len}), split_rows[i].joined);
        EXPECT(rest.ptr == NULL);
    }
    struct str none = {0};
    struct str part;
    EXPECT(!str_split(&none, ',', &part));
}

static const struct {
    const char *name;
    struct str text;
    bool ok;
} utf8_rows[] = {
    {"nothing",                  STRS(""),                                         true },
    {"ASCII",                    STRS("hello, world"),                             true },
    {"all lengths",              STRS("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),    true },
    {"the last of each length",  STRS("\x7f\xdf\xbf\xef\xbf\xbf\xf4\x8f\xbf\xbf"), true },
    {"next to the surrogates",   STRS("\xed\x9f\xbf\xee\x80\x80"),                 true },
    {"NUL",                      {"abcdefg\0", 8},                                 false},
    {"NUL at the end of eleven", {"abcdefghij\0", 11},                             false},
    {"a stray continuation",     STRS("abcdefgh\x80"),                             false},
    {"overlong in two",          STRS("\xc0\x80"),                                 false},
    {"overlong in two, higher",  STRS("\xc1\xbf"),                                 false},
    {"overlong in three",        STRS("\xe0\x9f\xbf"),                             false},
    {"overlong in four",         STRS("\xf0\x8f\xbf\xbf"),                         false},
    {"a surrogate",              STRS("\xed\xa0\x80"),                             false},
    {"beyond Unicode",           STRS("\xf4\x90\x80\x80"),                         false},
    {"five bytes",               STRS("\xf8\x88\x80\x80\x80"),                     false},
    {"cut off",                  STRS("\xe2\x82"),                                 false},
    {"broken by ASCII",          STRS("\xe2\x82X"),                                false},
    {"ff",                       STRS("\xff"),                                     false},
};

TEST(utf8)
{
    for (uint32_t i = 0; i < COUNT_OF(utf8_rows); i++) {
        test_row(utf8_rows[i].name);
        EXPECT(str_is_utf8(utf8_rows[i].text) == utf8_rows[i].ok);
    }
}

// Eight bytes at a time and one at a time must agree wherever the bad byte lies.
TEST(utf8_at_every_offset)
{
    for (uint32_t at = 0; at < 24; at++) {
        for (unsigned byte = 0; byte < 256; byte++) {
            char text[24];
            for (uint32_t i = 0; i < sizeof(text); i++) {
                text[i] = 'x';
            }
            text[at] = (char)byte;
            EXPECT(str_is_utf8((struct str){text, sizeof(text)}) == (byte > 0 && byte < 0x80));
        }
    }
}

static const struct {
    const char *name;
    struct str a, b;
    uint32_t cap, want;
} distance_rows[] = {
    {"equal",                 STRS("quota"), STRS("quota"),    9, 0},
    {"one changed",           STRS("quota"), STRS("quoto"),    9, 1},
    {"one missing",           STRS("quota"), STRS("quta"),     9, 1},
    {"one more",              STRS("quota"), STRS("quotas"),   9, 1},
    {"two swapped",           STRS("quota"), STRS("qouta"),    9, 1},
    {"swapped and changed",   STRS("abcd"),  STRS("bacx"),     9, 2},
    {"nothing and something", STRS(""),      STRS("abc"),      9, 3},
    {"everything",            STRS("abc"),   STRS("xyz"),      9, 3},
    {"capped",                STRS("abc"),   STRS("xyz"),      2, 2},
    {"capped by length",      STRS("a"),     STRS("abcdefgh"), 3, 3},
};

TEST(distance)
{
    for (uint32_t i = 0; i < COUNT_OF(distance_rows); i++) {
        test_row(distance_rows[i].name);
        EXPECT_I64(str_distance(distance_rows[i].a, distance_rows[i].b, distance_rows[i].cap),
                   distance_rows[i].want);
        EXPECT_I64(str_distance(distance_rows[i].b, distance_rows[i].a, distance_rows[i].cap),
                   distance_rows[i].want);
    }
}

TEST(distance_of_long_texts)
{
    char a[80];
    char b[80];
    for (uint32_t i = 0; i < sizeof(a); i++) {
        a[i] = b[i] = 'x';
    }
    EXPECT_I64(str_distance((struct str){a, 80}, (struct str){b, 80}, 9), 0);
    b[0] = 'y';
    EXPECT_I64(str_distance((struct str){a, 80}, (struct str){b, 80}, 9), 9);
    EXPECT_I64(str_distance((struct str){a, 64}, (struct str){b, 64}, 9), 1);
}

TEST(nearest)
{
    static const struct str names[] = {STRS("guaranteed_gpus"), STRS("max_gpus"), STRS("rank"),
                                       STRS("tank")};
    EXPECT_I64(str_nearest(STR("guarantied_gpu"), names, 4), 0);
    EXPECT_I64(str_nearest(STR("max_gpu"), names, 4), 1);
    EXPECT_I64(str_nearest(STR("xank"), names, 4), 2);
    EXPECT_I64(str_nearest(STR("tank"), names, 4), 3);
    EXPECT_I64(str_nearest(STR("colour"), names, 4), 4);
    EXPECT_I64(str_nearest(STR(""), names, 4), 4);
    EXPECT_I64(str_nearest(STR("rank"), names, 0), 0);
}

TEST(clipping)
{
    struct str s = STR("a\xc3\xa9\xe2\x82\xac");
    static const uint32_t want[] = {0, 1, 1, 3, 3, 3, 6, 6};
    for (uint32_t max = 0; max < COUNT_OF(want); max++) {
        EXPECT_I64(str_clip(s, max).len, want[max]);
    }
}

TEST(formatting_cuts_between_characters)
{
    static const uint32_t want[] = {0, 0, 1, 1, 3, 3, 3, 6, 6};
    for (size_t cap = 1; cap < COUNT_OF(want); cap++) {
        char out[16];
        struct str got = str_format(out, cap, "%s", "a\xc3\xa9\xe2\x82\xac");
        EXPECT_I64(got.len, want[cap]);
        EXPECT(out[got.len] == '\0');
    }
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
#include "codec/percent.h"

#include "base/test.h"

TEST(there_and_back)
{
    static const struct {
        const char *text, *encoded;
    } rows[] = {
        {"",              ""                       },
        {"plain-_.~09",   "plain-_.~09"            },
        {"a b&c=d",       "a%20b%26c%3Dd"          },
        {"https://a/b?c", "https%3A%2F%2Fa%2Fb%3Fc"},
        {"100%+1",        "100%25%2B1"             },
        {"\xc3\xa9",      "%C3%A9"                 },
        {"line\r\n\x7f",  "line%0D%0A%7F"          },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena;
        struct buf out;
        struct str back = {0};
        test_row(rows[i].text);
        arena_init(&arena, 0);
        buf_init(&out, 1000);
        percent_encode(str_from_c(rows[i].text), &out);
        EXPECT_STR(buf_view(&out), str_from_c(rows[i].encoded));
        EXPECT(percent_decode(buf_view(&out), &arena, &back));
        EXPECT_STR(back, str_from_c(rows[i].text));
        buf_done(&out);
        arena_done(&arena);
    }
}

TEST(what_forms_have)
{
    static const struct {
        const char *text, *want; /* NULL: refused */
    } rows[] = {
        {"a+b",    "a b"     },
        {"%e9",    NULL      },
        {"%c3%a9", "\xc3\xa9"},
        {"%",      NULL      },
        {"%4",     NULL      },
        {"%4x",    NULL      },
        {"a%00b",  NULL      },
        {"%41",    "A"       },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena;
        struct str out = {0};
        test_row(rows[i].text);
        arena_init(&arena, 0);
        bool ok = percent_decode(str_from_c(rows[i].text), &arena, &out);
        EXPECT(ok == (rows[i].want != NULL));
        if (ok) {
            EXPECT_STR(out, str_from_c(rows[i].want));
        }
        arena_done(&arena);
    }
}

TEST_MAIN()

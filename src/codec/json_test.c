// SPDX-License-Identifier: Apache-2.0
#include "codec/json.h"

#include <string.h>

#include "base/prng.h"
#include "base/test.h"

static struct arena arena;

static struct str repeat(struct str part, uint32_t count)
{
    char *text = arena_alloc(&arena, (size_t)part.len * count + 1);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(text + (size_t)i * part.len, part.ptr, part.len);
    }
    return (struct str){text, part.len * count};
}

static enum status skip_whole(struct str text, struct err *err)
{
    struct jr r;
    jr_init(&r, text, &arena, err);
    jr_skip(&r);
    return jr_finish(&r);
}

static struct str written(const struct doc *d, bool pretty)
{
    struct buf b;
    buf_init(&b, 1 << 20);
    struct jw w;
    jw_init(&w, &b, pretty);
    jw_doc(&w, d);
    struct str copy = arena_str(&arena, buf_view(&b));
    buf_done(&b);
    return copy;
}

// Text, and what is wrong with it and where; no complaint: it is accepted. Reading as a tree and
// skipping must agree on all of it.
static const struct {
    const char *name;
    struct str text;
    uint32_t line, col;
    const char *complaint;
} grammar_rows[] = {
    {"a number",                        STRS("0"),                                                                    0, 0,  NULL                                               },
    {"all kinds",                       STRS(" {\"a\":[1,-2.5e+10,true,false,null,\"x\"],\"b\":{}, \"c\" : []}\r\n"), 0,
     0,                                                                                                                      NULL                                               },
    {"all escapes",                     STRS("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\""),                  0, 0,  NULL                                               },
    {"minus zero",                      STRS("-0"),                                                                   0, 0,  NULL                                               },
    {"an exponent",                     STRS("1E3"),                                                                  0, 0,  NULL                                               },
    {"nothing",                         STRS(""),                                                                     1, 1,  "expected a value, found the end of the text"      },
    {"only white space",                STRS(" \n "),                                                                 2, 2,  "expected a value, found the end of the text"      },
    {"a word",                          STRS("yes"),                                                                  1, 1,  "expected a value, found yes"                      },
    {"a literal cut short",             STRS("[tru]"),                                                                1, 2,  "expected a value, found tru"                      },
    {"a literal run on",                STRS("nullx"),                                                                1, 5,  "expected nothing behind the value, found x"       },
    {"two values",                      STRS("1 2"),                                                                  1, 3,  "expected nothing behind the value, found a number"},
    {"a leading zero",                  STRS("01"),                                                                   1, 1,  "not a number as JSON writes them"                 },
    {"a leading plus",                  STRS("+1"),                                                                   1, 1,  "expected a value, found '+'"                      },
    {"a bare minus",                    STRS("-"),                                                                    1, 1,  "not a number as JSON writes them"                 },
    {"a point without digits",          STRS("1."),                                                                   1, 1,  "not a number as JSON writes them"                 },
    {"digits missing in front",         STRS(".5"),                                                                   1, 1,  "expected a value, found '.'"                      },
    {"an exponent without digits",      STRS("1e+"),                                                                  1, 1,  "not a number as JSON writes them"                 },
    {"hexadecimal",                     STRS("0x10"),                                                                 1, 2,  "expected nothing behind the value, found x"       },
    {"not a number",                    STRS("NaN"),                                                                  1, 1,  "expected a value, found 'N'"                      },
    {"single quotes",                   STRS("{'a':1}"),                                                              1, 2,  "expected a key in double quotes, found '''"       },
    {"a key without quotes",            STRS("{a:1}"),                                                                1, 2,  "expected a key in double quotes, found a"         },
    {"a number as key",                 STRS("{1:1}"),                                                                1, 2,  "expected a key in double quotes, found a number"  },
    {"no colon",                        STRS("{\"a\" 1}"),                                                            1, 6,  "expected ':', found a number"                     },
    {"no value",                        STRS("{\"a\":}"),                                                             1, 6,  "expected a value, found '}'"                      },
    {"no comma in an object",           STRS("{\"a\":1 \"b\":2}"),                                                    1, 8,  "expected ',' or '}', found a text"                },
    {"no comma in a list",              STRS("[1\n2]"),                                                               2, 1,  "expected ',' or ']', found a number"              },
    {"a comma at the end of an object", STRS("{\"a\":1,}"),                                                           1, 8,
     "expected a key in double quotes, found '}'"                                                                                                                               },
    {"a comma at the end of a list",    STRS("[1,]"),                                                                 1, 4,  "expected a value, found ']'"                      },
    {"a comma at the start",            STRS("[,1]"),                                                                 1, 2,  "expected a value, found ','"                      },
    {"an object closed as a list",      STRS("{\"a\":1]"),                                                            1, 7,  "expected ',' or '}', found ']'"                   },
    {"a list closed as an object",      STRS("[1}"),                                                                  1, 3,  "expected ',' or ']', found '}'"                   },
    {"an object not closed",            STRS("{\"a\":1"),                                                             1, 7,
     "expected ',' or '}', found the end of the text"                                                                                                                           },
    {"an object not begun",             STRS("{"),                                                                    1, 2,
     "expected a key in double quotes, found the end of the text"                                                                                                               },
    {"a list not closed",               STRS("[[]"),                                                                  1, 4,  "expected ',' or ']', found the end of the text"   },
    {"a text not closed",               STRS("[\"ab"),                                                                1, 2,  "a text without its closing quote"                 },
    {"a text closed by an escape",      STRS("\"ab\\\""),                                                             1, 1,  "a text without its closing quote"                 },
    {"a line end in a text",            STRS("\"a\nb\""),                                                             1, 3,
     "the byte 0a in a text must be written \\u000a"                                                                                                                            },
    {"a tab in a long text",            STRS("\"0123456789abcdef\t\""),                                               1, 18,
     "the byte 09 in a text must be written \\u0009"                                                                                                                            },
    {"an unknown escape",               STRS("\"\\x\""),                                                              1, 2,
     "an unknown escape in a text; known are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX"                                                                                     },
    {"an escape at the end",            STRS("\"\\"),                                                                 1, 2,
     "an unknown escape in a text; known are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX"                                                                                     },
    {"too few hexadecimal digits",      STRS("\"\\u12\""),                                                            1, 2,  "\\u needs four hexadecimal digits"                },
    {"an escaped NUL",                  STRS("\"\\u0000\""),                                                          1, 2,  "\\u0000 is not accepted in a text"                },
    {"a lone high surrogate",           STRS("\"\\ud800\""),                                                          1, 2,  "half of a surrogate pair"                         },
    {"a lone low surrogate",            STRS("\"\\udc00\""),                                                          1, 2,  "half of a surrogate pair"                         },
    {"two high surrogates",             STRS("\"\\ud800\\ud800\""),                                                   1, 2,  "half of a surrogate pair"                         },
    {"a NUL",                           {"[1\0]", 4},                                                                 1, 3,  "the byte 00 is not UTF-8"                         },
    {"a stray continuation byte",       STRS("\"\x80\""),                                                             1, 2,  "the byte 80 is not UTF-8"                         },
    {"an overlong form",                STRS("\"\xc0\xaf\""),                                                         1, 2,  "the byte c0 is not UTF-8"                         },
    {"a surrogate in UTF-8",            STRS("\"\xed\xa0\x80\""),                                                     1, 2,  "the byte ed is not UTF-8"                         },
    {"a character cut off",             STRS("\"\xe2\x82"),                                                           1, 2,  "the byte e2 is not UTF-8"                         },
    {"a byte order mark",               STRS("\xef\xbb\xbf{}"),                                                       1, 1,  "expected a value, found '\xef\xbb\xbf'"           },
    {"columns count characters",        STRS("[\"\xc3\xa9\xe2\x82\xac\", x]"),                                        1, 8,
     "expected a value, found x"                                                                                                                                                },
    {"lines are counted",               STRS("{\n  \"a\": 1,\n  \"b\": ?\n}"),                                        3, 8,
     "expected a value, found '?'"                                                                                                                                              },
    {"a comment",                       STRS("[1] // one"),                                                           1, 5,  "expected nothing behind the value, found '/'"     },
};

TEST(grammar)
{
    for (uint32_t i = 0; i < COUNT_OF(grammar_rows); i++) {
        test_row(grammar_rows[i].name);
        enum status want = grammar_rows[i].complaint ? STATUS_INVALID : STATUS_OK;
        struct err e = {0};
        struct doc *d = NULL;
        EXPECT_STATUS(json_doc(grammar_rows[i].text, &arena, &d, &e), want);
        EXPECT((d != NULL) == (want == STATUS_OK));
        EXPECT_STR(str_from_c(e.text), str_from_c(grammar_rows[i].complaint));
        EXPECT_I64(e.line, grammar_rows[i].line);
        EXPECT_I64(e.col, grammar_rows[i].col);
        struct err skip_e = {0};
        EXPECT_STATUS(skip_whole(grammar_rows[i].text, &skip_e), want);
        EXPECT_STR(str_from_c(skip_e.text), str_from_c(e.text));
        EXPECT_I64(skip_e.line, e.line);
        EXPECT_I64(skip_e.col, e.col);
    }
    arena_reset(&arena);
}

TEST(limits)
{
    struct err e;
    struct doc *d;
    struct str deep = arena_printf(&arena, STR_FMT "1" STR_FMT, STR_ARG(repeat(STR("["), 64)),
                                   STR_ARG(repeat(STR("]"), 64)));
    EXPECT_STATUS(json_doc(deep, &arena, &d, &e), STATUS_OK);
    EXPECT_STR(written(d, false), deep);
    EXPECT_STATUS(skip_whole(deep, &e), STATUS_OK);
    struct str deeper = arena_printf(&arena, "{\"a\":" STR_FMT "}", STR_ARG(deep));
    EXPECT_STATUS(json_doc(deeper, &arena, &d, &e), STATUS_TOO_LARGE);
    EXPECT_STR(str_from_c(e.text), STR("more than 64 levels deep"));
    EXPECT_I64(e.col, 69);
    EXPECT_STATUS(skip_whole(deeper, &e), STATUS_TOO_LARGE);
    struct str many = repeat(STR("["), 1 << 20);
    EXPECT_STATUS(json_doc(many, &arena, &d, &e), STATUS_TOO_LARGE);
    EXPECT_STATUS(skip_whole(many, &e), STATUS_TOO_LARGE);
    struct str large = repeat(STR(" "), JSON_SIZE_MAX + 1);
    EXPECT_STATUS(json_doc(large, &arena, &d, &e), STATUS_TOO_LARGE);
    EXPECT_STR(str_from_c(e.text),
               STR("the text has 67108865 bytes, at most 67108864 are accepted"));
    arena_done(&arena);
}

// What a tree looks like when written again.
static const struct {
    const char *name;
    struct str text, compact;
} tree_rows[] = {
    {"order and duplicates are kept",       STRS("{\"b\":1, \"a\":2, \"b\":3}"),
     STRS("{\"b\":1,\"a\":2,\"b\":3}")                                                                                             },
    {"numbers stay as written",             STRS("[1.50, 1E5, -0, 123456789012345678901234567890]"),
     STRS("[1.50,1E5,-0,123456789012345678901234567890]")                                                                          },
    {"escapes are resolved and made again",
     STRS("\"\\u0041\\/\\n\\u001f\\u20ac\\ud83d\\ude00\\\"\""),
     STRS("\"A/\\n\\u001f\xe2\x82\xac\xf0\x9f\x98\x80\\\"\"")                                                                      },
    {"an escape in a key",                  STRS("{\"\\u00e9\":1}"),                                 STRS("{\"\xc3\xa9\":1}")      },
    {"empty ones",                          STRS("[{}, [], \"\", {\"\": {}}]"),                      STRS("[{},[],\"\",{\"\":{}}]")},
    {"literals",                            STRS("[null, true, false]"),                             STRS("[null,true,false]")     },
};

TEST(tree)
{
    for (uint32_t i = 0; i < COUNT_OF(tree_rows); i++) {
        test_row(tree_rows[i].name);
        struct err e;
        struct doc *d;
        REQUIRE_OK(json_doc(tree_rows[i].text, &arena, &d, &e), &e);
        EXPECT_STR(written(d, false), tree_rows[i].compact);
    }
    arena_reset(&arena);
}

TEST(tree_positions)
{
    struct err e;
    struct doc *d;
    REQUIRE_OK(json_doc(STR("{\n  \"\xc3\xa9\": [1,\n   true],\n  \"b\" : \"x\"}"), &arena, &d, &e),
               &e);
    EXPECT_I64(d->line, 1);
    EXPECT_I64(d->col, 1);
    EXPECT_I64(d->child_count, 2);
    const struct doc *list = doc_get(d, STR("\xc3\xa9"));
    REQUIRE(list != NULL);
    EXPECT_I64(list->key_line, 2);
    EXPECT_I64(list->key_col, 3);
    EXPECT_I64(list->line, 2);
    EXPECT_I64(list->col, 8);
    const struct doc *second = doc_at(d, STR("\xc3\xa9[1]"));
    REQUIRE(second != NULL);
    EXPECT_I64(second->line, 3);
    EXPECT_I64(second->col, 4);
    EXPECT_I64(second->kind, DOC_BOOL);
    EXPECT_I64(doc_get(d, STR("b"))->col, 9);
    arena_reset(&arena);
}

TEST(reading_members)
{
    struct err e;
    struct jr r;
    struct str text = STR(
        "{\"n\":12,\"s\":\"a\\tb\",\"d\":1.25,\"t\":true,\"z\":null,\"l\":[1,2,3],"
        "\"o\":{\"x\":[{}]},\"raw\": {\"k\" : 1} }");
    jr_init(&r, text, &arena, &e);
    int64_t n = 0;
    int64_t d = 0;
    int64_t sum = 0;
    struct str s = {0};
    struct str raw = {0};
    bool t = false;
    bool was_null = false;
    uint32_t skipped = 0;
    struct str key;
    for (jr_object(&r); jr_member(&r, &key);) {
        if (str_eq(key, STR("n"))) {
            jr_i64(&r, &n);
        } else if (str_eq(key, STR("s"))) {
            jr_string(&r, &s);
        } else if (str_eq(key, STR("d"))) {
            jr_decimal(&r, 3, &d);
        } else if (str_eq(key, STR("t"))) {
            jr_bool(&r, &t);
        } else if (str_eq(key, STR("z"))) {
            was_null = jr_null(&r);
        } else if (str_eq(key, STR("l"))) {
            for (jr_array(&r); jr_item(&r);) {
                int64_t item = 0;
                if (!jr_null(&r)) {
                    jr_i64(&r, &item);
                }
                sum += item;
            }
        } else if (str_eq(key, STR("raw"))) {
            jr_raw(&r, &raw);
        } else {
            skipped += jr_skip(&r);
        }
    }
    REQUIRE_OK(jr_finish(&r), &e);
    EXPECT_I64(n, 12);
    EXPECT_STR(s, STR("a\tb"));
    EXPECT_I64(d, 1250);
    EXPECT(t);
    EXPECT(was_null);
    EXPECT_I64(sum, 6);
    EXPECT_I64(skipped, 1);
    EXPECT_STR(raw, STR("{\"k\" : 1}"));
    arena_reset(&arena);
}

enum wanted { WANT_OBJECT, WANT_ARRAY, WANT_STRING, WANT_NUMBER, WANT_I64, WANT_BOOL };

// The wrong kind is named, and the output stays as it was.
static const struct {
    const char *name;
    struct str text;
    enum wanted wanted;
    const char *complaint;
} kind_rows[] = {
    {"a list for an object",          STRS("[]"),                     WANT_OBJECT, "expected an object, found a list"      },
    {"nothing for an object",         STRS(""),                       WANT_OBJECT,
     "expected an object, found the end of the text"                                                                       },
    {"null for a list",               STRS("null"),                   WANT_ARRAY,  "expected a list, found null"           },
    {"a number for a text",           STRS("5"),                      WANT_STRING, "expected a text, found a number"       },
    {"a text for a number",           STRS("\"5\""),                  WANT_NUMBER, "expected a number, found a text"       },
    {"true for a number",             STRS("true"),                   WANT_I64,    "expected a number, found true"         },
    {"a number for a bool",           STRS("1"),                      WANT_BOOL,   "expected true or false, found a number"},
    {"a bool cut short",              STRS("tru"),                    WANT_BOOL,   "expected true or false, found tru"     },
    {"a fraction for a whole number", STRS("1.5"),                    WANT_I64,
     "expected a whole number within 64 bits, found 1.5"                                                                   },
    {"beyond 64 bits",                STRS("9223372036854775808"),    WANT_I64,
     "expected a whole number within 64 bits, found 9223372036854775808"                                                   },
    {"an exponent beyond 64 bits",    STRS("1e99999999999999999999"), WANT_I64,
     "expected a whole number within 64 bits, found 1e99999999999999999999"                                                },
};

TEST(wrong_kinds)
{
    for (uint32_t i = 0; i < COUNT_OF(kind_rows); i++) {
        test_row(kind_rows[i].name);
        struct err e = {0};
        struct jr r;
        jr_init(&r, kind_rows[i].text, &arena, &e);
        struct str s = STR("untouched");
        int64_t n = 77;
        bool b = true;
        switch (kind_rows[i].wanted) {
        case WANT_OBJECT:
            EXPECT(!jr_object(&r));
            EXPECT(!jr_member(&r, &s));
            break;
        case WANT_ARRAY:
            EXPECT(!jr_array(&r));
            EXPECT(!jr_item(&r));
            break;
        case WANT_STRING:
            EXPECT(!jr_string(&r, &s));
            break;
        case WANT_NUMBER:
            EXPECT(!jr_number(&r, &s));
            break;
        case WANT_I64:
            EXPECT(!jr_i64(&r, &n));
            break;
        case WANT_BOOL:
            EXPECT(!jr_bool(&r, &b));
            break;
        }
        EXPECT_STATUS(jr_finish(&r), STATUS_INVALID);
        EXPECT_STR(str_from_c(e.text), str_from_c(kind_rows[i].complaint));
        EXPECT_STR(s, STR("untouched"));
        EXPECT_I64(n, 77);
        EXPECT(b);
    }
}

static const struct {
    const char *name;
    struct str text;
    uint32_t scale;
    bool ok;
    int64_t want;
} number_rows[] = {
    {"zero",                               STRS("0"),                           0,  true,  0          },
    {"minus zero",                         STRS("-0.0"),                        0,  true,  0          },
    {"the largest",                        STRS("9223372036854775807"),         0,  true,  INT64_MAX  },
    {"the least",                          STRS("-9223372036854775808"),        0,  true,  INT64_MIN  },
    {"one beyond the least",               STRS("-9223372036854775809"),        0,  false, 0          },
    {"a whole number with a point",        STRS("20000000000.0"),               0,  true,  20000000000},
    {"a whole number with an exponent",    STRS("20e9"),                        0,  true,  20000000000},
    {"a capital and a plus",               STRS("2E+2"),                        0,  true,  200        },
    {"an exponent that makes it whole",    STRS("1.25e2"),                      0,  true,  125        },
    {"an exponent that makes it small",    STRS("12500e-2"),                    0,  true,  125        },
    {"an exponent that leaves a fraction", STRS("125e-1"),                      0,  false, 0          },
    {"decimals",                           STRS("-1.25"),                       3,  true,  -1250      },
    {"needless zeros",                     STRS("1.2500000000000000000000000"), 2,  true,  125        },
    {"more decimals than asked for",       STRS("1.255"),                       2,  false, 0          },
    {"scaled beyond 64 bits",              STRS("10"),                          18, false, 0          },
    {"a fraction at full scale",           STRS("9.223372036854775807"),        18, true,  INT64_MAX  },
    {"zero with a huge exponent",          STRS("0e99"),                        0,  true,  0          },
    {"a huge negative exponent",           STRS("1e-9223372036854775807"),      18, false, 0          },
};

TEST(numbers)
{
    for (uint32_t i = 0; i < COUNT_OF(number_rows); i++) {
        test_row(number_rows[i].name);
        struct err e;
        struct jr r;
        jr_init(&r, number_rows[i].text, &arena, &e);
        int64_t got = 77;
        EXPECT(jr_decimal(&r, number_rows[i].scale, &got) == number_rows[i].ok);
        EXPECT_I64(got, number_rows[i].ok ? number_rows[i].want : 77);
        EXPECT_STATUS(jr_finish(&r), number_rows[i].ok ? STATUS_OK : STATUS_INVALID);
    }
}

TEST(failing_for_the_meaning)
{
    struct err e;
    struct jr r;
    struct str key;
    jr_init(&r, STR("{\"a\": 1,\n \"nope\": 2}"), &arena, &e);
    jr_object(&r);
    jr_member(&r, &key);
    jr_skip(&r);
    jr_member(&r, &key);
    EXPECT(!jr_fail(&r, "unknown key \"" STR_FMT "\"", STR_ARG(key)));
    EXPECT(!jr_member(&r, &key));
    EXPECT_STATUS(jr_finish(&r), STATUS_INVALID);
    EXPECT_STR(str_from_c(e.text), STR("unknown key \"nope\""));
    EXPECT_I64(e.line, 2);
    EXPECT_I64(e.col, 2);
    // The first mistake is the one that is kept, and an err is not needed.
    jr_init(&r, STR("x"), &arena, NULL);
    EXPECT(!jr_skip(&r));
    EXPECT(!jr_fail(&r, "later"));
    EXPECT_STATUS(jr_finish(&r), STATUS_INVALID);
}

TEST(writing)
{
    struct buf b;
    buf_init(&b, 4096);
    struct jw w;
    jw_init(&w, &b, true);
    jw_object_begin(&w);
    jw_member_string(&w, STR("name"), STR("a \"b\"\\\n\x01\x7f"));
    jw_member_i64(&w, STR("least"), INT64_MIN);
    jw_member_bool(&w, STR("yes"), true);
    jw_key(&w, STR("list"));
    jw_array_begin(&w);
    jw_u64(&w, UINT64_MAX);
    jw_null(&w);
    jw_object_begin(&w);
    jw_object_end(&w);
    jw_array_begin(&w);
    jw_array_end(&w);
    jw_raw(&w, STR("[1]"));
    jw_array_end(&w);
    jw_object_end(&w);
    EXPECT_STR(buf_view(&b), STR("{\n"
                                 "  \"name\": \"a \\\"b\\\"\\\\\\n\\u0001\x7f\",\n"
                                 "  \"least\": -9223372036854775808,\n"
                                 "  \"yes\": true,\n"
                                 "  \"list\": [\n"
                                 "    18446744073709551615,\n"
                                 "    null,\n"
                                 "    {},\n"
                                 "    [],\n"
                                 "    [1]\n"
                                 "  ]\n"
                                 "}"));
    buf_done(&b);
}

static const struct {
    const char *name;
    int64_t value;
    uint32_t scale;
    struct str want;
} decimal_rows[] = {
    {"whole",            12000,     3,  STRS("12")                   },
    {"a fraction",       1500,      3,  STRS("1.5")                  },
    {"small",            5,         3,  STRS("0.005")                },
    {"minus a fraction", -50,       3,  STRS("-0.05")                },
    {"zero",             0,         18, STRS("0")                    },
    {"no scale",         -7,        0,  STRS("-7")                   },
    {"the least",        INT64_MIN, 18, STRS("-9.223372036854775808")},
};

TEST(decimals)
{
    struct buf b;
    buf_init(&b, 64);
    for (uint32_t i = 0; i < COUNT_OF(decimal_rows); i++) {
        test_row(decimal_rows[i].name);
        buf_clear(&b);
        struct jw w;
        jw_init(&w, &b, false);
        jw_decimal(&w, decimal_rows[i].value, decimal_rows[i].scale);
        EXPECT_STR(buf_view(&b), decimal_rows[i].want);
    }
    buf_done(&b);
}

TEST(bad_bytes_become_replacement_characters)
{
    struct buf b;
    buf_init(&b, 64);
    struct jw w;
    jw_init(&w, &b, false);
    jw_string(&w, (struct str){"a\xff\xc3\xa9\xe2\x82", 6});
    EXPECT_STR(buf_view(&b), STR("\"a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\""));
    buf_done(&b);
}

TEST(foreign_numbers_become_strings)
{
    struct doc hex = {.kind = DOC_NUMBER, .text = STR("0x1f")};
    EXPECT_STR(written(&hex, false), STR("\"0x1f\""));
    struct doc fraction = {.kind = DOC_NUMBER, .text = STR(".5")};
    EXPECT_STR(written(&fraction, false), STR("\".5\""));
    struct doc number = {.kind = DOC_NUMBER, .text = STR("-1.5e3")};
    EXPECT_STR(written(&number, false), STR("-1.5e3"));
}

TEST(calls_that_make_no_json_panic)
{
    struct buf b;
    buf_init(&b, 256);
    struct jw w;
    jw_init(&w, &b, false);
    EXPECT_PANIC(jw_key(&w, STR("outside")));
    EXPECT_PANIC(jw_array_end(&w));
    jw_object_begin(&w);
    EXPECT_PANIC(jw_null(&w));
    EXPECT_PANIC(jw_array_end(&w));
    jw_key(&w, STR("k"));
    EXPECT_PANIC(jw_key(&w, STR("k")));
    EXPECT_PANIC(jw_object_end(&w));
    jw_null(&w);
    jw_object_end(&w);
    EXPECT_PANIC(jw_null(&w));
    EXPECT_STR(buf_view(&b), STR("{\"k\":null}"));
    buf_done(&b);
    struct jr r;
    jr_init(&r, STR("1 2"), &arena, NULL);
    jr_skip(&r);
    EXPECT_PANIC(jr_skip(&r));
}

TEST(a_full_buffer_is_said)
{
    struct buf b;
    buf_init(&b, 10);
    struct jw w;
    jw_init(&w, &b, false);
    jw_string(&w, STR("0123456789"));
    EXPECT(b.full);
    EXPECT_I64((int64_t)b.len, 10);
    buf_done(&b);
}

// Any bytes at all: tree and skip agree, and an accepted text written and read again is the same.
TEST(random_bytes)
{
    static const char pieces[][8] = {"{",  "}",  "[",  "]",       ",",        ":",    "\"a\"",
                                     "\"", "1",  "-",  "0.5",     "e3",       "true", "null",
                                     " ",  "\n", "\\", "\\u00e9", "\xc3\xa9", "\xff", "{\"k\":"};
    struct prng p;
    prng_init(&p, test_seed());
    uint32_t accepted = 0;
    for (uint32_t round = 0; round < 20000; round++) {
        struct buf b;
        buf_init(&b, 4096);
        uint32_t count = prng_below(&p, 12) + 1;
        for (uint32_t i = 0; i < count; i++) {
            buf_str(&b, str_from_c(pieces[prng_below(&p, COUNT_OF(pieces))]));
        }
        struct str text = buf_view(&b);
        test_row(arena_cstr(&arena, text));
        struct err e = {0};
        struct err skip_e = {0};
        struct doc *d;
        enum status s = json_doc(text, &arena, &d, &e);
        EXPECT_STATUS(skip_whole(text, &skip_e), s);
        EXPECT_I64(skip_e.col, e.col);
        if (s == STATUS_OK) {
            accepted++;
            struct str once = written(d, true);
            struct doc *again;
            REQUIRE_OK(json_doc(once, &arena, &again, &e), &e);
            EXPECT_STR(written(again, true), once);
        }
        buf_done(&b);
        arena_reset(&arena);
    }
    EXPECT(accepted > 100);
    arena_done(&arena);
}

TEST_MAIN()

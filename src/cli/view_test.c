// SPDX-License-Identifier: Apache-2.0
#include "cli/view.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/test.h"
#include "cli/form.h"
#include "cli/picture.h"
#include "cli/table.h"
#include "codec/json.h"
#include "io/yaml.h"

enum { TEXT_MAX = 1 << 20 };

static const struct doc *doc_of(struct arena *arena, const char *json)
{
    struct doc *doc;
    struct err err = {0};
    REQUIRE_OK(json_doc(str_from_c(json), arena, &doc, &err), &err);
    return doc;
}

TEST(amounts_as_a_person_reads_them)
{
    static const struct {
        const char *json, *bytes, *span, *decimal;
    } rows[] = {
        {"{\"v\":0}",                   "0 B",       "0s",               "0"          },
        {"{\"v\":1023}",                "1023 B",    "1s",               "1023"       },
        {"{\"v\":1536}",                "1.5 KiB",   "1s",               "1536"       },
        {"{\"v\":85899345920}",         "80 GiB",    "994d 4h",          "85899345920"},
        {"{\"v\":9223372036854775807}", "7.9 EiB",   "106751991167d 7h", "-"          },
        {"{\"v\":312000}",              "304.6 KiB", "5m 12s",           "312000"     },
        {"{\"v\":3600000}",             "3.4 MiB",   "1h",               "3600000"    },
        {"{\"v\":null}",                "-",         "0s",               "-"          },
        {"{}",                          "-",         "0s",               "-"          },
        {"{\"v\":2.5}",                 "-",         "0s",               "2.5"        },
        {"{\"v\":0.14285714285}",       "-",         "0s",               "0.142857"   },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena = {0};
        test_row(rows[i].json);
        const struct doc *d = doc_of(&arena, rows[i].json);
        int64_t millionths = view_millionths(d, "v", -1);
        EXPECT_STR(view_bytes(&arena, d, "v"), str_from_c(rows[i].bytes));
        EXPECT_STR(view_span(&arena, view_i64(d, "v", 0)), str_from_c(rows[i].span));
        EXPECT_STR(millionths < 0 ? STR("-") : view_decimal(&arena, millionths),
                   str_from_c(rows[i].decimal));
        arena_done(&arena);
    }
    test_row(NULL);
}

TEST(text_for_a_terminal_is_harmless_and_fits)
{
    struct arena arena = {0};
    setlocale(LC_CTYPE, "C.UTF-8");
    EXPECT_STR(view_harmless(&arena, STR("a\033[31mb\nc\x7f\xc2\x9b"
                                         "d")),
               STR("a [31mb c  d"));
    EXPECT_STR(view_harmless(&arena, STR("Größe ✓")), STR("Größe ✓"));
    EXPECT_I64(view_width(STR("Größe ✓")), 7);
    EXPECT_STR(view_harmless(&arena, STR("a\u202eb\u2066c\u200fd\u2028e\u061cf\u2029")),
               STR("a b c d e f "));
    EXPECT_STR(view_harmless(&arena, STR("“a” – b…")), STR("“a” – b…"));
    EXPECT_I64(view_width(STR("漢字")), 4);
    EXPECT_I64(view_width(STR("e\u0301a\u0308")), 2); // combining marks take no column
    EXPECT_STR(view_shorten(&arena, STR("漢字漢字"), 5), STR("漢字…"));
    EXPECT_STR(view_shorten(&arena, STR("short"), 5), STR("short"));
    EXPECT_STR(view_shorten(&arena, STR("longer"), 5), STR("long…"));
    EXPECT_STR(view_command(&arena, doc_of(&arena, "[\"sh\",\"-c\",\"echo it's $x\",\"\"]")),
               STR("sh -c 'echo it'\\''s $x' ''"));
    arena_done(&arena);
}

TEST(times_in_sentences_are_local)
{
    static const struct {
        const char *name;
        struct str text, want;
    } rows[] = {
        {"none",            STRS("It waits."),                                         STRS("It waits.")                  },
        {"one",             STRS("It waits until 2026-11-30T23:04:51.123Z."),
         STRS("It waits until 2026-12-01 02:04:51.")                                                                      },
        {"nothing but one", STRS("2026-11-30T23:04:51.123Z"),                          STRS("2026-12-01 02:04:51")        },
        {"two",             STRS("2026-01-01T00:00:00.000Z/2026-01-02T00:00:00.000Z"),
         STRS("2026-01-01 03:00:00/2026-01-02 03:00:00")                                                                  },
        {"no such day",     STRS("at 2026-02-30T00:00:00.000Z"),                       STRS("at 2026-02-30T00:00:00.000Z")},
        {"cut short",       STRS("at 2026-02-03T00:00:00.000"),                        STRS("at 2026-02-03T00:00:00.000") },
    };
    struct arena arena = {0};
    setenv("TZ", "UTC-3", 1);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        EXPECT_STR(view_sentence(&arena, rows[i].text), rows[i].want);
    }
    test_row(NULL);
    arena_done(&arena);
}

// Every document comes back from its YAML as it was.
TEST(yaml_comes_back)
{
    static const char *const rows[] = {
        "null",
        "[]",
        "{}",
        "\"\"",
        "{\"a\":1,\"b\":[1,2,{\"c\":null}],\"d\":{\"e\":{},\"f\":[]}}",
        "[[1,2],[[3]],[]]",
        "[{\"a\":{\"b\":1},\"c\":2},{\"d\":3}]",
        "{\"yes\":\"no\",\"8\":\"8\",\"null\":\"null\",\"~\":\"~\",\"t\":true,\"x\":1.50}",
        "{\"a b\":\"c: d\",\"#\":\"# no comment\",\"-\":\"- x\",\"q\":\"\\\"\\n\\t\\u00e9\"}",
        "{\"time\":\"2026-11-30T23:04:51.123Z\",\"path\":\"/run/weir\",\"sp\":\"a b \",\"e\":\"\"}",
        "{\"image\":\"reg:5000/x\",\"n\":-3,\"f\":1e3,\"on\":\"off\",\"_\":\"=\",\"hex\":\"0x1f\"}",
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena = {0};
        struct buf yaml, again, first;
        struct problems problems;
        const struct doc *back = NULL;
        test_row(rows[i]);
        buf_init(&yaml, TEXT_MAX);
        buf_init(&again, TEXT_MAX);
        buf_init(&first, TEXT_MAX);
        problems_init(&problems, &arena);
        const struct doc *d = doc_of(&arena, rows[i]);
        form_yaml(d, &yaml);
        REQUIRE(yaml_parse(buf_view(&yaml), &arena, &back, &problems) == STATUS_OK);
        form_json(d, &first);
        form_json(back, &again);
        EXPECT_STR(buf_view(&again), buf_view(&first));
        buf_done(&yaml);
        buf_done(&again);
        buf_done(&first);
        arena_done(&arena);
    }
    test_row(NULL);
}

TEST(bars_are_drawn_to_scale)
{
    static const struct {
        const char *name;
        int64_t solid, hatched, whole;
        const char *want;
    } rows[] = {
        {"nothing",               0, 0, 4,    "[        ]"},
        {"a quarter",             1, 0, 4,    "[██      ]"},
        {"all",                   4, 0, 4,    "[████████]"},
        {"more than there is",    9, 0, 4,    "[████████]"},
        {"a part of a cell",      5, 0, 32,   "[█▎      ]"},
        {"own and borrowed",      2, 1, 4,    "[████▒▒  ]"},
        {"too little to be seen", 1, 0, 1000, "[        ]"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf b;
        test_row(rows[i].name);
        buf_init(&b, TEXT_MAX);
        const struct view_bar_part parts[] = {
            {rows[i].solid,   NULL, TINT_GOOD},
            {rows[i].hatched, "▒",  TINT_WAIT}
        };
        buf_char(&b, '[');
        view_bar(&b, parts, COUNT_OF(parts), rows[i].whole, 8, false);
        buf_char(&b, ']');
        EXPECT_STR(buf_view(&b), str_from_c(rows[i].want));
        buf_done(&b);
    }
    test_row(NULL);
}

TEST(picture_of_a_pool)
{
    struct arena arena = {0};
    struct buf b;
    buf_init(&b, TEXT_MAX);
    setlocale(LC_CTYPE, "C.UTF-8");
    const struct doc *pool = doc_of(
        &arena,
        "{\"name\":\"validation\",\"gpus\":4,\"gpus_held\":3.5,\"queues\":["
        "{\"kind\":\"department\",\"name\":\"platform\",\"parent\":\"\",\"guaranteed_gpus\":4,"
        "\"held_gpus\":3.5,\"over_quota_gpus\":0},"
        "{\"kind\":\"project\",\"name\":\"team-a\",\"parent\":\"platform\","
        "\"guaranteed_gpus\":2,\"held_gpus\":3,\"over_quota_gpus\":1},"
        "{\"kind\":\"project\",\"name\":\"team-b\",\"parent\":\"platform\","
        "\"guaranteed_gpus\":2,\"held_gpus\":0.5,\"over_quota_gpus\":0},"
        "{\"kind\":\"project\",\"name\":\"idle\",\"parent\":\"platform\",\"guaranteed_gpus\":0,"
        "\"held_gpus\":0,\"over_quota_gpus\":0}]}");
    picture_pool(&arena, pool, 68, false, &b);
    EXPECT_STR(buf_view(&b),
               STR("  platform\n"
                   "  team-a ▕████████▒▒▒▒    ▏ 2 of 2 guaranteed, 1 borrowed\n"
                   "  team-b ▕██······        ▏ 0.5 of 2 guaranteed\n"
                   "  free   ▕░░              ▏ 0.5 of 4\n\n"
                   "  █ held of the guarantee   ▒ borrowed   · guaranteed, not in use   ░ free\n"));
    buf_done(&b);
    arena_done(&arena);
}

static struct str printed(struct arena *arena, const struct table *t, uint32_t width)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    REQUIRE(out != NULL);
    table_print(t, out, width, false);
    fclose(out);
    struct str s = arena_str(arena, (struct str){text, (uint32_t)len});
    free(text);
    return s;
}

/* What cannot be left out comes first: 40 columns of the reason go before the spare ones. */
TEST(spare_columns_make_room_for_the_reason)
{
    static const struct column columns[] = {
        {"name", "NAME",     0                          },
        {"kind", "KIND",     COLUMN_SPARE               },
        {"why",  "REASON",   COLUMN_FLEX                },
        {"age",  "LONG AGE", COLUMN_RIGHT | COLUMN_SPARE},
    };
    static const struct {
        uint32_t width;
        struct str want;
    } rows[] = {
        {100,
         STRS("NAME  KIND     REASON                                              LONG AGE\n"
              "one   spare 1  a reason of just more than forty characters, or 50        10\n")           },
        {70,  STRS("NAME  KIND     REASON                                         LONG AGE\n"
                  "one   spare 1  a reason of just more than forty characters,…        10\n")},
        {60,  STRS("NAME  KIND     REASON\n"
                  "one   spare 1  a reason of just more than forty characters,…\n")          },
        {50,  STRS("NAME  REASON\n"
                  "one   a reason of just more than forty characters…\n")                    },
        {30,  STRS("NAME  REASON\n"
                  "one   a reason of just more t…\n")                                        },
    };
    struct arena arena = {0};
    struct table t;
    setlocale(LC_CTYPE, "C.UTF-8");
    table_init(&t, &arena, columns, COUNT_OF(columns));
    uint32_t row = table_row(&t, ROW_NONE);
    table_set(&t, row, 0, STR("one"));
    table_set(&t, row, 1, STR("spare 1"));
    table_set(&t, row, 2, STR("a reason of just more than forty characters, or 50"));
    table_set(&t, row, 3, STR("10"));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        EXPECT_STR(printed(&arena, &t, rows[i].width), rows[i].want);
    }
    arena_done(&arena);
}

TEST(tables_fit_and_columns_are_chosen)
{
    static const struct column columns[] = {
        {"name", "NAME",   COLUMN_TREE },
        {"n",    "N",      COLUMN_RIGHT},
        {"why",  "REASON", COLUMN_FLEX },
        {"id",   "ID",     COLUMN_EXTRA},
    };
    struct arena arena = {0};
    struct table t;
    struct err err = {0};
    setlocale(LC_CTYPE, "C.UTF-8");
    table_init(&t, &arena, columns, COUNT_OF(columns));
    uint32_t top = table_row(&t, ROW_NONE), below = table_row(&t, top);
    table_set(&t, top, 0, STR("one"));
    table_set(&t, top, 1, STR("10"));
    table_set(&t, top, 2, STR("a reason that is rather long"));
    table_set(&t, below, 0, STR("two"));
    table_set(&t, below, 1, STR("9"));
    table_set(&t, below, 2, STR("-"));
    table_set(&t, below, 3, STR("x"));
    EXPECT_STR(printed(&arena, &t, 0), STR("NAME    N  REASON\n"
                                           "one    10  a reason that is rather long\n"
                                           "└─two   9  -\n"));
    EXPECT_STR(printed(&arena, &t, 30), STR("NAME    N  REASON\n"
                                            "one    10  a reason that is r…\n"
                                            "└─two   9  -\n"));
    // Narrower still, texts are shortened; numbers never are.
    EXPECT_STR(printed(&arena, &t, 20), STR("NAME    N  REASON\n"
                                            "one    10  a reason…\n"
                                            "└─two   9  -\n"));
    REQUIRE_OK(table_choose(&t, STR("id, Reason"), &err), &err);
    t.headings = false;
    EXPECT_STR(printed(&arena, &t, 0), STR("    a reason that is rather long\n"
                                           "x   -\n"));
    EXPECT_STATUS(table_choose(&t, STR("naem"), &err), STATUS_INVALID);
    EXPECT_STR(str_from_c(err.text), STR("unknown column \"naem\""));
    EXPECT_STR(str_from_c(err.hint), STR("did you mean name?"));
    EXPECT_STATUS(table_choose(&t, STR("zzzzzz"), &err), STATUS_INVALID);
    EXPECT_STR(str_from_c(err.text), STR("unknown column \"zzzzzz\": there are name, n, why, id"));
    arena_done(&arena);
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
#include "io/yaml.h"

#include <string.h>

#include "base/buf.h"
#include "base/test.h"

static struct arena arena;
static struct problems problems;

static const struct doc *parse(struct str bytes, enum status want)
{
    const struct doc *root = NULL;
    arena_done(&arena);
    arena_init(&arena, 0);
    problems_init(&problems, &arena);
    EXPECT_STATUS(yaml_parse(bytes, &arena, &root, &problems), want);
    EXPECT((root != NULL) == (want == STATUS_OK));
    EXPECT((problems.error_count > 0) == (want != STATUS_OK));
    return root;
}

TEST(values)
{
    static const struct {
        const char *name;
        struct str in;
        struct str path;
        enum doc_kind kind;
        struct str text;
        uint32_t line, col;
    } rows[] = {
        {"a number",                                 STRS("a: 12\n"),                                     STRS("a"),         DOC_NUMBER, STRS("12"),           1, 4 },
        {"a fraction",                               STRS("a: -0.50\n"),                                  STRS("a"),         DOC_NUMBER, STRS("-0.50"),        1, 4 },
        {"an exponent",                              STRS("a: 1e3\n"),                                    STRS("a"),         DOC_NUMBER, STRS("1e3"),          1, 4 },
        {"beyond 64 bits",                           STRS("a: 99999999999999999999\n"),                   STRS("a"),         DOC_NUMBER,
         STRS("99999999999999999999"),                                                                                                                         1, 4 },
        {"a unit makes a text",                      STRS("a: 12000m\n"),                                 STRS("a"),         DOC_STRING, STRS("12000m"),       1, 4 },
        {"hexadecimal is a text",                    STRS("a: 0x10\n"),                                   STRS("a"),         DOC_STRING, STRS("0x10"),         1, 4 },
        {"infinity is a text",                       STRS("a: .inf\n"),                                   STRS("a"),         DOC_STRING, STRS(".inf"),         1, 4 },
        {"a sign alone is a text",                   STRS("a: +\n"),                                      STRS("a"),         DOC_STRING, STRS("+"),            1, 4 },
        {"true",                                     STRS("a: true\n"),                                   STRS("a"),         DOC_BOOL,   STRS("true"),         1, 4 },
        {"False",                                    STRS("a: False\n"),                                  STRS("a"),         DOC_BOOL,   STRS("False"),        1, 4 },
        {"yes is a text",                            STRS("a: yes\n"),                                    STRS("a"),         DOC_STRING, STRS("yes"),          1, 4 },
        {"null",                                     STRS("a: null\n"),                                   STRS("a"),         DOC_NULL,   STRS("null"),         1, 4 },
        {"tilde",                                    STRS("a: ~\n"),                                      STRS("a"),         DOC_NULL,   STRS("~"),            1, 4 },
        {"nothing is at its key",                    STRS("x: 1\na:\n"),                                  STRS("a"),         DOC_NULL,   STRS(""),             2, 1 },
        {"quoted number",                            STRS("a: \"8\"\n"),                                  STRS("a"),         DOC_STRING, STRS("8"),            1, 4 },
        {"single quotes",                            STRS("a: 'it''s'\n"),                                STRS("a"),         DOC_STRING, STRS("it's"),         1, 4 },
        {"escapes",                                  STRS("a: \"x\\ty\\u00e9\"\n"),                       STRS("a"),         DOC_STRING, STRS("x\ty\xc3\xa9"), 1,
         4                                                                                                                                                          },
        {"a block",                                  STRS("a: |\n  8\n"),                                 STRS("a"),         DOC_STRING, STRS("8\n"),          2, 1 },
        {"tagged text",                              STRS("a: !!str 8\n"),                                STRS("a"),         DOC_STRING, STRS("8"),            1, 10},
        {"columns count characters",                 STRS("\xc3\xa9: \"\xc3\xa9\"\n"),                    STRS("\xc3\xa9"),  DOC_STRING,
         STRS("\xc3\xa9"),                                                                                                                                     1, 4 },
        {"carriage returns",                         STRS("x: 1\r\na: 2\r\n"),                            STRS("a"),         DOC_NUMBER, STRS("2"),            2, 4 },
        {"byte order mark",
         STRS("\xef\xbb\xbf"
              "a: 2\n"),
         STRS("a"),                                                                                                          DOC_NUMBER, STRS("2"),            1, 4 },
        {"in lists",                                 STRS("a:\n  - x\n  - {b: [1, 2]}\n"),                STRS("a[1].b[1]"), DOC_NUMBER, STRS("2"),
         3,                                                                                                                                                       13},
        {"the first of two keys",                    STRS("a: 1\na: 2\n"),                                STRS("a"),         DOC_NUMBER, STRS("1"),            1, 4 },
        {"JSON",                                     STRS("{\"a\": [true, 1.5]}"),                        STRS("a[1]"),      DOC_NUMBER, STRS("1.5"),          1, 14},
        {"a scalar document",                        STRS("7"),                                           STRS(""),          DOC_NUMBER, STRS("7"),            1, 1 },
        {"an empty document",                        STRS(""),                                            STRS(""),          DOC_NULL,   STRS(""),             1, 1 },
        {"only a comment",                           STRS("# nothing\n"),                                 STRS(""),          DOC_NULL,   STRS(""),             1, 1 },
        {"markers",                                  STRS("---\na: 1\n...\n"),                            STRS("a"),         DOC_NUMBER, STRS("1"),            2, 4 },
        {"an alias keeps the place of the original", STRS("x: &n 5\na: *n\n"),                            STRS("a"),
         DOC_NUMBER,                                                                                                                     STRS("5"),            1, 7 },
        {"an alias of a tree",                       STRS("x: &n {y: [1, {z: 2}], w: 3}\na: [*n, *n]\n"),
         STRS("a[1].y[1].z"),                                                                                                DOC_NUMBER, STRS("2"),            1, 19},
        {"after an alias of a tree",                 STRS("x: &n {y: [1]}\na: [*n, 4]\n"),                STRS("a[1]"),      DOC_NUMBER,
         STRS("4"),                                                                                                                                            2, 9 },
        {"the later anchor of a name",               STRS("- &n 1\n- &n 2\n- *n\n"),                      STRS("[2]"),       DOC_NUMBER,
         STRS("2"),                                                                                                                                            2, 6 },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        const struct doc *root = parse(rows[i].in, STATUS_OK);
        const struct doc *at = root ? doc_at(root, rows[i].path) : NULL;
        if (EXPECT(at != NULL)) {
            EXPECT_I64(at->kind, rows[i].kind);
            EXPECT_STR(at->text, rows[i].text);
            EXPECT_I64(at->line, rows[i].line);
            EXPECT_I64(at->col, rows[i].col);
        }
    }
    test_row(NULL);
    arena_done(&arena);
}

TEST(keys_and_counts)
{
    const struct doc *root = parse(STR("a: 1\nlist:\n  - x\n  - y\na: 2\n'q k' : 3\n"), STATUS_OK);
    REQUIRE(root != NULL);
    EXPECT_I64(root->child_count, 4);
    EXPECT_I64(doc_get(root, STR("list"))->child_count, 2);
    EXPECT_I64(doc_get(root, STR("list"))->key_line, 2);
    EXPECT_I64(doc_get(root, STR("list"))->key_col, 1);
    EXPECT_I64(doc_get(root, STR("q k"))->key_line, 6);
    EXPECT_I64(doc_get(root, STR("q k"))->key_col, 1);
    arena_done(&arena);
}

TEST(refused)
{
    static const struct {
        const char *name;
        struct str in;
        enum status status;
        uint32_t line, col;
        struct str text, hint;
    } rows[] = {
        {"unclosed list",       STRS("a: [1,\nb: 2\n"),           STATUS_INVALID, 0, 0,  STRS(""),
         STRS("in the list that begins on line 1")                                                                                                               },
        {"indentation",         STRS("a: 1\n b: 2\n"),            STATUS_INVALID, 1, 4,  STRS(""),
         STRS("in the map that begins on line 1")                                                                                                                },
        {"a tab",               STRS("a:\n\tb: 2\n"),             STATUS_INVALID, 2, 0,  STRS(""),
         STRS("indent with spaces, not tabs")                                                                                                                    },
        {"no UTF-8",            STRS("a: 1\nb: \xff\n"),          STATUS_INVALID, 2, 4,
         STRS("this byte is not UTF-8 text"),                                                                                 STRS("save the file as UTF-8")     },
        {"cut UTF-8",           STRS("\xc3\xa9\xc3\xa9\xe2\x82"), STATUS_INVALID, 1, 3,
         STRS("this byte is not UTF-8 text"),                                                                                 STRS("save the file as UTF-8")     },
        {"UTF-16",              STRS("a\0:\0"),                   STATUS_INVALID, 1, 2,  STRS("this byte is not UTF-8 text"),
         STRS("save the file as UTF-8")                                                                                                                          },
        {"NUL by an escape",    STRS("a: \"x\\0\"\n"),            STATUS_INVALID, 1, 4,
         STRS("expected text without NUL characters"),                                                                        STRS("remove the escape \\0")      },
        {"two documents",       STRS("a: 1\n---\nb: 2\n"),        STATUS_INVALID, 2, 1,
         STRS("expected one document, a second begins here"),
         STRS("put it into a file of its own")                                                                                                                   },
        {"a list as key",       STRS("? [a]\n: 1\n"),             STATUS_INVALID, 1, 3,
         STRS("a key must be text, not a map or list"),                                                                       STRS("")                           },
        {"an alias as key",     STRS("x: &n a\n*n : 1\n"),        STATUS_INVALID, 2, 1,
         STRS("a key must be text, not an alias"),                                                                            STRS("")                           },
        {"an alias of nothing", STRS("a: *n\n"),                  STATUS_INVALID, 1, 4,
         STRS("the alias names nothing above it"),                                                                            STRS("define it before with &name")},
        {"an alias of itself",  STRS("a: &n [1, *n]\n"),          STATUS_INVALID, 1, 11,
         STRS("the alias is inside of what it names"),                                                                        STRS("")                           },
        {"a tag",               STRS("a: !secret x\n"),           STATUS_INVALID, 1, 12,
         STRS("tags (!name) have no meaning here"),                                                                           STRS("remove the tag")             },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        parse(rows[i].in, rows[i].status);
        if (!EXPECT(problems.count > 0)) {
            continue;
        }
        const struct problem *p = &problems.items[0];
        EXPECT_STATUS(p->status, rows[i].status);
        EXPECT(rows[i].line == 0 || p->line == rows[i].line);
        EXPECT(rows[i].col == 0 || p->col == rows[i].col);
        EXPECT(p->text.len > 0);
        if (rows[i].text.len > 0) {
            EXPECT_STR(p->text, rows[i].text);
        }
        EXPECT_STR(p->hint, rows[i].hint);
    }
    test_row(NULL);
    arena_done(&arena);
}

/* repeated: before, `unit` times count, after. */
static struct str repeated(struct buf *buf, const char *before, const char *unit, uint32_t count,
                           const char *after)
{
    buf_done(buf);
    buf_init(buf, (size_t)2 * YAML_BYTES_MAX);
    buf_str(buf, str_from_c(before));
    for (uint32_t i = 0; i < count; i++) {
        buf_str(buf, str_from_c(unit));
    }
    buf_str(buf, str_from_c(after));
    return buf_view(buf);
}

TEST(limits)
{
    struct buf buf = {0};
    static const struct {
        const char *name, *before, *unit, *after;
        uint32_t count;
        enum status status;
    } rows[] = {
        {"as deep as allowed",        "",              "[",      "", YAML_DEPTH_MAX,           STATUS_INVALID  }, // not closed
        {"one deeper",                "",              "[",      "", YAML_DEPTH_MAX + 1,       STATUS_TOO_LARGE},
        {"100,000 deep, flow lists",  "",              "[",      "", 100000,                   STATUS_TOO_LARGE},
        {"100,000 deep, flow maps",   "",              "{a: ",   "", 100000,                   STATUS_TOO_LARGE},
        {"100,000 deep, block lists", "",              "- ",     "", 100000,                   STATUS_TOO_LARGE},
        {"100,000 keys of keys",      "",              "? ",     "", 100000,                   STATUS_INVALID  },
        {"as many values as allowed", "",              "- a\n",  "", YAML_NODES_MAX - 1,       STATUS_OK       },
        {"one value more",            "",              "- a\n",  "", YAML_NODES_MAX,           STATUS_TOO_LARGE},
        {"as many bytes as allowed",  "a: ",           "x",      "", YAML_BYTES_MAX - 3,       STATUS_OK       },
        {"one byte more",             "a: ",           "x",      "", YAML_BYTES_MAX - 2,       STATUS_TOO_LARGE},
        {"aliases as allowed",        "a: &a 1\nb:\n", "- *a\n", "", YAML_ALIAS_NODES_MAX,     STATUS_OK       },
        {"one alias more",            "a: &a 1\nb:\n", "- *a\n", "", YAML_ALIAS_NODES_MAX + 1,
         STATUS_TOO_LARGE                                                                                      },
        {"nothing but anchors",       "",              "&a ",    "", 1000000,                  STATUS_INVALID  },
        {"nothing but documents",     "",              "---\n",  "", 1000000,                  STATUS_INVALID  },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        parse(repeated(&buf, rows[i].before, rows[i].unit, rows[i].count, rows[i].after),
              rows[i].status);
    }
    test_row(NULL);
    buf_done(&buf);
    arena_done(&arena);
}

TEST(a_billion_laughs)
{
    struct buf buf;
    buf_init(&buf, 1 << 16);
    buf_str(&buf, STR("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n"));
    for (int i = 1; i < 12; i++) {
        buf_printf(&buf, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; k++) {
            buf_printf(&buf, "%s*a%d", k > 0 ? ", " : "", i - 1);
        }
        buf_str(&buf, STR("]\n"));
    }
    parse(buf_view(&buf), STATUS_TOO_LARGE);
    buf_done(&buf);
    arena_done(&arena);
}

TEST(deep_aliases)
{
    struct buf buf;
    buf_init(&buf, 1 << 16);
    buf_str(&buf, STR("a0: &a0 [x]\n"));
    for (int i = 1; i < 100; i++) {
        buf_printf(&buf, "a%d: &a%d [*a%d]\n", i, i, i - 1);
    }
    parse(buf_view(&buf), STATUS_TOO_LARGE);
    buf_done(&buf);
    arena_done(&arena);
}

TEST_MAIN()

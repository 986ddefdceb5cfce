// SPDX-License-Identifier: Apache-2.0
#include "base/err.h"

#include <string.h>

#include "base/doc.h"
#include "base/test.h"

static struct arena arena;

TEST(statuses)
{
    for (int i = 0; i < STATUS_COUNT; i++) {
        const struct status_info *info = status_info((enum status)i);
        EXPECT(info->name != NULL);
        EXPECT((info->exit == 0) == (i == STATUS_OK));
        EXPECT(info->http >= 200 && info->http < 600);
        for (int j = 0; j < i; j++) {
            EXPECT(strcmp(info->name, status_info((enum status)j)->name) != 0);
        }
    }
    EXPECT_I64(status_info(STATUS_BUSY)->http, 503);
    EXPECT(status_info(STATUS_BUSY)->retry);
    EXPECT(!status_info(STATUS_INVALID)->retry);
}

TEST(setting)
{
    struct err e;
    memset(&e, 'x', sizeof(e));
    EXPECT_STATUS(err_set(&e, STATUS_INVALID, "expected %d, got \"%s\"", 1, "two"), STATUS_INVALID);
    EXPECT_STR(str_from_c(e.text), STR("expected 1, got \"two\""));
    EXPECT_STR(str_from_c(e.file), STR(""));
    EXPECT_STR(str_from_c(e.field), STR(""));
    EXPECT_STR(str_from_c(e.hint), STR(""));
    EXPECT_I64(e.line, 0);
    EXPECT(strstr(e.source, "err_test.c:") != NULL);
    EXPECT_STATUS(err_field(&e, "a[%d]", 0), STATUS_INVALID);
    EXPECT_STATUS(err_hint(&e, "try 1"), STATUS_INVALID);
    EXPECT_STATUS(err_wrap(&e, "file %d", 7), STATUS_INVALID);
    EXPECT_STR(str_from_c(e.text), STR("file 7: expected 1, got \"two\""));
    EXPECT_STR(str_from_c(e.field), STR("a[0]"));
    // The text of an err may be an argument of its next text.
    err_set(&e, STATUS_IO, "again: %s", e.text);
    EXPECT_STR(str_from_c(e.text), STR("again: file 7: expected 1, got \"two\""));
    EXPECT_STATUS(e.status, STATUS_IO);
    EXPECT_STATUS(err_set(NULL, STATUS_BUSY, "nobody looks"), STATUS_BUSY);
    EXPECT_STATUS(err_field(NULL, "f"), STATUS_INTERNAL);
}

TEST(long_texts_are_cut_between_characters)
{
    char text[600];
    for (uint32_t i = 0; i < sizeof(text) - 1; i++) {
        text[i] = i % 2 == 0 ? '\xc3' : '\xa9';
    }
    text[sizeof(text) - 2] = '\0';
    struct err e;
    err_set(&e, STATUS_INVALID, "%s", text);
    EXPECT_I64((int64_t)strlen(e.text), sizeof(e.text) - 2);
    EXPECT(str_is_utf8(str_from_c(e.text)));
    err_wrap(&e, "x");
    EXPECT_I64((int64_t)strlen(e.text), sizeof(e.text) - 1);
    EXPECT(str_is_utf8(str_from_c(e.text)));
    err_field(&e, "%s", text);
    EXPECT(str_is_utf8(str_from_c(e.field)));
}

static const struct {
    const char *name;
    struct err e;
    struct str want;
} format_rows[] = {
    {"all parts",
     {STATUS_INVALID, "plan.yaml", 3, 5, "a.b", "bad", "do", NULL},
     STRS("plan.yaml:3:5: a.b: bad (do)")                                                          },
    {"text alone",              {STATUS_INVALID, "", 0, 0, "", "bad", "", NULL},   STRS("bad")     },
    {"a file alone",
     {STATUS_INVALID, "plan.yaml", 0, 0, "", "bad", "", NULL},
     STRS("plan.yaml: bad")                                                                        },
    {"a line without a column",
     {STATUS_INVALID, "plan.yaml", 3, 0, "", "bad", "", NULL},
     STRS("plan.yaml:3: bad")                                                                      },
    {"a place without a file",
     {STATUS_INVALID, "", 3, 5, "f", "bad", "", NULL},
     STRS("3:5: f: bad")                                                                           },
    {"a hint without a field",  {STATUS_INVALID, "", 0, 0, "", "bad", "do", NULL}, STRS("bad (do)")},
};

TEST(formatting)
{
    for (uint32_t i = 0; i < COUNT_OF(format_rows); i++) {
        test_row(format_rows[i].name);
        EXPECT_STR(err_format(&format_rows[i].e, &arena), format_rows[i].want);
    }
    arena_done(&arena);
}

TEST(problems_are_sorted_and_counted)
{
    struct problems p;
    problems_init(&p, &arena);
    struct err e = {.line = 77};
    EXPECT_STATUS(problems_to_err(&p, &e), STATUS_OK);
    problems_add(&p, SEVERITY_WARNING, "w")->line = 2;
    EXPECT_STATUS(problems_to_err(&p, &e), STATUS_OK);
    EXPECT_I64(e.line, 77);
    struct problem *one = problems_add(&p, SEVERITY_ERROR, "value %d", 5);
    one->line = 2;
    one->field = STR("a.b");
    one->hint = STR("use 4");
    one->status = STATUS_TOO_LARGE;
    EXPECT_STATUS(problems_to_err(&p, &e), STATUS_TOO_LARGE);
    EXPECT_STR(err_format(&e, &arena), STR("2: a.b: value 5 (use 4)"));
    one = problems_add(&p, SEVERITY_ERROR, "first");
    one->line = 1;
    one->col = 9;
    problems_add(&p, SEVERITY_ERROR, "second")->line = 1;
    problems_sort(&p);
    static const char *const want[] = {"second", "first", "value 5", "w"};
    for (uint32_t i = 0; i < p.count; i++) {
        EXPECT_STR(p.items[i].text, str_from_c(want[i]));
    }
    EXPECT_I64(p.count, 4);
    EXPECT_I64(p.error_count, 3);
    EXPECT_STATUS(problems_to_err(&p, &e), STATUS_INVALID);
    EXPECT_STR(str_from_c(e.text), STR("second (and 2 more)"));
    arena_done(&arena);
}

TEST(problems_beyond_the_maximum_are_counted_only)
{
    struct problems p;
    problems_init(&p, &arena);
    for (uint32_t i = 0; i < PROBLEMS_MAX + 5; i++) {
        problems_add(&p, SEVERITY_WARNING, "%u", i)->line = 1;
    }
    problems_add(&p, SEVERITY_ERROR, "e")->line = 1;
    EXPECT_I64(p.count, PROBLEMS_MAX);
    EXPECT_I64(p.dropped, 6);
    EXPECT_I64(p.error_count, 1);
    EXPECT_STR(p.items[PROBLEMS_MAX - 1].text, STR("999"));
    struct err e;
    EXPECT_STATUS(problems_to_err(&p, &e), STATUS_INVALID);
    EXPECT_STR(str_from_c(e.text), STR("1 errors, none shown because of 1000 warnings"));
    arena_done(&arena);
}

// {a: [x, {b: y}], "": z}
TEST(documents)
{
    struct doc y = {.kind = DOC_STRING, .text = STR("y"), .key = STR("b")};
    struct doc inner = {.kind = DOC_MAP, .child = &y, .child_count = 1};
    struct doc x = {.kind = DOC_STRING, .text = STR("x"), .next = &inner};
    struct doc z = {.kind = DOC_STRING, .text = STR("z"), .key = STR("c")};
    struct doc list = {
        .kind = DOC_LIST, .key = STR("a"), .child = &x, .child_count = 2, .next = &z};
    struct doc root = {.kind = DOC_MAP, .child = &list, .child_count = 2};
    EXPECT(doc_at(&root, STR("")) == &root);
    EXPECT(doc_at(&root, STR("a")) == &list);
    EXPECT(doc_at(&root, STR("c")) == &z);
    EXPECT(doc_at(&root, STR("a[0]")) == &x);
    EXPECT(doc_at(&root, STR("a[1].b")) == &y);
    EXPECT(doc_at(&inner, STR("b")) == &y);
    EXPECT(doc_at(&list, STR("[0]")) == &x);
    static const struct str absent[] = {
        STRS("b"),     STRS("a[2]"),   STRS("a[x]"),   STRS("a[0"),      STRS("a.b"), STRS("c[0]"),
        STRS("a[1]b"), STRS("a[1].c"), STRS("a[0].b"), STRS("a[1].b.c"), STRS(".a"),  STRS("a[]")};
    for (uint32_t i = 0; i < COUNT_OF(absent); i++) {
        test_row(absent[i].ptr);
        EXPECT(doc_at(&root, absent[i]) == NULL);
    }
    EXPECT(doc_get(NULL, STR("a")) == NULL);
    EXPECT_STR(str_from_c(doc_kind_name(DOC_LIST)), STR("a list"));
}

TEST_MAIN()

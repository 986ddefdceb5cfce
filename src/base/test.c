// SPDX-License-Identifier: Apache-2.0
// test: the harness. State is global here on purpose: a test program runs one test at a time.
#include "base/test.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/num.h"

enum { TMP_DIRS_MAX = 256, TMP_PATH_MAX = 256, SEED_DEFAULT = 1 };

static struct test_case *first_case;
static struct test_case *last_case;
static uint32_t case_count;

static jmp_buf leave;
static const char *row_name;
static uint32_t failure_count; /* of the running test case */
static const char *skip_reason;
static bool seed_used;
static bool any_failed;

jmp_buf test_panic_jump;
static bool panic_expected;

static char tmp_dirs[TMP_DIRS_MAX][TMP_PATH_MAX];
static uint32_t tmp_dir_count;

void test_register(struct test_case *t)
{
    if (last_case) {
        last_case->next = t;
    } else {
        first_case = t;
    }
    last_case = t;
    case_count++;
}

uint64_t test_seed(void)
{
    seed_used = true;
    uint64_t seed = SEED_DEFAULT;
    const char *text = getenv("WEIR_SEED");
    if (text && !num_parse_u64(str_from_c(text), &seed)) {
        fprintf(stderr, "WEIR_SEED=%s is not a number\n", text);
        exit(2);
    }
    return seed;
}

void test_row(const char *name)
{
    row_name = name;
}

void test_skip(const char *why)
{
    skip_reason = why;
    longjmp(leave, 1);
}

static void PRINTF_LIKE(3, 4) fail(const char *file, int line, const char *format, ...)
{
    failure_count++;
    printf("# %s:%d: ", file, line);
    if (row_name) {
        printf("row \"%s\": ", row_name);
    }
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
}

bool test_expect(bool ok, const char *file, int line, const char *what)
{
    if (!ok) {
        fail(file, line, "%s", what);
    }
    return ok;
}

void test_end(const char *file, int line, const char *what)
{
    test_expect(false, file, line, what);
    longjmp(leave, 1);
}

void test_panic_expected(bool expected)
{
    panic_expected = expected;
}

bool test_expect_i64(int64_t got, int64_t want, const char *file, int line, const char *what)
{
    if (got != want) {
        fail(file, line, "%s: got %" PRIi64 ", want %" PRIi64, what, got, want);
    }
    return got == want;
}

// One line for a text of any bytes.
static const char *quoted(struct str s, char out[static 1024])
{
    size_t len = 0;
    out[len++] = '"';
    for (uint32_t i = 0; i < s.len && len < 1000; i++) {
        unsigned char c = (unsigned char)s.ptr[i];
        int added = snprintf(out + len, 1024 - len,
                             c < 0x20 || c == 0x7f   ? "\\x%02x"
                             : c == '"' || c == '\\' ? "\\%c"
                                                     : "%c",
                             c);
        len += (size_t)added;
    }
    snprintf(out + len, 1024 - len, "%s", s.len > 990 ? "\"..." : "\"");
    return out;
}

bool test_expect_str(struct str got, struct str want, const char *file, int line, const char *what)
{
    bool ok = str_eq(got, want);
    if (!ok) {
        char got_text[1024];
        char want_text[1024];
        fail(file, line, "%s: got %s, want %s", what, quoted(got, got_text),
             quoted(want, want_text));
    }
    return ok;
}

void test_require_ok(enum status s, const struct err *e, const char *file, int line,
                     const char *what)
{
    if (s != STATUS_OK) {
        fail(file, line, "%s: %s: %s %s %s", what, status_info(s)->name, e ? e->field : "",
             e ? e->text : "", e ? e->hint : "");
        longjmp(leave, 1);
    }
}

const char *test_tmp_dir(void)
{
    CHECK(tmp_dir_count < TMP_DIRS_MAX);
    const char *base = getenv("TMPDIR");
    char *path = tmp_dirs[tmp_dir_count];
    int len = snprintf(path, TMP_PATH_MAX, "%s/weir-test-XXXXXX", base ? base : "/tmp");
    if (len >= TMP_PATH_MAX || !mkdtemp(path)) {
        perror(path);
        exit(2);
    }
    tmp_dir_count++;
    return path;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

static void remove_tmp_dirs(void)
{
    for (uint32_t i = 0; i < tmp_dir_count; i++) {
        if (any_failed) {
            printf("# kept: %s\n", tmp_dirs[i]);
        } else {
            nftw(tmp_dirs[i], remove_entry, 16, FTW_DEPTH | FTW_PHYS);
        }
    }
}

static void on_panic(const char *file, int line, const char *what)
{
    if (panic_expected) {
        panic_expected = false;
        longjmp(test_panic_jump, 1);
    }
    printf("# panic at %s:%d: %s\nBail out! panic\n", file, line, what);
    fflush(stdout);
    abort();
}

static void run_case(struct test_case *t, uint32_t number)
{
    row_name = NULL;
    failure_count = 0;
    skip_reason = NULL;
    seed_used = false;
    panic_expected = false;
    if (setjmp(leave) == 0) {
        t->run();
    }
    if (failure_count > 0) {
        any_failed = true;
        if (seed_used) {
            printf("# to run again: WEIR_SEED=%" PRIu64 " and the name %s\n", test_seed(), t->name);
        }
    }
    printf("%sok %" PRIu32 " - %s%s%s\n", failure_count > 0 ? "not " : "", number, t->name,
           skip_reason && failure_count == 0 ? " # SKIP " : "", skip_reason ? skip_reason : "");
    fflush(stdout);
}

int test_main(int argc, char **argv)
{
    check_set_hook(on_panic);
    const char *only = argc > 1 ? argv[1] : NULL;
    if (only && strcmp(only, "-l") == 0) {
        for (struct test_case *t = first_case; t; t = t->next) {
            printf("%s\n", t->name);
        }
        return 0;
    }
    uint32_t chosen = 0;
    for (struct test_case *t = first_case; t; t = t->next) {
        chosen += !only || strcmp(only, t->name) == 0;
    }
    if (chosen == 0) {
        fprintf(stderr, "no test named %s; -l lists them\n", only ? only : "at all");
        return 2;
    }
    printf("1..%" PRIu32 "\n", chosen);
    uint32_t number = 0;
    for (struct test_case *t = first_case; t; t = t->next) {
        if (!only || strcmp(only, t->name) == 0) {
            run_case(t, ++number);
        }
    }
    remove_tmp_dirs();
    return any_failed ? 1 : 0;
}

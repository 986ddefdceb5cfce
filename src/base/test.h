// SPDX-License-Identifier: Apache-2.0
// test: the harness. A test file is a program: TEST(name) { … } blocks and TEST_MAIN() at the end.
// Prints TAP; the exit status is 0 only when nothing failed. `prog NAME` runs one test, `-l` lists.
// WEIR_SEED sets the seed of test_seed(), which is printed on failure. Tests only, never shipped.
#pragma once

#include <inttypes.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/str.h"

struct test_case {
    const char *name;
    void (*run)(void);
    const char *file;
    int line;
    struct test_case *next;
};
void test_register(struct test_case *t);
int test_main(int argc, char **argv);

#define TEST(name)                                                                          \
    static void test_##name(void);                                                          \
    static struct test_case test_case_##name = {#name, test_##name, __FILE__, __LINE__, 0}; \
    __attribute__((constructor)) static void test_register_##name(void)                     \
    {                                                                                       \
        test_register(&test_case_##name);                                                   \
    }                                                                                       \
    static void test_##name(void)
#define TEST_MAIN()                   \
    int main(int argc, char **argv)   \
    {                                 \
        return test_main(argc, argv); \
    }

/* A failed EXPECT notes the failure and goes on; a failed REQUIRE ends the test case (longjmp). */
#define EXPECT(cond)          test_expect((cond), __FILE__, __LINE__, #cond)
#define REQUIRE(cond)         ((cond) ? (void)0 : test_end(__FILE__, __LINE__, #cond))
#define EXPECT_I64(got, want) test_expect_i64((got), (want), __FILE__, __LINE__, #got)
#define EXPECT_STR(got, want) test_expect_str((got), (want), __FILE__, __LINE__, #got)
#define EXPECT_STATUS(got, want) \
    test_expect_i64((int64_t)(got), (int64_t)(want), __FILE__, __LINE__, #got)
#define REQUIRE_OK(call, e) test_require_ok((call), (e), __FILE__, __LINE__, #call)

/* EXPECT_PANIC(statement): the statement must fail a CHECK. What it had allocated may leak. */
#define EXPECT_PANIC(statement)                                           \
    do {                                                                  \
        test_panic_expected(true);                                        \
        if (setjmp(test_panic_jump) == 0) {                               \
            statement;                                                    \
            test_panic_expected(false);                                   \
            test_expect(false, __FILE__, __LINE__, "panic: " #statement); \
        }                                                                 \
    } while (0)
extern jmp_buf test_panic_jump;
void test_panic_expected(bool expected);

bool test_expect(bool ok, const char *file, int line, const char *what);
NORETURN void test_end(const char *file, int line, const char *what);
bool test_expect_i64(int64_t got, int64_t want, const char *file, int line, const char *what);
bool test_expect_str(struct str got, struct str want, const char *file, int line, const char *what);
void test_require_ok(enum status s, const struct err *e, const char *file, int line,
                     const char *what);
/* test_row names the table row being checked; failures print it. NULL ends the table. */
void test_row(const char *name);
/* test_skip ends the test case as skipped, with the reason. */
NORETURN void test_skip(const char *why);
uint64_t test_seed(void);
/* test_tmp_dir makes a new directory that is removed at exit when all passed. */
const char *test_tmp_dir(void);

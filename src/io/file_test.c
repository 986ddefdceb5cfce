// SPDX-License-Identifier: Apache-2.0
#include "io/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/test.h"

static int tmp_open(void)
{
    return open(test_tmp_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

TEST(write_replaces)
{
    CLEANUP(file_close) int dir = tmp_open();
    struct err err;
    struct buf text;
    struct stat st;
    buf_init(&text, 8);
    EXPECT_STATUS(file_read(dir, "f", &text, &err), STATUS_UNKNOWN);
    REQUIRE_OK(file_write(dir, "f", STR("one"), 0600, true, &err), &err);
    REQUIRE_OK(file_write(dir, "f", STR("second"), 0640, false, &err), &err);
    REQUIRE_OK(file_read(dir, "f", &text, &err), &err);
    EXPECT_STR(buf_view(&text), STR("second"));
    REQUIRE(fstatat(dir, "f", &st, 0) == 0);
    EXPECT_I64(st.st_mode & 07777, 0640);
    // One that cannot be replaced stays, and nothing is left beside it.
    REQUIRE(mkdirat(dir, "d", 0700) == 0);
    EXPECT_STATUS(file_write(dir, "d", STR("x"), 0600, false, &err), STATUS_IO);
    REQUIRE(unlinkat(dir, "d", AT_REMOVEDIR) == 0 && unlinkat(dir, "f", 0) == 0);
    REQUIRE(fstat(dir, &st) == 0);
    buf_clear(&text);
    REQUIRE_OK(file_write(dir, "big", STR("123456789"), 0600, false, &err), &err);
    EXPECT_STATUS(file_read(dir, "big", &text, &err), STATUS_TOO_LARGE);
    buf_done(&text);
    char name[300];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    EXPECT_STATUS(file_write(dir, name, STR("x"), 0600, false, &err), STATUS_INVALID);
}

TEST(directories)
{
    CLEANUP(file_close) int dir = tmp_open();
    struct err err;
    char base[64], path[128];
    (void)snprintf(base, sizeof(base), "/proc/self/fd/%d", dir);
    (void)snprintf(path, sizeof(path), "%s/a/b/c", base);
    REQUIRE_OK(file_mkdirs(path, 0700, &err), &err);
    REQUIRE_OK(file_mkdirs(path, 0700, &err), &err); // again is fine
    REQUIRE_OK(file_write(dir, "file", STR("x"), 0600, false, &err), &err);
    (void)snprintf(path, sizeof(path), "%s/file/under", base);
    EXPECT_STATUS(file_mkdirs(path, 0700, &err), STATUS_IO);
    EXPECT_STATUS(file_mkdirs("", 0700, &err), STATUS_INVALID);

    // A link is removed, not what it points to.
    CLEANUP(file_close) int deep = openat(dir, "a/b/c", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE_OK(file_write(deep, "inner", STR("x"), 0600, false, &err), &err);
    REQUIRE(symlinkat("../../../file", deep, "link") == 0);
    REQUIRE_OK(file_remove_tree(dir, "a", &err), &err);
    EXPECT(faccessat(dir, "a", F_OK, 0) != 0);
    EXPECT(faccessat(dir, "file", F_OK, 0) == 0);
    REQUIRE_OK(file_remove_tree(dir, "a", &err), &err); // not there is fine
    REQUIRE_OK(file_remove_tree(dir, "file", &err), &err);
    EXPECT(faccessat(dir, "file", F_OK, 0) != 0);
    EXPECT_STATUS(file_remove_tree(AT_FDCWD, "/proc/self", &err), STATUS_IO);
}

TEST(too_deep_to_remove)
{
    enum { DEPTH = 70 };
    CLEANUP(file_close) int dir = tmp_open();
    struct err err;
    int at = dup(dir);
    for (int i = 0; i < DEPTH; i++) {
        REQUIRE(mkdirat(at, "d", 0700) == 0);
        int next = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        (void)close(at);
        at = next;
    }
    (void)close(at);
    EXPECT_STATUS(file_remove_tree(dir, "d", &err), STATUS_IO);
    EXPECT(faccessat(dir, "d", F_OK, 0) == 0);
}

TEST_MAIN()

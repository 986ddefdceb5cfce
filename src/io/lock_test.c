// SPDX-License-Identifier: Apache-2.0
#include "io/lock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/test.h"
#include "io/file.h"

TEST(the_second_is_told_who_the_first_is)
{
    const char *dir = test_tmp_dir();
    struct err err = {0};
    int first = -1;
    int second = -1;
    REQUIRE_OK(lock_take(dir, &first, &err), &err);
    EXPECT_STATUS(lock_take(dir, &second, &err), STATUS_IN_USE);
    char pid[24];
    snprintf(pid, sizeof pid, "process %d", (int)getpid());
    EXPECT(strstr(err.text, pid) != NULL);
    EXPECT(strstr(err.hint, "--data") != NULL);
    file_close(&first);
    REQUIRE_OK(lock_take(dir, &second, &err), &err);
    file_close(&second);
    EXPECT_STATUS(lock_take("/nonexistent/weir", &second, &err), STATUS_IO);
}

TEST_MAIN()

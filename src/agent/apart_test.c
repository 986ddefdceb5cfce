// SPDX-License-Identifier: Apache-2.0
// What keeps a pod apart from others and from weir.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/world_test.h"
#include "base/test.h"

TEST(sees_only_itself)
{
    REQUIRE(setenv("WEIR_TEST_SECRET", "leak", 1) == 0);
    world_open();
    if (noted("no namespaces")) {
        world_close();
        test_skip("this setting has no namespaces");
    }
    // There are pods' files, its own at least; the pod finds none. Nor what weir was started with.
    struct request *r = shell(arena_printf(&w.arena,
                                           "echo /proc/[0-9]* ; cd /dev && echo *; ls -A %s/pods; "
                                           "(tr -d '\\0' < /proc/1/environ) 2>/dev/null; "
                                           "echo x > /dev/null && head -c 1 /dev/urandom | wc -c",
                                           w.dir)
                                  .ptr);
    (void)await(INPUT_POD_EXITED, start(r));
    EXPECT_STR(log_of(r),
               STR("/proc/1 /proc/2\nfd full null ptmx pts random shm stderr stdin stdout tty "
                   "urandom zero\n1\n"));
    world_close();
}

TEST(memory_limit)
{
    world_open();
    if (noted("no memory control group")) {
        world_close();
        test_skip("this setting has no memory control group");
    }
    const char *argv[] = {"tail", "/dev/zero", NULL};
    struct request *r = request(argv);
    r->workload.spec.pod.memory_limit_bytes = 16 << 20;
    const struct seen *end = await(INPUT_POD_EXITED, start(r));
    EXPECT_I64(end->exit_code, 128 + SIGKILL);
    EXPECT_STR(str_from_c(end->reason), STR("OOMKilled"));
    world_close();
}

TEST(device_filter)
{
    world_open();
    if (noted("no device filter") || noted("no namespaces") || geteuid() != 0) {
        world_close();
        test_skip("this setting has no device filter");
    }
    // Even root, who can make any node, cannot open what was not granted.
    struct request *r = shell("mknod /dev/card c 195 0 && ! (: < /dev/card) 2>/dev/null && "
                              "mknod /dev/mem2 c 1 1 && cat /dev/mem2");
    EXPECT_I64(await(INPUT_POD_EXITED, start(r))->exit_code, 1);
    EXPECT(str_ends(log_of(r), STR("Operation not permitted\n")));
    world_close();
}

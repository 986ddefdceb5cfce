// SPDX-License-Identifier: Apache-2.0
// Pods in containers of an image.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/world_test.h"
#include "base/test.h"

static int run_quiet(const char *script)
{
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        (void)dup2(null, 1);
        (void)dup2(null, 2);
        (void)execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(127);
    }
    int how = -1;
    (void)waitpid(pid, &how, 0);
    return how;
}

static bool is_over(const void *arg)
{
    const struct uuid *pod = arg;
    return seen_find(INPUT_POD_EXITED, *pod) != NULL || seen_find(INPUT_POD_FAILED, *pod) != NULL;
}

TEST(image)
{
    if (run_quiet("command -v podman") != 0) {
        test_skip("podman is not installed");
    }
    if (access("/bin/busybox", X_OK) != 0) {
        test_skip("busybox-static is not installed");
    }
    if (run_quiet("d=$(mktemp -d) && mkdir $d/bin && cp /bin/busybox $d/bin && "
                  "for a in sh sleep echo cat; do ln -s busybox $d/bin/$a; done && "
                  "tar -C $d -c . | podman import - weir-test-busybox; s=$?; rm -rf $d; exit $s") !=
        0) {
        test_skip("podman cannot import an image here");
    }
    world_open();
    struct request *r = shell("echo $RUNAI_PROJECT; echo err >&2; exit 3");
    r->workload.spec.pod.image = STR("weir-test-busybox");
    struct uuid pod = start(r);
    REQUIRE(until(is_over, &pod));
    const struct seen *failed = seen_find(INPUT_POD_FAILED, pod);
    if (failed != NULL) {
        static char why[REASON_MAX];
        (void)snprintf(why, sizeof(why), "%s", failed->reason);
        world_close();
        test_skip(why);
    }
    EXPECT_I64(await(INPUT_POD_EXITED, pod)->exit_code, 3);
    EXPECT_STR(log_of(r), STR("team-a\nerr\n"));

    struct request *missing = shell("true");
    missing->args[0].value = STR("/bin/nothing");
    missing->workload.spec.pod.image = STR("weir-test-busybox");
    EXPECT(strstr(await(INPUT_POD_FAILED, start(missing))->reason, "/bin/nothing") != NULL);
    struct request *unknown = shell("true");
    unknown->workload.spec.pod.image = STR("localhost:1/no-such-image");
    EXPECT(str_starts(str_from_c(await(INPUT_POD_FAILED, start(unknown))->reason),
                      STR("image localhost:1/no-such-image cannot be used: ")));

    struct request *runs = shell("trap 'exit 8' TERM; : > $WEIR_CHECKPOINT_FILE; echo ready; "
                                 "while :; do sleep 0.05; done");
    runs->workload.spec.pod.image = STR("weir-test-busybox");
    (void)start(runs);
    await_ready(runs);
    (void)await(INPUT_POD_CHECKPOINT, runs->effect.pod);
    struct talk t;
    const char *inside[] = {"/bin/sh", "-c", "echo $WEIR_POD_INDEX; cat; exit 5", NULL};
    talk_start(&t, runs, inside, false);
    talk_send(&t, FRAME_STDIN, STR("in\n"));
    talk_send(&t, FRAME_STDIN, STR(""));
    talk_read(&t, NULL);
    EXPECT_STR(buf_view(&t.out), STR("2\nin\n"));
    EXPECT_I64(t.code, 5);
    talk_end(&t);
    world_reopen();
    (void)await(INPUT_POD_STARTED, runs->effect.pod);
    stop(runs, 20000);
    EXPECT_I64(await(INPUT_POD_EXITED, runs->effect.pod)->exit_code, 8);

    struct request *deaf = shell("trap '' TERM; echo ready; while :; do sleep 60; done");
    deaf->workload.spec.pod.image = STR("weir-test-busybox");
    (void)start(deaf);
    await_ready(deaf);
    stop(deaf, 50);
    EXPECT_I64(await(INPUT_POD_EXITED, deaf->effect.pod)->exit_code, 137);
    EXPECT(run_quiet("podman ps -a | grep weir-") != 0);
    world_close();
}

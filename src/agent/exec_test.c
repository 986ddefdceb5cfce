// SPDX-License-Identifier: Apache-2.0
// Commands inside a running pod.
#include <signal.h>

#include "agent/world_test.h"
#include "base/test.h"

TEST(exec)
{
    world_open();
    struct request *r = shell("echo ready; exec sleep 60");
    r->env[0] = (struct env_var){.name = STR("GREETING"), .value = STR("hello")};
    r->workload.spec.pod.env_count = 1;
    r->workload.spec.pod.working_dir = STR("/usr");
    (void)start(r);
    await_ready(r);
    struct talk t;
    const char *both[] = {"sh", "-c", "echo $GREETING $EXTRA $PWD; echo no >&2; exit 4", NULL};
    talk_start(&t, r, both, false);
    talk_read(&t, NULL);
    EXPECT_STR(buf_view(&t.out), STR("hello 1 /usr\n"));
    EXPECT_STR(buf_view(&t.err), STR("no\n"));
    EXPECT_I64(t.code, 4);
    talk_end(&t);

    const char *cat[] = {"cat", NULL};
    talk_start(&t, r, cat, false);
    talk_send(&t, FRAME_STDIN, STR("one "));
    talk_send(&t, FRAME_STDIN, STR("two"));
    talk_send(&t, FRAME_STDIN, STR(""));
    talk_read(&t, NULL);
    EXPECT_STR(buf_view(&t.out), STR("one two"));
    EXPECT_I64(t.code, 0);
    talk_end(&t);

    const char *missing[] = {"no-such-command", NULL};
    talk_start(&t, r, missing, false);
    talk_read(&t, NULL);
    EXPECT_STR(buf_view(&t.err), STR("command not found: no-such-command\n"));
    EXPECT_I64(t.code, 127);
    talk_end(&t);

    const char *terminal[] = {"sh", "-c", "test -t 0 && test -t 1 && read x; stty size; exit 6",
                              NULL};
    talk_start(&t, r, terminal, true);
    talk_send(&t, FRAME_CONTROL, STR("{\"resize\":[123,45]}"));
    talk_send(&t, FRAME_STDIN, STR("go\n"));
    talk_read(&t, NULL);
    EXPECT_STR(buf_view(&t.out), STR("go\r\n45 123\r\n"));
    EXPECT_I64(t.code, 6);
    talk_end(&t);

    // A command that is still there when the pod ends goes with it.
    const char *sleeper[] = {"sh", "-c", "echo in; exec sleep 60", NULL};
    talk_start(&t, r, sleeper, false);
    talk_read(&t, "in\n");
    stop(r, 20000);
    (void)await(INPUT_POD_EXITED, r->effect.pod);
    talk_read(&t, NULL);
    EXPECT_I64(t.code, 128 + SIGKILL);
    talk_end(&t);
    EXPECT_I64(processes_of(r), 0);
    struct err err;
    struct str arg = STR("true");
    int fd = -1;
    EXPECT_STATUS(agent_exec(w.agent, r->effect.pod, &arg, 1, NULL, 0, false, &fd, &err),
                  STATUS_UNKNOWN);
    world_close();
}

// SPDX-License-Identifier: Apache-2.0
// The tests of the agent, with real processes. The same tests run in several settings, each a run of
// this program with other rights: as it is (root: namespaces and cgroups where the machine has them),
// as user nobody (a user namespace where the kernel lets anyone make one), and as nobody without any
// namespaces.
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/nursery.h"
#include "agent/world_test.h"
#include "base/test.h"
#include "io/file.h"

static const char *const everywhere[] = {
    "exit_status",
    "refusals",
    "another_user",
    "environment",
    "checkpoint",
    "use",
    "stop_with_grace",
    "taken_over",
    "survives_kill_of_its_starter",
    "started_at_most_once",
    "crashes_on_the_way",
    "supervisor_killed",
    "exec",
    "sees_only_itself",
    "cannot_get_at_weir",
    "what_is_in_a_pod_is_known",
    "forget",
};

static bool put(const char *path, const char *text)
{
    CLEANUP(file_close) int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 && file_write_all(fd, str_from_c(text), NULL) == STATUS_OK;
}

/* In a user namespace that may not have further ones. */
static bool forbid_namespaces(void)
{
    if (unshare(CLONE_NEWUSER) != 0) {
        return false;
    }
    return put("/proc/self/setgroups", "deny") && put("/proc/self/uid_map", "65534 65534 1") &&
           put("/proc/self/gid_map", "65534 65534 1") &&
           put("/proc/sys/user/max_user_namespaces", "0") &&
           put("/proc/sys/user/max_pid_namespaces", "0");
}

/* Only version 2 of the control groups is there, as on a machine of today. */
static bool only_v2(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_PRIVATE | MS_REC, NULL) != 0) {
        return false;
    }
    (void)umount2("/sys/fs/cgroup/unified", MNT_DETACH);
    while (umount2("/sys/fs/cgroup", MNT_DETACH) == 0) {
    }
    return mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, NULL) == 0;
}

static bool become_nobody(const char *setting)
{
    return setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
           setresuid(NOBODY, NOBODY, NOBODY) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0 &&
           (strcmp(setting, "plain") != 0 || forbid_namespaces());
}

/* `agent_test _as SETTING TEST` */
static int run_as(const char *setting, const char *name, char *program)
{
    if (!(strcmp(setting, "v2") == 0 ? only_v2() : become_nobody(setting))) {
        printf("# cannot make the setting %s: %s\n", setting, strerror(errno));
        return 1;
    }
    char test[64];
    (void)snprintf(test, sizeof(test), "%s", name);
    char *argv[] = {program, test, NULL};
    return test_main(2, argv);
}

static void run_setting(const char *setting, const char *const *tests, size_t count)
{
    if (geteuid() != 0) {
        test_skip("only root can become another user");
    }
    for (size_t i = 0; i < count; i++) {
        test_row(tests[i]);
        const char *path = arena_printf(&w.arena, "%s/out", test_tmp_dir()).ptr;
        (void)fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
            int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
            (void)dup2(out, 1);
            (void)execl("/proc/self/exe", "agent_test", "_as", setting, tests[i], (char *)NULL);
            _exit(127);
        }
        int how = -1;
        REQUIRE(waitpid(pid, &how, 0) == pid);
        if (!EXPECT(how == 0)) {
            struct str text = file_text(path), line;
            while (str_split(&text, '\n', &line)) {
                printf("#   " STR_FMT "\n", STR_ARG(line));
            }
        }
    }
    test_row(NULL);
}

TEST(as_nobody)
{
    w = (struct world){0};
    run_setting("nobody", everywhere, COUNT_OF(everywhere));
    arena_done(&w.arena);
}

TEST(as_nobody_without_namespaces)
{
    w = (struct world){0};
    run_setting("plain", everywhere, COUNT_OF(everywhere));
    arena_done(&w.arena);
}

TEST(control_groups_version_2)
{
    static const char *const tests[] = {"device_filter", "stop_with_grace", "supervisor_killed"};
    w = (struct world){0};
    run_setting("v2", tests, COUNT_OF(tests));
    arena_done(&w.arena);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "_supervise") == 0) {
        return nursery_run();
    }
    if (argc == 4 && strcmp(argv[1], "_as") == 0) {
        return run_as(argv[2], argv[3], argv[0]);
    }
    return test_main(argc, argv);
}

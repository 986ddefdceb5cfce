// SPDX-License-Identifier: Apache-2.0
// What keeps a pod apart from others and from weir.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/process.h"
#include "agent/world_test.h"
#include "base/num.h"
#include "base/test.h"
#include "io/file.h"

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
                                           "echo /proc/[0-9]* ; cd /dev && echo *; ls -A %s; "
                                           "(tr -d '\\0' < /proc/1/environ) 2>/dev/null; "
                                           "echo x > /dev/null && head -c 1 /dev/urandom | wc -c",
                                           w.dir)
                                  .ptr);
    (void)await(INPUT_POD_EXITED, start(r));
    EXPECT_STR(log_of(r),
               STR("/proc/1 /proc/2\nfd full null ptmx pts random shm stderr stdin stdout tty "
                   "urandom weir zero\n1\n"));
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

/* In the end from a namespace of its own, over which it has all powers. */
TEST(cannot_get_at_weir)
{
    world_open();
    if (noted("no namespaces")) {
        world_close();
        test_skip("this setting has no namespaces");
    }
    const char *elsewhere = arena_printf(&w.arena, "%s/kept", test_tmp_dir()).ptr;
    REQUIRE(mkdir(elsewhere, 0755) == 0);
    static const char *const argv[] = {
        "sh", "-c",
        "exec 3>&1 2>/dev/null\n"
        "try() {\n"
        "  ls -A $DATA; umount $DATA && echo umount; mount -t tmpfs none $OTHER && echo mount\n"
        "  p=/proc/sys/kernel/core_pattern; v=$(cat $p); echo \"$v\" > $p && echo sys\n"
        "  mknod $OTHER/disk b 8 0 && echo mknod\n"
        "  for d in /sys/fs/cgroup/*/ /sys/fs/cgroup/; do mkdir $d/of-a-job && echo cgroup; done\n"
        "}\n"
        "try\n"
        "unshare -rm sh -c 'umount $DATA && echo uncovered; ls -A $DATA'\n"
        "grep -E 'NoNewPrivs|CapAmb|CapInh' /proc/self/status >&3\n",
        NULL};
    struct request *r = request(argv);
    r->env[0] = (struct env_var){.name = STR("DATA"), .value = str_from_c(w.dir)};
    r->env[1] = (struct env_var){.name = STR("OTHER"), .value = str_from_c(elsewhere)};
    r->workload.spec.pod.env_count = 2;
    (void)await(INPUT_POD_EXITED, start(r));
    EXPECT_STR(log_of(r), STR("CapInh:\t0000000000000000\nCapAmb:\t0000000000000000\n"
                              "NoNewPrivs:\t1\n"));
    world_close();
}

TEST(root_keeps_what_a_container_has)
{
    world_open();
    if (geteuid() != 0) {
        world_close();
        test_skip("not root");
    }
    struct request *r = shell("grep -E 'Cap(Prm|Eff|Bnd)' /proc/self/status; "
                              "touch owned && chown 1:1 owned && rm owned");
    r->workload.spec.pod.working_dir = str_from_c(test_tmp_dir());
    EXPECT_I64(await(INPUT_POD_EXITED, start(r))->exit_code, 0);
    EXPECT_STR(log_of(r), STR("CapPrm:\t00000000800405fb\nCapEff:\t00000000800405fb\n"
                              "CapBnd:\t00000000800405fb\n"));
    world_close();
}

TEST(what_is_in_a_pod_is_known)
{
    world_open();
    // The main process, its child, and one that left its parents and its session.
    struct request *r = shell("sh -c 'sleep 60 & echo $! >&3; wait' 3> child & "
                              "(setsid sleep 60 & echo $! > orphan) & "
                              "while [ ! -s child ] || [ ! -s orphan ]; do sleep 0.05; done; "
                              "echo ready; wait");
    r->workload.spec.pod.working_dir = str_from_c(test_tmp_dir());
    (void)start(r);
    await_ready(r);
    struct pod_status st;
    struct err err;
    CLEANUP(file_close) int dir = open(pod_path(r, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE_OK(status_read(dir, &st, &err), &err);
    EXPECT(agent_is_pod((pid_t)st.main_pid));
    EXPECT(agent_is_pod((pid_t)st.supervisor_pid));
    uint32_t all = 0, known = 0;
    DIR *list = opendir("/proc");
    for (struct dirent *e; (e = readdir(list)) != NULL;) {
        struct process p;
        int64_t pid;
        if (num_parse_i64(str_from_c(e->d_name), &pid) && process_read((pid_t)pid, &p) &&
            strcmp(p.name, "sleep") == 0 && process_is_of(r, (pid_t)pid)) {
            all++;
            known += agent_is_pod((pid_t)pid) ? 1 : 0;
        }
    }
    (void)closedir(list);
    EXPECT_I64(all, 2);
    EXPECT_I64(known, 2);
    EXPECT(!agent_is_pod(getpid()));
    EXPECT(!agent_is_pod(getppid()));
    EXPECT(!agent_is_pod(1));
    pid_t gone = fork();
    if (gone == 0) {
        _exit(0);
    }
    REQUIRE(waitpid(gone, NULL, 0) == gone);
    EXPECT(agent_is_pod(gone));
    stop(r, 0);
    (void)await(INPUT_POD_EXITED, r->effect.pod);
    world_close();
}

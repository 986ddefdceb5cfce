// SPDX-License-Identifier: Apache-2.0
// Pods go on without weir: taken over by the next one, started once whatever crashes on the way.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/process.h"
#include "agent/world_test.h"
#include "base/test.h"
#include "io/file.h"

TEST(taken_over)
{
    world_open();
    const char *go = fifo("go");
    struct request *stays = shell("echo ready; exec sleep 60");
    struct request *ends = shell(arena_printf(&w.arena,
                                              "echo ready; read x < %s; echo $x; "
                                              "exit 9",
                                              go)
                                     .ptr);
    (void)start(stays);
    (void)start(ends);
    await_ready(stays);
    await_ready(ends);
    agent_close(w.agent);
    w.agent = NULL;
    // While nobody looks, one of them ends; its supervisor's lock is free when it has.
    CLEANUP(file_close) int fd = open(go, O_WRONLY | O_CLOEXEC);
    REQUIRE(fd >= 0 && write(fd, "on\n", 3) == 3);
    CLEANUP(file_close) int lock = open(pod_path(ends, "/lock"), O_RDWR | O_CLOEXEC);
    REQUIRE(lock >= 0 && flock(lock, LOCK_EX) == 0);
    file_close(&lock);
    world_attach("fake:4");
    EXPECT_I64(await(INPUT_POD_EXITED, ends->effect.pod)->exit_code, 9);
    EXPECT_I64(seen_times(INPUT_POD_STARTED, ends->effect.pod), 1);
    (void)await(INPUT_POD_STARTED, stays->effect.pod);
    EXPECT_STR(log_of(ends), STR("ready\non\n"));
    stop(stays, 20000);
    EXPECT_I64(await(INPUT_POD_EXITED, stays->effect.pod)->exit_code, 128 + SIGTERM);
    EXPECT_I64(processes_of(stays), 0);
    // Ended pods are told again to the next one, and nothing is running.
    world_reopen();
    EXPECT_I64(await(INPUT_POD_EXITED, stays->effect.pod)->exit_code, 128 + SIGTERM);
    EXPECT_I64(await(INPUT_POD_EXITED, ends->effect.pod)->exit_code, 9);
    world_close();
}

/* Runs body in a child that holds an agent of its own; the child's pid. */
static pid_t in_child(void (*body)(void *), void *arg)
{
    (void)fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        body(arg);
        _exit(0);
    }
    REQUIRE(pid > 0);
    return pid;
}

struct holder {
    const struct request *r;
    int tell;
};

static void hold(void *arg)
{
    struct holder *h = arg;
    world_attach("fake:4");
    (void)start(h->r);
    (void)await(INPUT_POD_STARTED, h->r->effect.pod);
    (void)!write(h->tell, "s", 1);
    for (;;) {
        (void)pause();
    }
}

TEST(survives_kill_of_its_starter)
{
    world_open();
    agent_close(w.agent);
    w.agent = NULL;
    int ends[2];
    char byte;
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    struct request *r = shell("echo ready; exec sleep 60");
    struct holder h = {r, ends[1]};
    pid_t holder = in_child(hold, &h);
    REQUIRE(read(ends[0], &byte, 1) == 1);
    REQUIRE(kill(holder, SIGKILL) == 0 && waitpid(holder, NULL, 0) == holder);
    (void)close(ends[0]);
    (void)close(ends[1]);
    world_attach("fake:4");
    (void)start(r); // the START is delivered again
    await_ready(r);
    EXPECT_I64(processes_of(r), 1);
    stop(r, 20000);
    EXPECT_I64(await(INPUT_POD_EXITED, r->effect.pod)->exit_code, 128 + SIGTERM);
    world_close();
}

static void start_once(void *arg)
{
    const struct request *r = arg;
    world_attach("fake:4");
    (void)start(r);
    (void)await(INPUT_POD_STARTED, r->effect.pod);
}

TEST(started_at_most_once)
{
    enum { STARTERS = 8 };
    world_open();
    agent_close(w.agent);
    w.agent = NULL;
    struct request *r = shell("echo started; exec sleep 60");
    pid_t starters[STARTERS];
    for (int i = 0; i < STARTERS; i++) {
        starters[i] = in_child(start_once, r);
    }
    for (int i = 0; i < STARTERS; i++) {
        int how;
        REQUIRE(waitpid(starters[i], &how, 0) == starters[i]);
        EXPECT_I64(how, 0);
    }
    world_attach("fake:4");
    (void)await(INPUT_POD_STARTED, r->effect.pod);
    EXPECT_I64(processes_of(r), 1);
    stop(r, 20000);
    (void)await(INPUT_POD_EXITED, r->effect.pod);
    EXPECT_STR(log_of(r), STR("started\n"));
    // Delivered once more after its end, it is only told again.
    w.seen_count = 0;
    (void)start(r);
    EXPECT_I64(await(INPUT_POD_EXITED, r->effect.pod)->exit_code, 128 + SIGTERM);
    EXPECT_STR(log_of(r), STR("started\n"));
    // Another attempt is another start.
    r->effect.attempt = 2;
    w.seen_count = 0;
    (void)start(r);
    (void)await(INPUT_POD_STARTED, r->effect.pod);
    stop(r, 20000);
    (void)await(INPUT_POD_EXITED, r->effect.pod);
    world_close();
}

TEST(crashes_on_the_way)
{
    static const struct {
        const char *name;
        const char *files[3]; /* left behind by the one who crashed */
        const char *started;  /* content of `started` */
        enum input_kind want;
        const char *reason;
    } rows[] = {
        {"after mkdir",                {NULL},                 NULL,        INPUT_POD_EXITED, "Completed"},
        {"after the lock",             {"lock", NULL},         NULL,        INPUT_POD_EXITED, "Completed"},
        {"after the spec",             {"lock", "spec", NULL}, NULL,        INPUT_POD_EXITED, "Completed"},
        {"after started",              {"lock", NULL},         "this boot", INPUT_POD_EXITED, "NodeLost" },
        {"the machine, after started", {"lock", NULL},         "0-0",       INPUT_POD_EXITED, "NodeLost" },
    };
    world_open();
    char boot[UUID_TEXT_LEN + 1];
    boot_id(boot);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        struct request *r = shell("true");
        REQUIRE(mkdir(pod_path(r, ""), 0700) == 0);
        for (int f = 0; rows[i].files[f] != NULL; f++) {
            const char *path =
                arena_printf(&w.arena, "%s/%s", pod_path(r, ""), rows[i].files[f]).ptr;
            CLEANUP(file_close) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
            REQUIRE(fd >= 0);
        }
        if (rows[i].started != NULL) {
            const char *text = strcmp(rows[i].started, "this boot") == 0 ? boot : rows[i].started;
            CLEANUP(file_close)
            int fd = open(pod_path(r, "/started"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
            REQUIRE(fd >= 0 && file_write_all(fd, str_from_c(text), NULL) == STATUS_OK);
        }
        (void)start(r);
        const struct seen *end = await(rows[i].want, r->effect.pod);
        EXPECT_STR(str_from_c(end->reason), str_from_c(rows[i].reason));
        EXPECT_I64(end->exit_code, strcmp(rows[i].reason, "NodeLost") == 0 ? -1 : 0);
    }
    test_row(NULL);
    world_close();
}

TEST(supervisor_killed)
{
    world_open();
    int before = children();
    struct request *r = shell("setsid sleep 60 & echo ready; exec sleep 60");
    (void)start(r);
    await_ready(r);
    struct pod_status st;
    struct err err;
    CLEANUP(file_close) int dir = open(pod_path(r, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE_OK(status_read(dir, &st, &err), &err);
    EXPECT_I64(st.state, POD_STATE_RUNNING);
    EXPECT_I64(st.supervisor_start, process_start((pid_t)st.supervisor_pid));
    EXPECT_I64(st.main_start, process_start((pid_t)st.main_pid));
    REQUIRE(kill((pid_t)st.supervisor_pid, SIGKILL) == 0);
    const struct seen *end = await(INPUT_POD_EXITED, r->effect.pod);
    EXPECT_STR(str_from_c(end->reason), STR("NodeLost"));
    EXPECT_I64(end->exit_code, -1);
    EXPECT_I64(processes_of(r), 0);
    EXPECT(until(children_are, &before)); // and no zombie stays
    world_close();
}

TEST(supervisor_told_to_end)
{
    world_open();
    struct request *r = shell("echo ready; exec sleep 60");
    (void)start(r);
    await_ready(r);
    struct pod_status st;
    struct err err;
    CLEANUP(file_close) int dir = open(pod_path(r, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE_OK(status_read(dir, &st, &err), &err);
    REQUIRE(kill((pid_t)st.supervisor_pid, SIGTERM) == 0); // as a machine does that goes down
    const struct seen *end = await(INPUT_POD_EXITED, r->effect.pod);
    EXPECT_STR(str_from_c(end->reason), STR("NodeLost"));
    EXPECT_I64(end->exit_code, 128 + SIGTERM);
    world_close();
}

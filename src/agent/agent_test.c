// SPDX-License-Identifier: Apache-2.0
// The agent with real processes. Nothing sleeps: every wait is for the agent's descriptor, with a
// deadline. The same tests run in several settings, each a run of this program with other rights:
// as it is (root: namespaces and cgroups where the machine has them), as user nobody (a user
// namespace where the kernel lets anyone make one), and as nobody without any namespaces.
#include "agent/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/frame.h"
#include "agent/launch.h"
#include "agent/nursery.h"
#include "base/num.h"
#include "base/test.h"
#include "io/clock.h"
#include "io/file.h"
#include "io/random.h"
#include "model/units.h"

enum { PATIENCE_MS = 20000, SEEN_MAX = 256, NOBODY = 65534, ARGS_MAX = 16 };

/* ---- a node and what it says ---- */

struct seen {
    enum input_kind kind;
    struct uuid pod;
    uint32_t attempt;
    int64_t at_ms, exit_code;
    char reason[REASON_MAX];
};
struct world {
    char dir[512];
    struct arena arena;
    struct agent *agent;
    struct cluster cluster;
    struct seen seen[SEEN_MAX];
    uint32_t seen_count;
    struct node node; /* as last seen; its lists belong to the agent */
};

static struct world w;

static void note(void *arg, const struct input *in)
{
    struct world *to = arg;
    if (in->kind == INPUT_NODE_SEEN) {
        to->node = in->node;
    }
    if (to->seen_count < SEEN_MAX) {
        struct seen *s = &to->seen[to->seen_count++];
        *s = (struct seen){.kind = in->kind,
                           .pod = in->pod.pod,
                           .attempt = in->pod.attempt,
                           .at_ms = in->pod.at_ms,
                           .exit_code = in->pod.exit_code};
        (void)snprintf(s->reason, sizeof(s->reason), STR_FMT, STR_ARG(in->pod.reason));
    }
}

static void world_attach(const char *gpus)
{
    struct err err;
    static const struct label labels[] = {
        {STRS("site"), STRS("attic")}
    };
    const struct agent_config config = {
        .data_dir = str_from_c(w.dir),
        .gpus = str_from_c(gpus),
        .node_name = STR("box"),
        .labels = labels,
        .labels_count = 1,
        .device_check_ms = 10,
    };
    w.seen_count = 0;
    REQUIRE_OK(agent_open(&config, &w.agent, &err), &err);
    w.cluster = agent_cluster(w.agent);
}

static void world_open(void)
{
    w = (struct world){0};
    arena_init(&w.arena, 0);
    (void)snprintf(w.dir, sizeof(w.dir), "%s/data", test_tmp_dir());
    world_attach("fake:4");
}

static void world_close(void)
{
    agent_close(w.agent);
    arena_done(&w.arena);
}

static void world_reopen(void)
{
    agent_close(w.agent);
    world_attach("fake:4");
}

/* Handles what comes until `done` says so; false when the deadline passes first. */
static bool until(bool (*done)(const void *), const void *arg)
{
    int64_t deadline = clock_mono_ms() + PATIENCE_MS;
    for (;;) {
        w.cluster.poll(w.cluster.ctx, note, &w);
        if (done(arg)) {
            return true;
        }
        int64_t left = deadline - clock_mono_ms();
        struct pollfd p = {.fd = agent_fd(w.agent), .events = POLLIN};
        if (left <= 0 || poll(&p, 1, (int)left) <= 0) {
            return false;
        }
    }
}

struct awaited {
    enum input_kind kind;
    struct uuid pod;
};

static const struct seen *seen_find(enum input_kind kind, struct uuid pod)
{
    for (uint32_t i = 0; i < w.seen_count; i++) {
        if (w.seen[i].kind == kind && uuid_eq(w.seen[i].pod, pod)) {
            return &w.seen[i];
        }
    }
    return NULL;
}

static bool was_seen(const void *arg)
{
    const struct awaited *what = arg;
    return seen_find(what->kind, what->pod) != NULL;
}

static const struct seen *await(enum input_kind kind, struct uuid pod)
{
    struct awaited what = {kind, pod};
    bool came = until(was_seen, &what);
    for (uint32_t i = 0; i < w.seen_count && !came; i++) {
        printf("# seen: kind %u exit %" PRIi64 " %s\n", w.seen[i].kind, w.seen[i].exit_code,
               w.seen[i].reason);
    }
    const struct seen *s = seen_find(kind, pod);
    REQUIRE(s != NULL);
    return s;
}

static uint32_t seen_times(enum input_kind kind, struct uuid pod)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w.seen_count; i++) {
        n += w.seen[i].kind == kind && uuid_eq(w.seen[i].pod, pod) ? 1 : 0;
    }
    return n;
}

/* ---- pods ---- */

struct request {
    struct workload workload;
    struct pod pod;
    struct str_item args[ARGS_MAX];
    struct env_var env[4];
    struct held_device devices[4];
    struct effect effect;
};

/* A START of a new pod that runs argv. */
static struct request *request(const char *const *argv)
{
    struct request *r = ARENA_NEW(&w.arena, struct request);
    struct pod_spec *spec = &r->workload.spec.pod;
    r->workload.id = random_uuid();
    r->workload.name = STR("job-1");
    r->workload.project = STR("team-a");
    *spec = (struct pod_spec){.args = r->args,
                              .env = r->env,
                              .run_as_uid = -1,
                              .run_as_gid = -1,
                              .cpu_milli = 100,
                              .cpu_limit_milli = -1,
                              .memory_limit_bytes = -1,
                              .grace_ms = 30000};
    for (; argv[spec->args_count] != NULL; spec->args_count++) {
        r->args[spec->args_count].value = str_from_c(argv[spec->args_count]);
    }
    r->pod.devices = r->devices;
    r->effect = (struct effect){.kind = EFFECT_START,
                                .pod = random_uuid(),
                                .attempt = 1,
                                .workload = &r->workload,
                                .pod_state = &r->pod,
                                .pod_index = 2};
    return r;
}

static struct request *shell(const char *script)
{
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    return request(argv);
}

static struct uuid start(const struct request *r)
{
    w.cluster.do_effects(w.cluster.ctx, &r->effect, 1);
    return r->effect.pod;
}

static void tell(enum effect_kind kind, const struct request *r, int64_t grace_ms)
{
    struct effect e = {
        .kind = kind, .pod = r->effect.pod, .attempt = r->effect.attempt, .grace_ms = grace_ms};
    w.cluster.do_effects(w.cluster.ctx, &e, 1);
}

static void stop(const struct request *r, int64_t grace_ms)
{
    tell(EFFECT_STOP, r, grace_ms);
}

static const char *pod_path(const struct request *r, const char *file)
{
    char name[LAUNCH_NAME_SIZE];
    launch_name(r->effect.pod, r->effect.attempt, name);
    return arena_printf(&w.arena, "%s/pods/%s%s", w.dir, name, file).ptr;
}

static struct str file_text(const char *path)
{
    struct buf text;
    buf_init(&text, 1 << 20);
    if (file_read(AT_FDCWD, path, &text, NULL) != STATUS_OK) {
        buf_clear(&text);
    }
    struct str copy = arena_str(&w.arena, buf_view(&text));
    buf_done(&text);
    return copy;
}

static struct str log_of(const struct request *r)
{
    return file_text(
        agent_log_path(w.agent, r->effect.pod, r->effect.attempt, false, &w.arena).ptr);
}

/* How many processes were started with this pod's marker: looks at /proc by itself. */
static int processes_of(const struct request *r)
{
    char name[LAUNCH_NAME_SIZE], marker[128];
    launch_name(r->effect.pod, r->effect.attempt, name);
    (void)snprintf(marker, sizeof(marker), "WEIR_POD=%s", name);
    int count = 0;
    DIR *dir = opendir("/proc");
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] < '1' || e->d_name[0] > '9') {
            continue;
        }
        struct str rest = file_text(arena_printf(&w.arena, "/proc/%s/environ", e->d_name).ptr);
        struct str part;
        bool found = false;
        while (!found && str_split(&rest, '\0', &part)) {
            found = str_eq(part, str_from_c(marker));
        }
        if (found) {
            count++;
            struct str stat = file_text(arena_printf(&w.arena, "/proc/%s/stat", e->d_name).ptr);
            printf("# there is " STR_FMT "\n", STR_ARG(str_sub(stat, 0, 60)));
        }
    }
    (void)closedir(dir);
    return count;
}

static bool log_has(const void *arg)
{
    const struct request *r = arg;
    return str_ends(log_of(r), STR("ready\n"));
}

/* Waits for the job to have written "ready": the kernel tells of each change of its log. */
static void await_ready(const struct request *r)
{
    int64_t deadline = clock_mono_ms() + PATIENCE_MS;
    (void)await(INPUT_POD_STARTED, r->effect.pod);
    CLEANUP(file_close) int changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    REQUIRE(inotify_add_watch(changes, pod_path(r, "/log"), IN_MODIFY) >= 0);
    while (!log_has(r)) {
        struct pollfd p = {.fd = changes, .events = POLLIN};
        char events[4096];
        REQUIRE(poll(&p, 1, (int)(deadline - clock_mono_ms())) == 1);
        (void)!read(changes, events, sizeof(events));
    }
}

/* Our children, ended ones that nobody collected above all. */
static int children(void)
{
    char path[64];
    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    struct str rest = file_text(path), part;
    int count = 0;
    while (str_split(&rest, ' ', &part)) {
        count += part.len > 0 ? 1 : 0;
    }
    return count;
}

static bool children_are(const void *arg)
{
    const int *count = arg;
    return children() == *count;
}

/* A fifo the job writes to or reads from: real synchronisation with a child. */
static const char *fifo(const char *name)
{
    const char *path = arena_printf(&w.arena, "%s/%s", test_tmp_dir(), name).ptr;
    REQUIRE(mkfifo(path, 0666) == 0 && chmod(path, 0666) == 0);
    return path;
}

/* ---- tests ---- */

TEST(exit_status)
{
    static const struct {
        const char *name, *script;
        int64_t code;
        const char *reason;
    } rows[] = {
        {"success",                                  "true",                                0,   "Completed"},
        {"a code",                                   "exit 7",                              7,   "Error"    },
        {"the highest code",                         "exit 255",                            255, "Error"    },
        {"SIGTERM from itself is no stop",           "kill -TERM $$",                       143, "Error"    },
        {"SIGKILL from itself is no lack of memory", "kill -KILL $$",                       137, "Error"    },
        {"what it leaves behind ends with it",       "sleep 60 & setsid sleep 60 & exit 3", 3,   "Error"    },
    };
    world_open();
    int before = children();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        struct request *r = shell(rows[i].script);
        int64_t since = clock_wall_ms();
        struct uuid pod = start(r);
        const struct seen *end = await(INPUT_POD_EXITED, pod);
        EXPECT_I64(end->exit_code, rows[i].code);
        EXPECT_STR(str_from_c(end->reason), str_from_c(rows[i].reason));
        EXPECT_I64(seen_times(INPUT_POD_STARTED, pod), 1);
        EXPECT_I64(seen_times(INPUT_POD_EXITED, pod), 1);
        const struct seen *began = await(INPUT_POD_STARTED, pod);
        EXPECT(began < end && began->at_ms >= since && end->at_ms <= clock_wall_ms());
        EXPECT_I64(processes_of(r), 0);
    }
    test_row(NULL);
    EXPECT(until(children_are, &before)); // supervisors are collected
    world_close();
}

TEST(refusals)
{
    static const struct {
        const char *name, *argv[3], *dir;
        const char *device;
        const char *reason;
    } rows[] = {
        {"no such command",             {"foo-bar", NULL},  "",     NULL,    "command not found: foo-bar"                       },
        {"no such path",                {"/no/such", NULL}, "",     NULL,    "command not found: /no/such"                      },
        {"not executable",
         {"/etc/passwd", NULL},
         "",                                                        NULL,
         "command /etc/passwd cannot be run: Permission denied"                                                                 },
        {"no command",                  {NULL},             "",     NULL,    "no command: a pod that runs on the host needs one"},
        {"no directory",                {"true", NULL},     "/x/y", NULL,    "working directory /x/y does not exist"            },
        {"a file as directory",
         {"true", NULL},
         "/etc/passwd",                                             NULL,
         "working directory /etc/passwd: Not a directory"                                                                       },
        {"a device of another machine",
         {"true", NULL},
         "",                                                        "GPU-1",
         "device GPU-1 is not on this machine"                                                                                  },
    };
    world_open();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        struct request *r = request(rows[i].argv);
        r->workload.spec.pod.working_dir = str_from_c(rows[i].dir);
        if (rows[i].device != NULL) {
            r->devices[0] = (struct held_device){str_from_c(rows[i].device), DEVICE_SHARE};
            r->pod.devices_count = 1;
        }
        struct uuid pod = start(r);
        EXPECT_STR(str_from_c(await(INPUT_POD_FAILED, pod)->reason), str_from_c(rows[i].reason));
        EXPECT_I64(seen_times(INPUT_POD_STARTED, pod), 0);
        // Asked for again it says the same, and does not try again.
        w.seen_count = 0;
        (void)start(r);
        EXPECT_STR(str_from_c(await(INPUT_POD_FAILED, pod)->reason), str_from_c(rows[i].reason));
    }
    test_row(NULL);
    world_close();
}

TEST(another_user)
{
    world_open();
    struct request *r = shell("echo $(id -u) $(id -g) $HOME $USER; pwd");
    r->workload.spec.pod.run_as_uid = geteuid() == 0 ? NOBODY : NOBODY - 1;
    r->workload.spec.pod.run_as_gid = geteuid() == 0 ? NOBODY : -1;
    struct uuid pod = start(r);
    if (geteuid() == 0) {
        EXPECT_I64(await(INPUT_POD_EXITED, pod)->exit_code, 0);
        EXPECT_STR(log_of(r), STR("65534 65534 /nonexistent nobody\n/\n"));
    } else {
        EXPECT_STR(str_from_c(await(INPUT_POD_FAILED, pod)->reason),
                   STR("cannot run as user 65533: weir runs as user 65534, and only root may run "
                       "pods as another user"));
    }
    world_close();
}

TEST(environment)
{
    world_open();
    REQUIRE(setenv("WEIR_TEST_SECRET", "leak", 1) == 0);
    const char *argv[] = {"env", NULL};
    struct request *r = request(argv);
    r->env[0] = (struct env_var){STR("GREETING"), STR("hello\tworld")};
    r->env[1] = (struct env_var){STR("PATH"), STR("/usr/bin:/bin")};
    r->env[2] = (struct env_var){STR("CUDA_VISIBLE_DEVICES"), STR("GPU-of-someone-else")};
    r->env[3] = (struct env_var){STR("HOME"), STR("/tmp")};
    r->workload.spec.pod.env_count = 4;
    r->workload.spec.pod.gpu_devices = 2;
    uint32_t count = w.node.devices_count;
    EXPECT_I64(count, 0); // not seen before the first poll
    w.cluster.poll(w.cluster.ctx, note, &w);
    REQUIRE(w.node.devices_count == 4);
    r->devices[0] = (struct held_device){w.node.devices[1].uuid, DEVICE_SHARE};
    r->devices[1] = (struct held_device){w.node.devices[3].uuid, DEVICE_SHARE};
    r->pod.devices_count = 2;
    struct uuid pod = start(r);
    EXPECT_I64(await(INPUT_POD_EXITED, pod)->exit_code, 0);
    struct str id = uuid_str(r->workload.id, &w.arena);
    struct str name = uuid_str(pod, &w.arena);
    const char *user = geteuid() == 0 ? "root" : "nobody";
    struct str list = arena_printf(&w.arena, STR_FMT "," STR_FMT, STR_ARG(w.node.devices[1].uuid),
                                   STR_ARG(w.node.devices[3].uuid));
    struct str want = arena_printf(
        &w.arena,
        "USER=%s\nLOGNAME=%s\nGREETING=hello\tworld\nPATH=/usr/bin:/bin\nHOME=/tmp\n"
        "CUDA_VISIBLE_DEVICES=" STR_FMT "\nNVIDIA_VISIBLE_DEVICES=" STR_FMT
        "\nCUDA_DEVICE_ORDER=PCI_BUS_ID\nRUNAI_PROJECT=team-a\nRUNAI_JOB_NAME=job-1\n"
        "RUNAI_JOB_UUID=" STR_FMT "\nRUNAI_NUM_OF_GPUS=2\nNODE_NAME=box\nWEIR_POD_INDEX=2\n"
        "WEIR_POD=" STR_FMT ".1\n",
        user, user, STR_ARG(list), STR_ARG(list), STR_ARG(id), STR_ARG(name));
    EXPECT_STR(log_of(r), want);

    // Without devices nothing is visible, which is not the same as nothing being said.
    struct request *none = shell("echo \"[$CUDA_VISIBLE_DEVICES] $NVIDIA_VISIBLE_DEVICES\"");
    (void)await(INPUT_POD_EXITED, start(none));
    EXPECT_STR(log_of(none), STR("[] void\n"));
    struct request *half = shell("echo $RUNAI_NUM_OF_GPUS");
    half->workload.spec.pod.gpu_devices = 1;
    half->workload.spec.pod.gpu_portion_share = DEVICE_SHARE / 2;
    (void)await(INPUT_POD_EXITED, start(half));
    EXPECT_STR(log_of(half), STR("0.5\n"));
    world_close();
}

TEST(stop_with_grace)
{
    world_open();
    struct request *polite = shell(
        "trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.02; "
        "done");
    struct uuid pod = start(polite);
    await_ready(polite);
    stop(polite, 20000);
    const struct seen *end = await(INPUT_POD_EXITED, pod);
    EXPECT_I64(end->exit_code, 5);
    EXPECT_STR(str_from_c(end->reason), STR("Stopped"));
    EXPECT(str_ends(log_of(polite), STR("bye\n")));

    // One that ignores SIGTERM, and has a daemon of its own that ignores it too.
    struct request *stubborn = shell(
        "trap '' TERM; setsid sh -c 'trap \"\" TERM; (setsid sleep 60 &); echo ready; sleep 60' & "
        "while :; do sleep 60 & wait; done");
    pod = start(stubborn);
    await_ready(stubborn);
    EXPECT(processes_of(stubborn) >= 3);
    stop(stubborn, 100);
    end = await(INPUT_POD_EXITED, pod);
    EXPECT_I64(end->exit_code, 128 + SIGKILL);
    EXPECT_STR(str_from_c(end->reason), STR("Stopped"));
    EXPECT_I64(processes_of(stubborn), 0);

    // A shorter grace given later counts.
    struct request *again = shell("trap '' TERM; echo ready; while :; do sleep 60 & wait; done");
    pod = start(again);
    await_ready(again);
    stop(again, 600000);
    stop(again, 0);
    EXPECT_I64(await(INPUT_POD_EXITED, pod)->exit_code, 128 + SIGKILL);
    world_close();
}

TEST(stop_of_what_never_started)
{
    world_open();
    struct request *r = shell("true");
    stop(r, 0);
    const struct seen *end = await(INPUT_POD_EXITED, r->effect.pod);
    EXPECT_I64(end->exit_code, -1);
    EXPECT_STR(str_from_c(end->reason), STR("Stopped"));
    w.seen_count = 0;
    (void)start(r); // a START that comes late
    (void)await(INPUT_POD_EXITED, r->effect.pod);
    EXPECT_I64(seen_times(INPUT_POD_STARTED, r->effect.pod), 0);
    EXPECT(access(pod_path(r, "/started"), F_OK) != 0);
    world_close();
}

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

TEST(log_is_kept)
{
    world_open();
    struct request *r = shell("printf 'a\\000b\\n'; echo err >&2; (echo late; exit 0)");
    (void)await(INPUT_POD_EXITED, start(r));
    EXPECT_STR(log_of(r), ((struct str){"a\0b\nerr\nlate\n", 13}));
    struct stat st;
    REQUIRE(stat(pod_path(r, "/log"), &st) == 0);
    EXPECT_I64(st.st_mode & 07777, 0600);
    REQUIRE(stat(pod_path(r, ""), &st) == 0);
    EXPECT_I64(st.st_mode & 07777, 0700);
    REQUIRE(stat(pod_path(r, "/spec"), &st) == 0);
    EXPECT_I64(st.st_mode & 07777, 0600);

    struct request *big = shell("head -c 67200000 /dev/zero; echo tail");
    EXPECT_I64(await(INPUT_POD_EXITED, start(big))->exit_code, 0);
    struct stat older;
    REQUIRE(stat(pod_path(big, "/log"), &st) == 0 && stat(pod_path(big, "/log.1"), &older) == 0);
    EXPECT_I64(st.st_size + older.st_size, 67200005);
    EXPECT(older.st_size >= LOG_BYTES_MAX);
    EXPECT(str_ends(log_of(big), STR("tail\n")));
    world_close();
}

/* ---- exec ---- */

struct talk {
    int fd;
    struct buf raw, out, err;
    int64_t code; /* -1: not told */
};

static void talk_start(struct talk *t, const struct request *r, const char *const *argv,
                       bool terminal)
{
    struct str args[ARGS_MAX];
    struct str env[] = {STR("EXTRA=1")};
    uint32_t argc = 0;
    struct err err;
    for (; argv[argc] != NULL; argc++) {
        args[argc] = str_from_c(argv[argc]);
    }
    *t = (struct talk){.fd = -1, .code = -1};
    buf_init(&t->raw, 1 << 20);
    buf_init(&t->out, 1 << 20);
    buf_init(&t->err, 1 << 20);
    REQUIRE_OK(agent_exec(w.agent, r->effect.pod, args, argc, env, 1, terminal, &t->fd, &err),
               &err);
}

static void talk_send(struct talk *t, enum frame_kind kind, struct str bytes)
{
    struct buf out;
    buf_init(&out, 1 << 20);
    frame_add(&out, (uint8_t)kind, bytes);
    REQUIRE(send(t->fd, out.ptr, out.len, MSG_NOSIGNAL) == (ssize_t)out.len);
    buf_done(&out);
}

/* Reads until the end, or until the output ends with `mark`. */
static void talk_read(struct talk *t, const char *mark)
{
    int64_t deadline = clock_mono_ms() + PATIENCE_MS;
    while (mark == NULL || !str_ends(buf_view(&t->out), str_from_c(mark))) {
        struct pollfd p = {.fd = t->fd, .events = POLLIN};
        REQUIRE(poll(&p, 1, (int)(deadline - clock_mono_ms())) == 1);
        char chunk[4096];
        ssize_t n = recv(t->fd, chunk, sizeof(chunk), 0);
        if (n <= 0) {
            break;
        }
        buf_add(&t->raw, chunk, (size_t)n);
        uint32_t used = 0;
        uint8_t kind;
        struct str body;
        while (frame_next(buf_view(&t->raw), &used, &kind, &body) == FRAME_ONE) {
            if (kind == FRAME_STDOUT) {
                buf_str(&t->out, body);
            } else if (kind == FRAME_STDERR) {
                buf_str(&t->err, body);
            } else {
                REQUIRE(kind == FRAME_CONTROL);
                uint32_t head = (uint32_t)strlen("{\"exit\":");
                REQUIRE(str_starts(body, STR("{\"exit\":")) &&
                        num_parse_i64(str_sub(body, head, body.len - head - 1), &t->code));
            }
        }
        memmove(t->raw.ptr, t->raw.ptr + used, t->raw.len - used);
        t->raw.len -= used;
    }
}

static void talk_end(struct talk *t)
{
    file_close(&t->fd);
    buf_done(&t->raw);
    buf_done(&t->out);
    buf_done(&t->err);
}

TEST(exec)
{
    world_open();
    struct request *r = shell("echo ready; exec sleep 60");
    r->env[0] = (struct env_var){STR("GREETING"), STR("hello")};
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

TEST(forget)
{
    world_open();
    struct request *ended = shell("true");
    (void)await(INPUT_POD_EXITED, start(ended));
    EXPECT(access(pod_path(ended, ""), F_OK) == 0);
    tell(EFFECT_FORGET, ended, 0);
    EXPECT(access(pod_path(ended, ""), F_OK) != 0 ||
           until(was_seen, &(struct awaited){INPUT_POD_EXITED, ended->effect.pod}));
    // One that runs is ended first.
    struct request *runs = shell("trap '' TERM; echo ready; sleep 60");
    (void)start(runs);
    await_ready(runs);
    tell(EFFECT_FORGET, runs, 0);
    (void)await(INPUT_POD_EXITED, runs->effect.pod);
    struct request *next = shell("true"); // when its end is handled, so is what came before
    (void)await(INPUT_POD_EXITED, start(next));
    world_reopen();
    w.cluster.poll(w.cluster.ctx, note, &w);
    EXPECT(access(pod_path(ended, ""), F_OK) != 0);
    EXPECT(access(pod_path(runs, ""), F_OK) != 0);
    EXPECT_I64(processes_of(runs), 0);
    world_close();
}

static bool noted(const char *start)
{
    uint32_t count;
    const struct str_item *notes = agent_describe(w.agent, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (str_starts(notes[i].value, str_from_c(start))) {
            return true;
        }
    }
    return false;
}

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

TEST(node_is_described)
{
    world_open();
    w.cluster.poll(w.cluster.ctx, note, &w);
    const struct node *n = &w.node;
    EXPECT_STR(n->name, STR("box"));
    EXPECT(n->ready && n->cpu_milli >= 1000 && n->cpu_milli % 1000 == 0);
    EXPECT(n->memory_bytes > 1 << 20);
    EXPECT_I64(n->devices_count, 4);
    EXPECT_I64(n->devices[3].memory_bytes, INT64_C(80) << 30);
    EXPECT(str_starts(n->devices[0].uuid, STR("GPU-")) && n->devices[0].uuid.len == 40);
    static const struct {
        struct str key, value;
    } rows[] = {
        {STRS("kubernetes.io/hostname"), STRS("box")      },
        {STRS("nvidia.com/gpu.product"), STRS("simulated")},
        {STRS("nvidia.com/gpu.count"),   STRS("4")        },
        {STRS("nvidia.com/gpu.memory"),  STRS("81920")    },
        {STRS("site"),                   STRS("attic")    },
    };
    REQUIRE(n->labels_count == COUNT_OF(rows));
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        EXPECT_STR(n->labels[i].key, rows[i].key);
        EXPECT_STR(n->labels[i].value, rows[i].value);
    }
    EXPECT(noted("the devices are simulated"));
    EXPECT(noted(geteuid() == 0 ? "weir runs as root" : "weir does not run as root"));
    struct str first = arena_str(&w.arena, n->devices[0].uuid);
    world_reopen(); // the same devices after a restart
    w.cluster.poll(w.cluster.ctx, note, &w);
    EXPECT_STR(w.node.devices[0].uuid, first);
    world_close();
}

TEST(settings_refused)
{
    static const struct {
        const char *name, *gpus, *dir, *text;
        enum status want;
    } rows[] = {
        {"a word",                 "some",       "",
         "expected auto, none or fake:COUNT[:SIZE] for the GPUs, got \"some\"",                                                  STATUS_INVALID},
        {"no count",               "fake:",      "",            "expected fake:COUNT with a count from 0 to 256, got \"fake:\"",
         STATUS_INVALID                                                                                                                        },
        {"too many",               "fake:257",   "",
         "expected fake:COUNT with a count from 0 to 256, got \"fake:257\"",                                                     STATUS_INVALID},
        {"no memory",              "fake:1:0",   "",            "memory of a simulated device: expected more than 0, got 0",
         STATUS_INVALID                                                                                                                        },
        {"not a size",             "fake:1:big", "",            NULL,                                                            STATUS_INVALID},
        {"a file for a directory", "none",       "/etc/passwd", NULL,                                                            STATUS_IO     },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        struct err err = {0};
        struct agent *a = NULL;
        const struct agent_config config = {
            .data_dir = str_from_c(rows[i].dir[0] != '\0' ? rows[i].dir : test_tmp_dir()),
            .gpus = str_from_c(rows[i].gpus),
            .node_name = STR("box"),
        };
        EXPECT_STATUS(agent_open(&config, &a, &err), rows[i].want);
        EXPECT(a == NULL);
        if (rows[i].text != NULL) {
            EXPECT_STR(str_from_c(err.text), str_from_c(rows[i].text));
        }
    }
    test_row(NULL);
}

/* ---- NVML, by the stand-in ---- */

static void nvml_says(const char *first, const char *second)
{
    const char *path = getenv("WEIR_TEST_NVML");
    struct str text = arena_printf(&w.arena,
                                   "GPU-11111111-2222-3333-4444-555555555555|NVIDIA H100 80GB HBM3|"
                                   "85520809984|3|00000000:3B:00.0|%s\n"
                                   "GPU-66666666-2222-3333-4444-555555555555|NVIDIA H100 80GB HBM3|"
                                   "85520809984|1|00000000:5E:00.0|%s\n",
                                   first, second);
    REQUIRE(path != NULL);
    const char *slash = strrchr(path, '/');
    const char *folder = arena_printf(&w.arena, "%.*s", (int)(slash - path), path).ptr;
    CLEANUP(file_close) int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE(file_write(dir, slash + 1, text, 0600, false, NULL) == STATUS_OK);
}

struct health {
    bool first, second;
};

static bool health_is(const void *arg)
{
    const struct health *h = arg;
    return w.node.devices_count == 2 && w.node.devices[0].healthy == h->first &&
           w.node.devices[1].healthy == h->second;
}

TEST(nvml)
{
    if (getenv("WEIR_TEST_NVML_DIR") == NULL) {
        test_skip("run by meson test, which says where the stand-in library is");
    }
    w = (struct world){0};
    arena_init(&w.arena, 0);
    (void)snprintf(w.dir, sizeof(w.dir), "%s/data", test_tmp_dir());
    const char *file = arena_printf(&w.arena, "%s/gpus", test_tmp_dir()).ptr;
    REQUIRE(setenv("WEIR_TEST_NVML", file, 1) == 0);
    world_attach("auto"); // no file: as a library without a driver
    EXPECT(noted("no GPUs: NVML does not start: Driver Not Loaded"));
    struct request *r = shell("true");
    EXPECT_I64(await(INPUT_POD_EXITED, start(r))->exit_code, 0);
    agent_close(w.agent);

    nvml_says("ok", "ok");
    world_attach("auto");
    REQUIRE(until(health_is, &(struct health){true, true}));
    EXPECT_STR(w.node.devices[0].uuid, STR("GPU-11111111-2222-3333-4444-555555555555"));
    EXPECT_STR(w.node.devices[0].model, STR("NVIDIA H100 80GB HBM3"));
    EXPECT_I64(w.node.devices[1].memory_bytes, 85520809984);
    EXPECT_I64(w.node.devices[1].index, 1);
    EXPECT_STR(w.node.labels[1].value, STR("NVIDIA-H100-80GB-HBM3"));
    nvml_says("ok", "lost");
    EXPECT(until(health_is, &(struct health){true, false}));
    nvml_says("ok", "ok"); // answers again
    EXPECT(until(health_is, &(struct health){true, true}));
    nvml_says("xid:13", "lost"); // a fault of a program is not one of the card
    EXPECT(until(health_is, &(struct health){true, false}));
    agent_close(w.agent);
    nvml_says("ok", "ok");
    world_attach("auto");
    nvml_says("ok", "xid:79"); // fell off the bus: stays so
    EXPECT(until(health_is, &(struct health){true, false}));
    world_close();
}

/* ---- images ---- */

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

    struct request *runs = shell("trap 'exit 8' TERM; echo ready; while :; do sleep 0.05; done");
    runs->workload.spec.pod.image = STR("weir-test-busybox");
    (void)start(runs);
    await_ready(runs);
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

/* ---- the same tests with other rights ---- */

static const char *const everywhere[] = {
    "exit_status",
    "refusals",
    "another_user",
    "environment",
    "stop_with_grace",
    "taken_over",
    "survives_kill_of_its_starter",
    "started_at_most_once",
    "crashes_on_the_way",
    "supervisor_killed",
    "exec",
    "sees_only_itself",
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

// SPDX-License-Identifier: Apache-2.0
// The life of one pod: how it starts, what it is given, how it ends, what is kept of it.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/world_test.h"
#include "base/test.h"
#include "io/clock.h"
#include "io/rolled.h"
#include "model/units.h"

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

TEST(a_secret_that_is_not_there)
{
    world_open();
    struct request *r = shell("true");
    r->env[0] = (struct env_var){.name = STR("A"), .credential = {{1}}, .key = STR("k")};
    r->workload.spec.pod.env = r->env;
    r->workload.spec.pod.env_count = 1;
    EXPECT_STR(str_from_c(await(INPUT_POD_FAILED, start(r))->reason),
               STR("there are no credentials here"));
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
    r->env[0] = (struct env_var){.name = STR("GREETING"), .value = STR("hello\tworld")};
    r->env[1] = (struct env_var){.name = STR("PATH"), .value = STR("/usr/bin:/bin")};
    r->env[2] = (struct env_var){.name = STR("CUDA_VISIBLE_DEVICES"),
                                 .value = STR("GPU-of-someone-else")};
    r->env[3] = (struct env_var){.name = STR("HOME"), .value = STR("/tmp")};
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
    bool inside = !noted("no namespaces");
    struct str file = inside ? STR("/dev/weir/checkpoint")
                             : arena_printf(&w.arena, "%s/pods/" STR_FMT ".1/checkpoint", w.dir,
                                            STR_ARG(name));
    struct str list = arena_printf(&w.arena, STR_FMT "," STR_FMT, STR_ARG(w.node.devices[1].uuid),
                                   STR_ARG(w.node.devices[3].uuid));
    struct str want = arena_printf(
        &w.arena,
        "USER=%s\nLOGNAME=%s\nGREETING=hello\tworld\nPATH=/usr/bin:/bin\nHOME=/tmp\n"
        "CUDA_VISIBLE_DEVICES=" STR_FMT "\nNVIDIA_VISIBLE_DEVICES=" STR_FMT
        "\nCUDA_DEVICE_ORDER=PCI_BUS_ID\nRUNAI_PROJECT=team-a\nRUNAI_JOB_NAME=job-1\n"
        "RUNAI_JOB_UUID=" STR_FMT "\nRUNAI_NUM_OF_GPUS=2\nNODE_NAME=box\nWEIR_POD_INDEX=2\n"
        "WEIR_POD=" STR_FMT ".1\nWEIR_CHECKPOINT_FILE=" STR_FMT "\n",
        user, user, STR_ARG(list), STR_ARG(list), STR_ARG(id), STR_ARG(name), STR_ARG(file));
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

static bool is_later(const void *than)
{
    const struct seen *before = than;
    for (uint32_t i = 0; i < w.seen_count; i++) {
        if (w.seen[i].kind == INPUT_POD_CHECKPOINT && uuid_eq(w.seen[i].pod, before->pod) &&
            w.seen[i].at_ms > before->at_ms) {
            return true;
        }
    }
    return false;
}

static bool is_busy_again(const void *pod)
{
    const struct seen *last = NULL;
    for (uint32_t i = 0; i < w.seen_count; i++) {
        bool about = w.seen[i].kind == INPUT_POD_IDLE &&
                     uuid_eq(w.seen[i].pod, *(const struct uuid *)pod);
        last = about ? &w.seen[i] : last;
    }
    return last != NULL && last->at_ms == 0;
}

TEST(use)
{
    world_open();
    struct request *none = shell(
        "echo ready; sleep 600"); /* without devices there is nothing to use */
    (void)start(none);
    await_ready(none);
    const char *go = fifo("go");
    struct request *r = request((const char *const[]){
        "sh", "-c", "echo ready; read line < $1; while :; do :; done", "sh", go, NULL});
    r->workload.spec.pod.gpu_devices = 1;
    r->pod.devices = r->devices;
    r->pod.devices_count = 1;
    r->devices[0] = (struct held_device){w.node.devices[2].uuid, DEVICE_SHARE};
    struct uuid pod = start(r);
    await_ready(r);
    struct seen idle = *await(INPUT_POD_IDLE, pod);
    EXPECT(idle.at_ms > 0 && idle.at_ms <= clock_wall_ms());
    int fd = open(go, O_WRONLY | O_CLOEXEC);
    REQUIRE(fd >= 0 && write(fd, "\n", 1) == 1);
    (void)close(fd);
    EXPECT(until(is_busy_again, &pod));
    EXPECT(seen_find(INPUT_POD_IDLE, none->effect.pod) == NULL);
    stop(r, 0);
    (void)await(INPUT_POD_EXITED, pod);
    stop(none, 0);
    (void)await(INPUT_POD_EXITED, none->effect.pod);
    world_close();
}

TEST(checkpoint)
{
    world_open();
    struct request *never = shell("echo ready; sleep 600");
    (void)start(never);
    await_ready(never);
    int64_t since = clock_wall_ms();
    struct request *r = shell("touch $WEIR_CHECKPOINT_FILE; echo ready; "
                              "while :; do sleep 0.01; echo x > $WEIR_CHECKPOINT_FILE; done");
    struct uuid pod = start(r);
    struct seen first = *await(INPUT_POD_CHECKPOINT, pod);
    EXPECT(first.at_ms >= since - 1000 && first.at_ms <= clock_wall_ms()); // coarse clocks of files
    EXPECT(until(is_later, &first));
    int64_t looks = (clock_wall_ms() - since) / 10 + 1;
    EXPECT(seen_times(INPUT_POD_CHECKPOINT, pod) <= 1 + looks / 6);
    EXPECT(seen_find(INPUT_POD_CHECKPOINT, never->effect.pod) == NULL);
    EXPECT(seen_find(INPUT_POD_STARTED, pod) < seen_find(INPUT_POD_CHECKPOINT, pod));

    // One that was not told is told by the next weir; another user may touch it too.
    world_reopen();
    (void)await(INPUT_POD_CHECKPOINT, pod);
    stop(r, 0);
    (void)await(INPUT_POD_EXITED, pod);
    if (geteuid() == 0 && !noted("no namespaces")) {
        struct request *other = shell("touch $WEIR_CHECKPOINT_FILE; sleep 600");
        other->workload.spec.pod.run_as_uid = NOBODY;
        other->workload.spec.pod.run_as_gid = NOBODY;
        struct uuid theirs = start(other);
        (void)await(INPUT_POD_CHECKPOINT, theirs);
        stop(other, 0);
        (void)await(INPUT_POD_EXITED, theirs);
    }
    stop(never, 0);
    (void)await(INPUT_POD_EXITED, never->effect.pod);
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
    struct rolled parts;
    rolled_open(&parts, pod_path(big, "/log"));
    EXPECT_I64(rolled_end(&parts), 67200005);
    EXPECT_I64(parts.first, 0);
    EXPECT(parts.from >= LOG_BYTES_MAX && parts.from < 67200005);
    rolled_close(&parts);
    EXPECT(str_ends(log_of(big), STR("tail\n")));
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

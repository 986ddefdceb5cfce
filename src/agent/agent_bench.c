// SPDX-License-Identifier: Apache-2.0
// From the START effect to POD_STARTED seen, and from the STOP effect to POD_EXITED, one pod at a
// time, beside what the same machine takes for a plain posix_spawn and for one fsync. Prints
// microseconds at the 50th and the 99th percentile. `agent_bench DIR [COUNT]`
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/nursery.h"
#include "base/num.h"
#include "io/clock.h"
#include "io/file.h"
#include "io/random.h"

enum { COUNT_MAX = 10000, COUNT_DEFAULT = 300 };

static int64_t samples[4][COUNT_MAX];
static enum input_kind last_kind;

static void seen(void *arg, const struct input *in)
{
    (void)arg;
    last_kind = in->kind;
    if (in->kind == INPUT_POD_FAILED) {
        (void)fprintf(stderr, STR_FMT "\n", STR_ARG(in->pod.reason));
    }
}

static bool wait_for(struct agent *a, enum input_kind kind)
{
    struct cluster c = agent_cluster(a);
    for (last_kind = INPUT_NONE; last_kind != kind;) {
        struct pollfd p = {.fd = agent_fd(a), .events = POLLIN};
        if (poll(&p, 1, 10000) <= 0 || last_kind == INPUT_POD_FAILED) {
            return false;
        }
        c.poll(c.ctx, seen, NULL);
    }
    return true;
}

static int64_t plain_spawn(void)
{
    char name[] = "true";
    char *argv[] = {name, NULL};
    pid_t pid;
    int64_t before = clock_mono_us();
    if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) == 0) {
        (void)waitpid(pid, NULL, 0);
    }
    return clock_mono_us() - before;
}

static int64_t plain_fsync(const char *dir)
{
    CLEANUP(file_close) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int64_t before = clock_mono_us();
    (void)!file_write(fd, "sample", STR("x"), 0600, true, NULL);
    return clock_mono_us() - before;
}

static void print(const char *what, int64_t *of, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) { // few and nearly sorted
        for (uint32_t j = i; j > 0 && of[j - 1] > of[j]; j--) {
            int64_t swap = of[j];
            of[j] = of[j - 1];
            of[j - 1] = swap;
        }
    }
    printf("%-22s p50 %6lld us   p99 %6lld us\n", what, (long long)of[count / 2],
           (long long)of[count * 99 / 100]);
}

static bool measure(struct agent *a, const char *dir, uint32_t i)
{
    struct str_item args[] = {{STR("sleep")}, {STR("60")}};
    struct workload workload = {.name = STR("bench"), .project = STR("p"), .id = random_uuid()};
    workload.spec.pod = (struct pod_spec){.args = args,
                                          .args_count = 2,
                                          .run_as_uid = -1,
                                          .run_as_gid = -1,
                                          .cpu_milli = 100,
                                          .cpu_limit_milli = -1,
                                          .memory_limit_bytes = -1};
    struct pod pod = {.id = random_uuid()};
    struct effect e = {.kind = EFFECT_START,
                       .pod = pod.id,
                       .attempt = 1,
                       .workload = &workload,
                       .pod_state = &pod};
    struct cluster c = agent_cluster(a);
    int64_t before = clock_mono_us();
    c.do_effects(c.ctx, &e, 1);
    if (!wait_for(a, INPUT_POD_STARTED)) {
        return false;
    }
    samples[0][i] = clock_mono_us() - before;
    e.kind = EFFECT_STOP;
    e.grace_ms = 10000;
    before = clock_mono_us();
    c.do_effects(c.ctx, &e, 1);
    if (!wait_for(a, INPUT_POD_EXITED)) {
        return false;
    }
    samples[1][i] = clock_mono_us() - before;
    e.kind = EFFECT_FORGET;
    c.do_effects(c.ctx, &e, 1);
    samples[2][i] = plain_spawn();
    samples[3][i] = plain_fsync(dir);
    return true;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "_supervise") == 0) {
        return nursery_run();
    }
    int64_t count = COUNT_DEFAULT;
    struct err err;
    struct agent *a;
    if (argc < 2 || (argc > 2 && !num_parse_i64(str_from_c(argv[2]), &count)) || count < 1 ||
        count > COUNT_MAX) {
        (void)fprintf(stderr, "usage: agent_bench DIR [COUNT]\n");
        return 2;
    }
    const struct agent_config config = {
        .data_dir = str_from_c(argv[1]), .gpus = STR("fake:4"), .node_name = STR("box")};
    if (agent_open(&config, &a, &err) != STATUS_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    bool ok = true;
    for (uint32_t i = 0; i < (uint32_t)count && ok; i++) {
        ok = measure(a, argv[1], i);
    }
    agent_close(a);
    static const char *const names[] = {"start", "stop", "plain posix_spawn", "plain fsync"};
    for (uint32_t i = 0; i < COUNT_OF(names) && ok; i++) {
        print(names[i], samples[i], (uint32_t)count);
    }
    return ok ? 0 : 1;
}

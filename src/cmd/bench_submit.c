// SPDX-License-Identifier: Apache-2.0
// bench: `weir bench submit` measures how long it takes from a submit to the process it asked for, and
// how many submits a second become durable, beside what the machine needs for a plain sync and for a
// plain process.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/bench_kit.h"
#include "cmd/cmd.h"
#include "io/clock.h"
#include "io/file.h"
#include "io/listen.h"

enum {
    SYNCS = 300,
    SYNC_BYTES = 4096,
    PROCESSES = 200,
    STARTS = 200,
    SUBMITS = 4000,
    CONNECTIONS = 64,
};
#define WORKLOADS "/api/weir/v1/workloads"

struct submits {
    struct bench bench;
    char fifo[280];
    int fifo_fd;
    int64_t count, connections;
};

/* ---- what the machine needs by itself ---- */

static enum status bench_sync(const struct submits *b, struct samples *s, struct err *err)
{
    char path[300];
    static char bytes[SYNC_BYTES];
    snprintf(path, sizeof path, "%s/sync", b->bench.dir);
    CLEANUP(file_close) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    for (int i = 0; fd >= 0 && i < SYNCS; i++) {
        int64_t start = clock_mono_us();
        if (write(fd, bytes, sizeof bytes) != (ssize_t)sizeof bytes || fdatasync(fd) != 0) {
            break;
        }
        samples_add(s, clock_mono_us() - start);
    }
    return s->count == SYNCS
               ? STATUS_OK
               : err_set(err, STATUS_IO, "cannot write %s: %s", path, strerror(errno));
}

/* Waits for the byte that a started process writes. */
static enum status await_start(const struct submits *b, struct err *err)
{
    char byte;
    ssize_t n;
    do {
        n = read(b->fifo_fd, &byte, 1);
    } while (n < 0 && errno == EINTR);
    return n == 1 ? STATUS_OK
                  : err_set(err, STATUS_IO, "cannot read %s: %s", b->fifo, strerror(errno));
}

static void script_of(const struct submits *b, char out[400])
{
    snprintf(out, 400, "printf x >%s", b->fifo);
}

static enum status bench_process(const struct submits *b, struct samples *s, struct err *err)
{
    char script[400];
    script_of(b, script);
    for (int i = 0; i < PROCESSES; i++) {
        int64_t start = clock_mono_us();
        pid_t pid = fork();
        if (pid == 0) {
            execl("/bin/sh", "sh", "-c", script, (char *)NULL);
            _exit(127);
        }
        if (pid < 0 || await_start(b, err) != STATUS_OK) {
            return err_set(err, STATUS_IO, "cannot start a process: %s", strerror(errno));
        }
        samples_add(s, clock_mono_us() - start);
        waitpid(pid, NULL, 0);
    }
    return STATUS_OK;
}

/* ---- what is measured ---- */

static struct str job(char out[700], const char *name, int64_t number, const char *script, int gpus)
{
    int len = snprintf(out, 700,
                       "{\"name\":\"%s-%lld\",\"project\":\"bench\",\"spec\":{\"command\":[\"sh\","
                       "\"-c\",\"%s\"],\"gpu_devices\":%d,\"cpu\":0.001,\"memory\":1048576}}",
                       name, (long long)number, script, gpus);
    return (struct str){out, (uint32_t)len};
}

static enum status bench_start(const struct submits *b, struct samples *s, struct err *err)
{
    char script[400];
    char body[700];
    int fd = -1;
    script_of(b, script);
    enum status status = connect_unix(b->bench.socket, &fd, err);
    for (int i = 0; status == STATUS_OK && i < STARTS; i++) {
        struct str text = job(body, "start", i, script, 1);
        int64_t start = clock_mono_us();
        status = bench_ask(fd, "POST", WORKLOADS, text, NULL, err);
        status = status != STATUS_OK ? status : await_start(b, err);
        samples_add(s, clock_mono_us() - start);
    }
    file_close(&fd);
    return status;
}

/* The jobs are larger than the machine, so that none starts: what is measured is the store. */
static void put_submit(void *ctx, int64_t number, struct buf *out)
{
    const char *name = ctx;
    char body[700];
    char key[80];
    snprintf(key, sizeof key, "%s-%lld", name, (long long)number);
    bench_request(out, "POST", WORKLOADS, key, job(body, name, number, "exit", 9));
}

static enum status start_server(struct submits *b, struct err *err)
{
    static const char plan[] = "organization: {departments: [{name: bench, node_pool_quotas: "
                               "{default: {guaranteed_gpus: 8}}, projects: [{name: bench, "
                               "node_pool_quotas: {default: {guaranteed_gpus: 8}}}]}]}";
    CLEANUP(file_close) int fd = -1;
    enum status status = bench_server(&b->bench, err);
    status = status != STATUS_OK ? status : connect_unix(b->bench.socket, &fd, err);
    return status != STATUS_OK
               ? status
               : bench_ask(fd, "POST", "/api/weir/v1/plan/apply", str_from_c(plan), NULL, err);
}

static enum status load(const struct submits *b, const char *name, int64_t connections,
                        int64_t count, struct samples *s, int64_t *elapsed_us, struct err *err)
{
    return bench_run(&(struct bench_load){.socket = b->bench.socket,
                                          .connections = (uint32_t)connections,
                                          .count = count,
                                          .put = put_submit,
                                          .ctx = (void *)(uintptr_t)name},
                     s, elapsed_us, err);
}

static enum status measure(struct submits *b, struct err *err)
{
    struct samples s = {0};
    int64_t elapsed_us = 0;
    char what[64];
    enum status status = bench_sync(b, &s, err);
    if (status == STATUS_OK) {
        bench_show(&b->bench, "write of 4 KiB and sync", &s, 0);
        status = bench_process(b, &s, err);
    }
    if (status == STATUS_OK) {
        bench_show(&b->bench, "fork and exec of sh", &s, 0);
        status = start_server(b, err);
    }
    status = status != STATUS_OK ? status : bench_start(b, &s, err);
    if (status == STATUS_OK) {
        bench_show(&b->bench, "submit until sh runs, with a device", &s, 0);
        status = load(b, "one", 1, b->count / 8, &s, &elapsed_us, err);
    }
    if (status == STATUS_OK) {
        bench_show(&b->bench, "durable submits, 1 connection", &s, elapsed_us);
        status = load(b, "many", b->connections, b->count, &s, &elapsed_us, err);
    }
    if (status == STATUS_OK) {
        snprintf(what, sizeof what, "durable submits, %lld connections", (long long)b->connections);
        bench_show(&b->bench, what, &s, elapsed_us);
    }
    mem_free(s.us);
    return status;
}

static enum status prepare(struct submits *b, struct err *err)
{
    enum status status = bench_prepare(&b->bench, err);
    if (status != STATUS_OK) {
        return status;
    }
    snprintf(b->fifo, sizeof b->fifo, "%s/started", b->bench.dir);
    if (mkfifo(b->fifo, 0600) != 0) {
        return err_set(err, STATUS_IO, "cannot make %s: %s", b->fifo, strerror(errno));
    }
    b->fifo_fd = open(b->fifo, O_RDWR | O_CLOEXEC); /* also to write: never at its end */
    return b->fifo_fd >= 0
               ? STATUS_OK
               : err_set(err, STATUS_IO, "cannot open %s: %s", b->fifo, strerror(errno));
}

static bool read_arguments(struct submits *b, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int count = bench_number(argc, argv, &i, "--count", 8, BENCH_COUNT_MAX, &b->count);
        int connections = count != 0 ? 0
                                     : bench_number(argc, argv, &i, "--connections", 1,
                                                    BENCH_CONNECTIONS_MAX, &b->connections);
        if (count != 0 || connections != 0) {
            if (count < 0 || connections < 0) {
                return false;
            }
        } else if (strcmp(argv[i], "--json") == 0) {
            b->bench.json = true;
        } else if (i + 1 < argc && strcmp(argv[i], "--dir") == 0) {
            b->bench.parent = argv[++i];
        } else {
            return false;
        }
    }
    return true;
}

int cmd_bench_submit(int argc, char **argv)
{
    struct submits b = {.bench = {.parent = "/var/tmp"},
                        .fifo_fd = -1,
                        .count = SUBMITS,
                        .connections = CONNECTIONS};
    struct err err;
    if (!read_arguments(&b, argc, argv)) {
        fprintf(stderr,
                "usage: weir bench submit [--count 8..%d] [--connections 1..%d] "
                "[--dir DIR] [--json]\n"
                "DIR (/var/tmp) should be on the disk that weir will use\n",
                BENCH_COUNT_MAX, BENCH_CONNECTIONS_MAX);
        return 2;
    }
    enum status status = prepare(&b, &err);
    status = status != STATUS_OK ? status : measure(&b, &err);
    file_close(&b.fifo_fd);
    bench_clean_up(&b.bench);
    if (status != STATUS_OK) {
        fprintf(stderr, "weir: error: %s\n", err.text);
    }
    return status_info(status)->exit;
}

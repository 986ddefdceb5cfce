// SPDX-License-Identifier: Apache-2.0
// bench: `weir bench submit` measures a server of its own on this machine: how long from a submit to
// the process it asked for, and how many submits a second become durable, beside what the machine
// needs for a plain sync and for a plain process. The server is this executable in another process,
// on a new directory, with simulated devices.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/num.h"
#include "base/sort.h"
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
    COUNT_MAX = 1000000,
    REPLY_BYTES_MAX = 1 << 20,
    START_TRIES = 600,
    START_PAUSE_US = 10000,
    WAIT_MS = 30000,
};

struct samples {
    int64_t *us;
    uint32_t count, cap;
};

struct bench {
    char dir[256];
    char socket[280], fifo[280];
    pid_t server;
    int fifo_fd;
    int64_t count;
    uint32_t connections;
    bool json;
    const char *parent;
};

/* ---- samples ---- */

static void samples_add(struct samples *s, int64_t us)
{
    if (s->count == s->cap) {
        uint32_t cap = s->cap == 0 ? 256 : s->cap * 2;
        s->us = mem_resize(s->us, sizeof *s->us * s->cap, sizeof *s->us * cap);
        s->cap = cap;
    }
    s->us[s->count++] = us;
}

static int cmp_us(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The permille-th of a thousand; 0 without samples. Sorts. */
static int64_t samples_at(struct samples *s, uint32_t permille)
{
    struct arena scratch;
    arena_init(&scratch, 0);
    sort_stable(s->us, s->count, sizeof *s->us, cmp_us, NULL, &scratch);
    arena_done(&scratch);
    return s->count == 0 ? 0 : s->us[(uint64_t)(s->count - 1) * permille / 1000];
}

static void show(const struct bench *b, const char *what, struct samples *s, int64_t elapsed_us)
{
    int64_t p50 = samples_at(s, 500);
    int64_t p99 = samples_at(s, 990);
    int64_t rate = elapsed_us > 0 ? (int64_t)s->count * 1000000 / elapsed_us : 0;
    if (b->json) {
        printf(
            "{\"what\":\"%s\",\"count\":%u,\"p50_us\":%lld,\"p99_us\":%lld,\"per_second\":%lld}\n",
            what, s->count, (long long)p50, (long long)p99, (long long)rate);
    } else {
        printf("%-38s p50 %6lld.%02lld ms   p99 %6lld.%02lld ms", what, (long long)(p50 / 1000),
               (long long)(p50 % 1000 / 10), (long long)(p99 / 1000), (long long)(p99 % 1000 / 10));
        if (rate > 0) {
            printf("   %7lld a second", (long long)rate);
        }
        printf("\n");
    }
    fflush(stdout);
    mem_free(s->us);
    *s = (struct samples){0};
}

/* ---- what the machine needs by itself ---- */

static enum status bench_sync(const struct bench *b, struct samples *s, struct err *err)
{
    char path[300];
    static char bytes[SYNC_BYTES];
    snprintf(path, sizeof path, "%s/sync", b->dir);
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
static enum status await_start(const struct bench *b, struct err *err)
{
    char byte;
    ssize_t n;
    do {
        n = read(b->fifo_fd, &byte, 1);
    } while (n < 0 && errno == EINTR);
    return n == 1 ? STATUS_OK
                  : err_set(err, STATUS_IO, "cannot read %s: %s", b->fifo, strerror(errno));
}

static void script_of(const struct bench *b, char out[400])
{
    snprintf(out, 400, "printf x >%s", b->fifo);
}

static enum status bench_process(const struct bench *b, struct samples *s, struct err *err)
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

/* ---- requests ---- */

static void put_request(struct buf *out, const char *path, const char *key, struct str body)
{
    buf_printf(out, "POST /api/weir/v1%s HTTP/1.1\r\nHost: weir\r\nContent-Length: %u\r\n", path,
               body.len);
    if (key != NULL) {
        buf_printf(out, "Idempotency-Key: %s\r\n", key);
    }
    buf_str(out, STR("\r\n"));
    buf_str(out, body);
}

/* The status of a whole answer in bytes, 0 when it is not whole yet. */
static int reply_status(struct str bytes, struct err *err)
{
    const char *end = bytes.len > 0 ? memmem(bytes.ptr, bytes.len, "\r\n\r\n", 4) : NULL;
    if (end == NULL) {
        return 0;
    }
    struct str head = {bytes.ptr, (uint32_t)(end - bytes.ptr)};
    int64_t length = 0;
    int64_t status = 0;
    struct str line;
    struct str rest = head;
    while (str_split(&rest, '\n', &line)) {
        if (str_starts(line, STR("Content-Length: ")) &&
            !num_parse_i64(str_trim(str_sub(line, 16, line.len)), &length)) {
            length = 0;
        }
    }
    if (!num_parse_i64(str_sub(head, 9, 3), &status)) {
        status = 599;
    }
    uint32_t body = (uint32_t)(end - bytes.ptr) + 4;
    if ((int64_t)bytes.len < body + length) {
        return 0;
    }
    if (status >= 300) {
        struct str text = str_sub(bytes, body, 300);
        err_set(err, STATUS_INTERNAL, "the server answered %lld: " STR_FMT, (long long)status,
                STR_ARG(text));
    }
    return (int)status;
}

static enum status ask(const struct bench *b, int fd, const char *path, struct str body,
                       struct err *err)
{
    struct buf io;
    (void)b;
    buf_init(&io, REPLY_BYTES_MAX);
    put_request(&io, path, NULL, body);
    enum status status = file_write_all(fd, buf_view(&io), err);
    buf_clear(&io);
    int code = 0;
    while (status == STATUS_OK && code == 0) {
        char bytes[4096];
        ssize_t n = read(fd, bytes, sizeof bytes);
        if (n <= 0) {
            status = err_set(err, STATUS_UNREACHABLE, "the server closed the connection");
        } else {
            buf_add(&io, bytes, (size_t)n);
            code = reply_status(buf_view(&io), err);
        }
    }
    buf_done(&io);
    return status != STATUS_OK ? status : code >= 300 ? err->status : STATUS_OK;
}

static struct str job(char out[700], const char *name, int64_t number, const char *script, int gpus)
{
    int len = snprintf(out, 700,
                       "{\"name\":\"%s-%lld\",\"project\":\"bench\",\"spec\":{\"command\":[\"sh\","
                       "\"-c\",\"%s\"],\"gpu_devices\":%d,\"cpu\":0.001,\"memory\":1048576}}",
                       name, (long long)number, script, gpus);
    return (struct str){out, (uint32_t)len};
}

/* ---- the server ---- */

static enum status start_server(struct bench *b, struct err *err)
{
    char data[300];
    snprintf(data, sizeof data, "%s/data", b->dir);
    b->server = fork();
    if (b->server == 0) {
        int log = open("/dev/null", O_WRONLY);
        dup2(log, STDOUT_FILENO);
        execl("/proc/self/exe", "weir", "up", "--data", data, "--socket", b->socket, "--listen",
              ":0", "--gpus", "fake:8", "--node-name", "bench", "--log-level", "warn",
              (char *)NULL);
        _exit(127);
    }
    if (b->server < 0) {
        return err_set(err, STATUS_IO, "cannot start a process: %s", strerror(errno));
    }
    int fd = -1;
    for (int i = 0; i < START_TRIES && fd < 0; i++) {
        if (waitpid(b->server, NULL, WNOHANG) == b->server) {
            b->server = 0;
            return err_set(err, STATUS_INTERNAL, "the server did not start");
        }
        if (connect_unix(b->socket, &fd, err) != STATUS_OK) {
            usleep(START_PAUSE_US);
        }
    }
    if (fd < 0) {
        return err_set(err, STATUS_TIMEOUT, "the server does not answer");
    }
    static const char plan[] = "organization: {departments: [{name: bench, node_pool_quotas: "
                               "{default: {guaranteed_gpus: 8}}, projects: [{name: bench, "
                               "node_pool_quotas: {default: {guaranteed_gpus: 8}}}]}]}";
    enum status status = ask(b, fd, "/plan/apply", str_from_c(plan), err);
    file_close(&fd);
    return status;
}

/* ---- what is measured ---- */

static enum status bench_start(const struct bench *b, struct samples *s, struct err *err)
{
    char script[400];
    char body[700];
    int fd = -1;
    script_of(b, script);
    enum status status = connect_unix(b->socket, &fd, err);
    for (int i = 0; status == STATUS_OK && i < STARTS; i++) {
        struct str text = job(body, "start", i, script, 1);
        int64_t start = clock_mono_us();
        status = ask(b, fd, "/workloads", text, err);
        status = status != STATUS_OK ? status : await_start(b, err);
        samples_add(s, clock_mono_us() - start);
    }
    file_close(&fd);
    return status;
}

struct connection {
    int fd;
    struct buf in;
    int64_t sent_us;
};

static enum status send_next(const struct bench *b, struct connection *c, const char *name,
                             int64_t number, struct err *err)
{
    char body[700];
    char key[80];
    struct buf out;
    (void)b;
    snprintf(key, sizeof key, "%s-%lld", name, (long long)number);
    buf_init(&out, 4096);
    put_request(&out, "/workloads", key, job(body, name, number, "exit", 9));
    c->sent_us = clock_mono_us();
    enum status status = file_write_all(c->fd, buf_view(&out), err);
    buf_done(&out);
    return status;
}

static enum status take_reply(struct connection *c, bool *whole, struct err *err)
{
    char bytes[8192];
    ssize_t n = read(c->fd, bytes, sizeof bytes);
    if (n <= 0) {
        return err_set(err, STATUS_UNREACHABLE, "the server closed the connection");
    }
    buf_add(&c->in, bytes, (size_t)n);
    int code = reply_status(buf_view(&c->in), err);
    *whole = code != 0;
    if (*whole) {
        buf_clear(&c->in);
    }
    return code >= 300 ? err->status : STATUS_OK;
}

/* The jobs are larger than the machine, so that none starts: what is measured is the store.
 * `count` submits over `connections` at once, each sending its next when it has its answer. */
static enum status bench_load(const struct bench *b, const char *name, uint32_t connections,
                              int64_t count, struct samples *s, int64_t *elapsed_us,
                              struct err *err)
{
    struct connection *all = mem_alloc(sizeof *all * connections);
    CLEANUP(file_close) int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    enum status status = STATUS_OK;
    int64_t sent = 0;
    int64_t start = clock_mono_us();
    for (uint32_t i = 0; i < connections; i++) {
        all[i].fd = -1;
        buf_init(&all[i].in, REPLY_BYTES_MAX);
    }
    for (uint32_t i = 0; status == STATUS_OK && i < connections && sent < count; i++) {
        status = connect_unix(b->socket, &all[i].fd, err);
        struct epoll_event e = {.events = EPOLLIN, .data.u32 = i};
        if (status == STATUS_OK && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, all[i].fd, &e) != 0) {
            status = err_set(err, STATUS_IO, "epoll: %s", strerror(errno));
        }
        status = status != STATUS_OK ? status : send_next(b, &all[i], name, sent++, err);
    }
    while (status == STATUS_OK && (int64_t)s->count < count) {
        struct epoll_event e;
        bool whole = false;
        if (epoll_wait(epoll_fd, &e, 1, WAIT_MS) != 1) {
            status = err_set(err, STATUS_TIMEOUT, "the server does not answer");
            break;
        }
        struct connection *c = &all[e.data.u32];
        status = take_reply(c, &whole, err);
        if (status == STATUS_OK && whole) {
            samples_add(s, clock_mono_us() - c->sent_us);
            status = sent < count ? send_next(b, c, name, sent++, err) : STATUS_OK;
        }
    }
    *elapsed_us = clock_mono_us() - start;
    for (uint32_t i = 0; i < connections; i++) {
        file_close(&all[i].fd);
        buf_done(&all[i].in);
    }
    mem_free(all);
    return status;
}

static enum status measure(struct bench *b, struct err *err)
{
    struct samples s = {0};
    int64_t elapsed_us = 0;
    char what[64];
    enum status status = bench_sync(b, &s, err);
    if (status == STATUS_OK) {
        show(b, "write of 4 KiB and sync", &s, 0);
        status = bench_process(b, &s, err);
    }
    if (status == STATUS_OK) {
        show(b, "fork and exec of sh", &s, 0);
        status = start_server(b, err);
    }
    status = status != STATUS_OK ? status : bench_start(b, &s, err);
    if (status == STATUS_OK) {
        show(b, "submit until sh runs, with a device", &s, 0);
        status = bench_load(b, "one", 1, b->count / 8, &s, &elapsed_us, err);
    }
    if (status == STATUS_OK) {
        show(b, "durable submits, 1 connection", &s, elapsed_us);
        status = bench_load(b, "many", b->connections, b->count, &s, &elapsed_us, err);
    }
    if (status == STATUS_OK) {
        snprintf(what, sizeof what, "durable submits, %u connections", b->connections);
        show(b, what, &s, elapsed_us);
    }
    mem_free(s.us);
    return status;
}

static enum status prepare(struct bench *b, struct err *err)
{
    snprintf(b->dir, sizeof b->dir, "%.200s/weir-bench-XXXXXX", b->parent);
    if (mkdtemp(b->dir) == NULL) {
        enum status status = err_set(err, STATUS_IO, "cannot make a directory in %s: %s", b->parent,
                                     strerror(errno));
        b->dir[0] = '\0';
        return status;
    }
    snprintf(b->socket, sizeof b->socket, "%s/s", b->dir);
    snprintf(b->fifo, sizeof b->fifo, "%s/started", b->dir);
    if (mkfifo(b->fifo, 0600) != 0) {
        return err_set(err, STATUS_IO, "cannot make %s: %s", b->fifo, strerror(errno));
    }
    b->fifo_fd = open(b->fifo, O_RDWR | O_CLOEXEC); /* also to write: never at its end */
    return b->fifo_fd >= 0
               ? STATUS_OK
               : err_set(err, STATUS_IO, "cannot open %s: %s", b->fifo, strerror(errno));
}

static void clean_up(struct bench *b)
{
    if (b->server > 0) {
        kill(b->server, SIGTERM);
        waitpid(b->server, NULL, 0);
    }
    file_close(&b->fifo_fd);
    struct err err;
    if (b->dir[0] != '\0' && file_remove_tree(AT_FDCWD, b->dir, &err) != STATUS_OK) {
        fprintf(stderr, "weir: %s\n", err.text);
    }
}

static bool read_arguments(struct bench *b, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int64_t number = 0;
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--json") == 0) {
            b->json = true;
        } else if (more && strcmp(argv[i], "--dir") == 0) {
            b->parent = argv[++i];
        } else if (more && strcmp(argv[i], "--count") == 0 &&
                   num_parse_i64(str_from_c(argv[++i]), &number) && number >= 8 &&
                   number <= COUNT_MAX) {
            b->count = number;
        } else if (more && strcmp(argv[i], "--connections") == 0 &&
                   num_parse_i64(str_from_c(argv[++i]), &number) && number >= 1 && number <= 400) {
            b->connections = (uint32_t)number;
        } else {
            return false;
        }
    }
    return true;
}

int cmd_bench_submit(int argc, char **argv)
{
    struct bench b = {
        .fifo_fd = -1, .count = SUBMITS, .connections = CONNECTIONS, .parent = "/var/tmp"};
    struct err err;
    if (!read_arguments(&b, argc, argv)) {
        fprintf(stderr,
                "usage: weir bench submit [--count 8..%d] [--connections 1..400] "
                "[--dir DIR] [--json]\n"
                "DIR (/var/tmp) should be on the disk that weir will use\n",
                COUNT_MAX);
        return 2;
    }
    enum status status = prepare(&b, &err);
    status = status != STATUS_OK ? status : measure(&b, &err);
    clean_up(&b);
    if (status != STATUS_OK) {
        fprintf(stderr, "weir: error: %s\n", err.text);
    }
    return status_info(status)->exit;
}

// SPDX-License-Identifier: Apache-2.0
#include "cmd/bench_kit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"
#include "base/sort.h"
#include "io/clock.h"
#include "io/file.h"
#include "io/listen.h"

enum {
    REPLY_BYTES_MAX = 16 << 20,
    START_TRIES = 600,
    START_PAUSE_US = 10000,
    WAIT_MS = 30000,
};

/* ---- samples ---- */

void samples_add(struct samples *s, int64_t us)
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

void bench_show(const struct bench *b, const char *what, struct samples *s, int64_t elapsed_us)
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

/* ---- requests ---- */

void bench_request(struct buf *out, const char *method, const char *path, const char *key,
                   struct str body)
{
    buf_printf(out, "%s %s HTTP/1.1\r\nHost: weir\r\nContent-Length: %u\r\n", method, path,
               body.len);
    if (key != NULL) {
        buf_printf(out, "Idempotency-Key: %s\r\n", key);
    }
    buf_str(out, STR("\r\n"));
    buf_str(out, body);
}

/* The status of a whole answer in bytes, 0 when it is not whole yet; *length is that of its body. */
static int reply_status(struct str bytes, int64_t *length, struct err *err)
{
    const char *end = bytes.len > 0 ? memmem(bytes.ptr, bytes.len, "\r\n\r\n", 4) : NULL;
    if (end == NULL) {
        return 0;
    }
    struct str head = {bytes.ptr, (uint32_t)(end - bytes.ptr)};
    *length = 0;
    int64_t status = 0;
    struct str line;
    struct str rest = head;
    while (str_split(&rest, '\n', &line)) {
        if (str_starts(line, STR("Content-Length: ")) &&
            !num_parse_i64(str_trim(str_sub(line, 16, line.len)), length)) {
            *length = 0;
        }
    }
    if (!num_parse_i64(str_sub(head, 9, 3), &status)) {
        status = 599;
    }
    uint32_t body = (uint32_t)(end - bytes.ptr) + 4;
    if ((int64_t)bytes.len < body + *length) {
        return 0;
    }
    if (status >= 300) {
        struct str text = str_sub(bytes, body, 300);
        err_set(err, STATUS_INTERNAL, "the server answered %lld: " STR_FMT, (long long)status,
                STR_ARG(text));
    }
    return (int)status;
}

enum status bench_ask(int fd, const char *method, const char *path, struct str body, int64_t *bytes,
                      struct err *err)
{
    struct buf io;
    int64_t length = 0;
    buf_init(&io, REPLY_BYTES_MAX);
    bench_request(&io, method, path, NULL, body);
    enum status status = file_write_all(fd, buf_view(&io), err);
    buf_clear(&io);
    int code = 0;
    while (status == STATUS_OK && code == 0) {
        char piece[16384];
        ssize_t n = read(fd, piece, sizeof piece);
        if (n <= 0) {
            status = err_set(err, STATUS_UNREACHABLE, "the server closed the connection");
        } else {
            buf_add(&io, piece, (size_t)n);
            code = reply_status(buf_view(&io), &length, err);
        }
    }
    buf_done(&io);
    if (bytes != NULL) {
        *bytes = length;
    }
    return status != STATUS_OK ? status : code >= 300 ? err->status : STATUS_OK;
}

/* ---- the server ---- */

enum status bench_prepare(struct bench *b, struct err *err)
{
    snprintf(b->dir, sizeof b->dir, "%.200s/weir-bench-XXXXXX", b->parent);
    if (mkdtemp(b->dir) == NULL) {
        enum status status = err_set(err, STATUS_IO, "cannot make a directory in %s: %s", b->parent,
                                     strerror(errno));
        b->dir[0] = '\0';
        return status;
    }
    snprintf(b->socket, sizeof b->socket, "%s/s", b->dir);
    return STATUS_OK;
}

void bench_clean_up(struct bench *b)
{
    if (b->server > 0) {
        kill(b->server, SIGTERM);
        waitpid(b->server, NULL, 0);
    }
    struct err err;
    if (b->dir[0] != '\0' && file_remove_tree(AT_FDCWD, b->dir, &err) != STATUS_OK) {
        fprintf(stderr, "weir: %s\n", err.text);
    }
}

enum status bench_server(struct bench *b, struct err *err)
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
    file_close(&fd);
    return STATUS_OK;
}

/* ---- load ---- */

enum status bench_connect_tcp(uint16_t port, int *fd, struct err *err)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int one = 1;
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd < 0 || connect(*fd, (struct sockaddr *)&to, sizeof to) != 0) {
        enum status status = err_set(err, STATUS_UNREACHABLE, "cannot connect to port %u: %s",
                                     (unsigned)port, strerror(errno));
        file_close(fd);
        return status;
    }
    setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return STATUS_OK;
}

struct connection {
    int fd;
    struct buf in;
    int64_t sent_us;
};

static enum status send_next(const struct bench_load *load, struct connection *c, int64_t number,
                             struct err *err)
{
    struct buf out;
    buf_init(&out, 64 << 10);
    load->put(load->ctx, number, &out);
    c->sent_us = clock_mono_us();
    enum status status = file_write_all(c->fd, buf_view(&out), err);
    buf_done(&out);
    return status;
}

static enum status take_reply(struct connection *c, bool *whole, struct err *err)
{
    char bytes[65536];
    int64_t length;
    ssize_t n = read(c->fd, bytes, sizeof bytes);
    if (n <= 0) {
        return err_set(err, STATUS_UNREACHABLE, "the server closed the connection");
    }
    buf_add(&c->in, bytes, (size_t)n);
    int code = reply_status(buf_view(&c->in), &length, err);
    *whole = code != 0;
    if (*whole) {
        buf_clear(&c->in);
    }
    return code >= 300 ? err->status : STATUS_OK;
}

static enum status connect_one(const struct bench_load *load, int *fd, struct err *err)
{
    return load->socket != NULL ? connect_unix(load->socket, fd, err)
                                : bench_connect_tcp(load->port, fd, err);
}

enum status bench_run(const struct bench_load *load, struct samples *s, int64_t *elapsed_us,
                      struct err *err)
{
    struct connection *all = mem_alloc(sizeof *all * load->connections);
    CLEANUP(file_close) int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    enum status status = STATUS_OK;
    int64_t sent = 0;
    int64_t start = clock_mono_us();
    for (uint32_t i = 0; i < load->connections; i++) {
        all[i].fd = -1;
        buf_init(&all[i].in, REPLY_BYTES_MAX);
    }
    for (uint32_t i = 0; status == STATUS_OK && i < load->connections && sent < load->count; i++) {
        status = connect_one(load, &all[i].fd, err);
        struct epoll_event e = {.events = EPOLLIN, .data.u32 = i};
        if (status == STATUS_OK && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, all[i].fd, &e) != 0) {
            status = err_set(err, STATUS_IO, "epoll: %s", strerror(errno));
        }
        status = status != STATUS_OK ? status : send_next(load, &all[i], sent++, err);
    }
    while (status == STATUS_OK && (int64_t)s->count < load->count) {
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
            status = sent < load->count ? send_next(load, c, sent++, err) : STATUS_OK;
        }
    }
    *elapsed_us = clock_mono_us() - start;
    for (uint32_t i = 0; i < load->connections; i++) {
        file_close(&all[i].fd);
        buf_done(&all[i].in);
    }
    mem_free(all);
    return status;
}

int bench_number(int argc, char **argv, int *i, const char *name, int64_t min, int64_t max,
                 int64_t *out)
{
    if (strcmp(argv[*i], name) != 0) {
        return 0;
    }
    ++*i;
    return *i < argc && num_parse_i64(str_from_c(argv[*i]), out) && *out >= min && *out <= max ? 1
                                                                                               : -1;
}

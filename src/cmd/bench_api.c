// SPDX-License-Identifier: Apache-2.0
// bench: `weir bench api` measures what a server with many projects and workloads answers, while others
// watch it: lists, single reads, durable writes; beside them nginx, where it is installed, with a file
// as long as the list.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd/bench_kit.h"
#include "cmd/cmd.h"
#include "io/file.h"
#include "io/listen.h"

enum {
    PROJECTS = 1000,
    WORKLOADS = 10000,
    WATCHERS = 100,
    WATCHERS_MAX = 300, /* beside the load, within what the server lets connect */
    DEPARTMENT = 50,    /* projects of one */
    CONNECTIONS = 16,
    LISTS = 500,
    READS = 5000,
    SUBMITS = 500,
    PLAN_BYTES_MAX = 4 << 20,
    NGINX_TRIES = 200,
    PAUSE_US = 10000,
};
#define LIST     "/api/v1/workloads?limit=50"
#define LIST_OWN "/api/weir/v1/workloads?limit=500"

struct load {
    struct bench bench;
    int64_t projects, workloads, watchers;
    int64_t named; /* workloads so far */
    int watching;  /* the process that does, 0: none */
    int nginx;     /* the process, 0: none */
    char nginx_socket[300];
};

/* ---- what is there ---- */

static void write_plan(const struct load *b, struct buf *plan)
{
    buf_str(plan, STR("organization:\n  departments:\n"));
    for (int64_t i = 0; i < b->projects; i++) {
        if (i % DEPARTMENT == 0) {
            buf_printf(
                plan,
                "    - name: d%lld\n      node_pool_quotas: {default: {guaranteed_gpus: 0}}\n"
                "      projects:\n",
                (long long)(i / DEPARTMENT));
        }
        buf_printf(plan,
                   "        - {name: p%lld, node_pool_quotas: {default: {guaranteed_gpus: 0}}}\n",
                   (long long)i);
    }
}

static enum status apply_plan(const struct load *b, struct err *err)
{
    struct buf plan;
    CLEANUP(file_close) int fd = -1;
    buf_init(&plan, PLAN_BYTES_MAX);
    write_plan(b, &plan);
    enum status status = connect_unix(b->bench.socket, &fd, err);
    if (status == STATUS_OK) {
        status = bench_ask(fd, "POST", "/api/weir/v1/plan/apply", buf_view(&plan), NULL, err);
    }
    buf_done(&plan);
    return status;
}

/* The jobs are larger than the machine, so that none starts. */
static void put_submit(void *ctx, int64_t number, struct buf *out)
{
    const struct load *b = ctx;
    char body[400];
    char key[64];
    int64_t n = b->named + number;
    int len = snprintf(
        body, sizeof body,
        "{\"name\":\"w-%lld\",\"project\":\"p%lld\",\"spec\":{\"command\":[\"true\"],"
        "\"gpu_devices\":9,\"cpu\":0.001,\"memory\":1048576}}",
        (long long)n, (long long)(n % b->projects));
    snprintf(key, sizeof key, "w-%lld", (long long)n);
    bench_request(out, "POST", "/api/weir/v1/workloads", key, (struct str){body, (uint32_t)len});
}

static void put_list(void *ctx, int64_t number, struct buf *out)
{
    (void)ctx;
    (void)number;
    bench_request(out, "GET", LIST, NULL, STR(""));
}

static void put_list_own(void *ctx, int64_t number, struct buf *out)
{
    (void)ctx;
    (void)number;
    bench_request(out, "GET", LIST_OWN, NULL, STR(""));
}

static void put_read(void *ctx, int64_t number, struct buf *out)
{
    const struct load *b = ctx;
    char path[128];
    int64_t n = number * 7919 % b->workloads;
    snprintf(path, sizeof path, "/api/weir/v1/workloads/p%lld/w-%lld", (long long)(n % b->projects),
             (long long)n);
    bench_request(out, "GET", path, NULL, STR(""));
}

static void put_file(void *ctx, int64_t number, struct buf *out)
{
    (void)ctx;
    (void)number;
    bench_request(out, "GET", "/list", NULL, STR(""));
}

/* ---- watchers ---- */

/* What the stream says when a new watcher has been told of all there is. */
#define CAUGHT_UP ": that is all there is now"

struct watcher {
    int fd;
    char tail[2 * sizeof CAUGHT_UP]; /* the end of what came last */
    uint32_t len;
    bool caught_up;
};

static void note(struct watcher *w, const char *bytes, size_t count)
{
    enum { LEN = sizeof CAUGHT_UP - 1 };
    char seam[4 * sizeof CAUGHT_UP];
    size_t head = count < LEN ? count : LEN;
    memcpy(seam, w->tail, w->len);
    memcpy(seam + w->len, bytes, head);
    w->caught_up = w->caught_up || memmem(seam, w->len + head, CAUGHT_UP, LEN) != NULL ||
                   memmem(bytes, count, CAUGHT_UP, LEN) != NULL;
    w->len = (uint32_t)head;
    memcpy(w->tail, bytes + count - head, head);
}

static void watch(const struct load *b, int ready)
{
    static const char request[] = "GET /api/weir/v1/workloads/watch HTTP/1.1\r\nHost: weir\r\n\r\n";
    static struct watcher all[WATCHERS_MAX];
    int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    int64_t behind = b->watchers;
    struct err err;
    for (int64_t i = 0; i < b->watchers; i++) {
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &all[i]};
        if (connect_unix(b->bench.socket, &all[i].fd, &err) != STATUS_OK ||
            file_write_all(all[i].fd, str_from_c(request), &err) != STATUS_OK) {
            _exit(1);
        }
        epoll_ctl(epoll_fd, EPOLL_CTL_ADD, all[i].fd, &e);
    }
    for (;;) {
        char bytes[65536];
        struct epoll_event e;
        if (epoll_wait(epoll_fd, &e, 1, -1) != 1) {
            continue;
        }
        struct watcher *w = e.data.ptr;
        bool was = w->caught_up;
        ssize_t n = read(w->fd, bytes, sizeof bytes);
        if (n <= 0) {
            _exit(1);
        }
        note(w, bytes, (size_t)n);
        behind -= w->caught_up && !was;
        if (w->caught_up && !was && behind == 0) {
            (void)!write(ready, "r", 1);
        }
    }
}

static enum status start_watchers(struct load *b, struct err *err)
{
    int pair[2];
    char byte;
    if (b->watchers == 0) {
        return STATUS_OK;
    }
    if (pipe2(pair, O_CLOEXEC) != 0 || (b->watching = fork()) < 0) {
        b->watching = 0;
        return err_set(err, STATUS_IO, "cannot start a process: %s", strerror(errno));
    }
    if (b->watching == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pair[0]);
        watch(b, pair[1]);
    }
    close(pair[1]);
    bool ready = read(pair[0], &byte, 1) == 1;
    close(pair[0]);
    return ready ? STATUS_OK : err_set(err, STATUS_INTERNAL, "the watchers could not connect");
}

/* ---- nginx, with a file ---- */

static enum status write_file(const char *dir, const char *name, struct str text, struct err *err)
{
    CLEANUP(file_close) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return file_write(fd, name, text, 0644, false, err);
}

static enum status write_nginx(const struct load *b, int64_t bytes, struct err *err)
{
    char text[1200];
    int len = snprintf(
        text, sizeof text,
        "daemon off; worker_processes 1; error_log /dev/null; pid %s/nginx.pid;\n"
        "events { worker_connections 512; }\n"
        "http { access_log off; keepalive_requests 10000000; default_type application/json;\n"
        " client_body_temp_path %s; proxy_temp_path %s; fastcgi_temp_path %s; uwsgi_temp_path %s;\n"
        " scgi_temp_path %s; server { listen unix:%s; root %s; } }\n",
        b->bench.dir, b->bench.dir, b->bench.dir, b->bench.dir, b->bench.dir, b->bench.dir,
        b->nginx_socket, b->bench.dir);
    struct buf file;
    buf_init(&file, 64 << 20);
    for (int64_t i = 0; i < bytes; i++) {
        buf_char(&file, 'x');
    }
    enum status status = write_file(b->bench.dir, "list", buf_view(&file), err);
    buf_done(&file);
    return status != STATUS_OK
               ? status
               : write_file(b->bench.dir, "nginx.conf", (struct str){text, (uint32_t)len}, err);
}

/* True: it answers. Not being installed is no error. */
static bool start_nginx(struct load *b, int64_t bytes)
{
    struct err err;
    char conf[300];
    snprintf(b->nginx_socket, sizeof b->nginx_socket, "%s/n", b->bench.dir);
    snprintf(conf, sizeof conf, "%s/nginx.conf", b->bench.dir);
    if (write_nginx(b, bytes, &err) != STATUS_OK || (b->nginx = fork()) < 0) {
        b->nginx = 0;
        return false;
    }
    if (b->nginx == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        execlp("nginx", "nginx", "-c", conf, (char *)NULL);
        execl("/usr/sbin/nginx", "nginx", "-c", conf, (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < NGINX_TRIES; i++) {
        CLEANUP(file_close) int fd = -1;
        if (connect_unix(b->nginx_socket, &fd, &err) == STATUS_OK) {
            return true;
        }
        if (waitpid(b->nginx, NULL, WNOHANG) == b->nginx) {
            b->nginx = 0;
            return false;
        }
        usleep(PAUSE_US);
    }
    return false;
}

/* ---- what is measured ---- */

static enum status one(struct load *b, const char *what, const char *socket, uint32_t connections,
                       int64_t count, void (*put)(void *, int64_t, struct buf *), struct err *err)
{
    struct samples s = {0};
    int64_t elapsed_us = 0;
    char line[96];
    enum status status = bench_run(
        &(struct bench_load){
            .socket = socket, .connections = connections, .count = count, .put = put, .ctx = b},
        &s, &elapsed_us, err);
    if (status == STATUS_OK && what != NULL) {
        snprintf(line, sizeof line, "%s, %u connection%s", what, connections,
                 connections == 1 ? "" : "s");
        bench_show(&b->bench, line, &s, elapsed_us);
    }
    mem_free(s.us);
    return status;
}

static enum status fill(struct load *b, struct err *err)
{
    enum status status = bench_server(&b->bench, err);
    status = status != STATUS_OK ? status : apply_plan(b, err);
    if (status == STATUS_OK && b->workloads > 0) {
        status = one(b, NULL, b->bench.socket, 64, b->workloads, put_submit, err);
        b->named = b->workloads;
    }
    return status != STATUS_OK ? status : start_watchers(b, err);
}

static enum status measure(struct load *b, struct err *err)
{
    const char *weir = b->bench.socket;
    int64_t bytes = 0;
    CLEANUP(file_close) int fd = -1;
    enum status status = fill(b, err);
    if (status == STATUS_OK) {
        status = one(b, "list of 50, Run:ai's form", weir, 1, LISTS, put_list, err);
    }
    if (status == STATUS_OK) {
        status = one(b, "list of 500, weir's form", weir, 1, LISTS, put_list_own, err);
    }
    if (status == STATUS_OK) {
        status = one(b, "durable submits", weir, 1, SUBMITS, put_submit, err);
        b->named += SUBMITS;
    }
    if (status == STATUS_OK) {
        status = one(b, "durable submits", weir, CONNECTIONS, SUBMITS * 4, put_submit, err);
        b->named += SUBMITS * 4;
    }
    if (status == STATUS_OK) {
        status = one(b, "one workload", weir, CONNECTIONS, READS, put_read, err);
    }
    if (status == STATUS_OK) {
        status = one(b, "list of 50", weir, CONNECTIONS, READS, put_list, err);
    }
    status = status != STATUS_OK ? status : connect_unix(weir, &fd, err);
    status = status != STATUS_OK ? status : bench_ask(fd, "GET", LIST, STR(""), &bytes, err);
    if (status == STATUS_OK && start_nginx(b, bytes)) {
        status = one(b, "nginx, a file as long", b->nginx_socket, CONNECTIONS, READS, put_file,
                     err);
    } else if (status == STATUS_OK && !b->bench.json) {
        printf("nginx is not installed: nothing to compare the last line with\n");
    }
    return status;
}

static void end_process(int *pid)
{
    if (*pid > 0) {
        kill(*pid, SIGTERM);
        waitpid(*pid, NULL, 0);
        *pid = 0;
    }
}

static bool read_arguments(struct load *b, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int got = bench_number(argc, argv, &i, "--projects", 1, 20000, &b->projects);
        got = got != 0 ? got
                       : bench_number(argc, argv, &i, "--workloads", 1, 100000, &b->workloads);
        got = got != 0 ? got
                       : bench_number(argc, argv, &i, "--watchers", 0, WATCHERS_MAX, &b->watchers);
        if (got < 0) {
            return false;
        }
        if (got > 0) {
            continue;
        }
        if (strcmp(argv[i], "--json") == 0) {
            b->bench.json = true;
        } else if (i + 1 < argc && strcmp(argv[i], "--dir") == 0) {
            b->bench.parent = argv[++i];
        } else {
            return false;
        }
    }
    return true;
}

int cmd_bench_api(int argc, char **argv)
{
    struct load b = {.bench = {.parent = "/var/tmp"},
                     .projects = PROJECTS,
                     .workloads = WORKLOADS,
                     .watchers = WATCHERS};
    struct err err;
    if (!read_arguments(&b, argc, argv)) {
        fprintf(stderr,
                "usage: weir bench api [--projects 1..20000] [--workloads 1..100000] "
                "[--watchers 0..%d] [--dir DIR] [--json]\n"
                "DIR (/var/tmp) should be on the disk that weir will use\n",
                WATCHERS_MAX);
        return 2;
    }
    enum status status = bench_prepare(&b.bench, &err);
    status = status != STATUS_OK ? status : measure(&b, &err);
    end_process(&b.watching);
    end_process(&b.nginx);
    bench_clean_up(&b.bench);
    if (status != STATUS_OK) {
        fprintf(stderr, "weir: error: %s\n", err.text);
    }
    return status_info(status)->exit;
}

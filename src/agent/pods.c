// SPDX-License-Identifier: Apache-2.0
#include "agent/pods.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/num.h"
#include "io/clock.h"
#include "io/file.h"
#include "io/log.h"

enum {
    STOPS_MS_MAX = 50,
    LISTEN_BACKLOG = 64,
    RETRY_FIRST_MS = 2,
    RETRY_LAST_MS = 1000,
    WORK_RECHECK_MS = 50
};

bool agent_watch(struct agent *a, int fd, enum source source, uint64_t serial)
{
    struct epoll_event e = {.events = EPOLLIN,
                            .data.u64 = serial << SOURCE_BITS | (uint64_t)source};
    return epoll_ctl(a->epoll_fd, EPOLL_CTL_ADD, fd, &e) == 0;
}

void agent_wake(struct agent *a)
{
    (void)!write(a->event_fd, &(uint64_t){1}, sizeof(uint64_t));
}

/* ---- observations ---- */

struct input *pods_observe(struct agent *a, enum input_kind kind)
{
    struct input *in = ARRAY_PUSH(&a->queue_arena, &a->queue);
    in->kind = kind;
    in->version = INPUT_VERSION;
    agent_wake(a);
    return in;
}

void pod_observe(struct agent *a, const struct agent_pod *p, enum input_kind kind, int64_t at_ms)
{
    struct input *in = pods_observe(a, kind);
    in->pod = (struct pod_report){
        .pod = p->pod,
        .attempt = p->attempt,
        .at_ms = at_ms,
        .exit_code = p->status.exit_code,
        .reason = arena_str(&a->queue_arena, str_from_c(p->status.reason)),
    };
}

void pod_tell(struct agent *a, struct agent_pod *p)
{
    const struct pod_status *st = &p->status;
    if (st->started_ms >= 0 && !p->told_started) {
        p->told_started = true;
        pod_observe(a, p, INPUT_POD_STARTED, st->started_ms);
    }
    if (st->state == POD_STATE_EXITED) {
        pod_observe(a, p, INPUT_POD_EXITED, st->ended_ms);
    } else if (st->state == POD_STATE_FAILED) {
        pod_observe(a, p, INPUT_POD_FAILED, st->ended_ms);
    }
}

/* ---- the list of pods ---- */

struct agent_pod *pod_find(const struct agent *a, struct uuid pod, uint32_t attempt)
{
    for (uint32_t i = 0; i < a->pods_count; i++) {
        if (a->pods[i]->attempt == attempt && uuid_eq(a->pods[i]->pod, pod)) {
            return a->pods[i];
        }
    }
    return NULL;
}

struct agent_pod *pod_by_serial(const struct agent *a, uint64_t serial)
{
    for (uint32_t i = 0; i < a->pods_count; i++) {
        if (a->pods[i]->serial == serial) {
            return a->pods[i];
        }
    }
    return NULL;
}

struct agent_pod *pod_add(struct agent *a, struct uuid pod, uint32_t attempt)
{
    if (a->pods_count == a->pods_cap) {
        uint32_t cap = a->pods_cap == 0 ? 64 : a->pods_cap * 2;
        a->pods = mem_resize(a->pods, a->pods_cap * sizeof(*a->pods), cap * sizeof(*a->pods));
        a->pods_cap = cap;
    }
    struct agent_pod *p = mem_alloc(sizeof(*p));
    p->serial = ++a->next_serial;
    p->pod = pod;
    p->attempt = attempt;
    p->dir_fd = p->sock = -1;
    p->retry_ms = RETRY_FIRST_MS;
    launch_name(pod, attempt, p->name);
    buf_init(&p->in, FRAME_MAX);
    arena_init(&p->use.arena, 0);
    status_init(&p->status);
    a->pods[a->pods_count++] = p;
    return p;
}

void pod_close(struct agent_pod *p)
{
    file_close(&p->dir_fd);
    file_close(&p->sock);
    buf_done(&p->in);
    arena_done(&p->use.arena);
    mem_free(p);
}

void pod_files_remove(const struct agent *a, struct uuid pod, uint32_t attempt)
{
    char name[LAUNCH_NAME_SIZE];
    launch_name(pod, attempt, name);
    struct err err;
    if (file_remove_tree(a->pods_fd, name, &err) != STATUS_OK) {
        log_err(LOG_WARN, "pod_files_left", &err); // they stay until the next FORGET
    }
}

void pod_remove(struct agent *a, struct agent_pod *p)
{
    for (uint32_t i = 0; i < a->pods_count; i++) {
        if (a->pods[i] == p) {
            a->pods[i] = a->pods[--a->pods_count];
            break;
        }
    }
    struct uuid pod = p->pod;
    uint32_t attempt = p->attempt;
    bool forget = p->forget;
    pod_close(p);
    if (forget) {
        pod_files_remove(a, pod, attempt);
    }
}

/* ---- talking to a supervisor ---- */

/* A path of any length fits into a socket address by way of the directory's descriptor. */
static struct sockaddr_un socket_address(const struct agent_pod *p)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/sock", p->dir_fd);
    return address;
}

int pod_dial(const struct agent_pod *p)
{
    struct sockaddr_un address = socket_address(p);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        file_close(&fd);
    }
    return fd;
}

int pod_listen(const struct agent_pod *p)
{
    struct sockaddr_un address = socket_address(p);
    (void)unlinkat(p->dir_fd, "sock", 0);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && (bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
                    fchmodat(p->dir_fd, "sock", 0600, 0) != 0 || listen(fd, LISTEN_BACKLOG) != 0)) {
        file_close(&fd);
    }
    return fd;
}

static bool pod_send(struct agent_pod *p, enum frame_kind kind, struct str body)
{
    struct buf out;
    buf_init(&out, 256);
    frame_add(&out, (uint8_t)kind, body);
    bool sent = send(p->sock, out.ptr, out.len, MSG_NOSIGNAL) == (ssize_t)out.len;
    buf_done(&out);
    return sent;
}

void pods_timer(struct agent *a)
{
    int64_t at = INT64_MAX;
    for (uint32_t i = 0; i < a->pods_count; i++) {
        if (a->pods[i]->stage == STAGE_EXPECTED) {
            at = num_min_i64(at, a->pods[i]->retry_at_ms);
        }
    }
    if (a->checkpoints_at_ms > 0) {
        at = num_min_i64(at, a->checkpoints_at_ms);
    }
    if (a->uses_at_ms > 0) {
        at = num_min_i64(at, a->uses_at_ms);
    }
    if (a->work_waits) {
        at = num_min_i64(at, clock_mono_ms() + WORK_RECHECK_MS);
    }
    struct itimerspec when = {0};
    if (at != INT64_MAX) {
        int64_t left = num_max_i64(at - clock_mono_ms(), 1);
        when.it_value = (struct timespec){left / 1000, left % 1000 * 1000000};
    }
    (void)timerfd_settime(a->timer_fd, 0, &when, NULL);
}

void pod_expect(struct agent *a, struct agent_pod *p)
{
    p->stage = STAGE_EXPECTED;
    p->retry_at_ms = clock_mono_ms() + p->retry_ms;
    p->retry_ms = num_min_i64(p->retry_ms * 2, RETRY_LAST_MS);
    pods_timer(a);
}

void pod_send_stop(struct agent_pod *p)
{
    char digits[32];
    (void)snprintf(digits, sizeof(digits), "%lld", (long long)p->grace_ms);
    p->stop_sent = pod_send(p, FRAME_STOP, str_from_c(digits));
    p->stops_until_ms = clock_mono_ms() + STOPS_MS_MAX;
}

bool pod_connect(struct agent *a, struct agent_pod *p)
{
    p->sock = pod_dial(p);
    if (p->sock < 0) {
        return false;
    }
    if (!pod_send(p, FRAME_WATCH, STR("")) || !agent_watch(a, p->sock, SOURCE_SOCKET, p->serial)) {
        file_close(&p->sock);
        return false;
    }
    p->stage = STAGE_CONNECTED;
    p->retry_ms = RETRY_FIRST_MS;
    if (a->checkpoints_at_ms == 0) {
        a->checkpoints_at_ms = clock_mono_ms() + a->checkpoints_every_ms;
        a->uses_at_ms = clock_mono_ms() + a->uses_every_ms;
        pods_timer(a);
    }
    if (p->stop_wanted) {
        pod_send_stop(p);
    }
    return true;
}

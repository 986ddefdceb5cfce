// SPDX-License-Identifier: Apache-2.0
// Each pod known here is in one of two stages: its supervisor is connected (it tells every change),
// or it is expected (somebody holds the lock, nobody listens: it is just starting, just ending, or
// being cleaned up). One that has ended is not known here: its directory says all. pod_settle
// finds out which, always in the same way: socket, lock, status, started. It is used for START and
// STOP of a pod that is not known, after a restart, and when a connection breaks.
//
// The listening socket is made here before the supervisor is, so that connecting never races with
// its start; the lock is taken here and handed over with the descriptor.
#include "agent/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/exec.h"
#include "agent/frame.h"
#include "agent/launch.h"
#include "agent/machine.h"
#include "agent/nursery.h"
#include "agent/start.h"
#include "base/array.h"
#include "base/mem.h"
#include "base/num.h"
#include "io/clock.h"
#include "io/file.h"
#include "io/log.h"

enum {
    LISTEN_BACKLOG = 64,
    RETRY_FIRST_MS = 2,
    RETRY_LAST_MS = 1000,
    PATH_SIZE = 4096,
    EVENTS_AT_ONCE = 64,
};

enum stage { STAGE_EXPECTED, STAGE_CONNECTED };

struct agent_pod {
    uint64_t serial;
    struct uuid pod;
    uint32_t attempt;
    char name[LAUNCH_NAME_SIZE];
    enum stage stage;
    int dir_fd, sock;
    struct buf in;
    struct pod_status status; /* as last told */
    bool told, told_started;
    bool launched; /* we started its supervisor */
    bool cleaned;  /* and one to clean up after it */
    bool stop_wanted, stop_sent, forget;
    int64_t grace_ms;
    int64_t retry_at_ms, retry_ms;
};

struct agent {
    struct arena arena; /* what lives as long as the agent */
    struct str data_dir, pods_dir;
    int pods_fd, epoll_fd, event_fd, timer_fd;
    struct machine machine;
    struct nursery nursery;
    struct agent_pod **pods;
    uint32_t pods_count, pods_cap;
    uint64_t next_serial;
    struct arena queue_arena; /* observations not yet handed on */
    ARRAY(struct input) queue;
    uint32_t queue_next;
};

/* What an epoll event is about: serial of the pod in the upper bits. */
enum source { SOURCE_QUEUE, SOURCE_TIMER, SOURCE_DEVICES, SOURCE_SOCKET };
enum { SOURCE_BITS = 3 };

static bool watch(struct agent *a, int fd, enum source source, uint64_t serial)
{
    struct epoll_event e = {.events = EPOLLIN,
                            .data.u64 = serial << SOURCE_BITS | (uint64_t)source};
    return epoll_ctl(a->epoll_fd, EPOLL_CTL_ADD, fd, &e) == 0;
}

/* ---- observations ---- */

static struct input *observe(struct agent *a, enum input_kind kind)
{
    struct input *in = ARRAY_PUSH(&a->queue_arena, &a->queue);
    in->kind = kind;
    in->version = INPUT_VERSION;
    (void)!write(a->event_fd, &(uint64_t){1}, sizeof(uint64_t));
    return in;
}

static void observe_pod(struct agent *a, const struct agent_pod *p, enum input_kind kind,
                        int64_t at_ms)
{
    struct input *in = observe(a, kind);
    in->pod = (struct pod_report){
        .pod = p->pod,
        .attempt = p->attempt,
        .at_ms = at_ms,
        .exit_code = p->status.exit_code,
        .reason = arena_str(&a->queue_arena, str_from_c(p->status.reason)),
    };
}

/* Says what the status says; a start is told before its end even when both are news at once. */
static void pod_tell(struct agent *a, struct agent_pod *p)
{
    const struct pod_status *st = &p->status;
    if (st->started_ms >= 0 && !p->told_started) {
        p->told_started = true;
        observe_pod(a, p, INPUT_POD_STARTED, st->started_ms);
    }
    if (st->state == POD_STATE_EXITED) {
        observe_pod(a, p, INPUT_POD_EXITED, st->ended_ms);
    } else if (st->state == POD_STATE_FAILED) {
        observe_pod(a, p, INPUT_POD_FAILED, st->ended_ms);
    }
}

static bool status_is_final(const struct pod_status *st)
{
    return st->state == POD_STATE_EXITED || st->state == POD_STATE_FAILED;
}

/* ---- the list of pods ---- */

static struct agent_pod *pod_find(const struct agent *a, struct uuid pod, uint32_t attempt)
{
    for (uint32_t i = 0; i < a->pods_count; i++) {
        if (a->pods[i]->attempt == attempt && uuid_eq(a->pods[i]->pod, pod)) {
            return a->pods[i];
        }
    }
    return NULL;
}

static struct agent_pod *pod_by_serial(const struct agent *a, uint64_t serial)
{
    for (uint32_t i = 0; i < a->pods_count; i++) {
        if (a->pods[i]->serial == serial) {
            return a->pods[i];
        }
    }
    return NULL;
}

static struct agent_pod *pod_add(struct agent *a, struct uuid pod, uint32_t attempt)
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
    status_init(&p->status);
    a->pods[a->pods_count++] = p;
    return p;
}

static void pod_close(struct agent_pod *p)
{
    file_close(&p->dir_fd);
    file_close(&p->sock);
    buf_done(&p->in);
    mem_free(p);
}

static void directory_remove(const struct agent *a, struct uuid pod, uint32_t attempt)
{
    char name[LAUNCH_NAME_SIZE];
    launch_name(pod, attempt, name);
    struct err err;
    if (file_remove_tree(a->pods_fd, name, &err) != STATUS_OK) {
        log_err(LOG_WARN, "pod_files_left", &err); // they stay until the next FORGET
    }
}

static void pod_remove(struct agent *a, struct agent_pod *p)
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
        directory_remove(a, pod, attempt);
    }
}

/* Records an end that no supervisor could record, tells it, and is done with the pod. */
static void pod_record(struct agent *a, struct agent_pod *p, enum pod_state state,
                       const char *reason)
{
    p->status.state = state;
    p->status.ended_ms = clock_wall_ms();
    boot_id(p->status.boot_id);
    status_reason(&p->status, str_from_c(reason));
    struct err err;
    if (status_write(p->dir_fd, &p->status, true, &err) != STATUS_OK) {
        // The directory cannot be written: then what is told must at least say so.
        char text[REASON_MAX];
        (void)snprintf(text, sizeof(text), "%.200s (%.150s)", reason, err.text);
        status_reason(&p->status, str_from_c(text));
    }
    pod_tell(a, p);
    pod_remove(a, p);
}

/* ---- talking to a supervisor ---- */

/* A path of any length fits into a socket address by way of the directory's descriptor. */
static struct sockaddr_un socket_address(const struct agent_pod *p)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/sock", p->dir_fd);
    return address;
}

static int socket_connect(const struct agent_pod *p)
{
    struct sockaddr_un address = socket_address(p);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        file_close(&fd);
    }
    return fd;
}

static int socket_listen(const struct agent_pod *p)
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

static void timer_set(struct agent *a)
{
    int64_t at = INT64_MAX;
    for (uint32_t i = 0; i < a->pods_count; i++) {
        if (a->pods[i]->stage == STAGE_EXPECTED) {
            at = num_min_i64(at, a->pods[i]->retry_at_ms);
        }
    }
    struct itimerspec when = {0};
    if (at != INT64_MAX) {
        int64_t left = num_max_i64(at - clock_mono_ms(), 1);
        when.it_value = (struct timespec){left / 1000, left % 1000 * 1000000};
    }
    (void)timerfd_settime(a->timer_fd, 0, &when, NULL);
}

static void pod_expect(struct agent *a, struct agent_pod *p)
{
    p->stage = STAGE_EXPECTED;
    p->retry_at_ms = clock_mono_ms() + p->retry_ms;
    p->retry_ms = num_min_i64(p->retry_ms * 2, RETRY_LAST_MS);
    timer_set(a);
}

static void pod_send_stop(struct agent_pod *p)
{
    char digits[32];
    (void)snprintf(digits, sizeof(digits), "%lld", (long long)p->grace_ms);
    p->stop_sent = pod_send(p, FRAME_STOP, str_from_c(digits));
}

static bool pod_connect(struct agent *a, struct agent_pod *p)
{
    p->sock = socket_connect(p);
    if (p->sock < 0) {
        return false;
    }
    if (!pod_send(p, FRAME_WATCH, STR("")) || !watch(a, p->sock, SOURCE_SOCKET, p->serial)) {
        file_close(&p->sock);
        return false;
    }
    p->stage = STAGE_CONNECTED;
    p->retry_ms = RETRY_FIRST_MS;
    if (p->stop_wanted) {
        pod_send_stop(p);
    }
    return true;
}

/* ---- starting a supervisor ---- */

/* Has the pod's supervisor started, or with no listener the one that cleans up. */
static bool pod_supervise(struct agent *a, struct agent_pod *p, int lock, int listener,
                          struct err *err)
{
    char dir[PATH_SIZE];
    (void)snprintf(dir, sizeof(dir), STR_FMT "/%s", STR_ARG(a->pods_dir), p->name);
    return nursery_start(&a->nursery, dir, lock, listener, err) == STATUS_OK;
}

/* The lock is held and nothing was started: start it now. */
static void pod_launch(struct agent *a, struct agent_pod *p, const struct effect *e, int lock)
{
    struct err err;
    char reason[REASON_MAX];
    if (!start_allowed(&a->machine, e, reason)) {
        pod_record(a, p, POD_STATE_FAILED, reason);
        return;
    }
    if (start_spec(&a->machine, e, a->pods_dir, p->dir_fd, &err) != STATUS_OK) {
        pod_record(a, p, POD_STATE_FAILED, err.text);
        return;
    }
    CLEANUP(file_close) int listener = socket_listen(p);
    if (listener < 0) {
        (void)snprintf(reason, sizeof(reason), "cannot listen in the pod's directory: %s",
                       strerror(errno));
        pod_record(a, p, POD_STATE_FAILED, reason);
        return;
    }
    if (!pod_supervise(a, p, lock, listener, &err)) {
        pod_record(a, p, POD_STATE_FAILED, err.text);
        return;
    }
    p->launched = true;
    if (!pod_connect(a, p)) {
        pod_expect(a, p);
    }
}

/* ---- finding out what a pod is ---- */

static bool started_in_this_boot(const struct agent_pod *p, bool *started)
{
    struct buf text;
    char now[UUID_TEXT_LEN + 1];
    buf_init(&text, STATUS_TEXT_MAX);
    boot_id(now);
    *started = file_read(p->dir_fd, "started", &text, NULL) == STATUS_OK;
    bool same = str_eq(buf_view(&text), str_from_c(now));
    buf_done(&text);
    return *started && same;
}

/* What is left is ended by a process that holds the lock meanwhile, and records the end. */
static void pod_clean(struct agent *a, struct agent_pod *p, int lock)
{
    struct err err;
    if (p->cleaned || !pod_supervise(a, p, lock, -1, &err)) {
        pod_record(a, p, POD_STATE_EXITED, "NodeLost");
        return;
    }
    p->cleaned = true;
    pod_expect(a, p);
}

/* What the supervisor said before it died without recording anything. */
static void dead_reason(const struct agent_pod *p, char reason[REASON_MAX])
{
    struct buf text;
    buf_init(&text, 64 << 10);
    struct str said = STR("");
    if (file_read(p->dir_fd, "errors", &text, NULL) == STATUS_OK) {
        said = str_trim(buf_view(&text));
    }
    uint32_t most = 250;
    (void)snprintf(reason, REASON_MAX, "the supervisor ended before the pod was started%s" STR_FMT,
                   said.len > 0 ? ": " : "", STR_ARG(str_sub(said, 0, most)));
    buf_done(&text);
}

/* Nobody holds the lock but us. */
static void pod_settle_locked(struct agent *a, struct agent_pod *p, const struct effect *start,
                              int lock)
{
    char reason[REASON_MAX];
    bool started;
    if (status_read(p->dir_fd, &p->status, NULL) == STATUS_OK && status_is_final(&p->status)) {
        pod_tell(a, p);
        pod_remove(a, p);
        return;
    }
    bool this_boot = started_in_this_boot(p, &started);
    if (started && !this_boot) {
        p->status.exit_code = -1;
        pod_record(a, p, POD_STATE_EXITED, "NodeLost");
    } else if (started) {
        pod_clean(a, p, lock);
    } else if (p->stop_wanted) {
        status_init(&p->status);
        pod_record(a, p, POD_STATE_EXITED, "Stopped");
    } else if (p->launched) {
        dead_reason(p, reason);
        pod_record(a, p, POD_STATE_FAILED, reason);
    } else if (start != NULL) {
        pod_launch(a, p, start, lock);
    } else {
        pod_remove(a, p); // prepared but not started: the START comes again
    }
}

static void pod_settle(struct agent *a, struct agent_pod *p, const struct effect *start)
{
    if (p->dir_fd < 0) {
        p->dir_fd = openat(a->pods_fd, p->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (p->dir_fd < 0) {
            pod_record(a, p, start != NULL ? POD_STATE_FAILED : POD_STATE_EXITED,
                       "the pod's directory cannot be opened");
            return;
        }
    }
    if (pod_connect(a, p)) {
        return;
    }
    CLEANUP(file_close)
    int lock = openat(p->dir_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0) {
        pod_settle_locked(a, p, start, lock);
    } else {
        pod_expect(a, p);
    }
}

/* ---- effects ---- */

static struct agent_pod *pod_make(struct agent *a, const struct effect *e)
{
    struct agent_pod *p = pod_add(a, e->pod, e->attempt);
    if (mkdirat(a->pods_fd, p->name, 0700) != 0 && errno != EEXIST) {
        char reason[REASON_MAX];
        (void)snprintf(reason, sizeof(reason), "cannot make the pod's directory: %s",
                       strerror(errno));
        pod_record(a, p, e->kind == EFFECT_START ? POD_STATE_FAILED : POD_STATE_EXITED, reason);
        return NULL;
    }
    return p;
}

static void effect_start(struct agent *a, const struct effect *e)
{
    struct agent_pod *p = pod_find(a, e->pod, e->attempt);
    if (p != NULL) {
        p->told_started = false;
        pod_tell(a, p);
        return;
    }
    p = pod_make(a, e);
    if (p != NULL) {
        pod_settle(a, p, e);
    }
}

static void effect_stop(struct agent *a, const struct effect *e)
{
    struct agent_pod *p = pod_find(a, e->pod, e->attempt);
    bool known = p != NULL;
    if (!known) {
        p = pod_make(a, e);
    }
    if (p == NULL) {
        return;
    }
    /* A stop is answered with the end alone: the engine answers the start of an attempt that it has
     * done with by this stop, and the two would go on for ever. */
    p->told_started = true;
    p->grace_ms = p->stop_wanted ? num_min_i64(p->grace_ms, e->grace_ms) : e->grace_ms;
    p->stop_wanted = true;
    if (!known) {
        pod_settle(a, p, NULL);
    } else if (p->stage == STAGE_CONNECTED) {
        pod_send_stop(p);
    }
}

static void effect_forget(struct agent *a, const struct effect *e)
{
    struct effect stop = *e;
    stop.kind = EFFECT_STOP;
    stop.grace_ms = 0;
    for (uint32_t attempt = e->attempt;; attempt--) {
        struct agent_pod *p = pod_find(a, e->pod, attempt);
        if (p != NULL) {
            p->forget = true;
            stop.attempt = attempt;
            effect_stop(a, &stop);
        } else {
            directory_remove(a, e->pod, attempt);
        }
        if (attempt == 0) {
            break;
        }
    }
}

static void agent_do_effects(void *ctx, const struct effect *effects, uint32_t count)
{
    struct agent *a = ctx;
    for (uint32_t i = 0; i < count; i++) {
        switch (effects[i].kind) {
        case EFFECT_START:
            effect_start(a, &effects[i]);
            break;
        case EFFECT_STOP:
            effect_stop(a, &effects[i]);
            break;
        case EFFECT_FORGET:
            effect_forget(a, &effects[i]);
            break;
        }
    }
}

/* ---- what happens ---- */

static void pod_status_came(struct agent *a, struct agent_pod *p, struct str body)
{
    struct pod_status st;
    if (status_parse(body, &st, NULL) != STATUS_OK) {
        return;
    }
    p->status = st;
    pod_tell(a, p);
}

/* The connection ended: the supervisor had recorded the end, or died. */
static void pod_disconnected(struct agent *a, struct agent_pod *p)
{
    file_close(&p->sock);
    buf_clear(&p->in);
    if (status_is_final(&p->status)) {
        pod_remove(a, p);
    } else {
        pod_settle(a, p, NULL);
    }
}

static void socket_serve(struct agent *a, struct agent_pod *p)
{
    char chunk[8192];
    ssize_t n = recv(p->sock, chunk, sizeof(chunk), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (n <= 0) {
        pod_disconnected(a, p);
        return;
    }
    buf_add(&p->in, chunk, (size_t)n);
    uint32_t used = 0;
    uint8_t kind;
    struct str body;
    while (frame_next(buf_view(&p->in), &used, &kind, &body) == FRAME_ONE) {
        if (kind == FRAME_STATUS) {
            pod_status_came(a, p, body);
        }
    }
    memmove(p->in.ptr, p->in.ptr + used, p->in.len - used);
    p->in.len -= used;
    if (p->stop_wanted && !p->stop_sent) {
        pod_send_stop(p);
    }
}

static void timer_serve(struct agent *a)
{
    uint64_t times;
    (void)!read(a->timer_fd, &times, sizeof(times));
    int64_t now = clock_mono_ms();
    // From the end, because one that is removed is replaced by the last.
    for (uint32_t left = a->pods_count; left > 0; left--) {
        struct agent_pod *p = a->pods[left - 1];
        if (p->stage == STAGE_EXPECTED && p->retry_at_ms <= now) {
            pod_settle(a, p, NULL);
        }
    }
    timer_set(a);
}

static void observe_node(struct agent *a)
{
    struct input *in = observe(a, INPUT_NODE_SEEN);
    in->node = a->machine.node;
    in->node.seen_ms = clock_wall_ms();
}

static void event_serve(struct agent *a, uint64_t data)
{
    struct agent_pod *p = pod_by_serial(a, data >> SOURCE_BITS);
    switch ((enum source)(data & ((1u << SOURCE_BITS) - 1))) {
    case SOURCE_QUEUE:
        break;
    case SOURCE_TIMER:
        timer_serve(a);
        break;
    case SOURCE_DEVICES:
        if (devices_changed(a->machine.devices)) {
            observe_node(a);
        }
        break;
    case SOURCE_SOCKET:
        if (p != NULL && p->sock >= 0) {
            socket_serve(a, p);
        }
        break;
    }
}

static void agent_poll(void *ctx, cluster_observe *hand_on, void *arg)
{
    struct agent *a = ctx;
    struct epoll_event events[EVENTS_AT_ONCE];
    int count = epoll_wait(a->epoll_fd, events, EVENTS_AT_ONCE, 0);
    for (int i = 0; i < count; i++) {
        event_serve(a, events[i].data.u64);
    }
    while (a->queue_next < a->queue.count) {
        struct input in = a->queue.items[a->queue_next++];
        hand_on(arg, &in);
    }
    uint64_t times;
    (void)!read(a->event_fd, &times, sizeof(times));
    a->queue_next = 0;
    a->queue.items = NULL;
    a->queue.count = a->queue.cap = 0;
    arena_reset(&a->queue_arena);
}

/* ---- opening ---- */

static enum status directories_open(struct agent *a, const struct agent_config *config,
                                    struct err *err)
{
    a->data_dir = arena_str(&a->arena, config->data_dir);
    a->pods_dir = arena_printf(&a->arena, STR_FMT "/pods", STR_ARG(a->data_dir));
    if (config->data_dir.len == 0 || config->data_dir.len > PATH_SIZE - 128) {
        return err_set(err, STATUS_INVALID, "the data directory's name is empty or too long");
    }
    enum status s = file_mkdirs(a->pods_dir.ptr, 0700, err);
    if (s != STATUS_OK) {
        return s;
    }
    a->pods_fd = open(a->pods_dir.ptr, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (a->pods_fd < 0 || faccessat(a->pods_fd, ".", W_OK, AT_EACCESS) != 0) {
        return err_set(err, STATUS_IO, "cannot use %s: %s", a->pods_dir.ptr, strerror(errno));
    }
    return STATUS_OK;
}

static enum status events_open(struct agent *a, struct err *err)
{
    a->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    a->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    a->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (a->epoll_fd < 0 || a->event_fd < 0 || a->timer_fd < 0 ||
        !watch(a, a->event_fd, SOURCE_QUEUE, 0) || !watch(a, a->timer_fd, SOURCE_TIMER, 0) ||
        (devices_fd(a->machine.devices) >= 0 &&
         !watch(a, devices_fd(a->machine.devices), SOURCE_DEVICES, 0))) {
        return err_set(err, STATUS_IO, "cannot set up events: %s", strerror(errno));
    }
    return STATUS_OK;
}

static enum status pods_take_over(struct agent *a, struct err *err)
{
    int fd = openat(a->pods_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        file_close(&fd);
        return err_set(err, STATUS_IO, "cannot list %s: %s", a->pods_dir.ptr, strerror(errno));
    }
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        struct uuid pod;
        uint32_t attempt;
        if (launch_name_parse(str_from_c(e->d_name), &pod, &attempt)) {
            pod_settle(a, pod_add(a, pod, attempt), NULL);
        }
    }
    (void)closedir(dir);
    return STATUS_OK;
}

enum status agent_open(const struct agent_config *config, struct agent **out, struct err *err)
{
    struct agent *a = mem_alloc(sizeof(*a));
    nursery_init(&a->nursery);
    a->pods_fd = a->epoll_fd = a->event_fd = a->timer_fd = -1;
    arena_init(&a->arena, 0);
    arena_init(&a->queue_arena, 0);
    enum status s = directories_open(a, config, err);
    if (s == STATUS_OK) {
        s = machine_open(&a->machine, config, &a->arena, err);
    }
    if (s == STATUS_OK) {
        s = events_open(a, err);
    }
    if (s == STATUS_OK) {
        s = nursery_open(&a->nursery, err);
    }
    if (s == STATUS_OK) {
        observe_node(a);
        s = pods_take_over(a, err);
    }
    if (s != STATUS_OK) {
        agent_close(a);
        return s;
    }
    *out = a;
    return STATUS_OK;
}

void agent_close(struct agent *a)
{
    if (a == NULL) {
        return;
    }
    for (uint32_t i = 0; i < a->pods_count; i++) {
        pod_close(a->pods[i]);
    }
    mem_free(a->pods);
    nursery_close(&a->nursery);
    machine_close(&a->machine);
    file_close(&a->pods_fd);
    file_close(&a->epoll_fd);
    file_close(&a->event_fd);
    file_close(&a->timer_fd);
    arena_done(&a->queue_arena);
    arena_done(&a->arena);
    mem_free(a);
}

struct cluster agent_cluster(struct agent *a)
{
    return (struct cluster){.ctx = a, .do_effects = agent_do_effects, .poll = agent_poll};
}

int agent_fd(const struct agent *a)
{
    return a->epoll_fd;
}

const struct str_item *agent_describe(const struct agent *a, uint32_t *count)
{
    *count = a->machine.node.notes_count;
    return a->machine.node.notes;
}

struct str agent_log_path(const struct agent *a, struct uuid pod, uint32_t attempt, bool older,
                          struct arena *arena)
{
    char name[LAUNCH_NAME_SIZE];
    launch_name(pod, attempt, name);
    return arena_printf(arena, STR_FMT "/%s/log%s", STR_ARG(a->pods_dir), name, older ? ".1" : "");
}

enum status agent_exec(struct agent *a, struct uuid pod, const struct str *argv, uint32_t argc,
                       const struct str *env, uint32_t env_count, bool terminal, int *fd,
                       struct err *err)
{
    const struct agent_pod *found = NULL;
    for (uint32_t i = 0; i < a->pods_count; i++) {
        const struct agent_pod *p = a->pods[i];
        if (uuid_eq(p->pod, pod) && p->stage == STAGE_CONNECTED &&
            p->status.state == POD_STATE_RUNNING) {
            found = p;
        }
    }
    if (found == NULL) {
        return err_set(err, STATUS_UNKNOWN, "the pod is not running on this machine");
    }
    CLEANUP(file_close) int sock = socket_connect(found);
    if (sock < 0) {
        return err_set(err, STATUS_UNREACHABLE, "the pod's supervisor cannot be reached: %s",
                       strerror(errno));
    }
    const struct exec_request request = {
        .argv = argv, .argc = argc, .env = env, .env_count = env_count, .terminal = terminal};
    enum status s = exec_send(sock, &request, err);
    if (s == STATUS_OK) {
        *fd = sock;
        sock = -1;
    }
    return s;
}

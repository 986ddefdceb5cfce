// SPDX-License-Identifier: Apache-2.0
// The port and its events. What is known of pods is in pods.c, how it is found out in settle.c, what
// is to be done with them in work.c.
#include "agent/agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "agent/belongs.h"
#include "agent/checkpoint.h"
#include "agent/exec.h"
#include "agent/forward.h"
#include "agent/pods.h"
#include "agent/settle.h"
#include "agent/use.h"
#include "agent/work.h"
#include "base/mem.h"
#include "base/num.h"
#include "io/clock.h"
#include "io/file.h"

enum { PATH_SIZE = 4096, EVENTS_AT_ONCE = 64, AT_ONCE_MIN = 8, AT_ONCE_PER_CPU = 2 };

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
    if (a->checkpoints_at_ms > 0 && a->checkpoints_at_ms <= now) {
        checkpoints_look(a);
    }
    if (a->uses_at_ms > 0 && a->uses_at_ms <= now) {
        uses_look(a);
    }
    pods_timer(a);
}

static void observe_node(struct agent *a)
{
    struct input *in = pods_observe(a, INPUT_NODE_SEEN);
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

static void agent_do_effects(void *ctx, const struct effect *effects, uint32_t count)
{
    work_add(ctx, effects, count);
}

static void agent_poll(void *ctx, cluster_observe *hand_on, void *arg)
{
    struct agent *a = ctx;
    uint64_t times;
    (void)!read(a->event_fd, &times, sizeof(times));
    struct epoll_event events[EVENTS_AT_ONCE];
    int count = epoll_wait(a->epoll_fd, events, EVENTS_AT_ONCE, 0);
    for (int i = 0; i < count; i++) {
        event_serve(a, events[i].data.u64);
    }
    work_run(a);
    while (a->queue_next < a->queue.count) {
        struct input in = a->queue.items[a->queue_next++];
        hand_on(arg, &in);
    }
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
        !agent_watch(a, a->event_fd, SOURCE_QUEUE, 0) ||
        !agent_watch(a, a->timer_fd, SOURCE_TIMER, 0) ||
        (devices_fd(a->machine.devices) >= 0 &&
         !agent_watch(a, devices_fd(a->machine.devices), SOURCE_DEVICES, 0))) {
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
    nursery_init(&a->nursery, config->pod_files_max);
    a->pods_fd = a->epoll_fd = a->event_fd = a->timer_fd = -1;
    arena_init(&a->arena, 0);
    arena_init(&a->queue_arena, 0);
    a->checkpoints_every_ms = config->checkpoint_check_ms > 0 ? config->checkpoint_check_ms
                                                              : CHECKPOINT_CHECK_MS;
    a->uses_every_ms = config->use_check_ms > 0 ? config->use_check_ms : USE_CHECK_MS;
    a->at_once_max = (uint32_t)num_max_i64(AT_ONCE_MIN,
                                           AT_ONCE_PER_CPU * sysconf(_SC_NPROCESSORS_ONLN));
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
    work_drop(a);
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

bool agent_is_pod(pid_t pid)
{
    return belongs_to_pod(pid);
}

struct str agent_log_path(const struct agent *a, struct uuid pod, uint32_t attempt,
                          struct arena *arena)
{
    char name[LAUNCH_NAME_SIZE];
    launch_name(pod, attempt, name);
    return arena_printf(arena, STR_FMT "/%s/log", STR_ARG(a->pods_dir), name);
}

/* NULL, and said so: it does not run here. */
static const struct agent_pod *running(const struct agent *a, struct uuid pod, struct err *err)
{
    for (uint32_t i = 0; i < a->pods_count; i++) {
        const struct agent_pod *p = a->pods[i];
        if (uuid_eq(p->pod, pod) && p->stage == STAGE_CONNECTED &&
            p->status.state == POD_STATE_RUNNING) {
            return p;
        }
    }
    err_set(err, STATUS_UNKNOWN, "the pod is not running on this machine");
    return NULL;
}

enum status agent_forward(struct agent *a, struct uuid pod, uint16_t port, int *fd, struct err *err)
{
    const struct agent_pod *found = running(a, pod, err);
    return found == NULL ? STATUS_UNKNOWN
                         : forward_connect((pid_t)found->status.supervisor_pid, port, fd, err);
}

enum status agent_exec(struct agent *a, struct uuid pod, const struct str *argv, uint32_t argc,
                       const struct str *env, uint32_t env_count, bool terminal, int *fd,
                       struct err *err)
{
    const struct agent_pod *found = running(a, pod, err);
    if (found == NULL) {
        return STATUS_UNKNOWN;
    }
    CLEANUP(file_close) int sock = pod_dial(found);
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

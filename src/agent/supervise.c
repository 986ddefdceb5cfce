// SPDX-License-Identifier: Apache-2.0
// The order that makes "at most once" true: the lock is held before this process exists; `started`
// is on disk before the job's first instruction; the end is on disk before anyone hears of it; the
// lock goes with the process. One thread, one poll loop; the only waits outside it are for things
// that end by themselves.
//
// At the end of the job nothing of it may be left: with namespaces the death of their first process
// kills all in them; without, this process is the subreaper of all descendants, kills them until
// the kernel says that it has no children.
#include "agent/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/container.h"
#include "agent/frame.h"
#include "agent/process.h"
#include "agent/session.h"
#include "agent/tree.h"
#include "base/num.h"
#include "io/clock.h"
#include "io/file.h"
#include "io/peer.h"
#include "io/rolled.h"

enum {
    SESSIONS_MAX = 32,
    POLL_MAX = SESSIONS_MAX * SESSION_FDS + 4,
    LOG_CHUNK = 64 << 10,
    PREPARE_STOP_MS = 2000,
    LINGER_MS = 1000,
    REAP_PAUSE_MS = 5,
    SEARCH_AFTER_MS = 100,
};

enum phase { PHASE_PREPARING, PHASE_STARTING, PHASE_RUNNING, PHASE_OVER };

struct supervisor {
    int dir_fd, signal_fd, output_fd, report_fd;
    struct rolled_writer log;
    int64_t log_lost_bytes;
    struct arena arena;
    struct launch launch;
    struct job_user user;
    struct cgroup cgroup;
    struct isolate isolate;
    struct job main; /* as it was started */
    enum phase phase;
    pid_t preparer, main_pid; /* 0: none */
    struct pod_status status;
    bool stopping, killed, shutdown; /* shutdown: the machine, not weir, ends us */
    int64_t kill_at_ms;              /* of the monotonic clock; while stopping */
    int main_code;
    bool main_signalled;
    struct session sessions[SESSIONS_MAX];
};

/* ---- status ---- */

static void status_tell(struct supervisor *s, struct session *to)
{
    struct buf text;
    buf_init(&text, STATUS_TEXT_MAX);
    status_format(&s->status, &text);
    session_send(to, FRAME_STATUS, buf_view(&text));
    session_flush(to);
    buf_done(&text);
}

/* Records the status and tells all who watch. */
static void status_publish(struct supervisor *s, bool durable)
{
    struct err err;
    if (status_write(s->dir_fd, &s->status, durable, &err) != STATUS_OK) {
        (void)fprintf(stderr, "weir: the status of a pod is not recorded: %s\n", err.text);
    }
    for (int i = 0; i < SESSIONS_MAX; i++) {
        if (s->sessions[i].fd >= 0 && s->sessions[i].watching) {
            status_tell(s, &s->sessions[i]);
        }
    }
}

static void fail(struct supervisor *s, const char *reason)
{
    s->phase = PHASE_OVER;
    s->status.state = POD_STATE_FAILED;
    status_reason(&s->status, str_from_c(reason));
}

/* ---- log ---- */

/* A full disk must not stop the job: what cannot be written is counted, and said when it can. */
static void log_write_bytes(struct supervisor *s, struct str bytes)
{
    struct rolled_writer *log = &s->log;
    if (log->bytes >= LOG_BYTES_MAX) {
        rolled_writer_next(log);
    }
    if (s->log_lost_bytes > 0) {
        char text[96];
        struct str note = str_format(text, sizeof(text),
                                     "\n[weir: %lld bytes of output could not be kept]\n",
                                     (long long)s->log_lost_bytes);
        if (rolled_writer_add(log, note)) {
            s->log_lost_bytes = 0;
        }
    }
    if (!rolled_writer_add(log, bytes)) {
        s->log_lost_bytes += bytes.len;
    }
}

/* Moves what the job wrote into the log; at most `chunks` pieces. */
static void log_pump(struct supervisor *s, int chunks)
{
    static char chunk[LOG_CHUNK];
    while (s->output_fd >= 0 && chunks-- > 0) {
        ssize_t n = read(s->output_fd, chunk, sizeof(chunk));
        if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
            return;
        }
        if (n <= 0) {
            file_close(&s->output_fd);
            return;
        }
        log_write_bytes(s, (struct str){chunk, (uint32_t)n});
    }
}

/* ---- starting ---- */

static bool is_image(const struct supervisor *s)
{
    return launch_is_image(&s->launch.spec);
}

/* After this the job counts as started, whatever happens to the machine. */
static bool mark_started(struct supervisor *s, struct err *err)
{
    CLEANUP(file_close) int above = openat(s->dir_fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file_write(s->dir_fd, "started", str_from_c(s->status.boot_id), 0600, true, err) !=
        STATUS_OK) {
        return false;
    }
    if (above < 0 || fsync(above) != 0) {
        (void)err_set(err, STATUS_IO, "cannot make the pod's directory durable: %s",
                      strerror(errno));
        return false;
    }
    return true;
}

static char **main_argv(struct supervisor *s)
{
    if (is_image(s)) {
        return container_start_argv(&s->launch, &s->arena);
    }
    uint32_t count = s->launch.spec.args_count;
    char **argv = ARENA_ARRAY(&s->arena, char *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        struct str from = s->launch.spec.args[i].value;
        argv[i] = arena_alloc(&s->arena, (size_t)from.len + 1);
        if (from.len > 0) {
            memcpy(argv[i], from.ptr, from.len);
        }
    }
    return argv;
}

/* Starts the main process; its report tells later whether the command runs. */
static void main_start(struct supervisor *s)
{
    struct err err;
    int output[2];
    if (!mark_started(s, &err)) {
        fail(s, err.text);
        return;
    }
    if (pipe2(output, O_CLOEXEC) != 0) {
        fail(s, "no pipe can be made for the output");
        return;
    }
    s->main = (struct job){
        .argv = main_argv(s), .in = -1, .out = output[1], .err = output[1], .terminal = -1};
    if (is_image(s)) {
        s->main.env = environ;
    } else {
        s->main.env = launch_env(&s->launch, &s->user.account, &s->arena);
        s->main.working_dir = arena_cstr(&s->arena, s->launch.spec.working_dir);
        s->main.user = &s->user;
        s->main.isolate = &s->isolate;
        s->main.cgroup = &s->cgroup;
        s->main.confined = true;
    }
    s->main.cpus = s->launch.cpus;
    s->main.numa_node = s->launch.numa_node;
    pid_t pid = job_start(&s->main, &s->report_fd);
    int error = errno;
    (void)close(output[1]);
    s->output_fd = output[0];
    (void)fcntl(s->output_fd, F_SETFL, O_NONBLOCK);
    if (pid < 0) {
        char reason[REASON_MAX];
        (void)snprintf(reason, sizeof(reason), "no process can be started: %s", strerror(error));
        fail(s, reason);
        return;
    }
    s->main_pid = pid;
    s->phase = PHASE_STARTING;
}

static void main_reported(struct supervisor *s)
{
    char reason[REASON_MAX];
    int code;
    bool runs = job_report(s->report_fd, &s->main, reason, &code);
    file_close(&s->report_fd);
    if (!runs) {
        fail(s, reason);
        return;
    }
    s->phase = PHASE_RUNNING;
    s->status.state = POD_STATE_RUNNING;
    s->status.started_ms = clock_wall_ms();
    s->status.main_pid = s->main_pid;
    s->status.main_start = process_start(s->main_pid);
    status_publish(s, false);
}

/* An image is fetched and its container made by a child, so that a stop is heard meanwhile. */
static void preparer_start(struct supervisor *s)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        fail(s, "no pipe can be made");
        return;
    }
    s->phase = PHASE_PREPARING;
    pid_t pid = fork();
    if (pid == 0) {
        sigset_t none;
        (void)sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        (void)setsid();
        struct err err = {0};
        if (container_prepare(&s->launch, s->dir_fd, &err) != STATUS_OK) {
            (void)!write(ends[1], err.text, strlen(err.text));
        }
        _exit(0);
    }
    (void)close(ends[1]);
    s->report_fd = ends[0];
    s->preparer = pid > 0 ? pid : 0;
    if (pid < 0) {
        fail(s, "no process can be started to prepare the container");
    }
}

static void preparer_ended(struct supervisor *s, int wait_status)
{
    char reason[REASON_MAX];
    ssize_t n = read(s->report_fd, reason, sizeof(reason) - 1);
    reason[n > 0 ? n : 0] = '\0';
    file_close(&s->report_fd);
    s->preparer = 0;
    if (s->stopping) {
        s->phase = PHASE_OVER;
        s->status.state = POD_STATE_EXITED;
        return;
    }
    if (reason[0] == '\0' && wait_status != 0) {
        (void)snprintf(reason, sizeof(reason), "preparing the container ended unexpectedly");
    }
    if (reason[0] != '\0') {
        fail(s, reason);
        return;
    }
    main_start(s);
}

/* ---- stopping ---- */

static void stop(struct supervisor *s, int64_t grace_ms)
{
    int64_t at = num_sat_add_i64(clock_mono_ms(), num_max_i64(grace_ms, 0));
    bool first = !s->stopping;
    s->kill_at_ms = first ? at : num_min_i64(at, s->kill_at_ms);
    s->stopping = true;
    if (!first) {
        return;
    }
    if (s->preparer > 0) {
        s->kill_at_ms = num_min_i64(s->kill_at_ms, clock_mono_ms() + PREPARE_STOP_MS);
    }
    pid_t pid = s->preparer > 0 ? s->preparer : s->main_pid;
    if (pid > 0) {
        // Our own child, not reaped yet: the number cannot be anyone else's. Once only: podman hands
        // the first on, and takes a second for itself when the container has just ended.
        if (kill(-pid, SIGTERM) != 0) {
            (void)kill(pid, SIGTERM); // it has no session of its own yet
        }
        (void)kill(-pid, SIGCONT);
    }
}

static void stop_for_good(struct supervisor *s)
{
    s->killed = true;
    pid_t pid = s->preparer > 0 ? s->preparer : s->main_pid;
    if (is_image(s) && s->preparer == 0) {
        container_kill(&s->launch);
    }
    if (pid > 0) {
        (void)kill(-pid, SIGKILL);
        (void)kill(pid, SIGKILL);
    }
}

/* ---- children ---- */

static void child_reaped(struct supervisor *s, pid_t pid, int wait_status)
{
    if (pid == s->preparer) {
        preparer_ended(s, wait_status);
        return;
    }
    if (pid == s->main_pid) {
        if (s->report_fd >= 0) {
            main_reported(s);
        }
        s->main_pid = 0;
        s->main_code = job_code(wait_status);
        s->main_signalled = WIFSIGNALED(wait_status);
        if (s->phase == PHASE_RUNNING) {
            s->phase = PHASE_OVER;
            s->status.state = POD_STATE_EXITED;
            s->status.exit_code = s->main_code;
        }
        return;
    }
    for (int i = 0; i < SESSIONS_MAX; i++) {
        if (s->sessions[i].fd >= 0 && s->sessions[i].pid == pid) {
            session_reaped(&s->sessions[i], wait_status);
        }
    }
}

/* Reaps what has ended; false when there are no children at all. */
static bool reap(struct supervisor *s)
{
    for (;;) {
        int how;
        pid_t pid = waitpid(-1, &how, WNOHANG);
        if (pid > 0) {
            child_reaped(s, pid, how);
        } else if (pid == 0 || errno == EINTR) {
            return true;
        } else {
            return false;
        }
    }
}

/* Kills all that is left and waits until the kernel says so. Where it kills all at once itself, it
 * is given a moment before the machine's processes are searched for what may have escaped. */
static void tree_end(struct supervisor *s)
{
    isolate_end(&s->isolate);
    int64_t search_ms = clock_mono_ms() + (s->isolate.init > 0 ? SEARCH_AFTER_MS : 0);
    while (reap(s)) {
        (void)cgroup_kill(&s->cgroup);
        if (clock_mono_ms() >= search_ms) {
            (void)tree_kill(getpid());
        }
        struct pollfd child = {.fd = s->signal_fd, .events = POLLIN};
        if (poll(&child, 1, REAP_PAUSE_MS) > 0) {
            struct signalfd_siginfo seen;
            (void)!read(s->signal_fd, &seen, sizeof(seen));
        }
        log_pump(s, 1); // one that waits for a reader can then end
    }
}

/* ---- sessions ---- */

static void session_wish(struct supervisor *s, struct session *from,
                         const struct session_request *r)
{
    switch (r->wish) {
    case WISH_STATUS:
        status_tell(s, from);
        break;
    case WISH_STOP:
        stop(s, r->grace_ms);
        break;
    case WISH_EXEC: {
        struct job job = {.argv = r->argv,
                          .cpus = s->launch.cpus,
                          .numa_node = s->launch.numa_node,
                          .terminal = -1};
        struct arena arena;
        arena_init(&arena, 0);
        if (is_image(s)) {
            job.argv = container_exec_argv(&s->launch, r->argv, r->env, r->terminal, &arena);
            job.env = environ;
        } else {
            job.env = r->env;
            job.working_dir = s->main.working_dir;
            job.user = &s->user;
            job.isolate = &s->isolate;
            job.cgroup = &s->cgroup;
            job.confined = true;
        }
        session_run(from, &job, r->terminal);
        arena_done(&arena);
        break;
    }
    case WISH_NONE:
        break;
    }
}

/* The job's own environment, with what the caller adds in front of it. */
static void exec_env(struct supervisor *s, struct session_request *r, struct arena *arena)
{
    uint32_t given = 0, own = 0, count = 0;
    while (r->env[given] != NULL) {
        given++;
    }
    char *const *base = s->main.env;
    while (base[own] != NULL) {
        own++;
    }
    char **env = ARENA_ARRAY(arena, char *, given + own + 1);
    for (uint32_t i = 0; i < own; i++) {
        bool replaced = false;
        size_t name = strcspn(base[i], "=") + 1;
        for (uint32_t g = 0; g < given && !replaced; g++) {
            replaced = strncmp(base[i], r->env[g], name) == 0;
        }
        if (!replaced) {
            env[count++] = base[i];
        }
    }
    for (uint32_t g = 0; g < given; g++) {
        env[count++] = r->env[g];
    }
    r->env = env;
}

static void session_requests(struct supervisor *s, struct session *from)
{
    struct arena arena;
    struct session_request r;
    arena_init(&arena, 0);
    while (session_take(from, &r, &arena)) {
        if (r.wish == WISH_EXEC && s->phase != PHASE_RUNNING) {
            session_send(from, FRAME_STDERR, STR("the pod is not running\n"));
            session_send(from, FRAME_CONTROL, STR("{\"exit\":126}"));
            from->closing = true;
            continue;
        }
        if (r.wish == WISH_EXEC && !is_image(s)) {
            exec_env(s, &r, &arena);
        }
        session_wish(s, from, &r);
    }
    arena_done(&arena);
}

static void session_accept(struct supervisor *s)
{
    int fd = accept4(SUPERVISE_LISTEN_FD, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct peer peer;
    if (fd < 0) {
        return;
    }
    if (peer_get(fd, &peer, NULL) == STATUS_OK && (peer.uid == geteuid() || peer.uid == 0)) {
        for (int i = 0; i < SESSIONS_MAX; i++) {
            if (s->sessions[i].fd < 0) {
                session_init(&s->sessions[i], fd);
                return;
            }
        }
    }
    (void)close(fd);
}

/* ---- the loop ---- */

static void signals_serve(struct supervisor *s)
{
    struct signalfd_siginfo seen;
    while (read(s->signal_fd, &seen, sizeof(seen)) == (ssize_t)sizeof(seen)) {
        if (seen.ssi_signo != SIGCHLD) {
            s->shutdown = true;
            stop(s, s->launch.spec.grace_ms);
        }
    }
}

static int loop_wait(const struct supervisor *s)
{
    if (!s->stopping || s->killed) {
        return -1;
    }
    return (int)num_min_i64(num_max_i64(s->kill_at_ms - clock_mono_ms(), 0), 60000);
}

static void loop_once(struct supervisor *s)
{
    struct pollfd fds[POLL_MAX];
    nfds_t n = 0;
    fds[n++] = (struct pollfd){.fd = s->signal_fd, .events = POLLIN};
    fds[n++] = (struct pollfd){.fd = SUPERVISE_LISTEN_FD, .events = POLLIN};
    fds[n++] = (struct pollfd){.fd = s->output_fd, .events = POLLIN};
    fds[n++] = (struct pollfd){.fd = s->preparer > 0 ? -1 : s->report_fd, .events = POLLIN};
    for (int i = 0; i < SESSIONS_MAX; i++) {
        n += session_poll(&s->sessions[i], &fds[n]);
    }
    if (poll(fds, n, loop_wait(s)) < 0) {
        return;
    }
    if (fds[2].revents != 0) {
        log_pump(s, 4);
    }
    if (fds[3].revents != 0 && s->report_fd >= 0) {
        main_reported(s);
    }
    for (int i = 0; i < SESSIONS_MAX; i++) {
        struct session *one = &s->sessions[i];
        if (one->fd < 0) {
            continue;
        }
        bool stays = session_serve(one);
        if (stays) {
            session_requests(s, one);
        } else {
            session_done(one);
        }
    }
    if (fds[1].revents != 0) {
        session_accept(s);
    }
    if (fds[0].revents != 0) {
        signals_serve(s);
        (void)reap(s);
    }
    for (int i = 0; i < SESSIONS_MAX; i++) {
        if (s->sessions[i].closing && s->sessions[i].out.len == 0) {
            session_done(&s->sessions[i]);
        }
    }
    if (s->stopping && !s->killed && clock_mono_ms() >= s->kill_at_ms) {
        stop_for_good(s);
    }
}

/* ---- beginning and end ---- */

static enum status spec_read(struct supervisor *s, struct err *err)
{
    struct buf bytes;
    buf_init(&bytes, LAUNCH_SPEC_MAX);
    enum status status = file_read(s->dir_fd, "spec", &bytes, err);
    if (status == STATUS_OK) {
        struct str kept = arena_str(&s->arena, buf_view(&bytes));
        status = record_decode(&record_launch, kept, &s->arena, &s->launch, err);
    }
    buf_done(&bytes);
    return status;
}

static void groups_of(const struct launch *l, struct cgroups *out)
{
    *out = (struct cgroups){.v2 = l->cgroups_v2};
    for (uint32_t c = 0; c < CG_COUNT && c < l->cgroups_count; c++) {
        (void)snprintf(out->dir[c], CG_PATH_SIZE, STR_FMT, STR_ARG(l->cgroups[c].value));
    }
}

static enum status supervisor_open(struct supervisor *s, const char *dir, struct err *err)
{
    *s = (struct supervisor){
        .dir_fd = -1,
        .signal_fd = -1,
        .output_fd = -1,
        .log = {.fd = -1},
        .report_fd = -1,
        .isolate = {.init_fd = -1, .lifeline = -1}
    };
    arena_init(&s->arena, 0);
    cgroup_at(&s->cgroup, &(struct cgroups){0}, "");
    status_init(&s->status);
    for (int i = 0; i < SESSIONS_MAX; i++) {
        s->sessions[i].fd = -1;
    }
    s->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->dir_fd < 0) {
        return err_set(err, STATUS_IO, "cannot open %s: %s", dir, strerror(errno));
    }
    (void)!chdir("/"); // keeps no file system busy
    (void)fcntl(SUPERVISE_LOCK_FD, F_SETFD, FD_CLOEXEC);
    (void)fcntl(SUPERVISE_LISTEN_FD, F_SETFD, FD_CLOEXEC);
    boot_id(s->status.boot_id);
    s->status.supervisor_pid = getpid();
    s->status.supervisor_start = process_start(getpid());
    return spec_read(s, err);
}

static bool signals_open(struct supervisor *s)
{
    static const int ours[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT};
    sigset_t set;
    (void)sigemptyset(&set);
    for (uint32_t i = 0; i < COUNT_OF(ours); i++) {
        (void)sigaddset(&set, ours[i]);
    }
    (void)signal(SIGPIPE, SIG_IGN);
    (void)sigprocmask(SIG_SETMASK, &set, NULL);
    s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return s->signal_fd >= 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}

static void begin(struct supervisor *s)
{
    struct err err;
    struct cgroups groups;
    char name[LAUNCH_NAME_SIZE];
    launch_name(s->launch.pod, s->launch.attempt, name);
    rolled_writer_open(&s->log, s->dir_fd, "log");
    job_user_find(&s->user, &s->launch.spec, &s->arena);
    if (is_image(s)) {
        preparer_start(s);
        return;
    }
    groups_of(&s->launch, &groups);
    const struct cgroup_limits limits = {
        .cpu_milli = s->launch.spec.cpu_milli,
        .cpu_limit_milli = s->launch.spec.cpu_limit_milli,
        .memory_limit_bytes = s->launch.spec.memory_limit_bytes,
        .device_nodes = s->launch.device_nodes,
        .device_nodes_count = s->launch.device_nodes_count,
    };
    if (cgroup_make(&s->cgroup, &groups, name, &limits, &err) != STATUS_OK ||
        isolate_start(&s->isolate, &s->launch, &err) != STATUS_OK) {
        fail(s, err.text);
        return;
    }
    main_start(s);
}

static void end_reason(struct supervisor *s)
{
    struct pod_status *st = &s->status;
    if (st->state != POD_STATE_EXITED) {
        return;
    }
    st->oom = st->oom || (cgroup_oom(&s->cgroup) && st->exit_code != 0);
    const char *reason = st->exit_code == 0 ? "Completed" : "Error";
    if (s->shutdown) {
        reason = "NodeLost";
    } else if (s->stopping) {
        reason = "Stopped";
    } else if (st->oom) {
        reason = "OOMKilled";
    }
    status_reason(st, str_from_c(reason));
}

/* Nothing is left, all is recorded, then those who watch hear of it. */
static void end(struct supervisor *s)
{
    if (is_image(s)) {
        // The exit code of podman is the container's, unless it is one of those that podman keeps
        // for its own failures, or a signal ended podman itself.
        int64_t code;
        bool oom, known = s->status.started_ms >= 0 && container_result(&s->launch, &code, &oom);
        if (known && s->status.state == POD_STATE_EXITED) {
            bool own = s->main_signalled || (s->main_code >= 125 && s->main_code <= 127);
            s->status.exit_code = own ? code : s->status.exit_code;
            s->status.oom = oom;
        }
        container_remove(&s->launch);
    }
    s->status.ended_ms = clock_wall_ms();
    tree_end(s);
    log_pump(s, INT32_MAX);
    end_reason(s);
    cgroup_remove(&s->cgroup);
    (void)unlinkat(s->dir_fd, "sock", 0);
    status_publish(s, true);
    int64_t until = clock_mono_ms() + LINGER_MS;
    for (int i = 0; i < SESSIONS_MAX; i++) {
        struct session *one = &s->sessions[i];
        while (one->fd >= 0 && one->out.len > 0 && clock_mono_ms() < until) {
            struct pollfd p = {.fd = one->fd, .events = POLLOUT};
            size_t before = one->out.len;
            if (poll(&p, 1, (int)num_max_i64(until - clock_mono_ms(), 0)) <= 0) {
                break;
            }
            session_flush(one);
            if (one->out.len == before) {
                break;
            }
        }
        session_done(one);
    }
}

int supervise_run(const char *dir)
{
    static struct supervisor s;
    struct err err = {0};
    if (supervisor_open(&s, dir, &err) != STATUS_OK) {
        (void)fprintf(stderr, "weir _supervise: %s\n", err.text);
        return 1;
    }
    if (signals_open(&s)) {
        begin(&s);
    } else {
        fail(&s, "the supervisor cannot set up its signals");
    }
    while (s.phase != PHASE_OVER) {
        loop_once(&s);
    }
    end(&s);
    arena_done(&s.arena);
    return 0;
}

/* A process in the middle of exec has no environment to be known by: nothing must be found several
 * times in a row. */
static void kill_marked(struct str marker)
{
    enum { ROUNDS_MAX = 500, QUIET_ROUNDS = 4 };
    int quiet = 0;
    for (int round = 0; round < ROUNDS_MAX && quiet < QUIET_ROUNDS; round++) {
        quiet = tree_kill_marked(marker) > 0 ? 0 : quiet + 1;
        (void)poll(NULL, 0, REAP_PAUSE_MS);
    }
}

int supervise_clean(const char *dir)
{
    static struct supervisor s;
    struct err err = {0};
    if (supervisor_open(&s, dir, &err) != STATUS_OK) {
        (void)fprintf(stderr, "weir _supervise: %s\n", err.text);
    }
    struct cgroups groups;
    char name[LAUNCH_NAME_SIZE], marker[LAUNCH_NAME_SIZE + 16];
    launch_name(s.launch.pod, s.launch.attempt, name);
    groups_of(&s.launch, &groups);
    cgroup_at(&s.cgroup, &groups, name);
    (void)snprintf(marker, sizeof(marker), "WEIR_POD=%s", name);
    if (is_image(&s)) {
        container_remove(&s.launch);
    }
    (void)cgroup_kill(&s.cgroup);
    kill_marked(str_from_c(marker));
    cgroup_remove(&s.cgroup);
    (void)unlinkat(s.dir_fd, "sock", 0);
    struct pod_status last;
    if (status_read(s.dir_fd, &last, NULL) == STATUS_OK) {
        s.status.started_ms = last.started_ms;
    }
    s.status.state = POD_STATE_EXITED;
    s.status.ended_ms = clock_wall_ms();
    status_reason(&s.status, STR("NodeLost"));
    if (status_write(s.dir_fd, &s.status, true, &err) != STATUS_OK) {
        (void)fprintf(stderr, "weir _supervise: %s\n", err.text);
        return 1;
    }
    arena_done(&s.arena);
    return 0;
}

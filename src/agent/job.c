// SPDX-License-Identifier: Apache-2.0
// Order in the child: session, control group, namespaces, terminal, stdio, powers, user, directory,
// exec.
// The report pipe closes on exec, so that its end is the proof that the command runs.
#include "agent/job.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "agent/cpus.h"
#include "agent/powers.h"
#include "base/num.h"
#include "io/file.h"

enum job_step {
    STEP_GROUP,
    STEP_CPUS,
    STEP_NAMESPACE,
    STEP_TERMINAL,
    STEP_STDIO,
    STEP_POWERS,
    STEP_USER,
    STEP_DIR,
    STEP_EXEC
};
enum { LIST_SHOWN = 100 };
struct job_failure {
    enum job_step step;
    int error;
};

void job_user_find(struct job_user *out, const struct pod_spec *spec, struct arena *arena)
{
    *out = (struct job_user){0};
    struct account *a = &out->account;
    a->uid = spec->run_as_uid >= 0 ? (uid_t)spec->run_as_uid : geteuid();
    a->gid = getegid();
    a->name = "";
    a->home = "/";
    char text[4096];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(a->uid, &entry, text, sizeof(text), &found) == 0 && found != NULL) {
        a->name = arena_cstr(arena, str_from_c(entry.pw_name));
        a->home = arena_cstr(arena, str_from_c(entry.pw_dir));
    }
    if (a->uid != geteuid()) {
        a->gid = found != NULL ? entry.pw_gid : (gid_t)a->uid;
    }
    if (spec->run_as_gid >= 0) {
        a->gid = (gid_t)spec->run_as_gid;
    }
    out->change = a->uid != geteuid() || a->gid != getegid();
    if (!out->change) {
        return;
    }
    out->groups_count = JOB_GROUPS_MAX;
    if (found == NULL || getgrouplist(entry.pw_name, a->gid, out->groups, &out->groups_count) < 0) {
        out->groups[0] = a->gid;
        out->groups_count = 1;
    }
}

/* ---- the child ---- */

NORETURN static void child_fail(int report, enum job_step step)
{
    struct job_failure f = {.step = step, .error = errno};
    (void)!write(report, &f, sizeof(f));
    _exit(126);
}

static bool send_fd(int sock, int fd)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    char byte = 0;
    struct iovec data = {.iov_base = &byte, .iov_len = 1};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.space,
                       .msg_controllen = sizeof(control.space)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof(fd));
    return sendmsg(sock, &m, MSG_NOSIGNAL) == 1;
}

int job_receive_fd(int sock)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    char byte;
    struct iovec data = {.iov_base = &byte, .iov_len = 1};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.space,
                       .msg_controllen = sizeof(control.space)};
    ssize_t n;
    do {
        n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    struct cmsghdr *c = n == 1 ? CMSG_FIRSTHDR(&m) : NULL;
    int fd = -1;
    if (c != NULL && c->cmsg_type == SCM_RIGHTS) {
        memcpy(&fd, CMSG_DATA(c), sizeof(fd));
    }
    return fd;
}

/* Opens a terminal where the child is (its own /dev/pts) and makes it the session's. */
static int child_terminal(const struct job *job)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    char name[64];
    if (master < 0 || unlockpt(master) != 0 || ptsname_r(master, name, sizeof(name)) != 0) {
        return -1;
    }
    int slave = open(name, O_RDWR | O_CLOEXEC);
    if (slave < 0 || ioctl(slave, TIOCSCTTY, 0) != 0 || !send_fd(job->terminal, master)) {
        return -1;
    }
    if (job->user != NULL && job->user->change &&
        fchown(slave, job->user->account.uid, (gid_t)-1) != 0) {
        return -1;
    }
    (void)close(master);
    return slave;
}

/* Puts fd at number 0, 1 or 2; -1 stands for /dev/null. */
static bool child_stdio(int fd, int number)
{
    int from = fd >= 0 ? fd : open("/dev/null", O_RDWR | O_CLOEXEC);
    if (from == number) {
        return fcntl(from, F_SETFD, 0) == 0;
    }
    return from >= 0 && dup2(from, number) == number;
}

static bool child_user(const struct job_user *u)
{
    if (!u->change) {
        return true;
    }
    return setgroups((size_t)u->groups_count, u->groups) == 0 &&
           setresgid(u->account.gid, u->account.gid, u->account.gid) == 0 &&
           setresuid(u->account.uid, u->account.uid, u->account.uid) == 0;
}

static bool child_directory(const struct job *job)
{
    if (job->working_dir == NULL) {
        return true;
    }
    if (job->working_dir[0] != '\0') {
        return chdir(job->working_dir) == 0;
    }
    return (job->user != NULL && chdir(job->user->account.home) == 0) || chdir("/") == 0;
}

static void child_signals(void)
{
    sigset_t none;
    (void)sigemptyset(&none);
    for (int s = 1; s < NSIG; s++) {
        (void)signal(s, SIG_DFL);
    }
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

NORETURN static void child(const struct job *job, int report, bool forked_in, pid_t parent)
{
    (void)setsid();
    child_signals();
    if (job->cgroup != NULL && !cgroup_join(job->cgroup, forked_in)) {
        child_fail(report, STEP_GROUP);
    }
    if (job->cpus.len > 0 && !cpus_keep(job->cpus, job->numa_node)) {
        child_fail(report, STEP_CPUS);
    }
    if (job->isolate != NULL && !isolate_enter(job->isolate)) {
        child_fail(report, STEP_NAMESPACE);
    }
    int in = job->in, out = job->out, err = job->err;
    if (job->terminal >= 0) {
        in = out = err = child_terminal(job);
        if (in < 0) {
            child_fail(report, STEP_TERMINAL);
        }
    }
    if (!child_stdio(in, 0) || !child_stdio(out, 1) || !child_stdio(err, 2)) {
        child_fail(report, STEP_STDIO);
    }
    if (job->confined && !powers_bound()) {
        child_fail(report, STEP_POWERS);
    }
    if (job->user != NULL && !child_user(job->user)) {
        child_fail(report, STEP_USER);
    }
    if (job->confined && !powers_leave()) {
        child_fail(report, STEP_POWERS);
    }
    // Where there are no namespaces, at least the main process does not outlive its supervisor.
    if (job->isolate != NULL && job->isolate->init == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(126); // it died before it could be told
        }
    }
    if (!child_directory(job)) {
        child_fail(report, STEP_DIR);
    }
    (void)umask(022);
    environ = (char **)(uintptr_t)job->env; // where execvp looks for PATH
    (void)execvp(job->argv[0], job->argv);
    child_fail(report, STEP_EXEC);
}

pid_t job_start(const struct job *job, int *report)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    // Not among the first three, which the child's own input and output will take.
    if (ends[1] <= 2) {
        int higher = fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
        (void)close(ends[1]);
        ends[1] = higher;
    }
    bool forked_in;
    pid_t parent = getpid();
    pid_t pid = cgroup_fork(job->cgroup, &forked_in);
    if (pid == 0) {
        child(job, ends[1], forked_in, parent);
    }
    (void)close(ends[1]);
    if (pid < 0) {
        (void)close(ends[0]);
        return -1;
    }
    *report = ends[0];
    return pid;
}

/* ---- words ---- */

static void exec_reason(const char *command, int error, char reason[REASON_MAX])
{
    bool is_path = strchr(command, '/') != NULL;
    if (error == ENOENT && is_path && access(command, F_OK) == 0) {
        (void)snprintf(reason, REASON_MAX, "the interpreter of %.300s does not exist", command);
    } else if (error == ENOENT) {
        (void)snprintf(reason, REASON_MAX, "command not found: %.300s", command);
    } else if (error == E2BIG) {
        (void)snprintf(reason, REASON_MAX, "arguments and environment together are too long");
    } else {
        (void)snprintf(reason, REASON_MAX, "command %.300s cannot be run: %s", command,
                       strerror(error));
    }
}

static void failure_reason(const struct job_failure *f, const struct job *job,
                           char reason[REASON_MAX])
{
    const char *why = strerror(f->error);
    switch (f->step) {
    case STEP_GROUP:
        (void)snprintf(reason, REASON_MAX, "cannot enter the pod's control group: %s", why);
        break;
    case STEP_CPUS:
        (void)snprintf(reason, REASON_MAX,
                       "cannot be kept to processors %.*s of NUMA node %lld: %s",
                       (int)num_min_i64(job->cpus.len, LIST_SHOWN), job->cpus.ptr,
                       (long long)job->numa_node, why);
        break;
    case STEP_NAMESPACE:
        (void)snprintf(reason, REASON_MAX, "cannot enter the pod's namespaces: %s", why);
        break;
    case STEP_TERMINAL:
        (void)snprintf(reason, REASON_MAX, "cannot open a terminal: %s", why);
        break;
    case STEP_STDIO:
        (void)snprintf(reason, REASON_MAX, "cannot set up input and output: %s", why);
        break;
    case STEP_POWERS:
        (void)snprintf(reason, REASON_MAX, "cannot give up powers that no job has: %s", why);
        break;
    case STEP_USER:
        (void)snprintf(reason, REASON_MAX, "cannot run as user %u, group %u: %s",
                       job->user->account.uid, job->user->account.gid, why);
        break;
    case STEP_DIR:
        if (f->error == ENOENT) {
            (void)snprintf(reason, REASON_MAX, "working directory %.300s does not exist",
                           job->working_dir);
        } else {
            (void)snprintf(reason, REASON_MAX, "working directory %.300s: %s", job->working_dir,
                           why);
        }
        break;
    case STEP_EXEC:
        exec_reason(job->argv[0], f->error, reason);
        break;
    }
}

bool job_report(int report, const struct job *job, char reason[REASON_MAX], int *code)
{
    struct job_failure f;
    ssize_t n;
    do {
        n = read(report, &f, sizeof(f));
    } while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof(f)) {
        return true;
    }
    failure_reason(&f, job, reason);
    *code = f.step == STEP_EXEC && f.error == ENOENT ? 127 : 126;
    return false;
}

int job_code(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

// SPDX-License-Identifier: Apache-2.0
// One message for each supervisor: the directory's path, with the descriptors beside it. The fork's
// copies of all else are closed by the child before it begins, by their numbers.
#include "agent/nursery.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/supervise.h"
#include "base/check.h"
#include "io/file.h"

enum { PATH_SIZE = 4096, FDS_MAX = 2, FD_SAFE = 10, SEND_S = 5 };

/* ---- the agent's side ---- */

void nursery_init(struct nursery *n, uint64_t files_max)
{
    *n = (struct nursery){.sock = -1, .pid = -1, .files_max = files_max};
}

void nursery_close(struct nursery *n)
{
    file_close(&n->sock); // it ends when it sees this
    while (n->pid > 0 && waitpid(n->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    n->pid = -1;
}

static enum status nursery_spawn(struct nursery *n, int theirs, struct err *err)
{
    char name[] = "weir", verb[] = "_supervise";
    char *argv[] = {name, verb, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t all, none;
    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    (void)posix_spawn_file_actions_init(&files);
    (void)posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
    (void)posix_spawn_file_actions_adddup2(&files, 0, 1);
    (void)posix_spawn_file_actions_adddup2(&files, theirs, NURSERY_FD);
    (void)posix_spawn_file_actions_addclosefrom_np(&files, NURSERY_FD + 1);
    (void)posix_spawnattr_init(&attr);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSIGMASK);
    (void)posix_spawnattr_setsigdefault(&attr, &all);
    (void)posix_spawnattr_setsigmask(&attr, &none);
    int rc = posix_spawn(&n->pid, "/proc/self/exe", &files, &attr, argv, environ);
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&files);
    if (rc != 0) {
        n->pid = -1;
        return err_set(err, STATUS_IO, "supervisors cannot be started: %s", strerror(rc));
    }
    struct rlimit limit;
    if (n->files_max > 0 && prlimit(n->pid, RLIMIT_NOFILE, NULL, &limit) == 0) {
        limit.rlim_cur = n->files_max < limit.rlim_max ? n->files_max : limit.rlim_max;
        (void)prlimit(n->pid, RLIMIT_NOFILE, &limit, NULL);
    }
    return STATUS_OK;
}

enum status nursery_open(struct nursery *n, struct err *err)
{
    nursery_close(n);
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        return err_set(err, STATUS_IO, "supervisors cannot be started: %s", strerror(errno));
    }
    n->sock = pair[0];
    // Above the number it gets there, so that it is not taken for given already.
    CLEANUP(file_close) int theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, FD_SAFE);
    (void)close(pair[1]);
    struct timeval patience = {.tv_sec = SEND_S};
    (void)setsockopt(n->sock, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    enum status s = nursery_spawn(n, theirs, err);
    if (s != STATUS_OK) {
        nursery_close(n);
    }
    return s;
}

static bool message_send(int sock, const char *dir, int lock, int listener)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(FDS_MAX * sizeof(int))];
    } control = {0};
    const int fds[FDS_MAX] = {lock, listener};
    size_t count = listener >= 0 ? 2 : 1;
    char path[PATH_SIZE];
    (void)snprintf(path, sizeof(path), "%s", dir);
    struct iovec data = {.iov_base = path, .iov_len = strlen(path) + 1};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.space,
                       .msg_controllen = CMSG_SPACE(count * sizeof(int))};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(c), fds, count * sizeof(int));
    ssize_t n;
    do {
        n = sendmsg(sock, &m, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n == (ssize_t)data.iov_len;
}

bool nursery_ready(const struct nursery *n)
{
    struct pollfd p = {.fd = n->sock, .events = POLLOUT};
    return n->sock < 0 || poll(&p, 1, 0) > 0; // it is started again by the next
}

enum status nursery_start(struct nursery *n, const char *dir, int lock, int listener,
                          struct err *err)
{
    CHECK(lock >= 0);
    if (n->sock >= 0 && message_send(n->sock, dir, lock, listener)) {
        return STATUS_OK;
    }
    enum status s = nursery_open(n, err);
    if (s == STATUS_OK && !message_send(n->sock, dir, lock, listener)) {
        s = err_set(err, STATUS_IO, "the supervisor cannot be started: %s", strerror(errno));
    }
    return s;
}

/* ---- the process ---- */

/* Takes one message; the number of descriptors, all moved to numbers that are safe to copy from;
 * 0: nothing to be done, -1: the agent is gone. */
static int message_take(int sock, char path[PATH_SIZE], int fds[FDS_MAX])
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(FDS_MAX * sizeof(int))];
    } control = {0};
    struct iovec data = {.iov_base = path, .iov_len = PATH_SIZE - 1};
    struct msghdr m = {.msg_iov = &data,
                       .msg_iovlen = 1,
                       .msg_control = control.space,
                       .msg_controllen = sizeof(control.space)};
    ssize_t n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
    if (n <= 0) {
        return n < 0 && errno == EINTR ? 0 : -1;
    }
    path[n] = '\0';
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (c == NULL || c->cmsg_type != SCM_RIGHTS) {
        return 0;
    }
    int count = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    memcpy(fds, CMSG_DATA(c), (size_t)count * sizeof(int));
    for (int i = 0; i < count; i++) {
        int safe = fcntl(fds[i], F_DUPFD_CLOEXEC, FD_SAFE);
        (void)close(fds[i]);
        fds[i] = safe;
    }
    return count;
}

NORETURN static void supervisor_begin(const char *path, const int *fds, int count)
{
    (void)setsid();
    (void)signal(SIGCHLD, SIG_DFL);
    (void)prctl(PR_SET_NAME, SUPERVISOR_NAME);
    (void)dup2(fds[0], SUPERVISE_LOCK_FD);
    if (count > 1) {
        (void)dup2(fds[1], SUPERVISE_LISTEN_FD);
    }
    (void)syscall(SYS_close_range,
                  (unsigned)(count > 1 ? SUPERVISE_LISTEN_FD : SUPERVISE_LOCK_FD) + 1, ~0U, 0U);
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int errors = openat(dir, "errors", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    (void)dup2(errors >= 0 ? errors : 0, 2);
    file_close(&errors);
    file_close(&dir);
    _exit(count > 1 ? supervise_run(path) : supervise_clean(path));
}

int nursery_run(void)
{
    int sock = fcntl(NURSERY_FD, F_DUPFD_CLOEXEC, FD_SAFE);
    (void)close(NURSERY_FD);
    if (sock < 0) {
        return 1;
    }
    (void)!chdir("/");
    (void)signal(SIGCHLD, SIG_IGN); // supervisors are not waited for
    (void)prctl(PR_SET_NAME, NURSERY_NAME);
    for (;;) {
        char path[PATH_SIZE];
        int fds[FDS_MAX] = {-1, -1};
        int count = message_take(sock, path, fds);
        if (count < 0) {
            return 0;
        }
        // A fork that fails closes the socket and frees the lock: the agent sees it there.
        if (count > 0 && fork() == 0) {
            supervisor_begin(path, fds, count);
        }
        for (int i = 0; i < FDS_MAX; i++) {
            file_close(&fds[i]);
        }
    }
}

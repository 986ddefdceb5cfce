// SPDX-License-Identifier: Apache-2.0
// The supervisor unshares the PID namespace for its children: the first child becomes init, which
// only makes the mounts, reaps orphans and waits for the lifeline's end; the second is the job,
// which stays the supervisor's own child (exact exit status) and is not process 1 (which could not
// be ended by SIGTERM unless it asks for it). Device nodes are bound from the host's /dev, which
// works without mknod; sources are opened before the new /dev covers them.
#include "agent/isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/checkpoint.h"
#include "io/file.h"

enum { NODES_MAX_BOUND = 64, PATH_SIZE = 512, SOURCE_SIZE = 4096 };

static const char *const basic_nodes[] = {
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty",
};
static const char *const dev_links[][2] = {
    {"/proc/self/fd",   "/dev/fd"    },
    {"/proc/self/fd/0", "/dev/stdin" },
    {"/proc/self/fd/1", "/dev/stdout"},
    {"/proc/self/fd/2", "/dev/stderr"},
    {"pts/ptmx",        "/dev/ptmx"  },
};

/* Where whoever is root could change the kernel, or the limits of the pod. */
static const char *const kernel_dirs[] = {
    "/sys", "/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs",
};

/* What the first process reports when a step fails. */
struct step {
    char what[96];
    int error;
};

static bool step_fail(struct step *s, const char *what)
{
    s->error = errno;
    (void)snprintf(s->what, sizeof(s->what), "%s", what);
    return false;
}

static bool put(const char *path, const char *text)
{
    CLEANUP(file_close) int fd = open(path, O_WRONLY | O_CLOEXEC);
    size_t len = strlen(text);
    return fd >= 0 && write(fd, text, len) == (ssize_t)len;
}

/* One user, mapped to itself: files keep their owner, and exec drops the namespace's powers. */
static bool enter_user_namespace(struct step *s)
{
    unsigned uid = geteuid(), gid = getegid();
    if (unshare(CLONE_NEWUSER) != 0) {
        return step_fail(s, "make a user namespace");
    }
    char line[64];
    (void)snprintf(line, sizeof(line), "%u %u 1", uid, uid);
    if (!put("/proc/self/setgroups", "deny") || !put("/proc/self/uid_map", line)) {
        return step_fail(s, "map the user");
    }
    (void)snprintf(line, sizeof(line), "%u %u 1", gid, gid);
    return put("/proc/self/gid_map", line) || step_fail(s, "map the group");
}

/* ---- the first process ---- */

struct bound {
    char path[PATH_SIZE];
    int fd;
};

/* Makes the file and the directories above it below /dev, and binds the node over it. */
static bool bind_node(const struct bound *b)
{
    char path[PATH_SIZE], source[64];
    memcpy(path, b->path, sizeof(path));
    for (char *c = path + strlen("/dev/"); *c != '\0'; c++) {
        if (*c == '/') {
            *c = '\0';
            if (mkdir(path, 0755) != 0 && errno != EEXIST) {
                return false;
            }
            *c = '/';
        }
    }
    CLEANUP(file_close) int made = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    (void)snprintf(source, sizeof(source), "/proc/self/fd/%d", b->fd);
    return made >= 0 && mount(source, path, NULL, MS_BIND, NULL) == 0;
}

/* What is not among the devices: the file that the job touches. It is opened first, because the
 * directory that it is in is hidden. */
static bool open_checkpoint(const struct launch *l, struct bound *out)
{
    char path[SOURCE_SIZE];
    (void)snprintf(path, sizeof(path), STR_FMT, STR_ARG(l->checkpoint));
    (void)snprintf(out->path, sizeof(out->path), CHECKPOINT_PATH);
    out->fd = open(path, O_PATH | O_CLOEXEC);
    return out->fd >= 0;
}

static uint32_t open_nodes(const struct launch *l, struct bound out[NODES_MAX_BOUND])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < COUNT_OF(basic_nodes) + l->device_nodes_count; i++) {
        if (count == NODES_MAX_BOUND) {
            break;
        }
        struct bound *b = &out[count];
        struct str path = i < COUNT_OF(basic_nodes)
                              ? str_from_c(basic_nodes[i])
                              : l->device_nodes[i - COUNT_OF(basic_nodes)].value;
        if (path.len >= PATH_SIZE || !str_starts(path, STR("/dev/"))) {
            continue;
        }
        (void)snprintf(b->path, sizeof(b->path), STR_FMT, STR_ARG(path));
        b->fd = open(b->path, O_PATH | O_CLOEXEC);
        count += b->fd >= 0 ? 1 : 0;
    }
    return count;
}

/* Covers a directory with an empty one. What is not there (or is below one already hidden) need not
 * be. */
static bool hide(struct str dir)
{
    char path[PATH_SIZE];
    int len = snprintf(path, sizeof(path), STR_FMT, STR_ARG(dir));
    return len < PATH_SIZE &&
           (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY,
                  "mode=755,size=4k") == 0 ||
            errno == ENOENT);
}

/* Everything below path can be read only, whoever owns it. */
static bool make_read_only(const char *path)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
    if (access(path, F_OK) != 0 ||
        mount_setattr(AT_FDCWD, path, AT_RECURSIVE, &attr, sizeof(attr)) == 0 || errno == ENOSYS) {
        return true;
    }
    return mount(path, path, NULL, MS_BIND | MS_REC, NULL) == 0 && // it was no mount yet
           mount_setattr(AT_FDCWD, path, AT_RECURSIVE, &attr, sizeof(attr)) == 0;
}

static bool make_mounts(const struct launch *l, struct step *s)
{
    if (unshare(CLONE_NEWNS) != 0) {
        return step_fail(s, "make a mount namespace");
    }
    if (mount(NULL, "/", NULL, MS_SLAVE | MS_REC, NULL) != 0) {
        return step_fail(s, "keep mounts private");
    }
    struct bound checkpoint;
    bool has_checkpoint = l->checkpoint.len > 0;
    if (has_checkpoint && !open_checkpoint(l, &checkpoint)) {
        return step_fail(s, "open the file for checkpoints");
    }
    for (uint32_t i = 0; i < l->hidden_count; i++) { // first: it may be below /dev
        if (!hide(l->hidden[i].value)) {
            return step_fail(s, "hide the files of weir");
        }
    }
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0) {
        return step_fail(s, "mount /proc");
    }
    for (uint32_t i = 0; i < COUNT_OF(kernel_dirs); i++) {
        if (!make_read_only(kernel_dirs[i])) {
            return step_fail(s, kernel_dirs[i]);
        }
    }
    struct bound nodes[NODES_MAX_BOUND];
    uint32_t count = open_nodes(l, nodes);
    if (mount("tmpfs", "/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=1m") != 0) {
        return step_fail(s, "mount /dev");
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!bind_node(&nodes[i])) {
            return step_fail(s, nodes[i].path);
        }
        (void)close(nodes[i].fd);
    }
    if (has_checkpoint && !bind_node(&checkpoint)) {
        return step_fail(s, CHECKPOINT_PATH);
    }
    if (mkdir("/dev/pts", 0755) != 0 || mkdir("/dev/shm", 0755) != 0 ||
        mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
              "newinstance,ptmxmode=0666,mode=620") != 0 ||
        mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0) {
        return step_fail(s, "mount /dev/pts and /dev/shm");
    }
    for (uint32_t i = 0; i < COUNT_OF(dev_links); i++) {
        if (symlink(dev_links[i][0], dev_links[i][1]) != 0) {
            return step_fail(s, "make the links of /dev");
        }
    }
    return true;
}

/* What is in its namespace can read the first process: what weir was started with is not for it. */
static void forget_environment(void)
{
    for (char **e = environ; *e != NULL; e++) {
        explicit_bzero(*e, strlen(*e));
    }
}

NORETURN static void first_process(const struct launch *l, int report, int lifeline)
{
    struct step s = {0};
    (void)prctl(PR_SET_NAME, "weir-init");
    forget_environment();
    bool ok = make_mounts(l, &s);
    (void)!write(report, &s, sizeof(s));
    if (!ok) {
        _exit(1);
    }
    // Orphans are reaped by the kernel; nothing the supervisor had open is kept, its lock above all.
    (void)signal(SIGCHLD, SIG_IGN);
    (void)dup2(lifeline, 0);
    (void)syscall(SYS_close_range, 1U, ~0U, 0U);
    (void)!chdir("/");
    for (;;) {
        struct pollfd end = {.fd = 0};
        if (poll(&end, 1, -1) > 0) {
            _exit(0);
        }
    }
}

/* ---- the supervisor's side ---- */

static bool start(struct isolate *iso, const struct launch *l, struct step *s)
{
    int report[2] = {-1, -1}, line[2] = {-1, -1};
    if (pipe2(report, O_CLOEXEC) != 0 || pipe2(line, O_CLOEXEC) != 0) {
        return step_fail(s, "make pipes");
    }
    if (l->isolation == ISOLATION_USER && !enter_user_namespace(s)) {
        return false;
    }
    if (unshare(CLONE_NEWPID) != 0) {
        return step_fail(s, "make a PID namespace");
    }
    pid_t init = fork();
    if (init == 0) {
        (void)close(report[0]);
        (void)close(line[1]);
        first_process(l, report[1], line[0]);
    }
    (void)close(report[1]);
    (void)close(line[0]);
    iso->lifeline = line[1];
    if (init < 0) {
        return step_fail(s, "start the first process");
    }
    iso->init = init;
    iso->init_fd = (int)syscall(SYS_pidfd_open, init, 0);
    ssize_t n;
    do {
        n = read(report[0], s, sizeof(*s));
    } while (n < 0 && errno == EINTR);
    (void)close(report[0]);
    if (n != (ssize_t)sizeof(*s) || iso->init_fd < 0) {
        return step_fail(s, "hear from the first process");
    }
    return s->what[0] == '\0';
}

enum status isolate_start(struct isolate *iso, const struct launch *l, struct err *err)
{
    *iso = (struct isolate){.init_fd = -1, .lifeline = -1};
    if (l->isolation == ISOLATION_NONE) {
        return STATUS_OK;
    }
    struct step s = {0};
    if (!start(iso, l, &s)) {
        return err_set(err, STATUS_UNSUPPORTED, "cannot isolate the pod: %s: %s", s.what,
                       strerror(s.error));
    }
    return STATUS_OK;
}

bool isolate_enter(const struct isolate *iso)
{
    return iso->init == 0 || setns(iso->init_fd, CLONE_NEWNS) == 0;
}

void isolate_end(struct isolate *iso)
{
    file_close(&iso->lifeline);
    if (iso->init_fd >= 0) {
        (void)syscall(SYS_pidfd_send_signal, iso->init_fd, SIGKILL, NULL, 0);
    }
    file_close(&iso->init_fd);
}

/* A child does all that a supervisor would, then a grandchild enters and runs. */
static bool try_isolation(enum launch_isolation isolation, char why[REASON_MAX])
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        return false;
    }
    pid_t child = fork();
    if (child == 0) {
        struct launch l = {.isolation = isolation};
        struct isolate iso;
        struct err err = {0};
        bool ok = isolate_start(&iso, &l, &err) == STATUS_OK;
        pid_t inside = ok ? fork() : -1;
        if (inside == 0) {
            _exit(isolate_enter(&iso) && access("/proc/self/stat", R_OK) == 0 ? 0 : 1);
        }
        int how = -1;
        if (inside > 0) {
            (void)waitpid(inside, &how, 0);
        }
        if (ok && how != 0) {
            (void)snprintf(err.text, sizeof(err.text), "cannot enter a mount namespace");
        }
        (void)!write(report[1], err.text, sizeof(err.text));
        _exit(0);
    }
    (void)close(report[1]);
    char text[sizeof(((struct err *)0)->text)] = "cannot fork";
    ssize_t n;
    do {
        n = read(report[0], text, sizeof(text));
    } while (n < 0 && errno == EINTR);
    (void)close(report[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) {
    }
    text[sizeof(text) - 1] = '\0';
    (void)snprintf(why, REASON_MAX, "%.*s", REASON_MAX - 1, text);
    return n == (ssize_t)sizeof(text) && text[0] == '\0';
}

bool isolate_keeps_kernel(void)
{
    return mount_setattr(-1, "", 0, NULL, 0) == 0 || errno != ENOSYS;
}

enum launch_isolation isolate_probe(char why[REASON_MAX])
{
    why[0] = '\0';
    if (geteuid() == 0 && try_isolation(ISOLATION_ROOT, why)) {
        return ISOLATION_ROOT;
    }
    if (try_isolation(ISOLATION_USER, why)) {
        return ISOLATION_USER;
    }
    return ISOLATION_NONE;
}

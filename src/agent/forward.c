// SPDX-License-Identifier: Apache-2.0
// A socket found before and after connecting was there all the time, so the connection is in its
// queue. Several may listen at one port (SO_REUSEPORT), and the kernel chooses: all must be the pod's.
#include "agent/forward.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/process.h"
#include "base/num.h"
#include "io/file.h"

enum {
    LISTENERS_MAX = 16,
    LEVELS_MAX = 256,
    TABLE_BYTES_MAX = 64 << 20,
    FIELD_ADDRESS = 1, /* of a line of /proc/net/tcp */
    FIELD_STATE = 3,
    FIELD_INODE = 9,
};

struct listeners {
    int64_t inodes[LISTENERS_MAX];
    bool found[LISTENERS_MAX]; /* a process of the pod has it open */
    uint32_t count;
    bool too_many;
};

/* "0100007F:1F90": of the kernel's, in its own byte order. */
static bool is_at(struct str address, uint16_t port)
{
    static const struct str reached[] = {STRS("0100007F:"), STRS("00000000:"),
                                         STRS("00000000000000000000000000000000:")};
    char end[8];
    (void)snprintf(end, sizeof(end), "%04X", port);
    for (uint32_t i = 0; i < sizeof(reached) / sizeof(reached[0]); i++) {
        if (str_starts(address, reached[i]) &&
            str_eq(str_sub(address, reached[i].len, address.len), str_from_c(end))) {
            return true;
        }
    }
    return false;
}

static void take_line(struct str line, uint16_t port, struct listeners *out)
{
    struct str part, fields[FIELD_INODE + 1] = {0};
    int64_t inode;
    for (uint32_t at = 0; at <= FIELD_INODE && str_split(&line, ' ', &part);) {
        if (part.len > 0) {
            fields[at++] = part;
        }
    }
    if (!is_at(fields[FIELD_ADDRESS], port) || !str_eq(fields[FIELD_STATE], STR("0A")) ||
        !num_parse_i64(fields[FIELD_INODE], &inode)) {
        return;
    }
    out->too_many = out->too_many || out->count == LISTENERS_MAX;
    if (!out->too_many) {
        out->inodes[out->count++] = inode;
    }
}

static void find_listeners(uint16_t port, struct listeners *out)
{
    static const char *const tables[] = {"/proc/net/tcp", "/proc/net/tcp6"};
    *out = (struct listeners){0};
    for (uint32_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        struct buf text;
        buf_init(&text, TABLE_BYTES_MAX);
        if (file_read(AT_FDCWD, tables[i], &text, NULL) == STATUS_OK) {
            struct str rest = buf_view(&text), line;
            while (str_split(&rest, '\n', &line)) {
                take_line(line, port, out);
            }
        }
        buf_done(&text);
    }
}

static bool is_below(pid_t pid, pid_t supervisor)
{
    struct process p;
    for (int level = 0; level < LEVELS_MAX && pid > 0 && process_read(pid, &p); level++) {
        if (p.parent == supervisor) {
            return true;
        }
        pid = p.parent;
    }
    return false;
}

/* The number of an entry of /proc, 0: it is none. */
static pid_t pid_of(const struct dirent *e)
{
    int64_t pid;
    return num_parse_i64(str_from_c(e->d_name), &pid) && pid > 0 && pid <= INT32_MAX ? (pid_t)pid
                                                                                     : 0;
}

static void look_into(pid_t pid, struct listeners *l)
{
    char path[64], link[64];
    (void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *fds = opendir(path);
    for (const struct dirent *e; fds != NULL && (e = readdir(fds)) != NULL;) {
        ssize_t n = readlinkat(dirfd(fds), e->d_name, link, sizeof(link) - 1);
        if (n <= 0) {
            continue;
        }
        link[n] = '\0';
        for (uint32_t i = 0; i < l->count; i++) {
            char wanted[64];
            (void)snprintf(wanted, sizeof(wanted), "socket:[%lld]", (long long)l->inodes[i]);
            l->found[i] = l->found[i] || strcmp(link, wanted) == 0;
        }
    }
    if (fds != NULL) {
        (void)closedir(fds);
    }
}

static bool are_the_pods(pid_t supervisor, struct listeners *l)
{
    DIR *all = l->count > 0 && !l->too_many ? opendir("/proc") : NULL;
    bool ok = all != NULL;
    for (const struct dirent *e; all != NULL && (e = readdir(all)) != NULL;) {
        pid_t pid = pid_of(e);
        if (pid > 0 && is_below(pid, supervisor)) {
            look_into(pid, l);
        }
    }
    for (uint32_t i = 0; i < l->count; i++) {
        ok = ok && l->found[i];
    }
    if (all != NULL) {
        (void)closedir(all);
    }
    return ok;
}

static bool same(const struct listeners *a, const struct listeners *b)
{
    bool same = a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++) {
        same = a->inodes[i] == b->inodes[i];
    }
    return same;
}

static enum status nobody(uint16_t port, struct err *err)
{
    err_set(err, STATUS_CONFLICT, "no process of the pod listens at 127.0.0.1:%u", port);
    err_field(err, "port");
    return err_hint(err, "it is to listen there, at 0.0.0.0 or [::], in the machine's network; "
                         "other processes cannot be reached this way");
}

enum status forward_connect(pid_t supervisor, uint16_t port, int *fd, struct err *err)
{
    struct listeners before, after;
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    find_listeners(port, &before);
    if (!are_the_pods(supervisor, &before)) {
        return nobody(port, err);
    }
    CLEANUP(file_close) int sock = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (sock < 0 ||
        (connect(sock, (struct sockaddr *)&to, sizeof(to)) != 0 && errno != EINPROGRESS)) {
        return err_set(err, STATUS_UNREACHABLE, "cannot connect to 127.0.0.1:%u: %s", port,
                       strerror(errno));
    }
    find_listeners(port, &after);
    if (!same(&before, &after) || !are_the_pods(supervisor, &after)) {
        return nobody(port, err);
    }
    *fd = sock;
    sock = -1;
    return STATUS_OK;
}

// SPDX-License-Identifier: Apache-2.0
#include "io/peer.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/file.h"

enum status peer_get(int fd, struct peer *out, struct err *err)
{
    struct ucred cred;
    socklen_t len = sizeof cred;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) != 0 || cred.pid == 0) {
        return err_set(err, STATUS_UNAUTHENTIC, "not known who is at the other end: %s",
                       strerror(errno));
    }
    *out = (struct peer){.uid = cred.uid, .gid = cred.gid, .pid = cred.pid};
    return STATUS_OK;
}

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* newer than Debian 12's headers */
#endif

static int peer_pidfd(int fd)
{
    int pidfd = -1;
    socklen_t len = sizeof pidfd;
    return getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) == 0 ? pidfd : -1;
}

bool peer_gone(int fd)
{
    CLEANUP(file_close) int pidfd = peer_pidfd(fd);
    if (pidfd < 0) {
        return peer_is_pinned(); /* the kernel does not give one of who is reaped already */
    }
    struct pollfd p = {.fd = pidfd, .events = POLLIN};
    return poll(&p, 1, 0) != 0;
}

bool peer_is_pinned(void)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return false;
    }
    CLEANUP(file_close) int pidfd = peer_pidfd(pair[0]);
    (void)close(pair[0]);
    (void)close(pair[1]);
    return pidfd >= 0;
}

void peer_name(uid_t uid, char out[PEER_NAME_SIZE])
{
    struct passwd entry;
    struct passwd *found = NULL;
    char text[4096];
    if (getpwuid_r(uid, &entry, text, sizeof text, &found) == 0 && found != NULL &&
        strlen(found->pw_name) < PEER_NAME_SIZE) {
        snprintf(out, PEER_NAME_SIZE, "%s", found->pw_name);
    } else {
        snprintf(out, PEER_NAME_SIZE, "uid %u", uid);
    }
}

// SPDX-License-Identifier: Apache-2.0
#include "io/peer.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

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

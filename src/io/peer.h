// SPDX-License-Identifier: Apache-2.0
// peer: who is at the other end of a local socket, as the kernel says.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

enum { PEER_NAME_SIZE = 64 };

struct peer {
    uid_t uid;
    gid_t gid;
    pid_t pid;
};

/* peer_get asks for the process that connected `fd`; STATUS_UNAUTHENTIC when the kernel does not
 * say (not a local socket). */
MUST_USE enum status peer_get(int fd, struct peer *out, struct err *err);
/* peer_gone: the process that connected `fd` has ended, so that its number may be another's by now.
 * Where the kernel cannot tell (see peer_is_pinned), false. */
bool peer_gone(int fd);
/* peer_is_pinned: the kernel keeps hold of who connected (Linux 6.5), not just of its number. */
bool peer_is_pinned(void);
/* peer_name writes the user's name, or "uid 1234" when the system knows none. */
void peer_name(uid_t uid, char out[PEER_NAME_SIZE]);

// SPDX-License-Identifier: Apache-2.0
// forward: a connection to a port of this machine that a pod's own process listens on, and nobody
// else: not weir, not another's job, not a service of the machine. Pods share the machine's network;
// who listens is known by the inode of the socket, which one of the pod's processes must have open.
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/err.h"

/* forward_connect connects to 127.0.0.1:port when all that listen there (at 127.0.0.1, 0.0.0.0, [::])
 * are processes below `supervisor`, looked at before and after: *fd is the socket, non-blocking, the
 * caller's to close. STATUS_CONFLICT: nobody of the pod listens there, or somebody else does. */
MUST_USE enum status forward_connect(pid_t supervisor, uint16_t port, int *fd, struct err *err);

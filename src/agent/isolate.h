// SPDX-License-Identifier: Apache-2.0
// isolate: the processes of a pod see only themselves (own PID namespace, own /proc) and only the
// device nodes they were granted (own /dev), not the files of weir; the kernel's own files can only
// be read. When the namespace's first process dies, the kernel kills all others in it. As root, or
// inside a user namespace where the kernel lets anyone make one.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "agent/launch.h"

struct isolate {
    pid_t init;   /* first process of the namespace; 0: not isolated */
    int init_fd;  /* its pidfd */
    int lifeline; /* it lives as long as this is open */
};

/* isolate_probe finds by trying what this machine allows; *why says why not more ("" when all). */
enum launch_isolation isolate_probe(char why[REASON_MAX]);

/* isolate_keeps_kernel: the kernel's own files can be made read-only for a pod (Linux 5.12). */
bool isolate_keeps_kernel(void);

/* isolate_start puts the calling process's future children into a new PID namespace and starts its
 * first process, which makes the mounts. The caller must be single-threaded. With ISOLATION_NONE it
 * does nothing. STATUS_UNSUPPORTED when the kernel refuses. */
MUST_USE enum status isolate_start(struct isolate *iso, const struct launch *l, struct err *err);
/* isolate_enter moves a forked child into the mount namespace; false with errno. */
bool isolate_enter(const struct isolate *iso);
/* isolate_end kills the namespace's first process and with it all others. It is a child to reap. */
void isolate_end(struct isolate *iso);

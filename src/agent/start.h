// SPDX-License-Identifier: Apache-2.0
// start: from a START effect to a supervisor that runs it.
#pragma once

#include <stdbool.h>

#include "agent/launch.h"
#include "agent/machine.h"

/* start_allowed: this machine can run it; if not, reason says why in the user's words. */
bool start_allowed(const struct machine *m, const struct effect *e, char reason[REASON_MAX]);
/* start_spec writes the pod's spec file. pods_dir will be hidden from the pod. */
MUST_USE enum status start_spec(const struct machine *m, const struct effect *e,
                                struct str pods_dir, int dir_fd, struct err *err);
/* start_supervisor starts `weir _supervise DIR`, or `… DIR clean` when listener is -1, in a session of its own, from
 * this same executable, handing over the lock and the listening socket. Their numbers must be above
 * SUPERVISE_LISTEN_FD. The process is a child: *process is its pidfd, the caller's to reap and close. */
MUST_USE enum status start_supervisor(const char *dir, int dir_fd, int lock, int listener,
                                      int *process, struct err *err);

// SPDX-License-Identifier: Apache-2.0
// start: what a START effect needs before a supervisor can run it.
#pragma once

#include <stdbool.h>

#include "agent/launch.h"
#include "agent/machine.h"

/* start_allowed: this machine can run it; if not, reason says why in the user's words. */
bool start_allowed(const struct machine *m, const struct effect *e, char reason[REASON_MAX]);
/* start_files makes what a pod's directory (dir, open as dir_fd) holds before it starts: its spec,
 * and the file for its checkpoints. */
MUST_USE enum status start_files(const struct machine *m, const struct effect *e, struct str dir,
                                 int dir_fd, struct err *err);

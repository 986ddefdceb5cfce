// SPDX-License-Identifier: Apache-2.0
// start: what a START effect needs before a supervisor can run it.
#pragma once

#include <stdbool.h>

#include "agent/launch.h"
#include "agent/machine.h"

/* start_allowed: this machine can run it; if not, reason says why in the user's words. */
bool start_allowed(const struct machine *m, const struct effect *e, char reason[REASON_MAX]);
/* start_spec writes the pod's spec file. */
MUST_USE enum status start_spec(const struct machine *m, const struct effect *e, int dir_fd,
                                struct err *err);

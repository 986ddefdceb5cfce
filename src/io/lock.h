// SPDX-License-Identifier: Apache-2.0
// lock: one process at a time in a directory.
#pragma once

#include "base/err.h"

/* lock_take locks the file `lock` in dir for as long as *fd is open (however the process ends) and
 * writes our process id into it. STATUS_IN_USE names the process that holds it; STATUS_IO: the
 * directory cannot be written. */
MUST_USE enum status lock_take(const char *dir, int *fd, struct err *err);

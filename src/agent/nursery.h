// SPDX-License-Identifier: Apache-2.0
// nursery: a small process of this same executable that forks the supervisors. Starting the whole
// executable anew for each pod costs its dynamic linking, 6 ms; forking one that has done it, 0.3.
// It ends when the agent does; the supervisors it forked stay, and belong to nobody but the system.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/err.h"

enum { NURSERY_FD = 3 }; /* its socket, in the process itself */
/* Names of the processes, as the system shows them. */
#define NURSERY_NAME    "weir-nursery"
#define SUPERVISOR_NAME "weir-pod"

struct nursery {
    int sock;           /* -1: not running */
    pid_t pid;          /* our child */
    uint64_t files_max; /* it may have open, and so all it starts; 0: as many as we */
};

void nursery_init(struct nursery *n, uint64_t files_max); /* starts nothing yet */
void nursery_close(struct nursery *n);
/* nursery_open starts it (again, when it died); it is done by nursery_start when it must. */
MUST_USE enum status nursery_open(struct nursery *n, struct err *err);
/* nursery_ready: it takes another at once. */
bool nursery_ready(const struct nursery *n);
/* nursery_start has a supervisor forked for the pod in dir, or with listener -1 one that cleans up,
 * and hands over lock and listener; the caller closes its own. STATUS_IO: nothing was started. */
MUST_USE enum status nursery_start(struct nursery *n, const char *dir, int lock, int listener,
                                   struct err *err);

/* nursery_run is the life of the process; returns its exit status. */
int nursery_run(void);

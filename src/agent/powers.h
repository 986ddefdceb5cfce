// SPDX-License-Identifier: Apache-2.0
// powers: what a job may do besides what its user may. Root in a job can own, read and write files,
// change users, send signals and bind ports; it cannot mount, make device nodes, trace others or
// change the machine. No job gains anything by running a program (set-user-ID, sudo).
#pragma once

#include <stdbool.h>

/* powers_can_bound: root's powers can be taken from what we start (else a job of root keeps them). */
bool powers_can_bound(void);
/* powers_bound takes what no job has from the calling process's future programs, while it still may;
 * powers_leave, after the user was changed, gives up the rest and the ways to get more. Both false
 * with errno. For a process that will exec. */
bool powers_bound(void);
bool powers_leave(void);

// SPDX-License-Identifier: Apache-2.0
// process: what the kernel says of a process in /proc.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PROCESS_NAME_SIZE = 17 };

struct process {
    pid_t pid, parent;
    int64_t start;                /* clock ticks since boot */
    int64_t ticks;                /* of processor time it has used, and children it waited for */
    char name[PROCESS_NAME_SIZE]; /* that it gave itself, or of its program */
};
/* process_read: false when there is no such process. */
bool process_read(pid_t pid, struct process *out);
/* process_start: clock ticks since boot at which pid started; -1 when there is no such process. */
int64_t process_start(pid_t pid);

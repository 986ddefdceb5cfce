// SPDX-License-Identifier: Apache-2.0
// belongs: whether a process is part of a pod, by what it cannot change itself.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

/* belongs_to_pod: a supervisor is above pid in the tree of processes (below those that we come from
 * ourselves: weir may run inside a pod of another), or it is in a pod's control group. A process
 * that is gone counts as part of one; the caller makes sure that pid still is the process it means. */
bool belongs_to_pod(pid_t pid);

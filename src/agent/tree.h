// SPDX-License-Identifier: Apache-2.0
// tree: finding and killing processes by what they descend from or by what they were started with,
// for machines without control groups and namespaces. Every signal goes through a pidfd whose
// process was looked at again after it was opened: a number that was reused is never signalled.
#pragma once

#include <sys/types.h>

#include "base/str.h"

/* tree_kill sends SIGKILL to all descendants of root (not to root); how many there were. */
int tree_kill(pid_t root);
/* tree_kill_marked sends SIGKILL to all processes of this user (as root: of all) whose initial
 * environment has the line `assignment`; how many there were. */
int tree_kill_marked(struct str assignment);

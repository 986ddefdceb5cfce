// SPDX-License-Identifier: Apache-2.0
// checkpoint: how a job says that its work is safe: it touches a file that weir made for it, named
// by WEIR_CHECKPOINT_FILE. Needs no credentials and no connection, works from every language and
// inside every container, and whoever may write the file may say so.
#pragma once

#include "agent/pods.h"

/* Where pods with a /dev of their own find it; others find the file itself. */
#define CHECKPOINT_PATH "/dev/weir/checkpoint"
#define CHECKPOINT_NAME "checkpoint" /* in the pod's directory */

enum { CHECKPOINT_CHECK_MS = 5000 };

/* checkpoint_make makes the file in a pod's directory, as one that nobody has touched. Everyone who
 * can reach it may write it: the pod may run as anyone, and the directory lets nobody else in. */
MUST_USE enum status checkpoint_make(int dir_fd, struct err *err);

/* checkpoints_look observes what was touched since; a pod is told of at most once in six looks, or
 * one that saves all the time would fill the journal. It sets when to look again. */
void checkpoints_look(struct agent *a);

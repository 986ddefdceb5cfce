// SPDX-License-Identifier: Apache-2.0
// container: a pod with an image, run by podman where it is installed. podman keeps the container;
// its `start --attach` is the pod's main process.
#pragma once

#include "agent/launch.h"

/* container_prepare gets the image if it must, makes the container and everything but its start.
 * Blocks as long as that takes (minutes for a pull): called in a child of the supervisor.
 * STATUS_UNSUPPORTED with the reason, in the user's words. */
MUST_USE enum status container_prepare(const struct launch *l, int dir_fd, struct err *err);
/* container_start_argv: the command that starts the container and stays attached to it. */
char **container_start_argv(const struct launch *l, struct arena *arena);
/* container_exec_argv: the command that runs argv, with env besides its own, inside. */
char **container_exec_argv(const struct launch *l, char *const *argv, char *const *env,
                           bool terminal, struct arena *arena);
/* container_kill sends SIGKILL to it; container_remove removes it and all it left. Bounded time. */
void container_kill(const struct launch *l);
void container_remove(const struct launch *l);
/* container_result: exit code and whether the kernel killed it for memory; false if not known. */
bool container_result(const struct launch *l, int64_t *exit_code, bool *oom);

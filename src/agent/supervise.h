// SPDX-License-Identifier: Apache-2.0
// supervise: the process beside each pod. It starts the job, keeps its output, answers the agent
// over its socket, stops the job, and records how it ended; it needs nothing of weir to live on.
#pragma once

/* Descriptors that the agent hands over. */
enum { SUPERVISE_LOCK_FD = 3, SUPERVISE_LISTEN_FD = 4 };

/* supervise_run is the whole life of a supervisor of the pod in dir; returns its exit status. */
int supervise_run(const char *dir);
/* supervise_clean ends what is left of a pod whose supervisor died, and records it as lost. */
int supervise_clean(const char *dir);

// SPDX-License-Identifier: Apache-2.0
// live: waiting for a workload and following what it writes.
#pragma once

#include "cli/cli.h"

/* live_wait waits until the workload at path has started (or has ended), showing its reason and place
 * in the queue on stderr meanwhile. timeout_ms < 0: without end. 0, or the exit status after the
 * error was written. */
int live_wait(struct cli *cli, struct str path, int64_t timeout_ms);
/* live_attach waits, then shows the output until the workload ends, through all its restarts; gives
 * the exit status of the workload. */
int live_attach(struct cli *cli, struct str path, struct str pod, int64_t timeout_ms);

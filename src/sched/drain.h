// SPDX-License-Identifier: Apache-2.0
// drain: preemptible pods are moved off the nodes and devices that are being drained. Internal to sched/.
#pragma once

#include "sched/state.h"

/* drain_run moves what is on a draining node, or holds a draining device, finds a free place (which
 * may be other devices of the same node) and may be moved (budgets); the rest runs on where it is
 * until one of the next cycles, or its end. Before others are placed, after claims: who runs already
 * does not lose its place in the pool to newcomers. */
void drain_run(struct sched *s);

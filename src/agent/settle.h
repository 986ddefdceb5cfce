// SPDX-License-Identifier: Apache-2.0
// settle: finds out what a pod is, always in the same way: socket, lock, status, started. It is used
// for START and STOP of a pod that is not known, after a restart, and when a connection breaks.
#pragma once

#include "agent/pods.h"

/* pod_settle brings p to its stage, or tells its end and removes it. start: the effect to start it
 * by when it was not, else NULL. */
void pod_settle(struct agent *a, struct agent_pod *p, const struct effect *start);
/* pod_record records an end that no supervisor could record, tells it, and removes the pod. */
void pod_record(struct agent *a, struct agent_pod *p, enum pod_state state, const char *reason);

// SPDX-License-Identifier: Apache-2.0
// score: which of the nodes that fit is best for a pod (kai.md 5.2). Internal to sched/.
#pragma once

#include "sched/fit.h"

/* score_pick gives the best node for the pod among those in mask (NULL: all), IX_NONE when none
 * fits. topology is a score per node, or NULL. Equal scores: the first by name. *fit says whether
 * it fits now. */
uint32_t score_pick(struct sched *s, uint32_t task, const uint64_t *mask, const uint8_t *topology,
                    enum fit *fit);

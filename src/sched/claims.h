// SPDX-License-Identifier: Apache-2.0
// claims: what was freed for a claimant is kept for it (R7). Internal to sched/.
#pragma once

#include "sched/state.h"

/* claims_keep puts the claimants of the snapshot back on what was freed for them, as pipelined
 * pods, before anybody else is looked at. A claim is given up when its pod is not pending any more,
 * its node or devices are not to be had, its queue may not take it, or its gang is not complete
 * with it. */
void claims_keep(struct sched *s);
/* claims_take starts those whose place is free by now. */
void claims_take(struct sched *s);
/* claims_emit writes the claims to be kept after the cycle. */
void claims_emit(struct sched *s);

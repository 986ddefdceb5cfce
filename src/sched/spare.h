// SPDX-License-Identifier: Apache-2.0
// spare: at the end of a cycle, victims that could have been spared after all (R4). Internal to
// sched/.
#pragma once

#include "sched/state.h"

/* spare_run lets those go on that were to stop and whose claimant finds room elsewhere by now. */
void spare_run(struct sched *s);

// SPDX-License-Identifier: Apache-2.0
// stale: a gang that has run below its minimum for longer than its grace is stopped, so that it
// does not hold devices in vain (kai.md 4.15). Internal to sched/.
#pragma once

#include "sched/state.h"

void stale_run(struct sched *s);

// SPDX-License-Identifier: Apache-2.0
// consolidate: running pods are moved together so that a workload fits that does not fit the gaps
// (kai.md 4.7). Nothing is stopped for good. Internal to sched/.
#pragma once

#include "sched/search.h"

void consolidate_run(struct sched *s);

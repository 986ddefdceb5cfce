// SPDX-License-Identifier: Apache-2.0
// reclaim: a queue takes back from other queues what it is entitled to (R1, R3; kai.md 3.7, 4.8).
// Internal to sched/.
#pragma once

#include "sched/search.h"

extern const struct search_rules reclaim_rules;

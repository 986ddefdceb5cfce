// SPDX-License-Identifier: Apache-2.0
// preempt: within one queue, work of higher priority takes the place of work of lower priority
// (kai.md 4.9). Internal to sched/.
#pragma once

#include "sched/search.h"

extern const struct search_rules preempt_rules;

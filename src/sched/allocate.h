// SPDX-License-Identifier: Apache-2.0
// allocate: gives free places to those whose turn it is (kai.md 4.4). Internal to sched/.
#pragma once

#include "sched/gang.h"

void allocate_run(struct sched *s);
/* allocate_settle makes what was placed in the trial final: pods recorded, devices taken. */
void allocate_settle(struct sched *s);
/* allocate_hold_back turns the pods allocated in this trial into pipelined ones when a pod set has
 * pipelined pods and too few others for its minimum: a gang starts as a whole. */
void allocate_hold_back(struct sched *s, uint32_t workload, uint32_t first_op);
/* allocate_place gives the pods of the list (gang_next, waiting) the best free places and makes that
 * final; all of them or, false, none, and then *failure says where it failed. */
bool allocate_place(struct sched *s, uint32_t workload, const struct task_list *tasks,
                    struct gang_failure *failure);
/* Whether some node does for the pod now or later. */
bool allocate_fits_anywhere(struct sched *s, uint32_t task);

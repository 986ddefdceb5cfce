// SPDX-License-Identifier: Apache-2.0
// victims: whom to take from next for the claimant of a search. Internal to sched/.
#pragma once

#include "sched/search.h"

/* victims_order builds the order of all that may be victims of somebody. */
void victims_order(struct search *x);
/* victims_next takes the next unit in the order into x->units. False when there are no more. */
bool victims_next(struct search *x);
/* victims_take takes that pod, which stands by itself, as a unit out of turn. */
void victims_take(struct search *x, uint32_t task);
/* victims_forget puts all units back. */
void victims_forget(struct search *x);

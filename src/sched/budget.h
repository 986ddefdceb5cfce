// SPDX-License-Identifier: Apache-2.0
// budget: disruption budgets: of the pods of a set so many go on running, whoever else wants their
// places. Internal to sched/.
#pragma once

#include "sched/search.h"

/* budget_init counts what each budget has left; with no budgets all else here does nothing. */
void budget_init(struct sched *s);
/* budget_count notes that a held pod is told to stop (sign 1) or goes on after all (-1). */
void budget_count(struct sched *s, uint32_t task, int sign);
/* budget_room: whether a held pod may be told to stop. */
bool budget_room(const struct sched *s, uint32_t task);
/* budget_allows: whether all pods of the unit together may be; if not, that is noted in x. */
bool budget_allows(struct search *x, const struct victim_unit *unit);
/* budget_keep leaves out of the scenario (x->chosen, ascending) the units that would break a budget
 * together with those before them, and those that cannot go without them. */
void budget_keep(struct search *x);

// SPDX-License-Identifier: Apache-2.0
// topology: the sets of nodes within which a group of a gang may be placed, best first
// (kai.md 5.4). Internal to sched/.
#pragma once

#include "sched/gang.h"

struct topology_sets {
    const uint64_t **masks; /* [count] node masks; a mask NULL means all nodes */
    uint32_t count;         /* 0: no domain has room */
    const uint8_t *scores;  /* [nodes] preference within the sets, or NULL */
};

/* topology_sets gives the candidates for the pods tasks[count] of the group among the nodes in mask
 * (NULL: all). Without a constraint that is mask itself, with the scores given. What is found out
 * about why no domain has room goes into *failure. The result lives in s->scratch. */
struct topology_sets topology_sets(struct sched *s, uint32_t group, const uint32_t *tasks,
                                   uint32_t count, const uint64_t *mask, const uint8_t *scores,
                                   struct gang_failure *failure);

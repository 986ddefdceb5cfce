// SPDX-License-Identifier: Apache-2.0
#include "sched/topology.h"

struct topology_sets topology_sets(struct sched *s, uint32_t group, const uint32_t *tasks,
                                   uint32_t count, const uint64_t *mask, const uint8_t *scores,
                                   struct gang_failure *failure)
{
    (void)group;
    (void)tasks;
    (void)count;
    (void)failure;
    struct topology_sets sets = {.count = 1, .scores = scores};
    sets.masks = ARENA_ARRAY(s->scratch, const uint64_t *, 1);
    sets.masks[0] = mask;
    return sets;
}

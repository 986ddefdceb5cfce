// SPDX-License-Identifier: Apache-2.0
#include "api/sight.h"

#include "api/show.h"
#include "model/ids.h"

const struct scope_set *sight_set(struct sight *s, enum entity e)
{
    if (s->sets[e] == NULL) {
        s->sets[e] = ARENA_NEW(s->arena, struct scope_set);
        access_scopes(s->grants, e, RIGHT_READ, s->arena, s->sets[e]);
    }
    return s->sets[e];
}

bool sight_department(struct sight *s, uint32_t row)
{
    return sight_set(s, ENTITY_DEPARTMENTS)->departments[row];
}

bool sight_project(struct sight *s, uint32_t row)
{
    return sight_set(s, ENTITY_PROJECTS)->projects[row];
}

enum entity entity_of_kind(enum workload_kind kind)
{
    switch (kind) {
    case WORKLOAD_TRAINING:
    case WORKLOAD_DISTRIBUTED:
        return ENTITY_TRAININGS;
    case WORKLOAD_WORKSPACE:
        return ENTITY_WORKSPACES;
    case WORKLOAD_INFERENCE:
        return ENTITY_INFERENCES;
    }
    return ENTITY_WORKLOADS;
}

bool sight_workload(struct sight *s, const struct workload *w)
{
    const struct scope_set *set = sight_set(s, entity_of_kind(w->kind));
    const struct state *st = engine_state(s->engine);
    bool gone = w < st->workloads || w >= st->workloads + st->workloads_count; /* of st->deleted */
    const struct project *p = gone ? show_find_project(&st->plan, w->project) : NULL;
    uint32_t row = !gone       ? engine_project_row(s->engine, w)
                   : p != NULL ? (uint32_t)(p - st->plan.projects)
                               : IX_NONE;
    return row == IX_NONE ? set->cluster : set->projects[row];
}

// SPDX-License-Identifier: Apache-2.0
// plan_rules: the scheduling rules that hold for a project. What is below may only be tighter: of
// limits the shortest counts, of node types those that every list has.
#include "model/limits.h"
#include "model/plan.h"
#include "model/plan_form.h"

static bool has(const struct str_item *items, uint32_t count, struct str value)
{
    for (uint32_t i = 0; i < count; i++) {
        if (str_eq(items[i].value, value)) {
            return true;
        }
    }
    return false;
}

/* Of both lists what they share; a list that names nothing leaves the other as it is, and two that
 * share nothing leave what no node is. */
static void tighten_types(struct str_item **items, uint32_t *count, const struct str_item *others,
                          uint32_t others_count, struct arena *arena)
{
    uint32_t kept = 0;
    if (others_count == 0) {
        return;
    }
    struct str_item *shared = ARENA_ARRAY(arena, struct str_item, others_count);
    for (uint32_t i = 0; i < others_count; i++) {
        if (*count == 0 || has(*items, *count, others[i].value)) {
            shared[kept++] = others[i];
        }
    }
    if (kept == 0) {
        shared[kept++].value = STR(""); /* which no node has for its type */
    }
    *items = shared;
    *count = kept;
}

static void tighten(struct scheduling_rules *into, const struct scheduling_rules *by,
                    struct arena *arena)
{
    for (uint32_t i = RULES_TRAINING_RUN; i <= RULES_WORKSPACE_PREEMPTIBLE_IDLE; i++) {
        int64_t *mine = (void *)((char *)into + rules_keys.items[i].offset);
        int64_t other = *(const int64_t *)key_field(&rules_keys.items[i], by);
        *mine = other > 0 && (*mine == 0 || other < *mine) ? other : *mine;
    }
    tighten_types(&into->training_types, &into->training_types_count, by->training_types,
                  by->training_types_count, arena);
    tighten_types(&into->workspace_types, &into->workspace_types_count, by->workspace_types,
                  by->workspace_types_count, arena);
}

static const struct department *find_department(const struct plan *plan, struct str name)
{
    for (uint32_t i = 0; name.len > 0 && i < plan->departments_count; i++) {
        if (str_eq(plan->departments[i].name, name)) {
            return &plan->departments[i];
        }
    }
    return NULL;
}

void plan_rules(const struct plan *plan, const struct project *project, struct arena *arena,
                struct scheduling_rules *out)
{
    const struct department *d = find_department(plan, project->department);
    *out = project->rules;
    for (uint32_t depth = 0; d != NULL && depth < QUEUE_DEPTH_MAX; depth++) {
        tighten(out, &d->rules, arena);
        d = find_department(plan, d->parent);
    }
}

// SPDX-License-Identifier: Apache-2.0
// budget: what is left of a budget is kept up to date by the trial, like every other count. A moved
// pod is down for a while, so moving counts like stopping. Pods that do not run yet are down already
// and may go. Victims are taken in their order; whoever comes too late for its budget is left out of
// the scenario, and may be first in another one: so the choice of nodes is not spoilt by a budget
// that was spent elsewhere.
#include "sched/budget.h"

// Whether the pod counts as running for its budgets.
static bool counts(const struct sched *s, uint32_t task)
{
    return task_of(s, task)->state == TASK_RUNNING;
}

void budget_init(struct sched *s)
{
    const struct snapshot *snap = s->snap;
    if (snap->budgets.count == 0) {
        return;
    }
    uint32_t *first = ARENA_ARRAY(s->arena, uint32_t, (size_t)snap->tasks.count + 2);
    s->budget_left = ARENA_ARRAY(s->arena, int64_t, snap->budgets.count);
    uint32_t refs = 0;
    for (uint32_t b = 0; b < snap->budgets.count; b++) {
        const struct snap_budget *budget = &snap->budgets.items[b];
        s->budget_left[b] = -(int64_t)budget->available_min;
        for (uint32_t m = 0; m < budget->member_count; m++) {
            uint32_t task = snap->budget_members.items[budget->member_first + m].ix;
            s->budget_left[b] += counts(s, task);
            first[task + 2]++;
            refs++;
        }
    }
    for (uint32_t t = 0; t < snap->tasks.count; t++) {
        first[t + 2] += first[t + 1];
    }
    s->budget_refs = ARENA_ARRAY(s->arena, uint32_t, refs);
    for (uint32_t b = 0; b < snap->budgets.count; b++) {
        const struct snap_budget *budget = &snap->budgets.items[b];
        for (uint32_t m = 0; m < budget->member_count; m++) {
            uint32_t task = snap->budget_members.items[budget->member_first + m].ix;
            s->budget_refs[first[task + 1]++] = b;
        }
    }
    s->budget_first = first;
}

void budget_count(struct sched *s, uint32_t task, int sign)
{
    if (!s->budget_first || !counts(s, task)) {
        return;
    }
    for (uint32_t i = s->budget_first[task]; i < s->budget_first[task + 1]; i++) {
        s->budget_left[s->budget_refs[i]] -= sign;
    }
}

bool budget_room(const struct sched *s, uint32_t task)
{
    if (!s->budget_first || !counts(s, task) || s->tasks[task].state != WORK_HELD) {
        return true;
    }
    for (uint32_t i = s->budget_first[task]; i < s->budget_first[task + 1]; i++) {
        if (s->budget_left[s->budget_refs[i]] <= 0) {
            return false;
        }
    }
    return true;
}

// Counts the first pods of the unit as stopped (or back as running).
static void count_pods(struct search *x, const struct victim_unit *unit, uint32_t count, int sign)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t task = x->unit_pods.items[unit->first + i].task;
        if (x->s->tasks[task].state == WORK_HELD) {
            budget_count(x->s, task, sign);
        }
    }
}

// Counts all pods of the unit as stopped, if that may be.
static bool take_unit(struct search *x, const struct victim_unit *unit)
{
    for (uint32_t i = 0; i < unit->count; i++) {
        if (!budget_room(x->s, x->unit_pods.items[unit->first + i].task)) {
            count_pods(x, unit, i, -1);
            x->budget_victim = unit->workload;
            return false;
        }
        uint32_t task = x->unit_pods.items[unit->first + i].task;
        if (x->s->tasks[task].state == WORK_HELD) {
            budget_count(x->s, task, 1);
        }
    }
    return true;
}

bool budget_allows(struct search *x, const struct victim_unit *unit)
{
    if (!x->s->budget_first) {
        return true;
    }
    bool allowed = take_unit(x, unit);
    if (allowed) {
        count_pods(x, unit, unit->count, -1);
    }
    return allowed;
}

static bool follows_one_left_out(const struct search *x, const struct victim_unit *unit)
{
    for (uint32_t u = unit->earlier; unit->core && u != IX_NONE; u = x->units.items[u].earlier) {
        if (x->units.items[u].choice != x->choice) {
            return true;
        }
    }
    return false;
}

void budget_keep(struct search *x)
{
    if (!x->s->budget_first) {
        return;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < x->chosen.count; i++) {
        struct victim_unit *unit = &x->units.items[x->chosen.items[i]];
        if (!follows_one_left_out(x, unit) && take_unit(x, unit)) {
            x->chosen.items[kept++] = x->chosen.items[i];
        } else {
            unit->choice = 0; /* no scenario has this number */
        }
    }
    x->chosen.count = kept;
    for (uint32_t i = 0; i < kept; i++) {
        const struct victim_unit *unit = &x->units.items[x->chosen.items[i]];
        count_pods(x, unit, unit->count, -1);
    }
}

// SPDX-License-Identifier: Apache-2.0
// live: what a cycle does once when it begins, looking at what is asked for, is done here whenever a
// quarter of the workloads has changed.
#include "sched/live.h"

#include "base/check.h"
#include "sched/allocate.h"
#include "sched/pack.h"
#include "sched/trial.h"

enum { RECOUNT_DIVISOR = 4 };

void live_init(struct live *l, const struct snapshot *snap, struct arena *arena,
               struct arena *scratch)
{
    *l = (struct live){.present = 0};
    sched_init(&l->sched, snap, arena, scratch, &l->unused);
}

static void set_state(struct sched *s, uint32_t task, enum work_state state)
{
    group_count(s, task, s->tasks[task].state, state);
    s->tasks[task].state = state;
}

static void note_change(struct live *l)
{
    l->changes++;
    if (l->sched.pack && l->changes * RECOUNT_DIVISOR >= l->present) {
        pack_recount(&l->sched);
        l->changes = 0;
    }
}

bool live_arrive(struct live *l, uint32_t workload)
{
    struct sched *s = &l->sched;
    const struct snap_workload *w = workload_of(s, workload);
    struct arena_mark mark = arena_mark(s->scratch);
    struct task_list tasks = {0};
    struct gang_failure failure = {.task = IX_NONE, .group = IX_NONE};
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        CHECK(s->tasks[t].state == WORK_GATED);
        set_state(s, t, WORK_PENDING);
    }
    l->present++;
    note_change(l);
    gang_next(s, workload, WORK_PENDING, s->scratch, &tasks);
    bool dead = false;
    for (uint32_t i = 0; i < tasks.count; i++) {
        dead = dead || shape_state_of(s, tasks.items[i])->dead;
    }
    bool placed = !dead && allocate_place(s, workload, &tasks, &failure);
    arena_rewind(s->scratch, mark);
    return placed;
}

// What is free now may be enough for a shape that found no place.
static void revive_shapes(struct sched *s)
{
    for (uint32_t i = 0; i < s->snap->shapes.count; i++) {
        s->shapes[i].dead = false;
    }
}

void live_lift(struct live *l, uint32_t task)
{
    CHECK(l->sched.tasks[task].state == WORK_ALLOCATED);
    trial_evict(&l->sched, task);
    trial_commit(&l->sched);
    revive_shapes(&l->sched);
}

void live_put(struct live *l, uint32_t task, uint32_t node, const struct snap_hold *holds,
              uint32_t count)
{
    CHECK(l->sched.tasks[task].state == WORK_PENDING);
    CHECK(fit_free_now(&l->sched, task, holds));
    trial_place(&l->sched, task, node, holds, count, false);
    trial_commit(&l->sched);
}

void live_leave(struct live *l, uint32_t workload)
{
    struct sched *s = &l->sched;
    const struct snap_workload *w = workload_of(s, workload);
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        if (state_is_placed(s->tasks[t].state)) {
            live_lift(l, t);
        }
        CHECK(s->tasks[t].state == WORK_PENDING);
        set_state(s, t, WORK_SUCCEEDED);
    }
    l->present--;
    note_change(l);
}

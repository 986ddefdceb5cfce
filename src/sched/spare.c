// SPDX-License-Identifier: Apache-2.0
// spare: each search stops no more than its claimant needs, but what a later one frees may be more
// than it needs, and enough for an earlier claimant as well (a gang above its minimum searches pod
// by pod, and a whole gang is stopped at once). So for every workload that is to stop, newest first:
// its claimant gives up its places, the workload goes on, and the claimant is placed again. When it
// finds no place, all is as it was.
#include "sched/spare.h"

#include "sched/allocate.h"
#include "sched/gang.h"
#include "sched/quota.h"

// Whether the pod is there and was told to stop in this cycle.
static bool is_stopping(const struct sched *s, uint32_t task)
{
    return s->tasks[task].state == WORK_RELEASING && s->tasks[task].old.node != IX_NONE;
}

// Takes the pods of the claimant off the places they wait for.
static void give_up(struct sched *s, uint32_t claimant, struct task_list *tasks)
{
    const struct snap_workload *w = workload_of(s, claimant);
    tasks->items = ARENA_ARRAY(s->scratch, uint32_t, w->task_count);
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        if (s->tasks[t].state == WORK_PIPELINED && s->tasks[t].old.node == IX_NONE) {
            s->action = s->tasks[t].action;
            tasks->items[tasks->count++] = t;
            trial_unplace(s, t);
        }
    }
}

// The pods [first, end) that are to stop go on, if their places and limits allow it: others may have
// been placed below the same limit since.
static bool go_on(struct sched *s, uint32_t first, uint32_t end)
{
    for (uint32_t t = first; t < end; t++) {
        if (is_stopping(s, t) && !trial_stay(s, t)) {
            return false;
        }
    }
    for (uint32_t q = queue_of(s, task_of(s, first)->workload.ix); q != IX_NONE;
         q = s->queues[q].parent) {
        for (int r = 0; r < RES_COUNT; r++) {
            int64_t held = s->queues[q].held.v[r];
            if (held > s->queues[q].held_first.v[r] &&
                !amount_le(held, s->snap->queues.items[q].limit.v[r])) {
                return false;
            }
        }
    }
    return true;
}

static bool place_again(struct sched *s, uint32_t claimant, const struct task_list *tasks)
{
    struct amounts most = {{0}};
    for (uint32_t i = 0; i < tasks->count; i++) {
        amounts_add(&most, &shape_state_of(s, tasks->items[i])->request_most);
    }
    return quota_allows(s, claimant, &most, NULL) &&
           gang_place(s, claimant, tasks, true, NULL, NULL);
}

// Whether the claimant finds other places when the pods [first, end) go on. If so they do.
static bool spare(struct sched *s, uint32_t first, uint32_t end, uint32_t claimant)
{
    struct arena_mark memory = arena_mark(s->scratch);
    struct mark before = trial_mark(s);
    struct task_list tasks = {0};
    give_up(s, claimant, &tasks);
    bool spared = tasks.count > 0 && go_on(s, first, end) && place_again(s, claimant, &tasks);
    if (spared) {
        allocate_settle(s);
    } else {
        trial_rollback(s, before);
    }
    arena_rewind(s->scratch, memory);
    return spared;
}

void spare_run(struct sched *s)
{
    enum action action = s->action;
    for (uint32_t i = s->out->evicts.count; i > 0; i--) {
        const struct decision_evict *e = &s->out->evicts.items[i - 1];
        uint32_t task = e->task.ix;
        uint32_t claimant = state_beneficiary(s, e->reason.other.ix);
        if (!is_stopping(s, task) || claimant == IX_NONE) {
            continue;
        }
        uint32_t workload = task_of(s, task)->workload.ix;
        const struct snap_workload *w = workload_of(s, workload);
        bool runs_on = gang_runs(s, workload, NULL);
        // Pods above the minimum go on one by one, a gang as a whole and on its first mention.
        if (runs_on) {
            (void)spare(s, task, task + 1, claimant);
        } else if (i == s->out->evicts.count ||
                   task_of(s, s->out->evicts.items[i].task.ix)->workload.ix != workload) {
            (void)spare(s, w->task_first, w->task_first + w->task_count, claimant);
        }
    }
    s->action = action;
}

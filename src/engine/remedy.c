// SPDX-License-Identifier: Apache-2.0
// remedy: the question is asked on the snapshot that a decision would be made on now.
#include "sched/remedy.h"
#include "engine/machine.h"
#include "model/snapshot.h"
#include "sched/cycle.h"

/* Pods and nodes looked at in all trials together, so that large pools answer too. */
enum { TRIALS_MAX = 200, TRIALS_MIN = 16, ROWS_MAX = 500000 };

static uint32_t trials_of(const struct snapshot *snap)
{
    uint32_t rows = snap->tasks.count + snap->nodes.count + 1;
    uint32_t trials = ROWS_MAX / rows;
    return trials > TRIALS_MAX ? TRIALS_MAX : trials < TRIALS_MIN ? TRIALS_MIN : trials;
}

static uint32_t row_of(const struct engine *e, const struct snapshot *snap,
                       const struct workload *w)
{
    for (uint32_t i = 0; i < snap->workloads.count; i++) {
        if (&e->s.workloads[snap->workloads.items[i].tag] == w) {
            return i;
        }
    }
    return IX_NONE;
}

static struct remedy_workload named(const struct engine *e, const struct snapshot *snap,
                                    uint32_t workload)
{
    const struct workload *w = &e->s.workloads[snap->workloads.items[workload].tag];
    return (struct remedy_workload){w->id, w->name};
}

// The pods of a workload are one run of tasks, but not of the list: each name once all the same.
static void tell_holders(const struct engine *e, const struct snapshot *snap, struct arena *arena,
                         struct remedy_told *out)
{
    const struct remedy *r = &out->remedy;
    out->holders = ARENA_ARRAY(arena, struct remedy_workload, (size_t)r->pods_count + 1);
    for (uint32_t i = 0; i < r->pods_count; i++) {
        uint32_t workload = snap->tasks.items[r->pods[i].ix].workload.ix;
        bool known = false;
        for (uint32_t k = 0; k < i && !known; k++) {
            known = snap->tasks.items[r->pods[k].ix].workload.ix == workload;
        }
        if (!known) {
            out->holders[out->holders_count++] = named(e, snap, workload);
        }
    }
}

static void tell(const struct engine *e, const struct snapshot *snap, struct arena *arena,
                 struct remedy_told *out)
{
    const struct remedy *r = &out->remedy;
    if (r->queue.ix != IX_NONE) {
        const struct plan *plan = &e->s.plan;
        uint32_t tag = snap->queues.items[r->queue.ix].tag;
        out->queue_is_department = tag >= plan->projects_count;
        out->queue = out->queue_is_department ? plan->departments[tag - plan->projects_count].name
                                              : plan->projects[tag].name;
    }
    if (r->node.ix != IX_NONE) {
        out->node = e->s.nodes[snap->nodes.items[r->node.ix].tag].name;
    }
    if (r->other.ix != IX_NONE) {
        out->other = named(e, snap, r->other.ix);
    }
    tell_holders(e, snap, arena, out);
}

void engine_remedy(const struct engine *e, const struct workload *w, int64_t now_ms,
                   struct arena *arena, struct remedy_told *out)
{
    struct snapshot snap;
    uint32_t pool = tables_pool(&e->s.plan, w->spec.pools[w->pool_ix].value);
    *out = (struct remedy_told){.remedy = {.outcome = REMEDY_NOT_WAITING}};
    if (pool == IX_NONE || w->end_ms != TIME_NEVER) {
        return;
    }
    out->pool = e->s.plan.pools[pool].name;
    freeze_pool(e, pool, now_ms > e->s.now_ms ? now_ms : e->s.now_ms, arena, &snap);
    uint32_t row = row_of(e, &snap, w);
    if (row != IX_NONE) {
        remedy_find(arena, &snap, row, ACTIONS_ALL, trials_of(&snap), &out->remedy);
        tell(e, &snap, arena, out);
    }
}

// SPDX-License-Identifier: Apache-2.0
// trial: the log of what is tried, so that it can be undone exactly or made final. Every change of
// the state after sched_init goes through here. Internal to sched/.
#pragma once

#include "sched/state.h"

struct mark {
    uint32_t ops, holds;
};

struct mark trial_mark(const struct sched *s);
/* trial_rollback undoes everything after m, newest first. */
void trial_rollback(struct sched *s, struct mark m);
/* trial_commit makes the whole log final: evicted pods are releasing from now on. */
void trial_commit(struct sched *s);

/* trial_evict takes the place of a pod that has one. A held pod is told to stop; its place counts
 * as free later. One that was only given its place in this cycle, or by a claim, just loses it. */
void trial_evict(struct sched *s, uint32_t task);
/* trial_place gives a pending or evicted pod a place at node on the devices holds[count], now or
 * pipelined. An evicted pod that would get its own place again is simply not evicted any more;
 * pods of this trial that were coming to its devices take others of the node. */
void trial_place(struct sched *s, uint32_t task, uint32_t node, const struct snap_hold *holds,
                 uint32_t count, bool pipelined);
/* trial_pipeline turns an allocated pod of this trial into a pipelined one. */
void trial_pipeline(struct sched *s, uint32_t task);
/* trial_stay undoes the eviction of a pod told to stop in this cycle that has found no other place,
 * if its devices are still free for it. */
bool trial_stay(struct sched *s, uint32_t task);
/* trial_unplace takes a pipelined pod that is not leaving another place off its place: pending. */
void trial_unplace(struct sched *s, uint32_t task);

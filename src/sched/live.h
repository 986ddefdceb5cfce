// SPDX-License-Identifier: Apache-2.0
// live: a scheduler's state that stays, for whoever replays a long sequence of arrivals: each is
// placed by the code that the action allocate places with, without a cycle around it.
#pragma once

#include "sched/state.h"

struct live {
    struct sched sched;
    struct decisions unused;
    uint32_t present; /* workloads that have arrived and not left */
    uint32_t changes; /* arrivals and departures since the pods were counted last */
};

/* live_init makes an empty pool of the snapshot's nodes. Its workloads are those that may arrive;
 * their pods must be TASK_GATED, and their queues without limits. arena and scratch live as long. */
void live_init(struct live *l, const struct snapshot *snap, struct arena *arena,
               struct arena *scratch);
/* live_arrive lets the workload ask for places. False: it gets none now, and is not tried again. */
bool live_arrive(struct live *l, uint32_t workload);
/* live_lift takes a placed pod off its place, so that it waits again; live_put gives a waiting one the
 * devices holds[count] of the node, which must be free. For what a cycle over the same pool has
 * decided. */
void live_lift(struct live *l, uint32_t task);
void live_put(struct live *l, uint32_t task, uint32_t node, const struct snap_hold *holds,
              uint32_t count);
/* live_leave takes a workload that has arrived away, placed or not. */
void live_leave(struct live *l, uint32_t workload);

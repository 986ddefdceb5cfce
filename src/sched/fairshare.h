// SPDX-License-Identifier: Apache-2.0
// fairshare: how much of the pool each queue is entitled to now: its guarantee, as far as it asks
// for it, and its part of what is left (kai.md 3.3).
#pragma once

#include "base/arena.h"
#include "model/snapshot.h"

/* One queue of a set of siblings and one resource, for fairshare_divide. */
struct fairshare_row {
    int64_t quota, limit; /* AMOUNT_UNLIMITED allowed */
    int64_t request;
    int64_t weight_milli;
    int64_t usage; /* over usage_denominator */
    int64_t priority;
    int64_t share; /* out */
};
/* fairshare_divide splits total of one resource among siblings rows[count], which are in order of
 * age. What is above the guarantees is given in whole units (a device, a millicore, a byte), the
 * rest by largest remainder. Exact. O(count^2) at worst, O(count log count) as a rule. */
void fairshare_divide(struct fairshare_row *rows, uint32_t count, int64_t total, int64_t unit,
                      int64_t k_permille, int64_t usage_denominator, struct arena *scratch);

/* What all usable nodes and healthy devices of the snapshot add up to. */
struct amounts fairshare_total(const struct snapshot *snap);
/* fairshare_requests fills requests[queues.count]: what a queue and those below it hold and ask for;
 * pods on their way out only if they return. */
void fairshare_requests(const struct snapshot *snap, struct amounts *requests);
/* fairshare_solve fills shares[queues.count] for every level of the tree. O(queues). */
void fairshare_solve(const struct snapshot *snap, const struct amounts *requests,
                     struct amounts total, struct amounts *shares, struct arena *scratch);

/* The least memory of a device of the pool, bytes; 0 when none is known. A pending request by
 * memory is counted as its part of such a device. */
int64_t fairshare_least_memory(const struct snapshot *snap);
/* What a pod of that shape asks its queue for, with requests by memory taken on devices of
 * device_bytes (0: as nothing). */
struct amounts fairshare_shape_request(const struct snapshot *snap, uint32_t shape,
                                       int64_t device_bytes);
/* What a pod that holds a place costs its queue. */
struct amounts fairshare_task_cost(const struct snapshot *snap, const struct snap_task *t);

// SPDX-License-Identifier: Apache-2.0
// fairshare_ref: the slow, obvious model of how a total is divided between sibling queues, and each
// queue's share between its children. It exists to be compared with sched/fairshare on random trees
// and is linked by tests only. Exact rationals throughout; nothing is shared with what it checks.
#pragma once

#include "base/arena.h"
#include "model/ids.h"
#include "model/resources.h"

/* One resource of one queue. Amounts are in base units: shares of 1/7000 of a device, millicores,
 * bytes. */
struct fairshare_ref_amounts {
    int64_t quota;        /* >= 0, or AMOUNT_UNLIMITED */
    int64_t limit;        /* >= 0, or AMOUNT_UNLIMITED */
    int64_t weight_milli; /* over-quota weight in thousandths, >= 0 */
    int64_t request;      /* of all its work, running and waiting, its children's included */
    int64_t usage_ppm;    /* past use: millionths of the cluster's capacity over the window, >= 0 */
};

struct fairshare_ref_queue {
    uint32_t parent;   /* index of the parent, IX_NONE for a root; no cycles */
    int64_t priority;  /* among siblings: the higher gets over-quota amounts first */
    uint32_t creation; /* the smaller is older; no two equal */
    struct fairshare_ref_amounts of[RES_COUNT];
};

/* fairshare_ref divides *total between the roots of queues[count] and on down the tree, each
 * resource by itself, and writes fair_share[count]. k_milli >= 0 is the strength of past use in
 * thousandths. scratch is used for the time of the call. O(count^3), deterministic. Amounts, weights
 * and k must be small enough for exact 128-bit rationals (CHECKed). */
void fairshare_ref(const struct fairshare_ref_queue *queues, uint32_t count,
                   const struct amounts *total, int64_t k_milli, struct amounts *fair_share,
                   struct arena *scratch);

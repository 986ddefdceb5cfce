// SPDX-License-Identifier: Apache-2.0
// resources: the three resources that queues are given and charged: devices, CPU and memory.
// What nodes and tasks count besides these (pods, MIG instances, extended resources) is in
// model/snapshot.h and concerns fit only.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/units.h"

enum resource { RES_GPU, RES_CPU, RES_MEMORY, RES_COUNT };

/* An amount of each: device shares, millicores, bytes. */
struct amounts {
    int64_t v[RES_COUNT];
};

static inline void amounts_add(struct amounts *into, const struct amounts *what)
{
    for (int r = 0; r < RES_COUNT; r++) {
        into->v[r] += what->v[r];
    }
}

static inline void amounts_sub(struct amounts *from, const struct amounts *what)
{
    for (int r = 0; r < RES_COUNT; r++) {
        from->v[r] -= what->v[r];
    }
}

static inline bool amounts_are_zero(const struct amounts *a)
{
    return a->v[RES_GPU] == 0 && a->v[RES_CPU] == 0 && a->v[RES_MEMORY] == 0;
}

/* amount_le: a <= b where AMOUNT_UNLIMITED on either side stands for infinity. */
static inline bool amount_le(int64_t a, int64_t b)
{
    return b == AMOUNT_UNLIMITED || (a != AMOUNT_UNLIMITED && a <= b);
}

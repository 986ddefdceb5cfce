// SPDX-License-Identifier: Apache-2.0
#include "sim/hold.h"

#include "base/num.h"
#include "model/units.h"

int64_t hold_whole(const struct device *d)
{
    return d->memory_bytes;
}

int64_t hold_take(const struct device *d, const struct pod_spec *p)
{
    if (p->gpu_memory_bytes > 0) {
        return p->gpu_memory_bytes;
    }
    return p->gpu_portion_share > 0
               ? num_muldiv_floor(d->memory_bytes, p->gpu_portion_share, DEVICE_SHARE)
               : d->memory_bytes;
}

int64_t hold_cost(const struct device *d, const struct pod_spec *p)
{
    if (p->gpu_memory_bytes > 0) {
        return num_muldiv_ceil(p->gpu_memory_bytes, DEVICE_SHARE, d->memory_bytes);
    }
    return p->gpu_portion_share > 0 ? p->gpu_portion_share : DEVICE_SHARE;
}

// SPDX-License-Identifier: Apache-2.0
// host: processors, memory and locality of this machine, by hwloc where it is built in, else by
// what the kernel says.
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "model/state.h"

#define HOST_NUMA_UNKNOWN INT64_C(-1)

struct host {
    int64_t cpu_milli;    /* processors weir may use, in millicores */
    int64_t memory_bytes; /* physical memory */
    struct zone *zones;   /* its NUMA nodes, by number; none: they are not known */
    uint32_t zones_count;
};
/* host_find: the zones live in arena. */
void host_find(struct host *out, struct arena *arena);
/* host_numa_of_pci: NUMA node of the device at "00000000:3B:00.0"; HOST_NUMA_UNKNOWN if not known. */
int64_t host_numa_of_pci(const char *bus_id);

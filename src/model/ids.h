// SPDX-License-Identifier: Apache-2.0
// ids: typed indices into the tables of a snapshot. An index is good for one snapshot only: it
// never leaves the process and never enters the journal (rows carry a name and a tag for that).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define IX_NONE UINT32_MAX /* refers to nothing */

struct node_ref {
    uint32_t ix;
};
struct device_ref {
    uint32_t ix;
};
struct queue_ref {
    uint32_t ix;
};
struct workload_ref {
    uint32_t ix;
};
struct group_ref {
    uint32_t ix;
};
struct task_ref {
    uint32_t ix;
};
struct shape_ref {
    uint32_t ix;
};
struct topology_ref {
    uint32_t ix;
};

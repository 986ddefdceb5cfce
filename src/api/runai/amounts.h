// SPDX-License-Identifier: Apache-2.0
// amounts: what workloads and pods ask for and hold, added up and shown.
#pragma once

#include "api/runai/common.h"

/* Thousandths of devices and cores, bytes; limits: -1 none. */
struct request {
    int64_t gpu_milli, gpu_bytes, cpu_milli, cpu_limit, memory, memory_limit;
    bool by_memory;
};
void amounts_add_request(struct request *r, const struct pod_spec *p, int64_t pods);
struct request amounts_request(const struct workload *wl); /* of all its pods */
void amounts_show_request(struct jw *w, struct str key, const struct request *r);
int64_t
amounts_gpu_milli(const struct pod_spec *p); /* devices that one pod asks for, thousandths */

struct holding {
    int64_t share, gpu_bytes, cpu_milli, memory_bytes;
    uint32_t pods, running;
};
bool amounts_holds(const struct pod *p); /* it has a place */
void amounts_add_holding(const struct call *c, struct holding *h, const struct workload *wl,
                         uint32_t pod);
struct holding amounts_holding(const struct call *c, const struct workload *wl);
void amounts_show_holding(struct jw *w, const struct holding *h); /* allocatedResources */

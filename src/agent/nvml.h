// SPDX-License-Identifier: Apache-2.0
// nvml: the few functions of libnvidia-ml.so.1 that are needed, by names and layouts of its public
// interface, found with dlopen: weir builds and runs on machines that have never seen it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { NVML_TEXT_SIZE = 96, NVML_BUS_ID_SIZE = 32, NVML_XID_NONE = 0 };

struct nvml_device {
    void *handle;
    char uuid[NVML_TEXT_SIZE];
    char name[NVML_TEXT_SIZE];
    char bus_id[NVML_BUS_ID_SIZE]; /* "00000000:3B:00.0" */
    uint64_t memory_bytes;
    uint32_t minor; /* of /dev/nvidia<minor> */
};
struct nvml;

/* nvml_open loads and initialises. STATUS_UNKNOWN: no library; STATUS_IO: it refuses (no driver). */
MUST_USE enum status nvml_open(struct nvml **out, struct err *err);
void nvml_close(struct nvml *n);
/* nvml_devices fills out[max] in PCI order; a device that cannot be read is left out. */
MUST_USE enum status nvml_devices(struct nvml *n, struct nvml_device *out, uint32_t max,
                                  uint32_t *count, struct err *err);
/* nvml_alive: the device still answers. */
bool nvml_alive(struct nvml *n, const struct nvml_device *d);
/* nvml_was_used: a kernel ran on the device since *seen, which is then set to the time of the newest
 * sample (0 at first). Also true where the driver does not say. */
bool nvml_was_used(struct nvml *n, const struct nvml_device *d, uint64_t *seen);
/* nvml_next_error takes one critical error (Xid) that happened since; false when there is none. */
bool nvml_next_error(struct nvml *n, void **handle, uint64_t *xid);

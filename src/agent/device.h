// SPDX-License-Identifier: Apache-2.0
// device: which GPUs this machine has, and whether they still work. By NVML, loaded at run time;
// or simulated ones; or none. Their health is watched by a thread of its own, because a library
// call about a broken card can take long.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "model/state.h"

enum { DEVICES_MAX = 256, DEVICES_HEALTH_MS = 10000 };

struct devices;

/* devices_open reads spec: "none"; "auto" (what NVML finds; without NVML none, and *note says so);
 * "fake:COUNT" or "fake:COUNT:SIZE" (80GiB unless said), whose UUIDs depend on node_name and index
 * alone. STATUS_INVALID for anything else. check_ms: time between checks of their health (0: 10 s).
 * The calls to NVML are made here; they take as long as the driver likes. */
MUST_USE enum status devices_open(struct str spec, struct str node_name, int64_t check_ms,
                                  struct devices **out, struct err *err);
void devices_close(struct devices *d); /* NULL is fine */

/* devices_deal puts simulated devices on the machine's NUMA nodes, the same number on each as far as
 * that goes, the first ones on the first; with no zones all on NUMA node 0. Real ones are left where
 * they are. */
void devices_deal(struct devices *d, const struct zone *zones, uint32_t zones_count);
/* devices_list gives the devices as they are now; lives until devices_close. */
const struct device *devices_list(struct devices *d, uint32_t *count);
/* devices_note: why there are none, or what is unusual about them; "" as a rule. */
struct str devices_note(const struct devices *d);
/* devices_fd becomes readable when the health of one changed; -1 when it never will. */
int devices_fd(const struct devices *d);
/* devices_changed takes over what the watcher saw; true when the list is different now. */
bool devices_changed(struct devices *d);
/* devices_used_ms: by the monotonic clock, up to when the device was in use, as far as was looked; now
 * for one that nobody knows. Of real devices only. */
int64_t devices_used_ms(const struct devices *d, struct str uuid);
/* devices_nodes lists the device nodes that a pod with these devices may open. */
void devices_nodes(const struct devices *d, const struct held_device *held, uint32_t held_count,
                   struct arena *arena, struct str_item **out, uint32_t *count);
bool devices_are_real(const struct devices *d);

// SPDX-License-Identifier: Apache-2.0
// hold: what a pod takes of a device, by the rules as they are written down and apart from the
// code that is tested: memory fits by bytes, a share takes that part of the bytes, and queues are
// charged shares, for memory rounded up.
#pragma once

#include "model/state.h"

/* hold_whole: all there is of a device, in what hold_take counts: bytes. */
int64_t hold_whole(const struct device *d);
/* hold_take: what a pod takes of each of its devices. */
int64_t hold_take(const struct device *d, const struct pod_spec *p);
/* hold_cost: the share that the pod's queues are charged for one such device. */
int64_t hold_cost(const struct device *d, const struct pod_spec *p);

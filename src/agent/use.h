// SPDX-License-Identifier: Apache-2.0
// use: whether pods use the devices they were given. Time is looked at in windows of half a minute: a
// window in which none of its devices did anything is one in which the pod idles. Of a device that
// several share, anybody's use counts for all of them, so nobody is taken for idle that is not. A
// simulated device is in use while the job's first process uses processor time.
#pragma once

#include "agent/pods.h"

enum { USE_CHECK_MS = 30 * 1000 };

/* uses_look closes a window: observes which pods idle now and did not before, and the other way. */
void uses_look(struct agent *a);

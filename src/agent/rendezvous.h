// SPDX-License-Identifier: Apache-2.0
// rendezvous: the variables by which the pods of distributed work find each other. They share this
// machine, so the address is the loopback one, and each pod has a port of its own: the first pod,
// the master, that at launch.port.
#pragma once

#include "agent/launch.h"

enum { RENDEZVOUS_MAX = 8 };
/* rendezvous_env gives the assignments ("NAME=value") for the pod, in arena; returns how many. */
uint32_t rendezvous_env(const struct launch *l, struct arena *arena,
                        struct str out[RENDEZVOUS_MAX]);

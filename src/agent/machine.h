// SPDX-License-Identifier: Apache-2.0
// machine: what this machine has, what can be enforced on it, and what it says of itself.
#pragma once

#include "agent/agent.h"
#include "agent/cgroup.h"
#include "agent/device.h"
#include "agent/isolate.h"

enum { MACHINE_PODS_MAX = 1024, MACHINE_NOTES_MAX = 16 };

struct machine {
    struct devices *devices;
    struct cgroups cgroups;
    enum launch_isolation isolation;
    struct str_item *hidden; /* directories that pods do not see */
    uint32_t hidden_count;
    enum status (*secret)(void *ctx, struct uuid credential, struct str key, struct arena *arena,
                          struct str *out, struct err *err); /* of the agent's configuration */
    void *secret_ctx;
    struct node node; /* its device list is that of `devices`, whose health changes in place */
};

/* machine_open finds all by trying; the node's texts live in arena. STATUS_INVALID: the GPU setting
 * is wrong. On failure machine_close is still due. */
MUST_USE enum status machine_open(struct machine *m, const struct agent_config *config,
                                  struct arena *arena, struct err *err);
void machine_close(struct machine *m);

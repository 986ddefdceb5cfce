// SPDX-License-Identifier: Apache-2.0
// cluster: the edge to what runs pods. Effects go in, observations come out. Holds no rules.
#pragma once

#include "model/effect.h"
#include "model/input.h"

/* An observation: the input's kind and payload; seq, now_ms and author are filled in by the receiver,
 * which copies what it keeps. */
typedef void cluster_observe(void *arg, const struct input *observation);

struct cluster {
    void *ctx;
    /* do_effects starts acting on the effects; results come as observations later. Never blocks. */
    void (*do_effects)(void *ctx, const struct effect *effects, uint32_t count);
    /* poll reports what was seen since the last call. */
    void (*poll)(void *ctx, cluster_observe *observe, void *arg);
};

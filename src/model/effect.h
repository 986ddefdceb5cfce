// SPDX-License-Identifier: Apache-2.0
// effect: what the engine asks a cluster adapter to do. Delivered at least once; (pod, attempt)
// names one start for ever, so that doing it again does nothing.
#pragma once

#include "model/state.h"

enum effect_kind { EFFECT_START, EFFECT_STOP, EFFECT_FORGET };

struct effect {
    enum effect_kind kind;
    struct uuid pod;
    uint32_t attempt;
    struct str node;
    /* START; the pointers are good until the engine's next step */
    const struct workload *workload;
    const struct pod *pod_state;
    uint32_t pod_index; /* of the workload's pods */
    /* STOP: SIGTERM, grace, SIGKILL to the whole tree. FORGET: its files may go (workload deleted). */
    int64_t grace_ms;
};

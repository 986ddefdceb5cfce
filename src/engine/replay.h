// SPDX-License-Identifier: Apache-2.0
// replay: the records of a journal applied again, one after the other: when a server starts, and to
// look into the past. Then the scheduler decides again at each tick, and what it says is compared
// with what was recorded.
#pragma once

#include "engine/engine.h"

/* Where the scheduler decides otherwise than was recorded. Good until replay_done. */
struct replay_difference {
    bool found;
    int64_t seq, now_ms;
    struct str field;            /* of the tick, the first one: "binds[2].node" */
    struct tick recorded, again; /* names of the state before the tick */
};

struct replay {
    struct engine *engine; /* the caller's; new, or restored from a checkpoint */
    struct arena arena;    /* of the record in hand */
    bool decides;
    int64_t inputs;  /* applied */
    int64_t ticks;   /* of those: decided again, and found to be as recorded */
    int64_t foreign; /* of those: decided by another version of the scheduler, so not compared */
    struct replay_difference difference;
};

void replay_init(struct replay *r, struct engine *engine, bool decides);
void replay_done(struct replay *r);

/* replay_record applies record seq of the journal. STATUS_CORRUPT: it is none, or does not follow
 * the one before; STATUS_UNSUPPORTED: a newer weir wrote it; STATUS_CONFLICT: r->difference, the
 * record is not applied. */
MUST_USE enum status replay_record(struct replay *r, int64_t seq, struct str bytes,
                                   struct err *err);

// SPDX-License-Identifier: Apache-2.0
// store: the edge to durable storage: a journal of numbered records and the newest checkpoint.
// Implementations: adapters/sqlite, adapters/memory (tests, with faults); one conformance suite.
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct store_record {
    int64_t seq;
    struct str bytes;
};
/* Called for each record, in order; returning anything but STATUS_OK ends the read with that. */
typedef enum status store_visit(void *arg, int64_t seq, struct str bytes, struct err *err);
typedef void store_done(void *arg, enum status status, const struct err *err);

struct store {
    void *ctx;
    /* append makes records[count] durable, all or none, in one group commit. seq continues the
     * last one by 1. Copies the bytes. done is called later, from poll, in order of the appends. After a failure every
     * later append fails too, until the store is opened anew: what is stored is then still exactly what was acknowledged. */
    void (*append)(void *ctx, const struct store_record *records, uint32_t count, store_done *done,
                   void *arg);
    /* poll calls the done functions that are due; wait blocks until none is outstanding. */
    void (*poll)(void *ctx);
    void (*wait)(void *ctx);
    /* read visits the records with seq > after. STATUS_CORRUPT (file, position, seq in the text) for
     * damage in the middle; a torn tail was dropped at open and is told by the opener's report. */
    MUST_USE enum status (*read)(void *ctx, int64_t after, store_visit *visit, void *arg,
                                 struct err *err);
    /* checkpoint stores bytes as the state after seq, durably, then keeps the journal (history). */
    MUST_USE enum status (*checkpoint)(void *ctx, int64_t seq, uint64_t hash, struct str bytes,
                                       struct err *err);
    /* newest checkpoint: *seq 0 and empty bytes when there is none. Bytes live in arena. */
    MUST_USE enum status (*latest)(void *ctx, struct arena *arena, int64_t *seq, uint64_t *hash,
                                   struct str *bytes, struct err *err);
};

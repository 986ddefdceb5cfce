// SPDX-License-Identifier: Apache-2.0
// writer: the one place through which state changes. Commands and observations are gathered while
// the batch before them is being made durable; then they are numbered, journalled as one batch,
// applied in order, and only then answered and acted on. A tick with its decisions goes first in a
// batch, decided on the very state it is applied to. Readers look at the engine between batches.
#pragma once

#include "engine/engine.h"
#include "io/loop.h"
#include "ports/cluster.h"
#include "ports/store.h"

struct writer;

/* Called once for every command, when it is durable and applied, or refused, or could not be
 * stored (STATUS_IO, STATUS_BUSY). *outcome is good for the call. */
typedef void writer_done(void *arg, const struct outcome *outcome);

struct writer_config {
    struct loop *loop;
    struct engine *engine; /* new; the writer restores it */
    struct store *store;
    struct cluster *cluster;
    /* Makes the store usable again after a failed append. */
    enum status (*reopen)(void *ctx, struct err *err);
    void *reopen_ctx;
    int64_t (*now_ms)(void); /* wall clock; may go back: api/steady.h */
    /* Every input that is stored, in order: those of the journal when the writer starts, of which only
     * what record_audited reads is filled in, then each that is applied. Good for the call. May be
     * NULL. */
    void (*recorded)(void *ctx, const struct input *in);
    /* After every batch applied: the state has changed. May be NULL. */
    void (*changed)(void *ctx);
    void *changed_ctx;                           /* of both */
    int64_t checkpoint_inputs, checkpoint_bytes; /* journalled since the last; 0: the defaults */
};

/* What starting found. */
struct writer_report {
    int64_t checkpoint_seq; /* 0: none */
    int64_t replayed;       /* inputs applied behind it */
    uint32_t outstanding;   /* effects asked for anew */
};

enum {
    WRITER_WAITING_MAX = 8192,      /* commands not yet in a batch; beyond: STATUS_BUSY */
    WRITER_REFUSED_PER_SECOND = 10, /* of one author … */
    WRITER_REFUSED_MAX = 100,       /* … and of all */
};

/* writer_new restores the engine from the store and hands the outstanding effects to the cluster.
 * STATUS_CORRUPT: the state does not have the hash it was stored with, or a record cannot be read. */
MUST_USE enum status writer_new(const struct writer_config *config, struct writer **out,
                                struct writer_report *report, struct err *err);
/* writer_command queues a command; copies it; seq and now_ms are filled in. What the state refuses
 * already now is answered at once, and kept for the audit by writer_refused. */
void writer_command(struct writer *w, const struct input *command, writer_done *done, void *arg);
/* writer_refused keeps for the audit that author's command `what` was refused; at most
 * WRITER_REFUSED_PER_SECOND of one author and WRITER_REFUSED_MAX of all, more are only counted. */
void writer_refused(struct writer *w, struct str author, const struct origin *origin,
                    struct str what, const struct err *err);
/* writer_now_ms: the engine's time (api/steady.h). */
int64_t writer_now_ms(struct writer *w);
/* writer_forget: the waiting `done` of arg is not to be called any more. */
void writer_forget(struct writer *w, void *arg);
/* writer_disk_ok is false while the store cannot be written. */
bool writer_disk_ok(const struct writer *w, struct err *err);
/* writer_stop makes durable what is waiting, applies and answers it, writes a checkpoint. Nothing
 * may be queued afterwards. */
MUST_USE enum status writer_stop(struct writer *w, struct err *err);
void writer_free(struct writer *w);

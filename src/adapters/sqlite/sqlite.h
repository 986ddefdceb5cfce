// SPDX-License-Identifier: Apache-2.0
// sqlite: the store port on one SQLite file. WAL, synchronous FULL: one append is one transaction
// is one fsync, done by a writer thread so that the caller goes on meanwhile. Every record carries
// a checksum chained over the record before it. Called from one thread (the owner's).
#pragma once

#include "ports/store.h"

/* What opening found, for the report at start. */
struct sqlite_report {
    bool created;           /* there was no database */
    int64_t last_seq;       /* newest record, 0 when there is none */
    int64_t checkpoint_seq; /* newest checkpoint, 0 when there is none */
    int64_t torn_bytes;     /* dropped at the end of the write-ahead log: writes that were cut
                             * short before anything of them was acknowledged; 0 none */
    int64_t torn_at;        /* where they began in the -wal file */
};

/* sqlite_open opens or creates the database file `path` (its directory must exist) and starts the
 * writer thread. STATUS_IO: cannot be opened or written (permission, disk full); STATUS_CORRUPT:
 * not a journal of ours, or damaged before its end (file and position in the text);
 * STATUS_UNSUPPORTED: written by a newer weir. *out is to be closed by sqlite_close. */
MUST_USE enum status sqlite_open(const char *path, struct store *out, struct sqlite_report *report,
                                 struct err *err);
/* sqlite_open_reader opens a database that nobody writes to, for read and latest alone (append and
 * checkpoint are NULL); nothing is changed in it. The same statuses; STATUS_CORRUPT too when it is
 * empty. */
MUST_USE enum status sqlite_open_reader(const char *path, struct store *out,
                                        struct sqlite_report *report, struct err *err);
/* sqlite_fd is readable when poll has a done function to call. */
int sqlite_fd(const struct store *s);
/* sqlite_reopen makes a store usable again whose append failed (disk full): what was not
 * acknowledged is removed. Nothing may be outstanding. The same statuses as sqlite_open; after a
 * failure it may be called again. */
MUST_USE enum status sqlite_reopen(struct store *s, struct err *err);
/* sqlite_close waits for what is outstanding, calls its done functions and closes. */
void sqlite_close(struct store *s);

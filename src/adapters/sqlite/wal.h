// SPDX-License-Identifier: Apache-2.0
// wal: reads a SQLite write-ahead log as SQLite itself will on recovery, to tell what it will drop
// without a word: a tail cut short by a crash (to be said) or acknowledged transactions behind
// damage (to be refused). Format: https://www.sqlite.org/fileformat2.html#walformat
#pragma once

#include <stdint.h>

#include "base/err.h"

struct wal_scan {
    int64_t commits;    /* whole transactions that recovery keeps */
    int64_t keep_bytes; /* end of the last of them */
    int64_t torn_bytes; /* behind it, of this log's generation: will be dropped */
};

/* wal_scan reads the file `path`; a missing or empty file is fine. STATUS_CORRUPT: the header is
 * damaged, or more than one transaction lies behind the damage, which one crash cannot do. */
MUST_USE enum status wal_scan(const char *path, struct wal_scan *out, struct err *err);

// SPDX-License-Identifier: Apache-2.0
// rolled: output that is kept as a file and, once that has grown large, as two: `log` is written,
// and `log.N` is the part before it, N being where it ends, counted from the beginning of the whole
// output. What is before that part is dropped. Putting a part aside is one rename, which says all
// there is to know: a reader never sees something between, and positions in the output stay what
// they are whatever is put aside or dropped.
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/attr.h"
#include "base/str.h"

/* ---- writing ---- */

struct rolled_writer {
    int dir_fd; /* not owned */
    const char *name;
    int fd;        /* of the part that is written; -1: it cannot be opened */
    int64_t from;  /* where that part begins in the output */
    int64_t bytes; /* in it */
};

/* rolled_writer_open goes on behind what is there. `name` has no slash and outlives the writer. */
void rolled_writer_open(struct rolled_writer *w, int dir_fd, const char *name);
/* rolled_writer_add writes bytes behind the others; false: not all of them could be kept. */
MUST_USE bool rolled_writer_add(struct rolled_writer *w, struct str bytes);
/* rolled_writer_next puts the part that is written aside and begins another; the one put aside
 * before is dropped. When the disk does not let it, the part goes on. */
void rolled_writer_next(struct rolled_writer *w);

/* ---- reading ---- */

/* The parts as they were when they were opened; what is dropped since can still be read. */
struct rolled {
    int older_fd, fd; /* -1: there is none */
    int64_t first;    /* where what is kept begins */
    int64_t from;     /* where `fd` begins, or would */
};

/* rolled_open opens the parts of the output at path, "…/log"; there may be none. */
void rolled_open(struct rolled *r, const char *path);
void rolled_close(struct rolled *r);
/* rolled_is_old: parts were put aside since, or begun: what comes next may be in none of these. */
bool rolled_is_old(const struct rolled *r, const char *path);
/* rolled_end is where the output ends now. */
int64_t rolled_end(const struct rolled *r);
/* rolled_read reads up to len bytes from position at, which is not before r->first, and returns how
 * many, 0 at the end or when reading fails. */
size_t rolled_read(const struct rolled *r, char *out, size_t len, int64_t at);
/* rolled_tail is where the last `lines` (at least 0) lines begin, looking back no further than
 * bytes_max. */
int64_t rolled_tail(const struct rolled *r, int64_t lines, int64_t bytes_max);

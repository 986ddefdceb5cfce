// SPDX-License-Identifier: Apache-2.0
// buf: a growing run of bytes with a hard maximum. Going over the maximum sets `full` and drops
// what does not fit; the caller looks at `full` once, at the end.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"

struct buf {
    char *ptr;
    size_t len, cap, max;
    bool full;
};

void buf_init(struct buf *b, size_t max); /* allocates nothing yet */
void buf_done(struct buf *b);
void buf_clear(struct buf *b); /* len 0, full false, memory kept */
void buf_add(struct buf *b, const void *bytes, size_t len);
void buf_str(struct buf *b, struct str s);
void buf_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) PRINTF_LIKE(2, 3);
struct str buf_view(const struct buf *b); /* good until the next change */

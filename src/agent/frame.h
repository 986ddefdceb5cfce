// SPDX-License-Identifier: Apache-2.0
// frame: messages over a stream socket: one byte that says what it is, four bytes of length (little
// endian), the bytes. Used between the agent and a supervisor, and for exec (channels 0 to 3).
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum {
    FRAME_HEAD_LEN = 5,
    FRAME_MAX = 1 << 20, /* bytes of one message */
};

/* What is asked of a supervisor, and its answer. */
enum frame_kind {
    FRAME_STDIN = 0, /* exec: input of the command; empty: its end */
    FRAME_STDOUT = 1,
    FRAME_STDERR = 2,
    FRAME_CONTROL = 3, /* exec: JSON, {"resize":[columns,rows]} or {"exit":code} */
    FRAME_WATCH = 'W', /* send the status now and at each change */
    FRAME_STATUS = 'T',
    FRAME_STOP = 'S', /* grace in milliseconds as decimal digits */
    FRAME_EXEC = 'E', /* flag byte (1: terminal), then NUL-ended strings: argument count, the
                          arguments, NAME=value … */
};

void frame_add(struct buf *out, uint8_t kind, struct str bytes);
enum frame_next { FRAME_NONE, FRAME_ONE, FRAME_BAD };
/* frame_next looks at the bytes from *used on: FRAME_ONE gives one message (a slice of bytes) and
 * moves *used behind it; FRAME_NONE: more bytes are needed; FRAME_BAD: a length above FRAME_MAX. */
enum frame_next frame_next(struct str bytes, uint32_t *used, uint8_t *kind, struct str *body);

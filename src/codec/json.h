// SPDX-License-Identifier: Apache-2.0
// json: RFC 8259, strictly: a reader that pulls one value at a time (jr_), a writer (jw_), and whole
// documents as a tree (struct doc). Refused: text that is not UTF-8, NUL (also as \u0000), lone
// surrogates, more than JSON_DEPTH_MAX levels, more than JSON_SIZE_MAX bytes. Duplicate keys are
// handed on; whoever uses the members decides.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"
#include "base/doc.h"
#include "base/err.h"
#include "base/str.h"

enum { JSON_DEPTH_MAX = DOC_DEPTH_MAX, JSON_SIZE_MAX = 64 << 20 };

/* The reader. The first mistake is kept and everything after it returns false and does nothing, so
 * a caller looks once, at jr_finish:
 *
 *     jr_init(&r, text, arena, err);
 *     for (jr_object(&r); jr_member(&r, &key);) {
 *         if (str_eq(key, STR("gpus"))) {
 *             jr_i64(&r, &gpus);
 *         } else {
 *             jr_skip(&r);
 *         }
 *     }
 *     return jr_finish(&r);
 *
 * After jr_member or jr_item exactly one value must be read or skipped. Outputs are untouched on
 * failure. Strings without escapes are slices of the text, others are made in the arena. */
struct jr {
    enum status status; /* of the first mistake */
    /* private */
    struct arena *arena;
    struct err *err;
    const char *start, *at, *end;
    const char *last;  /* what jr_fail points at */
    uint64_t objects;  /* bit 0: the innermost level is an object; bit 1: the one around it; … */
    uint64_t nonempty; /* the same: something was read on that level */
    uint32_t depth;
    bool value_due;
    const char *counted; /* line and col are of this place */
    uint32_t line, col;
};

/* jr_init checks size and UTF-8 of the whole text; a leading byte order mark is refused. */
void jr_init(struct jr *r, struct str text, struct arena *arena, struct err *err);
/* jr_kind tells what comes next without reading it; DOC_NULL too when the text is wrong there. */
enum doc_kind jr_kind(struct jr *r);
/* jr_where gives line and column (in characters, from 1) of what comes next. The cost is the
 * distance from the place asked for before. */
void jr_where(struct jr *r, uint32_t *line, uint32_t *col);
/* jr_where_last: the same of the key or value that was read last. */
void jr_where_last(struct jr *r, uint32_t *line, uint32_t *col);

bool jr_object(struct jr *r);                  /* enters an object */
bool jr_member(struct jr *r, struct str *key); /* the next key; false at the end, left then */
bool jr_array(struct jr *r);                   /* enters an array */
bool jr_item(struct jr *r);                    /* false at the end, left then */
bool jr_string(struct jr *r, struct str *out);
bool jr_number(struct jr *r, struct str *out); /* as written */
bool jr_i64(struct jr *r, int64_t *out);       /* by value: 2000, 2e3 and 2000.0 are the same */
/* jr_decimal reads 1.25 exactly as an integer of 10^-scale (scale in [0, 18]). */
bool jr_decimal(struct jr *r, uint32_t scale, int64_t *out);
bool jr_bool(struct jr *r, bool *out);
bool jr_null(struct jr *r);                 /* reads null; false, nothing read, if no null */
bool jr_skip(struct jr *r);                 /* one whole value, checked as strictly */
bool jr_raw(struct jr *r, struct str *out); /* jr_skip that gives the bytes skipped */
/* jr_fail reports a mistake of meaning at what was read last (or comes next, when none was);
 * returns false. */
bool jr_fail(struct jr *r, const char *format, ...) PRINTF_LIKE(2, 3);
/* jr_finish: the status of the first mistake; something left behind the value is one. */
enum status jr_finish(struct jr *r);

/* json_doc reads a whole text into a tree in arena, with the position of every key and value. */
MUST_USE enum status json_doc(struct str text, struct arena *arena, struct doc **out,
                              struct err *err);

bool jr_is_number(struct str s); /* all of s is a number as JSON spells them */

/* Deeper than the reader goes, so that what was read can be written inside something. */
enum { JSON_WRITE_DEPTH_MAX = 2 * JSON_DEPTH_MAX };

/* The writer. It cannot fail; whoever owns the buffer looks at buf->full at the end. Bytes that are
 * not UTF-8 are written as U+FFFD, so what comes out is always JSON. Calls in an order that makes
 * no JSON are our bug (CHECK). */
struct jw {
    struct buf *buf;
    bool pretty; /* two spaces a level and line ends; else no white space at all */
    /* private */
    bool key_written;
    uint32_t depth;
    struct {
        bool is_object, nonempty;
    } levels[JSON_WRITE_DEPTH_MAX + 1]; /* [0] is outside of everything */
};

void jw_init(struct jw *w, struct buf *buf, bool pretty);
void jw_object_begin(struct jw *w);
void jw_object_end(struct jw *w);
void jw_array_begin(struct jw *w);
void jw_array_end(struct jw *w);
void jw_key(struct jw *w, struct str key);
void jw_string(struct jw *w, struct str s);
void jw_i64(struct jw *w, int64_t v);
void jw_u64(struct jw *w, uint64_t v);
/* jw_decimal writes value × 10^-scale exactly, without needless zeros: (1500, 3) is 1.5. */
void jw_decimal(struct jw *w, int64_t value, uint32_t scale);
void jw_bool(struct jw *w, bool v);
void jw_null(struct jw *w);
void jw_raw(struct jw *w, struct str json); /* text that is one JSON value already */
/* jw_doc writes a tree; a number that JSON cannot spell (0x1f, .5, +1) becomes a string. */
void jw_doc(struct jw *w, const struct doc *d);
/* A key and its value at once. */
void jw_member_string(struct jw *w, struct str key, struct str v);
void jw_member_i64(struct jw *w, struct str key, int64_t v);
void jw_member_bool(struct jw *w, struct str key, bool v);

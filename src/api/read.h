// SPDX-License-Identifier: Apache-2.0
// read: a JSON object into a struct by a table of its members, with every problem found: unknown
// members (with the nearest known one), members given twice, wrong types, values out of range.
#pragma once

#include <stddef.h>

#include "base/doc.h"
#include "base/err.h"

enum read_kind {
    READ_STR,      /* struct str */
    READ_BOOL,     /* bool */
    READ_WHOLE,    /* int64_t: a whole number */
    READ_DECIMAL3, /* int64_t: a number with at most three digits behind the point, in thousandths */
    READ_WORD,     /* uint32_t (an enum): the index of a word of `words` */
    READ_PRIORITY, /* int64_t: one of the seven words, or a number */
    READ_STR_LIST, /* struct str_item *, uint32_t count */
    READ_PAIRS,    /* {struct str, struct str} *, uint32_t count: an object of strings, sorted by
                     * name */
    READ_OBJECT,   /* const struct doc *: read by its own table */
};

struct read_member {
    struct str name;
    enum read_kind kind;
    size_t offset, count_offset;
    int64_t least, most; /* of a number, as stored */
    const struct str *words;
    uint32_t words_count;
    bool null_is_absent; /* null is as if it were not given (an unlimited limit) */
};

/* read_object fills *into from map; what is not given is left as it is. path is that of map ("",
 * "spec."). Strings live with the document, lists in problems->arena. value (may be NULL) receives
 * the text of the first wrong value. */
void read_object(const struct doc *map, struct str path, const struct read_member *members,
                 uint32_t count, void *into, struct problems *problems, struct str *value);

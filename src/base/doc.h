// SPDX-License-Identifier: Apache-2.0
// doc: a parsed document (YAML or JSON) as one tree with positions, so that whoever validates it
// can point at the user's line. Keys keep their order; duplicates are kept for the validator to
// report. Scalars stay text (quoted tells "8" from 8), so numbers lose nothing.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* No maker of a tree goes deeper than this, so walkers keep a stack of fixed size. */
enum { DOC_DEPTH_MAX = 64 };

enum doc_kind { DOC_NULL, DOC_BOOL, DOC_NUMBER, DOC_STRING, DOC_LIST, DOC_MAP };

struct doc {
    enum doc_kind kind;
    uint32_t line, col; /* of the value, 1-based; 0: unknown */
    struct str text;    /* scalar text: the string without quotes, or the number as written */
    bool boolean;       /* DOC_BOOL */
    struct str key;     /* when a member of a map */
    uint32_t key_line, key_col;
    struct doc *child; /* first member or item */
    struct doc *next;  /* next sibling */
    uint32_t child_count;
};

const char *doc_kind_name(enum doc_kind kind); /* "a number", "a list" … for messages */
/* doc_get returns the first member named key, or NULL (also when map is NULL or no map). */
const struct doc *doc_get(const struct doc *map, struct str key);
/* doc_at follows a dotted path with [n] indexes: "a.b[2].c"; NULL when absent. */
const struct doc *doc_at(const struct doc *root, struct str path);

// SPDX-License-Identifier: Apache-2.0
// yaml: YAML 1.2 bytes to a document tree with positions. What a file could use to hurt is bounded:
// its size, its nesting, its nodes, and what its aliases unfold to.
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/err.h"

enum {
    YAML_BYTES_MAX = 4 * 1024 * 1024,
    YAML_DEPTH_MAX = 64,          /* maps and lists inside each other */
    YAML_NODES_MAX = 400 * 1000,  /* values of a document */
    YAML_ALIAS_NODES_MAX = 40000, /* those of them that come from aliases */
};

/* yaml_parse reads one document. Plain scalars are null, booleans, decimal numbers or text (core
 * schema, without octal and hexadecimal); quoted ones and those tagged !!str are text; other tags
 * are refused. Merge keys (<<) have no meaning. An alias becomes a copy of what it names, with the
 * positions of the original. An empty document gives a DOC_NULL at 1:1. Columns count characters.
 * STATUS_OK: *root is the tree, in arena. STATUS_INVALID or STATUS_TOO_LARGE: problems says where
 * and why (at least one error is added), *root is untouched. O(bytes). */
MUST_USE enum status yaml_parse(struct str bytes, struct arena *arena, const struct doc **root,
                                struct problems *problems);

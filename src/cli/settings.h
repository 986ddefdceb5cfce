// SPDX-License-Identifier: Apache-2.0
// settings: the CLI's own file, config.json in ~/.weir: the default project, the form of the output,
// the columns chosen for lists. Keys that are not ours are kept, for others read this file too.
#pragma once

#include "base/arena.h"
#include "base/doc.h"
#include "base/err.h"

struct settings {
    struct arena *arena;
    struct str directory, file; /* /home/ada/.weir, config.json */
    struct doc *root;           /* a map */
};

/* settings_load reads the file; none there is an empty map. dir and name: of the flags, or "". A file
 * that is no JSON object is STATUS_INVALID with its position. */
MUST_USE enum status settings_load(struct settings *s, struct arena *arena, struct str directory,
                                   struct str name, struct err *err);
/* settings_get gives the text of key, or "". A key may have one dot: "columns.workload". */
struct str settings_get(const struct settings *s, struct str key);
/* settings_set changes it ("" removes it) and writes the file, whole or not at all. */
MUST_USE enum status settings_set(struct settings *s, struct str key, struct str value,
                                  struct err *err);

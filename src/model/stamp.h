// SPDX-License-Identifier: Apache-2.0
// stamp: when and by whom something was made and last changed; a name as in input.author.
#pragma once

#include <stdint.h>

#include "base/str.h"

struct stamp {
    int64_t created_ms, updated_ms;
    struct str created_by, updated_by;
};

/* The fields of member `stamp` in a record, with four tags from first on. */
#define STAMP_FIELDS(first, type)                                                       \
    F_I64((first), type, stamp.created_ms), F_I64((first) + 1, type, stamp.updated_ms), \
        F_STR((first) + 2, type, stamp.created_by), F_STR((first) + 3, type, stamp.updated_by)

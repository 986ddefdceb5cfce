// SPDX-License-Identifier: Apache-2.0
// status: the one table of what each kind of failure means on every face.
#include "base/status.h"

#include "base/attr.h"
#include "base/check.h"

static const struct status_info rows[] = {
    [STATUS_OK] = {"ok",          200, 0, false},
    [STATUS_INVALID] = {"invalid",     400, 1, false},
    [STATUS_UNKNOWN] = {"unknown",     404, 1, false},
    [STATUS_DENIED] = {"denied",      403, 1, false},
    [STATUS_UNAUTHENTIC] = {"unauthentic", 401, 1, false},
    [STATUS_CONFLICT] = {"conflict",    409, 1, false},
    [STATUS_IN_USE] = {"in_use",      409, 1, false},
    [STATUS_TOO_LARGE] = {"too_large",   413, 1, false},
    [STATUS_UNSUPPORTED] = {"unsupported", 501, 1, false},
    [STATUS_BUSY] = {"busy",        503, 1, true },
    [STATUS_UNREACHABLE] = {"unreachable", 503, 1, true },
    [STATUS_TIMEOUT] = {"timeout",     504, 1, true },
    [STATUS_CORRUPT] = {"corrupt",     500, 1, false},
    [STATUS_IO] = {"io",          500, 1, false},
    [STATUS_NO_MEMORY] = {"no_memory",   500, 1, false},
    [STATUS_INTERNAL] = {"internal",    500, 1, false},
    [STATUS_NO_METHOD] = {"no_method",   405, 1, false},
};
_Static_assert(COUNT_OF(rows) == STATUS_COUNT, "a row for each status");

const struct status_info *status_info(enum status s)
{
    CHECK((unsigned)s < STATUS_COUNT);
    return &rows[s];
}

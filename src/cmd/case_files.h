// SPDX-License-Identifier: Apache-2.0
// case_files: scheduling cases from disk, for `weir simulate`, the tests and `weir bench cycle`.
#pragma once

#include "base/array.h"
#include "base/err.h"
#include "sim/case.h"

struct case_paths {
    ARRAY(const char *) list;
};

/* case_files_find adds to *out the path itself, or, when it is a directory, every *.json in it in
 * the order of their names. STATUS_UNKNOWN or STATUS_IO when it cannot be read. */
MUST_USE enum status case_files_find(const char *path, struct arena *arena, struct case_paths *out,
                                     struct err *err);

/* case_file_load reads, parses and validates one case into *out, all in arena. STATUS_INVALID with
 * every problem in *problems when the case is wrong; any other status with *err. */
MUST_USE enum status case_file_load(const char *path, struct arena *arena, struct sim_case *out,
                                    struct problems *problems, struct err *err);

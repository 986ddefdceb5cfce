// SPDX-License-Identifier: Apache-2.0
// plan: the half of `weir plan` that needs no server: read a tenant plan, check it, show what is
// wrong with it under the user's own lines, and show how two plans differ.
//
//   check FILE    plan_file_read, plan_file_check, plan_problems_print; exit plan_file_exit
//   diff FILE     plan_file_read; from = the server's plan; plan_diff; plan_changes_print
//   apply FILE    as diff, then send the plan with the revision it was compared with
//   export        plan_to_yaml of the server's plan
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/doc.h"
#include "base/err.h"
#include "model/plan.h"

struct plan_file {
    struct str path;          /* as the user named it; "standard input" for - */
    struct str bytes;         /* what it holds */
    const struct doc *root;   /* NULL when it is no YAML */
    struct plan plan;         /* what could be read; whole only without errors */
    struct problems problems; /* of YAML, form and meaning, in the order of the file */
};

/* plan_file_read reads path ("-": standard input) and its plan. Problems of the content are in
 * out->problems and the status is STATUS_OK; STATUS_UNKNOWN (no such file), STATUS_TOO_LARGE (over
 * YAML_BYTES_MAX, found before it is read whole) and STATUS_IO say in err why it could not be read.
 * All of *out lives in arena. */
MUST_USE enum status plan_file_read(const char *path, struct arena *arena, struct plan_file *out,
                                    struct err *err);
/* plan_file_check adds the contradictions of meaning (plan_check) of the plan as it would be once
 * applied over base: NULL when there is no server to ask, then of the file alone. capacity is what
 * the pools offer, NULL when not known. Does nothing when the file is no YAML; what may only
 * follow from an error of form is not added. */
void plan_file_check(struct plan_file *file, const struct plan *base, bool prune,
                     const struct pool_capacity *capacity, uint32_t capacity_count);
/* plan_problems_print writes each problem as
 *     FILE:LINE:COL: error: FIELD: TEXT
 *          12 |       guaranteed_gpus: -3
 *             |                        ^
 *             = HINT
 * and a last line with the counts. Control characters of the file are not passed on. */
void plan_problems_print(const struct plan_file *file, struct buf *out);
int plan_file_exit(const struct plan_file *file); /* 0, or 1 with errors */
/* plan_changes_print writes changes (of plan_diff) as a tree, objects with their fields below, and a
 * last line with the counts; "no changes" when there are none. */
void plan_changes_print(const struct plan_change *changes, uint32_t count, struct buf *out);

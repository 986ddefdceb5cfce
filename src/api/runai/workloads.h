// SPDX-License-Identifier: Apache-2.0
// workloads: what the files about workloads share: their kinds in words, and what was asked for.
#pragma once

#include "api/runai/common.h"

/* "Training", and the word of the path of its kind: "trainings". */
struct str kind_type(enum workload_kind kind);
struct str kind_category(enum workload_kind kind); /* "Train" */
/* workload_asked reads back what a workload was made from, NULL: it was made another way. */
const struct doc *workload_asked(const struct call *c, const struct workload *wl);
/* workload_is_deleted: it was, and nothing of it runs any more. */
bool workload_is_deleted(const struct workload *wl);
struct str workload_pool(const struct workload *wl); /* where it is tried or runs */
/* spec_show writes the spec: as it was asked for, or in the same words. */
void spec_show(struct call *c, struct jw *w, const struct workload *wl);
void show_phase(struct jw *w, struct str key, const struct workload *wl);

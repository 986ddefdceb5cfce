// SPDX-License-Identifier: Apache-2.0
// workloads: what the files about workloads share: their words, where they belong, their spec.
#pragma once

#include "api/runai/common.h"

/* "Training", and the word of the path of its kind: "trainings". */
struct str kind_type(enum workload_kind kind);
struct str workload_category(const struct call *c, const struct workload *wl); /* "Train" */
struct str workload_framework(enum framework f); /* "PyTorch"; "": none */
/* workload_asked reads back what a workload was made from, or last asked to be, NULL: it was
 * made another way. */
const struct doc *workload_asked(const struct call *c, const struct workload *wl);
/* workload_is_deleted: it was, and nothing of it runs any more. */
bool workload_is_deleted(const struct workload *wl);
int64_t workload_changed_ms(const struct workload *wl); /* when something last happened to it */

/* path_workload_of gives the workload of the path where it is of the kind that the path is for; NULL:
 * answered. */
const struct workload *path_workload_of(struct call *c, enum workload_kind kind);

/* Where it belongs; "" when the project is gone. Ids are in the call's arena. */
struct str workload_project_id(const struct call *c, const struct workload *wl);
struct str workload_department(const struct call *c, const struct workload *wl);
struct str workload_department_id(const struct call *c, const struct workload *wl);
/* The pool of the node where a pod is; "": it has none. */
struct str pod_pool(const struct call *c, const struct pod *p);

/* workload_show writes one workload; whole: with what holds it back. */
void workload_show(struct call *c, struct jw *w, const struct workload *wl, bool whole);
void show_phase(struct jw *w, struct str key, const struct workload *wl);

/* spec_show writes the spec: as it was asked for, or in the same words. */
void spec_show(struct call *c, struct jw *w, const struct workload *wl);
/* request_digest tells one request to submit from another, by its body as it came. */
int64_t request_digest(struct call *c);

/* spec_read reads the spec (and masterSpec) of the body, for a workload in that scope, into that of the
 * model; false: answered. */
MUST_USE bool spec_read(struct call *c, enum workload_kind kind, struct scope scope,
                        struct workload_spec *s);

/* spec_check looks at what in a spec weir does not do (security, storage, affinity); false: answered. */
MUST_USE bool spec_check(struct call *c, const struct doc *spec);

#define DELETED_ARG "deleted bool = false"

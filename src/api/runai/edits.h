// SPDX-License-Identifier: Apache-2.0
// edits: node pools, departments and projects changed one at a time; each is a row of the plan, and a
// change of it is applied as any plan is.
#pragma once

#include "api/runai/common.h"

/* One change of the plan. build makes the command out of the state as it is, or answers itself and
 * returns false; when somebody else was faster it is called again. done answers, the state being
 * as the command left it. */
struct edit {
    enum plan_object what;
    bool (*build)(struct call *c, struct plan_apply *out);
    void (*done)(struct call *c);
    uint32_t tries;
};
void edit_plan(struct call *c, struct edit *edit);
/* A copy of one row to change and to apply. */
struct project *edit_project(struct call *c, const struct project *from, struct plan_apply *out);
struct department *edit_department(struct call *c, const struct department *from,
                                   struct plan_apply *out);
struct pool *edit_pool(struct call *c, const struct pool *from, struct plan_apply *out);

/* edit_is_new, for build: nothing has the name yet that `out` adds. Where something has, the edit's
 * done answers if this same request made it a moment ago, and 409 is answered if not: false. */
MUST_USE bool edit_is_new(struct call *c, struct str name, const struct plan_apply *out);
/* edit_resources replaces (PUT) or changes (PATCH) the quotas of the path's department or project by
 * the list of the body, and answers with what it has then. */
void edit_resources(struct call *c, enum plan_object what);
/* edit_delete takes the row of the path out: 204. */
void edit_delete(struct call *c, enum plan_object what);

// SPDX-License-Identifier: Apache-2.0
// people: what the paths about users, service accounts, keys, roles and access rules share.
#pragma once

#include "api/runai/common.h"
#include "api/signin.h"

static inline const struct identity *identity_of(const struct call *c)
{
    return &state_of(c)->identity;
}

/* people_manage decides whether the one who asks may change this user or service account: with the
 * right over the tenant, or wherever its rules are; without rules its maker may. false: answered. */
MUST_USE bool people_manage(struct call *c, enum entity e, enum right right, enum subject_kind kind,
                            struct str name, const struct stamp *stamp);
/* people_change sends the change of identity; done answers when it is there. What is refused is
 * answered here. */
void people_change(struct call *c, const struct identity_change *change,
                   void (*done)(struct call *c, const struct outcome *outcome));
/* The first parameter of the path as the id of one; NULL: answered. */
const struct user *path_user(struct call *c);
const struct application *path_application(struct call *c);
void show_when(struct jw *w, struct str key, int64_t at_ms);        /* null: never */
void answer_nothing(struct call *c, const struct outcome *outcome); /* 204 */
void answer_object(struct call *c, const struct outcome *outcome);  /* 200 and {} */

/* call_secret makes a secret for the call, to be shown in its answer, and gives its hash. */
struct str call_secret(struct call *c);
void answer_secret(struct call *c, const struct outcome *outcome); /* 200 and the new secret */
/* fail_made_before answers a creation that came twice: what is shown once cannot be shown again. */
void fail_made_before(struct call *c, const char *what, const char *path);

/* Scopes on the wire: "tenant", "cluster", "department", "project" with an id. */
struct str scope_type(enum scope_kind kind);
struct str scope_id(const struct call *c, struct scope s);
struct str scope_name(const struct call *c, struct scope s); /* "" when it is gone */
/* scope_read reads both; STATUS_UNKNOWN: there is none such. */
MUST_USE enum status scope_read(const struct call *c, struct str type, struct str id,
                                struct scope *out, struct err *err);
/* scope_given reads scope, clusterId, departmentId and projectId of a map, which its schema has let pass;
 * prefix is its path ("meta."). false: answered. */
MUST_USE bool scope_given(struct call *c, const struct doc *map, const char *prefix,
                          struct scope *out);

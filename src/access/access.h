// SPDX-License-Identifier: Apache-2.0
// access: who may do what where. Pure: the whole answer comes from the state's identity and plan.
//
//   book    what the state says, in a form made for asking; kept while the two revisions stay
//   grants  what one subject is given by it; made when somebody signs in or asks, cheap
//
// A rule gives a role at a scope; it holds there and in all below. Rules add up, none takes away.
// Things that serve those below them (entity_info.inherited) may also be read from below: who may
// read node pools in one project reads those of the cluster the project is in.
//
// Who asks for what one may not read is told that it is not there (404); who asks for a change of
// what one may read but not change, that it is not allowed (403). The API decides this before a
// handler runs, from the route's row (api/call.h: entity, right, where the scope comes from), and
// leaves out of lists what is not in access_scopes.
#pragma once

#include "access/role.h"
#include "base/map.h"
#include "model/ids.h"
#include "model/plan.h"

/* ---- the tree of scopes ---- */

/* Rows are those of the plan it was made of: departments[row], projects[row]. */
struct scope_tree {
    uint32_t departments_count, projects_count;
    uint32_t *department_ids, *project_ids;
    uint32_t *department_parent;      /* row; IX_NONE: a top one, right below the cluster */
    uint32_t *project_department;     /* row; IX_NONE: unknown */
    struct map departments, projects; /* id -> row */
};
void scope_tree_build(struct scope_tree *t, const struct plan *plan, struct arena *arena);
/* scope_parent gives what s is directly in; false for the tenant and for what the tree has not. */
MUST_USE bool scope_parent(const struct scope_tree *t, struct scope s, struct scope *out);
/* scope_contains: inner is outer or below it. False when the tree has not inner. O(depth). */
bool scope_contains(const struct scope_tree *t, struct scope outer, struct scope inner);
bool scope_eq(struct scope a, struct scope b);
struct scope scope_of_department(uint32_t id);
struct scope scope_of_project(uint32_t id);

/* ---- the book ---- */

struct access_book {
    int64_t plan_revision, identity_revision; /* of what it was made of */
    struct scope_tree tree;
    struct access_role {
        uint32_t id;
        struct role_info info;
    } *roles; /* predefined ones first, then the state's */
    uint32_t roles_count;
    struct access_rule *rules; /* their texts too are the book's own */
    uint32_t rules_count;
};
/* access_book_build copies what it needs into arena: the book outlives changes of the state. */
void access_book_build(struct access_book *b, const struct plan *plan, int64_t plan_revision,
                       const struct identity *identity, struct arena *arena);
/* access_role gives a role by its id, NULL: there is none. */
const struct access_role *access_role(const struct access_book *b, uint32_t id);

/* ---- one subject ---- */

/* Who asks, as the edge found out. machine: the administrator of this machine, over the local
 * socket; may everything. A service account is in no group. */
struct subject {
    bool machine;
    enum subject_kind kind;
    struct str name;
    const struct str_item *groups;
    uint32_t groups_count;
};
struct grants {
    const struct access_book *book;
    bool all;
    struct grant {
        struct scope scope;
        const struct access_role *role;
        uint32_t rule; /* its id */
    } *items;
    uint32_t count;
};
/* access_grants collects the rules that speak of the subject or of one of its groups. Names are
 * compared byte by byte: those of users are kept in lower case. O(rules). */
void access_grants(const struct access_book *b, const struct subject *s, struct arena *arena,
                   struct grants *out);

/* access_allows: the subject may do the action to entities at that scope (for a create: in it). */
bool access_allows(const struct grants *g, enum entity e, enum right a, struct scope s);
/* access_anywhere: the subject may do it at one scope at least. */
bool access_anywhere(const struct grants *g, enum entity e, enum right a);
/* access_may_give: the role changes (creates, updates, deletes) nothing there that the subject may
 * not change there itself: nobody gives more than they have. What a role reads is not compared. */
bool access_may_give(const struct grants *g, const struct access_role *role, struct scope s);

/* Scopes at which access_allows says yes. */
struct scope_set {
    const struct scope_tree *tree;
    bool tenant, cluster;
    bool *departments, *projects; /* by row of the plan */
};
void access_scopes(const struct grants *g, enum entity e, enum right a, struct arena *arena,
                   struct scope_set *out);
bool scope_set_has(const struct scope_set *set, struct scope s);

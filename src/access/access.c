// SPDX-License-Identifier: Apache-2.0
// The decision. A subject has a handful of rules, so each question goes through them: O(rules of the
// subject x depth). Sets of scopes for lists are made in one pass from the top down.
#include "access/access.h"

#include "base/array.h"
#include "base/check.h"

void access_book_build(struct access_book *b, const struct plan *plan, int64_t plan_revision,
                       const struct identity *identity, struct arena *arena)
{
    *b = (struct access_book){
        .plan_revision = plan_revision,
        .identity_revision = identity->revision,
    };
    scope_tree_build(&b->tree, plan, arena);
    uint32_t predefined = ROLE_PREDEFINED_END - ROLE_SYSTEM_ADMINISTRATOR;
    b->roles = ARENA_ARRAY(arena, struct access_role, predefined + identity->roles_count);
    for (uint32_t id = ROLE_SYSTEM_ADMINISTRATOR; id < ROLE_PREDEFINED_END; id++) {
        struct access_role *role = &b->roles[b->roles_count++];
        role->id = id;
        CHECK(role_predefined(id, &role->info));
    }
    for (uint32_t i = 0; i < identity->roles_count; i++) {
        struct access_role *role = &b->roles[b->roles_count++];
        role->id = identity->roles[i].id;
        role->info = role_custom(&identity->roles[i]);
        role->info.name = arena_str(arena, role->info.name);
        role->info.description = arena_str(arena, role->info.description);
    }
    b->rules = ARENA_ARRAY(arena, struct access_rule, identity->rules_count);
    for (uint32_t i = 0; i < identity->rules_count; i++) {
        record_copy(&record_access_rule, &identity->rules[i], &b->rules[b->rules_count++], arena);
    }
}

const struct access_role *access_role(const struct access_book *b, uint32_t id)
{
    for (uint32_t i = 0; i < b->roles_count; i++) {
        if (b->roles[i].id == id) {
            return &b->roles[i];
        }
    }
    return NULL;
}

/* ---- one subject ---- */

static bool speaks_of(const struct access_rule *r, const struct subject *s)
{
    if (r->subject_kind != SUBJECT_GROUP) {
        return r->subject_kind == s->kind && str_eq(r->subject, s->name);
    }
    for (uint32_t i = 0; i < s->groups_count && s->kind == SUBJECT_USER; i++) {
        if (str_eq(r->subject, s->groups[i].value)) {
            return true;
        }
    }
    return false;
}

void access_grants(const struct access_book *b, const struct subject *s, struct arena *arena,
                   struct grants *out)
{
    ARRAY(struct grant) found = {0};
    for (uint32_t i = 0; i < b->rules_count && !s->machine; i++) {
        const struct access_rule *r = &b->rules[i];
        const struct access_role *role = speaks_of(r, s) ? access_role(b, r->role) : NULL;
        if (role != NULL) {
            *ARRAY_PUSH(arena, &found) = (struct grant){r->scope, role, r->id};
        }
    }
    *out = (struct grants){
        .book = b,
        .all = s->machine,
        .items = found.items,
        .count = found.count,
    };
}

static bool gives(const struct grant *g, enum entity e, enum right a)
{
    return (g->role->info.permissions.may[e] & a) != 0;
}

static bool reads_upward(enum entity e, enum right a)
{
    return a == RIGHT_READ && entity_info(e)->inherited;
}

static bool exists(const struct grants *g, struct scope s)
{
    return scope_contains(&g->book->tree, SCOPE_OF_TENANT, s);
}

bool access_allows(const struct grants *g, enum entity e, enum right a, struct scope s)
{
    const struct scope_tree *t = &g->book->tree;
    if (g->all) {
        return exists(g, s);
    }
    for (uint32_t i = 0; i < g->count; i++) {
        const struct grant *grant = &g->items[i];
        if (gives(grant, e, a) && (scope_contains(t, grant->scope, s) ||
                                   (reads_upward(e, a) && scope_contains(t, s, grant->scope)))) {
            return true;
        }
    }
    return false;
}

bool access_anywhere(const struct grants *g, enum entity e, enum right a)
{
    for (uint32_t i = 0; i < g->count; i++) {
        if (gives(&g->items[i], e, a) && exists(g, g->items[i].scope)) {
            return true;
        }
    }
    return g->all;
}

bool access_may_give(const struct grants *g, const struct access_role *role, struct scope s)
{
    static const enum right changes[] = {RIGHT_CREATE, RIGHT_UPDATE, RIGHT_DELETE};
    for (uint32_t e = 0; e < ENTITY_COUNT; e++) {
        for (uint32_t i = 0; i < COUNT_OF(changes); i++) {
            bool wanted = (role->info.permissions.may[e] & changes[i]) != 0;
            if (wanted && !access_allows(g, (enum entity)e, changes[i], s)) {
                return false;
            }
        }
    }
    return exists(g, s);
}

/* ---- sets of scopes ---- */

// Marks what contains s as readable.
static void mark_upward(const struct scope_tree *t, struct scope s, struct scope_set *set)
{
    for (bool more = scope_contains(t, SCOPE_OF_TENANT, s); more; more = scope_parent(t, s, &s)) {
        uint32_t row;
        switch (s.kind) {
        case SCOPE_TENANT:
            set->tenant = true;
            break;
        case SCOPE_CLUSTER:
            set->cluster = true;
            break;
        case SCOPE_DEPARTMENT:
            if (map_get_u64(&t->departments, s.id, &row)) {
                set->departments[row] = true;
            }
            break;
        case SCOPE_PROJECT:
            break;
        }
    }
}

// A department is in the set when it, or one above it, is given.
static bool from_above(const struct scope_tree *t, const struct scope_set *given, uint32_t row)
{
    for (uint32_t level = 0; level < t->departments_count && row != IX_NONE; level++) {
        if (given->departments[row]) {
            return true;
        }
        row = t->department_parent[row];
    }
    return given->cluster && row == IX_NONE;
}

static void mark(const struct scope_tree *t, struct scope s, struct scope_set *set)
{
    uint32_t row;
    switch (s.kind) {
    case SCOPE_TENANT:
        set->tenant = set->tenant || s.id == TENANT_ID;
        set->cluster = set->cluster || s.id == TENANT_ID;
        return;
    case SCOPE_CLUSTER:
        set->cluster = set->cluster || s.id == CLUSTER_ID;
        return;
    case SCOPE_DEPARTMENT:
        if (map_get_u64(&t->departments, s.id, &row)) {
            set->departments[row] = true;
        }
        return;
    case SCOPE_PROJECT:
        if (map_get_u64(&t->projects, s.id, &row)) {
            set->projects[row] = true;
        }
        return;
    }
}

static struct scope_set empty_set(const struct scope_tree *t, struct arena *arena)
{
    return (struct scope_set){
        .tree = t,
        .departments = ARENA_ARRAY(arena, bool, t->departments_count),
        .projects = ARENA_ARRAY(arena, bool, t->projects_count),
    };
}

void access_scopes(const struct grants *g, enum entity e, enum right a, struct arena *arena,
                   struct scope_set *out)
{
    const struct scope_tree *t = &g->book->tree;
    struct scope_set given = empty_set(t, arena);
    *out = empty_set(t, arena);
    given.tenant = g->all;
    given.cluster = g->all;
    for (uint32_t i = 0; i < g->count; i++) {
        if (gives(&g->items[i], e, a)) {
            mark(t, g->items[i].scope, &given);
        }
    }
    out->tenant = given.tenant;
    out->cluster = given.cluster;
    for (uint32_t i = 0; i < t->departments_count; i++) {
        out->departments[i] = from_above(t, &given, i);
    }
    for (uint32_t i = 0; i < t->projects_count; i++) {
        uint32_t department = t->project_department[i];
        out->projects[i] = given.projects[i] ||
                           (department == IX_NONE ? given.cluster : out->departments[department]);
    }
    for (uint32_t i = 0; i < g->count && reads_upward(e, a); i++) {
        if (gives(&g->items[i], e, a)) {
            mark_upward(t, g->items[i].scope, out);
        }
    }
}

bool scope_set_has(const struct scope_set *set, struct scope s)
{
    uint32_t row;
    switch (s.kind) {
    case SCOPE_TENANT:
        return set->tenant && s.id == TENANT_ID;
    case SCOPE_CLUSTER:
        return set->cluster && s.id == CLUSTER_ID;
    case SCOPE_DEPARTMENT:
        return map_get_u64(&set->tree->departments, s.id, &row) && set->departments[row];
    case SCOPE_PROJECT:
        return map_get_u64(&set->tree->projects, s.id, &row) && set->projects[row];
    }
    return false;
}

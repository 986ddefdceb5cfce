// SPDX-License-Identifier: Apache-2.0
// rules: custom roles and access rules. A rule goes with the department or project it is about, and
// with its user or service account. The plan's own rules (a department's owner_group, a project's
// access_group) follow the plan and are changed there alone.
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "engine/machine.h"
#include "model/limits.h"

enum { NAME_SHOWN = 100 };

/* ---- checks ---- */

bool scope_exists(const struct plan *p, struct scope s)
{
    switch (s.kind) {
    case SCOPE_TENANT:
        return s.id == TENANT_ID;
    case SCOPE_CLUSTER:
        return s.id == CLUSTER_ID;
    case SCOPE_DEPARTMENT:
        for (uint32_t i = 0; i < p->departments_count; i++) {
            if (p->departments[i].id == s.id) {
                return true;
            }
        }
        return false;
    case SCOPE_PROJECT:
        for (uint32_t i = 0; i < p->projects_count; i++) {
            if (p->projects[i].id == s.id) {
                return true;
            }
        }
        return false;
    }
    return false;
}

bool role_exists(const struct identity *d, uint32_t id)
{
    return (id >= ROLE_SYSTEM_ADMINISTRATOR && id < ROLE_PREDEFINED_END) ||
           identity_role(d, id) != NULL;
}

static bool says_the_same(const struct access_rule *a, const struct access_rule *b)
{
    return a->subject_kind == b->subject_kind && a->role == b->role &&
           a->scope.kind == b->scope.kind && a->scope.id == b->scope.id &&
           str_eq(a->subject, b->subject);
}

static bool refuse(struct outcome *out, enum status status, const char *field)
{
    out->status = status;
    err_field(&out->err, "%s", field);
    return false;
}

static bool subject_ok(const struct identity *d, const struct access_rule *r, struct outcome *out)
{
    if (r->subject_kind > SUBJECT_GROUP || r->subject.len == 0 || !str_is_utf8(r->subject) ||
        r->subject.len > GROUP_LEN_MAX) {
        err_set(&out->err, STATUS_INVALID, "a subject has 1 to %u bytes of UTF-8", GROUP_LEN_MAX);
        return refuse(out, STATUS_INVALID, "subject");
    }
    if (r->subject_kind == SUBJECT_APPLICATION &&
        identity_application_named(d, r->subject) == NULL) {
        err_set(&out->err, STATUS_UNKNOWN, "there is no service account \"" STR_FMT "\"",
                STR_ARG(str_sub(r->subject, 0, NAME_SHOWN)));
        return refuse(out, STATUS_UNKNOWN, "subject");
    }
    return true;
}

static bool rule_add_ok(const struct engine *e, const struct access_rule *r, struct outcome *out)
{
    const struct identity *d = &e->s.identity;
    if (!subject_ok(d, r, out)) {
        return false;
    }
    if (!role_exists(d, r->role)) {
        err_set(&out->err, STATUS_UNKNOWN, "there is no role %u", r->role);
        return refuse(out, STATUS_UNKNOWN, "role");
    }
    if (!scope_exists(&e->s.plan, r->scope)) {
        err_set(&out->err, STATUS_UNKNOWN, "there is no such scope");
        return refuse(out, STATUS_UNKNOWN, "scope");
    }
    if (d->rules_count >= RULES_MAX) {
        err_set(&out->err, STATUS_TOO_LARGE, "there are %u access rules, as many as there may be",
                d->rules_count);
        return refuse(out, STATUS_TOO_LARGE, "");
    }
    for (uint32_t i = 0; i < d->rules_count; i++) {
        if (says_the_same(&d->rules[i], r)) {
            err_set(&out->err, STATUS_CONFLICT, "access rule %u says this already", d->rules[i].id);
            return refuse(out, STATUS_CONFLICT, "");
        }
    }
    return true;
}

static bool rule_remove_ok(const struct identity *d, uint32_t id, struct outcome *out)
{
    const struct access_rule *r = identity_rule(d, id);
    if (r == NULL) {
        err_set(&out->err, STATUS_UNKNOWN, "there is no access rule %u", id);
        return refuse(out, STATUS_UNKNOWN, "");
    }
    if (r->from_plan) {
        err_set(&out->err, STATUS_IN_USE, "access rule %u comes from the plan", id);
        err_hint(&out->err, "change owner_group or access_group in the plan");
        return refuse(out, STATUS_IN_USE, "");
    }
    return true;
}

static bool role_ok(const struct identity *d, const struct role *role, struct outcome *out)
{
    if (role->name.len == 0 || role->name.len > ROLE_NAME_LEN_MAX || !str_is_utf8(role->name)) {
        err_set(&out->err, STATUS_INVALID, "a role has a name of 1 to %u bytes of UTF-8",
                ROLE_NAME_LEN_MAX);
        return refuse(out, STATUS_INVALID, "name");
    }
    if (role->description.len > WORKLOAD_TEXT_MAX || !str_is_utf8(role->description)) {
        err_set(&out->err, STATUS_INVALID, "a description has at most %u bytes of UTF-8",
                WORKLOAD_TEXT_MAX);
        return refuse(out, STATUS_INVALID, "description");
    }
    for (uint32_t i = 0; i < d->roles_count; i++) {
        if (d->roles[i].id != role->id && str_eq(d->roles[i].name, role->name)) {
            err_set(&out->err, STATUS_CONFLICT, "there is a role \"" STR_FMT "\" already",
                    STR_ARG(str_sub(role->name, 0, NAME_SHOWN)));
            return refuse(out, STATUS_CONFLICT, "name");
        }
    }
    for (uint32_t i = 0; i < role->permissions_count; i++) {
        const struct permission *p = &role->permissions[i];
        if (p->entity >= ENTITY_COUNT || p->rights == 0 || p->rights > RIGHT_ALL ||
            (i > 0 && p->entity <= role->permissions[i - 1].entity)) {
            err_set(&out->err, STATUS_INVALID,
                    "permissions name known entities and rights, each entity once, in order");
            return refuse(out, STATUS_INVALID, "permissions");
        }
    }
    return true;
}

static bool roles_have_room(const struct identity *d, struct outcome *out)
{
    if (d->roles_count < ROLES_MAX) {
        return true;
    }
    out->status = err_set(&out->err, STATUS_TOO_LARGE,
                          "there are %u roles, as many as there may be", d->roles_count);
    return false;
}

static bool role_known(const struct identity *d, uint32_t id, struct outcome *out)
{
    if (identity_role(d, id) != NULL) {
        return true;
    }
    bool predefined = role_exists(d, id);
    out->status = err_set(
        &out->err, predefined ? STATUS_IN_USE : STATUS_UNKNOWN,
        predefined ? "role %u is a predefined one and stays as it is" : "there is no role %u", id);
    return false;
}

static bool role_unused(const struct identity *d, uint32_t id, struct outcome *out)
{
    for (uint32_t i = 0; i < d->rules_count; i++) {
        if (d->rules[i].role == id) {
            out->status = err_set(&out->err, STATUS_IN_USE, "access rule %u gives this role",
                                  d->rules[i].id);
            err_hint(&out->err, "remove the rules that give it first");
            return false;
        }
    }
    return true;
}

bool rules_change_ok(const struct engine *e, const struct identity_change *c, struct outcome *out)
{
    const struct identity *d = &e->s.identity;
    if (c->op == IDENTITY_ROLE_ADD) {
        out->revision = ROLE_CUSTOM_FIRST + (int64_t)d->roles_made;
        return roles_have_room(d, out) && role_ok(d, &c->role, out);
    }
    if (c->op == IDENTITY_ROLE_SET) {
        out->revision = c->role.id;
        return role_known(d, c->role.id, out) && role_ok(d, &c->role, out);
    }
    if (c->op == IDENTITY_ROLE_REMOVE) {
        return role_known(d, c->role.id, out) && role_unused(d, c->role.id, out);
    }
    if (c->op == IDENTITY_RULE_ADD) {
        out->revision = (int64_t)d->rules_made + 1;
        return rule_add_ok(e, &c->rule, out);
    }
    return rule_remove_ok(d, c->rule.id, out);
}

/* ---- who administers ---- */

static bool rule_stays(const struct access_rule *r, const struct identity_change *c)
{
    return c == NULL || c->op != IDENTITY_RULE_REMOVE || c->rule.id != r->id;
}

static bool in_group(const struct user *u, struct str group)
{
    for (uint32_t i = 0; i < u->groups_count; i++) {
        if (str_eq(u->groups[i].value, group)) {
            return true;
        }
    }
    return false;
}

static bool user_stays(const struct identity *d, const struct access_rule *r,
                       const struct identity_change *c)
{
    for (uint32_t i = 0; i < d->users_count; i++) {
        const struct user *u = &d->users[i];
        bool about = c != NULL && uuid_eq(c->user.id, u->id);
        const struct user *as = about && c->op == IDENTITY_USER_GROUPS ? &c->user : u;
        bool has = r->subject_kind == SUBJECT_USER ? str_eq(r->subject, u->name)
                                                   : in_group(as, r->subject);
        if (has && !(about && c->op == IDENTITY_USER_REMOVE)) {
            return true;
        }
    }
    return false;
}

static bool application_stays(const struct identity *d, const struct access_rule *r,
                              const struct identity_change *c)
{
    const struct application *a = identity_application_named(d, r->subject);
    if (a == NULL) {
        return false;
    }
    bool about = c != NULL && uuid_eq(c->application.id, a->id);
    if (about && c->op == IDENTITY_APPLICATION_ENABLE) {
        return c->application.enabled;
    }
    return a->enabled && !(about && c->op == IDENTITY_APPLICATION_REMOVE);
}

bool somebody_administers(const struct identity *d, const struct identity_change *c)
{
    for (uint32_t i = 0; i < d->rules_count; i++) {
        const struct access_rule *r = &d->rules[i];
        bool administers = r->role == ROLE_SYSTEM_ADMINISTRATOR && r->scope.kind == SCOPE_TENANT;
        if (administers && rule_stays(r, c) &&
            (r->subject_kind == SUBJECT_APPLICATION ? application_stays(d, r, c)
                                                    : user_stays(d, r, c))) {
            return true;
        }
    }
    return false;
}

/* ---- changes ---- */

static struct access_rule *rule_push(struct engine *e)
{
    struct identity *d = &e->s.identity;
    d->rules = array_grow(engine_memory(e), d->rules, sizeof(*d->rules), d->rules_count,
                          &e->identity_caps.rules);
    struct access_rule *r = &d->rules[d->rules_count++];
    *r = (struct access_rule){.id = ++d->rules_made};
    return r;
}

static void rule_add(struct step *st, const struct access_rule *from, bool from_plan)
{
    struct access_rule *r = rule_push(st->e);
    uint32_t id = r->id;
    record_copy(&record_access_rule, from, r, engine_memory(st->e));
    r->id = id;
    r->from_plan = from_plan;
    r->stamp = (struct stamp){0};
    identity_stamp(st, &r->stamp);
}

static void rule_drop(struct identity *d, uint32_t row)
{
    memmove(&d->rules[row], &d->rules[row + 1], sizeof(*d->rules) * (d->rules_count - row - 1));
    d->rules_count--;
}

void rules_rename_user(struct identity *d, struct str from, struct str to)
{
    for (uint32_t i = 0; i < d->rules_count; i++) {
        if (d->rules[i].subject_kind == SUBJECT_USER && str_eq(d->rules[i].subject, from)) {
            d->rules[i].subject = to;
        }
    }
}

void rules_forget_subject(struct identity *d, enum subject_kind kind, struct str name)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->rules_count; i++) {
        if (d->rules[i].subject_kind != kind || !str_eq(d->rules[i].subject, name)) {
            d->rules[kept++] = d->rules[i];
        }
    }
    d->rules_count = kept;
}

static void role_add(struct step *st)
{
    struct engine *e = st->e;
    struct identity *d = &e->s.identity;
    d->roles = array_grow(engine_memory(e), d->roles, sizeof(*d->roles), d->roles_count,
                          &e->identity_caps.roles);
    struct role *role = &d->roles[d->roles_count++];
    record_copy(&record_role, &st->in->identity.role, role, engine_memory(e));
    role->id = ROLE_CUSTOM_FIRST + d->roles_made++;
    role->stamp = (struct stamp){0};
    identity_stamp(st, &role->stamp);
}

static uint32_t role_row(const struct identity *d, uint32_t id)
{
    const struct role *role = identity_role(d, id);
    CHECK(role != NULL);
    return (uint32_t)(role - d->roles);
}

static void role_set(struct step *st)
{
    struct identity *d = &st->e->s.identity;
    struct role *role = &d->roles[role_row(d, st->in->identity.role.id)];
    struct stamp stamp = role->stamp;
    record_copy(&record_role, &st->in->identity.role, role, engine_memory(st->e));
    role->stamp = stamp;
    identity_stamp(st, &role->stamp);
}

void rules_change(struct step *st)
{
    struct identity *d = &st->e->s.identity;
    const struct identity_change *c = &st->in->identity;
    if (c->op == IDENTITY_ROLE_ADD) {
        role_add(st);
    } else if (c->op == IDENTITY_ROLE_SET) {
        role_set(st);
    } else if (c->op == IDENTITY_ROLE_REMOVE) {
        uint32_t row = role_row(d, c->role.id);
        memmove(&d->roles[row], &d->roles[row + 1], sizeof(*d->roles) * (d->roles_count - row - 1));
        d->roles_count--;
    } else if (c->op == IDENTITY_RULE_ADD) {
        rule_add(st, &c->rule, false);
    } else {
        const struct access_rule *r = identity_rule(d, c->rule.id);
        CHECK(r != NULL);
        rule_drop(d, (uint32_t)(r - d->rules));
    }
}

/* ---- the plan's rules ---- */

static bool wanted_by_plan(const struct plan *p, const struct access_rule *r)
{
    for (uint32_t i = 0; r->scope.kind == SCOPE_DEPARTMENT && i < p->departments_count; i++) {
        const struct department *d = &p->departments[i];
        if (d->id == r->scope.id) {
            return str_eq(d->owner_group, r->subject);
        }
    }
    for (uint32_t i = 0; r->scope.kind == SCOPE_PROJECT && i < p->projects_count; i++) {
        const struct project *project = &p->projects[i];
        if (project->id == r->scope.id) {
            return str_eq(project->access_group, r->subject);
        }
    }
    return false;
}

static bool plan_has(const struct identity *d, const struct access_rule *r)
{
    for (uint32_t i = 0; i < d->rules_count; i++) {
        if (d->rules[i].from_plan && says_the_same(&d->rules[i], r)) {
            return true;
        }
    }
    return false;
}

static void want(struct step *st, struct str group, uint32_t role, struct scope scope)
{
    struct access_rule r = {
        .subject_kind = SUBJECT_GROUP, .subject = group, .role = role, .scope = scope};
    struct identity *d = &st->e->s.identity;
    if (group.len > 0 && !plan_has(d, &r)) {
        rule_add(st, &r, true);
        d->revision++;
    }
}

void rules_follow_plan(struct step *st)
{
    struct identity *d = &st->e->s.identity;
    const struct plan *p = &st->e->s.plan;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->rules_count; i++) {
        const struct access_rule *r = &d->rules[i];
        if (scope_exists(p, r->scope) && (!r->from_plan || wanted_by_plan(p, r))) {
            d->rules[kept++] = *r;
        }
    }
    d->revision += kept < d->rules_count;
    d->rules_count = kept;
    for (uint32_t i = 0; i < p->departments_count; i++) {
        want(st, p->departments[i].owner_group, ROLE_DEPARTMENT_OWNER,
             (struct scope){SCOPE_DEPARTMENT, p->departments[i].id});
    }
    for (uint32_t i = 0; i < p->projects_count; i++) {
        want(st, p->projects[i].access_group, ROLE_DEVELOPER,
             (struct scope){SCOPE_PROJECT, p->projects[i].id});
    }
}

/* ---- soundness ---- */

bool rules_sound(const struct identity *d)
{
    for (uint32_t i = 0; i < d->roles_count; i++) {
        if (d->roles[i].id < ROLE_CUSTOM_FIRST || d->roles[i].name.len == 0) {
            return false;
        }
    }
    for (uint32_t i = 0; i < d->rules_count; i++) {
        const struct access_rule *r = &d->rules[i];
        if (r->id == 0 || r->id > d->rules_made || r->subject_kind > SUBJECT_GROUP ||
            r->scope.kind > SCOPE_PROJECT || r->subject.len == 0) {
            return false;
        }
    }
    return true;
}

// SPDX-License-Identifier: Apache-2.0
#include "api/runai/people.h"

#include "base/check.h"
#include "base/num.h"

enum { SHOWN_MAX = 100 };

/* ---- who may change whom ---- */

bool people_manage(struct call *c, enum entity e, enum right right, enum subject_kind kind,
                   struct str name, const struct stamp *stamp)
{
    const struct identity *d = identity_of(c);
    bool has_rules = false;
    if (access_allows(call_grants(c), e, right, SCOPE_OF_TENANT)) {
        return call_may(c, e, right, SCOPE_OF_TENANT);
    }
    for (uint32_t i = 0; i < d->rules_count; i++) {
        const struct access_rule *r = &d->rules[i];
        if (r->subject_kind == kind && str_eq(r->subject, name)) {
            has_rules = true;
            if (!call_may(c, e, right, r->scope)) {
                return false;
            }
        }
    }
    if (!has_rules && !str_eq(stamp->created_by, c->user)) {
        call_denied(c, e, right, SCOPE_OF_TENANT);
        return false;
    }
    c->entity = e;
    c->right = right;
    c->decided = true;
    return true;
}

/* ---- changing ---- */

struct change_call {
    void (*done)(struct call *c, const struct outcome *outcome);
};

static void on_changed(struct call *c, const struct outcome *outcome)
{
    const struct change_call *change = c->context;
    if (outcome->status != STATUS_OK) {
        call_fail(c, &outcome->err);
        return;
    }
    change->done(c, outcome);
}

void people_change(struct call *c, const struct identity_change *change,
                   void (*done)(struct call *c, const struct outcome *outcome))
{
    struct change_call *kept = ARENA_NEW(c->arena, struct change_call);
    struct input in = {.kind = INPUT_IDENTITY, .version = INPUT_VERSION, .identity = *change};
    kept->done = done;
    c->context = kept;
    call_command(c, &in, on_changed);
}

void answer_nothing(struct call *c, const struct outcome *outcome)
{
    (void)outcome;
    answer_empty(c, 204);
}

void answer_object(struct call *c, const struct outcome *outcome)
{
    struct jw w;
    (void)outcome;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

/* ---- secrets ---- */

struct str call_secret(struct call *c)
{
    struct secret secret = secret_new(c);
    c->secret = secret.text;
    return secret.hash;
}

void answer_secret(struct call *c, const struct outcome *outcome)
{
    struct jw w;
    (void)outcome;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_string(&w, STR("clientSecret"), c->secret);
    jw_object_end(&w);
    call_send(c, 200);
}

void fail_made_before(struct call *c, const char *what, const char *path)
{
    struct err err;
    err_set(&err, STATUS_CONFLICT, "this %s was made before; its secret is shown once", what);
    err_hint(&err, "POST /api/v1/%s/ID/secret makes a new one", path);
    call_fail(c, &err);
}

/* ---- finding and showing ---- */

const struct user *path_user(struct call *c)
{
    struct uuid id;
    const struct user *u = uuid_parse(c->segments.items[0], &id) ? identity_user(identity_of(c), id)
                                                                 : NULL;
    if (u == NULL) {
        fail_unknown(c, "user", c->segments.items[0]);
    } else {
        call_about(c, u->name);
    }
    return u;
}

const struct application *path_application(struct call *c)
{
    struct uuid id;
    const struct application *a = uuid_parse(c->segments.items[0], &id)
                                      ? identity_application(identity_of(c), id)
                                      : NULL;
    if (a == NULL) {
        fail_unknown(c, "service account", c->segments.items[0]);
    } else {
        call_about(c, a->name);
    }
    return a;
}

void show_when(struct jw *w, struct str key, int64_t at_ms)
{
    if (at_ms > 0) {
        show_moment(w, key, at_ms);
    } else {
        show_null(w, key);
    }
}

/* ---- scopes ---- */

static const struct str scope_types[] = {
    [SCOPE_TENANT] = STRS("tenant"),
    [SCOPE_CLUSTER] = STRS("cluster"),
    [SCOPE_DEPARTMENT] = STRS("department"),
    [SCOPE_PROJECT] = STRS("project"),
};

struct str scope_type(enum scope_kind kind)
{
    return scope_types[kind];
}

struct str scope_id(const struct call *c, struct scope s)
{
    return s.kind == SCOPE_CLUSTER ? cluster_id_text(c) : arena_printf(c->arena, "%u", s.id);
}

struct str scope_name(const struct call *c, struct scope s)
{
    struct str id = arena_printf(c->arena, "%u", s.id);
    const struct department *d = NULL;
    const struct project *p = NULL;
    switch (s.kind) {
    case SCOPE_TENANT:
        return STR("tenant");
    case SCOPE_CLUSTER:
        return state_of(c)->cluster_name;
    case SCOPE_DEPARTMENT:
        d = find_department_id(c, id);
        return d != NULL ? d->name : STR("");
    case SCOPE_PROJECT:
        p = find_project_id(c, id);
        return p != NULL ? p->name : STR("");
    }
    return STR("");
}

static bool find_scope(const struct call *c, enum scope_kind kind, struct str id, struct scope *out)
{
    struct uuid cluster;
    const struct department *d = NULL;
    const struct project *p = NULL;
    switch (kind) {
    case SCOPE_TENANT:
        *out = SCOPE_OF_TENANT;
        return str_eq(id, scope_id(c, SCOPE_OF_TENANT));
    case SCOPE_CLUSTER:
        *out = SCOPE_OF_CLUSTER;
        return uuid_parse(id, &cluster) && uuid_eq(cluster, state_of(c)->cluster_id);
    case SCOPE_DEPARTMENT:
        d = find_department_id(c, id);
        *out = scope_of_department(d != NULL ? d->id : 0);
        return d != NULL;
    case SCOPE_PROJECT:
        p = find_project_id(c, id);
        *out = scope_of_project(p != NULL ? p->id : 0);
        return p != NULL;
    }
    return false;
}

enum status scope_read(const struct call *c, struct str type, struct str id, struct scope *out,
                       struct err *err)
{
    for (uint32_t kind = 0; kind < COUNT_OF(scope_types); kind++) {
        if (str_eq(type, scope_types[kind]) && find_scope(c, (enum scope_kind)kind, id, out)) {
            return STATUS_OK;
        }
    }
    err_set(err, STATUS_UNKNOWN, "there is no " STR_FMT " " STR_FMT, STR_ARG(type),
            STR_ARG(str_clip(id, SHOWN_MAX)));
    err_field(err, "scopeId");
    return STATUS_UNKNOWN;
}

bool scope_given(struct call *c, const struct doc *map, const char *prefix, struct scope *out)
{
    static const struct str members[] = {
        [SCOPE_TENANT] = STRS(""),
        [SCOPE_CLUSTER] = STRS("clusterId"),
        [SCOPE_DEPARTMENT] = STRS("departmentId"),
        [SCOPE_PROJECT] = STRS("projectId"),
    };
    struct str type = body_str(map, STR("scope"));
    struct err err;
    for (uint32_t kind = 0; kind < COUNT_OF(members); kind++) {
        if (!str_eq(type, scope_type((enum scope_kind)kind))) {
            continue;
        }
        const struct doc *id = body_get(map, members[kind]);
        struct scope above = kind == SCOPE_CLUSTER ? SCOPE_OF_CLUSTER : SCOPE_OF_TENANT;
        struct str text = id != NULL              ? id->text
                          : kind <= SCOPE_CLUSTER ? scope_id(c, above)
                                                  : STR("");
        if (scope_read(c, type, text, out, &err) != STATUS_OK) {
            err_field(&err, "%s" STR_FMT, prefix, STR_ARG(members[kind]));
            c->value = str_clip(text, SHOWN_MAX);
            call_reject(c, &err);
            return false;
        }
        return true;
    }
    CHECK(false); /* its schema has these words alone */
    return false;
}

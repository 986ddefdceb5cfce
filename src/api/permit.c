// SPDX-License-Identifier: Apache-2.0
#include "api/permit.h"

#include "api/call.h"
#include "base/check.h"
#include "base/num.h"

enum { NAME_SHOWN = 100 };

/* ---- the text ---- */

static unsigned read_rights(struct str word)
{
    enum right right;
    if (str_eq(word, STR("change"))) {
        return RIGHT_CREATE | RIGHT_UPDATE | RIGHT_DELETE;
    }
    CHECK(right_find(word, &right));
    return right;
}

static void read_asks(struct str text, struct permit *p)
{
    struct str ask;
    while (str_split(&text, ',', &ask)) {
        struct str right;
        ask = str_trim(ask);
        CHECK(p->asks_count < PERMIT_ASKS_MAX);
        struct permit_ask *a = &p->asks[p->asks_count++];
        CHECK(str_split(&ask, ' ', &right));
        a->rights = read_rights(right);
        CHECK(entity_find(ask, &a->entity));
    }
}

static void read_place(struct str text, struct permit *p)
{
    static const struct {
        struct str word;
        enum permit_where where;
        bool by_id;
    } places[] = {
        {STRS("tenant"),        PERMIT_TENANT,     false},
        {STRS("cluster"),       PERMIT_CLUSTER,    false},
        {STRS("department"),    PERMIT_DEPARTMENT, false},
        {STRS("department-id"), PERMIT_DEPARTMENT, true },
        {STRS("project"),       PERMIT_PROJECT,    false},
        {STRS("project-id"),    PERMIT_PROJECT,    true },
        {STRS("workload"),      PERMIT_WORKLOAD,   false},
    };
    struct str word;
    CHECK(str_split(&text, ' ', &word));
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        if (str_eq(word, places[i].word)) {
            p->where = places[i].where;
            p->by_id = places[i].by_id;
            p->from = text;
            CHECK((p->where >= PERMIT_DEPARTMENT) == (text.len > 0));
            return;
        }
    }
    CHECK(false);
}

struct permit permit_read(const char *words)
{
    static const struct str at = STRS(" at ");
    static const struct str anywhere = STRS(" anywhere");
    struct permit p = {.where = PERMIT_SOMEWHERE};
    struct str text = str_from_c(words);
    if (str_eq(text, STR("open")) || str_eq(text, STR("self"))) {
        p.where = str_eq(text, STR("open")) ? PERMIT_OPEN : PERMIT_SELF;
        return p;
    }
    if (str_ends(text, anywhere)) {
        p.where = PERMIT_ANYWHERE;
        text = str_sub(text, 0, text.len - anywhere.len);
    }
    uint32_t end = 0;
    while (end < text.len && !str_starts(str_sub(text, end, text.len), at)) {
        end++;
    }
    read_asks(str_sub(text, 0, end), &p);
    if (end < text.len) {
        read_place(str_sub(text, end + at.len, text.len), &p);
    }
    return p;
}

/* ---- where ---- */

/* The text that stands for the thing: of the path, else of the body, else of the query. */
static struct str text_of(const struct call *c, struct str name)
{
    struct str path = str_from_c(c->entry->route->path);
    struct route_part part;
    uint32_t at = 0;
    while (route_part(&path, &part)) {
        if (part.parameter && str_eq(part.text, name)) {
            return c->segments.items[at];
        }
        at += part.parameter;
    }
    const struct doc *d = doc_at(c->body, name);
    d = d != NULL ? d : doc_at(c->args, name);
    return d != NULL ? d->text : (struct str){0};
}

static const struct plan *plan_of(const struct call *c)
{
    return &engine_state(c->api->config.engine)->plan;
}

static bool find_row(struct call *c, const struct permit *p, struct str text)
{
    const struct plan *plan = plan_of(c);
    const struct scope_tree *tree = &call_grants(c)->book->tree;
    bool project = p->where == PERMIT_PROJECT;
    uint64_t id;
    if (p->by_id) {
        return num_parse_u64(text, &id) &&
               map_get_u64(project ? &tree->projects : &tree->departments, id, &c->row);
    }
    uint32_t count = project ? plan->projects_count : plan->departments_count;
    for (uint32_t i = 0; i < count; i++) {
        if (str_eq(project ? plan->projects[i].name : plan->departments[i].name, text)) {
            c->row = i;
            return true;
        }
    }
    return false;
}

/* It is not there, or not for them: with the nearest name of those they see. */
static void answer_unknown_queue(struct call *c, const struct permit *p, struct str text)
{
    const struct plan *plan = plan_of(c);
    bool project = p->where == PERMIT_PROJECT;
    const char *what = project ? "project" : "department";
    struct sight *sight = call_sight(c);
    uint32_t count = project ? plan->projects_count : plan->departments_count;
    struct str *names = ARENA_ARRAY(c->arena, struct str, count);
    uint32_t seen = 0;
    struct err err;
    for (uint32_t i = 0; i < count; i++) {
        if (project ? sight_project(sight, i) : sight_department(sight, i)) {
            names[seen++] = project ? plan->projects[i].name : plan->departments[i].name;
        }
    }
    struct str shown = str_sub(text, 0, NAME_SHOWN);
    err_set(&err, STATUS_UNKNOWN, "there is no %s \"" STR_FMT "\"", what, STR_ARG(shown));
    uint32_t near = str_nearest(shown, names, seen);
    if (near < seen && !p->by_id) {
        err_hint(&err, "did you mean \"" STR_FMT "\"?", STR_ARG(names[near]));
    } else {
        err_hint(&err, "weir %s list shows those there are", what);
    }
    c->value = text;
    err_field(&err, STR_FMT, STR_ARG(p->from));
    call_reject(c, &err);
}

static void answer_unknown_workload(struct call *c)
{
    struct err err;
    struct uuid id;
    if (c->segments.count == 1 || uuid_parse(c->segments.items[0], &id)) {
        err_set(&err, STATUS_UNKNOWN, "there is no workload " STR_FMT,
                STR_ARG(c->segments.items[0]));
    } else {
        err_set(&err, STATUS_UNKNOWN, "project " STR_FMT " has no workload \"" STR_FMT "\"",
                STR_ARG(str_sub(c->segments.items[0], 0, NAME_SHOWN)),
                STR_ARG(str_sub(c->segments.items[1], 0, NAME_SHOWN)));
    }
    err_hint(&err, "weir workload list -A shows those there are");
    call_reject(c, &err);
}

static void answer_unknown(struct call *c, const struct permit *p)
{
    if (p->where == PERMIT_WORKLOAD) {
        answer_unknown_workload(c);
    } else {
        answer_unknown_queue(c, p, text_of(c, p->from));
    }
}

static bool find_workload(struct call *c)
{
    const struct engine *engine = c->api->config.engine;
    struct uuid id;
    const struct route_segments *s = &c->segments;
    c->workload = uuid_parse(s->items[0], &id) ? engine_find(engine, id)
                                               : engine_find_name(engine, s->items[0], s->items[1]);
    return c->workload != NULL;
}

/* Finds what the request is about; false: it is not there. */
static bool find_scope(struct call *c, const struct permit *p)
{
    const struct plan *plan = plan_of(c);
    c->scope = SCOPE_OF_CLUSTER;
    switch (p->where) {
    case PERMIT_TENANT:
        c->scope = SCOPE_OF_TENANT;
        return true;
    case PERMIT_DEPARTMENT:
        if (!find_row(c, p, text_of(c, p->from))) {
            return false;
        }
        if (p->asks[0].entity == ENTITY_DEPARTMENTS) {
            call_about(c, plan->departments[c->row].name);
        }
        c->scope = scope_of_department(plan->departments[c->row].id);
        return true;
    case PERMIT_PROJECT:
        if (!find_row(c, p, text_of(c, p->from))) {
            return false;
        }
        if (p->asks[0].entity == ENTITY_PROJECTS) {
            call_about(c, plan->projects[c->row].name);
        }
        c->scope = scope_of_project(plan->projects[c->row].id);
        return true;
    case PERMIT_WORKLOAD:
        if (!find_workload(c)) {
            return false;
        }
        c->row = engine_project_row(c->api->config.engine, c->workload);
        c->scope = c->row == IX_NONE ? SCOPE_OF_CLUSTER
                                     : scope_of_project(plan->projects[c->row].id);
        return true;
    case PERMIT_OPEN:
    case PERMIT_SELF:
    case PERMIT_SOMEWHERE:
    case PERMIT_ANYWHERE:
    case PERMIT_CLUSTER:
        return true;
    }
    return true;
}

/* ---- the decision ---- */

/* The author of a command that comes again under its key was allowed to give it; what it was about
 * may be gone by now. */
static bool is_repeated(struct call *c)
{
    struct uuid id;
    if (call_is_read(c) || !call_answered(c, &id)) {
        return false;
    }
    c->workload = engine_find(c->api->config.engine, id);
    return true;
}

static bool allows(struct call *c, const struct permit *p, enum entity e, enum right right)
{
    const struct grants *g = call_grants(c);
    bool anywhere = p->where == PERMIT_SOMEWHERE || p->where == PERMIT_ANYWHERE;
    return anywhere ? access_anywhere(g, e, right) : access_allows(g, e, right, c->scope);
}

/* Of the rights that are asked for, the first that is not given; 0: all are. */
static enum right missing(struct call *c, const struct permit *p, const struct permit_ask *ask,
                          enum entity e)
{
    for (unsigned r = RIGHT_CREATE; r <= RIGHT_DELETE; r *= 2) {
        if ((ask->rights & r) != 0 && !allows(c, p, e, (enum right)r)) {
            return (enum right)r;
        }
    }
    return 0;
}

static bool deny(struct call *c, const struct permit *p, enum entity e, enum right right)
{
    bool about_one = p->where >= PERMIT_DEPARTMENT;
    c->entity = e;
    c->right = right;
    if (about_one && (right == RIGHT_READ || !allows(c, p, e, RIGHT_READ))) {
        answer_unknown(c, p);
        return false;
    }
    call_denied(c, e, right, c->scope);
    return false;
}

enum status permit_owns(struct call *c, const struct workload *wl, struct scope scope,
                        struct err *err)
{
    const struct identity *identity = &engine_state(c->api->config.engine)->identity;
    if (!identity->protect_ownership || str_eq(wl->author, c->user) ||
        access_allows(call_grants(c), ENTITY_ACCESS_RULES, RIGHT_UPDATE, scope)) {
        return STATUS_OK;
    }
    err_set(err, STATUS_DENIED, "workload \"" STR_FMT "\" is " STR_FMT "'s, and is protected",
            STR_ARG(wl->name), STR_ARG(wl->author));
    return err_hint(err, "its owner, or who administers access in the project, may do this");
}

static bool owns(struct call *c, const struct permit *p)
{
    struct err err;
    if (p->where != PERMIT_WORKLOAD || (p->asks[0].rights & ~(unsigned)RIGHT_READ) == 0 ||
        permit_owns(c, c->workload, c->scope, &err) == STATUS_OK) {
        return true;
    }
    call_refuse(c, NULL, &err);
    return false;
}

/* What the audit calls it: of several rights, that a thing is changed. */
static enum right main_right(unsigned rights)
{
    switch (rights) {
    case RIGHT_CREATE:
        return RIGHT_CREATE;
    case RIGHT_READ:
        return RIGHT_READ;
    case RIGHT_DELETE:
        return RIGHT_DELETE;
    default:
        return RIGHT_UPDATE;
    }
}

bool permit_decide(struct call *c)
{
    const struct permit *p = &c->entry->permit;
    if (p->where == PERMIT_OPEN || p->where == PERMIT_SELF) {
        c->decided = true;
        c->scope = SCOPE_OF_TENANT;
        return true;
    }
    if (p->where == PERMIT_WORKLOAD && is_repeated(c)) {
        c->decided = true;
        return true;
    }
    if (!find_scope(c, p)) {
        answer_unknown(c, p);
        return false;
    }
    for (uint32_t i = 0; i < p->asks_count; i++) {
        const struct permit_ask *ask = &p->asks[i];
        enum entity e = p->where == PERMIT_WORKLOAD ? entity_of_kind(c->workload->kind)
                                                    : ask->entity;
        enum right lacking = missing(c, p, ask, e);
        if (lacking != 0) {
            return deny(c, p, e, lacking);
        }
        c->entity = e;
        c->right = main_right(ask->rights);
    }
    c->decided = p->where != PERMIT_SOMEWHERE;
    return owns(c, p);
}

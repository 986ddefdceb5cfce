// SPDX-License-Identifier: Apache-2.0
#include "api/runai/edits.h"

enum { TRIES_MAX = 100 };

static void send_edit(struct call *c, struct edit *edit);

static void on_edited(struct call *c, const struct outcome *outcome)
{
    struct edit *edit = c->context;
    if (outcome->status == STATUS_CONFLICT && ++edit->tries < TRIES_MAX) {
        send_edit(c, edit); /* made on what is no longer there */
    } else if (outcome->status != STATUS_OK) {
        call_fail(c, &outcome->err);
    } else {
        edit->done(c);
    }
}

static void send_edit(struct call *c, struct edit *edit)
{
    struct input in = {.kind = INPUT_PLAN_APPLY, .version = INPUT_VERSION};
    in.plan_apply.base_revision = state_of(c)->plan_revision;
    if (edit->build(c, &in.plan_apply)) {
        call_command(c, &in, on_edited);
    }
}

void edit_plan(struct call *c, struct edit *edit)
{
    struct edit *kept = ARENA_NEW(c->arena, struct edit);
    *kept = *edit;
    c->context = kept;
    send_edit(c, kept);
}

struct project *edit_project(struct call *c, const struct project *from, struct plan_apply *out)
{
    struct project *p = ARENA_NEW(c->arena, struct project);
    if (from != NULL) {
        record_copy(&record_project, from, p, c->arena);
    }
    out->plan.projects = p;
    out->plan.projects_count = 1;
    return p;
}

struct department *edit_department(struct call *c, const struct department *from,
                                   struct plan_apply *out)
{
    struct department *d = ARENA_NEW(c->arena, struct department);
    if (from != NULL) {
        record_copy(&record_department, from, d, c->arena);
    }
    out->plan.departments = d;
    out->plan.departments_count = 1;
    return d;
}

struct pool *edit_pool(struct call *c, const struct pool *from, struct plan_apply *out)
{
    struct pool *p = ARENA_NEW(c->arena, struct pool);
    if (from != NULL) {
        record_copy(&record_pool, from, p, c->arena);
    }
    out->plan.pools = p;
    out->plan.pools_count = 1;
    return p;
}

/* ---- of any kind ---- */

/* A row of the plan. */
struct row {
    const struct project *project; /* one of the three */
    const struct department *department;
    const struct pool *pool;
    uint32_t id;
    struct str name;
    const struct stamp *stamp;
    const struct quota *quotas;
    uint32_t quotas_count;
};

static bool row_of(struct row *r, const struct project *p, const struct department *d,
                   const struct pool *pool)
{
    *r = (struct row){.project = p, .department = d, .pool = pool};
    if (p != NULL) {
        r->id = p->id;
        r->name = p->name;
        r->stamp = &p->stamp;
        r->quotas = p->quotas;
        r->quotas_count = p->quotas_count;
    } else if (d != NULL) {
        r->id = d->id;
        r->name = d->name;
        r->stamp = &d->stamp;
        r->quotas = d->quotas;
        r->quotas_count = d->quotas_count;
    } else if (pool != NULL) {
        r->id = pool->id;
        r->name = pool->name;
        r->stamp = &pool->stamp;
    }
    return r->id > 0;
}

/* That of the path; false: answered. */
static bool path_row(struct call *c, enum plan_object what, struct row *r)
{
    return row_of(r, what == PLAN_PROJECT ? path_project(c) : NULL,
                  what == PLAN_DEPARTMENT ? path_department(c) : NULL,
                  what == PLAN_POOL ? path_pool(c) : NULL);
}

static bool named_row(const struct call *c, enum plan_object what, struct str name, struct row *r)
{
    return row_of(r, what == PLAN_PROJECT ? show_find_project(plan_of(c), name) : NULL,
                  what == PLAN_DEPARTMENT ? find_department_name(c, name) : NULL,
                  what == PLAN_POOL ? find_pool_name(c, name) : NULL);
}

bool edit_is_new(struct call *c, struct str name, const struct plan_apply *out)
{
    static const struct {
        const char *word, *change;
    } kinds[] = {
        [PLAN_POOL] = {"node pool",  "PATCH /api/v1/node-pools"        },
        [PLAN_DEPARTMENT] = {"department", "PUT /api/v1/org-unit/departments"},
        [PLAN_PROJECT] = {"project",    "PUT /api/v1/org-unit/projects"   },
    };
    const struct edit *edit = c->context;
    struct row same;
    struct plan merged;
    struct err err;
    if (!named_row(c, edit->what, name, &same)) {
        return true;
    }
    plan_merge(plan_of(c), &out->plan, false, c->arena, &merged);
    if (was_just_made(c, same.stamp) && record_eq(&record_plan, &merged, plan_of(c))) {
        edit->done(c);
        return false;
    }
    err_set(&err, STATUS_CONFLICT, "there is a %s \"" STR_FMT "\" already", kinds[edit->what].word,
            STR_ARG(name));
    err_field(&err, "name");
    err_hint(&err, "change it with %s/%u", kinds[edit->what].change, same.id);
    call_refuse(c, NULL, &err);
    return false;
}

static bool build_resources(struct call *c, struct plan_apply *out)
{
    const struct edit *edit = c->context;
    bool patch = str_eq(c->request->method, STR("PATCH"));
    struct row r;
    struct quota *quotas;
    uint32_t count;
    if (!path_row(c, edit->what, &r) ||
        !quotas_read(c, c->body, patch, r.quotas, r.quotas_count, &quotas, &count)) {
        return false;
    }
    if (r.project != NULL) {
        struct project *p = edit_project(c, r.project, out);
        p->quotas = quotas;
        p->quotas_count = count;
    } else {
        struct department *d = edit_department(c, r.department, out);
        d->quotas = quotas;
        d->quotas_count = count;
    }
    return true;
}

static void on_resources(struct call *c)
{
    const struct edit *edit = c->context;
    struct row r;
    struct jw w;
    if (path_row(c, edit->what, &r)) {
        call_begin(c, &w);
        quotas_show(c, &w, (struct str){0}, r.quotas, r.quotas_count);
        call_send(c, 200);
    }
}

void edit_resources(struct call *c, enum plan_object what)
{
    edit_plan(c, &(struct edit){what, build_resources, on_resources, 0});
}

static bool build_delete(struct call *c, struct plan_apply *out)
{
    const struct edit *edit = c->context;
    struct row r;
    if (!path_row(c, edit->what, &r)) {
        return false;
    }
    out->removals = ARENA_NEW(c->arena, struct plan_removal);
    out->removals_count = 1;
    out->removals[0] = (struct plan_removal){edit->what, arena_str(c->arena, r.name)};
    return true;
}

static void on_deleted(struct call *c)
{
    answer_empty(c, 204);
}

void edit_delete(struct call *c, enum plan_object what)
{
    edit_plan(c, &(struct edit){what, build_delete, on_deleted, 0});
}

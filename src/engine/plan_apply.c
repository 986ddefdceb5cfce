// SPDX-License-Identifier: Apache-2.0
// plan_apply: the plan is changed as a whole or not at all. Whoever wrote the file is told its
// faults with positions before it comes here; here the same rules are applied again, and those
// that need the state: nothing that work holds is taken away under it.
#include <inttypes.h>

#include "base/check.h"
#include "base/num.h"
#include "engine/machine.h"
#include "model/ids.h"
#include "model/limits.h"

static bool refuse(struct outcome *out, enum status status, const char *hint)
{
    out->status = status;
    err_hint(&out->err, "%s", hint);
    return false;
}

/* ---- form ---- */

static bool form_ok(const struct engine *e, const struct plan *merged, struct outcome *out)
{
    struct problems problems;
    problems_init(&problems, &e->self->scratch);
    plan_check(merged, NULL, NULL, 0, &problems);
    if (problems.error_count > 0) {
        out->status = problems_to_err(&problems, &out->err);
        return false;
    }
    for (uint32_t i = 0; i < merged->projects_count; i++) {
        const struct project *p = &merged->projects[i];
        if (tables_department(merged, p->department) == IX_NONE) {
            err_set(&out->err, STATUS_INVALID,
                    "project \"%.*s\" is in department \"%.*s\", "
                    "which is not in the plan",
                    STR_ARG(p->name), STR_ARG(p->department));
            return refuse(out, STATUS_INVALID, "keep the department, or move the project");
        }
    }
    return true;
}

/* ---- against what there is ---- */

static bool is_live(const struct workload *w)
{
    return w->end_ms == TIME_NEVER;
}

static bool projects_free(const struct engine *e, const struct plan *merged, struct outcome *out)
{
    for (uint32_t i = 0; i < e->s.workloads_count; i++) {
        const struct workload *w = &e->s.workloads[i];
        if (is_live(w) && tables_project(merged, w->project) == IX_NONE) {
            err_set(&out->err, STATUS_IN_USE,
                    "project \"%.*s\" cannot be removed: its workload \"%.*s\" has not ended",
                    STR_ARG(w->project), STR_ARG(w->name));
            return refuse(out, STATUS_IN_USE, "delete its workloads first, or keep it in the file");
        }
    }
    return true;
}

static bool pools_free(const struct engine *e, const struct plan *merged, struct outcome *out)
{
    for (uint32_t i = 0; i < e->s.workloads_count; i++) {
        const struct workload *w = &e->s.workloads[i];
        struct str gone = {0};
        bool elsewhere = false;
        for (uint32_t k = 0; is_live(w) && k < w->spec.pools_count; k++) {
            struct str pool = w->spec.pools[k].value;
            bool stays = tables_pool(merged, pool) != IX_NONE;
            elsewhere = elsewhere || stays;
            gone = stays ? gone : pool;
        }
        for (uint32_t k = 0; k < w->pods_count && gone.ptr; k++) {
            if (pod_holds(&w->pods[k])) {
                uint32_t node = tables_node(&e->s, w->pods[k].node);
                struct str pool = e->s.plan.pools[e->t.node_rows[node].pool].name;
                bool stays = tables_pool(merged, pool) != IX_NONE;
                elsewhere = elsewhere && stays;
                gone = stays ? gone : pool;
            }
        }
        if (gone.ptr && !elsewhere) {
            err_set(&out->err, STATUS_IN_USE,
                    "node pool \"%.*s\" cannot be removed: workload \"%.*s\" of project \"%.*s\" "
                    "is in it",
                    STR_ARG(gone), STR_ARG(w->name), STR_ARG(w->project));
            return refuse(out, STATUS_IN_USE,
                          "delete its workloads first, or keep the pool in the file");
        }
    }
    return true;
}

/* ---- removals ---- */

static const char *const objects[] = {
    [PLAN_POOL] = "node pool", [PLAN_DEPARTMENT] = "department", [PLAN_PROJECT] = "project"};

static bool department_empty(const struct plan *p, struct str name, struct outcome *out)
{
    const char *what = NULL;
    struct str inside = {0};
    for (uint32_t i = 0; i < p->departments_count; i++) {
        if (str_eq(p->departments[i].parent, name)) {
            what = "department";
            inside = p->departments[i].name;
        }
    }
    for (uint32_t i = 0; i < p->projects_count; i++) {
        if (str_eq(p->projects[i].department, name)) {
            what = "project";
            inside = p->projects[i].name;
        }
    }
    if (what) {
        err_set(&out->err, STATUS_IN_USE,
                "department \"%.*s\" cannot be removed: %s \"%.*s\" is in it", STR_ARG(name), what,
                STR_ARG(inside));
        return refuse(out, STATUS_IN_USE, "remove or move what is in it first");
    }
    return true;
}

static bool remove_all(const struct plan_apply *pa, struct plan *merged, struct outcome *out)
{
    for (uint32_t i = 0; i < pa->removals_count; i++) {
        const struct plan_removal *r = &pa->removals[i];
        struct str name = str_sub(r->name, 0, 100);
        bool known = r->what <= PLAN_PROJECT;
        if (known && r->what != PLAN_PROJECT && str_eq(r->name, DEFAULT_NAME)) {
            err_set(&out->err, STATUS_IN_USE, "%s \"default\" is always there", objects[r->what]);
            return refuse(out, STATUS_IN_USE, "work that names no other goes there");
        }
        if (!known || !plan_remove(merged, r->what, r->name)) {
            err_set(&out->err, STATUS_UNKNOWN, "there is no %s \"%.*s\"",
                    known ? objects[r->what] : "such thing as", STR_ARG(name));
            return refuse(out, STATUS_UNKNOWN, "weir plan show tells what there is");
        }
        if (r->what == PLAN_DEPARTMENT && !department_empty(merged, r->name, out)) {
            return false;
        }
    }
    return true;
}

/* ---- guarantees under running non-preemptible work ---- */

// What non-preemptible work that nobody has told to stop holds of one queue, by plan.
struct books {
    const struct plan *plan;
    uint32_t *parent;
    struct held *projects, *departments; /* [pool * count + queue] */
};

static void book(const struct engine *e, const struct books *b, const struct workload *w,
                 const struct pod *p)
{
    uint32_t node = tables_node(&e->s, p->node);
    uint32_t project = tables_project(b->plan, w->project);
    if (NEVER(node == IX_NONE || project == IX_NONE)) {
        return;
    }
    uint32_t pool = tables_pool_of(b->plan, &e->s.nodes[node]);
    struct held h = pod_amounts(w, p);
    held_add(&b->projects[pool * b->plan->projects_count + project], &h, false);
    uint32_t up = tables_department(b->plan, b->plan->projects[project].department);
    for (; up != IX_NONE; up = b->parent[up]) {
        held_add(&b->departments[pool * b->plan->departments_count + up], &h, false);
    }
}

static void keep_books(const struct engine *e, const struct plan *plan, struct books *b)
{
    struct arena *a = &e->self->scratch;
    b->plan = plan;
    b->parent = ARENA_ARRAY(a, uint32_t, plan->departments_count);
    CHECK(tables_departments(plan, b->parent));
    b->projects = ARENA_ARRAY(a, struct held, (size_t)plan->pools_count * plan->projects_count);
    b->departments = ARENA_ARRAY(a, struct held,
                                 (size_t)plan->pools_count * plan->departments_count);
    for (uint32_t i = 0; i < e->s.workloads_count; i++) {
        const struct workload *w = &e->s.workloads[i];
        for (uint32_t k = 0; k < w->pods_count; k++) {
            enum pod_phase phase = w->pods[k].phase;
            if (w->spec.preemptibility == NON_PREEMPTIBLE &&
                (phase == POD_BINDING || phase == POD_RUNNING)) {
                book(e, b, w, &w->pods[k]);
            }
        }
    }
}

// Over what is guaranteed, and more so than it was: of which resource? NULL: it is not.
static const char *newly_over(const struct held *h, const struct quota *q, const struct quota *was)
{
    if (h->gpu_share_nonpreemptible > q->gpu_share && q->gpu_share < was->gpu_share) {
        return "devices";
    }
    if (!amount_le(h->cpu_milli_nonpreemptible, q->cpu_milli) &&
        !amount_le(was->cpu_milli, q->cpu_milli)) {
        return "CPU";
    }
    if (!amount_le(h->memory_bytes_nonpreemptible, q->memory_bytes) &&
        !amount_le(was->memory_bytes, q->memory_bytes)) {
        return "memory";
    }
    return NULL;
}

static bool guarantee_ok(const char *what, struct str name, const struct held *h,
                         const struct quota *q, const struct quota *was, struct outcome *out)
{
    const char *resource = newly_over(h, q, was);
    if (!resource) {
        return true;
    }
    err_set(&out->err, STATUS_IN_USE,
            "%s \"%.*s\" cannot have its guarantee of %s in pool \"%.*s\" lowered under what its "
            "running non-preemptible work holds",
            what, STR_ARG(name), resource, STR_ARG(q->pool));
    return refuse(out, STATUS_IN_USE, "suspend or delete such work first");
}

static bool guarantees_ok(const struct engine *e, const struct plan *merged, struct outcome *out)
{
    const struct plan *old = &e->s.plan;
    struct books b;
    keep_books(e, merged, &b);
    for (uint32_t pool = 0; pool < merged->pools_count; pool++) {
        struct str name = merged->pools[pool].name;
        for (uint32_t i = 0; i < merged->projects_count; i++) {
            const struct project *p = &merged->projects[i];
            uint32_t at = tables_project(old, p->name);
            const struct project *o = at == IX_NONE ? p : &old->projects[at];
            struct quota q = plan_quota(p->quotas, p->quotas_count, name);
            struct quota was = plan_quota(o->quotas, o->quotas_count, name);
            if (!guarantee_ok("project", p->name, &b.projects[pool * merged->projects_count + i],
                              &q, &was, out)) {
                return false;
            }
        }
        for (uint32_t i = 0; i < merged->departments_count; i++) {
            const struct department *d = &merged->departments[i];
            uint32_t at = tables_department(old, d->name);
            const struct department *o = at == IX_NONE ? d : &old->departments[at];
            struct quota q = plan_quota(d->quotas, d->quotas_count, name);
            struct quota was = plan_quota(o->quotas, o->quotas_count, name);
            if (!guarantee_ok("department", d->name,
                              &b.departments[pool * merged->departments_count + i], &q, &was,
                              out)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- the command ---- */

void plan_apply_check(const struct engine *e, const struct input *in, struct plan *merged,
                      struct outcome *out)
{
    const struct plan_apply *pa = &in->plan_apply;
    struct arena *scratch = &e->self->scratch;
    out->revision = e->s.plan_revision;
    if (!plan_sorted(&pa->plan)) {
        out->status = err_set(
            &out->err, STATUS_INVALID,
            "names of pools, departments and projects must be there once, in order");
        return;
    }
    plan_merge(&e->s.plan, &pa->plan, pa->prune, scratch, merged);
    if (!remove_all(pa, merged, out)) {
        return;
    }
    if (record_eq(&record_plan, merged, &e->s.plan)) {
        return; // said before, or by somebody else: it is so
    }
    if (pa->base_revision != 0 && pa->base_revision != e->s.plan_revision) {
        err_set(&out->err, STATUS_CONFLICT,
                "the plan is at revision %" PRId64
                ", this change was made against revision %" PRId64,
                e->s.plan_revision, pa->base_revision);
        refuse(out, STATUS_CONFLICT, "weir plan diff shows what changed since");
        return;
    }
    if (!form_ok(e, merged, out)) {
        return;
    }
    if (!plan_sound(merged, scratch)) {
        err_set(&out->err, STATUS_INVALID,
                "the plan contradicts itself: a name, an amount or a parent is wrong");
        refuse(out, STATUS_INVALID, "weir plan check FILE says where");
        return;
    }
    if (projects_free(e, merged, out) && pools_free(e, merged, out) &&
        guarantees_ok(e, merged, out)) {
        out->revision = e->s.plan_revision + 1;
    }
}

// Pools that are gone leave the lists of those that named them.
static void forget_pools(struct engine *e)
{
    for (uint32_t i = 0; i < e->s.workloads_count; i++) {
        struct workload *w = &e->s.workloads[i];
        w->tried_count = 0; // another plan: each pool is worth a try
        uint32_t kept = 0;
        uint32_t pool_ix = 0;
        for (uint32_t k = 0; k < w->spec.pools_count; k++) {
            if (tables_pool(&e->s.plan, w->spec.pools[k].value) == IX_NONE) {
                continue;
            }
            if (k <= w->pool_ix) {
                pool_ix = kept;
            }
            w->spec.pools[kept++] = w->spec.pools[k];
        }
        w->spec.pools_count = kept;
        w->pool_ix = pool_ix;
    }
}

static void stamp(struct step *st, struct stamp *s, bool is_new)
{
    struct arena *a = engine_memory(st->e);
    if (is_new) {
        s->created_ms = st->now_ms;
        s->created_by = arena_str(a, st->in->author);
    }
    s->updated_ms = st->now_ms;
    s->updated_by = arena_str(a, st->in->author);
}

// Gives ids to what is new, and notes who changed what.
static void sign(struct step *st, const struct plan *old)
{
    struct engine *e = st->e;
    struct plan *p = &e->s.plan;
    for (uint32_t i = 0; i < p->pools_count; i++) {
        uint32_t was = tables_pool(old, p->pools[i].name);
        if (was == IX_NONE || !record_eq(&record_pool, &old->pools[was], &p->pools[i])) {
            stamp(st, &p->pools[i].stamp, was == IX_NONE);
        }
        if (p->pools[i].id == 0) {
            p->pools[i].id = num_u32((uint64_t)e->s.next_id++);
        }
    }
    for (uint32_t i = 0; i < p->departments_count; i++) {
        struct department *d = &p->departments[i];
        uint32_t was = tables_department(old, d->name);
        if (was == IX_NONE || !record_eq(&record_department, &old->departments[was], d)) {
            stamp(st, &d->stamp, was == IX_NONE);
        }
        if (d->id == 0) {
            d->id = num_u32((uint64_t)e->s.next_id++);
        }
    }
    for (uint32_t i = 0; i < p->projects_count; i++) {
        uint32_t was = tables_project(old, p->projects[i].name);
        if (was == IX_NONE || !record_eq(&record_project, &old->projects[was], &p->projects[i])) {
            stamp(st, &p->projects[i].stamp, was == IX_NONE);
        }
        if (p->projects[i].id == 0) {
            p->projects[i].id = num_u32((uint64_t)e->s.next_id++);
        }
    }
}

void plan_apply_do(struct step *st, const struct plan *merged)
{
    struct engine *e = st->e;
    if (record_eq(&record_plan, merged, &e->s.plan)) {
        return;
    }
    usage_book_all(e);
    const struct plan old = e->s.plan;
    record_copy(&record_plan, merged, &e->s.plan, engine_memory(e));
    sign(st, &old);
    e->s.plan_revision++;
    forget_pools(e);
    usage_forget(e);
    tables_build(e);
    rules_follow_plan(st);
    assets_follow_plan(st);
    policies_follow_plan(st);
}

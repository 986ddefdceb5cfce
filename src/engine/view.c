// SPDX-License-Identifier: Apache-2.0
// view: questions about the state that readers ask.
#include "base/check.h"
#include "engine/machine.h"
#include "model/ids.h"
#include "model/limits.h"

const struct workload *engine_find(const struct engine *e, struct uuid id)
{
    uint32_t row;
    return map_get(&e->t.workloads, uuid_bytes(&id), &row) ? &e->s.workloads[row] : NULL;
}

const struct workload *engine_find_name(const struct engine *e, struct str project, struct str name)
{
    // The newest of a name is the live one, if there is one: no other is accepted while it lives.
    uint32_t row;
    char text[PROJECT_LEN_MAX + WORKLOAD_NAME_LEN_MAX + 2];
    if (project.len > PROJECT_LEN_MAX || name.len > WORKLOAD_NAME_LEN_MAX) {
        return NULL;
    }
    struct str key = str_format(text, sizeof(text), "%.*s/%.*s", STR_ARG(project), STR_ARG(name));
    return map_get(&e->t.names, key, &row) ? &e->s.workloads[row] : NULL;
}

struct str engine_pool_of(const struct engine *e, const struct node *n)
{
    return e->s.plan.pools[tables_pool_of(&e->s.plan, n)].name;
}

struct held engine_held(const struct engine *e, struct str pool, struct str queue, bool department)
{
    const struct plan *p = &e->s.plan;
    struct held sum = {0};
    uint32_t ix = department ? tables_department(p, queue) : tables_project(p, queue);
    if (ix == IX_NONE) {
        return sum;
    }
    for (uint32_t i = 0; i < p->pools_count; i++) {
        if (pool.len == 0 || str_eq(pool, p->pools[i].name)) {
            held_add(&sum,
                     department ? &e->t.department_held[i * p->departments_count + ix]
                                : &e->t.project_held[i * p->projects_count + ix],
                     false);
        }
    }
    return sum;
}

static bool waits(const struct workload *w)
{
    if (w->end_ms != TIME_NEVER || w->desired != WANT_RUN) {
        return false;
    }
    for (uint32_t i = 0; i < w->pods_count; i++) {
        if (w->pods[i].phase == POD_PENDING) {
            return true;
        }
    }
    return false;
}

uint32_t engine_place(const struct engine *e, const struct workload *w)
{
    const struct state *s = &e->s;
    CHECK(w >= s->workloads && w < s->workloads + s->workloads_count);
    uint32_t ahead = 0;
    for (uint32_t i = 0; i < s->workloads_count; i++) {
        const struct workload *o = &s->workloads[i];
        bool before = o->spec.priority != w->spec.priority ? o->spec.priority > w->spec.priority
                                                           : o < w; // older rows come first
        if (o != w && before && str_eq(o->project, w->project) && waits(o) &&
            str_eq(o->spec.pools[o->pool_ix].value, w->spec.pools[w->pool_ix].value)) {
            ahead++;
        }
    }
    return ahead;
}

uint32_t engine_project_row(const struct engine *e, const struct workload *w)
{
    return e->t.workload_rows[w - e->s.workloads].project;
}

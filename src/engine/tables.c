// SPDX-License-Identifier: Apache-2.0
// tables: the indexes beside the state. Plan objects and nodes are sorted by name and found by
// halving; workloads, pods, names and answers by maps. Removing rows shifts the ones behind them,
// so it is done in bulk and followed by tables_build.
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "engine/machine.h"
#include "model/ids.h"
#include "model/limits.h"

// First field of every row is its name.
static uint32_t find_name(const void *items, size_t size, uint32_t count, struct str name)
{
    uint32_t first = 0;
    uint32_t end = count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        struct str at;
        memcpy(&at, (const char *)items + size * middle, sizeof(at));
        int c = str_cmp(at, name);
        if (c == 0) {
            return middle;
        }
        if (c < 0) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return IX_NONE;
}

_Static_assert(offsetof(struct pool, name) == 0, "find_name");
_Static_assert(offsetof(struct department, name) == 0, "find_name");
_Static_assert(offsetof(struct project, name) == 0, "find_name");
_Static_assert(offsetof(struct node, name) == 0, "find_name");

uint32_t tables_pool(const struct plan *p, struct str name)
{
    return find_name(p->pools, sizeof(struct pool), p->pools_count, name);
}

uint32_t tables_department(const struct plan *p, struct str name)
{
    return find_name(p->departments, sizeof(struct department), p->departments_count, name);
}

uint32_t tables_project(const struct plan *p, struct str name)
{
    return find_name(p->projects, sizeof(struct project), p->projects_count, name);
}

uint32_t tables_node(const struct state *s, struct str name)
{
    return find_name(s->nodes, sizeof(struct node), s->nodes_count, name);
}

uint32_t tables_pool_of(const struct plan *p, const struct node *n)
{
    for (uint32_t i = 0; i < p->pools_count; i++) {
        const struct pool *pool = &p->pools[i];
        for (uint32_t l = 0; pool->label_key.len > 0 && l < n->labels_count; l++) {
            if (str_eq(n->labels[l].key, pool->label_key) &&
                str_eq(n->labels[l].value, pool->label_value)) {
                return i;
            }
        }
    }
    return tables_pool(p, STR("default"));
}

struct str id_key(const uint32_t *id)
{
    return (struct str){(const char *)id, sizeof(*id)};
}

void plan_projects_by_id(const struct plan *p, struct map *out, struct arena *arena)
{
    map_init(out, arena);
    for (uint32_t i = 0; i < p->projects_count; i++) {
        map_put(out, id_key(&p->projects[i].id), i);
    }
}

bool tables_departments(const struct plan *p, uint32_t *parent)
{
    for (uint32_t i = 0; i < p->departments_count; i++) {
        const struct department *d = &p->departments[i];
        parent[i] = d->parent.len == 0 ? IX_NONE : tables_department(p, d->parent);
        if (d->parent.len > 0 && parent[i] == IX_NONE) {
            return false;
        }
    }
    for (uint32_t i = 0; i < p->departments_count; i++) {
        uint32_t depth = 2; // a project is below
        for (uint32_t up = parent[i]; up != IX_NONE; up = parent[up]) {
            if (++depth > QUEUE_DEPTH_MAX) {
                return false;
            }
        }
    }
    return true;
}

static struct str answer_key(struct arena *a, struct str author, struct str key)
{
    return arena_printf(a, "%u:%.*s:%.*s", author.len, STR_ARG(author), STR_ARG(key));
}

void tables_add_answer(struct engine *e, uint32_t row)
{
    const struct answer *a = &e->s.answers[row];
    map_put(&e->t.answers, answer_key(&e->t.arena, a->author, a->key), row);
}

bool tables_find_answer(const struct engine *e, struct str author, struct str key, uint32_t *row)
{
    return map_get(&e->t.answers, answer_key(&e->self->scratch, author, key), row);
}

void tables_add_workload(struct engine *e, uint32_t row)
{
    struct tables *t = &e->t;
    const struct workload *w = &e->s.workloads[row];
    if (row >= t->workload_rows_cap) {
        CHECK(row == t->workload_rows_cap);
        t->workload_rows = array_grow(&t->arena, t->workload_rows, sizeof(*t->workload_rows), row,
                                      &t->workload_rows_cap);
    }
    t->workload_rows[row] = (struct workload_row){
        .events_cap = w->events_count,
        .project = tables_project(&e->s.plan, w->project),
        .first_pod = t->pod_rows_count,
    };
    // Keys are copied: the rows they come from move.
    map_put(&t->workloads, arena_str(&t->arena, uuid_bytes(&w->id)), row);
    struct str name = arena_printf(&t->arena, "%.*s/%.*s", STR_ARG(w->project), STR_ARG(w->name));
    map_put(&t->names, name, row);
    for (uint32_t i = 0; i < w->pods_count; i++) {
        t->pod_rows = array_grow(&t->arena, t->pod_rows, sizeof(*t->pod_rows), t->pod_rows_count,
                                 &t->pod_rows_cap);
        uint32_t at = t->pod_rows_count++;
        t->pod_rows[at] = (struct pod_row){row, i};
        map_put(&t->pods, arena_str(&t->arena, uuid_bytes(&w->pods[i].id)), at);
    }
}

void tables_build(struct engine *e)
{
    struct tables *t = &e->t;
    const struct state *s = &e->s;
    struct arena arena = t->arena;
    arena_reset(&arena);
    *t = (struct tables){.arena = arena};
    map_init(&t->workloads, &t->arena);
    map_init(&t->pods, &t->arena);
    map_init(&t->names, &t->arena);
    map_init(&t->answers, &t->arena);
    t->project_department = ARENA_ARRAY(&t->arena, uint32_t, s->plan.projects_count);
    t->department_parent = ARENA_ARRAY(&t->arena, uint32_t, s->plan.departments_count);
    for (uint32_t i = 0; i < s->plan.projects_count; i++) {
        t->project_department[i] = tables_department(&s->plan, s->plan.projects[i].department);
    }
    CHECK(tables_departments(&s->plan, t->department_parent));
    for (uint32_t i = 0; i < s->workloads_count; i++) {
        tables_add_workload(e, i);
    }
    for (uint32_t i = 0; i < s->answers_count; i++) {
        tables_add_answer(e, i);
    }
    ledger_build(e);
    usage_build(e);
}

void tables_set_node(struct engine *e, uint32_t node)
{
    const struct node *n = &e->s.nodes[node];
    struct node_row *row = &e->t.node_rows[node];
    row->pool = tables_pool_of(&e->s.plan, n);
    row->device_share = ARENA_ARRAY(&e->t.arena, int64_t, n->devices_count);
}

void tables_insert_node(struct engine *e, uint32_t node)
{
    struct tables *t = &e->t;
    uint32_t before = e->s.nodes_count - 1;
    t->node_rows = array_grow(&t->arena, t->node_rows, sizeof(*t->node_rows), before,
                              &t->node_rows_cap);
    memmove(t->node_rows + node + 1, t->node_rows + node, sizeof(*t->node_rows) * (before - node));
    t->node_rows[node] = (struct node_row){.pool = 0};
}

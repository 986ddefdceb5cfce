// SPDX-License-Identifier: Apache-2.0
// The tree of scopes of a plan, by rows and ids, so that it stays good when the plan's texts move.
#include "access/access.h"

#include "model/limits.h"

bool scope_eq(struct scope a, struct scope b)
{
    return a.kind == b.kind && a.id == b.id;
}

struct scope scope_of_department(uint32_t id)
{
    return (struct scope){SCOPE_DEPARTMENT, id};
}

struct scope scope_of_project(uint32_t id)
{
    return (struct scope){SCOPE_PROJECT, id};
}

void scope_tree_build(struct scope_tree *t, const struct plan *plan, struct arena *arena)
{
    uint32_t departments = plan->departments_count;
    uint32_t projects = plan->projects_count;
    *t = (struct scope_tree){
        .departments_count = departments,
        .projects_count = projects,
        .department_ids = ARENA_ARRAY(arena, uint32_t, departments),
        .project_ids = ARENA_ARRAY(arena, uint32_t, projects),
        .department_parent = ARENA_ARRAY(arena, uint32_t, departments),
        .project_department = ARENA_ARRAY(arena, uint32_t, projects),
    };
    map_init(&t->departments, arena);
    map_init(&t->projects, arena);
    struct map names;
    map_init(&names, arena);
    for (uint32_t i = 0; i < departments; i++) {
        t->department_ids[i] = plan->departments[i].id;
        map_put_u64(&t->departments, plan->departments[i].id, i);
        map_put(&names, plan->departments[i].name, i);
    }
    for (uint32_t i = 0; i < departments; i++) {
        t->department_parent[i] = IX_NONE;
        (void)map_get(&names, plan->departments[i].parent, &t->department_parent[i]);
    }
    for (uint32_t i = 0; i < projects; i++) {
        t->project_ids[i] = plan->projects[i].id;
        map_put_u64(&t->projects, plan->projects[i].id, i);
        t->project_department[i] = IX_NONE;
        (void)map_get(&names, plan->projects[i].department, &t->project_department[i]);
    }
}

static struct scope department_or_cluster(const struct scope_tree *t, uint32_t row)
{
    return row == IX_NONE ? SCOPE_OF_CLUSTER : scope_of_department(t->department_ids[row]);
}

bool scope_parent(const struct scope_tree *t, struct scope s, struct scope *out)
{
    uint32_t row;
    switch (s.kind) {
    case SCOPE_TENANT:
        return false;
    case SCOPE_CLUSTER:
        *out = SCOPE_OF_TENANT;
        return s.id == CLUSTER_ID;
    case SCOPE_DEPARTMENT:
        if (!map_get_u64(&t->departments, s.id, &row)) {
            return false;
        }
        *out = department_or_cluster(t, t->department_parent[row]);
        return true;
    case SCOPE_PROJECT:
        if (!map_get_u64(&t->projects, s.id, &row)) {
            return false;
        }
        *out = department_or_cluster(t, t->project_department[row]);
        return true;
    }
    return false;
}

// Up from inner: a chain that does not end at the tenant is no part of the tree.
bool scope_contains(const struct scope_tree *t, struct scope outer, struct scope inner)
{
    bool found = false;
    for (uint32_t level = 0; level < QUEUE_DEPTH_MAX + 3; level++) {
        found = found || scope_eq(outer, inner);
        if (inner.kind == SCOPE_TENANT) {
            return found && inner.id == TENANT_ID;
        }
        if (!scope_parent(t, inner, &inner)) {
            return false;
        }
    }
    return false;
}

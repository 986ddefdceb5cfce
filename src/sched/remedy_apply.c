// SPDX-License-Identifier: Apache-2.0
// remedy: making a change. The copy shares what stays as it is; a table that changes is copied
// first. Of the workload itself only the pods that wait are changed.
#include <string.h>

#include "base/check.h"
#include "sched/remedy.h"

struct change {
    const struct remedy *r;
    struct arena *arena;
    struct snapshot *s;
    uint32_t workload;
};

static void *copied(struct arena *arena, const void *items, size_t bytes)
{
    void *copy = arena_alloc(arena, bytes + 1);
    if (bytes > 0) {
        memcpy(copy, items, bytes);
    }
    return copy;
}
#define OWN(c, table)                                              \
    ((c)->s->table.items = copied((c)->arena, (c)->s->table.items, \
                                  (c)->s->table.count * sizeof(*(c)->s->table.items)))

/* ---- work that ends ---- */

static bool is_over(const struct snap_task *t)
{
    return t->state == TASK_SUCCEEDED || t->state == TASK_FAILED;
}

static void end_pod(struct snap_task *t)
{
    if (!is_over(t)) {
        t->state = TASK_SUCCEEDED;
        t->node.ix = IX_NONE;
        t->hold_count = 0;
        t->returns = false;
    }
}

static void end_workload(struct change *c, uint32_t workload)
{
    const struct snap_workload *w = &c->s->workloads.items[workload];
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        end_pod(&c->s->tasks.items[t]);
    }
}

int64_t remedy_declared_end(const struct snapshot *snap, uint32_t workload)
{
    const struct snap_workload *w = &snap->workloads.items[workload];
    int64_t end_ms = w->last_start_ms + w->duration_ms;
    if (w->duration_ms <= 0 || w->last_start_ms == TIME_NEVER || end_ms <= snap->config.now_ms) {
        return TIME_NEVER;
    }
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        if (snap->tasks.items[t].state == TASK_RUNNING) {
            return end_ms;
        }
    }
    return TIME_NEVER;
}

static void pass_time(struct change *c)
{
    OWN(c, tasks);
    for (uint32_t w = 0; w < c->s->workloads.count; w++) {
        int64_t end_ms = remedy_declared_end(c->s, w);
        if (w != c->workload && end_ms != TIME_NEVER && end_ms <= c->r->until_ms) {
            end_workload(c, w);
        }
    }
    c->s->config.now_ms = c->r->until_ms;
}

/* ---- what the pods ask for ---- */

static void at_most(int64_t *value, int64_t most)
{
    *value = *value > most ? most : *value;
}

// Leaves out the terms of one kind that pods of the shape carry.
static void drop_terms(struct change *c, struct snap_shape *p, bool anti)
{
    struct snapshot *s = c->s;
    uint32_t first = s->term_refs.count;
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->carries_count; i++) {
        uint32_t term = s->term_refs.items[p->carries_first + i];
        if (s->terms.items[term].anti != anti) {
            *ARRAY_PUSH(c->arena, &s->term_refs) = term;
            count++;
        }
    }
    p->carries_first = first;
    p->carries_count = count;
}

static void change_shape(struct change *c, struct snap_shape *p)
{
    int64_t to = c->r->to;
    switch (c->r->kind) {
    case REMEDY_SELECTOR:
        p->selected_set = IX_NONE;
        break;
    case REMEDY_TAINTS:
        p->tolerated_set = IX_NONE;
        break;
    case REMEDY_NUMA:
        p->single_numa = false;
        break;
    case REMEDY_AFFINITY:
        drop_terms(c, p, false);
        break;
    case REMEDY_ANTI_AFFINITY:
        drop_terms(c, p, true);
        break;
    case REMEDY_DEVICES:
        p->device_count = p->device_count > to ? (uint32_t)to : p->device_count;
        break;
    case REMEDY_SHARE:
        at_most(&p->share, to);
        break;
    case REMEDY_DEVICE_MEMORY:
        at_most(&p->device_memory_bytes, to);
        break;
    case REMEDY_CPU:
        at_most(&p->cpu_milli, to);
        break;
    case REMEDY_MEMORY:
        at_most(&p->memory_bytes, to);
        break;
    case REMEDY_NONE:
    case REMEDY_WAIT:
    case REMEDY_PREEMPTIBLE:
    case REMEDY_TOPOLOGY:
    case REMEDY_PRIORITY:
    case REMEDY_MEMBERS:
    case REMEDY_LIMIT:
    case REMEDY_GUARANTEE:
    case REMEDY_NODE:
    case REMEDY_HEAL:
    case REMEDY_FREE:
    case REMEDY_END:
    case REMEDY_COUNT:
        check_fail(__FILE__, __LINE__, "not a change of a shape");
    }
}

// A shape of its own for each that the pods that wait have.
static void change_shapes(struct change *c)
{
    const struct snap_workload *w = &c->s->workloads.items[c->workload];
    uint32_t shapes = c->s->shapes.count;
    uint32_t *new_of = ARENA_ARRAY(c->arena, uint32_t, shapes + 1); /* plus one; 0: none yet */
    OWN(c, tasks);
    OWN(c, term_refs);
    OWN(c, shapes);
    c->s->shapes.cap = shapes;
    c->s->term_refs.cap = c->s->term_refs.count;
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        struct snap_task *task = &c->s->tasks.items[t];
        if (task->state != TASK_PENDING && task->state != TASK_GATED) {
            continue;
        }
        uint32_t *ix = &new_of[task->shape.ix];
        if (*ix == 0) {
            struct snap_shape shape = c->s->shapes.items[task->shape.ix];
            change_shape(c, &shape);
            *ARRAY_PUSH(c->arena, &c->s->shapes) = shape;
            *ix = c->s->shapes.count;
        }
        task->shape.ix = *ix - 1;
    }
}

static void drop_topology(struct change *c)
{
    OWN(c, groups);
    struct snap_group *g = &c->s->groups.items[c->r->group.ix];
    g->topology_unknown = false;
    g->required_level = IX_NONE;
    if (g->preferred_level == IX_NONE) {
        g->topology.ix = IX_NONE;
    }
}

/* ---- queues and nodes ---- */

static void raise_rights(struct change *c)
{
    const struct remedy *r = c->r;
    bool guarantee = r->kind == REMEDY_GUARANTEE;
    OWN(c, queues);
    for (uint32_t q = r->queue.ix; q != IX_NONE; q = c->s->queues.items[q].parent.ix) {
        struct snap_queue *queue = &c->s->queues.items[q];
        int64_t *amount = &(guarantee ? &queue->quota : &queue->limit)->v[r->resource];
        if (*amount != AMOUNT_UNLIMITED) {
            *amount += r->to - r->from;
        }
        if (guarantee && !amount_le(queue->quota.v[r->resource], queue->limit.v[r->resource])) {
            queue->limit.v[r->resource] = queue->quota.v[r->resource];
        }
        if (!r->path) {
            return;
        }
    }
}

static void heal_devices(struct change *c)
{
    const struct snap_node *n = &c->s->nodes.items[c->r->node.ix];
    OWN(c, devices);
    for (uint32_t d = n->device_first; d < n->device_first + n->device_count; d++) {
        c->s->devices.items[d].healthy = true;
        c->s->devices.items[d].draining = false;
    }
}

void remedy_apply(const struct snapshot *snap, uint32_t workload, const struct remedy *r,
                  struct arena *arena, struct snapshot *out)
{
    struct change c = {r, arena, out, workload};
    *out = *snap;
    switch (r->kind) {
    case REMEDY_NONE:
    case REMEDY_COUNT:
        break;
    case REMEDY_WAIT:
        pass_time(&c);
        break;
    case REMEDY_PREEMPTIBLE:
    case REMEDY_PRIORITY:
        OWN(&c, workloads);
        if (r->kind == REMEDY_PRIORITY) {
            out->workloads.items[workload].priority = r->to;
        } else {
            out->workloads.items[workload].preemptible = true;
        }
        break;
    case REMEDY_SELECTOR:
    case REMEDY_TAINTS:
    case REMEDY_NUMA:
    case REMEDY_AFFINITY:
    case REMEDY_ANTI_AFFINITY:
    case REMEDY_DEVICES:
    case REMEDY_SHARE:
    case REMEDY_DEVICE_MEMORY:
    case REMEDY_CPU:
    case REMEDY_MEMORY:
        change_shapes(&c);
        break;
    case REMEDY_TOPOLOGY:
        drop_topology(&c);
        break;
    case REMEDY_MEMBERS:
        OWN(&c, groups);
        out->groups.items[r->group.ix].min = (uint32_t)r->to;
        break;
    case REMEDY_LIMIT:
    case REMEDY_GUARANTEE:
        raise_rights(&c);
        break;
    case REMEDY_NODE:
        OWN(&c, nodes);
        out->nodes.items[r->node.ix].ready = out->nodes.items[r->node.ix].schedulable = true;
        out->nodes.items[r->node.ix].draining = false;
        break;
    case REMEDY_HEAL:
        heal_devices(&c);
        break;
    case REMEDY_FREE:
        OWN(&c, tasks);
        for (uint32_t i = 0; i < r->pods_count; i++) {
            end_pod(&out->tasks.items[r->pods[i].ix]);
        }
        break;
    case REMEDY_END:
        OWN(&c, tasks);
        end_workload(&c, r->other.ix);
        break;
    }
}

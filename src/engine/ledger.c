// SPDX-License-Identifier: Apache-2.0
// ledger: the books: what each project and department holds in each pool, and what is held of each
// node and device. A pod is in the books from its binding until it is gone, in the pool its node
// is in. Every change passes through ledger_move, which books a pod at once on its node, its
// project and all departments above, so that a parent's sum is its children's by construction.
#include "base/check.h"
#include "engine/machine.h"
#include "model/ids.h"
#include "model/priority.h"
#include "model/resources.h"

bool pod_holds(const struct pod *p)
{
    return p->phase == POD_BINDING || p->phase == POD_RUNNING || p->phase == POD_RELEASING;
}

struct held pod_amounts(const struct workload *w, const struct pod *p)
{
    const struct pod_spec *spec = workload_pod(w, (uint32_t)(p - w->pods));
    struct held h = {.cpu_milli = spec->cpu_milli, .memory_bytes = spec->memory_bytes};
    for (uint32_t i = 0; i < p->devices_count; i++) {
        h.gpu_share += p->devices[i].share;
    }
    if (w->spec.preemptibility == NON_PREEMPTIBLE) {
        h.gpu_share_nonpreemptible = h.gpu_share;
        h.cpu_milli_nonpreemptible = h.cpu_milli;
        h.memory_bytes_nonpreemptible = h.memory_bytes;
    }
    if (w->spec.priority <= PRIORITY_VERY_LOW) {
        h.gpu_share_low = h.gpu_share;
        h.cpu_milli_low = h.cpu_milli;
        h.memory_bytes_low = h.memory_bytes;
    }
    return h;
}

int64_t pod_device_share(const struct pod_spec *spec, const struct held_device *held)
{
    return spec->gpu_memory_bytes > 0 ? held->share - 1 : held->share;
}

void held_add(struct held *into, const struct held *what, bool subtract)
{
    int64_t sign = subtract ? -1 : 1;
    into->gpu_share += sign * what->gpu_share;
    into->cpu_milli += sign * what->cpu_milli;
    into->memory_bytes += sign * what->memory_bytes;
    into->gpu_share_nonpreemptible += sign * what->gpu_share_nonpreemptible;
    into->cpu_milli_nonpreemptible += sign * what->cpu_milli_nonpreemptible;
    into->memory_bytes_nonpreemptible += sign * what->memory_bytes_nonpreemptible;
    into->gpu_share_low += sign * what->gpu_share_low;
    into->cpu_milli_low += sign * what->cpu_milli_low;
    into->memory_bytes_low += sign * what->memory_bytes_low;
}

static void node_move(struct engine *e, uint32_t node, const struct workload *w,
                      const struct pod *p, bool gone)
{
    const struct pod_spec *spec = workload_pod(w, (uint32_t)(p - w->pods));
    struct node_row *row = &e->t.node_rows[node];
    const struct node *n = &e->s.nodes[node];
    row->pods = gone ? row->pods - 1 : row->pods + 1;
    row->cpu_milli += gone ? -spec->cpu_milli : spec->cpu_milli;
    row->memory_bytes += gone ? -spec->memory_bytes : spec->memory_bytes;
    for (uint32_t i = 0; i < p->devices_count; i++) {
        for (uint32_t d = 0; d < n->devices_count; d++) {
            if (str_eq(n->devices[d].uuid, p->devices[i].uuid)) {
                int64_t share = pod_device_share(spec, &p->devices[i]);
                row->device_share[d] += gone ? -share : share;
            }
        }
    }
}

static void move(struct engine *e, uint32_t row, const struct pod *p, bool gone, bool history)
{
    struct tables *t = &e->t;
    const struct plan *plan = &e->s.plan;
    uint32_t node = tables_node(&e->s, p->node);
    if (NEVER(node == IX_NONE)) {
        return; // nodes are never forgotten, and a state is checked when it is restored
    }
    struct held h = pod_amounts(&e->s.workloads[row], p);
    node_move(e, node, &e->s.workloads[row], p, gone);
    uint32_t project = t->workload_rows[row].project;
    if (NEVER(project == IX_NONE)) {
        return;
    }
    uint32_t pool = t->node_rows[node].pool;
    if (history) {
        usage_book(e, pool, project);
    }
    held_add(&t->project_held[pool * plan->projects_count + project], &h, gone);
    uint32_t department = t->project_department[project];
    while (department != IX_NONE) {
        held_add(&t->department_held[pool * plan->departments_count + department], &h, gone);
        department = t->department_parent[department];
    }
}

void ledger_move(struct engine *e, uint32_t row, const struct pod *p, bool gone)
{
    move(e, row, p, gone, true);
}

void ledger_build(struct engine *e)
{
    struct tables *t = &e->t;
    const struct state *s = &e->s;
    struct arena *a = &t->arena;
    const struct plan *p = &s->plan;
    t->project_held = ARENA_ARRAY(a, struct held, (size_t)p->pools_count * p->projects_count);
    t->department_held = ARENA_ARRAY(a, struct held, (size_t)p->pools_count * p->departments_count);
    t->node_rows = ARENA_ARRAY(a, struct node_row, s->nodes_count);
    t->node_rows_cap = s->nodes_count;
    for (uint32_t i = 0; i < s->nodes_count; i++) {
        tables_set_node(e, i);
    }
    for (uint32_t i = 0; i < s->workloads_count; i++) {
        const struct workload *w = &s->workloads[i];
        for (uint32_t k = 0; k < w->pods_count; k++) {
            if (pod_holds(&w->pods[k])) {
                move(e, i, &w->pods[k], false, false);
            }
        }
    }
}

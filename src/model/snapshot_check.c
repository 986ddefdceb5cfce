// SPDX-License-Identifier: Apache-2.0
// snapshot_check: every invariant of a canonical snapshot, table by table. The first violation is
// reported with its table, row and field.
#include "base/num.h"
#include "model/snapshot.h"

#define BAD(table, row, field, ...)             \
    (err_set(err, STATUS_INVALID, __VA_ARGS__), \
     err_field(err, "%s[%u].%s", (table), (row), (field)))

static bool in_run(uint32_t first, uint32_t count, uint32_t total)
{
    return count == 0 || (first < total && count <= total - first);
}

static bool in_range(int64_t v, int64_t max)
{
    return v >= 0 && v <= max;
}

static bool ref_ok(uint32_t ix, uint32_t count)
{
    return ix == IX_NONE || ix < count;
}

static enum status check_nodes(const struct snapshot *s, struct err *err)
{
    for (uint32_t i = 0; i < s->nodes.count; i++) {
        const struct snap_node *n = &s->nodes.items[i];
        if (i > 0 && str_cmp(n[-1].name, n->name) >= 0) {
            return BAD("nodes", i, "name", "not after the one before");
        }
        if (!in_range(n->cpu_milli, AMOUNT_MAX) || !in_range(n->memory_bytes, AMOUNT_MAX) ||
            !in_range(n->pods, AMOUNT_MAX)) {
            return BAD("nodes", i, "cpu_milli", "an amount is outside [0, 2^46]");
        }
        if (n->draining && n->schedulable) {
            return BAD("nodes", i, "draining", "takes new work all the same");
        }
        if (!in_run(n->device_first, n->device_count, s->devices.count) ||
            n->device_count > NODE_DEVICES_MAX) {
            return BAD("nodes", i, "device_first", "not a run of devices");
        }
        if (!in_run(n->extended_first, n->extended_count, s->extended_amounts.count)) {
            return BAD("nodes", i, "extended_first", "not a run of extended_amounts");
        }
        if (!in_run(n->zone_first, n->zone_count, s->zones.count)) {
            return BAD("nodes", i, "zone_first", "not a run of zones");
        }
    }
    for (uint32_t i = 0; i < s->devices.count; i++) {
        const struct snap_device *d = &s->devices.items[i];
        if (d->node.ix >= s->nodes.count) {
            return BAD("devices", i, "node", "no such node");
        }
        const struct snap_node *n = &s->nodes.items[d->node.ix];
        if (i < n->device_first || i - n->device_first >= n->device_count) {
            return BAD("devices", i, "node", "outside the run of its node");
        }
        if (d->zone >= n->zone_count && (n->zone_count > 0 || d->zone > 0)) {
            return BAD("devices", i, "zone", "its node has no such zone");
        }
        if (d->draining && d->healthy) {
            return BAD("devices", i, "draining", "takes new work all the same");
        }
        if (!in_range(d->memory_bytes, AMOUNT_MAX)) {
            return BAD("devices", i, "memory_bytes", "outside [0, 2^46]");
        }
    }
    return STATUS_OK;
}

static enum status check_queues(const struct snapshot *s, struct err *err)
{
    for (uint32_t i = 0; i < s->queues.count; i++) {
        const struct snap_queue *q = &s->queues.items[i];
        if (q->parent.ix != IX_NONE && q->parent.ix >= i) {
            return BAD("queues", i, "parent", "not before its child");
        }
        if (!in_run(q->child_first, q->child_count, s->queues.count)) {
            return BAD("queues", i, "child_first", "not a run of queues");
        }
        for (int r = 0; r < RES_COUNT; r++) {
            if (q->quota.v[r] < -1 || q->quota.v[r] > QUEUE_AMOUNT_MAX || q->limit.v[r] < -1 ||
                q->limit.v[r] > QUEUE_AMOUNT_MAX) {
                return BAD("queues", i, "quota", "quota or limit outside [-1, 2^60]");
            }
            if (!in_range(q->weight_milli.v[r], WEIGHT_MILLI_MAX)) {
                return BAD("queues", i, "weight_milli", "outside [0, %lld]",
                           (long long)WEIGHT_MILLI_MAX);
            }
            if (!in_range(q->usage.v[r], AMOUNT_MAX)) {
                return BAD("queues", i, "usage", "outside [0, 2^46]");
            }
        }
    }
    return STATUS_OK;
}

static enum status check_workloads(const struct snapshot *s, struct err *err)
{
    for (uint32_t i = 0; i < s->workloads.count; i++) {
        const struct snap_workload *w = &s->workloads.items[i];
        if (i > 0 && (w[-1].created_ms > w->created_ms ||
                      (w[-1].created_ms == w->created_ms && str_cmp(w[-1].name, w->name) >= 0))) {
            return BAD("workloads", i, "created_ms", "not after the one before, or a name twice");
        }
        if (!ref_ok(w->queue.ix, s->queues.count)) {
            return BAD("workloads", i, "queue", "no such queue");
        }
        if (!ref_ok(w->evicted_for.ix, s->workloads.count)) {
            return BAD("workloads", i, "evicted_for", "no such workload");
        }
        if (w->group_count == 0 || !in_run(w->group_first, w->group_count, s->groups.count)) {
            return BAD("workloads", i, "group_first", "not a run of groups");
        }
        if (!in_run(w->task_first, w->task_count, s->tasks.count)) {
            return BAD("workloads", i, "task_first", "not a run of tasks");
        }
    }
    for (uint32_t i = 0; i < s->groups.count; i++) {
        const struct snap_group *g = &s->groups.items[i];
        if (g->workload.ix >= s->workloads.count) {
            return BAD("groups", i, "workload", "no such workload");
        }
        const struct snap_workload *w = &s->workloads.items[g->workload.ix];
        if (i < w->group_first || i - w->group_first >= w->group_count ||
            (g->parent.ix == IX_NONE) != (i == w->group_first)) {
            return BAD("groups", i, "workload", "outside its run, or not one root first");
        }
        if (g->is_pod_set ? g->child_count > 0 : g->task_count > 0) {
            return BAD("groups", i, "is_pod_set", "has both groups and pods");
        }
        if (!ref_ok(g->topology.ix, s->topologies.count)) {
            return BAD("groups", i, "topology", "no such topology");
        }
        if (g->topology.ix != IX_NONE) {
            uint32_t levels = s->topologies.items[g->topology.ix].level_count;
            if (!ref_ok(g->required_level, levels) || !ref_ok(g->preferred_level, levels)) {
                return BAD("groups", i, "required_level", "no such level");
            }
        }
    }
    return STATUS_OK;
}

static bool task_has_place(const struct snap_task *t)
{
    return t->state == TASK_BINDING || t->state == TASK_RUNNING || t->state == TASK_RELEASING ||
           t->state == TASK_STUCK;
}

static enum status check_tasks(const struct snapshot *s, struct err *err)
{
    for (uint32_t i = 0; i < s->tasks.count; i++) {
        const struct snap_task *t = &s->tasks.items[i];
        if (t->group.ix >= s->groups.count || !s->groups.items[t->group.ix].is_pod_set ||
            s->groups.items[t->group.ix].workload.ix != t->workload.ix) {
            return BAD("tasks", i, "group", "not a pod set of its workload");
        }
        if (t->shape.ix >= s->shapes.count) {
            return BAD("tasks", i, "shape", "no such shape");
        }
        if (t->returns && t->state != TASK_RELEASING && t->state != TASK_STUCK) {
            return BAD("tasks", i, "returns", "is not on its way out");
        }
        if (!ref_ok(t->node.ix, s->nodes.count) || !ref_ok(t->nominated_node, s->nodes.count)) {
            return BAD("tasks", i, "node", "no such node");
        }
        if (task_has_place(t) && t->node.ix == IX_NONE) {
            return BAD("tasks", i, "node", "holds a place but names no node");
        }
        if (task_has_place(t) && s->nodes.items[t->node.ix].zone_count > 0 &&
            t->zone >= s->nodes.items[t->node.ix].zone_count) {
            return BAD("tasks", i, "zone", "its node has no such zone");
        }
        if (!in_run(t->hold_first, t->hold_count, s->holds.count)) {
            return BAD("tasks", i, "hold_first", "not a run of holds");
        }
        for (uint32_t h = 0; task_has_place(t) && h < t->hold_count; h++) {
            const struct snap_hold *hold = &s->holds.items[t->hold_first + h];
            if (hold->device.ix >= s->devices.count ||
                s->devices.items[hold->device.ix].node.ix != t->node.ix) {
                return BAD("tasks", i, "hold_first", "holds a device of another node");
            }
            if (hold->share <= 0 || hold->share > DEVICE_SHARE) {
                return BAD("tasks", i, "hold_first", "holds a share outside (0, 7000]");
            }
        }
    }
    return STATUS_OK;
}

static enum status check_shapes(const struct snapshot *s, struct err *err)
{
    for (uint32_t i = 0; i < s->shapes.count; i++) {
        const struct snap_shape *p = &s->shapes.items[i];
        if (!in_range(p->cpu_milli, AMOUNT_MAX) || !in_range(p->memory_bytes, AMOUNT_MAX)) {
            return BAD("shapes", i, "cpu_milli", "an amount is outside [0, 2^46]");
        }
        if ((p->gpu == GPU_NONE) != (p->device_count == 0) || p->device_count > NODE_DEVICES_MAX) {
            return BAD("shapes", i, "device_count", "does not agree with the kind of request");
        }
        if (p->gpu == GPU_SHARE && (p->share <= 0 || p->share >= DEVICE_SHARE)) {
            return BAD("shapes", i, "share", "outside (0, 7000)");
        }
        if (p->gpu == GPU_MEMORY &&
            (p->device_memory_bytes <= 0 || p->device_memory_bytes > AMOUNT_MAX)) {
            return BAD("shapes", i, "device_memory_bytes", "outside (0, 2^46]");
        }
        if (!ref_ok(p->selected_set, s->node_sets.count) ||
            !ref_ok(p->tolerated_set, s->node_sets.count)) {
            return BAD("shapes", i, "selected_set", "no such node set");
        }
        if (!in_run(p->extended_first, p->extended_count, s->extended_amounts.count) ||
            !in_run(p->carries_first, p->carries_count, s->term_refs.count) ||
            !in_run(p->matches_first, p->matches_count, s->term_refs.count)) {
            return BAD("shapes", i, "extended_first", "a run outside its table");
        }
    }
    for (uint32_t i = 0; i < s->extended_amounts.count; i++) {
        const struct snap_extended_amount *e = &s->extended_amounts.items[i];
        if (e->extended >= s->extended.count || !in_range(e->amount, AMOUNT_MAX)) {
            return BAD("extended_amounts", i, "amount", "no such resource, or outside [0, 2^46]");
        }
    }
    for (uint32_t i = 0; i < s->term_refs.count; i++) {
        if (s->term_refs.items[i] >= s->terms.count) {
            return BAD("term_refs", i, "", "no such term");
        }
    }
    return STATUS_OK;
}

static enum status check_claims(const struct snapshot *s, struct err *err)
{
    for (uint32_t i = 0; i < s->claims.count; i++) {
        const struct snap_claim *c = &s->claims.items[i];
        if (c->workload.ix >= s->workloads.count || !ref_ok(c->task.ix, s->tasks.count) ||
            c->node.ix >= s->nodes.count) {
            return BAD("claims", i, "workload", "refers to what does not exist");
        }
        if (!in_run(c->hold_first, c->hold_count, s->holds.count)) {
            return BAD("claims", i, "hold_first", "not a run of holds");
        }
    }
    return STATUS_OK;
}

static enum status check_budgets(const struct snapshot *s, struct err *err)
{
    for (uint32_t i = 0; i < s->budgets.count; i++) {
        const struct snap_budget *b = &s->budgets.items[i];
        if (i > 0 && str_cmp(b[-1].name, b->name) >= 0) {
            return BAD("budgets", i, "name", "not after the one before");
        }
        if (!in_run(b->member_first, b->member_count, s->budget_members.count)) {
            return BAD("budgets", i, "member_first", "not a run of budget_members");
        }
        for (uint32_t m = b->member_first; m < b->member_first + b->member_count; m++) {
            uint32_t task = s->budget_members.items[m].ix;
            if (task >= s->tasks.count ||
                (m > b->member_first && s->budget_members.items[m - 1].ix >= task)) {
                return BAD("budgets", i, "member_first", "no such pod, or out of order");
            }
        }
    }
    return STATUS_OK;
}

static enum status check_config(const struct snapshot *s, struct err *err)
{
    const struct snap_config *c = &s->config;
    if (!in_range(c->k_permille, K_PERMILLE_MAX) ||
        !in_range(c->usage_denominator, USAGE_DENOMINATOR_MAX) || c->saturation_permille < 1000 ||
        c->saturation_permille > SATURATION_PERMILLE_MAX) {
        return BAD("config", 0u, "k_permille", "outside its range");
    }
    if (s->nodes.count > NODES_MAX || s->queues.count > QUEUES_MAX ||
        s->workloads.count > WORKLOADS_MAX || s->tasks.count > TASKS_MAX ||
        s->groups.count > GROUPS_MAX || s->extended.count > EXTENDED_MAX) {
        return err_set(err, STATUS_INVALID, "a table is longer than limits.h allows");
    }
    return STATUS_OK;
}

enum status snapshot_check(const struct snapshot *s, struct err *err)
{
    enum status (*const checks[])(const struct snapshot *, struct err *) = {
        check_config, check_nodes,  check_queues, check_workloads,
        check_tasks,  check_shapes, check_claims, check_budgets,
    };
    for (size_t i = 0; i < COUNT_OF(checks); i++) {
        enum status status = checks[i](s, err);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

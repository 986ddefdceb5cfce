// SPDX-License-Identifier: Apache-2.0
// remedy: changes of what is not the workload's own: nodes, and the work of others.
#include "base/sort.h"
#include "sched/fairshare.h"
#include "sched/finder.h"

/* ---- nodes ---- */

static uint32_t sick_devices(const struct snapshot *s, const struct snap_node *n)
{
    uint32_t sick = 0;
    for (uint32_t d = n->device_first; d < n->device_first + n->device_count; d++) {
        sick += !s->devices.items[d].healthy;
    }
    return sick;
}

bool finder_bring_back_node(struct finder *f)
{
    for (uint32_t n = 0; n < f->snap->nodes.count; n++) {
        const struct snap_node *node = &f->snap->nodes.items[n];
        struct remedy r = finder_remedy(REMEDY_NODE);
        r.node.ix = n;
        if ((!node->ready || !node->schedulable) && finder_enough(f, &r)) {
            return true;
        }
    }
    return false;
}

bool finder_bring_back_devices(struct finder *f)
{
    for (uint32_t n = 0; n < f->snap->nodes.count; n++) {
        struct remedy r = finder_remedy(REMEDY_HEAL);
        r.node.ix = n;
        r.to = sick_devices(f->snap, &f->snap->nodes.items[n]);
        if (r.to > 0 && finder_enough(f, &r)) {
            return true;
        }
    }
    return false;
}

/* ---- the work of others ---- */

/* Who could go: a pod of a node, a workload; or a node where somebody could. */
struct leaver {
    uint32_t ix;
    int64_t devices; /* held, of a pod; device shares, of a workload; to be freed, of a node */
};

static int by_devices(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    const struct leaver *x = a;
    const struct leaver *y = b;
    return x->devices != y->devices ? (x->devices < y->devices ? -1 : 1) : 0;
}

static bool is_others(const struct finder *f, const struct snap_task *task)
{
    return finder_holds(task) && task->workload.ix != f->workload;
}

/* The pods of others that hold places, by node; on each those with the fewest devices first, the
 * newest of equals. */
struct holders {
    struct leaver *pods;
    uint32_t *first; /* [nodes + 1] */
};

static struct holders find_holders(struct finder *f)
{
    const struct snapshot *s = f->snap;
    struct holders h = {.first = ARENA_ARRAY(f->arena, uint32_t, (size_t)s->nodes.count + 2)};
    for (uint32_t t = 0; t < s->tasks.count; t++) {
        const struct snap_task *task = &s->tasks.items[t];
        h.first[task->node.ix == IX_NONE ? 0 : task->node.ix + 2] += is_others(f, task);
    }
    h.first[0] = 0;
    for (uint32_t n = 0; n <= s->nodes.count; n++) {
        h.first[n + 1] += h.first[n];
    }
    h.pods = ARENA_ARRAY(f->arena, struct leaver, (size_t)h.first[s->nodes.count + 1] + 1);
    for (uint32_t t = s->tasks.count; t > 0; t--) {
        const struct snap_task *task = &s->tasks.items[t - 1];
        if (is_others(f, task)) {
            h.pods[h.first[task->node.ix + 1]++] = (struct leaver){t - 1, task->hold_count};
        }
    }
    for (uint32_t n = 0; n < s->nodes.count; n++) {
        sort_stable(h.pods + h.first[n], h.first[n + 1] - h.first[n], sizeof(*h.pods), by_devices,
                    NULL, f->arena);
    }
    return h;
}

static void set_leaving(struct remedy *r, int64_t step, const void *ctx)
{
    (void)ctx;
    r->pods_count = (uint32_t)step;
}

// Each of the pods is tried to be left out, those with most devices first, until none can be.
static void leave_out(struct finder *f, struct remedy *r)
{
    struct task_ref *kept = r->pods;
    uint32_t count = r->pods_count;
    for (uint32_t at = count; at > 0 && count > 1 && !f->exhausted;) {
        at--;
        struct task_ref *fewer = ARENA_ARRAY(f->arena, struct task_ref, count);
        for (uint32_t i = 0; i + 1 < count; i++) {
            fewer[i] = kept[i < at ? i : i + 1];
        }
        r->pods = fewer;
        r->pods_count = count - 1;
        if (finder_enough(f, r)) {
            kept = fewer;
            count--;
            at = count; /* one that had to go before may stay now */
        }
    }
}

static int64_t devices_of(const struct finder *f, const struct remedy *r)
{
    const struct snapshot *s = f->snap;
    const struct snap_node *n = &s->nodes.items[r->node.ix];
    int64_t devices = 0;
    for (uint32_t d = n->device_first; d < n->device_first + n->device_count; d++) {
        bool held = false;
        for (uint32_t i = 0; i < r->pods_count && !held; i++) {
            const struct snap_task *t = &s->tasks.items[r->pods[i].ix];
            for (uint32_t h = t->hold_first; h < t->hold_first + t->hold_count; h++) {
                held = held || s->holds.items[h].device.ix == d;
            }
        }
        devices += held;
    }
    return devices;
}

static bool free_on_node(struct finder *f, const struct holders *h, uint32_t node)
{
    struct remedy r = finder_remedy(REMEDY_FREE);
    uint32_t first = h->first[node];
    uint32_t count = h->first[node + 1] - first;
    r.node.ix = node;
    r.pods = ARENA_ARRAY(f->arena, struct task_ref, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        r.pods[i].ix = h->pods[first + i].ix;
    }
    if (!finder_least(f, &r, count, set_leaving, NULL)) {
        return false;
    }
    r = *f->best;
    leave_out(f, &r);
    f->best->to = devices_of(f, f->best);
    return true;
}

// How many devices go with the pods, smallest first, that the node lacks for the first pod that
// waits; negative when it would never do.
static int64_t to_be_freed(const struct finder *f, const struct holders *h, uint32_t node)
{
    const struct snapshot *s = f->snap;
    const struct snap_node *n = &s->nodes.items[node];
    const struct snap_shape *p = NULL;
    for (uint32_t t = finder_own(f)->task_first; !p; t++) {
        p = finder_waits(&s->tasks.items[t]) ? &s->shapes.items[s->tasks.items[t].shape.ix] : NULL;
    }
    uint32_t healthy = n->device_count - sick_devices(s, n);
    bool selected = p->selected_set == IX_NONE ||
                    (s->node_sets.items[p->selected_set].words[node / 64] >> (node % 64) & 1) != 0;
    if (!n->ready || !n->schedulable || healthy < p->device_count || !selected) {
        return -1;
    }
    int64_t lacks = (int64_t)p->device_count - healthy;
    for (uint32_t i = h->first[node]; i < h->first[node + 1]; i++) {
        lacks += h->pods[i].devices;
    }
    int64_t freed = 0;
    for (uint32_t i = h->first[node]; i < h->first[node + 1] && freed < lacks; i++) {
        freed += h->pods[i].devices;
    }
    return freed;
}

bool finder_free_devices(struct finder *f)
{
    struct holders h = find_holders(f);
    uint32_t count = 0;
    struct leaver *nodes = ARENA_ARRAY(f->arena, struct leaver, (size_t)f->snap->nodes.count + 1);
    for (uint32_t n = 0; n < f->snap->nodes.count; n++) {
        int64_t devices = to_be_freed(f, &h, n);
        if (devices >= 0) {
            nodes[count++] = (struct leaver){n, devices};
        }
    }
    sort_stable(nodes, count, sizeof(*nodes), by_devices, NULL, f->arena);
    for (uint32_t i = 0; i < count && !f->exhausted; i++) {
        if (free_on_node(f, &h, nodes[i].ix)) {
            return true;
        }
    }
    return false;
}

bool finder_end_workload(struct finder *f)
{
    const struct snapshot *s = f->snap;
    uint32_t count = 0;
    struct leaver *all = ARENA_ARRAY(f->arena, struct leaver, (size_t)s->workloads.count + 1);
    for (uint32_t w = s->workloads.count; w > 0; w--) {
        const struct snap_workload *other = &s->workloads.items[w - 1];
        struct leaver l = {w - 1, 0};
        bool there = false;
        for (uint32_t t = other->task_first; t < other->task_first + other->task_count; t++) {
            const struct snap_task *task = &s->tasks.items[t];
            if (finder_holds(task)) {
                there = true;
                l.devices += fairshare_task_cost(s, task).v[RES_GPU];
            }
        }
        if (there && w - 1 != f->workload) {
            all[count++] = l;
        }
    }
    sort_stable(all, count, sizeof(*all), by_devices, NULL, f->arena);
    for (uint32_t i = 0; i < count && !f->exhausted; i++) {
        struct remedy r = finder_remedy(REMEDY_END);
        r.other.ix = all[i].ix;
        if (finder_enough(f, &r)) {
            return true;
        }
    }
    return false;
}

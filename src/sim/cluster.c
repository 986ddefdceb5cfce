// SPDX-License-Identifier: Apache-2.0
// cluster: see cluster.h. A pod's row stays after its process is gone, until the server forgets
// the pod or starts it anew: that is how doing a start again does nothing. A failing node takes
// its processes with it, and comes back only after its loss has been delivered, as an agent that
// has to introduce itself anew does.
#include "sim/cluster.h"

#include <string.h>

#include "base/check.h"
#include "model/ids.h"
#include "model/units.h"
#include "sim/hold.h"

enum {
    NODE_UP_MIN_MS = 60 * 1000,
    NODE_UP_MAX_MS = 3 * 3600 * 1000,
    NODE_DOWN_MAX_MS = 10 * 60 * 1000,
    RUN_MAX_MS = 20 * 60 * 1000,
};

#define BREACH(c, ...) \
    ((c)->breach = (c)->breach.len > 0 ? (c)->breach : arena_printf((c)->arena, __VA_ARGS__))

/* ---- reports ---- */

static int64_t delay_ms(struct sim_cluster *c)
{
    return prng_chance(c->prng, 20) ? prng_range(c->prng, 0, 60000) : prng_range(c->prng, 0, 1500);
}

static void push_report(struct sim_cluster *c, struct sim_message r)
{
    r.order = c->order++;
    *ARRAY_PUSH(c->arena, &c->reports) = r;
}

static void report_pod(struct sim_cluster *c, const struct sim_proc *p, enum input_kind kind)
{
    struct sim_message r = {.kind = kind, .node = IX_NONE};
    r.pod = (struct pod_report){
        .pod = p->pod,
        .attempt = p->attempt,
        .node = c->nodes.items[p->node].name,
        .at_ms = c->now_ms,
        .exit_code = p->exit_code,
        .reason = p->reason,
    };
    r.at_ms = c->now_ms + delay_ms(c);
    push_report(c, r);
    if (prng_chance(c->prng, 40)) { // twice
        r.at_ms = c->now_ms + delay_ms(c);
        push_report(c, r);
    }
}

static void report_node(struct sim_cluster *c, uint32_t node)
{
    struct sim_node *n = &c->nodes.items[node];
    int64_t at_ms = c->now_ms + delay_ms(c);
    n->reported_ms = at_ms > n->reported_ms ? at_ms : n->reported_ms;
    n->undelivered++;
    push_report(c, (struct sim_message){.at_ms = n->reported_ms, .node = node});
}

static void deliver_node(struct sim_node *n, cluster_observe *observe, void *arg)
{
    static const struct label second = {STRS("pool"), STRS("b")};
    struct input in = {.kind = INPUT_NODE_LOST, .node_name = n->name};
    struct device devices[SIM_NODE_DEVICES_MAX];
    struct label label = second;
    if (n->up) {
        memcpy(devices, n->devices, sizeof(devices));
        in = (struct input){.kind = INPUT_NODE_SEEN};
        in.node = (struct node){
            .name = n->name,
            .cpu_milli = n->cpu_milli,
            .memory_bytes = n->memory_bytes,
            .pods_max = 110,
            .ready = true,
            .devices = devices,
            .devices_count = n->devices_count,
            .labels = &label,
            .labels_count = n->second_pool,
            .zones = n->zones,
            .zones_count = n->zones_count,
        };
    }
    observe(arg, &in);
}

/* ---- processes ---- */

static struct sim_proc *find_proc(struct sim_cluster *c, const struct uuid *pod)
{
    uint32_t row;
    return map_get(&c->by_pod, uuid_bytes(pod), &row) ? &c->procs[row] : NULL;
}

static struct sim_proc *add_proc(struct sim_cluster *c, const struct uuid *pod)
{
    uint32_t row;
    if (c->free_rows.count > 0) {
        row = c->free_rows.items[--c->free_rows.count];
    } else {
        CHECK(c->procs_count < SIM_PROCS_MAX);
        row = c->procs_count++;
    }
    struct sim_proc *p = &c->procs[row];
    *p = (struct sim_proc){.pod = *pod};
    map_put(&c->by_pod, uuid_bytes(&p->pod), row);
    return p;
}

static uint32_t node_of(const struct sim_cluster *c, struct str name)
{
    for (uint32_t i = 0; i < c->nodes.count; i++) {
        if (str_eq(c->nodes.items[i].name, name)) {
            return i;
        }
    }
    return IX_NONE;
}

// What all processes that are not gone have of a device of a node.
static int64_t taken_of(const struct sim_cluster *c, uint32_t node, struct str device)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < c->procs_count; i++) {
        const struct sim_proc *o = &c->procs[i];
        bool there = !o->forgotten && o->state != PROC_GONE && o->node == node;
        for (uint32_t k = 0; there && k < o->devices_count; k++) {
            sum += str_eq(o->devices[k].uuid, device) ? o->devices[k].take : 0;
        }
    }
    return sum;
}

static void watch_devices(struct sim_cluster *c, const struct sim_proc *p)
{
    const struct sim_node *n = &c->nodes.items[p->node];
    for (uint32_t d = 0; d < n->devices_count; d++) {
        if (taken_of(c, p->node, n->devices[d].uuid) > hold_whole(&n->devices[d])) {
            BREACH(c, "the processes on device %.*s of node %.*s have more of it than there is",
                   STR_ARG(n->devices[d].uuid), STR_ARG(n->name));
        }
    }
}

static void gone(struct sim_cluster *c, struct sim_proc *p, int64_t exit_code, struct str reason)
{
    p->state = PROC_GONE;
    p->exit_code = exit_code;
    p->reason = reason;
    p->devices_count = 0;
    report_pod(c, p, INPUT_POD_EXITED);
}

static void take_devices(struct sim_cluster *c, struct sim_proc *p, const struct effect *f)
{
    const struct sim_node *n = &c->nodes.items[p->node];
    const struct pod_spec *spec = workload_pod(f->workload, f->pod_index);
    for (uint32_t i = 0; i < f->pod_state->devices_count; i++) {
        uint32_t d = 0;
        while (d < n->devices_count && !str_eq(n->devices[d].uuid, f->pod_state->devices[i].uuid)) {
            d++;
        }
        if (d == n->devices_count || p->devices_count == SIM_NODE_DEVICES_MAX) {
            BREACH(c, "a pod is started on a device that node %.*s does not have",
                   STR_ARG(n->name));
            return;
        }
        p->devices[p->devices_count++] = (struct sim_hold){n->devices[d].uuid,
                                                           hold_take(&n->devices[d], spec)};
    }
}

static void do_start(struct sim_cluster *c, const struct effect *f)
{
    uint32_t node = node_of(c, f->node);
    struct sim_proc *p = find_proc(c, &f->pod);
    if (p && f->attempt <= p->attempt) {
        return; // done before
    }
    if (p && p->state != PROC_GONE) {
        BREACH(c, "attempt %u of a pod is started while attempt %u has not ended", f->attempt,
               p->attempt);
        return;
    }
    if (node == IX_NONE) {
        BREACH(c, "a pod is started on node \"%.*s\", which never was", STR_ARG(f->node));
        return;
    }
    p = p ? p : add_proc(c, &f->pod);
    *p = (struct sim_proc){.pod = f->pod, .attempt = f->attempt, .node = node, .exit_code = -1};
    take_devices(c, p, f);
    p->due_ms = c->now_ms + prng_range(c->prng, 10, 4000);
    if (!c->nodes.items[node].up) {
        p->state = PROC_GONE; // the loss is on its way to the server
        p->devices_count = 0;
        p->reason = STR("NodeLost");
        return;
    }
    c->starts++;
    watch_devices(c, p);
}

static void do_stop(struct sim_cluster *c, const struct effect *f)
{
    struct sim_proc *p = find_proc(c, &f->pod);
    c->stops++;
    if (!p || f->attempt > p->attempt) {
        uint32_t node = node_of(c, f->node);
        if (node != IX_NONE) { // told to stop before it was told to start: it never will
            p = p ? p : add_proc(c, &f->pod);
            *p = (struct sim_proc){.pod = f->pod, .attempt = f->attempt, .node = node};
            gone(c, p, 143, STR("Stopped"));
        }
        return;
    }
    if (f->attempt < p->attempt) {
        return;
    }
    if (p->state == PROC_GONE) {
        report_pod(c, p, INPUT_POD_EXITED); // said before, but not heard
    } else if (p->state != PROC_STOPPING) {
        p->state = PROC_STOPPING;
        p->due_ms = c->now_ms + prng_range(c->prng, 0, f->grace_ms);
    }
}

static void forget(struct sim_cluster *c, uint32_t row)
{
    map_del(&c->by_pod, uuid_bytes(&c->procs[row].pod));
    c->procs[row].forgotten = true;
    *ARRAY_PUSH(c->arena, &c->free_rows) = row;
}

static void do_forget(struct sim_cluster *c, const struct effect *f)
{
    uint32_t row;
    if (!map_get(&c->by_pod, uuid_bytes(&f->pod), &row)) {
        return;
    }
    if (c->procs[row].state != PROC_GONE) {
        BREACH(c, "a pod is forgotten while it runs");
        return;
    }
    forget(c, row);
}

static void sim_do_effects(void *ctx, const struct effect *effects, uint32_t count)
{
    struct sim_cluster *c = ctx;
    for (uint32_t i = 0; i < count; i++) {
        switch (effects[i].kind) {
        case EFFECT_START:
            do_start(c, &effects[i]);
            break;
        case EFFECT_STOP:
            do_stop(c, &effects[i]);
            break;
        case EFFECT_FORGET:
            do_forget(c, &effects[i]);
            break;
        }
    }
}

static void sim_poll(void *ctx, cluster_observe *observe, void *arg)
{
    struct sim_cluster *c = ctx;
    uint32_t first = IX_NONE; // one at a time: the next one that is due
    for (uint32_t i = 0; i < c->reports.count; i++) {
        const struct sim_message *r = &c->reports.items[i];
        const struct sim_message *best = first == IX_NONE ? NULL : &c->reports.items[first];
        if (r->at_ms <= c->now_ms && (!best || r->at_ms < best->at_ms ||
                                      (r->at_ms == best->at_ms && r->order < best->order))) {
            first = i;
        }
    }
    if (first == IX_NONE) {
        return;
    }
    struct sim_message r = c->reports.items[first];
    c->reports.items[first] = c->reports.items[--c->reports.count];
    if (r.node != IX_NONE) {
        c->nodes.items[r.node].undelivered--;
        deliver_node(&c->nodes.items[r.node], observe, arg);
        return;
    }
    struct input in = {.kind = r.kind, .pod = r.pod};
    observe(arg, &in);
}

struct cluster sim_cluster_port(struct sim_cluster *c)
{
    return (struct cluster){.ctx = c, .do_effects = sim_do_effects, .poll = sim_poll};
}

/* ---- what happens by itself ---- */

static void advance_proc(struct sim_cluster *c, struct sim_proc *p)
{
    switch (p->state) {
    case PROC_STARTING:
        if (prng_chance(c->prng, 30)) {
            p->state = PROC_GONE;
            p->devices_count = 0;
            p->exit_code = -1;
            p->reason = STR("no such command");
            report_pod(c, p, INPUT_POD_FAILED);
            return;
        }
        p->state = PROC_RUNNING;
        p->due_ms = c->now_ms + prng_range(c->prng, 1000, RUN_MAX_MS);
        report_pod(c, p, INPUT_POD_STARTED);
        return;
    case PROC_RUNNING:
        if (prng_chance(c->prng, 850)) {
            gone(c, p, 0, STR("Completed"));
        } else {
            gone(c, p, prng_range(c->prng, 1, 139), STR("Error"));
        }
        return;
    case PROC_STOPPING:
        if (prng_chance(c->prng, 40)) {
            gone(c, p, 0, STR("Completed")); // was just done
        } else {
            gone(c, p, prng_chance(c->prng, 900) ? 143 : 137, STR("Stopped"));
        }
        return;
    case PROC_GONE:
        return;
    }
}

static void node_down(struct sim_cluster *c, uint32_t node)
{
    struct sim_node *n = &c->nodes.items[node];
    n->up = false;
    n->due_ms = c->now_ms + prng_range(c->prng, 1000, NODE_DOWN_MAX_MS);
    c->node_losses++;
    for (uint32_t i = 0; i < c->procs_count; i++) {
        struct sim_proc *p = &c->procs[i];
        if (!p->forgotten && p->state != PROC_GONE && p->node == node) {
            p->state = PROC_GONE;
            p->devices_count = 0;
            p->exit_code = -1;
            p->reason = STR("NodeLost");
        }
    }
    report_node(c, node);
}

static void advance_node(struct sim_cluster *c, uint32_t node)
{
    struct sim_node *n = &c->nodes.items[node];
    if (!n->up) {
        if (n->undelivered == 0) {
            n->up = true;
            n->due_ms = c->now_ms + prng_range(c->prng, NODE_UP_MIN_MS, NODE_UP_MAX_MS);
            report_node(c, node);
        }
        return;
    }
    if (n->devices_count > 0 && prng_chance(c->prng, 400)) { // a device, not the node
        struct device *d = &n->devices[prng_below(c->prng, n->devices_count)];
        d->healthy = !d->healthy;
        n->due_ms = c->now_ms + prng_range(c->prng, NODE_UP_MIN_MS,
                                           d->healthy ? NODE_UP_MAX_MS : NODE_DOWN_MAX_MS);
        report_node(c, node);
        return;
    }
    node_down(c, node);
}

void sim_cluster_advance(struct sim_cluster *c, int64_t now_ms)
{
    CHECK(now_ms >= c->now_ms);
    c->now_ms = now_ms;
    for (uint32_t i = 0; i < c->nodes.count; i++) {
        if (c->nodes.items[i].due_ms <= now_ms) {
            advance_node(c, i);
        }
    }
    for (uint32_t i = 0; i < c->procs_count; i++) {
        struct sim_proc *p = &c->procs[i];
        if (!p->forgotten && p->state != PROC_GONE && p->due_ms <= now_ms) {
            advance_proc(c, p);
        } else if (!p->forgotten && p->state == PROC_RUNNING && prng_chance(c->prng, 3)) {
            report_pod(c, p, INPUT_POD_CHECKPOINT);
        } else if (!p->forgotten && p->state == PROC_RUNNING && prng_chance(c->prng, 3)) {
            report_pod(c, p, INPUT_POD_IDLE);
        }
    }
}

static bool is_known(const struct state *s, const struct uuid *pod)
{
    for (uint32_t i = 0; i < s->workloads_count; i++) {
        for (uint32_t k = 0; k < s->workloads[i].pods_count; k++) {
            if (uuid_eq(s->workloads[i].pods[k].id, *pod)) {
                return true;
            }
        }
    }
    return false;
}

void sim_cluster_resync(struct sim_cluster *c, const struct state *believed)
{
    c->reports.count = 0; // what was on its way died with the connection
    for (uint32_t i = 0; i < c->nodes.count; i++) {
        c->nodes.items[i].undelivered = 0;
        c->nodes.items[i].reported_ms = 0;
        report_node(c, i);
    }
    for (uint32_t i = 0; i < c->procs_count; i++) {
        const struct sim_proc *p = &c->procs[i];
        if (!p->forgotten && p->state == PROC_GONE) {
            if (is_known(believed, &p->pod)) {
                report_pod(c, p, INPUT_POD_EXITED);
            } else {
                forget(c, i);
            }
        } else if (!p->forgotten && p->state == PROC_RUNNING) {
            report_pod(c, p, INPUT_POD_STARTED);
        }
    }
    for (uint32_t i = 0; i < believed->workloads_count; i++) {
        const struct workload *w = &believed->workloads[i];
        for (uint32_t k = 0; k < w->pods_count; k++) {
            const struct pod *pod = &w->pods[k];
            const struct sim_proc *p = find_proc(c, &pod->id);
            uint32_t node = node_of(c, pod->node);
            if (pod->phase == POD_RUNNING && node != IX_NONE && (!p || p->attempt < pod->attempt)) {
                struct sim_proc lost = {.pod = pod->id,
                                        .attempt = pod->attempt,
                                        .node = node,
                                        .exit_code = -1,
                                        .reason = STR("NodeLost")};
                report_pod(c, &lost, INPUT_POD_EXITED);
            }
        }
    }
}

// Two NUMA nodes of the same size.
static void divide(struct sim_node *n)
{
    n->zones_count = SIM_ZONES;
    for (uint32_t z = 0; z < SIM_ZONES; z++) {
        n->zones[z] = (struct zone){.numa_node = z,
                                    .cpu_milli = n->cpu_milli / SIM_ZONES,
                                    .memory_bytes = n->memory_bytes / SIM_ZONES};
    }
    for (uint32_t d = 0; d < n->devices_count; d++) {
        n->devices[d].numa_node = d * SIM_ZONES / n->devices_count;
    }
}

void sim_cluster_init(struct sim_cluster *c, struct arena *arena, struct prng *prng, int64_t now_ms)
{
    *c = (struct sim_cluster){.arena = arena, .prng = prng, .now_ms = now_ms};
    map_init(&c->by_pod, arena);
    c->procs = ARENA_ARRAY(arena, struct sim_proc, SIM_PROCS_MAX);
    uint32_t count = 2 + prng_below(prng, 3);
    for (uint32_t i = 0; i < count; i++) {
        static const uint32_t sizes[] = {1, 2, 4, 4, 8};
        int64_t device_gib = prng_chance(prng, 300) ? 40 : 80;
        struct sim_node *n = ARRAY_PUSH(arena, &c->nodes);
        n->name = arena_printf(arena, "node-%u", i);
        n->second_pool = i > 0 && prng_chance(prng, 400);
        n->up = true;
        n->devices_count = sizes[prng_below(prng, COUNT_OF(sizes))];
        n->cpu_milli = 8000 * (int64_t)n->devices_count;
        n->memory_bytes = (INT64_C(64) << 30) * (int64_t)n->devices_count;
        n->due_ms = now_ms + prng_range(prng, NODE_UP_MIN_MS, NODE_UP_MAX_MS);
        for (uint32_t d = 0; d < n->devices_count; d++) {
            n->devices[d] = (struct device){.uuid = arena_printf(arena, "GPU-%u-%u", i, d),
                                            .memory_bytes = device_gib << 30,
                                            .index = d,
                                            .numa_node = -1,
                                            .healthy = true};
        }
        if (n->devices_count > 1 && prng_chance(prng, 500)) {
            divide(n);
        }
        report_node(c, i);
    }
}

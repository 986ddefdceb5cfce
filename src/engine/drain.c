// SPDX-License-Identifier: Apache-2.0
// drain: nodes and devices that a person closed for new work. What a node is the cluster says, what
// may run there people say; so drains are a table of their own, which no report of a node touches,
// and which outlives the node's absence. The scheduler moves what it can (sched/drain.c); what is
// left when the deadline is over is stopped here, whoever it is: R2 is about others' demand.
#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/num.h"
#include "engine/machine.h"
#include "model/ids.h"
#include "model/limits.h"
#include "model/reason.h"

/* ---- finding ---- */

static int compare(const struct drain *d, struct str node, struct str device)
{
    int order = str_cmp(d->node, node);
    return order != 0 ? order : str_cmp(d->device, device);
}

// Where it is, or would be put.
static uint32_t place_of(const struct state *s, struct str node, struct str device)
{
    uint32_t at = 0;
    uint32_t end = s->drains_count;
    while (at < end) {
        uint32_t middle = at + (end - at) / 2;
        if (compare(&s->drains[middle], node, device) < 0) {
            at = middle + 1;
        } else {
            end = middle;
        }
    }
    return at;
}

const struct drain *engine_drain(const struct engine *e, struct str node, struct str device)
{
    const struct state *s = &e->s;
    uint32_t at = place_of(s, node, device);
    bool found = at < s->drains_count && compare(&s->drains[at], node, device) == 0;
    return found ? &s->drains[at] : NULL;
}

bool node_is_open(const struct engine *e, const struct node *n)
{
    return n->ready && (e->s.drains_count == 0 || !engine_drain(e, n->name, STR("")));
}

bool device_is_open(const struct engine *e, const struct node *n, uint32_t device)
{
    const struct device *d = &n->devices[device];
    return d->healthy && (e->s.drains_count == 0 || !engine_drain(e, n->name, d->uuid));
}

bool drains_sorted(const struct state *s)
{
    for (uint32_t i = 0; i < s->drains_count; i++) {
        const struct drain *d = &s->drains[i];
        if (d->node.len == 0 || (d->deadline_ms != TIME_NEVER && !d->moves) ||
            (i > 0 && compare(d - 1, d->node, d->device) >= 0)) {
            return false;
        }
    }
    return true;
}

/* ---- commands ---- */

static bool is_index(const struct device *d, struct str text)
{
    int64_t index;
    return num_parse_i64(text, &index) && index == d->index;
}

// The UUID of the device that the command names.
static bool find_device(const struct node *n, struct str named, struct str *uuid)
{
    for (uint32_t i = 0; i < n->devices_count; i++) {
        if (str_eq(n->devices[i].uuid, named) || is_index(&n->devices[i], named)) {
            *uuid = n->devices[i].uuid;
            return true;
        }
    }
    return false;
}

static void check_device(const struct engine *e, const struct input *in, struct outcome *out)
{
    struct str uuid;
    const struct node *n = &e->s.nodes[tables_node(&e->s, in->node_name)];
    struct str named = in->drain.device;
    bool known = engine_drain(e, in->node_name, named) != NULL; // it may be gone since
    if (named.len == 0 || known || find_device(n, named, &uuid)) {
        return;
    }
    out->status = err_set(&out->err, STATUS_UNKNOWN, "node \"%.*s\" has no device \"%.*s\"",
                          STR_ARG(n->name), STR_ARG(str_sub(named, 0, 100)));
    err_field(&out->err, "device");
    err_hint(&out->err, n->devices_count > 0
                            ? "name one by its number or UUID: weir node describe shows them"
                            : "it has no devices");
}

static void check_ask(const struct drain_ask *ask, struct outcome *out)
{
    if (ask->within_ms < -1 || ask->within_ms > DURATION_MAX_MS) {
        out->status = err_set(&out->err, STATUS_INVALID,
                              "%" PRId64 " is not allowed, expected 0 to %" PRId64 " ms",
                              ask->within_ms, DURATION_MAX_MS);
        err_field(&out->err, "within_ms");
    } else if (ask->within_ms >= 0 && !ask->moves) {
        out->status = err_set(&out->err, STATUS_INVALID,
                              "what is only closed for new work has no deadline");
        err_field(&out->err, "within_ms");
        err_hint(&out->err, "leave the deadline out, or drain instead of cordoning");
    } else if (ask->reason.len > DRAIN_REASON_MAX) {
        out->status = err_set(&out->err, STATUS_TOO_LARGE,
                              "the reason has %u bytes, at most %u are allowed", ask->reason.len,
                              DRAIN_REASON_MAX);
        err_field(&out->err, "reason");
    }
}

void drain_check(const struct engine *e, const struct input *in, struct outcome *out)
{
    const struct state *s = &e->s;
    if (tables_node(s, in->node_name) == IX_NONE) {
        struct str *names = ARENA_ARRAY(&e->self->scratch, struct str, s->nodes_count);
        for (uint32_t i = 0; i < s->nodes_count; i++) {
            names[i] = s->nodes[i].name;
        }
        struct str name = str_sub(in->node_name, 0, 100);
        uint32_t near = str_nearest(name, names, s->nodes_count);
        out->status = err_set(&out->err, STATUS_UNKNOWN, "there is no node \"%.*s\"",
                              STR_ARG(name));
        if (near < s->nodes_count) {
            err_hint(&out->err, "did you mean \"%.*s\"?", STR_ARG(names[near]));
        } else {
            err_hint(&out->err, "weir node list shows those there are");
        }
        return;
    }
    check_device(e, in, out);
    if (out->status == STATUS_OK && in->kind == INPUT_NODE_DRAIN) {
        check_ask(&in->drain, out);
    }
}

/* ---- what is on it ---- */

bool drain_covers(const struct drain *d, const struct pod *p)
{
    bool covers = d->device.len == 0;
    for (uint32_t i = 0; i < p->devices_count && !covers; i++) {
        covers = str_eq(p->devices[i].uuid, d->device);
    }
    return covers && str_eq(d->node, p->node);
}

static bool is_active(const struct pod *p)
{
    return p->phase == POD_BINDING || p->phase == POD_RUNNING;
}

// Notice to those whose work will be moved or stopped.
static void give_notice(struct step *st, const struct drain *d)
{
    for (uint32_t row = 0; row < st->e->s.workloads_count; row++) {
        const struct workload *w = &st->e->s.workloads[row];
        for (uint32_t i = 0; i < w->pods_count; i++) {
            const struct pod *p = &w->pods[i];
            if (is_active(p) && drain_covers(d, p)) {
                struct event *ev = workload_event(st, row, EVENT_DRAINING);
                ev->pod = p->id;
                ev->node = p->node;
                ev->text = d->reason;
                ev->author = d->author;
                ev->why.until_ms = d->deadline_ms;
                break; // one for the workload
            }
        }
    }
}

/* ---- change ---- */

static void remove_at(struct state *s, uint32_t at)
{
    s->drains_count--;
    memmove(s->drains + at, s->drains + at + 1, sizeof(*s->drains) * (s->drains_count - at));
}

static struct drain *put_at(struct engine *e, uint32_t at)
{
    struct state *s = &e->s;
    s->drains = array_grow(engine_memory(e), s->drains, sizeof(*s->drains), s->drains_count,
                           &e->drains_cap);
    memmove(s->drains + at + 1, s->drains + at, sizeof(*s->drains) * (s->drains_count - at));
    s->drains_count++;
    return &s->drains[at];
}

void drain_apply(struct step *st)
{
    struct engine *e = st->e;
    struct state *s = &e->s;
    const struct drain_ask *ask = &st->in->drain;
    uint32_t node = tables_node(s, st->in->node_name);
    struct str device = ask->device;
    (void)find_device(&s->nodes[node], ask->device, &device);
    uint32_t at = place_of(s, st->in->node_name, device);
    const struct drain *old = engine_drain(e, st->in->node_name, device);
    bool drains = st->in->kind == INPUT_NODE_DRAIN;
    if (!old && !drains) {
        return; // it is open already
    }
    struct arena *a = engine_memory(e);
    usage_node(e, node, true);
    struct drain d = {
        .node = s->nodes[node].name,
        .device = arena_str(a, device),
        .moves = ask->moves,
        .since_ms = old ? old->since_ms : st->now_ms,
        .deadline_ms = ask->within_ms < 0 ? TIME_NEVER
                                          : num_sat_add_i64(st->now_ms, ask->within_ms),
        .author = arena_str(a, st->in->author),
        .reason = arena_str(a, ask->reason),
    };
    if (!drains) {
        remove_at(s, at);
    } else if (old) {
        s->drains[at] = d;
    } else {
        *put_at(e, at) = d;
    }
    usage_node(e, node, false);
    if (drains && d.moves) {
        give_notice(st, &d);
    }
}

/* ---- deadlines ---- */

const struct drain *drain_overdue(const struct engine *e, const struct pod *p, int64_t now_ms)
{
    for (uint32_t i = 0; is_active(p) && i < e->s.drains_count; i++) {
        const struct drain *d = &e->s.drains[i];
        if (d->deadline_ms != TIME_NEVER && d->deadline_ms <= now_ms && drain_covers(d, p)) {
            return d;
        }
    }
    return NULL;
}

void drain_deadlines(const struct engine *e, int64_t now_ms, struct tick_builder *b)
{
    for (uint32_t row = 0; e->s.drains_count > 0 && row < e->s.workloads_count; row++) {
        const struct workload *w = &e->s.workloads[row];
        for (uint32_t i = 0; i < w->pods_count; i++) {
            const struct pod *p = &w->pods[i];
            const struct drain *d = drain_overdue(e, p, now_ms);
            if (d) {
                *ARRAY_PUSH(b->arena, &b->evicts) = (struct evict){
                    .pod = p->id,
                    .why = {.code = REASON_EVICTED_DRAIN_DEADLINE, .until_ms = d->deadline_ms},
                };
            }
        }
    }
}

int64_t drain_next_ms(const struct engine *e)
{
    int64_t next = INT64_MAX;
    int64_t seen_ms = num_max_i64(e->s.now_ms, e->decided_ms);
    for (uint32_t i = 0; i < e->s.drains_count; i++) {
        int64_t deadline_ms = e->s.drains[i].deadline_ms;
        if (deadline_ms > seen_ms) {
            next = num_min_i64(next, deadline_ms);
        }
    }
    return next;
}

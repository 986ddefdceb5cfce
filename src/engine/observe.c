// SPDX-License-Identifier: Apache-2.0
// observe: what a cluster adapter saw. Reports come late, twice and out of order; one that is not
// about a pod's present attempt, or says what is known, changes nothing. A start that nobody wants
// any more is answered with a stop, so that what a returning node still runs comes to an end; the
// end of a pod that is not known any more, with leave to forget it, which may have been lost once.
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/num.h"
#include "base/sort.h"
#include "engine/machine.h"
#include "model/ids.h"
#include "model/reason.h"

// One pod speaks for all. What is ahead of our time was said now.
static void note_checkpoint(struct step *st, uint32_t row, int64_t at_ms)
{
    struct workload *w = &st->e->s.workloads[row];
    w->checkpoint_ms = num_max_i64(w->checkpoint_ms, num_min_i64(at_ms, st->now_ms));
}

// Not before it had them, and not after now: the node's clock is another one.
static void note_idle(struct step *st, struct pod *p, int64_t at_ms)
{
    int64_t first_ms = num_max_i64(p->start_ms, 1);
    p->idle_since_ms = at_ms <= 0 || p->start_ms == TIME_NEVER
                           ? 0
                           : num_max_i64(num_min_i64(at_ms, st->now_ms), first_ms);
}

static void pod_report(struct step *st)
{
    const struct pod_report *r = &st->in->pod;
    uint32_t at;
    if (!map_get(&st->e->t.pods, uuid_bytes(&r->pod), &at)) {
        if (st->in->kind == INPUT_POD_STARTED) {
            effect_stop_unknown(st->effects, r);
        } else {
            effect_forget_unknown(st->effects, r);
        }
        return;
    }
    uint32_t row = st->e->t.pod_rows[at].workload;
    uint32_t pod = st->e->t.pod_rows[at].pod;
    struct pod *p = &st->e->s.workloads[row].pods[pod];
    if (!pod_holds(p) || p->attempt != r->attempt) {
        if (st->in->kind == INPUT_POD_STARTED && r->attempt <= p->attempt) {
            effect_stop_unknown(st->effects, r);
        }
        return;
    }
    if (st->in->kind == INPUT_POD_CHECKPOINT) {
        note_checkpoint(st, row, r->at_ms);
        return;
    }
    if (st->in->kind == INPUT_POD_IDLE) {
        note_idle(st, p, r->at_ms);
        return;
    }
    if (st->in->kind == INPUT_POD_STARTED) {
        pod_started(st, row, pod);
    } else {
        bool exited = st->in->kind == INPUT_POD_EXITED;
        pod_end(st, row, pod, exited ? POD_END_EXIT : POD_END_START_FAILED,
                exited ? r->exit_code : -1, r->reason, r->at_ms);
    }
    workload_settle(st, row);
}

static int device_order(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(((const struct device *)a)->uuid, ((const struct device *)b)->uuid);
}

static bool node_has(const struct node *n, struct str uuid, struct str *fault)
{
    *fault = STR("gone");
    for (uint32_t i = 0; i < n->devices_count; i++) {
        if (str_eq(n->devices[i].uuid, uuid)) {
            *fault = n->devices[i].fault;
            return n->devices[i].healthy;
        }
    }
    return false;
}

static bool pod_lacks_device(const struct node *n, const struct pod *p, struct str *fault)
{
    for (uint32_t i = 0; i < p->devices_count; i++) {
        if (!node_has(n, p->devices[i].uuid, fault)) {
            return true;
        }
    }
    return false;
}

// Pods whose devices are gone or sick are moved elsewhere.
static void stop_stranded(struct step *st, const struct node *n)
{
    for (uint32_t row = 0; row < st->e->s.workloads_count; row++) {
        const struct workload *w = &st->e->s.workloads[row];
        bool any = false;
        for (uint32_t i = 0; i < w->pods_count; i++) {
            const struct pod *p = &w->pods[i];
            struct str fault;
            if ((p->phase == POD_BINDING || p->phase == POD_RUNNING) && str_eq(p->node, n->name) &&
                pod_lacks_device(n, p, &fault)) {
                struct event *ev = workload_event(st, row, EVENT_EVICTED);
                ev->pod = p->id;
                ev->node = p->node;
                ev->why.code = REASON_EVICTED_DEVICE_LOST;
                ev->text = fault;
                pod_stop(st, row, i, true);
                any = true;
            }
        }
        if (any) {
            workload_settle(st, row);
        }
    }
}

// A row for a node that was never seen, where its name puts it. It has no pods.
static uint32_t node_insert(struct engine *e, struct str name)
{
    struct state *s = &e->s;
    uint32_t at = 0;
    uint32_t end = s->nodes_count;
    while (at < end) {
        uint32_t middle = at + (end - at) / 2;
        if (str_cmp(s->nodes[middle].name, name) < 0) {
            at = middle + 1;
        } else {
            end = middle;
        }
    }
    s->nodes = array_grow(engine_memory(e), s->nodes, sizeof(*s->nodes), s->nodes_count,
                          &e->nodes_cap);
    memmove(s->nodes + at + 1, s->nodes + at, sizeof(*s->nodes) * (s->nodes_count - at));
    s->nodes[at] = (struct node){.name = name};
    s->nodes_count++;
    tables_insert_node(e, at);
    return at;
}

// Puts what the pods of a node hold into the books, or takes it out: around any change of its
// pool or its devices.
static void book_node(struct engine *e, uint32_t node, bool gone)
{
    for (uint32_t row = 0; row < e->s.workloads_count; row++) {
        const struct workload *w = &e->s.workloads[row];
        for (uint32_t i = 0; w->end_ms == TIME_NEVER && i < w->pods_count; i++) {
            if (pod_holds(&w->pods[i]) && str_eq(w->pods[i].node, e->s.nodes[node].name)) {
                ledger_move(e, row, &w->pods[i], gone);
            }
        }
    }
}

static void node_seen(struct step *st)
{
    struct engine *e = st->e;
    struct node seen;
    record_copy(&record_node, &st->in->node, &seen, &e->scratch);
    sort_stable(seen.devices, seen.devices_count, sizeof(*seen.devices), device_order, NULL,
                &e->scratch);
    uint32_t at = tables_node(&e->s, seen.name);
    bool known = at != IX_NONE;
    at = known ? at : node_insert(e, seen.name);
    struct node *n = &e->s.nodes[at];
    seen.ready_since_ms = !seen.ready ? TIME_NEVER : n->ready ? n->ready_since_ms : st->now_ms;
    seen.seen_ms = n->seen_ms;
    if (record_eq(&record_node, &seen, n)) {
        n->seen_ms = st->now_ms;
        return;
    }
    seen.seen_ms = st->now_ms;
    e->s.change_seq = st->in->seq;
    if (known) {
        book_node(e, at, true);
    }
    usage_node(e, at, true);
    record_copy(&record_node, &seen, n, engine_memory(e));
    tables_set_node(e, at);
    usage_node(e, at, false);
    if (known) {
        book_node(e, at, false);
        stop_stranded(st, n);
    }
}

static void node_lost(struct step *st)
{
    struct state *s = &st->e->s;
    uint32_t at = tables_node(s, st->in->node_name);
    if (at == IX_NONE) {
        return;
    }
    usage_node(st->e, at, true);
    s->nodes[at].ready = false;
    s->nodes[at].ready_since_ms = TIME_NEVER;
    for (uint32_t row = 0; row < s->workloads_count; row++) {
        const struct workload *w = &s->workloads[row];
        bool any = false;
        for (uint32_t i = 0; i < w->pods_count; i++) {
            if (pod_holds(&w->pods[i]) && str_eq(w->pods[i].node, s->nodes[at].name)) {
                pod_end(st, row, i, POD_END_NODE_LOST, -1, STR("NodeLost"), st->now_ms);
                any = true;
            }
        }
        if (any) {
            workload_settle(st, row);
        }
    }
}

void observe_apply(struct step *st)
{
    switch (st->in->kind) {
    case INPUT_NODE_SEEN:
        node_seen(st);
        return;
    case INPUT_NODE_LOST:
        node_lost(st);
        return;
    case INPUT_POD_STARTED:
    case INPUT_POD_EXITED:
    case INPUT_POD_FAILED:
    case INPUT_POD_CHECKPOINT:
    case INPUT_POD_IDLE:
        pod_report(st);
        return;
    case INPUT_NONE:
    case INPUT_PLAN_APPLY:
    case INPUT_SUBMIT:
    case INPUT_SUSPEND:
    case INPUT_RESUME:
    case INPUT_DELETE:
    case INPUT_NAME_CLUSTER:
    case INPUT_REFUSED:
    case INPUT_TICK:
    case INPUT_IDENTITY:
    case INPUT_ASSET:
    case INPUT_POLICY:
    case INPUT_NODE_DRAIN:
    case INPUT_NODE_UNDRAIN:
    case INPUT_UPDATE:
    case INPUT_WORKLOAD_TYPE:
    case INPUT_KIND_COUNT:
        return;
    }
}

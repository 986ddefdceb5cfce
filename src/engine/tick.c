// SPDX-License-Identifier: Apache-2.0
// tick: time has passed, and what was decided for it is done. The decisions are in the input, so
// that restart repeats them whatever the scheduler would say now. What the state does not allow
// (a device that is held, a pod that does not wait) is left out: a journal from elsewhere can
// then give a poor state, but never an inconsistent one.
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "engine/machine.h"
#include "model/ids.h"
#include "model/units.h"

/* ---- what time alone does ---- */

// What is told of a workload once it is gone: what it was, and what became of it.
static void remember(struct step *st, const struct workload *w)
{
    enum { DROP = DELETED_MAX / 10 };
    struct engine *e = st->e;
    struct state *s = &e->s;
    uint32_t old = s->deleted_count >= DELETED_MAX ? DROP : 0;
    while (old < s->deleted_count && s->deleted[old].end_ms + DELETED_SHOWN_MS <= st->now_ms) {
        old++;
    }
    s->deleted_count -= old;
    if (old > 0) {
        memmove(s->deleted, s->deleted + old, sizeof(*s->deleted) * s->deleted_count);
    }
    s->deleted = array_grow(engine_memory(e), s->deleted, sizeof(*s->deleted), s->deleted_count,
                            &e->deleted_cap);
    struct workload *kept = &s->deleted[s->deleted_count++];
    *kept = (struct workload){
        .id = w->id,
        .name = w->name,
        .project = w->project,
        .kind = w->kind,
        .author = w->author,
        .spec = w->spec,
        .desired = WANT_DELETED,
        .created_ms = w->created_ms,
        .end_ms = st->now_ms,
        .last_start_ms = TIME_NEVER,
        .last_evict_ms = TIME_NEVER,
        .stale_since_ms = TIME_NEVER,
        .pending_since_ms = TIME_NEVER,
        .running_since_ms = TIME_NEVER,
        .run_ms = w->run_ms,
        .pending_ms = w->pending_ms,
        .pool_ix = w->pool_ix,
    };
    struct pod_spec *pods[] = {&kept->spec.pod, &kept->spec.master};
    for (uint32_t i = 0; i < COUNT_OF(pods); i++) { // which may be long
        pods[i]->args_count = pods[i]->env_count = 0;
        pods[i]->args = NULL;
        pods[i]->env = NULL;
    }
    kept->spec.labels = kept->spec.annotations = NULL;
    kept->spec.labels_count = kept->spec.annotations_count = 0;
}

// Removes ended workloads whose time is over. Rows behind them move up.
static void remove_ended(struct step *st)
{
    struct state *s = &st->e->s;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->workloads_count; i++) {
        struct workload *w = &s->workloads[i];
        if (workload_delete_at_ms(w) <= st->now_ms) {
            remember(st, w);
            for (uint32_t k = 0; k < w->pods_count; k++) {
                effect_forget(st->effects, w, k);
            }
        } else {
            if (kept < i) {
                s->workloads[kept] = *w;
            }
            kept++;
        }
    }
    if (kept < s->workloads_count) {
        s->workloads_count = kept;
        tables_build(st->e);
    }
}

/* ---- decisions ---- */

static bool find_pod(const struct engine *e, const struct uuid *id, uint32_t *row, uint32_t *pod)
{
    uint32_t at;
    if (!map_get(&e->t.pods, uuid_bytes(id), &at)) {
        return false;
    }
    *row = e->t.pod_rows[at].workload;
    *pod = e->t.pod_rows[at].pod;
    return true;
}

static void do_evict(struct step *st, const struct evict *ev)
{
    uint32_t row;
    uint32_t pod;
    if (!find_pod(st->e, &ev->pod, &row, &pod)) {
        return;
    }
    struct workload *w = &st->e->s.workloads[row];
    struct pod *p = &w->pods[pod];
    if (p->phase != POD_BINDING && p->phase != POD_RUNNING) {
        return;
    }
    struct event *event = workload_event(st, row, EVENT_EVICTED);
    event->pod = p->id;
    event->node = p->node;
    record_copy(&record_why, &ev->why, &event->why, engine_memory(st->e));
    if (limit_stops_workload(&ev->why)) {
        w->desired = WANT_STOPPED;
    } else {
        w->last_evict_ms = st->now_ms;
    }
    pod_stop(st, row, pod, true);
    workload_settle(st, row);
}

static bool device_free(const struct engine *e, uint32_t node, const struct pod_spec *spec,
                        const struct held_device *want)
{
    const struct node *n = &e->s.nodes[node];
    for (uint32_t d = 0; d < n->devices_count; d++) {
        if (str_eq(n->devices[d].uuid, want->uuid)) {
            return want->share > 0 && want->share <= DEVICE_SHARE &&
                   e->t.node_rows[node].device_share[d] + pod_device_share(spec, want) <=
                       DEVICE_SHARE;
        }
    }
    return false;
}

static bool place_free(const struct engine *e, const struct pod_spec *spec, const struct bind *b)
{
    uint32_t node = tables_node(&e->s, b->node);
    if (node == IX_NONE || !e->s.nodes[node].ready) {
        return false;
    }
    for (uint32_t i = 0; i < b->devices_count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (str_eq(b->devices[i].uuid, b->devices[k].uuid)) {
                return false;
            }
        }
        if (!device_free(e, node, spec, &b->devices[i])) {
            return false;
        }
    }
    return true;
}

// The row of the workload that was bound; IX_NONE: nothing was.
static uint32_t do_bind(struct step *st, const struct bind *b)
{
    uint32_t row;
    uint32_t pod;
    if (!find_pod(st->e, &b->pod, &row, &pod)) {
        return IX_NONE;
    }
    const struct workload *w = &st->e->s.workloads[row];
    const struct pod_spec *spec = workload_pod(w, pod);
    if (w->pods[pod].phase != POD_PENDING || w->desired != WANT_RUN ||
        b->devices_count != (uint32_t)spec->gpu_devices || !place_free(st->e, spec, b)) {
        return IX_NONE;
    }
    pod_bind(st, row, pod, b);
    return row;
}

static void next_pool(struct step *st, struct workload *w)
{
    if (w->tried_count == 0 || w->tried_count + 1 >= w->spec.pools_count) {
        w->tried_seq = st->e->s.change_seq;
        w->tried_ms = st->now_ms;
        w->tried_count = 0;
    }
    w->tried_count++;
    w->pool_ix = (w->pool_ix + 1) % w->spec.pools_count;
}

static void do_wait(struct step *st, const struct waiting *wait)
{
    uint32_t row;
    if (!map_get(&st->e->t.workloads, uuid_bytes(&wait->workload), &row)) {
        return;
    }
    struct workload *w = &st->e->s.workloads[row];
    if (w->end_ms != TIME_NEVER) {
        return;
    }
    if (wait->next_pool && wait->why.code == 0 && w->spec.pools_count > 1) {
        next_pool(st, w); // the reason stays what it was in the pool before
        return;
    }
    bool same = w->why.code == wait->why.code && str_eq(w->why.pool, wait->why.pool);
    int64_t since_ms = same ? w->why.since_ms : st->now_ms;
    record_copy(&record_why, &wait->why, &w->why, engine_memory(st->e));
    w->why.since_ms = wait->why.code == 0 ? 0 : since_ms;
    if (!same && wait->why.code != 0 && w->spec.pools_count == 1) {
        workload_event(st, row, EVENT_WAITING)->why = w->why;
    }
    if (wait->next_pool && w->spec.pools_count > 1) {
        next_pool(st, w);
    }
}

void tick_apply(struct step *st)
{
    struct engine *e = st->e;
    const struct tick *t = &st->in->tick;
    remove_ended(st);
    limit_notices(st);
    for (uint32_t i = 0; i < t->evicts_count; i++) {
        do_evict(st, &t->evicts[i]);
    }
    uint32_t *touched = ARENA_ARRAY(&e->scratch, uint32_t, t->binds_count);
    uint32_t touched_count = 0;
    for (uint32_t i = 0; i < t->binds_count; i++) {
        uint32_t row = do_bind(st, &t->binds[i]);
        if (row != IX_NONE) {
            touched[touched_count++] = row;
        }
    }
    for (uint32_t i = 0; i < touched_count; i++) {
        if (i == 0 || touched[i] != touched[i - 1]) {
            workload_settle(st, touched[i]); // once all of a gang is bound
        }
    }
    e->s.claims = t->claims_count > 0 ? ARENA_ARRAY(engine_memory(e), struct claim, t->claims_count)
                                      : NULL;
    e->s.claims_count = t->claims_count;
    for (uint32_t i = 0; i < t->claims_count; i++) {
        record_copy(&record_claim, &t->claims[i], &e->s.claims[i], engine_memory(e));
    }
    for (uint32_t i = 0; i < t->waiting_count; i++) {
        do_wait(st, &t->waiting[i]);
    }
}

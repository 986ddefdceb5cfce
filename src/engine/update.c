// SPDX-License-Identifier: Apache-2.0
// update: an inference workload is changed while it runs. Another number of pods is taken over at
// once: more of them wait for their places, those that are too many stop. Anything else is for all
// pods alike: those that run are stopped, and once nothing of it holds a place it is as it was asked
// to be, and its pods start again. What holds a place is thus always as the spec says.
#include "base/check.h"
#include "engine/machine.h"
#include "model/ids.h"

void update_check(const struct engine *e, const struct input *in, struct workload_spec *resolved,
                  struct outcome *out)
{
    const struct workload *w = engine_find(e, in->target);
    if (!w || w->desired == WANT_DELETED) {
        char id[UUID_TEXT_LEN + 1];
        uuid_format(in->target, id);
        out->status = err_set(&out->err, STATUS_UNKNOWN, "there is no workload %s", id);
        return;
    }
    if (w->kind != WORKLOAD_INFERENCE || w->end_ms != TIME_NEVER) {
        out->status = err_set(&out->err, STATUS_CONFLICT, "workload \"%.*s\" %s", STR_ARG(w->name),
                              w->kind != WORKLOAD_INFERENCE ? "is not inference, and stays as it is"
                                                            : "has ended");
        err_hint(&out->err, "submit it again as it should be");
        return;
    }
    struct submit s = in->submit;
    s.project = w->project;
    s.kind = w->kind;
    submit_spec_check(e, &s, resolved, out);
    out->id = w->id;
}

// Both ask for the same of each pod and of the scheduler.
static bool differ_in_number(const struct workload_spec *a, const struct workload_spec *b)
{
    struct workload_spec same = *a;
    same.pods = b->pods;
    same.pods_min = b->pods_min;
    return record_eq(&record_workload_spec, &same, b);
}

// Node pools may have gone while it waited; one that has none left stays where it is.
static void keep_pools(const struct engine *e, const struct workload_spec *old,
                       struct workload_spec *new)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < new->pools_count; i++) {
        if (tables_pool(&e->s.plan, new->pools[i].value) != IX_NONE) {
            new->pools[kept++] = new->pools[i];
        }
    }
    new->pools_count = kept;
    if (kept == 0) {
        new->pools = old->pools;
        new->pools_count = old->pools_count;
    }
}

static void adopt(struct step *st, uint32_t row, bool anew)
{
    struct workload *w = &st->e->s.workloads[row];
    struct arena *a = engine_memory(st->e);
    struct update *u = &w->updates[0];
    uint32_t count = u->pod_ids_count;
    keep_pools(st->e, &w->spec, &u->spec);
    w->spec = u->spec;
    w->asked = u->asked;
    w->pool_ix = anew ? 0 : w->pool_ix;
    w->tried_count = 0;
    if (count > w->pods_count) {
        struct pod *pods = ARENA_ARRAY(a, struct pod, count);
        for (uint32_t i = 0; i < count; i++) {
            pods[i] = i < w->pods_count ? w->pods[i]
                                        : (struct pod){.id = u->pod_ids[i].id,
                                                       .start_ms = TIME_NEVER,
                                                       .end_ms = TIME_NEVER,
                                                       .exit_code = -1};
        }
        w->pods = pods;
        w->pods_count = count;
        tables_build(st->e);
    }
    for (uint32_t i = 0; i < w->pods_count && anew; i++) {
        w->pods[i].failures = 0; // of what it was
        w->pods[i].retry_at_ms = 0;
    }
    w->updates = NULL;
    w->updates_count = 0;
}

static bool holds_any(const struct workload *w)
{
    for (uint32_t i = 0; i < w->pods_count; i++) {
        if (pod_holds(&w->pods[i])) {
            return true;
        }
    }
    return false;
}

void update_settle(struct step *st, uint32_t row)
{
    struct workload *w = &st->e->s.workloads[row];
    bool fewer = false;
    if (w->updates_count > 0 && w->desired != WANT_DELETED && !holds_any(w)) {
        adopt(st, row, true);
    }
    while ((int64_t)w->pods_count > w->spec.pods && !pod_holds(&w->pods[w->pods_count - 1])) {
        effect_forget(st->effects, w, w->pods_count - 1);
        w->pods_count--;
        fewer = true;
    }
    for (uint32_t i = (uint32_t)w->spec.pods; i < w->pods_count; i++) {
        if (pod_holds(&w->pods[i])) {
            pod_stop(st, row, i, false);
        } else {
            w->pods[i].phase = POD_SUCCEEDED; // goes when those behind it have gone
            w->pods[i].retry_at_ms = 0;
        }
    }
    if (fewer) {
        tables_build(st->e);
    }
}

void update_apply(struct step *st, const struct workload_spec *resolved)
{
    struct engine *e = st->e;
    struct arena *a = engine_memory(e);
    uint32_t row;
    bool found = map_get(&e->t.workloads, uuid_bytes(&st->in->target), &row);
    CHECK(found);
    struct workload *w = &e->s.workloads[row];
    const struct submit *s = &st->in->submit;
    struct update *u = ARENA_NEW(a, struct update);
    record_copy(&record_workload_spec, resolved, &u->spec, a);
    u->asked = arena_str(a, s->asked);
    u->pod_ids = ARENA_ARRAY(a, struct pod_id, s->pod_ids_count);
    u->pod_ids_count = s->pod_ids_count;
    for (uint32_t i = 0; i < s->pod_ids_count; i++) {
        u->pod_ids[i] = s->pod_ids[i];
    }
    w->updates = u;
    w->updates_count = 1;
    workload_event(st, row, EVENT_UPDATED)->author = arena_str(a, st->in->author);
    if (differ_in_number(&w->spec, &u->spec)) {
        adopt(st, row, false);
    }
    for (uint32_t i = 0; i < w->pods_count && w->updates_count > 0; i++) {
        if (pod_holds(&w->pods[i])) {
            pod_stop(st, row, i, true);
        }
    }
    workload_settle(st, row);
}

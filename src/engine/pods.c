// SPDX-License-Identifier: Apache-2.0
// pods: the life of a pod, and what it means for its workload.
//
//              bind             started
//   PENDING ─────────▶ BINDING ─────────▶ RUNNING ──▶ SUCCEEDED, FAILED
//      ▲                  │ stop              │ stop
//      │      gone        ▼                   │
//      └────────────── RELEASING ◀────────────┘   (gone without `move`: FAILED)
//
// A pod holds its place from the bind until its end is reported, so that nothing is given out
// twice. (pod, attempt) names one start; a report on any other attempt is not about this pod.
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/num.h"
#include "engine/machine.h"
#include "model/ids.h"

/* ---- events ---- */

enum { EVENTS_DROP = 16 }; /* this many at a time, so that dropping costs little */

struct event *workload_event(struct step *st, uint32_t row, enum event_kind kind)
{
    struct workload *w = &st->e->s.workloads[row];
    struct workload_row *r = &st->e->t.workload_rows[row];
    if (w->events_count >= EVENTS_MAX) {
        uint32_t drop = w->events_count - EVENTS_MAX + EVENTS_DROP;
        w->events_count -= drop;
        memmove(w->events, w->events + drop, sizeof(*w->events) * w->events_count);
    }
    w->events = array_grow(engine_memory(st->e), w->events, sizeof(*w->events), w->events_count,
                           &r->events_cap);
    struct event *ev = &w->events[w->events_count++];
    *ev = (struct event){.at_ms = st->now_ms, .kind = kind};
    return ev;
}

static struct event *pod_event(struct step *st, uint32_t row, const struct pod *p,
                               enum event_kind kind)
{
    struct event *ev = workload_event(st, row, kind);
    ev->pod = p->id;
    ev->node = p->node;
    return ev;
}

/* ---- transitions ---- */

void pod_bind(struct step *st, uint32_t row, uint32_t pod, const struct bind *place)
{
    struct workload *w = &st->e->s.workloads[row];
    struct pod *p = &w->pods[pod];
    CHECK(p->phase == POD_PENDING);
    w->tried_count = 0; // when it waits again, it does so anew
    struct arena *a = engine_memory(st->e);
    p->phase = POD_BINDING;
    p->attempt++;
    uint32_t count = place->devices_count;
    p->node = arena_str(a, place->node);
    p->devices = count > 0 ? ARENA_ARRAY(a, struct held_device, count) : NULL;
    p->devices_count = count;
    for (uint32_t i = 0; i < count; i++) {
        p->devices[i].uuid = arena_str(a, place->devices[i].uuid);
        p->devices[i].share = place->devices[i].share;
    }
    p->numa_plus_one = place->numa_plus_one;
    p->idle_since_ms = 0;
    p->start_ms = TIME_NEVER;
    p->end_ms = TIME_NEVER;
    p->exit_code = -1;
    p->end_reason = STR("");
    p->move = false;
    p->retry_at_ms = 0;
    ledger_move(st->e, row, p, false);
    pod_event(st, row, p, EVENT_SCHEDULED);
    effect_start(st->effects, w, pod);
}

void pod_started(struct step *st, uint32_t row, uint32_t pod)
{
    struct pod *p = &st->e->s.workloads[row].pods[pod];
    if (p->start_ms != TIME_NEVER) {
        return; // said before
    }
    p->start_ms = st->now_ms;
    if (p->phase == POD_BINDING) {
        p->phase = POD_RUNNING;
        pod_event(st, row, p, EVENT_STARTED);
    }
}

void pod_stop(struct step *st, uint32_t row, uint32_t pod, bool move)
{
    struct workload *w = &st->e->s.workloads[row];
    struct pod *p = &w->pods[pod];
    CHECK(pod_holds(p));
    p->move = move;
    if (p->phase != POD_RELEASING) {
        p->phase = POD_RELEASING;
        effect_stop(st->effects, w, p);
    }
}

static int64_t backoff_ms(uint32_t failures)
{
    int64_t delay = BACKOFF_FIRST_MS;
    for (uint32_t i = 1; i < failures && delay < BACKOFF_MAX_MS; i++) {
        delay *= 2;
    }
    return num_min_i64(delay, BACKOFF_MAX_MS);
}

// The pod ended by itself: is it done, has it failed for good, or is it to be started again?
static enum pod_phase phase_after(const struct workload *w, struct pod *p, bool success,
                                  int64_t now_ms)
{
    if (success && w->spec.restart != RESTART_ALWAYS) {
        return POD_SUCCEEDED;
    }
    if (!success && w->spec.restart != RESTART_ALWAYS && p->failures >= w->spec.backoff_limit) {
        p->failures++;
        return POD_FAILED;
    }
    p->failures++;
    p->retry_at_ms = now_ms + backoff_ms(p->failures);
    return POD_PENDING;
}

void pod_end(struct step *st, uint32_t row, uint32_t pod, enum pod_end how, int64_t exit_code,
             struct str reason, int64_t at_ms)
{
    struct workload *w = &st->e->s.workloads[row];
    struct pod *p = &w->pods[pod];
    CHECK(pod_holds(p));
    ledger_move(st->e, row, p, true);
    bool stopping = p->phase == POD_RELEASING;
    bool moved = p->move;
    // Work that was done before the stop reached it need not be done again.
    bool done = how == POD_END_EXIT && exit_code == 0 && str_eq(reason, STR("Completed"));
    int64_t began_ms = p->start_ms == TIME_NEVER ? w->created_ms : p->start_ms;
    p->end_ms = at_ms > began_ms && at_ms < st->now_ms ? at_ms : st->now_ms;
    p->exit_code = exit_code;
    p->end_reason = arena_str(engine_memory(st->e), reason);
    p->devices = NULL;
    p->devices_count = 0;
    p->numa_plus_one = 0;
    p->idle_since_ms = 0;
    p->move = false;
    if ((int64_t)pod >= w->spec.pods) {
        p->phase = POD_SUCCEEDED; // one too many, since an update
    } else if (stopping && !done) {
        p->phase = moved ? POD_PENDING : POD_FAILED;
    } else if (how == POD_END_NODE_LOST) {
        p->phase = POD_PENDING; // no fault of its own: not counted, no delay
    } else {
        p->phase = phase_after(w, p, how == POD_END_EXIT && exit_code == 0, st->now_ms);
    }
    struct event *ev = pod_event(st, row, p,
                                 how == POD_END_EXIT           ? EVENT_EXITED
                                 : how == POD_END_START_FAILED ? EVENT_START_FAILED
                                                               : EVENT_NODE_LOST);
    ev->text = p->end_reason;
    ev->exit_code = exit_code;
}

/* ---- the workload as a whole ---- */

struct census {
    int64_t pending, active, releasing, succeeded, failed;
};

static struct census take_census(const struct workload *w)
{
    struct census n = {0};
    for (uint32_t i = 0; i < w->pods_count; i++) {
        enum pod_phase phase = w->pods[i].phase;
        n.pending += phase == POD_PENDING;
        n.active += phase == POD_BINDING || phase == POD_RUNNING;
        n.releasing += phase == POD_RELEASING;
        n.succeeded += phase == POD_SUCCEEDED;
        n.failed += phase == POD_FAILED;
    }
    return n;
}

// One pod failed for good: the others cannot make the whole succeed any more.
static void stop_the_others(struct step *st, uint32_t row)
{
    struct workload *w = &st->e->s.workloads[row];
    for (uint32_t i = 0; i < w->pods_count; i++) {
        struct pod *p = &w->pods[i];
        if (pod_holds(p)) {
            pod_stop(st, row, i, false);
        } else if (p->phase == POD_PENDING) {
            p->phase = POD_FAILED;
            p->end_ms = st->now_ms;
            p->end_reason = STR("Stopped");
            p->retry_at_ms = 0;
        }
    }
}

static void close_interval(int64_t *since_ms, int64_t *sum_ms, int64_t now_ms)
{
    if (*since_ms != TIME_NEVER) {
        *sum_ms += now_ms - *since_ms;
        *since_ms = TIME_NEVER;
    }
}

void workload_settle(struct step *st, uint32_t row)
{
    struct workload *w = &st->e->s.workloads[row];
    update_settle(st, row);
    struct census n = take_census(w);
    if (n.failed > 0) {
        stop_the_others(st, row);
        n = take_census(w);
    }
    bool over = workload_is_terminal(w);
    bool wanted = w->desired == WANT_RUN && n.failed == 0 && !over;
    bool enough = n.active > 0 && n.active + n.succeeded >= w->spec.pods_min;
    if (n.active == 0) {
        w->last_start_ms = TIME_NEVER;
    } else if (w->last_start_ms == TIME_NEVER) {
        w->last_start_ms = st->now_ms;
    }
    if (!enough) {
        close_interval(&w->running_since_ms, &w->run_ms, st->now_ms);
    } else if (w->running_since_ms == TIME_NEVER) {
        w->running_since_ms = st->now_ms;
    }
    if (!wanted || enough) {
        close_interval(&w->pending_since_ms, &w->pending_ms, st->now_ms);
    } else if (w->pending_since_ms == TIME_NEVER) {
        w->pending_since_ms = st->now_ms;
    }
    if (!wanted || n.active == 0 || enough) {
        w->stale_since_ms = TIME_NEVER;
    } else if (w->stale_since_ms == TIME_NEVER) {
        w->stale_since_ms = st->now_ms;
    }
    if (!wanted || n.pending == 0) {
        w->why = (struct why){.code = 0};
    }
    if (!over) {
        w->end_ms = TIME_NEVER;
    } else if (w->end_ms == TIME_NEVER) {
        w->end_ms = st->now_ms;
    }
}

int64_t workload_delete_at_ms(const struct workload *w)
{
    if (w->end_ms == TIME_NEVER) {
        return INT64_MAX;
    }
    if (w->desired == WANT_DELETED) {
        return w->end_ms;
    }
    return w->end_ms +
           (w->spec.auto_delete_ms < 0 ? AUTO_DELETE_DEFAULT_MS : w->spec.auto_delete_ms);
}

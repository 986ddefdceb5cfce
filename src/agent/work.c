// SPDX-License-Identifier: Apache-2.0
// What was handed over at once is one batch with one arena; starts of the same workload share the
// copy of it. An end overtakes the starts before it: the start of that attempt is then dropped, so
// that it is not run after its end was told and its files were forgotten.
#include "agent/work.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/settle.h"
#include "base/mem.h"
#include "base/num.h"
#include "io/clock.h"

enum { SLICE_US = 3000 };

struct batch {
    struct arena arena;
    uint32_t left; /* not yet let go of */
};
struct work {
    struct work *next;
    struct batch *batch;
    struct effect effect; /* all it points to is the batch's */
};

/* ---- acting ---- */

static struct agent_pod *pod_make(struct agent *a, const struct effect *e)
{
    struct agent_pod *p = pod_add(a, e->pod, e->attempt);
    if (mkdirat(a->pods_fd, p->name, 0700) != 0 && errno != EEXIST) {
        char reason[REASON_MAX];
        (void)snprintf(reason, sizeof(reason), "cannot make the pod's directory: %s",
                       strerror(errno));
        pod_record(a, p, e->kind == EFFECT_START ? POD_STATE_FAILED : POD_STATE_EXITED, reason);
        return NULL;
    }
    return p;
}

static void effect_start(struct agent *a, const struct effect *e)
{
    struct agent_pod *p = pod_find(a, e->pod, e->attempt);
    if (p != NULL) {
        p->told_started = false;
        pod_tell(a, p);
        return;
    }
    p = pod_make(a, e);
    if (p != NULL) {
        pod_settle(a, p, e);
    }
}

static void effect_stop(struct agent *a, const struct effect *e)
{
    struct agent_pod *p = pod_find(a, e->pod, e->attempt);
    bool known = p != NULL;
    if (!known) {
        p = pod_make(a, e);
    }
    if (p == NULL) {
        return;
    }
    /* A stop is answered with the end alone: the engine answers the start of an attempt that it has
     * done with by this stop, and the two would go on for ever. */
    p->told_started = true;
    p->grace_ms = p->stop_wanted ? num_min_i64(p->grace_ms, e->grace_ms) : e->grace_ms;
    p->stop_wanted = true;
    if (!known) {
        pod_settle(a, p, NULL);
    } else if (p->stage == STAGE_CONNECTED) {
        pod_send_stop(p);
    }
}

static void effect_forget(struct agent *a, const struct effect *e)
{
    struct effect stop = *e;
    stop.kind = EFFECT_STOP;
    stop.grace_ms = 0;
    for (uint32_t attempt = e->attempt;; attempt--) {
        struct agent_pod *p = pod_find(a, e->pod, attempt);
        if (p != NULL) {
            p->forget = true;
            stop.attempt = attempt;
            effect_stop(a, &stop);
        } else {
            pod_files_remove(a, e->pod, attempt);
        }
        if (attempt == 0) {
            break;
        }
    }
}

static void work_do(struct agent *a, const struct effect *e)
{
    switch (e->kind) {
    case EFFECT_START:
        effect_start(a, e);
        break;
    case EFFECT_STOP:
        effect_stop(a, e);
        break;
    case EFFECT_FORGET:
        effect_forget(a, e);
        break;
    }
}

/* ---- waiting ---- */

/* The work itself is the batch's, like all it points to. */
static void batch_leave(struct batch *b)
{
    if (--b->left == 0) {
        arena_done(&b->arena);
        mem_free(b);
    }
}

static struct work *list_take(struct work_list *list)
{
    struct work *w = list->first;
    list->first = w != NULL ? w->next : NULL;
    list->last = list->first != NULL ? list->last : NULL;
    return w;
}

static void list_add(struct work_list *list, struct work *w)
{
    if (list->last != NULL) {
        list->last->next = w;
    } else {
        list->first = w;
    }
    list->last = w;
}

/* Drops the starts that an end is about. */
static void starts_drop(struct agent *a, const struct effect *end)
{
    struct work_list kept = {0};
    struct work *w;
    while ((w = list_take(&a->starts)) != NULL) {
        uint32_t attempt = w->effect.attempt;
        bool meant = end->kind == EFFECT_FORGET ? attempt <= end->attempt : attempt == end->attempt;
        w->next = NULL;
        if (meant && uuid_eq(w->effect.pod, end->pod)) {
            batch_leave(w->batch);
        } else {
            list_add(&kept, w);
        }
    }
    a->starts = kept;
}

/* The workload without what grows with its pods and its history; how many pods stays told. */
static const struct workload *workload_copy(struct arena *arena, const struct workload *w)
{
    struct workload *copy = ARENA_NEW(arena, struct workload);
    struct workload part = *w;
    part.pods = NULL;
    part.events = NULL;
    part.pods_count = part.events_count = 0;
    record_copy(&record_workload, &part, copy, arena);
    copy->pods_count = w->pods_count;
    return copy;
}

static const struct pod *pod_copy(struct arena *arena, const struct pod *p)
{
    struct pod *copy = ARENA_NEW(arena, struct pod);
    record_copy(&record_pod, p, copy, arena);
    return copy;
}

void work_add(struct agent *a, const struct effect *effects, uint32_t count)
{
    struct batch *b = mem_alloc(sizeof(*b));
    arena_init(&b->arena, 0);
    b->left = 1; // ours, until all are added
    const struct workload *of = NULL, *copy = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct effect *e = &effects[i];
        struct work *w = ARENA_NEW(&b->arena, struct work);
        *w = (struct work){.batch = b, .effect = *e};
        w->effect.node = STR(""); // this one
        b->left++;
        if (e->kind != EFFECT_START) {
            starts_drop(a, e);
            list_add(&a->ends, w);
            continue;
        }
        if (e->workload != of) {
            of = e->workload;
            copy = workload_copy(&b->arena, of);
        }
        w->effect.workload = copy;
        w->effect.pod_state = pod_copy(&b->arena, e->pod_state);
        list_add(&a->starts, w);
    }
    batch_leave(b);
    agent_wake(a);
}

static bool may_start(const struct agent *a)
{
    int64_t now = clock_mono_ms();
    uint32_t starting = 0;
    for (uint32_t i = 0; i < a->pods_count; i++) {
        const struct agent_pod *p = a->pods[i];
        starting += p->status.state == POD_STATE_STARTING && p->starts_until_ms > now ? 1 : 0;
    }
    return starting < a->at_once_max && nursery_ready(&a->nursery);
}

static bool may_stop(const struct agent *a)
{
    int64_t now = clock_mono_ms();
    uint32_t stopping = 0;
    for (uint32_t i = 0; i < a->pods_count; i++) {
        stopping += a->pods[i]->stop_sent && a->pods[i]->stops_until_ms > now ? 1 : 0;
    }
    return stopping < a->at_once_max;
}

void work_run(struct agent *a)
{
    int64_t until = clock_mono_us() + SLICE_US;
    a->work_waits = false;
    while (a->ends.first != NULL || a->starts.first != NULL) {
        bool ends = a->ends.first != NULL;
        if (ends ? !may_stop(a) : !may_start(a)) {
            a->work_waits = true;
            pods_timer(a);
            return;
        }
        struct work *w = list_take(ends ? &a->ends : &a->starts);
        work_do(a, &w->effect);
        batch_leave(w->batch);
        if (clock_mono_us() >= until) {
            agent_wake(a);
            return;
        }
    }
}

void work_drop(struct agent *a)
{
    struct work *w;
    while ((w = list_take(&a->ends)) != NULL || (w = list_take(&a->starts)) != NULL) {
        batch_leave(w->batch);
    }
}

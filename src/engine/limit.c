// SPDX-License-Identifier: Apache-2.0
// limit: scheduling rules on what runs. Work that has run, or has used none of its devices, for as
// long as its project allows is stopped: it keeps its definition and may be resumed. Half way there
// is a notice of it.
#include "base/array.h"
#include "base/num.h"
#include "engine/machine.h"
#include "model/reason.h"

static uint32_t code_of(bool idle)
{
    return idle ? REASON_STOPPED_IDLE_LIMIT : REASON_STOPPED_RUN_LIMIT;
}

bool limit_is_over(const struct workload *w, int64_t now_ms)
{
    bool idle;
    int64_t limit_ms;
    return workload_stop_at_ms(w, &idle, &limit_ms) <= now_ms;
}

void limit_stops(const struct engine *e, int64_t now_ms, struct tick_builder *b)
{
    for (uint32_t row = 0; row < e->s.workloads_count; row++) {
        const struct workload *w = &e->s.workloads[row];
        bool idle;
        int64_t limit_ms;
        int64_t at_ms = workload_stop_at_ms(w, &idle, &limit_ms);
        for (uint32_t i = 0; at_ms <= now_ms && i < w->pods_count; i++) {
            const struct pod *p = &w->pods[i];
            if (p->phase == POD_BINDING || p->phase == POD_RUNNING) {
                *ARRAY_PUSH(b->arena, &b->evicts) = (struct evict){
                    .pod = p->id,
                    .move = true,
                    .why = {.code = code_of(idle), .bound = limit_ms, .until_ms = at_ms},
                };
            }
        }
    }
}

bool limit_stops_workload(const struct why *why)
{
    return why->code == REASON_STOPPED_RUN_LIMIT || why->code == REASON_STOPPED_IDLE_LIMIT;
}

/* ---- notice ---- */

// When there is to be notice of the stop at at_ms; INT64_MAX: there was.
static int64_t notice_at_ms(const struct workload *w, int64_t at_ms, int64_t limit_ms)
{
    return at_ms == INT64_MAX || w->noticed_ms == at_ms ? INT64_MAX : at_ms - limit_ms / 2;
}

bool limit_notice_due(const struct engine *e, int64_t now_ms)
{
    for (uint32_t i = 0; i < e->s.workloads_count; i++) {
        const struct workload *w = &e->s.workloads[i];
        bool idle;
        int64_t limit_ms;
        int64_t at_ms = workload_stop_at_ms(w, &idle, &limit_ms);
        if (notice_at_ms(w, at_ms, limit_ms) <= now_ms) {
            return true;
        }
    }
    return false;
}

void limit_notices(struct step *st)
{
    for (uint32_t row = 0; row < st->e->s.workloads_count; row++) {
        struct workload *w = &st->e->s.workloads[row];
        bool idle;
        int64_t limit_ms;
        int64_t at_ms = workload_stop_at_ms(w, &idle, &limit_ms);
        if (notice_at_ms(w, at_ms, limit_ms) <= st->now_ms) {
            w->noticed_ms = at_ms;
            struct event *ev = workload_event(st, row, EVENT_LIMIT_NEAR);
            ev->why = (struct why){.code = code_of(idle), .bound = limit_ms, .until_ms = at_ms};
        }
    }
}

int64_t limit_next_ms(const struct workload *w)
{
    bool idle;
    int64_t limit_ms;
    int64_t at_ms = workload_stop_at_ms(w, &idle, &limit_ms);
    return num_min_i64(at_ms, notice_at_ms(w, at_ms, limit_ms));
}

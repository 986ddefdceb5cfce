// SPDX-License-Identifier: Apache-2.0
// churn: arrivals are placed as in packing.c. Only where one finds no place a whole cycle is run, on
// a snapshot of the pods that are there: it decides what that code decides anywhere.
#include "sim/churn.h"

#include "base/check.h"
#include "sched/cycle.h"
#include "sched/live.h"
#include "sim/packing_pool.h"

enum { OFFERED_PERCENT = 95, SPANS = 4 };

struct churn {
    const struct packing_trace *trace;
    enum placement placement;
    struct arena *arena;
    uint32_t span;    /* L */
    uint32_t count;   /* arrivals */
    uint32_t *drawn;  /* [count] tasks */
    uint32_t *leaver; /* [count + 1] first arrival that leaves before that one, plus one; 0: none */
    uint32_t *next;   /* [count] the next that leaves then, plus one */
    bool *placed;     /* [count] it holds a place */
    struct snapshot snap;
    struct live live;
    int64_t allocated_milli;
};

static uint32_t draw_task(const struct churn *c, uint64_t *state)
{
    return (uint32_t)(packing_draw(state) % c->trace->task_count);
}

static int64_t asked_milli(const struct churn *c, uint32_t arrival)
{
    return packing_asked_milli(&c->trace->tasks[c->drawn[arrival]]);
}

static uint32_t span_of(const struct churn *c, uint64_t state)
{
    uint32_t span = 0;
    for (int64_t asked = 0; asked * 100 < c->trace->capacity_milli * OFFERED_PERCENT; span++) {
        asked += packing_asked_milli(&c->trace->tasks[draw_task(c, &state)]);
    }
    return span;
}

static void draw_arrivals(struct churn *c, uint64_t state)
{
    c->span = span_of(c, state);
    c->count = SPANS * c->span;
    c->drawn = ARENA_ARRAY(c->arena, uint32_t, c->count);
    c->leaver = ARENA_ARRAY(c->arena, uint32_t, c->count + 1);
    c->next = ARENA_ARRAY(c->arena, uint32_t, c->count);
    c->placed = ARENA_ARRAY(c->arena, bool, c->count);
    for (uint32_t i = 0; i < c->count; i++) {
        c->drawn[i] = draw_task(c, &state);
        uint64_t end = i + 1 + packing_draw(&state) % (2 * c->span);
        if (end < c->count) {
            c->next[i] = c->leaver[end];
            c->leaver[end] = i + 1;
        }
    }
}

static void let_leave(struct churn *c, uint32_t step)
{
    for (uint32_t l = c->leaver[step]; l != 0; l = c->next[l - 1]) {
        c->allocated_milli -= c->placed[l - 1] ? asked_milli(c, l - 1) : 0;
        c->placed[l - 1] = false;
        live_leave(&c->live, l - 1);
    }
}

/* ---- a cycle for one that finds no place ---- */

// The pods that are there and the one that waits.
static void freeze(const struct churn *c, uint32_t waiting, struct arena *arena,
                   struct snapshot *out)
{
    packing_pool_init(out, c->trace, c->placement, arena);
    out->config.now_ms = waiting;
    for (uint32_t i = 0; i <= waiting; i++) {
        if (!c->placed[i] && i != waiting) {
            continue;
        }
        struct snap_task *t = packing_pool_add(out, i, c->trace->shape_of[c->drawn[i]], arena);
        const struct place *place = &c->live.sched.tasks[i].place;
        t->state = i == waiting ? TASK_PENDING : TASK_RUNNING;
        t->node.ix = place->node;
        t->hold_first = out->holds.count;
        t->hold_count = place->hold_count;
        for (uint32_t h = 0; h < place->hold_count; h++) {
            *ARRAY_PUSH(arena, &out->holds) = c->live.sched.holds.items[place->hold_first + h];
        }
    }
    snapshot_canonicalise(out, arena);
}

// Whether the one that waits has a place now.
static bool consolidate(struct churn *c, uint32_t waiting, uint32_t *moves)
{
    struct arena arena;
    struct snapshot snap;
    struct decisions d;
    arena_init(&arena, 0);
    freeze(c, waiting, &arena, &snap);
    sched_cycle(&arena, &snap, ACTION_BIT(ACTION_ALLOCATE) | ACTION_BIT(ACTION_CONSOLIDATE), &d);
    for (uint32_t i = 0; i < d.evicts.count; i++) {
        CHECK(d.evicts.items[i].moved); /* nothing is stopped for good by these actions */
        live_lift(&c->live, snap.tasks.items[d.evicts.items[i].task.ix].tag);
    }
    for (uint32_t i = 0; i < d.binds.count; i++) {
        const struct decision_bind *b = &d.binds.items[i];
        live_put(&c->live, snap.tasks.items[b->task.ix].tag, b->node.ix,
                 d.holds.items + b->hold_first, b->hold_count);
    }
    *moves += d.evicts.count;
    bool placed = d.binds.count > 0;
    arena_done(&arena);
    return placed;
}

/* ---- the run ---- */

static void arrive(struct churn *c, uint32_t step, bool moves, struct churn_result *out)
{
    int64_t milli = asked_milli(c, step);
    let_leave(c, step);
    c->placed[step] = live_arrive(&c->live, step) || (moves && consolidate(c, step, &out->moves));
    c->allocated_milli += c->placed[step] ? milli : 0;
    out->arrivals++;
    out->lost += !c->placed[step];
    out->asked_milli += milli;
    out->lost_milli += c->placed[step] ? 0 : milli;
    out->allocated_milli += c->allocated_milli;
}

void churn_run(const struct packing_trace *trace, uint64_t seed, enum placement placement,
               bool consolidate, struct arena *arena, struct arena *scratch,
               struct churn_result *out)
{
    struct churn c = {.trace = trace, .placement = placement, .arena = arena};
    *out = (struct churn_result){0};
    draw_arrivals(&c, seed);
    packing_pool_init(&c.snap, trace, placement, arena);
    for (uint32_t i = 0; i < c.count; i++) {
        (void)packing_pool_add(&c.snap, i, trace->shape_of[c.drawn[i]], arena);
    }
    snapshot_canonicalise(&c.snap, arena);
    live_init(&c.live, &c.snap, arena, scratch);
    for (uint32_t i = 0; i < c.count; i++) {
        if (i == c.count / 2) {
            *out = (struct churn_result){0};
        }
        arrive(&c, i, consolidate, out);
    }
    state_check(&c.live.sched);
}

// SPDX-License-Identifier: Apache-2.0
// packing: each arrival is a workload of one pod. All of them are in the snapshot from the start, as
// pods that are not to be scheduled yet; an arrival opens one. So the scheduler knows of a task not
// before it arrives.
#include "sim/packing.h"

#include "base/check.h"
#include "sim/packing_pool.h"

enum { LAST_MARK = 130 };

const int64_t packing_marks[PACKING_MARKS] = {80, 90, 95, 100, 110, LAST_MARK};

static void draw_arrivals(struct packing *p, uint64_t seed, struct arena *arena)
{
    ARRAY(uint32_t) drawn = {0};
    int64_t asked = 0;
    while (asked * 100 < p->trace->capacity_milli * LAST_MARK) {
        uint32_t task = (uint32_t)(packing_draw(&seed) % p->trace->task_count);
        *ARRAY_PUSH(arena, &drawn) = task;
        asked += packing_asked_milli(&p->trace->tasks[task]);
    }
    p->drawn = drawn.items;
    p->drawn_count = drawn.count;
}

void packing_prepare(struct packing *p, const struct packing_trace *trace, uint64_t seed,
                     enum placement placement, struct arena *arena, struct arena *scratch)
{
    *p = (struct packing){.trace = trace};
    draw_arrivals(p, seed, arena);
    packing_pool_init(&p->snap, trace, placement, arena);
    for (uint32_t i = 0; i < p->drawn_count; i++) {
        (void)packing_pool_add(&p->snap, i, trace->shape_of[p->drawn[i]], arena);
    }
    snapshot_canonicalise(&p->snap, arena);
    live_init(&p->live, &p->snap, arena, scratch);
}

void packing_run(struct packing *p, struct packing_result *out)
{
    *out = (struct packing_result){.drawn = p->drawn_count};
    uint32_t mark = 0;
    for (uint32_t i = 0; i < p->drawn_count; i++) {
        int64_t milli = packing_asked_milli(&p->trace->tasks[p->drawn[i]]);
        bool placed = live_arrive(&p->live, i);
        out->asked_milli += milli;
        out->placed += placed;
        out->allocated_milli += placed ? milli : 0;
        for (; mark < PACKING_MARKS &&
               out->asked_milli * 100 >= p->trace->capacity_milli * packing_marks[mark];
             mark++) {
            out->allocated_at_milli[mark] = out->allocated_milli;
        }
    }
    CHECK(mark == PACKING_MARKS);
}

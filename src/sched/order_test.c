// SPDX-License-Identifier: Apache-2.0
// An order of victims that keeps records, beside one that does not: the same victims in the same
// turn, for one claimant after the other, while queues change in between.
#include "sched/order.h"

#include "base/prng.h"
#include "base/test.h"

enum { WORLDS = 300, CLAIMANTS = 12, VICTIMS = 96 };

struct world {
    struct arena arena, scratch;
    struct snapshot snap;
    struct decisions out;
    struct sched s;
    struct prng prng;
    uint32_t claimant_queue, turn;
    uint64_t seed;
};

static uint32_t add_queue(struct world *w, uint32_t parent)
{
    uint32_t q = w->snap.queues.count;
    int64_t quota = prng_range(&w->prng, -1, 12);
    *ARRAY_PUSH(&w->arena, &w->snap.queues) = (struct snap_queue){
        .name = arena_printf(&w->arena, "%u", q),
        .parent = {parent},
        .quota = {{quota < 0 ? -1 : quota * DEVICE_SHARE, prng_range(&w->prng, -1, 3) * 4000, -1}},
        .limit = {{-1, -1, -1}},
        .weight_milli = {{WEIGHT_ONE, WEIGHT_ONE, WEIGHT_ONE}},
        .priority = prng_range(&w->prng, 1, prng_chance(&w->prng, 300) ? 3 : 1),
        .created_seq = q,
        .reclaim_min_runtime_ms = DURATION_UNSET,
        .preempt_min_runtime_ms = DURATION_UNSET,
    };
    w->snap.queues.items[q].quota.v[RES_CPU] = quota % 3 == 0 ? 16000 : AMOUNT_UNLIMITED;
    return q;
}

static void add_queues(struct world *w)
{
    uint32_t tops = prng_below(&w->prng, 9) + 1;
    uint32_t depth = prng_below(&w->prng, 3);
    for (uint32_t t = 0; t < tops; t++) {
        uint32_t top = add_queue(w, IX_NONE);
        for (uint32_t i = 0; depth > 0 && i <= prng_below(&w->prng, 4); i++) {
            uint32_t project = add_queue(w, top);
            for (uint32_t k = 0; depth > 1 && k < 2; k++) {
                (void)add_queue(w, project);
            }
        }
    }
}

static void add_workload(struct world *w, uint32_t *device)
{
    uint32_t ix = w->snap.workloads.count;
    uint32_t queue = prng_below(&w->prng, w->snap.queues.count);
    for (uint32_t q = queue + 1; q < w->snap.queues.count; q++) {
        queue = w->snap.queues.items[q].parent.ix == queue ? q : queue; /* down to a leaf */
    }
    *ARRAY_PUSH(&w->arena, &w->snap.workloads) = (struct snap_workload){
        .name = arena_printf(&w->arena, "%u", ix),
        .queue = {queue},
        .preemptible = true,
        .created_ms = prng_range(&w->prng, 0, 5),
        .last_start_ms = TIME_NEVER,
        .last_evicted_ms = TIME_NEVER,
        .checkpoint_ms = TIME_NEVER,
        .evicted_for = {IX_NONE},
        .stale_since_ms = TIME_NEVER,
        .stale_grace_ms = -1,
    };
    for (uint32_t i = prng_chance(&w->prng, 100) ? 3 : 1; i > 0; i--) {
        *ARRAY_PUSH(&w->arena, &w->snap.holds) = (struct snap_hold){.device = {*device},
                                                                    .share = DEVICE_SHARE};
        *ARRAY_PUSH(&w->arena, &w->snap.tasks) = (struct snap_task){
            .name = arena_printf(&w->arena, "%u", w->snap.tasks.count),
            .workload = {ix},
            .group = {IX_NONE},
            .shape = {0},
            .state = TASK_RUNNING,
            .node = {0},
            .hold_first = (*device)++,
            .hold_count = 1,
            .nominated_node = IX_NONE,
        };
    }
}

static void begin(struct world *w, uint64_t seed)
{
    *w = (struct world){.seed = seed};
    arena_init(&w->arena, 0);
    arena_init(&w->scratch, 0);
    prng_init(&w->prng, seed);
    snapshot_init(&w->snap, 1000);
    *ARRAY_PUSH(&w->arena, &w->snap.nodes) = (struct snap_node){.name = STR("a"),
                                                                .device_count = 3 * VICTIMS,
                                                                .cpu_milli = 4000 * 3 * VICTIMS,
                                                                .memory_bytes = INT64_C(1) << 40,
                                                                .pods = 3 * VICTIMS,
                                                                .ready = true,
                                                                .schedulable = true};
    for (uint32_t d = 0; d < 3 * VICTIMS; d++) {
        *ARRAY_PUSH(&w->arena, &w->snap.devices) = (struct snap_device){
            .node = {0}, .ordinal = d, .healthy = true};
    }
    *ARRAY_PUSH(&w->arena, &w->snap.shapes) = (struct snap_shape){.gpu = GPU_WHOLE,
                                                                  .device_count = 1,
                                                                  .cpu_milli = 2000,
                                                                  .selected_set = IX_NONE,
                                                                  .tolerated_set = IX_NONE};
    add_queues(w);
    uint32_t device = 0;
    for (uint32_t i = 0; i < VICTIMS; i++) {
        add_workload(w, &device);
    }
    snapshot_canonicalise(&w->snap, &w->arena);
    w->out.queues = ARENA_ARRAY(&w->arena, struct decision_queue, w->snap.queues.count);
    sched_init(&w->s, &w->snap, &w->arena, &w->scratch, &w->out);
}

static struct amounts weigh(struct sched *s, uint32_t workload)
{
    const struct snap_workload *w = workload_of(s, workload);
    struct amounts sum = {{0}};
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        amounts_add(&sum, &s->tasks[t].cost);
    }
    return sum;
}

static void look(struct sched *s, uint32_t workload, void *ctx, struct order_card *card)
{
    (void)ctx;
    const struct snap_workload *w = workload_of(s, workload);
    card->allowed = workload % 7 != 0;
    card->weight = weigh(s, workload);
    card->task = w->task_count == 1 ? w->task_first : IX_NONE;
}

static bool allows(struct sched *s, uint32_t workload, void *ctx)
{
    const struct world *w = ctx;
    (void)s;
    return workload % 7 != 0 && (workload + w->turn) % 3 != 0;
}

static bool allows_queue(struct sched *s, uint32_t queue, void *ctx)
{
    const struct world *w = ctx;
    (void)s;
    return queue != w->claimant_queue && (queue * 7 + w->turn * 5) % 4 != 0;
}

static void make_order(struct world *w, struct order *o, bool records)
{
    order_init(o, &w->s, &w->arena, true);
    o->weigh = weigh;
    o->look = look;
    o->allows = allows;
    o->allows_queue = allows_queue;
    o->ctx = w;
    o->records_all = records;
    for (uint32_t i = 0; i < w->snap.workloads.count; i++) {
        order_add(o, i);
    }
    order_ready(o, -1);
}

static uint32_t pop(struct world *w, struct order *o, bool *back)
{
    uint32_t workload = order_pop(o);
    if (workload != IX_NONE) {
        struct amounts weight = weigh(&w->s, workload);
        if (!o->counted) {
            amounts_add(&o->taken[queue_of(&w->s, workload)], &weight);
        }
        /* A workload of several pods has more to give, once. */
        if (workload_of(&w->s, workload)->task_count > 1 && !back[workload]) {
            back[workload] = true;
            order_push(o, workload);
        }
    }
    return workload;
}

/* The queue and those above it hold more, or less. */
static void change(struct world *w, struct order *a, struct order *b, uint32_t queue)
{
    int64_t by = prng_range(&w->prng, -1, 2) * DEVICE_SHARE;
    for (uint32_t q = queue; q != IX_NONE; q = w->snap.queues.items[q].parent.ix) {
        int64_t held = w->s.queues[q].held.v[RES_GPU] + by;
        w->s.queues[q].held.v[RES_GPU] = held;
    }
    order_changed(a, queue);
    order_changed(b, queue);
}

/* One claimant: whose victims are they? Gives how many. */
static uint32_t claim(struct world *w, struct order *a, struct order *b)
{
    const struct sched *s = &w->s;
    uint32_t own = prng_below(&w->prng, w->snap.workloads.count);
    uint32_t spared = prng_below(&w->prng, 3 * w->snap.workloads.count);
    w->turn++;
    w->claimant_queue = queue_of(s, own);
    a->claimant_queue = b->claimant_queue = w->claimant_queue;
    a->spared = b->spared = spared < w->snap.workloads.count ? spared : IX_NONE;
    order_restart(a);
    order_restart(b);
    bool back_a[VICTIMS] = {false};
    bool back_b[VICTIMS] = {false};
    uint32_t most = prng_below(&w->prng, prng_chance(&w->prng, 200) ? 2 * VICTIMS : 20);
    uint32_t count = 0;
    while (count < most) {
        uint32_t x = pop(w, a, back_a);
        uint32_t y = pop(w, b, back_b);
        if (x != y) {
            test_row(arena_printf(&w->arena, "WEIR_SEED=%llu, claimant %u, victim %u",
                                  (unsigned long long)w->seed, w->turn, count)
                         .ptr);
            EXPECT_I64(x, y);
            return count;
        }
        if (x == IX_NONE) {
            break;
        }
        count++;
    }
    for (uint32_t i = prng_below(&w->prng, 3); i > 0; i--) {
        uint32_t other = prng_below(&w->prng, w->snap.workloads.count);
        change(w, a, b, queue_of(s, other));
    }
    return count;
}

TEST(victims_are_the_same_with_records)
{
    uint32_t recorded = 0;
    uint32_t victims = 0;
    for (uint64_t i = 0; i < WORLDS; i++) {
        struct world w;
        begin(&w, test_seed() + i);
        struct order with;
        struct order without;
        make_order(&w, &with, true);
        make_order(&w, &without, false);
        for (uint32_t c = 0; c < CLAIMANTS; c++) {
            victims += claim(&w, &with, &without);
        }
        for (uint32_t q = 0; q < w.snap.queues.count; q++) {
            recorded += with.records[q].count;
        }
        arena_done(&w.arena);
        arena_done(&w.scratch);
    }
    EXPECT(victims > WORLDS * CLAIMANTS);
    EXPECT(recorded > WORLDS);
}

TEST_MAIN()

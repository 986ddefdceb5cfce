// SPDX-License-Identifier: Apache-2.0
// Small clusters built by hand: what a cycle decides, what it keeps for the next one, and the
// reasons it gives. The many situations are in tests/cases; here is what these cannot say.
#include "sched/cycle.h"

#include "base/prng.h"
#include "base/sort.h"
#include "base/test.h"

struct world {
    struct arena arena;
    struct snapshot s;
    struct decisions d;
};

static void world_init(struct world *w)
{
    arena_init(&w->arena, 0);
    snapshot_init(&w->s, 1000000);
    w->s.config.search_tries_max = 1000;
}

static void add_node(struct world *w, struct str name, uint32_t devices)
{
    uint32_t node = w->s.nodes.count;
    *ARRAY_PUSH(&w->arena, &w->s.nodes) = (struct snap_node){
        .name = name,
        .tag = node,
        .cpu_milli = 64000,
        .memory_bytes = INT64_C(1) << 38,
        .pods = 110,
        .ready = true,
        .schedulable = true,
    };
    for (uint32_t i = 0; i < devices; i++) {
        *ARRAY_PUSH(&w->arena, &w->s.devices) = (struct snap_device){
            .node = {node}, .ordinal = i, .memory_bytes = INT64_C(80) << 30, .healthy = true};
    }
}

static struct queue_ref add_queue(struct world *w, struct str name, struct queue_ref parent,
                                  int64_t devices, int64_t limit)
{
    uint32_t queue = w->s.queues.count;
    *ARRAY_PUSH(&w->arena, &w->s.queues) = (struct snap_queue){
        .name = name,
        .tag = queue,
        .parent = parent,
        .quota = {{devices < 0 ? -1 : devices * DEVICE_SHARE, -1, -1}},
        .limit = {{limit < 0 ? -1 : limit * DEVICE_SHARE, -1, -1}},
        .weight_milli = {{WEIGHT_ONE, WEIGHT_ONE, WEIGHT_ONE}},
        .priority = 100,
        .created_seq = queue,
        .reclaim_min_runtime_ms = DURATION_UNSET,
        .preempt_min_runtime_ms = DURATION_UNSET,
    };
    return (struct queue_ref){queue};
}

/* A workload of `pods` pods of one device each; the first `running` of them run on node 0, on the
 * devices from `device` on. */
static uint32_t add_workload(struct world *w, struct str name, struct queue_ref queue,
                             int64_t priority, bool preemptible, uint32_t pods, uint32_t running,
                             uint32_t device)
{
    uint32_t workload = w->s.workloads.count;
    uint32_t shape = w->s.shapes.count;
    *ARRAY_PUSH(&w->arena, &w->s.workloads) = (struct snap_workload){
        .name = name,
        .tag = workload,
        .queue = queue,
        .priority = priority,
        .preemptible = preemptible,
        .created_ms = 1000 + workload,
        .last_start_ms = TIME_NEVER,
        .last_evicted_ms = TIME_NEVER,
        .evicted_for = {IX_NONE},
        .stale_since_ms = TIME_NEVER,
        .stale_grace_ms = 60000,
    };
    *ARRAY_PUSH(&w->arena, &w->s.shapes) = (struct snap_shape){
        .gpu = GPU_WHOLE,
        .device_count = 1,
        .cpu_milli = 1000,
        .memory_bytes = 1 << 30,
        .selected_set = IX_NONE,
        .tolerated_set = IX_NONE,
    };
    for (uint32_t i = 0; i < pods; i++) {
        bool runs = i < running;
        *ARRAY_PUSH(&w->arena, &w->s.tasks) = (struct snap_task){
            .name = arena_printf(&w->arena, "%s-%u", name.ptr, i),
            .tag = i,
            .workload = {workload},
            .group = {IX_NONE},
            .shape = {shape},
            .state = runs ? TASK_RUNNING : TASK_PENDING,
            .node = {runs ? 0 : IX_NONE},
            .hold_first = w->s.holds.count,
            .hold_count = runs ? 1 : 0,
            .nominated_node = IX_NONE,
        };
        if (runs) {
            *ARRAY_PUSH(&w->arena, &w->s.holds) = (struct snap_hold){.device = {device + i},
                                                                     .share = DEVICE_SHARE};
        }
    }
    return workload;
}

static void run(struct world *w, uint32_t actions)
{
    struct err err = {0};
    snapshot_canonicalise(&w->s, &w->arena);
    REQUIRE_OK(snapshot_check(&w->s, &err), &err);
    sched_cycle(&w->arena, &w->s, actions, &w->d);
}

static const struct reason *reason_of(const struct world *w, uint32_t workload)
{
    return &w->d.reasons[workload];
}

static struct queue_ref top(struct world *w)
{
    return add_queue(w, STR("dept"), (struct queue_ref){IX_NONE}, -1, -1);
}

TEST(an_owner_takes_back_one_device_and_it_is_kept_for_it)
{
    struct world w;
    world_init(&w);
    add_node(&w, STR("n0"), 4);
    struct queue_ref dept = top(&w);
    struct queue_ref a = add_queue(&w, STR("team-a"), dept, 2, -1);
    struct queue_ref b = add_queue(&w, STR("team-b"), dept, 2, -1);
    add_workload(&w, STR("a1"), a, 50, true, 1, 1, 0);
    add_workload(&w, STR("a2"), a, 50, true, 1, 1, 1);
    uint32_t a3 = add_workload(&w, STR("a3"), a, 50, true, 1, 1, 2);
    add_workload(&w, STR("b1"), b, 75, true, 1, 1, 3);
    uint32_t b2 = add_workload(&w, STR("b2"), b, 75, true, 1, 0, 0);
    run(&w, ACTIONS_ALL);
    EXPECT_I64(w.d.evicts.count, 1);
    EXPECT_I64(w.s.tasks.items[w.d.evicts.items[0].task.ix].workload.ix, a3);
    EXPECT_I64(w.d.evicts.items[0].reason.other.ix, b2);
    EXPECT_I64(w.d.evicts.items[0].reason.code, REASON_EVICTED_RECLAIM);
    EXPECT_I64(reason_of(&w, b2)->code, REASON_WAITING_FOR_CLAIM);
    EXPECT_I64(reason_of(&w, b2)->other.ix, a3);
    REQUIRE(w.d.claims.count == 1);

    /* The victim is gone and wants to come back; a newer job of team-a waits as well. */
    struct snap_claim claim = w.d.claims.items[0];
    claim.hold_first = w.s.holds.count;
    *ARRAY_PUSH(&w.arena, &w.s.holds) = w.d.holds.items[w.d.claims.items[0].hold_first];
    *ARRAY_PUSH(&w.arena, &w.s.claims) = claim;
    struct snap_task *gone = &w.s.tasks.items[w.d.evicts.items[0].task.ix];
    gone->state = TASK_PENDING;
    gone->node.ix = IX_NONE;
    run(&w, ACTIONS_ALL);
    EXPECT_I64(w.d.evicts.count, 0);
    REQUIRE(w.d.binds.count == 1);
    EXPECT(!w.d.binds.items[0].pipelined);
    EXPECT_I64(w.s.tasks.items[w.d.binds.items[0].task.ix].workload.ix, b2);
    EXPECT(w.d.workloads[b2].started);
    EXPECT_I64(reason_of(&w, a3)->code, REASON_FAIR_SHARE_REACHED);
    EXPECT(reason_of(&w, a3)->has_nodes);
    EXPECT_I64(w.d.claims.count, 0);
    arena_done(&w.arena);
}

/* What one claimant may not take because it was stopped for it (R7), the next one may: it was left
 * out for all. */
TEST(only_who_was_stopped_for_a_workload_spares_it)
{
    struct world w;
    world_init(&w);
    add_node(&w, STR("n0"), 5);
    struct queue_ref dept = top(&w);
    struct queue_ref a = add_queue(&w, STR("team-a"), dept, 0, -1);
    struct queue_ref b = add_queue(&w, STR("team-b"), dept, 3, -1);
    struct queue_ref c = add_queue(&w, STR("team-c"), dept, 0, -1);
    w.s.queues.items[b.ix].weight_milli.v[RES_GPU] = 0;
    uint32_t waits = add_workload(&w, STR("a"), a, 50, true, 1, 0, 0);
    add_workload(&w, STR("b-firm"), b, 125, false, 3, 3, 0);
    uint32_t evictor = add_workload(&w, STR("b-more"), b, 50, true, 2, 2, 3);
    uint32_t next = add_workload(&w, STR("c"), c, 50, true, 1, 0, 0);
    w.s.workloads.items[waits].evicted_for.ix = evictor;
    run(&w, ACTIONS_ALL);
    EXPECT_I64(reason_of(&w, waits)->code, REASON_NO_VICTIMS);
    EXPECT_I64(reason_of(&w, next)->code, REASON_WAITING_FOR_CLAIM);
    REQUIRE(w.d.evicts.count == 2);
    EXPECT_I64(w.s.tasks.items[w.d.evicts.items[0].task.ix].workload.ix, evictor);
    EXPECT_I64(w.d.evicts.items[0].reason.other.ix, next);
    arena_done(&w.arena);
}

TEST(non_preemptible_work_waits_above_the_guarantee_though_a_device_is_idle)
{
    struct world w;
    world_init(&w);
    add_node(&w, STR("n0"), 4);
    struct queue_ref dept = top(&w);
    struct queue_ref prod = add_queue(&w, STR("production"), dept, 2, -1);
    add_workload(&w, STR("p1"), prod, 125, false, 1, 1, 0);
    add_workload(&w, STR("p2"), prod, 125, false, 1, 1, 1);
    uint32_t p3 = add_workload(&w, STR("p3"), prod, 125, false, 1, 0, 0);
    run(&w, ACTIONS_ALL);
    const struct reason *r = reason_of(&w, p3);
    EXPECT_I64(r->code, REASON_NON_PREEMPTIBLE_OVER_QUOTA);
    EXPECT_I64(r->resource, RES_GPU);
    EXPECT_I64(r->requested, DEVICE_SHARE);
    EXPECT_I64(r->held, 2 * DEVICE_SHARE);
    EXPECT_I64(r->bound, 2 * DEVICE_SHARE);
    EXPECT_STR(w.s.queues.items[r->queue.ix].name, STR("production"));
    EXPECT_I64(w.d.binds.count + w.d.evicts.count, 0);
    arena_done(&w.arena);
}

static const struct {
    const char *name;
    int64_t limit;
    uint32_t pods, running;
    enum reason_code want;
} waits[] = {
    {"above a maximum",             2,  3, 0, REASON_OVER_LIMIT      },
    {"a gang larger than the pool", -1, 6, 0, REASON_LARGER_THAN_POOL},
};

TEST(the_reason_of_waiting)
{
    for (size_t i = 0; i < COUNT_OF(waits); i++) {
        test_row(waits[i].name);
        struct world w;
        world_init(&w);
        add_node(&w, STR("n0"), 4);
        struct queue_ref q = add_queue(&w, STR("q"), top(&w), 4, waits[i].limit);
        uint32_t job = add_workload(&w, STR("job"), q, 50, true, waits[i].pods, waits[i].running,
                                    0);
        run(&w, ACTIONS_ALL);
        EXPECT_I64(reason_of(&w, job)->code, waits[i].want);
        EXPECT_I64(w.d.workloads[job].position, 1);
        if (reason_of(&w, job)->has_nodes) {
            uint32_t sum = 0;
            for (int k = 0; k < NODE_REASON_COUNT; k++) {
                sum += reason_of(&w, job)->nodes[k];
            }
            EXPECT_I64(sum, 1);
        }
        arena_done(&w.arena);
    }
    test_row(NULL);
}

TEST(work_of_a_missing_queue_is_told_so)
{
    struct world w;
    world_init(&w);
    add_node(&w, STR("n0"), 4);
    (void)top(&w);
    uint32_t lost = add_workload(&w, STR("lost"), (struct queue_ref){IX_NONE}, 50, true, 1, 0, 0);
    run(&w, ACTIONS_ALL);
    EXPECT_I64(reason_of(&w, lost)->code, REASON_QUEUE_MISSING);
    EXPECT_I64(w.d.binds.count, 0);
    arena_done(&w.arena);
}

TEST(what_waits_for_another_is_told_who_was_first)
{
    struct world w;
    world_init(&w);
    add_node(&w, STR("n0"), 1);
    struct queue_ref q = add_queue(&w, STR("q"), top(&w), 1, -1);
    uint32_t high = add_workload(&w, STR("high"), q, 75, true, 1, 0, 0);
    uint32_t low = add_workload(&w, STR("low"), q, 50, true, 1, 0, 0);
    run(&w, ACTION_BIT(ACTION_ALLOCATE));
    EXPECT_I64(reason_of(&w, high)->code, REASON_PLACED);
    EXPECT_I64(reason_of(&w, low)->code, REASON_BEHIND_IN_QUEUE);
    EXPECT_I64(reason_of(&w, low)->other.ix, high);
    arena_done(&w.arena);
}

TEST(a_pod_moved_off_a_draining_node_may_still_be_stopped_with_its_stale_gang)
{
    struct world w;
    world_init(&w);
    add_node(&w, STR("n0"), 1);
    add_node(&w, STR("n1"), 1);
    w.s.nodes.items[0].draining = true;
    w.s.nodes.items[0].schedulable = false;
    struct queue_ref q = add_queue(&w, STR("q"), top(&w), 1, 1);
    uint32_t gang = add_workload(&w, STR("gang"), q, 50, true, 2, 1, 0);
    run(&w, ACTIONS_ALL & ~ACTION_BIT(ACTION_EVICT_STALE));
    EXPECT_I64(w.d.evicts.count, 1);
    EXPECT_I64(w.d.evicts.items[0].reason.code, REASON_EVICTED_DRAIN);
    EXPECT(w.d.evicts.items[0].moved);
    w.s.workloads.items[gang].stale_since_ms = 1;
    run(&w, ACTIONS_ALL);
    EXPECT_I64(w.d.evicts.count, 1);
    EXPECT_I64(w.d.evicts.items[0].reason.code, REASON_EVICTED_STALE);
    EXPECT(!w.d.evicts.items[0].moved);
    EXPECT_I64(w.d.binds.count, 0);
    arena_done(&w.arena);
}

TEST(an_empty_pool_and_an_empty_snapshot)
{
    struct world w;
    world_init(&w);
    run(&w, ACTIONS_ALL);
    struct queue_ref q = add_queue(&w, STR("q"), top(&w), 1, -1);
    uint32_t job = add_workload(&w, STR("job"), q, 75, true, 1, 0, 0);
    run(&w, ACTIONS_ALL);
    EXPECT_I64(reason_of(&w, job)->code, REASON_NO_NODES);
    arena_done(&w.arena);
}

TEST_MAIN()

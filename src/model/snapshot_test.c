// SPDX-License-Identifier: Apache-2.0
// The canonical form is a function of the content: rows pushed in any order give the same tables.
#include "model/snapshot.h"

#include "base/prng.h"
#include "base/test.h"

enum { NODES = 5, QUEUES = 6, WORKLOADS = 7, PODS = 3, ORDERS = 50 };

static void shuffle(struct prng *p, uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = prng_below(p, i);
        uint32_t swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
}

/* The same small cluster, its rows pushed in the order that seed gives. */
static void build(struct arena *a, struct snapshot *s, uint64_t seed)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
    static const uint32_t parents[QUEUES] = {IX_NONE, IX_NONE, 0, 0, 1, 1};
    struct prng p;
    prng_init(&p, seed);
    uint32_t nodes[NODES];
    uint32_t queues[QUEUES];
    uint32_t workloads[WORKLOADS];
    shuffle(&p, nodes, NODES);
    shuffle(&p, queues, QUEUES);
    shuffle(&p, workloads, WORKLOADS);
    snapshot_init(s, 5000);
    uint32_t at[NODES > QUEUES ? NODES : QUEUES];
    for (uint32_t i = 0; i < NODES; i++) {
        at[nodes[i]] = i;
        *ARRAY_PUSH(a, &s->nodes) = (struct snap_node){.name = str_from_c(names[nodes[i]]),
                                                       .cpu_milli = 1000 + nodes[i],
                                                       .memory_bytes = 1000,
                                                       .pods = 10,
                                                       .ready = true,
                                                       .schedulable = true};
        *ARRAY_PUSH(a, &s->devices) = (struct snap_device){
            .node = {i}, .tag = nodes[i], .healthy = true};
    }
    uint32_t node_at[NODES];
    for (uint32_t i = 0; i < NODES; i++) {
        node_at[i] = at[i];
    }
    for (uint32_t i = 0; i < QUEUES; i++) {
        at[queues[i]] = i;
    }
    for (uint32_t i = 0; i < QUEUES; i++) {
        uint32_t q = queues[i];
        *ARRAY_PUSH(a, &s->queues) = (struct snap_queue){
            .name = str_from_c(names[q]),
            .parent = {parents[q] == IX_NONE ? IX_NONE : at[parents[q]]},
            .created_seq = q % 2};
    }
    for (uint32_t i = 0; i < WORKLOADS; i++) {
        uint32_t w = workloads[i];
        *ARRAY_PUSH(a, &s->workloads) = (struct snap_workload){.name = str_from_c(names[w]),
                                                               .queue = {at[2 + w % 4]},
                                                               .evicted_for = {IX_NONE},
                                                               .created_ms = 100 * (w % 3)};
        *ARRAY_PUSH(a, &s->shapes) = (struct snap_shape){
            .cpu_milli = 100 * (w % 2), .selected_set = IX_NONE, .tolerated_set = IX_NONE};
        for (uint32_t t = 0; t < PODS; t++) {
            *ARRAY_PUSH(a, &s->tasks) = (struct snap_task){
                .name = str_from_c(names[(t + i) % PODS]),
                .workload = {i},
                .group = {IX_NONE},
                .shape = {i},
                .state = w == 0 ? TASK_RUNNING : TASK_PENDING,
                .node = {w == 0 ? node_at[3] : IX_NONE},
                .nominated_node = IX_NONE};
        }
    }
    snapshot_canonicalise(s, a);
}

static bool same(const struct snapshot *x, const struct snapshot *y)
{
    for (uint32_t i = 0; i < NODES; i++) {
        if (!str_eq(x->nodes.items[i].name, y->nodes.items[i].name) ||
            x->devices.items[i].tag != y->devices.items[i].tag ||
            x->devices.items[i].node.ix != y->devices.items[i].node.ix) {
            return false;
        }
    }
    for (uint32_t i = 0; i < QUEUES; i++) {
        const struct snap_queue *a = &x->queues.items[i];
        const struct snap_queue *b = &y->queues.items[i];
        if (!str_eq(a->name, b->name) || a->parent.ix != b->parent.ix ||
            a->child_first != b->child_first || a->child_count != b->child_count) {
            return false;
        }
    }
    for (uint32_t i = 0; i < WORKLOADS; i++) {
        const struct snap_workload *a = &x->workloads.items[i];
        const struct snap_workload *b = &y->workloads.items[i];
        if (!str_eq(a->name, b->name) || a->queue.ix != b->queue.ix ||
            a->task_first != b->task_first || a->group_first != b->group_first) {
            return false;
        }
    }
    for (uint32_t i = 0; i < WORKLOADS * PODS; i++) {
        const struct snap_task *a = &x->tasks.items[i];
        const struct snap_task *b = &y->tasks.items[i];
        if (!str_eq(a->name, b->name) || a->workload.ix != b->workload.ix ||
            a->node.ix != b->node.ix || a->group.ix != b->group.ix) {
            return false;
        }
    }
    return true;
}

TEST(order_of_pushing_does_not_matter)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct snapshot first;
    struct snapshot other;
    struct err err = {0};
    build(&arena, &first, 0);
    REQUIRE_OK(snapshot_check(&first, &err), &err);
    EXPECT_STR(first.queues.items[0].name, STR("a"));
    EXPECT_I64(first.groups.count, WORKLOADS);
    EXPECT_I64(first.groups.items[0].min, PODS);
    for (uint64_t seed = 1; seed <= ORDERS; seed++) {
        build(&arena, &other, seed);
        REQUIRE_OK(snapshot_check(&other, &err), &err);
        EXPECT(same(&first, &other));
    }
    arena_done(&arena);
}

TEST(equal_shapes_become_one)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct snapshot s;
    build(&arena, &s, 0);
    uint32_t distinct = 0;
    bool seen[WORKLOADS] = {false};
    for (uint32_t i = 0; i < s.tasks.count; i++) {
        distinct += !seen[s.tasks.items[i].shape.ix];
        seen[s.tasks.items[i].shape.ix] = true;
    }
    EXPECT_I64(distinct, 2);
    arena_done(&arena);
}

TEST(what_is_wrong_is_said_with_table_row_and_field)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct snapshot s;
    struct err err = {0};
    build(&arena, &s, 0);
    s.queues.items[2].quota.v[RES_GPU] = -3;
    EXPECT_STATUS(snapshot_check(&s, &err), STATUS_INVALID);
    EXPECT_STR(str_from_c(err.field), STR("queues[2].quota"));
    build(&arena, &s, 0);
    s.tasks.items[0].shape.ix = 99;
    EXPECT_STATUS(snapshot_check(&s, &err), STATUS_INVALID);
    EXPECT_STR(str_from_c(err.field), STR("tasks[0].shape"));
    build(&arena, &s, 0);
    s.workloads.items[0].queue.ix = 77;
    EXPECT_STATUS(snapshot_check(&s, &err), STATUS_INVALID);
    EXPECT_STR(str_from_c(err.field), STR("workloads[0].queue"));
    arena_done(&arena);
}

TEST_MAIN()

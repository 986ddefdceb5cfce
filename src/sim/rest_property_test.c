// SPDX-License-Identifier: Apache-2.0
// What must hold between cycles, whatever the cluster: on the same one in another order, with one
// victim less, and one after the other until there is nothing left to do.
#include "sim/trial_test.h"

enum { QUIET_WITHIN = 16 };

/* ---- the order of the rows means nothing ---- */

static void shuffle(struct prng *prng, uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
    }
    for (uint32_t i = count; i > 1; i--) {
        uint32_t k = prng_below(prng, i);
        uint32_t swap = order[i - 1];
        order[i - 1] = order[k];
        order[k] = swap;
    }
}

/* Moves nodes, workloads and pods of w to other rows. Queues stay: their order is their age. */
static void shuffle_world(struct case_world *w, struct prng *prng, struct arena *arena)
{
    struct case_world old = *w;
    uint32_t *node = ARENA_ARRAY(arena, uint32_t, old.nodes.count + 1);
    uint32_t *workload = ARENA_ARRAY(arena, uint32_t, old.workloads.count + 1);
    uint32_t *pod = ARENA_ARRAY(arena, uint32_t, old.pods.count + 1);
    shuffle(prng, node, old.nodes.count);
    shuffle(prng, workload, old.workloads.count);
    shuffle(prng, pod, old.pods.count);
    w->nodes.items = ARENA_ARRAY(arena, struct case_node, old.nodes.count + 1);
    w->workloads.items = ARENA_ARRAY(arena, struct case_workload, old.workloads.count + 1);
    w->pods.items = ARENA_ARRAY(arena, struct case_pod, old.pods.count + 1);
    for (uint32_t i = 0; i < old.nodes.count; i++) {
        w->nodes.items[node[i]] = old.nodes.items[i];
    }
    for (uint32_t i = 0; i < old.devices.count; i++) {
        w->devices.items[i].node = node[w->devices.items[i].node];
    }
    for (uint32_t i = 0; i < old.workloads.count; i++) {
        w->workloads.items[workload[i]] = old.workloads.items[i];
    }
    for (uint32_t i = 0; i < old.workloads.count; i++) {
        uint32_t *other = &w->workloads.items[i].evicted_for;
        *other = *other == IX_NONE ? IX_NONE : workload[*other];
    }
    for (uint32_t i = 0; i < old.groups.count; i++) {
        w->groups.items[i].workload = workload[w->groups.items[i].workload];
    }
    for (uint32_t i = 0; i < old.pods.count; i++) {
        struct case_pod row = old.pods.items[i];
        row.workload = workload[row.workload];
        row.node = row.node == IX_NONE ? IX_NONE : node[row.node];
        w->pods.items[pod[i]] = row;
    }
    for (uint32_t i = 0; i < old.budget_pods.count; i++) {
        w->budget_pods.items[i] = pod[w->budget_pods.items[i]];
    }
}

TEST(order_of_rows_means_nothing)
{
    struct trial t = {0};
    struct buf as_made;
    struct buf shuffled;
    arena_init(&t.arena, 0);
    buf_init(&as_made, JSON_MAX);
    buf_init(&shuffled, JSON_MAX);
    for (uint32_t i = 0; i < worlds_or(WORLDS); i++) {
        struct prng prng;
        trial_start(&t, test_seed() + i, options_of(test_seed() + i));
        prng_init(&prng, ~t.seed);
        decide(&t, &t.w, ACTIONS_ALL);
        struct str want = decided(&t, &as_made);
        shuffle_world(&t.before, &prng, &t.arena);
        decide(&t, &t.before, ACTIONS_ALL);
        struct str got = decided(&t, &shuffled);
        if (!str_eq(got, want)) {
            BROKEN(&t, "order", STR_FMT "\n  shuffled: " STR_FMT, STR_ARG(want), STR_ARG(got));
        }
    }
    buf_done(&as_made);
    buf_done(&shuffled);
    arena_done(&t.arena);
}

/* ---- no victim could have been spared (R4) ---- */

static void remove_pod(struct case_world *w, uint32_t ix)
{
    w->pods.items[ix].state = CASE_FAILED;
    w->pods.items[ix].node = IX_NONE;
    w->pods.items[ix].hold_count = 0;
}

/* Only the workload of the last pods waits; members above a minimum that wait are over. */
static void leave_one_waiting(struct case_world *w)
{
    uint32_t last = w->workloads.count - 1;
    for (uint32_t i = 0; i < w->pods.count; i++) {
        struct case_pod *pod = &w->pods.items[i];
        if (pod->workload != last && pod->state == CASE_PENDING) {
            pod->state = CASE_SUCCEEDED;
        }
    }
}

/* Whether the last workload gets its place by mere allocation when of the victims of t only those
 * of unit (a pod, or with whole all pods of its workload) stay. Moved ones must find a place too. */
static bool fits_without(struct trial *t, const struct decisions *found, uint32_t unit, bool whole)
{
    struct case_world w;
    uint32_t claimant = t->w.workloads.count - 1;
    uint32_t moved = 0;
    world_make(t->seed, t->options, &t->arena, &w);
    leave_one_waiting(&w);
    for (uint32_t i = 0; i < found->evicts.count; i++) {
        uint32_t pod = t->snap.tasks.items[found->evicts.items[i].task.ix].tag;
        bool spared = whole ? w.pods.items[pod].workload == w.pods.items[unit].workload
                            : pod == unit;
        if (found->evicts.items[i].moved) {
            moved++;
            w.pods.items[pod].state = CASE_PENDING;
            w.pods.items[pod].node = IX_NONE;
            w.pods.items[pod].hold_count = 0;
        } else if (!spared) {
            remove_pod(&w, pod);
        }
    }
    if (moved > 0) {
        return false; /* a search is needed to say */
    }
    struct snapshot snap;
    struct decisions decisions;
    case_world_snapshot(&w, &t->arena, &snap);
    sched_cycle(&t->arena, &snap, ACTION_BIT(ACTION_ALLOCATE), &decisions);
    case_world_apply(&w, &snap, &decisions);
    return active(&w, claimant) == active(&t->w, claimant);
}

TEST(no_victim_could_have_been_spared)
{
    struct trial t = {0};
    struct buf text;
    uint32_t solved = 0;
    arena_init(&t.arena, 0);
    buf_init(&text, JSON_MAX);
    for (uint32_t i = 0; i < 2 * worlds_or(WORLDS); i++) {
        trial_start(&t, test_seed() + i,
                    (struct case_random_options){.fractions = (test_seed() + i) % 4 == 3,
                                                 .pending_max = 1,
                                                 .more = (test_seed() + i) % 3 == 1,
                                                 .full = true});
        leave_one_waiting(&t.w);
        decide(&t, &t.w, ACTIONS_ALL);
        case_world_apply(&t.w, &t.snap, &t.decisions);
        solved += t.decisions.evicts.count > 0 ? 1 : 0;
        for (uint32_t e = 0; e < t.decisions.evicts.count; e++) {
            uint32_t pod = t.snap.tasks.items[t.decisions.evicts.items[e].task.ix].tag;
            bool whole = active(&t.w, t.w.pods.items[pod].workload) == 0;
            if (fits_without(&t, &t.decisions, pod, whole)) {
                BROKEN(&t, "could have been spared", STR_FMT " in: " STR_FMT,
                       STR_ARG(t.w.pods.items[pod].name), STR_ARG(decided(&t, &text)));
                break;
            }
        }
    }
    EXPECT(solved > 0);
    buf_done(&text);
    arena_done(&t.arena);
}

/* ---- rest (R7) ---- */

/* Makes the outcome of a cycle the state in which nobody has acted on it yet: who was told to stop
 * is still there, and who is promised a place waits. was[] are the pods before the cycle. */
static void leave_undone(struct case_world *w, const struct case_pod *was)
{
    for (uint32_t i = 0; i < w->pods.count; i++) {
        struct case_pod *pod = &w->pods.items[i];
        if (pod->state != CASE_PIPELINED) {
            continue;
        }
        bool there = occupies(&was[i], false);
        *pod = was[i];
        pod->state = there ? CASE_RELEASING : CASE_PENDING;
    }
}

TEST(cycles_that_nobody_acts_on_come_to_rest)
{
    struct trial t = {0};
    struct buf text;
    arena_init(&t.arena, 0);
    buf_init(&text, JSON_MAX);
    for (uint32_t i = 0; i < worlds_or(WORLDS); i++) {
        trial_start(&t, test_seed() + i, options_of(test_seed() + i));
        struct case_pod *was = ARENA_ARRAY(&t.arena, struct case_pod, t.w.pods.count + 1);
        bool quiet = false;
        for (uint32_t cycle = 0; cycle < QUIET_WITHIN && !quiet; cycle++) {
            for (uint32_t k = 0; k < t.w.pods.count; k++) {
                was[k] = t.w.pods.items[k];
            }
            decide(&t, &t.w, ACTIONS_ALL);
            case_world_apply(&t.w, &t.snap, &t.decisions);
            leave_undone(&t.w, was);
            quiet = t.decisions.evicts.count == 0;
        }
        if (!quiet) {
            BROKEN(&t, "still evicting", STR_FMT, STR_ARG(decided(&t, &text)));
        }
    }
    buf_done(&text);
    arena_done(&t.arena);
}

/* In the first round pods may still be on their way out; after that, this is rest. */
static bool nothing_decided(const struct trial *t)
{
    return t->decisions.binds.count == 0 && t->decisions.evicts.count == 0;
}

static bool something_starts(const struct trial *t)
{
    for (uint32_t i = 0; i < t->decisions.binds.count; i++) {
        if (!t->decisions.binds.items[i].pipelined) {
            return true;
        }
    }
    return false;
}

/* Promises lead to starts: never do more than IDLE_MAX rounds decide something without one. Hardly
 * any cluster goes on for ever: three workloads of which each may stop the next, by guarantee,
 * by fair share and by priority. */
TEST(it_comes_to_rest)
{
    enum { IDLE_MAX = 4, RESTLESS_ONE_IN = 1000 };
    struct trial t = {0};
    struct buf text;
    uint32_t restless = 0;
    arena_init(&t.arena, 0);
    buf_init(&text, JSON_MAX);
    for (uint32_t i = 0; i < worlds_or(WORLDS); i++) {
        uint32_t idle = 0;
        bool quiet = false;
        trial_start(&t, test_seed() + i, options_of(test_seed() + i));
        for (uint32_t round = 0; round < QUIET_WITHIN && !quiet && idle <= IDLE_MAX; round++) {
            decide(&t, &t.w, ACTIONS_ALL);
            case_world_apply(&t.w, &t.snap, &t.decisions);
            case_world_carry(&t.w);
            idle = something_starts(&t) ? 0 : idle + 1;
            quiet = round > 0 && nothing_decided(&t);
        }
        restless += quiet ? 0 : 1;
        if (!quiet && idle > IDLE_MAX) {
            BROKEN(&t, "no start", STR_FMT, STR_ARG(decided(&t, &text)));
        }
    }
    EXPECT(restless <= 1 + worlds_or(WORLDS) / RESTLESS_ONE_IN);
    buf_done(&text);
    arena_done(&t.arena);
}

/* At rest nothing that fits is left waiting: one-pod workloads with whole devices. */
static bool fits_somewhere(const struct case_world *w, const struct case_workload *workload,
                           struct arena *arena)
{
    const struct case_pod *pod = &w->pods.items[workload->pod_first];
    const struct case_shape *shape = &w->shapes.items[pod->shape];
    struct room *rooms = empty_rooms(w, arena);
    for (uint32_t i = 0; i < w->pods.count; i++) {
        const struct case_pod *other = &w->pods.items[i];
        if (occupies(other, false)) {
            fill(w, rooms, other->node, other->shape, other->hold_first, other->hold_count);
        }
    }
    for (uint32_t q = workload->queue; q != IX_NONE; q = w->queues.items[q].parent) {
        struct amounts held = charged(w, q, false);
        struct amounts more = {
            {shape->device_count * DEVICE_SHARE, shape->cpu_milli, shape->memory_bytes}
        };
        amounts_add(&held, &more);
        for (int r = 0; r < RES_COUNT; r++) {
            if (more.v[r] > 0 && !amount_le(held.v[r], w->queues.items[q].limit.v[r])) {
                return false;
            }
        }
    }
    for (uint32_t n = 0; n < w->nodes.count; n++) {
        uint32_t idle = 0;
        for (uint32_t d = 0; d < w->nodes.items[n].device_count; d++) {
            int64_t all = w->devices.items[w->nodes.items[n].device_first + d].memory_bytes;
            idle += rooms[n].device_bytes[d] == all ? 1 : 0;
        }
        if (idle >= shape->device_count && rooms[n].pods > 0 &&
            rooms[n].cpu_milli >= shape->cpu_milli &&
            rooms[n].memory_bytes >= shape->memory_bytes) {
            return true;
        }
    }
    return false;
}

TEST(nothing_that_fits_waits_at_rest)
{
    struct trial t = {0};
    arena_init(&t.arena, 0);
    for (uint32_t i = 0; i < worlds_or(WORLDS); i++) {
        struct case_random_options options = options_of(test_seed() + i);
        options.more = false; /* places are kept, zones and drains forbid others */
        options.constraints = false;
        trial_start(&t, test_seed() + i, options);
        bool quiet = false;
        for (uint32_t round = 0; round < QUIET_WITHIN && !quiet; round++) {
            decide(&t, &t.w, ACTIONS_ALL);
            case_world_apply(&t.w, &t.snap, &t.decisions);
            case_world_carry(&t.w);
            quiet = round > 0 && nothing_decided(&t);
        }
        for (uint32_t k = 0; quiet && t.w.claims.count == 0 && k < t.w.workloads.count; k++) {
            const struct case_workload *workload = &t.w.workloads.items[k];
            const struct case_pod *pod = &t.w.pods.items[workload->pod_first];
            enum gpu_kind gpu = t.w.shapes.items[pod->shape].gpu;
            if (workload->pod_count == 1 && workload->preemptible && pod->state == CASE_PENDING &&
                (gpu == GPU_WHOLE || gpu == GPU_NONE) && fits_somewhere(&t.w, workload, &t.arena)) {
                BROKEN(&t, "waits although it fits", STR_FMT, STR_ARG(workload->name));
            }
        }
    }
    arena_done(&t.arena);
}

TEST_MAIN()

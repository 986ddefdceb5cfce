// SPDX-License-Identifier: Apache-2.0
// The smallest change that would start a workload, looked for on random small clusters and then made
// to the cluster itself: the workload must start, and must not with any smaller change of the kind,
// nor with a smaller kind of those that have no amount. The name of a failing row tells the seed.
#include "base/test.h"
#include "sched/cycle.h"
#include "sched/remedy.h"
#include "sim/world_test.h"

enum {
    WORLDS = 400,
    TRIALS_MAX = 400,

    SMALLER_MAX = 64,
    REPORTED_MAX = 3
};

struct look {
    struct arena arena;
    uint64_t seed;
    struct case_world w;
    struct snapshot snap;
    uint32_t workload; /* of the snapshot */
    struct remedy found;
    uint32_t reported;
    uint32_t count[REMEDY_COUNT], outcomes[REMEDY_OUTCOME_COUNT], paths, gaps, exhausted;
};

static struct case_random_options options_of(uint64_t seed)
{
    return (struct case_random_options){.fractions = seed % 3 == 0,
                                        .pending_max = 6,
                                        .more = seed % 2 == 0,
                                        .constraints = seed % 5 < 3,
                                        .full = seed % 4 < 2};
}

static void make_world(struct look *l, struct case_world *w)
{
    world_make(l->seed, options_of(l->seed), &l->arena, w);
}

static void broken(struct look *l, const char *property, const struct remedy *r)
{
    if (l->reported++ < REPORTED_MAX) {
        world_keep(l->seed, options_of(l->seed), &l->arena);
        const struct snap_workload *w = &l->snap.workloads.items[l->workload];
        test_row(arena_printf(&l->arena,
                              "WEIR_SEED=%" PRIu64 ": %s: " STR_FMT ": " STR_FMT
                              " from %lld to %lld (found " STR_FMT " to %lld)",
                              l->seed, property, STR_ARG(w->name), STR_ARG(remedy_name(r->kind)),
                              (long long)r->from, (long long)r->to,
                              STR_ARG(remedy_name(l->found.kind)), (long long)l->found.to)
                     .ptr);
        EXPECT(false);
        test_row(NULL);
    }
}

/* ---- the change, made to a cluster ---- */

static void end_pod(struct case_pod *pod)
{
    if (pod->state != CASE_SUCCEEDED && pod->state != CASE_FAILED) {
        pod->state = CASE_SUCCEEDED;
        pod->node = IX_NONE;
        pod->hold_count = 0;
    }
}

static void end_workload(struct case_world *w, uint32_t ix)
{
    const struct case_workload *row = &w->workloads.items[ix];
    for (uint32_t i = row->pod_first; i < row->pod_first + row->pod_count; i++) {
        end_pod(&w->pods.items[i]);
    }
}

static void pass_time(struct case_world *w, int64_t until_ms, uint32_t but)
{
    for (uint32_t i = 0; i < w->workloads.count; i++) {
        const struct case_workload *row = &w->workloads.items[i];
        int64_t end_ms = row->last_start_ms + row->duration_ms;
        bool runs = false;
        for (uint32_t p = row->pod_first; p < row->pod_first + row->pod_count; p++) {
            runs = runs || w->pods.items[p].state == CASE_RUNNING;
        }
        if (runs && i != but && row->duration_ms > 0 && end_ms > w->now_ms && end_ms <= until_ms) {
            end_workload(w, i);
        }
    }
    w->now_ms = until_ms;
}

static void change_shape(struct case_world *w, struct case_shape *shape, const struct remedy *r)
{
    int64_t to = r->to;
    if (r->kind == REMEDY_SELECTOR) {
        shape->only_nodes = false;
    } else if (r->kind == REMEDY_TAINTS) {
        shape->tolerates_first = w->keys.count;
        shape->tolerates_count = 0;
        for (uint32_t n = 0; n < w->nodes.count; n++) {
            for (uint32_t k = 0; k < w->nodes.items[n].taint_count; k++) {
                struct str taint = w->keys.items[w->nodes.items[n].taint_first + k];
                *ARRAY_PUSH(w->arena, &w->keys) = taint;
                shape->tolerates_count++;
            }
        }
    } else if (r->kind == REMEDY_NUMA) {
        shape->single_numa = false;
    } else if (r->kind == REMEDY_AFFINITY) {
        shape->affinity_key = STR("");
    } else if (r->kind == REMEDY_ANTI_AFFINITY) {
        shape->anti_affinity_key = STR("");
    } else if (r->kind == REMEDY_DEVICES) {
        shape->device_count = (uint32_t)num_min_i64(shape->device_count, to);
    } else if (r->kind == REMEDY_SHARE) {
        shape->share = num_min_i64(shape->share, to);
    } else if (r->kind == REMEDY_DEVICE_MEMORY) {
        shape->device_memory_bytes = num_min_i64(shape->device_memory_bytes, to);
    } else if (r->kind == REMEDY_CPU) {
        shape->cpu_milli = num_min_i64(shape->cpu_milli, to);
    } else if (r->kind == REMEDY_MEMORY) {
        shape->memory_bytes = num_min_i64(shape->memory_bytes, to);
    }
}

/* Pods that run keep the shape they have; those that wait and are alike stay alike. */
static void change_shapes(struct case_world *w, uint32_t ix, const struct remedy *r)
{
    const struct case_workload *row = &w->workloads.items[ix];
    uint32_t *new_of = ARENA_ARRAY(w->arena, uint32_t, w->shapes.count + 1);
    for (uint32_t i = row->pod_first; i < row->pod_first + row->pod_count; i++) {
        struct case_pod *pod = &w->pods.items[i];
        if (pod->state != CASE_PENDING && pod->state != CASE_GATED) {
            continue;
        }
        uint32_t old = pod->shape;
        if (new_of[old] == 0) {
            struct case_shape shape = w->shapes.items[old];
            change_shape(w, &shape, r);
            new_of[old] = w->shapes.count; /* others come first: never 0 */
            *ARRAY_PUSH(w->arena, &w->shapes) = shape;
        }
        pod->shape = new_of[old];
    }
}

static void raise_rights(struct case_world *w, uint32_t queue, const struct remedy *r)
{
    for (uint32_t q = queue; q != IX_NONE; q = r->path ? w->queues.items[q].parent : IX_NONE) {
        int64_t *quota = &w->queues.items[q].quota.v[r->resource];
        int64_t *limit = &w->queues.items[q].limit.v[r->resource];
        int64_t *amount = r->kind == REMEDY_GUARANTEE ? quota : limit;
        *amount += *amount == AMOUNT_UNLIMITED ? 0 : r->to - r->from;
        if (r->kind == REMEDY_GUARANTEE && *limit != AMOUNT_UNLIMITED) {
            *limit = *quota == AMOUNT_UNLIMITED ? AMOUNT_UNLIMITED : num_max_i64(*limit, *quota);
        }
    }
}

static void change_node(struct case_world *w, uint32_t n, bool heal)
{
    struct case_node *node = &w->nodes.items[n];
    for (uint32_t d = node->device_first; heal && d < node->device_first + node->device_count;
         d++) {
        w->devices.items[d].sick = false;
        w->devices.items[d].draining = false;
    }
    if (!heal) {
        node->lost = node->cordoned = node->draining = false;
    }
}

static void change_world(const struct look *l, struct case_world *w, const struct remedy *r)
{
    const struct snapshot *s = &l->snap;
    uint32_t ix = s->workloads.items[l->workload].tag;
    struct case_workload *row = &w->workloads.items[ix];
    struct case_group *group = &w->groups.items[row->group_first]; /* they have one each */
    if (r->kind == REMEDY_WAIT) {
        pass_time(w, r->until_ms, ix);
    } else if (r->kind == REMEDY_PREEMPTIBLE) {
        row->preemptible = true;
    } else if (r->kind == REMEDY_TOPOLOGY) {
        group->topology = group->required = IX_NONE;
    } else if (r->kind == REMEDY_PRIORITY) {
        row->priority = r->to;
    } else if (r->kind == REMEDY_MEMBERS) {
        group->min = (uint32_t)r->to;
    } else if (r->kind == REMEDY_LIMIT || r->kind == REMEDY_GUARANTEE) {
        raise_rights(w, s->queues.items[r->queue.ix].tag, r);
    } else if (r->kind == REMEDY_NODE || r->kind == REMEDY_HEAL) {
        change_node(w, s->nodes.items[r->node.ix].tag, r->kind == REMEDY_HEAL);
    } else if (r->kind == REMEDY_FREE) {
        for (uint32_t i = 0; i < r->pods_count; i++) {
            end_pod(&w->pods.items[s->tasks.items[r->pods[i].ix].tag]);
        }
    } else if (r->kind == REMEDY_END) {
        end_workload(w, s->workloads.items[r->other.ix].tag);
    } else if (r->kind != REMEDY_NONE) {
        change_shapes(w, ix, r);
    }
}

// How many of its pods run, or have a place to run at.
static uint32_t places(const struct case_world *w, const struct case_workload *row)
{
    uint32_t count = 0;
    for (uint32_t i = row->pod_first; i < row->pod_first + row->pod_count; i++) {
        enum case_pod_state state = w->pods.items[i].state;
        count += state == CASE_BINDING || state == CASE_RUNNING || state == CASE_PIPELINED;
    }
    return count;
}

static bool starts_with(struct look *l, const struct remedy *r)
{
    struct case_world w;
    struct snapshot snap;
    struct decisions decisions;
    struct err err = {0};
    struct arena_mark mark = arena_mark(&l->arena);
    make_world(l, &w);
    change_world(l, &w, r);
    const struct case_workload *row = &w.workloads.items[l->snap.workloads.items[l->workload].tag];
    uint32_t before = places(&w, row);
    case_world_snapshot(&w, &l->arena, &snap);
    REQUIRE_OK(snapshot_check(&snap, &err), &err);
    sched_cycle(&l->arena, &snap, ACTIONS_ALL, &decisions);
    case_world_apply(&w, &snap, &decisions);
    bool starts = places(&w, row) > before;
    arena_rewind(&l->arena, mark);
    return starts;
}

/* ---- nothing smaller is enough ---- */

static bool asks_for_parts(const struct look *l)
{
    const struct snap_workload *w = &l->snap.workloads.items[l->workload];
    bool parts = false;
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        const struct snap_task *task = &l->snap.tasks.items[t];
        enum gpu_kind gpu = l->snap.shapes.items[task->shape.ix].gpu;
        bool waits = task->state == TASK_PENDING || task->state == TASK_GATED;
        parts = parts || (waits && (gpu == GPU_SHARE || gpu == GPU_MEMORY));
    }
    return parts;
}

static int64_t step_of(const struct look *l, const struct remedy *r)
{
    static const int64_t memory = INT64_C(128) << 20;
    switch (r->kind) {
    case REMEDY_SHARE:
        return DEVICE_SHARE / 100;
    case REMEDY_DEVICE_MEMORY:
    case REMEDY_MEMORY:
        return memory;
    case REMEDY_CPU:
        return 100;
    case REMEDY_LIMIT:
    case REMEDY_GUARANTEE:
        return r->resource == RES_CPU      ? 100
               : r->resource == RES_MEMORY ? memory
               : asks_for_parts(l)         ? DEVICE_SHARE / 100
                                           : DEVICE_SHARE;
    case REMEDY_NONE:
    case REMEDY_WAIT:
    case REMEDY_PREEMPTIBLE:
    case REMEDY_SELECTOR:
    case REMEDY_TAINTS:
    case REMEDY_NUMA:
    case REMEDY_AFFINITY:
    case REMEDY_ANTI_AFFINITY:
    case REMEDY_TOPOLOGY:
    case REMEDY_PRIORITY:
    case REMEDY_DEVICES:
    case REMEDY_MEMBERS:
    case REMEDY_NODE:
    case REMEDY_HEAL:
    case REMEDY_FREE:
    case REMEDY_END:
    case REMEDY_COUNT:
        break;
    }
    return 1;
}

static bool has_amount(enum remedy_kind kind)
{
    return kind == REMEDY_PRIORITY || (kind >= REMEDY_DEVICES && kind <= REMEDY_GUARANTEE);
}

static void check_smaller_amounts(struct look *l)
{
    struct remedy r = l->found;
    int64_t step = step_of(l, &r);
    int64_t up = r.to > r.from ? 1 : -1;
    int64_t left = (up * (r.to - r.from) - 1) / step;
    for (int64_t k = 1; k <= left && k <= SMALLER_MAX; k++) {
        r.to = l->found.to - up * k * step;
        if (starts_with(l, &r)) {
            /* More for a queue may let others of it in first: what is enough may not be with more. */
            if (k == 1 || r.kind == REMEDY_DEVICES || r.kind == REMEDY_MEMBERS) {
                broken(l, "a smaller amount is enough", &r);
            }
            l->gaps++;
            return;
        }
    }
}

static void check_fewer_pods(struct look *l)
{
    struct remedy r = l->found;
    struct task_ref *fewer = ARENA_ARRAY(&l->arena, struct task_ref, r.pods_count);
    for (uint32_t out = 0; out < l->found.pods_count; out++) {
        r.pods_count = 0;
        for (uint32_t i = 0; i < l->found.pods_count; i++) {
            if (i != out) {
                fewer[r.pods_count++] = l->found.pods[i];
            }
        }
        r.pods = fewer;
        if (starts_with(l, &r)) {
            broken(l, "a pod could stay", &r);
        }
    }
}

static void check_earlier(struct look *l)
{
    struct remedy r = l->found;
    for (int64_t earlier = 1; earlier < 8000; earlier += 1000) {
        r.until_ms = l->found.until_ms - earlier;
        if (r.until_ms > l->snap.config.now_ms && starts_with(l, &r)) {
            /* As things are from the moment before on; but whom a reservation lets pass changes
             * with every moment. */
            if (earlier == 1 && l->snap.config.reservation_after_ms == 0) {
                broken(l, "an earlier time is enough", &r);
            }
            l->gaps++;
            return;
        }
    }
}

/* Kinds that are one change each. */
static void check_smaller_kinds(struct look *l)
{
    for (uint32_t k = REMEDY_NONE; k < l->found.kind; k++) {
        struct remedy r = {.kind = (enum remedy_kind)k};
        if (k != REMEDY_WAIT && k != REMEDY_PRIORITY && k <= REMEDY_TOPOLOGY &&
            starts_with(l, &r)) {
            broken(l, "a smaller kind is enough", &r);
        }
    }
}

static void check_workload(struct look *l)
{
    const struct remedy *r = &l->found;
    remedy_find(&l->arena, &l->snap, l->workload, ACTIONS_ALL, TRIALS_MAX, &l->found);
    l->outcomes[r->outcome]++;
    l->exhausted += r->exhausted;
    EXPECT(r->trials <= TRIALS_MAX);
    if (r->outcome == REMEDY_NOT_NEEDED && !starts_with(l, r)) {
        broken(l, "a change is needed", r);
    }
    if (r->outcome != REMEDY_FOUND) {
        return;
    }
    l->count[r->kind]++;
    l->paths += r->path;
    if (!starts_with(l, r)) {
        broken(l, "it does not start", r);
        return;
    }
    check_smaller_kinds(l);
    if (has_amount(r->kind)) {
        check_smaller_amounts(l);
    } else if (r->kind == REMEDY_FREE) {
        check_fewer_pods(l);
    } else if (r->kind == REMEDY_WAIT) {
        check_earlier(l);
    }
}

TEST(the_change_starts_it_and_nothing_smaller_does)
{
    struct look l = {0};
    for (uint32_t i = 0; i < worlds_or(WORLDS); i++) {
        arena_init(&l.arena, 0); /* a large block kept would cost the sanitizer at each rewind */
        l.seed = test_seed() + i;
        make_world(&l, &l.w);
        case_world_snapshot(&l.w, &l.arena, &l.snap);
        for (l.workload = 0; l.workload < l.snap.workloads.count; l.workload++) {
            check_workload(&l);
        }
        arena_done(&l.arena);
    }
    printf(
        "# %u need none, %u do not wait, %u are beyond one change; exhausted: %u; of a queue and "
        "those above it: %u; with something smaller far below: %u\n",
        l.outcomes[REMEDY_NOT_NEEDED], l.outcomes[REMEDY_NOT_WAITING], l.outcomes[REMEDY_NO_SINGLE],
        l.exhausted, l.paths, l.gaps);
    for (uint32_t k = 1; k < REMEDY_COUNT; k++) {
        printf("# " STR_FMT ": %u\n", STR_ARG(remedy_name((enum remedy_kind)k)), l.count[k]);
    }
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
// What must hold for every cycle on every cluster, looked for on random small clusters. The name of
// a failing row tells property and seed; WEIR_SEED=<that> with the name of the test runs it again as
// the first one. The cluster is left as a case file, for `weir simulate --json`.
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/test.h"
#include "sched/cycle.h"
#include "sim/case_random.h"

enum {
    WORLDS = 1200,
    REPORTED_MAX = 2,
    PROPERTIES_MAX = 16,
    QUIET_WITHIN = 16,
    JSON_MAX = 1 << 20
};

/* One cluster before and after one cycle. */
struct trial {
    struct arena arena;
    uint64_t seed;
    struct case_random_options options;
    struct case_world w;      /* after */
    struct case_world before; /* the same, made anew */
    struct snapshot snap;
    struct decisions decisions;
    uint32_t broken;
    struct {
        const char *property;
        uint32_t count;
    } reported[PROPERTIES_MAX];
};

/* How many clusters each test looks at; WEIR_WORLDS says another number. */
static uint32_t worlds(void)
{
    const char *text = getenv("WEIR_WORLDS");
    uint64_t count = WORLDS;
    return text != NULL && num_parse_u64(str_from_c(text), &count) ? num_u32(count) : WORLDS;
}

static void make_world(struct trial *t, struct case_world *w)
{
    struct prng prng;
    prng_init(&prng, t->seed);
    case_world_init(w, &t->arena, INT64_C(2000000000000));
    case_random(w, &prng, t->options);
}

static void keep_as_case(struct trial *t)
{
    struct case_world w;
    struct buf text;
    struct jw out;
    make_world(t, &w);
    buf_init(&text, JSON_MAX);
    jw_init(&out, &text, true);
    case_random_to_json(&w, arena_printf(&t->arena, "seed-%" PRIu64, t->seed), &out);
    const char *path = arena_printf(&t->arena, "%s/%" PRIu64 ".json", test_tmp_dir(), t->seed).ptr;
    FILE *file = fopen(path, "w");
    if (file != NULL) {
        fwrite(text.ptr, 1, text.len, file);
        fclose(file);
        printf("# the cluster of the next failure: %s\n", path);
    }
    buf_done(&text);
}

static void broken(struct trial *t, const char *property, struct str detail)
{
    uint32_t p = 0;
    while (t->reported[p].property != NULL &&
           !str_eq(str_from_c(t->reported[p].property), str_from_c(property))) {
        p++;
    }
    t->reported[p].property = property;
    t->broken++;
    if (t->reported[p].count++ < REPORTED_MAX) {
        keep_as_case(t);
        test_row(arena_printf(&t->arena, "WEIR_SEED=%" PRIu64 ": %s: " STR_FMT, t->seed, property,
                              STR_ARG(detail))
                     .ptr);
        EXPECT(false);
        test_row(NULL);
    }
}
#define BROKEN(t, property, ...) broken((t), (property), arena_printf(&(t)->arena, __VA_ARGS__))

static void decide(struct trial *t, struct case_world *w, uint32_t actions)
{
    struct err err = {0};
    case_world_snapshot(w, &t->arena, &t->snap);
    REQUIRE_OK(snapshot_check(&t->snap, &err), &err);
    sched_cycle(&t->arena, &t->snap, actions, &t->decisions);
}

static bool occupies(const struct case_pod *pod, bool later)
{
    return pod->state == CASE_RUNNING || pod->state == CASE_BINDING ||
           (later ? pod->state == CASE_PIPELINED : pod->state == CASE_RELEASING);
}

/* Bytes of a device's memory that a hold takes. */
static int64_t hold_bytes(const struct case_world *w, const struct case_hold *hold)
{
    int64_t all = w->devices.items[hold->device].memory_bytes;
    return hold->bytes > 0 ? hold->bytes : num_muldiv_floor(hold->share, all, DEVICE_SHARE);
}

struct room {
    int64_t cpu_milli, memory_bytes, pods;
    int64_t *device_bytes;
};

static struct room *empty_rooms(const struct case_world *w, struct arena *arena)
{
    struct room *rooms = ARENA_ARRAY(arena, struct room, w->nodes.count);
    for (uint32_t n = 0; n < w->nodes.count; n++) {
        const struct case_node *node = &w->nodes.items[n];
        rooms[n] = (struct room){node->cpu_milli, node->memory_bytes, node->pods,
                                 ARENA_ARRAY(arena, int64_t, node->device_count + 1)};
        for (uint32_t i = 0; i < node->device_count; i++) {
            rooms[n].device_bytes[i] = w->devices.items[node->device_first + i].memory_bytes;
        }
    }
    return rooms;
}

static void fill(const struct case_world *w, struct room *rooms, uint32_t node, uint32_t shape_ix,
                 uint32_t hold_first, uint32_t hold_count)
{
    const struct case_shape *shape = &w->shapes.items[shape_ix];
    rooms[node].cpu_milli -= shape->cpu_milli;
    rooms[node].memory_bytes -= shape->memory_bytes;
    rooms[node].pods--;
    for (uint32_t h = 0; h < hold_count; h++) {
        const struct case_hold *hold = &w->holds.items[hold_first + h];
        const struct case_device *device = &w->devices.items[hold->device];
        rooms[device->node].device_bytes[device->ordinal] -= hold_bytes(w, hold);
    }
}

static void check_rooms(struct trial *t, const struct room *rooms, const char *when)
{
    for (uint32_t n = 0; n < t->w.nodes.count; n++) {
        const struct case_node *node = &t->w.nodes.items[n];
        if (rooms[n].cpu_milli < 0 || rooms[n].memory_bytes < 0 || rooms[n].pods < 0) {
            BROKEN(t, "over-committed", "node " STR_FMT " %s", STR_ARG(node->name), when);
        }
        for (uint32_t i = 0; i < node->device_count; i++) {
            if (rooms[n].device_bytes[i] < 0) {
                BROKEN(t, "over-committed", "device %u of " STR_FMT " %s", i, STR_ARG(node->name),
                       when);
            }
        }
    }
}

/* Nothing is over-committed, neither while what was told to stop is still there nor afterwards. */
static void check_commitment(struct trial *t)
{
    const struct case_world *w = &t->w;
    struct room *now = empty_rooms(w, &t->arena);
    struct room *later = empty_rooms(w, &t->arena);
    for (uint32_t i = 0; i < w->pods.count; i++) {
        const struct case_pod *old = &t->before.pods.items[i];
        const struct case_pod *pod = &w->pods.items[i];
        if (occupies(old, false)) {
            fill(&t->before, now, old->node, old->shape, old->hold_first, old->hold_count);
        } else if (pod->state == CASE_BINDING) {
            fill(w, now, pod->node, pod->shape, pod->hold_first, pod->hold_count);
        }
        if (occupies(pod, true)) {
            fill(w, later, pod->node, pod->shape, pod->hold_first, pod->hold_count);
        }
    }
    check_rooms(t, now, "now");
    check_rooms(t, later, "once all is released");
}

/* Adds what a pod holds or has held to *sum. */
static void add_cost(const struct case_world *w, const struct case_pod *pod, struct amounts *sum)
{
    sum->v[RES_CPU] += w->shapes.items[pod->shape].cpu_milli;
    sum->v[RES_MEMORY] += w->shapes.items[pod->shape].memory_bytes;
    for (uint32_t h = 0; h < pod->hold_count; h++) {
        sum->v[RES_GPU] += w->holds.items[pod->hold_first + h].share;
    }
}

/* What the pods that stay or come hold in a queue and below it. */
static struct amounts charged(const struct case_world *w, uint32_t queue, bool non_preemptible)
{
    struct amounts sum = {{0}};
    for (uint32_t i = 0; i < w->pods.count; i++) {
        const struct case_pod *pod = &w->pods.items[i];
        const struct case_workload *workload = &w->workloads.items[pod->workload];
        uint32_t at = workload->queue;
        while (at != IX_NONE && at != queue) {
            at = w->queues.items[at].parent;
        }
        if (at == IX_NONE || !occupies(pod, true) || (non_preemptible && workload->preemptible)) {
            continue;
        }
        add_cost(w, pod, &sum);
    }
    return sum;
}

/* R6, R2: no queue at any level gets above its limit, nor non-preemptible work above its quota; a
 * queue that was above gets no more. */
static void check_limits(struct trial *t)
{
    for (uint32_t q = 0; q < t->w.queues.count; q++) {
        const struct case_queue *queue = &t->w.queues.items[q];
        for (int kind = 0; kind < 2; kind++) {
            struct amounts was = charged(&t->before, q, kind == 1);
            struct amounts is = charged(&t->w, q, kind == 1);
            for (int r = 0; r < RES_COUNT; r++) {
                int64_t bound = kind == 0 ? queue->limit.v[r] : queue->quota.v[r];
                if (bound != AMOUNT_UNLIMITED && is.v[r] > bound && is.v[r] > was.v[r]) {
                    BROKEN(t, kind == 0 ? "above a limit" : "non-preemptible above a quota",
                           STR_FMT ", resource %d: %lld of %lld", STR_ARG(queue->name), r,
                           (long long)is.v[r], (long long)bound);
                }
            }
        }
    }
}

/* R8: what a cycle says is held is what is held. */
static void check_books(struct trial *t)
{
    for (uint32_t i = 0; i < t->snap.queues.count; i++) {
        uint32_t q = t->snap.queues.items[i].tag;
        int64_t said = t->decisions.queues[i].held.v[RES_GPU];
        int64_t is = case_world_held(&t->w, q);
        if (said != is) {
            BROKEN(t, "books", STR_FMT ": said %lld, is %lld", STR_ARG(t->w.queues.items[q].name),
                   (long long)said, (long long)is);
        }
    }
}

static uint32_t members(const struct case_world *w, uint32_t workload)
{
    uint32_t count = 0;
    const struct case_workload *row = &w->workloads.items[workload];
    for (uint32_t i = row->pod_first; i < row->pod_first + row->pod_count; i++) {
        const struct case_pod *pod = &w->pods.items[i];
        count += occupies(pod, true) || pod->state == CASE_SUCCEEDED ? 1 : 0;
    }
    return count;
}

static uint32_t active(const struct case_world *w, uint32_t workload)
{
    uint32_t count = 0;
    const struct case_workload *row = &w->workloads.items[workload];
    for (uint32_t i = row->pod_first; i < row->pod_first + row->pod_count; i++) {
        count += occupies(&w->pods.items[i], true) ? 1 : 0;
    }
    return count;
}

/* R5: what was complete is complete or gone; what got a place is complete. */
static void check_gangs(struct trial *t)
{
    for (uint32_t i = 0; i < t->w.workloads.count; i++) {
        const struct case_workload *row = &t->w.workloads.items[i];
        uint32_t min = t->w.groups.items[row->group_first].min;
        bool was_partial = active(&t->before, i) > 0 && members(&t->before, i) < min;
        bool got = active(&t->w, i) > active(&t->before, i);
        if (active(&t->w, i) > 0 && members(&t->w, i) < min && (got || !was_partial)) {
            BROKEN(t, "a partial gang", STR_FMT ": %u of %u", STR_ARG(row->name), members(&t->w, i),
                   min);
        }
    }
}

/* R5: places that are not free yet are no members: of what ran complete, complete runs on, or
 * nothing. What is moved runs on, what starts now runs. */
static void check_gangs_run_on(struct trial *t)
{
    struct arena_mark mark = arena_mark(&t->arena);
    uint32_t *left = ARENA_ARRAY(&t->arena, uint32_t, t->w.workloads.count + 1);
    for (uint32_t i = 0; i < t->w.pods.count; i++) {
        left[t->w.pods.items[i].workload] += t->before.pods.items[i].state == CASE_RUNNING ||
                                             t->w.pods.items[i].state == CASE_BINDING;
    }
    for (uint32_t i = 0; i < t->decisions.evicts.count; i++) {
        const struct decision_evict *evict = &t->decisions.evicts.items[i];
        uint32_t pod = t->snap.tasks.items[evict->task.ix].tag;
        left[t->w.pods.items[pod].workload] -= evict->moved ? 0 : 1;
    }
    for (uint32_t i = 0; i < t->w.workloads.count; i++) {
        const struct case_workload *row = &t->w.workloads.items[i];
        uint32_t min = t->w.groups.items[row->group_first].min;
        uint32_t succeeded = members(&t->before, i) - active(&t->before, i);
        if (members(&t->before, i) >= min && left[i] > 0 && left[i] + succeeded < min) {
            BROKEN(t, "a gang that is not there yet", STR_FMT ": %u of %u", STR_ARG(row->name),
                   left[i], min);
        }
    }
    arena_rewind(&t->arena, mark);
}

/* Somebody of the workload's queue got a place: it, or who took it over within the same cycle. */
static bool queue_was_bound(const struct trial *t, uint32_t workload)
{
    const struct snap_workload *rows = t->snap.workloads.items;
    for (uint32_t i = 0; i < t->decisions.binds.count; i++) {
        const struct snap_task *task = &t->snap.tasks.items[t->decisions.binds.items[i].task.ix];
        if (rows[task->workload.ix].queue.ix == rows[workload].queue.ix) {
            return true;
        }
    }
    return false;
}

static bool is_drain(const struct decision_evict *evict)
{
    return evict->reason.code == REASON_EVICTED_DRAIN ||
           evict->reason.code == REASON_EVICTED_DEVICE_DRAIN;
}

static bool is_drained(const struct trial *t, const struct snap_task *task,
                       const struct decision_evict *evict)
{
    bool device = false;
    for (uint32_t h = task->hold_first; h < task->hold_first + task->hold_count; h++) {
        device = device || t->snap.devices.items[t->snap.holds.items[h].device.ix].draining;
    }
    return evict->reason.code == REASON_EVICTED_DRAIN ? t->snap.nodes.items[task->node.ix].draining
                                                      : device;
}

/* R2, R4: only preemptible work that runs is told to stop, on behalf of somebody who then has a
 * place. */
static void check_victims(struct trial *t)
{
    for (uint32_t i = 0; i < t->decisions.evicts.count; i++) {
        const struct decision_evict *evict = &t->decisions.evicts.items[i];
        const struct snap_task *task = &t->snap.tasks.items[evict->task.ix];
        const struct snap_workload *victim = &t->snap.workloads.items[task->workload.ix];
        if (evict->action == ACTION_EVICT_STALE) {
            continue;
        }
        if (is_drain(evict)) {
            if (!evict->moved || !victim->preemptible || !is_drained(t, task, evict)) {
                BROKEN(t, "a drain that is none", STR_FMT, STR_ARG(task->name));
            }
            continue;
        }
        if (!victim->preemptible) {
            BROKEN(t, "a non-preemptible victim", STR_FMT, STR_ARG(task->name));
        }
        if (task->state != TASK_RUNNING) {
            BROKEN(t, "a victim that does not run", STR_FMT, STR_ARG(task->name));
        }
        if (evict->reason.other.ix == IX_NONE || !queue_was_bound(t, evict->reason.other.ix)) {
            BROKEN(t, "an eviction for nobody", STR_FMT, STR_ARG(task->name));
            continue;
        }
        /* R9: one queue preempts, two reclaim. */
        uint32_t theirs = t->snap.workloads.items[evict->reason.other.ix].queue.ix;
        bool own = victim->queue.ix == theirs;
        if (!evict->moved && evict->action != (own ? ACTION_PREEMPT : ACTION_RECLAIM)) {
            BROKEN(t, "a wrong action", STR_FMT, STR_ARG(task->name));
        }
    }
}

/* Of the pods of a budget no more are told to stop than it has room for. */
static void check_budgets(struct trial *t)
{
    bool *stops = ARENA_ARRAY(&t->arena, bool, t->snap.tasks.count + 1);
    for (uint32_t i = 0; i < t->decisions.evicts.count; i++) {
        const struct decision_evict *evict = &t->decisions.evicts.items[i];
        stops[evict->task.ix] = evict->action != ACTION_EVICT_STALE;
    }
    for (uint32_t i = 0; i < t->snap.budgets.count; i++) {
        const struct snap_budget *budget = &t->snap.budgets.items[i];
        uint32_t run = 0;
        uint32_t stop = 0;
        for (uint32_t m = 0; m < budget->member_count; m++) {
            uint32_t task = t->snap.budget_members.items[budget->member_first + m].ix;
            bool runs = t->snap.tasks.items[task].state == TASK_RUNNING;
            run += runs;
            stop += runs && stops[task];
        }
        if (stop > 0 && run - stop < budget->available_min) {
            BROKEN(t, "a broken budget", STR_FMT, STR_ARG(budget->name));
        }
    }
}

/* Who asks for one zone is in one, and the zones have what those in them use. */
static void check_zones(struct trial *t)
{
    const struct case_world *w = &t->w;
    int64_t *cpu_milli = ARENA_ARRAY(&t->arena, int64_t, w->zones.count + 1);
    for (uint32_t i = 0; i < w->pods.count; i++) {
        const struct case_pod *pod = &w->pods.items[i];
        const struct case_shape *shape = &w->shapes.items[pod->shape];
        if (!shape->single_numa || !occupies(pod, true)) {
            continue;
        }
        const struct case_node *node = &w->nodes.items[pod->node];
        cpu_milli[node->zone_first + pod->zone] += shape->cpu_milli;
        for (uint32_t h = 0; h < pod->hold_count; h++) {
            if (w->devices.items[w->holds.items[pod->hold_first + h].device].zone != pod->zone) {
                BROKEN(t, "a device of another zone", STR_FMT, STR_ARG(pod->name));
            }
        }
    }
    for (uint32_t z = 0; z < w->zones.count; z++) {
        if (cpu_milli[z] > w->zones.items[z].cpu_milli) {
            BROKEN(t, "a zone over-committed", "zone %u", z);
        }
    }
}

static void check_drains(struct trial *t)
{
    for (uint32_t i = 0; i < t->decisions.binds.count; i++) {
        if (!t->snap.nodes.items[t->decisions.binds.items[i].node.ix].schedulable) {
            BROKEN(t, "placed on a draining node", "bind %u", i);
        }
        const struct decision_bind *bind = &t->decisions.binds.items[i];
        for (uint32_t h = bind->hold_first; h < bind->hold_first + bind->hold_count; h++) {
            if (t->snap.devices.items[t->decisions.holds.items[h].device.ix].draining) {
                BROKEN(t, "placed on a draining device", "bind %u", i);
            }
        }
    }
}

static bool is_above(const struct case_world *w, uint32_t upper, uint32_t queue)
{
    while (queue != IX_NONE && queue != upper) {
        queue = w->queues.items[queue].parent;
    }
    return queue == upper;
}

/* The victim's side: the highest queue above it that is not above the claimant too. */
static uint32_t victim_side(const struct trial *t, const struct decision_evict *evict)
{
    const struct snap_task *task = &t->snap.tasks.items[evict->task.ix];
    uint32_t claimant = t->snap.workloads.items[evict->reason.other.ix].tag;
    uint32_t theirs = t->w.workloads.items[claimant].queue;
    uint32_t side = t->w.workloads.items[t->w.pods.items[task->tag].workload].queue;
    while (t->w.queues.items[side].parent != IX_NONE &&
           !is_above(&t->w, t->w.queues.items[side].parent, theirs)) {
        side = t->w.queues.items[side].parent;
    }
    return side;
}

static int64_t asked_share(const struct case_shape *shape)
{
    return shape->gpu == GPU_WHOLE ? DEVICE_SHARE * shape->device_count : shape->share;
}

/* The most of each resource that one workload of queue which lost pods had held, be it only for a
 * moment within the cycle: it waits now. */
static struct amounts largest_victim(const struct trial *t, uint32_t queue)
{
    struct amounts largest = {{0}};
    for (uint32_t i = 0; i < t->w.workloads.count; i++) {
        const struct case_workload *row = &t->w.workloads.items[i];
        struct amounts sum = {{0}};
        for (uint32_t p = row->pod_first; p < row->pod_first + row->pod_count; p++) {
            const struct case_pod *was = &t->before.pods.items[p];
            if (occupies(was, false)) {
                add_cost(&t->before, was, &sum);
            } else if (was->state == CASE_PENDING) {
                const struct case_shape *shape = &t->before.shapes.items[was->shape];
                struct amounts asked = {
                    {asked_share(shape), shape->cpu_milli, shape->memory_bytes}
                };
                amounts_add(&sum, &asked);
            }
        }
        bool lost = active(&t->w, i) < active(&t->before, i) || active(&t->w, i) == 0;
        for (int r = 0; lost && is_above(&t->w, queue, row->queue) && r < RES_COUNT; r++) {
            largest.v[r] = num_max_i64(largest.v[r], sum.v[r]);
        }
    }
    return largest;
}

/* What queue lost to others than reclaimers, after them. */
static struct amounts lost_otherwise(const struct trial *t, uint32_t queue)
{
    struct amounts sum = {{0}};
    for (uint32_t i = 0; i < t->decisions.evicts.count; i++) {
        const struct decision_evict *evict = &t->decisions.evicts.items[i];
        const struct case_pod *was = &t->before.pods.items[t->snap.tasks.items[evict->task.ix].tag];
        if (evict->action != ACTION_RECLAIM && !evict->moved &&
            is_above(&t->w, queue, t->w.workloads.items[was->workload].queue)) {
            add_cost(&t->before, was, &sum);
        }
    }
    return sum;
}

/* R1, R3: who loses work to another's reclaim was above its guarantee, in some resource, while it
 * lost the last of it: it ends below by less than one workload. Nothing is guaranteed beyond a
 * limit. */
static void check_guarantees(struct trial *t)
{
    for (uint32_t i = 0; i < t->decisions.evicts.count; i++) {
        const struct decision_evict *evict = &t->decisions.evicts.items[i];
        if (evict->action != ACTION_RECLAIM || evict->moved || evict->reason.other.ix == IX_NONE) {
            continue;
        }
        uint32_t side = victim_side(t, evict);
        const struct case_queue *queue = &t->w.queues.items[side];
        struct amounts held = charged(&t->w, side, false);
        struct amounts largest = largest_victim(t, side);
        struct amounts otherwise = lost_otherwise(t, side);
        amounts_add(&held, &otherwise);
        bool was_above = false;
        for (int r = 0; r < RES_COUNT; r++) {
            bool limited = amount_le(queue->limit.v[r], queue->quota.v[r]);
            int64_t guarantee = limited ? queue->limit.v[r] : queue->quota.v[r];
            was_above = was_above || !amount_le(held.v[r] + largest.v[r], guarantee);
        }
        if (!was_above) {
            BROKEN(t, "below its guarantee", STR_FMT " of " STR_FMT " holds %lld device shares",
                   STR_ARG(t->snap.tasks.items[evict->task.ix].name), STR_ARG(queue->name),
                   (long long)held.v[RES_GPU]);
        }
    }
}

/* R9: who is promised a place is said to wait for it, and whose pods all wait without one is not. */
static void check_reasons(struct trial *t)
{
    for (uint32_t i = 0; i < t->snap.workloads.count; i++) {
        uint32_t workload = t->snap.workloads.items[i].tag;
        const struct case_workload *row = &t->w.workloads.items[workload];
        enum reason_code code = t->decisions.reasons[i].code;
        uint32_t promised = 0;
        uint32_t waiting = 0;
        for (uint32_t p = row->pod_first; p < row->pod_first + row->pod_count; p++) {
            promised += t->w.pods.items[p].state == CASE_PIPELINED ? 1 : 0;
            waiting += t->w.pods.items[p].state == CASE_PENDING ? 1 : 0;
        }
        bool says_promised = code == REASON_WAITING_FOR_CLAIM || code == REASON_WAITING_FOR_RELEASE;
        if (promised > 0 && waiting == 0 && !says_promised) {
            BROKEN(t, "a wrong reason", STR_FMT " is promised a place, but: " STR_FMT,
                   STR_ARG(row->name), STR_ARG(reason_name(code)));
        }
        if (waiting > 0 && (code == REASON_NONE || (promised == 0 && says_promised))) {
            BROKEN(t, "a wrong reason", STR_FMT " waits, but: " STR_FMT, STR_ARG(row->name),
                   STR_ARG(reason_name(code)));
        }
    }
}

static bool tells_nodes(enum reason_code code)
{
    return code == REASON_NO_NODE_FITS || code == REASON_TOO_LARGE ||
           code == REASON_GANG_INCOMPLETE || code == REASON_NO_VICTIMS ||
           code == REASON_VICTIMS_NOT_ENOUGH || code == REASON_PARTLY_PLACED;
}

/* What the numbers of a reason say is what its code says. */
static bool numbers_agree(const struct reason *r)
{
    enum reason_code code = r->code;
    bool over = code == REASON_OVER_LIMIT || code == REASON_NON_PREEMPTIBLE_OVER_QUOTA;
    if (over || code == REASON_FAIR_SHARE_REACHED) {
        /* A queue may be above its fair share in what this workload does not ask for. */
        return r->queue.ix != IX_NONE && r->held + r->requested > r->bound &&
               (r->requested > 0 || !over);
    }
    if (code == REASON_TOO_LARGE || code == REASON_LARGER_THAN_POOL || code == REASON_TOPOLOGY) {
        return r->requested > r->bound;
    }
    if (code == REASON_GANG_INCOMPLETE) {
        return r->held > 0 && r->held < r->requested;
    }
    return code != REASON_NO_NODE_FITS || r->nodes[NODE_REASON_FITS] == 0;
}

/* R9: the counts per node of every reason add up to the nodes of the pool, whom it names is whom it
 * is about, and its numbers say what its code says. */
static void check_reason_numbers(struct trial *t)
{
    for (uint32_t i = 0; i < t->snap.workloads.count; i++) {
        const struct snap_workload *w = &t->snap.workloads.items[i];
        const struct reason *r = &t->decisions.reasons[i];
        uint32_t sum = 0;
        for (uint32_t n = 0; n < NODE_REASON_COUNT; n++) {
            sum += r->nodes[n];
        }
        if (sum != (r->has_nodes ? t->snap.nodes.count : 0) ||
            (tells_nodes(r->code) && !r->has_nodes)) {
            BROKEN(t, "nodes that do not add up", STR_FMT ": " STR_FMT ": %u of %u",
                   STR_ARG(w->name), STR_ARG(reason_name(r->code)), sum, t->snap.nodes.count);
        }
        bool task = r->task.ix == IX_NONE ||
                    (r->task.ix >= w->task_first && r->task.ix < w->task_first + w->task_count);
        bool group = r->group.ix == IX_NONE || (r->group.ix >= w->group_first &&
                                                r->group.ix < w->group_first + w->group_count);
        if (r->code != REASON_NONE &&
            (!task || !group || !numbers_agree(r) ||
             (r->other.ix == i && r->code != REASON_WAITING_FOR_RELEASE))) {
            BROKEN(t, "a reason that is not true", STR_FMT ": " STR_FMT ": %lld, %lld, %lld",
                   STR_ARG(w->name), STR_ARG(reason_name(r->code)), (long long)r->requested,
                   (long long)r->held, (long long)r->bound);
        }
    }
}

/* What was decided, in names. */
static struct str decided(const struct trial *t, struct buf *text)
{
    buf_clear(text);
    for (uint32_t i = 0; i < t->decisions.evicts.count; i++) {
        const struct decision_evict *evict = &t->decisions.evicts.items[i];
        buf_printf(text, "stop " STR_FMT "%s; ", STR_ARG(t->snap.tasks.items[evict->task.ix].name),
                   evict->moved ? " (move)" : "");
    }
    for (uint32_t i = 0; i < t->decisions.binds.count; i++) {
        const struct decision_bind *bind = &t->decisions.binds.items[i];
        buf_printf(text, "%s " STR_FMT " on " STR_FMT, bind->pipelined ? "keep" : "start",
                   STR_ARG(t->snap.tasks.items[bind->task.ix].name),
                   STR_ARG(t->snap.nodes.items[bind->node.ix].name));
        for (uint32_t h = 0; h < bind->hold_count; h++) {
            const struct snap_hold *hold = &t->decisions.holds.items[bind->hold_first + h];
            buf_printf(text, "/%u", t->snap.devices.items[hold->device.ix].ordinal);
        }
        buf_printf(text, "; ");
    }
    for (uint32_t i = 0; i < t->snap.workloads.count; i++) {
        buf_printf(text, STR_FMT " " STR_FMT "; ", STR_ARG(t->snap.workloads.items[i].name),
                   STR_ARG(reason_name(t->decisions.reasons[i].code)));
    }
    return buf_view(text);
}

static void trial_start(struct trial *t, uint64_t seed, struct case_random_options options)
{
    arena_reset(&t->arena);
    t->seed = seed;
    t->options = options;
    make_world(t, &t->w);
    make_world(t, &t->before);
}

static struct case_random_options options_of(uint64_t seed)
{
    return (struct case_random_options){.fractions = seed % 4 == 3,
                                        .pending_max = 8,
                                        .more = seed % 3 == 1,
                                        .constraints = seed % 5 == 2,
                                        .full = seed % 2 == 0};
}

/* How often what seldom happens has happened, so that it is known to be tested. */
struct seen {
    uint32_t drains, device_drains, zones, reserved, in_budget;
};

static void look(const struct trial *t, struct seen *seen)
{
    for (uint32_t i = 0; i < t->decisions.evicts.count; i++) {
        enum reason_code code = t->decisions.evicts.items[i].reason.code;
        seen->drains += code == REASON_EVICTED_DRAIN;
        seen->device_drains += code == REASON_EVICTED_DEVICE_DRAIN;
    }
    for (uint32_t i = 0; i < t->decisions.binds.count; i++) {
        seen->zones += t->decisions.binds.items[i].zone != IX_NONE;
    }
    for (uint32_t i = 0; i < t->snap.workloads.count; i++) {
        enum reason_code code = t->decisions.reasons[i].code;
        seen->reserved += code == REASON_RESERVED;
        seen->in_budget += code == REASON_VICTIMS_IN_BUDGET;
    }
}

TEST(one_cycle)
{
    struct trial t = {0};
    struct seen seen = {0};
    arena_init(&t.arena, 0);
    uint32_t evictions = 0;
    uint32_t binds = 0;
    for (uint32_t i = 0; i < worlds(); i++) {
        trial_start(&t, test_seed() + i, options_of(test_seed() + i));
        decide(&t, &t.w, ACTIONS_ALL);
        case_world_apply(&t.w, &t.snap, &t.decisions);
        evictions += t.decisions.evicts.count;
        binds += t.decisions.binds.count;
        check_commitment(&t);
        check_limits(&t);
        check_books(&t);
        check_gangs(&t);
        check_gangs_run_on(&t);
        check_victims(&t);
        look(&t, &seen);
        check_budgets(&t);
        check_zones(&t);
        check_drains(&t);
        check_guarantees(&t);
        check_reasons(&t);
        check_reason_numbers(&t);
    }
    EXPECT(evictions > 0);
    EXPECT(binds > 0);
    EXPECT(seen.drains > 0);
    EXPECT(seen.device_drains > 0);
    EXPECT(seen.zones > 0);
    EXPECT(seen.reserved > 0);
    EXPECT(seen.in_budget > 0);
    arena_done(&t.arena);
}

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
    for (uint32_t i = 0; i < worlds(); i++) {
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
    make_world(t, &w);
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
    for (uint32_t i = 0; i < 2 * worlds(); i++) {
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
    for (uint32_t i = 0; i < worlds(); i++) {
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
    for (uint32_t i = 0; i < worlds(); i++) {
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
    EXPECT(restless <= 1 + worlds() / RESTLESS_ONE_IN);
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
    for (uint32_t i = 0; i < worlds(); i++) {
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

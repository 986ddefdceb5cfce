// SPDX-License-Identifier: Apache-2.0
// What must hold of what one cycle decides, whatever the cluster.
#include "sim/trial_test.h"

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
    for (uint32_t i = 0; i < worlds_or(WORLDS); i++) {
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

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
// remedy: looking for the smallest change. For most kinds the largest change of the kind is tried
// first: when not even that is enough, nothing smaller of it is tried. Whether a change could matter
// is asked before only where that is plain from the snapshot (what a pod does not ask for it cannot
// ask less of), so that the whole costs some dozens of cycles at worst and the answer does not lean
// on a second account of what the actions do.
#include "sched/remedy.h"

#include "base/check.h"
#include "base/num.h"
#include "base/sort.h"
#include "model/priority.h"
#include "sched/cycle.h"
#include "sched/fairshare.h"
#include "sched/finder.h"

enum { SCANNED_MAX = 8 }; /* so many steps are tried one by one, more by bisection */

#define STEP_SHARE  (DEVICE_SHARE / 100)
#define STEP_MILLI  INT64_C(100)
#define STEP_MEMORY (INT64_C(128) << 20)

static bool is_one_of(const struct snap_workload *w, struct task_ref task)
{
    return task.ix >= w->task_first && task.ix < w->task_first + w->task_count;
}

static bool is_over(const struct snap_task *t)
{
    return t->state == TASK_SUCCEEDED || t->state == TASK_FAILED;
}

/* ---- one trial ---- */

// Whether the decisions leave the workload with more places than it has: one of its pods started for
// another of them stopped is no start. With a place its gang has its minimum (R5).
static bool starts(const struct finder *f, const struct decisions *d, struct remedy *r)
{
    int64_t gained = 0;
    r->at_once = true;
    r->stopped = 0;
    for (uint32_t i = 0; i < d->binds.count; i++) {
        struct task_ref task = d->binds.items[i].task;
        if (is_one_of(finder_own(f), task) && f->snap->tasks.items[task.ix].state == TASK_PENDING) {
            gained++;
            r->at_once = r->at_once && !d->binds.items[i].pipelined;
        }
    }
    for (uint32_t i = 0; i < d->evicts.count; i++) {
        const struct decision_evict *e = &d->evicts.items[i];
        gained -= !e->moved && is_one_of(finder_own(f), e->task);
        r->stopped += !e->moved && e->reason.other.ix == f->workload;
    }
    return gained > 0;
}

bool finder_enough(struct finder *f, struct remedy *r)
{
    if (f->trials == f->trials_max) {
        f->exhausted = true;
        return false;
    }
    f->trials++;
    struct arena_mark mark = arena_mark(f->arena);
    struct snapshot changed;
    struct decisions d;
    remedy_apply(f->snap, f->workload, r, f->arena, &changed);
    sched_cycle(f->arena, &changed, f->actions_mask, &d);
    bool does = starts(f, &d, r);
    arena_rewind(f->arena, mark);
    if (does) {
        *f->best = *r;
    }
    return does;
}

struct remedy finder_remedy(enum remedy_kind kind)
{
    return (struct remedy){
        .outcome = REMEDY_FOUND,
        .kind = kind,
        .queue = {IX_NONE},
        .group = {IX_NONE},
        .node = {IX_NONE},
        .other = {IX_NONE},
        .until_ms = TIME_NEVER,
    };
}

static bool simply(struct finder *f, enum remedy_kind kind)
{
    struct remedy r = finder_remedy(kind);
    return finder_enough(f, &r);
}

/* ---- the least of several steps ---- */

bool finder_least(struct finder *f, struct remedy *r, int64_t steps, finder_step *set,
                  const void *ctx)
{
    if (steps < 1) {
        return false;
    }
    set(r, steps, ctx);
    if (!finder_enough(f, r)) {
        return false;
    }
    int64_t bad = 0;
    int64_t good = steps;
    bool doubling = steps > SCANNED_MAX;
    while (good > bad + 1 && !f->exhausted) {
        int64_t step = doubling ? 2 * bad : bad + (good - bad) / 2;
        step = steps <= SCANNED_MAX || bad == 0 ? bad + 1 : step;
        if (step >= good) {
            doubling = false;
            continue;
        }
        set(r, step, ctx);
        if (finder_enough(f, r)) {
            good = step;
            doubling = false;
        } else {
            bad = step;
        }
    }
    return true;
}

/* Upwards or downwards from r->from by equal steps. */
struct stairs {
    int64_t first, step;
};

static void set_stair(struct remedy *r, int64_t step, const void *ctx)
{
    const struct stairs *stairs = ctx;
    r->to = stairs->first + step * stairs->step;
}

/* ---- time ---- */

static int by_value(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

struct values {
    int64_t *items;
    uint32_t count, cap;
};

static void add_value(struct finder *f, struct values *v, int64_t value)
{
    if (v->count == v->cap) {
        v->items = array_grow(f->arena, v->items, sizeof(*v->items), v->count, &v->cap);
    }
    v->items[v->count++] = value;
}

static void sort_values(struct finder *f, struct values *v)
{
    sort_stable(v->items, v->count, sizeof(*v->items), by_value, NULL, f->arena);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < v->count; i++) {
        if (kept == 0 || v->items[kept - 1] != v->items[i]) {
            v->items[kept++] = v->items[i];
        }
    }
    v->count = kept;
}

static void add_time(struct finder *f, struct values *v, int64_t at_ms)
{
    if (at_ms > f->snap->config.now_ms) {
        add_value(f, v, at_ms);
    }
}

static struct values minimum_run_times(struct finder *f)
{
    const struct snapshot *s = f->snap;
    struct values v = {0};
    add_value(f, &v, s->config.reclaim_min_runtime_ms);
    add_value(f, &v, s->config.preempt_min_runtime_ms);
    for (uint32_t q = 0; q < s->queues.count; q++) {
        add_value(f, &v, s->queues.items[q].reclaim_min_runtime_ms);
        add_value(f, &v, s->queues.items[q].preempt_min_runtime_ms);
    }
    sort_values(f, &v);
    return v;
}

// All moments at which time alone may change a decision.
static struct values moments(struct finder *f)
{
    const struct snapshot *s = f->snap;
    struct values v = {0};
    struct values min_run_times = minimum_run_times(f);
    for (uint32_t w = 0; w < s->workloads.count; w++) {
        const struct snap_workload *other = &s->workloads.items[w];
        if (w != f->workload) {
            add_time(f, &v, remedy_declared_end(s, w));
        }
        for (uint32_t i = 0; i < min_run_times.count && other->last_start_ms != TIME_NEVER; i++) {
            if (min_run_times.items[i] > 0) {
                add_time(f, &v, other->last_start_ms + min_run_times.items[i]);
            }
        }
        /* Who is let in at last may make room for it, too: what it stops may be more than it needs. */
        int64_t waits_since_ms = num_max_i64(other->created_ms, other->last_evicted_ms);
        add_time(f, &v, waits_since_ms + other->preemption_delay_ms);
        if (s->config.reservation_after_ms > 0) {
            add_time(f, &v, waits_since_ms + s->config.reservation_after_ms);
        }
        if (other->stale_since_ms != TIME_NEVER && other->stale_grace_ms >= 0) {
            add_time(f, &v, other->stale_since_ms + other->stale_grace_ms);
        }
    }
    sort_values(f, &v);
    return v;
}

static void set_moment(struct remedy *r, int64_t step, const void *ctx)
{
    r->until_ms = ((const struct values *)ctx)->items[step - 1];
}

static bool wait_for_time(struct finder *f)
{
    struct remedy r = finder_remedy(REMEDY_WAIT);
    struct values v = moments(f);
    if (!finder_least(f, &r, v.count, set_moment, &v)) {
        return false;
    }
    for (uint32_t w = f->snap->workloads.count; w > 0; w--) {
        if (remedy_declared_end(f->snap, w - 1) == f->best->until_ms && w - 1 != f->workload) {
            f->best->other.ix = w - 1;
        }
    }
    return true;
}

/* ---- what its owner can change ---- */

// The largest of one kind that is asked for by the pods that wait.
enum ask { DEVICES, SHARE, DEVICE_MEMORY, CPU, MEMORY, SELECTED, TOLERATED, NUMA, NEAR, APART };

static int64_t asked_of(const struct snapshot *s, const struct snap_shape *p, enum ask ask)
{
    int64_t terms[2] = {0, 0};
    for (uint32_t i = 0; i < p->carries_count; i++) {
        terms[s->terms.items[s->term_refs.items[p->carries_first + i]].anti]++;
    }
    switch (ask) {
    case DEVICES:
        return p->device_count;
    case SHARE:
        return p->gpu == GPU_SHARE ? p->share : 0;
    case DEVICE_MEMORY:
        return p->gpu == GPU_MEMORY ? p->device_memory_bytes : 0;
    case CPU:
        return p->cpu_milli;
    case MEMORY:
        return p->memory_bytes;
    case SELECTED:
        return p->selected_set != IX_NONE;
    case TOLERATED:
        return p->tolerated_set != IX_NONE;
    case NUMA:
        return p->single_numa;
    case NEAR:
        return terms[0];
    case APART:
        return terms[1];
    }
    return 0;
}

static int64_t most_of(const struct finder *f, enum ask ask)
{
    const struct snap_workload *w = finder_own(f);
    int64_t most = 0;
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        const struct snap_task *task = &f->snap->tasks.items[t];
        if (finder_waits(task)) {
            const struct snap_shape *p = &f->snap->shapes.items[task->shape.ix];
            most = num_max_i64(most, asked_of(f->snap, p, ask));
        }
    }
    return most;
}

static bool drop_topology(struct finder *f)
{
    const struct snap_workload *w = finder_own(f);
    for (uint32_t g = w->group_first; g < w->group_first + w->group_count; g++) {
        const struct snap_group *group = &f->snap->groups.items[g];
        struct remedy r = finder_remedy(REMEDY_TOPOLOGY);
        r.group.ix = g;
        if ((group->topology_unknown || group->required_level != IX_NONE) && finder_enough(f, &r)) {
            return true;
        }
    }
    return false;
}

static bool drop_one_constraint(struct finder *f)
{
    static const struct {
        enum ask ask;
        enum remedy_kind kind;
    } rows[] = {
        {SELECTED,  REMEDY_SELECTOR     },
        {TOLERATED, REMEDY_TAINTS       },
        {NUMA,      REMEDY_NUMA         },
        {NEAR,      REMEDY_AFFINITY     },
        {APART,     REMEDY_ANTI_AFFINITY},
    };
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        if (most_of(f, rows[i].ask) > 0 && simply(f, rows[i].kind)) {
            return true;
        }
    }
    return drop_topology(f);
}

static void set_priority(struct remedy *r, int64_t step, const void *ctx)
{
    r->to = ((const struct values *)ctx)->items[step - 1];
}

// The priorities of the others in its queue, and those just above them.
static bool raise_priority(struct finder *f)
{
    struct values v = {0};
    struct remedy r = finder_remedy(REMEDY_PRIORITY);
    r.from = finder_own(f)->priority;
    for (uint32_t w = 0; w < f->snap->workloads.count; w++) {
        const struct snap_workload *other = &f->snap->workloads.items[w];
        for (int64_t p = other->priority;
             w != f->workload && other->queue.ix == finder_own(f)->queue.ix &&
             p <= other->priority + 1;
             p++) {
            if (p > r.from && p <= PRIORITY_MAX) {
                add_value(f, &v, p);
            }
        }
    }
    sort_values(f, &v);
    return finder_least(f, &r, v.count, set_priority, &v);
}

/* ---- asking for less ---- */

static bool ask_for_fewer_members(struct finder *f)
{
    const struct snap_workload *w = finder_own(f);
    for (uint32_t g = w->group_first; g < w->group_first + w->group_count; g++) {
        const struct snap_group *group = &f->snap->groups.items[g];
        struct remedy r = finder_remedy(REMEDY_MEMBERS);
        r.group.ix = g;
        r.from = !group->is_pod_set && group->min == GROUP_MIN_ALL ? group->child_count
                                                                   : group->min;
        struct stairs down = {r.from, -1};
        if (finder_least(f, &r, r.from - 1, set_stair, &down)) {
            return true;
        }
    }
    return false;
}

static bool ask_for_less(struct finder *f, enum remedy_kind kind, enum ask ask, int64_t step)
{
    struct remedy r = finder_remedy(kind);
    r.from = most_of(f, ask);
    int64_t steps = r.from > 0 ? (r.from - 1) / step : 0;
    struct stairs down = {(steps + 1) * step, -step};
    return finder_least(f, &r, steps, set_stair, &down);
}

static bool ask_for_less_of_something(struct finder *f)
{
    return ask_for_less(f, REMEDY_DEVICES, DEVICES, 1) ||
           ask_for_less(f, REMEDY_SHARE, SHARE, STEP_SHARE) ||
           ask_for_less(f, REMEDY_DEVICE_MEMORY, DEVICE_MEMORY, STEP_MEMORY) ||
           ask_for_less(f, REMEDY_CPU, CPU, STEP_MILLI) ||
           ask_for_less(f, REMEDY_MEMORY, MEMORY, STEP_MEMORY) || ask_for_fewer_members(f);
}

/* ---- what its queue may hold ---- */

// All that everybody holds and asks for: no queue can use more.
static int64_t demand(const struct finder *f, enum resource resource)
{
    const struct snapshot *s = f->snap;
    int64_t sum = 0;
    int64_t least_bytes = fairshare_least_memory(s);
    for (uint32_t t = 0; t < s->tasks.count; t++) {
        const struct snap_task *task = &s->tasks.items[t];
        if (!is_over(task)) {
            struct amounts a = finder_holds(task)
                                   ? fairshare_task_cost(s, task)
                                   : fairshare_shape_request(s, task->shape.ix, least_bytes);
            sum = num_sat_add_i64(sum, a.v[resource]);
        }
    }
    return num_min_i64(sum, QUEUE_AMOUNT_MAX / 2);
}

static int64_t right_of(const struct finder *f, uint32_t queue, const struct remedy *r)
{
    const struct snap_queue *q = &f->snap->queues.items[queue];
    return r->kind == REMEDY_GUARANTEE ? q->quota.v[r->resource] : q->limit.v[r->resource];
}

// A device for who asks for whole ones, so that what is proposed is a number of devices.
static int64_t step_of(const struct finder *f, enum resource resource)
{
    switch (resource) {
    case RES_GPU:
        return most_of(f, SHARE) > 0 || most_of(f, DEVICE_MEMORY) > 0 ? STEP_SHARE : DEVICE_SHARE;
    case RES_CPU:
        return STEP_MILLI;
    case RES_MEMORY:
    case RES_COUNT:
        break;
    }
    return STEP_MEMORY;
}

// Raises what the queue may hold or is guaranteed; with r->path, what each above it is as well.
static bool raise_one(struct finder *f, struct remedy *r, uint32_t queue, int64_t most)
{
    r->queue.ix = queue;
    r->from = right_of(f, queue, r);
    struct stairs up = {r->from, step_of(f, r->resource)};
    return finder_least(f, r, num_div_ceil(most, up.step), set_stair, &up);
}

static bool raise_resource(struct finder *f, enum remedy_kind kind, enum resource resource)
{
    struct remedy r = finder_remedy(kind);
    r.resource = resource;
    uint32_t lowest = IX_NONE;
    uint32_t finite = 0;
    for (uint32_t q = finder_own(f)->queue.ix; q != IX_NONE;
         q = f->snap->queues.items[q].parent.ix) {
        if (right_of(f, q, &r) != AMOUNT_UNLIMITED) {
            lowest = lowest == IX_NONE ? q : lowest;
            finite++;
        }
    }
    int64_t most = demand(f, resource);
    if (finite == 0 || most == 0) {
        return false;
    }
    // All of them together first: if that is not enough, none of them is.
    r.path = finite > 1;
    struct remedy all = r;
    all.queue.ix = lowest;
    all.from = right_of(f, lowest, &all);
    all.to = all.from + most;
    if (finite > 1 && !finder_enough(f, &all)) {
        return false;
    }
    r.path = false;
    for (uint32_t q = lowest; q != IX_NONE; q = f->snap->queues.items[q].parent.ix) {
        if (right_of(f, q, &r) != AMOUNT_UNLIMITED && raise_one(f, &r, q, most)) {
            return true;
        }
    }
    r.path = true;
    return finite > 1 && raise_one(f, &r, lowest, most);
}

static bool raise_rights(struct finder *f, enum remedy_kind kind)
{
    bool asks[RES_COUNT] = {most_of(f, DEVICES) > 0, most_of(f, CPU) > 0, most_of(f, MEMORY) > 0};
    for (int resource = 0; resource < RES_COUNT; resource++) {
        if (asks[resource] && raise_resource(f, kind, (enum resource)resource)) {
            return true;
        }
    }
    return false;
}

/* ---- all of it ---- */

static bool find(struct finder *f)
{
    return wait_for_time(f) || (!finder_own(f)->preemptible && simply(f, REMEDY_PREEMPTIBLE)) ||
           drop_one_constraint(f) || raise_priority(f) || ask_for_less_of_something(f) ||
           raise_rights(f, REMEDY_LIMIT) || raise_rights(f, REMEDY_GUARANTEE) ||
           finder_bring_back_node(f) || finder_bring_back_devices(f) || finder_free_devices(f) ||
           finder_end_workload(f);
}

static bool is_waiting(const struct finder *f)
{
    const struct snap_workload *w = finder_own(f);
    bool any = false;
    for (uint32_t t = w->task_first; t < w->task_first + w->task_count; t++) {
        any = any || finder_waits(&f->snap->tasks.items[t]);
    }
    return any;
}

void remedy_find(struct arena *arena, const struct snapshot *snap, uint32_t workload,
                 uint32_t actions_mask, uint32_t trials_max, struct remedy *out)
{
    CHECK(workload < snap->workloads.count && trials_max > 0);
    struct finder f = {.arena = arena,
                       .snap = snap,
                       .workload = workload,
                       .actions_mask = actions_mask,
                       .trials_max = trials_max,
                       .best = out};
    *out = finder_remedy(REMEDY_NONE);
    if (!is_waiting(&f)) {
        out->outcome = REMEDY_NOT_WAITING;
        return;
    }
    if (simply(&f, REMEDY_NONE)) {
        out->outcome = REMEDY_NOT_NEEDED;
    } else if (finder_own(&f)->queue.ix == IX_NONE || !find(&f)) {
        *out = finder_remedy(REMEDY_NONE);
        out->outcome = REMEDY_NO_SINGLE;
    }
    out->trials = f.trials;
    out->exhausted = f.exhausted;
}

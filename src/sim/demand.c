// SPDX-License-Identifier: Apache-2.0
#include "sim/demand.h"

#include "base/check.h"
#include "model/limits.h"
#include "model/units.h"

enum { PROJECTS = 5, LIVE_SOFT_MAX = 14, GPUS_MAX = 3 };

static const int64_t priorities[] = {25, 40, 65, 80, 90, 125, 150};

static struct uuid mint(struct prng *p)
{
    uint8_t bytes[16];
    for (uint32_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (uint8_t)prng_below(p, 256);
    }
    return uuid_from_random(bytes);
}

static int64_t pick(struct prng *p, const int64_t *values, uint32_t count)
{
    return values[prng_below(p, count)];
}

/* ---- plans ---- */

static struct quota random_quota(struct prng *p, struct str pool, int64_t least_gpus)
{
    int64_t gpus = least_gpus + prng_below(p, GPUS_MAX);
    struct quota q = {
        .pool = pool,
        .gpu_share = gpus * DEVICE_SHARE,
        .gpu_max_share = AMOUNT_UNLIMITED,
        .cpu_milli = AMOUNT_UNLIMITED,
        .cpu_max_milli = AMOUNT_UNLIMITED,
        .memory_bytes = AMOUNT_UNLIMITED,
        .memory_max_bytes = AMOUNT_UNLIMITED,
        .over_quota = !prng_chance(p, 120),
        .weight_milli = 1000 * prng_range(p, 1, 4),
        .rank = pick(p, priorities, COUNT_OF(priorities)),
        .reclaim_min_runtime_ms = -1,
        .preempt_min_runtime_ms = -1,
    };
    if (prng_chance(p, 150)) {
        q.gpu_share += DEVICE_SHARE / 4 * (int64_t)prng_below(p, 4);
    }
    if (!q.over_quota) {
        q.gpu_max_share = q.gpu_share;
        q.weight_milli = 2000;
    } else if (prng_chance(p, 250)) {
        q.gpu_max_share = q.gpu_share + DEVICE_SHARE * (int64_t)prng_below(p, 4);
    }
    if (prng_chance(p, 100)) {
        q.cpu_max_milli = 1000 * prng_range(p, 2, 32);
        q.cpu_milli = prng_chance(p, 500) ? q.cpu_max_milli / 2 : AMOUNT_UNLIMITED;
        q.cpu_milli = q.over_quota ? q.cpu_milli : q.cpu_max_milli;
        if (q.cpu_milli == AMOUNT_UNLIMITED) {
            q.cpu_max_milli = AMOUNT_UNLIMITED;
        }
    }
    return q;
}

// Whole ones, that hold what is guaranteed.
static int64_t gpus_of(const struct quota *quotas, uint32_t pool)
{
    return (quotas[pool].gpu_share + DEVICE_SHARE - 1) / DEVICE_SHARE;
}

static int64_t random_runtime_ms(struct prng *p)
{
    return prng_chance(p, 600) ? 0 : prng_range(p, 10, 300) * 1000;
}

// Pools b and default; departments d0, d1 and d2 below d0; projects p0 … in turn.
void demand_plan(struct sim_demand *d, struct arena *arena, struct input *out)
{
    static const struct str pools[] = {STRS("b"), STRS("default")};
    static const struct str department_names[] = {STRS("d0"), STRS("d1"), STRS("d2")};
    struct prng *p = d->prng;
    struct plan *plan = &out->plan_apply.plan;
    *out = (struct input){.kind = INPUT_PLAN_APPLY, .author = STR("admin")};
    plan->pools_count = 2;
    plan->pools = ARENA_ARRAY(arena, struct pool, 2);
    for (uint32_t i = 0; i < 2; i++) {
        plan->pools[i] = (struct pool){
            .name = pools[i],
            .label_key = i == 0 ? STR("pool") : STR(""),
            .label_value = i == 0 ? STR("b") : STR(""),
            .gpu_placement = prng_below(p, PLACEMENT_PACK + 1),
            .cpu_placement = prng_chance(p, 500) ? PLACEMENT_SPREAD : PLACEMENT_BINPACK,
            .reclaim_min_runtime_ms = random_runtime_ms(p),
            .preempt_min_runtime_ms = random_runtime_ms(p),
            .reservation_after_ms = prng_chance(p, 500) ? 0 : prng_range(p, 1, 1000) * 1000,
            .time_based_fair_share = prng_chance(p, 500),
            .usage_window_ms = USAGE_WINDOW_MAX_MS,
            .usage_half_life_ms = prng_chance(p, 500) ? 0 : prng_range(p, 1, 48) * 3600 * 1000,
            .usage_k_less_one = prng_range(p, -1000, 5000),
            .usage_low_less_one = prng_chance(p, 500) ? 0 : prng_range(p, -1000, 0),
        };
    }
    plan->projects_count = PROJECTS;
    plan->projects = ARENA_ARRAY(arena, struct project, PROJECTS);
    int64_t sums[3][2] = {{0}};
    for (uint32_t i = 0; i < PROJECTS; i++) {
        struct project *j = &plan->projects[i];
        j->name = arena_printf(arena, "p%u", i);
        j->department = department_names[i % 3];
        j->quotas = ARENA_ARRAY(arena, struct quota, 2);
        j->quotas_count = 2;
        for (uint32_t k = 0; k < 2; k++) {
            j->quotas[k] = random_quota(p, pools[k], 0);
            sums[i % 3][k] += gpus_of(j->quotas, k);
        }
        j->default_preemptibility = (enum preemptibility)prng_below(p, 3);
    }
    plan->departments_count = 3;
    plan->departments = ARENA_ARRAY(arena, struct department, 3);
    for (uint32_t i = 3; i > 0; i--) { // the inner one first: the outer one guarantees it
        struct department *dep = &plan->departments[i - 1];
        dep->name = department_names[i - 1];
        dep->parent = i == 3 ? department_names[0] : STR("");
        dep->quotas = ARENA_ARRAY(arena, struct quota, 2);
        dep->quotas_count = 2;
        for (uint32_t k = 0; k < 2; k++) {
            dep->quotas[k] = random_quota(p, pools[k], sums[i - 1][k]);
            dep->quotas[k].cpu_milli = AMOUNT_UNLIMITED;
            dep->quotas[k].cpu_max_milli = AMOUNT_UNLIMITED;
            sums[0][k] += i == 3 ? gpus_of(dep->quotas, k) : 0;
        }
    }
    out->plan_apply.prune = prng_chance(p, 100);
}

/* ---- work ---- */

static void random_pools(struct prng *p, struct arena *arena, struct workload_spec *s)
{
    static const struct str names[] = {STRS("b"), STRS("default"), STRS("no-such-pool")};
    uint32_t first = prng_chance(p, 10) ? 2 : prng_below(p, 2);
    if (prng_chance(p, 400)) {
        return; // all there are
    }
    s->pools = ARENA_ARRAY(arena, struct str_item, 2);
    s->pools[s->pools_count++].value = names[first];
    if (first < 2 && prng_chance(p, 400)) {
        s->pools[s->pools_count++].value = names[1 - first];
    }
}

// A fraction of each device: tenths, sevenths, or memory, of which thirds do not come out even.
static void random_fraction(struct prng *p, struct pod_spec *s)
{
    static const int64_t shares[] = {700, 1000, 1750, 3500, 3501, 5000, DEVICE_SHARE};
    static const int64_t gib[] = {1, 10, 20, 40, 41, 80, 96};
    s->gpu_devices = prng_chance(p, 750) ? 1 : 1 + prng_below(p, 4);
    if (prng_chance(p, 500)) {
        s->gpu_portion_share = pick(p, shares, COUNT_OF(shares));
    } else if (prng_chance(p, 500)) {
        s->gpu_memory_bytes = (INT64_C(80) << 30) / 3;
    } else {
        s->gpu_memory_bytes = pick(p, gib, COUNT_OF(gib)) << 30;
    }
}

static void random_submit(struct sim_demand *d, struct arena *arena, struct input *out)
{
    static const int64_t devices[] = {0, 1, 1, 1, 1, 1, 2, 2, 4, 9};
    struct prng *p = d->prng;
    uint32_t pods = prng_chance(p, 650) ? 1 : 1 + prng_below(p, 4);
    struct submit *s = &out->submit;
    out->kind = INPUT_SUBMIT;
    s->id = mint(p);
    s->name = arena_printf(arena, "w%u", prng_below(p, 60));
    s->project = arena_printf(arena, "p%u", prng_below(p, PROJECTS + prng_chance(p, 30)));
    s->kind = (enum workload_kind)prng_below(p, 4);
    s->pod_ids = ARENA_ARRAY(arena, struct pod_id, pods);
    s->pod_ids_count = pods;
    for (uint32_t i = 0; i < pods; i++) {
        s->pod_ids[i].id = mint(p);
    }
    s->spec = (struct workload_spec){
        .pods = pods,
        .pods_min = prng_chance(p, 600) ? pods : 1 + prng_below(p, pods),
        .priority = prng_chance(p, 500) ? 0 : pick(p, priorities, COUNT_OF(priorities)),
        .preemptibility = prng_chance(p, 600) ? PREEMPTIBLE : (enum preemptibility)prng_below(p, 3),
        .restart = prng_chance(p, 50) ? RESTART_ALWAYS : RESTART_ON_FAILURE,
        .backoff_limit = prng_below(p, 3),
        .auto_delete_ms = prng_range(p, 0, 120000),
        .available_min = prng_chance(p, 150) ? prng_below(p, pods + 1) : 0,
        .duration_ms = prng_chance(p, 500) ? 0 : prng_range(p, 1000, 600000),
        .idle_max_ms = prng_chance(p, 900) ? 0 : prng_range(p, 1000, 600000),
        .run_max_ms = prng_chance(p, 900) ? 0 : prng_range(p, 1000, 600000),
    };
    s->spec.parallel_max = prng_chance(p, 900) ? 0 : prng_range(p, s->spec.pods_min, s->spec.pods);
    s->spec.pod = (struct pod_spec){
        .gpu_devices = pick(p, devices, COUNT_OF(devices)),
        .cpu_milli = 500 * prng_range(p, 0, 6),
        .memory_bytes = (INT64_C(1) << 30) * prng_range(p, 0, 16),
        .cpu_limit_milli = -1,
        .memory_limit_bytes = -1,
        .run_as_uid = -1,
        .run_as_gid = -1,
        .grace_ms = prng_range(p, 0, 30000),
        .single_numa = prng_chance(p, 100),
    };
    if (prng_chance(p, 250)) {
        random_fraction(p, &s->spec.pod);
    }
    random_pools(p, arena, &s->spec);
}

// More often opened than closed: the cluster must not end up closed.
static void random_drain(struct sim_demand *d, const struct state *s, struct arena *arena,
                         struct input *out)
{
    struct prng *p = d->prng;
    const struct node *n = &s->nodes[prng_below(p, s->nodes_count)];
    out->kind = prng_chance(p, 400) ? INPUT_NODE_DRAIN : INPUT_NODE_UNDRAIN;
    out->node_name = arena_str(arena, n->name);
    if (out->kind == INPUT_NODE_UNDRAIN && s->drains_count > 0) {
        const struct drain *old = &s->drains[prng_below(p, s->drains_count)];
        out->node_name = arena_str(arena, old->node);
        out->drain.device = arena_str(arena, old->device);
        return;
    }
    if (n->devices_count > 0 && prng_chance(p, 600)) {
        out->drain.device = arena_str(arena, n->devices[prng_below(p, n->devices_count)].uuid);
    }
    out->drain.moves = prng_chance(p, 700);
    bool dated = out->drain.moves && prng_chance(p, 500);
    out->drain.within_ms = dated ? prng_range(p, 0, 600) * 1000 : -1;
}

static uint32_t live_count(const struct state *s)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->workloads_count; i++) {
        n += s->workloads[i].end_ms == TIME_NEVER;
    }
    return n;
}

void demand_next(struct sim_demand *d, const struct state *s, struct arena *arena,
                 struct input *out)
{
    struct prng *p = d->prng;
    *out = (struct input){.author = STR("ann")};
    uint32_t dice = prng_below(p, 1000);
    bool full = live_count(s) >= LIVE_SOFT_MAX;
    if (dice < 25) {
        demand_plan(d, arena, out);
    } else if (dice < 60 && s->nodes_count > 0) {
        random_drain(d, s, arena, out);
    } else if (s->workloads_count == 0 || (dice < 600 && !full)) {
        random_submit(d, arena, out);
    } else {
        static const enum input_kind kinds[] = {INPUT_UPDATE,  INPUT_DELETE, INPUT_DELETE,
                                                INPUT_SUSPEND, INPUT_RESUME, INPUT_RESUME};
        enum input_kind kind = kinds[prng_below(p, COUNT_OF(kinds))];
        if (kind == INPUT_UPDATE) {
            random_submit(d, arena, out);
        }
        out->kind = kind;
        out->target = prng_chance(p, 20) ? mint(p)
                                         : s->workloads[prng_below(p, s->workloads_count)].id;
    }
    if (prng_chance(p, 20)) { // the answers are kept in the state, which is hashed all the time
        out->key = arena_printf(arena, "k%llu", (unsigned long long)d->keys++);
    }
}

void demand_again(struct sim_demand *d, struct input *in)
{

    if (in->kind == INPUT_SUBMIT) {
        in->submit.id = mint(d->prng);
        for (uint32_t i = 0; i < in->submit.pod_ids_count; i++) {
            in->submit.pod_ids[i].id = mint(d->prng);
        }
    }
}

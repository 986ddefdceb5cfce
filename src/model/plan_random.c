// SPDX-License-Identifier: Apache-2.0
// plan_random: names come from small sets, so that two random plans share some; guarantees are
// handed down from departments, so that they fit.
#include "model/plan_random.h"

#include "base/attr.h"
#include "model/units.h"

enum { NAMES = 8, THOUSANDTH = 7, PERMILLE_HALF = 500 };

static struct str name_of(struct arena *arena, const char *kind, uint32_t i)
{
    return i == 0 ? arena_printf(arena, "%s", kind) : arena_printf(arena, "%s-%u", kind, i);
}

static int64_t duration(struct prng *r, int64_t otherwise)
{
    return prng_chance(r, PERMILLE_HALF) ? otherwise : prng_range(r, 0, 100000000);
}

/* above: the quota of the department, from which *left may still be given; NULL at the top. */
static struct quota random_quota(struct prng *r, struct str pool, const struct quota *above,
                                 struct quota *left)
{
    static const int64_t weights[] = {0, 1000, 2000, 3000, 1500, 125};
    static const int64_t ranks[] = {25, 40, 65, 80, 90, 125, 150, 0, 7, 1000};
    struct quota q = plan_quota(NULL, 0, pool);
    q.gpu_share = THOUSANDTH * prng_range(r, 0, left ? left->gpu_share / THOUSANDTH : 64000);
    if (prng_chance(r, PERMILLE_HALF)) {
        q.cpu_milli = prng_range(r, 0, left && left->cpu_milli >= 0 ? left->cpu_milli : 100000);
    }
    if (prng_chance(r, PERMILLE_HALF)) {
        q.memory_bytes = prng_range(r, 0,
                                    left && left->memory_bytes >= 0 ? left->memory_bytes : 1000) *
                         (left && left->memory_bytes >= 0 ? 1 : INT64_C(1) << 28);
    }
    if (left) {
        left->gpu_share -= q.gpu_share;
        left->cpu_milli -= left->cpu_milli >= 0 && q.cpu_milli >= 0 ? q.cpu_milli : 0;
        left->memory_bytes -= left->memory_bytes >= 0 && q.memory_bytes >= 0 ? q.memory_bytes : 0;
    }
    q.over_quota = prng_chance(r, 700);
    if (!q.over_quota) {
        q.gpu_max_share = q.gpu_share;
        q.cpu_max_milli = q.cpu_milli;
        q.memory_max_bytes = q.memory_bytes;
    } else {
        q.weight_milli = weights[prng_below(r, COUNT_OF(weights))];
        bool bounded = above && above->gpu_max_share >= 0;
        if (prng_chance(r, PERMILLE_HALF) || bounded) {
            int64_t most = bounded ? above->gpu_max_share : q.gpu_share + 70000;
            q.gpu_max_share = q.gpu_share +
                              THOUSANDTH * prng_range(r, 0, (most - q.gpu_share) / THOUSANDTH);
        }
    }
    q.rank = ranks[prng_below(r, COUNT_OF(ranks))];
    q.reclaim_min_runtime_ms = duration(r, -1);
    q.preempt_min_runtime_ms = duration(r, -1);
    return q;
}

/* random_quotas: some of the pools; of a department `left` is filled with what it can hand down. */
static struct quota *random_quotas(struct prng *r, struct arena *arena, const struct plan *plan,
                                   const struct department *above, struct quota *left,
                                   uint32_t *count)
{
    struct quota *quotas = ARENA_ARRAY(arena, struct quota, plan->pools_count);
    *count = 0;
    for (uint32_t p = 0; p < plan->pools_count; p++) {
        struct str pool = plan->pools[p].name;
        if (prng_chance(r, 300)) {
            continue;
        }
        struct quota up = {0};
        if (above) {
            up = plan_quota(above->quotas, above->quotas_count, pool);
        }
        quotas[(*count)++] = random_quota(r, pool, above ? &up : NULL, above ? &left[p] : NULL);
    }
    return quotas;
}

static void random_usage(struct prng *r, struct pool *pool)
{
    pool->time_based_fair_share = prng_chance(r, PERMILLE_HALF);
    pool->usage_window = prng_below(r, USAGE_CRON + 1);
    if (pool->usage_window == USAGE_CRON) {
        pool->usage_cron = STR("0 */6 1,15 * mon-fri");
    } else if (prng_chance(r, PERMILLE_HALF)) {
        pool->usage_window_ms = prng_range(r, 3600000, 90000000);
    }
    if (pool->usage_window == USAGE_TUMBLING) {
        pool->usage_start_ms = prng_range(r, 1, INT64_C(2000000000000));
    }
    pool->usage_half_life_ms = prng_chance(r, PERMILLE_HALF) ? 0 : prng_range(r, 3600000, 90000000);
    pool->usage_k_less_one = prng_chance(r, PERMILLE_HALF) ? 0 : prng_range(r, -1000, 99000);
    pool->usage_low_less_one = prng_chance(r, PERMILLE_HALF) ? 0 : prng_range(r, -1000, 0);
}

static void random_pools(struct prng *r, struct arena *arena, struct plan *out)
{
    out->pools = ARENA_ARRAY(arena, struct pool, NAMES);
    for (uint32_t i = 0; i < NAMES / 2; i++) {
        if (prng_chance(r, 300)) {
            continue;
        }
        struct pool *pool = &out->pools[out->pools_count++];
        pool->name = i == 0 ? STR("default") : name_of(arena, "true", i - 1);
        if (i > 0) {
            bool own = prng_chance(r, PERMILLE_HALF);
            pool->label_key = own ? STR("example.com/Pool_1") : STR("runai.node-pool");
            pool->label_value = own ? arena_printf(arena, "%u", i) : pool->name;
        }
        pool->gpu_placement = prng_below(r, 3);
        pool->cpu_placement = prng_below(r, 2);
        pool->reclaim_min_runtime_ms = duration(r, 0);
        pool->preempt_min_runtime_ms = duration(r, 0);
        pool->reservation_after_ms = duration(r, 0);
        random_usage(r, pool);
    }
}

/* Idle limits stay below those on the run time, which the plan asks for. */
static void random_rules(struct prng *r, struct scheduling_rules *rules)
{
    static struct str_item types[] = {{STRS("h100")}, {STRS("true")}, {STRS("7")}};
    int64_t *limits[] = {&rules->training_run_ms, &rules->training_idle_ms,
                         &rules->workspace_run_ms, &rules->workspace_idle_ms,
                         &rules->workspace_preemptible_idle_ms};
    for (uint32_t i = 0; i < COUNT_OF(limits); i++) {
        bool run = limits[i] == &rules->training_run_ms || limits[i] == &rules->workspace_run_ms;
        *limits[i] = prng_chance(r, 700) ? 0
                     : run               ? prng_range(r, 100000000, 200000000)
                                         : prng_range(r, 1, 99999999);
    }
    rules->training_types = types;
    rules->training_types_count = prng_below(r, COUNT_OF(types) + 1);
    rules->workspace_types = types;
    rules->workspace_types_count = prng_below(r, COUNT_OF(types) + 1);
}

static void random_order(struct prng *r, struct arena *arena, const struct plan *plan,
                         struct project *project)
{
    project->default_pools = ARENA_ARRAY(arena, struct str_item, plan->pools_count);
    uint32_t first = plan->pools_count > 0 ? prng_below(r, plan->pools_count) : 0;
    for (uint32_t i = 0; i < plan->pools_count && prng_chance(r, PERMILLE_HALF); i++) {
        struct str name = plan->pools[(first + i) % plan->pools_count].name;
        project->default_pools[project->default_pools_count++].value = name;
    }
}

void plan_random(struct prng *r, struct arena *arena, struct plan *out)
{
    static const struct str groups[] = {STRS(""),
                                        STRS("grp-a"),
                                        STRS("true"),
                                        STRS("a \"b\" \\c"),
                                        STRS("- x: #y"),
                                        STRS("7"),
                                        STRS("gr\xc3\xbc\xc3\x9f \xf0\x9f\x99\x82")};
    *out = (struct plan){0};
    random_pools(r, arena, out);
    out->departments = ARENA_ARRAY(arena, struct department, NAMES);
    out->projects = ARENA_ARRAY(arena, struct project, NAMES * NAMES);
    for (uint32_t i = 0; i < NAMES; i++) {
        if (prng_chance(r, PERMILLE_HALF)) {
            continue;
        }
        struct department *d = &out->departments[out->departments_count++];
        d->name = name_of(arena, "department", i);
        d->description = groups[prng_below(r, COUNT_OF(groups))];
        d->owner_group = groups[prng_below(r, COUNT_OF(groups))];
        d->quotas = random_quotas(r, arena, out, NULL, NULL, &d->quotas_count);
        random_rules(r, &d->rules);
        struct quota *left = ARENA_ARRAY(arena, struct quota, out->pools_count + 1);
        for (uint32_t p = 0; p < out->pools_count; p++) {
            left[p] = plan_quota(d->quotas, d->quotas_count, out->pools[p].name);
        }
        for (uint32_t k = 0; k < NAMES && out->projects_count < NAMES * NAMES; k++) {
            if (prng_chance(r, 700)) {
                continue;
            }
            struct project *p = &out->projects[out->projects_count++];
            p->name = arena_printf(arena, "project-%u-%u", i, k);
            p->department = d->name;
            p->description = groups[prng_below(r, COUNT_OF(groups))];
            p->access_group = groups[prng_below(r, COUNT_OF(groups))];
            p->quotas = random_quotas(r, arena, out, d, left, &p->quotas_count);
            p->default_preemptibility = prng_below(r, NON_PREEMPTIBLE + 1);
            p->default_priority = p->default_preemptibility == PREEMPTIBLE ? 80
                                                                           : prng_range(r, 0, 151);
            random_order(r, arena, out, p);
            random_rules(r, &p->rules);
        }
        if (out->departments_count > 1 && d->quotas_count == 0) {
            d->parent = out->departments[0].name;
        }
    }
}

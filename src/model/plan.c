// SPDX-License-Identifier: Apache-2.0
// plan: the record tables of the plan, effective quotas and merging. Reading the file form is in
// plan_read.c, contradictions in plan_check.c, differences in plan_diff.c, writing in plan_write.c.
#include "model/plan.h"

#include <string.h>

#include "base/sort.h"
#include "model/limits.h"
#include "model/plan_form.h"

const struct str placement_names[PLACEMENT_COUNT] = {
#define NAME(placement, name) [PLACEMENT_##placement] = STRS(name),
    PLACEMENTS(NAME)
#undef NAME
};

static const struct field quota_fields[] = {
    F_STR(1, struct quota, pool),
    F_I64(2, struct quota, gpu_share),
    F_I64(3, struct quota, gpu_max_share),
    F_I64(4, struct quota, cpu_milli),
    F_I64(5, struct quota, cpu_max_milli),
    F_I64(6, struct quota, memory_bytes),
    F_I64(7, struct quota, memory_max_bytes),
    F_BOOL(8, struct quota, over_quota),
    F_I64(9, struct quota, weight_milli),
    F_I64(10, struct quota, rank),
    F_I64(11, struct quota, reclaim_min_runtime_ms),
    F_I64(12, struct quota, preempt_min_runtime_ms),
};
const struct record record_quota = RECORD("quota", struct quota, quota_fields);

static const struct field pool_fields[] = {
    F_STR(1, struct pool, name),
    F_STR(2, struct pool, label_key),
    F_STR(3, struct pool, label_value),
    F_U32(4, struct pool, gpu_placement),
    F_U32(5, struct pool, cpu_placement),
    F_I64(6, struct pool, reclaim_min_runtime_ms),
    F_I64(7, struct pool, preempt_min_runtime_ms),
    F_BOOL(8, struct pool, time_based_fair_share),
    F_BOOL(9, struct pool, implied),
    F_U32(10, struct pool, usage_window),
    F_I64(11, struct pool, usage_window_ms),
    F_I64(12, struct pool, usage_start_ms),
    F_STR(13, struct pool, usage_cron),
    F_I64(14, struct pool, usage_half_life_ms),
    F_I64(15, struct pool, usage_k_less_one),
    F_I64(16, struct pool, usage_low_less_one),
    F_I64(17, struct pool, reservation_after_ms),
    F_U32(18, struct pool, id),
    STAMP_FIELDS(19, struct pool),
};
const struct record record_pool = RECORD("pool", struct pool, pool_fields);

static const struct field scheduling_rules_fields[] = {
    F_I64(1, struct scheduling_rules, training_run_ms),
    F_I64(2, struct scheduling_rules, training_idle_ms),
    F_I64(3, struct scheduling_rules, workspace_run_ms),
    F_I64(4, struct scheduling_rules, workspace_idle_ms),
    F_I64(5, struct scheduling_rules, workspace_preemptible_idle_ms),
    F_LIST(6, struct scheduling_rules, training_types, record_str_item),
    F_LIST(7, struct scheduling_rules, workspace_types, record_str_item),
};
const struct record record_scheduling_rules = RECORD("scheduling_rules", struct scheduling_rules,
                                                     scheduling_rules_fields);

static const struct field department_fields[] = {
    F_STR(1, struct department, name),
    F_STR(2, struct department, parent),
    F_STR(3, struct department, owner_group),
    F_LIST(4, struct department, quotas, record_quota),
    F_U32(5, struct department, id),
    F_STR(6, struct department, description),
    STAMP_FIELDS(7, struct department),
    F_RECORD(11, struct department, rules, record_scheduling_rules),
};
const struct record record_department = RECORD("department", struct department, department_fields);

static const struct field project_fields[] = {
    F_STR(1, struct project, name),
    F_STR(2, struct project, department),
    F_STR(3, struct project, access_group),
    F_LIST(4, struct project, quotas, record_quota),
    F_U32(5, struct project, default_preemptibility),
    F_I64(6, struct project, default_priority),
    F_LIST(7, struct project, default_pools, record_str_item),
    F_U32(8, struct project, id),
    F_STR(9, struct project, description),
    STAMP_FIELDS(10, struct project),
    F_RECORD(14, struct project, rules, record_scheduling_rules),
};
const struct record record_project = RECORD("project", struct project, project_fields);

static const struct field plan_fields[] = {
    F_LIST(1, struct plan, pools, record_pool),
    F_LIST(2, struct plan, departments, record_department),
    F_LIST(3, struct plan, projects, record_project),
};
const struct record record_plan = RECORD("plan", struct plan, plan_fields);

int64_t pool_usage_window_ms(const struct pool *pool)
{
    return pool->usage_window_ms > 0 ? pool->usage_window_ms : USAGE_WINDOW_DEFAULT_MS;
}

/* ---- normal form ---- */

static int pool_order(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(((const struct pool *)a)->name, ((const struct pool *)b)->name);
}

static int department_order(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(((const struct department *)a)->name, ((const struct department *)b)->name);
}

static int project_order(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(((const struct project *)a)->name, ((const struct project *)b)->name);
}

void plan_sort(struct plan *plan, struct arena *scratch)
{
    sort_stable(plan->pools, plan->pools_count, sizeof(*plan->pools), pool_order, NULL, scratch);
    sort_stable(plan->departments, plan->departments_count, sizeof(*plan->departments),
                department_order, NULL, scratch);
    sort_stable(plan->projects, plan->projects_count, sizeof(*plan->projects), project_order, NULL,
                scratch);
}

struct quota plan_quota(const struct quota *quotas, uint32_t count, struct str pool)
{
    uint32_t first = 0;
    while (count > 0) {
        uint32_t half = count / 2;
        int order = str_cmp(quotas[first + half].pool, pool);
        if (order == 0) {
            return quotas[first + half];
        }
        if (order < 0) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    struct quota quota = quota_default;
    quota.pool = pool;
    return quota;
}

/* ---- merging ---- */

/* Both lists are sorted by name. What only one has comes from it; what both have comes from the
 * change, with what is not the file's to say (ids, stamps) kept. */
static void merge_pools(const struct plan *base, const struct plan *change, bool prune,
                        struct plan *out)
{
    uint32_t b = 0;
    uint32_t c = 0;
    while (b < base->pools_count || c < change->pools_count) {
        int order = b == base->pools_count ? 1
                    : c == change->pools_count
                        ? -1
                        : str_cmp(base->pools[b].name, change->pools[c].name);
        if (order < 0) {
            const struct pool *old = &base->pools[b++];
            if (!prune || str_eq(old->name, POOL_DEFAULT)) {
                out->pools[out->pools_count++] = *old;
            }
            continue;
        }
        struct pool *merged = &out->pools[out->pools_count++];
        *merged = change->pools[c++];
        if (order == 0) {
            const struct pool *old = &base->pools[b++];
            if (merged->implied) {
                *merged = *old;
            }
            merged->id = old->id;
            merged->stamp = old->stamp;
        }
        merged->implied = false;
    }
}

static void merge_departments(const struct plan *base, const struct plan *change, bool prune,
                              struct plan *out)
{
    uint32_t b = 0;
    uint32_t c = 0;
    while (b < base->departments_count || c < change->departments_count) {
        int order = b == base->departments_count ? 1
                    : c == change->departments_count
                        ? -1
                        : str_cmp(base->departments[b].name, change->departments[c].name);
        if (order < 0) {
            if (!prune) {
                out->departments[out->departments_count++] = base->departments[b];
            }
            b++;
            continue;
        }
        struct department *merged = &out->departments[out->departments_count++];
        *merged = change->departments[c++];
        if (order == 0) {
            merged->id = base->departments[b].id;
            merged->stamp = base->departments[b++].stamp;
        }
    }
}

static void merge_projects(const struct plan *base, const struct plan *change, bool prune,
                           struct plan *out)
{
    uint32_t b = 0;
    uint32_t c = 0;
    while (b < base->projects_count || c < change->projects_count) {
        int order = b == base->projects_count ? 1
                    : c == change->projects_count
                        ? -1
                        : str_cmp(base->projects[b].name, change->projects[c].name);
        if (order < 0) {
            if (!prune) {
                out->projects[out->projects_count++] = base->projects[b];
            }
            b++;
            continue;
        }
        struct project *merged = &out->projects[out->projects_count++];
        *merged = change->projects[c++];
        if (order == 0) {
            merged->id = base->projects[b].id;
            merged->stamp = base->projects[b++].stamp;
        }
    }
}

void plan_merge(const struct plan *base, const struct plan *change, bool prune, struct arena *arena,
                struct plan *out)
{
    struct plan merged = {
        .pools = ARENA_ARRAY(arena, struct pool, base->pools_count + change->pools_count),
        .departments = ARENA_ARRAY(arena, struct department,
                                   base->departments_count + change->departments_count),
        .projects = ARENA_ARRAY(arena, struct project,
                                base->projects_count + change->projects_count),
    };
    merge_pools(base, change, prune, &merged);
    merge_departments(base, change, prune, &merged);
    merge_projects(base, change, prune, &merged);
    record_copy(&record_plan, &merged, out, arena);
}

/* ---- removing ---- */

static void forget_pool(struct quota *quotas, uint32_t *count, struct str pool)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++) {
        if (!str_eq(quotas[i].pool, pool)) {
            quotas[kept++] = quotas[i];
        }
    }
    *count = kept;
}

static void forget_pool_everywhere(struct plan *plan, struct str pool)
{
    for (uint32_t i = 0; i < plan->departments_count; i++) {
        struct department *d = &plan->departments[i];
        forget_pool(d->quotas, &d->quotas_count, pool);
    }
    for (uint32_t i = 0; i < plan->projects_count; i++) {
        struct project *p = &plan->projects[i];
        uint32_t kept = 0;
        forget_pool(p->quotas, &p->quotas_count, pool);
        for (uint32_t k = 0; k < p->default_pools_count; k++) {
            if (!str_eq(p->default_pools[k].value, pool)) {
                p->default_pools[kept++] = p->default_pools[k];
            }
        }
        p->default_pools_count = kept;
    }
}

/* All three kinds of rows begin with their name. */
static bool remove_row(void *rows, size_t size, uint32_t *count, struct str name)
{
    char *row = rows;
    for (uint32_t i = 0; i < *count; i++, row += size) {
        struct str have;
        memcpy(&have, row, sizeof have);
        if (str_eq(have, name)) {
            memmove(row, row + size, size * (*count - i - 1));
            --*count;
            return true;
        }
    }
    return false;
}
_Static_assert(offsetof(struct pool, name) == 0, "remove_row");
_Static_assert(offsetof(struct department, name) == 0, "remove_row");
_Static_assert(offsetof(struct project, name) == 0, "remove_row");

bool plan_remove(struct plan *plan, enum plan_object what, struct str name)
{
    switch (what) {
    case PLAN_POOL:
        forget_pool_everywhere(plan, name);
        return remove_row(plan->pools, sizeof *plan->pools, &plan->pools_count, name);
    case PLAN_DEPARTMENT:
        return remove_row(plan->departments, sizeof *plan->departments, &plan->departments_count,
                          name);
    case PLAN_PROJECT:
        return remove_row(plan->projects, sizeof *plan->projects, &plan->projects_count, name);
    }
    return false;
}

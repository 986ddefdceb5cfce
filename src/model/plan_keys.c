// SPDX-License-Identifier: Apache-2.0
// plan_keys: which keys each object of the tenant plan has, in the order in which they are written,
// and what an object with nothing but defaults is.
#include "base/attr.h"
#include "model/plan_form.h"
#include "model/priority.h"
#include "model/units.h"

enum { WEIGHT_DEFAULT_MILLI = 2000 };

const struct quota quota_default = {
    .gpu_max_share = AMOUNT_UNLIMITED,
    .cpu_milli = AMOUNT_UNLIMITED,
    .cpu_max_milli = AMOUNT_UNLIMITED,
    .memory_bytes = AMOUNT_UNLIMITED,
    .memory_max_bytes = AMOUNT_UNLIMITED,
    .over_quota = true,
    .weight_milli = WEIGHT_DEFAULT_MILLI,
    .rank = PRIORITY_RANK_DEFAULT,
    .reclaim_min_runtime_ms = -1,
    .preempt_min_runtime_ms = -1,
};
static const struct pool pool_default;
static const struct department department_default;
static const struct project project_default;
static const struct scheduling_rules rules_default;

#define KEY(name, form, type, member) {STRS(name), form, offsetof(type, member)}
#define KEYS(items, defaults)         {items, COUNT_OF(items), &(defaults)}

static const struct key quota_items[] = {
    [QUOTA_GPUS] = KEY("guaranteed_gpus", FORM_GPUS, struct quota, gpu_share),
    [QUOTA_OVER] = KEY("allow_over_quota", FORM_BOOL, struct quota, over_quota),
    [QUOTA_WEIGHT] = KEY("over_quota_weight", FORM_WEIGHT, struct quota, weight_milli),
    [QUOTA_GPUS_MAX_KEY] = KEY("max_gpus", FORM_GPUS_MAX, struct quota, gpu_max_share),
    [QUOTA_CPUS] = KEY("guaranteed_cpus", FORM_CPUS, struct quota, cpu_milli),
    [QUOTA_CPUS_MAX_KEY] = KEY("max_cpus", FORM_CPUS, struct quota, cpu_max_milli),
    [QUOTA_MEMORY] = KEY("guaranteed_memory", FORM_MEMORY, struct quota, memory_bytes),
    [QUOTA_MEMORY_MAX_KEY] = KEY("max_memory", FORM_MEMORY, struct quota, memory_max_bytes),
    KEY("rank", FORM_RANK, struct quota, rank),
    KEY("reclaim_min_runtime", FORM_DURATION, struct quota, reclaim_min_runtime_ms),
    KEY("preempt_min_runtime", FORM_DURATION, struct quota, preempt_min_runtime_ms),
};
const struct keys quota_keys = KEYS(quota_items, quota_default);

static const struct key pool_items[] = {
    KEY("name", FORM_NAME, struct pool, name),
    KEY("node_selector", FORM_SELECTOR, struct pool, label_key),
    KEY("placement", FORM_NESTED, struct pool, gpu_placement),
    KEY("reclaim_min_runtime", FORM_DURATION, struct pool, reclaim_min_runtime_ms),
    KEY("preempt_min_runtime", FORM_DURATION, struct pool, preempt_min_runtime_ms),
    KEY("time_based_fair_share", FORM_NESTED, struct pool, time_based_fair_share),
    KEY("reservation_after", FORM_DURATION, struct pool, reservation_after_ms),
};
const struct keys pool_keys = KEYS(pool_items, pool_default);

static const struct key placement_items[] = {
    KEY("gpu", FORM_PLACEMENT, struct pool, gpu_placement),
    KEY("cpu", FORM_PLACEMENT_CPU, struct pool, cpu_placement),
};
const struct keys placement_keys = KEYS(placement_items, pool_default);

static const struct key usage_items[] = {
    [USAGE_ENABLED] = KEY("enabled", FORM_BOOL, struct pool, time_based_fair_share),
    [USAGE_TYPE] = KEY("window_type", FORM_WINDOW_TYPE, struct pool, usage_window),
    [USAGE_LENGTH] = KEY("window", FORM_WINDOW, struct pool, usage_window_ms),
    [USAGE_START] = KEY("start", FORM_TIME, struct pool, usage_start_ms),
    [USAGE_CRON_KEY] = KEY("cron", FORM_CRON, struct pool, usage_cron),
    [USAGE_HALF_LIFE] = KEY("half_life", FORM_HALF_LIFE, struct pool, usage_half_life_ms),
    [USAGE_K] = KEY("k", FORM_K, struct pool, usage_k_less_one),
    [USAGE_LOW] = KEY("very_low_factor", FORM_PART, struct pool, usage_low_less_one),
};
const struct keys usage_keys = KEYS(usage_items, pool_default);

static const struct key rules_items[] = {
    [RULES_TRAINING_RUN] = KEY("training_run_limit", FORM_LIMIT, struct scheduling_rules,
                               training_run_ms),
    [RULES_TRAINING_IDLE] = KEY("training_idle_limit", FORM_LIMIT, struct scheduling_rules,
                                training_idle_ms),
    [RULES_WORKSPACE_RUN] = KEY("workspace_run_limit", FORM_LIMIT, struct scheduling_rules,
                                workspace_run_ms),
    [RULES_WORKSPACE_IDLE] = KEY("workspace_idle_limit", FORM_LIMIT, struct scheduling_rules,
                                 workspace_idle_ms),
    [RULES_WORKSPACE_PREEMPTIBLE_IDLE] = KEY("preemptible_workspace_idle_limit", FORM_LIMIT,
                                             struct scheduling_rules,
                                             workspace_preemptible_idle_ms),
    KEY("training_node_types", FORM_NODE_TYPES, struct scheduling_rules, training_types),
    KEY("workspace_node_types", FORM_NODE_TYPES, struct scheduling_rules, workspace_types),
};
const struct keys rules_keys = KEYS(rules_items, rules_default);

static const struct key department_items[] = {
    KEY("name", FORM_NAME, struct department, name),
    KEY("parent", FORM_NAME, struct department, parent),
    KEY("owner_group", FORM_GROUP, struct department, owner_group),
    KEY("node_pool_quotas", FORM_NESTED, struct department, quotas),
    KEY("projects", FORM_NESTED, struct department, name),
    KEY("description", FORM_TEXT, struct department, description),
    KEY("scheduling_rules", FORM_NESTED, struct department, rules),
};
const struct keys department_keys = KEYS(department_items, department_default);

static const struct key project_items[] = {
    KEY("name", FORM_PROJECT_NAME, struct project, name),
    KEY("access_group", FORM_GROUP, struct project, access_group),
    KEY("node_pool_quotas", FORM_NESTED, struct project, quotas),
    KEY("default_preemptibility", FORM_PREEMPTIBLE, struct project, default_preemptibility),
    KEY("default_priority", FORM_PRIORITY, struct project, default_priority),
    KEY("default_node_pools", FORM_POOL_ORDER, struct project, default_pools),
    KEY("description", FORM_TEXT, struct project, description),
    KEY("scheduling_rules", FORM_NESTED, struct project, rules),
};
const struct keys project_keys = KEYS(project_items, project_default);

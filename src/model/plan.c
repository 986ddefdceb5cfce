// SPDX-License-Identifier: Apache-2.0
// plan: the record tables of the plan, effective quotas and merging. Reading the file form is in
// plan_read.c, contradictions in plan_check.c, differences in plan_diff.c, writing in plan_write.c.
#include "model/plan.h"

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
};
const struct record record_pool = RECORD("pool", struct pool, pool_fields);

static const struct field department_fields[] = {
    F_STR(1, struct department, name),
    F_STR(2, struct department, parent),
    F_STR(3, struct department, owner_group),
    F_LIST(4, struct department, quotas, record_quota),
    F_U32(5, struct department, id),
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
};
const struct record record_project = RECORD("project", struct project, project_fields);

static const struct field plan_fields[] = {
    F_LIST(1, struct plan, pools, record_pool),
    F_LIST(2, struct plan, departments, record_department),
    F_LIST(3, struct plan, projects, record_project),
};
const struct record record_plan = RECORD("plan", struct plan, plan_fields);

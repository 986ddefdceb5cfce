// SPDX-License-Identifier: Apache-2.0
// Everything the API answers, by subject.
#include "api/call.h"
#include "api/signin.h"

const struct route_group *const route_groups[] = {
    &group_weir,
    &group_common,
    &group_clusters,
    &group_node_pools,
    &group_departments,
    &group_projects,
    &group_nodes,
    &group_workloads,
    &group_workload_telemetry,
    &group_workload_metrics,
    &group_pods,
    &group_workload_types,
    &group_amounts,
    &group_submit,
    &group_specs,
    &group_batch,
    &group_properties,
    &group_events,
    &group_tokens,
    &group_users,
    &group_accounts,
    &group_keys,
    &group_roles,
    &group_rules,
    &group_audit,
    &group_login,
    &group_idps,
    &group_assets,
    &group_templates,
    &group_reports,
    &group_settings,
    &group_policies,
    &group_policy_forms,
    &group_later,
};
const uint32_t route_groups_count = COUNT_OF(route_groups);

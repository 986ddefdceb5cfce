// SPDX-License-Identifier: Apache-2.0
// run: what the commands of the table do; one function each, grouped by the file that holds it.
#pragma once

#include "cli/command.h"

/* run_session.c */
command_run run_whoami, run_version, run_config_describe, run_config_set, run_config_generate,
    run_cluster_set, run_project_set, run_help, run_completion, run_complete, run_man, run_docs;
/* run_login.c */
command_run run_login, run_login_user, run_login_key, run_logout, run_get_token, run_user_password;
/* run_tenant.c */
command_run run_project_list, run_project_describe, run_department_list, run_department_describe;
/* run_asset.c */
command_run run_asset_list, run_asset_describe, run_type_list;
/* run_credential.c */
command_run run_credential_list, run_credential_create, run_credential_delete;
/* run_policy.c */
command_run run_policy_list, run_policy_get, run_policy_effective, run_policy_apply,
    run_policy_delete;
/* run_unit.c */
command_run run_unit_create, run_unit_delete;
/* run_nodepool.c */
command_run run_cluster_list, run_nodepool_list, run_nodepool_describe;
/* run_node.c */
command_run run_node_list, run_node_describe, run_node_drain, run_node_undrain;
/* run_submit.c */
command_run run_submit;
/* run_workload.c */
command_run run_workload_list, run_workload_describe, run_workload_suspend, run_workload_resume,
    run_workload_delete, run_why;
/* run_live.c */
command_run run_logs, run_attach, run_watch;
/* run_exec.c */
command_run run_exec, run_bash;
/* run_forward.c */
command_run run_port_forward;
/* run_sso.c */
command_run run_login_sso;
/* run_people.c */
command_run run_people_list, run_people_create, run_people_renew, run_people_delete,
    run_user_groups, run_role_describe, run_rule_create;
/* run_audit.c */
command_run run_audit;
/* run_plan.c */
command_run run_plan_check, run_plan_diff, run_plan_apply, run_plan_export;

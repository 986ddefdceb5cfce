// SPDX-License-Identifier: Apache-2.0
// flags: the sets of flags that commands share.
#pragma once

#include "cli/command.h"

extern const struct flag_set flags_list, flags_describe, flags_sections, flags_project,
    flags_filter, flags_pages, flags_ref, flags_drain, flags_drain_device, flags_undrain,
    flags_delete, flags_logs, flags_attach, flags_exec, flags_forward, flags_watch, flags_submit,
    flags_submit_compute, flags_submit_run, flags_submit_place, flags_submit_kubernetes,
    flags_config_set, flags_config_generate, flags_cluster_set, flags_plan_change, flags_plan_apply,
    flags_plan_check, flags_up, flags_server, flags_replay, flags_audit, flags_simulate, flags_sim,
    flags_bench_submit, flags_bench_api, flags_bench_cycle, flags_bench_decide, flags_bench_packing,
    flags_login_user, flags_login_key, flags_get_token, flags_rule, flags_login_sso,
    flags_submit_pods, flags_submit_workers, flags_submit_elastic, flags_submit_masterless,
    flags_submit_slots, flags_submit_policy, flags_submit_master, flags_submit_replicas,
    flags_datasource, flags_credential, flags_new_credential, flags_types, flags_department,
    flags_new_project, flags_kind, flags_policy, flags_policy_apply;

// SPDX-License-Identifier: Apache-2.0
// input: the tables that describe it field by field. Tags are stored: append only, never reuse.
#include "model/input.h"

#include "model/audit.h"

static const struct field plan_removal_fields[] = {
    F_U32(1, struct plan_removal, what),
    F_STR(2, struct plan_removal, name),
};
static const struct record record_plan_removal = RECORD("plan_removal", struct plan_removal,
                                                        plan_removal_fields);

static const struct field plan_apply_fields[] = {
    F_RECORD(1, struct plan_apply, plan, record_plan),
    F_I64(2, struct plan_apply, base_revision),
    F_BOOL(3, struct plan_apply, prune),
    F_LIST(4, struct plan_apply, removals, record_plan_removal),
};
static const struct record record_plan_apply = RECORD("plan_apply", struct plan_apply,
                                                      plan_apply_fields);

static const struct field submit_fields[] = {
    F_UUID(1, struct submit, id),
    F_STR(2, struct submit, name),
    F_STR(3, struct submit, project),
    F_U32(4, struct submit, kind),
    F_RECORD(5, struct submit, spec, record_workload_spec),
    F_LIST(6, struct submit, pod_ids, record_pod_id),
    F_STR(7, struct submit, asked),
    F_I64(8, struct submit, request),
};
static const struct record record_submit = RECORD("submit", struct submit, submit_fields);

static const struct field name_cluster_fields[] = {
    F_UUID(1, struct name_cluster, id),
    F_STR(2, struct name_cluster, name),
};
static const struct record record_name_cluster = RECORD("name_cluster", struct name_cluster,
                                                        name_cluster_fields);

static const struct field pod_report_fields[] = {
    F_UUID(1, struct pod_report, pod),      F_U32(2, struct pod_report, attempt),
    F_STR(3, struct pod_report, node),      F_I64(4, struct pod_report, at_ms),
    F_I64(5, struct pod_report, exit_code), F_STR(6, struct pod_report, reason),
};
static const struct record record_pod_report = RECORD("pod_report", struct pod_report,
                                                      pod_report_fields);

static const struct field type_change_fields[] = {
    F_U32(1, struct type_change, op),
    F_RECORD(2, struct type_change, type, record_workload_type),
};
static const struct record record_type_change = RECORD("type_change", struct type_change,
                                                       type_change_fields);

static const struct field refused_fields[] = {
    F_STR(1, struct refused, what),
    F_U32(2, struct refused, status),
    F_STR(3, struct refused, text),
    F_I64(4, struct refused, command_seq),
};
static const struct record record_refused = RECORD("refused", struct refused, refused_fields);

static const struct field drain_ask_fields[] = {
    F_STR(1, struct drain_ask, device),
    F_BOOL(2, struct drain_ask, moves),
    F_I64(3, struct drain_ask, within_ms),
    F_STR(4, struct drain_ask, reason),
};
static const struct record record_drain_ask = RECORD("drain_ask", struct drain_ask,
                                                     drain_ask_fields);

static const struct field bind_fields[] = {
    F_UUID(1, struct bind, pod),
    F_STR(2, struct bind, node),
    F_LIST(3, struct bind, devices, record_held_device),
    F_I64(4, struct bind, numa_plus_one),
};
static const struct record record_bind = RECORD("bind", struct bind, bind_fields);

static const struct field evict_fields[] = {
    F_UUID(1, struct evict, pod),
    F_BOOL(2, struct evict, move),
    F_RECORD(3, struct evict, why, record_why),
};
static const struct record record_evict = RECORD("evict", struct evict, evict_fields);

static const struct field waiting_fields[] = {
    F_UUID(1, struct waiting, workload),
    F_RECORD(2, struct waiting, why, record_why),
    F_BOOL(3, struct waiting, next_pool),
};
static const struct record record_waiting = RECORD("waiting", struct waiting, waiting_fields);

static const struct field tick_fields[] = {
    F_LIST(1, struct tick, binds, record_bind),
    F_LIST(2, struct tick, evicts, record_evict),
    F_LIST(3, struct tick, waiting, record_waiting),
    F_LIST(4, struct tick, claims, record_claim),
    F_U32(5, struct tick, version),
};
const struct record record_tick = RECORD("tick", struct tick, tick_fields);

static const struct field origin_fields[] = {
    F_U32(1, struct origin, author_kind), F_STR(2, struct origin, source),
    F_UUID(3, struct origin, request),    F_STR(4, struct origin, method),
    F_STR(5, struct origin, path),        F_U32(6, struct origin, entity),
    F_U32(7, struct origin, right),       F_U32(8, struct origin, scope.kind),
    F_U32(9, struct origin, scope.id),    F_STR(10, struct origin, name),
};
static const struct record record_origin = RECORD("origin", struct origin, origin_fields);

static const struct field input_fields[] = {
    F_I64(1, struct input, seq),
    F_I64(2, struct input, now_ms),
    F_U32(3, struct input, kind),
    F_U32(4, struct input, version),
    F_STR(5, struct input, author),
    F_STR(6, struct input, key),
    F_UUID(7, struct input, target),
    F_STR(8, struct input, node_name),
    F_RECORD(9, struct input, plan_apply, record_plan_apply),
    F_RECORD(10, struct input, submit, record_submit),
    F_RECORD(11, struct input, node, record_node),
    F_RECORD(12, struct input, pod, record_pod_report),
    F_RECORD(13, struct input, refused, record_refused),
    F_RECORD(14, struct input, tick, record_tick),
    F_RECORD(15, struct input, identity, record_identity_change),
    F_RECORD(16, struct input, origin, record_origin),
    F_RECORD(17, struct input, drain, record_drain_ask),
    F_RECORD(20, struct input, name_cluster, record_name_cluster),
    F_RECORD(21, struct input, type_change, record_type_change),
    F_RECORD(22, struct input, asset, record_asset_change),
    F_RECORD(23, struct input, policy, record_policy_change),
};
const struct record record_input = RECORD("input", struct input, input_fields);

/* The same tags, of those fields alone that the audit is made of. */
static const struct field audited_submit_fields[] = {F_STR(2, struct submit, name)};
static const struct record record_audited_submit = RECORD("submit", struct submit,
                                                          audited_submit_fields);
static const struct field audited_identity_fields[] = {F_U32(1, struct identity_change, op)};
static const struct record record_audited_identity = RECORD(
    "identity_change", struct identity_change, audited_identity_fields);
static const struct field audited_asset_fields[] = {F_STR(3, struct asset, name)};
static const struct record record_audited_asset = RECORD("asset", struct asset,
                                                         audited_asset_fields);
static const struct field audited_asset_change_fields[] = {
    F_RECORD(2, struct asset_change, asset, record_audited_asset)};
static const struct record record_audited_asset_change = RECORD("asset_change", struct asset_change,
                                                                audited_asset_change_fields);
static const struct field audited_policy_fields[] = {F_STR(5, struct policy, name)};
static const struct record record_audited_policy = RECORD("policy", struct policy,
                                                          audited_policy_fields);
static const struct field audited_policy_change_fields[] = {
    F_RECORD(2, struct policy_change, policy, record_audited_policy)};
static const struct record record_audited_policy_change = RECORD(
    "policy_change", struct policy_change, audited_policy_change_fields);
static const struct field audited_fields[] = {
    F_I64(1, struct input, seq),
    F_I64(2, struct input, now_ms),
    F_U32(3, struct input, kind),
    F_STR(5, struct input, author),
    F_STR(8, struct input, node_name),
    F_RECORD(10, struct input, submit, record_audited_submit),
    F_RECORD(13, struct input, refused, record_refused),
    F_RECORD(15, struct input, identity, record_audited_identity),
    F_RECORD(16, struct input, origin, record_origin),
    F_RECORD(22, struct input, asset, record_audited_asset_change),
    F_RECORD(23, struct input, policy, record_audited_policy_change),
};
const struct record record_audited = RECORD("input", struct input, audited_fields);

bool input_is_command(enum input_kind kind)
{
    switch (kind) {
    case INPUT_PLAN_APPLY:
    case INPUT_SUBMIT:
    case INPUT_SUSPEND:
    case INPUT_RESUME:
    case INPUT_DELETE:
    case INPUT_IDENTITY:
    case INPUT_NODE_DRAIN:
    case INPUT_NODE_UNDRAIN:
    case INPUT_UPDATE:
    case INPUT_WORKLOAD_TYPE:
    case INPUT_NAME_CLUSTER:
    case INPUT_ASSET:
    case INPUT_POLICY:
        return true;
    case INPUT_NONE:
    case INPUT_REFUSED:
    case INPUT_NODE_SEEN:
    case INPUT_NODE_LOST:
    case INPUT_POD_STARTED:
    case INPUT_POD_EXITED:
    case INPUT_POD_FAILED:
    case INPUT_POD_CHECKPOINT:
    case INPUT_POD_IDLE:
    case INPUT_TICK:
    case INPUT_KIND_COUNT:
        return false;
    }
    return false;
}

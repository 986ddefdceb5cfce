// SPDX-License-Identifier: Apache-2.0
// state: the tables that describe it field by field. Tags are stored: append only, never reuse.
#include "model/state.h"

#include "base/num.h"

static const struct field label_fields[] = {
    F_STR(1, struct label, key),
    F_STR(2, struct label, value),
};
const struct record record_label = RECORD("label", struct label, label_fields);

static const struct field device_fields[] = {
    F_STR(1, struct device, uuid),         F_STR(2, struct device, model),
    F_I64(3, struct device, memory_bytes), F_I64(4, struct device, index),
    F_I64(5, struct device, numa_node),    F_BOOL(6, struct device, healthy),
    F_STR(7, struct device, fault),
};
static const struct record record_device = RECORD("device", struct device, device_fields);

static const struct field zone_fields[] = {
    F_I64(1, struct zone, numa_node),
    F_I64(2, struct zone, cpu_milli),
    F_I64(3, struct zone, memory_bytes),
    F_STR(4, struct zone, cpus),
};
static const struct record record_zone = RECORD("zone", struct zone, zone_fields);

static const struct field node_fields[] = {
    F_STR(1, struct node, name),
    F_LIST(2, struct node, labels, record_label),
    F_LIST(3, struct node, devices, record_device),
    F_I64(4, struct node, cpu_milli),
    F_I64(5, struct node, memory_bytes),
    F_I64(6, struct node, pods_max),
    F_BOOL(7, struct node, ready),
    F_I64(8, struct node, ready_since_ms),
    F_I64(9, struct node, seen_ms),
    F_LIST(10, struct node, notes, record_str_item),
    F_LIST(11, struct node, zones, record_zone),
};
const struct record record_node = RECORD("node", struct node, node_fields);

static const struct field drain_fields[] = {
    F_STR(1, struct drain, node),        F_STR(2, struct drain, device),
    F_BOOL(3, struct drain, moves),      F_I64(4, struct drain, since_ms),
    F_I64(5, struct drain, deadline_ms), F_STR(6, struct drain, author),
    F_STR(7, struct drain, reason),
};
const struct record record_drain = RECORD("drain", struct drain, drain_fields);

static const struct field env_var_fields[] = {
    F_STR(1, struct env_var, name),
    F_STR(2, struct env_var, value),
    F_UUID(3, struct env_var, credential),
    F_STR(4, struct env_var, key),
};
static const struct record record_env_var = RECORD("env_var", struct env_var, env_var_fields);

static const struct field pod_spec_fields[] = {
    F_STR(1, struct pod_spec, image),
    F_LIST(2, struct pod_spec, args, record_str_item),
    F_LIST(3, struct pod_spec, env, record_env_var),
    F_BOOL(4, struct pod_spec, args_are_command),
    F_STR(5, struct pod_spec, working_dir),
    F_I64(6, struct pod_spec, run_as_uid),
    F_I64(7, struct pod_spec, run_as_gid),
    F_I64(8, struct pod_spec, gpu_devices),
    F_I64(9, struct pod_spec, gpu_portion_share),
    F_I64(10, struct pod_spec, gpu_memory_bytes),
    F_I64(11, struct pod_spec, cpu_milli),
    F_I64(12, struct pod_spec, cpu_limit_milli),
    F_I64(13, struct pod_spec, memory_bytes),
    F_I64(14, struct pod_spec, memory_limit_bytes),
    F_I64(15, struct pod_spec, grace_ms),
    F_BOOL(16, struct pod_spec, single_numa),
};
const struct record record_pod_spec = RECORD("pod_spec", struct pod_spec, pod_spec_fields);

static const struct field workload_spec_fields[] = {
    F_RECORD(1, struct workload_spec, pod, record_pod_spec),
    F_I64(2, struct workload_spec, pods),
    F_I64(3, struct workload_spec, pods_min),
    F_I64(4, struct workload_spec, priority),
    F_U32(5, struct workload_spec, preemptibility),
    F_LIST(6, struct workload_spec, pools, record_str_item),
    F_LIST(7, struct workload_spec, labels, record_label),
    F_LIST(8, struct workload_spec, annotations, record_label),
    F_U32(9, struct workload_spec, restart),
    F_I64(10, struct workload_spec, backoff_limit),
    F_I64(11, struct workload_spec, auto_delete_ms),
    F_I64(12, struct workload_spec, duration_ms),
    F_U32(13, struct workload_spec, framework),
    F_BOOL(14, struct workload_spec, has_master),
    F_RECORD(15, struct workload_spec, master, record_pod_spec),
    F_I64(16, struct workload_spec, available_min),
    F_STR(17, struct workload_spec, node_type),
    F_I64(18, struct workload_spec, run_max_ms),
    F_I64(19, struct workload_spec, idle_max_ms),
    F_I64(20, struct workload_spec, parallel_max),
};
const struct record record_workload_spec = RECORD("workload_spec", struct workload_spec,
                                                  workload_spec_fields);

static const struct field held_device_fields[] = {
    F_STR(1, struct held_device, uuid),
    F_I64(2, struct held_device, share),
};
const struct record record_held_device = RECORD("held_device", struct held_device,
                                                held_device_fields);

static const struct field pod_fields[] = {
    F_UUID(1, struct pod, id),
    F_U32(2, struct pod, phase),
    F_U32(3, struct pod, attempt),
    F_U32(4, struct pod, failures),
    F_STR(5, struct pod, node),
    F_LIST(6, struct pod, devices, record_held_device),
    F_I64(7, struct pod, start_ms),
    F_I64(8, struct pod, end_ms),
    F_I64(9, struct pod, exit_code),
    F_STR(10, struct pod, end_reason),
    F_BOOL(11, struct pod, move),
    F_I64(12, struct pod, retry_at_ms),
    F_I64(13, struct pod, numa_plus_one),
    F_I64(14, struct pod, idle_since_ms),
};
const struct record record_pod = RECORD("pod", struct pod, pod_fields);

static const struct field why_nodes_fields[] = {
    F_U32(1, struct why_nodes, code),
    F_U32(2, struct why_nodes, count),
};
static const struct record record_why_nodes = RECORD("why_nodes", struct why_nodes,
                                                     why_nodes_fields);

static const struct field why_fields[] = {
    F_U32(1, struct why, code),
    F_STR(2, struct why, pool),
    F_STR(3, struct why, queue),
    F_BOOL(4, struct why, queue_is_department),
    F_U32(5, struct why, resource),
    F_I64(6, struct why, requested),
    F_I64(7, struct why, held),
    F_I64(8, struct why, bound),
    F_UUID(9, struct why, other),
    F_STR(10, struct why, other_name),
    F_LIST(11, struct why, nodes, record_why_nodes),
    F_I64(12, struct why, until_ms),
    F_I64(13, struct why, since_ms),
};
const struct record record_why = RECORD("why", struct why, why_fields);

static const struct field event_fields[] = {
    F_I64(1, struct event, at_ms),
    F_U32(2, struct event, kind),
    F_UUID(3, struct event, pod),
    F_STR(4, struct event, node),
    F_STR(5, struct event, text),
    F_STR(6, struct event, author),
    F_RECORD(7, struct event, why, record_why),
    F_I64(8, struct event, exit_code),
};
const struct record record_event = RECORD("event", struct event, event_fields);

static const struct field pod_id_fields[] = {F_UUID(1, struct pod_id, id)};
const struct record record_pod_id = RECORD("pod_id", struct pod_id, pod_id_fields);

static const struct field update_fields[] = {
    F_RECORD(1, struct update, spec, record_workload_spec),
    F_STR(2, struct update, asked),
    F_LIST(3, struct update, pod_ids, record_pod_id),
};
static const struct record record_update = RECORD("update", struct update, update_fields);

static const struct field workload_fields[] = {
    F_UUID(1, struct workload, id),
    F_STR(2, struct workload, name),
    F_STR(3, struct workload, project),
    F_U32(4, struct workload, kind),
    F_STR(5, struct workload, author),
    F_RECORD(6, struct workload, spec, record_workload_spec),
    F_U32(7, struct workload, desired),
    F_I64(8, struct workload, created_ms),
    F_I64(9, struct workload, end_ms),
    F_I64(10, struct workload, last_start_ms),
    F_I64(11, struct workload, last_evict_ms),
    F_I64(12, struct workload, stale_since_ms),
    F_I64(13, struct workload, pending_since_ms),
    F_I64(14, struct workload, run_ms),
    F_I64(15, struct workload, pending_ms),
    F_U32(16, struct workload, pool_ix),
    F_LIST(17, struct workload, pods, record_pod),
    F_LIST(18, struct workload, events, record_event),
    F_RECORD(19, struct workload, why, record_why),
    F_I64(20, struct workload, tried_seq),
    F_U32(21, struct workload, tried_count),
    F_I64(22, struct workload, tried_ms),
    F_I64(23, struct workload, running_since_ms),
    F_STR(24, struct workload, asked),
    F_I64(25, struct workload, port),
    F_I64(26, struct workload, checkpoint_ms),
    F_I64(27, struct workload, run_before_ms),
    F_I64(28, struct workload, noticed_ms),
    F_LIST(29, struct workload, updates, record_update),
    F_I64(30, struct workload, request),
};
const struct record record_workload = RECORD("workload", struct workload, workload_fields);

static const struct field claim_fields[] = {
    F_UUID(1, struct claim, workload), F_UUID(2, struct claim, pod),
    F_STR(3, struct claim, node),      F_LIST(4, struct claim, devices, record_held_device),
    F_I64(5, struct claim, cpu_milli), F_I64(6, struct claim, memory_bytes),
    F_I64(7, struct claim, since_ms),
};
const struct record record_claim = RECORD("claim", struct claim, claim_fields);

static const struct field answer_fields[] = {
    F_STR(1, struct answer, author), F_STR(2, struct answer, key),
    F_U32(3, struct answer, status), F_STR(4, struct answer, text),
    F_STR(5, struct answer, field),  F_STR(6, struct answer, hint),
    F_UUID(7, struct answer, id),    F_I64(8, struct answer, revision),
    F_I64(9, struct answer, at_ms),  F_I64(10, struct answer, digest),
};
const struct record record_answer = RECORD("answer", struct answer, answer_fields);

static const struct field use_fields[] = {
    F_I64(1, struct use, start_ms),          F_I64(2, struct use, all.v[RES_GPU]),
    F_I64(3, struct use, all.v[RES_CPU]),    F_I64(4, struct use, all.v[RES_MEMORY]),
    F_I64(5, struct use, low.v[RES_GPU]),    F_I64(6, struct use, low.v[RES_CPU]),
    F_I64(7, struct use, low.v[RES_MEMORY]),
};
static const struct record record_use = RECORD("use", struct use, use_fields);

static const struct field book_fields[] = {
    F_STR(1, struct book, pool),
    F_U32(2, struct book, project),
    F_I64(3, struct book, until_ms),
    F_LIST(4, struct book, uses, record_use),
};
const struct record record_book = RECORD("book", struct book, book_fields);

static const struct field workload_type_fields[] = {
    F_UUID(1, struct workload_type, id),        F_U32(2, struct workload_type, kind_plus_one),
    F_STR(3, struct workload_type, name),       F_STR(4, struct workload_type, group),
    F_U32(5, struct workload_type, category),   F_I64(6, struct workload_type, priority),
    F_STR(7, struct workload_type, interfaces), STAMP_FIELDS(8, struct workload_type),
};
const struct record record_workload_type = RECORD("workload_type", struct workload_type,
                                                  workload_type_fields);

static const struct field state_fields[] = {
    F_I64(1, struct state, seq),
    F_I64(2, struct state, now_ms),
    F_I64(3, struct state, plan_revision),
    F_I64(4, struct state, next_id),
    F_RECORD(5, struct state, plan, record_plan),
    F_LIST(6, struct state, nodes, record_node),
    F_LIST(7, struct state, workloads, record_workload),
    F_LIST(8, struct state, claims, record_claim),
    F_LIST(9, struct state, answers, record_answer),
    F_I64(10, struct state, change_seq),
    F_LIST(11, struct state, books, record_book),
    F_RECORD(12, struct state, identity, record_identity),
    F_LIST(13, struct state, drains, record_drain),
    F_LIST(14, struct state, types, record_workload_type),
    F_RECORD(15, struct state, assets, record_assets),
    F_LIST(16, struct state, deleted, record_workload),
    F_RECORD(17, struct state, policies, record_policies),
    F_UUID(20, struct state, cluster_id),
    F_STR(21, struct state, cluster_name),
    F_I64(22, struct state, cluster_ms),
};
const struct record record_state = RECORD("state", struct state, state_fields);

struct workload_type kind_type_of(const struct state *s, enum workload_kind kind)
{
    static const struct workload_type at_first[] = {
        [WORKLOAD_TRAINING] = {.category = CATEGORY_TRAIN,  .priority = 40 }, /* low */
        [WORKLOAD_WORKSPACE] = {.category = CATEGORY_BUILD,  .priority = 125}, /* high */
        [WORKLOAD_INFERENCE] = {.category = CATEGORY_DEPLOY, .priority = 150}, /* very high */
        [WORKLOAD_DISTRIBUTED] = {.category = CATEGORY_TRAIN,  .priority = 40 },
    };
    for (uint32_t i = 0; i < s->types_count; i++) {
        if (s->types[i].kind_plus_one == (uint32_t)kind + 1) {
            return s->types[i];
        }
    }
    return at_first[kind];
}

/* ---- derived words ---- */

const struct pod_spec *workload_pod(const struct workload *w, uint32_t pod)
{
    return w->spec.has_master && pod == 0 ? &w->spec.master : &w->spec.pod;
}

struct pod_counts {
    uint32_t pending, binding, running, releasing, succeeded, failed;
};

static struct pod_counts count_pods(const struct workload *w)
{
    struct pod_counts n = {0};
    for (uint32_t i = 0; i < w->pods_count; i++) {
        switch (w->pods[i].phase) {
        case POD_PENDING:
            n.pending++;
            break;
        case POD_BINDING:
            n.binding++;
            break;
        case POD_RUNNING:
            n.running++;
            break;
        case POD_RELEASING:
            n.releasing++;
            break;
        case POD_SUCCEEDED:
            n.succeeded++;
            break;
        case POD_FAILED:
            n.failed++;
            break;
        }
    }
    return n;
}

bool workload_is_terminal(const struct workload *w)
{
    struct pod_counts n = count_pods(w);
    if (n.binding + n.running + n.releasing > 0) {
        return false;
    }
    return w->desired == WANT_DELETED || n.failed > 0 || n.pending == 0;
}

/* All that hold devices have used none of them since; 0: some has, or none holds any. */
static int64_t idle_since_ms(const struct workload *w)
{
    int64_t since_ms = 0;
    for (uint32_t i = 0; i < w->pods_count; i++) {
        const struct pod *p = &w->pods[i];
        if (p->devices_count > 0 && p->idle_since_ms == 0) {
            return 0;
        }
        since_ms = p->devices_count > 0 ? num_max_i64(p->idle_since_ms, since_ms) : since_ms;
    }
    return since_ms;
}

int64_t workload_stop_at_ms(const struct workload *w, bool *idle, int64_t *limit_ms)
{
    int64_t at_ms = INT64_MAX;
    int64_t since_ms = idle_since_ms(w);
    *idle = false;
    *limit_ms = w->spec.run_max_ms;
    if (w->desired != WANT_RUN || w->running_since_ms == TIME_NEVER) {
        return at_ms;
    }
    if (w->spec.run_max_ms > 0) {
        int64_t ran_ms = num_sat_sub_i64(w->run_ms, w->run_before_ms);
        int64_t left_ms = num_sat_sub_i64(w->spec.run_max_ms, ran_ms);
        at_ms = num_sat_add_i64(w->running_since_ms, num_max_i64(left_ms, 0));
    }
    int64_t idle_at_ms = num_sat_add_i64(since_ms, w->spec.idle_max_ms);
    if (w->spec.idle_max_ms > 0 && since_ms > 0 && idle_at_ms < at_ms) {
        *idle = true;
        *limit_ms = w->spec.idle_max_ms;
        at_ms = idle_at_ms;
    }
    return at_ms;
}

struct str workload_pool(const struct workload *w)
{
    return w->pool_ix < w->spec.pools_count ? w->spec.pools[w->pool_ix].value : STR("");
}

struct str workload_phase(const struct workload *w)
{
    struct pod_counts n = count_pods(w);
    uint32_t held = n.binding + n.running + n.releasing;
    if (w->desired == WANT_DELETED) {
        return STR("Deleting");
    }
    if (n.failed > 0) {
        return held > 0 ? STR("Terminating") : STR("Failed");
    }
    if (held == 0 && n.pending == 0) {
        return STR("Completed");
    }
    if (w->desired == WANT_STOPPED) {
        return held > 0 ? STR("Stopping") : STR("Stopped");
    }
    if (w->updates_count > 0) {
        return STR("Updating");
    }
    if (n.running + n.succeeded > 0 && n.running + n.binding > 0 && n.binding == 0) {
        return (int64_t)(n.running + n.succeeded) >= w->spec.pods_min ? STR("Running")
                                                                      : STR("Degraded");
    }
    if (n.binding > 0) {
        return STR("Initializing");
    }
    return STR("Pending");
}

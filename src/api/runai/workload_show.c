// SPDX-License-Identifier: Apache-2.0
// One workload of any kind, in the words of the API.
#include "api/runai/amounts.h"
#include "api/runai/properties.h"
#include "api/runai/workloads.h"
#include "api/words.h"
#include "codec/quantity.h"
#include "model/priority.h"
#include "model/reason.h"

/* ---- words ---- */

struct str kind_type(enum workload_kind kind)
{
    static const struct str words[] = {
        [WORKLOAD_TRAINING] = STRS("Training"),
        [WORKLOAD_WORKSPACE] = STRS("Workspace"),
        [WORKLOAD_INFERENCE] = STRS("Inference"),
        [WORKLOAD_DISTRIBUTED] = STRS("Distributed"),
    };
    return words[kind];
}

struct str workload_category(const struct call *c, const struct workload *wl)
{
    return category_name(kind_type_of(state_of(c), wl->kind).category);
}

struct str workload_framework(enum framework f)
{
    static const struct str words[] = {
        [FRAMEWORK_NONE] = STRS(""),           [FRAMEWORK_PYTORCH] = STRS("PyTorch"),
        [FRAMEWORK_TENSORFLOW] = STRS("TF"),   [FRAMEWORK_MPI] = STRS("MPI"),
        [FRAMEWORK_XGBOOST] = STRS("XGBoost"), [FRAMEWORK_JAX] = STRS("JAX"),
    };
    return words[f];
}

const struct doc *workload_asked(const struct call *c, const struct workload *wl)
{
    struct doc *root = NULL;
    struct err err;
    struct str asked = wl->updates_count > 0 ? wl->updates[0].asked : wl->asked;
    return asked.len > 0 && json_doc(asked, c->arena, &root, &err) == STATUS_OK ? root : NULL;
}

bool workload_is_deleted(const struct workload *wl)
{
    return wl->desired == WANT_DELETED && wl->end_ms != TIME_NEVER;
}

void show_phase(struct jw *w, struct str key, const struct workload *wl)
{
    jw_member_string(w, key, workload_phase(wl));
}

static struct str k8s_phase(const struct workload *wl)
{
    struct str phase = workload_phase(wl);
    return str_eq(phase, STR("Completed"))                                 ? STR("Succeeded")
           : str_eq(phase, STR("Failed")) || str_eq(phase, STR("Running")) ? phase
                                                                           : STR("Pending");
}

int64_t workload_changed_ms(const struct workload *wl)
{
    return wl->events_count > 0 ? wl->events[wl->events_count - 1].at_ms : wl->created_ms;
}

/* ---- where it belongs ---- */

const struct workload *path_workload_of(struct call *c, enum workload_kind kind)
{
    struct uuid id;
    const struct workload *wl = uuid_parse(c->segments.items[0], &id)
                                    ? engine_find(c->api->config.engine, id)
                                    : NULL;
    if (wl == NULL || wl->kind != kind) {
        struct str type = kind_type(kind);
        fail_unknown(c, arena_printf(c->arena, "workload of type " STR_FMT, STR_ARG(type)).ptr,
                     c->segments.items[0]);
        return NULL;
    }
    return wl;
}

struct str workload_department(const struct call *c, const struct workload *wl)
{
    const struct project *p = show_find_project(plan_of(c), wl->project);
    return p != NULL ? p->department : (struct str){0};
}

struct str workload_department_id(const struct call *c, const struct workload *wl)
{
    return department_id_text(c, workload_department(c, wl));
}

struct str workload_project_id(const struct call *c, const struct workload *wl)
{
    const struct project *p = show_find_project(plan_of(c), wl->project);
    return p != NULL ? arena_printf(c->arena, "%u", p->id) : (struct str){0};
}

struct str pod_pool(const struct call *c, const struct pod *p)
{
    const struct state *st = state_of(c);
    for (uint32_t n = 0; p->node.len > 0 && n < st->nodes_count; n++) {
        if (str_eq(st->nodes[n].name, p->node)) {
            return engine_pool_of(c->api->config.engine, &st->nodes[n]);
        }
    }
    return (struct str){0};
}

/* ---- one workload ---- */

static void show_place(struct call *c, struct jw *w, const struct workload *wl)
{
    jw_member_i64(w, STR("tenantId"), TENANT_ID);
    show_cluster_id(c, w, STR("clusterId"));
    jw_member_string(w, STR("projectId"), workload_project_id(c, wl));
    jw_member_string(w, STR("projectName"), wl->project);
    jw_member_string(w, STR("departmentId"), workload_department_id(c, wl));
    jw_member_string(w, STR("departmentName"), workload_department(c, wl));
    jw_member_string(w, STR("namespace"),
                     arena_printf(c->arena, "runai-" STR_FMT, STR_ARG(wl->project)));
}

static void show_command(struct call *c, struct jw *w, const struct workload *wl)
{
    const struct doc *spec = body_get(workload_asked(c, wl), STR("spec"));
    struct str command = body_str(spec, STR("command"));
    struct str args = body_str(spec, STR("args"));
    if (spec == NULL) {
        for (uint32_t i = 0; i < wl->spec.pod.args_count; i++) {
            args = arena_printf(c->arena, STR_FMT "%s" STR_FMT, STR_ARG(args), i > 0 ? " " : "",
                                STR_ARG(wl->spec.pod.args[i].value));
        }
    }
    jw_member_string(w, STR("command"), command);
    jw_member_string(w, STR("arguments"), args);
    jw_key(w, STR("environmentVariables"));
    jw_object_begin(w);
    for (uint32_t i = 0; i < wl->spec.pod.env_count; i++) {
        const struct env_var *v = &wl->spec.pod.env[i];
        if (uuid_is_zero(v->credential)) {
            jw_member_string(w, v->name, v->value);
        }
    }
    jw_object_end(w);
}

static void show_times(struct call *c, struct jw *w, const struct workload *wl)
{
    int64_t now_ms = c->api->config.now_ms();
    bool deleted = workload_is_deleted(wl);
    int64_t run_ms = wl->run_ms + (wl->running_since_ms > 0 && now_ms > wl->running_since_ms
                                       ? now_ms - wl->running_since_ms
                                       : 0);
    int64_t pending_ms = wl->pending_ms + (wl->pending_since_ms > 0 && now_ms > wl->pending_since_ms
                                               ? now_ms - wl->pending_since_ms
                                               : 0);
    show_moment(w, STR("createdAt"), wl->created_ms);
    show_moment(w, STR("updatedAt"), workload_changed_ms(wl));
    show_time(w, STR("deletedAt"), deleted ? wl->end_ms : 0);
    show_time(w, STR("completedAt"), deleted ? 0 : num_max_i64(wl->end_ms, 0));
    show_moment(w, STR("phaseUpdatedAt"), workload_changed_ms(wl));
    show_moment(w, STR("k8sPhaseUpdatedAt"), workload_changed_ms(wl));
    jw_member_i64(w, STR("totalPendingTimeSeconds"), pending_ms / 1000);
    jw_member_i64(w, STR("totalRunningTimeSeconds"), run_ms / 1000);
}

static struct str why_text(struct call *c, const struct workload *wl)
{
    struct buf text;
    buf_init(&text, 4096);
    words_why(&wl->why, &text);
    struct str out = arena_str(c->arena, buf_view(&text));
    buf_done(&text);
    return out;
}

/* The two reasons that the product has a word for. */
static struct str phase_reason(const struct workload *wl)
{
    return wl->why.code == REASON_OVER_LIMIT                   ? STR("OverLimit")
           : wl->why.code == REASON_NON_PREEMPTIBLE_OVER_QUOTA ? STR("NonPreemptibleOverQuota")
                                                               : (struct str){0};
}

static void show_messages(struct call *c, struct jw *w, const struct workload *wl)
{
    struct str reason = phase_reason(wl);
    jw_key(w, STR("pendingSchedulingMessages"));
    jw_array_begin(w);
    if (reason.len > 0) {
        jw_object_begin(w);
        jw_member_string(w, STR("nodePool"), wl->why.pool);
        jw_member_string(w, STR("phaseReason"), reason);
        jw_member_string(w, STR("reason"), reason);
        jw_member_string(w, STR("orgType"),
                         wl->why.queue_is_department ? STR("DEPARTMENT") : STR("PROJECT"));
        jw_member_string(w, STR("userMessage"), why_text(c, wl));
        jw_object_end(w);
    }
    jw_array_end(w);
}

static void show_pools(struct call *c, struct jw *w, const struct workload *wl)
{
    show_strings(w, STR("requestedNodePools"), wl->spec.pools, wl->spec.pools_count);
    jw_key(w, STR("currentNodePools"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < wl->pods_count; i++) {
        struct str pool = amounts_holds(&wl->pods[i]) ? pod_pool(c, &wl->pods[i]) : STR("");
        if (pool.len > 0) {
            jw_string(w, pool);
            break; /* all of its pods are in one */
        }
    }
    jw_array_end(w);
}

static void show_resources(struct call *c, struct jw *w, const struct workload *wl)
{
    struct holding h = amounts_holding(c, wl);
    struct request all = amounts_request(wl);
    struct request one = {0};
    amounts_add_request(&one, &wl->spec.pod, 1);
    amounts_show_request(w, STR("workloadRequestedResources"), &all);
    amounts_show_request(w, STR("podsRequestedResources"), &one);
    amounts_show_holding(w, &h);
    jw_member_i64(w, STR("runningPods"), h.running);
    jw_key(w, STR("requestedPods"));
    jw_object_begin(w);
    jw_member_i64(w, STR("number"), wl->spec.pods);
    if (wl->spec.pods_min < wl->spec.pods && wl->kind == WORKLOAD_DISTRIBUTED) {
        jw_member_i64(w, STR("min"), wl->spec.pods_min);
        jw_member_i64(w, STR("max"), wl->spec.pods);
    }
    if (wl->spec.parallel_max > 0) {
        jw_member_i64(w, STR("parallelism"), wl->spec.parallel_max);
        jw_member_i64(w, STR("completions"), wl->spec.pods);
    }
    jw_object_end(w);
}

void workload_show(struct call *c, struct jw *w, const struct workload *wl, bool whole)
{
    bool stops = wl->kind != WORKLOAD_INFERENCE;
    struct str reason = phase_reason(wl);
    jw_object_begin(w);
    show_uuid(w, STR("id"), wl->id);
    jw_member_string(w, STR("name"), wl->name);
    jw_member_string(w, STR("type"), kind_type(wl->kind));
    jw_member_string(w, STR("category"), workload_category(c, wl));
    show_place(c, w, wl);
    jw_member_string(w, STR("source"), wl->asked.len > 0 ? STR("Control-plane") : STR("CLI"));
    jw_member_string(w, STR("submittedBy"), wl->author);
    jw_member_i64(w, STR("priority"), wl->spec.priority);
    jw_member_string(w, STR("priorityClassName"), priority_word(wl->spec.priority));
    jw_member_bool(w, STR("preemptible"), wl->spec.preemptibility == PREEMPTIBLE);
    show_phase(w, STR("phase"), wl);
    jw_member_string(w, STR("phaseMessage"), why_text(c, wl));
    if (reason.len > 0) {
        jw_member_string(w, STR("phaseReason"), reason);
    }
    jw_member_string(w, STR("k8sPhase"), k8s_phase(wl));
    jw_key(w, STR("conditions"));
    jw_array_begin(w);
    jw_array_end(w);
    show_times(c, w, wl);
    show_resources(c, w, wl);
    show_pools(c, w, wl);
    if (wl->spec.framework != FRAMEWORK_NONE) {
        jw_member_string(w, STR("distributedFramework"), workload_framework(wl->spec.framework));
    }
    jw_key(w, STR("images"));
    jw_array_begin(w);
    jw_string(w, wl->spec.pod.image);
    jw_array_end(w);
    show_command(c, w, wl);
    jw_key(w, STR("actionsSupport"));
    jw_object_begin(w);
    jw_member_bool(w, STR("delete"), true);
    jw_member_bool(w, STR("suspend"), stops);
    jw_object_end(w);
    if (whole) {
        show_messages(c, w, wl);
    }
    jw_object_end(w);
}

// SPDX-License-Identifier: Apache-2.0
// Workloads of all kinds, to be read: /api/v1/workloads.
#include "api/runai/workloads.h"

#include "api/runai/series.h"
#include "api/words.h"
#include "base/array.h"
#include "base/map.h"
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

struct str kind_category(enum workload_kind kind)
{
    static const struct str words[] = {
        [WORKLOAD_TRAINING] = STRS("Train"),
        [WORKLOAD_WORKSPACE] = STRS("Build"),
        [WORKLOAD_INFERENCE] = STRS("Deploy"),
        [WORKLOAD_DISTRIBUTED] = STRS("Train"),
    };
    return words[kind];
}

static struct str framework_word(enum framework f)
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
    return wl->asked.len > 0 && json_doc(wl->asked, c->arena, &root, &err) == STATUS_OK ? root
                                                                                        : NULL;
}

bool workload_is_deleted(const struct workload *wl)
{
    return wl->desired == WANT_DELETED && wl->end_ms != TIME_NEVER;
}

struct str workload_pool(const struct workload *wl)
{
    return wl->pool_ix < wl->spec.pools_count ? wl->spec.pools[wl->pool_ix].value : (struct str){0};
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

static int64_t changed_ms(const struct workload *wl)
{
    return wl->events_count > 0 ? wl->events[wl->events_count - 1].at_ms : wl->created_ms;
}

/* ---- resources ---- */

/* A request and its limit (negative: none), in the unit of the wire. */
static void show_pair(struct jw *w, struct str key, int64_t request_milli, int64_t limit_milli)
{
    jw_key(w, key);
    jw_object_begin(w);
    show_milli(w, STR("request"), request_milli);
    jw_key(w, STR("limit"));
    if (limit_milli >= 0) {
        jw_decimal(w, limit_milli, 3);
    } else {
        jw_null(w);
    }
    jw_object_end(w);
}

static void show_bytes_pair(struct jw *w, struct str key, int64_t request, int64_t limit)
{
    char text[QUANTITY_TEXT_SIZE];
    jw_key(w, key);
    jw_object_begin(w);
    jw_member_string(w, STR("request"), quantity_format_bytes(request, text));
    jw_key(w, STR("limit"));
    if (limit >= 0) {
        jw_string(w, quantity_format_bytes(limit, text));
    } else {
        jw_null(w);
    }
    jw_object_end(w);
}

static int64_t gpu_milli(const struct pod_spec *p)
{
    return p->gpu_portion_share > 0 ? p->gpu_devices * p->gpu_portion_share * 1000 / DEVICE_SHARE
                                    : p->gpu_devices * 1000;
}

struct request {
    int64_t gpu_milli, gpu_bytes, cpu_milli, cpu_limit, memory, memory_limit;
    bool by_memory;
};

static void add_request(struct request *r, const struct pod_spec *p, int64_t pods)
{
    r->by_memory = r->by_memory || p->gpu_memory_bytes > 0;
    r->gpu_milli += p->gpu_memory_bytes > 0 ? 0 : pods * gpu_milli(p);
    r->gpu_bytes += pods * p->gpu_devices * p->gpu_memory_bytes;
    r->cpu_milli += pods * p->cpu_milli;
    r->memory += pods * p->memory_bytes;
    r->cpu_limit = r->cpu_limit < 0 || p->cpu_limit_milli < 0
                       ? -1
                       : r->cpu_limit + pods * p->cpu_limit_milli;
    r->memory_limit = r->memory_limit < 0 || p->memory_limit_bytes < 0
                          ? -1
                          : r->memory_limit + pods * p->memory_limit_bytes;
}

static void show_request(struct jw *w, struct str key, const struct request *r)
{
    jw_key(w, key);
    jw_object_begin(w);
    jw_member_string(w, STR("gpuRequestType"), r->by_memory ? STR("memory") : STR("portion"));
    if (r->by_memory) {
        show_bytes_pair(w, STR("gpuMemory"), r->gpu_bytes, r->gpu_bytes);
    } else {
        show_pair(w, STR("gpu"), r->gpu_milli, r->gpu_milli);
    }
    show_pair(w, STR("cpu"), r->cpu_milli, r->cpu_limit);
    show_bytes_pair(w, STR("cpuMemory"), r->memory, r->memory_limit);
    jw_object_end(w);
}

static struct request request_of(const struct workload *wl)
{
    struct request r = {0};
    int64_t others = wl->spec.pods - wl->spec.has_master;
    if (wl->spec.has_master) {
        add_request(&r, &wl->spec.master, 1);
    }
    add_request(&r, &wl->spec.pod, others);
    return r;
}

struct holding {
    int64_t share, gpu_bytes, cpu_milli, memory_bytes;
    uint32_t pods, running;
};

static bool holds(const struct pod *p)
{
    return p->phase == POD_BINDING || p->phase == POD_RUNNING || p->phase == POD_RELEASING;
}

static int64_t device_bytes(const struct state *st, const struct held_device *d)
{
    for (uint32_t i = 0; i < st->nodes_count; i++) {
        for (uint32_t k = 0; k < st->nodes[i].devices_count; k++) {
            if (str_eq(st->nodes[i].devices[k].uuid, d->uuid)) {
                return num_muldiv_floor(st->nodes[i].devices[k].memory_bytes, d->share,
                                        DEVICE_SHARE);
            }
        }
    }
    return 0;
}

static void add_holding(const struct call *c, struct holding *h, const struct workload *wl,
                        uint32_t pod)
{
    const struct pod *p = &wl->pods[pod];
    const struct pod_spec *spec = workload_pod(wl, pod);
    h->running += p->phase == POD_RUNNING;
    if (holds(p)) {
        h->pods++;
        h->cpu_milli += spec->cpu_milli;
        h->memory_bytes += spec->memory_bytes;
        for (uint32_t d = 0; d < p->devices_count; d++) {
            h->share += p->devices[d].share;
            h->gpu_bytes += device_bytes(state_of(c), &p->devices[d]);
        }
    }
}

static struct holding holding_of(const struct call *c, const struct workload *wl)
{
    struct holding h = {0};
    for (uint32_t i = 0; i < wl->pods_count; i++) {
        add_holding(c, &h, wl, i);
    }
    return h;
}

static void show_holding(struct jw *w, const struct holding *h)
{
    char text[QUANTITY_TEXT_SIZE];
    jw_key(w, STR("allocatedResources"));
    jw_object_begin(w);
    show_amount(w, STR("gpu"), RES_GPU, h->share);
    jw_member_string(w, STR("gpuMemory"), quantity_format_bytes(h->gpu_bytes, text));
    show_milli(w, STR("cpu"), h->cpu_milli);
    jw_member_string(w, STR("cpuMemory"), quantity_format_bytes(h->memory_bytes, text));
    jw_object_end(w);
}

/* ---- one workload ---- */

static void show_place(struct call *c, struct jw *w, const struct workload *wl)
{
    const struct plan *plan = plan_of(c);
    const struct project *p = show_find_project(plan, wl->project);
    struct str department = p != NULL ? p->department : (struct str){0};
    uint32_t id = 0;
    for (uint32_t i = 0; i < plan->departments_count; i++) {
        id = str_eq(plan->departments[i].name, department) ? plan->departments[i].id : id;
    }
    jw_member_i64(w, STR("tenantId"), TENANT_ID);
    show_cluster_id(c, w, STR("clusterId"));
    show_id(w, STR("projectId"), p != NULL ? p->id : 0);
    jw_member_string(w, STR("projectName"), wl->project);
    show_id(w, STR("departmentId"), id);
    jw_member_string(w, STR("departmentName"), department);
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
        jw_member_string(w, wl->spec.pod.env[i].name, wl->spec.pod.env[i].value);
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
    show_moment(w, STR("updatedAt"), changed_ms(wl));
    show_time(w, STR("deletedAt"), deleted ? wl->end_ms : 0);
    show_time(w, STR("completedAt"), deleted ? 0 : num_max_i64(wl->end_ms, 0));
    show_moment(w, STR("phaseUpdatedAt"), changed_ms(wl));
    show_moment(w, STR("k8sPhaseUpdatedAt"), changed_ms(wl));
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
        if (holds(&wl->pods[i])) { /* all of its pods are in one */
            const struct state *st = state_of(c);
            for (uint32_t n = 0; n < st->nodes_count; n++) {
                if (str_eq(st->nodes[n].name, wl->pods[i].node)) {
                    jw_string(w, engine_pool_of(c->api->config.engine, &st->nodes[n]));
                }
            }
            break;
        }
    }
    jw_array_end(w);
}

static void show_resources(struct call *c, struct jw *w, const struct workload *wl)
{
    struct holding h = holding_of(c, wl);
    struct request all = request_of(wl);
    struct request one = {0};
    add_request(&one, &wl->spec.pod, 1);
    show_request(w, STR("workloadRequestedResources"), &all);
    show_request(w, STR("podsRequestedResources"), &one);
    show_holding(w, &h);
    jw_member_i64(w, STR("runningPods"), h.running);
    jw_key(w, STR("requestedPods"));
    jw_object_begin(w);
    jw_member_i64(w, STR("number"), wl->spec.pods);
    jw_object_end(w);
}

static void show_runai_workload(struct call *c, struct jw *w, const struct workload *wl, bool whole)
{
    bool stops = wl->kind != WORKLOAD_INFERENCE;
    struct str reason = phase_reason(wl);
    jw_object_begin(w);
    show_uuid(w, STR("id"), wl->id);
    jw_member_string(w, STR("name"), wl->name);
    jw_member_string(w, STR("type"), kind_type(wl->kind));
    jw_member_string(w, STR("category"), kind_category(wl->kind));
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
        jw_member_string(w, STR("distributedFramework"), framework_word(wl->spec.framework));
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

static void get(struct call *c)
{
    const struct workload *wl = path_workload(c);
    struct jw w;
    if (wl != NULL) {
        call_begin(c, &w);
        show_runai_workload(c, &w, wl, true);
        call_send(c, 200);
    }
}

/* ---- lists ---- */

enum workload_column {
    COL_TYPE,
    COL_NAME,
    COL_CLUSTER,
    COL_PROJECT_ID,
    COL_PROJECT,
    COL_DEPARTMENT_ID,
    COL_DEPARTMENT,
    COL_CREATED,
    COL_DELETED,
    COL_AUTHOR,
    COL_PHASE,
    COL_COMPLETED,
    COL_POOL,
    COL_FRAMEWORK,
    COL_GPUS,
    COL_PHASE_UPDATED,
    COL_CATEGORY,
    COL_PENDING,
    COL_RUNNING,
    COL_PRIORITY,
    COL_PRIORITY_CLASS,
    COL_IDLE,
    COL_IDLE_ALLOCATED,
    COL_GUARANTEED,
    COL_APP_ID,
    COL_APP_NAME,
};
static const struct column columns[] = {
    [COL_TYPE] = {"type",                    COLUMN_TEXT  },
    [COL_NAME] = {"name",                    COLUMN_TEXT  },
    [COL_CLUSTER] = {"clusterId",               COLUMN_TEXT  },
    [COL_PROJECT_ID] = {"projectId",               COLUMN_TEXT  },
    [COL_PROJECT] = {"projectName",             COLUMN_TEXT  },
    [COL_DEPARTMENT_ID] = {"departmentId",            COLUMN_TEXT  },
    [COL_DEPARTMENT] = {"departmentName",          COLUMN_TEXT  },
    [COL_CREATED] = {"createdAt",               COLUMN_TIME  },
    [COL_DELETED] = {"deletedAt",               COLUMN_TIME  },
    [COL_AUTHOR] = {"submittedBy",             COLUMN_TEXT  },
    [COL_PHASE] = {"phase",                   COLUMN_TEXT  },
    [COL_COMPLETED] = {"completedAt",             COLUMN_TIME  },
    [COL_POOL] = {"nodepool",                COLUMN_TEXT  },
    [COL_FRAMEWORK] = {"distributedFramework",    COLUMN_TEXT  },
    [COL_GPUS] = {"allocatedGPU",            COLUMN_NUMBER},
    [COL_PHASE_UPDATED] = {"phaseUpdatedAt",          COLUMN_TIME  },
    [COL_CATEGORY] = {"category",                COLUMN_TEXT  },
    [COL_PENDING] = {"totalPendingTimeSeconds", COLUMN_NUMBER},
    [COL_RUNNING] = {"totalRunningTimeSeconds", COLUMN_NUMBER},
    [COL_PRIORITY] = {"priority",                COLUMN_NUMBER},
    [COL_PRIORITY_CLASS] = {"priorityClassName",       COLUMN_TEXT  },
    [COL_IDLE] = {"idleGpus",                COLUMN_NUMBER},
    [COL_IDLE_ALLOCATED] = {"idleAllocatedGpus",       COLUMN_NUMBER},
    [COL_GUARANTEED] = {"guaranteedRuntimeEndsAt", COLUMN_TIME  },
    [COL_APP_ID] = {"aiApplicationId",         COLUMN_TEXT  },
    [COL_APP_NAME] = {"aiApplicationName",       COLUMN_TEXT  },
};
#define SORT_WORDS                                                                           \
    "'type'|'name'|'clusterId'|'projectId'|'projectName'|'departmentId'|'departmentName'|"   \
    "'createdAt'|'deletedAt'|'submittedBy'|'phase'|'completedAt'|'nodepool'|"                \
    "'distributedFramework'|'allocatedGPU'|'idleGpus'|'idleAllocatedGpus'|'phaseUpdatedAt'|" \
    "'category'|'priority'|'totalPendingTimeSeconds'|'totalRunningTimeSeconds'|"             \
    "'priorityClassName'|'guaranteedRuntimeEndsAt'|'aiApplicationId'|'aiApplicationName'"

/* What is to be listed: those that are deleted, or the others. */
struct shelf {
    struct call *c;
    uint32_t *rows; /* in state.workloads */
    uint32_t count;
};

static const struct workload *on_shelf(void *ctx, uint32_t row)
{
    const struct shelf *s = ctx;
    return &state_of(s->c)->workloads[s->rows[row]];
}

static struct str department_of(const struct call *c, const struct workload *wl)
{
    const struct project *p = show_find_project(plan_of(c), wl->project);
    return p != NULL ? p->department : (struct str){0};
}

static struct str department_id_of(const struct call *c, const struct workload *wl)
{
    struct str name = department_of(c, wl);
    for (uint32_t i = 0; i < plan_of(c)->departments_count; i++) {
        if (str_eq(plan_of(c)->departments[i].name, name)) {
            return arena_printf(c->arena, "%u", plan_of(c)->departments[i].id);
        }
    }
    return (struct str){0};
}

static struct str project_id_of(const struct call *c, const struct workload *wl)
{
    const struct project *p = show_find_project(plan_of(c), wl->project);
    return p != NULL ? arena_printf(c->arena, "%u", p->id) : (struct str){0};
}

static struct cell workload_cell(void *ctx, uint32_t row, uint32_t column)
{
    const struct shelf *s = ctx;
    const struct call *c = s->c;
    const struct workload *wl = on_shelf(ctx, row);
    bool deleted = workload_is_deleted(wl);
    switch ((enum workload_column)column) {
    case COL_TYPE:
        return cell_text(kind_type(wl->kind));
    case COL_NAME:
        return cell_text(wl->name);
    case COL_CLUSTER:
        return cell_text(cluster_id_text(c));
    case COL_PROJECT_ID:
        return cell_text(project_id_of(c, wl));
    case COL_PROJECT:
        return cell_text(wl->project);
    case COL_DEPARTMENT_ID:
        return cell_text(department_id_of(c, wl));
    case COL_DEPARTMENT:
        return cell_text(department_of(c, wl));
    case COL_CREATED:
        return cell_time(wl->created_ms);
    case COL_DELETED:
        return cell_time(deleted ? wl->end_ms : 0);
    case COL_AUTHOR:
        return cell_text(wl->author);
    case COL_PHASE:
        return cell_text(workload_phase(wl));
    case COL_COMPLETED:
        return cell_time(deleted ? 0 : wl->end_ms);
    case COL_POOL:
        return cell_text(workload_pool(wl));
    case COL_FRAMEWORK:
        return cell_text(framework_word(wl->spec.framework));
    case COL_GPUS:
        return cell_number(holding_of(c, wl).share * 1000 / DEVICE_SHARE);
    case COL_PHASE_UPDATED:
        return cell_time(changed_ms(wl));
    case COL_CATEGORY:
        return cell_text(kind_category(wl->kind));
    case COL_PENDING:
        return cell_number(wl->pending_ms);
    case COL_RUNNING:
        return cell_number(wl->run_ms);
    case COL_PRIORITY:
        return cell_number(wl->spec.priority * 1000);
    case COL_PRIORITY_CLASS:
        return cell_text(priority_word(wl->spec.priority));
    case COL_IDLE:
    case COL_IDLE_ALLOCATED:
    case COL_GUARANTEED:
    case COL_APP_ID:
    case COL_APP_NAME:
        break;
    }
    return CELL_ABSENT;
}

static struct str workload_name(void *ctx, uint32_t row)
{
    return on_shelf(ctx, row)->name;
}

static struct list workload_list(struct call *c, struct shelf *shelf)
{
    const struct state *st = state_of(c);
    bool deleted = body_bool(c->args, STR("deleted"), false);
    *shelf = (struct shelf){.c = c, .rows = ARENA_ARRAY(c->arena, uint32_t, st->workloads_count)};
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        if (workload_is_deleted(&st->workloads[i]) == deleted &&
            sight_workload(call_sight(c), &st->workloads[i])) {
            shelf->rows[shelf->count++] = i;
        }
    }
    return (struct list){.c = c,
                         .columns = columns,
                         .columns_count = COUNT_OF(columns),
                         .cell = workload_cell,
                         .name = workload_name,
                         .ctx = shelf,
                         .rows_count = shelf->count};
}

static void list(struct call *c)
{
    struct shelf shelf;
    struct list l = workload_list(c, &shelf);
    struct jw w;
    if (!list_select(&l)) {
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    list_next(&l, &w);
    jw_key(&w, STR("workloads"));
    jw_array_begin(&w);
    for (uint32_t i = l.first; i < l.end; i++) {
        show_runai_workload(c, &w, on_shelf(&shelf, l.rows[i]), false);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void count(struct call *c)
{
    struct shelf shelf;
    struct list l = workload_list(c, &shelf);
    list_count(&l);
}

/* ---- telemetry ---- */

struct telemetry_row {
    struct telemetry_group groups[8];
    uint32_t groups_count;
    int64_t milli;
};

static void group_by(const struct call *c, struct telemetry_row *r, const char *word,
                     struct str value, struct str name)
{
    struct str key = str_from_c(word);
    if (telemetry_by(c, key)) {
        r->groups[r->groups_count++] = (struct telemetry_group){key, value, name};
    }
}

static struct telemetry_row row_of(const struct call *c, const struct workload *wl)
{
    struct telemetry_row r = {0};
    struct str department = department_of(c, wl);
    group_by(c, &r, "ClusterId", cluster_id_text(c), state_of(c)->cluster_name);
    group_by(c, &r, "DepartmentId", department_id_of(c, wl), department);
    group_by(c, &r, "ProjectId", project_id_of(c, wl), wl->project);
    group_by(c, &r, "Type", kind_type(wl->kind), kind_type(wl->kind));
    group_by(c, &r, "CurrentNodepools", workload_pool(wl), workload_pool(wl));
    group_by(c, &r, "Phase", workload_phase(wl), workload_phase(wl));
    group_by(c, &r, "Category", kind_category(wl->kind), kind_category(wl->kind));
    return r;
}

static struct str row_key(const struct call *c, const struct telemetry_row *r)
{
    struct str key = {0};
    for (uint32_t i = 0; i < r->groups_count; i++) {
        key = arena_printf(c->arena, STR_FMT "/" STR_FMT, STR_ARG(key),
                           STR_ARG(r->groups[i].value));
    }
    return key;
}

static bool telemetry_counts(struct call *c, const struct workload *wl)
{
    const struct doc *phases = body_get(c->args, STR("filterByPhases"));
    struct str pool = body_str(c->args, STR("nodepoolName"));
    struct str department = body_str(c->args, STR("departmentId"));
    bool ok = !workload_is_deleted(wl) && (pool.len == 0 || str_eq(pool, workload_pool(wl))) &&
              (department.len == 0 || str_eq(department, department_id_of(c, wl)));
    bool in = phases == NULL;
    for (const struct doc *d = phases != NULL ? phases->child : NULL; d != NULL; d = d->next) {
        in = in || str_eq(d->text, workload_phase(wl));
    }
    return ok && in && sight_workload(call_sight(c), wl);
}

static void telemetry(struct call *c)
{
    const struct state *st = state_of(c);
    struct telemetry t;
    ARRAY(struct telemetry_row) rows = {0};
    struct map by_key;
    map_init(&by_key, c->arena);
    telemetry_begin(&t, c);
    bool gpus = str_eq(t.type, STR("GPU_ALLOCATION"));
    bool known = gpus || str_eq(t.type, STR("WORKLOADS_COUNT"));
    for (uint32_t i = 0; known && i < st->workloads_count; i++) {
        const struct workload *wl = &st->workloads[i];
        if (!telemetry_counts(c, wl)) {
            continue;
        }
        struct telemetry_row r = row_of(c, wl);
        struct str key = row_key(c, &r);
        uint32_t at;
        if (!map_get(&by_key, key, &at)) {
            at = rows.count;
            map_put(&by_key, key, at);
            *ARRAY_PUSH(c->arena, &rows) = r;
        }
        rows.items[at].milli += gpus ? holding_of(c, wl).share * 1000 / DEVICE_SHARE : 1000;
    }
    if (known && rows.count == 0 && body_get(c->args, STR("groupBy")) == NULL) {
        telemetry_value(&t, 0, NULL, 0);
    }
    for (uint32_t i = 0; i < rows.count; i++) {
        telemetry_value(&t, rows.items[i].milli, rows.items[i].groups, rows.items[i].groups_count);
    }
    telemetry_end(&t);
}

/* ---- metrics ---- */

/* One workload, or (pod < pods_count) one of its pods. */
struct measured {
    const struct workload *wl;
    uint32_t pod;
};

static bool is_measured(struct str type)
{
    static const struct str known[] = {
        STRS("GPU_ALLOCATION"),         STRS("POD_COUNT"),
        STRS("RUNNING_POD_COUNT"),      STRS("CPU_REQUEST_CORES"),
        STRS("CPU_LIMIT_CORES"),        STRS("CPU_MEMORY_REQUEST_BYTES"),
        STRS("CPU_MEMORY_LIMIT_BYTES"), STRS("GPU_MEMORY_REQUEST_BYTES"),
    };
    for (size_t i = 0; i < COUNT_OF(known); i++) {
        if (str_eq(known[i], type)) {
            return true;
        }
    }
    return false;
}

/* Whether the pod held its place then, by the events: 1, 0, or -1: they do not reach back. */
static int held_then(const struct workload *wl, uint32_t pod, int64_t at_ms, bool running)
{
    int state = wl->events_count > 0 && wl->events[0].kind == EVENT_SUBMITTED ? 0 : -1;
    for (uint32_t i = 0; i < wl->events_count && wl->events[i].at_ms <= at_ms; i++) {
        const struct event *e = &wl->events[i];
        bool ours = uuid_eq(e->pod, wl->pods[pod].id);
        if (ours && (e->kind == EVENT_STARTED || (e->kind == EVENT_SCHEDULED && !running))) {
            state = 1;
        } else if (ours && (e->kind == EVENT_EXITED || e->kind == EVENT_EVICTED ||
                            e->kind == EVENT_START_FAILED || e->kind == EVENT_NODE_LOST)) {
            state = 0;
        }
    }
    return state;
}

static bool sum_then(const struct measured *m, int64_t at_ms, bool gpus, int64_t *milli)
{
    *milli = 0;
    for (uint32_t i = 0; i < m->wl->pods_count; i++) {
        int held = held_then(m->wl, i, at_ms, !gpus);
        if (m->pod < m->wl->pods_count && i != m->pod) {
            continue;
        }
        if (held < 0) {
            return false;
        }
        *milli += held == 0 ? 0 : gpus ? gpu_milli(workload_pod(m->wl, i)) : 1000;
    }
    return true;
}

static bool value(const struct metrics *m, const struct sample *s, int64_t *milli)
{
    const struct measured *what = m->ctx;
    const struct workload *wl = what->wl;
    struct request r = request_of(wl);
    bool live = s->to_ms >= wl->created_ms && (wl->end_ms == TIME_NEVER || s->to_ms < wl->end_ms);
    if (!live || !is_measured(s->type)) {
        return false;
    }
    if (str_eq(s->type, STR("GPU_ALLOCATION"))) {
        return sum_then(what, s->to_ms, true, milli);
    }
    if (str_eq(s->type, STR("RUNNING_POD_COUNT"))) {
        return sum_then(what, s->to_ms, false, milli);
    }
    int64_t v = str_eq(s->type, STR("POD_COUNT"))                  ? wl->spec.pods * 1000
                : str_eq(s->type, STR("CPU_REQUEST_CORES"))        ? r.cpu_milli
                : str_eq(s->type, STR("CPU_LIMIT_CORES"))          ? r.cpu_limit
                : str_eq(s->type, STR("CPU_MEMORY_REQUEST_BYTES")) ? r.memory * 1000
                : str_eq(s->type, STR("CPU_MEMORY_LIMIT_BYTES"))   ? r.memory_limit * 1000
                                                                   : r.gpu_bytes * 1000;
    *milli = v;
    return v >= 0;
}

static void metrics(struct call *c)
{
    const struct workload *wl = path_workload(c);
    if (wl != NULL) {
        struct measured what = {wl, wl->pods_count};
        metrics_answer(
            &(struct metrics){.c = c, .ctx = &what, .value = value, .measured = is_measured});
    }
}

/* ---- pods ---- */

struct pod_place {
    uint32_t workload, pod;
};
struct pod_shelf {
    struct call *c;
    struct pod_place *rows;
    uint32_t count;
};

static struct str pod_phase(const struct pod *p)
{
    static const struct str words[] = {
        [POD_PENDING] = STRS("Pending"),     [POD_BINDING] = STRS("Pending"),
        [POD_RUNNING] = STRS("Running"),     [POD_RELEASING] = STRS("Running"),
        [POD_SUCCEEDED] = STRS("Succeeded"), [POD_FAILED] = STRS("Failed"),
    };
    return words[p->phase];
}

static struct str pod_pool(const struct call *c, const struct pod *p)
{
    const struct state *st = state_of(c);
    for (uint32_t n = 0; p->node.len > 0 && n < st->nodes_count; n++) {
        if (str_eq(st->nodes[n].name, p->node)) {
            return engine_pool_of(c->api->config.engine, &st->nodes[n]);
        }
    }
    return (struct str){0};
}

static void show_text_or_null(struct jw *w, struct str key, struct str text)
{
    jw_key(w, key);
    if (text.len > 0) {
        jw_string(w, text);
    } else {
        jw_null(w);
    }
}

static void show_pod(struct call *c, struct jw *w, const struct workload *wl, uint32_t pod)
{
    const struct pod *p = &wl->pods[pod];
    const struct pod_spec *spec = workload_pod(wl, pod);
    struct request r = {0};
    struct holding h = {0};
    add_request(&r, spec, 1);
    add_holding(c, &h, wl, pod);
    bool deleted = workload_is_deleted(wl);
    jw_object_begin(w);
    show_uuid(w, STR("id"), p->id);
    jw_member_string(w, STR("name"), arena_printf(c->arena, STR_FMT "-%u", STR_ARG(wl->name), pod));
    show_uuid(w, STR("workloadId"), wl->id);
    jw_member_string(w, STR("workloadName"), wl->name);
    jw_member_i64(w, STR("tenantId"), TENANT_ID);
    show_cluster_id(c, w, STR("clusterId"));
    jw_member_string(w, STR("projectId"), project_id_of(c, wl));
    jw_member_string(w, STR("projectName"), wl->project);
    jw_member_string(w, STR("priorityClassName"), priority_word(wl->spec.priority));
    show_text_or_null(w, STR("nodeName"), p->node);
    show_text_or_null(w, STR("currentNodePool"), pod_pool(c, p));
    show_strings(w, STR("requestedNodePools"), wl->spec.pools, wl->spec.pools_count);
    jw_member_string(w, STR("k8sPhase"), pod_phase(p));
    show_moment(w, STR("createdAt"), wl->created_ms);
    show_time(w, STR("completedAt"), num_max_i64(p->end_ms, 0));
    show_moment(w, STR("k8sPhaseUpdatedAt"),
                num_max_i64(num_max_i64(p->start_ms, p->end_ms), wl->created_ms));
    show_moment(w, STR("updatedAt"),
                num_max_i64(num_max_i64(p->start_ms, p->end_ms), wl->created_ms));
    show_time(w, STR("deletedAt"), deleted ? wl->end_ms : 0);
    jw_key(w, STR("containers"));
    jw_array_begin(w);
    jw_object_begin(w);
    jw_member_string(w, STR("name"), wl->name);
    jw_member_string(w, STR("image"), spec->image);
    show_time(w, STR("startedAt"), num_max_i64(p->start_ms, 0));
    jw_object_end(w);
    jw_array_end(w);
    show_request(w, STR("requestedResources"), &r);
    show_holding(w, &h);
    jw_key(w, STR("tolerations"));
    jw_array_begin(w);
    jw_array_end(w);
    jw_object_end(w);
}

static const struct column pod_columns[] = {
    {"clusterId",       COLUMN_TEXT},
    {"workloadId",      COLUMN_TEXT},
    {"revisionId",      COLUMN_TEXT},
    {"nodeName",        COLUMN_TEXT},
    {"currentNodepool", COLUMN_TEXT},
    {"createdAt",       COLUMN_TIME},
    {"completedAt",     COLUMN_TIME},
    {"deletedAt",       COLUMN_TIME},
};
#define POD_SORT_WORDS                                                                \
    "'clusterId'|'workloadId'|'revisionId'|'nodeName'|'currentNodepool'|'createdAt'|" \
    "'completedAt'|'deletedAt'"

static struct cell pod_cell(void *ctx, uint32_t row, uint32_t column)
{
    enum { CLUSTER, WORKLOAD, REVISION, NODE, POOL, CREATED, COMPLETED, DELETED };
    const struct pod_shelf *s = ctx;
    const struct workload *wl = &state_of(s->c)->workloads[s->rows[row].workload];
    const struct pod *p = &wl->pods[s->rows[row].pod];
    switch (column) {
    case CLUSTER:
        return cell_text(cluster_id_text(s->c));
    case WORKLOAD:
        return cell_text(uuid_str(wl->id, s->c->arena));
    case NODE:
        return cell_text(p->node);
    case POOL:
        return cell_text(pod_pool(s->c, p));
    case CREATED:
        return cell_time(wl->created_ms);
    case COMPLETED:
        return cell_time(p->end_ms);
    case DELETED:
        return cell_time(workload_is_deleted(wl) ? wl->end_ms : 0);
    case REVISION:
    default:
        return CELL_ABSENT;
    }
}

static struct str pod_name(void *ctx, uint32_t row)
{
    const struct pod_shelf *s = ctx;
    return state_of(s->c)->workloads[s->rows[row].workload].name;
}

/* All pods, or those of one workload. */
static struct list pod_list(struct call *c, struct pod_shelf *shelf, const struct workload *only)
{
    const struct state *st = state_of(c);
    bool deleted = body_bool(c->args, STR("deleted"), false);
    uint32_t most = 0;
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        most += st->workloads[i].pods_count;
    }
    *shelf = (struct pod_shelf){.c = c, .rows = ARENA_ARRAY(c->arena, struct pod_place, most)};
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        const struct workload *wl = &st->workloads[i];
        bool in = only != NULL
                      ? wl == only
                      : workload_is_deleted(wl) == deleted && sight_workload(call_sight(c), wl);
        for (uint32_t k = 0; in && k < wl->pods_count; k++) {
            shelf->rows[shelf->count++] = (struct pod_place){i, k};
        }
    }
    return (struct list){.c = c,
                         .columns = pod_columns,
                         .columns_count = COUNT_OF(pod_columns),
                         .cell = pod_cell,
                         .name = pod_name,
                         .ctx = shelf,
                         .rows_count = shelf->count};
}

static void answer_pods(struct call *c, const struct workload *only)
{
    struct pod_shelf shelf;
    struct list l = pod_list(c, &shelf, only);
    struct jw w;
    if (!list_select(&l)) {
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    list_next(&l, &w);
    jw_key(&w, STR("pods"));
    jw_array_begin(&w);
    for (uint32_t i = l.first; i < l.end; i++) {
        const struct pod_place *at = &shelf.rows[l.rows[i]];
        show_pod(c, &w, &state_of(c)->workloads[at->workload], at->pod);
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void all_pods(struct call *c)
{
    answer_pods(c, NULL);
}

static void count_pods(struct call *c)
{
    struct pod_shelf shelf;
    struct list l = pod_list(c, &shelf, NULL);
    list_count(&l);
}

static void pods(struct call *c)
{
    const struct workload *wl = path_workload(c);
    if (wl != NULL) {
        answer_pods(c, wl);
    }
}

static void pod_metrics(struct call *c)
{
    const struct workload *wl = path_workload(c);
    struct uuid id;
    bool ok = uuid_parse(c->segments.items[1], &id);
    for (uint32_t i = 0; wl != NULL && ok && i < wl->pods_count; i++) {
        if (uuid_eq(wl->pods[i].id, id)) {
            struct measured what = {wl, i};
            metrics_answer(
                &(struct metrics){.c = c, .ctx = &what, .value = value, .measured = is_measured});
            return;
        }
    }
    if (wl != NULL) {
        fail_unknown(c, "pod", c->segments.items[1]);
    }
}

/* ---- the rows ---- */

#define PHASES                                                                                  \
    "'Creating'|'Initializing'|'Resuming'|'Pending'|'Deleting'|'Running'|'Updating'|'Stopped'|" \
    "'Stopping'|'Degraded'|'Failed'|'Completed'|'Terminating'|'Unknown'"
#define WORKLOAD_MEMBERS                                                                         \
    "id* uuid, name* str, type* str, category* str, tenantId* int, clusterId* uuid, projectId* " \
    "str, projectName* str, departmentId* str, departmentName* str, namespace* str, source* "    \
    "'CLI'|'Control-plane'|'Other', submittedBy str, priority* int?, priorityClassName* str, "   \
    "preemptible bool?, phase* " PHASES ", phaseMessage str, phaseReason "                       \
    "'NonPreemptibleOverQuota'|'OverLimit', k8sPhase* str, conditions* [obj], createdAt* ts, "   \
    "updatedAt* ts, deletedAt* ts?, completedAt ts?, phaseUpdatedAt* ts, k8sPhaseUpdatedAt* ts," \
    "totalPendingTimeSeconds int?, totalRunningTimeSeconds int?, workloadRequestedResources "    \
    "WorkloadRequestResources, podsRequestedResources WorkloadRequestResources,"                 \
    "allocatedResources WorkloadAllocatedResources, runningPods* int, requestedPods "            \
    "RequestedPods, requestedNodePools [str], currentNodePools [str], distributedFramework str," \
    "images [str], command str, arguments str, environmentVariables map<str>, actionsSupport "   \
    "ActionsSupport"

static const struct schema_row schemas[] = {
    {"Phase",                      PHASES                                                               },
    {"Workload",                   WORKLOAD_MEMBERS                                                     },
    {"WorkloadDetailed",           WORKLOAD_MEMBERS ", pendingSchedulingMessages "
                                          "[PendingSchedulingMessage]"          },
    {"PendingSchedulingMessage",
     "nodePool* str, phaseReason* 'NonPreemptibleOverQuota'|'OverLimit', reason* str, orgType "
     "'PROJECT'|'DEPARTMENT', userMessage str?"                                                         },
    {"WorkloadRequestResources",
     "gpuRequestType 'portion'|'memory'?, gpu RequestResourceCores, gpuMemory "
     "RequestResourceQuantity, cpu RequestResourceCores, cpuMemory RequestResourceQuantity"             },
    {"RequestResourceCores",       "limit num?, request num?"                                           },
    {"RequestResourceQuantity",    "limit qty?, request qty?"                                           },
    {"WorkloadAllocatedResources", "gpu num?, gpuMemory qty?, cpu num?, cpuMemory qty?"                 },
    {"RequestedPods",              "number int?, min int?, max int?, parallelism int?, completions int?"},
    {"ActionsSupport",             "delete bool, suspend bool"                                          },
    {"WorkloadList",               "next int, workloads* [Workload]"                                    },
    {"Pod",                        "id* uuid, name* str, workloadId* uuid, workloadName str, tenantId* int, clusterId* "
            "uuid, projectId str, projectName str, priorityClassName* str, nodeName str?, "
            "currentNodePool str?, requestedNodePools [str], k8sPhase* str, createdAt* ts, "
            "completedAt ts?, k8sPhaseUpdatedAt* ts, updatedAt* ts, deletedAt ts?, containers* "
            "[{name* str, image* str, startedAt ts?}], requestedResources "
            "WorkloadRequestResources, allocatedResources WorkloadAllocatedResources, tolerations "
            "[obj]"                                                                          },
    {"PodList",                    "next int, pods* [Pod]"                                              },
    {"MetricsCompositeResponse",   "measurements* [MeasurementResponse], histogram [obj]"               },
};

#define P "/api/v1/workloads"
#define METRIC_WORDS                                                                           \
    "'GPU_UTILIZATION'|'GPU_MEMORY_USAGE_BYTES'|'GPU_MEMORY_REQUEST_BYTES'|'CPU_USAGE_CORES'|" \
    "'CPU_REQUEST_CORES'|'CPU_LIMIT_CORES'|'CPU_MEMORY_USAGE_BYTES'|"                          \
    "'CPU_MEMORY_REQUEST_BYTES'|'CPU_MEMORY_LIMIT_BYTES'|'POD_COUNT'|'RUNNING_POD_COUNT'|"     \
    "'GPU_ALLOCATION'|'NIM_NUM_REQUESTS_RUNNING'|'NIM_NUM_REQUESTS_WAITING'|"                  \
    "'NIM_NUM_REQUEST_MAX'|'NIM_REQUEST_SUCCESS_TOTAL'|'NIM_REQUEST_FAILURE_TOTAL'|"           \
    "'NIM_GPU_CACHE_USAGE_PERC'|'NIM_TIME_TO_FIRST_TOKEN_SECONDS'|"                            \
    "'NIM_E2E_REQUEST_LATENCY_SECONDS'|'NIM_TIME_TO_FIRST_TOKEN_SECONDS_PERCENTILES'|"         \
    "'NIM_E2E_REQUEST_LATENCY_SECONDS_PERCENTILES'|'NVLINK_BANDWIDTH_TOTAL'"
#define POD_METRIC_WORDS                                                                  \
    "'GPU_UTILIZATION_PER_GPU'|'GPU_UTILIZATION'|'GPU_MEMORY_USAGE_BYTES_PER_GPU'|"       \
    "'GPU_MEMORY_USAGE_BYTES'|'CPU_USAGE_CORES'|'CPU_MEMORY_USAGE_BYTES'|"                \
    "'GPU_GRAPHICS_ENGINE_ACTIVITY_PER_GPU'|'GPU_SM_ACTIVITY_PER_GPU'|"                   \
    "'GPU_SM_OCCUPANCY_PER_GPU'|'GPU_TENSOR_ACTIVITY_PER_GPU'|"                           \
    "'GPU_FP64_ENGINE_ACTIVITY_PER_GPU'|'GPU_FP32_ENGINE_ACTIVITY_PER_GPU'|"              \
    "'GPU_FP16_ENGINE_ACTIVITY_PER_GPU'|'GPU_MEMORY_BANDWIDTH_UTILIZATION_PER_GPU'|"      \
    "'GPU_NVLINK_TRANSMITTED_BANDWIDTH_PER_GPU'|'GPU_NVLINK_RECEIVED_BANDWIDTH_PER_GPU'|" \
    "'GPU_PCIE_TRANSMITTED_BANDWIDTH_PER_GPU'|'GPU_PCIE_RECEIVED_BANDWIDTH_PER_GPU'|"     \
    "'GPU_SWAP_MEMORY_BYTES_PER_GPU'|'NVLINK_BANDWIDTH_TOTAL'"
#define DELETED_ARG "deleted bool = false"

static const struct route routes[] = {
    {"GET", P,                                                "get_workloads",            list,
     DELETED_ARG ", " FILTER_ARGS ", sortBy " SORT_WORDS ", " ORDER_ARG ", " PAGE_ARGS
                 ", search str",                                                                                                                   NULL, 200, "WorkloadList",             "Workloads of all kinds",    0, "read workloads"                       },
    {"GET", P "/count",                                       "count_workloads",          count,      DELETED_ARG ", " FILTER_ARGS ", search str", NULL,
     200,                                                                                                                                                     "CountResponse",            "How many workloads",        0, "read workloads"                       },
    {"GET", P "/telemetry",                                   "get_workloads_telemetry",  telemetry,
     "clusterId uuid, nodepoolName str, departmentId str, groupBy "
     "['ClusterId'|'DepartmentId'|'ProjectId'|'Type'|'CurrentNodepools'|'Phase'|'Category'],"
     "telemetryType* 'WORKLOADS_COUNT'|'GPU_ALLOCATION'|'PENDING_TIME_DISTRIBUTION', "
     "filterByPhases [Phase]",                                                                                                                     NULL, 200, "TelemetryResponse",        "Workloads in numbers, now", 0, "read workloads"                       },
    {"GET", P "/{workloadId:uuid}",                           "get_workload",             get,        NULL,                                        NULL, 200, "WorkloadDetailed",
     "One workload",                                                                                                                                                                                                   0, "read workloads at workload workloadId"},
    {"GET", P "/{workloadId:uuid}/metrics",                   "get_workload_metrics",     metrics,
     METRIC_ARGS(METRIC_WORDS),                                                                                                                    NULL, 200, "MetricsCompositeResponse",
     "What a workload asked for and held over time",                                                                                                                                                                   0, "read workloads at workload workloadId"},
    {"GET", P "/pods",                                        "list_pods",                all_pods,
     DELETED_ARG ", " FILTER_ARGS ", sortBy " POD_SORT_WORDS ", " ORDER_ARG ", " PAGE_ARGS
                 ", verbosity 'brief'|'full' = brief, completed str, search str",                                                                  NULL, 200, "PodList",                  "Pods",                      0, "read workloads"                       },
    {"GET", P "/pods/count",                                  "count_pods",               count_pods, DELETED_ARG ", " FILTER_ARGS ", search str",
     NULL,                                                                                                                                               200, "CountResponse",            "How many pods",             0, "read workloads"                       },
    {"GET", P "/{workloadId:uuid}/pods",                      "get_workload_pods",        pods,
     DELETED_ARG ", " PAGE_ARGS ", search str",                                                                                                    NULL, 200, "PodList",                  "Pods of a workload",        0,
     "read workloads at workload workloadId"                                                                                                                                                                                                                     },
    {"GET", P "/{workloadId:uuid}/pods/{podId:uuid}/metrics", "get_workload_pod_metrics",
     pod_metrics,                                                                                     METRIC_ARGS(POD_METRIC_WORDS),               NULL, 200, "MetricsCompositeResponse",
     "What a pod used over time",                                                                                                                                                                                      0, "read workloads at workload workloadId"},
};

const struct route_group group_workloads = ROUTE_GROUP("Workloads", routes, schemas);

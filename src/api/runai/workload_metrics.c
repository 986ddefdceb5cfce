// SPDX-License-Identifier: Apache-2.0
// What workloads and pods asked for and held over time, by what weir wrote down.
#include "api/runai/amounts.h"
#include "api/runai/series.h"
#include "api/runai/workloads.h"

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
        *milli += held == 0 ? 0 : gpus ? amounts_gpu_milli(workload_pod(m->wl, i)) : 1000;
    }
    return true;
}

static bool value(const struct metrics *m, const struct sample *s, int64_t *milli)
{
    const struct measured *what = m->ctx;
    const struct workload *wl = what->wl;
    struct request r = amounts_request(wl);
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

/* The pod of the path: its place, or pods_count: answered. */
static uint32_t path_pod(struct call *c, const struct workload *wl)
{
    struct uuid id;
    bool ok = uuid_parse(c->segments.items[1], &id);
    for (uint32_t i = 0; ok && i < wl->pods_count; i++) {
        if (uuid_eq(wl->pods[i].id, id)) {
            return i;
        }
    }
    fail_unknown(c, "pod", c->segments.items[1]);
    return wl->pods_count;
}

static void pod_metrics(struct call *c)
{
    const struct workload *wl = path_workload(c);
    struct measured what = {wl, wl != NULL ? path_pod(c, wl) : 0};
    if (wl != NULL && what.pod < wl->pods_count) {
        metrics_answer(
            &(struct metrics){.c = c, .ctx = &what, .value = value, .measured = is_measured});
    }
}

/* ---- of inference ---- */

/* Requests do not go through weir. */
static bool measures_no_requests(struct str type)
{
    (void)type;
    return false;
}

static bool no_value(const struct metrics *m, const struct sample *s, int64_t *milli)
{
    (void)m;
    (void)s;
    *milli = 0;
    return false;
}

static void answer_requests(struct call *c)
{
    metrics_answer(&(struct metrics){.c = c, .value = no_value, .measured = measures_no_requests});
}

static void inference_metrics(struct call *c)
{
    const struct workload *wl = path_workload_of(c, WORKLOAD_INFERENCE);
    if (wl != NULL) {
        answer_requests(c);
    }
}

static void inference_pod_metrics(struct call *c)
{
    const struct workload *wl = path_workload_of(c, WORKLOAD_INFERENCE);
    if (wl != NULL && path_pod(c, wl) < wl->pods_count) {
        answer_requests(c);
    }
}

/* ---- the rows ---- */

static const struct schema_row schemas[] = {
    {"MetricsCompositeResponse", "measurements* [MeasurementResponse], histogram [obj]"},
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
#define POD_METRIC_WORDS                                                                \
    "'GPU_UTILIZATION_PER_GPU'|'GPU_UTILIZATION'|'GPU_MEMORY_USAGE_BYTES_PER_GPU'|"     \
    "'GPU_MEMORY_USAGE_BYTES'|'CPU_USAGE_CORES'|'CPU_MEMORY_USAGE_BYTES'|"              \
    "'GPU_GRAPHICS_ENGINE_ACTIVITY_PER_GPU'|'GPU_SM_ACTIVITY_PER_GPU'|"                 \
    "'GPU_SM_OCCUPANCY_PER_GPU'|'GPU_TENSOR_ACTIVITY_PER_GPU'|"                         \
    "'GPU_FP64_ENGINE_ACTIVITY_PER_GPU'|'GPU_FP32_ENGINE_ACTIVITY_PER_GPU'|"            \
    "'GPU_FP16_ENGINE_ACTIVITY_PER_GPU'|'GPU_MEMORY_BANDWIDTH_UTILIZATION_PER_GPU'|"    \
    "'GPU_NVLINK_TRANSMITTED_BANDWIDTH_PER_GPU'|"                                       \
    "'GPU_NVLINK_RECEIVED_BANDWIDTH_PER_GPU'|'GPU_PCIE_TRANSMITTED_BANDWIDTH_PER_GPU'|" \
    "'GPU_PCIE_RECEIVED_BANDWIDTH_PER_GPU'|'GPU_SWAP_MEMORY_BYTES_PER_GPU'|"            \
    "'NIM_NUM_REQUESTS_RUNNING'|'NIM_NUM_REQUESTS_WAITING'|'NIM_NUM_REQUEST_MAX'|"      \
    "'NIM_REQUEST_SUCCESS_TOTAL'|'NIM_REQUEST_FAILURE_TOTAL'|"                          \
    "'NIM_GPU_CACHE_USAGE_PERC'|'NIM_TIME_TO_FIRST_TOKEN_SECONDS'|"                     \
    "'NIM_E2E_REQUEST_LATENCY_SECONDS'|'NIM_TIME_TO_FIRST_TOKEN_SECONDS_PERCENTILES'|"  \
    "'NIM_E2E_REQUEST_LATENCY_SECONDS_PERCENTILES'|'NVLINK_BANDWIDTH_TOTAL'|"           \
    "'NVLINK_BANDWIDTH_TOTAL_PER_GPU'"

static const struct route routes[] = {
    {"GET", P "/{workloadId:uuid}/metrics",                              "get_workload_metrics",           metrics,
     METRIC_ARGS(METRIC_WORDS),                                                                                                                                          NULL, 200, "MetricsCompositeResponse",
     "What a workload asked for and held over time",                                                                                                                                                                                   0, "read workloads at workload workloadId"},
    {"GET", P "/{workloadId:uuid}/pods/{podId:uuid}/metrics",            "get_workload_pod_metrics",
     pod_metrics,                                                                                                                 METRIC_ARGS(POD_METRIC_WORDS),         NULL, 200, "MetricsCompositeResponse",
     "What a pod used over time",                                                                                                                                                                                                      0, "read workloads at workload workloadId"},
    {"GET", P "/inferences/{workloadId:uuid}/metrics",                   "get_inference_workload_metrics",
     inference_metrics,                                                                                                           METRIC_ARGS("'THROUGHPUT'|'LATENCY'"), NULL, 200, "MetricsResponse",
     "Requests of an inference workload over time, which weir does not measure",                                                                                                                                                       0,
     "read inferences at workload workloadId"                                                                                                                                                                                                                                    },
    {"GET", P "/inferences/{workloadId:uuid}/pods/{podId:uuid}/metrics",
     "get_inference_workload_pod_metrics",                                                                 inference_pod_metrics,
     METRIC_ARGS("'THROUGHPUT'|'LATENCY'"),                                                                                                                              NULL, 200, "MetricsResponse",          "The same of one pod", 0,
     "read inferences at workload workloadId"                                                                                                                                                                                                                                    },
};

const struct route_group group_workload_metrics = ROUTE_GROUP("Workloads", routes, schemas);

// SPDX-License-Identifier: Apache-2.0
#include "api/runai/amounts.h"

#include "codec/quantity.h"

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

int64_t amounts_gpu_milli(const struct pod_spec *p)
{
    return p->gpu_portion_share > 0 ? p->gpu_devices * p->gpu_portion_share * 1000 / DEVICE_SHARE
                                    : p->gpu_devices * 1000;
}

void amounts_add_request(struct request *r, const struct pod_spec *p, int64_t pods)
{
    r->by_memory = r->by_memory || p->gpu_memory_bytes > 0;
    r->gpu_milli += p->gpu_memory_bytes > 0 ? 0 : pods * amounts_gpu_milli(p);
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

void amounts_show_request(struct jw *w, struct str key, const struct request *r)
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

struct request amounts_request(const struct workload *wl)
{
    struct request r = {0};
    int64_t others = wl->spec.pods - wl->spec.has_master;
    if (wl->spec.has_master) {
        amounts_add_request(&r, &wl->spec.master, 1);
    }
    amounts_add_request(&r, &wl->spec.pod, others);
    return r;
}

bool amounts_holds(const struct pod *p)
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

void amounts_add_holding(const struct call *c, struct holding *h, const struct workload *wl,
                         uint32_t pod)
{
    const struct pod *p = &wl->pods[pod];
    const struct pod_spec *spec = workload_pod(wl, pod);
    h->running += p->phase == POD_RUNNING;
    if (amounts_holds(p)) {
        h->pods++;
        h->cpu_milli += spec->cpu_milli;
        h->memory_bytes += spec->memory_bytes;
        for (uint32_t d = 0; d < p->devices_count; d++) {
            h->share += p->devices[d].share;
            h->gpu_bytes += device_bytes(state_of(c), &p->devices[d]);
        }
    }
}

struct holding amounts_holding(const struct call *c, const struct workload *wl)
{
    struct holding h = {0};
    for (uint32_t i = 0; i < wl->pods_count; i++) {
        amounts_add_holding(c, &h, wl, i);
    }
    return h;
}

void amounts_show_holding(struct jw *w, const struct holding *h)
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

static const struct schema_row schemas[] = {
    {"WorkloadRequestResources",
     "gpuRequestType 'portion'|'memory'?, gpu RequestResourceCores, gpuMemory "
     "RequestResourceQuantity, cpu RequestResourceCores, cpuMemory RequestResourceQuantity"},
    {"RequestResourceCores",       "limit num?, request num?"                              },
    {"RequestResourceQuantity",    "limit qty?, request qty?"                              },
    {"WorkloadAllocatedResources", "gpu num?, gpuMemory qty?, cpu num?, cpuMemory qty?"    },
};
const struct route_group group_amounts = {NULL, NULL, 0, schemas, COUNT_OF(schemas)};

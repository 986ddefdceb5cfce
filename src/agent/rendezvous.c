// SPDX-License-Identifier: Apache-2.0
// Names and forms are those that the operators of the frameworks set in Kubernetes.
#include "agent/rendezvous.h"

#include "base/check.h"
#include "codec/json.h"

#define ADDRESS       "127.0.0.1"
#define TF_CONFIG_MAX (1 << 20)

static struct str number(struct arena *arena, const char *name, int64_t value)
{
    return arena_printf(arena, "%s=%lld", name, (long long)value);
}

static void tf_addresses(struct jw *w, const struct launch *l, struct str role, uint32_t first,
                         uint32_t end)
{
    char address[32];
    jw_key(w, role);
    jw_array_begin(w);
    for (uint32_t i = first; i < end; i++) {
        jw_string(w,
                  str_format(address, sizeof address, ADDRESS ":%lld", (long long)(l->port + i)));
    }
    jw_array_end(w);
}

/* {"cluster": {"chief": [address], "worker": [addresses]}, "task": {"type", "index"}} */
static struct str tf_config(const struct launch *l, struct arena *arena)
{
    struct buf out;
    struct jw w;
    bool chief = l->pod_index == 0;
    buf_init(&out, TF_CONFIG_MAX);
    buf_str(&out, STR("TF_CONFIG="));
    jw_init(&w, &out, false);
    jw_object_begin(&w);
    jw_key(&w, STR("cluster"));
    jw_object_begin(&w);
    tf_addresses(&w, l, STR("chief"), 0, 1);
    tf_addresses(&w, l, STR("worker"), 1, l->pods_count);
    jw_object_end(&w);
    jw_key(&w, STR("task"));
    jw_object_begin(&w);
    jw_member_string(&w, STR("type"), chief ? STR("chief") : STR("worker"));
    jw_member_i64(&w, STR("index"), chief ? 0 : (int64_t)l->pod_index - 1);
    jw_object_end(&w);
    jw_object_end(&w);
    CHECK(!out.full); /* WORKLOAD_PODS_MAX addresses */
    struct str text = arena_str(arena, buf_view(&out));
    buf_done(&out);
    return text;
}

uint32_t rendezvous_env(const struct launch *l, struct arena *arena, struct str out[RENDEZVOUS_MAX])
{
    uint32_t n = 0;
    switch (l->framework) {
    case FRAMEWORK_NONE:
        break;
    case FRAMEWORK_PYTORCH:
    case FRAMEWORK_XGBOOST:
        out[n++] = STR("MASTER_ADDR=" ADDRESS);
        out[n++] = number(arena, "MASTER_PORT", l->port);
        out[n++] = number(arena, "WORLD_SIZE", l->pods_count);
        out[n++] = number(arena, "RANK", l->pod_index);
        if (l->framework == FRAMEWORK_PYTORCH && l->pods_min > 0 && l->pods_min < l->pods_count) {
            /* elastic: torchrun finds out who is there */
            out[n++] = arena_printf(arena, "PET_NNODES=%u:%u", l->pods_min, l->pods_count);
            out[n++] = STR("PET_RDZV_BACKEND=c10d");
            out[n++] = arena_printf(arena, "PET_RDZV_ENDPOINT=" ADDRESS ":%lld",
                                    (long long)l->port);
        }
        break;
    case FRAMEWORK_TENSORFLOW:
        out[n++] = tf_config(l, arena);
        break;
    case FRAMEWORK_JAX:
        out[n++] = STR("COORDINATOR_ADDRESS=" ADDRESS);
        out[n++] = number(arena, "COORDINATOR_PORT", l->port);
        out[n++] = number(arena, "NUM_PROCESSES", l->pods_count);
        out[n++] = number(arena, "PROCESS_ID", l->pod_index);
        break;
    case FRAMEWORK_MPI: /* the first pod is the launcher, the others the workers */
        out[n++] = number(arena, "RUNAI_MPI_NUM_WORKERS", (int64_t)l->pods_count - 1);
        break;
    }
    return n;
}

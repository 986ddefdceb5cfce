// SPDX-License-Identifier: Apache-2.0
#include "agent/start.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/checkpoint.h"
#include "base/num.h"
#include "io/file.h"

enum { DEVICE_NAME_SHOWN = 100 };

static bool user_allowed(const struct pod_spec *spec, char reason[REASON_MAX])
{
    if (geteuid() == 0) {
        return true;
    }
    if (spec->run_as_uid >= 0 && spec->run_as_uid != (int64_t)geteuid()) {
        (void)snprintf(reason, REASON_MAX,
                       "cannot run as user %lld: weir runs as user %u, and only root may run pods "
                       "as another user",
                       (long long)spec->run_as_uid, geteuid());
        return false;
    }
    if (spec->run_as_gid >= 0 && spec->run_as_gid != (int64_t)getegid()) {
        (void)snprintf(reason, REASON_MAX,
                       "cannot run as group %lld: weir runs as group %u, and only root may run "
                       "pods as another group",
                       (long long)spec->run_as_gid, getegid());
        return false;
    }
    return true;
}

bool start_allowed(const struct machine *m, const struct effect *e, char reason[REASON_MAX])
{
    const struct pod_spec *spec = workload_pod(e->workload, e->pod_index);
    if (!launch_is_image(spec) && (spec->args_count == 0 || spec->args[0].value.len == 0)) {
        (void)snprintf(reason, REASON_MAX, "no command: a pod that runs on the host needs one");
        return false;
    }
    uint32_t count;
    const struct device *list = devices_list(m->devices, &count);
    for (uint32_t i = 0; i < e->pod_state->devices_count; i++) {
        struct str uuid = e->pod_state->devices[i].uuid;
        bool known = false;
        for (uint32_t j = 0; j < count && !known; j++) {
            known = str_eq(list[j].uuid, uuid);
        }
        if (!known) {
            (void)snprintf(reason, REASON_MAX, "device %.*s is not on this machine",
                           (int)num_min_i64(uuid.len, DEVICE_NAME_SHOWN), uuid.ptr);
            return false;
        }
    }
    return user_allowed(spec, reason);
}

/* The variables with what stands for those that come from credentials. */
static enum status fill_in(const struct machine *m, struct pod_spec *spec, struct arena *arena,
                           struct err *err)
{
    struct env_var *env = ARENA_ARRAY(arena, struct env_var, spec->env_count);
    for (uint32_t i = 0; i < spec->env_count; i++) {
        const struct env_var *v = &spec->env[i];
        env[i] = (struct env_var){.name = v->name, .value = v->value};
        if (uuid_is_zero(v->credential)) {
            continue;
        }
        enum status s = m->secret != NULL
                            ? m->secret(m->secret_ctx, v->credential, v->key, arena, &env[i].value,
                                        err)
                            : err_set(err, STATUS_UNKNOWN, "there are no credentials here");
        if (s != STATUS_OK) {
            return s;
        }
    }
    spec->env = env;
    return STATUS_OK;
}

enum status start_files(const struct machine *m, const struct effect *e, struct str dir, int dir_fd,
                        struct err *err)
{
    struct arena arena;
    struct buf bytes;
    const struct pod_spec *spec = workload_pod(e->workload, e->pod_index);
    arena_init(&arena, 0);
    buf_init(&bytes, LAUNCH_SPEC_MAX);
    struct launch l = {
        .pod = e->pod,
        .attempt = e->attempt,
        .pod_index = e->pod_index,
        .workload = e->workload->id,
        .workload_name = e->workload->name,
        .project = e->workload->project,
        .node = m->node.name,
        .spec = *spec,
        .framework = e->workload->spec.framework,
        .pods_count = e->workload->pods_count,
        .pods_min = (uint32_t)e->workload->spec.pods_min,
        .port = e->workload->port,
        .devices_count = e->pod_state->devices_count,
        .cgroups_count = CG_COUNT,
        .cgroups_v2 = m->cgroups.v2,
        .isolation = launch_is_image(spec) ? ISOLATION_NONE : m->isolation,
        .hidden = m->hidden,
        .hidden_count = m->hidden_count,
    };
    for (uint32_t z = 0; z < m->node.zones_count; z++) {
        if (m->node.zones[z].numa_node == e->pod_state->numa_plus_one - 1) {
            l.cpus = m->node.zones[z].cpus;
            l.numa_node = m->node.zones[z].numa_node;
        }
    }
    l.devices = ARENA_ARRAY(&arena, struct str_item, l.devices_count);
    for (uint32_t i = 0; i < l.devices_count; i++) {
        l.devices[i].value = e->pod_state->devices[i].uuid;
    }
    l.cgroups = ARENA_ARRAY(&arena, struct str_item, CG_COUNT);
    for (uint32_t c = 0; c < CG_COUNT; c++) {
        l.cgroups[c].value = str_from_c(m->cgroups.dir[c]);
    }
    devices_nodes(m->devices, e->pod_state->devices, e->pod_state->devices_count, &arena,
                  &l.device_nodes, &l.device_nodes_count);
    l.checkpoint = arena_printf(&arena, STR_FMT "/" CHECKPOINT_NAME, STR_ARG(dir));
    enum status s = fill_in(m, &l.spec, &arena, err);
    if (s == STATUS_OK) {
        record_encode(&record_launch, &l, &bytes);
        s = bytes.full ? err_set(err, STATUS_TOO_LARGE, "arguments and environment are too long")
                       : file_write(dir_fd, "spec", buf_view(&bytes), 0600, false, err);
    }
    buf_done(&bytes);
    arena_done(&arena);
    return s == STATUS_OK ? checkpoint_make(dir_fd, err) : s;
}

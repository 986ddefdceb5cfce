// SPDX-License-Identifier: Apache-2.0
// The spec is written with the record tables of the model, like everything that is stored. The
// status is text, so that a person can read it.
#include "agent/launch.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "agent/checkpoint.h"
#include "agent/rendezvous.h"
#include "base/check.h"
#include "base/num.h"
#include "io/file.h"
#include "model/units.h"

static const struct field launch_fields[] = {
    F_UUID(1, struct launch, pod),
    F_U32(2, struct launch, attempt),
    F_U32(3, struct launch, pod_index),
    F_UUID(4, struct launch, workload),
    F_STR(5, struct launch, workload_name),
    F_STR(6, struct launch, project),
    F_STR(7, struct launch, node),
    F_RECORD(8, struct launch, spec, record_pod_spec),
    F_LIST(9, struct launch, devices, record_str_item),
    F_LIST(10, struct launch, device_nodes, record_str_item),
    F_LIST(11, struct launch, cgroups, record_str_item),
    F_U32(12, struct launch, cgroups_v2),
    F_U32(13, struct launch, isolation),
    F_LIST(14, struct launch, hidden, record_str_item),
    F_U32(15, struct launch, framework),
    F_U32(16, struct launch, pods_count),
    F_I64(17, struct launch, port),
    F_STR(18, struct launch, cpus),
    F_I64(19, struct launch, numa_node),
    F_STR(20, struct launch, checkpoint),
    F_U32(21, struct launch, pods_min),
};
const struct record record_launch = RECORD("launch", struct launch, launch_fields);

void launch_name(struct uuid pod, uint32_t attempt, char out[LAUNCH_NAME_SIZE])
{
    char text[UUID_TEXT_LEN + 1];
    uuid_format(pod, text);
    (void)snprintf(out, LAUNCH_NAME_SIZE, "%s.%u", text, attempt);
}

bool launch_name_parse(struct str name, struct uuid *pod, uint32_t *attempt)
{
    uint64_t number;
    struct uuid found;
    if (name.len <= UUID_TEXT_LEN + 1 || name.ptr[UUID_TEXT_LEN] != '.' ||
        !num_parse_u64(str_sub(name, UUID_TEXT_LEN + 1, name.len), &number) ||
        number > UINT32_MAX || !uuid_parse(str_sub(name, 0, UUID_TEXT_LEN), &found)) {
        return false;
    }
    *pod = found;
    *attempt = (uint32_t)number;
    return true;
}

bool launch_is_image(const struct pod_spec *spec)
{
    return spec->image.len != 0 && !str_eq(spec->image, STR("host"));
}

/* ---- environment ---- */

enum { OWN_MAX = 13 + RENDEZVOUS_MAX };
struct environment {
    struct arena *arena;
    struct str own[OWN_MAX]; /* "NAME=value" */
    uint32_t own_count;
};

static void env_own(struct environment *e, struct str assignment)
{
    CHECK(e->own_count < OWN_MAX);
    e->own[e->own_count++] = assignment;
}

static bool env_is_own(const struct environment *e, struct str name)
{
    for (uint32_t i = 0; i < e->own_count; i++) {
        struct str own = e->own[i];
        if (str_eq(str_sub(own, 0, str_find(own, '=')), name)) {
            return true;
        }
    }
    return false;
}

/* "2", "0.5": what the pod may use, as Run:ai writes it. */
static struct str env_gpus(const struct launch *l, struct arena *arena)
{
    int64_t whole = l->spec.gpu_devices;
    int64_t share = l->spec.gpu_portion_share;
    if (share <= 0) {
        return arena_printf(arena, "%lld", (long long)whole);
    }
    int64_t thousandths = num_muldiv_floor(share * (whole > 0 ? whole : 1), 1000, DEVICE_SHARE);
    struct str text = arena_printf(arena, "%lld.%03lld", (long long)(thousandths / 1000),
                                   (long long)(thousandths % 1000));
    while (str_ends(text, STR("0"))) {
        text.len--;
    }
    if (str_ends(text, STR("."))) {
        text.len--;
    }
    return text;
}

static bool env_user_sets(const struct launch *l, struct str name)
{
    for (uint32_t i = 0; i < l->spec.env_count; i++) {
        if (str_eq(l->spec.env[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* exec wants its strings without const. */
static char *env_text(struct arena *arena, struct str s)
{
    char *text = arena_alloc(arena, (size_t)s.len + 1);
    if (s.len > 0) {
        memcpy(text, s.ptr, s.len);
    }
    return text;
}

char **launch_env(const struct launch *l, const struct account *who, struct arena *arena)
{
    struct environment e = {.arena = arena};
    struct buf devices;
    buf_init(&devices, LAUNCH_SPEC_MAX);
    for (uint32_t i = 0; i < l->devices_count; i++) {
        buf_printf(&devices, "%s" STR_FMT, i > 0 ? "," : "", STR_ARG(l->devices[i].value));
    }
    struct str list = arena_str(arena, buf_view(&devices));
    buf_done(&devices);
    bool image = launch_is_image(&l->spec);
    char name[LAUNCH_NAME_SIZE];
    launch_name(l->pod, l->attempt, name);
    env_own(&e, arena_printf(arena, "CUDA_VISIBLE_DEVICES=" STR_FMT, STR_ARG(list)));
    // An image gets its devices by name (CDI); the variable must then say nothing to the runtime.
    env_own(&e, arena_printf(arena, "NVIDIA_VISIBLE_DEVICES=" STR_FMT,
                             STR_ARG(list.len == 0 || image ? STR("void") : list)));
    env_own(&e, STR("CUDA_DEVICE_ORDER=PCI_BUS_ID"));
    env_own(&e, arena_printf(arena, "RUNAI_PROJECT=" STR_FMT, STR_ARG(l->project)));
    env_own(&e, arena_printf(arena, "RUNAI_JOB_NAME=" STR_FMT, STR_ARG(l->workload_name)));
    env_own(&e,
            arena_printf(arena, "RUNAI_JOB_UUID=" STR_FMT, STR_ARG(uuid_str(l->workload, arena))));
    env_own(&e, arena_printf(arena, "RUNAI_NUM_OF_GPUS=" STR_FMT, STR_ARG(env_gpus(l, arena))));
    env_own(&e, arena_printf(arena, "NODE_NAME=" STR_FMT, STR_ARG(l->node)));
    env_own(&e, arena_printf(arena, "WEIR_POD_INDEX=%u", l->pod_index));
    env_own(&e, arena_printf(arena, "WEIR_POD=%s", name));
    struct str rendezvous[RENDEZVOUS_MAX];
    uint32_t rendezvous_count = rendezvous_env(l, arena, rendezvous);
    for (uint32_t i = 0; i < rendezvous_count; i++) {
        env_own(&e, rendezvous[i]);
    }

    bool inside = image || l->isolation != ISOLATION_NONE;
    env_own(&e, arena_printf(arena, "WEIR_CHECKPOINT_FILE=" STR_FMT,
                             STR_ARG(inside ? STR(CHECKPOINT_PATH) : l->checkpoint)));

    struct str defaults[] = {
        STR("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
        arena_printf(arena, "HOME=%s", who->home),
        arena_printf(arena, "USER=%s", who->name),
        arena_printf(arena, "LOGNAME=%s", who->name),
    };
    uint32_t count = 0;
    char **env = ARENA_ARRAY(arena, char *, l->spec.env_count + OWN_MAX + COUNT_OF(defaults) + 1);
    for (uint32_t i = 0; i < COUNT_OF(defaults) && !image; i++) {
        struct str named = str_sub(defaults[i], 0, str_find(defaults[i], '='));
        if (named.len + 1 < defaults[i].len && !env_user_sets(l, named)) {
            env[count++] = env_text(arena, defaults[i]);
        }
    }
    for (uint32_t i = 0; i < l->spec.env_count; i++) {
        const struct env_var *v = &l->spec.env[i];
        if (!env_is_own(&e, v->name)) {
            struct str s = arena_printf(arena, STR_FMT "=" STR_FMT, STR_ARG(v->name),
                                        STR_ARG(v->value));
            env[count++] = env_text(arena, s);
        }
    }
    for (uint32_t i = 0; i < e.own_count; i++) {
        env[count++] = env_text(arena, e.own[i]);
    }
    env[count] = NULL;
    return env;
}

/* ---- status ---- */

static const struct str state_names[] = {
    [POD_STATE_STARTING] = STRS("starting"),
    [POD_STATE_RUNNING] = STRS("running"),
    [POD_STATE_EXITED] = STRS("exited"),
    [POD_STATE_FAILED] = STRS("failed"),
};

void status_init(struct pod_status *st)
{
    *st = (struct pod_status){.started_ms = -1, .ended_ms = -1, .exit_code = -1};
}

bool status_is_final(const struct pod_status *st)
{
    return st->state == POD_STATE_EXITED || st->state == POD_STATE_FAILED;
}

void status_reason(struct pod_status *st, struct str reason)
{
    uint32_t len = 0;
    for (uint32_t i = 0; i < reason.len && len + 1 < REASON_MAX; i++) {
        unsigned char c = (unsigned char)reason.ptr[i];
        st->reason[len++] = c < 0x20 ? ' ' : (char)c;
    }
    // A cut in the middle of a character takes at most three bytes more.
    uint32_t whole = len;
    while (len + 1 == REASON_MAX && whole > len - 4 &&
           !str_is_utf8((struct str){st->reason, whole})) {
        whole--;
    }
    st->reason[whole] = '\0';
    if (!str_is_utf8((struct str){st->reason, whole})) {
        whole = len;
        st->reason[whole] = '\0';
        for (uint32_t i = 0; i < whole; i++) {
            st->reason[i] = (unsigned char)st->reason[i] >= 0x80 ? '?' : st->reason[i];
        }
    }
}

void status_format(const struct pod_status *st, struct buf *out)
{
    buf_printf(out, "state=" STR_FMT "\nboot=%s\n", STR_ARG(state_names[st->state]), st->boot_id);
    buf_printf(out, "supervisor=%lld\nsupervisor_start=%lld\nmain=%lld\nmain_start=%lld\n",
               (long long)st->supervisor_pid, (long long)st->supervisor_start,
               (long long)st->main_pid, (long long)st->main_start);
    buf_printf(out, "started_ms=%lld\nended_ms=%lld\nexit_code=%lld\noom=%d\nreason=%s\n",
               (long long)st->started_ms, (long long)st->ended_ms, (long long)st->exit_code,
               st->oom ? 1 : 0, st->reason);
}

static bool status_state(struct str value, enum pod_state *out)
{
    for (uint32_t i = 0; i < COUNT_OF(state_names); i++) {
        if (str_eq(value, state_names[i])) {
            *out = (enum pod_state)i;
            return true;
        }
    }
    return false;
}

enum status status_parse(struct str text, struct pod_status *out, struct err *err)
{
    struct pod_status st;
    status_init(&st);
    int64_t oom = 0;
    const struct {
        struct str key;
        int64_t *into;
    } numbers[] = {
        {STR("supervisor"),       &st.supervisor_pid  },
        {STR("supervisor_start"), &st.supervisor_start},
        {STR("main"),             &st.main_pid        },
        {STR("main_start"),       &st.main_start      },
        {STR("started_ms"),       &st.started_ms      },
        {STR("ended_ms"),         &st.ended_ms        },
        {STR("exit_code"),        &st.exit_code       },
        {STR("oom"),              &oom                },
    };
    struct str rest = text, line;
    bool whole = false;
    while (str_split(&rest, '\n', &line)) {
        uint32_t eq = str_find(line, '=');
        struct str key = str_sub(line, 0, eq), value = str_sub(line, eq + 1, line.len);
        bool ok = true;
        if (str_eq(key, STR("state"))) {
            ok = status_state(value, &st.state);
        } else if (str_eq(key, STR("boot"))) {
            ok = value.len < sizeof(st.boot_id);
            if (ok && value.len > 0) {
                memcpy(st.boot_id, value.ptr, value.len);
            }
        } else if (str_eq(key, STR("reason"))) {
            status_reason(&st, value);
            whole = true; // the last line
        }
        for (uint32_t i = 0; i < COUNT_OF(numbers); i++) {
            if (str_eq(key, numbers[i].key)) {
                ok = num_parse_i64(value, numbers[i].into);
            }
        }
        if (!ok) {
            return err_set(err, STATUS_CORRUPT, "the status of a pod is damaged at \"" STR_FMT "\"",
                           STR_ARG(line));
        }
    }
    if (!whole) {
        return err_set(err, STATUS_CORRUPT, "the status of a pod is incomplete");
    }
    st.oom = oom != 0;
    *out = st;
    return STATUS_OK;
}

enum status status_read(int dir_fd, struct pod_status *out, struct err *err)
{
    struct buf text;
    buf_init(&text, STATUS_TEXT_MAX);
    enum status s = file_read(dir_fd, "status", &text, err);
    if (s == STATUS_OK) {
        s = status_parse(buf_view(&text), out, err);
    }
    buf_done(&text);
    return s;
}

enum status status_write(int dir_fd, const struct pod_status *st, bool durable, struct err *err)
{
    struct buf text;
    buf_init(&text, STATUS_TEXT_MAX);
    status_format(st, &text);
    enum status s = file_write(dir_fd, "status", buf_view(&text), 0600, durable, err);
    buf_done(&text);
    return s;
}

/* ---- when ---- */

void boot_id(char out[UUID_TEXT_LEN + 1])
{
    struct buf text;
    buf_init(&text, 64);
    out[0] = '\0';
    if (file_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", &text, NULL) == STATUS_OK &&
        text.len >= UUID_TEXT_LEN) {
        memcpy(out, text.ptr, UUID_TEXT_LEN);
        out[UUID_TEXT_LEN] = '\0';
    }
    buf_done(&text);
}

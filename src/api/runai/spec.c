// SPDX-License-Identifier: Apache-2.0
// What a workload asks for, as Run:ai writes it: read into the spec of the model. What would change
// what runs, and weir does not do, is refused with the name of the field; what changes nothing for a
// process on this machine is kept and shown.
#include <stdarg.h>

#include "api/runai/assets.h"
#include "api/runai/workloads.h"
#include "api/shell.h"
#include "codec/quantity.h"
#include "model/limits.h"
#include "model/priority.h"

enum {
    CPU_DEFAULT_MILLI = 100,
    MEMORY_DEFAULT_BYTES = 100 << 20,
    GRACE_DEFAULT_S = 30,
    BACKOFF_DEFAULT = 6,
};

/* ---- reading a spec ---- */

/* Where a field is: "spec.compute.gpuDevicesRequest". */
struct place {
    struct call *c;
    const char *part; /* "spec" or "masterSpec" */
    struct scope scope;
};

PRINTF_LIKE(4, 5)
static bool refuse(const struct place *at, const char *field, struct str value, const char *format,
                   ...)
{
    char path[128];
    char text[256];
    va_list args;
    va_start(args, format);
    str_vformat(text, sizeof text, format, args);
    va_end(args);
    (void)str_format(path, sizeof path, "%s.%s", at->part, field);
    fail_field(at->c, path, value, "%s", text);
    return false;
}

static bool words_of(const struct place *at, const struct doc *spec, const char *field,
                     struct str_item **words, uint32_t *count)
{
    struct err err;
    struct str text = body_str(spec, str_from_c(field));
    if (shell_words(text, at->c->arena, words, count, &err) != STATUS_OK) {
        return refuse(at, field, text, "%s", err.text);
    }
    return true;
}

static bool read_command(const struct place *at, const struct doc *spec, struct pod_spec *p)
{
    struct str_item *command = NULL;
    struct str_item *args = NULL;
    uint32_t command_count = 0;
    uint32_t args_count = 0;
    if (!words_of(at, spec, "command", &command, &command_count) ||
        !words_of(at, spec, "args", &args, &args_count)) {
        return false;
    }
    p->image = body_str(spec, STR("image"));
    p->image = p->image.len > 0 ? p->image : STR("host");
    p->args_are_command = command_count > 0;
    p->args = ARENA_ARRAY(at->c->arena, struct str_item, command_count + args_count);
    for (uint32_t i = 0; i < command_count; i++) {
        p->args[p->args_count++] = command[i];
    }
    for (uint32_t i = 0; i < args_count; i++) {
        p->args[p->args_count++] = args[i];
    }
    if (str_eq(p->image, STR("host")) && p->args_count == 0) {
        return refuse(at, "command", (struct str){0},
                      "there is no command: a pod that runs on the host needs one");
    }
    return true;
}

/* A variable whose value is a secret: of a credential by name or id, or of one's own. */
static bool read_secret(const struct place *at, const struct doc *d, struct env_var *v)
{
    static const struct {
        struct str member, names;
        bool own;
    } forms[] = {
        {STRS("secret"),         STRS("name"),    false},
        {STRS("userCredential"), STRS("name"),    true },
        {STRS("credential"),     STRS("assetId"), false},
    };
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        const struct doc *from = body_get(d, forms[i].member);
        struct err err = {0};
        if (from == NULL) {
            continue;
        }
        v->value = STR("");
        if (!credential_use(at->c, body_str(from, forms[i].names), body_str(from, STR("key")),
                            forms[i].own, at->scope, v, &err)) {
            return refuse(at, "environmentVariables", v->name, "variable " STR_FMT ": %s",
                          STR_ARG(str_clip(v->name, 100)), err.text);
        }
    }
    return true;
}

static bool read_env(const struct place *at, const struct doc *spec, struct pod_spec *p)
{
    const struct doc *list = body_get(spec, STR("environmentVariables"));
    p->env = ARENA_ARRAY(at->c->arena, struct env_var, body_count(list));
    for (const struct doc *d = list != NULL ? list->child : NULL; d != NULL; d = d->next) {
        static const struct str other[] = {STRS("configMap"), STRS("podFieldRef")};
        struct str name = body_str(d, STR("name"));
        if (body_bool(d, STR("exclude"), false)) {
            continue;
        }
        for (size_t i = 0; i < COUNT_OF(other); i++) {
            if (body_get(d, other[i]) != NULL) {
                return refuse(at, "environmentVariables", name,
                              "variable " STR_FMT " comes from a " STR_FMT
                              ", which weir does not have yet; give its value",
                              STR_ARG(str_clip(name, 100)), STR_ARG(other[i]));
            }
        }
        struct env_var *v = &p->env[p->env_count++];
        *v = (struct env_var){.name = name, .value = body_str(d, STR("value"))};
        if (!read_secret(at, d, v)) {
            return false;
        }
    }
    return true;
}

static bool read_gpus(const struct place *at, const struct doc *compute, struct pod_spec *p)
{
    int64_t portion = body_milli(compute, STR("gpuPortionRequest"), 0);
    int64_t portion_limit = body_milli(compute, STR("gpuPortionLimit"), portion);
    int64_t memory = body_bytes(compute, STR("gpuMemoryRequest"), 0);
    int64_t memory_limit = body_bytes(compute, STR("gpuMemoryLimit"), memory);
    struct str type = body_str(compute, STR("gpuRequestType"));
    if (str_eq(type, STR("portion"))) {
        memory = memory_limit = 0;
    } else if (str_eq(type, STR("memory"))) {
        portion = portion_limit = 0;
    }
    if (portion > 1000) {
        return refuse(at, "compute.gpuPortionRequest",
                      body_get(compute, STR("gpuPortionRequest"))->text,
                      "a part of a device is at most 1");
    }
    if (portion_limit != portion || memory_limit != memory) {
        return refuse(
            at, portion_limit != portion ? "compute.gpuPortionLimit" : "compute.gpuMemoryLimit",
            (struct str){0}, "a limit above the request is not possible yet: leave it out");
    }
    bool fraction = (portion > 0 && portion < 1000) || memory > 0;
    p->gpu_devices = body_i64(compute, STR("gpuDevicesRequest"), fraction || portion > 0 ? 1 : 0);
    p->gpu_portion_share = portion < 1000 ? portion * (DEVICE_SHARE / 1000) : 0;
    p->gpu_memory_bytes = memory;
    return true;
}

static bool read_compute(const struct place *at, const struct doc *compute, struct pod_spec *p)
{
    if (!read_gpus(at, compute, p)) {
        return false;
    }
    int64_t factor = num_max_i64(p->gpu_devices, 1);
    p->cpu_milli = body_milli(compute, STR("cpuCoreRequest"), factor * CPU_DEFAULT_MILLI);
    p->cpu_limit_milli = body_milli(compute, STR("cpuCoreLimit"), -1);
    p->memory_bytes = body_bytes(compute, STR("cpuMemoryRequest"), factor * MEMORY_DEFAULT_BYTES);
    p->memory_limit_bytes = body_bytes(compute, STR("cpuMemoryLimit"), -1);
    if (p->cpu_limit_milli >= 0 && p->cpu_limit_milli < p->cpu_milli) {
        return refuse(at, "compute.cpuCoreLimit", body_get(compute, STR("cpuCoreLimit"))->text,
                      "the limit is below the request");
    }
    if (p->memory_limit_bytes >= 0 && p->memory_limit_bytes < p->memory_bytes) {
        return refuse(at, "compute.cpuMemoryLimit", body_str(compute, STR("cpuMemoryLimit")),
                      "the limit is below the request");
    }
    if (body_count(body_get(compute, STR("extendedResources"))) > 0) {
        return refuse(at, "compute.extendedResources", (struct str){0},
                      "there are no extended resources on this machine");
    }
    return true;
}

static bool read_security(const struct place *at, const struct doc *security, struct pod_spec *p)
{
    p->run_as_uid = body_i64(security, STR("runAsUid"), -1);
    p->run_as_gid = body_i64(security, STR("runAsGid"), -1);
    if (body_bool(security, STR("readOnlyRootFilesystem"), false)) {
        return refuse(at, "security.readOnlyRootFilesystem", STR("true"),
                      "weir cannot make the file system of a pod read-only yet");
    }
    if (body_count(body_get(security, STR("capabilities"))) > 0) {
        return refuse(at, "security.capabilities", (struct str){0},
                      "weir gives no capabilities to pods");
    }
    if (body_bool(security, STR("privileged"), false)) {
        return refuse(at, "security.privileged", STR("true"), "weir gives no privileges to pods");
    }
    if (body_bool(security, STR("runAsNonRoot"), false) && p->run_as_uid <= 0) {
        return refuse(at, "security.runAsNonRoot", STR("true"),
                      "it needs runAsUid, another one than 0");
    }
    return true;
}

/* A path of the host at the same place needs nothing done; there is nothing else to be mounted. */
static bool check_storage(const struct place *at, const struct doc *storage)
{
    for (const struct doc *d = storage != NULL ? storage->child : NULL; d != NULL; d = d->next) {
        for (const struct doc *v = d->child; v != NULL; v = v->next) {
            struct str path = body_str(v, STR("path"));
            struct str mount = body_str(v, STR("mountPath"));
            bool same = str_eq(d->key, STR("hostPath")) && (mount.len == 0 || str_eq(path, mount));
            if (!same && !body_bool(v, STR("exclude"), false)) {
                return refuse(
                    at, arena_printf(at->c->arena, "storage." STR_FMT, STR_ARG(d->key)).ptr, path,
                    "nothing can be mounted for a process on this machine, but for a "
                    "hostPath whose mountPath is its path");
            }
        }
    }
    return true;
}

static bool check_placement(const struct place *at, const struct doc *spec)
{
    static const char *const fields[] = {"nodeAffinityRequired", "podAffinity"};
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        const struct doc *d = body_get(spec, str_from_c(fields[i]));
        if (d != NULL && (d->kind != DOC_STRING || d->text.len > 0)) {
            return refuse(at, fields[i], (struct str){0},
                          "weir chooses nodes by nodePools and nodeType; this is not there yet");
        }
    }
    return true;
}

bool spec_check(struct call *c, const struct doc *spec)
{
    struct place at = {.c = c, .part = "spec"};
    struct pod_spec ignored = {0};
    return read_security(&at, body_get(spec, STR("security")), &ignored) &&
           check_storage(&at, body_get(spec, STR("storage"))) && check_placement(&at, spec);
}

static bool read_pod(const struct place *at, const struct doc *spec, struct pod_spec *p)
{
    *p = (struct pod_spec){
        .working_dir = body_str(spec, STR("workingDir")),
        .grace_ms = body_i64(spec, STR("terminationGracePeriodSeconds"), GRACE_DEFAULT_S) * 1000,
    };
    return read_command(at, spec, p) && read_env(at, spec, p) &&
           read_compute(at, body_get(spec, STR("compute")), p) &&
           read_security(at, body_get(spec, STR("security")), p) &&
           check_storage(at, body_get(spec, STR("storage"))) && check_placement(at, spec);
}

static struct label *read_labels(const struct doc *spec, struct str key, struct arena *arena,
                                 uint32_t *count)
{
    const struct doc *list = body_get(spec, key);
    struct label *labels = ARENA_ARRAY(arena, struct label, body_count(list));
    *count = 0;
    for (const struct doc *d = list != NULL ? list->child : NULL; d != NULL; d = d->next) {
        if (!body_bool(d, STR("exclude"), false)) {
            labels[(*count)++] = (struct label){body_str(d, STR("name")),
                                                body_str(d, STR("value"))};
        }
    }
    return labels;
}

static bool read_priority(const struct place *at, const struct doc *spec, struct workload_spec *s)
{
    struct str class = body_str(spec, STR("priorityClass"));
    struct str preemptibility = body_str(spec, STR("preemptibility"));
    if (class.len > 0 && !priority_parse(class, &s->priority)) {
        return refuse(at, "priorityClass", class,
                      "expected very-low, low, medium-low, medium, medium-high, high or very-high");
    }
    s->preemptibility = str_eq(preemptibility, STR("preemptible"))       ? PREEMPTIBLE
                        : str_eq(preemptibility, STR("non-preemptible")) ? NON_PREEMPTIBLE
                                                                         : PREEMPTIBILITY_DEFAULT;
    return true;
}

static bool read_spec(const struct place *at, const struct doc *spec, struct workload_spec *s)
{
    static const struct str restarts[] = {STRS("Never"), STRS("OnFailure"), STRS("Always")};
    int64_t seconds = body_i64(spec, STR("autoDeletionTimeAfterCompletionSeconds"), -1);
    *s = (struct workload_spec){
        .pods = 1,
        .pods_min = 1,
        .restart = (enum restart_policy)body_word(spec, STR("restartPolicy"), restarts,
                                                  COUNT_OF(restarts), RESTART_NEVER),
        .backoff_limit = body_i64(spec, STR("backoffLimit"), BACKOFF_DEFAULT),
        .node_type = body_str(spec, STR("nodeType")),
        .auto_delete_ms = seconds < 0 ? -1 : num_sat_mul_i64(seconds, 1000),
    };
    s->pools = body_strings(body_get(spec, STR("nodePools")), at->c->arena, &s->pools_count);
    s->labels = read_labels(spec, STR("labels"), at->c->arena, &s->labels_count);
    s->annotations = read_labels(spec, STR("annotations"), at->c->arena, &s->annotations_count);
    return read_priority(at, spec, s) && read_pod(at, spec, &s->pod);
}

/* ---- what each kind adds ---- */

static void read_training(const struct doc *spec, struct workload_spec *s)
{
    int64_t parallelism = body_i64(spec, STR("parallelism"), 1);
    int64_t completions = body_i64(spec, STR("completions"), parallelism);
    s->pods = completions;
    s->parallel_max = parallelism < completions ? parallelism : 0;
}

static bool read_master(const struct place *spec_at, const struct doc *spec,
                        struct workload_spec *s)
{
    struct call *c = spec_at->c;
    const struct doc *master = body_get(c->body, STR("masterSpec"));
    struct place at = {c, "masterSpec", spec_at->scope};
    if (master == NULL || body_bool(c->body, STR("masterSpecSameAsWorker"), false)) {
        return true;
    }
    s->has_master = true;
    /* Without an image or a command of its own the master runs the workers'. */
    struct doc *merged = ARENA_NEW(c->arena, struct doc);
    *merged = (struct doc){.kind = DOC_MAP};
    struct doc **link = &merged->child;
    static const struct str shared[] = {STRS("image"), STRS("command"), STRS("args")};
    bool own = body_get(master, shared[1]) != NULL || body_get(master, shared[2]) != NULL;
    for (const struct doc *d = master->child; d != NULL; d = d->next) {
        *link = ARENA_NEW(c->arena, struct doc);
        **link = *d;
        link = &(*link)->next;
    }
    for (size_t i = 0; i < COUNT_OF(shared); i++) {
        const struct doc *from = body_get(spec, shared[i]);
        if (from != NULL && body_get(master, shared[i]) == NULL && (i == 0 || !own)) {
            *link = ARENA_NEW(c->arena, struct doc);
            **link = *from;
            link = &(*link)->next;
        }
    }
    *link = NULL;
    return read_pod(&at, merged, &s->master);
}

/* Elastic work starts with the least, and takes up to the most where there is room. */
static bool read_workers(const struct place *at, const struct doc *spec, struct workload_spec *s)
{
    int64_t workers = body_i64(spec, STR("numWorkers"), 1);
    int64_t least = body_i64(spec, STR("minReplicas"), workers);
    int64_t most = body_i64(spec, STR("maxReplicas"), workers);
    if (least > workers || most < workers) {
        bool low = least > workers;
        return refuse(at, low ? "minReplicas" : "maxReplicas",
                      body_get(spec, low ? STR("minReplicas") : STR("maxReplicas"))->text,
                      "minReplicas, numWorkers (%lld) and maxReplicas go upwards",
                      (long long)workers);
    }
    if (least != most && s->framework != FRAMEWORK_PYTORCH) {
        return refuse(at, "minReplicas", (struct str){0}, "only PyTorch can be elastic");
    }
    s->pods = most + 1; /* and the master */
    s->pods_min = least + 1;
    return true;
}

static bool read_distributed(const struct place *at, const struct doc *spec,
                             struct workload_spec *s)
{
    static const struct str frameworks[] = {STRS(""),    STRS("PyTorch"), STRS("TF"),
                                            STRS("MPI"), STRS("XGBoost"), STRS("JAX")};
    s->framework = (enum framework)body_word(spec, STR("distributedFramework"), frameworks,
                                             COUNT_OF(frameworks), FRAMEWORK_PYTORCH);
    return read_workers(at, spec, s) && read_master(at, spec, s);
}

static bool read_inference(const struct place *at, const struct doc *spec, struct workload_spec *s)
{
    const struct doc *scaling = body_get(spec, STR("autoscaling"));
    int64_t least = body_i64(scaling, STR("minReplicas"), 1);
    int64_t most = body_i64(scaling, STR("maxReplicas"), num_max_i64(least, 1));
    if (least != most) {
        return refuse(at, "autoscaling.maxReplicas", (struct str){0},
                      "weir does not scale by load yet: give minReplicas and maxReplicas the same "
                      "number");
    }
    s->pods = num_max_i64(least, 1);
    s->restart = RESTART_ALWAYS;
    return true;
}

bool spec_read(struct call *c, enum workload_kind kind, struct scope scope, struct workload_spec *s)
{
    const struct doc *spec = body_get(c->body, STR("spec"));
    struct place at = {c, "spec", scope};
    if (!read_spec(&at, spec, s)) {
        return false;
    }
    switch (kind) {
    case WORKLOAD_TRAINING:
        read_training(spec, s);
        return true;
    case WORKLOAD_WORKSPACE:
        return true;
    case WORKLOAD_DISTRIBUTED:
        return read_distributed(&at, spec, s);
    case WORKLOAD_INFERENCE:
        return read_inference(&at, spec, s);
    }
    return true;
}

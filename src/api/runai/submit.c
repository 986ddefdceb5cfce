// SPDX-License-Identifier: Apache-2.0
// Workloads of one kind: made, shown, stopped, started again, deleted. What was asked for is kept as
// it came (workload.asked) and shown again; the part of it that decides anything is read into the
// spec of the model. What would change what runs, and weir does not do, is refused with the name of
// the field; what changes nothing for a process on this machine is kept and shown.
#include <stdarg.h>

#include "api/runai/workloads.h"
#include "api/shell.h"
#include "base/check.h"
#include "codec/quantity.h"
#include "io/random.h"
#include "model/limits.h"
#include "model/priority.h"

enum {
    CPU_DEFAULT_MILLI = 100,
    MEMORY_DEFAULT_BYTES = 100 << 20,
    GRACE_DEFAULT_S = 30,
    BACKOFF_DEFAULT = 6,
    SUFFIX_LEN = 5,
    BATCH_MAX = 100,
};

/* ---- reading a spec ---- */

/* Where a field is: "spec.compute.gpuDevicesRequest". */
struct place {
    struct call *c;
    const char *part; /* "spec" or "masterSpec" */
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

static bool read_env(const struct place *at, const struct doc *spec, struct pod_spec *p)
{
    const struct doc *list = body_get(spec, STR("environmentVariables"));
    p->env = ARENA_ARRAY(at->c->arena, struct env_var, body_count(list));
    for (const struct doc *d = list != NULL ? list->child : NULL; d != NULL; d = d->next) {
        static const struct str other[] = {STRS("secret"), STRS("configMap"), STRS("podFieldRef"),
                                           STRS("userCredential")};
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
        p->env[p->env_count++] = (struct env_var){name, body_str(d, STR("value"))};
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
    static const char *const fields[] = {"nodeAffinityRequired", "podAffinity", "nodeType"};
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        const struct doc *d = body_get(spec, str_from_c(fields[i]));
        if (d != NULL && (d->kind != DOC_STRING || d->text.len > 0)) {
            return refuse(at, fields[i], (struct str){0},
                          "weir chooses nodes by nodePools; this is not there yet");
        }
    }
    return true;
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
        .auto_delete_ms = seconds < 0 ? -1 : num_sat_mul_i64(seconds, 1000),
    };
    s->pools = body_strings(body_get(spec, STR("nodePools")), at->c->arena, &s->pools_count);
    s->labels = read_labels(spec, STR("labels"), at->c->arena, &s->labels_count);
    s->annotations = read_labels(spec, STR("annotations"), at->c->arena, &s->annotations_count);
    return read_priority(at, spec, s) && read_pod(at, spec, &s->pod);
}

/* ---- what each kind adds ---- */

static bool read_training(const struct place *at, const struct doc *spec, struct workload_spec *s)
{
    int64_t parallelism = body_i64(spec, STR("parallelism"), 1);
    int64_t completions = body_i64(spec, STR("completions"), parallelism);
    if (completions != parallelism && body_get(spec, STR("parallelism")) != NULL) {
        return refuse(at, "completions", body_get(spec, STR("completions"))->text,
                      "another number than parallelism is not possible yet");
    }
    s->pods = completions;
    return true;
}

static bool read_master(struct call *c, const struct doc *spec, struct workload_spec *s)
{
    const struct doc *master = body_get(c->body, STR("masterSpec"));
    struct place at = {c, "masterSpec"};
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

static bool read_distributed(const struct place *at, const struct doc *spec,
                             struct workload_spec *s)
{
    static const struct str frameworks[] = {STRS(""),    STRS("PyTorch"), STRS("TF"),
                                            STRS("MPI"), STRS("XGBoost"), STRS("JAX")};
    static const char *const elastic[] = {"minReplicas", "maxReplicas"};
    int64_t workers = body_i64(spec, STR("numWorkers"), 1);
    for (size_t i = 0; i < COUNT_OF(elastic); i++) {
        const struct doc *d = body_get(spec, str_from_c(elastic[i]));
        if (d != NULL && doc_i64(d) != workers) {
            return refuse(at, elastic[i], d->text,
                          "another number than numWorkers is not possible yet");
        }
    }
    s->framework = (enum framework)body_word(spec, STR("distributedFramework"), frameworks,
                                             COUNT_OF(frameworks), FRAMEWORK_PYTORCH);
    s->pods = workers + 1; /* and the master */
    s->pods_min = s->pods;
    return read_master(at->c, spec, s);
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

static bool read_kind(struct call *c, enum workload_kind kind, struct workload_spec *s)
{
    const struct doc *spec = body_get(c->body, STR("spec"));
    struct place at = {c, "spec"};
    if (!read_spec(&at, spec, s)) {
        return false;
    }
    switch (kind) {
    case WORKLOAD_TRAINING:
        return read_training(&at, spec, s);
    case WORKLOAD_WORKSPACE:
        return true;
    case WORKLOAD_DISTRIBUTED:
        return read_distributed(&at, spec, s);
    case WORKLOAD_INFERENCE:
        return read_inference(&at, spec, s);
    }
    return true;
}

/* ---- showing ---- */

static void show_words(struct jw *w, struct str key, const struct str_item *words, uint32_t count)
{
    struct buf line;
    buf_init(&line, 1 << 20);
    for (uint32_t i = 0; i < count; i++) {
        buf_printf(&line, "%s" STR_FMT, i > 0 ? " " : "", STR_ARG(words[i].value));
    }
    jw_member_string(w, key, buf_view(&line));
    buf_done(&line);
}

/* Of a workload that was made another way. */
static void show_model_spec(struct jw *w, const struct workload *wl)
{
    const struct pod_spec *p = &wl->spec.pod;
    char text[QUANTITY_TEXT_SIZE];
    jw_object_begin(w);
    jw_member_string(w, STR("image"), p->image);
    show_words(w, p->args_are_command ? STR("command") : STR("args"), p->args, p->args_count);
    show_strings(w, STR("nodePools"), wl->spec.pools, wl->spec.pools_count);
    jw_member_string(w, STR("priorityClass"), priority_word(wl->spec.priority));
    jw_member_string(w, STR("preemptibility"),
                     wl->spec.preemptibility == PREEMPTIBLE ? STR("preemptible")
                                                            : STR("non-preemptible"));
    jw_key(w, STR("compute"));
    jw_object_begin(w);
    jw_member_i64(w, STR("gpuDevicesRequest"), p->gpu_devices);
    if (p->gpu_portion_share > 0) {
        jw_member_string(w, STR("gpuRequestType"), STR("portion"));
        show_amount(w, STR("gpuPortionRequest"), RES_GPU, p->gpu_portion_share);
    } else if (p->gpu_memory_bytes > 0) {
        jw_member_string(w, STR("gpuRequestType"), STR("memory"));
        jw_member_string(w, STR("gpuMemoryRequest"),
                         quantity_format_bytes(p->gpu_memory_bytes, text));
    }
    show_milli(w, STR("cpuCoreRequest"), p->cpu_milli);
    jw_member_string(w, STR("cpuMemoryRequest"), quantity_format_bytes(p->memory_bytes, text));
    jw_object_end(w);
    jw_object_end(w);
}

void spec_show(struct call *c, struct jw *w, const struct workload *wl)
{
    const struct doc *asked = workload_asked(c, wl);
    const struct doc *spec = body_get(asked, STR("spec"));
    const struct doc *master = body_get(asked, STR("masterSpec"));
    const struct doc *same = body_get(asked, STR("masterSpecSameAsWorker"));
    jw_key(w, STR("spec"));
    if (spec != NULL) {
        jw_doc(w, spec);
    } else {
        show_model_spec(w, wl);
    }
    if (same != NULL) {
        jw_member_bool(w, STR("masterSpecSameAsWorker"), same->boolean);
    }
    if (master != NULL) {
        jw_key(w, STR("masterSpec"));
        jw_doc(w, master);
    }
}

static void show_one(struct call *c, struct jw *w, const struct workload *wl)
{
    static const struct str desired[] = {
        [WANT_RUN] = STRS("Running"),
        [WANT_STOPPED] = STRS("Stopped"),
        [WANT_DELETED] = STRS("Deleted"),
    };
    const struct project *p = show_find_project(plan_of(c), wl->project);
    struct str given = body_str(workload_asked(c, wl), STR("name"));
    uint32_t department = 0;
    for (uint32_t i = 0; p != NULL && i < plan_of(c)->departments_count; i++) {
        const struct department *d = &plan_of(c)->departments[i];
        department = str_eq(d->name, p->department) ? d->id : department;
    }
    jw_object_begin(w);
    jw_member_string(w, STR("name"), wl->name);
    jw_member_string(w, STR("requestedName"), given.len > 0 ? given : wl->name);
    show_uuid(w, STR("workloadId"), wl->id);
    show_id(w, STR("projectId"), p != NULL ? p->id : 0);
    show_id(w, STR("departmentId"), department);
    show_cluster_id(c, w, STR("clusterId"));
    jw_member_string(w, STR("createdBy"), wl->author);
    show_moment(w, STR("createdAt"), wl->created_ms);
    show_time(w, STR("deletedAt"), workload_is_deleted(wl) ? wl->end_ms : 0);
    jw_member_string(w, STR("desiredPhase"), desired[wl->desired]);
    show_phase(w, STR("actualPhase"), wl);
    spec_show(c, w, wl);
    jw_object_end(w);
}

static void answer_one(struct call *c, int code, const struct workload *wl)
{
    struct jw w;
    call_begin(c, &w);
    show_one(c, &w, wl);
    call_send(c, code);
}

/* The workload of the path, when it is of the kind that the path is for. */
static const struct workload *of_kind(struct call *c, enum workload_kind kind)
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

/* ---- creating ---- */

/* null is the same as leaving it out. Its depth is that of the document, which the reader bounds. */
static void write_given(struct jw *w, const struct doc *d)
{
    if (d->kind == DOC_MAP) {
        jw_object_begin(w);
        for (const struct doc *m = d->child; m != NULL; m = m->next) {
            if (m->kind != DOC_NULL) {
                jw_key(w, m->key);
                write_given(w, m);
            }
        }
        jw_object_end(w);
    } else if (d->kind == DOC_LIST) {
        jw_array_begin(w);
        for (const struct doc *m = d->child; m != NULL; m = m->next) {
            write_given(w, m);
        }
        jw_array_end(w);
    } else {
        jw_doc(w, d);
    }
}

/* The head and the specs, as they came. */
static struct str asked_text(struct call *c)
{
    static const struct str members[] = {STRS("name"), STRS("spec"), STRS("masterSpec"),
                                         STRS("masterSpecSameAsWorker")};
    struct buf out;
    struct jw w;
    buf_init(&out, BODY_BYTES_MAX * 2);
    jw_init(&w, &out, false);
    jw_object_begin(&w);
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        const struct doc *d = body_get(c->body, members[i]);
        if (d != NULL) {
            jw_key(&w, members[i]);
            write_given(&w, d);
        }
    }
    jw_object_end(&w);
    struct str text = arena_str(c->arena, buf_view(&out));
    buf_done(&out);
    return text;
}

static void on_created(struct call *c, const struct outcome *outcome)
{
    const struct workload *wl = outcome->status == STATUS_OK
                                    ? engine_find(c->api->config.engine, outcome->id)
                                    : NULL;
    if (wl != NULL) {
        answer_one(c, 202, wl);
    } else {
        call_fail(c, &outcome->err);
    }
}

/* The same request came a moment ago, and its answer was lost on the way. */
static const struct workload *made_before(const struct call *c, const struct submit *s)
{
    const struct workload *wl = engine_find_name(c->api->config.engine, s->project, s->name);
    struct stamp stamp = {0};
    if (wl == NULL || wl->end_ms != TIME_NEVER || !str_eq(wl->asked, s->asked) ||
        wl->kind != s->kind) {
        return NULL;
    }
    stamp.created_by = wl->author;
    stamp.created_ms = stamp.updated_ms = wl->created_ms;
    return was_just_made(c, &stamp) ? wl : NULL;
}

static struct str full_name(struct call *c)
{
    struct str name = body_str(c->body, STR("name"));
    if (!body_bool(c->body, STR("useGivenNameAsPrefix"), false)) {
        return name;
    }
    struct str random = uuid_str(random_uuid(), c->arena);
    return arena_printf(c->arena, STR_FMT "-" STR_FMT, STR_ARG(name),
                        STR_ARG(str_sub(random, 0, SUFFIX_LEN)));
}

static void create(struct call *c, enum workload_kind kind)
{
    struct input in = {.kind = INPUT_SUBMIT, .version = INPUT_VERSION};
    struct submit *s = &in.submit;
    struct str id = body_str(c->body, STR("projectId"));
    const struct project *p = find_project_id(c, id);
    if (p == NULL) {
        struct err err;
        err_set(&err, STATUS_UNKNOWN, "there is no project " STR_FMT, STR_ARG(str_clip(id, 100)));
        err_field(&err, "projectId");
        err_hint(&err, "GET /api/v1/org-unit/projects lists those there are");
        c->value = str_clip(id, 100);
        call_refuse(c, NULL, &err);
        return;
    }
    if (!body_cluster(c) || !read_kind(c, kind, &s->spec)) {
        return;
    }
    s->kind = kind;
    s->project = p->name;
    s->name = full_name(c);
    s->asked = asked_text(c);
    const struct workload *before = made_before(c, s);
    if (before != NULL) {
        answer_one(c, 202, before);
        return;
    }
    submit_mint(s, c->arena);
    call_command(c, &in, on_created);
}

/* ---- the life of one ---- */

static void on_changed(struct call *c, const struct outcome *outcome)
{
    if (outcome->status == STATUS_OK) {
        answer_code(c, 202, c->context);
    } else {
        call_fail(c, &outcome->err);
    }
}

static void change(struct call *c, enum workload_kind kind, enum input_kind what,
                   const char *message)
{
    const struct workload *wl = of_kind(c, kind);
    if (wl != NULL) {
        struct input in = {.kind = what, .version = INPUT_VERSION, .target = wl->id};
        c->context = (void *)(uintptr_t)message;
        call_command(c, &in, on_changed);
    }
}

static void show(struct call *c, enum workload_kind kind)
{
    const struct workload *wl = of_kind(c, kind);
    if (wl != NULL) {
        answer_one(c, 200, wl);
    }
}

#define KIND_HANDLERS(kind, name)                                       \
    static void create_##name(struct call *c)                           \
    {                                                                   \
        create(c, kind);                                                \
    }                                                                   \
    static void get_##name(struct call *c)                              \
    {                                                                   \
        show(c, kind);                                                  \
    }                                                                   \
    static void delete_##name(struct call *c)                           \
    {                                                                   \
        change(c, kind, INPUT_DELETE, "the workload is being deleted"); \
    }
#define STOP_HANDLERS(kind, name)                                        \
    static void suspend_##name(struct call *c)                           \
    {                                                                    \
        change(c, kind, INPUT_SUSPEND, "the workload is being stopped"); \
    }                                                                    \
    static void resume_##name(struct call *c)                            \
    {                                                                    \
        change(c, kind, INPUT_RESUME, "the workload may start again");   \
    }
KIND_HANDLERS(WORKLOAD_TRAINING, training)
STOP_HANDLERS(WORKLOAD_TRAINING, training)
KIND_HANDLERS(WORKLOAD_WORKSPACE, workspace)
STOP_HANDLERS(WORKLOAD_WORKSPACE, workspace)
KIND_HANDLERS(WORKLOAD_DISTRIBUTED, distributed)
STOP_HANDLERS(WORKLOAD_DISTRIBUTED, distributed)
KIND_HANDLERS(WORKLOAD_INFERENCE, inference)

/* ---- many at once ---- */

struct batch_item {
    struct batch *batch;
    struct str id;
    int code; /* 0: it succeeded */
    struct str message;
};
struct batch {
    struct call *call;
    uint32_t count, waiting;
    struct batch_item items[BATCH_MAX];
};

static void answer_batch(struct batch *b)
{
    struct call *c = b->call;
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    show_uuid(&w, STR("id"), random_uuid());
    jw_key(&w, STR("succeeded"));
    jw_array_begin(&w);
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->items[i].code == 0) {
            jw_string(&w, b->items[i].id);
        }
    }
    jw_array_end(&w);
    jw_key(&w, STR("failed"));
    jw_array_begin(&w);
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->items[i].code != 0) {
            jw_object_begin(&w);
            jw_member_string(&w, STR("id"), b->items[i].id);
            jw_member_i64(&w, STR("code"), b->items[i].code);
            jw_member_string(&w, STR("message"), b->items[i].message);
            jw_object_end(&w);
        }
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static void on_batch_item(void *arg, const struct outcome *outcome)
{
    struct batch_item *item = arg;
    struct batch *b = item->batch;
    if (outcome->status != STATUS_OK) {
        item->code = status_info(outcome->status)->http;
        item->message = arena_str(b->call->arena, str_from_c(outcome->err.text));
    }
    if (--b->waiting == 0) {
        b->call->request->over = NULL;
        answer_batch(b);
    }
}

static void on_batch_gone(void *arg)
{
    struct batch *b = arg;
    for (uint32_t i = 0; i < b->count; i++) {
        writer_forget(b->call->api->writer, &b->items[i]);
    }
}

/* As for one workload alone: 404 where one may not even read it, 403 where one may not change it. */
static bool batch_may(struct call *c, struct batch_item *item, struct uuid id, enum right right)
{
    const struct workload *wl = engine_find(c->api->config.engine, id);
    const struct project *p = wl != NULL ? show_find_project(plan_of(c), wl->project) : NULL;
    if (wl == NULL || !sight_workload(call_sight(c), wl)) {
        item->code = status_info(STATUS_UNKNOWN)->http;
        item->message = arena_printf(c->arena, "there is no workload " STR_FMT, STR_ARG(item->id));
        return false;
    }
    struct scope scope = p != NULL ? scope_of_project(p->id) : SCOPE_OF_CLUSTER;
    if (!access_allows(call_grants(c), entity_of_kind(wl->kind), right, scope)) {
        item->code = status_info(STATUS_DENIED)->http;
        item->message = STR("this is not allowed to you");
        return false;
    }
    return true;
}

static void batch(struct call *c)
{
    static const struct str actions[] = {STRS("delete"), STRS("suspend"), STRS("resume")};
    static const enum input_kind kinds[] = {INPUT_DELETE, INPUT_SUSPEND, INPUT_RESUME};
    uint32_t action = body_word(c->body, STR("action"), actions, COUNT_OF(actions), 0);
    const struct doc *ids = body_get(c->body, STR("ids"));
    struct batch *b = ARENA_NEW(c->arena, struct batch);
    if (body_count(ids) > BATCH_MAX) {
        fail_field(c, "ids", (struct str){0}, "there are %u, at most %d are possible at once",
                   body_count(ids), BATCH_MAX);
        return;
    }
    b->call = c;
    b->waiting = 1; /* until all are on their way */
    c->request->over = on_batch_gone;
    c->request->over_arg = b;
    for (const struct doc *d = ids->child; d != NULL; d = d->next) {
        struct batch_item *item = &b->items[b->count++];
        struct input in = {.kind = kinds[action], .version = INPUT_VERSION, .author = c->user};
        *item = (struct batch_item){.batch = b, .id = d->text};
        bool ok = uuid_parse(d->text, &in.target);
        CHECK(ok); /* the schema saw to it */
        if (!batch_may(c, item, in.target, action == 0 ? RIGHT_DELETE : RIGHT_UPDATE)) {
            continue;
        }
        in.origin = call_origin(c);
        b->waiting++;
        writer_command(c->api->writer, &in, on_batch_item, item);
    }
    if (--b->waiting == 0) {
        c->request->over = NULL;
        answer_batch(b);
    }
}

/* ---- the rows ---- */

#define COMPUTE                                                                                 \
    "{cpuCoreLimit num(0..)?, cpuCoreRequest num(0..)?, cpuMemoryLimit qty?, cpuMemoryRequest " \
    "qty?, extendedResources [ExtendedResource]?, gpuDevicesRequest int(0..1024)?, "            \
    "gpuMemoryLimit qty?, gpuMemoryRequest qty?, gpuPortionLimit num(0..)?, "                   \
    "gpuPortionRequest num(0..)?, gpuRequestType 'portion'|'memory'?, largeShmRequest bool?}?"
#define SECURITY                                                                               \
    "{allowPrivilegeEscalation bool?, capabilities [str]?, hostIpc bool?, hostNetwork bool?, " \
    "readOnlyRootFilesystem bool?, runAsGid int?, runAsNonRoot bool?, runAsUid int?, "         \
    "seccompProfileType 'RuntimeDefault'|'Unconfined'|'Localhost'?, supplementalGroups str?, " \
    "uidGidSource 'fromTheImage'|'fromIdpToken'|'custom'?}?"
#define STORAGE                                                                                \
    "{configMapVolume [obj]?, dataVolume [obj]?, emptyDirVolume [obj]?, git [obj]?, hostPath " \
    "[HostPathInstance]?, nfs [obj]?, pvc [obj]?, s3 [obj]?, secretVolume [obj]?}?"
/* Of every kind. */
#define SPEC                                                                                    \
    "annotations [Annotation]?, args str?, category str?, command str?, createHomeDir bool?, "  \
    "environmentVariables [EnvironmentVariable]?, exposedUrls [ExposedUrl]?, image str?, "      \
    "imagePullPolicy 'Always'|'Never'|'IfNotPresent'?, imagePullSecrets [ImagePullSecret]?, "   \
    "labels [Label]?, nodeAffinityRequired obj?, nodePools [str]?, nodeType str?, podAffinity " \
    "{type 'Required'|'Preferred'?, key str?}?, ports [Port]?, preemptibility "                 \
    "'preemptible'|'non-preemptible'?, priorityClass str?, relatedUrls [RelatedUrl]?, "         \
    "tolerations [Toleration]?, workingDir str?, compute " COMPUTE ", security " SECURITY       \
    ", storage " STORAGE ", probes obj?"
/* Of those that end. */
#define SPEC_JOB                                                                               \
    SPEC ", autoDeletionTimeAfterCompletionSeconds int(0..)?, backoffLimit int(0..1000)?, "    \
         "restartPolicy 'Always'|'Never'|'OnFailure'?, stdin bool?, terminateAfterPreemption " \
         "bool?, terminationGracePeriodSeconds int(0..86400)?, tty bool?"
#define SPEC_DISTRIBUTED                                                                   \
    SPEC_JOB ", cleanPodPolicy 'None'|'All'|'Running'?, distributedFramework "             \
             "'MPI'|'PyTorch'|'TF'|'XGBoost'|'JAX'?, maxReplicas int?, minReplicas int?, " \
             "mpiLauncherCreationPolicy 'AtStartup'|'WaitForWorkersReady'?, numWorkers "   \
             "int(1..4095)?, slotsPerWorker int(1..)?, sshAuthMountPath str?"
#define HEAD                                                                          \
    "name* str(1..63), useGivenNameAsPrefix bool?, projectId* str, clusterId* uuid, " \
    "templateId uuid?"
#define REPLY                                                                             \
    "name* str, requestedName* str, workloadId* uuid, projectId* str, departmentId str, " \
    "clusterId* uuid, createdBy* str, createdAt* ts, deletedAt ts?, desiredPhase* "       \
    "'Running'|'Stopped'|'Deleted', actualPhase Phase"

static const struct schema_row schemas[] = {
    {"Annotation",                 "name str(..63)?, value str?, exclude bool?"                              },
    {"Label",                      "name str(..63)?, value str?, exclude bool?"                              },
    {"EnvironmentVariable",
     "name str?, value str?, secret {name str?, key str?}?, configMap {name str?, key str?}?, "
     "podFieldRef {path str?}?, userCredential {name str?, key str?}?, exclude bool?, description "
     "str?"                                                                                                  },
    {"ExposedUrl",                 "container int?, url str?, authorizationType "
                   "'authenticatedUsers'|'authorizedUsers'|'authorizedGroups'?, authorizedUsers "
                   "[str]?, authorizedGroups [str]?, toolType str?, toolName str?, name str?, "
                   "exclude bool?"                                                         },
    {"ImagePullSecret",            "name str?, userCredential bool?, exclude bool?"                          },
    {"Port",                       "container int(1..65535)?, serviceType 'LoadBalancer'|'NodePort'|'ClusterIP'?, "
             "external int?, toolType str?, toolName str?, name str?, exclude bool?"             },
    {"RelatedUrl",                 "url str?, type str?, name str?, exclude bool?"                           },
    {"Toleration",                 "name str?, operator 'Equal'|'Exists'?, key str?, value str?, effect "
                   "'NoSchedule'|'NoExecute'|'PreferNoSchedule'|'Any'?, seconds int(1..)?, "
                   "exclude bool?"                                                         },
    {"ExtendedResource",           "resource str?, quantity qty?, exclude bool?"                             },
    {"HostPathInstance",           "name str?, path str?, readOnly bool?, mountPath str?, mountPropagation "
                         "'None'|'HostToContainer'?, exclude bool?"                  },
    {"WorkspaceSpec",              SPEC_JOB                                                                  },
    {"TrainingSpec",               SPEC_JOB ", completions int(1..4096)?, parallelism int(1..4096)?"         },
    {"DistributedSpec",            SPEC_DISTRIBUTED                                                          },
    {"InferenceSpec",
     SPEC ", autoscaling Autoscaling?, servingConfiguration {initializationTimeoutSeconds "
          "int(1..)?, requestTimeoutSeconds int(1..)?}?, servingPort ServingPort?"                           },
    {"Autoscaling",
     "metricThresholdPercentage num(1..100)?, minReplicas int(0..4096)?, maxReplicas "
     "int(1..4096)?, initialReplicas int(0..)?, activationReplicas int(1..)?, "
     "concurrencyHardLimit int(0..)?, scaleToZeroRetentionSeconds int(0..3600)?, "
     "scaleDownDelaySeconds int(0..3600)?, initializationTimeoutSeconds int(1..)?, metric str?, "
     "metricThreshold int?"                                                                                  },
    {"ServingPort",                "container int(1..65535)?, protocol 'http'|'grpc'?, authorizationType "
                    "'public'|'authenticatedUsers'|'authorizedUsers'|'authorizedGroups'|"
                    "'authorizedUsersOrGroups'?, authorizedUsers [str]?, authorizedGroups [str]?, "
                    "clusterLocalAccessOnly bool?"                                        },
    {"WorkspaceCreationRequest",   HEAD ", spec WorkspaceSpec"                                               },
    {"TrainingCreationRequest",    HEAD ", spec TrainingSpec"                                                },
    {"DistributedCreationRequest",
     HEAD ", spec DistributedSpec, masterSpecSameAsWorker bool?, masterSpec TrainingSpec?"                   },
    {"InferenceCreationRequest",   HEAD ", spec InferenceSpec"                                               },
    {"Workspace",                  REPLY ", spec* WorkspaceSpec"                                             },
    {"Training",                   REPLY ", spec* TrainingSpec"                                              },
    {"DistributedWorkload",
     REPLY ", spec* DistributedSpec, masterSpecSameAsWorker bool?, masterSpec TrainingSpec?"                 },
    {"Inference",                  REPLY ", spec* InferenceSpec"                                             },
    {"WorkloadBatch",              "ids* [uuid], action* 'delete'|'suspend'|'resume'"                        },
    {"BatchResponse",              "id* uuid, succeeded [uuid], failed [{id* uuid, code* int, message* str}]"},
};

#define P "/api/v1/workloads"
#define KIND_ROWS(word, one, Body, Answer, what, entity) \
    {"POST",                                             \
     P "/" word,                                         \
     "create_" one,                                      \
     create_##what,                                      \
     NULL,                                               \
     Body,                                               \
     202,                                                \
     Answer,                                             \
     "Submit a workload of type " Answer,                \
     0,                                                  \
     "create " entity " at project-id projectId"},       \
        {"GET",                                          \
         P "/" word "/{workloadId:uuid}",                \
         "get_" what##_ID,                               \
         get_##what,                                     \
         NULL,                                           \
         NULL,                                           \
         200,                                            \
         Answer,                                         \
         "One workload of type " Answer,                 \
         0,                                              \
         "read " entity " at workload workloadId"},      \
        {"DELETE",                                       \
         P "/" word "/{workloadId:uuid}",                \
         "delete_" what##_ID,                            \
         delete_##what,                                  \
         NULL,                                           \
         NULL,                                           \
         202,                                            \
         "HttpResponse",                                 \
         "Delete a workload of type " Answer,            \
         0,                                              \
         "delete " entity " at workload workloadId"}
#define STOP_ROWS(word, what, entity)             \
    {"POST",                                      \
     P "/" word "/{workloadId:uuid}/suspend",     \
     "suspend_" what##_ID,                        \
     suspend_##what,                              \
     NULL,                                        \
     NULL,                                        \
     202,                                         \
     "HttpResponse",                              \
     "Stop a workload, to be resumed",            \
     0,                                           \
     "update " entity " at workload workloadId"}, \
        {"POST",                                  \
         P "/" word "/{workloadId:uuid}/resume",  \
         "resume_" what##_ID,                     \
         resume_##what,                           \
         NULL,                                    \
         NULL,                                    \
         202,                                     \
         "HttpResponse",                          \
         "Let a stopped workload start again",    \
         0,                                       \
         "update " entity " at workload workloadId"}
#define training_ID    "training"
#define workspace_ID   "workspace"
#define distributed_ID "distributed"
#define inference_ID   "inference"

static const struct route routes[] = {
    KIND_ROWS("trainings", "training1", "TrainingCreationRequest", "Training", training,
              "trainings"),
    STOP_ROWS("trainings", training, "trainings"),
    KIND_ROWS("workspaces", "workspace1", "WorkspaceCreationRequest", "Workspace", workspace,
              "workspaces"),
    STOP_ROWS("workspaces", workspace, "workspaces"),
    KIND_ROWS("distributed", "distributed", "DistributedCreationRequest", "DistributedWorkload",
              distributed, "trainings"),
    STOP_ROWS("distributed", distributed, "trainings"),
    KIND_ROWS("inferences", "inference1", "InferenceCreationRequest", "Inference", inference,
              "inferences"),
    {"POST", P "/batch", "batch_workloads", batch, NULL, "WorkloadBatch", 200, "BatchResponse",
       "Delete, stop or resume up to a hundred workloads", 0, "read workloads"},
};

const struct route_group group_submit = ROUTE_GROUP("WorkloadKinds", routes, schemas);

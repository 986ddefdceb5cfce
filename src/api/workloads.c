// SPDX-License-Identifier: Apache-2.0
// Workloads: listed, submitted, suspended, resumed, deleted, explained.
#include <stdio.h>

#include "api/call.h"
#include "api/policy_words.h"
#include "api/runai/assets.h"
#include "api/runai/workloads.h"
#include "base/num.h"
#include "codec/duration.h"
#include "io/random.h"
#include "model/limits.h"
#include "model/priority.h"
#include "model/units.h"

enum {
    CPU_DEFAULT_MILLI = 100,          /* a device, or a pod without */
    MEMORY_DEFAULT_BYTES = 100 << 20, /* the same */
    GRACE_DEFAULT_MS = 30000,
};
#define PERMILLE_SHARE      (DEVICE_SHARE / 1000)
#define ANNOTATION_DURATION "weir/expected-duration"

/* ---- reading ---- */

struct filter {
    struct str project, phase, kind, framework, name;
    bool deleted;
};

static bool passes(const struct filter *f, const struct workload *wl)
{
    return (f->project.len == 0 || str_eq(f->project, wl->project)) &&
           (f->name.len == 0 || str_eq(f->name, wl->name)) &&
           (f->kind.len == 0 || str_eq(f->kind, show_kind(wl->kind))) &&
           (f->framework.len == 0 || str_eq(f->framework, show_framework(wl->spec.framework))) &&
           (f->deleted || wl->desired != WANT_DELETED || wl->end_ms == TIME_NEVER) &&
           (f->phase.len == 0 || str_eq(f->phase, workload_phase(wl)));
}

void get_workloads(struct call *c)
{
    int64_t limit = body_i64(c->args, STR("limit"), 0);
    int64_t offset = body_i64(c->args, STR("offset"), 0);
    struct filter f = {
        .project = body_str(c->args, STR("project")),
        .phase = body_str(c->args, STR("phase")),
        .kind = body_str(c->args, STR("kind")),
        .framework = body_str(c->args, STR("framework")),
        .name = body_str(c->args, STR("name")),
        .deleted = body_bool(c->args, STR("deleted"), false),
    };
    const struct state *st = engine_state(c->api->config.engine);
    struct show show = call_show(c);
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("items"));
    jw_array_begin(&w);
    int64_t total = 0;
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        if (passes(&f, &st->workloads[i]) && sight_workload(show.sight, &st->workloads[i])) {
            if (total >= offset && total - offset < limit) {
                show_workload(&show, &w, &st->workloads[i], false);
            }
            total++;
        }
    }
    jw_array_end(&w);
    jw_member_i64(&w, STR("total"), total);
    jw_object_end(&w);
    call_send(c, 200);
}

static void send_workload(struct call *c, int code, const struct workload *wl)
{
    struct show show = call_show(c);
    struct jw w;
    call_begin(c, &w);
    show_workload(&show, &w, wl, true);
    call_send(c, code);
}

void get_workload(struct call *c)
{
    const struct workload *wl = call_workload(c);
    if (wl != NULL) {
        send_workload(c, 200, wl);
    }
}

void get_why(struct call *c)
{
    const struct workload *wl = call_workload(c);
    if (wl == NULL) {
        return;
    }
    struct show show = call_show(c);
    struct remedy_told told;
    struct jw w;
    engine_remedy(c->api->config.engine, wl, show.now_ms, c->arena, &told);
    show_remedy_hide(&show, &told);
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("workload"));
    show_workload(&show, &w, wl, true);
    jw_key(&w, STR("why"));
    show_why(&show, &w, &wl->why);
    jw_key(&w, STR("remedy"));
    show_remedy(&w, &told);
    jw_key(&w, STR("story"));
    show_story(&show, &w, wl, &told);
    jw_object_end(&w);
    call_send(c, 200);
}

/* ---- submitting ---- */

static const struct str kinds[] = {STRS("training"), STRS("workspace"), STRS("inference"),
                                   STRS("distributed")};
static const struct str preemptibilities[] = {STRS(""), STRS("preemptible"),
                                              STRS("non-preemptible")};
static const struct str restarts[] = {STRS("never"), STRS("on-failure"), STRS("always")};

static void missing(struct problems *problems, const char *what, const char *field,
                    const char *hint)
{
    struct problem *p = problems_add(problems, SEVERITY_ERROR, "%s is missing", what);
    p->field = str_from_c(field);
    p->hint = str_from_c(hint);
}

// What it declares for the scheduler is an annotation, for the command line has no word for it.
static void read_duration(struct workload_spec *s, struct problems *problems)
{
    for (uint32_t i = 0; i < s->annotations_count; i++) {
        const struct label *a = &s->annotations[i];
        struct err err;
        if (!str_eq(a->key, STR(ANNOTATION_DURATION))) {
            continue;
        }
        if (duration_parse(a->value, &s->duration_ms, &err) != STATUS_OK || s->duration_ms <= 0 ||
            s->duration_ms > DURATION_MAX_MS) {
            struct problem *p = problems_add(problems, SEVERITY_ERROR,
                                             "\"" STR_FMT "\" is no time that it may run",
                                             STR_ARG(a->value));
            p->field = STR("spec.annotations." ANNOTATION_DURATION);
            p->hint = STR("write for example 90m or 36h");
            s->duration_ms = 0;
        }
    }
}

static void read_pod(const struct doc *spec, struct pod_spec *p, struct arena *arena)
{
    int64_t portion_milli = body_milli(spec, STR("gpu_portion"), 0);
    int64_t memory = body_i64(spec, STR("gpu_memory"), 0);
    int64_t devices = body_i64(spec, STR("gpu_devices"), portion_milli > 0 || memory > 0 ? 1 : 0);
    int64_t factor = devices > 1 ? devices : 1;
    *p = (struct pod_spec){
        .image = body_str(spec, STR("image")),
        .args_are_command = body_bool(spec, STR("args_are_command"), false),
        .working_dir = body_str(spec, STR("working_dir")),
        .run_as_uid = body_i64(spec, STR("run_as_uid"), -1),
        .run_as_gid = body_i64(spec, STR("run_as_gid"), -1),
        .gpu_devices = devices,
        /* 1.0 of a device is a device */
        .gpu_portion_share = portion_milli == 1000 ? 0 : portion_milli * PERMILLE_SHARE,
        .gpu_memory_bytes = memory,
        .cpu_milli = body_milli(spec, STR("cpu"), factor * CPU_DEFAULT_MILLI),
        .cpu_limit_milli = body_milli(spec, STR("cpu_limit"), -1),
        .memory_bytes = body_i64(spec, STR("memory"), factor * MEMORY_DEFAULT_BYTES),
        .memory_limit_bytes = body_i64(spec, STR("memory_limit"), -1),
        .grace_ms = body_i64(spec, STR("grace_ms"), GRACE_DEFAULT_MS),
        .single_numa = body_bool(spec, STR("single_numa"), false),
    };
    p->args = body_strings(body_get(spec, STR("command")), arena, &p->args_count);
    struct label *env = body_pairs(body_get(spec, STR("env")), arena, &p->env_count);
    p->env = ARENA_ARRAY(arena, struct env_var, p->env_count);
    for (uint32_t i = 0; i < p->env_count; i++) {
        p->env[i] = (struct env_var){.name = env[i].key, .value = env[i].value};
    }
}

/* Variables that come from credentials: behind the others. */
static void read_secrets(struct call *c, const struct doc *secrets, struct pod_spec *p,
                         struct problems *problems)
{
    uint32_t count = body_count(secrets);
    struct env_var *env = ARENA_ARRAY(c->arena, struct env_var, p->env_count + count);
    for (uint32_t i = 0; i < p->env_count; i++) {
        env[i] = p->env[i];
    }
    p->env = env;
    for (const struct doc *d = count > 0 ? secrets->child : NULL; d != NULL; d = d->next) {
        struct env_var *v = &p->env[p->env_count++];
        struct err err = {0};
        *v = (struct env_var){.name = d->key};
        if (!credential_use(c, body_str(d, STR("credential")), body_str(d, STR("key")),
                            body_bool(d, STR("own"), false), c->scope, v, &err)) {
            struct problem *problem = problems_add(problems, SEVERITY_ERROR, "%s", err.text);
            problem->field = arena_printf(c->arena, "spec.env_secrets." STR_FMT, STR_ARG(d->key));
            problem->hint = arena_str(c->arena, str_from_c(err.hint));
        }
    }
}

static enum framework framework_named(struct str word)
{
    enum framework f = FRAMEWORK_JAX;
    while (f != FRAMEWORK_NONE && !str_eq(show_framework(f), word)) {
        f--;
    }
    return f;
}

static void read_spec(struct call *c, const struct doc *spec, struct workload_spec *s,
                      struct problems *problems)
{
    *s = (struct workload_spec){
        .pods = body_i64(spec, STR("pods"), 1),
        .preemptibility = (enum preemptibility)body_word(
            spec, STR("preemptibility"), preemptibilities, COUNT_OF(preemptibilities), 0),
        .restart = (enum restart_policy)body_word(spec, STR("restart"), restarts,
                                                  COUNT_OF(restarts), 0),
        .backoff_limit = body_i64(spec, STR("backoff_limit"), 0),
        .auto_delete_ms = body_i64(spec, STR("auto_delete_ms"), -1),
        .node_type = body_str(spec, STR("node_type")),
        .available_min = body_i64(spec, STR("min_available"), 0),
        .framework = framework_named(body_str(spec, STR("framework"))),
    };
    /* Fewer at a time than there are: each begins as there is room, unless said otherwise. */
    int64_t parallel = body_i64(spec, STR("parallel_max"), s->pods);
    s->parallel_max = parallel < s->pods ? parallel : 0;
    s->pods_min = body_i64(spec, STR("pods_min"), s->parallel_max > 0 ? 1 : s->pods);
    s->pools = body_strings(body_get(spec, STR("pools")), c->arena, &s->pools_count);
    s->labels = body_pairs(body_get(spec, STR("labels")), c->arena, &s->labels_count);
    s->annotations = body_pairs(body_get(spec, STR("annotations")), c->arena,
                                &s->annotations_count);
    read_pod(spec, &s->pod, c->arena);
    read_secrets(c, body_get(spec, STR("env_secrets")), &s->pod, problems);
    read_duration(s, problems);
    const struct doc *priority = body_get(spec, STR("priority"));
    bool scalar = priority != NULL &&
                  (priority->kind == DOC_STRING || priority->kind == DOC_NUMBER);
    if (priority != NULL && (!scalar || !priority_parse(priority->text, &s->priority))) {
        struct problem *p = problems_add(
            problems, SEVERITY_ERROR,
            "expected very-low, low, medium-low, medium, medium-high, high, very-high, or "
            "a whole number from 1 to 1000");
        p->field = STR("spec.priority");
        c->value = scalar ? priority->text : (struct str){0};
    }
    if (str_eq(s->pod.image, STR("")) || str_eq(s->pod.image, STR("host"))) {
        s->pod.image = STR("host");
        if (s->pod.args_count == 0 && problems->error_count == 0) {
            missing(problems, "the command to run", "spec.command",
                    "add its words, for instance [\"sleep\", \"600\"]");
        }
    }
}

static void read_name(struct call *c, struct submit *s, struct problems *problems)
{
    struct str prefix = body_str(c->body, STR("name_prefix"));
    s->name = body_str(c->body, STR("name"));
    if (problems->error_count > 0) {
        return;
    }
    if (s->name.len > 0 && prefix.len > 0) {
        problems_add(problems, SEVERITY_ERROR, "a name and a name_prefix are given: which one?")
            ->field = STR("name_prefix");
    } else if (s->name.len == 0 && prefix.len == 0) {
        missing(problems, "the name", "name",
                "add one, or name_prefix to have a number put behind it");
    } else if (s->name.len == 0 && !name_from_prefix(c, s->project, prefix, &s->name)) {
        problems_add(problems, SEVERITY_ERROR, "all numbers behind this prefix are taken")->field =
            STR("name_prefix");
    }
}

void submit_mint(struct submit *s, struct arena *arena)
{
    s->id = random_uuid();
    s->pod_ids_count = (uint32_t)s->spec.pods;
    s->pod_ids = ARENA_ARRAY(arena, struct pod_id, s->pod_ids_count);
    for (uint32_t i = 0; i < s->pod_ids_count; i++) {
        s->pod_ids[i].id = random_uuid();
    }
}

/* ---- the answers of commands ---- */

static void on_submitted(struct call *c, const struct outcome *outcome)
{
    /* All that the engine names is in the spec, but for these. */
    static const struct str top[] = {STRS(""), STRS("id"), STRS("name"), STRS("project")};
    if (outcome->status != STATUS_OK) {
        struct err err = outcome->err;
        bool inside = !str_starts(str_from_c(err.field), STR("pod.")); /* call_fail renames those */
        for (size_t i = 0; inside && i < COUNT_OF(top); i++) {
            inside = !str_eq(str_from_c(err.field), top[i]);
        }
        if (inside) {
            err_field(&err, "spec.%s", outcome->err.field);
        }
        call_fail(c, &err);
        return;
    }
    const struct workload *wl = engine_find(c->api->config.engine, outcome->id);
    if (wl == NULL) { /* a key used long ago for a workload that is deleted since */
        struct err err;
        err_set(&err, STATUS_CONFLICT, "this command was done before; its workload is gone");
        call_fail(c, &err);
        return;
    }
    send_workload(c, 201, wl);
}

void post_workload(struct call *c)
{
    struct problems *problems = ARENA_NEW(c->arena, struct problems);
    problems_init(problems, c->arena);
    struct input in = {.kind = INPUT_SUBMIT, .version = INPUT_VERSION};
    struct submit *s = &in.submit;
    s->project = body_str(c->body, STR("project"));
    s->kind = (enum workload_kind)body_word(c->body, STR("kind"), kinds, COUNT_OF(kinds), 0);
    if (!call_may(c, entity_of_kind(s->kind), RIGHT_CREATE, c->scope)) {
        return;
    }
    s->request = request_digest(c);
    const struct project *project = show_find_project(&engine_state(c->api->config.engine)->plan,
                                                      s->project);
    if (project != NULL && !policy_words_lay(c, project, s->kind)) {
        return;
    }
    read_spec(c, body_get(c->body, STR("spec")), &s->spec, problems);
    if (s->kind == WORKLOAD_INFERENCE) { /* each replica serves by itself, and for ever */
        const struct doc *spec = body_get(c->body, STR("spec"));
        s->spec.pods_min = body_i64(spec, STR("pods_min"), 1);
        s->spec.restart = (enum restart_policy)body_word(spec, STR("restart"), restarts,
                                                         COUNT_OF(restarts), RESTART_ALWAYS);
    }
    read_name(c, s, problems);
    if (problems->error_count > 0) {
        struct err err;
        problems_to_err(problems, &err);
        c->problems = problems->count > 1 ? problems : NULL;
        call_refuse(c, NULL, &err);
        return;
    }
    submit_mint(s, c->arena);
    struct str prefix = body_str(c->body, STR("name_prefix"));
    if (prefix.len > 0) {
        name_keep(c, s->project, prefix, s->name);
    }
    call_command(c, &in, on_submitted);
}

static void on_changed(struct call *c, const struct outcome *outcome)
{
    if (outcome->status != STATUS_OK) {
        call_fail(c, &outcome->err);
        return;
    }
    const struct uuid *id = c->context;
    const struct workload *wl = engine_find(c->api->config.engine, *id);
    if (wl != NULL) {
        send_workload(c, 200, wl);
        return;
    }
    struct jw w; /* deleted, and nothing of it was kept */
    char text[UUID_TEXT_LEN + 1];
    uuid_format(*id, text);
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_member_string(&w, STR("id"), str_from_c(text));
    jw_object_end(&w);
    call_send(c, 200);
}

static void change(struct call *c, enum input_kind kind)
{
    struct uuid *id = ARENA_NEW(c->arena, struct uuid);
    c->context = id;
    if (!call_answered(c, id)) {
        const struct workload *wl = call_workload(c);
        if (wl == NULL) {
            return;
        }
        *id = wl->id;
    }
    struct input in = {.kind = kind, .version = INPUT_VERSION, .target = *id};
    call_command(c, &in, on_changed);
}

void suspend_workload(struct call *c)
{
    change(c, INPUT_SUSPEND);
}

void resume_workload(struct call *c)
{
    change(c, INPUT_RESUME);
}

void delete_workload(struct call *c)
{
    change(c, INPUT_DELETE);
}

// SPDX-License-Identifier: Apache-2.0
// Workloads: listed, submitted, suspended, resumed, deleted, explained.
#include <stdio.h>

#include "api/call.h"
#include "api/read.h"
#include "base/num.h"
#include "codec/duration.h"
#include "io/random.h"
#include "model/limits.h"
#include "model/units.h"

enum {
    PAGE_DEFAULT = 500,
    PAGE_MAX = 1000,
    CPU_DEFAULT_MILLI = 100,          /* a device, or a pod without */
    MEMORY_DEFAULT_BYTES = 100 << 20, /* the same */
    GRACE_DEFAULT_MS = 30000,
};
#define PERMILLE_SHARE      (DEVICE_SHARE / 1000)
#define ANNOTATION_DURATION "weir/expected-duration"

/* ---- reading ---- */

struct filter {
    struct str project, phase, kind, name;
    bool deleted;
};

static bool passes(const struct filter *f, const struct workload *wl)
{
    return (f->project.len == 0 || str_eq(f->project, wl->project)) &&
           (f->name.len == 0 || str_eq(f->name, wl->name)) &&
           (f->kind.len == 0 || str_eq(f->kind, show_kind(wl->kind))) &&
           (f->deleted || wl->desired != WANT_DELETED || wl->end_ms == TIME_NEVER) &&
           (f->phase.len == 0 || str_eq(f->phase, workload_phase(wl)));
}

void get_workloads(struct call *c)
{
    int64_t limit = PAGE_DEFAULT;
    int64_t offset = 0;
    struct filter f = {
        .project = http_arg(c->request, STR("project")),
        .phase = http_arg(c->request, STR("phase")),
        .kind = http_arg(c->request, STR("kind")),
        .name = http_arg(c->request, STR("name")),
    };
    if (!call_args(c, "project phase kind name deleted limit offset") ||
        !call_flag(c, STR("deleted"), &f.deleted) ||
        !call_number(c, STR("limit"), 0, PAGE_MAX, &limit) ||
        !call_number(c, STR("offset"), 0, INT64_MAX, &offset)) {
        return;
    }
    const struct state *st = engine_state(c->api->config.engine);
    struct show show = call_show(c);
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("items"));
    jw_array_begin(&w);
    int64_t total = 0;
    for (uint32_t i = 0; i < st->workloads_count; i++) {
        if (passes(&f, &st->workloads[i])) {
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
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("workload"));
    show_workload(&show, &w, wl, true);
    jw_key(&w, STR("why"));
    show_why(&show, &w, &wl->why);
    jw_key(&w, STR("story"));
    show_story(&show, &w, wl);
    jw_object_end(&w);
    call_send(c, 200);
}

/* ---- submitting ---- */

struct body {
    struct str name, name_prefix, project;
    uint32_t kind;
    const struct doc *spec;
};

static const struct str kinds[] = {STRS("training"), STRS("workspace"), STRS("inference"),
                                   STRS("distributed")};
static const struct str preemptibilities[] = {STRS(""), STRS("preemptible"),
                                              STRS("non-preemptible")};
static const struct str restarts[] = {STRS("never"), STRS("on-failure"), STRS("always")};

#define AT(type, member) .offset = offsetof(type, member)
#define LIST(type, member) \
    .offset = offsetof(type, member), .count_offset = offsetof(type, member##_count)
#define WORDS(list) .words = (list), .words_count = COUNT_OF(list)

static const struct read_member body_members[] = {
    {STRS("name"), READ_STR, AT(struct body, name)},
    {STRS("name_prefix"), READ_STR, AT(struct body, name_prefix)},
    {STRS("project"), READ_STR, AT(struct body, project)},
    {STRS("kind"), READ_WORD, AT(struct body, kind), WORDS(kinds)},
    {STRS("spec"), READ_OBJECT, AT(struct body, spec)},
};

/* Ranges are the engine's; here only what its integers hold, and what a limit cannot be. */
static const struct read_member spec_members[] = {
    {STRS("image"), READ_STR, AT(struct workload_spec, pod.image)},
    {STRS("command"), READ_STR_LIST, LIST(struct workload_spec, pod.args)},
    {STRS("args_are_command"), READ_BOOL, AT(struct workload_spec, pod.args_are_command)},
    {STRS("env"), READ_PAIRS, LIST(struct workload_spec, pod.env)},
    {STRS("working_dir"), READ_STR, AT(struct workload_spec, pod.working_dir)},
    {STRS("run_as_uid"), READ_WHOLE, AT(struct workload_spec, pod.run_as_uid), .least = 0,
     .most = UINT32_MAX - 1, .null_is_absent = true},
    {STRS("run_as_gid"), READ_WHOLE, AT(struct workload_spec, pod.run_as_gid), .least = 0,
     .most = UINT32_MAX - 1, .null_is_absent = true},
    {STRS("gpu_devices"), READ_WHOLE, AT(struct workload_spec, pod.gpu_devices), .least = 0,
     .most = NODE_DEVICES_MAX},
    {STRS("gpu_portion"), READ_DECIMAL3, AT(struct workload_spec, pod.gpu_portion_share),
     .least = 1, .most = 1000, .null_is_absent = true},
    {STRS("gpu_memory"), READ_WHOLE, AT(struct workload_spec, pod.gpu_memory_bytes), .least = 1,
     .most = AMOUNT_MAX, .null_is_absent = true},
    {STRS("cpu"), READ_DECIMAL3, AT(struct workload_spec, pod.cpu_milli), .least = 0,
     .most = AMOUNT_MAX},
    {STRS("cpu_limit"), READ_DECIMAL3, AT(struct workload_spec, pod.cpu_limit_milli), .least = 1,
     .most = AMOUNT_MAX, .null_is_absent = true},
    {STRS("memory"), READ_WHOLE, AT(struct workload_spec, pod.memory_bytes), .least = 0,
     .most = AMOUNT_MAX},
    {STRS("memory_limit"), READ_WHOLE, AT(struct workload_spec, pod.memory_limit_bytes), .least = 1,
     .most = AMOUNT_MAX, .null_is_absent = true},
    {STRS("grace_ms"), READ_WHOLE, AT(struct workload_spec, pod.grace_ms), .least = 0,
     .most = GRACE_MAX_MS},
    {STRS("pods"), READ_WHOLE, AT(struct workload_spec, pods), .least = 1,
     .most = WORKLOAD_PODS_MAX},
    {STRS("pods_min"), READ_WHOLE, AT(struct workload_spec, pods_min), .least = 1,
     .most = WORKLOAD_PODS_MAX},
    {STRS("priority"), READ_PRIORITY, AT(struct workload_spec, priority)},
    {STRS("preemptibility"), READ_WORD, AT(struct workload_spec, preemptibility),
     WORDS(preemptibilities)},
    {STRS("pools"), READ_STR_LIST, LIST(struct workload_spec, pools)},
    {STRS("labels"), READ_PAIRS, LIST(struct workload_spec, labels)},
    {STRS("annotations"), READ_PAIRS, LIST(struct workload_spec, annotations)},
    {STRS("restart"), READ_WORD, AT(struct workload_spec, restart), WORDS(restarts)},
    {STRS("backoff_limit"), READ_WHOLE, AT(struct workload_spec, backoff_limit), .least = 0,
     .most = BACKOFF_LIMIT_MAX},
    {STRS("auto_delete_ms"), READ_WHOLE, AT(struct workload_spec, auto_delete_ms), .least = 0,
     .most = DURATION_MAX_MS, .null_is_absent = true},
};
_Static_assert(sizeof(enum restart_policy) == sizeof(uint32_t), "READ_WORD writes a uint32_t");
_Static_assert(sizeof(enum preemptibility) == sizeof(uint32_t), "READ_WORD writes a uint32_t");

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

static void read_spec(struct call *c, const struct doc *root, struct workload_spec *s,
                      struct problems *problems)
{
    *s = (struct workload_spec){
        .pods = 1,
        .auto_delete_ms = -1,
        .pod = {.run_as_uid = -1,
                .run_as_gid = -1,
                .gpu_devices = -1,
                .cpu_milli = -1,
                .cpu_limit_milli = -1,
                .memory_bytes = -1,
                .memory_limit_bytes = -1,
                .grace_ms = GRACE_DEFAULT_MS},
    };
    if (root != NULL) {
        read_object(root, STR("spec."), spec_members, COUNT_OF(spec_members), s, problems,
                    &c->value);
    }
    read_duration(s, problems);
    struct pod_spec *p = &s->pod;
    p->gpu_portion_share *= PERMILLE_SHARE; /* thousandths so far */
    bool fraction = p->gpu_portion_share > 0 || p->gpu_memory_bytes > 0;
    if (p->gpu_devices < 0) {
        p->gpu_devices = fraction ? 1 : 0;
    }
    if (p->gpu_portion_share == DEVICE_SHARE) {
        p->gpu_portion_share = 0; /* 1.0 of a device is a device */
    }
    int64_t factor = p->gpu_devices > 1 ? p->gpu_devices : 1;
    if (p->cpu_milli < 0) {
        p->cpu_milli = factor * CPU_DEFAULT_MILLI;
    }
    if (p->memory_bytes < 0) {
        p->memory_bytes = factor * MEMORY_DEFAULT_BYTES;
    }
    if (s->pods_min == 0) {
        s->pods_min = s->pods;
    }
    if (str_eq(p->image, STR("")) || str_eq(p->image, STR("host"))) {
        p->image = STR("host");
        if (p->args_count == 0 && problems->error_count == 0) {
            missing(problems, "the command to run", "spec.command",
                    "add its words, for instance [\"sleep\", \"600\"]");
        }
    }
}

static void check_body(struct call *c, struct body *b, struct problems *problems)
{
    if (problems->error_count > 0) {
        return;
    }
    if (b->project.len == 0) {
        missing(problems, "the project", "project", "add the project that the workload is of");
    }
    if (b->name.len > 0 && b->name_prefix.len > 0) {
        problems_add(problems, SEVERITY_ERROR, "a name and a name_prefix are given: which one?")
            ->field = STR("name_prefix");
    } else if (b->name.len == 0 && b->name_prefix.len == 0) {
        missing(problems, "the name", "name",
                "add one, or name_prefix to have a number put behind it");
    } else if (b->name.len == 0 && !name_from_prefix(c, b->project, b->name_prefix, &b->name)) {
        problems_add(problems, SEVERITY_ERROR, "all numbers behind this prefix are taken")->field =
            STR("name_prefix");
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
    struct body b = {0};
    struct err err;
    struct doc *root = NULL;
    struct problems problems;
    problems_init(&problems, c->arena);
    if (!call_args(c, "")) {
        return;
    }
    if (json_doc(c->request->body, c->arena, &root, &err) != STATUS_OK) {
        call_refuse(c, "submit", &err);
        return;
    }
    struct input in = {.kind = INPUT_SUBMIT, .version = INPUT_VERSION};
    struct submit *s = &in.submit;
    read_object(root, STR(""), body_members, COUNT_OF(body_members), &b, &problems, &c->value);
    if (root->kind == DOC_MAP) {
        read_spec(c, b.spec, &s->spec, &problems);
    }
    check_body(c, &b, &problems);
    if (problems.error_count > 0) {
        problems_to_err(&problems, &err);
        c->problems = problems.count > 1 ? &problems : NULL;
        call_refuse(c, "submit", &err);
        return;
    }
    s->id = random_uuid();
    s->name = b.name;
    s->project = b.project;
    s->kind = (enum workload_kind)b.kind;
    s->pod_ids_count = (uint32_t)s->spec.pods;
    s->pod_ids = ARENA_ARRAY(c->arena, struct pod_id, s->pod_ids_count);
    for (uint32_t i = 0; i < s->pod_ids_count; i++) {
        s->pod_ids[i].id = random_uuid();
    }
    if (b.name_prefix.len > 0) {
        name_keep(c, b.project, b.name_prefix, b.name);
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
    if (!engine_answered(c->api->config.engine, c->user, http_header(c->request, "Idempotency-Key"),
                         id)) {
        const struct workload *wl = call_workload(c);
        if (wl == NULL) {
            return;
        }
        *id = wl->id;
    }
    if (!call_args(c, "")) {
        return;
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

// SPDX-License-Identifier: Apache-2.0
// Workloads of one kind: made, shown, stopped, started again, deleted. What was asked for is kept as
// it came (workload.asked) and shown again.
#include "api/runai/assets.h"
#include "api/runai/policies.h"
#include "api/runai/workloads.h"
#include "base/hash.h"
#include "io/random.h"

enum { SUFFIX_LEN = 5, REQUEST_SEED = 0x7072 };

/* ---- showing ---- */

static void show_one(struct call *c, struct jw *w, const struct workload *wl)
{
    static const struct str desired[] = {
        [WANT_RUN] = STRS("Running"),
        [WANT_STOPPED] = STRS("Stopped"),
        [WANT_DELETED] = STRS("Deleted"),
    };
    struct str given = body_str(workload_asked(c, wl), STR("name"));
    jw_object_begin(w);
    jw_member_string(w, STR("name"), wl->name);
    jw_member_string(w, STR("requestedName"), given.len > 0 ? given : wl->name);
    show_uuid(w, STR("workloadId"), wl->id);
    jw_member_string(w, STR("projectId"), workload_project_id(c, wl));
    jw_member_string(w, STR("departmentId"), workload_department_id(c, wl));
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

/* ---- creating ---- */

/* Of the body as it came: what a policy, a template or an asset makes of it may be another thing the next
 * time, and it is the same request all the same. */
int64_t request_digest(struct call *c)
{
    struct str text = asset_text(c, c->body);
    return (int64_t)(hash_bytes(text.ptr, text.len, REQUEST_SEED) >> 1);
}

/* The specs before policies were laid under them, for the next change to begin with. */
static void show_before(struct jw *w, const struct doc *before, const struct doc *after)
{
    static const struct str members[] = {STRS("spec"), STRS("masterSpec")};
    if (before == after) {
        return;
    }
    jw_key(w, STR("given"));
    jw_object_begin(w);
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        const struct doc *d = body_get(before, members[i]);
        if (d != NULL) {
            jw_key(w, members[i]);
            show_given(w, d);
        }
    }
    jw_object_end(w);
}

/* The head and the specs, with what they were before policies. */
static struct str asked_text(struct call *c, const struct doc *before)
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
            show_given(&w, d);
        }
    }
    show_before(&w, before, c->body);
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
        struct err err = outcome->err;
        if (str_eq(str_from_c(err.field), STR("node_type"))) {
            err_field(&err, "spec.nodeType");
        }
        call_fail(c, &err);
    }
}

/* The same request came a moment ago, and its answer was lost on the way. */
static const struct workload *made_before(const struct call *c, const struct submit *s)
{
    const struct workload *wl = engine_find_name(c->api->config.engine, s->project, s->name);
    struct stamp stamp = {0};
    if (wl == NULL || wl->end_ms != TIME_NEVER || wl->request != s->request ||
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
    s->kind = kind;
    s->project = p->name;
    s->name = full_name(c);
    s->request = request_digest(c);
    if (!body_cluster(c)) {
        return;
    }
    const struct workload *made = made_before(c, s);
    if (made != NULL) {
        answer_one(c, 202, made);
        return;
    }
    if (!assets_lay_under(c, kind, scope_of_project(p->id))) {
        return;
    }
    const struct doc *before = c->body;
    if (!policies_lay_under(c, p, kind) || !spec_read(c, kind, scope_of_project(p->id), &s->spec)) {
        return;
    }
    s->asked = asked_text(c, before);
    submit_mint(s, c->arena);
    call_command(c, &in, on_created);
}

/* ---- changing ---- */

static struct doc **append(struct call *c, struct doc **link, struct str key, const struct doc *d)
{
    *link = ARENA_NEW(c->arena, struct doc);
    **link = *d;
    (*link)->key = key;
    (*link)->next = NULL;
    return &(*link)->next;
}

/* base with the members of change in place of its own; members that are maps are merged where `deep`. */
static struct doc *merged(struct call *c, const struct doc *base, const struct doc *change,
                          bool deep)
{
    struct doc *out = ARENA_NEW(c->arena, struct doc);
    struct doc **link = &out->child;
    out->kind = DOC_MAP;
    for (const struct doc *d = base->child; d != NULL; d = d->next) {
        const struct doc *new = change != NULL ? doc_get(change, d->key) : NULL; /* null too */
        if (new == NULL) {
            link = append(c, link, d->key, d);
        } else if (deep && new->kind == DOC_MAP && d->kind == DOC_MAP) {
            link = append(c, link, d->key, merged(c, d, new, false));
        }
    }
    for (const struct doc *d = change != NULL ? change->child : NULL; d != NULL; d = d->next) {
        const struct doc *old = body_get(base, d->key);
        bool in = deep && old != NULL && old->kind == DOC_MAP && d->kind == DOC_MAP;
        if (!in && d->kind != DOC_NULL) {
            link = append(c, link, d->key, d);
        }
    }
    return out;
}

static void update_inference(struct call *c)
{
    const struct workload *wl = path_workload_of(c, WORKLOAD_INFERENCE);
    struct input in = {.kind = INPUT_UPDATE, .version = INPUT_VERSION};
    if (wl == NULL) {
        return;
    }
    const struct doc *asked = workload_asked(c, wl);
    const struct doc *given = body_get(body_get(asked, STR("given")), STR("spec"));
    const struct doc *spec = given != NULL ? given : body_get(asked, STR("spec"));
    const struct project *p = show_find_project(plan_of(c), wl->project);
    if (spec == NULL || p == NULL) {
        struct err err;
        err_set(&err, STATUS_CONFLICT, "workload \"" STR_FMT "\" was not made through this path",
                STR_ARG(wl->name));
        err_hint(&err, "submit it again as it should be");
        call_reject(c, &err);
        return;
    }
    struct doc *change = ARENA_NEW(c->arena, struct doc);
    *change = (struct doc){.kind = DOC_MAP};
    (void)append(c, &change->child, STR("spec"),
                 merged(c, spec, body_get(c->body, STR("spec")), true));
    in.submit.request = request_digest(c);
    c->body = merged(c, asked, change, false);
    const struct doc *before = c->body;
    if (policies_lay_under(c, p, WORKLOAD_INFERENCE) &&
        spec_read(c, WORKLOAD_INFERENCE, c->scope, &in.submit.spec)) {
        in.target = wl->id;
        in.submit.asked = asked_text(c, before);
        submit_mint(&in.submit, c->arena);
        call_command(c, &in, on_created);
    }
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
    const struct workload *wl = path_workload_of(c, kind);
    if (wl != NULL) {
        struct input in = {.kind = what, .version = INPUT_VERSION, .target = wl->id};
        c->context = (void *)(uintptr_t)message;
        call_command(c, &in, on_changed);
    }
}

static void show(struct call *c, enum workload_kind kind)
{
    const struct workload *wl = path_workload_of(c, kind);
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

/* ---- the rows ---- */

#define HEAD                                                                          \
    "name* str(1..63), useGivenNameAsPrefix bool?, projectId* str, clusterId* uuid, " \
    "templateId uuid?, assets Assets?"
#define REPLY                                                                             \
    "name* str, requestedName* str, workloadId* uuid, projectId* str, departmentId str, " \
    "clusterId* uuid, createdBy* str, createdAt* ts, deletedAt ts?, desiredPhase* "       \
    "'Running'|'Stopped'|'Deleted', actualPhase Phase"

static const struct schema_row schemas[] = {
    {"WorkspaceCreationRequest",   HEAD ", spec WorkspaceSpec"                              },
    {"TrainingCreationRequest",    HEAD ", spec TrainingSpec"                               },
    {"DistributedCreationRequest",
     HEAD ", spec DistributedSpec, masterSpecSameAsWorker bool?, masterSpec TrainingSpec?"  },
    {"InferenceUpdateRequest",     "spec InferenceSpec"                                     },
    {"InferenceCreationRequest",   HEAD ", spec InferenceSpec"                              },
    {"Workspace",                  REPLY ", spec* WorkspaceSpec"                            },
    {"Training",                   REPLY ", spec* TrainingSpec"                             },
    {"DistributedWorkload",
     REPLY ", spec* DistributedSpec, masterSpecSameAsWorker bool?, masterSpec TrainingSpec?"},
    {"Inference",                  REPLY ", spec* InferenceSpec"                            },
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
    {"PATCH", P "/inferences/{workloadId:uuid}", "update_inference_spec", update_inference, NULL,
       "InferenceUpdateRequest", 202, "Inference",
       "Change an inference workload: the number of its replicas while the others run on, anything "
     "else by stopping them first", 0, "update inferences at workload workloadId"},
};

const struct route_group group_submit = ROUTE_GROUP("WorkloadKinds", routes, schemas);

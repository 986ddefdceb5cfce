// SPDX-License-Identifier: Apache-2.0
// Policies: /api/v2/policy. One for each kind of workload and scope.
#include "api/runai/policies.h"

#include "api/runai/assets.h"
#include "base/check.h"
#include "io/random.h"

#define P "/api/v2/policy"

/* In the order of enum workload_kind: in paths, as PolicyType, and in the list's argument. */
static const struct kind_words {
    struct str path, type, wanted;
} kinds[] = {
    {STRS("trainings"),   STRS("training"),    STRS("Training")   },
    {STRS("workspaces"),  STRS("workspace"),   STRS("Workspace")  },
    {STRS("inferences"),  STRS("inference"),   STRS("Inference")  },
    {STRS("distributed"), STRS("distributed"), STRS("Distributed")},
};

static enum workload_kind kind_of(const struct call *c)
{
    struct str path = str_from_c(c->entry->route->path);
    uint32_t kind = 0;
    while (kind + 1 < COUNT_OF(kinds) && !str_ends(path, kinds[kind].path)) {
        kind++;
    }
    return (enum workload_kind)kind;
}

static const struct policies *policies_of(const struct call *c)
{
    return &state_of(c)->policies;
}

/* ---- reading ---- */

static void answer(struct call *c, enum workload_kind kind, struct scope scope,
                   const struct policy *own, const struct policy *instead)
{
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    if (own != NULL) {
        jw_key(&w, STR("meta"));
        policy_show_meta(c, &w, own);
        jw_key(&w, STR("policy"));
        policy_show(c, &w, own);
    }
    policy_show_effective(c, &w, kind, scope, instead);
    jw_object_end(&w);
    call_send(c, 200);
}

static void get(struct call *c)
{
    struct scope scope;
    if (scope_given(c, c->args, "", &scope) && call_may(c, ENTITY_POLICIES, RIGHT_READ, scope)) {
        answer(c, kind_of(c), scope, policy_find(policies_of(c), kind_of(c), scope), NULL);
    }
}

static bool same_id(const struct call *c, struct str arg, struct scope scope, enum scope_kind kind)
{
    const struct doc *d = body_get(c->args, arg);
    return d == NULL || (scope.kind == kind && str_eq(d->text, scope_id(c, scope)));
}

static bool is_wanted(struct call *c, const struct policy *p)
{
    struct str type = body_str(c->args, STR("workloadType"));
    struct str scope = body_str(c->args, STR("scope"));
    return (type.len == 0 || str_eq(type, kinds[p->kind].wanted)) &&
           (scope.len == 0 || str_eq(scope, scope_type(p->scope.kind))) &&
           same_id(c, STR("clusterId"), p->scope, SCOPE_CLUSTER) &&
           same_id(c, STR("departmentId"), p->scope, SCOPE_DEPARTMENT) &&
           same_id(c, STR("projectId"), p->scope, SCOPE_PROJECT) &&
           access_allows(call_grants(c), ENTITY_POLICIES, RIGHT_READ, p->scope);
}

static void show_entry(struct call *c, struct jw *w, const struct policy *p)
{
    jw_object_begin(w);
    jw_member_string(w, STR("type"), kinds[p->kind].type);
    jw_key(w, STR("meta"));
    policy_show_meta(c, w, p);
    jw_key(w, STR("status"));
    jw_object_begin(w);
    jw_key(w, STR("clusters"));
    jw_array_begin(w);
    jw_object_begin(w);
    show_cluster_id(c, w, STR("clusterId"));
    jw_member_string(w, STR("status"), STR("Ready"));
    jw_object_end(w);
    jw_array_end(w);
    jw_object_end(w);
    jw_object_end(w);
}

static void list(struct call *c)
{
    struct jw w;
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("policies"));
    jw_array_begin(&w);
    for (uint32_t i = 0; i < policies_of(c)->rows_count; i++) {
        const struct policy *p = &policies_of(c)->rows[i];
        if (is_wanted(c, p)) {
            show_entry(c, &w, p);
        }
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

/* ---- changing ---- */

static void send_change(struct call *c, enum policy_op op, const struct policy *p,
                        void (*done)(struct call *c, const struct outcome *outcome))
{
    struct input in = {
        .kind = INPUT_POLICY, .version = INPUT_VERSION, .policy = {op, *p}
    };
    call_command(c, &in, done);
}

static void on_put(struct call *c, const struct outcome *outcome)
{
    const struct policy *asked = c->context;
    if (outcome->status != STATUS_OK) {
        call_fail(c, &outcome->err);
        return;
    }
    const struct policy *p = policy_find(policies_of(c), asked->kind, asked->scope);
    answer(c, (enum workload_kind)asked->kind, asked->scope, p, NULL);
}

/* Who writes nothing is answered as if it had been written. */
static void answer_checked(struct call *c, struct policy *p, const struct policy *known)
{
    int64_t now_ms = c->api->config.now_ms();
    if (known != NULL) {
        p->id = known->id;
        p->stamp = known->stamp;
    } else {
        p->stamp.created_by = c->user;
        p->stamp.created_ms = now_ms;
    }
    p->stamp.updated_by = c->user;
    p->stamp.updated_ms = now_ms;
    answer(c, (enum workload_kind)p->kind, p->scope, p, p);
}

static void put(struct call *c, bool over)
{
    const struct doc *meta = body_get(c->body, STR("meta"));
    struct policy *p = ARENA_NEW(c->arena, struct policy);
    *p = (struct policy){
        .kind = kind_of(c), .id = random_uuid(), .name = body_str(meta, STR("name"))};
    if (str_eq(body_str(meta, STR("scope")), STR("system"))) {
        struct err err;
        err_set(&err, STATUS_INVALID, "weir's own policy cannot be written");
        err_field(&err, "meta.scope");
        err_hint(&err, "a policy of the tenant, the cluster, a department or a project changes it");
        c->value = STR("system");
        call_refuse(c, NULL, &err);
        return;
    }
    if (!scope_given(c, meta, "meta.", &p->scope)) {
        return;
    }
    const struct policy *known = policy_find(policies_of(c), p->kind, p->scope);
    if (!call_may(c, ENTITY_POLICIES, known != NULL ? RIGHT_UPDATE : RIGHT_CREATE, p->scope)) {
        return;
    }
    if (over && known == NULL) {
        struct err err;
        err_set(&err, STATUS_UNKNOWN, "there is no policy in this scope to be changed");
        err_field(&err, "meta.scope");
        err_hint(&err, "PUT makes one");
        call_refuse(c, NULL, &err);
    } else if (policy_read(c, over ? known : NULL, p)) {
        if (body_bool(c->args, STR("validateOnly"), false)) {
            answer_checked(c, p, known);
        } else {
            c->context = p;
            send_change(c, POLICY_PUT, p, on_put);
        }
    }
}

static void overwrite(struct call *c)
{
    put(c, false);
}

static void update(struct call *c)
{
    put(c, true);
}

static void on_deleted(struct call *c, const struct outcome *outcome)
{
    if (outcome->status == STATUS_OK) {
        answer_empty(c, 204);
    } else {
        call_fail(c, &outcome->err);
    }
}

static void delete(struct call *c)
{
    struct policy *p = ARENA_NEW(c->arena, struct policy);
    *p = (struct policy){.kind = kind_of(c)};
    if (!scope_given(c, c->args, "", &p->scope) ||
        !call_may(c, ENTITY_POLICIES, RIGHT_DELETE, p->scope)) {
        return;
    }
    const struct policy *known = policy_find(policies_of(c), p->kind, p->scope);
    p->name = known != NULL ? arena_str(c->arena, known->name) : STR(""); /* for the audit */
    send_change(c, POLICY_REMOVE, p, on_deleted);
}

/* ---- the rows ---- */

#define SCOPE_ARGS                                                                             \
    "scope* 'tenant'|'cluster'|'department'|'project', departmentId str, projectId int(1..), " \
    "clusterId uuid"
#define WRITE_ARGS "validateOnly bool = false, approveClusterDeletion bool = false"

#define ROWS(word, Name, read_id, write_id, change_id, delete_id)                       \
    {"GET", P "/" word,     read_id,                                                    \
     get,   SCOPE_ARGS,     NULL,                                                       \
     200,   Name "Policy",  "The policy of a scope for " word ", and what holds there", \
     0,     "read policies"},                                                           \
        {"PUT",     P "/" word,       write_id,                                         \
         overwrite, WRITE_ARGS,       Name "PolicyOverwriteRequest",                    \
         200,       Name "Policy",    "Write the policy of a scope for " word,          \
         0,         "create policies"},                                                 \
        {"PATCH", P "/" word,       change_id,                                          \
         update,  WRITE_ARGS,       Name "PolicyChangeRequest",                         \
         200,     Name "Policy",    "Change fields of the policy of a scope for " word, \
         0,       "update policies"},                                                   \
        {"DELETE",                                                                      \
         P "/" word,                                                                    \
         delete_id,                                                                     \
         delete,                                                                        \
         SCOPE_ARGS ", approveClusterDeletion bool = false",                            \
         NULL,                                                                          \
         204,                                                                           \
         NULL,                                                                          \
         "Delete the policy of a scope for " word,                                      \
         0,                                                                             \
         "delete policies"}

static const struct route routes[] = {
    {"GET", P, "list_policies", list,
     "workloadType 'Workspace'|'Training'|'Distributed'|'Inference'|'DistributedInference', "
     "scope 'system'|'tenant'|'cluster'|'department'|'project', departmentId str, projectId "
     "int(1..), clusterId uuid, includeFallbackPolicies bool = false", NULL, 200, "PolicyListResponse", "All policies that one may read", 0, "read policies"},
    ROWS("trainings", "Training", "get_training_policy_v2", "overwrite_training_policy_v2",
         "update_training_policy_v2", "delete_training_policy"),
    ROWS("workspaces", "Workspace", "get_workspace_policy_v2", "overwrite_workspace_policy_v2",
         "update_workspace_policy_v2", "delete_workspace_policy"),
    ROWS("inferences", "Inference", "get_inference_policy_v2", "overwrite_inference_policy_v2",
         "update_inference_policy_v2", "delete_inference_policy"),
    ROWS("distributed", "Distributed", "get_distributed_policy_v2",
         "overwrite_distributed_policy_v2", "update_distributed_policy_v2",
         "delete_distributed_policy"),
};

const struct route_group group_policies = {"Policies", routes, COUNT_OF(routes), NULL, 0};

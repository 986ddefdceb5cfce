// SPDX-License-Identifier: Apache-2.0
// Assets: /api/v1/asset. One set of handlers for all kinds; the path says which kind it is.
#include "api/runai/assets.h"

#include "base/check.h"
#include "io/random.h"
#include "model/limits.h"

enum { SHOWN_MAX = 100 };

#define P "/api/v1/asset/"

/* What follows P in the paths of each kind. */
static const struct str places[ASSET_KINDS] = {
    [ASSET_COMPUTE] = STRS("compute"),
    [ASSET_ENVIRONMENT] = STRS("environment"),
    [ASSET_GIT] = STRS("datasource/git"),
    [ASSET_S3] = STRS("datasource/s3"),
    [ASSET_NFS] = STRS("datasource/nfs"),
    [ASSET_PVC] = STRS("datasource/pvc"),
    [ASSET_HOST_PATH] = STRS("datasource/host-path"),
    [ASSET_CONFIG_MAP] = STRS("datasource/config-map"),
    [ASSET_SECRET_VOLUME] = STRS("datasource/secrets"),
    [ASSET_ACCESS_KEY] = STRS("credentials/access-key"),
    [ASSET_PASSWORD] = STRS("credentials/password"),
    [ASSET_DOCKER_REGISTRY] = STRS("credentials/docker-registry"),
    [ASSET_GENERIC_SECRET] = STRS("credentials/generic-secret"),
    [ASSET_NGC_API_KEY] = STRS("credentials/ngc-api-key"),
};

static enum asset_kind kind_of(const struct call *c)
{
    struct str path = str_from_c(c->entry->route->path);
    uint32_t prefix = sizeof P - 1;
    struct str place = str_sub(path, prefix, path.len - prefix);
    for (uint32_t i = 0; i < ASSET_KINDS; i++) {
        if (places[i].len > 0 && str_starts(place, places[i]) &&
            (place.len == places[i].len || place.ptr[places[i].len] == '/')) {
            return (enum asset_kind)i;
        }
    }
    CHECK(false);
    return ASSET_KINDS;
}

static bool is_credential(enum asset_kind kind)
{
    return asset_kind_info(kind)->class == ASSET_IS_CREDENTIAL;
}

const struct assets *assets_of(const struct call *c)
{
    return &state_of(c)->assets;
}

bool asset_seen(struct call *c, const struct asset *a)
{
    return (!a->owned || str_eq(a->stamp.created_by, c->user)) &&
           access_allows(call_grants(c), asset_kind_info(a->kind)->entity, RIGHT_READ, a->scope);
}

/* ---- texts ---- */

struct str asset_text(struct call *c, const struct doc *d)
{
    struct buf out;
    struct jw w;
    if (d == NULL) {
        return STR("{}");
    }
    buf_init(&out, 2 * (size_t)BODY_BYTES_MAX);
    jw_init(&w, &out, false);
    show_given(&w, d);
    struct str text = arena_str(c->arena, buf_view(&out));
    buf_done(&out);
    return text;
}

const struct doc *asset_doc(struct call *c, struct str text)
{
    struct doc *d = NULL;
    enum status status = json_doc(text, c->arena, &d, NULL);
    CHECK(status == STATUS_OK);
    return d;
}

/* ---- showing ---- */

static void show_scope(struct call *c, struct jw *w, struct scope s)
{
    jw_member_string(w, STR("scope"), scope_type(s.kind));
    if (s.kind == SCOPE_CLUSTER) {
        show_cluster_id(c, w, STR("clusterId"));
    } else if (s.kind == SCOPE_DEPARTMENT) {
        show_id(w, STR("departmentId"), s.id);
    } else if (s.kind == SCOPE_PROJECT) {
        jw_member_i64(w, STR("projectId"), s.id);
        jw_member_string(w, STR("projectName"), scope_name(c, s));
    }
}

static void show_meta(struct call *c, struct jw *w, const struct asset *a)
{
    jw_object_begin(w);
    show_uuid(w, STR("id"), a->id);
    jw_member_string(w, STR("kind"), asset_kind_info(a->kind)->name);
    jw_member_string(w, STR("name"), a->name);
    jw_member_string(w, STR("description"), a->description);
    show_scope(c, w, a->scope);
    jw_member_i64(w, STR("tenantId"), TENANT_ID);
    show_stamp(w, &a->stamp);
    jw_member_bool(w, STR("autoDelete"), false);
    jw_member_bool(w, STR("private"), a->owned);
    if (a->supports.len > 0) {
        jw_key(w, STR("workloadSupportedTypes"));
        jw_raw(w, a->supports);
    }
    jw_member_i64(w, STR("updateCount"), a->updates);
    jw_object_end(w);
}

static void show_spec(struct call *c, struct jw *w, const struct asset *a)
{
    if (is_credential(a->kind)) {
        credential_show(c, w, a);
    } else {
        jw_raw(w, a->spec);
    }
}

static void show_asset(struct call *c, struct jw *w, const struct asset *a)
{
    jw_object_begin(w);
    jw_key(w, STR("meta"));
    show_meta(c, w, a);
    jw_key(w, STR("spec"));
    show_spec(c, w, a);
    jw_object_end(w);
}

static void answer_asset(struct call *c, int code, const struct asset *a)
{
    struct jw w;
    call_begin(c, &w);
    show_asset(c, &w, a);
    call_send(c, code);
}

/* ---- lists ---- */

struct wanted {
    struct str name, scope_type;
    struct scope scope;
    bool has_scope, descendants;
    struct str_item *ids;
    uint32_t ids_count;
};

/* Of several ids the narrowest is meant. False: answered. */
static bool read_wanted(struct call *c, struct wanted *w)
{
    static const struct {
        struct str arg;
        enum scope_kind kind;
    } args[] = {
        {STRS("projectId"),    SCOPE_PROJECT   },
        {STRS("departmentId"), SCOPE_DEPARTMENT},
        {STRS("clusterId"),    SCOPE_CLUSTER   },
    };
    *w = (struct wanted){.name = body_str(c->args, STR("name")),
                         .scope_type = body_str(c->args, STR("scope")),
                         .descendants = body_bool(c->args, STR("includeDescendants"), false)};
    w->ids = body_strings(body_get(c->args, STR("assetIds")), c->arena, &w->ids_count);
    for (size_t i = 0; i < COUNT_OF(args) && !w->has_scope; i++) {
        const struct doc *d = body_get(c->args, args[i].arg);
        struct err err;
        if (d == NULL) {
            continue;
        }
        if (scope_read(c, scope_type(args[i].kind), d->text, &w->scope, &err) != STATUS_OK) {
            err_field(&err, STR_FMT, STR_ARG(args[i].arg));
            call_reject(c, &err);
            return false;
        }
        w->has_scope = true;
    }
    return true;
}

static bool is_wanted(struct call *c, const struct wanted *w, const struct asset *a)
{
    const struct scope_tree *tree = &call_grants(c)->book->tree;
    bool listed = w->ids_count == 0;
    for (uint32_t i = 0; i < w->ids_count; i++) {
        struct uuid id;
        listed = listed || (uuid_parse(w->ids[i].value, &id) && uuid_eq(id, a->id));
    }
    if (!listed || (w->name.len > 0 && !str_eq(w->name, a->name)) ||
        (w->scope_type.len > 0 && !str_eq(w->scope_type, scope_type(a->scope.kind)))) {
        return false;
    }
    return !w->has_scope || scope_contains(tree, a->scope, w->scope) ||
           (w->descendants && scope_contains(tree, w->scope, a->scope));
}

/* Whether an environment is for what the arguments say. */
static bool supports(struct call *c, const struct asset *a)
{
    static const struct {
        struct str arg, member;
    } words[] = {
        {STRS("isTraining"),    STRS("training")   },
        {STRS("isWorkspace"),   STRS("workspace")  },
        {STRS("isInference"),   STRS("inference")  },
        {STRS("isDistributed"), STRS("distributed")},
    };
    const struct doc *types = a->supports.len > 0 ? asset_doc(c, a->supports) : NULL;
    struct str framework = body_str(c->args, STR("distributedFramework"));
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        const struct doc *asked = body_get(c->args, words[i].arg);
        if (asked != NULL && asked->boolean != body_bool(types, words[i].member, types == NULL)) {
            return false;
        }
    }
    return framework.len == 0 || types == NULL ||
           str_eq(framework, body_str(types, STR("distFramework")));
}

static void answer_list(struct call *c, bool (*is_of)(enum asset_kind kind, enum asset_kind want),
                        enum asset_kind want)
{
    struct wanted wanted;
    struct jw w;
    if (!read_wanted(c, &wanted)) {
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    jw_key(&w, STR("entries"));
    jw_array_begin(&w);
    for (uint32_t i = 0; i < assets_of(c)->rows_count; i++) {
        const struct asset *a = &assets_of(c)->rows[i];
        if (is_of(a->kind, want) && asset_seen(c, a) && is_wanted(c, &wanted, a) &&
            supports(c, a)) {
            show_asset(c, &w, a);
        }
    }
    jw_array_end(&w);
    jw_object_end(&w);
    call_send(c, 200);
}

static bool is_same_kind(enum asset_kind kind, enum asset_kind want)
{
    return kind == want;
}

static bool is_same_class(enum asset_kind kind, enum asset_kind want)
{
    return asset_kind_info(kind)->class == asset_kind_info(want)->class;
}

static void list(struct call *c)
{
    answer_list(c, is_same_kind, kind_of(c));
}

static void list_data(struct call *c)
{
    answer_list(c, is_same_class, ASSET_GIT);
}

static void list_credentials(struct call *c)
{
    answer_list(c, is_same_class, ASSET_PASSWORD);
}

/* ---- one ---- */

/* The asset of the path, when it is of the path's kind and may be seen; NULL: answered. */
static const struct asset *path_asset(struct call *c)
{
    struct uuid id;
    const struct asset *a = uuid_parse(c->segments.items[0], &id) ? asset_find(assets_of(c), id)
                                                                  : NULL;
    if (a == NULL || a->kind != kind_of(c) || !asset_seen(c, a)) {
        fail_unknown(c, arena_cstr(c->arena, asset_kind_info(kind_of(c))->word),
                     c->segments.items[0]);
        return NULL;
    }
    return a;
}

static void get(struct call *c)
{
    const struct asset *a = path_asset(c);
    if (a != NULL) {
        answer_asset(c, 200, a);
    }
}

/* ---- changing ---- */

struct asset_call {
    void (*done)(struct call *c, const struct outcome *outcome);
};

static void on_changed(struct call *c, const struct outcome *outcome)
{
    const struct asset_call *kept = c->context;
    if (outcome->status != STATUS_OK) {
        call_fail(c, &outcome->err);
        return;
    }
    kept->done(c, outcome);
}

void asset_change_send(struct call *c, const struct asset_change *change,
                       void (*done)(struct call *c, const struct outcome *outcome))
{
    struct asset_call *kept = ARENA_NEW(c->arena, struct asset_call);
    struct input in = {.kind = INPUT_ASSET, .version = INPUT_VERSION, .asset = *change};
    kept->done = done;
    c->context = kept;
    call_command(c, &in, on_changed);
}

static void on_set(struct call *c, const struct outcome *outcome)
{
    const struct asset *a = asset_find(assets_of(c), outcome->id);
    if (a == NULL) {
        fail_unknown(c, "asset", uuid_str(outcome->id, c->arena));
        return;
    }
    answer_asset(c, 202, a);
}

/* The credential that a data source names is there for everybody who may use the data source. */
static bool credential_ok(struct call *c, const struct doc *spec, const char *member,
                          struct scope scope)
{
    struct str text = body_str(spec, str_from_c(member));
    struct uuid id;
    if (text.len == 0) {
        return true;
    }
    const struct asset *a = uuid_parse(text, &id) ? asset_find(assets_of(c), id) : NULL;
    if (a != NULL && is_credential(a->kind) && asset_seen(c, a) &&
        scope_contains(&call_grants(c)->book->tree, a->scope, scope)) {
        return true;
    }
    struct err err;
    err_set(&err, STATUS_UNKNOWN, "there is no credential " STR_FMT " in this scope",
            STR_ARG(str_clip(text, SHOWN_MAX)));
    err_field(&err, "spec.%s", member);
    err_hint(&err, "GET /api/v1/asset/credentials lists those there are");
    call_refuse(c, NULL, &err);
    return false;
}

static bool read_spec(struct call *c, struct asset *a)
{
    static const char *const members[] = {"passwordAssetId", "credentialId", "accessKeyAssetId",
                                          "credentialAssetId"};
    const struct doc *spec = body_get(c->body, STR("spec"));
    if (is_credential(a->kind)) {
        return credential_read(c, a);
    }
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        if (!credential_ok(c, spec, members[i], a->scope)) {
            return false;
        }
    }
    a->spec = asset_text(c, spec);
    return true;
}

const struct asset *asset_just_made(struct call *c, const struct asset *a)
{
    for (uint32_t i = 0; i < assets_of(c)->rows_count; i++) {
        const struct asset *have = &assets_of(c)->rows[i];
        if (have->kind == a->kind && scope_eq(have->scope, a->scope) &&
            str_eq(have->name, a->name) && str_eq(have->spec, a->spec)) {
            return was_just_made(c, &have->stamp) ? have : NULL;
        }
    }
    return NULL;
}

static void create(struct call *c)
{
    const struct doc *meta = body_get(c->body, STR("meta"));
    struct asset_change change = {.op = ASSET_ADD};
    struct asset *a = &change.asset;
    const struct doc *types = body_get(meta, STR("workloadSupportedTypes"));
    a->kind = kind_of(c);
    a->id = random_uuid();
    a->name = body_str(meta, STR("name"));
    a->description = body_str(meta, STR("description"));
    a->owned = body_bool(meta, STR("private"), false);
    a->supports = types != NULL ? asset_text(c, types) : STR("");
    if (body_bool(meta, STR("autoDelete"), false)) {
        fail_field(c, "meta.autoDelete", STR("true"), "weir deletes assets only when asked to");
        return;
    }
    if (!scope_given(c, meta, "meta.", &a->scope) ||
        !call_may(c, asset_kind_info(a->kind)->entity, RIGHT_CREATE, a->scope) ||
        !read_spec(c, a)) {
        return;
    }
    const struct asset *made = asset_just_made(c, a);
    if (made != NULL) {
        answer_asset(c, 202, made);
        return;
    }
    asset_change_send(c, &change, on_set);
}

static void update(struct call *c)
{
    const struct asset *a = path_asset(c);
    const struct doc *meta = body_get(c->body, STR("meta"));
    struct asset_change change = {.op = ASSET_SET};
    if (a == NULL || !call_may(c, asset_kind_info(a->kind)->entity, RIGHT_UPDATE, a->scope)) {
        return;
    }
    record_copy(&record_asset, a, &change.asset, c->arena);
    struct str name = body_str(meta, STR("name"));
    change.asset.name = name.len > 0 ? name : change.asset.name;
    if (body_get(meta, STR("description")) != NULL) {
        change.asset.description = body_str(meta, STR("description"));
    }
    if (body_get(c->body, STR("spec")) == NULL) {
        for (uint32_t i = 0; i < change.asset.secrets_count; i++) {
            change.asset.secrets[i].value = STR("");
        }
    } else if (!read_spec(c, &change.asset)) {
        return;
    }
    asset_change_send(c, &change, on_set);
}

static void on_deleted(struct call *c, const struct outcome *outcome)
{
    (void)outcome;
    if (c->entry->route->code == 204) {
        answer_empty(c, 204);
    } else {
        answer_code(c, 202, "the asset is deleted");
    }
}

static void delete(struct call *c)
{
    const struct asset *a = path_asset(c);
    if (a == NULL || !call_may(c, asset_kind_info(a->kind)->entity, RIGHT_DELETE, a->scope)) {
        return;
    }
    struct asset_change change = {.op = ASSET_REMOVE};
    change.asset.id = a->id;
    change.asset.name = arena_str(c->arena, a->name); /* for the audit */
    asset_change_send(c, &change, on_deleted);
}

/* ---- the rows ---- */

#define META                                                                                  \
    "name* str(1..253), description str(..250)?, scope* "                                     \
    "'tenant'|'cluster'|'department'|'project', clusterId uuid?, departmentId str?, "         \
    "projectId int(1..)?, autoDelete bool?, private bool?, workloadSupportedTypes {training " \
    "bool?, workspace bool?, inference bool?, distributed bool?, distFramework str?}?"

#define ONE(Name, Spec)                                               \
    {Name, "meta* AssetMeta, spec* " Spec},                           \
        {Name "CreationRequest", "meta* AssetCreation, spec* " Spec}, \
        {Name "UpdateRequest", "meta* AssetUpdate, spec " Spec "?"},  \
        {Name "ListResponse", "entries* [" Name "]"}
#define SECRET(Name, Spec, Shown)                                        \
    {Name, "meta* AssetMeta, spec* " Shown},                             \
        {Name "CreationRequest", "meta* AssetCreation, spec* " Spec},    \
        {Name "UpdateRequest", "meta CredentialUpdate, spec " Spec "?"}, \
        {Name "ListResponse", "entries* [" Name "]"}

static const struct schema_row schemas[] = {
    {"AssetCreation",              META                                                                 },
    {"AssetUpdate",                "name* str(1..253), description str(..250)?"                         },
    {"CredentialUpdate",           "name str(1..253)?, description str(..250)?"                         },
    {"AssetMeta",
     META ", id* uuid, kind* str, tenantId* int, createdBy* str, createdAt* ts, updatedBy* "
          "str, updatedAt* ts, projectName str, updateCount* int"                                       },
    {"EnvironmentAssetSpec",
     "args str?, command str?, environmentVariables [EnvironmentVariableOfAsset]?, runAsGid int?, "
     "runAsUid int?, supplementalGroups str?, allowPrivilegeEscalation bool?, capabilities [str]?, "
     "createHomeDir bool?, hostIpc bool?, hostNetwork bool?, image str?, imagePullPolicy "
     "'Always'|'Never'|'IfNotPresent'?, probes obj?, readOnlyRootFilesystem bool?, runAsNonRoot "
     "bool?, seccompProfileType 'RuntimeDefault'|'Unconfined'|'Localhost'?, stdin bool?, tty "
     "bool?, uidGidSource 'fromTheImage'|'fromIdpToken'|'custom'?, workingDir str?, connections "
     "[obj]?, overrideUidGidInWorkspace bool?"                                                          },
    {"EnvironmentVariableOfAsset",
     "name str?, value str?, credential {assetId uuid?, key str?}?, configMap {name str?, key "
     "str?}?, podFieldRef {path str?}?, exclude bool?, description str?"                                },
    {"GitSpec",                    "repository str?, branch str?, revision str?, path str?, passwordAssetId uuid?, "
                "credentialId uuid?"                                                     },
    {"S3Spec",                     "bucket str?, path str?, url str?, accessKeyAssetId uuid?"           },
    {"NfsSpec",                    "path str?, readOnly bool?, server str?, mountPath str?"             },
    {"PvcSpec",                    "path str?, existingPvc bool?, claimName str(..63)?, readOnly bool?, ephemeral "
                "bool?, claimInfo obj?, dataSharing bool?"                               },
    {"HostPathSpec",
     "path str?, readOnly bool?, mountPath str?, mountPropagation 'None'|'HostToContainer'?"            },
    {"ConfigMapSpec",              "configMap str?, mountPath str?, subPath str?, defaultMode str(..4)?"},
    {"SecretSpec",                 "credentialAssetId uuid?, mountPath str?, defaultMode str(..4)?"     },
    {"AccessKeySecretSpec",
     "existingSecretName str?, accessKeyId str(1..253)?, secretAccessKey str?"                          },
    {"PasswordSecretSpec",         "existingSecretName str?, user str(1..253)?, password str?"          },
    {"DockerRegistrySecretSpec",
     "existingSecretName str?, user str(1..253)?, password str?, url str(1..2048)?"                     },
    {"GenericSecretSpec",
     "existingSecretName str?, keyValuePairs [{key str(1..253)?, value str?}]?"                         },
    {"NgcApiKeySpec",              "ngc_api_key str?"                                                   },
    {"CredentialSpec",
     "accessKeyId str, user str, url str, keyValuePairs [{key* str}], keyId* int"                       },
    {"AnyAssetListResponse",       "entries* [{meta* AssetMeta, spec* obj}]"                            },
    ONE("ComputeAsset", "Compute"),
    ONE("EnvironmentAsset", "EnvironmentAssetSpec"),
    ONE("GitAsset", "GitSpec"),
    ONE("S3Asset", "S3Spec"),
    ONE("NfsAsset", "NfsSpec"),
    ONE("PvcAsset", "PvcSpec"),
    ONE("HostPathAsset", "HostPathSpec"),
    ONE("ConfigMapAsset", "ConfigMapSpec"),
    ONE("SecretAsset", "SecretSpec"),
    SECRET("AccessKeyAsset", "AccessKeySecretSpec", "CredentialSpec"),
    SECRET("PasswordAsset", "PasswordSecretSpec", "CredentialSpec"),
    SECRET("DockerRegistryAsset", "DockerRegistrySecretSpec", "CredentialSpec"),
    SECRET("GenericSecretAsset", "GenericSecretSpec", "CredentialSpec"),
    SECRET("NgcApiKeyAsset", "NgcApiKeySpec", "CredentialSpec"),
};

#define LIST_ARGS                                                                               \
    "name str, scope 'tenant'|'cluster'|'department'|'project', projectId int, departmentId "   \
    "str, clusterId uuid, usageInfo bool, statusInfo bool, assetIds [str], includeDescendants " \
    "bool"
#define ENVIRONMENT_ARGS                                                                      \
    LIST_ARGS ", distributedFramework str, isDistributed bool, isTraining bool, isWorkspace " \
              "bool, isInference bool"
#define ONE_ARGS "usageInfo bool, statusInfo bool"

/* What each kind answers. ids: of list, create, get, update, delete. */
#define ROWS(place, Name, what, entity, args, list_id, create_id, get_id, update_id, delete_id, \
             gone, gone_body)                                                                   \
    {                                                                                           \
        "GET",                                                                                  \
        P place,                                                                                \
        list_id,                                                                                \
        list,                                                                                   \
        args,                                                                                   \
        NULL,                                                                                   \
        200,                                                                                    \
        Name "ListResponse",                                                                    \
        "All of kind " what,                                                                    \
        0,                                                                                      \
        "read " entity},                                                                        \
        {"POST",                                                                                \
         P place,                                                                               \
         create_id,                                                                             \
         create,                                                                                \
         NULL,                                                                                  \
         Name "CreationRequest",                                                                \
         202,                                                                                   \
         Name,                                                                                  \
         "Keep a new " what,                                                                    \
         0,                                                                                     \
         "create " entity},                                                                     \
        {"GET",         P place "/{assetId:uuid}",                                              \
         get_id,        get,                                                                    \
         ONE_ARGS,      NULL,                                                                   \
         200,           Name,                                                                   \
         "One " what,   0,                                                                      \
         "read " entity},                                                                       \
        {"PUT",                                                                                 \
         P place "/{assetId:uuid}",                                                             \
         update_id,                                                                             \
         update,                                                                                \
         NULL,                                                                                  \
         Name "UpdateRequest",                                                                  \
         202,                                                                                   \
         Name,                                                                                  \
         "Change a " what,                                                                      \
         0,                                                                                     \
         "update " entity},                                                                     \
    {                                                                                           \
        "DELETE", P place "/{assetId:uuid}", delete_id, delete, NULL, NULL, gone, gone_body,    \
            "Delete a " what, 0, "delete " entity                                               \
    }
#define DATA(place, Name, what, entity, list_id, id)                                \
    ROWS("datasource/" place, Name, what, entity, LIST_ARGS, list_id, "create_" id, \
         "get_" id "_by_id", "update_" id "_by_id", "delete_" id "_by_id", 202, "HttpResponse")
#define CREDENTIAL(place, Name, what, list_id, id, gone, gone_body)                         \
    ROWS("credentials/" place, Name, what, "credentials", LIST_ARGS, list_id, "create_" id, \
         "get_" id "_by_id", "update_" id, "delete_" id, gone, gone_body)

static const struct route routes[] = {
    ROWS("compute", "ComputeAsset", "compute resource", "compute-resources", LIST_ARGS,
         "list_compute_assets", "create_compute_asset", "get_compute_asset_by_id",
         "update_compute_asset_by_id", "delete_compute_asset_by_id", 202, "HttpResponse"),
    ROWS("environment", "EnvironmentAsset", "environment", "environments", ENVIRONMENT_ARGS,
         "list_environment_assets", "create_environment_asset", "get_environment_asset_by_id",
         "update_environment_asset_by_id", "delete_environment_asset_by_id", 202, "HttpResponse"),
    {"GET", "/api/v1/asset/datasource",  "list_datasource_assets",  list_data,        LIST_ARGS, NULL, 200,
                                                              "AnyAssetListResponse",                                                                                                        "Data sources of all kinds", 0, "self"            },
    DATA("git", "GitAsset", "git data source", "git-assets", "list_git_assets", "git_asset"),
    DATA("s3", "S3Asset", "S3 data source", "s3-assets", "list_s3_assets", "s3_asset"),
    DATA("nfs", "NfsAsset", "NFS data source", "nfs-assets", "list_nfs_assets", "nfs_asset"),
    DATA("pvc", "PvcAsset", "PVC data source", "pvc-assets", "list_pvc_assets", "pvc_asset"),
    DATA("host-path", "HostPathAsset", "host path data source", "host-path-assets",
         "list_host_path_assets", "host_path"),
    DATA("config-map", "ConfigMapAsset", "ConfigMap data source", "cm-volume-assets",
         "list_config_map_assets", "config_map_asset"),
    DATA("secrets", "SecretAsset", "secret data source", "secret-volume-assets",
         "list_secret_assets", "secret_asset"),
    {"GET", "/api/v1/asset/credentials", "list_credentials_assets", list_credentials, LIST_ARGS,
                                                              NULL,                                                                                             200, "AnyAssetListResponse", "Credentials of all kinds",  0, "read credentials"},
    CREDENTIAL("access-key", "AccessKeyAsset", "access key", "list_access_keys", "access_key", 202,
               "HttpResponse"),
    CREDENTIAL("password", "PasswordAsset", "password", "list_passwords", "password", 202,
               "HttpResponse"),
    CREDENTIAL("docker-registry", "DockerRegistryAsset", "docker registry",
               "list_docker_registries", "docker_registry", 202, "HttpResponse"),
    CREDENTIAL("generic-secret", "GenericSecretAsset", "generic secret", "list_generic_secret",
               "generic_secret", 204, NULL),
    CREDENTIAL("ngc-api-key", "NgcApiKeyAsset", "NGC API key", "list_ngc_api_key", "ngc_api_key",
               204, NULL),
};

const struct route_group group_assets = ROUTE_GROUP("Assets", routes, schemas);

// SPDX-License-Identifier: Apache-2.0
// Assets in a submit: what they say lies below what the submit says itself. Objects are put together
// member by member, lists item by item (of two of one name the upper one), and no deeper than that.
#include "api/runai/assets.h"

enum { SHOWN_MAX = 100 };

/* ---- trees ---- */

static struct doc *doc_new(struct call *c, enum doc_kind kind)
{
    struct doc *d = ARENA_NEW(c->arena, struct doc);
    *d = (struct doc){.kind = kind};
    return d;
}

/* Adds a copy of d, whose children are shared. */
static void add(struct call *c, struct doc *to, struct str key, const struct doc *d)
{
    struct doc **link = &to->child;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = ARENA_NEW(c->arena, struct doc);
    **link = *d;
    (*link)->key = key;
    (*link)->next = NULL;
    to->child_count++;
}

static bool has_named(const struct doc *list, struct str name)
{
    for (const struct doc *d = list->child; d != NULL && name.len > 0; d = d->next) {
        if (str_eq(body_str(d, STR("name")), name)) {
            return true;
        }
    }
    return false;
}

static struct doc *join(struct call *c, const struct doc *under, const struct doc *over)
{
    struct doc *list = doc_new(c, DOC_LIST);
    for (const struct doc *d = under->child; d != NULL; d = d->next) {
        if (d->kind != DOC_MAP || !has_named(over, body_str(d, STR("name")))) {
            add(c, list, STR(""), d);
        }
    }
    for (const struct doc *d = over->child; d != NULL; d = d->next) {
        add(c, list, STR(""), d);
    }
    return list;
}

static const struct doc *pick(struct call *c, const struct doc *under, const struct doc *over)
{
    bool lists = under != NULL && over != NULL && under->kind == DOC_LIST && over->kind == DOC_LIST;
    return lists ? join(c, under, over) : over != NULL ? over : under;
}

/* Members of both; both NULL or objects. */
static struct doc *merge_members(struct call *c, const struct doc *under, const struct doc *over)
{
    struct doc *map = doc_new(c, DOC_MAP);
    for (const struct doc *d = under != NULL ? under->child : NULL; d != NULL; d = d->next) {
        add(c, map, d->key, pick(c, d, body_get(over, d->key)));
    }
    for (const struct doc *d = over != NULL ? over->child : NULL; d != NULL; d = d->next) {
        if (doc_get(under, d->key) == NULL) {
            add(c, map, d->key, d);
        }
    }
    return map;
}

static struct doc *merge(struct call *c, const struct doc *under, const struct doc *over)
{
    struct doc *map = doc_new(c, DOC_MAP);
    for (const struct doc *d = under != NULL ? under->child : NULL; d != NULL; d = d->next) {
        const struct doc *o = body_get(over, d->key);
        bool maps = o != NULL && o->kind == DOC_MAP && d->kind == DOC_MAP;
        add(c, map, d->key, maps ? merge_members(c, d, o) : pick(c, d, o));
    }
    for (const struct doc *d = over != NULL ? over->child : NULL; d != NULL; d = d->next) {
        if (doc_get(under, d->key) == NULL) {
            add(c, map, d->key, d);
        }
    }
    return map;
}

/* ---- what each kind says, as a spec ---- */

static void environment_spec(struct call *c, const struct asset *a, struct doc *spec)
{
    static const struct str security[] = {
        STRS("runAsGid"),     STRS("runAsUid"),
        STRS("capabilities"), STRS("supplementalGroups"),
        STRS("hostIpc"),      STRS("allowPrivilegeEscalation"),
        STRS("hostNetwork"),  STRS("readOnlyRootFilesystem"),
        STRS("runAsNonRoot"), STRS("seccompProfileType"),
        STRS("uidGidSource"),
    };
    /* What the user connects to it by, which is nothing here. */
    static const struct str left_out[] = {STRS("connections"), STRS("overrideUidGidInWorkspace")};
    struct doc *secured = doc_new(c, DOC_MAP);
    for (const struct doc *d = asset_doc(c, a->spec)->child; d != NULL; d = d->next) {
        bool is_security = false;
        bool is_left_out = false;
        for (size_t i = 0; i < COUNT_OF(security); i++) {
            is_security = is_security || str_eq(d->key, security[i]);
        }
        for (size_t i = 0; i < COUNT_OF(left_out); i++) {
            is_left_out = is_left_out || str_eq(d->key, left_out[i]);
        }
        if (!is_left_out) {
            add(c, is_security ? secured : spec, d->key, d);
        }
    }
    if (secured->child != NULL) {
        add(c, spec, STR("security"), secured);
    }
}

static void data_spec(struct call *c, const struct asset *a, struct doc *storage)
{
    static const struct str members[ASSET_KINDS] = {
        [ASSET_GIT] = STRS("git"),
        [ASSET_S3] = STRS("s3"),
        [ASSET_NFS] = STRS("nfs"),
        [ASSET_PVC] = STRS("pvc"),
        [ASSET_HOST_PATH] = STRS("hostPath"),
        [ASSET_CONFIG_MAP] = STRS("configMapVolume"),
        [ASSET_SECRET_VOLUME] = STRS("secretVolume"),
    };
    struct str key = members[a->kind];
    struct doc *item = doc_new(c, DOC_MAP);
    struct doc name = {.kind = DOC_STRING, .text = arena_str(c->arena, a->name)};
    add(c, item, STR("name"), &name);
    for (const struct doc *d = asset_doc(c, a->spec)->child; d != NULL; d = d->next) {
        add(c, item, d->key, d);
    }
    for (struct doc *d = storage->child; d != NULL; d = d->next) {
        if (str_eq(d->key, key)) {
            add(c, d, STR(""), item);
            return;
        }
    }
    struct doc *list = doc_new(c, DOC_LIST);
    add(c, list, STR(""), item);
    add(c, storage, key, list);
}

/* ---- finding ---- */

static const struct asset *usable(struct call *c, struct str text, enum asset_class class,
                                  struct scope scope, const char *field, struct err *err)
{
    static const char *const words[] = {
        [ASSET_IS_COMPUTE] = "compute resource", [ASSET_IS_ENVIRONMENT] = "environment",
        [ASSET_IS_DATA] = "data source",         [ASSET_IS_CREDENTIAL] = "credential",
        [ASSET_IS_TEMPLATE] = "template",
    };
    struct uuid id;
    const struct asset *a = uuid_parse(text, &id) ? asset_find(assets_of(c), id) : NULL;
    if (a != NULL && asset_kind_info(a->kind)->class == class && asset_seen(c, a) &&
        scope_contains(&call_grants(c)->book->tree, a->scope, scope)) {
        return a;
    }
    err_set(err, STATUS_UNKNOWN, "there is no %s " STR_FMT " in this scope", words[class],
            STR_ARG(str_clip(text, SHOWN_MAX)));
    err_field(err, "%s", field);
    return NULL;
}

const struct asset *asset_named(struct call *c, struct str text, enum asset_class class,
                                enum asset_kind kind, struct scope scope)
{
    const struct assets *all = assets_of(c);
    const struct asset *found = NULL;
    struct uuid id;
    bool by_id = uuid_parse(text, &id);
    for (uint32_t i = 0; i < all->rows_count; i++) {
        const struct asset *a = &all->rows[i];
        bool named = by_id ? uuid_eq(a->id, id) : str_eq(a->name, text);
        if (named && asset_kind_info(a->kind)->class == class &&
            (kind == ASSET_KINDS || a->kind == kind) && asset_seen(c, a) &&
            scope_contains(&call_grants(c)->book->tree, a->scope, scope) &&
            (found == NULL || a->scope.kind > found->scope.kind)) {
            found = a;
        }
    }
    return found;
}

const struct doc *assets_combine(struct call *c, const struct doc *spec, const struct doc *assets,
                                 struct scope scope, struct err *err)
{
    struct doc *under = doc_new(c, DOC_MAP);
    struct doc *storage = doc_new(c, DOC_MAP);
    struct str environment = body_str(assets, STR("environment"));
    struct str compute = body_str(assets, STR("compute"));
    const struct doc *data = body_get(assets, STR("datasources"));
    const struct asset *a;
    if (environment.len > 0) {
        a = usable(c, environment, ASSET_IS_ENVIRONMENT, scope, "assets.environment", err);
        if (a == NULL) {
            return NULL;
        }
        environment_spec(c, a, under);
    }
    if (compute.len > 0) {
        a = usable(c, compute, ASSET_IS_COMPUTE, scope, "assets.compute", err);
        if (a == NULL) {
            return NULL;
        }
        add(c, under, STR("compute"), asset_doc(c, a->spec));
    }
    for (const struct doc *d = data != NULL ? data->child : NULL; d != NULL; d = d->next) {
        a = usable(c, body_str(d, STR("id")), ASSET_IS_DATA, scope, "assets.datasources", err);
        if (a == NULL) {
            return NULL;
        }
        data_spec(c, a, storage);
    }
    if (storage->child != NULL) {
        add(c, under, STR("storage"), storage);
    }
    return merge(c, under, spec);
}

const struct doc *asset_impose(struct call *c, const struct doc *spec, const struct asset *a)
{
    struct doc *over = doc_new(c, DOC_MAP);
    struct doc *storage = doc_new(c, DOC_MAP);
    data_spec(c, a, storage);
    add(c, over, STR("storage"), storage);
    return merge(c, spec, over);
}

/* ---- a submit ---- */

/* What the template says: an object of spec, masterSpec, masterSpecSameAsWorker. NULL: err. */
static const struct doc *template_body(struct call *c, struct str id, enum workload_kind kind,
                                       struct scope scope, struct err *err)
{
    const struct asset *a = usable(c, id, ASSET_IS_TEMPLATE, scope, "templateId", err);
    if (a == NULL) {
        return NULL;
    }
    if (a->kind != ASSET_TEMPLATE_TRAINING + (enum asset_kind)kind) {
        err_set(err, STATUS_INVALID, "\"" STR_FMT "\" is a " STR_FMT,
                STR_ARG(str_clip(a->name, SHOWN_MAX)), STR_ARG(asset_kind_info(a->kind)->word));
        err_field(err, "templateId");
        return NULL;
    }
    const struct doc *body = asset_doc(c, a->spec);
    const struct doc *same = body_get(body, STR("masterSpecSameAsWorker"));
    const struct doc *master = body_get(body, STR("master"));
    const struct doc *spec = assets_combine(c, body_get(body, STR("spec")),
                                            body_get(body, STR("assets")), scope, err);
    const struct doc *master_spec = master == NULL
                                        ? NULL
                                        : assets_combine(c, body_get(master, STR("spec")),
                                                         body_get(master, STR("assets")), scope,
                                                         err);
    if (spec == NULL || (master != NULL && master_spec == NULL)) {
        return NULL;
    }
    struct doc *out = doc_new(c, DOC_MAP);
    add(c, out, STR("spec"), spec);
    if (master_spec != NULL) {
        add(c, out, STR("masterSpec"), master_spec);
    }
    if (same != NULL) {
        add(c, out, STR("masterSpecSameAsWorker"), same);
    }
    return out;
}

bool assets_lay_under(struct call *c, enum workload_kind kind, struct scope scope)
{
    static const struct str specs[] = {STRS("spec"), STRS("masterSpec")};
    struct str id = body_str(c->body, STR("templateId"));
    const struct doc *assets = body_get(c->body, STR("assets"));
    const struct doc *under = NULL;
    struct err err;
    if (id.len == 0 && assets == NULL) {
        return true;
    }
    const struct doc *spec = assets_combine(c, body_get(c->body, STR("spec")), assets, scope, &err);
    if (spec != NULL && id.len > 0) {
        under = template_body(c, id, kind, scope, &err);
    }
    if (spec == NULL || (id.len > 0 && under == NULL)) {
        call_refuse(c, NULL, &err);
        return false;
    }
    struct doc *body = doc_new(c, DOC_MAP);
    for (const struct doc *d = c->body->child; d != NULL; d = d->next) {
        if (!str_eq(d->key, specs[0]) && !str_eq(d->key, specs[1])) {
            add(c, body, d->key, d);
        }
    }
    add(c, body, specs[0], merge(c, body_get(under, specs[0]), spec));
    const struct doc *master = body_get(c->body, specs[1]);
    const struct doc *master_under = body_get(under, specs[1]);
    if (master != NULL || master_under != NULL) {
        add(c, body, specs[1], merge(c, master_under, master));
    }
    const struct doc *same = body_get(under, STR("masterSpecSameAsWorker"));
    if (same != NULL && body_get(c->body, STR("masterSpecSameAsWorker")) == NULL) {
        add(c, body, STR("masterSpecSameAsWorker"), same);
    }
    c->body = body;
    return true;
}

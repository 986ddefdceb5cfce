// SPDX-License-Identifier: Apache-2.0
// Roles: /api/v1/authorization/roles shows all, with their permissions; /api/v2/authorization/roles
// makes custom ones out of permission sets. A set is reading one kind of thing, or editing it: all
// that can be done to it.
#include "api/runai/people.h"

#include "base/array.h"
#include "base/num.h"

#define ROLE_SETS (2u * ENTITY_COUNT)

/* ---- permission sets ---- */

static bool set_is_edit(uint32_t set)
{
    return set % 2 != 0;
}

static struct str set_name(struct call *c, uint32_t set)
{
    return arena_printf(c->arena, STR_FMT "%s", STR_ARG(entity_info((enum entity)(set / 2))->set),
                        set_is_edit(set) ? "EditAccess" : "ReadAccess");
}

/* What cannot be changed has no set to edit it. */
static bool set_exists(uint32_t set)
{
    return !set_is_edit(set) || entity_info((enum entity)(set / 2))->rights != RIGHT_READ;
}

static bool set_find(struct call *c, struct str name, uint32_t *out)
{
    for (uint32_t i = 0; i < ROLE_SETS; i++) {
        if (set_exists(i) && str_eq(name, set_name(c, i))) {
            *out = i;
            return true;
        }
    }
    return false;
}

static void show_set(struct call *c, struct jw *w, uint32_t set)
{
    jw_object_begin(w);
    show_id(w, STR("id"), set + 1);
    jw_member_string(w, STR("name"), set_name(c, set));
    jw_object_end(w);
}

static void list_sets(struct call *c)
{
    struct jw w;
    call_begin(c, &w);
    jw_array_begin(&w);
    for (uint32_t i = 0; i < ROLE_SETS; i++) {
        if (set_exists(i)) {
            show_set(c, &w, i);
        }
    }
    jw_array_end(&w);
    call_send(c, 200);
}

/* ---- permissions ---- */

static void show_permission(struct jw *w, enum entity e, unsigned rights)
{
    const struct entity_info *info = entity_info(e);
    jw_object_begin(w);
    jw_member_string(w, STR("resourceType"), info->name);
    jw_member_string(w, STR("displayName"), info->display);
    jw_member_string(w, STR("groupId"), info->group);
    jw_key(w, STR("actions"));
    jw_array_begin(w);
    for (unsigned r = RIGHT_CREATE; r <= RIGHT_DELETE; r *= 2) {
        if ((rights & r) != 0) {
            jw_string(w, right_name((enum right)r));
        }
    }
    jw_array_end(w);
    jw_object_end(w);
}

static void list_permissions(struct call *c)
{
    struct jw w;
    call_begin(c, &w);
    jw_array_begin(&w);
    for (uint32_t i = 0; i < ENTITY_COUNT; i++) {
        show_permission(&w, (enum entity)i, entity_info((enum entity)i)->rights);
    }
    jw_array_end(&w);
    call_send(c, 200);
}

/* ---- roles ---- */

static void show_sets(struct call *c, struct jw *w, const struct permissions *p)
{
    jw_key(w, STR("permissionSets"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < ENTITY_COUNT; i++) {
        if (p->may[i] == RIGHT_READ) {
            show_set(c, w, 2 * i);
        } else if (p->may[i] != 0) {
            show_set(c, w, 2 * i + 1);
        }
    }
    jw_array_end(w);
}

static void show_role(struct call *c, struct jw *w, const struct access_role *r, bool by_sets)
{
    const struct role *custom = identity_role(identity_of(c), r->id);
    struct stamp stamp = {.created_by = STR("weir")};
    stamp = custom != NULL ? custom->stamp : stamp;
    jw_object_begin(w);
    jw_member_i64(w, STR("id"), r->id);
    jw_member_string(w, STR("name"), r->info.name);
    jw_member_string(w, STR("description"), r->info.description);
    jw_member_bool(w, STR("custom"), custom != NULL);
    jw_member_bool(w, STR("enabled"), custom == NULL || !custom->disabled);
    jw_member_bool(w, STR("effectiveEnabled"), custom == NULL || !custom->disabled);
    show_moment(w, STR("createdAt"), stamp.created_ms);
    show_moment(w, STR("updatedAt"), stamp.updated_ms);
    show_null(w, STR("deletedAt"));
    jw_member_string(w, STR("createdBy"), stamp.created_by);
    if (by_sets) {
        show_sets(c, w, &r->info.permissions);
    } else {
        jw_key(w, STR("permissions"));
        jw_array_begin(w);
        for (uint32_t i = 0; i < ENTITY_COUNT; i++) {
            if (r->info.permissions.may[i] != 0) {
                show_permission(w, (enum entity)i, r->info.permissions.may[i]);
            }
        }
        jw_array_end(w);
    }
    jw_object_end(w);
}

static bool is_v2(const struct call *c)
{
    return str_starts(c->request->path, STR("/api/v2/"));
}

static void list(struct call *c)
{
    const struct access_book *book = api_book(c->api);
    struct jw w;
    call_begin(c, &w);
    jw_array_begin(&w);
    for (uint32_t i = 0; i < book->roles_count; i++) {
        show_role(c, &w, &book->roles[i], is_v2(c));
    }
    jw_array_end(&w);
    call_send(c, 200);
}

static void answer_role(struct call *c, int code, uint32_t id)
{
    const struct access_role *r = access_role(api_book(c->api), id);
    struct jw w;
    if (r == NULL) {
        fail_unknown(c, "role", arena_printf(c->arena, "%u", id));
        return;
    }
    call_begin(c, &w);
    show_role(c, &w, r, is_v2(c));
    call_send(c, code);
}

static uint32_t path_role(struct call *c)
{
    uint64_t id = 0;
    const struct access_role *r = num_parse_u64(c->segments.items[0], &id)
                                      ? access_role(api_book(c->api), (uint32_t)id)
                                      : NULL;
    if (r != NULL) {
        call_about(c, r->info.name);
    }
    return (uint32_t)id;
}

static void get(struct call *c)
{
    answer_role(c, 200, path_role(c));
}

/* ---- custom ones ---- */

static bool name_is_free(struct call *c, struct str name)
{
    struct role_info info;
    for (uint32_t id = ROLE_SYSTEM_ADMINISTRATOR; role_predefined(id, &info); id++) {
        if (str_eq(info.name, name)) {
            struct err err;
            err_set(&err, STATUS_CONFLICT, "there is a role \"" STR_FMT "\" already",
                    STR_ARG(name));
            err_field(&err, "name");
            call_reject(c, &err);
            return false;
        }
    }
    return true;
}

/* Sets become permissions in the order of the entities. */
static bool read_sets(struct call *c, struct role *out)
{
    struct permissions all = {{0}};
    const struct doc *sets = body_get(c->body, STR("permissionSets"));
    for (const struct doc *d = sets != NULL ? sets->child : NULL; d != NULL; d = d->next) {
        uint32_t set;
        struct str name = body_str(d, STR("name"));
        if (!set_find(c, name, &set)) {
            fail_field(c, "permissionSets", name,
                       "there is no such permission set; GET "
                       "/api/v1/permission-sets lists them");
            return false;
        }
        all.may[set / 2] |= (uint8_t)(set_is_edit(set) ? entity_info((enum entity)(set / 2))->rights
                                                       : RIGHT_READ);
    }
    out->permissions = ARENA_ARRAY(c->arena, struct permission, ENTITY_COUNT);
    out->permissions_count = 0;
    for (uint32_t i = 0; i < ENTITY_COUNT; i++) {
        if (all.may[i] != 0) {
            out->permissions[out->permissions_count++] = (struct permission){i, all.may[i]};
        }
    }
    return true;
}

static bool read_role(struct call *c, struct role *out)
{
    out->name = body_str(c->body, STR("name"));
    out->description = body_str(c->body, STR("description"));
    out->disabled = !body_bool(c->body, STR("enabled"), true);
    return name_is_free(c, out->name) && read_sets(c, out);
}

static void on_created(struct call *c, const struct outcome *outcome)
{
    answer_role(c, 201, (uint32_t)outcome->revision);
}

static void on_changed(struct call *c, const struct outcome *outcome)
{
    answer_role(c, 200, (uint32_t)outcome->revision);
}

static void create(struct call *c)
{
    struct identity_change change = {.op = IDENTITY_ROLE_ADD};
    if (read_role(c, &change.role)) {
        people_change(c, &change, on_created);
    }
}

static void update(struct call *c)
{
    struct identity_change change = {.op = IDENTITY_ROLE_SET};
    if (read_role(c, &change.role)) {
        change.role.id = path_role(c);
        people_change(c, &change, on_changed);
    }
}

static void delete(struct call *c)
{
    struct identity_change change = {.op = IDENTITY_ROLE_REMOVE};
    change.role.id = path_role(c);
    people_change(c, &change, answer_nothing);
}

/* ---- where one may ---- */

static bool gives(const struct grant *g, enum entity e, enum right right)
{
    return (g->role->info.permissions.may[e] & right) != 0;
}

static void show_scopes_of(struct call *c, struct jw *w, enum entity e, enum right right,
                           enum scope_kind kind, const char *key)
{
    const struct grants *g = call_grants(c);
    jw_key(w, str_from_c(key));
    jw_array_begin(w);
    if (g->all && kind == SCOPE_TENANT) {
        jw_string(w, scope_id(c, SCOPE_OF_TENANT));
    }
    for (uint32_t i = 0; i < g->count; i++) {
        bool again = false;
        for (uint32_t k = 0; k < i; k++) {
            again = again || (scope_eq(g->items[k].scope, g->items[i].scope) &&
                              gives(&g->items[k], e, right));
        }
        if (!again && g->items[i].scope.kind == kind && gives(&g->items[i], e, right)) {
            jw_string(w, scope_id(c, g->items[i].scope));
        }
    }
    jw_array_end(w);
}

static void show_permitted(struct call *c, struct jw *w, enum entity e, enum right right,
                           bool asked)
{
    jw_key(w, right_name(right));
    jw_object_begin(w);
    jw_member_bool(w, STR("system"), false);
    if (asked) {
        show_scopes_of(c, w, e, right, SCOPE_TENANT, "tenants");
        show_scopes_of(c, w, e, right, SCOPE_CLUSTER, "clusters");
        show_scopes_of(c, w, e, right, SCOPE_DEPARTMENT, "departments");
        show_scopes_of(c, w, e, right, SCOPE_PROJECT, "projects");
    }
    jw_object_end(w);
}

static void permitted_scopes(struct call *c)
{
    enum entity e;
    struct str name = body_str(c->body, STR("resourceType"));
    struct str only = body_str(c->body, STR("action"));
    struct jw w;
    if (!entity_find(name, &e)) {
        fail_field(c, "resourceType", name,
                   "there is no such type; GET /api/v1/authorization/permissions lists them");
        return;
    }
    call_begin(c, &w);
    jw_object_begin(&w);
    for (unsigned r = RIGHT_CREATE; r <= RIGHT_DELETE; r *= 2) {
        bool asked = only.len == 0 || str_eq(only, right_name((enum right)r));
        show_permitted(c, &w, e, (enum right)r, asked);
    }
    jw_object_end(&w);
    call_send(c, 200);
}

/* ---- the rows ---- */

static const struct schema_row schemas[] = {
    {"Role",                   "id* int, createdAt* ts, updatedAt* ts, deletedAt ts?, createdBy* str, custom* bool, "
             "effectiveEnabled* bool, permissions* [Permission], name* str, description* str, "
             "enabled bool?"                                                                    },
    {"RoleV2",
     "id* int, createdAt* ts, updatedAt* ts, deletedAt ts?, createdBy* str, custom* bool, "
     "effectiveEnabled* bool, permissionSets* [PermissionSet], name* str, description* "
     "str, enabled bool?"                                                                                   },
    {"RoleRequest",            "name* str(1..128), description str?, enabled bool = true, permissionSets* "
                    "[{id any, name* str}], kubernetesPermissions {predefinedRole str?}?"},
    {"Permission",             "resourceType* str, displayName* str, groupId* str, actions* "
                   "['create'|'read'|'update'|'delete']"                                  },
    {"PermissionSet",          "id* str, name* str"                                                         },
    {"PermittedScopesRequest", "resourceType* str, action 'create'|'read'|'update'|'delete'?"               },
    {"PermittedScopes",
     "system bool, tenants [str], clusters [str], departments [str], projects [str]"                        },
    {"PermittedScopesActions", "create* PermittedScopes, read* PermittedScopes, update* "
                               "PermittedScopes, delete* PermittedScopes"     },
};

#define P  "/api/v1/authorization"
#define P2 "/api/v2/authorization/roles"

static const struct route routes[] = {
    {"GET",    P "/roles",                "get_roles_v1",         list,             NULL, NULL,          200, "[Role]",                 "Roles",                         0, "read roles"            },
    {"GET",    P "/roles/{roleId:int}",   "get_role_v1",          get,              NULL, NULL,          200, "Role",                   "One role",                      0,
     "read roles"                                                                                                                                                                                   },
    {"GET",    P2,                        "get_roles_v2",         list,             NULL, NULL,          200, "[RoleV2]",               "Roles by permission sets",      0,
     "read roles"                                                                                                                                                                                   },
    {"POST",   P2,                        "create_role_v2",       create,           NULL, "RoleRequest", 201, "RoleV2",
     "Create a custom role",                                                                                                                                             0, "create roles at tenant"},
    {"GET",    P2 "/{roleId:int}",        "get_role_v2",          get,              NULL, NULL,          200, "RoleV2",
     "One role by permission sets",                                                                                                                                      0, "read roles"            },
    {"PUT",    P2 "/{roleId:int}",        "update_role_v2",       update,           NULL, "RoleRequest", 200, "RoleV2",
     "Change a custom role",                                                                                                                                             0, "update roles at tenant"},
    {"DELETE", P2 "/{roleId:int}",        "delete_role_v2",       delete,           NULL, NULL,          204, NULL,
     "Delete a custom role that no rule gives",                                                                                                                          0, "delete roles at tenant"},
    {"GET",    "/api/v1/permission-sets", "get_permission_sets",  list_sets,        NULL, NULL,          200,
     "[PermissionSet]",                                                                                                                 "What custom roles are made of", 0, "read roles"            },
    {"GET",    P "/permissions",          "get_permissions",      list_permissions, NULL, NULL,          200, "[Permission]",
     "All there is to be permitted",                                                                                                                                     0, "self"                  },
    {"POST",   P "/permitted-scopes",     "get_permitted_scopes", permitted_scopes, NULL,
     "PermittedScopesRequest",                                                                           200, "PermittedScopesActions",
     "Where one may do something to a kind of thing",                                                                                                                    0, "self"                  },
};

const struct route_group group_roles = ROUTE_GROUP("Roles", routes, schemas);

// SPDX-License-Identifier: Apache-2.0
// Credentials in a submit: which secret stands for a variable. Whoever may submit in a scope may use the
// credentials that are for it; private ones are their maker's. The secret itself is put in when a pod
// starts, and is never shown.
#include "api/runai/assets.h"

enum { SHOWN_MAX = 100 };

static bool usable(struct call *c, const struct asset *a, bool own, struct scope scope)
{
    bool mine = str_eq(a->stamp.created_by, c->user);
    return asset_kind_info(a->kind)->class == ASSET_IS_CREDENTIAL &&
           (own ? a->owned && mine : !a->owned || mine) &&
           (own || scope_contains(&call_grants(c)->book->tree, a->scope, scope));
}

/* By id or name; of several of one name the nearest, which scopes of larger kinds are. */
static const struct asset *find(struct call *c, struct str text, bool own, struct scope scope)
{
    const struct assets *all = assets_of(c);
    const struct asset *found = NULL;
    struct uuid id;
    bool by_id = uuid_parse(text, &id);
    for (uint32_t i = 0; i < all->rows_count; i++) {
        const struct asset *a = &all->rows[i];
        bool named = by_id ? uuid_eq(a->id, id) : str_eq(a->name, text);
        if (named && usable(c, a, own, scope) &&
            (found == NULL || a->scope.kind > found->scope.kind)) {
            found = a;
        }
    }
    return found;
}

bool credential_use(struct call *c, struct str text, struct str key, bool own, struct scope scope,
                    struct env_var *v, struct err *err)
{
    const struct asset *a = find(c, text, own, scope);
    if (a == NULL) {
        err_set(err, STATUS_UNKNOWN, "there is no credential \"" STR_FMT "\" %s",
                STR_ARG(str_clip(text, SHOWN_MAX)), own ? "of your own" : "in this scope");
        err_hint(err, "GET /api/v1/asset/credentials lists those there are");
        return false;
    }
    if (key.len == 0 && a->secrets_count == 1) {
        key = a->secrets[0].name;
    }
    if (!asset_has_secret(a, key)) {
        struct buf names;
        buf_init(&names, 4096);
        for (uint32_t i = 0; i < a->secrets_count; i++) {
            buf_printf(&names, "%s" STR_FMT, i > 0 ? ", " : "", STR_ARG(a->secrets[i].name));
        }
        err_set(err, STATUS_UNKNOWN,
                "credential \"" STR_FMT "\" has no secret \"" STR_FMT "\"; it has " STR_FMT,
                STR_ARG(str_clip(a->name, SHOWN_MAX)), STR_ARG(str_clip(key, SHOWN_MAX)),
                STR_ARG(str_clip(buf_view(&names), 2 * SHOWN_MAX)));
        buf_done(&names);
        return false;
    }
    v->credential = a->id;
    v->key = arena_str(c->arena, key);
    return true;
}

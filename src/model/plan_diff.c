// SPDX-License-Identifier: Apache-2.0
// plan_diff: what differs between two plans, by meaning. Objects are compared field by field by the
// tables of plan_form.h. A quota that is not listed is the default quota, so listing defaults is no
// difference; an object that is new is compared with an empty one, so that its fields are shown.
#include "model/plan.h"

#include "base/array.h"
#include "model/plan_form.h"

struct diff {
    struct arena *arena;
    bool prune;
    ARRAY(struct plan_change) changes;
};

static void change_add(struct diff *d, enum change_kind kind, const char *what, struct str name)
{
    *ARRAY_PUSH(d->arena, &d->changes) = (struct plan_change){
        .kind = kind,
        .what = arena_printf(d->arena, "%s " STR_FMT, what, STR_ARG(name)),
    };
}

static void diff_key(struct diff *d, struct str what, const struct key *key, const void *from,
                     const void *to)
{
    const void *a = key_field(key, from);
    const void *b = key_field(key, to);
    if (key->form == FORM_NESTED || form_eq(key->form, a, b)) {
        return;
    }
    *ARRAY_PUSH(d->arena, &d->changes) = (struct plan_change){
        .kind = CHANGE_SET,
        .what = what,
        .field = key->name,
        .from = form_format(key->form, a, d->arena),
        .to = form_format(key->form, b, d->arena),
    };
}

static void diff_keys(struct diff *d, struct str what, const struct keys *keys, const void *from,
                      const void *to)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        if (!str_eq(keys->items[i].name, STR("name"))) {
            diff_key(d, what, &keys->items[i], from, to);
        }
    }
}

static void diff_nested(struct diff *d, struct str what, const char *above, const struct keys *keys,
                        const void *from, const void *to)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        struct key key = keys->items[i];
        key.name = arena_printf(d->arena, "%s." STR_FMT, above, STR_ARG(key.name));
        diff_key(d, what, &key, from, to);
    }
}

struct quotas {
    const struct quota *items;
    uint32_t count;
};

static void diff_quotas(struct diff *d, const char *what, struct str name, struct quotas from,
                        struct quotas to)
{
    uint32_t f = 0;
    uint32_t t = 0;
    while (f < from.count || t < to.count) {
        int order = f == from.count ? 1
                    : t == to.count ? -1
                                    : str_cmp(from.items[f].pool, to.items[t].pool);
        const struct quota *old = order <= 0 ? &from.items[f++] : &quota_default;
        const struct quota *new = order >= 0 ? &to.items[t++] : &quota_default;
        struct str pool = order <= 0 ? old->pool : new->pool;
        struct str where = arena_printf(d->arena, "%s " STR_FMT ", pool " STR_FMT, what,
                                        STR_ARG(name), STR_ARG(pool));
        diff_keys(d, where, &quota_keys, old, new);
    }
}

/* In each of the following the two lists are sorted by name and walked together. */

static void diff_pools(struct diff *d, const struct plan *from, const struct plan *to)
{
    uint32_t f = 0;
    uint32_t t = 0;
    while (f < from->pools_count || t < to->pools_count) {
        int order = f == from->pools_count ? 1
                    : t == to->pools_count ? -1
                                           : str_cmp(from->pools[f].name, to->pools[t].name);
        if (order < 0) {
            struct str name = from->pools[f++].name;
            if (d->prune && !str_eq(name, POOL_DEFAULT)) {
                change_add(d, CHANGE_REMOVE, "node pool", name);
            }
            continue;
        }
        const struct pool *new = &to->pools[t++];
        const struct pool *old = pool_keys.defaults;
        if (order == 0) {
            old = &from->pools[f++];
            if (new->implied) {
                continue; // what is there stays as it is
            }
        } else {
            change_add(d, CHANGE_ADD, "node pool", new->name);
        }
        struct str what = arena_printf(d->arena, "node pool " STR_FMT, STR_ARG(new->name));
        diff_keys(d, what, &pool_keys, old, new);
        diff_nested(d, what, "placement", &placement_keys, old, new);
        diff_nested(d, what, "time_based_fair_share", &usage_keys, old, new);
    }
}

static void diff_departments(struct diff *d, const struct plan *from, const struct plan *to)
{
    uint32_t f = 0;
    uint32_t t = 0;
    while (f < from->departments_count || t < to->departments_count) {
        int order = f == from->departments_count ? 1
                    : t == to->departments_count
                        ? -1
                        : str_cmp(from->departments[f].name, to->departments[t].name);
        if (order < 0) {
            struct str name = from->departments[f++].name;
            if (d->prune) {
                change_add(d, CHANGE_REMOVE, "department", name);
            }
            continue;
        }
        const struct department *new = &to->departments[t++];
        const struct department *old = department_keys.defaults;
        if (order == 0) {
            old = &from->departments[f++];
        } else {
            change_add(d, CHANGE_ADD, "department", new->name);
        }
        struct str what = arena_printf(d->arena, "department " STR_FMT, STR_ARG(new->name));
        diff_keys(d, what, &department_keys, old, new);
        diff_nested(d, what, "scheduling_rules", &rules_keys, &old->rules, &new->rules);
        diff_quotas(d, "department", new->name, (struct quotas){old->quotas, old->quotas_count},
                    (struct quotas){new->quotas, new->quotas_count});
    }
}

static void diff_projects(struct diff *d, const struct plan *from, const struct plan *to)
{
    static const struct key department_key = {STRS("department"), FORM_NAME,
                                              offsetof(struct project, department)};
    uint32_t f = 0;
    uint32_t t = 0;
    while (f < from->projects_count || t < to->projects_count) {
        int order = f == from->projects_count ? 1
                    : t == to->projects_count
                        ? -1
                        : str_cmp(from->projects[f].name, to->projects[t].name);
        if (order < 0) {
            struct str name = from->projects[f++].name;
            if (d->prune) {
                change_add(d, CHANGE_REMOVE, "project", name);
            }
            continue;
        }
        const struct project *new = &to->projects[t++];
        const struct project *old = project_keys.defaults;
        if (order == 0) {
            old = &from->projects[f++];
        } else {
            change_add(d, CHANGE_ADD, "project", new->name);
        }
        struct str what = arena_printf(d->arena, "project " STR_FMT, STR_ARG(new->name));
        diff_key(d, what, &department_key, old, new);
        diff_keys(d, what, &project_keys, old, new);
        diff_nested(d, what, "scheduling_rules", &rules_keys, &old->rules, &new->rules);
        diff_quotas(d, "project", new->name, (struct quotas){old->quotas, old->quotas_count},
                    (struct quotas){new->quotas, new->quotas_count});
    }
}

struct plan_change *plan_diff(const struct plan *from, const struct plan *to, bool prune,
                              struct arena *arena, uint32_t *count)
{
    struct diff d = {.arena = arena, .prune = prune};
    diff_pools(&d, from, to);
    diff_departments(&d, from, to);
    diff_projects(&d, from, to);
    *count = d.changes.count;
    return d.changes.items;
}

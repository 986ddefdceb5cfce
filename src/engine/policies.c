// SPDX-License-Identifier: Apache-2.0
// policies: they come, change and go, and go with the department or project they are of.
#include <string.h>

#include "base/array.h"
#include "engine/machine.h"
#include "model/limits.h"

static bool refuse(struct outcome *out, const char *field, const char *expected)
{
    out->status = err_set(&out->err, STATUS_INVALID, "%s", expected);
    err_field(&out->err, "%s", field);
    return false;
}

static bool text_ok(struct str s, uint32_t least, uint32_t most)
{
    return s.len >= least && s.len <= most && str_is_utf8(s);
}

static bool form_ok(const struct policy *p, struct outcome *out)
{
    if (p->kind > WORKLOAD_DISTRIBUTED) {
        return refuse(out, "kind", "there is no such kind of workload");
    }
    if (!text_ok(p->name, 1, POLICY_NAME_LEN_MAX)) {
        return refuse(out, "meta.name", "a policy has a name of 1 to 253 bytes");
    }
    if (!text_ok(p->text, 2, POLICY_TEXT_MAX)) {
        return refuse(out, "policy", "a policy has at most 256 KiB");
    }
    if (p->imposed_count > POLICY_IMPOSED_MAX) {
        return refuse(out, "policy.imposedAssets", "a policy imposes at most 64 assets");
    }
    return true;
}

static bool imposed_ok(const struct assets *assets, const struct policy *p, struct outcome *out)
{
    for (uint32_t i = 0; i < p->imposed_count; i++) {
        const struct asset *a = asset_find(assets, p->imposed[i].asset);
        if (a == NULL || asset_kind_info(a->kind)->class != ASSET_IS_DATA) {
            char text[UUID_TEXT_LEN + 1];
            uuid_format(p->imposed[i].asset, text);
            out->status = err_set(&out->err, a == NULL ? STATUS_UNKNOWN : STATUS_INVALID,
                                  a == NULL ? "there is no asset %s" : "asset %s is no data source",
                                  text);
            err_field(&out->err, "policy.imposedAssets");
            return false;
        }
    }
    return true;
}

static void put_ok(const struct engine *e, const struct policy *p, const struct policy *known,
                   struct outcome *out)
{
    if (!form_ok(p, out)) {
        return;
    }
    if (!scope_exists(&e->s.plan, p->scope)) {
        out->status = err_set(&out->err, STATUS_UNKNOWN, "there is no such scope");
        err_field(&out->err, "meta.scope");
    } else if (known == NULL && uuid_is_zero(p->id)) {
        out->status = err_set(&out->err, STATUS_INVALID, "this is no new policy");
    } else if (known == NULL && e->s.policies.rows_count >= POLICIES_MAX) {
        out->status = err_set(&out->err, STATUS_TOO_LARGE,
                              "there are %u policies, as many as there may be",
                              e->s.policies.rows_count);
    } else {
        (void)imposed_ok(&e->s.assets, p, out);
    }
}

void policies_check(const struct engine *e, const struct input *in, struct outcome *out)
{
    const struct policy *p = &in->policy.policy;
    const struct policy *known = policy_find(&e->s.policies, p->kind, p->scope);
    out->id = known != NULL ? known->id : p->id;
    if (in->policy.op == POLICY_PUT) {
        put_ok(e, p, known, out);
    } else if (in->policy.op != POLICY_REMOVE) {
        out->status = err_set(&out->err, STATUS_INVALID, "this is no change of a policy");
    } else if (known == NULL) {
        out->status = err_set(&out->err, STATUS_UNKNOWN, "there is no policy in this scope");
        err_field(&out->err, "scope");
    }
}

static void put(struct step *st, const struct policy *known)
{
    struct engine *e = st->e;
    struct policies *all = &e->s.policies;
    struct stamp stamp = {0};
    struct uuid id = st->in->policy.policy.id;
    uint32_t row = all->rows_count;
    if (known != NULL) {
        row = (uint32_t)(known - all->rows);
        stamp = known->stamp;
        id = known->id;
    } else {
        all->rows = array_grow(engine_memory(e), all->rows, sizeof(*all->rows), all->rows_count,
                               &e->policies_cap);
        all->rows_count++;
    }
    record_copy(&record_policy, &st->in->policy.policy, &all->rows[row], engine_memory(e));
    all->rows[row].id = id;
    all->rows[row].stamp = stamp;
    identity_stamp(st, &all->rows[row].stamp);
}

void policies_apply(struct step *st)
{
    struct policies *all = &st->e->s.policies;
    const struct policy *p = &st->in->policy.policy;
    const struct policy *known = policy_find(all, p->kind, p->scope);
    if (st->in->policy.op == POLICY_PUT) {
        put(st, known);
    } else {
        uint32_t row = (uint32_t)(known - all->rows);
        memmove(&all->rows[row], &all->rows[row + 1],
                sizeof(*all->rows) * (all->rows_count - row - 1));
        all->rows_count--;
    }
    all->revision++;
}

void policies_follow_plan(struct step *st)
{
    struct policies *all = &st->e->s.policies;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all->rows_count; i++) {
        if (scope_exists(&st->e->s.plan, all->rows[i].scope)) {
            all->rows[kept++] = all->rows[i];
        }
    }
    all->revision += kept < all->rows_count;
    all->rows_count = kept;
}

const struct policy *policies_imposing(const struct policies *all, struct uuid asset)
{
    for (uint32_t i = 0; i < all->rows_count; i++) {
        for (uint32_t k = 0; k < all->rows[i].imposed_count; k++) {
            if (uuid_eq(all->rows[i].imposed[k].asset, asset)) {
                return &all->rows[i];
            }
        }
    }
    return NULL;
}

bool policies_sound(const struct state *s)
{
    for (uint32_t i = 0; i < s->policies.rows_count; i++) {
        const struct policy *p = &s->policies.rows[i];
        struct outcome ignored;
        if (uuid_is_zero(p->id) || !form_ok(p, &ignored) || !scope_exists(&s->plan, p->scope) ||
            policy_find(&s->policies, p->kind, p->scope) != p) {
            return false;
        }
    }
    return true;
}

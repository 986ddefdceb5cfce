// SPDX-License-Identifier: Apache-2.0
// assets: they come, change and go, and go with the department or project they are of.
#include <string.h>

#include "base/array.h"
#include "engine/machine.h"
#include "model/limits.h"

enum { SHOWN_MAX = 100 };

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

static bool secrets_ok(const struct asset *a, struct outcome *out)
{
    if (a->secrets_count > ASSET_SECRETS_MAX) {
        return refuse(out, "spec", "a credential has at most 64 secrets");
    }
    for (uint32_t i = 0; i < a->secrets_count; i++) {
        if (!text_ok(a->secrets[i].name, 1, ASSET_NAME_LEN_MAX) ||
            !text_ok(a->secrets[i].value, 0, ASSET_SEALED_MAX)) {
            return refuse(out, "spec", "a secret has a name of 1 to 253 bytes, and at most 8 KiB");
        }
    }
    return true;
}

static bool form_ok(const struct asset *a, struct outcome *out)
{
    if (!text_ok(a->name, 1, ASSET_NAME_LEN_MAX)) {
        return refuse(out, "meta.name", "an asset has a name of 1 to 253 bytes");
    }
    if (!text_ok(a->description, 0, ASSET_DESCRIPTION_MAX)) {
        return refuse(out, "meta.description", "a description has at most 250 bytes");
    }
    if (!text_ok(a->spec, 2, ASSET_SPEC_MAX) || !text_ok(a->supports, 0, ASSET_SPEC_MAX)) {
        return refuse(out, "spec", "a spec has at most 64 KiB");
    }
    if (!text_ok(a->table, 0, a->kind == ASSET_REPORT ? REPORT_TABLE_MAX : 0)) {
        return refuse(out, "filterBy", "a report has at most 512 KiB: fewer projects");
    }
    return secrets_ok(a, out);
}

// What is private to others has names that do not count: nobody but them sees it.
static bool name_is_free(const struct assets *all, const struct asset *a, enum asset_kind kind,
                         struct scope scope, struct str author, struct outcome *out)
{
    for (uint32_t i = 0; i < all->rows_count; i++) {
        const struct asset *have = &all->rows[i];
        if (have->kind == kind && have->scope.kind == scope.kind && have->scope.id == scope.id &&
            str_eq(have->name, a->name) && !uuid_eq(have->id, a->id) &&
            (!have->owned || str_eq(have->stamp.created_by, author))) {
            out->status = err_set(&out->err, STATUS_CONFLICT,
                                  "there is a " STR_FMT " \"" STR_FMT "\" in this scope already",
                                  STR_ARG(asset_kind_info(kind)->word),
                                  STR_ARG(str_clip(a->name, SHOWN_MAX)));
            err_field(&out->err, "meta.name");
            return false;
        }
    }
    return true;
}

static uint32_t count_reports(const struct assets *all)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->rows_count; i++) {
        count += all->rows[i].kind == ASSET_REPORT;
    }
    return count;
}

static void add_ok(const struct engine *e, const struct asset *a, struct str author,
                   struct outcome *out)
{
    const struct assets *all = &e->s.assets;
    if (uuid_is_zero(a->id) || a->kind >= ASSET_KINDS || asset_find(all, a->id) != NULL) {
        out->status = err_set(&out->err, STATUS_INVALID, "this is no new asset");
        return;
    }
    if (all->rows_count >= ASSETS_MAX) {
        out->status = err_set(&out->err, STATUS_TOO_LARGE,
                              "there are %u assets, as many as there may be", all->rows_count);
        return;
    }
    if (a->kind == ASSET_REPORT && count_reports(all) >= REPORTS_MAX) {
        out->status = err_set(&out->err, STATUS_TOO_LARGE,
                              "there are %u reports, as many as there may be", REPORTS_MAX);
        err_hint(&out->err, "delete those that are not needed any more");
        return;
    }
    if (!scope_exists(&e->s.plan, a->scope)) {
        out->status = err_set(&out->err, STATUS_UNKNOWN, "there is no such scope");
        err_field(&out->err, "meta.scope");
        return;
    }
    if (form_ok(a, out)) {
        (void)name_is_free(all, a, a->kind, a->scope, author, out);
    }
}

static bool takes(const struct pod_spec *p, struct uuid credential)
{
    for (uint32_t i = 0; i < p->env_count; i++) {
        if (uuid_eq(p->env[i].credential, credential)) {
            return true;
        }
    }
    return false;
}

// A pod that starts again needs the secrets it was given, and a policy the assets it imposes.
static void remove_ok(const struct engine *e, const struct asset *a, struct outcome *out)
{
    const struct policy *p = policies_imposing(&e->s.policies, a->id);
    uint32_t count = 0;
    for (uint32_t i = 0; a->secrets_count > 0 && i < e->s.workloads_count; i++) {
        const struct workload *w = &e->s.workloads[i];
        count += !workload_is_terminal(w) &&
                 (takes(&w->spec.pod, a->id) ||
                  (w->spec.has_master && takes(&w->spec.master, a->id)));
    }
    if (p != NULL) {
        out->status = err_set(&out->err, STATUS_CONFLICT,
                              "policy \"" STR_FMT "\" imposes this asset on workloads",
                              STR_ARG(str_clip(p->name, SHOWN_MAX)));
        err_hint(&out->err, "take it out of that policy first");
    } else if (count > 0) {
        out->status = err_set(&out->err, STATUS_IN_USE, "%u workload%s it", count,
                              count == 1 ? " uses" : "s use");
        err_hint(&out->err, "delete them first, or let them end");
    }
}

void assets_check(const struct engine *e, const struct input *in, struct outcome *out)
{
    const struct asset *a = &in->asset.asset;
    const struct asset *known = asset_find(&e->s.assets, a->id);
    out->id = a->id;
    if (in->asset.op == ASSET_ADD) {
        add_ok(e, a, in->author, out);
    } else if (in->asset.op != ASSET_SET && in->asset.op != ASSET_REMOVE) {
        out->status = err_set(&out->err, STATUS_INVALID, "this is no change of an asset");
    } else if (known == NULL) {
        char text[UUID_TEXT_LEN + 1];
        uuid_format(a->id, text);
        out->status = err_set(&out->err, STATUS_UNKNOWN, "there is no asset %s", text);
    } else if (in->asset.op == ASSET_REMOVE) {
        remove_ok(e, known, out);
    } else if (form_ok(a, out)) {
        (void)name_is_free(&e->s.assets, a, known->kind, known->scope, in->author, out);
    }
}

static struct str secret_named(const struct asset *a, struct str name)
{
    for (uint32_t i = 0; i < a->secrets_count; i++) {
        if (str_eq(a->secrets[i].name, name)) {
            return a->secrets[i].value;
        }
    }
    return (struct str){0};
}

static void set(struct step *st, struct asset *a)
{
    struct asset before = *a;
    record_copy(&record_asset, &st->in->asset.asset, a, engine_memory(st->e));
    for (uint32_t i = 0; i < a->secrets_count; i++) {
        if (a->secrets[i].value.len == 0) {
            a->secrets[i].value = secret_named(&before, a->secrets[i].name);
        }
    }
    a->kind = before.kind;
    a->scope = before.scope;
    a->owned = before.owned;
    a->supports = before.supports;
    a->updates = before.updates + 1;
    a->stamp = before.stamp;
    identity_stamp(st, &a->stamp);
}

static void add(struct step *st)
{
    struct engine *e = st->e;
    struct assets *all = &e->s.assets;
    all->rows = array_grow(engine_memory(e), all->rows, sizeof(*all->rows), all->rows_count,
                           &e->assets_cap);
    struct asset *a = &all->rows[all->rows_count++];
    record_copy(&record_asset, &st->in->asset.asset, a, engine_memory(e));
    a->updates = 0;
    a->stamp = (struct stamp){0};
    identity_stamp(st, &a->stamp);
}

void assets_apply(struct step *st)
{
    struct assets *all = &st->e->s.assets;
    const struct asset *known = asset_find(all, st->in->asset.asset.id);
    if (st->in->asset.op == ASSET_ADD) {
        add(st);
    } else if (st->in->asset.op == ASSET_SET) {
        set(st, &all->rows[known - all->rows]);
    } else {
        uint32_t row = (uint32_t)(known - all->rows);
        memmove(&all->rows[row], &all->rows[row + 1],
                sizeof(*all->rows) * (all->rows_count - row - 1));
        all->rows_count--;
    }
    all->revision++;
}

void assets_follow_plan(struct step *st)
{
    struct assets *all = &st->e->s.assets;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all->rows_count; i++) {
        if (scope_exists(&st->e->s.plan, all->rows[i].scope)) {
            all->rows[kept++] = all->rows[i];
        }
    }
    all->revision += kept < all->rows_count;
    all->rows_count = kept;
}

bool assets_sound(const struct state *s)
{
    for (uint32_t i = 0; i < s->assets.rows_count; i++) {
        const struct asset *a = &s->assets.rows[i];
        if (uuid_is_zero(a->id) || a->kind >= ASSET_KINDS || a->name.len == 0 ||
            !scope_exists(&s->plan, a->scope)) {
            return false;
        }
    }
    return true;
}

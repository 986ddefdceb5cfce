// SPDX-License-Identifier: Apache-2.0
// policy_read: a policy out of a body. Its schema has seen to names and types; what it means is looked at
// here: by itself, beside the policies of those above, and whether what it imposes is there.
#include "api/runai/assets.h"
#include "api/runai/policies.h"
#include "model/limits.h"

#include <string.h>

/* ---- documents ---- */

static struct doc *map_new(struct call *c, struct str key)
{
    struct doc *d = ARENA_NEW(c->arena, struct doc);
    *d = (struct doc){.kind = DOC_MAP, .key = key};
    return d;
}

static struct doc **link_end(struct doc *map)
{
    struct doc **link = &map->child;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    return link;
}

/* d as it is kept: without nulls, and without where rules are from, which is never written. */
static struct doc *kept(struct call *c, const struct doc *d)
{
    struct doc *out = ARENA_NEW(c->arena, struct doc);
    struct doc **link = &out->child;
    *out = *d;
    out->next = NULL;
    for (const struct doc *m = d->child; m != NULL; m = m->next) {
        if (m->kind != DOC_NULL && !str_eq(m->key, STR("sourceOfRule"))) {
            *link = kept(c, m);
            link = &(*link)->next;
        }
    }
    *link = NULL;
    return out;
}

/* A rule, a default or a list is taken as a whole; what holds them is put together. */
static bool holds_fields(const struct doc *d)
{
    return str_eq(d->key, STR("defaults")) || str_eq(d->key, STR("rules")) ||
           str_eq(d->key, STR("master")) || str_eq(d->key, STR("worker")) ||
           policy_is_section(d->key);
}

static struct doc *joined(struct call *c, const struct doc *base, const struct doc *over)
{
    struct doc *out = map_new(c, over->key);
    struct doc **link = &out->child;
    for (const struct doc *d = base != NULL ? base->child : NULL; d != NULL; d = d->next) {
        if (body_get(over, d->key) == NULL) {
            *link = ARENA_NEW(c->arena, struct doc);
            **link = *d;
            link = &(*link)->next;
        }
    }
    for (const struct doc *d = over->child; d != NULL; d = d->next) {
        if (d->kind == DOC_NULL) {
            continue;
        }
        if (d->kind == DOC_MAP && holds_fields(d)) {
            *link = joined(c, body_get(base, d->key), d);
        } else {
            *link = ARENA_NEW(c->arena, struct doc);
            **link = *d;
        }
        link = &(*link)->next;
    }
    *link = NULL;
    return out;
}

/* Takes what is at the path ("compute.gpuDevicesRequest") out of the map. */
static void forget(struct doc *map, struct str path)
{
    struct str name;
    struct doc *in = map;
    while (str_split(&path, '.', &name)) {
        struct doc **link = &in->child;
        while (*link != NULL && !str_eq((*link)->key, name)) {
            link = &(*link)->next;
        }
        if (*link == NULL) {
            return;
        }
        if (path.len == 0) {
            *link = (*link)->next;
            return;
        }
        in = *link;
    }
}

/* reset names fields, whose default and rule are forgotten, as JSON paths: "$.compute.cpuCoreLimit". */
static void reset(struct call *c, struct doc *text)
{
    const struct doc *list = body_get(c->body, STR("reset"));
    for (const struct doc *d = list != NULL ? list->child : NULL; d != NULL; d = d->next) {
        struct str path = d->text;
        if (str_starts(path, STR("$."))) {
            path = str_sub(path, 2, path.len);
        }
        for (struct doc *in = text->child; in != NULL; in = in->next) {
            forget(in, path);
        }
    }
}

/* ---- what is imposed ---- */

static bool names_secret(struct call *c, const struct asset *a)
{
    static const struct str members[] = {STRS("passwordAssetId"), STRS("credentialId"),
                                         STRS("accessKeyAssetId"), STRS("credentialAssetId")};
    const struct doc *spec = asset_doc(c, a->spec);
    bool names = false;
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        names = names || body_str(spec, members[i]).len > 0;
    }
    return names;
}

static bool impose(struct call *c, struct policy *p, struct str text, bool master)
{
    struct uuid id;
    const struct asset *a = uuid_parse(text, &id) ? asset_find(assets_of(c), id) : NULL;
    bool there = a != NULL && asset_kind_info(a->kind)->class == ASSET_IS_DATA &&
                 asset_seen(c, a) &&
                 scope_contains(&call_grants(c)->book->tree, a->scope, p->scope);
    if (there && !names_secret(c, a)) {
        p->imposed[p->imposed_count++] = (struct imposed){id, master};
        return true;
    }
    struct err err;
    err_set(&err, there ? STATUS_INVALID : STATUS_UNKNOWN,
            there ? "data source " STR_FMT " refers to a credential, and cannot be imposed"
                  : "there is no data source " STR_FMT " in this scope",
            STR_ARG(str_clip(text, 100)));
    err_field(&err, "policy.imposedAssets");
    err_hint(&err, "GET /api/v1/asset/datasource lists those there are");
    call_refuse(c, NULL, &err);
    return false;
}

static bool read_imposed(struct call *c, const struct doc *imposed, struct policy *p)
{
    const struct doc *lists[] = {imposed, NULL};
    if (p->kind == WORKLOAD_DISTRIBUTED) {
        lists[0] = body_get(imposed, STR("worker"));
        lists[1] = body_get(imposed, STR("master"));
    }
    p->imposed_count = 0;
    p->imposed = ARENA_ARRAY(c->arena, struct imposed, body_count(lists[0]) + body_count(lists[1]));
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        for (const struct doc *d = lists[i] != NULL ? lists[i]->child : NULL; d; d = d->next) {
            if (!impose(c, p, d->text, i == 1)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- what it means ---- */

static void report(struct call *c, struct problems *problems, const struct policy_field *f,
                   enum policy_part part, const char *member, struct str text)
{
    struct str name = policy_part_name(part);
    struct problem *p = problems_add(problems, SEVERITY_ERROR, STR_FMT, STR_ARG(text));
    p->field = arena_printf(c->arena, "policy.%s." STR_FMT "%s" STR_FMT, member, STR_ARG(name),
                            name.len > 0 ? "." : "", STR_ARG(policy_field_path(f, c->arena)));
    p->hint = STR("GET of the policy at a scope shows what holds there, and from where");
}

/* A default of its own that another scope's rule refuses, or that stands above it. */
static void check_defaults(struct call *c, const struct policy_stack *s, enum policy_part part,
                           uint32_t own, struct problems *problems)
{
    struct policy_issues issues;
    const struct policy_merged *m = &s->merged;
    const struct doc *laid = policy_lay(m, NULL, NULL, c->arena);
    policy_judge(m, NULL, laid, NULL, c->arena, &issues);
    for (uint32_t i = 0; i < issues.count; i++) {
        const struct policy_issue *issue = &issues.items[i];
        for (uint32_t k = 0; k < m->defaults_count; k++) {
            if (m->defaults[k].field == issue->of && m->defaults[k].layer == own &&
                issue->layer != own && strcmp(issue->rule, "required") != 0) {
                report(c, problems, issue->of, part, "defaults",
                       arena_printf(c->arena, STR_FMT ", by the policy of " STR_FMT,
                                    STR_ARG(issue->details),
                                    STR_ARG(policy_source_words(c, s, issue->layer))));
            }
        }
    }
}

/* What has to be given but may not be. */
static void check_fixed(struct call *c, const struct policy_stack *s, enum policy_part part,
                        uint32_t own, struct problems *problems)
{
    const struct policy_merged *m = &s->merged;
    for (uint32_t i = 0; i < m->rules_count; i++) {
        const struct policy_said *rule = &m->rules[i];
        bool has = body_get(rule->value, STR("defaultFrom")) != NULL;
        for (uint32_t k = 0; k < m->defaults_count; k++) {
            has = has || m->defaults[k].field == rule->field;
        }
        if (rule->layer == own && !has && body_bool(rule->value, STR("required"), false) &&
            !body_bool(rule->value, STR("canEdit"), true)) {
            report(c, problems, rule->field, part, "rules",
                   STR("a field that is required and may not be edited needs a default"));
        }
    }
}

/* Defaults of its own for what those above have fixed. */
static void check_above(struct call *c, const struct policy_stack *s, enum policy_part part,
                        uint32_t own, struct problems *problems)
{
    struct policy_merged alone;
    policy_merge(&alone, &s->layers[own], 1, c->arena);
    for (uint32_t i = 0; i < alone.defaults_count; i++) {
        for (uint32_t k = 0; k < s->merged.rules_count; k++) {
            const struct policy_said *rule = &s->merged.rules[k];
            if (rule->field == alone.defaults[i].field && rule->layer < own &&
                !s->layers[rule->layer].is_system &&
                !body_bool(rule->value, STR("canEdit"), true)) {
                report(c, problems, rule->field, part, "defaults",
                       arena_printf(c->arena, "the policy of " STR_FMT " has fixed this field",
                                    STR_ARG(policy_source_words(c, s, rule->layer))));
            }
        }
    }
}

static void check_part(struct call *c, const struct policy *p, enum policy_part part,
                       struct problems *problems)
{
    struct policy_stack s;
    struct str name = policy_part_name(part);
    policy_stack_build(c, (enum workload_kind)p->kind, part, p->scope, p, &s);
    uint32_t own = s.count - 1;
    const char *inside = name.len > 0 ? arena_printf(c->arena, STR_FMT ".", STR_ARG(name)).ptr : "";
    policy_check(&s.layers[own], STR("policy"), inside, problems, c->arena);
    if (problems->error_count == 0) {
        check_defaults(c, &s, part, own, problems);
        check_fixed(c, &s, part, own, problems);
        check_above(c, &s, part, own, problems);
    }
}

static bool check_meaning(struct call *c, const struct policy *p)
{
    struct problems *problems = ARENA_NEW(c->arena, struct problems);
    enum policy_part parts[2];
    struct err err;
    problems_init(problems, c->arena);
    uint32_t count = policy_parts((enum workload_kind)p->kind, parts);
    for (uint32_t i = 0; i < count; i++) {
        check_part(c, p, parts[i], problems);
    }
    if (problems->error_count == 0) {
        return true;
    }
    problems_to_err(problems, &err);
    c->problems = problems->count > 1 ? problems : NULL;
    call_refuse(c, NULL, &err);
    return false;
}

/* ---- the whole ---- */

bool policy_read(struct call *c, const struct policy *base, struct policy *p)
{
    static const struct str members[] = {STRS("defaults"), STRS("rules")};
    const struct doc *body = body_get(c->body, STR("policy"));
    const struct doc *imposed = body_get(body, STR("imposedAssets"));
    struct doc *text = map_new(c, STR(""));
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        const struct doc *given = body_get(body, members[i]);
        if (given != NULL) {
            *link_end(text) = kept(c, given);
        }
    }
    if (base != NULL) {
        struct doc *old = kept(c, asset_doc(c, base->text));
        reset(c, old);
        text = joined(c, old, text);
    }
    p->text = asset_text(c, text);
    if (imposed == NULL && base != NULL) {
        p->imposed = base->imposed;
        p->imposed_count = base->imposed_count;
    } else if (!read_imposed(c, imposed, p)) {
        return false;
    }
    return check_meaning(c, p);
}

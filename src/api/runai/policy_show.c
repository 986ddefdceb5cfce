// SPDX-License-Identifier: Apache-2.0
// policy_show: one policy as it was written, and what all of them come to at a scope, each rule with the
// scope it is from.
#include "api/runai/assets.h"
#include "api/runai/policies.h"

static void show_scope(struct call *c, struct jw *w, struct scope s)
{
    jw_member_string(w, STR("scope"), scope_type(s.kind));
    if (s.kind == SCOPE_CLUSTER) {
        show_cluster_id(c, w, STR("clusterId"));
    } else if (s.kind == SCOPE_DEPARTMENT) {
        show_id(w, STR("departmentId"), s.id);
        jw_member_string(w, STR("departmentName"), scope_name(c, s));
    } else if (s.kind == SCOPE_PROJECT) {
        jw_member_i64(w, STR("projectId"), s.id);
        jw_member_string(w, STR("projectName"), scope_name(c, s));
    }
}

void policy_show_meta(struct call *c, struct jw *w, const struct policy *p)
{
    jw_object_begin(w);
    show_uuid(w, STR("id"), p->id);
    jw_member_i64(w, STR("tenantId"), TENANT_ID);
    jw_member_string(w, STR("name"), p->name);
    show_scope(c, w, p->scope);
    show_stamp(w, &p->stamp);
    jw_object_end(w);
}

/* ---- what is imposed ---- */

static void show_imposed_of(struct jw *w, const struct policy *const *policies, uint32_t count,
                            bool master)
{
    jw_array_begin(w);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < policies[i]->imposed_count; k++) {
            const struct imposed *imposed = &policies[i]->imposed[k];
            if (imposed->master == master) {
                char text[UUID_TEXT_LEN + 1];
                uuid_format(imposed->asset, text);
                jw_string(w, str_from_c(text));
            }
        }
    }
    jw_array_end(w);
}

static void show_imposed(struct jw *w, enum workload_kind kind,
                         const struct policy *const *policies, uint32_t count)
{
    jw_key(w, STR("imposedAssets"));
    if (kind != WORKLOAD_DISTRIBUTED) {
        show_imposed_of(w, policies, count, false);
        return;
    }
    jw_object_begin(w);
    jw_key(w, STR("master"));
    show_imposed_of(w, policies, count, true);
    jw_key(w, STR("worker"));
    show_imposed_of(w, policies, count, false);
    jw_object_end(w);
}

/* ---- one ---- */

void policy_show(struct call *c, struct jw *w, const struct policy *p)
{
    static const struct str members[] = {STRS("defaults"), STRS("rules")};
    const struct doc *text = asset_doc(c, p->text);
    jw_object_begin(w);
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        const struct doc *d = body_get(text, members[i]);
        if (d != NULL) {
            jw_key(w, members[i]);
            jw_doc(w, d);
        }
    }
    show_imposed(w, (enum workload_kind)p->kind, &p, 1);
    jw_object_end(w);
}

/* ---- all ---- */

static void show_source(struct call *c, struct jw *w, const struct policy_stack *s, uint32_t layer)
{
    jw_object_begin(w);
    if (s->layers[layer].is_system) {
        jw_member_string(w, STR("scope"), STR("system"));
    } else {
        show_scope(c, w, s->sources[layer].scope);
    }
    jw_member_bool(w, STR("isFallback"), false);
    jw_object_end(w);
}

/* A rule object, and where it is from. */
static void show_rule(struct call *c, struct jw *w, const struct policy_stack *s, uint32_t layer,
                      const struct doc *rule)
{
    jw_object_begin(w);
    jw_key(w, STR("sourceOfRule"));
    show_source(c, w, s, layer);
    for (const struct doc *d = rule->child; d != NULL; d = d->next) {
        jw_key(w, d->key);
        jw_doc(w, d);
    }
    jw_object_end(w);
}

static void show_items_rule(struct call *c, struct jw *w, const struct policy_stack *s,
                            uint32_t layer, const struct doc *rule)
{
    const struct doc *instances = body_get(rule, STR("instances"));
    const struct doc *attributes = body_get(rule, STR("attributes"));
    jw_object_begin(w);
    if (instances != NULL) {
        jw_key(w, STR("instances"));
        show_rule(c, w, s, layer, instances);
    }
    if (attributes != NULL) {
        jw_key(w, STR("attributes"));
        jw_object_begin(w);
        for (const struct doc *d = attributes->child; d != NULL; d = d->next) {
            jw_key(w, d->key);
            show_rule(c, w, s, layer, d);
        }
        jw_object_end(w);
    }
    jw_object_end(w);
}

static void show_said(struct call *c, struct jw *w, const struct policy_stack *s,
                      const struct policy_said *said, bool rule)
{
    jw_key(w, str_from_c(said->field->name));
    if (!rule) {
        jw_doc(w, said->value);
    } else if (said->field->type == POLICY_ITEMIZED) {
        show_items_rule(c, w, s, said->layer, said->value);
    } else {
        show_rule(c, w, s, said->layer, said->value);
    }
}

/* The fields of one section, in the order in which they were said. */
static void show_section(struct call *c, struct jw *w, const struct policy_stack *s, bool rules,
                         struct str section)
{
    const struct policy_said *said = rules ? s->merged.rules : s->merged.defaults;
    uint32_t count = rules ? s->merged.rules_count : s->merged.defaults_count;
    for (uint32_t i = 0; i < count; i++) {
        if (str_eq(str_from_c(said[i].field->section), section)) {
            show_said(c, w, s, &said[i], rules);
        }
    }
}

static void show_merged(struct call *c, struct jw *w, const struct policy_stack *s, bool rules)
{
    const struct policy_said *said = rules ? s->merged.rules : s->merged.defaults;
    uint32_t count = rules ? s->merged.rules_count : s->merged.defaults_count;
    jw_object_begin(w);
    show_section(c, w, s, rules, STR(""));
    for (uint32_t i = 0; i < count; i++) {
        struct str section = str_from_c(said[i].field->section);
        bool first = section.len > 0;
        for (uint32_t k = 0; k < i; k++) {
            first = first && !str_eq(section, str_from_c(said[k].field->section));
        }
        if (first) {
            jw_key(w, section);
            jw_object_begin(w);
            show_section(c, w, s, rules, section);
            jw_object_end(w);
        }
    }
    jw_object_end(w);
}

static void show_parts(struct call *c, struct jw *w, const struct policy_stack *stacks,
                       const enum policy_part *parts, uint32_t count, bool rules)
{
    jw_key(w, rules ? STR("rules") : STR("defaults"));
    if (parts[0] == POLICY_WHOLE) {
        show_merged(c, w, &stacks[0], rules);
        return;
    }
    jw_object_begin(w);
    for (uint32_t i = 0; i < count; i++) {
        jw_key(w, policy_part_name(parts[i]));
        show_merged(c, w, &stacks[i], rules);
    }
    jw_object_end(w);
}

/* Rules say themselves where they are from; defaults are values, and have no place for it. */
static void show_default_sources(struct call *c, struct jw *w, const struct policy_stack *stacks,
                                 const enum policy_part *parts, uint32_t count)
{
    jw_key(w, STR("sourceOfDefaults"));
    jw_object_begin(w);
    for (uint32_t i = 0; i < count; i++) {
        struct str part = policy_part_name(parts[i]);
        for (uint32_t k = 0; k < stacks[i].merged.defaults_count; k++) {
            const struct policy_said *said = &stacks[i].merged.defaults[k];
            jw_key(w, arena_printf(c->arena, STR_FMT "%s" STR_FMT, STR_ARG(part),
                                   part.len > 0 ? "." : "",
                                   STR_ARG(policy_field_path(said->field, c->arena))));
            show_source(c, w, &stacks[i], said->layer);
        }
    }
    jw_object_end(w);
}

void policy_show_effective(struct call *c, struct jw *w, enum workload_kind kind,
                           struct scope scope, const struct policy *instead)
{
    enum policy_part parts[2];
    struct policy_stack stacks[2];
    uint32_t count = policy_parts(kind, parts);
    for (uint32_t i = 0; i < count; i++) {
        policy_stack_build(c, kind, parts[i], scope, instead, &stacks[i]);
    }
    const struct policy **policies = ARENA_ARRAY(c->arena, const struct policy *, stacks[0].count);
    uint32_t policies_count = 0;
    for (uint32_t i = 0; i < stacks[0].count; i++) {
        if (stacks[0].sources[i].policy != NULL) {
            policies[policies_count++] = stacks[0].sources[i].policy;
        }
    }
    jw_key(w, STR("effective"));
    jw_object_begin(w);
    show_parts(c, w, stacks, parts, count, false);
    show_parts(c, w, stacks, parts, count, true);
    show_imposed(w, kind, policies, policies_count);
    jw_object_end(w);
    show_default_sources(c, w, stacks, parts, count);
    if (policies_count > 0) {
        show_moment(w, STR("effectiveUpdatedAt"), policy_stack_updated_ms(&stacks[0]));
    }
}

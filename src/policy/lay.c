// SPDX-License-Identifier: Apache-2.0
// lay: the defaults of a policy under a spec, field by field; itemized fields item by item.
#include "policy/value.h"

/* ---- itemized fields ---- */

static struct doc *filled(const struct doc *item, const struct doc *under,
                          const struct doc *attributes, struct arena *arena)
{
    struct doc *out = doc_copy_members(item, STR(""), DOC_MAP, arena);
    const struct doc *from[] = {under, attributes};
    for (size_t i = 0; i < 2; i++) {
        for (const struct doc *d = from[i] != NULL ? from[i]->child : NULL; d; d = d->next) {
            if (value_get_str(out, d->key) == NULL) {
                doc_put(out, doc_copy(d, d->key, arena));
            }
        }
    }
    return out;
}

/* The policy's items that are not excluded, then those asked for beside them. */
static struct doc *lay_items(const struct policy_field *f, const struct doc *asked,
                             const struct doc *by_default, struct arena *arena)
{
    const struct doc *ours = value_get(by_default, "instances");
    const struct doc *attributes = value_get(by_default, "attributes");
    struct doc *out = doc_copy_members(NULL, str_from_c(f->name), DOC_LIST, arena);
    for (const struct doc *d = ours != NULL ? ours->child : NULL; d != NULL; d = d->next) {
        const struct doc *theirs = value_item(asked, f->key, d);
        if (theirs == NULL) {
            doc_append(out, filled(d, NULL, attributes, arena));
        } else if (!value_is_true(theirs, "exclude")) {
            doc_append(out, filled(theirs, d, attributes, arena));
        }
    }
    for (const struct doc *d = asked != NULL ? asked->child : NULL; d != NULL; d = d->next) {
        if (!value_is_true(d, "exclude") && value_item(ours, f->key, d) == NULL) {
            doc_append(out, filled(d, NULL, attributes, arena));
        }
    }
    return out;
}

/* ---- the whole ---- */

static void put_field(struct doc *spec, const struct policy_field *f, struct doc *value,
                      struct arena *arena)
{
    struct doc *in = spec;
    if (f->section[0] != '\0') {
        in = doc_copy_members(value_get(spec, f->section), str_from_c(f->section), DOC_MAP, arena);
        doc_put(spec, in);
    }
    doc_put(in, value);
}

static void lay_default(const struct policy_merged *p, const struct policy_said *said,
                        struct doc *spec, struct arena *arena)
{
    const struct policy_field *f = said->field;
    const struct policy_said *rule = policy_said_of(p->rules, p->rules_count, f);
    const struct doc *asked = value_of_field(spec, f);
    if (rule != NULL && value_is_true(rule->value, "blocked")) {
        return;
    }
    if (f->type == POLICY_ITEMIZED) {
        put_field(spec, f, lay_items(f, asked, said->value, arena), arena);
    } else if (asked == NULL) {
        put_field(spec, f, doc_copy(said->value, str_from_c(f->name), arena), arena);
    }
}

static bool is_option(const struct doc *options, const struct doc *value)
{
    for (const struct doc *o = options->child; o != NULL; o = o->next) {
        const struct doc *v = value_get(o, "value");
        if (v != NULL && value_same(POLICY_STRING, v, value)) {
            return true;
        }
    }
    return false;
}

/* Of what is implied, what is among the options. */
static void lay_allowed(const struct policy_said *rule, const struct doc *implied, struct doc *spec,
                        struct arena *arena)
{
    const struct policy_field *f = rule->field;
    const struct doc *options = value_get(rule->value, "options");
    const struct doc *all = value_of_field(implied, f);
    if (f->type != POLICY_ARRAY || options == NULL || all == NULL ||
        value_of_field(spec, f) != NULL) {
        return;
    }
    struct doc *list = doc_copy_members(NULL, str_from_c(f->name), DOC_LIST, arena);
    for (const struct doc *d = all->child; d != NULL; d = d->next) {
        if (is_option(options, d)) {
            doc_append(list, doc_copy(d, STR(""), arena));
        }
    }
    if (list->child != NULL) {
        put_field(spec, f, list, arena);
    }
}

struct doc *policy_lay(const struct policy_merged *p, const struct doc *asked,
                       const struct doc *implied, struct arena *arena)
{
    struct doc *spec = doc_copy_members(asked, STR("spec"), DOC_MAP, arena);
    for (uint32_t i = 0; i < p->defaults_count; i++) {
        lay_default(p, &p->defaults[i], spec, arena);
    }
    for (uint32_t i = 0; i < p->rules_count; i++) {
        const struct policy_said *rule = &p->rules[i];
        struct doc *value = value_of_field(spec, rule->field) == NULL
                                ? policy_computed(rule, spec, arena)
                                : NULL;
        if (value != NULL) {
            put_field(spec, rule->field, value, arena);
        }
        lay_allowed(rule, implied, spec, arena);
    }
    return spec;
}

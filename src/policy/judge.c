// SPDX-License-Identifier: Apache-2.0
// judge: the rules of a policy against what came of a spec and its defaults.
#include "policy/value.h"

#include "base/num.h"

enum { ISSUES_MAX = 256 };

/* A value in question, and what it is held against. */
struct asked {
    const struct doc *rule, *value; /* value NULL: none */
    const struct doc *given, *by_default, *implied;
    const struct policy_field *field;
    struct str path;
    enum policy_type type;
    uint32_t layer;
};
struct judge {
    struct arena *arena;
    struct policy_issues *out;
};

static void issue(struct judge *j, const struct asked *q, const char *rule, struct str details)
{
    if (j->out->count < ISSUES_MAX) {
        j->out->items[j->out->count++] = (struct policy_issue){q->field, q->path, details, rule,
                                                               q->layer};
    }
}

/* ---- rules on one value ---- */

static bool among(const struct asked *q, const struct doc *value, const struct doc *options)
{
    for (const struct doc *o = options->child; o != NULL; o = o->next) {
        const struct doc *v = value_get(o, "value");
        if (v != NULL && value_same(q->type, value, v)) {
            return true;
        }
    }
    return false;
}

static void check_options(struct judge *j, const struct asked *q, const struct doc *value)
{
    const struct doc *options = value_get(q->rule, "options");
    if (options == NULL) {
        return;
    }
    bool list = value->kind == DOC_LIST;
    for (const struct doc *v = list ? value->child : value; v != NULL; v = list ? v->next : NULL) {
        if (!among(q, v, options)) {
            issue(j, q, "options",
                  arena_printf(j->arena, "value \"" STR_FMT "\" is not among the options",
                               STR_ARG(value_word(v))));
        }
    }
}

static void check_range(struct judge *j, const struct asked *q, const struct doc *value)
{
    const struct doc *min = value_get(q->rule, "min"), *max = value_get(q->rule, "max");
    const struct doc *step = value_get(q->rule, "step");
    int64_t v, low = 0, high, by;
    if ((min == NULL && max == NULL && step == NULL) || !value_number(q->type, value, &v)) {
        return;
    }
    bool has_low = value_number(q->type, min, &low);
    if (has_low && v < low) {
        issue(j, q, "min",
              arena_printf(j->arena, "value " STR_FMT " is below the minimum " STR_FMT,
                           STR_ARG(value_word(value)), STR_ARG(value_word(min))));
    } else if (value_number(q->type, max, &high) && v > high) {
        issue(j, q, "max",
              arena_printf(j->arena, "value " STR_FMT " is above the maximum " STR_FMT,
                           STR_ARG(value_word(value)), STR_ARG(value_word(max))));
    } else if (value_number(q->type, step, &by) && by > 0 && (num_sat_sub_i64(v, low)) % by != 0) {
        issue(j, q, "step",
              arena_printf(j->arena, "value " STR_FMT " is not " STR_FMT " and steps of " STR_FMT,
                           STR_ARG(value_word(value)),
                           STR_ARG(has_low ? value_word(min) : STR("0")),
                           STR_ARG(value_word(step))));
    }
}

/* A boolean that no policy has a value for is false. */
static bool edits(const struct asked *q)
{
    if (q->by_default != NULL) {
        return !value_same(q->type, q->given, q->by_default);
    }
    return q->type != POLICY_BOOLEAN || q->given->kind != DOC_BOOL || q->given->boolean;
}

static void check_value(struct judge *j, const struct asked *q)
{
    const struct doc *value = q->value != NULL ? q->value : q->implied;
    if (value_is_true(q->rule, "blocked")) {
        if (q->given != NULL) {
            issue(j, q, "blocked", STR("the field may not be given"));
        }
        return;
    }
    if (value_is_false(q->rule, "canEdit") && q->given != NULL && edits(q)) {
        issue(j, q, "canEdit",
              q->by_default == NULL || q->by_default->kind == DOC_LIST
                  ? STR("the field may not be set")
                  : arena_printf(j->arena, "the value " STR_FMT " may not be changed",
                                 STR_ARG(value_word(q->by_default))));
    }
    if (q->value == NULL && value_is_true(q->rule, "required")) {
        issue(j, q, "required", STR("a value is required"));
    } else if (value != NULL) {
        check_options(j, q, value);
        check_range(j, q, value);
    }
}

/* ---- itemized fields ---- */

/* What the policy's item leaves open may be filled in, where it has no more than its key. */
static bool changes(const struct doc *item, const struct doc *ours)
{
    bool open = ours->child_count == 1;
    for (const struct doc *d = item->child; d != NULL; d = d->next) {
        const struct doc *old = value_get_str(ours, d->key);
        bool excludes = str_eq(d->key, STR("exclude"));
        if (d->kind == DOC_NULL || (d->kind == DOC_BOOL && !d->boolean && old == NULL) ||
            (open && old == NULL && !excludes)) {
            continue;
        }
        if (old == NULL || !value_same(POLICY_STRING, d, old)) {
            return true;
        }
    }
    return false;
}

static bool listed(const struct doc *list, struct str text)
{
    for (const struct doc *d = list != NULL ? list->child : NULL; d != NULL; d = d->next) {
        if (str_eq(d->text, text)) {
            return true;
        }
    }
    return false;
}

static void check_instances(struct judge *j, const struct asked *q, const struct policy_field *f)
{
    const struct doc *rule = value_get(q->rule, "instances");
    const struct doc *ours = value_get(q->by_default, "instances");
    for (const struct doc *d = q->given != NULL ? q->given->child : NULL; d != NULL; d = d->next) {
        const struct doc *name = value_get(d, f->key), *old = value_item(ours, f->key, d);
        struct str text = name != NULL ? value_word(name) : STR("");
        if (old == NULL && value_is_false(rule, "canAdd") && !value_is_true(d, "exclude")) {
            issue(j, q, "canAdd",
                  arena_printf(j->arena, "item \"" STR_FMT "\" may not be added", STR_ARG(text)));
        } else if (old != NULL && listed(value_get(rule, "locked"), text) && changes(d, old)) {
            issue(j, q, "locked",
                  arena_printf(j->arena, "item \"" STR_FMT "\" may not be changed or excluded",
                               STR_ARG(text)));
        }
    }
}

static void check_items(struct judge *j, const struct asked *q, const struct policy_field *f)
{
    const struct doc *attributes = value_get(q->rule, "attributes");
    check_instances(j, q, f);
    for (const struct doc *d = q->value != NULL ? q->value->child : NULL; d != NULL; d = d->next) {
        const struct doc *name = value_get(d, f->key);
        const struct doc *theirs = value_item(q->given, f->key, d);
        for (const struct doc *r = attributes != NULL ? attributes->child : NULL; r; r = r->next) {
            const struct doc *value = value_get_str(d, r->key);
            struct asked in = {
                .rule = r,
                .field = f,
                .value = value,
                .given = value_get_str(theirs, r->key),
                .by_default = value_get_str(value_get(q->by_default, "attributes"), r->key),
                .path = arena_printf(j->arena, STR_FMT "[" STR_FMT "]." STR_FMT, STR_ARG(q->path),
                                     STR_ARG(name != NULL ? value_word(name) : STR("")),
                                     STR_ARG(r->key)),
                .type = value != NULL && value->kind == DOC_NUMBER   ? POLICY_NUMBER
                        : value_get(r, "min") || value_get(r, "max") ? POLICY_QUANTITY
                                                                     : POLICY_STRING,
                .layer = q->layer,
            };
            check_value(j, &in);
        }
    }
}

/* ---- the whole ---- */

void policy_judge(const struct policy_merged *p, const struct doc *asked, const struct doc *laid,
                  const struct doc *implied, struct arena *arena, struct policy_issues *out)
{
    struct judge j = {arena, out};
    *out = (struct policy_issues){.items = ARENA_ARRAY(arena, struct policy_issue, ISSUES_MAX)};
    for (uint32_t i = 0; i < p->rules_count; i++) {
        const struct policy_field *f = p->rules[i].field;
        const struct policy_said *said = policy_said_of(p->defaults, p->defaults_count, f);
        struct asked q = {
            .rule = p->rules[i].value,
            .value = value_of_field(laid, f),
            .given = value_of_field(asked, f),
            .by_default = said != NULL ? said->value : policy_computed(&p->rules[i], laid, arena),
            .implied = value_of_field(implied, f),
            .field = f,
            .path = policy_field_path(f, arena),
            .type = f->type,
            .layer = p->rules[i].layer,
        };
        if (f->type == POLICY_ITEMIZED) {
            check_items(&j, &q, f);
        } else {
            check_value(&j, &q);
        }
    }
}

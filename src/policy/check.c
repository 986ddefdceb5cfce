// SPDX-License-Identifier: Apache-2.0
// check: what in a policy cannot be meant.
#include "policy/value.h"

#include "base/array.h"

struct check {
    struct problems *problems;
    struct arena *arena;
    struct str path;
    const char *part;
};

/* The rule of one field, or of one attribute of its items. */
struct one {
    const struct policy_field *field;
    const struct doc *rule;
    struct str at; /* "rules.compute.gpuDevicesRequest" */
    enum policy_type type;
};

PRINTF_LIKE(5, 6)
static void report(struct check *c, const struct one *r, const char *member, const char *hint,
                   const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    str_vformat(text, sizeof text, format, args);
    va_end(args);
    struct problem *p = problems_add(c->problems, SEVERITY_ERROR, "%s", text);
    p->field = arena_printf(c->arena, STR_FMT "." STR_FMT "%s%s", STR_ARG(c->path), STR_ARG(r->at),
                            member[0] != '\0' ? "." : "", member);
    p->hint = str_from_c(hint);
}

static void check_numbers(struct check *c, const struct one *r)
{
    static const char *const members[] = {"min", "max", "step"};
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        const struct doc *d = value_get(r->rule, members[i]);
        int64_t ignored;
        if (d != NULL && !value_number(r->type, d, &ignored)) {
            report(c, r, members[i], "give a number, or an amount such as 4Gi",
                   "\"" STR_FMT "\" is no amount", STR_ARG(value_word(d)));
        }
    }
}

static void check_range(struct check *c, const struct one *r)
{
    const struct doc *min = value_get(r->rule, "min"), *max = value_get(r->rule, "max");
    const struct doc *step = value_get(r->rule, "step");
    int64_t low, high, by;
    if (value_number(r->type, min, &low) && value_number(r->type, max, &high) && low > high) {
        report(c, r, "min", "min is at most max",
               "the minimum " STR_FMT " is above the maximum " STR_FMT, STR_ARG(value_word(min)),
               STR_ARG(value_word(max)));
    }
    if (value_number(r->type, step, &by) && by <= 0) {
        report(c, r, "step", "give one above 0", "step " STR_FMT " leads nowhere",
               STR_ARG(value_word(step)));
    }
}

static bool is_number(enum policy_type type)
{
    return type == POLICY_INTEGER || type == POLICY_NUMBER;
}

static void check_default_from(struct check *c, const struct one *r)
{
    const struct doc *name = value_get(value_get(r->rule, "defaultFrom"), "field");
    if (name == NULL) {
        return;
    }
    uint32_t dot = str_find(name->text, '.');
    struct str section = dot < name->text.len ? str_sub(name->text, 0, dot)
                                              : str_from_c(r->field->section);
    struct str rest = dot < name->text.len ? str_sub(name->text, dot + 1, name->text.len)
                                           : name->text;
    const struct policy_field *other = policy_field(section, rest);
    if (other == NULL) {
        report(c, r, "defaultFrom.field", "give a field of the same section, or with its section",
               "there is no field " STR_FMT, STR_ARG(value_word(name)));
    } else if (other == r->field ||
               (other->type != r->type && !(is_number(other->type) && is_number(r->type)))) {
        report(c, r, "defaultFrom.field", "give another field of the same type",
               STR_FMT " cannot be computed from " STR_FMT,
               STR_ARG(policy_field_path(r->field, c->arena)), STR_ARG(value_word(name)));
    }
}

static void check_rule(struct check *c, const struct one *r)
{
    const struct doc *options = value_get(r->rule, "options");
    check_numbers(c, r);
    check_range(c, r);
    check_default_from(c, r);
    if (options != NULL && options->child == NULL) {
        report(c, r, "options", "leave options out to allow all, or say blocked",
               "there is no option to choose from");
    }
    if (value_is_true(r->rule, "required") && value_is_true(r->rule, "blocked")) {
        report(c, r, "blocked", "say one of the two",
               "a field cannot be both required and blocked");
    }
}

static void check_items(struct check *c, const struct policy_said *said, struct str at)
{
    const struct doc *attributes = value_get(said->value, "attributes");
    for (const struct doc *d = attributes != NULL ? attributes->child : NULL; d; d = d->next) {
        struct one r = {
            said->field, d,
            arena_printf(c->arena, STR_FMT ".attributes." STR_FMT, STR_ARG(at), STR_ARG(d->key)),
            POLICY_QUANTITY};
        check_rule(c, &r);
    }
}

/* A default that the policy's own rules refuse. */
static void check_defaults(struct check *c, const struct policy_merged *p)
{
    struct policy_issues issues;
    const struct doc *laid = policy_lay(p, NULL, NULL, c->arena);
    policy_judge(p, NULL, laid, NULL, c->arena, &issues);
    for (uint32_t i = 0; i < issues.count; i++) {
        const struct policy_issue *issue = &issues.items[i];
        struct one r = {
            issue->of, NULL,
            arena_printf(c->arena, "defaults.%s" STR_FMT, c->part, STR_ARG(issue->field)),
            issue->of->type};
        if (!str_eq(str_from_c(issue->rule), STR("required"))) {
            report(c, &r, "", "make the default and the rule agree",
                   "the default breaks its rule: " STR_FMT, STR_ARG(issue->details));
        }
    }
}

void policy_check(const struct policy_layer *layer, struct str path, const char *part,
                  struct problems *problems, struct arena *arena)
{
    struct check c = {problems, arena, path, part};
    struct policy_merged p;
    policy_merge(&p, layer, 1, arena);
    for (uint32_t i = 0; i < p.rules_count; i++) {
        const struct policy_said *said = &p.rules[i];
        struct str at = arena_printf(arena, "rules.%s" STR_FMT, part,
                                     STR_ARG(policy_field_path(said->field, arena)));
        struct one r = {said->field, said->value, at, said->field->type};
        if (said->field->type == POLICY_ITEMIZED) {
            check_items(&c, said, at);
        } else {
            check_rule(&c, &r);
        }
    }
    check_defaults(&c, &p);
}

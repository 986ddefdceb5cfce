// SPDX-License-Identifier: Apache-2.0
#include "policy/value.h"

#include "base/num.h"
#include "codec/quantity.h"

/* ---- reading ---- */

const struct doc *value_get_str(const struct doc *map, struct str key)
{
    const struct doc *d = map != NULL ? doc_get(map, key) : NULL;
    return d != NULL && d->kind != DOC_NULL ? d : NULL;
}

const struct doc *value_get(const struct doc *map, const char *key)
{
    return value_get_str(map, str_from_c(key));
}

bool value_is_true(const struct doc *map, const char *key)
{
    const struct doc *d = value_get(map, key);
    return d != NULL && d->kind == DOC_BOOL && d->boolean;
}

bool value_is_false(const struct doc *map, const char *key)
{
    const struct doc *d = value_get(map, key);
    return d != NULL && d->kind == DOC_BOOL && !d->boolean;
}

const struct doc *value_of_field(const struct doc *spec, const struct policy_field *f)
{
    return value_get(f->section[0] != '\0' ? value_get(spec, f->section) : spec, f->name);
}

/* ---- making ---- */

struct doc *doc_copy(const struct doc *d, struct str key, struct arena *arena)
{
    struct doc *out = ARENA_NEW(arena, struct doc);
    *out = *d;
    out->key = key;
    out->next = NULL;
    return out;
}

struct doc *doc_copy_members(const struct doc *d, struct str key, enum doc_kind kind,
                             struct arena *arena)
{
    struct doc *out = ARENA_NEW(arena, struct doc);
    *out = d != NULL ? *d : (struct doc){.kind = kind};
    out->key = key;
    out->next = NULL;
    struct doc **link = &out->child;
    for (const struct doc *m = d != NULL ? d->child : NULL; m != NULL; m = m->next) {
        *link = doc_copy(m, m->key, arena);
        link = &(*link)->next;
    }
    *link = NULL;
    return out;
}

void doc_append(struct doc *to, struct doc *d)
{
    struct doc **link = &to->child;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = d;
    to->child_count++;
}

void doc_put(struct doc *map, struct doc *d)
{
    for (struct doc **link = &map->child; *link != NULL; link = &(*link)->next) {
        if (str_eq((*link)->key, d->key)) {
            d->next = (*link)->next;
            *link = d;
            return;
        }
    }
    doc_append(map, d);
}

/* ---- comparing ---- */

bool value_number(enum policy_type type, const struct doc *d, int64_t *out)
{
    struct err err;
    bool scalar = d != NULL && (d->kind == DOC_NUMBER || d->kind == DOC_STRING);
    return scalar && quantity_parse(d->text, type == POLICY_QUANTITY ? 1 : PARTS_PER_UNIT, out,
                                    &err) == STATUS_OK;
}

static bool same_scalar(enum policy_type type, const struct doc *a, const struct doc *b)
{
    int64_t x, y;
    if (a->kind == DOC_BOOL || b->kind == DOC_BOOL) {
        return a->kind == b->kind && a->boolean == b->boolean;
    }
    bool numeric = type == POLICY_INTEGER || type == POLICY_NUMBER || type == POLICY_QUANTITY;
    if (numeric && value_number(type, a, &x) && value_number(type, b, &y)) {
        return x == y;
    }
    return str_eq(a->text, b->text);
}

bool value_same(enum policy_type type, const struct doc *a, const struct doc *b)
{
    if (a->kind != DOC_LIST || b->kind != DOC_LIST) {
        return a->kind != DOC_LIST && b->kind != DOC_LIST && same_scalar(type, a, b);
    }
    const struct doc *x = a->child, *y = b->child;
    while (x != NULL && y != NULL && same_scalar(type, x, y)) {
        x = x->next;
        y = y->next;
    }
    return x == NULL && y == NULL;
}

struct str value_word(const struct doc *d)
{
    return d->kind == DOC_BOOL ? str_from_c(d->boolean ? "true" : "false") : str_clip(d->text, 100);
}

/* ---- finding ---- */

const struct doc *value_item(const struct doc *list, const char *key, const struct doc *like)
{
    const struct doc *name = value_get(like, key);
    for (const struct doc *d = list != NULL ? list->child : NULL; d != NULL; d = d->next) {
        const struct doc *other = value_get(d, key);
        if (name != NULL && other != NULL && str_eq(name->text, other->text)) {
            return d;
        }
    }
    return NULL;
}

const struct policy_said *policy_said_of(const struct policy_said *said, uint32_t count,
                                         const struct policy_field *f)
{
    for (uint32_t i = 0; i < count; i++) {
        if (said[i].field == f) {
            return &said[i];
        }
    }
    return NULL;
}

/* factor times the other field: exact to six digits, written as short as it can be. */
struct doc *policy_computed(const struct policy_said *rule, const struct doc *spec,
                            struct arena *arena)
{
    const struct policy_field *f = rule->field;
    const struct doc *from = value_get(rule->value, "defaultFrom");
    const struct doc *other = value_get(from, "field"), *by = value_get(from, "factor");
    int64_t factor = PARTS_PER_UNIT, value;
    if (other == NULL || (by != NULL && !value_number(POLICY_NUMBER, by, &factor)) || factor < 0) {
        return NULL;
    }
    const struct doc *source = doc_at(spec, other->text);
    if (source == NULL && f->section[0] != '\0') {
        source = value_get_str(value_get(spec, f->section), other->text);
    }
    if (!value_number(f->type, source, &value) || value < 0 ||
        (value > 0 && factor > INT64_MAX / value)) {
        return NULL;
    }
    int64_t product = value * factor / PARTS_PER_UNIT;
    struct doc *d = ARENA_NEW(arena, struct doc);
    *d = (struct doc){.kind = DOC_NUMBER, .key = str_from_c(f->name)};
    if (f->type == POLICY_QUANTITY) {
        char text[QUANTITY_TEXT_SIZE];
        d->kind = DOC_STRING;
        d->text = arena_str(arena, quantity_format_bytes(product, text));
    } else if (f->type == POLICY_INTEGER || product % PARTS_PER_UNIT == 0) {
        d->text = arena_printf(arena, "%lld", (long long)(product / PARTS_PER_UNIT));
    } else {
        d->text = arena_printf(arena, "%lld.%06lld", (long long)(product / PARTS_PER_UNIT),
                               (long long)(product % PARTS_PER_UNIT));
    }
    return d;
}

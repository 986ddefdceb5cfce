// SPDX-License-Identifier: Apache-2.0
// Every map is opened against the list of its keys, which finds unknown, missing and repeated ones;
// then each member is converted. Problems do not stop the reading: what is wrong gets a harmless
// value, so that all problems of a file are reported at once.
//
// Amounts are converted exactly from their decimals (no binary fraction in between) and rounded to
// the nearest base unit.
#include "sim/case_read.h"

#include "base/num.h"

__extension__ typedef __int128 wide;

/* ---- problems ---- */

struct str path_of(struct parsing *p, const struct at *at)
{
    struct str path = STR("");
    for (; at; at = at->up) {
        struct str dot = path.len > 0 && path.ptr[0] != '[' ? STR(".") : STR("");
        path = at->key.len > 0 ? arena_printf(p->arena, STR_FMT STR_FMT STR_FMT, STR_ARG(at->key),
                                              STR_ARG(dot), STR_ARG(path))
                               : arena_printf(p->arena, "[%u]" STR_FMT STR_FMT, at->index,
                                              STR_ARG(dot), STR_ARG(path));
    }
    return path;
}

struct problem *place(struct parsing *p, struct problem *problem, const struct at *at,
                      const struct doc *d)
{
    problem->field = path_of(p, at);
    if (d) {
        problem->line = d->line;
        problem->col = d->col;
    }
    return problem;
}

/* ---- maps ---- */

static uint32_t key_index(const struct keys *keys, struct str key)
{
    uint32_t k = 0;
    while (k < keys->count && !str_eq(keys->names[k], key)) {
        k++;
    }
    return k;
}

void open_map(struct parsing *p, const struct at *at, const struct doc *d, const struct keys *keys,
              const struct doc **m)
{
    for (uint32_t k = 0; k < MEMBERS_MAX; k++) {
        m[k] = NULL;
    }
    if (d->kind != DOC_MAP) {
        PROBLEM(p, at, d, "expected a map, got %s", doc_kind_name(d->kind));
        return;
    }
    for (const struct doc *member = d->child; member; member = member->next) {
        uint32_t k = key_index(keys, member->key);
        if (k < keys->count && m[k] == NULL) {
            m[k] = member;
            continue;
        }
        struct problem *problem = PROBLEM(p, at, NULL, "%s key \"" STR_FMT "\"",
                                          k < keys->count ? "repeated" : "unknown",
                                          STR_ARG(member->key));
        problem->line = member->key_line;
        problem->col = member->key_col;
        uint32_t near = str_nearest(member->key, keys->names, keys->count);
        if (k == keys->count && near < keys->count) {
            problem->hint = arena_printf(p->arena, "did you mean \"" STR_FMT "\"?",
                                         STR_ARG(keys->names[near]));
        }
    }
    for (uint32_t k = 0; k < keys->required_count; k++) {
        if (m[k] == NULL) {
            PROBLEM(p, at, d, "the key \"" STR_FMT "\" is missing", STR_ARG(keys->names[k]));
        }
    }
}

const struct doc *list_of(struct parsing *p, const struct at *at, const struct doc *d)
{
    if (d && d->kind != DOC_LIST) {
        PROBLEM(p, at, d, "expected a list, got %s", doc_kind_name(d->kind));
        return NULL;
    }
    return d ? d->child : NULL;
}

const struct doc *members_of(struct parsing *p, const struct at *at, const struct doc *d)
{
    if (d && d->kind != DOC_MAP) {
        PROBLEM(p, at, d, "expected a map, got %s", doc_kind_name(d->kind));
        return NULL;
    }
    return d ? d->child : NULL;
}

/* ---- scalars; each gives its default when d is NULL or wrong ---- */

struct str text_of(struct parsing *p, const struct at *up, const char *key, const struct doc *d)
{
    const struct at at = {up, str_from_c(key), 0};
    if (d && d->kind != DOC_STRING) {
        PROBLEM(p, &at, d, "expected a text, got %s", doc_kind_name(d->kind));
        return STR("");
    }
    return d ? d->text : STR("");
}

bool bool_of(struct parsing *p, const struct at *up, const char *key, const struct doc *d,
             bool absent)
{
    const struct at at = {up, str_from_c(key), 0};
    if (d && d->kind != DOC_BOOL) {
        PROBLEM(p, &at, d, "expected true or false, got %s", doc_kind_name(d->kind));
        return absent;
    }
    return d ? d->boolean : absent;
}

/* A decimal as digits × 10^-scale; false when text is none or has too many digits to be exact. */
static bool decimal_of(struct str text, int64_t *digits, int64_t *scale)
{
    struct str mantissa = text;
    int64_t exponent = 0;
    uint32_t e = 0;
    while (e < text.len && text.ptr[e] != 'e' && text.ptr[e] != 'E') {
        e++;
    }
    if (e < text.len) {
        mantissa = str_sub(text, 0, e);
        struct str after = str_sub(text, e + 1, text.len);
        bool plus = str_starts(after, STR("+"));
        if (!num_parse_i64(plus ? str_sub(after, 1, after.len) : after, &exponent)) {
            return false;
        }
    }
    uint32_t dot = str_find(mantissa, '.');
    uint32_t places = dot < mantissa.len ? mantissa.len - dot - 1 : 0;
    for (; places > 0 && mantissa.ptr[mantissa.len - 1] == '0'; places--) {
        mantissa.len--;
    }
    if (dot < mantissa.len && places == 0) {
        mantissa.len = dot; /* 2.0 is 2 */
    }
    *scale = (int64_t)places - exponent;
    return exponent > -40 && exponent < 40 && places <= 18 &&
           num_parse_decimal(mantissa, places, digits);
}

/* value × unit rounded to the nearest; false when it is no decimal or beyond 2^62. */
static bool scaled_of(struct str text, int64_t unit, int64_t *out)
{
    int64_t digits = 0;
    int64_t scale = 0;
    if (!decimal_of(text, &digits, &scale)) {
        return false;
    }
    const wide bound = (wide)1 << 62;
    wide value = (wide)digits * unit;
    for (; scale < 0 && value < bound && value > -bound; scale++) {
        value *= 10;
    }
    wide divisor = 1;
    for (; scale > 0 && divisor < bound; scale--) {
        divisor *= 10;
    }
    wide twice = 2 * value + (value < 0 ? -divisor : divisor);
    value = twice / (2 * divisor);
    if (scale != 0 || value >= bound || value <= -bound) {
        return false;
    }
    *out = (int64_t)value;
    return true;
}

int64_t number_of(struct parsing *p, const struct at *up, const char *key, const struct doc *d,
                  struct range range)
{
    const struct at at = {up, str_from_c(key), 0};
    int64_t value = 0;
    if (d == NULL) {
        return range.absent;
    }
    if (d->kind != DOC_NUMBER || !scaled_of(d->text, range.unit, &value)) {
        PROBLEM(p, &at, d, "expected a number, got %s \"" STR_FMT "\"", doc_kind_name(d->kind),
                STR_ARG(d->text));
        return range.absent;
    }
    if (value < range.first || value > range.last) {
        PROBLEM(p, &at, d, STR_FMT " is not in [%lld, %lld]", STR_ARG(d->text),
                (long long)(range.first / range.unit), (long long)(range.last / range.unit));
        return range.absent;
    }
    return value;
}

int64_t count_of(struct parsing *p, const struct at *up, const char *key, const struct doc *d,
                 int64_t last, int64_t absent)
{
    return number_of(p, up, key, d, (struct range){1, 0, last, absent});
}

int64_t seconds_of(struct parsing *p, const struct at *up, const char *key, const struct doc *d,
                   int64_t first_ms, int64_t absent_ms)
{
    return number_of(p, up, key, d, (struct range){1000, first_ms, DURATION_MAX_MS, absent_ms});
}

uint32_t word_of(struct parsing *p, const struct at *up, const char *key, const struct doc *d,
                 const struct str *names, uint32_t count)
{
    const struct at at = {up, str_from_c(key), 0};
    if (d == NULL) {
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (d->kind == DOC_STRING && str_eq(d->text, names[i])) {
            return i;
        }
    }
    struct str list = names[0];
    for (uint32_t i = 1; i < count; i++) {
        list = arena_printf(p->arena, STR_FMT ", " STR_FMT, STR_ARG(list), STR_ARG(names[i]));
    }
    PROBLEM(p, &at, d, "\"" STR_FMT "\" is none of " STR_FMT, STR_ARG(d->text), STR_ARG(list));
    return 0;
}

uint32_t index_of(struct parsing *p, const struct at *up, const char *key, const struct doc *d,
                  const struct map *map, const char *what)
{
    const struct at at = {up, str_from_c(key), 0};
    uint32_t ix = IX_NONE;
    struct str name = text_of(p, up, key, d);
    if (d != NULL && d->kind == DOC_STRING && !map_get(map, name, &ix)) {
        PROBLEM(p, &at, d, "no %s is named \"" STR_FMT "\"", what, STR_ARG(name));
        return IX_NONE;
    }
    return ix;
}

void name_taken(struct parsing *p, const struct at *at, const struct doc *d, struct map *map,
                struct str name, uint32_t ix)
{
    uint32_t other = 0;
    if (d == NULL) {
        return;
    }
    if (map_get(map, name, &other)) {
        PROBLEM(p, at, d, "the name \"" STR_FMT "\" is used twice", STR_ARG(name));
    }
    map_put(map, name, ix);
}

/* ---- small maps with free keys ---- */

void read_names(struct parsing *p, const struct at *up, const char *key, const struct doc *d,
                uint32_t *first, uint32_t *count)
{
    const struct at at = {up, str_from_c(key), 0};
    struct case_world *w = &p->c->world;
    *first = w->keys.count;
    for (const struct doc *n = list_of(p, &at, d); n; n = n->next) {
        *ARRAY_PUSH(p->arena, &w->keys) = text_of(p, &at, "", n);
        *count += 1;
    }
}

void read_labels(struct parsing *p, const struct at *up, const struct doc *d, uint32_t *first,
                 uint32_t *count)
{
    const struct at at = {up, STR("labels"), 0};
    struct case_world *w = &p->c->world;
    if (*count == 0) {
        *first = w->labels.count;
    }
    for (const struct doc *m = members_of(p, &at, d); m; m = m->next) {
        if (m->kind != DOC_STRING) {
            PROBLEM(p, &at, m, "expected a text, got %s", doc_kind_name(m->kind));
        }
        *ARRAY_PUSH(p->arena, &w->labels) = (struct case_label){m->key, m->text};
        *count += 1;
    }
}

void read_mig(struct parsing *p, const struct at *up, const struct doc *d, uint32_t *first,
              uint32_t *count)
{
    const struct at at = {up, STR("mig"), 0};
    struct case_world *w = &p->c->world;
    *first = w->amounts.count;
    for (const struct doc *m = members_of(p, &at, d); m; m = m->next) {
        int64_t amount = number_of(p, &at, "", m, (struct range){1, 0, 1000000, 0});
        *ARRAY_PUSH(p->arena, &w->amounts) = (struct case_amount){m->key, amount};
        *count += 1;
    }
}

// SPDX-License-Identifier: Apache-2.0
#include "api/read.h"

#include <string.h>

#include "base/check.h"
#include "base/num.h"
#include "base/sort.h"
#include "model/priority.h"
#include "model/record.h"

enum { MEMBERS_MAX = 64, SHOWN_MAX = 64 };

struct pair {
    struct str name, value;
};

struct reader {
    struct str path;
    struct problems *problems;
    struct str *value;
};

static void wrong(const struct reader *r, struct str name, const struct doc *at,
                  const char *expected)
{
    bool scalar = at->kind == DOC_NUMBER || at->kind == DOC_STRING;
    struct str shown = scalar ? str_sub(at->text, 0, SHOWN_MAX) : (struct str){0};
    struct problem *p = scalar ? problems_add(r->problems, SEVERITY_ERROR,
                                              "expected %s, got %s" STR_FMT "%s", expected,
                                              at->kind == DOC_STRING ? "\"" : "", STR_ARG(shown),
                                              at->kind == DOC_STRING ? "\"" : "")
                               : problems_add(r->problems, SEVERITY_ERROR, "expected %s, got %s",
                                              expected, doc_kind_name(at->kind));
    p->line = at->line;
    p->col = at->col;
    p->field = arena_printf(r->problems->arena, STR_FMT STR_FMT, STR_ARG(r->path), STR_ARG(name));
    if (r->value != NULL && r->problems->error_count == 1) {
        *r->value = shown;
    }
}

static void read_number(const struct reader *r, const struct read_member *m, const struct doc *at,
                        int64_t *out)
{
    int64_t v = 0;
    uint32_t scale = m->kind == READ_DECIMAL3 ? 3 : 0;
    bool ok = at->kind == DOC_NUMBER && num_parse_decimal(at->text, scale, &v);
    if (ok && v >= m->least && v <= m->most) {
        *out = v;
        return;
    }
    int64_t unit = scale == 3 ? 1000 : 1;
    struct str expected =
        scale == 3 ? arena_printf(r->problems->arena,
                                  "a number from %s to %lld with at most three digits behind the "
                                  "point",
                                  m->least == 0 ? "0" : "0.001", (long long)(m->most / unit))
                   : arena_printf(r->problems->arena, "a whole number from %lld to %lld",
                                  (long long)m->least, (long long)m->most);
    wrong(r, m->name, at, expected.ptr);
}

static void read_word(const struct reader *r, const struct read_member *m, const struct doc *at,
                      uint32_t *out)
{
    struct arena *arena = r->problems->arena;
    struct str list = {0};
    for (uint32_t i = 0; i < m->words_count; i++) {
        if (at->kind == DOC_STRING && str_eq(at->text, m->words[i])) {
            *out = i;
            return;
        }
        if (m->words[i].len > 0) { /* an empty word stands for "not given" */
            list = arena_printf(arena, STR_FMT "%s" STR_FMT, STR_ARG(list),
                                list.len > 0 ? ", " : "", STR_ARG(m->words[i]));
        }
    }
    wrong(r, m->name, at, arena_printf(arena, "one of " STR_FMT, STR_ARG(list)).ptr);
}

static void read_priority(const struct reader *r, const struct read_member *m, const struct doc *at,
                          int64_t *out)
{
    bool scalar = at->kind == DOC_STRING || at->kind == DOC_NUMBER;
    if (!scalar || !priority_parse(at->text, out)) {
        wrong(r, m->name, at,
              "very-low, low, medium-low, medium, medium-high, high, very-high, or "
              "a whole number from 1 to 1000");
    }
}

static void read_list(const struct reader *r, const struct read_member *m, const struct doc *at,
                      void *out, uint32_t *count)
{
    if (at->kind != DOC_LIST) {
        wrong(r, m->name, at, "a list of strings");
        return;
    }
    struct str_item *items = ARENA_ARRAY(r->problems->arena, struct str_item, at->child_count);
    uint32_t n = 0;
    for (const struct doc *d = at->child; d != NULL; d = d->next) {
        if (d->kind != DOC_STRING) {
            wrong(r, arena_printf(r->problems->arena, STR_FMT "[%u]", STR_ARG(m->name), n), d,
                  "a string");
            return;
        }
        items[n++].value = d->text;
    }
    memcpy(out, &items, sizeof items);
    *count = n;
}

static int pair_cmp(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(((const struct pair *)a)->name, ((const struct pair *)b)->name);
}

static void read_pairs(const struct reader *r, const struct read_member *m, const struct doc *at,
                       void *out, uint32_t *count)
{
    struct arena *arena = r->problems->arena;
    if (at->kind != DOC_MAP) {
        wrong(r, m->name, at, "an object of strings");
        return;
    }
    struct pair *items = ARENA_ARRAY(arena, struct pair, at->child_count);
    uint32_t n = 0;
    for (const struct doc *d = at->child; d != NULL; d = d->next) {
        if (d->kind != DOC_STRING || d->key.len == 0) {
            wrong(r, arena_printf(arena, STR_FMT "." STR_FMT, STR_ARG(m->name), STR_ARG(d->key)), d,
                  d->key.len == 0 ? "a name that is not empty" : "a string");
            return;
        }
        items[n++] = (struct pair){d->key, d->text};
    }
    sort_stable(items, n, sizeof *items, pair_cmp, NULL, arena);
    for (uint32_t i = 1; i < n; i++) {
        if (str_eq(items[i - 1].name, items[i].name)) {
            wrong(
                r,
                arena_printf(arena, STR_FMT "." STR_FMT, STR_ARG(m->name), STR_ARG(items[i].name)),
                at, "each name once");
            return;
        }
    }
    memcpy(out, &items, sizeof items);
    *count = n;
}

static void read_value(const struct reader *r, const struct read_member *m, const struct doc *at,
                       char *into)
{
    void *out = into + m->offset;
    uint32_t count = 0;
    bool is_list = false;
    switch (m->kind) {
    case READ_STR:
        if (at->kind == DOC_STRING) {
            *(struct str *)out = at->text;
        } else {
            wrong(r, m->name, at, "a string");
        }
        break;
    case READ_BOOL:
        if (at->kind == DOC_BOOL) {
            *(bool *)out = at->boolean;
        } else {
            wrong(r, m->name, at, "true or false");
        }
        break;
    case READ_WHOLE:
    case READ_DECIMAL3:
        read_number(r, m, at, out);
        break;
    case READ_WORD:
        read_word(r, m, at, out);
        break;
    case READ_PRIORITY:
        read_priority(r, m, at, out);
        break;
    case READ_STR_LIST:
        read_list(r, m, at, out, &count);
        is_list = true;
        break;
    case READ_PAIRS:
        read_pairs(r, m, at, out, &count);
        is_list = true;
        break;
    case READ_OBJECT:
        if (at->kind == DOC_MAP) {
            *(const struct doc **)out = at;
        } else {
            wrong(r, m->name, at, "an object");
        }
        break;
    }
    if (is_list) {
        memcpy(into + m->count_offset, &count, sizeof count);
    }
}

static void unknown_member(const struct reader *r, const struct doc *d,
                           const struct read_member *members, uint32_t count)
{
    struct str names[MEMBERS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        names[i] = members[i].name;
    }
    uint32_t near = str_nearest(d->key, names, count);
    struct problem *p = problems_add(r->problems, SEVERITY_ERROR,
                                     "there is no member \"" STR_FMT "\" here",
                                     STR_ARG(str_sub(d->key, 0, SHOWN_MAX)));
    p->line = d->key_line;
    p->col = d->key_col;
    p->field = arena_printf(r->problems->arena, STR_FMT STR_FMT, STR_ARG(r->path),
                            STR_ARG(str_sub(d->key, 0, SHOWN_MAX)));
    if (near < count) {
        p->hint = arena_printf(r->problems->arena, "did you mean \"" STR_FMT "\"?",
                               STR_ARG(names[near]));
    }
}

void read_object(const struct doc *map, struct str path, const struct read_member *members,
                 uint32_t count, void *into, struct problems *problems, struct str *value)
{
    CHECK(count <= MEMBERS_MAX);
    struct reader r = {path, problems, value};
    bool seen[MEMBERS_MAX] = {false};
    if (map->kind != DOC_MAP) {
        wrong(&r, (struct str){0}, map, "an object");
        return;
    }
    for (const struct doc *d = map->child; d != NULL; d = d->next) {
        uint32_t at = 0;
        while (at < count && !str_eq(members[at].name, d->key)) {
            at++;
        }
        if (at == count) {
            unknown_member(&r, d, members, count);
        } else if (seen[at]) {
            wrong(&r, d->key, d, "each member once");
        } else {
            seen[at] = true;
            if (d->kind != DOC_NULL || !members[at].null_is_absent) {
                read_value(&r, &members[at], d, into);
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
#include "api/runai/list.h"

#include <string.h>

#include "base/check.h"
#include "base/num.h"
#include "base/sort.h"

enum { FILTERS_MAX = 64, SHOWN_MAX = 100, COLUMNS_MAX = 64 };

enum op { OP_EQ, OP_NE, OP_LE, OP_GE, OP_HAS, OP_HAS_NOT, OP_STARTS, OP_ENDS };
static const struct str ops[] = {
    [OP_EQ] = STRS("=="),     [OP_NE] = STRS("!="),   [OP_LE] = STRS("<="),
    [OP_GE] = STRS(">="),     [OP_HAS] = STRS("=@"),  [OP_HAS_NOT] = STRS("!@"),
    [OP_STARTS] = STRS("=^"), [OP_ENDS] = STRS("=$"),
};

struct filter {
    uint32_t column;
    enum op op;
    struct cell value;
};

/* ---- reading ---- */

static bool refuse(struct list *l, struct str item, const char *why, const char *hint)
{
    struct err err;
    struct str shown = str_clip(item, SHOWN_MAX);
    err_set(&err, STATUS_INVALID, "\"" STR_FMT "\" is no filter: %s", STR_ARG(shown), why);
    err_field(&err, "filterBy");
    err_hint(&err, "%s", hint);
    l->c->value = shown;
    call_fail(l->c, &err);
    return false;
}

static bool find_column(struct list *l, struct str item, struct str name, uint32_t *out)
{
    struct str names[COLUMNS_MAX];
    for (uint32_t i = 0; i < l->columns_count; i++) {
        names[i] = str_from_c(l->columns[i].name);
        if (str_eq(names[i], name)) {
            *out = i;
            return true;
        }
    }
    uint32_t near = str_nearest(name, names, l->columns_count);
    struct buf known;
    buf_init(&known, 1024);
    for (uint32_t i = 0; i < l->columns_count; i++) {
        buf_printf(&known, "%s%s", i > 0 ? ", " : "fields: ", l->columns[i].name);
    }
    const char *hint =
        near < l->columns_count
            ? arena_printf(l->c->arena, "did you mean %s?", l->columns[near].name).ptr
            : arena_cstr(l->c->arena, buf_view(&known));
    buf_done(&known);
    return refuse(l, item, "there is no such field here", hint);
}

static bool read_value(struct list *l, struct str item, struct str text, struct filter *f)
{
    f->value.text = text;
    bool part = f->op == OP_HAS || f->op == OP_HAS_NOT || f->op == OP_STARTS || f->op == OP_ENDS;
    switch (l->columns[f->column].kind) {
    case COLUMN_TEXT:
        return true;
    case COLUMN_NUMBER:
        if (part || !num_parse_decimal(text, 3, &f->value.number)) {
            return refuse(l, item, "the field is a number", "write for example gpuQuota>=2.5");
        }
        return true;
    case COLUMN_TIME:
        if (part || !schema_time(text, &f->value.number)) {
            return refuse(l, item, "the field is a time",
                          "write for example createdAt>=2026-05-01T12:00:00Z");
        }
        return true;
    }
    return true;
}

static bool read_filter(struct list *l, struct str item, struct filter *f)
{
    uint32_t at = 0;
    while (at < item.len && strchr("=!<>", item.ptr[at]) == NULL) {
        at++;
    }
    struct str op = str_sub(item, at, 2);
    for (uint32_t i = 0; i < COUNT_OF(ops); i++) {
        if (str_eq(op, ops[i])) {
            f->op = (enum op)i;
            return find_column(l, item, str_trim(str_sub(item, 0, at)), &f->column) &&
                   read_value(l, item, str_sub(item, at + 2, item.len), f);
        }
    }
    return refuse(l, item, "it has no operator", "FIELD==VALUE, or != <= >= =@ !@ =^ =$");
}

/* ---- choosing ---- */

static bool contains(struct str text, struct str part)
{
    for (uint32_t i = 0; i + part.len <= text.len; i++) {
        if (str_eq(str_sub(text, i, part.len), part)) {
            return true;
        }
    }
    return false;
}

static int compare(enum column_kind kind, const struct cell *a, const struct cell *b)
{
    if (kind == COLUMN_TEXT) {
        return str_cmp(a->text, b->text);
    }
    return a->number < b->number ? -1 : a->number > b->number;
}

static bool passes(enum column_kind kind, const struct filter *f, const struct cell *have)
{
    if (have->absent) {
        return f->op == OP_NE || f->op == OP_HAS_NOT;
    }
    int order = compare(kind, have, &f->value);
    switch (f->op) {
    case OP_EQ:
        return order == 0;
    case OP_NE:
        return order != 0;
    case OP_LE:
        return order <= 0;
    case OP_GE:
        return order >= 0;
    case OP_HAS:
        return contains(have->text, f->value.text);
    case OP_HAS_NOT:
        return !contains(have->text, f->value.text);
    case OP_STARTS:
        return str_starts(have->text, f->value.text);
    case OP_ENDS:
        return str_ends(have->text, f->value.text);
    }
    return false;
}

static void choose(struct list *l, const struct filter *filters, uint32_t filters_count)
{
    struct str search = body_str(l->c->args, STR("search"));
    l->rows = ARENA_ARRAY(l->c->arena, uint32_t, l->rows_count);
    l->count = 0;
    for (uint32_t row = 0; row < l->rows_count; row++) {
        bool ok = (l->seen == NULL || l->seen(l->ctx, row)) &&
                  (search.len == 0 || contains(l->name(l->ctx, row), search));
        for (uint32_t i = 0; ok && i < filters_count; i++) {
            struct cell have = l->cell(l->ctx, row, filters[i].column);
            ok = passes(l->columns[filters[i].column].kind, &filters[i], &have);
        }
        if (ok) {
            l->rows[l->count++] = row;
        }
    }
}

/* ---- ordering ---- */

struct keyed {
    uint32_t row;
    struct cell cell;
};
struct order {
    enum column_kind kind;
    bool down;
};

static int keyed_order(const void *pa, const void *pb, void *ctx)
{
    const struct order *o = ctx;
    const struct keyed *a = pa;
    const struct keyed *b = pb;
    if (a->cell.absent || b->cell.absent) {
        return (int)a->cell.absent - (int)b->cell.absent; /* last, either way */
    }
    int order = compare(o->kind, &a->cell, &b->cell);
    return o->down ? -order : order;
}

static void arrange(struct list *l)
{
    struct str by = body_str(l->c->args, STR("sortBy"));
    struct str direction = body_str(l->c->args, STR("sortOrder"));
    uint32_t column = 0;
    while (by.len > 0 && !str_eq(str_from_c(l->columns[column].name), by)) {
        column++;
        CHECK(column < l->columns_count); /* the words of the route's arguments are columns */
    }
    bool down = str_eq(direction, STR("desc")) ||
                (direction.len == 0 && by.len == 0 && l->newest_first);
    if (by.len == 0) {
        for (uint32_t i = 0; down && i < l->count / 2; i++) {
            uint32_t row = l->rows[i];
            l->rows[i] = l->rows[l->count - 1 - i];
            l->rows[l->count - 1 - i] = row;
        }
        return;
    }
    struct keyed *keyed = ARENA_ARRAY(l->c->arena, struct keyed, l->count);
    for (uint32_t i = 0; i < l->count; i++) {
        keyed[i] = (struct keyed){l->rows[i], l->cell(l->ctx, l->rows[i], column)};
    }
    struct order o = {l->columns[column].kind, down};
    sort_stable(keyed, l->count, sizeof *keyed, keyed_order, &o, l->c->arena);
    for (uint32_t i = 0; i < l->count; i++) {
        l->rows[i] = keyed[i].row;
    }
}

bool list_select(struct list *l)
{
    const struct doc *given = body_get(l->c->args, STR("filterBy"));
    struct filter filters[FILTERS_MAX];
    uint32_t count = 0;
    for (const struct doc *d = given != NULL ? given->child : NULL; d != NULL; d = d->next) {
        if (count == FILTERS_MAX) {
            return refuse(l, d->text, "there are too many", "at most 64");
        }
        if (!read_filter(l, d->text, &filters[count++])) {
            return false;
        }
    }
    choose(l, filters, count);
    arrange(l);
    int64_t offset = body_i64(l->c->args, STR("offset"), 0);
    const char *limit_arg = l->limit_arg != NULL ? l->limit_arg : "limit";
    int64_t limit = body_i64(l->c->args, str_from_c(limit_arg), UINT32_MAX);
    l->first = (uint32_t)num_min_i64(offset, l->count);
    l->end = (uint32_t)num_min_i64(num_sat_add_i64(offset, limit), l->count);
    return true;
}

void list_next(const struct list *l, struct jw *w)
{
    if (l->end < l->count) {
        jw_member_i64(w, STR("next"), l->end);
    }
}

void list_count(struct list *l)
{
    struct jw w;
    if (!list_select(l)) {
        return;
    }
    call_begin(l->c, &w);
    jw_object_begin(&w);
    jw_member_i64(&w, STR("count"), l->count);
    jw_object_end(&w);
    call_send(l->c, 200);
}

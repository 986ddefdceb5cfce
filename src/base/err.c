// SPDX-License-Identifier: Apache-2.0
// err: the error value and the list of problems.
#include "base/err.h"

#include <stdarg.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/sort.h"

enum { FORMATTED_MAX = 4096 };

enum status err_set_at(struct err *e, enum status status, const char *source, const char *format,
                       ...)
{
    CHECK(status != STATUS_OK);
    if (e) {
        struct err made = {.status = status, .source = source}; // the arguments may lie in *e
        va_list args;
        va_start(args, format);
        str_vformat(made.text, sizeof(made.text), format, args);
        va_end(args);
        *e = made;
    }
    return status;
}

enum status err_wrap(struct err *e, const char *format, ...)
{
    if (!e) {
        return STATUS_INTERNAL;
    }
    char context[sizeof(e->text)];
    va_list args;
    va_start(args, format);
    str_vformat(context, sizeof(context), format, args);
    va_end(args);
    char inner[sizeof(e->text)];
    memcpy(inner, e->text, sizeof(inner));
    str_format(e->text, sizeof(e->text), "%s: %s", context, inner);
    return e->status;
}

enum status err_field(struct err *e, const char *format, ...)
{
    if (!e) {
        return STATUS_INTERNAL;
    }
    va_list args;
    va_start(args, format);
    str_vformat(e->field, sizeof(e->field), format, args);
    va_end(args);
    return e->status;
}

enum status err_hint(struct err *e, const char *format, ...)
{
    if (!e) {
        return STATUS_INTERNAL;
    }
    va_list args;
    va_start(args, format);
    str_vformat(e->hint, sizeof(e->hint), format, args);
    va_end(args);
    return e->status;
}

struct str err_format(const struct err *e, struct arena *a)
{
    char place[32] = "";
    if (e->line > 0 && e->col > 0) {
        str_format(place, sizeof(place), "%u:%u: ", e->line, e->col);
    } else if (e->line > 0) {
        str_format(place, sizeof(place), "%u: ", e->line);
    }
    bool has_hint = e->hint[0] != '\0';
    return arena_printf(a, "%s%s%s%s%s%s%s%s%s", e->file,
                        e->file[0] == '\0' ? "" : (place[0] == '\0' ? ": " : ":"), place, e->field,
                        e->field[0] == '\0' ? "" : ": ", e->text, has_hint ? " (" : "", e->hint,
                        has_hint ? ")" : "");
}

void problems_init(struct problems *p, struct arena *a)
{
    *p = (struct problems){.arena = a};
}

struct problem *problems_add(struct problems *p, enum severity severity, const char *format, ...)
{
    if (severity == SEVERITY_ERROR) {
        p->error_count++;
    }
    // One item more than is kept always exists: the scratch one.
    p->items = array_grow(p->arena, p->items, sizeof(*p->items), p->count, &p->cap);
    struct problem *item = &p->items[p->count];
    *item = (struct problem){.severity = severity, .status = STATUS_INVALID};
    if (p->count == PROBLEMS_MAX) {
        p->dropped++;
        return item;
    }
    p->count++;
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    uint32_t len = str_vformat(NULL, 0, format, args);
    va_end(args);
    char *text = arena_alloc(p->arena, (size_t)len + 1);
    str_vformat(text, (size_t)len + 1, format, again);
    va_end(again);
    item->text = (struct str){text, len};
    return item;
}

static int compare_u32(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_problems(const void *left, const void *right, void *ctx)
{
    (void)ctx;
    const struct problem *a = left;
    const struct problem *b = right;
    int order = compare_u32(a->line, b->line);
    order = order != 0 ? order : compare_u32(a->col, b->col);
    return order != 0 ? order : compare_u32(a->severity, b->severity);
}

void problems_sort(struct problems *p)
{
    sort_stable(p->items, p->count, sizeof(*p->items), compare_problems, NULL, p->arena);
}

enum status problems_to_err(const struct problems *p, struct err *e)
{
    if (p->error_count == 0) {
        return STATUS_OK;
    }
    const struct problem *first = NULL;
    for (uint32_t i = 0; i < p->count && !first; i++) {
        first = p->items[i].severity == SEVERITY_ERROR ? &p->items[i] : NULL;
    }
    if (!first) {
        return err_set(e, STATUS_INVALID, "%u errors, none shown because of %u warnings",
                       p->error_count, p->count);
    }
    struct err made;
    if (p->error_count > 1) {
        err_set(&made, first->status, STR_FMT " (and %u more)", STR_ARG(first->text),
                p->error_count - 1);
    } else {
        err_set(&made, first->status, STR_FMT, STR_ARG(first->text));
    }
    made.line = first->line;
    made.col = first->col;
    err_field(&made, STR_FMT, STR_ARG(first->field));
    err_hint(&made, STR_FMT, STR_ARG(first->hint));
    if (e) {
        *e = made;
    }
    return made.status;
}

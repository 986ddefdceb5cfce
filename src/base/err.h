// SPDX-License-Identifier: Apache-2.0
// err: what went wrong, in a form that reaches the user whole: where (file, line, column), which
// field, what was found and expected, what to do next. Fixed size, on the caller's stack.
#pragma once

#include <stdint.h>

#include "base/arena.h"
#include "base/attr.h"
#include "base/status.h"
#include "base/str.h"

struct err {
    enum status status;
    char file[96];      /* the user's file, "" when none */
    uint32_t line, col; /* 1-based; 0: unknown */
    char field[128];    /* path of the field: organization.departments[0].name */
    char text[400];     /* one sentence: found and expected */
    char hint[160];     /* what to do next, "" when nothing helps */
    const char *source; /* our own file:line, for logs only */
};

#define ERR_STRINGIFY2(x) #x
#define ERR_STRINGIFY(x)  ERR_STRINGIFY2(x)
#define ERR_HERE          __FILE__ ":" ERR_STRINGIFY(__LINE__)

/* err_set fills e (NULL is allowed) and returns status, so that failing is one line. Text is
 * truncated at a character boundary. file, line, col, field and hint are cleared. */
#define err_set(e, status, ...) err_set_at((e), (status), ERR_HERE, __VA_ARGS__)
enum status err_set_at(struct err *e, enum status status, const char *source, const char *format,
                       ...) PRINTF_LIKE(4, 5);
/* err_wrap puts "context: " in front of e->text; each layer adds what only it knows. err_field and
 * err_hint set those. All return e->status; with e NULL they do nothing and return
 * STATUS_INTERNAL, so keep the status of the call that failed where e may be NULL. */
enum status err_wrap(struct err *e, const char *format, ...) PRINTF_LIKE(2, 3);
enum status err_field(struct err *e, const char *format, ...) PRINTF_LIKE(2, 3);
enum status err_hint(struct err *e, const char *format, ...) PRINTF_LIKE(2, 3);
/* err_format gives "file:line:col: field: text (hint)" with the parts that are there. */
struct str err_format(const struct err *e, struct arena *a);

/* problems: what a parser or validator found; it reports all, not only the first. */
enum severity { SEVERITY_ERROR, SEVERITY_WARNING };
struct problem {
    enum severity severity;
    enum status status; /* STATUS_INVALID unless a more exact one fits */
    uint32_t line, col; /* 0: unknown */
    struct str field, text, hint;
};
struct problems {
    struct arena *arena;
    struct problem *items;
    uint32_t count, cap;
    uint32_t error_count; /* of all found, also of those beyond the maximum */
    uint32_t dropped;     /* found but not kept: more than PROBLEMS_MAX */
};
enum { PROBLEMS_MAX = 1000 };
void problems_init(struct problems *p, struct arena *a);
/* problems_add returns the new item for line, col, field, hint to be filled in; the item beyond the
 * maximum is a scratch one that is not kept. */
struct problem *problems_add(struct problems *p, enum severity severity, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* problems_sort orders by line, column, then severity, stable. */
void problems_sort(struct problems *p);
/* problems_to_err makes an err of the first error (count of the others in the text) and returns its
 * status; STATUS_OK, and e untouched, when there are only warnings. */
enum status problems_to_err(const struct problems *p, struct err *e);

// SPDX-License-Identifier: Apache-2.0
// list: what every list of the API has in common: filterBy, search, sortBy and sortOrder, offset and
// limit, and counting. A list is rows by number; its columns are what may be filtered and sorted by.
//
//   filterBy  FIELD OP VALUE, separated by commas; all must hold. OP is == != <= >= =@ (contains)
//             !@ =^ (starts with) =$ (ends with). Texts are compared as they are, numbers by value,
//             times (RFC 3339) as moments.
#pragma once

#include "api/call.h"

enum column_kind { COLUMN_TEXT, COLUMN_NUMBER, COLUMN_TIME };
struct column {
    const char *name;
    enum column_kind kind;
};
/* number: in thousandths, or a time in ms; what a row does not have is absent, and fits no filter
 * but != and !@. */
struct cell {
    bool absent;
    struct str text;
    int64_t number;
};

struct list {
    struct call *c;
    const struct column *columns;
    uint32_t columns_count;
    struct cell (*cell)(void *ctx, uint32_t row, uint32_t column);
    struct str (*name)(void *ctx, uint32_t row); /* what `search` looks into */
    bool (*seen)(void *ctx, uint32_t row); /* whether the one who asks may see it; NULL: all */
    void *ctx;
    uint32_t rows_count;   /* to choose from */
    const char *limit_arg; /* NULL: limit */
    bool newest_first;     /* sortOrder when it is not given and nothing is sorted by */

    /* list_select's */
    uint32_t *rows, count; /* that fit, in order */
    uint32_t first, end;   /* of those, the page */
};

/* list_select reads the arguments of the call (those its route has) and fills in the rest; false: a
 * wrong one was answered. */
MUST_USE bool list_select(struct list *l);
/* list_next writes the member next, where another page begins; nothing when there is none. */
void list_next(const struct list *l, struct jw *w);
/* list_count answers {"count": …}. */
void list_count(struct list *l);

static inline struct cell cell_text(struct str text)
{
    return (struct cell){.text = text};
}
static inline struct cell cell_number(int64_t number)
{
    return (struct cell){.number = number};
}
static inline struct cell cell_time(int64_t ms)
{
    return (struct cell){.number = ms, .absent = ms <= 0};
}
#define CELL_ABSENT ((struct cell){.absent = true})

#define FILTER_ARGS "filterBy [str]"
#define PAGE_ARGS   "offset int(0..) = 0, limit int(1..500) = 50"
#define ORDER_ARG   "sortOrder 'asc'|'desc'"

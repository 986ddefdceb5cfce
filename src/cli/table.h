// SPDX-License-Identifier: Apache-2.0
// table: rows and trees that fit the terminal. Only this file's source includes libsmartcols.
#pragma once

#include <stdio.h>

#include "base/arena.h"
#include "base/err.h"
#include "cli/tint.h"

enum column_flags {
    COLUMN_RIGHT = 1u << 0, /* numbers */
    COLUMN_FLEX = 1u << 1,  /* the one that gives way first when the terminal is too narrow */
    COLUMN_TREE = 1u << 2,  /* shows the tree */
    COLUMN_EXTRA = 1u << 3, /* shown only when asked for by name */
    COLUMN_SPARE = 1u << 4, /* left out, the last first, when giving way is not enough; never when
                             * asked for by name */
};
struct column {
    const char *name; /* for --columns */
    const char *title;
    unsigned flags;
};

enum { TABLE_COLUMNS_MAX = 24 };
struct table_cell {
    struct str text;
    enum tint tint;
};
struct table_row {
    uint32_t parent; /* row index, or ROW_NONE */
    struct table_cell cells[TABLE_COLUMNS_MAX];
};
#define ROW_NONE UINT32_MAX
struct table {
    struct arena *arena;
    const struct column *columns;
    uint32_t columns_count;
    uint32_t shown[TABLE_COLUMNS_MAX]; /* columns in the order they are shown */
    uint32_t shown_count;
    bool chosen; /* by name */
    bool headings;
    uint32_t indent; /* spaces before each line */
    struct table_row *rows;
    uint32_t count, cap;
};

/* table_init shows the columns without COLUMN_EXTRA. */
void table_init(struct table *t, struct arena *arena, const struct column *columns, uint32_t count);
/* table_choose shows the named columns ("name,status"), by name or title in either case.
 * STATUS_INVALID with the nearest known one. */
MUST_USE enum status table_choose(struct table *t, struct str names, struct err *err);
/* table_row adds a row below parent (or ROW_NONE) and gives its index. */
uint32_t table_row(struct table *t, uint32_t parent);
void table_set(struct table *t, uint32_t row, uint32_t column, struct str text);
void table_tint(struct table *t, uint32_t row, uint32_t column, enum tint tint);
/* table_print writes it, at most width columns wide (0: as wide as it is). */
void table_print(const struct table *t, FILE *out, uint32_t width, bool colour);

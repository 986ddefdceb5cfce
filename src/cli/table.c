// SPDX-License-Identifier: Apache-2.0
// table: rows are kept here and handed to libsmartcols when all are known, because what the one
// flexible column has to give up depends on all the others. Values that go to a terminal are made
// harmless by libsmartcols (control characters become \x1b).
#include "cli/table.h"

#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "cli/view.h"

enum { FLEX_WIDTH_MIN = 40, TEXT_WIDTH_MIN = 6, BRANCH_WIDTH = 2, GAP_WIDTH = 2 };

const char *tint_begin(enum tint tint, bool colour)
{
    if (!colour) {
        return "";
    }
    switch (tint) {
    case TINT_NONE:
        return "";
    case TINT_GOOD:
        return "\033[32m";
    case TINT_WAIT:
        return "\033[33m";
    case TINT_BAD:
        return "\033[31m";
    case TINT_DIM:
        return "\033[2m";
    case TINT_STRONG:
        return "\033[1m";
    }
    return "";
}

const char *tint_end(bool colour)
{
    return colour ? "\033[0m" : "";
}

void table_init(struct table *t, struct arena *arena, const struct column *columns, uint32_t count)
{
    CHECK(count <= TABLE_COLUMNS_MAX);
    *t = (struct table){
        .arena = arena, .columns = columns, .columns_count = count, .headings = true};
    for (uint32_t i = 0; i < count; i++) {
        if ((columns[i].flags & COLUMN_EXTRA) == 0) {
            t->shown[t->shown_count++] = i;
        }
    }
}

static struct str lower(struct arena *arena, struct str s)
{
    char *text = arena_alloc(arena, (size_t)s.len + 1);
    for (uint32_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        text[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return (struct str){text, s.len};
}

enum status table_choose(struct table *t, struct str names, struct err *err)
{
    struct str known[TABLE_COLUMNS_MAX];
    struct str list = STR("");
    for (uint32_t i = 0; i < t->columns_count; i++) {
        known[i] = str_from_c(t->columns[i].name);
        list = arena_printf(t->arena, STR_FMT "%s" STR_FMT, STR_ARG(list), i > 0 ? ", " : "",
                            STR_ARG(known[i]));
    }
    uint32_t shown[TABLE_COLUMNS_MAX], count = 0;
    struct str name;
    while (str_split(&names, ',', &name)) {
        struct str wanted = lower(t->arena, str_trim(name));
        uint32_t at = 0;
        while (at < t->columns_count && !str_eq(known[at], wanted) &&
               !str_eq(lower(t->arena, str_from_c(t->columns[at].title)), wanted)) {
            at++;
        }
        if (at == t->columns_count || count == TABLE_COLUMNS_MAX) {
            enum status s = err_set(err, STATUS_INVALID, "unknown column \"" STR_FMT "\"",
                                    STR_ARG(name));
            err_field(err, "--columns");
            uint32_t near = str_nearest(wanted, known, t->columns_count);
            if (near < t->columns_count) {
                err_hint(err, "did you mean " STR_FMT "?", STR_ARG(known[near]));
            } else {
                s = err_set(err, STATUS_INVALID,
                            "unknown column \"" STR_FMT "\": there are " STR_FMT, STR_ARG(name),
                            STR_ARG(list));
                err_field(err, "--columns");
            }
            return s;
        }
        shown[count++] = at;
    }
    memcpy(t->shown, shown, sizeof(shown[0]) * count);
    t->shown_count = count;
    t->chosen = true;
    return STATUS_OK;
}

uint32_t table_row(struct table *t, uint32_t parent)
{
    t->rows = array_grow(t->arena, t->rows, sizeof(t->rows[0]), t->count, &t->cap);
    t->rows[t->count] = (struct table_row){.parent = parent};
    return t->count++;
}

void table_set(struct table *t, uint32_t row, uint32_t column, struct str text)
{
    CHECK(row < t->count && column < t->columns_count);
    t->rows[row].cells[column].text = text;
}

void table_tint(struct table *t, uint32_t row, uint32_t column, enum tint tint)
{
    CHECK(row < t->count && column < t->columns_count);
    t->rows[row].cells[column].tint = tint;
}

// Columns that the lines of the tree take in front of a row.
static uint32_t branch_width(const struct table *t, uint32_t row)
{
    uint32_t width = 0;
    while (t->rows[row].parent != ROW_NONE) {
        row = t->rows[row].parent;
        width += BRANCH_WIDTH;
    }
    return width;
}

/* How a table is made to fit: the columns that are shown and the width of each. */
struct fit {
    uint32_t shown[TABLE_COLUMNS_MAX], widths[TABLE_COLUMNS_MAX], count;
};

static uint32_t column_width(const struct table *t, uint32_t column)
{
    const struct column *c = &t->columns[column];
    uint32_t widest = view_width(str_from_c(c->title)); // also where it is not shown
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t w = view_width(t->rows[i].cells[column].text);
        w += (c->flags & COLUMN_TREE) != 0 ? branch_width(t, i) : 0;
        widest = w > widest ? w : widest;
    }
    return widest;
}

static uint32_t fit_width(const struct table *t, const struct fit *f)
{
    uint32_t sum = t->indent;
    for (uint32_t k = 0; k < f->count; k++) {
        sum += f->widths[k] + (k > 0 ? GAP_WIDTH : 0);
    }
    return sum;
}

// Takes what is too much from the column, down to least; gives what is still too much.
static uint32_t give_way(uint32_t *width, uint32_t least, uint32_t over)
{
    uint32_t can = *width > least ? *width - least : 0;
    uint32_t takes = over < can ? over : can;
    *width -= takes;
    return over - takes;
}

static void leave_out(struct fit *f, uint32_t at)
{
    f->count--;
    for (uint32_t i = at; i < f->count; i++) {
        f->shown[i] = f->shown[i + 1];
        f->widths[i] = f->widths[i + 1];
    }
}

// Gives what a left-out column has freed beyond need back to the flexible one.
static void take_back(const struct table *t, struct fit *f, uint32_t width)
{
    for (uint32_t k = 0; k < f->count; k++) {
        uint32_t sum = fit_width(t, f), wish = column_width(t, f->shown[k]);
        if ((t->columns[f->shown[k]].flags & COLUMN_FLEX) != 0 && sum < width) {
            uint32_t room = f->widths[k] + width - sum;
            f->widths[k] = wish < room ? wish : room;
        }
    }
}

// First the flexible column gives way as far as it can still be read, then spare ones go, from the
// right, then the widest texts are shortened.
static void fit_find(const struct table *t, uint32_t width, struct fit *f)
{
    f->count = t->shown_count;
    for (uint32_t k = 0; k < f->count; k++) {
        f->shown[k] = t->shown[k];
        f->widths[k] = column_width(t, t->shown[k]);
    }
    uint32_t over = fit_width(t, f) > width && width > 0 ? fit_width(t, f) - width : 0;
    if (over == 0) {
        return;
    }
    for (uint32_t k = 0; k < f->count && over > 0; k++) {
        if ((t->columns[f->shown[k]].flags & COLUMN_FLEX) != 0) {
            over = give_way(&f->widths[k], FLEX_WIDTH_MIN, over);
        }
    }
    for (uint32_t k = f->count; k > 0 && over > 0 && !t->chosen; k--) {
        if ((t->columns[f->shown[k - 1]].flags & COLUMN_SPARE) != 0) {
            uint32_t gone = f->widths[k - 1] + GAP_WIDTH;
            leave_out(f, k - 1);
            over = over > gone ? over - gone : 0;
        }
    }
    take_back(t, f, width);
    while (over > 0) {
        uint32_t widest = f->count;
        for (uint32_t k = 0; k < f->count; k++) {
            bool text = (t->columns[f->shown[k]].flags & COLUMN_RIGHT) == 0;
            if (text && f->widths[k] > TEXT_WIDTH_MIN &&
                (widest == f->count || f->widths[k] > f->widths[widest])) {
                widest = k;
            }
        }
        if (widest == f->count) {
            return;
        }
        over = give_way(&f->widths[widest], f->widths[widest] - 1, over);
    }
}

static const char *scols_colour(enum tint tint)
{
    switch (tint) {
    case TINT_NONE:
        return NULL;
    case TINT_GOOD:
        return "green";
    case TINT_WAIT:
        return "brown";
    case TINT_BAD:
        return "red";
    case TINT_DIM:
        return "halfbright";
    case TINT_STRONG:
        return "bold";
    }
    return NULL;
}

// Fills the library's table; its lines are owned by it.
static void fill(const struct table *t, struct libscols_table *out, const struct fit *f)
{
    struct libscols_line **lines = ARENA_ARRAY(t->arena, struct libscols_line *, t->count + 1);
    for (uint32_t i = 0; i < t->count; i++) {
        const struct table_row *row = &t->rows[i];
        lines[i] = scols_table_new_line(out, row->parent != ROW_NONE ? lines[row->parent] : NULL);
        CHECK(lines[i] != NULL);
        for (uint32_t k = 0; k < f->count; k++) {
            const struct table_cell *cell = &row->cells[f->shown[k]];
            bool tree = (t->columns[f->shown[k]].flags & COLUMN_TREE) != 0;
            uint32_t room = f->widths[k], branches = tree ? branch_width(t, i) : 0;
            room = room > branches ? room - branches : 1;
            struct str text = view_shorten(t->arena, cell->text, room);
            CHECK(scols_line_set_data(lines[i], k, arena_cstr(t->arena, text)) == 0);
            scols_cell_set_color(scols_line_get_cell(lines[i], k), scols_colour(cell->tint));
        }
    }
}

// The library writes nothing at all for a table without rows.
static void print_headings(const struct table *t, FILE *out, const struct fit *f, bool colour)
{
    fprintf(out, "%*s", (int)t->indent, "");
    for (uint32_t k = 0; k < f->count; k++) {
        const char *title = t->columns[f->shown[k]].title;
        fprintf(out, "%s%s%s%s", k > 0 ? "  " : "", tint_begin(TINT_STRONG, colour), title,
                tint_end(colour));
    }
    fputc('\n', out);
}

static void print_indented(FILE *out, const char *text, uint32_t indent)
{
    struct str rest = str_from_c(text), line;
    while (str_split(&rest, '\n', &line)) {
        if (rest.ptr != NULL || line.len > 0) {
            while (line.len > 0 && line.ptr[line.len - 1] == ' ') {
                line.len--;
            }
            fprintf(out, "%*s" STR_FMT "\n", line.len > 0 ? (int)indent : 0, "", STR_ARG(line));
        }
    }
}

void table_print(const struct table *t, FILE *out, uint32_t width, bool colour)
{
    struct fit f;
    fit_find(t, width, &f);
    if (t->count == 0) {
        if (t->headings) {
            print_headings(t, out, &f, colour);
        }
        return;
    }
    struct libscols_table *table = scols_new_table();
    CHECK(table != NULL);
    scols_table_enable_colors(table, colour);
    scols_table_enable_noheadings(table, !t->headings);
    scols_table_set_column_separator(table, "  ");
    scols_table_set_termforce(table, SCOLS_TERMFORCE_NEVER);
    for (uint32_t k = 0; k < f.count; k++) {
        const struct column *c = &t->columns[f.shown[k]];
        int flags = (c->flags & COLUMN_RIGHT) != 0 ? SCOLS_FL_RIGHT : 0;
        flags |= (c->flags & COLUMN_TREE) != 0 ? SCOLS_FL_TREE : 0;
        struct str title = view_shorten(t->arena, str_from_c(c->title), f.widths[k]);
        struct libscols_column *column = scols_table_new_column(table, arena_cstr(t->arena, title),
                                                                0, flags);
        CHECK(column != NULL);
        scols_cell_set_color(scols_column_get_header(column), "bold");
    }
    fill(t, table, &f);
    char *text = NULL;
    CHECK(scols_print_table_to_string(table, &text) == 0);
    if (text != NULL) {
        print_indented(out, text, t->indent);
    }
    free(text);
    scols_unref_table(table);
}

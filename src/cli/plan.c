// SPDX-License-Identifier: Apache-2.0
// plan: see plan.h. Text of the user's file and of a server goes to a terminal here, so control
// characters are shown as spaces.
#include "cli/plan.h"

#include <fcntl.h>
#include <string.h>

#include "base/attr.h"
#include "io/file.h"
#include "io/yaml.h"

enum { SOURCE_SHOWN_MAX = 100, SOURCE_BEFORE_MAX = 70 }; /* columns of a long line */

enum status plan_file_read(const char *path, struct arena *arena, struct plan_file *out,
                           struct err *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    CLEANUP(buf_done) struct buf bytes;
    buf_init(&bytes, YAML_BYTES_MAX);
    enum status status = file_read(AT_FDCWD, is_stdin ? "/dev/stdin" : path, &bytes, err);
    if (status != STATUS_OK) {
        if (status == STATUS_TOO_LARGE) {
            err_hint(err, "a plan is at most 4 MiB; is this the right file?");
        } else {
            err_hint(err, "give the path of a YAML file, or - for standard input");
        }
        return status;
    }
    *out = (struct plan_file){
        .path = is_stdin ? STR("standard input") : arena_str(arena, str_from_c(path)),
        .bytes = arena_str(arena, buf_view(&bytes)),
    };
    problems_init(&out->problems, arena);
    // A file that is no YAML has its problems in the list, like any other.
    if (yaml_parse(out->bytes, arena, &out->root, &out->problems) == STATUS_OK) {
        plan_from_doc(out->root, NULL, arena, &out->plan, &out->problems);
    }
    problems_sort(&out->problems);
    return STATUS_OK;
}

void plan_file_check(struct plan_file *file, const struct plan *base, bool prune,
                     const struct pool_capacity *capacity, uint32_t capacity_count)
{
    if (!file->root) {
        return;
    }
    struct plan whole = file->plan;
    if (base) {
        plan_merge(base, &file->plan, prune, file->problems.arena, &whole);
    }
    plan_check(&whole, file->root, capacity, capacity_count, &file->problems);
    problems_sort(&file->problems);
}

int plan_file_exit(const struct plan_file *file)
{
    return file->problems.error_count > 0 ? 1 : 0;
}

/* ---- problems ---- */

static void put_safe(struct buf *out, struct str text)
{
    for (uint32_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool is_c1 = c == 0xc2 && i + 1 < text.len && (unsigned char)text.ptr[i + 1] < 0xa0;
        uint32_t len = str_utf8_len(text, i);
        if (is_c1 || len == 0 || c < ' ' || c == 0x7f) {
            buf_char(out, len == 0 && c >= 0x80 ? '?' : ' ');
        } else {
            buf_str(out, str_sub(text, i, len));
        }
        i += len > 1 ? len - 1 : 0;
    }
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* skip_chars gives the index of the character `count` after the one at i, or text.len. */
static uint32_t skip_chars(struct str text, uint32_t i, uint32_t count)
{
    for (; i < text.len && count > 0; count--) {
        i++;
        while (i < text.len && is_continuation(text.ptr[i])) {
            i++;
        }
    }
    return i;
}

/* The start of each line, found once: problems come in the order of lines. */
struct lines {
    struct str rest;
    struct str text;
    uint32_t number;
};

static struct str line_get(struct lines *lines, uint32_t number)
{
    while (lines->number < number && str_split(&lines->rest, '\n', &lines->text)) {
        lines->number++;
    }
    if (lines->number != number) {
        return STR("");
    }
    struct str text = lines->text;
    if (str_ends(text, STR("\r"))) {
        text.len--;
    }
    return text;
}

static void print_source(struct buf *out, struct str text, uint32_t line, uint32_t col)
{
    uint32_t before = col - 1;
    uint32_t first = 0;
    const char *cut = "";
    bool is_long = skip_chars(text, 0, SOURCE_SHOWN_MAX) < text.len;
    if (is_long && before > SOURCE_BEFORE_MAX) { // the part around the column
        first = skip_chars(text, 0, before - SOURCE_BEFORE_MAX);
        before = SOURCE_BEFORE_MAX + 1;
        cut = "…";
    }
    uint32_t end = skip_chars(text, first, SOURCE_SHOWN_MAX);
    buf_printf(out, "%7u | %s", line, cut);
    put_safe(out, str_sub(text, first, end - first));
    buf_printf(out, "%s\n        | %*s^\n", end < text.len ? "…" : "", (int)before, "");
}

static void print_problem(const struct plan_file *file, const struct problem *p,
                          struct lines *lines, struct buf *out)
{
    put_safe(out, file->path);
    if (p->line > 0) {
        buf_printf(out, ":%u:%u", p->line, p->col);
    }
    buf_str(out, p->severity == SEVERITY_ERROR ? STR(": error: ") : STR(": warning: "));
    if (p->field.len > 0) {
        put_safe(out, p->field);
        buf_str(out, STR(": "));
    }
    put_safe(out, p->text);
    buf_char(out, '\n');
    if (p->line > 0 && p->col > 0) {
        print_source(out, line_get(lines, p->line), p->line, p->col);
    }
    if (p->hint.len > 0) {
        buf_str(out, STR("        = "));
        put_safe(out, p->hint);
        buf_char(out, '\n');
    }
}

static void print_count(struct buf *out, uint32_t count, const char *what)
{
    buf_printf(out, "%u %s%s", count, what, count == 1 ? "" : "s");
}

void plan_problems_print(const struct plan_file *file, struct buf *out)
{
    const struct problems *problems = &file->problems;
    struct lines lines = {.rest = file->bytes};
    for (uint32_t i = 0; i < problems->count; i++) {
        print_problem(file, &problems->items[i], &lines, out);
    }
    uint32_t found = problems->count + problems->dropped;
    put_safe(out, file->path);
    buf_str(out, STR(": "));
    print_count(out, problems->error_count, "error");
    buf_str(out, STR(", "));
    print_count(out, found - problems->error_count, "warning");
    if (problems->dropped > 0) {
        buf_printf(out, " (the last %u not shown)", problems->dropped);
    }
    buf_char(out, '\n');
}

/* ---- differences ---- */

enum { FIELD_WIDTH = 24 };

/* object_of takes "project team-a, pool h100" apart. */
static struct str object_of(struct str what, struct str *pool)
{
    uint32_t comma = str_find(what, ',');
    *pool = str_trim(str_sub(what, comma + 1, what.len));
    return str_sub(what, 0, comma);
}

static void print_change(const struct plan_change *change, bool is_new, bool in_pool,
                         struct buf *out)
{
    buf_str(out, in_pool ? STR("        ") : STR("    "));
    put_safe(out, change->field);
    buf_printf(out, "%*s",
               (int)(change->field.len < FIELD_WIDTH ? FIELD_WIDTH - change->field.len : 1), "");
    if (!is_new) {
        put_safe(out, change->from);
        buf_str(out, STR(" -> "));
    }
    put_safe(out, change->to);
    buf_char(out, '\n');
}

void plan_changes_print(const struct plan_change *changes, uint32_t count, struct buf *out)
{
    static const char signs[] = {[CHANGE_ADD] = '+', [CHANGE_REMOVE] = '-', [CHANGE_SET] = '~'};
    uint32_t counts[COUNT_OF(signs)] = {0};
    struct str object = STR("");
    struct str pool = STR("");
    bool is_new = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct plan_change *change = &changes[i];
        struct str its_pool;
        struct str its_object = object_of(change->what, &its_pool);
        if (change->kind != CHANGE_SET || !str_eq(its_object, object)) {
            buf_printf(out, "%c ", signs[change->kind]);
            put_safe(out, its_object);
            buf_char(out, '\n');
            object = its_object;
            pool = STR("");
            is_new = change->kind == CHANGE_ADD;
            counts[change->kind]++;
        }
        if (change->kind != CHANGE_SET) {
            continue;
        }
        if (!str_eq(its_pool, pool)) {
            buf_str(out, STR("    "));
            put_safe(out, its_pool);
            buf_char(out, '\n');
            pool = its_pool;
        }
        print_change(change, is_new, its_pool.len > 0, out);
    }
    if (count == 0) {
        buf_str(out, STR("no changes\n"));
        return;
    }
    buf_printf(out, "%u to add, %u to change, %u to remove\n", counts[CHANGE_ADD],
               counts[CHANGE_SET], counts[CHANGE_REMOVE]);
}

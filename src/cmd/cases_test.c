// SPDX-License-Identifier: Apache-2.0
// Runs every case of a directory, one line of TAP each. Cases that do not pass yet are listed in its
// known-failing.txt (one id a line, # starts a comment); a listed case that passes, or is not there,
// fails the test too, so that the list only shrinks.
//
// usage: cases_test DIRECTORY
#include <fcntl.h>
#include <stdio.h>

#include "base/check.h"
#include "base/map.h"
#include "cmd/case_files.h"
#include "io/file.h"

enum { LIST_MAX = 1 << 20, AREAS_MAX = 32 };

struct area {
    struct str name;
    uint32_t passed, total;
};

struct run {
    struct arena names, arena; /* for all; for one case */
    struct map known;          /* id to 0: listed, 1: seen */
    struct str known_text;
    struct area areas[AREAS_MAX];
    uint32_t area_count;
    uint32_t printed, unexpected, differing;
};

static void panic(const char *file, int line, const char *what)
{
    printf("Bail out! %s:%d: %s\n", file, line, what);
    fflush(stdout);
    __builtin_trap();
}

static void result(struct run *r, bool as_expected, struct str id, const char *what)
{
    r->printed++;
    r->unexpected += as_expected ? 0 : 1;
    printf("%s %u - " STR_FMT "%s\n", as_expected ? "ok" : "not ok", r->printed, STR_ARG(id), what);
}

/* Takes the next id of a list, without comments and blank lines; false at the end. */
static bool next_id(struct str *rest, struct str *id)
{
    struct str line;
    while (str_split(rest, '\n', &line)) {
        *id = str_trim(str_sub(line, 0, str_find(line, '#')));
        if (id->len > 0) {
            return true;
        }
    }
    return false;
}

static enum status read_known(struct run *r, const char *directory, struct err *err)
{
    struct buf bytes;
    buf_init(&bytes, LIST_MAX);
    const char *path = arena_printf(&r->names, "%s/known-failing.txt", directory).ptr;
    enum status status = file_read(AT_FDCWD, path, &bytes, err);
    if (status == STATUS_OK) {
        r->known_text = arena_str(&r->names, buf_view(&bytes));
        struct str rest = r->known_text;
        for (struct str id; next_id(&rest, &id);) {
            map_put(&r->known, id, 0);
        }
    }
    buf_done(&bytes);
    return status;
}

static void count_area(struct run *r, struct str name, bool passed)
{
    uint32_t a = 0;
    while (a < r->area_count && !str_eq(r->areas[a].name, name)) {
        a++;
    }
    CHECK(a < AREAS_MAX);
    if (a == r->area_count) {
        r->areas[r->area_count++].name = arena_str(&r->names, name);
    }
    r->areas[a].total++;
    r->areas[a].passed += passed ? 1 : 0;
}

static void run_case(struct run *r, const char *path)
{
    struct sim_case c;
    struct case_result outcome;
    struct problems problems;
    struct err err = {0};
    uint32_t listed = 0;
    problems_init(&problems, &r->arena);
    if (case_file_load(path, &r->arena, &c, &problems, &err) != STATUS_OK) {
        struct str text = err_format(&err, &r->arena);
        result(r, false, str_from_c(path), " cannot be read");
        printf("# " STR_FMT "\n", STR_ARG(text));
        return;
    }
    case_run(&c, &r->arena, &outcome);
    bool passed = outcome.failures.count == 0;
    bool known = map_get(&r->known, c.id, &listed);
    count_area(r, c.area, passed);
    r->differing += c.differs.len > 0 ? 1 : 0;
    if (known) {
        map_put(&r->known, arena_str(&r->names, c.id), 1);
    }
    result(r, passed != known, c.id,
           !known   ? ""
           : passed ? " passes: take it out of known-failing.txt"
                    : " fails, as listed in known-failing.txt");
    for (uint32_t i = 0; !known && i < outcome.failures.count; i++) {
        const struct case_failure *f = &outcome.failures.items[i];
        printf("# %s:%u:%u: round %u: " STR_FMT "\n", path, f->line, f->col, f->round,
               STR_ARG(f->text));
    }
}

/* Ids of the list that no case has. */
static void check_known_seen(struct run *r)
{
    struct str rest = r->known_text;
    for (struct str id; next_id(&rest, &id);) {
        uint32_t seen = 0;
        if (map_get(&r->known, id, &seen) && seen == 0) {
            result(r, false, id, " is listed in known-failing.txt, but there is no such case");
        }
    }
}

int main(int argc, char **argv)
{
    struct run r = {0};
    struct case_paths paths = {0};
    struct err err = {0};
    if (argc != 2) {
        fputs("usage: cases_test DIRECTORY\n", stderr);
        return 2;
    }
    check_set_hook(panic);
    arena_init(&r.names, 0);
    arena_init(&r.arena, 0);
    map_init(&r.known, &r.names);
    if (case_files_find(argv[1], &r.names, &paths, &err) != STATUS_OK ||
        read_known(&r, argv[1], &err) != STATUS_OK) {
        struct str text = err_format(&err, &r.names);
        printf("Bail out! " STR_FMT "\n", STR_ARG(text));
        return 1;
    }
    for (uint32_t i = 0; i < paths.list.count; i++) {
        arena_reset(&r.arena);
        run_case(&r, paths.list.items[i]);
    }
    check_known_seen(&r);
    for (uint32_t a = 0; a < r.area_count; a++) {
        printf("# " STR_FMT ": %u of %u pass\n", STR_ARG(r.areas[a].name), r.areas[a].passed,
               r.areas[a].total);
    }
    if (r.differing > 0) {
        printf("# %u case%s differ%s from KAI by rule\n", r.differing, r.differing == 1 ? "" : "s",
               r.differing == 1 ? "s" : "");
    }
    printf("1..%u\n", r.printed);
    arena_done(&r.arena);
    arena_done(&r.names);
    return r.unexpected == 0 ? 0 : 1;
}

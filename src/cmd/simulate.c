// SPDX-License-Identifier: Apache-2.0
// weir simulate: runs scheduling cases from files and says which expectations do not hold.
#include <getopt.h>
#include <stdio.h>

#include "cmd/case_files.h"
#include "cmd/cmd.h"

static const char usage[] =
    "usage: weir simulate [--json [--remedies]] [--area AREA] CASE.json|DIRECTORY ...\n"
    "\n"
    "Runs scheduling cases and prints a line for each expectation that does not hold, then\n"
    "\"N passed, N failed\". The exit status is 0 only when none failed.\n"
    "\n"
    "  --json        print the outcome of each case as one JSON document a line\n"
    "  --remedies    with --json: also the smallest change that would have started each workload\n"
    "                that waited in the last round\n"
    "  --area AREA   only the cases of that area (allocate, consolidation, reclaim, preempt,\n"
    "                stalegangeviction, cycle, fairshare)\n"
    "  -h, --help    print this\n";

/* Larger outcomes than this are not printed. */
enum { OUTCOME_MAX = 256 << 20 };

static const struct str areas[] = {STRS("allocate"), STRS("consolidation"),     STRS("reclaim"),
                                   STRS("preempt"),  STRS("stalegangeviction"), STRS("cycle"),
                                   STRS("fairshare")};

struct simulation {
    struct str area; /* "": all */
    bool json, remedies;
    uint32_t passed, failed, differing;
};

static void print_problems(const char *path, const struct problems *problems)
{
    for (uint32_t i = 0; i < problems->count; i++) {
        const struct problem *p = &problems->items[i];
        fprintf(stderr, "%s:%u:%u: " STR_FMT "%s" STR_FMT "%s" STR_FMT "%s\n", path, p->line,
                p->col, STR_ARG(p->field), p->field.len > 0 ? ": " : "", STR_ARG(p->text),
                p->hint.len > 0 ? " (" : "", STR_ARG(p->hint), p->hint.len > 0 ? ")" : "");
    }
}

static void print_outcome(const struct simulation *s, const struct sim_case *c,
                          const struct case_result *result, struct arena *arena)
{
    struct buf out;
    struct jw w;
    buf_init(&out, OUTCOME_MAX);
    jw_init(&w, &out, false);
    case_to_json(c, result, s->remedies, arena, &w);
    if (out.full) {
        fprintf(stderr, STR_FMT ": the outcome is larger than 256 MiB and left out\n",
                STR_ARG(c->id));
    } else {
        printf(STR_FMT "\n", STR_ARG(buf_view(&out)));
    }
    buf_done(&out);
}

static void run_file(struct simulation *s, const char *path, struct arena *arena)
{
    struct sim_case c;
    struct case_result result;
    struct problems problems;
    struct err err = {0};
    problems_init(&problems, arena);
    enum status status = case_file_load(path, arena, &c, &problems, &err);
    if (status != STATUS_OK) {
        if (problems.count > 0) {
            print_problems(path, &problems);
        } else {
            struct str text = err_format(&err, arena);
            fprintf(stderr, STR_FMT "\n", STR_ARG(text));
        }
        s->failed++;
        return;
    }
    if (s->area.len > 0 && !str_eq(s->area, c.area)) {
        return;
    }
    case_run(&c, arena, &result);
    s->differing += c.differs.len > 0 ? 1 : 0;
    if (result.failures.count > 0) {
        s->failed++;
    } else {
        s->passed++;
    }
    if (s->json) {
        print_outcome(s, &c, &result, arena);
        return;
    }
    for (uint32_t i = 0; i < result.failures.count; i++) {
        const struct case_failure *f = &result.failures.items[i];
        printf("%s:%u:%u: round %u: " STR_FMT "\n", path, f->line, f->col, f->round,
               STR_ARG(f->text));
    }
}

static bool area_is_known(const char *area)
{
    for (uint32_t i = 0; i < COUNT_OF(areas); i++) {
        if (str_eq(str_from_c(area), areas[i])) {
            return true;
        }
    }
    fprintf(stderr, "weir simulate: --area: no area is named \"%s\"\n\n%s", area, usage);
    return false;
}

int cmd_simulate(int argc, char **argv)
{
    static const struct option options[] = {
        {"json",     no_argument,       NULL, 'j'},
        {"remedies", no_argument,       NULL, 'r'},
        {"area",     required_argument, NULL, 'a'},
        {"help",     no_argument,       NULL, 'h'},
        {NULL,       0,                 NULL, 0  }
    };
    struct simulation s = {0};
    for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (option == 'j') {
            s.json = true;
        } else if (option == 'r') {
            s.remedies = true;
        } else if (option == 'a') {
            s.area = str_from_c(optarg);
            if (!area_is_known(optarg)) {
                return 1;
            }
        } else {
            fputs(usage, option == 'h' ? stdout : stderr);
            return option == 'h' ? 0 : 1;
        }
    }
    if (optind == argc) {
        fputs(usage, stderr);
        return 1;
    }

    struct arena names;
    struct arena arena;
    struct case_paths paths = {0};
    struct err err = {0};
    arena_init(&names, 0);
    arena_init(&arena, 0);
    for (int i = optind; i < argc; i++) {
        if (case_files_find(argv[i], &names, &paths, &err) != STATUS_OK) {
            struct str text = err_format(&err, &names);
            fprintf(stderr, "weir simulate: " STR_FMT "\n", STR_ARG(text));
            s.failed++;
        }
    }
    for (uint32_t i = 0; i < paths.list.count; i++) {
        arena_reset(&arena);
        run_file(&s, paths.list.items[i], &arena);
    }
    FILE *summary = s.json ? stderr : stdout;
    fprintf(summary, "%u passed, %u failed\n", s.passed, s.failed);
    if (s.differing > 0) {
        fprintf(stderr, "%u case%s differ%s from KAI by rule\n", s.differing,
                s.differing == 1 ? "" : "s", s.differing == 1 ? "s" : "");
    }
    arena_done(&arena);
    arena_done(&names);
    return s.failed == 0 ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// bench_packing: `weir bench packing` tells how much of a cluster's devices a placement policy gets
// used, on tasks drawn from a trace, and what one decision takes; with --churn, how much of what is
// asked for it turns away while work comes and goes.
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/num.h"
#include "cmd/cmd.h"
#include "codec/json.h"
#include "io/clock.h"
#include "io/file.h"
#include "sim/churn.h"
#include "sim/packing.h"

enum { SEEDS_MAX = 1000, TABLE_BYTES_MAX = 256 << 20, OUTPUT_MAX = 1 << 16 };

#define NODES_FILE "openb_node_list_gpu_node.csv"
#define TASKS_FILE "openb_pod_list_default.csv"

static const struct {
    const char *name;
    enum placement placement;
} policies[] = {
    {"binpack", PLACEMENT_BINPACK},
    {"spread",  PLACEMENT_SPREAD },
    {"pack",    PLACEMENT_PACK   },
};

struct bench {
    const char *path, *nodes_path;
    int64_t seed, seeds;
    uint32_t policy; /* index in policies[] */
    bool json, churn, consolidate;
    struct packing_trace trace;
    struct packing_result sum; /* over all seeds */
    struct churn_result churn_sum;
    int64_t us; /* over all seeds, of decisions */
};

/* ---- input ---- */

static enum status read_table(const char *path, struct arena *arena, struct str *out,
                              struct err *err)
{
    struct buf bytes;
    buf_init(&bytes, TABLE_BYTES_MAX);
    enum status status = file_read(AT_FDCWD, path, &bytes, err);
    *out = status == STATUS_OK ? arena_str(arena, buf_view(&bytes)) : STR("");
    buf_done(&bytes);
    return status;
}

// A directory stands for the trace of that name in it; the nodes are beside the tasks.
static void find_files(struct bench *b, struct arena *arena)
{
    struct stat st;
    if (stat(b->path, &st) == 0 && S_ISDIR(st.st_mode)) {
        b->path = arena_printf(arena, "%s/" TASKS_FILE, b->path).ptr;
    }
    const char *slash = strrchr(b->path, '/');
    if (b->nodes_path == NULL) {
        b->nodes_path = arena_printf(arena, "%.*s" NODES_FILE,
                                     slash ? (int)(slash + 1 - b->path) : 0, b->path)
                            .ptr;
    }
}

static enum status read_trace(struct bench *b, struct arena *arena, struct err *err)
{
    struct str nodes;
    struct str tasks;
    find_files(b, arena);
    enum status status = read_table(b->path, arena, &tasks, err);
    status = status ? status : read_table(b->nodes_path, arena, &nodes, err);
    if (status != STATUS_OK) {
        return status;
    }
    status = packing_read(nodes, tasks, arena, &b->trace, err);
    if (status != STATUS_OK) {
        bool in_nodes = strcmp(err->file, "nodes") == 0;
        snprintf(err->file, sizeof err->file, "%s", in_nodes ? b->nodes_path : b->path);
    }
    return status;
}

/* ---- the runs ---- */

// Hundredths of a percent.
static int64_t hundredths(int64_t part, int64_t of)
{
    return num_muldiv_floor(part, 10000, of);
}

static int64_t decision_ns(int64_t us, uint32_t drawn)
{
    return drawn == 0 ? 0 : us * 1000 / drawn;
}

static void put_name(int64_t seed)
{
    char name[24];
    snprintf(name, sizeof name, "%" PRId64, seed);
    printf("%6s", seed < 0 ? "mean" : name);
}

/* What one seed came to, or all of them together (seed -1). */
static void put_packing(const struct bench *b, int64_t seed, const struct packing_result *r,
                        int64_t us, int64_t runs)
{
    put_name(seed);
    for (int i = 0; i < PACKING_MARKS; i++) {
        int64_t h = hundredths(r->allocated_at_milli[i], b->trace.capacity_milli * runs);
        printf("  %4" PRId64 ".%02" PRId64, h / 100, h % 100);
    }
    int64_t ns = decision_ns(us, r->drawn);
    printf("  %8" PRId64 " of %" PRId64 "  %5" PRId64 ".%" PRId64 "\n", r->placed / runs,
           r->drawn / runs, ns / 1000, ns % 1000 / 100);
}

static void put_packing_json(struct jw *w, const struct bench *b, const struct packing_result *r,
                             int64_t us, int64_t runs)
{
    char mark[16];
    jw_key(w, STR("allocated_percent"));
    jw_object_begin(w);
    for (int i = 0; i < PACKING_MARKS; i++) {
        snprintf(mark, sizeof mark, "%" PRId64, packing_marks[i]);
        jw_key(w, str_from_c(mark));
        jw_decimal(w, hundredths(r->allocated_at_milli[i], b->trace.capacity_milli * runs), 2);
    }
    jw_object_end(w);
    jw_member_i64(w, STR("drawn"), r->drawn);
    jw_member_i64(w, STR("placed"), r->placed);
    jw_member_i64(w, STR("allocated_milli"), r->allocated_milli);
    jw_key(w, STR("decision_us"));
    jw_decimal(w, decision_ns(us, r->drawn), 3);
}

struct churn_figures {
    int64_t allocated, lost;    /* hundredths of a percent */
    int64_t moves_per_1000_100; /* hundredths of moves */
    int64_t ns;                 /* an arrival */
};

static struct churn_figures churn_figures(const struct bench *b, const struct churn_result *r,
                                          int64_t us)
{
    return (struct churn_figures){
        .allocated = hundredths(r->allocated_milli, b->trace.capacity_milli * r->arrivals),
        .lost = hundredths(r->lost_milli, r->asked_milli),
        .moves_per_1000_100 = INT64_C(100000) * r->moves / r->arrivals,
        .ns = decision_ns(us, 2 * r->arrivals), /* the first half is not in the result */
    };
}

static void put_churn(const struct bench *b, int64_t seed, const struct churn_result *r, int64_t us)
{
    struct churn_figures f = churn_figures(b, r, us);
    put_name(seed);
    printf("  %5" PRId64 ".%02" PRId64 "  %5" PRId64 ".%02" PRId64 "  %9" PRId64 ".%02" PRId64
           "  %8u of %u  %6" PRId64 ".%" PRId64 "\n",
           f.allocated / 100, f.allocated % 100, f.lost / 100, f.lost % 100,
           f.moves_per_1000_100 / 100, f.moves_per_1000_100 % 100, r->lost, r->arrivals,
           f.ns / 1000, f.ns % 1000 / 100);
}

static void put_churn_json(struct jw *w, const struct bench *b, const struct churn_result *r,
                           int64_t us)
{
    struct churn_figures f = churn_figures(b, r, us);
    jw_key(w, STR("allocated_percent"));
    jw_decimal(w, f.allocated, 2);
    jw_key(w, STR("lost_percent"));
    jw_decimal(w, f.lost, 2);
    jw_member_i64(w, STR("arrivals"), r->arrivals);
    jw_member_i64(w, STR("lost"), r->lost);
    jw_member_i64(w, STR("moves"), r->moves);
    jw_key(w, STR("arrival_us"));
    jw_decimal(w, f.ns, 3);
}

static void head(const struct bench *b, struct jw *w)
{
    if (b->json) {
        jw_object_begin(w);
        jw_member_string(w, STR("trace"), str_from_c(b->path));
        jw_member_string(w, STR("policy"), str_from_c(policies[b->policy].name));
        jw_member_bool(w, STR("consolidate"), b->consolidate);
        jw_member_i64(w, STR("nodes"), b->trace.node_count);
        jw_member_i64(w, STR("devices"), b->trace.capacity_milli / 1000);
        jw_key(w, STR("seeds"));
        jw_array_begin(w);
        return;
    }
    printf("%s: %u tasks for %u nodes with %" PRId64 " devices; policy %s\n", b->path,
           b->trace.task_count, b->trace.node_count, b->trace.capacity_milli / 1000,
           policies[b->policy].name);
    if (b->churn) {
        printf("at 95 %% asked for on average, of the second half of the arrivals:\n"
               "  seed  allocated %%  lost %%  moves a 1000      tasks lost    us an arrival\n");
        return;
    }
    printf("percent of the devices allocated, by what was asked for:\n  seed");
    for (int i = 0; i < PACKING_MARKS; i++) {
        printf("  %5" PRId64 " %%", packing_marks[i]);
    }
    printf("  tasks placed      us a decision\n");
}

static void run_packing(struct bench *b, int64_t seed, struct jw *w, struct arena *arena,
                        struct arena *scratch)
{
    struct packing packing;
    struct packing_result r;
    packing_prepare(&packing, &b->trace, (uint64_t)seed, policies[b->policy].placement, arena,
                    scratch);
    int64_t us = clock_cpu_us();
    packing_run(&packing, &r);
    us = clock_cpu_us() - us;
    if (b->json) {
        put_packing_json(w, b, &r, us, 1);
    } else {
        put_packing(b, seed, &r, us, 1);
    }
    b->sum.drawn += r.drawn;
    b->sum.placed += r.placed;
    for (int i = 0; i < PACKING_MARKS; i++) {
        b->sum.allocated_at_milli[i] += r.allocated_at_milli[i];
    }
    b->sum.allocated_milli += r.allocated_milli;
    b->us += us;
}

static void run_churn(struct bench *b, int64_t seed, struct jw *w, struct arena *arena,
                      struct arena *scratch)
{
    struct churn_result r;
    int64_t us = clock_cpu_us();
    churn_run(&b->trace, (uint64_t)seed, policies[b->policy].placement, b->consolidate, arena,
              scratch, &r);
    us = clock_cpu_us() - us;
    if (b->json) {
        put_churn_json(w, b, &r, us);
    } else {
        put_churn(b, seed, &r, us);
    }
    b->churn_sum.arrivals += r.arrivals;
    b->churn_sum.lost += r.lost;
    b->churn_sum.moves += r.moves;
    b->churn_sum.asked_milli += r.asked_milli;
    b->churn_sum.lost_milli += r.lost_milli;
    b->churn_sum.allocated_milli += r.allocated_milli;
    b->us += us;
}

static void run_seed(struct bench *b, int64_t seed, struct jw *w)
{
    struct arena arena;
    struct arena scratch;
    arena_init(&arena, 0);
    arena_init(&scratch, 0);
    if (b->json) {
        jw_object_begin(w);
        jw_member_i64(w, STR("seed"), seed);
    }
    if (b->churn) {
        run_churn(b, seed, w, &arena, &scratch);
    } else {
        run_packing(b, seed, w, &arena, &scratch);
    }
    if (b->json) {
        jw_object_end(w);
    }
    arena_done(&scratch);
    arena_done(&arena);
}

static void put_means(struct bench *b, struct jw *w)
{
    if (b->json) {
        jw_array_end(w);
        jw_key(w, STR("mean"));
        jw_object_begin(w);
        if (b->churn) {
            put_churn_json(w, b, &b->churn_sum, b->us);
        } else {
            put_packing_json(w, b, &b->sum, b->us, b->seeds);
        }
        jw_object_end(w);
        jw_object_end(w);
    } else if (b->seeds > 1 && b->churn) {
        put_churn(b, -1, &b->churn_sum, b->us);
    } else if (b->seeds > 1) {
        put_packing(b, -1, &b->sum, b->us, b->seeds);
    }
}

static enum status measure(struct bench *b, struct arena *arena, struct err *err)
{
    struct buf out;
    struct jw w;
    enum status status = read_trace(b, arena, err);
    if (status != STATUS_OK) {
        return status;
    }
    buf_init(&out, (size_t)OUTPUT_MAX * (size_t)b->seeds);
    jw_init(&w, &out, false);
    head(b, &w);
    for (int64_t i = 0; i < b->seeds; i++) {
        run_seed(b, b->seed + i, &w);
    }
    put_means(b, &w);
    if (b->json) {
        printf(STR_FMT "\n", STR_ARG(buf_view(&out)));
    }
    buf_done(&out);
    return STATUS_OK;
}

/* ---- arguments ---- */

static bool read_policy(const char *text, uint32_t *policy)
{
    for (uint32_t i = 0; i < COUNT_OF(policies); i++) {
        if (strcmp(text, policies[i].name) == 0) {
            *policy = i;
            return true;
        }
    }
    return false;
}

static bool read_arguments(struct bench *b, int argc, char **argv)
{
    bool good = true;
    for (int i = 1; i < argc && good; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--json") == 0) {
            b->json = true;
        } else if (strcmp(argv[i], "--churn") == 0) {
            b->churn = true;
        } else if (strcmp(argv[i], "--consolidate") == 0) {
            b->consolidate = true;
        } else if (argv[i][0] != '-') {
            good = b->path == NULL;
            b->path = argv[i];
        } else {
            i++;
            if (strcmp(argv[i - 1], "--seed") == 0) {
                good = num_parse_i64(str_from_c(value), &b->seed) && b->seed >= 0;
            } else if (strcmp(argv[i - 1], "--seeds") == 0) {
                good = num_parse_i64(str_from_c(value), &b->seeds) && b->seeds >= 1 &&
                       b->seeds <= SEEDS_MAX;
            } else if (strcmp(argv[i - 1], "--policy") == 0) {
                good = read_policy(value, &b->policy);
            } else if (strcmp(argv[i - 1], "--nodes") == 0) {
                good = value[0] != '\0';
                b->nodes_path = value;
            } else {
                good = false;
            }
        }
    }
    return good && b->path != NULL && (b->churn || !b->consolidate);
}

int cmd_bench_packing(int argc, char **argv)
{
    struct bench b = {.seed = 1, .seeds = 1, .policy = COUNT_OF(policies) - 1};
    struct arena arena;
    struct err err = {0};
    if (!read_arguments(&b, argc, argv)) {
        fprintf(stderr,
                "usage: weir bench packing TRACE [--nodes FILE] [--policy binpack|spread|pack] "
                "[--seed N] [--seeds 1..%d] [--churn [--consolidate]] [--json]\n"
                "TRACE is a table of tasks, such as bench/openb/fetch gets, or its directory\n",
                SEEDS_MAX);
        return 2;
    }
    arena_init(&arena, 0);
    enum status status = measure(&b, &arena, &err);
    if (status != STATUS_OK) {
        struct str text = err_format(&err, &arena);
        fprintf(stderr, STR_FMT "\n", STR_ARG(text));
    }
    arena_done(&arena);
    return status_info(status)->exit;
}

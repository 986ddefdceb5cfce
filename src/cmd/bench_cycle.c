// SPDX-License-Identifier: Apache-2.0
// bench_cycle: `weir bench cycle` measures the scheduler on one scheduling case, as a rule a large
// one. Every cycle begins with a copy of the snapshot frozen anew, in memory of its own; parsing and
// freezing are told apart from it. That all cycles decide alike is checked on the way.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "cmd/case_files.h"
#include "cmd/cmd.h"
#include "io/clock.h"
#include "sim/cycle_bench.h"

enum { CYCLES = 5, CYCLES_MAX = 10000, OUTPUT_MAX = 1 << 16 };

/* What is measured of each cycle, in microseconds of the processor, so that a busy machine does not
 * show; a cycle waits for nothing. Actions come first, by their numbers. */
enum {
    SPAN_PREPARE = ACTION_COUNT, /* before the first action: tables, shares */
    SPAN_CONCLUDE,               /* behind the last: reasons, the decisions themselves */
    SPAN_TOTAL,
    SPAN_WALL,   /* the total by the clock on the wall */
    SPAN_FREEZE, /* not part of the total */
    SPAN_COUNT
};
static const char *const span_names[SPAN_COUNT] = {
    [ACTION_ALLOCATE] = "allocate",
    [ACTION_CONSOLIDATE] = "consolidation",
    [ACTION_RECLAIM] = "reclaim",
    [ACTION_PREEMPT] = "preempt",
    [ACTION_EVICT_STALE] = "stalegangeviction",
    [SPAN_PREPARE] = "prepare",
    [SPAN_CONCLUDE] = "conclude",
    [SPAN_TOTAL] = "total",
    [SPAN_WALL] = "by the wall clock",
    [SPAN_FREEZE] = "freeze",
};

struct bench {
    const char *path;
    uint32_t cycles;
    bool json;
    struct sim_case c;
    uint32_t nodes, pods, workloads;
    int64_t parse_us;
    int64_t *us[SPAN_COUNT]; /* [cycles] */
    uint32_t cycle;          /* that is going on */
    int64_t began_us, last_us;
    bool acted;
    struct cycle_outcome outcome;
    struct decision_stats stats;
    size_t peak_bytes, snapshot_bytes;
    uint64_t allocations;
};

static void on_action(void *ctx, enum action action, bool begins)
{
    struct bench *b = ctx;
    int64_t now_us = clock_cpu_us();
    if (!begins) {
        b->us[action][b->cycle] = now_us - b->last_us;
    } else if (!b->acted) {
        b->us[SPAN_PREPARE][b->cycle] = now_us - b->began_us;
        b->acted = true;
    }
    b->last_us = now_us;
}

static enum status run_cycle(struct bench *b, struct err *err)
{
    struct arena frozen;
    struct arena arena;
    struct snapshot snap;
    struct decisions decisions;
    struct sched_watch watch = {.on_action = on_action, .ctx = b};
    arena_init(&frozen, 0);
    arena_init(&arena, 0);
    int64_t start_us = clock_cpu_us();
    case_world_snapshot(&b->c.world, &frozen, &snap);
    b->acted = false;
    int64_t wall_us = clock_mono_us();
    b->began_us = b->last_us = clock_cpu_us();
    b->us[SPAN_FREEZE][b->cycle] = b->began_us - start_us;
    sched_cycle_watched(&arena, &snap, b->c.actions_mask, &watch, &decisions);
    int64_t end_us = clock_cpu_us();
    b->us[SPAN_WALL][b->cycle] = clock_mono_us() - wall_us;
    b->us[SPAN_CONCLUDE][b->cycle] = end_us - b->last_us;
    b->us[SPAN_TOTAL][b->cycle] = end_us - b->began_us;
    struct cycle_outcome outcome = cycle_outcome_of(&snap, &decisions);
    b->nodes = snap.nodes.count;
    b->pods = snap.tasks.count;
    b->workloads = snap.workloads.count;
    b->peak_bytes = arena.peak_bytes + watch.scratch_peak_bytes;
    b->snapshot_bytes = frozen.peak_bytes;
    b->allocations = arena.block_count + watch.scratch_blocks;
    b->stats = decisions.stats;
    arena_done(&arena);
    arena_done(&frozen);
    bool alike = b->cycle == 0 || (outcome.digest == b->outcome.digest &&
                                   outcome.reasons_digest == b->outcome.reasons_digest);
    b->outcome = outcome;
    return alike ? STATUS_OK
                 : err_set(err, STATUS_INTERNAL, "cycle %u decided otherwise than the one before",
                           b->cycle + 1);
}

/* ---- the result ---- */

// Of the actions that search for victims.
static void put_searches_json(const struct bench *b, struct jw *w)
{
    jw_key(w, STR("searches"));
    jw_object_begin(w);
    for (int i = ACTION_CONSOLIDATE; i <= ACTION_PREEMPT; i++) {
        jw_key(w, str_from_c(span_names[i]));
        jw_object_begin(w);
        jw_member_i64(w, STR("searched"), b->stats.claimants[i]);
        jw_member_i64(w, STR("solved"), b->stats.solved[i]);
        jw_member_i64(w, STR("skipped"), b->stats.skipped[i]);
        jw_member_i64(w, STR("tries"), (int64_t)b->stats.tries[i]);
        jw_member_bool(w, STR("exhausted"), b->stats.exhausted[i]);
        jw_object_end(w);
    }
    jw_object_end(w);
}

static void put_json(const struct bench *b, const int64_t *us)
{
    struct buf out;
    struct jw w;
    char digest[20];
    buf_init(&out, OUTPUT_MAX);
    jw_init(&w, &out, false);
    jw_object_begin(&w);
    jw_member_string(&w, STR("case"), b->c.id);
    jw_member_i64(&w, STR("nodes"), b->nodes);
    jw_member_i64(&w, STR("workloads"), b->workloads);
    jw_member_i64(&w, STR("pods"), b->pods);
    jw_member_i64(&w, STR("cycles"), b->cycles);
    jw_key(&w, STR("total_ms"));
    jw_decimal(&w, us[SPAN_TOTAL], 3);
    jw_key(&w, STR("fastest_ms"));
    jw_decimal(&w, b->us[SPAN_TOTAL][0], 3);
    jw_key(&w, STR("wall_ms"));
    jw_decimal(&w, us[SPAN_WALL], 3);
    jw_key(&w, STR("actions_ms"));
    jw_object_begin(&w);
    for (int i = 0; i < ACTION_COUNT; i++) {
        jw_key(&w, str_from_c(span_names[i]));
        jw_decimal(&w, us[i], 3);
    }
    jw_object_end(&w);
    jw_key(&w, STR("prepare_ms"));
    jw_decimal(&w, us[SPAN_PREPARE], 3);
    jw_key(&w, STR("conclude_ms"));
    jw_decimal(&w, us[SPAN_CONCLUDE], 3);
    jw_key(&w, STR("parse_ms"));
    jw_decimal(&w, b->parse_us, 3);
    jw_key(&w, STR("freeze_ms"));
    jw_decimal(&w, us[SPAN_FREEZE], 3);
    jw_member_i64(&w, STR("peak_bytes"), (int64_t)b->peak_bytes);
    jw_member_i64(&w, STR("snapshot_bytes"), (int64_t)b->snapshot_bytes);
    jw_member_i64(&w, STR("allocations"), (int64_t)b->allocations);
    jw_member_i64(&w, STR("placed"), b->outcome.placed);
    jw_member_i64(&w, STR("pipelined"), b->outcome.pipelined);
    jw_member_i64(&w, STR("evicted"), b->outcome.evicted);
    jw_member_i64(&w, STR("moved"), b->outcome.moved);
    snprintf(digest, sizeof digest, "%016" PRIx64, b->outcome.digest);
    jw_member_string(&w, STR("digest"), str_from_c(digest));
    snprintf(digest, sizeof digest, "%016" PRIx64, b->outcome.reasons_digest);
    jw_member_string(&w, STR("reasons_digest"), str_from_c(digest));
    put_searches_json(b, &w);
    jw_object_end(&w);
    printf(STR_FMT "\n", STR_ARG(buf_view(&out)));
    buf_done(&out);
}

static void put_ms(const char *what, int64_t us)
{
    printf("  %-18s %8" PRId64 ".%03" PRId64 " ms\n", what, us / 1000, us % 1000);
}

static void put_text(const struct bench *b, const int64_t *us)
{
    printf(STR_FMT ": %u nodes, %u workloads, %u pods; the median of %u cycles\n", STR_ARG(b->c.id),
           b->nodes, b->workloads, b->pods, b->cycles);
    put_ms(span_names[SPAN_PREPARE], us[SPAN_PREPARE]);
    for (int i = 0; i < ACTION_COUNT; i++) {
        put_ms(span_names[i], us[i]);
    }
    put_ms(span_names[SPAN_CONCLUDE], us[SPAN_CONCLUDE]);
    put_ms(span_names[SPAN_TOTAL], us[SPAN_TOTAL]);
    put_ms("fastest", b->us[SPAN_TOTAL][0]);
    put_ms(span_names[SPAN_WALL], us[SPAN_WALL]);
    printf("not part of it: parsing %" PRId64 " ms, freezing %" PRId64 " ms\n", b->parse_us / 1000,
           us[SPAN_FREEZE] / 1000);
    uint32_t pods = b->pods == 0 ? 1 : b->pods;
    printf("peak memory %zu KiB (%zu bytes a pod) beside the snapshot's %zu bytes a pod; %" PRIu64
           " allocations\n",
           b->peak_bytes / 1024, b->peak_bytes / pods, b->snapshot_bytes / pods, b->allocations);
    for (int i = ACTION_CONSOLIDATE; i <= ACTION_PREEMPT; i++) {
        printf("%s: %u workloads searched, %u of them with success, %u were skipped; %" PRIu64
               " placements tried%s\n",
               span_names[i], b->stats.claimants[i], b->stats.solved[i], b->stats.skipped[i],
               b->stats.tries[i], b->stats.exhausted[i] ? ", a bound was reached" : "");
    }
    printf("%u pods placed, %u pipelined, %u evicted (of these %u moved)\n", b->outcome.placed,
           b->outcome.pipelined, b->outcome.evicted, b->outcome.moved);
    printf("digest %016" PRIx64 ", of the reasons %016" PRIx64 "\n", b->outcome.digest,
           b->outcome.reasons_digest);
}

static enum status measure(struct bench *b, struct arena *arena, struct err *err)
{
    struct problems problems;
    int64_t us[SPAN_COUNT];
    problems_init(&problems, arena);
    int64_t start_us = clock_cpu_us();
    enum status status = case_file_load(b->path, arena, &b->c, &problems, err);
    b->parse_us = clock_cpu_us() - start_us;
    for (int i = 0; i < SPAN_COUNT; i++) {
        b->us[i] = ARENA_ARRAY(arena, int64_t, b->cycles);
    }
    for (b->cycle = 0; status == STATUS_OK && b->cycle < b->cycles; b->cycle++) {
        status = run_cycle(b, err);
    }
    if (status != STATUS_OK) {
        return status;
    }
    for (int i = 0; i < SPAN_COUNT; i++) {
        us[i] = cycle_median(b->us[i], b->cycles);
    }
    (b->json ? put_json : put_text)(b, us);
    return STATUS_OK;
}

static bool read_arguments(struct bench *b, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int64_t number = 0;
        if (strcmp(argv[i], "--json") == 0) {
            b->json = true;
        } else if (strcmp(argv[i], "--cycles") == 0 && i + 1 < argc &&
                   num_parse_i64(str_from_c(argv[i + 1]), &number) && number >= 1 &&
                   number <= CYCLES_MAX) {
            b->cycles = (uint32_t)number;
            i++;
        } else if (argv[i][0] != '-' && b->path == NULL) {
            b->path = argv[i];
        } else {
            return false;
        }
    }
    return b->path != NULL;
}

int cmd_bench_cycle(int argc, char **argv)
{
    struct bench b = {.cycles = CYCLES};
    struct arena arena;
    struct err err = {0};
    if (!read_arguments(&b, argc, argv)) {
        fprintf(stderr,
                "usage: weir bench cycle SNAPSHOT.json [--cycles 1..%d] [--json]\n"
                "SNAPSHOT.json is a scheduling case, such as bench/gen_snapshot.py makes\n",
                CYCLES_MAX);
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

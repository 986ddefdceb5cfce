// SPDX-License-Identifier: Apache-2.0
// run_nodepool: the cluster and its node pools, and who holds what of each.
#include "cli/run.h"

#include "cli/listing.h"
#include "cli/picture.h"
#include "cli/queue.h"
#include "cli/view.h"

/* Pools. */

enum pool_column {
    P_NAME,
    P_LABEL,
    P_NODES,
    P_GPUS,
    P_HELD,
    P_FREE,
    P_GPU_PLACEMENT,
    P_CPU_PLACEMENT,
    P_RECLAIM,
    P_PREEMPT,
    P_TIME,
};
static const struct column pool_columns[] = {
    {"name",                "NODE POOL",             0                          },
    {"label",               "LABEL",                 COLUMN_SPARE               },
    {"nodes",               "NODES",                 COLUMN_RIGHT | COLUMN_SPARE},
    {"gpus",                "GPUS",                  COLUMN_RIGHT               },
    {"held",                "HELD",                  COLUMN_RIGHT               },
    {"free",                "FREE",                  COLUMN_RIGHT               },
    {"gpu-placement",       "GPU PLACEMENT",         COLUMN_SPARE               },
    {"cpu-placement",       "CPU PLACEMENT",         COLUMN_EXTRA               },
    {"reclaim-min-runtime", "RECLAIM MIN RUNTIME",   COLUMN_RIGHT | COLUMN_EXTRA},
    {"preempt-min-runtime", "PREEMPT MIN RUNTIME",   COLUMN_RIGHT | COLUMN_EXTRA},
    {"time-based",          "TIME-BASED FAIR SHARE", COLUMN_EXTRA               },
};

static struct str free_gpus(struct cli *cli, const struct doc *d)
{
    int64_t all = view_millionths(d, "gpus", 0), held = view_millionths(d, "gpus_held", 0);
    return view_decimal(&cli->arena, all > held ? all - held : 0);
}

int run_nodepool_list(struct cli *cli, const struct args *args)
{
    struct answer answer;
    struct table t;
    int failed = listing_get(cli, STR("/nodepools"), &answer);
    if (failed || listing_form(cli, args, listing_items(answer.body), &failed)) {
        return failed;
    }
    failed = listing_begin(cli, args, "nodepool", pool_columns, COUNT_OF(pool_columns), &t);
    if (failed) {
        return failed;
    }
    for (const struct doc *d = listing_items(answer.body)->child; d != NULL; d = d->next) {
        uint32_t at = table_row(&t, ROW_NONE);
        table_set(&t, at, P_NAME, view_text(d, "name"));
        table_set(&t, at, P_LABEL, view_text(d, "label"));
        table_set(&t, at, P_NODES, view_text(d, "nodes"));
        table_set(&t, at, P_GPUS, view_text(d, "gpus"));
        table_set(&t, at, P_HELD, view_text(d, "gpus_held"));
        table_set(&t, at, P_FREE, free_gpus(cli, d));
        table_set(&t, at, P_GPU_PLACEMENT, view_text(d, "gpu_placement"));
        table_set(&t, at, P_CPU_PLACEMENT, view_text(d, "cpu_placement"));
        table_set(&t, at, P_RECLAIM,
                  view_span(&cli->arena, view_i64(d, "reclaim_min_runtime_ms", 0)));
        table_set(&t, at, P_PREEMPT,
                  view_span(&cli->arena, view_i64(d, "preempt_min_runtime_ms", 0)));
        table_set(&t, at, P_TIME, view_text(d, "time_based_fair_share"));
    }
    return listing_print(cli, &t);
}

// "off", or "on: a sliding window of 7d, half-life 12h, k 1".
static struct str shown_window(struct cli *cli, const struct doc *pool)
{
    struct arena *a = &cli->arena;
    const struct doc *past = doc_get(pool, STR("past_use"));
    struct str type = view_text(past, "window_type");
    struct str span = view_span(a, view_i64(past, "window_ms", 0));
    struct str text = arena_printf(
        a, "%s: ", view_bool(pool, "time_based_fair_share") ? "on" : "off (the books are kept)");
    if (str_eq(type, STR("cron"))) {
        text = arena_printf(a, STR_FMT "since the last of \"" STR_FMT "\" (UTC)", STR_ARG(text),
                            STR_ARG(view_text(past, "cron")));
    } else {
        text = arena_printf(a, STR_FMT STR_FMT " window of " STR_FMT, STR_ARG(text), STR_ARG(type),
                            STR_ARG(span));
    }
    if (str_eq(type, STR("tumbling"))) {
        text = arena_printf(a, STR_FMT " from " STR_FMT, STR_ARG(text),
                            STR_ARG(view_clock(a, past, "start")));
    }
    int64_t half_life_ms = view_i64(past, "half_life_ms", 0);
    if (half_life_ms > 0) {
        text = arena_printf(a, STR_FMT ", half-life " STR_FMT, STR_ARG(text),
                            STR_ARG(view_span(a, half_life_ms)));
    }
    text = arena_printf(a, STR_FMT ", k " STR_FMT, STR_ARG(text), STR_ARG(view_text(past, "k")));
    if (view_millionths(past, "very_low_factor", 1000000) < 1000000) {
        text = arena_printf(a, STR_FMT ", work of priority very-low counts " STR_FMT, STR_ARG(text),
                            STR_ARG(view_text(past, "very_low_factor")));
    }
    return text;
}

// Who used what of the pool in its window; those that used nothing are left out.
static void print_past_use(struct cli *cli, const struct doc *pool)
{
    static const struct str shown = STRS("name,department,used,used-share,fair,weight");
    struct table t;
    struct err err;
    table_init(&t, &cli->arena, queue_project_columns, QUEUE_PROJECT_COLUMNS);
    if (table_choose(&t, shown, &err) != STATUS_OK) {
        return;
    }
    t.indent = 2;
    struct str since = STR("");
    const struct doc *queues = doc_get(pool, STR("queues"));
    for (const struct doc *q = queues ? queues->child : NULL; q != NULL; q = q->next) {
        const struct doc *past = doc_get(q, STR("past_use"));
        if (str_eq(view_raw(q, "kind"), STR("project")) &&
            view_millionths(past, "gpu_hours", 0) > 0) {
            uint32_t at = table_row(&t, ROW_NONE);
            table_set(&t, at, Q_NAME, view_text(q, "name"));
            table_set(&t, at, Q_PARENT, view_text(q, "parent"));
            queue_fill(cli, &t, at, q);
            since = view_clock(&cli->arena, past, "since");
        }
    }
    if (t.count > 0) {
        const char *title =
            arena_printf(&cli->arena, "Past use, since " STR_FMT, STR_ARG(since)).ptr;
        listing_title(cli, title);
        listing_print(cli, &t);
    }
}

int run_nodepool_describe(struct cli *cli, const struct args *args)
{
    struct answer answer;
    int failed = listing_get_one(cli, "nodepools", args->words[0], &answer);
    if (failed || listing_form(cli, args, answer.body, &failed)) {
        return failed;
    }
    const struct doc *d = answer.body;
    printf("Node pool %s" STR_FMT "%s\n", tint_begin(TINT_STRONG, cli->colour),
           STR_ARG(view_text(d, "name")), tint_end(cli->colour));
    listing_title(cli, "General");
    listing_pair(cli, "Label", view_text(d, "label"));
    listing_pair(cli, "Nodes", view_text(d, "nodes"));
    listing_pair(cli, "GPUs",
                 arena_printf(&cli->arena, STR_FMT ", " STR_FMT " held, " STR_FMT " free",
                              STR_ARG(view_text(d, "gpus")), STR_ARG(view_text(d, "gpus_held")),
                              STR_ARG(free_gpus(cli, d))));
    listing_pair(cli, "Placement",
                 arena_printf(&cli->arena, "GPU " STR_FMT ", CPU " STR_FMT,
                              STR_ARG(view_text(d, "gpu_placement")),
                              STR_ARG(view_text(d, "cpu_placement"))));
    listing_pair(
        cli, "Minimum runtime",
        arena_printf(&cli->arena, "reclaim " STR_FMT ", preempt " STR_FMT,
                     STR_ARG(view_span(&cli->arena, view_i64(d, "reclaim_min_runtime_ms", 0))),
                     STR_ARG(view_span(&cli->arena, view_i64(d, "preempt_min_runtime_ms", 0)))));
    listing_pair(cli, "Time-based", shown_window(cli, d));
    listing_title(cli, "Who holds what");
    struct buf picture;
    buf_init(&picture, 4 << 20);
    picture_pool(&cli->arena, d, cli->width, cli->colour, &picture);
    cli_write(buf_view(&picture));
    buf_done(&picture);
    print_past_use(cli, d);
    return 0;
}

/* The cluster. */

static const struct column cluster_columns[] = {
    {"nodes",    "NODES",   COLUMN_RIGHT               },
    {"gpus",     "GPUS",    COLUMN_RIGHT               },
    {"ready",    "READY",   COLUMN_RIGHT               },
    {"held",     "HELD",    COLUMN_RIGHT               },
    {"running",  "RUNNING", COLUMN_RIGHT               },
    {"pending",  "PENDING", COLUMN_RIGHT               },
    {"revision", "PLAN",    COLUMN_RIGHT               },
    {"seq",      "JOURNAL", COLUMN_RIGHT | COLUMN_EXTRA},
};

int run_cluster_list(struct cli *cli, const struct args *args)
{
    struct answer answer;
    struct table t;
    int failed = listing_get(cli, STR("/cluster"), &answer);
    if (failed || listing_form(cli, args, answer.body, &failed)) {
        return failed;
    }
    failed = listing_begin(cli, args, "cluster", cluster_columns, COUNT_OF(cluster_columns), &t);
    if (failed) {
        return failed;
    }
    const struct doc *d = answer.body, *phases = doc_get(d, STR("workloads"));
    uint32_t at = table_row(&t, ROW_NONE);
    struct str cells[] = {view_text(d, "nodes"),       view_text(d, "gpus"),
                          view_text(d, "gpus_ready"),  view_text(d, "gpus_held"),
                          view_raw(phases, "Running"), view_raw(phases, "Pending"),
                          view_text(d, "revision"),    view_text(d, "seq")};
    for (uint32_t i = 0; i < COUNT_OF(cells); i++) {
        table_set(&t, at, i, cells[i].len > 0 ? cells[i] : STR("0"));
    }
    return listing_print(cli, &t);
}

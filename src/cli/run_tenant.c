// SPDX-License-Identifier: Apache-2.0
// run_tenant: who is entitled to what and holds what: cluster, departments, projects, pools, nodes.
#include "cli/run.h"

#include <string.h>

#include "cli/listing.h"
#include "cli/picture.h"
#include "cli/view.h"
#include "codec/json.h"

/* Columns of a queue in one pool, shared by projects and departments. */
enum queue_column {
    Q_NAME,
    Q_PARENT,
    Q_POOL,
    Q_GUARANTEED,
    Q_HELD,
    Q_BORROWED,
    Q_MAX,
    Q_FAIR,
    Q_WEIGHT,
    Q_RUNNING,
    Q_PENDING,
    Q_RANK,
    Q_NON_PREEMPTIBLE,
    Q_CPU,
    Q_MEMORY,
    Q_USED,
    Q_USED_SHARE,
    Q_GROUP,
    Q_PRIORITY,
    Q_PREEMPTIBILITY,
    Q_ID,
};
static const struct column project_columns[] = {
    {"name",            "PROJECT",         0                          },
    {"department",      "DEPARTMENT",      COLUMN_SPARE               },
    {"pool",            "NODE POOL",       0                          },
    {"guaranteed",      "GUARANTEED",      COLUMN_RIGHT               },
    {"held",            "HELD",            COLUMN_RIGHT               },
    {"borrowed",        "BORROWED",        COLUMN_RIGHT               },
    {"max",             "MAX",             COLUMN_RIGHT | COLUMN_SPARE},
    {"fair",            "FAIR SHARE",      COLUMN_RIGHT | COLUMN_SPARE},
    {"weight",          "WEIGHT",          COLUMN_RIGHT | COLUMN_SPARE},
    {"running",         "RUNNING",         COLUMN_RIGHT | COLUMN_SPARE},
    {"pending",         "PENDING",         COLUMN_RIGHT | COLUMN_SPARE},
    {"rank",            "RANK",            COLUMN_EXTRA               },
    {"non-preemptible", "NON-PREEMPTIBLE", COLUMN_RIGHT | COLUMN_EXTRA},
    {"cpu",             "CPU",             COLUMN_RIGHT | COLUMN_EXTRA},
    {"memory",          "MEMORY",          COLUMN_RIGHT | COLUMN_EXTRA},
    {"used",            "USED GPU HOURS",  COLUMN_RIGHT | COLUMN_EXTRA},
    {"used-share",      "USED SHARE",      COLUMN_RIGHT | COLUMN_EXTRA},
    {"group",           "ACCESS GROUP",    COLUMN_EXTRA               },
    {"priority",        "PRIORITY",        COLUMN_EXTRA               },
    {"preemptibility",  "PREEMPTIBILITY",  COLUMN_EXTRA               },
    {"id",              "ID",              COLUMN_RIGHT | COLUMN_EXTRA},
};
static const struct column department_columns[] = {
    {"name",            "DEPARTMENT",      COLUMN_TREE                },
    {"parent",          "PARENT",          COLUMN_EXTRA               },
    {"pool",            "NODE POOL",       0                          },
    {"guaranteed",      "GUARANTEED",      COLUMN_RIGHT               },
    {"held",            "HELD",            COLUMN_RIGHT               },
    {"borrowed",        "BORROWED",        COLUMN_RIGHT               },
    {"max",             "MAX",             COLUMN_RIGHT | COLUMN_SPARE},
    {"fair",            "FAIR SHARE",      COLUMN_RIGHT | COLUMN_SPARE},
    {"weight",          "WEIGHT",          COLUMN_RIGHT | COLUMN_SPARE},
    {"running",         "RUNNING",         COLUMN_RIGHT | COLUMN_SPARE},
    {"pending",         "PENDING",         COLUMN_RIGHT | COLUMN_SPARE},
    {"rank",            "RANK",            COLUMN_EXTRA               },
    {"non-preemptible", "NON-PREEMPTIBLE", COLUMN_RIGHT | COLUMN_EXTRA},
    {"cpu",             "CPU",             COLUMN_RIGHT | COLUMN_EXTRA},
    {"memory",          "MEMORY",          COLUMN_RIGHT | COLUMN_EXTRA},
    {"used",            "USED GPU HOURS",  COLUMN_RIGHT | COLUMN_EXTRA},
    {"used-share",      "USED SHARE",      COLUMN_RIGHT | COLUMN_EXTRA},
    {"group",           "OWNER GROUP",     COLUMN_EXTRA               },
};

// Above its guarantee it may hold nothing: then the guarantee is the maximum, whatever was written.
static struct str shown_max(const struct doc *row)
{
    return view_bool(row, "allow_over_quota") ? view_limit(row, "max_gpus")
                                              : view_text(row, "guaranteed_gpus");
}

static struct str shown_weight(const struct doc *row)
{
    return view_bool(row, "allow_over_quota") ? view_text(row, "over_quota_weight") : STR("-");
}

// 0.25 as 25%.
static struct str shown_share(struct cli *cli, const struct doc *row, const char *key)
{
    struct str text = view_decimal(&cli->arena, view_millionths(row, key, 0) * 100);
    return arena_printf(&cli->arena, STR_FMT "%%", STR_ARG(text));
}

static void fill_pool(struct cli *cli, struct table *t, uint32_t at, const struct doc *row)
{
    table_set(t, at, Q_POOL, view_text(row, "pool"));
    table_set(t, at, Q_GUARANTEED, view_text(row, "guaranteed_gpus"));
    table_set(t, at, Q_HELD, view_text(row, "held_gpus"));
    table_set(t, at, Q_BORROWED, view_text(row, "over_quota_gpus"));
    if (view_millionths(row, "over_quota_gpus", 0) > 0) {
        table_tint(t, at, Q_BORROWED, TINT_WAIT);
    }
    table_set(t, at, Q_MAX, shown_max(row));
    table_set(t, at, Q_FAIR, view_text(row, "fair_share_gpus"));
    table_set(t, at, Q_WEIGHT, shown_weight(row));
    table_set(t, at, Q_RUNNING, view_text(row, "running"));
    table_set(t, at, Q_PENDING, view_text(row, "pending"));
    table_set(t, at, Q_RANK, view_text(row, "rank"));
    table_set(t, at, Q_NON_PREEMPTIBLE, view_text(row, "held_non_preemptible_gpus"));
    table_set(t, at, Q_CPU, view_text(doc_get(row, STR("cpu")), "held"));
    table_set(t, at, Q_MEMORY, view_bytes(&cli->arena, doc_get(row, STR("memory")), "held"));
    const struct doc *past = doc_get(row, STR("past_use"));
    table_set(t, at, Q_USED, view_text(past, "gpu_hours"));
    table_set(t, at, Q_USED_SHARE, shown_share(cli, past, "gpu_share"));
}

// A pool of which the plan says something for the queue, or that its work is in. The others
// are as a pool is that nobody mentions: nothing guaranteed, borrowing allowed.
static bool is_told(const struct doc *row)
{
    return view_millionths(row, "guaranteed_gpus", 0) > 0 ||
           view_millionths(row, "held_gpus", 0) > 0 || !view_bool(row, "allow_over_quota") ||
           view_raw(row, "max_gpus").len > 0 || view_i64(row, "running", 0) > 0 ||
           view_i64(row, "pending", 0) > 0;
}

static const struct doc *next_told(const struct doc *row)
{
    while (row != NULL && !is_told(row)) {
        row = row->next;
    }
    return row;
}

// The rows of one queue, one a pool that is told of; gives the first.
static uint32_t add_queue(struct cli *cli, struct table *t, const struct doc *queue,
                          uint32_t parent)
{
    const struct doc *pools = doc_get(queue, STR("pools"));
    const struct doc *row = next_told(pools != NULL ? pools->child : NULL);
    uint32_t first = table_row(t, parent);
    for (uint32_t at = first;; at = table_row(t, parent)) {
        table_set(t, at, Q_NAME, view_text(queue, "name"));
        if (row == NULL) {
            table_set(t, at, Q_POOL, STR("-"));
            table_set(t, at, Q_RUNNING, view_text(queue, "running"));
            table_set(t, at, Q_PENDING, view_text(queue, "pending"));
            return first;
        }
        fill_pool(cli, t, at, row);
        row = next_told(row->next);
        if (row == NULL) {
            return first;
        }
    }
}

static void add_projects(struct cli *cli, struct table *t, const struct doc *items,
                         struct str department)
{
    for (const struct doc *d = items->child; d != NULL; d = d->next) {
        if (department.len > 0 && !str_eq(view_raw(d, "department"), department)) {
            continue;
        }
        for (uint32_t at = add_queue(cli, t, d, ROW_NONE); at < t->count; at++) {
            table_set(t, at, Q_PARENT, view_text(d, "department"));
            table_set(t, at, Q_GROUP, view_text(d, "access_group"));
            table_set(t, at, Q_PRIORITY, view_text(d, "default_priority"));
            table_set(t, at, Q_PREEMPTIBILITY, view_text(d, "default_preemptibility"));
            table_set(t, at, Q_ID, view_text(d, "id"));
        }
    }
}

int run_project_list(struct cli *cli, const struct args *args)
{
    struct answer answer;
    struct table t;
    int failed = listing_get(cli, STR("/projects"), &answer);
    if (failed || listing_form(cli, args, listing_items(answer.body), &failed)) {
        return failed;
    }
    failed = listing_begin(cli, args, "project", project_columns, COUNT_OF(project_columns), &t);
    if (failed) {
        return failed;
    }
    add_projects(cli, &t, listing_items(answer.body), STR(""));
    return listing_print(cli, &t);
}

// Departments come as a flat list and are shown as a tree: each below its parent, in the order given.
static void add_departments(struct cli *cli, struct table *t, const struct doc *items)
{
    uint32_t count = 0;
    for (const struct doc *d = items->child; d != NULL; d = d->next) {
        count++;
    }
    uint32_t *row = ARENA_ARRAY(&cli->arena, uint32_t, count + 1);
    memset(row, 0xff, sizeof(*row) * count);
    for (uint32_t added = 1; added > 0;) {
        added = 0;
        uint32_t i = 0;
        for (const struct doc *d = items->child; d != NULL; d = d->next, i++) {
            struct str parent = view_raw(d, "parent");
            uint32_t below = ROW_NONE, k = 0;
            for (const struct doc *p = items->child; p != NULL; p = p->next, k++) {
                below = str_eq(view_raw(p, "name"), parent) ? row[k] : below;
            }
            if (row[i] != ROW_NONE || (parent.len > 0 && below == ROW_NONE)) {
                continue;
            }
            row[i] = add_queue(cli, t, d, below);
            for (uint32_t at = row[i]; at < t->count; at++) {
                table_set(t, at, Q_PARENT, view_text(d, "parent"));
                table_set(t, at, Q_GROUP, view_text(d, "owner_group"));
            }
            added++;
        }
    }
}

int run_department_list(struct cli *cli, const struct args *args)
{
    struct answer answer;
    struct table t;
    int failed = listing_get(cli, STR("/departments"), &answer);
    if (failed || listing_form(cli, args, listing_items(answer.body), &failed)) {
        return failed;
    }
    failed = listing_begin(cli, args, "department", department_columns,
                           COUNT_OF(department_columns), &t);
    if (failed) {
        return failed;
    }
    add_departments(cli, &t, listing_items(answer.body));
    return listing_print(cli, &t);
}

/* Descriptions. */

static int get_one(struct cli *cli, const char *list, struct str name, struct answer *answer)
{
    struct str words[] = {str_from_c(list), name};
    return listing_get(cli, client_path(&cli->client, COUNT_OF(words), words), answer);
}

// The pools of one queue as a table of their own.
static void print_pools(struct cli *cli, const struct doc *queue)
{
    static const struct str shown = STRS(
        "pool,guaranteed,held,borrowed,max,fair,weight,running,pending,rank,non-preemptible,cpu,"
        "memory,used,used-share");
    struct table t;
    struct err err;
    table_init(&t, &cli->arena, project_columns, COUNT_OF(project_columns));
    if (table_choose(&t, shown, &err) == STATUS_OK) {
        t.indent = 2;
        add_queue(cli, &t, queue, ROW_NONE);
        listing_title(cli, "Node pools (GPUs)");
        listing_print(cli, &t);
    }
}

/* What its work is kept to; nothing where there are no such rules. */
static void print_rules(struct cli *cli, const struct doc *d)
{
    static const struct {
        const char *title, *key;
    } limits[] =
        {
            {"Training may run",          "training_run_limit_ms"              },
            {"Training may idle",         "training_idle_limit_ms"             },
            {"Workspaces may run",        "workspace_run_limit_ms"             },
            {"Workspaces may idle",       "workspace_idle_limit_ms"            },
            {"Preemptible ones may idle", "preemptible_workspace_idle_limit_ms"},
    },
      types[] = {
          {"Node types for training", "training_node_types"},
          {"Node types for workspaces", "workspace_node_types"},
      };
    const struct doc *rules = doc_get(d, STR("scheduling_rules"));
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        int64_t ms = view_i64(rules, limits[i].key, 0);
        if (ms > 0) {
            listing_pair(cli, limits[i].title, view_span(&cli->arena, ms));
        }
    }
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        const struct doc *list = doc_get(rules, str_from_c(types[i].key));
        struct str text = {0};
        for (const struct doc *t = list != NULL ? list->child : NULL; t != NULL; t = t->next) {
            text = arena_printf(&cli->arena, STR_FMT "%s" STR_FMT, STR_ARG(text),
                                text.len > 0 ? ", " : "", STR_ARG(t->text));
        }
        if (text.len > 0) {
            listing_pair(cli, types[i].title, text);
        }
    }
}

int run_project_describe(struct cli *cli, const struct args *args)
{
    struct answer answer;
    struct str name = args->words_count > 0 ? args->words[0]
                                            : settings_get(&cli->settings, STR("project"));
    if (name.len == 0) {
        struct err err;
        err_set(&err, STATUS_INVALID, "which project?");
        err_hint(&err, "name one, or choose one with weir project set NAME");
        return cli_usage(cli, args, &err);
    }
    int failed = get_one(cli, "projects", name, &answer);
    if (failed || listing_form(cli, args, answer.body, &failed)) {
        return failed;
    }
    const struct doc *d = answer.body;
    printf("Project %s" STR_FMT "%s\n", tint_begin(TINT_STRONG, cli->colour),
           STR_ARG(view_text(d, "name")), tint_end(cli->colour));
    listing_title(cli, "General");
    listing_pair(cli, "Department", view_text(d, "department"));
    listing_pair(cli, "Access group", view_text(d, "access_group"));
    listing_pair(cli, "Priority", view_text(d, "default_priority"));
    listing_pair(cli, "Preemptibility", view_text(d, "default_preemptibility"));
    listing_pair(cli, "Workloads",
                 arena_printf(&cli->arena, STR_FMT " running, " STR_FMT " pending",
                              STR_ARG(view_text(d, "running")), STR_ARG(view_text(d, "pending"))));
    print_rules(cli, d);
    print_pools(cli, d);
    return 0;
}

int run_department_describe(struct cli *cli, const struct args *args)
{
    static const struct str shown = STRS(
        "name,pool,guaranteed,held,borrowed,max,fair,weight,running,pending");
    struct answer answer, projects;
    int failed = get_one(cli, "departments", args->words[0], &answer);
    if (failed || listing_form(cli, args, answer.body, &failed)) {
        return failed;
    }
    failed = listing_get(cli, STR("/projects"), &projects);
    if (failed) {
        return failed;
    }
    const struct doc *d = answer.body;
    printf("Department %s" STR_FMT "%s\n", tint_begin(TINT_STRONG, cli->colour),
           STR_ARG(view_text(d, "name")), tint_end(cli->colour));
    listing_title(cli, "General");
    listing_pair(cli, "Parent", view_text(d, "parent"));
    listing_pair(cli, "Owner group", view_text(d, "owner_group"));
    print_rules(cli, d);
    print_pools(cli, d);
    struct table t;
    struct err err;
    table_init(&t, &cli->arena, project_columns, COUNT_OF(project_columns));
    if (table_choose(&t, shown, &err) != STATUS_OK) {
        return cli_fail(cli, &err, NULL);
    }
    t.indent = 2;
    add_projects(cli, &t, listing_items(projects.body), view_raw(d, "name"));
    listing_title(cli, "Projects");
    return listing_print(cli, &t);
}

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
    table_init(&t, &cli->arena, project_columns, COUNT_OF(project_columns));
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
            fill_pool(cli, &t, at, q);
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
    int failed = get_one(cli, "nodepools", args->words[0], &answer);
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

/* Nodes. */

enum node_column {
    N_NAME,
    N_POOL,
    N_STATUS,
    N_READY,
    N_GPUS,
    N_HELD,
    N_CPU,
    N_CPU_HELD,
    N_MEMORY,
    N_MEMORY_HELD,
    N_LABELS,
    N_REASON,
};
static const struct column node_columns[] = {
    {"name",        "NODE",        0                          },
    {"pool",        "NODE POOL",   0                          },
    {"status",      "STATUS",      0                          },
    {"ready",       "READY",       COLUMN_EXTRA               },
    {"gpus",        "GPUS",        COLUMN_RIGHT               },
    {"held",        "HELD",        COLUMN_RIGHT               },
    {"cpu",         "CPU",         COLUMN_RIGHT | COLUMN_SPARE},
    {"cpu-held",    "CPU HELD",    COLUMN_RIGHT | COLUMN_SPARE},
    {"memory",      "MEMORY",      COLUMN_RIGHT | COLUMN_SPARE},
    {"memory-held", "MEMORY HELD", COLUMN_RIGHT | COLUMN_SPARE},
    {"labels",      "LABELS",      COLUMN_FLEX | COLUMN_EXTRA },
    {"reason",      "REASON",      COLUMN_FLEX | COLUMN_EXTRA },
};

static struct str labels_text(struct cli *cli, const struct doc *labels, const char *sep)
{
    struct str s = STR("");
    for (const struct doc *d = labels != NULL ? labels->child : NULL; d != NULL; d = d->next) {
        s = arena_printf(&cli->arena, STR_FMT "%s" STR_FMT "=" STR_FMT, STR_ARG(s),
                         s.len > 0 ? sep : "", STR_ARG(d->key), STR_ARG(d->text));
    }
    return s.len > 0 ? s : STR("-");
}

// Of a node or a device.
static enum tint status_tint(const struct doc *d)
{
    struct str status = view_raw(d, "status");
    if (str_eq(status, STR("ready"))) {
        return TINT_GOOD;
    }
    return str_eq(status, STR("sick")) || str_eq(status, STR("not-ready")) ? TINT_BAD : TINT_WAIT;
}

// "draining since 2026-11-30 23:04:51 by root, deadline 2026-11-30 23:34:51: new cables (2 pods left)".
static struct str status_text(struct cli *cli, const struct doc *d)
{
    struct arena *a = &cli->arena;
    const struct doc *drain = doc_get(d, STR("drain"));
    struct str text = view_text(d, "status");
    if (view_raw(d, "fault").len > 0) {
        text = arena_printf(a, STR_FMT " (" STR_FMT ")", STR_ARG(text),
                            STR_ARG(view_raw(d, "fault")));
    }
    if (view_raw(drain, "since").len == 0) {
        return text;
    }
    text = arena_printf(a, STR_FMT " since " STR_FMT " by " STR_FMT, STR_ARG(text),
                        STR_ARG(view_clock(a, drain, "since")),
                        STR_ARG(view_text(drain, "author")));
    if (view_raw(drain, "deadline").len > 0) {
        text = arena_printf(a, STR_FMT ", deadline " STR_FMT, STR_ARG(text),
                            STR_ARG(view_clock(a, drain, "deadline")));
    }
    if (view_raw(drain, "reason").len > 0) {
        text = arena_printf(a, STR_FMT ": " STR_FMT, STR_ARG(text),
                            STR_ARG(view_raw(drain, "reason")));
    }
    int64_t left = view_i64(drain, "pods_left", 0);
    if (left > 0) {
        text = arena_printf(a, STR_FMT " (%lld %s left)", STR_ARG(text), (long long)left,
                            left == 1 ? "pod" : "pods");
    }
    return text;
}

int run_node_list(struct cli *cli, const struct args *args)
{
    struct answer answer;
    struct table t;
    int failed = listing_get(cli, STR("/nodes"), &answer);
    if (failed || listing_form(cli, args, listing_items(answer.body), &failed)) {
        return failed;
    }
    failed = listing_begin(cli, args, "node", node_columns, COUNT_OF(node_columns), &t);
    if (failed) {
        return failed;
    }
    for (const struct doc *d = listing_items(answer.body)->child; d != NULL; d = d->next) {
        uint32_t at = table_row(&t, ROW_NONE);
        table_set(&t, at, N_NAME, view_text(d, "name"));
        table_set(&t, at, N_POOL, view_text(d, "pool"));
        table_set(&t, at, N_READY, view_text(d, "ready"));
        table_set(&t, at, N_STATUS, view_text(d, "status"));
        table_tint(&t, at, N_STATUS, status_tint(d));
        table_set(&t, at, N_GPUS, view_text(d, "gpus"));
        table_set(&t, at, N_HELD, view_text(d, "gpus_held"));
        table_set(&t, at, N_CPU, view_text(d, "cpu"));
        table_set(&t, at, N_CPU_HELD, view_text(d, "cpu_held"));
        table_set(&t, at, N_MEMORY, view_bytes(&cli->arena, d, "memory"));
        table_set(&t, at, N_MEMORY_HELD, view_bytes(&cli->arena, d, "memory_held"));
        table_set(&t, at, N_LABELS, labels_text(cli, doc_get(d, STR("labels")), ","));
        table_set(&t, at, N_REASON, view_text(doc_get(d, STR("drain")), "reason"));
    }
    return listing_print(cli, &t);
}

enum device_column { D_INDEX, D_UUID, D_MODEL, D_MEMORY, D_NUMA, D_STATUS, D_HELD, D_BY };
static const struct column device_columns[] = {
    {"index",  "#",       COLUMN_RIGHT               },
    {"uuid",   "DEVICE",  0                          },
    {"model",  "MODEL",   COLUMN_SPARE               },
    {"memory", "MEMORY",  COLUMN_RIGHT | COLUMN_SPARE},
    {"numa",   "NUMA",    COLUMN_RIGHT | COLUMN_SPARE},
    {"status", "STATUS",  0                          },
    {"held",   "HELD",    COLUMN_RIGHT               },
    {"by",     "HELD BY", COLUMN_FLEX                },
};

static struct str holders(struct cli *cli, const struct doc *pods)
{
    struct str s = STR("");
    for (const struct doc *p = pods != NULL ? pods->child : NULL; p != NULL; p = p->next) {
        s = arena_printf(&cli->arena, STR_FMT "%s" STR_FMT "/" STR_FMT, STR_ARG(s),
                         s.len > 0 ? ", " : "", STR_ARG(view_text(p, "project")),
                         STR_ARG(view_text(p, "workload")));
        if (view_millionths(p, "share", 1000000) != 1000000) {
            s = arena_printf(&cli->arena, STR_FMT " (" STR_FMT ")", STR_ARG(s),
                             STR_ARG(view_text(p, "share")));
        }
    }
    return s.len > 0 ? s : STR("-");
}

static void print_devices(struct cli *cli, const struct doc *node)
{
    struct table t;
    const struct doc *devices = doc_get(node, STR("devices"));
    if (devices == NULL || devices->child == NULL) {
        return;
    }
    table_init(&t, &cli->arena, device_columns, COUNT_OF(device_columns));
    t.indent = 2;
    for (const struct doc *d = devices->child; d != NULL; d = d->next) {
        uint32_t at = table_row(&t, ROW_NONE);
        table_set(&t, at, D_INDEX, view_text(d, "index"));
        table_set(&t, at, D_UUID, view_text(d, "uuid"));
        table_set(&t, at, D_MODEL, view_text(d, "model"));
        table_set(&t, at, D_MEMORY, view_bytes(&cli->arena, d, "memory"));
        table_set(&t, at, D_NUMA,
                  view_i64(d, "numa_node", -1) < 0 ? STR("-") : view_text(d, "numa_node"));
        table_set(&t, at, D_STATUS, view_text(d, "status"));
        table_tint(&t, at, D_STATUS, status_tint(d));
        table_set(&t, at, D_HELD, view_text(d, "held"));
        table_set(&t, at, D_BY, holders(cli, doc_get(d, STR("pods"))));
    }
    listing_title(cli, "Devices");
    listing_print(cli, &t);
    for (const struct doc *d = devices->child; d != NULL; d = d->next) {
        bool drained = view_raw(doc_get(d, STR("drain")), "since").len > 0;
        if (drained || view_raw(d, "fault").len > 0) {
            listing_pair(
                cli,
                arena_printf(&cli->arena, "Device " STR_FMT, STR_ARG(view_text(d, "index"))).ptr,
                status_text(cli, d));
        }
    }
}

static void print_zones(struct cli *cli, const struct doc *node)
{
    const struct doc *zones = doc_get(node, STR("zones"));
    for (const struct doc *z = zones != NULL ? zones->child : NULL; z != NULL; z = z->next) {
        listing_pair(cli, z == zones->child ? "NUMA nodes" : "",
                     arena_printf(&cli->arena, STR_FMT ": CPUs " STR_FMT ", " STR_FMT,
                                  STR_ARG(view_text(z, "numa_node")), STR_ARG(view_text(z, "cpus")),
                                  STR_ARG(view_bytes(&cli->arena, z, "memory"))));
    }
}

int run_node_describe(struct cli *cli, const struct args *args)
{
    struct answer answer;
    int failed = get_one(cli, "nodes", args->words[0], &answer);
    if (failed || listing_form(cli, args, answer.body, &failed)) {
        return failed;
    }
    const struct doc *d = answer.body;
    printf("Node %s" STR_FMT "%s\n", tint_begin(TINT_STRONG, cli->colour),
           STR_ARG(view_text(d, "name")), tint_end(cli->colour));
    listing_title(cli, "General");
    listing_pair(cli, "Node pool", view_text(d, "pool"));
    listing_pair(cli, "Status", status_text(cli, d));
    listing_pair(cli, "Labels", labels_text(cli, doc_get(d, STR("labels")), ", "));
    listing_pair(cli, "GPUs",
                 arena_printf(&cli->arena, STR_FMT ", " STR_FMT " held",
                              STR_ARG(view_text(d, "gpus")), STR_ARG(view_text(d, "gpus_held"))));
    listing_pair(cli, "CPU",
                 arena_printf(&cli->arena, STR_FMT " cores, " STR_FMT " held",
                              STR_ARG(view_text(d, "cpu")), STR_ARG(view_text(d, "cpu_held"))));
    listing_pair(cli, "Memory",
                 arena_printf(&cli->arena, STR_FMT ", " STR_FMT " held",
                              STR_ARG(view_bytes(&cli->arena, d, "memory")),
                              STR_ARG(view_bytes(&cli->arena, d, "memory_held"))));
    print_zones(cli, d);
    const struct doc *notes = doc_get(d, STR("notes"));
    for (const struct doc *n = notes != NULL ? notes->child : NULL; n != NULL; n = n->next) {
        listing_pair(cli, n == notes->child ? "Not enforced" : "", n->text);
    }
    print_devices(cli, d);
    return 0;
}

static void write_drain(const struct args *args, bool drains, struct buf *body)
{
    struct jw w;
    jw_init(&w, body, false);
    jw_object_begin(&w);
    if (args_has(args, "device")) {
        jw_member_string(&w, STR("device"), args_text(args, "device"));
    }
    if (drains) {
        bool moves = command_flag(args->command, STR("deadline"), 0) != NULL;
        jw_member_bool(&w, STR("moves"), moves);
        if (moves && args_find(args, "deadline") != NULL) {
            jw_member_i64(&w, STR("within_ms"), args_number(args, "deadline", 0));
        }
        jw_member_string(&w, STR("reason"), args_text(args, "reason"));
    }
    jw_object_end(&w);
}

// What is said of is the node, or the device that was named.
static const struct doc *named_part(const struct args *args, const struct doc *node)
{
    struct str named = args_text(args, "device");
    const struct doc *devices = doc_get(node, STR("devices"));
    for (const struct doc *d = devices != NULL ? devices->child : NULL; d != NULL; d = d->next) {
        if (named.len > 0 &&
            (str_eq(view_raw(d, "uuid"), named) || str_eq(view_raw(d, "index"), named))) {
            return d;
        }
    }
    return node;
}

static int change_node(struct cli *cli, const struct args *args, bool drains)
{
    struct str words[] = {STR("nodes"), args->words[0], drains ? STR("drain") : STR("undrain")};
    struct answer answer;
    struct err err;
    struct buf body;
    int failed = 0;
    buf_init(&body, 1 << 20);
    write_drain(args, drains, &body);
    struct request r = {.method = "POST",
                        .path = client_path(&cli->client, COUNT_OF(words), words),
                        .type = "application/json",
                        .body = buf_view(&body)};
    if (client_call(&cli->client, &r, &answer, &err) != STATUS_OK) {
        failed = cli_fail(cli, &err, answer.body);
    } else if (!listing_form(cli, args, answer.body, &failed)) {
        const struct doc *part = named_part(args, answer.body);
        cli_say(cli, STR_FMT "%s" STR_FMT " is " STR_FMT "\n",
                STR_ARG(view_text(answer.body, "name")), part != answer.body ? " device " : "",
                STR_ARG(part != answer.body ? view_text(part, "index") : STR("")),
                STR_ARG(status_text(cli, part)));
    }
    buf_done(&body);
    return failed;
}

int run_node_drain(struct cli *cli, const struct args *args)
{
    return change_node(cli, args, true);
}

int run_node_undrain(struct cli *cli, const struct args *args)
{
    return change_node(cli, args, false);
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

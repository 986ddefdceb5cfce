// SPDX-License-Identifier: Apache-2.0
// run_tenant: who is entitled to what and holds what: departments and projects.
#include "cli/run.h"

#include <string.h>

#include "cli/listing.h"
#include "cli/queue.h"
#include "cli/view.h"

static void add_projects(struct cli *cli, struct table *t, const struct doc *items,
                         struct str department)
{
    for (const struct doc *d = items->child; d != NULL; d = d->next) {
        if (department.len > 0 && !str_eq(view_raw(d, "department"), department)) {
            continue;
        }
        for (uint32_t at = queue_add(cli, t, d, ROW_NONE); at < t->count; at++) {
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
    failed = listing_begin(cli, args, "project", queue_project_columns, QUEUE_PROJECT_COLUMNS, &t);
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
            row[i] = queue_add(cli, t, d, below);
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
    failed = listing_begin(cli, args, "department", queue_department_columns,
                           QUEUE_DEPARTMENT_COLUMNS, &t);
    if (failed) {
        return failed;
    }
    add_departments(cli, &t, listing_items(answer.body));
    return listing_print(cli, &t);
}

/* Descriptions. */

// The pools of one queue as a table of their own.
static void print_pools(struct cli *cli, const struct doc *queue)
{
    static const struct str shown = STRS(
        "pool,guaranteed,held,borrowed,max,fair,weight,running,pending,rank,non-preemptible,cpu,"
        "memory,used,used-share");
    struct table t;
    struct err err;
    table_init(&t, &cli->arena, queue_project_columns, QUEUE_PROJECT_COLUMNS);
    if (table_choose(&t, shown, &err) == STATUS_OK) {
        t.indent = 2;
        queue_add(cli, &t, queue, ROW_NONE);
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
    int failed = listing_get_one(cli, "projects", name, &answer);
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
    int failed = listing_get_one(cli, "departments", args->words[0], &answer);
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
    table_init(&t, &cli->arena, queue_project_columns, QUEUE_PROJECT_COLUMNS);
    if (table_choose(&t, shown, &err) != STATUS_OK) {
        return cli_fail(cli, &err, NULL);
    }
    t.indent = 2;
    add_projects(cli, &t, listing_items(projects.body), view_raw(d, "name"));
    listing_title(cli, "Projects");
    return listing_print(cli, &t);
}

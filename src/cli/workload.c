// SPDX-License-Identifier: Apache-2.0
#include "cli/workload.h"

#include <string.h>

#include "base/uuid.h"
#include "cli/listing.h"
#include "cli/view.h"

enum workload_column {
    W_NAME,
    W_TYPE,
    W_STATUS,
    W_PROJECT,
    W_PRIORITY,
    W_POOL,
    W_PODS,
    W_GPU,
    W_AGE,
    W_REASON,
    W_DEPARTMENT,
    W_PREEMPTIBILITY,
    W_NODE,
    W_AUTHOR,
    W_IMAGE,
    W_RUN,
    W_PENDING,
    W_EXIT,
    W_PLACE,
    W_CREATED,
    W_ID,
};
const struct column workload_columns[WORKLOAD_COLUMNS] = {
    {"name",           "WORKLOAD",       0                          },
    {"type",           "TYPE",           COLUMN_SPARE               },
    {"status",         "STATUS",         0                          },
    {"project",        "PROJECT",        0                          },
    {"priority",       "PRIORITY",       COLUMN_SPARE               },
    {"pool",           "NODE POOL",      COLUMN_SPARE               },
    {"pods",           "PODS",           COLUMN_RIGHT | COLUMN_SPARE},
    {"gpu",            "GPU",            COLUMN_RIGHT               },
    {"age",            "AGE",            COLUMN_RIGHT | COLUMN_SPARE},
    {"reason",         "REASON",         COLUMN_FLEX                },
    {"department",     "DEPARTMENT",     COLUMN_EXTRA               },
    {"preemptibility", "PREEMPTIBILITY", COLUMN_EXTRA               },
    {"node",           "NODE",           COLUMN_EXTRA               },
    {"author",         "AUTHOR",         COLUMN_EXTRA               },
    {"image",          "IMAGE",          COLUMN_EXTRA               },
    {"run",            "RUN TIME",       COLUMN_RIGHT | COLUMN_EXTRA},
    {"pending",        "PENDING TIME",   COLUMN_RIGHT | COLUMN_EXTRA},
    {"exit",           "EXIT",           COLUMN_RIGHT | COLUMN_EXTRA},
    {"place",          "PLACE",          COLUMN_RIGHT | COLUMN_EXTRA},
    {"created",        "CREATED",        COLUMN_EXTRA               },
    {"id",             "ID",             COLUMN_EXTRA               },
};

// Of a workload that failed: what its first failed pod ended with.
static struct str end_of(struct arena *arena, const struct doc *workload)
{
    const struct doc *pods = doc_get(workload, STR("pods"));
    bool failed = str_eq(view_raw(workload, "phase"), STR("Failed"));
    for (const struct doc *p = failed && pods != NULL ? pods->child : NULL; p != NULL;
         p = p->next) {
        if (str_eq(view_raw(p, "phase"), STR("Failed"))) {
            struct str reason = view_text(p, "end_reason");
            return !str_eq(reason, STR("Error")) ? reason
                                                 : arena_printf(arena, "exit code " STR_FMT,
                                                                STR_ARG(view_text(p, "exit_code")));
        }
    }
    return STR("-");
}

struct str workload_reason(struct arena *arena, const struct doc *workload)
{
    const struct doc *why = doc_get(workload, STR("why"));
    struct str message = view_sentence(arena, view_raw(why, "message"));
    int64_t place = view_i64(workload, "place", 0);
    if (message.len == 0) {
        return end_of(arena, workload);
    }
    if (place > 0) {
        return arena_printf(arena, STR_FMT " (place %lld in the queue)", STR_ARG(message),
                            (long long)place);
    }
    return message;
}

// The nodes of its pods, each once.
static struct str nodes_of(struct arena *arena, const struct doc *workload)
{
    struct str s = STR(""), last = STR("");
    const struct doc *pods = doc_get(workload, STR("pods"));
    for (const struct doc *p = pods != NULL ? pods->child : NULL; p != NULL; p = p->next) {
        struct str node = view_raw(p, "node");
        if (node.len > 0 && !str_eq(node, last)) {
            s = arena_printf(arena, STR_FMT "%s" STR_FMT, STR_ARG(s), s.len > 0 ? "," : "",
                             STR_ARG(node));
            last = node;
        }
    }
    return s.len > 0 ? s : STR("-");
}

void workload_row(struct arena *arena, struct table *t, const struct doc *w, int64_t now_ms)
{
    uint32_t at = table_row(t, ROW_NONE);
    struct str phase = view_text(w, "phase");
    struct str pool = view_raw(w, "pool");
    table_set(t, at, W_NAME, view_text(w, "name"));
    struct str framework = view_raw(w, "framework");
    table_set(t, at, W_TYPE, framework.len > 0 ? framework : view_text(w, "kind"));
    table_set(t, at, W_STATUS, phase);
    table_tint(t, at, W_STATUS, view_phase_tint(phase));
    table_set(t, at, W_PROJECT, view_text(w, "project"));
    table_set(t, at, W_PRIORITY, view_text(w, "priority"));
    table_set(t, at, W_POOL, pool.len > 0 ? pool : view_join(arena, doc_get(w, STR("pools")), ","));
    table_set(t, at, W_PODS,
              arena_printf(arena, STR_FMT "/" STR_FMT, STR_ARG(view_text(w, "pods_running")),
                           STR_ARG(view_text(w, "pods_wanted"))));
    table_set(t, at, W_GPU, view_text(w, "gpus_held"));
    table_set(t, at, W_AGE, view_age(arena, w, "created_at", now_ms));
    table_set(t, at, W_REASON, workload_reason(arena, w));
    table_set(t, at, W_DEPARTMENT, view_text(w, "department"));
    table_set(t, at, W_PREEMPTIBILITY, view_text(w, "preemptibility"));
    table_set(t, at, W_NODE, nodes_of(arena, w));
    table_set(t, at, W_AUTHOR, view_text(w, "author"));
    table_set(t, at, W_IMAGE, view_text(w, "image"));
    table_set(t, at, W_RUN, view_span(arena, view_i64(w, "run_ms", 0)));
    table_set(t, at, W_PENDING, view_span(arena, view_i64(w, "pending_ms", 0)));
    table_set(t, at, W_EXIT, view_text(w, "exit_code"));
    table_set(t, at, W_PLACE, view_text(w, "place"));
    table_set(t, at, W_CREATED, view_clock(arena, w, "created_at"));
    table_set(t, at, W_ID, view_text(w, "id"));
}

static const struct family families[] = {
    {"training standard",   "training",    ""          },
    {"training pytorch",    "distributed", "pytorch"   },
    {"training tensorflow", "distributed", "tensorflow"},
    {"training mpi",        "distributed", "mpi"       },
    {"training xgboost",    "distributed", "xgboost"   },
    {"training jax",        "distributed", "jax"       },
    {"workspace",           "workspace",   ""          },
    {"inference standard",  "inference",   ""          },
    {"workload",            "",            ""          },
};

const struct family *workload_family(const struct command *c)
{
    uint32_t i = 0;
    while (i + 1 < COUNT_OF(families) &&
           !str_starts(str_from_c(c->path), str_from_c(families[i].group))) {
        i++;
    }
    return &families[i];
}

struct str workload_below(struct cli *cli, struct str path, const char *more)
{
    return arena_printf(&cli->arena, STR_FMT "%s", STR_ARG(path), more);
}

struct str workload_of_family(struct cli *cli, const struct family *f, struct str path)
{
    if (f->kind[0] != '\0') {
        path = client_query(&cli->client, path, "kind", str_from_c(f->kind));
    }
    if (f->framework[0] != '\0') {
        path = client_query(&cli->client, path, "framework", str_from_c(f->framework));
    }
    return path;
}

// No project is known: the name must be the only one of its kind.
static int find_by_name(struct cli *cli, const struct family *f, struct str name, struct str *path)
{
    struct answer answer;
    struct err err;
    struct str list = client_query(&cli->client, STR("/workloads"), "name", name);
    int failed = listing_get(cli, workload_of_family(cli, f, list), &answer);
    if (failed) {
        return failed;
    }
    const struct doc *first = listing_items(answer.body)->child;
    if (first == NULL) {
        err_set(&err, STATUS_UNKNOWN, "no project has a %s \"" STR_FMT "\"",
                f->kind[0] != '\0' ? f->group : "workload", STR_ARG(name));
        err_hint(&err, "weir workload list -A shows all");
        return cli_fail(cli, &err, NULL);
    }
    if (first->next != NULL) {
        struct str in = STR("");
        for (const struct doc *d = first; d != NULL; d = d->next) {
            in = arena_printf(&cli->arena, STR_FMT "%s" STR_FMT, STR_ARG(in),
                              d != first ? ", " : "", STR_ARG(view_text(d, "project")));
        }
        err_set(&err, STATUS_INVALID, "several projects have a workload \"" STR_FMT "\": " STR_FMT,
                STR_ARG(name), STR_ARG(in));
        err_hint(&err, "say which with -p PROJECT");
        return cli_fail(cli, &err, NULL);
    }
    struct str words[] = {STR("workloads"), view_raw(first, "id")};
    *path = client_path(&cli->client, COUNT_OF(words), words);
    return 0;
}

static bool is_of(const struct family *f, const struct doc *workload)
{
    return str_eq(view_raw(workload, "kind"), str_from_c(f->kind)) &&
           str_eq(view_raw(workload, "framework"), str_from_c(f->framework));
}

// The commands of one kind touch no other: what the path leads to is looked at first, and named by its
// id from then on.
static int check_family(struct cli *cli, const struct args *args, struct str *path)
{
    const struct family *f = workload_family(args->command);
    struct answer answer;
    struct err err;
    int failed = f->kind[0] == '\0' ? 0 : listing_get(cli, *path, &answer);
    if (failed || f->kind[0] == '\0') {
        return failed;
    }
    if (is_of(f, answer.body)) {
        struct str words[] = {STR("workloads"), view_raw(answer.body, "id")};
        *path = client_path(&cli->client, COUNT_OF(words), words);
        return 0;
    }
    uint32_t other = 0;
    while (other + 1 < COUNT_OF(families) && !is_of(&families[other], answer.body)) {
        other++;
    }
    struct str verb = str_from_c(args->command->path);
    verb = str_sub(verb, (uint32_t)strlen(f->group), verb.len);
    err_set(&err, STATUS_UNKNOWN, "\"" STR_FMT "\" is of another kind: %s, not %s",
            STR_ARG(view_text(answer.body, "name")), families[other].group, f->group);
    err_hint(&err, "weir %s" STR_FMT " " STR_FMT, families[other].group, STR_ARG(verb),
             STR_ARG(view_text(answer.body, "name")));
    return cli_fail(cli, &err, NULL);
}

static int path_of_any(struct cli *cli, const struct args *args, struct str word, struct str *path)
{
    struct uuid id;
    struct str words[3] = {STR("workloads")};
    uint32_t slash = str_find(word, '/');
    struct str project = cli_project(cli, args);
    if (args_has(args, "uuid")) {
        words[1] = args_text(args, "uuid");
        *path = client_path(&cli->client, 2, words);
        return 0;
    }
    if (uuid_parse(word, &id)) {
        words[1] = word;
        *path = client_path(&cli->client, 2, words);
        return 0;
    }
    words[1] = slash < word.len ? str_sub(word, 0, slash) : project;
    words[2] = slash < word.len ? str_sub(word, slash + 1, word.len) : word;
    if (words[1].len == 0) {
        return find_by_name(cli, workload_family(args->command), word, path);
    }
    *path = client_path(&cli->client, 3, words);
    return 0;
}

int workload_path(struct cli *cli, const struct args *args, struct str word, struct str *path)
{
    int failed = path_of_any(cli, args, word, path);
    return failed ? failed : check_family(cli, args, path);
}

int workload_path_one(struct cli *cli, const struct args *args, struct str *path)
{
    if ((args->words_count == 0) != args_has(args, "uuid")) {
        struct err err;
        err_set(&err, STATUS_INVALID,
                args->words_count == 0 ? "which workload?" : "a name and an id, which one counts?");
        err_hint(&err, "give its NAME, or its id with --uuid");
        return cli_usage(cli, args, &err);
    }
    return workload_path(cli, args, args->words_count > 0 ? args->words[0] : STR(""), path);
}

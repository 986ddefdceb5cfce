// SPDX-License-Identifier: Apache-2.0
// queue: a department or project as rows of a table, one for each node pool.
#include "cli/queue.h"

#include "cli/view.h"

const struct column queue_project_columns[QUEUE_PROJECT_COLUMNS] = {
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
const struct column queue_department_columns[QUEUE_DEPARTMENT_COLUMNS] = {
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

void queue_fill(struct cli *cli, struct table *t, uint32_t at, const struct doc *row)
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

uint32_t queue_add(struct cli *cli, struct table *t, const struct doc *queue, uint32_t parent)
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
        queue_fill(cli, t, at, row);
        row = next_told(row->next);
        if (row == NULL) {
            return first;
        }
    }
}

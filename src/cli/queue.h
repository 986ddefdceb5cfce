// SPDX-License-Identifier: Apache-2.0
// queue: the tables of departments and projects: what each is guaranteed and holds in each node pool.
#pragma once

#include "cli/cli.h"
#include "cli/table.h"

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
enum { QUEUE_PROJECT_COLUMNS = Q_ID + 1, QUEUE_DEPARTMENT_COLUMNS = Q_GROUP + 1 };
extern const struct column queue_project_columns[QUEUE_PROJECT_COLUMNS];
extern const struct column queue_department_columns[QUEUE_DEPARTMENT_COLUMNS];

/* queue_fill sets the cells of a row from what the queue is and holds in one pool. */
void queue_fill(struct cli *cli, struct table *t, uint32_t at, const struct doc *row);
/* queue_add adds the rows of one queue, one a pool that there is something to tell of, below the row
 * parent (ROW_NONE: none); gives the first. */
uint32_t queue_add(struct cli *cli, struct table *t, const struct doc *queue, uint32_t parent);

// SPDX-License-Identifier: Apache-2.0
// workload: how commands name a workload, and how one is shown in a table.
#pragma once

#include "cli/cli.h"
#include "cli/table.h"

enum { WORKLOAD_COLUMNS = 21 };
extern const struct column workload_columns[WORKLOAD_COLUMNS];

/* What the commands of one group are about; "" where it is not said. */
struct family {
    const char *group; /* of the command: "training pytorch" */
    const char *kind, *framework;
};
/* workload_family gives the one of a command, that of `workload` for all others. */
const struct family *workload_family(const struct command *c);

/* workload_of_family asks a path that lists workloads for those of the family alone. */
struct str workload_of_family(struct cli *cli, const struct family *f, struct str path);

/* workload_row adds the row of one workload; everything made lives in arena. */
void workload_row(struct arena *arena, struct table *t, const struct doc *workload, int64_t now_ms);
/* workload_reason says in one line why it waits, with its place in the queue, or what it failed
 * with; "-" otherwise. */
struct str workload_reason(struct arena *arena, const struct doc *workload);

/* workload_path gives the API's path of the workload that word (or --uuid) names: an id, project/name,
 * or a name in the project of the flags or settings, or in the one project that has it. One that is
 * not of the command's family is refused. 0, or the exit status after the error was written. */
int workload_path(struct cli *cli, const struct args *args, struct str word, struct str *path);
/* workload_path_one is the same for a command with one optional word. */
int workload_path_one(struct cli *cli, const struct args *args, struct str *path);
/* workload_below puts more words behind the path: "/logs". */
struct str workload_below(struct cli *cli, struct str path, const char *more);

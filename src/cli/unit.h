// SPDX-License-Identifier: Apache-2.0
// unit: departments and projects by their names, for requests that want ids.
#pragma once

#include "cli/cli.h"

/* unit_id gives the id of the one named in a list ("projects", "departments"). 0, or the exit status
 * after the error was written. */
int unit_id(struct cli *cli, const char *list, struct str name, struct str *id);
/* unit_cluster gives the id of the cluster; 0, or the exit status. */
int unit_cluster(struct cli *cli, struct str *id);

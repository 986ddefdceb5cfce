// SPDX-License-Identifier: Apache-2.0
#include "cli/unit.h"

#include <string.h>

#include "cli/listing.h"
#include "cli/view.h"

int unit_id(struct cli *cli, const char *list, struct str name, struct str *id)
{
    struct answer answer;
    struct str path = arena_printf(&cli->arena, "/api/v1/org-unit/%s", list);
    path = client_query(&cli->client, path, "filterBy",
                        arena_printf(&cli->arena, "name==" STR_FMT, STR_ARG(name)));
    int failed = listing_get(cli, path, &answer);
    if (failed) {
        return failed;
    }
    const struct doc *items = doc_get(answer.body, str_from_c(list));
    if (items == NULL || items->child == NULL) {
        struct err err;
        err_set(&err, STATUS_UNKNOWN, "there is no %.*s \"" STR_FMT "\"", (int)strlen(list) - 1,
                list, STR_ARG(name));
        err_hint(&err, "weir %.*s list shows those there are", (int)strlen(list) - 1, list);
        return cli_fail(cli, &err, NULL);
    }
    *id = view_raw(items->child, "id");
    return 0;
}

int unit_cluster(struct cli *cli, struct str *id)
{
    struct answer answer;
    int failed = listing_get(cli, STR("/api/v1/clusters"), &answer);
    *id = failed || answer.body == NULL ? STR("") : view_raw(answer.body->child, "uuid");
    return failed;
}

// SPDX-License-Identifier: Apache-2.0
// run_audit: who did what, and who was refused what.
#include "cli/run.h"

#include "base/rfc3339.h"
#include "cli/listing.h"
#include "cli/view.h"
#include "io/clock.h"

enum {
    A_AT,
    A_SUBJECT,
    A_ACTION,
    A_ENTITY,
    A_NAME,
    A_RESULT,
    A_MESSAGE,
    A_SOURCE,
    A_REQUEST,
    A_COUNT
};
static const struct column audit_columns[A_COUNT] = {
    [A_AT] = {"at",      "TIME",    0                         },
    [A_SUBJECT] = {"subject", "WHO",     0                         },
    [A_ACTION] = {"action",  "ACTION",  0                         },
    [A_ENTITY] = {"entity",  "WHAT",    COLUMN_SPARE              },
    [A_NAME] = {"name",    "NAME",    0                         },
    [A_RESULT] = {"result",  "RESULT",  0                         },
    [A_MESSAGE] = {"message", "MESSAGE", COLUMN_FLEX               },
    [A_SOURCE] = {"source",  "FROM",    COLUMN_EXTRA              },
    [A_REQUEST] = {"request", "REQUEST", COLUMN_FLEX | COLUMN_EXTRA},
};

static struct str moment(struct cli *cli, const struct args *args, const char *flag)
{
    char at[RFC3339_TEXT_SIZE];
    return arena_str(&cli->arena, rfc3339_format(clock_wall_ms() - args_number(args, flag, 0), at));
}

static struct str path_of(struct cli *cli, const struct args *args)
{
    static const char *const passed[] = {"subject", "action", "result"};
    struct str path = STR("/audit");
    for (size_t i = 0; i < COUNT_OF(passed); i++) {
        if (args_has(args, passed[i])) {
            path = client_query(&cli->client, path, passed[i], args_text(args, passed[i]));
        }
    }
    if (args_has(args, "since")) {
        path = client_query(&cli->client, path, "since", moment(cli, args, "since"));
    }
    if (args_has(args, "until")) {
        path = client_query(&cli->client, path, "until", moment(cli, args, "until"));
    }
    return client_query(
        &cli->client, path, "limit",
        arena_printf(&cli->arena, "%lld", (long long)args_number(args, "max-items", 100)));
}

int run_audit(struct cli *cli, const struct args *args)
{
    struct answer answer;
    struct table t;
    int failed = listing_get(cli, path_of(cli, args), &answer);
    if (failed || listing_form(cli, args, listing_items(answer.body), &failed)) {
        return failed;
    }
    failed = listing_begin(cli, args, "audit", audit_columns, A_COUNT, &t);
    if (failed) {
        return failed;
    }
    for (const struct doc *d = listing_items(answer.body)->child; d != NULL; d = d->next) {
        uint32_t at = table_row(&t, ROW_NONE);
        struct str source = view_raw(d, "source");
        struct str result = view_text(d, "result");
        table_set(&t, at, A_AT, view_clock(&cli->arena, d, "at"));
        table_set(&t, at, A_SUBJECT, view_text(d, "subject"));
        table_set(&t, at, A_ACTION, view_text(d, "action"));
        table_set(&t, at, A_ENTITY, view_text(d, "entity"));
        table_set(&t, at, A_NAME, view_text(d, "name"));
        table_set(&t, at, A_RESULT, result);
        table_tint(&t, at, A_RESULT, str_eq(result, STR("refused")) ? TINT_BAD : TINT_NONE);
        table_set(&t, at, A_MESSAGE, view_text(d, "message"));
        table_set(&t, at, A_SOURCE, source.len > 0 ? source : STR("local socket"));
        table_set(&t, at, A_REQUEST,
                  arena_printf(&cli->arena, STR_FMT " " STR_FMT, STR_ARG(view_text(d, "method")),
                               STR_ARG(view_text(d, "path"))));
    }
    return listing_print(cli, &t);
}

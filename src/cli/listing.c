// SPDX-License-Identifier: Apache-2.0
#include "cli/listing.h"

#include "cli/view.h"

enum { PAIR_NAME_WIDTH = 16, PAIR_BYTES_MAX = 4 << 20 };

int listing_get(struct cli *cli, struct str path, struct answer *answer)
{
    struct err err;
    enum status status = client_get(&cli->client, path, answer, &err);
    if (status == STATUS_OK && answer->body == NULL) {
        status = err_set(&err, STATUS_INTERNAL, "the server's answer is no JSON");
    }
    return status == STATUS_OK ? 0 : cli_fail(cli, &err, answer->body);
}

int listing_get_one(struct cli *cli, const char *list, struct str name, struct answer *answer)
{
    struct str words[] = {str_from_c(list), name};
    return listing_get(cli, client_path(&cli->client, COUNT_OF(words), words), answer);
}

const struct doc *listing_items(const struct doc *body)
{
    static const struct doc none = {.kind = DOC_LIST};
    const struct doc *items = doc_get(body, STR("items"));
    return items != NULL && items->kind == DOC_LIST ? items : &none;
}

bool listing_form(struct cli *cli, const struct args *args, const struct doc *doc, int *failed)
{
    enum form form = cli_form(cli, args);
    if (form == FORM_TABLE) {
        return false;
    }
    *failed = cli_print(cli, form, doc);
    return true;
}

// Keeps the choice of columns for next time.
static int keep_columns(struct cli *cli, const struct args *args, struct str key, struct str names)
{
    struct err err;
    if (names.len == 0) {
        err_set(&err, STATUS_INVALID, "nothing to keep");
        err_field(&err, "--set-default-columns");
        err_hint(&err, "say which: --columns A,B --set-default-columns");
        return cli_usage(cli, args, &err);
    }
    return settings_set(&cli->settings, key, names, &err) == STATUS_OK ? 0
                                                                       : cli_fail(cli, &err, NULL);
}

int listing_begin(struct cli *cli, const struct args *args, const char *name,
                  const struct column *columns, uint32_t count, struct table *t)
{
    struct err err;
    struct str key = arena_printf(&cli->arena, "columns.%s", name);
    struct str names = args_text(args, "columns");
    bool asked = names.len > 0;
    table_init(t, &cli->arena, columns, count);
    if (!asked) {
        names = settings_get(&cli->settings, key);
    }
    if (names.len > 0 && table_choose(t, names, &err) != STATUS_OK) {
        if (!asked) {
            err_field(&err, STR_FMT " in " STR_FMT "/" STR_FMT, STR_ARG(key),
                      STR_ARG(cli->settings.directory), STR_ARG(cli->settings.file));
        }
        return cli_usage(cli, args, &err);
    }
    t->headings = !args_has(args, "no-headers");
    return args_has(args, "set-default-columns")
               ? keep_columns(cli, args, key, asked ? names : STR(""))
               : 0;
}

int listing_print(struct cli *cli, const struct table *t)
{
    table_print(t, stdout, cli->terminal ? cli->width : 0, cli->colour);
    return 0;
}

void listing_title(struct cli *cli, const char *title)
{
    printf("\n%s%s%s\n", tint_begin(TINT_STRONG, cli->colour), title, tint_end(cli->colour));
}

void listing_pair(struct cli *cli, const char *name, struct str value)
{
    struct buf text;
    buf_init(&text, PAIR_BYTES_MAX);
    view_fold(&text, view_harmless(&cli->arena, value), PAIR_NAME_WIDTH + 3, cli->width);
    printf("  %s%-*s%s " STR_FMT, tint_begin(TINT_DIM, cli->colour), PAIR_NAME_WIDTH, name,
           tint_end(cli->colour), STR_ARG(buf_view(&text)));
    buf_done(&text);
}

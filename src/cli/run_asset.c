// SPDX-License-Identifier: Apache-2.0
// run_asset: what is kept to be named in submits: templates, compute resources, environments, data
// sources; and the types of workloads. One table says where each is and what of it is shown.
#include "cli/run.h"

#include <string.h>

#include "base/check.h"
#include "cli/listing.h"
#include "cli/view.h"
#include "codec/json.h"

enum { PAGE = 500, SPEC_BYTES_MAX = 1 << 20 };
enum asset_column { A_NAME, A_TYPE, A_SCOPE, A_BY, A_CREATED, A_ID };
static const struct column asset_columns[] = {
    {"name",    "NAME",    0           },
    {"type",    "TYPE",    0           },
    {"scope",   "SCOPE",   0           },
    {"by",      "BY",      COLUMN_SPARE},
    {"created", "CREATED", COLUMN_SPARE},
    {"id",      "ID",      COLUMN_EXTRA},
};
static const struct column type_columns[] = {
    {"name",     "NAME",     0           },
    {"group",    "GROUP",    0           },
    {"category", "CATEGORY", 0           },
    {"priority", "PRIORITY", 0           },
    {"id",       "ID",       COLUMN_EXTRA},
};

struct asset {
    const char *word, *path;
    const char *type, *scope; /* members of meta */
    bool pages;
};

static const struct asset *asset_of(const struct args *args)
{
    static const struct asset assets[] = {
        {"template",    "/api/v1/workload-templates",   "workloadType", "scopeType", true },
        {"compute",     "/api/v1/asset/compute",        "kind",         "scope",     false},
        {"environment", "/api/v1/asset/environment",    "kind",         "scope",     false},
        {"datasource",  "/api/v1/asset/datasource",     "kind",         "scope",     false},
        {"pvc",         "/api/v1/asset/datasource/pvc", "kind",         "scope",     false},
    };
    for (uint32_t i = 0; i < COUNT_OF(assets); i++) {
        if (str_starts(str_from_c(args->command->path), str_from_c(assets[i].word))) {
            return &assets[i];
        }
    }
    check_fail(__FILE__, __LINE__, "a command of no asset");
}

/* ---- fetching ---- */

// "config-map" is configMap.
static bool same_word(struct str shown, struct str asked)
{
    uint32_t k = 0;
    bool upper = false;
    for (uint32_t i = 0; i < shown.len; i++) {
        char c = shown.ptr[i];
        if (c != '-') {
            c = upper && c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
            if (k >= asked.len || asked.ptr[k++] != c) {
                return false;
            }
        }
        upper = c == '-';
    }
    return k == asked.len;
}

// Adds those of a page to *all that the flags ask for; gives how many the page had.
static uint32_t take(struct cli *cli, const struct args *args, const struct asset *a,
                     const struct doc *page, struct doc ***end, struct doc *all)
{
    uint32_t count = 0;
    struct str type = command_flag(args->command, STR("type"), 0) != NULL ? args_text(args, "type")
                                                                          : STR("");
    const struct doc *entries = doc_get(page, STR("entries"));
    for (const struct doc *d = entries != NULL ? entries->child : NULL; d != NULL; d = d->next) {
        count++;
        if (type.len > 0 && !same_word(view_raw(doc_get(d, STR("meta")), a->type), type)) {
            continue;
        }
        struct doc *copy = ARENA_NEW(&cli->arena, struct doc);
        *copy = *d;
        copy->next = NULL;
        **end = copy;
        *end = &copy->next;
        all->child_count++;
    }
    return count;
}

static int fetch(struct cli *cli, const struct args *args, struct doc *all)
{
    const struct asset *a = asset_of(args);
    struct doc **end = &all->child;
    uint32_t got = PAGE;
    *all = (struct doc){.kind = DOC_LIST};
    for (uint32_t offset = 0; got == PAGE; offset += got) {
        struct answer answer;
        struct str path = str_from_c(a->path);
        if (a->pages) {
            path = arena_printf(&cli->arena, "%s?limit=%d&offset=%u", a->path, PAGE, offset);
        }
        int failed = listing_get(cli, path, &answer);
        if (failed) {
            return failed;
        }
        got = take(cli, args, a, answer.body, &end, all);
        got = a->pages ? got : 0;
    }
    return 0;
}

/* ---- showing ---- */

int run_asset_list(struct cli *cli, const struct args *args)
{
    const struct asset *a = asset_of(args);
    struct doc all;
    struct table t;
    int failed = fetch(cli, args, &all);
    if (failed || listing_form(cli, args, &all, &failed)) {
        return failed;
    }
    failed = listing_begin(cli, args, a->word, asset_columns, COUNT_OF(asset_columns), &t);
    if (failed) {
        return failed;
    }
    for (const struct doc *d = all.child; d != NULL; d = d->next) {
        const struct doc *meta = doc_get(d, STR("meta"));
        uint32_t at = table_row(&t, ROW_NONE);
        table_set(&t, at, A_NAME, view_text(meta, "name"));
        table_set(&t, at, A_TYPE, view_text(meta, a->type));
        table_set(&t, at, A_SCOPE, view_text(meta, a->scope));
        table_set(&t, at, A_BY, view_text(meta, "createdBy"));
        table_set(&t, at, A_CREATED, view_clock(&cli->arena, meta, "createdAt"));
        table_set(&t, at, A_ID, view_text(meta, "id"));
    }
    return listing_print(cli, &t);
}

static void print_spec(struct cli *cli, const struct doc *spec)
{
    listing_title(cli, "Spec");
    for (const struct doc *d = spec != NULL ? spec->child : NULL; d != NULL; d = d->next) {
        struct buf text;
        struct jw w;
        buf_init(&text, SPEC_BYTES_MAX);
        jw_init(&w, &text, false);
        jw_doc(&w, d);
        listing_pair(cli, arena_cstr(&cli->arena, d->key),
                     d->child == NULL ? d->text : arena_str(&cli->arena, buf_view(&text)));
        buf_done(&text);
    }
}

int run_asset_describe(struct cli *cli, const struct args *args)
{
    const struct asset *a = asset_of(args);
    struct doc all;
    int failed = fetch(cli, args, &all);
    if (failed) {
        return failed;
    }
    const struct doc *d = all.child;
    while (d != NULL && !str_eq(view_raw(doc_get(d, STR("meta")), "name"), args->words[0]) &&
           !str_eq(view_raw(doc_get(d, STR("meta")), "id"), args->words[0])) {
        d = d->next;
    }
    if (d == NULL) {
        struct err err;
        err_set(&err, STATUS_UNKNOWN, "there is no %s \"" STR_FMT "\"", a->word,
                STR_ARG(args->words[0]));
        err_hint(&err, "weir %s list shows those there are", a->word);
        return cli_fail(cli, &err, NULL);
    }
    if (listing_form(cli, args, d, &failed)) {
        return failed;
    }
    const struct doc *meta = doc_get(d, STR("meta"));
    listing_title(cli, arena_cstr(&cli->arena, view_text(meta, "name")));
    listing_pair(cli, "Type", view_text(meta, a->type));
    listing_pair(cli, "Scope", view_text(meta, a->scope));
    listing_pair(cli, "Description", view_text(meta, "description"));
    listing_pair(cli, "Created", view_clock(&cli->arena, meta, "createdAt"));
    listing_pair(cli, "By", view_text(meta, "createdBy"));
    listing_pair(cli, "Id", view_text(meta, "id"));
    print_spec(cli, doc_get(d, STR("spec")));
    return 0;
}

int run_type_list(struct cli *cli, const struct args *args)
{
    static const char *const members[] = {"name", "group", "categoryName", "priorityName", "id"};
    struct answer answer;
    struct table t;
    struct str path = STR("/api/v1/workload-types");
    if (args_has(args, "external-only")) {
        path = client_query(&cli->client, path, "externalTypesOnly", STR("true"));
    }
    int failed = listing_get(cli, path, &answer);
    const struct doc *types = failed ? NULL : doc_get(answer.body, STR("types"));
    if (failed || (types != NULL && listing_form(cli, args, types, &failed))) {
        return failed;
    }
    failed = listing_begin(cli, args, "workload-type", type_columns, COUNT_OF(type_columns), &t);
    for (const struct doc *d = !failed && types != NULL ? types->child : NULL; d != NULL;
         d = d->next) {
        uint32_t at = table_row(&t, ROW_NONE);
        for (uint32_t i = 0; i < COUNT_OF(members); i++) {
            table_set(&t, at, i, view_text(d, members[i]));
        }
    }
    return failed ? failed : listing_print(cli, &t);
}

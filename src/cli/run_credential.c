// SPDX-License-Identifier: Apache-2.0
// run_credential: one's own credentials: kept by the server, sealed, and given to one's own workloads as
// variables.
#include "cli/run.h"

#include <fcntl.h>
#include <string.h>

#include "cli/listing.h"
#include "cli/session.h"
#include "cli/view.h"
#include "codec/json.h"
#include "io/file.h"

#define CREDENTIALS "/api/v1/asset/credentials"

enum { BODY_BYTES_MAX = 1 << 20, SECRET_BYTES_MAX = 8192, ITEMS_MAX = 64 };

enum { C_NAME, C_TYPE, C_CREATED, C_ID };
static const struct column columns[] = {
    {"name",    "NAME",    0           },
    {"type",    "TYPE",    0           },
    {"created", "CREATED", COLUMN_SPARE},
    {"id",      "ID",      COLUMN_EXTRA},
};

/* A kind: as flags have it, and below the path. */
static const struct kind {
    struct str word, path;
} kinds[] = {
    {STRS("genericSecret"),  STRS("generic-secret") },
    {STRS("dockerRegistry"), STRS("docker-registry")},
    {STRS("ngcApiKey"),      STRS("ngc-api-key")    },
    {STRS("password"),       STRS("password")       },
    {STRS("accessKey"),      STRS("access-key")     },
};

static const struct kind *kind_named(struct str word)
{
    for (uint32_t i = 0; i < COUNT_OF(kinds); i++) {
        if (str_eq(kinds[i].word, word)) {
            return &kinds[i];
        }
    }
    return &kinds[0];
}

/* ---- list ---- */

// The next private one from d on, of the type that the flag asks for.
static const struct doc *own_from(const struct args *args, const struct doc *d)
{
    struct str type = args_text(args, "type");
    for (; d != NULL; d = d->next) {
        const struct doc *meta = doc_get(d, STR("meta"));
        if (view_bool(meta, "private") && (type.len == 0 || str_eq(view_raw(meta, "kind"), type))) {
            return d;
        }
    }
    return NULL;
}

static int fetch(struct cli *cli, const struct args *args, const struct doc **first)
{
    struct answer answer;
    int failed = listing_get(cli, STR(CREDENTIALS), &answer);
    const struct doc *entries = failed ? NULL : doc_get(answer.body, STR("entries"));
    *first = own_from(args, entries != NULL ? entries->child : NULL);
    return failed;
}

int run_credential_list(struct cli *cli, const struct args *args)
{
    const struct doc *d;
    struct doc all = {.kind = DOC_LIST};
    struct doc **end = &all.child;
    struct table t;
    int failed = fetch(cli, args, &d);
    for (; !failed && d != NULL; d = own_from(args, d->next)) {
        *end = ARENA_NEW(&cli->arena, struct doc);
        **end = *d;
        (*end)->next = NULL;
        end = &(*end)->next;
        all.child_count++;
    }
    if (failed || listing_form(cli, args, &all, &failed)) {
        return failed;
    }
    failed = listing_begin(cli, args, "my-credential", columns, COUNT_OF(columns), &t);
    for (d = failed ? NULL : all.child; d != NULL; d = d->next) {
        const struct doc *meta = doc_get(d, STR("meta"));
        uint32_t row = table_row(&t, ROW_NONE);
        table_set(&t, row, C_NAME, view_text(meta, "name"));
        table_set(&t, row, C_TYPE, view_text(meta, "kind"));
        table_set(&t, row, C_CREATED, view_clock(&cli->arena, meta, "createdAt"));
        table_set(&t, row, C_ID, view_text(meta, "id"));
    }
    return failed ? failed : listing_print(cli, &t);
}

/* ---- create ---- */

struct item {
    struct str key, value;
};

static enum status value_of(struct cli *cli, struct str text, struct item *item, struct err *err)
{
    if (text.len == 0) {
        return session_ask(cli, arena_cstr(&cli->arena, item->key), true, &item->value, err);
    }
    if (text.ptr[0] != '@') {
        if (!cli->quiet) {
            fprintf(stderr,
                    "weir: what --item says can be seen by others on this machine; KEY= asks "
                    "for it, KEY=@FILE reads it\n");
        }
        item->value = text;
        return STATUS_OK;
    }
    struct buf bytes;
    buf_init(&bytes, SECRET_BYTES_MAX);
    enum status s = file_read(AT_FDCWD, arena_cstr(&cli->arena, str_sub(text, 1, text.len)), &bytes,
                              err);
    item->value = arena_str(&cli->arena, buf_view(&bytes));
    buf_done(&bytes);
    return s;
}

static enum status read_items(struct cli *cli, const struct args *args, struct item *items,
                              uint32_t *count, struct err *err)
{
    uint32_t at = 0;
    enum status s = STATUS_OK;
    *count = 0;
    for (const struct arg *a; s == STATUS_OK && (a = args_next(args, "item", &at)) != NULL;) {
        uint32_t eq = str_find(a->text, '=');
        if (*count == ITEMS_MAX) {
            s = err_set(err, STATUS_INVALID, "a credential has at most %d items", ITEMS_MAX);
            err_field(err, "--item");
            break;
        }
        items[*count].key = str_sub(a->text, 0, eq);
        s = value_of(cli, str_sub(a->text, eq + 1, a->text.len), &items[(*count)++], err);
    }
    if (s == STATUS_OK && *count == 0) {
        s = err_set(err, STATUS_INVALID, "there is nothing to keep");
        err_hint(err, "give --item KEY=@FILE, or --item KEY= to be asked for it");
    }
    return s;
}

static void write_spec(struct jw *w, const struct kind *k, const struct item *items, uint32_t count)
{
    bool generic = k == &kinds[0];
    jw_object_begin(w);
    if (generic) {
        jw_key(w, STR("keyValuePairs"));
        jw_array_begin(w);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct str key = items[i].key;
        if (generic) {
            jw_object_begin(w);
            jw_member_string(w, STR("key"), key);
            jw_member_string(w, STR("value"), items[i].value);
            jw_object_end(w);
            continue;
        }
        // The words of the CLI for the members of the API.
        key = str_eq(k->word, STR("ngcApiKey")) ? STR("ngc_api_key") : key;
        key = str_eq(key, STR("server")) ? STR("url") : key;
        jw_member_string(w, key, items[i].value);
    }
    if (generic) {
        jw_array_end(w);
    }
    jw_object_end(w);
}

// Where it belongs: to the project, which it goes with; without one to the tenant.
static int write_scope(struct cli *cli, const struct args *args, struct jw *w)
{
    struct str name = cli_project(cli, args);
    struct answer answer;
    if (name.len == 0) {
        jw_member_string(w, STR("scope"), STR("tenant"));
        return 0;
    }
    struct str path = client_query(&cli->client, STR("/api/v1/org-unit/projects"), "filterBy",
                                   arena_printf(&cli->arena, "name==" STR_FMT, STR_ARG(name)));
    int failed = listing_get(cli, path, &answer);
    const struct doc *projects = failed ? NULL : doc_get(answer.body, STR("projects"));
    if (failed) {
        return failed;
    }
    if (projects == NULL || projects->child == NULL) {
        struct err err;
        err_set(&err, STATUS_UNKNOWN, "there is no project \"" STR_FMT "\"", STR_ARG(name));
        err_field(&err, "--project");
        err_hint(&err, "weir project list shows those there are");
        return cli_fail(cli, &err, NULL);
    }
    jw_member_string(w, STR("scope"), STR("project"));
    jw_key(w, STR("projectId"));
    jw_raw(w, view_raw(projects->child, "id"));
    return 0;
}

static int make(struct cli *cli, const struct args *args, const struct kind *k, struct buf *body)
{
    struct item items[ITEMS_MAX];
    uint32_t count;
    struct err err;
    struct jw w;
    if (read_items(cli, args, items, &count, &err) != STATUS_OK) {
        return cli_fail(cli, &err, NULL);
    }
    jw_init(&w, body, false);
    jw_object_begin(&w);
    jw_key(&w, STR("meta"));
    jw_object_begin(&w);
    jw_member_string(&w, STR("name"), args->words[0]);
    jw_member_string(&w, STR("description"), args_text(args, "description"));
    jw_member_bool(&w, STR("private"), true);
    int failed = write_scope(cli, args, &w);
    jw_object_end(&w);
    jw_key(&w, STR("spec"));
    write_spec(&w, k, items, count);
    jw_object_end(&w);
    return failed;
}

int run_credential_create(struct cli *cli, const struct args *args)
{
    struct answer answer;
    struct err err;
    struct buf body;
    const struct kind *k = kind_named(args_text(args, "type"));
    buf_init(&body, BODY_BYTES_MAX);
    int failed = make(cli, args, k, &body);
    struct request r = {
        .method = "POST",
        .path = arena_printf(&cli->arena, CREDENTIALS "/" STR_FMT, STR_ARG(k->path)),
        .type = "application/json",
        .body = buf_view(&body)};
    if (!failed && client_call(&cli->client, &r, &answer, &err) != STATUS_OK) {
        failed = cli_fail(cli, &err, answer.body);
    }
    if (!failed) {
        cli_say(cli, "credential " STR_FMT " is kept\n", STR_ARG(args->words[0]));
    }
    buf_done(&body);
    return failed;
}

/* ---- delete ---- */

int run_credential_delete(struct cli *cli, const struct args *args)
{
    const struct doc *d;
    struct answer answer;
    struct err err;
    int failed = fetch(cli, args, &d);
    if (failed) {
        return failed;
    }
    while (d != NULL && !str_eq(view_raw(doc_get(d, STR("meta")), "name"), args->words[0])) {
        d = own_from(args, d->next);
    }
    if (d == NULL) {
        err_set(&err, STATUS_UNKNOWN, "you have no credential \"" STR_FMT "\"",
                STR_ARG(args->words[0]));
        err_hint(&err, "weir my-credential list shows those there are");
        return cli_fail(cli, &err, NULL);
    }
    const struct doc *meta = doc_get(d, STR("meta"));
    struct request r = {.method = "DELETE",
                        .path = arena_printf(&cli->arena, CREDENTIALS "/" STR_FMT "/" STR_FMT,
                                             STR_ARG(kind_named(view_raw(meta, "kind"))->path),
                                             STR_ARG(view_raw(meta, "id")))};
    if (client_call(&cli->client, &r, &answer, &err) != STATUS_OK) {
        return cli_fail(cli, &err, answer.body);
    }
    cli_say(cli, "credential " STR_FMT " is gone\n", STR_ARG(args->words[0]));
    return 0;
}

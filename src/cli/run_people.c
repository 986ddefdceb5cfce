// SPDX-License-Identifier: Apache-2.0
// run_people: users, service accounts, access keys, roles, access rules. They are alike but for the
// paths and the members of their answers, so one table says what each is.
#include "cli/run.h"

#include <string.h>

#include "base/check.h"
#include "cli/listing.h"
#include "cli/unit.h"
#include "cli/view.h"
#include "codec/json.h"

enum { BODY_BYTES_MAX = 64 * 1024, COLUMNS_MAX = 8 };
enum shows { SHOWS_TEXT, SHOWS_TIME, SHOWS_LIST };

struct noun {
    const char *word;     /* of the command */
    const char *title;    /* in sentences */
    const char *path;     /* of the list */
    const char *items;    /* member that has it; NULL: the answer is the list */
    const char *name;     /* member by which it is named */
    const char *set_name; /* member that names a new one */
    const char *secret;   /* member of the answer that is shown once */
    const char *renews;   /* below the path of one: makes another secret */
    struct column columns[COLUMNS_MAX];
    struct {
        const char *member;
        enum shows shows;
    } cells[COLUMNS_MAX];
    uint32_t columns_count;
};

static const struct noun nouns[] = {
    {"user",
     "user",            "/api/v1/users",
     NULL,          "username",
     "email", "tempPassword",
     "password", {{"user", "USER", 0},
      {"groups", "GROUPS", COLUMN_FLEX},
      {"last-login", "LAST LOGIN", 0},
      {"created", "CREATED", COLUMN_SPARE},
      {"by", "BY", COLUMN_SPARE},
      {"id", "ID", COLUMN_EXTRA}},
     {{"username", SHOWS_TEXT},
      {"groups", SHOWS_LIST},
      {"lastLogin", SHOWS_TIME},
      {"createdAt", SHOWS_TIME},
      {"createdBy", SHOWS_TEXT},
      {"id", SHOWS_TEXT}},
     6},
    {"service-account",
     "service account", "/api/v1/service-accounts",
     NULL,          "name",
     "name",  "clientSecret",
     "secret",   {{"name", "NAME", 0},
      {"client-id", "CLIENT ID", 0},
      {"enabled", "ENABLED", 0},
      {"last-login", "LAST LOGIN", 0},
      {"created", "CREATED", COLUMN_SPARE},
      {"by", "BY", COLUMN_SPARE},
      {"id", "ID", COLUMN_EXTRA}},
     {{"name", SHOWS_TEXT},
      {"clientId", SHOWS_TEXT},
      {"enabled", SHOWS_TEXT},
      {"lastLogin", SHOWS_TIME},
      {"createdAt", SHOWS_TIME},
      {"createdBy", SHOWS_TEXT},
      {"id", SHOWS_TEXT}},
     7},
    {"access-key",
     "access key",      "/api/v1/access-keys",
     "accessKeys",  "name",
     "name",  "clientSecret",
     "secret",   {{"name", "NAME", 0},
      {"client-id", "CLIENT ID", 0},
      {"last-login", "LAST LOGIN", 0},
      {"created", "CREATED", COLUMN_SPARE},
      {"id", "ID", COLUMN_EXTRA}},
     {{"name", SHOWS_TEXT},
      {"clientId", SHOWS_TEXT},
      {"lastLogin", SHOWS_TIME},
      {"createdAt", SHOWS_TIME},
      {"id", SHOWS_TEXT}},
     5},
    {"role",
     "role",            "/api/v1/authorization/roles",
     NULL,          "name",
     NULL,    NULL,
     NULL,       {{"name", "ROLE", 0},
      {"description", "MAY", COLUMN_FLEX},
      {"custom", "CUSTOM", COLUMN_SPARE},
      {"id", "ID", COLUMN_EXTRA}},
     {{"name", SHOWS_TEXT},
      {"description", SHOWS_TEXT},
      {"custom", SHOWS_TEXT},
      {"id", SHOWS_TEXT}},
     4},
    {"access-rule",
     "access rule",     "/api/v1/authorization/access-rules",
     "accessRules", "id",
     NULL,    NULL,
     NULL,       {{"id", "ID", COLUMN_RIGHT},
      {"kind", "KIND", 0},
      {"subject", "WHO", 0},
      {"role", "ROLE", 0},
      {"scope-kind", "AT", 0},
      {"scope", "SCOPE", 0},
      {"by", "BY", COLUMN_SPARE},
      {"created", "CREATED", COLUMN_EXTRA}},
     {{"id", SHOWS_TEXT},
      {"subjectType", SHOWS_TEXT},
      {"subjectId", SHOWS_TEXT},
      {"roleName", SHOWS_TEXT},
      {"scopeType", SHOWS_TEXT},
      {"scopeName", SHOWS_TEXT},
      {"createdBy", SHOWS_TEXT},
      {"createdAt", SHOWS_TIME}},
     8},
};

static const struct noun *noun_named(struct str word)
{
    for (uint32_t i = 0; i < COUNT_OF(nouns); i++) {
        if (str_eq(str_from_c(nouns[i].word), word)) {
            return &nouns[i];
        }
    }
    check_fail(__FILE__, __LINE__, "a command of no noun");
}

static const struct noun *noun_of(const struct args *args)
{
    struct str path = str_from_c(args->command->path);
    return noun_named(str_sub(path, 0, str_find(path, ' ')));
}

static const struct doc *items_of(const struct noun *n, const struct doc *body)
{
    static const struct doc none = {.kind = DOC_LIST};
    const struct doc *items = n->items != NULL ? doc_get(body, str_from_c(n->items)) : body;
    return items != NULL ? items : &none;
}

/* ---- lists ---- */

int run_people_list(struct cli *cli, const struct args *args)
{
    const struct noun *n = noun_of(args);
    struct answer answer;
    struct table t;
    int failed = listing_get(cli, str_from_c(n->path), &answer);
    if (failed || listing_form(cli, args, items_of(n, answer.body), &failed)) {
        return failed;
    }
    failed = listing_begin(cli, args, n->word, n->columns, n->columns_count, &t);
    if (failed) {
        return failed;
    }
    for (const struct doc *d = items_of(n, answer.body)->child; d != NULL; d = d->next) {
        uint32_t row = table_row(&t, ROW_NONE);
        for (uint32_t c = 0; c < n->columns_count; c++) {
            const char *member = n->cells[c].member;
            enum shows shows = n->cells[c].shows;
            table_set(&t, row, c,
                      shows == SHOWS_TIME ? view_clock(&cli->arena, d, member)
                      : shows == SHOWS_LIST
                          ? view_join(&cli->arena, doc_get(d, str_from_c(member)), ", ")
                          : view_text(d, member));
        }
    }
    return listing_print(cli, &t);
}

/* ---- one of them ---- */

// Finds it by name, or by its id. 0, or the exit status after the error was written.
static int find(struct cli *cli, const struct noun *n, struct str name, const struct doc **found)
{
    struct answer answer;
    int failed = listing_get(cli, str_from_c(n->path), &answer);
    if (failed) {
        return failed;
    }
    for (const struct doc *d = items_of(n, answer.body)->child; d != NULL; d = d->next) {
        if (str_eq(view_raw(d, n->name), name) || str_eq(view_raw(d, "id"), name)) {
            *found = d;
            return 0;
        }
    }
    struct err err;
    err_set(&err, STATUS_UNKNOWN, "there is no %s \"" STR_FMT "\"", n->title, STR_ARG(name));
    err_hint(&err, "weir %s list shows those there are", n->word);
    return cli_fail(cli, &err, NULL);
}

static struct str path_of(struct cli *cli, const struct noun *n, const struct doc *one,
                          const char *below)
{
    return arena_printf(&cli->arena, "%s/" STR_FMT "%s%s", n->path, STR_ARG(view_raw(one, "id")),
                        below[0] != 0 ? "/" : "", below);
}

static int send(struct cli *cli, const char *method, struct str path, struct buf *body,
                struct answer *answer)
{
    struct err err;
    struct request r = {.method = method, .path = path};
    if (body != NULL) {
        r.type = "application/json";
        r.body = arena_str(&cli->arena, buf_view(body));
        buf_done(body);
    }
    enum status status = client_call(&cli->client, &r, answer, &err);
    client_next_key(&cli->client);
    return status == STATUS_OK ? 0 : cli_fail(cli, &err, answer->body);
}

// What is shown once, with what it is for.
static void say_secret(struct cli *cli, const struct noun *n, const struct doc *body)
{
    struct str id = view_raw(body, "clientId");
    if (id.len > 0) {
        printf("client id  " STR_FMT "\n", STR_ARG(id));
    }
    printf("%s   " STR_FMT "\n", strcmp(n->secret, "tempPassword") == 0 ? "password" : "secret  ",
           STR_ARG(view_text(body, n->secret)));
    cli_say(cli, "It is shown this once.\n");
}

static void begin(struct buf *body, struct jw *w)
{
    buf_init(body, BODY_BYTES_MAX);
    jw_init(w, body, false);
    jw_object_begin(w);
}

static void write_groups(struct jw *w, const struct str *names, uint32_t count)
{
    jw_key(w, STR("groups"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < count; i++) {
        jw_string(w, names[i]);
    }
    jw_array_end(w);
}

int run_people_create(struct cli *cli, const struct args *args)
{
    const struct noun *n = noun_of(args);
    struct answer answer;
    struct buf body;
    struct jw w;
    begin(&body, &w);
    jw_member_string(&w, str_from_c(n->set_name), args->words[0]);
    if (args->words_count > 1) {
        write_groups(&w, args->words + 1, args->words_count - 1);
    }
    jw_object_end(&w);
    int failed = send(cli, "POST", str_from_c(n->path), &body, &answer);
    if (failed) {
        return failed;
    }
    if (cli_form(cli, args) != FORM_TABLE) {
        return cli_print(cli, cli_form(cli, args), answer.body);
    }
    cli_say(cli, "%s " STR_FMT " is there.\n", n->title, STR_ARG(args->words[0]));
    say_secret(cli, n, answer.body);
    return 0;
}

int run_people_renew(struct cli *cli, const struct args *args)
{
    const struct noun *n = noun_of(args);
    const struct doc *one = NULL;
    struct answer answer;
    int failed = find(cli, n, args->words[0], &one);
    failed = failed ? failed : send(cli, "POST", path_of(cli, n, one, n->renews), NULL, &answer);
    if (failed) {
        return failed;
    }
    if (cli_form(cli, args) != FORM_TABLE) {
        return cli_print(cli, cli_form(cli, args), answer.body);
    }
    say_secret(cli, n, answer.body);
    return 0;
}

int run_people_delete(struct cli *cli, const struct args *args)
{
    const struct noun *n = noun_of(args);
    for (uint32_t i = 0; i < args->words_count; i++) {
        const struct doc *one = NULL;
        struct answer answer;
        int failed = find(cli, n, args->words[i], &one);
        failed = failed ? failed : send(cli, "DELETE", path_of(cli, n, one, ""), NULL, &answer);
        if (failed) {
            return failed;
        }
        cli_say(cli, "%s " STR_FMT " is gone.\n", n->title, STR_ARG(args->words[i]));
    }
    return 0;
}

int run_user_groups(struct cli *cli, const struct args *args)
{
    const struct noun *n = noun_of(args);
    const struct doc *one = NULL;
    struct answer answer;
    struct buf body;
    struct jw w;
    int failed = find(cli, n, args->words[0], &one);
    if (failed) {
        return failed;
    }
    begin(&body, &w);
    write_groups(&w, args->words + 1, args->words_count - 1);
    jw_object_end(&w);
    failed = send(cli, "PUT", path_of(cli, n, one, "groups"), &body, &answer);
    if (!failed) {
        cli_say(cli, STR_FMT " is in %u group%s now.\n", STR_ARG(args->words[0]),
                args->words_count - 1, args->words_count == 2 ? "" : "s");
    }
    return failed;
}

int run_role_describe(struct cli *cli, const struct args *args)
{
    const struct doc *role = NULL;
    int failed = find(cli, noun_named(STR("role")), args->words[0], &role);
    if (failed) {
        return failed;
    }
    if (cli_form(cli, args) != FORM_TABLE) {
        return cli_print(cli, cli_form(cli, args), role);
    }
    listing_title(cli, arena_cstr(&cli->arena, view_text(role, "name")));
    listing_pair(cli, "May", view_text(role, "description"));
    listing_pair(cli, "Custom", view_text(role, "custom"));
    listing_title(cli, "Permissions");
    const struct doc *all = doc_get(role, STR("permissions"));
    for (const struct doc *d = all != NULL ? all->child : NULL; d != NULL; d = d->next) {
        listing_pair(cli, arena_cstr(&cli->arena, view_text(d, "displayName")),
                     view_join(&cli->arena, doc_get(d, STR("actions")), ", "));
    }
    return 0;
}

/* ---- access rules ---- */

// One of several flags, of which exactly one is wanted; its place, or -1 after the error was written.
static int one_flag(struct cli *cli, const struct args *args, const char *const *flags,
                    uint32_t count, const char *question, const char *hint)
{
    int chosen = -1;
    uint32_t given = 0;
    for (uint32_t i = 0; i < count; i++) {
        chosen = args_has(args, flags[i]) ? (int)i : chosen;
        given += args_has(args, flags[i]);
    }
    if (given != 1) {
        struct err err;
        err_set(&err, STATUS_INVALID, "%s", question);
        err_hint(&err, "%s", hint);
        cli_usage(cli, args, &err);
        return -1;
    }
    return chosen;
}

static int scope_id(struct cli *cli, const struct args *args, const char *scope, struct str *id)
{
    if (strcmp(scope, "tenant") == 0) {
        *id = STR("1");
        return 0;
    }
    if (strcmp(scope, "cluster") != 0) {
        return unit_id(cli, strcmp(scope, "project") == 0 ? "projects" : "departments",
                       args_text(args, scope), id);
    }
    return unit_cluster(cli, id);
}

int run_rule_create(struct cli *cli, const struct args *args)
{
    static const char *const subjects[] = {"user", "group", "service-account"};
    static const char *const scopes[] = {"tenant", "cluster", "department", "project"};
    int subject = one_flag(cli, args, subjects, COUNT_OF(subjects), "whose rule is it?",
                           "give one of --user, --group, --service-account");
    int scope = subject < 0 ? -1
                            : one_flag(cli, args, scopes, COUNT_OF(scopes), "where does it hold?",
                                       "give one of --tenant, --cluster, --department, --project");
    if (scope < 0) {
        return EXIT_USAGE;
    }
    struct str name = args_text(args, subjects[subject]);
    struct str scope_text = STR("");
    const struct doc *role = NULL;
    int failed = find(cli, noun_named(STR("role")), args_text(args, "role"), &role);
    failed = failed ? failed : scope_id(cli, args, scopes[scope], &scope_text);
    if (failed) {
        return failed;
    }
    struct answer answer;
    struct buf body;
    struct jw w;
    begin(&body, &w);
    jw_member_string(&w, STR("subjectType"), str_from_c(subjects[subject]));
    jw_member_string(&w, STR("subjectId"), name);
    jw_member_i64(&w, STR("roleId"), view_i64(role, "id", 0));
    jw_member_string(&w, STR("scopeType"), str_from_c(scopes[scope]));
    jw_member_string(&w, STR("scopeId"), scope_text);
    jw_object_end(&w);
    failed = send(cli, "POST", str_from_c(noun_of(args)->path), &body, &answer);
    if (failed) {
        return failed;
    }
    if (cli_form(cli, args) != FORM_TABLE) {
        return cli_print(cli, cli_form(cli, args), answer.body);
    }
    cli_say(cli, STR_FMT " is " STR_FMT " at %s " STR_FMT " (rule " STR_FMT ").\n",
            STR_ARG(args_text(args, subjects[subject])), STR_ARG(view_text(role, "name")),
            scopes[scope], STR_ARG(view_text(answer.body, "scopeName")),
            STR_ARG(view_text(answer.body, "id")));
    return 0;
}

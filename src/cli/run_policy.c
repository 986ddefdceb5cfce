// SPDX-License-Identifier: Apache-2.0
// run_policy: what is filled in for workloads and what is allowed them, by kind and scope. A file is the
// policy itself, as the API has it: defaults, rules, imposedAssets.
#include "cli/run.h"

#include <fcntl.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/form.h"
#include "cli/listing.h"
#include "cli/unit.h"
#include "cli/view.h"
#include "codec/json.h"
#include "io/file.h"
#include "io/yaml.h"
#include "policy/policy.h"

enum { TEXT_MAX = 1 << 20 };
#define POLICIES "/api/v2/policy"

enum policy_column { P_KIND, P_NAME, P_SCOPE, P_BY, P_CHANGED };
static const struct column policy_columns[] = {
    {"kind",    "KIND",    0           },
    {"name",    "NAME",    0           },
    {"scope",   "SCOPE",   0           },
    {"by",      "BY",      COLUMN_SPARE},
    {"changed", "CHANGED", COLUMN_SPARE},
};
enum effective_column { E_FIELD, E_DEFAULT, E_RULES, E_FROM };
static const struct column effective_columns[] = {
    {"field",   "FIELD",   0},
    {"default", "DEFAULT", 0},
    {"rules",   "RULES",   0},
    {"from",    "FROM",    0},
};

/* ---- which ---- */

static int kind_path(struct cli *cli, const struct args *args, struct str *path)
{
    static const struct str kinds[][2] = {
        {STRS("training"),    STRS(POLICIES "/trainings")  },
        {STRS("workspace"),   STRS(POLICIES "/workspaces") },
        {STRS("inference"),   STRS(POLICIES "/inferences") },
        {STRS("distributed"), STRS(POLICIES "/distributed")},
    };
    struct err err;
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (str_eq(args->words[0], kinds[i][0])) {
            *path = kinds[i][1];
            return 0;
        }
    }
    err_set(&err, STATUS_INVALID, "\"" STR_FMT "\" is no kind of workload",
            STR_ARG(args->words[0]));
    err_hint(&err, "expected training, workspace, inference or distributed");
    return cli_usage(cli, args, &err);
}

struct where {
    const char *scope, *member; /* "project", "projectId" */
    struct str id, words;       /* words: for people */
};

/* Where no flag says it, the project of --project or of the settings. */
static int read_where(struct cli *cli, const struct args *args, struct where *w)
{
    struct str department = args_text(args, "department"), project = cli_project(cli, args);
    uint32_t given = (uint32_t)args_has(args, "tenant") + (uint32_t)args_has(args, "cluster") +
                     (uint32_t)args_has(args, "department") + (uint32_t)args_has(args, "project");
    if (given > 1 || (given == 0 && project.len == 0)) {
        struct err err;
        err_set(&err, STATUS_INVALID, "where does it hold?");
        err_hint(&err, "give one of --tenant, --cluster, --department, --project");
        return cli_usage(cli, args, &err);
    }
    if (args_has(args, "tenant")) {
        *w = (struct where){"tenant", NULL, STR(""), STR("the tenant")};
        return 0;
    }
    if (args_has(args, "cluster")) {
        *w = (struct where){"cluster", "clusterId", STR(""), STR("the cluster")};
        return unit_cluster(cli, &w->id);
    }
    bool is_project = !args_has(args, "department");
    struct str name = is_project ? project : department;
    *w = (struct where){is_project ? "project" : "department",
                        is_project ? "projectId" : "departmentId", STR(""),
                        arena_printf(&cli->arena, "%s " STR_FMT,
                                     is_project ? "project" : "department", STR_ARG(name))};
    return unit_id(cli, is_project ? "projects" : "departments", name, &w->id);
}

static struct str query_of(struct cli *cli, struct str path, const struct where *w)
{
    path = client_query(&cli->client, path, "scope", str_from_c(w->scope));
    return w->member != NULL ? client_query(&cli->client, path, w->member, w->id) : path;
}

static int fetch(struct cli *cli, const struct args *args, struct where *w, struct answer *answer)
{
    struct str path;
    int failed = kind_path(cli, args, &path);
    failed = failed ? failed : read_where(cli, args, w);
    return failed ? failed : listing_get(cli, query_of(cli, path, w), answer);
}

/* ---- showing ---- */

// "project team-a", of a meta or of where a rule is from.
static struct str scope_words(struct cli *cli, const struct doc *d)
{
    struct str scope = view_raw(d, "scope");
    struct str name = str_eq(scope, STR("project"))      ? view_raw(d, "projectName")
                      : str_eq(scope, STR("department")) ? view_raw(d, "departmentName")
                                                         : STR("");
    return name.len == 0
               ? scope
               : arena_printf(&cli->arena, STR_FMT " " STR_FMT, STR_ARG(scope), STR_ARG(name));
}

int run_policy_list(struct cli *cli, const struct args *args)
{
    struct answer answer;
    struct table t;
    int failed = listing_get(cli, STR(POLICIES), &answer);
    const struct doc *all = failed ? NULL : doc_get(answer.body, STR("policies"));
    if (failed || (all != NULL && listing_form(cli, args, all, &failed))) {
        return failed;
    }
    failed = listing_begin(cli, args, "policy", policy_columns, COUNT_OF(policy_columns), &t);
    for (const struct doc *d = !failed && all != NULL ? all->child : NULL; d != NULL; d = d->next) {
        const struct doc *meta = doc_get(d, STR("meta"));
        uint32_t at = table_row(&t, ROW_NONE);
        table_set(&t, at, P_KIND, view_text(d, "type"));
        table_set(&t, at, P_NAME, view_text(meta, "name"));
        table_set(&t, at, P_SCOPE, scope_words(cli, meta));
        table_set(&t, at, P_BY, view_text(meta, "updatedBy"));
        table_set(&t, at, P_CHANGED, view_clock(&cli->arena, meta, "updatedAt"));
    }
    return failed ? failed : listing_print(cli, &t);
}

int run_policy_get(struct cli *cli, const struct args *args)
{
    struct answer answer;
    struct where w;
    int failed = fetch(cli, args, &w, &answer);
    if (failed) {
        return failed;
    }
    const struct doc *policy = doc_get(answer.body, STR("policy"));
    if (policy == NULL) {
        struct err err;
        err_set(&err, STATUS_UNKNOWN, STR_FMT " has no policy of its own for this kind",
                STR_ARG(w.words));
        err_hint(&err, "weir policy effective shows what holds there");
        return cli_fail(cli, &err, NULL);
    }
    return cli_print(cli, cli_form(cli, args) == FORM_JSON ? FORM_JSON : FORM_YAML, policy);
}

static struct str json_text(struct cli *cli, const struct doc *d)
{
    struct buf text;
    struct jw w;
    if (d->child == NULL && d->kind == DOC_STRING) {
        return d->text;
    }
    buf_init(&text, TEXT_MAX);
    jw_init(&w, &text, false);
    jw_doc(&w, d);
    struct str out = arena_str(&cli->arena, buf_view(&text));
    buf_done(&text);
    return out;
}

// "max 4, required": what is true is said by its name alone.
static struct str rule_words(struct cli *cli, const struct doc *rule)
{
    struct str out = STR("");
    for (const struct doc *d = rule->child; d != NULL; d = d->next) {
        bool plain = d->kind == DOC_BOOL && d->boolean;
        if (!str_eq(d->key, STR("sourceOfRule"))) {
            out = arena_printf(&cli->arena, STR_FMT "%s" STR_FMT "%s" STR_FMT, STR_ARG(out),
                               out.len > 0 ? ", " : "", STR_ARG(d->key), plain ? "" : " ",
                               STR_ARG(plain ? STR("") : json_text(cli, d)));
        }
    }
    return out;
}

struct rows {
    struct cli *cli;
    struct table *table;
    const struct doc *sources; /* of defaults */
};

static void rule_row(struct rows *r, struct str field, const struct doc *rule,
                     const struct doc *value)
{
    uint32_t at = table_row(r->table, ROW_NONE);
    table_set(r->table, at, E_FIELD, field);
    table_set(r->table, at, E_DEFAULT, value != NULL ? json_text(r->cli, value) : STR("-"));
    table_set(r->table, at, E_RULES, rule_words(r->cli, rule));
    table_set(r->table, at, E_FROM, scope_words(r->cli, doc_get(rule, STR("sourceOfRule"))));
}

static void default_row(struct rows *r, struct str field, const struct doc *value)
{
    const struct doc *from = r->sources != NULL ? doc_get(r->sources, field) : NULL;
    uint32_t at = table_row(r->table, ROW_NONE);
    table_set(r->table, at, E_FIELD, field);
    table_set(r->table, at, E_DEFAULT, json_text(r->cli, value));
    table_set(r->table, at, E_RULES, STR("-"));
    table_set(r->table, at, E_FROM, scope_words(r->cli, from));
}

static void field_rows(struct rows *r, struct str field, const struct doc *rule,
                       const struct doc *value)
{
    const struct doc *instances = doc_get(rule, STR("instances"));
    const struct doc *attributes = doc_get(rule, STR("attributes"));
    bool items = instances != NULL || attributes != NULL;
    if (value != NULL && (rule == NULL || items)) {
        default_row(r, field, value);
    }
    if (rule != NULL && !items) {
        rule_row(r, field, rule, value);
    }
    if (instances != NULL) {
        rule_row(r, field, instances, NULL);
    }
    for (const struct doc *d = attributes != NULL ? attributes->child : NULL; d; d = d->next) {
        rule_row(
            r, arena_printf(&r->cli->arena, STR_FMT "[]." STR_FMT, STR_ARG(field), STR_ARG(d->key)),
            d, NULL);
    }
}

static struct str path_of(struct rows *r, struct str prefix, struct str key)
{
    return prefix.len == 0
               ? key
               : arena_printf(&r->cli->arena, STR_FMT "." STR_FMT, STR_ARG(prefix), STR_ARG(key));
}

// Fields with rules, then those that have a default only; a section is gone into.
static void map_rows(struct rows *r, struct str prefix, const struct doc *rules,
                     const struct doc *defaults, int depth)
{
    const struct doc *maps[] = {rules, defaults};
    for (size_t i = 0; i < COUNT_OF(maps); i++) {
        for (const struct doc *d = maps[i] != NULL ? maps[i]->child : NULL; d; d = d->next) {
            const struct doc *rule = doc_get(rules, d->key), *value = doc_get(defaults, d->key);
            struct str path = path_of(r, prefix, d->key);
            bool inside = policy_is_section(d->key) || str_eq(d->key, STR("master")) ||
                          str_eq(d->key, STR("worker"));
            if (i == 1 && rule != NULL) {
                continue;
            }
            if (inside && depth > 0) {
                map_rows(r, path, rule, value, depth - 1);
            } else {
                field_rows(r, path, rule, value);
            }
        }
    }
}

int run_policy_effective(struct cli *cli, const struct args *args)
{
    struct answer answer;
    struct where w;
    struct table t;
    int failed = fetch(cli, args, &w, &answer);
    const struct doc *effective = failed ? NULL : doc_get(answer.body, STR("effective"));
    if (failed || (effective != NULL && listing_form(cli, args, effective, &failed))) {
        return failed;
    }
    failed = listing_begin(cli, args, "effective", effective_columns, COUNT_OF(effective_columns),
                           &t);
    if (failed) {
        return failed;
    }
    struct rows r = {cli, &t, doc_get(answer.body, STR("sourceOfDefaults"))};
    map_rows(&r, STR(""), doc_get(effective, STR("rules")), doc_get(effective, STR("defaults")), 2);
    return listing_print(cli, &t);
}

/* ---- changing ---- */

static void say_problem(struct cli *cli, struct str file, const struct doc *d, struct str field,
                        struct str text, struct str hint)
{
    text = view_harmless(&cli->arena, text);
    field = view_harmless(&cli->arena, field);
    hint = view_harmless(&cli->arena, hint);
    uint32_t line = d->key_line > 0 ? d->key_line : d->line;
    uint32_t col = d->key_line > 0 ? d->key_col : d->col;
    fprintf(stderr, STR_FMT ":%u:%u: " STR_FMT ": " STR_FMT "%s" STR_FMT "\n", STR_ARG(file), line,
            col, STR_ARG(field), STR_ARG(text), hint.len > 0 ? "; " : "", STR_ARG(hint));
}

static int read_file(struct cli *cli, struct str name, const struct doc **root)
{
    struct err err;
    struct problems problems;
    bool is_stdin = str_eq(name, STR("-"));
    CLEANUP(buf_done) struct buf bytes;
    buf_init(&bytes, TEXT_MAX);
    problems_init(&problems, &cli->arena);
    enum status status = file_read(
        AT_FDCWD, is_stdin ? "/dev/stdin" : arena_cstr(&cli->arena, name), &bytes, &err);
    if (status != STATUS_OK) {
        err_hint(&err,
                 "give the path of a YAML or JSON file of at most 1 MiB, or - for standard input");
        return cli_fail(cli, &err, NULL);
    }
    if (yaml_parse(arena_str(&cli->arena, buf_view(&bytes)), &cli->arena, root, &problems) !=
        STATUS_OK) {
        for (uint32_t i = 0; i < problems.count; i++) {
            const struct problem *p = &problems.items[i];
            struct doc at = {.line = p->line, .col = p->col};
            say_problem(cli, name, &at, STR("YAML"), p->text, p->hint);
        }
        return EXIT_FAILED;
    }
    return 0;
}

static struct str body_of(struct cli *cli, const struct args *args, const struct where *where,
                          const struct doc *policy)
{
    struct buf body;
    struct jw w;
    struct str name = args_text(args, "name");
    buf_init(&body, 2 * TEXT_MAX);
    jw_init(&w, &body, false);
    jw_object_begin(&w);
    jw_key(&w, STR("meta"));
    jw_object_begin(&w);
    jw_member_string(&w, STR("name"), name.len > 0 ? name : args->words[0]);
    jw_member_string(&w, STR("scope"), str_from_c(where->scope));
    if (where->member != NULL && strcmp(where->member, "projectId") == 0) {
        jw_key(&w, STR("projectId"));
        jw_raw(&w, where->id);
    } else if (where->member != NULL) {
        jw_member_string(&w, str_from_c(where->member), where->id);
    }
    jw_object_end(&w);
    jw_key(&w, STR("policy"));
    jw_doc(&w, policy);
    jw_object_end(&w);
    struct str text = arena_str(&cli->arena, buf_view(&body));
    buf_done(&body);
    return text;
}

// The place in the file of a field that the server names, as far as it is there; NULL: it is none of it.
static const struct doc *place_of(const struct doc *root, struct str field)
{
    static const struct str prefix = STRS("policy.");
    const struct doc *d = NULL;
    if (!str_starts(field, prefix)) {
        return NULL;
    }
    field = str_sub(field, prefix.len, field.len);
    while (field.len > 0 && (d = doc_at(root, field)) == NULL) {
        while (field.len > 0 && field.ptr[field.len - 1] != '.') {
            field.len--;
        }
        field.len -= field.len > 0;
    }
    return d;
}

// Every mistake with its line; what is none of the file's is told as any other error.
static int say_refused(struct cli *cli, const struct args *args, const struct doc *root,
                       const struct err *err, const struct doc *body)
{
    const struct doc *all = doc_get(body, STR("problems"));
    const struct doc *one = place_of(root, str_from_c(err->field));
    struct str file = args->words[1];
    if (one == NULL) {
        return cli_fail(cli, err, body);
    }
    fflush(stdout);
    if (all == NULL) {
        say_problem(cli, file, one, str_from_c(err->field), str_from_c(err->text),
                    str_from_c(err->hint));
    }
    for (const struct doc *d = all != NULL ? all->child : NULL; d != NULL; d = d->next) {
        const struct doc *at = place_of(root, view_raw(d, "field"));
        say_problem(cli, file, at != NULL ? at : root, view_raw(d, "field"), view_raw(d, "text"),
                    view_raw(d, "hint"));
    }
    return EXIT_FAILED;
}

int run_policy_apply(struct cli *cli, const struct args *args)
{
    struct str path;
    struct where where;
    const struct doc *root = NULL;
    struct answer answer;
    struct err err;
    bool only_check = args_has(args, "validate-only");
    int failed = kind_path(cli, args, &path);
    failed = failed ? failed : read_where(cli, args, &where);
    failed = failed ? failed : read_file(cli, args->words[1], &root);
    if (failed) {
        return failed;
    }
    if (only_check) {
        path = client_query(&cli->client, path, "validateOnly", STR("true"));
    }
    struct request r = {.method = "PUT",
                        .path = path,
                        .type = "application/json",
                        .body = body_of(cli, args, &where, root)};
    if (client_call(&cli->client, &r, &answer, &err) != STATUS_OK) {
        return say_refused(cli, args, root, &err, answer.body);
    }
    if (!listing_form(cli, args, answer.body, &failed)) {
        cli_say(cli, "The policy of " STR_FMT " for " STR_FMT " workloads is %s.\n",
                STR_ARG(where.words), STR_ARG(args->words[0]),
                only_check ? "as it should be" : "set");
    }
    return failed;
}

int run_policy_delete(struct cli *cli, const struct args *args)
{
    struct str path;
    struct where where;
    struct answer answer;
    struct err err;
    int failed = kind_path(cli, args, &path);
    failed = failed ? failed : read_where(cli, args, &where);
    if (failed) {
        return failed;
    }
    struct request r = {.method = "DELETE", .path = query_of(cli, path, &where)};
    if (client_call(&cli->client, &r, &answer, &err) != STATUS_OK) {
        return cli_fail(cli, &err, answer.body);
    }
    cli_say(cli, "The policy of " STR_FMT " for " STR_FMT " workloads is gone.\n",
            STR_ARG(where.words), STR_ARG(args->words[0]));
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// run_unit: departments and projects, made and removed one by one. Many at once: weir plan apply.
#include "cli/run.h"

#include "base/num.h"
#include "cli/unit.h"
#include "cli/view.h"
#include "codec/json.h"

enum { BODY_BYTES_MAX = 64 * 1024, DECIMAL_SCALE = 6 };

struct unit {
    const char *word, *list;
};

static const struct unit *unit_of(const struct args *args)
{
    static const struct unit units[] = {
        {"department", "departments"},
        {"project",    "projects"   }
    };
    return &units[str_starts(str_from_c(args->command->path), STR("project"))];
}

/* ---- --resources ---- */

/* nodepool=a100,gpu-deserved=4,gpu-limit=8,priority=High */
struct quota_words {
    struct str pool, priority;
    int64_t deserved, limit; /* millionths */
};

static bool read_part(struct str part, struct quota_words *q)
{
    uint32_t eq = str_find(part, '=');
    struct str key = str_sub(part, 0, eq);
    struct str value = eq < part.len ? str_sub(part, eq + 1, part.len) : STR("");
    if (str_eq(key, STR("nodepool"))) {
        q->pool = value;
    } else if (str_eq(key, STR("priority"))) {
        q->priority = value;
    } else if (str_eq(key, STR("gpu-deserved"))) {
        return num_parse_decimal(value, DECIMAL_SCALE, &q->deserved);
    } else if (str_eq(key, STR("gpu-limit"))) {
        return num_parse_decimal(value, DECIMAL_SCALE, &q->limit);
    } else {
        return false;
    }
    return value.len > 0;
}

static enum status read_quota(struct str text, struct quota_words *q, struct err *err)
{
    struct str rest = text, part;
    *q = (struct quota_words){.pool = STR("default"), .limit = -1000000};
    while (str_split(&rest, ',', &part)) {
        if (!read_part(part, q)) {
            enum status s = err_set(err, STATUS_INVALID, "cannot read \"" STR_FMT "\"",
                                    STR_ARG(part));
            err_field(err, "--resources");
            err_hint(err, "for instance: --resources nodepool=default,gpu-deserved=4,gpu-limit=8,"
                          "priority=Medium; a limit of -1 is none");
            return s;
        }
    }
    return STATUS_OK;
}

static enum status write_quotas(struct jw *w, const struct args *args, struct err *err)
{
    enum status status = STATUS_OK;
    uint32_t at = 0;
    jw_key(w, STR("resources"));
    jw_array_begin(w);
    for (const struct arg *a;
         status == STATUS_OK && (a = args_next(args, "resources", &at)) != NULL;) {
        struct quota_words q;
        status = read_quota(a->text, &q, err);
        jw_object_begin(w);
        jw_key(w, STR("nodePool"));
        jw_object_begin(w);
        jw_member_string(w, STR("id"), STR(""));
        jw_member_string(w, STR("name"), q.pool);
        jw_object_end(w);
        jw_key(w, STR("gpu"));
        jw_object_begin(w);
        jw_key(w, STR("deserved"));
        jw_decimal(w, q.deserved, DECIMAL_SCALE);
        jw_key(w, STR("limit"));
        jw_decimal(w, q.limit, DECIMAL_SCALE);
        jw_object_end(w);
        if (q.priority.len > 0) {
            jw_member_string(w, STR("priority"), q.priority);
        }
        jw_object_end(w);
    }
    jw_array_end(w);
    return status;
}

/* ---- the commands ---- */

static struct str list_path(struct cli *cli, const struct unit *u)
{
    return arena_printf(&cli->arena, "/api/v1/org-unit/%s", u->list);
}

static void write_text(struct jw *w, const struct args *args, const char *flag, struct str key)
{
    if (command_flag(args->command, str_from_c(flag), 0) != NULL && args_has(args, flag)) {
        jw_member_string(w, key, args_text(args, flag));
    }
}

// What both want to know before: the cluster, and the department where one is named.
static int find_places(struct cli *cli, const struct args *args, struct str *cluster,
                       struct str *parent)
{
    bool below = command_flag(args->command, STR("department"), 0) != NULL;
    int failed = unit_cluster(cli, cluster);
    *parent = STR("");
    if (!failed && below && args_has(args, "department")) {
        failed = unit_id(cli, "departments", args_text(args, "department"), parent);
    }
    return failed;
}

// The server speaks of its members and paths; the user knows flags and commands.
static void name_flag(const struct unit *u, struct err *err)
{
    if (str_starts(str_from_c(err->field), STR("resources"))) {
        err_field(err, "--resources");
        err_hint(err, "weir nodepool list shows the node pools; --help how it is written");
    } else if (str_eq(str_from_c(err->field), STR("requestedNamespace"))) {
        err_field(err, "--namespace");
    } else if (err->status == STATUS_CONFLICT) {
        err_hint(err, "weir %s describe shows it; weir plan apply changes it", u->word);
    }
}

int run_unit_create(struct cli *cli, const struct args *args)
{
    const struct unit *u = unit_of(args);
    struct str cluster, parent;
    struct answer answer = {0};
    struct err err;
    struct buf body;
    struct jw w;
    int failed = find_places(cli, args, &cluster, &parent);
    if (failed) {
        return failed;
    }
    buf_init(&body, BODY_BYTES_MAX);
    jw_init(&w, &body, false);
    jw_object_begin(&w);
    jw_member_string(&w, STR("name"), args->words[0]);
    jw_member_string(&w, STR("clusterId"), cluster);
    if (parent.len > 0) {
        jw_member_string(&w, STR("parentId"), parent);
    }
    write_text(&w, args, "description", STR("description"));
    write_text(&w, args, "namespace", STR("requestedNamespace"));
    enum status status = write_quotas(&w, args, &err);
    jw_object_end(&w);
    if (status != STATUS_OK) {
        buf_done(&body);
        return cli_usage(cli, args, &err);
    }
    struct request r = {.method = "POST",
                        .path = list_path(cli, u),
                        .type = "application/json",
                        .body = arena_str(&cli->arena, buf_view(&body))};
    buf_done(&body);
    if (client_call(&cli->client, &r, &answer, &err) != STATUS_OK) {
        name_flag(u, &err);
        return cli_fail(cli, &err, answer.body);
    }
    if (cli_form(cli, args) != FORM_TABLE) {
        return cli_print(cli, cli_form(cli, args), answer.body);
    }
    cli_say(cli, "%s " STR_FMT " is there.\n", u->word, STR_ARG(args->words[0]));
    return 0;
}

int run_unit_delete(struct cli *cli, const struct args *args)
{
    const struct unit *u = unit_of(args);
    if (!args_has(args, "yes") && !cli_confirm("Delete what is named, and its history?", true)) {
        struct err err;
        err_set(&err, STATUS_INVALID, "nothing was deleted");
        return cli_fail(cli, &err, NULL);
    }
    for (uint32_t i = 0; i < args->words_count; i++) {
        struct str id;
        struct answer answer = {0};
        struct err err;
        int failed = unit_id(cli, u->list, args->words[i], &id);
        if (failed) {
            return failed;
        }
        struct request r = {.method = "DELETE",
                            .path = arena_printf(&cli->arena, STR_FMT "/" STR_FMT,
                                                 STR_ARG(list_path(cli, u)), STR_ARG(id))};
        client_next_key(&cli->client);
        if (client_call(&cli->client, &r, &answer, &err) != STATUS_OK) {
            return cli_fail(cli, &err, answer.body);
        }
        cli_say(cli, "%s " STR_FMT " is gone.\n", u->word, STR_ARG(args->words[i]));
    }
    return 0;
}

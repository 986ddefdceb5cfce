// SPDX-License-Identifier: Apache-2.0
// run_session: whom the server takes you for, settings, and what is written from the command table.
#include "cli/run.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/view.h"
#include "codec/json.h"
#include "io/file.h"

enum { PAGE_BYTES_MAX = 4 << 20 };

static int get(struct cli *cli, struct str path, struct answer *answer)
{
    struct err err;
    if (client_get(&cli->client, path, answer, &err) != STATUS_OK) {
        return cli_fail(cli, &err, answer->body);
    }
    return 0;
}

int run_whoami(struct cli *cli, const struct args *args)
{
    struct answer answer;
    int failed = get(cli, STR("/whoami"), &answer);
    if (failed) {
        return failed;
    }
    enum form form = cli_form(cli, args);
    if (form != FORM_TABLE) {
        return cli_print(cli, form, answer.body);
    }
    printf("User     " STR_FMT, STR_ARG(view_text(answer.body, "user")));
    if (doc_get(answer.body, STR("uid")) != NULL) {
        printf(" (uid " STR_FMT ")", STR_ARG(view_text(answer.body, "uid")));
    }
    printf("\n");
    printf("Roles    " STR_FMT "\n",
           STR_ARG(view_join(&cli->arena, doc_get(answer.body, STR("roles")), ", ")));
    printf("Server   " STR_FMT " (weir " STR_FMT ")\n", STR_ARG(view_text(answer.body, "server")),
           STR_ARG(view_text(answer.body, "version")));
    return 0;
}

int run_version(struct cli *cli, const struct args *args)
{
    struct answer answer;
    struct err err;
    enum status status = client_get(&cli->client, STR("/version"), &answer, &err);
    struct str server = status == STATUS_OK ? view_raw(answer.body, "version") : STR("");
    enum form form = cli_form(cli, args);
    if (form != FORM_TABLE) {
        struct doc second = {
            .kind = server.len > 0 ? DOC_STRING : DOC_NULL, .key = STR("server"), .text = server};
        struct doc first = {.kind = DOC_STRING,
                            .key = STR("client"),
                            .text = str_from_c(WEIR_VERSION),
                            .next = &second};
        struct doc both = {.kind = DOC_MAP, .child = &first, .child_count = 2};
        return cli_print(cli, form, &both);
    }
    printf("Client   %s\n", WEIR_VERSION);
    if (server.len > 0) {
        printf("Server   " STR_FMT "\n", STR_ARG(server));
    } else {
        printf("Server   none answers (%s)\n", err.text);
    }
    return 0;
}

/* Settings. */

int run_config_describe(struct cli *cli, const struct args *args)
{
    enum form form = cli_form(cli, args);
    if (form != FORM_TABLE) {
        return cli_print(cli, form, cli->settings.root);
    }
    struct str project = settings_get(&cli->settings, STR("project"));
    struct str output = settings_get(&cli->settings, STR("output"));
    printf("File      " STR_FMT "/" STR_FMT "\n", STR_ARG(cli->settings.directory),
           STR_ARG(cli->settings.file));
    printf("%s    " STR_FMT "\n", cli->client.at.url.len > 0 ? "Server" : "Socket",
           STR_ARG(client_where(&cli->client)));
    printf("Project   " STR_FMT "\n", STR_ARG(project.len > 0 ? project : STR("-")));
    printf("Output    " STR_FMT "\n", STR_ARG(output.len > 0 ? output : STR("table")));
    const struct doc *columns = doc_get(cli->settings.root, STR("columns"));
    for (const struct doc *d = columns != NULL ? columns->child : NULL; d != NULL; d = d->next) {
        printf("Columns   " STR_FMT ": " STR_FMT "\n", STR_ARG(d->key), STR_ARG(d->text));
    }
    return 0;
}

static int change(struct cli *cli, struct str key, struct str value)
{
    struct err err;
    if (settings_set(&cli->settings, key, value, &err) != STATUS_OK) {
        return cli_fail(cli, &err, NULL);
    }
    cli_say(cli, STR_FMT " is now " STR_FMT "\n", STR_ARG(key), STR_ARG(value));
    return 0;
}

int run_config_set(struct cli *cli, const struct args *args)
{
    static const struct {
        const char *flag;
        struct str key;
    } rows[] = {
        {"output",  STRS("output")               },
        {"project", STRS("project")              },
        {"cp-url",  STRS("control_plane.url")    },
        {"ca-file", STRS("control_plane.ca_file")},
    };
    bool any = false;
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        struct str value = args_text(args, rows[i].flag);
        if (value.len > 0) {
            value = str_eq(str_from_c(rows[i].flag), STR("ca-file")) ? cli->client.at.ca_file
                                                                     : value;
            int failed = change(cli, rows[i].key, value);
            if (failed) {
                return failed;
            }
            any = true;
        }
    }
    if (!any) {
        struct err err;
        err_set(&err, STATUS_INVALID, "nothing to set");
        err_hint(&err, "give --output, --project or --cp-url");
        return cli_usage(cli, args, &err);
    }
    return 0;
}

int run_project_set(struct cli *cli, const struct args *args)
{
    struct answer answer;
    struct str words[] = {STR("projects"), args->words[0]};
    int failed = get(cli, client_path(&cli->client, COUNT_OF(words), words), &answer);
    return failed ? failed : change(cli, STR("project"), args->words[0]);
}

int run_cluster_set(struct cli *cli, const struct args *args)
{
    struct answer answer;
    struct err err;
    struct str name = args->words_count > 0 ? args->words[0] : STR("");
    struct str id = args_text(args, "id");
    if ((name.len > 0) == (id.len > 0)) {
        err_set(&err, STATUS_INVALID, "which cluster?");
        err_hint(&err, "give its NAME, or --id ID");
        return cli_usage(cli, args, &err);
    }
    int failed = get(cli, STR("/api/v1/clusters"), &answer);
    const struct doc *d = failed ? NULL : answer.body->child;
    while (d != NULL &&
           !str_eq(view_raw(d, id.len > 0 ? "uuid" : "name"), id.len > 0 ? id : name)) {
        d = d->next;
    }
    if (!failed && d == NULL) {
        err_set(&err, STATUS_UNKNOWN, "there is no cluster \"" STR_FMT "\"",
                STR_ARG(id.len > 0 ? id : name));
        d = answer.body->child;
        err_hint(&err, "this is \"" STR_FMT "\", " STR_FMT, STR_ARG(view_text(d, "name")),
                 STR_ARG(view_text(d, "uuid")));
        return cli_fail(cli, &err, NULL);
    }
    return failed ? failed : change(cli, STR("cluster.uuid"), view_raw(d, "uuid"));
}

static enum status write_beside(struct cli *cli, const char *path, struct str text, struct err *err)
{
    const char *slash = strrchr(path, '/');
    struct str dir = slash == NULL ? STR(".")
                                   : str_sub(str_from_c(path), 0, (uint32_t)(slash - path) + 1);
    const char *name = arena_cstr(&cli->arena, dir);
    CLEANUP(file_close) int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return err_set(err, STATUS_IO, "%s cannot be opened", name);
    }
    return file_write(fd, slash == NULL ? path : slash + 1, text, 0600, false, err);
}

/* The settings as another file, to be given to others: the address of the server comes along. */
int run_config_generate(struct cli *cli, const struct args *args)
{
    struct err err;
    struct buf text;
    struct jw w;
    if (!args_has(args, "file")) {
        err_set(&err, STATUS_INVALID, "to which file?");
        err_hint(&err, "give -f FILE");
        return cli_usage(cli, args, &err);
    }
    const char *path = arena_cstr(&cli->arena, args_text(args, "file"));
    buf_init(&text, PAGE_BYTES_MAX);
    jw_init(&w, &text, true);
    jw_object_begin(&w);
    for (const struct doc *d = cli->settings.root->child; d != NULL; d = d->next) {
        if (!str_eq(d->key, STR("control_plane"))) {
            jw_key(&w, d->key);
            jw_doc(&w, d);
        }
    }
    if (cli->client.at.url.len > 0) {
        jw_key(&w, STR("control_plane"));
        jw_object_begin(&w);
        jw_member_string(&w, STR("url"), cli->client.at.url);
        jw_object_end(&w);
    }
    jw_object_end(&w);
    buf_char(&text, '\n');
    enum status status = write_beside(cli, path, buf_view(&text), &err);
    buf_done(&text);
    if (status != STATUS_OK) {
        return cli_fail(cli, &err, NULL);
    }
    cli_say(cli, "%s is written\n", path);
    return 0;
}

/* What is written from the table. */

static int write_text(struct buf *text)
{
    cli_write(buf_view(text));
    buf_done(text);
    return 0;
}

int run_help(struct cli *cli, const struct args *args)
{
    struct str topic = STR("");
    for (uint32_t i = 0; i < args->words_count; i++) {
        topic = arena_printf(&cli->arena, STR_FMT "%s" STR_FMT, STR_ARG(topic), i > 0 ? " " : "",
                             STR_ARG(args->words[i]));
    }
    if (topic.len > 0 && !command_is_topic(topic)) {
        struct err err;
        err_set(&err, STATUS_INVALID, "there is no command \"" STR_FMT "\"", STR_ARG(topic));
        err_hint(&err, "weir --help lists the commands");
        return cli_usage(cli, args, &err);
    }
    struct buf text;
    buf_init(&text, PAGE_BYTES_MAX);
    help_write(topic, cli->width, &cli->arena, &text);
    return write_text(&text);
}

int run_completion(struct cli *cli, const struct args *args)
{
    struct str shell = args->words[0];
    if (!str_eq(shell, STR("bash")) && !str_eq(shell, STR("zsh"))) {
        struct err err;
        err_set(&err, STATUS_INVALID, "expected bash or zsh, got \"" STR_FMT "\"", STR_ARG(shell));
        return cli_usage(cli, args, &err);
    }
    struct buf text;
    buf_init(&text, PAGE_BYTES_MAX);
    completion_script(shell, &text);
    return write_text(&text);
}

int run_docs(struct cli *cli, const struct args *args)
{
    (void)args;
    struct buf text;
    buf_init(&text, PAGE_BYTES_MAX);
    help_markdown(&cli->arena, &text);
    return write_text(&text);
}

static enum status write_page(struct cli *cli, int dir, const struct command *c, struct err *err)
{
    struct buf text;
    buf_init(&text, PAGE_BYTES_MAX);
    help_man(c, WEIR_VERSION, &cli->arena, &text);
    enum status status = file_write(dir, arena_cstr(&cli->arena, help_man_name(c, &cli->arena)),
                                    buf_view(&text), 0644, false, err);
    buf_done(&text);
    return status;
}

int run_man(struct cli *cli, const struct args *args)
{
    struct err err;
    const char *path = arena_cstr(&cli->arena, args->words[0]);
    enum status status = file_mkdirs(path, 0755, &err);
    CLEANUP(file_close) int dir = -1;
    if (status == STATUS_OK && (dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
        status = err_set(&err, STATUS_IO, "%s cannot be opened", path);
    }
    if (status == STATUS_OK) {
        status = write_page(cli, dir, NULL, &err);
    }
    for (uint32_t i = 0; i < commands_count && status == STATUS_OK; i++) {
        if (!commands[i].hidden) {
            status = write_page(cli, dir, &commands[i], &err);
        }
    }
    return status == STATUS_OK ? 0 : cli_fail(cli, &err, NULL);
}

/* Completion with names of the server. */

static void offer_names(struct cli *cli, const struct completion *what, const char *list,
                        const char *help, struct buf *out)
{
    struct answer answer;
    struct err err;
    struct str path = arena_printf(&cli->arena, "/%s", list);
    if (client_get(&cli->client, path, &answer, &err) != STATUS_OK) {
        return; // a completion has nobody to tell
    }
    const struct doc *items = doc_get(answer.body, STR("items"));
    for (const struct doc *d = items != NULL ? items->child : NULL; d != NULL; d = d->next) {
        struct str name = view_raw(d, "name"), note = view_raw(d, help);
        if (str_starts(name, what->start) && name.len > 0) {
            buf_printf(out, STR_FMT STR_FMT "\t" STR_FMT "\n", STR_ARG(what->prefix), STR_ARG(name),
                       STR_ARG(note));
        }
    }
}

// The value of a flag among words that are not a whole command line yet.
static struct str typed(const struct args *args, const char *letter, const char *name)
{
    for (uint32_t i = 0; i + 1 < args->tail_count; i++) {
        struct str word = args->tail[i];
        uint32_t eq = str_find(word, '=');
        if (str_eq(word, str_from_c(letter)) || str_eq(word, str_from_c(name))) {
            return args->tail[i + 1];
        }
        if (eq < word.len && str_eq(str_sub(word, 0, eq), str_from_c(name))) {
            return str_sub(word, eq + 1, word.len);
        }
    }
    return STR("");
}

int run_complete(struct cli *cli, const struct args *args)
{
    struct completion what;
    struct buf out;
    buf_init(&out, PAGE_BYTES_MAX);
    completion_find(args->tail, args->tail_count, &cli->arena, &out, &what);
    struct str socket = typed(args, "--socket", "--socket");
    if (socket.len > 0) {
        cli->client.at = (struct client_at){.socket = socket};
        cli->client.bearer = STR("");
    }
    switch (what.offer) {
    case OFFER_FILE:
        buf_str(&out, STR(":files\n"));
        break;
    case OFFER_DIRECTORY:
        buf_str(&out, STR(":directories\n"));
        break;
    case OFFER_PROJECT:
        offer_names(cli, &what, "projects", "department", &out);
        break;
    case OFFER_DEPARTMENT:
        offer_names(cli, &what, "departments", "owner_group", &out);
        break;
    case OFFER_POOL:
        offer_names(cli, &what, "nodepools", "label", &out);
        break;
    case OFFER_NODE:
        offer_names(cli, &what, "nodes", "pool", &out);
        break;
    case OFFER_WORKLOAD: {
        struct str project = typed(args, "-p", "--project");
        project = project.len > 0 ? project : settings_get(&cli->settings, STR("project"));
        struct str list = STR("/workloads");
        if (project.len > 0) {
            list = client_query(&cli->client, list, "project", project);
        }
        offer_names(cli, &what, arena_cstr(&cli->arena, str_sub(list, 1, list.len)), "phase", &out);
        break;
    }
    case OFFER_NOTHING:
    case OFFER_COMMAND:
    case OFFER_SHELL:
        break;
    }
    return write_text(&out);
}

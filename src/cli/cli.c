// SPDX-License-Identifier: Apache-2.0
// cli: one command line from its arguments to its exit status.
#include "cli/cli.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/check.h"
#include "cli/form.h"
#include "cli/help.h"
#include "cli/session.h"
#include "cli/view.h"

enum { WIDTH_OTHERWISE = 100, WIDTH_HELP_MAX = 110, TEXT_BYTES_MAX = 256 << 20 };

static uint32_t terminal_width(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
        return size.ws_col;
    }
    return WIDTH_OTHERWISE;
}

// Colour is for terminals, and never where NO_COLOR is set (no-color.org) or the terminal is dumb.
static bool wants_colour(int fd)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fd) && (no == NULL || no[0] == 0) && (term == NULL || strcmp(term, "dumb") != 0);
}

static void cli_init(struct cli *cli)
{
    *cli = (struct cli){
        .terminal = isatty(STDOUT_FILENO),
        .terminal_err = isatty(STDERR_FILENO),
        .colour = wants_colour(STDOUT_FILENO),
        .colour_err = wants_colour(STDERR_FILENO),
        .width = terminal_width(),
    };
    arena_init(&cli->arena, 0);
    // Names, lines and bars are UTF-8 whatever the locale says.
    if (setlocale(LC_ALL, "") == NULL || strcmp(nl_langinfo(CODESET), "UTF-8") != 0) {
        setlocale(LC_CTYPE, "C.UTF-8");
    }
    setlocale(LC_NUMERIC, "C");
}

/* Errors. */

static void print_field(struct cli *cli, const char *name, struct str value)
{
    if (value.len == 0) {
        return;
    }
    struct buf text;
    buf_init(&text, TEXT_BYTES_MAX);
    view_fold(&text, view_harmless(&cli->arena, value), 10, cli->width < 40 ? 40 : cli->width);
    fprintf(stderr, "  %s%-7s%s " STR_FMT, tint_begin(TINT_DIM, cli->colour_err), name,
            tint_end(cli->colour_err), STR_ARG(buf_view(&text)));
    buf_done(&text);
}

static void print_error(struct cli *cli, const char *command, const struct err *err,
                        const struct doc *body)
{
    fflush(stdout);
    struct str text = view_harmless(&cli->arena, str_from_c(err->text));
    fprintf(stderr, "%sweir%s%s:%s " STR_FMT "\n", tint_begin(TINT_BAD, cli->colour_err),
            command[0] != 0 ? " " : "", command, tint_end(cli->colour_err), STR_ARG(text));
    print_field(cli, "field", str_from_c(err->field));
    print_field(cli, "value", view_raw(body, "value"));
    struct str details = view_raw(body, "details");
    struct str next = str_from_c(err->hint);
    if (!str_eq(details, next)) {
        print_field(cli, "details", details);
    }
    print_field(cli, "next", next);
    if (cli->debug) {
        print_field(cli, "request", view_raw(body, "request_id"));
        print_field(cli, "source", str_from_c(err->source));
    }
}

int cli_fail(struct cli *cli, const struct err *err, const struct doc *body)
{
    print_error(cli, "", err, body);
    int status = status_info(err->status)->exit;
    return status != 0 ? status : EXIT_FAILED;
}

int cli_usage(struct cli *cli, const struct args *args, const struct err *err)
{
    print_error(cli, args->command != NULL ? args->command->path : "", err, NULL);
    return EXIT_USAGE;
}

/* Output. */

enum form cli_form(const struct cli *cli, const struct args *args)
{
    static const struct str words[] = {STRS("table"), STRS("json"), STRS("yaml")};
    if (args_has(args, "json")) {
        return FORM_JSON;
    }
    if (args_has(args, "yaml")) {
        return FORM_YAML;
    }
    struct str word = args_text(args, "output");
    if (word.len == 0) {
        word = settings_get(&cli->settings, STR("output"));
    }
    for (uint32_t i = 0; i < COUNT_OF(words); i++) {
        if (str_eq(words[i], word)) {
            return (enum form)i;
        }
    }
    return FORM_TABLE;
}

int cli_print(struct cli *cli, enum form form, const struct doc *doc)
{
    struct buf text;
    buf_init(&text, TEXT_BYTES_MAX);
    if (form == FORM_YAML) {
        form_yaml(doc, &text);
    } else {
        form_json(doc, &text);
    }
    cli_write(buf_view(&text));
    bool full = text.full;
    buf_done(&text);
    if (full) {
        struct err err;
        err_set(&err, STATUS_TOO_LARGE, "the output is larger than %d MiB", TEXT_BYTES_MAX >> 20);
        return cli_fail(cli, &err, NULL);
    }
    return 0;
}

void cli_write(struct str text)
{
    fwrite(text.ptr, 1, text.len, stdout);
}

struct str cli_project(const struct cli *cli, const struct args *args)
{
    struct str project = args_text(args, "project");
    return project.len > 0 ? project : settings_get(&cli->settings, STR("project"));
}

void cli_say(const struct cli *cli, const char *format, ...)
{
    if (cli->quiet) {
        return;
    }
    va_list list;
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
}

bool cli_confirm(const char *question, bool otherwise)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
        return otherwise;
    }
    fflush(stdout);
    fprintf(stderr, "%s [y/N] ", question);
    char line[16] = "";
    return fgets(line, sizeof(line), stdin) != NULL && (line[0] == 'y' || line[0] == 'Y');
}

static int finish(struct cli *cli, int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return status;
    }
    struct err err;
    err_set(&err, STATUS_IO, "the output could not be written: %s", strerror(errno));
    int failed = cli_fail(cli, &err, NULL);
    return status != 0 ? status : failed;
}

/* One command. */

static int show_help(struct cli *cli, struct str topic)
{
    struct buf text;
    buf_init(&text, TEXT_BYTES_MAX);
    help_write(topic, cli->width < WIDTH_HELP_MAX ? cli->width : WIDTH_HELP_MAX, &cli->arena,
               &text);
    cli_write(buf_view(&text));
    buf_done(&text);
    return 0;
}

static int run_external(struct cli *cli, const struct args *args, int argc, char **argv,
                        const struct external *externals, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(externals[i].verb, args->command->path) == 0) {
            return externals[i].run(argc - args->external_at, argv + args->external_at);
        }
    }
    struct err err;
    err_set(&err, STATUS_UNSUPPORTED, "this build of weir has no %s", args->command->path);
    return cli_fail(cli, &err, NULL);
}

static int run_command(struct cli *cli, const struct args *args)
{
    struct err err;
    cli->debug = args_has(args, "debug") || args_has(args, "verbose");
    cli->quiet = args_has(args, "quiet");
    enum status status = settings_load(&cli->settings, &cli->arena, args_text(args, "config-path"),
                                       args_text(args, "config-file"), &err);
    if (status == STATUS_OK) {
        status = session_open(cli, args, &err);
    }
    if (status != STATUS_OK) {
        return cli_fail(cli, &err, NULL);
    }
    int exit_status = args->command->run(cli, args);
    client_done(&cli->client);
    return exit_status;
}

// `weir --version` is what every program answers to.
static bool is_version(int argc, char **argv)
{
    return argc == 2 && strcmp(argv[1], "--version") == 0;
}

int cli_main(int argc, char **argv, const struct external *externals, uint32_t count)
{
    struct cli cli;
    struct args args;
    struct err err = {0};
    cli_init(&cli);
    int exit_status;
    argc -= argc > 0 ? 1 : 0;
    argv += 1;
    const char **words = ARENA_ARRAY(&cli.arena, const char *, argc + 1);
    for (int i = 0; i < argc; i++) {
        words[i] = argv[i];
    }
    if (is_version(argc + 1, argv - 1)) {
        words[0] = "version";
    }
    enum status status = command_parse(argc, words, &cli.arena, &args, &err);
    if (status != STATUS_OK) {
        exit_status = cli_usage(&cli, &args, &err);
    } else if (args.help) {
        exit_status = show_help(&cli, args.topic);
    } else if (args.command->run == NULL) {
        exit_status = run_external(&cli, &args, argc, argv, externals, count);
    } else {
        exit_status = run_command(&cli, &args);
    }
    exit_status = finish(&cli, exit_status);
    arena_done(&cli.arena);
    return exit_status;
}

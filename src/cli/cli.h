// SPDX-License-Identifier: Apache-2.0
// cli: the command line. main hands over its arguments and the programs of their own (up, server …);
// everything else is found in the command table and runs here.
#pragma once

#include <stdio.h>

#include "base/doc.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/settings.h"

/* A program of its own: argv[0] is its verb. */
struct external {
    const char *verb;
    int (*run)(int argc, char **argv);
};

enum form { FORM_TABLE, FORM_JSON, FORM_YAML };
enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

/* What a command works with. Everything lives in the arena until the process ends. */
struct cli {
    struct arena arena;
    struct settings settings;
    struct client client;
    bool quiet;
    bool debug;
    bool terminal;   /* stdout is one */
    bool colour;     /* on stdout */
    bool colour_err; /* on stderr */
    bool terminal_err;
    uint32_t width; /* columns of the terminal; 100 where there is none */
};

/* cli_main runs one command line and gives the exit status: 0; 1 it failed; 2 the line is wrong. */
int cli_main(int argc, char **argv, const struct external *externals, uint32_t count);

/* cli_fail writes what went wrong as one block on stderr (body: of the server's answer, or NULL) and
 * gives the exit status of err's status. */
int cli_fail(struct cli *cli, const struct err *err, const struct doc *body);
/* cli_usage is the same for what was wrong with the command line; gives 2. */
int cli_usage(struct cli *cli, const struct args *args, const struct err *err);
/* cli_form gives what --output, --json, --yaml or the settings ask for. */
enum form cli_form(const struct cli *cli, const struct args *args);
/* cli_print writes a document to stdout as JSON or YAML. */
int cli_print(struct cli *cli, enum form form, const struct doc *doc);
/* cli_project gives the project of --project or of the settings, "" when there is none. */
struct str cli_project(const struct cli *cli, const struct args *args);
/* cli_say writes a line to stdout unless --quiet. */
void cli_say(const struct cli *cli, const char *format, ...) PRINTF_LIKE(2, 3);
/* cli_confirm asks on the terminal; without one, and without --yes, the answer is `otherwise`. */
bool cli_confirm(const char *question, bool otherwise);
void cli_write(struct str text); /* to stdout */

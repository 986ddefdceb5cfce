// SPDX-License-Identifier: Apache-2.0
// help: what is written from the command table: help texts, manual pages, docs/cli.md, completion.
// Everything goes to a buffer.
#pragma once

#include "base/buf.h"
#include "cli/command.h"

/* help_write writes the help of topic: a command, a group ("training"), or "" for the whole program,
 * folded to width columns (at least 40). The topic must be known (command_is_topic). */
void help_write(struct str topic, uint32_t width, struct arena *arena, struct buf *out);
/* help_man writes the manual page of one command in roff, or, for NULL, the one of the program. */
void help_man(const struct command *c, const char *version, struct arena *arena, struct buf *out);
/* help_man_name gives the file name of that page: weir-plan-apply.1, weir.1. */
struct str help_man_name(const struct command *c, struct arena *arena);
/* help_markdown writes docs/cli.md. */
void help_markdown(struct arena *arena, struct buf *out);

/* completion_script writes the script for shell ("bash" or "zsh"). It asks `weir _complete`. */
void completion_script(struct str shell, struct buf *out);
/* What the shell shall offer behind words[0, count - 1) for the beginning words[count - 1]. */
struct completion {
    enum offer offer;        /* names only a server knows, or files */
    const struct flag *flag; /* the flag whose value is wanted, or NULL */
    struct str prefix;       /* to put in front of each: "--project=" */
    struct str start;        /* only what begins with this */
};
/* completion_find writes the candidates that the table knows as lines "word<TAB>description" and
 * tells in *what which names of the server to add. */
void completion_find(const struct str *words, uint32_t count, struct arena *arena, struct buf *out,
                     struct completion *what);

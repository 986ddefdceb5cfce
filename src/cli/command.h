// SPDX-License-Identifier: Apache-2.0
// command: what a command of the CLI is. One table (verbs.c) of these is what arguments are parsed
// against and what help, man pages, completion and docs/cli.md are made from. Pure: no I/O.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct cli;
struct args;

enum flag_kind {
    FLAG_BOOL,     /* --name, --name=false */
    FLAG_TEXT,     /* any text */
    FLAG_WORD,     /* one of the words of metavar: "a|b|c" */
    FLAG_LIST,     /* words separated by commas */
    FLAG_WHOLE,    /* whole number >= min */
    FLAG_DECIMAL,  /* decimal number > 0, at most 6 digits behind the point; in millionths */
    FLAG_BYTES,    /* 500M, 1G, 2Gi; in bytes, > 0 */
    FLAG_DURATION, /* 90s, 5m, 1h30m; in ms, >= 0 */
    FLAG_PAIR,     /* KEY=VALUE */
};

/* What the shell offers for a value; WORD flags offer their words. */
enum offer {
    OFFER_NOTHING,
    OFFER_FILE,
    OFFER_DIRECTORY,
    OFFER_PROJECT,
    OFFER_DEPARTMENT,
    OFFER_POOL,
    OFFER_NODE,
    OFFER_WORKLOAD,
    OFFER_COMMAND,
    OFFER_SHELL,
};

struct flag {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    enum flag_kind kind;
    bool repeat;         /* may be given several times; otherwise the last one counts */
    const char *metavar; /* "NAME"; for WORD the words; NULL for BOOL */
    const char *help;
    int64_t min; /* WHOLE, DURATION (ms) */
    enum offer offer;
    const char *refused; /* not NULL: known, but not possible here, and this is why */
};

struct flag_set {
    const char *title;
    const struct flag *flags;
    uint32_t count;
};

/* Runs the command and gives the exit status: 0, or 1 when it failed. */
typedef int command_run(struct cli *cli, const struct args *args);

enum { COMMAND_SETS_MAX = 9, COMMAND_WORDS_MAX = 1024 };
struct command {
    const char *path;    /* "training standard submit" */
    const char *summary; /* one line, no full stop */
    const char *words;   /* positional words for the usage line: "[NAME]", "" for none */
    uint32_t words_min, words_max;
    const char *tail; /* what follows "--" ("COMMAND..."), NULL when nothing may */
    enum offer offer; /* for the words */
    const struct flag_set *sets[COMMAND_SETS_MAX];
    const char *text; /* a paragraph or more for the manual, NULL when the summary says it all */
    const char *example;
    command_run *run; /* NULL: a program of its own, found by its name (struct external) */
    bool hidden;
};

/* A group of commands: "training standard". Its commands are also found under the shorter alias. */
struct group {
    const char *path, *alias, *summary;
};

extern const struct command commands[];
extern const uint32_t commands_count;
extern const struct group groups[];
extern const uint32_t groups_count;
extern const struct flag_set flags_global; /* every command knows these */

struct arg {
    const struct flag *flag;
    struct str text;
    int64_t number; /* WHOLE, DECIMAL, BYTES, DURATION; BOOL: 0 or 1 */
};
struct args {
    const struct command *command;
    struct arg *items;
    uint32_t count;
    struct str *words;
    uint32_t words_count;
    struct str *tail; /* the words after "--" */
    uint32_t tail_count;
    bool has_tail;
    bool help;
    int external_at;  /* a program of its own: where in argv its name stands; it reads the rest */
    struct str topic; /* help: the words that were understood, "" for the whole program */
};

/* command_find gives the command whose path (or that of its group's alias) is words[0, *used) for
 * the longest such *used, or NULL. */
const struct command *command_find(const struct str *words, uint32_t count, uint32_t *used);
/* command_is_topic: true when path, or an alias, is a command or a group of commands. */
bool command_is_topic(struct str path);
/* command_group gives the group of the command when that has an alias, else NULL. */
const struct group *command_group(const struct command *c);
/* command_alias gives the other, shorter way to write the path, or "" . */
struct str command_alias(const struct command *c, struct arena *arena);
/* command_flag gives the flag of c (or a global one) by name or, when name is empty, by letter. */
const struct flag *command_flag(const struct command *c, struct str name, char letter);
/* command_path_starts: true when the full path, or that by its group's alias, begins with the words
 * of prefix. */
bool command_path_starts(const struct command *c, struct str prefix);

/* command_parse reads the arguments (without the program's name). Everything in *out borrows from
 * argv or lives in arena. STATUS_INVALID: what was wrong, with the nearest known name as the hint;
 * out->command then is the command as far as it was understood, or NULL. Pure. */
MUST_USE enum status command_parse(int argc, const char *const *argv, struct arena *arena,
                                   struct args *out, struct err *err);

/* The flag must be one of the command's (CHECK); args_find gives the last value or NULL. */
const struct arg *args_find(const struct args *args, const char *name);
bool args_has(const struct args *args, const char *name);        /* given, and not =false */
struct str args_text(const struct args *args, const char *name); /* "" when not given */
int64_t args_number(const struct args *args, const char *name, int64_t otherwise);
/* args_next steps through the values of a repeated flag: *at starts at 0; NULL at the end. */
const struct arg *args_next(const struct args *args, const char *name, uint32_t *at);

// SPDX-License-Identifier: Apache-2.0
// help: one walk over the command table per face. The faces say the same, since none has words of
// its own beyond the headings.
#include "cli/help.h"

#include <string.h>

#include "base/attr.h"
#include "cli/view.h"

enum { FLAG_COLUMN_MAX = 38, PATH_PARTS_MAX = 4, TOPICS_MAX = 64 };

static const char intro[] =
    "weir divides GPUs between teams: guarantees, borrowing, taking back, and "
    "why each job runs, waits or was stopped.";

/* One environment variable the CLI reads. */
struct variable {
    const char *name, *help;
};
static const struct variable variables[] = {
    {"WEIR_SOCKET",           "Socket of the server, where --socket is not given."          },
    {"WEIR_SERVER",           "Address of a server elsewhere, where --server is not given." },
    {"WEIR_CA_FILE",          "Certificates to trust, where --ca-file is not given."        },
    {"WEIR_TOKEN",            "Token for that server; what login kept is not used then."    },
    {"RUNAI_CLI_CONFIG_PATH", "Directory of the CLI's own files instead of ~/.weir."        },
    {"RUNAI_CLI_CONFIG_FILE", "Name of the settings file instead of config.json."           },
    {"NO_COLOR",
     "When set and not empty: no colour. Elsewhere than on a terminal there is none anyway."},
};

static struct str flag_spelling(const struct flag *f, struct arena *arena)
{
    struct str letter = f->letter != 0 ? arena_printf(arena, "-%c, ", f->letter) : STR("    ");
    bool words = f->kind == FLAG_WORD;
    return arena_printf(arena, "%.*s--%s%s%s", STR_ARG(letter), f->name,
                        f->metavar != NULL ? " " : "",
                        f->metavar == NULL ? "" : (words ? "WORD" : f->metavar));
}

// The help text with the words that are accepted.
static struct str flag_help(const struct flag *f, struct arena *arena)
{
    struct buf words;
    buf_init(&words, 1024);
    if (f->kind == FLAG_WORD) {
        struct str rest = str_from_c(f->metavar), word;
        for (bool first = true; str_split(&rest, '|', &word); first = false) {
            buf_printf(&words, "%s%.*s", first ? "" : ", ", STR_ARG(word));
        }
    }
    struct str s = arena_printf(arena, "%s%s%.*s%s", f->help, words.len > 0 ? ": " : "",
                                STR_ARG(buf_view(&words)), f->repeat ? "; may be repeated" : "");
    buf_done(&words);
    return s;
}

// The names of a set of refused flags, which have nothing more to say; "" for any other set.
static struct str refused_names(const struct flag_set *set, const char *quote, struct arena *arena)
{
    struct str names = STR("");
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->flags[i].refused == NULL) {
            return STR("");
        }
        names = arena_printf(arena, "%.*s%s%s--%s%s", STR_ARG(names), i > 0 ? " " : "", quote,
                             set->flags[i].name, quote);
    }
    return names;
}

static void write_set(const struct flag_set *set, uint32_t width, struct arena *arena,
                      struct buf *out)
{
    buf_printf(out, "\n%s:\n", set->title);
    struct str refused = refused_names(set, "", arena);
    if (refused.len > 0) {
        buf_printf(out, "  ");
        view_fold(out, refused, 2, width);
        return;
    }
    uint32_t column = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t len = flag_spelling(&set->flags[i], arena).len;
        column = len > column && len <= FLAG_COLUMN_MAX ? len : column;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        struct str left = flag_spelling(&set->flags[i], arena);
        buf_printf(out, "  %.*s", STR_ARG(left));
        if (left.len > column) {
            buf_printf(out, "\n%*s", (int)column + 4, "");
        } else {
            buf_printf(out, "%*s", (int)(column - left.len) + 2, "");
        }
        view_fold(out, flag_help(&set->flags[i], arena), column + 4, width);
    }
}

static struct str usage_line(const struct command *c, struct str path, struct arena *arena)
{
    return arena_printf(arena, "weir %.*s%s%s [flags]%s%s%s", STR_ARG(path),
                        c->words[0] != 0 ? " " : "", c->words, c->tail != NULL ? " [-- " : "",
                        c->tail != NULL ? c->tail : "", c->tail != NULL ? "]" : "");
}

static void write_command(const struct command *c, uint32_t width, struct arena *arena,
                          struct buf *out)
{
    buf_printf(out, "%s.\n\nUsage:\n  %.*s\n", c->summary,
               STR_ARG(usage_line(c, str_from_c(c->path), arena)));
    struct str alias = command_alias(c, arena);
    if (alias.len > 0) {
        buf_printf(out, "  %.*s\n", STR_ARG(usage_line(c, alias, arena)));
    }
    if (c->text != NULL) {
        buf_char(out, '\n');
        view_fold(out, str_from_c(c->text), 0, width);
    }
    buf_printf(out, "\nExample:\n  %s\n", c->example);
    for (uint32_t i = 0; i < COMMAND_SETS_MAX && c->sets[i] != NULL; i++) {
        write_set(c->sets[i], width, arena, out);
    }
    if (c->run != NULL) { // a program of its own has its own
        write_set(&flags_global, width, arena, out);
    }
}

static struct str first_word(struct str path)
{
    return str_sub(path, 0, str_find(path, ' '));
}

static const struct group *group_named(struct str path)
{
    for (uint32_t i = 0; i < groups_count; i++) {
        const char *alias = groups[i].alias;
        if (str_eq(str_from_c(groups[i].path), path) ||
            (alias != NULL && str_eq(str_from_c(alias), path))) {
            return &groups[i];
        }
    }
    return NULL;
}

// The group further down that stands for the command in the help of topic: `training pytorch` in that
// of `training`. NULL: the command itself does.
static const struct group *group_below(const struct command *c, struct str topic)
{
    const struct group *g = command_group(c);
    return g != NULL && strlen(g->path) > topic.len && !str_eq(str_from_c(g->alias), topic) ? g
                                                                                            : NULL;
}

static void write_group(struct str topic, uint32_t width, struct arena *arena, struct buf *out)
{
    const struct group *g = group_named(topic);
    if (g != NULL) {
        buf_printf(out, "%s.\n", g->summary);
    }
    buf_printf(out, "\nUsage:\n  weir %.*s COMMAND [flags]\n\nCommands:\n", STR_ARG(topic));
    uint32_t column = 0;
    const struct group *told = NULL;
    for (uint32_t i = 0; i < commands_count; i++) {
        const struct group *below = group_below(&commands[i], topic);
        uint32_t len = (uint32_t)strlen(below != NULL ? below->path : commands[i].path);
        bool shown = !commands[i].hidden && command_path_starts(&commands[i], topic);
        column = shown && len > column ? len : column;
    }
    for (uint32_t i = 0; i < commands_count; i++) {
        const struct command *c = &commands[i];
        const struct group *below = group_below(c, topic);
        if (c->hidden || !command_path_starts(c, topic) || (below != NULL && below == told)) {
            continue;
        }
        told = below;
        buf_printf(out, "  %-*s  ", (int)column, below != NULL ? below->path : c->path);
        view_fold(out, str_from_c(below != NULL ? below->summary : c->summary), column + 4, width);
    }
    struct str example = STR("");
    for (uint32_t i = 0; i < commands_count && example.len == 0; i++) {
        if (!commands[i].hidden && command_path_starts(&commands[i], topic)) {
            example = str_from_c(commands[i].example);
        }
    }
    buf_printf(out, "\nExample:\n  %.*s\n", STR_ARG(example));
    write_set(&flags_global, width, arena, out);
}

// The verbs of a group: "list, describe, set".
static struct str group_verbs(struct str name, struct arena *arena)
{
    struct str verbs = STR(""), last = STR("");
    for (uint32_t i = 0; i < commands_count; i++) {
        const struct command *c = &commands[i];
        if (c->hidden || !str_eq(first_word(str_from_c(c->path)), name)) {
            continue;
        }
        struct str alias = command_alias(c, arena);
        struct str path = str_starts(alias, name) ? alias : str_from_c(c->path);
        struct str verb = str_sub(path, name.len + 1, path.len);
        verb = str_sub(verb, 0, str_find(verb, ' '));
        if (str_eq(verb, last)) {
            continue;
        }
        last = verb;
        verbs = arena_printf(arena, "%.*s%s%.*s", STR_ARG(verbs), verbs.len > 0 ? ", " : "",
                             STR_ARG(verb));
    }
    return verbs;
}

static void write_program(uint32_t width, struct arena *arena, struct buf *out)
{
    view_fold(out, str_from_c(intro), 0, width);
    buf_printf(out, "\nUsage:\n  weir COMMAND [flags]\n\nCommands:\n");
    struct str seen = STR("");
    for (uint32_t i = 0; i < commands_count; i++) {
        const struct command *c = &commands[i];
        struct str name = first_word(str_from_c(c->path));
        if (c->hidden || str_eq(name, seen)) {
            continue;
        }
        seen = name;
        const struct group *g = group_named(name);
        buf_printf(out, "  %-11.*s ", STR_ARG(name));
        struct str text = str_from_c(c->summary);
        if (g != NULL) {
            text = arena_printf(arena, "%s (%.*s)", g->summary, STR_ARG(group_verbs(name, arena)));
        }
        view_fold(out, text, 14, width);
    }
    buf_printf(out, "\nExample:\n"
                    "  weir up --gpus fake:4 &\n"
                    "  weir plan apply examples/tenant-plan.yaml --yes\n"
                    "  weir training submit job-1 -p team-a -g 1 -- sleep 600\n"
                    "  weir why job-1 -p team-a\n");
    write_set(&flags_global, width, arena, out);
    buf_printf(out, "\nEnvironment:\n");
    for (uint32_t i = 0; i < COUNT_OF(variables); i++) {
        buf_printf(out, "  %-21s  ", variables[i].name);
        view_fold(out, str_from_c(variables[i].help), 25, width);
    }
    buf_printf(out, "\nweir COMMAND --help shows the help of a command.\n");
}

void help_write(struct str topic, uint32_t width, struct arena *arena, struct buf *out)
{
    width = width < 40 ? 40 : width;
    if (topic.len == 0) {
        write_program(width, arena, out);
        return;
    }
    for (uint32_t i = 0; i < commands_count; i++) {
        if (str_eq(str_from_c(commands[i].path), topic) ||
            str_eq(command_alias(&commands[i], arena), topic)) {
            write_command(&commands[i], width, arena, out);
            return;
        }
    }
    write_group(topic, width, arena, out);
}

/* Manual pages. */

// Text with what roff takes for itself escaped.
static void roff(struct buf *out, struct str text)
{
    if (text.len > 0 && (text.ptr[0] == '.' || text.ptr[0] == '\'')) {
        buf_printf(out, "\\&");
    }
    for (uint32_t i = 0; i < text.len; i++) {
        switch (text.ptr[i]) {
        case '\\':
            buf_printf(out, "\\e");
            break;
        case '-':
            buf_printf(out, "\\-");
            break;
        case '\'':
            buf_printf(out, "\\(aq");
            break;
        case '~':
            buf_printf(out, "\\(ti");
            break;
        case '^':
            buf_printf(out, "\\(ha");
            break;
        default:
            buf_char(out, text.ptr[i]);
            break;
        }
    }
}

static void roff_c(struct buf *out, const char *text)
{
    roff(out, str_from_c(text));
}

static void roff_set(const struct flag_set *set, struct arena *arena, struct buf *out)
{
    buf_printf(out, ".SS \"%s\"\n", set->title);
    struct str refused = refused_names(set, "", arena);
    if (refused.len > 0) {
        roff(out, refused);
        buf_char(out, '\n');
        return;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        const struct flag *f = &set->flags[i];
        buf_printf(out, ".TP\n");
        if (f->letter != 0) {
            buf_printf(out, "\\fB\\-%c\\fR, ", f->letter);
        }
        buf_printf(out, "\\fB");
        roff(out, arena_printf(arena, "--%s", f->name));
        buf_printf(out, "\\fR");
        if (f->metavar != NULL) {
            buf_printf(out, " \\fI");
            roff_c(out, f->kind == FLAG_WORD ? "WORD" : f->metavar);
            buf_printf(out, "\\fR");
        }
        buf_char(out, '\n');
        roff(out, flag_help(f, arena));
        buf_printf(out, ".\n");
    }
}

struct str help_man_name(const struct command *c, struct arena *arena)
{
    if (c == NULL) {
        return STR("weir.1");
    }
    struct buf name;
    buf_init(&name, 256);
    buf_printf(&name, "weir-%s.1", c->path);
    for (size_t i = 0; i < name.len; i++) {
        name.ptr[i] = name.ptr[i] == ' ' ? '-' : name.ptr[i];
    }
    struct str s = arena_str(arena, buf_view(&name));
    buf_done(&name);
    return s;
}

static void roff_head(struct str file, const char *version, const char *summary, struct buf *out)
{
    struct str title = str_sub(file, 0, file.len - 2);
    buf_printf(out, ".TH \"");
    for (uint32_t i = 0; i < title.len; i++) {
        char ch = title.ptr[i];
        buf_char(out, ch >= 'a' && ch <= 'z' ? (char)(ch - 'a' + 'A') : ch);
    }
    buf_printf(out, "\" 1 \"\" \"weir %s\" \"weir manual\"\n.SH NAME\n", version);
    roff(out, title);
    buf_printf(out, " \\- ");
    roff_c(out, summary);
    buf_char(out, '\n');
}

static void roff_program(const char *version, struct arena *arena, struct buf *out)
{
    roff_head(STR("weir.1"), version, "divide GPUs between teams", out);
    buf_printf(out,
               ".SH SYNOPSIS\n\\fBweir\\fR \\fICOMMAND\\fR [\\fIflags\\fR]\n.SH DESCRIPTION\n");
    roff_c(out, intro);
    buf_printf(out, "\n.SH COMMANDS\n");
    for (uint32_t i = 0; i < commands_count; i++) {
        if (commands[i].hidden) {
            continue;
        }
        struct str file = help_man_name(&commands[i], arena);
        buf_printf(out, ".TP\n\\fB");
        roff(out, str_sub(file, 0, file.len - 2));
        buf_printf(out, "\\fR(1)\n");
        roff_c(out, commands[i].summary);
        buf_printf(out, ".\n");
    }
    buf_printf(out, ".SH OPTIONS\n");
    roff_set(&flags_global, arena, out);
    buf_printf(out, ".SH ENVIRONMENT\n");
    for (uint32_t i = 0; i < COUNT_OF(variables); i++) {
        buf_printf(out, ".TP\n\\fB%s\\fR\n", variables[i].name);
        roff_c(out, variables[i].help);
        buf_char(out, '\n');
    }
    buf_printf(out, ".SH \"EXIT STATUS\"\n0 when it was done, 1 when it failed, 2 when the command "
                    "line was wrong.\n");
}

void help_man(const struct command *c, const char *version, struct arena *arena, struct buf *out)
{
    if (c == NULL) {
        roff_program(version, arena, out);
        return;
    }
    roff_head(help_man_name(c, arena), version, c->summary, out);
    buf_printf(out, ".SH SYNOPSIS\n");
    roff(out, usage_line(c, str_from_c(c->path), arena));
    buf_char(out, '\n');
    struct str alias = command_alias(c, arena);
    if (alias.len > 0) {
        buf_printf(out, ".PP\n");
        roff(out, usage_line(c, alias, arena));
        buf_char(out, '\n');
    }
    buf_printf(out, ".SH DESCRIPTION\n");
    roff_c(out, c->summary);
    buf_printf(out, ".\n");
    if (c->text != NULL) {
        roff_c(out, c->text);
        buf_char(out, '\n');
    }
    if (c->run != NULL || c->sets[0] != NULL) {
        buf_printf(out, ".SH OPTIONS\n");
    }
    for (uint32_t i = 0; i < COMMAND_SETS_MAX && c->sets[i] != NULL; i++) {
        roff_set(c->sets[i], arena, out);
    }
    if (c->run != NULL) {
        roff_set(&flags_global, arena, out);
    }
    buf_printf(out, ".SH EXAMPLE\n.nf\n");
    roff_c(out, c->example);
    buf_printf(out, "\n.fi\n.SH \"EXIT STATUS\"\n0 when it was done, 1 when it failed, 2 when the "
                    "command line was wrong.\n.SH \"SEE ALSO\"\n\\fBweir\\fR(1)\n");
}

/* docs/cli.md */

// In a table a bar would end the cell.
static void markdown_cell(struct buf *out, struct str text)
{
    for (uint32_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '|') {
            buf_char(out, '\\');
        }
        buf_char(out, text.ptr[i]);
    }
}

static void markdown_set(const struct flag_set *set, struct arena *arena, struct buf *out)
{
    struct str refused = refused_names(set, "`", arena);
    if (refused.len > 0) {
        buf_printf(out, "\n%s: %.*s\n", set->title, STR_ARG(refused));
        return;
    }
    buf_printf(out, "\n| %s | |\n| --- | --- |\n", set->title);
    for (uint32_t i = 0; i < set->count; i++) {
        const struct flag *f = &set->flags[i];
        buf_printf(out, "| `%.*s` | ", STR_ARG(str_trim(flag_spelling(f, arena))));
        markdown_cell(out, flag_help(f, arena));
        buf_printf(out, " |\n");
    }
}

// The command further up that does the same, to workloads of another kind, and has the flags too.
static const struct command *told_before(const struct command *c, const struct flag_set *set)
{
    for (const struct command *b = commands; b < c; b++) {
        for (uint32_t k = 0; b->run == c->run && k < COMMAND_SETS_MAX && b->sets[k] != NULL; k++) {
            if (b->sets[k] == set) {
                return b;
            }
        }
    }
    return NULL;
}

void help_markdown(struct arena *arena, struct buf *out)
{
    buf_printf(out, "# The command line\n\nWritten by `weir _docs` from the command table "
                    "(`src/cli/verbs.c`, `src/cli/flags.c`); change it there.\n\n");
    buf_printf(
        out,
        "The grammar is that of Run:ai's CLI v2: with `alias runai=weir` its commands work "
        "as they are. The commands of one kind (`weir workspace …`, `weir training pytorch …`) "
        "touch no other, those of `weir workload` any. Every list and description is a table, or "
        "`--json`, `--yaml`. The exit "
        "status is 0 when it was done, 1 when it failed, 2 when the command line was "
        "wrong.\n\n| Environment | |\n| --- | --- |\n");
    for (uint32_t i = 0; i < COUNT_OF(variables); i++) {
        buf_printf(out, "| `%s` | %s |\n", variables[i].name, variables[i].help);
    }
    markdown_set(&flags_global, arena, out);
    for (uint32_t i = 0; i < commands_count; i++) {
        const struct command *c = &commands[i];
        if (c->hidden) {
            continue;
        }
        buf_printf(out, "\n## weir %s\n\n%s.\n\n```\n%.*s\n", c->path, c->summary,
                   STR_ARG(usage_line(c, str_from_c(c->path), arena)));
        struct str alias = command_alias(c, arena);
        if (alias.len > 0) {
            buf_printf(out, "%.*s\n", STR_ARG(usage_line(c, alias, arena)));
        }
        buf_printf(out, "```\n");
        if (c->text != NULL) {
            buf_printf(out, "\n%s\n", c->text);
        }
        buf_printf(out, "\nExample: `%s`\n", c->example);
        for (uint32_t k = 0; k < COMMAND_SETS_MAX && c->sets[k] != NULL; k++) {
            const struct command *told = told_before(c, c->sets[k]);
            if (told == NULL) {
                markdown_set(c->sets[k], arena, out);
            } else {
                buf_printf(out, "\n%s: the flags of `weir %s`.\n", c->sets[k]->title, told->path);
            }
        }
    }
}

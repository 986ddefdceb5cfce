// SPDX-License-Identifier: Apache-2.0
// completion: the scripts know nothing about the commands. They hand the words typed so far to
// `weir _complete`, which looks into the same table that the parser uses and, for names, asks the
// server. So a completion can never be older than the program.
#include "cli/help.h"

#include "base/attr.h"

static const char bash_script[] =
    "# bash completion of weir; source <(weir completion bash)\n"
    "_weir() {\n"
    "    local line words=(\"${COMP_WORDS[@]:1:COMP_CWORD}\") "
    "current=\"${COMP_WORDS[COMP_CWORD]}\"\n"
    "    # the shell splits --flag=value at the equals sign; put it together again\n"
    "    local joined=() word\n"
    "    for word in \"${words[@]}\"; do\n"
    "        if [[ ${#joined[@]} -gt 0 && ( $word == = || ${joined[-1]} == --*= ) ]]; then\n"
    "            joined[-1]+=$word\n"
    "        else\n"
    "            joined+=(\"$word\")\n"
    "        fi\n"
    "    done\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        case $line in\n"
    "        :files) compopt -o default; continue ;;\n"
    "        :directories) compopt -o dirnames; continue ;;\n"
    "        esac\n"
    "        line=${line%%$'\\t'*}\n"
    "        [[ ${joined[-1]} == --*=* ]] && line=${line#*=}\n"
    "        COMPREPLY+=(\"$line\")\n"
    "    done < <(\"${WEIR_COMPLETE:-weir}\" _complete -- \"${joined[@]}\" 2>/dev/null)\n"
    "    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace\n"
    "    return 0\n"
    "}\n"
    "complete -F _weir weir\n"
    "if alias runai >/dev/null 2>&1; then complete -F _weir runai; fi\n";

static const char zsh_script[] =
    "#compdef weir\n"
    "# zsh completion of weir; source <(weir completion zsh)\n"
    "_weir() {\n"
    "    local line\n"
    "    local -a described\n"
    "    while IFS= read -r line; do\n"
    "        case $line in\n"
    "        :files) _files; continue ;;\n"
    "        :directories) _files -/; continue ;;\n"
    "        esac\n"
    "        described+=(\"${${line%%$'\\t'*}//:/\\\\:}:${line#*$'\\t'}\")\n"
    "    done < <(\"${WEIR_COMPLETE:-weir}\" _complete -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\n"
    "    _describe weir described\n"
    "}\n"
    "compdef _weir weir\n"
    "if alias runai >/dev/null 2>&1; then compdef _weir runai; fi\n";

void completion_script(struct str shell, struct buf *out)
{
    buf_str(out, str_eq(shell, STR("zsh")) ? str_from_c(zsh_script) : str_from_c(bash_script));
}

static void candidate(struct buf *out, const struct completion *what, struct str word,
                      const char *help)
{
    if (word.len > 0 && str_starts(word, what->start)) {
        buf_printf(out, "%.*s%.*s\t%s\n", STR_ARG(what->prefix), STR_ARG(word), help);
    }
}

static struct str word_at(struct str path, uint32_t at)
{
    struct str part = STR("");
    for (uint32_t i = 0; i <= at; i++) {
        if (!str_split(&path, ' ', &part)) {
            return STR("");
        }
    }
    return part;
}

// Which words may come behind the known ones of a command's path. The same word comes from
// neighbours in the table, so the last one written is enough to tell repetitions apart.
static void offer_commands(const struct str *words, uint32_t count, struct arena *arena,
                           struct buf *out, const struct completion *what)
{
    struct str prefix = STR("");
    for (uint32_t i = 0; i < count; i++) {
        prefix = arena_printf(arena, "%.*s%s%.*s", STR_ARG(prefix), i > 0 ? " " : "",
                              STR_ARG(words[i]));
    }
    struct str last = STR("");
    for (uint32_t form = 0; form < 2; form++) { // full paths, then the aliases
        for (uint32_t i = 0; i < commands_count; i++) {
            const struct command *c = &commands[i];
            struct str path = form == 0 ? str_from_c(c->path) : command_alias(c, arena);
            bool below = count == 0 || (str_starts(path, prefix) && path.len > prefix.len &&
                                        path.ptr[prefix.len] == ' ');
            struct str word = below ? word_at(path, count) : STR("");
            if (c->hidden || word.len == 0 || str_eq(word, last) || (form == 1 && count == 0)) {
                continue;
            }
            last = word;
            const char *help = c->summary;
            struct str whole = count == 0 ? word
                                          : arena_printf(arena, "%.*s %.*s", STR_ARG(prefix),
                                                         STR_ARG(word));
            for (uint32_t g = 0; g < groups_count; g++) {
                help = str_eq(str_from_c(groups[g].path), whole) ? groups[g].summary : help;
            }
            candidate(out, what, word, help);
        }
    }
}

static void offer_flags(const struct command *c, struct arena *arena, struct buf *out,
                        const struct completion *what)
{
    for (uint32_t i = 0; c != NULL && i < COMMAND_SETS_MAX && c->sets[i] != NULL; i++) {
        for (uint32_t k = 0; k < c->sets[i]->count; k++) {
            const struct flag *f = &c->sets[i]->flags[k];
            if (f->refused == NULL) {
                candidate(out, what, arena_printf(arena, "--%s", f->name), f->help);
            }
        }
    }
    for (uint32_t k = 0; k < flags_global.count; k++) {
        const struct flag *f = &flags_global.flags[k];
        candidate(out, what, arena_printf(arena, "--%s", f->name), f->help);
    }
}

static void offer_value(const struct flag *f, struct buf *out, struct completion *what)
{
    what->flag = f;
    what->offer = f->offer;
    if (f->kind == FLAG_WORD) {
        struct str rest = str_from_c(f->metavar), word;
        while (str_split(&rest, '|', &word)) {
            candidate(out, what, word, f->help);
        }
    }
}

// The flag whose value comes next behind `word`, or NULL.
static const struct flag *flag_wanting(const struct command *c, struct str word)
{
    const struct flag *f = NULL;
    if (str_starts(word, STR("--")) && str_find(word, '=') == word.len) {
        f = command_flag(c, str_sub(word, 2, word.len), 0);
    } else if (word.len == 2 && word.ptr[0] == '-') {
        f = command_flag(c, STR(""), word.ptr[1]);
    }
    return f != NULL && f->kind != FLAG_BOOL ? f : NULL;
}

void completion_find(const struct str *words, uint32_t count, struct arena *arena, struct buf *out,
                     struct completion *what)
{
    *what = (struct completion){.offer = OFFER_NOTHING, .prefix = STR(""), .start = STR("")};
    if (count == 0) {
        return;
    }
    struct str *plain = ARENA_ARRAY(arena, struct str, count);
    uint32_t plain_count = 0, used;
    const struct command *c = NULL;
    const struct flag *wanting = NULL;
    for (uint32_t i = 0; i + 1 < count; i++) {
        if (wanting != NULL) {
            wanting = NULL;
            continue;
        }
        if (str_eq(words[i], STR("--"))) { // the user's own command: nothing of ours
            what->offer = OFFER_FILE;
            what->start = words[count - 1];
            return;
        }
        if (words[i].len > 0 && words[i].ptr[0] == '-') {
            wanting = flag_wanting(c, words[i]);
            continue;
        }
        plain[plain_count++] = words[i];
        c = c != NULL ? c : command_find(plain, plain_count, &used);
    }
    struct str current = words[count - 1];
    what->start = current;
    uint32_t eq = str_find(current, '=');
    if (wanting != NULL) {
        offer_value(wanting, out, what);
    } else if (str_starts(current, STR("--")) && eq < current.len) {
        const struct flag *f = command_flag(c, str_sub(current, 2, eq - 2), 0);
        what->prefix = str_sub(current, 0, eq + 1);
        what->start = str_sub(current, eq + 1, current.len);
        if (f != NULL) {
            offer_value(f, out, what);
        }
    } else if (current.len > 0 && current.ptr[0] == '-') {
        offer_flags(c, arena, out, what);
    } else if (c == NULL) {
        offer_commands(plain, plain_count, arena, out, what);
    } else if (c->offer == OFFER_COMMAND) {
        offer_commands(plain + 1, plain_count - 1, arena, out, what);
    } else if (c->offer == OFFER_SHELL) {
        candidate(out, what, STR("bash"), "the Bourne-again shell");
        candidate(out, what, STR("zsh"), "the Z shell");
    } else {
        what->offer = c->offer;
    }
}

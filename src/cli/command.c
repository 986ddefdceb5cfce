// SPDX-License-Identifier: Apache-2.0
// command: parsing of the argument list against the command table. Flags may stand before, between
// and behind the words; "--" ends them, and what follows belongs to the user's own command. A name
// that is not known is answered with the nearest one that is.
#include "cli/command.h"

#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/num.h"
#include "codec/duration.h"
#include "codec/quantity.h"

enum { DECIMAL_SCALE = 6, NEAREST_MAX = 256 };

static struct str path_str(const char *terminated)
{
    return str_from_c(terminated);
}

static bool in_group(const struct command *c, const struct group *g)
{
    const char *path = c->path, *prefix = g->path;
    while (*prefix != 0 && *prefix == *path) {
        prefix++;
        path++;
    }
    return *prefix == 0 && *path == ' ';
}

const struct group *command_group(const struct command *c)
{
    for (uint32_t i = 0; i < groups_count; i++) {
        if (groups[i].alias != NULL && in_group(c, &groups[i])) {
            return &groups[i];
        }
    }
    return NULL;
}

// The same, where the group's alias may be what the word says: most words are none, and soon told.
static const struct group *group_called(const struct command *c, struct str word)
{
    for (uint32_t i = 0; word.len > 0 && i < groups_count; i++) {
        if (groups[i].alias != NULL && groups[i].alias[0] == word.ptr[0] &&
            in_group(c, &groups[i])) {
            return &groups[i];
        }
    }
    return NULL;
}

// Compares words with a path ("a b c") word by word and gives how many words of it matched, or -1
// when one of them differs before either ends. *whole: the path is used up.
static int match_path(struct str path, const struct str *words, uint32_t count, bool *whole)
{
    int matched = 0;
    struct str part;
    *whole = false;
    while (str_split(&path, ' ', &part)) {
        if ((uint32_t)matched == count) {
            return matched;
        }
        if (!str_eq(part, words[matched])) {
            return -1;
        }
        matched++;
    }
    *whole = true;
    return matched;
}

// As match_path over the two ways to write a command's path.
static int match_command(const struct command *c, const struct str *words, uint32_t count,
                         bool *whole)
{
    int n = match_path(path_str(c->path), words, count, whole);
    const struct group *g = n < 0 ? group_called(c, words[0]) : NULL;
    if (g == NULL) {
        return n;
    }
    bool alias_whole;
    int alias = match_path(path_str(g->alias), words, count, &alias_whole);
    if (alias < 0 || !alias_whole) {
        return alias;
    }
    struct str path = path_str(c->path);
    uint32_t skip = path_str(g->path).len + 1;
    int rest = match_path(str_sub(path, skip, path.len - skip), words + alias,
                          count - (uint32_t)alias, whole);
    return rest < 0 ? -1 : alias + rest;
}

const struct command *command_find(const struct str *words, uint32_t count, uint32_t *used)
{
    const struct command *found = NULL;
    *used = 0;
    for (uint32_t i = 0; i < commands_count; i++) {
        bool whole;
        int n = match_command(&commands[i], words, count, &whole);
        if (whole && n > 0 && (uint32_t)n > *used) {
            found = &commands[i];
            *used = (uint32_t)n;
        }
    }
    return found;
}

struct str command_alias(const struct command *c, struct arena *arena)
{
    const struct group *g = command_group(c);
    return g == NULL ? STR("") : arena_printf(arena, "%s%s", g->alias, c->path + strlen(g->path));
}

static uint32_t split_words(struct str path, struct str *words, uint32_t max)
{
    uint32_t count = 0;
    struct str part;
    while (count < max && str_split(&path, ' ', &part)) {
        if (part.len > 0) {
            words[count++] = part;
        }
    }
    return count;
}

bool command_path_starts(const struct command *c, struct str prefix)
{
    struct str words[4];
    uint32_t count = split_words(prefix, words, COUNT_OF(words));
    bool whole;
    return match_command(c, words, count, &whole) == (int)count;
}

bool command_is_topic(struct str path)
{
    for (uint32_t i = 0; i < commands_count; i++) {
        if (!commands[i].hidden && command_path_starts(&commands[i], path)) {
            return true;
        }
    }
    return false;
}

static const struct flag *set_flag(const struct flag_set *set, struct str name, char letter)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const struct flag *f = &set->flags[i];
        if (name.len > 0 ? str_eq(str_from_c(f->name), name) : f->letter == letter) {
            return f;
        }
    }
    return NULL;
}

const struct flag *command_flag(const struct command *c, struct str name, char letter)
{
    if (name.len == 0 && letter == 0) {
        return NULL;
    }
    for (uint32_t i = 0; c != NULL && i < COMMAND_SETS_MAX && c->sets[i] != NULL; i++) {
        const struct flag *f = set_flag(c->sets[i], name, letter);
        if (f != NULL) {
            return f;
        }
    }
    return set_flag(&flags_global, name, letter);
}

static enum status unknown_flag(const struct command *c, struct str name, struct err *err)
{
    struct str names[NEAREST_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; c != NULL && i < COMMAND_SETS_MAX && c->sets[i] != NULL; i++) {
        for (uint32_t j = 0; j < c->sets[i]->count && count < NEAREST_MAX; j++) {
            names[count++] = str_from_c(c->sets[i]->flags[j].name);
        }
    }
    for (uint32_t j = 0; j < flags_global.count && count < NEAREST_MAX; j++) {
        names[count++] = str_from_c(flags_global.flags[j].name);
    }
    enum status s = err_set(err, STATUS_INVALID, "unknown flag --%.*s", STR_ARG(name));
    uint32_t near = str_nearest(name, names, count);
    if (near < count) {
        err_hint(err, "did you mean --%.*s?", STR_ARG(names[near]));
    } else {
        err_hint(err, "weir %s%s--help lists the flags", c != NULL ? c->path : "",
                 c != NULL ? " " : "");
    }
    return s;
}

/* What Run:ai has commands for and this version does not do. */
static const struct {
    struct str word;
    const char *text;
} absent[] = {
    {STRS("nim"),        "this version has no inference of the kind NIM"             },
    {STRS("kube"),       "this version runs jobs on this machine, without Kubernetes"},
    {STRS("kubeconfig"), "this version runs jobs on this machine, without Kubernetes"},
};

static bool is_absent(struct str word, struct err *err)
{
    for (uint32_t i = 0; i < COUNT_OF(absent); i++) {
        if (str_eq(word, absent[i].word)) {
            err_set(err, STATUS_UNSUPPORTED, "%s", absent[i].text);
            err_hint(err, "weir --help shows what there is");
            return true;
        }
    }
    return false;
}

// The first command of a group that ends with the word (`weir logs`), training workloads first.
static struct str verb_of_group(struct str word, struct arena *arena)
{
    struct str found = STR("");
    for (uint32_t i = 0; i < commands_count; i++) {
        struct str path = path_str(commands[i].path);
        struct str alias = command_alias(&commands[i], arena);
        uint32_t before = path.len - (path.len > word.len ? word.len : path.len);
        if (commands[i].hidden || before == 0 || path.ptr[before - 1] != ' ' ||
            !str_ends(path, word)) {
            continue;
        }
        if (alias.len > 0) {
            return alias;
        }
        found = found.len > 0 ? found : path;
    }
    return found;
}

static enum status unknown_command(const struct str *words, uint32_t count, uint32_t known,
                                   struct arena *arena, struct err *err)
{
    // What may follow the words that were understood, each once.
    struct str names[NEAREST_MAX];
    uint32_t names_count = 0;
    struct str prefix = STR("");
    for (uint32_t i = 0; i < known; i++) {
        prefix = arena_printf(arena, "%.*s%s%.*s", STR_ARG(prefix), i > 0 ? " " : "",
                              STR_ARG(words[i]));
    }
    for (uint32_t i = 0; i < commands_count; i++) {
        if (commands[i].hidden || !command_path_starts(&commands[i], prefix)) {
            continue;
        }
        struct str parts[4];
        uint32_t n = split_words(path_str(commands[i].path), parts, COUNT_OF(parts));
        const struct group *g = command_group(&commands[i]);
        for (uint32_t k = known; k < n && names_count < NEAREST_MAX; k++) {
            if (k == known || (g != NULL && k == known + 1)) {
                names[names_count++] = parts[k];
            }
        }
    }
    enum status s;
    if (known == count) {
        s = err_set(err, STATUS_INVALID, "%.*s needs one more word", STR_ARG(prefix));
        err_hint(err, "weir %.*s --help lists what may follow", STR_ARG(prefix));
        return s;
    }
    if (is_absent(words[known], err)) {
        return STATUS_UNSUPPORTED;
    }
    s = err_set(err, STATUS_INVALID, "unknown command \"%.*s%s%.*s\"", STR_ARG(prefix),
                known > 0 ? " " : "", STR_ARG(words[known]));
    struct str elsewhere = known == 0 ? verb_of_group(words[0], arena) : STR("");
    uint32_t near = str_nearest(words[known], names, names_count);
    if (elsewhere.len > 0) {
        err_hint(err, "did you mean weir %.*s?", STR_ARG(elsewhere));
    } else if (near < names_count) {
        err_hint(err, "did you mean weir %.*s%s%.*s?", STR_ARG(prefix), known > 0 ? " " : "",
                 STR_ARG(names[near]));
    } else {
        err_hint(err, "weir %.*s%s--help lists the commands", STR_ARG(prefix),
                 known > 0 ? " " : "");
    }
    return s;
}

static bool parse_word(struct str words, struct str value)
{
    struct str word;
    while (str_split(&words, '|', &word)) {
        if (str_eq(word, value)) {
            return true;
        }
    }
    return false;
}

static enum status wrong_value(const struct flag *f, struct str value, const char *wanted,
                               struct err *err)
{
    enum status s = err_set(err, STATUS_INVALID, "expected %s, got \"%.*s\"", wanted,
                            STR_ARG(value));
    err_field(err, "--%s", f->name);
    return s;
}

static enum status parse_word_value(const struct flag *f, struct str value, struct err *err)
{
    if (parse_word(str_from_c(f->metavar), value)) {
        return STATUS_OK;
    }
    struct str names[32];
    uint32_t count = 0;
    struct str rest = str_from_c(f->metavar);
    while (count < COUNT_OF(names) && str_split(&rest, '|', &names[count])) {
        count++;
    }
    enum status s = err_set(err, STATUS_INVALID, "expected one of %s, got \"%.*s\"", f->metavar,
                            STR_ARG(value));
    err_field(err, "--%s", f->name);
    uint32_t near = str_nearest(value, names, count);
    if (near < count) {
        err_hint(err, "did you mean %.*s?", STR_ARG(names[near]));
    }
    return s;
}

static enum status parse_whole(const struct flag *f, struct str value, int64_t *number,
                               struct err *err)
{
    if (num_parse_i64(value, number) && *number >= f->min) {
        return STATUS_OK;
    }
    enum status s = err_set(err, STATUS_INVALID,
                            "expected a whole number of at least %lld, got \"%.*s\"",
                            (long long)f->min, STR_ARG(value));
    err_field(err, "--%s", f->name);
    return s;
}

static enum status parse_value(const struct flag *f, struct str value, int64_t *number,
                               struct err *err)
{
    int64_t n = 0;
    switch (f->kind) {
    case FLAG_BOOL:
        if (!str_eq(value, STR("true")) && !str_eq(value, STR("false"))) {
            return wrong_value(f, value, "true or false", err);
        }
        n = str_eq(value, STR("true"));
        break;
    case FLAG_TEXT:
        if (value.len == 0) {
            return wrong_value(f, value, "a value", err);
        }
        break;
    case FLAG_LIST:
        if (value.len == 0) {
            return wrong_value(f, value, "words separated by commas", err);
        }
        break;
    case FLAG_WORD: {
        enum status s = parse_word_value(f, value, err);
        if (s != STATUS_OK) {
            return s;
        }
        break;
    }
    case FLAG_WHOLE: {
        enum status s = parse_whole(f, value, &n, err);
        if (s != STATUS_OK) {
            return s;
        }
        break;
    }
    case FLAG_DECIMAL:
        if (!num_parse_decimal(value, DECIMAL_SCALE, &n) || n <= 0) {
            return wrong_value(f, value, "a number above 0 such as 0.5", err);
        }
        break;
    case FLAG_BYTES:
        if (quantity_parse_bytes(value, &n, NULL) != STATUS_OK || n <= 0) {
            return wrong_value(f, value, "an amount of memory such as 500M, 1G or 2Gi", err);
        }
        break;
    case FLAG_DURATION:
        if (duration_parse(value, &n, NULL) != STATUS_OK || n < f->min) {
            return wrong_value(f, value, "a duration such as 30s, 5m or 1h30m", err);
        }
        break;
    case FLAG_PAIR:
        if (str_find(value, '=') == value.len || str_find(value, '=') == 0) {
            return wrong_value(f, value, "NAME=VALUE", err);
        }
        break;
    }
    *number = n;
    return STATUS_OK;
}

// State of one parse.
struct parse {
    int argc, at;
    const char *const *argv;
    struct arena *arena;
    struct args *out;
    ARRAY(struct arg) items;
    ARRAY(struct str) words;
    uint32_t path_words; /* words that made the command's path */
    struct err *err;
};

static enum status add_value(struct parse *p, const struct flag *f, struct str value)
{
    int64_t number;
    enum status s = parse_value(f, value, &number, p->err);
    if (s != STATUS_OK) {
        return s;
    }
    if (f->refused != NULL) {
        s = err_set(p->err, STATUS_UNSUPPORTED, "%s", f->refused);
        err_field(p->err, "--%s", f->name);
        err_hint(p->err, "leave the flag out");
        return s;
    }
    *ARRAY_PUSH(p->arena, &p->items) = (struct arg){f, value, number};
    return STATUS_OK;
}

static enum status take_value(struct parse *p, const struct flag *f, bool has, struct str value)
{
    if (f->kind == FLAG_BOOL && !has) {
        return add_value(p, f, STR("true"));
    }
    if (!has) {
        if (p->at == p->argc) {
            enum status s = err_set(p->err, STATUS_INVALID, "needs a value: --%s %s", f->name,
                                    f->metavar);
            err_field(p->err, "--%s", f->name);
            return s;
        }
        value = str_from_c(p->argv[p->at++]);
    }
    return add_value(p, f, value);
}

static enum status parse_long(struct parse *p, struct str word)
{
    uint32_t eq = str_find(word, '=');
    struct str name = str_sub(word, 0, eq);
    const struct flag *f = command_flag(p->out->command, name, 0);
    if (f == NULL) {
        return unknown_flag(p->out->command, name, p->err);
    }
    bool has = eq < word.len;
    return take_value(p, f, has, has ? str_sub(word, eq + 1, word.len) : STR(""));
}

// "-p x", "-px", "-p=x", "-it".
static enum status parse_short(struct parse *p, struct str letters)
{
    while (letters.len > 0) {
        const struct flag *f = command_flag(p->out->command, STR(""), letters.ptr[0]);
        if (f == NULL) {
            enum status s = err_set(p->err, STATUS_INVALID, "unknown flag -%.*s",
                                    STR_ARG(str_sub(letters, 0, 1)));
            err_hint(p->err, "weir %s%s--help lists the flags",
                     p->out->command != NULL ? p->out->command->path : "",
                     p->out->command != NULL ? " " : "");
            return s;
        }
        letters = str_sub(letters, 1, letters.len);
        bool has = letters.len > 0 && (f->kind != FLAG_BOOL || letters.ptr[0] == '=');
        struct str value = letters;
        if (has && value.ptr[0] == '=') {
            value = str_sub(value, 1, value.len);
        }
        enum status s = take_value(p, f, has, value);
        if (s != STATUS_OK || f->kind != FLAG_BOOL || has) {
            return s;
        }
    }
    return STATUS_OK;
}

// A program of its own reads its arguments itself. Those whose flags are not in the table go unseen,
// but for a wish for help.
static enum status take_external(struct parse *p)
{
    p->out->external_at = p->at - 1;
    if (p->items.count > 0) {
        enum status s = err_set(p->err, STATUS_INVALID, "flags must stand behind %s",
                                p->out->command->path);
        err_field(p->err, "--%s", p->items.items[0].flag->name);
        return s;
    }
    while (p->out->command->sets[0] == NULL && p->at < p->argc) {
        struct str word = str_from_c(p->argv[p->at++]);
        if (str_eq(word, STR("--"))) {
            p->at = p->argc;
        }
        p->out->help |= str_eq(word, STR("--help")) || str_eq(word, STR("-h"));
    }
    return STATUS_OK;
}

// Words come in one by one; the command is known once the words so far make its path. A longer path
// ("login user" behind "login") wins.
static enum status parse_one_word(struct parse *p, struct str word)
{
    struct args *out = p->out;
    *ARRAY_PUSH(p->arena, &p->words) = word;
    if (out->command != NULL && p->path_words + 1 != p->words.count) {
        return STATUS_OK;
    }
    uint32_t used;
    const struct command *c = command_find(p->words.items, p->words.count, &used);
    if (out->command != NULL && used <= p->path_words) {
        return STATUS_OK;
    }
    if (c != NULL) {
        out->command = c;
        p->path_words = used;
        return c->run == NULL ? take_external(p) : STATUS_OK;
    }
    struct str path = STR("");
    for (uint32_t i = 0; i < p->words.count; i++) {
        path = arena_printf(p->arena, "%.*s%s%.*s", STR_ARG(path), i > 0 ? " " : "",
                            STR_ARG(p->words.items[i]));
    }
    if (p->words.count > 4 || str_find(word, ' ') < word.len || word.len == 0 ||
        !command_is_topic(path)) {
        return unknown_command(p->words.items, p->words.count, p->words.count - 1, p->arena,
                               p->err);
    }
    out->topic = path;
    return STATUS_OK;
}

// The form that a flag asks for the answer in, "" when it does not.
static struct str form_of(const struct arg *a)
{
    struct str name = str_from_c(a->flag->name);
    if (str_eq(name, STR("output"))) {
        return a->text;
    }
    bool one = str_eq(name, STR("json")) || str_eq(name, STR("yaml"));
    return one && a->number != 0 ? name : STR("");
}

// Flags that ask for different forms exclude each other; of one given twice the last counts.
static enum status one_form(struct parse *p)
{
    const struct arg *before = NULL;
    for (uint32_t i = 0; i < p->out->count; i++) {
        const struct arg *a = &p->out->items[i];
        struct str form = form_of(a), other = before != NULL ? form_of(before) : form;
        if (form.len == 0) {
            continue;
        }
        if (!str_eq(form, other) && a->flag != before->flag) {
            enum status s = err_set(p->err, STATUS_INVALID, "%.*s and %.*s, which one counts?",
                                    STR_ARG(other), STR_ARG(form));
            err_field(p->err, "--%s", a->flag->name);
            err_hint(p->err, "an answer has one form: leave one of them out");
            return s;
        }
        before = a;
    }
    return STATUS_OK;
}

static enum status check_words(struct parse *p)
{
    struct args *out = p->out;
    const struct command *c = out->command;
    out->words = p->words.items + p->path_words;
    out->words_count = p->words.count - p->path_words;
    if (out->help || (c->run == NULL && c->sets[0] == NULL)) {
        return STATUS_OK;
    }
    enum status s = one_form(p);
    if (s != STATUS_OK) {
        return s;
    }
    if (out->words_count > c->words_max) {
        s = err_set(p->err, STATUS_INVALID, "unexpected word \"%.*s\"",
                    STR_ARG(out->words[c->words_max]));
        if (c->tail != NULL) {
            err_hint(p->err, "the command to run stands behind --: weir %s %s -- %s", c->path,
                     c->words, c->tail);
            return s;
        }
    } else if (out->words_count < c->words_min) {
        s = err_set(p->err, STATUS_INVALID, "%s is missing", c->words);
    } else if (out->has_tail && c->tail == NULL) {
        s = err_set(p->err, STATUS_INVALID, "nothing may follow --");
    }
    if (s != STATUS_OK) {
        err_hint(p->err, "usage: weir %s %s%s%s", c->path, c->words, c->tail != NULL ? " -- " : "",
                 c->tail != NULL ? c->tail : "");
    }
    return s;
}

static enum status take_tail(struct parse *p)
{
    struct args *out = p->out;
    out->has_tail = true;
    out->tail_count = (uint32_t)(p->argc - p->at);
    out->tail = ARENA_ARRAY(p->arena, struct str, out->tail_count + 1);
    for (uint32_t i = 0; i < out->tail_count; i++) {
        out->tail[i] = str_from_c(p->argv[p->at++]);
    }
    return STATUS_OK;
}

enum status command_parse(int argc, const char *const *argv, struct arena *arena, struct args *out,
                          struct err *err)
{
    struct parse p = {.argc = argc, .argv = argv, .arena = arena, .out = out, .err = err};
    *out = (struct args){.topic = STR("")};
    for (int i = 0; i < argc; i++) {
        if (!str_is_utf8(str_from_c(argv[i]))) {
            enum status s = err_set(err, STATUS_INVALID, "argument %d is not valid UTF-8", i + 1);
            return err_hint(err, "weir takes text in UTF-8 only"), s;
        }
    }
    while (p.at < argc) {
        struct str word = str_from_c(argv[p.at++]);
        enum status s;
        if (str_eq(word, STR("--"))) {
            s = take_tail(&p);
        } else if (str_starts(word, STR("--"))) {
            s = parse_long(&p, str_sub(word, 2, word.len));
        } else if (word.len > 1 && word.ptr[0] == '-') {
            s = parse_short(&p, str_sub(word, 1, word.len));
        } else {
            s = parse_one_word(&p, word);
        }
        out->items = p.items.items;
        out->count = p.items.count;
        if (s != STATUS_OK) {
            return s;
        }
    }
    out->help |= out->command == NULL && p.words.count == 0;
    for (uint32_t i = 0; i < out->count; i++) {
        if (str_eq(str_from_c(out->items[i].flag->name), STR("help"))) {
            out->help |= out->items[i].number != 0;
        }
    }
    if (out->command == NULL) {
        return out->help ? STATUS_OK
                         : unknown_command(p.words.items, p.words.count, p.words.count, arena, err);
    }
    out->topic = str_from_c(out->command->path);
    return check_words(&p);
}

const struct arg *args_find(const struct args *args, const char *name)
{
    const struct flag *f = command_flag(args->command, str_from_c(name), 0);
    CHECK(f != NULL || args->command == NULL);
    for (uint32_t i = args->count; i > 0; i--) {
        if (str_eq(str_from_c(args->items[i - 1].flag->name), str_from_c(name))) {
            return &args->items[i - 1];
        }
    }
    return NULL;
}

bool args_has(const struct args *args, const char *name)
{
    const struct arg *a = args_find(args, name);
    return a != NULL && (a->flag->kind != FLAG_BOOL || a->number != 0);
}

struct str args_text(const struct args *args, const char *name)
{
    const struct arg *a = args_find(args, name);
    return a != NULL ? a->text : STR("");
}

int64_t args_number(const struct args *args, const char *name, int64_t otherwise)
{
    const struct arg *a = args_find(args, name);
    return a != NULL ? a->number : otherwise;
}

const struct arg *args_next(const struct args *args, const char *name, uint32_t *at)
{
    CHECK(command_flag(args->command, str_from_c(name), 0) != NULL);
    while (*at < args->count) {
        const struct arg *a = &args->items[(*at)++];
        if (str_eq(str_from_c(a->flag->name), str_from_c(name))) {
            return a;
        }
    }
    return NULL;
}

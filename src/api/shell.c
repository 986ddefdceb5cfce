// SPDX-License-Identifier: Apache-2.0
#include "api/shell.h"

#include "base/array.h"

struct splitter {
    struct str text;
    uint32_t at;
    struct arena *arena;
    char *word; /* room for the rest of the text */
    uint32_t len;
    bool any; /* a word has begun, though it may be empty ('') */
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void keep(struct splitter *s, char c)
{
    s->word[s->len++] = c;
    s->any = true;
}

/* Inside quotes up to the closing one; a backslash counts in double ones, before " \ $ and `. */
static bool take_quoted(struct splitter *s, char quote)
{
    s->any = true;
    while (s->at < s->text.len && s->text.ptr[s->at] != quote) {
        char c = s->text.ptr[s->at++];
        char next = s->at < s->text.len ? s->text.ptr[s->at] : '\0';
        if (quote == '"' && c == '\\' &&
            (next == '"' || next == '\\' || next == '$' || next == '`')) {
            c = next;
            s->at++;
        }
        keep(s, c);
    }
    return s->at++ < s->text.len;
}

enum status shell_words(struct str text, struct arena *arena, struct str_item **words,
                        uint32_t *count, struct err *err)
{
    ARRAY(struct str_item) list = {0};
    struct splitter s = {.text = text, .arena = arena};
    while (s.at < text.len) {
        if (is_space(text.ptr[s.at])) {
            s.at++;
            continue;
        }
        s.word = arena_alloc(arena, text.len - s.at + 1);
        s.len = 0;
        while (s.at < text.len && !is_space(text.ptr[s.at])) {
            char c = text.ptr[s.at++];
            if ((c == '\'' || c == '"') && !take_quoted(&s, c)) {
                return err_set(err, STATUS_INVALID, "a quote (%c) is not closed", c);
            }
            if (c == '\\' && s.at == text.len) {
                return err_set(err, STATUS_INVALID, "the text ends in a backslash");
            }
            if (c != '\'' && c != '"') {
                keep(&s, c == '\\' ? text.ptr[s.at++] : c);
            }
        }
        ARRAY_PUSH(arena, &list)->value = (struct str){s.word, s.len};
    }
    *words = list.items;
    *count = list.count;
    return STATUS_OK;
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/form.h"

#include <string.h>

#include "base/attr.h"
#include "base/check.h"
#include "codec/json.h"

void form_json(const struct doc *doc, struct buf *out)
{
    struct jw w;
    jw_init(&w, out, true);
    jw_doc(&w, doc);
    buf_char(out, '\n');
}

static bool lowered_is(struct str s, const char *word)
{
    if (s.len != strlen(word)) {
        return false;
    }
    for (uint32_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if ((c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c) != word[i]) {
            return false;
        }
    }
    return true;
}

// Text that every reader of YAML 1.1 or 1.2 takes as the same text without quotes.
static bool is_plain(struct str s)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    if (s.len == 0 || !((s.ptr[0] >= 'a' && s.ptr[0] <= 'z') ||
                        (s.ptr[0] >= 'A' && s.ptr[0] <= 'Z') || s.ptr[0] == '/')) {
        return false;
    }
    for (uint32_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        bool inner = c == ' ' && i + 1 < s.len && s.ptr[i + 1] != ' ';
        if (!letter && !inner && memchr("-_./=", c, 5) == NULL) {
            return false;
        }
    }
    for (uint32_t i = 0; i < COUNT_OF(words); i++) {
        if (lowered_is(s, words[i])) {
            return false;
        }
    }
    return true;
}

static void yaml_string(struct str s, struct buf *out)
{
    if (is_plain(s)) {
        buf_str(out, s);
        return;
    }
    struct jw w; // a JSON string is a YAML double-quoted one
    jw_init(&w, out, false);
    jw_string(&w, s);
}

static void yaml_scalar(const struct doc *d, struct buf *out)
{
    switch (d->kind) {
    case DOC_NULL:
        buf_str(out, STR("null"));
        break;
    case DOC_BOOL:
        buf_str(out, d->boolean ? STR("true") : STR("false"));
        break;
    case DOC_NUMBER:
        buf_str(out, d->text);
        break;
    case DOC_STRING:
        yaml_string(d->text, out);
        break;
    case DOC_LIST:
        buf_str(out, STR("[]"));
        break;
    case DOC_MAP:
        buf_str(out, STR("{}"));
        break;
    }
}

void form_yaml(const struct doc *doc, struct buf *out)
{
    // Walked with a stack of the places to go on at; `fresh` means the line has begun already ("- ").
    struct {
        const struct doc *next;
        bool list;
    } stack[DOC_DEPTH_MAX + 1];
    uint32_t depth = 0;
    bool fresh = true;
    if (doc->child == NULL) {
        yaml_scalar(doc, out);
        buf_char(out, '\n');
        return;
    }
    stack[depth].next = doc->child;
    stack[depth++].list = doc->kind == DOC_LIST;
    while (depth > 0) {
        const struct doc *d = stack[depth - 1].next;
        if (d == NULL) {
            depth--;
            continue;
        }
        bool in_list = stack[depth - 1].list;
        stack[depth - 1].next = d->next;
        if (!fresh) {
            buf_printf(out, "%*s", (int)(depth - 1) * 2, "");
        }
        fresh = false;
        if (in_list) {
            buf_str(out, STR("- "));
        } else {
            yaml_string(d->key, out);
            buf_char(out, ':');
        }
        if (d->child == NULL) {
            if (!in_list) {
                buf_char(out, ' ');
            }
            yaml_scalar(d, out);
            buf_char(out, '\n');
            continue;
        }
        CHECK(depth <= DOC_DEPTH_MAX);
        stack[depth].next = d->child;
        stack[depth++].list = d->kind == DOC_LIST;
        if (in_list) {
            fresh = true; // the first member stands behind the dash
        } else {
            buf_char(out, '\n');
        }
    }
}

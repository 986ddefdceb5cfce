// SPDX-License-Identifier: Apache-2.0
// yaml: libfyaml's events to a tree. The events are taken one at a time and the tree is built with
// an explicit stack, so that nothing is recursive and every limit stops the parse at once (the
// library's own document builder resolves aliases before anybody can count them).
#include "io/yaml.h"

#include <libfyaml.h>
#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/map.h"

struct level {
    struct doc *doc;  /* a map or list that is open */
    struct doc *last; /* its last child */
    bool has_key;     /* of a map: the key was read, its value comes */
    struct str key;
    uint32_t key_line, key_col;
};

struct yaml {
    struct arena *arena;
    struct problems *problems;
    enum status status; /* of the first error */
    struct level levels[YAML_DEPTH_MAX];
    uint32_t depth;
    uint32_t node_count, alias_node_count, document_count;
    struct doc *root;
    struct map anchor_ix; /* name to index, the last one of a name */
    ARRAY(struct doc *) anchors;
};

struct spot {
    uint32_t line, col;
};

static struct problem *refuse(struct yaml *y, enum status status, struct spot at, const char *text)
{
    struct problem *p = problems_add(y->problems, SEVERITY_ERROR, "%s", text);
    p->status = status;
    p->line = at.line;
    p->col = at.col;
    if (y->status == STATUS_OK) {
        y->status = status;
    }
    return p;
}

/* ---- the bytes ---- */

static uint32_t utf8_len(unsigned char lead)
{
    return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/* spot_of_bad_byte: bytes are not UTF-8; where is the first that is wrong. */
static struct spot spot_of_bad_byte(struct str bytes)
{
    struct spot at = {1, 1};
    uint32_t i = 0;
    while (i < bytes.len) {
        uint32_t len = utf8_len((unsigned char)bytes.ptr[i]);
        if (len > bytes.len - i || !str_is_utf8(str_sub(bytes, i, len))) {
            break;
        }
        if (bytes.ptr[i] == '\n') {
            at.line++;
            at.col = 1;
        } else {
            at.col++;
        }
        i += len;
    }
    return at;
}

/* ---- scalars ---- */

static bool is_one_of(struct str s, const struct str *words, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (str_eq(s, words[i])) {
            return true;
        }
    }
    return false;
}

static uint32_t digits_at(struct str s, uint32_t i)
{
    uint32_t first = i;
    while (i < s.len && s.ptr[i] >= '0' && s.ptr[i] <= '9') {
        i++;
    }
    return i - first;
}

/* is_number: decimal integers and fractions, with an exponent or not. */
static bool is_number(struct str s)
{
    uint32_t i = s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+') ? 1 : 0;
    uint32_t whole = digits_at(s, i);
    uint32_t part = 0;
    i += whole;
    if (i < s.len && s.ptr[i] == '.') {
        part = digits_at(s, ++i);
        i += part;
    }
    if (whole + part == 0) {
        return false;
    }
    if (i < s.len && (s.ptr[i] == 'e' || s.ptr[i] == 'E')) {
        i++;
        i += i < s.len && (s.ptr[i] == '-' || s.ptr[i] == '+') ? 1 : 0;
        uint32_t exponent = digits_at(s, i);
        if (exponent == 0) {
            return false;
        }
        i += exponent;
    }
    return i == s.len;
}

static void resolve_plain(struct doc *doc)
{
    static const struct str nulls[] = {STRS(""), STRS("~"), STRS("null"), STRS("Null"),
                                       STRS("NULL")};
    static const struct str trues[] = {STRS("true"), STRS("True"), STRS("TRUE")};
    static const struct str falses[] = {STRS("false"), STRS("False"), STRS("FALSE")};
    doc->kind = DOC_STRING;
    if (is_one_of(doc->text, nulls, COUNT_OF(nulls))) {
        doc->kind = DOC_NULL;
    } else if (is_one_of(doc->text, trues, COUNT_OF(trues))) {
        doc->kind = DOC_BOOL;
        doc->boolean = true;
    } else if (is_one_of(doc->text, falses, COUNT_OF(falses))) {
        doc->kind = DOC_BOOL;
    } else if (is_number(doc->text)) {
        doc->kind = DOC_NUMBER;
    }
}

/* ---- the tree ---- */

static struct level *top(struct yaml *y)
{
    return y->depth > 0 ? &y->levels[y->depth - 1] : NULL;
}

/* node_new makes a value and hangs it where the next one belongs; NULL when there are too many. */
static struct doc *node_new(struct yaml *y, struct spot at)
{
    struct level *level = top(y);
    if (level && level->has_key && at.line == 0) {
        at = (struct spot){level->key_line, level->key_col};
    } else if (level && at.line == 0) {
        at = (struct spot){level->doc->line, level->doc->col};
    }
    if (++y->node_count > YAML_NODES_MAX) {
        refuse(y, STATUS_TOO_LARGE, at, "the document has more than 400000 values")->hint = STR(
            "split it");
        return NULL;
    }
    struct doc *doc = ARENA_NEW(y->arena, struct doc);
    doc->line = at.line;
    doc->col = at.col;
    if (!level) {
        y->root = doc;
        return doc;
    }
    if (level->doc->kind == DOC_MAP) {
        doc->key = level->key;
        doc->key_line = level->key_line;
        doc->key_col = level->key_col;
        level->has_key = false;
    }
    if (level->last) {
        level->last->next = doc;
    } else {
        level->doc->child = doc;
    }
    level->last = doc;
    level->doc->child_count++;
    return doc;
}

static void copy_value(struct doc *to, const struct doc *from)
{
    to->kind = from->kind;
    to->line = from->line;
    to->col = from->col;
    to->text = from->text;
    to->boolean = from->boolean;
}

/* alias_counts counts one value more that comes from an alias; false when there are too many. */
static bool alias_counts(struct yaml *y, struct spot at)
{
    if (++y->alias_node_count <= YAML_ALIAS_NODES_MAX) {
        return true;
    }
    refuse(y, STATUS_TOO_LARGE, at, "aliases unfold to more than 40000 values")->hint = STR(
        "write the values out");
    return false;
}

/* node_copy fills `to` with what the anchor names: a walk down the original that opens and closes
 * levels as the parser would, so that the same limits hold. */
static void node_copy(struct yaml *y, struct doc *to, const struct doc *from, struct spot at)
{
    const struct doc *next[YAML_DEPTH_MAX]; // of the original, by level
    uint32_t base = y->depth;
    copy_value(to, from);
    for (;;) {
        if (from->child) {
            if (y->depth == YAML_DEPTH_MAX) {
                refuse(y, STATUS_TOO_LARGE, at, "aliases nest more than 64 maps and lists");
                return;
            }
            next[y->depth] = from->child;
            y->levels[y->depth++] = (struct level){.doc = to};
        }
        while (y->depth > base && !next[y->depth - 1]) {
            y->depth--;
        }
        if (y->depth == base) {
            return;
        }
        from = next[y->depth - 1];
        next[y->depth - 1] = from->next;
        struct level *level = &y->levels[y->depth - 1];
        level->has_key = level->doc->kind == DOC_MAP;
        level->key = from->key;
        level->key_line = from->key_line;
        level->key_col = from->key_col;
        to = alias_counts(y, at) ? node_new(y, at) : NULL;
        if (!to) {
            return;
        }
        copy_value(to, from);
    }
}

/* ---- events ---- */

static struct spot spot_of(const struct fy_mark *mark)
{
    if (!mark || mark->line < 0 || mark->column < 0) {
        return (struct spot){0, 0};
    }
    return (struct spot){(uint32_t)mark->line + 1, (uint32_t)mark->column + 1};
}

static struct str token_text(struct yaml *y, struct fy_token *token)
{
    size_t len = 0;
    const char *text = token ? fy_token_get_text(token, &len) : NULL;
    return text ? arena_str(y->arena, (struct str){text, (uint32_t)len}) : STR("");
}

static void anchor_set(struct yaml *y, struct fy_token *token, struct doc *doc)
{
    if (token) {
        map_put(&y->anchor_ix, token_text(y, token), y->anchors.count);
        *ARRAY_PUSH(y->arena, &y->anchors) = doc;
    }
}

/* tag_ok: only !!str (then *is_text) and the tags that say what is there anyway. */
static bool tag_ok(struct yaml *y, struct fy_token *token, struct spot at, const char *own,
                   bool *is_text)
{
    size_t len = 0;
    const char *text = token ? fy_tag_token_handle(token, &len) : NULL;
    struct str handle = {text, (uint32_t)len};
    if (!token) {
        return true;
    }
    text = fy_tag_token_suffix(token, &len);
    struct str suffix = {text, (uint32_t)len};
    if (str_eq(handle, STR("!!")) && str_eq(suffix, STR("str")) && is_text) {
        *is_text = true;
        return true;
    }
    if (str_eq(handle, STR("!!")) && str_eq(suffix, str_from_c(own))) {
        return true;
    }
    refuse(y, STATUS_INVALID, at, "tags (!name) have no meaning here")->hint = STR(
        "remove the tag");
    return false;
}

/* wants_key: the next value is the key of a map. */
static bool wants_key(struct yaml *y)
{
    const struct level *level = top(y);
    return level && level->doc->kind == DOC_MAP && !level->has_key;
}

static void on_scalar(struct yaml *y, struct fy_event *event)
{
    struct spot at = spot_of(fy_event_start_mark(event));
    enum fy_scalar_style style = fy_token_scalar_style(event->scalar.value);
    bool is_quoted = style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
    if (is_quoted && at.col > 1) {
        at.col--; // the mark is behind the quote
    }
    bool is_text = event->scalar.value && style != FYSS_PLAIN;
    if (!tag_ok(y, event->scalar.tag, at, "", &is_text)) {
        return;
    }
    struct str text = token_text(y, event->scalar.value);
    if (!str_is_utf8(text)) { // by an escape: "\0"
        refuse(y, STATUS_INVALID, at, "expected text without NUL characters")->hint = STR(
            "remove the escape \\0");
        return;
    }
    if (wants_key(y)) {
        struct level *level = &y->levels[y->depth - 1];
        if (event->scalar.anchor) {
            refuse(y, STATUS_INVALID, at, "a key cannot have an anchor");
        }
        level->has_key = true;
        level->key = text;
        level->key_line = at.line > 0 ? at.line : level->doc->line;
        level->key_col = at.line > 0 ? at.col : level->doc->col;
        return;
    }
    struct doc *doc = node_new(y, at);
    if (doc) {
        doc->text = text;
        doc->kind = DOC_STRING;
        if (!is_text) {
            resolve_plain(doc);
        }
        anchor_set(y, event->scalar.anchor, doc);
    }
}

static void on_open(struct yaml *y, struct fy_event *event, enum doc_kind kind)
{
    struct spot at = spot_of(fy_event_start_mark(event));
    bool is_map = kind == DOC_MAP;
    struct fy_token *tag = is_map ? event->mapping_start.tag : event->sequence_start.tag;
    struct fy_token *anchor = is_map ? event->mapping_start.anchor : event->sequence_start.anchor;
    if (wants_key(y)) {
        refuse(y, STATUS_INVALID, at, "a key must be text, not a map or list");
        return;
    }
    if (!tag_ok(y, tag, at, is_map ? "map" : "seq", NULL)) {
        return;
    }
    if (y->depth == YAML_DEPTH_MAX) {
        refuse(y, STATUS_TOO_LARGE, at, "more than 64 maps and lists inside each other");
        return;
    }
    struct doc *doc = node_new(y, at);
    if (doc) {
        doc->kind = kind;
        y->levels[y->depth++] = (struct level){.doc = doc};
        anchor_set(y, anchor, doc);
    }
}

static void on_alias(struct yaml *y, struct fy_event *event)
{
    struct spot at = spot_of(fy_event_start_mark(event));
    struct str name = token_text(y, event->alias.anchor);
    uint32_t ix = 0;
    if (at.col > 1) {
        at.col--; // the mark is behind the asterisk
    }
    if (wants_key(y)) {
        refuse(y, STATUS_INVALID, at, "a key must be text, not an alias");
        return;
    }
    if (!map_get(&y->anchor_ix, name, &ix)) {
        refuse(y, STATUS_INVALID, at, "the alias names nothing above it")->hint = STR(
            "define it before with &name");
        return;
    }
    const struct doc *from = y->anchors.items[ix];
    for (uint32_t i = 0; i < y->depth; i++) {
        if (y->levels[i].doc == from) {
            refuse(y, STATUS_INVALID, at, "the alias is inside of what it names");
            return;
        }
    }
    struct doc *to = alias_counts(y, at) ? node_new(y, at) : NULL;
    if (to) {
        node_copy(y, to, from, at);
    }
}

static void on_event(struct yaml *y, struct fy_event *event)
{
    switch (event->type) {
    case FYET_DOCUMENT_START:
        if (++y->document_count > 1) {
            refuse(y, STATUS_INVALID, spot_of(fy_event_start_mark(event)),
                   "expected one document, a second begins here")
                ->hint = STR("put it into a file of its own");
        }
        break;
    case FYET_SCALAR:
        on_scalar(y, event);
        break;
    case FYET_MAPPING_START:
        on_open(y, event, DOC_MAP);
        break;
    case FYET_SEQUENCE_START:
        on_open(y, event, DOC_LIST);
        break;
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
        CHECK(y->depth > 0);
        y->depth--;
        break;
    case FYET_ALIAS:
        on_alias(y, event);
        break;
    case FYET_NONE:
    case FYET_STREAM_START:
    case FYET_STREAM_END:
    case FYET_DOCUMENT_END:
        break;
    }
}

/* ---- what libfyaml found wrong ---- */

static struct str line_of(struct str bytes, uint32_t line)
{
    struct str text;
    while (str_split(&bytes, '\n', &text)) {
        if (--line == 0) {
            return text;
        }
    }
    return STR("");
}

/* has_tab_indent: a tab before the first other character, in this line or the next. */
static bool has_tab_indent(struct str bytes, uint32_t line)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct str text = line_of(bytes, line + i);
        for (uint32_t c = 0; c < text.len && (text.ptr[c] == ' ' || text.ptr[c] == '\t'); c++) {
            if (text.ptr[c] == '\t') {
                return true;
            }
        }
    }
    return false;
}

static void report_diagnostics(struct yaml *y, struct fy_diag *diag, struct str bytes)
{
    struct fy_diag_error *error;
    void *at = NULL;
    while ((error = fy_diag_errors_iterate(diag, &at)) != NULL) {
        struct spot spot = {error->line > 0 ? (uint32_t)error->line : 0,
                            error->column > 0 ? (uint32_t)error->column : 0};
        struct problem *p = refuse(y, STATUS_INVALID, spot,
                                   error->msg ? error->msg : "this is not YAML");
        if (spot.line > 0 && has_tab_indent(bytes, spot.line)) {
            p->hint = STR("indent with spaces, not tabs");
        } else if (y->depth > 0) {
            const struct doc *open = y->levels[y->depth - 1].doc;
            p->hint = arena_printf(y->arena, "in the %s that begins on line %u",
                                   open->kind == DOC_MAP ? "map" : "list", open->line);
        }
    }
    if (y->status == STATUS_OK) {
        refuse(y, STATUS_INVALID, (struct spot){1, 1}, "this is not YAML");
    }
}

static void parse(struct yaml *y, struct str bytes, struct fy_diag *diag)
{
    const struct fy_parse_cfg cfg = {
        .flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_DEFAULT_VERSION_1_2 |
                 FYPCF_ALLOW_DUPLICATE_KEYS | FYPCF_JSON_NONE,
        .diag = diag,
    };
    struct fy_parser *parser = fy_parser_create(&cfg);
    CHECK(parser != NULL); // fails only without memory
    CHECK(fy_parser_set_string(parser, bytes.ptr, bytes.len) == 0);
    bool is_end = false;
    while (!is_end && y->status == STATUS_OK) {
        struct fy_event *event = fy_parser_parse(parser);
        if (!event) {
            break;
        }
        on_event(y, event);
        is_end = event->type == FYET_STREAM_END;
        fy_parser_event_free(parser, event);
    }
    if (y->status == STATUS_OK && (!is_end || fy_parser_get_stream_error(parser))) {
        report_diagnostics(y, diag, bytes);
    }
    fy_parser_destroy(parser);
}

_Static_assert(YAML_DEPTH_MAX == 64 && YAML_NODES_MAX == 400000 && YAML_ALIAS_NODES_MAX == 40000 &&
                   YAML_BYTES_MAX == 4 << 20,
               "messages say these in words");

enum status yaml_parse(struct str bytes, struct arena *arena, const struct doc **root,
                       struct problems *problems)
{
    struct yaml y = {.arena = arena, .problems = problems};
    map_init(&y.anchor_ix, arena);
    if (bytes.len > YAML_BYTES_MAX) {
        struct problem *p = refuse(&y, STATUS_TOO_LARGE, (struct spot){0, 0},
                                   "the document is larger than 4 MiB");
        p->hint = STR("split it");
        return y.status;
    }
    if (!str_is_utf8(bytes)) {
        refuse(&y, STATUS_INVALID, spot_of_bad_byte(bytes), "this byte is not UTF-8 text")->hint =
            STR("save the file as UTF-8");
        return y.status;
    }
    struct fy_diag_cfg diag_cfg;
    fy_diag_cfg_default(&diag_cfg);
    diag_cfg.fp = NULL; // nothing is printed, errors are collected
    struct fy_diag *diag = fy_diag_create(&diag_cfg);
    CHECK(diag != NULL);
    fy_diag_set_collect_errors(diag, true);
    if (bytes.len > 0) {
        parse(&y, bytes, diag);
    }
    fy_diag_destroy(diag);
    if (y.status != STATUS_OK) {
        return y.status;
    }
    if (!y.root) {
        node_new(&y, (struct spot){1, 1});
    }
    if (y.root->line == 0) {
        y.root->line = y.root->col = 1;
    }
    *root = y.root;
    return STATUS_OK;
}

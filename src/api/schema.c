// SPDX-License-Identifier: Apache-2.0
#include "api/schema.h"

#include <string.h>

#include "base/array.h"
#include "base/check.h"
#include "base/num.h"
#include "base/rfc3339.h"
#include "base/sort.h"
#include "base/uuid.h"
#include "codec/quantity.h"

enum { SHOWN_MAX = 64, MILLI_DIGITS = 3, WORDS_MAX = 64, MEMBERS_MAX = 128 };

/* ---- reading ---- */

struct reader {
    const struct schemas *all;
    struct str rest;
    const char *text; /* whole, for the panic */
};

static void skip_space(struct reader *r)
{
    while (r->rest.len > 0 && r->rest.ptr[0] == ' ') {
        r->rest = str_sub(r->rest, 1, r->rest.len);
    }
}

static bool take(struct reader *r, const char *token)
{
    skip_space(r);
    struct str t = str_from_c(token);
    if (!str_starts(r->rest, t)) {
        return false;
    }
    r->rest = str_sub(r->rest, t.len, r->rest.len);
    return true;
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/' || c == '$';
}

static struct str take_word(struct reader *r)
{
    skip_space(r);
    uint32_t len = 0;
    while (len < r->rest.len && is_word_char(r->rest.ptr[len])) {
        len++;
    }
    if (len == 0) {
        check_fail(__FILE__, __LINE__, r->text);
    }
    struct str word = str_sub(r->rest, 0, len);
    r->rest = str_sub(r->rest, len, r->rest.len);
    return word;
}

static struct str take_until(struct reader *r, char end)
{
    uint32_t len = str_find(r->rest, end);
    CHECK(len < r->rest.len);
    struct str text = str_sub(r->rest, 0, len);
    r->rest = str_sub(r->rest, len + 1, r->rest.len);
    return text;
}

static void read_range(struct reader *r, struct schema *s)
{
    struct str range = take_until(r, ')');
    uint32_t dots = 0;
    uint32_t scale = s->kind == SCHEMA_NUM ? MILLI_DIGITS : 0;
    while (dots + 1 < range.len && (range.ptr[dots] != '.' || range.ptr[dots + 1] != '.')) {
        dots++;
    }
    struct str least = str_sub(range, 0, dots);
    struct str most = str_sub(range, dots + 2, range.len);
    s->has_least = least.len > 0;
    s->has_most = most.len > 0;
    CHECK(!s->has_least || num_parse_decimal(least, scale, &s->least));
    CHECK(!s->has_most || num_parse_decimal(most, scale, &s->most));
}

static void read_words(struct reader *r, struct schema *s)
{
    struct str words[WORDS_MAX];
    s->kind = SCHEMA_WORD;
    do {
        CHECK(s->words_count < WORDS_MAX);
        words[s->words_count++] = take_until(r, '\'');
    } while (take(r, "|'"));
    struct str *kept = ARENA_ARRAY(r->all->arena, struct str, s->words_count);
    memcpy(kept, words, sizeof *words * s->words_count);
    s->words = kept;
}

static const struct schema *read_type(struct reader *r);

static void read_members(struct reader *r, struct schema *s)
{
    ARRAY(struct schema_member) members = {0};
    s->kind = SCHEMA_OBJECT;
    do {
        skip_space(r);
        if (r->rest.len == 0 || r->rest.ptr[0] == '}') {
            break;
        }
        struct schema_member m = {.name = take_word(r)};
        m.required = take(r, "*");
        m.type = read_type(r);
        m.has_preset = take(r, "=");
        if (m.has_preset) {
            m.preset = take_word(r);
        }
        *ARRAY_PUSH(r->all->arena, &members) = m;
    } while (take(r, ","));
    CHECK(members.count <= MEMBERS_MAX);
    s->members = members.items;
    s->members_count = members.count;
}

static void read_name(struct reader *r, struct schema *s)
{
    static const struct {
        struct str word;
        enum schema_kind kind;
    } basic[] = {
        {STRS("str"),  SCHEMA_STR     },
        {STRS("int"),  SCHEMA_INT     },
        {STRS("num"),  SCHEMA_NUM     },
        {STRS("bool"), SCHEMA_BOOL    },
        {STRS("ts"),   SCHEMA_TIME    },
        {STRS("uuid"), SCHEMA_UUID    },
        {STRS("qty"),  SCHEMA_QUANTITY},
        {STRS("any"),  SCHEMA_ANY     },
    };
    static const struct schema any;
    struct str word = take_word(r);
    for (uint32_t i = 0; i < COUNT_OF(basic); i++) {
        if (str_eq(word, basic[i].word)) {
            s->kind = basic[i].kind;
            return;
        }
    }
    if (str_eq(word, STR("obj"))) {
        s->kind = SCHEMA_MAP;
        s->of = &any;
        return;
    }
    s->kind = SCHEMA_NAMED;
    s->name = word;
    s->of = schemas_find(r->all, word);
    if (s->of == NULL) {
        check_fail(__FILE__, __LINE__, arena_cstr(r->all->arena, word));
    }
}

static const struct schema *read_type(struct reader *r)
{
    struct schema *s = ARENA_NEW(r->all->arena, struct schema);
    if (take(r, "[")) {
        s->kind = SCHEMA_LIST;
        s->of = read_type(r);
        CHECK(take(r, "]"));
    } else if (take(r, "map<")) {
        s->kind = SCHEMA_MAP;
        s->of = read_type(r);
        CHECK(take(r, ">"));
    } else if (take(r, "{")) {
        read_members(r, s);
        CHECK(take(r, "}"));
    } else if (take(r, "'")) {
        read_words(r, s);
    } else {
        read_name(r, s);
        if (r->rest.len > 0 && r->rest.ptr[0] == '(' && take(r, "(")) {
            read_range(r, s);
        }
    }
    s->nullable = take(r, "?");
    return s;
}

const struct schema *schema_read(const struct schemas *all, const char *text)
{
    struct reader r = {.all = all, .rest = str_from_c(text), .text = text};
    const struct schema *s = read_type(&r);
    skip_space(&r);
    if (r.rest.len > 0) {
        check_fail(__FILE__, __LINE__, text);
    }
    return s;
}

static int row_order(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return strcmp((*(const struct schema_row *const *)a)->name,
                  (*(const struct schema_row *const *)b)->name);
}

void schemas_init(struct schemas *all, const struct schema_rows *tables, uint32_t tables_count,
                  struct arena *arena)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < tables_count; i++) {
        count += tables[i].count;
    }
    *all = (struct schemas){.arena = arena, .count = count};
    all->rows = ARENA_ARRAY(arena, const struct schema_row *, count);
    all->types = ARENA_ARRAY(arena, struct schema, count);
    uint32_t at = 0;
    for (uint32_t i = 0; i < tables_count; i++) {
        for (uint32_t k = 0; k < tables[i].count; k++) {
            all->rows[at++] = &tables[i].items[k];
        }
    }
    sort_stable(all->rows, count, sizeof *all->rows, row_order, NULL, arena);
    for (uint32_t i = 0; i < count; i++) {
        CHECK(i == 0 || row_order(&all->rows[i - 1], &all->rows[i], NULL) < 0);
        struct reader r = {all, str_from_c(all->rows[i]->text), all->rows[i]->text};
        skip_space(&r);
        if (r.rest.len > 0 && (r.rest.ptr[0] == '\'' || r.rest.ptr[0] == '[')) {
            all->types[i] = *read_type(&r);
        } else {
            read_members(&r, &all->types[i]);
        }
        if (r.rest.len > 0) {
            check_fail(__FILE__, __LINE__, r.text);
        }
    }
}

const struct schema *schemas_find(const struct schemas *all, struct str name)
{
    uint32_t low = 0;
    uint32_t high = all->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = str_cmp(str_from_c(all->rows[middle]->name), name);
        if (order == 0) {
            return &all->types[middle];
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

/* ---- checking ---- */

struct checker {
    struct problems *problems;
    struct str *first_wrong;
};

static void wrong(const struct checker *k, struct str path, const struct doc *at,
                  const char *expected)
{
    bool scalar = at->kind == DOC_NUMBER || at->kind == DOC_STRING;
    struct str shown = scalar ? str_clip(at->text, SHOWN_MAX) : (struct str){0};
    const char *quote = at->kind == DOC_STRING ? "\"" : "";
    struct problem *p = scalar ? problems_add(k->problems, SEVERITY_ERROR,
                                              "expected %s, got %s" STR_FMT "%s", expected, quote,
                                              STR_ARG(shown), quote)
                               : problems_add(k->problems, SEVERITY_ERROR, "expected %s, got %s",
                                              expected, doc_kind_name(at->kind));
    p->line = at->line;
    p->col = at->col;
    p->field = path;
    if (k->first_wrong != NULL && k->problems->error_count == 1) {
        *k->first_wrong = shown;
    }
}

static struct str below(const struct checker *k, struct str path, struct str name)
{
    return path.len == 0 ? name
                         : arena_printf(k->problems->arena, STR_FMT "." STR_FMT, STR_ARG(path),
                                        STR_ARG(name));
}

static const char *number_text(const struct checker *k, const struct schema *s, int64_t v)
{
    if (s->kind != SCHEMA_NUM) {
        return arena_printf(k->problems->arena, "%lld", (long long)v).ptr;
    }
    struct buf out;
    struct jw w;
    buf_init(&out, SHOWN_MAX);
    jw_init(&w, &out, false);
    jw_decimal(&w, v, MILLI_DIGITS);
    const char *text = arena_cstr(k->problems->arena, buf_view(&out));
    buf_done(&out);
    return text;
}

/* "a whole number from 1 to 500" */
static const char *number_wanted(const struct checker *k, const struct schema *s)
{
    struct arena *arena = k->problems->arena;
    const char *what = s->kind == SCHEMA_INT ? "a whole number" : "a number";
    const char *digits = s->kind == SCHEMA_NUM ? " with at most three digits behind the point" : "";
    const char *range = "";
    if (s->has_least && s->has_most) {
        range = arena_printf(arena, " from %s to %s", number_text(k, s, s->least),
                             number_text(k, s, s->most))
                    .ptr;
    } else if (s->has_least) {
        range = arena_printf(arena, " of at least %s", number_text(k, s, s->least)).ptr;
    } else if (s->has_most) {
        range = arena_printf(arena, " of at most %s", number_text(k, s, s->most)).ptr;
    }
    return arena_printf(arena, "%s%s%s", what, range, digits).ptr;
}

static void check_number(const struct checker *k, const struct schema *s, const struct doc *at,
                         struct str path)
{
    int64_t v = 0;
    struct jr r;
    struct err err;
    bool ok = at->kind == DOC_NUMBER;
    if (ok) {
        jr_init(&r, at->text, k->problems->arena, &err);
        ok = s->kind == SCHEMA_INT ? jr_i64(&r, &v) : jr_decimal(&r, MILLI_DIGITS, &v);
    }
    if (!ok || (s->has_least && v < s->least) || (s->has_most && v > s->most)) {
        wrong(k, path, at, number_wanted(k, s));
    }
}

static void check_word(const struct checker *k, const struct schema *s, const struct doc *at,
                       struct str path)
{
    struct buf list;
    buf_init(&list, 4096);
    for (uint32_t i = 0; i < s->words_count; i++) {
        if (at->kind == DOC_STRING && str_eq(at->text, s->words[i])) {
            buf_done(&list);
            return;
        }
        buf_printf(&list, "%s" STR_FMT, i == 0 ? "one of " : ", ", STR_ARG(s->words[i]));
    }
    wrong(k, path, at, arena_cstr(k->problems->arena, buf_view(&list)));
    buf_done(&list);
}

bool schema_time(struct str text, int64_t *ms)
{
    char zoned[48];
    return rfc3339_parse(text, ms, NULL) == STATUS_OK ||
           rfc3339_parse(str_format(zoned, sizeof zoned, STR_FMT "Z", STR_ARG(text)), ms, NULL) ==
               STATUS_OK;
}

static void check_text(const struct checker *k, const struct schema *s, const struct doc *at,
                       struct str path)
{
    int64_t number;
    struct uuid id;
    struct arena *arena = k->problems->arena;
    const char *expected = NULL;
    bool is_text = at->kind == DOC_STRING;
    if (s->kind == SCHEMA_UUID) {
        expected = is_text && uuid_parse(at->text, &id) ? NULL : "a UUID";
    } else if (s->kind == SCHEMA_TIME) {
        expected = is_text && schema_time(at->text, &number)
                       ? NULL
                       : "a time such as 2026-05-01T12:00:00Z";
    } else if (s->kind == SCHEMA_QUANTITY) {
        expected = is_text && quantity_parse_bytes(at->text, &number, NULL) == STATUS_OK &&
                           number >= 0
                       ? NULL
                       : "an amount such as 500M, 2G or 16Gi";
    } else if (!is_text) {
        expected = "a string";
    } else if (s->has_most && at->text.len > s->most) {
        expected = arena_printf(arena, "at most %lld bytes", (long long)s->most).ptr;
    } else if (s->has_least && at->text.len < s->least) {
        expected = "a string that is not empty";
    }
    if (expected != NULL) {
        wrong(k, path, at, expected);
    }
}

static void unknown_member(const struct checker *k, const struct schema *s, const struct doc *d,
                           struct str path)
{
    struct str names[MEMBERS_MAX];
    for (uint32_t i = 0; i < s->members_count; i++) {
        names[i] = s->members[i].name;
    }
    struct str shown = str_clip(d->key, SHOWN_MAX);
    uint32_t near = str_nearest(d->key, names, s->members_count);
    struct problem *p = problems_add(k->problems, SEVERITY_ERROR,
                                     "there is no member \"" STR_FMT "\" here", STR_ARG(shown));
    p->line = d->key_line;
    p->col = d->key_col;
    p->field = below(k, path, shown);
    if (near < s->members_count) {
        p->hint = arena_printf(k->problems->arena, "did you mean \"" STR_FMT "\"?",
                               STR_ARG(names[near]));
    }
}

static void check_value(const struct checker *k, const struct schema *s, const struct doc *at,
                        struct str path);

static void check_members(const struct checker *k, const struct schema *s, const struct doc *at,
                          struct str path)
{
    bool seen[MEMBERS_MAX] = {false};
    for (const struct doc *d = at->child; d != NULL; d = d->next) {
        uint32_t m = 0;
        while (m < s->members_count && !str_eq(s->members[m].name, d->key)) {
            m++;
        }
        if (m == s->members_count) {
            unknown_member(k, s, d, path);
        } else if (seen[m]) {
            wrong(k, below(k, path, d->key), d, "each member once");
        } else {
            seen[m] = true;
            check_value(k, s->members[m].type, d, below(k, path, d->key));
        }
    }
    for (uint32_t m = 0; m < s->members_count; m++) {
        if (s->members[m].required && !seen[m]) {
            struct problem *p = problems_add(k->problems, SEVERITY_ERROR, STR_FMT " is missing",
                                             STR_ARG(s->members[m].name));
            p->line = at->line;
            p->col = at->col;
            p->field = below(k, path, s->members[m].name);
        }
    }
}

static int name_order(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp((*(const struct doc *const *)a)->key, (*(const struct doc *const *)b)->key);
}

static void check_map(const struct checker *k, const struct schema *s, const struct doc *at,
                      struct str path)
{
    struct arena *arena = k->problems->arena;
    const struct doc **sorted = ARENA_ARRAY(arena, const struct doc *, at->child_count);
    uint32_t n = 0;
    for (const struct doc *d = at->child; d != NULL; d = d->next) {
        sorted[n++] = d;
        if (d->key.len == 0) {
            wrong(k, path, d, "a name that is not empty");
        }
        check_value(k, s->of, d, below(k, path, d->key));
    }
    sort_stable(sorted, n, sizeof *sorted, name_order, NULL, arena);
    for (uint32_t i = 1; i < n; i++) {
        if (str_eq(sorted[i - 1]->key, sorted[i]->key)) {
            wrong(k, below(k, path, sorted[i]->key), sorted[i], "each name once");
        }
    }
}

static void check_children(const struct checker *k, const struct schema *s, const struct doc *at,
                           struct str path)
{
    if (at->kind != (s->kind == SCHEMA_LIST ? DOC_LIST : DOC_MAP)) {
        wrong(k, path, at, s->kind == SCHEMA_LIST ? "a list" : "an object");
    } else if (s->kind == SCHEMA_OBJECT) {
        check_members(k, s, at, path);
    } else if (s->kind == SCHEMA_MAP) {
        check_map(k, s, at, path);
    } else {
        uint32_t i = 0;
        for (const struct doc *d = at->child; d != NULL; d = d->next) {
            check_value(k, s->of, d,
                        arena_printf(k->problems->arena, STR_FMT "[%u]", STR_ARG(path), i++));
        }
    }
}

/* Its depth is that of the document, which the reader bounds. */
static void check_value(const struct checker *k, const struct schema *s, const struct doc *at,
                        struct str path)
{
    if (at->kind == DOC_NULL && s->nullable) {
        return;
    }
    switch (s->kind) {
    case SCHEMA_ANY:
        break;
    case SCHEMA_NAMED:
        check_value(k, s->of, at, path);
        break;
    case SCHEMA_BOOL:
        if (at->kind != DOC_BOOL) {
            wrong(k, path, at, "true or false");
        }
        break;
    case SCHEMA_INT:
    case SCHEMA_NUM:
        check_number(k, s, at, path);
        break;
    case SCHEMA_WORD:
        check_word(k, s, at, path);
        break;
    case SCHEMA_STR:
    case SCHEMA_TIME:
    case SCHEMA_UUID:
    case SCHEMA_QUANTITY:
        check_text(k, s, at, path);
        break;
    case SCHEMA_LIST:
    case SCHEMA_MAP:
    case SCHEMA_OBJECT:
        check_children(k, s, at, path);
        break;
    }
}

void schema_check(const struct schema *type, const struct doc *value, struct str path,
                  struct problems *problems, struct str *first_wrong)
{
    struct checker k = {problems, first_wrong};
    check_value(&k, type, value, path);
}

/* ---- showing ---- */

static void show_number(struct jw *w, const struct schema *s, struct str key, int64_t v)
{
    jw_key(w, key);
    jw_decimal(w, v, s->kind == SCHEMA_NUM ? MILLI_DIGITS : 0);
}

static void show_preset(struct jw *w, const struct schema_member *m)
{
    enum schema_kind kind = m->type->kind;
    jw_key(w, STR("default"));
    if (kind == SCHEMA_BOOL || kind == SCHEMA_INT || kind == SCHEMA_NUM) {
        jw_raw(w, m->preset);
    } else {
        jw_string(w, m->preset);
    }
}

static void show_members(struct jw *w, const struct schema *s);

/* The members of a JSON Schema object without the braces. */
static void show_inside(struct jw *w, const struct schema *s)
{
    static const struct {
        struct str type, format;
    } words[] = {
        [SCHEMA_ANY] = {STRS(""),        STRS("")         },
        [SCHEMA_STR] = {STRS("string"),  STRS("")         },
        [SCHEMA_INT] = {STRS("integer"), STRS("")         },
        [SCHEMA_NUM] = {STRS("number"),  STRS("")         },
        [SCHEMA_BOOL] = {STRS("boolean"), STRS("")         },
        [SCHEMA_TIME] = {STRS("string"),  STRS("date-time")},
        [SCHEMA_UUID] = {STRS("string"),  STRS("uuid")     },
        [SCHEMA_QUANTITY] = {STRS("string"),  STRS("")         },
        [SCHEMA_WORD] = {STRS("string"),  STRS("")         },
        [SCHEMA_LIST] = {STRS("array"),   STRS("")         },
        [SCHEMA_MAP] = {STRS("object"),  STRS("")         },
        [SCHEMA_OBJECT] = {STRS("object"),  STRS("")         },
        [SCHEMA_NAMED] = {STRS(""),        STRS("")         },
    };
    if (words[s->kind].type.len > 0) {
        jw_key(w, STR("type"));
        if (s->nullable) {
            jw_array_begin(w);
            jw_string(w, words[s->kind].type);
            jw_string(w, STR("null"));
            jw_array_end(w);
        } else {
            jw_string(w, words[s->kind].type);
        }
    }
    if (words[s->kind].format.len > 0) {
        jw_member_string(w, STR("format"), words[s->kind].format);
    }
    bool text = s->kind == SCHEMA_STR;
    if (s->has_least) {
        show_number(w, s, text ? STR("minLength") : STR("minimum"), s->least);
    }
    if (s->has_most) {
        show_number(w, s, text ? STR("maxLength") : STR("maximum"), s->most);
    }
    if (s->kind == SCHEMA_NUM) {
        jw_key(w, STR("multipleOf"));
        jw_decimal(w, 1, MILLI_DIGITS);
    } else if (s->kind == SCHEMA_QUANTITY) {
        jw_member_string(w, STR("pattern"), STR("^[0-9]+(\\.[0-9]+)?([kMGTPE]|[KMGTPE]i)?B?$"));
    } else if (s->kind == SCHEMA_WORD) {
        jw_key(w, STR("enum"));
        jw_array_begin(w);
        for (uint32_t i = 0; i < s->words_count; i++) {
            jw_string(w, s->words[i]);
        }
        if (s->nullable) {
            jw_null(w);
        }
        jw_array_end(w);
    } else if (s->kind == SCHEMA_LIST) {
        jw_key(w, STR("items"));
        schema_show(s->of, w);
    } else if (s->kind == SCHEMA_MAP) {
        jw_key(w, STR("additionalProperties"));
        schema_show(s->of, w);
    } else if (s->kind == SCHEMA_OBJECT) {
        show_members(w, s);
    }
}

static void show_members(struct jw *w, const struct schema *s)
{
    bool any_required = false;
    jw_key(w, STR("properties"));
    jw_object_begin(w);
    for (uint32_t i = 0; i < s->members_count; i++) {
        const struct schema_member *m = &s->members[i];
        any_required = any_required || m->required;
        jw_key(w, m->name);
        if (m->has_preset && m->type->kind != SCHEMA_NAMED) {
            jw_object_begin(w);
            show_inside(w, m->type);
            show_preset(w, m);
            jw_object_end(w);
        } else {
            schema_show(m->type, w);
        }
    }
    jw_object_end(w);
    if (!any_required) {
        return;
    }
    jw_key(w, STR("required"));
    jw_array_begin(w);
    for (uint32_t i = 0; i < s->members_count; i++) {
        if (s->members[i].required) {
            jw_string(w, s->members[i].name);
        }
    }
    jw_array_end(w);
}

static void show_reference(struct jw *w, struct str name)
{
    char path[128];
    jw_object_begin(w);
    jw_member_string(w, STR("$ref"),
                     str_format(path, sizeof path, "#/components/schemas/" STR_FMT, STR_ARG(name)));
    jw_object_end(w);
}

bool schema_must_have(const struct schema *type)
{
    const struct schema *s = type->kind == SCHEMA_NAMED ? type->of : type;
    for (uint32_t i = 0; i < s->members_count; i++) {
        if (s->members[i].required) {
            return true;
        }
    }
    return false;
}

void schema_show(const struct schema *type, struct jw *w)
{
    if (type->kind != SCHEMA_NAMED) {
        jw_object_begin(w);
        show_inside(w, type);
        jw_object_end(w);
    } else if (!type->nullable) {
        show_reference(w, type->name);
    } else {
        jw_object_begin(w);
        jw_key(w, STR("oneOf"));
        jw_array_begin(w);
        show_reference(w, type->name);
        jw_object_begin(w);
        jw_member_string(w, STR("type"), STR("null"));
        jw_object_end(w);
        jw_array_end(w);
        jw_object_end(w);
    }
}

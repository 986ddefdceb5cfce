// SPDX-License-Identifier: Apache-2.0
#include "api/args.h"

#include "io/http.h"

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Without regard to case, '_' and '-'. */
static bool same_word(struct str a, struct str b)
{
    uint32_t i = 0;
    uint32_t k = 0;
    for (;;) {
        while (i < a.len && (a.ptr[i] == '_' || a.ptr[i] == '-')) {
            i++;
        }
        while (k < b.len && (b.ptr[k] == '_' || b.ptr[k] == '-')) {
            k++;
        }
        if (i == a.len || k == b.len) {
            return i == a.len && k == b.len;
        }
        if (fold(a.ptr[i++]) != fold(b.ptr[k++])) {
            return false;
        }
    }
}

static struct str find_word(const struct schema *s, struct str given)
{
    struct str name = given;
    uint32_t dot = str_find(name, '.');
    if (dot < name.len) {
        name = str_sub(name, dot + 1, name.len);
    }
    for (uint32_t i = 0; i < s->words_count; i++) {
        if (same_word(s->words[i], name)) {
            return s->words[i];
        }
    }
    return given;
}

static void set_scalar(const struct schema *s, struct str text, struct doc *d)
{
    s = s->kind == SCHEMA_NAMED ? s->of : s;
    d->kind = DOC_STRING;
    d->text = text;
    if (s->kind == SCHEMA_WORD) {
        d->text = find_word(s, text);
    } else if ((s->kind == SCHEMA_INT || s->kind == SCHEMA_NUM) && jr_is_number(text)) {
        d->kind = DOC_NUMBER;
    } else if (s->kind == SCHEMA_BOOL) {
        bool yes = same_word(text, STR("true")) || str_eq(text, STR("1"));
        bool no = same_word(text, STR("false")) || str_eq(text, STR("0"));
        d->kind = yes || no ? DOC_BOOL : DOC_STRING;
        d->boolean = yes;
    }
}

static void set_value(const struct schema *s, struct str text, struct doc *d, struct arena *arena)
{
    if (s->kind != SCHEMA_LIST) {
        set_scalar(s, text, d);
        return;
    }
    struct doc **link = &d->child;
    struct str item;
    d->kind = DOC_LIST;
    while (str_split(&text, ',', &item)) {
        *link = ARENA_NEW(arena, struct doc);
        set_scalar(s->of, item, *link);
        link = &(*link)->next;
        d->child_count++;
    }
}

static const struct schema_member *find_member(const struct schema *type, struct str name)
{
    for (uint32_t i = 0; i < type->members_count; i++) {
        if (same_word(type->members[i].name, name)) { /* file_type and fileType are the same */
            return &type->members[i];
        }
    }
    return NULL;
}

/* Text that is empty counts as not given; an empty number or time is none. */
static bool may_be_empty(const struct schema_member *m)
{
    return m != NULL && (m->type->kind == SCHEMA_STR || m->type->kind == SCHEMA_LIST ||
                         m->type->kind == SCHEMA_ANY || m->type->kind == SCHEMA_NAMED);
}

struct doc *args_doc(const struct schema *type, const struct http_request *request,
                     struct arena *arena)
{
    static const struct schema any;
    struct doc *map = ARENA_NEW(arena, struct doc);
    struct doc **link = &map->child;
    map->kind = DOC_MAP;
    for (uint32_t i = 0; i < request->args_count; i++) {
        const struct http_pair *given = &request->args[i];
        const struct schema_member *m = find_member(type, given->name);
        bool again = m != NULL && m->type->kind == SCHEMA_ANY && doc_get(map, m->name) != NULL;
        if ((given->value.len == 0 && may_be_empty(m)) || given->name.len == 0 || again) {
            continue; /* again: `any` may be given more than once, its handler reads the request */
        }
        struct doc *d = ARENA_NEW(arena, struct doc);
        d->key = m != NULL ? m->name : given->name;
        set_value(m != NULL ? m->type : &any, given->value, d, arena);
        *link = d;
        link = &d->next;
        map->child_count++;
    }
    for (uint32_t i = 0; i < type->members_count; i++) {
        const struct schema_member *m = &type->members[i];
        if (m->has_preset && doc_get(map, m->name) == NULL) {
            struct doc *d = ARENA_NEW(arena, struct doc);
            d->key = m->name;
            set_value(m->type, m->preset, d, arena);
            *link = d;
            link = &d->next;
            map->child_count++;
        }
    }
    return map;
}

// SPDX-License-Identifier: Apache-2.0
#include "api/body.h"

#include "api/schema.h"
#include "base/check.h"
#include "base/sort.h"
#include "codec/quantity.h"

const struct doc *body_get(const struct doc *map, struct str name)
{
    const struct doc *d = doc_get(map, name);
    return d != NULL && d->kind != DOC_NULL ? d : NULL;
}

struct str body_str(const struct doc *map, struct str name)
{
    const struct doc *d = body_get(map, name);
    return d != NULL ? d->text : (struct str){0};
}

bool body_bool(const struct doc *map, struct str name, bool otherwise)
{
    const struct doc *d = body_get(map, name);
    return d != NULL ? d->boolean : otherwise;
}

/* A number without an exponent needs no memory to be read. */
static int64_t number(const struct doc *d, uint32_t scale)
{
    struct arena arena;
    struct jr r;
    struct err err;
    int64_t v = 0;
    arena_init(&arena, 0);
    jr_init(&r, d->text, &arena, &err);
    bool ok = scale == 0 ? jr_i64(&r, &v) : jr_decimal(&r, scale, &v);
    arena_done(&arena);
    CHECK(ok); /* the schema saw to it */
    return v;
}

int64_t doc_i64(const struct doc *d)
{
    return number(d, 0);
}

int64_t doc_milli(const struct doc *d)
{
    return number(d, 3);
}

int64_t body_i64(const struct doc *map, struct str name, int64_t otherwise)
{
    const struct doc *d = body_get(map, name);
    return d != NULL ? doc_i64(d) : otherwise;
}

int64_t body_milli(const struct doc *map, struct str name, int64_t otherwise)
{
    const struct doc *d = body_get(map, name);
    return d != NULL ? doc_milli(d) : otherwise;
}

int64_t body_time(const struct doc *map, struct str name, int64_t otherwise)
{
    const struct doc *d = body_get(map, name);
    int64_t ms = otherwise;
    CHECK(d == NULL || schema_time(d->text, &ms));
    return ms;
}

int64_t body_bytes(const struct doc *map, struct str name, int64_t otherwise)
{
    const struct doc *d = body_get(map, name);
    int64_t bytes = otherwise;
    CHECK(d == NULL || quantity_parse_bytes(d->text, &bytes, NULL) == STATUS_OK);
    return bytes;
}

uint32_t body_count(const struct doc *list)
{
    return list != NULL ? list->child_count : 0;
}

uint32_t body_word(const struct doc *map, struct str name, const struct str *words, uint32_t count,
                   uint32_t otherwise)
{
    const struct doc *d = body_get(map, name);
    for (uint32_t i = 0; d != NULL && i < count; i++) {
        if (str_eq(d->text, words[i])) {
            return i;
        }
    }
    return otherwise;
}

struct str_item *body_strings(const struct doc *list, struct arena *arena, uint32_t *count)
{
    *count = body_count(list);
    struct str_item *items = ARENA_ARRAY(arena, struct str_item, *count);
    uint32_t n = 0;
    for (const struct doc *d = list != NULL ? list->child : NULL; d != NULL; d = d->next) {
        items[n++].value = d->text;
    }
    return items;
}

static int pair_order(const void *a, const void *b, void *ctx)
{
    (void)ctx;
    return str_cmp(((const struct label *)a)->key, ((const struct label *)b)->key);
}

struct label *body_pairs(const struct doc *map, struct arena *arena, uint32_t *count)
{
    *count = body_count(map);
    struct label *items = ARENA_ARRAY(arena, struct label, *count);
    uint32_t n = 0;
    for (const struct doc *d = map != NULL ? map->child : NULL; d != NULL; d = d->next) {
        items[n++] = (struct label){d->key, d->text};
    }
    sort_stable(items, n, sizeof *items, pair_order, NULL, arena);
    return items;
}

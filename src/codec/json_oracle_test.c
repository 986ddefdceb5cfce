// SPDX-License-Identifier: Apache-2.0
// The same random texts, right and slightly wrong, are given to our reader and to jansson: both must
// accept or both refuse, and what both read must be equal. jansson keeps the last of duplicate keys
// and orders none, so objects are compared key by key.
#include <jansson.h>
#include <string.h>

#include "base/prng.h"
#include "base/test.h"
#include "codec/json.h"

static struct arena arena;

static void add_string(struct buf *b, struct prng *p)
{
    static const char pieces[][16] = {"a",
                                      "key",
                                      " ",
                                      "\\n",
                                      "\\\"",
                                      "\\u00e9",
                                      "\xc3\xa9",
                                      "\\ud83d\\ude00",
                                      "\\/",
                                      "0123456789ab",
                                      "\\\\",
                                      "{}",
                                      "\xf0\x9f\x98\x80",
                                      "\\u0001"};
    buf_char(b, '"');
    for (uint32_t i = prng_below(p, 5); i > 0; i--) {
        buf_str(b, str_from_c(pieces[prng_below(p, COUNT_OF(pieces))]));
    }
    buf_char(b, '"');
}

static void add_space(struct buf *b, struct prng *p)
{
    static const char spaces[] = " \n\r\t";
    for (uint32_t i = prng_below(p, 3); i > 0; i--) {
        buf_char(b, spaces[prng_below(p, 4)]);
    }
}

static void add_scalar(struct buf *b, struct prng *p)
{
    static const char words[][8] = {"true", "false", "null", "0", "-1", "1e5", "-0.25", "12"};
    if (prng_chance(p, 400)) {
        add_string(b, p);
    } else if (prng_chance(p, 300)) {
        buf_printf(b, "%" PRIi64, prng_range(p, INT64_MIN, INT64_MAX));
    } else {
        buf_str(b, str_from_c(words[prng_below(p, COUNT_OF(words))]));
    }
}

// A well-formed text: containers are opened and closed at random down to a small depth.
static void add_document(struct buf *b, struct prng *p)
{
    char closers[8];
    uint32_t depth = 0;
    bool first = true;
    do {
        bool closing = depth > 0 && prng_chance(p, 350);
        if (closing) {
            buf_char(b, closers[--depth]);
            first = false;
            add_space(b, p);
            continue;
        }
        if (depth > 0 && !first) {
            buf_char(b, ',');
            add_space(b, p);
        }
        if (depth > 0 && closers[depth - 1] == '}') {
            add_string(b, p);
            add_space(b, p);
            buf_char(b, ':');
            add_space(b, p);
        }
        first = depth < sizeof(closers) && prng_chance(p, 500);
        if (first) {
            bool map = prng_chance(p, 500);
            buf_char(b, map ? '{' : '[');
            closers[depth++] = map ? '}' : ']';
        } else {
            add_scalar(b, p);
        }
        add_space(b, p);
    } while (depth > 0);
}

static void spoil(struct buf *b, struct prng *p)
{
    static const char bytes[] = "{}[]:,\"\\ -0e.tn\x01\xff";
    uint32_t at = prng_below(p, (uint32_t)b->len);
    switch (prng_below(p, 3)) {
    case 0:
        b->ptr[at] = bytes[prng_below(p, sizeof(bytes) - 1)];
        break;
    case 1:
        memmove(b->ptr + at, b->ptr + at + 1, b->len - at - 1);
        b->len--;
        break;
    default:
        buf_char(b, bytes[prng_below(p, sizeof(bytes) - 1)]);
        break;
    }
}

static const struct doc *last_of(const struct doc *map, struct str key)
{
    const struct doc *last = NULL;
    for (const struct doc *m = map->child; m; m = m->next) {
        if (str_eq(m->key, key)) {
            last = m;
        }
    }
    return last;
}

static bool same_number(const struct doc *d, const json_t *j)
{
    char text[64];
    str_format(text, sizeof(text), STR_FMT, STR_ARG(d->text));
    return json_is_integer(j) ? strtoll(text, NULL, 10) == json_integer_value(j)
                              : !(strtod(text, NULL) < json_real_value(j)) &&
                                    !(strtod(text, NULL) > json_real_value(j));
}

// Tests may recurse: the documents are shallow.
static bool same(const struct doc *d, const json_t *j)
{
    switch (d->kind) {
    case DOC_NULL:
        return json_is_null(j);
    case DOC_BOOL:
        return json_is_boolean(j) && json_is_true(j) == d->boolean;
    case DOC_NUMBER:
        return json_is_number(j) && same_number(d, j);
    case DOC_STRING:
        return json_is_string(j) &&
               str_eq(d->text, (struct str){json_string_value(j), (uint32_t)json_string_length(j)});
    case DOC_LIST: {
        bool ok = json_is_array(j) && json_array_size(j) == d->child_count;
        size_t i = 0;
        for (const struct doc *item = d->child; ok && item; item = item->next) {
            ok = same(item, json_array_get(j, i++));
        }
        return ok;
    }
    case DOC_MAP: {
        bool ok = json_is_object(j);
        for (const struct doc *m = d->child; ok && m; m = m->next) {
            ok = same(last_of(d, m->key), json_object_get(j, arena_cstr(&arena, m->key)));
        }
        return ok;
    }
    }
    return false;
}

static void compare(struct str text, uint32_t *accepted)
{
    test_row(arena_cstr(&arena, text));
    struct err e;
    struct doc *d;
    bool ours = json_doc(text, &arena, &d, &e) == STATUS_OK;
    json_error_t oracle_error;
    json_t *oracle = json_loadb(text.ptr, text.len, JSON_DECODE_ANY, &oracle_error);
    // It refuses numbers that it cannot hold; we keep them as text.
    bool too_large = !oracle && json_error_code(&oracle_error) == json_error_numeric_overflow;
    if (!too_large && EXPECT(ours == (oracle != NULL)) && ours) {
        ++*accepted;
        EXPECT(same(d, oracle));
    }
    json_decref(oracle);
}

TEST(agrees_with_jansson)
{
    struct prng p;
    prng_init(&p, test_seed());
    struct buf b;
    buf_init(&b, 1 << 16);
    uint32_t accepted = 0;
    for (uint32_t round = 0; round < 10000; round++) {
        buf_clear(&b);
        add_space(&b, &p);
        add_document(&b, &p);
        compare(buf_view(&b), &accepted);
        spoil(&b, &p);
        compare(buf_view(&b), &accepted);
        arena_reset(&arena);
    }
    EXPECT(accepted > 10000);
    buf_done(&b);
    arena_done(&arena);
}

TEST_MAIN()

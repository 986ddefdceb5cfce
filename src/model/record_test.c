// SPDX-License-Identifier: Apache-2.0
#include "model/record.h"

#include <string.h>

#include "base/prng.h"
#include "base/test.h"
#include "model/input.h"

struct leaf {
    int64_t i;
    uint32_t u;
    bool b;
    struct str s;
    struct uuid id;
};
struct tree {
    struct leaf one;
    struct leaf *leaves;
    struct i64_item *numbers;
    struct str_item *words;
    uint32_t leaves_count, numbers_count, words_count;
    int64_t last;
};
static const struct field leaf_fields[] = {
    F_I64(1, struct leaf, i), F_U32(3, struct leaf, u),   F_BOOL(4, struct leaf, b),
    F_STR(7, struct leaf, s), F_UUID(9, struct leaf, id),
};
static const struct record record_leaf = RECORD("leaf", struct leaf, leaf_fields);
static const struct field tree_fields[] = {
    F_RECORD(1, struct tree, one, record_leaf),
    F_LIST(2, struct tree, leaves, record_leaf),
    F_LIST(3, struct tree, numbers, record_i64_item),
    F_LIST(5, struct tree, words, record_str_item),
    F_I64(300, struct tree, last),
};
static const struct record record_tree = RECORD("tree", struct tree, tree_fields);
/* What an older program knows of it. */
static const struct field old_fields[] = {F_LIST(3, struct tree, numbers, record_i64_item)};
static const struct record record_old = RECORD("old", struct tree, old_fields);

static int64_t random_i64(struct prng *p)
{
    static const int64_t edges[] = {0, 1, -1, 63, 64, -64, -65, INT64_MAX, INT64_MIN};
    return prng_chance(p, 500) ? edges[prng_below(p, COUNT_OF(edges))]
                               : (int64_t)(prng_next(p) >> prng_below(p, 63));
}

static struct leaf random_leaf(struct prng *p, struct arena *a)
{
    struct leaf l = {.i = random_i64(p), .u = (uint32_t)random_i64(p), .b = prng_chance(p, 500)};
    l.s.len = prng_below(p, 3) * prng_below(p, 90);
    char *text = arena_alloc(a, l.s.len);
    for (uint32_t i = 0; i < l.s.len; i++) {
        text[i] = (char)('a' + prng_below(p, 26));
    }
    l.s.ptr = text;
    for (uint32_t i = 0; i < sizeof(l.id.b); i++) {
        l.id.b[i] = l.b ? (uint8_t)prng_below(p, 256) : 0;
    }
    return l;
}

static struct tree random_tree(struct prng *p, struct arena *a)
{
    struct tree t = {.leaves_count = prng_below(p, 4), .numbers_count = prng_below(p, 4)};
    t.words_count = prng_below(p, 3);
    t.last = random_i64(p);
    if (prng_chance(p, 700)) {
        t.one = random_leaf(p, a);
    }
    t.leaves = ARENA_ARRAY(a, struct leaf, t.leaves_count);
    t.numbers = ARENA_ARRAY(a, struct i64_item, t.numbers_count);
    t.words = ARENA_ARRAY(a, struct str_item, t.words_count);
    for (uint32_t i = 0; i < t.leaves_count; i++) {
        t.leaves[i] = random_leaf(p, a);
    }
    for (uint32_t i = 0; i < t.numbers_count; i++) {
        t.numbers[i].value = random_i64(p);
    }
    for (uint32_t i = 0; i < t.words_count; i++) {
        t.words[i].value = random_leaf(p, a).s;
    }
    return t;
}

TEST(bytes_are_as_written_down)
{
    struct i64_item numbers[] = {{1}, {0}, {-1}};
    struct tree t = {.numbers = numbers, .numbers_count = 3, .last = 150};
    t.one.u = 300;
    t.one.s = STR("hi");
    static const char want[] = "\x01\x05\x09\0\0\0" /* one: a record of 9 bytes */
                               "\x03\x01\xac\x02"   /* u = 300 */
                               "\x07\x03\x02hi"     /* s */
                               "\x03\x06\x12\0\0\0" /* numbers: a list of 18 bytes */
                               "\x03\0\0\0\x01\0\x02"
                               "\0\0\0\0"
                               "\x03\0\0\0\x01\0\x01"
                               "\xac\x02\0\xac\x02"; /* tag 300: last = 150 */
    struct buf out;
    buf_init(&out, 1000);
    record_encode(&record_tree, &t, &out);
    EXPECT_STR(buf_view(&out), ((struct str){want, sizeof(want) - 1}));
    buf_done(&out);
}

TEST(zero_value_has_no_bytes)
{
    struct tree t = {.last = 0};
    struct buf out;
    buf_init(&out, 1000);
    record_encode(&record_tree, &t, &out);
    EXPECT_I64((int64_t)out.len, 0);
    struct arena a;
    arena_init(&a, 0);
    struct tree back;
    EXPECT_STATUS(record_decode(&record_tree, STR(""), &a, &back, NULL), STATUS_OK);
    EXPECT(record_eq(&record_tree, &t, &back));
    arena_done(&a);
    buf_done(&out);
}

TEST(round_trip_copy_and_comparison)
{
    struct prng p;
    prng_init(&p, test_seed());
    struct arena a;
    arena_init(&a, 0);
    struct buf one, two;
    buf_init(&one, 1 << 20);
    buf_init(&two, 1 << 20);
    for (uint32_t round = 0; round < 3000; round++) {
        arena_reset(&a);
        buf_clear(&one);
        buf_clear(&two);
        struct tree t = random_tree(&p, &a), back, copy, other = random_tree(&p, &a);
        record_encode(&record_tree, &t, &one);
        struct err err;
        REQUIRE_OK(record_decode(&record_tree, buf_view(&one), &a, &back, &err), &err);
        EXPECT_STR(record_diff(&record_tree, &t, &back, &a), STR(""));
        record_copy(&record_tree, &t, &copy, &a);
        EXPECT(record_eq(&record_tree, &t, &copy));
        record_encode(&record_tree, &copy, &two);
        EXPECT(str_eq(buf_view(&one), buf_view(&two)));
        buf_clear(&two);
        record_encode(&record_tree, &other, &two);
        EXPECT(record_eq(&record_tree, &t, &other) == str_eq(buf_view(&one), buf_view(&two)));
        struct tree old; // reads what it knows, skips the rest
        REQUIRE_OK(record_decode(&record_old, buf_view(&one), &a, &old, &err), &err);
        EXPECT_I64(old.numbers_count, t.numbers_count);
    }
    buf_done(&one);
    buf_done(&two);
    arena_done(&a);
}

/* Whatever the bytes: no crash; and what is accepted and fully known encodes to the same bytes. */
TEST(damaged_bytes)
{
    struct prng p;
    prng_init(&p, test_seed());
    struct arena a;
    arena_init(&a, 0);
    struct buf out, again;
    buf_init(&out, 1 << 20);
    buf_init(&again, 1 << 20);
    uint32_t refused = 0;
    for (uint32_t round = 0; round < 5000; round++) {
        arena_reset(&a);
        buf_clear(&out);
        buf_clear(&again);
        struct tree t = random_tree(&p, &a), back;
        record_encode(&record_tree, &t, &out);
        if (out.len == 0) {
            continue;
        }
        if (prng_chance(&p, 300)) {
            out.len = prng_below(&p, (uint32_t)out.len);
        } else {
            out.ptr[prng_below(&p, (uint32_t)out.len)] = (char)(unsigned char)prng_below(&p, 256);
        }
        struct err err = {.status = STATUS_OK};
        enum status s = record_decode(&record_tree, buf_view(&out), &a, &back, &err);
        if (s == STATUS_OK) {
            record_encode(&record_tree, &back, &again);
            EXPECT(again.len <= out.len);
        } else {
            EXPECT_STATUS(s, STATUS_CORRUPT);
            EXPECT(err.text[0] != 0);
            refused++;
        }
    }
    EXPECT(refused > 500);
    buf_done(&out);
    buf_done(&again);
    arena_done(&a);
}

static const struct {
    const char *name;
    struct str bytes;
} corrupt_rows[] = {
    {"tag 0",                       STRS("\0\0\x02")                                        },
    {"tags out of order",           STRS("\x03\x01\x02\x01\x00\x02")                        },
    {"a tag twice",                 STRS("\x03\x01\x02\x03\x01\x02")                        },
    {"zero written out",            STRS("\x01\x00\x00")                                    },
    {"a varint longer than needed", STRS("\x01\x00\x82\x00")                                },
    {"a varint beyond 64 bits",     STRS("\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f")},
    {"beyond 32 bits",              STRS("\x03\x01\xff\xff\xff\xff\x7f")                    },
    {"true is 1",                   STRS("\x04\x02\x02")                                    },
    {"text past the end",           STRS("\x07\x03\x05hi")                                  },
    {"identifier cut off",          STRS("\x09\x04zzzz")                                    },
    {"another kind",                STRS("\x01\x03\x01z")                                   },
    {"no such kind",                STRS("\x02\x09\x01")                                    },
    {"cut after the tag",           STRS("\x01")                                            },
};

TEST(corrupt)
{
    struct arena a;
    arena_init(&a, 0);
    for (uint32_t i = 0; i < COUNT_OF(corrupt_rows); i++) {
        test_row(corrupt_rows[i].name);
        struct leaf l;
        EXPECT_STATUS(record_decode(&record_leaf, corrupt_rows[i].bytes, &a, &l, NULL),
                      STATUS_CORRUPT);
    }
    arena_done(&a);
}

TEST(paths)
{
    struct arena a;
    arena_init(&a, 0);
    struct leaf x[2] = {{.i = 1}, {.i = 2}}, y[2] = {{.i = 1}, {.i = 3}};
    struct tree t = {.leaves = x, .leaves_count = 2}, u = {.leaves = y, .leaves_count = 2};
    EXPECT_STR(record_diff(&record_tree, &t, &u, &a), STR("leaves[1].i"));
    u.leaves_count = 1;
    EXPECT_STR(record_diff(&record_tree, &t, &u, &a), STR("leaves"));
    struct err err;
    struct tree back;
    EXPECT_STATUS(
        record_decode(&record_tree, STR("\x02\x06\x07\0\0\0\x03\0\0\0\x01\0\0"), &a, &back, &err),
        STATUS_CORRUPT);
    EXPECT_STR(str_from_c(err.field), STR("leaves[0].i"));
    arena_done(&a);
}

/* The tables of the state and of inputs: tags ascend and are unique, members are covered. */
TEST(tables_are_sound)
{
    const struct record *todo[64] = {&record_state, &record_input};
    uint32_t count = 2;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t last = 0;
        for (uint32_t f = 0; f < todo[i]->field_count; f++) {
            const struct field *field = &todo[i]->fields[f];
            test_row(field->name);
            EXPECT(field->tag > last);
            EXPECT(field->offset < todo[i]->size);
            last = field->tag;
            uint32_t seen = 0;
            while (field->sub && seen < count && todo[seen] != field->sub) {
                seen++;
            }
            if (field->sub && seen == count) {
                REQUIRE(count < COUNT_OF(todo));
                todo[count++] = field->sub;
            }
        }
    }
    EXPECT(count > 15);
}

TEST_MAIN()

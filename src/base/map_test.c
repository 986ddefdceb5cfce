// SPDX-License-Identifier: Apache-2.0
#include "base/map.h"

#include "base/hash.h"
#include "base/intern.h"
#include "base/prng.h"
#include "base/test.h"

enum { KEY_COUNT = 300 };

// Random puts, gets and deletes against a plain table.
TEST(numbers_against_a_table)
{
    struct prng p;
    prng_init(&p, test_seed());
    struct arena a;
    arena_init(&a, 0);
    struct map m;
    map_init(&m, &a);
    bool there[KEY_COUNT] = {0};
    uint32_t values[KEY_COUNT] = {0};
    uint32_t count = 0;
    for (uint32_t round = 0; round < 50000; round++) {
        uint32_t key = prng_below(&p, KEY_COUNT);
        uint64_t spread = (uint64_t)key << (key % 40);
        uint32_t value = 77;
        switch (prng_below(&p, 3)) {
        case 0:
            count += !there[key];
            there[key] = true;
            values[key] = round;
            map_put_u64(&m, spread + key, round);
            break;
        case 1:
            EXPECT(map_del_u64(&m, spread + key) == there[key]);
            count -= there[key];
            there[key] = false;
            break;
        default:
            EXPECT(map_get_u64(&m, spread + key, &value) == there[key]);
            EXPECT_I64(value, there[key] ? values[key] : 77);
            break;
        }
        EXPECT_I64(m.count, count);
    }
    arena_done(&a);
}

TEST(strings)
{
    struct arena a;
    arena_init(&a, 0);
    struct map m;
    map_init(&m, &a);
    uint32_t value = 77;
    EXPECT(!map_get(&m, STR("none"), &value));
    EXPECT(!map_del(&m, STR("none")));
    for (uint32_t i = 0; i < 5000; i++) {
        map_put(&m, arena_printf(&a, "key-%u", i), i);
    }
    map_put(&m, (struct str){0}, 1);
    map_put(&m, STR(""), 2);
    EXPECT_I64(m.count, 5001);
    EXPECT(map_get(&m, (struct str){0}, &value) && value == 2);
    map_put(&m, STR("key-17"), 1000000);
    EXPECT(map_get(&m, STR("key-17"), &value) && value == 1000000);
    for (uint32_t i = 0; i < 5000; i += 2) {
        char key[16];
        EXPECT(map_del(&m, str_format(key, sizeof(key), "key-%u", i)));
    }
    for (uint32_t i = 0; i < 5000; i++) {
        char key[16];
        EXPECT(map_get(&m, str_format(key, sizeof(key), "key-%u", i), &value) == (i % 2 == 1));
    }
    EXPECT_I64(m.count, 2501);
    arena_done(&a);
}

TEST(churn_takes_no_more_memory)
{
    struct arena a;
    arena_init(&a, 0);
    struct map m;
    map_init(&m, &a);
    for (uint64_t i = 0; i < 100; i++) {
        map_put_u64(&m, i, 0);
    }
    size_t before = a.used_bytes;
    for (uint64_t i = 100; i < 100000; i++) {
        map_put_u64(&m, i, 0);
        EXPECT(map_del_u64(&m, i - 100));
    }
    EXPECT_I64((int64_t)a.used_bytes, (int64_t)before);
    arena_done(&a);
}

TEST(interning)
{
    struct arena a;
    arena_init(&a, 0);
    struct intern n;
    intern_init(&n, &a);
    char text[16] = "one";
    EXPECT_I64(intern_id(&n, str_from_c(text)), 0);
    text[0] = 'X';
    EXPECT_I64(intern_id(&n, STR("two")), 1);
    EXPECT_I64(intern_id(&n, STR("one")), 0);
    EXPECT_STR(intern_name(&n, 0), STR("one"));
    uint32_t id = 77;
    EXPECT(intern_find(&n, STR("two"), &id) && id == 1);
    EXPECT(!intern_find(&n, STR("three"), &id));
    for (uint32_t i = 0; i < 1000; i++) {
        EXPECT_I64(intern_id(&n, str_format(text, sizeof(text), "n%u", i)), i + 2);
    }
    EXPECT_STR(intern_name(&n, 501), STR("n499"));
    arena_done(&a);
}

// The values are part of what is written down (state digests), so they may not change.
TEST(hash_values_are_fixed)
{
    char text[64];
    for (uint32_t i = 0; i < sizeof(text); i++) {
        text[i] = (char)('a' + i % 26);
    }
    static const struct {
        uint32_t len;
        uint64_t want;
    } rows[] = {
        {0,  UINT64_C(0xde73780933dde792)},
        {1,  UINT64_C(0x73d31e39611d4766)},
        {7,  UINT64_C(0xa7a97baf4b9edc5c)},
        {8,  UINT64_C(0x11d1cb6e4cc88256)},
        {9,  UINT64_C(0x4c11d24aba41cb8f)},
        {16, UINT64_C(0x1da193860dd17988)},
        {17, UINT64_C(0x9947046f25b8fcad)},
        {32, UINT64_C(0xbb3ddf026d655b66)},
        {33, UINT64_C(0x690f8382547e1bb1)},
        {64, UINT64_C(0x72791410672eaaf7)},
    };
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        EXPECT_I64((int64_t)hash_bytes(text, rows[i].len, 1), (int64_t)rows[i].want);
    }
    EXPECT_I64((int64_t)hash_u64(1, 2), (int64_t)UINT64_C(0xf0ecfed0e35a4a30));
}

// Changing any one bit of key or seed changes about half the bits of the hash.
TEST(hash_spreads)
{
    unsigned char bytes[40] = {0};
    uint64_t base = hash_bytes(bytes, sizeof(bytes), 0);
    uint64_t flipped = 0;
    uint32_t least = 64;
    for (uint32_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
        bytes[bit / 8] = (unsigned char)(1u << bit % 8);
        uint64_t change = base ^ hash_bytes(bytes, sizeof(bytes), 0);
        bytes[bit / 8] = 0;
        flipped |= change;
        uint32_t ones = (uint32_t)__builtin_popcountll(change);
        least = ones < least ? ones : least;
    }
    EXPECT(flipped == UINT64_MAX);
    EXPECT(least >= 16);
    EXPECT(hash_bytes(bytes, 8, 0) != hash_bytes(bytes, 9, 0));
    EXPECT(hash_bytes(bytes, 8, 0) != hash_bytes(bytes, 8, 1));
    EXPECT(hash_u64(0, 0) != hash_u64(0, 1));
    EXPECT(hash_u64(0, 0) != hash_u64(1, 0));
}

TEST_MAIN()

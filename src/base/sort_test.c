// SPDX-License-Identifier: Apache-2.0
#include "base/sort.h"

#include "base/bitset.h"
#include "base/heap.h"
#include "base/prng.h"
#include "base/test.h"

struct item {
    uint32_t key;
    uint32_t was_at;
    char more[5];
};

static int compare_items(const void *a, const void *b, void *ctx)
{
    uint32_t left = ((const struct item *)a)->key;
    uint32_t right = ((const struct item *)b)->key;
    ++*(uint32_t *)ctx;
    return left < right ? -1 : left > right;
}

TEST(sorts_and_keeps_the_order_of_equals)
{
    struct prng p;
    prng_init(&p, test_seed());
    struct arena a;
    arena_init(&a, 0);
    for (uint32_t count = 0; count < 200; count++) {
        struct item *items = ARENA_ARRAY(&a, struct item, count + 1);
        uint32_t seen = 0;
        for (uint32_t i = 0; i < count; i++) {
            items[i] = (struct item){prng_below(&p, count / 2 + 1), i, "xyz"};
        }
        size_t before = a.used_bytes;
        sort_stable(items, count, sizeof(*items), compare_items, &seen, &a);
        EXPECT_I64((int64_t)a.used_bytes, (int64_t)before);
        bool was_there[200] = {0};
        for (uint32_t i = 0; i < count; i++) {
            EXPECT(!was_there[items[i].was_at]);
            was_there[items[i].was_at] = true;
            EXPECT(items[i].more[2] == 'z');
            if (i > 0) {
                EXPECT(items[i - 1].key <= items[i].key);
                EXPECT(items[i - 1].key < items[i].key || items[i - 1].was_at < items[i].was_at);
            }
        }
    }
    arena_done(&a);
}

TEST(sorted_input_costs_one_comparison_an_item)
{
    struct arena a;
    arena_init(&a, 0);
    struct item *items = ARENA_ARRAY(&a, struct item, 1000);
    for (uint32_t i = 0; i < 1000; i++) {
        items[i].key = i;
    }
    uint32_t seen = 0;
    sort_stable(items, 1000, sizeof(*items), compare_items, &seen, &a);
    EXPECT(seen < 1000 + 1000 / 4);
    arena_done(&a);
}

static bool less_by_key(uint32_t a, uint32_t b, void *ctx)
{
    const uint32_t *keys = ctx;
    return keys[a] != keys[b] ? keys[a] < keys[b] : a < b;
}

TEST(heap_gives_the_least)
{
    struct prng p;
    prng_init(&p, test_seed());
    struct arena a;
    arena_init(&a, 0);
    enum { COUNT = 100 };
    uint32_t keys[COUNT];
    bool inside[COUNT] = {0};
    struct heap h;
    heap_init(&h, &a, less_by_key, keys);
    for (uint32_t round = 0; round < 20000; round++) {
        uint32_t item = prng_below(&p, COUNT);
        if (!inside[item]) {
            keys[item] = prng_below(&p, 50);
            inside[item] = true;
            heap_push(&h, item);
        }
        uint32_t least = COUNT;
        for (uint32_t i = 0; i < COUNT; i++) {
            least = inside[i] && (least == COUNT || less_by_key(i, least, keys)) ? i : least;
        }
        EXPECT_I64(heap_top(&h), least);
        if (prng_chance(&p, 300)) {
            keys[least] += prng_below(&p, 10);
            heap_fix_top(&h);
        } else if (prng_chance(&p, 500)) {
            EXPECT_I64(heap_pop(&h), least);
            inside[least] = false;
        }
    }
    arena_done(&a);
}

TEST(bitset_against_a_table)
{
    struct prng p;
    prng_init(&p, test_seed());
    struct arena a;
    arena_init(&a, 0);
    for (uint32_t count = 0; count < 200; count++) {
        struct bitset b = bitset_new(&a, count);
        struct bitset other = bitset_new(&a, count);
        bool table[200] = {0};
        EXPECT_I64(bitset_next(&b, 0), count);
        bitset_fill(&other, true);
        EXPECT_I64(bitset_ones(&other), count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t at = prng_below(&p, count);
            table[at] = prng_chance(&p, 500);
            if (table[at]) {
                bitset_set(&b, at);
            } else {
                bitset_clear(&b, at);
            }
        }
        uint32_t ones = 0;
        uint32_t next = bitset_next(&b, 0);
        for (uint32_t i = 0; i < count; i++) {
            EXPECT(bitset_get(&b, i) == table[i]);
            if (table[i]) {
                ones++;
                EXPECT_I64(next, i);
                next = bitset_next(&b, i + 1);
            }
        }
        EXPECT_I64(next, count);
        EXPECT_I64(bitset_ones(&b), ones);
        bitset_and(&other, &b);
        EXPECT_I64(bitset_ones(&other), ones);
        bitset_fill(&other, false);
        bitset_or(&other, &b);
        EXPECT_I64(bitset_ones(&other), ones);
        bitset_fill(&b, true);
        bitset_and(&b, &other);
        EXPECT_I64(bitset_ones(&b), ones);
    }
    arena_done(&a);
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"

#include <string.h>

#include "base/array.h"
#include "base/mem.h"
#include "base/prng.h"
#include "base/test.h"

#if defined(WITH_ASAN)
#include <sanitizer/asan_interface.h>
#endif

static bool is_zero(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

TEST(memory_is_zero_and_aligned_also_when_reused)
{
    struct prng p;
    prng_init(&p, test_seed());
    struct arena a;
    arena_init(&a, 0);
    for (uint32_t round = 0; round < 50; round++) {
        for (uint32_t i = 0; i < 100; i++) {
            size_t size = prng_below(&p, prng_chance(&p, 50) ? 100000 : 200);
            char *bytes = arena_alloc(&a, size);
            EXPECT((uintptr_t)bytes % 16 == 0);
            EXPECT(is_zero(bytes, size));
            memset(bytes, 0xff, size);
        }
        if (prng_chance(&p, 500)) {
            arena_reset(&a);
            EXPECT_I64((int64_t)a.used_bytes, 0);
        }
    }
    arena_done(&a);
    EXPECT(a.head == NULL && a.spare == NULL);
}

TEST(rewind_keeps_what_was_before_the_mark)
{
    struct prng p;
    prng_init(&p, test_seed());
    struct arena a;
    arena_init(&a, 0);
    struct arena_mark empty = arena_mark(&a);
    for (uint32_t round = 0; round < 200; round++) {
        struct str kept = arena_printf(&a, "kept %u", round);
        struct arena_mark mark = arena_mark(&a);
        for (uint32_t i = prng_below(&p, 20); i > 0; i--) {
            size_t size = prng_below(&p, 5000);
            memset(arena_alloc(&a, size), 0xff, size);
        }
        arena_rewind(&a, mark);
        EXPECT_I64((int64_t)a.used_bytes, (int64_t)mark.used_bytes);
        EXPECT_STR(str_sub(kept, 0, 5), STR("kept "));
        EXPECT(is_zero(arena_alloc(&a, 300), 300));
    }
    arena_rewind(&a, empty);
    EXPECT(a.head == NULL);
    arena_done(&a);
}

TEST(a_loop_of_mark_and_rewind_asks_the_allocator_once)
{
    struct arena a;
    arena_init(&a, 0);
    arena_alloc(&a, 3000);
    void *seen = NULL;
    for (uint32_t i = 0; i < 10; i++) {
        struct arena_mark mark = arena_mark(&a);
        void *block = arena_alloc(&a, 3000); // needs a second block
        EXPECT(seen == NULL || seen == block);
        seen = block;
        arena_rewind(&a, mark);
    }
    arena_done(&a);
}

TEST(limit)
{
    struct arena a;
    arena_init(&a, 1000);
    EXPECT(arena_try(&a, 1001) == NULL);
    EXPECT(arena_try(&a, 990) != NULL); // 992 with padding
    EXPECT(arena_try(&a, 16) == NULL);
    EXPECT(arena_try(&a, SIZE_MAX / 2) == NULL);
    arena_reset(&a);
    EXPECT(arena_try(&a, 500) != NULL);
    arena_done(&a);
    EXPECT_I64((int64_t)a.limit_bytes, 1000);
    struct arena never_used = {0};
    arena_done(&never_used);
}

TEST(going_over_the_limit_is_a_panic)
{
    struct arena a;
    arena_init(&a, 100);
    EXPECT_PANIC(arena_alloc(&a, 101));
    arena_alloc(&a, 100 - 16);
    arena_done(&a);
}

#if defined(WITH_ASAN)
TEST(memory_that_was_given_back_is_poisoned)
{
    struct arena a;
    arena_init(&a, 0);
    char *probe = arena_alloc(&a, 10);
    struct arena_mark mark = arena_mark(&a);
    char *later = arena_alloc(&a, 20);
    arena_rewind(&a, mark);
    EXPECT(__asan_address_is_poisoned(later));
    EXPECT(!__asan_address_is_poisoned(probe + 9));
    EXPECT(__asan_address_is_poisoned(probe + 10));
    arena_reset(&a);
    EXPECT(__asan_address_is_poisoned(probe));
    arena_done(&a);
}
#endif

TEST(text)
{
    struct arena a;
    arena_init(&a, 0);
    struct str copy = arena_str(&a, (struct str){"abcdef", 3});
    EXPECT_STR(copy, STR("abc"));
    EXPECT(copy.ptr[3] == '\0');
    EXPECT_STR(arena_str(&a, (struct str){0}), STR(""));
    EXPECT_STR(str_from_c(arena_cstr(&a, STR("xyz"))), STR("xyz"));
    EXPECT_STR(arena_printf(&a, "%d-%s", 5, "x"), STR("5-x"));
    EXPECT_I64(arena_printf(&a, "%5000d", 1).len, 5000);
    arena_done(&a);
}

TEST(array_grows_and_clears)
{
    struct arena a;
    arena_init(&a, 0);
    ARRAY(uint64_t) list = {0};
    for (uint64_t i = 0; i < 1000; i++) {
        uint64_t *item = ARRAY_PUSH(&a, &list);
        EXPECT(*item == 0);
        *item = i + 1;
    }
    EXPECT_I64(list.count, 1000);
    for (uint32_t i = 0; i < list.count; i++) {
        EXPECT_I64((int64_t)list.items[i], i + 1);
    }
    list.count--;
    EXPECT(*ARRAY_PUSH(&a, &list) == 0);
    arena_done(&a);
}

/* A source of large pieces that counts what it gives out; every third time it has none. */
static size_t large_bytes;
static uint32_t large_taken, large_asked;

static void *take_large(size_t size)
{
    large_asked++;
    if (large_asked % 3 == 0) {
        return NULL;
    }
    large_taken++;
    large_bytes += size;
    return mem_alloc(size);
}

static void give_large(void *ptr, size_t size)
{
    large_bytes -= size;
    mem_free(ptr);
}

TEST(large_blocks_go_back_where_they_came_from)
{
    struct arena a;
    mem_set_large(take_large, give_large);
    arena_init(&a, 0);
    for (int i = 0; i < 40; i++) {
        char *bytes = arena_alloc(&a, 1 << 20);
        EXPECT(is_zero(bytes, 1 << 20));
        bytes[0] = 1;
    }
    EXPECT(large_taken > 1 && large_asked > large_taken);
    EXPECT(large_bytes >= (size_t)large_taken * MEM_LARGE_UNIT);
    EXPECT(large_bytes % MEM_LARGE_UNIT == 0);
    arena_done(&a);
    mem_set_large(NULL, NULL);
    EXPECT_I64((int64_t)large_bytes, 0);
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
// arena: a chain of blocks, each at least twice the one before up to BLOCK_SIZE_MAX. Allocation
// moves one number. What was never handed out is still zero from the allocator, so only bytes below
// a block's `dirty` are cleared again. Under ASan everything not handed out is poisoned and a red
// zone follows each allocation, so use after reset and running over an end are caught.
#include "base/arena.h"

#include <stdarg.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#if defined(WITH_ASAN)
#include <sanitizer/asan_interface.h>
enum { RED_ZONE = 16 };
#else
enum { RED_ZONE = 0 };
#endif

enum { ALIGNMENT = 16, BLOCK_SIZE_MIN = 4096, BLOCK_SIZE_MAX = 8 << 20 };

struct arena_block {
    struct arena_block *next; /* older */
    size_t size;              /* bytes of data */
    size_t used;
    size_t dirty;   /* bytes from here on are zero; >= used */
    bool elsewhere; /* a large one that is not from the allocator */
    _Alignas(ALIGNMENT) char data[];
};

static void hide(const char *from, size_t size)
{
#if defined(WITH_ASAN)
    __asan_poison_memory_region(from, size);
#else
    (void)from;
    (void)size;
#endif
}

static void show(const char *from, size_t size)
{
#if defined(WITH_ASAN)
    __asan_unpoison_memory_region(from, size);
#else
    (void)from;
    (void)size;
#endif
}

static void block_free(struct arena_block *b)
{
    if (b) {
        show(b->data, b->size);
        if (sizeof(*b) + b->size >= MEM_LARGE_UNIT) {
            mem_large_free(b, sizeof(*b) + b->size, b->elsewhere);
        } else {
            mem_free(b);
        }
    }
}

// A block of at least size bytes.
static struct arena_block *block_new(size_t size)
{
    size_t total = sizeof(struct arena_block) + size;
    bool elsewhere = false;
    struct arena_block *b;
    if (total >= MEM_LARGE_UNIT) {
        total = (total + MEM_LARGE_UNIT - 1) / MEM_LARGE_UNIT * MEM_LARGE_UNIT;
        b = mem_large_alloc(total, &elsewhere);
    } else {
        b = mem_alloc(total);
    }
    b->size = total - sizeof(*b);
    b->elsewhere = elsewhere;
    return b;
}

static void block_cut(struct arena_block *b, size_t used)
{
    b->used = used;
    hide(b->data + used, b->size - used);
}

// The larger of two blocks; the other one is freed. Either may be NULL.
static struct arena_block *block_keep_larger(struct arena_block *a, struct arena_block *b)
{
    if (!a || (b && b->size > a->size)) {
        block_free(a);
        return b;
    }
    block_free(b);
    return a;
}

static void block_push(struct arena *a, size_t need)
{
    struct arena_block *b = a->spare;
    if (b && b->size >= need) {
        a->spare = NULL;
    } else {
        size_t size = a->head ? a->head->size * 2 : BLOCK_SIZE_MIN - sizeof(*b);
        size = size > BLOCK_SIZE_MAX - sizeof(*b) ? BLOCK_SIZE_MAX - sizeof(*b) : size;
        size = size < need ? need : size;
        b = block_new(size);
        a->block_count++;
        hide(b->data, b->size);
    }
    b->next = a->head;
    a->head = b;
}

void arena_init(struct arena *a, size_t limit_bytes)
{
    *a = (struct arena){.limit_bytes = limit_bytes};
}

void arena_done(struct arena *a)
{
    while (a->head) {
        struct arena_block *older = a->head->next;
        block_free(a->head);
        a->head = older;
    }
    block_free(a->spare);
    *a = (struct arena){.limit_bytes = a->limit_bytes};
}

void arena_rewind(struct arena *a, struct arena_mark m)
{
    while (a->head != m.head) {
        CHECK(a->head != NULL);
        struct arena_block *older = a->head->next;
        block_cut(a->head, 0);
        a->spare = block_keep_larger(a->spare, a->head);
        a->head = older;
    }
    if (a->head) {
        CHECK(m.head_used <= a->head->used);
        block_cut(a->head, m.head_used);
    }
    CHECK(m.used_bytes <= a->used_bytes);
    a->used_bytes = m.used_bytes;
}

void arena_reset(struct arena *a)
{
    arena_rewind(a, (struct arena_mark){0});
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){a->head, a->head ? a->head->used : 0, a->used_bytes};
}

void *arena_try(struct arena *a, size_t size)
{
    CHECK(size <= SIZE_MAX / 2);
    size_t padded = size == 0 ? ALIGNMENT : (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (a->limit_bytes != 0 && padded > a->limit_bytes - a->used_bytes) {
        return NULL;
    }
    if (!a->head || a->head->size - a->head->used < padded + RED_ZONE) {
        block_push(a, padded + RED_ZONE);
    }
    struct arena_block *b = a->head;
    char *ptr = b->data + b->used;
    size_t end = b->used + padded;
    show(ptr, RED_ZONE != 0 && size != 0 ? size : padded);
    if (b->used < b->dirty) {
        size_t dirty = b->dirty - b->used;
        show(ptr, padded);
        memset(ptr, 0, dirty < padded ? dirty : padded);
        if (RED_ZONE != 0 && size != 0) {
            hide(ptr + size, padded - size);
        }
    }
    b->used = end + RED_ZONE;
    b->dirty = b->dirty > b->used ? b->dirty : b->used;
    a->used_bytes += padded;
    a->peak_bytes = a->used_bytes > a->peak_bytes ? a->used_bytes : a->peak_bytes;
    return ptr;
}

void *arena_alloc(struct arena *a, size_t size)
{
    void *ptr = arena_try(a, size);
    CHECK(ptr != NULL);
    return ptr;
}

struct str arena_str(struct arena *a, struct str s)
{
    char *copy = arena_alloc(a, (size_t)s.len + 1);
    if (s.len > 0) {
        memcpy(copy, s.ptr, s.len);
    }
    return (struct str){copy, s.len};
}

const char *arena_cstr(struct arena *a, struct str s)
{
    return arena_str(a, s).ptr;
}

struct str arena_printf(struct arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    uint32_t len = str_vformat(NULL, 0, format, args);
    va_end(args);
    char *text = arena_alloc(a, (size_t)len + 1);
    str_vformat(text, (size_t)len + 1, format, again);
    va_end(again);
    return (struct str){text, len};
}

// SPDX-License-Identifier: Apache-2.0
// arena: memory that is given back all at once. One per cycle, per request, per loaded document.
// Blocks come from base/mem; with a limit set, going over it is a panic unless arena_try is used.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/str.h"

struct arena_block;
struct arena {
    struct arena_block *head;  /* newest block, chained to the older ones */
    struct arena_block *spare; /* an emptied block kept by rewind, or NULL */
    size_t used_bytes;         /* handed out since the last reset, padding included */
    size_t limit_bytes;        /* 0: none */
    size_t peak_bytes;         /* the most that was ever handed out at a time */
    uint64_t block_count;      /* blocks ever taken from base/mem */
};
struct arena_mark {
    struct arena_block *head;
    size_t head_used;
    size_t used_bytes;
};

void arena_init(struct arena *a, size_t limit_bytes);
void arena_done(struct arena *a);  /* frees every block; safe on a zeroed arena */
void arena_reset(struct arena *a); /* keeps the largest block for reuse */
struct arena_mark arena_mark(const struct arena *a);
void arena_rewind(struct arena *a, struct arena_mark m); /* frees what came after the mark */

/* arena_alloc returns zeroed memory aligned to 16 that lives until reset, rewind or done. */
void *arena_alloc(struct arena *a, size_t size);
/* arena_try is arena_alloc, but NULL when the limit would be passed. */
MUST_USE void *arena_try(struct arena *a, size_t size);
struct str arena_str(struct arena *a, struct str s); /* copy; a NUL follows the copy */
const char *arena_cstr(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *format, ...) PRINTF_LIKE(2, 3);

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) \
    ((type *)arena_alloc((arena), sizeof(type) * (size_t)(count)))

// SPDX-License-Identifier: Apache-2.0
// mem: the only door to the allocator. Running out of memory is a panic: a daemon restarts from
// its store. Pure folders get memory through an arena or a buf, which sit on this.
#pragma once

#include <stdbool.h>
#include <stddef.h>

void *mem_alloc(size_t size);                              /* zeroed; size 0 gives NULL */
void *mem_resize(void *ptr, size_t old_size, size_t size); /* new bytes are zeroed */
void mem_free(void *ptr);                                  /* NULL is fine */

/* Large pieces, of a whole number of MEM_LARGE_UNIT bytes, may come from elsewhere: a main that knows
 * something better than the allocator (io/pages.h) says so once, before it starts. take gives zeroed
 * memory, or NULL for "from the allocator". */
#define MEM_LARGE_UNIT ((size_t)2 << 20)
typedef void *mem_take(size_t size);
typedef void mem_give(void *ptr, size_t size);
void mem_set_large(mem_take *take, mem_give *give);
void *mem_large_alloc(size_t size, bool *elsewhere);
void mem_large_free(void *ptr, size_t size, bool elsewhere);

// SPDX-License-Identifier: Apache-2.0
// mem: the only door to the allocator. Running out of memory is a panic: a daemon restarts from
// its store. Pure folders get memory through an arena or a buf, which sit on this.
#pragma once

#include <stddef.h>

void *mem_alloc(size_t size);                              /* zeroed; size 0 gives NULL */
void *mem_resize(void *ptr, size_t old_size, size_t size); /* new bytes are zeroed */
void mem_free(void *ptr);                                  /* NULL is fine */

/* mem_map is mem_alloc for large pieces: in huge pages where the system has them, since a page
 * fault for every 4 KiB would cost as much as filling them. size is a multiple of MEM_MAP_UNIT;
 * given back with mem_unmap and the same size. */
#define MEM_MAP_UNIT ((size_t)2 << 20)
void *mem_map(size_t size);
void mem_unmap(void *ptr, size_t size);

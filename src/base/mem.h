// SPDX-License-Identifier: Apache-2.0
// mem: the only door to the allocator. Running out of memory is a panic: a daemon restarts from
// its store. Pure folders get memory through an arena or a buf, which sit on this.
#pragma once

#include <stddef.h>

void *mem_alloc(size_t size);                              /* zeroed; size 0 gives NULL */
void *mem_resize(void *ptr, size_t old_size, size_t size); /* new bytes are zeroed */
void mem_free(void *ptr);                                  /* NULL is fine */

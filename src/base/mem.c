// SPDX-License-Identifier: Apache-2.0
// mem: the only file that calls the allocator.
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

void *mem_alloc(size_t size)
{
    if (size == 0) {
        return NULL;
    }
    void *ptr = calloc(1, size);
    CHECK(ptr != NULL);
    return ptr;
}

void *mem_resize(void *ptr, size_t old_size, size_t size)
{
    if (size == 0) {
        free(ptr);
        return NULL;
    }
    char *grown = realloc(ptr, size);
    CHECK(grown != NULL);
    if (size > old_size) {
        memset(grown + old_size, 0, size - old_size);
    }
    return grown;
}

void mem_free(void *ptr)
{
    free(ptr);
}

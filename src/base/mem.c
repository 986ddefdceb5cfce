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

static mem_take *large_take;
static mem_give *large_give;

void mem_set_large(mem_take *take, mem_give *give)
{
    large_take = take;
    large_give = give;
}

void *mem_large_alloc(size_t size, bool *elsewhere)
{
    CHECK(size % MEM_LARGE_UNIT == 0);
    void *ptr = large_take ? large_take(size) : NULL;
    *elsewhere = ptr != NULL;
    return ptr ? ptr : mem_alloc(size);
}

void mem_large_free(void *ptr, size_t size, bool elsewhere)
{
    if (elsewhere) {
        large_give(ptr, size);
    } else {
        mem_free(ptr);
    }
}

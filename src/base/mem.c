// SPDX-License-Identifier: Apache-2.0
// mem: the only file that calls the allocator. A sanitizer that looks for leaks reads the memory of
// the allocator only, so there large pieces come from it too.
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/attr.h"
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

#if defined(WITH_ASAN)
void *mem_map(size_t size)
{
    return mem_alloc(size);
}

void mem_unmap(void *ptr, size_t size)
{
    (void)size;
    mem_free(ptr);
}
#else
void *mem_map(size_t size)
{
    CHECK(size % MEM_MAP_UNIT == 0 && size <= SIZE_MAX - MEM_MAP_UNIT);
    // A unit more than needed, of which what is not aligned goes back.
    char *ptr = mmap(NULL, size + MEM_MAP_UNIT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                     -1, 0);
    CHECK(ptr != MAP_FAILED);
    size_t before = (MEM_MAP_UNIT - (uintptr_t)ptr % MEM_MAP_UNIT) % MEM_MAP_UNIT;
    if (before > 0) {
        (void)munmap(ptr, before);
    }
    if (before < MEM_MAP_UNIT) {
        (void)munmap(ptr + before + size, MEM_MAP_UNIT - before);
    }
    (void)madvise(ptr + before, size, MADV_HUGEPAGE); /* no harm where there are none */
    return ptr + before;
}

void mem_unmap(void *ptr, size_t size)
{
    (void)munmap(ptr, size);
}
#endif

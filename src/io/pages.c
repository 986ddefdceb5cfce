// SPDX-License-Identifier: Apache-2.0
#include "io/pages.h"

#include <stdint.h>
#include <sys/mman.h>

#include "base/attr.h"
#include "base/mem.h"

static void *take(size_t size)
{
    // A unit more than needed, of which what is not aligned goes back.
    char *ptr = mmap(NULL, size + MEM_LARGE_UNIT, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ptr == MAP_FAILED) {
        return NULL;
    }
    size_t before = (MEM_LARGE_UNIT - (uintptr_t)ptr % MEM_LARGE_UNIT) % MEM_LARGE_UNIT;
    if (before > 0) {
        (void)munmap(ptr, before);
    }
    (void)munmap(ptr + before + size, MEM_LARGE_UNIT - before);
    (void)madvise(ptr + before, size, MADV_HUGEPAGE); /* no harm where there are none */
    return ptr + before;
}

static void give(void *ptr, size_t size)
{
    (void)munmap(ptr, size);
}

void pages_use(void)
{
#if defined(WITH_ASAN)
    (void)take;
    (void)give;
#else
    mem_set_large(take, give);
#endif
}

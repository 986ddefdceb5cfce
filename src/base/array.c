// SPDX-License-Identifier: Apache-2.0
#include "base/array.h"

#include <string.h>

#include "base/check.h"

enum { ARRAY_CAP_MIN = 8 };

void *array_grow(struct arena *a, void *items, size_t item_size, uint32_t count, uint32_t *cap)
{
    CHECK(count <= *cap);
    if (count == *cap) {
        CHECK(*cap <= UINT32_MAX / 2);
        uint32_t grown = *cap == 0 ? ARRAY_CAP_MIN : *cap * 2;
        void *moved = arena_alloc(a, item_size * grown);
        if (count > 0) {
            memcpy(moved, items, item_size * count);
        }
        *cap = grown;
        return moved;
    }
    memset((char *)items + item_size * count, 0, item_size); // may hold an item that was popped
    return items;
}

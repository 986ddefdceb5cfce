// SPDX-License-Identifier: Apache-2.0
// array: a growing dense array in an arena: `struct { T *items; uint32_t count, cap; }`. Growth
// doubles and copies, so the address of an item is good only until the next push; keep indexes.
#pragma once

#include <stdint.h>
#include <string.h>

#include "base/arena.h"

#define ARRAY(type)          \
    struct {                 \
        type *items;         \
        uint32_t count, cap; \
    }

/* ARRAY_PUSH(arena, &list) makes room for one more item, zeroed, and gives its address. */
#define ARRAY_PUSH(arena, list)                                                                \
    ((list)->items = array_room((arena), (list)->items, sizeof(*(list)->items), (list)->count, \
                                &(list)->cap),                                                 \
     &(list)->items[(list)->count++])

void *array_grow(struct arena *a, void *items, size_t item_size, uint32_t count, uint32_t *cap);

/* array_grow, without a call where there is room. */
static inline void *array_room(struct arena *a, void *items, size_t item_size, uint32_t count,
                               uint32_t *cap)
{
    if (!items || count >= *cap) {
        return array_grow(a, items, item_size, count, cap);
    }
    memset((char *)items + item_size * count, 0, item_size); // may hold an item that was popped
    return items;
}

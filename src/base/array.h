// SPDX-License-Identifier: Apache-2.0
// array: a growing dense array in an arena: `struct { T *items; uint32_t count, cap; }`. Growth
// doubles and copies, so the address of an item is good only until the next push; keep indexes.
#pragma once

#include <stdint.h>

#include "base/arena.h"

#define ARRAY(type)          \
    struct {                 \
        type *items;         \
        uint32_t count, cap; \
    }

/* ARRAY_PUSH(arena, &list) makes room for one more item, zeroed, and gives its address. */
#define ARRAY_PUSH(arena, list)                                                                \
    ((list)->items = array_grow((arena), (list)->items, sizeof(*(list)->items), (list)->count, \
                                &(list)->cap),                                                 \
     &(list)->items[(list)->count++])

void *array_grow(struct arena *a, void *items, size_t item_size, uint32_t count, uint32_t *cap);

// SPDX-License-Identifier: Apache-2.0
// heap: a binary heap of uint32_t under a comparison with context. The least item is at the top.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef bool heap_less(uint32_t a, uint32_t b, void *ctx); /* must be a total order */
struct heap {
    struct arena *arena;
    uint32_t *items;
    uint32_t count, cap;
    heap_less *less;
    void *ctx;
};

void heap_init(struct heap *h, struct arena *a, heap_less *less, void *ctx);
void heap_push(struct heap *h, uint32_t item);
uint32_t heap_top(const struct heap *h); /* count > 0 */
uint32_t heap_pop(struct heap *h);       /* count > 0 */
void heap_fix_top(struct heap *h);       /* after the top's key changed */

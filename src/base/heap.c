// SPDX-License-Identifier: Apache-2.0
// heap: invariant: no item is less than its parent, that of i being (i - 1) / 2.
#include "base/heap.h"

#include "base/array.h"
#include "base/check.h"

void heap_init(struct heap *h, struct arena *a, heap_less *less, void *ctx)
{
    *h = (struct heap){.arena = a, .less = less, .ctx = ctx};
}

void heap_push(struct heap *h, uint32_t item)
{
    h->items = array_grow(h->arena, h->items, sizeof(*h->items), h->count, &h->cap);
    uint32_t i = h->count++;
    while (i > 0 && h->less(item, h->items[(i - 1) / 2], h->ctx)) {
        h->items[i] = h->items[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    h->items[i] = item;
}

uint32_t heap_top(const struct heap *h)
{
    CHECK(h->count > 0);
    return h->items[0];
}

void heap_fix_top(struct heap *h)
{
    CHECK(h->count > 0);
    uint32_t item = h->items[0];
    uint32_t i = 0;
    for (;;) {
        uint64_t child = 2 * (uint64_t)i + 1;
        if (child >= h->count) {
            break;
        }
        uint32_t least = (uint32_t)child;
        if (least + 1 < h->count && h->less(h->items[least + 1], h->items[least], h->ctx)) {
            least++;
        }
        if (!h->less(h->items[least], item, h->ctx)) {
            break;
        }
        h->items[i] = h->items[least];
        i = least;
    }
    h->items[i] = item;
}

uint32_t heap_pop(struct heap *h)
{
    uint32_t top = heap_top(h);
    h->count--;
    if (h->count > 0) {
        h->items[0] = h->items[h->count];
        heap_fix_top(h);
    }
    return top;
}

// SPDX-License-Identifier: Apache-2.0
// sort: runs of RUN items are put in order by insertion, then merged two by two between the items
// and a scratch copy. A pair of runs that is in order already is copied whole, so sorted input
// costs one comparison per item.
#include "base/sort.h"

#include <string.h>

enum { RUN = 8 };

struct sorter {
    size_t size;
    sort_cmp *cmp;
    void *ctx;
};

static void insertion(const struct sorter *s, char *items, uint32_t count, char *held)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t to = i;
        const char *item = items + s->size * i;
        while (to > 0 && s->cmp(items + s->size * (to - 1), item, s->ctx) > 0) {
            to--;
        }
        if (to < i) {
            memcpy(held, item, s->size);
            memmove(items + s->size * (to + 1), items + s->size * to, s->size * (i - to));
            memcpy(items + s->size * to, held, s->size);
        }
    }
}

// Merges from[first, middle) and from[middle, end) into the same places of into.
static void merge(const struct sorter *s, const char *from, char *into, uint32_t first,
                  uint32_t middle, uint32_t end)
{
    size_t size = s->size;
    uint32_t left = first;
    uint32_t right = middle;
    char *out = into + size * first;
    if (right == end || s->cmp(from + size * (middle - 1), from + size * middle, s->ctx) <= 0) {
        memcpy(out, from + size * first, size * (end - first));
        return;
    }
    while (left < middle && right < end) {
        if (s->cmp(from + size * left, from + size * right, s->ctx) <= 0) {
            memcpy(out, from + size * left++, size);
        } else {
            memcpy(out, from + size * right++, size);
        }
        out += size;
    }
    memcpy(out, from + size * left, size * (middle - left));
    out += size * (middle - left);
    memcpy(out, from + size * right, size * (end - right));
}

void sort_stable(void *items, uint32_t count, size_t item_size, sort_cmp *cmp, void *ctx,
                 struct arena *scratch)
{
    if (count < 2) {
        return;
    }
    struct sorter s = {item_size, cmp, ctx};
    struct arena_mark mark = arena_mark(scratch);
    char *copy = arena_alloc(scratch, item_size * count);
    for (uint32_t first = 0; first < count; first += RUN) {
        uint32_t len = count - first < RUN ? count - first : RUN;
        insertion(&s, (char *)items + item_size * first, len, copy);
    }
    char *from = items;
    char *into = copy;
    for (uint64_t width = RUN; width < count; width *= 2) {
        for (uint64_t first = 0; first < count; first += 2 * width) {
            uint64_t middle = first + width < count ? first + width : count;
            uint64_t end = middle + width < count ? middle + width : count;
            merge(&s, from, into, (uint32_t)first, (uint32_t)middle, (uint32_t)end);
        }
        char *swap = from;
        from = into;
        into = swap;
    }
    if (from != items) {
        memcpy(items, from, item_size * count);
    }
    arena_rewind(scratch, mark);
}

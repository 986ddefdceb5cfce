// SPDX-License-Identifier: Apache-2.0
// sort: a stable merge sort (bottom up, no recursion) over any items; scratch from the arena.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

/* Negative: a before b. Must be a total order up to stability; ctx is passed through. */
typedef int sort_cmp(const void *a, const void *b, void *ctx);
void sort_stable(void *items, uint32_t count, size_t item_size, sort_cmp *cmp, void *ctx,
                 struct arena *scratch);

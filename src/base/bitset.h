// SPDX-License-Identifier: Apache-2.0
// bitset: a fixed number of bits in an arena.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct bitset {
    uint64_t *words;
    uint32_t count; /* bits */
};

struct bitset bitset_new(struct arena *a, uint32_t count); /* all clear */
void bitset_set(struct bitset *b, uint32_t i);
void bitset_clear(struct bitset *b, uint32_t i);
bool bitset_get(const struct bitset *b, uint32_t i);
void bitset_fill(struct bitset *b, bool value);
void bitset_and(struct bitset *into, const struct bitset *other); /* equal counts */
void bitset_or(struct bitset *into, const struct bitset *other);
uint32_t bitset_ones(const struct bitset *b);
/* bitset_next returns the first set bit at or after from, or count. */
uint32_t bitset_next(const struct bitset *b, uint32_t from);

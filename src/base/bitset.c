// SPDX-License-Identifier: Apache-2.0
// bitset: invariant: the bits of the last word beyond count are clear.
#include "base/bitset.h"

#include <string.h>

#include "base/check.h"

static uint32_t word_count(uint32_t bits)
{
    return bits / 64 + (bits % 64 != 0);
}

struct bitset bitset_new(struct arena *a, uint32_t count)
{
    return (struct bitset){ARENA_ARRAY(a, uint64_t, word_count(count)), count};
}

void bitset_set(struct bitset *b, uint32_t i)
{
    CHECK(i < b->count);
    b->words[i / 64] |= (uint64_t)1 << (i % 64);
}

void bitset_clear(struct bitset *b, uint32_t i)
{
    CHECK(i < b->count);
    b->words[i / 64] &= ~((uint64_t)1 << (i % 64));
}

bool bitset_get(const struct bitset *b, uint32_t i)
{
    CHECK(i < b->count);
    return (b->words[i / 64] >> (i % 64) & 1) != 0;
}

void bitset_fill(struct bitset *b, bool value)
{
    uint32_t words = word_count(b->count);
    if (words == 0) {
        return;
    }
    memset(b->words, value ? 0xff : 0, words * sizeof(uint64_t));
    if (value && b->count % 64 != 0) {
        b->words[words - 1] = ((uint64_t)1 << (b->count % 64)) - 1;
    }
}

void bitset_and(struct bitset *into, const struct bitset *other)
{
    CHECK(into->count == other->count);
    for (uint32_t i = 0; i < word_count(into->count); i++) {
        into->words[i] &= other->words[i];
    }
}

void bitset_or(struct bitset *into, const struct bitset *other)
{
    CHECK(into->count == other->count);
    for (uint32_t i = 0; i < word_count(into->count); i++) {
        into->words[i] |= other->words[i];
    }
}

uint32_t bitset_ones(const struct bitset *b)
{
    uint32_t ones = 0;
    for (uint32_t i = 0; i < word_count(b->count); i++) {
        ones += (uint32_t)__builtin_popcountll(b->words[i]);
    }
    return ones;
}

uint32_t bitset_next(const struct bitset *b, uint32_t from)
{
    if (from >= b->count) {
        return b->count;
    }
    uint32_t word = from / 64;
    uint64_t bits = b->words[word] >> (from % 64) << (from % 64);
    while (bits == 0) {
        word++;
        if (word == word_count(b->count)) {
            return b->count;
        }
        bits = b->words[word];
    }
    return word * 64 + (uint32_t)__builtin_ctzll(bits);
}

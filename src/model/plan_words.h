// SPDX-License-Identifier: Apache-2.0
// plan_words: the words and units of the tenant plan. Private to plan_*.c.
#pragma once

#include "base/str.h"

struct word {
    struct str text;
    int64_t value;
};
struct words {
    const struct word *items;
    uint32_t count;
};
/* The units are largest first, so that the first that divides an amount writes it shortest. */
extern const struct words weight_words, placement_words, preemptible_words, window_words,
    memory_words, time_words;
extern const struct words cpu_placement_words; /* those that are for work without devices too */

/* words_find gives the value of the word that text is; false when it is none. */
bool words_find(const struct words *words, struct str text, int64_t *value);
/* words_name gives the word of value, "" when it has none. */
struct str words_name(const struct words *words, int64_t value);

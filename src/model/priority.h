// SPDX-License-Identifier: Apache-2.0
// priority: the seven words for priorities of work and ranks of queues, and their numbers.
#pragma once

#include "base/str.h"

enum {
    PRIORITY_NON_PREEMPTIBLE_MIN = 100, /* at or above: non-preemptible unless said otherwise */
    PRIORITY_RANK_DEFAULT = 65,         /* medium-low */
    PRIORITY_VERY_LOW = 25,
    PRIORITY_MAX = 1000,
};
struct priority_word {
    struct str word;
    int64_t value;
};
enum { PRIORITY_WORD_COUNT = 7 };
/* very-low 25 … very-high 150, ascending */
extern const struct priority_word priority_words[PRIORITY_WORD_COUNT];
bool priority_parse(struct str word, int64_t *value); /* a word, or a number in [0, PRIORITY_MAX] */
struct str priority_word(int64_t value);              /* "" when no word has this value */

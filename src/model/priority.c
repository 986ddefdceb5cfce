// SPDX-License-Identifier: Apache-2.0
// priority: one table; the words and their numbers are those of Run:ai's priority classes.
#include "model/priority.h"

#include "base/attr.h"
#include "base/num.h"

const struct priority_word priority_words[PRIORITY_WORD_COUNT] = {
    {STRS("very-low"),    25 },
    {STRS("low"),         40 },
    {STRS("medium-low"),  65 },
    {STRS("medium"),      80 },
    {STRS("medium-high"), 90 },
    {STRS("high"),        125},
    {STRS("very-high"),   150},
};

bool priority_parse(struct str word, int64_t *value)
{
    for (uint32_t i = 0; i < PRIORITY_WORD_COUNT; i++) {
        if (str_eq(word, priority_words[i].word)) {
            *value = priority_words[i].value;
            return true;
        }
    }
    int64_t number = 0;
    if (!num_parse_i64(word, &number) || number < 0 || number > PRIORITY_MAX) {
        return false;
    }
    *value = number;
    return true;
}

struct str priority_word(int64_t value)
{
    for (uint32_t i = 0; i < PRIORITY_WORD_COUNT; i++) {
        if (priority_words[i].value == value) {
            return priority_words[i].word;
        }
    }
    return STR("");
}

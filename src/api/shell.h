// SPDX-License-Identifier: Apache-2.0
// shell: a line of text into words as a shell splits it: at white space, with 'single' and "double"
// quotes and backslashes. Nothing else of a shell: $, *, ;, | are ordinary characters. Pure.
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "model/record.h"

/* shell_words splits text; the words are in arena. STATUS_INVALID, nothing given: a quote is not
 * closed, or the text ends in a backslash. */
MUST_USE enum status shell_words(struct str text, struct arena *arena, struct str_item **words,
                                 uint32_t *count, struct err *err);

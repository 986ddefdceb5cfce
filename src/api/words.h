// SPDX-License-Identifier: Apache-2.0
// words: reasons and events as sentences. The one place where they are worded: every face shows the
// same text. Pure.
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "model/reason.h"
#include "model/remedy.h"
#include "model/state.h"

/* words_why appends one sentence that says why, with its numbers; nothing for code 0. */
void words_why(const struct why *why, struct buf *out);
/* words_remedy appends one sentence that says what would start it; nothing when it does not wait. */
void words_remedy(const struct remedy_told *told, struct buf *out);
/* words_event appends one sentence that says what happened. */
void words_event(const struct event *event, struct buf *out);
/* words_amount appends an amount with its unit: "2.5 GPUs", "4 CPU cores", "16 GiB of memory". */
void words_amount(enum resource resource, int64_t amount, struct buf *out);
/* words_gpus appends shares as a number of devices: 3500 is 0.5; a share that is no decimal number
 * of at most three digits (a seventh) is rounded to the nearest. */
void words_gpus(int64_t share, struct buf *out);
bool words_has(enum reason_code code); /* it has a sentence, as all should */
/* words_is_count: requested, held and bound are plain counts, not amounts of the resource. */
bool words_is_count(uint32_t code);

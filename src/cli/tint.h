// SPDX-License-Identifier: Apache-2.0
// tint: the few colours, by what they mean.
#pragma once

#include <stdbool.h>

enum tint { TINT_NONE, TINT_GOOD, TINT_WAIT, TINT_BAD, TINT_DIM, TINT_STRONG };

/* The sequence that begins it, "" for none; tint_end ends every one. */
const char *tint_begin(enum tint tint, bool colour);
const char *tint_end(bool colour);

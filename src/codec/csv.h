// SPDX-License-Identifier: Apache-2.0
// csv: a field of a table that other programs open (RFC 4180).
#pragma once

#include "base/buf.h"

/* csv_text appends text in quotes. What a table program would take for a formula gets a ' in front, since
 * anybody may have written it. */
void csv_text(struct str text, struct buf *out);

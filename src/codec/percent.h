// SPDX-License-Identifier: Apache-2.0
// percent: text as it stands in the query of an address and in a form (RFC 3986, and WHATWG's
// application/x-www-form-urlencoded).
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"

/* percent_encode appends text with all but letters, digits and -_.~ as %XX. */
void percent_encode(struct str text, struct buf *out);
/* percent_decode takes it apart, + being a space, into arena. False: a % without two digits, or what
 * comes out is not UTF-8. */
MUST_USE bool percent_decode(struct str text, struct arena *arena, struct str *out);

// SPDX-License-Identifier: Apache-2.0
// base64: RFC 4648. BASE64_STD is + / with padding, BASE64_URL is - _ without. Decoding takes exactly
// what encoding makes: no white space, no left-over bits.
#pragma once

#include <stdbool.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/str.h"

enum base64_form { BASE64_STD, BASE64_URL };

void base64_encode(enum base64_form form, struct str bytes, struct buf *out); /* appends */
/* base64_decode appends the bytes of text; false, and *out as it was, for anything else. */
MUST_USE bool base64_decode(enum base64_form form, struct str text, struct buf *out);

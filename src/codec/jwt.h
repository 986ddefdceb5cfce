// SPDX-License-Identifier: Apache-2.0
// jwt: JSON Web Tokens in compact form (RFC 7519, RFC 7515) as text: taken apart and put together.
// Who signs and who checks signatures is io/crypto's; what the claims mean, the caller's.
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "base/buf.h"

enum { JWT_BYTES_MAX = 16384 };

struct jwt {
    struct str signed_part;     /* header.payload, as the signature covers it; in the token */
    struct str header, payload; /* JSON text, not yet looked at; in the arena */
    struct str signature;       /* bytes; in the arena */
};
/* jwt_split takes a token apart: three parts of base64url, as exactly as codec/base64 reads them.
 * False for anything else, and beyond JWT_BYTES_MAX. */
MUST_USE bool jwt_split(struct str token, struct arena *arena, struct jwt *out);

/* jwt_begin appends header.payload, what is to be signed; jwt_end appends the signature. The payload
 * is JSON text; it is written in ASCII in such a way that its base64url has neither - nor _: clients
 * of Run:ai decode it with the ordinary alphabet. */
void jwt_begin(struct str header, struct str payload, struct buf *out);
void jwt_end(struct str signature, struct buf *out);

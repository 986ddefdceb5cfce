// SPDX-License-Identifier: Apache-2.0
// jwk: public keys as JSON Web Keys (RFC 7517, 7518, 8037) and the header of what they sign (RFC 7515)
// as text. Checking a signature is io/crypto's.
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"

enum { JWKS_BYTES_MAX = 256 * 1024, JWKS_KEYS_MAX = 64 };

/* The algorithms that are taken. A key is of one of them, whatever a header asks for. */
enum jwa { JWA_OTHER, JWA_RS256, JWA_ES256, JWA_EDDSA, JWA_COUNT };
const char *jwa_name(enum jwa alg); /* as on the wire; "" for JWA_OTHER */

struct jwk {
    enum jwa alg; /* JWA_OTHER never */
    struct str kid;
    struct str a,
        b; /* big-endian numbers: RS256 modulus and exponent; ES256 x and y; EdDSA x, none */
};
/* jwks_read reads a set of keys. Left out are keys for something else (encryption, another algorithm or
 * curve) and those with a mistake in them; a set may be empty. STATUS_INVALID: it is none;
 * STATUS_TOO_LARGE: beyond the maximums. All in arena. */
MUST_USE enum status jwks_read(struct str json, struct arena *arena, struct jwk **keys,
                               uint32_t *count, struct err *err);

struct jws_header {
    enum jwa alg;
    struct str kid; /* "": not told */
};
/* jws_header_read reads a header. STATUS_INVALID: it is none, names something twice, or asks for what
 * must be understood and is not ("crit"). An algorithm that is not taken is JWA_OTHER. */
MUST_USE enum status jws_header_read(struct str json, struct arena *arena, struct jws_header *out,
                                     struct err *err);

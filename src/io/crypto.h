// SPDX-License-Identifier: Apache-2.0
// crypto: digests, signatures and certificates. Passwords are io/password's.
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "codec/jwk.h"

enum {
    CRYPTO_SHA1_SIZE = 20,
    CRYPTO_SHA256_SIZE = 32,
    CRYPTO_SIGNATURE_SIZE = 64, /* of Ed25519 */
    CRYPTO_KEY_ID_SIZE = 17,    /* 16 hexadecimal digits and a NUL */
};

/* crypto_sha1: for the WebSocket handshake (RFC 6455) only; it protects nothing. */
void crypto_sha1(struct str bytes, uint8_t out[CRYPTO_SHA1_SIZE]);
void crypto_sha256(struct str bytes, uint8_t out[CRYPTO_SHA256_SIZE]);
/* crypto_same compares in a time that depends on the lengths alone. */
bool crypto_same(struct str a, struct str b);

/* A key of Ed25519 (RFC 8032; EdDSA in JSON Web Tokens), to sign with and to check with. */
struct crypto_key;
MUST_USE enum status crypto_key_new(struct crypto_key **out, struct err *err);
/* crypto_key_read takes a private key in PEM; STATUS_INVALID when it is none of Ed25519. */
MUST_USE enum status crypto_key_read(struct str pem, struct crypto_key **out, struct err *err);
void crypto_key_write(const struct crypto_key *k, struct buf *pem);
void crypto_key_free(struct crypto_key *k);
/* crypto_key_id names the public key: the beginning of its SHA-256. */
const char *crypto_key_id(const struct crypto_key *k);
void crypto_sign(const struct crypto_key *k, struct str bytes,
                 uint8_t signature[CRYPTO_SIGNATURE_SIZE]);
bool crypto_verify(const struct crypto_key *k, struct str bytes, struct str signature);

/* crypto_jws_verify checks a signature of JSON Web Signatures against a public key of somebody else's,
 * with that key's algorithm. A key that is none verifies nothing. */
bool crypto_jws_verify(const struct jwk *key, struct str bytes, struct str signature);

/* crypto_seal appends bytes (also none) encrypted so that only k opens them, and nobody changes them
 * (AES-256-GCM). about says what they are for: they open as nothing else. crypto_open appends them; false: k
 * did not seal this for that. CRYPTO_SEAL_SIZE is what sealing adds. */
enum { CRYPTO_SEAL_SIZE = 28 };
void crypto_seal(const struct crypto_key *k, struct str about, struct str bytes, struct buf *out);
MUST_USE bool crypto_open(const struct crypto_key *k, struct str about, struct str sealed,
                          struct buf *out);

/* crypto_self_signed makes a certificate for the names (host names and addresses, separated by
 * commas), signed by its own new key (ECDSA, P-256), good from a day before now_ms for days. */
MUST_USE enum status crypto_self_signed(struct str names, int64_t now_ms, int64_t days,
                                        struct buf *certificate_pem, struct buf *key_pem,
                                        struct err *err);

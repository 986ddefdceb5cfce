// SPDX-License-Identifier: Apache-2.0
// serve_keys: the secrets of a server, in files of its data directory that only its user reads: what
// tokens are signed with (token-key.pem), and with --tls self-signed its certificate (tls-cert.pem,
// tls-key.pem). Made at the first start, kept from then on.
#pragma once

#include "cmd/serve_settings.h"
#include "io/crypto.h"

struct serve_keys {
    struct crypto_key *token;
    struct str certificate, certificate_key; /* PEM, in the arena; "": without TLS */
    struct str idp_ca;                       /* PEM; "": the system's */
};
/* serve_keys_open reads or makes them, and reads the certificates of --idp-ca. STATUS_DENIED: others may read a file; STATUS_INVALID: it is
 * none of its kind, or an address beyond this machine is to be served without TLS. */
MUST_USE enum status serve_keys_open(const struct serve_settings *settings, struct arena *arena,
                                     struct serve_keys *out, struct err *err);

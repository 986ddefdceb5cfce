// SPDX-License-Identifier: Apache-2.0
// discovery: what an OpenID Connect provider says about itself (OpenID Connect Discovery 1.0) as text.
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "base/err.h"

enum { DISCOVERY_BYTES_MAX = 256 * 1024, DISCOVERY_URL_MAX = 2048 };
#define DISCOVERY_PATH "/.well-known/openid-configuration"

struct discovery {
    struct str issuer, authorization, token, keys;
    struct str userinfo, device, end_session; /* "": there is none */
    bool secret_in_body;                      /* the client's secret is not taken in a header */
};
/* discovery_read reads the document found at url, which must be that of the issuer it names
 * (ISSUER/.well-known/openid-configuration). Addresses must be https, or http where the url itself is
 * (on this machine only: discovery_url_ok). STATUS_INVALID says what is missing or wrong. All in
 * arena. */
MUST_USE enum status discovery_read(struct str json, struct str url, struct arena *arena,
                                    struct discovery *out, struct err *err);
/* discovery_url_ok: an https address, or an http one of this machine (localhost, 127.…, [::1]); of at
 * most DISCOVERY_URL_MAX printable characters, without a user or a fragment in it. */
bool discovery_url_ok(struct str url);
/* discovery_url_local: the address is one of this machine. */
bool discovery_url_local(struct str url);

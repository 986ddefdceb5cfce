// SPDX-License-Identifier: Apache-2.0
// attempt: a request for a token on its way; for signin.c and those that it asks.
#pragma once

#include "api/call.h"

enum grant_kind {
    GRANT_PASSWORD,
    GRANT_SECRET,
    GRANT_REFRESH,
    GRANT_CODE,     /* of ours, after a browser has signed in */
    GRANT_DEVICE,   /* another device signs in */
    GRANT_EXTERNAL, /* an ID token of an identity provider */
};
struct attempt {
    bool oauth; /* the form of OAuth 2.0 */
    enum grant_kind grant;
    /* User or client, password or secret; a refresh token, a code, a token are secrets. */
    struct str name, secret;
    struct str redirect_uri, verifier; /* of CODE */
    struct str provider;               /* of EXTERNAL; "": the only one */
    struct str keys[3];                /* of the guard */
    struct session session;
    struct str kept; /* goes along with the refresh token */
};

/* attempt_fail answers in the form of the request; error is OAuth's word for it. */
void attempt_fail(struct call *c, const struct attempt *a, const char *error,
                  const struct err *err);
/* attempt_tokens answers with tokens for a->session, whose name c->user is. */
void attempt_tokens(struct call *c, const struct attempt *a, bool with_refresh);

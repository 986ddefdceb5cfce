// SPDX-License-Identifier: Apache-2.0
// identity: the edge to those who vouch for people: identity providers. Nothing here keeps anyone
// waiting: what is asked is answered by a call, at once or later.
#pragma once

#include "base/err.h"
#include "model/identity.h"

enum identity_asked {
    IDENTITY_ASK_START,       /* where a browser goes to sign in */
    IDENTITY_ASK_CODE,        /* who came back from there with code */
    IDENTITY_ASK_DEVICE,      /* how to sign in on another device */
    IDENTITY_ASK_DEVICE_CODE, /* who did so, for code */
    IDENTITY_ASK_REFRESH,     /* who it is now: code is the refresh token of subject */
    IDENTITY_ASK_TOKEN,       /* whom code, an ID token, is about */
    IDENTITY_ASK_END,         /* where a browser goes to sign out */
};
struct identity_ask {
    enum identity_asked what;
    const struct provider *provider; /* its client_secret is not looked at */
    struct str secret;               /* of the client, in the clear; "": it has none */
    struct str code;
    struct str redirect_uri; /* of START, CODE; of END: where to come back to, "" for nowhere */
    struct str state, nonce; /* of START; CODE: nonce */
    struct str verifier;     /* of START, CODE: PKCE (RFC 7636) */
    struct str subject;      /* of REFRESH: it must still be the same */
};

enum identity_pending { IDENTITY_SETTLED, IDENTITY_PENDING, IDENTITY_SLOWER };
/* Texts are good until the call returns. */
struct identity_answer {
    struct err err; /* status STATUS_OK, or what went wrong: STATUS_DENIED: the provider, or what it
                     * says, does not let this person in; STATUS_UNREACHABLE: it does not answer as
                     * it should; STATUS_BUSY: too many are under way; STATUS_UNSUPPORTED: it does not
                     * have this */
    struct str url; /* START; END: "" when there is no such place */
    /* DEVICE */
    struct str device_code, user_code, verification_url, verification_url_complete;
    int64_t interval_s, life_s;
    enum identity_pending pending; /* DEVICE_CODE: not yet; then nothing that follows */
    /* CODE, DEVICE_CODE, REFRESH, TOKEN */
    struct str subject, name; /* name: e-mail address, as it is written there */
    struct str_item *groups;
    uint32_t groups_count;
    struct str refresh_token; /* "": none is given */
};
typedef void identity_done(void *arg, const struct identity_answer *answer);

struct identity_port {
    void *ctx;
    /* ask copies what it needs; done is called once, unless forget is. */
    void (*ask)(void *ctx, const struct identity_ask *ask, identity_done *done, void *arg);
    void (*forget)(void *ctx, const void *arg); /* the one with that arg wants no answer any more */
};

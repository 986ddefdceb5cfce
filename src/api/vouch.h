// SPDX-License-Identifier: Apache-2.0
// vouch: asking identity providers on behalf of a call, and letting in whom they vouch for; for sso.c
// and login.c.
#pragma once

#include "api/sso.h"
#include "ports/identity.h"

/* vouch_provider finds the provider of that alias, or the only one when it is "". STATUS_UNKNOWN,
 * STATUS_INVALID: err says which there are. */
MUST_USE enum status vouch_provider(struct call *c, struct str alias, const struct provider **out,
                                    struct err *err);
/* vouch_ask asks the provider (its secret is filled in here); done is called with the answer unless the
 * client goes away before. */
void vouch_ask(struct call *c, const struct provider *p, const struct identity_ask *ask,
               void (*done)(struct call *c, const struct identity_answer *answer));

/* Whom the provider vouches for becomes, or is, a user with the groups he has there. */
struct vouched {
    struct str provider, subject;
    struct session session;
    struct str kept; /* for the refresh token, "": there is none to be given */
    void *context;   /* the caller's */
};
/* vouch_sign_in: done is called with what became of it, once it is durable; err NULL: he is in, and
 * c->user is his name. */
void vouch_sign_in(struct call *c, struct vouched *v, const struct identity_answer *answer,
                   void (*done)(struct call *c, struct vouched *v, const struct err *err));
/* vouch_refused keeps a refused attempt for the audit, and counts it against the address. */
void vouch_refused(struct call *c, struct str provider, const struct err *err);
/* vouch_may_try: false when the address has had too many attempts refused; err says so. */
MUST_USE bool vouch_may_try(struct call *c, struct err *err);

/* Texts that this server gives away and takes back unread: what is said about `about` comes back only as
 * that. vouch_open gives NULL for anything else. All in the call's arena. */
struct str vouch_seal(struct call *c, const char *about, struct str text);
struct doc *vouch_open(struct call *c, const char *about, struct str sealed);
struct str vouch_random(struct call *c); /* 256 bits as base64url */
/* vouch_challenge of a verifier (RFC 7636, S256). */
struct str vouch_challenge(struct call *c, struct str verifier);
/* vouch_code gives a code for the session, good once and for SSO_CODE_S, for whoever has the verifier of
 * the challenge and gives the same redirect_uri. */
struct str vouch_code(struct call *c, const struct vouched *v, struct str redirect_uri,
                      struct str challenge);

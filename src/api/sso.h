// SPDX-License-Identifier: Apache-2.0
// sso: signing in by way of identity providers. A browser goes there and comes back (/api/weir/v1/login),
// or to the program on the user's machine that sent it; or the user signs in on another device.
#pragma once

#include "api/attempt.h"

enum {
    SSO_ATTEMPT_S = 600, /* for a browser to come back */
    SSO_CODE_S = 60,     /* for a program to show the code that the browser brought it */
    SSO_CODES = 256,     /* of those at a time; a newer one takes the place of the oldest */
};

struct sso;
struct sso *sso_new(void);
void sso_free(struct sso *s);

/* The grants of a token that have to do with it: they answer. sso_refresh: the session of a user whom a
 * provider vouches for goes on, if the provider says so, with the groups that he has there now. */
void sso_code(struct call *c, struct attempt *a);
void sso_device_code(struct call *c, struct attempt *a);
void sso_external(struct call *c, struct attempt *a);
void sso_refresh(struct call *c, struct attempt *a);

/* sso_callback_url: where browsers come back to from a provider. In the arena. */
struct str sso_callback_url(struct call *c, struct str alias);
/* sso_seal_secret: the secret by which a provider knows this server, as the state has it; "": it is too
 * long. In the arena. */
struct str sso_seal_secret(struct call *c, struct str alias, struct str secret);

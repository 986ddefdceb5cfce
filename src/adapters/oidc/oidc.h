// SPDX-License-Identifier: Apache-2.0
// oidc: identity providers that speak OpenID Connect (Core 1.0, Discovery 1.0, RFC 7636, RFC 8628), as
// ports/identity.h has them. What a provider says about itself and its keys are kept for a while.
#pragma once

#include "io/loop.h"
#include "ports/identity.h"

enum {
    OIDC_LIFE_MS = 10 * 60 *
                   1000, /* of what is kept of a provider: a key it dropped counts no longer */
    OIDC_AGAIN_MS = 15 * 1000,   /* between two looks for a key that was not there */
    OIDC_TIME_MS = 10 * 1000,    /* for an answer of a provider */
    OIDC_BYTES_MAX = 256 * 1024, /* of one */
    OIDC_PROVIDERS_KEPT = 32,
};

struct oidc_config {
    struct loop *loop;
    struct str ca; /* certificates by which providers are trusted, in PEM; "": the system's */
    int64_t (*now_ms)(void);  /* for the times in tokens */
    int64_t (*mono_ms)(void); /* for how long something is kept */
    int64_t time_ms;          /* 0: OIDC_TIME_MS */
};
struct oidc;
MUST_USE enum status oidc_new(const struct oidc_config *config, struct oidc **out, struct err *err);
void oidc_free(struct oidc *o); /* what is under way ends without a word; NULL is fine */
struct identity_port oidc_port(struct oidc *o);

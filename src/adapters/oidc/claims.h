// SPDX-License-Identifier: Apache-2.0
// claims: whether an ID token is good for us (OpenID Connect Core 1.0, 3.1.3.7), its signature having
// been checked; and who it is about.
#pragma once

#include "base/doc.h"
#include "base/err.h"
#include "model/identity.h"

enum { CLAIMS_LEEWAY_S = 60 }; /* by which the clocks of two machines may differ */

struct claims_rules {
    struct str issuer, client_id;
    struct str nonce;   /* "": none is asked for */
    struct str subject; /* "": any */
    int64_t now_ms;
};
/* claims_check: STATUS_DENIED says which claim is wrong. */
MUST_USE enum status claims_check(const struct doc *claims, const struct claims_rules *rules,
                                  struct err *err);

/* claim_find gives a claim by its name, else (NULL there) by its path: "realm_access.roles". */
const struct doc *claim_find(const struct doc *claims, struct str name);

struct person {
    struct str subject, name;
    struct str_item *groups;
    uint32_t groups_count;
};
/* person_read takes them from the ID token, and what it lacks from what the provider's userinfo says
 * (NULL: nothing). STATUS_DENIED: there is no e-mail address or an unconfirmed one, groups are no
 * names, or the claim that must be there is not. Texts are those of the documents. */
MUST_USE enum status person_read(const struct provider *p, const struct doc *id_token,
                                 const struct doc *userinfo, struct arena *arena,
                                 struct person *out, struct err *err);

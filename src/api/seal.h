// SPDX-License-Identifier: Apache-2.0
// seal: texts that this server keeps or gives away and that nobody else reads or changes. What is sealed
// about one thing opens as that only.
#pragma once

#include "base/arena.h"
#include "base/attr.h"
#include "base/uuid.h"
#include "io/crypto.h"

/* seal_text gives the text sealed, as base64url, in arena; seal_open takes it apart again. False: k did
 * not seal this about that. */
struct str seal_text(const struct crypto_key *k, struct str about, struct str text,
                     struct arena *arena);
MUST_USE bool seal_open(const struct crypto_key *k, struct str about, struct str sealed,
                        struct arena *arena, struct str *out);
/* seal_about_credential: what the secret of that name of a credential is sealed about. */
struct str seal_about_credential(struct uuid credential, struct str name, struct arena *arena);
/* seal_base64 gives bytes as base64url. */
struct str seal_base64(struct str bytes, struct arena *arena);

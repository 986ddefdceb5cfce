// SPDX-License-Identifier: Apache-2.0
// token: what somebody signed in with a password, a secret or a refresh token shows from then on: a
// JSON Web Token signed by this server (EdDSA). It names who it is and no rights: those are looked up
// in the state with every request, so what is taken away is gone at once.
#pragma once

#include "base/uuid.h"
#include "io/crypto.h"

enum {
    TOKEN_ACCESS_S = 3600,
    TOKEN_REFRESH_S = 30 * 24 * 3600,
    TOKENS_KEPT = 1024, /* of which the signature was checked lately */
};

/* SESSION_MACHINE: the administrator of this machine, over the local socket; needs no token. */
enum session_kind { SESSION_NONE, SESSION_MACHINE, SESSION_USER, SESSION_APPLICATION, SESSION_KEY };
struct session {
    enum session_kind kind;
    struct uuid id;      /* of the user, service account or access key */
    uint32_t generation; /* of its tokens when this one was made */
    int64_t exp_ms;
    bool refresh; /* only good to get another access token */
};

/* Tokens are made and checked with the key; the last ones checked are remembered. key is borrowed. */
struct tokens;
struct tokens *tokens_new(const struct crypto_key *key);
void tokens_free(struct tokens *t);
/* token_make appends a token for s that is good from now_ms for s->refresh ? TOKEN_REFRESH_S :
 * TOKEN_ACCESS_S; name is what people see in it. kept goes along (at most TOKEN_KEPT_MAX bytes). */
enum { TOKEN_KEPT_MAX = 8 * 1024 };
void token_make(const struct tokens *t, const struct session *s, struct str name, struct str kept,
                int64_t now_ms, struct buf *out);
/* token_read checks a token's form, signature, time and for whom it is. STATUS_UNAUTHENTIC says what
 * is wrong with it. Whether its subject is still there: session_who. */
MUST_USE enum status token_read(struct tokens *t, struct str text, int64_t now_ms,
                                struct session *out, struct err *err);
/* token_kept gives what goes along with a token that token_read has found good; in arena. */
struct str token_kept(struct str text, struct arena *arena);

// SPDX-License-Identifier: Apache-2.0
// One algorithm, whatever a token's header asks for: a token is good if our key signed it. Checking a
// signature takes as long as answering a small request, so the digests of good tokens are kept, in a
// table of fixed size in which a newer one takes the place of the older one of the same slot.
#include "api/token.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "codec/json.h"
#include "codec/jwt.h"

#define ISSUER STR("weir")

struct kept {
    uint8_t sum[CRYPTO_SHA256_SIZE];
    struct session session; /* SESSION_NONE: the slot is free */
};
struct tokens {
    const struct crypto_key *key;
    struct str header; /* of every token, in memory of its own */
    struct arena arena;
    struct kept kept[TOKENS_KEPT];
};

static const struct str kinds[] = {
    [SESSION_NONE] = STRS(""),          [SESSION_MACHINE] = STRS(""),
    [SESSION_USER] = STRS("user"),      [SESSION_APPLICATION] = STRS("service-account"),
    [SESSION_KEY] = STRS("access-key"),
};

struct tokens *tokens_new(const struct crypto_key *key)
{
    struct tokens *t = mem_alloc(sizeof *t);
    t->key = key;
    arena_init(&t->arena, 0);
    t->header = arena_printf(&t->arena, "{\"alg\":\"EdDSA\",\"typ\":\"JWT\",\"kid\":\"%s\"}",
                             crypto_key_id(key));
    return t;
}

void tokens_free(struct tokens *t)
{
    if (t != NULL) {
        arena_done(&t->arena);
        mem_free(t);
    }
}

void token_make(const struct tokens *t, const struct session *s, struct str name, struct str kept,
                int64_t now_ms, struct buf *out)
{
    struct buf json, unsigned_part;
    struct jw w;
    char id[UUID_TEXT_LEN + 1];
    uint8_t signature[CRYPTO_SIGNATURE_SIZE];
    int64_t now_s = now_ms / 1000;
    CHECK(s->kind > SESSION_MACHINE);
    CHECK(kept.len <= TOKEN_KEPT_MAX);
    uuid_format(s->id, id);
    buf_init(&json, JWT_BYTES_MAX);
    jw_init(&w, &json, false);
    jw_object_begin(&w);
    jw_member_string(&w, STR("iss"), ISSUER);
    jw_member_string(&w, STR("aud"), ISSUER);
    jw_member_string(&w, STR("sub"), str_from_c(id));
    jw_member_string(&w, STR("typ"), s->refresh ? STR("Refresh") : STR("Bearer"));
    jw_member_string(&w, STR("kind"), kinds[s->kind]);
    jw_member_string(&w, STR("preferred_username"), name);
    jw_member_i64(&w, STR("gen"), s->generation);
    jw_member_i64(&w, STR("iat"), now_s);
    jw_member_i64(&w, STR("exp"), now_s + (s->refresh ? TOKEN_REFRESH_S : TOKEN_ACCESS_S));
    if (kept.len > 0) {
        jw_member_string(&w, STR("kept"), kept);
    }
    jw_object_end(&w);
    buf_init(&unsigned_part, JWT_BYTES_MAX);
    jwt_begin(t->header, buf_view(&json), &unsigned_part);
    crypto_sign(t->key, buf_view(&unsigned_part), signature);
    buf_str(out, buf_view(&unsigned_part));
    jwt_end((struct str){(const char *)signature, sizeof signature}, out);
    buf_done(&unsigned_part);
    buf_done(&json);
}

static bool kind_of(struct str word, enum session_kind *out)
{
    for (int i = SESSION_USER; i <= SESSION_KEY; i++) {
        if (str_eq(word, kinds[i])) {
            *out = (enum session_kind)i;
            return true;
        }
    }
    return false;
}

/* Ours, since we signed it: but a future weir may have other claims. */
static bool read_claims(struct str payload, struct arena *arena, struct session *out)
{
    struct jr r;
    struct str key;
    struct str iss = {0}, aud = {0}, sub = {0}, typ = {0}, kind = {0};
    int64_t gen = -1, exp = -1;
    jr_init(&r, payload, arena, NULL);
    for (jr_object(&r); jr_member(&r, &key);) {
        if (str_eq(key, STR("iss"))) {
            jr_string(&r, &iss);
        } else if (str_eq(key, STR("aud"))) {
            jr_string(&r, &aud);
        } else if (str_eq(key, STR("sub"))) {
            jr_string(&r, &sub);
        } else if (str_eq(key, STR("typ"))) {
            jr_string(&r, &typ);
        } else if (str_eq(key, STR("kind"))) {
            jr_string(&r, &kind);
        } else if (str_eq(key, STR("gen"))) {
            jr_i64(&r, &gen);
        } else if (str_eq(key, STR("exp"))) {
            jr_i64(&r, &exp);
        } else {
            jr_skip(&r);
        }
    }
    *out = (struct session){.refresh = str_eq(typ, STR("Refresh"))};
    if (jr_finish(&r) != STATUS_OK || !str_eq(iss, ISSUER) || !str_eq(aud, ISSUER) ||
        (!out->refresh && !str_eq(typ, STR("Bearer"))) || !uuid_parse(sub, &out->id) ||
        !kind_of(kind, &out->kind) || gen < 0 || gen > UINT32_MAX || exp <= 0 ||
        exp > INT64_MAX / 1000) {
        return false;
    }
    out->generation = (uint32_t)gen;
    out->exp_ms = exp * 1000;
    return true;
}

static enum status check(const struct tokens *t, struct str text, struct session *out,
                         struct err *err)
{
    struct arena arena = {0};
    struct jwt jwt;
    enum status status = STATUS_OK;
    arena_init(&arena, 0);
    if (!jwt_split(text, &arena, &jwt)) {
        status = err_set(err, STATUS_UNAUTHENTIC, "this is no token of weir");
    } else if (!crypto_verify(t->key, jwt.signed_part, jwt.signature)) {
        status = err_set(err, STATUS_UNAUTHENTIC, "the token was not signed by this server");
    } else if (!read_claims(jwt.payload, &arena, out)) {
        status = err_set(err, STATUS_UNAUTHENTIC,
                         "the token is of a kind that this weir does not "
                         "know");
    }
    arena_done(&arena);
    return status;
}

enum status token_read(struct tokens *t, struct str text, int64_t now_ms, struct session *out,
                       struct err *err)
{
    uint8_t sum[CRYPTO_SHA256_SIZE];
    uint32_t slot;
    struct session found;
    crypto_sha256(text, sum);
    memcpy(&slot, sum, sizeof slot);
    struct kept *k = &t->kept[slot % TOKENS_KEPT];
    if (k->session.kind != SESSION_NONE && memcmp(k->sum, sum, sizeof sum) == 0) {
        found = k->session;
    } else {
        enum status status = check(t, text, &found, err);
        if (status != STATUS_OK) {
            return status;
        }
        memcpy(k->sum, sum, sizeof sum);
        k->session = found;
    }
    if (found.exp_ms <= now_ms) {
        err_set(err, STATUS_UNAUTHENTIC, "the token has expired");
        return err_hint(err, "sign in again: weir login");
    }
    *out = found;
    return STATUS_OK;
}

struct str token_kept(struct str text, struct arena *arena)
{
    struct jwt jwt;
    struct doc *d = NULL;
    if (!jwt_split(text, arena, &jwt) || json_doc(jwt.payload, arena, &d, NULL) != STATUS_OK) {
        return STR("");
    }
    const struct doc *kept = doc_get(d, STR("kept"));
    return kept != NULL && kept->kind == DOC_STRING ? kept->text : STR("");
}

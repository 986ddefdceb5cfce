// SPDX-License-Identifier: Apache-2.0
// A key says by its kind which algorithm it is for; what it says under "alg" may only agree.
#include "codec/jwk.h"

#include "codec/base64.h"
#include "codec/json.h"

enum {
    RSA_BYTES_MIN = 256, /* 2048 bits */
    RSA_BYTES_MAX = 1024,
    EXPONENT_BYTES_MAX = 8,
    POINT_BYTES = 32, /* of P-256 and of Ed25519 */
};

static const struct str names[] = {
    [JWA_OTHER] = STRS(""),
    [JWA_RS256] = STRS("RS256"),
    [JWA_ES256] = STRS("ES256"),
    [JWA_EDDSA] = STRS("EdDSA"),
};
_Static_assert(COUNT_OF(names) == JWA_COUNT, "a name for each");

const char *jwa_name(enum jwa alg)
{
    return names[alg].ptr;
}

static enum jwa find(struct str name)
{
    for (int i = JWA_OTHER + 1; i < JWA_COUNT; i++) {
        if (str_eq(name, names[i])) {
            return (enum jwa)i;
        }
    }
    return JWA_OTHER;
}

/* The text of a member that is one; empty otherwise. */
static struct str text(const struct doc *map, struct str name)
{
    const struct doc *d = doc_get(map, name);
    return d != NULL && d->kind == DOC_STRING ? d->text : STR("");
}

/* A number in base64url, without leading zeros (which some write), of least to most bytes. */
static bool number(const struct doc *key, struct str name, uint32_t least, uint32_t most,
                   struct arena *arena, struct str *out)
{
    struct buf bytes;
    buf_init(&bytes, RSA_BYTES_MAX + 1);
    bool ok = base64_decode(BASE64_URL, text(key, name), &bytes) && !bytes.full;
    struct str s = arena_str(arena, buf_view(&bytes));
    buf_done(&bytes);
    while (s.len > least && s.ptr[0] == 0) {
        s = str_sub(s, 1, s.len);
    }
    *out = s;
    return ok && s.len >= least && s.len <= most;
}

static bool read_key(const struct doc *key, struct arena *arena, struct jwk *out)
{
    struct str kty = text(key, STR("kty"));
    struct str crv = text(key, STR("crv"));
    struct str use = text(key, STR("use"));
    *out = (struct jwk){.kid = text(key, STR("kid"))};
    bool read = false;
    if (str_eq(kty, STR("RSA"))) {
        out->alg = JWA_RS256;
        read = number(key, STR("n"), RSA_BYTES_MIN, RSA_BYTES_MAX, arena, &out->a) &&
               number(key, STR("e"), 1, EXPONENT_BYTES_MAX, arena, &out->b);
    } else if (str_eq(kty, STR("EC")) && str_eq(crv, STR("P-256"))) {
        out->alg = JWA_ES256;
        read = number(key, STR("x"), POINT_BYTES, POINT_BYTES, arena, &out->a) &&
               number(key, STR("y"), POINT_BYTES, POINT_BYTES, arena, &out->b);
    } else if (str_eq(kty, STR("OKP")) && str_eq(crv, STR("Ed25519"))) {
        out->alg = JWA_EDDSA;
        read = number(key, STR("x"), POINT_BYTES, POINT_BYTES, arena, &out->a);
    }
    struct str alg = text(key, STR("alg"));
    return read && (use.len == 0 || str_eq(use, STR("sig"))) &&
           (alg.len == 0 || find(alg) == out->alg);
}

enum status jwks_read(struct str json, struct arena *arena, struct jwk **keys, uint32_t *count,
                      struct err *err)
{
    struct doc *root = NULL;
    if (json.len > JWKS_BYTES_MAX) {
        return err_set(err, STATUS_TOO_LARGE, "a set of keys has at most %d bytes", JWKS_BYTES_MAX);
    }
    enum status status = json_doc(json, arena, &root, err);
    if (status != STATUS_OK) {
        return status;
    }
    const struct doc *list = doc_get(root, STR("keys"));
    if (list == NULL || list->kind != DOC_LIST) {
        return err_set(err, STATUS_INVALID, "expected a list \"keys\"");
    }
    if (list->child_count > JWKS_KEYS_MAX) {
        return err_set(err, STATUS_TOO_LARGE, "a set has at most %d keys, this one has %u",
                       JWKS_KEYS_MAX, list->child_count);
    }
    struct jwk *out = ARENA_ARRAY(arena, struct jwk, list->child_count);
    uint32_t found = 0;
    for (const struct doc *d = list->child; d != NULL; d = d->next) {
        found += read_key(d, arena, &out[found]);
    }
    *keys = out;
    *count = found;
    return STATUS_OK;
}

enum status jws_header_read(struct str json, struct arena *arena, struct jws_header *out,
                            struct err *err)
{
    struct doc *root = NULL;
    enum status status = json_doc(json, arena, &root, err);
    if (status != STATUS_OK) {
        return status;
    }
    if (root->kind != DOC_MAP) {
        return err_set(err, STATUS_INVALID, "expected an object, got %s",
                       doc_kind_name(root->kind));
    }
    for (const struct doc *d = root->child; d != NULL; d = d->next) {
        if (doc_get(root, d->key) != d) {
            return err_set(err, STATUS_INVALID, "the header names \"" STR_FMT "\" twice",
                           STR_ARG(str_clip(d->key, 64)));
        }
    }
    if (doc_get(root, STR("crit")) != NULL) {
        return err_set(err, STATUS_INVALID, "the header asks for extensions (crit)");
    }
    *out = (struct jws_header){find(text(root, STR("alg"))), text(root, STR("kid"))};
    return STATUS_OK;
}

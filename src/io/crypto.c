// SPDX-License-Identifier: Apache-2.0
#include "io/crypto.h"

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

enum {
    PUBLIC_KEY_SIZE = 32,
    PRIVATE_KEY_SIZE = 32,
    SERIAL_BYTES = 16,
    NAMES_BYTES_MAX = 2048,
    SEAL_NONCE_SIZE = 12,
    SEAL_TAG_SIZE = 16,
    POINT_SIZE = 32, /* of P-256, one coordinate */
};
_Static_assert(SEAL_NONCE_SIZE + SEAL_TAG_SIZE == CRYPTO_SEAL_SIZE, "what sealing adds");

/* ---- digests ---- */

static void digest(const EVP_MD *kind, struct str bytes, uint8_t *out, unsigned int size)
{
    unsigned int len = 0;
    CHECK(EVP_Digest(bytes.ptr, bytes.len, out, &len, kind, NULL) == 1);
    CHECK(len == size);
}

void crypto_sha1(struct str bytes, uint8_t out[CRYPTO_SHA1_SIZE])
{
    digest(EVP_sha1(), bytes, out, CRYPTO_SHA1_SIZE);
}

void crypto_sha256(struct str bytes, uint8_t out[CRYPTO_SHA256_SIZE])
{
    digest(EVP_sha256(), bytes, out, CRYPTO_SHA256_SIZE);
}

bool crypto_same(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || CRYPTO_memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* ---- errors ---- */

static enum status fail(struct err *err, enum status status, const char *doing)
{
    char said[256];
    unsigned long code = ERR_get_error();
    ERR_error_string_n(code, said, sizeof said);
    ERR_clear_error();
    return err_set(err, status, "cannot %s: %s", doing, code != 0 ? said : "no reason given");
}

/* Appends what was written to the memory of bio, and frees it. */
static void take_bio(BIO *bio, struct buf *out)
{
    char *bytes = NULL;
    long len = BIO_get_mem_data(bio, &bytes);
    CHECK(len > 0);
    buf_add(out, bytes, (size_t)len);
    BIO_free(bio);
}

/* ---- the key that tokens are signed with ---- */

struct crypto_key {
    EVP_PKEY *pkey;
    char id[CRYPTO_KEY_ID_SIZE];
};

static struct crypto_key *wrap(EVP_PKEY *pkey)
{
    struct crypto_key *k = mem_alloc(sizeof *k);
    uint8_t public_key[PUBLIC_KEY_SIZE];
    uint8_t sum[CRYPTO_SHA256_SIZE];
    size_t len = sizeof public_key;
    CHECK(EVP_PKEY_get_raw_public_key(pkey, public_key, &len) == 1);
    crypto_sha256((struct str){(const char *)public_key, (uint32_t)len}, sum);
    for (int i = 0; i < (CRYPTO_KEY_ID_SIZE - 1) / 2; i++) {
        snprintf(k->id + (size_t)i * 2, 3, "%02x", sum[i]);
    }
    k->pkey = pkey;
    return k;
}

enum status crypto_key_new(struct crypto_key **out, struct err *err)
{
    EVP_PKEY *pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    if (pkey == NULL) {
        return fail(err, STATUS_INTERNAL, "make a key");
    }
    *out = wrap(pkey);
    return STATUS_OK;
}

enum status crypto_key_read(struct str pem, struct crypto_key **out, struct err *err)
{
    BIO *bio = BIO_new_mem_buf(pem.ptr, (int)pem.len);
    CHECK(bio != NULL);
    EVP_PKEY *pkey = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    BIO_free(bio);
    if (pkey == NULL) {
        return fail(err, STATUS_INVALID, "read the key");
    }
    if (!EVP_PKEY_is_a(pkey, "ED25519")) {
        EVP_PKEY_free(pkey);
        return err_set(err, STATUS_INVALID, "the key is not one of Ed25519");
    }
    *out = wrap(pkey);
    return STATUS_OK;
}

void crypto_key_write(const struct crypto_key *k, struct buf *pem)
{
    BIO *bio = BIO_new(BIO_s_mem());
    CHECK(bio != NULL);
    CHECK(PEM_write_bio_PrivateKey(bio, k->pkey, NULL, NULL, 0, NULL, NULL) == 1);
    take_bio(bio, pem);
}

void crypto_key_free(struct crypto_key *k)
{
    if (k != NULL) {
        EVP_PKEY_free(k->pkey);
        mem_free(k);
    }
}

const char *crypto_key_id(const struct crypto_key *k)
{
    return k->id;
}

void crypto_sign(const struct crypto_key *k, struct str bytes,
                 uint8_t signature[CRYPTO_SIGNATURE_SIZE])
{
    size_t len = CRYPTO_SIGNATURE_SIZE;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    CHECK(ctx != NULL);
    CHECK(EVP_DigestSignInit(ctx, NULL, NULL, NULL, k->pkey) == 1);
    CHECK(EVP_DigestSign(ctx, signature, &len, (const uint8_t *)bytes.ptr, bytes.len) == 1);
    CHECK(len == CRYPTO_SIGNATURE_SIZE);
    EVP_MD_CTX_free(ctx);
}

bool crypto_verify(const struct crypto_key *k, struct str bytes, struct str signature)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    CHECK(ctx != NULL);
    CHECK(EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, k->pkey) == 1);
    bool ok = EVP_DigestVerify(ctx, (const uint8_t *)signature.ptr, signature.len,
                               (const uint8_t *)bytes.ptr, bytes.len) == 1;
    EVP_MD_CTX_free(ctx);
    ERR_clear_error(); /* a wrong signature leaves one behind */
    return ok;
}

/* ---- signatures of others ---- */

static const uint8_t *bytes_of(struct str s)
{
    return (const uint8_t *)s.ptr;
}

static EVP_PKEY *from_params(const char *kind, OSSL_PARAM_BLD *builder)
{
    EVP_PKEY *pkey = NULL;
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, kind, NULL);
    CHECK(params != NULL && ctx != NULL);
    if (EVP_PKEY_fromdata_init(ctx) != 1 ||
        EVP_PKEY_fromdata(ctx, &pkey, EVP_PKEY_PUBLIC_KEY, params) != 1) {
        pkey = NULL;
    }
    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_free(params);
    return pkey;
}

static EVP_PKEY *rsa_key(const struct jwk *key)
{
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    BIGNUM *n = BN_bin2bn(bytes_of(key->a), (int)key->a.len, NULL);
    BIGNUM *e = BN_bin2bn(bytes_of(key->b), (int)key->b.len, NULL);
    CHECK(builder != NULL && n != NULL && e != NULL);
    CHECK(OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n) == 1 &&
          OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e) == 1);
    EVP_PKEY *pkey = from_params("RSA", builder);
    OSSL_PARAM_BLD_free(builder);
    BN_free(n);
    BN_free(e);
    return pkey;
}

static EVP_PKEY *point_key(const struct jwk *key)
{
    uint8_t point[1 + 2 * POINT_SIZE] = {POINT_CONVERSION_UNCOMPRESSED};
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    CHECK(builder != NULL && key->a.len == POINT_SIZE && key->b.len == POINT_SIZE);
    memcpy(point + 1, key->a.ptr, POINT_SIZE);
    memcpy(point + 1 + POINT_SIZE, key->b.ptr, POINT_SIZE);
    CHECK(OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0) == 1 &&
          OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point) ==
              1);
    EVP_PKEY *pkey = from_params("EC", builder);
    OSSL_PARAM_BLD_free(builder);
    return pkey;
}

static EVP_PKEY *public_key(const struct jwk *key)
{
    switch (key->alg) {
    case JWA_RS256:
        return rsa_key(key);
    case JWA_ES256:
        return point_key(key);
    case JWA_EDDSA:
        return EVP_PKEY_new_raw_public_key_ex(NULL, "ED25519", NULL, bytes_of(key->a), key->a.len);
    case JWA_OTHER:
    case JWA_COUNT:
        break;
    }
    return NULL;
}

/* JSON Web Signatures have r and s side by side, OpenSSL wants them as ASN.1. *der is to be freed. */
static int ecdsa_der(struct str signature, uint8_t **der)
{
    ECDSA_SIG *sig = ECDSA_SIG_new();
    CHECK(sig != NULL && signature.len == 2 * POINT_SIZE);
    BIGNUM *r = BN_bin2bn(bytes_of(signature), POINT_SIZE, NULL);
    BIGNUM *s = BN_bin2bn(bytes_of(signature) + POINT_SIZE, POINT_SIZE, NULL);
    CHECK(r != NULL && s != NULL && ECDSA_SIG_set0(sig, r, s) == 1);
    int len = i2d_ECDSA_SIG(sig, der);
    CHECK(len > 0);
    ECDSA_SIG_free(sig);
    return len;
}

static bool verify(EVP_PKEY *pkey, const EVP_MD *md, struct str bytes, const uint8_t *signature,
                   size_t signature_len)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    CHECK(ctx != NULL);
    bool ok = EVP_DigestVerifyInit(ctx, NULL, md, NULL, pkey) == 1 &&
              EVP_DigestVerify(ctx, signature, signature_len, bytes_of(bytes), bytes.len) == 1;
    EVP_MD_CTX_free(ctx);
    return ok;
}

bool crypto_jws_verify(const struct jwk *key, struct str bytes, struct str signature)
{
    EVP_PKEY *pkey = public_key(key);
    bool ok = false;
    if (pkey != NULL && key->alg == JWA_ES256 && signature.len == 2 * POINT_SIZE) {
        uint8_t *der = NULL;
        int len = ecdsa_der(signature, &der);
        ok = verify(pkey, EVP_sha256(), bytes, der, (size_t)len);
        OPENSSL_free(der);
    } else if (pkey != NULL && key->alg != JWA_ES256) {
        const EVP_MD *md = key->alg == JWA_RS256 ? EVP_sha256() : NULL;
        ok = verify(pkey, md, bytes, bytes_of(signature), signature.len);
    }
    EVP_PKEY_free(pkey);
    ERR_clear_error();
    return ok;
}

/* ---- sealing ---- */

/* The key to seal with comes from the one to sign with, by its own digest over what it is for. */
static void seal_key(const struct crypto_key *k, uint8_t out[CRYPTO_SHA256_SIZE])
{
    static const char what[] = "weir seal 1";
    uint8_t both[sizeof what + PRIVATE_KEY_SIZE];
    size_t len = PRIVATE_KEY_SIZE;
    memcpy(both, what, sizeof what);
    CHECK(EVP_PKEY_get_raw_private_key(k->pkey, both + sizeof what, &len) == 1);
    crypto_sha256((struct str){(const char *)both, sizeof both}, out);
    OPENSSL_cleanse(both, sizeof both);
}

static EVP_CIPHER_CTX *seal_start(const struct crypto_key *k, struct str about,
                                  const uint8_t *nonce, bool seal)
{
    uint8_t key[CRYPTO_SHA256_SIZE];
    int len = 0;
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    seal_key(k, key);
    CHECK(ctx != NULL);
    CHECK(EVP_CipherInit_ex(ctx, EVP_aes_256_gcm(), NULL, key, nonce, seal) == 1);
    CHECK(EVP_CipherUpdate(ctx, NULL, &len, bytes_of(about), (int)about.len) == 1);
    OPENSSL_cleanse(key, sizeof key);
    return ctx;
}

void crypto_seal(const struct crypto_key *k, struct str about, struct str bytes, struct buf *out)
{
    uint8_t nonce[SEAL_NONCE_SIZE];
    uint8_t tag[SEAL_TAG_SIZE];
    uint8_t *text = mem_alloc((size_t)bytes.len + 1);
    int len = 0;
    CHECK(RAND_bytes(nonce, sizeof nonce) == 1);
    EVP_CIPHER_CTX *ctx = seal_start(k, about, nonce, true);
    CHECK(EVP_CipherUpdate(ctx, text, &len, bytes_of(bytes), (int)bytes.len) == 1);
    CHECK((uint32_t)len == bytes.len && EVP_CipherFinal_ex(ctx, text + len, &len) == 1);
    CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, sizeof tag, tag) == 1);
    buf_add(out, nonce, sizeof nonce);
    buf_add(out, text, bytes.len);
    buf_add(out, tag, sizeof tag);
    EVP_CIPHER_CTX_free(ctx);
    mem_free(text);
}

bool crypto_open(const struct crypto_key *k, struct str about, struct str sealed, struct buf *out)
{
    if (sealed.len < CRYPTO_SEAL_SIZE) {
        return false;
    }
    int len = (int)(sealed.len - CRYPTO_SEAL_SIZE);
    int done = 0;
    uint8_t tag[SEAL_TAG_SIZE];
    uint8_t *text = mem_alloc((size_t)len + 1);
    const uint8_t *at = bytes_of(sealed);
    EVP_CIPHER_CTX *ctx = seal_start(k, about, at, false);
    memcpy(tag, at + SEAL_NONCE_SIZE + len, sizeof tag);
    CHECK(EVP_CipherUpdate(ctx, text, &done, at + SEAL_NONCE_SIZE, len) == 1);
    CHECK(EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, sizeof tag, tag) == 1);
    bool ok = EVP_CipherFinal_ex(ctx, text + done, &done) == 1;
    if (ok) {
        buf_add(out, text, (size_t)len);
    }
    OPENSSL_cleanse(text, (size_t)len);
    EVP_CIPHER_CTX_free(ctx);
    mem_free(text);
    ERR_clear_error();
    return ok;
}

/* ---- a certificate that nobody vouches for ---- */

/* "a,10.0.0.1" as OpenSSL wants it: "DNS:a,IP:10.0.0.1". */
static bool alternative_names(struct str names, char out[NAMES_BYTES_MAX])
{
    struct str name;
    size_t len = 0;
    while (str_split(&names, ',', &name)) {
        ASN1_OCTET_STRING *address = NULL;
        char text[256];
        if (name.len == 0 || name.len >= sizeof text) {
            return false;
        }
        str_format(text, sizeof text, STR_FMT, STR_ARG(name));
        address = a2i_IPADDRESS(text);
        int n = snprintf(out + len, NAMES_BYTES_MAX - len, "%s%s:%s", len > 0 ? "," : "",
                         address != NULL ? "IP" : "DNS", text);
        ASN1_OCTET_STRING_free(address);
        if (n < 0 || (size_t)n >= NAMES_BYTES_MAX - len) {
            return false;
        }
        len += (size_t)n;
    }
    return len > 0;
}

static bool add_extension(X509 *cert, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, cert, cert, NULL, NULL, 0);
    X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    bool ok = e != NULL && X509_add_ext(cert, e, -1) == 1;
    X509_EXTENSION_free(e);
    return ok;
}

static bool fill(X509 *cert, EVP_PKEY *key, const char *names, int64_t now_ms, int64_t days)
{
    uint8_t serial[SERIAL_BYTES];
    X509_NAME *subject = X509_get_subject_name(cert);
    time_t now = (time_t)(now_ms / 1000);
    if (RAND_bytes(serial, sizeof serial) != 1) {
        return false;
    }
    serial[0] &= 0x7f; /* positive */
    BIGNUM *number = BN_bin2bn(serial, sizeof serial, NULL);
    bool ok = number != NULL && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert)) != NULL;
    BN_free(number);
    return ok && X509_set_version(cert, X509_VERSION_3) == 1 &&
           X509_time_adj_ex(X509_getm_notBefore(cert), -1, 0, &now) != NULL &&
           X509_time_adj_ex(X509_getm_notAfter(cert), (int)days, 0, &now) != NULL &&
           X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, (const uint8_t *)"weir", -1, -1,
                                      0) == 1 &&
           X509_set_issuer_name(cert, subject) == 1 && X509_set_pubkey(cert, key) == 1 &&
           add_extension(cert, NID_basic_constraints, "critical,CA:FALSE") &&
           add_extension(cert, NID_key_usage, "critical,digitalSignature") &&
           add_extension(cert, NID_ext_key_usage, "serverAuth") &&
           add_extension(cert, NID_subject_alt_name, names) &&
           X509_sign(cert, key, EVP_sha256()) > 0;
}

enum status crypto_self_signed(struct str names, int64_t now_ms, int64_t days,
                               struct buf *certificate_pem, struct buf *key_pem, struct err *err)
{
    char alternatives[NAMES_BYTES_MAX];
    if (!alternative_names(names, alternatives)) {
        return err_set(err, STATUS_INVALID,
                       "expected host names and addresses, separated by commas, got \"" STR_FMT
                       "\"",
                       STR_ARG(str_sub(names, 0, 100)));
    }
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    BIO *cert_bio = BIO_new(BIO_s_mem());
    BIO *key_bio = BIO_new(BIO_s_mem());
    CHECK(key != NULL && cert != NULL && cert_bio != NULL && key_bio != NULL);
    enum status status = STATUS_OK;
    if (fill(cert, key, alternatives, now_ms, days)) {
        CHECK(PEM_write_bio_X509(cert_bio, cert) == 1);
        CHECK(PEM_write_bio_PrivateKey(key_bio, key, NULL, NULL, 0, NULL, NULL) == 1);
        take_bio(cert_bio, certificate_pem);
        take_bio(key_bio, key_pem);
    } else {
        status = fail(err, STATUS_INVALID, "make a certificate");
        BIO_free(cert_bio);
        BIO_free(key_bio);
    }
    X509_free(cert);
    EVP_PKEY_free(key);
    return status;
}

// SPDX-License-Identifier: Apache-2.0
#include "io/crypto.h"

#include <string.h>

#include "base/test.h"
#include "codec/jwt.h"

static void hex(const uint8_t *bytes, size_t len, char *out)
{
    for (size_t i = 0; i < len; i++) {
        str_format(out + 2 * i, 3, "%02x", bytes[i]);
    }
}

TEST(digests)
{
    uint8_t sum[CRYPTO_SHA256_SIZE];
    char text[2 * CRYPTO_SHA256_SIZE + 1];
    crypto_sha256(STR("abc"), sum); /* FIPS 180-4, example */
    hex(sum, sizeof sum, text);
    EXPECT_STR(str_from_c(text),
               STR("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    crypto_sha1(STR("abc"), sum);
    hex(sum, CRYPTO_SHA1_SIZE, text);
    EXPECT_STR(str_from_c(text), STR("a9993e364706816aba3e25717850c26c9cd0d89d"));
    EXPECT(crypto_same(STR("secret"), STR("secret")));
    EXPECT(!crypto_same(STR("secret"), STR("secreT")));
    EXPECT(!crypto_same(STR("secret"), STR("secret2")));
    EXPECT(crypto_same(STR(""), STR("")));
}

TEST(signatures)
{
    struct err err;
    struct crypto_key *key, *other, *again;
    uint8_t signature[CRYPTO_SIGNATURE_SIZE];
    struct str bytes = {(const char *)signature, sizeof signature};
    struct buf pem;
    buf_init(&pem, 4096);
    REQUIRE_OK(crypto_key_new(&key, &err), &err);
    REQUIRE_OK(crypto_key_new(&other, &err), &err);
    crypto_sign(key, STR("what is said"), signature);
    EXPECT(crypto_verify(key, STR("what is said"), bytes));
    EXPECT(!crypto_verify(key, STR("what is Said"), bytes));
    EXPECT(!crypto_verify(other, STR("what is said"), bytes));
    EXPECT(!crypto_verify(key, STR("what is said"), str_sub(bytes, 0, 63)));
    EXPECT(!crypto_verify(key, STR("what is said"), STR("")));
    crypto_key_write(key, &pem);
    REQUIRE_OK(crypto_key_read(buf_view(&pem), &again, &err), &err);
    EXPECT_STR(str_from_c(crypto_key_id(again)), str_from_c(crypto_key_id(key)));
    EXPECT(!str_eq(str_from_c(crypto_key_id(other)), str_from_c(crypto_key_id(key))));
    EXPECT(crypto_verify(again, STR("what is said"), bytes));
    signature[3] ^= 1;
    EXPECT(!crypto_verify(again, STR("what is said"), bytes));
    crypto_key_free(key);
    crypto_key_free(other);
    crypto_key_free(again);
    crypto_key_free(NULL);
    buf_done(&pem);
}

/* The example of RFC 8032, 7.1, test 2. */
TEST(signature_of_the_standard)
{
    static const char pem[] = "-----BEGIN PRIVATE KEY-----\n"
                              "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7\n"
                              "-----END PRIVATE KEY-----\n";
    struct err err;
    struct crypto_key *key;
    uint8_t signature[CRYPTO_SIGNATURE_SIZE];
    char text[2 * CRYPTO_SIGNATURE_SIZE + 1];
    enum status status = crypto_key_read(str_from_c(pem), &key, &err);
    REQUIRE_OK(status, &err);
    crypto_sign(key, STR("r"), signature);
    hex(signature, sizeof signature, text);
    EXPECT_STR(str_from_c(text),
               STR("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                   "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"));
    EXPECT(crypto_verify(key, STR("r"), (struct str){(const char *)signature, sizeof signature}));
    crypto_key_free(key);
}

/* Keys and tokens of RFC 7515, A.2 and A.3, and RFC 8037, A.4. */
static const char standard_keys[] =
    "{\"keys\":[{\"kty\":\"RSA\",\"e\":\"AQAB\",\"n\":\""
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0"
    "Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXnd"
    "S5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5Ihl"
    "JH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ\"},"
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
    "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"},"
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}]}";
#define JOE                                                                                        \
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl" \
    "fQ"

static const char rs256[] =
    "eyJhbGciOiJSUzI1NiJ9." JOE
    ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp"
    "5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb"
    "1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOY"
    "EUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
static const char es256[] =
    "eyJhbGciOiJFUzI1NiJ9." JOE
    ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
static const char eddsa[] =
    "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
    ".hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";
static const char *const standard_tokens[] = {rs256, es256, eddsa};

TEST(signatures_of_others)
{
    struct arena arena;
    struct jwk *keys = NULL;
    uint32_t count = 0;
    struct err err;
    arena_init(&arena, 0);
    REQUIRE_OK(jwks_read(str_from_c(standard_keys), &arena, &keys, &count, &err), &err);
    REQUIRE(count == COUNT_OF(standard_tokens));
    for (uint32_t i = 0; i < count; i++) {
        struct jwt jwt;
        REQUIRE(jwt_split(str_from_c(standard_tokens[i]), &arena, &jwt));
        test_row(jwa_name(keys[i].alg));
        EXPECT(crypto_jws_verify(&keys[i], jwt.signed_part, jwt.signature));
        EXPECT(!crypto_jws_verify(&keys[(i + 1) % count], jwt.signed_part, jwt.signature));
        EXPECT(!crypto_jws_verify(&keys[i], jwt.header, jwt.signature));
        EXPECT(!crypto_jws_verify(&keys[i], jwt.signed_part, STR("")));
        EXPECT(!crypto_jws_verify(&keys[i], jwt.signed_part,
                                  str_sub(jwt.signature, 1, jwt.signature.len)));
        struct buf changed;
        buf_init(&changed, 4096);
        buf_str(&changed, jwt.signature);
        changed.ptr[5] ^= 1;
        EXPECT(!crypto_jws_verify(&keys[i], jwt.signed_part, buf_view(&changed)));
        memset(changed.ptr, 0, changed.len);
        EXPECT(!crypto_jws_verify(&keys[i], jwt.signed_part, buf_view(&changed)));
        buf_done(&changed);
    }
    /* A point that is not on the curve. */
    struct jwk off = keys[1];
    off.b = off.a;
    struct jwt jwt;
    REQUIRE(jwt_split(str_from_c(standard_tokens[1]), &arena, &jwt));
    EXPECT(!crypto_jws_verify(&off, jwt.signed_part, jwt.signature));
    arena_done(&arena);
}

TEST(what_is_sealed)
{
    struct err err;
    struct crypto_key *key, *other;
    struct buf sealed, opened;
    REQUIRE_OK(crypto_key_new(&key, &err), &err);
    REQUIRE_OK(crypto_key_new(&other, &err), &err);
    buf_init(&sealed, 4096);
    buf_init(&opened, 4096);
    crypto_seal(key, STR("this"), STR("a secret"), &sealed);
    struct str bytes = buf_view(&sealed);
    EXPECT_I64(bytes.len, strlen("a secret") + CRYPTO_SEAL_SIZE);
    EXPECT(memmem(bytes.ptr, bytes.len, "secret", 6) == NULL);
    EXPECT(!crypto_open(key, STR("that"), bytes, &opened));
    EXPECT(!crypto_open(other, STR("this"), bytes, &opened));
    EXPECT(!crypto_open(key, STR("this"), str_sub(bytes, 0, bytes.len - 1), &opened));
    EXPECT(!crypto_open(key, STR("this"), STR(""), &opened));
    for (size_t i = 0; i < sealed.len; i++) {
        sealed.ptr[i] ^= 1;
        EXPECT(!crypto_open(key, STR("this"), bytes, &opened));
        sealed.ptr[i] ^= 1;
    }
    EXPECT_I64((int64_t)opened.len, 0);
    REQUIRE(crypto_open(key, STR("this"), bytes, &opened));
    EXPECT_STR(buf_view(&opened), STR("a secret"));
    buf_clear(&sealed);
    buf_clear(&opened);
    crypto_seal(key, STR("this"), STR(""), &sealed);
    REQUIRE(crypto_open(key, STR("this"), buf_view(&sealed), &opened));
    EXPECT_I64((int64_t)opened.len, 0);
    buf_done(&sealed);
    buf_done(&opened);
    crypto_key_free(key);
    crypto_key_free(other);
}

TEST(what_is_no_key)
{
    struct err err;
    struct crypto_key *key;
    struct buf cert, other;
    EXPECT_STATUS(crypto_key_read(STR(""), &key, &err), STATUS_INVALID);
    EXPECT_STATUS(crypto_key_read(STR("-----BEGIN PRIVATE KEY-----\nAAAA\n"), &key, &err),
                  STATUS_INVALID);
    buf_init(&cert, 1 << 16);
    buf_init(&other, 1 << 16);
    REQUIRE_OK(
        crypto_self_signed(STR("localhost"), INT64_C(1700000000000), 30, &cert, &other, &err),
        &err);
    EXPECT_STATUS(crypto_key_read(buf_view(&other), &key, &err), STATUS_INVALID); /* of P-256 */
    buf_done(&cert);
    buf_done(&other);
}

TEST(self_signed)
{
    struct err err;
    struct buf cert, key;
    buf_init(&cert, 1 << 16);
    buf_init(&key, 1 << 16);
    REQUIRE_OK(crypto_self_signed(STR("localhost,127.0.0.1,::1"), INT64_C(1700000000000), 365,
                                  &cert, &key, &err),
               &err);
    EXPECT(str_starts(buf_view(&cert), STR("-----BEGIN CERTIFICATE-----\n")));
    EXPECT(str_starts(buf_view(&key), STR("-----BEGIN PRIVATE KEY-----\n")));
    EXPECT_STATUS(crypto_self_signed(STR(""), 0, 365, &cert, &key, &err), STATUS_INVALID);
    EXPECT_STATUS(crypto_self_signed(STR("a,,b"), 0, 365, &cert, &key, &err), STATUS_INVALID);
    buf_done(&cert);
    buf_done(&key);
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
#include "io/crypto.h"

#include "base/test.h"

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

// SPDX-License-Identifier: Apache-2.0
#include "codec/jwk.h"

#include "base/buf.h"
#include "base/test.h"

/* Of RFC 7515, A.2.1 and A.3.1, and RFC 8037, A.2. */
#define RSA_N                                                    \
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddx" \
    "HmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMs" \
    "D1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSH" \
    "SXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdV" \
    "MTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8" \
    "NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
#define RSA "\"kty\":\"RSA\",\"n\":\"" RSA_N "\",\"e\":\"AQAB\""
#define EC                                                                                    \
    "\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\"," \
    "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\""
#define ED \
    "\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\""
#define KEY(body) "{\"keys\":[{" body "}]}"

TEST(sets_of_keys)
{
    static const struct {
        const char *name, *text;
        enum status status;
        uint32_t count;
        enum jwa alg;
    } rows[] = {
        {"RSA",                         KEY(RSA),                                                              STATUS_OK,      1, JWA_RS256},
        {"RSA for signing",             KEY(RSA ",\"use\":\"sig\",\"alg\":\"RS256\""),                         STATUS_OK,      1, JWA_RS256},
        {"for encryption",              KEY(RSA ",\"use\":\"enc\""),                                           STATUS_OK,      0, JWA_OTHER},
        {"for another algorithm",       KEY(RSA ",\"alg\":\"PS256\""),                                         STATUS_OK,      0, JWA_OTHER},
        {"for the one of another kind", KEY(EC ",\"alg\":\"RS256\""),                                          STATUS_OK,      0, JWA_OTHER},
        {"P-256",                       KEY(EC),                                                               STATUS_OK,      1, JWA_ES256},
        {"Ed25519",                     KEY(ED ",\"alg\":\"EdDSA\""),                                          STATUS_OK,      1, JWA_EDDSA},
        {"a secret shared is no key",   KEY("\"kty\":\"oct\",\"k\":\"AAAA\""),                                 STATUS_OK,      0,
         JWA_OTHER                                                                                                                         },
        {"too short for RSA",           KEY("\"kty\":\"RSA\",\"n\":\"ofgW\",\"e\":\"AQAB\""),                  STATUS_OK,      0,
         JWA_OTHER                                                                                                                         },
        {"half a point",                KEY("\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"f83O\",\"y\":\"x_FE\""),
         STATUS_OK,                                                                                                            0, JWA_OTHER},
        {"no base64",                   KEY("\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"****\""),             STATUS_OK,      0,
         JWA_OTHER                                                                                                                         },
        {"what is wrong is left out",   "{\"keys\":[7,{},{" EC "}]}",                                          STATUS_OK,      1, JWA_ES256},
        {"none",                        "{\"keys\":[]}",                                                       STATUS_OK,      0, JWA_OTHER},
        {"no set",                      "{\"keys\":{}}",                                                       STATUS_INVALID, 0, JWA_OTHER},
        {"no object",                   "[]",                                                                  STATUS_INVALID, 0, JWA_OTHER},
        {"no JSON",                     "<html>",                                                              STATUS_INVALID, 0, JWA_OTHER},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena;
        struct jwk *keys = NULL;
        uint32_t count = 0;
        struct err err;
        test_row(rows[i].name);
        arena_init(&arena, 0);
        EXPECT_STATUS(jwks_read(str_from_c(rows[i].text), &arena, &keys, &count, &err),
                      rows[i].status);
        EXPECT_I64(count, rows[i].count);
        if (count > 0) {
            EXPECT_I64(keys[0].alg, rows[i].alg);
        }
        arena_done(&arena);
    }
}

TEST(numbers_are_bytes)
{
    struct arena arena;
    struct jwk *keys;
    uint32_t count;
    struct err err;
    arena_init(&arena, 0);
    REQUIRE_OK(jwks_read(STR("{\"keys\":[{\"kid\":\"one\"," RSA "},{" EC "}]}"), &arena, &keys,
                         &count, &err),
               &err);
    REQUIRE(count == 2);
    EXPECT_STR(keys[0].kid, STR("one"));
    EXPECT_I64(keys[0].a.len, 256);
    EXPECT_STR(keys[0].b, STR("\1\0\1"));
    EXPECT_STR(keys[1].kid, STR(""));
    EXPECT_I64((uint8_t)keys[1].a.ptr[0], 0x7f);
    EXPECT_I64((uint8_t)keys[1].b.ptr[31], 0xad);
    arena_done(&arena);
}

TEST(too_many_and_too_long)
{
    struct arena arena;
    struct jwk *keys;
    uint32_t count;
    struct err err;
    struct buf text;
    arena_init(&arena, 0);
    buf_init(&text, 2 * (size_t)JWKS_BYTES_MAX);
    buf_str(&text, STR("{\"keys\":[{}"));
    for (int i = 0; i < JWKS_KEYS_MAX; i++) {
        buf_str(&text, STR(",{}"));
    }
    buf_str(&text, STR("]}"));
    EXPECT_STATUS(jwks_read(buf_view(&text), &arena, &keys, &count, &err), STATUS_TOO_LARGE);
    while (text.len <= JWKS_BYTES_MAX) {
        buf_char(&text, ' ');
    }
    EXPECT_STATUS(jwks_read(buf_view(&text), &arena, &keys, &count, &err), STATUS_TOO_LARGE);
    buf_done(&text);
    arena_done(&arena);
}

TEST(headers)
{
    static const struct {
        const char *name, *text;
        enum status status;
        enum jwa alg;
        const char *kid;
    } rows[] = {
        {"as usual",        "{\"typ\":\"JWT\",\"alg\":\"RS256\",\"kid\":\"k1\"}", STATUS_OK,      JWA_RS256,
         "k1"                                                                                                  },
        {"no kid",          "{\"alg\":\"ES256\"}",                                STATUS_OK,      JWA_ES256, ""},
        {"EdDSA",           "{\"alg\":\"EdDSA\"}",                                STATUS_OK,      JWA_EDDSA, ""},
        {"none",            "{\"alg\":\"none\"}",                                 STATUS_OK,      JWA_OTHER, ""},
        {"None",            "{\"alg\":\"None\"}",                                 STATUS_OK,      JWA_OTHER, ""},
        {"a shared secret", "{\"alg\":\"HS256\"}",                                STATUS_OK,      JWA_OTHER, ""},
        {"an empty one",    "{\"alg\":\"\"}",                                     STATUS_OK,      JWA_OTHER, ""},
        {"a number",        "{\"alg\":256}",                                      STATUS_OK,      JWA_OTHER, ""},
        {"missing",         "{}",                                                 STATUS_OK,      JWA_OTHER, ""},
        {"two of them",     "{\"alg\":\"none\",\"alg\":\"RS256\"}",               STATUS_INVALID, JWA_OTHER, ""},
        {"extensions",      "{\"alg\":\"RS256\",\"crit\":[\"b64\"]}",             STATUS_INVALID, JWA_OTHER, ""},
        {"no object",       "[\"alg\"]",                                          STATUS_INVALID, JWA_OTHER, ""},
        {"no JSON",         "alg",                                                STATUS_INVALID, JWA_OTHER, ""},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena;
        struct jws_header h = {0};
        struct err err;
        test_row(rows[i].name);
        arena_init(&arena, 0);
        EXPECT_STATUS(jws_header_read(str_from_c(rows[i].text), &arena, &h, &err), rows[i].status);
        EXPECT_I64(h.alg, rows[i].alg);
        EXPECT_STR(h.kid, str_from_c(rows[i].kid));
        arena_done(&arena);
    }
    EXPECT_STR(str_from_c(jwa_name(JWA_EDDSA)), STR("EdDSA"));
}

TEST_MAIN()

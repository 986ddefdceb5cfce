// SPDX-License-Identifier: Apache-2.0
#include "api/token.h"

#include "base/test.h"
#include "codec/base64.h"
#include "codec/jwt.h"

static struct crypto_key *key, *other_key;
static struct tokens *tokens;
static struct arena arena;
static const int64_t now_ms = INT64_C(1700000000500);

static void setup(void)
{
    struct err err;
    arena_init(&arena, 0);
    REQUIRE_OK(crypto_key_new(&key, &err), &err);
    REQUIRE_OK(crypto_key_new(&other_key, &err), &err);
    tokens = tokens_new(key);
}

static void teardown(void)
{
    tokens_free(tokens);
    crypto_key_free(key);
    crypto_key_free(other_key);
    arena_done(&arena);
}

static struct str make(const struct session *s)
{
    struct buf out;
    buf_init(&out, JWT_BYTES_MAX);
    token_make(tokens, s,
               STR("b\xc3\xb6"
                   "b?@example.com"),
               STR("what goes along"), now_ms, &out);
    struct str text = arena_str(&arena, buf_view(&out));
    buf_done(&out);
    return text;
}

static struct str sign(const char *header, const char *payload, const struct crypto_key *with)
{
    struct buf out;
    uint8_t signature[CRYPTO_SIGNATURE_SIZE];
    buf_init(&out, JWT_BYTES_MAX);
    jwt_begin(str_from_c(header), str_from_c(payload), &out);
    if (with != NULL) {
        crypto_sign(with, buf_view(&out), signature);
    }
    jwt_end((struct str){(const char *)signature, with != NULL ? sizeof signature : 0}, &out);
    struct str text = arena_str(&arena, buf_view(&out));
    buf_done(&out);
    return text;
}

TEST(made_and_read)
{
    struct err err;
    struct session s = {.kind = SESSION_KEY, .id = {{1, 2, 3}}, .generation = 7};
    struct session got;
    setup();
    for (int refresh = 0; refresh < 2; refresh++) {
        s.refresh = refresh != 0;
        struct str text = make(&s);
        int64_t life_ms = INT64_C(1000) * (s.refresh ? TOKEN_REFRESH_S : TOKEN_ACCESS_S);
        for (int twice = 0; twice < 2; twice++) { /* the second time it is remembered */
            REQUIRE_OK(token_read(tokens, text, now_ms, &got, &err), &err);
            EXPECT(got.kind == SESSION_KEY && uuid_eq(got.id, s.id) && got.refresh == s.refresh);
            EXPECT_I64(got.generation, 7);
            EXPECT_I64(got.exp_ms, now_ms / 1000 * 1000 + life_ms);
        }
        EXPECT_STATUS(token_read(tokens, text, got.exp_ms - 1, &got, &err), STATUS_OK);
        EXPECT_STATUS(token_read(tokens, text, got.exp_ms, &got, &err), STATUS_UNAUTHENTIC);
        struct jwt jwt;
        REQUIRE(jwt_split(text, &arena, &jwt));
        EXPECT_STR(token_kept(text, &arena), STR("what goes along"));
        EXPECT(str_eq(jwt.payload, STR("")) == false);
        EXPECT(str_find(jwt.payload, '?') == jwt.payload.len);
    }
    teardown();
}

#define HEADER "{\"alg\":\"EdDSA\",\"typ\":\"JWT\"}"
#define CLAIMS(more)                                                                       \
    "{\"iss\":\"weir\",\"aud\":\"weir\",\"sub\":\"00000000-0000-4000-8000-000000000001\"," \
    "\"kind\":\"user\",\"typ\":\"Bearer\"" more "}"

TEST(what_is_not_taken)
{
    static const struct {
        const char *name, *header, *payload;
        int with; /* 0: nobody signs it, 1: ours, 2: another key */
    } rows[] = {
        {"no signature",              HEADER,               CLAIMS(",\"gen\":0,\"exp\":9999999999"),          0},
        {"alg none",                  "{\"alg\":\"none\"}", CLAIMS(",\"gen\":0,\"exp\":9999999999"),          0},
        {"another key",               HEADER,               CLAIMS(",\"gen\":0,\"exp\":9999999999"),          2},
        {"no end",                    HEADER,               CLAIMS(",\"gen\":0"),                             1},
        {"no generation",             HEADER,               CLAIMS(",\"exp\":9999999999"),                    1},
        {"an end beyond all time",    HEADER,               CLAIMS(",\"gen\":0,\"exp\":9223372036854775807"), 1},
        {"claims that are no object", HEADER,               "[]",                                             1},
        {"claims that are no JSON",   HEADER,               "{\"iss\":",                                      1},
        {"for somebody else",         HEADER,
         "{\"iss\":\"weir\",\"aud\":\"other\",\"sub\":\"00000000-0000-4000-8000-000000000001\","
         "\"kind\":\"user\",\"typ\":\"Bearer\",\"gen\":0,\"exp\":9999999999}",                                1},
        {"of the machine",            HEADER,
         "{\"iss\":\"weir\",\"aud\":\"weir\",\"sub\":\"00000000-0000-4000-8000-000000000001\","
         "\"kind\":\"\",\"typ\":\"Bearer\",\"gen\":0,\"exp\":9999999999}",                                    1},
        {"ended",                     HEADER,               CLAIMS(",\"gen\":0,\"exp\":1600000000"),          1},
    };
    struct err err;
    struct session got;
    setup();
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        const struct crypto_key *with = rows[i].with == 1   ? key
                                        : rows[i].with == 2 ? other_key
                                                            : NULL;
        struct str text = sign(rows[i].header, rows[i].payload, with);
        EXPECT_STATUS(token_read(tokens, text, now_ms, &got, &err), STATUS_UNAUTHENTIC);
    }
    test_row(NULL);
    REQUIRE_OK(token_read(tokens, sign(HEADER, CLAIMS(",\"gen\":0,\"exp\":9999999999"), key),
                          now_ms, &got, &err),
               &err);
    EXPECT_STR(token_kept(sign(HEADER, CLAIMS(""), key), &arena), STR(""));
    EXPECT_STR(token_kept(STR("x"), &arena), STR(""));
    EXPECT_STATUS(token_read(tokens, STR(""), now_ms, &got, &err), STATUS_UNAUTHENTIC);
    EXPECT_STATUS(token_read(tokens, STR("a.b"), now_ms, &got, &err), STATUS_UNAUTHENTIC);
    teardown();
}

/* A token of which one letter was changed is not taken, wherever it is. */
TEST(every_letter_counts)
{
    struct err err;
    struct session s = {.kind = SESSION_USER, .id = {{9}}};
    struct session got;
    setup();
    struct str text = make(&s);
    char *copy = arena_alloc(&arena, text.len);
    for (uint32_t i = 0; i < text.len; i++) {
        for (uint32_t k = 0; k < text.len; k++) {
            copy[k] = text.ptr[k];
        }
        copy[i] = text.ptr[i] == 'A' ? 'B' : 'A';
        EXPECT_STATUS(token_read(tokens, (struct str){copy, text.len}, now_ms, &got, &err),
                      STATUS_UNAUTHENTIC);
    }
    teardown();
}

TEST_MAIN()

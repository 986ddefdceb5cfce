// SPDX-License-Identifier: Apache-2.0
// A server in the same loop answers as a provider does, or should not; its tokens are signed here with
// OpenSSL. A real provider: tests/server/sso_test.py.
#include "adapters/oidc/oidc.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/test.h"
#include "codec/base64.h"
#include "codec/jwk.h"
#include "io/http.h"
#include "io/listen.h"

enum { KEYS = 3, NOW_MS = 1000000 * 1000 };

static struct rig {
    struct loop *loop;
    struct http *http;
    struct oidc *oidc;
    struct identity_port port;
    struct arena arena;
    char address[LISTEN_ADDRESS_SIZE];
    EVP_PKEY *keys[KEYS + 1]; /* by algorithm (jwa - 1), and another one of Ed25519 */
    /* how the provider answers */
    bool shown[KEYS + 1];
    const char *discovery; /* instead of the right one */
    int code;              /* of the token endpoint; 0: 200 */
    struct str tokens;     /* its answer; empty: id_token */
    struct str id_token, userinfo, device;
    const char *slow; /* a path that never answers */
    const char *gone; /* a path that answers 503 */
    uint32_t discovery_asked, keys_asked, tokens_asked, userinfo_asked;
    struct str form, authorization; /* as the token endpoint got them */
    int64_t mono_ms;
    /* of the last one asked */
    bool done;
    struct identity_answer answer;
} rig;

static int64_t now_ms(void)
{
    return NOW_MS;
}

static int64_t mono_ms(void)
{
    return rig.mono_ms;
}

/* ---- keys and tokens ---- */

static struct str base64(struct str bytes)
{
    struct buf b;
    buf_init(&b, 1 << 16);
    base64_encode(BASE64_URL, bytes, &b);
    struct str out = arena_str(&rig.arena, buf_view(&b));
    buf_done(&b);
    return out;
}

static struct str number_of(const EVP_PKEY *key, const char *name)
{
    uint8_t bytes[512];
    BIGNUM *n = NULL;
    REQUIRE(EVP_PKEY_get_bn_param(key, name, &n) == 1);
    int len = BN_bn2bin(n, bytes);
    BN_free(n);
    return base64((struct str){(const char *)bytes, (uint32_t)len});
}

static struct str padded_of(const EVP_PKEY *key, const char *name)
{
    uint8_t bytes[32];
    BIGNUM *n = NULL;
    REQUIRE(EVP_PKEY_get_bn_param(key, name, &n) == 1);
    REQUIRE(BN_bn2binpad(n, bytes, sizeof bytes) == sizeof bytes);
    BN_free(n);
    return base64((struct str){(const char *)bytes, sizeof bytes});
}

static void show_key(struct buf *out, int i)
{
    const EVP_PKEY *key = rig.keys[i];
    uint8_t raw[32];
    size_t len = sizeof raw;
    buf_printf(out, "%s{\"kid\":\"k%d\",", out->ptr[out->len - 1] == '}' ? "," : "", i);
    if (i == JWA_RS256 - 1) {
        buf_printf(out, "\"kty\":\"RSA\",\"n\":\"" STR_FMT "\",\"e\":\"" STR_FMT "\"}",
                   STR_ARG(number_of(key, OSSL_PKEY_PARAM_RSA_N)),
                   STR_ARG(number_of(key, OSSL_PKEY_PARAM_RSA_E)));
    } else if (i == JWA_ES256 - 1) {
        buf_printf(out,
                   "\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" STR_FMT "\",\"y\":\"" STR_FMT "\"}",
                   STR_ARG(padded_of(key, OSSL_PKEY_PARAM_EC_PUB_X)),
                   STR_ARG(padded_of(key, OSSL_PKEY_PARAM_EC_PUB_Y)));
    } else {
        REQUIRE(EVP_PKEY_get_raw_public_key(key, raw, &len) == 1);
        buf_printf(out, "\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" STR_FMT "\"}",
                   STR_ARG(base64((struct str){(const char *)raw, sizeof raw})));
    }
}

static struct str signature_of(int key, struct str bytes)
{
    uint8_t out[512], raw[64];
    size_t len = sizeof out;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    const EVP_MD *md = key == JWA_RS256 - 1 || key == JWA_ES256 - 1 ? EVP_sha256() : NULL;
    REQUIRE(EVP_DigestSignInit(ctx, NULL, md, NULL, rig.keys[key]) == 1);
    REQUIRE(EVP_DigestSign(ctx, out, &len, (const uint8_t *)bytes.ptr, bytes.len) == 1);
    EVP_MD_CTX_free(ctx);
    if (key != JWA_ES256 - 1) {
        return base64((struct str){(const char *)out, (uint32_t)len});
    }
    const uint8_t *der = out;
    ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &der, (long)len);
    REQUIRE(sig != NULL);
    REQUIRE(BN_bn2binpad(ECDSA_SIG_get0_r(sig), raw, 32) == 32 &&
            BN_bn2binpad(ECDSA_SIG_get0_s(sig), raw + 32, 32) == 32);
    ECDSA_SIG_free(sig);
    return base64((struct str){(const char *)raw, sizeof raw});
}

static struct str token_with(const char *alg, const char *kid, int key, struct str claims)
{
    struct str head = arena_printf(&rig.arena, "{\"alg\":\"%s\",\"kid\":\"%s\"}", alg, kid);
    struct str signed_part = arena_printf(&rig.arena, STR_FMT "." STR_FMT, STR_ARG(base64(head)),
                                          STR_ARG(base64(claims)));
    struct str signature = key >= 0 ? signature_of(key, signed_part) : STR("");
    return arena_printf(&rig.arena, STR_FMT "." STR_FMT, STR_ARG(signed_part), STR_ARG(signature));
}

static struct str claims(const char *more)
{
    return arena_printf(&rig.arena,
                        "{\"iss\":\"http://%s\",\"aud\":\"weir\",\"sub\":\"s1\",\"exp\":1000600,"
                        "\"iat\":1000000,\"nonce\":\"n1\"%s}",
                        rig.address, more);
}

#define ANN ",\"email\":\"Ann@x\",\"GROUPS\":[\"ml\",\"all\"]"

/* As the provider makes them, with the key of that number. */
static struct str token(int key, const char *more)
{
    static const char *const algs[] = {"RS256", "ES256", "EdDSA", "EdDSA"};
    char kid[8];
    snprintf(kid, sizeof kid, "k%d", key);
    return token_with(algs[key], kid, key, claims(more));
}

/* ---- the provider ---- */

static size_t body_max(void *ctx, const struct http_request *r)
{
    (void)ctx;
    (void)r;
    return 1 << 20;
}

static void answer_json(struct http_request *r, int code, struct str text)
{
    http_answer(r, code, "application/json", text);
}

static struct str discovery(void)
{
    return arena_printf(
        &rig.arena,
        "{\"issuer\":\"http://%s\",\"authorization_endpoint\":\"http://%s/auth?x=y\","
        "\"token_endpoint\":\"http://%s/token\",\"jwks_uri\":\"http://%s/keys\","
        "\"userinfo_endpoint\":\"http://%s/me\",\"device_authorization_endpoint\":"
        "\"http://%s/device\",\"end_session_endpoint\":\"http://%s/end\"}",
        rig.address, rig.address, rig.address, rig.address, rig.address, rig.address, rig.address);
}

static void answer_keys(struct http_request *r)
{
    struct buf out;
    buf_init(&out, 1 << 16);
    buf_str(&out, STR("{\"keys\":["));
    for (int i = 0; i <= KEYS; i++) {
        if (rig.shown[i]) {
            show_key(&out, i);
        }
    }
    buf_str(&out, STR("]}"));
    answer_json(r, 200, buf_view(&out));
    buf_done(&out);
}

static void answer_tokens(struct http_request *r)
{
    rig.form = arena_str(&rig.arena, r->body);
    rig.authorization = arena_str(&rig.arena, http_header(r, "Authorization"));
    struct str text = rig.tokens.len > 0
                          ? rig.tokens
                          : arena_printf(&rig.arena,
                                         "{\"access_token\":\"at\",\"token_type\":\"Bearer\","
                                         "\"refresh_token\":\"rt\",\"id_token\":\"" STR_FMT "\"}",
                                         STR_ARG(rig.id_token));
    answer_json(r, rig.code > 0 ? rig.code : 200, text);
}

static void handle(void *ctx, struct http_request *r)
{
    (void)ctx;
    if (rig.slow != NULL && str_eq(r->path, str_from_c(rig.slow))) {
        http_stream_begin(r, 200, "application/json");
    } else if (rig.gone != NULL && str_eq(r->path, str_from_c(rig.gone))) {
        answer_json(r, 503, STR("<html>"));
    } else if (str_eq(r->path, STR("/.well-known/openid-configuration"))) {
        rig.discovery_asked++;
        answer_json(r, 200, rig.discovery != NULL ? str_from_c(rig.discovery) : discovery());
    } else if (str_eq(r->path, STR("/keys"))) {
        rig.keys_asked++;
        answer_keys(r);
    } else if (str_eq(r->path, STR("/token"))) {
        rig.tokens_asked++;
        answer_tokens(r);
    } else if (str_eq(r->path, STR("/me"))) {
        rig.userinfo_asked++;
        rig.authorization = arena_str(&rig.arena, http_header(r, "Authorization"));
        answer_json(r, 200, rig.userinfo);
    } else {
        answer_json(r, 200, rig.device);
    }
}

static void refuse(void *ctx, struct http_request *r, const struct err *err)
{
    (void)ctx;
    answer_json(r, status_info(err->status)->http, STR("{}"));
}

static EVP_PKEY *make_key(int i)
{
    EVP_PKEY *key = i == JWA_RS256 - 1   ? EVP_RSA_gen(2048)
                    : i == JWA_ES256 - 1 ? EVP_EC_gen("P-256")
                                         : EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    REQUIRE(key != NULL);
    return key;
}

static void setup(void)
{
    static EVP_PKEY *keys[KEYS + 1]; /* RSA takes a while */
    struct err err;
    struct http_hooks hooks = {body_max, handle, refuse, NULL};
    int fd;
    rig = (struct rig){.mono_ms = 1000000};
    arena_init(&rig.arena, 0);
    for (int i = 0; i <= KEYS; i++) {
        keys[i] = keys[i] != NULL ? keys[i] : make_key(i);
        rig.keys[i] = keys[i];
        rig.shown[i] = i < KEYS;
    }
    REQUIRE_OK(loop_new(&rig.loop, &err), &err);
    rig.http = http_new(rig.loop, &hooks);
    REQUIRE_OK(listen_tcp(STR(":0"), &fd, rig.address, &err), &err);
    REQUIRE_OK(http_listen(rig.http, fd, false, &err), &err);
    struct oidc_config config = {
        .loop = rig.loop, .now_ms = now_ms, .mono_ms = mono_ms, .time_ms = 5000};
    REQUIRE_OK(oidc_new(&config, &rig.oidc, &err), &err);
    rig.port = oidc_port(rig.oidc);
    rig.id_token = token(0, ANN);
}

static void teardown(void)
{
    oidc_free(rig.oidc);
    http_free(rig.http);
    loop_free(rig.loop);
    arena_done(&rig.arena);
}

/* ---- asking ---- */

static void on_answer(void *arg, const struct identity_answer *a)
{
    struct rig *r = arg;
    EXPECT(!r->done);
    r->done = true;
    r->answer = *a;
    struct str *texts[] = {&r->answer.url,
                           &r->answer.device_code,
                           &r->answer.user_code,
                           &r->answer.verification_url,
                           &r->answer.verification_url_complete,
                           &r->answer.subject,
                           &r->answer.name,
                           &r->answer.refresh_token};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        *texts[i] = arena_str(&r->arena, *texts[i]);
    }
    r->answer.groups = ARENA_ARRAY(&r->arena, struct str_item, a->groups_count);
    for (uint32_t i = 0; i < a->groups_count; i++) {
        r->answer.groups[i].value = arena_str(&r->arena, a->groups[i].value);
    }
}

static struct provider provider(void)
{
    return (struct provider){
        .alias = STR("corp"),
        .client_id = STR("weir"),
        .discovery_url = arena_printf(&rig.arena, "http://%s/.well-known/openid-configuration",
                                      rig.address),
    };
}

static enum status ask_as(struct provider p, struct identity_ask a)
{
    a.provider = &p;
    a.secret = STR("hush");
    rig.done = false;
    rig.port.ask(rig.port.ctx, &a, on_answer, &rig);
    while (!rig.done) {
        loop_step(rig.loop, -1);
    }
    EXPECT(rig.answer.err.status == STATUS_OK || rig.answer.err.text[0] != '\0');
    return rig.answer.err.status;
}

static enum status ask(struct identity_ask a)
{
    return ask_as(provider(), a);
}

static enum status code(void)
{
    return ask((struct identity_ask){.what = IDENTITY_ASK_CODE,
                                     .code = STR("c0de"),
                                     .redirect_uri = STR("https://weir/cb?a"),
                                     .nonce = STR("n1"),
                                     .verifier = STR("v")});
}

static enum status refresh(void)
{
    return ask((struct identity_ask){
        .what = IDENTITY_ASK_REFRESH, .code = STR("rt"), .subject = STR("s1")});
}

static enum status device_code(void)
{
    return ask((struct identity_ask){.what = IDENTITY_ASK_DEVICE_CODE, .code = STR("dc")});
}

static bool said(const char *text)
{
    return strstr(rig.answer.err.text, text) != NULL;
}

/* ---- */

TEST(where_a_browser_goes)
{
    setup();
    struct provider p = provider();
    struct str_item scopes[] = {{STR("openid")}, {STR("email")}, {STR("groups")}};
    p.scopes = scopes;
    p.scopes_count = COUNT_OF(scopes);
    /* The verifier and the challenge of RFC 7636, appendix B. */
    EXPECT_STATUS(ask_as(p,
                         (struct identity_ask){
                             .what = IDENTITY_ASK_START,
                             .redirect_uri = STR("https://weir/cb"),
                             .state = STR("st&te"),
                             .nonce = STR("n1"),
                             .verifier = STR("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")}),
                  STATUS_OK);
    EXPECT_STR(rig.answer.url,
               arena_printf(&rig.arena,
                            "http://%s/auth?x=y&response_type=code&client_id=weir&redirect_uri="
                            "https%%3A%%2F%%2Fweir%%2Fcb&scope=openid%%20email%%20groups&state="
                            "st%%26te&nonce=n1&code_challenge="
                            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method="
                            "S256",
                            rig.address));
    EXPECT_STATUS(
        ask((struct identity_ask){.what = IDENTITY_ASK_END, .redirect_uri = STR("https://weir/")}),
        STATUS_OK);
    EXPECT_STR(rig.answer.url, arena_printf(&rig.arena,
                                            "http://%s/end?client_id=weir&"
                                            "post_logout_redirect_uri=https%%3A%%2F%%2Fweir%%2F",
                                            rig.address));
    EXPECT_I64(rig.discovery_asked, 1);
    EXPECT_I64(rig.keys_asked, 0);
    teardown();
}

TEST(who_comes_back)
{
    setup();
    for (int i = 0; i < KEYS; i++) {
        rig.id_token = token(i, ANN);
        EXPECT_STATUS(code(), STATUS_OK);
        EXPECT_STR(rig.answer.subject, STR("s1"));
        EXPECT_STR(rig.answer.name, STR("Ann@x"));
        EXPECT_I64(rig.answer.groups_count, 2);
        EXPECT_STR(rig.answer.groups[1].value, STR("all"));
        EXPECT_STR(rig.answer.refresh_token, STR("rt"));
    }
    EXPECT_STR(rig.form, STR("grant_type=authorization_code&code=c0de&redirect_uri="
                             "https%3A%2F%2Fweir%2Fcb%3Fa&code_verifier=v"));
    EXPECT_STR(rig.authorization, STR("Basic d2VpcjpodXNo"));
    EXPECT_I64(rig.discovery_asked, 1);
    EXPECT_I64(rig.keys_asked, 1);
    EXPECT_I64(rig.userinfo_asked, 0);
    teardown();
}

TEST(what_is_forged)
{
    setup();
    struct str good = claims(ANN);
    struct str bad = claims(",\"email\":\"root@x\"");
    struct str parts = token(0, ANN);
    struct str signature = str_sub(parts, parts.len - 342, 342);
    const struct {
        const char *name;
        struct str token;
        const char *says;
    } rows[] = {
        {"not signed", token_with("none", "k0", -1, good), "not signed"},
        {"nOnE", token_with("nOnE", "k0", -1, good), "not signed"},
        {"with a shared secret", token_with("HS256", "k0", 0, good), "not signed"},
        {"with a stronger digest", token_with("RS512", "k0", 0, good), "not signed"},
        {"RSA in the name of EdDSA", token_with("EdDSA", "k0", 0, good), "does not show"},
        {"EdDSA in the name of RSA", token_with("RS256", "k2", 2, good), "does not show"},
        {"by a key that is not shown", token(3, ANN), "does not show"},
        {"by that in the name of a shown one", token_with("EdDSA", "k2", 3, good),
         "signature of the ID token is wrong"},
        {"other claims",
         arena_printf(&rig.arena, STR_FMT "." STR_FMT "." STR_FMT,
         STR_ARG(base64(STR("{\"alg\":\"RS256\",\"kid\":\"k0\"}"))),
         STR_ARG(base64(bad)), STR_ARG(signature)),
         "signature of the ID token is wrong"},
        {"for somebody else",
         token_with("RS256", "k0", 0,
         arena_printf(&rig.arena,
         "{\"iss\":\"http://%s\",\"aud\":\"other\",\"sub\":\"s1\",\"exp\":"
                                 "1000600,\"iat\":1000000,\"nonce\":\"n1\"}", rig.address)),
         "another audience"},
        {"no token", STR("x"), "this is no ID token"},
        {"four parts", STR("a.b.c.d"), "this is no ID token"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        rig.id_token = rows[i].token;
        EXPECT_STATUS(code(), STATUS_DENIED);
        EXPECT(said(rows[i].says));
        EXPECT(said("identity provider corp: "));
    }
    test_row(NULL);
    /* Looked for a key that was not there once, not each time. */
    EXPECT_I64(rig.keys_asked, 1);
    teardown();
}

TEST(keys_change)
{
    setup();
    struct str by_old = token(2, ANN);
    struct str by_new = token(3, ANN);
    rig.id_token = by_old;
    EXPECT_STATUS(code(), STATUS_OK);
    EXPECT_I64(rig.keys_asked, 1);
    /* A new key beside the old one: it is found, once there was time since the last look. */
    rig.shown[3] = true;
    rig.id_token = by_new;
    EXPECT_STATUS(code(), STATUS_DENIED);
    rig.mono_ms += OIDC_AGAIN_MS;
    EXPECT_STATUS(code(), STATUS_OK);
    EXPECT_I64(rig.keys_asked, 2);
    /* The old one goes: it counts until what is kept is too old. */
    rig.shown[2] = false;
    rig.id_token = by_old;
    EXPECT_STATUS(code(), STATUS_OK);
    EXPECT_I64(rig.keys_asked, 2);
    rig.mono_ms += OIDC_LIFE_MS;
    EXPECT_STATUS(code(), STATUS_DENIED);
    EXPECT_I64(rig.keys_asked, 3);
    EXPECT_I64(rig.discovery_asked, 2);
    rig.id_token = by_new;
    EXPECT_STATUS(code(), STATUS_OK);
    /* Gone with its server: what is too old is not taken for want of better. */
    rig.mono_ms += OIDC_LIFE_MS;
    rig.gone = "/keys";
    EXPECT_STATUS(code(), STATUS_UNREACHABLE);
    teardown();
}

TEST(providers_that_fail)
{
    static const struct {
        const char *name, *slow, *gone, *discovery, *says;
    } rows[] = {
        {"no document",            NULL,                                "/.well-known/openid-configuration", NULL,                            "HTTP status 503"   },
        {"no keys",                NULL,                                "/keys",                             NULL,                            "set of keys"       },
        {"no tokens",              NULL,                                "/token",                            NULL,                            "token endpoint"    },
        {"slow with the document", "/.well-known/openid-configuration", NULL,                                NULL,                            "in time"           },
        {"slow with keys",         "/keys",                             NULL,                                NULL,                            "in time"           },
        {"slow with tokens",       "/token",                            NULL,                                NULL,                            "in time"           },
        {"another's document",     NULL,                                NULL,                                "{\"issuer\":\"https://evil\"}", "issuer"            },
        {"no JSON",                NULL,                                NULL,                                "<html>",                        "discovery document"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        setup();
        oidc_free(rig.oidc);
        struct err err;
        struct oidc_config config = {
            .loop = rig.loop, .now_ms = now_ms, .mono_ms = mono_ms, .time_ms = 300};
        REQUIRE_OK(oidc_new(&config, &rig.oidc, &err), &err);
        rig.port = oidc_port(rig.oidc);
        rig.slow = rows[i].slow;
        rig.gone = rows[i].gone;
        rig.discovery = rows[i].discovery;
        EXPECT_STATUS(code(), STATUS_UNREACHABLE);
        EXPECT(said(rows[i].says));
        teardown();
    }
}

TEST(answers_that_are_too_long)
{
    setup();
    char *much = arena_alloc(&rig.arena, OIDC_BYTES_MAX + 2);
    memset(much, ' ', OIDC_BYTES_MAX + 1);
    rig.discovery = much;
    EXPECT_STATUS(code(), STATUS_UNREACHABLE);
    EXPECT(said("larger than"));
    rig.discovery = NULL;
    rig.tokens = (struct str){much, OIDC_BYTES_MAX + 1};
    EXPECT_STATUS(code(), STATUS_UNREACHABLE);
    EXPECT(said("larger than"));
    struct provider p = provider();
    p.discovery_url = STR("http://idp.example.com/.well-known/openid-configuration");
    EXPECT_STATUS(ask_as(p, (struct identity_ask){.what = IDENTITY_ASK_START}), STATUS_UNREACHABLE);
    EXPECT(said("expected an https address"));
    teardown();
}

TEST(what_the_provider_refuses)
{
    setup();
    rig.code = 400;
    rig.tokens = STR("{\"error\":\"invalid_grant\",\"error_description\":\"code is used\"}");
    EXPECT_STATUS(code(), STATUS_DENIED);
    EXPECT(said("it refused: invalid_grant, code is used"));
    rig.code = 401;
    rig.tokens = STR("{\"error\":\"invalid_client\"}");
    EXPECT_STATUS(code(), STATUS_DENIED);
    EXPECT(strstr(rig.answer.err.hint, "administrator") != NULL);
    rig.code = 200;
    rig.tokens = STR("{\"access_token\":\"at\"}");
    EXPECT_STATUS(code(), STATUS_DENIED);
    EXPECT(said("no ID token"));
    teardown();
}

TEST(userinfo)
{
    setup();
    rig.id_token = token(0, "");
    rig.userinfo = STR("{\"sub\":\"s1\",\"email\":\"ann@x\",\"GROUPS\":\"ml\"}");
    EXPECT_STATUS(code(), STATUS_OK);
    EXPECT_STR(rig.answer.name, STR("ann@x"));
    EXPECT_I64(rig.answer.groups_count, 1);
    EXPECT_STR(rig.authorization, STR("Bearer at"));
    rig.userinfo = STR("{\"sub\":\"s2\",\"email\":\"root@x\"}");
    EXPECT_STATUS(code(), STATUS_DENIED);
    EXPECT(said("somebody else"));
    rig.userinfo = STR("[]");
    EXPECT_STATUS(code(), STATUS_DENIED);
    rig.userinfo = STR("<html>");
    EXPECT_STATUS(code(), STATUS_UNREACHABLE);
    teardown();
}

TEST(who_it_is_now)
{
    setup();
    rig.userinfo = STR("{\"sub\":\"s1\",\"email\":\"ann@x\",\"GROUPS\":[\"ml\"]}");
    rig.tokens = STR("{\"access_token\":\"at\"}");
    EXPECT_STATUS(refresh(), STATUS_OK);
    EXPECT_STR(rig.form, STR("grant_type=refresh_token&refresh_token=rt"));
    EXPECT_I64(rig.answer.groups_count, 1);
    EXPECT_STR(rig.answer.refresh_token, STR("rt")); /* the same goes on */
    rig.tokens = arena_printf(
        &rig.arena,
        "{\"access_token\":\"at\",\"refresh_token\":\"rt2\",\"id_token\":\"" STR_FMT "\"}",
        STR_ARG(token(1, ANN)));
    EXPECT_STATUS(refresh(), STATUS_OK);
    EXPECT_STR(rig.answer.refresh_token, STR("rt2"));
    EXPECT_I64(rig.answer.groups_count, 2);
    /* Somebody else's. */
    EXPECT_STATUS(ask((struct identity_ask){
                      .what = IDENTITY_ASK_REFRESH, .code = STR("rt"), .subject = STR("s9")}),
                  STATUS_DENIED);
    rig.tokens = STR("{\"access_token\":\"at\"}");
    EXPECT_STATUS(ask((struct identity_ask){
                      .what = IDENTITY_ASK_REFRESH, .code = STR("rt"), .subject = STR("s9")}),
                  STATUS_DENIED);
    rig.code = 400;
    rig.tokens = STR("{\"error\":\"invalid_grant\"}");
    EXPECT_STATUS(refresh(), STATUS_DENIED);
    rig.gone = "/token";
    EXPECT_STATUS(refresh(), STATUS_UNREACHABLE);
    teardown();
}

TEST(another_device)
{
    setup();
    struct identity_ask begin = {.what = IDENTITY_ASK_DEVICE};
    rig.device = STR("{\"device_code\":\"dc\",\"user_code\":\"ABCD-EFGH\",\"verification_uri\":"
                     "\"https://idp/device\",\"verification_uri_complete\":\"javascript:x\","
                     "\"expires_in\":300}");
    EXPECT_STATUS(ask(begin), STATUS_OK);
    EXPECT_STR(rig.answer.device_code, STR("dc"));
    EXPECT_STR(rig.answer.user_code, STR("ABCD-EFGH"));
    EXPECT_STR(rig.answer.verification_url, STR("https://idp/device"));
    EXPECT_STR(rig.answer.verification_url_complete, STR(""));
    EXPECT_I64(rig.answer.interval_s, 5);
    EXPECT_I64(rig.answer.life_s, 300);
    rig.code = 400;
    rig.tokens = STR("{\"error\":\"authorization_pending\"}");
    EXPECT_STATUS(device_code(), STATUS_OK);
    EXPECT_I64(rig.answer.pending, IDENTITY_PENDING);
    rig.tokens = STR("{\"error\":\"slow_down\"}");
    EXPECT_STATUS(device_code(), STATUS_OK);
    EXPECT_I64(rig.answer.pending, IDENTITY_SLOWER);
    rig.tokens = STR("{\"error\":\"access_denied\"}");
    EXPECT_STATUS(device_code(), STATUS_DENIED);
    rig.code = 200;
    rig.tokens = STR("");
    EXPECT_STATUS(device_code(), STATUS_OK);
    EXPECT_I64(rig.answer.pending, IDENTITY_SETTLED);
    EXPECT_STR(rig.answer.name, STR("Ann@x"));
    rig.device = STR("{\"device_code\":\"dc\"}");
    EXPECT_STATUS(ask(begin), STATUS_UNREACHABLE);
    teardown();
}

TEST(tokens_that_are_shown)
{
    setup();
    EXPECT_STATUS(ask((struct identity_ask){.what = IDENTITY_ASK_TOKEN, .code = token(1, ANN)}),
                  STATUS_OK);
    EXPECT_STR(rig.answer.name, STR("Ann@x"));
    EXPECT_I64(rig.tokens_asked, 0);
    EXPECT_STATUS(ask((struct identity_ask){.what = IDENTITY_ASK_TOKEN, .code = STR("x.y.z")}),
                  STATUS_DENIED);
    teardown();
}

static void not_called(void *arg, const struct identity_answer *a)
{
    (void)arg;
    (void)a;
    EXPECT(false);
}

TEST(nobody_waits_any_more)
{
    setup();
    int gone, other;
    struct provider p = provider();
    struct identity_ask a = {.what = IDENTITY_ASK_START, .provider = &p};
    rig.port.ask(rig.port.ctx, &a, not_called, &gone);
    rig.port.ask(rig.port.ctx, &a, not_called, &other);
    rig.port.forget(rig.port.ctx, &gone);
    rig.port.forget(rig.port.ctx, &gone);
    teardown(); /* with the other one under way */
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
#include "codec/discovery.h"

#include "base/test.h"

#define URL   "https://idp.example.com/realms/a" DISCOVERY_PATH
#define LOCAL "http://localhost:4593/api/oidc" DISCOVERY_PATH
#define DOCUMENT(issuer, more)                                                   \
    "{\"issuer\":\"" issuer "\",\"authorization_endpoint\":\"" issuer "/auth\"," \
    "\"token_endpoint\":\"" issuer "/token\",\"jwks_uri\":\"" issuer "/keys\"" more "}"
#define THEIRS "https://idp.example.com/realms/a"

TEST(documents)
{
    static const struct {
        const char *name, *url, *text;
        enum status status;
    } rows[] = {
        {"what must be there", URL, DOCUMENT(THEIRS, ""), STATUS_OK},
        {"on this machine", LOCAL, DOCUMENT("http://localhost:4593/api/oidc", ""), STATUS_OK},
        {"an issuer that ends in a slash", "https://idp.example.com" DISCOVERY_PATH,
         "{\"issuer\":\"https://idp.example.com/\",\"authorization_endpoint\":"
         "\"https://idp.example.com/a\",\"token_endpoint\":\"https://idp.example.com/t\","
         "\"jwks_uri\":\"https://keys.example.com\"}", STATUS_OK},
        {"another's document", URL, DOCUMENT("https://evil.example.com", ""), STATUS_INVALID},
        {"of a realm with a longer name", URL, DOCUMENT("https://idp.example.com/realms", ""),
         STATUS_INVALID},
        {"no issuer", URL, "{}", STATUS_INVALID},
        {"no keys", URL,
         "{\"issuer\":\"" THEIRS "\",\"authorization_endpoint\":\"https://a.b/\","
         "\"token_endpoint\":\"https://a.b/\"}", STATUS_INVALID},
        {"an address in the clear", URL,
         DOCUMENT(THEIRS, ",\"userinfo_endpoint\":\"http://localhost/u\""), STATUS_INVALID},
        {"an address that is a number", URL, DOCUMENT(THEIRS, ",\"end_session_endpoint\":7"),
         STATUS_OK},
        {"a script", URL, DOCUMENT(THEIRS, ",\"end_session_endpoint\":\"javascript:alert(1)\""),
         STATUS_INVALID},
        {"no object", URL, "[]", STATUS_INVALID},
        {"no JSON", URL, "<html>", STATUS_INVALID},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena;
        struct discovery d;
        struct err err;
        test_row(rows[i].name);
        arena_init(&arena, 0);
        EXPECT_STATUS(
            discovery_read(str_from_c(rows[i].text), str_from_c(rows[i].url), &arena, &d, &err),
            rows[i].status);
        arena_done(&arena);
    }
}

TEST(what_is_read)
{
    struct arena arena;
    struct discovery d;
    struct err err;
    arena_init(&arena, 0);
    REQUIRE_OK(
        discovery_read(STR(DOCUMENT(THEIRS, ",\"device_authorization_endpoint\":\"" THEIRS
                                            "/device\",\"token_endpoint_auth_methods_supported\":"
                                            "[\"private_key_jwt\",\"client_secret_post\"]")),
                       STR(URL), &arena, &d, &err),
        &err);
    EXPECT_STR(d.issuer, STR(THEIRS));
    EXPECT_STR(d.token, STR(THEIRS "/token"));
    EXPECT_STR(d.keys, STR(THEIRS "/keys"));
    EXPECT_STR(d.device, STR(THEIRS "/device"));
    EXPECT_STR(d.userinfo, STR(""));
    EXPECT(d.secret_in_body);
    REQUIRE_OK(discovery_read(STR(DOCUMENT(THEIRS, "")), STR(URL), &arena, &d, &err), &err);
    EXPECT(!d.secret_in_body);
    arena_done(&arena);
}

TEST(addresses)
{
    static const struct {
        const char *url;
        bool ok;
    } rows[] = {
        {"https://a",                       true },
        {"https://a.example.com:8443/x?y=", true },
        {"http://localhost",                true },
        {"http://localhost:1/x",            true },
        {"http://127.0.0.1:1/x",            true },
        {"http://127.9.9.9",                true },
        {"http://[::1]:1/x",                true },
        {"http://a.example.com/",           false},
        {"http://127.0.0.1.example.com/",   false},
        {"http://127.example/",             false},
        {"http://localhost.example.com/",   false},
        {"http://localhost@a.example.com/", false},
        {"https://user@a.example.com/",     false},
        {"https://a/#x",                    false},
        {"https://a b",                     false},
        {"https://a\r\nHost: b",            false},
        {"https://",                        false},
        {"https:///x",                      false},
        {"https://:443/",                   false},
        {"ftp://a",                         false},
        {"file:///etc/passwd",              false},
        {"",                                false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].url);
        EXPECT(discovery_url_ok(str_from_c(rows[i].url)) == rows[i].ok);
    }
}

TEST_MAIN()

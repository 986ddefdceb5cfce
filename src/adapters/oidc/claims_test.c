// SPDX-License-Identifier: Apache-2.0
#include "adapters/oidc/claims.h"

#include "base/test.h"
#include "codec/json.h"
#include "model/limits.h"

#define NOW_S 1000000
#define GOOD                                                                                   \
    "\"iss\":\"https://idp\",\"aud\":\"weir\",\"sub\":\"s1\",\"exp\":1000600,\"iat\":1000000," \
    "\"nonce\":\"n1\""

static struct arena arena;

static const struct doc *doc_of(const char *text)
{
    struct doc *d = NULL;
    struct err err = {0};
    REQUIRE_OK(json_doc(str_from_c(text), &arena, &d, &err), &err);
    return d;
}

TEST(which_tokens_are_good)
{
    static const struct {
        const char *name, *claims;
        bool ok;
        const char *subject;
    } rows[] = {
        {"as it should be",                    "{" GOOD "}",                                     true,  ""  },
        {"more is no harm",                    "{" GOOD ",\"at_hash\":\"x\",\"amr\":[\"pwd\"]}", true,  ""  },
        {"about the one it should be",         "{" GOOD "}",                                     true,  "s1"},
        {"about another",                      "{" GOOD "}",                                     false, "s2"},
        {"another issuer",
         "{\"iss\":\"https://idp/\",\"aud\":\"weir\",\"sub\":\"s1\",\"exp\":1000600,"
         "\"iat\":1000000,\"nonce\":\"n1\"}",                                                    false, ""  },
        {"no issuer",
         "{\"aud\":\"weir\",\"sub\":\"s1\",\"exp\":1000600,\"iat\":1000000,\"nonce\":\"n1\"}",   false, ""  },
        {"another audience",
         "{\"iss\":\"https://idp\",\"aud\":\"other\",\"sub\":\"s1\",\"exp\":1000600,"
         "\"iat\":1000000,\"nonce\":\"n1\"}",                                                    false, ""  },
        {"several, among them us, but no azp",
         "{\"iss\":\"https://idp\",\"aud\":[\"other\",\"weir\"],\"sub\":\"s1\",\"exp\":1000600,"
         "\"iat\":1000000,\"nonce\":\"n1\"}",                                                    false, ""  },
        {"several, given to us",
         "{\"iss\":\"https://idp\",\"aud\":[\"other\",\"weir\"],\"azp\":\"weir\",\"sub\":\"s1\","
         "\"exp\":1000600,\"iat\":1000000,\"nonce\":\"n1\"}",                                    true,  ""  },
        {"a list of us",
         "{\"iss\":\"https://idp\",\"aud\":[\"weir\"],\"sub\":\"s1\","
         "\"exp\":1000600,\"iat\":1000000,\"nonce\":\"n1\"}",                                    true,  ""  },
        {"given to another",                   "{" GOOD ",\"azp\":\"other\"}",                   false, ""  },
        {"azp that is no text",                "{" GOOD ",\"azp\":7}",                           false, ""  },
        {"another nonce",
         "{\"iss\":\"https://idp\",\"aud\":\"weir\",\"sub\":\"s1\",\"exp\":1000600,"
         "\"iat\":1000000,\"nonce\":\"n2\"}",                                                    false, ""  },
        {"no nonce",
         "{\"iss\":\"https://idp\",\"aud\":\"weir\",\"sub\":\"s1\",\"exp\":1000600,"
         "\"iat\":1000000}",                                                                     false, ""  },
        {"expired within the leeway",
         "{\"iss\":\"https://idp\",\"aud\":\"weir\",\"sub\":\"s1\",\"exp\":999941,"
         "\"iat\":999000,\"nonce\":\"n1\"}",                                                     true,  ""  },
        {"expired",
         "{\"iss\":\"https://idp\",\"aud\":\"weir\",\"sub\":\"s1\",\"exp\":999940,"
         "\"iat\":999000,\"nonce\":\"n1\"}",                                                     false, ""  },
        {"never expires",
         "{\"iss\":\"https://idp\",\"aud\":\"weir\",\"sub\":\"s1\","
         "\"iat\":999000,\"nonce\":\"n1\"}",                                                     false, ""  },
        {"expires in words",
         "{\"iss\":\"https://idp\",\"aud\":\"weir\",\"sub\":\"s1\",\"exp\":\"1000600\","
         "\"iat\":999000,\"nonce\":\"n1\"}",                                                     false, ""  },
        {"with a fraction",
         "{\"iss\":\"https://idp\",\"aud\":\"weir\",\"sub\":\"s1\",\"exp\":1000600.5,"
         "\"iat\":999000.25,\"nonce\":\"n1\"}",                                                  true,  ""  },
        {"made in the future",
         "{\"iss\":\"https://idp\",\"aud\":\"weir\",\"sub\":\"s1\",\"exp\":1000600,"
         "\"iat\":1000061,\"nonce\":\"n1\"}",                                                    false, ""  },
        {"not to be used yet",                 "{" GOOD ",\"nbf\":1000061}",                     false, ""  },
        {"nobody",
         "{\"iss\":\"https://idp\",\"aud\":\"weir\",\"sub\":\"\",\"exp\":1000600,"
         "\"iat\":1000000,\"nonce\":\"n1\"}",                                                    false, ""  },
        {"a claim twice",                      "{" GOOD ",\"aud\":\"weir\"}",                    false, ""  },
        {"no object",                          "[]",                                             false, ""  },
    };
    arena_init(&arena, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err = {0};
        struct claims_rules rules = {.issuer = STR("https://idp"),
                                     .client_id = STR("weir"),
                                     .nonce = STR("n1"),
                                     .subject = str_from_c(rows[i].subject),
                                     .now_ms = INT64_C(1000) * NOW_S};
        test_row(rows[i].name);
        EXPECT_STATUS(claims_check(doc_of(rows[i].claims), &rules, &err),
                      rows[i].ok ? STATUS_OK : STATUS_DENIED);
        EXPECT(rows[i].ok || err.text[0] != '\0');
    }
    arena_done(&arena);
}

TEST(who_it_is)
{
    static const struct str_item values[] = {{STRS("staff")}, {STRS("guest")}};
    static const struct {
        const char *name, *id_token, *userinfo;
        const char *groups_claim; /* "": the usual one */
        bool mandatory;
        const char *want, *group;
        uint32_t groups;
    } rows[] = {
        {"groups as a list",                 "{\"sub\":\"1\",\"email\":\"a@x\",\"GROUPS\":[\"g\",\"h\"]}",             NULL,                                     "",
         false,                                                                                                                                                                               "a@x", "g",  2},
        {"one as a name",                    "{\"sub\":\"1\",\"email\":\"a@x\",\"GROUPS\":\"g\"}",                     NULL,                                     "",                   false,
         "a@x",                                                                                                                                                                                      "g",  1},
        {"none",                             "{\"sub\":\"1\",\"email\":\"a@x\"}",                                      NULL,                                     "",                   false, "a@x", NULL, 0},
        {"none of null",                     "{\"sub\":\"1\",\"email\":\"a@x\",\"GROUPS\":null}",                      NULL,                                     "",                   false,
         "a@x",                                                                                                                                                                                      NULL, 0},
        {"from userinfo",                    "{\"sub\":\"1\"}",                                                        "{\"email\":\"a@x\",\"GROUPS\":[\"g\"]}", "",                   false,
         "a@x",                                                                                                                                                                                      "g",  1},
        {"the token counts before userinfo", "{\"sub\":\"1\",\"email\":\"a@x\",\"GROUPS\":[]}",
         "{\"email\":\"b@x\",\"GROUPS\":[\"g\"]}",                                                                                                               "",                   false, "a@x", NULL, 0},
        {"by another name",                  "{\"sub\":\"1\",\"email\":\"a@x\",\"roles\":[\"g\"]}",                    NULL,                                     "roles",
         false,                                                                                                                                                                               "a@x", "g",  1},
        {"by a path",                        "{\"sub\":\"1\",\"email\":\"a@x\",\"realm_access\":{\"roles\":[\"g\"]}}",
         NULL,                                                                                                                                                   "realm_access.roles", false, "a@x", "g",  1},
        {"by an address",                    "{\"sub\":\"1\",\"email\":\"a@x\",\"https://x.y/groups\":[\"g\"]}",       NULL,
         "https://x.y/groups",                                                                                                                                                         false, "a@x", "g",  1},
        {"groups that are numbers",          "{\"sub\":\"1\",\"email\":\"a@x\",\"GROUPS\":[7]}",                       NULL,                                     "",
         false,                                                                                                                                                                               NULL,  NULL, 0},
        {"a group without a name",           "{\"sub\":\"1\",\"email\":\"a@x\",\"GROUPS\":[\"\"]}",                    NULL,                                     "",
         false,                                                                                                                                                                               NULL,  NULL, 0},
        {"groups that are an object",        "{\"sub\":\"1\",\"email\":\"a@x\",\"GROUPS\":{}}",                        NULL,                                     "",
         false,                                                                                                                                                                               NULL,  NULL, 0},
        {"no address",                       "{\"sub\":\"1\"}",                                                        NULL,                                     "",                   false, NULL,  NULL, 0},
        {"an address that is a list",        "{\"sub\":\"1\",\"email\":[\"a@x\"]}",                                    NULL,                                     "",                   false, NULL,
         NULL,                                                                                                                                                                                             0},
        {"confirmed",                        "{\"sub\":\"1\",\"email\":\"a@x\",\"email_verified\":true}",              NULL,                                     "",                   false,
         "a@x",                                                                                                                                                                                      NULL, 0},
        {"not confirmed",                    "{\"sub\":\"1\",\"email\":\"a@x\",\"email_verified\":false}",             NULL,                                     "",
         false,                                                                                                                                                                               NULL,  NULL, 0},
        {"not confirmed, in words",
         "{\"sub\":\"1\",\"email\":\"a@x\",\"email_verified\":\"false\"}",                                             NULL,                                     "",                   false, NULL,
         NULL,                                                                                                                                                                                             0},
        {"one of those who may",             "{\"sub\":\"1\",\"email\":\"a@x\",\"kind\":[\"x\",\"guest\"]}",
         NULL,                                                                                                                                                   "",                   true,  "a@x", NULL, 0},
        {"none of those",                    "{\"sub\":\"1\",\"email\":\"a@x\",\"kind\":\"visitor\"}",                 NULL,                                     "",                   true,
         NULL,                                                                                                                                                                                       NULL, 0},
        {"without a kind",                   "{\"sub\":\"1\",\"email\":\"a@x\"}",                                      NULL,                                     "",                   true,  NULL,  NULL, 0},
    };
    arena_init(&arena, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct person p = {0};
        struct err err = {0};
        struct str_item kept[2] = {values[0], values[1]};
        struct provider provider = {.must_claim = rows[i].mandatory ? STR("kind") : STR(""),
                                    .must_values = kept,
                                    .must_values_count = rows[i].mandatory ? 2 : 0};
        provider.claims[CLAIM_GROUPS] = str_from_c(rows[i].groups_claim);
        test_row(rows[i].name);
        const struct doc *more = rows[i].userinfo != NULL ? doc_of(rows[i].userinfo) : NULL;
        enum status status = person_read(&provider, doc_of(rows[i].id_token), more, &arena, &p,
                                         &err);
        EXPECT_STATUS(status, rows[i].want != NULL ? STATUS_OK : STATUS_DENIED);
        if (rows[i].want != NULL) {
            EXPECT_STR(p.name, str_from_c(rows[i].want));
            EXPECT_STR(p.subject, STR("1"));
            EXPECT_I64(p.groups_count, rows[i].groups);
        }
        if (rows[i].group != NULL && p.groups_count > 0) {
            EXPECT_STR(p.groups[0].value, str_from_c(rows[i].group));
        }
    }
    arena_done(&arena);
}

TEST(too_many_groups)
{
    struct buf text;
    struct person p;
    struct err err = {0};
    struct provider provider = {0};
    arena_init(&arena, 0);
    buf_init(&text, 1 << 20);
    buf_str(&text, STR("{\"sub\":\"1\",\"email\":\"a@x\",\"GROUPS\":[\"g\""));
    for (uint32_t i = 0; i < USER_GROUPS_MAX; i++) {
        buf_printf(&text, ",\"g%u\"", i);
    }
    buf_str(&text, STR("]}"));
    struct doc *d = NULL;
    REQUIRE_OK(json_doc(buf_view(&text), &arena, &d, &err), &err);
    EXPECT_STATUS(person_read(&provider, d, NULL, &arena, &p, &err), STATUS_DENIED);
    EXPECT_STR(str_from_c(err.text),
               STR("the provider tells 513 groups, at most 512 are possible"));
    buf_done(&text);
    arena_done(&arena);
}

TEST_MAIN()

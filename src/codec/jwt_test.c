// SPDX-License-Identifier: Apache-2.0
#include "codec/jwt.h"

#include <string.h>

#include "base/prng.h"
#include "base/test.h"
#include "codec/base64.h"
#include "codec/json.h"

static struct arena arena;

static struct str make(struct str payload)
{
    struct buf out;
    buf_init(&out, JWT_BYTES_MAX);
    jwt_begin(STR("{\"alg\":\"EdDSA\"}"), payload, &out);
    jwt_end(STR("\xff\xfe sig"), &out);
    struct str token = arena_str(&arena, buf_view(&out));
    buf_done(&out);
    return token;
}

TEST(apart_and_together)
{
    struct jwt t;
    arena_init(&arena, 0);
    struct str token = make(STR("{\"sub\":\"a\"}"));
    EXPECT_STR(token, STR("eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhIn0.__4gc2ln"));
    REQUIRE(jwt_split(token, &arena, &t));
    EXPECT_STR(t.header, STR("{\"alg\":\"EdDSA\"}"));
    EXPECT_STR(t.payload, STR("{\"sub\":\"a\"}"));
    EXPECT_STR(t.signature, STR("\xff\xfe sig"));
    EXPECT_STR(t.signed_part, STR("eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhIn0"));
    arena_done(&arena);
}

TEST(what_is_no_token)
{
    static const struct {
        const char *name, *text;
    } rows[] = {
        {"nothing",            ""           },
        {"no dots",            "abcd"       },
        {"two parts",          "YQ.YQ"      },
        {"four parts",         "YQ.YQ.YQ.YQ"},
        {"padding",            "YQ==.YQ.YQ" },
        {"the other alphabet", "YQ.++++.YQ" },
        {"left-over bits",     "YR.YQ.YQ"   },
        {"a space",            "YQ. YQ.YQ"  },
        {"a line end",         "YQ.YQ.YQ\n" },
    };
    struct jwt t;
    arena_init(&arena, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        EXPECT(!jwt_split(str_from_c(rows[i].text), &arena, &t));
    }
    test_row(NULL);
    struct str parts = STR("..");
    EXPECT(
        jwt_split(parts, &arena, &t)); /* empty parts are some; that they are no JSON shows later */
    char *large = arena_alloc(&arena, JWT_BYTES_MAX + 1);
    memset(large, 'A', JWT_BYTES_MAX + 1);
    large[1] = large[3] = '.';
    EXPECT(!jwt_split((struct str){large, JWT_BYTES_MAX + 1}, &arena, &t));
    arena_done(&arena);
}

/* Whatever the text of a claim: its base64 has no letters that the ordinary alphabet lacks, and it
 * reads back as it was. */
TEST(payloads_read_with_either_alphabet)
{
    struct prng p;
    prng_init(&p, test_seed());
    arena_init(&arena, 0);
    for (int round = 0; round < 2000; round++) {
        char text[256];
        uint32_t len = 0;
        while (len < 200) {
            static const char *const some[] = {
                "~",  "?",  ">",        "\x7f",         "a",
                "\"", "\\", "\xc3\xbf", "\xef\xbf\xbf", "\xf0\x9f\x98\x80",
                "\n", "x"};
            struct str piece = str_from_c(some[prng_below(&p, COUNT_OF(some))]);
            memcpy(text + len, piece.ptr, piece.len);
            len += piece.len;
        }
        struct buf json;
        struct jw w;
        buf_init(&json, 4096);
        jw_init(&w, &json, false);
        jw_object_begin(&w);
        jw_member_string(&w, STR("name"), (struct str){text, len});
        jw_object_end(&w);
        struct str token = make(buf_view(&json));
        buf_done(&json);
        struct str rest = token, header, payload;
        REQUIRE(str_split(&rest, '.', &header) && str_split(&rest, '.', &payload));
        EXPECT(str_find(payload, '-') == payload.len && str_find(payload, '_') == payload.len);
        struct jwt t;
        struct doc *doc = NULL;
        REQUIRE(jwt_split(token, &arena, &t));
        REQUIRE(json_doc(t.payload, &arena, &doc, NULL) == STATUS_OK);
        EXPECT_STR(doc_get(doc, STR("name"))->text, ((struct str){text, len}));
        arena_reset(&arena);
    }
    arena_done(&arena);
}

TEST_MAIN()

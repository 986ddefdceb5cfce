// SPDX-License-Identifier: Apache-2.0
#include "io/ws.h"

#include <string.h>

#include "base/prng.h"
#include "base/test.h"

TEST(accept_of_the_key_in_rfc_6455)
{
    char accept[WS_ACCEPT_SIZE];
    REQUIRE(ws_accept(STR("dGhlIHNhbXBsZSBub25jZQ=="), accept));
    EXPECT_STR(str_from_c(accept), STR("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    EXPECT(!ws_accept(STR("short"), accept));
    EXPECT(!ws_accept(STR("dGhlIHNhbXBsZSBub25j"), accept));
}

static const uint8_t rfc_mask[4] = {0x37, 0xfa, 0x21, 0x3d};

TEST(frames_of_rfc_6455_are_written)
{
    struct buf b;
    buf_init(&b, 1 << 20);
    ws_encode(&b, WS_TEXT, STR("Hello"), NULL);
    EXPECT_STR(buf_view(&b), STR("\x81\x05Hello"));
    buf_clear(&b);
    ws_encode(&b, WS_TEXT, STR("Hello"), rfc_mask);
    EXPECT_STR(buf_view(&b), STR("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"));
    static char zeros[65536];
    buf_clear(&b);
    ws_encode(&b, WS_BINARY, (struct str){zeros, 256}, NULL);
    EXPECT(b.len == 260 && memcmp(b.ptr, "\x82\x7e\x01\x00", 4) == 0);
    buf_clear(&b);
    ws_encode(&b, WS_BINARY, (struct str){zeros, 65536}, NULL);
    EXPECT(b.len == 65546 && memcmp(b.ptr, "\x82\x7f\0\0\0\0\0\1\0\0", 10) == 0);
    buf_done(&b);
}

TEST(what_comes_in_is_judged)
{
    static const struct {
        const char *name;
        struct str in;
        bool from_client;
        enum status want;
        enum ws_opcode opcode;
        struct str payload;
    } rows[] = {
        {"a text",              STRS("\x81\x05Hello"),                                false, STATUS_OK,        WS_TEXT,   STRS("Hello")},
        {"masked",              STRS("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), true,  STATUS_OK,        WS_TEXT,
         STRS("Hello")                                                                                                                 },
        {"in two fragments",    STRS("\x01\x03Hel\x80\x02lo"),                        false, STATUS_OK,        WS_TEXT,
         STRS("Hello")                                                                                                                 },
        {"ping",                STRS("\x89\x02hi"),                                   false, STATUS_OK,        WS_PING,   STRS("hi")   },
        {"close with code",     STRS("\x88\x04\x03\xe8ok"),                           false, STATUS_OK,        WS_CLOSE,  STRS("ok")   },
        {"empty",               STRS("\x82\x00"),                                     false, STATUS_OK,        WS_BINARY, STRS("")     },
        {"half a header",       STRS("\x82"),                                         false, STATUS_UNKNOWN,   WS_BINARY, STRS("")     },
        {"half a payload",      STRS("\x82\x05He"),                                   false, STATUS_UNKNOWN,   WS_BINARY, STRS("")     },
        {"unmasked client",     STRS("\x81\x05Hello"),                                true,  STATUS_INVALID,   WS_TEXT,   STRS("")     },
        {"masked server",       STRS("\x81\x85\1\1\1\1Hello"),                        false, STATUS_INVALID,   WS_TEXT,   STRS("")     },
        {"reserved bit",        STRS("\xc1\x00"),                                     false, STATUS_INVALID,   WS_TEXT,   STRS("")     },
        {"unknown opcode",      STRS("\x83\x00"),                                     false, STATUS_INVALID,   WS_TEXT,   STRS("")     },
        {"fragmented ping",     STRS("\x09\x00"),                                     false, STATUS_INVALID,   WS_TEXT,   STRS("")     },
        {"long ping",           STRS("\x89\x7e\x00\x7e"),                             false, STATUS_INVALID,   WS_TEXT,   STRS("")     },
        {"nothing to continue", STRS("\x80\x00"),                                     false, STATUS_INVALID,   WS_TEXT,   STRS("")     },
        {"half a close code",   STRS("\x88\x01\x03"),                                 false, STATUS_INVALID,   WS_TEXT,   STRS("")     },
        {"text not UTF-8",      STRS("\x81\x01\xff"),                                 false, STATUS_INVALID,   WS_TEXT,   STRS("")     },
        {"too long",            STRS("\x82\x7f\x7f\0\0\0\0\0\0\0"),                   false, STATUS_TOO_LARGE, WS_TEXT,
         STRS("")                                                                                                                      },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        struct ws_decoder d;
        ws_decoder_init(&d, rows[i].from_client);
        ws_decoder_feed(&d, rows[i].in);
        struct ws_message m = {0};
        struct err err = {0};
        enum status status = ws_decoder_take(&d, &m, &err);
        EXPECT_STATUS(status, rows[i].want);
        if (status == STATUS_OK) {
            EXPECT_I64(m.opcode, rows[i].opcode);
            EXPECT_STR(m.payload, rows[i].payload);
            EXPECT_STATUS(ws_decoder_take(&d, &m, &err), STATUS_UNKNOWN);
        } else if (status != STATUS_UNKNOWN) {
            EXPECT_STATUS(ws_decoder_take(&d, &m, &err), STATUS_INVALID); /* final */
        }
        ws_decoder_done(&d);
    }
    test_row(NULL);
}

TEST(a_ping_between_fragments_comes_first)
{
    struct ws_decoder d;
    ws_decoder_init(&d, false);
    ws_decoder_feed(&d, STR("\x02\x01"
                            "a"
                            "\x89\x01"
                            "p"
                            "\x80\x01"
                            "b"));
    struct ws_message m = {0};
    struct err err = {0};
    REQUIRE_OK(ws_decoder_take(&d, &m, &err), &err);
    EXPECT_I64(m.opcode, WS_PING);
    REQUIRE_OK(ws_decoder_take(&d, &m, &err), &err);
    EXPECT_STR(m.payload, STR("ab"));
    ws_decoder_done(&d);
}

TEST(messages_cut_anywhere_come_out_whole)
{
    struct prng p;
    prng_init(&p, test_seed());
    struct buf wire;
    buf_init(&wire, 1 << 24);
    uint8_t mask[4] = {1, 2, 3, 4};
    enum { COUNT = 200 };
    static char bytes[70000];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)i;
    }
    uint32_t lens[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        lens[i] = prng_chance(&p, 50) ? prng_below(&p, sizeof bytes) : prng_below(&p, 300);
        ws_encode(&wire, WS_BINARY, (struct str){bytes, lens[i]}, mask);
    }
    struct ws_decoder d;
    ws_decoder_init(&d, true);
    uint32_t got = 0;
    for (size_t at = 0; at < wire.len;) {
        size_t len = 1 + prng_below(&p, prng_chance(&p, 500) ? 10 : 5000);
        len = len < wire.len - at ? len : wire.len - at;
        ws_decoder_feed(&d, (struct str){wire.ptr + at, (uint32_t)len});
        at += len;
        struct ws_message m;
        struct err err = {0};
        enum status status;
        while ((status = ws_decoder_take(&d, &m, &err)) == STATUS_OK) {
            REQUIRE(got < COUNT);
            EXPECT_STR(m.payload, ((struct str){bytes, lens[got]}));
            got++;
        }
        REQUIRE(status == STATUS_UNKNOWN);
    }
    EXPECT_I64(got, COUNT);
    ws_decoder_done(&d);
    buf_done(&wire);
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
#include "codec/base64.h"

#include "base/prng.h"
#include "base/test.h"

// RFC 4648, section 10, and both special letters.
static const struct {
    const char *name;
    struct str bytes, std, url;
} rows[] = {
    {"nothing",                     STRS(""),             STRS(""),         STRS("")        },
    {"one byte",                    STRS("f"),            STRS("Zg=="),     STRS("Zg")      },
    {"two bytes",                   STRS("fo"),           STRS("Zm8="),     STRS("Zm8")     },
    {"three bytes",                 STRS("foo"),          STRS("Zm9v"),     STRS("Zm9v")    },
    {"four bytes",                  STRS("foob"),         STRS("Zm9vYg=="), STRS("Zm9vYg")  },
    {"five bytes",                  STRS("fooba"),        STRS("Zm9vYmE="), STRS("Zm9vYmE") },
    {"six bytes",                   STRS("foobar"),       STRS("Zm9vYmFy"), STRS("Zm9vYmFy")},
    {"the two letters that differ", STRS("\xfb\xff\xfe"), STRS("+//+"),     STRS("-__-")    },
};

TEST(both_ways)
{
    struct buf b;
    buf_init(&b, 64);
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        buf_clear(&b);
        base64_encode(BASE64_STD, rows[i].bytes, &b);
        EXPECT_STR(buf_view(&b), rows[i].std);
        buf_clear(&b);
        base64_encode(BASE64_URL, rows[i].bytes, &b);
        EXPECT_STR(buf_view(&b), rows[i].url);
        buf_clear(&b);
        EXPECT(base64_decode(BASE64_STD, rows[i].std, &b));
        EXPECT_STR(buf_view(&b), rows[i].bytes);
        buf_clear(&b);
        EXPECT(base64_decode(BASE64_URL, rows[i].url, &b));
        EXPECT_STR(buf_view(&b), rows[i].bytes);
    }
    buf_done(&b);
}

static const struct {
    const char *name;
    enum base64_form form;
    struct str text;
} bad_rows[] = {
    {"no padding",                 BASE64_STD, STRS("Zg")      },
    {"half the padding",           BASE64_STD, STRS("Zg=")     },
    {"padding alone",              BASE64_STD, STRS("====")    },
    {"three of padding",           BASE64_STD, STRS("Z===")    },
    {"padding in the middle",      BASE64_STD, STRS("Zg==Zg==")},
    {"a letter of the other form", BASE64_STD, STRS("-__-")    },
    {"white space",                BASE64_STD, STRS("Zm9v\n")  },
    {"bits left over",             BASE64_STD, STRS("Zh==")    },
    {"padding in url form",        BASE64_URL, STRS("Zg==")    },
    {"a letter of the std form",   BASE64_URL, STRS("+//+")    },
    {"one letter",                 BASE64_URL, STRS("Z")       },
    {"bits left over in url form", BASE64_URL, STRS("Zm9")     },
};

TEST(refused)
{
    struct buf b;
    buf_init(&b, 64);
    buf_str(&b, STR("kept"));
    for (uint32_t i = 0; i < COUNT_OF(bad_rows); i++) {
        test_row(bad_rows[i].name);
        EXPECT(!base64_decode(bad_rows[i].form, bad_rows[i].text, &b));
        EXPECT_STR(buf_view(&b), STR("kept"));
    }
    buf_done(&b);
}

TEST(random_bytes_come_back)
{
    struct prng p;
    prng_init(&p, test_seed());
    struct buf text;
    struct buf back;
    buf_init(&text, 256);
    buf_init(&back, 256);
    for (uint32_t round = 0; round < 2000; round++) {
        char bytes[100];
        uint32_t len = prng_below(&p, sizeof(bytes));
        for (uint32_t i = 0; i < len; i++) {
            bytes[i] = (char)prng_range(&p, -128, 127);
        }
        enum base64_form form = prng_chance(&p, 500) ? BASE64_STD : BASE64_URL;
        buf_clear(&text);
        buf_clear(&back);
        base64_encode(form, (struct str){bytes, len}, &text);
        EXPECT(base64_decode(form, buf_view(&text), &back));
        EXPECT_STR(buf_view(&back), ((struct str){bytes, len}));
    }
    buf_done(&text);
    buf_done(&back);
}

TEST_MAIN()

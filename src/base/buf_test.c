// SPDX-License-Identifier: Apache-2.0
#include "base/buf.h"

#include <string.h>

#include "base/test.h"

TEST(grows)
{
    struct buf b;
    buf_init(&b, 1 << 20);
    EXPECT_STR(buf_view(&b), STR(""));
    buf_str(&b, STR("one "));
    buf_char(&b, '2');
    buf_add(&b, " three", 6);
    buf_printf(&b, " %d%s", 4, "!");
    EXPECT_STR(buf_view(&b), STR("one 2 three 4!"));
    for (uint32_t i = 0; i < 10000; i++) {
        buf_printf(&b, "%u,", i);
    }
    EXPECT(!b.full);
    EXPECT_I64((int64_t)b.len, 14 + 48890);
    buf_clear(&b);
    EXPECT_STR(buf_view(&b), STR(""));
    EXPECT(b.cap > 0);
    buf_done(&b);
    EXPECT(b.ptr == NULL);
}

TEST(the_maximum_cuts_and_is_said)
{
    for (size_t max = 0; max < 12; max++) {
        struct buf b;
        buf_init(&b, max);
        buf_str(&b, STR("abc"));
        buf_printf(&b, "%s", "defgh");
        buf_char(&b, 'i');
        EXPECT_STR(buf_view(&b), str_sub(STR("abcdefghi"), 0, (uint32_t)max));
        EXPECT(b.full == (max < 9));
        buf_add(&b, NULL, 0);
        EXPECT(b.full == (max < 9));
        buf_clear(&b);
        EXPECT(!b.full);
        buf_done(&b);
    }
}

TEST(printing_at_every_fill)
{
    for (uint32_t before = 240; before < 270; before++) {
        struct buf b;
        buf_init(&b, 1000);
        for (uint32_t i = 0; i < before; i++) {
            buf_char(&b, '.');
        }
        buf_printf(&b, "%s", "0123456789");
        EXPECT_I64((int64_t)b.len, before + 10);
        EXPECT_STR(str_sub(buf_view(&b), before, 10), STR("0123456789"));
        buf_done(&b);
    }
}

TEST_MAIN()

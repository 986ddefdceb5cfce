// SPDX-License-Identifier: Apache-2.0
#include "codec/csv.h"

#include "base/test.h"

TEST(a_field_is_one_field_and_no_formula)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"",           "\"\""              },
        {"team-a",     "\"team-a\""        },
        {"a,b\nc",     "\"a,b\nc\""        },
        {"say \"hi\"", "\"say \"\"hi\"\"\""},
        {"=1+1",       "\"'=1+1\""         },
        {"+1",         "\"'+1\""           },
        {"-1",         "\"'-1\""           },
        {"@SUM(A1)",   "\"'@SUM(A1)\""     },
        {"\t=1",       "\"'\t=1\""         },
        {"a=1",        "\"a=1\""           },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out;
        test_row(rows[i].text);
        buf_init(&out, 100);
        csv_text(str_from_c(rows[i].text), &out);
        EXPECT_STR(buf_view(&out), str_from_c(rows[i].want));
        buf_done(&out);
    }
}

TEST_MAIN()

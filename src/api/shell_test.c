// SPDX-License-Identifier: Apache-2.0
#include "api/shell.h"

#include "base/array.h"
#include "base/test.h"

TEST(a_line_becomes_words)
{
    static const struct {
        const char *name, *text;
        const char *words; /* separated by |; NULL: refused */
    } rows[] = {
        {"nothing",          "",                             ""                          },
        {"space",            " \t\n",                        ""                          },
        {"words",            "python  train.py --epochs 3",  "python|train.py|--epochs|3"},
        {"quotes",           "sh -c 'echo \"a b\"; exit 0'", "sh|-c|echo \"a b\"; exit 0"},
        {"double quotes",    "echo \"a 'b' \\\"c\\\" \\n\"", "echo|a 'b' \"c\" \\n"      },
        {"side by side",     "a'b c'\"d e\"f",               "ab cd ef"                  },
        {"empty words",      "'' a \"\"",                    "|a|"                       },
        {"backslashes",      "a\\ b \\'c",                   "a b|'c"                    },
        {"no expansion",     "$HOME * ; |",                  "$HOME|*|;||"               },
        {"an open quote",    "echo 'a",                      NULL                        },
        {"a last backslash", "echo \\",                      NULL                        },
    };
    struct arena arena = {0};
    arena_init(&arena, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct str_item *words = NULL;
        uint32_t count = 0;
        struct err err = {0};
        test_row(rows[i].name);
        enum status status = shell_words(str_from_c(rows[i].text), &arena, &words, &count, &err);
        EXPECT_STATUS(status, rows[i].words != NULL ? STATUS_OK : STATUS_INVALID);
        struct str joined = {0};
        for (uint32_t k = 0; k < count; k++) {
            joined = arena_printf(&arena, STR_FMT "%s" STR_FMT, STR_ARG(joined), k > 0 ? "|" : "",
                                  STR_ARG(words[k].value));
        }
        EXPECT_STR(joined, str_from_c(rows[i].words));
    }
    test_row(NULL);
    arena_done(&arena);
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
#include "agent/cpus.h"

#include "base/test.h"

TEST(lists_of_processors)
{
    static const struct {
        const char *name;
        struct str in;
        bool want;
        uint32_t first, last, count;
    } rows[] = {
        {"one",                       STRS("3"),        true,  3,    3,    1},
        {"a range",                   STRS("0-3"),      true,  0,    3,    4},
        {"ranges over words",         STRS("62-65,70"), true,  62,   70,   5},
        {"the last there is",         STRS("8191"),     true,  8191, 8191, 1},
        {"one beyond",                STRS("8192"),     false, 0,    0,    0},
        {"a range the wrong way",     STRS("3-1"),      false, 0,    0,    0},
        {"nothing",                   STRS(""),         false, 0,    0,    0},
        {"nothing behind the comma",  STRS("1,"),       false, 0,    0,    0},
        {"nothing behind the hyphen", STRS("1-"),       false, 0,    0,    0},
        {"a word",                    STRS("all"),      false, 0,    0,    0},
    };
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t cpus[CPUS_MAX / 64];
        test_row(rows[i].name);
        bool read = cpus_read(rows[i].in, cpus);
        EXPECT(read == rows[i].want);
        uint32_t count = 0, first = 0, last = 0;
        for (uint32_t c = 0; read && c < CPUS_MAX; c++) {
            if ((cpus[c / 64] >> (c % 64) & 1) != 0) {
                first = count == 0 ? c : first;
                last = c;
                count++;
            }
        }
        EXPECT_I64(first, rows[i].first);
        EXPECT_I64(last, rows[i].last);
        EXPECT_I64(count, rows[i].count);
    }
    test_row(NULL);
}

TEST_MAIN()

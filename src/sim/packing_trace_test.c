// SPDX-License-Identifier: Apache-2.0
#include "sim/packing_trace.h"

#include "base/test.h"

#define NODES "sn,cpu_milli,memory_mib,gpu,model\n"
#define TASKS "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n"

TEST(tables)
{
    static const struct {
        const char *name;
        struct str nodes, tasks;
        const char *file;
        uint32_t line;
        struct str text; /* empty: good */
    } rows[] = {
        {"as they are",                               STRS(NODES "a,1000,1,8,G\n"),     STRS(TASKS "t,1,1,1,500,G|H\n"), "",      0,
         STRS("")                                                                                                                                                                                       },
        {"other columns, another order, empty lines",
         STRS("gpu,x,sn,cpu_milli,memory_mib\r\n\n2,,a,1,1\r\n"),
         STRS("gpu_milli,num_gpu,name,memory_mib,cpu_milli\n1000,2,t,1,1\n\n"),                                          "",      0, STRS("")                                                           },
        {"no such column",                            STRS("sn,cpu_milli,gpu\n"),       STRS(TASKS),                     "nodes", 1,
         STRS("the first line names no column \"memory_mib\"")                                                                                                                                          },
        {"nothing",                                   STRS(""),                         STRS(""),                        "nodes", 1, STRS("the first line names no column \"sn\"")                      },
        {"a word",                                    STRS(NODES "a,1000,1,eight,G\n"), STRS(TASKS),                     "nodes", 2,
         STRS("gpu must be a number from 0 to 64, not \"eight\"")                                                                                                                                       },
        {"too many devices",                          STRS(NODES "a,1000,1,65,G\n"),    STRS(TASKS),                     "nodes", 2,
         STRS("gpu must be a number from 0 to 64, not \"65\"")                                                                                                                                          },
        {"a part that is none",                       STRS(NODES "a,1,1,1,G\n"),        STRS(TASKS "t,1,1,1,1001,\n"),   "tasks",
         2,                                                                                                                          STRS("gpu_milli must be a number from 0 to 1000, not \"1001\"")    },
        {"a device and no part of it",                STRS(NODES "a,1,1,1,G\n"),        STRS(TASKS "t,1,1,1,0,\n"),
         "tasks",                                                                                                                 2, STRS("a task that asks for a device needs a part of it, not \"0\"")},
        {"nobody asks for devices",                   STRS(NODES "a,1,1,1,G\n"),        STRS(TASKS "t,1,1,0,0,\n"),      "tasks",
         1,                                                                                                                          STRS("no task asks for devices: the column is \"num_gpu\"")        },
        {"no devices",                                STRS(NODES "a,1,1,0,G\n"),        STRS(TASKS "t,1,1,1,1,\n"),      "nodes", 1,
         STRS("there are no devices: the column is \"gpu\"")                                                                                                                                            },
    };
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena;
        struct packing_trace trace;
        struct err err = {0};
        arena_init(&arena, 0);
        test_row(rows[i].name);
        enum status status = packing_read(rows[i].nodes, rows[i].tasks, &arena, &trace, &err);
        EXPECT_STATUS(status, rows[i].text.len == 0 ? STATUS_OK : STATUS_INVALID);
        EXPECT_STR(str_from_c(err.text), rows[i].text);
        EXPECT_STR(str_from_c(err.file), str_from_c(rows[i].file));
        EXPECT_I64(err.line, rows[i].line);
        arena_done(&arena);
    }
    test_row(NULL);
}

TEST(tasks_that_ask_alike_have_one_shape)
{
    static const uint32_t want[] = {0, 1, 0, 2, 3, 4};
    struct arena arena;
    struct packing_trace trace;
    struct err err = {0};
    arena_init(&arena, 0);
    REQUIRE_OK(packing_read(STR(NODES "a,1000,1,8,G\n"),
                            STR(TASKS "t,1,1,1,500,\nu,2,1,1,500,\nv,1,1,1,500,\nw,1,1,1,1000,\n"
                                      "x,1,1,2,300,\ny,1,1,1,500,G\n"),
                            &arena, &trace, &err),
               &err);
    REQUIRE(trace.task_count == COUNT_OF(want));
    for (uint32_t i = 0; i < COUNT_OF(want); i++) {
        EXPECT_I64(trace.shape_of[i], want[i]);
    }
    EXPECT_I64(trace.shape_count, 5);
    EXPECT_I64(packing_asked_milli(&trace.tasks[4]), 2000); /* parts are of single devices */
    arena_done(&arena);
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
#include "api/schema.h"

#include "api/args.h"
#include "api/route.h"
#include "base/array.h"
#include "base/test.h"
#include "io/http.h"

static const struct schema_row rows_of_test[] = {
    {"Job",  "name* str(1..8), gpus int(0..16)?, share num(0..1), kind 'small'|'large', id uuid,"
            "at ts?, memory qty, tags [str], env map<str>, next Job?, more obj, x any"},
    {"Jobs", "[Job]"                                                                             },
};
static const struct schema_rows tables[] = {
    {rows_of_test, COUNT_OF(rows_of_test)}
};

TEST(a_value_is_checked_by_its_schema)
{
    static const struct {
        const char *name, *type, *json;
        const char *field, *text; /* of the first problem, NULL: none */
        uint32_t errors;
    } rows[] = {
        {"all is well",               "Job",
         "{\"name\":\"a\",\"gpus\":16,\"share\":0.125,\"kind\":\"large\",\"memory\":\"2Gi\","
         "\"tags\":"
         "[\"x\"],\"env\":{\"A\":\"b\"},\"next\":{\"name\":\"b\"},\"more\":{\"y\":[1]},\"x\":[null]"
         "}",                                                                                                NULL,     NULL,                                            0},
        {"null where it may be",      "Job",  "{\"name\":\"a\",\"gpus\":null,\"next\":null,\"at\":null}",
         NULL,                                                                                                         NULL,                                            0},
        {"null where it may not",     "Job",  "{\"name\":\"a\",\"kind\":null}",                              "kind",
         "expected one of small, large, got nothing",                                                                                                                   1},
        {"nothing",                   "Job",  "{}",                                                          "name",   "name is missing",                               1},
        {"another type",              "Job",  "[]",                                                          "",       "expected an object, got a list",                1},
        {"a string for a number",     "Job",  "{\"name\":\"a\",\"gpus\":\"2\"}",                             "gpus",
         "expected a whole number from 0 to 16, got \"2\"",                                                                                                             1},
        {"beyond the range",          "Job",  "{\"name\":\"a\",\"gpus\":17}",                                "gpus",
         "expected a whole number from 0 to 16, got 17",                                                                                                                1},
        {"beyond 64 bits",            "Job",  "{\"name\":\"a\",\"gpus\":1e40}",                              "gpus",
         "expected a whole number from 0 to 16, got 1e40",                                                                                                              1},
        {"a whole number by value",   "Job",  "{\"name\":\"a\",\"gpus\":1.6e1}",                             NULL,     NULL,                                            0},
        {"too many digits",           "Job",  "{\"name\":\"a\",\"share\":0.1234}",                           "share",
         "expected a number from 0 to 1 with at most three digits behind the point, got 0.1234",                                                                        1},
        {"too long",                  "Job",  "{\"name\":\"123456789\"}",                                    "name",
         "expected at most 8 bytes, got \"123456789\"",                                                                                                                 1},
        {"empty",                     "Job",  "{\"name\":\"\"}",                                             "name",   "expected a string that is not empty, got \"\"",
         1                                                                                                                                                               },
        {"no UUID",                   "Job",  "{\"name\":\"a\",\"id\":\"7\"}",                               "id",     "expected a UUID, got \"7\"",                    1},
        {"a time without a zone",     "Job",  "{\"name\":\"a\",\"at\":\"2026-11-30T16:44:07.917280\"}",
         NULL,                                                                                                         NULL,                                            0},
        {"no time",                   "Job",  "{\"name\":\"a\",\"at\":\"today\"}",                           "at",
         "expected a time such as 2026-05-01T12:00:00Z, got \"today\"",                                                                                                 1},
        {"no amount",                 "Job",  "{\"name\":\"a\",\"memory\":\"-2G\"}",                         "memory",
         "expected an amount such as 500M, 2G or 16Gi, got \"-2G\"",                                                                                                    1},
        {"unknown, with the nearest", "Job",  "{\"name\":\"a\",\"gpu\":1}",                                  "gpu",
         "there is no member \"gpu\" here",                                                                                                                             1},
        {"twice",                     "Job",  "{\"name\":\"a\",\"name\":\"a\"}",                             "name",
         "expected each member once, got \"a\"",                                                                                                                        1},
        {"a name twice",              "Job",  "{\"name\":\"a\",\"env\":{\"A\":\"1\",\"A\":\"2\"}}",          "env.A",
         "expected each name once, got \"2\"",                                                                                                                          1},
        {"deep inside",               "Jobs", "[{\"name\":\"a\"},{\"name\":\"b\",\"next\":{\"tags\":[1]}}]",
         "[1].next.tags[0]",                                                                                           "expected a string, got 1",                      2},
        {"several at once",           "Job",  "{\"gpus\":-1,\"kind\":\"x\",\"share\":true}",                 "gpus",
         "expected a whole number from 0 to 16, got -1",                                                                                                                4},
    };
    struct arena arena = {0};
    struct schemas all;
    arena_init(&arena, 0);
    schemas_init(&all, tables, COUNT_OF(tables), &arena);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct doc *value = NULL;
        struct err err = {0};
        struct problems problems;
        test_row(rows[i].name);
        problems_init(&problems, &arena);
        REQUIRE_OK(json_doc(str_from_c(rows[i].json), &arena, &value, &err), &err);
        schema_check(schema_read(&all, rows[i].type), value, STR(""), &problems, NULL);
        EXPECT_I64(problems.error_count, rows[i].errors);
        if (rows[i].text != NULL) {
            REQUIRE(problems.count > 0);
            EXPECT_STR(problems.items[0].field, str_from_c(rows[i].field));
            EXPECT_STR(problems.items[0].text, str_from_c(rows[i].text));
        }
    }
    test_row(NULL);
    arena_done(&arena);
}

TEST(a_schema_is_shown_as_json_schema)
{
    static const struct {
        const char *type, *json;
    } rows[] = {
        {"int(1..500)",            "{\"type\":\"integer\",\"minimum\":1,\"maximum\":500}"                     },
        {"num(0..)?",              "{\"type\":[\"number\",\"null\"],\"minimum\":0,\"multipleOf\":0.001}"      },
        {"'a'|'b'?",               "{\"type\":[\"string\",\"null\"],\"enum\":[\"a\",\"b\",null]}"             },
        {"[Job]",                  "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Job\"}}"   },
        {"Job?",                   "{\"oneOf\":[{\"$ref\":\"#/components/schemas/Job\"},{\"type\":\"null\"}]}"},
        {"{a* ts, b bool = true}",
         "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"format\":\"date-time\"}"
         ","
         "\"b\":{\"type\":\"boolean\",\"default\":true}},\"required\":[\"a\"]}"                               },
    };
    struct arena arena = {0};
    struct schemas all;
    arena_init(&arena, 0);
    schemas_init(&all, tables, COUNT_OF(tables), &arena);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out;
        struct jw w;
        test_row(rows[i].type);
        buf_init(&out, 4096);
        jw_init(&w, &out, false);
        schema_show(schema_read(&all, rows[i].type), &w);
        EXPECT_STR(buf_view(&out), str_from_c(rows[i].json));
        buf_done(&out);
    }
    test_row(NULL);
    arena_done(&arena);
}

TEST(arguments_become_a_document)
{
    static const struct {
        const char *name, *given, *value; /* of the one argument "a" */
        const char *type, *json;
    } rows[] = {
        {"a number",                           "a",         "7",                        "a int",                            "{\"a\":7}"               },
        {"no number",                          "a",         "x",                        "a int",                            "{\"a\":\"x\"}"           },
        {"empty text is left out",             "a",         "",                         "a str",                            "{}"                      },
        {"an empty number is none",            "a",         "",                         "a int",                            "{\"a\":\"\"}"            },
        {"a preset",                           "b",         "",                         "a int = 50",                       "{\"b\":\"\",\"a\":50}"   },
        {"a flag",                             "a",         "1",                        "a bool",                           "{\"a\":true}"            },
        {"a list",                             "a",         "x==1,y",                   "a [str]",                          "{\"a\":[\"x==1\",\"y\"]}"},
        {"the name of an enumeration",         "a",         "SortFields.CREATED_AT",    "a 'name'|'createdAt'",
         "{\"a\":\"createdAt\"}"                                                                                                                      },
        {"words in a list",                    "a",         "GPU_QUOTA,gpu-allocation", "a ['GPU_QUOTA'|'GPU_ALLOCATION']",
         "{\"a\":[\"GPU_QUOTA\",\"GPU_ALLOCATION\"]}"                                                                                                 },
        {"another spelling of the name",       "file_type", "CSV",                      "fileType 'CSV'",
         "{\"fileType\":\"CSV\"}"                                                                                                                     },
        {"unknown stays, to be complained of", "c",         "1",                        "a int",                            "{\"c\":\"1\"}"           },
    };
    struct arena arena = {0};
    struct schemas all;
    arena_init(&arena, 0);
    schemas_init(&all, tables, COUNT_OF(tables), &arena);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_pair pair = {str_from_c(rows[i].given), str_from_c(rows[i].value)};
        struct http_request request = {.args = &pair, .args_count = 1};
        const struct schema *type = schema_read(&all,
                                                arena_printf(&arena, "{%s}", rows[i].type).ptr);
        struct buf out;
        struct jw w;
        test_row(rows[i].name);
        buf_init(&out, 4096);
        jw_init(&w, &out, false);
        jw_doc(&w, args_doc(type, &request, &arena));
        EXPECT_STR(buf_view(&out), str_from_c(rows[i].json));
        buf_done(&out);
    }
    test_row(NULL);
    arena_done(&arena);
}

TEST(requests_find_their_row)
{
    static const struct {
        const char *method, *path, *id; /* NULL: none */
        bool other_method;
    } rows[] = {
        {"GET",  "/api/weir/v1/workloads",                                      "list_workloads",   false},
        {"HEAD", "/api/weir/v1/workloads",                                      "list_workloads",   false},
        {"GET",  "/api/weir/v1/workloads/watch",                                "watch_workloads",  false},
        {"GET",  "/api/weir/v1/workloads/00000000-0000-4000-8000-000000000000", "show_workload",
         false                                                                                           },
        {"GET",  "/api/weir/v1/workloads/p/w",                                  "show_workload",    false},
        {"POST", "/api/weir/v1/workloads/p/w/suspend",                          "suspend_workload", false},
        {"GET",  "/api/weir/v1/workloads/p/w/suspend",                          NULL,               true },
        {"GET",  "/api/weir/v1/workloads/p",                                    NULL,               false},
        {"GET",  "/api/weir/v1/workloads/p//why",                               NULL,               false},
        {"GET",  "/api/weir/v1/projects/",                                      NULL,               false},
        {"GET",  "/",                                                           NULL,               false},
    };
    struct route_table t;
    route_table_init(&t, route_groups, route_groups_count);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct route_segments segments;
        bool other_method = false;
        test_row(rows[i].path);
        const struct route_entry *e = route_find(
            &t, str_from_c(rows[i].method), str_from_c(rows[i].path), &segments, &other_method);
        EXPECT_STR(str_from_c(e != NULL ? e->route->id : NULL), str_from_c(rows[i].id));
        EXPECT(e != NULL || other_method == rows[i].other_method);
    }
    test_row(NULL);
    route_table_done(&t);
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
#include "model/plan.h"

#include "base/test.h"
#include "model/limits.h"
#include "model/plan_form.h"
#include "model/plan_random.h"
#include "model/priority.h"
#include "model/units.h"

enum { ROUNDS = 300 };

static struct plan without_ids(const struct plan *plan, struct arena *arena)
{
    struct plan copy;
    record_copy(&record_plan, plan, &copy, arena);
    for (uint32_t i = 0; i < copy.departments_count; i++) {
        copy.departments[i].id = 0;
    }
    for (uint32_t i = 0; i < copy.projects_count; i++) {
        copy.projects[i].id = 0;
    }
    return copy;
}

static uint32_t changes(const struct plan *from, const struct plan *to, bool prune,
                        struct arena *arena)
{
    uint32_t count = 0;
    plan_diff(from, to, prune, arena, &count);
    return count;
}

TEST(random_plans_are_sound)
{
    struct prng r;
    prng_init(&r, test_seed());
    for (int i = 0; i < ROUNDS; i++) {
        struct arena arena = {0};
        struct problems problems;
        struct plan plan;
        problems_init(&problems, &arena);
        plan_random(&r, &arena, &plan);
        plan_check(&plan, NULL, NULL, 0, &problems);
        if (problems.error_count > 0) {
            EXPECT_STR(problems.items[0].text, STR(""));
        }
        EXPECT_I64(problems.error_count, 0);
        arena_done(&arena);
    }
}

TEST(laws_of_diff_and_merge)
{
    struct prng r;
    prng_init(&r, test_seed());
    for (int i = 0; i < ROUNDS; i++) {
        struct arena arena = {0};
        struct plan a, b, merged, again;
        plan_random(&r, &arena, &a);
        plan_random(&r, &arena, &b);
        for (uint32_t d = 0; d < a.departments_count; d++) {
            a.departments[d].id = d + 1;
        }

        test_row("nothing differs from itself");
        EXPECT_I64(changes(&a, &a, true, &arena), 0);

        test_row("applying with prune gives the plan, and pool default is never lost");
        plan_merge(&a, &b, true, &arena, &merged);
        EXPECT_I64(changes(&merged, &b, true, &arena), 0);
        struct plan bare = without_ids(&merged, &arena);
        bool keeps_default = a.pools_count > 0 && str_eq(a.pools[0].name, POOL_DEFAULT);
        bool has_default = b.pools_count > 0 && str_eq(b.pools[0].name, POOL_DEFAULT);
        if (keeps_default == has_default) {
            EXPECT_STR(record_diff(&record_plan, &bare, &b, &arena), STR(""));
        }

        test_row("applying without prune leaves no difference");
        plan_merge(&a, &b, false, &arena, &merged);
        EXPECT_I64(changes(&merged, &b, false, &arena), 0);

        test_row("applying twice is applying once");
        plan_merge(&merged, &b, false, &arena, &again);
        EXPECT(record_eq(&record_plan, &merged, &again));

        test_row("applying to nothing gives the plan");
        plan_merge(&(struct plan){0}, &b, false, &arena, &merged);
        EXPECT(record_eq(&record_plan, &merged, &b));

        test_row("ids are kept");
        plan_merge(&a, &a, true, &arena, &merged);
        EXPECT_STR(record_diff(&record_plan, &merged, &a, &arena), STR(""));
        test_row(NULL);
        arena_done(&arena);
    }
}

TEST(implied_pools_leave_what_is_there)
{
    struct arena arena = {0};
    struct pool there = {.name = STR("h100"),
                         .label_key = STR("gpu"),
                         .label_value = STR("h100"),
                         .gpu_placement = PLACEMENT_SPREAD};
    struct pool named[2] = {
        {.name = STR("a100"),
         .label_key = POOL_LABEL_KEY,
         .label_value = STR("a100"),
         .implied = true},
        {.name = STR("h100"),
         .label_key = POOL_LABEL_KEY,
         .label_value = STR("h100"),
         .implied = true},
    };
    struct plan base = {.pools = &there, .pools_count = 1};
    struct plan change = {.pools = named, .pools_count = 2};
    struct plan merged;
    uint32_t count = 0;
    struct plan_change *list = plan_diff(&base, &change, true, &arena, &count);
    REQUIRE(count == 2);
    EXPECT_I64(list[0].kind, CHANGE_ADD);
    EXPECT_STR(list[0].what, STR("node pool a100"));
    EXPECT_STR(list[1].field, STR("node_selector"));
    EXPECT_STR(list[1].to, STR("runai.node-pool=a100"));
    plan_merge(&base, &change, true, &arena, &merged);
    REQUIRE(merged.pools_count == 2);
    EXPECT(record_eq(&record_pool, &merged.pools[1], &there));
    EXPECT(!merged.pools[0].implied);
    arena_done(&arena);
}

TEST(a_quota_not_listed_is_the_default)
{
    struct quota listed = plan_quota(NULL, 0, STR("h100"));
    EXPECT(listed.over_quota);
    EXPECT_I64(listed.gpu_share, 0);
    EXPECT_I64(listed.weight_milli, 2000);
    EXPECT_I64(listed.gpu_max_share, AMOUNT_UNLIMITED);
    EXPECT_I64(listed.cpu_milli, AMOUNT_UNLIMITED);
    EXPECT_I64(listed.rank, PRIORITY_RANK_DEFAULT);
    struct arena arena = {0};
    struct project with = {
        .name = STR("p"), .department = STR("d"), .quotas = &listed, .quotas_count = 1};
    struct project without = {.name = STR("p"), .department = STR("d")};
    struct plan a = {.projects = &with, .projects_count = 1};
    struct plan b = {.projects = &without, .projects_count = 1};
    EXPECT_I64(changes(&a, &b, true, &arena), 0);
    EXPECT_I64(changes(&b, &a, true, &arena), 0);
    listed.gpu_share = 2 * DEVICE_SHARE;
    uint32_t count = 0;
    struct plan_change *list = plan_diff(&b, &a, true, &arena, &count);
    REQUIRE(count == 1);
    EXPECT_STR(list[0].what, STR("project p, pool h100"));
    EXPECT_STR(list[0].field, STR("guaranteed_gpus"));
    EXPECT_STR(list[0].from, STR("0"));
    EXPECT_STR(list[0].to, STR("2"));
    arena_done(&arena);
}

/* ---- what only a plan that was no file can hold ---- */

static struct quota bad_quota(int row)
{
    struct quota q = plan_quota(NULL, 0, STR("h100"));
    switch (row) {
    case 0:
        q.gpu_share = -1;
        break;
    case 1:
        q.gpu_share = INT64_C(1) << 62;
        break;
    case 2:
        q.gpu_max_share = -2;
        break;
    case 3:
        q.weight_milli = WEIGHT_MILLI_MAX + 1;
        break;
    case 4:
        q.rank = -1;
        break;
    case 5:
        q.memory_bytes = INT64_MIN;
        break;
    case 6:
        q.reclaim_min_runtime_ms = DURATION_UNSET;
        break;
    default:
        break;
    }
    return q;
}

TEST(values_out_of_range_are_refused)
{
    static const char *const fields[] = {
        "guaranteed_gpus",   "guaranteed_gpus",     "max_gpus", "over_quota_weight", "rank",
        "guaranteed_memory", "reclaim_min_runtime",
    };
    struct pool pool = {.name = STR("h100"), .label_key = STR("gpu"), .label_value = STR("h100")};
    for (int row = 0; row < (int)COUNT_OF(fields); row++) {
        struct arena arena = {0};
        struct quota q = bad_quota(row);
        struct department d = {.name = STR("d"), .quotas = &q, .quotas_count = 1};
        struct plan plan = {
            .pools = &pool, .pools_count = 1, .departments = &d, .departments_count = 1};
        struct problems problems;
        test_row(fields[row]);
        problems_init(&problems, &arena);
        plan_check(&plan, NULL, NULL, 0, &problems);
        EXPECT(problems.error_count > 0);
        struct str want = arena_printf(&arena, "department d.node_pool_quotas.h100.%s",
                                       fields[row]);
        if (EXPECT(problems.count > 0)) {
            EXPECT_STR(problems.items[0].field, want);
        }
        arena_done(&arena);
    }
    test_row(NULL);
}

TEST(bad_names_and_order_are_refused)
{
    static const struct {
        const char *name;
        struct str first, second;
        uint32_t errors;
    } rows[] = {
        {"in order",     STRS("a"), STRS("b"),   0},
        {"twice",        STRS("a"), STRS("a"),   1},
        {"out of order", STRS("b"), STRS("a"),   1},
        {"upper case",   STRS("a"), STRS("b-C"), 1},
        {"a slash",      STRS("a"), STRS("b/c"), 1},
        {"underscore",   STRS("a"), STRS("b_c"), 1},
        {"no name",      STRS(""),  STRS("b"),   1},
        {"ends so",      STRS("a"), STRS("b-"),  1},
        {"a digit",      STRS("0"), STRS("b"),   1},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena = {0};
        struct department d[2] = {{.name = rows[i].first}, {.name = rows[i].second}};
        struct plan plan = {.departments = d, .departments_count = 2};
        struct problems problems;
        test_row(rows[i].name);
        problems_init(&problems, &arena);
        plan_check(&plan, NULL, NULL, 0, &problems);
        EXPECT_I64(problems.error_count, rows[i].errors);
        arena_done(&arena);
    }
    test_row(NULL);
}

TEST(long_chains_of_departments)
{
    enum { COUNT = 2000 };
    struct arena arena = {0};
    struct department *d = ARENA_ARRAY(&arena, struct department, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        d[i].name = arena_printf(&arena, "d%05u", i);
        d[i].parent = i > 0 ? d[i - 1].name : STR("");
    }
    struct plan plan = {.departments = d, .departments_count = COUNT};
    struct problems problems;
    problems_init(&problems, &arena);
    plan_check(&plan, NULL, NULL, 0, &problems);
    test_row("one chain: said once, where it becomes too deep");
    EXPECT_I64(problems.error_count, 1);
    EXPECT_STR(problems.items[0].field, STR("department d00015.parent"));
    test_row("one circle: said once");
    d[0].parent = d[COUNT - 1].name;
    problems_init(&problems, &arena);
    plan_check(&plan, NULL, NULL, 0, &problems);
    EXPECT_I64(problems.error_count, 1);
    EXPECT(str_starts(problems.items[0].text, STR("departments go in a circle: d00000, under")));
    test_row(NULL);
    arena_done(&arena);
}

/* ---- against the hardware ---- */

TEST(hardware)
{
    static const struct {
        const char *name;
        int64_t gpus, largest, guaranteed, other;
        struct str text; // "" : no warning
    } rows[] = {
        {"fits, also without the largest node", 16, 8, 4, 4, STRS("")},
        {"B146: above the hardware",            8,  8, 6, 4,
         STRS("departments are guaranteed 10 GPUs together in node pool \"h100\", which has 8 "
              "GPUs")                                                },
        {"B146: above what is left of it",      16, 8, 6, 4,
         STRS("departments are guaranteed 10 GPUs together in node pool \"h100\", which has 8 GPUs "
              "once its largest node is lost")                       },
        {"one node",                            4,  4, 1, 0,
         STRS("departments are guaranteed 1 GPU together in node pool \"h100\", which has 0 GPUs "
              "once its largest node is lost")                       },
        {"nothing there",                       0,  0, 1, 0,
         STRS("departments are guaranteed 1 GPU together in node pool \"h100\", which has 0 "
              "GPUs")                                                },
        {"nothing guaranteed",                  0,  0, 0, 0, STRS("")},
    };
    struct pool pool = {.name = STR("h100"), .label_key = STR("gpu"), .label_value = STR("h100")};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena = {0};
        struct quota q[2] = {plan_quota(NULL, 0, STR("h100")), plan_quota(NULL, 0, STR("h100"))};
        q[0].gpu_share = rows[i].guaranteed * DEVICE_SHARE;
        q[1].gpu_share = rows[i].other * DEVICE_SHARE;
        struct department d[3] = {
            {.name = STR("a"), .quotas = &q[0], .quotas_count = 1},
            {.name = STR("b"), .quotas = &q[1], .quotas_count = 1},
            {.name = STR("below-a"), .parent = STR("a"), .quotas = &q[0], .quotas_count = 1},
        };
        struct plan plan = {
            .pools = &pool, .pools_count = 1, .departments = d, .departments_count = 3};
        struct pool_capacity capacity = {.pool = STR("h100"),
                                         .gpu_share = rows[i].gpus * DEVICE_SHARE,
                                         .largest_node_gpu_share = rows[i].largest * DEVICE_SHARE};
        struct problems problems;
        test_row(rows[i].name);
        problems_init(&problems, &arena);
        plan_check(&plan, NULL, &capacity, 1, &problems);
        EXPECT_I64(problems.error_count, 0);
        EXPECT_I64(problems.count, rows[i].text.len > 0);
        if (problems.count > 0) {
            EXPECT_STR(problems.items[0].text, rows[i].text);
            EXPECT_I64(problems.items[0].severity, SEVERITY_WARNING);
        }
        arena_done(&arena);
    }
    test_row(NULL);
}

TEST(priorities)
{
    static const struct {
        const char *name;
        struct str in;
        int64_t value; // -1: refused
        struct str word;
    } rows[] = {
        {"lowest word",  STRS("very-low"),  25,   STRS("very-low") },
        {"highest word", STRS("very-high"), 150,  STRS("very-high")},
        {"a number",     STRS("7"),         7,    STRS("")         },
        {"a word's",     STRS("125"),       125,  STRS("high")     },
        {"the greatest", STRS("1000"),      1000, STRS("")         },
        {"beyond it",    STRS("1001"),      -1,   STRS("")         },
        {"negative",     STRS("-1"),        -1,   STRS("")         },
        {"upper case",   STRS("High"),      -1,   STRS("")         },
        {"nothing",      STRS(""),          -1,   STRS("")         },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t value = -1;
        test_row(rows[i].name);
        EXPECT(priority_parse(rows[i].in, &value) == (rows[i].value >= 0));
        EXPECT_I64(value, rows[i].value);
        EXPECT_STR(priority_word(value), rows[i].word);
    }
    test_row(NULL);
}

TEST_MAIN()

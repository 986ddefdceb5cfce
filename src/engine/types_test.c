// SPDX-License-Identifier: Apache-2.0
#include "engine/rig_test.h"

#include "model/limits.h"

static enum status change(struct rig *r, enum type_op op, const struct workload_type *t)
{
    struct input in = {.kind = INPUT_WORKLOAD_TYPE, .author = STR("root")};
    in.type_change = (struct type_change){op, *t};
    return say(r, in);
}

TEST(types_are_checked)
{
    static const struct {
        const char *name;
        enum type_op op;
        uint32_t id, kind_plus_one;
        struct str type, group;
        uint32_t category;
        int64_t priority;
        enum status want;
    } rows[] = {
        {"a kind",                    TYPE_ADD,    1, 0, STRS("Job"), STRS("batch"), CATEGORY_TRAIN, 40,   STATUS_OK     },
        {"its name again",            TYPE_ADD,    2, 0, STRS("Job"), STRS("batch"), CATEGORY_BUILD, 40,
         STATUS_CONFLICT                                                                                                 },
        {"its name in another group", TYPE_ADD,    2, 0, STRS("Job"), STRS("other"), CATEGORY_BUILD,
         40,                                                                                               STATUS_OK     },
        {"its id again",              TYPE_ADD,    1, 0, STRS("Pod"), STRS("batch"), CATEGORY_BUILD, 40,
         STATUS_INVALID                                                                                                  },
        {"no name",                   TYPE_ADD,    3, 0, STRS(""),    STRS("batch"), CATEGORY_BUILD, 40,   STATUS_INVALID},
        {"no category",               TYPE_ADD,    3, 0, STRS("Pod"), STRS("batch"), CATEGORY_COUNT, 40,
         STATUS_INVALID                                                                                                  },
        {"no priority",               TYPE_SET,    1, 0, STRS(""),    STRS(""),      CATEGORY_TRAIN, 1001, STATUS_INVALID},
        {"a change",                  TYPE_SET,    1, 0, STRS(""),    STRS(""),      CATEGORY_BUILD, 80,   STATUS_OK     },
        {"of one that is not there",  TYPE_SET,    9, 0, STRS(""),    STRS(""),      CATEGORY_BUILD, 80,
         STATUS_UNKNOWN                                                                                                  },
        {"of weir's own",             TYPE_SET,    5, 2, STRS(""),    STRS(""),      CATEGORY_BUILD, 65,   STATUS_OK     },
        {"of none of weir's own",     TYPE_SET,    6, 7, STRS(""),    STRS(""),      CATEGORY_BUILD, 65,
         STATUS_UNKNOWN                                                                                                  },
        {"weir's own stay",           TYPE_REMOVE, 5, 2, STRS(""),    STRS(""),      0,              0,    STATUS_IN_USE },
        {"one goes",                  TYPE_REMOVE, 2, 0, STRS(""),    STRS(""),      0,              0,    STATUS_OK     },
        {"and is gone",               TYPE_REMOVE, 2, 0, STRS(""),    STRS(""),      0,              0,    STATUS_UNKNOWN},
    };
    struct rig r;
    rig_init(&r);
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        struct workload_type t = {.id = id_of(rows[i].id),
                                  .kind_plus_one = rows[i].kind_plus_one,
                                  .name = rows[i].type,
                                  .group = rows[i].group,
                                  .category = (enum category)rows[i].category,
                                  .priority = rows[i].priority};
        EXPECT_STATUS(change(&r, rows[i].op, &t), rows[i].want);
    }
    test_row(NULL);
    const struct state *s = engine_state(r.e);
    REQUIRE(s->types_count == 2);
    EXPECT_STR(s->types[0].name, STR("Job"));
    EXPECT_I64(s->types[0].priority, 80);
    EXPECT_STR(s->types[0].stamp.created_by, STR("root"));
    EXPECT_I64(kind_type_of(s, WORKLOAD_WORKSPACE).priority, 65);
    expect_same(&r);
    rig_done(&r);
}

TEST(what_is_usual_for_a_kind_counts_from_then_on)
{
    struct rig r;
    struct submit_text t;
    rig_usual(&r);
    struct input in = submit_of(&t, 1, STR("before"), 1);
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    struct workload_type set = {.id = id_of(7),
                                .kind_plus_one = WORKLOAD_TRAINING + 1,
                                .category = CATEGORY_TRAIN,
                                .priority = 125};
    EXPECT_STATUS(change(&r, TYPE_SET, &set), STATUS_OK);
    in = submit_of(&t, 2, STR("after"), 1);
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    EXPECT_I64(find(&r, 1)->spec.priority, 40);
    EXPECT_I64(find(&r, 2)->spec.priority, 125);
    EXPECT_I64(find(&r, 2)->spec.preemptibility, NON_PREEMPTIBLE);
    rig_done(&r);
}

TEST_MAIN()

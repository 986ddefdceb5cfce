// SPDX-License-Identifier: Apache-2.0
// What a case file may get wrong, and what the reader says; how rounds are carried and compared.
#include "sim/case.h"

#include "base/test.h"

#define QUEUE                                                                              \
    "{\"name\": \"q\", \"gpu\": {\"quota\": 2, \"limit\": -1, \"over_quota_weight\": 1}, " \
    "\"cpu\": {\"quota\": -1, \"limit\": -1, \"over_quota_weight\": 1}, "                  \
    "\"memory\": {\"quota\": -1, \"limit\": -1, \"over_quota_weight\": 1}"
#define HEAD                                                                        \
    "{\"id\": \"t\", \"area\": \"cycle\", \"rounds\": 1, \"stable_rounds\": 0, "    \
    "\"actions\": [\"allocate\"],\n\"queues\": [{\"name\": \"d\", "                 \
    "\"gpu\": {\"quota\": -1, \"limit\": -1, \"over_quota_weight\": -1}, "          \
    "\"cpu\": {\"quota\": -1, \"limit\": -1, \"over_quota_weight\": 1}, "           \
    "\"memory\": {\"quota\": -1, \"limit\": -1, \"over_quota_weight\": 1}}, " QUEUE \
    ", \"parent\": \"d\"}],\n"
#define NODES "\"nodes\": [{\"name\": \"n\", \"gpus\": 2}],\n"
#define WORK(more, pods)                                                     \
    "\"workloads\": [{\"name\": \"w\", \"queue\": \"q\", \"priority\": 50, " \
    "\"preemptible\": true, \"created_s\": -1, " more "\"pods\": [" pods "]}],\n"
#define PENDING      "{\"name\": \"w-0\", \"state\": \"pending\"}"
#define EXPECT_(all) "\"expect\": {" all "}}"

static enum status parse(struct str text, struct arena *arena, struct sim_case *c,
                         struct problems *problems, struct err *err)
{
    struct doc *root = NULL;
    problems_init(problems, arena);
    enum status status = json_doc(text, arena, &root, err);
    if (status == STATUS_OK) {
        case_parse(root, arena, c, problems);
        status = problems->error_count > 0 ? STATUS_INVALID : STATUS_OK;
    }
    return status;
}

/* clang-format off */
static const struct {
    const char *name;
    struct str text, field, problem; /* of the first problem; "" when there is none */
    uint32_t line;
} rows[] = {
    {"a plain case",
     STRS(HEAD NODES WORK("\"gpu\": 1, ", PENDING) EXPECT_("")), STRS(""), STRS(""), 0},
    {"a key nobody knows",
     STRS(HEAD NODES WORK("\"gpus\": 1, ", PENDING) EXPECT_("")), STRS("workloads[0]"), STRS("unknown key \"gpus\""), 4},
    {"a key twice",
     STRS(HEAD NODES WORK("\"gpu\": 1, \"gpu\": 2, ", PENDING) EXPECT_("")), STRS("workloads[0]"), STRS("repeated key \"gpu\""), 4},
    {"a key that is missing",
     STRS(HEAD "\"nodes\": [{\"name\": \"n\"}],\n" WORK("", PENDING) EXPECT_("")), STRS("nodes[0]"), STRS("the key \"gpus\" is missing"), 3},
    {"a word for a number",
     STRS(HEAD NODES WORK("\"gpu\": \"one\", ", PENDING) EXPECT_("")), STRS("workloads[0].gpu"), STRS("expected a number, got a text \"one\""), 4},
    {"a number beyond its range",
     STRS(HEAD "\"nodes\": [{\"name\": \"n\", \"gpus\": 1e9}],\n" WORK("", PENDING) EXPECT_("")), STRS("nodes[0].gpus"), STRS("1e9 is not in [0, 1024]"), 3},
    {"more than one device that is not whole",
     STRS(HEAD NODES WORK("\"gpu\": 1.5, ", PENDING) EXPECT_("")), STRS("workloads[0].gpu"), STRS("1.5 is neither whole nor below 1"), 4},
    {"a share and memory at once",
     STRS(HEAD NODES WORK("\"gpu\": 0.5, \"gpu_memory_mib\": 10, ", PENDING) EXPECT_("")), STRS("workloads[0].gpu"), STRS("give gpu or gpu_memory_mib, not both"), 4},
    {"a state that is none",
     STRS(HEAD NODES WORK("", "{\"name\": \"w-0\", \"state\": \"asleep\"}") EXPECT_("")), STRS("workloads[0].pods[0].state"), STRS("\"asleep\" is none of pending, gated, running, releasing, succeeded, failed, pipelined"), 4},
    {"running nowhere",
     STRS(HEAD NODES WORK("", "{\"name\": \"w-0\", \"state\": \"running\"}") EXPECT_("")), STRS("workloads[0].pods[0]"), STRS("a pod that is running needs a node"), 4},
    {"running on a node that is not there",
     STRS(HEAD NODES WORK("", "{\"name\": \"w-0\", \"state\": \"running\", \"node\": \"m\"}") EXPECT_("")), STRS("workloads[0].pods[0].node"), STRS("no node is named \"m\""), 4},
    {"more running than the node has",
     STRS(HEAD NODES WORK("\"gpu\": 3, ", "{\"name\": \"w-0\", \"state\": \"running\", \"node\": \"n\"}") EXPECT_("")), STRS(""), STRS("pod \"w-0\" holds more than node \"n\" has left"), 4},
    {"two on one device that do not fit",
     STRS(HEAD NODES WORK("\"gpu\": 0.6, ", "{\"name\": \"a\", \"state\": \"running\", \"node\": \"n\", \"devices\": [\"x\"]}, {\"name\": \"b\", \"state\": \"running\", \"node\": \"n\", \"devices\": [\"x\"]}") EXPECT_("")), STRS(""), STRS("pod \"b\" holds more than node \"n\" has left"), 4},
    {"a name twice",
     STRS(HEAD NODES WORK("", PENDING ", " PENDING) EXPECT_("")), STRS("workloads[0].pods[1]"), STRS("the name \"w-0\" is used twice"), 4},
    {"a group the gang does not have",
     STRS(HEAD NODES WORK("\"group\": {\"name\": \"\", \"pods\": [{\"name\": \"a\", \"min\": 1}]}, ", "{\"name\": \"w-0\", \"state\": \"pending\", \"group\": \"b\"}") EXPECT_("")), STRS("workloads[0].pods[0].group"), STRS("the gang has no pods named \"b\""), 4},
    {"actions out of order",
     STRS("{\"id\": \"t\", \"area\": \"cycle\", \"rounds\": 1, \"stable_rounds\": 0, \"actions\": [\"reclaim\", \"allocate\"], \"queues\": [],\n" NODES "\"workloads\": [],\n" EXPECT_("")), STRS("actions"), STRS("\"allocate\" is repeated or out of order"), 1},
    {"an expectation of nobody",
     STRS(HEAD NODES WORK("", PENDING) EXPECT_("\"pods\": {\"x\": {\"state\": \"pending\"}}")), STRS("expect.pods.x"), STRS("no pod is named \"x\""), 5},
    {"a rule without what KAI does",
     STRS(HEAD NODES WORK("", PENDING) "\"differs\": \"R7\", " EXPECT_("")), STRS(""), STRS("\"differs\" and \"kai_expect\" go together"), 5},
    {"a rule that is none",
     STRS(HEAD NODES WORK("", PENDING) "\"differs\": \"R10\", \"kai_expect\": {}, " EXPECT_("")), STRS("differs"), STRS("\"R10\" is none of R1, R2, R3, R4, R5, R6, R7, R8, R9"), 5},
    {"what runs does not return",
     STRS(HEAD NODES WORK("\"gpu\": 1, ", "{\"name\": \"w-0\", \"state\": \"running\", \"node\": \"n\", \"returns\": true}") EXPECT_("")), STRS("workloads[0].pods[0]"), STRS("only a pod that is releasing can return"), 4},
    {"no case at all",
     STRS("[1, 2]"), STRS(""), STRS("expected a map, got a list"), 1},
};
/* clang-format on */

TEST(mistakes)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        struct sim_case c;
        struct problems problems;
        struct err err = {0};
        test_row(rows[i].name);
        enum status status = parse(rows[i].text, &arena, &c, &problems, &err);
        EXPECT_STATUS(status, rows[i].problem.len == 0 ? STATUS_OK : STATUS_INVALID);
        if (problems.count > 0) {
            EXPECT_STR(problems.items[0].text, rows[i].problem);
            EXPECT_STR(problems.items[0].field, rows[i].field);
            EXPECT_I64(problems.items[0].line, rows[i].line);
        }
    }
    test_row(NULL);
    arena_done(&arena);
}

/* clang-format off */
static const struct {
    const char *name;
    struct str text, failure; /* the first one; "" when all holds */
} outcomes[] = {
    {"raw after one round",
     STRS(HEAD NODES WORK("\"gpu\": 1, ", PENDING) EXPECT_("\"pods\": {\"w-0\": {\"state\": \"binding\", \"node\": \"n\"}}, \"queues\": {\"q\": {\"held_gpus\": 1}, \"d\": {\"held_gpus\": 1}}, \"nodes\": {\"n\": {\"idle_gpus\": 1, \"releasing_gpus\": 0}}, \"evictions\": 0")), STRS("")},
    {"a wrong state is said with the reason",
     STRS(HEAD NODES WORK("\"gpu\": 3, ", PENDING) EXPECT_("\"workloads\": {\"w\": {\"state\": \"binding\"}}")), STRS("pod w-0: expected binding, got pending (LargerThanAnyNode)")},
    {"a wrong sum",
     STRS(HEAD NODES WORK("\"gpu\": 0.5, ", PENDING) EXPECT_("\"queues\": {\"q\": {\"held_gpus\": 0.25}}")), STRS("queue q: expected 0.250000 GPUs held, got 0.500000")},
    {"a fair share to six decimals",
     STRS(HEAD NODES WORK("\"gpu\": 0.333, ", PENDING) EXPECT_("\"fair_share\": {\"q\": {\"gpu\": 0.333, \"cpu_milli\": 1000}}")), STRS("")},
    {"a fair share that is a millionth off",
     STRS(HEAD NODES WORK("\"gpu\": 0.333, ", PENDING) EXPECT_("\"fair_share\": {\"q\": {\"gpu\": 0.333001}}")), STRS("queue q: expected a fair share of 0.333001 GPUs, got 0.333000")},
    {"pods that should share a device",
     STRS(HEAD NODES WORK("\"gpu\": 1, ", PENDING ", {\"name\": \"w-1\", \"state\": \"pending\"}") EXPECT_("\"pods\": {\"w-0\": {\"share_with\": [\"w-1\"]}}")), STRS("pods w-0 and w-1: expected on one device")},
    {"labels of pods without devices",
     STRS(HEAD NODES WORK("", "{\"name\": \"w-0\", \"state\": \"running\", \"node\": \"n\", \"devices\": [\"x\"]}, {\"name\": \"w-1\", \"state\": \"running\", \"node\": \"n\", \"devices\": [\"y\"]}") EXPECT_("\"pods\": {\"w-0\": {\"share_with\": [\"w-0\", \"w-1\"]}}")), STRS("pods w-0 and w-1: expected on one device")},
    {"what KAI does instead",
     STRS(HEAD NODES WORK("\"gpu\": 1, ", PENDING) "\"differs\": \"R7\", \"kai_expect\": {\"pods\": {\"w-0\": {\"state\": \"pending\"}}}, " EXPECT_("\"pods\": {\"w-0\": {\"state\": \"binding\"}}")), STRS("")},
    {"no difference from KAI",
     STRS(HEAD NODES WORK("\"gpu\": 1, ", PENDING) "\"differs\": \"R7\", \"kai_expect\": {\"pods\": {\"w-0\": {\"state\": \"binding\"}}}, " EXPECT_("")), STRS("what kai_expect says holds as well: the case does not differ")},
    {"one eviction too few",
     STRS(HEAD NODES WORK("\"gpu\": 1, ", PENDING) EXPECT_("\"evictions\": 1")), STRS("expected 1 evictions, got 0")},
};
/* clang-format on */

TEST(outcomes_are_compared)
{
    struct arena arena;
    arena_init(&arena, 0);
    for (uint32_t i = 0; i < COUNT_OF(outcomes); i++) {
        struct sim_case c;
        struct case_result result;
        struct problems problems;
        struct err err = {0};
        test_row(outcomes[i].name);
        REQUIRE_OK(parse(outcomes[i].text, &arena, &c, &problems, &err), &err);
        case_run(&c, &arena, &result);
        EXPECT_STR(result.failures.count > 0 ? result.failures.items[0].text : STR(""),
                   outcomes[i].failure);
    }
    test_row(NULL);
    arena_done(&arena);
}

TEST(rounds_are_carried)
{
    struct arena arena;
    struct sim_case c;
    struct case_result result;
    struct problems problems;
    struct err err = {0};
    arena_init(&arena, 0);
    struct str text = STR(HEAD NODES WORK("\"gpu\": 2, ", "{\"name\": \"w-0\", \"state\": "
                                                          "\"releasing\", \"node\": \"n\"}")
                              EXPECT_("\"workloads\": {\"w\": {\"state\": \"running\"}}"));
    REQUIRE_OK(parse(text, &arena, &c, &problems, &err), &err);
    c.rounds =
        2; /* gone, made anew and pending after the first; placed and running after the next */
    c.stable_rounds = 3;
    case_run(&c, &arena, &result);
    EXPECT_I64(result.failures.count, 0);
    EXPECT_I64(result.rounds_run, 5);
    EXPECT_I64(case_world_held(&c.world, 0), 2 * DEVICE_SHARE);
    arena_done(&arena);
}

TEST_MAIN()

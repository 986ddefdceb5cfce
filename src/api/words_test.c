// SPDX-License-Identifier: Apache-2.0
#include "api/words.h"

#include "base/test.h"

TEST(every_code_has_a_sentence_that_ends)
{
    for (uint32_t code = 1; code < REASON_COUNT; code++) {
        struct why why = {.code = code, .pool = STR("p"), .until_ms = -1};
        struct buf out;
        buf_init(&out, 4096);
        test_row(reason_name((enum reason_code)code).ptr);
        EXPECT(words_has((enum reason_code)code));
        words_why(&why, &out);
        EXPECT(str_ends(buf_view(&out), STR(".")));
        EXPECT(str_find(buf_view(&out), '{') == out.len);
        buf_done(&out);
    }
    test_row(NULL);
}

static struct str remedy_sentence(struct buf *out, struct remedy_told told)
{
    buf_init(out, 4096);
    words_remedy(&told, out);
    return buf_view(out);
}

TEST(every_remedy_has_a_sentence_that_ends)
{
    for (uint32_t kind = 1; kind < REMEDY_COUNT; kind++) {
        struct buf out;
        struct remedy_told told = {
            .remedy = {.kind = (enum remedy_kind)kind, .until_ms = 1}
        };
        struct str text = remedy_sentence(&out, told);
        test_row(remedy_name((enum remedy_kind)kind).ptr);
        EXPECT(text.len > 20 && str_ends(text, STR(".")));
        EXPECT(str_find(text, '{') == text.len);
        buf_done(&out);
    }
    test_row(NULL);
}

TEST(remedies)
{
    struct remedy_workload holders[] = {
        {.name = STR("one")}, {.name = STR("two")}, {.name = STR("three")}};
    const struct {
        const char *name;
        struct remedy_told told;
        struct str want;
    } rows[] = {
        {"it does not wait",                                         {.remedy = {.outcome = REMEDY_NOT_WAITING}}, STR("")},
        {"nothing is needed",
         {.remedy = {.outcome = REMEDY_NOT_NEEDED, .at_once = true}},
         STR("Nothing has to change: the next round gives it its place.")                                                },
        {"nothing is enough",
         {.remedy = {.outcome = REMEDY_NO_SINGLE}},
         STR("No single change would start it.")                                                                         },
        {"nothing was found in time",
         {.remedy = {.outcome = REMEDY_NO_SINGLE, .exhausted = true, .trials = 16}},
         STR("No single change would start it, of those that 16 attempts had time for.")                                 },
        {"fewer devices",
         {.remedy = {.kind = REMEDY_DEVICES, .from = 4, .to = 1}},
         STR("It would start with 1 GPU a pod instead of 4 GPUs.")                                                       },
        {"a maximum at several levels",
         {.remedy = {.kind = REMEDY_LIMIT, .from = 14000, .to = 28000, .path = true},
          .queue = STR("a"),
          .pool = STR("p")},
         STR("It would start if project a might hold 4 GPUs in node pool p instead of 2 GPUs, and "
             "whatever is above it 2 GPUs more.")                                                                        },
        {"a guarantee by which others are stopped",
         {.remedy = {.kind = REMEDY_GUARANTEE,
                     .resource = RES_CPU,
                     .from = 1000,
                     .to = 2500,
                     .stopped = 2},
          .queue = STR("d"),
          .queue_is_department = true,
          .pool = STR("p")},
         STR("It would start if department d were guaranteed 2.5 CPU cores in node pool p instead "
             "of 1 CPU core; 2 pods of others would be stopped for it.")                                                 },
        {"time",
         {.remedy = {.kind = REMEDY_WAIT, .until_ms = 1796079600000},
          .other = {.name = STR("one")}},
         STR("Nothing has to change: as things are, it gets its place at "
             "2026-11-30T23:00:00.000Z, when one ends as it declared.")                                                  },
        {"devices held by several",
         {.remedy = {.kind = REMEDY_FREE, .to = 2, .exhausted = true, .trials = 200},
          .node = STR("n1"),
          .holders = holders,
          .holders_count = 3},
         STR("It would start if 2 GPUs of node n1, held by one, two and three, were free (the "
             "smallest found in 200 attempts).")                                                                         },
        {"devices held by one who may be named and two who may not",
         {.remedy = {.kind = REMEDY_FREE, .to = 1},
          .node = STR("n1"),
          .holders = holders,
          .holders_count = 1,
          .holders_hidden = 2},
         STR("It would start if 1 GPU of node n1, held by one and 2 other workloads, were free.")                        },
        {"one who may not be named",
         {.remedy = {.kind = REMEDY_END}},
         STR("It would start if another workload ended.")                                                                },
        {"what is held is no device",
         {.remedy = {.kind = REMEDY_FREE},
          .node = STR("n1"),
          .holders = holders,
          .holders_count = 2},
         STR("It would start if one and two left node n1.")                                                              },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out;
        test_row(rows[i].name);
        EXPECT_STR(remedy_sentence(&out, rows[i].told), rows[i].want);
        buf_done(&out);
    }
    test_row(NULL);
}

TEST(sentences)
{
    struct why_nodes nodes[] = {
        {NODE_REASON_DEVICES,   3},
        {NODE_REASON_NOT_READY, 1}
    };
    const struct {
        const char *name;
        struct why why;
        struct str want;
    } rows[] = {
        {"none",                                {.code = REASON_NONE},                    STR("")},
        {"non-preemptible above the guarantee",
         {.code = REASON_NON_PREEMPTIBLE_OVER_QUOTA,
          .pool = STR("validation"),
          .queue = STR("production"),
          .requested = 7000,
          .held = 14000,
          .bound = 14000},
         STR("It is non-preemptible and asks for 1 GPU; project production holds 2 GPUs "
             "non-preemptibly in node pool validation, and non-preemptible work stays inside its "
             "guarantee of 2 GPUs.")                                                             },
        {"a department's limit on memory",
         {.code = REASON_OVER_LIMIT,
          .pool = STR("p"),
          .queue = STR("d"),
          .queue_is_department = true,
          .resource = RES_MEMORY,
          .requested = INT64_C(3) << 29,
          .held = 0,
          .bound = 1 << 30},
         STR("It asks for 1.5 GiB of memory; department d holds 0 bytes of memory in node pool p "
             "and may hold at most 1 GiB of memory.")                                            },
        {"the fair share is reached",
         {.code = REASON_FAIR_SHARE_REACHED,
          .pool = STR("x"),
          .queue = STR("p"),
          .requested = 28000,
          .held = 21000,
          .bound = 28000},
         STR("It asks for 4 GPUs; with that project p would hold 7 GPUs in node pool x, above its "
             "fair share of 4 GPUs, so it may not take from others.")                            },
        {"fractions and causes of nodes",
         {.code = REASON_NO_NODE_FITS,
          .pool = STR("p"),
          .requested = 3500,
          .bound = 700,
          .nodes = nodes,
          .nodes_count = 2},
         STR("No node of node pool p has 0.5 GPUs free for a pod; the most free on one is 0.1 GPUs "
             "(3 nodes: not enough devices free; 1 node: not ready).")                           },
        {"counts",
         {.code = REASON_GANG_INCOMPLETE, .pool = STR("p"), .requested = 8, .held = 5},
         STR("8 of its pods start together or not at all; 5 find a place in node pool p.")       },
        {"a time",
         {.code = REASON_PREEMPTION_DELAY, .until_ms = 1796079600000},
         STR("It may not yet take from others until 2026-11-30T23:00:00.000Z.")                  },
        {"a queue first",
         {.code = REASON_QUEUE_NOT_LEAF, .queue = STR("d"), .queue_is_department = true},
         STR("Department d has others below it; work is submitted to those.")                    },
        {"of a newer weir",
         {.code = 9999},
         STR("For a reason this weir does not know (code 9999).")                                },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct buf out;
        buf_init(&out, 4096);
        test_row(rows[i].name);
        words_why(&rows[i].why, &out);
        EXPECT_STR(buf_view(&out), rows[i].want);
        buf_done(&out);
    }
    test_row(NULL);
}

TEST_MAIN()

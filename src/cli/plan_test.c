// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/plan_text_test.h"
#include "io/file.h"
#include "model/plan_random.h"

enum { ROUNDS = 200 };

/* what is written is read as the same plan */
TEST(yaml_round_trip)
{
    struct prng r;
    prng_init(&r, test_seed());
    for (int i = 0; i < ROUNDS; i++) {
        struct arena arena = {0};
        struct plan plan;
        struct plan_file file;
        CLEANUP(buf_done) struct buf text;
        CLEANUP(buf_done) struct buf again;
        buf_init(&text, TEXT_MAX);
        buf_init(&again, TEXT_MAX);
        plan_random(&r, &arena, &plan);
        plan_to_yaml(&plan, &text);
        plan_of(buf_view(&text), &arena, &file);
        if (file.problems.error_count > 0) {
            CLEANUP(buf_done) struct buf out;
            buf_init(&out, TEXT_MAX);
            plan_problems_print(&file, &out);
            EXPECT_STR(buf_view(&out), STR(""));
        }
        EXPECT_STR(record_diff(&record_plan, &file.plan, &plan, &arena), STR(""));
        plan_to_yaml(&file.plan, &again);
        EXPECT_STR(buf_view(&again), buf_view(&text));
        arena_done(&arena);
    }
}

/* each pair means the same */
TEST(spelling_does_not_matter)
{
    static const struct {
        const char *name;
        struct str a, b;
    } rows[] = {
        {"thousandths of a core",                       STRS(PROJECT("guaranteed_cpus: 12000m")),
         STRS(PROJECT("guaranteed_cpus: 12"))                                                                                                            },
        {"decimals",                                    STRS(PROJECT("guaranteed_gpus: 2.50")),
         STRS(PROJECT("guaranteed_gpus: 2500m"))                                                                                                         },
        {"quotes",                                      STRS(PROJECT("guaranteed_gpus: \"2\"")),                      STRS(PROJECT("guaranteed_gpus: 2"))},
        {"memory units",                                STRS(PROJECT("guaranteed_memory: 1Ti")),
         STRS(PROJECT("guaranteed_memory: 1024Gi"))                                                                                                      },
        {"memory bytes",                                STRS(PROJECT("max_memory: 1.5Ki, guaranteed_memory: 0")),
         STRS(PROJECT("max_memory: 1536, guaranteed_memory: 0Gi"))                                                                                       },
        {"decimal units",                               STRS(PROJECT("max_memory: 2G")),                              STRS(PROJECT("max_memory: 2000M")) },
        {"times",                                       STRS(PROJECT("reclaim_min_runtime: 1h30m")),
         STRS(PROJECT("reclaim_min_runtime: 5400s"))                                                                                                     },
        {"zero time",                                   STRS(PROJECT("reclaim_min_runtime: 0")),
         STRS(PROJECT("reclaim_min_runtime: 0ms"))                                                                                                       },
        {"weight by word",                              STRS(PROJECT("over_quota_weight: high")),
         STRS(PROJECT("over_quota_weight: 3"))                                                                                                           },
        {"the weight left out",                         STRS(PROJECT("guaranteed_gpus: 2")),
         STRS(PROJECT("guaranteed_gpus: 2, over_quota_weight: medium"))                                                                                  },
        {"rank by number",                              STRS(PROJECT("rank: very-high")),                             STRS(PROJECT("rank: 150"))         },
        {"defaults written out",
         STRS(PROJECT("allow_over_quota: true, max_gpus: unlimited, max_cpus: unlimited, "
                      "guaranteed_cpus: unlimited, rank: medium-low, guaranteed_gpus: 0")),
         STRS(PROJECT(""))                                                                                                                               },
        {"no over-quota: the guarantee is the maximum",
         STRS(PROJECT("guaranteed_gpus: 2, allow_over_quota: false, max_gpus: 2")),
         STRS(PROJECT("guaranteed_gpus: 2, allow_over_quota: false"))                                                                                    },
        {"order of keys",                               STRS(PROJECT("max_gpus: 3, guaranteed_gpus: 2")),
         STRS(PROJECT("guaranteed_gpus: 2, max_gpus: 3"))                                                                                                },
        {"order of objects, and the selector",
         STRS("node_pools: [{name: b, node_selector: {runai.node-pool: b}}, {name: a}]\n"),
         STRS("node_pools:\n  - name: a\n  - name: b\n")                                                                                                 },
        {"time-based fair share by a word",
         STRS("node_pools: [{name: a, time_based_fair_share: true}]\n"),
         STRS("node_pools: [{name: a, time_based_fair_share: {window: 7d, k: 1, half_life: 0s, "
              "very_low_factor: 1, window_type: sliding}}]\n")                                                                                           },
        {"time-based fair share off",
         STRS("node_pools: [{name: a, time_based_fair_share: {enabled: false}}]\n"),
         STRS("node_pools: [{name: a}]\n")                                                                                                               },
        {"placement left out",                          STRS("node_pools: [{name: a, placement: {gpu: binpack}}]\n"),
         STRS("node_pools: [{name: a}]\n")                                                                                                               },
        {"an alias",
         STRS("organization:\n  departments:\n    - {name: a, node_pool_quotas: &q {default: "
              "{guaranteed_gpus: 1}}}\n    - {name: b, node_pool_quotas: *q}\n"),
         STRS("organization:\n  departments:\n    - {name: a, node_pool_quotas: {default: "
              "{guaranteed_gpus: 1}}}\n    - {name: b, node_pool_quotas: {default: "
              "{guaranteed_gpus: 1}}}\n")                                                                                                                },
        {"nothing for an empty list",                   STRS("organization:\n  departments:\nnode_pools:\n"),
         STRS("organization: {}\n")                                                                                                                      },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena = {0};
        struct plan_file a, b;
        uint32_t count = 0;
        test_row(rows[i].name);
        plan_of(rows[i].a, &arena, &a);
        plan_of(rows[i].b, &arena, &b);
        EXPECT_I64(a.problems.error_count, 0);
        EXPECT_I64(b.problems.error_count, 0);
        plan_diff(&a.plan, &b.plan, true, &arena, &count);
        EXPECT_I64(count, 0);
        arena_done(&arena);
    }
    test_row(NULL);
}

/* ---- reading files ---- */

static const char *made_file(const char *name, struct str bytes, struct arena *arena)
{
    struct err err = {0};
    const char *dir = test_tmp_dir();
    CLEANUP(file_close) int dir_fd = open(dir, O_DIRECTORY | O_CLOEXEC);
    REQUIRE_OK(file_write(dir_fd, name, bytes, 0600, false, &err), &err);
    return arena_cstr(arena, arena_printf(arena, "%s/%s", dir, name));
}

TEST(examples)
{
    static const char *const names[] = {"tenant-plan.yaml", "validation.yaml", "production.yaml"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct arena arena = {0};
        struct plan_file file;
        struct err err = {0};
        test_row(names[i]);
        const char *path = arena_cstr(&arena, arena_printf(&arena, "%s/%s", EXAMPLES, names[i]));
        REQUIRE_OK(plan_file_read(path, &arena, &file, &err), &err);
        plan_file_check(&file, NULL, false, NULL, 0);
        EXPECT_I64(file.problems.count, 0);
        EXPECT(file.plan.projects_count > 0);
        arena_done(&arena);
    }
    test_row("a worksheet that lists no node pools");
    struct arena arena = {0};
    struct plan_file file;
    struct err err = {0};
    const char *path = arena_cstr(&arena, arena_printf(&arena, "%s/tenant-plan.yaml", EXAMPLES));
    REQUIRE_OK(plan_file_read(path, &arena, &file, &err), &err);
    uint32_t first = doc_get(file.root, STR("organization"))->key_line;
    struct str worksheet = file.bytes;
    for (struct str line; first > 1 && str_split(&worksheet, '\n', &line); first--) {
    }
    REQUIRE(str_starts(worksheet, STR("organization:")));
    plan_of(worksheet, &arena, &file);
    EXPECT_I64(file.problems.error_count, 0);
    EXPECT_I64(file.problems.count, 2); // the two pools it names
    EXPECT_I64(file.plan.pools_count, 2);
    EXPECT_I64(file.plan.departments_count, 2);
    EXPECT_I64(file.plan.projects_count, 3);
    test_row(NULL);
    arena_done(&arena);
}

TEST(files_that_cannot_be_read)
{
    struct arena arena = {0};
    struct plan_file file;
    struct err err = {0};
    const char *dir = test_tmp_dir();

    test_row("no such file");
    EXPECT_STATUS(plan_file_read("/nowhere/plan.yaml", &arena, &file, &err), STATUS_UNKNOWN);
    EXPECT(err.hint[0] != '\0');
    test_row("a directory");
    EXPECT_STATUS(plan_file_read(dir, &arena, &file, &err), STATUS_IO);

    test_row("100 MiB");
    const char *huge = arena_cstr(&arena, arena_printf(&arena, "%s/huge.yaml", dir));
    int fd = open(huge, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    REQUIRE(fd >= 0);
    EXPECT(ftruncate(fd, (off_t)100 << 20) == 0);
    close(fd);
    EXPECT_STATUS(plan_file_read(huge, &arena, &file, &err), STATUS_TOO_LARGE);
    test_row(NULL);
    arena_done(&arena);
}

TEST(what_a_person_sees)
{
    struct arena arena = {0};
    struct plan_file file;
    struct err err = {0};
    CLEANUP(buf_done) struct buf out;
    buf_init(&out, TEXT_MAX);
    const char *path = made_file(
        "p.yaml", STR("node_pools:\r\n  - name: \"h\\e[2J\"\r\n    plcement: {}\r\n"), &arena);
    REQUIRE_OK(plan_file_read(path, &arena, &file, &err), &err);
    file.path = STR("p.yaml");
    plan_problems_print(&file, &out);
    EXPECT_STR(buf_view(&out),
               STR("p.yaml:2:11: error: node_pools[0].name: expected a name: a lower-case letter, "
                   "then lower-case letters, digits and hyphens, at most 63 characters, got \"h "
                   "[2J\"\n"
                   "      2 |   - name: \"h\\e[2J\"\n"
                   "        |           ^\n"
                   "        = for example h-2j\n"
                   "p.yaml:3:5: error: node_pools[0].plcement: unknown key \"plcement\"\n"
                   "      3 |     plcement: {}\n"
                   "        |     ^\n"
                   "        = did you mean placement?\n"
                   "p.yaml: 2 errors, 0 warnings\n"));

    test_row("a long line is cut around the place");
    buf_clear(&out);
    struct arena_mark mark = arena_mark(&arena);
    struct str line = arena_printf(&arena, "node_pools: [%*s{nam: a}%*s]\n", 500, "", 500, "");
    plan_of(line, &arena, &file);
    plan_problems_print(&file, &out);
    struct str rest = buf_view(&out);
    struct str part = {0};
    while (str_split(&rest, '\n', &part)) {
        EXPECT(part.len <= 150);
    }
    arena_rewind(&arena, mark);
    test_row(NULL);
    arena_done(&arena);
}

TEST(changes_as_a_tree)
{
    struct arena arena = {0};
    struct plan_file a, b;
    uint32_t count = 0;
    CLEANUP(buf_done) struct buf out;
    buf_init(&out, TEXT_MAX);
    plan_of(STR(PROJECT("guaranteed_gpus: 2") "        - name: q\n"), &arena, &a);
    plan_of(STR(PROJECT("guaranteed_gpus: 0, rank: high") "        - name: r\n"
                                                          "          access_group: g\n"),
            &arena, &b);
    struct plan_change *changes = plan_diff(&a.plan, &b.plan, true, &arena, &count);
    plan_changes_print(changes, count, &out);
    EXPECT_STR(buf_view(&out), STR("~ project p\n"
                                   "    pool h100\n"
                                   "        guaranteed_gpus         2 -> 0\n"
                                   "        rank                    medium-low -> high\n"
                                   "- project q\n"
                                   "+ project r\n"
                                   "    department              dep\n"
                                   "    access_group            g\n"
                                   "1 to add, 1 to change, 1 to remove\n"));
    buf_clear(&out);
    plan_changes_print(NULL, 0, &out);
    EXPECT_STR(buf_view(&out), STR("no changes\n"));
    arena_done(&arena);
}

TEST(the_shortest_text)
{
    struct arena arena = {0};
    struct plan_file file;
    CLEANUP(buf_done) struct buf out;
    buf_init(&out, TEXT_MAX);
    plan_of(STR("organization:\n"
                "  departments:\n"
                "    - projects:\n"
                "        - name: b\n"
                "          node_pool_quotas:\n"
                "            x: {allow_over_quota: false, max_gpus: 1, guaranteed_gpus: 1.0}\n"
                "          default_priority: 150\n"
                "      node_pool_quotas: {x: {guaranteed_gpus: 1, over_quota_weight: 2}}\n"
                "      name: a\n"
                "node_pools:\n"
                "  - {name: x, placement: {cpu: spread}, node_selector: {gpu: \"1\"}}\n"
                "  - {name: y, time_based_fair_share: {cron: 0 0 * * mon, window_type: cron, "
                "k: 1.5}}\n"
                "  - {name: z, time_based_fair_share: {enabled: false, window_type: tumbling, "
                "start: 2026-01-05T01:00:00+01:00, window: 24h, half_life: 12h}}\n"
                "  - {name: w, time_based_fair_share: {enabled: true}}\n"),
            &arena, &file);
    EXPECT_I64(file.problems.count, 0);
    plan_to_yaml(&file.plan, &out);
    EXPECT_STR(buf_view(&out), STR("node_pools:\n"
                                   "  - name: w\n"
                                   "    time_based_fair_share: true\n"
                                   "  - name: x\n"
                                   "    node_selector: {gpu: \"1\"}\n"
                                   "    placement:\n"
                                   "      cpu: spread\n"
                                   "  - name: y\n"
                                   "    time_based_fair_share:\n"
                                   "      enabled: true\n"
                                   "      window_type: cron\n"
                                   "      cron: \"0 0 * * mon\"\n"
                                   "      k: 1.5\n"
                                   "  - name: z\n"
                                   "    time_based_fair_share:\n"
                                   "      enabled: false\n"
                                   "      window_type: tumbling\n"
                                   "      window: 1d\n"
                                   "      start: 2026-01-05T00:00:00Z\n"
                                   "      half_life: 12h\n"
                                   "organization:\n"
                                   "  departments:\n"
                                   "    - name: a\n"
                                   "      node_pool_quotas:\n"
                                   "        x:\n"
                                   "          guaranteed_gpus: 1\n"
                                   "      projects:\n"
                                   "        - name: b\n"
                                   "          default_priority: very-high\n"
                                   "          node_pool_quotas:\n"
                                   "            x:\n"
                                   "              guaranteed_gpus: 1\n"
                                   "              allow_over_quota: false\n"));
    arena_done(&arena);
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
// What is wrong in a plan file, and where.
#include "cli/plan_text_test.h"
#include "model/limits.h"

struct bad {
    const char *name;
    struct str in;
    uint32_t line, col;
    enum severity severity;
    struct str field, text, hint; // of the first problem of this severity; text by its beginning
};

static const struct problem *first_of(const struct problems *problems, enum severity severity)
{
    for (uint32_t i = 0; i < problems->count; i++) {
        if (problems->items[i].severity == severity) {
            return &problems->items[i];
        }
    }
    return NULL;
}

static void expect_problem(const struct bad *row)
{
    struct arena arena = {0};
    struct plan_file file;
    test_row(row->name);
    plan_of(row->in, &arena, &file);
    const struct problem *p = first_of(&file.problems, row->severity);
    EXPECT_I64(plan_file_exit(&file), file.problems.error_count > 0);
    EXPECT((file.problems.error_count > 0) == (row->severity == SEVERITY_ERROR));
    if (EXPECT(p != NULL)) {
        EXPECT_I64(p->line, row->line);
        EXPECT_I64(p->col, row->col);
        EXPECT_STR(p->field, row->field);
        EXPECT_STR(str_sub(p->text, 0, row->text.len), row->text);
        EXPECT_STR(p->hint, row->hint);
    }
    test_row(NULL);
    arena_done(&arena);
}

#define QUOTA_FIELD "organization.departments[0].projects[0].node_pool_quotas.h100"
#define BAD_QUOTA(name, quota, col, key, text, hint)         \
    {name,           STRS(PROJECT(quota)),  9,          col, \
     SEVERITY_ERROR, STRS(QUOTA_FIELD key), STRS(text), STRS(hint)}
#define WARNED_QUOTA(name, quota, col, key, text, hint)                                            \
    {name,      STRS(PROJECT(quota)), 9, col, SEVERITY_WARNING, STRS(QUOTA_FIELD key), STRS(text), \
     STRS(hint)}
#define GPUS_WANTED "expected a number of GPUs from 0 to 1000000, at most three decimals, got "

TEST(bad_values_of_quotas)
{
    static const struct bad rows[] = {
        BAD_QUOTA("negative", "guaranteed_gpus: -3", 37, ".guaranteed_gpus", GPUS_WANTED "-3",
                  "for example 2 or 0.5"),
        BAD_QUOTA("2^62", "guaranteed_gpus: 4611686018427387904", 37, ".guaranteed_gpus",
                  GPUS_WANTED "4611686018427387904", "for example 2 or 0.5"),
        BAD_QUOTA("beyond 64 bits", "guaranteed_gpus: 99999999999999999999", 37, ".guaranteed_gpus",
                  GPUS_WANTED "99999999999999999999", "for example 2 or 0.5"),
        BAD_QUOTA("one too many", "guaranteed_gpus: 1000000.001", 37, ".guaranteed_gpus",
                  GPUS_WANTED "1000000.001", "for example 2 or 0.5"),
        BAD_QUOTA("a word", "guaranteed_gpus: eight", 37, ".guaranteed_gpus",
                  GPUS_WANTED "\"eight\"", "for example 2 or 0.5"),
        BAD_QUOTA("a unit of memory", "guaranteed_gpus: 8Gi", 37, ".guaranteed_gpus",
                  GPUS_WANTED "\"8Gi\"", "for example 2 or 0.5"),
        BAD_QUOTA("too exact", "guaranteed_gpus: 0.0001", 37, ".guaranteed_gpus",
                  GPUS_WANTED "0.0001", "for example 2 or 0.5"),
        BAD_QUOTA("an exponent", "guaranteed_gpus: 1e3", 37, ".guaranteed_gpus", GPUS_WANTED "1e3",
                  "for example 2 or 0.5"),
        BAD_QUOTA("a list", "guaranteed_gpus: [8]", 37, ".guaranteed_gpus", GPUS_WANTED "a list",
                  "for example 2 or 0.5"),
        BAD_QUOTA("nothing", "guaranteed_gpus: ", 20, ".guaranteed_gpus", GPUS_WANTED "nothing",
                  "for example 2 or 0.5"),
        BAD_QUOTA("an unlimited guarantee", "guaranteed_gpus: unlimited", 37, ".guaranteed_gpus",
                  GPUS_WANTED "\"unlimited\"", "for example 2 or 0.5"),
        BAD_QUOTA("yes", "allow_over_quota: yes", 38, ".allow_over_quota",
                  "expected true or false, got \"yes\"", "write true"),
        BAD_QUOTA("a weight nearly right", "over_quota_weight: hihg", 39, ".over_quota_weight",
                  "expected lowest, low, medium, high or a number from 0 to 1000, got \"hihg\"",
                  "did you mean high?"),
        BAD_QUOTA("cores with a unit", "guaranteed_cpus: 4Gi", 37, ".guaranteed_cpus",
                  "expected a number of CPU cores from 0 to 100000000 (12, 0.5 or 500m), or "
                  "unlimited, got \"4Gi\"",
                  "for example 16 or 500m"),
        BAD_QUOTA("a unknown unit of memory", "max_memory: 4GB", 32, ".max_memory",
                  "expected an amount of memory from 0 to 1Ei, with a unit (512Mi, 64Gi, 1Ti), or "
                  "unlimited, got \"4GB\"",
                  "for example 64Gi"),
        BAD_QUOTA("too much memory", "max_memory: 2Ei", 32, ".max_memory",
                  "expected an amount of memory from 0 to 1Ei", "for example 64Gi"),
        BAD_QUOTA("a time without unit", "reclaim_min_runtime: 300", 41, ".reclaim_min_runtime",
                  "expected a time from 0 to 365d with units (90s, 15m, 1h30m), got 300",
                  "for seconds write 300s"),
        BAD_QUOTA("too long", "preempt_min_runtime: 366d", 41, ".preempt_min_runtime",
                  "expected a time from 0 to 365d", ""),
        BAD_QUOTA("a rank nearly right", "rank: veryhigh", 26, ".rank", "expected very-low, low",
                  "did you mean very-high?"),
        BAD_QUOTA("unknown key", "guaranted_gpus: 2", 20, ".guaranted_gpus",
                  "unknown key \"guaranted_gpus\"", "did you mean guaranteed_gpus?"),
        BAD_QUOTA("a key twice", "rank: low, rank: low", 31, ".rank", "this key is here twice",
                  "the first is on line 9; keep one"),
        BAD_QUOTA("maximum below guarantee", "guaranteed_gpus: 2, max_gpus: 1", 50, ".max_gpus",
                  "the maximum of 1 GPU is below the guarantee of 2 GPUs",
                  "raise the maximum or lower the guarantee"),
        BAD_QUOTA("maximum below guarantee without over-quota",
                  "guaranteed_gpus: 2, max_gpus: 1, allow_over_quota: false", 50, ".max_gpus",
                  "the maximum of 1 GPU is below the guarantee of 2 GPUs",
                  "raise the maximum or lower the guarantee"),
        BAD_QUOTA("maximum of memory below guarantee", "guaranteed_memory: 2Gi, max_memory: 1Gi",
                  56, ".max_memory",
                  "the maximum of 1Gi of memory is below the guarantee of 2Gi of memory",
                  "raise the maximum or lower the guarantee"),
        WARNED_QUOTA("weight without over-quota", "allow_over_quota: false, over_quota_weight: low",
                     64, ".over_quota_weight", "over-quota is off here: the weight has no effect",
                     "remove it, or set allow_over_quota: true"),
        WARNED_QUOTA("a maximum without over-quota",
                     "guaranteed_gpus: 1, allow_over_quota: false, max_gpus: 4", 75, ".max_gpus",
                     "over-quota is off here: the maximum is the guarantee of 1, and 4 is never "
                     "reached",
                     "remove it, or set allow_over_quota: true"),
        WARNED_QUOTA("memory without unit", "max_memory: 64", 32, ".max_memory", "this is 64 bytes",
                     "for gibibytes write 64Gi"),
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        expect_problem(&rows[i]);
    }
}

#define DEPARTMENTS "organization:\n  departments:\n"
#define BAD(name, in, line, col, field, text, hint) \
    {name, STRS(in), line, col, SEVERITY_ERROR, STRS(field), STRS(text), STRS(hint)}
#define WARNED(name, in, line, col, field, text, hint) \
    {name, STRS(in), line, col, SEVERITY_WARNING, STRS(field), STRS(text), STRS(hint)}

TEST(bad_files)
{
    static const struct bad rows[] = {
        BAD("an empty file", "", 1, 1, "", "the file is empty",
            "a plan begins with organization: or node_pools:"),
        BAD("a list", "- a\n", 1, 1, "", "expected a map, got a list", ""),
        BAD("an unknown key at the top", "organisation: {}\n", 1, 1, "organisation",
            "unknown key \"organisation\"", "did you mean organization?"),
        BAD("far from every key", "apiVersion: v1\n", 1, 1, "apiVersion",
            "unknown key \"apiVersion\"", "known here: organization, node_pools"),
        BAD("no YAML", "a: [", 2, 1, "", "flow sequence without a closing bracket",
            "in the list that begins on line 1"),
        BAD("a map for a list", "node_pools: {a: 1}\n", 1, 13, "node_pools",
            "expected a list, got a map", ""),
        BAD("a department without name", DEPARTMENTS "    - owner_group: x\n", 3, 7,
            "organization.departments[0]", "a department needs a name",
            "add name: and the name of the department"),
        BAD("a name with a slash", DEPARTMENTS "    - name: a/b\n", 3, 13,
            "organization.departments[0].name", "expected a name: a lower-case letter",
            "for example a-b"),
        BAD("upper case and underscore", DEPARTMENTS "    - name: Team_A\n", 3, 13,
            "organization.departments[0].name", "expected a name: a lower-case letter",
            "for example team-a"),
        BAD("a number as name", DEPARTMENTS "    - name: 7\n", 3, 13,
            "organization.departments[0].name", "expected a name: a lower-case letter",
            "for example team-a"),
        BAD("a name of 64 characters",
            DEPARTMENTS
            "    - name: a123456789012345678901234567890123456789012345678901234567890123\n",
            3, 13, "organization.departments[0].name", "expected a name: a lower-case letter",
            "for example a12345678901234567890123456789012345678901234567890123456789012"),
        BAD("a project of 58 characters",
            DEPARTMENTS "    - name: d\n      projects:\n        - name: "
                        "a123456789012345678901234567890123456789012345678901234567\n",
            5, 17, "organization.departments[0].projects[0].name",
            "expected a name: a lower-case letter",
            "for example a12345678901234567890123456789012345678901234567890123456"),
        BAD("a department twice", DEPARTMENTS "    - name: d\n    - name: d\n", 4, 13,
            "organization.departments[1].name", "department \"d\" is here twice (first on line 3)",
            "names are unique in the whole plan; keep one or rename it"),
        BAD("a project in two departments",
            DEPARTMENTS "    - {name: d, projects: [{name: p}]}\n"
                        "    - {name: e, projects: [{name: p}]}\n",
            4, 35, "organization.departments[1].projects[0].name",
            "project \"p\" is here twice (first on line 3)",
            "names are unique in the whole plan; keep one or rename it"),
        BAD("a pool twice", "node_pools: [{name: a}, {name: a}]\n", 1, 32, "node_pools[1].name",
            "node pool \"a\" is here twice (first on line 1)",
            "names are unique in the whole plan; keep one or rename it"),
        BAD("a pool twice in quotas",
            DEPARTMENTS "    - name: d\n      node_pool_quotas:\n        default: {}\n        "
                        "default: {}\n",
            6, 9, "organization.departments[0].node_pool_quotas.default",
            "node pool \"default\" is here twice", "the first is on line 5; keep one"),
        BAD("two labels", "node_pools: [{name: a, node_selector: {x: y, z: w}}]\n", 1, 39,
            "node_pools[0].node_selector", "expected exactly one node label, key: value, got a map",
            "for example {runai.node-pool: a100-shared}"),
        BAD("no label", "node_pools: [{name: a, node_selector: {}}]\n", 1, 39,
            "node_pools[0].node_selector", "expected exactly one node label",
            "for example {runai.node-pool: a100-shared}"),
        BAD("a label no node can have", "node_pools: [{name: a, node_selector: {a b: c}}]\n", 1, 39,
            "node_pools[0].node_selector", "expected exactly one node label",
            "for example {runai.node-pool: a100-shared}"),
        BAD("the same nodes in two pools",
            "node_pools: [{name: a}, {name: b, node_selector: {runai.node-pool: a}}]\n", 1, 50,
            "node_pools[1].node_selector",
            "node pools \"a\" and \"b\" select the same nodes, runai.node-pool=a",
            "a node is in one pool: give one of them another label"),
        BAD("a selector for default", "node_pools: [{name: default, node_selector: {x: y}}]\n", 1,
            30, "node_pools[0].node_selector",
            "the node pool \"default\" takes the nodes that no other pool selects",
            "remove node_selector, or give the pool another name"),
        BAD("an unknown placement", "node_pools: [{name: a, placement: {gpu: bin-pack}}]\n", 1, 41,
            "node_pools[0].placement.gpu", "expected binpack, spread or pack, got \"bin-pack\"",
            "did you mean binpack?"),
        BAD("packing of work without devices alone",
            "node_pools: [{name: a, placement: {cpu: pack}}]\n", 1, 41,
            "node_pools[0].placement.cpu", "expected binpack or spread, got \"pack\"", ""),
        BAD("a word for a switch", "node_pools: [{name: a, time_based_fair_share: yes}]\n", 1, 47,
            "node_pools[0].time_based_fair_share", "expected true or false, got \"yes\"",
            "write true"),
        BAD("a tumbling window without a start",
            "node_pools: [{name: a, time_based_fair_share: {window_type: tumbling}}]\n", 1, 61,
            "node_pools[0].time_based_fair_share.window_type",
            "a tumbling window needs start, a moment at which one begins",
            "add start, for example 2026-01-05T00:00:00Z"),
        BAD("a start of a sliding window",
            "node_pools: [{name: a, time_based_fair_share: {window: 3d, start: "
            "2026-01-05T00:00:00Z}}]\n",
            1, 67, "node_pools[0].time_based_fair_share.start",
            "start is for tumbling windows only", "remove it, or set window_type: tumbling"),
        BAD("no moments", "node_pools: [{name: a, time_based_fair_share: {window_type: cron}}]\n",
            1, 61, "node_pools[0].time_based_fair_share.window_type",
            "a window of type cron needs cron, the moments at which one begins",
            "add cron, for example \"0 0 * * mon\""),
        BAD("moments without their type",
            "node_pools: [{name: a, time_based_fair_share: {cron: 0 0 * * mon}}]\n", 1, 54,
            "node_pools[0].time_based_fair_share.cron", "cron is for windows of that type only",
            "remove it, or set window_type: cron"),
        BAD("a length of moments",
            "node_pools: [{name: a, time_based_fair_share: {window_type: cron, cron: 0 0 * * mon, "
            "window: 1d}}]\n",
            1, 94, "node_pools[0].time_based_fair_share.window",
            "a window of type cron lasts from one moment to the next", "remove window"),
        BAD("no cron",
            "node_pools: [{name: a, time_based_fair_share: {window_type: cron, cron: 0 24 * * "
            "*}}]\n",
            1, 73, "node_pools[0].time_based_fair_share.cron",
            "expected the five fields of a crontab (minute, hour, day, month, day of the week), at "
            "most 256 characters, got \"0 24 * * *\"",
            "for example \"0 0 * * mon\", every Monday at midnight UTC"),
        BAD("a short window", "node_pools: [{name: a, time_based_fair_share: {window: 30m}}]\n", 1,
            56, "node_pools[0].time_based_fair_share.window",
            "expected a time from 1h to 92d with units (12h, 7d), got \"30m\"", "for example 7d"),
        BAD("a short half-life",
            "node_pools: [{name: a, time_based_fair_share: {half_life: 5s}}]\n", 1, 59,
            "node_pools[0].time_based_fair_share.half_life",
            "expected 0s, or a time from 1h to 365d with units (12h, 7d), got \"5s\"",
            "for example 7d"),
        BAD("a heavy k", "node_pools: [{name: a, time_based_fair_share: {k: 101}}]\n", 1, 51,
            "node_pools[0].time_based_fair_share.k",
            "expected a number from 0 to 100, at most three decimals, got 101",
            "0: past use does not count, 1: the usual weight"),
        BAD("a factor above one",
            "node_pools: [{name: a, time_based_fair_share: {very_low_factor: 1.5}}]\n", 1, 65,
            "node_pools[0].time_based_fair_share.very_low_factor",
            "expected a number from 0 to 1, at most three decimals, got 1.5",
            "0: such use is not counted, 1: it counts as any other"),
        BAD("a misspelt setting", "node_pools: [{name: a, time_based_fair_share: {windw: 1d}}]\n",
            1, 48, "node_pools[0].time_based_fair_share.windw", "unknown key \"windw\"",
            "did you mean window?"),
        BAD("a date without a time",
            "node_pools: [{name: a, time_based_fair_share: {window_type: tumbling, start: "
            "2026-01-05}}]\n",
            1, 78, "node_pools[0].time_based_fair_share.start",
            "expected a moment after 1970 as in 2026-01-05T00:00:00Z, got \"2026-01-05\"",
            "for example 2026-01-05T00:00:00Z"),
        BAD("an unknown parent", DEPARTMENTS "    - name: alpha\n    - {name: b, parent: alhpa}\n",
            4, 25, "organization.departments[1].parent", "there is no department \"alhpa\"",
            "did you mean alpha?"),
        BAD("a circle", DEPARTMENTS "    - {name: a, parent: b}\n    - {name: b, parent: a}\n", 3,
            25, "organization.departments[0].parent",
            "departments go in a circle: a, under b, under a", "remove parent from one of them"),
        BAD("its own parent", DEPARTMENTS "    - {name: a, parent: a}\n", 3, 25,
            "organization.departments[0].parent", "departments go in a circle: a, under a",
            "remove parent from one of them"),
        BAD("projects above their department",
            DEPARTMENTS "    - name: d\n"
                        "      node_pool_quotas: {default: {guaranteed_gpus: 8}}\n"
                        "      projects:\n"
                        "        - {name: a, node_pool_quotas: {default: {guaranteed_gpus: 6}}}\n"
                        "        - {name: b, node_pool_quotas: {default: {guaranteed_gpus: 6}}}\n",
            4, 53, "organization.departments[0].node_pool_quotas.default.guaranteed_gpus",
            "department \"d\" is guaranteed 8 GPUs in node pool \"default\", but what is below it "
            "is guaranteed 12 GPUs together",
            "raise this to 12 GPUs or lower those below"),
        BAD("B143: a project in a pool its department has nothing in",
            DEPARTMENTS "    - name: d\n"
                        "      projects:\n"
                        "        - {name: a, node_pool_quotas: {default: {guaranteed_gpus: 1}}}\n",
            3, 7, "organization.departments[0].node_pool_quotas.default.guaranteed_gpus",
            "department \"d\" is guaranteed 0 GPUs in node pool \"default\", but what is below it "
            "is guaranteed 1 GPU together",
            "raise this to 1 GPU or lower those below"),
        BAD("B148: a project is held against its own department, not against another",
            DEPARTMENTS
            "    - name: d\n"
            "      node_pool_quotas: {default: {guaranteed_gpus: 8}}\n"
            "      projects: [{name: p, node_pool_quotas: {default: {guaranteed_gpus: 3}}}]\n"
            "    - name: e\n"
            "      node_pool_quotas: {default: {guaranteed_gpus: 2}}\n"
            "      projects: [{name: q, node_pool_quotas: {default: {guaranteed_gpus: 3}}}]\n",
            7, 53, "organization.departments[1].node_pool_quotas.default.guaranteed_gpus",
            "department \"e\" is guaranteed 2 GPUs in node pool \"default\", but what is below it "
            "is guaranteed 3 GPUs together",
            "raise this to 3 GPUs or lower those below"),
        BAD("departments above their parent",
            DEPARTMENTS "    - {name: d, node_pool_quotas: {default: {guaranteed_cpus: 4}}}\n"
                        "    - {name: e, parent: d, node_pool_quotas: {default: {guaranteed_cpus: "
                        "4500m}}}\n",
            3, 63, "organization.departments[0].node_pool_quotas.default.guaranteed_cpus",
            "department \"d\" is guaranteed 4 CPU cores in node pool \"default\", but what is "
            "below it is guaranteed 4.5 CPU cores together",
            "raise this to 4.5 CPU cores or lower those below"),
        BAD("an unknown pool in the order",
            "node_pools: [{name: h100}]\n" DEPARTMENTS
            "    - {name: d, projects: [{name: p, default_node_pools: [h10]}]}\n",
            4, 58, "organization.departments[0].projects[0].default_node_pools",
            "there is no node pool \"h10\"", "did you mean h100?"),
        BAD("a pool twice in the order",
            DEPARTMENTS "    - {name: d, projects: [{name: p, default_node_pools: [a, a]}]}\n", 3,
            58, "organization.departments[0].projects[0].default_node_pools",
            "expected a list of names of node pools, each once, got a list",
            "for example [h100-production, a100-shared]"),
        WARNED("a pool that only quotas name",
               DEPARTMENTS "    - {name: d, node_pool_quotas: {h100: {}}}\n", 3, 36,
               "organization.departments[0].node_pool_quotas.h100",
               "node pool \"h100\" is not listed in node_pools: unless it exists already, it is "
               "made of the nodes labelled runai.node-pool=h100",
               "list it under node_pools"),
        WARNED("a pool nearly named",
               "node_pools: [{name: a100}]\n" DEPARTMENTS
               "    - {name: d, node_pool_quotas: {a10: {}}}\n",
               4, 36, "organization.departments[0].node_pool_quotas.a10",
               "node pool \"a10\" is not listed in node_pools", "did you mean a100?"),
        WARNED("production that can be stopped",
               DEPARTMENTS "    - {name: d, projects: [{name: p, default_priority: high, "
                           "default_preemptibility: preemptible}]}\n",
               3, 56, "organization.departments[0].projects[0].default_priority",
               "the priority high is for production, but work here is preemptible by default",
               "set default_preemptibility: non-preemptible, or a priority below high"),
        BAD("idle for longer than it may run",
            DEPARTMENTS "    - {name: d, scheduling_rules: {training_run_limit: 1h, "
                        "training_idle_limit: 2h}}\n",
            3, 81, "organization.departments[0].scheduling_rules.training_idle_limit",
            "work is stopped after running for 1h, so a limit on idle devices must be shorter",
            "choose less than 1h, or leave it out"),
        BAD("a limit without a unit",
            DEPARTMENTS "    - {name: d, scheduling_rules: {workspace_run_limit: 3600}}\n", 3, 57,
            "organization.departments[0].scheduling_rules.workspace_run_limit",
            "expected a time from 0 to 365d with units", "for seconds write 3600s"),
        BAD("a node type that is no value of a label",
            DEPARTMENTS "    - {name: d, scheduling_rules: {training_node_types: [a b]}}\n", 3, 57,
            "organization.departments[0].scheduling_rules.training_node_types",
            "expected a list of values of the node label run.ai/type", "for example [h100, a100]"),
        WARNED("a rule looser than the department's",
               DEPARTMENTS "    - name: d\n"
                           "      scheduling_rules: {training_run_limit: 1h}\n"
                           "      projects: [{name: p, scheduling_rules: {training_run_limit: "
                           "2h}}]\n",
               5, 67, "organization.departments[0].projects[0].scheduling_rules.training_run_limit",
               "department \"d\" limits this to 1h, which counts here too",
               "a rule can only be tighter than those above: lower it or leave it out"),
        WARNED("B145: a maximum above the department's",
               DEPARTMENTS "    - name: d\n"
                           "      node_pool_quotas: {default: {max_gpus: 4}}\n"
                           "      projects: [{name: p, node_pool_quotas: {default: {max_gpus: "
                           "5}}}]\n",
               5, 67, "organization.departments[0].projects[0].node_pool_quotas.default.max_gpus",
               "the maximum of 5 GPUs is never reached: department \"d\" has a maximum of 4 GPUs",
               "lower it, or write unlimited"),
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        expect_problem(&rows[i]);
    }
}

/* what follows from an error is not said beside it; what does not, is */
TEST(problems_are_said_once)
{
    static const struct {
        const char *name;
        struct str in;
        uint32_t errors;
    } rows[] = {
        {"a misspelt guarantee does not make the projects too many",
         STRS(DEPARTMENTS "    - name: d\n"
                          "      node_pool_quotas: {default: {guaranted_gpus: 8}}\n"
                          "      projects: [{name: p, node_pool_quotas: {default: "
                          "{guaranteed_gpus: 8}}}]\n"),
         1                                                                                          },
        {"nor do misspelt quotas",
         STRS(DEPARTMENTS "    - name: d\n"
                          "      node_pool_quota: {default: {guaranteed_gpus: 8}}\n"
                          "      projects: [{name: p, node_pool_quotas: {default: "
                          "{guaranteed_gpus: 8}}}]\n"),
         1                                                                                          },
        {"a wrong name does not make its children orphans",
         STRS(DEPARTMENTS "    - name: D\n    - {name: e, parent: D}\n"),                          2},
        {"an unknown key elsewhere hides nothing",
         STRS("node_pool: []\n" DEPARTMENTS "    - name: d\n"
              "      projects: [{name: p, node_pool_quotas: {default: {guaranteed_gpus: 8}}}]\n"),
         2                                                                                          },
        {"nor does one in the very object",
         STRS(DEPARTMENTS "    - name: d\n      owner: x\n"
                          "      node_pool_quotas: {default: {guaranteed_gpus: 1}}\n"
                          "      projects: [{name: p, node_pool_quotas: {default: "
                          "{guaranteed_gpus: 8}}}]\n"),
         2                                                                                          },
        {"nor does one in a project",
         STRS(DEPARTMENTS "    - name: d\n"
                          "      node_pool_quotas: {default: {guaranteed_gpus: 1}}\n"
                          "      projects: [{name: p, acces_group: x, node_pool_quotas: {default: "
                          "{guaranteed_gpus: 8, max_gpus: 2}}}]\n"),
         3                                                                                          },
        {"pools that could not be read are not said to be missing",
         STRS("node_pools: {name: a}\n" DEPARTMENTS "    - name: d\n"
              "      projects: [{name: p, default_node_pools: [a]}]\n"),
         1                                                                                          },
        {"nor does a wrong value in another pool",
         STRS("node_pools: [{name: a}]\n" DEPARTMENTS "    - name: d\n"
              "      node_pool_quotas: {a: {guaranteed_gpus: x}, default: {guaranteed_gpus: 1}}\n"
              "      projects: [{name: p, node_pool_quotas: {default: {guaranteed_gpus: 8}}}]\n"),
         2                                                                                          },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct arena arena = {0};
        struct plan_file file;
        test_row(rows[i].name);
        plan_of(rows[i].in, &arena, &file);
        EXPECT_I64(file.problems.error_count, rows[i].errors);
        arena_done(&arena);
    }
    test_row(NULL);
}

TEST(limits)
{
    struct arena arena = {0};
    struct plan_file file;
    CLEANUP(buf_done) struct buf text = {0};
    for (uint32_t count = POOLS_MAX; count <= POOLS_MAX + 2; count++) {
        buf_done(&text);
        buf_init(&text, TEXT_MAX);
        buf_str(&text, STR("node_pools:\n"));
        for (uint32_t i = 0; i < count; i++) {
            buf_printf(&text, "  - name: p%u\n", i);
        }
        plan_of(buf_view(&text), &arena, &file);
        EXPECT_I64(file.problems.error_count, count > POOLS_MAX);
        EXPECT_I64(file.plan.pools_count, POOLS_MAX);
    }
    EXPECT_I64(file.problems.items[0].line, POOLS_MAX + 2);
    EXPECT_STR(file.problems.items[0].text, STR("more than 256 node pools"));
    arena_done(&arena);
}

TEST(against_the_server)
{
    struct arena arena = {0};
    struct plan_file base, file;
    struct pool_capacity capacity = {
        .pool = STR("h100"), .gpu_share = 28000, .largest_node_gpu_share = 7000};
    plan_of(STR(PROJECT("guaranteed_gpus: 2")), &arena, &base);
    plan_of(STR(DEPARTMENTS "    - name: dep\n"
                            "      node_pool_quotas: {h100: {guaranteed_gpus: 1}}\n"),
            &arena, &file);
    EXPECT_I64(file.problems.error_count, 0);

    test_row("the department would be below its project that is there");
    plan_file_check(&file, &base.plan, false, &capacity, 1);
    EXPECT_I64(file.problems.error_count, 1);
    const struct problem *p = first_of(&file.problems, SEVERITY_ERROR);
    REQUIRE(p != NULL);
    EXPECT_I64(p->line, 4);
    EXPECT_I64(p->col, 50);

    test_row("not when the project is pruned");
    plan_of(STR(DEPARTMENTS "    - name: dep\n"
                            "      node_pool_quotas: {h100: {guaranteed_gpus: 4, max_gpus: 5}}\n"),
            &arena, &file);
    plan_file_check(&file, &base.plan, true, &capacity, 1);
    EXPECT_I64(file.problems.error_count, 0);

    test_row("the hardware");
    REQUIRE(file.problems.count == 3); // the implied pool is the first
    EXPECT_STR(file.problems.items[1].text,
               STR("departments are guaranteed 4 GPUs together in node pool \"h100\", which has 3 "
                   "GPUs once its largest node is lost"));
    EXPECT_STR(file.problems.items[2].text,
               STR("the maximum of 5 GPUs is never reached: node pool \"h100\" has 4 GPUs"));

    test_row("what the file does not speak of is no matter of its");
    plan_of(STR(DEPARTMENTS "    - name: other\n"), &arena, &file);
    capacity.gpu_share = 7000;
    plan_file_check(&file, &base.plan, false, &capacity, 1);
    EXPECT_I64(file.problems.count, 0);
    plan_of(STR("# nothing\n"), &arena, &file);
    plan_file_check(&file, &base.plan, false, &capacity, 1);
    REQUIRE(file.problems.count == 1);
    EXPECT_STR(file.problems.items[0].text, STR("the file is empty"));
    plan_of(STR("organization:\n"), &arena, &file);
    plan_file_check(&file, &base.plan, false, &capacity, 1);
    REQUIRE(file.problems.count == 1);
    EXPECT_STR(file.problems.items[0].text, STR("the plan holds nothing"));

    test_row("but it is where the file lists the pool, or a department that adds to it");
    plan_of(STR("node_pools: [{name: h100}]\n"), &arena, &file);
    plan_file_check(&file, &base.plan, false, &capacity, 1);
    REQUIRE(file.problems.count == 1);
    EXPECT_I64(file.problems.items[0].line, 1);
    EXPECT_STR(file.problems.items[0].field, STR("node_pools[0]"));
    plan_of(STR("node_pools: [{name: h100}]\n" DEPARTMENTS "    - name: other\n"
                "      node_pool_quotas: {h100: {guaranteed_gpus: 1}}\n"),
            &arena, &file);
    plan_file_check(&file, &base.plan, false, &capacity, 1);
    REQUIRE(file.problems.count == 1);
    EXPECT_STR(file.problems.items[0].field,
               STR("organization.departments[0].node_pool_quotas.h100.guaranteed_gpus"));
    test_row(NULL);
    arena_done(&arena);
}

TEST_MAIN()

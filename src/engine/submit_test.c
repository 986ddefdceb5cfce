// SPDX-License-Identifier: Apache-2.0
// What is taken in: submits, and commands that are said again.
#include "engine/rig_test.h"

#include "model/limits.h"

/* ---- submit ---- */

static void set_project(struct input *in)
{
    in->submit.project = STR("aa");
}
static void set_name(struct input *in)
{
    in->submit.name = STR("no/slash");
}
static void set_empty_name(struct input *in)
{
    in->submit.name = STR("");
}
static void set_hyphen(struct input *in)
{
    in->submit.name = STR("ends-");
}
static void set_pods(struct input *in)
{
    in->submit.spec.pods = 0;
}
static void set_min(struct input *in)
{
    in->submit.spec.pods_min = 3;
}
static void set_ids(struct input *in)
{
    in->submit.pod_ids_count = 1;
}
static void set_same_ids(struct input *in)
{
    in->submit.pod_ids[1] = in->submit.pod_ids[0];
}
static void set_zero_id(struct input *in)
{
    in->submit.id = (struct uuid){{0}};
}
static void set_devices(struct input *in)
{
    in->submit.spec.pod.gpu_devices = -1;
}
static void set_cpu(struct input *in)
{
    in->submit.spec.pod.cpu_milli = INT64_MAX;
}
static void set_priority(struct input *in)
{
    in->submit.spec.priority = 1001;
}
static void set_kind(struct input *in)
{
    in->submit.kind = (enum workload_kind)77;
}
static void set_pool(struct input *in)
{
    static struct str_item pools[] = {{STRS("defaul")}};
    in->submit.spec.pools = pools;
    in->submit.spec.pools_count = 1;
}
static void set_pool_twice(struct input *in)
{
    static struct str_item pools[] = {{STRS("default")}, {STRS("default")}};
    in->submit.spec.pools = pools;
    in->submit.spec.pools_count = 2;
}
static void set_part_of_none(struct input *in)
{
    in->submit.spec.pod.gpu_devices = 0;
    in->submit.spec.pod.gpu_portion_share = 700;
}
static void set_both_parts(struct input *in)
{
    in->submit.spec.pod.gpu_portion_share = 700;
    in->submit.spec.pod.gpu_memory_bytes = 1 << 30;
}
static struct env_var equals[] = {
    {.name = STRS("A=B"), .value = STRS("x")}
};
static struct env_var two_lines[] = {
    {.name = STRS("A"),    .value = STRS("x")},
    {.name = STRS("B\nC"), .value = STRS("y")}
};
static struct env_var digit[] = {
    {.name = STRS("1A"), .value = STRS("")}
};
static struct env_var usual[] = {
    {.name = STRS("_a.b-9"), .value = STRS("=\n")}
};
static void set_env(struct input *in, struct env_var *env, uint32_t count)
{
    in->submit.spec.pod.env = env;
    in->submit.spec.pod.env_count = count;
}
static void set_equals(struct input *in)
{
    set_env(in, equals, COUNT_OF(equals));
}
static void set_two_lines(struct input *in)
{
    set_env(in, two_lines, COUNT_OF(two_lines));
}
static void set_digit(struct input *in)
{
    set_env(in, digit, COUNT_OF(digit));
}
static void set_usual(struct input *in)
{
    set_env(in, usual, COUNT_OF(usual));
}
static void set_option(struct input *in)
{
    in->submit.spec.pod.image = STR("--privileged");
}
static void set_spaces(struct input *in)
{
    in->submit.spec.pod.image = STR("-v /:/host alpine");
}
static void set_near(struct input *in)
{
    in->submit.spec.pod.working_dir = STR("data");
}
static void set_empty_word(struct input *in)
{
    static struct str_item args[] = {{STRS("")}, {STRS("x")}};
    in->submit.spec.pod.image = STR("host");
    in->submit.spec.pod.args = args;
    in->submit.spec.pod.args_count = COUNT_OF(args);
}
static void set_key(struct input *in)
{
    static char key[KEY_LEN_MAX + 1];
    in->key = (struct str){key, sizeof(key)};
}
static void set_nothing(struct input *in)
{
    (void)in;
}

static const struct {
    const char *name;
    void (*set)(struct input *in);
    enum status want;
    struct str field;
} submit_rows[] = {
    {"as it should be",                set_nothing,      STATUS_OK,        STRS("")                    },
    {"unknown project",                set_project,      STATUS_UNKNOWN,   STRS("project")             },
    {"slash in the name",              set_name,         STATUS_INVALID,   STRS("name")                },
    {"no name",                        set_empty_name,   STATUS_INVALID,   STRS("name")                },
    {"hyphen at the end",              set_hyphen,       STATUS_INVALID,   STRS("name")                },
    {"no pods",                        set_pods,         STATUS_INVALID,   STRS("pods")                },
    {"minimum above the pods",         set_min,          STATUS_INVALID,   STRS("pods_min")            },
    {"too few identifiers",            set_ids,          STATUS_INVALID,   STRS("id")                  },
    {"one identifier twice",           set_same_ids,     STATUS_INVALID,   STRS("id")                  },
    {"no identifier",                  set_zero_id,      STATUS_INVALID,   STRS("id")                  },
    {"negative devices",               set_devices,      STATUS_INVALID,   STRS("pod.gpu_devices")     },
    {"more CPU than there can be",     set_cpu,          STATUS_INVALID,   STRS("pod.cpu_milli")       },
    {"priority out of range",          set_priority,     STATUS_INVALID,   STRS("priority")            },
    {"no such kind",                   set_kind,         STATUS_INVALID,   STRS("id")                  },
    {"unknown pool",                   set_pool,         STATUS_UNKNOWN,   STRS("pools[0]")            },
    {"a pool twice",                   set_pool_twice,   STATUS_INVALID,   STRS("pools[1]")            },
    {"a part of no device",            set_part_of_none, STATUS_INVALID,   STRS("pod.gpu_devices")     },
    {"share and memory",               set_both_parts,   STATUS_INVALID,   STRS("pod.gpu_memory_bytes")},
    {"a variable with an equals sign", set_equals,       STATUS_INVALID,   STRS("pod.env")             },
    {"a variable of two lines",        set_two_lines,    STATUS_INVALID,   STRS("pod.env")             },
    {"a variable with a digit first",  set_digit,        STATUS_INVALID,   STRS("pod.env")             },
    {"a variable with any value",      set_usual,        STATUS_OK,        STRS("")                    },
    {"an image that is an option",     set_option,       STATUS_INVALID,   STRS("pod.image")           },
    {"an image with spaces",           set_spaces,       STATUS_INVALID,   STRS("pod.image")           },
    {"a directory below nothing",      set_near,         STATUS_INVALID,   STRS("pod.working_dir")     },
    {"no command",                     set_empty_word,   STATUS_INVALID,   STRS("pod.args")            },
    {"a very long key",                set_key,          STATUS_TOO_LARGE, STRS("")                    },
};

TEST(submit_is_checked)
{
    for (uint32_t i = 0; i < COUNT_OF(submit_rows); i++) {
        test_row(submit_rows[i].name);
        struct rig r;
        struct submit_text t;
        rig_usual(&r);
        struct input in = submit_of(&t, 1, STR("train"), 2);
        submit_rows[i].set(&in);
        EXPECT_STATUS(say(&r, in), submit_rows[i].want);
        EXPECT_STR(str_from_c(r.out.err.field), submit_rows[i].field);
        EXPECT_I64(engine_state(r.e)->workloads_count, submit_rows[i].want == STATUS_OK);
        rig_done(&r);
    }
}

TEST(submit_name_and_identifiers_are_taken_once)
{
    struct rig r;
    rig_usual(&r);
    EXPECT_STATUS(submit(&r, 1, STR("train"), 1), STATUS_OK);
    EXPECT_STATUS(submit(&r, 2, STR("train"), 1), STATUS_CONFLICT);
    EXPECT_STATUS(submit(&r, 1, STR("other"), 1), STATUS_INVALID);
    EXPECT_STATUS(life(&r, INPUT_DELETE, 1), STATUS_OK);
    EXPECT_STATUS(submit(&r, 2, STR("train"), 1), STATUS_OK); /* the name is free again */
    EXPECT(uuid_eq(engine_find_name(r.e, STR("a"), STR("train"))->id, id_of(2)));
    tick(&r);
    EXPECT(engine_find(r.e, id_of(1)) == NULL);
    EXPECT(uuid_eq(engine_find_name(r.e, STR("a"), STR("train"))->id, id_of(2)));
    rig_done(&r);
}

static const struct {
    const char *name;
    enum workload_kind kind;
    int64_t priority;
    enum preemptibility preemptibility;
    int64_t want_priority;
    enum preemptibility want;
} default_rows[] = {
    {"training is low",        WORKLOAD_TRAINING,    0,   PREEMPTIBILITY_DEFAULT, 40,  PREEMPTIBLE    },
    {"distributed is low",     WORKLOAD_DISTRIBUTED, 0,   PREEMPTIBILITY_DEFAULT, 40,  PREEMPTIBLE    },
    {"a workspace is high",    WORKLOAD_WORKSPACE,   0,   PREEMPTIBILITY_DEFAULT, 125, NON_PREEMPTIBLE},
    {"inference is very high", WORKLOAD_INFERENCE,   0,   PREEMPTIBILITY_DEFAULT, 150, NON_PREEMPTIBLE},
    {"the line is at 100",     WORKLOAD_TRAINING,    99,  PREEMPTIBILITY_DEFAULT, 99,  PREEMPTIBLE    },
    {"on the line",            WORKLOAD_TRAINING,    100, PREEMPTIBILITY_DEFAULT, 100, NON_PREEMPTIBLE},
    {"said is said",           WORKLOAD_TRAINING,    150, PREEMPTIBLE,            150, PREEMPTIBLE    },
};

TEST(the_master_of_a_gang_may_ask_for_less)
{
    struct rig r;
    rig_usual(&r);
    struct submit_text t;
    struct input in = submit_of(&t, 1, STR("mpi"), 3);
    struct pod_id ids[3] = {{id_of(101)}, {id_of(102)}, {id_of(103)}};
    in.submit.kind = WORKLOAD_DISTRIBUTED;
    in.submit.pod_ids = ids;
    in.submit.pod_ids_count = 3;
    in.submit.spec.pods = 3;
    in.submit.spec.pods_min = 3;
    in.submit.spec.framework = FRAMEWORK_PYTORCH;
    in.submit.spec.has_master = true;
    in.submit.spec.pod.gpu_devices = 2;
    in.submit.spec.master = in.submit.spec.pod;
    in.submit.spec.master.gpu_devices = 0;
    in.submit.spec.master.cpu_milli = 500;
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    EXPECT_I64(find(&r, 1)->port, 20000);
    struct input decided = {.kind = INPUT_TICK};
    bool changed;
    engine_decide(r.e, r.now_ms, &r.arena, &decided.tick, &changed);
    EXPECT_STATUS(say(&r, decided), STATUS_OK);
    /* two workers with two devices each, and the master with none: all four */
    EXPECT_I64(phase(&r, 1, 0), POD_BINDING);
    EXPECT_I64(phase(&r, 1, 2), POD_BINDING);
    EXPECT_I64(find(&r, 1)->pods[0].devices_count, 0);
    EXPECT_I64(find(&r, 1)->pods[1].devices_count, 2);
    EXPECT_I64(held_gpus(&r, STR("a"), false), 4);
    struct held h = engine_held(r.e, STR(""), STR("a"), false);
    EXPECT_I64(h.cpu_milli, 500 + 2 * in.submit.spec.pod.cpu_milli);
    for (uint32_t i = 0; i < 3; i++) { /* the next one has ports of its own */
        ids[i].id = id_of(111 + i);
    }
    in.submit.id = id_of(2);
    in.submit.name = STR("mpi-2");
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    EXPECT_I64(find(&r, 2)->port, 20003);
    in.submit.spec.master.gpu_devices = -1;
    in.submit.id = id_of(3);
    EXPECT_STATUS(say(&r, in), STATUS_INVALID);
    rig_done(&r);
}

TEST(submit_fills_in_defaults)
{
    for (uint32_t i = 0; i < COUNT_OF(default_rows); i++) {
        test_row(default_rows[i].name);
        struct rig r;
        struct submit_text t;
        rig_usual(&r);
        struct input in = submit_of(&t, 1, STR("w"), 1);
        in.submit.kind = default_rows[i].kind;
        in.submit.spec.priority = default_rows[i].priority;
        in.submit.spec.preemptibility = default_rows[i].preemptibility;
        EXPECT_STATUS(say(&r, in), STATUS_OK);
        const struct workload *w = find(&r, 1);
        EXPECT_I64(w->spec.priority, default_rows[i].want_priority);
        EXPECT_I64(w->spec.preemptibility, default_rows[i].want);
        EXPECT_I64(w->spec.pools_count, 1);
        EXPECT_STR(w->spec.pools[0].value, STR("default"));
        rig_done(&r);
    }
}

/* ---- idempotency keys ---- */

TEST(same_key_same_answer)
{
    struct rig r;
    rig_usual(&r);
    struct submit_text t;
    struct input in = submit_of(&t, 1, STR("train"), 1);
    in.key = STR("k1");
    EXPECT_STATUS(say(&r, in), STATUS_OK);
    EXPECT(!r.out.repeated);
    struct input again = submit_of(&t, 2, STR("train"), 1); /* a retry mints new identifiers */
    again.key = STR("k1");
    EXPECT_STATUS(say(&r, again), STATUS_OK);
    EXPECT(r.out.repeated);
    EXPECT(uuid_eq(r.out.id, id_of(1)));
    EXPECT_I64(engine_state(r.e)->workloads_count, 1);
    again.submit.name = STR("else");
    EXPECT_STATUS(say(&r, again), STATUS_CONFLICT);
    EXPECT(!r.out.repeated);
    again.author = STR("bob"); /* keys are per author */
    EXPECT_STATUS(say(&r, again), STATUS_OK);
    struct input bad = submit_of(&t, 3, STR("no/slash"), 1);
    bad.key = STR("k2");
    EXPECT_STATUS(say(&r, bad), STATUS_INVALID);
    struct err first = r.out.err;
    EXPECT_STATUS(say(&r, bad), STATUS_INVALID);
    EXPECT(r.out.repeated);
    EXPECT_STR(str_from_c(r.out.err.text), str_from_c(first.text));
    EXPECT_STR(str_from_c(r.out.err.field), str_from_c(first.field));
    rig_done(&r);
}

TEST(answers_are_kept_in_bounds)
{
    struct rig r;
    rig_usual(&r);
    for (uint32_t i = 0; i < ANSWERS_MAX + 10; i++) {
        struct input in = {.kind = INPUT_DELETE, .target = id_of(9), .author = STR("ann")};
        in.key = arena_printf(&r.arena, "k%u", i);
        say(&r, in);
    }
    EXPECT(engine_state(r.e)->answers_count <= ANSWERS_MAX);
    struct input in = {.kind = INPUT_DELETE, .target = id_of(9), .author = STR("ann")};
    in.key = arena_printf(&r.arena, "k%u", (uint32_t)ANSWERS_MAX + 9);
    say(&r, in);
    EXPECT(r.out.repeated);
    rig_done(&r);
}

TEST_MAIN()

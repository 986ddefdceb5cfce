// SPDX-License-Identifier: Apache-2.0
#include "agent/launch.h"

#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agent/frame.h"
#include "agent/process.h"
#include "agent/rendezvous.h"
#include "base/array.h"
#include "base/test.h"
#include "model/units.h"

TEST(directory_names)
{
    static const struct {
        const char *name;
        struct str in;
        bool ok;
        uint32_t attempt;
    } rows[] = {
        {"a pod's",             STRS("0f8fad5b-d9cb-469f-a165-70867728950e.3"),          true,  3},
        {"the largest attempt", STRS("0f8fad5b-d9cb-469f-a165-70867728950e.4294967295"), true,
         UINT32_MAX                                                                              },
        {"no attempt",          STRS("0f8fad5b-d9cb-469f-a165-70867728950e."),           false, 0},
        {"no point",            STRS("0f8fad5b-d9cb-469f-a165-70867728950e3"),           false, 0},
        {"beyond 32 bits",      STRS("0f8fad5b-d9cb-469f-a165-70867728950e.4294967296"), false, 0},
        {"a temporary name",    STRS("0f8fad5b-d9cb-469f-a165-70867728950e.3.tmp"),      false, 0},
        {"not a uuid",          STRS("0f8fad5b-d9cb-469f-a165-70867728950x.3"),          false, 0},
        {"empty",               STRS(""),                                                false, 0},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        struct uuid pod;
        uint32_t attempt = 0;
        EXPECT(launch_name_parse(rows[i].in, &pod, &attempt) == rows[i].ok);
        EXPECT_I64(attempt, rows[i].attempt);
        if (rows[i].ok) {
            char name[LAUNCH_NAME_SIZE];
            launch_name(pod, attempt, name);
            EXPECT_STR(str_from_c(name), rows[i].in);
        }
    }
    test_row(NULL);
}

TEST(status_there_and_back)
{
    struct pod_status st, back;
    struct err err;
    struct buf text;
    status_init(&st);
    st.state = POD_STATE_EXITED;
    st.supervisor_pid = 12;
    st.supervisor_start = 345;
    st.main_pid = 13;
    st.main_start = 346;
    st.started_ms = 1700000000000;
    st.ended_ms = 1700000000001;
    st.exit_code = 137;
    st.oom = true;
    (void)snprintf(st.boot_id, sizeof(st.boot_id), "b");
    status_reason(&st, STR("two\nlines=x"));
    buf_init(&text, STATUS_TEXT_MAX);
    status_format(&st, &text);
    REQUIRE_OK(status_parse(buf_view(&text), &back, &err), &err);
    EXPECT_STR(str_from_c(back.reason), STR("two lines=x"));
    struct buf again;
    buf_init(&again, STATUS_TEXT_MAX);
    status_format(&back, &again);
    EXPECT_STR(buf_view(&again), buf_view(&text));
    // Cut anywhere before its last line, it is not taken for a status.
    uint32_t whole = (uint32_t)text.len - (uint32_t)strlen("reason=two lines=x\n");
    for (uint32_t len = 0; len < whole; len++) {
        EXPECT_STATUS(status_parse(str_sub(buf_view(&text), 0, len), &back, &err), STATUS_CORRUPT);
    }
    buf_done(&text);
    buf_done(&again);
}

TEST(status_damaged)
{
    static const struct {
        const char *name;
        struct str text;
    } rows[] = {
        {"nothing",          STRS("")                                    },
        {"an unknown state", STRS("state=dancing\nreason=\n")            },
        {"no number",        STRS("state=exited\nexit_code=x\nreason=\n")},
        {"zeros",            STRS("state=exited\nexit_code=0")           },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        struct pod_status st = {.exit_code = 55};
        struct err err;
        EXPECT_STATUS(status_parse(rows[i].text, &st, &err), STATUS_CORRUPT);
        EXPECT_I64(st.exit_code, 55);
    }
    test_row(NULL);
}

TEST(reasons_fit)
{
    struct pod_status st;
    char text[2 * REASON_MAX];
    status_init(&st);
    for (uint32_t pad = 0; pad < 4; pad++) { // a cut in the middle of a character of three bytes
        size_t len = pad;
        memset(text, 'a', pad);
        while (len + 3 <= sizeof(text)) {
            memcpy(text + len, "\xE2\x82\xAC", 3);
            len += 3;
        }
        status_reason(&st, (struct str){text, (uint32_t)len});
        struct str got = str_from_c(st.reason);
        EXPECT(got.len > REASON_MAX - 8 && str_is_utf8(got));
        EXPECT(st.reason[got.len - 1] != '?');
    }
    status_reason(&st, STR("caf\xE9"));
    EXPECT_STR(str_from_c(st.reason), STR("caf?"));
}

static struct str variable(char **env, const char *name)
{
    size_t len = strlen(name);
    for (; *env != NULL; env++) {
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=') {
            return str_from_c(*env + len + 1);
        }
    }
    return (struct str){0};
}

TEST(number_of_gpus)
{
    static const struct {
        const char *name;
        int64_t devices, share;
        struct str want;
    } rows[] = {
        {"none",                      0, 0,                   STRS("0")    },
        {"two whole",                 2, 0,                   STRS("2")    },
        {"half of one",               1, DEVICE_SHARE / 2,    STRS("0.5")  },
        {"half of each of two",       2, DEVICE_SHARE / 2,    STRS("1")    },
        {"a thousandth",              1, DEVICE_SHARE / 1000, STRS("0.001")},
        {"a seventh",                 1, DEVICE_SHARE / 7,    STRS("0.142")},
        {"a quarter without a count", 0, DEVICE_SHARE / 4,    STRS("0.25") },
    };
    struct arena arena;
    arena_init(&arena, 0);
    const struct account who = {.name = "ann", .home = "/home/ann"};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        struct launch l = {.spec.gpu_devices = rows[i].devices,
                           .spec.gpu_portion_share = rows[i].share};
        EXPECT_STR(variable(launch_env(&l, &who, &arena), "RUNAI_NUM_OF_GPUS"), rows[i].want);
    }
    test_row(NULL);
    // An image brings its own PATH and home, and gets its devices by name.
    struct str_item device = {STR("GPU-1")};
    struct launch image = {.spec.image = STR("busybox"), .devices = &device, .devices_count = 1};
    char **env = launch_env(&image, &who, &arena);
    EXPECT(variable(env, "PATH").ptr == NULL && variable(env, "HOME").ptr == NULL);
    EXPECT_STR(variable(env, "NVIDIA_VISIBLE_DEVICES"), STR("void"));
    EXPECT_STR(variable(env, "CUDA_VISIBLE_DEVICES"), STR("GPU-1"));
    arena_done(&arena);
}

TEST(processes_are_told_apart)
{
    struct process p;
    EXPECT(process_start(getpid()) > 0);
    EXPECT_I64(process_start(-1), -1);
    static const char *const names[] = {"plain", "a) R 1 2 (b", "(((", ") ) )", ""};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        test_row(names[i]);
        REQUIRE(prctl(PR_SET_NAME, names[i]) == 0 && process_read(getpid(), &p));
        EXPECT_STR(str_from_c(p.name), str_from_c(names[i]));
        EXPECT_I64(p.parent, getppid());
    }
    test_row(NULL);
    char id[UUID_TEXT_LEN + 1];
    boot_id(id);
    EXPECT(strlen(id) == UUID_TEXT_LEN);
}

TEST(frames)
{
    struct buf all;
    buf_init(&all, 1 << 20);
    frame_add(&all, FRAME_STDIN, STR(""));
    frame_add(&all, FRAME_STATUS, STR("text"));
    uint8_t kind;
    struct str body;
    for (uint32_t len = 0; len <= all.len; len++) { // however the bytes arrive
        uint32_t used = 0, count = 0;
        struct str part = str_sub(buf_view(&all), 0, len);
        while (frame_next(part, &used, &kind, &body) == FRAME_ONE) {
            count++;
            EXPECT(count == 1 ? kind == FRAME_STDIN && body.len == 0
                              : kind == FRAME_STATUS && str_eq(body, STR("text")));
        }
        EXPECT_I64(count, len < FRAME_HEAD_LEN ? 0 : len < all.len ? 1 : 2);
    }
    buf_done(&all);
    uint32_t used = 0;
    EXPECT_I64(frame_next(((struct str){"W\x01\x00\x10\x00", 5}), &used, &kind, &body), FRAME_BAD);
}

TEST(pods_of_distributed_work_find_each_other)
{
    static const struct {
        enum framework framework;
        uint32_t pod, pods_min;
        const char *want[RENDEZVOUS_MAX];
    } rows[] = {
        {FRAMEWORK_NONE,       0, 3, {NULL}                                      },
        {FRAMEWORK_PYTORCH,
         0,                       3,
         {"MASTER_ADDR=127.0.0.1", "MASTER_PORT=20007", "WORLD_SIZE=3", "RANK=0"}},
        {FRAMEWORK_PYTORCH,
         1,                       2,
         {"MASTER_ADDR=127.0.0.1", "MASTER_PORT=20007", "WORLD_SIZE=3", "RANK=1", "PET_NNODES=2:3",
          "PET_RDZV_BACKEND=c10d", "PET_RDZV_ENDPOINT=127.0.0.1:20007"}          },
        {FRAMEWORK_XGBOOST,
         2,                       3,
         {"MASTER_ADDR=127.0.0.1", "MASTER_PORT=20007", "WORLD_SIZE=3", "RANK=2"}},
        {FRAMEWORK_JAX,
         1,                       3,
         {"COORDINATOR_ADDRESS=127.0.0.1", "COORDINATOR_PORT=20007", "NUM_PROCESSES=3",
          "PROCESS_ID=1"}                                                        },
        {FRAMEWORK_MPI,        0, 3, {"RUNAI_MPI_NUM_WORKERS=2"}                 },
        {FRAMEWORK_TENSORFLOW,
         0,                       3,
         {"TF_CONFIG={\"cluster\":{\"chief\":[\"127.0.0.1:20007\"],\"worker\":[\"127.0.0.1:20008\","
          "\"127.0.0.1:20009\"]},\"task\":{\"type\":\"chief\",\"index\":0}}"}    },
        {FRAMEWORK_TENSORFLOW,
         2,                       3,
         {"TF_CONFIG={\"cluster\":{\"chief\":[\"127.0.0.1:20007\"],\"worker\":[\"127.0.0.1:20008\","
          "\"127.0.0.1:20009\"]},\"task\":{\"type\":\"worker\",\"index\":1}}"}   },
    };
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct launch l = {.framework = rows[i].framework,
                           .pod_index = rows[i].pod,
                           .pods_count = 3,
                           .pods_min = rows[i].pods_min,
                           .port = 20007};
        struct str got[RENDEZVOUS_MAX];
        uint32_t count = rendezvous_env(&l, &arena, got);
        for (uint32_t k = 0; k < RENDEZVOUS_MAX; k++) {
            EXPECT_STR(k < count ? got[k] : (struct str){0}, str_from_c(rows[i].want[k]));
        }
    }
    arena_done(&arena);
}

TEST_MAIN()

// SPDX-License-Identifier: Apache-2.0
// What the agent says of its machine, and which settings it refuses.
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/device.h"
#include "agent/world_test.h"
#include "base/test.h"
#include "io/clock.h"
#include "io/file.h"

TEST(node_is_described)
{
    world_open();
    w.cluster.poll(w.cluster.ctx, note, &w);
    const struct node *n = &w.node;
    EXPECT_STR(n->name, STR("box"));
    EXPECT(n->ready && n->cpu_milli >= 1000 && n->cpu_milli % 1000 == 0);
    EXPECT(n->memory_bytes > 1 << 20);
    EXPECT_I64(n->devices_count, 4);
    EXPECT_I64(n->devices[3].memory_bytes, INT64_C(80) << 30);
    EXPECT(str_starts(n->devices[0].uuid, STR("GPU-")) && n->devices[0].uuid.len == 40);
    static const struct {
        struct str key, value;
    } rows[] = {
        {STRS("kubernetes.io/hostname"), STRS("box")      },
        {STRS("nvidia.com/gpu.product"), STRS("simulated")},
        {STRS("nvidia.com/gpu.count"),   STRS("4")        },
        {STRS("nvidia.com/gpu.memory"),  STRS("81920")    },
        {STRS("site"),                   STRS("attic")    },
    };
    REQUIRE(n->labels_count == COUNT_OF(rows));
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        EXPECT_STR(n->labels[i].key, rows[i].key);
        EXPECT_STR(n->labels[i].value, rows[i].value);
    }
    EXPECT(noted("the devices are simulated"));
    EXPECT(noted(geteuid() == 0 ? "weir runs as root" : "weir does not run as root"));
    struct str first = arena_str(&w.arena, n->devices[0].uuid);
    world_reopen(); // the same devices after a restart
    w.cluster.poll(w.cluster.ctx, note, &w);
    EXPECT_STR(w.node.devices[0].uuid, first);
    world_close();
}

TEST(settings_refused)
{
    static const struct {
        const char *name, *gpus, *dir, *text;
        enum status want;
    } rows[] = {
        {"a word",                 "some",       "",
         "expected auto, none or fake:COUNT[:SIZE] for the GPUs, got \"some\"",                                                  STATUS_INVALID},
        {"no count",               "fake:",      "",            "expected fake:COUNT with a count from 0 to 256, got \"fake:\"",
         STATUS_INVALID                                                                                                                        },
        {"too many",               "fake:257",   "",
         "expected fake:COUNT with a count from 0 to 256, got \"fake:257\"",                                                     STATUS_INVALID},
        {"no memory",              "fake:1:0",   "",            "memory of a simulated device: expected more than 0, got 0",
         STATUS_INVALID                                                                                                                        },
        {"not a size",             "fake:1:big", "",            NULL,                                                            STATUS_INVALID},
        {"a file for a directory", "none",       "/etc/passwd", NULL,                                                            STATUS_IO     },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        struct err err = {0};
        struct agent *a = NULL;
        const struct agent_config config = {
            .data_dir = str_from_c(rows[i].dir[0] != '\0' ? rows[i].dir : test_tmp_dir()),
            .gpus = str_from_c(rows[i].gpus),
            .node_name = STR("box"),
        };
        EXPECT_STATUS(agent_open(&config, &a, &err), rows[i].want);
        EXPECT(a == NULL);
        if (rows[i].text != NULL) {
            EXPECT_STR(str_from_c(err.text), str_from_c(rows[i].text));
        }
    }
    test_row(NULL);
}

/* ---- NVML, by the stand-in ---- */

static void nvml_says(const char *first, const char *second)
{
    const char *path = getenv("WEIR_TEST_NVML");
    struct str text = arena_printf(&w.arena,
                                   "GPU-11111111-2222-3333-4444-555555555555|NVIDIA H100 80GB HBM3|"
                                   "85520809984|3|00000000:3B:00.0|%s\n"
                                   "GPU-66666666-2222-3333-4444-555555555555|NVIDIA H100 80GB HBM3|"
                                   "85520809984|1|00000000:5E:00.0|%s\n",
                                   first, second);
    REQUIRE(path != NULL);
    const char *slash = strrchr(path, '/');
    const char *folder = arena_printf(&w.arena, "%.*s", (int)(slash - path), path).ptr;
    CLEANUP(file_close) int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    REQUIRE(file_write(dir, slash + 1, text, 0600, false, NULL) == STATUS_OK);
}

struct health {
    bool first, second;
};

static bool health_is(const void *arg)
{
    const struct health *h = arg;
    return w.node.devices_count == 2 && w.node.devices[0].healthy == h->first &&
           w.node.devices[1].healthy == h->second;
}

TEST(nvml)
{
    if (getenv("WEIR_TEST_NVML_DIR") == NULL) {
        test_skip("run by meson test, which says where the stand-in library is");
    }
    w = (struct world){0};
    arena_init(&w.arena, 0);
    (void)snprintf(w.dir, sizeof(w.dir), "%s/data", test_tmp_dir());
    const char *file = arena_printf(&w.arena, "%s/gpus", test_tmp_dir()).ptr;
    REQUIRE(setenv("WEIR_TEST_NVML", file, 1) == 0);
    world_attach("auto"); // no file: as a library without a driver
    EXPECT(noted("no GPUs: NVML does not start: Driver Not Loaded"));
    struct request *r = shell("true");
    EXPECT_I64(await(INPUT_POD_EXITED, start(r))->exit_code, 0);
    agent_close(w.agent);

    nvml_says("ok", "ok");
    world_attach("auto");
    REQUIRE(until(health_is, &(struct health){true, true}));
    EXPECT_STR(w.node.devices[0].uuid, STR("GPU-11111111-2222-3333-4444-555555555555"));
    EXPECT_STR(w.node.devices[0].model, STR("NVIDIA H100 80GB HBM3"));
    EXPECT_I64(w.node.devices[1].memory_bytes, 85520809984);
    EXPECT_I64(w.node.devices[1].index, 1);
    EXPECT_STR(w.node.labels[1].value, STR("NVIDIA-H100-80GB-HBM3"));
    nvml_says("ok", "lost");
    EXPECT(until(health_is, &(struct health){true, false}));
    nvml_says("ok", "ok"); // answers again
    EXPECT(until(health_is, &(struct health){true, true}));
    nvml_says("xid:13", "lost"); // a fault of a program is not one of the card
    EXPECT(until(health_is, &(struct health){true, false}));
    agent_close(w.agent);
    nvml_says("ok", "ok");
    world_attach("auto");
    nvml_says("ok", "xid:79"); // fell off the bus: stays so
    EXPECT(until(health_is, &(struct health){true, false}));
    world_close();
}

/* Waits for the watcher to have seen another state of the second device. */
static void watched(struct devices *d)
{
    do {
        struct pollfd fd = {.fd = devices_fd(d), .events = POLLIN};
        REQUIRE(poll(&fd, 1, PATIENCE_MS) == 1);
    } while (!devices_changed(d));
}

TEST(use_by_nvml)
{
    if (getenv("WEIR_TEST_NVML_DIR") == NULL) {
        test_skip("run by meson test, which says where the stand-in library is");
    }
    struct devices *d;
    struct err err;
    w = (struct world){0};
    arena_init(&w.arena, 0);
    REQUIRE(setenv("WEIR_TEST_NVML", arena_printf(&w.arena, "%s/gpus", test_tmp_dir()).ptr, 1) ==
            0);
    nvml_says("busy", "ok");
    REQUIRE_OK(devices_open(STR("auto"), STR("box"), 10, &d, &err), &err);
    struct str uuid = STR("GPU-11111111-2222-3333-4444-555555555555");
    int64_t from_ms = clock_mono_ms();
    nvml_says("busy", "lost");
    watched(d);
    int64_t used_ms = devices_used_ms(d, uuid);
    EXPECT(used_ms >= from_ms && used_ms <= clock_mono_ms());
    nvml_says("ok", "ok");
    watched(d);
    used_ms = devices_used_ms(d, uuid);
    nvml_says("ok", "lost");
    watched(d);
    EXPECT_I64(devices_used_ms(d, uuid), used_ms); /* not in use any more */
    EXPECT(devices_used_ms(d, STR("GPU-of-elsewhere")) >= used_ms);
    devices_close(d);
    arena_done(&w.arena);
}

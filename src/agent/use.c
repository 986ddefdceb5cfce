// SPDX-License-Identifier: Apache-2.0
#include "agent/use.h"

#include <unistd.h>

#include "agent/process.h"
#include "io/clock.h"
#include "io/file.h"

/* Of a window of which a process that only waits uses less. */
enum { IDLE_PERCENT = 2 };

/* Which devices it has, from what it was started with; none where that cannot be read. */
static void read_devices(struct agent_pod *p)
{
    struct arena arena;
    struct buf bytes;
    struct launch l;
    arena_init(&arena, 0);
    buf_init(&bytes, LAUNCH_SPEC_MAX);
    p->use.known = true;
    if (file_read(p->dir_fd, "spec", &bytes, NULL) == STATUS_OK &&
        record_decode(&record_launch, buf_view(&bytes), &arena, &l, NULL) == STATUS_OK) {
        p->use.devices = ARENA_ARRAY(&p->use.arena, struct str_item, l.devices_count);
        for (uint32_t i = 0; i < l.devices_count; i++) {
            p->use.devices[p->use.devices_count++].value = arena_str(&p->use.arena,
                                                                     l.devices[i].value);
        }
    }
    buf_done(&bytes);
    arena_done(&arena);
}

/* Since the last look, which was at since_ms. */
static bool was_used(const struct agent *a, struct agent_pod *p, int64_t since_ms, int64_t now_ms)
{
    bool used = false;
    if (devices_are_real(a->machine.devices)) {
        for (uint32_t i = 0; i < p->use.devices_count; i++) {
            used |= devices_used_ms(a->machine.devices, p->use.devices[i].value) >= since_ms;
        }
        return used;
    }
    struct process main;
    int64_t ticks = process_read((pid_t)p->status.main_pid, &main) ? main.ticks : 0;
    int64_t ran_ms = (ticks - p->use.ticks) * 1000 / sysconf(_SC_CLK_TCK);
    p->use.ticks = ticks;
    return ran_ms * 100 > (now_ms - since_ms) * IDLE_PERCENT;
}

static void look(struct agent *a, struct agent_pod *p)
{
    int64_t now_ms = clock_mono_ms();
    int64_t since_ms = p->use.looked_ms;
    if (!p->use.known) {
        read_devices(p);
    }
    if (p->use.devices_count == 0) {
        return;
    }
    bool idle = !was_used(a, p, since_ms, now_ms);
    p->use.looked_ms = now_ms;
    if (since_ms > 0 && (!p->use.told || idle != p->use.idle)) {
        p->use.told = true;
        p->use.idle = idle;
        pod_observe(a, p, INPUT_POD_IDLE, idle ? clock_wall_ms() - (now_ms - since_ms) : 0);
    }
}

void uses_look(struct agent *a)
{
    bool any = false;
    for (uint32_t i = 0; i < a->pods_count; i++) {
        struct agent_pod *p = a->pods[i];
        any = any || p->stage == STAGE_CONNECTED;
        if (p->stage == STAGE_CONNECTED && p->status.state == POD_STATE_RUNNING) {
            look(a, p);
        }
    }
    a->uses_at_ms = any ? clock_mono_ms() + a->uses_every_ms : 0;
}

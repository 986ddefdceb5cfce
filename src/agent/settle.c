// SPDX-License-Identifier: Apache-2.0
// The lock is taken here and handed over to the supervisor with its descriptor, so there is no
// moment in which a pod that is being started looks like one that is not.
#include "agent/settle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "agent/start.h"
#include "base/num.h"
#include "io/clock.h"
#include "io/file.h"

enum { PATH_SIZE = 4096, STARTS_MS_MAX = 2000 };

void pod_record(struct agent *a, struct agent_pod *p, enum pod_state state, const char *reason)
{
    p->status.state = state;
    p->status.ended_ms = clock_wall_ms();
    boot_id(p->status.boot_id);
    status_reason(&p->status, str_from_c(reason));
    struct err err;
    if (status_write(p->dir_fd, &p->status, true, &err) != STATUS_OK) {
        // The directory cannot be written: then what is told must at least say so.
        char text[REASON_MAX];
        (void)snprintf(text, sizeof(text), "%.200s (%.150s)", reason, err.text);
        status_reason(&p->status, str_from_c(text));
    }
    pod_tell(a, p);
    pod_remove(a, p);
}

/* ---- starting a supervisor ---- */

static void pod_dir(const struct agent *a, const struct agent_pod *p, char out[PATH_SIZE])
{
    (void)snprintf(out, PATH_SIZE, STR_FMT "/%s", STR_ARG(a->pods_dir), p->name);
}

/* Has the pod's supervisor started, or with no listener the one that cleans up. */
static bool pod_supervise(struct agent *a, struct agent_pod *p, int lock, int listener,
                          struct err *err)
{
    char dir[PATH_SIZE];
    pod_dir(a, p, dir);
    return nursery_start(&a->nursery, dir, lock, listener, err) == STATUS_OK;
}

/* The lock is held and nothing was started: start it now. */
static void pod_launch(struct agent *a, struct agent_pod *p, const struct effect *e, int lock)
{
    struct err err;
    char reason[REASON_MAX], dir[PATH_SIZE];
    pod_dir(a, p, dir);
    if (!start_allowed(&a->machine, e, reason)) {
        pod_record(a, p, POD_STATE_FAILED, reason);
        return;
    }
    if (start_files(&a->machine, e, str_from_c(dir), p->dir_fd, &err) != STATUS_OK) {
        pod_record(a, p, POD_STATE_FAILED, err.text);
        return;
    }
    CLEANUP(file_close) int listener = pod_listen(p);
    if (listener < 0) {
        (void)snprintf(reason, sizeof(reason), "cannot listen in the pod's directory: %s",
                       strerror(errno));
        pod_record(a, p, POD_STATE_FAILED, reason);
        return;
    }
    if (!pod_supervise(a, p, lock, listener, &err)) {
        pod_record(a, p, POD_STATE_FAILED, err.text);
        return;
    }
    p->launched = true;
    if (!launch_is_image(workload_pod(e->workload, e->pod_index))) { // that may be long in coming
        p->starts_until_ms = clock_mono_ms() + STARTS_MS_MAX;
    }
    if (!pod_connect(a, p)) {
        pod_expect(a, p);
    }
}

/* ---- finding out what a pod is ---- */

static bool started_in_this_boot(const struct agent_pod *p, bool *started)
{
    struct buf text;
    char now[UUID_TEXT_LEN + 1];
    buf_init(&text, STATUS_TEXT_MAX);
    boot_id(now);
    *started = file_read(p->dir_fd, "started", &text, NULL) == STATUS_OK;
    bool same = str_eq(buf_view(&text), str_from_c(now));
    buf_done(&text);
    return *started && same;
}

/* What is left is ended by a process that holds the lock meanwhile, and records the end. */
static void pod_clean(struct agent *a, struct agent_pod *p, int lock)
{
    struct err err;
    if (p->cleaned || !pod_supervise(a, p, lock, -1, &err)) {
        pod_record(a, p, POD_STATE_EXITED, "NodeLost");
        return;
    }
    p->cleaned = true;
    pod_expect(a, p);
}

/* What the supervisor said before it died without recording anything. */
static void dead_reason(const struct agent_pod *p, char reason[REASON_MAX])
{
    struct buf text;
    buf_init(&text, 64 << 10);
    struct str said = STR("");
    if (file_read(p->dir_fd, "errors", &text, NULL) == STATUS_OK) {
        said = str_trim(buf_view(&text));
    }
    uint32_t most = 250;
    (void)snprintf(reason, REASON_MAX, "the supervisor ended before the pod was started%s" STR_FMT,
                   said.len > 0 ? ": " : "", STR_ARG(str_sub(said, 0, most)));
    buf_done(&text);
}

/* Nobody holds the lock but us. */
static void pod_settle_locked(struct agent *a, struct agent_pod *p, const struct effect *start,
                              int lock)
{
    char reason[REASON_MAX];
    bool started;
    if (status_read(p->dir_fd, &p->status, NULL) == STATUS_OK && status_is_final(&p->status)) {
        pod_tell(a, p);
        pod_remove(a, p);
        return;
    }
    bool this_boot = started_in_this_boot(p, &started);
    if (started && !this_boot) {
        p->status.exit_code = -1;
        pod_record(a, p, POD_STATE_EXITED, "NodeLost");
    } else if (started) {
        pod_clean(a, p, lock);
    } else if (p->stop_wanted) {
        status_init(&p->status);
        pod_record(a, p, POD_STATE_EXITED, "Stopped");
    } else if (p->launched) {
        dead_reason(p, reason);
        pod_record(a, p, POD_STATE_FAILED, reason);
    } else if (start != NULL) {
        pod_launch(a, p, start, lock);
    } else {
        pod_remove(a, p); // prepared but not started: the START comes again
    }
}

void pod_settle(struct agent *a, struct agent_pod *p, const struct effect *start)
{
    if (p->dir_fd < 0) {
        p->dir_fd = openat(a->pods_fd, p->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (p->dir_fd < 0) {
            pod_record(a, p, start != NULL ? POD_STATE_FAILED : POD_STATE_EXITED,
                       "the pod's directory cannot be opened");
            return;
        }
    }
    if (pod_connect(a, p)) {
        return;
    }
    CLEANUP(file_close)
    int lock = openat(p->dir_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0) {
        pod_settle_locked(a, p, start, lock);
    } else {
        pod_expect(a, p);
    }
}

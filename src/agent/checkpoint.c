// SPDX-License-Identifier: Apache-2.0
// The time of the last change is all there is to know, so looking now and then loses nothing; what
// is told later than the job said it is told with the time at which it said it.
#include "agent/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "io/clock.h"
#include "io/file.h"

enum { LOOKS_A_TELL = 6, EVERYBODY_WRITES = 0666 };

enum status checkpoint_make(int dir_fd, struct err *err)
{
    const struct timespec never[2] = {
        {0, 0},
        {0, 0}
    };
    CLEANUP(file_close)
    int fd = openat(dir_fd, CHECKPOINT_NAME, O_WRONLY | O_CREAT | O_CLOEXEC, EVERYBODY_WRITES);
    if (fd < 0 || fchmod(fd, EVERYBODY_WRITES) != 0 || futimens(fd, never) != 0) {
        return err_set(err, STATUS_IO, "cannot make the file for checkpoints: %s", strerror(errno));
    }
    return STATUS_OK;
}

static int64_t touched_ms(const struct agent_pod *p)
{
    struct stat st;
    if (fstatat(p->dir_fd, CHECKPOINT_NAME, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return 0; // of a pod that an older weir started
    }
    return (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
}

void checkpoints_look(struct agent *a)
{
    int64_t now_ms = clock_mono_ms();
    bool any = false;
    for (uint32_t i = 0; i < a->pods_count; i++) {
        struct agent_pod *p = a->pods[i];
        if (p->stage != STAGE_CONNECTED) {
            continue;
        }
        any = true;
        int64_t at_ms = p->status.state == POD_STATE_RUNNING ? touched_ms(p) : 0;
        if (at_ms > 0 && at_ms != p->checkpoint_ms && now_ms >= p->checkpoint_tell_ms) {
            p->checkpoint_ms = at_ms;
            p->checkpoint_tell_ms = now_ms + LOOKS_A_TELL * a->checkpoints_every_ms;
            pod_observe(a, p, INPUT_POD_CHECKPOINT, at_ms);
        }
    }
    a->checkpoints_at_ms = any ? now_ms + a->checkpoints_every_ms : 0;
}

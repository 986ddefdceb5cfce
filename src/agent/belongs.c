// SPDX-License-Identifier: Apache-2.0
// A supervisor takes in all orphans below it, so no process of a pod gets from under it. A name that
// a process gave itself to look like a supervisor can only make those below it be refused.
//
// A parent that ends between two looks may leave its number to a stranger, and the way up would lead
// astray. So the way is gone twice: with the parent gone, its child has another by then. Ways that
// are not found to their end do not count.
#include "agent/belongs.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/launch.h"
#include "agent/nursery.h"
#include "agent/process.h"
#include "io/file.h"

enum { LEVELS_MAX = 256, LOOKS_NEEDED = 2, LOOKS_MAX = 8, GROUPS_MAX = 64 << 10 };

enum way { WAY_LOST, WAY_FREE, WAY_POD };

static bool is_among(pid_t pid, const pid_t *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (list[i] == pid) {
            return true;
        }
    }
    return false;
}

/* Goes up from pid to the first process, or to one of those given. */
static enum way way_up(pid_t pid, const pid_t *ends, uint32_t ends_count)
{
    for (int level = 0; level < LEVELS_MAX; level++) {
        struct process p;
        if (pid == 0 || is_among(pid, ends, ends_count)) {
            return WAY_FREE;
        }
        if (!process_read(pid, &p)) {
            return WAY_LOST; // it ended just now
        }
        if (strcmp(p.name, SUPERVISOR_NAME) == 0 || strcmp(p.name, NURSERY_NAME) == 0) {
            return WAY_POD;
        }
        pid = p.parent;
    }
    return WAY_POD; // nobody else hides so deep
}

static bool below_supervisor(pid_t pid)
{
    pid_t own[LEVELS_MAX];
    uint32_t own_count = 0;
    struct process p = {.parent = getpid()};
    do {
        own[own_count++] = p.parent;
    } while (own_count < LEVELS_MAX && process_read(p.parent, &p) && p.parent > 0);
    for (int look = 0, found_free = 0; look < LOOKS_MAX; look++) {
        enum way way = way_up(pid, own, own_count);
        found_free += way == WAY_FREE ? 1 : 0;
        if (way == WAY_POD || found_free == LOOKS_NEEDED) {
            return way == WAY_POD;
        }
    }
    return true; // it may be anybody's
}

/* How many of the groups that a process is in are pods', over all hierarchies. */
static uint32_t pod_groups(pid_t pid)
{
    char path[64];
    struct buf text;
    buf_init(&text, GROUPS_MAX);
    (void)snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
    uint32_t count = 0;
    if (file_read(AT_FDCWD, path, &text, NULL) == STATUS_OK) {
        struct str rest = buf_view(&text), line, part;
        while (str_split(&rest, '\n', &line)) {
            while (str_split(&line, '/', &part)) {
                struct uuid pod;
                uint32_t attempt;
                count += launch_name_parse(part, &pod, &attempt) ? 1 : 0;
            }
        }
    }
    buf_done(&text);
    return count;
}

bool belongs_to_pod(pid_t pid)
{
    return below_supervisor(pid) || pod_groups(pid) > pod_groups(getpid());
}

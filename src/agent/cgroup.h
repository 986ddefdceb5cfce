// SPDX-License-Identifier: Apache-2.0
// cgroup: control groups of version 1, version 2 and both at once (hybrid), behind one face. What
// is found missing is simply absent: each controller has a directory of its own, or none. Groups of
// pods are made below the group that weir itself is in, so that limits set on weir hold for them.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "model/record.h"

enum cgroup_controller { CG_CPU, CG_MEMORY, CG_PIDS, CG_DEVICES, CG_KILL, CG_COUNT };
enum { CG_PATH_SIZE = 512, CG_PIDS_MAX = 32768 };

/* Where groups can be made: "" where the controller cannot be used. */
struct cgroups {
    char dir[CG_COUNT][CG_PATH_SIZE];
    uint32_t v2; /* bit per controller */
};

/* cgroup_probe finds out by trying: makes the directory "weir" and a group in it, moves a child
 * process there. Milliseconds. */
void cgroup_probe(struct cgroups *out);

/* One pod's group. */
struct cgroup {
    struct cgroups at;
    int join
        [CG_COUNT]; /* open file that a process joins by, -1 none or the same as an earlier one */
    int v2_dir;     /* open directory of the version 2 group, -1 none */
};
struct cgroup_limits {
    int64_t cpu_milli;                   /* asked for: the weight against others */
    int64_t cpu_limit_milli;             /* -1 none */
    int64_t memory_limit_bytes;          /* -1 none */
    const struct str_item *device_nodes; /* allowed besides the harmless ones */
    uint32_t device_nodes_count;
};
/* cgroup_make makes the group `name` in each of `in` and sets the limits; a limit that cannot be set
 * though its controller is there is STATUS_UNSUPPORTED. What was made stays: cgroup_remove. */
MUST_USE enum status cgroup_make(struct cgroup *cg, const struct cgroups *in, const char *name,
                                 const struct cgroup_limits *limits, struct err *err);
/* cgroup_at names an existing group without touching it. */
void cgroup_at(struct cgroup *cg, const struct cgroups *in, const char *name);
/* cgroup_fork forks into the version 2 group where it can (*forked_in, in the child too); the child
 * then calls cgroup_join for the rest. cg NULL: an ordinary fork. */
pid_t cgroup_fork(const struct cgroup *cg, bool *forked_in);
/* cgroup_join moves the calling, single-threaded process in; false with errno. Safe after fork. */
bool cgroup_join(const struct cgroup *cg, bool forked_in);
/* cgroup_kill sends SIGKILL to all that is in the group; false when it had no means to. */
bool cgroup_kill(const struct cgroup *cg);
/* cgroup_oom: the kernel killed something in the group for its memory limit. */
bool cgroup_oom(const struct cgroup *cg);
/* cgroup_remove removes the (empty) group and closes what is open. */
void cgroup_remove(struct cgroup *cg);

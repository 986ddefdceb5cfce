// SPDX-License-Identifier: Apache-2.0
// launch: what is in a pod's directory, DATA/pods/<pod uuid>.<attempt>/ (mode 0700), and what the
// agent and the pod's supervisor say to each other about it.
//
//   lock      held (flock) by whoever starts the pod, then by its supervisor as long as it lives
//   spec      what to run (struct launch), written before the supervisor is started
//   started   made durable before the job's first instruction: with it, the job may have run
//   status    what became of it (struct pod_status), replaced atomically
//   sock      the supervisor listens here while it lives
//   checkpoint  the job touches it when its work is safe (agent/checkpoint.h)
//   log       output of the job, stdout and stderr as they came, and log.N (io/rolled.h)
//   errors    what the supervisor itself had to say, empty as a rule
#pragma once

#include <sys/types.h>

#include "agent/cgroup.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "model/effect.h"

enum {
    LAUNCH_NAME_SIZE = 64,     /* "<uuid>.<attempt>" */
    LAUNCH_SPEC_MAX = 4 << 20, /* bytes of a spec file: a command line has 2 MiB */
    STATUS_TEXT_MAX = 2048,    /* bytes of a status file */
    REASON_MAX = 400,          /* bytes of a reason */
    LOG_BYTES_MAX = 64 << 20,  /* a log of this size is put aside */
};

/* How the processes of a pod are kept apart from the rest, as far as this machine allows. */
enum launch_isolation {
    ISOLATION_NONE,
    ISOLATION_ROOT, /* own mount and PID namespaces, /proc and /dev */
    ISOLATION_USER, /* the same inside a user namespace */
};

/* All the supervisor needs to know. */
struct launch {
    struct uuid pod;
    uint32_t attempt;
    uint32_t pod_index;
    struct uuid workload;
    struct str workload_name, project, node;
    struct pod_spec spec;
    enum framework framework; /* how its pods, pods_count of them, find each other, from port on */
    uint32_t pods_count, pods_min; /* pods_min: so many are enough */
    int64_t port;
    struct str_item *devices;      /* UUIDs of the granted devices */
    struct str_item *device_nodes; /* their nodes: /dev/nvidia0, /dev/nvidiactl, … */
    struct str_item *cgroups; /* directory of each enum cgroup_controller, "" where there is none */
    uint32_t devices_count, device_nodes_count, cgroups_count;
    uint32_t cgroups_v2; /* bit per controller: speaks version 2 */
    struct str cpus;     /* the processors it is kept to, of NUMA node numa_node; "": all */
    int64_t numa_node;
    enum launch_isolation isolation;
    struct str checkpoint; /* the file that the job touches (agent/checkpoint.h), as weir sees it */
    struct str_item *hidden; /* directories that are empty for the pod: weir's own */
    uint32_t hidden_count;
};
extern const struct record record_launch;

/* launch_name writes the name of the pod's directory. */
void launch_name(struct uuid pod, uint32_t attempt, char out[LAUNCH_NAME_SIZE]);
/* launch_name_parse is its inverse; false for anything else. */
MUST_USE bool launch_name_parse(struct str name, struct uuid *pod, uint32_t *attempt);

/* launch_is_image: the pod runs in a container of its image, not on the host. */
bool launch_is_image(const struct pod_spec *spec);

/* Who the job runs as. */
struct account {
    uid_t uid;
    gid_t gid;
    const char *name; /* "" when the system knows none */
    const char *home; /* "/" when it has none */
};

/* launch_env makes the whole environment of the job, NULL-terminated, in arena: nothing comes from
 * weir's own. What weir says about devices and names wins over the user's variables; PATH, HOME,
 * USER and LOGNAME do not (and are left out for an image, which brings its own). */
char **launch_env(const struct launch *l, const struct account *who, struct arena *arena);

enum pod_state {
    POD_STATE_STARTING, /* not known to run yet */
    POD_STATE_RUNNING,
    POD_STATE_EXITED,
    POD_STATE_FAILED, /* could not be started */
};

/* Written as lines of key=value. */
struct pod_status {
    enum pod_state state;
    char boot_id[UUID_TEXT_LEN + 1];
    int64_t supervisor_pid, supervisor_start; /* start: clock ticks since boot (/proc/PID/stat) */
    int64_t main_pid, main_start;
    int64_t started_ms, ended_ms; /* wall clock; -1 not yet */
    int64_t exit_code;            /* 128 + signal for a signal; -1 not known */
    bool oom;
    char reason[REASON_MAX]; /* of EXITED and FAILED; one line */
};
void status_init(struct pod_status *st);
bool status_is_final(const struct pod_status *st); /* EXITED or FAILED */
void status_format(const struct pod_status *st, struct buf *out);
/* status_parse: STATUS_CORRUPT when text is not what status_format writes. */
MUST_USE enum status status_parse(struct str text, struct pod_status *out, struct err *err);
MUST_USE enum status status_read(int dir_fd, struct pod_status *out, struct err *err);
MUST_USE enum status status_write(int dir_fd, const struct pod_status *st, bool durable,
                                  struct err *err);
/* status_reason sets the reason, cut to fit, line breaks made spaces. */
void status_reason(struct pod_status *st, struct str reason);

/* boot_id reads the kernel's; "" when it does not say. */
void boot_id(char out[UUID_TEXT_LEN + 1]);

// SPDX-License-Identifier: Apache-2.0
// job: one child process with everything set that a user's command needs, and an exact account of
// what went wrong when it could not be run.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "agent/cgroup.h"
#include "agent/isolate.h"
#include "agent/launch.h"

enum { JOB_GROUPS_MAX = 256 };

/* Who a job runs as, with what the system knows of them. */
struct job_user {
    struct account account;
    bool change; /* other than the supervisor's own */
    gid_t groups[JOB_GROUPS_MAX];
    int groups_count;
};
/* job_user_find resolves the user of a spec. Names live in arena. */
void job_user_find(struct job_user *out, const struct pod_spec *spec, struct arena *arena);

struct job {
    char *const *argv;
    char *const *env;
    const char *working_dir;       /* "": home, else /; NULL: left as it is */
    const struct job_user *user;   /* NULL: not changed */
    const struct isolate *isolate; /* NULL: none */
    const struct cgroup *cgroup;   /* NULL: none */
    bool confined;                 /* with no more powers than a job has (agent/powers.h) */
    struct str cpus;               /* kept to these, of NUMA node numa_node; "": all */
    int64_t numa_node;
    int in, out, err; /* its stdin, stdout, stderr; -1: /dev/null */
    int terminal;     /* a socket: a new terminal's other side is sent over it; -1 none */
};

/* job_start forks in a session of its own. *report becomes readable with nothing when the command
 * runs, or with a failure for job_report. -1 with errno when there is no process. */
pid_t job_start(const struct job *job, int *report);
/* job_report reads *report: true when the command runs; else *reason says why not, in the user's
 * words, and *code is 126 or 127 as a shell would say. */
bool job_report(int report, const struct job *job, char reason[REASON_MAX], int *code);
/* job_code: exit code of a wait status, 128 + signal for a signal. */
int job_code(int wait_status);
/* job_receive_fd takes the descriptor that was sent over a socket; -1 when there was none. */
int job_receive_fd(int sock);

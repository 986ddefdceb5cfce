// SPDX-License-Identifier: Apache-2.0
// agent: this machine as a cluster of one node (ports/cluster.h): finds its devices, runs pods as
// process trees beside weir (agent/supervise.h), and takes them over again when weir comes back.
//
// Everything about a pod is in DATA/pods/<pod uuid>.<attempt>/ (agent/launch.h). (pod, attempt) is
// started at most once, however often its START is delivered and however often weir dies. All
// functions are called from one thread. Observations:
//   NODE_SEEN    at open and when a device's health changes
//   POD_STARTED  its command runs (at_ms: since when)
//   POD_EXITED   exit_code: the code, 128 + signal, or -1 when not known; reason: "Completed",
//                "Error", "OOMKilled", "Stopped", "NodeLost" (the machine or the supervisor went
//                away), after nothing of its process tree is left
//   POD_IDLE     at_ms: it uses none of its devices since; 0: it does again (agent/use.h)
//   POD_FAILED   it could not be started; reason says why in the user's words
// At open everything in the data directory is reported again; who receives it knows what is old.
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/err.h"
#include "ports/cluster.h"

struct agent_config {
    struct str data_dir;        /* made when missing, mode 0700 */
    struct str gpus;            /* "auto", "none", "fake:COUNT[:SIZE]" (agent/device.h) */
    struct str node_name;       /* not empty */
    const struct label *labels; /* of the node, besides the ones found */
    uint32_t labels_count;
    int64_t device_check_ms; /* time between checks of the devices' health; 0: 10 s */
    int64_t use_check_ms;    /* windows of time in which pods use their devices or not; 0: 30 s */
    int64_t checkpoint_check_ms; /* time between looks at the jobs' checkpoints; 0: 5 s */
    const struct str
        *hidden;           /* directories that pods do not see, where they have namespaces; the */
    uint32_t hidden_count; /* data directory is among them anyway */
    /* What stands for the secret `key` of a credential when a pod starts, in arena; NULL: there are
     * none. */
    enum status (*secret)(void *ctx, struct uuid credential, struct str key, struct arena *arena,
                          struct str *out, struct err *err);
    void *secret_ctx;
    uint64_t pod_files_max; /* files a pod may have open, until it asks for more; 0: as the agent */
};

struct agent;

/* agent_open looks at the machine and takes over the pods that are there. STATUS_INVALID: a setting
 * is wrong; STATUS_IO: the data directory cannot be used. Takes milliseconds (more with NVML). */
MUST_USE enum status agent_open(const struct agent_config *config, struct agent **out,
                                struct err *err);
/* agent_close leaves the pods running. NULL is fine. */
void agent_close(struct agent *a);

/* agent_cluster: the port; good until agent_close. do_effects and poll never wait for a pod. */
struct cluster agent_cluster(struct agent *a);
/* agent_fd becomes readable (epoll, poll) when cluster.poll has something to do. */
int agent_fd(const struct agent *a);

/* agent_describe: what is enforced on this machine and what is not, a sentence each (the node's
 * notes). Lives as long as the agent. */
const struct str_item *agent_describe(const struct agent *a, uint32_t *count);

/* agent_is_pod: the process belongs to a pod of this machine, or is gone (agent/belongs.h). */
bool agent_is_pod(pid_t pid);

/* agent_log_path gives the path of a pod's log (io/rolled.h). The file may not exist. In arena,
 * NUL-terminated. */
struct str agent_log_path(const struct agent *a, struct uuid pod, uint32_t attempt,
                          struct arena *arena);

/* agent_forward connects to a port that a process of the running pod listens on (agent/forward.h).
 * STATUS_UNKNOWN: the pod does not run here. */
MUST_USE enum status agent_forward(struct agent *a, struct uuid pod, uint16_t port, int *fd,
                                   struct err *err);

/* agent_exec runs argv[argc] inside the running pod, with its environment and directory; env
 * ("NAME=value", env_count) comes on top. *fd is a stream socket, non-blocking, the caller's to
 * close, that carries frames (agent/frame.h) on channels 0 to 3; the last one is {"exit":code} on
 * channel 3. That the command cannot be run is told there too, as a shell would (126, 127).
 * STATUS_UNKNOWN: the pod does not run here; STATUS_TOO_LARGE; STATUS_UNREACHABLE. */
MUST_USE enum status agent_exec(struct agent *a, struct uuid pod, const struct str *argv,
                                uint32_t argc, const struct str *env, uint32_t env_count,
                                bool terminal, int *fd, struct err *err);

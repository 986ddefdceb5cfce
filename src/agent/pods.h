// SPDX-License-Identifier: Apache-2.0
// pods: the pods that the agent knows, the way to their supervisors, and what is to be told of them.
// Inside of the agent: pods.c, settle.c, work.c and agent.c share these structs.
#pragma once

#include <stdbool.h>

#include "agent/frame.h"
#include "agent/launch.h"
#include "agent/machine.h"
#include "agent/nursery.h"
#include "base/array.h"
#include "base/buf.h"
#include "model/input.h"

/* Its supervisor is connected (it tells every change), or somebody holds the pod's lock and nobody
 * listens: it is just starting, just ending, or being cleaned up. One that has ended is not known:
 * its directory says all. */
enum stage { STAGE_EXPECTED, STAGE_CONNECTED };

struct agent_pod {
    uint64_t serial;
    struct uuid pod;
    uint32_t attempt;
    char name[LAUNCH_NAME_SIZE];
    enum stage stage;
    int dir_fd, sock;
    struct buf in;
    struct pod_status status; /* as last told */
    bool told_started;
    bool launched;           /* we started its supervisor */
    int64_t starts_until_ms; /* it takes part of the machine to start, until it is told or then */
    bool cleaned;            /* a supervisor was started to clean up after it */
    bool stop_wanted, stop_sent, forget;
    int64_t stops_until_ms; /* it takes part of the machine to stop, until it is gone or then */
    int64_t grace_ms;
    int64_t retry_at_ms, retry_ms;
    int64_t checkpoint_ms;      /* as told, by the wall clock; 0: none was */
    int64_t checkpoint_tell_ms; /* the next is not told before this */
    struct pod_use {
        struct arena arena; /* of devices */
        struct str_item *devices;
        uint32_t devices_count;
        bool known; /* devices is read */
        bool told;  /* something is, and `idle` is what */
        bool idle;
        int64_t looked_ms; /* by the monotonic clock; 0: not yet */
        int64_t ticks;     /* of its processor time, then */
    } use;
};

struct work;
struct work_list {
    struct work *first, *last;
};

struct agent {
    struct arena arena; /* what lives as long as the agent */
    struct str data_dir, pods_dir;
    int pods_fd, epoll_fd, event_fd, timer_fd;
    struct machine machine;
    struct nursery nursery;
    struct agent_pod **pods;
    uint32_t pods_count, pods_cap;
    uint64_t next_serial;
    struct work_list ends, starts; /* effects not yet acted on (agent/work.h) */
    uint32_t at_once_max;          /* pods that may be starting, and as many stopping, at a time */
    bool work_waits;               /* for some of those to be over */
    int64_t checkpoints_every_ms;
    int64_t checkpoints_at_ms; /* when they are looked at next; 0: there is nothing to look at */
    int64_t uses_every_ms, uses_at_ms; /* the same of the use of devices */
    struct arena queue_arena;          /* observations not yet handed on */
    ARRAY(struct input) queue;
    uint32_t queue_next;
};

/* What an epoll event is about: serial of the pod in the upper bits. */
enum source { SOURCE_QUEUE, SOURCE_TIMER, SOURCE_DEVICES, SOURCE_SOCKET };
enum { SOURCE_BITS = 3 };
/* agent_watch waits for fd to become readable; false with errno. */
bool agent_watch(struct agent *a, int fd, enum source source, uint64_t serial);
/* agent_wake makes the agent's descriptor readable: cluster.poll has something to do. */
void agent_wake(struct agent *a);

/* pods_observe queues an observation, to be filled in by the caller (texts in a->queue_arena). */
struct input *pods_observe(struct agent *a, enum input_kind kind);
/* pod_observe queues one about a pod, with what its status says. */
void pod_observe(struct agent *a, const struct agent_pod *p, enum input_kind kind, int64_t at_ms);
/* pod_tell observes what the status says; a start before its end, even when both are news at once. */
void pod_tell(struct agent *a, struct agent_pod *p);

struct agent_pod *pod_find(const struct agent *a, struct uuid pod, uint32_t attempt);
struct agent_pod *pod_by_serial(const struct agent *a, uint64_t serial);
struct agent_pod *pod_add(struct agent *a, struct uuid pod, uint32_t attempt);
/* pod_remove: it is not known any more; its files go too when they are to be forgotten. */
void pod_remove(struct agent *a, struct agent_pod *p);
void pod_close(struct agent_pod *p); /* what it has open, and itself */
/* pod_files_remove removes the directory of a pod that is not known. */
void pod_files_remove(const struct agent *a, struct uuid pod, uint32_t attempt);

/* pod_listen makes the socket that the pod's supervisor listens on, before there is one, so that
 * connecting never races with its start; -1 with errno. */
int pod_listen(const struct agent_pod *p);
/* pod_dial connects to the supervisor, non-blocking; -1 when nobody listens. */
int pod_dial(const struct agent_pod *p);
/* pod_connect makes the connection that tells every change; false when nobody listens. */
bool pod_connect(struct agent *a, struct agent_pod *p);
/* pod_expect: it cannot be said yet what it is; it is settled again soon. */
void pod_expect(struct agent *a, struct agent_pod *p);
void pod_send_stop(struct agent_pod *p);
/* pods_timer wakes the agent when the first expected pod is due, or starts or checkpoints are to be
 * looked at. */
void pods_timer(struct agent *a);

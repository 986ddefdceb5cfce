// SPDX-License-Identifier: Apache-2.0
// What the tests of the agent share: an agent on a directory of its own, requests to it, and what it
// said. Nothing sleeps: every wait is for the agent's descriptor, with a deadline.
#pragma once

#include "agent/agent.h"
#include "agent/frame.h"
#include "agent/launch.h"
#include "base/buf.h"

enum { PATIENCE_MS = 20000, SEEN_MAX = 1024, NOBODY = 65534, ARGS_MAX = 16 };

struct seen {
    enum input_kind kind;
    struct uuid pod;
    uint32_t attempt;
    int64_t at_ms, exit_code;
    char reason[REASON_MAX];
};
struct world {
    char dir[512];
    struct arena arena;
    struct agent *agent;
    struct cluster cluster;
    struct seen seen[SEEN_MAX];
    uint32_t seen_count;
    struct node node; /* as last seen; its lists belong to the agent */
};

extern struct world w;

/* world_open begins anew, world_attach an agent on the same directory. */
void world_open(void);
void world_attach(const char *gpus);
void world_reopen(void);
void world_close(void);
void note(void *arg, const struct input *in); /* for cluster.poll, with &w */
/* noted: the node has a note that begins so. */
bool noted(const char *start);

/* until handles what comes until `done` says so; false when the deadline passes first. */
bool until(bool (*done)(const void *), const void *arg);
struct awaited {
    enum input_kind kind;
    struct uuid pod;
};
bool was_seen(const void *awaited);
const struct seen *await(enum input_kind kind, struct uuid pod); /* or the test ends */
const struct seen *seen_find(enum input_kind kind, struct uuid pod);
uint32_t seen_times(enum input_kind kind, struct uuid pod);

struct request {
    struct workload workload;
    struct pod pod;
    struct str_item args[ARGS_MAX];
    struct env_var env[4];
    struct held_device devices[4];
    struct effect effect;
};
struct request *request(const char *const *argv); /* a START of a new pod */
struct request *shell(const char *script);
struct uuid start(const struct request *r);
void tell(enum effect_kind kind, const struct request *r, int64_t grace_ms);
void stop(const struct request *r, int64_t grace_ms);
/* await_ready waits for the job to have written "ready". */
void await_ready(const struct request *r);

const char *pod_path(const struct request *r, const char *file);
struct str file_text(const char *path);
struct str log_of(const struct request *r);
/* process_is_of: it was started with this pod's marker; looks at /proc by itself. */
bool process_is_of(const struct request *r, pid_t pid);
/* processes_of counts them. */
int processes_of(const struct request *r);
/* children counts our own, ended ones that nobody collected above all. */
int children(void);
bool children_are(const void *count);
/* fifo makes one that the job writes to or reads from: real synchronisation with a child. */
const char *fifo(const char *name);

struct talk {
    int fd;
    struct buf raw, out, err;
    int64_t code; /* -1: not told */
};
void talk_start(struct talk *t, const struct request *r, const char *const *argv, bool terminal);
void talk_send(struct talk *t, enum frame_kind kind, struct str bytes);
/* talk_read reads until the end, or until the output ends with `mark`. */
void talk_read(struct talk *t, const char *mark);
void talk_end(struct talk *t);

// SPDX-License-Identifier: Apache-2.0
// call: one request on its way through the API; for the files of this folder.
#pragma once

#include "api/api.h"
#include "api/body.h"
#include "api/route.h"
#include "api/show.h"
#include "base/array.h"
#include "io/peer.h"

enum {
    BODY_BYTES_MAX = 1 << 20, /* of a request; a plan: YAML_BYTES_MAX */
    ANSWER_BYTES_MAX = 256 << 20,
    PLANS_KEPT = 16, /* of earlier revisions, to say what others changed */
};

struct watcher;
struct log_stream;
struct bridge;
struct kept_name;

struct kept_plan {
    int64_t revision;
    struct arena arena;
    struct plan plan;
};

struct api {
    struct api_config config;
    struct route_table table;
    struct writer *writer;
    struct str server;
    struct arena arena;
    /* live.c */
    struct watcher *watchers;
    struct arena seen_arenas[2]; /* of the fingerprints, in turn */
    uint32_t seen_turn;
    struct seen *seen; /* [seen_count], in order of creation */
    uint32_t seen_count;
    bool watch_due;
    struct loop_timer watch_timer, heartbeat_timer;
    /* logs.c */
    struct log_stream *logs;
    struct loop_timer log_timer;
    /* exec.c */
    struct bridge *bridges;
    /* names.c */
    struct kept_name *names;
    /* plans.c */
    struct kept_plan kept[PLANS_KEPT];
};

struct call {
    struct api *api;
    struct http_request *request;
    struct arena *arena; /* the request's */
    const struct route_entry *entry;
    struct route_segments segments; /* what the parameters of the path stand for */
    const struct doc *args;         /* of the query, checked: api/args.h */
    const struct doc *body;         /* checked; NULL where the route takes none */
    struct peer peer;
    struct str user;                   /* name of the one who asks */
    struct str value;                  /* the wrong value, for an error's body */
    const struct problems *problems;   /* beside an error, NULL: none */
    const struct plan_change *changes; /* the same */
    uint32_t changes_count;
    struct buf text; /* of the command's answer, while it waits */
    bool waiting;    /* a command is with the writer */
    void *context;   /* the handler's, for its command's outcome */
    struct kept_name *name;
};

extern const struct route_group group_weir;

/* ---- answering ---- */

struct show call_show(struct call *c);
/* call_begin starts the JSON answer in c->text; call_send sends it. */
void call_begin(struct call *c, struct jw *w);
void call_send(struct call *c, int code);
/* call_fail answers with the error's body (and problems, changes, value where set). */
void call_fail(struct call *c, const struct err *err);
/* call_refuse is call_fail for a command refused at the edge: it is kept for the audit. NULL: under
 * the name of the route. */
void call_refuse(struct call *c, const char *what, const struct err *err);

/* ---- asking ---- */

/* call_workload finds the workload that {workload} stands for; NULL: answered. */
const struct workload *call_workload(struct call *c);
/* call_command sends the command; done is called with the outcome when it is durable. author and
 * key are filled in here. */
void call_command(struct call *c, struct input *in,
                  void (*done)(struct call *c, const struct outcome *));

/* submit_mint gives the workload and its spec.pods pods their ids. */
void submit_mint(struct submit *s, struct arena *arena);

/* ---- names ---- */

/* name_from_prefix gives prefix-N with the first N that is free in the project and that no command
 * under way has; a command that comes again under its key gets the name it got before. False: all
 * are taken. */
MUST_USE bool name_from_prefix(struct call *c, struct str project, struct str prefix,
                               struct str *name);
/* name_keep keeps it from others while this call's command is under way; call_command ends that. */
void name_keep(struct call *c, struct str project, struct str prefix, struct str name);
void name_done(struct call *c);

/* ---- handlers, by file ---- */
void get_whoami(struct call *c);
void get_version(struct call *c);
void get_openapi(struct call *c);
void get_health(struct call *c);
void get_cluster(struct call *c);
void get_departments(struct call *c);
void get_department(struct call *c);
void get_projects(struct call *c);
void get_project(struct call *c);
void get_pools(struct call *c);
void get_pool(struct call *c);
void get_nodes(struct call *c);
void get_node(struct call *c);
void get_plan(struct call *c);
void check_plan(struct call *c);
void diff_plan(struct call *c);
void apply_plan(struct call *c);
void get_workloads(struct call *c);
void get_workload(struct call *c);
void post_workload(struct call *c);
void suspend_workload(struct call *c);
void resume_workload(struct call *c);
void delete_workload(struct call *c);
void get_why(struct call *c);
void get_logs(struct call *c);
void get_exec(struct call *c);
void watch_workloads(struct call *c);

void live_changed(struct api *api);
void live_stop(struct api *api);
void logs_stop(struct api *api);
void exec_stop(struct api *api);
void plans_changed(struct api *api);
void plans_free(struct api *api);

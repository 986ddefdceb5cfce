// SPDX-License-Identifier: Apache-2.0
// call: one request on its way through the API; for the files of this folder.
#pragma once

#include "api/api.h"
#include "api/body.h"
#include "api/route.h"
#include "api/session.h"
#include "api/show.h"
#include "base/array.h"
#include "io/peer.h"

enum {
    BODY_BYTES_MAX = 1 << 20,       /* of a request; a plan: YAML_BYTES_MAX */
    OPEN_BODY_BYTES_MAX = 16 << 10, /* of one that anybody may send */
    ANSWER_BYTES_MAX = 256 << 20,
    PLANS_KEPT = 16, /* of earlier revisions, to say what others changed */
};

struct watcher;
struct log_stream;
struct bridge;
struct kept_name;
struct demands;
struct guard;
struct sso;
struct audit;
struct policy_breach;
struct lasting;

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
    /* auth.c */
    char named[PEER_NAME_SIZE]; /* of named_uid, as of named_ms (monotonic; 0: nobody yet) */
    uid_t named_uid;
    int64_t named_ms;
    struct tokens *tokens; /* NULL: nobody signs in */
    struct guard *guard;
    struct sso *sso; /* codes of sso.c */
    struct access_book book;
    struct arena book_arena;
    int64_t book_version; /* counts the books made; 0: none yet */
    struct places places;
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
    /* lasting.c */
    struct lasting *lasting;
    int64_t lasting_version; /* of the book, when they were looked at */
    struct loop_timer lasting_timer;
    /* names.c */
    struct kept_name *names;
    /* audit.c */
    struct audit *audit;
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
    struct session session;
    struct who who;   /* texts are the call's */
    struct str user;  /* name of the one who asks */
    struct str thing; /* its name, where the path has an id: for the audit; the call's */
    /* permit.c: what it is about, as far as the path tells */
    const struct workload *workload; /* good until the next batch */
    uint32_t row;                    /* of the plan */
    enum entity entity;
    enum right right;
    struct scope scope;
    bool decided;  /* that it may be commanded */
    uint32_t part; /* of a request that is several commands: each has a key of its own */
    /* private to auth.c */
    struct grants grants;
    struct sight sight;
    int64_t grants_version;
    struct str value;                   /* the wrong value, for an error's body */
    const struct problems *problems;    /* beside an error, NULL: none */
    const struct policy_breach *breach; /* the same */
    const struct plan_change *changes;  /* the same */
    uint32_t changes_count;
    struct buf text;   /* of the command's answer, while it waits */
    bool waiting;      /* a command is with the writer */
    void *context;     /* the handler's, for its command's outcome */
    struct str secret; /* made for this call, shown in its answer and nowhere else */
    struct kept_name *name;
    const struct demands *demands; /* runai/quotas.c */
};

extern const struct route_group group_weir, group_common, group_departments, group_projects,
    group_node_pools, group_nodes, group_clusters, group_workloads, group_workload_telemetry,
    group_workload_metrics, group_pods, group_workload_types, group_amounts, group_submit,
    group_specs, group_batch, group_events, group_properties, group_audit, group_users,
    group_accounts, group_keys, group_roles, group_rules, group_login, group_idps, group_assets,
    group_templates, group_reports, group_settings, group_policies, group_policy_forms, group_later;

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
/* call_refused keeps for the audit that a part of the call was refused; the answer tells of it too. */
void call_refused(struct call *c, const char *what, const struct err *err);

/* ---- asking ---- */

/* call_workload gives the workload that the path stands for, in a route that is "at workload"; NULL,
 * and answered: a command was repeated and it is gone since. */
const struct workload *call_workload(struct call *c);
/* call_row gives the row in the plan of the department or project that the route is "at". */
uint32_t call_row(const struct call *c);
/* call_sight: what the one who asks may see; for lists. Good until the next batch. */
struct sight *call_sight(struct call *c);
const struct grants *call_grants(struct call *c);
/* call_may decides about a scope that the route's row could not tell, and answers when it is no:
 * 404 where one may not even read, else 403. */
MUST_USE bool call_may(struct call *c, enum entity e, enum right right, struct scope scope);
/* call_denied answers 403: this right is not given there. */
void call_denied(struct call *c, enum entity e, enum right right, struct scope scope);
/* call_reject answers with err; when the request is a command, that is kept for the audit. */
void call_reject(struct call *c, const struct err *err);
/* call_about says the name of the thing whose id is in the path, as the audit is to have it: kept here,
 * since the thing may be gone once the command is done. */
void call_about(struct call *c, struct str name);
bool call_is_read(const struct call *c); /* it changes nothing: GET, HEAD */
/* call_answered: the same user gave a command under this key before; *id is what it was about. */
bool call_answered(struct call *c, struct uuid *id);
/* call_command sends the command; done is called with the outcome when it is durable. author, key and
 * origin are filled in here. That the call may command it was decided before (CHECK). */
void call_command(struct call *c, struct input *in,
                  void (*done)(struct call *c, const struct outcome *));

/* submit_mint gives the workload and its spec.pods pods their ids. */
void submit_mint(struct submit *s, struct arena *arena);

/* ---- who asks ---- */

/* call_admit finds out who asks; false: nobody who may, and answered. Open routes need no one. */
MUST_USE bool call_admit(struct call *c);
/* call_known: the request comes from somebody known, to go by before its body is read. */
bool call_known(struct api *api, const struct http_request *r);
/* call_is makes who the one who asks; the texts are copied. */
void call_is(struct call *c, const struct who *who);
/* api_book: of access, for the plan and identity as they are now; good until the next batch. */
const struct access_book *api_book(struct api *api);
struct origin call_origin(const struct call *c);

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
void get_audit(struct call *c);
void get_whoami(struct call *c);
void get_version(struct call *c);
void get_openapi(struct call *c);
void get_docs(struct call *c);
void get_health(struct call *c);
void get_cluster(struct call *c);
void get_ownership(struct call *c);
void set_ownership(struct call *c);
void get_departments(struct call *c);
void get_department(struct call *c);
void get_projects(struct call *c);
void get_project(struct call *c);
void get_pools(struct call *c);
void get_pool(struct call *c);
void get_nodes(struct call *c);
void get_node(struct call *c);
void drain_node(struct call *c);
void undrain_node(struct call *c);
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
void get_port_forward(struct call *c);
void watch_workloads(struct call *c);

void live_changed(struct api *api);
void live_stop(struct api *api);
void logs_stop(struct api *api);
void exec_stop(struct api *api);
void plans_changed(struct api *api);
void plans_free(struct api *api);

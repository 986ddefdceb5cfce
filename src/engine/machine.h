// SPDX-License-Identifier: Apache-2.0
// machine: what the files of this folder share: the engine's memory, its indexes and books.
// Outside of engine/ only engine.h is included.
#pragma once

#include "base/array.h"
#include "base/map.h"
#include "engine/engine.h"
#include "model/ids.h"
#include "model/resources.h"

/* ---- indexes: derived from the state, rebuilt by tables_build ---- */

struct pod_row {
    uint32_t workload, pod; /* state.workloads[workload].pods[pod] */
};
struct workload_row {
    uint32_t events_cap; /* room in workload.events */
    uint32_t project;    /* index in plan.projects, IX_NONE: it is gone */
    uint32_t first_pod;  /* its pods are pod_rows[first_pod + i] */
};
struct node_row {
    uint32_t pool; /* index in plan.pools */
    uint32_t pods; /* that hold a place on it */
    int64_t cpu_milli, memory_bytes;
    int64_t *device_share; /* [devices_count]: how much of each is held, see pod_device_share */
};
/* What the books say of a pool up to a moment. */
struct pool_usage {
    bool known;
    int64_t to_ms;
    struct usage *projects, *departments; /* [projects_count], [departments_count] */
};
enum usage_look { USAGE_LOOK_DECIDE, USAGE_LOOK_SHOW, USAGE_LOOKS };

struct tables {
    struct arena arena;
    struct map workloads; /* id -> row */
    struct map pods;      /* id -> index in pod_rows */
    struct map names;     /* "project/name" -> row of the newest of that name */
    struct map answers;   /* author and key -> row */
    struct pod_row *pod_rows;
    struct workload_row *workload_rows;
    struct node_row *node_rows; /* [nodes_count] */
    uint32_t pod_rows_count, pod_rows_cap, workload_rows_cap, node_rows_cap;
    uint32_t *project_department; /* [projects_count] */
    uint32_t *department_parent;  /* [departments_count], IX_NONE: a top one */
    /* books: [pool * projects_count + project], [pool * departments_count + department] */
    struct held *project_held, *department_held;
    struct held *pool_has;                /* [pools_count]: what its ready nodes have */
    uint32_t *pool_books, *project_books; /* in state.books, by pool, as project_held; IX_NONE */
    uint32_t *uses_caps;                  /* [books_count]: room in book.uses */
    uint32_t uses_caps_cap;
    struct pool_usage *usage[USAGE_LOOKS]; /* [pools_count]: as last asked for */
    int64_t **fair_shares; /* [pools_count], each by tag of freeze.c; NULL before a decision */
};

struct engine {
    struct arena arenas[2]; /* the state lives in arenas[live]; the other one is for compaction */
    uint32_t live;
    size_t compact_at_bytes;
    struct state s;
    uint32_t types_cap, deleted_cap, books_cap, workloads_cap, answers_cap, nodes_cap, drains_cap,
        assets_cap, policies_cap;
    struct identity_caps {
        uint32_t users, applications, keys, roles, rules, providers;
    } identity_caps;
    struct tables t;
    struct arena scratch; /* reset at the start of every public call that uses it */
    struct buf bytes;     /* of the state, for its hash */
    int64_t decided_ms;   /* the time of the last decision */
    struct engine *self;  /* lets const calls reach the scratch memory */
    struct arena own;     /* holds this struct */
};

/* One input being applied. */
struct step {
    struct engine *e;
    const struct input *in;
    struct effects *effects;
    int64_t now_ms;
};

enum {
    BACKOFF_FIRST_MS = 10 * 1000,
    BACKOFF_MAX_MS = 300 * 1000,
    STALE_GRACE_MS = 60 * 1000,
    POOL_RETRY_MS = 60 * 1000,           /* between rounds through pools, after a change */
    POOL_RETRY_IDLE_MS = 15 * 60 * 1000, /* and without one: minimum run times end, shares move */
    GRACE_DEFAULT_MS = 30 * 1000,
};
#define DEFAULT_NAME           STR("default") /* of the pool and the department that are always there */
#define AUTO_DELETE_DEFAULT_MS (INT64_C(30) * 24 * 3600 * 1000)

struct arena *engine_memory(struct engine *e); /* where the state lives */

/* tables.c */
void tables_build(struct engine *e); /* all of it, from the state; O(state) */
void tables_add_workload(struct engine *e, uint32_t row);
/* A node is new at its place in the table; a node has another pool or other devices. What pods hold
 * of it is out of the books then. */
void tables_insert_node(struct engine *e, uint32_t node);
void tables_set_node(struct engine *e, uint32_t node);
void tables_add_answer(struct engine *e, uint32_t row);
uint32_t tables_pool(const struct plan *p, struct str name);       /* IX_NONE: unknown */
uint32_t tables_department(const struct plan *p, struct str name); /* the same */
uint32_t tables_project(const struct plan *p, struct str name);
uint32_t tables_node(const struct state *s, struct str name);
uint32_t tables_pool_of(const struct plan *p, const struct node *n);
bool tables_find_answer(const struct engine *e, struct str author, struct str key, uint32_t *row);
/* The places of projects by id; id_key is the key of one, good as long as *id is. */
void plan_projects_by_id(const struct plan *p, struct map *out, struct arena *arena);
struct str id_key(const uint32_t *id);
/* Parents of departments; false when a name is unknown or the tree is too deep or has a cycle. */
bool tables_departments(const struct plan *p, uint32_t *parent);

/* sound.c: STATUS_CORRUPT when a decoded state holds what no engine would have written, down to
 * the references that tables and books rely on. */
enum status state_sound(const struct state *s, struct arena *scratch, struct err *err);
bool plan_sorted(const struct plan *p); /* names there, once, in order */
bool node_sound(const struct node *n);
bool plan_sound(const struct plan *p, struct arena *scratch);

/* ledger.c: what is held where */
bool pod_holds(const struct pod *p); /* binding, running or releasing */
struct held pod_amounts(const struct workload *w, const struct pod *p);
/* Of one device a pod holds. Its queue is charged memory rounded up to a share, the device has room
 * for what it is: less than a share below that. */
int64_t pod_device_share(const struct pod_spec *spec, const struct held_device *held);
void held_add(struct held *into, const struct held *what, bool subtract);
void ledger_build(struct engine *e);
void ledger_move(struct engine *e, uint32_t row, const struct pod *p, bool gone);

/* usage.c: books of past use. Whatever is about to change what a project holds of a pool, or what
 * the pool has, brings the book up to state.now_ms first. */
#define USAGE_QUARTER_MS (INT64_C(15) * 60 * 1000)
void usage_build(struct engine *e); /* indexes; once the ledger is built */
void usage_book(struct engine *e, uint32_t pool, uint32_t project); /* IX_NONE: what the pool has */
void usage_book_all(struct engine *e);
void usage_forget(struct engine *e); /* books of pools and projects that are not in the plan */
/* What a node has is added to its pool, or taken out: around any change of the node. */
void usage_node(struct engine *e, uint32_t node, bool gone);
/* usage_look gives past use in the window of a pool up to now_ms, or for decisions up to the last
 * full quarter of an hour; good until the next look or change of tables. */
const struct pool_usage *usage_look(const struct engine *e, uint32_t pool, enum usage_look look,
                                    int64_t now_ms);
/* How much use counts at that age, in 2^24ths: 2^-(age / half-life). */
int64_t usage_weight(int64_t age_ms, int64_t half_life_ms);

/* pods.c: the life of pods and workloads */
struct event *workload_event(struct step *st, uint32_t row, enum event_kind kind);
void pod_bind(struct step *st, uint32_t row, uint32_t pod, const struct bind *place);
void pod_started(struct step *st, uint32_t row, uint32_t pod);
void pod_stop(struct step *st, uint32_t row, uint32_t pod, bool move);
enum pod_end { POD_END_EXIT, POD_END_START_FAILED, POD_END_NODE_LOST };
void pod_end(struct step *st, uint32_t row, uint32_t pod, enum pod_end how, int64_t exit_code,
             struct str reason, int64_t at_ms);
/* workload_settle brings what follows from the pods up to date: failure of the whole, end, times,
 * staleness, why. Called once after the transitions of an input. */
void workload_settle(struct step *st, uint32_t row);
int64_t
workload_delete_at_ms(const struct workload *w); /* when it is removed; INT64_MAX: not yet known */

/* inflight.c: effects */
void effect_start(struct effects *fx, const struct workload *w, uint32_t pod);
void effect_stop(struct effects *fx, const struct workload *w, const struct pod *p);
void effect_stop_unknown(struct effects *fx, const struct pod_report *r);
void effect_forget_unknown(struct effects *fx, const struct pod_report *r);
void effect_forget(struct effects *fx, const struct workload *w, uint32_t pod);

/* One file per family of inputs. The check functions answer without changing anything (results in
 * e->scratch); the apply functions cannot fail and are called only after the check said OK. */
void submit_check(const struct engine *e, const struct input *in, struct workload_spec *resolved,
                  struct outcome *out);
/* spec_numbers_ok: every number is in its range, and they agree; else *out says which not. */
bool spec_numbers_ok(const struct workload_spec *s, struct outcome *out);
void submit_apply(struct step *st, const struct workload_spec *resolved);
/* The part of the check that is about the spec, with its defaults filled in. */
void submit_spec_check(const struct engine *e, const struct submit *s,
                       struct workload_spec *resolved, struct outcome *out);
/* update.c. update_settle: pods that are too many go, and an update that nothing holds up any more
 * is taken over; part of workload_settle. */
void update_check(const struct engine *e, const struct input *in, struct workload_spec *resolved,
                  struct outcome *out);
void update_apply(struct step *st, const struct workload_spec *resolved);
void update_settle(struct step *st, uint32_t row);
/* types.c */
void types_check(const struct engine *e, const struct input *in, struct outcome *out);
void types_apply(struct step *st);
bool types_sound(const struct state *s);
void name_cluster_check(const struct input *in, struct outcome *out);
void name_cluster_apply(struct step *st);
void life_check(const struct engine *e, const struct input *in, struct outcome *out);
void life_apply(struct step *st);
/* drain.c: what a person closed for new work; drain_covers is in engine.h */
void drain_check(const struct engine *e, const struct input *in, struct outcome *out);
void drain_apply(struct step *st);
bool drains_sorted(const struct state *s);
bool node_is_open(const struct engine *e, const struct node *n); /* ready too */
bool device_is_open(const struct engine *e, const struct node *n,
                    uint32_t device); /* healthy too */
/* drain_overdue: by which drain a pod that runs should have left its place by now_ms; NULL: by none.
 * drain_deadlines adds the end of all those pods to a tick. */
const struct drain *drain_overdue(const struct engine *e, const struct pod *p, int64_t now_ms);
struct tick_builder;
void drain_deadlines(const struct engine *e, int64_t now_ms, struct tick_builder *b);
int64_t drain_next_ms(const struct engine *e); /* the next deadline; INT64_MAX: none */
/* limit.c: scheduling rules on what runs */
bool limit_is_over(const struct workload *w, int64_t now_ms); /* it is to be stopped by now */
/* limit_stops adds the end of all those to a tick; limit_stops_workload: such an eviction is not of
 * its pod alone, but stops the workload. */
void limit_stops(const struct engine *e, int64_t now_ms, struct tick_builder *b);
bool limit_stops_workload(const struct why *why);
/* limit_notices writes the notices that are due into the histories. */
bool limit_notice_due(const struct engine *e, int64_t now_ms);
void limit_notices(struct step *st);
int64_t limit_next_ms(const struct workload *w); /* its next notice or stop; INT64_MAX: none */
void plan_apply_check(const struct engine *e, const struct input *in, struct plan *merged,
                      struct outcome *out);
void plan_apply_do(struct step *st, const struct plan *merged);
void observe_apply(struct step *st);
void tick_apply(struct step *st);
void identity_check(const struct engine *e, const struct input *in, struct outcome *out);
void identity_apply(struct step *st);
bool identity_sound(const struct identity *d);
void identity_stamp(struct step *st, struct stamp *s); /* now, by the author of the input */

/* assets.c */
void assets_check(const struct engine *e, const struct input *in, struct outcome *out);
void assets_apply(struct step *st);
void assets_follow_plan(
    struct step *st); /* after any change of the plan: they go with their scopes */
bool assets_sound(const struct state *s);

/* policies.c */
void policies_check(const struct engine *e, const struct input *in, struct outcome *out);
void policies_apply(struct step *st);
void policies_follow_plan(struct step *st); /* the same */
/* policies_imposing gives a policy that imposes the asset; NULL: none does. */
const struct policy *policies_imposing(const struct policies *all, struct uuid asset);
bool policies_sound(const struct state *s);

/* providers.c: the part of identity_change that is about identity providers */
bool providers_change_ok(const struct identity *d, const struct identity_change *c,
                         struct outcome *out);
void providers_change(struct step *st);
bool providers_sound(const struct identity *d);

/* rules.c: the part of identity_change that is about roles and rules */
bool rules_change_ok(const struct engine *e, const struct identity_change *c, struct outcome *out);
void rules_change(struct step *st);
void rules_forget_subject(struct identity *d, enum subject_kind kind, struct str name);
/* The rules that speak of a user go on under its new name (which lives as long as the state). */
void rules_rename_user(struct identity *d, struct str from, struct str to);
/* After any change of the plan: rules go with their scopes; those of owner_group and access_group
 * come and go. */
void rules_follow_plan(struct step *st);
/* Whether somebody is system administrator over the tenant, were this change made (NULL: now). */
bool somebody_administers(const struct identity *d, const struct identity_change *c);
bool scope_exists(const struct plan *p, struct scope s);
bool role_exists(const struct identity *d, uint32_t id); /* predefined or custom */
bool rules_sound(const struct identity *d);

/* freeze.c */
struct snapshot;
void freeze_pool(const struct engine *e, uint32_t pool, int64_t now_ms, struct arena *arena,
                 struct snapshot *out);
/* thaw.c: the decisions on the snapshot of one pool, appended to the tick under construction */
struct decisions;
struct tick_builder {
    struct arena *arena;
    struct held *room; /* [pools_count]: what is free there, less what was moved on for it */
    ARRAY(struct bind) binds;
    ARRAY(struct evict) evicts;
    ARRAY(struct waiting) waiting;
    ARRAY(struct claim) claims;
};
void thaw_pool(const struct engine *e, uint32_t pool, int64_t now_ms, const struct snapshot *snap,
               const struct decisions *d, struct tick_builder *out);

// SPDX-License-Identifier: Apache-2.0
// state: all that weir knows, as one record of plain tables. The engine is its only writer; the
// checkpoint is its encoding; readers see it between two steps. Nothing here is derived: sums and
// indexes are the engine's (engine/ledger.h, engine/engine.h) and are rebuilt from this.
#pragma once

#include "model/asset.h"
#include "model/identity.h"
#include "model/plan.h"
#include "model/policy.h"
#include "model/resources.h"

/* ---- nodes, as the cluster adapter observed them ---- */

struct device {
    struct str uuid;  /* "GPU-…", unique in the cluster */
    struct str model; /* "NVIDIA H100 80GB HBM3", "simulated" */
    int64_t memory_bytes;
    int64_t index;     /* on its node, for display only */
    int64_t numa_node; /* -1 unknown */
    bool healthy;
    struct str fault; /* why it is not healthy: "Xid 79"; "" otherwise */
};
struct label {
    struct str key, value;
};
/* A NUMA node of a machine: a NUMA zone of its node. */
struct zone {
    int64_t numa_node;               /* as the devices say it */
    int64_t cpu_milli, memory_bytes; /* of the node's, what is in it */
    struct str cpus;                 /* its processors: "0-15,32-47" */
};
struct node {
    struct str name; /* unique */
    struct label *labels;
    struct device *devices;
    uint32_t labels_count, devices_count;
    int64_t cpu_milli, memory_bytes, pods_max; /* allocatable */
    bool ready;                                /* false: lost, or said not to be ready */
    int64_t ready_since_ms, seen_ms;
    struct str_item
        *notes; /* what is not enforced on this node ("no cgroups: CPU limits are not enforced") */
    uint32_t notes_count;
    struct zone *zones; /* none: it is not known, or all is one */
    uint32_t zones_count;
};

/* What a person closed for new work: a node, or one device of it. Sorted by node, then device. */
struct drain {
    struct str node;
    struct str device; /* UUID; "": the whole node */
    bool moves; /* what runs there is moved to free places; else it is closed only (cordoned) */
    int64_t since_ms;
    int64_t deadline_ms; /* what still runs there then is stopped; -1: it runs to its end */
    struct str author, reason;
};

/* ---- workloads ---- */

enum workload_kind {
    WORKLOAD_TRAINING,
    WORKLOAD_WORKSPACE,
    WORKLOAD_INFERENCE,
    WORKLOAD_DISTRIBUTED
};

/* Types of workloads: what they are for, and the priority they have by default. A row with
 * kind_plus_one is about one of weir's own kinds, which is not what it was at first; the others are
 * kinds of Kubernetes that somebody registered. */
enum category { CATEGORY_BUILD, CATEGORY_TRAIN, CATEGORY_DEPLOY, CATEGORY_COUNT };
struct workload_type {
    struct uuid id;
    uint32_t kind_plus_one;
    struct str name, group; /* of a registered kind */
    enum category category;
    int64_t priority;      /* a number of priority.h */
    struct str interfaces; /* JSON list; kept for those who ask, not looked into */
    struct stamp stamp;
};

/* What one pod asks for and runs. */
struct pod_spec {
    struct str image;      /* "host" or "": the command runs on the host */
    struct str_item *args; /* command and arguments */
    struct env_var {
        struct str name, value;
        struct uuid credential; /* zero: the value counts; else that of the asset's secret `key` */
        struct str key;
    } *env;
    uint32_t args_count, env_count;
    bool args_are_command;          /* --command: replaces the image's entry point */
    struct str working_dir;         /* "": the owner's home, or / */
    int64_t run_as_uid, run_as_gid; /* -1: the user weir runs as */
    int64_t gpu_devices;            /* whole devices a pod, or number of devices of a fraction */
    int64_t gpu_portion_share;      /* share of each device when a fraction, else 0 */
    int64_t gpu_memory_bytes;       /* memory of each device instead of a share, else 0 */
    int64_t cpu_milli, cpu_limit_milli, memory_bytes, memory_limit_bytes; /* limits: -1 none */
    int64_t grace_ms; /* between SIGTERM and SIGKILL; default 30 s */
    bool single_numa; /* devices, CPU and memory all from one NUMA node of the machine */
};

/* As for Kubernetes Jobs, a pod that failed is started again up to backoff_limit times under NEVER
 * and ON_FAILURE alike (in a new place); ALWAYS starts it again whatever its exit, without limit. */
enum restart_policy { RESTART_NEVER, RESTART_ON_FAILURE, RESTART_ALWAYS };

/* Whose variables the pods of distributed work find each other by. */
enum framework {
    FRAMEWORK_NONE,
    FRAMEWORK_PYTORCH,
    FRAMEWORK_TENSORFLOW,
    FRAMEWORK_MPI,
    FRAMEWORK_XGBOOST,
    FRAMEWORK_JAX,
};

struct workload_spec {
    struct pod_spec pod;
    int64_t pods;         /* pods wanted, >= 1 */
    int64_t pods_min;     /* gang: all of these or none; <= pods */
    int64_t parallel_max; /* so many at a time, the others once these are done; 0: all */
    int64_t
        priority; /* number of priority.h; 0 in a submit: the project's default, or the kind's */
    enum preemptibility preemptibility; /* resolved when stored */
    struct str_item *pools;             /* in order of preference; resolved when stored */
    uint32_t pools_count;
    struct label *labels, *annotations;
    uint32_t labels_count, annotations_count;
    enum restart_policy restart;
    int64_t backoff_limit;  /* retries before Failed */
    int64_t auto_delete_ms; /* after the end; -1: 30 days */
    int64_t duration_ms;    /* how long it runs, as declared; 0: it was not. Nothing ends it then */
    enum framework framework;
    bool has_master; /* the first pod is as `master`, the others as `pod` */
    struct pod_spec master;
    struct str node_type; /* value of NODE_TYPE_LABEL of the nodes it may go to; "": any */
    int64_t run_max_ms, idle_max_ms; /* it is stopped when it has run, or used none of its devices,
                                        for so long; 0: never. Resolved when stored: the tighter of
                                        what was asked and the project's scheduling rules */
    int64_t available_min; /* disruption budget: so many of its pods run on, whoever else wants
                                their places; <= pods, 0: none */
};

enum pod_phase {
    POD_PENDING,
    POD_BINDING, /* start asked of the node, not confirmed */
    POD_RUNNING,
    POD_RELEASING, /* stop asked, still holds its devices */
    POD_SUCCEEDED,
    POD_FAILED,
};
struct held_device {
    struct str uuid;
    int64_t share;
};
struct pod {
    struct uuid id;
    enum pod_phase phase;
    uint32_t attempt; /* counts starts: (id, attempt) names one start, for ever */
    uint32_t failures;
    struct str node; /* "" unless binding, running, releasing or ended */
    struct held_device *devices;
    uint32_t devices_count;
    int64_t start_ms, end_ms; /* of this attempt; -1 not yet */
    int64_t exit_code;        /* of the last attempt that ended; 128 + signal; -1 none */
    struct str end_reason;    /* "Completed", "Error", "Preempted", "NodeLost", … of that attempt */
    bool move; /* POD_RELEASING: goes back to pending when gone (else it ends or is deleted) */
    int64_t retry_at_ms;   /* POD_PENDING after a failure: not started before this; 0: at once */
    int64_t idle_since_ms; /* its devices are in no use since; 0: they are, or it is not known */
    int64_t numa_plus_one; /* the NUMA node it was given all of its place in, plus one; 0: none */
};

/* Why a workload waits or was stopped, in names and numbers that outlive the cycle that found it.
 * code and the node codes are those of reason.h; words are made at the edges (one table in reason.c). */
struct why_nodes {
    uint32_t code;
    uint32_t count;
};
struct why {
    uint32_t code; /* enum reason_code; 0: none */
    struct str pool;
    struct str queue; /* project or department whose limit or quota it was */
    bool queue_is_department;
    uint32_t resource; /* RES_GPU … */
    int64_t requested, held, bound;
    struct uuid other; /* claimant, evictor */
    struct str other_name;
    struct why_nodes *nodes; /* per-node causes; counts add up to the nodes of the pool */
    uint32_t nodes_count;
    int64_t until_ms; /* when it may change by itself; -1 unknown */
    int64_t since_ms;
};

enum event_kind {
    EVENT_SUBMITTED,
    EVENT_SCHEDULED,
    EVENT_STARTED,
    EVENT_WAITING,
    EVENT_EVICTED,
    EVENT_EXITED,
    EVENT_SUSPENDED,
    EVENT_RESUMED,
    EVENT_DELETED,
    EVENT_START_FAILED,
    EVENT_NODE_LOST,
    EVENT_DRAINING, /* notice: the place of the pod is being drained; why.until_ms: the deadline */
    EVENT_LIMIT_NEAR, /* notice: half of the time that why.code will stop it for is over; until_ms */
    EVENT_UPDATED,
};
enum { EVENT_KINDS = EVENT_UPDATED + 1 };
struct event {
    int64_t at_ms;
    enum event_kind kind;
    struct uuid pod;       /* zero: of the workload */
    struct str node, text; /* text only where a person or the node wrote it */
    struct str author;     /* who asked, "" for weir itself */
    struct why why;        /* EVICTED, WAITING */
    int64_t exit_code;
};

struct pod_id {
    struct uuid id;
};
/* What a workload will be once the pods that run as it is now have stopped. */
struct update {
    struct workload_spec spec; /* resolved */
    struct str asked;
    struct pod_id *pod_ids; /* of all its pods; those that are there keep theirs */
    uint32_t pod_ids_count;
};

enum workload_desired { WANT_RUN, WANT_STOPPED, WANT_DELETED };

struct workload {
    struct uuid id;
    struct str name; /* unique among the live ones of its project */
    struct str project;
    enum workload_kind kind;
    struct str author;
    struct workload_spec spec;
    struct str asked; /* as in the submit */
    int64_t request;  /* the same */
    enum workload_desired desired;
    int64_t created_ms, end_ms; /* end_ms -1 while not terminal */
    int64_t last_start_ms, last_evict_ms, stale_since_ms, pending_since_ms; /* -1 none */
    int64_t checkpoint_ms;      /* up to when its work is safe, as its jobs said; 0: they did not */
    int64_t running_since_ms;   /* its minimum of pods holds places since; -1: it does not */
    int64_t run_ms, pending_ms; /* sums over closed intervals */
    int64_t run_before_ms;      /* of run_ms, what was before it was last resumed */
    int64_t noticed_ms;         /* the time of a stop of which there was notice; 0: none */
    uint32_t pool_ix;           /* which of spec.pools it is tried in now */
    int64_t port;               /* its pods may use as many from here on; 0: it has none */
    struct pod *pods;
    struct event *events; /* oldest first, the last EVENTS_MAX */
    uint32_t pods_count, events_count;
    struct why why;         /* why it waits now; code 0 when it does not */
    struct update *updates; /* one, or none */
    uint32_t updates_count;
    /* A round through its pools: begun when state.change_seq was tried_seq, at tried_ms; it has
     * moved on tried_count times since, and rests when it has seen them all. */
    int64_t tried_seq, tried_ms;
    uint32_t tried_count;
};

/* Freed for a claimant and kept for it (R7). */
struct claim {
    struct uuid workload, pod;
    struct str node;
    struct held_device *devices;
    uint32_t devices_count;
    int64_t cpu_milli, memory_bytes;
    int64_t since_ms;
};

/* Use over time, by amount times milliseconds: device shares, millicores, whole mebibytes. */
struct use {
    int64_t start_ms;   /* of a quarter of an hour, an hour or a day, see engine/usage.c */
    struct amounts all; /* what was held */
    struct amounts low; /* of that, by work of priority very-low */
};
/* What a project held of a pool, or what the pool had to give, since the books are kept. */
struct book {
    struct str pool;
    uint32_t project; /* its id; 0: what the pool had */
    int64_t until_ms; /* booked up to here; from here on what is held now was held */
    struct use *uses; /* oldest first; times without use are left out */
    uint32_t uses_count;
};

/* A command's answer, kept so that the same idempotency key gets the same answer. */
struct answer {
    struct str author, key; /* keys are per author */
    uint32_t status;
    struct str text, field, hint;
    struct uuid id; /* what was made, zero if nothing */
    int64_t revision;
    int64_t at_ms;
    int64_t digest; /* of the command, so that a key used again for another one is noticed */
};

struct state {
    int64_t seq;            /* of the last input applied */
    int64_t now_ms;         /* non-decreasing wall time of that input */
    int64_t plan_revision;  /* counts plan changes; starts at 1 */
    int64_t next_id;        /* for projects and departments */
    int64_t change_seq;     /* of the last input that may let something start in another pool */
    struct uuid cluster_id; /* zero until it is named */
    struct str cluster_name;
    int64_t cluster_ms; /* since when it is there */
    struct plan plan;
    struct node *nodes;         /* sorted by name */
    struct workload *workloads; /* in order of creation */
    struct claim *claims;
    struct answer *answers; /* the last ANSWERS_MAX, oldest first */
    struct book *books;     /* in order of creation, one for a pool and project */
    struct drain *drains;
    struct workload_type *types; /* in order of creation */
    /* What is left to tell of deleted workloads, without their pods and events: the last DELETED_MAX,
     * in order of deletion, which end_ms is. */
    struct workload *deleted;
    uint32_t nodes_count, workloads_count, claims_count, answers_count, books_count, drains_count;
    uint32_t types_count, deleted_count;
    struct identity identity;
    struct assets assets;
    struct policies policies;
};

enum { EVENTS_MAX = 64, ANSWERS_MAX = 4096, DELETED_MAX = 1000 };
#define DELETED_SHOWN_MS (INT64_C(14) * 24 * 3600 * 1000) /* so long are they told of */

extern const struct record record_pod_id, record_label, record_node, record_pod_spec,
    record_workload_spec, record_pod, record_why, record_event, record_workload, record_claim,
    record_answer, record_workload_type, record_state, record_held_device, record_book,
    record_drain;

/* Derived words of the product: phase of a workload as Run:ai names it ("Pending", "Running", …). */
struct str workload_phase(const struct workload *w);
/* workload_pool: the node pool where it runs, or where it is tried next; "": in none of those it named. */
struct str workload_pool(const struct workload *w);
/* workload_pod: what the pod of that index (< pods_count) asks for and runs. */
const struct pod_spec *workload_pod(const struct workload *w, uint32_t pod);
/* kind_type_of gives what a kind is for and its default priority, as somebody set it or at first. */
struct workload_type kind_type_of(const struct state *s, enum workload_kind kind);
/* workload_stop_at_ms: when scheduling rules stop it, as it is now; INT64_MAX: they do not. *limit_ms:
 * by which limit, of run_max_ms (*idle false) or idle_max_ms. */
int64_t workload_stop_at_ms(const struct workload *w, bool *idle, int64_t *limit_ms);
bool workload_is_terminal(
    const struct workload *w); /* completed, failed or deleted, nothing held */

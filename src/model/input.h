// SPDX-License-Identifier: Apache-2.0
// input: everything that can change the state. A command was asked for by someone, an observation
// was made by a cluster adapter, a tick is time passing, with the decisions it led to. Inputs are
// journalled with their number before they are applied; applying is deterministic.
#pragma once

#include "model/state.h"

enum input_kind {
    INPUT_NONE,
    /* commands */
    INPUT_PLAN_APPLY,
    INPUT_SUBMIT,
    INPUT_SUSPEND,
    INPUT_RESUME,
    INPUT_DELETE,
    INPUT_REFUSED, /* a command refused at the edge, kept for the audit */
    /* observations */
    INPUT_NODE_SEEN, /* a node appeared or changed */
    INPUT_NODE_LOST,
    INPUT_POD_STARTED,
    INPUT_POD_EXITED,
    INPUT_POD_FAILED, /* could not be started */
    /* time */
    INPUT_TICK,
    /* commands again: kinds are stored, so they are only added */
    INPUT_IDENTITY, /* of users, service accounts, keys, roles, access rules */
    INPUT_NAME_CLUSTER,
    INPUT_NODE_DRAIN,
    INPUT_NODE_UNDRAIN,
    INPUT_POD_CHECKPOINT, /* an observation: the job said that its work is safe */
    INPUT_POD_IDLE, /* the same: it uses none of its devices since pod.at_ms; 0: it does again */
    INPUT_UPDATE,   /* a command: target is to be as submit.spec says, made from submit.asked */
    INPUT_WORKLOAD_TYPE, /* a command */
    INPUT_ASSET,         /* a command: an asset comes, changes or goes */
    INPUT_POLICY,        /* the same of a policy */
    INPUT_KIND_COUNT
};

struct plan_apply {
    struct plan plan;
    int64_t base_revision; /* the revision it was made against; 0: whatever is there */
    bool prune;
    struct plan_removal { /* after the plan is merged */
        enum plan_object what;
        struct str name;
    } *removals;
    uint32_t removals_count;
};
struct submit {
    struct uuid id;
    struct str name, project;
    enum workload_kind kind;
    struct workload_spec spec;
    struct str asked; /* what it was made from, JSON; kept for those who ask, not looked into */
    struct pod_id *pod_ids; /* minted at the edge, one per pod */
    uint32_t pod_ids_count;
    int64_t
        request; /* tells whether another submit is the same request, of which policies and templates
                      * may have made another spec meanwhile; 0: by its spec */
};
struct name_cluster {
    struct uuid id; /* minted at the edge; the first one stays */
    struct str name;
};
struct pod_report {
    struct uuid pod;
    uint32_t attempt;
    struct str node;   /* which reports it */
    int64_t at_ms;     /* by the node's clock */
    int64_t exit_code; /* EXITED */
    struct str
        reason; /* "Completed", "Error", "OOMKilled", "NodeLost", "Stopped", or why a start failed */
};
/* NODE_DRAIN and NODE_UNDRAIN, of node_name. */
struct drain_ask {
    struct str device; /* UUID, or the device's index on its node in digits; "": the whole node */
    bool moves;
    int64_t within_ms; /* what still runs there after this time is stopped; -1: never */
    struct str reason;
};
/* WORKLOAD_TYPE: what each reads of type. */
enum type_op {
    TYPE_ADD,    /* all; id minted at the edge */
    TYPE_SET,    /* id (and kind_plus_one, of weir's own), category, priority, interfaces */
    TYPE_REMOVE, /* id, kind_plus_one */
};
struct type_change {
    enum type_op op;
    struct workload_type type;
};
struct refused {
    struct str what;
    uint32_t status;
    struct str text;
    int64_t command_seq; /* it was in the journal already, under this number; 0: it was not */
};

/* Of a command, for the audit: where it came from, and what it was about when the edge decided
 * whether it was allowed. */
struct origin {
    enum subject_kind author_kind;
    struct str source;       /* address; "" over the local socket */
    struct uuid request;     /* id of the request */
    struct str method, path; /* of the request */
    enum entity entity;      /* what was asked about */
    enum right right;        /* 0: the edge did not get that far */
    struct scope scope;      /* where */
    struct str name;         /* of the thing, as asked */
};

/* What a tick decided, in names that outlive the cycle (recorded, so that restart applies it and
 * replay can decide again and compare). */
struct bind {
    struct uuid pod;
    struct str node;
    struct held_device *devices;
    uint32_t devices_count;
    int64_t numa_plus_one; /* as of struct pod */
};
struct evict {
    struct uuid pod;
    bool move;
    struct why why;
};
struct waiting {
    struct uuid workload;
    struct why why;
    bool next_pool;
};
struct tick {
    struct bind *binds;
    struct evict *evicts;
    struct waiting *waiting; /* only those whose reason changed */
    struct claim *claims;    /* all that are kept after this tick */
    uint32_t binds_count, evicts_count, waiting_count, claims_count;
    uint32_t version; /* of the scheduler that decided: sched/cycle.h */
};

struct input {
    int64_t seq;    /* given by the journal, 1, 2, 3 … */
    int64_t now_ms; /* wall time, made non-decreasing before journalling */
    enum input_kind kind;
    uint32_t version;     /* INPUT_VERSION of the writer */
    struct str author;    /* user of a command, "" for weir */
    struct str key;       /* idempotency key, "" none */
    struct uuid target;   /* workload of SUSPEND, RESUME, DELETE */
    struct str node_name; /* NODE_LOST, NODE_DRAIN, NODE_UNDRAIN */
    struct plan_apply plan_apply;
    struct submit submit;
    struct name_cluster name_cluster;
    struct node node; /* NODE_SEEN */
    struct pod_report pod;
    struct refused refused;
    struct tick tick;
    struct identity_change identity;
    struct origin origin;
    struct drain_ask drain;
    struct type_change type_change;
    struct asset_change asset;
    struct policy_change policy;
};

bool input_is_command(enum input_kind kind); /* REFUSED is none */

enum { INPUT_VERSION = 1 };
extern const struct record record_input, record_tick;

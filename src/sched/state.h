// SPDX-License-Identifier: Apache-2.0
// state: what a cycle works on: the snapshot's tables, and beside them what changes while it
// decides: who holds what, what is free on each node and device, what each queue is charged.
// Internal to sched/. Everything is an array indexed like the snapshot's tables.
#pragma once

#include "base/array.h"
#include "model/decision.h"

/* What a node counts besides devices; extended resources follow. */
enum { DIM_CPU, DIM_MEMORY, DIM_PODS, DIM_EXTENDED };

enum work_state {
    WORK_PENDING,
    WORK_GATED,
    WORK_HELD,      /* running or binding when the cycle began */
    WORK_ALLOCATED, /* given a free place in this cycle */
    WORK_PIPELINED, /* given a place that is not free yet */
    WORK_EVICTED,   /* told to stop by the trial that is going on */
    WORK_RELEASING, /* on its way out */
    WORK_STUCK,
    WORK_SUCCEEDED,
    WORK_FAILED,
};

struct place {
    uint32_t node;                   /* IX_NONE: nowhere */
    uint32_t hold_first, hold_count; /* run in sched.holds */
    uint32_t zone;                   /* in zones[], all of it is in that zone; IX_NONE */
};

/* What is free in a NUMA zone, as for nodes. */
struct zone_state {
    int64_t cpu_idle, cpu_later, memory_idle, memory_later;
};

/* A pod. A moved pod has two places: the one it leaves (old, still occupied) and its new one. */
struct work {
    enum work_state state;
    struct place place, old; /* old.node IX_NONE: not told to stop in this cycle */
    struct amounts cost;     /* what its place costs its queue; zero when it has none */
    enum action action;      /* that placed it */
    bool claimed;            /* its place was freed for it */
    int64_t claimed_since_ms;
};

/* A device in its own units: bytes, or shares where its memory is not known. */
struct device_state {
    int64_t cap;      /* 0: sick, not counted */
    int64_t occupied; /* by pods that are there, releasing ones included */
    int64_t leaving;  /* of that: by releasing ones */
    int64_t coming;   /* by pipelined ones */
};

struct node_state {
    uint32_t devices;     /* healthy ones */
    uint32_t whole_now;   /* devices nobody is on or coming to */
    uint32_t whole_later; /* the same once what is releasing is gone */
    uint32_t pods_shared; /* devices partly used and not leaving: a fraction may join them */
    bool usable;          /* ready and schedulable */
};

/* Facts of a shape that do not change in the cycle. */
struct shape_state {
    const int64_t *need;         /* need[dims] */
    struct amounts request;      /* by the smallest device memory: for ordering and shares */
    struct amounts request_most; /* by the largest: for the first check against limits */
    const uint64_t *feasible;    /* nodes an empty one of which would do; NULL until asked for */
    uint32_t feasible_count;
    bool by_mig;                /* asks for MIG instances */
    bool dead;                  /* no node fits, and none will before the cycle ends */
    bool fitted_kept, fitted;   /* a node fitted before claims were kept; before allocating */
    bool asked_kept, asked;     /* whether that is known */
    struct reason *dead_reason; /* why a pod alone finds no place, once dead and asked for */
};

struct queue_state {
    struct amounts held, held_non_preemptible; /* live: allocated and pipelined, not evicted */
    struct amounts held_first;                 /* when the cycle began */
    struct amounts fair, request;
    struct amounts allocatable; /* AMOUNT_UNLIMITED possible */
    bool by_loss;               /* equal victims are taken by what their stopping loses */
    uint32_t parent; /* IX_NONE at the top, which is below the roots where these are ignored */
};

struct group_state {
    uint32_t placed;  /* pods held, allocated, pipelined */
    uint32_t present; /* those and releasing, evicted, stuck ones */
    uint32_t pending, gated, evicted, succeeded;
    uint32_t satisfied_members; /* filled in by gang_refresh */
    bool satisfied, ready;
    bool runs; /* filled in by gang_runs */
};

/* Facts of a workload. */
struct workload_state {
    struct amounts next_request; /* of the pods it would place next; see gang_request */
    bool next_known, stage_known;
    uint8_t stage;      /* enum gang_stage */
    bool started;       /* had a pod placed when the cycle began */
    bool was_bound;     /* a pod of it was allocated in this cycle */
    bool promised;      /* others were stopped for its place: nobody takes that from it (R7) */
    uint32_t kind;      /* twins that wait have the same; 0: has none. See waiting.h */
    uint32_t ousted_by; /* claimant that took a place given to it in this cycle; IX_NONE */
    bool usable;        /* its queue exists and has no children */
};

enum op_kind { OP_EVICT, OP_UNEVICT, OP_PLACE, OP_UNPLACE, OP_PIPELINE, OP_SWAP };
struct op {
    enum op_kind kind;
    uint32_t task;
    struct work before;
    uint32_t from_device, to_device; /* OP_SWAP */
};

/* A set of nodes that is seldom full: words without any need not be looked at. */
struct node_class {
    uint64_t *words; /* [node_words] a bit a node */
    uint64_t *some;  /* a bit for each word that is not 0 */
    uint32_t count;
};

/* Nodes kept for the workload that has waited longest; see reserve.c. */
struct reservation {
    uint64_t *nodes;         /* [node_words] a bit a node; NULL: there is none */
    uint32_t workload, node; /* whose it is; the first of its nodes */
    int64_t start_ms;        /* TIME_NEVER: unknown */
    bool claimant_barred;    /* whoever searches may not be placed on them */
    int64_t *spare; /* [node * (dims + 1) + dim] what a reserved node will have beyond what it has
                       later now, when all is as planned; at last whole devices. May be below 0 */
};

struct topology_tree;
struct pack;
struct sched {
    const struct snapshot *snap;
    struct arena *arena;
    struct arena *scratch;
    struct arena *brief; /* of the action that runs, emptied behind it; of cycle.c */
    struct decisions *out;
    uint32_t node_count, node_words, dims;
    struct node_state *nodes;
    uint32_t *node_stamps; /* [nodes] another one after every change of what is free; > 0 */
    int64_t *idle, *later; /* [node * dims + dim]: free now; free once releasing ones are gone and
                               pipelined ones are there */
    const int64_t *empty;  /* the same of an empty node */
    uint32_t devices_most; /* of one node */
    struct node_class *by_whole; /* [devices_most + 1] nodes by their whole_later */
    struct node_class roomy;     /* nodes with a whole or a shareable device later */
    struct device_state *devices;
    struct zone_state *zones;
    struct shape_state *shapes;
    struct queue_state *queues;
    struct group_state *groups;
    struct workload_state *workloads;
    struct work *tasks;
    uint32_t *term_matching, *term_carrying; /* per term a run of counts by value of its label */
    uint32_t *term_first;                    /* first of that run; [terms + 1] */
    uint32_t top_first, top_count;           /* queues among whom the pool itself is divided */
    struct topology_tree **trees; /* [topologies] built when first needed; of topology.c */
    struct amounts total;
    int64_t least_device_bytes, most_device_bytes;
    struct snap_hold *hold_buffer; /* [devices of the largest node] for whoever places a pod */
    void *candidate_buffer;        /* the same, of fit.c */
    ARRAY(struct snap_hold) holds; /* the snapshot's first */
    ARRAY(struct op) ops;          /* the trial that is going on */
    enum action action;            /* that is running */
    ARRAY(uint32_t) waiting;       /* workloads; see waiting.h */
    uint32_t last_started;         /* workload placed last; IX_NONE */
    uint32_t *evict_records;       /* [tasks] row of it in out->evicts plus one; 0: none */
    uint32_t claimant;             /* on whose behalf pods are evicted; IX_NONE */
    struct reservation reserve;
    struct pack *pack;       /* of pack.c; NULL: the pool is not to be packed */
    uint32_t *budget_first;  /* [tasks + 1] run of a pod in budget_refs; NULL: no budgets */
    uint32_t *budget_refs;   /* budgets the pod is under */
    int64_t *budget_left;    /* [budgets] pods that may still be stopped; may be below 0 */
    ARRAY(uint32_t) placed;  /* pods placed, in order; may have been undone since */
    ARRAY(uint32_t) leaving; /* pods releasing at the start or evicted since */
};

/* sched_init builds *s from a canonical snapshot; fair shares are solved. Everything lives in
 * arena; scratch is another one, rewound by whoever uses it. */
void sched_init(struct sched *s, const struct snapshot *snap, struct arena *arena,
                struct arena *scratch, struct decisions *out);
/* state_check asserts that every count equals what the pods add up to. O(state). */
void state_check(const struct sched *s);

/* The record of a pod's eviction: a new one, or that of an earlier search of this cycle, which had
 * found another place for it, or had let it stay. */
struct decision_evict *state_evict_record(struct sched *s, uint32_t task);
/* Whoever took the place of the claimant, if it lost it again; else the claimant. */
uint32_t state_beneficiary(const struct sched *s, uint32_t workload);

static inline const struct snap_task *task_of(const struct sched *s, uint32_t task)
{
    return &s->snap->tasks.items[task];
}
static inline const struct snap_workload *workload_of(const struct sched *s, uint32_t workload)
{
    return &s->snap->workloads.items[workload];
}
static inline const struct snap_group *group_of(const struct sched *s, uint32_t group)
{
    return &s->snap->groups.items[group];
}
static inline const struct snap_shape *shape_of(const struct sched *s, uint32_t task)
{
    return &s->snap->shapes.items[task_of(s, task)->shape.ix];
}
static inline struct shape_state *shape_state_of(const struct sched *s, uint32_t task)
{
    return &s->shapes[task_of(s, task)->shape.ix];
}
static inline uint32_t queue_of(const struct sched *s, uint32_t workload)
{
    return workload_of(s, workload)->queue.ix;
}
static inline bool state_is_placed(enum work_state state)
{
    return state == WORK_HELD || state == WORK_ALLOCATED || state == WORK_PIPELINED;
}

/* Whether the pod runs on, or would if its eviction were undone, or starts at once: no place that
 * becomes free later, only, is promised to it. */
static inline bool state_runs(const struct work *w)
{
    bool moves = w->old.node != IX_NONE && (w->state == WORK_PIPELINED || w->state == WORK_EVICTED);
    return moves || w->state == WORK_HELD || w->state == WORK_ALLOCATED;
}

/* class_next gives the first word at or behind `word` that is not 0, or node_words. */
static inline uint32_t class_next(const struct sched *s, const struct node_class *c, uint32_t word)
{
    while (word < s->node_words) {
        uint64_t some = c->some[word / 64] >> (word % 64);
        if (some != 0) {
            return word + (uint32_t)__builtin_ctzll(some);
        }
        word = (word / 64 + 1) * 64;
    }
    return s->node_words;
}

/* ---- the only functions that change counts; trial.c alone calls them after sched_init ---- */

/* How much of a device of this kind a pod of shape p takes, in the device's units. */
int64_t device_take(const struct snap_shape *p, const struct device_state *d);
enum presence { PRESENCE_OCCUPIED, PRESENCE_LEAVING, PRESENCE_COMING };
/* place_add puts (sign 1) or takes off (sign -1) a pod of that shape at place. LEAVING marks one
 * that occupies its place already as leaving it. */
void place_add(struct sched *s, uint32_t task, const struct place *place, enum presence presence,
               int sign);
/* charge adds (sign 1) or subtracts (sign -1) cost along the queues of the workload. */
void charge(struct sched *s, uint32_t workload, const struct amounts *cost, int sign);
/* group_count moves one pod of the group from a state to another. */
void group_count(struct sched *s, uint32_t task, enum work_state from, enum work_state to);
/* terms_count adds or removes a pod at node to the counts of inter-pod terms. */
void terms_count(struct sched *s, uint32_t task, uint32_t node, int sign);
/* device_move moves what is coming to device from over to device to. */
void device_move_coming(struct sched *s, uint32_t from, uint32_t to, int64_t amount);

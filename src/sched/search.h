// SPDX-License-Identifier: Apache-2.0
// search: finds running pods to stop or move so that a claimant can start (R4). Reclaim, preempt
// and consolidate differ only in who may be a victim and what an acceptable outcome is.
// Internal to sched/.
#pragma once

#include "sched/gang.h"
#include "sched/order.h"

struct search;

/* What distinguishes an action that takes from others. */
struct search_rules {
    enum action action;
    /* Whether the claimant may search at all; else the reason in *why (code NONE: say nothing). */
    bool (*may_search)(struct search *x, struct reason *why);
    /* Whether what is below the queue (the claimant's own, or a sibling of that or of a queue above
     * it), and this workload, may be victims. Being preemptible, running and not the claimant is
     * asked for already. For workloads of other queues the second is the same for all claimants.
     * NULL: all may. */
    bool (*victim_queue)(struct search *x, uint32_t queue);
    bool (*victim)(struct search *x, uint32_t workload);
    /* The one workload that this claimant may not take whoever else may; IX_NONE. NULL: none. */
    uint32_t (*spared)(struct search *x);
    /* Whether the claimant takes from its own queue alone: victim_queue is not asked then. NULL: no. */
    bool (*own_queue_only)(struct search *x);
    /* Until when the victim's minimum run time protects it; TIME_NEVER: it does not. NULL: never. */
    int64_t (*protected_until)(struct search *x, uint32_t workload);
    /* The longest minimum run time that may protect anybody. NULL: none does. */
    int64_t (*longest_protection_ms)(const struct sched *s);
    /* Whether only pods above the victim's minimum may be taken. NULL: no. */
    bool (*surplus_only)(struct search *x, uint32_t workload);
    /* Whether what the trial has done to the victims is acceptable; or would be, all_stopped. */
    bool (*acceptable)(struct search *x);
    int64_t victims_max; /* workloads; -1: any number */
    bool same_queue;     /* claimants of other queues meet other victims */
    bool by_moves;       /* for one pod first of all that is tried which moves least (moves.h) */
};

/* Pods that are taken together: one above the minimum, or all of a gang. */
struct victim_unit {
    uint32_t workload;
    uint32_t first, count; /* run in search.unit_pods */
    bool core;             /* takes the workload below its minimum: its earlier units go too */
    uint32_t earlier;      /* the unit of the workload before this one; IX_NONE */
    uint32_t choice;       /* = search.choice: it is in the scenario */
};
struct unit_pod {
    uint32_t task, node, unit;
    uint32_t next; /* the pod taken before on that node, plus one; 0: none */
};

/* Running pods that may be moved by themselves, by node; see moves.h. Kept between claimants. */
struct moves {
    uint32_t commits; /* search.commits + 1 when that was listed; 0: never */
    uint32_t *first;  /* [nodes + 1] run in tasks[] */
    uint32_t *tasks;
};

struct search {
    struct sched *s;
    const struct search_rules *rules;
    struct order victims;
    struct order scenario; /* claimant and victims of the scenario being tried */
    uint32_t claimant;
    struct task_list tasks;                      /* the pods to be placed */
    struct amounts request;                      /* of those */
    struct amounts *held, *held_non_preemptible; /* [queues] without what this search tries */
    struct amounts *left; /* [queues] of reclaim: what they hold as victims are taken off */
    uint32_t *left_seen;  /* [queues] = ledger: left is valid */
    bool (*left_involved)[RES_COUNT]; /* [queues] what was taken off, where left is valid */
    uint32_t ledger;
    ARRAY(struct victim_unit) units;
    ARRAY(struct unit_pod) unit_pods;
    ARRAY(uint32_t) unit_nodes; /* nodes with such pods, in the order in which they were met */
    uint32_t *node_units;       /* [nodes] the last pod taken on it, plus one; 0: none */
    uint32_t *last_unit;        /* [workloads], valid where seen_victim = run */
    ARRAY(uint32_t) chosen;     /* units of the scenario being tried, ascending */
    ARRAY(uint32_t) recorded;   /* units an attempt with fewer pods needed */
    uint32_t choice;
    bool all_stopped;    /* acceptable is asked as if the chosen ones were stopped */
    bool claimant_first; /* in a scenario it is placed before its victims, not in its turn */
    struct moves moves;
    bool *taken;                /* [tasks] in a unit already */
    uint32_t *group_taken;      /* [groups] pods of it in units already */
    int64_t *gain;              /* [nodes] whole devices that the units on it hold */
    uint32_t *seen, *node_seen; /* [workloads], [nodes]: = epoch */
    int64_t *node_freed;        /* [nodes], valid where node_seen = epoch */
    uint32_t epoch;
    uint32_t *seen_victim; /* [workloads]: = run */
    uint32_t run, victim_count;
    bool several;          /* some unit is more than one pod, or one of several of its workload */
    uint32_t returned;     /* victims put back into the order, having more to give */
    bool lone_at_once;     /* nothing is to be asked before a workload of one pod is taken */
    int64_t protection_ms; /* the longest that anybody may be protected */
    const uint64_t *feasible; /* of the claimant's pods, where they are alike */
    bool alike;
    int64_t room;          /* pods for which there are whole devices without any victim */
    int64_t room_most;     /* the same with all units gone */
    uint32_t commits;      /* claimants solved so far in this action */
    int64_t free_share;    /* of consolidate: free in the pool, as of free_commits */
    uint32_t free_commits; /* commits + 1 when that was counted; 0: never */
    int64_t tries, tries_max, action_tries;
    bool any_victim, stale_order;
    uint32_t protected_victim; /* spared for its minimum run time; IX_NONE */
    int64_t protected_until_ms;
    uint32_t budget_victim; /* spared for its disruption budget; IX_NONE */
};

/* search_run lets every workload that waits search in its turn. */
void search_run(struct sched *s, const struct search_rules *rules);

/* search_count_room prepares x for its claimant's pods. */
void search_count_room(struct search *x);
/* search_solve finds a scenario and leaves it in the trial, thinned out; x->chosen are its units. */
bool search_solve(struct search *x);
/* search_try_all tries the scenario of all units that are taken, for all pods of the claimant. */
bool search_try_all(struct search *x);
bool search_exhausted(const struct search *x);
/* What a pod of the scenario was, and cost its queue, before the trial. */
const struct work *search_before(const struct search *x, uint32_t task);

/* When the victim's minimum run time is over; TIME_NEVER: it is not protected. */
int64_t search_protected_until(const struct sched *s, uint32_t victim, int64_t min_runtime_ms);

// SPDX-License-Identifier: Apache-2.0
// order: who is next. Workloads wait in a heap at their queue; the tree of queues is walked from
// the top to the best child, level by level (kai.md 3.5, 4.1). Reversed, the same structure gives
// the next victim. Internal to sched/.
#pragma once

#include "base/heap.h"
#include "sched/quota.h"
#include "sched/state.h"

/* What is known of a victim while nothing of its queue changes. */
struct order_card {
    struct amounts weight; /* what it gives up */
    uint32_t task;         /* its only pod, or IX_NONE; where that is, on how many devices */
    uint32_t node, devices;
    bool core;    /* that pod is needed */
    bool allowed; /* it is a victim for claimants of other queues, minimum run times apart */
};

/* The workloads of one queue: a sorted run, read from the front, and those pushed back. */
struct order_leaf {
    uint32_t *sorted;
    struct order_card *cards; /* victims: one for each of sorted */
    uint32_t count, cap, next;
    uint32_t added; /* before the depth was cut to count */
    uint32_t gone;  /* so many at the front are no use to anybody any more */
    struct heap back;
    bool read, varying;   /* in the lists of these names of the order */
    bool stale;           /* the cards are */
    bool asks;            /* allows is to be asked: the claimant decides, not the card */
    uint32_t next_of_top; /* another one below the same queue at the top; IX_NONE */
};

/* How much of what it may have a queue uses with what its best workload asks for, or without what
 * is taken of it. */
struct order_share {
    struct dominant part;
    uint64_t rank; /* see num_frac_rank */
};

/* What is taken below a queue at the top, in turn, as far as some claimant has asked for it. It is
 * the same for all whose own queue is elsewhere, until something below changes. The leaves below
 * are as they are behind the last one. */
struct order_record {
    struct recorded_victim {
        const struct order_card *card;
        uint32_t workload;
        struct order_share with; /* of the queue at the top, before this one */
    } *items;
    uint32_t count, cap, at; /* at: the next one for this claimant */
    /* How soon it is this queue's turn, the higher the sooner: 0 when it is out; then what decides
     * before the share; then the share. Equal ones are compared in full. */
    uint64_t class, rank;
    uint32_t calm;       /* so many distinct priorities are higher than its own */
    bool live;           /* this claimant takes what follows without recording it */
    bool listed;         /* in order.listed */
    uint32_t first_leaf; /* of those in used; then order_leaf.next_of_top; IX_NONE */
};

struct standing;
struct order {
    struct sched *s;
    struct arena *arena;
    bool victims;                  /* the worst first */
    struct order_leaf *leaves;     /* [queues] */
    ARRAY(uint32_t) used;          /* leaves that anything was added to */
    uint32_t *best;                /* [queues + 1] best leaf below; IX_NONE: none; last: the top */
    uint32_t *cells;               /* [2 * queues] who wins among siblings; see order.c */
    const struct order_card *card; /* of the victim popped last; NULL: was pushed back before */
    bool counted;                  /* what it gives up is in taken already */
    struct standing *standings;    /* [queues], valid where best is set */
    uint32_t touched;      /* queue whose path is to be recomputed before the next pop; IX_NONE */
    struct amounts *taken; /* [queues] victims: what those popped so far give up; by whoever pops */
    /* Victims: an order serves one claimant after the other. */
    uint32_t claimant_queue; /* whose turn it is, set before order_restart; IX_NONE: nobody's */
    uint32_t spared;         /* a workload that this claimant may not take; set with it; IX_NONE */
    bool own_only;           /* it takes from its own queue alone; set before order_restart */
    bool *shut;              /* [queues] nothing below is a victim for this claimant */
    ARRAY(uint32_t) shut_list;
    uint32_t *asked, turn;        /* [queues] at the top: = turn: it is known whether it is shut */
    ARRAY(uint32_t) read;         /* leaves that are not as order_restart leaves them */
    ARRAY(uint32_t) varying;      /* leaves with a workload that varies says yes of */
    bool records_all;             /* a card with a task is all there is to know of a victim, and all
                                  * claimants take from all queues; set before order_ready */
    struct order_record *records; /* [queues] of those at the top; NULL unless records_all */
    ARRAY(uint32_t) listed;       /* those that are not as order_restart leaves them */
    const uint32_t *group_taken;  /* victims: [groups] pods that are as good as gone; or NULL */
    /* What a workload asks for, or as a victim gives up. */
    struct amounts (*weigh)(struct sched *s, uint32_t workload);
    /* Victims: whether the workload is none for any claimant any more; what is
     * known of it, into a zeroed card; whether a minimum run time may protect it from one
     * and not from another; whether it is one for this claimant. */
    bool (*is_gone)(struct sched *s, uint32_t workload, void *ctx);
    void (*look)(struct sched *s, uint32_t workload, void *ctx, struct order_card *card);
    bool (*varies)(struct sched *s, uint32_t workload, void *ctx);
    bool (*allows)(struct sched *s, uint32_t workload, void *ctx);
    /* Whether what is below the queue may be a victim. Asked, unless own_only, of the claimant's own
     * queue and of the siblings of that and of all above it; of those at the top only when one is
     * about to be popped from. */
    bool (*allows_queue)(struct sched *s, uint32_t queue, void *ctx);
    void *ctx;
};

/* order_init makes an empty order; fill it with order_add and call order_ready once. */
void order_init(struct order *o, struct sched *s, struct arena *arena, bool victims);
void order_add(struct order *o, uint32_t workload);
/* order_ready sorts; of each queue only the first depth_max are kept (-1: all). Victims are there
 * after the first order_restart. */
void order_ready(struct order *o, int64_t depth_max);
/* order_clear empties it for others to be added; O(what was added). */
void order_clear(struct order *o);
/* order_restart begins again with all that were added, asking allows and allows_queue anew. Of an
 * order of victims only what has changed is worked out again. */
void order_restart(struct order *o);
/* order_changed says that the queue holds something else than at the last order_restart, or that
 * its workloads do. What was popped or touched since is known to have changed. */
void order_changed(struct order *o, uint32_t queue);
/* order_pop takes the next workload; IX_NONE when none is left. */
uint32_t order_pop(struct order *o);
/* order_pop_twin takes the next one of the workload's queue if it is a twin of that workload, which
 * was popped last and without success, so that it would be next anyway; else IX_NONE. */
uint32_t order_pop_twin(struct order *o, uint32_t workload);
/* order_add_waiting adds all that wait and whose gangs are ready. False when there are none. */
bool order_add_waiting(struct order *o);
/* order_push puts a workload back. */
void order_push(struct order *o, uint32_t workload);
/* order_touch says that what the queue holds, or how its workloads are ordered, has changed. That
 * of the workload popped last is expected to have. */
void order_touch(struct order *o, uint32_t queue);

/* workload_before: a is served before b within one queue. */
bool workload_before(struct sched *s, uint32_t a, uint32_t b);

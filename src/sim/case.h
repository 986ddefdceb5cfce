// SPDX-License-Identifier: Apache-2.0
// case: one scheduling case (tests/cases/FORMAT.md): a cluster, how many rounds of which actions
// run on it, and what must hold afterwards.
#pragma once

#include "base/doc.h"
#include "codec/json.h"
#include "sched/cycle.h"
#include "sim/case_world.h"

enum case_expect_kind {
    CASE_EXPECT_POD,        /* state and node of one pod */
    CASE_EXPECT_REASON,     /* of a workload's waiting, and until when */
    CASE_EXPECT_REMEDY,     /* the smallest change that would start a workload */
    CASE_EXPECT_NUMA,       /* the zone of the node that one pod is in */
    CASE_EXPECT_SHARE_WITH, /* two pods are on one device */
    CASE_EXPECT_IDLE,       /* devices of a node that nobody holds */
    CASE_EXPECT_RELEASING,  /* devices of a node that only releasing pods hold */
    CASE_EXPECT_HELD,       /* GPUs held in a queue and below it */
    CASE_EXPECT_FAIR_SHARE, /* of a queue, before the first round */
    CASE_EXPECT_EVICTIONS,  /* in all rounds together */
};
struct case_expect {
    enum case_expect_kind kind;
    uint32_t line, col; /* where the case says so */
    uint32_t subject,
        other; /* index of the pod, node, queue, workload; of the pod it shares with */
    bool any_state;
    enum case_pod_state state;
    uint32_t node;            /* IX_NONE: any */
    enum resource resource;   /* FAIR_SHARE */
    int64_t amount;           /* devices, shares, evictions; FAIR_SHARE: millionths; REASON: until
                               when, DURATION_UNSET: any time */
    struct str reason;        /* its stable name */
    const struct doc *remedy; /* REMEDY: the members that are stated, of the parsed file */
};

struct sim_case {
    struct str id, area, about;
    uint32_t actions_mask;
    uint32_t rounds, stable_rounds;
    struct case_world world;
    ARRAY(struct case_expect) expects;
    struct str differs; /* the rule for which weir differs from KAI; "": it does not */
    ARRAY(struct case_expect) kai_expects; /* what KAI does then; does not hold */
};

/* case_parse reads a parsed file into *out, which lives in arena, and reports every problem with
 * its position: unknown and missing keys, types, ranges, names that do not exist, nodes that hold
 * more devices than they have. With errors *out is not to be used. */
void case_parse(const struct doc *root, struct arena *arena, struct sim_case *out,
                struct problems *problems);

struct case_failure {
    uint32_t line, col; /* of the expectation */
    uint32_t round;     /* after which it did not hold, from 1 */
    struct str text;    /* "pod a-0: expected running on n1, got pending (NoNodeFits)" */
};
struct case_result {
    ARRAY(struct case_failure) failures;
    uint32_t rounds_run; /* ends early: after the first round with a failure */
    bool differs;        /* something of kai_expects does not hold */
    uint32_t evictions;
    struct snapshot snap;       /* of the last round */
    struct decisions decisions; /* of the last round */
};

/* case_run runs the rounds of c, whose world is then the outcome, and fills *out, which lives in
 * arena. Deterministic. */
void case_run(struct sim_case *c, struct arena *arena, struct case_result *out);

/* case_to_json writes the outcome: state, node, devices and reason of each pod; held and fair
 * share of each queue; failures; and with remedies, what would have started each workload that
 * waited in the last round. */
void case_to_json(const struct sim_case *c, const struct case_result *result, bool remedies,
                  struct arena *arena, struct jw *w);
void case_remedies_to_json(const struct sim_case *c, const struct case_result *result,
                           struct arena *arena, struct jw *w);

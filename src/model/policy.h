// SPDX-License-Identifier: Apache-2.0
// policy: what an organisation fills in for the workloads of one kind, and what it allows them, at one
// scope and below. The state keeps each as the edge has checked it; what they come to together, and
// what they make of a workload, is src/policy.
#pragma once

#include "model/identity.h"

struct policy {
    struct uuid id;
    uint32_t kind; /* enum workload_kind */
    struct scope scope;
    struct str name;
    struct str text; /* JSON: defaults and rules, of the form of Run:ai's API */
    struct imposed { /* data that every workload gets */
        struct uuid asset;
        bool master; /* of a distributed one: its master, not its workers */
    } *imposed;
    uint32_t imposed_count;
    struct stamp stamp;
};

struct policies {
    int64_t revision;    /* counts changes */
    struct policy *rows; /* in order of creation; one for a kind and scope */
    uint32_t rows_count;
};

const struct policy *policy_find(const struct policies *p, uint32_t kind,
                                 struct scope scope); /* NULL: none */

/* ---- how they change: one command ---- */

enum policy_op {
    POLICY_NOTHING,
    POLICY_PUT, /* all but the stamp; in place of the one of its kind and scope, whose id stays */
    POLICY_REMOVE, /* kind, scope */
    POLICY_OP_COUNT
};
struct policy_change {
    enum policy_op op;
    struct policy policy;
};

extern const struct record record_policy, record_policies, record_policy_change;

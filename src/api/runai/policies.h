// SPDX-License-Identifier: Apache-2.0
// policies: what the files about policies share. What they mean is src/policy; here they are read from
// the state, shown, and held against what is submitted.
#pragma once

#include "api/runai/people.h"
#include "model/policy.h"
#include "policy/policy.h"

/* A distributed workload has a policy for its workers and one for its master, the others one. */
enum policy_part { POLICY_WHOLE, POLICY_MASTER, POLICY_WORKER };

/* What holds at a scope: the policies of those above it and its own, the highest first. */
struct policy_stack {
    struct policy_layer *layers; /* [count] */
    struct policy_source {
        struct scope scope;
        const struct policy *policy; /* NULL: weir's own, or there is none */
    } *sources;
    uint32_t count;
    struct policy_merged merged;
};
/* policy_stack_build makes it for a kind; instead (NULL: none) counts in place of the policy that the
 * state has at its scope. */
void policy_stack_build(struct call *c, enum workload_kind kind, enum policy_part part,
                        struct scope scope, const struct policy *instead, struct policy_stack *out);
/* policy_stack_updated_ms: when any of them last changed; 0: there is none but weir's own. */
int64_t policy_stack_updated_ms(const struct policy_stack *s);
struct str policy_source_words(struct call *c, const struct policy_stack *s, uint32_t layer);
/* policy_parts gives the parts of a kind; the number of them. */
uint32_t policy_parts(enum workload_kind kind, enum policy_part parts[2]);
struct str policy_part_name(enum policy_part part); /* "", "master", "worker" */

/* policy_show.c: the object of one policy, and of what they all come to at a scope. */
void policy_show(struct call *c, struct jw *w, const struct policy *p);
void policy_show_meta(struct call *c, struct jw *w, const struct policy *p);
void policy_show_effective(struct call *c, struct jw *w, enum workload_kind kind,
                           struct scope scope, const struct policy *instead);

/* policy_read.c: reads the policy of the body into p (whose kind and scope are set), over what base (NULL:
 * nothing) has, and says what is wrong with it; false: answered. */
MUST_USE bool policy_read(struct call *c, const struct policy *base, struct policy *p);

/* ---- policy_use.c ---- */

/* What came of one part of a submit. */
struct policy_verdict {
    struct policy_stack stack;
    const struct doc *asked, *spec; /* as it came, and with defaults and imposed data */
    struct doc *implied;            /* what holds where nothing is said */
    struct policy_issues issues;
};
/* What of a submit is not allowed. */
struct policy_breach {
    struct policy_issue items[32];
    struct str sources[32]; /* whose rule: "project team-a" */
    bool masters[32];       /* of the master's spec */
    uint32_t count;
};
/* policy_use gives the spec (of Run:ai's form) with the defaults of the project's policies under it and
 * the data that they impose; *master (NULL: it has none of its own) likewise. NULL: it is not allowed, as
 * breach says, or answered already when that has none. */
const struct doc *policy_use(struct call *c, const struct project *p, enum workload_kind kind,
                             const struct doc *spec, const struct doc **master,
                             struct policy_breach *out);
/* policy_refuse answers with err and complianceIssues. */
void policy_refuse(struct call *c, const struct policy_breach *breach, const struct err *err);
/* policies_lay_under does all that to spec and masterSpec of the body. False: answered. */
MUST_USE bool policies_lay_under(struct call *c, const struct project *p, enum workload_kind kind);

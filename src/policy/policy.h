// SPDX-License-Identifier: Apache-2.0
// policy: what an organisation fills in for a workload, and what it allows. Pure.
//
// A policy of one scope has defaults and rules, both maps by field, in the form of Run:ai's API:
// a field is at the top, or in a section (compute, security, storage …). Those that hold for a
// project, from the tenant down to the project itself, are merged into one:
//
//   defaults                      the nearest scope wins, field by field
//   rules on compute, security    the highest scope wins, field by field
//   rules on other fields         the nearest scope wins
//   scope system                  the weakest in all three
//
// What a rule says must not be edited, no default below that rule's scope changes either.
//
// policy_lay lays the merged one under a spec, policy_judge says what in the result breaks it.
#pragma once

#include "base/arena.h"
#include "base/doc.h"

enum policy_type {
    POLICY_BOOLEAN,
    POLICY_STRING,
    POLICY_INTEGER,
    POLICY_NUMBER,
    POLICY_QUANTITY,
    POLICY_ARRAY,
    POLICY_ITEMIZED,
    POLICY_ARBITRARY, /* looked at as a whole: it is there or not */
};

/* A field that a policy may speak of. */
struct policy_field {
    const char *section; /* "", "compute", "security" … */
    const char *name;
    enum policy_type type;
    const char *key; /* itemized: the attribute that tells one item from another */
};
/* policy_field gives the row of a field, NULL: no policy may speak of it. */
const struct policy_field *policy_field(struct str section, struct str name);
bool policy_is_section(struct str name);
struct str policy_field_path(const struct policy_field *f, struct arena *arena);

/* The policy of one scope. */
struct policy_layer {
    bool is_system;
    const struct doc *defaults, *rules; /* maps, NULL: none */
};

/* What is said of one field, and by which layer. */
struct policy_said {
    const struct policy_field *field;
    const struct doc *value; /* a default, or a rule */
    uint32_t layer;          /* index into the layers that were merged */
};
struct policy_merged {
    struct policy_said *defaults, *rules; /* in the order in which they were first said */
    uint32_t defaults_count, rules_count;
};
/* policy_merge makes one of layers, the highest scope first. What it points at is the layers'.
 * Fields that no policy may speak of are left out. */
void policy_merge(struct policy_merged *p, const struct policy_layer *layers, uint32_t count,
                  struct arena *arena);

/* policy_lay gives the spec asked for (a map, or NULL: nothing) with the defaults of p under it. Values
 * given as null are as not given. implied is what holds where nothing is said (a map, NULL: nothing): a
 * list that is not given and has options becomes what is implied and among them. */
struct doc *policy_lay(const struct policy_merged *p, const struct doc *asked,
                       const struct doc *implied, struct arena *arena);

/* One thing in a spec that the policy does not allow. */
struct policy_issue {
    const struct policy_field *of;
    struct str field;   /* "compute.gpuDevicesRequest" */
    struct str details; /* "value 8 is above the maximum 4" */
    const char *rule;   /* "max", as Run:ai names it */
    uint32_t layer;     /* whose rule it is */
};
struct policy_issues {
    struct policy_issue *items;
    uint32_t count;
};
/* policy_judge holds the rules against laid, which policy_lay made of asked; what neither has is held
 * against its options and range as implied says. */
void policy_judge(const struct policy_merged *p, const struct doc *asked, const struct doc *laid,
                  const struct doc *implied, struct arena *arena, struct policy_issues *out);

/* policy_check reports what in one policy cannot be meant: a minimum above the maximum, a default that
 * its own rules refuse, a default from a field that there is not. The types of the values are known to
 * be right. path is where the policy is in what the user wrote, part what stands between its defaults or
 * rules and their fields ("worker.", or ""). */
void policy_check(const struct policy_layer *layer, struct str path, const char *part,
                  struct problems *problems, struct arena *arena);

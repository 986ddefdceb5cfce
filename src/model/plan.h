// SPDX-License-Identifier: Apache-2.0
// plan: who is entitled to what: node pools, departments, projects and their quotas per pool.
// The file in source control, the command that changes it and the state hold this same struct;
// its meaning is normal: defaults filled in, amounts in base units, lists sorted by name.
#pragma once

#include "base/doc.h"
#include "base/err.h"
#include "model/record.h"
#include "model/stamp.h"

/* Ranks of queues and priorities of work use the same seven words; see priority.h. */

struct quota {
    struct str pool;
    int64_t gpu_share;     /* guaranteed, >= 0: shares of 1/7000 device, whole thousandths */
    int64_t gpu_max_share; /* maximum; -1 unlimited */
    int64_t cpu_milli, cpu_max_milli;       /* guaranteed and maximum; -1 unlimited (default) */
    int64_t memory_bytes, memory_max_bytes; /* the same */
    bool over_quota;      /* default true; false: the maxima equal the (finite) guarantees */
    int64_t weight_milli; /* over-quota weight in thousandths; default 2000 */
    int64_t rank;         /* among siblings, higher first; default that of medium-low */
    int64_t reclaim_min_runtime_ms, preempt_min_runtime_ms; /* -1: inherited (default) */
};

/* PACK is of gpu_placement alone, and places work without devices too: where what stays free is of
 * most use to what the pool is asked for. */
enum placement { PLACEMENT_BINPACK, PLACEMENT_SPREAD, PLACEMENT_PACK, PLACEMENT_COUNT };
/* X(placement, its name). */
#define PLACEMENTS(X) X(BINPACK, "binpack") X(SPREAD, "spread") X(PACK, "pack")
extern const struct str placement_names[PLACEMENT_COUNT];

/* Since when past use counts: for a fixed time back, since the last of moments at equal distances,
 * or since the last of moments written as in a crontab. */
enum usage_window { USAGE_SLIDING, USAGE_TUMBLING, USAGE_CRON };

struct pool {
    struct str name;
    struct str label_key, label_value; /* nodes with this label; both empty for `default` */
    enum placement gpu_placement, cpu_placement;
    int64_t reclaim_min_runtime_ms, preempt_min_runtime_ms; /* default 0 */
    int64_t reservation_after_ms; /* who has waited so long gets a place reserved; 0: nobody */
    bool time_based_fair_share;   /* past use counts when spare devices are shared; default off */
    enum usage_window usage_window;
    int64_t usage_window_ms;    /* length; 0: the default, see pool_usage_window_ms */
    int64_t usage_start_ms;     /* tumbling: when one of the windows begins; else 0 */
    struct str usage_cron;      /* cron: when the windows begin, see cron.h; else "" */
    int64_t usage_half_life_ms; /* use so long ago counts half; 0: all counts alike */
    int64_t usage_k_less_one;   /* weight of past use, thousandths less 1000: 0 is a K of 1 */
    int64_t usage_low_less_one; /* what work of priority very-low counts, thousandths less 1000 */
    bool implied;       /* only named in quotas: made if it is not there, left as it is if it is */
    uint32_t id;        /* small number from a counter of the state, never reused; 0 in a file */
    struct stamp stamp; /* the state's too */
};

int64_t pool_usage_window_ms(const struct pool *pool); /* a week by default */

/* Scheduling rules: what stops work that has run for long or uses none of its devices, and on which
 * nodes it may run. Times in ms, 0: no such rule. Of inference there are none. */
struct scheduling_rules {
    int64_t training_run_ms, training_idle_ms; /* distributed training too */
    int64_t workspace_run_ms;
    int64_t workspace_idle_ms; /* of those that are not preemptible */
    int64_t workspace_preemptible_idle_ms;
    struct str_item *training_types; /* work names one of these node types; empty: it need not */
    uint32_t training_types_count;
    struct str_item *workspace_types;
    uint32_t workspace_types_count;
};
#define NODE_TYPE_LABEL STR("run.ai/type") /* of a node: its type */

struct department {
    struct str name;
    struct str parent; /* another department, or "" */
    struct str owner_group;
    struct quota *quotas; /* sorted by pool; a pool not named has no guarantee, see plan_quota */
    uint32_t quotas_count;
    uint32_t id;            /* as for pools */
    struct str description; /* for people */
    struct scheduling_rules rules;
    struct stamp stamp;
};

enum preemptibility { PREEMPTIBILITY_DEFAULT, PREEMPTIBLE, NON_PREEMPTIBLE };

struct project {
    struct str name;
    struct str department;
    struct str access_group;
    struct quota *quotas;
    uint32_t quotas_count;
    enum preemptibility default_preemptibility; /* DEFAULT: by the priority */
    int64_t default_priority;                   /* 0: by the kind of workload */
    struct str_item *default_pools;             /* order in which pools are tried; empty: by name */
    uint32_t default_pools_count;
    uint32_t id; /* as for pools */
    struct str description;
    struct scheduling_rules rules; /* its own; those of its departments hold too: plan_rules */
    struct stamp stamp;
};

struct plan {
    struct pool *pools;
    struct department *departments; /* sorted by name */
    struct project *projects;       /* sorted by name */
    uint32_t pools_count, departments_count, projects_count;
};

extern const struct record record_quota, record_pool, record_scheduling_rules, record_department,
    record_project, record_plan;

/* plan_from_doc reads a parsed file (the seed's worksheet form) into *out, in normal form, and reports every problem
 * of form (unknown keys with the nearest known one, types, units, duplicates, ranges) with its
 * position. base: the plan in force, whose node pools are known too; NULL: not known. With errors
 * *out holds what could be read. Strings live in arena. */
void plan_from_doc(const struct doc *root, const struct plan *base, struct arena *arena,
                   struct plan *out, struct problems *problems);

/* plan_sort brings the three lists into order; quotas are sorted by whoever makes them. */
void plan_sort(struct plan *plan, struct arena *scratch);

/* What the nodes of a pool offer, for checks against the hardware. */
struct pool_capacity {
    struct str pool;
    int64_t gpu_share, largest_node_gpu_share;
    uint32_t node_count;
};
/* plan_check reports contradictions of meaning: guarantees above the parent's or the hardware
 * (also with the largest node lost), maximum below guarantee, weight without over-quota, production
 * priority on a preemptible project, unreachable maxima … with the position of the entry in root
 * (may be NULL: then without positions; else warnings about what root does not speak of are left
 * out). It also refuses values out of range and lists out of order,
 * which only a plan that was no file can hold. capacity may be NULL: hardware checks are left out. */
void plan_check(const struct plan *plan, const struct doc *root,
                const struct pool_capacity *capacity, uint32_t capacity_count,
                struct problems *problems);

/* plan_quota gives the effective quota of entry quotas[count] for pool: the one listed, or the
 * default for a pool not named (no guarantee, over quota allowed, weight 2, CPU and memory unlimited). */
struct quota plan_quota(const struct quota *quotas, uint32_t count, struct str pool);

/* plan_rules gives the rules that hold for a project: the tightest of its own and its departments'.
 * Node types are those that all of them allow; the lists live in arena. */
void plan_rules(const struct plan *plan, const struct project *project, struct arena *arena,
                struct scheduling_rules *out);

/* One difference between two plans, by meaning. */
enum change_kind { CHANGE_ADD, CHANGE_REMOVE, CHANGE_SET };
struct plan_change {
    enum change_kind kind;
    struct str what;     /* "project team-a", "project team-a, pool h100" */
    struct str field;    /* "" for whole objects, else "max_gpus" */
    struct str from, to; /* as a person writes them */
};
/* plan_diff lists how `to` differs from `from`, in a stable order; objects that only `from` has are
 * listed as CHANGE_REMOVE only when prune. */
struct plan_change *plan_diff(const struct plan *from, const struct plan *to, bool prune,
                              struct arena *arena, uint32_t *count);
/* plan_merge gives base with the objects of change added or replaced whole (ids kept; a pool that
 * change only implies is left as base has it); prune drops the others, but never the pool default.
 * *out is a deep copy in arena without implied pools. */
void plan_merge(const struct plan *base, const struct plan *change, bool prune, struct arena *arena,
                struct plan *out);
/* plan_remove takes one object out of the plan, and a pool out of all that names it; false: it is not
 * there. What was inside is left to plan_check. */
enum plan_object { PLAN_POOL, PLAN_DEPARTMENT, PLAN_PROJECT };
MUST_USE bool plan_remove(struct plan *plan, enum plan_object what, struct str name);
/* plan_to_yaml writes the file form; plan_from_doc of it gives an equal plan. */
void plan_to_yaml(const struct plan *plan, struct buf *out);

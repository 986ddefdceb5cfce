// SPDX-License-Identifier: Apache-2.0
// limits: every maximum on one page. Beyond one of these an input is refused at the door with
// STATUS_TOO_LARGE (or STATUS_INVALID for a value); the core may then rely on it.
#pragma once

#include <stdint.h>

/* ---- scheduler: sizes of one snapshot (one node pool) ---- */
#define NODES_MAX           65536u   /* nodes of a pool */
#define NODE_DEVICES_MAX    1024u    /* devices of a node */
#define QUEUES_MAX          65536u   /* departments and projects of a pool */
#define QUEUE_DEPTH_MAX     16u      /* levels of departments and projects */
#define WORKLOADS_MAX       4194304u /* workloads of a pool that are not over */
#define TASKS_MAX           4194304u /* pods of those */
#define GROUPS_MAX          8388608u /* gang groups, inner ones included */
#define GROUP_DEPTH_MAX     16u      /* levels of groups in a gang */
#define TOPOLOGY_LEVELS_MAX 16u      /* levels of a topology (KAI: the same) */
#define EXTENDED_MAX        256u     /* names of extended and MIG resources of a pool */

/* ---- scheduler: values ---- */
#define NODE_SHARES_MAX (INT64_C(1) << 32) /* device shares of a node */
#define AMOUNT_MAX \
    (INT64_C(1) << 46) /* any other amount of a node or a pod; the sum over the
                                                nodes of a pool stays below 2^63 */
#define QUEUE_AMOUNT_MAX        (INT64_C(1) << 60) /* a quota or limit */
#define WEIGHT_MILLI_MAX        INT64_C(1000000)   /* an over-quota weight of 1,000 */
#define POOL_AMOUNT_MAX         (INT64_C(1) << 58) /* a pool counts as having at most this of a resource */
#define K_PERMILLE_MAX          INT64_C(100000)    /* the k of time-based fair share: 100 */
#define USAGE_DENOMINATOR_MAX   INT64_C(100000)    /* past usage is a fraction over at most this */
#define SATURATION_PERMILLE_MAX INT64_C(1000000)   /* a saturation multiplier of 1,000 */
#define DURATION_MAX_MS         (INT64_C(1) << 50) /* any duration; 35,000 years */

/* ---- tenant plan ---- */
#define POOLS_MAX          256u /* node pools */
#define NAME_LEN_MAX       63u  /* of a department, node pool, label value */
#define PROJECT_LEN_MAX    57u  /* of a project: its namespace is runai-NAME */
#define GROUP_LEN_MAX      256u /* of a group of people */
#define QUOTA_GPUS_MAX     INT64_C(1000000)
#define QUOTA_CPUS_MAX     INT64_C(100000000)
#define MIN_RUNTIME_MAX_MS (INT64_C(365) * 24 * 3600 * 1000)
/* Windows of past use, and how long the books keep it. */
#define USAGE_WINDOW_MIN_MS     (INT64_C(3600) * 1000)
#define USAGE_WINDOW_DEFAULT_MS (INT64_C(7) * 24 * 3600 * 1000)
#define USAGE_WINDOW_MAX_MS     (INT64_C(92) * 24 * 3600 * 1000)
#define CRON_LEN_MAX            256u

/* ---- nodes ---- */
#define NODE_NAME_LEN_MAX 253u  /* as in Kubernetes */
#define NODE_ZONES_MAX    64u   /* NUMA nodes of a machine */
#define DRAIN_REASON_MAX  1024u /* bytes of what a person says about a drain */

/* ---- workloads ---- */
#define WORKLOAD_NAME_LEN_MAX 63u
#define WORKLOAD_PODS_MAX     4096u  /* pods of one workload */
#define WORKLOAD_LIST_MAX     1024u  /* arguments, variables, labels, annotations: each */
#define WORKLOAD_TEXT_MAX     65536u /* bytes of one of those */
#define BACKOFF_LIMIT_MAX     INT64_C(1000)
#define GRACE_MAX_MS          (INT64_C(24) * 3600 * 1000)
#define KEY_LEN_MAX           256u /* of an idempotency key */

#define WORKLOAD_TYPES_MAX  1000u   /* registered kinds, and changed ones of weir's own */
#define TYPE_INTERFACES_MAX 262144u /* bytes */

/* ---- identity ---- */
#define IDENTITY_NAME_LEN_MAX 254u /* of a user; an e-mail address has at most as much */
#define CLIENT_NAME_LEN_MAX   63u  /* of a service account, an access key */
#define ROLE_NAME_LEN_MAX     128u
#define SECRET_LEN_MAX        256u /* of a hash */
#define USER_GROUPS_MAX       512u /* that one user is in */
#define USER_KEYS_MAX         20u  /* access keys of one user (Run:ai: the same) */
#define USERS_MAX             100000u
#define APPLICATIONS_MAX      10000u
#define ROLES_MAX             1000u /* custom ones */
#define RULES_MAX             100000u
#define PROVIDERS_MAX         16u   /* identity providers */
#define PROVIDER_TEXT_MAX     2048u /* of an address, a client's id, its sealed secret */
#define PROVIDER_LIST_MAX     64u   /* scopes, values of the claim that must be there: each */
#define CLAIM_LEN_MAX         256u  /* of a claim's name, a scope, a value, a subject */

/* ---- assets ---- */
#define ASSETS_MAX            10000u
#define ASSET_NAME_LEN_MAX    253u
#define ASSET_DESCRIPTION_MAX 250u
#define ASSET_SPEC_MAX        65536u
#define REPORTS_MAX           200u
#define REPORT_TABLE_MAX      524288u
#define ASSET_SECRETS_MAX     64u    /* of one credential */
#define ASSET_SECRET_MAX      8192u  /* bytes of a secret … */
#define ASSET_SEALED_MAX      16384u /* … and when it is sealed */

/* ---- policies ---- */
#define POLICIES_MAX        10000u
#define POLICY_NAME_LEN_MAX 253u
#define POLICY_TEXT_MAX     262144u
#define POLICY_IMPOSED_MAX  64u

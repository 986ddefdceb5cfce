// SPDX-License-Identifier: Apache-2.0
// identity: who there is (users, service accounts, their keys) and who may do what where (roles,
// access rules). Secrets are never here: the edge puts their hashes into the command.
#pragma once

#include "base/uuid.h"
#include "model/record.h"

/* ---- where ---- */

/* A scope contains itself and what is below it: the tenant its clusters, a cluster its departments,
 * a department its departments and projects. */
enum scope_kind { SCOPE_TENANT, SCOPE_CLUSTER, SCOPE_DEPARTMENT, SCOPE_PROJECT };
struct scope {
    enum scope_kind kind;
    uint32_t id; /* TENANT_ID, CLUSTER_ID, or the id of a department or project of the plan */
};
enum { TENANT_ID = 1, CLUSTER_ID = 1 }; /* there is one of each */
#define SCOPE_OF_TENANT  ((struct scope){SCOPE_TENANT, TENANT_ID})
#define SCOPE_OF_CLUSTER ((struct scope){SCOPE_CLUSTER, CLUSTER_ID})

/* ---- what ---- */

/* What permissions are about. Stored: append only. Names on the wire: access/entity.h. */
enum entity {
    ENTITY_ACCOUNT, /* the tenant itself */
    ENTITY_BRANDING_SETTINGS,
    ENTITY_DEPARTMENTS,
    ENTITY_AUDIT, /* event history: who did what */
    ENTITY_TOPOLOGIES,
    ENTITY_POLICIES,
    ENTITY_PROJECTS,
    ENTITY_SECURITY_SETTINGS,
    ENTITY_SETTINGS,
    ENTITY_CLUSTERS,
    ENTITY_CLUSTERS_MINIMAL, /* that there are clusters, and their names */
    ENTITY_NODEPOOLS,
    ENTITY_NODEPOOLS_MINIMAL,
    ENTITY_NODES,
    ENTITY_ACCESS_RULES,
    ENTITY_APPLICATIONS, /* the older word for service accounts */
    ENTITY_ROLES,
    ENTITY_SERVICE_ACCOUNTS,
    ENTITY_USERS,
    ENTITY_INFERENCES,
    ENTITY_TRAININGS,
    ENTITY_WORKLOAD_PROPERTIES, /* types, categories, priorities */
    ENTITY_WORKLOADS,           /* of any kind */
    ENTITY_WORKSPACES,
    ENTITY_COMPUTE,
    ENTITY_CREDENTIALS,
    ENTITY_DATA_GIT, /* data sources, by kind */
    ENTITY_DATA_HOST_PATH,
    ENTITY_DATA_NFS,
    ENTITY_DATA_S3,
    ENTITY_DATA_CONFIG_MAP,
    ENTITY_DATA_SECRET,
    ENTITY_DATA_VOLUMES,
    ENTITY_ENVIRONMENTS,
    ENTITY_PVC,
    ENTITY_REGISTRIES,
    ENTITY_STORAGE_CLASSES,
    ENTITY_TEMPLATES,
    ENTITY_CLUSTER_CONFIG,
    ENTITY_DASHBOARD_OVERVIEW,
    ENTITY_DASHBOARD_ANALYTICS,
    ENTITY_DASHBOARD_CONSUMPTION,
    ENTITY_JOBS,        /* the older word for trainings */
    ENTITY_ACCESS_KEYS, /* of others; everyone has their own in hand */
    ENTITY_METRICS,     /* for a collector */
    ENTITY_COUNT
};
enum action { ACTION_CREATE = 1, ACTION_READ = 2, ACTION_UPDATE = 4, ACTION_DELETE = 8 };
enum { ACTION_ALL = 15 };

/* ---- who ---- */

enum subject_kind { SUBJECT_USER, SUBJECT_APPLICATION, SUBJECT_GROUP };

/* When and by whom; a name as in input.author. */
struct stamp {
    int64_t created_ms, updated_ms;
    struct str created_by, updated_by;
};

struct user {
    struct uuid id;
    struct str name;      /* an e-mail address as a rule, in lower case; unique */
    struct str password;  /* hash; "": signs in elsewhere */
    bool local;           /* made here, not by an identity provider */
    bool change_password; /* the password is one that somebody else knows */
    struct str_item *groups;
    uint32_t groups_count;
    int64_t login_ms;       /* last; 0: never */
    int64_t tokens_from_ms; /* tokens issued before are not accepted */
    struct stamp stamp;
};
/* A service account. Its client id is its name. */
struct application {
    struct uuid id;
    struct str name;   /* unique; no user has it */
    struct str secret; /* hash */
    bool enabled;
    int64_t login_ms, tokens_from_ms;
    struct stamp stamp;
};
/* A personal access key: signs in as its user. Its client id is its id. */
struct access_key {
    struct uuid id, user;
    struct str name; /* unique among its user's */
    struct str secret;
    int64_t login_ms, tokens_from_ms;
    struct stamp stamp;
};

struct permission {
    uint32_t entity;
    uint32_t actions; /* of enum action */
};
struct role {
    uint32_t id; /* ROLE_CUSTOM_FIRST and above; those below are access/role.h's */
    struct str name, description;
    bool disabled; /* gives nothing */
    struct permission *permissions;
    uint32_t permissions_count;
    struct stamp stamp;
};
enum { ROLE_SYSTEM_ADMINISTRATOR = 1, ROLE_CUSTOM_FIRST = 1001 };

struct access_rule {
    uint32_t id;
    enum subject_kind subject_kind;
    struct str subject; /* name of a user, application or group; it need not exist (yet) */
    uint32_t role;
    struct scope scope;
    bool from_plan; /* made and ended by the plan's owner_group and access_group */
    struct stamp stamp;
};

struct identity {
    int64_t revision; /* counts changes of what follows, sign-ins not */
    uint32_t next_role, next_rule;
    bool protect_ownership; /* only who submitted a workload, and who administers, may change it */
    struct user *users;
    struct application *applications;
    struct access_key *keys;
    struct role *roles; /* custom ones */
    struct access_rule *rules;
    uint32_t users_count, applications_count, keys_count, roles_count, rules_count;
};

extern const struct record record_user, record_application, record_access_key, record_role,
    record_access_rule, record_identity;

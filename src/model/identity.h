// SPDX-License-Identifier: Apache-2.0
// identity: who there is (users, service accounts, their keys) and who may do what where (roles,
// access rules). Secrets are never here: the edge puts their hashes into the command.
#pragma once

#include "base/uuid.h"
#include "model/record.h"
#include "model/stamp.h"

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
enum right { RIGHT_CREATE = 1, RIGHT_READ = 2, RIGHT_UPDATE = 4, RIGHT_DELETE = 8 };
enum { RIGHT_ALL = 15 };

/* ---- who ---- */

enum subject_kind { SUBJECT_USER, SUBJECT_APPLICATION, SUBJECT_GROUP };

struct user {
    struct uuid id;
    struct str name;      /* an e-mail address as a rule, in lower case; unique */
    struct str password;  /* hash; "": signs in elsewhere */
    bool local;           /* made here, not by an identity provider */
    bool change_password; /* the password is one that somebody else knows */
    struct str_item *groups;
    uint32_t groups_count;
    int64_t login_ms;    /* last; 0: never */
    uint32_t generation; /* of its tokens: those of an earlier one are not accepted */
    struct stamp stamp;
    struct str provider, subject; /* who vouches for it, and under which name there; "": local */
};
/* A service account. Its client id is its name. */
struct application {
    struct uuid id;
    struct str name;   /* unique; no user has it */
    struct str secret; /* hash */
    bool enabled;
    int64_t login_ms;
    uint32_t generation;
    struct stamp stamp;
};
/* An identity provider of OpenID Connect: vouches for people who sign in there. Names of claims that are
 * empty stand for the usual ones (PROVIDER_CLAIMS). */
enum provider_claim {
    CLAIM_EMAIL,
    CLAIM_GROUPS,
    CLAIM_UID,
    CLAIM_GID,
    CLAIM_SUPPLEMENTARY_GROUPS,
    PROVIDER_CLAIMS
};
struct provider {
    struct str alias; /* unique; in addresses */
    struct str client_id;
    struct str client_secret; /* sealed by the edge */
    struct str discovery_url;
    struct str_item *scopes; /* asked for besides openid */
    uint32_t scopes_count;
    struct str must_claim; /* who signs in must have this claim ("": none) … */
    struct str_item *must_values;
    uint32_t must_values_count; /* … with one of these values */
    struct str claims[PROVIDER_CLAIMS];
    struct stamp stamp;
};
/* A personal access key: signs in as its user. Its client id is its id. */
struct access_key {
    struct uuid id, user;
    struct str name; /* unique among its user's */
    struct str secret;
    int64_t login_ms;
    uint32_t generation;
    struct stamp stamp;
};

struct permission {
    uint32_t entity;
    uint32_t rights; /* of enum right */
};
struct role {
    uint32_t id; /* ROLE_CUSTOM_FIRST and above; those below are predefined, see access/role.h */
    struct str name, description;
    bool disabled; /* gives nothing */
    struct permission *permissions;
    uint32_t permissions_count;
    struct stamp stamp;
};
/* Stable: ids on the wire and in the journal. What each may: access/role.h. */
enum role_id {
    ROLE_SYSTEM_ADMINISTRATOR = 1,
    ROLE_DEPARTMENT_ADMINISTRATOR,
    ROLE_DEPARTMENT_VIEWER,
    ROLE_PROJECT_ADMINISTRATOR,
    ROLE_AI_PRACTITIONER,
    ROLE_DATA_ADMINISTRATOR,
    ROLE_EDITOR,
    ROLE_VIEWER,
    /* ours */
    ROLE_PLATFORM_ADMINISTRATOR,
    ROLE_DEPARTMENT_OWNER,
    ROLE_DEVELOPER,
    ROLE_PRODUCTION_OPERATOR,
    ROLE_CICD,
    ROLE_AUDITOR,
    ROLE_PREDEFINED_END,
    ROLE_CUSTOM_FIRST = 1001
};

struct access_rule {
    uint32_t id;
    enum subject_kind subject_kind;
    struct str subject; /* name of a user, application or group; it need not exist (yet) */
    uint32_t role;
    struct scope scope;
    bool from_plan; /* of a department's owner_group or a project's access_group */
    struct stamp stamp;
};

struct identity {
    int64_t revision;                /* counts changes of what follows; sign-ins are none */
    uint32_t roles_made, rules_made; /* ever, for their ids */
    bool protect_ownership; /* only who submitted a workload, and who administers, may change it */
    struct user *users;
    struct application *applications;
    struct access_key *keys;
    struct role *roles; /* custom ones */
    struct access_rule *rules;
    struct provider *providers;
    uint32_t users_count, applications_count, keys_count, roles_count, rules_count, providers_count;
};

const struct user *identity_user(const struct identity *i, struct uuid id); /* NULL: none */
const struct user *identity_user_named(const struct identity *i, struct str name);
/* The user whom a provider knows by that subject; NULL: none. */
const struct user *identity_user_of(const struct identity *i, struct str provider,
                                    struct str subject);
const struct provider *identity_provider(const struct identity *i, struct str alias);
/* The name of a claim of the provider: as it is set, or the usual one. */
struct str provider_claim_name(const struct provider *p, enum provider_claim claim);
const struct application *identity_application(const struct identity *i, struct uuid id);
const struct application *identity_application_named(const struct identity *i, struct str name);
const struct access_key *identity_key(const struct identity *i, struct uuid id);
const struct role *identity_role(const struct identity *i, uint32_t id); /* a custom one */
const struct access_rule *identity_rule(const struct identity *i, uint32_t id);

/* ---- how it changes: one command ---- */

/* What each reads of struct identity_change. Ids of new users, applications and keys are minted at
 * the edge; stamps are the engine's. */
enum identity_op {
    IDENTITY_NOTHING,
    IDENTITY_USER_ADD,           /* user: id, name, password, local, change_password, groups */
    IDENTITY_USER_PASSWORD,      /* user: id, password, change_password; its tokens end */
    IDENTITY_USER_GROUPS,        /* user: id, groups */
    IDENTITY_USER_REMOVE,        /* user: id; its keys and rules go with it */
    IDENTITY_APPLICATION_ADD,    /* application: id, name, secret */
    IDENTITY_APPLICATION_SECRET, /* application: id, secret; its tokens end */
    IDENTITY_APPLICATION_ENABLE, /* application: id, enabled; when not, its tokens end */
    IDENTITY_APPLICATION_REMOVE, /* application: id; its rules go with it */
    IDENTITY_KEY_ADD,            /* key: id, user, name, secret */
    IDENTITY_KEY_SECRET,         /* key: id, secret; its tokens end */
    IDENTITY_KEY_REMOVE,         /* key: id */
    IDENTITY_ROLE_ADD,           /* role: name, description, disabled, permissions */
    IDENTITY_ROLE_SET,           /* role: id and the same */
    IDENTITY_ROLE_REMOVE,        /* role: id; not while rules name it */
    IDENTITY_RULE_ADD,           /* rule: subject_kind, subject, role, scope */
    IDENTITY_RULE_REMOVE,        /* rule: id; not one of the plan's */
    IDENTITY_SIGN_IN,            /* user, application or key: id. Or user: provider, subject, name
                                  * and groups, and an id for when it is new */
    IDENTITY_SIGN_OUT,           /* user: id; its tokens end */
    IDENTITY_PROTECT,            /* protect_ownership */
    IDENTITY_PROVIDER_ADD,       /* provider */
    IDENTITY_PROVIDER_SET,       /* provider: by its alias; a client_secret of "" stays as it is */
    IDENTITY_PROVIDER_REMOVE,    /* provider: alias; the tokens of its users end */
    IDENTITY_OP_COUNT
};
struct identity_change {
    enum identity_op op;
    struct user user;
    struct application application;
    struct access_key key;
    struct role role;
    struct access_rule rule;
    bool protect_ownership;
    struct provider provider;
};

extern const struct record record_identity_change;
extern const struct record record_user, record_application, record_access_key, record_role,
    record_access_rule, record_provider, record_identity;

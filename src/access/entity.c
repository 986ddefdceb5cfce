// SPDX-License-Identifier: Apache-2.0
// The catalogue of entities. Inherited are things that one uses from below: node pools, assets,
// policies, the department one's project is in. Workloads and projects are not: nothing is below
// them. Nor are access rules and the audit, which tell of people elsewhere.
#include "access/entity.h"

#include "base/check.h"

#define ORGANIZATION STRS("organization")
#define PHYSICAL     STRS("physical-resource")
#define IAM          STRS("iam")
#define DASHBOARD    STRS("dashboard")
#define WORKLOAD     STRS("workload")
#define ASSET        STRS("workload-asset")

static const struct entity_info infos[ENTITY_COUNT] = {
    [ENTITY_ACCOUNT] = {STRS("tenant"),                      STRS("Account"),                 ORGANIZATION, ACTION_READ, true },
    [ENTITY_BRANDING_SETTINGS] = {STRS("branding-settings"),           STRS("Branding settings"),
                        ORGANIZATION,                                                                       ACTION_ALL,  true },
    [ENTITY_DEPARTMENTS] = {STRS("department"),                  STRS("Departments"),             ORGANIZATION, ACTION_ALL,
                        true                                                                                                  },
    [ENTITY_AUDIT] = {STRS("events-history"),              STRS("Event history"),           ORGANIZATION, ACTION_READ,
                        false                                                                                                 },
    [ENTITY_TOPOLOGIES] = {STRS("network-topologies"),          STRS("Network topologies"),      PHYSICAL,
                        ACTION_ALL,                                                                                      true },
    [ENTITY_POLICIES] = {STRS("policies"),                    STRS("Policies"),                ORGANIZATION, ACTION_ALL,  true },
    [ENTITY_PROJECTS] = {STRS("project"),                     STRS("Projects"),                ORGANIZATION, ACTION_ALL,  false},
    [ENTITY_SECURITY_SETTINGS] = {STRS("security-settings"),           STRS("Security settings"),
                        ORGANIZATION,                                                                       ACTION_ALL,  true },
    [ENTITY_SETTINGS] = {STRS("settings"),                    STRS("Settings"),                ORGANIZATION, ACTION_ALL,  true },
    [ENTITY_CLUSTERS] = {STRS("cluster"),                     STRS("Clusters"),                PHYSICAL,     ACTION_ALL,  true },
    [ENTITY_CLUSTERS_MINIMAL] = {STRS("clusters-minimal"),            STRS("Clusters minimal"),        PHYSICAL,
                        ACTION_READ,                                                                                     true },
    [ENTITY_NODEPOOLS] = {STRS("nodepools"),                   STRS("Node pools"),              PHYSICAL,     ACTION_ALL,  true },
    [ENTITY_NODEPOOLS_MINIMAL] = {STRS("nodepools-minimal"),           STRS("Node pools minimal"),      PHYSICAL,
                        ACTION_READ,                                                                                     true },
    [ENTITY_NODES] = {STRS("nodes"),                       STRS("Nodes"),                   PHYSICAL,     ACTION_ALL,  true },
    [ENTITY_ACCESS_RULES] = {STRS("access_rules"),                STRS("Access rules"),            IAM,          ACTION_ALL,  false},
    [ENTITY_APPLICATIONS] = {STRS("apps"),                        STRS("Applications"),            IAM,          ACTION_ALL,  true },
    [ENTITY_ROLES] = {STRS("roles"),                       STRS("Roles"),                   IAM,          ACTION_ALL,  true },
    [ENTITY_SERVICE_ACCOUNTS] = {STRS("service-account"),             STRS("Service accounts"),        IAM,          ACTION_ALL,
                        true                                                                                                  },
    [ENTITY_USERS] = {STRS("users"),                       STRS("Users"),                   IAM,          ACTION_ALL,  true },
    [ENTITY_INFERENCES] = {STRS("inferences"),                  STRS("Inferences"),              WORKLOAD,     ACTION_ALL,  false},
    [ENTITY_TRAININGS] = {STRS("trainings"),                   STRS("Trainings"),               WORKLOAD,     ACTION_ALL,  false},
    [ENTITY_WORKLOAD_PROPERTIES] = {STRS("workload-properties"),         STRS("Workload properties"),
                        WORKLOAD,                                                                           ACTION_ALL,  true },
    [ENTITY_WORKLOADS] = {STRS("workloads"),                   STRS("Workloads"),               WORKLOAD,     ACTION_ALL,  false},
    [ENTITY_WORKSPACES] = {STRS("workspaces"),                  STRS("Workspaces"),              WORKLOAD,     ACTION_ALL,  false},
    [ENTITY_COMPUTE] = {STRS("compute-resources"),           STRS("Compute resources"),       ASSET,        ACTION_ALL,
                        true                                                                                                  },
    [ENTITY_CREDENTIALS] = {STRS("credentials"),                 STRS("Credentials"),             ASSET,        ACTION_ALL,  true },
    [ENTITY_DATA_GIT] = {STRS("git-assets"),                  STRS("Data sources: Git"),       ASSET,        ACTION_ALL,  true },
    [ENTITY_DATA_HOST_PATH] = {STRS("host-path-assets"),            STRS("Data sources: host path"), ASSET,
                        ACTION_ALL,                                                                                      true },
    [ENTITY_DATA_NFS] = {STRS("nfs-assets"),                  STRS("Data sources: NFS"),       ASSET,        ACTION_ALL,  true },
    [ENTITY_DATA_S3] = {STRS("s3-assets"),                   STRS("Data sources: S3"),        ASSET,        ACTION_ALL,  true },
    [ENTITY_DATA_CONFIG_MAP] = {STRS("cm-volume-assets"),            STRS("Data sources: ConfigMap"), ASSET,
                        ACTION_ALL,                                                                                      true },
    [ENTITY_DATA_SECRET] = {STRS("secret-volume-assets"),        STRS("Data sources: secret"),    ASSET,
                        ACTION_ALL,                                                                                      true },
    [ENTITY_DATA_VOLUMES] = {STRS("datavolumes"),                 STRS("Data volumes"),            ASSET,        ACTION_ALL,  true },
    [ENTITY_ENVIRONMENTS] = {STRS("environments"),                STRS("Environments"),            ASSET,        ACTION_ALL,  true },
    [ENTITY_PVC] = {STRS("pvc-assets"),                  STRS("PVC"),                     ASSET,        ACTION_ALL,  true },
    [ENTITY_REGISTRIES] = {STRS("registries"),                  STRS("Registries"),              ASSET,        ACTION_ALL,  true },
    [ENTITY_STORAGE_CLASSES] = {STRS("storage-class-configuration"),
                        STRS("Storage class configurations"),                                 ASSET,        ACTION_ALL,  true },
    [ENTITY_TEMPLATES] = {STRS("templates"),                   STRS("Templates"),               ASSET,        ACTION_ALL,  true },
    [ENTITY_CLUSTER_CONFIG] = {STRS("cluster-config"),              STRS("Cluster configuration"),   PHYSICAL,
                        ACTION_ALL,                                                                                      false},
    [ENTITY_DASHBOARD_OVERVIEW] = {STRS("dashboards-overview"),         STRS("Overview dashboard"),
                        DASHBOARD,                                                                          ACTION_READ, false},
    [ENTITY_DASHBOARD_ANALYTICS] = {STRS("dashboards-analytics"),        STRS("Analytics dashboard"),
                        DASHBOARD,                                                                          ACTION_READ, false},
    [ENTITY_DASHBOARD_CONSUMPTION] = {STRS("dashboards-consumption"),      STRS("Consumption dashboard"),
                        DASHBOARD,                                                                          ACTION_READ, false},
    [ENTITY_JOBS] = {STRS("jobs"),                        STRS("Jobs"),                    WORKLOAD,     ACTION_ALL,  false},
    [ENTITY_ACCESS_KEYS] = {STRS("access-keys"),                 STRS("Access keys"),             IAM,          ACTION_ALL,  false},
    [ENTITY_METRICS] = {STRS("scrapeable-metrics"),          STRS("Metrics to scrape"),       DASHBOARD,
                        ACTION_READ,                                                                                     false},
};

const struct entity_info *entity_info(enum entity e)
{
    CHECK(e < ENTITY_COUNT);
    return &infos[e];
}

static bool same_name(struct str a, struct str b)
{
    if (a.len != b.len) {
        return false;
    }
    for (uint32_t i = 0; i < a.len; i++) {
        char x = a.ptr[i] == '_' ? '-' : a.ptr[i];
        char y = b.ptr[i] == '_' ? '-' : b.ptr[i];
        if (x != y) {
            return false;
        }
    }
    return true;
}

bool entity_find(struct str name, enum entity *out)
{
    for (uint32_t i = 0; i < ENTITY_COUNT; i++) {
        if (same_name(name, infos[i].name)) {
            *out = (enum entity)i;
            return true;
        }
    }
    return false;
}

struct str action_name(enum action a)
{
    switch (a) {
    case ACTION_CREATE:
        return STR("create");
    case ACTION_READ:
        return STR("read");
    case ACTION_UPDATE:
        return STR("update");
    case ACTION_DELETE:
        return STR("delete");
    }
    return STR("");
}

bool action_find(struct str name, enum action *out)
{
    for (uint32_t a = ACTION_CREATE; a <= ACTION_DELETE; a *= 2) {
        if (str_eq(name, action_name((enum action)a))) {
            *out = (enum action)a;
            return true;
        }
    }
    return false;
}

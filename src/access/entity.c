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
    [ENTITY_ACCOUNT] = {STRS("tenant"),                      STRS("account"),              STRS("Account"),           ORGANIZATION, RIGHT_READ,
                        true                                                                                                                         },
    [ENTITY_BRANDING_SETTINGS] = {STRS("branding-settings"),           STRS("brandingSettings"),
                        STRS("Branding settings"),                                                                    ORGANIZATION, RIGHT_ALL,  true },
    [ENTITY_DEPARTMENTS] = {STRS("department"),                  STRS("department"),           STRS("Departments"),
                        ORGANIZATION,                                                                                               RIGHT_ALL,  true },
    [ENTITY_AUDIT] = {STRS("events-history"),              STRS("eventHistory"),         STRS("Event history"),
                        ORGANIZATION,                                                                                               RIGHT_READ, false},
    [ENTITY_TOPOLOGIES] = {STRS("network-topologies"),          STRS("networkTopology"),
                        STRS("Network topologies"),                                                                   PHYSICAL,     RIGHT_ALL,  true },
    [ENTITY_POLICIES] = {STRS("policies"),                    STRS("policy"),               STRS("Policies"),          ORGANIZATION,
                        RIGHT_ALL,                                                                                                              true },
    [ENTITY_PROJECTS] = {STRS("project"),                     STRS("project"),              STRS("Projects"),          ORGANIZATION,
                        RIGHT_ALL,                                                                                                              false},
    [ENTITY_SECURITY_SETTINGS] = {STRS("security-settings"),           STRS("securitySettings"),
                        STRS("Security settings"),                                                                    ORGANIZATION, RIGHT_ALL,  true },
    [ENTITY_SETTINGS] = {STRS("settings"),                    STRS("settings"),             STRS("Settings"),          ORGANIZATION,
                        RIGHT_ALL,                                                                                                              true },
    [ENTITY_CLUSTERS] = {STRS("cluster"),                     STRS("cluster"),              STRS("Clusters"),          PHYSICAL,     RIGHT_ALL,
                        true                                                                                                                         },
    [ENTITY_CLUSTERS_MINIMAL] = {STRS("clusters-minimal"),            STRS("clusterMinimal"),
                        STRS("Clusters minimal"),                                                                     PHYSICAL,     RIGHT_READ, true },
    [ENTITY_NODEPOOLS] = {STRS("nodepools"),                   STRS("nodePool"),             STRS("Node pools"),        PHYSICAL,
                        RIGHT_ALL,                                                                                                              true },
    [ENTITY_NODEPOOLS_MINIMAL] = {STRS("nodepools-minimal"),           STRS("nodePoolMinimal"),
                        STRS("Node pools minimal"),                                                                   PHYSICAL,     RIGHT_READ, true },
    [ENTITY_NODES] = {STRS("nodes"),                       STRS("node"),                 STRS("Nodes"),             PHYSICAL,     RIGHT_ALL,  true },
    [ENTITY_ACCESS_RULES] = {STRS("access_rules"),                STRS("accessRule"),           STRS("Access rules"),      IAM,
                        RIGHT_ALL,                                                                                                              false},
    [ENTITY_APPLICATIONS] = {STRS("apps"),                        STRS("application"),          STRS("Applications"),      IAM,
                        RIGHT_ALL,                                                                                                              true },
    [ENTITY_ROLES] = {STRS("roles"),                       STRS("role"),                 STRS("Roles"),             IAM,          RIGHT_ALL,  true },
    [ENTITY_SERVICE_ACCOUNTS] = {STRS("service-account"),             STRS("serviceAccount"),
                        STRS("Service accounts"),                                                                     IAM,          RIGHT_ALL,  true },
    [ENTITY_USERS] = {STRS("users"),                       STRS("user"),                 STRS("Users"),             IAM,          RIGHT_ALL,  true },
    [ENTITY_INFERENCES] = {STRS("inferences"),                  STRS("inference"),            STRS("Inferences"),        WORKLOAD,
                        RIGHT_ALL,                                                                                                              false},
    [ENTITY_TRAININGS] = {STRS("trainings"),                   STRS("training"),             STRS("Trainings"),         WORKLOAD,
                        RIGHT_ALL,                                                                                                              false},
    [ENTITY_WORKLOAD_PROPERTIES] = {STRS("workload-properties"),         STRS("workloadProperties"),
                        STRS("Workload properties"),                                                                  WORKLOAD,     RIGHT_ALL,  true },
    [ENTITY_WORKLOADS] = {STRS("workloads"),                   STRS("workload"),             STRS("Workloads"),         WORKLOAD,
                        RIGHT_ALL,                                                                                                              false},
    [ENTITY_WORKSPACES] = {STRS("workspaces"),                  STRS("workspace"),            STRS("Workspaces"),        WORKLOAD,
                        RIGHT_ALL,                                                                                                              false},
    [ENTITY_COMPUTE] = {STRS("compute-resources"),           STRS("computeResource"),
                        STRS("Compute resources"),                                                                    ASSET,        RIGHT_ALL,  true },
    [ENTITY_CREDENTIALS] = {STRS("credentials"),                 STRS("credential"),           STRS("Credentials"),       ASSET,
                        RIGHT_ALL,                                                                                                              true },
    [ENTITY_DATA_GIT] = {STRS("git-assets"),                  STRS("gitDataSource"),        STRS("Data sources: Git"),
                        ASSET,                                                                                                      RIGHT_ALL,  true },
    [ENTITY_DATA_HOST_PATH] = {STRS("host-path-assets"),            STRS("hostPathDataSource"),
                        STRS("Data sources: host path"),                                                              ASSET,        RIGHT_ALL,  true },
    [ENTITY_DATA_NFS] = {STRS("nfs-assets"),                  STRS("nfsDataSource"),        STRS("Data sources: NFS"),
                        ASSET,                                                                                                      RIGHT_ALL,  true },
    [ENTITY_DATA_S3] = {STRS("s3-assets"),                   STRS("s3DataSource"),         STRS("Data sources: S3"),  ASSET,
                        RIGHT_ALL,                                                                                                              true },
    [ENTITY_DATA_CONFIG_MAP] = {STRS("cm-volume-assets"),            STRS("configMapDataSource"),
                        STRS("Data sources: ConfigMap"),                                                              ASSET,        RIGHT_ALL,  true },
    [ENTITY_DATA_SECRET] = {STRS("secret-volume-assets"),        STRS("secretDataSource"),
                        STRS("Data sources: secret"),                                                                 ASSET,        RIGHT_ALL,  true },
    [ENTITY_DATA_VOLUMES] = {STRS("datavolumes"),                 STRS("dataVolume"),           STRS("Data volumes"),      ASSET,
                        RIGHT_ALL,                                                                                                              true },
    [ENTITY_ENVIRONMENTS] = {STRS("environments"),                STRS("environment"),          STRS("Environments"),      ASSET,
                        RIGHT_ALL,                                                                                                              true },
    [ENTITY_PVC] = {STRS("pvc-assets"),                  STRS("pvc"),                  STRS("PVC"),               ASSET,        RIGHT_ALL,  true },
    [ENTITY_REGISTRIES] = {STRS("registries"),                  STRS("registry"),             STRS("Registries"),        ASSET,
                        RIGHT_ALL,                                                                                                              true },
    [ENTITY_STORAGE_CLASSES] = {STRS("storage-class-configuration"),
                        STRS("storageClassConfiguration"),
                        STRS("Storage class configurations"),                                                         ASSET,        RIGHT_ALL,  true },
    [ENTITY_TEMPLATES] = {STRS("templates"),                   STRS("template"),             STRS("Templates"),         ASSET,        RIGHT_ALL,
                        true                                                                                                                         },
    [ENTITY_CLUSTER_CONFIG] = {STRS("cluster-config"),              STRS("clusterConfig"),
                        STRS("Cluster configuration"),                                                                PHYSICAL,     RIGHT_ALL,  false},
    [ENTITY_DASHBOARD_OVERVIEW] = {STRS("dashboards-overview"),         STRS("overviewDashboard"),
                        STRS("Overview dashboard"),                                                                   DASHBOARD,    RIGHT_READ, false},
    [ENTITY_DASHBOARD_ANALYTICS] = {STRS("dashboards-analytics"),        STRS("analyticsDashboard"),
                        STRS("Analytics dashboard"),                                                                  DASHBOARD,    RIGHT_READ, false},
    [ENTITY_DASHBOARD_CONSUMPTION] = {STRS("dashboards-consumption"),      STRS("consumptionDashboard"),
                        STRS("Consumption dashboard"),                                                                DASHBOARD,    RIGHT_READ, false},
    [ENTITY_JOBS] = {STRS("jobs"),                        STRS("job"),                  STRS("Jobs"),              WORKLOAD,     RIGHT_ALL,  false},
    [ENTITY_ACCESS_KEYS] = {STRS("access-keys"),                 STRS("accessKey"),            STRS("Access keys"),       IAM,
                        RIGHT_ALL,                                                                                                              false},
    [ENTITY_METRICS] = {STRS("scrapeable-metrics"),          STRS("metrics"),              STRS("Metrics to scrape"),
                        DASHBOARD,                                                                                                  RIGHT_READ, false},
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

struct str right_name(enum right a)
{
    switch (a) {
    case RIGHT_CREATE:
        return STR("create");
    case RIGHT_READ:
        return STR("read");
    case RIGHT_UPDATE:
        return STR("update");
    case RIGHT_DELETE:
        return STR("delete");
    }
    return STR("");
}

bool right_find(struct str name, enum right *out)
{
    for (uint32_t a = RIGHT_CREATE; a <= RIGHT_DELETE; a *= 2) {
        if (str_eq(name, right_name((enum right)a))) {
            *out = (enum right)a;
            return true;
        }
    }
    return false;
}

// SPDX-License-Identifier: Apache-2.0
// Predefined roles, as a table: the first eight are the product's own, the others those that an
// organisation hands out by its scopes: platform, department, development and production projects,
// automation, review.
#include "access/role.h"

#include "base/check.h"

enum { FIRST = ROLE_SYSTEM_ADMINISTRATOR, ROLES = ROLE_PREDEFINED_END - FIRST };

/* By role, in the order of enum role_predefined: V view, E edit, C create, D delete, * all. */
static const char *const may[ENTITY_COUNT][ROLES] = {
    /* clang-format off: system administrator, department administrator, department viewer, project
     * administrator, AI practitioner, data administrator, editor, viewer; platform administrator,
     * department owner, developer, production operator, CI/CD, auditor */
    [ENTITY_ACCOUNT] = {"V", "V", "V", "V", "V", "V", "V", "V", "V",   "V", "V", "V",  "V", "V"},
    [ENTITY_BRANDING_SETTINGS] = {"*", "V", "V", "",  "",  "",  "V", "V", "*",   "V", "",  "",   "",  "" },
    [ENTITY_DEPARTMENTS] = {"*", "V", "V", "V", "V", "V", "*", "V", "*",   "V", "V", "V",  "V", "V"},
    [ENTITY_AUDIT] = {"V", "",  "",  "",  "",  "",  "",  "",  "V",   "V", "",  "",   "",  "V"},
    [ENTITY_TOPOLOGIES] = {"*", "V", "",  "",  "",  "",  "V", "V", "*",   "V", "",  "",   "",  "V"},
    [ENTITY_POLICIES] = {"*", "*", "V", "*", "V", "",  "*", "V", "*",   "*", "V", "V",  "V", "V"},
    [ENTITY_PROJECTS] = {"*", "*", "V", "V", "V", "V", "*", "V", "*",   "*", "V", "V",  "V", "V"},
    [ENTITY_SECURITY_SETTINGS] = {"*", "V", "V", "V", "",  "",  "V", "V", "V",   "V", "",  "",   "",  "V"},
    [ENTITY_SETTINGS] = {"*", "V", "V", "V", "V", "V", "V", "V", "*",   "V", "V", "V",  "V", "V"},
    [ENTITY_CLUSTERS] = {"*", "",  "V", "",  "",  "",  "V", "V", "*",   "",  "",  "",   "",  "V"},
    [ENTITY_CLUSTERS_MINIMAL] = {"V", "V", "V", "V", "V", "V", "V", "V", "V",   "V", "V", "V",  "V",
                        "V"                                                                    },
    [ENTITY_NODEPOOLS] = {"*", "V", "",  "",  "",  "",  "V", "V", "*",   "V", "",  "V",  "",  "V"},
    [ENTITY_NODEPOOLS_MINIMAL] = {"V", "V", "V", "V", "V", "V", "V", "V", "V",   "V", "V", "V",  "V",
                        "V"                                                                    },
    [ENTITY_NODES] = {"V", "V", "",  "",  "",  "",  "V", "V", "V",   "V", "",  "V",  "",  "V"},
    [ENTITY_ACCESS_RULES] = {"*", "*", "",  "*", "",  "",  "*", "",  "V",   "*", "",  "",   "",  "V"},
    [ENTITY_APPLICATIONS] = {"*", "*", "",  "V", "",  "",  "V", "",  "V",   "V", "",  "",   "",  "V"},
    [ENTITY_ROLES] = {"*", "V", "",  "V", "",  "",  "V", "",  "V",   "V", "",  "",   "",  "V"},
    [ENTITY_SERVICE_ACCOUNTS] = {"*", "*", "",  "V", "",  "",  "V", "",  "V",   "V", "",  "",   "",  "V"},
    [ENTITY_USERS] = {"*", "*", "",  "",  "",  "",  "V", "",  "V",   "V", "",  "",   "",  "V"},
    [ENTITY_INFERENCES] = {"*", "*", "V", "*", "*", "V", "*", "V", "VED", "V", "*", "VE", "*", "V"},
    [ENTITY_TRAININGS] = {"*", "*", "V", "*", "*", "V", "*", "V", "VED", "V", "*", "VE", "*", "V"},
    [ENTITY_WORKLOAD_PROPERTIES] = {"*", "V", "V", "V", "V", "V", "V", "V", "*",   "V", "V", "V",  "V",
                        "V"                                                                    },
    [ENTITY_WORKLOADS] = {"*", "*", "V", "*", "*", "V", "*", "V", "VED", "V", "*", "VE", "*", "V"},
    [ENTITY_WORKSPACES] = {"*", "*", "V", "*", "*", "V", "*", "V", "VED", "V", "*", "VE", "",  "V"},
    [ENTITY_COMPUTE] = {"*", "*", "V", "*", "*", "V", "*", "V", "*",   "V", "V", "V",  "V", "V"},
    [ENTITY_CREDENTIALS] = {"*", "*", "V", "*", "*", "V", "*", "V", "V",   "V", "V", "V",  "V", "" },
    [ENTITY_DATA_GIT] = {"*", "*", "V", "*", "*", "*", "*", "V", "*",   "V", "V", "V",  "V", "V"},
    [ENTITY_DATA_HOST_PATH] = {"*", "*", "V", "*", "*", "*", "*", "V", "*",   "V", "V", "V",  "V",
                        "V"                                                                    },
    [ENTITY_DATA_NFS] = {"*", "*", "V", "*", "*", "*", "*", "V", "*",   "V", "V", "V",  "V", "V"},
    [ENTITY_DATA_S3] = {"*", "*", "V", "*", "*", "*", "*", "V", "*",   "V", "V", "V",  "V", "V"},
    [ENTITY_DATA_CONFIG_MAP] = {"*", "*", "V", "*", "*", "*", "*", "V", "*",   "V", "V", "V",  "V",
                        "V"                                                                    },
    [ENTITY_DATA_SECRET] = {"*", "*", "V", "*", "*", "*", "*", "V", "*",   "V", "V", "V",  "V", "V"},
    [ENTITY_DATA_VOLUMES] = {"*", "*", "V", "*", "V", "*", "*", "V", "*",   "V", "V", "V",  "V", "V"},
    [ENTITY_ENVIRONMENTS] = {"*", "*", "V", "*", "*", "V", "*", "V", "*",   "V", "V", "V",  "V", "V"},
    [ENTITY_PVC] = {"*", "*", "V", "*", "V", "*", "*", "V", "*",   "V", "V", "V",  "V", "V"},
    [ENTITY_REGISTRIES] = {"*", "*", "V", "*", "*", "V", "*", "V", "*",   "V", "V", "V",  "V", "V"},
    [ENTITY_STORAGE_CLASSES] = {"*", "*", "V", "*", "V", "*", "*", "V", "*",   "V", "V", "V",  "V",
                        "V"                                                                    },
    [ENTITY_TEMPLATES] = {"*", "*", "V", "*", "*", "V", "*", "V", "*",   "V", "V", "V",  "V", "V"},
    [ENTITY_CLUSTER_CONFIG] = {"*", "",  "",  "",  "",  "",  "V", "V", "*",   "",  "",  "",   "",  "V"},
    [ENTITY_DASHBOARD_OVERVIEW] = {"V", "V", "V", "V", "V", "",  "V", "V", "V",   "V", "V", "V",  "",
                        "V"                                                                    },
    [ENTITY_DASHBOARD_ANALYTICS] = {"V", "V", "V", "V", "",  "",  "V", "V", "V",   "V", "",  "V",  "",
                        "V"                                                                    },
    [ENTITY_DASHBOARD_CONSUMPTION] = {"V", "V", "V", "",  "",  "",  "V", "V", "V",   "V", "",  "",   "",
                        "V"                                                                    },
    [ENTITY_JOBS] = {"*", "*", "V", "*", "*", "V", "*", "V", "VED", "V", "*", "VE", "*", "V"},
    [ENTITY_ACCESS_KEYS] = {"*", "",  "",  "",  "",  "",  "",  "",  "V",   "",  "",  "",   "",  "V"},
    [ENTITY_METRICS] = {"V", "V", "",  "",  "",  "",  "V", "V", "V",   "V", "",  "",   "",  "V"},
    /* clang-format on */
};

static const struct {
    struct str name, description;
} names[ROLES] = {
    [ROLE_SYSTEM_ADMINISTRATOR - FIRST] = {STRS("System administrator"),
                                           STRS("Everything, access of others included")                                                                        },
    [ROLE_DEPARTMENT_ADMINISTRATOR - FIRST] = {STRS("Department administrator"),
                                           STRS("Projects, access, policies and workloads of "
                                                    "a department")                                                                                             },
    [ROLE_DEPARTMENT_VIEWER -
        FIRST] = {STRS("Department viewer"),              STRS("Reads what is in a department")                                        },
    [ROLE_PROJECT_ADMINISTRATOR -
        FIRST] = {STRS("Project administrator"),          STRS("Access, policies, assets and workloads of a "
                                                      "project")                       },
    [ROLE_AI_PRACTITIONER - FIRST] = {STRS("AI practitioner"),                STRS("Works in a project")                                                   },
    [ROLE_DATA_ADMINISTRATOR -
        FIRST] = {STRS("Data and storage administrator"), STRS("Data sources and volumes")                                             },
    [ROLE_EDITOR - FIRST] = {STRS("Editor"),
                                           STRS("Departments, projects and what is in them; not the platform")                                                  },
    [ROLE_VIEWER - FIRST] = {STRS("Viewer"),                         STRS("Reads, but neither people nor the audit")                              },
    [ROLE_PLATFORM_ADMINISTRATOR -
        FIRST] = {STRS("Platform administrator"),         STRS("Clusters, node pools, quotas, policies and "
                                                       "settings; not who has access")},
    [ROLE_DEPARTMENT_OWNER - FIRST] = {STRS("Department owner"),
                                           STRS("Projects, access and policies of a department; reads "
                                            "its workloads and its audit")                                                                                      },
    [ROLE_DEVELOPER - FIRST] = {STRS("Developer"),
                                           STRS("Submits and manages workloads with the assets there are")                                                      },
    [ROLE_PRODUCTION_OPERATOR - FIRST] = {STRS("Production operator"),
                                           STRS("Operates workloads; neither submits nor deletes")                                                              },
    [ROLE_CICD - FIRST] = {STRS("CI/CD service account"),
                                           STRS("Submits and ends training and inference; no workspaces")                                                       },
    [ROLE_AUDITOR -
        FIRST] = {STRS("Audit and FinOps"),               STRS("Reads usage, allocation, access and the audit")                        },
};

static uint8_t bits(const char *letters)
{
    uint8_t all = 0;
    for (; *letters != '\0'; letters++) {
        switch (*letters) {
        case 'V':
            all |= RIGHT_READ;
            break;
        case 'E':
            all |= RIGHT_UPDATE;
            break;
        case 'D':
            all |= RIGHT_DELETE;
            break;
        default:
            CHECK(*letters == '*');
            all |= RIGHT_ALL;
        }
    }
    return all;
}

bool role_predefined(uint32_t id, struct role_info *out)
{
    if (id < FIRST || id >= ROLE_PREDEFINED_END) {
        return false;
    }
    *out = (struct role_info){
        .name = names[id - FIRST].name,
        .description = names[id - FIRST].description,
    };
    for (uint32_t e = 0; e < ENTITY_COUNT; e++) {
        out->permissions.may[e] = bits(may[e][id - FIRST]);
    }
    return true;
}

struct role_info role_custom(const struct role *role)
{
    struct role_info out = {.name = role->name, .description = role->description};
    for (uint32_t i = 0; i < role->permissions_count && !role->disabled; i++) {
        const struct permission *p = &role->permissions[i];
        if (p->entity < ENTITY_COUNT) {
            out.permissions.may[p->entity] |=
                (uint8_t)(p->rights & entity_info((enum entity)p->entity)->rights);
        }
    }
    return out;
}

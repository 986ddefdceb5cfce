// SPDX-License-Identifier: Apache-2.0
#include "policy/policy.h"

#include "base/array.h"

#define COMPUTE(name, type)  {"compute", name, type, ""}
#define SECURITY(name, type) {"security", name, type, ""}
#define STORAGE(name, key)   {"storage", name, POLICY_ITEMIZED, key}
#define SCALING(name)        {"autoscaling", name, POLICY_INTEGER, ""}
#define SERVING(name, type)  {"servingPort", name, type, ""}
#define TOP(name, type)      {"", name, type, ""}
#define ITEMS(name, key)     {"", name, POLICY_ITEMIZED, key}

static const struct policy_field fields[] = {
    ITEMS("annotations", "name"),
    TOP("args", POLICY_STRING),
    TOP("autoDeletionTimeAfterCompletionSeconds", POLICY_INTEGER),
    TOP("backoffLimit", POLICY_INTEGER),
    TOP("category", POLICY_STRING),
    TOP("cleanPodPolicy", POLICY_STRING),
    TOP("command", POLICY_STRING),
    TOP("completions", POLICY_INTEGER),
    TOP("createHomeDir", POLICY_BOOLEAN),
    TOP("distributedFramework", POLICY_STRING),
    ITEMS("environmentVariables", "name"),
    ITEMS("exposedUrls", "container"),
    TOP("image", POLICY_STRING),
    TOP("imagePullPolicy", POLICY_STRING),
    ITEMS("imagePullSecrets", "name"),
    ITEMS("labels", "name"),
    TOP("maxReplicas", POLICY_INTEGER),
    TOP("minReplicas", POLICY_INTEGER),
    TOP("mpiLauncherCreationPolicy", POLICY_STRING),
    TOP("nodeAffinityRequired", POLICY_ARBITRARY),
    TOP("nodePools", POLICY_ARRAY),
    TOP("nodeType", POLICY_STRING),
    TOP("numWorkers", POLICY_INTEGER),
    TOP("parallelism", POLICY_INTEGER),
    ITEMS("ports", "container"),
    TOP("preemptibility", POLICY_STRING),
    TOP("priorityClass", POLICY_STRING),
    ITEMS("relatedUrls", "url"),
    TOP("restartPolicy", POLICY_STRING),
    TOP("slotsPerWorker", POLICY_INTEGER),
    TOP("sshAuthMountPath", POLICY_STRING),
    TOP("stdin", POLICY_BOOLEAN),
    TOP("terminateAfterPreemption", POLICY_BOOLEAN),
    TOP("terminationGracePeriodSeconds", POLICY_INTEGER),
    ITEMS("tolerations", "name"),
    TOP("tty", POLICY_BOOLEAN),
    TOP("workingDir", POLICY_STRING),
    COMPUTE("cpuCoreLimit", POLICY_NUMBER),
    COMPUTE("cpuCoreRequest", POLICY_NUMBER),
    COMPUTE("cpuMemoryLimit", POLICY_QUANTITY),
    COMPUTE("cpuMemoryRequest", POLICY_QUANTITY),
    {"compute",              "extendedResources",            POLICY_ITEMIZED, "resource"},
    COMPUTE("gpuDevicesRequest", POLICY_INTEGER),
    COMPUTE("gpuMemoryLimit", POLICY_QUANTITY),
    COMPUTE("gpuMemoryRequest", POLICY_QUANTITY),
    COMPUTE("gpuPortionLimit", POLICY_NUMBER),
    COMPUTE("gpuPortionRequest", POLICY_NUMBER),
    COMPUTE("gpuRequestType", POLICY_STRING),
    COMPUTE("largeShmRequest", POLICY_BOOLEAN),
    SECURITY("allowPrivilegeEscalation", POLICY_BOOLEAN),
    SECURITY("capabilities", POLICY_ARRAY),
    SECURITY("hostIpc", POLICY_BOOLEAN),
    SECURITY("hostNetwork", POLICY_BOOLEAN),
    SECURITY("privileged", POLICY_BOOLEAN),
    SECURITY("readOnlyRootFilesystem", POLICY_BOOLEAN),
    SECURITY("runAsGid", POLICY_INTEGER),
    SECURITY("runAsNonRoot", POLICY_BOOLEAN),
    SECURITY("runAsUid", POLICY_INTEGER),
    SECURITY("seccompProfileType", POLICY_STRING),
    SECURITY("supplementalGroups", POLICY_STRING),
    SECURITY("uidGidSource", POLICY_STRING),
    STORAGE("configMapVolume", "name"),
    STORAGE("dataVolume", "id"),
    STORAGE("emptyDirVolume", "name"),
    STORAGE("git", "name"),
    STORAGE("hostPath", "name"),
    STORAGE("nfs", "name"),
    STORAGE("pvc", "name"),
    STORAGE("s3", "name"),
    STORAGE("secretVolume", "name"),
    {"podAffinity",          "type",                         POLICY_STRING,   ""        },
    {"podAffinity",          "key",                          POLICY_STRING,   ""        },
    {"autoscaling",          "metric",                       POLICY_STRING,   ""        },
    {"autoscaling",          "metricThresholdPercentage",    POLICY_NUMBER,   ""        },
    SCALING("activationReplicas"),
    SCALING("concurrencyHardLimit"),
    SCALING("initialReplicas"),
    SCALING("initializationTimeoutSeconds"),
    SCALING("maxReplicas"),
    SCALING("metricThreshold"),
    SCALING("minReplicas"),
    SCALING("scaleDownDelaySeconds"),
    SCALING("scaleToZeroRetentionSeconds"),
    {"servingConfiguration", "initializationTimeoutSeconds", POLICY_INTEGER,  ""        },
    {"servingConfiguration", "requestTimeoutSeconds",        POLICY_INTEGER,  ""        },
    SERVING("authorizationType", POLICY_STRING),
    SERVING("authorizedGroups", POLICY_ARRAY),
    SERVING("authorizedUsers", POLICY_ARRAY),
    SERVING("clusterLocalAccessOnly", POLICY_BOOLEAN),
    SERVING("container", POLICY_INTEGER),
    SERVING("protocol", POLICY_STRING),
};

const struct policy_field *policy_field(struct str section, struct str name)
{
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        if (str_eq(section, str_from_c(fields[i].section)) &&
            str_eq(name, str_from_c(fields[i].name))) {
            return &fields[i];
        }
    }
    return NULL;
}

bool policy_is_section(struct str name)
{
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        if (name.len > 0 && str_eq(name, str_from_c(fields[i].section))) {
            return true;
        }
    }
    return false;
}

struct str policy_field_path(const struct policy_field *f, struct arena *arena)
{
    return arena_printf(arena, "%s%s%s", f->section, f->section[0] != '\0' ? "." : "", f->name);
}

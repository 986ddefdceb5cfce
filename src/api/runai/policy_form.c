// SPDX-License-Identifier: Apache-2.0
// policy_form: the schemas of policies. Defaults are as a spec, but for lists of items: instances that are
// added, and attributes that every item gets. Rules have one object for each field.
#include "api/call.h"

/* ---- defaults ---- */

#define ITEMS(T) "{instances [" T "]?, attributes " T "?}?"
#define OBJECTS  "{instances [obj]?, attributes obj?}?"

#define DEFAULT_SECURITY                                                                         \
    "security {allowPrivilegeEscalation bool?, capabilities [str]?, hostIpc bool?, hostNetwork " \
    "bool?, privileged bool?, readOnlyRootFilesystem bool?, runAsGid int?, runAsNonRoot bool?, " \
    "runAsUid int?, seccompProfileType 'RuntimeDefault'|'Unconfined'|'Localhost'?, "             \
    "supplementalGroups str?, uidGidSource 'fromTheImage'|'fromIdpToken'|'custom'?}?"
#define DEFAULT_STORAGE                                                                        \
    "storage {configMapVolume " OBJECTS ", dataVolume " OBJECTS ", emptyDirVolume " OBJECTS    \
    ", git " OBJECTS ", hostPath " ITEMS("HostPathInstance") ", nfs " OBJECTS ", pvc " OBJECTS \
                                                             ", s3 " OBJECTS                   \
                                                             ", secretVolume " OBJECTS "}?"
#define DEFAULT_COMPUTE                                                                         \
    "compute {cpuCoreLimit num(0..)?, cpuCoreRequest num(0..)?, cpuMemoryLimit qty?, "          \
    "cpuMemoryRequest qty?, extendedResources " ITEMS(                                          \
        "ExtendedResource") ", gpuDevicesRequest "                                              \
                            "int(0..1024)?, gpuMemoryLimit qty?, gpuMemoryRequest qty?, "       \
                            "gpuPortionLimit num(0..)?, "                                       \
                            "gpuPortionRequest num(0..)?, gpuRequestType 'portion'|'memory'?, " \
                            "largeShmRequest bool?}?"
#define DEFAULTS                                                                                                                         \
    "annotations " ITEMS("Annotation") ", args str?, category str?, command str?, createHomeDir "                                        \
                                       "bool?, environmentVariables " ITEMS("EnvironmentVariable") ", exposedUrls " ITEMS(               \
                                           "ExposedUrl") ", image str?, imagePullPolicy "                                                \
                                                         "'Always'|'Never'|'IfNotPresent'?, "                                            \
                                                         "imagePullSecrets " ITEMS(                                                      \
                                                             "ImagePullSecr"                                                             \
                                                             "et") ", "                                                                  \
                                                                   "labels"                                                              \
                                                                   " " ITEMS(                                                            \
                                                                       "Lab"                                                             \
                                                                       "el") ", "                                                        \
                                                                             "nodeAffinityRequire"                                       \
                                                                             "d obj?, nodePools "                                        \
                                                                             "[str]?, nodeType "                                         \
                                                                             "str?, podAffinity "                                        \
                                                                             "{type "                                                    \
                                                                             "'Required'|'"                                              \
                                                                             "Preferred'?, key "                                         \
                                                                             "str?}?, "                                                  \
                                                                             "ports " ITEMS(                                             \
                                                                                 "Port") ", "                                            \
                                                                                         "preempt"                                       \
                                                                                         "ibility"                                       \
                                                                                         " "                                             \
                                                                                         "'preemp"                                       \
                                                                                         "tible'|"                                       \
                                                                                         "'non-"                                         \
                                                                                         "preempt"                                       \
                                                                                         "ible'?,"                                       \
                                                                                         " priori"                                       \
                                                                                         "tyClass"                                       \
                                                                                         " str?, "                                       \
                                                                                         "related"                                       \
                                                                                         "Urls"                                          \
                                                                                         " " ITEMS("RelatedUrl") ", tolerations " ITEMS( \
                                                                                             "Tol"                                       \
                                                                                             "era"                                       \
                                                                                             "tio"                                       \
                                                                                             "n") ", workingDir str?, " DEFAULT_COMPUTE  \
                                                                                                  ", " DEFAULT_SECURITY                  \
                                                                                                  ", " DEFAULT_STORAGE
#define DEFAULTS_JOB                                                                            \
    DEFAULTS ", autoDeletionTimeAfterCompletionSeconds int(0..)?, backoffLimit int(0..1000)?, " \
             "restartPolicy 'Always'|'Never'|'OnFailure'?, stdin bool?, "                       \
             "terminateAfterPreemption bool?, terminationGracePeriodSeconds int(0..86400)?, "   \
             "tty bool?"
#define DEFAULTS_WORKER                                                                          \
    DEFAULTS_JOB ", cleanPodPolicy 'None'|'All'|'Running'?, distributedFramework "               \
                 "'MPI'|'PyTorch'|'TF'|'XGBoost'|'JAX'?, maxReplicas int(1..4095)?, "            \
                 "minReplicas int(1..4095)?, mpiLauncherCreationPolicy "                         \
                 "'AtStartup'|'WaitForWorkersReady'?, numWorkers int(1..4095)?, slotsPerWorker " \
                 "int(1..)?, sshAuthMountPath str?"
#define DEFAULTS_INFERENCE                                                                     \
    DEFAULTS ", autoscaling Autoscaling?, servingConfiguration {initializationTimeoutSeconds " \
             "int(1..)?, requestTimeoutSeconds int(1..)?}?, servingPort ServingPort?"

/* ---- rules ---- */

#define RULE          "sourceOfRule SourceOfRule?, required bool?, canEdit bool?, blocked bool?"
#define ONE_OF(words) "{" RULE ", options [{value* " words ", displayed str?}]?}?"

#define RULES_SECURITY                                                                           \
    "security {allowPrivilegeEscalation BooleanRules?, capabilities ArrayRules?, hostIpc "       \
    "BooleanRules?, hostNetwork BooleanRules?, privileged BooleanRules?, "                       \
    "readOnlyRootFilesystem BooleanRules?, runAsGid IntegerRules?, runAsNonRoot BooleanRules?, " \
    "runAsUid IntegerRules?, seccompProfileType " ONE_OF(                                        \
        "'RuntimeDefault'|'Unconfined'|'Localhost'") ", supplementalGroups StringRules?, "       \
                                                     "uidGidSource " ONE_OF("'fromTheImage'|'"   \
                                                                            "fromIdpToken'|'"    \
                                                                            "custom'") "}?"
#define RULES_STORAGE                                                                            \
    "storage {configMapVolume ItemsRules?, dataVolume ItemsRules?, emptyDirVolume ItemsRules?, " \
    "git ItemsRules?, hostPath ItemsRules?, nfs ItemsRules?, pvc ItemsRules?, s3 ItemsRules?, "  \
    "secretVolume ItemsRules?}?"
#define RULES_COMPUTE                                                                   \
    "compute {cpuCoreLimit NumberRules?, cpuCoreRequest NumberRules?, cpuMemoryLimit "  \
    "QuantityRules?, cpuMemoryRequest QuantityRules?, extendedResources ItemsRules?, "  \
    "gpuDevicesRequest IntegerRules?, gpuMemoryLimit QuantityRules?, gpuMemoryRequest " \
    "QuantityRules?, gpuPortionLimit NumberRules?, gpuPortionRequest NumberRules?, "    \
    "gpuRequestType " ONE_OF("'portion'|'memory'") ", largeShmRequest BooleanRules?}?"
#define RULES                                                                                                                                                       \
    "annotations ItemsRules?, args StringRules?, category StringRules?, command StringRules?, "                                                                     \
    "createHomeDir BooleanRules?, environmentVariables ItemsRules?, exposedUrls ItemsRules?, "                                                                      \
    "image StringRules?, imagePullPolicy " ONE_OF(                                                                                                                  \
        "'Always'|'Never'|'IfNotPresent'") ", imagePullSecrets ItemsRules?, labels ItemsRules?, "                                                                   \
                                           "nodeAffinityRequired ArbitraryRules?, "                                                                                 \
                                           "nodePools ArrayRules?, nodeType StringRules?, "                                                                         \
                                           "podAffinity {type " ONE_OF("'Required'|'Preferred'") ", key StringRules?}?, ports ItemsRules?, preemptibility " ONE_OF( \
                                               "'preemptible'|'non-preemptible'") ", "                                                                              \
                                                                                  "priorityClass "                                                                  \
                                                                                  "StringRules?, "                                                                  \
                                                                                  "relatedUrls "                                                                    \
                                                                                  "ItemsRules?, "                                                                   \
                                                                                  "tolerations "                                                                    \
                                                                                  "ItemsRules?, "                                                                   \
                                                                                  "workingDir "                                                                     \
                                                                                  "StringRules?,"                                                                   \
                                                                                  " " RULES_COMPUTE                                                                 \
                                                                                  ","                                                                               \
                                                                                  " " RULES_SECURITY                                                                \
                                                                                  ","                                                                               \
                                                                                  " " RULES_STORAGE
#define RULES_JOB                                                                                \
    RULES ", autoDeletionTimeAfterCompletionSeconds IntegerRules?, backoffLimit IntegerRules?, " \
          "restartPolicy " ONE_OF(                                                               \
              "'Always'|'Never'|'OnFailure'") ", stdin BooleanRules?, "                          \
                                              "terminateAfterPreemption BooleanRules?, "         \
                                              "terminationGracePeriodSeconds IntegerRules?, "    \
                                              "tty BooleanRules?"
#define RULES_WORKER                                                                           \
    RULES_JOB                                                                                  \
    ", cleanPodPolicy " ONE_OF("'None'|'All'|'Running'") ", distributedFramework " ONE_OF(     \
        "'MPI'|'PyTorch'|'TF'|'XGBoost'|'JAX'") ", maxReplicas IntegerRules?, minReplicas "    \
                                                "IntegerRules?, "                              \
                                                "mpiLauncherCreationPolicy " ONE_OF(           \
                                                    "'AtStartup'|'WaitForWorkersReady'") ", "  \
                                                                                         "num" \
                                                                                         "Wor" \
                                                                                         "ker" \
                                                                                         "s "  \
                                                                                         "Int" \
                                                                                         "ege" \
                                                                                         "rRu" \
                                                                                         "les" \
                                                                                         "?, " \
                                                                                         "slo" \
                                                                                         "tsP" \
                                                                                         "erW" \
                                                                                         "ork" \
                                                                                         "er " \
                                                                                         "Int" \
                                                                                         "ege" \
                                                                                         "rRu" \
                                                                                         "les" \
                                                                                         "?, " \
                                                                                         "ssh" \
                                                                                         "Aut" \
                                                                                         "hMo" \
                                                                                         "unt" \
                                                                                         "Pat" \
                                                                                         "h "  \
                                                                                         "Str" \
                                                                                         "ing" \
                                                                                         "Rul" \
                                                                                         "es?"
#define RULES_INFERENCE                                                                           \
    RULES ", autoscaling {activationReplicas IntegerRules?, concurrencyHardLimit IntegerRules?, " \
          "initialReplicas IntegerRules?, initializationTimeoutSeconds IntegerRules?, "           \
          "maxReplicas IntegerRules?, metric StringRules?, metricThreshold IntegerRules?, "       \
          "metricThresholdPercentage NumberRules?, minReplicas IntegerRules?, "                   \
          "scaleDownDelaySeconds IntegerRules?, scaleToZeroRetentionSeconds IntegerRules?}?, "    \
          "servingConfiguration {initializationTimeoutSeconds IntegerRules?, "                    \
          "requestTimeoutSeconds IntegerRules?}?, servingPort {authorizationType StringRules?, "  \
          "authorizedGroups ArrayRules?, authorizedUsers ArrayRules?, clusterLocalAccessOnly "    \
          "BooleanRules?, container IntegerRules?, protocol " ONE_OF("'http'|'grpc'") "}?"

/* ---- the objects ---- */

#define META "name* str(1..253), projectId int(1..)?, departmentId str?, clusterId uuid?"
#define POLICY(Defaults, Rules, Assets)                                                        \
    "defaults " Defaults "?, rules " Rules "?, imposedAssets " Assets "?, status {validation " \
    "{errorMessage str?}?}?"
#define ONE(Name)                                                                             \
    {Name "Policy",                                                                           \
     "meta PolicyMeta, policy " Name "PolicyParts, effective* " Name "PolicyParts, "          \
     "sourceOfDefaults* map<SourceOfRule>, effectiveUpdatedAt ts"},                           \
        {Name "PolicyOverwriteRequest", "meta* PolicyCreation, policy " Name "PolicyParts?"}, \
        {Name "PolicyChangeRequest",                                                          \
         "meta* PolicyCreation, policy " Name "PolicyParts?, reset [str]?"}

static const struct schema_row schemas[] = {
    {"SourceOfRule", "scope str?, projectId int?, departmentId str?, clusterId str?, projectName "
                     "str?, departmentName str?, isFallback bool?"},
    {"DefaultFrom", "field* str, factor num(0..)?"},
    {"PolicyOption", "value* str, displayed str?"},
    {"StringRules", RULE ", options [PolicyOption]?"},
    {"BooleanRules", RULE},
    {"ArbitraryRules", RULE},
    {"ArrayRules", RULE ", options [PolicyOption]?"},
    {"IntegerRules", RULE ", min int?, max int?, step int?, defaultFrom DefaultFrom?"},
    {"NumberRules", RULE ", min num?, max num?, step num?, defaultFrom DefaultFrom?"},
    {"QuantityRules", RULE ", min qty?, max qty?, step qty?, defaultFrom DefaultFrom?"},
    {"ItemRules", "sourceOfRule SourceOfRule?, canAdd bool?, locked [str]?"},
    {"AttributeRules", RULE ", options [PolicyOption]?, min any?, max any?, step any?"},
    {"ItemsRules", "instances ItemRules?, attributes map<AttributeRules>?"},
    {"PolicyCreation", META ", scope* 'system'|'tenant'|'cluster'|'department'|'project'"},
    {"PolicyMeta", META ", scope* 'tenant'|'cluster'|'department'|'project', id* uuid, tenantId* "
                        "int, createdBy* str, projectName str, departmentName str, "
                        "createdAt* ts, updatedBy* str, updatedAt* ts"},
    {"PolicyListResponse", "policies* [{type* 'training'|'workspace'|'inference'|'distributed', "
                           "meta* PolicyMeta, status* "
                           "{clusters* [{clusterId* uuid, status* str, errorMessage str?}]}}]"},
    {"TrainingDefaults", DEFAULTS_JOB ", completions int(1..4096)?, parallelism int(1..4096)?"},
    {"TrainingRules", RULES_JOB ", completions IntegerRules?, parallelism IntegerRules?"},
    {"WorkspaceDefaults", DEFAULTS_JOB},
    {"WorkspaceRules", RULES_JOB},
    {"WorkerDefaults", DEFAULTS_WORKER},
    {"WorkerRules", RULES_WORKER},
    {"DistributedDefaults", "master WorkspaceDefaults?, worker WorkerDefaults?"},
    {"DistributedRules", "master WorkspaceRules?, worker WorkerRules?"},
    {"InferenceDefaults", DEFAULTS_INFERENCE},
    {"InferenceRules", RULES_INFERENCE},
    {"TrainingPolicyParts", POLICY("TrainingDefaults", "TrainingRules", "[uuid]")},
    {"WorkspacePolicyParts", POLICY("WorkspaceDefaults", "WorkspaceRules", "[uuid]")},
    {"InferencePolicyParts", POLICY("InferenceDefaults", "InferenceRules", "[uuid]")},
    {"DistributedPolicyParts",
     POLICY("DistributedDefaults", "DistributedRules", "{master [uuid]?, worker [uuid]?}")},
    ONE("Training"),
    ONE("Workspace"),
    ONE("Inference"),
    ONE("Distributed"),
};

const struct route_group group_policy_forms = {NULL, NULL, 0, schemas, COUNT_OF(schemas)};

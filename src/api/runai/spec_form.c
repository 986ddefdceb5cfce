// SPDX-License-Identifier: Apache-2.0
// The spec of a workload as the wire has it: its schemas, and how it is shown.
#include "api/runai/workloads.h"
#include "codec/quantity.h"
#include "model/priority.h"

/* ---- showing ---- */

static void show_words(struct jw *w, struct str key, const struct str_item *words, uint32_t count)
{
    struct buf line;
    buf_init(&line, 1 << 20);
    for (uint32_t i = 0; i < count; i++) {
        buf_printf(&line, "%s" STR_FMT, i > 0 ? " " : "", STR_ARG(words[i].value));
    }
    jw_member_string(w, key, buf_view(&line));
    buf_done(&line);
}

/* Of a workload that was made another way. */
static void show_model_spec(struct jw *w, const struct workload *wl)
{
    const struct pod_spec *p = &wl->spec.pod;
    char text[QUANTITY_TEXT_SIZE];
    jw_object_begin(w);
    jw_member_string(w, STR("image"), p->image);
    show_words(w, p->args_are_command ? STR("command") : STR("args"), p->args, p->args_count);
    show_strings(w, STR("nodePools"), wl->spec.pools, wl->spec.pools_count);
    jw_member_string(w, STR("priorityClass"), priority_word(wl->spec.priority));
    jw_member_string(w, STR("preemptibility"),
                     wl->spec.preemptibility == PREEMPTIBLE ? STR("preemptible")
                                                            : STR("non-preemptible"));
    jw_key(w, STR("compute"));
    jw_object_begin(w);
    jw_member_i64(w, STR("gpuDevicesRequest"), p->gpu_devices);
    if (p->gpu_portion_share > 0) {
        jw_member_string(w, STR("gpuRequestType"), STR("portion"));
        show_amount(w, STR("gpuPortionRequest"), RES_GPU, p->gpu_portion_share);
    } else if (p->gpu_memory_bytes > 0) {
        jw_member_string(w, STR("gpuRequestType"), STR("memory"));
        jw_member_string(w, STR("gpuMemoryRequest"),
                         quantity_format_bytes(p->gpu_memory_bytes, text));
    }
    show_milli(w, STR("cpuCoreRequest"), p->cpu_milli);
    jw_member_string(w, STR("cpuMemoryRequest"), quantity_format_bytes(p->memory_bytes, text));
    jw_object_end(w);
    jw_object_end(w);
}

void spec_show(struct call *c, struct jw *w, const struct workload *wl)
{
    const struct doc *asked = workload_asked(c, wl);
    const struct doc *spec = body_get(asked, STR("spec"));
    const struct doc *master = body_get(asked, STR("masterSpec"));
    const struct doc *same = body_get(asked, STR("masterSpecSameAsWorker"));
    jw_key(w, STR("spec"));
    if (spec != NULL) {
        jw_doc(w, spec);
    } else {
        show_model_spec(w, wl);
    }
    if (same != NULL) {
        jw_member_bool(w, STR("masterSpecSameAsWorker"), same->boolean);
    }
    if (master != NULL) {
        jw_key(w, STR("masterSpec"));
        jw_doc(w, master);
    }
}

/* ---- the schemas ---- */

#define SECURITY                                                                                   \
    "{allowPrivilegeEscalation bool?, capabilities [str]?, hostIpc bool?, hostNetwork bool?, "     \
    "privileged bool?, readOnlyRootFilesystem bool?, runAsGid int?, runAsNonRoot bool?, runAsUid " \
    "int?, "                                                                                       \
    "seccompProfileType 'RuntimeDefault'|'Unconfined'|'Localhost'?, supplementalGroups str?, "     \
    "uidGidSource 'fromTheImage'|'fromIdpToken'|'custom'?}?"
#define STORAGE                                                                                \
    "{configMapVolume [obj]?, dataVolume [obj]?, emptyDirVolume [obj]?, git [obj]?, hostPath " \
    "[HostPathInstance]?, nfs [obj]?, pvc [obj]?, s3 [obj]?, secretVolume [obj]?}?"
/* Of every kind. */
#define SPEC                                                                                    \
    "annotations [Annotation]?, args str?, category str?, command str?, createHomeDir bool?, "  \
    "environmentVariables [EnvironmentVariable]?, exposedUrls [ExposedUrl]?, image str?, "      \
    "imagePullPolicy 'Always'|'Never'|'IfNotPresent'?, imagePullSecrets [ImagePullSecret]?, "   \
    "labels [Label]?, nodeAffinityRequired obj?, nodePools [str]?, nodeType str?, podAffinity " \
    "{type 'Required'|'Preferred'?, key str?}?, ports [Port]?, preemptibility "                 \
    "'preemptible'|'non-preemptible'?, priorityClass str?, relatedUrls [RelatedUrl]?, "         \
    "tolerations [Toleration]?, workingDir str?, compute Compute?, security " SECURITY          \
    ", storage " STORAGE ", probes obj?"
/* Of those that end. */
#define SPEC_JOB                                                                               \
    SPEC ", autoDeletionTimeAfterCompletionSeconds int(0..)?, backoffLimit int(0..1000)?, "    \
         "restartPolicy 'Always'|'Never'|'OnFailure'?, stdin bool?, terminateAfterPreemption " \
         "bool?, terminationGracePeriodSeconds int(0..86400)?, tty bool?"
#define SPEC_DISTRIBUTED                                                          \
    SPEC_JOB ", cleanPodPolicy 'None'|'All'|'Running'?, distributedFramework "    \
             "'MPI'|'PyTorch'|'TF'|'XGBoost'|'JAX'?, maxReplicas int(1..4095)?, " \
             "minReplicas int(1..4095)?, mpiLauncherCreationPolicy "              \
             "'AtStartup'|'WaitForWorkersReady'?, numWorkers int(1..4095)?, "     \
             "slotsPerWorker int(1..)?, sshAuthMountPath str?"

static const struct schema_row schemas[] = {
    {"Annotation",          "name str(..63)?, value str?, exclude bool?"                        },
    {"Label",               "name str(..63)?, value str?, exclude bool?"                        },
    {"EnvironmentVariable",
     "name str?, value str?, secret {name str?, key str?}?, configMap {name str?, key str?}?, "
     "podFieldRef {path str?}?, userCredential {name str?, key str?}?, exclude bool?, "
     "description "
     "str?"                                                                                     },
    {"ExposedUrl",          "container int?, url str?, authorizationType "
                   "'authenticatedUsers'|'authorizedUsers'|'authorizedGroups'?, authorizedUsers "
                   "[str]?, authorizedGroups [str]?, toolType str?, toolName str?, name str?, "
                   "exclude bool?"                                            },
    {"ImagePullSecret",     "name str?, userCredential bool?, exclude bool?"                    },
    {"Port",                "container int(1..65535)?, serviceType 'LoadBalancer'|'NodePort'|'ClusterIP'?, "
             "external int?, toolType str?, toolName str?, name str?, exclude bool?"},
    {"RelatedUrl",          "url str?, type str?, name str?, exclude bool?"                     },
    {"Toleration",          "name str?, operator 'Equal'|'Exists'?, key str?, value str?, effect "
                   "'NoSchedule'|'NoExecute'|'PreferNoSchedule'|'Any'?, seconds int(1..)?, "
                   "exclude bool?"                                            },
    {"ExtendedResource",    "resource str?, quantity qty?, exclude bool?"                       },
    {"HostPathInstance",    "name str?, path str?, readOnly bool?, mountPath str?, mountPropagation "
                         "'None'|'HostToContainer'?, exclude bool?"     },
    {"Compute",
     "cpuCoreLimit num(0..)?, cpuCoreRequest num(0..)?, cpuMemoryLimit qty?, cpuMemoryRequest "
     "qty?, extendedResources [ExtendedResource]?, gpuDevicesRequest int(0..1024)?, "
     "gpuMemoryLimit qty?, gpuMemoryRequest qty?, gpuPortionLimit num(0..)?, "
     "gpuPortionRequest num(0..)?, gpuRequestType 'portion'|'memory'?, largeShmRequest bool?"   },
    {"WorkspaceSpec",       SPEC_JOB                                                            },
    {"TrainingSpec",        SPEC_JOB ", completions int(1..4096)?, parallelism int(1..4096)?"   },
    {"DistributedSpec",     SPEC_DISTRIBUTED                                                    },
    {"InferenceSpec",
     SPEC ", autoscaling Autoscaling?, servingConfiguration {initializationTimeoutSeconds "
          "int(1..)?, requestTimeoutSeconds int(1..)?}?, servingPort ServingPort?"              },
    {"Autoscaling",
     "metricThresholdPercentage num(1..100)?, minReplicas int(0..4096)?, maxReplicas "
     "int(1..4096)?, initialReplicas int(0..)?, activationReplicas int(1..)?, "
     "concurrencyHardLimit int(0..)?, scaleToZeroRetentionSeconds int(0..3600)?, "
     "scaleDownDelaySeconds int(0..3600)?, initializationTimeoutSeconds int(1..)?, metric "
     "str?, "
     "metricThreshold int?"                                                                     },
    {"ServingPort",         "container int(1..65535)?, protocol 'http'|'grpc'?, authorizationType "
                    "'public'|'authenticatedUsers'|'authorizedUsers'|'authorizedGroups'|"
                    "'authorizedUsersOrGroups'?, authorizedUsers [str]?, authorizedGroups [str]?, "
                    "clusterLocalAccessOnly bool?"                           },
};

const struct route_group group_specs = {NULL, NULL, 0, schemas, COUNT_OF(schemas)};

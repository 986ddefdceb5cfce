// SPDX-License-Identifier: Apache-2.0
// flags: names, letters and values follow Run:ai's CLI v2. A flag of its submit that has a meaning
// only where Kubernetes runs the pods is known and refused, never "unknown".
#include "cli/flags.h"

#include "base/attr.h"

#define KUBERNETES             "needs Kubernetes: it says something about containers that this machine has not"
#define SET(name, title, list) const struct flag_set name = {title, list, (uint32_t)COUNT_OF(list)}

static const struct flag global[] = {
    {.name = "socket",
     .kind = FLAG_TEXT,
     .metavar = "PATH",
     .offer = OFFER_FILE,
     .help = "Socket of the server; over WEIR_SOCKET over the usual place"},
    {.name = "server",
     .kind = FLAG_TEXT,
     .metavar = "URL",
     .help =
         "Address of a server elsewhere, https://HOST:PORT; over WEIR_SERVER over the settings"},
    {.name = "ca-file",
     .kind = FLAG_TEXT,
     .metavar = "FILE",
     .offer = OFFER_FILE,
     .help = "Certificates to trust (PEM) instead of the system's; over WEIR_CA_FILE over the "
             "settings"},
    {.name = "config-path",
     .kind = FLAG_TEXT,
     .metavar = "DIR",
     .offer = OFFER_DIRECTORY,
     .help = "Directory of the CLI's own files; over RUNAI_CLI_CONFIG_PATH over ~/.weir"},
    {.name = "config-file",
     .kind = FLAG_TEXT,
     .metavar = "NAME",
     .help = "Name of the settings file there; over RUNAI_CLI_CONFIG_FILE over config.json"},
    {.name = "timeout",
     .kind = FLAG_DURATION,
     .metavar = "TIME",
     .min = 1,
     .help = "Give up when the server does not answer within this time (2m)"},
    {.name = "debug", .letter = 'd', .kind = FLAG_BOOL, .help = "Show each request on stderr"},
    {.name = "verbose", .kind = FLAG_BOOL, .help = "The same as --debug"},
    {.name = "quiet",
     .letter = 'q',
     .kind = FLAG_BOOL,
     .help = "Say nothing but errors and what was asked for"},
    {.name = "help", .letter = 'h', .kind = FLAG_BOOL, .help = "Show this help"},
};
SET(flags_global, "Global flags", global);

#define OUTPUT_FLAGS                                                              \
    {.name = "output",                                                            \
     .letter = 'o',                                                               \
     .kind = FLAG_WORD,                                                           \
     .metavar = "table|json|yaml",                                                \
     .help = "Form of the output"},                                               \
        {.name = "json", .kind = FLAG_BOOL, .help = "The same as --output json"}, \
        {.name = "yaml", .kind = FLAG_BOOL, .help = "The same as --output yaml"}

static const struct flag list[] = {
    OUTPUT_FLAGS,
    {.name = "columns",
      .kind = FLAG_LIST,
      .metavar = "A,B",
      .help = "Show these columns, in this order"},
    {.name = "no-headers", .kind = FLAG_BOOL, .help = "Leave the line of headings out"},
    {.name = "set-default-columns",
      .kind = FLAG_BOOL,
      .help = "Keep --columns as the choice for this list"},
};
SET(flags_list, "Output", list);

static const struct flag describe[] = {OUTPUT_FLAGS};
SET(flags_describe, "Output", describe);

static const struct flag sections[] = {
    {.name = "general",
     .kind = FLAG_BOOL,
     .help = "Show the general section (--general=false: not)"},
    {.name = "compute", .kind = FLAG_BOOL, .help = "Show what it asked for and holds"},
    {.name = "pods", .kind = FLAG_BOOL, .help = "Show its pods"},
    {.name = "events", .kind = FLAG_BOOL, .help = "Show what happened to it"},
    {.name = "pod-limit",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = -1,
     .help = "Pods to show (10; -1 for all)"},
    {.name = "event-limit",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = -1,
     .help = "Events to show, the latest (50; -1 for all)"},
    {.name = "sortEvents",
     .kind = FLAG_WORD,
     .metavar = "asc|desc",
     .help = "Order of the events (asc)"},
};
SET(flags_sections, "Sections", sections);

#define PROJECT_FLAG         \
    {.name = "project",      \
     .letter = 'p',          \
     .kind = FLAG_TEXT,      \
     .metavar = "NAME",      \
     .offer = OFFER_PROJECT, \
     .help = "Project; else the one of weir project set"}
#define UUID_FLAG       \
    {.name = "uuid",    \
     .letter = 'u',     \
     .kind = FLAG_TEXT, \
     .metavar = "ID",   \
     .help = "The workload's id instead of its name"}

static const struct flag project[] = {PROJECT_FLAG};
SET(flags_project, "Which", project);

static const struct flag ref[] = {PROJECT_FLAG, UUID_FLAG};
SET(flags_ref, "Which", ref);

#define DEVICE_FLAG       \
    {.name = "device",    \
     .kind = FLAG_TEXT,   \
     .metavar = "DEVICE", \
     .help = "Only this device of it: its number or UUID, as weir node describe shows them"}

static const struct flag drain[] = {
    {.name = "deadline",
     .kind = FLAG_DURATION,
     .metavar = "TIME",
     .help = "Stop what still runs there after this time (never; 0s: at once)"},
};
SET(flags_drain, "Draining", drain);

static const struct flag drain_device[] = {
    DEVICE_FLAG,
    {.name = "reason",
      .kind = FLAG_TEXT,
      .metavar = "TEXT",
      .help = "What for; shown to whoever looks at the node or at the work there"},
};
SET(flags_drain_device, "What", drain_device);

static const struct flag undrain[] = {DEVICE_FLAG};
SET(flags_undrain, "What", undrain);

static const struct flag delete[] = {
    {.name = "yes", .letter = 'y', .kind = FLAG_BOOL, .help = "Do not ask"},
};
SET(flags_delete, "Deletion", delete);

static const struct flag filter[] = {
    {.name = "all",     .letter = 'A', .kind = FLAG_BOOL,                   .help = "Of all projects"         },
    PROJECT_FLAG,
    {.name = "status",
     .kind = FLAG_WORD,
     .metavar = "Creating|Pending|Initializing|Running|Stopping|Stopped|Resuming|Deleting|Failed|"
                "Completed",                                                .help = "Only those in this phase"},
    {.name = "deleted",
     .kind = FLAG_BOOL,
     .refused = "what is deleted is forgotten here once its pods are gone",
     .help = "Not here: what is deleted is forgotten"                                                         },
};
SET(flags_filter, "Which", filter);

static const struct flag pages[] = {
    {.name = "max-items",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 1,
     .help = "Stop after so many (all)"},
    {.name = "page-size",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 1,
     .help = "Fetched at a time (500)" },
};
SET(flags_pages, "Paging", pages);

static const struct flag audit[] = {
    {.name = "since",
     .kind = FLAG_DURATION,
     .metavar = "TIME",
     .help = "Not older than this (90 days)"},
    {.name = "until", .kind = FLAG_DURATION, .metavar = "TIME", .help = "Not newer than this"},
    {.name = "subject",
     .kind = FLAG_TEXT,
     .metavar = "NAME",
     .help = "Of this user or service account"},
    {.name = "action",
     .kind = FLAG_WORD,
     .metavar = "create|update|delete|sign-in|sign-out|reset-password",
     .help = "Only these"},
    {.name = "result", .kind = FLAG_WORD, .metavar = "done|refused", .help = "Only these"},
    {.name = "max-items",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 1,
     .help = "The newest so many (100)"},
};
SET(flags_audit, "Which", audit);

static const struct flag logs[] = {
    {.name = "follow",
     .letter = 'f',
     .kind = FLAG_BOOL,
     .help = "Go on as output is written, until it ends"},
    {.name = "tail",
     .letter = 't',
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = -1,
     .help = "Only the last N lines (-1: all)"},
    {.name = "previous", .kind = FLAG_BOOL, .help = "Of the attempt before the current one"},
    {.name = "limit-bytes",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 1,
     .help = "Stop after so many bytes"},
    {.name = "pod", .kind = FLAG_TEXT, .metavar = "ID", .help = "Of this pod; else of the first"},
    {.name = "wait-timeout",
     .kind = FLAG_DURATION,
     .metavar = "TIME",
     .help = "Wait so long for the pod to start (0s)"},
};
SET(flags_logs, "Logs", logs);

static const struct flag attach[] = {
    {.name = "pod",                 .kind = FLAG_TEXT, .metavar = "ID", .help = "Of this pod; else of the first"},
    {.name = "pod-running-timeout",
     .kind = FLAG_DURATION,
     .metavar = "TIME",
     .help = "Give up when it does not run within this time (no limit)"                                         },
};
SET(flags_attach, "Waiting", attach);

static const struct flag exec[] = {
    {.name = "stdin",               .letter = 'i',     .kind = FLAG_BOOL, .help = "Pass the input on"             },
    {.name = "tty",                 .letter = 't',     .kind = FLAG_BOOL, .help = "With a terminal of its own"    },
    {.name = "pod",                 .kind = FLAG_TEXT, .metavar = "ID",   .help = "In this pod; else in the first"},
    {.name = "pod-running-timeout",
     .kind = FLAG_DURATION,
     .metavar = "TIME",
     .help = "Wait so long for it to run (0s)"                                                                    },
};
SET(flags_exec, "Execution", exec);

static const struct flag forward[] = {
    {.name = "port",
     .kind = FLAG_TEXT,
     .repeat = true,
     .metavar = "LOCAL:REMOTE",
     .help = "Port here and the workload's; PORT for the same"},
    {.name = "address",
     .kind = FLAG_TEXT,
     .metavar = "ADDRESS",
     .help = "Address to listen at here (localhost)"},
    {.name = "pod", .kind = FLAG_TEXT, .metavar = "ID", .help = "Of this pod; else of the first"},
    {.name = "pod-running-timeout",
     .kind = FLAG_DURATION,
     .metavar = "TIME",
     .help = "Wait so long for it to run (0s)"},
};
SET(flags_forward, "Ports", forward);

static const struct flag watch[] = {
    {.name = "all", .letter = 'A', .kind = FLAG_BOOL, .help = "Of all projects"},
    PROJECT_FLAG,
    {.name = "json", .kind = FLAG_BOOL, .help = "One JSON object a line for each change"},
    {.name = "columns",
     .kind = FLAG_LIST,
     .metavar = "A,B",
     .help = "Show these columns, in this order"},
};
SET(flags_watch, "What", watch);

static const struct flag submit[] = {
    PROJECT_FLAG,
    {.name = "name-prefix",
      .kind = FLAG_TEXT,
      .metavar = "PREFIX",
      .help = "Name it PREFIX and a number; instead of NAME"},
    {.name = "image",
      .letter = 'i',
      .kind = FLAG_TEXT,
      .metavar = "IMAGE",
      .help = "Container image; host, or none, runs the command on the machine itself"},
    {.name = "command",
      .letter = 'c',
      .kind = FLAG_BOOL,
      .help = "The words behind -- replace the image's entrypoint instead of being its arguments"},
    {.name = "environment-variable",
      .letter = 'e',
      .kind = FLAG_PAIR,
      .repeat = true,
      .metavar = "NAME=VALUE",
      .help = "Variable of the environment"},
    {.name = "template",
      .kind = FLAG_TEXT,
      .metavar = "NAME",
      .help = "Template; flags win over it"},
    {.name = "environment",
      .kind = FLAG_TEXT,
      .metavar = "NAME",
      .help = "Environment: what to run (weir environment list)"},
    {.name = "compute",
      .kind = FLAG_TEXT,
      .metavar = "NAME",
      .help = "Compute resource: how much (weir compute list)"},
    {.name = "datasource",
      .kind = FLAG_TEXT,
      .repeat = true,
      .metavar = "NAME",
      .help = "Data source, as NAME or type=TYPE,name=NAME (weir datasource list)"},
    {.name = "env-secret",
      .kind = FLAG_PAIR,
      .repeat = true,
      .metavar = "NAME=SECRET",
      .help = "Variable with a secret of a credential of the project; ,key=KEY behind it says "
             "which, where it has several"},
    {.name = "env-my-credentials",
      .kind = FLAG_TEXT,
      .repeat = true,
      .metavar = "SPEC",
      .help = "Variable with a secret of your own credential (weir my-credential create): "
             "name=, credential-name= and key=, with commas between"},
    {.name = "working-dir", .kind = FLAG_TEXT, .metavar = "DIR", .help = "Directory it starts in"},
    {.name = "label", .kind = FLAG_PAIR, .repeat = true, .metavar = "KEY=VALUE", .help = "Label"},
    {.name = "annotation",
      .kind = FLAG_PAIR,
      .repeat = true,
      .metavar = "KEY=VALUE",
      .help = "Annotation"},
    {.name = "attach",
      .kind = FLAG_BOOL,
      .help = "Wait until it runs and show its output; the exit status is the workload's"},
    {.name = "pod-running-timeout",
      .kind = FLAG_DURATION,
      .metavar = "TIME",
      .help = "With --attach: give up waiting after this time (no limit)"},
    {.name = "wait-for-submit",
      .kind = FLAG_DURATION,
      .metavar = "TIME",
      .help = "Taken for Run:ai's sake: a submit is stored for good when it answers"},
    OUTPUT_FLAGS,
};
SET(flags_submit, "Workload", submit);

static const struct flag submit_compute[] = {
    {.name = "gpu-devices-request",
     .letter = 'g',
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 1,
     .help = "Whole GPUs"},
    {.name = "gpu-portion-request",
     .kind = FLAG_DECIMAL,
     .metavar = "X",
     .help = "Part of one GPU, above 0 and below 1"},
    {.name = "gpu-memory-request",
     .kind = FLAG_BYTES,
     .metavar = "SIZE",
     .help = "Memory of one GPU: 500M, 10G"},
    {.name = "gpu-request-type",
     .kind = FLAG_WORD,
     .metavar = "portion|memory",
     .help = "Which of the two above counts"},
    {.name = "cpu-core-request", .kind = FLAG_DECIMAL, .metavar = "X", .help = "CPU cores"},
    {.name = "cpu-core-limit",
     .kind = FLAG_DECIMAL,
     .metavar = "X",
     .help = "CPU cores it may use at most"},
    {.name = "cpu-memory-request",
     .kind = FLAG_BYTES,
     .metavar = "SIZE",
     .help = "Memory: 500M, 1G, 2Gi"},
    {.name = "cpu-memory-limit",
     .kind = FLAG_BYTES,
     .metavar = "SIZE",
     .help = "Memory it may use at most"},
    {.name = "single-numa",
     .kind = FLAG_BOOL,
     .help = "GPUs, CPU and memory of a pod all from one NUMA node of the machine"},
};
SET(flags_submit_compute, "Compute", submit_compute);

static const struct flag submit_pods[] = {
    {.name = "parallelism",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 1,
     .help = "Pods at once (1)"                                                                },
    {.name = "runs",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 1,
     .help = "Runs in all, --parallelism of them at once; each pod is one (as many as at once)"},
    {.name = "min-pods",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 1,
     .help = "Pods that start together; the others follow as there is room, and go first (all)"},
};
SET(flags_submit_pods, "Pods", submit_pods);

static const struct flag submit_workers[] = {
    {.name = "workers",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 1,
     .help = "Workers, beside the master (1)"},
};
SET(flags_submit_workers, "Workers", submit_workers);

#define MASTER_AS_WORKERS                                                     \
    "the master runs as the workers do here; one of its own is made by POST " \
    "/api/v1/workloads/distributed"
#define CLEAN_POD_POLICY         \
    {.name = "clean-pod-policy", \
     .kind = FLAG_TEXT,          \
     .metavar = "WORD",          \
     .refused = KUBERNETES,      \
     .help = "Needs Kubernetes"}
#define NO_MASTER         \
    {.name = "no-master", \
     .kind = FLAG_BOOL,   \
     .help = "No master beside the workers: the first of them is it"}
static const struct flag submit_elastic[] = {
    {.name = "min-replicas",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 1,
     .help = "Elastic: start with so many workers (--workers)"               },
    {.name = "max-replicas",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 1,
     .help = "Elastic: up to so many workers where there is room (--workers)"},
    NO_MASTER,
    CLEAN_POD_POLICY,
};
SET(flags_submit_elastic, "PyTorch", submit_elastic);

static const struct flag submit_masterless[] = {NO_MASTER, CLEAN_POD_POLICY};
SET(flags_submit_masterless, "TensorFlow", submit_masterless);

static const struct flag submit_slots[] = {
    {.name = "slots-per-worker",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 1,
     .refused = "weir writes no host file; the command of the launcher says how many",
     .help = "Not here: the launcher's command says it"},
    CLEAN_POD_POLICY,
};
SET(flags_submit_slots, "MPI", submit_slots);

static const struct flag submit_policy[] = {CLEAN_POD_POLICY};
SET(flags_submit_policy, "Pods", submit_policy);

#define MASTER_FLAG(flag)          \
    {.name = "master-" flag,       \
     .kind = FLAG_TEXT,            \
     .repeat = true,               \
     .metavar = "VALUE",           \
     .refused = MASTER_AS_WORKERS, \
     .help = "Not here: the master runs as the workers do"}
static const struct flag submit_master[] = {
    MASTER_FLAG("args"),
    MASTER_FLAG("command"),
    MASTER_FLAG("cpu-core-limit"),
    MASTER_FLAG("cpu-core-request"),
    MASTER_FLAG("cpu-memory-limit"),
    MASTER_FLAG("cpu-memory-request"),
    MASTER_FLAG("environment-variable"),
    MASTER_FLAG("extended-resource"),
    MASTER_FLAG("gpu-devices-request"),
    MASTER_FLAG("gpu-portion-limit"),
    MASTER_FLAG("gpu-portion-request"),
    MASTER_FLAG("restart-policy"),
};
SET(flags_submit_master, "Known, but refused", submit_master);

static const struct flag submit_replicas[] = {
    {.name = "min-replicas", .kind = FLAG_WHOLE, .metavar = "N", .min = 1, .help = "Replicas (1)"},
    {.name = "max-replicas",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 1,
     .help = "The same number: weir does not scale by load yet"                                  },
};
SET(flags_submit_replicas, "Replicas", submit_replicas);

static const struct flag kind[] = {
    {.name = "type",
     .kind = FLAG_WORD,
     .metavar = "training|workspace|inference|distributed",
     .help = "Only workloads of this kind"        },
    {.name = "framework",
     .kind = FLAG_WORD,
     .metavar = "pytorch|tensorflow|mpi|xgboost|jax",
     .help = "Only distributed training with this"},
};
SET(flags_kind, "Kind", kind);

static const struct flag submit_place[] = {
    {.name = "node-pools",
     .kind = FLAG_TEXT,
     .repeat = true,
     .metavar = "POOL",
     .offer = OFFER_POOL,
     .help = "Node pool; several in order of preference"},
    {.name = "node-type",
     .kind = FLAG_TEXT,
     .metavar = "TYPE",
     .help = "Nodes with this value of the label run.ai/type only"},
    {.name = "priority",
     .kind = FLAG_WORD,
     .metavar = "very-low|low|medium-low|medium|medium-high|high|very-high",
     .help = "Place in its project's queue; says nothing about preemptibility"},
    {.name = "preemptibility",
     .kind = FLAG_WORD,
     .metavar = "preemptible|non-preemptible",
     .help = "May it be stopped for others; non-preemptible starts inside the guarantee only"},
    {.name = "min-available",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 0,
     .help = "Disruption budget: so many of its pods run on, whoever wants their places (0)"},
};
SET(flags_submit_place, "Scheduling", submit_place);

static const struct flag submit_run[] = {
    {.name = "run-as-uid", .kind = FLAG_WHOLE, .metavar = "UID", .help = "User to run as"},
    {.name = "run-as-gid", .kind = FLAG_WHOLE, .metavar = "GID", .help = "Group to run as"},
    {.name = "run-as-user", .kind = FLAG_BOOL, .help = "Run as the user and group that submit"},
    {.name = "restart-policy",
     .kind = FLAG_WORD,
     .metavar = "Always|OnFailure|Never",
     .help = "When a pod that ended is started again (Never)"},
    {.name = "backoff-limit",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .help = "Restarts after failures before it is Failed"},
    {.name = "termination-grace-period",
     .kind = FLAG_DURATION,
     .metavar = "TIME",
     .help = "Between the notice to stop and the end by force (30s)"},
    {.name = "auto-deletion-time-after-completion",
     .kind = FLAG_DURATION,
     .metavar = "TIME",
     .help = "Delete it so long after it ended"},
};
SET(flags_submit_run, "Running", submit_run);

#define K8S_TEXT(flag, meta) \
    {.name = flag,           \
     .kind = FLAG_TEXT,      \
     .repeat = true,         \
     .metavar = meta,        \
     .refused = KUBERNETES,  \
     .help = "Needs Kubernetes"}
#define K8S_BOOL(flag) \
    {.name = flag, .kind = FLAG_BOOL, .refused = KUBERNETES, .help = "Needs Kubernetes"}
static const struct flag submit_kubernetes[] = {
    K8S_BOOL("allow-privilege-escalation"),
    K8S_TEXT("capability", "NAME"),
    K8S_TEXT("configmap-map-volume", "SPEC"),
    K8S_BOOL("create-home-dir"),
    K8S_TEXT("datavolume", "SPEC"),
    K8S_TEXT("empty-dir-volume", "SPEC"),
    K8S_TEXT("env-pod-field-ref", "SPEC"),
    K8S_TEXT("exclude-node", "NODE"),
    K8S_TEXT("existing-pvc", "SPEC"),
    K8S_TEXT("extended-resource", "SPEC"),
    K8S_TEXT("external-url", "SPEC"),
    K8S_TEXT("git-sync", "SPEC"),
    K8S_TEXT("gpu-memory-limit", "SIZE"),
    K8S_TEXT("gpu-portion-limit", "X"),
    K8S_BOOL("host-ipc"),
    K8S_BOOL("host-network"),
    K8S_TEXT("host-path", "SPEC"),
    K8S_TEXT("image-pull-my-credentials", "SPEC"),
    K8S_TEXT("image-pull-policy", "WORD"),
    K8S_BOOL("large-shm"),
    K8S_TEXT("new-pvc", "SPEC"),
    K8S_TEXT("nfs", "SPEC"),
    K8S_TEXT("port", "SPEC"),
    K8S_TEXT("preferred-pod-topology-key", "KEY"),
    K8S_BOOL("privileged"),
    K8S_TEXT("required-pod-topology-key", "KEY"),
    K8S_BOOL("run-as-non-root"),
    K8S_TEXT("s3", "SPEC"),
    K8S_TEXT("seccomp-profile", "WORD"),
    K8S_TEXT("secret-volume", "SPEC"),
    K8S_BOOL("stdin"),
    K8S_TEXT("supplemental-groups", "GIDS"),
    K8S_TEXT("toleration", "SPEC"),
    {.name = "tty",
                            .letter = 't',
                            .kind = FLAG_BOOL,
                            .refused = KUBERNETES,
                            .help = "Needs Kubernetes"},
    K8S_TEXT("user-group-source", "WORD"),
};
SET(flags_submit_kubernetes, "Known, but refused on one machine", submit_kubernetes);

static const struct flag config_set[] = {
    {.name = "output",
     .letter = 'o',
     .kind = FLAG_WORD,
     .metavar = "table|json|yaml",
     .help = "Form of the output where none is asked for"},
    {.name = "cp-url",
     .kind = FLAG_TEXT,
     .metavar = "URL",
     .help = "Address of the server; none is asked for then"},
    PROJECT_FLAG,
};
SET(flags_config_set, "Settings", config_set);

static const struct flag config_generate[] = {
    {.name = "file",
     .letter = 'f',
     .kind = FLAG_TEXT,
     .metavar = "FILE",
     .offer = OFFER_FILE,
     .help = "Where to write it"},
};
SET(flags_config_generate, "File", config_generate);

static const struct flag cluster_set[] = {
    {.name = "id", .kind = FLAG_TEXT, .metavar = "ID", .help = "The cluster with this id"},
};
SET(flags_cluster_set, "Which", cluster_set);

static const struct flag datasource[] = {
    {.name = "type",
     .kind = FLAG_WORD,
     .metavar = "nfs|pvc|s3|git|hostPath|configMap|secretVolume",
     .help = "Only data sources of this kind"},
};
SET(flags_datasource, "Which", datasource);

#define CREDENTIAL_TYPES "genericSecret|dockerRegistry|ngcApiKey"

static const struct flag credential[] = {
    {.name = "type",
     .kind = FLAG_WORD,
     .metavar = CREDENTIAL_TYPES,
     .help = "Only credentials of this kind"},
};
SET(flags_credential, "Which", credential);

static const struct flag new_credential[] = {
    PROJECT_FLAG,
    {.name = "type",
      .kind = FLAG_WORD,
      .metavar = CREDENTIAL_TYPES,
      .help = "What it is (genericSecret)"},
    {.name = "item",
      .kind = FLAG_PAIR,
      .repeat = true,
      .metavar = "KEY=@FILE",
      .help = "A secret, read from a file; KEY= asks for it. dockerRegistry has server, user and "
             "password, ngcApiKey has key"},
    {.name = "description", .kind = FLAG_TEXT, .metavar = "TEXT", .help = "What it is for"},
};
SET(flags_new_credential, "Credential", new_credential);

static const struct flag types[] = {
    {.name = "external-only", .kind = FLAG_BOOL, .help = "Leave weir's own kinds out"},
};
SET(flags_types, "Which", types);

#define UNIT_FLAGS                                                                           \
    {.name = "description", .kind = FLAG_TEXT, .metavar = "TEXT", .help = "What it is for"}, \
        {.name = "resources",                                                                \
         .kind = FLAG_TEXT,                                                                  \
         .repeat = true,                                                                     \
         .metavar = "SPEC",                                                                  \
         .help = "Its GPUs in a node pool, as in the example: nodepool= (default), "         \
                 "gpu-deserved= (0), gpu-limit= (-1: none), priority= (its rank)"}

static const struct flag department[] = {UNIT_FLAGS};
SET(flags_department, "Department", department);

static const struct flag new_project[] = {
    {.name = "department",
     .kind = FLAG_TEXT,
     .metavar = "NAME",
     .offer = OFFER_DEPARTMENT,
     .help = "Department it belongs to (default)"},
    UNIT_FLAGS,
    {.name = "namespace",
     .kind = FLAG_TEXT,
     .metavar = "NAME",
     .help = "Taken for Run:ai's sake: only runai-NAME is possible on one machine"},
};
SET(flags_new_project, "Project", new_project);

static const struct flag login_user[] = {
    {.name = "user",
     .letter = 'u',
     .kind = FLAG_TEXT,
     .metavar = "NAME",
     .help = "Its e-mail address; else it is asked for"                              },
    {.name = "password",
     .letter = 'p',
     .kind = FLAG_TEXT,
     .metavar = "TEXT",
     .help = "Its password: better left out, to be asked or read from standard input"},
};
SET(flags_login_user, "Who", login_user);

static const struct flag login_sso[] = {
    {.name = "idp",
     .kind = FLAG_TEXT,
     .metavar = "NAME",
     .help = "Identity provider, where the server has several"},
    {.name = "device",
     .kind = FLAG_BOOL,
     .help = "Sign in with a browser anywhere, by a short code"},
    {.name = "listen-host",
     .kind = FLAG_TEXT,
     .metavar = "HOST",
     .help = "Address of this machine that the browser comes back to (localhost)"},
    {.name = "listen-port",
     .kind = FLAG_WHOLE,
     .metavar = "PORT",
     .help = "Its port (43121; 0 for any)"},
};
SET(flags_login_sso, "How", login_sso);

static const struct flag login_key[] = {
    {.name = "client-id",
     .kind = FLAG_TEXT,
     .metavar = "ID",
     .help = "Id of the key, or name of the service account; else it is asked for"},
    {.name = "secret-file",
     .kind = FLAG_TEXT,
     .metavar = "FILE",
     .offer = OFFER_FILE,
     .help = "Read the secret from this file"},
    {.name = "secret",
     .kind = FLAG_TEXT,
     .metavar = "TEXT",
     .help = "The secret: better left out, to be asked or read from standard input"},
    {.name = "save",
     .kind = FLAG_BOOL,
     .help = "Keep the secret too, so that signing in again is not needed"},
    {.name = "interactive", .kind = FLAG_BOOL, .help = "Ask for what is not given (always so)"},
};
SET(flags_login_key, "Who", login_key);

static const struct flag rule[] = {
    {.name = "user",
     .letter = 'u',
     .kind = FLAG_TEXT,
     .metavar = "NAME",
     .help = "The user it is for; need not exist yet"},
    {.name = "group", .kind = FLAG_TEXT, .metavar = "NAME", .help = "The group it is for"},
    {.name = "service-account",
     .kind = FLAG_TEXT,
     .metavar = "NAME",
     .help = "The service account it is for"},
    {.name = "role", .kind = FLAG_TEXT, .metavar = "NAME", .help = "What it gives: weir role list"},
    {.name = "tenant", .kind = FLAG_BOOL, .help = "It holds everywhere"},
    {.name = "cluster", .kind = FLAG_BOOL, .help = "It holds in the cluster"},
    {.name = "department",
     .kind = FLAG_TEXT,
     .metavar = "NAME",
     .offer = OFFER_DEPARTMENT,
     .help = "It holds in this department and its projects"},
    PROJECT_FLAG,
};
SET(flags_rule, "Who, what, where", rule);

static const struct flag policy[] = {
    {.name = "tenant", .kind = FLAG_BOOL, .help = "That of the tenant"},
    {.name = "cluster", .kind = FLAG_BOOL, .help = "That of the cluster"},
    {.name = "department",
     .kind = FLAG_TEXT,
     .metavar = "NAME",
     .offer = OFFER_DEPARTMENT,
     .help = "That of this department"},
    PROJECT_FLAG,
};
SET(flags_policy, "Whose", policy);

static const struct flag policy_apply[] = {
    {.name = "name", .kind = FLAG_TEXT, .metavar = "NAME", .help = "What it is called (its kind)"},
    {.name = "validate-only",
     .kind = FLAG_BOOL,
     .help = "Say what is wrong with it, and set nothing"},
};
SET(flags_policy_apply, "Change", policy_apply);

static const struct flag get_token[] = {
    {.name = "output",
     .letter = 'o',
     .kind = FLAG_WORD,
     .metavar = "plaintext|kubeconfig",
     .help = "The token alone, or as kubectl takes it from a helper (the default)"},
};
SET(flags_get_token, "Output", get_token);

#define PRUNE_FLAG {.name = "prune", .kind = FLAG_BOOL, .help = "Remove what the file leaves out"}
static const struct flag plan_change[] = {PRUNE_FLAG};
SET(flags_plan_change, "Change", plan_change);

static const struct flag plan_apply[] = {
    PRUNE_FLAG,
    {.name = "yes",           .letter = 'y', .kind = FLAG_BOOL, .help = "Do not ask"},
    {.name = "base-revision",
      .kind = FLAG_WHOLE,
      .metavar = "N",
      .help = "Refuse when the plan has changed since this revision (the one the difference was "
             "made against)"                                                         },
};
SET(flags_plan_apply, "Change", plan_apply);

static const struct flag plan_check[] = {
    {.name = "offline", .kind = FLAG_BOOL, .help = "Check the file alone, ask no server"},
};
SET(flags_plan_check, "Check", plan_check);

#define SERVER_FLAGS                                                                               \
    {.name = "data",                                                                               \
     .kind = FLAG_TEXT,                                                                            \
     .metavar = "DIR",                                                                             \
     .offer = OFFER_DIRECTORY,                                                                     \
     .help = "Where everything is kept; over WEIR_DATA over /var/lib/weir (as root) or "           \
             "~/.local/state/weir"},                                                               \
        {.name = "socket",                                                                         \
         .kind = FLAG_TEXT,                                                                        \
         .metavar = "PATH",                                                                        \
         .offer = OFFER_FILE,                                                                      \
         .help = "Local socket; over WEIR_SOCKET over /run/weir/weir.sock (as root) or "           \
                 "$XDG_RUNTIME_DIR/weir/weir.sock"},                                               \
        {.name = "listen",                                                                         \
         .kind = FLAG_TEXT,                                                                        \
         .metavar = "HOST:PORT",                                                                   \
         .help = "TCP address; :0 takes a free port and prints it; over WEIR_LISTEN over "         \
                 "127.0.0.1:8470"},                                                                \
        {.name = "tls",                                                                            \
         .kind = FLAG_TEXT,                                                                        \
         .metavar = "CERTIFICATE,KEY",                                                             \
         .help = "Files in PEM for TLS on the TCP address; or self-signed, or off; over WEIR_TLS " \
                 "over off, which only an address of this machine may be"},                        \
        {.name = "url",                                                                            \
         .kind = FLAG_TEXT,                                                                        \
         .metavar = "ADDRESS",                                                                     \
         .help = "Address of this server as browsers know it, without a path; over WEIR_URL over " \
                 "that "                                                                           \
                 "of --listen"},                                                                   \
        {.name = "idp-ca",                                                                         \
         .kind = FLAG_TEXT,                                                                        \
         .metavar = "FILE",                                                                        \
         .offer = OFFER_FILE,                                                                      \
         .help = "Certificates in PEM by which identity providers are trusted; over WEIR_IDP_CA "  \
                 "over the system's"},                                                             \
        {.name = "log-level",                                                                      \
         .kind = FLAG_WORD,                                                                        \
         .metavar = "debug|info|warn|error",                                                       \
         .help = "What the log holds (info)"}

static const struct flag up[] = {
    SERVER_FLAGS,
    {.name = "gpus",
      .kind = FLAG_TEXT,
      .metavar = "SPEC",
      .help = "auto, none, or simulated devices fake:COUNT[:SIZE]; over WEIR_GPUS over auto"},
    {.name = "node-name",
      .kind = FLAG_TEXT,
      .metavar = "NAME",
      .help = "Name of this machine in the cluster (its host name)"},
    {.name = "node-label",
      .kind = FLAG_PAIR,
      .repeat = true,
      .metavar = "KEY=VALUE",
      .help = "Label of this machine"},
};
SET(flags_up, "Server", up);

static const struct flag server[] = {SERVER_FLAGS};
SET(flags_server, "Server", server);

static const struct flag replay[] = {
    {.name = "data",
     .kind = FLAG_TEXT,
     .metavar = "DIR",
     .offer = OFFER_DIRECTORY,
     .help = "The same as DIR; over WEIR_DATA over the usual place"},
};
SET(flags_replay, "Journal", replay);

static const struct flag simulate[] = {
    {.name = "json",
     .kind = FLAG_BOOL,
     .help = "The outcome of each case, one JSON document a line"},
    {.name = "remedies",
     .kind = FLAG_BOOL,
     .help = "With --json: the smallest change that would have started each workload that waits"},
    {.name = "area",
     .kind = FLAG_WORD,
     .metavar = "allocate|consolidation|reclaim|preempt|stalegangeviction|cycle|fairshare",
     .help = "Only the cases of that area"},
};
SET(flags_simulate, "Cases", simulate);

static const struct flag sim[] = {
    {.name = "seed", .kind = FLAG_WHOLE, .metavar = "N", .help = "Where chance begins (1)"},
    {.name = "steps", .kind = FLAG_WHOLE, .metavar = "N", .min = 1, .help = "How long (100000)"},
};
SET(flags_sim, "Simulation", sim);

static const struct flag bench_submit[] = {
    {.name = "count", .kind = FLAG_WHOLE, .metavar = "N", .min = 8, .help = "Workloads to submit"},
    {.name = "connections",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 1,
     .help = "Clients at a time"},
    {.name = "dir",
     .kind = FLAG_TEXT,
     .metavar = "DIR",
     .offer = OFFER_DIRECTORY,
     .help = "Where to work, on the disk that weir will use (/var/tmp)"},
    {.name = "json", .kind = FLAG_BOOL, .help = "The figures as JSON"},
};
SET(flags_bench_submit, "Measuring", bench_submit);

static const struct flag bench_api[] = {
    {.name = "projects",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 1,
     .help = "Projects there are (1000)"},
    {.name = "workloads",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 1,
     .help = "Workloads that wait in them (10000)"},
    {.name = "watchers",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .help = "Clients that watch all the while (100)"},
    {.name = "dir",
     .kind = FLAG_TEXT,
     .metavar = "DIR",
     .offer = OFFER_DIRECTORY,
     .help = "Where to work, on the disk that weir will use (/var/tmp)"},
    {.name = "json", .kind = FLAG_BOOL, .help = "The figures as JSON"},
};
SET(flags_bench_api, "Measuring", bench_api);

static const struct flag bench_cycle[] = {
    {.name = "cycles", .kind = FLAG_WHOLE, .metavar = "N", .min = 1, .help = "How many (5)"},
    {.name = "json", .kind = FLAG_BOOL, .help = "The figures as JSON"},
};
SET(flags_bench_cycle, "Measuring", bench_cycle);

static const struct flag bench_decide[] = {
    {.name = "nodes",  .kind = FLAG_WHOLE, .metavar = "N", .help = "Nodes of the cluster (10000)"},
    {.name = "rounds", .kind = FLAG_WHOLE, .metavar = "N", .help = "Decisions measured (5)"      },
};
SET(flags_bench_decide, "Measuring", bench_decide);

static const struct flag bench_packing[] = {
    {.name = "policy",
     .kind = FLAG_WORD,
     .metavar = "binpack|spread|pack",
     .help = "How tasks are placed (pack)"},
    {.name = "seed", .kind = FLAG_WHOLE, .metavar = "N", .help = "What the tasks are drawn by (1)"},
    {.name = "seeds",
     .kind = FLAG_WHOLE,
     .metavar = "N",
     .min = 1,
     .help = "So many seeds one after another, and their mean (1)"},
    {.name = "churn",
     .kind = FLAG_BOOL,
     .help = "Tasks leave again, as many as ask for 95 % are there: what is turned away"},
    {.name = "consolidate",
     .kind = FLAG_BOOL,
     .help = "With --churn: running work is moved where that makes room (action consolidation)"},
    {.name = "nodes",
     .kind = FLAG_TEXT,
     .metavar = "FILE",
     .offer = OFFER_FILE,
     .help = "The table of nodes (openb_node_list_gpu_node.csv beside the trace)"},
    {.name = "json", .kind = FLAG_BOOL, .help = "The figures as JSON"},
};
SET(flags_bench_packing, "Measuring", bench_packing);

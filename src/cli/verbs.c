// SPDX-License-Identifier: Apache-2.0
// verbs: the command table, in the grammar of Run:ai's CLI v2. Order is the order of the help.
#include "cli/flags.h"
#include "cli/run.h"

#include "base/attr.h"

const struct group groups[] = {
    {"bench",               NULL,         "Measuring this machine and this program"         },
    {"config",              NULL,         "Settings of this command line"                   },
    {"cluster",             NULL,         "The cluster"                                     },
    {"project",             NULL,         "Projects: who holds what"                        },
    {"department",          NULL,         "Departments: groups of projects"                 },
    {"nodepool",            NULL,         "Node pools: nodes that are shared out together"  },
    {"node",                NULL,         "Nodes and their devices"                         },
    {"training",            NULL,         "Training workloads"                              },
    {"training standard",   "training",   "Training workloads of one kind of pod"           },
    {"training pytorch",    "pytorch",    "Distributed training with PyTorch"               },
    {"training tensorflow", "tensorflow", "Distributed training with TensorFlow"            },
    {"training mpi",        "mpi",        "Distributed training with MPI"                   },
    {"training xgboost",    "xgboost",    "Distributed training with XGBoost"               },
    {"training jax",        "jax",        "Distributed training with JAX"                   },
    {"workspace",           NULL,         "Workspaces: work with a person at it"            },
    {"inference",           NULL,         "Inference workloads: replicas that serve"        },
    {"inference standard",  "inference",  "Inference workloads of one kind of pod"          },
    {"workload",            NULL,         "Workloads of every kind"                         },
    {"template",            NULL,         "Templates of workloads"                          },
    {"compute",             NULL,         "Compute resources, to be named in submits"       },
    {"environment",         NULL,         "Environments, to be named in submits"            },
    {"datasource",          NULL,         "Data sources, to be named in submits"            },
    {"pvc",                 NULL,         "Volumes of Kubernetes among the data sources"    },
    {"my-credential",       NULL,         "Your own credentials, for variables of workloads"},
    {"workload-type",       NULL,         "Types of workloads"                              },
    {"policy",              NULL,         "Policies: defaults and rules for workloads"      },
    {"plan",                NULL,         "The tenant plan: who is guaranteed what"         },
};
const uint32_t groups_count = COUNT_OF(groups);

#define WORKLOADS "NAME..."
#define FORWARD_TEXT                                                                      \
    "It goes on until Ctrl-C. Reached is what processes of the pod itself listen on, at " \
    "127.0.0.1, "                                                                         \
    "0.0.0.0 or [::] of the server's machine."
#define TAIL_TEXT                                                                                  \
    "The words behind -- are the command (with an image: its arguments, or with -c what replaces " \
    "its entrypoint). Flags must stand before --; what follows it belongs to the command."

#define SUBMIT_TEXT                                                                        \
    TAIL_TEXT                                                                              \
    " The answer comes once the workload is stored for good; it then waits its turn, and " \
    "weir why says what for."
/* What can be done with workloads of a kind; group: as it is written in full, brief: as in examples. */
#define VERBS(group, brief, what)                                                       \
    {                                                                                   \
        .path = group " list",                                                          \
        .summary = "List " what " workloads",                                           \
        .words = "",                                                                    \
        .sets = {&flags_filter, &flags_pages, &flags_list},                             \
        .example = "weir " brief " list -A --status Pending --json",                    \
        .run = run_workload_list \
},                                                      \
        {.path = group " describe",                                                     \
         .summary = "Show one of the " what " workloads, its pods and its history",     \
         .words = "[NAME]",                                                             \
         .words_max = 1,                                                                \
         .offer = OFFER_WORKLOAD,                                                       \
         .sets = {&flags_ref, &flags_sections, &flags_describe},                        \
         .example = "weir " brief " describe team-a-job-1 -p team-a --sortEvents desc", \
         .run = run_workload_describe},                                                 \
        {.path = group " logs",                                                         \
         .summary = "Show what one of the " what " workloads has written",              \
         .words = "[NAME]",                                                             \
         .words_max = 1,                                                                \
         .offer = OFFER_WORKLOAD,                                                       \
         .sets = {&flags_ref, &flags_logs},                                             \
         .example = "weir " brief " logs team-a-job-1 -p team-a -f --tail 100",         \
         .run = run_logs},                                                              \
        {.path = group " suspend",                                                      \
         .summary = "Stop " what " workloads and keep their definition",                \
         .words = "[NAME...]",                                                          \
         .words_max = COMMAND_WORDS_MAX,                                                \
         .offer = OFFER_WORKLOAD,                                                       \
         .sets = {&flags_ref},                                                          \
         .example = "weir " brief " suspend team-a-job-1 -p team-a",                    \
         .run = run_workload_suspend},                                                  \
        {.path = group " resume",                                                       \
         .summary = "Let suspended " what " workloads run again",                       \
         .words = "[NAME...]",                                                          \
         .words_max = COMMAND_WORDS_MAX,                                                \
         .offer = OFFER_WORKLOAD,                                                       \
         .sets = {&flags_ref},                                                          \
         .example = "weir " brief " resume team-a-job-1 -p team-a",                     \
         .run = run_workload_resume},                                                   \
        {.path = group " delete",                                                       \
         .summary = "Stop " what " workloads and delete them",                          \
         .words = "[NAME...]",                                                          \
         .words_max = COMMAND_WORDS_MAX,                                                \
         .offer = OFFER_WORKLOAD,                                                       \
         .sets = {&flags_ref},                                                          \
         .example = "weir " brief " delete team-a-job-1 team-a-job-2 -p team-a",        \
         .run = run_workload_delete},                                                   \
        {.path = group " exec",                                                         \
         .summary = "Run a command beside one of the running " what " workloads",       \
         .words = "[NAME]",                                                             \
         .words_max = 1,                                                                \
         .tail = "COMMAND...",                                                          \
         .offer = OFFER_WORKLOAD,                                                       \
         .sets = {&flags_ref, &flags_exec},                                             \
         .example = "weir " brief " exec team-a-job-1 -p team-a -- env",                \
         .run = run_exec},                                                              \
        {.path = group " bash",                                                         \
         .summary = "Open a shell beside one of the running " what " workloads",        \
         .words = "[NAME]",                                                             \
         .words_max = 1,                                                                \
         .offer = OFFER_WORKLOAD,                                                       \
         .sets = {&flags_ref, &flags_exec},                                             \
         .example = "weir " brief " bash team-a-job-1 -p team-a",                       \
         .run = run_bash},                                                              \
        {.path = group " port-forward",                                                 \
         .summary = "Lead ports of this machine to ports of one of the running " what   \
                    " workloads",                                                       \
         .words = "[NAME]",                                                             \
         .words_max = 1,                                                                \
         .offer = OFFER_WORKLOAD,                                                       \
         .sets = {&flags_ref, &flags_forward},                                          \
         .text = FORWARD_TEXT,                                                          \
         .example = "weir " brief " port-forward team-a-job-1 --port 8080:80",          \
         .run = run_port_forward},                                                      \
    {                                                                                   \
        .path = group " attach",                                                        \
        .summary = "Wait until one of the " what                                        \
                   " workloads runs and show its output until it ends",                 \
        .words = "[NAME]", .words_max = 1, .offer = OFFER_WORKLOAD,                     \
        .sets = {&flags_ref, &flags_attach},                                            \
        .example = "weir " brief " attach team-a-job-1 -p team-a", .run = run_attach    \
    }
/* Distributed training; more: the flags that only this framework has. */
#define FRAMEWORK(word, name, more)                                                  \
    {                                                                                \
        .path = "training " word " submit",                                          \
        .summary = "Submit distributed training with " name,                         \
        .words = "[NAME]",                                                           \
        .words_max = 1,                                                              \
        .tail = "COMMAND...",                                                        \
        .sets = {&flags_submit, &flags_submit_compute, &flags_submit_workers, &more, \
                 &flags_submit_place, &flags_submit_run, &flags_submit_master,       \
                 &flags_submit_kubernetes},                                          \
        .text = SUBMIT_TEXT                                                          \
        " A master and its workers start together or not at all, and find each "     \
        "other by the variables that " name " reads.",                               \
        .example = "weir " word " submit ddp -p team-a --workers 3 -g 1 -- ./train", \
        .run = run_submit \
    },                                                          \
        VERBS("training " word, word, name)

const struct command commands[] = {
    /* the session */
    {.path = "login",
     .summary = "Check the way to the server and say who you are to it",
     .words = "",
     .text =
         "Over the local socket the kernel vouches for you: root and the user that started the "
         "server are administrators, and there is no password to type. To a server elsewhere one "
         "signs in with weir login user or weir login access-key.", .example = "weir login",
     .run = run_login},
    {.path = "login user",
     .summary = "Sign in to a server with a name and a password",
     .words = "",
     .sets = {&flags_login_user},
     .text = "The password is asked for, or read as a line from standard input. What is kept is a "
             "token, in authentication.json of the CLI's directory (~/.weir, mode 0600), which is "
             "shown to that server only and got anew by itself for 30 days; and the server's "
             "address, in the settings. Without --server it is the one of the settings, else "
             "http://127.0.0.1:8470.", .example = "weir login user --server https://gpu-box:8470 -u ann@example.com",
     .run = run_login_user},
    {.path = "login access-key",
     .summary = "Sign in with an access key or as a service account",
     .words = "",
     .sets = {&flags_login_key},
     .text =
         "The secret is asked for, or read as a line from standard input or from a file. A token "
         "of a key is over after an hour; with --save the secret is kept beside it, to get the "
         "next one. Programs that have a token already give it in WEIR_TOKEN and need no login.", .example = "weir login access-key --server https://gpu-box:8470 --client-id ci-vision "
                "--secret-file /run/secrets/weir --save", .run = run_login_key},
    {.path = "login sso",
     .summary = "Sign in by way of the organisation's identity provider",
     .words = "",
     .sets = {&flags_login_sso},
     .text =
         "A browser of this machine goes there and brings a code back to a port of it. Where there "
         "is none (--device), any browser is shown a short code instead.", .example = "weir login sso --server https://gpu-box:8470 --device",
     .run = run_login_sso},
    {.path = "login application",
     .summary = "The same as weir login access-key",
     .words = "",
     .sets = {&flags_login_key},
     .example = "weir login application --client-id ci-vision --secret-file secret.txt",
     .run = run_login_key},
    {.path = "logout",
     .summary = "Forget what login kept (over the local socket: nothing)",
     .words = "",
     .example = "weir logout",
     .run = run_logout},
    {.path = "auth get-token",
     .summary = "Print the token that login got",
     .words = "",
     .sets = {&flags_get_token},
     .example = "weir auth get-token -o plaintext",
     .run = run_get_token},
    {.path = "whoami",
     .summary = "Say who you are to the server, and what you may do",
     .words = "",
     .sets = {&flags_describe},
     .example = "weir whoami --json",
     .run = run_whoami},
    {.path = "audit",
     .summary = "Show who did what, and who was refused what",
     .words = "",
     .sets = {&flags_list, &flags_audit},
     .example = "weir audit --since 24h --result refused",
     .run = run_audit},
    {.path = "version",
     .summary = "Show the version of this program and of the server",
     .words = "",
     .sets = {&flags_describe},
     .example = "weir version",
     .run = run_version},
    {.path = "config describe",
     .summary = "Show the settings",
     .words = "",
     .sets = {&flags_describe},
     .example = "weir config describe",
     .run = run_config_describe},
    {.path = "config set",
     .summary = "Change the settings",
     .words = "",
     .sets = {&flags_config_set},
     .example = "weir config set --output yaml",
     .run = run_config_set},
    {.path = "config generate",
     .summary = "Write the settings to a file that others can use",
     .words = "",
     .sets = {&flags_config_generate},
     .text =
         "With --config-file and --config-path, or as ~/.weir/config.json. What signs in is not "
         "in it.", .example = "weir config generate -f team.json",
     .run = run_config_generate},

    /* who may do what */
    {.path = "user list",
     .summary = "List users",
     .words = "",
     .sets = {&flags_list},
     .example = "weir user list",
     .run = run_people_list},
    {.path = "user create",
     .summary = "Make a user; its password is shown once",
     .words = "NAME [GROUP...]",
     .words_min = 1,
     .words_max = COMMAND_WORDS_MAX,
     .sets = {&flags_describe},
     .text =
         "The name is an e-mail address. What it may do is said by access rules, of its own or of "
         "its groups: weir access-rule create.", .example = "weir user create ann@example.com ml-people",
     .run = run_people_create},
    {.path = "user set-groups",
     .summary = "Say which groups a user is in",
     .words = "NAME [GROUP...]",
     .words_min = 1,
     .words_max = COMMAND_WORDS_MAX,
     .example = "weir user set-groups ann@example.com ml-people",
     .run = run_user_groups},
    {.path = "user password",
     .summary = "Change your own password",
     .words = "",
     .text =
         "The password of now and the new one are asked for, or read as two lines from standard "
         "input.", .example = "weir user password",
     .run = run_user_password},
    {.path = "user reset-password",
     .summary = "Give a user another password; its sessions end",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .sets = {&flags_describe},
     .example = "weir user reset-password ann@example.com",
     .run = run_people_renew},
    {.path = "user delete",
     .summary = "Remove users, with their keys and rules",
     .words = "NAME...",
     .words_min = 1,
     .words_max = COMMAND_WORDS_MAX,
     .example = "weir user delete ann@example.com",
     .run = run_people_delete},
    {.path = "service-account list",
     .summary = "List service accounts",
     .words = "",
     .sets = {&flags_list},
     .example = "weir service-account list",
     .run = run_people_list},
    {.path = "service-account create",
     .summary = "Make a service account; its secret is shown once",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .sets = {&flags_describe},
     .example = "weir service-account create ci-vision",
     .run = run_people_create},
    {.path = "service-account reset-secret",
     .summary = "Give a service account another secret; its sessions end",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .sets = {&flags_describe},
     .example = "weir service-account reset-secret ci-vision",
     .run = run_people_renew},
    {.path = "service-account delete",
     .summary = "Remove service accounts, with their rules",
     .words = "NAME...",
     .words_min = 1,
     .words_max = COMMAND_WORDS_MAX,
     .example = "weir service-account delete ci-vision",
     .run = run_people_delete},
    {.path = "access-key list",
     .summary = "List your own access keys",
     .words = "",
     .sets = {&flags_list},
     .example = "weir access-key list",
     .run = run_people_list},
    {.path = "access-key create",
     .summary = "Make an access key, which is you; its secret is shown once",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .sets = {&flags_describe},
     .example = "weir access-key create laptop",
     .run = run_people_create},
    {.path = "access-key reset-secret",
     .summary = "Give an access key another secret; its sessions end",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .sets = {&flags_describe},
     .example = "weir access-key reset-secret laptop",
     .run = run_people_renew},
    {.path = "access-key delete",
     .summary = "Remove access keys of yours",
     .words = "NAME...",
     .words_min = 1,
     .words_max = COMMAND_WORDS_MAX,
     .example = "weir access-key delete laptop",
     .run = run_people_delete},
    {.path = "role list",
     .summary = "List roles: what may be given to people",
     .words = "",
     .sets = {&flags_list},
     .example = "weir role list",
     .run = run_people_list},
    {.path = "role describe",
     .summary = "Show what a role permits",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .sets = {&flags_describe},
     .example = "weir role describe \"AI practitioner\"",
     .run = run_role_describe},
    {.path = "access-rule list",
     .summary = "List who has which role where",
     .words = "",
     .sets = {&flags_list},
     .example = "weir access-rule list",
     .run = run_people_list},
    {.path = "access-rule create",
     .summary = "Give a role to someone, somewhere",
     .words = "",
     .sets = {&flags_rule, &flags_describe},
     .text =
         "A rule is who, what and where: one of --user, --group, --service-account; --role; one of "
         "--tenant, --cluster, --department, --project. Rules add up. Nobody gives more than they "
         "have.", .example = "weir access-rule create --user ann@example.com --role \"AI practitioner\" "
                "--project team-a", .run = run_rule_create},
    {.path = "access-rule delete",
     .summary = "Take rules away",
     .words = "ID...",
     .words_min = 1,
     .words_max = COMMAND_WORDS_MAX,
     .example = "weir access-rule delete 7",
     .run = run_people_delete},

    /* who is entitled to what */
    {.path = "cluster list",
     .summary = "Show the cluster with its GPUs and workloads",
     .words = "",
     .sets = {&flags_list},
     .example = "weir cluster list",
     .run = run_cluster_list},
    {.path = "cluster set",
     .summary = "Choose the cluster for other programs that read these settings",
     .words = "[NAME]",
     .words_max = 1,
     .sets = {&flags_cluster_set},
     .text = "weir itself has one cluster, and needs no choice.",
     .example = "weir cluster set box",
     .run = run_cluster_set},
    {.path = "project list",
     .summary = "List projects: guaranteed, held, borrowed",
     .words = "",
     .sets = {&flags_list},
     .example = "weir project list --columns name,pool,guaranteed,held",
     .run = run_project_list},
    {.path = "project create",
     .summary = "Make a project",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .sets = {&flags_new_project, &flags_describe},
     .text = "Several of them, with all that can be said of them, at once: weir plan apply.",
     .example = "weir project create lidar --department vision --resources "
                "nodepool=default,gpu-deserved=2,gpu-limit=4", .run = run_unit_create},
    {.path = "project delete",
     .summary = "Remove projects in which nothing runs; asks on a terminal",
     .words = "NAME...",
     .words_min = 1,
     .words_max = COMMAND_WORDS_MAX,
     .offer = OFFER_PROJECT,
     .sets = {&flags_delete},
     .example = "weir project delete lidar --yes",
     .run = run_unit_delete},
    {.path = "project describe",
     .summary = "Show one project",
     .words = "[NAME]",
     .words_max = 1,
     .offer = OFFER_PROJECT,
     .sets = {&flags_describe},
     .example = "weir project describe team-a",
     .run = run_project_describe},
    {.path = "project set",
     .summary = "Choose the project that commands mean when none is named",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .offer = OFFER_PROJECT,
     .example = "weir project set team-a",
     .run = run_project_set},
    {.path = "department list",
     .summary = "List departments: guaranteed, held, borrowed",
     .words = "",
     .sets = {&flags_list},
     .example = "weir department list",
     .run = run_department_list},
    {.path = "department create",
     .summary = "Make a department",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .sets = {&flags_department, &flags_describe},
     .text = "Several of them, with all that can be said of them, at once: weir plan apply.",
     .example = "weir department create vision --resources nodepool=default,gpu-deserved=2",
     .run = run_unit_create},
    {.path = "department delete",
     .summary = "Remove departments that have no projects; asks on a terminal",
     .words = "NAME...",
     .words_min = 1,
     .words_max = COMMAND_WORDS_MAX,
     .offer = OFFER_DEPARTMENT,
     .sets = {&flags_delete},
     .example = "weir department delete vision --yes",
     .run = run_unit_delete},
    {.path = "department describe",
     .summary = "Show one department and its projects",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .offer = OFFER_DEPARTMENT,
     .sets = {&flags_describe},
     .example = "weir department describe product-ai",
     .run = run_department_describe},
    {.path = "nodepool list",
     .summary = "List node pools",
     .words = "",
     .sets = {&flags_list},
     .example = "weir nodepool list",
     .run = run_nodepool_list},
    {.path = "nodepool describe",
     .summary = "Show one node pool and a picture of who holds what of it",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .offer = OFFER_POOL,
     .sets = {&flags_describe},
     .example = "weir nodepool describe validation",
     .run = run_nodepool_describe},
    {.path = "node list",
     .summary = "List nodes",
     .words = "",
     .sets = {&flags_list},
     .example = "weir node list",
     .run = run_node_list},
    {.path = "node describe",
     .summary = "Show one node, its devices and who holds them",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .offer = OFFER_NODE,
     .sets = {&flags_describe},
     .example = "weir node describe $(hostname)",
     .run = run_node_describe},
    {.path = "node drain",
     .summary = "Close a node, or a device of it, for new work and move what runs there",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .offer = OFFER_NODE,
     .sets = {&flags_drain, &flags_drain_device, &flags_describe},
     .text =
         "Preemptible work is moved when there is a place for it elsewhere (of a device that is "
         "drained: on other devices of the node too) and its disruption budget allows it. What "
         "cannot be moved runs on to its end, or to the deadline: then it is stopped, whatever "
         "it is, and waits to be started elsewhere. Moving and stopping are a notice (SIGTERM), "
         "the workload's grace period, then the end by force. The drain holds over restarts, "
         "until weir node undrain.", .example = "weir node drain $(hostname) --deadline 30m --reason driver",
     .run = run_node_drain},
    {.path = "node cordon",
     .summary = "Close a node, or a device of it, for new work; what runs there runs on",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .offer = OFFER_NODE,
     .sets = {&flags_drain_device, &flags_describe},
     .example = "weir node cordon $(hostname) --device 2 --reason ECC-errors",
     .run = run_node_drain},
    {.path = "node undrain",
     .summary = "Open a drained or cordoned node, or a device of it, for new work again",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .offer = OFFER_NODE,
     .sets = {&flags_undrain, &flags_describe},
     .example = "weir node undrain $(hostname)",
     .run = run_node_undrain},

    /* workloads */
    {.path = "training standard submit",
     .summary = "Submit a training workload",
     .words = "[NAME]",
     .words_max = 1,
     .tail = "COMMAND...",
     .sets = {&flags_submit, &flags_submit_compute, &flags_submit_pods, &flags_submit_place,
              &flags_submit_run, &flags_submit_kubernetes},
     .text = SUBMIT_TEXT,
     .example = "weir training standard submit team-a-job-1 -p team-a -i host "
                "--gpu-devices-request 1 --node-pools validation --priority low "
                "--preemptibility preemptible -- sleep 600", .run = run_submit},
    VERBS("training standard", "training", "training"),
    FRAMEWORK("pytorch", "PyTorch", flags_submit_elastic),
    FRAMEWORK("tensorflow", "TensorFlow", flags_submit_masterless),
    FRAMEWORK("mpi", "MPI", flags_submit_slots),
    FRAMEWORK("xgboost", "XGBoost", flags_submit_policy),
    FRAMEWORK("jax", "JAX", flags_submit_policy),
    {.path = "workspace submit",
     .summary = "Submit a workspace: for work with a person at it",
     .words = "[NAME]",
     .words_max = 1,
     .tail = "COMMAND...",
     .sets = {&flags_submit, &flags_submit_compute, &flags_submit_place, &flags_submit_run,
              &flags_submit_kubernetes},
     .text = SUBMIT_TEXT " A workspace is of one pod and, unless said otherwise, of high priority "
                         "and not preemptible.", .example = "weir workspace submit notes -p team-a -g 1 -- jupyter lab",
     .run = run_submit},
    VERBS("workspace", "workspace", "workspace"),
    {.path = "inference standard submit",
     .summary = "Submit an inference workload: replicas that serve until they are deleted",
     .words = "[NAME]",
     .words_max = 1,
     .tail = "COMMAND...",
     .sets = {&flags_submit, &flags_submit_compute, &flags_submit_replicas, &flags_submit_place,
              &flags_submit_run, &flags_submit_kubernetes},
     .text = SUBMIT_TEXT " A replica that ends is started again.",
     .example =
         "weir inference submit llm -p team-a --min-replicas 2 --max-replicas 2 -g 1 -- ./serve", .run = run_submit},
    VERBS("inference standard", "inference", "inference"),
    {.path = "workload list",
     .summary = "List workloads",
     .words = "",
     .sets = {&flags_filter, &flags_kind, &flags_pages, &flags_list},
     .example = "weir workload list -A --columns name,project,status,reason",
     .run = run_workload_list},
    {.path = "workload describe",
     .summary = "Show a workload, its pods and its history",
     .words = "[NAME]",
     .words_max = 1,
     .offer = OFFER_WORKLOAD,
     .sets = {&flags_ref, &flags_sections, &flags_describe},
     .example = "weir workload describe team-a-job-1 -p team-a -o yaml",
     .run = run_workload_describe},
    {.path = "workload logs",
     .summary = "Show what a workload has written",
     .words = "[NAME]",
     .words_max = 1,
     .offer = OFFER_WORKLOAD,
     .sets = {&flags_ref, &flags_logs},
     .example = "weir workload logs team-a-job-1 -p team-a --previous",
     .run = run_logs},
    {.path = "workload suspend",
     .summary = "Stop a workload and keep its definition",
     .words = "[NAME...]",
     .words_max = COMMAND_WORDS_MAX,
     .offer = OFFER_WORKLOAD,
     .sets = {&flags_ref},
     .example = "weir workload suspend team-a-job-1 -p team-a",
     .run = run_workload_suspend},
    {.path = "workload resume",
     .summary = "Let a suspended workload run again",
     .words = "[NAME...]",
     .words_max = COMMAND_WORDS_MAX,
     .offer = OFFER_WORKLOAD,
     .sets = {&flags_ref},
     .example = "weir workload resume team-a-job-1 -p team-a",
     .run = run_workload_resume},
    {.path = "workload delete",
     .summary = "Stop a workload and delete it; asks on a terminal",
     .words = "[NAME...]",
     .words_max = COMMAND_WORDS_MAX,
     .offer = OFFER_WORKLOAD,
     .sets = {&flags_ref, &flags_delete},
     .example = "weir workload delete team-a-job-1 -p team-a --yes",
     .run = run_workload_delete},
    {.path = "workload exec",
     .summary = "Run a command beside a running workload",
     .words = "[NAME]",
     .words_max = 1,
     .tail = "COMMAND...",
     .offer = OFFER_WORKLOAD,
     .sets = {&flags_ref, &flags_exec},
     .example = "weir workload exec team-a-job-1 -p team-a -it -- bash",
     .run = run_exec},
    {.path = "workload port-forward",
     .summary = "Lead ports of this machine to ports of a running workload",
     .words = "[NAME]",
     .words_max = 1,
     .offer = OFFER_WORKLOAD,
     .sets = {&flags_ref, &flags_forward},
     .text = FORWARD_TEXT,
     .example = "weir workload port-forward team-a-job-1 -p team-a --port 8080:80",
     .run = run_port_forward},
    {.path = "workload watch",
     .summary = "Show workloads as they change",
     .words = "",
     .sets = {&flags_watch},
     .text = "On a terminal the table is drawn again in place at each change; elsewhere each "
             "change is a line. Ctrl-C ends it.", .example = "weir workload watch -p team-a",
     .run = run_watch},
    {.path = "why",
     .summary = "Say why a workload waits, runs or was stopped",
     .words = "[NAME]",
     .words_max = 1,
     .offer = OFFER_WORKLOAD,
     .sets = {&flags_ref, &flags_describe},
     .text =
         "The reason with its numbers, the smallest change that would start it (found by trying "
         "it on a copy), the place in the queue, and, where nodes do not do, how many for which "
         "cause.", .example = "weir why team-a-job-3 -p team-a",
     .run = run_why},

    /* what submits may name */
    {.path = "template list",
     .summary = "List workload templates",
     .words = "",
     .sets = {&flags_list},
     .example = "weir template list",
     .run = run_asset_list},
    {.path = "template describe",
     .summary = "Show one workload template",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .sets = {&flags_describe},
     .example = "weir template describe usual -o yaml",
     .run = run_asset_describe},
    {.path = "compute list",
     .summary = "List compute resources",
     .words = "",
     .sets = {&flags_list},
     .example = "weir compute list",
     .run = run_asset_list},
    {.path = "compute describe",
     .summary = "Show one compute resource",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .sets = {&flags_describe},
     .example = "weir compute describe usual -o yaml",
     .run = run_asset_describe},
    {.path = "environment list",
     .summary = "List environments",
     .words = "",
     .sets = {&flags_list},
     .example = "weir environment list",
     .run = run_asset_list},
    {.path = "environment describe",
     .summary = "Show one environment",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .sets = {&flags_describe},
     .example = "weir environment describe usual -o yaml",
     .run = run_asset_describe},
    {.path = "datasource list",
     .summary = "List data sources",
     .words = "",
     .sets = {&flags_datasource, &flags_list},
     .example = "weir datasource list",
     .run = run_asset_list},
    {.path = "datasource describe",
     .summary = "Show one data source",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .sets = {&flags_datasource, &flags_describe},
     .example = "weir datasource describe usual -o yaml",
     .run = run_asset_describe},
    {.path = "pvc list",
     .summary = "List data sources that are volumes of Kubernetes",
     .words = "",
     .sets = {&flags_list},
     .example = "weir pvc list",
     .run = run_asset_list},
    {.path = "my-credential list",
     .summary = "List your own credentials",
     .words = "",
     .sets = {&flags_credential, &flags_list},
     .example = "weir my-credential list",
     .run = run_credential_list},
    {.path = "my-credential create",
     .summary = "Keep a credential of your own",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .sets = {&flags_new_credential},
     .text = "The server keeps it sealed and never shows it again. Your own workloads get it by "
             "--env-my-credentials. It goes with the project, where one is given.", .example = "weir my-credential create hub --item token=@token.txt",
     .run = run_credential_create},
    {.path = "my-credential delete",
     .summary = "Delete one of your own credentials",
     .words = "NAME",
     .words_min = 1,
     .words_max = 1,
     .sets = {&flags_credential},
     .text = "One that is used by a workload stays.",
     .example = "weir my-credential delete hub",
     .run = run_credential_delete},
    {.path = "workload-type list",
     .summary = "List the types of workloads with their categories and default priorities",
     .words = "",
     .sets = {&flags_types, &flags_list},
     .example = "weir workload-type list",
     .run = run_type_list},

    /* the tenant plan */
    {.path = "plan check",
     .summary = "Report every problem of a tenant plan, with its place in the file",
     .words = "FILE",
     .words_min = 1,
     .words_max = 1,
     .offer = OFFER_FILE,
     .sets = {&flags_plan_check, &flags_describe},
     .text = "Where a server runs, the plan is also checked against its hardware and what is held; "
             "without one the file alone is checked, which is said. FILE may be - for standard "
             "input. The exit status is 1 when there are errors; warnings alone leave it 0.", .example = "weir plan check tenants.yaml",
     .run = run_plan_check},
    {.path = "plan diff",
     .summary = "Show what applying a tenant plan would change",
     .words = "FILE",
     .words_min = 1,
     .words_max = 1,
     .offer = OFFER_FILE,
     .sets = {&flags_plan_change, &flags_describe},
     .text = "Plans are compared by meaning: spelling, order and left-out defaults do not matter.",
     .example = "weir plan diff tenants.yaml --prune",
     .run = run_plan_diff},
    {.path = "plan apply",
     .summary = "Put a tenant plan into force, all of it or nothing",
     .words = "FILE",
     .words_min = 1,
     .words_max = 1,
     .offer = OFFER_FILE,
     .sets = {&flags_plan_apply, &flags_describe},
     .text = "Shows the changes, asks on a terminal, and sends the plan with the revision it was "
             "compared with. When someone else changed the plan meanwhile, nothing is done and "
             "what changed is shown. What the file leaves out stays, unless --prune is given; "
             "what work still holds is never removed.", .example = "weir plan apply tenants.yaml --yes",
     .run = run_plan_apply},
    {.path = "plan export",
     .summary = "Write the tenant plan in force as a file",
     .words = "",
     .sets = {&flags_describe},
     .example = "weir plan export > tenants.yaml",
     .run = run_plan_export},

    /* policies */
    {.path = "policy list",
     .summary = "List policies",
     .words = "",
     .sets = {&flags_list},
     .example = "weir policy list",
     .run = run_policy_list},
    {.path = "policy get",
     .summary = "Write the policy of a scope as a file",
     .words = "KIND",
     .words_min = 1,
     .words_max = 1,
     .sets = {&flags_policy, &flags_describe},
     .text = "KIND is training, workspace, inference or distributed. What it writes is what "
             "weir policy apply takes.", .example = "weir policy get training --tenant > training.yaml",
     .run = run_policy_get},
    {.path = "policy effective",
     .summary = "Show what holds for workloads of a kind in a scope, and from where",
     .words = "KIND",
     .words_min = 1,
     .words_max = 1,
     .sets = {&flags_policy, &flags_list},
     .text = "KIND is training, workspace, inference or distributed. The policies of all scopes "
             "above and its own are put together; FROM is the scope that a line is from.", .example = "weir policy effective training -p team-a",
     .run = run_policy_effective},
    {.path = "policy apply",
     .summary = "Set the policy of a scope from a file",
     .words = "KIND FILE",
     .words_min = 2,
     .words_max = 2,
     .offer = OFFER_FILE,
     .sets = {&flags_policy, &flags_policy_apply, &flags_describe},
     .text = "KIND is training, workspace, inference or distributed. The file (YAML or JSON, - for "
             "standard input) has defaults, rules and imposedAssets, and takes the place of the "
             "policy that the scope has. It holds for what is submitted from then on.", .example = "weir policy apply training training.yaml --department research",
     .run = run_policy_apply},
    {.path = "policy delete",
     .summary = "Delete the policy of a scope",
     .words = "KIND",
     .words_min = 1,
     .words_max = 1,
     .sets = {&flags_policy},
     .text = "KIND is training, workspace, inference or distributed.",
     .example = "weir policy delete training --department research",
     .run = run_policy_delete},

    /* programs of their own */
    {.path = "up",
     .summary = "Run everything on this machine: server, agent, store",
     .words = "",
     .sets = {&flags_up},
     .text = "Jobs go on when it ends, and are taken over again when it comes back.",
     .example = "weir up --gpus fake:4 --node-label runai.node-pool=validation"},
    {.path = "server",
     .summary = "Run the control plane alone",
     .words = "",
     .text =
         "It answers and keeps plans and workloads, and runs none: no machine is its own. On one "
         "machine use weir up, which is this and the agent in one process.", .example = "weir server"},
    {.path = "replay",
     .summary = "Decide again what a journal has recorded, and print the first difference",
     .words = "[DIR]",
     .words_max = 1,
     .offer = OFFER_DIRECTORY,
     .sets = {&flags_replay},
     .text =
         "DIR is the data directory of a server that is stopped, or a copy of one; else the usual "
         "place. The journal is applied from its beginning, as at a start; at each recorded tick "
         "the scheduler decides again on the state of that moment. Nothing is changed. What was "
         "decided by another version of the scheduler is counted and not compared. The newest "
         "stored state is compared with what the journal leads to. The exit status is 0 when "
         "there is no difference, and 1 otherwise.", .example = "weir replay /var/lib/weir"},
    {.path = "simulate",
     .summary = "Run scheduling cases and check their expectations",
     .words = "CASE.json...",
     .words_min = 1,
     .words_max = COMMAND_WORDS_MAX,
     .offer = OFFER_FILE,
     .sets = {&flags_simulate},
     .example = "weir simulate tests/cases"},
    {.path = "sim",
     .summary = "Run the deterministic simulation from a seed and check the rules at each step",
     .words = "",
     .sets = {&flags_sim},
     .example = "weir sim --seed 1"},
    {.path = "bench submit",
     .summary = "Measure this machine: from submit to process start, and submits a second",
     .words = "",
     .sets = {&flags_bench_submit},
     .example = "weir bench submit"},
    {.path = "bench api",
     .summary = "Measure this machine: what a server with much in it answers, beside nginx",
     .words = "",
     .sets = {&flags_bench_api},
     .example = "weir bench api --projects 1000 --workloads 10000 --watchers 100"},
    {.path = "bench cycle",
     .summary = "Measure the scheduler on a large cluster: time of each action, memory, outcome",
     .words = "SNAPSHOT.json",
     .words_min = 1,
     .words_max = 1,
     .offer = OFFER_FILE,
     .sets = {&flags_bench_cycle},
     .text = "The snapshot is a scheduling case, such as bench/gen_snapshot.py makes. Each cycle "
             "begins with a fresh copy of it. The digest tells whether two versions decide alike.", .example = "weir bench cycle full-1000.json"},
    {.path = "bench decide",
     .summary = "Measure a decision of the engine with little to do, from its state to the tick",
     .words = "",
     .sets = {&flags_bench_decide},
     .text = "10 pods run on each node of 8 devices, 8 wait. The digest tells whether two versions "
             "decide alike.", .example = "weir bench decide --nodes 10000"},
    {.path = "bench packing",
     .summary = "Measure how much of a cluster's devices a way of placing gets used",
     .words = "TRACE",
     .words_min = 1,
     .words_max = 1,
     .offer = OFFER_FILE,
     .sets = {&flags_bench_packing},
     .text =
         "TRACE is a table of tasks (or its directory) in the form of Alibaba's GPU traces, such "
         "as bench/openb/fetch gets. Tasks drawn from it arrive one by one, each is placed or "
         "dropped, until they have asked for 130 % of the devices.", .example = "weir bench packing bench/openb --seeds 10"},

    /* help */
    {.path = "completion",
     .summary = "Write the completion script of a shell",
     .words = "bash|zsh",
     .words_min = 1,
     .words_max = 1,
     .offer = OFFER_SHELL,
     .text = "bash: source <(weir completion bash). zsh: source <(weir completion zsh), behind "
             "compinit. An alias of the name runai is completed too when it exists by then.", .example = "source <(weir completion bash)",
     .run = run_completion},
    {.path = "help",
     .summary = "Show the help of a command",
     .words = "[COMMAND]",
     .words_max = 4,
     .offer = OFFER_COMMAND,
     .example = "weir help training submit",
     .run = run_help},
    {.path = "_complete",
     .summary = "Write what may follow the words of a command line",
     .words = "",
     .tail = "WORD...",
     .example = "weir _complete -- training sub",
     .run = run_complete,
     .hidden = true},
    {.path = "_man",
     .summary = "Write the manual pages into a directory",
     .words = "DIR",
     .words_min = 1,
     .words_max = 1,
     .example = "weir _man build/man",
     .run = run_man,
     .hidden = true},
    {.path = "_docs",
     .summary = "Write docs/cli.md",
     .words = "",
     .example = "weir _docs > docs/cli.md",
     .run = run_docs,
     .hidden = true},
    {.path = "_supervise",
     .summary = "Supervise a pod",
     .words = "",
     .example = "weir _supervise",
     .hidden = true},
};
const uint32_t commands_count = COUNT_OF(commands);

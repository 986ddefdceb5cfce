// SPDX-License-Identifier: Apache-2.0
// weir's own API, below /api/weir/v1: docs/api.md.
#include "api/call.h"

#define P "/api/weir/v1"

#define FRAMEWORK_WORDS "'pytorch'|'tensorflow'|'mpi'|'xgboost'|'jax'"

static const struct schema_row schemas[] = {
    {"Error",          "code* int(100..599), status* str, message* str, details* str, field* str, value* "
              "str, hint* str, request_id* uuid, problems [Problem], changes [Change]"    },
    {"Problem",        "severity* 'error'|'warning', line* int, col* int, field* str, text* str, hint* "
                "str"                                                                   },
    {"Change",         "kind* 'add'|'remove'|'set', what* str, field* str, from* str, to* str"         },
    {"PlanCheck",      "errors* int, warnings* int, problems* [Problem]"                               },
    {"PlanDiff",       "base_revision* int, changes* [Change]"                                         },
    {"PlanApplied",    "revision* int, changes* [Change]"                                              },
    {"Drain",          "device str, moves bool = true, within_ms int(0..1125899906842624)?, reason str"},
    {"Ownership",      "protected* bool"                                                               },
    {"Undrain",        "device str"                                                                    },
    {"Items",          "items* [obj], total int"                                                       },
    {"WeirSubmission",
     "name str, name_prefix str, project* str(1..), kind "
     "'training'|'workspace'|'inference'|'distributed', spec WeirSpec, template str, "
     "assets {environment str, compute str, datasources [str]}"                                        },
    {"SecretRef",      "credential* str(1..), key str, own bool"                                       },
    {"WeirSpec",
     "image str, command [str], args_are_command bool, env map<str>, "
     "env_secrets map<SecretRef>, working_dir str,"
     "run_as_uid int(0..4294967294)?, run_as_gid int(0..4294967294)?,"
     "gpu_devices int(0..1024), gpu_portion num(0.001..1)?, gpu_memory int(1..70368744177664)?,"
     "cpu num(0..70368744177.664), cpu_limit num(0.001..70368744177.664)?,"
     "memory int(0..70368744177664), memory_limit int(1..70368744177664)?,"
     "grace_ms int(0..86400000), single_numa bool, pods int(1..4096), pods_min int(1..4096), "
     "parallel_max int(1..4096), framework " FRAMEWORK_WORDS ", "
     "min_available "
     "int(0..4096),"
     "node_type str(..63), priority any, preemptibility 'preemptible'|'non-preemptible', pools "
     "[str],"
     "labels map<str>, annotations map<str>, restart 'never'|'on-failure'|'always',"
     "backoff_limit int(0..1000), auto_delete_ms int(0..1125899906842624)?"                            },
};

#define PLAN_READ   "read department, read project, read nodepools at cluster"
#define PLAN_CHANGE "change department, change project, change nodepools at cluster"
#define PLAN_ARGS   "prune bool, base_revision int(0..)"
#define WORKLOAD_ARGS                                                           \
    "project str, phase str, kind str, framework str, name str, deleted bool, " \
    "limit int(0..1000) = 500, offset int(0..) = 0"
#define AUDIT_ARGS                                                              \
    "since ts, until ts, subject str, result 'done'|'refused', "                \
    "action 'create'|'update'|'delete'|'sign-in'|'sign-out'|'reset-password', " \
    "limit int(1..1000) = 100, offset int(0..) = 0"
#define LOG_ARGS                                                   \
    "pod str, follow bool, tail int(-1..1000000), previous bool, " \
    "attempt int(1..4294967295), offset int(0..)"

static const struct route routes[] = {
    {"GET",    "/healthz",                             "healthz",          get_health,       NULL,                          NULL,             200, "obj",         "Whether the server answers",
     0,                                                                                                                                                                                                                           "open"                                 },
    {"GET",    "/version",                             "version",          get_version,      NULL,                          NULL,             200, "obj",         "Version of the server",                        0,
     "open"                                                                                                                                                                                                                                                              },
    {"GET",    "/api/openapi.json",                    "openapi",          get_openapi,      NULL,                          NULL,             200, "obj",
     "What it answers, as OpenAPI 3.1",                                                                                                                                                                           0,              "open"                                 },
    {"GET",    "/api/docs",                            "docs",             get_docs,         NULL,                          NULL,             200, NULL,          "The same as a page for people",
     ROUTE_STREAM,                                                                                                                                                                                                                "open"                                 },
    {"GET",    P "/healthz",                           "get_health",       get_health,       NULL,                          NULL,             200, "obj",
     "Whether the server answers",                                                                                                                                                                                0,              "open"                                 },
    {"GET",    P "/version",                           "get_version",      get_version,      NULL,                          NULL,             200, "obj",
     "Version of the server",                                                                                                                                                                                     0,              "open"                                 },
    {"GET",    P "/whoami",                            "whoami",           get_whoami,       NULL,                          NULL,             200, "obj",         "Who you are to the server",
     0,                                                                                                                                                                                                                           "self"                                 },
    {"GET",    P "/cluster",                           "get_cluster",      get_cluster,      NULL,                          NULL,             200, "obj",
     "Devices, nodes and workloads in numbers",                                                                                                                                                                   0,              "read clusters-minimal at cluster"     },
    {"GET",    P "/plan",                              "get_plan",         get_plan,         "format 'yaml'|'json' = yaml", NULL,             200, "obj",
     "The plan in force, as a file",                                                                                                                                                                              0,              PLAN_READ                              },
    {"POST",   P "/plan/check",                        "check_plan",       check_plan,       PLAN_ARGS,                     NULL,             200, "PlanCheck",
     "Problems of a plan, against the hardware and what is held",                                                                                                                                                 ROUTE_RAW_BODY, PLAN_READ                              },
    {"POST",   P "/plan/diff",                         "diff_plan",        diff_plan,        PLAN_ARGS,                     NULL,             200, "PlanDiff",
     "What applying a plan would change",                                                                                                                                                                         ROUTE_RAW_BODY, PLAN_READ                              },
    {"POST",   P "/plan/apply",                        "apply_plan",       apply_plan,       PLAN_ARGS,                     NULL,             200, "PlanApplied",
     "Apply a plan, all or nothing",                                                                                                                                                                              ROUTE_RAW_BODY, PLAN_CHANGE                            },
    {"GET",    P "/departments",                       "list_departments", get_departments,  NULL,                          NULL,             200, "Items",
     "Departments with what they may and hold",                                                                                                                                                                   0,              "read department"                      },
    {"GET",    P "/departments/{name}",                "show_department",  get_department,   NULL,                          NULL,             200, "obj",
     "One department",                                                                                                                                                                                            0,              "read department at department name"   },
    {"GET",    P "/projects",                          "list_projects",    get_projects,     NULL,                          NULL,             200, "Items",
     "Projects with what they may and hold",                                                                                                                                                                      0,              "read project"                         },
    {"GET",    P "/projects/{name}",                   "show_project",     get_project,      NULL,                          NULL,             200, "obj",
     "One project",                                                                                                                                                                                               0,              "read project at project name"         },
    {"GET",    P "/nodepools",                         "list_nodepools",   get_pools,        NULL,                          NULL,             200, "Items",       "Node pools",                                   0,
     "read nodepools-minimal at cluster"                                                                                                                                                                                                                                 },
    {"GET",    P "/nodepools/{name}",                  "show_nodepool",    get_pool,         NULL,                          NULL,             200, "obj",
     "One node pool with its queues",                                                                                                                                                                             0,              "read nodepools-minimal at cluster"    },
    {"GET",    P "/nodes",                             "list_nodes",       get_nodes,        NULL,                          NULL,             200, "Items",
     "Nodes with their devices",                                                                                                                                                                                  0,              "read nodes at cluster"                },
    {"GET",    P "/nodes/{name}",                      "show_node",        get_node,         NULL,                          NULL,             200, "obj",         "One node",                                     0,
     "read nodes at cluster"                                                                                                                                                                                                                                             },
    {"POST",   P "/nodes/{name}/drain",                "drain_node",       drain_node,       NULL,                          "Drain",          200, "obj",
     "Close a node, or a device of it, for new work and move what runs there",                                                                                                                                    0,
     "update nodes at cluster"                                                                                                                                                                                                                                           },
    {"POST",   P "/nodes/{name}/undrain",              "undrain_node",     undrain_node,     NULL,                          "Undrain",        200, "obj",
     "Open it again",                                                                                                                                                                                             0,              "update nodes at cluster"              },
    {"GET",    P "/ownership",                         "get_ownership",    get_ownership,    NULL,                          NULL,             200, "Ownership",
     "Whether workloads are protected from other people than their owner",                                                                                                                                        0,              "self"                                 },
    {"PUT",    P "/ownership",                         "set_ownership",    set_ownership,    NULL,                          "Ownership",      200, "Ownership",
     "Protect them, or do not",                                                                                                                                                                                   0,              "update cluster-config at cluster"     },
    {"GET",    P "/workloads",                         "list_workloads",   get_workloads,    WORKLOAD_ARGS,                 NULL,             200, "Items",
     "Workloads, a page at a time",                                                                                                                                                                               0,              "read workloads"                       },
    {"POST",   P "/workloads",                         "submit_workload",  post_workload,    NULL,                          "WeirSubmission", 201, "obj",
     "Submit a workload",                                                                                                                                                                                         0,              "create workloads at project project"  },
    {"GET",    P "/audit",                             "show_audit",       get_audit,        AUDIT_ARGS,                    NULL,             200, "Items",
     "Who did what, and who was refused what, the newest first",                                                                                                                                                  0,              "read events-history"                  },
    {"GET",    P "/workloads/watch",                   "watch_workloads",  watch_workloads,  "project str",                 NULL,             200,
     NULL,                                                                                                                                                        "Workloads as they change, a stream of events", ROUTE_STREAM,   "read workloads"                       },
    {"GET",    P "/workloads/{workload}",              "show_workload",    get_workload,     NULL,                          NULL,             200, "obj",
     "One workload with its events",                                                                                                                                                                              0,              "read workloads at workload workload"  },
    {"DELETE", P "/workloads/{workload}",              "delete_workload",  delete_workload,  NULL,                          NULL,             200,
     "obj",                                                                                                                                                       "Stop and delete a workload",                   0,              "delete workloads at workload workload"},
    {"POST",   P "/workloads/{workload}/suspend",      "suspend_workload", suspend_workload, NULL,                          NULL,
     200,                                                                                                                                          "obj",         "Stop a workload, to be resumed",               0,              "update workloads at workload workload"},
    {"POST",   P "/workloads/{workload}/resume",       "resume_workload",  resume_workload,  NULL,                          NULL,             200,
     "obj",                                                                                                                                                       "Let a suspended workload start again",         0,              "update workloads at workload workload"},
    {"GET",    P "/workloads/{workload}/why",          "why",              get_why,          NULL,                          NULL,             200, "obj",
     "Why it waits, runs or was stopped",                                                                                                                                                                         0,              "read workloads at workload workload"  },
    {"GET",    P "/workloads/{workload}/logs",         "logs",             get_logs,         LOG_ARGS,                      NULL,             200, NULL,
     "Output of one of its pods",                                                                                                                                                                                 ROUTE_STREAM,   "read workloads at workload workload"  },
    {"GET",    P "/workloads/{workload}/exec",         "exec",             get_exec,         "cmd* any, tty bool, pod str", NULL,
     101,                                                                                                                                          NULL,          "Run a command in one of its pods (WebSocket)", ROUTE_STREAM,
     "update workloads at workload workload"                                                                                                                                                                                                                             },
    {"GET",    P "/workloads/{workload}/port-forward", "port_forward",     get_port_forward,
     "port* int(1..65535), pod str",                                                                                        NULL,             101, NULL,
     "Connect to a port that one of its pods listens on (WebSocket)",                                                                                                                                             ROUTE_STREAM,
     "update workloads at workload workload"                                                                                                                                                                                                                             },
};

const struct route_group group_weir = ROUTE_GROUP("weir", routes, schemas);

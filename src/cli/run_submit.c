// SPDX-License-Identifier: Apache-2.0
// run_submit: flags to the body of POST /workloads. What a value may be in this cluster the server
// says; here only what the command line itself can tell.
#include "cli/run.h"

#include <unistd.h>

#include "cli/cli.h"
#include "cli/listing.h"
#include "cli/live.h"
#include "cli/view.h"
#include "cli/workload.h"
#include "codec/json.h"

enum { BODY_BYTES_MAX = 4 << 20, DECIMAL_SCALE = 6 };

static void text_member(struct jw *w, struct str key, struct str value)
{
    if (value.len > 0) {
        jw_member_string(w, key, value);
    }
}

static void number_member(struct jw *w, const struct args *args, struct str key, const char *flag)
{
    const struct arg *a = args_find(args, flag);
    if (a != NULL) {
        jw_member_i64(w, key, a->number);
    }
}

static void decimal_member(struct jw *w, const struct args *args, struct str key, const char *flag)
{
    const struct arg *a = args_find(args, flag);
    if (a != NULL) {
        jw_key(w, key);
        jw_decimal(w, a->number, DECIMAL_SCALE);
    }
}

static struct str name_of(const struct arg *pair)
{
    return str_sub(pair->text, 0, str_find(pair->text, '='));
}

// NAME=VALUE flags as an object; of a name given twice the last counts.
static void pairs_member(struct jw *w, const struct args *args, struct str key, const char *flag)
{
    uint32_t at = 0;
    if (args_find(args, flag) == NULL) {
        return;
    }
    jw_key(w, key);
    jw_object_begin(w);
    for (const struct arg *a; (a = args_next(args, flag, &at)) != NULL;) {
        bool last = true;
        uint32_t later = at;
        for (const struct arg *b; (b = args_next(args, flag, &later)) != NULL;) {
            last = last && !str_eq(name_of(a), name_of(b));
        }
        if (last) {
            struct str name = name_of(a);
            jw_member_string(w, name, str_sub(a->text, name.len + 1, a->text.len));
        }
    }
    jw_object_end(w);
}

/* ---- secrets ---- */

/* A variable and where its secret is. */
struct variable {
    struct str name, credential, key;
};

// The value of KEY=VALUE among parts separated by commas; "" where it is not.
static struct str part_of(struct str parts, const char *key)
{
    struct str part;
    while (str_split(&parts, ',', &part)) {
        uint32_t eq = str_find(part, '=');
        if (eq < part.len && str_eq(str_sub(part, 0, eq), str_from_c(key))) {
            return str_sub(part, eq + 1, part.len);
        }
    }
    return STR("");
}

// NAME=CREDENTIAL[,key=KEY], or of one's own: name=NAME,credential-name=CREDENTIAL[,key=KEY].
static bool read_variable(const struct arg *a, bool own, struct variable *v)
{
    v->key = part_of(a->text, "key");
    if (own) {
        v->name = part_of(a->text, "name");
        v->credential = part_of(a->text, "credential-name");
    } else {
        v->name = name_of(a);
        struct str rest = str_sub(a->text, v->name.len + 1, a->text.len);
        v->credential = str_sub(rest, 0, str_find(rest, ','));
    }
    return v->name.len > 0 && v->credential.len > 0;
}

/* [own] */
static const char *const secret_flags[] = {"env-secret", "env-my-credentials"};
static const char *const secret_forms[] = {"VARIABLE=CREDENTIAL,key=KEY",
                                           "name=VARIABLE,credential-name=NAME,key=KEY"};

static enum status check_secrets(const struct args *args, struct err *err)
{
    for (int own = 0; own < 2; own++) {
        uint32_t at = 0;
        struct variable v;
        for (const struct arg *a; (a = args_next(args, secret_flags[own], &at)) != NULL;) {
            if (!read_variable(a, own == 1, &v)) {
                enum status s = err_set(err, STATUS_INVALID, "expected %s, got \"" STR_FMT "\"",
                                        secret_forms[own], STR_ARG(a->text));
                err_field(err, "--%s", a->flag->name);
                return s;
            }
        }
    }
    return STATUS_OK;
}

static void secrets_member(struct jw *w, const struct args *args)
{
    jw_key(w, STR("env_secrets"));
    jw_object_begin(w);
    for (int own = 0; own < 2; own++) {
        uint32_t at = 0;
        struct variable v;
        for (const struct arg *a; (a = args_next(args, secret_flags[own], &at)) != NULL;) {
            if (read_variable(a, own == 1, &v)) {
                jw_key(w, v.name);
                jw_object_begin(w);
                jw_member_string(w, STR("credential"), v.credential);
                text_member(w, STR("key"), v.key);
                jw_member_bool(w, STR("own"), own == 1);
                jw_object_end(w);
            }
        }
    }
    jw_object_end(w);
}

static void list_member(struct jw *w, struct str key, const struct str *items, uint32_t count)
{
    if (count == 0) {
        return;
    }
    jw_key(w, key);
    jw_array_begin(w);
    for (uint32_t i = 0; i < count; i++) {
        jw_string(w, items[i]);
    }
    jw_array_end(w);
}

static void pools_member(struct jw *w, const struct args *args)
{
    uint32_t at = 0;
    if (args_find(args, "node-pools") == NULL) {
        return;
    }
    jw_key(w, STR("pools"));
    jw_array_begin(w);
    for (const struct arg *a; (a = args_next(args, "node-pools", &at)) != NULL;) {
        jw_string(w, a->text);
    }
    jw_array_end(w);
}

static struct str restart_word(struct str flag)
{
    if (str_eq(flag, STR("Always"))) {
        return STR("always");
    }
    if (str_eq(flag, STR("OnFailure"))) {
        return STR("on-failure");
    }
    return str_eq(flag, STR("Never")) ? STR("never") : STR("");
}

static bool has_flag(const struct args *args, const char *name)
{
    return command_flag(args->command, str_from_c(name), 0) != NULL;
}

static int64_t number_of(const struct args *args, const char *name, int64_t otherwise)
{
    return has_flag(args, name) ? args_number(args, name, otherwise) : otherwise;
}

// How many pods, and how many of them together.
static void write_pods(struct jw *w, const struct args *args)
{
    if (has_flag(args, "workers")) {
        int64_t workers = args_number(args, "workers", 1);
        int64_t master = has_flag(args, "no-master") && args_has(args, "no-master") ? 0 : 1;
        workers = args_find(args, "workers") != NULL ? workers
                                                     : number_of(args, "min-replicas", workers);
        jw_member_i64(w, STR("pods"), number_of(args, "max-replicas", workers) + master);
        jw_member_i64(w, STR("pods_min"), number_of(args, "min-replicas", workers) + master);
        jw_member_string(w, STR("framework"),
                         str_from_c(workload_family(args->command)->framework));
    } else if (has_flag(args, "min-replicas")) {
        jw_member_i64(w, STR("pods"), args_number(args, "min-replicas", 1));
    } else if (has_flag(args, "runs") && args_find(args, "runs") != NULL) {
        int64_t runs = args_number(args, "runs", 1), at_once = args_number(args, "parallelism", 1);
        jw_member_i64(w, STR("pods"), runs);
        jw_member_i64(w, STR("parallel_max"), at_once < runs ? at_once : runs);
        number_member(w, args, STR("pods_min"), "min-pods");
    } else if (has_flag(args, "parallelism")) {
        number_member(w, args, STR("pods"), "parallelism");
        number_member(w, args, STR("pods_min"), "min-pods");
    }
}

static void write_spec(struct jw *w, const struct args *args)
{
    jw_object_begin(w);
    text_member(w, STR("image"), args_text(args, "image"));
    list_member(w, STR("command"), args->tail, args->tail_count);
    if (args_has(args, "command")) {
        jw_member_bool(w, STR("args_are_command"), true);
    }
    pairs_member(w, args, STR("env"), "environment-variable");
    secrets_member(w, args);
    text_member(w, STR("working_dir"), args_text(args, "working-dir"));
    if (args_has(args, "run-as-user")) {
        jw_member_i64(w, STR("run_as_uid"), (int64_t)getuid());
        jw_member_i64(w, STR("run_as_gid"), (int64_t)getgid());
    } else {
        number_member(w, args, STR("run_as_uid"), "run-as-uid");
        number_member(w, args, STR("run_as_gid"), "run-as-gid");
    }
    number_member(w, args, STR("gpu_devices"), "gpu-devices-request");
    decimal_member(w, args, STR("gpu_portion"), "gpu-portion-request");
    number_member(w, args, STR("gpu_memory"), "gpu-memory-request");
    decimal_member(w, args, STR("cpu"), "cpu-core-request");
    decimal_member(w, args, STR("cpu_limit"), "cpu-core-limit");
    number_member(w, args, STR("memory"), "cpu-memory-request");
    number_member(w, args, STR("memory_limit"), "cpu-memory-limit");
    number_member(w, args, STR("grace_ms"), "termination-grace-period");
    if (args_has(args, "single-numa")) {
        jw_member_bool(w, STR("single_numa"), true);
    }
    write_pods(w, args);
    number_member(w, args, STR("min_available"), "min-available");
    text_member(w, STR("priority"), args_text(args, "priority"));
    text_member(w, STR("preemptibility"), args_text(args, "preemptibility"));
    pools_member(w, args);
    text_member(w, STR("node_type"), args_text(args, "node-type"));
    pairs_member(w, args, STR("labels"), "label");
    pairs_member(w, args, STR("annotations"), "annotation");
    text_member(w, STR("restart"), restart_word(args_text(args, "restart-policy")));
    number_member(w, args, STR("backoff_limit"), "backoff-limit");
    number_member(w, args, STR("auto_delete_ms"), "auto-deletion-time-after-completion");
    jw_object_end(w);
}

static bool has_assets(const struct args *args)
{
    return args_has(args, "environment") || args_has(args, "compute") ||
           args_has(args, "datasource");
}

static bool is_host(struct str image)
{
    return image.len == 0 || str_eq(image, STR("host"));
}

static enum status check_replicas(const struct args *args, struct err *err)
{
    bool distributed = has_flag(args, "workers");
    if (!has_flag(args, "max-replicas")) {
        return STATUS_OK;
    }
    int64_t least = args_number(args, "min-replicas", 1);
    int64_t most = args_number(args, "max-replicas", INT64_MAX);
    int64_t workers = distributed ? args_number(args, "workers", least) : least;
    enum status s = STATUS_OK;
    if (!distributed && most != INT64_MAX && least != most) {
        s = err_set(err, STATUS_UNSUPPORTED, "weir does not scale by load yet");
        err_hint(err, "give --min-replicas and --max-replicas the same number");
    } else if (least > most || workers > most ||
               (args_find(args, "min-replicas") != NULL && workers < least)) {
        s = err_set(err, STATUS_INVALID, "--min-replicas, --workers and --max-replicas go upwards");
    }
    if (s != STATUS_OK) {
        err_field(err, "--max-replicas");
    }
    return s;
}

// What the command line alone shows to be wrong.
static enum status check(const struct cli *cli, const struct args *args, struct err *err)
{
    bool prefix = args_has(args, "name-prefix");
    struct str type = args_text(args, "gpu-request-type");
    const char *wanted = str_eq(type, STR("memory")) ? "gpu-memory-request" : "gpu-portion-request";
    enum status s = STATUS_OK;
    if (prefix && args->words_count > 0) {
        s = err_set(err, STATUS_INVALID, "a name and --name-prefix, which one counts?");
        err_hint(err, "leave one of them out");
    } else if (!prefix && args->words_count == 0) {
        s = err_set(err, STATUS_INVALID, "the workload has no name");
        err_hint(err, "usage: weir %s NAME [flags] [-- COMMAND...], or --name-prefix PREFIX",
                 args->command->path);
    } else if (cli_project(cli, args).len == 0) {
        s = err_set(err, STATUS_INVALID, "in which project?");
        err_field(err, "--project");
        err_hint(err, "give -p PROJECT, or choose one with weir project set NAME");
    } else if (args_has(args, "command") && args->tail_count == 0) {
        s = err_set(err, STATUS_INVALID, "there is no command behind --");
        err_field(err, "--command");
        err_hint(err, "for instance: --command -- sleep 600");
    } else if (type.len > 0 && !args_has(args, wanted)) {
        s = err_set(err, STATUS_INVALID, STR_FMT " needs --%s", STR_ARG(type), wanted);
        err_field(err, "--gpu-request-type");
    } else if (args_has(args, "run-as-user") &&
               (args_has(args, "run-as-uid") || args_has(args, "run-as-gid"))) {
        s = err_set(err, STATUS_INVALID,
                    "--run-as-user is your own user and group; leave "
                    "--run-as-uid and --run-as-gid out");
    } else if (args->tail_count == 0 && is_host(args_text(args, "image")) &&
               !args_has(args, "environment") && !args_has(args, "template")) {
        s = err_set(err, STATUS_INVALID, "the command to run is missing");
        err_hint(err, "put it behind --, for instance: -- sleep 600");
    }
    s = s == STATUS_OK ? check_secrets(args, err) : s;
    return s == STATUS_OK ? check_replicas(args, err) : s;
}

// What is named of the assets that are kept.
static void assets_member(struct jw *w, const struct args *args)
{
    uint32_t at = 0;
    jw_key(w, STR("assets"));
    jw_object_begin(w);
    text_member(w, STR("environment"), args_text(args, "environment"));
    text_member(w, STR("compute"), args_text(args, "compute"));
    jw_key(w, STR("datasources"));
    jw_array_begin(w);
    for (const struct arg *a; (a = args_next(args, "datasource", &at)) != NULL;) {
        struct str name = part_of(a->text, "name");
        jw_string(w, name.len > 0 ? name : a->text);
    }
    jw_array_end(w);
    jw_object_end(w);
}

static void write_body(struct cli *cli, const struct args *args, struct buf *body)
{
    struct jw w;
    jw_init(&w, body, false);
    jw_object_begin(&w);
    if (args->words_count > 0) {
        jw_member_string(&w, STR("name"), args->words[0]);
    } else {
        jw_member_string(&w, STR("name_prefix"), args_text(args, "name-prefix"));
    }
    jw_member_string(&w, STR("project"), cli_project(cli, args));
    jw_member_string(&w, STR("kind"), str_from_c(workload_family(args->command)->kind));
    text_member(&w, STR("template"), args_text(args, "template"));
    if (has_assets(args)) {
        assets_member(&w, args);
    }
    jw_key(&w, STR("spec"));
    write_spec(&w, args);
    jw_object_end(&w);
}

// The server names members of the body; where one came from a flag the user knows it by that.
static void name_flag(const struct args *args, struct err *err)
{
    static const struct {
        struct str member;
        const char *flag;
    } rows[] = {
        {STRS("image"),              "image"                              },
        {STRS("env"),                "environment-variable"               },
        {STRS("template"),           "template"                           },
        {STRS("environment"),        "environment"                        },
        {STRS("compute"),            "compute"                            },
        {STRS("datasources"),        "datasource"                         },
        {STRS("env_secrets"),        "env-secret"                         },
        {STRS("env_secrets"),        "env-my-credentials"                 },
        {STRS("working_dir"),        "working-dir"                        },
        {STRS("run_as_uid"),         "run-as-uid"                         },
        {STRS("run_as_gid"),         "run-as-gid"                         },
        {STRS("gpu_devices"),        "gpu-devices-request"                },
        {STRS("gpu_portion"),        "gpu-portion-request"                },
        {STRS("gpu_portion_share"),  "gpu-portion-request"                },
        {STRS("gpu_memory"),         "gpu-memory-request"                 },
        {STRS("gpu_memory_bytes"),   "gpu-memory-request"                 },
        {STRS("cpu"),                "cpu-core-request"                   },
        {STRS("cpu_milli"),          "cpu-core-request"                   },
        {STRS("cpu_limit"),          "cpu-core-limit"                     },
        {STRS("cpu_limit_milli"),    "cpu-core-limit"                     },
        {STRS("memory"),             "cpu-memory-request"                 },
        {STRS("memory_bytes"),       "cpu-memory-request"                 },
        {STRS("memory_limit"),       "cpu-memory-limit"                   },
        {STRS("memory_limit_bytes"), "cpu-memory-limit"                   },
        {STRS("grace_ms"),           "termination-grace-period"           },
        {STRS("pods"),               "runs"                               },
        {STRS("pods"),               "parallelism"                        },
        {STRS("pods"),               "workers"                            },
        {STRS("parallel_max"),       "parallelism"                        },
        {STRS("pods_min"),           "min-pods"                           },
        {STRS("min_available"),      "min-available"                      },
        {STRS("priority"),           "priority"                           },
        {STRS("preemptibility"),     "preemptibility"                     },
        {STRS("pools"),              "node-pools"                         },
        {STRS("labels"),             "label"                              },
        {STRS("annotations"),        "annotation"                         },
        {STRS("restart"),            "restart-policy"                     },
        {STRS("backoff_limit"),      "backoff-limit"                      },
        {STRS("auto_delete_ms"),     "auto-deletion-time-after-completion"},
        {STRS("name_prefix"),        "name-prefix"                        },
        {STRS("project"),            "project"                            },
    };
    struct str member = str_from_c(err->field);
    uint32_t dot = str_find(member, '.');
    struct str of = str_sub(member, 0, dot);
    if (str_eq(of, STR("spec")) || str_eq(of, STR("pod")) || str_eq(of, STR("assets"))) {
        member = str_sub(member, dot + 1, member.len);
    }
    member = str_sub(member, 0, str_find(member, '['));
    member = str_sub(member, 0, str_find(member, '.'));
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        if (str_eq(rows[i].member, member) && has_flag(args, rows[i].flag) &&
            args_has(args, rows[i].flag)) {
            err_field(err, "--%s", rows[i].flag);
            return;
        }
    }
}

static void say_submitted(struct cli *cli, const struct doc *d)
{
    struct str reason = workload_reason(&cli->arena, d);
    cli_say(cli, "%s" STR_FMT "%s submitted to project " STR_FMT ": %s" STR_FMT "%s%s" STR_FMT "\n",
            tint_begin(TINT_STRONG, cli->colour), STR_ARG(view_text(d, "name")),
            tint_end(cli->colour), STR_ARG(view_text(d, "project")),
            tint_begin(view_phase_tint(view_text(d, "phase")), cli->colour),
            STR_ARG(view_text(d, "phase")), tint_end(cli->colour),
            str_eq(reason, STR("-")) ? "" : ", ",
            STR_ARG(str_eq(reason, STR("-")) ? STR("") : reason));
}

int run_submit(struct cli *cli, const struct args *args)
{
    struct err err;
    struct answer answer;
    if (check(cli, args, &err) != STATUS_OK) {
        return cli_usage(cli, args, &err);
    }
    struct buf body;
    buf_init(&body, BODY_BYTES_MAX);
    write_body(cli, args, &body);
    struct request r = {.method = "POST",
                        .path = STR("/workloads"),
                        .type = "application/json",
                        .body = buf_view(&body)};
    enum status status = body.full
                             ? err_set(&err, STATUS_TOO_LARGE, "the workload is larger than 4 MiB")
                             : client_call(&cli->client, &r, &answer, &err);
    if (status != STATUS_OK) {
        const struct doc *said = body.full ? NULL : answer.body;
        buf_done(&body);
        name_flag(args, &err);
        return cli_fail(cli, &err, said);
    }
    buf_done(&body);
    int failed = 0;
    if (!listing_form(cli, args, answer.body, &failed)) {
        say_submitted(cli, answer.body);
    }
    if (failed || !args_has(args, "attach")) {
        return failed;
    }
    struct str words[] = {STR("workloads"), view_text(answer.body, "id")};
    fflush(stdout);
    return live_attach(cli, client_path(&cli->client, COUNT_OF(words), words), STR(""),
                       args_number(args, "pod-running-timeout", -1));
}

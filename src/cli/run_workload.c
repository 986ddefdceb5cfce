// SPDX-License-Identifier: Apache-2.0
// run_workload: workloads in lists and one by one; stopping, resuming and deleting them; why.
#include "cli/run.h"

#include <string.h>

#include "cli/listing.h"
#include "cli/view.h"
#include "cli/workload.h"
#include "io/clock.h"

enum { PAGE_SIZE = 500, PODS_SHOWN = 10, EVENTS_SHOWN = 50 };

/* The list. */

static struct str list_query(struct cli *cli, const struct args *args)
{
    struct str path = STR("/workloads");
    struct str project = args_has(args, "all") ? args_text(args, "project")
                                               : cli_project(cli, args);
    if (project.len > 0) {
        path = client_query(&cli->client, path, "project", project);
    }
    if (args_has(args, "status")) {
        path = client_query(&cli->client, path, "phase", args_text(args, "status"));
    }
    const struct family *family = workload_family(args->command);
    if (family->kind[0] != '\0') {
        return workload_of_family(cli, family, path);
    }
    struct str kind = args_text(args, "type");
    struct str framework = args_text(args, "framework");
    path = kind.len > 0 ? client_query(&cli->client, path, "kind", kind) : path;
    return framework.len > 0 ? client_query(&cli->client, path, "framework", framework) : path;
}

// Fetches page by page; the pages' items become one list.
static int fetch_all(struct cli *cli, const struct args *args, struct doc *all)
{
    int64_t max = args_number(args, "max-items", INT64_MAX);
    int64_t page = args_number(args, "page-size", PAGE_SIZE);
    struct doc **end = &all->child;
    *all = (struct doc){.kind = DOC_LIST};
    for (;;) {
        struct answer answer;
        int64_t left = max - all->child_count, wanted = left < page ? left : page;
        struct str path = list_query(cli, args);
        path = client_query(&cli->client, path, "limit",
                            arena_printf(&cli->arena, "%lld", (long long)wanted));
        path = client_query(&cli->client, path, "offset",
                            arena_printf(&cli->arena, "%u", all->child_count));
        int failed = listing_get(cli, path, &answer);
        if (failed) {
            return failed;
        }
        uint32_t got = 0;
        for (const struct doc *d = listing_items(answer.body)->child; d != NULL; d = d->next) {
            struct doc *copy = ARENA_NEW(&cli->arena, struct doc);
            *copy = *d;
            copy->next = NULL;
            *end = copy;
            end = &copy->next;
            all->child_count++;
            got++;
        }
        if (got == 0 || all->child_count >= max ||
            all->child_count >= view_i64(answer.body, "total", 0)) {
            return 0;
        }
    }
}

int run_workload_list(struct cli *cli, const struct args *args)
{
    struct doc all;
    struct table t;
    int failed = fetch_all(cli, args, &all);
    if (!failed && all.child_count == 0 && args_has(args, "project")) {
        // Nothing there, or a project that does not exist?
        struct answer answer;
        const struct str path[] = {STR("projects"), args_text(args, "project")};
        failed = listing_get(cli, client_path(&cli->client, 2, path), &answer);
    }
    if (failed || listing_form(cli, args, &all, &failed)) {
        return failed;
    }
    failed = listing_begin(cli, args, "workload", workload_columns, WORKLOAD_COLUMNS, &t);
    if (failed) {
        return failed;
    }
    int64_t now = clock_wall_ms();
    for (const struct doc *d = all.child; d != NULL; d = d->next) {
        workload_row(&cli->arena, &t, d, now);
    }
    return listing_print(cli, &t);
}

/* The description. */

static bool section(const struct args *args, const char *name)
{
    return args_number(args, name, 1) != 0;
}

static void print_general(struct cli *cli, const struct doc *w)
{
    listing_title(cli, "General");
    listing_pair(cli, "Project",
                 arena_printf(&cli->arena, STR_FMT " (department " STR_FMT ")",
                              STR_ARG(view_text(w, "project")),
                              STR_ARG(view_text(w, "department"))));
    listing_pair(cli, "Type", view_text(w, "kind"));
    if (view_raw(w, "framework").len > 0) {
        listing_pair(cli, "Framework", view_text(w, "framework"));
    }
    listing_pair(cli, "Status", view_text(w, "phase"));
    if (view_raw(doc_get(w, STR("why")), "message").len > 0) {
        listing_pair(cli, "Reason", workload_reason(&cli->arena, w));
    }
    listing_pair(cli, "Priority",
                 arena_printf(&cli->arena, STR_FMT " (" STR_FMT "), " STR_FMT,
                              STR_ARG(view_text(w, "priority")),
                              STR_ARG(view_text(w, "priority_value")),
                              STR_ARG(view_text(w, "preemptibility"))));
    listing_pair(cli, "Author", view_text(w, "author"));
    listing_pair(cli, "Created", view_clock(&cli->arena, w, "created_at"));
    listing_pair(cli, "Started", view_clock(&cli->arena, w, "started_at"));
    listing_pair(cli, "Ended", view_clock(&cli->arena, w, "ended_at"));
    if (view_raw(w, "checkpoint_at").len > 0) {
        listing_pair(cli, "Work saved", view_clock(&cli->arena, w, "checkpoint_at"));
    }
    if (view_raw(w, "stops_at").len > 0) {
        listing_pair(cli, "Stops, by a rule", view_clock(&cli->arena, w, "stops_at"));
    }
    listing_pair(cli, "Pending, running",
                 arena_printf(&cli->arena, STR_FMT ", " STR_FMT,
                              STR_ARG(view_span(&cli->arena, view_i64(w, "pending_ms", 0))),
                              STR_ARG(view_span(&cli->arena, view_i64(w, "run_ms", 0)))));
    if (view_raw(w, "exit_code").len > 0) {
        listing_pair(cli, "Exit status", view_text(w, "exit_code"));
    }
    listing_pair(cli, "Id", view_text(w, "id"));
}

// "1 whole", "0.5 of one", "10 GiB of one", "none".
static struct str gpu_request(struct cli *cli, const struct doc *w)
{
    if (view_raw(w, "gpu_memory").len > 0) {
        return arena_printf(&cli->arena, STR_FMT " of one",
                            STR_ARG(view_bytes(&cli->arena, w, "gpu_memory")));
    }
    if (view_raw(w, "gpu_portion").len > 0) {
        return arena_printf(&cli->arena, STR_FMT " of one", STR_ARG(view_text(w, "gpu_portion")));
    }
    struct str devices = view_raw(w, "gpu_devices");
    return devices.len > 0 && !str_eq(devices, STR("0")) ? devices : STR("none");
}

// What its disruption budget says, to stand behind the other numbers of pods.
static const char *kept(struct cli *cli, const struct doc *w)
{
    return view_i64(w, "min_available", 0) == 0
               ? ""
               : arena_printf(&cli->arena, ", " STR_FMT " kept running",
                              STR_ARG(view_text(w, "min_available")))
                     .ptr;
}

static void print_compute(struct cli *cli, const struct doc *w)
{
    listing_title(cli, "Compute");
    listing_pair(cli, "Image", view_text(w, "image"));
    listing_pair(cli, "Command", view_command(&cli->arena, doc_get(w, STR("command"))));
    const struct doc *env = doc_get(w, STR("env"));
    for (const struct doc *e = env != NULL ? env->child : NULL; e != NULL; e = e->next) {
        listing_pair(
            cli, e == env->child ? "Environment" : "",
            arena_printf(&cli->arena, STR_FMT "=" STR_FMT, STR_ARG(e->key), STR_ARG(e->text)));
    }
    if (view_raw(w, "working_dir").len > 0) {
        listing_pair(cli, "Directory", view_text(w, "working_dir"));
    }
    const struct doc *pools = doc_get(w, STR("pools"));
    bool choice = pools != NULL && pools->child_count > 1 && view_raw(w, "pool").len > 0;
    listing_pair(cli, "Node pools",
                 arena_printf(&cli->arena, STR_FMT "%s" STR_FMT,
                              STR_ARG(view_join(&cli->arena, pools, ", ")),
                              choice ? "; now in " : "",
                              STR_ARG(choice ? view_raw(w, "pool") : STR(""))));
    listing_pair(cli, "GPUs",
                 arena_printf(&cli->arena, STR_FMT " a pod, " STR_FMT " held",
                              STR_ARG(gpu_request(cli, w)), STR_ARG(view_text(w, "gpus_held"))));
    listing_pair(cli, "CPU, memory",
                 arena_printf(&cli->arena, STR_FMT " cores, " STR_FMT " a pod",
                              STR_ARG(view_text(w, "cpu")),
                              STR_ARG(view_bytes(&cli->arena, w, "memory"))));
    listing_pair(cli, "Pods",
                 arena_printf(&cli->arena,
                              STR_FMT " running of " STR_FMT ", at least " STR_FMT " together%s",
                              STR_ARG(view_text(w, "pods_running")),
                              STR_ARG(view_text(w, "pods_wanted")),
                              STR_ARG(view_text(w, "pods_min")), kept(cli, w)));
    listing_pair(cli, "Restart",
                 arena_printf(&cli->arena, STR_FMT ", " STR_FMT " retries",
                              STR_ARG(view_text(w, "restart")),
                              STR_ARG(view_text(w, "backoff_limit"))));
}

static void print_pods(struct cli *cli, const struct doc *w, int64_t limit)
{
    enum {
        POD_ID,
        POD_STATUS,
        POD_NODE,
        POD_DEVICES,
        POD_ATTEMPT,
        POD_STARTED,
        POD_ENDED,
        POD_EXIT,
        POD_END
    };
    static const struct column columns[] = {
        {"id",      "POD",     0                          },
        {"status",  "STATUS",  0                          },
        {"node",    "NODE",    0                          },
        {"devices", "DEVICES", COLUMN_FLEX                },
        {"attempt", "ATTEMPT", COLUMN_RIGHT | COLUMN_SPARE},
        {"started", "STARTED", COLUMN_SPARE               },
        {"ended",   "ENDED",   COLUMN_SPARE               },
        {"exit",    "EXIT",    COLUMN_RIGHT | COLUMN_SPARE},
        {"end",     "END",     COLUMN_SPARE               },
    };
    const struct doc *pods = doc_get(w, STR("pods"));
    listing_title(cli, "Pods");
    if (pods == NULL || pods->child == NULL) {
        printf("  none\n");
        return;
    }
    struct table t;
    table_init(&t, &cli->arena, columns, COUNT_OF(columns));
    t.indent = 2;
    int64_t shown = 0;
    for (const struct doc *p = pods->child; p != NULL && (limit < 0 || shown < limit);
         p = p->next, shown++) {
        uint32_t at = table_row(&t, ROW_NONE);
        struct str phase = view_text(p, "phase");
        table_set(&t, at, POD_ID, view_text(p, "id"));
        table_set(&t, at, POD_STATUS, phase);
        table_tint(&t, at, POD_STATUS, view_phase_tint(phase));
        table_set(&t, at, POD_NODE, view_text(p, "node"));
        table_set(&t, at, POD_DEVICES, view_join(&cli->arena, doc_get(p, STR("devices")), ","));
        table_set(&t, at, POD_ATTEMPT, view_text(p, "attempt"));
        table_set(&t, at, POD_STARTED, view_clock(&cli->arena, p, "started_at"));
        table_set(&t, at, POD_ENDED, view_clock(&cli->arena, p, "ended_at"));
        table_set(&t, at, POD_EXIT, view_text(p, "exit_code"));
        table_set(&t, at, POD_END, view_text(p, "end_reason"));
    }
    listing_print(cli, &t);
    if (pods->child_count > shown) {
        printf("  and %lld more (--pod-limit -1 shows all)\n",
               (long long)(pods->child_count - shown));
    }
}

static void print_events(struct cli *cli, const struct doc *w, int64_t limit, bool newest_first)
{
    enum { EVENT_AT, EVENT_KIND, EVENT_TEXT, EVENT_AUTHOR };
    static const struct column columns[] = {
        {"at",     "TIME",          0          },
        {"kind",   "EVENT",         0          },
        {"text",   "WHAT HAPPENED", COLUMN_FLEX},
        {"author", "BY",            0          },
    };
    const struct doc *events = doc_get(w, STR("events"));
    listing_title(cli, "Events");
    if (events == NULL || events->child == NULL) {
        printf("  none\n");
        return;
    }
    uint32_t count = events->child_count;
    uint32_t shown = limit < 0 || limit > count ? count : (uint32_t)limit;
    const struct doc **list = ARENA_ARRAY(&cli->arena, const struct doc *, count);
    uint32_t n = 0;
    for (const struct doc *e = events->child; e != NULL && n < count; e = e->next) {
        list[n++] = e;
    }
    struct table t;
    table_init(&t, &cli->arena, columns, COUNT_OF(columns));
    t.indent = 2;
    for (uint32_t i = 0; i < shown; i++) {
        const struct doc *e = newest_first ? list[n - 1 - i] : list[n - shown + i];
        uint32_t at = table_row(&t, ROW_NONE);
        struct str text = view_sentence(&cli->arena, view_raw(e, "message"));
        table_set(&t, at, EVENT_AT, view_clock(&cli->arena, e, "at"));
        table_set(&t, at, EVENT_KIND, view_text(e, "kind"));
        table_set(&t, at, EVENT_TEXT, text.len > 0 ? text : view_text(e, "text"));
        table_set(&t, at, EVENT_AUTHOR, view_text(e, "author"));
    }
    listing_print(cli, &t);
    if (shown < n) {
        printf("  and %u earlier (--event-limit -1 shows all)\n", n - shown);
    }
}

int run_workload_describe(struct cli *cli, const struct args *args)
{
    struct answer answer;
    struct str path;
    int failed = workload_path_one(cli, args, &path);
    failed = failed ? failed : listing_get(cli, path, &answer);
    if (failed || listing_form(cli, args, answer.body, &failed)) {
        return failed;
    }
    const struct doc *w = answer.body;
    struct str phase = view_text(w, "phase");
    printf("Workload %s" STR_FMT "%s  %s" STR_FMT "%s\n", tint_begin(TINT_STRONG, cli->colour),
           STR_ARG(view_text(w, "name")), tint_end(cli->colour),
           tint_begin(view_phase_tint(phase), cli->colour), STR_ARG(phase), tint_end(cli->colour));
    if (section(args, "general")) {
        print_general(cli, w);
    }
    if (section(args, "compute")) {
        print_compute(cli, w);
    }
    if (section(args, "pods")) {
        print_pods(cli, w, args_number(args, "pod-limit", PODS_SHOWN));
    }
    if (section(args, "events")) {
        print_events(cli, w, args_number(args, "event-limit", EVENTS_SHOWN),
                     str_eq(args_text(args, "sortEvents"), STR("desc")));
    }
    return 0;
}

/* Commands on one or several. */

static int each(struct cli *cli, const struct args *args, const char *method, const char *below,
                const char *done)
{
    if ((args->words_count == 0) != args_has(args, "uuid")) {
        struct str unused;
        return workload_path_one(cli, args, &unused); // says what is wrong
    }
    int worst = 0;
    for (uint32_t i = 0; i < args->words_count || (i == 0 && args->words_count == 0); i++) {
        struct str word = args->words_count > 0 ? args->words[i] : args_text(args, "uuid");
        struct str path;
        struct answer answer;
        struct err err;
        int failed = workload_path(cli, args, word, &path);
        if (!failed) {
            struct request r = {.method = method, .path = workload_below(cli, path, below)};
            client_next_key(&cli->client);
            if (client_call(&cli->client, &r, &answer, &err) != STATUS_OK) {
                failed = cli_fail(cli, &err, answer.body);
            } else {
                struct str name = view_raw(answer.body, "name");
                cli_say(cli, STR_FMT " %s (" STR_FMT ")\n", STR_ARG(name.len > 0 ? name : word),
                        done, STR_ARG(view_text(answer.body, "phase")));
            }
        }
        worst = failed ? failed : worst;
    }
    return worst;
}

int run_workload_suspend(struct cli *cli, const struct args *args)
{
    return each(cli, args, "POST", "/suspend", "suspended");
}

int run_workload_resume(struct cli *cli, const struct args *args)
{
    return each(cli, args, "POST", "/resume", "resumed");
}

int run_workload_delete(struct cli *cli, const struct args *args)
{
    bool asks = command_flag(args->command, STR("yes"), 0) != NULL && !args_has(args, "yes");
    if (asks && !cli_confirm("Stop and delete what is named?", true)) {
        struct err err;
        err_set(&err, STATUS_INVALID, "nothing was deleted");
        return cli_fail(cli, &err, NULL);
    }
    return each(cli, args, "DELETE", "", "deleted");
}

/* Why. */

// What a cause means, for a person; the names are those of model/reason.h.
static struct str cause_words(struct str code)
{
    static const struct {
        struct str code, words;
    } rows[] = {
        {STRS("Fits"),                    STRS("would do")                                         },
        {STRS("NodeNotReady"),            STRS("is not ready")                                     },
        {STRS("NoNumaZoneFits"),          STRS("has the room, but in no single NUMA node")         },
        {STRS("NodeUnschedulable"),       STRS("takes no new work")                                },
        {STRS("NodeSelectorMismatch"),    STRS("has not the labels asked for")                     },
        {STRS("TaintNotTolerated"),       STRS("is kept for work that tolerates its taint")        },
        {STRS("MigStrategyMismatch"),     STRS("divides its GPUs in another way")                  },
        {STRS("NoDevices"),               STRS("has no GPUs of the kind asked for")                },
        {STRS("WholeDevicesOnly"),        STRS("gives whole GPUs only")                            },
        {STRS("DeviceMemoryTooSmall"),    STRS("has GPUs with too little memory")                  },
        {STRS("DevicesUnhealthy"),        STRS("would do with all its GPUs healthy and open")      },
        {STRS("NodeTooSmall"),            STRS("would be too small even when empty")               },
        {STRS("PodSlotsUsed"),            STRS("runs as many pods as it may")                      },
        {STRS("CpuUsed"),                 STRS("has too little free CPU")                          },
        {STRS("MemoryUsed"),              STRS("has too little free memory")                       },
        {STRS("ExtendedResourceUsed"),    STRS("has too little left of another resource")          },
        {STRS("DevicesUsed"),             STRS("has too few free GPUs")                            },
        {STRS("DevicesFragmented"),       STRS("has enough in sum, but on no single GPU")          },
        {STRS("KeptForOther"),            STRS("keeps what is free for work that it was freed for")},
        {STRS("PodAffinityUnmet"),        STRS("does not run the pods it wants to be near")        },
        {STRS("PodAntiAffinityViolated"), STRS("runs pods it must not be near")                    },
        {STRS("OutsideTopologyDomain"),   STRS("lies outside the topology asked for")              },
        {STRS("QueueLimitOnNode"),        STRS("would take the project over a limit")              },
    };
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        if (str_eq(rows[i].code, code)) {
            return rows[i].words;
        }
    }
    return STR("-");
}

static void print_causes(struct cli *cli, const struct doc *nodes)
{
    enum { CAUSE_COUNT, CAUSE_CODE, CAUSE_WORDS };
    static const struct column columns[] = {
        {"count", "NODES",       COLUMN_RIGHT},
        {"code",  "CAUSE",       0           },
        {"words", "SUCH A NODE", COLUMN_FLEX },
    };
    if (nodes == NULL || nodes->child == NULL) {
        return;
    }
    struct table t;
    table_init(&t, &cli->arena, columns, COUNT_OF(columns));
    t.indent = 2;
    for (const struct doc *n = nodes->child; n != NULL; n = n->next) {
        uint32_t at = table_row(&t, ROW_NONE);
        table_set(&t, at, CAUSE_COUNT, view_text(n, "count"));
        table_set(&t, at, CAUSE_CODE, view_text(n, "code"));
        table_set(&t, at, CAUSE_WORDS, cause_words(view_raw(n, "code")));
    }
    listing_title(cli, "Nodes");
    listing_print(cli, &t);
}

int run_why(struct cli *cli, const struct args *args)
{
    struct answer answer;
    struct str path;
    int failed = workload_path_one(cli, args, &path);
    failed = failed ? failed : listing_get(cli, workload_below(cli, path, "/why"), &answer);
    if (failed || listing_form(cli, args, answer.body, &failed)) {
        return failed;
    }
    const struct doc *w = doc_get(answer.body, STR("workload"));
    const struct doc *why = doc_get(answer.body, STR("why"));
    const struct doc *story = doc_get(answer.body, STR("story"));
    struct str phase = view_text(w, "phase");
    printf("%s" STR_FMT "%s of " STR_FMT ": %s" STR_FMT "%s", tint_begin(TINT_STRONG, cli->colour),
           STR_ARG(view_text(w, "name")), tint_end(cli->colour), STR_ARG(view_text(w, "project")),
           tint_begin(view_phase_tint(phase), cli->colour), STR_ARG(phase), tint_end(cli->colour));
    if (view_i64(w, "place", 0) > 0) {
        printf(", place " STR_FMT " in the queue", STR_ARG(view_text(w, "place")));
    }
    printf("%s" STR_FMT "%s\n", view_raw(why, "code").len > 0 ? " (" : "",
           STR_ARG(view_raw(why, "code")), view_raw(why, "code").len > 0 ? ")" : "");
    for (const struct doc *s = story != NULL ? story->child : NULL; s != NULL; s = s->next) {
        struct buf line;
        buf_init(&line, 1 << 20);
        struct str sentence = view_sentence(&cli->arena, s->text);
        view_fold(&line, view_harmless(&cli->arena, sentence), 2, cli->width);
        printf("  " STR_FMT, STR_ARG(buf_view(&line)));
        buf_done(&line);
    }
    print_causes(cli, doc_get(why, STR("nodes")));
    return 0;
}

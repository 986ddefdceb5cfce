// SPDX-License-Identifier: Apache-2.0
// run_node: nodes and their devices, shown and closed for new work.
#include "cli/run.h"

#include "cli/listing.h"
#include "cli/view.h"
#include "codec/json.h"

enum node_column {
    N_NAME,
    N_POOL,
    N_STATUS,
    N_READY,
    N_GPUS,
    N_HELD,
    N_CPU,
    N_CPU_HELD,
    N_MEMORY,
    N_MEMORY_HELD,
    N_LABELS,
    N_REASON,
};
static const struct column node_columns[] = {
    {"name",        "NODE",        0                          },
    {"pool",        "NODE POOL",   0                          },
    {"status",      "STATUS",      0                          },
    {"ready",       "READY",       COLUMN_EXTRA               },
    {"gpus",        "GPUS",        COLUMN_RIGHT               },
    {"held",        "HELD",        COLUMN_RIGHT               },
    {"cpu",         "CPU",         COLUMN_RIGHT | COLUMN_SPARE},
    {"cpu-held",    "CPU HELD",    COLUMN_RIGHT | COLUMN_SPARE},
    {"memory",      "MEMORY",      COLUMN_RIGHT | COLUMN_SPARE},
    {"memory-held", "MEMORY HELD", COLUMN_RIGHT | COLUMN_SPARE},
    {"labels",      "LABELS",      COLUMN_FLEX | COLUMN_EXTRA },
    {"reason",      "REASON",      COLUMN_FLEX | COLUMN_EXTRA },
};

static struct str labels_text(struct cli *cli, const struct doc *labels, const char *sep)
{
    struct str s = STR("");
    for (const struct doc *d = labels != NULL ? labels->child : NULL; d != NULL; d = d->next) {
        s = arena_printf(&cli->arena, STR_FMT "%s" STR_FMT "=" STR_FMT, STR_ARG(s),
                         s.len > 0 ? sep : "", STR_ARG(d->key), STR_ARG(d->text));
    }
    return s.len > 0 ? s : STR("-");
}

// Of a node or a device.
static enum tint status_tint(const struct doc *d)
{
    struct str status = view_raw(d, "status");
    if (str_eq(status, STR("ready"))) {
        return TINT_GOOD;
    }
    return str_eq(status, STR("sick")) || str_eq(status, STR("not-ready")) ? TINT_BAD : TINT_WAIT;
}

// "draining since 2026-11-30 23:04:51 by root, deadline 2026-11-30 23:34:51: new cables (2 pods left)".
static struct str status_text(struct cli *cli, const struct doc *d)
{
    struct arena *a = &cli->arena;
    const struct doc *drain = doc_get(d, STR("drain"));
    struct str text = view_text(d, "status");
    if (view_raw(d, "fault").len > 0) {
        text = arena_printf(a, STR_FMT " (" STR_FMT ")", STR_ARG(text),
                            STR_ARG(view_raw(d, "fault")));
    }
    if (view_raw(drain, "since").len == 0) {
        return text;
    }
    text = arena_printf(a, STR_FMT " since " STR_FMT " by " STR_FMT, STR_ARG(text),
                        STR_ARG(view_clock(a, drain, "since")),
                        STR_ARG(view_text(drain, "author")));
    if (view_raw(drain, "deadline").len > 0) {
        text = arena_printf(a, STR_FMT ", deadline " STR_FMT, STR_ARG(text),
                            STR_ARG(view_clock(a, drain, "deadline")));
    }
    if (view_raw(drain, "reason").len > 0) {
        text = arena_printf(a, STR_FMT ": " STR_FMT, STR_ARG(text),
                            STR_ARG(view_raw(drain, "reason")));
    }
    int64_t left = view_i64(drain, "pods_left", 0);
    if (left > 0) {
        text = arena_printf(a, STR_FMT " (%lld %s left)", STR_ARG(text), (long long)left,
                            left == 1 ? "pod" : "pods");
    }
    return text;
}

int run_node_list(struct cli *cli, const struct args *args)
{
    struct answer answer;
    struct table t;
    int failed = listing_get(cli, STR("/nodes"), &answer);
    if (failed || listing_form(cli, args, listing_items(answer.body), &failed)) {
        return failed;
    }
    failed = listing_begin(cli, args, "node", node_columns, COUNT_OF(node_columns), &t);
    if (failed) {
        return failed;
    }
    for (const struct doc *d = listing_items(answer.body)->child; d != NULL; d = d->next) {
        uint32_t at = table_row(&t, ROW_NONE);
        table_set(&t, at, N_NAME, view_text(d, "name"));
        table_set(&t, at, N_POOL, view_text(d, "pool"));
        table_set(&t, at, N_READY, view_text(d, "ready"));
        table_set(&t, at, N_STATUS, view_text(d, "status"));
        table_tint(&t, at, N_STATUS, status_tint(d));
        table_set(&t, at, N_GPUS, view_text(d, "gpus"));
        table_set(&t, at, N_HELD, view_text(d, "gpus_held"));
        table_set(&t, at, N_CPU, view_text(d, "cpu"));
        table_set(&t, at, N_CPU_HELD, view_text(d, "cpu_held"));
        table_set(&t, at, N_MEMORY, view_bytes(&cli->arena, d, "memory"));
        table_set(&t, at, N_MEMORY_HELD, view_bytes(&cli->arena, d, "memory_held"));
        table_set(&t, at, N_LABELS, labels_text(cli, doc_get(d, STR("labels")), ","));
        table_set(&t, at, N_REASON, view_text(doc_get(d, STR("drain")), "reason"));
    }
    return listing_print(cli, &t);
}

enum device_column { D_INDEX, D_UUID, D_MODEL, D_MEMORY, D_NUMA, D_STATUS, D_HELD, D_BY };
static const struct column device_columns[] = {
    {"index",  "#",       COLUMN_RIGHT               },
    {"uuid",   "DEVICE",  0                          },
    {"model",  "MODEL",   COLUMN_SPARE               },
    {"memory", "MEMORY",  COLUMN_RIGHT | COLUMN_SPARE},
    {"numa",   "NUMA",    COLUMN_RIGHT | COLUMN_SPARE},
    {"status", "STATUS",  0                          },
    {"held",   "HELD",    COLUMN_RIGHT               },
    {"by",     "HELD BY", COLUMN_FLEX                },
};

static struct str holders(struct cli *cli, const struct doc *pods)
{
    struct str s = STR("");
    for (const struct doc *p = pods != NULL ? pods->child : NULL; p != NULL; p = p->next) {
        s = arena_printf(&cli->arena, STR_FMT "%s" STR_FMT "/" STR_FMT, STR_ARG(s),
                         s.len > 0 ? ", " : "", STR_ARG(view_text(p, "project")),
                         STR_ARG(view_text(p, "workload")));
        if (view_millionths(p, "share", 1000000) != 1000000) {
            s = arena_printf(&cli->arena, STR_FMT " (" STR_FMT ")", STR_ARG(s),
                             STR_ARG(view_text(p, "share")));
        }
    }
    return s.len > 0 ? s : STR("-");
}

static void print_devices(struct cli *cli, const struct doc *node)
{
    struct table t;
    const struct doc *devices = doc_get(node, STR("devices"));
    if (devices == NULL || devices->child == NULL) {
        return;
    }
    table_init(&t, &cli->arena, device_columns, COUNT_OF(device_columns));
    t.indent = 2;
    for (const struct doc *d = devices->child; d != NULL; d = d->next) {
        uint32_t at = table_row(&t, ROW_NONE);
        table_set(&t, at, D_INDEX, view_text(d, "index"));
        table_set(&t, at, D_UUID, view_text(d, "uuid"));
        table_set(&t, at, D_MODEL, view_text(d, "model"));
        table_set(&t, at, D_MEMORY, view_bytes(&cli->arena, d, "memory"));
        table_set(&t, at, D_NUMA,
                  view_i64(d, "numa_node", -1) < 0 ? STR("-") : view_text(d, "numa_node"));
        table_set(&t, at, D_STATUS, view_text(d, "status"));
        table_tint(&t, at, D_STATUS, status_tint(d));
        table_set(&t, at, D_HELD, view_text(d, "held"));
        table_set(&t, at, D_BY, holders(cli, doc_get(d, STR("pods"))));
    }
    listing_title(cli, "Devices");
    listing_print(cli, &t);
    for (const struct doc *d = devices->child; d != NULL; d = d->next) {
        bool drained = view_raw(doc_get(d, STR("drain")), "since").len > 0;
        if (drained || view_raw(d, "fault").len > 0) {
            listing_pair(
                cli,
                arena_printf(&cli->arena, "Device " STR_FMT, STR_ARG(view_text(d, "index"))).ptr,
                status_text(cli, d));
        }
    }
}

static void print_zones(struct cli *cli, const struct doc *node)
{
    const struct doc *zones = doc_get(node, STR("zones"));
    for (const struct doc *z = zones != NULL ? zones->child : NULL; z != NULL; z = z->next) {
        listing_pair(cli, z == zones->child ? "NUMA nodes" : "",
                     arena_printf(&cli->arena, STR_FMT ": CPUs " STR_FMT ", " STR_FMT,
                                  STR_ARG(view_text(z, "numa_node")), STR_ARG(view_text(z, "cpus")),
                                  STR_ARG(view_bytes(&cli->arena, z, "memory"))));
    }
}

int run_node_describe(struct cli *cli, const struct args *args)
{
    struct answer answer;
    int failed = listing_get_one(cli, "nodes", args->words[0], &answer);
    if (failed || listing_form(cli, args, answer.body, &failed)) {
        return failed;
    }
    const struct doc *d = answer.body;
    printf("Node %s" STR_FMT "%s\n", tint_begin(TINT_STRONG, cli->colour),
           STR_ARG(view_text(d, "name")), tint_end(cli->colour));
    listing_title(cli, "General");
    listing_pair(cli, "Node pool", view_text(d, "pool"));
    listing_pair(cli, "Status", status_text(cli, d));
    listing_pair(cli, "Labels", labels_text(cli, doc_get(d, STR("labels")), ", "));
    listing_pair(cli, "GPUs",
                 arena_printf(&cli->arena, STR_FMT ", " STR_FMT " held",
                              STR_ARG(view_text(d, "gpus")), STR_ARG(view_text(d, "gpus_held"))));
    listing_pair(cli, "CPU",
                 arena_printf(&cli->arena, STR_FMT " cores, " STR_FMT " held",
                              STR_ARG(view_text(d, "cpu")), STR_ARG(view_text(d, "cpu_held"))));
    listing_pair(cli, "Memory",
                 arena_printf(&cli->arena, STR_FMT ", " STR_FMT " held",
                              STR_ARG(view_bytes(&cli->arena, d, "memory")),
                              STR_ARG(view_bytes(&cli->arena, d, "memory_held"))));
    print_zones(cli, d);
    const struct doc *notes = doc_get(d, STR("notes"));
    for (const struct doc *n = notes != NULL ? notes->child : NULL; n != NULL; n = n->next) {
        listing_pair(cli, n == notes->child ? "Not enforced" : "", n->text);
    }
    print_devices(cli, d);
    return 0;
}

static void write_drain(const struct args *args, bool drains, struct buf *body)
{
    struct jw w;
    jw_init(&w, body, false);
    jw_object_begin(&w);
    if (args_has(args, "device")) {
        jw_member_string(&w, STR("device"), args_text(args, "device"));
    }
    if (drains) {
        bool moves = command_flag(args->command, STR("deadline"), 0) != NULL;
        jw_member_bool(&w, STR("moves"), moves);
        if (moves && args_find(args, "deadline") != NULL) {
            jw_member_i64(&w, STR("within_ms"), args_number(args, "deadline", 0));
        }
        jw_member_string(&w, STR("reason"), args_text(args, "reason"));
    }
    jw_object_end(&w);
}

// What is said of is the node, or the device that was named.
static const struct doc *named_part(const struct args *args, const struct doc *node)
{
    struct str named = args_text(args, "device");
    const struct doc *devices = doc_get(node, STR("devices"));
    for (const struct doc *d = devices != NULL ? devices->child : NULL; d != NULL; d = d->next) {
        if (named.len > 0 &&
            (str_eq(view_raw(d, "uuid"), named) || str_eq(view_raw(d, "index"), named))) {
            return d;
        }
    }
    return node;
}

static int change_node(struct cli *cli, const struct args *args, bool drains)
{
    struct str words[] = {STR("nodes"), args->words[0], drains ? STR("drain") : STR("undrain")};
    struct answer answer;
    struct err err;
    struct buf body;
    int failed = 0;
    buf_init(&body, 1 << 20);
    write_drain(args, drains, &body);
    struct request r = {.method = "POST",
                        .path = client_path(&cli->client, COUNT_OF(words), words),
                        .type = "application/json",
                        .body = buf_view(&body)};
    if (client_call(&cli->client, &r, &answer, &err) != STATUS_OK) {
        failed = cli_fail(cli, &err, answer.body);
    } else if (!listing_form(cli, args, answer.body, &failed)) {
        const struct doc *part = named_part(args, answer.body);
        cli_say(cli, STR_FMT "%s" STR_FMT " is " STR_FMT "\n",
                STR_ARG(view_text(answer.body, "name")), part != answer.body ? " device " : "",
                STR_ARG(part != answer.body ? view_text(part, "index") : STR("")),
                STR_ARG(status_text(cli, part)));
    }
    buf_done(&body);
    return failed;
}

int run_node_drain(struct cli *cli, const struct args *args)
{
    return change_node(cli, args, true);
}

int run_node_undrain(struct cli *cli, const struct args *args)
{
    return change_node(cli, args, false);
}

// SPDX-License-Identifier: Apache-2.0
// A table of sentences by code. In braces is what the reason carries:
//   {queue} {pool} {other}            names; {other} is "another workload" when none is known
//   {requested} {held} {bound}        amounts of the reason's resource, with the unit
//   {sum}                             what is held with what is requested on top
//   {requested#} {held#} {bound#}     the same fields as plain counts
//   {nodes}                           ": 3 nodes: not enough devices free; …", or nothing
//   {until}                           " until 2026-11-30T12:00:00.000Z", or nothing
// A second one by kind of remedy:
//   {queue} {pool} {node} {other}     names
//   {from} {to}                       amounts as the kind counts them
//   {at}                              2026-11-30T12:00:00.000Z
//   {holders}                         "job-1 and job-2"
//   {above}                           that queues above it rise as much, or nothing
#include "api/words.h"

#include <string.h>

#include "base/check.h"
#include "base/num.h"
#include "base/rfc3339.h"
#include "codec/duration.h"

static const char *const sentences[REASON_COUNT] = {
    [REASON_QUEUE_MISSING] = "Its project has no queue in node pool {pool}.",
    [REASON_QUEUE_NOT_LEAF] = "{queue} has others below it; work is submitted to those.",
    [REASON_GATED] = "It is held back{until}: it failed and waits before it is started again.",
    [REASON_PARALLELISM] =
        "The others of its pods follow when some are done: {bound#} run at a time.",
    [REASON_UPDATING] = "It is being updated: its pods start again once all of them have stopped.",
    [REASON_NOT_READY] = "{requested#} of the {bound#} pods it needs exist.",
    [REASON_OVER_LIMIT] =
        "It asks for {requested}; {queue} holds {held} in node pool {pool} and may "
        "hold at most {bound}.",
    [REASON_NON_PREEMPTIBLE_OVER_QUOTA] =
        "It is non-preemptible and asks for {requested}; {queue} holds {held} non-preemptibly in "
        "node pool {pool}, and non-preemptible work stays inside its guarantee of {bound}.",
    [REASON_NO_NODES] = "Node pool {pool} has no usable node{nodes}.",
    [REASON_NO_NODE_FITS] = "No node of node pool {pool} has {requested} free for a pod; the most "
                            "free on one is {bound}{nodes}.",
    [REASON_TOO_LARGE] = "A pod of it asks for {requested}; the largest node of node pool {pool} "
                         "has {bound}{nodes}.",
    [REASON_GANG_INCOMPLETE] =
        "{requested#} of its pods start together or not at all; {held#} find "
        "a place in node pool {pool}{nodes}.",
    [REASON_TOPOLOGY] = "No topology domain of node pool {pool} takes its {requested#} pods; the "
                        "best one takes {bound#}.",
    [REASON_TOPOLOGY_UNKNOWN] = "The topology it names does not exist in node pool {pool}.",
    [REASON_WAITING_FOR_RELEASE] = "Its place in node pool {pool} is still being left by {other}.",
    [REASON_WAITING_FOR_CLAIM] = "{other} was stopped for it in node pool {pool} and has not left "
                                 "yet.",
    [REASON_KEPT_FOR_OTHER] = "What is free in node pool {pool} is kept for {other}, for which it "
                              "was freed.",
    [REASON_BEHIND_IN_QUEUE] = "{other} was served before it in node pool {pool} and took what was "
                               "free{nodes}.",
    [REASON_DEPTH_REACHED] =
        "Only the first {bound#} waiting workloads of {queue} are looked at in "
        "one round; it is behind them.",
    [REASON_PREEMPTION_DELAY] = "It may not yet take from others{until}.",
    [REASON_FAIR_SHARE_REACHED] =
        "It asks for {requested}; with that {queue} would hold {sum} in node pool {pool}, above "
        "its fair share of {bound}, so it may not take from others.",
    [REASON_NO_VICTIMS] = "Nothing is free for it in node pool {pool}, and nothing there may be "
                          "stopped for it{nodes}.",
    [REASON_VICTIMS_PROTECTED] = "{other} could be stopped for it, but is inside its minimum run "
                                 "time{until}.",
    [REASON_VICTIMS_NOT_ENOUGH] = "Stopping all that may be stopped for it in node pool {pool} "
                                  "would not make room{nodes}.",
    [REASON_SEARCH_EXHAUSTED] = "The search for room in node pool {pool} ended at its bound of "
                                "{bound#} placements; it goes on in the next round.",
    [REASON_EVICTED_RECLAIM] =
        "It was stopped for {other}, whose queue is below its share; {queue} "
        "held {held} in node pool {pool}, its share there is {bound}.",
    [REASON_EVICTED_PREEMPT] =
        "It was stopped for {other} of the same project, which has a higher priority or lacks pods "
        "that it cannot do without.",
    [REASON_EVICTED_CONSOLIDATION] =
        "It was stopped to be moved, so that {other} finds room in one "
        "place.",
    [REASON_EVICTED_STALE] = "It was stopped: {held#} of the {requested#} pods that must run "
                             "together were running.",
    [REASON_PLACED] = "It has a place in node pool {pool}.",
    [REASON_PARTLY_PLACED] = "The minimum of its pods has a place in node pool {pool}; the others "
                             "wait{nodes}.",
    [REASON_LARGER_THAN_POOL] =
        "Its pods together ask for {requested}; all nodes of node pool {pool} "
        "have {bound}.",
    [REASON_VICTIMS_IN_BUDGET] =
        "{other} could be stopped for it, but its disruption budget allows "
        "no more of its pods to be down.",
    [REASON_EVICTED_DRAIN] = "It was stopped to be moved, because its node is being drained.",
    [REASON_EVICTED_DEVICE_DRAIN] =
        "It was stopped to be moved, because a device it used is being drained.",
    [REASON_EVICTED_DRAIN_DEADLINE] =
        "It was stopped, because the place it had is being drained and was to be free by now.",
    [REASON_EVICTED_DEVICE_LOST] =
        "It was stopped, because a device it used is gone or does not work any more.",
    [REASON_STOPPED_RUN_LIMIT] =
        "It was stopped, because its project lets it run no longer than {time}; it may be resumed.",
    [REASON_STOPPED_IDLE_LIMIT] = "It was stopped, because it used none of its GPUs for {time}, "
                                  "as long as its project allows; it may be resumed.",
    [REASON_RESERVED] = "It has waited so long that room is reserved for it in node pool {pool}; "
                        "what runs there keeps it waiting{until}.",
    [REASON_RESERVED_FOR_OTHER] =
        "What is free in node pool {pool} is reserved{until} for {other}, "
        "which has waited longest; only work that declares an earlier "
        "end goes there.",
};

static const char *const node_causes[NODE_REASON_COUNT] = {
    [NODE_REASON_FITS] = "would do",
    [NODE_REASON_NOT_READY] = "not ready",
    [NODE_REASON_CORDONED] = "closed for new work",
    [NODE_REASON_SELECTOR] = "labels do not match",
    [NODE_REASON_TAINT] = "taint not tolerated",
    [NODE_REASON_MIG_STRATEGY] = "another MIG strategy",
    [NODE_REASON_NO_DEVICES] = "no such devices",
    [NODE_REASON_NO_FRACTIONS] = "whole devices only",
    [NODE_REASON_DEVICES_SMALL] = "memory of its devices too small",
    [NODE_REASON_DEVICES_SICK] = "devices sick or closed for new work",
    [NODE_REASON_TOO_SMALL] = "too small even when empty",
    [NODE_REASON_PODS] = "no room for one more pod",
    [NODE_REASON_CPU] = "not enough CPU free",
    [NODE_REASON_MEMORY] = "not enough memory free",
    [NODE_REASON_EXTENDED] = "an extended resource is used up",
    [NODE_REASON_DEVICES] = "not enough devices free",
    [NODE_REASON_DEVICES_SPLIT] = "enough free, but in parts of several devices",
    [NODE_REASON_KEPT] = "free, but kept for another workload",
    [NODE_REASON_AFFINITY] = "the pods it wants to be near are not there",
    [NODE_REASON_ANTI_AFFINITY] = "a pod it must not be near is there",
    [NODE_REASON_TOPOLOGY] = "outside the topology domain",
    [NODE_REASON_QUEUE_LIMIT] = "its queue would pass a limit there",
    [NODE_REASON_NUMA] = "no single NUMA zone has the room",
};

bool words_has(enum reason_code code)
{
    return code == REASON_NONE || sentences[code] != NULL;
}

bool words_is_count(uint32_t code)
{
    return code < REASON_COUNT && sentences[code] != NULL && strchr(sentences[code], '#') != NULL;
}

static void add_decimal(int64_t thousandths, struct buf *out)
{
    buf_printf(out, "%lld", (long long)(thousandths / 1000));
    int64_t rest = thousandths % 1000;
    if (rest != 0) {
        char digits[4] = {(char)('0' + rest / 100), (char)('0' + rest / 10 % 10),
                          (char)('0' + rest % 10), '\0'};
        for (int i = 2; digits[i] == '0'; i--) {
            digits[i] = '\0';
        }
        buf_printf(out, ".%s", digits);
    }
}

void words_gpus(int64_t share, struct buf *out)
{
    add_decimal(share / DEVICE_SHARE * 1000 +
                    (share % DEVICE_SHARE * 1000 + DEVICE_SHARE / 2) / DEVICE_SHARE,
                out);
}

static void add_bytes(int64_t bytes, struct buf *out)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    int64_t scale = 1;
    while (unit + 1 < COUNT_OF(units) && bytes / 1024 >= scale) {
        scale *= 1024;
        unit++;
    }
    /* Two digits behind the point are enough to read; the exact number is in the field. */
    int64_t hundredths = bytes / scale * 100 + num_muldiv_floor(bytes % scale, 100, scale);
    add_decimal(hundredths * 10, out);
    buf_printf(out, " %s", units[unit]);
}

void words_amount(enum resource resource, int64_t amount, struct buf *out)
{
    if (amount < 0) {
        buf_str(out, STR("an unlimited amount"));
    } else if (resource == RES_GPU) {
        words_gpus(amount, out);
        buf_str(out, amount == DEVICE_SHARE ? STR(" GPU") : STR(" GPUs"));
    } else if (resource == RES_CPU) {
        add_decimal(amount, out);
        buf_str(out, amount == 1000 ? STR(" CPU core") : STR(" CPU cores"));
    } else {
        add_bytes(amount, out);
        buf_str(out, STR(" of memory"));
    }
}

static void add_nodes(const struct why *why, struct buf *out)
{
    for (uint32_t i = 0; i < why->nodes_count; i++) {
        const struct why_nodes *n = &why->nodes[i];
        if (n->code < NODE_REASON_COUNT) {
            buf_printf(out, "%s%u %s: %s", i == 0 ? " (" : "; ", n->count,
                       n->count == 1 ? "node" : "nodes", node_causes[n->code]);
        }
    }
    if (why->nodes_count > 0) {
        buf_char(out, ')');
    }
}

static void add_time(int64_t at_ms, struct buf *out)
{
    if (at_ms > 0) {
        char text[RFC3339_TEXT_SIZE];
        buf_str(out, STR(" until "));
        buf_str(out, rfc3339_format(at_ms, text));
    }
}

static void add_queue(const struct why *why, struct buf *out)
{
    if (why->queue.len == 0) {
        buf_str(out, STR("its queue"));
    } else {
        buf_printf(out, "%s " STR_FMT, why->queue_is_department ? "department" : "project",
                   STR_ARG(why->queue));
    }
}

static void add_field(const void *of, struct str name, struct buf *out)
{
    const struct why *why = of;
    const struct {
        struct str name;
        int64_t value;
    } numbers[] = {
        {STR("requested"), why->requested},
        {STR("held"), why->held},
        {STR("bound"), why->bound},
        {STR("sum"), num_sat_add_i64(why->held, why->requested)},
    };
    enum resource resource = why->resource < RES_COUNT ? (enum resource)why->resource : RES_GPU;
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        if (str_eq(name, numbers[i].name)) {
            words_amount(resource, numbers[i].value, out);
            return;
        }
        if (str_ends(name, STR("#")) && str_eq(str_sub(name, 0, name.len - 1), numbers[i].name)) {
            buf_printf(out, "%lld", (long long)numbers[i].value);
            return;
        }
    }
    if (str_eq(name, STR("queue"))) {
        add_queue(why, out);
    } else if (str_eq(name, STR("pool"))) {
        buf_str(out, why->pool);
    } else if (str_eq(name, STR("other"))) {
        buf_str(out, why->other_name.len != 0 ? why->other_name : STR("another workload"));
    } else if (str_eq(name, STR("nodes"))) {
        add_nodes(why, out);
    } else if (str_eq(name, STR("time"))) {
        char text[DURATION_TEXT_SIZE];
        buf_str(out, duration_format(why->bound, text));
    } else {
        CHECK(str_eq(name, STR("until")));
        add_time(why->until_ms, out);
    }
}

// Writes a sentence, its fields by `add`.
static void add_sentence(const char *sentence, const void *of,
                         void (*add)(const void *of, struct str name, struct buf *out),
                         struct buf *out)
{
    struct str rest = str_from_c(sentence);
    while (rest.len > 0) {
        uint32_t open = str_find(rest, '{');
        buf_str(out, str_sub(rest, 0, open));
        if (open == rest.len) {
            break;
        }
        uint32_t close = str_find(rest, '}');
        add(of, str_sub(rest, open + 1, close - open - 1), out);
        rest = str_sub(rest, close + 1, rest.len);
    }
}

void words_why(const struct why *why, struct buf *out)
{
    if (why->code == REASON_NONE) {
        return;
    }
    if (why->code >= REASON_COUNT) { /* of a newer weir's journal */
        buf_printf(out, "For a reason this weir does not know (code %u).", why->code);
        return;
    }
    size_t start = out->len;
    add_sentence(sentences[why->code], why, add_field, out);
    /* A sentence begins with a capital, unless with a workload's name, which has none. */
    if (!out->full && str_starts(str_from_c(sentences[why->code]), STR("{queue}"))) {
        char *first = &out->ptr[start];
        *first = (char)(*first >= 'a' && *first <= 'z' ? *first - 'a' + 'A' : *first);
    }
}

/* ---- what would start it ---- */

static const char *const remedies[REMEDY_COUNT] = {
    [REMEDY_WAIT] = "Nothing has to change: as things are, it gets its place at {at}{other}",
    [REMEDY_PREEMPTIBLE] = "It would start if it were preemptible",
    [REMEDY_SELECTOR] = "It would start if it did not insist on certain nodes",
    [REMEDY_TAINTS] = "It would start if it tolerated the taints of the nodes",
    [REMEDY_NUMA] = "It would start if it did not insist on a single NUMA zone",
    [REMEDY_AFFINITY] = "It would start if it did not insist on being near certain pods",
    [REMEDY_ANTI_AFFINITY] = "It would start if it did not keep away from certain pods",
    [REMEDY_TOPOLOGY] = "It would start if its pods might be in several topology domains",
    [REMEDY_PRIORITY] = "It would start with priority {to} instead of {from}",
    [REMEDY_DEVICES] = "It would start with {to} a pod instead of {from}",
    [REMEDY_SHARE] = "It would start with {to} of each GPU instead of {from}",
    [REMEDY_DEVICE_MEMORY] = "It would start with {to} of each GPU's memory instead of {from}",
    [REMEDY_CPU] = "It would start with {to} a pod instead of {from}",
    [REMEDY_MEMORY] = "It would start with {to} a pod instead of {from}",
    [REMEDY_MEMBERS] = "It would start if {to} of its pods were enough to begin with, instead of "
                       "{from}",
    [REMEDY_LIMIT] = "It would start if {queue} might hold {to} in node pool {pool} instead of "
                     "{from}{above}",
    [REMEDY_GUARANTEE] = "It would start if {queue} were guaranteed {to} in node pool {pool} "
                         "instead of {from}{above}",
    [REMEDY_NODE] = "It would start if node {node} were ready and open for new work",
    [REMEDY_HEAL] = "It would start if the devices of node {node} that are sick or closed were "
                    "healthy and open",
    [REMEDY_FREE] = "It would start if {to} of node {node}, held by {holders}, were free",
    [REMEDY_END] = "It would start if {other} ended",
};

static enum resource unit_of(const struct remedy *r)
{
    switch (r->kind) {
    case REMEDY_CPU:
        return RES_CPU;
    case REMEDY_MEMORY:
        return RES_MEMORY;
    case REMEDY_LIMIT:
    case REMEDY_GUARANTEE:
        return r->resource;
    case REMEDY_FREE:
    case REMEDY_DEVICES:
        return RES_GPU;
    case REMEDY_NONE:
    case REMEDY_WAIT:
    case REMEDY_PREEMPTIBLE:
    case REMEDY_SELECTOR:
    case REMEDY_TAINTS:
    case REMEDY_NUMA:
    case REMEDY_AFFINITY:
    case REMEDY_ANTI_AFFINITY:
    case REMEDY_TOPOLOGY:
    case REMEDY_PRIORITY:
    case REMEDY_SHARE:
    case REMEDY_DEVICE_MEMORY:
    case REMEDY_MEMBERS:
    case REMEDY_NODE:
    case REMEDY_HEAL:
    case REMEDY_END:
    case REMEDY_COUNT:
        break;
    }
    return RES_COUNT;
}

static void add_remedy_amount(const struct remedy *r, int64_t amount, struct buf *out)
{
    if (r->kind == REMEDY_SHARE) {
        words_gpus(amount, out);
    } else if (r->kind == REMEDY_DEVICE_MEMORY) {
        add_bytes(amount, out);
    } else if (unit_of(r) == RES_COUNT) {
        buf_printf(out, "%lld", (long long)amount);
    } else {
        bool devices = r->kind == REMEDY_FREE || r->kind == REMEDY_DEVICES;
        words_amount(unit_of(r), devices ? amount * DEVICE_SHARE : amount, out);
    }
}

static void add_holders(const struct remedy_told *told, struct buf *out)
{
    uint32_t count = told->holders_count + (told->holders_hidden > 0);
    for (uint32_t i = 0; i < count; i++) {
        buf_str(out, i == 0 ? STR("") : i + 1 == count ? STR(" and ") : STR(", "));
        if (i < told->holders_count) {
            buf_str(out, told->holders[i].name);
        } else {
            buf_printf(out, "%u other workload%s", told->holders_hidden,
                       told->holders_hidden == 1 ? "" : "s");
        }
    }
}

static void add_remedy_field(const void *of, struct str name, struct buf *out)
{
    const struct remedy_told *told = of;
    const struct remedy *r = &told->remedy;
    if (str_eq(name, STR("from"))) {
        add_remedy_amount(r, r->from, out);
    } else if (str_eq(name, STR("to"))) {
        add_remedy_amount(r, r->to, out);
    } else if (str_eq(name, STR("above"))) {
        if (r->path) {
            buf_str(out, STR(", and whatever is above it "));
            add_remedy_amount(r, r->to - r->from, out);
            buf_str(out, STR(" more"));
        }
    } else if (str_eq(name, STR("queue"))) {
        buf_printf(out, "%s " STR_FMT, told->queue_is_department ? "department" : "project",
                   STR_ARG(told->queue));
    } else if (str_eq(name, STR("pool"))) {
        buf_str(out, told->pool);
    } else if (str_eq(name, STR("node"))) {
        buf_str(out, told->node);
    } else if (str_eq(name, STR("holders"))) {
        add_holders(told, out);
    } else if (str_eq(name, STR("at"))) {
        char text[RFC3339_TEXT_SIZE];
        buf_str(out, rfc3339_format(r->until_ms, text));
    } else {
        CHECK(str_eq(name, STR("other")));
        struct str other = told->other.name;
        if (r->kind != REMEDY_WAIT) {
            buf_str(out, other.len > 0 ? other : STR("another workload"));
        } else if (other.len > 0) {
            buf_printf(out, ", when " STR_FMT " ends as it declared", STR_ARG(other));
        }
    }
}

// How it starts then, and how sure it is that nothing smaller does.
static void add_manner(const struct remedy *r, struct buf *out)
{
    if (r->stopped > 0) {
        buf_printf(out, "; %u pod%s of others would be stopped for it", r->stopped,
                   r->stopped == 1 ? "" : "s");
    }
    if (r->exhausted) {
        buf_printf(out, " (the smallest found in %u attempts)", r->trials);
    }
    buf_char(out, '.');
}

void words_remedy(const struct remedy_told *told, struct buf *out)
{
    const struct remedy *r = &told->remedy;
    switch (r->outcome) {
    case REMEDY_FOUND:
        add_sentence(r->kind == REMEDY_FREE && r->to == 0
                         ? "It would start if {holders} left node {node}" /* held CPU or memory */
                         : remedies[r->kind],
                     told, add_remedy_field, out);
        add_manner(r, out);
        break;
    case REMEDY_NOT_NEEDED:
        buf_str(out, r->at_once
                         ? STR("Nothing has to change: the next round gives it its place.")
                         : STR("Nothing has to change: its place is being left by what is there."));
        break;
    case REMEDY_NOT_WAITING:
        break;
    case REMEDY_NO_SINGLE:
        buf_str(out, STR("No single change would start it"));
        if (r->exhausted) {
            buf_printf(out, ", of those that %u attempts had time for", r->trials);
        }
        buf_char(out, '.');
        break;
    case REMEDY_OUTCOME_COUNT:
        break;
    }
}

static void add_text(struct str text, struct buf *out)
{
    if (text.len > 0) {
        buf_printf(out, ": " STR_FMT, STR_ARG(text));
    }
}

static void by(const struct event *event, struct buf *out)
{
    if (event->author.len > 0) {
        buf_printf(out, " by " STR_FMT, STR_ARG(event->author));
    }
}

/* A notice. */
static void add_limit(const struct why *why, struct buf *out)
{
    char limit[DURATION_TEXT_SIZE];
    char at[RFC3339_TEXT_SIZE];
    bool idle = why->code == REASON_STOPPED_IDLE_LIMIT;
    struct str for_ms = duration_format(why->bound, limit);
    struct str at_ms = rfc3339_format(why->until_ms, at);
    if (idle) {
        buf_printf(out,
                   "It uses none of its GPUs; after " STR_FMT " of that it is stopped, at " STR_FMT,
                   STR_ARG(for_ms), STR_ARG(at_ms));
    } else {
        buf_printf(out,
                   "It has run for half of the " STR_FMT " that it may; it is stopped at " STR_FMT,
                   STR_ARG(for_ms), STR_ARG(at_ms));
    }
}

void words_event(const struct event *event, struct buf *out)
{
    struct str node = event->node.len > 0 ? event->node : STR("its node");
    switch (event->kind) {
    case EVENT_SUBMITTED:
        buf_str(out, STR("Submitted"));
        by(event, out);
        break;
    case EVENT_SCHEDULED:
        buf_printf(out, "A place was found on node " STR_FMT, STR_ARG(node));
        break;
    case EVENT_STARTED:
        buf_printf(out, "Started on node " STR_FMT, STR_ARG(node));
        break;
    case EVENT_WAITING:
        words_why(&event->why, out);
        return;
    case EVENT_EVICTED:
        if (event->why.code != REASON_NONE) {
            words_why(&event->why, out);
            if (event->text.len > 0) {
                buf_printf(out, " (" STR_FMT ")", STR_ARG(event->text));
            }
            return;
        }
        buf_printf(out, "Stopped on node " STR_FMT, STR_ARG(node));
        break;
    case EVENT_EXITED:
        buf_printf(out, "Ended on node " STR_FMT " with exit code %lld", STR_ARG(node),
                   (long long)event->exit_code);
        add_text(event->text, out);
        break;
    case EVENT_SUSPENDED:
        buf_str(out, STR("Suspended"));
        by(event, out);
        break;
    case EVENT_RESUMED:
        buf_str(out, STR("Resumed"));
        by(event, out);
        break;
    case EVENT_UPDATED:
        buf_str(out, STR("Updated"));
        by(event, out);
        break;
    case EVENT_DELETED:
        buf_str(out, STR("Deleted"));
        by(event, out);
        break;
    case EVENT_START_FAILED:
        buf_printf(out, "Could not be started on node " STR_FMT, STR_ARG(node));
        add_text(event->text, out);
        break;
    case EVENT_NODE_LOST:
        buf_printf(out, "Node " STR_FMT " was lost", STR_ARG(node));
        break;
    case EVENT_LIMIT_NEAR:
        add_limit(&event->why, out);
        break;
    case EVENT_DRAINING:
        buf_printf(out, "Its place on node " STR_FMT " is being drained", STR_ARG(node));
        by(event, out);
        add_text(event->text, out);
        if (event->why.until_ms != TIME_NEVER) {
            char at[RFC3339_TEXT_SIZE];
            buf_printf(out, "; if it still runs there, it is stopped at " STR_FMT,
                       STR_ARG(rfc3339_format(event->why.until_ms, at)));
        }
        break;
    }
    buf_char(out, '.');
}

// SPDX-License-Identifier: Apache-2.0
// What a case expects: read into a flat list, one entry for each fact, and compared with the world.
#include "sim/case_read.h"

#include "base/check.h"

__extension__ typedef __int128 wide;

/* ---- reading ---- */

static struct case_expect *add_expect(struct parsing *p, enum case_expect_kind kind,
                                      const struct doc *d)
{
    struct case_expect *e = ARRAY_PUSH(p->arena, &p->c->expects);
    *e = (struct case_expect){
        .kind = kind, .line = d->line, .col = d->col, .any_state = true, .node = IX_NONE};
    return e;
}

static enum case_pod_state state_of(struct parsing *p, const struct at *up, const struct doc *d)
{
    struct str names[CASE_POD_STATE_COUNT];
    for (uint32_t s = 0; s < CASE_POD_STATE_COUNT; s++) {
        names[s] = case_pod_state_name((enum case_pod_state)s);
    }
    return (enum case_pod_state)word_of(p, up, "state", d, names, CASE_POD_STATE_COUNT);
}

static void expect_workloads(struct parsing *p, const struct at *up, const struct doc *d)
{
    enum { STATE, NODE, REASON, UNTIL, REMEDY, COUNT };
    static const struct keys keys = {
        1, COUNT, {STRS("state"), STRS("node"), STRS("reason"), STRS("until_s"), STRS("remedy")}
    };
    const struct at in = {up, STR("workloads"), 0};
    for (const struct doc *item = members_of(p, &in, d); item; item = item->next) {
        const struct at at = {&in, item->key, 0};
        const struct doc *m[MEMBERS_MAX];
        uint32_t ix = 0;
        open_map(p, &at, item, &keys, m);
        enum case_pod_state state = state_of(p, &at, m[STATE]);
        uint32_t node = index_of(p, &at, "node", m[NODE], &p->nodes, "node");
        if (!map_get(&p->workloads, item->key, &ix)) {
            PROBLEM(p, &at, item, "no workload is named \"" STR_FMT "\"", STR_ARG(item->key));
            continue;
        }
        const struct case_workload *w = &p->c->world.workloads.items[ix];
        for (uint32_t pod = w->pod_first; pod < w->pod_first + w->pod_count; pod++) {
            struct case_expect *e = add_expect(p, CASE_EXPECT_POD, item);
            e->subject = pod;
            e->any_state = false;
            e->state = state;
            e->node = node;
        }
        if (m[REASON] || m[UNTIL]) {
            struct case_expect *e = add_expect(p, CASE_EXPECT_REASON, item);
            int64_t until_ms = seconds_of(p, &at, "until_s", m[UNTIL], 0, DURATION_UNSET);
            e->subject = ix;
            e->reason = text_of(p, &at, "reason", m[REASON]);
            e->amount = m[UNTIL] ? p->c->world.now_ms + until_ms : DURATION_UNSET;
        }
        if (m[REMEDY]) {
            struct case_expect *e = add_expect(p, CASE_EXPECT_REMEDY, m[REMEDY]);
            read_remedy(p, &at, m[REMEDY]);
            e->subject = ix;
            e->remedy = m[REMEDY];
        }
    }
}

static void expect_pods(struct parsing *p, const struct at *up, const struct doc *d)
{
    enum { STATE, NODE, SHARE_WITH, NUMA, COUNT };
    static const struct keys keys = {
        0, COUNT, {STRS("state"), STRS("node"), STRS("share_with"), STRS("numa")}
    };
    const struct at in = {up, STR("pods"), 0};
    for (const struct doc *item = members_of(p, &in, d); item; item = item->next) {
        const struct at at = {&in, item->key, 0};
        const struct doc *m[MEMBERS_MAX];
        uint32_t ix = 0;
        open_map(p, &at, item, &keys, m);
        enum case_pod_state state = state_of(p, &at, m[STATE]);
        uint32_t node = index_of(p, &at, "node", m[NODE], &p->nodes, "node");
        if (!map_get(&p->pods, item->key, &ix)) {
            PROBLEM(p, &at, item, "no pod is named \"" STR_FMT "\"", STR_ARG(item->key));
            continue;
        }
        if (m[STATE] || m[NODE]) {
            struct case_expect *e = add_expect(p, CASE_EXPECT_POD, item);
            e->subject = ix;
            e->any_state = m[STATE] == NULL;
            e->state = state;
            e->node = node;
        }
        if (m[NUMA]) {
            struct case_expect *e = add_expect(p, CASE_EXPECT_NUMA, item);
            e->subject = ix;
            e->amount = count_of(p, &at, "numa", m[NUMA], NODE_DEVICES_MAX, 0);
        }
        const struct at others = {&at, STR("share_with"), 0};
        for (const struct doc *o = list_of(p, &others, m[SHARE_WITH]); o; o = o->next) {
            uint32_t other = index_of(p, &others, "", o, &p->pods, "pod");
            struct case_expect *e = add_expect(p, CASE_EXPECT_SHARE_WITH, o);
            e->subject = ix;
            e->other = other == IX_NONE ? ix : other;
        }
    }
}

static void expect_nodes(struct parsing *p, const struct at *up, const struct doc *d)
{
    enum { IDLE, RELEASING, COUNT };
    static const struct keys keys = {
        0, COUNT, {STRS("idle_gpus"), STRS("releasing_gpus")}
    };
    const struct at in = {up, STR("nodes"), 0};
    for (const struct doc *item = members_of(p, &in, d); item; item = item->next) {
        const struct at at = {&in, item->key, 0};
        const struct doc *m[MEMBERS_MAX];
        uint32_t ix = 0;
        open_map(p, &at, item, &keys, m);
        if (!map_get(&p->nodes, item->key, &ix)) {
            PROBLEM(p, &at, item, "no node is named \"" STR_FMT "\"", STR_ARG(item->key));
            continue;
        }
        for (uint32_t k = 0; k < COUNT; k++) {
            if (m[k]) {
                struct case_expect *e = add_expect(
                    p, k == IDLE ? CASE_EXPECT_IDLE : CASE_EXPECT_RELEASING, m[k]);
                e->subject = ix;
                e->amount = count_of(p, &at, "", m[k], NODE_DEVICES_MAX, 0);
            }
        }
    }
}

static void expect_queues(struct parsing *p, const struct at *up, const struct doc *d)
{
    static const struct keys keys = {1, 1, {STRS("held_gpus")}};
    const struct at in = {up, STR("queues"), 0};
    for (const struct doc *item = members_of(p, &in, d); item; item = item->next) {
        const struct at at = {&in, item->key, 0};
        const struct doc *m[MEMBERS_MAX];
        uint32_t ix = 0;
        open_map(p, &at, item, &keys, m);
        if (!map_get(&p->queues, item->key, &ix)) {
            PROBLEM(p, &at, item, "no queue is named \"" STR_FMT "\"", STR_ARG(item->key));
            continue;
        }
        struct case_expect *e = add_expect(p, CASE_EXPECT_HELD, item);
        e->subject = ix;
        e->amount = number_of(p, &at, "held_gpus", m[0],
                              (struct range){DEVICE_SHARE, 0, QUEUE_AMOUNT_MAX, 0});
    }
}

static void expect_fair_share(struct parsing *p, const struct at *up, const struct doc *d)
{
    static const struct keys keys = {
        0, RES_COUNT, {STRS("gpu"), STRS("cpu_milli"), STRS("memory_bytes")}
    };
    const struct at in = {up, STR("fair_share"), 0};
    for (const struct doc *item = members_of(p, &in, d); item; item = item->next) {
        const struct at at = {&in, item->key, 0};
        const struct doc *m[MEMBERS_MAX];
        uint32_t ix = 0;
        open_map(p, &at, item, &keys, m);
        if (!map_get(&p->queues, item->key, &ix)) {
            PROBLEM(p, &at, item, "no queue is named \"" STR_FMT "\"", STR_ARG(item->key));
            continue;
        }
        for (uint32_t r = 0; r < RES_COUNT; r++) {
            if (m[r]) {
                struct case_expect *e = add_expect(p, CASE_EXPECT_FAIR_SHARE, m[r]);
                e->subject = ix;
                e->resource = (enum resource)r;
                e->amount = number_of(p, &at, "", m[r],
                                      (struct range){1000000, 0, INT64_MAX / 4, 0});
            }
        }
    }
}

void read_expect(struct parsing *p, struct str key, const struct doc *d)
{
    enum { WORKLOADS, PODS, NODES, QUEUES, EVICTIONS, FAIR_SHARE, COUNT };
    static const struct keys keys = {
        0,
        COUNT,
        {STRS("workloads"), STRS("pods"), STRS("nodes"), STRS("queues"), STRS("evictions"),
          STRS("fair_share")}
    };
    const struct at at = {NULL, key, 0};
    const struct doc *m[MEMBERS_MAX];
    open_map(p, &at, d, &keys, m);
    expect_workloads(p, &at, m[WORKLOADS]);
    expect_pods(p, &at, m[PODS]);
    expect_nodes(p, &at, m[NODES]);
    expect_queues(p, &at, m[QUEUES]);
    expect_fair_share(p, &at, m[FAIR_SHARE]);
    if (m[EVICTIONS]) {
        add_expect(p, CASE_EXPECT_EVICTIONS, m[EVICTIONS])->amount = count_of(
            p, &at, "evictions", m[EVICTIONS], TASKS_MAX, 0);
    }
}

/* ---- comparing ---- */

static struct case_failure *fail(const struct case_expect *e, struct arena *arena,
                                 struct case_result *result, struct str text)
{
    struct case_failure *failure = ARRAY_PUSH(arena, &result->failures);
    *failure = (struct case_failure){
        .line = e->line, .col = e->col, .round = result->rounds_run, .text = text};
    return failure;
}

/* NULL when there was no round. */
static const struct reason *reason_of(const struct case_result *result, uint32_t workload)
{
    for (uint32_t i = 0; i < result->snap.workloads.count; i++) {
        if (result->snap.workloads.items[i].tag == workload) {
            const struct reason *r = &result->decisions.reasons[i];
            return r->code == REASON_NONE ? NULL : r;
        }
    }
    return NULL;
}

struct str case_workload_reason(const struct case_result *result, uint32_t workload)
{
    const struct reason *r = reason_of(result, workload);
    return r != NULL ? reason_name(r->code) : STR("");
}

static void check_reason(const struct sim_case *c, const struct case_expect *e, struct arena *arena,
                         struct case_result *result)
{
    const struct reason *r = reason_of(result, e->subject);
    struct str code = r != NULL ? reason_name(r->code) : STR("");
    if (e->reason.len > 0 && !str_eq(e->reason, code)) {
        fail(e, arena, result,
             arena_printf(arena, "workload " STR_FMT ": expected " STR_FMT ", got " STR_FMT,
                          STR_ARG(c->world.workloads.items[e->subject].name), STR_ARG(e->reason),
                          STR_ARG(code)));
    }
    int64_t until_ms = r != NULL ? r->until_ms : TIME_NEVER;
    if (e->amount != DURATION_UNSET && e->amount != until_ms) {
        int64_t from_ms = c->world.now_ms;
        fail(e, arena, result,
             arena_printf(arena, "workload " STR_FMT ": expected until %lld ms from now, got %lld",
                          STR_ARG(c->world.workloads.items[e->subject].name),
                          (long long)(e->amount - from_ms),
                          (long long)(until_ms == TIME_NEVER ? -1 : until_ms - from_ms)));
    }
}

static void check_remedy(const struct sim_case *c, const struct case_expect *e, struct arena *arena,
                         struct case_result *result)
{
    struct str differs = case_remedy_differs(c, result, e->subject, e->remedy, arena);
    if (differs.len > 0) {
        fail(e, arena, result,
             arena_printf(arena, "workload " STR_FMT ": the smallest change has " STR_FMT,
                          STR_ARG(c->world.workloads.items[e->subject].name), STR_ARG(differs)));
    }
}

static struct str pod_place(const struct case_world *w, bool any_state, enum case_pod_state state,
                            uint32_t node, struct arena *arena)
{
    struct str name = any_state ? STR("") : case_pod_state_name(state);
    if (node == IX_NONE) {
        return name;
    }
    return arena_printf(arena, STR_FMT "%son " STR_FMT, STR_ARG(name), any_state ? "" : " ",
                        STR_ARG(w->nodes.items[node].name));
}

static void check_pod(const struct sim_case *c, const struct case_expect *e, struct arena *arena,
                      struct case_result *result)
{
    const struct case_world *w = &c->world;
    const struct case_pod *pod = &w->pods.items[e->subject];
    if ((e->any_state || pod->state == e->state) && (e->node == IX_NONE || pod->node == e->node)) {
        return;
    }
    struct str want = pod_place(w, e->any_state, e->state, e->node, arena);
    struct str got = pod_place(w, false, pod->state, pod->node, arena);
    struct str why = case_workload_reason(result, pod->workload);
    fail(e, arena, result,
         arena_printf(arena,
                      "pod " STR_FMT ": expected " STR_FMT ", got " STR_FMT "%s" STR_FMT "%s",
                      STR_ARG(pod->name), STR_ARG(want), STR_ARG(got), why.len > 0 ? " (" : "",
                      STR_ARG(why), why.len > 0 ? ")" : ""));
}

/* The devices a pod is on, or without any those it had last or that its labels name. */
static const struct case_hold *devices_of(const struct case_world *w, const struct case_pod *pod,
                                          uint32_t *count)
{
    bool now = pod->hold_count > 0;
    *count = now ? pod->hold_count : pod->last_count;
    return *count == 0 ? NULL : w->holds.items + (now ? pod->hold_first : pod->last_first);
}

static void check_share_with(const struct sim_case *c, const struct case_expect *e,
                             struct arena *arena, struct case_result *result)
{
    const struct case_world *w = &c->world;
    const struct case_pod *a = &w->pods.items[e->subject];
    const struct case_pod *b = &w->pods.items[e->other];
    uint32_t count_a;
    uint32_t count_b;
    const struct case_hold *on_a = devices_of(w, a, &count_a);
    const struct case_hold *on_b = devices_of(w, b, &count_b);
    for (uint32_t i = 0; i < count_a; i++) {
        for (uint32_t k = 0; k < count_b; k++) {
            if (on_a[i].device == on_b[k].device) {
                return;
            }
        }
    }
    fail(e, arena, result,
         arena_printf(arena, "pods " STR_FMT " and " STR_FMT ": expected on one device",
                      STR_ARG(a->name), STR_ARG(b->name)));
}

/* Devices of a node that nobody holds, and those that only releasing pods hold. */
static void count_devices(const struct case_world *w, uint32_t node, int64_t *idle,
                          int64_t *releasing)
{
    const struct case_node *row = &w->nodes.items[node];
    *idle = *releasing = 0;
    for (uint32_t d = row->device_first; d < row->device_first + row->device_count; d++) {
        bool held = false;
        bool stays = false;
        for (uint32_t i = 0; i < w->pods.count; i++) {
            const struct case_pod *pod = &w->pods.items[i];
            for (uint32_t h = 0; case_pod_holds(pod) && h < pod->hold_count; h++) {
                if (w->holds.items[pod->hold_first + h].device == d) {
                    held = true;
                    stays = stays || pod->state != CASE_RELEASING;
                }
            }
        }
        *idle += held ? 0 : 1;
        *releasing += held && !stays ? 1 : 0;
    }
}

static void check_node(const struct sim_case *c, const struct case_expect *e, struct arena *arena,
                       struct case_result *result)
{
    int64_t idle = 0;
    int64_t releasing = 0;
    count_devices(&c->world, e->subject, &idle, &releasing);
    bool is_idle = e->kind == CASE_EXPECT_IDLE;
    int64_t got = is_idle ? idle : releasing;
    if (got != e->amount) {
        fail(e, arena, result,
             arena_printf(arena, "node " STR_FMT ": expected %lld GPUs %s, got %lld",
                          STR_ARG(c->world.nodes.items[e->subject].name), (long long)e->amount,
                          is_idle ? "idle" : "releasing", (long long)got));
    }
}

/* Device shares as GPUs, to six decimals. */
static struct str gpus_of(int64_t share, struct arena *arena)
{
    int64_t micro = share * 1000000 / DEVICE_SHARE;
    return micro % 1000000 == 0 ? arena_printf(arena, "%lld", (long long)(micro / 1000000))
                                : arena_printf(arena, "%lld.%06lld", (long long)(micro / 1000000),
                                               (long long)(micro % 1000000));
}

static void check_held(const struct sim_case *c, const struct case_expect *e, struct arena *arena,
                       struct case_result *result)
{
    int64_t got = case_world_held(&c->world, e->subject);
    if (got != e->amount) {
        fail(e, arena, result,
             arena_printf(arena, "queue " STR_FMT ": expected " STR_FMT " GPUs held, got " STR_FMT,
                          STR_ARG(c->world.queues.items[e->subject].name),
                          STR_ARG(gpus_of(e->amount, arena)), STR_ARG(gpus_of(got, arena))));
    }
}

static int64_t fair_share_of(const struct case_result *result, uint32_t queue, enum resource r)
{
    for (uint32_t i = 0; i < result->snap.queues.count; i++) {
        if (result->snap.queues.items[i].tag == queue) {
            return result->decisions.queues[i].fair_share.v[r];
        }
    }
    check_fail(__FILE__, __LINE__, "a queue without a row");
}

static void check_fair_share(const struct sim_case *c, const struct case_expect *e,
                             struct arena *arena, struct case_result *result)
{
    static const char *const names[RES_COUNT] = {"GPUs", "millicores", "bytes"};
    int64_t got = fair_share_of(result, e->subject, e->resource);
    int64_t unit = e->resource == RES_GPU ? DEVICE_SHARE : 1;
    /* The expectation is rounded to a millionth: right when got / unit lies within half of one. */
    wide difference = (wide)got * 1000000 - (wide)e->amount * unit;
    if (2 * difference <= unit && 2 * difference >= -unit) {
        return;
    }
    struct str value = e->resource == RES_GPU ? gpus_of(got, arena)
                                              : arena_printf(arena, "%lld", (long long)got);
    fail(e, arena, result,
         arena_printf(
             arena, "queue " STR_FMT ": expected a fair share of %lld.%06lld %s, got " STR_FMT,
             STR_ARG(c->world.queues.items[e->subject].name), (long long)(e->amount / 1000000),
             (long long)(e->amount % 1000000), names[e->resource], STR_ARG(value)));
}

static void check_evictions(const struct case_expect *e, struct arena *arena,
                            struct case_result *result)
{
    if (e->amount != result->evictions) {
        fail(e, arena, result,
             arena_printf(arena, "expected %lld evictions, got %u", (long long)e->amount,
                          result->evictions));
    }
}

static void check_one(const struct sim_case *c, const struct case_expect *e,
                      struct case_checks which, struct arena *arena, struct case_result *result)
{
    switch (e->kind) {
    case CASE_EXPECT_POD:
        if (which.state) {
            check_pod(c, e, arena, result);
        }
        break;
    case CASE_EXPECT_NUMA:
        if (which.state && c->world.pods.items[e->subject].zone != e->amount) {
            fail(e, arena, result,
                 arena_printf(arena, "pod " STR_FMT ": expected in zone %lld, got %u",
                              STR_ARG(c->world.pods.items[e->subject].name), (long long)e->amount,
                              c->world.pods.items[e->subject].zone));
        }
        break;
    case CASE_EXPECT_REASON:
        if (which.state) {
            check_reason(c, e, arena, result);
        }
        break;
    case CASE_EXPECT_REMEDY:
        if (which.state) {
            check_remedy(c, e, arena, result);
        }
        break;
    case CASE_EXPECT_SHARE_WITH:
        if (which.state) {
            check_share_with(c, e, arena, result);
        }
        break;
    case CASE_EXPECT_IDLE:
    case CASE_EXPECT_RELEASING:
        if (which.state) {
            check_node(c, e, arena, result);
        }
        break;
    case CASE_EXPECT_HELD:
        if (which.state) {
            check_held(c, e, arena, result);
        }
        break;
    case CASE_EXPECT_FAIR_SHARE:
        if (which.shares) {
            check_fair_share(c, e, arena, result);
        }
        break;
    case CASE_EXPECT_EVICTIONS:
        if (which.end) {
            check_evictions(e, arena, result);
        }
        break;
    }
}

void case_expect_check(const struct sim_case *c, struct case_checks which, struct arena *arena,
                       struct case_result *result)
{
    for (uint32_t i = 0; i < c->expects.count; i++) {
        check_one(c, &c->expects.items[i], which, arena, result);
    }
    struct case_result kai = *result;
    kai.failures.items = NULL;
    kai.failures.count = kai.failures.cap = 0;
    for (uint32_t i = 0; i < c->kai_expects.count; i++) {
        check_one(c, &c->kai_expects.items[i], which, arena, &kai);
    }
    result->differs = result->differs || kai.failures.count > 0;
    if (which.end && c->kai_expects.count > 0 && !result->differs) {
        fail(&c->kai_expects.items[0], arena, result,
             STR("what kai_expect says holds as well: the case does not differ"));
    }
}

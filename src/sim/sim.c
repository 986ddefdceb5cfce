// SPDX-License-Identifier: Apache-2.0
// sim: the loop of a server in small: gather inputs, number them, journal them as one group,
// and when that is acknowledged apply each and hand the effects to the cluster. At most one group
// is on its way, because the decisions of a tick are about the state they were made on.
#include "sim/sim.h"

#include <inttypes.h>

#include "base/array.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/num.h"
#include "engine/replay.h"
#include "sim/cluster.h"
#include "sim/demand.h"
#include "sim/past.h"
#include "sim/rules.h"

enum { GROUP_MAX = 8, CRASH_PERMYRIAD = 8 };
#define CHECKPOINT_MAX UINT32_MAX

/* The last command, for a client that asks again. */
struct asked {
    struct buf bytes;
    bool answered;
    enum status status;
    struct uuid id;
};

struct sim {
    struct prng prng;
    const struct sim_store *store;
    struct arena *out;  /* of the report */
    struct arena world; /* lives as long as the run */
    struct arena scratch;
    struct engine *e;
    struct sim_cluster cluster;
    struct cluster port;
    struct sim_demand demand;
    struct sim_past past;
    struct asked asked;
    struct buf bytes; /* of present_hash */
    struct input group[GROUP_MAX];
    uint32_t group_count;
    bool acknowledged;
    bool dirty; /* something was applied since the scheduler last had nothing to do */
    int64_t now_ms, verified_at, checkpoint_seq, steps;
    struct sim_report *report;
};

#define BREACH(s, ...)                                                       \
    ((s)->report->breach = (s)->report->breach.len > 0 ? (s)->report->breach \
                                                       : arena_printf((s)->out, __VA_ARGS__))

static bool broken(const struct sim *s)
{
    return s->report->breach.len > 0;
}

static void note_breach(struct sim *s, struct str breach)
{
    if (breach.len > 0) {
        BREACH(s, "%.*s", STR_ARG(breach));
    }
}

/* ---- applying ---- */

static void count_input(struct sim *s, const struct input *in, const struct outcome *o)
{
    struct sim_report *r = s->report;
    bool command = input_is_command(in->kind) || in->kind == INPUT_REFUSED;
    r->commands += command;
    r->refused += command && o->status != STATUS_OK;
    r->repeated += o->repeated;
    r->ticks += in->kind == INPUT_TICK;
    r->observations += !command && in->kind != INPUT_TICK;
    r->binds += in->tick.binds_count;
    r->evicts += in->tick.evicts_count;
    r->claims += in->tick.claims_count;
}

static void hear_answer(struct sim *s, const struct input *in, const struct outcome *o)
{
    if (in->key.len == 0) {
        return;
    }
    struct asked *a = &s->asked;
    if (o->repeated && a->answered && (o->status != a->status || !uuid_eq(o->id, a->id))) {
        BREACH(s, "a repeated command got another answer");
    }
    a->answered = true;
    a->status = o->status;
    a->id = o->id;
}

// Of the state without its history, which is most of it: past use, answers given, events,
// what is told of the deleted.
static uint64_t present_hash(struct sim *s)
{
    struct state present = *engine_state(s->e);
    present.books_count = present.answers_count = present.deleted_count = 0;
    struct workload *w = ARENA_ARRAY(&s->scratch, struct workload, present.workloads_count);
    for (uint32_t i = 0; i < present.workloads_count; i++) {
        w[i] = present.workloads[i];
        w[i].events_count = 0;
    }
    present.workloads = w;
    buf_clear(&s->bytes);
    record_encode(&record_state, &present, &s->bytes);
    return hash_bytes(s->bytes.ptr, s->bytes.len, 0);
}

static void apply_one(struct sim *s, const struct input *in, struct effects *fx)
{
    struct outcome o;
    if (in->kind == INPUT_TICK) {
        note_breach(s, rules_tick(s->e, &in->tick, in->now_ms, &s->scratch));
    }
    fx->count = 0;
    past_step(&s->past, s->e, in->now_ms);
    engine_apply(s->e, in, fx, &o);
    if (in->kind == INPUT_TICK) {
        note_breach(s, rules_applied(s->e, &in->tick, &s->scratch));
    }
    s->port.do_effects(s->port.ctx, fx->items, fx->count);
    hear_answer(s, in, &o);
    count_input(s, in, &o);
    s->steps++;
    s->report->digest = hash_u64(s->report->digest ^ present_hash(s), 0);
    note_breach(s, engine_invariants(s->e, &s->scratch));
    if (s->steps % SIM_HISTORY_STEPS == 0) {
        s->report->digest = hash_u64(s->report->digest ^ engine_hash(s->e), 0);
        note_breach(s, past_check(&s->past, s->e, &s->scratch));
    }
    note_breach(s, s->cluster.breach);
}

static void apply_group(struct sim *s)
{
    struct effects fx = {.arena = &s->scratch};
    for (uint32_t i = 0; i < s->group_count && !broken(s); i++) {
        apply_one(s, &s->group[i], &fx);
    }
    s->dirty = s->dirty || s->group_count > 0;
    s->group_count = 0;
}

/* ---- gathering ---- */

static struct input *gather(struct sim *s)
{
    CHECK(s->group_count < GROUP_MAX);
    struct input *in = &s->group[s->group_count++];
    *in = (struct input){.kind = INPUT_NONE};
    return in;
}

static void observe(void *arg, const struct input *observation)
{
    struct sim *s = arg;
    record_copy(&record_input, observation, gather(s), &s->scratch);
}

static void ask(struct sim *s)
{
    struct asked *a = &s->asked;
    struct input in;
    if (a->bytes.len > 0 && prng_chance(&s->prng, 60)) {
        struct err err;
        enum status status = record_decode(&record_input, buf_view(&a->bytes), &s->scratch, &in,
                                           &err);
        CHECK(status == STATUS_OK);
        demand_again(&s->demand, &in);
    } else {
        demand_next(&s->demand, engine_state(s->e), &s->scratch, &in);
        if (in.key.len > 0) {
            buf_clear(&a->bytes);
            record_encode(&record_input, &in, &a->bytes);
            a->answered = false;
        }
    }
    *gather(s) = in;
}

static void decide(struct sim *s)
{
    bool due = engine_next_ms(s->e) <= s->now_ms;
    if (!s->dirty && !due && !prng_chance(&s->prng, 20)) {
        return;
    }
    struct tick tick;
    bool changed;
    engine_decide(s->e, s->now_ms, &s->scratch, &tick, &changed);
    if (changed) {
        struct input *in = gather(s);
        in->kind = INPUT_TICK;
        in->tick = tick;
        return;
    }
    s->dirty = false;
    note_breach(s, rules_settled(s->e, s->now_ms, &s->scratch));
}

static void gather_group(struct sim *s)
{
    s->group_count = 0;
    if (prng_chance(&s->prng, 800)) {
        decide(s); // first in the group: it is about the state as it is
    }
    uint32_t polls = prng_below(&s->prng, 4);
    for (uint32_t i = 0; i < polls; i++) {
        s->port.poll(s->port.ctx, observe, s);
    }
    if (prng_chance(&s->prng, 250)) {
        ask(s);
    }
}

/* ---- journal ---- */

static void on_done(void *arg, enum status status, const struct err *err)
{
    struct sim *s = arg;
    (void)err;
    CHECK(status == STATUS_OK);
    s->acknowledged = true;
}

static void journal_group(struct sim *s)
{
    struct store_record records[GROUP_MAX];
    int64_t seq = engine_state(s->e)->seq;
    for (uint32_t i = 0; i < s->group_count; i++) {
        struct input *in = &s->group[i];
        in->seq = seq + 1 + i;
        in->now_ms = s->now_ms;
        in->version = INPUT_VERSION;
        struct buf bytes;
        buf_init(&bytes, CHECKPOINT_MAX);
        record_encode(&record_input, in, &bytes);
        records[i] = (struct store_record){in->seq, arena_str(&s->scratch, buf_view(&bytes))};
        buf_done(&bytes);
    }
    s->acknowledged = false;
    s->store->hold(s->store->ctx, true);
    s->store->port.append(s->store->port.ctx, records, s->group_count, on_done, s);
    s->store->port.poll(s->store->port.ctx);
    CHECK(!s->acknowledged);
}

static void acknowledge(struct sim *s)
{
    s->store->hold(s->store->ctx, false);
    s->store->port.poll(s->store->port.ctx);
    CHECK(s->acknowledged);
}

/* ---- rebuilding ---- */

static enum status replay_one(void *arg, int64_t seq, struct str bytes, struct err *err)
{
    return replay_record(arg, seq, bytes, err);
}

// The state of a server that starts now: checkpoint and tail; and what was decided since the
// checkpoint is decided again.
static struct engine *rebuild(struct sim *s, bool decides)
{
    struct engine *e = engine_new();
    struct replay r;
    const struct store *port = &s->store->port;
    struct err err;
    int64_t seq;
    uint64_t hash;
    struct str bytes;
    replay_init(&r, e, decides);
    enum status status = port->latest(port->ctx, &s->scratch, &seq, &hash, &bytes, &err);
    if (status == STATUS_OK && seq > 0) {
        status = engine_restore(e, bytes, &err);
        if (status == STATUS_OK && engine_hash(e) != hash) {
            BREACH(s, "the hash of the checkpoint is another one than was recorded with it");
        }
    }
    if (status == STATUS_OK) {
        status = port->read(port->ctx, seq, replay_one, &r, &err);
    }
    if (r.difference.found) {
        BREACH(s, "tick %" PRId64 ", decided again, differs in %.*s", r.difference.seq,
               STR_ARG(r.difference.field));
    } else if (status != STATUS_OK) {
        BREACH(s, "rebuilding: %s: %s", err.field, err.text);
    }
    replay_done(&r);
    s->report->rebuilds++;
    return e;
}

static struct str tick_bytes(struct sim *s, const struct engine *e)
{
    struct tick tick;
    bool changed;
    struct buf bytes;
    engine_decide(e, s->now_ms, &s->scratch, &tick, &changed);
    buf_init(&bytes, CHECKPOINT_MAX);
    record_encode(&record_tick, &tick, &bytes);
    struct str out = arena_str(&s->scratch, buf_view(&bytes));
    buf_done(&bytes);
    return out;
}

static void compare(struct sim *s, const struct engine *again)
{
    struct str diff = record_diff(&record_state, engine_state(s->e), engine_state(again),
                                  &s->scratch);
    if (diff.len > 0) {
        BREACH(s, "the state built again from the journal differs in %.*s (R8)", STR_ARG(diff));
        return;
    }
    if (engine_hash(s->e) != engine_hash(again)) {
        BREACH(s, "equal states have different hashes");
    }
    if (!str_eq(tick_bytes(s, s->e), tick_bytes(s, again))) {
        BREACH(s, "the state built again decides otherwise");
    }
    note_breach(s, past_check(&s->past, again, &s->scratch));
}

static void verify(struct sim *s)
{
    struct engine *again = rebuild(s, false);
    compare(s, again);
    engine_free(again);
    struct buf bytes;
    struct err err;
    buf_init(&bytes, CHECKPOINT_MAX);
    engine_checkpoint(s->e, &bytes);
    int64_t seq = engine_state(s->e)->seq;
    const struct store *port = &s->store->port;
    if (port->checkpoint(port->ctx, seq, engine_hash(s->e), buf_view(&bytes), &err) != STATUS_OK) {
        BREACH(s, "checkpoint: %s", err.text);
    }
    buf_done(&bytes);
    s->store->forget(s->store->ctx, s->checkpoint_seq);
    s->checkpoint_seq = seq;
    s->verified_at = s->steps;
}

// A kill with a group on its way: it had reached the disk, or it had not. Then a new start.
static void crash(struct sim *s)
{
    uint32_t keep = prng_below(&s->prng, 2);
    s->store->hold(s->store->ctx, false);
    s->store->crash(s->store->ctx, keep);
    s->report->crashes++;
    struct effects none = {.arena = &s->scratch};
    struct outcome o;
    for (uint32_t i = 0; keep > 0 && i < s->group_count; i++) {
        past_step(&s->past, s->e, s->group[i].now_ms);
        engine_apply(s->e, &s->group[i], &none, &o); // what the new start must come to
        s->steps++;
    }
    s->group_count = 0;
    struct engine *again = rebuild(s, true);
    compare(s, again);
    engine_free(s->e);
    s->e = again;
    s->dirty = true;
    struct effects fx = {.arena = &s->scratch};
    engine_outstanding(s->e, &fx);
    s->port.do_effects(s->port.ctx, fx.items, fx.count);
    sim_cluster_resync(&s->cluster, engine_state(s->e));
}

/* ---- the loop ---- */

static int64_t random_pause_ms(struct prng *p)
{
    uint32_t dice = prng_below(p, 100);
    return dice < 70   ? prng_range(p, 0, 200)
           : dice < 96 ? prng_range(p, 1000, 10000)
                       : prng_range(p, 10000, 400000);
}

static void play(struct sim *s)
{
    arena_reset(&s->scratch);
    s->now_ms += random_pause_ms(&s->prng);
    sim_cluster_advance(&s->cluster, s->now_ms);
    gather_group(s);
    if (s->group_count == 0) {
        return;
    }
    journal_group(s);
    if (prng_below(&s->prng, 10000) < CRASH_PERMYRIAD) {
        crash(s);
        return;
    }
    acknowledge(s);
    apply_group(s);
    if (s->steps - s->verified_at >= SIM_VERIFY_STEPS) {
        verify(s);
    }
}

static void first_plan(struct sim *s)
{
    struct input *in = gather(s);
    demand_plan(&s->demand, &s->scratch, in);
    journal_group(s);
    acknowledge(s);
    apply_group(s);
}

void sim_run(uint64_t seed, int64_t steps, const struct sim_store *store, struct arena *arena,
             struct sim_report *report)
{
    enum { DAY_ONE_MS = 1000000 };
    *report = (struct sim_report){.breach = STR("")};
    struct sim *s = ARENA_NEW(arena, struct sim);
    *s = (struct sim){.store = store, .out = arena, .report = report, .now_ms = DAY_ONE_MS};
    prng_init(&s->prng, seed);
    arena_init(&s->world, 0);
    arena_init(&s->scratch, 0);
    buf_init(&s->asked.bytes, CHECKPOINT_MAX);
    buf_init(&s->bytes, CHECKPOINT_MAX);
    s->e = engine_new();
    s->demand.prng = &s->prng;
    s->past.arena = &s->world;
    sim_cluster_init(&s->cluster, &s->world, &s->prng, s->now_ms);
    s->port = sim_cluster_port(&s->cluster);
    first_plan(s);
    while (s->steps < steps && !broken(s)) {
        play(s);
    }
    if (!broken(s)) {
        verify(s);
    }
    report->steps = s->steps;
    report->virtual_ms = s->now_ms - DAY_ONE_MS;
    report->starts = (int64_t)s->cluster.starts;
    report->stops = (int64_t)s->cluster.stops;
    report->node_losses = (int64_t)s->cluster.node_losses;
    engine_free(s->e);
    buf_done(&s->asked.bytes);
    buf_done(&s->bytes);
    arena_done(&s->scratch);
    arena_done(&s->world);
}

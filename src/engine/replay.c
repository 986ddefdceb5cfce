// SPDX-License-Identifier: Apache-2.0
#include "engine/replay.h"

#include "model/record.h"
#include "sched/cycle.h"

void replay_init(struct replay *r, struct engine *engine, bool decides)
{
    *r = (struct replay){.engine = engine, .decides = decides};
    arena_init(&r->arena, 0);
}

void replay_done(struct replay *r)
{
    arena_done(&r->arena);
}

static enum status read_record(struct replay *r, int64_t seq, struct str bytes, struct input *in,
                               struct err *err)
{
    const struct state *s = engine_state(r->engine);
    enum status status = record_decode(&record_input, bytes, &r->arena, in, err);
    if (status == STATUS_OK && in->version > INPUT_VERSION) {
        status = err_set(err, STATUS_UNSUPPORTED, "it was written by a newer weir");
    }
    if (status == STATUS_OK && (in->seq != seq || seq != s->seq + 1 || in->now_ms < s->now_ms)) {
        status = err_set(err, STATUS_CORRUPT, "it does not follow the record before it");
    }
    return status;
}

// A tick is decided on the state that the record before it left, at the time it bears.
static enum status compare(struct replay *r, const struct input *in, struct err *err)
{
    struct tick again;
    bool changed;
    if (in->tick.version != SCHED_VERSION) {
        r->foreign++;
        return STATUS_OK;
    }
    engine_decide(r->engine, in->now_ms, &r->arena, &again, &changed);
    if (record_eq(&record_tick, &in->tick, &again)) {
        r->ticks++;
        return STATUS_OK;
    }
    r->difference = (struct replay_difference){
        .found = true,
        .seq = in->seq,
        .now_ms = in->now_ms,
        .field = record_diff(&record_tick, &in->tick, &again, &r->arena),
        .recorded = in->tick,
        .again = again,
    };
    return err_set(err, STATUS_CONFLICT, "the scheduler decides otherwise now");
}

enum status replay_record(struct replay *r, int64_t seq, struct str bytes, struct err *err)
{
    struct input in;
    arena_reset(&r->arena);
    enum status status = read_record(r, seq, bytes, &in, err);
    if (status == STATUS_OK && r->decides && in.kind == INPUT_TICK) {
        status = compare(r, &in, err);
    }
    if (status != STATUS_OK) {
        return err_wrap(err, "journal, record %lld", (long long)seq);
    }
    struct effects effects = {.arena = &r->arena};
    struct outcome outcome = {0};
    engine_apply(r->engine, &in, &effects, &outcome);
    r->inputs++;
    return STATUS_OK;
}

// SPDX-License-Identifier: Apache-2.0
// One batch is in flight at most. A submit meets an idle writer: batch 1 is the submit; once it is
// applied the scheduler decides at once, and batch 2 is the tick that places it: two syncs from
// request to start. Under load both batches carry whatever came meanwhile.
//
// The scheduler is not run again before it has rested as long as its last run took, while commands
// wait; after a long run four times as long, whether they wait or not: decisions on a large state take
// at most a fifth of the thread, and who asks meanwhile is answered.
//
// When the store fails, nothing of the batch is applied: its commands are answered with the
// failure, its observations go back into the queue (the cluster reports each once). The store is
// opened anew with the next command, or after a second.
#include "api/writer.h"

#include <string.h>

#include "api/steady.h"
#include "base/array.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/mem.h"
#include "engine/replay.h"
#include "io/clock.h"
#include "io/log.h"
#include "model/audit.h"
#include "model/record.h"

enum {
    BATCH_BYTES_MAX = 256 << 20,
    WAITING_BYTES_MAX = 64 << 20, /* of what is gathered; with the largest command well below */
    CHECKPOINT_INPUTS = 10000,
    CHECKPOINT_BYTES = 16 << 20,
    CHECKPOINT_BYTES_MAX = 1 << 30,
    RETRY_MS = 1000,   /* the store */
    RECHECK_MS = 1000, /* a time at which the engine wanted a decision, that is over already */
    TIMER_MAX_MS = 3600 * 1000,
    LONG_US = 4000, /* a decision that took so much of the processor is followed by a rest */
    RESTS = 4,      /* so many times as long: others are answered then */
};

struct entry {
    struct input input;
    writer_done *done; /* NULL: an observation or a tick */
    void *arg;
};

struct batch {
    struct arena arena;
    ARRAY(struct entry) entries;
};

struct writer {
    struct writer_config config;
    struct batch batches[2];
    struct batch *gathering, *in_flight; /* in_flight NULL: none */
    struct buf encoded;
    struct loop_timer timer;
    struct arena effects_arena;

    bool dirty;            /* the state changed since the last decision */
    int64_t decided_ms;    /* wall time of the last decision */
    int64_t rest_until_us; /* monotonic */
    bool rests;            /* till then whatever comes, else only while commands wait */
    uint32_t commands_waiting;
    int64_t next_ms, next_seq; /* what engine_next_ms says of the state of that number, plus one */

    bool failed;
    struct err failure;
    int64_t retry_ms; /* monotonic */

    int64_t inputs_since, bytes_since; /* the last checkpoint */
    int64_t checkpoint_size;

    int64_t refused_second;
    uint32_t refused_count, refused_dropped;
    struct {
        uint64_t author;
        uint32_t count;
    } refused_by[WRITER_REFUSED_MAX]; /* [refused_authors], in that second */
    uint32_t refused_authors;
    bool stopping;
    struct steady time;
};

static const struct state *state_of(const struct writer *w)
{
    return engine_state(w->config.engine);
}

int64_t writer_now_ms(struct writer *w)
{
    return steady_at(&w->time, w->config.now_ms(), clock_mono_us());
}

static void batch_clear(struct batch *b)
{
    arena_reset(&b->arena);
    memset(&b->entries, 0, sizeof b->entries);
}

static struct entry *batch_add(struct batch *b, const struct input *input, writer_done *done,
                               void *arg)
{
    struct entry *e = ARRAY_PUSH(&b->arena, &b->entries);
    record_copy(&record_input, input, &e->input, &b->arena);
    e->done = done;
    e->arg = arg;
    return e;
}

static struct str command_name(enum input_kind kind)
{
    static const struct str names[INPUT_KIND_COUNT] = {
        [INPUT_PLAN_APPLY] = STRS("plan apply"),
        [INPUT_SUBMIT] = STRS("submit"),
        [INPUT_UPDATE] = STRS("update"),
        [INPUT_WORKLOAD_TYPE] = STRS("workload type"),
        [INPUT_SUSPEND] = STRS("suspend"),
        [INPUT_RESUME] = STRS("resume"),
        [INPUT_DELETE] = STRS("delete"),
        [INPUT_IDENTITY] = STRS("identity"),
        [INPUT_NAME_CLUSTER] = STRS("name cluster"),
        [INPUT_NODE_DRAIN] = STRS("node drain"),
        [INPUT_NODE_UNDRAIN] = STRS("node undrain"),
        [INPUT_ASSET] = STRS("asset"),
        [INPUT_POLICY] = STRS("policy"),
    };
    return names[kind];
}

/* ---- applying ---- */

static void apply(struct writer *w, const struct input *in, struct outcome *outcome)
{
    arena_reset(&w->effects_arena);
    struct effects effects = {.arena = &w->effects_arena};
    *outcome = (struct outcome){0};
    engine_apply(w->config.engine, in, &effects, outcome);
    if (effects.count > 0) {
        w->config.cluster->do_effects(w->config.cluster->ctx, effects.items, effects.count);
    }
}

static void maybe_checkpoint(struct writer *w)
{
    int64_t inputs = w->config.checkpoint_inputs;
    int64_t bytes = w->config.checkpoint_bytes;
    bytes = bytes > 4 * w->checkpoint_size ? bytes : 4 * w->checkpoint_size;
    if (w->inputs_since < inputs && w->bytes_since < bytes) {
        return;
    }
    struct err err;
    w->inputs_since = 0; /* also when it fails: the journal has all, and grows meanwhile */
    w->bytes_since = 0;
    struct buf out;
    buf_init(&out, CHECKPOINT_BYTES_MAX);
    engine_checkpoint(w->config.engine, &out);
    enum status status =
        out.full ? err_set(&err, STATUS_TOO_LARGE, "the state does not fit into a checkpoint")
                 : w->config.store->checkpoint(w->config.store->ctx, state_of(w)->seq,
                                               engine_hash(w->config.engine), buf_view(&out), &err);
    w->checkpoint_size = (int64_t)out.len;
    buf_done(&out);
    if (status != STATUS_OK) {
        log_err(LOG_ERROR, "checkpoint_failed", &err);
    }
}

static void record(struct writer *w, const struct input *in)
{
    if (w->config.recorded != NULL) {
        w->config.recorded(w->config.changed_ctx, in);
    }
}

// A command that another in its batch was faster than: the audit is to say that nothing came of it.
static void note_refused(struct writer *w, const struct input *command,
                         const struct outcome *outcome)
{
    struct input in = {
        .kind = INPUT_REFUSED,
        .author = command->author,
        .origin = command->origin,
        .refused = {.what = command_name(command->kind),
                    .status = (uint32_t)outcome->status,
                    .text = str_from_c(outcome->err.text),
                    .command_seq = command->seq},
    };
    batch_add(w->gathering, &in, NULL, NULL);
}

static void finish_applied(struct writer *w, struct batch *b)
{
    for (uint32_t i = 0; i < b->entries.count; i++) {
        struct entry *e = &b->entries.items[i];
        struct outcome outcome;
        apply(w, &e->input, &outcome);
        record(w, &e->input);
        if (outcome.status != STATUS_OK && input_is_command(e->input.kind)) {
            note_refused(w, &e->input, &outcome);
        }
        if (e->done != NULL) {
            e->done(e->arg, &outcome);
        }
    }
    w->dirty = true;
}

static void finish_failed(struct writer *w, struct batch *b, const struct err *err)
{
    if (!w->failed) {
        log_err(LOG_ERROR, "store_failed", err);
    }
    w->failed = true;
    w->failure = *err;
    w->retry_ms = clock_mono_ms() + RETRY_MS;
    /* Observations come before what was gathered meanwhile: put both into one new list. */
    struct batch *gathered = w->gathering;
    struct batch merged = {0};
    arena_init(&merged.arena, 0);
    for (uint32_t i = 0; i < b->entries.count; i++) {
        struct entry *e = &b->entries.items[i];
        if (e->done != NULL) {
            struct outcome outcome = {.status = err->status, .err = *err};
            e->done(e->arg, &outcome);
        } else if (e->input.kind != INPUT_TICK && e->input.kind != INPUT_REFUSED) {
            batch_add(&merged, &e->input, NULL, NULL);
        }
    }
    for (uint32_t i = 0; i < gathered->entries.count; i++) {
        struct entry *e = &gathered->entries.items[i];
        batch_add(&merged, &e->input, e->done, e->arg);
    }
    arena_done(&gathered->arena);
    *gathered = merged;
    w->dirty = true;
}

static void on_stored(void *arg, enum status status, const struct err *err)
{
    struct writer *w = arg;
    struct batch *b = w->in_flight;
    CHECK(b != NULL);
    if (status == STATUS_OK) {
        w->failed = false;
        w->inputs_since += b->entries.count;
        w->bytes_since += (int64_t)w->encoded.len;
        finish_applied(w, b);
    } else {
        finish_failed(w, b, err);
    }
    batch_clear(b);
    w->in_flight = NULL;
    if (status == STATUS_OK) {
        maybe_checkpoint(w);
        if (w->config.changed != NULL) {
            w->config.changed(w->config.changed_ctx);
        }
    }
}

/* ---- gathering ---- */

// It looks at every workload: once for each state.
static int64_t next_ms_of(struct writer *w)
{
    if (w->next_seq != state_of(w)->seq + 1) {
        w->next_seq = state_of(w)->seq + 1;
        w->next_ms = engine_next_ms(w->config.engine);
    }
    return w->next_ms;
}

static bool decision_due(struct writer *w, int64_t now)
{
    if ((w->rests || w->commands_waiting > 0) && clock_mono_us() < w->rest_until_us) {
        return false;
    }
    if (w->dirty) {
        return true;
    }
    int64_t next_ms = next_ms_of(w);
    return next_ms <= now && (next_ms > w->decided_ms || now - w->decided_ms >= RECHECK_MS);
}

/* Decides on the state as it is and, when that changes anything, puts the tick first. */
static void add_tick(struct writer *w, int64_t now)
{
    int64_t start_us = clock_cpu_us();
    struct batch *b = w->gathering;
    struct input tick = {.kind = INPUT_TICK, .version = INPUT_VERSION};
    bool changed = false;
    struct arena arena;
    arena_init(&arena, 0);
    engine_decide(w->config.engine, now, &arena, &tick.tick, &changed);
    w->dirty = false;
    w->decided_ms = now;
    if (changed) {
        batch_add(b, &tick, NULL, NULL);
        struct entry last = b->entries.items[b->entries.count - 1];
        memmove(b->entries.items + 1, b->entries.items,
                sizeof *b->entries.items * (b->entries.count - 1));
        b->entries.items[0] = last;
    }
    arena_done(&arena);
    int64_t used_us = clock_cpu_us() - start_us;
    w->rests = used_us >= LONG_US;
    w->rest_until_us = clock_mono_us() + used_us * (w->rests ? RESTS : 1);
}

static void send_batch(struct writer *w, int64_t now)
{
    struct batch *b = w->gathering;
    w->gathering = b == &w->batches[0] ? &w->batches[1] : &w->batches[0];
    w->in_flight = b;
    w->commands_waiting = 0;
    buf_clear(&w->encoded);
    uint32_t count = b->entries.count;
    struct store_record *records = ARENA_ARRAY(&b->arena, struct store_record, count);
    size_t *ends = ARENA_ARRAY(&b->arena, size_t, count);
    for (uint32_t i = 0; i < count; i++) {
        struct input *in = &b->entries.items[i].input;
        in->seq = state_of(w)->seq + 1 + i;
        in->now_ms = now;
        in->version = INPUT_VERSION;
        record_encode(&record_input, in, &w->encoded);
        ends[i] = w->encoded.len;
    }
    CHECK(!w->encoded.full); /* each input and their number are bounded at the edge */
    for (uint32_t i = 0; i < count; i++) {
        size_t start = i > 0 ? ends[i - 1] : 0;
        records[i] = (struct store_record){
            b->entries.items[i].input.seq,
            {w->encoded.ptr + start, (uint32_t)(ends[i] - start)},
        };
    }
    w->config.store->append(w->config.store->ctx, records, count, on_stored, w);
}

static bool reopen(struct writer *w)
{
    if (clock_mono_ms() < w->retry_ms && w->commands_waiting == 0) {
        return false;
    }
    struct err err;
    if (w->config.reopen(w->config.reopen_ctx, &err) == STATUS_OK) {
        LOG(LOG_INFO, "store_reopened", LOG_I64("seq", state_of(w)->seq));
        w->failed = false;
        return true;
    }
    w->failure = err;
    w->retry_ms = clock_mono_ms() + RETRY_MS;
    struct batch *b = w->gathering; /* those that wait are told */
    uint32_t kept = 0;
    for (uint32_t i = 0; i < b->entries.count; i++) {
        struct entry e = b->entries.items[i];
        if (e.done != NULL) {
            struct outcome outcome = {.status = err.status, .err = err};
            e.done(e.arg, &outcome);
        } else {
            b->entries.items[kept++] = e;
        }
    }
    b->entries.count = kept;
    w->commands_waiting = 0;
    return false;
}

static void on_timer(void *arg)
{
    (void)arg; /* it only ends the wait; before_wait does the work */
}

static void set_timer(struct writer *w, int64_t now)
{
    int64_t wait_ms = TIMER_MAX_MS;
    if (w->failed) {
        wait_ms = w->retry_ms - clock_mono_ms();
    } else if (w->in_flight == NULL) {
        int64_t next_ms = next_ms_of(w);
        if (next_ms <= w->decided_ms) {
            next_ms = w->decided_ms + RECHECK_MS;
        }
        if (next_ms - now < wait_ms) {
            wait_ms = next_ms - now;
        }
        if (w->dirty) { /* it rests */
            wait_ms = (w->rest_until_us - clock_mono_us()) / 1000 + 1;
        }
    }
    loop_at(w->config.loop, &w->timer, clock_mono_ms() + (wait_ms > 0 ? wait_ms : 0), on_timer,
            NULL);
}

static void observe(void *arg, const struct input *observation)
{
    struct writer *w = arg;
    batch_add(w->gathering, observation, NULL, NULL);
}

static void before_wait(void *arg)
{
    struct writer *w = arg;
    w->config.store->poll(w->config.store->ctx);
    w->config.cluster->poll(w->config.cluster->ctx, observe, w);
    int64_t now = writer_now_ms(w);
    if (w->in_flight == NULL && (!w->failed || reopen(w))) {
        if (decision_due(w, now)) {
            add_tick(w, now);
        }
        if (w->gathering->entries.count > 0) {
            send_batch(w, now);
        }
    }
    set_timer(w, now);
}

/* ---- the edge ---- */

void writer_command(struct writer *w, const struct input *command, writer_done *done, void *arg)
{
    struct outcome outcome = {0};
    if (w->stopping) {
        outcome.status = err_set(&outcome.err, STATUS_BUSY, "the server stops");
    } else if (w->commands_waiting >= WRITER_WAITING_MAX ||
               w->gathering->arena.used_bytes > WAITING_BYTES_MAX) {
        outcome.status = err_set(&outcome.err, STATUS_BUSY, "too many commands are waiting (%u)",
                                 w->commands_waiting);
        err_hint(&outcome.err, "try again in a second");
    } else {
        engine_check(w->config.engine, command, &outcome);
        if (outcome.status == STATUS_OK && !outcome.repeated) {
            batch_add(w->gathering, command, done, arg);
            w->commands_waiting++;
            if (w->in_flight == NULL) { /* before_wait may have passed it by in this round */
                loop_at(w->config.loop, &w->timer, clock_mono_ms(), on_timer, NULL);
            }
            return;
        }
        if (!outcome.repeated) {
            writer_refused(w, command->author, &command->origin, command_name(command->kind),
                           &outcome.err);
        }
    }
    done(arg, &outcome);
}

/* Whoever floods the audit hides what others were refused as little as can be. */
static bool keeps_refused(struct writer *w, struct str author)
{
    uint64_t hash = hash_bytes(author.ptr, author.len, 0);
    uint32_t i = 0;
    while (i < w->refused_authors && w->refused_by[i].author != hash) {
        i++;
    }
    if (w->refused_count >= WRITER_REFUSED_MAX) {
        return false;
    }
    if (i == w->refused_authors) {
        w->refused_authors++;
        w->refused_by[i].author = hash;
        w->refused_by[i].count = 0;
    }
    bool keeps = w->refused_by[i].count < WRITER_REFUSED_PER_SECOND;
    w->refused_by[i].count += keeps;
    w->refused_count += keeps;
    return keeps;
}

void writer_refused(struct writer *w, struct str author, const struct origin *origin,
                    struct str what, const struct err *err)
{
    int64_t second = clock_mono_ms() / 1000;
    if (second != w->refused_second) {
        if (w->refused_dropped > 0) {
            LOG(LOG_WARN, "refused_commands_not_kept", LOG_I64("count", w->refused_dropped));
        }
        w->refused_second = second;
        w->refused_count = 0;
        w->refused_authors = 0;
        w->refused_dropped = 0;
    }
    if (w->failed || w->stopping || !keeps_refused(w, author)) {
        w->refused_dropped++;
        return;
    }
    struct input in = {.kind = INPUT_REFUSED, .version = INPUT_VERSION, .author = author};
    in.origin = *origin;
    in.refused.what = what;
    in.refused.status = (uint32_t)err->status;
    in.refused.text = str_from_c(err->text);
    batch_add(w->gathering, &in, NULL, NULL);
}

static void no_answer(void *arg, const struct outcome *outcome)
{
    (void)arg;
    (void)outcome;
}

void writer_forget(struct writer *w, void *arg)
{
    for (int k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < w->batches[k].entries.count; i++) {
            struct entry *e = &w->batches[k].entries.items[i];
            if (e->done != NULL && e->arg == arg) {
                e->done = no_answer;
            }
        }
    }
}

bool writer_disk_ok(const struct writer *w, struct err *err)
{
    if (w->failed) {
        *err = w->failure;
    }
    return !w->failed;
}

/* ---- start and stop ---- */

struct start {
    struct writer *w;
    struct replay replay;
    struct arena arena;     /* of the record in hand */
    int64_t checkpoint_seq; /* what the records up to it did is in the checkpoint */
};

static enum status start_audit(struct start *start, struct str bytes, struct err *err)
{
    struct arena *arena = &start->arena;
    struct input *in = ARENA_NEW(arena, struct input);
    enum status status = record_decode(&record_audited, bytes, arena, in, err);
    if (status == STATUS_OK) {
        record(start->w, in);
    }
    arena_reset(arena);
    return status;
}

static enum status start_record(void *arg, int64_t seq, struct str bytes, struct err *err)
{
    struct start *start = arg;
    enum status status = start_audit(start, bytes, err);
    if (status != STATUS_OK) {
        return err_wrap(err, "record %lld", (long long)seq);
    }
    if (seq <= start->checkpoint_seq) {
        return STATUS_OK;
    }
    start->w->bytes_since += bytes.len;
    return replay_record(&start->replay, seq, bytes, err);
}

static enum status restore(struct writer *w, struct writer_report *report, struct err *err)
{
    struct store *store = w->config.store;
    struct engine *engine = w->config.engine;
    struct start start = {.w = w};
    arena_init(&start.arena, 0);
    replay_init(&start.replay, engine, false);
    int64_t seq = 0;
    uint64_t hash = 0;
    struct str bytes = {0};
    enum status status = store->latest(store->ctx, &start.replay.arena, &seq, &hash, &bytes, err);
    if (status == STATUS_OK && seq > 0) {
        status = engine_restore(engine, bytes, err);
        if (status == STATUS_OK &&
            (engine_hash(engine) != hash || engine_state(engine)->seq != seq)) {
            status = err_set(err, STATUS_CORRUPT,
                             "its state does not have the hash it was "
                             "stored with");
        }
        if (status != STATUS_OK) {
            err_hint(err, "copy the data directory aside, check the disk, restore a backup of it; "
                          "nothing was changed, and jobs go on");
            err_wrap(err, "checkpoint %lld", (long long)seq);
        }
        w->checkpoint_size = bytes.len;
    }
    // History is read too: whoever looks into it later is to find it whole.
    start.checkpoint_seq = seq;
    status = status != STATUS_OK ? status : store->read(store->ctx, 0, start_record, &start, err);
    report->checkpoint_seq = seq;
    report->replayed = start.replay.inputs;
    w->inputs_since = start.replay.inputs;
    replay_done(&start.replay);
    arena_done(&start.arena);
    return status;
}

enum status writer_new(const struct writer_config *config, struct writer **out,
                       struct writer_report *report, struct err *err)
{
    struct writer *w = mem_alloc(sizeof *w);
    w->config = *config;
    if (w->config.checkpoint_inputs == 0) {
        w->config.checkpoint_inputs = CHECKPOINT_INPUTS;
    }
    if (w->config.checkpoint_bytes == 0) {
        w->config.checkpoint_bytes = CHECKPOINT_BYTES;
    }
    arena_init(&w->batches[0].arena, 0);
    arena_init(&w->batches[1].arena, 0);
    arena_init(&w->effects_arena, 0);
    w->gathering = &w->batches[0];
    w->dirty = true;
    buf_init(&w->encoded, BATCH_BYTES_MAX);
    *report = (struct writer_report){0};
    enum status status = restore(w, report, err);
    if (status != STATUS_OK) {
        writer_free(w);
        return status;
    }
    w->time = (struct steady){state_of(w)->now_ms, clock_mono_us()};
    struct effects effects = {.arena = &w->effects_arena};
    engine_outstanding(w->config.engine, &effects);
    report->outstanding = effects.count;
    if (effects.count > 0) {
        w->config.cluster->do_effects(w->config.cluster->ctx, effects.items, effects.count);
    }
    loop_before(w->config.loop, before_wait, w);
    *out = w;
    return STATUS_OK;
}

enum status writer_stop(struct writer *w, struct err *err)
{
    w->stopping = true;
    struct store *store = w->config.store;
    store->wait(store->ctx);
    if (!w->failed && w->gathering->entries.count > 0) {
        send_batch(w, writer_now_ms(w));
        store->wait(store->ctx);
    }
    if (w->failed) {
        *err = w->failure;
        return err->status;
    }
    struct buf out;
    buf_init(&out, CHECKPOINT_BYTES_MAX);
    engine_checkpoint(w->config.engine, &out);
    enum status status = store->checkpoint(store->ctx, state_of(w)->seq,
                                           engine_hash(w->config.engine), buf_view(&out), err);
    buf_done(&out);
    return status;
}

void writer_free(struct writer *w)
{
    if (w == NULL) {
        return;
    }
    loop_before_del(w->config.loop, before_wait, w);
    loop_cancel(w->config.loop, &w->timer);
    arena_done(&w->batches[0].arena);
    arena_done(&w->batches[1].arena);
    arena_done(&w->effects_arena);
    buf_done(&w->encoded);
    mem_free(w);
}

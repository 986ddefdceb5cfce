// SPDX-License-Identifier: Apache-2.0
// The writer against a store in memory: what is answered is stored, what failed changed nothing,
// what is restored is what was.
#include "api/writer.h"

#include "io/clock.h"

#include "world.h"

static struct uuid id_of(uint8_t n)
{
    struct uuid id = {{n}};
    return id;
}

static void ready(struct world *w)
{
    struct world_answer a = {0};
    world_node(w);
    world_plan(w, &a);
    world_settle(w);
    test_row(a.outcome.err.text);
    REQUIRE(a.done && a.outcome.status == STATUS_OK);
    test_row(NULL);
}

TEST(a_submit_is_durable_then_placed_and_started)
{
    struct world w;
    world_init(&w);
    ready(&w);
    int64_t seq = engine_state(w.engine)->seq;
    struct world_answer a = {0};
    world_submit_n(&w, 1, "one", 1, &a);
    EXPECT(!a.done); /* not before it is stored */
    loop_step(w.loop, 0);
    loop_step(w.loop, 0);
    REQUIRE(a.done && a.outcome.status == STATUS_OK);
    EXPECT(uuid_eq(a.outcome.id, id_of(1)));
    world_settle(&w);
    const struct workload *wl = engine_find(w.engine, id_of(1));
    REQUIRE(wl != NULL);
    EXPECT_STR(workload_phase(wl), STR("Running"));
    EXPECT_I64(w.starts, 1);
    /* submit, the tick that places it, the report of its start: nothing else */
    EXPECT_I64(engine_state(w.engine)->seq, seq + 3);
    world_done(&w);
}

/* As the HTTP server does with the next request of a connection it has just answered. */
struct late {
    struct world *w;
    struct world_answer *answer;
    bool done;
};

static void submit_late(void *arg)
{
    struct late *late = arg;
    if (!late->done) {
        late->done = true;
        world_submit_n(late->w, 1, "one", 1, late->answer);
    }
}

TEST(a_command_that_comes_just_before_the_wait_does_not_wait)
{
    enum { LONG_MS = 20000 };
    struct world w;
    world_init(&w);
    ready(&w);
    struct world_answer a = {0};
    struct late late = {.w = &w, .answer = &a};
    loop_before(w.loop, submit_late, &late); /* comes after the writer's turn */
    int64_t start_ms = clock_mono_ms();
    loop_step(w.loop, LONG_MS);
    EXPECT(late.done && clock_mono_ms() - start_ms < LONG_MS / 2);
    loop_step(w.loop, 0);
    loop_step(w.loop, 0);
    EXPECT(a.done && a.outcome.status == STATUS_OK);
    loop_before_del(w.loop, submit_late, &late);
    world_done(&w);
}

TEST(nothing_is_written_when_nothing_happens)
{
    struct world w;
    world_init(&w);
    ready(&w);
    int64_t seq = engine_state(w.engine)->seq;
    for (int i = 0; i < 20; i++) {
        world_now_ms += 60000;
        loop_step(w.loop, 0);
    }
    EXPECT_I64(engine_state(w.engine)->seq, seq);
    world_done(&w);
}

/* Sets the wall clock and lets happen what is due; gives the engine's time, which never goes back. */
static int64_t at(struct world *w, int64_t wall_ms)
{
    int64_t before_ms = engine_state(w->engine)->now_ms;
    world_now_ms = wall_ms;
    for (int i = 0; i < 30; i++) {
        loop_step(w->loop, 0);
        EXPECT(engine_state(w->engine)->now_ms >= before_ms);
        before_ms = engine_state(w->engine)->now_ms;
    }
    return before_ms;
}

static void protect(struct world *w, int64_t preempt_min_runtime_ms)
{
    struct pool pool = {.name = STR("default"), .preempt_min_runtime_ms = preempt_min_runtime_ms};
    struct input in = {.kind = INPUT_PLAN_APPLY, .version = INPUT_VERSION, .author = STR("root")};
    struct world_answer a = {0};
    in.plan_apply.plan = (struct plan){.pools = &pool, .pools_count = 1};
    writer_command(w->writer, &in, world_done_fn, &a);
    world_settle(w);
    REQUIRE(a.done && a.outcome.status == STATUS_OK);
}

TEST(the_clock_may_go_back)
{
    enum { MINUTE_MS = 60000, HOUR_MS = 60 * MINUTE_MS };
    struct world w;
    struct world_answer a = {0};
    struct world_answer b = {0};
    world_init(&w);
    ready(&w);
    protect(&w, MINUTE_MS);
    world_submit_n(&w, 1, "long", 4, &a);
    at(&w, world_now_ms);
    int64_t begin_ms = engine_find(w.engine, id_of(1))->last_start_ms;
    int64_t last_ms = at(&w, begin_ms + MINUTE_MS / 2);
    world_now_ms -= HOUR_MS;
    world_priority = 90; /* preemptible, like the other */
    world_submit_n(&w, 2, "urgent", 4, &b);
    world_priority = 0;
    world_settle(&w);
    EXPECT(b.done && b.outcome.status == STATUS_OK);
    EXPECT_I64(w.stops, 0);
    EXPECT_I64(engine_find(w.engine, id_of(2))->why.until_ms, begin_ms + MINUTE_MS);
    /* Time goes on, also after a restart while the clock is still wrong. */
    int64_t now_ms = writer_now_ms(w.writer);
    EXPECT(now_ms >= last_ms);
    int64_t patience_us = clock_mono_us() + INT64_C(20) * 1000000;
    while (writer_now_ms(w.writer) < now_ms + 3 && clock_mono_us() < patience_us) {
        loop_step(w.loop, 1);
    }
    EXPECT(writer_now_ms(w.writer) >= now_ms + 3);
    struct err err;
    world_kill(&w);
    REQUIRE_OK(world_start_writer(&w, &err), &err);
    EXPECT(engine_state(w.engine)->now_ms >= last_ms);
    at(&w, world_now_ms);
    EXPECT_I64(w.stops, 0);
    /* The minimum run time is held to the millisecond once the clock is right. */
    at(&w, begin_ms + MINUTE_MS - 1);
    EXPECT_I64(w.stops, 0);
    at(&w, begin_ms + MINUTE_MS);
    EXPECT_I64(w.stops, 1);
    EXPECT_STR(workload_phase(engine_find(w.engine, id_of(2))), STR("Running"));
    world_done(&w);
}

TEST(what_comes_during_a_commit_makes_one_batch)
{
    struct world w;
    world_init(&w);
    ready(&w);
    enum { COUNT = 50 };
    static struct world_answer answers[COUNT];
    memset(answers, 0, sizeof answers);
    memory_delay(w.memory, 0); /* the disk is slow */
    char name[COUNT][16];
    for (uint8_t i = 0; i < COUNT; i++) {
        snprintf(name[i], sizeof name[i], "job-%u", i);
        world_submit_n(&w, (uint8_t)(i + 1), name[i], 1, &answers[i]);
        loop_step(w.loop, 0);
    }
    EXPECT_I64(memory_outstanding(w.memory), 1); /* one in flight, the others wait together */
    memory_delay(w.memory, 1);
    world_settle(&w);
    for (int i = 0; i < COUNT; i++) {
        EXPECT(answers[i].done && answers[i].outcome.status == STATUS_OK);
    }
    EXPECT_I64(engine_state(w.engine)->workloads_count, COUNT);
    EXPECT_I64(w.starts, 4);
    world_done(&w);
}

struct seen_refusal {
    struct arena *arena;
    uint32_t count;
    int64_t command_seq;
};

static enum status note_refusal(void *arg, int64_t seq, struct str bytes, struct err *err)
{
    struct seen_refusal *seen = arg;
    struct input *in = ARENA_NEW(seen->arena, struct input);
    (void)seq;
    REQUIRE_OK(record_decode(&record_input, bytes, seen->arena, in, err), err);
    if (in->kind == INPUT_REFUSED) {
        seen->count++;
        seen->command_seq = in->refused.command_seq;
        EXPECT_I64(in->refused.status, STATUS_CONFLICT);
    }
    return STATUS_OK;
}

TEST(that_a_command_in_the_journal_came_too_late_is_in_the_journal)
{
    struct world w;
    world_init(&w);
    ready(&w);
    struct err err = {0};
    struct world_answer answers[3] = {0};
    memory_delay(w.memory, 0);
    world_submit_n(&w, 1, "first", 1, &answers[0]);
    loop_step(w.loop, 0);
    world_submit_n(&w, 2, "same", 1, &answers[1]); /* both are let in: neither is there yet */
    world_submit_n(&w, 3, "same", 1, &answers[2]);
    memory_delay(w.memory, 1);
    world_settle(&w);
    EXPECT(answers[1].outcome.status == STATUS_OK);
    EXPECT_I64(answers[2].outcome.status, STATUS_CONFLICT);
    struct seen_refusal seen = {.arena = &w.arena};
    REQUIRE_OK(w.store.read(w.store.ctx, 0, note_refusal, &seen, &err), &err);
    EXPECT_I64(seen.count, 1);
    EXPECT(seen.command_seq > 0);
    world_done(&w);
}

TEST(a_key_used_again_gets_the_same_answer)
{
    struct world w;
    world_init(&w);
    ready(&w);
    struct world_answer first = {0};
    struct world_answer meanwhile = {0};
    struct world_answer later = {0};
    world_submit_n(&w, 1, "one", 1, &first);
    world_submit_n(&w, 1, "one", 1, &meanwhile); /* before the first is done */
    world_settle(&w);
    world_submit_n(&w, 1, "one", 1, &later);
    world_settle(&w);
    EXPECT(meanwhile.done && meanwhile.outcome.status == STATUS_OK && meanwhile.outcome.repeated);
    EXPECT(later.done && later.outcome.status == STATUS_OK && later.outcome.repeated);
    EXPECT(uuid_eq(later.outcome.id, first.outcome.id));
    EXPECT_I64(engine_state(w.engine)->workloads_count, 1);
    world_done(&w);
}

TEST(what_is_refused_is_answered_at_once_and_kept_within_limits)
{
    struct world w;
    world_init(&w);
    ready(&w);
    int64_t seq = engine_state(w.engine)->seq;
    for (uint8_t i = 0; i < 100; i++) {
        struct world_answer a = {0};
        world_submit_n(&w, (uint8_t)(i + 1), "Not-A-Name", 1, &a);
        EXPECT(a.done && a.outcome.status == STATUS_INVALID);
    }
    world_settle(&w);
    int64_t kept = engine_state(w.engine)->seq - seq;
    /* a second may end in between */
    EXPECT(kept >= WRITER_REFUSED_PER_SECOND && kept <= 2 * WRITER_REFUSED_PER_SECOND);
    /* who floods it does not hide what others are refused; all together have a limit too */
    for (int i = 0; i < 3; i++) {
        struct err err = {0};
        struct origin origin = {0};
        err_set(&err, STATUS_DENIED, "no");
        seq = engine_state(w.engine)->seq;
        for (int k = 0; k < (i < 2 ? 1 : 1000); k++) {
            char author[16];
            snprintf(author, sizeof author, "%d-%d", i, k);
            writer_refused(w.writer, str_from_c(author), &origin, STR("try"), &err);
        }
        world_settle(&w);
        kept = engine_state(w.engine)->seq - seq;
        EXPECT(i < 2 ? kept == 1
                     : kept >= WRITER_REFUSED_MAX / 2 && kept <= 2 * WRITER_REFUSED_MAX);
    }
    world_done(&w);
}

TEST(too_many_waiting_commands_are_told_to_come_back)
{
    struct world w;
    world_init(&w);
    ready(&w);
    memory_delay(w.memory, 0);
    static struct world_answer answers[WRITER_WAITING_MAX + 2];
    memset(answers, 0, sizeof answers);
    struct input in = {.kind = INPUT_PLAN_APPLY, .version = INPUT_VERSION, .author = STR("root")};
    uint32_t busy = 0;
    for (uint32_t i = 0; i < COUNT_OF(answers); i++) {
        writer_command(w.writer, &in, world_done_fn, &answers[i]);
        busy += answers[i].done && answers[i].outcome.status == STATUS_BUSY;
    }
    EXPECT_I64(busy, 2);
    memory_delay(w.memory, 1);
    world_settle(&w);
    EXPECT(answers[0].done && answers[WRITER_WAITING_MAX - 1].done);
    world_done(&w);
}

/* ---- the disk ---- */

TEST(a_full_disk_is_answered_changes_nothing_and_ends)
{
    struct world w;
    world_init(&w);
    ready(&w);
    struct world_answer a = {0};
    world_submit_n(&w, 1, "one", 1, &a);
    world_settle(&w);
    uint64_t hash = engine_hash(w.engine);
    const struct workload *wl = engine_find(w.engine, id_of(1));
    struct uuid pod = wl->pods[0].id;

    memory_refuse(w.memory, 0);
    w.reopen_fails = true;
    struct world_answer refused = {0};
    world_pod(&w, INPUT_POD_EXITED, pod, 1, 0, STR("Completed")); /* the cluster says it once */
    world_submit_n(&w, 2, "two", 1, &refused);
    world_settle(&w);
    EXPECT(refused.done && refused.outcome.status == STATUS_IO);
    EXPECT(engine_hash(w.engine) == hash);
    struct err err;
    EXPECT(!writer_disk_ok(w.writer, &err));

    struct world_answer again = {0};
    world_submit_n(&w, 3, "three", 1, &again); /* tries to open it anew, in vain */
    world_settle(&w);
    EXPECT(again.done && again.outcome.status == STATUS_IO);
    EXPECT(strstr(again.outcome.err.text, "disk full") != NULL);
    EXPECT(w.reopens > 0);

    w.reopen_fails = false;
    struct world_answer after = {0};
    world_submit_n(&w, 2, "two", 1, &after);
    world_settle(&w);
    EXPECT(after.done && after.outcome.status == STATUS_OK);
    EXPECT(writer_disk_ok(w.writer, &err));
    wl = engine_find(w.engine, id_of(1));
    EXPECT_STR(workload_phase(wl), STR("Completed")); /* the observation was not lost */
    EXPECT(engine_find(w.engine, id_of(3)) == NULL);
    world_done(&w);
}

/* ---- restarts ---- */

static void restart(struct world *w)
{
    struct err err = {0};
    world_kill(w);
    REQUIRE_OK(world_start_writer(w, &err), &err);
}

TEST(a_restart_gives_the_same_state_and_asks_again_for_what_was_not_confirmed)
{
    static const struct {
        const char *name;
        int64_t checkpoint_inputs;
        bool checkpoint;
    } rows[] = {
        {"from the journal alone",       1000000, false},
        {"from a checkpoint and a tail", 4,       true },
        {"from a checkpoint each input", 1,       true },
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        test_row(rows[i].name);
        struct world w;
        world_init(&w);
        w.checkpoint_inputs = rows[i].checkpoint_inputs;
        restart(&w);
        ready(&w);
        struct world_answer a[3] = {0};
        world_submit_n(&w, 1, "one", 1, &a[0]);
        world_settle(&w);
        w.lazy = true;
        world_submit_n(&w, 2, "two", 2, &a[1]);
        world_submit_n(&w, 3, "three", 4, &a[2]);
        world_settle(&w);
        uint64_t hash = engine_hash(w.engine);
        EXPECT_I64(w.starts, 2);
        restart(&w);
        EXPECT(engine_hash(w.engine) == hash);
        EXPECT((w.report.checkpoint_seq > 0) == rows[i].checkpoint);
        EXPECT_I64(w.report.outstanding, 1); /* the start of "two" */
        EXPECT_I64(w.starts, 3);
        world_done(&w);
    }
    test_row(NULL);
}

TEST(a_clean_stop_leaves_nothing_to_apply)
{
    struct world w;
    world_init(&w);
    ready(&w);
    struct world_answer a = {0};
    struct err err = {0};
    world_submit_n(&w, 1, "one", 1, &a);
    REQUIRE_OK(writer_stop(w.writer, &err), &err); /* with the command still waiting */
    EXPECT(a.done && a.outcome.status == STATUS_OK);
    struct world_answer late = {0};
    world_submit_n(&w, 2, "two", 1, &late);
    EXPECT(late.done && late.outcome.status == STATUS_BUSY);
    restart(&w);
    EXPECT_I64(w.report.replayed, 0);
    EXPECT(engine_find(w.engine, id_of(1)) != NULL);
    world_done(&w);
}

TEST(damage_to_what_is_behind_a_checkpoint_stops_the_start_too)
{
    struct world w;
    world_init(&w);
    ready(&w);
    struct world_answer a = {0};
    world_submit_n(&w, 1, "one", 1, &a);
    world_settle(&w);
    struct err err = {0};
    REQUIRE_OK(writer_stop(w.writer, &err), &err);
    restart(&w);
    EXPECT(w.report.checkpoint_seq > 2);
    EXPECT_I64(w.report.replayed, 0);
    memory_damage(w.memory, 2);
    world_kill(&w);
    EXPECT_STATUS(world_start_writer(&w, &err), STATUS_CORRUPT);
    engine_free(w.engine);
    w.engine = NULL;
    world_done(&w);
}

TEST(damage_stops_the_start)
{
    struct world w;
    world_init(&w);
    ready(&w);
    struct world_answer a = {0};
    world_submit_n(&w, 1, "one", 1, &a);
    world_settle(&w);
    struct err err = {0};
    memory_damage(w.memory, 2);
    world_kill(&w);
    EXPECT_STATUS(world_start_writer(&w, &err), STATUS_CORRUPT);
    engine_free(w.engine);
    w.engine = NULL;

    /* a checkpoint that is whole, but not the state its hash was taken of */
    struct engine *other = engine_new();
    struct buf bytes;
    buf_init(&bytes, 1 << 20);
    engine_checkpoint(other, &bytes);
    REQUIRE_OK(w.store.checkpoint(w.store.ctx, 3, engine_hash(other) + 1, buf_view(&bytes), &err),
               &err);
    EXPECT_STATUS(world_start_writer(&w, &err), STATUS_CORRUPT);
    EXPECT(strstr(err.text, "checkpoint 3") != NULL);
    buf_done(&bytes);
    engine_free(other);
    world_done(&w);
}

TEST_MAIN()

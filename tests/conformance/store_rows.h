// SPDX-License-Identifier: Apache-2.0
// store_rows: what every implementation of the store port must do. A test file gives a lab, with
// which a row makes its store and opens it anew, and calls store_conforms.
#pragma once

#include "base/arena.h"
#include "base/test.h"
#include "ports/store.h"

struct store_lab {
    void *ctx;
    struct store *(*make)(void *ctx);   /* an empty store */
    struct store *(*reopen)(void *ctx); /* the same one, closed and opened again */
    void (*drop)(void *ctx);            /* closes and removes it */
};

struct store_row {
    const char *name;
    void (*run)(const struct store_lab *lab, struct store *s);
};

/* ---- helpers ---- */

enum { STORE_ROWS_MAX = 64 };
struct store_seen {
    int64_t seqs[STORE_ROWS_MAX];
    struct str bytes[STORE_ROWS_MAX];
    uint32_t count, stop_after;
    struct arena arena;
};
struct store_acks {
    int order[STORE_ROWS_MAX];
    uint32_t count, failed;
};
struct store_ack {
    struct store_acks *acks;
    int id;
};

static enum status store_visit_row(void *arg, int64_t seq, struct str bytes, struct err *err)
{
    struct store_seen *seen = arg;
    if (seen->stop_after > 0 && seen->count == seen->stop_after) {
        return err_set(err, STATUS_BUSY, "enough");
    }
    REQUIRE(seen->count < STORE_ROWS_MAX);
    seen->seqs[seen->count] = seq;
    seen->bytes[seen->count++] = arena_str(&seen->arena, bytes);
    return STATUS_OK;
}

static void store_on_done(void *arg, enum status status, const struct err *err)
{
    struct store_ack *ack = arg;
    EXPECT((status == STATUS_OK) == (err == NULL) || status == STATUS_OK);
    ack->acks->failed += status != STATUS_OK;
    ack->acks->order[ack->acks->count++] = ack->id;
}

static void store_put(struct store *s, int64_t seq, struct str bytes)
{
    struct store_acks acks = {.count = 0};
    struct store_ack ack = {&acks, 1};
    struct store_record r = {seq, bytes};
    s->append(s->ctx, &r, 1, store_on_done, &ack);
    s->wait(s->ctx);
    REQUIRE(acks.count == 1 && acks.failed == 0);
}

static void store_read_all(struct store *s, int64_t after, struct store_seen *seen)
{
    struct err err;
    *seen = (struct store_seen){.count = 0};
    arena_init(&seen->arena, 0);
    REQUIRE_OK(s->read(s->ctx, after, store_visit_row, seen, &err), &err);
}

/* ---- rows ---- */

static void store_row_empty(const struct store_lab *lab, struct store *s)
{
    struct store_seen seen;
    struct err err;
    int64_t seq = -1;
    uint64_t hash = 0;
    struct str bytes;
    for (int round = 0; round < 2; round++) {
        store_read_all(s, 0, &seen);
        EXPECT_I64(seen.count, 0);
        REQUIRE_OK(s->latest(s->ctx, &seen.arena, &seq, &hash, &bytes, &err), &err);
        EXPECT_I64(seq, 0);
        EXPECT_I64(bytes.len, 0);
        arena_done(&seen.arena);
        s->poll(s->ctx);
        s->wait(s->ctx);
        s = lab->reopen(lab->ctx);
    }
}

static void store_row_order(const struct store_lab *lab, struct store *s)
{
    struct store_acks acks = {.count = 0};
    struct store_ack ids[3] = {
        {&acks, 0},
        {&acks, 1},
        {&acks, 2}
    };
    char text[6] = "first";
    struct store_record one[] = {
        {1, {text, 5}}
    };
    struct store_record two[] = {
        {2, STRS("")    },
        {3, STRS("a\0b")}
    };
    struct store_record three[] = {
        {4, STRS("last")}
    };
    s->append(s->ctx, one, 1, store_on_done, &ids[0]);
    text[0] = 'X'; /* the store has its own copy */
    s->append(s->ctx, two, 2, store_on_done, &ids[1]);
    s->append(s->ctx, three, 1, store_on_done, &ids[2]);
    EXPECT_I64(acks.count, 0); /* never from within append */
    s->wait(s->ctx);
    REQUIRE(acks.count == 3 && acks.failed == 0);
    EXPECT(acks.order[0] == 0 && acks.order[1] == 1 && acks.order[2] == 2);
    for (int round = 0; round < 2; round++) {
        struct store_seen seen;
        store_read_all(s, 0, &seen);
        REQUIRE(seen.count == 4);
        for (uint32_t i = 0; i < 4; i++) {
            EXPECT_I64(seen.seqs[i], i + 1);
        }
        EXPECT_STR(seen.bytes[0], STR("first"));
        EXPECT_STR(seen.bytes[1], STR(""));
        EXPECT_STR(seen.bytes[2], STR("a\0b"));
        arena_done(&seen.arena);
        store_read_all(s, 2, &seen);
        REQUIRE(seen.count == 2);
        EXPECT_I64(seen.seqs[0], 3);
        arena_done(&seen.arena);
        store_read_all(s, 4, &seen);
        EXPECT_I64(seen.count, 0);
        arena_done(&seen.arena);
        s = lab->reopen(lab->ctx);
    }
    store_put(s, 5, STR("after the restart"));
}

static void store_row_visitor_ends(const struct store_lab *lab, struct store *s)
{
    (void)lab;
    struct store_seen seen = {.stop_after = 2};
    struct err err;
    arena_init(&seen.arena, 0);
    for (int64_t i = 1; i <= 5; i++) {
        store_put(s, i, STR("x"));
    }
    EXPECT_STATUS(s->read(s->ctx, 0, store_visit_row, &seen, &err), STATUS_BUSY);
    EXPECT_STR(str_from_c(err.text), STR("enough"));
    EXPECT_I64(seen.count, 2);
    arena_done(&seen.arena);
}

static void store_row_checkpoint(const struct store_lab *lab, struct store *s)
{
    struct err err;
    struct store_seen seen;
    for (int64_t i = 1; i <= 4; i++) {
        store_put(s, i, STR("x"));
    }
    REQUIRE_OK(s->checkpoint(s->ctx, 2, 77, STR("older"), &err), &err);
    REQUIRE_OK(s->checkpoint(s->ctx, 3, UINT64_MAX, STR("state\0three"), &err), &err);
    for (int round = 0; round < 2; round++) {
        int64_t seq;
        uint64_t hash;
        struct str bytes;
        store_read_all(s, 0, &seen);
        EXPECT_I64(seen.count, 4); /* history stays */
        REQUIRE_OK(s->latest(s->ctx, &seen.arena, &seq, &hash, &bytes, &err), &err);
        EXPECT_I64(seq, 3);
        EXPECT(hash == UINT64_MAX);
        EXPECT_STR(bytes, STR("state\0three"));
        arena_done(&seen.arena);
        s = lab->reopen(lab->ctx);
    }
    store_put(s, 5, STR("goes on"));
}

static void store_row_large(const struct store_lab *lab, struct store *s)
{
    struct arena a;
    struct store_seen seen;
    enum { LARGE = 3 << 20 };
    arena_init(&a, 0);
    char *text = arena_alloc(&a, LARGE);
    for (uint32_t i = 0; i < LARGE; i++) {
        text[i] = (char)(i * 7 % 127);
    }
    store_put(s, 1, (struct str){text, LARGE});
    s = lab->reopen(lab->ctx);
    store_read_all(s, 0, &seen);
    REQUIRE(seen.count == 1);
    EXPECT(str_eq(seen.bytes[0], (struct str){text, LARGE}));
    arena_done(&seen.arena);
    arena_done(&a);
}

static void store_row_many_in_flight(const struct store_lab *lab, struct store *s)
{
    (void)lab;
    struct store_acks acks = {.count = 0};
    struct store_ack ids[50];
    for (int i = 0; i < 50; i++) {
        struct store_record r = {i + 1, STRS("x")};
        ids[i] = (struct store_ack){&acks, i};
        s->append(s->ctx, &r, 1, store_on_done, &ids[i]);
        if (i % 7 == 0) {
            s->poll(s->ctx);
        }
    }
    s->wait(s->ctx);
    REQUIRE(acks.count == 50 && acks.failed == 0);
    for (int i = 0; i < 50; i++) {
        EXPECT_I64(acks.order[i], i);
    }
}

static const struct store_row store_rows[] = {
    {"an empty store has nothing",                              store_row_empty         },
    {"what is appended is read in order, also after a restart", store_row_order         },
    {"the visitor ends the read",                               store_row_visitor_ends  },
    {"the newest checkpoint is kept, and the history",          store_row_checkpoint    },
    {"three megabytes in one record",                           store_row_large         },
    {"answers come in the order of the appends",                store_row_many_in_flight},
};

static inline void store_conforms(const struct store_lab *lab)
{
    for (uint32_t i = 0; i < COUNT_OF(store_rows); i++) {
        test_row(store_rows[i].name);
        store_rows[i].run(lab, lab->make(lab->ctx));
        lab->drop(lab->ctx);
    }
    test_row(NULL);
}

// SPDX-License-Identifier: Apache-2.0
// The faults; what it does as a store is in tests/conformance.
#include "adapters/memory/memory.h"

#include "base/test.h"

static void count_ok(void *arg, enum status status, const struct err *err)
{
    (void)err;
    *(int *)arg += status == STATUS_OK ? 1 : 100;
}

static enum status count_rows(void *arg, int64_t seq, struct str bytes, struct err *err)
{
    (void)seq;
    (void)bytes;
    (void)err;
    ++*(int *)arg;
    return STATUS_OK;
}

static void append(struct store *s, int64_t seq, int *acks)
{
    struct store_record r = {seq, STRS("x")};
    s->append(s->ctx, &r, 1, count_ok, acks);
}

static int rows(struct store *s)
{
    int n = 0;
    struct err err;
    REQUIRE_OK(s->read(s->ctx, 0, count_rows, &n, &err), &err);
    return n;
}

TEST(a_crash_keeps_what_was_acknowledged_and_a_part_of_the_rest)
{
    struct memory_store *m = memory_open();
    struct store s = memory_port(m);
    int acks = 0;
    memory_delay(m, 2);
    for (int64_t i = 1; i <= 6; i++) {
        append(&s, i, &acks);
    }
    s.poll(s.ctx);
    EXPECT_I64(acks, 2);
    EXPECT_I64(memory_outstanding(m), 4);
    memory_crash(m, 1);
    EXPECT_I64(acks, 2);
    EXPECT_I64(rows(&s), 3);
    append(&s, 4, &acks);
    s.wait(s.ctx);
    EXPECT_I64(acks, 3);
    EXPECT_I64(rows(&s), 4);
    memory_forget(m, 2);
    EXPECT_I64(rows(&s), 2);
    memory_close(m);
}

TEST(a_disk_that_refuses_goes_on_refusing)
{
    struct memory_store *m = memory_open();
    struct store s = memory_port(m);
    struct err err;
    int acks = 0;
    memory_refuse(m, 1);
    append(&s, 1, &acks);
    append(&s, 2, &acks);
    append(&s, 3, &acks);
    s.wait(s.ctx);
    EXPECT_I64(acks, 201);
    EXPECT_STATUS(s.checkpoint(s.ctx, 1, 0, STR("x"), &err), STATUS_IO);
    memory_crash(m, 0);
    EXPECT_I64(rows(&s), 1);
    append(&s, 2, &acks);
    s.wait(s.ctx);
    EXPECT_I64(acks, 202);
    memory_close(m);
}

TEST(damage_is_found)
{
    struct memory_store *m = memory_open();
    struct store s = memory_port(m);
    struct err err;
    int acks = 0;
    int n = 0;
    append(&s, 1, &acks);
    append(&s, 2, &acks);
    s.wait(s.ctx);
    memory_damage(m, 2);
    EXPECT_STATUS(s.read(s.ctx, 0, count_rows, &n, &err), STATUS_CORRUPT);
    EXPECT_I64(n, 1);
    memory_close(m);
}

TEST_MAIN()

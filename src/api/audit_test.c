// SPDX-License-Identifier: Apache-2.0
#include "api/audit.h"

#include <stdio.h>

#include "base/test.h"

static struct input submit(int64_t seq, struct str name)
{
    return (struct input){.seq = seq,
                          .now_ms = 1000 * seq,
                          .kind = INPUT_SUBMIT,
                          .author = STR("ann@x"),
                          .submit = {.name = name}};
}

TEST(entries_outlive_what_they_were_made_of_and_the_oldest_go)
{
    struct audit *a = audit_new();
    struct arena arena;
    int64_t seq = 0;
    for (uint32_t i = 0; i < AUDIT_KEPT_MAX + 3 * AUDIT_BLOCK; i++) {
        arena_init(&arena, 0);
        seq++;
        struct input in = submit(seq, arena_printf(&arena, "job-%lld", (long long)seq));
        audit_record(a, &in);
        struct input tick = {.seq = ++seq, .kind = INPUT_TICK};
        audit_record(a, &tick);
        arena_done(&arena);
    }
    uint32_t count = audit_count(a);
    EXPECT(count >= AUDIT_KEPT_MAX && count <= AUDIT_KEPT_MAX + AUDIT_BLOCK);
    EXPECT_I64(audit_row(a, count - 1)->seq, seq - 1);
    bool right = true;
    for (uint32_t row = 0; row < count; row++) {
        const struct audit_entry *e = audit_row(a, row);
        char name[32];
        snprintf(name, sizeof name, "job-%lld", (long long)e->seq);
        right = right && str_eq(e->name, str_from_c(name)) && str_eq(e->subject, STR("ann@x")) &&
                e->seq == seq - 1 - 2 * (int64_t)(count - 1 - row);
    }
    EXPECT(right);
    audit_free(a);
}

TEST(a_command_that_was_stored_and_then_refused_is_one_entry)
{
    struct audit *a = audit_new();
    struct input one = submit(1, STR("one"));
    struct input two = submit(2, STR("two"));
    struct input refused = {
        .seq = 3,
        .kind = INPUT_REFUSED,
        .refused = {STR("submit"), STATUS_CONFLICT, STR("there is one already"), 1}
    };
    struct input at_the_edge = {
        .seq = 4, .kind = INPUT_REFUSED, .refused = {STR("submit"), STATUS_DENIED, STR("no"), 0}
    };
    audit_record(a, &one);
    audit_record(a, &two);
    audit_record(a, &refused);
    audit_record(a, &at_the_edge);
    EXPECT_I64(audit_count(a), 3);
    EXPECT(audit_row(a, 0)->refused && audit_row(a, 0)->status == STATUS_CONFLICT);
    EXPECT_STR(audit_row(a, 0)->text, STR("there is one already"));
    EXPECT_STR(audit_row(a, 0)->name, STR("one"));
    EXPECT(!audit_row(a, 1)->refused);
    EXPECT(audit_row(a, 2)->refused && audit_row(a, 2)->seq == 4);
    audit_free(a);
}

TEST_MAIN()

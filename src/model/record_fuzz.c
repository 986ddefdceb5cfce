// SPDX-License-Identifier: Apache-2.0
// Any bytes as a state and as an input: refused with a place, or read; and what was read, written
// and read again is the same.
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "model/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMORY_MAX = 256 << 20 };

static void round_trip(const struct record *r, struct str bytes, void *value, void *again)
{
    struct arena a;
    struct err err = {.status = STATUS_OK};
    arena_init(&a, MEMORY_MAX);
    if (record_decode(r, bytes, &a, value, &err) != STATUS_OK) {
        CHECK(err.text[0] != '\0');
        arena_done(&a);
        return;
    }
    struct arena b;
    struct buf once;
    arena_init(&b, 0);
    buf_init(&once, UINT32_MAX);
    record_encode(r, value, &once);
    CHECK(once.len <= bytes.len);
    enum status status = record_decode(r, buf_view(&once), &b, again, NULL);
    CHECK(status == STATUS_OK);
    CHECK(record_eq(r, value, again));
    record_copy(r, value, again, &b);
    CHECK(record_diff(r, value, again, &b).len == 0);
    buf_done(&once);
    arena_done(&b);
    arena_done(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str bytes = {(const char *)data, (uint32_t)size};
    struct state s[2];
    struct input in[2];
    round_trip(&record_state, bytes, &s[0], &s[1]);
    round_trip(&record_input, bytes, &in[0], &in[1]);
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Any bytes: the tree and skipping agree on what is JSON and where it breaks, and what was read,
// written and read again is the same.
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "codec/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_doc(struct buf *b, const struct doc *d, bool pretty)
{
    struct jw w;
    buf_init(b, 16 * (size_t)JSON_SIZE_MAX);
    jw_init(&w, b, pretty);
    jw_doc(&w, d);
    CHECK(!b->full);
}

static void check_round_trip(const struct doc *d, bool pretty, struct arena *arena)
{
    struct buf once;
    struct buf twice;
    struct doc *again;
    write_doc(&once, d, pretty);
    CHECK(json_doc(buf_view(&once), arena, &again, NULL) == STATUS_OK);
    write_doc(&twice, again, pretty);
    CHECK(str_eq(buf_view(&once), buf_view(&twice)));
    buf_done(&once);
    buf_done(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct str text = {(const char *)data, (uint32_t)size};
    struct err doc_err = {.status = STATUS_OK};
    struct err skip_err = {.status = STATUS_OK};
    struct doc *d;
    struct jr r;
    enum status status = json_doc(text, &arena, &d, &doc_err);
    jr_init(&r, text, &arena, &skip_err);
    jr_skip(&r);
    CHECK(jr_finish(&r) == status);
    CHECK(skip_err.line == doc_err.line);
    CHECK(skip_err.col == doc_err.col);
    if (status == STATUS_OK) {
        check_round_trip(d, false, &arena);
        check_round_trip(d, true, &arena);
    } else {
        CHECK(doc_err.text[0] != '\0');
        CHECK(str_is_utf8(str_from_c(doc_err.text)));
    }
    arena_done(&arena);
    return 0;
}

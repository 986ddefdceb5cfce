// SPDX-License-Identifier: Apache-2.0
// reason: the stable names of the codes. The words a person reads are made at the edges.
#include "model/reason.h"

#include "base/attr.h"
#include "base/check.h"

static const struct str reason_names[] = {
#define X(code, name) STRS(name),
    REASONS(X)
#undef X
};
static const struct str node_reason_names[] = {
#define X(code, name) STRS(name),
    NODE_REASONS(X)
#undef X
};
_Static_assert(COUNT_OF(reason_names) == REASON_COUNT, "a name for each code");
_Static_assert(COUNT_OF(node_reason_names) == NODE_REASON_COUNT, "a name for each node code");

struct str reason_name(enum reason_code code)
{
    CHECK(code < REASON_COUNT);
    return reason_names[code];
}

struct str node_reason_name(enum node_reason code)
{
    CHECK(code < NODE_REASON_COUNT);
    return node_reason_names[code];
}

void reason_init(struct reason *r, enum reason_code code)
{
    CHECK(code < REASON_COUNT);
    *r = (struct reason){
        .code = code,
        .queue = {IX_NONE},
        .group = {IX_NONE},
        .task = {IX_NONE},
        .other = {IX_NONE},
        .node = {IX_NONE},
        .until_ms = -1,
    };
}

// SPDX-License-Identifier: Apache-2.0
// Nodes and devices closed for new work, and opened again.
#include "api/call.h"

static void on_changed(struct call *c, const struct outcome *outcome)
{
    if (outcome->status != STATUS_OK) {
        call_fail(c, &outcome->err);
        return;
    }
    get_node(c);
}

static void change(struct call *c, enum input_kind kind)
{
    struct input in = {
        .kind = kind,
        .version = INPUT_VERSION,
        .node_name = c->segments.items[0],
        .drain = {.device = body_str(c->body, STR("device")),
                  .moves = body_bool(c->body, STR("moves"), true),
                  .within_ms = body_i64(c->body, STR("within_ms"), -1),
                  .reason = body_str(c->body, STR("reason"))},
    };
    call_command(c, &in, on_changed);
}

void drain_node(struct call *c)
{
    change(c, INPUT_NODE_DRAIN);
}

void undrain_node(struct call *c)
{
    change(c, INPUT_NODE_UNDRAIN);
}

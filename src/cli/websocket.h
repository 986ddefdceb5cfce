// SPDX-License-Identifier: Apache-2.0
// websocket: a WebSocket to the server, for the commands that speak over one.
#pragma once

#include "cli/cli.h"
#include "io/ws.h"

struct websocket {
    struct cli *cli;
    struct client_wire wire; /* its fd is to be polled */
    struct ws_decoder decoder;
    struct buf out; /* not yet sent, from `sent` on */
    size_t sent;
    bool more; /* perhaps there is something to receive that poll does not tell */
};

void websocket_init(struct websocket *s, struct cli *cli);
void websocket_done(struct websocket *s);
/* websocket_open connects and shakes hands; path is below /api/weir/v1. An error of the server is as
 * client_call gives it. Messages may be there to be taken at once. */
MUST_USE enum status websocket_open(struct websocket *s, struct str path, struct answer *answer,
                                    struct err *err);
void websocket_send(struct websocket *s, enum ws_opcode opcode, struct str payload); /* queues it */
/* websocket_flush sends what can be sent now. A server that takes nothing more is not told of: what it
 * said is still to be read. */
void websocket_flush(struct websocket *s);
/* websocket_recv reads what is there for the decoder; false: that was all, for good. */
MUST_USE bool websocket_recv(struct websocket *s);

// SPDX-License-Identifier: Apache-2.0
// ws: WebSocket (RFC 6455): the handshake's key and the framing, for server and client. Pure on
// buffers; whoever owns the socket moves the bytes. No extensions.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum ws_opcode {
    WS_CONTINUATION = 0,
    WS_TEXT = 1,
    WS_BINARY = 2,
    WS_CLOSE = 8,
    WS_PING = 9,
    WS_PONG = 10,
};
enum {
    WS_CLOSE_NORMAL = 1000,
    WS_CLOSE_PROTOCOL = 1002,
    WS_CLOSE_POLICY = 1008,
    WS_CLOSE_TOO_BIG = 1009
};
enum { WS_ACCEPT_SIZE = 29, WS_KEY_SIZE = 25, WS_MESSAGE_BYTES_MAX = 1 << 20 };

/* ws_accept gives the value of Sec-WebSocket-Accept for the client's Sec-WebSocket-Key; false when
 * the key is not 16 bytes in base64. */
MUST_USE bool ws_accept(struct str key, char out[WS_ACCEPT_SIZE]);
/* ws_key writes a fresh Sec-WebSocket-Key of a client. */
void ws_key(const uint8_t random[16], char out[WS_KEY_SIZE]);

/* ws_encode appends one whole message as one frame. mask: four random bytes of a client, NULL for a
 * server. ws_encode_close: with a code. */
void ws_encode(struct buf *out, enum ws_opcode opcode, struct str payload, const uint8_t mask[4]);
void ws_encode_close(struct buf *out, uint16_t code, const uint8_t mask[4]);

/* The receiving side: feed bytes, take messages. Control messages come between the frames of a
 * fragmented one, as they were sent. */
struct ws_decoder {
    bool from_client; /* frames must be masked (we are the server), or must not be */
    /* private */
    struct buf in; /* not yet decoded */
    size_t in_taken;
    struct buf message; /* of the fragments so far */
    bool in_message;
    enum ws_opcode message_opcode;
    bool given; /* message was handed out and is cleared at the next take */
    bool failed;
};
struct ws_message {
    enum ws_opcode opcode; /* TEXT, BINARY, CLOSE, PING or PONG */
    struct str payload;    /* good until the next call on the decoder */
    uint16_t close_code;   /* CLOSE; 1005 when it carries none */
};

void ws_decoder_init(struct ws_decoder *d, bool from_client);
void ws_decoder_done(struct ws_decoder *d);
void ws_decoder_feed(struct ws_decoder *d, struct str bytes);
/* ws_decoder_take gives the next whole message; STATUS_UNKNOWN: more bytes are needed. STATUS_INVALID
 * (a protocol error) and STATUS_TOO_LARGE (beyond WS_MESSAGE_BYTES_MAX) are final: close with
 * WS_CLOSE_PROTOCOL or WS_CLOSE_TOO_BIG. */
MUST_USE enum status ws_decoder_take(struct ws_decoder *d, struct ws_message *out, struct err *err);

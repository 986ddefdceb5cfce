// SPDX-License-Identifier: Apache-2.0
#include "io/ws.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "codec/base64.h"
#include "io/crypto.h"

enum {
    FIN = 0x80,
    RESERVED = 0x70,
    MASKED = 0x80,
    CONTROL_BYTES_MAX = 125,
    CLOSE_NO_CODE = 1005,
    /* What may wait undecoded: a message of the greatest size, its header, and one read more. */
    IN_BYTES_MAX = WS_MESSAGE_BYTES_MAX + (1 << 18),
};

static const char accept_suffix[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; /* RFC 6455, 1.3 */

static void copy_terminated(char *out, size_t size, const struct buf *b)
{
    CHECK(!b->full && b->len < size);
    memcpy(out, b->ptr, b->len);
    out[b->len] = '\0';
}

bool ws_accept(struct str key, char out[WS_ACCEPT_SIZE])
{
    struct buf b;
    buf_init(&b, 256);
    bool ok = base64_decode(BASE64_STD, key, &b) && b.len == 16;
    if (ok) {
        buf_clear(&b);
        buf_str(&b, key);
        buf_add(&b, accept_suffix, sizeof accept_suffix - 1);
        uint8_t digest[CRYPTO_SHA1_SIZE];
        crypto_sha1(buf_view(&b), digest);
        buf_clear(&b);
        base64_encode(BASE64_STD, (struct str){(const char *)digest, sizeof digest}, &b);
        copy_terminated(out, WS_ACCEPT_SIZE, &b);
    }
    buf_done(&b);
    return ok;
}

void ws_key(const uint8_t random[16], char out[WS_KEY_SIZE])
{
    struct buf b;
    buf_init(&b, 64);
    base64_encode(BASE64_STD, (struct str){(const char *)random, 16}, &b);
    copy_terminated(out, WS_KEY_SIZE, &b);
    buf_done(&b);
}

void ws_encode(struct buf *out, enum ws_opcode opcode, struct str payload, const uint8_t mask[4])
{
    uint8_t head[14];
    size_t len = 0;
    uint8_t masked = mask != NULL ? MASKED : 0;
    head[len++] = (uint8_t)(FIN | opcode);
    if (payload.len <= 125) {
        head[len++] = (uint8_t)(masked | payload.len);
    } else {
        size_t bytes = payload.len <= UINT16_MAX ? 2 : 8;
        head[len++] = masked | (bytes == 2 ? 126 : 127);
        for (size_t i = 1; i <= bytes; i++) {
            head[len++] = (uint8_t)((uint64_t)payload.len >> (8 * (bytes - i)));
        }
    }
    if (mask != NULL) {
        memcpy(head + len, mask, 4);
        len += 4;
    }
    buf_add(out, head, len);
    size_t at = out->len;
    buf_str(out, payload);
    for (size_t i = at; mask != NULL && i < out->len; i++) {
        out->ptr[i] = (char)((uint8_t)out->ptr[i] ^ mask[(i - at) % 4]);
    }
}

void ws_encode_close(struct buf *out, uint16_t code, const uint8_t mask[4])
{
    const char bytes[2] = {(char)(code >> 8), (char)(code & 0xff)};
    ws_encode(out, WS_CLOSE, (struct str){bytes, 2}, mask);
}

void ws_decoder_init(struct ws_decoder *d, bool from_client)
{
    *d = (struct ws_decoder){.from_client = from_client};
    buf_init(&d->in, IN_BYTES_MAX);
    buf_init(&d->message, WS_MESSAGE_BYTES_MAX);
}

void ws_decoder_done(struct ws_decoder *d)
{
    buf_done(&d->in);
    buf_done(&d->message);
}

void ws_decoder_feed(struct ws_decoder *d, struct str bytes)
{
    if (d->in_taken > 0) {
        memmove(d->in.ptr, d->in.ptr + d->in_taken, d->in.len - d->in_taken);
        d->in.len -= d->in_taken;
        d->in_taken = 0;
    }
    buf_str(&d->in, bytes);
}

struct frame {
    bool fin, control;
    enum ws_opcode opcode;
    char *payload;
    uint64_t len;
};

static enum status fail(struct ws_decoder *d, struct err *err, enum status status, const char *what)
{
    d->failed = true;
    return err_set(err, status, "WebSocket: %s", what);
}

static enum status check_head(struct ws_decoder *d, const struct frame *f, uint8_t first,
                              bool masked, struct err *err)
{
    if ((first & RESERVED) != 0) {
        return fail(d, err, STATUS_INVALID, "a reserved bit is set");
    }
    if (masked != d->from_client) {
        return fail(d, err, STATUS_INVALID,
                    masked ? "a server's frame is masked" : "a client's frame is not masked");
    }
    bool known = f->opcode <= WS_BINARY || (f->opcode >= WS_CLOSE && f->opcode <= WS_PONG);
    if (!known) {
        return fail(d, err, STATUS_INVALID, "unknown opcode");
    }
    if (f->control && (!f->fin || f->len > CONTROL_BYTES_MAX)) {
        return fail(d, err, STATUS_INVALID, "a control frame is fragmented or too long");
    }
    if (!f->control && (f->opcode == WS_CONTINUATION) != d->in_message) {
        return fail(d, err, STATUS_INVALID, "fragments out of order");
    }
    size_t before = d->in_message ? d->message.len : 0;
    if (f->len > WS_MESSAGE_BYTES_MAX - before) {
        return fail(d, err, STATUS_TOO_LARGE, "a message is too long");
    }
    return STATUS_OK;
}

/* Takes one whole frame from the input and unmasks it in place. */
static enum status take_frame(struct ws_decoder *d, struct frame *f, struct err *err)
{
    size_t have = d->in.len - d->in_taken;
    if (have < 2) {
        return STATUS_UNKNOWN;
    }
    uint8_t *p = (uint8_t *)d->in.ptr + d->in_taken;
    bool masked = (p[1] & MASKED) != 0;
    uint8_t short_len = p[1] & 0x7f;
    size_t len_bytes = short_len == 126 ? 2 : short_len == 127 ? 8 : 0;
    size_t head = 2 + len_bytes + (masked ? 4 : 0);
    if (have < head) {
        return STATUS_UNKNOWN;
    }
    f->fin = (p[0] & FIN) != 0;
    f->opcode = (enum ws_opcode)(p[0] & 0x0f);
    f->control = f->opcode >= WS_CLOSE;
    f->len = len_bytes == 0 ? short_len : 0;
    for (size_t i = 0; i < len_bytes; i++) {
        f->len = f->len << 8 | p[2 + i];
    }
    enum status status = check_head(d, f, p[0], masked, err);
    if (status != STATUS_OK) {
        return status;
    }
    if (have - head < f->len) {
        return STATUS_UNKNOWN;
    }
    f->payload = (char *)p + head;
    for (size_t i = 0; masked && i < f->len; i++) {
        p[head + i] ^= p[head - 4 + i % 4];
    }
    d->in_taken += head + (size_t)f->len;
    return STATUS_OK;
}

static enum status give_control(struct ws_decoder *d, const struct frame *f, struct ws_message *out,
                                struct err *err)
{
    out->opcode = f->opcode;
    out->payload = (struct str){f->payload, (uint32_t)f->len};
    out->close_code = CLOSE_NO_CODE;
    if (f->opcode == WS_CLOSE && f->len == 1) {
        return fail(d, err, STATUS_INVALID, "a close frame has half a code");
    }
    if (f->opcode == WS_CLOSE && f->len >= 2) {
        out->close_code = (uint16_t)((uint8_t)f->payload[0] << 8 | (uint8_t)f->payload[1]);
        out->payload = str_sub(out->payload, 2, out->payload.len);
    }
    return STATUS_OK;
}

enum status ws_decoder_take(struct ws_decoder *d, struct ws_message *out, struct err *err)
{
    if (d->given) {
        buf_clear(&d->message);
        d->given = false;
    }
    while (!d->failed) {
        if (d->in.full) {
            return fail(d, err, STATUS_TOO_LARGE, "more was sent than is taken");
        }
        struct frame f;
        enum status status = take_frame(d, &f, err);
        if (status != STATUS_OK) {
            return status;
        }
        if (f.control) {
            return give_control(d, &f, out, err);
        }
        if (!d->in_message) {
            d->message_opcode = f.opcode;
        }
        buf_add(&d->message, f.payload, (size_t)f.len);
        d->in_message = !f.fin;
        if (f.fin) {
            d->given = true;
            *out = (struct ws_message){d->message_opcode, buf_view(&d->message), 0};
            if (out->opcode == WS_TEXT && !str_is_utf8(out->payload)) {
                return fail(d, err, STATUS_INVALID, "a text is not UTF-8");
            }
            return STATUS_OK;
        }
    }
    return fail(d, err, STATUS_INVALID, "went on after an error");
}

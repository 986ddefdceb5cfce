// SPDX-License-Identifier: Apache-2.0
#include "cli/websocket.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <strings.h>

#include "base/num.h"
#include "io/clock.h"
#include "io/random.h"

enum {
    HEAD_BYTES_MAX = 16 * 1024,
    REFUSAL_BYTES_MAX = 64 * 1024,
    PIECE_BYTES = 16 * 1024,
    WAIT_MS = 100,
    SEND_BYTES_MAX = 64 << 20,
};

void websocket_init(struct websocket *s, struct cli *cli)
{
    *s = (struct websocket){.cli = cli, .wire = {.fd = -1}};
    ws_decoder_init(&s->decoder, false);
    buf_init(&s->out, SEND_BYTES_MAX);
}

void websocket_done(struct websocket *s)
{
    client_wire_close(&s->wire);
    ws_decoder_done(&s->decoder);
    buf_done(&s->out);
}

/* ---- the handshake ---- */

static struct str header_value(struct str head, struct str name)
{
    struct str line;
    while (str_split(&head, '\n', &line)) {
        uint32_t colon = str_find(line, ':');
        if (colon == name.len && strncasecmp(line.ptr, name.ptr, name.len) == 0) {
            return str_trim(str_sub(line, colon + 1, line.len));
        }
    }
    return STR("");
}

// For as long as the server may take to answer.
static ssize_t read_in_time(struct websocket *s, char *bytes, size_t size)
{
    for (;;) {
        ssize_t n = client_wire_recv(&s->wire, bytes, size);
        if (n >= 0 || errno != EAGAIN) {
            return n;
        }
        struct pollfd p = {.fd = s->wire.fd, .events = POLLIN};
        if (poll(&p, 1, WAIT_MS) <= 0 && !client_waits(&s->cli->client)) {
            errno = ETIMEDOUT;
            return -1;
        }
    }
}

static enum status write_in_time(struct websocket *s, struct str bytes, struct err *err)
{
    while (bytes.len > 0) {
        ssize_t n = client_wire_send(&s->wire, bytes.ptr, bytes.len);
        if (n < 0 && errno != EAGAIN) {
            return err_set(err, STATUS_UNREACHABLE, "the server ended the connection");
        }
        if (n > 0) {
            bytes = str_sub(bytes, (uint32_t)n, bytes.len - (uint32_t)n);
            continue;
        }
        struct pollfd p = {.fd = s->wire.fd, .events = POLLOUT};
        if (poll(&p, 1, WAIT_MS) <= 0 && !client_waits(&s->cli->client)) {
            return client_no_answer(&s->cli->client, err);
        }
    }
    return STATUS_OK;
}

// Reads until the empty line; what came behind it is kept in all.
static enum status read_head(struct websocket *s, struct buf *all, size_t *head_len,
                             struct err *err)
{
    for (;;) {
        char bytes[1024];
        ssize_t n = read_in_time(s, bytes, sizeof(bytes));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno == ETIMEDOUT) {
            return client_no_answer(&s->cli->client, err);
        }
        if (n <= 0 || all->full) {
            return err_set(err, STATUS_UNREACHABLE, "the server ended the connection");
        }
        buf_add(all, bytes, (size_t)n);
        const char *end = memmem(all->ptr, all->len, "\r\n\r\n", 4);
        if (end != NULL) {
            *head_len = (size_t)(end - all->ptr) + 4;
            return STATUS_OK;
        }
    }
}

// The server would not upgrade: its answer says why.
static enum status read_refusal(struct websocket *s, struct buf *all, size_t head_len,
                                struct answer *answer, struct err *err)
{
    struct str head = {all->ptr, (uint32_t)head_len};
    struct str length = header_value(head, STR("content-length"));
    int64_t code = 0, wanted = 0;
    if (!num_parse_i64(str_sub(head, 9, 3), &code) || code < 400 ||
        (length.len > 0 && !num_parse_i64(length, &wanted))) {
        return err_set(err, STATUS_INTERNAL, "the server did not upgrade to a WebSocket");
    }
    while ((int64_t)(all->len - head_len) < wanted && !all->full) {
        char bytes[1024];
        ssize_t n = read_in_time(s, bytes, sizeof(bytes));
        if (n <= 0) {
            break;
        }
        buf_add(all, bytes, (size_t)n);
    }
    struct str body = {all->ptr + head_len, (uint32_t)(all->len - head_len)};
    return client_read(&s->cli->client, (int)code, true, body, answer, err);
}

static enum status handshake(struct websocket *s, struct str path, struct answer *answer,
                             struct err *err)
{
    uint8_t random[16];
    char key[WS_KEY_SIZE], accept[WS_ACCEPT_SIZE];
    random_bytes(random, sizeof(random));
    ws_key(random, key);
    struct client *c = &s->cli->client;
    struct str bearer = STR("");
    if (c->bearer.len > 0) {
        bearer = arena_printf(&s->cli->arena, "Authorization: Bearer " STR_FMT "\r\n",
                              STR_ARG(c->bearer));
    }
    struct str request = arena_printf(&s->cli->arena,
                                      "GET /api/weir/v1" STR_FMT " HTTP/1.1\r\nHost: " STR_FMT
                                      "\r\n" STR_FMT "Connection: Upgrade\r\nUpgrade: websocket\r\n"
                                      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n",
                                      STR_ARG(path), STR_ARG(client_host(c)), STR_ARG(bearer), key);
    c->began_ms = clock_mono_ms();
    enum status status = write_in_time(s, request, err);
    CLEANUP(buf_done) struct buf all;
    buf_init(&all, HEAD_BYTES_MAX + REFUSAL_BYTES_MAX);
    size_t head_len = 0;
    if (status == STATUS_OK) {
        status = read_head(s, &all, &head_len, err);
    }
    if (status != STATUS_OK) {
        return status;
    }
    struct str head = {all.ptr, (uint32_t)head_len};
    if (!str_starts(head, STR("HTTP/1.1 101"))) {
        return read_refusal(s, &all, head_len, answer, err);
    }
    if (!ws_accept(str_from_c(key), accept) ||
        !str_eq(header_value(head, STR("sec-websocket-accept")), str_from_c(accept))) {
        return err_set(err, STATUS_INTERNAL, "the server's handshake does not answer ours");
    }
    ws_decoder_feed(&s->decoder, (struct str){all.ptr + head_len, (uint32_t)(all.len - head_len)});
    return STATUS_OK;
}

enum status websocket_open(struct websocket *s, struct str path, struct answer *answer,
                           struct err *err)
{
    enum status status = client_wire_open(&s->cli->client, &s->wire, err);
    return status == STATUS_OK ? handshake(s, path, answer, err) : status;
}

/* ---- messages ---- */

void websocket_send(struct websocket *s, enum ws_opcode opcode, struct str payload)
{
    uint8_t mask[4];
    random_bytes(mask, sizeof(mask));
    ws_encode(&s->out, opcode, payload, mask);
}

void websocket_flush(struct websocket *s)
{
    ssize_t n = client_wire_send(&s->wire, s->out.ptr + s->sent, s->out.len - s->sent);
    bool gone = n < 0 && errno != EAGAIN;
    s->sent += n > 0 ? (size_t)n : 0;
    if (gone || s->sent == s->out.len) {
        buf_clear(&s->out);
        s->sent = 0;
    }
}

bool websocket_recv(struct websocket *s)
{
    char bytes[PIECE_BYTES];
    ssize_t n = client_wire_recv(&s->wire, bytes, sizeof(bytes));
    s->more = n > 0;
    if (n > 0) {
        ws_decoder_feed(&s->decoder, (struct str){bytes, (uint32_t)n});
    }
    return n > 0 || (n < 0 && errno == EAGAIN);
}

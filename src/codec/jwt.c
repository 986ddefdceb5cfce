// SPDX-License-Identifier: Apache-2.0
// In ASCII, base64 needs its letters 62 and 63 only for a third byte that ends in six bits 62 or 63:
// one of > ? ~ DEL. In JSON those can only stand inside strings, where an escape says the same.
#include "codec/jwt.h"

#include "base/check.h"
#include "codec/base64.h"

static bool decode(struct str text, struct arena *arena, struct str *out)
{
    struct buf bytes;
    buf_init(&bytes, JWT_BYTES_MAX);
    bool ok = base64_decode(BASE64_URL, text, &bytes) && !bytes.full;
    *out = arena_str(arena, buf_view(&bytes));
    buf_done(&bytes);
    return ok;
}

bool jwt_split(struct str token, struct arena *arena, struct jwt *out)
{
    struct str rest = token;
    struct str header, payload, signature;
    if (token.len > JWT_BYTES_MAX || !str_split(&rest, '.', &header) ||
        !str_split(&rest, '.', &payload) || !str_split(&rest, '.', &signature) ||
        rest.ptr != NULL) {
        return false;
    }
    out->signed_part = str_sub(token, 0, header.len + 1 + payload.len);
    return decode(header, arena, &out->header) && decode(payload, arena, &out->payload) &&
           decode(signature, arena, &out->signature);
}

static uint32_t scalar_at(struct str s, uint32_t at, uint32_t len)
{
    static const uint8_t first_mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t v = (uint8_t)s.ptr[at] & first_mask[len];
    for (uint32_t i = 1; i < len; i++) {
        v = v << 6 | ((uint8_t)s.ptr[at + i] & 0x3f);
    }
    return v;
}

static void to_ascii(struct str json, struct buf *out)
{
    for (uint32_t at = 0; at < json.len;) {
        uint32_t len = str_utf8_len(json, at);
        CHECK(len > 0);
        uint32_t v = scalar_at(json, at, len);
        if (v >= 0x10000) {
            buf_printf(out, "\\u%04x\\u%04x", 0xd800 + ((v - 0x10000) >> 10),
                       0xdc00 + ((v - 0x10000) & 0x3ff));
        } else if (v == '>' || v == '?' || v == '~' || v >= 0x7f) {
            buf_printf(out, "\\u%04x", v);
        } else {
            buf_char(out, (char)v);
        }
        at += len;
    }
}

void jwt_begin(struct str header, struct str payload, struct buf *out)
{
    struct buf ascii;
    buf_init(&ascii, JWT_BYTES_MAX);
    to_ascii(payload, &ascii);
    CHECK(!ascii.full);
    base64_encode(BASE64_URL, header, out);
    buf_char(out, '.');
    base64_encode(BASE64_URL, buf_view(&ascii), out);
    buf_done(&ascii);
}

void jwt_end(struct str signature, struct buf *out)
{
    buf_char(out, '.');
    base64_encode(BASE64_URL, signature, out);
}

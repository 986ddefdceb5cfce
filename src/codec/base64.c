// SPDX-License-Identifier: Apache-2.0
#include "codec/base64.h"

#include <stdint.h>

static const char *alphabet(enum base64_form form)
{
    return form == BASE64_URL ? "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
                              : "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}

void base64_encode(enum base64_form form, struct str bytes, struct buf *out)
{
    const char *letters = alphabet(form);
    for (uint32_t i = 0; i < bytes.len; i += 3) {
        uint32_t left = bytes.len - i;
        uint32_t group = (uint32_t)(unsigned char)bytes.ptr[i] << 16;
        group |= left > 1 ? (uint32_t)(unsigned char)bytes.ptr[i + 1] << 8 : 0;
        group |= left > 2 ? (uint32_t)(unsigned char)bytes.ptr[i + 2] : 0;
        char four[4] = {letters[group >> 18], letters[group >> 12 & 63], '=', '='};
        if (left > 1) {
            four[2] = letters[group >> 6 & 63];
        }
        if (left > 2) {
            four[3] = letters[group & 63];
        }
        buf_add(out, four, form == BASE64_STD || left > 2 ? 4 : left + 1);
    }
}

static int32_t letter_value(enum base64_form form, char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    const char *letters = alphabet(form);
    return c == letters[62] ? 62 : c == letters[63] ? 63 : -1;
}

bool base64_decode(enum base64_form form, struct str text, struct buf *out)
{
    size_t before = out->len;
    uint32_t len = text.len; // without padding
    if (form == BASE64_STD) {
        if (len % 4 != 0) {
            return false;
        }
        for (int i = 0; i < 2 && len > 0 && text.ptr[len - 1] == '='; i++) {
            len--;
        }
    }
    uint32_t bits = 0;
    uint32_t bit_count = 0;
    bool ok = len % 4 != 1;
    for (uint32_t i = 0; i < len && ok; i++) {
        int32_t value = letter_value(form, text.ptr[i]);
        ok = value >= 0;
        bits = (bits & 0xff) << 6 | ((uint32_t)value & 63);
        bit_count += 6;
        if (bit_count >= 8) {
            bit_count -= 8;
            buf_char(out, (char)(bits >> bit_count & 0xff));
        }
    }
    ok = ok && (bits & ((1u << bit_count) - 1)) == 0;
    if (!ok) {
        out->len = before;
    }
    return ok;
}

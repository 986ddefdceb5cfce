// SPDX-License-Identifier: Apache-2.0
#include "codec/percent.h"

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == '~';
}

void percent_encode(struct str text, struct buf *out)
{
    for (uint32_t i = 0; i < text.len; i++) {
        if (is_plain(text.ptr[i])) {
            buf_char(out, text.ptr[i]);
        } else {
            buf_printf(out, "%%%02X", (unsigned)(unsigned char)text.ptr[i]);
        }
    }
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool percent_decode(struct str text, struct arena *arena, struct str *out)
{
    char *bytes = arena_alloc(arena, (size_t)text.len + 1);
    uint32_t len = 0;
    for (uint32_t i = 0; i < text.len; i++) {
        char ch = text.ptr[i];
        if (ch == '%') {
            int high = i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
            int low = high >= 0 ? hex_digit(text.ptr[i + 2]) : -1;
            if (low < 0) {
                return false;
            }
            ch = (char)(high * 16 + low);
            i += 2;
        } else if (ch == '+') {
            ch = ' ';
        }
        bytes[len++] = ch;
    }
    *out = (struct str){bytes, len};
    return str_is_utf8(*out);
}

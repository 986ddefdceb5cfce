// SPDX-License-Identifier: Apache-2.0
// uuid: RFC 9562.
#include "base/uuid.h"

#include <string.h>

#include "base/check.h"

_Static_assert(sizeof(struct uuid) == 16, "usable as a key of 16 bytes");

bool uuid_eq(struct uuid a, struct uuid b)
{
    return uuid_cmp(a, b) == 0;
}

int uuid_cmp(struct uuid a, struct uuid b)
{
    int order = memcmp(a.b, b.b, sizeof(a.b));
    return order < 0 ? -1 : order > 0;
}

bool uuid_is_zero(struct uuid u)
{
    return uuid_eq(u, (struct uuid){0});
}

static bool is_dash_at(uint32_t text_ix)
{
    return text_ix == 8 || text_ix == 13 || text_ix == 18 || text_ix == 23;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool uuid_parse(struct str s, struct uuid *out)
{
    if (s.len != UUID_TEXT_LEN) {
        return false;
    }
    struct uuid u = {0};
    uint32_t digit_count = 0;
    for (uint32_t i = 0; i < UUID_TEXT_LEN; i++) {
        if (is_dash_at(i)) {
            if (s.ptr[i] != '-') {
                return false;
            }
            continue;
        }
        int value = hex_value(s.ptr[i]);
        if (value < 0) {
            return false;
        }
        u.b[digit_count / 2] = (uint8_t)((u.b[digit_count / 2] & 0x0f) << 4 | value);
        digit_count++;
    }
    *out = u;
    return true;
}

void uuid_format(struct uuid u, char out[UUID_TEXT_LEN + 1])
{
    uint32_t digit_count = 0;
    for (uint32_t i = 0; i < UUID_TEXT_LEN; i++) {
        if (is_dash_at(i)) {
            out[i] = '-';
            continue;
        }
        uint8_t byte = u.b[digit_count / 2];
        out[i] = "0123456789abcdef"[digit_count % 2 == 0 ? byte >> 4 : byte & 0x0f];
        digit_count++;
    }
    out[UUID_TEXT_LEN] = '\0';
}

struct str uuid_str(struct uuid u, struct arena *a)
{
    char *text = arena_alloc(a, UUID_TEXT_LEN + 1);
    uuid_format(u, text);
    return (struct str){text, UUID_TEXT_LEN};
}

struct str uuid_bytes(const struct uuid *u)
{
    return (struct str){(const char *)u->b, sizeof(u->b)};
}

struct uuid uuid_from_random(const uint8_t bytes[16])
{
    struct uuid u;
    memcpy(u.b, bytes, sizeof(u.b));
    u.b[6] = (uint8_t)((u.b[6] & 0x0f) | 0x40);
    u.b[8] = (uint8_t)((u.b[8] & 0x3f) | 0x80);
    return u;
}

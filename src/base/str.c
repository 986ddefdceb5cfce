// SPDX-License-Identifier: Apache-2.0
// str: slices. The one file that calls vsnprintf for the pure folders.
#include "base/str.h"

#include <stdio.h>
#include <string.h>

#include "base/check.h"

enum { DISTANCE_LEN_MAX = 64, NEAREST_DISTANCE_MAX = 3 };

struct str str_from_c(const char *terminated)
{
    if (!terminated) {
        return (struct str){0};
    }
    size_t len = strlen(terminated);
    CHECK(len <= UINT32_MAX);
    return (struct str){terminated, (uint32_t)len};
}

bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

int str_cmp(struct str a, struct str b)
{
    uint32_t common = a.len < b.len ? a.len : b.len;
    int order = common == 0 ? 0 : memcmp(a.ptr, b.ptr, common);
    if (order != 0) {
        return order < 0 ? -1 : 1;
    }
    return a.len < b.len ? -1 : a.len > b.len;
}

bool str_starts(struct str s, struct str prefix)
{
    return s.len >= prefix.len && str_eq(str_sub(s, 0, prefix.len), prefix);
}

bool str_ends(struct str s, struct str suffix)
{
    return s.len >= suffix.len && str_eq(str_sub(s, s.len - suffix.len, suffix.len), suffix);
}

struct str str_sub(struct str s, uint32_t first, uint32_t len)
{
    if (first >= s.len) {
        return (struct str){s.ptr ? s.ptr + s.len : NULL, 0};
    }
    uint32_t left = s.len - first;
    return (struct str){s.ptr + first, len < left ? len : left};
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
    uint32_t first = 0;
    while (first < s.len && is_space(s.ptr[first])) {
        first++;
    }
    uint32_t end = s.len;
    while (end > first && is_space(s.ptr[end - 1])) {
        end--;
    }
    return str_sub(s, first, end - first);
}

uint32_t str_find(struct str s, char c)
{
    const char *at = s.len == 0 ? NULL : memchr(s.ptr, c, s.len);
    return at ? (uint32_t)(at - s.ptr) : s.len;
}

bool str_split(struct str *rest, char sep, struct str *part)
{
    if (!rest->ptr) {
        return false;
    }
    uint32_t at = str_find(*rest, sep);
    *part = (struct str){rest->ptr, at};
    if (at == rest->len) {
        *rest = (struct str){0};
    } else {
        *rest = (struct str){rest->ptr + at + 1, rest->len - at - 1};
    }
    return true;
}

// The bytes of the character at p (left > 0), or 0 when they are not well formed (Unicode 15,
// table 3-7: the second byte is what excludes overlong forms, surrogates and beyond U+10FFFF).
static uint32_t utf8_len(const unsigned char *p, uint32_t left)
{
    unsigned char lead = p[0];
    if (lead < 0x80) {
        return lead != 0;
    }
    uint32_t len = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    if (len == 0 || len > left) {
        return 0;
    }
    unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (p[1] < low || p[1] > high) {
        return 0;
    }
    for (uint32_t i = 2; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return len;
}

// Eight bytes at once are plain ASCII without NUL when no top bit is set in v and none is lost in
// v - 1 of each byte.
static WRAPS bool is_plain_ascii(uint64_t v)
{
    uint64_t ones = 0x0101010101010101u;
    uint64_t tops = 0x8080808080808080u;
    return ((v | (v - ones)) & tops) == 0;
}

bool str_is_utf8(struct str s)
{
    uint32_t i = 0;
    while (i < s.len) {
        if (s.len - i >= 8) {
            uint64_t v;
            memcpy(&v, s.ptr + i, 8);
            if (is_plain_ascii(v)) {
                i += 8;
                continue;
            }
        }
        uint32_t len = utf8_len((const unsigned char *)s.ptr + i, s.len - i);
        if (len == 0) {
            return false;
        }
        i += len;
    }
    return true;
}

uint32_t str_utf8_len(struct str s, uint32_t at)
{
    CHECK(at < s.len);
    return utf8_len((const unsigned char *)s.ptr + at, s.len - at);
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// The optimal string alignment distance, three rows at a time.
uint32_t str_distance(struct str a, struct str b, uint32_t cap)
{
    if (str_eq(a, b)) {
        return 0;
    }
    uint32_t gap = a.len > b.len ? a.len - b.len : b.len - a.len;
    if (gap >= cap || a.len > DISTANCE_LEN_MAX || b.len > DISTANCE_LEN_MAX) {
        return cap;
    }
    uint32_t rows[3][DISTANCE_LEN_MAX + 1];
    for (uint32_t j = 0; j <= b.len; j++) {
        rows[0][j] = j;
    }
    for (uint32_t i = 1; i <= a.len; i++) {
        uint32_t *now = rows[i % 3];
        const uint32_t *before = rows[(i + 2) % 3];
        const uint32_t *two_before = rows[(i + 1) % 3];
        now[0] = i;
        for (uint32_t j = 1; j <= b.len; j++) {
            bool same = a.ptr[i - 1] == b.ptr[j - 1];
            uint32_t best = least(before[j - 1] + !same, least(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1]) {
                best = least(best, two_before[j - 2] + 1);
            }
            now[j] = best;
        }
    }
    return least(rows[a.len % 3][b.len], cap);
}

uint32_t str_nearest(struct str s, const struct str *names, uint32_t count)
{
    uint32_t within = least(s.len / 3 > 1 ? s.len / 3 : 1, NEAREST_DISTANCE_MAX);
    uint32_t best = count;
    for (uint32_t i = 0; i < count && (best == count || within > 0); i++) {
        uint32_t distance = str_distance(s, names[i], within + 1);
        if (distance < within || (distance == within && best == count)) {
            best = i;
            within = distance;
        }
    }
    return best;
}

struct str str_clip(struct str s, uint32_t max)
{
    if (s.len <= max) {
        return s;
    }
    uint32_t len = max;
    while (len > 0 && ((unsigned char)s.ptr[len] & 0xc0) == 0x80) {
        len--;
    }
    return str_sub(s, 0, len);
}

// Drops the character that the end of out[len] cuts in two, and terminates.
static uint32_t cut_tail(char *out, uint32_t len)
{
    uint32_t lead = len;
    while (lead > 0 && ((unsigned char)out[lead - 1] & 0xc0) == 0x80) {
        lead--;
    }
    if (lead > 0) {
        unsigned char c = (unsigned char)out[lead - 1];
        uint32_t wants = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
        if (len - (lead - 1) < wants) {
            len = lead - 1;
        }
    }
    out[len] = '\0';
    return len;
}

uint32_t str_vformat(char *out, size_t cap, const char *format, va_list args)
{
    int len = vsnprintf(out, cap, format, args);
    CHECK(len >= 0);
    if (cap > 0 && (size_t)len >= cap) {
        cut_tail(out, (uint32_t)(cap - 1));
    }
    return (uint32_t)len;
}

struct str str_format(char *out, size_t cap, const char *format, ...)
{
    CHECK(cap > 0);
    va_list args;
    va_start(args, format);
    uint32_t len = str_vformat(out, cap, format, args);
    va_end(args);
    return len < cap ? (struct str){out, len} : str_from_c(out);
}

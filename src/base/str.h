// SPDX-License-Identifier: Apache-2.0
// str: a slice of bytes, pointer and length, passed by value and never assumed to be terminated.
// Text from outside is checked as UTF-8 once, at the door (str_is_utf8).
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"

struct str {
    const char *ptr; /* may be NULL when len is 0 */
    uint32_t len;    /* bytes */
};

#define STR(literal)  ((struct str){"" literal, (uint32_t)(sizeof(literal) - 1)})
#define STRS(literal) {"" literal, (uint32_t)(sizeof(literal) - 1)} /* in static initialisers */
#define STR_FMT       "%.*s"
#define STR_ARG(s)    (int)(s).len, (s).ptr != 0 ? (s).ptr : ""

struct str str_from_c(const char *terminated); /* NULL gives the empty string */
bool str_eq(struct str a, struct str b);
int str_cmp(struct str a, struct str b); /* bytewise, shorter first on a tie: -1, 0, 1 */
bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);
struct str str_sub(struct str s, uint32_t first, uint32_t len); /* clamped to s */
struct str str_trim(struct str s);                              /* ASCII white space */
/* str_find returns the index of the first c in s, or s.len. */
uint32_t str_find(struct str s, char c);
/* str_split takes the part of *rest before sep and moves *rest behind it; false when *rest is
 * used up (ptr NULL). "a,,b" gives "a", "", "b"; "" gives one empty part. */
bool str_split(struct str *rest, char sep, struct str *part);
/* str_is_utf8: well-formed UTF-8 without surrogates or overlong forms; NUL bytes are refused. */
bool str_is_utf8(struct str s);
/* str_utf8_len returns the bytes of the character at s[at] (at < s.len), 0 when not well-formed. */
uint32_t str_utf8_len(struct str s, uint32_t at);
/* str_distance: edit distance in bytes, a swap of neighbours counting one, at most cap (returned
 * when larger, and when a text is over 64 bytes and they differ). For "did you mean". */
uint32_t str_distance(struct str a, struct str b, uint32_t cap);
/* str_nearest returns the index in names[count] nearest to s within a distance of a third of its
 * length (at least 1, at most 3), or count when none is near. Ties: the first. */
uint32_t str_nearest(struct str s, const struct str *names, uint32_t count);
/* str_clip shortens s to at most max bytes without cutting a UTF-8 character in two. */
struct str str_clip(struct str s, uint32_t max);
/* str_format prints into out[cap] (cap > 0) and returns what is there: always terminated, and cut
 * between characters when too long. The formats are printf's; no floats. */
struct str str_format(char *out, size_t cap, const char *format, ...) PRINTF_LIKE(3, 4);
/* str_vformat is str_format for a va_list; it returns the bytes that the whole text needs, and with
 * cap 0 only that. */
uint32_t str_vformat(char *out, size_t cap, const char *format, va_list args) PRINTF_LIKE(3, 0);

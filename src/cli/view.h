// SPDX-License-Identifier: Apache-2.0
// view: members of the server's answers as a person reads them. Numbers are shown as they came; no
// floating point. Text for a terminal is made harmless (control characters become spaces).
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/doc.h"
#include "cli/tint.h"

/* view_text gives the scalar member key as text, "-" when it is missing or null. */
struct str view_text(const struct doc *map, const char *key);
/* view_raw is view_text, but "" for what is missing. */
struct str view_raw(const struct doc *map, const char *key);
int64_t view_i64(const struct doc *map, const char *key, int64_t otherwise);
bool view_bool(const struct doc *map, const char *key);
/* view_millionths reads a decimal in millionths, digits beyond the sixth dropped; `otherwise` when it
 * is missing, null or out of range. */
int64_t view_millionths(const struct doc *map, const char *key, int64_t otherwise);
/* view_decimal writes millionths without needless zeros: 2500000 is 2.5. */
struct str view_decimal(struct arena *arena, int64_t millionths);
/* view_limit is view_text with "unlimited" for null. */
struct str view_limit(const struct doc *map, const char *key);
/* view_bytes: "80 GiB", "1.5 GiB", "-". */
struct str view_bytes(struct arena *arena, const struct doc *map, const char *key);
/* view_span writes a duration with its two largest units: "3d 4h", "5m 12s", "0s". */
struct str view_span(struct arena *arena, int64_t ms);
/* view_age: the span from the RFC 3339 time of key until now_ms, "-" when missing. */
struct str view_age(struct arena *arena, const struct doc *map, const char *key, int64_t now_ms);
/* view_clock: the time of key in local time, "2026-11-30 23:04:51". */
struct str view_clock(struct arena *arena, const struct doc *map, const char *key);
/* view_sentence puts the times in a sentence of the server ("until 2026-11-30T23:04:51.000Z") into
 * the form of view_clock. */
struct str view_sentence(struct arena *arena, struct str text);
/* view_join joins the texts of a list with sep; "-" when it is empty. */
struct str view_join(struct arena *arena, const struct doc *list, const char *sep);
/* view_command writes the words of a list as a shell would need them. */
struct str view_command(struct arena *arena, const struct doc *list);
enum tint view_phase_tint(struct str phase);
/* view_harmless replaces control characters, of terminals and of direction, by spaces. */
struct str view_harmless(struct arena *arena, struct str s);
uint32_t view_width(struct str s); /* columns on a terminal */
/* view_shorten cuts s to width columns, with an ellipsis. */
struct str view_shorten(struct arena *arena, struct str s, uint32_t width);
/* view_fold writes text in lines of at most width columns, every one but the first indented; the
 * first begins at column indent. */
void view_fold(struct buf *out, struct str text, uint32_t indent, uint32_t width);

/* One piece of a bar: so many millionths, drawn with a full block's eighths or with a pattern. */
struct view_bar_part {
    int64_t amount;
    const char *pattern; /* NULL: solid, with eighths at its end; else this character */
    enum tint tint;
};
/* view_bar draws parts one behind the other on a scale where `whole` (> 0) fills width cells. */
void view_bar(struct buf *out, const struct view_bar_part *parts, uint32_t count, int64_t whole,
              uint32_t width, bool colour);

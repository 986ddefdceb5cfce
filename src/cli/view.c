// SPDX-License-Identifier: Apache-2.0
#include "cli/view.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include "base/check.h"
#include "base/num.h"
#include "base/rfc3339.h"

enum { MILLION = 1000000, DECIMAL_DIGITS = 6, EIGHTHS = 8, BAR_WIDTH_MAX = 200 };

struct str view_raw(const struct doc *map, const char *key)
{
    const struct doc *d = doc_get(map, str_from_c(key));
    if (d == NULL || d->kind == DOC_NULL || d->kind == DOC_LIST || d->kind == DOC_MAP) {
        return STR("");
    }
    if (d->kind == DOC_BOOL) {
        return d->boolean ? STR("yes") : STR("no");
    }
    return d->text;
}

struct str view_text(const struct doc *map, const char *key)
{
    struct str s = view_raw(map, key);
    return s.len > 0 ? s : STR("-");
}

struct str view_limit(const struct doc *map, const char *key)
{
    struct str s = view_raw(map, key);
    return s.len > 0 ? s : STR("unlimited");
}

int64_t view_i64(const struct doc *map, const char *key, int64_t otherwise)
{
    int64_t v;
    return num_parse_i64(view_raw(map, key), &v) ? v : otherwise;
}

bool view_bool(const struct doc *map, const char *key)
{
    const struct doc *d = doc_get(map, str_from_c(key));
    return d != NULL && d->kind == DOC_BOOL && d->boolean;
}

int64_t view_millionths(const struct doc *map, const char *key, int64_t otherwise)
{
    struct str s = view_raw(map, key);
    uint32_t point = str_find(s, '.');
    if (s.len > point + 1 + DECIMAL_DIGITS) {
        s = str_sub(s, 0, point + 1 + DECIMAL_DIGITS);
    }
    int64_t v;
    return num_parse_decimal(s, DECIMAL_DIGITS, &v) ? v : otherwise;
}

struct str view_decimal(struct arena *arena, int64_t millionths)
{
    uint64_t size = millionths < 0 ? 0 - (uint64_t)millionths : (uint64_t)millionths;
    struct str s = arena_printf(arena, "%s%llu.%06llu", millionths < 0 ? "-" : "",
                                (unsigned long long)(size / MILLION),
                                (unsigned long long)(size % MILLION));
    while (s.ptr[s.len - 1] == '0') {
        s.len--;
    }
    s.len -= s.ptr[s.len - 1] == '.' ? 1 : 0;
    return s;
}

struct str view_bytes(struct arena *arena, const struct doc *map, const char *key)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int64_t bytes = view_i64(map, key, -1);
    if (bytes < 0) {
        return STR("-");
    }
    uint32_t unit = 0;
    int64_t size = 1;
    while (unit + 1 < COUNT_OF(units) && bytes / size >= 1024) {
        size *= 1024;
        unit++;
    }
    int64_t tenths = num_muldiv_floor(bytes, 10, size);
    if (tenths % 10 == 0) {
        return arena_printf(arena, "%lld %s", (long long)(tenths / 10), units[unit]);
    }
    return arena_printf(arena, "%lld.%lld %s", (long long)(tenths / 10), (long long)(tenths % 10),
                        units[unit]);
}

struct str view_span(struct arena *arena, int64_t ms)
{
    static const struct {
        int64_t seconds;
        char unit;
    } units[] = {
        {86400, 'd'},
        {3600,  'h'},
        {60,    'm'},
        {1,     's'}
    };
    int64_t seconds = ms < 0 ? 0 : ms / 1000;
    for (uint32_t i = 0; i + 1 < COUNT_OF(units); i++) {
        int64_t n = seconds / units[i].seconds;
        int64_t rest = seconds % units[i].seconds / units[i + 1].seconds;
        if (n > 0 && rest > 0) {
            return arena_printf(arena, "%lld%c %lld%c", (long long)n, units[i].unit,
                                (long long)rest, units[i + 1].unit);
        }
        if (n > 0) {
            return arena_printf(arena, "%lld%c", (long long)n, units[i].unit);
        }
    }
    return arena_printf(arena, "%llds", (long long)seconds);
}

struct str view_age(struct arena *arena, const struct doc *map, const char *key, int64_t now_ms)
{
    int64_t at;
    if (rfc3339_parse(view_raw(map, key), &at, NULL) != STATUS_OK) {
        return STR("-");
    }
    return view_span(arena, now_ms - at);
}

// The time in local time, or as it is when it is none.
static struct str local_time(struct arena *arena, struct str time)
{
    int64_t at;
    struct tm tm;
    char text[32];
    if (rfc3339_parse(time, &at, NULL) != STATUS_OK) {
        return time;
    }
    time_t seconds = (time_t)num_div_floor(at, 1000);
    if (localtime_r(&seconds, &tm) == NULL ||
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm) == 0) {
        return time;
    }
    return arena_str(arena, str_from_c(text));
}

struct str view_clock(struct arena *arena, const struct doc *map, const char *key)
{
    struct str time = view_raw(map, key);
    return time.len > 0 ? local_time(arena, time) : STR("-");
}

struct str view_sentence(struct arena *arena, struct str text)
{
    enum { TIME_LEN = RFC3339_TEXT_SIZE - 1, AT_T = 10 };
    for (uint32_t i = 0; i + TIME_LEN <= text.len; i++) {
        struct str time = str_sub(text, i, TIME_LEN);
        struct str local = time.ptr[AT_T] == 'T' ? local_time(arena, time) : time;
        if (local.ptr != time.ptr) {
            text = arena_printf(arena, STR_FMT STR_FMT STR_FMT, STR_ARG(str_sub(text, 0, i)),
                                STR_ARG(local), STR_ARG(str_sub(text, i + TIME_LEN, text.len)));
            i += local.len - 1;
        }
    }
    return text;
}

struct str view_join(struct arena *arena, const struct doc *list, const char *sep)
{
    struct str s = STR("");
    for (const struct doc *d = list != NULL ? list->child : NULL; d != NULL; d = d->next) {
        s = arena_printf(arena, STR_FMT "%s" STR_FMT, STR_ARG(s), s.len > 0 ? sep : "",
                         STR_ARG(d->text));
    }
    return s.len > 0 ? s : STR("-");
}

static bool needs_quotes(struct str word)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./-_";
    for (uint32_t i = 0; i < word.len; i++) {
        if (memchr(plain, word.ptr[i], sizeof(plain) - 1) == NULL) {
            return true;
        }
    }
    return word.len == 0;
}

struct str view_command(struct arena *arena, const struct doc *list)
{
    struct buf b;
    buf_init(&b, 1 << 20);
    for (const struct doc *d = list != NULL ? list->child : NULL; d != NULL; d = d->next) {
        if (b.len > 0) {
            buf_char(&b, ' ');
        }
        if (!needs_quotes(d->text)) {
            buf_str(&b, d->text);
            continue;
        }
        buf_char(&b, '\'');
        for (uint32_t i = 0; i < d->text.len; i++) {
            if (d->text.ptr[i] == '\'') {
                buf_str(&b, STR("'\\''"));
            } else {
                buf_char(&b, d->text.ptr[i]);
            }
        }
        buf_char(&b, '\'');
    }
    struct str s = b.len > 0 ? arena_str(arena, buf_view(&b)) : STR("-");
    buf_done(&b);
    return s;
}

enum tint view_phase_tint(struct str phase)
{
    static const struct {
        struct str phase;
        enum tint tint;
    } rows[] = {
        {STRS("Running"),   TINT_GOOD},
        {STRS("Completed"), TINT_DIM },
        {STRS("Failed"),    TINT_BAD },
        {STRS("Stopped"),   TINT_DIM },
        {STRS("Pending"),   TINT_WAIT},
        {STRS("Creating"),  TINT_WAIT},
        {STRS("Stopping"),  TINT_WAIT},
        {STRS("Resuming"),  TINT_WAIT},
        {STRS("Degraded"),  TINT_BAD },
    };
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        if (str_eq(rows[i].phase, phase)) {
            return rows[i].tint;
        }
    }
    return TINT_NONE;
}

// Bytes at s that drive a terminal or turn the direction of what is read there: C0 controls, DEL, C1
// controls (C2 80 to C2 9F), separators of lines, marks and overrides of direction. 0: none.
static uint32_t harmful(struct str s)
{
    unsigned char a = (unsigned char)s.ptr[0];
    unsigned char b = s.len > 1 ? (unsigned char)s.ptr[1] : 0;
    unsigned char c = s.len > 2 ? (unsigned char)s.ptr[2] : 0;
    if (a < 0x20 || a == 0x7f) {
        return 1;
    }
    if ((a == 0xc2 && b >= 0x80 && b < 0xa0) || (a == 0xd8 && b == 0x9c)) { // U+061C
        return 2;
    }
    bool mark = a == 0xe2 && b == 0x80 && (c == 0x8e || c == 0x8f || (c >= 0xa8 && c <= 0xae));
    bool isolate = a == 0xe2 && b == 0x81 && c >= 0xa6 && c <= 0xa9; // U+2066 to U+2069
    return mark || isolate ? 3 : 0;
}

struct str view_harmless(struct arena *arena, struct str s)
{
    char *text = arena_alloc(arena, (size_t)s.len + 1);
    uint32_t len = 0;
    for (uint32_t i = 0; i < s.len; i++) {
        uint32_t bytes = harmful(str_sub(s, i, s.len));
        text[len++] = bytes > 0 ? ' ' : s.ptr[i];
        i += bytes > 0 ? bytes - 1 : 0;
    }
    return (struct str){text, len};
}

// One character at s: its bytes and its columns. What is no character counts as one column.
static uint32_t character(struct str s, int *columns)
{
    wchar_t wide;
    mbstate_t state = {0};
    size_t n = mbrtowc(&wide, s.ptr, s.len, &state);
    if (n == 0 || n == (size_t)-1 || n == (size_t)-2) {
        *columns = 1;
        return 1;
    }
    int w = wcwidth(wide);
    *columns = w < 0 ? 1 : w;
    return (uint32_t)n;
}

uint32_t view_width(struct str s)
{
    uint32_t width = 0;
    while (s.len > 0) {
        int columns;
        uint32_t n = character(s, &columns);
        width += (uint32_t)columns;
        s = str_sub(s, n, s.len);
    }
    return width;
}

struct str view_shorten(struct arena *arena, struct str s, uint32_t width)
{
    if (view_width(s) <= width) {
        return s;
    }
    uint32_t used = 0, len = 0;
    for (struct str rest = s; rest.len > 0;) {
        int columns;
        uint32_t n = character(rest, &columns);
        if (used + (uint32_t)columns + 1 > width) {
            break;
        }
        used += (uint32_t)columns;
        len += n;
        rest = str_sub(rest, n, rest.len);
    }
    return arena_printf(arena, STR_FMT "…", STR_ARG(str_sub(s, 0, len)));
}

void view_fold(struct buf *out, struct str text, uint32_t indent, uint32_t width)
{
    uint32_t column = indent;
    struct str word;
    bool first = true;
    while (str_split(&text, ' ', &word)) {
        uint32_t w = view_width(word);
        if (!first && column + 1 + w > width) {
            buf_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!first) {
            buf_char(out, ' ');
            column++;
        }
        buf_str(out, word);
        column += w;
        first = false;
    }
    buf_char(out, '\n');
}

void view_bar(struct buf *out, const struct view_bar_part *parts, uint32_t count, int64_t whole,
              uint32_t width, bool colour)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    CHECK(whole > 0 && width <= BAR_WIDTH_MAX);
    int64_t sum = 0;
    uint32_t used = 0; /* cells */
    for (uint32_t i = 0; i < count && used < width; i++) {
        sum = num_sat_add_i64(sum, num_max_i64(parts[i].amount, 0));
        int64_t end = num_muldiv_floor(num_min_i64(sum, whole), (int64_t)width * EIGHTHS, whole);
        uint32_t cells = (uint32_t)(end / EIGHTHS), rest = (uint32_t)(end % EIGHTHS);
        if (parts[i].pattern != NULL && rest >= EIGHTHS / 2) {
            cells++;
        }
        buf_printf(out, "%s", tint_begin(parts[i].tint, colour));
        while (used < cells) {
            buf_printf(out, "%s", parts[i].pattern != NULL ? parts[i].pattern : "█");
            used++;
        }
        bool last = i + 1 == count || parts[i + 1].amount <= 0;
        if (parts[i].pattern == NULL && rest > 0 && used < width && used == cells && last) {
            buf_printf(out, "%s", eighths[rest]);
            used++;
        }
        buf_printf(out, "%s", tint_end(colour && parts[i].tint != TINT_NONE));
    }
    buf_printf(out, "%*s", (int)(width - used), "");
}

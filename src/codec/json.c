// SPDX-License-Identifier: Apache-2.0
// json: the reader. UTF-8 is checked once for the whole text, so afterwards only ASCII matters.
// Levels are bits in two words, so nothing recurses. Skipping is the same grammar in one loop that
// stops at quotes, backslashes and control characters only, eight bytes at a time. Line and column
// are counted when asked for, from the place asked for before.
#include "codec/json.h"

#include <stdarg.h>
#include <string.h>

#include "base/check.h"
#include "base/num.h"

_Static_assert(JSON_DEPTH_MAX <= 64, "a level is a bit");

static void locate(struct jr *r, const char *p, uint32_t *line, uint32_t *col)
{
    if (p < r->counted) {
        r->counted = r->start;
        r->line = 1;
        r->col = 1;
    }
    for (; r->counted < p; r->counted++) {
        if (*r->counted == '\n') {
            r->line++;
            r->col = 1;
        } else if (((unsigned char)*r->counted & 0xc0) != 0x80) {
            r->col++;
        }
    }
    *line = r->line;
    *col = r->col;
}

static bool PRINTF_LIKE(4, 5)
    fail(struct jr *r, enum status status, const char *at, const char *format, ...)
{
    if (r->status != STATUS_OK) {
        return false;
    }
    char text[sizeof(r->err->text)];
    va_list args;
    va_start(args, format);
    str_vformat(text, sizeof(text), format, args);
    va_end(args);
    r->status = err_set(r->err, status, "%s", text);
    if (r->err) {
        locate(r, at, &r->err->line, &r->err->col);
    }
    return false;
}

// Says in words what is at p.
static const char *found(const struct jr *r, const char *p, char out[static 64])
{
    if (p >= r->end) {
        return "the end of the text";
    }
    switch (*p) {
    case '{':
        return "an object";
    case '[':
        return "a list";
    case '"':
        return "a text";
    case '-':
        return "a number";
    default:
        break;
    }
    if (*p >= '0' && *p <= '9') {
        return "a number";
    }
    if (*p >= 'a' && *p <= 'z') {
        uint32_t len = 0;
        while (p + len < r->end && len < 16 && p[len] >= 'a' && p[len] <= 'z') {
            len++;
        }
        str_format(out, 64, "%.*s", (int)len, p);
        return out;
    }
    if ((unsigned char)*p < 0x20) {
        str_format(out, 64, "the byte %02x", (unsigned)*p);
        return out;
    }
    struct str rest = {p, (uint32_t)(r->end - p)};
    str_format(out, 64, "'%.*s'", (int)str_utf8_len(rest, 0), p);
    return out;
}

static bool fail_expected(struct jr *r, const char *at, const char *what)
{
    char text[64];
    return fail(r, STATUS_INVALID, at, "expected %s, found %s", what, found(r, at, text));
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) {
        p++;
    }
    return p;
}

static bool push_level(struct jr *r, const char *at, bool is_object)
{
    if (r->depth == JSON_DEPTH_MAX) {
        return fail(r, STATUS_TOO_LARGE, at, "more than %d levels deep", JSON_DEPTH_MAX);
    }
    r->depth++;
    r->objects = r->objects << 1 | is_object;
    r->nonempty <<= 1;
    return true;
}

static void pop_level(struct jr *r)
{
    r->depth--;
    r->objects >>= 1;
    r->nonempty >>= 1;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// The four digits behind \u at p, or -1.
static int32_t unicode_unit(const char *p, const char *end)
{
    int32_t unit = 0;
    for (int i = 0; i < 4; i++) {
        int value = p + i < end ? hex_value(p[i]) : -1;
        if (value < 0) {
            return -1;
        }
        unit = unit * 16 + value;
    }
    return unit;
}

static bool is_high_surrogate(int32_t unit)
{
    return unit >= 0xd800 && unit <= 0xdbff;
}

static bool is_low_surrogate(int32_t unit)
{
    return unit >= 0xdc00 && unit <= 0xdfff;
}

// Reads the escape whose backslash is at p: its character, and the end, or NULL.
static const char *read_escape(struct jr *r, const char *p, uint32_t *character)
{
    char c = '\0';
    if (p + 1 < r->end) {
        c = p[1];
    }
    static const char names[] = "\"\\/bfnrt";
    static const char values[] = "\"\\/\b\f\n\r\t";
    const char *name = memchr(names, c, sizeof(names) - 1);
    if (name) {
        *character = (uint32_t)values[name - names];
        return p + 2;
    }
    if (c != 'u') {
        fail(r, STATUS_INVALID, p,
             "an unknown escape in a text; known are \\\" \\\\ \\/ \\b \\f "
             "\\n \\r \\t and \\uXXXX");
        return NULL;
    }
    int32_t unit = unicode_unit(p + 2, r->end);
    const char *next = p + 6;
    if (is_high_surrogate(unit)) {
        bool escaped = r->end - next >= 2 && next[0] == '\\' && next[1] == 'u';
        int32_t low = escaped ? unicode_unit(next + 2, r->end) : -1;
        if (is_low_surrogate(low)) {
            *character = 0x10000u + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
            return next + 6;
        }
    }
    if (unit <= 0 || is_high_surrogate(unit) || is_low_surrogate(unit)) {
        fail(r, STATUS_INVALID, p,
             unit < 0    ? "\\u needs four hexadecimal digits"
             : unit == 0 ? "\\u0000 is not accepted in a text"
                         : "half of a surrogate pair");
        return NULL;
    }
    *character = (uint32_t)unit;
    return next;
}

static WRAPS bool has_byte_below(uint64_t v, uint64_t below)
{
    uint64_t ones = 0x0101010101010101u;
    return ((v - ones * below) & ~v & (ones << 7)) != 0;
}

// The first quote, backslash or control character at or after p, or end.
static const char *scan_plain(const char *p, const char *end)
{
    uint64_t ones = 0x0101010101010101u;
    while (end - p >= 8) {
        uint64_t v;
        memcpy(&v, p, 8);
        if (has_byte_below(v, 0x20) || has_byte_below(v ^ (ones * '"'), 1) ||
            has_byte_below(v ^ (ones * '\\'), 1)) {
            break;
        }
        p += 8;
    }
    while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20) {
        p++;
    }
    return p;
}

// The end of the string whose quote is at p, behind its closing quote, or NULL.
static const char *scan_string(struct jr *r, const char *p, bool *escaped)
{
    const char *quote = p;
    *escaped = false;
    p++;
    for (;;) {
        p = scan_plain(p, r->end);
        if (p == r->end) {
            fail(r, STATUS_INVALID, quote, "a text without its closing quote");
            return NULL;
        }
        if (*p == '"') {
            return p + 1;
        }
        if (*p != '\\') {
            fail(r, STATUS_INVALID, p, "the byte %02x in a text must be written \\u%04x",
                 (unsigned)*p, (unsigned)*p);
            return NULL;
        }
        uint32_t character;
        *escaped = true;
        p = read_escape(r, p, &character);
        if (!p) {
            return NULL;
        }
    }
}

static const char *scan_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9') {
        p++;
    }
    return p;
}

// The end of the number at p, or NULL when it is none by the grammar.
static const char *number_end(const char *p, const char *end)
{
    if (p < end && *p == '-') {
        p++;
    }
    const char *digits = p;
    p = scan_digits(p, end);
    if (p == digits || (*digits == '0' && p - digits > 1)) {
        return NULL;
    }
    if (p < end && *p == '.') {
        const char *fraction = p + 1;
        p = scan_digits(fraction, end);
        if (p == fraction) {
            return NULL;
        }
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < end && (*p == '+' || *p == '-')) {
            p++;
        }
        const char *exponent = p;
        p = scan_digits(exponent, end);
        if (p == exponent) {
            return NULL;
        }
    }
    return p;
}

bool jr_is_number(struct str s)
{
    return s.len > 0 && number_end(s.ptr, s.ptr + s.len) == s.ptr + s.len;
}

static const char *literal_end(const struct jr *r, const char *p)
{
    struct str rest = {p, (uint32_t)(r->end - p)};
    if (str_starts(rest, STR("true")) || str_starts(rest, STR("null"))) {
        return p + 4;
    }
    return str_starts(rest, STR("false")) ? p + 5 : NULL;
}

// The end of the text, number or word at p, or NULL.
static const char *scan_scalar(struct jr *r, const char *p)
{
    bool escaped;
    if (p == r->end) {
        fail_expected(r, p, "a value");
        return NULL;
    }
    if (*p == '"') {
        return scan_string(r, p, &escaped);
    }
    bool is_number = *p == '-' || (*p >= '0' && *p <= '9');
    const char *end = is_number ? number_end(p, r->end) : literal_end(r, p);
    if (end) {
        return end;
    }
    if (is_number) {
        fail(r, STATUS_INVALID, p, "not a number as JSON writes them");
    } else {
        fail_expected(r, p, "a value");
    }
    return NULL;
}

// The place behind the key at p and its colon, or NULL.
static const char *scan_key(struct jr *r, const char *p, bool *escaped, const char **key_end)
{
    if (p == r->end || *p != '"') {
        fail_expected(r, p, "a key in double quotes");
        return NULL;
    }
    p = scan_string(r, p, escaped);
    if (!p) {
        return NULL;
    }
    *key_end = p;
    p = skip_space(p, r->end);
    if (p == r->end || *p != ':') {
        fail_expected(r, p, "':'");
        return NULL;
    }
    return p + 1;
}

// From behind a value on: closes levels down to base and steps over a comma and, in an object, the
// key. Gives the place of the next value, or of what follows the whole when depth is base; or NULL.
static const char *skip_between(struct jr *r, const char *p, uint32_t base)
{
    while (r->depth > base) {
        bool is_object = (r->objects & 1) != 0;
        p = skip_space(p, r->end);
        if (p < r->end && *p == (is_object ? '}' : ']')) {
            pop_level(r);
            p++;
            continue;
        }
        if (p == r->end || *p != ',') {
            fail_expected(r, p, is_object ? "',' or '}'" : "',' or ']'");
            return NULL;
        }
        p = skip_space(p + 1, r->end);
        if (is_object) {
            bool escaped;
            const char *key_end;
            p = scan_key(r, p, &escaped, &key_end);
        }
        return p;
    }
    return p;
}

static const char *scan_value(struct jr *r, const char *p)
{
    uint32_t base = r->depth;
    do {
        p = skip_space(p, r->end);
        if (p < r->end && (*p == '{' || *p == '[')) {
            bool is_object = *p == '{';
            if (!push_level(r, p, is_object)) {
                return NULL;
            }
            p = skip_space(p + 1, r->end);
            if (p < r->end && *p == (is_object ? '}' : ']')) {
                pop_level(r);
                p = skip_between(r, p + 1, base);
            } else if (is_object) {
                bool escaped;
                const char *key_end;
                p = scan_key(r, p, &escaped, &key_end);
            }
        } else {
            p = scan_scalar(r, p);
            p = p ? skip_between(r, p, base) : NULL;
        }
    } while (p && r->depth > base);
    return p;
}

void jr_init(struct jr *r, struct str text, struct arena *arena, struct err *err)
{
    const char *start = text.ptr ? text.ptr : "";
    *r = (struct jr){
        .arena = arena,
        .err = err,
        .start = start,
        .at = start,
        .end = start + text.len,
        .last = start,
        .value_due = true,
        .counted = start,
        .line = 1,
        .col = 1,
    };
    if (text.len > JSON_SIZE_MAX) {
        r->status = err_set(err, STATUS_TOO_LARGE, "the text has %u bytes, at most %d are accepted",
                            text.len, JSON_SIZE_MAX);
        return;
    }
    if (!str_is_utf8(text)) {
        uint32_t at = 0;
        while (str_utf8_len(text, at) != 0) {
            at += str_utf8_len(text, at);
        }
        fail(r, STATUS_INVALID, start + at, "the byte %02x is not UTF-8",
             (unsigned)(unsigned char)text.ptr[at]);
    }
}

// True when a value may be read now; its first byte, if there is one, is then at r->at.
static bool value_begin(struct jr *r)
{
    if (r->status != STATUS_OK) {
        return false;
    }
    CHECK(r->value_due);
    r->at = skip_space(r->at, r->end);
    r->last = r->at;
    return true;
}

static void value_end(struct jr *r, const char *end)
{
    r->at = end;
    r->value_due = false;
}

enum doc_kind jr_kind(struct jr *r)
{
    if (!value_begin(r) || r->at == r->end) {
        return DOC_NULL;
    }
    switch (*r->at) {
    case '{':
        return DOC_MAP;
    case '[':
        return DOC_LIST;
    case '"':
        return DOC_STRING;
    case 't':
    case 'f':
        return literal_end(r, r->at) ? DOC_BOOL : DOC_NULL;
    case '-':
        return DOC_NUMBER;
    default:
        return *r->at >= '0' && *r->at <= '9' ? DOC_NUMBER : DOC_NULL;
    }
}

void jr_where(struct jr *r, uint32_t *line, uint32_t *col)
{
    locate(r, skip_space(r->at, r->end), line, col);
}

void jr_where_last(struct jr *r, uint32_t *line, uint32_t *col)
{
    locate(r, r->last, line, col);
}

static bool enter(struct jr *r, char open, const char *what)
{
    if (!value_begin(r)) {
        return false;
    }
    if (r->at == r->end || *r->at != open) {
        return fail_expected(r, r->at, what);
    }
    if (!push_level(r, r->at, open == '{')) {
        return false;
    }
    value_end(r, r->at + 1);
    return true;
}

// Steps to the next thing on this level, leaving it when there is none.
static bool step(struct jr *r, char close, const char *comma_or_close)
{
    if (r->status != STATUS_OK) {
        return false;
    }
    CHECK(!r->value_due);
    CHECK(r->depth > 0);
    CHECK((close == '}') == ((r->objects & 1) != 0));
    r->at = skip_space(r->at, r->end);
    if (r->at < r->end && *r->at == close) {
        pop_level(r);
        r->at++;
        return false;
    }
    if ((r->nonempty & 1) != 0) {
        if (r->at == r->end || *r->at != ',') {
            return fail_expected(r, r->at, comma_or_close);
        }
        r->at = skip_space(r->at + 1, r->end);
    }
    r->nonempty |= 1;
    return true;
}

bool jr_object(struct jr *r)
{
    return enter(r, '{', "an object");
}

bool jr_array(struct jr *r)
{
    return enter(r, '[', "a list");
}

bool jr_item(struct jr *r)
{
    if (!step(r, ']', "',' or ']'")) {
        return false;
    }
    r->value_due = true;
    return true;
}

static char *put_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
        return out;
    }
    if (c < 0x800) {
        *out++ = (char)(0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *out++ = (char)(0xe0 | c >> 12);
        } else {
            *out++ = (char)(0xf0 | c >> 18);
            *out++ = (char)(0x80 | (c >> 12 & 0x3f));
        }
        *out++ = (char)(0x80 | (c >> 6 & 0x3f));
    }
    *out++ = (char)(0x80 | (c & 0x3f));
    return out;
}

// The text between the quotes at first and end - 1, escapes resolved. No escape is shorter than
// what it stands for.
static struct str string_value(struct jr *r, const char *first, const char *end, bool escaped)
{
    const char *p = first + 1;
    end--;
    if (!escaped) {
        return (struct str){p, (uint32_t)(end - p)};
    }
    char *text = arena_alloc(r->arena, (size_t)(end - p));
    char *out = text;
    while (p < end) {
        const char *plain = scan_plain(p, end);
        memcpy(out, p, (size_t)(plain - p));
        out += plain - p;
        p = plain;
        if (p < end) {
            uint32_t character = 0;
            p = read_escape(r, p, &character);
            CHECK(p != NULL);
            out = put_utf8(out, character);
        }
    }
    return (struct str){text, (uint32_t)(out - text)};
}

bool jr_member(struct jr *r, struct str *key)
{
    if (!step(r, '}', "',' or '}'")) {
        return false;
    }
    bool escaped;
    const char *key_end;
    const char *behind = scan_key(r, r->at, &escaped, &key_end);
    if (!behind) {
        return false;
    }
    r->last = r->at;
    *key = string_value(r, r->at, key_end, escaped);
    r->at = behind;
    r->value_due = true;
    return true;
}

bool jr_string(struct jr *r, struct str *out)
{
    if (!value_begin(r)) {
        return false;
    }
    if (r->at == r->end || *r->at != '"') {
        return fail_expected(r, r->at, "a text");
    }
    bool escaped;
    const char *end = scan_string(r, r->at, &escaped);
    if (!end) {
        return false;
    }
    *out = string_value(r, r->at, end, escaped);
    value_end(r, end);
    return true;
}

bool jr_number(struct jr *r, struct str *out)
{
    if (!value_begin(r)) {
        return false;
    }
    if (jr_kind(r) != DOC_NUMBER) {
        return fail_expected(r, r->at, "a number");
    }
    const char *end = scan_scalar(r, r->at);
    if (!end) {
        return false;
    }
    *out = (struct str){r->at, (uint32_t)(end - r->at)};
    value_end(r, end);
    return true;
}

// The value of a well-formed number times 10^scale, when that is a whole int64_t.
static bool number_scaled(struct str s, uint32_t scale, int64_t *out)
{
    uint32_t e = 0;
    while (e < s.len && (s.ptr[e] | 0x20) != 'e') {
        e++;
    }
    int64_t exponent = 0;
    if (e < s.len) {
        struct str digits = str_sub(s, e + 1, s.len);
        bool plus = digits.ptr[0] == '+';
        if (!num_parse_i64(str_sub(digits, plus, digits.len), &exponent)) {
            return false;
        }
    }
    bool negative = s.ptr[0] == '-';
    uint32_t first = negative;
    uint32_t point = str_find(str_sub(s, 0, e), '.');
    uint32_t last = e; // behind the last digit that is not a needless zero
    while (point < e && s.ptr[last - 1] == '0') {
        last--;
    }
    last = last == point + 1 ? point : last;
    int64_t v = 0;
    for (uint32_t i = first; i < last; i++) {
        if (i != point && (!num_mul_i64(v, 10, &v) || !num_sub_i64(v, s.ptr[i] - '0', &v))) {
            return false;
        }
    }
    int64_t decimals = last > point ? last - point - 1 : 0;
    int64_t shift = num_sat_add_i64(exponent, (int64_t)scale - decimals);
    for (; v != 0 && shift > 0; shift--) {
        if (!num_mul_i64(v, 10, &v)) {
            return false;
        }
    }
    for (; v != 0 && shift < 0; shift++) {
        if (v % 10 != 0) {
            return false;
        }
        v /= 10;
    }
    // v was made negative, so that the least number fits.
    return negative ? num_add_i64(v, 0, out) : num_sub_i64(0, v, out);
}

bool jr_decimal(struct jr *r, uint32_t scale, int64_t *out)
{
    struct str text = {0};
    if (!jr_number(r, &text)) {
        return false;
    }
    if (number_scaled(text, scale, out)) {
        return true;
    }
    if (scale == 0) {
        return jr_fail(r, "expected a whole number within 64 bits, found " STR_FMT,
                       STR_ARG(str_clip(text, 40)));
    }
    return jr_fail(r, "expected a number with at most %u decimals within 64 bits, found " STR_FMT,
                   scale, STR_ARG(str_clip(text, 40)));
}

bool jr_i64(struct jr *r, int64_t *out)
{
    return jr_decimal(r, 0, out);
}

bool jr_bool(struct jr *r, bool *out)
{
    if (!value_begin(r)) {
        return false;
    }
    const char *end = jr_kind(r) == DOC_BOOL ? literal_end(r, r->at) : NULL;
    if (!end) {
        return fail_expected(r, r->at, "true or false");
    }
    *out = *r->at == 't';
    value_end(r, end);
    return true;
}

bool jr_null(struct jr *r)
{
    if (!value_begin(r) || r->at == r->end || *r->at != 'n') {
        return false;
    }
    const char *end = literal_end(r, r->at);
    if (!end) {
        return fail_expected(r, r->at, "a value");
    }
    value_end(r, end);
    return true;
}

bool jr_skip(struct jr *r)
{
    struct str unused;
    return jr_raw(r, &unused);
}

bool jr_raw(struct jr *r, struct str *out)
{
    if (!value_begin(r)) {
        return false;
    }
    const char *end = scan_value(r, r->at);
    if (!end) {
        return false;
    }
    *out = (struct str){r->at, (uint32_t)(end - r->at)};
    value_end(r, end);
    return true;
}

bool jr_fail(struct jr *r, const char *format, ...)
{
    char text[sizeof(r->err->text)];
    va_list args;
    va_start(args, format);
    str_vformat(text, sizeof(text), format, args);
    va_end(args);
    return fail(r, STATUS_INVALID, r->last, "%s", text);
}

enum status jr_finish(struct jr *r)
{
    if (r->status == STATUS_OK) {
        CHECK(r->depth == 0);
        CHECK(!r->value_due);
        r->at = skip_space(r->at, r->end);
        if (r->at < r->end) {
            fail_expected(r, r->at, "nothing behind the value");
        }
    }
    return r->status;
}

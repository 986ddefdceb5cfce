// SPDX-License-Identifier: Apache-2.0
// json: the writer. What it writes is decided by three facts of the innermost level: whether it is
// an object, whether anything stands in it, whether a key waits for its value.
#include "base/check.h"
#include "codec/json.h"

enum { DECIMAL_SCALE_MAX = 18 };

void jw_init(struct jw *w, struct buf *buf, bool pretty)
{
    *w = (struct jw){.buf = buf, .pretty = pretty};
}

static void new_line(struct jw *w)
{
    if (w->pretty) {
        buf_char(w->buf, '\n');
        for (uint32_t i = 0; i < w->depth; i++) {
            buf_str(w->buf, STR("  "));
        }
    }
}

// What stands in front of a key, or of a value that has none.
static void separate(struct jw *w)
{
    if (w->levels[w->depth].nonempty) {
        buf_char(w->buf, ',');
    }
    if (w->depth > 0) {
        new_line(w);
    }
    w->levels[w->depth].nonempty = true;
}

static void value_begin(struct jw *w)
{
    bool in_object = w->levels[w->depth].is_object;
    CHECK(in_object == w->key_written);
    if (!in_object) {
        CHECK(w->depth > 0 || !w->levels[0].nonempty);
        separate(w);
    }
    w->key_written = false;
}

static void begin(struct jw *w, char open)
{
    value_begin(w);
    CHECK(w->depth < JSON_WRITE_DEPTH_MAX);
    buf_char(w->buf, open);
    w->depth++;
    w->levels[w->depth].is_object = open == '{';
    w->levels[w->depth].nonempty = false;
}

static void end(struct jw *w, char close)
{
    CHECK(w->depth > 0);
    CHECK(!w->key_written);
    CHECK((close == '}') == w->levels[w->depth].is_object);
    bool nonempty = w->levels[w->depth].nonempty;
    w->depth--;
    if (nonempty) {
        new_line(w);
    }
    buf_char(w->buf, close);
}

void jw_object_begin(struct jw *w)
{
    begin(w, '{');
}

void jw_object_end(struct jw *w)
{
    end(w, '}');
}

void jw_array_begin(struct jw *w)
{
    begin(w, '[');
}

void jw_array_end(struct jw *w)
{
    end(w, ']');
}

static bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

static void write_special(struct buf *b, char c)
{
    switch (c) {
    case '"':
        buf_str(b, STR("\\\""));
        break;
    case '\\':
        buf_str(b, STR("\\\\"));
        break;
    case '\n':
        buf_str(b, STR("\\n"));
        break;
    case '\r':
        buf_str(b, STR("\\r"));
        break;
    case '\t':
        buf_str(b, STR("\\t"));
        break;
    default:
        buf_printf(b, "\\u%04x", (unsigned)(unsigned char)c);
        break;
    }
}

static void write_string(struct buf *b, struct str s)
{
    buf_char(b, '"');
    uint32_t i = 0;
    while (i < s.len) {
        uint32_t plain = i;
        while (plain < s.len && is_plain(s.ptr[plain])) {
            plain++;
        }
        buf_add(b, s.ptr + i, plain - i);
        i = plain;
        if (i == s.len) {
            break;
        }
        if ((unsigned char)s.ptr[i] < 0x80) {
            write_special(b, s.ptr[i++]);
            continue;
        }
        uint32_t len = str_utf8_len(s, i);
        if (len == 0) {
            buf_str(b, STR("\xef\xbf\xbd")); // U+FFFD
            i++;
        } else {
            buf_add(b, s.ptr + i, len);
            i += len;
        }
    }
    buf_char(b, '"');
}

void jw_key(struct jw *w, struct str key)
{
    CHECK(w->levels[w->depth].is_object);
    CHECK(!w->key_written);
    separate(w);
    write_string(w->buf, key);
    buf_char(w->buf, ':');
    if (w->pretty) {
        buf_char(w->buf, ' ');
    }
    w->key_written = true;
}

void jw_string(struct jw *w, struct str s)
{
    value_begin(w);
    write_string(w->buf, s);
}

void jw_i64(struct jw *w, int64_t v)
{
    value_begin(w);
    buf_printf(w->buf, "%lld", (long long)v);
}

void jw_u64(struct jw *w, uint64_t v)
{
    value_begin(w);
    buf_printf(w->buf, "%llu", (unsigned long long)v);
}

void jw_decimal(struct jw *w, int64_t value, uint32_t scale)
{
    CHECK(scale <= DECIMAL_SCALE_MAX);
    value_begin(w);
    uint64_t magnitude = value < 0 ? ~(uint64_t)value + 1 : (uint64_t)value;
    uint64_t unit = 1;
    for (uint32_t i = 0; i < scale; i++) {
        unit *= 10;
    }
    uint64_t fraction = magnitude % unit;
    buf_printf(w->buf, "%s%llu", value < 0 ? "-" : "", (unsigned long long)(magnitude / unit));
    if (fraction == 0) {
        return;
    }
    uint32_t digits = scale;
    while (fraction % 10 == 0) {
        fraction /= 10;
        digits--;
    }
    buf_printf(w->buf, ".%0*llu", (int)digits, (unsigned long long)fraction);
}

void jw_bool(struct jw *w, bool v)
{
    value_begin(w);
    buf_str(w->buf, v ? STR("true") : STR("false"));
}

void jw_null(struct jw *w)
{
    value_begin(w);
    buf_str(w->buf, STR("null"));
}

void jw_raw(struct jw *w, struct str json)
{
    value_begin(w);
    buf_str(w->buf, json);
}

static void write_scalar(struct jw *w, const struct doc *d)
{
    switch (d->kind) {
    case DOC_NULL:
        jw_null(w);
        break;
    case DOC_BOOL:
        jw_bool(w, d->boolean);
        break;
    case DOC_NUMBER:
        if (jr_is_number(d->text)) {
            jw_raw(w, d->text);
        } else {
            jw_string(w, d->text);
        }
        break;
    case DOC_STRING:
        jw_string(w, d->text);
        break;
    case DOC_LIST:
    case DOC_MAP:
        CHECK(d->child == NULL);
        break;
    }
}

static bool is_container(const struct doc *d)
{
    return d->kind == DOC_MAP || d->kind == DOC_LIST;
}

// Closes the containers that end with at, the innermost of open[0, *depth), and gives the sibling
// that follows; NULL when nothing does.
static const struct doc *close_after(struct jw *w, const struct doc *at,
                                     const struct doc *const *open, uint32_t *depth)
{
    while (*depth > 0 && !at->next) {
        at = open[--*depth];
        end(w, at->kind == DOC_MAP ? '}' : ']');
    }
    return *depth > 0 ? at->next : NULL;
}

void jw_doc(struct jw *w, const struct doc *d)
{
    const struct doc *open[DOC_DEPTH_MAX];
    uint32_t depth = 0;
    const struct doc *at = d;
    while (at) {
        if (depth > 0 && open[depth - 1]->kind == DOC_MAP) {
            jw_key(w, at->key);
        }
        if (is_container(at)) {
            begin(w, at->kind == DOC_MAP ? '{' : '[');
            if (at->child) {
                CHECK(depth < DOC_DEPTH_MAX);
                open[depth++] = at;
                at = at->child;
                continue;
            }
            end(w, at->kind == DOC_MAP ? '}' : ']');
        } else {
            write_scalar(w, at);
        }
        at = close_after(w, at, open, &depth);
    }
}

void jw_member_string(struct jw *w, struct str key, struct str v)
{
    jw_key(w, key);
    jw_string(w, v);
}

void jw_member_i64(struct jw *w, struct str key, int64_t v)
{
    jw_key(w, key);
    jw_i64(w, v);
}

void jw_member_bool(struct jw *w, struct str key, bool v)
{
    jw_key(w, key);
    jw_bool(w, v);
}

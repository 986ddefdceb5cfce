// SPDX-License-Identifier: Apache-2.0
// buf: doubles up to its maximum. Not in an arena, because it is what grows most.
#include "base/buf.h"

#include <stdarg.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

enum { BUF_CAP_MIN = 256 };

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf){.max = max};
}

void buf_done(struct buf *b)
{
    mem_free(b->ptr);
    *b = (struct buf){.max = b->max};
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->full = false;
}

// Makes room for len more bytes and returns how many of them may be written.
static size_t buf_reserve(struct buf *b, size_t len)
{
    CHECK(b->len <= b->max);
    size_t left = b->max - b->len;
    if (len > left) {
        b->full = true;
        len = left;
    }
    size_t need = b->len + len;
    if (need > b->cap) {
        size_t cap = b->cap > b->max / 2 ? b->max : b->cap * 2;
        cap = cap < BUF_CAP_MIN ? BUF_CAP_MIN : cap;
        cap = cap < need ? need : cap;
        cap = cap > b->max ? b->max : cap;
        b->ptr = mem_resize(b->ptr, b->cap, cap);
        b->cap = cap;
    }
    return len;
}

void buf_add(struct buf *b, const void *bytes, size_t len)
{
    len = buf_reserve(b, len);
    if (len > 0) {
        memcpy(b->ptr + b->len, bytes, len);
        b->len += len;
    }
}

void buf_str(struct buf *b, struct str s)
{
    buf_add(b, s.ptr, s.len);
}

void buf_char(struct buf *b, char c)
{
    if (b->len < b->cap) {
        b->ptr[b->len++] = c;
        return;
    }
    buf_add(b, &c, 1);
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    size_t room = b->cap - b->len;
    char *at = room > 0 ? b->ptr + b->len : NULL;
    size_t len = str_vformat(at, room, format, args);
    va_end(args);
    if (len < room) {
        b->len += len;
        va_end(again);
        return;
    }
    // The terminator needs one byte more than the text, which at the maximum is not there.
    size_t fits = buf_reserve(b, len);
    size_t head = b->len;
    if (b->cap - head > len) {
        str_vformat(b->ptr + head, len + 1, format, again);
    } else if (fits > 0) {
        char *whole = mem_alloc(len + 1);
        str_vformat(whole, len + 1, format, again);
        memcpy(b->ptr + head, whole, fits);
        mem_free(whole);
    }
    va_end(again);
    b->len += fits;
}

struct str buf_view(const struct buf *b)
{
    CHECK(b->len <= UINT32_MAX);
    return (struct str){b->ptr, (uint32_t)b->len};
}

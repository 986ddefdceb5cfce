// SPDX-License-Identifier: Apache-2.0
// record: every walk over a value (encode, decode, copy, compare) is a loop over a stack of frames,
// one frame a list (an embedded record is a list of one), so depth is bounded by the tables and
// nothing recurses.
//
// Canonical form, which the decoder insists on for the fields it knows: tags ascend, zero values
// are absent, varints are as short as they can be. Lengths of nested records and of list items
// are four bytes, low byte first: their number is known only once they are written, and a fixed
// width lets them be filled in afterwards without moving what follows.
#include "model/record.h"

#include <string.h>

#include "base/check.h"

enum { LEN_SIZE = 4, HEAD_MAX = 3 + 1 + 10 /* tag, kind, number */ };

static const struct field str_item_fields[] = {F_STR(1, struct str_item, value)};
static const struct field i64_item_fields[] = {F_I64(1, struct i64_item, value)};
static const struct field u32_item_fields[] = {F_U32(1, struct u32_item, value)};
const struct record record_str_item = RECORD("text", struct str_item, str_item_fields);
const struct record record_i64_item = RECORD("number", struct i64_item, i64_item_fields);
const struct record record_u32_item = RECORD("count", struct u32_item, u32_item_fields);

/* ---- access to members through offsets ---- */

static int64_t load_i64(const char *at)
{
    int64_t v;
    memcpy(&v, at, sizeof(v));
    return v;
}

static uint32_t load_u32(const char *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof(v));
    return v;
}

static bool load_bool(const char *at)
{
    bool v;
    memcpy(&v, at, sizeof(v));
    return v;
}

static struct str load_str(const char *at)
{
    struct str v;
    memcpy(&v, at, sizeof(v));
    return v;
}

static struct uuid load_uuid(const char *at)
{
    struct uuid v;
    memcpy(&v, at, sizeof(v));
    return v;
}

static char *load_ptr(const char *at)
{
    char *v;
    memcpy((void *)&v, at, sizeof(v));
    return v;
}

/* ---- frames ---- */

struct frame {
    const struct record *r;
    const char *a;         /* first item */
    const char *b;         /* compare: the other side */
    char *to;              /* decode, copy: the items being filled */
    const struct field *f; /* which field of the record around it this is; NULL at the root */
    uint32_t count;        /* items */
    uint32_t item;         /* the one being walked */
    uint32_t field;        /* next field of it */
    size_t start;          /* encode: where the tag was written */
    size_t len_at;         /* encode: where the length of the whole goes */
    size_t item_at;        /* encode: where the length of this item goes */
    size_t end, item_end;  /* decode: positions after the whole and after this item */
    uint32_t last_tag;     /* decode */
};

struct stack {
    struct frame frames[RECORD_DEPTH_MAX];
    uint32_t depth;
};

static struct frame *stack_top(struct stack *s)
{
    return &s->frames[s->depth - 1];
}

static struct frame *stack_push(struct stack *s, const struct record *r, const struct field *f,
                                uint32_t count)
{
    CHECK(s->depth < RECORD_DEPTH_MAX);
    struct frame *top = &s->frames[s->depth++];
    *top = (struct frame){.r = r, .f = f, .count = count};
    return top;
}

/* ---- encode ---- */

static char *write_varint(char *at, uint64_t v)
{
    while (v >= 0x80) {
        *at++ = (char)(unsigned char)((v & 0x7f) | 0x80);
        v >>= 7;
    }
    *at++ = (char)(unsigned char)v;
    return at;
}

// The hot path: a field's tag and kind, and a number. Written in place where there is room, which
// is nearly always.
static void put_field(struct buf *out, const struct field *f, bool with_value, uint64_t v)
{
    char bytes[HEAD_MAX];
    bool room = out->cap - out->len >= HEAD_MAX;
    char *first = room ? out->ptr + out->len : bytes;
    char *at = write_varint(first, f->tag);
    *at++ = (char)f->kind;
    at = with_value ? write_varint(at, v) : at;
    if (room) {
        out->len += (size_t)(at - first);
    } else {
        buf_add(out, bytes, (size_t)(at - bytes));
    }
}

static uint64_t zigzag(int64_t v)
{
    return v < 0 ? (uint64_t)(-(v + 1)) << 1 | 1 : (uint64_t)v << 1;
}

static int64_t unzigzag(uint64_t v)
{
    return (v & 1) != 0 ? -(int64_t)(v >> 1) - 1 : (int64_t)(v >> 1);
}

static size_t put_len_later(struct buf *out)
{
    static const char zeros[LEN_SIZE] = {0};
    size_t at = out->len;
    buf_add(out, zeros, LEN_SIZE);
    return at;
}

static void fill_len(struct buf *out, size_t at)
{
    if (out->full) {
        return; // the caller throws all of it away
    }
    size_t len = out->len - at - LEN_SIZE;
    CHECK(len <= UINT32_MAX);
    for (uint32_t i = 0; i < LEN_SIZE; i++) {
        out->ptr[at + i] = (char)(unsigned char)((len >> (8 * i)) & 0xff);
    }
}

// Writes a plain field; returns false for records and lists.
static bool encode_plain(const struct field *f, const char *at, struct buf *out)
{
    switch (f->kind) {
    case FIELD_I64: {
        int64_t v = load_i64(at);
        if (v != 0) {
            put_field(out, f, true, zigzag(v));
        }
        return true;
    }
    case FIELD_U32: {
        uint32_t v = load_u32(at);
        if (v != 0) {
            put_field(out, f, true, v);
        }
        return true;
    }
    case FIELD_BOOL:
        if (load_bool(at)) {
            put_field(out, f, true, 1);
        }
        return true;
    case FIELD_STR: {
        struct str v = load_str(at);
        if (v.len != 0) {
            put_field(out, f, true, v.len);
            buf_str(out, v);
        }
        return true;
    }
    case FIELD_UUID: {
        struct uuid v = load_uuid(at);
        if (!uuid_is_zero(v)) {
            put_field(out, f, false, 0);
            buf_add(out, v.b, sizeof(v.b));
        }
        return true;
    }
    case FIELD_RECORD:
    case FIELD_LIST:
        return false;
    }
    return false;
}

static void encode_open(struct stack *s, const struct field *f, const char *value, struct buf *out)
{
    bool list = f->kind == FIELD_LIST;
    uint32_t count = list ? load_u32(value + f->count_offset) : 1;
    if (count == 0) {
        return;
    }
    const char *items = list ? load_ptr(value + f->offset) : value + f->offset;
    CHECK(items != NULL);
    size_t start = out->len;
    put_field(out, f, false, 0);
    struct frame *top = stack_push(s, f->sub, f, count);
    top->a = items;
    top->start = start;
    top->len_at = put_len_later(out);
    if (list) {
        top->item_at = put_len_later(out);
    }
}

static void encode_close(struct stack *s, struct buf *out)
{
    struct frame *top = stack_top(s);
    if (top->f && top->f->kind == FIELD_RECORD && out->len == top->len_at + LEN_SIZE &&
        !out->full) {
        out->len = top->start; // all zero: absent
    } else if (top->f) {
        fill_len(out, top->len_at);
    }
    s->depth--;
}

void record_encode(const struct record *r, const void *value, struct buf *out)
{
    struct stack s = {.depth = 0};
    stack_push(&s, r, NULL, 1)->a = value;
    while (s.depth > 0 && !out->full) {
        struct frame *top = stack_top(&s);
        bool list = top->f && top->f->kind == FIELD_LIST;
        if (top->field == top->r->field_count) {
            if (list) {
                fill_len(out, top->item_at);
            }
            top->item++;
            top->field = 0;
            if (top->item == top->count) {
                encode_close(&s, out);
            } else {
                top->item_at = put_len_later(out);
            }
            continue;
        }
        const struct field *f = &top->r->fields[top->field++];
        const char *base = top->a + top->r->size * top->item;
        if (!encode_plain(f, base + f->offset, out)) {
            encode_open(&s, f, base, out);
        }
    }
}

/* ---- decode ---- */

struct reader {
    struct str bytes;
    size_t at;
    struct arena *arena;
    struct stack stack;
};

// Path of the value being walked: "workloads[2].pods[0]".
static struct str stack_path(const struct stack *s, struct str last, struct arena *arena)
{
    struct str path = STR("");
    for (uint32_t i = 1; i < s->depth; i++) {
        const struct frame *fr = &s->frames[i];
        const char *dot = path.len > 0 ? "." : "";
        path = fr->f->kind == FIELD_LIST
                   ? arena_printf(arena, "%.*s%s%s[%u]", STR_ARG(path), dot, fr->f->name, fr->item)
                   : arena_printf(arena, "%.*s%s%s", STR_ARG(path), dot, fr->f->name);
    }
    if (last.len == 0) {
        return path;
    }
    return arena_printf(arena, "%.*s%s%.*s", STR_ARG(path), path.len > 0 ? "." : "", STR_ARG(last));
}

static enum status corrupt(const struct reader *in, const struct field *f, const char *what,
                           struct err *err)
{
    struct str last = f ? str_from_c(f->name) : STR("");
    struct str path = stack_path(&in->stack, last, in->arena);
    err_set(err, STATUS_CORRUPT, "%s: %s at byte %zu of %u", in->stack.frames[0].r->name, what,
            in->at, in->bytes.len);
    err_field(err, "%.*s", STR_ARG(path));
    return STATUS_CORRUPT;
}

static size_t limit(const struct reader *in)
{
    return in->stack.frames[in->stack.depth - 1].item_end;
}

static bool get_byte(struct reader *in, size_t end, uint32_t *out)
{
    if (in->at >= end) {
        return false;
    }
    *out = (unsigned char)in->bytes.ptr[in->at++];
    return true;
}

static bool get_varint(struct reader *in, size_t end, uint64_t *out)
{
    uint64_t v = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
        uint32_t b;
        if (!get_byte(in, end, &b)) {
            return false;
        }
        uint64_t part = b & 0x7f;
        if (shift == 63 && part > 1) {
            return false; // beyond 64 bits
        }
        v |= part << shift;
        if ((b & 0x80) == 0) {
            if (b == 0 && shift > 0) {
                return false; // longer than needed
            }
            *out = v;
            return true;
        }
    }
    return false;
}

static bool get_len(struct reader *in, size_t end, size_t *out)
{
    if (end - in->at < LEN_SIZE) {
        return false;
    }
    size_t v = 0;
    for (uint32_t i = 0; i < LEN_SIZE; i++) {
        v |= (size_t)(unsigned char)in->bytes.ptr[in->at++] << (8 * i);
    }
    if (v > end - in->at) {
        return false;
    }
    *out = v;
    return true;
}

// Reads a plain value into to (NULL: skip it). False: not what the encoder writes.
static bool decode_plain(struct reader *in, enum field_kind kind, size_t end, char *to)
{
    uint64_t v = 0;
    switch (kind) {
    case FIELD_I64: {
        if (!get_varint(in, end, &v) || v == 0) {
            return false;
        }
        int64_t i = unzigzag(v);
        if (to) {
            memcpy(to, &i, sizeof(i));
        }
        return true;
    }
    case FIELD_U32: {
        if (!get_varint(in, end, &v) || v == 0 || v > UINT32_MAX) {
            return false;
        }
        uint32_t u = (uint32_t)v;
        if (to) {
            memcpy(to, &u, sizeof(u));
        }
        return true;
    }
    case FIELD_BOOL: {
        uint32_t b;
        if (!get_byte(in, end, &b) || b != 1) {
            return false;
        }
        bool yes = true;
        if (to) {
            memcpy(to, &yes, sizeof(yes));
        }
        return true;
    }
    case FIELD_STR:
        if (!get_varint(in, end, &v) || v == 0 || v > end - in->at) {
            return false;
        }
        if (to) {
            struct str s = arena_str(in->arena, str_sub(in->bytes, (uint32_t)in->at, (uint32_t)v));
            memcpy(to, &s, sizeof(s));
        }
        in->at += v;
        return true;
    case FIELD_UUID: {
        struct uuid u;
        if (end - in->at < sizeof(u.b)) {
            return false;
        }
        memcpy(u.b, in->bytes.ptr + in->at, sizeof(u.b));
        in->at += sizeof(u.b);
        if (to) {
            memcpy(to, &u, sizeof(u));
        }
        return !uuid_is_zero(u);
    }
    case FIELD_RECORD:
    case FIELD_LIST: {
        size_t len; // of a field that is not known here
        if (!get_len(in, end, &len) || len == 0) {
            return false;
        }
        in->at += len;
        return true;
    }
    }
    return false;
}

// How many items the list that ends at end has; false when their lengths do not add up.
static bool count_items(const struct reader *in, size_t end, uint32_t *count)
{
    struct reader look = {.bytes = in->bytes, .at = in->at};
    *count = 0;
    while (look.at < end) {
        size_t len;
        if (!get_len(&look, end, &len)) {
            return false;
        }
        look.at += len;
        (*count)++;
    }
    return *count > 0;
}

static enum status decode_open(struct reader *in, const struct field *f, char *value,
                               struct err *err)
{
    size_t end = limit(in);
    size_t len;
    if (!get_len(in, end, &len) || len == 0) {
        return corrupt(in, f, "wrong length", err);
    }
    end = in->at + len;
    if (f->kind == FIELD_RECORD) {
        struct frame *top = stack_push(&in->stack, f->sub, f, 1);
        top->to = value + f->offset;
        top->end = top->item_end = end;
        return STATUS_OK;
    }
    uint32_t count;
    if (!count_items(in, end, &count)) {
        return corrupt(in, f, "list whose lengths do not add up", err);
    }
    char *items = arena_try(in->arena, f->sub->size * count);
    if (!items) {
        return err_set(err, STATUS_NO_MEMORY, "%s: no room for the list \"%s\" of %u items",
                       in->stack.frames[0].r->name, f->name, count);
    }
    memcpy(value + f->offset, (const void *)&items, sizeof(items));
    memcpy(value + f->count_offset, &count, sizeof(count));
    struct frame *top = stack_push(&in->stack, f->sub, f, count);
    top->to = items;
    top->end = end;
    CHECK(get_len(in, end, &len)); // counted above
    top->item_end = in->at + len;
    return STATUS_OK;
}

// Goes on to the next item, or out of the frame.
static enum status decode_next(struct reader *in, struct err *err)
{
    struct frame *top = stack_top(&in->stack);
    if (top->f && top->f->kind == FIELD_RECORD && top->last_tag == 0) {
        return corrupt(in, NULL, "empty record", err);
    }
    top->item++;
    top->field = 0;
    top->last_tag = 0;
    if (top->item == top->count) {
        in->stack.depth--;
        return STATUS_OK;
    }
    size_t len;
    CHECK(get_len(in, top->end, &len)); // counted when the list was opened
    top->item_end = in->at + len;
    return STATUS_OK;
}

static enum status decode_field(struct reader *in, struct err *err)
{
    struct frame *top = stack_top(&in->stack);
    uint64_t tag;
    uint32_t kind;
    if (!get_varint(in, top->item_end, &tag) || tag <= top->last_tag || tag > UINT16_MAX) {
        return corrupt(in, NULL, "wrong field number", err);
    }
    if (!get_byte(in, top->item_end, &kind) || kind > FIELD_LIST) {
        return corrupt(in, NULL, "wrong kind of field", err);
    }
    top->last_tag = (uint32_t)tag;
    while (top->field < top->r->field_count && top->r->fields[top->field].tag < tag) {
        top->field++;
    }
    const struct field *f = top->field < top->r->field_count ? &top->r->fields[top->field] : NULL;
    if (!f || f->tag != tag) {
        return decode_plain(in, (enum field_kind)kind, top->item_end, NULL)
                   ? STATUS_OK
                   : corrupt(in, NULL, "unknown field of wrong form", err);
    }
    if (f->kind != (enum field_kind)kind) {
        return corrupt(in, f, "field of another kind", err);
    }
    char *value = top->to + top->r->size * top->item;
    if (f->kind == FIELD_RECORD || f->kind == FIELD_LIST) {
        return decode_open(in, f, value, err);
    }
    return decode_plain(in, f->kind, top->item_end, value + f->offset)
               ? STATUS_OK
               : corrupt(in, f, "wrong value", err);
}

enum status record_decode(const struct record *r, struct str bytes, struct arena *arena,
                          void *value, struct err *err)
{
    struct reader in = {.bytes = bytes, .arena = arena};
    memset(value, 0, r->size);
    struct frame *root = stack_push(&in.stack, r, NULL, 1);
    root->to = value;
    root->end = root->item_end = bytes.len;
    while (in.stack.depth > 0) {
        struct frame *top = stack_top(&in.stack);
        enum status s = in.at == top->item_end ? decode_next(&in, err) : decode_field(&in, err);
        if (s != STATUS_OK) {
            return s;
        }
    }
    return STATUS_OK;
}

/* ---- copy ---- */

void record_copy(const struct record *r, const void *from, void *to, struct arena *arena)
{
    struct stack s = {.depth = 0};
    memmove(to, from, r->size);
    stack_push(&s, r, NULL, 1)->to = to;
    while (s.depth > 0) {
        struct frame *top = stack_top(&s);
        if (top->field == top->r->field_count) {
            top->field = 0;
            top->item++;
            if (top->item == top->count) {
                s.depth--;
            }
            continue;
        }
        const struct field *f = &top->r->fields[top->field++];
        char *value = top->to + top->r->size * top->item;
        if (f->kind == FIELD_STR) {
            struct str copy = load_str(value + f->offset);
            copy = copy.len > 0 ? arena_str(arena, copy) : STR("");
            memcpy(value + f->offset, &copy, sizeof(copy));
        } else if (f->kind == FIELD_RECORD) {
            stack_push(&s, f->sub, f, 1)->to = value + f->offset;
        } else if (f->kind == FIELD_LIST) {
            uint32_t count = load_u32(value + f->count_offset);
            const char *items = load_ptr(value + f->offset);
            char *copy = NULL;
            if (count > 0) {
                copy = arena_alloc(arena, f->sub->size * count);
                memcpy(copy, items, f->sub->size * count);
                stack_push(&s, f->sub, f, count)->to = copy;
            }
            memcpy(value + f->offset, (const void *)&copy, sizeof(copy));
        }
    }
}

/* ---- compare ---- */

static bool plain_eq(const struct field *f, const char *a, const char *b)
{
    switch (f->kind) {
    case FIELD_I64:
        return load_i64(a) == load_i64(b);
    case FIELD_U32:
        return load_u32(a) == load_u32(b);
    case FIELD_BOOL:
        return load_bool(a) == load_bool(b);
    case FIELD_STR:
        return str_eq(load_str(a), load_str(b));
    case FIELD_UUID:
        return uuid_eq(load_uuid(a), load_uuid(b));
    case FIELD_RECORD:
    case FIELD_LIST:
        return true;
    }
    return true;
}

// Walks both until they differ; returns the field that does, with the stack at its record.
static const struct field *differ(struct stack *s, const struct record *r, const char *a,
                                  const char *b)
{
    struct frame *root = stack_push(s, r, NULL, 1);
    root->a = a;
    root->b = b;
    while (s->depth > 0) {
        struct frame *top = stack_top(s);
        if (top->field == top->r->field_count) {
            top->field = 0;
            top->item++;
            if (top->item == top->count) {
                s->depth--;
            }
            continue;
        }
        const struct field *f = &top->r->fields[top->field++];
        const char *va = top->a + top->r->size * top->item;
        const char *vb = top->b + top->r->size * top->item;
        if (!plain_eq(f, va + f->offset, vb + f->offset)) {
            return f;
        }
        if (f->kind == FIELD_RECORD) {
            struct frame *sub = stack_push(s, f->sub, f, 1);
            sub->a = va + f->offset;
            sub->b = vb + f->offset;
        } else if (f->kind == FIELD_LIST) {
            uint32_t count = load_u32(va + f->count_offset);
            if (count != load_u32(vb + f->count_offset)) {
                return f;
            }
            if (count > 0) {
                struct frame *sub = stack_push(s, f->sub, f, count);
                sub->a = load_ptr(va + f->offset);
                sub->b = load_ptr(vb + f->offset);
            }
        }
    }
    return NULL;
}

bool record_eq(const struct record *r, const void *a, const void *b)
{
    struct stack s = {.depth = 0};
    return differ(&s, r, a, b) == NULL;
}

struct str record_diff(const struct record *r, const void *a, const void *b, struct arena *arena)
{
    struct stack s = {.depth = 0};
    const struct field *f = differ(&s, r, a, b);
    return f ? stack_path(&s, str_from_c(f->name), arena) : STR("");
}

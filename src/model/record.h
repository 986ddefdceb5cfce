// SPDX-License-Identifier: Apache-2.0
// record: plain structs to bytes and back by a table that describes their fields. One mechanism
// serves the journal (inputs), the checkpoint (state), the state hash and equality, so that what is
// stored, hashed and compared is by construction the same thing.
//
// Wire form: for each field whose value is not the zero value, in table order: tag (varint), kind
// (one byte), then the value (varint, zigzag varint, length and bytes; nested records, lists and
// their items by a length of four bytes). Tags ascend in a table, so also in the bytes. An unknown
// tag is skipped, a missing one is zero: old journals stay readable. Encoding is canonical: equal
// values give equal bytes.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/uuid.h"

enum field_kind {
    FIELD_I64,    /* int64_t */
    FIELD_U32,    /* uint32_t, or an enum of ours */
    FIELD_BOOL,   /* bool */
    FIELD_STR,    /* struct str */
    FIELD_UUID,   /* struct uuid */
    FIELD_RECORD, /* an embedded struct described by sub */
    FIELD_LIST,   /* pointer at offset, uint32_t count at count_offset, items described by sub */
};

struct record;
struct field {
    uint16_t tag; /* > 0, unique in its record, never reused for another meaning */
    enum field_kind kind;
    const char *name;
    size_t offset, count_offset;
    const struct record *sub;
};
struct record {
    const char *name;
    size_t size;
    const struct field *fields;
    uint32_t field_count;
};

#define F_I64(tag, type, member)  {tag, FIELD_I64, #member, offsetof(type, member), 0, 0}
#define F_U32(tag, type, member)  {tag, FIELD_U32, #member, offsetof(type, member), 0, 0}
#define F_BOOL(tag, type, member) {tag, FIELD_BOOL, #member, offsetof(type, member), 0, 0}
#define F_STR(tag, type, member)  {tag, FIELD_STR, #member, offsetof(type, member), 0, 0}
#define F_UUID(tag, type, member) {tag, FIELD_UUID, #member, offsetof(type, member), 0, 0}
#define F_RECORD(tag, type, member, sub) \
    {tag, FIELD_RECORD, #member, offsetof(type, member), 0, &(sub)}
/* A list is `T *member; uint32_t member_count;`. */
#define F_LIST(tag, type, member, sub) \
    {tag, FIELD_LIST, #member, offsetof(type, member), offsetof(type, member##_count), &(sub)}
#define RECORD(name, type, fields) {name, sizeof(type), fields, COUNT_OF(fields)}

/* Lists of bare values are lists of one of these. */
struct str_item {
    struct str value;
};
struct i64_item {
    int64_t value;
};
struct u32_item {
    uint32_t value;
};
extern const struct record record_str_item, record_i64_item, record_u32_item;

/* record_encode appends the bytes of *value to out (out->full on overflow). O(size), deterministic. */
void record_encode(const struct record *r, const void *value, struct buf *out);
/* record_decode reads bytes into *value; strings and lists live in arena. STATUS_CORRUPT on bytes
 * that record_encode cannot have written (err says the field path and byte position): *value is
 * then undefined. Nesting is bounded by RECORD_DEPTH_MAX, lists by the bytes that are there. */
MUST_USE enum status record_decode(const struct record *r, struct str bytes, struct arena *arena,
                                   void *value, struct err *err);
enum { RECORD_DEPTH_MAX = 16 };
bool record_eq(const struct record *r, const void *a, const void *b);
/* record_copy makes a deep copy in arena. */
void record_copy(const struct record *r, const void *from, void *to, struct arena *arena);
/* record_diff gives the path of the first field that differs ("pods[2].state"), or "" when equal. */
struct str record_diff(const struct record *r, const void *a, const void *b, struct arena *arena);
